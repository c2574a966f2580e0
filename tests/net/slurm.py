#!/usr/bin/python3
"""Ranks under srun, with PMIx and without, on a Slurm of one node that this test sets up for itself where Slurm and
munge are installed (Debian: slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge)."""
import re

from common import LGT, RANKS, case, done, finish, late, run
from places import Slurm

LGT_QUICK = ["--heartbeat=3", "--patience=0.2"]
QUICK = ["--dead", "3000", "--patience", "200"]


def srun(mpi, n, *what):
    return run(["srun", "--quiet", f"--mpi={mpi}", "--overcommit", "-n", str(n), RANKS, *what])


def dies(mpi):
    outcome = srun(mpi, 3, *QUICK, "segv", "1")
    said = [line for line in outcome.err.splitlines() if line.startswith("lgt: ")]
    good = outcome.status not in (0, None) and len(said) == 1 and re.search(r"rank 1 on \S+ died", said[0])
    return late(outcome.seconds, 15, outcome) if good else str(outcome)


def program(mpi):
    """lgt itself: one output, one world, one error."""
    outcome = run(["srun", "--quiet", f"--mpi={mpi}", "--overcommit", "-n", "3", LGT, *LGT_QUICK, "-e",
                   "print(os.time() > 0, io.read()) error('on all')"], stdin="line\n")
    said = [line for line in outcome.err.splitlines() if line.startswith("lgt: ")]
    good = outcome.status not in (0, None) and outcome.out == "true\tline\n" and said == ["lgt: (command line):1: on all"]
    return None if good else str(outcome)


def everything():
    for mpi in ("pmix", "none"):
        for what in ("messages", "collectives"):
            why = done(srun(mpi, 3, what))
            if why:
                return f"--mpi={mpi}, {what}: {why}"
        why = program(mpi)
        if why:
            return f"--mpi={mpi}, the program: {why}"
        why = dies(mpi)
        if why:
            return f"--mpi={mpi}, a rank dies: {why}"
    return None


def in_slurm():
    with Slurm():
        return everything()


case("srun of ranks, with PMIx and without", in_slurm)
finish(1)
