#!/usr/bin/python3
"""How much of the iterative examples is replayed (src/core/trace), and from which iteration on.

    tests/programs/traced.py --lgt build/lgt [NAME ...]

The table has the launches of an iteration, the share of all launches that was replayed, the first iteration from which at
least 95 % of what follows is replayed (85 % where the script looks at something every few iterations), and the share
from there on.  A case fails if that is later than after 10 iterations and LATEST launches: windows of loops that never look
grow until then (runtime.h's `target`), and a longer window is another trace.  Which trace is found first depends on how soon
searches end, and a shorter one than a whole iteration may stay (burgers, on a machine under load): of three runs the
best counts.
"""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

LATEST = 512

# Example, arguments, iterations (None: until it converges), and the share that must be replayed.
CASES = [
    ("jacobi", "200 600", 600, 0.95),
    ("cg", "300 1e-200", None, 0.95),
    ("stencil", "100 300", 300, 0.95),
    ("gray_scott", "40 300", 300, 0.95),
    ("wave", "40 300", 300, 0.95),
    ("burgers", "200 300", 300, 0.95),
    ("heat_3d", "20 200", 200, 0.95),
    ("jacobi_2d", "40 300", 300, 0.95),
    ("fdtd_2d", "40 40 300", 300, 0.95),
    ("logreg", "400 8 300", 300, 0.95),
    ("linreg", "400 8 300", 300, 0.95),
    ("kmeans", "400 4 200", 200, 0.85),
    ("schroedinger", "128 200", 200, 0.95),
    ("richardson_lucy", "32 100", 100, 0.95),
    ("nbody", "20 200", 200, 0.95),
    ("lattice_boltzmann", "20 200", 200, 0.95),
    ("shallow_water", "40 200", 200, 0.95),
    ("cavity_flow", "20 100 20", 100, 0.95),
]


def run(lgt, name, arguments, options):
    """(launches, [(first, last) of each replay])"""
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("LGT_")}, "LGT_DEBUG": "trace:2"}
    command = [lgt, "--trace=1", *options, os.path.join(ROOT, "examples", name + ".lua"), *arguments.split()]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=600)
    if done.returncode:
        raise RuntimeError(done.stderr[-500:])
    total = int(re.search(r"\d+ of (\d+) launches replayed", done.stderr)[1])
    return total, [(int(a) - 1, int(b)) for a, b in re.findall(r"launches (\d+) to (\d+): trace", done.stderr)]


def steady(total, spans, share):
    """The first launch from which on such a share is replayed, and the share; or None.  What the end of a program does
    (a tenth of it) does not count."""
    end = total - total // 10
    spans = [(a, min(b, end)) for a, b in spans if a < end]
    for k, (first, _) in enumerate(spans):
        replayed = sum(b - a for a, b in spans[k:])
        if replayed >= share * (end - first):
            return first, replayed / (end - first)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lgt", default=os.path.join(ROOT, "build/lgt"))
    parser.add_argument("--options", default="--cpus=1 --compile=0")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    failed = 0
    print(f"{'example':18} {'launches':>8} {'a turn':>7} {'share':>6} {'from launch':>11} {'iteration':>9} {'then':>6}")
    for name, arguments, turns, share in CASES:
        if args.names and name not in args.names:
            continue
        for _ in range(3):
            total, spans = run(args.lgt, name, arguments, args.options.split())
            found = steady(total, spans, share)
            good = found and found[0] <= max(LATEST, 10 * total / turns if turns else 0)
            if good:
                break
        overall = sum(b - a for a, b in spans) / total
        each = f"{total / turns:7.1f}" if turns else "      -"
        if found:
            first, rest = found
            at = f"{first / (total / turns):9.0f}" if turns else "        -"
            print(f"{name:18} {total:8} {each} {overall:6.2f} {first:11} {at} {rest:6.3f}", flush=True)
        else:
            print(f"{name:18} {total:8} {each} {overall:6.2f}           -         -      -", flush=True)
        print(f"ok {name} is replayed" if good else f"FAIL {name}: it is replayed too late, or too little of it")
        failed += not good
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
