#!/usr/bin/python3
"""What goes wrong on one rank ends all of them: soon, with one message that names rank and cause, with an exit status
other than 0, and with nothing left behind.

Heartbeats are shortened: a rank or a hub that has been silent for three seconds is dead (on a busy machine a thread may
have no processor for a second), and waits are reported after 0.2 s.  A death must end the run within 2 s, all else
within 10 s.
"""
import os
import signal
import tempfile
import time

from common import PATIENCE, RANKS, Late, Running, case, done, finish, judge, left_behind, run, segments, wait_for_pids

# Ranks that end in the middle leak, and their threads are alive then.
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
DEAD = 3
QUICK = ["--dead", str(1000 * DEAD), "--patience", "200"]
DEATH, SILENCE = 2.0, 10.0  # seconds from the fault to the end


def signalled(n, what, rank, number, message, status, limit, early=False, settle=0.4):
    """Rank `rank` gets a signal while the ranks do `what`."""
    def check(settle=settle):
        before = segments()
        with tempfile.TemporaryDirectory() as folder:
            command = [RANKS, "-n", str(n), *QUICK, "--pids", folder, *(["--early"] if early else []), what, str(rank)]
            running = Running(command)
            pids = wait_for_pids(folder, n)
            time.sleep(0 if early else settle)
            os.kill(pids[rank], number)
            begin = time.monotonic()
            outcome = running.wait(PATIENCE)
            return judge(running, outcome, time.monotonic() - begin, limit, message, status, before)
    return check


def reported(n, rank, message):
    """Rank `rank` is killed when the others have waited for it for so long that they have said so; who could say when?"""
    def check():
        for settle in (0.8, 3, 15, 60):
            why = signalled(n, "wait", rank, 9, message, 137, DEATH)(settle)
            if not why or isinstance(why, Late):
                break
        return why
    return check


def itself(n, what, rank, message, status, limit, options=()):
    """The ranks do something that goes wrong by itself."""
    def check():
        before = segments()
        running = Running([RANKS, "-n", str(n), *QUICK, *options, what, str(rank)])
        outcome = running.wait(PATIENCE)
        return judge(running, outcome, outcome.seconds, limit, message, status, before)
    return check


def launcher(number, status, message, lines):
    """The launcher gets a signal while its ranks compute."""
    def check():
        before = segments()
        with tempfile.TemporaryDirectory() as folder:
            running = Running([RANKS, "-n", "3", *QUICK, "--pids", folder, "compute"])
            pids = wait_for_pids(folder, 3)
            os.kill(running.process.pid, number)
            begin = time.monotonic()
            if number == signal.SIGSTOP:
                wait_for_ends(pids.values())  # the ranks notice; then the launcher must see that they have ended
                os.kill(running.process.pid, signal.SIGCONT)
            outcome = running.wait(PATIENCE)
            return judge(running, outcome, time.monotonic() - begin, SILENCE, message, status, before, lines)
    return check


def wait_for_ends(pids):
    """Until these processes have ended; their parent may not have heard of it."""
    end = time.monotonic() + PATIENCE
    for pid in pids:
        while time.monotonic() < end:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    break
            time.sleep(0.02)


def abandoned():
    """A rank is stopped and then the launcher killed: the stopped rank cannot end itself."""
    before = segments()
    with tempfile.TemporaryDirectory() as folder:
        running = Running([RANKS, "-n", "3", *QUICK, "--pids", folder, "compute"])
        os.kill(wait_for_pids(folder, 3)[1], signal.SIGSTOP)
        running.process.kill()
        running.wait(PATIENCE)
        return left_behind(running, before)


def printed():
    """What rank 0 has written to a buffered stdout is not lost when another rank dies."""
    outcome = run([RANKS, "-n", "3", *QUICK, "printed", "2"])
    return None if outcome.status == 137 and outcome.out == "written before the fault" else str(outcome)


def paused():
    """Ctrl-Z and fg: everybody is stopped for longer than the limit, and goes on."""
    with tempfile.TemporaryDirectory() as folder:
        running = Running([RANKS, "-n", "3", *QUICK, "--pids", folder, "short", "1"])
        wait_for_pids(folder, 3)
        os.killpg(running.process.pid, signal.SIGSTOP)
        time.sleep(2 * DEAD)
        os.killpg(running.process.pid, signal.SIGCONT)
        return done(running.wait(PATIENCE))


def computes_for_long():
    return done(run([RANKS, "-n", "3", *QUICK, "short", "1"]))


def exit_all():
    outcome = run([RANKS, "-n", "3", *QUICK, "exit_all"])
    return None if outcome.status == 4 and not outcome.err else str(outcome)


def output(all_output):
    outcome = run([RANKS, "-n", "3", *(["--all-output"] if all_output else []), "output"])
    err = sorted(["[0] err of 0" if all_output else "err of 0", "[1] err of 1", "[2] err of 2"])
    out = ["out of 0", "unfinisheddone"]
    if all_output:
        out = ["[0] out of 0", "[0] unfinisheddone"] + [f"[{r}] {x}" for r in (1, 2) for x in (f"out of {r}", "unfinished")]
    got = outcome.out.splitlines(), sorted(outcome.err.splitlines())
    good = sorted(got[0]) == sorted(out) and got[1] == err and outcome.status == 0
    if good and all_output:
        good = got[0].index("[1] out of 1") < got[0].index("[1] unfinished")
    return None if good else str(outcome)


for n, rank in ((2, 1), (4, 0), (4, 2)):
    killed = rf"rank {rank} on \S+ was killed by signal 9 \(Killed\)"
    who = f"rank {rank} of {n}"
    case(f"kill -9 of {who} while computing", signalled(n, "compute", rank, 9, killed, 137, DEATH))
    case(f"kill -9 of {who} while others wait for it", reported(n, rank, killed + r"; rank \d waits for a message of 8 bytes "
         rf"from rank {rank} \(tag 0x63\)"))
    case(f"kill -9 of {who} while all wait", signalled(n, "barrier", (rank + 1) % n, 9, rf"rank {(rank + 1) % n} .*signal 9", 137, DEATH))
    case(f"kill -9 of {who} at the start", signalled(n, "compute", rank, 9, rf"rank {rank}, while the run began, was killed", 137,
         DEATH, early=True))
    case(f"SIGSTOP of {who} while computing", signalled(n, "compute", rank, signal.SIGSTOP,
         rf"rank {rank} on \S+ has given no sign of life for {DEAD}\S* s", 1, SILENCE))
    case(f"SIGSTOP of {who} while others wait", signalled(n, "wait", rank, signal.SIGSTOP, rf"rank {rank} .* no sign of life", 1, SILENCE))
for rank in (0, 2):
    case(f"SIGSEGV of rank {rank}", itself(3, "segv", rank, rf"rank {rank} .*was killed by signal 11", 139, DEATH))
    case(f"exit(0) of rank {rank}", itself(3, "exit0", rank, rf"rank {rank} .*ended with exit status 0 without waiting", 1, DEATH))
    case(f"exit(3) of rank {rank}", itself(3, "exit3", rank, rf"rank {rank} .*ended with exit status 3 without waiting", 3, DEATH))
    case(f"abort by rank {rank}", itself(3, "abort", rank, rf"rank {rank} on \S+: out of luck at script.lua:5", 1, SILENCE))
    case(f"divergence of rank {rank}", itself(3, "diverge", rank, r"operation 3001 is issued at script.lua:7([78]) by rank \d and at "
         r"script.lua:7(?!\1)[78] by rank \d;", 1, SILENCE))
    case(f"one operation more on rank {rank}", itself(3, "extra", rank, rf"operation 101 is issued at .*script.lua:42 by rank {rank}", 1,
         SILENCE))
    case(f"one operation more on rank {rank}, the others never wait", itself(3, "extra_busy", rank,
         rf"operation 101 is issued at .*script.lua:42 by rank {rank}", 1, SILENCE))
    case(f"rank {rank} leaves early", itself(3, "leave", rank, rf"operation 11 is issued at .*script.lua:99 by rank {rank}", 1, SILENCE))
    case(f"another version on rank {rank}", itself(3, "compute", 0, rf"different versions: rank 0 is lgt 1.2.{4 if rank == 0 else 3}, rank "
         rf"\d is lgt 1.2.", 1, SILENCE, ("--odd", str(rank))))
    case(f"another option on rank {rank}", itself(3, "compute", 0, r"different options: rank 0 has window=\d+, rank \d has window=\d+", 1,
         SILENCE, ("--odd-option", str(rank))))
case("all exit with one status", exit_all)
case("a rank that computes for longer than the limit", computes_for_long)
case("everybody stopped for a while", paused)
case("SIGTERM of the launcher", launcher(signal.SIGTERM, 143, "", 0))
case("kill -9 of the launcher", launcher(signal.SIGKILL, -9, "", 0))
case("kill -9 of the launcher while a rank is stopped", abandoned)
case("SIGSTOP of the launcher", launcher(signal.SIGSTOP, None, r"rank \d lost the hub of this run \(its launcher\)|rank \d .*exit status 1", 2))
case("output before a fault", printed)
case("output", output, False)
case("output of all ranks", output, True)
finish(3, 100)
