#!/usr/bin/python3
"""Reproducible mode: the same bits however arrays are cut, and sums as good as they can be.

    tests/lua/reproducible.py --lgt build/lgt

  sums       of numbers that cancel, overflow, are subnormal, infinite or no numbers: within the bound of
             reproducible.h of the exact sum, and the same bits under every configuration
  functions  of the array library, sparse matrices and solvers: the same bits under every configuration
  programs   some of the examples print the same under every configuration
  live       the mode is turned on and off by lgt.options
  refused    what cannot have the same bits
"""
import argparse
import math
import os
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CONFIGS = [[], ["--domains=2", "--min-tile=1"], ["--domains=3", "--min-tile=1", "--fusion=0"],
           ["--domains=5", "--min-tile=1", "--max-tiles=7", "--cpus=3", "--jitter=5"],
           ["--ranks=2", "--min-tile=1"], ["--ranks=3", "--domains=2", "--min-tile=1", "--window=5"]]
PROGRAMS = {"cg": ["301", "5e-9"], "kmeans": ["3001", "5", "8"], "logreg": ["503", "12", "10"], "poisson": ["31", "1e-9"],
            "pagerank": ["500"], "covariance": ["28", "32"], "einsum": ["12"], "nbody": ["60", "5"], "lenet": ["3", "28", "28"]}

SUMS = """
local np = require "array"
local folder = ...
local function show(what, x)
  local re, im = type(x) == "number" and x or x.re, type(x) == "number" and 0 or x.im
  if re ~= re then re = "nan" else re = ("%a"):format(re) end
  if im ~= im then im = "nan" else im = ("%a"):format(im) end
  print(what, re, im)
end
local list = {}
for name in io.lines(folder .. "/list") do list[#list + 1] = name end
for _, name in ipairs(list) do
  local x = np.load(folder .. "/" .. name .. ".npy")
  show(name, np.sum(x)())
  show(name .. " mean", np.mean(x)())
  show(name .. " view", np.sum(x["::-1"])())
  if x.dtype:sub(1, 5) == "float" then
    show(name .. " dot", x:dot(x)())
    show(name .. " max", np.max(x)())
    show(name .. " min", np.min(x)())
  end
end
"""

FUNCTIONS = """
local np, sp, lgt = require "array", require "sparse", require "lgt"
np.random.seed(11)
local function show(what, x)
  if type(x) == "table" then x = x:todense() end
  x = np.ravel(np.asarray(x))
  local parts = x.dtype:sub(1, 7) == "complex" and { np.real(x), np.imag(x) } or { x }
  for _, part in ipairs(parts) do
    local texts = {}
    for i, value in ipairs(part:astype("float64"):totable()) do texts[i] = ("%a"):format(value) end
    print(what, table.concat(texts, " "))
  end
end
local A = np.random.rand(23, 31) - 0.5
local v = np.random.randn(31) * np.exp(5 * np.random.randn(31))
for _, dtype in ipairs { "float64", "float32", "float16", "complex64", "complex128" } do
  local a, u = A:astype(dtype), v:astype(dtype)
  if dtype:sub(1, 7) == "complex" then a, u = np.exp(a + u * np.sqrt(np.array(-1, { dtype = dtype }))), np.sqrt(u) end
  show("sum " .. dtype, np.sum(a))
  show("sum1 " .. dtype, np.sum(a, 1))
  show("sum2 " .. dtype, np.sum(a["2:-2, ::-3"], 2, { keepdims = true }))
  show("prod " .. dtype, np.prod(a[{ {}, { 1, 7 } }] + 1, 1))
  show("prod where " .. dtype, np.prod(a, { where = np.not_equal(a, 0), initial = 2 }))
  show("mean " .. dtype, np.mean(a, 2))
  show("var " .. dtype, np.var(a, 1))
  show("dot " .. dtype, a:dot(u))
  show("matmul " .. dtype, np.dot(a, a.T))
  show("stack " .. dtype, np.matmul(np.reshape(a[{ { 1, 22 }, { 1, 30 } }], 2, 11, 30), np.reshape(a[{ { 1, 22 }, { 1, 30 } }], 2, 30, 11)))
  show("vdot " .. dtype, np.vdot(u, u))
  show("norm " .. dtype, np.linalg.norm(a))
  show("einsum " .. dtype, np.einsum("ij,kj->ik", a, a))
end
show("norm 3", np.linalg.norm(v, 3))
show("trace", np.trace(A))
show("cumsum", np.cumsum(v))
show("cumsum 2", np.cumsum(A, 1))
show("average", np.average(v, { weights = np.abs(v) }))
show("cov", np.cov(A))
show("corrcoef", np.corrcoef(A))
show("convolve", np.convolve(v, A[1]))
show("bincount", np.bincount(np.arange(31) % 5, { weights = v, base = 0 }))
local total = np.zeros(5)
np.add.at(total, np.arange(31) % 5 + 1, v)
show("add.at", total)
show("reduceat", np.add.reduceat(v, { 1, 4, 9 }))
show("logsumexp", np.logaddexp.reduce(v))
show("fft", np.abs(np.fft.fft(v)))
show("solve", np.linalg.solve(A[{ {}, { 1, 23 } }], v[{ { 1, 23 } }]))
local big = np.cos(np.arange(520 * 520)):reshape(520, 520) + 20 * np.eye(520)
show("solve together", np.linalg.solve(big, big[1]))
show("slogdet together", select(2, np.linalg.slogdet(big)))
show("randn", np.sum(np.random.randn(1000)))
local S = sp.random(40, 30, 0.2, { random_state = 3, format = "csr" })
show("csr", S:dot(v[{ { 1, 30 } }]))
show("csr matrix", S:dot(A[{ { 1, 20 }, { 1, 30 } }].T))
show("csc", S.T:dot(np.random.rand(40)))
show("csr csr", S:dot(S.T))
show("sparse sums", S:sum(1))
local total2 = lgt.task { name = "collect", args = { "in", "sum", "fresh max", "out" },
                          generator = function(_, x) return x * x, x, x + 1 end }
local s, m, y = np.ones({}), np.zeros({}), np.zeros(31)
total2(v, s, m, y)
show("task", s) show("task", m) show("task", y)
"""

LIVE = """
local np, lgt = require "array", require "lgt"
np.random.seed(1)
local x = np.random.rand(100003)
lgt.options { reproducible = false }
local before = np.sum(x)()
lgt.options { reproducible = true }
assert(lgt.reproducible())
local during = np.sum(x)()
lgt.options { reproducible = false }
assert(np.sum(x)() == before)
print(("%a"):format(during))
"""

REFUSED = """
local np, lgt = require "array", require "lgt"
local prod = lgt.task { name = "multiply_all", args = { "in", "prod" }, generator = function(_, x) return x end }
local good, message = pcall(prod, np.ones(10), np.ones({}))
print(good, message)
"""


def run(lgt, script, config, arguments=()):
    command = [lgt, "--reproducible=1", *config, script, *arguments]
    env = {k: v for k, v in os.environ.items() if not k.startswith("LGT_")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, env=env, cwd=ROOT)
    return done.stdout + done.stderr + (f"exit status {done.returncode}\n" if done.returncode else "")


def first_difference(name, texts):
    """None, or how the first output that differs from that of the first configuration does."""
    for config, text in zip(CONFIGS, texts):
        if text != texts[0]:
            a, b = next((a, b) for a, b in zip((texts[0] + "\n-").splitlines(), (text + "\n-").splitlines()) if a != b)
            return f"{name} differs under {' '.join(config)}:\n  {a[:200]}\n  {b[:200]}"
    return None


def same_everywhere(lgt, name, script, arguments=()):
    texts = [run(lgt, script, config, arguments) for config in CONFIGS]
    why = first_difference(name, texts)
    if why is None and "exit status" in texts[0]:
        why = texts[0][-600:]
    print(f"FAIL {name}: {why}" if why else f"ok {name}")
    return texts[0], why is not None


def nasty():
    """{name: array}."""
    rng = np.random.default_rng(5)
    wide = rng.standard_normal(3001) * 2.0 ** rng.integers(-300, 300, 3001)
    cases = {
        "plain": rng.standard_normal(5003), "cancels": np.concatenate([wide, -wide[::-1], [1.0, 2.0 ** -60]]),
        "wide": wide, "overflows": np.array([1e308, 1e308, -1e308, -1e308, 3.0] * 9), "beyond": np.full(7, 1e308),
        "huge": np.array([1.7e308, -1.7e308, 2.0 ** 970, 1e300] * 5), "below": np.full(7, -1e308),
        "inf": np.array([1.0, np.inf, -1e308, -1e308, 1e308]), "infs": np.array([np.inf, 1.0, -np.inf, 2.0]),
        "nan": np.array([1.0, np.nan, np.inf, 2.0]), "zeros": np.zeros(9), "minus zeros": np.full(9, -0.0),
        "mixed zeros": np.array([0.0, -0.0, -0.0, 0.0, -0.0]), "one": np.array([-0.1]),
        "subnormal": rng.integers(-10**6, 10**6, 999) * 5e-324, "small": rng.standard_normal(999) * 1e-300,
        "many": rng.random(70001) - 0.5,
        # Most first pieces are 0, most second ones have one sign and all bits; then the same of third ones.
        "tight": np.append([1, -1], (0.2 + 0.2 * rng.random(4094)) * 2.0 ** -39),
        "tighter": np.append([1, -1, 2.0 ** -39, -2.0 ** -39], (0.2 + 0.2 * rng.random(4092)) * 2.0 ** -78),
    }
    with np.errstate(all="ignore"):
        for name in list(cases):
            cases[name + " f4"] = np.clip(cases[name], -3e38, 3e38).astype("f4") if "nan" not in name else cases[name].astype("f4")
            if cases[name].size < 4000:
                cases[name + " f2"] = cases[name + " f4"].astype("f2")
                cases[name + " c16"] = cases[name] + 1j * np.roll(cases[name], 1)
    return cases


def bound_of(x):
    """Of the sum of the float64 numbers x, of a float type's numbers."""
    n, m = x.size, float(np.max(np.abs(x), initial=0))
    k = next(k for k in (12, 20) if n <= 2 ** k)
    if x.dtype == np.float64:
        return Fraction(n) * Fraction(m) * Fraction(2) ** (3 * k - 150), 53
    return Fraction(n) * Fraction(m) * Fraction(2) ** (2 * k - 100), {4: 24, 2: 11}[x.dtype.itemsize]


def sum_is_wrong(got, x):
    """None, or why `got` is not the sum of x."""
    if not np.all(np.isfinite(x)):
        with np.errstate(invalid="ignore"):
            want = float(np.sum(x[~np.isfinite(x)]))
        return None if got == want or math.isnan(got) and math.isnan(want) else f"{got} instead of {want}"
    if math.isnan(got):
        return f"{got}"
    exact = sum(map(Fraction, x.tolist()), Fraction(0))
    bound, digits = bound_of(x)
    top = {53: 1023, 24: 127, 11: 15}[digits]
    if math.isinf(got):
        return None if abs(exact) + bound > Fraction(2) ** top * (2 - Fraction(2) ** -digits) and (got > 0) == (exact > 0) else \
            f"{got} instead of {float(exact)}"
    tiny = {53: 1074, 24: 149, 11: 24}[digits]
    rounding = 2 * abs(exact) * Fraction(2) ** -digits + Fraction(2) ** -tiny
    if abs(Fraction(got) - exact) > bound + rounding:
        return f"{got!r} instead of {float(exact)!r}"
    return None if got or math.copysign(1, got) > 0 else "-0"


def check_sums(lgt, folder):
    cases = nasty()
    with open(os.path.join(folder, "list"), "w", encoding="ascii") as file:
        file.write("".join(f"{name}\n" for name in cases))
    for name, x in cases.items():
        np.save(os.path.join(folder, name + ".npy"), x)
    script = os.path.join(folder, "sums.lua")
    with open(script, "w", encoding="ascii") as file:
        file.write(SUMS)
    text, failed = same_everywhere(lgt, "sums", script, [folder])
    got = {}
    for line in text.splitlines():
        name, re, im = line.split("\t")
        got[name] = [float("nan") if part == "nan" else float.fromhex(part) for part in (re, im)]
    wrong = []
    for name, x in cases.items():
        for part, values in enumerate([x.real, x.imag] if x.dtype.kind == "c" else [x]):
            why = sum_is_wrong(got[name][part], values)
            wrong += [f"{name}: {why}"] if why else []
        if x.dtype == np.float64 and np.max(np.abs(x)) < 1e150:
            why = sum_is_wrong(got[name + " dot"][0], x * x)
            wrong += [f"{name} dot: {why}"] if why else []
        if x.dtype.kind == "f" and not np.isnan(x).any() and np.abs(got[name + " max"][0]) != np.abs(float(x.max())):
            wrong.append(f"{name} max: {got[name + ' max'][0]}")
    print(f"FAIL exact sums: {'; '.join(wrong[:5])}" if wrong else "ok exact sums")
    return failed or bool(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lgt", required=True)
    lgt = os.path.abspath(parser.parse_args().lgt)
    with tempfile.TemporaryDirectory(prefix="lgt-reproducible-") as folder:
        failed = check_sums(lgt, folder)
        for name, text in (("functions", FUNCTIONS), ("live", LIVE), ("refused", REFUSED)):
            script = os.path.join(folder, name + ".lua")
            with open(script, "w", encoding="ascii") as file:
                file.write(text)
            said, bad = same_everywhere(lgt, name, script)
            failed |= bad
            if name == "refused" and "multiply_all" not in said:
                print(f"FAIL refused: {said}")
                failed = True
        for name, arguments in PROGRAMS.items():
            failed |= same_everywhere(lgt, name, f"examples/{name}.lua", arguments)[1]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
