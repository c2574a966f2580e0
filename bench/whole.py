"""Whole processes, as a user feels them: how long from start to end, and the most memory that they had.

A run's memory is the greatest resident set of its process (of ranks: the sum over them), as the kernel counts it.  The
sizes are such that arrays take 30 MB or more, unless a program's own limits forbid that.
"""
import atexit
import math
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYTHON = "/usr/bin/python3"
PATIENCE = 300  # seconds

# name: arguments at which arrays take 30 MB or more (NPBench's programs: M or L, or between).
LARGE = {
    "gray_scott": [2000, 60], "wave": [2000, 60], "burgers": [4000000, 3], "stencil": [3000, 40],
    "heat_3d": [200, 20], "shallow_water": [1500, 5], "cavity_flow": [2000, 2, 10], "black_scholes": [4000000, 2],
    "jacobi": [2500, 30], "cg": [2500, 1e-8], "logreg": [200000, 20, 20], "kmeans": [500000, 8, 5],
    "jacobi_2d": [2500, 10], "fdtd_2d": [2200, 2200, 10], "hdiff": [256, 256, 160], "vadv": [160, 160, 160],
    "deriche": [3000, 2000], "lattice_boltzmann": [700, 20], "schroedinger": [1 << 22, 3],
    "gemver": [4000], "atax": [5000, 6000], "bicg": [6000, 5000], "mvt": [6000], "gesummv": [4000],
    "go_fast": [5000], "compute": [4000, 4000], "arc_distance": [10000000], "azimint_hist": [8000000, 1000],
    "floyd_warshall": [2000], "covariance": [2500, 2800], "correlation": [2500, 2800], "doitgen": [150, 160, 256],
    "gemm": [2500, 2750, 3000], "k2mm": [2000, 2250, 2500, 2750], "k3mm": [2000, 2200, 2400, 2600, 2800],
    "softmax": [32, 8, 256], "mandelbrot2": [2000, 2000, 20], "stockham_fft": [2, 21], "sort": [5000000, 100],
    "quantiles": [5000000, 100], "scan": [5000000, 100],
}
# Others, for runs with little memory.
MORE = {
    "pcg": [2300, 1e-8], "pagerank": [300000], "heat_implicit": [700, 1], "own_task": [5000000], "jacobi_1d": [4000000, 4],
    "adi": [1500, 1], "cholesky": [900], "lu": [900], "trisolv": [2500], "syrk": [500, 2500], "mandelbrot1": [1500, 1500, 10],
    "mlp": [8, 3, 3000, 2000, 1000], "lenet": [8, 176, 176], "resnet": [8, 28, 28, 64, 16],
    "black_scholes_greeks": [200, 200, 100], "linreg": [200000, 20, 5], "lstm_forward": [50, 32, 128, 256],
    "qr": [1500, 1200], "svd": [1500, 1200, 5], "einsum": [120], "channel_flow": [1500, 1500, 2, 5],
    "contour_integral": [200, 400, 32], "training": [50000, 50, 1, 10], "azimint_naive": [4000000, 5],
    "conv2d_bias": [8, 128, 128, 3, 8, 5], "cholesky2": [2200], "covariance2": [2500, 2800], "poisson": [500, 1e-3],
    "gmg": [1023, 6], "bratu": [255, 1], "gramschmidt": [5000, 400], "indexing": [2000], "kmeans_bincount": [500000, 8, 5],
    "kmeans_slow": [500000, 8, 5], "kmeans_sort": [500000, 8, 5], "lstm_backward": [64, 128, 64, 256], "mixture": [1000000, 3, 3],
    "nbody": [2000, 3], "particle_filter": [4000000, 4], "quantum": [5, 6, 1], "richardson_lucy": [4000000, 3],
    "stencil_27": [160, 5], "syr2k": [300, 1000], "take_pairs": [10000, 32], "wgrad": [128, 128, 16, 16, 8, 3],
    "spmv": [20000, 20000, 4000000],
}
# Of stencils, edges, graphs and time steps, where ranks matter.
RANKED = ["gray_scott", "wave", "burgers", "stencil", "heat_3d", "shallow_water", "cavity_flow", "black_scholes",
          "jacobi", "cg", "logreg", "kmeans", "jacobi_2d", "fdtd_2d", "hdiff", "vadv", "deriche", "lattice_boltzmann",
          "gemver", "atax", "mvt", "gesummv", "go_fast", "arc_distance", "azimint_hist", "floyd_warshall",
          "mandelbrot2"]
STARTING = 0.06  # seconds that ranks need to find each other
BARE = 28  # MB of NumPy's processes that are its interpreter and libraries
ENOUGH = 1.2  # of what NumPy needs for a program's arrays: how much lgt's may take


def memory_of(pid):
    """The greatest resident set of a process so far, and of those it has started."""
    total = 0
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            total += next((int(line.split()[1]) for line in file if line.startswith("VmHWM")), 0)
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            total += sum(memory_of(int(child)) for child in file.read().split())
    except (OSError, ValueError):
        pass
    return total


def run(command, env, many=False):
    """(seconds, MB) of a process; `many`: with those it starts, looked at while they run.  None: it failed."""
    with tempfile.TemporaryFile() as output:
        start, most = time.monotonic(), 0
        process = subprocess.Popen(command, stdout=output, stderr=output, env=env, cwd=ROOT)
        while True:
            done, status, usage = os.wait4(process.pid, os.WNOHANG)
            if done:
                break
            if many:
                most = max(most, memory_of(process.pid))
            if time.monotonic() - start > PATIENCE:
                process.kill()
            time.sleep(0.002)
        process.returncode = status
        if status:
            return None
        return time.monotonic() - start, (most if many else usage.ru_maxrss) / 1024


def text_of(name):
    path = f"examples/{name}.lua"
    return path if os.path.exists(os.path.join(ROOT, path)) else f"tests/programs/{name}.lua"


def best(runs):
    runs = [r for r in runs if r]
    return (min(r[0] for r in runs), statistics.median(r[1] for r in runs)) if runs else None


class Programs:
    """Runs of lgt and of NumPy's twins, with a cache of kernels that only the first run finds empty."""

    def __init__(self, bench, small):
        self.bench, self.small = bench, small
        cache = tempfile.mkdtemp(prefix="lgt-bench-")
        atexit.register(shutil.rmtree, cache, ignore_errors=True)  # what the last run has left to compile comes there
        self.env = {**bench.env, "XDG_CACHE_HOME": cache}

    def arguments(self, name):
        return [str(a) for a in (self.small[name][0] if self.bench.quick else {**LARGE, **MORE}[name])]

    def title(self, name):
        return f"{name} {' '.join(self.arguments(name))}"

    def lgt(self, name, *options, turns=1, many=False):
        command = [self.bench.lgt_path, *options, text_of(name), *self.arguments(name)]
        return best([run(command, self.env, many) for _ in range(turns)])

    def numpy(self, name):
        return run([PYTHON, f"tests/programs/{name}.py", *self.arguments(name)], self.env)


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


def chosen(bench, names):
    return [name for name in names if name in (bench.programs or names)]


def memory(bench, small, table):
    """Peak memory and time of whole processes beside NumPy: the first run, and later ones."""
    programs, rows, data = Programs(bench, small), [], {}
    for name in chosen(bench, LARGE):
        cold = programs.lgt(name)
        programs.lgt(name)
        time.sleep(0.5)  # what it has left to compile
        warm, numpy = programs.lgt(name, turns=3), programs.numpy(name)
        data[name] = {"cold": cold, "warm": warm, "numpy": numpy}
        if not (cold and warm and numpy):
            bench.failures.append(f"{name}: lgt {cold} {warm}, NumPy {numpy}")
            continue
        rows.append([programs.title(name), f"{numpy[1]:.0f}", f"{warm[1]:.0f}",
                     f"{warm[1] / numpy[1]:.2f}", f"{numpy[0]:.2f}", f"{cold[0]:.2f} ({numpy[0] / cold[0]:.2f})",
                     f"{warm[0]:.2f} ({numpy[0] / warm[0]:.2f})"])
    good = [d for d in data.values() if all(d.values())]
    rows.append(["geometric mean", "", "", f"{mean([d['warm'][1] / d['numpy'][1] for d in good]):.2f}", "",
                 f"({mean([d['numpy'][0] / d['cold'][0] for d in good]):.2f})",
                 f"({mean([d['numpy'][0] / d['warm'][0] for d in good]):.2f})"])
    columns = ["program", "NumPy, MB", "lgt, MB", "lgt / NumPy", "NumPy, s", "lgt, s, first run (NumPy / lgt)",
               "lgt, s (NumPy / lgt)"]
    return table(columns, rows), data


def limit(programs, name, known):
    """(NumPy's peak, what the arrays of lgt may take), in MB; the former of what stands in the documents, or measured."""
    peak = known.get(programs.title(name))
    if peak is None:
        peak = (programs.numpy(name) or (0, 0))[1]
    return float(peak), max(1, int(ENOUGH * (float(peak) - BARE)))


def with_little_memory(programs, name, option):
    """Alternating runs of a program without a limit and with one: lists of (seconds, MB)."""
    runs = {(): [], (option,): []}
    for options in runs:  # what they have left to compile is done before the first round that counts
        programs.lgt(name, *options)
    time.sleep(0.5)
    for _ in range(1 if programs.bench.quick else 3):
        for options, taken in runs.items():
            taken.append(programs.lgt(name, *options))
    return runs.values()


def mem(bench, small, table):
    """--mem at 1.2 x of what NumPy needs: does every program run, and how much slower?"""
    programs, data = Programs(bench, small), {}
    rows = {} if bench.quick else {row[0]: row for row in bench.standing("mem")}  # those of other programs stay
    known = {} if bench.quick else {row[0]: row[1] for row in [*rows.values(), *bench.standing("memory")]}
    for name in chosen(bench, {**LARGE, **MORE}):
        peak, most = limit(programs, name, known)
        free, tight = with_little_memory(programs, name, f"--mem={most}M")
        row = rows[programs.title(name)] = [programs.title(name), f"{peak:.0f}", str(most)]
        if not peak or not all([*free, *tight]):
            bench.failures.append(f"{name}: NumPy {peak} MB, {free}, with --mem={most}M {tight}")
            row += ["-", "it fails", "-", "-"]
            print(" | ".join(row), file=sys.stderr, flush=True)
            continue
        times = [statistics.median(run[0] for run in runs) for runs in (free, tight)]
        ratio = statistics.median(b[0] / a[0] for a, b in zip(free, tight))
        data[name] = {"free": free, "tight": tight, "ratio": ratio, "mem": most}
        row += [f"{times[0]:.2f}", f"{times[1]:.2f}", f"{ratio:.2f}", f"{statistics.median(run[1] for run in tight):.0f}"]
        print(" | ".join(row), file=sys.stderr, flush=True)
    titles = [programs.title(name) for name in {**LARGE, **MORE}]
    rows = [rows[title] for title in titles if title in rows]
    ratios = [float(row[5]) for row in rows if row[5] != "-"]
    rows.append(["geometric mean", "", "", "", "", f"{mean(ratios):.2f}", ""])
    columns = ["program", "NumPy, MB", "--mem, MB", "lgt, s", "with --mem, s", "with / without", "lgt with --mem, MB"]
    return table(columns, rows), data


def groups(programs, name, *options):
    """Fused groups of a run, and its tasks, as its log counts them."""
    command = [programs.bench.lgt_path, "--debug=exec:1", "--finish=0", *options, text_of(name), *programs.arguments(name)]
    done = subprocess.run(command, env=programs.env, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    found = re.findall(r"(\d+) groups in (\d+) tasks,", done.stderr)
    return tuple(map(int, found[-1])) if found else (0, 0)


def fused_groups(bench, small, table):
    """Fused groups of whole programs with one domain and with two."""
    programs, rows, data = Programs(bench, small), [], {}
    for name in chosen(bench, RANKED):
        one, two = (groups(programs, name, f"--domains={domains}")[0] for domains in (1, 2))
        if not one or not two:
            bench.failures.append(f"{name}: {one} groups, {two} with two domains")
            continue
        data[name] = {"one": one, "two": two}
        rows.append([programs.title(name), str(one), str(two), f"{two / one:.1f}"])
    return table(["program", "groups, 1 domain", "groups, 2 domains", "2 domains / 1"], rows), data


def ranks_whole(bench, small, table):
    """Two ranks, and two domains, beside two threads: whole processes, less what it takes to start ranks."""
    ways = {"threads": ["--cpus=2"], "ranks": ["-n", "2", "--cpus=1"], "domains": ["--domains=2", "--cpus=2"]}
    programs, rows, data = Programs(bench, small), [], {}
    for name in chosen(bench, RANKED):
        for options in ways.values():
            programs.lgt(name, *options)
        time.sleep(0.5)
        taken = {way: [] for way in ways}
        for _ in range(3):
            for way, options in ways.items():
                got = programs.lgt(name, *options)
                taken[way] += [got[0] - (STARTING if way == "ranks" else 0)] if got else []
        if not all(taken.values()):
            bench.failures.append(f"{name}: {taken}")
            continue
        seconds = {way: statistics.median(t) for way, t in taken.items()}
        tasks = {way: groups(programs, name, *options)[1] for way, options in ways.items() if way != "ranks"}
        data[name] = {"seconds": seconds, "tasks": tasks}
        rows.append([programs.title(name), f"{seconds['threads']:.2f}",
                     *(f"{seconds[w]:.2f} ({seconds['threads'] / seconds[w]:.2f})" for w in ("ranks", "domains")),
                     str(tasks["threads"]), str(tasks["domains"])])
    rows.append(["geometric mean", "", *(f"({mean([d['seconds']['threads'] / d['seconds'][w] for d in data.values()]):.2f})"
                                         for w in ("ranks", "domains")), "", ""])
    columns = ["program", "2 threads, s", "2 ranks (threads / ranks)", "2 domains (threads / domains)", "tasks, 1 domain",
               "tasks, 2 domains"]
    return table(columns, rows), data
