"""Cases of linalg.lua and einsum.lua: products of arrays."""
import numpy as np


def stacks(case, inputs):
    """Products of stacks: broadcasting, views, dtypes with and without BLAS."""
    rng = np.random.default_rng(31)
    whole = {"sa": (2, 3, 4, 5), "sb": (3, 5, 2), "sc": (2, 1, 5, 3), "sd": (6, 5)}
    for name, shape in whole.items():
        inputs[name] = rng.integers(-9, 9, shape)
    inputs["gr"] = rng.integers(-9, 9, (300, 41)) * 1.0  # of its own transpose half is computed
    for gram in ("gr", "gr.T", "gr['::2, ::-1']", "gr:astype('complex64')"):
        theirs = gram.replace("['", "[").replace("']", "]").replace(":astype", ".astype")
        case(f"np.dot({gram}, ({gram}).T)", f"np.dot({theirs}, ({theirs}).T)")
        case(f"(function(a) return a:dot(a.T) end)({gram})", f"np.dot({theirs}, ({theirs}).T)")
    for dtype in ("float64", "float32", "complex128", "complex64", "int64", "int8", "bool", "float16"):
        for a, b in (("sa", "sb"), ("sa", "sc"), ("sd", "sb"), ("sd", "sc"), ("sa", "sd.T"), ("sb", "np.swapaxes(sb, 2, 3)")):
            python = b.replace("2, 3", "1, 2")
            case(f"np.matmul({a}:astype('{dtype}'), ({b}):astype('{dtype}'))",
                 f"np.matmul({a}.astype('{dtype}'), ({python}).astype('{dtype}'))")
    case("np.matmul(sa, sb * 0.5)")
    # small ones, which BLAS does not see, and their neighbours
    inputs["se"] = rng.normal(size=(5, 8, 8))
    for n in range(1, 9):
        for dtype in ("float64", "float32"):
            a, py = f"se:astype('{dtype}')", f"se.astype('{dtype}')"
            case(f"np.matmul({a}[': , :, 1:{n}'], {a}[': , 1:{n}, ::-2'])", f"np.matmul({py}[:, :, :{n}], {py}[:, :{n}, ::-2])")
            case(f"np.matmul(np.swapaxes({a}[': , 1:{n}, 1:{n}'], 2, 3), {a}[': , 1:{n}, :'])",
                 f"np.matmul(np.swapaxes({py}[:, :{n}, :{n}], 1, 2), {py}[:, :{n}])")
    case("np.matmul((sa * 0.5)[':, :, ::-1, ::2'], np.swapaxes(sc * 1.5, 3, 4)[':, :, :, ::2'])",
         "np.matmul((sa * 0.5)[:, :, ::-1, ::2], np.swapaxes(sc * 1.5, 2, 3)[:, :, :, ::2])")
    case("np.matmul(sa[':, :, :, 1:0'] * 1.5, sb[':, 1:0, :'])", "np.matmul(sa[:, :, :, :0] * 1.5, sb[:, :0, :])")
    case("np.matmul(sa['1:0, :, :, :'] * 1.5, sb)", "np.matmul(sa[:0] * 1.5, sb)")
    case("np.matmul(h, np.swapaxes(t, 2, 3))", "np.matmul(h, np.swapaxes(t, 1, 2))")
    case("np.matmul(t, h)")
    case("np.matmul(sa, sa)", "error")
    case("np.matmul(sb, t)", "error")


def pairs(case, inputs):
    """What is not left to BLAS as it is: a matrix and its own transpose, in several pieces, and products with a column."""
    rng = np.random.default_rng(32)
    inputs["tall"], inputs["column"] = rng.integers(-9, 9, (200, 7)), rng.integers(-9, 9, (7, 3))
    for dtype in ("float64", "float32", "complex128", "complex64", "int64"):
        for lua, python in (("x:dot(x.T)", "x @ x.T"), ("x.T:dot(x)", "x.T @ x"), ("x['::-1, :']:dot(x.T)", "x[::-1] @ x.T"),
                            ("x['::2, 2:5']:dot(x['::2, 2:5'].T)", "x[::2, 1:5] @ x[::2, 1:5].T"),
                            ("x:dot(c[':, 2:2'])", "x @ c[:, 1:2]"), ("np.matmul(x[':0, :'], c[':, 1:1'])", "x[:0] @ c[:, :1]")):
            case(f"(function(x, c) return {lua} end)(tall:astype('{dtype}'), column:astype('{dtype}'))",
                 f"(lambda x, c: {python})(tall.astype('{dtype}'), column.astype('{dtype}'))")
    case("(tall * 1i):dot(column[':, 2:2'])", "(tall * 1j) @ column[:, 1:2]")


def outputs(case, inputs):
    """out=, and options that are unknown."""
    inputs["sp"] = np.array([1.0, np.nan, np.inf, -np.inf, 0.0])
    for call in ("np.dot(f, x, {out = o})", "np.matmul(f, x, {out = o})", "f:dot(x, {out = o})"):
        case(f"(function(x) local o = np.zeros(4, 3) {call} return o end)(np.ones(5, 3) * 2)", "f @ (np.ones((5, 3)) * 2)")
    case("(function() local o = np.zeros(4) np.dot(f, h, {out = o}) return o end)()", "np.dot(f, h)")
    case("(function() local o = np.ones(5, 5) np.matmul(n, o, {out = o}) return o end)()", "n @ np.ones((5, 5))")
    case("(function() local o = np.zeros(5, 5) np.outer(h, h, {out = o}) return o end)()", "np.outer(h, h)")
    case("np.tensordot(f, f.T, {axes = 1})", "np.tensordot(f, f.T, axes=1)")
    case("np.transpose(t, {axes = {3, 1, 2}})", "np.transpose(t, axes=(2, 0, 1))")
    case("np.linalg.pinv(f, {rcond = 0.5})", "np.linalg.pinv(f, rcond=0.5)")
    case("np.linalg.matrix_rank(n, {tol = 0.5})", "np.linalg.matrix_rank(n, tol=0.5)")
    case("(np.linalg.lstsq(f.T, h, {rcond = 0.5}))", "np.linalg.lstsq(f.T, h, rcond=0.5)[0]")
    case("np.array(np.array_equal(0 / f * 0 + 0 / 0, f * (0 / 0), {equal_nan = true}))", "np.array(True)")
    case("np.array(np.array_equal(f * (0 / 0), f, {equal_nan = true}))", "np.array(False)")
    case("np.array(np.array_equal(f * (0 / 0), f * (0 / 0)))", "np.array(False)")
    case("np.isclose(sp, sp, {equal_nan = true})", "np.isclose(sp, sp, equal_nan=True)")
    case("np.array(np.allclose(sp, sp, {equal_nan = true}))", "np.array(True)")
    case("np.tril(f, {k = 1})", "np.tril(f, k=1)")
    case("np.take(h, {0, 1, 4, 5, 9, -1}, {mode = 'wrap'})", "np.take(h, np.array([0, 1, 4, 5, 9, -1]) - 1, mode='wrap')")
    case("np.take(h, {0, 1, 4, 5, 9, -1}, {mode = 'clip'})", "np.take(h, np.array([0, 1, 4, 5, 9, -1]) - 1, mode='clip')")
    case("np.take(h, {0, 1, 4, 5, 9, -7}, {mode = 'wrap', base = 0})", "np.take(h, [0, 1, 4, 5, 9, -7], mode='wrap')")
    case("np.take(h, {0, 1, 4, 5, 9, -7}, {mode = 'clip', base = 0})", "np.take(h, [0, 1, 4, 5, 9, -7], mode='clip')")
    case("np.take(f, 8, 2, {mode = 'wrap'})", "np.take(f, 7, 1, mode='wrap')")
    case("np.take(f, {{2, 1}, {1, 5}}, 1, {mode = 'clip'})", "np.take(f, [[1, 0], [0, 4]], 0, mode='clip')")
    case("(function() local o = np.zeros(2); np.take(h, {2, 4}, {out = o}); return o end)()", "np.take(h, [1, 3])")
    case("(function() local o = f * 0; np.round(f * 3, 1, {out = o}); return o end)()", "np.round(f * 3, 1)")
    case("(function() local o = f * 1; return np.round(o * 3, {out = o, decimals = -1}) + o end)()", "np.round(f * 3, -1) * 2")
    case("np.sort(f, 1, 'stable')", "np.sort(f, 0, 'stable')")
    case("np.sort(f, {axis = 1, kind = 'heapsort'})", "np.sort(f, axis=0, kind='heapsort')")
    case("np.argsort(f, 2, {kind = 'mergesort'})", "np.argsort(f, 1, kind='mergesort') + 1")
    case("np.ravel(t, 'F')", "np.ravel(t, 'F')")
    case("t:ravel({order = 'C'})", "np.ravel(t)")
    case("f:flatten('F')", "f.flatten('F')")
    case("np.fft.fftshift(f, {axes = 1})", "np.fft.fftshift(f, axes=0)")
    case("np.fft.fftfreq(5, {d = 2})", "np.fft.fftfreq(5, d=2)")
    case("np.rot90(f, {k = 3, axes = {2, 1}})", "np.rot90(f, k=3, axes=(1, 0))")
    case("np.vander(h, {N = 2, increasing = true})", "np.vander(h, N=2, increasing=True)")
    case("np.polyint(h, {m = 2, k = {1, 2}})", "np.polyint(h, m=2, k=[1, 2])")
    case("np.expand_dims(f, {axis = 1})", "np.expand_dims(f, axis=0)")
    case("(function() local o = np.zeros(4, 4); np.linalg.multi_dot({np.ones(4, 3), np.ones(3, 2), np.ones(2, 4)}, {out = o}); return o end)()",
         "np.linalg.multi_dot([np.ones((4, 3)), np.ones((3, 2)), np.ones((2, 4))])")
    for bad in ("np.transpose(t, {foo = 1})", "np.tensordot(f, f.T, {foo = 1})", "np.array_equal(f, f, {foo = 1})",
                "np.linalg.cholesky(np.eye(2), {upper = true})", "np.copy(f, {dtype = 'int8'})", "f:copy({foo = 1})",
                "np.take(f, {1, 2}, 1, {mode = 'no'})", "np.take(f, {1}, 1, {foo = 1})", "np.take(f, 1, {out = np.zeros(2)})",
                "np.take(f, 999, {mode = 'raise'})", "np.round(f, 1, {out = np.zeros(1)})", "np.round(f, 1, {foo = 1})",
                "np.round(f, 1, {out = np.zeros_like(f, {dtype = 'int64'})})", "np.sort(f, 1, 'no')", "np.sort(f, {order = 1})",
                "np.ravel(f, 'A')", "np.sum(f, {out = np.zeros({}, {dtype = 'int64'})})", "np.vstack({f, f}, {dtype = 'int8'})",
                "np.hstack({f, f}, {foo = 1})", "np.linalg.pinv(f, {foo = 1})"):
        case(bad, "error")
    for bad in ("np.dot(f, h, {out = np.zeros(3)})", "np.dot(f, h, {foo = 1})", "np.dot(f, h, np.zeros(4))",
                "np.matmul(f, h, {out = 3})", "np.matmul(f, h, {foo = 1})", "np.inner(h, h, {out = np.zeros()})",
                "np.vdot(h, h, {foo = 1})", "np.outer(h, h, {foo = 1})"):
        case(bad, "error")


def add(case, change, inputs):
    outputs(case, inputs)
    stacks(case, inputs)
    pairs(case, inputs)
    inputs["a3"] = np.random.default_rng(3).normal(size=(4, 5, 3))
    inputs["v3"] = np.random.default_rng(4).normal(size=(4, 3))
    inputs["v2"] = np.random.default_rng(5).normal(size=(4, 2))
    for sub in ("ij,jk->ik", "ij,jk", "ij,jk->ki", "ij,jk->", "ij,jk->j", "ij,jk->ijk", "ij,jk->i", "...j,j...->..."):
        for pair in (("f", "m"), ("f4", "m"), ("i", "i4.T"), ("z", "m"), ("b", "c.T"), ("i1", "i1.T")):
            case(f"np.einsum('{sub}', {pair[0]}, {pair[1]})", f"np.einsum('{sub}', {pair[0]}, {pair[1]})")
    for sub in ("ii", "ii->i", "ij->ji", "ij->j", "ij->", "ji", "ij", "..., ", "i...->...", "...ii->...i"):
        if "," not in sub:
            case(f"np.einsum('{sub}', n)", f"np.einsum('{sub}', n)")
    for sub in ("ijk->kji", "ijk->ik", "...k->...", "k...->...", "ijk->", "ijk"):
        case(f"np.einsum('{sub}', t)", f"np.einsum('{sub}', t)")
        case(f"np.einsum('{sub}', t['::2, ::-1, :'])", f"np.einsum('{sub}', t[::2, ::-1])")
    case("np.einsum('bij,bjk->bik', t, a3['1:3, :, :'])", "np.einsum('bij,bjk->bik', t, a3[:3])")
    case("np.einsum('bij,bj->bi', t, np.ones(3, 5))", "np.einsum('bij,bj->bi', t, np.ones((3, 5)))")
    case("np.einsum('bij,jk->bik', t, m)", "np.einsum('bij,jk->bik', t, m)")
    case("np.einsum('ij,ij->i', f, f)", "np.einsum('ij,ij->i', f, f)")
    case("np.einsum('i,i', h, h)", "np.einsum('i,i', h, h)")
    case("np.einsum('i,j->ij', h, v)", "np.einsum('i,j->ij', h, v)")
    case("np.einsum('i,j', h, v)", "np.einsum('i,j', h, v)")
    case("np.einsum('ij,jk,kl->il', f, m, f)", "np.einsum('ij,jk,kl->il', f, m, f)")
    case("np.einsum('ij,jk,kl->il', f, m, f, {optimize = false})", "np.einsum('ij,jk,kl->il', f, m, f)")
    case("np.einsum('ij,jk,kl->il', f, m, f, {optimize = {{2, 3}, {1, 2}}})", "np.einsum('ij,jk,kl->il', f, m, f)")
    case("np.einsum('ea,fb,abcd,gc,hd->efgh', n, n, np.ones(5, 5, 5, 5) + np.arange(5), n, n)",
         "np.einsum('ea,fb,abcd,gc,hd->efgh', n, n, np.ones((5, 5, 5, 5)) + np.arange(5), n, n)")
    case("np.einsum('ijk,ilm,njm,nlk,abc->', t, t, t, t, t)", "np.einsum('ijk,ilm,njm,nlk,abc->', t, t, t, t, t, optimize=True)")
    case("np.einsum('ij,kj->ik', f, h:reshape(1, 5))", "np.einsum('ij,kj->ik', f, h.reshape(1, 5))")
    case("np.einsum('ij,ij->ij', f, h:reshape(1, 5))", "np.einsum('ij,ij->ij', f, h.reshape(1, 5))")
    case("np.einsum('...i,...i', f, h)", "np.einsum('...i,...i', f, h)")
    case("np.einsum('i...,i...->...', f, v3)", "error")
    case("np.einsum(',ij', 3, f)", "np.einsum(',ij', 3.0, f)")
    case("np.einsum('ij,ij->', e, e)", "np.einsum('ij,ij->', e, e)")
    case("np.einsum('ij,kj->ik', e, e)", "np.einsum('ij,kj->ik', e, e)")
    case("np.array(np.einsum_path('ij,jk,kl->il', np.ones(2, 9), np.ones(9, 9), np.ones(9, 3))[1], {dtype = 'int64'})",
         "np.array(np.einsum_path('ij,jk,kl->il', np.ones((2, 9)), np.ones((9, 9)), np.ones((9, 3)), optimize='greedy')[0][1]) + 1")
    for bad in ("np.einsum('ij,jk', f, f)", "np.einsum('ij', f, f)", "np.einsum('ijk', f)", "np.einsum('ij->ik', f)",
                "np.einsum('ij->ii', f)", "np.einsum('i1', f)", "np.einsum('ii', f)", "np.einsum(f, 'ij')", "np.einsum('ij')",
                "np.einsum('...->', f)", "np.einsum('ij', f, {optimise = true})", "np.einsum('ij,jk', f, m, {optimize = {{1, 1}}})"):
        case(bad, "error")
    # ---- tensordot, kron, cross
    case("np.tensordot(t, m, 1)", "np.tensordot(t, m, 1)")
    case("np.tensordot(t, t['1, :, :'])", "np.tensordot(t, t[0])")
    case("np.tensordot(f, h, 0)", "np.tensordot(f, h, 0)")
    case("np.tensordot(t, t, {{1, 3}, {1, 3}})", "np.tensordot(t, t, ((0, 2), (0, 2)))")
    case("np.tensordot(t, f, {{3, 2}, {2, 1}})", "np.tensordot(t, f, ((2, 1), (1, 0)))")
    case("np.tensordot(i, j, {2, -1})", "np.tensordot(i, j, (1, -1))")
    case("np.tensordot(f, m, 2)", "error")
    case("np.tensordot(f, m, 3)", "error")
    case("np.tensordot(f, m, {{1, 2}, {1}})", "error")
    for pair in (("h", "v"), ("f", "n"), ("i", "h"), ("h", "t"), ("z", "f"), ("f", "e"), ("b", "i")):
        case(f"np.kron({pair[0]}, {pair[1]})", f"np.kron({pair[0]}, {pair[1]})")
    for pair in (("v3", "v3[2]"), ("v3", "v3 * 2 + 1"), ("v2", "v3"), ("v3", "v2"), ("v2", "v2[1]"), ("v3[1]", "v3")):
        py = [p.replace("[2]", "[1]") if "[2]" in p else p.replace("[1]", "[0]") for p in pair]
        case(f"np.cross({pair[0]}, {pair[1]})", f"np.cross({py[0]}, {py[1]})")
    case("np.cross(v3.T, v3.T, {axis = 1})", "np.cross(v3.T, v3.T, axis=0)")
    case("np.cross(v3.T, v3 + 1, {axisa = 1, axisc = 1})", "np.cross(v3.T, v3 + 1, axisa=0, axisc=0)")
    case("np.cross(f, f)", "error")
    case("np.cross(v3, v3, {axes = 1})", "error")
    for a in ("f", "i", "t", "z", "f4"):
        case(f"np.inner({a}, {a})", f"np.inner({a}, {a})")
        case(f"np.outer({a}, {a})", f"np.outer({a}, {a})")
        case(f"np.vdot({a}, {a})", f"np.vdot({a}, {a})")
        case(f"np.matmul({a}, np.swapaxes({a}, -1, -2))", f"np.matmul({a}, np.swapaxes({a}, -1, -2))")
