"""Cases of lib/solvers: solutions beside SciPy's, to the tolerance that both were asked for."""
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as so

TOLERANCE = {"float32": 2e-4, "float64": 1e-7}
PRELUDE = """
sp, so = require "sparse", require "solvers"
csr = sp.csr_matrix
function first(f, ...) local r = { f(...) } return r[1] end
"""
csr = sp.csr_matrix


def add(case, change, inputs):
    rng = np.random.default_rng(5)
    n = 40
    p = sp.diags([-1, -1, 4, -1, -1], [-6, -1, 0, 1, 6], shape=(n, n)).toarray()
    g = rng.normal(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.2) + 6 * np.eye(n)
    h = rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n))
    h = h + h.conj().T
    h = h * (np.abs(h) > 3)
    inputs.update(P=p, G=g, S=p - 4.3 * np.eye(n), H=h + 25 * np.eye(n), GC=g + 0.5j * np.triu(g, 1), P4=p.astype("float32"))
    inputs.update(b=rng.normal(size=n), bc=rng.normal(size=n) + 1j * rng.normal(size=n), b4=rng.normal(size=n).astype("float32"),
                  x0=rng.normal(size=n), zero=np.zeros(n))
    T, tpy = "{tol = 1e-10}", "tol=1e-10, atol=0"
    for f in ("cg", "cgs", "bicg", "bicgstab", "gmres", "minres"):
        for A, b in (("P", "b"), ("P", "x0"), ("H", "bc"), ("H", "b"), ("P4", "b4"), ("G", "b"), ("GC", "bc"), ("S", "b")):
            if (f in ("cg", "minres") and A[0] == "G") or (f == "minres" and A == "H") or (A == "S" and f != "minres"):
                continue
            lua, py = ("{tol = 1e-5}", "tol=1e-5") if A == "P4" else (T, tpy.replace(", atol=0", "") if f == "minres" else tpy)
            for wrap in ("csr(%s)", "%s"):
                case(f"first(so.{f}, {wrap % A}, {b}, nil, {lua})", f"np.linalg.solve({A}, {b})")
            case(f"np.array(select(2, so.{f}(csr({A}), {b}, nil, {lua})))", "np.array(0.0)")
        if f != "minres":
            case(f"first(so.{f}, csr(P), b, x0, {T})", "np.linalg.solve(P, b)")
            case(f"first(so.{f}, csr(P), b, {{x0 = x0, tol = 1e-10, M = sp.diags({{1 / csr(P):diagonal()}}, {{0}})}})", "np.linalg.solve(P, b)")
        case(f"first(so.{f}, csr(P), zero)", "zero")
        case(f"np.array(select(2, so.{f}(csr(P), b, nil, {{maxiter = 2}})))", "np.array(2.0)" if f != "gmres" else "np.array(0.0)")
        case(f"so.{f}(csr(P), b['2:'])", "error")
        case(f"so.{f}(csr(P)['2:, :'], b)", "error")
        case(f"so.{f}(csr(P), b, nil, {{tolerance = 3}})", "error")
        case(f"so.{f}(csr(P), b, nil, {{M = csr(P)['2:, 2:']}})", "error")
        case(f"so.{f}(7, b)", "error")
        case(f"first(so.{f}, so.LinearOperator({{40, 40}}, {{matvec = function(x) return P:dot(x) end, rmatvec = function(x) return P:dot(x) end}}), b, nil, {T})",
             "np.linalg.solve(P, b)")
        # a number that is none: the flag, not an endless loop
        case(f"np.array(select(2, so.{f}(csr(P), b / 0, nil, {{maxiter = 50}})))", "np.array(-1.0)")
    case("first(so.gmres, csr(G), b, nil, {tol = 1e-10, restart = 5})", "np.linalg.solve(G, b)")
    case("first(so.minres, csr(P), b, nil, {tol = 1e-10, shift = 0.7})", "np.linalg.solve(P - 0.7 * np.eye(40), b)")
    case("so.bicg(so.LinearOperator({40, 40}, function(x) return P:dot(x) end), b)", "error")
    case("np.array((function() local n = 0 so.cg(csr(P), b, nil, {tol = 1e-10, callback = function() n = n + 1 end}) return n end)())",
         "(lambda c: (so.cg(csr(P), b, tol=1e-10, callback=c), np.array(float(c.n)))[1])(type('C', (), {'n': 0, '__call__': lambda s, x: setattr(s, 'n', s.n + 1)})())")
