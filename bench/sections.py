"""What is measured: one function for each table of README.md and docs/measured.md.

Each returns the table as Markdown and its rows as data.  Sizes are chosen so that a line takes less than 20
seconds on two cores, rivals included; `bench.quick` shrinks them until nothing but the harness is tested.
"""
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from harness import Contestant, available_memory, compete, fingerprint, ratio
from lengths import lengths as solver_lengths

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests/programs"))

import npbench as programs  # noqa: E402
import gpus  # noqa: E402
import metg  # noqa: E402
import operations  # noqa: E402
import whole  # noqa: E402
from run import PROGRAMS as SMALL, script  # noqa: E402


# ---- rendering

def figure(value):
    """Three significant digits."""
    if value is None:
        return "-"
    if value == 0 or value >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if value < 10 else f"{value:.1f}"


def milliseconds(contestant):
    return figure(contestant.median * 1e3) if contestant.times and not contestant.error else "-"


def table(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "| --- |" + " ---: |" * (len(columns) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def beside(rival, lgt):
    """A rival's time, and how many times lgt's that is."""
    if rival is None:
        return "-"
    times = ratio(rival, lgt)
    return milliseconds(rival) + (f" ({figure(times)} x)" if times else "")


def data_of(contestants):
    return {c.label: {"seconds": c.times, "turns": c.turns, "error": c.error} for c in contestants}


# ---- bounds

def bound(bench, work, elements, working_set):
    """(seconds, what bounds): work has, for each element, bytes of memory traffic that nobody can avoid, flops,
    and counts of exp, log, erf, sqrt, div."""
    memory = work["bytes"] * elements / bench.bandwidth(working_set)
    peak = bench.peak()
    half = 2 if work.get("float32") else 1
    cores = work.get("flops", 0) * elements / (peak["fma_gflops"] * 1e9 * half)
    cores += sum(work.get(f, 0) * peak[f] * 1e-9 / half for f in ("exp", "log", "erf", "sqrt", "div")) * elements
    return max((memory, "memory"), (cores, "arithmetic"))


def bound_text(limit, lgt):
    if limit is None or lgt.error or not lgt.times:
        return "-"
    seconds, what = limit
    reached = seconds / lgt.median
    beyond = " (beyond it: check)" if reached > 1.1 else ""
    return f"{what}, {figure(seconds * 1e3)} ms: {100 * reached:.0f}%{beyond}"


# ---- contestants of the four programs that have rivals in C

TRIAD = "b + s * c"
SWEEP = "k * (c + n + s + w + e)"
CALL, PUT = "S * n1 - D * n2", "D * (1 - n2) - S * (1 - n1)"
SIZE = {"float64": 8, "float32": 4}
REAL = {"float64": "double", "float32": "float"}


def triad(bench, n, dtype="float64", expression=TRIAD, python=()):
    memory = 3 * n * SIZE[dtype]
    c = dict(memory=memory, REAL=REAL[dtype], EXPR=expression)
    return [bench.lgt("triad.lua", n, dtype, expression, memory=memory + n * SIZE[dtype]),
            bench.c("triad", n, **c), bench.c("triad", n, label="C, non-temporal", STREAM="", **c),
            *(bench.py(who, "triad", n, dtype, expression, memory=2 * memory) for who in python)]


def sweep(bench, rows, cols, dtype="float64", expression=SWEEP, python=()):
    memory = 2 * rows * cols * SIZE[dtype]
    return [bench.lgt("sweep.lua", rows, cols, dtype, expression, memory=2 * memory),
            bench.c("sweep", rows, cols, memory=memory, REAL=REAL[dtype], EXPR=expression),
            *(bench.py(who, "sweep", rows, cols, dtype, expression, memory=3 * memory) for who in python)]


def black_scholes(bench, n, dtype="float64", rate=0.02, volatility=0.3, call=CALL, put=PUT, python=()):
    memory = 5 * n * SIZE[dtype]
    return [bench.lgt("black_scholes.lua", n, dtype, rate, volatility, call, put, memory=2 * memory),
            bench.c("black_scholes", n, rate, volatility, memory=memory, flags=("-ffast-math",), REAL=REAL[dtype],
                    CALL=call, PUT=put),
            *(bench.py(who, "black_scholes", n, dtype, rate, volatility, call, put, memory=3 * memory)
              for who in python)]


def program(bench, name, args, changes=(), memory=0):
    """A program beside its NumPy twin; `changes` are (Lua, Lua, Python, Python): old and new text in each."""
    paths = [os.path.join(ROOT, script(name)[0]), os.path.join(ROOT, "tests/programs", name + ".py")]
    if changes:
        for k, path in enumerate(paths):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for change in changes:
                old, new = change[2 * k : 2 * k + 2]
                if old not in text:
                    raise SystemExit(f"bench: {path} has no {old!r} to make a mutant of")
                text = text.replace(old, new)
            paths[k] = os.path.join(bench.out, f"{fingerprint(changes)}-{os.path.basename(path)}")
            with open(paths[k], "w", encoding="utf-8") as file:
                file.write(text)
    return [bench.lgt("program.lua", paths[0], *args, memory=memory),
            bench.py("numpy", "program", paths[1], *args, memory=memory)]


# Unavoidable work for each element (bytes are counted without reading what is about to be overwritten).
TRIAD_WORK = {"bytes": 24, "flops": 2}
SWEEP_WORK = {"bytes": 16, "flops": 5}
BLACK_SCHOLES_WORK = {"bytes": 40, "flops": 45, "exp": 3, "log": 1, "sqrt": 1, "div": 4}


def single(work):
    return dict(work, bytes=work["bytes"] / 2, float32=True)


# ---- sections

def machine(bench):
    """What the machine can do: memory bandwidth and arithmetic."""
    peak = bench.peak()
    sizes = [1 << 20, 1 << 24, 1 << 28, 3 << 30] if not bench.quick else [1 << 20]
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "unknown")
    rows = [["processor", f"{model}, {bench.cpus} cores used"]]
    for size in sizes:
        rows.append([f"triad in C, {size >> 20} MiB", f"{bench.bandwidth(size) / 1e9:.1f} GB/s"])
    rows.append(["fused multiply-add, double", f"{peak['fma_gflops']:.0f} GF/s"])
    for name in ("exp", "log", "erf", "sqrt", "div"):
        rows.append([f"{name} (libmvec, double)", f"{peak[name]:.2f} ns"])
    return table(["limit", "reached"], rows), {"peak": peak, "bandwidth": bench._bandwidth}


def speed(bench):
    """lgt beside C, NumPy, numexpr and Numba on programs of real size."""
    q = bench.quick
    everyone = ("numpy", "numexpr", "numba")
    big, medium, options, grid = (1 << 28, 1 << 25, 10**7, 8192) if not q else (1 << 14, 1 << 14, 10**4, 128)
    small, large, plate = (201, 2048, 4096) if not q else (31, 64, 64)
    cases = [
        (f"triad, {8 * big >> 20} MiB arrays", triad(bench, big), TRIAD_WORK, big, 24 * big),
        (f"triad, {8 * medium >> 20} MiB arrays", triad(bench, medium, python=everyone), TRIAD_WORK, medium, 24 * medium),
        (f"black_scholes, {options:.0e} options", black_scholes(bench, options, python=everyone),
         BLACK_SCHOLES_WORK, options, 40 * options),
        (f"5-point sweep, {grid}^2", sweep(bench, grid, grid, python=everyone), SWEEP_WORK, grid * grid, 16 * grid * grid),
        (f"stencil, {plate}^2, 10 steps in place", program(bench, "stencil", [plate, 10], memory=4 * 8 * plate**2),
         dict(SWEEP_WORK, bytes=160, flops=50), plate * plate, 16 * plate * plate),
        (f"cavity_flow, {small}^2, 100 steps of 20", program(bench, "cavity_flow", [small, 100 if not q else 2, 20]),
         None, 0, 0),
        (f"cavity_flow, {large}^2, 1 step of 10", program(bench, "cavity_flow", [large, 1, 10], memory=16 * 8 * large**2),
         None, 0, 0),
    ]
    rows, data = [], {}
    labels = ["C", "C, non-temporal", "NumPy", "numexpr", "Numba"]
    for title, contestants, work, elements, working_set in cases:
        limit = bound(bench, work, elements, working_set) if work else None
        compete(contestants, bench.env, bench.budget)
        bench.note_failures(title, contestants)
        by = {c.label: c for c in contestants}
        lgt = by["lgt"]
        cells = [title, milliseconds(lgt)]
        cells += [beside(by.get(label), lgt) for label in labels]
        rows.append([*cells, bound_text(limit, lgt)])
        data[title] = {**data_of(contestants), "bound": limit}
    text = table(["milliseconds (its time / lgt's)", "lgt", *labels, "bound, and how much of it lgt reaches"], rows)
    return text, data


def mutants(bench):
    """The same programs with other coefficients, orders, operations, element types and sizes."""
    q = bench.quick
    n, options, grid, points = (1 << 26, 10**7, 8192, 201) if not q else (1 << 14, 10**4, 128, 31)
    cavity = [points, 100 if not q else 2, 20]
    cases = {
        "triad": [
            ("as it is", triad(bench, n)),
            ("another coefficient", triad(bench, n, expression="b + t * c")),
            ("reordered", triad(bench, n, expression="c * s + b")),
            ("one more operation", triad(bench, n, expression="b + s * c - t")),
            ("float32", triad(bench, 2 * n, "float32")),
            ("odd size", triad(bench, n - 13)),
        ],
        "black_scholes": [
            ("as it is", black_scholes(bench, options)),
            ("other coefficients", black_scholes(bench, options, rate=0.05, volatility=0.2)),
            ("reordered", black_scholes(bench, options, call="n1 * S - n2 * D", put="(1 - n2) * D - (1 - n1) * S")),
            ("one more operation", black_scholes(bench, options, put="D * (1 - n2) - S * (1 - n1) - n1")),
            ("float32", black_scholes(bench, 2 * options, "float32")),
            ("odd size", black_scholes(bench, options - 13)),
        ],
        "5-point sweep": [
            ("as it is", sweep(bench, grid, grid)),
            ("other coefficients", sweep(bench, grid, grid, expression="k * (2 * c + n + s + w) - e")),
            ("reordered", sweep(bench, grid, grid, expression="(w + e + c + s + n) * k")),
            ("one more operation", sweep(bench, grid, grid, expression="k * (c + n + s + w + e) - k")),
            ("float32", sweep(bench, grid, 2 * grid, "float32")),
            ("odd size", sweep(bench, grid - 3, grid + 5)),
        ],
        "cavity_flow": [
            ("as it is", program(bench, "cavity_flow", cavity)),
            ("other coefficients", program(bench, "cavity_flow", cavity,
                                           [("rho, nu = 1, 0.1", "rho, nu = 1.5, 0.07") * 2])),
            ("reordered", program(bench, "cavity_flow", cavity,
                                  [("(pn[E] + pn[W]) * dy", "(pn[W] + pn[E]) * dy") * 2])),
            ("one more operation", program(bench, "cavity_flow", cavity,
                                           [("local pn = p:copy()", "local pn = p * 1", "pn = p.copy()", "pn = p * 1")])),
            ("float32", program(bench, "cavity_flow", cavity,
                                [("np.zeros(n, n)", 'np.zeros(n, n, {dtype = "float32"})',
                                  "np.zeros((n, n))", 'np.zeros((n, n), "float32")')])),
            ("odd size", program(bench, "cavity_flow", [points + 2, *cavity[1:]])),
        ],
    }
    rows, data = [], {}
    for name, variants in cases.items():
        base = None
        for variant, contestants in variants:
            tolerance = 1e-4 if variant == "float32" else 1e-9
            compete(contestants, bench.env, bench.budget / 2, tolerance)
            bench.note_failures(f"{name}, {variant}", contestants)
            lgt, rivals = contestants[0], contestants[1:]
            times = [t for t in (ratio(rival, lgt) for rival in rivals) if t]
            best = min(times) if times else None
            base = base or best
            rows.append([f"{name}: {variant}", milliseconds(lgt), " / ".join(map(milliseconds, rivals)),
                         figure(best), f"{100 * best / base:.0f}%" if best and base else "-"])
            data[f"{name}: {variant}"] = data_of(contestants)
    text = table(["milliseconds", "lgt", "rival (C; C non-temporal; NumPy)", "best rival / lgt", "of the first line's"], rows)
    return text, data


# name: arguments with about 1,000 elements, 20,000 elements, and a real size
EXAMPLES = {
    "black_scholes": ([1000], [20000], [1000000]),
    "jacobi": ([32, 100], [141, 100], [2000, 20]),
    "stencil": ([32, 200], [141, 200], [1000, 50]),
    "cg": ([32, 1e-8], [141, 1e-8], [2000, 1e-8]),
    "pcg": ([32, 1e-8], [141, 1e-8], [2000, 1e-8]),
    "logreg": ([100, 10, 50], [2000, 10, 50], [50000, 20, 20]),
    "kmeans": ([250, 8, 20], [5000, 8, 20], [250000, 8, 5]),
    "heat_3d": ([10, 50], [27, 50], [100, 10]),
    "cavity_flow": ([32, 10, 20], [141, 10, 20], [1000, 1, 10]),
    "shallow_water": ([32, 10], [141, 10], [700, 1]),
}


def examples(bench):
    """Every example beside its NumPy twin at three sizes."""
    rows, data = [], {}
    for name, sizes in EXAMPLES.items():
        cells = [name]
        for args in sizes[:1] if bench.quick else sizes:
            contestants = program(bench, name, args)
            compete(contestants, bench.env, bench.budget / 3)
            title = f"{name} {' '.join(map(str, args))}"
            bench.note_failures(title, contestants)
            lgt, numpy = contestants
            cells.append(f"{milliseconds(lgt)} / {beside(numpy, lgt)}")
            data[title] = data_of(contestants)
        rows.append(cells + ["-"] * (4 - len(cells)))
    columns = ["ms: lgt / NumPy (NumPy's time / lgt's)", "1,000 elements", "20,000", "10^6 and more"]
    return table(columns, rows), data


def npbench_program(bench, name, args):
    """A program beside its text under NumPy and under Numba, or what rivals/compiled has instead: a cell, and the data."""
    memory = programs.memory(name, args)
    if memory > 0.8 * available_memory():
        return f"needs {memory / 2**30:.0f} GiB", {}
    text = os.path.join(ROOT, "tests/programs", name + ".py")
    contestants = [*program(bench, name, args, memory=memory), bench.py("numba", "program", text, *args, memory=memory)]
    compete(contestants, bench.env, bench.budget / 3)
    lgt, numpy, numba = contestants
    bench.note_failures(f"{name} {args}", contestants[:2])
    return f"{milliseconds(lgt)}: {beside(numpy, lgt)}, {beside(numba, lgt)}", data_of(contestants)


def geometric_mean(cells):
    """Of NumPy's ratio in each cell: of "5.0: 9.0 (1.8 x), 12 (2.4 x)" it is 1.8."""
    ratios = [float(found[1]) for found in (re.match(r"\S+: \S+ \(([\d.]+) x\)", cell) for cell in cells) if found]
    return figure(math.exp(statistics.fmean(map(math.log, ratios)))) if ratios else "-"


def npbench(bench):
    """NPBench's programs beside NumPy and Numba.  --size and --program choose; of what is not measured, the lines that
    stand in docs/measured.md remain."""
    standing = {} if bench.quick else {title: cells for title, *cells in bench.standing("npbench")}
    rows, data = {}, {}
    for name, sizes in programs.SIZES.items():
        cells = rows[name] = standing.get(programs.title(name), ["-", "-"])
        for k, size in enumerate("M" if bench.quick else "ML"):
            arguments = list(map(int, SMALL[name][0])) if bench.quick else sizes[k]
            if size in bench.sizes and name in (bench.programs or programs.SIZES):
                cells[k], data[f"{name}, {size}"] = npbench_program(bench, name, arguments)
    text = [[programs.title(name), *cells] for name, cells in rows.items()]
    arrays = [name for name in rows if name not in programs.BY_ELEMENTS]
    for over, names in (("arrays", arrays), ("those without *", [n for n in arrays if n not in programs.OTHER_TEXT])):
        text.append([f"geometric mean over {over}, NumPy / lgt", *(geometric_mean(rows[n][k] for n in names) for k in (0, 1))])
    return table(["ms of lgt: NumPy's time / lgt's, Numba's / lgt's", "M", "L"], text), data


def small(bench):
    """What one operation on an array of 1,000 elements costs, by the length of the loop's body."""
    rows, data = [], {}
    for operations in (10, 50, 150, 300):
        contestants = [bench.lgt("small.lua", 1000, operations, "end", label="lgt"),
                       bench.lgt("small.lua", 1000, operations, "issue", label="lgt, issue only"),
                       bench.py("numpy", "small", 1000, operations)]
        compete(contestants, bench.env, bench.budget / 3)
        bench.note_failures(f"body of {operations}", contestants)
        per = [figure(c.median / operations * 1e9) if c.times and not c.error else "-" for c in contestants]
        rows.append([f"{operations} operations a turn", *per])
        data[str(operations)] = data_of(contestants)
    return table(["nanoseconds an operation", "lgt, end to end", "lgt, issue only", "NumPy"], rows), data


# name: arguments with 100, 1,000 and 10,000 unknowns; where a matrix is dense, that many elements
SMALL_PROBLEMS = {
    "cg": ([10, 1e-8], [32, 1e-8], [100, 1e-8]),
    "jacobi": ([10, 100], [32, 100], [100, 100]),
    "pcg": ([10, 1e-8], [32, 1e-8], [100, 1e-8]),
    "logreg": ([10, 10, 50], [100, 10, 50], [1000, 10, 50]),
    "kmeans": ([25, 8, 20], [250, 8, 20], [2500, 8, 20]),
    "stencil": ([10, 200], [32, 200], [100, 200]),
}
STEPS = ("x(i)", "x[mask]", "x[mask] = v", "nonzero(mask)", "sum(x[positions])", "a[i, j] = a(i-1, j) + a(i, j-1)",
         "B = A:dot(B), 4 x 4", "Kalman step, 4 x 4", "Runge-Kutta, y' = A y, 3", "Runge-Kutta, Lorenz, 3")


def small_problems(bench):
    """Single steps on 3 to 100 elements, and small examples, beside NumPy and C: processor time on one core; --line chooses."""
    steps, env = 100, dict(bench.env, LGT_CPUS="1", OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    cases = [(f"step: {name}", steps, [bench.lgt("small_problems.lua", name, steps),
                                       bench.py("numpy", "small_problem", name, steps)]) for name in STEPS]
    for name, sizes in SMALL_PROBLEMS.items():
        texts = os.path.join(ROOT, script(name)[0]), os.path.join(ROOT, "tests/programs", name + ".py")
        for args in sizes[:1] if bench.quick else sizes:
            cases.append((f"{name} {' '.join(map(str, args))}", 1,
                          [bench.lgt("small_problems.lua", texts[0], *args),
                           bench.py("numpy", "small_problem", texts[1], *args),
                           bench.c("small_problems", name, *args, flags=("-ffast-math",), CLOCK="CLOCK_PROCESS_CPUTIME_ID")]))
    rows, data = [], {}
    for title, parts, contestants in cases:
        if bench.lines and not any(text in title for text in bench.lines):
            continue
        compete(contestants, env, bench.budget / 3, 1e-8, warm_up=min(1, bench.budget))
        bench.note_failures(title, contestants)
        lgt, numpy, *c = contestants
        per = [figure(x.median / parts * 1e6) if x.times and not x.error else "-" for x in contestants]
        rows.append([title, *per, *(["-"] if not c else []), figure(ratio(numpy, lgt)),
                     figure(ratio(lgt, c[0])) if c else "-"])
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
        data[title] = data_of(contestants)
    return table(["microseconds of a processor", "lgt", "NumPy", "C", "NumPy / lgt", "lgt / C"], rows), data


def warmup(bench):
    """Start, first use of a kernel, and first use when it is in the disk cache."""
    def run_time(command):
        begin = time.perf_counter()
        subprocess.run(command, env=bench.env, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - begin

    starts = {who: [] for who in ("luajit", "lgt", "array", "source", "numpy")}
    for _ in range(3 if bench.quick else 30):
        starts["luajit"].append(run_time(["luajit", "-e", "print(1)"]))
        starts["lgt"].append(run_time([bench.lgt_path, "-e", "print(1)"]))
        starts["array"].append(run_time([bench.lgt_path, "-e", "require 'array'"]))
        starts["source"].append(run_time([bench.lgt_path, "--cache=0", "-e", "require 'array'"]))
        starts["numpy"].append(run_time(["/usr/bin/python3", "-c", "import numpy"]))
    start = {who: statistics.median(times) * 1e3 for who, times in starts.items()}

    cold, disk = [], []
    for _ in range(1 if bench.quick else 5):
        with tempfile.TemporaryDirectory(prefix="lgt-bench-") as cache:
            env = dict(bench.env, LGT_CACHE_DIR=cache, LGT_BACKGROUND="0")
            for results in (cold, disk):
                out = subprocess.run([bench.lgt_path, os.path.join(ROOT, "bench/cold.lua")], env=env, check=True,
                                     capture_output=True, text=True).stdout
                a1, a2, b1, b2 = map(float, out.split())
                results.append((a1 - a2, b1 - b2))
    first, later = (statistics.median(c[k] for c in cold) * 1e3 for k in (0, 1))
    loaded = statistics.median(t for pair in disk for t in pair) * 1e3
    rows = [
        ["`luajit -e 'print(1)'`", figure(start["luajit"])],
        ["`lgt -e 'print(1)'`", figure(start["lgt"])],
        ["`lgt -e 'require \"array\"'`", figure(start["array"])],
        ["the same without the cache, so from source", figure(start["source"])],
        ["`python3 -c 'import numpy'`", figure(start["numpy"])],
        ["a process's first cold kernel (loads the compiler)", figure(first)],
        ["each further cold kernel", figure(later)],
        ["a kernel from the disk cache", figure(loaded)],
    ]
    return table(["warm-up", "milliseconds"], rows), {"start": starts, "cold": cold, "disk": disk}


# example, perhaps with a remark: (arguments with {} for the iterations, or for the tolerance that decides them; two
# values to subtract)
ITERATIONS = {
    "black_scholes": (["20000", "{}"], (10, 30)),
    "jacobi": (["200", "{}"], (20, 60)),
    "stencil": (["200", "{}"], (20, 60)),
    "stencil 4096": (["4096", "{}"], (20, 60)),
    "cg": (["200", "{}"], (1e-3, 1e-9)),
    "pcg": (["200", "{}"], (1e-3, 1e-9)),
    "logreg": (["2000", "10", "{}"], (20, 60)),
    "kmeans": (["2000", "8", "{}"], (20, 60)),
    "heat_3d": (["27", "{}"], (20, 60)),
    "cavity_flow": (["101", "{}", "10"], (20, 60)),
    "shallow_water": (["100", "{}"], (10, 30)),
}


def counters(bench, name, args, options, rank=None):
    """(iterations, counters) of one run; of one rank of several."""
    command = [bench.lgt_path, *options, "--min-tile", "1", os.path.join(ROOT, "bench/counters.lua"),
               os.path.join(ROOT, "examples", name.split()[0] + ".lua"), *args]
    run = subprocess.run(command, env=bench.env, capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip().splitlines()[0] if run.stderr.strip() else f"exit {run.returncode}")
    lines = run.stdout.strip().splitlines()
    if rank is not None:
        lines = [line.removeprefix(f"[{rank}] ") for line in lines if line.startswith(f"[{rank}] ")]
    *output, last = lines
    iterations = [line.split()[1] for line in output if line.startswith("iterations")]
    return int(iterations[0]) if iterations else None, json.loads(last)


def each_iteration(bench, name, options, rank=None):
    """What one iteration adds to each counter: the difference of two runs over the difference of their lengths."""
    pattern, values = ITERATIONS[name]
    runs = []
    for value in values:
        iterations, counts = counters(bench, name, [a.format(value) for a in pattern], options, rank)
        runs.append((value if iterations is None else iterations, counts))
    (n1, c1), (n2, c2) = runs
    return {key: (c2[key] - c1[key]) / (n2 - n1) for key in c1 if key in c2}


def fusion(bench):
    """Launches, executed tasks and passes over memory of an iteration, with one domain and with two.

    A task may hold several iterations; its passes are the loops that follow one another in it, and the bytes
    count each element of an array once for each pass that reads it and once for each that writes it."""
    rows, data = [], {}
    for name in ITERATIONS:
        row = [name] + ["-"] * 6
        for domains in (1, 2):
            try:
                each = each_iteration(bench, name, ["--domains", str(domains)])
            except (OSError, RuntimeError, ValueError) as error:
                bench.failures.append(f"fusion of {name}, {domains} domains: {error}")
                continue
            data[f"{name}, {domains}"] = each
            if domains == 2:
                row[6] = figure(each["tasks"])
            else:
                row[1:6] = [figure(each["launches"]), figure(each["tasks"]), figure(each["passes"]),
                            figure(each["launches"] / max(each["passes"], 1e-9)) + " x", figure(each["bytes_moved"] / 1e6)]
        rows.append(row)
    return table(["an iteration of", "launches", "tasks", "passes", "launches / pass", "MB read and written",
                  "tasks, 2 domains"], rows), data


def traffic(bench):
    """What rank 1 of 4 sends in an iteration: bytes, and messages with collectives among them; and if no rank computes what
    others do, too."""
    rows, data = [], {}
    for name in ITERATIONS:
        row = [name, " ".join(a.format("") for a in ITERATIONS[name][0] if "{" not in a)]
        for widen, label in (("20", name), ("0", name + ", no margins")):
            try:
                each = each_iteration(bench, name, ["-n", "4", "--cpus", "1", "--all-output", "--widen", widen], 1)
            except (OSError, RuntimeError, ValueError) as error:
                bench.failures.append(f"traffic of {label}: {error}")
                break
            data[label] = each
            row += [figure(each[key]) for key in ("bytes_sent", "messages_sent", "tasks")]
        rows.append(row + ["-"] * (8 - len(row)))
    return table(["an iteration of", "arguments", "bytes sent", "messages", "tasks", "without margins: bytes", "messages", "tasks"],
                 rows), data


def scale(bench):
    """What issuing a launch costs a rank in the middle of N, in processor time, and what it sends in an iteration."""
    sizes = (1, 2, 16, 256, 4096, 65536) if not bench.quick else (1, 256)
    rows, data = [], {}
    for name in ("stencil", "cg"):
        for n in sizes:
            command = [bench.lgt_path, "--pretend-ranks", str(n), "--as-rank", str(n // 2), "--cpus", "1",
                       os.path.join(ROOT, "bench/scale.lua"), name]
            said = [re.findall(r"[0-9.]+", subprocess.run(command, env=bench.env, check=True, capture_output=True, text=True).stderr)
                    for _ in range(5 if not bench.quick else 1)]
            _, _, launches, _, _, messages, sent = map(float, said[0])
            cost = statistics.median(float(s[4]) for s in said)
            data[f"{name}, {n}"] = {"ns": cost, "launches": launches}
            rows.append([f"{name}, {n} ranks", figure(cost), figure(messages / 300), figure(sent / 300)])
    return table(["one rank of", "ns a launch", "messages", "bytes sent"], rows), data


def ranks(bench):
    """The sum of doubles over 2 and 4 ranks of one host, beside MPI_Allreduce."""
    rows, data = [], {}
    for n in (2, 4):
        for elements in (1, 1000):
            contestants = [bench.ranks("bench_allreduce", n, elements), bench.mpi("allreduce", n, elements)]
            compete(contestants, bench.env, bench.budget / 2)
            title = f"{n} ranks, {elements} element{'s' if elements > 1 else ''}"
            bench.note_failures(title, contestants)
            per = [figure(c.best / 100 * 1e6) if c.times and not c.error else "-" for c in contestants]
            rows.append([title, *per, figure(ratio(*contestants))])
            data[title] = data_of(contestants)
    return table(["allreduce, microseconds (best round)", "lgt", "MPI", "lgt / MPI (median)"], rows), data


def example(name):
    return os.path.join(ROOT, "examples", name + ".lua")


def scaling(bench):
    """The same script with as many threads as there are cores, and with as many ranks of one thread; MPI in C beside it."""
    side, options, points = (2048, 10**7, 2048) if not bench.quick else (64, 1000, 65)
    n = bench.cpus
    stencil = (n * side, side, 20 if not bench.quick else 3)
    cases = {f"stencil, {side}^2 a rank": ("stencil.lua", stencil, 3 * 8 * n * side * side),
             "black_scholes": ("program.lua", (example("black_scholes"), options), 80 * options),
             f"cavity_flow, {points}^2": ("program.lua", (example("cavity_flow"), points, 1, 20), 80 * points**2)}
    rows, data = [], {}
    for title, (script, args, memory) in cases.items():
        contestants = [bench.lgt(script, *args, memory=memory), bench.lgt_ranks(n, script, *args, memory=memory)]
        if script == "stencil.lua":
            contestants.append(bench.mpi("stencil_mpi", n, *args, memory=memory))
        compete(contestants, bench.env, bench.budget, 1e-9)
        bench.note_failures(title, contestants)
        threads, ranked = contestants[:2]
        mpi = contestants[2] if len(contestants) > 2 else None
        rows.append([title, milliseconds(threads), milliseconds(ranked), figure(ratio(threads, ranked)),
                     milliseconds(mpi) if mpi else "-", figure(ratio(mpi, ranked)) if mpi else "-"])
        data[title] = data_of(contestants)
    return table(["milliseconds", f"lgt, {n} threads", f"lgt, {n} ranks", "threads / ranks", f"C and MPI, {n} ranks",
                  "MPI / lgt's ranks"], rows), data


# name: (of PETSc, of lgt and SciPy, iterations of a turn on the smaller grid, on the larger one)
KRYLOV = {"product": ("mult", "dot", 20, 10), "CG": ("cg", "cg", 20, 8), "BiCGSTAB": ("bcgs", "bicgstab", 10, 4),
          "GMRES(30)": ("gmres", "gmres", 30, 0)}  # on the larger one, 31 vectors of 128 MB for each contestant


def krylov(bench):
    """Solvers on the 5-point Laplacian beside PETSc, with as many ranks as there are cores, and SciPy."""
    sizes = (1000, 4000) if not bench.quick else (40,)
    rows, data = [], {}
    for n in sizes:
        for name, (theirs, ours, *turns) in KRYLOV.items():
            turn, large = turns[n > 1000], n > 1000
            if not turn:
                continue
            memory = 200 * n * n
            contestants = [bench.lgt("krylov.lua", ours, n, turn, memory=memory),
                           bench.petsc(bench.cpus, theirs, n, turn, memory=memory)]
            if not large:  # there SciPy's one thread would take most of the time
                contestants.append(bench.py("numpy", "krylov", ours, n, turn, memory=2 * memory))
            compete(contestants, bench.env, bench.budget, 1e-6, most_rounds=5 if large else 9)
            title = f"{name}, {n}^2"
            bench.note_failures(title, contestants)
            lgt, petsc, *scipy = contestants
            cells = [figure(c.median / turn * 1e3) if c.times and not c.error else "-" for c in contestants]
            cells += ["-"] * (3 - len(cells))
            limit = "-"
            if name == "product" and lgt.times:
                bounds = [bench.least_seconds("operands", n * n, *what) for what in (["csr"], [])]
                limit = "; ".join(f"{figure(s * 1e3)} ms: {100 * s / (lgt.median / turn):.0f}%" for s in bounds)
            of_scipy = figure(ratio(lgt, scipy[0])) if scipy else "-"
            rows.append([title, *cells, figure(ratio(lgt, petsc)), of_scipy, limit])
            data[title] = data_of(contestants)
    return table(["milliseconds an iteration", "lgt", "PETSc", "SciPy", "lgt / PETSc", "lgt / SciPy",
                  "memory's bound: CSR; without indices"], rows), data


def matrices(bench):
    """Products, sums and conversions of sparse matrices, and multigrid, beside SciPy."""
    size, side, grid = (100000, 700, 511) if not bench.quick else (500, 20, 31)
    cases = {"product, 20 a row": ("product", size), "product, 5 points": ("poisson product", side),
             "transposition, 20 a row": ("transpose", 10 * size if not bench.quick else size), "sum, 20 a row": ("add", size),
             "from triplets by rows, 20 a row": ("triplets", size),
             "from triplets in no order, 20 a row": ("shuffled triplets", size), "times 16 vectors, 20 a row": ("multiply", size)}
    rows, data = [], {}

    def line(title, contestants):
        compete(contestants, bench.env, bench.budget / 2)
        bench.note_failures(title, contestants)
        lgt, scipy = contestants
        rows.append([title, milliseconds(lgt), milliseconds(scipy), figure(ratio(scipy, lgt))])
        data[title] = data_of(contestants)

    for title, (work, n) in cases.items():
        line(title, [bench.lgt("matrices.lua", work, n), bench.py("numpy", "matrices", work, n)])
    for name, args in (("two levels, injection", [grid // 2, 2, "injection"]), ("V-cycle", [grid, 5 if not bench.quick else 3])):
        line(f"multigrid, {args[0]}^2, {name}", program(bench, "gmg", args))
    return table(["milliseconds", "lgt", "SciPy", "SciPy / lgt"], rows), data


def lengths(bench):
    """Lines of code of solvers, beside SciPy's and PETSc's; PETSC_SOURCE names a source tree of the latter."""
    rows = solver_lengths(os.environ.get("PETSC_SOURCE"))
    return (table(["lines of code", "lgt", "SciPy", "PETSc"], [[str(x) if x else "-" for x in row] for row in rows]),
            {method: counts for method, *counts in rows})


def operation(bench, line):
    """Contestants for a line of operations.py."""
    rest = line.operands
    return [bench.lgt("operations.lua", line.lua, line.compared, int(line.positions), *rest, env={"LGT_BACKGROUND": "0"}),
            bench.py("numpy", "operation", line.python, line.compared, 0, *rest),
            bench.current("numpy", "operation", line.python, line.compared, 0, *rest),
            bench.current("jax", "operation", line.jax, line.compared, int(line.eager), *rest)]


def prices(bench, n, polynomial):
    """Contestants for European options; C has the polynomial with products, always."""
    args = (n, "float64", 0.02, 0.3, CALL, PUT, polynomial)
    of = dict(memory=20 * 8 * n)
    return [bench.lgt("black_scholes.lua", *args, memory=80 * n), bench.py("numpy", "black_scholes", *args, **of),
            bench.current("numpy", "black_scholes", *args, **of), bench.current("jax", "black_scholes", *args, **of),
            bench.c("black_scholes", n, 0.02, 0.3, memory=40 * n, flags=("-ffast-math",), REAL="double", CALL=CALL, PUT=PUT)]


def ops(bench):
    """Single operations beside Debian's NumPy, a current one, and JAX.  --line chooses."""
    chosen = [(line.title, operation(bench, line), line.tolerance) for line in operations.lines(bench.quick)]
    options = 10**7 if not bench.quick else 1000
    chosen += [(f"black_scholes {how}, {options:.0e}", prices(bench, options, polynomial), 1e-9)
               for how, polynomial in operations.POLYNOMIAL.items()]
    labels, rows, data = ["NumPy", "NumPy 2", "JAX", "C"], [], {}
    for title, contestants, tolerance in chosen:
        if bench.lines and not any(text in title for text in bench.lines):
            continue
        compete(contestants, bench.env, bench.budget / 3, tolerance, warm_up=min(0.5, bench.budget))
        bench.note_failures(title, contestants)
        lgt, *rivals = contestants
        by = {c.label: c for c in rivals}
        best = min((r for r in (ratio(rival, lgt) for rival in rivals) if r), default=None)
        rows.append([title, milliseconds(lgt), *(milliseconds(by[label]) if label in by else "-" for label in labels),
                     figure(best)])
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
        data[title] = data_of(contestants)
    return table(["milliseconds", "lgt", *labels, "best rival / lgt"], rows), data


def memory(bench):
    """Peak memory and time of whole processes beside NumPy: the first run, and later ones."""
    return whole.memory(bench, SMALL, table)


def mem(bench):
    """Whole processes whose arrays may take 1.2 x of what NumPy needs, beside ones without a limit."""
    return whole.mem(bench, SMALL, table)


def ranks_whole(bench):
    """Two ranks, and two domains, beside two threads: whole processes."""
    return whole.ranks_whole(bench, SMALL, table)


def groups(bench):
    """Fused groups of whole programs with one domain and with two."""
    return whole.fused_groups(bench, SMALL, table)


def gpu(bench):
    """Programs on a GPU beside the processor, CuPy and JAX, and the limit of its memory: milliseconds a turn."""
    name, labels, rows, data = gpus.lines(bench, Contestant)
    if not labels:
        print(f"gpu: {name}", file=sys.stderr)
        return table(["program, elements", "ms"], rows), data
    return f"{name}; ms\n\n" + table(["program, elements", *labels, "memory's limit", "share of it"], rows), data


def taskbench(bench):
    """Task Bench: how short tasks may be until half of the cores' time is lost, beside MPI and OpenMP."""
    labels, rows, data = metg.lines(bench, figure)
    return table([f"METG(50%), microseconds, {bench.cpus} cores", *labels], rows), data


SECTIONS = {f.__name__.replace("_", "-"): f for f in (machine, speed, mutants, examples, npbench, memory, mem, ranks_whole, groups, small, small_problems, warmup,
                                                      fusion, traffic, scale, ranks, scaling, krylov, matrices, ops, taskbench, lengths, gpu)}
