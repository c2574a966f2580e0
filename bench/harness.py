"""Contestants that take turns.

A contestant is a process that speaks the protocol of rivals/rival.h.  `compete` starts all contestants of a
case, checks that they computed the same, finds how many turns make a sample that a clock can time, and then
lets them run one sample each, round after round.  So what the machine does meanwhile - other users,
frequencies, thermal limits - hits all alike, and ratios are taken within a round.
"""
import hashlib
import os
import select
import statistics
import subprocess
import tempfile
import time

START_LIMIT = 120  # seconds until a contestant must be ready
WARM_UP = 2  # seconds
SAMPLE = 0.05  # seconds that a sample should take at least
SLOW = 10  # seconds of a round of which two suffice


class Failed(Exception):
    pass


class Contestant:
    """label: the column; command: argv; env: variables, None for those it must not see; memory: bytes it will hold."""

    def __init__(self, label, command, env=None, memory=0):
        self.label, self.command, self.env, self.memory = label, command, env or {}, memory
        self.process, self.buffer = None, b""
        self.check, self.turns, self.times, self.error = None, 1, [], None

    def start(self, env):
        self.errors = tempfile.TemporaryFile()
        self.buffer = b""
        env = {k: v for k, v in {**env, **self.env}.items() if v is not None}
        try:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=self.errors, env=env)
        except OSError as error:
            raise Failed(str(error)) from None
        words = self.read_line(START_LIMIT).split()
        if not words or words[0] != "ready":
            raise Failed(f"expected 'ready', got {' '.join(words)!r}")
        self.check = [float(w) for w in words[1:]]

    def stop(self):
        if self.process:
            try:
                self.process.stdin.close()  # so it ends, and tidies up after itself
                self.process.wait(2)
            except (OSError, subprocess.TimeoutExpired):
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()
            self.errors.close()
            self.process = None

    def read_line(self, limit):
        end = time.monotonic() + limit
        while b"\n" not in self.buffer:
            readable, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            if not readable:
                raise Failed(f"no answer within {limit} s")
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                self.process.wait()
                self.errors.seek(0)
                said = self.errors.read().decode("utf-8", "replace").strip().splitlines()
                raise Failed(f"exit status {self.process.returncode}: {said[0] if said else 'no message'}")
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def run(self, turns, limit=120):
        """Seconds of so many turns."""
        try:
            self.process.stdin.write(b"%d\n" % turns)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return float(self.read_line(limit))

    def warm_up(self, least=WARM_UP):
        """Until so many seconds have passed (compilers and planners have finished by then), then choose the sample's size."""
        begin, turns = time.monotonic(), 1
        while True:
            seconds = self.run(turns)
            if time.monotonic() - begin > least and seconds > 0:
                break
            if seconds < SAMPLE / 4:
                turns *= 2
        self.turns = max(1, round(SAMPLE * turns / seconds))

    @property
    def median(self):
        return statistics.median(self.times)

    @property
    def best(self):
        return min(self.times)


def fingerprint(value):
    """A short name for files made from this value."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:12]


def available_memory():
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))


def attempt(contestants, action):
    """Does it to each that has not failed yet; who fails is out and keeps the reason."""
    for contestant in contestants:
        if contestant.error:
            continue
        try:
            action(contestant)
        except Failed as why:
            contestant.error = str(why)
            contestant.stop()


def compete(contestants, env, budget, tolerance=1e-9, most_rounds=15, warm_up=WARM_UP):
    """Fills in each contestant's times (seconds a turn), or its error."""
    together = sum(c.memory for c in contestants) < 0.8 * available_memory()

    def sample(contestant):
        contestant.times.append(contestant.run(contestant.turns) / contestant.turns)

    def visit(contestant):  # where memory does not hold all of them at once
        contestant.start(env)
        contestant.warm_up(warm_up)
        for _ in range(3 if contestant.turns > 1 else 1):
            sample(contestant)
        contestant.stop()

    begin = time.monotonic()
    try:
        if together:
            attempt(contestants, lambda c: c.start(env))
            attempt(contestants, lambda c: c.warm_up(warm_up))
        for number in range(most_rounds):
            before = time.monotonic()
            attempt(contestants[::-1] if number % 2 else contestants, sample if together else visit)
            now = time.monotonic()
            if now - begin > budget and number >= (2 if together and now - before < SLOW else 1):
                break
    finally:
        for contestant in contestants:
            contestant.stop()
    reference = next((c.check for c in contestants if c.check is not None and not c.error), None)
    for contestant in contestants:
        if not contestant.error and not agree(contestant.check, reference, tolerance):
            contestant.error = f"computed {contestant.check}, expected {reference}"
    return contestants


def agree(values, expected, tolerance):
    return len(values) == len(expected) and all(
        abs(v - e) <= tolerance * max(abs(e), 1) for v, e in zip(values, expected))


def ratio(slower, faster):
    """How many times as long the first takes: the median over the rounds, which pairs what ran side by side."""
    if slower.error or faster.error or not slower.times or not faster.times:
        return None
    # Odd rounds run backwards, but both lists are in the order of the rounds.
    return statistics.median(a / b for a, b in zip(slower.times, faster.times))
