"""Cases of extras.lua, and of ufuncs' reduceat."""
import numpy as np


def add(case, change, inputs):
    rng = np.random.default_rng(23)
    inputs["bits"] = rng.integers(0, 2, size=(3, 5, 11)).astype(bool)
    inputs["bytes_"] = rng.integers(0, 256, size=(4, 3)).astype("u1")
    for lua, py in (("", ""), (", 1", ", 0"), (", -1", ", -1"), (", 2, {bitorder = 'little'}", ", 1, bitorder='little'")):
        case(f"np.packbits(bits{lua})", f"np.packbits(bits{py})")
        case(f"np.unpackbits(bytes_{lua})", f"np.unpackbits(bytes_{py})")
    inputs["long_bits"] = rng.integers(0, 2, size=(2, 203)).astype(bool)
    for order in ("big", "little"):
        for view, py in (("", ""), ("[':, 4:']", "[:, 3:]"), ("[':, ::2']", "[:, ::2]"), (".T:copy().T", "")):
            case(f"np.packbits(long_bits{view}, 2, {{bitorder = '{order}'}})",
                 f"np.packbits(long_bits{py}, 1, bitorder='{order}')")
        case(f"np.unpackbits(np.packbits(long_bits, {{bitorder = '{order}'}}), {{bitorder = '{order}'}})",
             f"np.unpackbits(np.packbits(long_bits, bitorder='{order}'), bitorder='{order}')")
    case("np.packbits(i)")
    case("np.packbits(np.zeros(0, {dtype = 'bool'}))", "np.packbits(np.zeros(0, bool))")
    for count in (-3, 0, 5, 30):
        case(f"np.unpackbits(bytes_, 2, {{count = {count}}})", f"np.unpackbits(bytes_, 1, count={count})")
    for name in ("f8 f4 f2 <f8 =f4 i1 i2 i4 i8 <i4 u1 u2 u4 u8 |u1 b1 ? c8 c16 <c16 short ushort intc uintc intp uintp longlong "
                 "ulonglong csingle cdouble half single double").split():
        case(f"np.zeros(2, {{dtype = '{name}'}})", f"np.zeros(2, '{name}')")
        case(f"u1:astype('{name}')", f"u1.astype('{name}')")
    for name in ("f3", "i16", "f1", ">f8", "b2", "<float64", "f", "U5", "M8", ""):
        case(f"np.zeros(2, {{dtype = '{name}'}})", "error")
    case("np.packbits(f)", "error")
    case("np.unpackbits(i)", "error")
    case("np.packbits(bits, {bitorder = 'middle'})", "error")
    for dtype in ("float16", "float32", "float64", "complex64"):
        for field in "eps epsneg max min tiny smallest_normal smallest_subnormal bits nmant nexp maxexp minexp precision".split():
            case(f"np.array(np.finfo('{dtype}').{field})", f"np.array(float(np.finfo('{dtype}').{field}))")
    for dtype in ("int8", "uint8", "int16", "uint32", "int32"):
        for field in ("min", "max", "bits"):
            case(f"np.array(np.iinfo('{dtype}').{field})", f"np.array(float(np.iinfo('{dtype}').{field}))")
    case("np.array(np.iinfo(i).max)", "np.array(np.iinfo('int64').max)")
    case("np.array(np.iinfo('uint64').max)", "np.array(np.iinfo('uint64').max)")
    case("np.finfo('int8')", "error")
    case("np.iinfo(f)", "error")
    for dtype in ("bool", "int8", "uint16", "float32", "complex128"):
        for family in "generic number integer signedinteger unsignedinteger inexact floating complexfloating".split():
            case(f"np.array(np.issubdtype('{dtype}', '{family}'))", f"np.array(np.issubdtype('{dtype}', np.{family}))")
        case(f"np.array(np.issubdtype('{dtype}', 'int8'))", f"np.array(np.issubdtype('{dtype}', 'int8'))")
    for arrays in ("f, i", "f4, f2", "f4", "i4, u1", "w, f4", "f2, f2"):
        case(f"np.zeros(1, {{dtype = np.common_type({arrays})}})", f"np.zeros(1, np.common_type({arrays}))")
    for x in ("0", "255", "256", "-1", "-129", "70000", "-40000", "2^40", "1.5", "-1e5 - 0.5"):
        case(f"np.zeros(1, {{dtype = np.min_scalar_type({x})}})", f"np.zeros(1, np.min_scalar_type({x.replace('^', '**')}))")
    for call in ("base_repr(10)", "base_repr(-255, 16)", "base_repr(0)", "base_repr(5, 3, 4)", "binary_repr(3, 8)",
                 "binary_repr(-3, 5)", "binary_repr(0)", "binary_repr(-7)", "binary_repr(-16, 5)", "base_repr(35, 36)"):
        case(f"np.array{{(np.{call}):byte(1, -1)}}", f"np.array([float(c) for c in np.{call}.encode()])")
    case("np.base_repr(1, 40)", "error")
    case("np.binary_repr(-17, 5)", "error")
    case("np.array{np.printoptions({precision = 2}, tostring, h):byte(1, -1)}",
         "np.array([float(c) for c in np.array2string(h, precision=2).encode()])")
    case("np.array{np.array2string(f, {precision = 3}):byte(1, -1)}",
         "np.array([float(c) for c in np.array2string(f, precision=3).encode()])")
    case("np.array{np.array_str(h):byte(1, -1)}", "np.array([float(c) for c in np.array_str(h).encode()])")
    case("np.array(np.get_printoptions().precision)", "np.array(8.)")
    case("np.frombuffer(f4:tobytes(), {dtype = 'float32'})", "np.frombuffer(f4.tobytes(), 'f4')")
    case("np.frombuffer(t.T:tobytes(), {dtype = 'float64'})", "t.T.ravel()")
    case("(function() local l = {} for i, j, x in np.ndenumerate(f) do l[#l + 1] = {i, j, x} end return np.array(l) end)()",
         "np.array([[k[0] + 1, k[1] + 1, x] for k, x in np.ndenumerate(f)])")
    case("(function() local l = {} for i, j, k in np.ndindex(2, 1, 3) do l[#l + 1] = {i, j, k} end return np.array(l) end)()",
         "np.array(list(np.ndindex(2, 1, 3))) + 1.0")
    case("(function() local n = 0 for _ in np.ndindex(3, 0) do n = n + 1 end return np.array(n) end)()", "np.array(0.)")
    for u, v in (("{1, 0, -1, 4}", "{1, 2}"), ("{2, 5, 3}", "{2, 3}"), ("{1, 2}", "{1, 2, 3}"), ("h", "h['1:2']")):
        pu, pv = (x.replace("{", "[").replace("}", "]").replace("h['1:2']", "h[:2]") for x in (u, v))
        case(f"(np.polydiv({u}, {v}))", f"np.polydiv({pu}, {pv})[0]")
        case(f"select(2, np.polydiv({u}, {v}))", f"np.asarray(np.polydiv({pu}, {pv})[1], float)")
    case("np.apply_over_axes(np.sum, t, {1, 3})", "np.apply_over_axes(np.sum, t, [0, 2])")
    case("np.apply_over_axes(np.cumsum, t, 2)", "np.apply_over_axes(np.cumsum, t, [1])")
    case("np.mask_indices(4, np.triu, 1)[2]", "np.mask_indices(4, np.triu, 1)[1] + 1")
    case("np.real_if_close(z)")
    case("np.real_if_close(f + sz * 0)")
    case("np.asfarray(i)")
    case("np.asfarray(i, 'float32')")
    case("np.asfarray(f4)")
    case("np.asarray_chkfinite(f)")
    case("np.asarray_chkfinite(x)", "error")
    case("np.array(np.alltrue(b))", "np.array(np.all(b))")
    case("np.array(np.sometrue(b))", "np.array(np.any(b))")
    case("np.min(np.random.random_integers(3, 5, 1000))", "np.array(3)")
    case("np.max(np.random.random_integers(5, nil, 1000))", "np.array(5)")
    for name in ("add", "multiply", "maximum", "minimum", "subtract"):
        for array in ("f", "i", "i4", "f4", "t"):
            case(f"np.{name}.reduceat({array}, {{1, 3, 2, 2}}, 2)", f"np.{name}.reduceat({array}, [0, 2, 1, 1], 1)")
        case(f"np.{name}.reduceat(v, {{1, 5, 12}})", f"np.{name}.reduceat(v, [0, 4, 11])")
        case(f"np.{name}.reduceat(f, {{2, 1}})", f"np.{name}.reduceat(f, [1, 0])")
    case("np.logical_or.reduceat(b, {1, 3}, 2)", "np.logical_or.reduceat(b, [0, 2], 1)")
    case("np.add.reduceat(u1, {1, 3}, 2)", "np.add.reduceat(u1, [0, 2], 1)")
    case("np.add.reduceat(v, {0, 1}) + 0", "error")
    case("np.add.reduceat(v, {13}) + 0", "error")
    case("np.power.reduceat(v, {1})", "error")
    case("np.add.reduceat(v, {1}, 2)", "error")
