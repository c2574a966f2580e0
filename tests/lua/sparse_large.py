#!/usr/bin/python3
"""A matrix of ten million triplets, beside SciPy's: what is only done to large ones must be right, too.

    tests/lua/sparse_large.py --lgt build/lgt [--entries 10000000] [options of lgt ...]

All values are whole numbers, so that sums in any order are the same and fingerprints of arrays can be compared.
"""
import argparse
import os
import subprocess
import tempfile

import numpy as np
import scipy.sparse as sp

LUA = r"""
local np, sp = require "array", require "sparse"
local count, n = tonumber(arg[1]), tonumber(arg[2])
local i = np.arange(count)
local rows, cols = (i * 48271 + 11) % 2147483647 % n, (i * 69621 + 7) % 2147483629 % n
local function say(name, ...)
  local words = {name}
  for _, x in ipairs {...} do
    x = x:astype("int64")
    words[#words + 1] = ("%d"):format(tonumber((x * (np.arange(x.size) % 1009 + 1)):sum():item()))
  end
  print(table.concat(words, " "))
end
local function tell(name, A) say(name, A.indptr - 1, A.indices - 1, A.data) end

local A = sp.csr_matrix({(i % 7 + 1):astype("float64"), {rows, cols}}, {shape = {n, n}, base = 0})
tell("triplets", A)
local T = A.T:tocsr()
tell("transposed", T)
tell("sum", A + T)
tell("elementwise", A:multiply(T))
local x = np.arange(n) % 5
say("product", A:dot(x), T:dot(x), A:sum(1), A:sum(2))
local P = sp.csr_matrix({np.ones(n), {np.arange(n), np.arange(n) % 40}}, {shape = {n, 40}, base = 0})
tell("thin", A:dot(P):sorted_indices())
tell("rows", A["::-3, :"])
tell("lower", sp.tril(A))
-- Every other entry is in one column, so that there are buckets of all sizes.
local half = np.arange(math.floor(count / 3))
local S = sp.csr_matrix({half % 5 + 1, {half % n, np.where((half % 2):eq(0), 5, cols[{{1, half.size}}])}},
  {shape = {n, n}, base = 0})
tell("skewed", S.T:tocsr())
-- A band: positions grow along the entries.
local d = np.arange(count / 10) % 9 + 1
local B = sp.diags({d, d["2:"], d["301:"]}, {0, 1, -300}, {format = "csr"})
tell("band", B.T:tocsr())
tell("square", B:dot(B):sorted_indices())
"""


def expected(count, n):
    i = np.arange(count)
    rows, cols = (i * 48271 + 11) % 2147483647 % n, (i * 69621 + 7) % 2147483629 % n
    lines = []

    def say(name, *arrays):
        words = [name]
        for x in arrays:
            x = x.astype("int64")
            words.append(str((x * (np.arange(x.size) % 1009 + 1)).sum()))
        lines.append(" ".join(words))

    def tell(name, a):
        a.sort_indices()
        say(name, a.indptr, a.indices, a.data)

    a = sp.csr_matrix(((i % 7 + 1).astype("float64"), (rows, cols)), shape=(n, n))
    tell("triplets", a)
    t = a.T.tocsr()
    tell("transposed", t)
    tell("sum", a + t)
    tell("elementwise", a.multiply(t).tocsr())
    x = np.arange(n) % 5
    say("product", a.dot(x), t.dot(x), np.asarray(a.sum(0)).ravel(), np.asarray(a.sum(1)).ravel())
    p = sp.csr_matrix((np.ones(n), (np.arange(n), np.arange(n) % 40)), shape=(n, 40))
    tell("thin", a @ p)
    tell("rows", a[::-3])
    tell("lower", sp.tril(a, format="csr"))
    half = np.arange(count // 3)
    s = sp.csr_matrix((half % 5 + 1, (half % n, np.where(half % 2 == 0, 5, cols[:half.size]))), shape=(n, n))
    tell("skewed", s.T.tocsr())
    d = np.arange(count // 10) % 9 + 1
    b = sp.diags([d, d[1:], d[300:]], [0, 1, -300], format="csr")
    tell("band", b.T.tocsr())
    tell("square", b @ b)
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lgt", default=os.environ.get("LGT", "build/lgt"))
    parser.add_argument("--entries", type=int, default=10**7)
    args, options = parser.parse_known_args()
    size = [str(args.entries), str(args.entries // 50)]
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(LUA)
        script.flush()
        run = subprocess.run([args.lgt, *options, script.name, *size], capture_output=True, text=True, timeout=900)
    got, bad = run.stdout.splitlines(), 0
    for k, line in enumerate(expected(*map(int, size))):
        mine = got[k] if k < len(got) else run.stderr.strip() or "nothing"
        print(f"ok {line.split()[0]}" if mine == line else f"FAIL {line.split()[0]}: {mine}, SciPy {line}")
        bad += mine != line
    return 1 if bad else 0


raise SystemExit(main())
