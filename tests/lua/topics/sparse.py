"""Cases of lib/sparse: matrices of every format, beside SciPy's.

A case that says nothing of its own about Python is the same text with `:name(` as `.name(`.
"""
import re

import numpy as np
import scipy.sparse as sp

TOLERANCE = {"float32": 2e-6, "float64": 1e-13}
PRELUDE = """
sp = require "sparse"
csr, csc, coo, dia = sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.dia_matrix
function D(a) return a:todense() end
"""
csr, csc, coo, dia = sp.csr_array, sp.csc_array, sp.coo_array, sp.dia_array


def D(a):
    return np.asarray(a.todense())


def random(rng, m, n, density, dtype):
    a = rng.normal(size=(m, n)) * 4
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.normal(size=(m, n))
    if np.dtype(dtype).kind in "iu":
        a = np.trunc(a)
    a[rng.uniform(size=(m, n)) > density] = 0
    return a.astype(dtype)


def add(case, change, inputs):
    rng = np.random.default_rng(4)

    def both(lua, python=None):
        case(lua, python or re.sub(r":(\w+)\(", r".\1(", lua))

    for name, dtype in (("a", "float64"), ("a4", "float32"), ("ac", "complex128"), ("ac4", "complex64"), ("ai", "int64"),
                        ("ai4", "int32")):
        inputs[name] = random(rng, 7, 9, 0.3, dtype)
        inputs[name][[2, 5]] = 0  # empty rows
    inputs["b"] = random(rng, 7, 9, 0.4, "float64")
    inputs["q"] = random(rng, 8, 8, 0.4, "float64")
    inputs["tall"] = random(rng, 150, 3, 0.5, "float64")
    inputs["long"] = random(rng, 3, 200, 0.7, "float64")
    inputs["one"] = random(rng, 1, 6, 0.5, "float64")
    inputs["nothing"] = np.zeros((4, 5))
    inputs["band"] = np.diag(np.arange(1.0, 9)) + np.diag(np.arange(1.0, 7), 2) + np.diag(np.arange(3.0, 8), -3)
    for n in (3, 5, 6, 8, 9, 200):
        inputs[f"x{n}"] = rng.normal(size=n)
        inputs[f"X{n}"] = rng.normal(size=(n, 4))
    inputs["xc9"] = rng.normal(size=9) + 1j * rng.normal(size=9)
    inputs["xi9"] = rng.integers(-5, 6, size=9)
    inputs["rr"] = rng.integers(1, 8, size=40)  # triplets with duplicates
    inputs["cc"] = rng.integers(1, 10, size=40)
    inputs["vv"] = rng.normal(size=40)
    formats = ("csr", "csc", "coo", "dia")
    every = {"a": 9, "a4": 9, "ac": 9, "ac4": 9, "ai": 9, "ai4": 9, "tall": 3, "long": 200, "one": 6, "nothing": 5, "band": 8}
    # ---- building and converting
    for a, n in every.items():
        for f in formats:
            both(f"D({f}({a}))")
            for g in formats:
                both(f"D({f}({a}):to{g}())")
            both(f"{f}({a}):dot(np.arange({n}, {{dtype = 'float64'}}))", f"{f}({a}).dot(np.arange({n}, dtype='float64'))")
            both(f"D({f}({a}).T)")
            case(f"np.array({f}({a}).nnz)", f"np.array(float(np.count_nonzero({a})))" if f != "dia" else f"np.array(float({f}({a}).nnz))")
        for x in ("xc9", "xi9") if n == 9 else ():
            both(f"csr({a}):dot({x})")
        if n != 3:
            both(f"csr({a}):dot(X{n})")
            both(f"csr({a}):dot(X{n}['::-1, ::2'])", f"csr({a}).dot(X{n}[::-1, ::2])")
            both(f"csc({a}):dot(X{n})")
    both("csr(a):dot(X9[{{}, 2}])", "csr(a).dot(X9[:, 1])")
    both("csr(a).T:dot(np.arange(7, {dtype = 'float64'}))", "csr(a).T.dot(np.arange(7, dtype='float64'))")
    for f in ("csr", "csc", "coo"):
        both(f"D({f}({{vv, {{rr, cc}}}}, {{shape = {{7, 9}}}}))", f"D({f}((vv, (rr - 1, cc - 1)), shape=(7, 9)))")
        both(f"D({f}{{vv, {{rr, cc}}}})", f"D({f}((vv, (rr - 1, cc - 1))))")
        both(f"D({f}({{vv, {{rr - 1, cc - 1}}}}, {{base = 0}}))", f"D({f}((vv, (rr - 1, cc - 1))))")
        both(f"{f}({{vv, {{rr, cc}}}}):dot(np.arange(9))", f"{f}((vv, (rr - 1, cc - 1))).dot(np.arange(9))")
        both(f"D({f}{{4, 5}})", f"D({f}((4, 5)))")
    case("csr{vv, {rr, cc}}.indices", "csr((vv, (rr - 1, cc - 1))).indices + 1")
    case("csr{vv, {rr, cc}}.indptr", "csr((vv, (rr - 1, cc - 1))).indptr + 1")
    case("csr{vv, {rr, cc}}.data", "csr((vv, (rr - 1, cc - 1))).data")
    case("csc(a).indices", "csc(a).indices + 1")
    case("csc(a).indptr", "csc(a).indptr + 1")
    case("coo(a).row", "coo(a).row + 1")
    case("coo(a).col", "coo(a).col + 1")
    case("dia(band).offsets", "dia(band).offsets")
    case("D(csr({a['1, 1:4'], np.array({1, 2, 5, 2}, {dtype = 'int64'}), np.array({1, 3, 3, 5}, {dtype = 'int64'})}, {shape = {3, 6}}))",
         "D(csr((a[0, :4], np.array([0, 1, 4, 1]), np.array([0, 2, 2, 4])), shape=(3, 6)))")
    case("D(csc({a['1, 1:4'], np.array({1, 2, 5, 2}, {dtype = 'int64'}), np.array({1, 3, 3, 5}, {dtype = 'int64'})}, {shape = {6, 3}}))",
         "D(csc((a[0, :4], np.array([0, 1, 4, 1]), np.array([0, 2, 2, 4])), shape=(6, 3)))")
    case("D(csr{{1, 0, 2}, {0, 0, 3}})", "D(csr([[1.0, 0, 2], [0, 0, 3]]))")
    # ---- from diagonals
    case("D(sp.diags({{1, 2, 3}, {4, 5}}, {0, 1}))", "D(sp.diags([[1., 2, 3], [4., 5]], [0, 1]))")
    case("D(sp.diags({4, -1, 2}, {0, 2, -1}, {shape = {5, 6}}))", "D(sp.diags([4., -1, 2], [0, 2, -1], shape=(5, 6)))")
    case("D(sp.diags(x5, -2))", "D(sp.diags(x5, -2))")
    case("D(sp.diags({x5}, {3}, {format = 'csr', dtype = 'float32'}))", "D(sp.diags([x5], [3], format='csr', dtype='float32'))")
    case("D(sp.spdiags(X3:reshape(3, 4), {0, -1, 2}, 4, 4))", "D(sp.spdiags(X3.reshape(3, 4), [0, -1, 2], 4, 4))")
    for k in (-2, 0, 3):
        case(f"D(sp.eye(4, 6, {k}))", f"D(sp.eye(4, 6, {k}))")
        case(f"D(sp.eye(6, 4, {k}):tocsr())", f"D(sp.eye(6, 4, {k}))")
    case("D(sp.identity(3, {dtype = 'int32', format = 'csc'}))", "D(sp.identity(3, dtype='int32', format='csc'))")
    # ---- what must be refused
    for bad in ("csr(a):dot(x8)", "csr(a):dot(X8)", "csr(a):dot('x')", "csr(a).colour", "csr{vv, {rr, cc}}:asformat('bsr')",
                "csr({vv, {rr, cc}}, {shape = {6, 9}})", "csr({vv, {rr - 1, cc}}, {shape = {7, 9}})", "csr({vv, {rr, cc['2:']}})",
                "csr({x5, np.array({1,2,3,4,5}, {dtype = 'int64'}), np.array({1, 3, 2, 6}, {dtype = 'int64'})}, {shape = {3, 6}})",
                "csr({x5, np.array({1,2,3,4,7}, {dtype = 'int64'}), np.array({1, 3, 4, 6}, {dtype = 'int64'})}, {shape = {3, 6}})",
                "csr({x5, np.array({1,2,3,4,5}, {dtype = 'int64'}), np.array({1, 3, 4, 7}, {dtype = 'int64'})}, {shape = {3, 6}})",
                "csr({x5, np.array({1,2,3,4,5}, {dtype = 'int64'}), np.array({1, 3, 6}, {dtype = 'int64'})}, {shape = {3, 6}})",
                "csr({vv, {rr * 0.5, cc}})", "csr(x5:reshape(5, 1, 1))", "csr(a, {shapes = 3})", "csr{-1, 4}", "csr(nil)",
                "sp.diags({{1, 2}, {3}}, {0, 0})", "sp.diags({{1, 2, 3}, {4, 5, 6}}, {0, 1})", "sp.diags({1, 2}, {0})",
                "sp.eye(3, 3, 'k')", "sp.eye(-1)", "dia({X3, {0, 1}}, {shape = {4, 4}})", "dia({X3, {0, 1, 1}}, {shape = {4, 4}})"):
        case(bad, "error")
