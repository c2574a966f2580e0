#!/usr/bin/python3
"""Runs every example, and the programs beside this file, at a small size and compares what they print with NumPy twins.

    tests/programs/run.py --lgt build/lgt [name ...]

examples/NAME.lua (or tests/programs/NAME.lua: programs ported line by line, which nobody needs to read) and
tests/programs/NAME.py take the same arguments and print the same lines, words and numbers.  Words and whole numbers must be equal.  Two other numbers a and b must satisfy
|a - b| <= bound * max(1, |b|).  The bound is 1e-10 where a program forms every value by elementwise
operations and a few sums, and wider where iterations feed rounding errors back.

Each example also runs unfused, on two domains with tiles of one element, on four workers, and on ranks: the same bound
holds for all of them.  RANKS has the settings for ranks; an example runs under two of them, another choice for each, and
under all in the long form (tests/run --stress).  The programs that are no examples have one turn on domains and one on ranks.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = "/usr/bin/python3"
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$|[-+]?(?:inf|nan)$")
LIMIT = 900  # seconds, for what hangs

# name, or name and what is different: (arguments, bound).  Tolerances lie midway between residuals: how many steps are
# taken must not depend on the order of sums.
PROGRAMS = {
    "black_scholes": (["20011", "2"], 1e-10),
    "jacobi": (["203", "40"], 1e-10),
    "stencil": (["97", "50"], 1e-10),
    "cg": (["301", "2.4e-9"], 1e-8),
    "pcg": (["301", "2e-9"], 1e-8),
    "logreg": (["2003", "12", "40"], 1e-9),
    "kmeans": (["3001", "5", "8"], 1e-9),
    "heat_3d": (["27", "15"], 1e-10),
    "cavity_flow": (["31", "20", "20"], 1e-8),
    "shallow_water": (["40", "15"], 1e-9),
    "poisson": (["31", "1e-9"], 1e-7),
    "poisson by BiCGSTAB": (["31", "1e-9", "2", "bicgstab"], 1e-7),
    "poisson in a cube": (["13", "1e-9", "3"], 1e-7),
    "poisson in a cube by BiCGSTAB": (["13", "1e-9", "3", "bicgstab"], 1e-7),
    "gmg": (["63", "4"], 1e-8),
    "gmg two-level": (["31", "2", "injection"], 1e-8),
    "amg": (["40"], 1e-8),
    "spectral_norm": (["401", "5"], 1e-9),
    "pagerank": (["500"], 1e-9),
    "pagerank of a club": (["examples/data/karate.mtx"], 1e-9),
    "quantum": (["3", "4", "4"], 2e-6),
    "heat_implicit": (["40", "6"], 1e-8),
    "own_task": (["20011"], 1e-10),
    "gray_scott": (["40", "30"], 1e-10),
    "wave": (["37", "40"], 1e-10),
    "burgers": (["203", "20"], 1e-9),
    "jacobi_1d": (["103", "20"], 1e-10),
    "jacobi_2d": (["33", "15"], 1e-10),
    "adi": (["24", "6"], 1e-10),
    "gemm": (["31", "23", "17"], 1e-10),
    "gemver": (["53"], 1e-09),
    "atax": (["38", "42"], 1e-09),
    "bicg": (["42", "38"], 1e-09),
    "mvt": (["47"], 1e-09),
    "k2mm": (["16", "18", "22", "24"], 1e-09),
    "covariance": (["28", "32"], 1e-09),
    "cholesky": (["30"], 1e-10),
    "lu": (["30"], 1e-10),
    "durbin": (["40"], 1e-09),
    "floyd_warshall": (["40"], 1e-10),
    "seidel_2d": (["20", "6"], 1e-10),
    "syrk": (["23", "19"], 1e-09),
    "trisolv": (["40"], 1e-09),
    "mandelbrot1": (["35", "25", "30"], 0),
    "azimint_hist": (["20011", "100"], 1e-10),
    "mlp": (["8", "9", "30", "20", "10"], 1e-10),
    "crc16": (["5000"], 0),
    "nussinov": (["40"], 0),
    "lenet": (["3", "28", "28"], 1e-09),
    "resnet": (["3", "8", "7", "8", "4"], 1e-08),
    "scattering_self_energies": (["2", "4", "2", "2", "3", "2", "2", "3"], 1e-09),
    "black_scholes_greeks": (["9", "7", "5"], 1e-10),
    "linreg": (["2001", "7", "50"], 1e-09),
    "lstm_forward": (["6", "5", "7", "8"], 1e-10),
    "richardson_lucy": (["301", "10"], 1e-09),
    "qr": (["40", "25"], 1e-09),
    "svd": (["40", "25", "5"], 1e-09),
    "sort": (["20011", "60"], 1e-10),
    "quantiles": (["20011", "60"], 1e-10),
    "scan": (["20011", "60"], 1e-09),
    "einsum": (["12"], 1e-09),
    "fdtd_2d": (["20", "30", "10"], 1e-10),
    "correlation": (["28", "32"], 1e-09),
    "gramschmidt": (["24", "20"], 1e-09),
    "deriche": (["40", "30"], 1e-10),
    "doitgen": (["8", "9", "10"], 1e-09),
    "arc_distance": (["20011"], 1e-10),
    "hdiff": (["12", "14", "5"], 1e-10),
    "nbody": (["10", "20"], 1e-08),
    "channel_flow": (["21", "21", "10", "15"], 1e-08),
    "contour_integral": (["6", "3", "4"], 1e-08),
    "stockham_fft": (["2", "5"], 1e-09),
    "lattice_boltzmann": (["16", "30"], 1e-08),
    "training": (["120", "10", "3", "40"], 1e-08),
    "schroedinger": (["128", "60"], 1e-08),
    "bratu": (["15", "3"], 1e-07),
    "vadv": (["8", "9", "10"], 1e-10),
    "mandelbrot2": (["40", "30", "30"], 1e-09),
    "lstm_backward": (["6", "5", "4", "7"], 1e-09),
    "azimint_naive": (["20000", "30"], 1e-10),
    "compute": (["31", "43"], 0),
    "conv2d_bias": (["2", "8", "9", "3", "4", "3"], 1e-05),
    "softmax": (["2", "3", "17"], 1e-05),
    "go_fast": (["61"], 1e-10),
    "cholesky2": (["30"], 1e-09),
    "covariance2": (["28", "32"], 1e-09),
    "gesummv": (["61"], 1e-09),
    "k3mm": (["16", "18", "20", "22", "24"], 1e-09),
    "ludcmp": (["22"], 1e-09),
    "symm": (["12", "14"], 1e-09),
    "syr2k": (["12", "14"], 1e-09),
    "trmm": (["12", "14"], 1e-09),
    "spmv": (["40", "30", "300"], 1e-09),
    "kmeans_bincount": (["3000", "10", "30"], 1e-08),
    "indexing": (["40"], 1e-09),
    "kmeans_slow": (["3000", "10", "20"], 1e-04),
    "kmeans_slow in double precision": (["1001", "7", "11", "float64"], 1e-05),
    "kmeans_sort": (["3000", "10", "20"], 1e-08),
    "lstm_full": (["12", "6", "6"], 1e-09),
    "take_pairs": (["300", "32"], 0),
    "wgrad": (["16", "18", "3", "4", "3", "3"], 1e-09),
    "stencil_27": (["20", "20"], 1e-09),
    "mixture": (["999", "3", "4"], 1e-08),
    "particle_filter": (["2003", "6"], 1e-09),
}
CONFIGURATIONS = {
    "": [],
    "unfused": ["--fusion", "0"],
    "domains": ["--domains", "2", "--min-tile", "1"],
    "workers": ["--cpus", "4"],
}
RANKS = {f"on {n} ranks of {domains} domains{how}": ["-n", str(n), "--domains", str(domains), *options, "--cpus", "1", "--min-tile", "1"]
         for n in (2, 3, 4) for domains in (1, 2) for how, options in (("", []), (" unfused", ["--fusion", "0"]))}


def script(name):
    """The path of a program, and whether it is an example."""
    path = f"examples/{name.split()[0]}.lua"
    example = os.path.exists(os.path.join(ROOT, path))
    return (path if example else f"tests/programs/{name.split()[0]}.lua"), example


def configurations(name):
    """What a program runs under."""
    if "STRESS" in os.environ:
        alone = ["--fusion", "0", *CONFIGURATIONS["domains"]]
        return {**CONFIGURATIONS, "domains unfused": alone, **RANKS}
    turn, chosen = list(PROGRAMS).index(name), list(RANKS.items())
    if not script(name)[1]:
        label, options = chosen[turn % len(RANKS)]
        return {"": [], "domains": CONFIGURATIONS["domains"], label: options}
    return {**CONFIGURATIONS, **dict(chosen[(2 * turn + k) % len(RANKS)] for k in (0, 7))}


def output_of(command):
    """The words of each line that a command prints; an error as text."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None, f"took more than {LIMIT} s"
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        return None, lines[-1] if command[0] == PYTHON else lines[0]
    return [line.split() for line in done.stdout.splitlines()], None


def difference(ours, theirs, bound):
    """Why two outputs differ, or None."""
    if len(ours) != len(theirs):
        return f"printed {len(ours)} lines, NumPy {len(theirs)}"
    for mine, yours in zip(ours, theirs):
        if len(mine) != len(yours):
            return f"printed '{' '.join(mine)}', NumPy '{' '.join(yours)}'"
        for a, b in zip(mine, yours):
            same = a == b
            if not same and NUMBER.match(a) and NUMBER.match(b) and not (a.isdigit() and b.isdigit()):
                same = abs(float(a) - float(b)) <= bound * max(1, abs(float(b)))
            if not same:
                return f"printed '{' '.join(mine)}', NumPy '{' '.join(yours)}' (bound {bound:g})"
    return None


def twin(name):
    """What the NumPy twin of a program prints, or an error."""
    return output_of([PYTHON, f"tests/programs/{name.split()[0]}.py", *PROGRAMS[name][0]])


def check(lgt, name):
    arguments, bound = PROGRAMS[name]
    expected, error = twin(name)
    if error:
        return [f"FAIL {name}: the NumPy twin says: {error}"]
    lines = []
    for label, options in configurations(name).items():
        case = f"{name} {label}".strip()
        got, error = output_of([lgt, *options, script(name)[0], *arguments])
        error = error or difference(got, expected, bound)
        lines.append(f"FAIL {case}: {error}" if error else f"ok {case}")
    return lines


def main():
    parser = argparse.ArgumentParser(description="Compares the examples with their NumPy twins.")
    parser.add_argument("--lgt", default=os.path.join(ROOT, "build/lgt"))
    parser.add_argument("-j", dest="jobs", type=int, default=2)
    parser.add_argument("names", nargs="*", help="programs (default: all)")
    args = parser.parse_args()
    unknown = [n for n in args.names if n not in PROGRAMS]
    if unknown:
        parser.error(f"no program is named {unknown[0]}; there are {' '.join(PROGRAMS)}")
    missing = [f[:-4] for f in sorted(os.listdir(os.path.join(ROOT, "examples")))
               if f.endswith(".lua") and f[:-4] not in PROGRAMS
               and os.path.exists(os.path.join(ROOT, "tests/programs", f[:-4] + ".py"))]
    missing += [f[:-4] for f in sorted(os.listdir(os.path.join(ROOT, "tests/programs")))
                if f.endswith(".lua") and f[:-4] not in PROGRAMS]
    failed = bool(missing)
    for name in missing:
        print(f"FAIL {name}: has a NumPy twin but no entry in PROGRAMS")
    lgt = os.path.abspath(args.lgt)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for lines in pool.map(lambda name: check(lgt, name), args.names or PROGRAMS):
            print("\n".join(lines), flush=True)
            failed = failed or any(line.startswith("FAIL") for line in lines)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
