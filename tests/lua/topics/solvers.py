"""Cases of lib/solvers: solutions beside SciPy's, to the tolerance that both were asked for."""
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as so
from scipy.integrate import solve_ivp

TOLERANCE = {"float32": 2e-4, "float64": 1e-7}
PRELUDE = """
sp, so = require "sparse", require "solvers"
csr = sp.csr_matrix
EVENTS = { function(_, y) return y(2) end, { function(_, y) return y[1] end, terminal = true, direction = -1 } }
function STEPS(o)
  local n = 0
  o.callback = function() n = n + 1 end
  so.cg(csr(P), b, nil, o)
  return n
end
function first(f, ...) local r = { f(...) } return r[1] end
function L(a) return so.aslinearoperator(csr(a)) end
function DECAY(t, y) return -0.5 * y end
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
    # ---- operators from operators; what their functions give is looked at
    inputs["Xn"] = rng.normal(size=(n, 3))
    for A, B in (("G", "P"), ("GC", "P")):
        for lua, py in ((f"(L({A}) * L({B}))", f"({A} @ {B})"), (f"L({A}):dot(L({B}))", f"({A} @ {B})"), (f"(2i * L({A}))", f"(2j * {A})"),
                        (f"(L({A}) * 3)", f"(3 * {A})"), (f"(-L({A}))", f"(-{A})"), (f"(L({A}) - 3 * L({A}))", f"(-2 * {A})"),
                        (f"(L({A}) / 4 + L({B}))", f"({A} / 4 + {B})"), (f"(L({A}) ^ 3)", f"np.linalg.matrix_power({A}, 3)")):
            case(f"{lua}:matvec(b)", f"{py} @ b")
            case(f"{lua} * b:reshape(40, 1)", f"({py} @ b)[:, None]")
            case(f"{lua}:dot(Xn)", f"{py} @ Xn")
            case(f"{lua}:rmatvec(bc)", f"{py}.conj().T @ bc")
            case(f"{lua}:rmatmat(Xn)", f"{py}.conj().T @ Xn")
            case(f"{lua}.H:matvec(bc)", f"{py}.conj().T @ bc")
            case(f"{lua}.T:matvec(bc)", f"{py}.T @ bc")
            case(f"{lua}:transpose():adjoint():matmat(Xn)", f"{py}.conj() @ Xn")
    case("so.LinearOperator({40, 40}, {matvec = function(v) return P:dot(v) end, matmat = function(v) return 2 * P:dot(v) end}):matmat(Xn)", "2 * P @ Xn")
    for bad in ("L(P) * so.aslinearoperator(csr(P)['2:, :'])", "L(P) + so.aslinearoperator(csr(P)['2:, :'])", "L(P) + 3", "L(P) ^ 0.5", "L(P):dot('x')",
                "so.LinearOperator({40, 40})", "so.LinearOperator({40, 40}, {matvec = 3})", "so.LinearOperator({40, 40}, {matvec = DECAY, dtype = 'foo'})",
                "so.LinearOperator({40, 40}, function(v) return v['2:'] end):matvec(b)", "L(P):matvec(b['2:'])", "L(P):matmat(b)",
                "so.cg(so.LinearOperator({40, 40}, function(v) return v['2:'] end), b)", "so.cg(L(P), b, {M = so.LinearOperator({40, 40}, function() end)})"):
        case(bad, "error")
    # ---- other names, zeros, NaN, what makes no sense
    for f in ("cg", "cgs", "bicg", "bicgstab", "gmres", "minres"):
        case(f"first(so.{f}, csr(P), b, nil, {{rtol = 1e-10}})", "np.linalg.solve(P, b)")
        case(f"first(so.{f}, csr(P), zero, x0)", "zero")
        case(f"np.array(select(2, so.{f}(csr(P), zero, x0)))", "np.array(0.0)")
        case(f"np.array((select(2, so.{f}(csr(P) * (0 / 0), b))))", "np.array(-1.0)")
        case(f"first(so.{f}, csr(H), bc, nil, {{tol = 1e-10}})", "np.linalg.solve(H, bc)")
        for bad in ("tol = -1", "rtol = 'x'", "atol = {1}", "callback = 3"):
            case(f"so.{f}(csr(P), b, nil, {{{bad}}})", "error")
    for o in ("restart = 0", "restart = 2.5", "callback_type = 'foo'"):
        case(f"so.gmres(csr(G), b, nil, {{{o}}})", "error")
    for m in ("ilu0(csr(GC))", "ssor_preconditioner(csr(GC), 1.2)", "ilu0(csr(GC), {blocks = 3})"):
        case(f"first(so.bicg, csr(GC), bc, nil, {{tol = 1e-10, M = so.{m}}})", "np.linalg.solve(GC, bc)")
        case(f"np.vdot(so.{m}:matvec(bc), b) - np.vdot(bc, so.{m}:rmatvec(b))", "np.complex128(0)")
    # ---- least squares
    rect = rng.normal(size=(30, 12)) * (rng.uniform(size=(30, 12)) < 0.4) + np.eye(30, 12)
    inputs.update(R=rect, br=rng.normal(size=30), xr=rng.normal(size=12), RC=rect + 1j * np.roll(rect, 1, 0))
    for f in ("lsqr", "lsmr"):
        for A, b in (("R", "br"), ("P", "b"), ("G", "b")):
            for o, py in (("", ""), (", damp = 0.5", ", damp=0.5")):
                call, pycall = f"so.{f}(csr({A}), {b}, {{atol = 1e-12, btol = 1e-12{o}}})", f"so.{f}({A}, {b}, atol=1e-12, btol=1e-12{py})"
                case(f"(({call}))", f"{pycall}[0]")
                for k in (3, 4, 5) if A == "R" else ():
                    case(f"np.array((select({k + 1}, {call})))", f"np.array({pycall}[{k}])")
        case(f"(so.{f}(csr(R), br, {{x0 = xr, atol = 1e-12, btol = 1e-12}}))", "np.linalg.lstsq(R, br, rcond=None)[0]")
        case(f"(so.{f}(csr(RC), br, {{atol = 1e-12, btol = 1e-12}}))", "np.linalg.lstsq(RC, br + 0j, rcond=None)[0]")
        case(f"np.array((select(2, so.{f}(csr(R), br))))", f"np.array(float(so.{f}(R, br)[1]))")
        case(f"np.array((select(3, so.{f}(csr(R), br))))", f"np.array(float(so.{f}(R, br)[2]))")
        case(f"(so.{f}(csr(P), zero))", "zero")
        case(f"so.{f}(csr(R), b)", "error")
    case("select(10, so.lsqr(csr(R), br, {calc_var = true}))", "so.lsqr(R, br, calc_var=True)[9]")
    for f, limit in (("lsqr", "iter_lim"), ("lsmr", "maxiter")):
        case(f"first(so.{f}, csr(R), br, {{{limit} = 0}})", "np.zeros(12)")
        case(f"np.array((select(2, so.{f}(csr(R), br, {{{limit} = 2}}))))", "np.array(7.0)")
        for v in ("br * (0 / 0)", "br / 0", "np.zeros(30) / 0"):
            case(f"np.array((select(2, so.{f}(csr(R), {v}))))", "np.array(-1.0)")
        for bad in ("damp = 'x'", "atol = 'x'", f"{limit} = 2.5"):
            case(f"so.{f}(csr(R), br, {{{bad}}})", "error")
    # ---- eigenvalues
    for A in ("P", "S", "H", "P4"):
        for which in ("LM", "LA", "SA", "BE"):
            if A == "H" and which == "BE":
                continue
            py = {"LM": "(lambda w: np.sort(w[np.argsort(-abs(w), kind='stable')[:4]]))", "LA": "(lambda w: w[-4:])",
                  "SA": "(lambda w: w[:4])", "BE": "(lambda w: w[[0, 1, -2, -1]])"}[which]
            case(f"(so.eigsh(csr({A}), 4, {{which = '{which}'}}))", f"{py}(np.linalg.eigvalsh({A}))")
        case(f"(function() local w, v = so.eigsh(csr({A}), 3) return np.abs(csr({A}):dot(v) - v * w) end)()", f"np.zeros((40, 3), {A}.real.dtype)")
        case(f"(function() local w, v = so.eigsh(csr({A}), 3) return np.abs(np.conj(v.T):dot(v)) end)()", f"np.eye(3, dtype={A}.real.dtype)")
    case("(so.eigsh(csr(P), 3, {which = 'SM'}))", "np.linalg.eigvalsh(P)[:3]")
    case("(so.eigsh(csr(P), 38))", "np.linalg.eigvalsh(P)[2:]")
    case("(so.eigsh(sp.identity(9), 2))", "np.ones(2)")
    case("so.eigsh(csr(P), 40)", "error")
    case("so.eigsh(csr(P), 3, {which = 'XX'})", "error")
    for A in ("R", "P", "G"):
        case(f"select(2, so.svds(csr({A}), 3))", f"np.linalg.svd({A})[1][2::-1]")
        case(f"(function() local u, s, v = so.svds(csr({A}), 3) return np.abs((u * s):dot(v) - np.array(0)) end)()",
             f"(lambda u, s, v: np.abs((u[:, :3] * s[:3]) @ v[:3]))(*np.linalg.svd({A}))")
    # ---- of less than full rank, the smallest, of any shape
    inputs["low"] = np.outer(rng.normal(size=9), rng.normal(size=12)) + np.outer(rng.normal(size=9), rng.normal(size=12))
    case("select(2, so.svds(csr(low), 3))", "np.linalg.svd(low)[1][2::-1] * [0, 1, 1]")
    case("(function() local u, s, v = so.svds(csr(low), 3) return (u * s):dot(v) end)()", "low")
    case("(function() local u = so.svds(csr(low), 3) return u.T:dot(u) end)()", "np.eye(3)")
    for A in ("R", "R.T", "RC"):
        case(f"so.svds(csr({A}), 3, {{which = 'SM', return_singular_vectors = false}})", f"np.linalg.svd({A})[1][-1:-4:-1]")
        case(f"(function() local u, s, v = so.svds(csr({A}), 3, {{which = 'SM'}}) return (u * s):dot(v) end)()",
             f"(lambda u, s, v: (u[:, 9:12] * s[-3:]) @ v[-3:])(*np.linalg.svd({A}, full_matrices=False))")
    case("(so.eigsh(P, 2, {sigma = 0}))", "np.linalg.eigvalsh(P)[:2]")
    case("(function() np.random.seed(3) local a = np.random.rand(3) np.random.seed(3) so.eigsh(csr(P), 3) return np.random.rand(3) - a end)()", "np.zeros(3)")
    for bad in ("so.eigsh(csr(P), 3, {ncv = 3})", "so.eigsh(csr(P), 3, {ncv = 'x'})", "so.eigsh(csr(P), 3, {tol = 'x'})", "so.svds(csr(P), 3, {which = 'LA'})"):
        case(bad, "error")
    inputs["BM"] = rng.normal(size=(40, 3))
    import scipy.linalg
    inputs["EP"], inputs["EG"] = scipy.linalg.expm(p), scipy.linalg.expm(-3 * g)
    case("so.expm_multiply(csr(P), b)", "EP @ b")
    case("so.expm_multiply(csr(G) * -3, BM)", "EG @ BM")
    case("so.expm_multiply(P, BM)", "EP @ BM")
    case("so.expm_multiply(csr(P):astype('int64'), {%s})" % ", ".join(map(str, range(40))), "EP @ np.arange(40)")
    for o, py in (("{start = 0, stop = 1, num = 5}", "start=0, stop=1, num=5, endpoint=True"),
                  ("{start = 0.5, stop = 2, num = 4, endpoint = false}", "start=0.5, stop=2, num=4, endpoint=False")):
        for x in ("b", "BM"):
            case(f"so.expm_multiply(csr(G) * -0.1, {x}, {o})", f"so.expm_multiply(csr(-0.1 * G), {x}, {py})")
    for bad in ("csr(P / 0), b", "csr(P * (0 / 0)), b", "csr(P), b, {start = 0}", "csr(P), b, {stops = 1}", "csr(P), br", "csr(P), csr(P)"):
        case(f"so.expm_multiply({bad})", "error")
    # ---- direct solution
    for A in ("P", "G", "S", "H", "GC", "P4"):
        for f in ("csr", "csc", "coo"):
            mat = f"sp.{f}_matrix({A})"
            t = f":astype('float64')" if A == "P4" else ""
            tp = ".astype('float64')" if A == "P4" else ""
            case(f"so.spsolve({mat}, b){t}", f"np.linalg.solve({A}, b)")
            case(f"so.spsolve({mat}, bc)", f"np.linalg.solve({A}, bc)")
            case(f"so.spsolve({mat}, BM)", f"np.linalg.solve({A}, BM)")
            case(f"so.splu({mat}):solve(b, 'T')", f"np.linalg.solve({A}.T, b)")
            case(f"so.splu({mat}):solve(bc, 'H')", f"np.linalg.solve({A}.conj().T, bc)")
    case("so.spsolve(csr(P), csr(G)):todense()", "np.linalg.solve(P, G)")
    case("so.inv(csr(G)):todense()", "np.linalg.inv(G)")
    case("so.factorized(csr(G))(b)", "np.linalg.solve(G, b)")
    case("(so.eigsh(csr(P), 3, {sigma = 2.1}))", "(lambda w: np.sort(w[np.argsort(abs(w - 2.1))[:3]]))(np.linalg.eigvalsh(P))")
    case("so.spsolve(csr(G), b:reshape(40, 1))", "np.linalg.solve(G, b)")
    case("np.array(so.splu(csr(G)).shape)", "np.array([40.0, 40.0])")
    case("so.spsolve_triangular(sp.tril(csr(G)), b:totable())", "np.linalg.solve(np.tril(G), b)")
    for bad in ("so.inv(3)", "so.jacobi(csr(G), br)", "so.jacobi(csr(G), b, nil, {iterations = 'x'})", "so.chebyshev(P, b)", "so.ssor_preconditioner(csr(G), 'x')",
                "so.cg(csr(P), b, nil, {maxiter = 2.5})", "so.gmres(csr(P), b, nil, {maxiter = -1})",
                "so.lsmr(csr(P), b, {maxiter = 0 / 0})", "so.eigsh(csr(P), 3, {maxiter = '5'})", "so.spsolve(csr(R), br)", "so.spsolve(csr(P), br)", "so.spsolve(csr(np.ones(3, 3)), np.ones(3))", "so.spsolve(P, b)",
                "so.splu(csr(P)):solve(b, 'X')", "so.spsolve_triangular(csr(P), b)", "so.spsolve_triangular(csr(np.tril(S, -1)), b)",
                "so.ilu0(csr(np.triu(S, 1))):matvec(b):sum():item()", "so.jacobi_preconditioner(csr(np.triu(P, 1)))",
                "so.ssor_preconditioner(csr(P), 2)", "so.ilu0(csr(P), {blocks = 0})", "so.ilu0(csr(R))"):
        case(bad, "error")
    for A, b in (("G", "b"), ("GC", "bc"), ("G", "BM"), ("P4", "b4")):
        case(f"so.spsolve_triangular(sp.tril(csr({A})), {b})", f"np.linalg.solve(np.tril({A}), {b})")
        case(f"so.spsolve_triangular(sp.triu(csr({A})), {b}, false)", f"np.linalg.solve(np.triu({A}), {b})")
        case(f"so.spsolve_triangular(sp.triu(csr({A})), {b}, {{lower = false, unit_diagonal = true}})",
             f"np.linalg.solve(np.triu({A}, 1) + np.eye(40, dtype={A}.dtype), {b})")
    # ---- preconditioners: what they apply, and that solvers need fewer steps with them
    case("so.jacobi_preconditioner(csr(G)):matvec(b)", "b / np.diag(G)")
    case("so.ssor_preconditioner(csr(P), 1.2):matvec(b)",
         "1.2 * 0.8 * np.linalg.solve(4 * np.eye(40) + 1.2 * np.triu(P, 1), 4 * np.linalg.solve(4 * np.eye(40) + 1.2 * np.tril(P, -1), b))")
    case("so.ilu0(sp.tril(csr(G))):matvec(b)", "np.linalg.solve(np.tril(G), b)")
    case("so.ilu0(csr(T)):matvec(b)", "np.linalg.solve(T, b)")
    case("so.ilu0(csr(T), {blocks = 4}):matvec(b)", "np.linalg.solve(T * np.kron(np.eye(4), np.ones((10, 10))), b)")
    inputs["T"] = 3 * np.eye(40) - np.eye(40, k=1) - 1.5 * np.eye(40, k=-1)  # no fill: the factors are exact
    for m in ("ssor_preconditioner(csr(P))", "ilu0(csr(P))", "ilu0(csr(P), {blocks = 2})", "ssor_preconditioner(csr(P), {omega = 1.1, blocks = 3})"):
        for f in ("cg", "bicgstab", "gmres"):
            case(f"first(so.{f}, csr(P), b, nil, {{tol = 1e-10, M = so.{m}}})", "np.linalg.solve(P, b)")
        case(f"np.array((STEPS({{tol = 1e-10, M = so.{m}}}) < STEPS{{tol = 1e-10}}))", "np.array(True)")
    # ---- multigrid: without levels it is a direct solver
    inputs["INTER"] = np.kron(np.eye(20), np.ones((2, 1)))
    case("so.smoothed_aggregation(csr(P)):matvec(b)", "np.linalg.solve(P, b)")
    case("so.multigrid(csr(P), {}):matvec(b)", "np.linalg.solve(P, b)")
    case("so.multigrid(csr(P), {csr(INTER)}):matvec(b)", "TWO_LEVELS(P, INTER, b, 1)")
    case("so.multigrid(csr(P), {csr(INTER)}, {sweeps = 3}):matvec(b)", "TWO_LEVELS(P, INTER, b, 3)")
    case("so.multigrid(csr(P), {csr(INTER)}).levels[2].A:todense()", "INTER.T @ P @ INTER")
    for A, x in (("P", "b"), ("H", "bc"), ("P4", "b4")):
        o = "{tol = 1e-5" if A == "P4" else "{tol = 1e-10"
        for m in ("smoothed_aggregation(csr(%s), {coarsest = 5})", "smoothed_aggregation(csr(%s), {coarsest = 5, theta = 0, sweeps = 2})",
                  "multigrid(csr(%s), {csr(INTER)})"):
            case(f"first(so.cg, csr({A}), {x}, nil, {o}, M = so.{m % A}}})", f"np.linalg.solve({A}, {x})")
    case("np.array((STEPS({tol = 1e-10, M = so.smoothed_aggregation(csr(P), {coarsest = 5})}) < STEPS{tol = 1e-10}))", "np.array(True)")
    case("np.array(#so.smoothed_aggregation(csr(P), {coarsest = 1, levels = 2}).levels)", "np.array(2.0)")
    for bad in ("so.multigrid(P, {})", "so.multigrid(csr(P), csr(INTER))", "so.multigrid(csr(P), {csr(R)})", "so.multigrid(csr(P), {}, {sweeps = 0})",
                "so.smoothed_aggregation(csr(R))", "so.smoothed_aggregation(csr(np.triu(P, 1)), {coarsest = 5})", "so.smoothed_aggregation(csr(P), {level = 3})"):
        case(bad, "error")
    case("so.jacobi(csr(P), b, x0, {iterations = 3, omega = 0.8})", "JACOBI(P, b, x0, 3, 0.8)")
    case("so.jacobi(csr(P), b, nil, {iterations = 2})", "JACOBI(P, b, 0 * b, 2, 2 / 3)")
    case("so.chebyshev(csr(P), b, nil, {iterations = 150, lower = 0.1})", "np.linalg.solve(P, b)")
    case("so.chebyshev(csr(P), b, x0, {iterations = 150, lower = 0.1, upper = 9})", "np.linalg.solve(P, b)")
    # ---- initial value problems
    inputs["y0"] = np.array([1.0, 0.5, -0.3])
    inputs["yc"] = np.array([1.0 + 1j, 0.5])
    inputs["te"] = np.linspace(0.1, 3.7, 9)
    for m in ("RK23", "RK45", "DOP853"):
        for o, py in (("", ""), (", rtol = 1e-8, atol = 1e-10", ", rtol=1e-8, atol=1e-10"), (", max_step = 0.1", ", max_step=0.1"),
                      (", t_eval = te", ", t_eval=te"), (", first_step = 0.01", ", first_step=0.01")):
            for f, pf, y in (("function(t, y) return -y + np.sin(t * y) end", "lambda t, y: -y + np.sin(t * y)", "y0"),
                             ("function(t, y) return {y(2), -y(1), y(3) * t} end", "lambda t, y: [y[1], -y[0], y[2] * t]", "y0"),
                             ("function(t, y) return y * np.array{1i, -0.5} end", "lambda t, y: y * np.array([1j, -0.5])", "yc")):
                span = "{0, 4}" if y == "y0" else "{4, 0}" if "te" not in o else "{0, 4}"
                call = f"so.solve_ivp({f}, {span}, {y}, {{method = '{m}'{o}}})"
                pycall = f"solve_ivp({pf}, {span.replace('{', '[').replace('}', ']')}, {y}, method='{m}'{py})"
                if m == "DOP853" and "rtol" in o:  # its estimate of so small an error is made of roundings
                    case(f"{call}.y[{{{{}}, -1}}]", f"{pycall}.y[:, -1]")
                    continue
                case(f"{call}.y", f"{pycall}.y")
                case(f"{call}.t", f"{pycall}.t")
            case(f"np.array({call}.nfev)", f"np.array(float({pycall}.nfev))")
        case(f"so.solve_ivp(function(t, y) return -y end, {{0, 4}}, y0, {{method = '{m}', dense_output = true}}).sol(te)",
             f"solve_ivp(lambda t, y: -y, [0, 4], y0, method='{m}', dense_output=True).sol(te)")
        case(f"so.solve_ivp(function(t, y) return -y end, {{0, 4}}, y0, {{method = '{m}', dense_output = true}}).sol(1.25)",
             f"solve_ivp(lambda t, y: -y, [0, 4], y0, method='{m}', dense_output=True).sol(1.25)")
        fall = f"so.solve_ivp(function(t, y) return {{y(2), -9.81}} end, {{0, 5}}, {{10, 3}}, {{method = '{m}', events = EVENTS}})"
        pyfall = f"solve_ivp(lambda t, y: [y[1], -9.81], [0, 5], [10, 3], method='{m}', events=EVENTS())"
        for field in ("t", "y", "t_events[1]", "t_events[2]", "y_events[2]"):
            case(f"{fall}.{field}", f"{pyfall}.{field.replace('[1]', '[0]').replace('[2]', '[1]')}")
        case(f"np.array({fall}.status)", "np.array(1.0)")
    both = lambda lua, py, *fields: [case(f"so.solve_ivp({lua}).{f}", f"solve_ivp({py}).{g}") for f, g in fields]
    for m in ("RK23", "RK45", "DOP853"):
        fields = (("t", "t"), ("y", "y"), ("t_events[1]", "t_events[0]"), ("nfev + 0.0", "nfev * 1.0"))
        both(f"function(t, y, k) return -k * y end, {{0, 10}}, {{4}}, {{method = '{m}', args = {{0.7}}, events = {{function(t, y, k) return y(1) - k end, terminal = true}}}}",
             f"lambda t, y, k: -k * y, [0, 10], [4], method='{m}', args=(0.7,), events=[REACHED]", *fields)
        both(f"DECAY, {{0, 10}}, y0, {{method = '{m}', atol = {{1e-3, 1e-6, 1e-9}}, rtol = np.array{{1e-5, 1e-4, 1e-3}}}}",
             f"DECAY, [0, 10], y0, method='{m}', atol=[1e-3, 1e-6, 1e-9], rtol=np.array([1e-5, 1e-4, 1e-3])", *fields[:2])
        both(f"DECAY, {{3, 3}}, y0, {{method = '{m}'}}", f"DECAY, [3, 3], y0, method='{m}'", *fields[:2])
        both(f"DECAY, {{0, 10}}, y0, {{method = '{m}', t_eval = {{3.5}}}}", f"DECAY, [0, 10], y0, method='{m}', t_eval=[3.5]", *fields[:2], fields[3])
        turn = f"so.solve_ivp(function(t, y) return {{y(2), -y(1)}} end, {{0, 30}}, {{1, 0}}, {{method = '{m}', rtol = 1e-9, atol = 1e-12, events = {{function(t, y) return y(1) end, terminal = 3}}}})"
        case(f"{turn}.t_events[1]", "np.pi * np.array([0.5, 1.5, 2.5])")
        case(f"{turn}.t[-1]", "np.array(2.5 * np.pi)")
    for bad in ("max_step = 0", "max_step = -1", "max_step = 'x'", "first_step = 0", "first_step = 20", "atol = -1", "atol = {1, 2}", "rtol = 'x'", "args = 3",
                "events = {{function() return 1 end, direction = 'x'}}", "events = {{function() return 1 end, terminal = 0.5}}"):
        case(f"so.solve_ivp(DECAY, {{0, 10}}, y0, {{{bad}}})", "error")
    for bad in ("{0, 'x'}, y0", "{0, 0 / 0}, y0", "{0}, y0", "{0, 1}, y0 / 0", "{0, 1}, nil", "{0, 1}, 'x'"):
        case(f"so.solve_ivp(DECAY, {bad})", "error")
    case("so.solve_ivp(function(t, y, a) return a * y end, {0, 1}, {2}, {args = {-3}}).y", "solve_ivp(lambda t, y, a: a * y, [0, 1], [2], args=(-3,)).y")
    case("so.solve_ivp(function(t, y) return y end, {0, 1}, y0, {method = 'BDF'})", "error")
    case("so.solve_ivp(function(t, y) return b end, {0, 1}, y0)", "error")
    case("so.solve_ivp(3, {0, 1}, y0)", "error")
    case("so.solve_ivp(function(t, y) return y end, {0, 1}, y0, {t_eval = {0.5, 2}})", "error")
    case("np.array(so.solve_ivp(function(t, y) return y * y end, {0, 9}, {1}).status)", "np.array(-1.0)")


def DECAY(t, y):
    return -0.5 * y


def REACHED(t, y, k):
    return y[0] - k


REACHED.terminal = True


def JACOBI(A, b, x, n, omega):
    for _ in range(n):
        x = x + omega * (b - A @ x) / np.diag(A)
    return x


def TWO_LEVELS(A, P, b, sweeps):
    step = 4 / 3 / np.max(np.abs(A).sum(1) / np.abs(np.diag(A))) / np.diag(A)
    x = step * b
    for _ in range(sweeps - 1):
        x = x + step * (b - A @ x)
    x = x + P @ np.linalg.solve(P.T @ A @ P, P.T @ (b - A @ x))
    for _ in range(sweeps):
        x = x + step * (b - A @ x)
    return x


def EVENTS():
    def top(t, y):
        return y[1]
    def ground(t, y):
        return y[0]
    ground.terminal, ground.direction = True, -1
    return [top, ground]
