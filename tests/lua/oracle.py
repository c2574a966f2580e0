#!/usr/bin/python3
"""Compares the array library with NumPy, expression by expression.

    tests/lua/oracle.py --lgt build/lgt [--topic NAME] [-k part of a case's text] [--part 1/3] [-- options of lgt]

A case is a Lua expression and the NumPy expression that means the same, over the inputs below.  The
Lua side runs once: it loads the inputs from .npy files, evaluates every case and saves the results, or
says which error it met.  Results must agree in shape and dtype, and in value within a few units in the
last place (float results of different mathematical libraries); "error" as the NumPy side means that
lgt must refuse, at the line of the case, or (a task that failed) at a later one and naming that line.

Here are the cases of the core of the library; each further topic has a file in tests/lua/topics, which is
given `case`, `change` and INPUTS, and may add inputs of its own; where results depend on more than a few
roundings it states its own TOLERANCE, and what its cases need in Lua beside np is its PRELUDE.
"""
import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
import warnings

import numpy as np

np.seterr(all="ignore")
warnings.simplefilter("ignore")  # NumPy's, about means of nothing and the like
rng = np.random.default_rng(7)

INPUTS = {
    "f": rng.normal(size=(4, 5)) * 3,
    "g": rng.uniform(0.1, 0.9, size=(4, 5)),
    "h": rng.normal(size=5),
    "f4": rng.normal(size=(4, 5)).astype("float32"),
    "f2": rng.normal(size=(4, 5)).astype("float16"),
    "i": rng.integers(-9, 10, size=(4, 5)),
    "j": rng.integers(1, 6, size=(4, 5)),
    "i4": rng.integers(-9, 10, size=(4, 5)).astype("int32"),
    "i1": rng.integers(-9, 10, size=(4, 5)).astype("int8"),
    "u1": rng.integers(0, 20, size=(4, 5)).astype("uint8"),
    "u8": rng.integers(0, 20, size=(4, 5)).astype("uint64"),
    "b": rng.integers(0, 2, size=(4, 5)).astype(bool),
    "c": rng.integers(0, 2, size=(4, 5)).astype(bool),
    "z": rng.normal(size=(4, 5)) + 1j * rng.normal(size=(4, 5)),
    "w": (rng.normal(size=(4, 5)) + 1j * rng.normal(size=(4, 5))).astype("complex64"),
    "s": np.array(2.5), "s4": np.array(1.5, "float32"), "si": np.array(3), "sz": np.array(1 + 2j),
    "t": rng.normal(size=(3, 4, 5)),
    "v": rng.normal(size=12),
    "e": np.zeros((0, 3)),
    "m": rng.normal(size=(5, 4)),
    "n": rng.normal(size=(5, 5)),
    "x": np.array([1.5, np.nan, -np.inf, np.inf, 0.0, -0.0, -2.5, 2.5, 1e300, 1e-320]),
    "p": np.array([3, 1, 4, 1, 2]),       # positions, from 1
    "q": np.array([[1, 2], [4, 3]]),
}
CASES = []
SCOPE = {}  # further names for the NumPy side


def case(lua, numpy=None):
    CASES.append((lua, lua if numpy is None else numpy))


# ---- elementwise functions over dtypes ---------------------------------------------------------------
for name in ("sqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh "
             "arctanh floor ceil trunc rint square sign abs negative deg2rad rad2deg sinc reciprocal").split():
    for a in ("g", "f4", "f2"):
        case(f"np.{name}(np.abs({a}) % 1)" if a != "g" else f"np.{name}({a})")
for name in "square sign abs negative floor sqrt exp isnan isfinite".split():
    for a in ("i", "i1", "u1", "i4"):
        if not (name == "negative" and a == "u1"):
            case(f"np.{name}({a})")
for name in "exp log sqrt sin cos abs square conj real imag angle negative".split():
    case(f"np.{name}(z)")
    case(f"np.{name}(w)")
case("np.arccosh(1 + g)")
for name in "floor ceil trunc rint isnan isinf isfinite signbit sign abs negative sqrt exp".split():
    case(f"np.{name}(x)")
for name in "add subtract multiply divide maximum minimum fmax fmin power mod floor_divide fmod arctan2 hypot copysign".split():
    case(f"np.{name}(g, f4)")
    case(f"np.{name}(f4, f4)")
    if name not in ("arctan2", "hypot", "copysign", "power"):
        case(f"np.{name}(i, j)")
        case(f"np.{name}(f, g)")
        case(f"np.{name}(u1, j)")
    if name not in ("power", "floor_divide", "mod", "fmod", "arctan2", "hypot", "copysign"):
        case(f"np.{name}(f2, f2)")
case("np.power(j, j)")
case("np.power(g, f)")
PAIRS = ("f", "f4", "f2", "i", "i4", "i1", "u1", "u8", "b", "z", "w", "s", "s4", "si", "sz")
for one in PAIRS:
    for two in PAIRS:
        case(f"{one} * {two}")
        if not (one == "b" and two == "b"):
            case(f"{one} - {two}")
        case(f"{one}:eq({two})", f"{one} == {two}")
        if one not in ("z", "w", "sz") and two not in ("z", "w", "sz"):
            case(f"{one}:lt({two})", f"{one} < {two}")
for a in PAIRS:
    if a == "b":
        case("b + 2", "b + np.int64(2)")
        case("b * 2.5")
        continue
    for op in ("+ 2", "* 2.5", "- 1", "/ 4"):
        if a == "s4":  # numbers are weak even beside 0-d arrays
            case(f"{a} {op}", f"{a} {op[0]} np.float32({op[2:]})")
        else:
            case(f"{a} {op}")
    if a != "s4":
        case(f"2 - {a}" if a not in ("u1", "u8") else f"30 - {a}")
    case(f"{a}^2", f"{a}**2")
case("f4 * 0.5", "f4 * np.float32(0.5)")
case("1 / i", "1 / i")
case('np.sum(np.ones(5000, {dtype = "float16"}))', "np.sum(np.ones(5000, 'f2'))")  # collected in float32
case('np.sum(np.full({5000, 2}, 0.3, {dtype = "float16"}), 1)', "np.sum(np.full((2, 5000), 0.3, 'f2'), 1)")
case('np.dot(np.ones(5000, {dtype = "float16"}), np.ones(5000, {dtype = "float16"}))',
     "np.dot(np.ones(5000, 'f2'), np.ones(5000, 'f2'))")
for a in ("u1", "i1", "i4", "i", "f4", "f2"):
    case(f"np.abs({a})^0.5", f"np.abs({a})**0.5")
case("i % 4")
case("i % -4", "i % -4")
case("f % 1.5")
case("-f", "-f")
case("f^0.5 - f", "f**0.5 - f")
case("j^3", "j**3")
case("2^j", "2**j")
case("2.5^g", "2.5**g")
for name in "logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor".split():
    case(f"np.{name}(b, c)")
    if "logical" in name:
        case(f"np.{name}(f, i)")
    else:
        case(f"np.{name}(i, j)")
        case(f"np.{name}(u1, j)")
case("np.logical_not(i)")
case("np.invert(i)")
case("np.invert(b)")
case("np.left_shift(i, j)")
case("np.right_shift(i, j)")
case("b + c")
case("b * c")
for lua, py in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!=")):
    case(f"i:{lua}(j)", f"i {py} j")
    case(f"f:{lua}(0)", f"f {py} 0")
    case(f"u1:{lua}(300)", f"u1 {py} 300")
    case(f"i:{lua}(2.5)", f"i {py} 2.5")
case("np.where(b, f, i)")
case("np.where(b, 1, 0)")
case("np.where(b, f4, 0.5)", "np.where(b, f4, np.float32(0.5))")
case("np.where(b, f, h)")
case("np.clip(f, -1, 1)")
case("np.clip(i, -2, 3)")
case("np.clip(f, h, 2)")
case("np.clip(u1, 0, 300)", "error")
case("np.clip(f, nil, 0)", "np.clip(f, None, 0)")
case("f:clip(0)", "f.clip(0)")
case("np.select({f:gt(1), f:gt(0)}, {f, 10 * f}, -1)", "np.select([f > 1, f > 0], [f, 10 * f], -1)")
case("np.select({b, c}, {1, 2})", "np.select([b, c], [1, 2])")
case("np.select({b}, {1, 2})", "error")
case("np.clip(i1, -100, 100)")
case("np.maximum(x, 1)")
case("np.minimum(x, 1)")
case("np.fmax(x, 1)")
case("np.nan_to_num(x)")
case("np.heaviside(f, 0.5)")
case("np.logaddexp(f, g)")
case("np.isclose(f, f + 1e-9)")
case("np.add(f, g, {out = np.zeros(4, 5)})", "np.add(f, g)")
case("np.add(i, j, {out = np.zeros(4, 5)})", "np.add(i, j).astype(float)")
case("np.add(f, g, {where = b, out = np.ones(4, 5)})", "np.add(f, g, where=b, out=np.ones((4, 5)))")
case("np.exp(f, {where = b})", "np.exp(f, where=b, out=np.zeros((4, 5)))")
case("np.add(f, f, {out = np.zeros(5)})", "error")
case("np.add(f, f, {out = np.zeros(4, 5, {dtype = 'int64'})})", "error")
case("select(1, np.modf(f))", "np.modf(f)[0]")
case("select(2, np.modf(f))", "np.modf(f)[1]")
case("select(1, np.divmod(i, j))", "np.divmod(i, j)[0]")
case("select(2, np.divmod(f, g))", "np.divmod(f, g)[1]")

# ---- casts ---------------------------------------------------------------------------------------------
for a in ("f", "i", "b", "u1", "f4", "f2", "z"):
    for to in ("bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64", "complex64", "complex128"):
        if a == "z" and "complex" not in to:
            continue
        if a in ("f", "f4", "f2") and to.startswith("u"):
            case(f"np.abs({a}):astype('{to}')", f"np.abs({a}).astype('{to}')")
        else:
            case(f"{a}:astype('{to}')", f"{a}.astype('{to}')")

# ---- reductions ------------------------------------------------------------------------------------------
for name in "sum prod max min mean std var".split():
    for a in ("f", "i", "f4", "t", "u1"):
        case(f"np.{name}({a})")
        case(f"{a}:{name}(1)", f"{a}.{name}(axis=0)")
        case(f"{a}:{name}{{axis = -1, keepdims = true}}", f"{a}.{name}(axis=-1, keepdims=True)")
    case(f"np.{name}(t, {{1, 3}})", f"np.{name}(t, axis=(0, 2))")
    case(f"np.{name}(t, {{2, 3}}, {{keepdims = true}})", f"np.{name}(t, axis=(1, 2), keepdims=True)")
    case(f"np.{name}(t.T, 2)", f"np.{name}(t.T, axis=1)")
    case(f"np.{name}(t[\":, ::-2, 2:4\"], 2)", f"np.{name}(t[:, ::-2, 1:4], axis=1)")
for a in ("b", "u1", "i1", "i4", "f2", "z"):
    case(f"np.sum({a})", f"np.sum({a})" if a != "f2" else "np.sum(f2.astype('float32')).astype('float16')")
case("np.sum(z, 1)", "np.sum(z, axis=0)")
case("np.mean(z)")
case("np.var(z)")
case("np.mean(b)")
case("np.mean(f2)")
case("np.std(f, {axis = 2, ddof = 1})", "np.std(f, axis=1, ddof=1)")
case("np.sum(f4, {dtype = 'float64'})", "np.sum(f4, dtype='float64')")
case("np.sum(e)")
case("np.sum(e, 1)", "np.sum(e, axis=0)")
case("np.sum(e, 2)", "np.sum(e, axis=1)")
case("np.max(e)", "error")
case("np.max(e, 2)", "np.zeros(0)")
case("np.sum(s)")
case("np.any(b, 1)", "np.any(b, axis=0)")
case("np.all(b, 2)", "np.all(b, axis=1)")
case("np.array(np.any(b))", "np.array(np.any(b))")
case("np.array(np.all(f))", "np.array(np.all(f))")
case("np.array(np.count_nonzero(i), {dtype='int64'})", "np.array(np.count_nonzero(i))")
case("np.count_nonzero(b, 1)", "np.count_nonzero(b, axis=0)")
for name in ("argmin", "argmax"):
    for a in ("f", "i", "t", "u1", "f4"):
        case(f"np.{name}({a})", f"np.{name}({a}) + 1")
        case(f"np.{name}({a}, 1)", f"np.{name}({a}, axis=0) + 1")
        case(f"np.{name}({a}, {{axis = -1}})", f"np.{name}({a}, axis=-1) + 1")
    case(f"np.{name}(x)", f"np.{name}(x) + 1")
case("np.ptp(f, 1)", "np.ptp(f, axis=0)")
for order in ("", ", 1", ", 3", ", math.huge", ", 0"):
    py = order.replace("math.huge", "np.inf")
    case(f"np.norm(v{order})", f"np.linalg.norm(v{py})")
case("np.norm(f)", "np.linalg.norm(f)")
case("np.norm(f, {axis = 2})", "np.linalg.norm(f, axis=1)")
case("np.norm(z, 2, 1)", "np.linalg.norm(z, 2, axis=0)")
case("np.add.reduce(f)", "np.add.reduce(f)")
case("np.maximum.reduce(f, 2)", "np.maximum.reduce(f, axis=1)")
case("np.subtract.outer(h, v)", "np.subtract.outer(h, v)")

# ---- products ----------------------------------------------------------------------------------------------
case("h:dot(h)", "h.dot(h)")
case("f:dot(h)", "f.dot(h)")
case("h:dot(m)", "h.dot(m)")
case("f:dot(m)", "f.dot(m)")
case("m:dot(f)", "m.dot(f)")
case("m.T:dot(f.T)", "m.T.dot(f.T)")
case("f[':, ::2']:dot(m['::2, :'])", "f[:, ::2].dot(m[::2])")
case("i:dot(i.T)", "i.dot(i.T)")
case("b:dot(c.T)", "b.dot(c.T)")
case("f4:dot(f4.T)", "f4.dot(f4.T)")
case("i:dot(f.T)", "i.dot(f.T)")
case("z:dot(z.T)", "z.dot(z.T)")
case("w:dot(z.T)", "w.dot(z.T)")
case("t:dot(h)", "t.dot(h)")
case("t:dot(m)", "t.dot(m)")
case("f:dot(2)", "f.dot(2)")
case("np.matmul(t, m)", "np.matmul(t, m)")
case("np.matmul(t, t['1, :, :'].T)", "np.matmul(t, t[0].T)")
case("np.matmul(h, t.T['1:5, :, :'])", "np.matmul(h[:4], t)" if False else "np.matmul(h, t.T[:5])" if False else "error")
case("np.outer(h, v)")
case("np.inner(f, f)")
case("np.inner(h, h)")
case("np.vdot(z, z)")
case("np.trace(n)")
case("f:dot(f)", "error")
case("h:dot(v)", "error")
case("np.zeros(3, 0):dot(np.zeros(0, 2))", "np.zeros((3, 0)).dot(np.zeros((0, 2)))")

# ---- creation ----------------------------------------------------------------------------------------------
case("np.arange(7)")
case("np.arange(2, 9)")
case("np.arange(2, 9, 3)")
case("np.arange(9, 2, -3)")
case("np.arange(0, 1, 0.125)")
case("np.arange(5, {dtype = 'float32'})", "np.arange(5, dtype='float32')")
case("np.span(2, 6)", "np.arange(2, 7)")
case("np.linspace(0, 1, 11)")
case("np.linspace(-3, 5)")
case("np.linspace(0, 1, 4, {endpoint = false})", "np.linspace(0, 1, 4, endpoint=False)")
case("np.linspace(0, 1, 1)")
case("np.logspace(0, 2, 5)")
case("np.zeros(2, 3)", "np.zeros((2, 3))")
case("np.zeros({2, 3}, {dtype = 'int32'})", "np.zeros((2, 3), 'int32')")
case("np.ones({}, {dtype = 'bool'})", "np.ones((), 'bool')")
case("np.full({2, 2}, 7)", "np.full((2, 2), 7.0)")
case("np.full(3, 7, {dtype = 'int16'})", "np.full(3, 7, 'int16')")
case("np.full({2}, true)", "np.full(2, True)")
case("np.full_like(i, 3)", "np.full_like(i, 3)")
case("np.zeros_like(f4)")
case("np.ones_like(u1)")
case("np.eye(4)")
case("np.eye(3, 5, 1)", "np.eye(3, 5, 1)")
case("np.eye(4, 4, -2, {dtype = 'int8'})", "np.eye(4, 4, -2, dtype='int8')")
case("np.identity(3)")
case("np.diag(h)")
case("np.diag(h, 2)")
case("np.diag(h, -1)")
case("np.diag(n)")
case("np.diag(n, 1)")
case("np.diag(n.T, -2)")
case("np.diag(f, 2)")
case("np.tril(n)")
case("np.triu(n, 1)")
case("np.tril(t, -1)")
case("np.indices(2, 3)", "np.indices((2, 3))")
case("select(1, np.meshgrid(h, v))", "np.meshgrid(h, v)[0]")
case("select(2, np.meshgrid(h, v))", "np.meshgrid(h, v)[1]")
case("select(1, np.meshgrid(h, v, {indexing = 'ij'}))", "np.meshgrid(h, v, indexing='ij')[0]")
case("np.array{{1, 2}, {3, 4}}", "np.array([[1.0, 2], [3, 4]])")
case("np.array({1, 2, 3}, {dtype = 'int8'})", "np.array([1, 2, 3], 'int8')")
case("np.array{true, false}", "np.array([True, False])")
case("np.array{1LL, 2LL}", "np.array([1, 2])")
case("np.array{1, 2i}", "np.array([1, 2j])")
case("np.array{h, h}", "np.array([h, h])")
case("np.array({1, 0.5}, {dtype = 'float16'})", "np.array([1, 0.5], 'float16')")
case("np.array(3)", "np.array(3.0)")
case("np.array({{1, 2}, {3}})", "error")
case("np.array({1, {2}})", "error")
case("np.array({1.5}, {dtype = 'int32'})", "error")
case("np.array{'a'}", "error")
case("np.array({1}, {dtype = 'floaty'})", "error")
case("np.zeros(2, {dtipe = 'int8'})", "error")

# ---- views -------------------------------------------------------------------------------------------------
for lua, py in (("2", "1"), ("-1", "-1"), ("'2:3'", "1:3"), ("':'", ":"), ("'2:-2, :'", "1:-1, :"), ("':, 2:4'", ":, 1:4"),
                ("'::2, ::-1'", "::2, ::-1"), ("'-1, :'", "-1, :"), ("':, -2:-1'", ":, -2:"), ("'3:2, :'", "2:2, :"),
                ("'2:end, 1:end:2'", "1:, ::2"), ("'..., 1'", "..., 0"), ("'*, :, :'", "None, :, :"),
                ("':, *, 2'", ":, None, 1"), ("'4:2:-1, :'", "3:0:-1, :"), ("'::-2, 5:1:-2'", "::-2, 4::-2"),
                ("'2:99, :'", "1:99, :"), ("{2, 3}", "1, 2"), ("{{2, 3}, {}}", "1:3, :"), ("{{}, {1, -1, step = 2}}", ":, ::2"),
                ("{'2:3', -1}", "1:3, -1"), ("{'...', 2}", "..., 1"), ("{{-2, -1}, {2, 2}}", "-2:, 1:2"),
                ("{2, '*', {}}", "1, None, :"), ("{{4, 1, step = -1}, 1}", "::-1, 0")):
    case(f"f[{lua}]", f"f[{py}]")
case("t['2, :, 3']", "t[1, :, 2]")
case("t['..., 2:3']", "t[..., 1:3]")
case("t:sub(1, 2, 3, 4)", "t[0:2, 2:4]")
for lua, py in (("{{}, '*', {2, 3}, 1}", ":, None, 1:3, 0"), ("{'*', {}, {}, '*', {}}", "None, :, :, None, :"),
                ("{1, '*', 2, {1, 5, step = 2}, '*'}", "0, None, 1, ::2, None"), ("{1, 2, 3, '*'}", "0, 1, 2, None")):
    case(f"t[{lua}]", f"t[{py}]")
case("t:reshape(3, 2, 2, 5)[{-1, {}, 2, {2, 4}}]", "t.reshape(3, 2, 2, 5)[-1, :, 1, 1:4]")
case("t['::2, 2:3, :']['2, :, ::-1']", "t[::2, 1:3, :][1, :, ::-1]")
case("t.T['2, :, :'].T['3, ::-1']", "t.T[1].T[2, ::-1]")
for bad in ("f[0]", "f[5]", "f[-5]", "f['0:2, :']", "f['x']", "f.shap", "f[{1}]", "f[{1, 2, 3}]", "f[{nil, 2}]", "h[{2, 5}]",
            "f[{{1, 2, 3}, 1}]", "f[1.5]", "f['1, 2, 3']", "f['..., ...']", "f[{{1, 'a'}, 1}]", "f['1::0, :']", "f[f]",
            "t[{{}, {}, '*'}]", "t[{{}, {}, {}, {}}]", "t[{1, '*', 2, 6}]", "t[{'*', '*', '*', '*', {}, {}, {}}]",
            "f[{true, 1}]", "f[{1, 2, foo = 3}]", "f[{{1, 2, stp = 2}, 1}]", "f[nil]"):
    case(bad, "error")

case("np.where(b)[2]", "np.where(b)[1] + 1")
case("np.where(b, 1)", "error")
case("np.where()", "error")
case("(function() local l = {} for k, x in ipairs(f) do l[k] = x * k end return np.stack(l) end)()", "f * np.arange(1, 5)[:, None]")
case("(function() local l = {} for k, x in pairs(h) do l[k] = x + k end return np.stack(l) end)()", "h + np.arange(1, 6)")
case("(function() for x in f do end end)()", "error")
case("(function() for k, x in ipairs(s) do end end)()", "error")
# ---- complex numbers of Lua --------------------------------------------------------------------------------
for op in "+-*/^":
    py = {"^": "**"}.get(op, op)
    for a in ("f", "z", "w", "s", "sz", "j"):
        case(f"2i {op} {a}", f"2j {py} {a}")
        case(f"{a} {op} (1 - 2i)", f"{a} {py} (1 - 2j)")
    case(f"np.array((3 + 1i) {op} 2i)", f"np.array((3 + 1j) {py} 2j)")
    case(f"np.array((3 + 1i) {op} 2LL)", f"np.array((3 + 1j) {py} 2)")
case("np.exp(-1i * f)", "np.exp(-1j * f)")
case("np.array{1i == sz - 1 - 1i, sz == 1 + 2i, 1 + 2i == sz, 1i == nil, 1i == 'i'}", "np.array([True, True, True, False, False])")
case("2i + {}", "error")
case("2i ^ 'x'", "error")
# ---- gathering ---------------------------------------------------------------------------------------------
case("h[p]", "h[p - 1]")
# More positions than are looked up at once, of two axes, with and without dimensions before and behind.
LONG = ("(np.arange(1300) * 7 % 4 + 1)", "(np.arange(1300) * 11 % 5 + 1)")
LONG_PY = ("(np.arange(1300) * 7 % 4)", "(np.arange(1300) * 11 % 5)")
case("f[{%s, %s}]" % LONG, "f[%s, %s]" % LONG_PY)
case("f4[{%s:reshape(2, 650), %s:reshape(2, 650)}]" % LONG, "f4[%s.reshape(2, 650), %s.reshape(2, 650)]" % LONG_PY)
case("t[{{}, %s, %s}]" % LONG, "t[:, %s, %s]" % LONG_PY)
case("t.T[{%s[':, *'] + 1, %s['*, ::13'] - 1 + (%s['*, ::13']:eq(1)), {}}]" % (LONG[0], LONG[1], LONG[1]),
     "t.T[%s[:, None] + 1, np.maximum(%s[None, ::13] - 1, 0), :]" % LONG_PY)
SCALAR_POSITIONS = (("si", "si - 1"), ("si + 1", "si"), ("np.argmax(h)", "np.argmax(h)"), ("(si + 1):reshape(1)", "si.reshape(1)"))
for lua, py in SCALAR_POSITIONS:
    case(f"m[{lua}]", f"m[{py}]")
    case(f"f[{{{{}}, {lua}}}]", f"f[:, {py}]")
    case(f"v[{lua}]", f"v[{py}]")
case("h[q]", "h[q - 1]")
case("h[-p]", "h[-p]")
case("f[q]", "f[q - 1]")
case("f[{{}, p}]", "f[:, p - 1]")
case("f[{q, {2, 3}}]", "f[q - 1, 1:3]")
case("f[{q, q}]", "f[q - 1, q - 1]")
case("t[{1, {}, p}]", "t[0][:, p - 1]")
case("t[{{}, q, q}]", "t[:, q - 1, q - 1]")
case("t[{q % 3 + 1, {}, q}]", "t[(q - 1 + 1) % 3, :, q - 1]")
case("f[b]", "f[b]")
case("f[f:gt(0)]", "f[f > 0]")
case("t[{{}, b}]", "t[:, b]")
case("f[{b['1:4, 1'], {}}]", "f[b[:, 0]]")
case("f[{b['1:4, 1'], 2}]", "f[b[:, 0], 1]")
case("f[np.zeros(0, {dtype = 'int64'})]", "f[np.zeros(0, 'int64')]")
case("h[np.array({1, 9}, {dtype = 'int64'})]", "error")
case("h[np.array({0}, {dtype = 'int64'})]", "error")
case("f[h:gt(0)]", "error")
case("np.take(h, p)", "np.take(h, p - 1)")
case("np.take(f, p, 2)", "np.take(f, p - 1, axis=1)")
case("np.take(f, p - 1, {axis = 2, base = 0})", "np.take(f, p - 1, axis=1)")
case("np.nonzero(i)[1]", "np.nonzero(i)[0] + 1")
case("np.nonzero(i)[2]", "np.nonzero(i)[1] + 1")
case("f[np.nonzero(b)]", "f[np.nonzero(b)]")


def change(lua, numpy):
    """Statements on a copy `a`; the case's result is `a`."""
    CASES.append(("(function() " + lua + " return a end)()", numpy if numpy == "error" else "\n" + numpy))


# ---- writing -----------------------------------------------------------------------------------------------
change("local a = f:copy() a['2:3, :'] = 0", "a = f.copy(); a[1:3, :] = 0")
change("local a = f:copy() a[2] = h", "a = f.copy(); a[1] = h")
change("local a = f:copy() a[{2, 3}] = 7", "a = f.copy(); a[1, 2] = 7")
change("local a = f:copy() a[':'] = i", "a = f.copy(); a[:] = i")
change("local a = f:copy() a['2:, :'] = a[':-2, :']", "a = f.copy(); a[1:, :] = a[:-1, :].copy()")
change("local a = f:copy() a[':, ::-1'] = a", "a = f.copy(); a[:, ::-1] = a.copy()")
for name, py in (("iadd", "+="), ("isub", "-="), ("imul", "*="), ("idiv", "/=")):
    change(f"local a = z:copy() a:{name}(1 - 2i)", f"a = z.copy(); a {py} 1 - 2j")
    change(f"local a = z:copy() a:{name}(3LL)", f"a = z.copy(); a {py} 3")
    change(f"local a = f:copy() a:{name}(true)", f"a = f.copy(); a {py} True")
    change(f"local a = f:copy() a:{name}(1i)", "error")
    change(f"local a = f:copy() a:{name}({{1}})", "error")
change("local a = z:copy() a:at(b):imul(2i)", "a = z.copy(); a[b] *= 2j")
change("local a = f:copy() a[a:lt(0)] = 0", "a = f.copy(); a[a < 0] = 0")
change("local a = f:copy() a[b] = a[b] * 2", "a = f.copy(); a[b] = a[b] * 2")
change("local a = t:copy() a[np.array{true, false, true}] = 1", "a = t.copy(); a[np.array([True, False, True])] = 1")
change("local a = f:copy() a[{%s, %s}] = np.arange(1300)" % LONG,
       "a = f.copy()\nfor i, j, x in zip(%s, %s, range(1300)): a[i, j] = x" % LONG_PY)
change("local a = t:copy() np.add.at(a, {{}, %s, %s}, 1)" % LONG, "a = t.copy(); np.add.at(a, (slice(None), %s, %s), 1)" % LONG_PY)
for lua, py in SCALAR_POSITIONS:
    change(f"local a = m:copy() a[{lua}] = a[1] * 2", f"a = m.copy(); a[{py}] = a[0] * 2")
change("local a = h:copy() a[p] = np.arange(5)", "a = h.copy()\nfor k, v in zip(p - 1, range(5)): a[k] = v")
change("local a = f:copy() a[{{}, p}] = 5", "a = f.copy(); a[:, p - 1] = 5")
change("local a = i:copy() a[{q, q}] = 9", "a = i.copy(); a[q - 1, q - 1] = 9")
change("local a = h:copy() a:at(p):iadd(1)", "a = h.copy(); a[p - 1] += 1")
change("local a = h:copy() np.add.at(a, p, 1)", "a = h.copy(); np.add.at(a, p - 1, 1)")
change("local a = i:copy() np.maximum.at(a, b, 3)", "a = i.copy(); np.maximum.at(a, b, 3)")
change("local a = f:copy() a:at(b):imul(3)", "a = f.copy(); a[b] *= 3")
change("local a = f:copy() a:iadd(h)", "a = f.copy(); a += h")
change("local a = f:copy() a:isub(1):imul(2):idiv(3):ipow(2)", "a = f.copy(); a -= 1; a *= 2; a /= 3; a **= 2")
change("local a = f4:copy() a:iadd(f)", "a = f4.copy(); a += f")
change("local a = i:copy() a:iadd(2)", "a = i.copy(); a += 2")
change("local a = i:copy() a:iadd(0.5)", "error")
change("local a = i:copy() a:iadd(f)", "error")
change("local a = i:copy() a:idiv(2)", "error")
change("local a = h:copy() a:iadd(f)", "error")
change("local a = i:copy() a[1] = 0.5", "error")
change("local a = u1:copy() a[1] = 300", "error")
change("local a = u1:copy() a:iadd(300)", "error")
change("local a = f:copy() a[2] = v", "error")
change("local a = f:copy() f[p]:iadd(1)", "error")
change("local a = f:copy() a['2:3, :']:iadd(1)", "a = f.copy(); a[1:3, :] += 1")
change("local a = f:copy() a['2:, :']:iadd(a[':-2, :'])", "a = f.copy(); a[1:, :] += a[:-1, :].copy()")
change("local a = f:copy() local r = a[2] a[2] = 0 r:iadd(1)", "a = f.copy(); r = a[1]; a[1] = 0; r += 1")
change("local a = f:copy() local y = a.T y['1, :'] = 3", "a = f.copy(); y = a.T; y[0, :] = 3")
change("local a = f:copy() a:reshape(-1)['::2'] = 0", "a = f.copy(); a.reshape(-1)[::2] = 0")
change("local a = f:copy() a:fill(4)", "a = f.copy(); a.fill(4)")
change("local a = z:copy() a[1] = f[2]", "a = z.copy(); a[0] = f[1]")
change("local a = np.zeros(3, {dtype = 'bool'}) a[2] = 1", "a = np.zeros(3, bool); a[1] = 1")
change("local a = f:copy() a:host('rw', function(p, n, m) for k = 0, n * m - 1 do p[k] = p[k] * 2 end end)", "a = f * 2")
change("local a = f:copy() a.T:host('rw', function(p, n, m) for k = 0, m - 1 do p[k] = k end end)",
       "a = f.copy(); a[:, 0] = np.arange(4)")

# ---- shapes ------------------------------------------------------------------------------------------------
case("f:reshape(2, 10)", "f.reshape(2, 10)")
case("f:reshape({5, -1})", "f.reshape(5, -1)")
case("f.T:reshape(20)", "f.T.reshape(20)")
case("t:reshape(12, 5)", "t.reshape(12, 5)")
case("t['::2, :, :']:reshape(-1)", "t[::2].reshape(-1)")
case("f:reshape(3, 7)", "error")
case("f:ravel()", "f.ravel()")
case("f.T", "f.T")
case("t:transpose()", "t.transpose()")
case("t:transpose(2, 3, 1)", "t.transpose(1, 2, 0)")
case("np.swapaxes(t, 1, 3)", "np.swapaxes(t, 0, 2)")
case("np.moveaxis(t, 1, 3)", "np.moveaxis(t, 0, 2)")
case("np.squeeze(f['1:1, :'])", "np.squeeze(f[:1])")
case("np.expand_dims(f, 2)", "np.expand_dims(f, 1)")
case("np.expand_dims(f, -1)", "np.expand_dims(f, -1)")
case("np.broadcast_to(h, 3, 5)", "np.broadcast_to(h, (3, 5))")
case("np.broadcast_to(h, {5, 3})", "error")
case("np.flip(t)")
case("np.flip(t, 2)", "np.flip(t, 1)")
case("np.fliplr(f)")
case("np.concatenate({f, i})", "np.concatenate([f, i])")
case("np.concatenate({f, n['1:4, :']}, 2)", "np.concatenate([f, n[:4]], axis=1)")
case("np.concatenate({f, h})", "error")
case("np.stack({h, h})", "np.stack([h, h])")
case("np.stack({f, f, f}, 3)", "np.stack([f, f, f], axis=2)")
case("np.vstack({f, h})", "np.vstack([f, h])")
case("np.hstack({h, v})", "np.hstack([h, v])")
case("np.hstack({f, f})", "np.hstack([f, f])")
case("np.column_stack({h, h})", "np.column_stack([h, h])")
case("np.roll(v, 3)")
case("np.roll(f, -1, 2)", "np.roll(f, -1, axis=1)")
case("np.roll(f, 7)")
case("np.tile(h, 2)")
case("np.tile(f, {2, 1, 3})", "np.tile(f, (2, 1, 3))")
case("np.rep(h, 2)", "np.repeat(h, 2)")
case("np.rep(f, 3, 2)", "np.repeat(f, 3, axis=1)")
case("h + v", "error")
case("f + {1, 2}", "error")
case("f + 'a'", "error")
case("f:sum(0)", "error")
case("f:sum(3)", "error")
case("b - c", "error")
case("np.bitwise_and(f, f)", "error")
case("np.exp(nil)", "error")
case("np.exp(f, {oout = f})", "error")

# ---- fused functions ---------------------------------------------------------------------------------------
case("np.fuse(function(x, y) return x / (1 + np.exp(-y)) end)(f, g)", "f / (1 + np.exp(-g))")
case("np.fuse(function(x, y) return x * y + 2 end)(i, 3)", "i * 3 + 2")
case("np.fuse(function(x) return np.where(x:gt(0), x, 0.5 * x) end)(f4)", "np.where(f4 > 0, f4, np.float32(0.5) * f4)")
case("select(2, np.fuse(function(x, y) return x + y, x - y end)(f, h))", "f - h")
case("np.fuse(function(x) local s = 0 for k = 1, 5 do s = s + x^k end return s end)(g)", "sum(g**k for k in range(1, 6))")
case("np.fuse(function(x) return x + g end)(f)", "error")

LUA = r"""
local np = require "array"
local folder, total = arg[1], 0
if arg[2] then assert(loadstring(arg[2], "=prelude"))() end
for name in io.lines(folder .. "/inputs") do _G[name] = np.load(folder .. "/" .. name .. ".npy") end
for line in io.lines(folder .. "/cases") do
  total = total + 1
  local f, why = loadstring("local np = require 'array' local result = " .. line .. " return result", "=case")
  local ok, result
  if f then ok, result = pcall(f) else ok, result = false, why end
  if ok and type(result) ~= "cdata" and type(result) ~= "number" then ok, result = false, "no array but " .. type(result) end
  if ok then ok, result = pcall(np.save, folder .. "/" .. total .. ".npy", result) end
  if not ok then
    local out = io.open(folder .. "/" .. total .. ".error", "w")
    out:write(tostring(result))
    out:close()
  end
end
"""


TOLERANCE = {"float16": 4e-3, "float32": 2e-6, "float64": 1e-13}


def judge(wanted, got, tolerance):
    """What is wrong with `got`, or None."""
    wanted = np.asarray(wanted)
    if wanted.shape != got.shape:
        return f"shape {got.shape}, NumPy {wanted.shape}"
    if wanted.dtype != got.dtype:
        return f"dtype {got.dtype}, NumPy {wanted.dtype}"
    if wanted.dtype.kind in "biu":
        same = wanted == got
    else:
        part = wanted.real.dtype
        eps = tolerance[part.name]
        same = np.isclose(got, wanted, rtol=eps, atol=eps, equal_nan=True)
        if part == "float64" and wanted.dtype.kind == "f":
            same |= (np.abs(wanted) < 1e-300) & (np.abs(got) < 1e-300)
    if not same.all():
        same = np.asarray(same)
        at = tuple(int(k[0]) for k in np.nonzero(np.atleast_1d(~same)))[:same.ndim]
        return f"at {at}: {got[at]!r}, NumPy {wanted[at]!r}; {int((~same).sum())} of {same.size} differ"
    return None


def wanted_of(numpy):
    """What the NumPy side of a case comes to."""
    scope = {"np": np, **SCOPE, **INPUTS}
    if not numpy.startswith("\n"):
        return eval(numpy, scope)
    exec(numpy[1:], scope)
    return scope["a"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lgt", default=os.environ.get("LGT", "build/lgt"))
    parser.add_argument("--topic")
    parser.add_argument("-k", default="")
    parser.add_argument("--part", default="1/1", help="1/3: every third case, from the first on")
    parser.add_argument("options", nargs="*")
    args = parser.parse_args()
    if args.topic:
        CASES.clear()
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "topics", args.topic + ".py")
        spec = importlib.util.spec_from_file_location(args.topic, path)
        topic = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(topic)
        topic.add(case, change, INPUTS)
        SCOPE.update(vars(topic))
    part, parts = map(int, args.part.split("/"))
    cases = [c for c in CASES if args.k in c[0]][part - 1::parts]
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, value in INPUTS.items():
            np.save(f"{folder}/{name}.npy", value)
        with open(f"{folder}/inputs", "w") as f:
            f.write("".join(name + "\n" for name in INPUTS))
        with open(f"{folder}/cases", "w") as f:
            f.write("".join(lua + "\n" for lua, _ in cases))
        with open(f"{folder}/run.lua", "w") as f:
            f.write(LUA)
        run = subprocess.run([args.lgt, *args.options, f"{folder}/run.lua", folder, SCOPE.get("PRELUDE", "")])
        if run.returncode:
            print(f"FAIL oracle: lgt ended with status {run.returncode}")
            sys.exit(1)
        for n, (lua, numpy) in enumerate(cases, 1):
            why = None
            error = f"{folder}/{n}.error"
            message = open(error).read() if os.path.exists(error) else None
            if numpy == "error":
                if message is None:
                    why = f"no error but {np.load(f'{folder}/{n}.npy')!r}"
                elif "case:1:" not in message and "launched at case:1)" not in message:
                    why = f"the error does not name the script's line: {message}"
            elif message is not None:
                why = message
            else:
                try:
                    wanted = wanted_of(numpy)
                    why = judge(wanted, np.load(f"{folder}/{n}.npy"), SCOPE.get("TOLERANCE", TOLERANCE))
                except Exception as error:  # of the NumPy side, or an assertion about what lgt has done besides
                    why = f"NumPy's side: {error!r}: {numpy.strip()}"
            if why:
                bad += 1
                print(f"FAIL {lua}: {why}")
    print(f"{'FAIL' if bad else 'ok'} oracle: {len(cases) - bad} of {len(cases)} cases")
    sys.exit(1 if bad else 0)


main()
