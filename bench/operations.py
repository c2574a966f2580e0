"""Single operations, as a user writes them, for the table "ops" of sections.py.

A line has a title, its operands, and the expression in Lua and in Python; the latter with `np` for NumPy or jax.numpy.
An operand is `name=dtype:shape:lo:hi`, or with `:sorted` or `:symmetric` after it; of dtype "position" are positions
from the first to the hi-th element, which Lua counts from 1.
"""
N = 4 * 10**6
MATRIX = "{0}:2000x2000:0:1"

# name: domain of x (and y); Lua and Python write them alike.
FUNCTIONS = {
    "exp": (-5, 5), "exp2": (-5, 5), "expm1": (-5, 5), "log": (0.1, 10), "log2": (0.1, 10), "log10": (0.1, 10),
    "log1p": (0.1, 10), "sqrt": (0.1, 10), "cbrt": (0.1, 10), "sin": (-10, 10), "cos": (-10, 10), "tan": (-1.5, 1.5),
    "arcsin": (-1, 1), "arccos": (-1, 1), "arctan": (-10, 10), "sinh": (-5, 5), "cosh": (-5, 5), "tanh": (-5, 5),
    "arcsinh": (-10, 10), "arccosh": (1, 10), "arctanh": (-0.99, 0.99), "arctan2": (-1, 1), "hypot": (-5, 5),
}
TWO = {"arctan2", "hypot"}


class Line:
    """What is measured; `compared` is which of several results is, `positions` whether it holds positions."""

    def __init__(self, title, operands, lua, python=None, jax=None, eager=False, compared=1, positions=False, tolerance=1e-9):
        self.title, self.operands, self.lua, self.python = title, operands, lua, python or lua
        self.jax, self.eager = jax or self.python, eager
        self.compared, self.positions, self.tolerance = compared, positions, tolerance


def elementwise(n):
    for dtype in ("float64", "float32"):
        tolerance = 1e-9 if dtype == "float64" else 1e-4

        def line(title, lua, python=None, lo=0.1, hi=10, names="x"):
            operands = [f"{name}={dtype}:{n}:{lo}:{hi}" for name in names]
            return Line(f"{title}, {dtype}", operands, lua, python, tolerance=tolerance)

        yield line("x^3", "x^3", "x**3")
        yield line("x^2.5", "x^2.5", "x**2.5")
        yield line("power(x, y)", "np.power(x, y)", lo=0.1, hi=5, names="xy")
        yield line("10^x", "10^x", "10**x", -5, 5)
        for name, (lo, hi) in FUNCTIONS.items():
            names = "xy" if name in TWO else "x"
            yield line(name, f"np.{name}({', '.join(names)})", None, lo, hi, names)
        yield line("erf", "np.erf(x)", "erf(x)", -3, 3)


def reductions(n, side):
    x, a = f"x=float64:{n}:0:1", "x=" + MATRIX.format("float64").replace("2000", str(side))
    for name in ("argmax", "argmin", "min", "max"):
        for dtype in ("float64", "float32"):
            yield Line(f"{name}, {dtype}", [f"x={dtype}:{n}:0:1"], f"np.{name}(x)", positions=name.startswith("arg"))
    yield Line("sum over all", [x], "np.sum(x)")
    yield Line(f"sum over the first axis, {side}^2", [a], "np.sum(x, 1)", "np.sum(x, 0)")
    yield Line(f"sum over the second axis, {side}^2", [a], "np.sum(x, 2)", "np.sum(x, 1)")
    yield Line(f"max over the first axis, {side}^2", [a], "np.max(x, 1)", "np.max(x, 0)")
    yield Line(f"max over the second axis, {side}^2", [a], "np.max(x, 2)", "np.max(x, 1)")


def sorts(n):
    for dtype in ("float64", "float32", "int64", "int32"):
        yield Line(f"sort, {dtype}", [f"x={dtype}:{n}:0:{10**9 if dtype[0] == 'i' else 1}"], "np.sort(x)", tolerance=1e-6)
    # Equal elements may come in any order.
    yield Line("argsort, float64", [f"x=float64:{n}:0:1"], "np.argsort(x)", positions=True, tolerance=1e-2)
    into = "(function() local h = np.zeros(1000) np.add.at(h, i, 1) return h end)()"
    bins = [f"i=position:{n}:0:1000"]
    yield Line("np.add.at, 1000 bins", bins, into, "add_at(np.zeros(1000), i, 1.0)", "np.zeros(1000).at[i].add(1.0)")
    yield Line("bincount, 1000 bins", bins, "np.bincount(i, {minlength = 1000})", "np.bincount(i, minlength=1000)",
               "np.bincount(i, length=1000)")
    # An element at the edge of a bin may be counted in the next one.
    yield Line("histogram, 1000 bins", [f"x=float64:{n}:0:1"], "np.histogram(x, 1000)", tolerance=1e-3)


def choices(n):
    x, y, m = f"x=float64:{n}:0:1", f"y=float64:{n}:0:1", f"m=bool:{n}:0:1"
    size = 1 << 20 if n == N else n
    yield Line(f"complex x complex, {size}", [f"x=complex128:{size}:-1:1", f"y=complex128:{size}:-1:1"], "x * y")
    yield Line(f"complex abs, {size}", [f"x=complex128:{size}:-1:1"], "np.abs(x)")
    yield Line("remainder of 0.37, float64", [x], "x % 0.37")
    yield Line("remainder of 7, int64", [f"x=int64:{n}:0:1000000"], "x % 7")
    yield Line("x[m]", [x, m], "x[m]", eager=True)
    yield Line("where(m, x, y)", [x, y, m], "np.where(m, x, y)")
    yield Line("count_nonzero(m)", [m], "np.count_nonzero(m)")
    yield Line("count_nonzero(x)", [x], "np.count_nonzero(x)")
    yield Line("take at random positions", [x, f"i=position:{n}:0:{n}"], "np.take(x, i)")
    yield Line("take at sorted positions", [x, f"i=position:{n}:0:{n}:sorted"], "np.take(x, i)")


def linear(side, order, small):
    a, b = (f"{name}=" + MATRIX.format("float64").replace("2000", str(side)) for name in "ab")
    v = f"v=float64:{side}:0:1"
    optimised = 'np.einsum("ij,jk,k->i", a, b, v, optimize=True)'
    yield Line(f'einsum "ij,jk,k->i", {side}', [a, b, v], 'np.einsum("ij,jk,k->i", a, b, v)', optimised)
    yield Line(f"matrix x vector, {side}^2", [a, v], "np.matmul(a, v)")
    product = [f"{name}=float64:{order}x{order}:0:1" for name in "ab"]
    yield Line(f"matrix x matrix, {order}^2", product, "np.matmul(a, b)")
    values = "np.linalg.svd(a, compute_uv=False)"
    square = [f"a=float64:{small}x{small}:0:1"]
    yield Line(f"svd, values only, {small}^2", square, "np.linalg.svd(a, {compute_uv = false})", values, tolerance=1e-8)
    yield Line(f"svd, {small}^2", square, "np.linalg.svd(a)", compared=2, tolerance=1e-8)
    yield Line(f"eigh, {small}^2", [square[0] + ":symmetric"], "np.linalg.eigh(a)", tolerance=1e-8)


def lines(quick):
    n, side, order, small = (N, 2000, 1000, 500) if not quick else (1000, 20, 10, 5)
    return [*elementwise(n), *reductions(n, side), *sorts(n), *choices(n), *linear(side, order, small)]


# The same polynomial, as two people write it.
POLYNOMIAL = {
    "with products": "k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))",
    "with powers": "0.31938153 * k - 0.356563782 * k^2 + 1.781477937 * k^3 - 1.821255978 * k^4 + 1.330274429 * k^5",
}
