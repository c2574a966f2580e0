#!/usr/bin/python3
"""The array library's functions beside NumPy's: which are covered, and how fast they are at a million elements.

    bench/breadth.py [--lgt build/lgt]              the table of coverage, and what is excepted, and why
    bench/breadth.py --lines [-k TEXT] [--below RATIO]    each line of bench/breadth.txt with both times
    bench/breadth.py --check                        what does not depend on time, at a small size, as a test

bench/breadth.txt lists group, lgt's expression, NumPy's ("-": it has none), and what may be wrong with it.  A name of
docs/numpy.md belongs to the lines that are about it: those that begin with it, that end with it as a method, or, of
several, that have it somewhere.  It is covered if on three ranks, each a memory of its own, none of its lines waits or
brings an array whole to a rank, and if with one worker all reach half of NumPy's speed.  What is not covered needs a
reason, "waits" or "whole" or "slow" and a word that the head of bench/breadth.txt explains.  Times are of the processor,
so that others on the machine do not count; both take turns, and the ratio is the median over the turns.  As others do
count for what is near in caches, what looks slow takes more turns.
"""
import argparse
import os
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time
import types
import warnings

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np  # noqa: E402
import scipy.linalg  # noqa: E402
import scipy.ndimage  # noqa: E402
import scipy.signal  # noqa: E402
import scipy.special  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
LARGE, SMALL = 10**6, 6**6  # both have square and cubic roots
REPLICATE = 24576  # bytes of an array that every rank may have, at the small size
ENOUGH = 0.5  # how fast beside NumPy
SHORT = 2e-5  # seconds: what takes less on both sides touches no elements
# Samples of a line; how many seconds one should take (results are kept for so long: more would be no longer in warm
# memory), in how many calls at most.
TURNS, SAMPLE, MOST = 5, 2e-4, 2000
AGAIN = 20  # more turns of what looks slow
PATIENCE = 1200  # seconds for what hangs

# What cuPyNumeric's comparison of itself with NumPy counts: what it has, of how many.
RIVAL = {"module functions": "299 of 454", "ufuncs": "77", "numpy.linalg": "15", "numpy.fft": "16", "numpy.random": "45",
         "array methods": "46 of 50"}


def inputs(n):
    rng = np.random.default_rng(3)
    root, cube = round(n**0.5), round(n**(1 / 3))
    x, y, q, k, l = rng.random(n), rng.random(n), rng.random((min(300, root),) * 2), rng.integers(1, 1000, n), rng.integers(1, 1000, n)
    side = min(200, root)
    z = rng.random(n) + 1j * rng.random(n)
    return {
        "x": x, "y": y, "m": x.reshape(root, root), "k": k, "l": l, "s": np.sort(rng.random(root)), "perm": rng.permutation(n) + 1,
        "mask": rng.random(n) < 0.5, "z": z, "f": rng.random(n).astype("f4"), "cube": x.reshape(cube, cube, cube),
        "rows": rng.permutation(root) + 1, "c3": rng.random((n * 3 // 10, 3)), "d3": rng.random((n * 3 // 10, 3)), "q": q + q.T,
        "stack": rng.random((n // 100, 10, 10)), "bytes": rng.integers(0, 256, n // 8).astype("u1"), "few": x[:root], "few2": y[:root],
        "tenth": x[:n // 10], "half": z[:n // 2 + 1], "ki": k[:side**2].reshape(side, side), "li": l[:side**2].reshape(side, side),
    }


# ---- the table of lines -------------------------------------------------------------------------------------

class Line:
    """group, lgt's and NumPy's expression; reasons: {what is wrong: the word for why}; found: what is wrong indeed."""

    def __init__(self, text):
        self.group, self.lgt, self.numpy, reasons = (text.split("\t") + [""])[:4]
        self.reasons = dict(reason.split() for reason in reasons.split(", ")) if reasons else {}
        self.found, self.ratio, self.times, self.error = set(), None, (0, 0), None

    def fail(self, why):
        self.error = why
        self.found.add("error")

    def subjects(self):
        """The names that the line is about, as docs/numpy.md writes them."""
        text = self.lgt.replace('np["repeat"]', "np.repeat")
        names = re.findall(r"\bnp(?:\.\w+)+", text)
        if text.startswith("np."):
            names = names[:1]
        elif not text.startswith(("{", "(function")):
            flat = text
            while (shorter := re.sub(r"\([^()]*\)|\[[^][]*\]|\{[^{}]*\}|\"[^\"]*\"", "", flat)) != flat:
                flat = shorter
            names = ["a." + word for word in re.findall(r"[.:](\w+)", flat)[-1:]]
        else:
            names += ["a." + word for word in re.findall(r"\b[xzm]\.(\w+)", text)]
        return names


def read_lines():
    """(the words for reasons, what they mean), the lines"""
    words, lines = {}, []
    with open(os.path.join(HERE, "breadth.txt"), encoding="utf-8") as file:
        for text in file.read().splitlines():
            if text.startswith("# "):
                word, meaning = text[2:].split(": ", 1)
                words[word] = meaning
            else:
                lines.append(Line(text))
    return words, lines


def names_there():
    """The names under "What there is" of docs/numpy.md."""
    with open(os.path.join(os.path.dirname(HERE), "docs/numpy.md"), encoding="utf-8") as file:
        text = file.read().split("## What there is\n")[1].split("## What there is not")[0]
    return sorted({name.replace(":", ".") for name in re.findall(r"`((?:np(?:\.\w+)+)|a[.:]\w+)`", text)})


def by_name(lines):
    """{name: its lines}; np.add.at is about np.add."""
    found = {name: [] for name in names_there()}
    for line in lines:
        for subject in line.subjects():
            name = subject if subject in found else subject.rsplit(".", 1)[0]
            if name in found:
                found[name].append(line)
    return found


# ---- measuring ----------------------------------------------------------------------------------------------

def prepare(folder, n, lines):
    arrays = inputs(n)
    for name, array in arrays.items():
        np.save(f"{folder}/{name}.npy", array)
    np.savetxt(f"{folder}/text", arrays["tenth"])
    arrays["x"].tofile(f"{folder}/raw")
    for name, rows in (("names", arrays), ("cases", [line.lgt for line in lines])):
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.writelines(row + "\n" for row in rows)
    with open(f"{folder}/text", encoding="utf-8") as file:
        text = file.read().replace("\n", " ")
    return {"np": np, "scipy": scipy, "memory": bytearray(8 * n), "N": n, "R": round(n**0.5), "T": n // 10, "folder": folder, "text": text, **arrays}


def find_moves(lgt, lines):
    """Which lines wait, and which bring an array whole to a rank."""
    with tempfile.TemporaryDirectory() as folder:
        prepare(folder, SMALL, lines)
        run = subprocess.run([lgt, "-n", "3", "--cpus=1", "--min-tile=1", f"--replicate={REPLICATE}", os.path.join(HERE, "breadth.lua"),
                              folder, str(SMALL), "moves"], capture_output=True, text=True, timeout=PATIENCE)
    answers = run.stdout.splitlines()
    if run.returncode or len(answers) != len(lines):
        sys.exit(f"FAIL after {len(answers)} of {len(lines)} lines: {run.stderr.strip()}")
    for line, answer in zip(lines, answers):
        if answer.startswith("error"):
            line.fail(answer)
        else:
            line.found |= set(answer.split())


def numpy_seconds(code, scope, calls):
    begin = time.process_time()
    for _ in range(calls):
        eval(code, scope)
    return (time.process_time() - begin) / calls


def measure(line, number, scope, server):
    def ours(calls):
        server.stdin.write(f"{number} {calls}\n")
        server.stdin.flush()
        if not select.select([server.stdout], [], [], PATIENCE)[0]:
            sys.exit(f"FAIL {line.lgt}: no answer within {PATIENCE} seconds")
        answer = server.stdout.readline()
        if not answer or answer.startswith("error"):
            raise RuntimeError(answer.strip() or "lgt has ended")
        return float(answer)

    try:
        ours(1), ours(1)  # what is compiled is compiled
        if line.numpy == "-":
            line.times = (0, ours(1))
            return
        code = compile(line.numpy, line.numpy, "eval")
        numpy_seconds(code, scope, 1)
        calls = max(1, min(MOST, int(SAMPLE / max(1e-7, numpy_seconds(code, scope, 1)))))
        calls = max(1, min(calls, int(100 * SAMPLE / max(1e-7, ours(1)))))  # all results are kept: copies of 8 MB add up
        ours(calls), ours(calls)  # as many calls together are planned and compiled anew
        pairs = []
        for turns in TURNS, AGAIN:
            pairs += [(numpy_seconds(code, scope, calls), ours(calls)) for _ in range(turns)]
            ratio = statistics.median(theirs / max(1e-9, mine) for theirs, mine in pairs)
            line.times = tuple(statistics.median(side) for side in zip(*pairs))
            if ratio >= ENOUGH or max(line.times) <= SHORT:
                break
    except Exception as error:  # of either side
        line.fail(repr(error))
        line.ratio = 0
        return
    line.ratio = ratio
    if line.ratio < ENOUGH and max(line.times) > SHORT:
        line.found.add("slow")


def find_speed(lgt, lines, after=lambda line: None):
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scope = prepare(folder, LARGE, lines)
        server = subprocess.Popen([lgt, "--cpus=1", "--background=0", os.path.join(HERE, "breadth.lua"), folder, str(LARGE), "turns"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            for number, line in enumerate(lines, 1):
                measure(line, number, scope, server)
                after(line)
        finally:
            server.kill()
            server.wait()


# ---- what is printed ----------------------------------------------------------------------------------------

def numpy_groups():
    """{group: names}, of what is public in NumPy."""
    def functions(module, prefix):
        return [prefix + name for name in dir(module) if not name.startswith("_") and callable(getattr(module, name))
                and not isinstance(getattr(module, name), (types.ModuleType, type))]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = functions(np, "np.")
        ufuncs = [name for name in module if isinstance(getattr(np, name[3:]), np.ufunc)]
        return {"module functions": [name for name in module if name not in ufuncs], "ufuncs": ufuncs,
                "numpy.linalg": functions(np.linalg, "np.linalg."), "numpy.fft": functions(np.fft, "np.fft."),
                "numpy.random": functions(np.random, "np.random."),
                "array methods": ["a." + name for name in dir(np.ndarray) if not name.startswith("_")]}


def print_coverage(words, lines):
    """The exit status: a line in error, or a name without a line, is no coverage."""
    about = by_name(lines)
    wrong = {name: sorted({f"{what} {line.reasons.get(what, '?')}" for line in of for what in line.found}) if of else ["unmeasured ?"]
             for name, of in about.items()}
    groups = numpy_groups()
    groups["beyond NumPy"] = [name for name in about if not any(name in names for names in groups.values())]
    print(f"{'':20}{'NumPy':>8}{'cuPyNumeric':>14}{'lgt':>6}{'covered':>9}{'excepted':>10}")
    for group, names in groups.items():
        here = [name for name in names if name in about]
        good = sum(not wrong[name] for name in here)
        print(f"{group:20}{len(names) if group in RIVAL else '':>8}{RIVAL.get(group, ''):>14}{len(here):>6}{good:>9}{len(here) - good:>10}")
    print("\nExcepted, and why:")
    for reason in sorted({reason for reasons in wrong.values() for reason in reasons}):
        what, word = reason.split()
        print(f"\n{what}: {words.get(word, 'NO REASON IS KNOWN')}\n  " + " ".join(name for name in wrong if reason in wrong[name]))
    bad = [f"{line.lgt}: {line.error}" for line in lines if line.error] + [f"{name} has no line in bench/breadth.txt" for name in about if not about[name]]
    for why in bad:
        print(f"FAIL {why}")
    return 1 if bad else 0


def print_line(line):
    ours, theirs = line.times[1] * 1e3, line.times[0] * 1e3
    ratio = f"{line.ratio:7.2f}" if line.ratio is not None else "       "
    why = ", ".join(f"{what} {line.reasons.get(what, '?')}" for what in sorted(line.found))
    print(f"{ratio} {theirs:9.3f} {ours:9.3f}  {line.lgt}  {line.error or why}", flush=True)


def check(lgt, words, lines):
    """Every name has a line, every line runs on three ranks, and has the reasons it needs, and no others."""
    find_moves(lgt, lines)
    bad = [f"{name} has no line in bench/breadth.txt" for name, of in by_name(lines).items() if not of]
    for line in lines:
        stated = {what for what in line.reasons if what != "slow"}
        bad += [f"{line.lgt}: {line.error if what == 'error' else what}, and no reason is given" for what in line.found - stated]
        bad += [f"{line.lgt}: not {what} any more: take away the reason" for what in stated - line.found]
        bad += [f"{line.lgt}: what is {word}?" for word in line.reasons.values() if word not in words]
    for why in bad:
        print(f"FAIL {why}")
    if not bad:
        print(f"ok {len(lines)} lines about {len(by_name(lines))} names")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description="Functions of the array library beside NumPy's.")
    parser.add_argument("--lgt", default=os.path.join(os.path.dirname(HERE), "build/lgt"))
    parser.add_argument("--lines", action="store_true", help="print lines with their times")
    parser.add_argument("-k", default="", help="of lines, those that contain this")
    parser.add_argument("--below", type=float, default=float("inf"), help="of lines, those with a smaller ratio")
    parser.add_argument("--check", action="store_true", help="a test of what does not depend on time")
    args = parser.parse_args()
    words, lines = read_lines()
    if args.check:
        return check(args.lgt, words, lines)
    if args.lines:
        lines = [line for line in lines if args.k in line.lgt or args.k in line.group]
        find_moves(args.lgt, lines)
        print("  ratio     NumPy       lgt  milliseconds")
        find_speed(args.lgt, lines, lambda line: line.ratio is not None and line.ratio < args.below and print_line(line))
        return 0
    find_moves(args.lgt, lines)
    find_speed(args.lgt, lines)
    return print_coverage(words, lines)


if __name__ == "__main__":
    sys.exit(main())
