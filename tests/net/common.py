"""What the tests of src/net share: running ranks within a time limit, and seeing that nothing is left behind."""
import argparse
import glob
import os
import signal
import subprocess
import tempfile
import time

parser = argparse.ArgumentParser()
parser.add_argument("--ranks", required=True, help="the program tests/net/ranks.c")
parser.add_argument("-k", default="", help="only cases whose name contains this")
parser.add_argument("--repeat", type=int, default=1, help="run each case so often")
arguments = parser.parse_args()
RANKS = os.path.abspath(arguments.ranks)
failed = 0


class Outcome:
    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    def __str__(self):
        return f"exit status {self.status} after {self.seconds:.1f} s; stdout {self.out!r}; stderr {self.err!r}"


class Running:
    """A command in a process group of its own."""

    def __init__(self, command, env=None):
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.begin = time.monotonic()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err,
                                        env={**os.environ, **(env or {})}, start_new_session=True)

    def wait(self, limit):
        """The outcome; status None if it was still running after `limit` s."""
        try:
            status = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        seconds = time.monotonic() - self.begin
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


def run(command, limit=30, env=None):
    return Running(command, env).wait(limit)


def ranks_left():
    """Process ids of ranks that still run."""
    found = []
    for path in glob.glob("/proc/[0-9]*/exe"):
        try:
            if os.readlink(path) == RANKS and open(os.path.dirname(path) + "/stat").read().split()[2] != "Z":
                found.append(int(path.split("/")[2]))
        except OSError:
            pass
    return found


def segments():
    """Shared memory: files, and System V segments that nobody uses any more."""
    found = set(glob.glob("/dev/shm/ucx*") + glob.glob("/dev/shm/*lgt*"))
    with open("/proc/sysvipc/shm", encoding="ascii") as file:
        rows = [line.split() for line in file][1:]
    return found | {"shmid " + row[1] for row in rows if row[6] == "0"}


def left_behind(before, limit=2.0):
    """None if no rank runs any more and no shared memory is new, else what there is."""
    end = time.monotonic() + limit
    while (ranks_left() or segments() - before) and time.monotonic() < end:
        time.sleep(0.02)
    if ranks_left():
        return f"ranks still running: {ranks_left()}"
    return f"shared memory left: {segments() - before}" if segments() - before else None


def case(name, check):
    """Runs check(), which returns None or why it failed, or raises Skip."""
    global failed
    if arguments.k not in name:
        return
    try:
        for _ in range(arguments.repeat):
            why = check()
            if why:
                break
    except Skip as skip:
        print(f"skip {name}: {skip}", flush=True)
        return
    failed += why is not None
    print(f"FAIL {name}: {why}" if why else f"ok {name}", flush=True)


class Skip(Exception):
    pass


def done(outcome):
    """Everything went well."""
    good = outcome.status == 0 and outcome.out == "done\n" and outcome.err == ""
    return None if good else str(outcome)
