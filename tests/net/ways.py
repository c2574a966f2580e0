#!/usr/bin/python3
"""Tests of the libraries and examples under every way to start ranks: forked, under mpirun, by a rendezvous over two
network namespaces, under srun.  A sample; in the long form (tests/run --stress) all of them."""
import importlib.util
import os
import shutil

from common import LGT, STRESS, Skip, case, finish, run, together
from places import MPIRUN, Namespaces, Slurm, free_port

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT = 900
# Not those that are about one process with one domain or about devices, nor `sweep`, which needs --jitter.
LUA = sorted(set(f[5:-4] for f in os.listdir(os.path.join(ROOT, "tests/lua")) if f.startswith("test_"))
             - {"check", "devices", "hints", "lgt", "options", "shift", "sweep"})
OPTIONS = ["--cpus=1", "--min-tile=1"]
spec = importlib.util.spec_from_file_location("programs", os.path.join(ROOT, "tests/programs/run.py"))
programs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(programs)
expected = {}  # what the NumPy twins print


def forked(n, domains, *arguments):
    return [run([LGT, "-n", str(n), f"--domains={domains}", *OPTIONS, *arguments], LIMIT)]


def mpirun(n, domains, *arguments):
    return [run([*MPIRUN, "-n", str(n), LGT, f"--domains={domains}", *OPTIONS, *arguments], LIMIT)]


class Spaces(Namespaces):
    """Even ranks in one namespace, odd ones in the other."""

    def start(self, n, domains, *arguments):
        ranks = ["--rendezvous", f"10.77.0.1:{free_port()}", "--ranks", str(n)]
        return together([self.command(r % 2, [LGT, *ranks, "--rank", str(r), f"--domains={domains}", *OPTIONS, *arguments])
                         for r in range(n)], LIMIT)


class Srun(Slurm):
    mpi = "pmix"

    def start(self, n, domains, *arguments):
        return [run(["srun", "--quiet", f"--mpi={self.mpi}", "--overcommit", "-n", str(n), LGT, f"--domains={domains}", *OPTIONS,
                     *arguments], LIMIT)]


class SrunWithoutPmix(Srun):
    mpi = "none"


def went_wrong(outcomes):
    """All end well, and only rank 0 is heard."""
    if any(o.status != 0 or o.err for o in outcomes) or any(o.out for o in outcomes[1:]):
        return "; ".join(str(o)[-1000:] for o in outcomes)
    return None


def example(start, n, domains, name):
    arguments, bound = programs.PROGRAMS[name]
    if name not in expected:
        expected[name], error = programs.twin(name)
        if error:
            return error
    outcomes = start(n, domains, programs.script(name)[0], *arguments)
    got = [line.split() for line in outcomes[0].out.splitlines()]
    return went_wrong(outcomes) or programs.difference(got, expected[name], bound)


def library(start, n, domains, name):
    outcomes = start(n, domains, f"tests/lua/test_{name}.lua")
    return went_wrong(outcomes) or ("FAIL" in outcomes[0].out and outcomes[0].out or None)


def check(start, turn):
    """Some of the tests, on 2, 3 and 4 ranks in turn, with one domain and two."""
    names = [(library, name) for name in LUA] + [(example, name) for name in programs.PROGRAMS]
    if not STRESS:
        names = names[turn::18]
    wrong = []
    for k, (test, name) in enumerate(names):
        n, domains = 2 + (k + turn) % 3, 1 + (k + turn) // 3 % 2
        why = test(start, n, domains, name)
        if why:
            wrong.append(f"{name} on {n} ranks of {domains} domains: {why}")
    return "; ".join(wrong) or None


def inside(place, turn):
    with place() as there:
        return check(there.start, turn)


def under_mpirun():
    if not shutil.which("mpirun"):
        raise Skip("no mpirun (Debian: openmpi-bin)")
    return check(mpirun, 1)


os.chdir(ROOT)
case("forked", check, forked, 0)
case("under mpirun", under_mpirun)
case("over two network namespaces", inside, Spaces, 2)
case("under srun with PMIx", inside, Srun, 3)
case("under srun without PMIx", inside, SrunWithoutPmix, 4)
finish(1)
