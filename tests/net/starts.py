#!/usr/bin/python3
"""Every way to start ranks: a TCP rendezvous on one host and over two network namespaces, PMIx under mpirun, Slurm's
variables; what a cut link does; and that ranks that cannot meet refuse to run."""
import os
import re
import shutil
import signal
import socket
import tempfile
import time

from common import PATIENCE, RANKS, Running, Skip, case, done, finish, late, left_behind, run, segments, together, wait_for_pids
from places import MPIRUN, Namespaces, free_port

QUICK = ["--dead", "3000", "--patience", "200"]
DEATH, SILENCE = 2.0, 10.0  # seconds from the fault to the end


def went_well(outcomes):
    """Rank 0 says done, the others nothing, all exit with 0."""
    for r, outcome in enumerate(outcomes):
        if outcome.status != 0 or outcome.err or outcome.out != ("done\n" if r == 0 else ""):
            return f"rank {r}: {outcome}"
    return None


def failed_well(outcomes, pattern, limit=SILENCE, took=None):
    """All end in time (they took as long as they have run, unless it is said), say why, and exit with an error."""
    for r, outcome in enumerate(outcomes):
        if outcome.status in (0, None) or not re.search(pattern, outcome.err):
            return f"rank {r}, expected {pattern!r}: {outcome}"
    return late(took or max(o.seconds for o in outcomes), limit, "; ".join(map(str, outcomes)))


# ---- rendezvous

def meet(n, *what, host="127.0.0.1", each=lambda rank: (), ranks=None):
    port = free_port()
    return [[RANKS, "--rendezvous", f"{host}:{port}", "--rank", str(r), "--ranks", str(n), *each(r), *what]
            for r in (range(n) if ranks is None else ranks)]


def last():
    """Rank 0 comes last."""
    commands = meet(3, "collectives")
    others = [Running(c) for c in commands[1:]]
    time.sleep(0.7)
    return went_well([o.wait(PATIENCE) for o in [Running(commands[0]), *others]])


def missing(which):
    ranks = [r for r in range(3) if r != which]
    # Rank 1 may not have begun within that time, either.
    said = r"only (1 of 3 .* within 1 s; missing: 1, 2|2 of 3 .* within 1 s; missing: 2)" if which else \
        r"could not reach rank 0 .* within 1 s.*Connection refused"
    return failed_well(together(meet(3, "--start", "1000", "messages", ranks=ranks)), said)


def stranger():
    """Something else talks to the port meanwhile."""
    commands = meet(2, "collectives")
    port = int(commands[0][2].rsplit(":", 1)[1])
    first = Running(commands[0])
    for garbage in (b"GET / HTTP/1.0\r\n\r\n" * 10, b"LNT1" + b"\xff" * 100, b""):
        for _ in range(50 * PATIENCE):
            try:
                with socket.create_connection(("127.0.0.1", port)) as s:
                    s.sendall(garbage)
                break
            except OSError:
                time.sleep(0.02)
    second = Running(commands[1])
    return went_well([first.wait(PATIENCE), second.wait(PATIENCE)])


def twins():
    commands = meet(3, *QUICK, "messages", ranks=[0, 1, 1])
    outcomes = together(commands)
    return failed_well(outcomes, r"two processes are rank 1|turned away|lost the hub")


def sizes():
    commands = meet(2, *QUICK, "messages")
    commands[1][commands[1].index("--ranks") + 1] = "3"
    return failed_well(together(commands), r"rank 1 on \S+ was told of 3 ranks, the hub of 2")


def refused(pattern, *arguments, env=None):
    return failed_well([run([RANKS, *arguments, "messages"], env=env)], pattern)


def unlike(option, rank, pattern):
    return failed_well(together(meet(3, *QUICK, option, str(rank), "messages")), pattern)


def met(n, *what, host="127.0.0.1"):
    return went_well(together(meet(n, *what, host=host)))


def died(what, rank, number, pattern, limit):
    """One of three ranks without a launcher gets a signal; the others end."""
    with tempfile.TemporaryDirectory() as folder:
        running = [Running(c) for c in meet(3, *QUICK, "--pids", folder, what, str(rank))]
        wait_for_pids(folder, 3)
        time.sleep(0.5)
        os.kill(running[rank].process.pid, number)
        begin = time.monotonic()
        outcomes = [r.wait(PATIENCE) for i, r in enumerate(running) if i != rank]
        took = time.monotonic() - begin
        running[rank].process.kill()
        running[rank].wait(PATIENCE)
        return failed_well(outcomes, pattern, limit, took)


def terminated(kill):
    """Rank 0, which has the hub, gets SIGTERM; `kill`: just after rank 1 has died, of which it tells the reason first."""
    with tempfile.TemporaryDirectory() as folder:
        running = [Running(c) for c in meet(3, *QUICK, "--pids", folder, "wait", "1")]
        wait_for_pids(folder, 3)
        time.sleep(0.5)
        if kill:
            os.kill(running[1].process.pid, signal.SIGKILL)
        os.kill(running[0].process.pid, signal.SIGTERM)
        begin = time.monotonic()
        outcomes = [r.wait(PATIENCE) for r in running]
        first, _, last = outcomes
        if kill:
            return failed_well([first, last], r"rank 1 on \S+ died", SILENCE, time.monotonic() - begin)
        good = first.status == -signal.SIGTERM and last.status not in (0, None)
        return None if good else "; ".join(str(o) for o in outcomes)


# ---- two network namespaces

def across(n, what):
    """Even ranks in one namespace, odd ones in the other: the same machine, but no shared memory."""
    with Namespaces() as spaces:
        commands = meet(n, what, host="10.77.0.1")
        return went_well(together([spaces.command(r % 2, c) for r, c in enumerate(commands)]))


def cut(what):
    with Namespaces() as spaces, tempfile.TemporaryDirectory() as folder:
        commands = meet(3, *QUICK, "--pids", folder, what, "1", host="10.77.0.1")
        running = [Running(spaces.command(r % 2, c)) for r, c in enumerate(commands)]
        wait_for_pids(folder, 3)
        time.sleep(0.5)
        spaces.inside(1, "ip", "link", "set", spaces.cable[1], "down")
        begin = time.monotonic()
        outcomes = [r.wait(PATIENCE) for r in running]
        took = time.monotonic() - begin
        return failed_well(outcomes, r"rank 1 .*(no sign of life|lost the hub|the connection|died)", SILENCE, took)


# ---- launchers

def mpirun(n, *what):
    if not shutil.which("mpirun"):
        raise Skip("no mpirun (Debian: openmpi-bin)")
    return run([*MPIRUN, "-n", str(n), RANKS, *what])


def mpirun_well(n, what):
    return done(mpirun(n, what))


def lone(pattern, **env):
    """A process that its environment says is one of several, without a way to find them."""
    return refused(pattern, env=env)


def mpirun_dies(what, rank, number, pattern, limit):
    if not shutil.which("mpirun"):
        raise Skip("no mpirun (Debian: openmpi-bin)")
    before = segments()
    with tempfile.TemporaryDirectory() as folder:
        running = Running([*MPIRUN, "-n", "3", RANKS, *QUICK, "--pids", folder, what, str(rank)])
        pids = wait_for_pids(folder, 3)
        time.sleep(0.5)
        os.kill(pids[rank], number)
        begin = time.monotonic()
        outcome = running.wait(PATIENCE)
        took = time.monotonic() - begin
        said = [line for line in outcome.err.splitlines() if re.search(r"\blgt: ", line)]
        if outcome.status in (0, None) or len(said) != 1 or not re.search(pattern, said[0]):
            return f"expected one message like {pattern!r}: {outcome}"
        return left_behind(running, before) or late(took, limit, outcome)


def slurm_job():
    """The number of a job of which rank 0 may listen at the port that follows from it (wireup_tcp.c), and that port."""
    port = free_port()
    return (port - 10000) * pow(131, -1, 20000) % 20000, port


def slurm(n, nodelist):
    """The variables that srun sets without PMIx."""
    job = str(slurm_job()[0])
    env = [{"SLURM_JOB_ID": job, "SLURM_STEP_ID": "0", "SLURM_PROCID": str(r), "SLURM_STEP_NUM_TASKS": str(n),
            "SLURM_STEP_NODELIST": nodelist} for r in range(n)]
    return went_well(together([[RANKS, "collectives"]] * n, env=env))


def other_run():
    """A rank that was told the same address but belongs to another run is turned away, and disturbs nobody."""
    job, port = slurm_job()
    env = [{"SLURM_JOB_ID": str(job), "SLURM_STEP_ID": "0", "SLURM_PROCID": str(r), "SLURM_STEP_NUM_TASKS": "2",
            "SLURM_STEP_NODELIST": "localhost"} for r in range(2)]
    zero = Running([RANKS, "collectives"], env[0])
    other = run([RANKS, "--rendezvous", f"localhost:{port}", "--rank", "1", "--ranks", "2", "collectives"])
    one = Running([RANKS, "collectives"], env[1])
    return failed_well([other], "turned away at the start") or went_well([zero.wait(PATIENCE), one.wait(PATIENCE)])


for n in (2, 3, 7):
    case(f"rendezvous of {n} ranks", met, n, "collectives")
case("rendezvous over TCP", met, 3, "--tcp", "messages")
case("rendezvous by name", lambda: met(2, "messages", host="localhost"))
case("rendezvous, rank 0 last", last)
case("rendezvous without rank 0", missing, 0)
case("rendezvous without rank 2", missing, 2)
case("rendezvous with strangers", stranger)
case("rendezvous, rank 1 twice", twins)
case("rendezvous, another number of ranks", sizes)
case("rendezvous, another version", unlike, "--odd", 1, r"different versions: rank 0 is lgt 1.2.3, rank 1 is lgt 1.2.4")
case("rendezvous, another option", unlike, "--odd-option", 2, r"rank 0 has window=256, rank 2 has window=512")
for address in ("nohost", "host:", "host:0", "host:99999", ":7000", "host:12x"):
    case(f"rendezvous at {address}", refused, "expected host:port", "--rendezvous", address, "--rank", "0", "--ranks", "2")
case("rendezvous of rank 2 of 2", refused, "expected ranks 0 to n - 1", "--rendezvous", "localhost:7000", "--rank", "2", "--ranks", "2")
for rank in (0, 2):
    lost = r"rank \d lost the hub of this run \(in rank 0\)" if rank == 0 else r"rank 2 on \S+ died"
    silent = lost if rank == 0 else r"rank 2 on \S+ has given no sign of life"
    case(f"rendezvous, kill -9 of rank {rank} while computing", died, "compute", rank, signal.SIGKILL, lost, DEATH)
    case(f"rendezvous, kill -9 of rank {rank} while waiting", died, "wait", rank, signal.SIGKILL, lost, DEATH)
    case(f"rendezvous, SIGSTOP of rank {rank}", died, "barrier", rank, signal.SIGSTOP, silent, SILENCE)

case("rendezvous, SIGTERM of rank 0", terminated, False)
case("rendezvous, SIGTERM of rank 0 when rank 1 has died", terminated, True)

for n in (2, 4):
    case(f"two namespaces, {n} ranks, messages", across, n, "messages")
    case(f"two namespaces, {n} ranks, collectives", across, n, "collectives")
for what in ("compute", "wait", "barrier"):
    case(f"two namespaces, the link goes down: {what}", cut, what)

case("mpirun of 1 rank", mpirun_well, 1, "messages")
for n in (2, 4):
    case(f"mpirun of {n} ranks, messages", mpirun_well, n, "messages")
    case(f"mpirun of {n} ranks, collectives", mpirun_well, n, "collectives")
case("mpirun, kill -9 of rank 1", mpirun_dies, "wait", 1, signal.SIGKILL, r"rank 1 on \S+ died", SILENCE)
case("mpirun, SIGSTOP of rank 1", mpirun_dies, "wait", 1, signal.SIGSTOP, r"rank 1 on \S+ has given no sign of life", SILENCE)
case("a launcher without PMIx", lambda: lone("cannot find each other", OMPI_COMM_WORLD_SIZE="4"))
case("PMIx without a server", lambda: lone("PMIx_Init failed", PMIX_RANK="0"))

for nodes in ("localhost", "localhost,other", "127.0.0.[1-3]"):
    case(f"Slurm's variables, nodes {nodes}", slurm, 3, nodes)
case("Slurm's variables, and a rank of another run", other_run)
case("Slurm's variables, incomplete", lambda: lone("cannot tell from Slurm's variables", SLURM_STEP_NUM_TASKS="2", SLURM_PROCID="0"))
finish(2, 100)
