"""What a random program computes, with NumPy, and how exact that is.

A Machine runs the statements of program.py.  Beside each value it keeps a bound on how far a correct
implementation may be away from it: the *error*, an absolute bound per element.

  - IEEE arithmetic, square roots, rounding, copies, comparisons, integers: exact.  The error is 0 as
    long as the operands are exact, so results must be equal to the last bit.
  - Transcendental functions and floating-point sums introduce an error (4 ulp for each of the two
    libraries; n ulp of the sum of magnitudes for each order of summation), and later operations carry
    it on to first order and round once more.
  - Where a value decides (comparison, floor, cast to an integer, argmin, a branch) it must be
    further than its error from the border: otherwise the statement is rejected, and the generator
    tries another one.  So correct implementations never part ways.

Besides, every root (an array that owns memory) is *tainted* if it depends on a floating-point sum,
product or dot: with other domains its bits may differ, otherwise they must not.

Arrays are a root, an offset and strides, as in the runtime: views alias in the same way.
"""
import functools
import math

import numpy as np

from operations import EPS, KINDS, LIMIT, NAMES, OPS, TINY, WORST, Reject, demand, finite_operands, rounded
from turns import Turns

MAX_ELEMENTS = 400000
MAX_STEPS = 1000


class Root:
    """Memory: elements in C order, their errors (None: all exact), the taint, whether it was picked by
    an array of positions (lgt does not let such a copy be changed), and why it fails (bad; None: it does not): when
    that happened, and what its message says."""
    __slots__ = ("buf", "err", "taint", "dtype", "picked", "bad")

    def __init__(self, buf, err=None, taint=False, picked=False, bad=None):
        self.bad = bad
        self.buf, self.err, self.taint, self.dtype, self.picked = buf, err, taint, NAMES[buf.dtype], picked


class Arr:
    __slots__ = ("root", "off", "shape", "strides")

    def __init__(self, root, off, shape, strides):
        self.root, self.off, self.shape, self.strides = root, off, tuple(shape), tuple(strides)

    @property
    def dtype(self):
        return self.root.dtype

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        n = 1
        for extent in self.shape:
            n *= extent
        return n

    def _through(self, buf):
        if self.size == 0:
            return np.empty(self.shape, buf.dtype)
        k = buf.itemsize
        return np.ndarray(self.shape, buf.dtype, buf, self.off * k, tuple([s * k for s in self.strides]))

    @property
    def val(self):
        return self._through(self.root.buf)

    @property
    def err(self):
        return None if self.root.err is None else self._through(self.root.err)

    @property
    def taint(self):
        return self.root.taint

    def contiguous(self):
        return self.strides == dense_strides(self.shape) or self.size == 0

    def writable(self):
        return not self.root.picked and all(s != 0 or n <= 1 for s, n in zip(self.strides, self.shape))


class Num:
    """A Lua number, known when the operation is issued.  `source`: dtype it was read from, or None."""
    __slots__ = ("value", "err", "taint", "source")

    def __init__(self, value, err=0.0, taint=False, source=None):
        self.value, self.err, self.taint, self.source = value, err, taint, source

    @property
    def integral(self):
        return float(self.value).is_integer()


@functools.lru_cache(4096)
def dense_strides(shape):
    strides, n = [], 1
    for extent in reversed(shape):
        strides.append(n)
        n *= extent
    return tuple(reversed(strides))


def fresh(val, err=None, taint=False):
    """A new root with these elements."""
    val = np.asarray(val)
    demand(val.size <= MAX_ELEMENTS, "too large")
    if val.dtype.kind in "fc" and val.size:
        name = NAMES[val.dtype]
        mag = np.abs(val)
        if not np.maximum.reduce(mag, axis=None) <= LIMIT[name]:  # or it is NaN
            demand(err is None, "special value with an error")
            demand(not ((mag > LIMIT[name]) & np.isfinite(mag)).any(), "too large a value")
        if err is not None:
            err = err if np.shape(err) == val.shape else np.broadcast_to(err, val.shape)
            demand(np.maximum.reduce(err - WORST[name] * mag, axis=None) <= WORST[name], "too inexact")
            if not err.any():
                err = None
    else:
        err = None
    root = Root(np.array(val, order="C").reshape(-1), None if err is None else np.array(err, order="C").reshape(-1),
                taint and err is not None)
    return Arr(root, 0, val.shape, dense_strides(val.shape))


# ---- elementwise operations -----------------------------------------------------------------------


@functools.lru_cache(None)
def promoted(a, b):
    """The common dtype of two operands (dtype, weakness): arrays are stronger (0) than arrays without
    dimensions (1), and these than numbers (2).  The weaker one counts only if it is of a higher kind."""
    if a[1] == b[1]:
        return NAMES[np.result_type(a[0], b[0])], a[1]
    weak, strong = (a, b) if a[1] > b[1] else (b, a)
    if RANK[KINDS[weak[0]]] <= RANK[KINDS[strong[0]]]:
        return strong
    if KINDS[weak[0]] == "f" and weak[1] == 2:
        return "float64", strong[1]
    if KINDS[weak[0]] == "c" and KINDS[strong[0]] == "f":  # as wide as the array
        return ("complex128" if strong[0] == "float64" else "complex64"), strong[1]
    return NAMES[np.result_type(a[0], b[0])], strong[1]


RANK = {"b": 0, "i": 1, "f": 2, "c": 3}
OF_COMPLEX = {"add", "subtract", "multiply", "negative", "abs", "square", "equal", "not_equal", "divide", "where"}


def operation_dtype(cls, name, operands):
    """The dtype that the operands are cast to."""
    types = []
    for x in operands:
        if isinstance(x, Arr):
            types.append((x.dtype, 0 if x.ndim else 1))
        else:
            types.append(("int64" if x.integral else "float64", 2))
    demand(any(t[1] < 2 for t in types), "no array among the operands")
    dtype = types[0][0] if len(types) == 1 else promoted(*types)[0]
    demand(dtype in KINDS, "unused dtype")
    for n in operands:
        if isinstance(n, Num):
            demand(n.source is None or KINDS[dtype] in "fc" or KINDS[n.source] == "i" and KINDS[dtype] == "i",
                   "number that was read, with an array of another kind")
            if KINDS[dtype] == "i":
                info = np.iinfo(dtype)
                demand(info.min <= n.value <= info.max, "number does not fit")
    kind = KINDS[dtype]
    demand(kind != "c" or cls == "part" or name in OF_COMPLEX, "not for complex numbers")
    if cls == "arith":
        if kind == "b":
            demand(name in ("add", "multiply", "maximum", "minimum", "where"), "arithmetic on bool")
    elif cls in ("div", "smooth"):
        demand(kind != "b" and dtype not in ("int8", "uint8", "int16", "uint16"), "small integers")
        if kind == "i":
            dtype = "float64"
    elif cls in ("real", "test"):
        demand(kind == "f", "floats only")
    elif cls == "part":
        demand(kind == "c", "complex numbers only")
    elif cls == "logic":
        demand(kind == "b", "bool only")
    elif cls == "bits":
        demand(kind == "i" or kind == "b" and "shift" not in name, "integers only")
    return dtype


def operand(x, dtype):
    """Value and error of an operand, cast."""
    if isinstance(x, Num):
        val = np.asarray(x.value, dtype)
        err = x.err
        if err and dtype in ("float16", "float32", "complex64"):
            err += EPS[dtype] * abs(complex(val))
        return val, err
    val, err = x.val, x.err
    return cast(val, err, dtype)


def cast(val, err, dtype):
    """As astype; demands what is defined alike everywhere."""
    if NAMES[val.dtype] == dtype:
        return val, err
    if val.dtype.kind == "c" and KINDS[dtype] in "if":
        val = val.real
    if val.dtype.kind == "f" and KINDS[dtype] == "i":
        info = np.iinfo(dtype)
        demand(np.isfinite(val).all(), "special value to an integer")
        demand(((val > float(info.min)) & (val < float(info.max))).all(), "out of range")
        if err is not None:
            demand((np.trunc(val - 2 * err) == np.trunc(val + 2 * err)).all(), "truncation not known")
        return val.astype(dtype), None
    if KINDS[dtype] == "b" and err is not None:
        demand(((np.abs(val) > err) | (err == 0)).all(), "zero not known")
        return val.astype(dtype), None
    out = val.astype(dtype)
    if dtype in ("float16", "float32", "complex64") and err is not None:
        err = rounded(out, err)
    return out, err if KINDS[dtype] in "fc" else None


def elementwise(name, operands):
    arity, cls, function = OPS[name]
    demand(len(operands) == arity, "wrong number of operands")
    if cls == "where":
        demand(isinstance(operands[0], Arr) and operands[0].dtype == "bool", "condition")
        cond, operands = operands[0], operands[1:]
        dtype = operation_dtype("arith", "where", operands)
        demand(dtype != "bool" or all(isinstance(x, Arr) for x in operands), "where of bool and numbers")
    else:
        cond = None
        dtype = operation_dtype(cls, name, operands)
    if name in ("power",) and KINDS[dtype] == "i":
        demand(isinstance(operands[1], Num), "integer exponents are numbers")
    pairs = [operand(x, dtype) for x in operands]
    vals = [p[0] for p in pairs]
    errs = None
    if any(e.any() if isinstance(e, np.ndarray) else e for _, e in pairs):
        errs = [np.zeros(p[0].shape) if p[1] is None else np.asarray(p[1], float) for p in pairs]
    if cond is not None:
        vals = [cond.val] + vals
        errs = None if errs is None else [None] + errs
    shape = vals[0].shape
    if any(v.shape != shape for v in vals):
        try:
            shape = np.broadcast_shapes(*[v.shape for v in vals])
        except ValueError as error:
            raise Reject("shapes") from error
    demand(math.prod(shape) <= MAX_ELEMENTS, "too large")
    val, err = function(vals, errs)
    return fresh(val, err, any(x.taint for x in operands))


# ---- reductions and products ----------------------------------------------------------------------


def reduced(name, x, axes, keepdims):
    """axes: a tuple counted from 0, or None for all."""
    val, err = x.val, x.err
    every = tuple(range(x.ndim)) if axes is None else axes
    demand(all(0 <= a < x.ndim for a in every), "axis")
    count = 1
    for a in every:
        count *= x.shape[a]
    kind = KINDS[x.dtype]
    taint = x.taint
    kw = {"axis": axes, "keepdims": keepdims}
    demand(kind != "c" or name in ("sum", "mean"), "reduction of complex numbers")
    if name in ("min", "max"):
        demand(count > 0, "empty reduction")
        r = getattr(np, name)(val, **kw)
        if kind == "f" and not np.all(r):  # which of 0 and -0 comes out depends on the order
            demand(((np.sum(val == 0, **kw) <= 1) | (r != 0)).all(), "extremum of zeros")
        return fresh(r, None if err is None else np.max(err, **kw), taint)
    if name in ("any", "all"):
        demand(kind == "b", "any of booleans only")
        return fresh(getattr(np, name)(val, **kw))
    if name in ("argmin", "argmax"):
        demand(count > 0 and (axes is None or len(axes) == 1), "axis of argmin")
        one = {"axis": None if axes is None else axes[0], "keepdims": keepdims}
        r = getattr(np, name)(val, **one)
        if err is not None:
            flat = val.astype(float) if name == "argmin" else -val.astype(float)
            best = np.min(flat, axis=axes, keepdims=True, initial=np.inf)
            gap = flat - best - 2 * np.max(err, initial=0)
            demand(((gap > 0).sum(axis=axes) == count - 1).all(), "position not known")
        return fresh(np.asarray(r, "int64") + 1)
    demand(name in ("sum", "prod", "mean"), "reduction")
    demand(kind not in "fc" or np.isfinite(val).all(), "sum of special values")
    if name == "mean":
        demand(count > 0, "empty mean")
    if kind in "bi" and name != "mean":
        return fresh(getattr(np, name)(val, **kw))
    out = "float64" if kind in "bi" else x.dtype
    inner = "float32" if out == "float16" and name == "mean" else out  # a mean of halves is collected in single precision
    wide = np.abs(val).astype(float)
    e = np.zeros(val.shape) if err is None else err
    if name == "prod":
        demand(count <= 200, "long product")
        most = np.prod(np.maximum(wide, 1), **kw)
        demand((most < LIMIT[out]).all(), "overflow on the way")
        r = np.prod(val, dtype=out, **kw)
        mag = np.prod(wide, **kw)
        spread = np.prod(wide + e, **kw) - mag if err is not None else 0
        bound = 2 * spread + 2 * count * EPS[out] * mag + TINY[out]
    else:
        r = np.sum(val, dtype=inner, **kw)
        mag = np.sum(wide, **kw)
        bound = np.sum(e, **kw) + 2 * count * EPS[inner] * mag
        if name == "mean":
            r = np.asarray(r / np.asarray(count, inner), inner)
            bound = bound / count + 2 * EPS[inner] * np.abs(r)
    if inner != out:
        bound = bound + 2 * EPS[out] * np.abs(r) + TINY[out]
    bound = bound + np.where(mag == 0, TINY[out], 0)  # which of 0 and -0 it is depends on the order
    if count <= 1 and err is None and np.all(mag):
        bound = None if name != "mean" else bound
    return fresh(np.asarray(r, out), bound, True)


def dot(a, b):
    demand(isinstance(a, Arr) and isinstance(b, Arr) and a.dtype == b.dtype and KINDS[a.dtype] != "b", "dot")
    demand(a.dtype != "float16", "dot of half precision")
    demand(1 <= a.ndim <= 2 and 1 <= b.ndim <= 2 and a.shape[-1] == b.shape[0], "shapes of dot")
    va, vb = a.val, b.val
    if KINDS[a.dtype] == "i":
        return fresh(np.asarray(va.dot(vb), a.dtype))
    finite_operands([va, vb])
    wa, wb = np.abs(va).astype(float), np.abs(vb).astype(float)
    n = a.shape[-1]
    mag = wa.dot(wb)
    bound = (2 if KINDS[a.dtype] == "f" else 8) * (n + 1) * EPS[a.dtype] * mag
    bound = bound + np.where(mag == 0, TINY[a.dtype], 0)  # of either sign
    if a.err is not None:
        bound = bound + a.err.dot(wb)
    if b.err is not None:
        bound = bound + wa.dot(b.err)
    return fresh(np.asarray(va.dot(vb), a.dtype), bound, True)


BAND = {"f": (0.5, 2, -1), "c": (0.5, 2, -1), "i": (3, 2, -1)}


def band(x):
    """A sparse matrix times a vector: row i has entries in columns 3 i + 1 mod n, i, n - 1 - i, added in this order."""
    demand(isinstance(x, Arr) and x.ndim == 1 and x.size > 0 and x.dtype in ("float32", "float64", "complex64", "complex128",
                                                                             "int64"), "sparse product")
    finite_operands([x.val])
    n, val, err = x.size, x.val, x.err
    i = np.arange(n)
    terms = list(zip(BAND[KINDS[x.dtype]], ((3 * i + 1) % n, i, n - 1 - i)))
    y = np.zeros(n, val.dtype)
    for factor, column in terms:
        y = y + np.asarray(factor, val.dtype) * val[column]
    if err is not None:
        size = sum(abs(factor) * (np.abs(val[column]) + err[column]) for factor, column in terms)
        err = sum(abs(factor) * err[column] for factor, column in terms) + 8 * EPS[x.dtype] * size
    return fresh(y, err, x.taint)


# ---- views ----------------------------------------------------------------------------------------


def index(x, entries):
    """entries: one for each dimension of x, besides new axes.
    ["s", lo, hi, step] a slice as Python's, ["i", k] an index as Python's, ["n"] a new axis."""
    off, shape, strides, d = x.off, [], [], 0
    for entry in entries:
        if entry[0] == "n":
            shape.append(1)
            strides.append(0)
            continue
        demand(d < x.ndim, "too many indices")
        n, st = x.shape[d], x.strides[d]
        d += 1
        if entry[0] == "i":
            k = entry[1] + n if entry[1] < 0 else entry[1]
            demand(0 <= k < n, "index")
            off += k * st
            continue
        _, lo, hi, step = entry
        if step > 0:
            first = 0 if lo is None else lo + n if lo < 0 else lo
            past = n if hi is None else hi + n if hi < 0 else hi
            demand(0 <= first <= past <= n, "slice")
            count = -(-(past - first) // step)
        else:
            first = n - 1 if lo is None else lo + n if lo < 0 else lo
            past = -1 if hi is None else hi + n if hi < 0 else hi
            demand(n > 0 and -1 <= past < first < n, "slice")
            count = -(-(first - past) // -step)
        off += first * st if count else 0
        shape.append(count)
        strides.append(st * step)
    demand(d == x.ndim, "too few indices")
    demand(len(shape) <= 6, "too many dimensions")
    return Arr(x.root, off, shape, strides)


def transpose(x, perm):
    demand(sorted(perm) == list(range(x.ndim)), "axes")
    return Arr(x.root, x.off, [x.shape[p] for p in perm], [x.strides[p] for p in perm])


def broadcast_to(x, shape):
    extra = len(shape) - x.ndim
    demand(0 <= extra and len(shape) <= 6, "broadcast")
    strides = [0] * extra
    for n, s, m in zip(x.shape, x.strides, shape[extra:]):
        demand(n in (m, 1), "broadcast")
        strides.append(s if n == m else 0)
    out = Arr(x.root, x.off, shape, strides)
    demand(out.size <= MAX_ELEMENTS, "too large")
    return out


def windows(x, axis, width):
    """All windows of so many elements along an axis, as a new last axis."""
    demand(axis < x.ndim < 6 and 1 <= width <= x.shape[axis], "windows")
    shape = [*x.shape, width]
    shape[axis] -= width - 1
    out = Arr(x.root, x.off, shape, [*x.strides, x.strides[axis]])
    demand(out.size <= MAX_ELEMENTS, "too large")
    return out


def reshape(x, shape):
    """Of C-ordered elements a view, otherwise a copy."""
    n = 1
    for extent in shape:
        n *= extent
    demand(n == x.size, "reshape")
    if x.contiguous():
        return Arr(x.root, x.off, shape, dense_strides(shape))
    return fresh(np.array(x.val).reshape(shape), None if x.err is None else np.array(x.err).reshape(shape), x.taint)


def join(arrays, axis):
    demand(all(x.ndim == arrays[0].ndim > axis for x in arrays), "axes of concatenate")
    for d in range(arrays[0].ndim):
        demand(d == axis or all(x.shape[d] == arrays[0].shape[d] for x in arrays), "shapes of concatenate")
    val = np.concatenate([x.val for x in arrays], axis)
    demand(NAMES[val.dtype] in KINDS, "unused dtype")
    err = None
    if any(x.err is not None for x in arrays):
        err = np.concatenate([np.zeros(x.shape) if x.err is None else x.err for x in arrays], axis)
    return fresh(val, err, any(x.taint for x in arrays))


def ordered(name, x, axis):
    """sort or argsort along an axis."""
    demand(axis < x.ndim and x.err is None and KINDS[x.dtype] in "if", "sort")
    demand(not np.isnan(x.val.astype(float)).any(), "sort of what has no order")
    if name == "sort":
        return fresh(np.sort(x.val, axis, kind="stable"), None, x.taint)
    return fresh(np.argsort(x.val, axis, kind="stable").astype("int64") + 1, None, x.taint)


# What the runner defines with np.fuse and lgt.task, as expressions of its operands; the second: the
# result has the dtype of the first operand.
CALLS = {
    "damp": (["op", "divide", [0, ["op", "add", [["num", 1], ["op", "abs", [1]]]]]], False),
    "bump": (["op", "where", [["op", "less", [0, 1]], ["op", "multiply", [0, 0]], ["op", "subtract", [1, 0]]]], False),
    "lerp": (["op", "add", [0, ["op", "multiply", [["num", 0.25], ["op", "subtract", [1, 0]]]]]], True),
    "relax": (["op", "add", [["op", "multiply", [0, ["num", 0.5]]], 1]], True),
    "spread": (["op", "subtract", [["reduce", "max", 0, None, False], ["reduce", "min", 0, None, False]]], True),
}
OPS_AT = {"add": np.add, "subtract": np.subtract, "maximum": np.maximum, "minimum": np.minimum}
REFUSED = {"shapes", "index", "reshape"}  # why lgt refuses, too


def applied(name, args):
    """A call of CALLS as an expression."""
    def put_in(e):
        if isinstance(e, int) and not isinstance(e, bool):
            return args[e]
        if e[0] == "op":
            return ["op", e[1], [put_in(a) for a in e[2]], 0]
        return ["reduce", e[1], put_in(e[2]), *e[3:]] if e[0] == "reduce" else e
    return put_in(CALLS[name][0])


# ---- the machine ----------------------------------------------------------------------------------


def pattern(dtype, shape, params):
    """The elements of an input: a formula in integers, so that Lua makes the same ones."""
    a, b, m, q = params
    n = 1
    for extent in shape:
        n *= extent
    k = (np.arange(n, dtype="int64") * a + b) % m
    if dtype == "bool":
        val = k * 2 < m
    elif KINDS[dtype] == "c":
        val = ((k - m // 2) / q + 1j * ((k * 7 % m - m // 2) / q)).astype(dtype)
    elif KINDS[dtype] == "f":
        val = ((k - m // 2) / q).astype(dtype)
    else:
        val = (k if dtype.startswith("u") else k - m // 2).astype(dtype)
    return val.reshape(shape)


class Machine(Turns):
    """Variables, and what the program looked at (value, error, taint) in order."""

    def __init__(self, extents):
        super().__init__()
        self.extents = extents
        self.env = {}
        self.seen = []
        self.steps = 0
        self.parts = []  # arrays that the current statement has read
        self.memo = None  # the generator asks for one expression many times: id(e) -> (e, value)

    def clone(self):
        other = Machine(self.extents)
        roots, handles = {}, {}

        def copied(x):
            if not isinstance(x, Arr):
                return x
            r = x.root
            if id(r) not in roots:
                roots[id(r)] = Root(r.buf.copy(), None if r.err is None else r.err.copy(), r.taint, r.picked, r.bad)
            if id(x) not in handles:  # several names may have one
                handles[id(x)] = Arr(roots[id(r)], x.off, x.shape, x.strides)
            return handles[id(x)]
        other.env = {name: copied(x) for name, x in self.env.items()}
        other.rings = {number: [copied(x) for x in ring] for number, ring in self.rings.items()}
        other.turns = list(self.turns)
        other.seen = list(self.seen)
        other.steps = self.steps
        other.memo = None if self.memo is None else {}
        return other

    # -- expressions

    def eval(self, e):
        if self.memo is None or e[0] in ("var", "num"):
            x = self.value(e)
        else:
            if id(e) not in self.memo:
                self.memo[id(e)] = e, self.value(e)
            x = self.memo[id(e)][1]
        if isinstance(x, Arr):
            self.parts.append(x)
        return x

    def value(self, e):
        outer, self.parts = self.parts, []
        try:
            x = self.value_of(e)
            bad = self.why()
            if bad and isinstance(x, Arr) and not any(x.root is part.root for part in self.parts):
                demand(x.size > 0, "failure of nothing")
                x.root.bad = min(bad, x.root.bad or bad)
            return x
        finally:
            self.parts = outer

    def why(self):
        """The first failure among what was read."""
        bad = [x.root.bad for x in self.parts if x.root.bad]
        demand(not bad or all(x.size for x in self.parts), "failure beside nothing")
        return min(bad) if bad else None

    def looked_at(self, x):
        demand(x.root.bad is None, "looking at what failed")
        return x

    def value_of(self, e):
        kind = e[0]
        if kind == "var":
            demand(e[1] in self.env, "undefined")
            return self.env[e[1]]
        if kind == "num":
            return Num(e[1])
        if kind == "op":
            return elementwise(e[1], [self.eval(a) for a in e[2]])
        if kind == "index":
            return index(self.array(e[1]), e[2])
        if kind == "transpose":
            return transpose(self.array(e[1]), e[2])
        if kind == "broadcast":
            return broadcast_to(self.array(e[1]), self.shape(e[2]))
        if kind == "windows":
            return windows(self.array(e[1]), e[2], e[3])
        if kind == "reshape":
            return reshape(self.array(e[1]), self.shape(e[2]))
        if kind == "reduce":
            return reduced(e[1], self.array(e[2]), None if e[3] is None else tuple(e[3]), e[4])
        if kind == "dot":
            return dot(self.array(e[1]), self.array(e[2]))
        if kind == "band":
            return band(self.array(e[1]))
        if kind == "sort":
            return ordered(e[1], self.array(e[2]), e[3])
        if kind == "cast":
            x = self.array(e[2])
            val, err = cast(x.val, x.err, e[1])
            return fresh(val, err, x.taint)
        if kind == "copy":
            x = self.array(e[1])
            return fresh(x.val, x.err, x.taint)
        if kind == "pick":
            x, where = self.array(e[1]), self.picked(e[1], e[2], e[3])
            y = fresh(x.val[where], None if x.err is None else x.err[where], x.taint)
            y.root.picked = e[3] is None
            return y
        if kind == "ruin":
            x = self.array(e[2])
            demand(x.ndim > 0 and x.size > 0, "nothing to fail")
            if e[1] == "take":
                y, why = fresh(x.val, x.err, x.taint), f"position {1000000 + e[3]} of axis 1 "
            else:
                demand(x.dtype == "float64", "singular matrix")
                y, why = elementwise("multiply", [x, fresh(np.zeros(()))]), "the matrix is singular"
            y.root.bad = self.steps, why
            return y
        if kind == "join":
            return join([self.array(a) for a in e[1]], e[2])
        if kind == "call":
            y = self.array(applied(e[1], e[2]))
            if not CALLS[e[1]][1]:
                return y
            x = self.array(e[2][0])
            demand(np.can_cast(y.dtype, x.dtype, "same_kind"), "task that writes another kind")
            demand(y.shape in (x.shape, ()), "task that writes another shape")
            demand(x.size > 0, "extremum of nothing")
            return fresh(*cast(y.val, y.err, x.dtype), y.taint)
        raise AssertionError(f"no expression {kind}")

    def picked(self, e, key, axis):
        """What an array in a key picks, as an index of NumPy: a mask, or positions along an axis (None: x[key])."""
        x, k = self.array(e), self.array(key)
        demand(x.ndim > 0 and k.ndim > 0, "nothing to pick from")
        if k.dtype == "bool":
            self.looked_at(k)
            demand(axis is None and k.shape == x.shape[:k.ndim], "mask")
            return np.array(k.val)
        demand(KINDS[k.dtype] == "i" and (axis or 0) < x.ndim, "positions")
        demand(x.ndim + k.ndim - 1 <= 6, "too many dimensions")
        n, at = x.shape[axis or 0], k.val
        demand((((at >= 1) & (at <= n)) | ((at <= -1) & (at >= -n))).all(), "positions")
        at = at.astype("int64")
        return (slice(None),) * (axis or 0) + (np.where(at > 0, at - 1, at),)

    def array(self, e):
        x = self.eval(e)
        demand(isinstance(x, Arr), "needs an array")
        return x

    def shape(self, extents):
        """Extents are numbers, or names of the program's extents, which shrinking makes smaller."""
        return tuple(self.extents[n] if isinstance(n, str) else n for n in extents)

    # -- statements

    def run(self, block, depth=0):
        for s in block:
            self.step(s, depth)

    def step(self, s, depth=0):
        self.steps += 1
        self.parts = []
        demand(self.steps < MAX_STEPS, "too long")
        getattr(self, "do_" + s[0])(s, depth)
        if self.memo:
            self.memo.clear()

    def do_new(self, s, depth):
        _, name, dtype, extents, params = s
        shape = self.shape(extents)
        self.bind(name, fresh(pattern(dtype, shape, params)), depth)

    def do_let(self, s, depth):
        self.bind(s[1], self.array(s[2]), depth)

    def bind(self, name, x, depth):
        old = self.env.get(name)
        if old is not None and depth:  # the types in a block are those of its first turn
            demand(isinstance(old, Arr) and old.shape == x.shape and old.dtype == x.dtype, "rebinding")
            demand(x.writable() or not old.writable(), "rebinding to a broadcast view")
            demand(x.contiguous() or not old.contiguous(), "rebinding to a view with gaps")
        self.env[name] = x

    def source(self, e, target):
        """The right-hand side of an assignment, copied before anything is written."""
        x = self.eval(e)
        demand(target.writable(), "writing a broadcast view")
        if isinstance(x, Num):
            demand(KINDS[target.dtype] == "f" or KINDS[target.dtype] == "i" and x.integral and
                   x.source is None, "number into an array of another kind")
            if KINDS[target.dtype] == "i":
                info = np.iinfo(target.dtype)
                demand(info.min <= x.value <= info.max, "number does not fit")
            val, err = operand(x, target.dtype)
        else:
            demand(np.can_cast(x.dtype, target.dtype, "same_kind"), "assignment of another kind")
            demand(x.ndim <= target.ndim, "assignment of more dimensions")
            val, err = operand(x, target.dtype)
        try:
            val = np.array(np.broadcast_to(val, target.shape))
            err = None if err is None else np.array(np.broadcast_to(err, target.shape))
        except ValueError as error:
            raise Reject("shapes of an assignment") from error
        return val, err, x.taint

    def store(self, target, val, err, taint, whole=False):
        """`whole`: whatever was in the target does not matter."""
        every = target.size == target.root.buf.size and all(s for s, n in zip(target.strides, target.shape) if n > 1)
        bad = self.why()
        if target.root.bad and not (whole and every):
            bad = min(target.root.bad, bad or target.root.bad)
        demand(not bad or target.size, "failure into nothing")
        target.root.bad = bad
        if err is not None and np.any(err):
            demand(NAMES[val.dtype] in EPS, "error of an integer")
            if target.root.err is None:
                target.root.err = np.zeros(target.root.buf.shape)
            target.root.taint = target.root.taint or taint
        if target.size:
            target.val[...] = val
            if target.root.err is not None:
                target.err[...] = 0 if err is None else err

    def do_set(self, s, depth):
        target = self.array(s[1])
        self.parts = []
        self.store(target, *self.source(s[2], target), whole=True)

    def do_iop(self, s, depth):
        _, name, where, e = s
        target = self.array(where)
        x = self.eval(e)
        demand(target.writable(), "writing a broadcast view")
        r = elementwise(name, [target, x])
        demand(r.shape == target.shape, "shapes of an in-place operation")
        demand(np.can_cast(r.dtype, target.dtype, "same_kind"), "in-place operation of another kind")
        val, err = cast(r.val, r.err, target.dtype)
        self.store(target, val, err, r.taint)

    def do_fill(self, s, depth):
        """Through a boolean mask: target[mask] = number."""
        _, where, mask, value = s
        target, m = self.array(where), self.looked_at(self.array(mask))
        demand(m.dtype == "bool" and m.shape == target.shape and target.writable(), "mask")
        demand(target.ndim > 0, "mask without dimensions")
        demand(KINDS[target.dtype] == "f" or KINDS[target.dtype] == "i" and float(value).is_integer(), "fill")
        if target.size:
            chosen = np.array(m.val)
            target.val[chosen] = value
            if target.root.err is not None:
                target.err[chosen] = 0

    def do_put(self, s, depth):
        """target[key] = value; with an operation: target:at(key):iadd(value); "each": np.add.at(target, key, value)."""
        _, where, key, e, name, each = s
        target, chosen = self.array(where), self.picked(where, key, None)
        demand(target.writable(), "writing a copy or a broadcast view")
        x = self.eval(e)
        old = fresh(target.val[chosen], None if target.err is None else target.err[chosen])
        demand(KINDS[target.dtype] != "b" or name is None, "arithmetic on bool")
        if name is None or each:
            val, err, taint = self.source(e, old)
        else:
            r = elementwise(name, [old, x])
            demand(r.shape == old.shape and np.can_cast(r.dtype, target.dtype, "same_kind"), "in-place operation")
            val, err, taint = *cast(r.val, r.err, target.dtype), r.taint
        if each:
            demand(err is None or not np.any(err), "accumulating inexact values")
            demand(target.err is None and target.dtype in ("float64", "float32", "int64", "int32"), "accumulating")
            finite_operands([target.val, val])
            sums = np.array(target.val)
            OPS_AT[name].at(sums, chosen, val)
            wide = np.array(target.val).astype(float)
            OPS_AT[name].at(wide, chosen, val.astype(float))
            demand((np.abs(wide) < 2.0**31).all(), "overflow")
            self.store(target, sums, None, False)
            return
        whole = np.array(target.val)
        whole[chosen] = val
        errors = np.zeros(target.shape) if target.err is None else np.array(target.err)
        errors[chosen] = 0 if err is None else err
        self.store(target, whole, errors if errors.any() else None, taint)

    def do_into(self, s, depth):
        """np.name(operands, {out = target, where = mask})."""
        _, name, where, operands, mask = s
        target = self.array(where)
        demand(target.writable(), "writing a broadcast view")
        self.parts = []
        r = elementwise(name, [self.eval(a) for a in operands])
        demand(np.can_cast(r.dtype, target.dtype, "same_kind"), "out of another kind")
        demand(r.shape == target.shape, "shapes of out")
        val, err = cast(r.val, r.err, target.dtype)
        if mask is not None:
            m = self.array(mask)
            demand(m.dtype == "bool" and m.shape == target.shape, "mask")
            chosen = np.array(m.val)
            val = np.where(chosen, val, target.val)
            errors = [np.zeros(target.shape) if x is None else x for x in (err, target.err)]
            err = np.where(chosen, *errors)
        self.store(target, np.array(val), err if err is not None and np.any(err) else None, r.taint, mask is None)

    def do_scatter(self, s, depth):
        target = self.array(s[1])
        demand(target.writable() and target.ndim > 0 and target.size > 0 and target.dtype != "bool", "nothing to fail")
        target.root.bad = min(self.why() or (self.steps, ""), (self.steps, f"position {1000000 + s[2]} of axis 1 "))

    def do_host(self, s, depth):
        """A loop over the elements on the host: each is negated."""
        target = self.looked_at(self.array(s[1]))
        demand(target.writable() and target.ndim > 0, "host")
        demand(KINDS[target.dtype] in "if" and target.dtype != "float16", "elements that Lua can compute with")
        demand(not target.dtype.startswith("u") and (target.dtype != "int64" or (np.abs(target.val) < 2**53).all()),
               "elements that Lua can compute with")
        self.store(target, -target.val, None if target.err is None else np.array(target.err), target.taint)

    def do_free(self, s, depth):
        x = self.array(["var", s[1]])
        others = [y for name, y in self.env.items() if name != s[1]] + sum(self.rings.values(), [])
        demand(not any(y is x for y in others), "a handle of two names")
        del self.env[s[1]]

    def do_fails(self, s, depth):
        """Something that lgt must refuse; the program goes on."""
        try:
            self.value(s[1])
        except Reject as reject:
            demand(str(reject) in REFUSED, "not certainly refused")
            return
        raise Reject("not refused")

    def do_caught(self, s, depth):
        """The program looks at what failed, and catches it."""
        demand(self.array(["var", s[1]]).root.bad, "nothing to catch")

    def do_exhaust(self, s, depth):
        """A task that finds no memory spoils an array, until it is filled with 2."""
        target = self.array(s[1])
        demand(target.writable() and target.contiguous() and target.size == target.root.buf.size > 0, "not all of a root")
        demand(target.dtype != "bool", "a number into bool")
        self.parts = []
        self.store(target, np.full(target.shape, 2, target.dtype), None, False, True)

    def do_read(self, s, depth):
        _, name, e, where = s
        x = self.looked_at(self.array(e))
        demand(KINDS[x.dtype] != "c", "complex number")
        demand(len(where) == x.ndim, "indices of an element")
        one = index(x, [["i", k] for k in where])
        value = one.val[()].item()
        err = 0.0 if one.err is None else float(one.err[()])
        demand(np.isfinite(value) and abs(value) < 2**53, "element that Lua cannot hold")
        self.env[name] = Num(value, err, x.taint, x.dtype)
        self.seen.append((value, err, x.taint))

    def do_nil(self, s, depth):
        demand(s[1] in self.env, "undefined")
        del self.env[s[1]]

    def do_gc(self, s, depth):
        pass

    def do_flush(self, s, depth):
        pass
