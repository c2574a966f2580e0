"""Task Bench (bench/taskbench): how short tasks may be.

METG(50%), the minimum effective task granularity, is the least average duration of a task at which the cores still do half of
the work that they can do (Slaughter et al., SC20): their time, all cores together, divided by the number of tasks.  What they
can do is measured in the same run, by plain loops over the same kernel (taskbench/plain.c).  Tasks are made shorter, from one
power of two of iterations to the next, until the share is less than a half, and what lies between two is interpolated.  Of
some rounds the best counts: other programs on the machine only make it slower.
"""
import math
import os
import sys

from harness import Contestant, Failed

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATTERNS = ("trivial", "no_comm", "stencil_1d", "stencil_1d_periodic", "dom", "tree", "fft", "nearest", "spread", "random_nearest")
CASES = [(pattern, "compute") for pattern in PATTERNS] + [("stencil_1d", "memory")]
# lgt's columns: what each is called, its options, and what the script is told besides the graph.
LGT = {"untraced": ("--trace=0", ()), "traced": ("--trace=1", ()), "traced by hand": ("--trace=0", ("manual",))}
FLAGS = ("-ffp-contract=off",)  # as in lgt, whose results must be the same bits
SMALLEST, FIRST, LARGEST = 2, 13, 17  # logarithms of the iterations of a task
PLAIN = 1 << 13  # iterations of a task, where they are to show what the cores can do
FEWEST = 0.35  # of what they can do: tasks are not made shorter then


def contestants(bench, pattern, steps, width, kernel):
    """(plain loops, {column: contestant})."""
    args = (pattern, steps, width, kernel)
    script = os.path.join(ROOT, "bench/taskbench/taskbench.lua")
    columns = {label: Contestant(label, [bench.lgt_path, option, script, *map(str, args), *more], {"LGT_BACKGROUND": "0"})
               for label, (option, more) in LGT.items()}
    columns["MPI"] = bench.mpi("taskbench/mpi", bench.cpus, *args, flags=FLAGS)
    columns["OpenMP"] = bench.c("taskbench/openmp", *args, label="OpenMP", flags=FLAGS)
    columns["OpenMP"].env["OMP_WAIT_POLICY"] = None  # threads that find no task look again for a while before they sleep
    return bench.c("taskbench/plain", *args, label="plain loops", flags=FLAGS), columns


class Curves:
    """Of each contestant the least seconds that all tasks take, by the logarithm of their iterations."""

    def __init__(self, plain, columns, rounds):
        self.plain, self.columns, self.rounds, self.peak = plain, columns, rounds, 0  # iterations a second
        self.seconds = {label: {} for label in columns}

    def share(self, label, exponent):
        return 2**exponent * self.plain.check[0] / self.seconds[label][exponent] / self.peak

    def sample(self, labels, exponent):
        """Those that do not fail."""
        for _ in range(self.rounds):
            self.peak = max(self.peak, PLAIN * self.plain.check[0] / self.plain.run(PLAIN))
            for label in labels:
                contestant, seconds = self.columns[label], self.seconds[label]
                try:
                    if not contestant.error:
                        seconds[exponent] = min(seconds.get(exponent, math.inf), contestant.run(2**exponent))
                except Failed as why:
                    contestant.error = str(why)
        return [label for label in labels if not self.columns[label].error]

    def find(self, first, most):
        """From tasks of 2^first iterations down, for each until it is slow twice; then up to 2^most, for those that were
        slow from the beginning."""
        running = [label for label, contestant in self.columns.items() if not contestant.error]
        for exponent in range(first, SMALLEST - 1, -1):
            running = [label for label in self.sample(running, exponent)
                       if max(self.share(label, e) for e in (exponent, min(exponent + 1, first))) > FEWEST]
        slow = [label for label in self.columns if not self.columns[label].error]
        for exponent in range(first + 1, most + 1):
            slow = [label for label in slow if all(self.share(label, e) < 0.5 for e in self.seconds[label])]
            slow = self.sample(slow, exponent)

    def granularity(self, label, cores):
        """(microseconds, "" or "<" or ">")."""
        points = [(seconds * cores / self.plain.check[0] * 1e6, self.share(label, exponent))
                  for exponent, seconds in sorted(self.seconds[label].items())]
        first = next((i for i, (_, share) in enumerate(points) if share >= 0.5), None)
        if first is None:
            return points[-1][0], ">"
        if first == 0:
            return points[0][0], "<"
        (short, less), (long, more) = points[first - 1], points[first]
        way = (0.5 - less) / (more - less)
        return math.exp(math.log(short) + way * (math.log(long) - math.log(short))), ""


def measure(bench, case, steps, width, rounds, sizes):
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
        curves = Curves(plain, columns, rounds)
        curves.find(*sizes)
    finally:
        for contestant in everybody:
            contestant.stop()
    bench.note_failures(" ".join(case), everybody)
    row = {label: curves.granularity(label, bench.cpus) for label, c in columns.items() if not c.error}
    return row, {"tasks": plain.check[0], "peak": curves.peak, "seconds": curves.seconds}


def lines(bench, figure):
    """(labels of columns, rows of cells, data)."""
    steps, width, rounds, sizes = (100, 4 * bench.cpus, 11, (FIRST, LARGEST)) if not bench.quick else (10, 8, 1, (8, 9))
    rows, data, labels = [], {}, [*LGT, "MPI", "OpenMP"]
    for case in CASES:
        title = case[0] + (", memory" if case[1] == "memory" else "")
        row, data[title] = measure(bench, case, steps, width, rounds, sizes)
        cells = [(row[label][1] + figure(row[label][0])) if label in row else "-" for label in labels]
        rows.append([title, *cells])
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    return labels, rows, data
