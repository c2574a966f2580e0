#!/usr/bin/python3
"""Programs print the same with devices as without, to the last digit: on one, on three, and on two ranks with one each.

The GPUs are those of the emulated driver, which is strict: a mistake of order, of bounds or of what is left behind fails the
case.  Where groups run by estimate, it is drawn here (--jitter) for each group, on each rank by itself.  Those that the core emulates have the processor's kernels and queues that are late.  The runs without devices are divided
among as many domains, since the order of sums follows from that.  Besides, GPUs that have little memory: what does not fit
moves to the host, or is computed there.

A short run has another few programs for each setting; STRESS=1 takes all programs of tests/programs/run.py under all.
--table writes, for each program, what becomes of its launches on one GPU (tasks, kernels, calls of the driver), and what it leaves
to the host.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/programs"))
import run as programs

LIMIT = 1800  # seconds, for what hangs
# In a short run: on GPUs.
SOME = ["own_task", "black_scholes", "stencil", "jacobi", "heat_3d", "cg", "wave", "gray_scott", "mandelbrot1", "nbody", "durbin"]
# name: (with devices, without)
ONE, THREE, RANKS = ["--domains=1"], ["--domains=3", "--min-tile=1"], ["-n", "2", "--min-tile=1"]
SETTINGS = {
    "on a GPU": (["--gpus=1"], ONE),
    "on three": (["--gpus=3", "--min-tile=1"], THREE),
    "on two ranks": (["-n", "2", "--gpus=1", "--min-tile=1"], RANKS),
    "on a small GPU": (["--gpus=1", "--gpu-mem=64K"], ONE),
    "on a device": (["--emulate=1"], ONE),
    "on three devices": (["--emulate=3", "--min-tile=1", "--jitter=3"], THREE),
    "on either side": (["--jitter=7", "--gpus=auto"], ONE),
    "on either side of two ranks": (["-n", "2", "--jitter=7", "--gpus=auto", "--min-tile=1"], RANKS),
    "on two ranks with a device": (["-n", "2", "--emulate=1", "--min-tile=1"], RANKS),
}
ON_GPUS = list(SETTINGS)[:3]
# The program, and then its counters, of rank 0.
WRAPPER = """
local script, report = table.remove(arg, 1), table.remove(arg, 1)
arg[0] = script
assert(loadfile(script))(unpack(arg))
local lgt = require "lgt"
lgt.fence()
local parts = {}
for name, count in pairs(lgt.stats()) do parts[#parts + 1] = ('"%s": %d'):format(name, count) end
local file = assert(io.open(report, "w"))
file:write("{", table.concat(parts, ", "), "}")
file:close()
"""


class Run:
    """Standard output, counters, and why it failed (or None)."""

    def __init__(self, args, options, name, folder, env, debug=False):
        path, _ = programs.script(name)
        report = os.path.join(folder, f"{name.replace(' ', '_')}.{abs(hash(tuple(options)))}")
        command = [args.lgt, "--cpus=1", "--finish=0", f"--cache-dir={args.cache}", *options, os.path.join(folder, "wrapper.lua"), path, report,
                   *programs.PROGRAMS[name][0]]
        self.out, self.said, self.stats, self.why = "", "", {}, None
        env = {**env, "LGT_DEBUG": "map:3"} if debug else env
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False,
                                  env={**os.environ, **env})
        except subprocess.TimeoutExpired:
            self.why = f"took more than {LIMIT} s"
            return
        self.out, self.said = done.stdout, done.stderr
        if done.returncode or done.stderr and not debug:
            self.why = f"exit status {done.returncode}: {done.stderr.strip()[-600:]}"
        elif os.path.exists(report):
            with open(report, encoding="utf-8") as file:
                self.stats = json.load(file)


def compare(args, name, label, folder):
    """Why it failed, or None."""
    devices, without = SETTINGS[label]
    env = {"LD_LIBRARY_PATH": args.driver, "LGT_FAKE_CUDA_STRICT": "1", "LGT_FAKE_CUDA_DEVICES": "3",
           "LGT_FAKE_CUDA_DELAY": "5"}
    plain, ours = Run(args, ["--gpus=none", *without], name, folder, {}), Run(args, devices, name, folder, env)
    if plain.why or ours.why:
        return f"without devices: {plain.why}" if plain.why else ours.why
    if not ours.stats.get("device_tasks"):
        return "nothing ran on devices"
    if ours.out != plain.out:
        lines = [(a, b) for a, b in zip(ours.out.splitlines(), plain.out.splitlines()) if a != b]
        a, b = lines[0] if lines else (ours.out[-80:], plain.out[-80:])
        return f"prints {a!r}, without devices {b!r}"
    return None


def cases(args):
    """(program, setting), in a short run: some on GPUs, and a tenth of all on the others, each on another one."""
    every = list(programs.PROGRAMS)
    if args.names or args.setting or "STRESS" in os.environ:
        names = args.names or (every if "STRESS" in os.environ else SOME)
        return [(name, label) for name in names for label in args.setting or SETTINGS]
    others = [label for label in SETTINGS if label not in ON_GPUS]
    return [(name, label) for name in SOME for label in ON_GPUS] + [
        (name, others[i % len(others)]) for i, name in enumerate(every[::len(every) // (5 * len(others))])]


SPARSE = re.compile(r"(csr|csc|coo|dia|bsr|ell)_")
NO_VARIANT = "it has no variant for devices"


def left_to_host(said):
    """What LGT_DEBUG=map:3 says of groups on the host, as text: operations of C, and whatever was there for another reason."""
    why = {}
    for kind, reason in re.findall(r"map: '(.*)' runs on the host: (.*)", said):
        kind = "sparse matrices" if SPARSE.match(kind) else kind.split(".")[0]
        kind += "" if reason == NO_VARIANT else f" ({reason})"
        why[kind] = why.get(kind, 0) + 1
    return ", ".join(f"{kind} {count}" for kind, count in sorted(why.items(), key=lambda item: -item[1]))


def driver_calls(log):
    """Kernels that were launched, and calls of the driver from the first launch on, since what comes before finds the GPU.  How often
    the host asks whether something is done depends on when, and is left out."""
    with open(log, encoding="utf-8") as file:
        names = [line.split(" ", 1)[1].split("(")[0] for line in file if line[0].isdigit() and "(" in line]
    names = [name for name in names if name not in ("cuEventQuery", "cuCtxSetCurrent")]
    first = next((i for i, name in enumerate(names) if name == "cuLaunchKernel"), len(names))
    return names.count("cuLaunchKernel"), len(names) - first


def table(args, folder):
    """A row for each program."""
    none = 0
    print("| program | launches | tasks | of the GPU | kernels | driver calls | groups on the host | for the sake of |")
    print("| --- |" + " ---: |" * 6 + " --- |")
    for name in args.names or programs.PROGRAMS:
        log = os.path.join(folder, "log")
        env = {"LD_LIBRARY_PATH": args.driver, "LGT_FAKE_CUDA_DELAY": "0", "LGT_FAKE_CUDA_DEVICES": "3", "LGT_FAKE_CUDA_LOG": log}
        run = Run(args, ["--gpus=1"], name, folder, env, debug=True)
        s = run.stats
        kernels, calls = driver_calls(log)
        os.remove(log)
        none += not run.why and not s["groups_on_host"]
        counts = [s.get("launches", 0), s.get("tasks", 0), s.get("device_tasks", 0), kernels, calls, s.get("groups_on_host", 0)]
        print(f"| {name} | {' | '.join(map(str, counts))} | {run.why or left_to_host(run.said)} |", flush=True)
    print(f"\n{none} of these leave nothing to the host.")


def main():
    parser = argparse.ArgumentParser(description="Compares programs on emulated GPUs with the same without.")
    parser.add_argument("--lgt", default=os.path.join(ROOT, "build/lgt"))
    parser.add_argument("--driver", default=os.path.join(ROOT, "build/tests/gpu"), help="folder of the emulated driver")
    parser.add_argument("--cache", default="", help="folder of kernels")
    parser.add_argument("--setting", choices=SETTINGS, action="append")
    parser.add_argument("--part", help="K/N: each N-th program, from the K-th on")
    parser.add_argument("--table", action="store_true", help="print what ran where")
    parser.add_argument("names", nargs="*", help="programs")
    args = parser.parse_args()
    if args.part:
        part, parts = map(int, args.part.split("/"))
        args.names = (args.names or list(programs.PROGRAMS))[part - 1::parts]
    args.lgt, args.driver = os.path.abspath(args.lgt), os.path.abspath(args.driver)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="lgt-gpu-") as folder:
        args.cache = args.cache or os.path.join(folder, "kernels")
        with open(os.path.join(folder, "wrapper.lua"), "w", encoding="utf-8") as file:
            file.write(WRAPPER)
        if args.table:
            table(args, folder)
            return 0
        for name, label in cases(args):
            why = compare(args, name, label, folder)
            failed += why is not None
            print(f"FAIL {name} {label}: {why}" if why else f"ok {name} {label}", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
