"""Task Bench (bench/taskbench): how short tasks may be.

METG(50%), the minimum effective task granularity, is the least average duration of a task at which the cores still do half of
the work that they can do (Slaughter et al., SC20): their time, all cores together, divided by the number of tasks.  What they
can do is measured in the same run, by plain loops over the same kernel (taskbench/plain.c).  Tasks are made shorter, from one
power of two of iterations to the next, until the share is less than a half, and what lies between the last two is interpolated.
Of some rounds the best counts.
"""
import math
import os
import sys

from harness import Contestant, Failed

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATTERNS = ("trivial", "no_comm", "stencil_1d", "stencil_1d_periodic", "dom", "tree", "fft", "nearest", "spread", "random_nearest")
CASES = [(pattern, "compute") for pattern in PATTERNS] + [("stencil_1d", "memory")]
# lgt's columns: what each is called, and its options.
LGT = {"lgt": (), "lgt, tasks not fused": ("--fusion=0",)}
FLAGS = ("-ffp-contract=off",)  # as in lgt, whose results must be the same bits
LARGEST, SMALLEST = 15, 2  # logarithms of the iterations of a task
PLAIN = 1 << 13  # iterations of a task, where they are to show what the cores can do
FEWEST = 0.35  # of what they can do: tasks are not made shorter then


def contestants(bench, pattern, steps, width, kernel):
    """(plain loops, {column: contestant})."""
    args = (pattern, steps, width, kernel)
    script = os.path.join(ROOT, "bench/taskbench/taskbench.lua")
    columns = {label: Contestant(label, [bench.lgt_path, *options, script, *map(str, args)], {"LGT_BACKGROUND": "0"})
               for label, options in LGT.items()}
    columns["MPI"] = bench.mpi("taskbench/mpi", bench.cpus, *args, flags=FLAGS)
    columns["OpenMP"] = bench.c("taskbench/openmp", *args, label="OpenMP", flags=FLAGS)
    columns["OpenMP"].env["OMP_WAIT_POLICY"] = None  # threads that find no task look again for a while before they sleep
    return bench.c("taskbench/plain", *args, label="plain loops", flags=FLAGS), columns


def climb_down(plain, columns, rounds, largest):
    """{column: [(iterations, least seconds), ...]}, and what the cores do at most, in iterations a second."""
    curves, peak, running = {label: [] for label in columns}, 0, dict(columns)
    for exponent in range(largest, SMALLEST - 1, -1):
        n, best = 1 << exponent, {}
        for _ in range(rounds):
            peak = max(peak, PLAIN * plain.check[0] / plain.run(PLAIN))
            for label, contestant in list(running.items()):
                try:
                    best[label] = min(best.get(label, math.inf), contestant.run(n))
                except Failed as why:
                    contestant.error = str(why)
                    del running[label]
        for label in list(running):
            curves[label].append((n, best[label]))
            if n * columns[label].check[0] / best[label] < FEWEST * peak:
                del running[label]
        if not running:
            break
    return curves, peak


def granularity(curve, tasks, cores, peak):
    """(microseconds, "" or "<" or ">") of a curve that goes from long tasks to short ones."""
    points = [(seconds * cores / tasks * 1e6, n * tasks / seconds / peak) for n, seconds in curve]
    last = max((i for i, (_, share) in enumerate(points) if share >= 0.5), default=None)
    if last is None:
        return points[0][0], ">"
    if last + 1 == len(points):
        return points[last][0], "<"
    (long, more), (short, less) = points[last], points[last + 1]
    way = (more - 0.5) / (more - less)
    return math.exp(math.log(long) + way * (math.log(short) - math.log(long))), ""


def measure(bench, case, steps, width, rounds, largest):
    """A row's {column: (microseconds, sign)}, and its data."""
    plain, columns = contestants(bench, case[0], steps, width, case[1])
    everybody = [plain, *columns.values()]
    try:
        for contestant in everybody:
            try:
                contestant.start(bench.env)
                if contestant is not plain and contestant.check != columns["OpenMP"].check and columns["OpenMP"].check:
                    raise Failed(f"computed {contestant.check}, expected {columns['OpenMP'].check}")
            except Failed as why:
                contestant.error = str(why)
        if plain.error:
            return {}, {"error": plain.error}
        curves, peak = climb_down(plain, {label: c for label, c in columns.items() if not c.error}, rounds, largest)
    finally:
        for contestant in everybody:
            contestant.stop()
    bench.note_failures(" ".join(case), everybody)
    row = {label: granularity(curve, plain.check[0], bench.cpus, peak) for label, curve in curves.items() if curve}
    return row, {"tasks": plain.check[0], "peak": peak, "curves": curves}


def lines(bench, figure):
    """(labels of columns, rows of cells, data)."""
    steps, width, rounds, largest = (100, 4 * bench.cpus, 5, LARGEST) if not bench.quick else (10, 8, 1, 8)
    rows, data, labels = [], {}, [*LGT, "MPI", "OpenMP"]
    for case in CASES:
        title = case[0] + (", memory" if case[1] == "memory" else "")
        row, data[title] = measure(bench, case, steps, width, rounds, largest)
        cells = [(row[label][1] + figure(row[label][0])) if label in row else "-" for label in labels]
        rows.append([title, *cells])
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    return labels, rows, data
