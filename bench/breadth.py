#!/usr/bin/python3
"""Functions of the array library beside NumPy's, at a million elements and with one worker.

    bench/breadth.py [--lgt build/lgt] [-k TEXT] [--below RATIO]

bench/breadth.txt lists group, lgt's expression and NumPy's.  A line of the table: how many times as fast lgt is,
both times (of the processor, so that others on the machine do not count), "waits" if the call has waited for its
result, and, where lgt does not reach half of NumPy's speed, the reason why it may stay so (a fourth column of
bench/breadth.txt).  --below shows only lines with a smaller ratio.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
N = 1000000


def inputs():
    rng = np.random.default_rng(3)
    x, q = rng.random(N), rng.random((300, 300))
    return {
        "x": x, "y": rng.random(N), "m": x.reshape(1000, 1000), "k": rng.integers(1, 1000, N), "l": rng.integers(1, 1000, N),
        "s": np.sort(rng.random(1000)), "perm": rng.permutation(N) + 1, "mask": rng.random(N) < 0.5,
        "z": rng.random(N) + 1j * rng.random(N), "f": rng.random(N).astype("f4"), "cube": x.reshape(100, 100, 100),
        "rows": rng.permutation(1000) + 1, "c3": rng.random((300000, 3)), "d3": rng.random((300000, 3)), "q": q + q.T, "stack": rng.random((10000, 10, 10)),
        "bytes": rng.integers(0, 256, N // 8).astype("u1"),
    }


def numpy_time(expression, scope):
    code, best, spent, turns = compile(expression, expression, "eval"), float("inf"), 0, 0
    while turns < 4 or (turns < 15 and spent < 1):
        begin = time.process_time()
        eval(code, scope)
        seconds = time.process_time() - begin
        turns, spent = turns + 1, spent + seconds
        if turns > 2:
            best = min(best, seconds)
    return best * 1e3


def main():
    parser = argparse.ArgumentParser(description="Functions of the array library beside NumPy's.")
    parser.add_argument("--lgt", default=os.path.join(os.path.dirname(HERE), "build/lgt"))
    parser.add_argument("-k", default="", help="only lines that contain this")
    parser.add_argument("--below", type=float, default=float("inf"))
    args = parser.parse_args()
    with open(os.path.join(HERE, "breadth.txt"), encoding="utf-8") as file:
        cases = [(line.rstrip("\n").split("\t") + [""])[:4] for line in file if args.k in line]
    arrays = inputs()
    with tempfile.TemporaryDirectory() as folder:
        for name, array in arrays.items():
            np.save(f"{folder}/{name}.npy", array)
        with open(f"{folder}/names", "w", encoding="utf-8") as file:
            file.writelines(name + "\n" for name in arrays)
        with open(f"{folder}/cases", "w", encoding="utf-8") as file:
            file.writelines(case[1] + "\n" for case in cases)
        run = subprocess.run([args.lgt, "--cpus", "1", "--background", "0", os.path.join(HERE, "breadth.lua"), folder], capture_output=True,
                             text=True)
    if run.returncode:
        sys.exit(run.stderr)
    scope = {"np": np, "N": N, **arrays}
    slow, known, group_before = 0, 0, None
    for (group, lgt, numpy, reason), line in zip(cases, run.stdout.splitlines()):
        ours, note = line.split("\t", 1)
        theirs = numpy_time(numpy, scope)
        ratio = 0 if ours == "error" else theirs / float(ours)
        slow += ratio < 0.5
        known += ratio < 0.5 and reason != ""
        if ratio >= args.below:
            continue
        if group != group_before:
            print(f"{group}\n  ratio    NumPy      lgt")
            group_before = group
        print(f"{ratio:7.2f} {theirs:8.2f} {ours:>8}  {lgt}  {note}{'  - ' + reason if ratio < 0.5 and reason else ''}")
    print(f"{len(cases)} functions, {slow} of them at less than half of NumPy's speed, {known} of these for a known reason")


if __name__ == "__main__":
    main()
