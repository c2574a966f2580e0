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
import numpy as np

from operations import EPS, KINDS, LIMIT, NAMES, OPS, TINY, Reject, demand, finite_operands, rounded

MAX_ELEMENTS = 400000


class Root:
    """Memory: elements in C order, their errors (None: all exact), and the taint."""
    __slots__ = ("buf", "err", "taint", "dtype")

    def __init__(self, buf, err=None, taint=False):
        self.buf, self.err, self.taint, self.dtype = buf, err, taint, NAMES[buf.dtype]


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
        return all(s != 0 or n <= 1 for s, n in zip(self.strides, self.shape))


class Num:
    """A Lua number, known when the operation is issued.  `source`: dtype it was read from, or None."""
    __slots__ = ("value", "err", "taint", "source")

    def __init__(self, value, err=0.0, taint=False, source=None):
        self.value, self.err, self.taint, self.source = value, err, taint, source

    @property
    def integral(self):
        return float(self.value).is_integer()


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
    if val.dtype.kind == "f" and val.size:
        name = NAMES[val.dtype]
        mag = np.abs(val)
        if not np.maximum.reduce(mag, axis=None) <= LIMIT[name]:  # or it is NaN
            demand(err is None, "special value with an error")
            demand(not ((mag > LIMIT[name]) & np.isfinite(mag)).any(), "too large a value")
        if err is not None:
            err = np.broadcast_to(err, val.shape)
            worst = np.maximum.reduce(err - (1e-3 * EPS[name]**0.5) * mag, axis=None)
            demand(worst <= 1e-3 * EPS[name]**0.5, "too inexact")
            if not err.any():
                err = None
    else:
        err = None
    root = Root(np.array(val, order="C").reshape(-1), None if err is None else np.array(err, order="C").reshape(-1),
                taint and err is not None)
    return Arr(root, 0, val.shape, dense_strides(val.shape))


# ---- elementwise operations -----------------------------------------------------------------------


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
    return NAMES[np.result_type(a[0], b[0])], strong[1]


RANK = {"b": 0, "i": 1, "f": 2}


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
            demand(n.source is None or KINDS[dtype] == "f" or KINDS[n.source] == "i" and KINDS[dtype] == "i",
                   "number that was read, with an array of another kind")
            if KINDS[dtype] == "i":
                info = np.iinfo(dtype)
                demand(info.min <= n.value <= info.max, "number does not fit")
    kind = KINDS[dtype]
    if cls == "arith":
        if kind == "b":
            demand(name in ("add", "multiply", "maximum", "minimum"), "arithmetic on bool")
    elif cls in ("div", "smooth"):
        demand(cls == "div" or dtype in ("float64", "float32", "int64", "int32"), "small integers")
        demand(kind != "b" and dtype not in ("int16", "uint8", "int8"), "small integers")
        if kind == "i":
            dtype = "float64"
    elif cls in ("real", "test"):
        demand(kind == "f", "floats only")
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
        if err and dtype == "float32":
            err += EPS[dtype] * abs(float(val))
        return val, err
    val, err = x.val, x.err
    return cast(val, err, dtype)


def cast(val, err, dtype):
    """As astype; demands what is defined alike everywhere."""
    if NAMES[val.dtype] == dtype:
        return val, err
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
    if dtype == "float32" and err is not None:
        err = rounded(out, err)
    return out, err if KINDS[dtype] == "f" else None


def elementwise(name, operands):
    arity, cls, function = OPS[name]
    demand(len(operands) == arity, "wrong number of operands")
    if cls == "where":
        demand(isinstance(operands[0], Arr) and operands[0].dtype == "bool", "condition")
        cond, operands = operands[0], operands[1:]
        dtype = operation_dtype("arith", "maximum", operands)
    else:
        cond = None
        dtype = operation_dtype(cls, name, operands)
    if name in ("power",) and KINDS[dtype] == "i":
        demand(isinstance(operands[1], Num), "integer exponents are numbers")
    pairs = [operand(x, dtype) for x in operands]
    vals = [p[0] for p in pairs]
    errs = None
    if any(p[1] is not None and np.any(p[1]) for p in pairs):
        errs = [np.zeros(p[0].shape) if p[1] is None else np.asarray(p[1], float) for p in pairs]
    if cond is not None:
        vals = [cond.val] + vals
        errs = None if errs is None else [None] + errs
    try:
        shape = np.broadcast_shapes(*[v.shape for v in vals])
    except ValueError as error:
        raise Reject("shapes") from error
    demand(int(np.prod(shape)) <= MAX_ELEMENTS, "too large")
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
    demand(x.dtype in ("float64", "float32", "int64", "int32", "bool"), "sum of small integers")
    demand(kind != "f" or np.isfinite(val).all(), "sum of special values")
    if name == "mean":
        demand(count > 0, "empty mean")
    if kind != "f" and name != "mean":
        return fresh(getattr(np, name)(val, dtype="int64", **kw))
    out = "float64" if kind != "f" else x.dtype
    wide = np.abs(val.astype(float))
    e = np.zeros(val.shape) if err is None else err
    if name == "prod":
        demand(count <= 200, "long product")
        r = np.prod(val, **kw)
        mag = np.prod(wide, **kw)
        spread = np.prod(wide + e, **kw) - mag if err is not None else 0
        bound = 2 * spread + 2 * count * EPS[out] * mag + TINY[out]
    else:
        r = np.sum(val, dtype=out, **kw)
        mag = np.sum(wide, **kw)
        bound = np.sum(e, **kw) + 2 * count * EPS[out] * mag
        if name == "mean":
            r = np.asarray(r / np.asarray(count, out), out)
            bound = bound / count + 2 * EPS[out] * np.abs(r)
    if count <= 1 and err is None:
        bound = None if name != "mean" else bound
    return fresh(np.asarray(r, out), bound, True)


def dot(a, b):
    demand(isinstance(a, Arr) and isinstance(b, Arr) and a.dtype == b.dtype and KINDS[a.dtype] != "b", "dot")
    demand(1 <= a.ndim <= 2 and 1 <= b.ndim <= 2 and a.shape[-1] == b.shape[0], "shapes of dot")
    va, vb = a.val, b.val
    if KINDS[a.dtype] == "i":
        return fresh(np.asarray(va.dot(vb), a.dtype))
    finite_operands([va, vb])
    wa, wb = np.abs(va.astype(float)), np.abs(vb.astype(float))
    n = a.shape[-1]
    bound = 2 * (n + 1) * EPS[a.dtype] * wa.dot(wb)
    if a.err is not None:
        bound = bound + a.err.dot(wb)
    if b.err is not None:
        bound = bound + wa.dot(b.err)
    return fresh(np.asarray(va.dot(vb), a.dtype), bound, True)


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


def reshape(x, shape):
    """Of C-ordered elements a view, otherwise a copy."""
    n = 1
    for extent in shape:
        n *= extent
    demand(n == x.size, "reshape")
    if x.contiguous():
        return Arr(x.root, x.off, shape, dense_strides(shape))
    return fresh(np.array(x.val).reshape(shape), None if x.err is None else np.array(x.err).reshape(shape), x.taint)


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
    elif KINDS[dtype] == "f":
        val = ((k - m // 2) / q).astype(dtype)
    else:
        val = (k if dtype.startswith("u") else k - m // 2).astype(dtype)
    return val.reshape(shape)


class Machine:
    """Variables, and what the program looked at (value, error, taint) in order."""

    def __init__(self, extents):
        self.extents = extents
        self.env = {}
        self.seen = []
        self.steps = 0
        self.memo = None  # the generator asks for one expression many times: id(e) -> (e, value)

    def clone(self):
        other = Machine(self.extents)
        roots = {}
        for name, x in self.env.items():
            if isinstance(x, Arr):
                if id(x.root) not in roots:
                    r = x.root
                    roots[id(r)] = Root(r.buf.copy(), None if r.err is None else r.err.copy(), r.taint)
                x = Arr(roots[id(x.root)], x.off, x.shape, x.strides)
            other.env[name] = x
        other.seen = list(self.seen)
        other.steps = self.steps
        other.memo = None if self.memo is None else {}
        return other

    # -- expressions

    def eval(self, e):
        if self.memo is None or e[0] in ("var", "num"):
            return self.value(e)
        if id(e) not in self.memo:
            self.memo[id(e)] = e, self.value(e)
        return self.memo[id(e)][1]

    def value(self, e):
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
        if kind == "reshape":
            return reshape(self.array(e[1]), self.shape(e[2]))
        if kind == "reduce":
            return reduced(e[1], self.array(e[2]), None if e[3] is None else tuple(e[3]), e[4])
        if kind == "dot":
            return dot(self.array(e[1]), self.array(e[2]))
        if kind == "cast":
            x = self.array(e[2])
            val, err = cast(x.val, x.err, e[1])
            return fresh(val, err, x.taint)
        if kind == "copy":
            x = self.array(e[1])
            return fresh(x.val, x.err, x.taint)
        raise AssertionError(f"no expression {kind}")

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
        demand(self.steps < 400, "too long")
        getattr(self, "do_" + s[0])(s, depth)
        if self.memo:
            self.memo.clear()

    def inner(self, block, depth):
        """A block: what it names first is gone at its end."""
        outer = set(self.env)
        self.run(block, depth + 1)
        for name in list(self.env):
            if name not in outer:
                del self.env[name]

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

    def store(self, target, val, err, taint):
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
        self.store(target, *self.source(s[2], target))

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
        target, m = self.array(where), self.array(mask)
        demand(m.dtype == "bool" and m.shape == target.shape and target.writable(), "mask")
        demand(target.ndim > 0, "mask without dimensions")
        demand(KINDS[target.dtype] == "f" or KINDS[target.dtype] == "i" and float(value).is_integer(), "fill")
        if target.size:
            chosen = np.array(m.val)
            target.val[chosen] = value
            if target.root.err is not None:
                target.err[chosen] = 0

    def do_read(self, s, depth):
        _, name, e, where = s
        x = self.array(e)
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

    def do_for(self, s, depth):
        outer = dict.fromkeys(self.env)
        for _ in range(s[1]):
            self.inner(s[2], depth)
        demand(all(name in self.env for name in outer), "dropped in a loop")

    def do_if(self, s, depth):
        before = set(self.env)
        self.inner(s[2] if self.decide(s[1]) else s[3], depth)
        demand(before == set(self.env), "dropped in a branch")

    def decide(self, cond):
        """["lt", name, bound]: a number that was read; ["any" or "all", mask]; ["lt0", array, bound]."""
        if cond[0] == "lt":
            x = self.env.get(cond[1])
            demand(isinstance(x, Num) and x.source != "bool", "number")
            demand(abs(x.value - cond[2]) > 2 * x.err, "branch not known")
            return x.value < cond[2]
        x = self.array(cond[1])
        if cond[0] == "lt0":
            demand(x.ndim == 0 and x.dtype != "bool", "0-d array")
            value, err = x.val[()].item(), 0 if x.err is None else float(x.err[()])
            demand(np.isfinite(value) and abs(value - cond[2]) > 2 * err, "branch not known")
            return value < cond[2]
        demand(x.dtype == "bool", "mask")
        return bool(x.val.any() if cond[0] == "any" else x.val.all())
