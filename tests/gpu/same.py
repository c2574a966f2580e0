#!/usr/bin/python3
"""Programs print the same with GPUs as without, to the last digit: on one, on three, and on two ranks with one each.

The GPUs are those of the emulated driver, which is strict: a mistake of order, of bounds or of what is left behind fails the
case.  The runs without GPUs are divided among as many domains, since the order of sums follows from that.

--table says how much of each program runs on GPUs.  STRESS=1 takes all programs of tests/programs/run.py.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests/programs"))
import run as programs

LIMIT = 1800  # seconds, for what hangs
SOME = ["own_task", "black_scholes", "stencil", "jacobi", "heat_3d", "cg", "wave", "gray_scott", "mandelbrot1", "nbody", "durbin"]
# name: (with GPUs, without, in a short run)
SETTINGS = {
    "on a GPU": (["--gpus=1"], ["--domains=1"]),
    "on three": (["--gpus=3", "--min-tile=1"], ["--domains=3", "--min-tile=1"]),
    "on two ranks": (["-n", "2", "--gpus=1", "--min-tile=1"], ["-n", "2", "--min-tile=1"]),
}
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

    def __init__(self, args, options, name, folder, env):
        path, _ = programs.script(name)
        report = os.path.join(folder, f"{name.replace(' ', '_')}.{abs(hash(tuple(options)))}")
        command = [args.lgt, "--cpus=1", "--finish=0", f"--cache-dir={args.cache}", *options, os.path.join(folder, "wrapper.lua"), path, report,
                   *programs.PROGRAMS[name][0]]
        self.out, self.stats, self.why = "", {}, None
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False,
                                  env={**os.environ, **env})
        except subprocess.TimeoutExpired:
            self.why = f"took more than {LIMIT} s"
            return
        self.out = done.stdout
        if done.returncode or done.stderr:
            self.why = f"exit status {done.returncode}: {done.stderr.strip()[-600:]}"
        elif os.path.exists(report):
            with open(report, encoding="utf-8") as file:
                self.stats = json.load(file)


def compare(args, name, label, folder):
    """(why it failed or None, counters)"""
    with_gpus, without = SETTINGS[label]
    gpus = {"LD_LIBRARY_PATH": args.driver, "LGT_FAKE_CUDA_STRICT": "1", "LGT_FAKE_CUDA_DEVICES": "3",
            "LGT_FAKE_CUDA_DELAY": "5"}
    plain, ours = Run(args, without, name, folder, {}), Run(args, with_gpus, name, folder, gpus)
    if plain.why or ours.why:
        return (f"without GPUs: {plain.why}" if plain.why else ours.why), ours.stats
    if not ours.stats.get("device_tasks"):
        return "nothing ran on GPUs", ours.stats
    if ours.out != plain.out:
        lines = [(a, b) for a, b in zip(ours.out.splitlines(), plain.out.splitlines()) if a != b]
        a, b = lines[0] if lines else (ours.out[-80:], plain.out[-80:])
        return f"prints {a!r}, without GPUs {b!r}", ours.stats
    return None, ours.stats


def main():
    parser = argparse.ArgumentParser(description="Compares programs on emulated GPUs with the same without.")
    parser.add_argument("--lgt", default=os.path.join(ROOT, "build/lgt"))
    parser.add_argument("--driver", default=os.path.join(ROOT, "build/tests/gpu"), help="folder of the emulated driver")
    parser.add_argument("--cache", default="", help="folder of kernels")
    parser.add_argument("--setting", choices=SETTINGS, action="append")
    parser.add_argument("--table", action="store_true", help="print what ran where")
    parser.add_argument("names", nargs="*", help="programs")
    args = parser.parse_args()
    args.lgt, args.driver = os.path.abspath(args.lgt), os.path.abspath(args.driver)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="lgt-gpu-") as folder:
        args.cache = args.cache or os.path.join(folder, "kernels")
        with open(os.path.join(folder, "wrapper.lua"), "w", encoding="utf-8") as file:
            file.write(WRAPPER)
        for name in args.names or (programs.PROGRAMS if "STRESS" in os.environ else SOME):
            for label in args.setting or SETTINGS:
                why, stats = compare(args, name, label, folder)
                failed += why is not None
                print(f"FAIL {name} {label}: {why}" if why else f"ok {name} {label}", flush=True)
                if args.table:
                    print("    " + ", ".join(f"{stats.get(k, 0)} {k}" for k in (
                        "launches", "device_tasks", "groups_on_host", "device_kernels", "bytes_to_devices",
                        "bytes_from_devices", "waits")), flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
