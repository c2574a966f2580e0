"""Cases of lib/sparse: matrices of every format, beside SciPy's.

A case that says nothing of its own about Python is the same text with `:name(` as `.name(`.
"""
import re

import numpy as np
import scipy.sparse as sp

TOLERANCE = {"float16": 4e-3, "float32": 2e-6, "float64": 1e-13}
PRELUDE = """
sp = require "sparse"
csr, csc, coo, dia, bsr, ell = sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.dia_matrix, sp.bsr_matrix, sp.ell_matrix
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
    inputs["full"] = np.abs(rng.normal(size=(4, 5))) + 1
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
    # ---- every element type; empty rows, no entries, one row, one column
    for k, dtype in enumerate("bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()):
        name = f"d_{dtype}"
        inputs[name] = random(np.random.default_rng(k), 6, 8, 0.3, "float64" if dtype[0] in "bu" else dtype).__abs__().astype(dtype)
        inputs[name][[0, 3]] = 0
        for shape, part, py in (("all", "", ""), ("row", "['2, :']:reshape(1, 8)", "[1:2]"), ("column", "[':, 3']:reshape(6, 1)", "[:, 2:3]"),
                                ("none", "['1, :']:reshape(1, 8)", "[0:1]")):
            for f in ("csr", "csc", "coo", "dia", "bsr", "ell"):
                case(f"D({f}({name}{part}))", f"{name}{py}")
            case(f"csr({name}{part}):sum(2)", f"csr({name}{py}).sum(axis=1)" if dtype != "float16" else f"{name}{py}.sum(axis=1)")
            case(f"csr({name}{part}).T:tocsr():todense()", f"{name}{py}.T")
            case(f"D(csr({name}{part}) + csr({name}{part}))", f"{name}{py} + {name}{py}")
            case(f"D(csr({name}{part}):multiply(csr({name}{part})))", f"{name}{py} * {name}{py}")
            if dtype != "float16":
                case(f"D(csr({name}{part}):dot(csr({name}{part}).T))", f"{name}{py} @ {name}{py}.T")
    # ---- blocks, and rows of equal room
    sizes = {"a": "7, 3", "a4": "1, 9", "ac": "7, 9", "ac4": "1, 3", "ai": "7, 1", "ai4": "1, 1", "tall": "2, 3", "long": "3, 4", "one": "1, 2",
             "nothing": "2, 5", "band": "4, 2"}
    for a, n in every.items():
        for f in ("bsr", "ell"):
            for g in formats:
                case(f"D({f}({a}):to{g}())", a)
                case(f"D({g}({a}):to{f}())", a)
            x = "X9" if n == 9 else f"np.arange({2 * n}, {{dtype = 'float64'}}):reshape({n}, 2)"
            px = "X9" if n == 9 else f"np.arange({2 * n}.0).reshape({n}, 2)"
            case(f"{f}({a}):dot({x})", f"{a} @ {px}")
            case(f"{f}({a}):dot({x}[':, 2'])", f"{a} @ {px}[:, 1]")
            case(f"D({f}({a}).T)", f"{a}.T")
            case(f"{f}({a}):sum(1)", f"{a}.sum(axis=0)")
        case(f"D(bsr({a}, {{blocksize = {{{sizes[a]}}}}}))", a)
        case(f"bsr({a}, {{blocksize = {{{sizes[a]}}}}}):dot({x})", f"{a} @ {px}")
        case(f"bsr({a}, {{blocksize = {{{sizes[a]}}}}}).data", f"sp.bsr_array({a}, blocksize=({sizes[a]})).sorted_indices().data")
        case(f"bsr({a}, {{blocksize = {{{sizes[a]}}}}}).indices", f"sp.bsr_array({a}, blocksize=({sizes[a]})).sorted_indices().indices + 1")
        case(f"bsr({a}, {{blocksize = {{{sizes[a]}}}}}).indptr", f"sp.bsr_array({a}, blocksize=({sizes[a]})).indptr + 1")
        case(f"np.array(ell({a}).nnz)", f"np.array(float(np.count_nonzero({a})))")
    for f in ("bsr", "ell"):
        case(f"D({f}(a) + csc(b))", "a + b")
        case(f"D({f}(a):multiply({f}(b)))", "a * b")
        case(f"D({f}(a):dot({f}(q9)))", "a @ q9")
        case(f"D({f}(a) * 3 - {f}(ac):conj())", "a * 3 - ac.conj()")
        case(f"D({f}(a):abs():sqrt())", "np.sqrt(np.abs(a))")
        case(f"{f}(a)[{{4, -2}}]", "a[3, -2]")
        case(f"{f}(a):diagonal(2)", "np.diagonal(a, 2)")
        case(f"D({f}(a):astype('float32'))", "a.astype('float32')")
        case(f"(function() local A = {f}(a) A.data:imul(2) return A:dot(x9) end)()", "2 * a @ x9")
    case("ell(a):dot(x9 / 0)", "csr(a) @ (x9 / 0)") # what is beyond a row is not multiplied
    case("D(bsr({np.arange(12):reshape(3, 2, 2), np.array({1, 3, 2}, {dtype = 'int64'}), np.array({1, 3, 4}, {dtype = 'int64'})}, {shape = {4, 6}}))",
         "D(sp.bsr_array((np.arange(12).reshape(3, 2, 2), [0, 2, 1], [0, 2, 3]), shape=(4, 6)))")
    case("np.array(sp.kron(csr(q), np.ones(3, 3)):tobsr().blocksize)", "np.array([3.0, 3.0])")
    blocks = "{np.ones(2, 2, 2), np.array({1, 2}, {dtype = 'int64'}), np.array({1, 2, 3}, {dtype = 'int64'})}"
    for bad in ("bsr(np.eye(4), {blocksize = {2, 2}}):tobsr(2)", "bsr(np.eye(4), {blksize = {2, 2}})", "bsr(np.eye(4), true)",
                f"bsr({blocks}, {{blocksize = {{1, 1}}}})", f"bsr({blocks}, {{blocksize = 2}})"):
        case(bad, "error")
    # Rows that follow one another, each with the columns of the one before, moved on by one.
    for dtype in ("float64", "float32", "int64", "complex128", "complex64", "int8"):
        lua = f"(function() local l = sp.diags({{2, -1, -1}}, {{0, 1, -1}}, {{shape = {{60, 60}}}}) " \
            f"local A = sp.kronsum(l, l, 'csr'):astype('{dtype}') return %s end)()"
        python = "(lambda l: (lambda A: %s)(sp.kronsum(l, l, 'csr').astype(dtype)))" \
            "(sp.diags([2., -1, -1], [0, 1, -1], shape=(60, 60)))".replace("dtype", repr(dtype))
        case(lua % "A:dot(A):dot(A:dot(np.arange(3600) % 7):astype(A.dtype))", python % "A @ (A @ (A @ (np.arange(3600) % 7).astype(A.dtype)))")
        case(lua % "A:dot(A):sorted_indices().indices", python % "(A @ A).sorted_indices().indices + 1")
    for bad in ("csr(a):tobsr{2, 3}", "csr(a):tobsr(3)", "csr(a):tobsr{0, 3}", "bsr(a):dot(x8)", "ell(a):dot(x8)", "ell(a):dot('x')",
                "bsr({np.ones(3, 2, 2), np.array({1, 4, 2}, {dtype = 'int64'}), np.array({1, 3, 4}, {dtype = 'int64'})}, {shape = {4, 6}})",
                "bsr({np.ones(3, 2, 2), np.array({1, 3, 2}, {dtype = 'int64'}), np.array({1, 3, 4}, {dtype = 'int64'})}, {shape = {5, 6}})",
                "csr({np.ones(1000), {np.full(1000, 1, {dtype = 'int64'}), np.span(1, 1000)}}, {shape = {1000, 1000}}):toell()"):
        case(bad, "error")
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
    case("csr(a[{{}, {2, 2}}]):dot(np.array{2})", "2 * a[:, 1]")
    case("csr(a[{{}, {2, 2}}]):dot(np.full({1, 3}, 2))", "2 * a[:, [1, 1, 1]]")
    case("D(csr(a):dot(np.full({}, 2)))", "2 * a")
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
    # ---- arithmetic
    for f in formats:
        for x, y in (("a", "b"), ("a", "ac"), ("a4", "b"), ("ai", "a4"), ("ai4", "ai"), ("ac4", "ac")):
            for op in "+-":
                case(f"D({f}({x}) {op} {f}({y}))", f"{x} {op} {y}")
            case(f"D({f}({x}):multiply({f}({y})))", f"{x} * {y}")
            if "c" not in x + y:
                both(f"D({f}({x}):maximum({f}({y})))")
                both(f"D({f}({x}):minimum({f}({y})))")
        case(f"D({f}(a) * 3)", "a * 3")
        case(f"D(0.5 * {f}(a4))", "a4 * np.float32(0.5)")
        case(f"D({f}(ai) / 4)", "ai / 4")
        case(f"D(-{f}(ac))", "-ac")
        case(f"D({f}(a)^2)", "a**2")
        case(f"D({f}(a):power(3))", "a**3")
        case(f"{f}(a) + b", "a + b")
        case(f"{f}(a):subtract(b)", "a - b")
        for name in "sin tan sqrt expm1 sign abs floor rint arctan".split():
            case(f"D({f}(a):abs():{name}())", f"np.{name}(np.abs(a))")
        case(f"D({f}(ac):conj())", "ac.conj()")
        case(f"D({f}(ac):real())", "ac.real")
        case(f"D({f}(ac).H)", "ac.conj().T")
        case(f"D({f}(ac):abs())", "np.abs(ac)")
        case(f"D({f}(a):astype('float32'))", "a.astype('float32')")
        case(f"D({f}(a):multiply(X9[{{{{1, 7}}, 1}}]:reshape(7, 1)))", "a * X9[:7, :1]")
        case(f"D({f}(a):multiply(x9))", "a * x9")
        case(f"D({f}(a):multiply(b))", "a * b")
        case(f"D({f}(a) / x9)", "a / x9")
        for x in ("a", "ac4", "ai"):
            case(f"D(sp.sddmm({f}({x}), X9['2:8, :'], X9['::-1, ::-1']))", f"{x} * (X9[1:8] @ X9[::-1, ::-1].T)")
        case(f"D({f}(a):dot({f}(q9)))", "a @ q9")
        case(f"D({f}(ai):dot({f}(q9)))", "ai @ q9")
        case(f"D({f}(ac4):dot({f}(q9)))", "ac4 @ q9")
        case(f"D({f}(a).T:dot({f}(b)))", "a.T @ b")
        case(f"D({f}(tall):dot({f}(long)))", "tall @ long")
        case(f"D({f}(long):dot({f}(tall200)))", "long @ tall200")
        case(f"D({f}(nothing):dot({f}(nothing).T))", "nothing @ nothing.T")
        for op, py in (("ne", "!="), ("lt", "<"), ("gt", ">")):
            case(f"D({f}(a):{op}({f}(b)))", f"a {py} b")
            case(f"D({f}(ai):{op}(0))", f"ai {py} 0")
        case(f"np.array(({f}(a) - {f}(a)).nnz)", "np.array(0.0)")
    inputs["q9"] = random(rng, 9, 9, 0.4, "float64")
    inputs["tall200"] = random(rng, 200, 5, 0.5, "float64")
    case("D(csr{vv, {rr, cc}} + csr(a))", "a + D(csr((vv, (rr - 1, cc - 1)), shape=(7, 9)))")
    # ---- parts
    for f in ("csr", "csc", "coo", "dia"):
        for k in (0, 2, -3):
            case(f"D(sp.tril({f}(a), {k}))", f"np.tril(a, {k})")
            case(f"D(sp.triu({f}(a), {k}))", f"np.triu(a, {k})")
            case(f"{f}(a):diagonal({k})", f"np.diagonal(a, {k})")
            case(f"{f}(ac4):diagonal({k})", f"np.diagonal(ac4, {k})")
            case(f"{f}(a):trace({k})", f"np.trace(a, {k})")
        case(f"{f}(a):diagonal(9)", "np.zeros(0)")
        for lua, py in (("'2:5, :'", "1:5, :"), ("':, 3:8:2'", ":, 2:8:2"), ("'::-1, ::-2'", "::-1, ::-2"), ("'-2:-1, 2'", "-2:, 1:2"),
                        ("3", "2:3"), ("-1", "-1:"), ("{{2, 6, step = 2}, {4, 4}}", "1:6:2, 3:4"), ("{3, {}}", "2:3, :"),
                        ("{p, {}}", "p - 1"), ("{{}, p}", ":, p - 1"), ("p", "p - 1"), ("{p, {2, 3}}", "p - 1, 1:3"),
                        ("{x9[{{1, 7}}]:gt(0), {}}", "x9[:7] > 0"), ("'3:2, :'", "2:2, :"), ("'1:7, 9:9'", ":, 8:"), ("'2:-2, ...'", "1:-1"), ("'2:-2'", "1:-1")):
            case(f"D({f}(a)[{lua}])", f"a[{py}]")
        case(f"{f}(a)[{{p, {{}}}}]:todense()", "a[p - 1]")
        case(f"{f}(a)[{{p, p + 1}}]", "a[p - 1, p]")
        case(f"{f}(a)[{{4, -2}}]", "a[3, -2]")
        case(f"np.array({f}(a)(4, 2))", "np.array(a[3, 1])")
        case(f"D({f}(a):getrow(2))", "a[1:2]")
        case(f"D({f}(a):getcol(-1))", "a[:, -1:]")
        case(f"D({f}(a):setdiag(2))", "a * (1 - np.eye(7, 9)) + 2 * np.eye(7, 9)")
        case(f"D({f}(a):setdiag(x5, 4))", "a * (1 - np.eye(7, 9, 4)) + np.pad(np.diag(x5, 4), ((0, 2), (0, 0)))[:7, :9]")
        case(f"D({f}(a):reshape{{21, 3}})", "a.reshape(21, 3)")
        for x in ("a", "ai", "ac4", "ai4", "a4"):
            case(f"{f}({x}):sum()", f"{x}.sum()")
            case(f"{f}({x}):sum(1)", f"{x}.sum(axis=0)")
            case(f"{f}({x}):sum{{axis = 2}}", f"{x}.sum(axis=1)")
            case(f"{f}({x}):mean(1)", f"{x}.mean(axis=0)" if x != "a4" else "a4.mean(axis=0)")
            if "c" not in x:
                case(f"{f}({x}):max(2)", f"{x}.max(axis=1)")
                case(f"{f}({x}):min(1)", f"{x}.min(axis=0)")
                case(f"{f}({x}):min()", f"{x}.min()")
        case(f"{f}(long):max(2)", "long.max(axis=1)")
        for x in ("a", "ai4", "long", "nothing", "band", "-long", "full"):
            for name in ("argmax", "argmin"):
                case(f"{f}({x}):{name}(1)", f"({x}).{name}(axis=0) + 1")
                case(f"{f}({x}):{name}(2)", f"({x}).{name}(axis=1) + 1")
                case(f"{f}({x}):{name}()", f"({x}).{name}() + 1")
        case(f"{f}(nothing):max(1)", "nothing.max(axis=0)")
        case(f"{f}(a):nonzero()[1]", "a.nonzero()[0] + 1")
        case(f"{f}(a):nonzero()[2]", "a.nonzero()[1] + 1")
        case(f"select(3, sp.find({f}(a)))", "a[a.nonzero()]")
        for order, py in (("", ""), (", 1", ", 1"), (", math.huge", ", np.inf"), (", -1", ", -1"), (", 'fro'", "")):
            case(f"sp.norm({f}(ac){order})", f"np.linalg.norm(ac{py})")
        for order, py in (("nil", "None"), ("1", "1"), ("math.huge", "np.inf"), ("0", "0")):
            case(f"sp.norm({f}(a), {order}, 1):astype('float64')", f"np.linalg.norm(a, {py}, axis=0)")
    inputs["p"] = np.array([3, 1, 7, 1])
    case("D(csr({np.array{1, 0, 3}, {{1, 1, 2}, {2, 3, 1}}}, {shape = {2, 3}}):eliminate_zeros())", "np.array([[0, 1.0, 0], [3, 0, 0]])")
    # ---- of other matrices
    for f in formats:
        case(f"D(sp.kron({f}(a), {f}(b)))", "np.kron(a, b)")
        case(f"D(sp.kron({f}(ai), {f}(nothing)))", "np.kron(ai, nothing)")
        case(f"D(sp.kronsum({f}(q), {f}(q9)))", "np.kron(np.eye(9), q) + np.kron(q9, np.eye(8))")
        case(f"D(sp.hstack{{{f}(a), {f}(ac4)}})", "np.hstack([a, ac4])")
        case(f"D(sp.vstack({{{f}(a), {f}(b), {f}(a)}}, 'csr'))", "np.vstack([a, b, a])")
        case(f"D(sp.bmat{{{{{f}(a), false}}, {{false, {f}(one)}}}})", "np.block([[a, np.zeros((7, 6))], [np.zeros((1, 9)), one]])")
        case(f"D(sp.block_diag{{{f}(a), {f}(one), {f}(a)}})", "D(sp.block_diag([a, one, a]))")
    case("np.array(sp.random(50, 40, 0.1, {random_state = 3}).nnz)", "np.array(200.0)")
    case("np.array((sp.random(50, 40, 0.9):tocsr().nnz))", "np.array(1800.0)")
    # ---- values that the script changes: through A.data the matrix's, through the array it was made of not
    DOUBLE = "(function() local A = csr(a) %s A.data:imul(2) return %s end)()"
    for before in ("", "local T = A.T:tocsr()", "local C = A:tocoo()", "local y = A:dot(xc9)"):
        case(DOUBLE % (before, "D(A)"), "2 * a")
        case(DOUBLE % (before, "D(A.T:tocsr())"), "2 * a.T")
        case(DOUBLE % (before, "A:dot(xc9)"), "2 * a @ xc9")
    case(DOUBLE % ("local C = A:tocoo()", "D(C)"), "a")
    case(DOUBLE % ("local C = A:conj()", "D(C)"), "a")
    case("(function() local A = csr(a) local C = A:tocoo() C.data:imul(2) return D(A) end)()", "a")
    case("(function() local v = vv:copy() local A = csr{v, {rr, cc}} v:imul(2) return D(A) end)()", "D(csr((vv, (rr - 1, cc - 1))))")
    case("(function() local A = csr(a) local d = A.data local C = A:tocoo() d:imul(2) return D(C) end)()", "a")
    # ---- large enough to be cut among workers
    inputs["br"], inputs["bc"] = rng.integers(1, 3001, size=300000), rng.integers(1, 2001, size=300000)
    inputs["bv"], inputs["bx"] = rng.integers(-9, 10, size=300000).astype("float64"), rng.integers(-9, 10, size=2000).astype("float64")
    B, pyB = "csr({bv, {br, bc}}, {shape = {3000, 2000}})", "csr((bv, (br - 1, bc - 1)), shape=(3000, 2000))"
    for part in ("data", "indices", "indptr"):
        plus = "" if part == "data" else " + 1"
        case(f"{B}.{part}", f"{pyB}.{part}{plus}")
        case(f"{B}.T:tocsr().{part}", f"{pyB}.T.tocsr().{part}{plus}")
        case(f"({B} + {B}).{part}", f"({pyB} + {pyB}).{part}{plus}")
        case(f"{B}['100:2900:7, 3:1990'].{part}", f"{pyB}[99:2900:7, 2:1990].{part}{plus}")
        case(f"{B}:dot({B}.T:tocsr()[{{{{}}, {{1, 50}}}}]):eliminate_zeros():sorted_indices().{part}",
             f"(lambda p: (p.sort_indices(), p)[1])({pyB} @ {pyB}.T.tocsr()[:, :50]).{part}{plus}")
    case(f"{B}:dot(bx)", f"{pyB}.dot(bx)")
    case(f"{B}.T:tocsr():dot(np.ones(3000))", f"{pyB}.T.dot(np.ones(3000))")
    case(f"{B}:sum(1)", f"{pyB}.sum(axis=0)")
    case(f"D({B}):sum(2)", f"{pyB}.sum(axis=1)")
    # ---- comparisons with numbers and arrays; extrema; infinities and NaN; np's functions of matrices
    inputs["inf"], inputs["infb"] = np.where(inputs["a"] > 2, np.inf, inputs["a"]), np.where(inputs["a"] > 2, np.inf, inputs["b"])
    inputs["nan"] = np.where(inputs["a"] > 2, np.nan, inputs["a"])
    inputs["x7"], inputs["r"] = rng.normal(size=7), np.array([2, 4, 4, 9])
    for f in ("csr", "csc", "coo", "dia", "bsr", "ell"):
        for op, py in (("gt", ">"), ("ge", ">="), ("lt", "<"), ("le", "<="), ("eq", "=="), ("ne", "!=")):
            for x in ("0", "0.5", "-0.5"):
                case(f"D({f}(a):{op}({x}))", "error" if eval(f"0 {py} {x}") else f"a {py} {x}")
            case(f"{f}(a):{op}(b)", f"a {py} b")
            for x in ("inf", "nan"):
                case(f"D({f}({x}):{op}({f}(infb)))", f"{x} {py} infb" if op in ("gt", "lt", "ne") else "error")
        case(f"D({f}(inf):ne({f}(inf)))", "inf != inf")
        case(f"D({f}(ac):ne(0))", "ac != 0")
        case(f"D({f}(ac):eq(select(3, sp.find(csr(ac)))[1]))", "ac == ac[ac.nonzero()][0]")
        for name, x in (("maximum", "0"), ("maximum", "-0.5"), ("minimum", "0"), ("minimum", "2"), ("maximum", "b"), ("minimum", "b")):
            case(f"{f}(a):{name}({x})" if x == "b" else f"D({f}(a):{name}({x}))", f"np.{name}(a, {x})")
        case(f"D({f}(a):maximum(2))", "error")
        case(f"D({f}(a):sum_duplicates())", "a")
        case(f"{f}(a):getnnz(1)", "np.count_nonzero(a, axis=0)")
        case(f"{f}(a):getnnz{{axis = 2}}", "np.count_nonzero(a, axis=1)")
        case(f"D({f}(a):reshape(-1, 3))", "a.reshape(-1, 3)")
        case(f"D({f}(a)[np.ix_(p, r)])", "a[np.ix_(p - 1, r - 1)]")
        case(f"D({f}(a)[np.ix_(x7:gt(0), x9:gt(0))])", "a[np.ix_(x7 > 0, x9 > 0)]")
        case(f"{f}(a)[{{p:reshape(2, 2), r:reshape(2, 2)}}]", "a[p.reshape(2, 2) - 1, r.reshape(2, 2) - 1]")
        for x in ("ai4", "d_int8", "d_bool"):
            case(f"{f}({x})[{{4, -2}}]", f"{x}[3, -2]")
            case(f"{f}({x})[{{p['1:2'], p['1:2'] + 1}}]", f"{x}[p[:2] - 1, p[:2]]")
            case(f"D({f}({x}):conj())", x)
        case(f"D({f}(ac):setdiag(2i))", "np.where(np.eye(7, 9, dtype=bool), 2j, ac)")
        case(f"b - {f}(a)", "b - a")
        case(f"D(x9 * {f}(a))", "x9 * a")
        case(f"x7:dot({f}(a))", "x7 @ a")
        case(f"np.dot(X9['1:7, :'].T, {f}(a))", "X9[:7].T @ a")
        case(f"D(np.sqrt(np.abs({f}(a))))", "np.sqrt(np.abs(a))")
    T, pT = "coo({vv, {rr, cc}}, {shape = {7, 9}})", "D(coo((vv, (rr - 1, cc - 1)), shape=(7, 9)))"
    case(f"{T}:sum_duplicates().data", "csr((vv, (rr - 1, cc - 1)), shape=(7, 9)).data")
    case(f"D({T}:gt(0.3))", f"{pT} > 0.3")
    case("D(dia({{{1, 2, 3}, {4, 5, 6}}, {0, 1}}, {shape = {3, 3}}))", "D(dia((np.array([[1.0, 2, 3], [4, 5, 6]]), [0, 1]), shape=(3, 3)))")
    case("D(sp.diags({2i, 1}, {0, 1}, {shape = {3, 3}}))", "D(sp.diags([2j, 1], [0, 1], shape=(3, 3)))")
    case("D(sp.spdiags({{1, 2, 3, 4}, {5, 6, 7, 8}}, {0, 1}))", "D(sp.spdiags([[1.0, 2, 3, 4], [5, 6, 7, 8]], [0, 1]))")
    case("np.array(sp.random(300, 400, 1).nnz)", "np.array(120000.0)")
    case("sp.random(3, 4, {density = 0.5, data_rvs = np.ones}):sum()", "np.float64(6)")
    case("sp.random(3, 4, {density = 0.5, data_rvs = function() return np.ones(2) end})", "error")
    case("(function() local b = {} for i = 1, 400 do b[i] = {{i, 1}} end return sp.block_diag(b):tocsr():dot(np.ones(800)) end)()",
         "np.arange(2.0, 402)")
    # ---- np's functions of a matrix
    for name in ("sum", "mean", "max", "min"):
        for f in ("csr", "csc", "coo"):
            case(f"np.{name}({f}(a))", f"np.{name}(a)")
        case(f"np.{name}(csr(a), 1)", f"np.{name}(a, 0)")
        case(f"np.{name}(csr(a), {{axis = 2}})", f"np.{name}(a, 1)")
    for transposed in ("np.transpose(csr(a))", "np.transpose(csr(a), 2, 1)", "np.transpose(csr(a), {2, 1})"):
        case(f"D({transposed})", "a.T")
    for name in ("maximum", "minimum"):
        for pair in ("csr(a), 0", "0, csr(a)", "csr(a), csr(b)"):
            case(f"D(np.{name}({pair}))", f"np.{name}({pair.replace('csr', 'np.array')})")
        for pair in ("csr(a), b", "b, csr(a)"):
            case(f"np.{name}({pair})", f"np.{name}({pair.replace('csr', 'np.array')})")
    for name in ("less", "greater", "not_equal"):
        for pair in ("csr(a), csr(b)", "csr(a), 0", "0, csr(a)"):
            case(f"D(np.{name}({pair}))", f"np.{name}({pair.replace('csr', 'np.array')})")
    for name in ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"):
        for pair in ("csr(a), b", "b, csr(a)"):
            case(f"np.{name}({pair})", f"np.{name}({pair.replace('csr', 'np.array')})")
    case("np.matmul(X9.T, csr(a).T)", "X9.T @ a.T")
    case("np.matmul(csr(a), X9)", "a @ X9")
    # ---- what must be refused
    for bad in ("np.sum(csr(a), {keepdims = true})", "np.transpose(csr(a), 1, 2)", "np.maximum(csr(a), 1)",
                "np.less_equal(csr(a), 0)", "np.exp(csr(a))", "np.asarray(csr(a))", "np.cumsum(csr(a))",
                "b:copy():iadd(csr(a))"):
        case(bad, "error")
    for bad in ("(function() local A = csr(a) A[{1, 2}] = 3 return A(1, 2) end)()", "csr(a)(1, 2, 3)", "csr(a):getnnz(3)", "csr(ac):gt(csr(a))",
                "csr(ac):gt(1)", "csr(ac):maximum(0)", "sp.block_diag()", "sp.hstack{}", "sp.vstack(csr(a))", "csr(a):reshape(-1, -1)",
                "csr(a):reshape(5, -1)", "csr(a):setdiag(1, 9)", "csr(a):setdiag(1, 'x')", "csr(a):setdiag(1i)", "csr(a)[{p:reshape(2, 2), r}]"):
        case(bad, "error")
    for bad in ("csr(a):dot(x8)", "csr(a):dot(X8)", "csr(a):dot('x')", "csr(a).colour", "csr{vv, {rr, cc}}:asformat('lil')",
                "csr({vv, {rr, cc}}, {shape = {6, 9}})", "csr({vv, {rr - 1, cc}}, {shape = {7, 9}})", "csr({vv, {rr, cc['2:']}})",
                "csr({x5, np.array({1,2,3,4,5}, {dtype = 'int64'}), np.array({1, 3, 2, 6}, {dtype = 'int64'})}, {shape = {3, 6}})",
                "csr({x5, np.array({1,2,3,4,7}, {dtype = 'int64'}), np.array({1, 3, 4, 6}, {dtype = 'int64'})}, {shape = {3, 6}})",
                "csr({x5, np.array({1,2,3,4,5}, {dtype = 'int64'}), np.array({1, 3, 4, 7}, {dtype = 'int64'})}, {shape = {3, 6}})",
                "csr({x5, np.array({1,2,3,4,5}, {dtype = 'int64'}), np.array({1, 3, 6}, {dtype = 'int64'})}, {shape = {3, 6}})",
                "csr({vv, {rr * 0.5, cc}})", "csr(x5:reshape(5, 1, 1))", "csr(a, {shapes = 3})", "csr{-1, 4}", "csr(nil)",
                "sp.diags({{1, 2}, {3}}, {0, 0})", "sp.diags({{1, 2, 3}, {4, 5, 6}}, {0, 1})", "sp.diags({1, 2}, {0})",
                "sp.eye(3, 3, 'k')", "sp.eye(-1)", "csr(a) + csr(q)", "csr(a) + 1", "csr(a):multiply(x8)", "csr(a):dot(csr(b))", "csr(a):maximum(csr(ac))", "csr(a):le(csr(b))",
                "csr(a)[0]", "csr(a)[8]", "csr(a)[{1, 10}]", "csr(a)[{1, 2, 3}]", "csr(a)[{p + 1, {}}]", "csr(a)[{p, p + 3}]",
                "csr(a):sum(3)", "csr(a):sum(0)", "csr(a):setdiag(x5)", "csr(a):reshape{5, 5}", "csr(a):power(-1)", "1 / csr(a)", "csr(a) / csr(b)",
                "sp.hstack{csr(a), csr(q)}", "sp.bmat{{false, csr(a)}}", "sp.kron(1, csr(a))", "sp.kronsum(csr(a), csr(q))", "sp.random(5, 5, 2)",
                "csr(ac):max()", "csr(ac):argmax()", "csr{0, 4}:argmax()", "csr(a):argmin(3)", "sp.sddmm(csr(a), X9, X9)", "sp.sddmm(csr(q), X8, X8['1:8, 2:3'])", "sp.norm(csr(a), 3)", "dia({X3, {0, 1}}, {shape = {4, 4}})", "dia({X3, {0, 1, 1}}, {shape = {4, 4}})"):
        case(bad, "error")
