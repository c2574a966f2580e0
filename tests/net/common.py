"""What the tests of src/net share: running ranks within a time limit, and seeing that nothing is left behind."""
import argparse
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

PATIENCE = 600  # seconds for what hangs: a machine may be slow and busy
STRESS = "STRESS" in os.environ  # the long form, as tests/run says
parser = argparse.ArgumentParser()
parser.add_argument("--ranks", default="build/net_ranks", help="the program tests/net/ranks.c")
parser.add_argument("--lgt", default="build/lgt", help="the program lgt")
parser.add_argument("-k", default="", help="only cases whose name contains this")
parser.add_argument("--repeat", type=int, help="run each case so often")
parser.add_argument("--count", type=int, default=400 if STRESS else 6, help="random programs under each setting")
parser.add_argument("--first", type=int, default=1, help="the first one's seed")
arguments = parser.parse_args()
RANKS, LGT = os.path.abspath(arguments.ranks), os.path.abspath(arguments.lgt)


class Late(str):
    """Why a case failed: it took too long, and nothing else."""


def slowness():
    """How much longer three processes take here and now than where nothing else runs: they count, and wait for nobody."""
    return max(1.0, max(o.seconds for o in together(3 * [[sys.executable, "-c", "sum(range(3000000))"]])) / 0.15)


def late(took, limit, outcome):
    """None if it took no longer than the limit, or than a slow machine must be granted."""
    if took <= limit or took <= limit * slowness():
        return None
    return Late(f"took {took:.1f} s, longer than {limit} s: {outcome}")


def shortened(text, most=4000):
    """A process that does not end may have said a gigabyte."""
    return text if len(text) <= most else f"{text[:most // 2]} [...] {text[-most // 2:]}"


class Outcome:
    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    def __str__(self):
        return (f"exit status {self.status} after {self.seconds:.1f} s; stdout {shortened(self.out)!r}; "
                f"stderr {shortened(self.err)!r}")


class Running:
    """A command in a process group of its own."""

    def __init__(self, command, env=None, stdin=""):
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.begin = time.monotonic()
        given = tempfile.TemporaryFile()
        given.write(stdin.encode())
        given.seek(0)
        self.process = subprocess.Popen(command, stdin=given, stdout=self.out, stderr=self.err,
                                        env={**os.environ, **(env or {})}, start_new_session=True)

    def wait(self, limit):
        """The outcome; status None if it was still running after `limit` s."""
        try:
            status = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        seconds = time.monotonic() - self.begin
        self.left = ranks_left(self)  # before what is left is killed
        end = time.monotonic() + 5
        while self.left and status is not None and time.monotonic() < end:
            time.sleep(0.02)  # who is just ending may
            self.left = ranks_left(self)
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        texts = []
        for file in (self.out, self.err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
            file.close()
        return Outcome(status, *texts, seconds)


def run(command, limit=PATIENCE, env=None, stdin=""):
    return Running(command, env, stdin).wait(limit)


def together(commands, limit=PATIENCE, env=None):
    """Several at once, within the limit: their outcomes."""
    running = [Running(c, e) for c, e in zip(commands, env or [None] * len(commands))]
    end = time.monotonic() + limit
    return [r.wait(max(0.1, end - time.monotonic())) for r in running]


def wait_for_pids(folder, n, limit=PATIENCE):
    """{rank: process id} once all have written it."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        names = [name for name in os.listdir(folder) if name.isdigit()]
        if len(names) == n:
            return {int(name): int(open(os.path.join(folder, name)).read()) for name in names}
        time.sleep(0.01)
    raise RuntimeError(f"only {os.listdir(folder)} have started")


def ranks_left(running):
    """Process ids of what this command started and that still runs."""
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8") as file:
                state, _, _, session = file.read().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(session) == running.process.pid and state != "Z":
            found.append(int(path.split("/")[2]))
    return found


def segments():
    """Shared memory: files, and System V segments that nobody has attached and whose maker is gone."""
    found = set(glob.glob("/dev/shm/ucx*") + glob.glob("/dev/shm/*lgt*"))
    with open("/proc/sysvipc/shm", encoding="ascii") as file:
        rows = [line.split() for line in file][1:]
    return found | {"shmid " + row[1] for row in rows if row[6] == "0" and not os.path.exists("/proc/" + row[4])}


def left_behind(running, before, limit=60.0):
    """None if nothing of the command outlived it and no shared memory has stayed, else what there is.  (Other cases
    run at the same time, so segments may come and go.)"""
    end = time.monotonic() + limit
    left = segments() - before
    while left and time.monotonic() < end:
        time.sleep(0.02)
        left &= segments()
    if running.left:
        return f"processes still running: {running.left}"
    return f"shared memory left: {left}" if left else None


def judge(running, outcome, since, limit, message, status, before, lines=1):
    """Why a run that went wrong `since` seconds ago has not ended well.  message: a pattern that so many lines of stderr,
    and no other about the run, must match."""
    said = [line for line in outcome.err.splitlines() if "lgt: " in line]
    if outcome.status is None:
        return f"still running: {outcome}"
    if outcome.status != status if isinstance(status, int) else outcome.status in (0, None):
        return f"exit status is not {status}: {outcome}"
    if len(said) != lines or not all(re.search(message, line) for line in said):
        return f"expected {lines} message(s) like {message!r}: {outcome}"
    return left_behind(running, before) or late(since, limit, outcome)


cases = []


def case(name, check, *args):
    """check(*args) returns None or why it failed, or raises Skip."""
    if arguments.k in name:
        cases.append((name, check, args))


def patiently(check, args):
    """On a busy machine anything may be late once; what is late again and again is too slow."""
    for _ in range(5):
        why = check(*args)
        if not isinstance(why, Late):
            break
    return why


def result(check, args, repeat):
    try:
        for _ in range(repeat):
            why = patiently(check, args)
            if why:
                return "FAIL", why
    except Skip as skip:
        return "skip", str(skip)
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        return "FAIL", repr(error)
    return "ok", None


def finish(at_a_time, stress=1):
    """Runs the cases, in the long form each `stress` times, prints how they went, and exits."""
    failed, repeat = 0, arguments.repeat or (stress if STRESS else 1)

    def one(named):
        nonlocal failed
        name, check, args = named
        word, why = result(check, args, repeat)
        with lock:
            failed += word == "FAIL"
            print(f"{word} {name}: {why}" if why else f"{word} {name}", flush=True)

    lock = threading.Lock()
    with ThreadPoolExecutor(at_a_time) as pool:
        list(pool.map(one, cases))
    sys.exit(1 if failed else 0)


class Skip(Exception):
    pass


def done(outcome):
    """Everything went well."""
    good = outcome.status == 0 and outcome.out == "done\n" and outcome.err == ""
    return None if good else str(outcome)
