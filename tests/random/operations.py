"""The elementwise operations of random programs: their values with NumPy, and their errors.

machine.py tells what an error is.  Each function takes the operands' values, already cast to the dtype of
the operation, and their errors (None where no operand has any), and returns value and error.
"""
import numpy as np

np.seterr(all="ignore")  # what overflows or has no value is rejected or compared
EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "complex64": 2.0**-23, "complex128": 2.0**-52}
# Below it a relative bound means nothing.
TINY = {"float64": 1e-300, "float32": 1e-37, "float16": 1e-7, "complex64": 1e-37, "complex128": 1e-300}
# Larger magnitudes are rejected.
LIMIT = {"float64": 1e9, "float32": 1e6, "float16": 1e3, "complex64": 1e6, "complex128": 1e9}
# Greater errors are rejected, too, absolute or relative.
WORST = {name: 1e-3 * eps**0.5 if name != "float16" else 0.03 for name, eps in EPS.items()}
ULPS = 10  # of a transcendental function: 4 of each library, and 2 to spare


KINDS = {"bool": "b", "int8": "i", "int16": "i", "int32": "i", "int64": "i", "uint8": "i", "uint16": "i",
         "uint32": "i", "uint64": "i", "float16": "f", "float32": "f", "float64": "f", "complex64": "c", "complex128": "c"}


class Reject(Exception):
    """The statement cannot be part of a program: ill-typed, out of domain, or undecidable."""


def demand(condition, why):
    if not condition:
        raise Reject(why)


NAMES = {np.dtype(n): n for n in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                                  "float16", "float32", "float64", "complex64", "complex128")}  # dtype.name is slow


def rounded(val, err):
    """The error after one more rounding; exact elements stay exact."""
    if err is None:
        return None
    name = NAMES[val.dtype]
    return np.where(err > 0, err + EPS[name] * np.abs(val) + TINY[name], 0) if name in EPS else None


def total(errs):
    return None if errs is None else sum(errs)


def op_add(v, e):
    r = v[0] + v[1]
    return r, rounded(r, total(e))


def op_subtract(v, e):
    r = v[0] - v[1]
    return r, rounded(r, total(e))


def complex_errors(v, e):
    """No order of a complex product's terms is the right one: its errors, even of exact operands."""
    finite_operands(v)
    return [np.zeros(np.shape(x)) for x in v] if e is None else e


def op_multiply(v, e):
    r = v[0] * v[1]
    if r.dtype.kind == "c":
        e = complex_errors(v, e)
        own = 4 * EPS[NAMES[r.dtype]] * np.abs(v[0]) * np.abs(v[1]) + TINY[NAMES[r.dtype]]
        return r, np.abs(v[0]) * e[1] + np.abs(v[1]) * e[0] + e[0] * e[1] + own
    return r, None if e is None else rounded(r, np.abs(v[0]) * e[1] + np.abs(v[1]) * e[0] + e[0] * e[1])


def op_divide(v, e):
    demand((np.abs(v[1]) > 1e-6).all() or (e is None and np.isfinite(v[1]).all()), "divisor near zero")
    r = v[0] / v[1]
    if r.dtype.kind == "c":
        demand((np.abs(v[1]) > 1e-3).all(), "divisor near zero")
        e = complex_errors(v, e)
        own = 20 * EPS[NAMES[r.dtype]] * np.abs(r) + TINY[NAMES[r.dtype]]
    elif e is None:
        return r, None
    demand((np.abs(v[1]) > 4 * e[1]).all(), "divisor not known")
    if r.dtype.kind == "c":
        return r, (e[0] + np.abs(r) * e[1]) / (np.abs(v[1]) - e[1]) + own
    return r, rounded(r, (e[0] + np.abs(r) * e[1]) / (np.abs(v[1]) - e[1]))


def exact_only(function):
    def op(v, e):
        demand(e is None, "needs exact operands")
        return function(*v), None
    return op


def finite_operands(v):
    for x in v:
        demand(x.dtype.kind not in "fc" or np.isfinite(x).all(), "special operand")


def op_remainder(v, e):
    demand(e is None and (v[1] != 0).all(), "remainder")
    finite_operands(v)
    return np.remainder(*v), None


def op_fmod(v, e):
    demand(e is None and (v[1] != 0).all(), "fmod")
    finite_operands(v)
    return np.fmod(*v), None


def op_floor_divide(v, e):
    demand(e is None and (v[1] != 0).all(), "floor_divide")
    finite_operands(v)
    return np.floor_divide(*v), None


def op_power(v, e):
    if v[0].dtype.kind in "iu":
        demand((v[1] >= 0).all() and (v[1] <= 4).all(), "integer exponent")
        return np.power(*v), None
    finite_operands(v)
    demand((v[0] > 0.05).all() or (np.ndim(v[1]) == 0 and v[1] in (2, 3) and (v[0] != 0).all()), "base of a power")
    demand((np.abs(v[1]) <= 6).all(), "exponent")
    r = np.power(*v)
    mag, name = np.abs(r), NAMES[r.dtype]
    err = ULPS * EPS[name] * mag + TINY[name]
    if e is not None:
        err = err + 2 * mag * (np.abs(v[1]) * e[0] / np.abs(v[0]) + e[1] * np.abs(np.log(np.abs(v[0]))))
    return r, err


def op_choose(function):
    """Results are one of the operands: the greater error covers both."""
    def op(v, e):
        return function(*v), None if e is None else np.maximum(*e)
    return op


def op_arctan2(v, e):
    demand((np.abs(v[0]) > 1e-3).all() and (np.abs(v[1]) > 1e-3).all(), "arctan2 near an axis")
    finite_operands(v)
    r = np.arctan2(*v)
    err = ULPS * EPS[NAMES[r.dtype]] * np.abs(r)
    if e is not None:
        err = err + 2 * (np.abs(v[0]) * e[1] + np.abs(v[1]) * e[0]) / (v[0] * v[0] + v[1] * v[1])
    return r, err


def op_hypot(v, e):
    finite_operands(v)
    r = np.hypot(*v)
    return r, ULPS * EPS[NAMES[r.dtype]] * r + (0 if e is None else e[0] + e[1])


def op_copysign(v, e):
    demand((np.abs(v[1]) > (0 if e is None else e[1])).all(), "sign not known")
    finite_operands(v)
    return np.copysign(*v), None if e is None else e[0] + 0 * e[1]


def op_negative(v, e):
    return -v[0], total(e)


def op_absolute(v, e):
    r = np.abs(v[0])
    if v[0].dtype.kind == "c":
        return r, ULPS * EPS[NAMES[r.dtype]] * r + complex_errors(v, e)[0]
    return r, total(e)


def op_part(function):
    def op(v, e):
        return np.array(function(v[0])), total(e)
    return op


def op_sign(v, e):
    demand(e is None or (np.abs(v[0]) > e[0]).all() or not e[0].any(), "sign not known")
    return np.sign(v[0]), None


def op_square(v, e):
    return op_multiply([v[0], v[0]], None if e is None else [e[0], e[0]])


def op_sqrt(v, e):
    demand((v[0] >= 0).all(), "root of a negative number")
    r = np.sqrt(v[0])
    if e is None:
        return r, None
    demand((v[0] >= 4 * e[0]).all(), "root near zero")
    return r, rounded(r, np.where(e[0] > 0, e[0] / np.maximum(r, 1e-150), 0))


def op_rounding(function):
    def op(v, e):
        r = function(v[0])
        if e is not None:
            lo, hi = function(v[0] - 2 * e[0]), function(v[0] + 2 * e[0])
            demand((lo == hi).all(), "rounding not known")
        return r, None
    return op


def op_compare(function):
    def op(v, e):
        if e is not None:
            margin = 2 * (e[0] + e[1])
            wide = complex if v[0].dtype.kind == "c" else float
            demand(((np.abs(np.subtract(*[x.astype(wide) for x in v])) > margin) | (margin == 0)).all(),
                   "comparison not known")
        return function(*v), None
    return op


def op_test(function):
    def op(v, e):
        return function(v[0]), None
    return op


def op_logical(function):
    def op(v, e):
        demand(all(x.dtype.kind == "b" for x in v), "logical operand")
        return function(*v), None
    return op


def op_shift(function):
    def op(v, e):
        demand((v[1] >= 0).all() and (v[1] < 31).all(), "shift count")
        return function(*v), None
    return op


def op_smooth(function, domain):
    """A transcendental function that both libraries compute to a few ulp."""
    def op(v, e):
        x = v[0]
        finite_operands(v)
        demand(domain(x).all(), "outside of the domain")
        r = function(x)
        demand(np.isfinite(r).all(), "not finite")
        name = NAMES[r.dtype]
        err = ULPS * EPS[name] * np.abs(r) + TINY[name]
        if e is not None:
            wide = x.astype(float)
            r0 = function(wide)
            err = err + 1.5 * np.maximum(np.abs(function(wide + e[0]) - r0), np.abs(function(wide - e[0]) - r0))
            demand(np.isfinite(err).all(), "error leaves the domain")
        return r, err
    return op


def op_where(v, e):
    r = np.where(v[0], v[1], v[2])
    return r, None if e is None else np.where(v[0], e[1], e[2])


def within(lo, hi):
    return lambda x: (x >= lo) & (x <= hi)


# name: (arity, class, function).  Classes decide the dtypes:
#   arith   the common dtype             div     the common dtype, float64 for integers
#   real    like arith, floats only      smooth  like div, one operand
#   compare operands alike, gives bool   test    floats, gives bool
#   part    of complex numbers
#   logic   bool only                    bits    integers or bool          where  see below
OPS = {
    "add": (2, "arith", op_add),
    "subtract": (2, "arith", op_subtract),
    "multiply": (2, "arith", op_multiply),
    "divide": (2, "div", op_divide),
    "remainder": (2, "arith", op_remainder),
    "power": (2, "arith", op_power),
    "floor_divide": (2, "arith", op_floor_divide),
    "fmod": (2, "real", op_fmod),
    "maximum": (2, "arith", op_choose(np.maximum)),
    "minimum": (2, "arith", op_choose(np.minimum)),
    "fmax": (2, "real", op_choose(np.fmax)),
    "fmin": (2, "real", op_choose(np.fmin)),
    "arctan2": (2, "real", op_arctan2),
    "hypot": (2, "real", op_hypot),
    "copysign": (2, "real", op_copysign),
    "negative": (1, "arith", op_negative),
    "abs": (1, "arith", op_absolute),
    "sign": (1, "arith", op_sign),
    "square": (1, "arith", op_square),
    "conj": (1, "part", op_part(np.conj)),
    "real": (1, "part", op_part(np.real)),
    "imag": (1, "part", op_part(np.imag)),
    "sqrt": (1, "div", op_sqrt),
    "floor": (1, "real", op_rounding(np.floor)),
    "ceil": (1, "real", op_rounding(np.ceil)),
    "trunc": (1, "real", op_rounding(np.trunc)),
    "rint": (1, "real", op_rounding(np.rint)),
    "less": (2, "compare", op_compare(np.less)),
    "less_equal": (2, "compare", op_compare(np.less_equal)),
    "greater": (2, "compare", op_compare(np.greater)),
    "greater_equal": (2, "compare", op_compare(np.greater_equal)),
    "equal": (2, "compare", op_compare(np.equal)),
    "not_equal": (2, "compare", op_compare(np.not_equal)),
    "isnan": (1, "test", op_test(np.isnan)),
    "isfinite": (1, "test", op_test(np.isfinite)),
    "isinf": (1, "test", op_test(np.isinf)),
    "logical_and": (2, "logic", op_logical(np.logical_and)),
    "logical_or": (2, "logic", op_logical(np.logical_or)),
    "logical_xor": (2, "logic", op_logical(np.logical_xor)),
    "logical_not": (1, "logic", op_logical(np.logical_not)),
    "bitwise_and": (2, "bits", exact_only(np.bitwise_and)),
    "bitwise_or": (2, "bits", exact_only(np.bitwise_or)),
    "bitwise_xor": (2, "bits", exact_only(np.bitwise_xor)),
    "left_shift": (2, "bits", op_shift(np.left_shift)),
    "right_shift": (2, "bits", op_shift(np.right_shift)),
    "exp": (1, "smooth", op_smooth(np.exp, within(-30, 12))),
    "exp2": (1, "smooth", op_smooth(np.exp2, within(-30, 16))),
    "expm1": (1, "smooth", op_smooth(np.expm1, within(-30, 12))),
    "log": (1, "smooth", op_smooth(np.log, within(1e-3, 1e9))),
    "log2": (1, "smooth", op_smooth(np.log2, within(1e-3, 1e9))),
    "log10": (1, "smooth", op_smooth(np.log10, within(1e-3, 1e9))),
    "log1p": (1, "smooth", op_smooth(np.log1p, within(-0.9, 1e9))),
    "sin": (1, "smooth", op_smooth(np.sin, within(-100, 100))),
    "cos": (1, "smooth", op_smooth(np.cos, within(-100, 100))),
    "tan": (1, "smooth", op_smooth(np.tan, lambda x: (np.abs(x) < 50) & (np.abs(np.cos(x)) > 0.1))),
    "arcsin": (1, "smooth", op_smooth(np.arcsin, within(-0.95, 0.95))),
    "arccos": (1, "smooth", op_smooth(np.arccos, within(-0.95, 0.95))),
    "arctan": (1, "smooth", op_smooth(np.arctan, within(-1e9, 1e9))),
    "sinh": (1, "smooth", op_smooth(np.sinh, within(-10, 10))),
    "cosh": (1, "smooth", op_smooth(np.cosh, within(-10, 10))),
    "tanh": (1, "smooth", op_smooth(np.tanh, within(-1e9, 1e9))),
    "arcsinh": (1, "smooth", op_smooth(np.arcsinh, within(-1e6, 1e6))),
    "arccosh": (1, "smooth", op_smooth(np.arccosh, within(1.05, 1e6))),
    "arctanh": (1, "smooth", op_smooth(np.arctanh, within(-0.95, 0.95))),
    "cbrt": (1, "smooth", op_smooth(np.cbrt, within(-1e9, 1e9))),
    "where": (3, "where", op_where),
}
