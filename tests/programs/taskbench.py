#!/usr/bin/python3
"""The programs of bench/taskbench: lgt, OpenMP and MPI compute the same bits for each pattern, and other ones where a single
dependence is left out.

    tests/programs/taskbench.py --lgt build/lgt
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench"))
sys.dont_write_bytecode = True

from metg import CASES, FLAGS  # noqa: E402

SIZES = [(12, 8), (9, 5)]  # steps and width
LGT = [[], ["--trace=0"], ["--fusion=0"], ["--domains=3", "--min-tile=1"], ["-n", "2", "--min-tile=1", "--cpus=1"]]

BY_HAND = ", traced by hand"


class Programs:
    def __init__(self, lgt, folder):
        self.lgt, self.folder = lgt, folder
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("LGT_", "OMP_"))}
        self.env.update(OMP_NUM_THREADS="4", LGT_BACKGROUND="0", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def compile(self, name, compiler):
        path = os.path.join(self.folder, name)
        subprocess.run([compiler, "-std=gnu11", "-O1", "-fopenmp", *FLAGS, os.path.join(ROOT, "bench/taskbench", name + ".c"),
                        "-o", path, "-lm"], check=True)
        return path

    def ready(self, command, *args):
        """(how many tasks, checksum), as text; what the program says if it fails."""
        run = subprocess.run([*command, *map(str, args)], env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=100, check=False)
        words = run.stdout.split()
        return tuple(words[1:3]) if words[:1] == ["ready"] and run.returncode == 0 else run.stdout + run.stderr

    def commands(self):
        """{name: command} of all that must agree; the first is OpenMP."""
        script = os.path.join(ROOT, "bench/taskbench/taskbench.lua")
        found = {"OpenMP": [self.compile("openmp", "gcc")]}
        if shutil.which("mpicc") and shutil.which("mpirun"):
            found["MPI"] = ["mpirun", "--oversubscribe", "-n", "3", self.compile("mpi", "mpicc")]
        found.update({" ".join(["lgt", *options]): [self.lgt, *options, script] for options in LGT})
        found["lgt" + BY_HAND] = [self.lgt, script]
        return found


def differing(programs, commands, case):
    """What is wrong with a pattern, or nothing."""
    for steps, width in SIZES:
        args = (case[0], steps, width, case[1])
        expected = programs.ready(commands["OpenMP"], *args)
        if isinstance(expected, str):
            return f"OpenMP: {expected}"
        for name, command in commands.items():
            got = programs.ready(command, *args, *(["manual"] if name.endswith(BY_HAND) else []))
            if got != expected:
                return f"{steps} steps, width {width}: {name} has {got}, OpenMP {expected}"
        tasks = int(expected[0])
        for lacking in () if case[0] == "trivial" else (width, tasks // 2, tasks - 1):
            if programs.ready(commands["OpenMP"], *args, lacking) == expected:
                return f"{steps} steps, width {width}: nobody sees that task {lacking} lacks a dependence"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lgt", required=True)
    args = parser.parse_args()
    if not shutil.which("gcc"):
        print("skip taskbench: there is no gcc")
        return 0
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        programs = Programs(os.path.abspath(args.lgt), folder)
        commands = programs.commands()
        for case in CASES:
            wrong = differing(programs, commands, case)
            failed = failed or bool(wrong)
            print(f"FAIL {' '.join(case)}: {wrong}" if wrong else f"ok {' '.join(case)}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
