#!/usr/bin/python3
"""Matrices in files, between SciPy and lib/sparse/files.lua: each reads what the other wrote; damaged files are refused.

    tests/lua/sparse_files.py --lgt build/lgt
"""
import argparse
import os
import random
import subprocess
import tempfile

import numpy as np
import scipy.io
import scipy.sparse as sp

LUA = r"""
local np, sp = require "array", require "sparse"
local folder = arg[1]
for line in io.lines(folder .. "/orders") do
  local what, name, format = line:match("^(%S+) (%S+) ?(%S*)$")
  local path = folder .. "/" .. name
  if what == "npz" then -- read, and written again
    sp.save_npz(path .. ".ours", sp.load_npz(path .. ".npz"), format ~= "stored")
  elseif what == "mtx" then
    local a = sp.mmread(path .. ".mtx")
    np.save(path .. ".npy", sp.issparse(a) and a:todense() or a)
    local symmetry = name:match("symmetric$") or name:match("hermitian$") or name:match("skew$") and "skew-symmetric"
    sp.mmwrite(path .. ".ours", a, format == "pattern" and {field = "pattern"} or
      {comment = "two\nlines", symmetry = symmetry})
  else -- must be refused, at this line
    local ok, why = pcall(function() return (what == "bad.mtx" and sp.mmread or sp.load_npz)(path) end)
    local out = io.open(path .. ".answer", "w")
    out:write(ok and "no error" or tostring(why))
    out:close()
  end
end
assert(sp.mmread(folder .. "/no_rows.mtx").shape[1] == 0)
local ok, why = pcall(sp.save_npz, folder .. "/ell", sp.eye(3):toell())
assert(not ok and why:find("no format ell: save a:tocsr()", 1, true), why)
for _, symmetry in ipairs {"symmetric", "odd"} do
  ok, why = pcall(sp.mmwrite, folder .. "/lopsided", sp.csr_matrix{{1, 2}, {3, 4}}, {symmetry = symmetry})
  assert(not ok and why:find(symmetry == "odd" and "skew-symmetric or hermitian, not" or "the matrix is not symmetric", 1, true), why)
end
ok, why = pcall(sp.mmread, folder .. "/negative")
assert(not ok and why:find("states -1 rows; 0 or more were expected", 1, true), why)
ok, why = pcall(sp.mmwrite, folder .. "/no/such/folder", sp.eye(3))
assert(not ok and why:find("no/such/folder.mtx: No such file or directory", 1, true), why)
print("done")
"""


def matrix(rng, m, n, dtype):
    a = sp.random(m, n, 0.3, random_state=7, format="coo")
    data = rng.normal(size=a.nnz) * 5
    if np.dtype(dtype).kind == "c":
        data = data + 1j * rng.normal(size=a.nnz)
    return sp.coo_matrix((data.astype(dtype), (a.row, a.col)), shape=(m, n))


BAD = {
    "empty": b"", "words": b"hello\n", "format": b"%%MatrixMarket matrix list real general\n1 1 1\n1 1 1\n",
    "field": b"%%MatrixMarket matrix coordinate text general\n1 1 1\n1 1 1\n",
    "symmetry": b"%%MatrixMarket matrix coordinate real odd\n1 1 1\n1 1 1\n",
    "sizes": b"%%MatrixMarket matrix coordinate real general\n1 x 1\n1 1 1\n",
    "negative": b"%%MatrixMarket matrix coordinate real general\n-1 1 1\n1 1 1\n",
    "truncated": b"%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 2 2.5\n",
    "huge": b"%%MatrixMarket matrix coordinate real general\n3 3 99999999999\n1 1 1\n",
    "huger": b"%%MatrixMarket matrix array real general\n999999999 999999999\n1\n",
    "outside": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n",
    "zero": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n",
    "fraction": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1.5 1 1\n",
    "text": b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 x 1\n",
    "too_many": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n2 2 2\n",
    "not_square": b"%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n",
    "pattern_array": b"%%MatrixMarket matrix array pattern general\n2 2\n",
    "digits": b"%%MatrixMarket matrix coordinate real general\n" + b"9" * 400 + b" 1 1\n1 1 1\n",
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lgt", default="build/lgt")
    args = parser.parse_args()
    rng = np.random.default_rng(3)
    orders, wanted = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for dtype in ("float64", "float32", "complex128", "int64", "int32", "bool"):
            for format in ("csr", "csc", "coo", "dia", "bsr"):
                for mode in ("stored", "deflated"):
                    name = f"{dtype}_{format}_{mode}"
                    wanted[name] = matrix(rng, 7, 9, dtype).asformat(format)
                    sp.save_npz(f"{folder}/{name}.npz", wanted[name], compressed=mode == "deflated")
                    orders.append(f"npz {name} {mode}")
        dense = rng.normal(size=(4, 3))
        square = matrix(rng, 8, 8, "complex128").toarray()
        for name, a, field, symmetry in (
            ("general", matrix(rng, 7, 9, "float64"), None, "general"), ("complex", matrix(rng, 7, 9, "complex128"), None, "general"),
            ("integer", matrix(rng, 7, 9, "int64"), None, "general"), ("pattern", matrix(rng, 7, 9, "float64"), "pattern", "general"),
            ("symmetric", sp.coo_matrix(square.real + square.real.T), None, "symmetric"),
            ("hermitian", sp.coo_matrix(square + square.conj().T), None, "hermitian"),
            ("skew", sp.coo_matrix(square.real - square.real.T), None, "skew-symmetric"),
            ("nothing", sp.coo_matrix((5, 4)), None, "general"), ("array", dense, None, "general"),
            ("array_symmetric", dense.T @ dense, None, "symmetric"), ("array_complex", square, None, "general"),
            ("array_skew", square.real - square.real.T, None, "skew-symmetric"),
        ):
            scipy.io.mmwrite(f"{folder}/{name}.mtx", a, field=field, symmetry=symmetry, comment="a\nb")
            wanted[name] = scipy.io.mmread(f"{folder}/{name}.mtx")
            orders.append(f"mtx {name} {'pattern' if field else ''}")
        with open(f"{folder}/spaced.mtx", "w") as f:
            f.write("%%MatrixMarket  MATRIX Coordinate Real General\r\n% c\r\n\r\n  2 3   2\r\n 1  3\t-1e-3 \r\n\r\n2 1 +4\r\n\r\n")
        wanted["spaced"] = np.array([[0, 0, -1e-3], [4, 0, 0]])
        orders.append("mtx spaced ")
        for name, content in BAD.items():
            with open(f"{folder}/{name}", "wb") as f:
                f.write(content)
            orders.append(f"bad.mtx {name}")
        with open(f"{folder}/no_rows.mtx", "w") as f:  # read at once, however many columns there are
            f.write("%%MatrixMarket matrix array real general\n0 9007199254740992\n")
        for name, shape in (("one_extent", [3]), ("no_extents", 3)):
            np.savez(f"{folder}/{name}", format=b"csr", shape=shape, indices=[0], indptr=[0, 1], data=[1.0])
            orders.append(f"bad.npz {name}.npz")
        with open(f"{folder}/float64_csr_stored.npz", "rb") as f:
            good = f.read()
        shuffle = random.Random(5)
        for k in range(60):  # one byte changed, or an end missing: an error, or the same matrix, but no crash
            damaged = bytearray(good)
            if k % 3:
                damaged[shuffle.randrange(len(damaged))] ^= 1 << shuffle.randrange(8)
            else:
                del damaged[shuffle.randrange(len(damaged)):]
            with open(f"{folder}/damaged{k}", "wb") as f:
                f.write(damaged)
            orders.append(f"bad.npz damaged{k}")
        with open(f"{folder}/orders", "w") as f:
            f.write("".join(order + "\n" for order in orders))
        with open(f"{folder}/run.lua", "w") as f:
            f.write(LUA)
        run = subprocess.run([args.lgt, f"{folder}/run.lua", folder], capture_output=True, text=True, timeout=900)
        if run.stdout.strip() != "done":
            print(f"FAIL sparse_files: {run.stderr.strip() or run.returncode}")
            return 1
        bad = 0
        for order in orders:
            what, name = order.split()[:2]
            why = None
            if what == "npz":
                ours = sp.load_npz(f"{folder}/{name}.ours.npz")
                theirs = wanted[name]
                if ours.format != theirs.format or ours.dtype != theirs.dtype or ours.shape != theirs.shape:
                    why = f"{ours!r}, wanted {theirs!r}"
                elif not np.array_equal(ours.toarray(), theirs.toarray()):
                    why = "other values"
            elif what == "mtx":
                theirs = wanted[name].toarray() if sp.issparse(wanted[name]) else wanted[name]
                ours = np.load(f"{folder}/{name}.npy")
                again = scipy.io.mmread(f"{folder}/{name}.ours.mtx")
                again = again.toarray() if sp.issparse(again) else again
                if ours.dtype != theirs.dtype or not np.array_equal(ours, theirs):
                    why = f"read {ours.dtype} {ours}, wanted {theirs.dtype} {theirs}"
                elif not np.array_equal(again, theirs):
                    why = "written otherwise"
            else:
                with open(f"{folder}/{name}.answer") as f:
                    answer = f.read()
                damaged = name.startswith("damaged")
                if not damaged and answer == "no error" or answer != "no error" and ": " not in answer or "attempt to" in answer:
                    why = answer
            print(f"FAIL {order}: {why}" if why else f"ok {order}")
            bad += why is not None
        return 1 if bad else 0


raise SystemExit(main())
