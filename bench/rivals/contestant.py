"""The contestants written in Python: NumPy, numexpr, Numba and JAX.

    contestant.py WHO triad N DTYPE EXPRESSION
    contestant.py WHO sweep ROWS COLS DTYPE EXPRESSION
    contestant.py WHO black_scholes N DTYPE RATE VOLATILITY CALL PUT [POLYNOMIAL]
    contestant.py WHO operation EXPRESSION COMPARED EAGER OPERAND...     numpy or jax, as in operations.lua
    contestant.py numpy small N OPERATIONS
    contestant.py numpy krylov METHOD N ITERATIONS     with SciPy, as
    contestant.py numpy matrices WORK SIZE
    contestant.py numpy small_problem NAME STEPS       or FILE ARGUMENTS..., as in small_problems.lua
    contestant.py WHO program FILE ARGUMENTS...        such as tests/programs/cg.py; numpy or numba

They speak the protocol that rivals/rival.h explains, and run the same expressions on the same data as the
contestants in C and Lua.
"""
import ast
import contextlib
import io
import os
import re
import runpy
import sys
import time

import numpy as np

THREADS = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count()))


def fraction(n, k, lo, hi, dtype):
    x = np.arange(n, dtype="float64")
    x *= k
    x -= np.floor(x)
    x *= hi - lo
    x += lo
    return x.astype(dtype, copy=False)


def numba_loop(source, **names):
    """Compiles `def work(...)` with Numba; the loops over prange run in parallel."""
    import numba

    numba.set_num_threads(THREADS)
    space = dict(names, prange=numba.prange, np=np)
    exec(source, space)
    return numba.njit(fastmath=True, error_model="numpy")(space["work"])


def numexpr_evaluate():
    import numexpr

    numexpr.set_num_threads(THREADS)
    return numexpr.evaluate


def triad(who, n, dtype, expression):
    n = int(n)
    b = fraction(n, 0.6180339887498949, 0, 1, dtype)
    c = fraction(n, 0.4142135623730951, 0, 1, dtype)
    out = {"a": np.zeros(n, dtype)}
    s, t = np.dtype(dtype).type(3), np.dtype(dtype).type(0.5)
    if who == "numpy":
        code, names = compile(expression, "triad", "eval"), {"b": b, "c": c, "s": s, "t": t}

        def work():
            out["a"] = eval(code, names)
    elif who == "numexpr":
        evaluate = numexpr_evaluate()
        work = lambda: evaluate(expression, {"b": b, "c": c, "s": s, "t": t}, out=out["a"])
    else:
        loop = numba_loop(f"""
def work(A, B, C, s, t):
    for i in prange(A.size):
        b, c = B[i], C[i]
        A[i] = {expression}
""")
        work = lambda: loop(out["a"], b, c, s, t)
    return work, lambda: [out["a"].mean(dtype="float64")]


def sweep(who, rows, cols, dtype, expression):
    rows, cols = int(rows), int(cols)
    grids = [fraction(rows * cols, 0.6180339887498949, 0, 1, dtype).reshape(rows, cols) for _ in range(2)]
    k = np.dtype(dtype).type(0.2)

    def views(a):
        return {"c": a[1:-1, 1:-1], "n": a[:-2, 1:-1], "s": a[2:, 1:-1], "w": a[1:-1, :-2], "e": a[1:-1, 2:], "k": k}

    if who == "numpy":
        code = compile(expression, "sweep", "eval")

        def step(a, b):
            b[1:-1, 1:-1] = eval(code, views(a))
    elif who == "numexpr":
        evaluate = numexpr_evaluate()

        def step(a, b):
            evaluate(expression, views(a), out=b[1:-1, 1:-1])
    else:
        loop = numba_loop(f"""
def work(A, B, k):
    for i in prange(1, A.shape[0] - 1):
        for j in range(1, A.shape[1] - 1):
            c, n, s, w, e = A[i, j], A[i - 1, j], A[i + 1, j], A[i, j - 1], A[i, j + 1]
            B[i, j] = {expression}
""")

        def step(a, b):
            loop(a, b, k)

    def work():
        step(*grids)
        grids.reverse()

    work()  # as many sweeps as the other contestants make before they are ready: two
    return work, lambda: [grids[0].mean(dtype="float64")]


HART = "k * (a + k * (b1 + k * (b2 + k * (b3 + k * b4))))"


def black_scholes(who, n, dtype, rate, volatility, call, put, polynomial=HART):
    n = int(n)
    S = fraction(n, 0.8191725133961645, 5, 30, dtype)
    X = fraction(n, 0.6710436067037893, 1, 100, dtype)
    T = fraction(n, 0.5497004779019703, 0.25, 10, dtype)
    real = np.dtype(dtype).type
    r, v = real(rate), real(volatility)
    coefficients = [real(c) for c in
                    (0.2316419, 0.3989422804014327, 0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429)]
    out = [np.zeros(n, dtype), np.zeros(n, dtype)]
    if who in ("numpy", "jax"):
        final = compile(f"({call}), ({put})", "black_scholes", "eval")
        series = compile(polynomial.replace("^", "**"), "polynomial", "eval")
        c, h, a, b1, b2, b3, b4 = coefficients
        m = np if who == "numpy" else jax_numpy()

        def cnd(d):
            k = 1 / (1 + c * m.abs(d))
            tail = h * m.exp(real(-0.5) * d * d) * eval(series, {"k": k, "a": a, "b1": b1, "b2": b2, "b3": b3, "b4": b4})
            return m.where(d > 0, 1 - tail, tail)

        def prices(S, X, T):
            vt = v * m.sqrt(T)
            d1 = (m.log(S / X) + (r + real(0.5) * v * v) * T) / vt
            n1, n2 = cnd(d1), cnd(d1 - vt)
            D = X * m.exp(-r * T)
            return eval(final, {"S": S, "D": D, "n1": n1, "n2": n2})

        if who == "jax":
            prices, S, X, T = jitted(prices), *map(m.asarray, (S, X, T))

        def work():
            out[0], out[1] = prices(S, X, T)
    elif who == "numexpr":
        # One expression for each result; numexpr finds the common parts itself.
        evaluate = numexpr_evaluate()
        names = dict(zip(("c", "h", "a", "b1", "b2", "b3", "b4"), coefficients), S=S, X=X, T=T, r=r, v=v,
                     half=real(0.5), one=real(1))
        d1 = "((log(S / X) + (r + half * v * v) * T) / (v * sqrt(T)))"
        d2 = f"({d1} - v * sqrt(T))"

        def cnd(d):
            k = f"(one / (one + c * abs({d})))"
            tail = (f"(h * exp(-half * {d} * {d}) * "
                    f"({k} * (a + {k} * (b1 + {k} * (b2 + {k} * (b3 + {k} * b4))))))")
            return f"where({d} > 0, one - {tail}, {tail})"

        # Replace the names by their definitions.
        parts = {"n1": cnd(d1), "n2": cnd(d2), "D": "(X * exp(-r * T))", "1": "one"}
        texts = [re.sub(r"\b(n1|n2|D|1)\b", lambda m: parts[m.group(1)], text) for text in (call, put)]

        def work():
            for text, result in zip(texts, out):
                evaluate(text, names, out=result)
    else:
        import math

        loop = numba_loop(f"""
def work(price, strike, years, call, put, r, v):
    for i in prange(price.size):
        S, X, T = price[i], strike[i], years[i]
        vt = v * math.sqrt(T)
        d1 = (math.log(S / X) + (r + real(0.5) * v * v) * T) / vt
        n1, n2 = cnd(d1), cnd(d1 - vt)
        D = X * math.exp(-r * T)
        call[i] = {call}
        put[i] = {put}
""", math=math, real=real, cnd=numba_cnd(coefficients, real))
        work = lambda: loop(S, X, T, out[0], out[1], r, v)
    return work, lambda: [out[0].mean(dtype="float64"), out[1].mean(dtype="float64")]


def numba_cnd(coefficients, real):
    import math
    import numba

    c, h, a, b1, b2, b3, b4 = coefficients
    one, half = real(1), real(0.5)

    @numba.njit(fastmath=True, error_model="numpy")
    def cnd(d):
        k = one / (one + c * abs(d))
        tail = h * math.exp(-half * d * d) * (k * (a + k * (b1 + k * (b2 + k * (b3 + k * b4)))))
        return one - tail if d > 0 else tail

    return cnd


def small(who, n, operations):
    """A chain of additions and multiplications on a small array; one turn is `operations` of them."""
    n, operations = int(n), int(operations)
    source = "def body(x, y, h):\n" + "  x = x * h + y\n" * (operations // 2) + "  return x\n"
    space = {}
    exec(source, space)
    y, state = fraction(n, 0.6180339887498949, 0, 1, "float64"), {}
    state["x"] = y

    def work():
        state["x"] = space["body"](state["x"], y, 0.5)

    return work, lambda: [y.mean()]


def small_problem(who, name, *arguments):
    """A small problem of small_problems.lua: so many steps, or a whole example, whose numbers are what is checked."""
    if name.endswith(".py"):
        return example(name, *arguments)
    step, check = small_problems()[name]()

    def work():
        for _ in range(int(arguments[0])):
            step()

    return work, lambda: [check()]


def example(path, *arguments):
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    sys.argv, said = [path, *arguments], io.StringIO()

    def work():
        said.truncate(said.seek(0))
        with contextlib.redirect_stdout(said):
            exec(code, {"__name__": "__main__"})

    return work, lambda: [float(w) for w in said.getvalue().split() if re.fullmatch(r"[-+.\de]*\d", w)]


def small_problems():
    s = {}  # of the problem that is chosen

    def begin(step, check, **state):
        s.update(state)
        return step, check

    def vector(n):
        return fraction(n, 0.6180339887498949, 0, 1, "float64")

    def select():
        s["kept"] = s["x"][s["mask"]]

    def assign():
        s["v"] += 1
        s["x"][s["mask"]] = s["v"]

    def nonzero():
        s["kept"] = np.nonzero(s["mask"])[0]

    def look():
        s["sum"] = float((s["x"] + 1)[6])

    def gather():
        s["sum"] = float(np.sum(s["x"][s["positions"]]))

    def recurrence():
        a, i, j = s["a"], s["i"], s["j"]
        a[i, j] = 0.5 * (a[i - 1, j] + a[i, j - 1])
        s["j"] = j + 1
        if s["j"] > 9:
            s["i"], s["j"] = max((i + 1) % 10, 1), 1

    def rotation(n):
        a = np.eye(n)
        a[0, 0], a[0, 1], a[1, 0], a[1, 1] = 0.8, 0.6, -0.6, 0.8
        return a

    def product():
        s["b"] = s["a"].dot(s["b"])

    def kalman():
        F = s["F"]
        s["x"] = F.dot(s["x"])
        s["P"] = F.dot(s["P"]).dot(F.T) + s["Q"]

    def runge_kutta(f, y, h):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    def linear():
        s["y"] = runge_kutta(s["A"].dot, s["y"], 0.01)

    def lorenz(u):
        a, b, c = u
        return np.array([10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c])

    def chaos():
        s["y"] = runge_kutta(lorenz, s["start"] if s["count"] % 100 == 0 else s["y"], 0.01)
        s["count"] += 1

    def masked(step, check):
        x = vector(100)
        return lambda: begin(step, check, x=x, mask=x > 0.5, v=0)

    return {
        "x[mask]": masked(select, lambda: np.sum(s["kept"])),
        "x[mask] = v": masked(assign, lambda: np.sum(s["x"]) - s["v"] * np.count_nonzero(s["mask"])),
        "nonzero(mask)": masked(nonzero, lambda: np.sum(s["kept"])),
        "x(i)": lambda: begin(look, lambda: s["sum"], x=vector(100)),
        "sum(x[positions])": lambda: begin(gather, lambda: s["sum"], x=vector(100), positions=np.arange(50) * 7 % 100),
        "a[i, j] = a(i-1, j) + a(i, j-1)": lambda: begin(recurrence, lambda: np.sum(s["a"]), a=np.ones((10, 10)), i=1, j=1),
        "B = A:dot(B), 4 x 4": lambda: begin(product, lambda: np.sum(s["b"] * s["b"]), a=rotation(4), b=vector(16).reshape(4, 4)),
        "Kalman step, 4 x 4": lambda: begin(kalman, lambda: np.sum(s["P"]), F=0.5 * rotation(4), Q=0.1 * np.eye(4),
                                            x=vector(4), P=np.eye(4)),
        "Runge-Kutta, y' = A y, 3": lambda: begin(linear, lambda: np.sum(s["y"] * s["y"]), y=np.array([1, 0.5, 0.25]),
                                                  A=np.array([[0, 1, 0], [-1, 0, 1], [0, -1, 0.0]])),
        "Runge-Kutta, Lorenz, 3": lambda: begin(chaos, lambda: np.sum(s["y"]), start=np.array([1, 1, 20.0]), count=0),
    }


def jax_numpy():
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax.numpy


def jitted(function):
    """A compiled function that returns when its results are there."""
    import jax

    compiled = jax.jit(function)
    return lambda *operands: jax.block_until_ready(compiled(*operands))


IRRATIONAL = (0.6180339887498949, 0.41421356237309503, 0.7320508075688772)  # one for each operand


def operand(text, number):
    """(name, array): bench/operations.py says what it is, operations.lua computes the same."""
    name, text = text.split("=")
    dtype, shape, lo, hi, *form = text.split(":")
    shape, lo, hi = tuple(map(int, shape.split("x"))), float(lo), float(hi)

    def random(k):
        u = fraction(np.prod(shape), k, 0, 1, "float64")
        u = u * u * 1e6
        return (u - np.floor(u)) * (hi - lo) + lo

    x = random(IRRATIONAL[number])
    if dtype == "complex128":
        x = x + 1j * random(IRRATIONAL[number] / 2)
    elif dtype == "bool":
        x = x > 0.5
    else:
        x = x.astype("int64" if dtype == "position" else dtype)
    x = x.reshape(shape)
    return name, np.sort(x) if form == ["sorted"] else x + x.T if form == ["symmetric"] else x


def add_at(a, i, values):
    np.add.at(a, i, values)
    return a


def operation(who, expression, compared, eager, *operands):
    """One expression; what it is made of lies in memory already."""
    names = dict(operand(text, k) for k, text in enumerate(operands))
    if who == "numpy":
        space = {"np": np, "add_at": add_at}
        if "erf(" in expression:
            from scipy.special import erf

            space["erf"] = erf
        work, values = eval(f"lambda {', '.join(names)}: {expression}", space), list(names.values())
    else:
        space = {"np": jax_numpy()}
        from jax.scipy.special import erf

        space["erf"] = erf
        work, values = eval(f"lambda {', '.join(names)}: {expression}", space), [space["np"].asarray(x) for x in names.values()]
        work = jitted(work) if eager == "0" else lambda *x, eagerly=work: eagerly(*x).block_until_ready()
    results = {}

    def turn():
        results["all"] = work(*values)

    def check():
        result = results["all"]
        result = result[int(compared) - 1] if isinstance(result, (tuple, list)) else result
        result = np.abs(np.ravel(np.asarray(result))).astype("float64")
        return [result.mean(), result[::97].mean()]

    return turn, check


def krylov(who, method, n, iterations):
    """SciPy's Krylov methods on the 5-point Laplacian of an n x n grid; `dot` is the product with a vector."""
    import scipy.sparse
    import scipy.sparse.linalg

    n, iterations = int(n), int(iterations)
    beside = np.full(n * n - 1, -1.0)
    beside[n - 1 :: n] = 0
    A = scipy.sparse.diags([-1, beside, 4, beside, -1], [-n, -1, 0, 1, n], shape=(n * n, n * n), format="csr")
    b = fraction(n * n, 0.6180339887498949, 0, 1, "float64")
    out = {}

    def work():
        if method == "dot":
            for _ in range(iterations):
                out["x"] = A.dot(b)
        elif method == "gmres":
            out["x"], _ = scipy.sparse.linalg.gmres(A, b, tol=1e-300, atol=0, restart=30, maxiter=iterations // 30)
        else:
            out["x"], _ = getattr(scipy.sparse.linalg, method)(A, b, tol=1e-300, atol=0, maxiter=iterations)

    return work, lambda: [np.linalg.norm(out["x"])]


def matrices(who, kind, n):
    """What SciPy does with sparse matrices as such: see matrices.lua."""
    import scipy.sparse

    n = int(n)
    if kind.startswith("poisson"):
        line = scipy.sparse.diags([2.0, -1, -1], [0, 1, -1], shape=(n, n))
        A = scipy.sparse.kronsum(line, line, "csr")
    else:
        i = np.arange(20 * n)
        rows = i // 20
        columns = (i % 20 * 7919 + rows * 104729 + rows * rows % 10007 * 31) % n
        A = scipy.sparse.csr_matrix((fraction(20 * n, 0.6180339887498949, 0, 1, "float64"), (rows, columns)), shape=(n, n))
    coo, X, T = A.tocoo(), np.ones((A.shape[1], 16)), A.T.tocsr()
    if kind.startswith("shuffled"):
        order = np.arange(A.nnz) * 1000003 % A.nnz
        coo = scipy.sparse.coo_matrix((coo.data[order], (coo.row[order], coo.col[order])), shape=A.shape)
    turn = {"product": lambda: A @ A, "transpose": A.tocsc, "add": lambda: A + T, "triplets": coo.tocsr,
            "multiply": lambda: A @ X}[kind.split()[-1]]
    out = {}

    def work():
        out["x"] = turn()

    return work, lambda: [out["x"].sum()]


def numba_program(tree):
    """A script as one function compiled by Numba: what it reads from sys.argv are the arguments, what it prints the
    results.  Its own functions are compiled, too; whatever Numba does not know is an error."""
    import numba

    numba.set_num_threads(THREADS)
    space, body, printed = {"np": np, "sys": sys, "numba": numba}, [], []
    for statement in tree.body:
        if any(isinstance(n, ast.Attribute) and n.attr == "argv" for n in ast.walk(statement)):
            exec(compile(ast.Module([statement], []), "arguments", "exec"), space)
        elif isinstance(statement, ast.FunctionDef):
            statement.decorator_list = [ast.parse("numba.njit(fastmath=True, error_model='numpy')", mode="eval").body]
            exec(compile(ast.Module([statement], []), "functions", "exec"), space)
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            printed.append(statement.value.args[0].right)
        elif not isinstance(statement, (ast.Import, ast.ImportFrom)) and not isinstance(statement, ast.Expr):
            body.append(statement)
    names = [n for n, v in space.items() if isinstance(v, (int, float))]
    source = ast.parse(f"def work({', '.join(names)}): pass")
    source.body[0].body = body + [ast.Return(ast.Tuple(printed, ast.Load()))]
    exec(compile(ast.fix_missing_locations(source), "program", "exec"), space)
    work = numba.njit(fastmath=True, error_model="numpy")(space["work"])
    return lambda: work(*(space[n] for n in names))


def numba_text(path, arguments):
    """What was written for Numba, of a program that it does not compile as it stands: work(numbers...)."""
    import numba

    numba.set_num_threads(THREADS)
    work = runpy.run_path(path)["work"]
    return lambda: work(*map(int, arguments))


def program(who, path, *arguments):
    """A turn is the whole script, its set-up included; what it prints is dropped."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    sys.argv = [path, *arguments]
    if who == "numba":
        own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compiled", os.path.basename(path))
        if os.path.exists(own):
            return numba_text(own, arguments), lambda: []
        return numba_program(ast.parse(text)), lambda: []
    code = compile(text, path, "exec")

    def work():
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, {"__name__": "__main__"})

    return work, lambda: []


def main():
    who, case, arguments = sys.argv[1], sys.argv[2], sys.argv[3:]
    clock = time.process_time if case == "small_problem" else time.perf_counter
    np.seterr(all="ignore")
    work, check = globals()[case](who, *arguments)
    work()
    print("ready", *(repr(float(x)) for x in check()), flush=True)
    for line in sys.stdin:
        turns = int(line)
        begin = clock()
        for _ in range(turns):
            work()
        print(f"{clock() - begin:.9f}", flush=True)


if __name__ == "__main__":
    main()
