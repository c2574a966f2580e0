"""Every public name of docs/numpy.md beside NumPy's, on generated arrays: types x shapes x axes.

A template is an expression with places: @ is an array, % a second one that goes with it, # an axis.  It meets each type
in one shape, and each shape and axis in one type; where NumPy raises an error, lgt must
raise one.  What kinds and shapes leave out is where lgt refuses on purpose (docs/numpy.md).  ELSEWHERE are the names whose
results cannot be compared like that, and who compares them.
"""
import os
import re
import warnings

import numpy as np
import scipy.linalg
import scipy.signal
import scipy.ndimage
import scipy.special

TOLERANCE = {"float16": 8e-3, "float32": 2e-5, "float64": 1e-12}

TYPES = {"d": "float64", "f": "float32", "e": "float16", "l": "int64", "i": "int32", "b": "int8", "B": "uint8", "L": "uint64",
         "t": "bool", "Z": "complex128", "F": "complex64"}
EXTENTS = {"odd": (5, 7), "point": (), "one": (1,), "ones": (1, 1), "none": (0,), "hollow": (3, 0), "line": (13,), "cube": (3, 1, 5),
           "square": (4, 4), "squares": (2, 3, 3), "row": (7,), "column": (5, 1), "empty_stack": (0, 3, 3), "nothing": (0, 0)}
# shape: (the input, a view of it in Lua, in NumPy)
SHAPES = {name: (name, "", "") for name in ("odd", "point", "one", "ones", "none", "hollow", "line", "cube")}
SHAPES.update(strided=("odd", "['::2, ::-3']", "[::2, ::-3]"), turned=("odd", ".T", ".T"), reversed=("line", "['::-2']", "[::-2]"),
              part=("cube", "[':, 1, 2:4']", "[:, 0, 1:4]"))
STRETCHED = ("np.broadcast_to({}, 5, 7)", "np.broadcast_to({}, (5, 7))")
NDIM = {name: len(EXTENTS[SHAPES[name][0]]) for name in SHAPES}
NDIM.update(part=2, stretched=2)
PAIRS = [("odd", "row"), ("row", "odd"), ("odd", "column"), ("point", "odd"), ("odd", "point"), ("line", "one"), ("hollow", "column"),
         ("none", "one"), ("none", "none"), ("hollow", "ones"), ("cube", "column"), ("strided", "strided"), ("turned", "turned"),
         ("stretched", "odd"), ("column", "row"), ("point", "point"), ("odd", "line"), ("reversed", "row")]
FULL = tuple(name for name in SHAPES if EXTENTS[SHAPES[name][0]] and 0 not in EXTENTS[SHAPES[name][0]])  # neither empty nor 0-d
DIMENSIONS = tuple(name for name in SHAPES if name != "point")
REALS = "dfelibBLt"
ALL = "".join(TYPES)


def value(rng, kind, extents, positive):
    dtype = np.dtype(TYPES[kind])
    if dtype.kind == "c":
        return (rng.uniform(-2, 2, extents) + 1j * rng.uniform(0.2, 2, extents)).astype(dtype)
    if dtype.kind == "f":
        return (rng.uniform(0.5, 2, extents) if positive else rng.uniform(-1.5, 1.5, extents)).astype(dtype)
    if dtype.kind == "b":
        return np.asarray(rng.random(extents) < 2 if positive else rng.random(extents) < 0.6)
    low = 1 if positive else 0 if dtype.kind == "u" else -9
    return np.asarray(rng.integers(low, 6 if positive else 10, extents)).astype(dtype)


def array(shape, kind, letter="A"):
    """(in Lua, in NumPy) of an array of a shape and a type."""
    if shape == "stretched":
        return tuple(text.format(f"{letter}_row_{kind}") for text in STRETCHED)
    source, lua, numpy = SHAPES.get(shape, (shape, "", ""))
    return f"{letter}_{source}_{kind}" + lua, f"{letter}_{source}_{kind}" + numpy


class Templates:
    def __init__(self, case):
        self.case, self.names = case, set()

    def emit(self, lua, numpy, places):
        numpy = lua if numpy is None else numpy
        for place, (ours, theirs) in places.items():
            lua, numpy = lua.replace(place, ours), numpy.replace(place, theirs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", DeprecationWarning)
            try:
                eval(numpy, {"np": np, "scipy": scipy, **self.inputs})
            except Exception:  # whatever NumPy has against it, or will have
                numpy = "error"
        self.case(lua, numpy)

    def note(self, lua):
        self.names |= {name.replace(":", ".") for name in re.findall(r"\bnp(?:\.\w+)+", lua)}
        self.names |= {"a." + name for name in re.findall(r"(?:[@)]|\bc)[.:](\w+)", lua)}

    def combinations(self, kinds, shapes, main):
        """Pairs of a type and a shape: each of both at least once."""
        return [(k, main) for k in kinds[1:]] + [(kinds[0], shape) for shape in shapes]

    def one(self, lua, numpy=None, kinds=ALL, shapes=tuple(SHAPES) + ("stretched",), main="odd"):
        self.note(lua)
        for kind, shape in self.combinations(kinds, shapes, main):
            self.emit(lua, numpy, {"@": array(shape, kind)})

    def two(self, lua, numpy=None, kinds=ALL):
        self.note(lua)
        kinds = list(kinds)
        mixed = [(k, kinds[(i + step) % len(kinds)]) for i, k in enumerate(kinds) for step in (0, 1, 4)]
        places = [(("odd", "odd"), pair) for pair in mixed]
        places += [(pair, (k, k)) for pair in PAIRS for k in kinds[:1]]
        for (left, right), (a, b) in dict.fromkeys(places):
            self.emit(lua, numpy, {"@": array(left, a), "%": array(right, b, "P")})

    def along(self, lua, numpy, kinds=ALL, shapes=tuple(SHAPES) + ("stretched",), none=False):
        """Along each axis, one too many, and without an axis where it may be left out."""
        self.note(lua)
        for kind, shape in self.combinations(kinds, shapes, "odd"):
            axes = [("nil", "None")] if none else []
            if shape != "point":  # NumPy takes axes of arrays that have none
                axes += [(str(d + 1), str(d)) for d in range(NDIM[shape] + 1)] + [("-1", "-1")]
            if kind != kinds[0]:
                axes = axes[:2]
            for axis in axes:
                self.emit(lua, numpy, {"@": array(shape, kind), "#": axis})

    def just(self, lua, numpy=None):
        self.note(lua)
        self.emit(lua, numpy, {})


UNARY = """abs absolute arccos arccosh arcsin arcsinh arctan arctanh ceil conj conjugate cos cosh deg2rad degrees exp exp2
    expm1 fix floor imag iscomplex isfinite isinf isnan isneginf isposinf isreal log log10 log1p log2 logical_not nan_to_num
    negative rad2deg radians real rint sign signbit sin sinc sinh sqrt square tan tanh trunc cbrt fabs invert bitwise_not
    i0""".split()
ALIASES = {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atanh": "arctanh"}
BINARY = """add arctan2 bitwise_and bitwise_or bitwise_xor copysign divide equal float_power floor_divide fmax fmin fmod gcd greater
    greater_equal heaviside hypot lcm left_shift less less_equal logaddexp logaddexp2 logical_and logical_or logical_xor maximum
    minimum mod multiply nextafter not_equal power remainder right_shift subtract true_divide""".split()
REDUCTIONS = """sum prod max min amax amin mean std var ptp median nansum nanprod nanmax nanmin nanmean nanstd nanvar
    nanmedian""".split()


def elementwise(t):
    for name in UNARY:
        t.one(f"np.{name}(@)")
    for name, original in ALIASES.items():
        t.one(f"np.{name}(@)", f"np.{original}(@)", kinds="dfi")
    t.one("np.reciprocal(@)", kinds="dfeZF")
    t.one("np.spacing(@)", kinds="dflL")  # NumPy's of float16 differs in sign from that of the others
    t.one("np.positive(@)", kinds="dfelibBLZF")
    t.one("np.angle(@)", kinds="dfelibBLZF")
    t.one("np.erf(@)", "scipy.special.erf(@)", kinds="df")
    t.one("np.erfc(@)", "scipy.special.erfc(@)", kinds="df")
    t.one("np.exp10(@)", "scipy.special.exp10(@)", kinds="df")
    t.one("np.gamma(np.abs(@) + 0.25)", "scipy.special.gamma(np.abs(@) + 0.25)", kinds="df")
    t.one("np.gammaln(np.abs(@) + 0.25)", "scipy.special.gammaln(np.abs(@) + 0.25)", kinds="df")
    for name in ("modf", "frexp"):
        for k in (0, 1):
            t.one(f"select({k + 1}, np.{name}(@))", f"np.{name}(@)[{k}]")
    for name in ("round", "around", "round_"):
        t.one(f"np.{name}(@)")
        t.one(f"np.{name}(@, 1)", kinds="dfelZ")
    for name in BINARY:  # powers of 0 with complex exponents are NaN to NumPy
        t.two(f"np.{name}(@, %)", kinds=ALL if "power" not in name else REALS[:-1])
    t.two("np.pow(@, %)", "np.power(@, %)", kinds="dli")
    t.two("np.atan2(@, %)", "np.arctan2(@, %)", kinds="dfi")
    t.two("np.ldexp(@, %)", kinds="dib")
    t.two("np.complex(@, %)", "@ + 1j * %", kinds="dl")
    for k in (0, 1):
        t.two(f"select({k + 1}, np.divmod(@, %))", f"np.divmod(@, %)[{k}]")
    t.two("np.where(@:gt(0), @, %)", "np.where(@ > 0, @, %)", kinds=REALS)
    t.two("np.isclose(@, %)")
    t.two("np.fuse(function(a, b) return a * b - a end)(@, %)", "@ * % - @", kinds="dflZ")
    for symbol, python in (("+", "+"), ("-", "-"), ("*", "*"), ("/", "/"), ("%%", "%%"), ("^", "**")):
        if symbol != "%%":
            t.two(f"@ {symbol} %", f"@ {python} %", kinds=ALL if symbol != "^" else REALS[:-1])
    t.two("np.power(@, %)", kinds="ZF")
    for name, python in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!=")):
        t.two(f"(@):{name}(%)", f"@ {python} %", kinds="dlBZ")
    for name, python in (("maximum", "maximum"), ("minimum", "minimum"), ("power", "power")):
        t.two(f"(@):{name}(%)", f"np.{python}(@, %)", kinds="dl")
    t.two("(@):both(%)", "@ & %", kinds="t")
    t.two("(@):either(%)", "@ | %", kinds="t")
    for name in ("abs cbrt ceil cos cosh exp exp2 expm1 floor isfinite isinf isnan log log10 log1p log2 rint sign sin sinh sqrt "
                 "square tan tanh trunc conj conjugate").split():
        t.one(f"(@):{name}()", f"np.{name}(@)", kinds="di")
    t.one("(@):reciprocal()", "np.reciprocal(@)", kinds="df")
    t.one("(@):round(1)", "np.round(@, 1)", kinds="dl")
    t.one("(@):clip(0, 1)", "np.clip(@, 0, 1)", kinds="dflib")
    t.one("np.clip(@, -1, 1)", kinds="dfelib")
    t.one("np.real_if_close(@)", kinds="dZ")
    for name in ("iadd", "isub", "imul", "idiv", "imod", "ipow", "imaximum", "iminimum"):
        np_name = {"iadd": "add", "isub": "subtract", "imul": "multiply", "idiv": "divide", "imod": "mod", "ipow": "power"}.get(name, name[1:])
        t.two(f"(@):copy():{name}(%)", f"(lambda c: np.{np_name}(c, %, out=c))(@.copy())", kinds="dflZ")


def reducing(t):
    for name in REDUCTIONS:
        kinds = REALS if name[-3:] in ("max", "min", "ptp") else ALL  # lgt has no order of complex numbers to reduce by
        t.along(f"np.{name}(@, #)", f"np.{name}(@, axis=#)", kinds=kinds, none=True)
        t.along(f"np.{name}(@, {{axis = #, keepdims = true}})", f"np.{name}(@, axis=#, keepdims=True)", kinds="d", none=True)
    for name in ("argmax", "argmin", "nanargmax", "nanargmin"):
        t.along(f"np.{name}(@, #)", f"np.{name}(@, axis=#) + 1", kinds=REALS, none=True)
    for name in ("any", "all"):
        t.along(f"np.{name}(@, #)", f"np.{name}(@, axis=#)")
        t.one(f"np.array(np.{name}(@))", f"np.array(np.{name}(@))")
        t.along(f"(@):{name}(#)", f"@.{name}(axis=#)", kinds="d")
    t.one("np.array(np.alltrue(@))", "np.array(np.all(@))", kinds="dt")
    t.one("np.array(np.sometrue(@))", "np.array(np.any(@))", kinds="dt")
    t.along("np.product(@, #)", "np.prod(@, axis=#)", kinds="di", none=True)
    t.along("np.count_nonzero(@, #)", "np.count_nonzero(@, axis=#)")
    t.one("np.array((@):count_nonzero(), {dtype = 'int64'})", "np.array(np.count_nonzero(@))", kinds="dlt")
    t.along("np.average(@, #)", "np.average(@, axis=#)", shapes=FULL, none=True)
    t.along("np.average(@, #, {weights = np.abs(@) + 1})", "np.average(@, axis=#, weights=np.abs(@) + 1)", kinds="dfil", shapes=FULL, none=True)
    for name in ("percentile", "nanpercentile"):
        t.along(f"np.{name}(@, 30, #)", f"np.{name}(@, 30, axis=#)", kinds="dfilB", none=True)
    for name in ("quantile", "nanquantile"):  # of nothing NumPy's results have no place for the quantiles
        t.along(f"np.{name}(@, {{0.25, 0.5}}, #)", f"np.{name}(@, [0.25, 0.5], axis=#)", kinds="dfil", shapes=FULL, none=True)
    for order, python in (("nil", "None"), ("1", "1"), ("math.huge", "np.inf")):
        t.along(f"np.linalg.norm(@, {order}, #)", f"np.linalg.norm(@, {python}, axis=#)", kinds="dfeliZ")
    t.one("np.norm(@)", "np.linalg.norm(@)", kinds="dfliZ")
    t.one("(@):norm()", "np.linalg.norm(@)", kinds="di")
    for name in "sum prod max min mean std var ptp".split():
        t.along(f"(@):{name}(#)", f"@.{name}(axis=#)", kinds="dl", none=True)
    for name in ("argmax", "argmin"):
        t.along(f"(@):{name}(#)", f"@.{name}(axis=#) + 1", kinds="dl", none=True)
    t.along("np.apply_along_axis(np.sum, #, @)", "np.apply_along_axis(np.sum, #, @)", kinds="di", shapes=FULL)
    t.along("np.apply_over_axes(np.sum, @, #)", "np.apply_over_axes(np.sum, @, #)", kinds="di")
    for name in ("add", "maximum", "logical_or", "multiply"):
        t.along(f"np.{name}.reduce(@, #)", f"np.{name}.reduce(@, axis=#)", kinds="dflBt")


def along_lines(t):
    for name in ("cumsum", "cumprod", "nancumsum", "nancumprod"):
        t.along(f"np.{name}(@, #)", f"np.{name}(@, axis=#)", none=True)
    t.along("np.cumproduct(@, #)", "np.cumprod(@, axis=#)", kinds="di", none=True)
    for name in ("cumsum", "cumprod"):
        t.along(f"(@):{name}(#)", f"@.{name}(axis=#)", kinds="dl", none=True)
    for name in ("add", "maximum", "multiply", "subtract"):
        t.along(f"np.{name}.accumulate(@, #)", f"np.{name}.accumulate(@, axis=#)", kinds="dflB")
    t.along("np.sort(@, #)", "np.sort(@, axis=#)")
    t.along("np.argsort(@, #)", "np.argsort(@, axis=#, kind='stable') + 1")
    t.along("(@):argsort(#)", "np.argsort(@, axis=#, kind='stable') + 1", kinds="dl")
    t.along("(function() local c = (@):copy() c:sort(#) return c end)()", "np.sort(@, axis=#)", kinds="dl")
    t.along("np.sort(np.partition(@, 1, #), #)", "np.sort(np.partition(@, 0, axis=#), axis=#)", kinds=REALS)
    t.along("np.take_along_axis(@, np.argpartition(@, 1, #), #)['..., 1']",
            "np.take_along_axis(@, np.argpartition(@, 0, axis=#), #)[..., 0]", kinds="dl", shapes=("line", "reversed"))
    t.one("(@):argpartition(1)[1]", "@.argpartition(0)[0] + 1", kinds="d", shapes=("line", "reversed"))
    t.one("(function() local c = (@):copy() c:partition(1) return c[1] end)()", "np.partition(@, 0)[0]", kinds="dl", shapes=("line",), main="line")
    t.along("(np.topk(@, 1, #))", "np.sort(@, axis=#).take([-1], axis=#)", kinds=REALS)
    t.one("((@):topk(1))", "np.sort(@).take([-1], axis=-1)", kinds="dl")
    t.one("np.msort(@)", "np.sort(@, axis=0)")
    t.one("np.sort_complex(@)")
    t.along("np.take_along_axis(@, np.argsort(@, #), #)", "np.take_along_axis(@, np.argsort(@, axis=#, kind='stable'), #)")
    t.along("(function() local c = (@):copy() np.put_along_axis(c, np.argsort(c, #), 1, #) return c end)()",
            "(lambda c: (np.put_along_axis(c, np.argsort(c, axis=#), 1, #), c)[1])(@.copy())", kinds="dl")
    t.along("np.diff(@, 1, #)", "np.diff(@, axis=#)")
    t.along("np.diff(@, 2, #)", "np.diff(@, 2, axis=#)", kinds="dl")
    t.along("np.gradient(@, {axis = #})", "np.gradient(@, axis=#)", kinds="dfeliZ")
    t.along("np.trapz(@, nil, {axis = #})", "np.trapz(@, axis=#)", kinds="dfeliZ")
    t.along("np.unwrap(@, {axis = #})", "np.unwrap(@, axis=#)", kinds="dfl")
    t.one("np.ediff1d(@)", kinds="dfelibBLZF")
    for name in "fft ifft rfft ihfft hfft irfft".split():  # rfft refuses complex numbers, whose imaginary parts NumPy drops
        t.along(f"np.fft.{name}(@, nil, #)", f"np.fft.{name}(@, axis=#)", kinds="dfli" if name in ("rfft", "ihfft") else "dfliZF")
    for name in ("fftshift", "ifftshift"):
        t.along(f"np.fft.{name}(@, #)", f"np.fft.{name}(@, axes=#)", shapes=FULL, none=True)
    for name in "fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn".split():
        t.one(f"np.fft.{name}(@)", kinds="dfi" if name[0] == "r" else "dfiZ")


def shaping(t):
    for name in "ravel transpose atleast_1d atleast_2d atleast_3d copy squeeze fliplr flipud rot90 diag diagonal diagflat tril triu".split():
        t.one(f"np.{name}(@)")
    for name in "array asarray asanyarray asfarray asarray_chkfinite zeros_like ones_like".split():
        t.one(f"np.{name}(@)")
    t.one("np.ascontiguousarray(@)")
    t.one("np.full_like(@, 1)")
    t.one("(function() local c = np.empty_like(@) c['...'] = 1 return c end)()", "np.ones_like(@)", kinds="dli")
    for kind in ("float32", "int16", "complex128", "bool"):
        t.one(f"np.astype(@, '{kind}')", f"@.astype('{kind}')", kinds="dlit")
    t.one("(@):astype('float32')", "@.astype('float32')", kinds="dlt")
    for name in ("copy", "flatten", "ravel", "squeeze", "transpose", "diagonal", "trace"):
        t.one(f"(@):{name}()", f"@.{name}()", kinds="dl")
    t.one("np.trace(@)")
    t.one("np.reshape(@, -1)", "np.reshape(@, -1)")
    t.one("(@):reshape(-1, 1)", "@.reshape(-1, 1)", kinds="dl")
    t.one("np.resize(@, 3, 5)", "np.resize(@, (3, 5))", kinds="dlt")
    t.one("(np.broadcast_arrays(@, A_one_d))", "np.broadcast_arrays(@, A_one_d)[0]", kinds="dl")
    t.one("np.broadcast_to(@, 3, 5, 7)", "np.broadcast_to(@, (3, 5, 7))", kinds="dl")
    windows = "np.lib.stride_tricks.sliding_window_view"
    for lua in ("np.sliding_window_view", windows):
        t.along(f"{lua}(@, 2, #)", f"{windows}(@, 2, #)", kinds="dt")
        t.along(f"np.sum({lua}(@, 3, #), -1)", f"np.sum({windows}(@, 3, #), -1)", kinds="dli")
    t.one("(np.lib.stride_tricks.broadcast_arrays(@, A_one_d))", "np.broadcast_arrays(@, A_one_d)[0]", kinds="dl")
    t.one("np.lib.stride_tricks.broadcast_to(@, 3, 5, 7)", "np.broadcast_to(@, (3, 5, 7))", kinds="dl")
    t.along("np.expand_dims(@, #)", "np.expand_dims(@, #)", kinds="dt")
    t.along("np.squeeze(@, #)", "np.squeeze(@, #)", kinds="dt")
    t.along("np.flip(@, #)", "np.flip(@, #)", none=True)
    t.along("np.moveaxis(@, #, 1)", "np.moveaxis(@, #, 0)", kinds="di")
    t.along("(@):moveaxis(#, 1)", "np.moveaxis(@, #, 0)", kinds="d")
    t.along("np.rollaxis(@, #)", "np.rollaxis(@, #)", kinds="di")
    t.along("np.swapaxes(@, 1, #)", "np.swapaxes(@, 0, #)", kinds="di")
    t.along("(@):swapaxes(1, #)", "@.swapaxes(0, #)", kinds="d")
    t.along("np.roll(@, 2, #)", "np.roll(@, 2, #)", none=True)
    for rep in ("np.rep(@, 2, #)", "np['repeat'](@, 2, #)", "(@):rep(2, #)"):
        t.along(rep, "np.repeat(@, 2, #)", kinds="dlt", none=True)
    t.names.add("np.repeat")
    t.along("np.append(@, @, #)", "np.append(@, @, #)", none=True)
    t.along("np.concatenate({@, @}, #)", "np.concatenate([@, @], #)")
    t.along("np.stack({@, @}, #)", "np.stack([@, @], #)", kinds="dlt")
    t.along("np.delete(@, 1, #)", "np.delete(@, 0, #)", none=True)
    t.along("np.insert(@, 1, 1, #)", "np.insert(@, 0, 1, #)", none=True)
    t.along("np.take(@, {1, 1}, #)", "np.take(@, [0, 0], #)", none=True)
    t.along("(@):take({1}, #)", "@.take([0], #)", kinds="dl", none=True)
    t.along("np.array_split(@, 2, #)[2]", "np.array_split(@, 2, #)[1]", kinds="dl")
    t.along("np.split(@, 1, #)[1]", "np.split(@, 1, #)[0]", kinds="dl")
    t.along("np.compress({true}, @, #)", "np.compress([True], @, #)", kinds="dl", none=True)
    t.along("(@):compress({true}, #)", "@.compress([True], #)", kinds="d", none=True)
    for name in "hstack vstack dstack column_stack row_stack".split():
        t.one(f"np.{name}{{@, @}}", f"np.{name}([@, @])", kinds="dlt")
    for name in "hsplit vsplit dsplit".split():
        t.one(f"np.{name}(@, 1)[1]", f"np.{name}(@, 1)[0]", kinds="dl")
    t.one("np.block{{@, @}, {@, @}}", "np.block([[@, @], [@, @]])", kinds="dl")
    t.one("np.tile(@, 2)", kinds="dlt")
    t.one("np.tile(@, {2, 1, 2})", "np.tile(@, (2, 1, 2))", kinds="dlt")
    for mode in "constant edge reflect symmetric wrap linear_ramp maximum mean median minimum".split():
        t.one(f"np.pad(@, 1, '{mode}')", f"np.pad(@, 1, '{mode}')", kinds="dli")
    t.one("np.trim_zeros(@)", kinds="dlt", shapes=("line", "reversed", "one", "none"), main="line")
    t.one("np.vander(@, 3)", kinds="dflZ", shapes=("line", "reversed", "one", "none"), main="line")
    for k in (1, 2):
        t.one(f"select({k}, np.meshgrid(@, @))", f"np.meshgrid(@, @)[{k - 1}]", kinds="dl")
    t.one("(function() local c = (@):copy() np.fill_diagonal(c, 1) return c end)()", "(lambda c: (np.fill_diagonal(c, 1), c)[1])(@.copy())")
    t.one("(function() local c = (@):copy() c:fill_diagonal(1) return c end)()", "(lambda c: (np.fill_diagonal(c, 1), c)[1])(@.copy())", kinds="d")
    t.one("(function() local c = (@):copy() c:fill(1) return c end)()", "np.ones_like(@)", kinds="dlt")
    t.one("(function() local c = (@):copy() np.copyto(c, 1) return c end)()", "np.ones_like(@)", kinds="dlt")
    t.one("(@):sub(1, 2)", "@[0:2]", kinds="dl")
    t.one("(@).T * 1", "@.T * @.dtype.type(1)", kinds="dl")
    t.one("(@).real * 1", "@.real * 1", kinds="dZ")
    t.one("(@).imag * 1", "@.imag * 1", kinds="dZ")


def elements(t):
    t.one("np.argwhere(@)", "np.argwhere(@) + 1")
    t.one("np.nonzero(@)[1]", "np.nonzero(@)[0] + 1", shapes=DIMENSIONS)
    t.one("(@):nonzero()[1]", "@.nonzero()[0] + 1", kinds="dl", shapes=DIMENSIONS)
    t.one("np.flatnonzero(@)", "np.flatnonzero(@) + 1")
    t.one("np.extract(np.greater(@, 0), @)", "np.extract(@ > 0, @)", kinds=REALS)
    t.one("(@)[np.greater(@, 0)]", "@[@ > 0]", kinds=REALS, shapes=DIMENSIONS)
    t.one("np.choose(np.greater(@, 0) + 1, {@, 1})", "np.choose((@ > 0) * 1, [@, 1])", kinds="dl")
    t.one("(np.greater(@, 0) + 1):choose({@, @})", "((@ > 0) * 1).choose([@, @])", kinds="dl")
    t.one("np.select({np.greater(@, 0)}, {@}, 0)", "np.select([@ > 0], [@], 0)", kinds="dl")
    t.one("np.piecewise(@, {np.greater(@, 0)}, {1, 2})", "np.piecewise(@, [@ > 0], [1, 2])", kinds="dl")
    for name in ("place", "putmask"):
        t.one(f"(function() local c = (@):copy() np.{name}(c, np.greater(c, 0), np.array({{1, 2}}, {{dtype = c.dtype}})) return c end)()",
              f"(lambda c: (np.{name}(c, c > 0, np.array([1, 2], c.dtype)), c)[1])(@.copy())", kinds="dl")
    t.one("(function() local c = (@):copy() np.put(c, {1, -1}, 3) return c end)()", "(lambda c: (np.put(c, [0, -1], 3), c)[1])(@.copy())", kinds="dl")
    t.one("(function() local c = (@):copy() c:put({1}, 3) return c end)()", "(lambda c: (np.put(c, [0], 3), c)[1])(@.copy())", kinds="dl")
    t.one("(function() local c = (@):copy() c:at(np.array({1, 1}, {dtype = 'int64'})):iadd(1) return c end)()",
          "(lambda c: (c.__setitem__(np.array([0, 0]), c[[0, 0]] + c.dtype.type(1)), c)[1])(@.copy())", kinds="dl", shapes=("odd", "line", "turned"))
    t.one("(function() local c = (@):copy() np.add.at(c, np.array({1, 1}, {dtype = 'int64'}), 1) return c end)()",
          "(lambda c: (np.add.at(c, [0, 0], 1), c)[1])(@.copy())", kinds="dl", shapes=("odd", "line", "turned", "reversed", "none"))
    for first in ("np.tril_indices_from", "np.triu_indices_from", "np.diag_indices_from"):
        t.one(f"{first}(@)[1]", f"{first}(@)[0] + 1", kinds="d")
    for n in range(4):
        for name in ("np.tril_indices", "np.triu_indices", "np.diag_indices"):
            t.just(f"{name}({n})[2]", f"{name}({n})[1] + 1")
        t.just(f"np.mask_indices({n}, np.triu)[1]", f"np.mask_indices({n}, np.triu)[0] + 1")
    t.one("np.ix_(@ , {1, 2})[1]" if False else "np.ix_(np.argsort(@), {1, 2})[1]", "np.ix_(np.argsort(@, kind='stable'), [0, 1])[0] + 1",
          kinds="dl", shapes=("line", "one", "none", "reversed"))
    t.one("np.ravel_multi_index({np.argsort(@, -1), np.argsort(@, -1)}, {13, 13})",
          "np.ravel_multi_index([np.argsort(@, kind='stable')] * 2, (13, 13)) + 1", kinds="dl", shapes=("odd", "line", "one", "none"))
    for k in (1, 2):
        t.one(f"np.unravel_index(np.argsort(@, -1), {{3, 5}})[{k}]", f"np.unravel_index(np.argsort(@, kind='stable'), (3, 5))[{k - 1}] + 1",
              kinds="dl", shapes=("odd", "line", "one", "none"))
    t.one("np.packbits(@)", kinds="tBl")
    t.one("np.packbits(@, -1)", kinds="tB", shapes=("odd", "line", "turned", "hollow"))
    t.one("np.unpackbits(@)", kinds="Bl")


def ordering(t):
    t.one("np.unique(@)")
    for k, name in ((2, "index"), (3, "inverse"), (4, "counts")):
        plus = "" if name == "counts" else " + 1"
        t.one(f"select({k}, np.unique(@, {{return_index = true, return_inverse = true, return_counts = true}}))",
              f"np.unique(@, return_index=True, return_inverse=True, return_counts=True)[{k - 1}]{plus}", kinds="dlt")
    for name in "union1d intersect1d setdiff1d setxor1d".split():
        t.two(f"np.{name}(@, %)")
    for name in ("isin", "in1d"):
        t.two(f"np.{name}(@, %)")
    t.one("np.searchsorted(np.sort(A_line_d), @)", "np.searchsorted(np.sort(A_line_d), @) + 1", kinds="dfli")
    t.one("(np.sort(A_line_l)):searchsorted(@, 'right')", "np.searchsorted(np.sort(A_line_l), @, 'right') + 1", kinds="dli")
    t.one("np.digitize(@, np.array{-1, 0, 1})", "np.digitize(@, np.array([-1.0, 0, 1])) + 1", kinds="dfeli")
    t.one("np.lexsort{@, @}", "np.lexsort([@, @]) + 1", kinds="dl", shapes=("line", "reversed", "one", "none"))
    t.one("np.bincount(@ + 1)" if False else "np.bincount(np.abs(@), {base = 0})", "np.bincount(np.abs(@))", kinds="liB",
          shapes=("line", "reversed", "one", "none", "odd"), main="line")
    for k in (1, 2):
        t.one(f"select({k}, np.histogram(@, 4))", f"np.histogram(@, 4)[{k - 1}]", kinds="dli")
    t.one("np.histogram_bin_edges(@, 5)", kinds="dli")
    t.one("(np.histogram2d(@, @, 3))", "np.histogram2d(@, @, 3)[0]", kinds="dl", shapes=("line", "reversed", "one", "none"), main="line")
    t.one("(np.histogramdd(@, 3))", "np.histogramdd(@, 3)[0]", kinds="dl", shapes=("part", "line", "reversed"), main="part")
    for name in ("array_equal", "array_equiv", "allclose"):
        t.two(f"np.array(np.{name}(@, %))", f"np.array(np.{name}(@, %))", kinds="dlB")


def products(t):
    for name in "dot inner outer vdot kron".split():
        t.two(f"np.{name}(@, %)")
    t.two("np.matmul(@, %)", kinds="dflZ")
    square = ("square", "squares", "ones", "empty_stack", "nothing")
    for kind in ALL:
        for a, b in (("square", "square"), ("squares", "squares"), ("odd", "row"), ("odd", "turned"), ("turned", "odd"), ("hollow", "none"),
                     ("line", "line"), ("none", "none"), ("empty_stack", "squares"), ("strided", "strided")):
            places = {"@": array(a, kind), "%": array(b, kind, "P")}
            for name in ("dot", "matmul", "inner", "tensordot"):
                t.note(f"np.{name}(")
                if kind in "dflZ" or a in ("square", "odd"):
                    t.emit(f"np.{name}(@, %{', 1' if name == 'tensordot' else ''})", None, places)
            t.emit("(@):dot(%)", "@.dot(%)", places)
            t.emit("(@):matmul(%)", "np.matmul(@, %)", places)
    t.names |= {"a.dot", "a.matmul"}
    for text in ("ij,jk->ik", "ij->ji", "ii->i", "ij->", "ij,ij->i"):
        many = ", @" if "," in text else ""
        t.one(f"np.einsum('{text}', @{many})", f"np.einsum('{text}', @{many})", kinds="dflZ", shapes=square + ("hollow",), main="square")
    t.one("np.cov(@)", kinds="dflZ")
    t.one("np.corrcoef(@)", kinds="dflZ")
    t.one("np.cross(@[':, 1:3'], @[':, 2:4'])", "np.cross(@[:, :3], @[:, 1:4])", kinds="dflZ", shapes=("odd", "turned", "stretched"))
    for mode in ("full", "same", "valid"):
        t.two(f"np.correlate(@, %, '{mode}')", kinds="dflZ")
        # NumPy takes vectors only, lgt arrays of more dimensions as well.
        t.two(f"np.convolve(@, %, '{mode}')",
              f"(scipy.signal if np.size(@) and np.ndim(@) == np.ndim(%) > 1 else np).convolve(@, %, '{mode}')", kinds="dflZ")


def matrices(t):
    square = ("square", "squares", "ones", "empty_stack", "nothing", "odd", "none")
    for lua, numpy in (("inv", None), ("det", None), ("eigvals", "sorted"), ("matrix_rank", None), ("cond", None), ("pinv", None), ("expm", "scipy")):
        body = f"np.linalg.{lua}(@)"
        theirs = {"sorted": "np.sort_complex(np.linalg.eigvals(@).astype(complex))", "scipy": "scipy.linalg.expm(@)"}.get(numpy, body)
        if numpy == "sorted":
            body = "np.sort_complex(np.linalg.eigvals(@))"
        shapes = square if lua not in ("expm", "matrix_rank") else ("square", "ones", "odd")
        t.one(body, theirs, kinds="dZ" if numpy else "dflZ", shapes=shapes, main="square")
    t.names.add("np.linalg.eigvals")
    for k in (1, 2):
        t.one(f"select({k}, np.linalg.slogdet(@))", f"np.linalg.slogdet(@)[{k - 1}]", kinds="dflZ", shapes=square, main="square")
    gram = ("(np.matmul(@, np.conj(np.swapaxes(@, -1, -2))) + 9 * np.eye(@.shape[#@.shape]))",
            "(np.matmul(@, np.conj(np.swapaxes(@, -1, -2))) + 9 * np.eye(@.shape[-1]))")
    for name in ("cholesky", "eigvalsh"):
        t.one(f"np.linalg.{name}({gram[0]})", f"np.linalg.{name}({gram[1]})", kinds="dlZ", shapes=square, main="square")
    t.one(f"(np.linalg.eigh({gram[0]}))", f"np.linalg.eigh({gram[1]})[0]", kinds="dlZ", shapes=square, main="square")
    t.one(f"np.sort((np.linalg.eig({gram[0]})).real)", f"np.sort(np.linalg.eig({gram[1]})[0].real)", kinds="dl", shapes=square, main="square")
    t.one(f"np.linalg.solve({gram[0]}, @)", f"np.linalg.solve({gram[1]}, @)", kinds="dlZ", shapes=square, main="square")
    t.one("select(2, np.linalg.svd(@))", "np.linalg.svd(@)[1]", kinds="dflZ", shapes=square, main="square")
    t.one("np.abs(select(2, np.linalg.qr(@)))", "np.abs(np.linalg.qr(@)[1])", kinds="dflZ", shapes=square + ("turned", "hollow"), main="square")
    t.one("(np.linalg.lstsq(@, @[':, 1']))", "np.linalg.lstsq(@, @[:, 0], rcond=None)[0]", kinds="dl", shapes=("odd", "turned", "strided", "square"))
    for n in (0, 1, 3):
        t.one(f"np.linalg.matrix_power(@, {n})", kinds="dflZ", shapes=square, main="square")
    t.one("np.linalg.multi_dot{@, @, @}", "np.linalg.multi_dot([@, @, @])", kinds="dlZ", shapes=("square", "ones"), main="square")
    t.one("np.linalg.tensorinv(@, 1)", kinds="dZ", shapes=("square", "ones"), main="square")
    t.one("np.linalg.tensorsolve(@, @[1])", "np.linalg.tensorsolve(@, @[0])", kinds="dZ", shapes=("square", "ones"), main="square")


def signals(t):
    for name in "bartlett blackman hamming hanning".split():
        for n in (0, 1, 2, 5, 8):
            t.just(f"np.{name}({n})", f"np.{name}({n})")
    for n in (0, 1, 5):
        t.just(f"np.kaiser({n}, 3)")
        t.just(f"np.fft.fftfreq({n or 2})")
        t.just(f"np.fft.rfftfreq({n or 2}, 0.5)")
    lines = ("line", "reversed", "one", "none", "row")
    for name in "polyadd polysub polymul".split():
        t.one(f"np.{name}(@, P_row_d)", f"np.{name}(@, P_row_d)", kinds="dfl", shapes=lines if name != "polymul" else lines[:3], main="line")
    t.one("np.polyval(P_row_d, @)", kinds="dflZ")
    t.one("np.polyder(@)", kinds="dflZ", shapes=lines, main="line")
    t.one("np.polyint(@)", kinds="dflZ", shapes=lines, main="line")
    for k in (1, 2):
        t.one(f"select({k}, np.polydiv(@, P_column_d[':, 1']))", f"np.polydiv(@, P_column_d[:, 0])[{k - 1}]", kinds="dfl", shapes=lines, main="line")
    t.one("np.poly(@)", kinds="dl", shapes=("line", "reversed", "one", "row"), main="line")
    t.one("np.sort_complex(np.roots(@))", "np.sort_complex(np.roots(@))", kinds="dl", shapes=("one", "row", "none"))
    t.one("np.polyfit(np.arange(13), @, 2)", kinds="dl", shapes=("line",), main="line")
    t.one("np.interp(@, np.array{-1, 0, 1}, np.array{5, 1, 2})", "np.interp(@, np.array([-1.0, 0, 1]), np.array([5.0, 1, 2]))", kinds="dfeli")
    for name in ("convolve", "correlate"):
        t.one(f"np.ndimage.{name}(@, P_column_d)", f"scipy.ndimage.{name}(@, P_column_d)", kinds="dfl", shapes=("odd", "turned", "strided", "ones"))
    t.one("np.ndimage.gaussian_filter(@, 1)", "scipy.ndimage.gaussian_filter(@, 1)", kinds="df", shapes=("odd", "turned", "line", "cube"))
    t.one("np.ndimage.uniform_filter(@, 3)", "scipy.ndimage.uniform_filter(@, 3)", kinds="df", shapes=("odd", "turned", "line", "cube"))


def creating(t):
    for n in (0, 1, 2, 7):
        for kind in ("float64", "int32", "bool", "complex64", "float16"):
            for name in ("zeros", "ones"):
                t.just(f"np.{name}({n}, {{dtype = '{kind}'}})", f"np.{name}({n}, dtype='{kind}')")
            t.just(f"np.full({{{n}, 2}}, 1, {{dtype = '{kind}'}})", f"np.full(({n}, 2), 1, dtype='{kind}')")
            t.just(f"np.eye({n}, {n + 1}, 1, {{dtype = '{kind}'}})", f"np.eye({n}, {n + 1}, 1, dtype='{kind}')")
        t.just(f"np.empty({n}, 3).shape[1] * np.ones(1)", f"{n} * np.ones(1)")
        t.just(f"np.identity({n})")
        t.just(f"np.tri({n})")
        t.just(f"np.tri({n}, 4, -1)")
        t.just(f"np.arange({n})")
        t.just(f"np.arange(1, {n}, 2)")
        t.just(f"np.span(1, {n})", f"np.arange(1, {n} + 1)")
        t.just(f"np.linspace(0, 1, {n})")
        t.just(f"np.linspace(2, 1, {n}, {{endpoint = false}})", f"np.linspace(2, 1, {n}, endpoint=False)")
        t.just(f"np.logspace(0, 2, {n})")
        t.just(f"np.geomspace(1, 100, {n})")
        t.just(f"np.indices{{{n}, 2}}", f"np.indices(({n}, 2))")
        t.just(f"np.fromfunction(function(i, j) return i * 2 + j end, {{{n}, 3}})", f"np.fromfunction(lambda i, j: i * 2 + j, ({n}, 3)) * 1.0")
    t.just("np.array(np.broadcast_shapes({3, 1}, {1, 4}))", "np.array(np.broadcast_shapes((3, 1), (1, 4)), float)")


ELSEWHERE = {
    "files of the topics files and hdf5, tests/lua/test_npy.lua": """np.fromfile np.fromstring np.genfromtxt np.hdf5 np.load np.loadtxt
        np.save np.savetxt np.savez np.savez_compressed a.tofile""",
    "memory of others, tests/lua/test_buffer.lua": """np.from_dlpack np.frombuffer np.frompointer a.detach a.dlpack a.host a.tobytes""",
    "random numbers, tests/lua/distributions.py": "np.random",
    "text, questions about types and shapes: the topic extras, tests/lua/test_array.lua": """np.array2string np.array_repr np.array_str
        np.base_repr np.binary_repr np.common_type np.finfo np.get_printoptions np.iinfo np.issubdtype np.iterable np.min_scalar_type
        np.ndenumerate np.ndindex np.printoptions np.set_printoptions np.can_cast np.isarray np.iscomplexobj np.isrealobj np.isscalar
        np.may_share_memory np.ndim np.promote_types np.result_type np.shape np.size a.dims a.dtype a.free a.item a.itemsize a.nbytes
        a.ndim a.shape a.size a.totable np.extend np.fromiter np.einsum_path np.e np.inf np.nan np.newaxis np.pi np.Inf np.NAN
        np.NINF np.NaN np.PINF np.euler_gamma np.infty np.testing""",
    "tests/lua/plot.py": "np.plot",
    "names of dtypes, the topic extras": """np.bool np.bool_ np.byte np.cdouble np.complex128 np.complex64 np.complex_ np.csingle np.double np.float16
        np.float32 np.float64 np.float_ np.half np.int16 np.int32 np.int64 np.int8 np.int_ np.intc np.intp np.longlong
        np.short np.single np.ubyte np.uint np.uint16 np.uint32 np.uint64 np.uint8 np.uintc np.uintp np.ulonglong
        np.ushort""",
}


def add(case, change, inputs):
    rng = np.random.default_rng(41)
    for kind in TYPES:
        for name, extents in EXTENTS.items():
            inputs[f"A_{name}_{kind}"] = value(rng, kind, extents, False)
            inputs[f"P_{name}_{kind}"] = value(rng, kind, extents, True)
    t = Templates(case)
    t.inputs = inputs
    for part in (elementwise, reducing, along_lines, shaping, elements, ordering, products, matrices, signals, creating):
        part(t)
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "../../../docs/numpy.md"), encoding="utf-8") as file:
        text = file.read().split("## What there is\n")[1].split("## What there is not")[0]
    names = {name.replace(":", ".") for name in re.findall(r"`((?:np(?:\.\w+)+)|a[.:]\w+)`", text)}
    elsewhere = set(" ".join(ELSEWHERE.values()).split())
    missing = {name for name in names - t.names - elsewhere if name.rsplit(".", 1)[0] not in elsewhere}
    assert not missing, f"no template is about {sorted(missing)}"
