"""Cases of functions.lua, complex.lua, special.lua, members.lua: ufuncs and what they can do besides."""
import numpy as np


def add(case, change, inputs):
    rng = np.random.default_rng(13)
    ints = rng.integers(-40, 40, size=(4, 5))
    ints[0, 0] = ints[1, 1] = 0
    for d in "int8 int16 int32 int64".split():
        inputs["g_" + d] = ints.astype(d)
    for d in "uint8 uint16 uint32 uint64".split():
        inputs["g_" + d] = np.abs(ints).astype(d)
    inputs["k"] = rng.integers(-5, 6, size=(4, 5))
    inputs["w128"] = (rng.normal(size=60) + 1j * rng.normal(size=60)) * 2
    inputs["w64"] = inputs["w128"].astype("complex64")
    inputs["grid"] = (np.linspace(-2.5, 2.5, 8)[:, None] + 1j * np.linspace(-2.3, 2.3, 8)).ravel()
    inputs["sp"] = np.array([1.0, -1.0, 0.0, -0.0, np.inf, -np.inf, np.nan, 1e308, 5e-324, 2.0**52, -3.7])
    inputs["sp4"] = inputs["sp"].astype("float32")
    inputs["ph"] = np.cumsum(rng.uniform(-1, 4, size=(3, 20)), axis=1) % 6.0
    inputs["mk"] = rng.integers(0, 2, size=(4, 5)).astype(bool)
    # ---- functions
    for a in ("w128", "w64", "grid"):
        for name in ("exp exp2 expm1 log log2 log10 log1p sqrt square sin cos tan sinh cosh tanh arcsin arccos arctan "
                     "arcsinh arccosh arctanh sign rint reciprocal conj abs negative isnan isinf isfinite isreal iscomplex "
                     "real imag angle").split():
            case(f"np.{name}({a})")
    for name in "isreal iscomplex isposinf isneginf sign rint fix".split():
        for a in ("sp", "f4", "f2"):
            case(f"np.{name}({a})")
    case("np.isreal(i)")
    for re, im in (("f", "g"), ("f4", "f4"), ("i", "f"), ("f2", "f2")):
        case(f"np.complex({re}, {im})", f"{re} + {im} * np.complex64(1j)" if re in ("f4", "f2") else f"{re} + {im} * 1j")
    case("np.complex(f, 2)", "f + 2j")
    case("np.complex(1, f4)", "1 + f4 * np.complex64(1j)")
    for bad in ("np.complex(1)", "np.complex(z, 1)", "np.complex(f, z)", "np.complex(f, 'x')"):
        case(bad, "error")
    for pair in (("f", "g"), ("f4", "f4"), ("g", "f4"), ("sp", "1")):
        case(f"np.logaddexp2({pair[0]}, {pair[1]})", f"np.logaddexp2({pair[0]}, {pair[1]})" if pair[1] != "1" else "np.logaddexp2(sp, 1.0)")
    case("np.logaddexp(f4, f4)")
    for pair in (("g", "f"), ("j", "j"), ("i4", "2"), ("f4", "2"), ("z", "2"), ("b", "b")):
        case(f"np.float_power({pair[0]}, {pair[1]})", f"np.float_power({pair[0]}, {pair[1]})")
    for d in "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split():
        for name in ("gcd", "lcm"):
            case(f"np.{name}(g_{d}, np.roll(g_{d}, 3))", f"np.{name}(g_{d}, np.roll(g_{d}, 3))")
    case("np.gcd(g_int32, g_int8)")
    case("np.gcd(g_int32, 12)", "np.gcd(g_int32, np.int32(12))")
    case("np.lcm(g_int64['1, :'], g_int64[{{}, {1, 1}}])", "np.lcm(g_int64[0], g_int64[:, :1])")
    case("np.gcd(si, 12)", "np.gcd(si, 12)")
    case("np.gcd.reduce(g_int64)", "np.gcd.reduce(g_int64)")
    case("np.lcm.outer(j['1, :'], j['2, :'])", "np.lcm.outer(j[0], j[1])")
    case("np.gcd(g_int64, 6, {where = mk, out = np.ones(4, 5, {dtype = 'int64'})})",
         "np.gcd(g_int64, 6, where=mk, out=np.ones((4, 5), 'int64'))")
    for a in ("sp", "sp4"):
        for b in ("0", "math.huge", "-math.huge", "0 / 0"):
            py = {"0": "0.0", "math.huge": "np.inf", "-math.huge": "-np.inf", "0 / 0": "np.nan"}[b]
            case(f"np.nextafter({a}, {b})", f"np.nextafter({a}, {a}.dtype.type({py}))")
        case(f"np.spacing({a})")
        for n in (0, 3, -126, 127, -127, 128, -2000):
            case(f"np.ldexp({a}, {n})", f"np.ldexp({a}, {n})")
        case(f"select(1, np.frexp({a}))", f"np.frexp({a})[0]")
        case(f"select(2, np.frexp({a}['1:6']))", f"np.frexp({a}[:6])[1]")
    case("np.nextafter(f2, 0)", "np.nextafter(f2, np.float16(0))")
    case("np.ldexp(f, k)", "np.ldexp(f, k)")
    case("np.ldexp(sp['8:9'], -1070)", "np.ldexp(sp[7:9], -1070)")
    # runs of elements: all alike, or one of them is not
    inputs["run"] = rng.normal(size=1700) * 10.0**rng.integers(-30, 30, 1700)
    inputs["run_at"] = rng.integers(-90, 90, 1700)
    inputs["run_far"] = np.where(np.arange(1700) == 700, -1080, np.where(np.arange(1700) == 1690, 2**40, inputs["run_at"]))
    inputs["run_zero"] = np.where(np.arange(1700) == 600, 0.0, np.where(np.arange(1700) == 1699, np.inf, inputs["run"]))
    for a in ("run", "run:astype('f4')", "run['::2']", "run_zero", "run_zero:astype('f4')"):
        py = a.replace("'::2'", "::2").replace(":astype", ".astype")
        part = "['::2']" if "::2" in a else ""
        for e in ("run_at", "run_far", "run_at:astype('i4')", "run_at:astype('i1')"):
            case(f"np.ldexp({a}, ({e}){part})", f"np.ldexp({py}, ({e.replace(':', '.')}){part.replace(chr(39), '')})")
        for k in (1, 2):
            case(f"select({k}, np.frexp({a}))", f"np.frexp({py})[{k - 1}]")
    for a in ("f", "f4", "i", "u1"):
        for d in (0, 1, 2, -1):
            case(f"np.round({a} * 7, {d})", f"np.round({a} * {a}.dtype.type(7), {d})")
    case("f:round(1)", "f.round(1)")
    case("np.round(z, 1)", "np.round(z, 1)")
    for o, py in (("", ""), (", {period = 6}", ", period=6.0"), (", {axis = 1}", ", axis=0"), (", {discont = 5}", ", discont=5")):
        case(f"np.unwrap(ph{o})", f"np.unwrap(ph{py})")
    for bad in ("np.gcd(f, 2)", "np.gcd(i)", "np.gcd(i, {2})", "np.ldexp(f, f)", "np.frexp(z)", "np.nextafter(z, 1)", "np.round(f, 0.5)",
                "np.float_power(f)", "np.arctan2(z, z)", "np.cbrt(z)", "np.floor(z)", "np.gcd(i, j, {out = h})", "np.spacing('a')"):
        case(bad, "error")
    # whole powers: products, bit by bit
    inputs["zeros128"] = np.concatenate([[0, -0.0, 1j, -1], rng.normal(size=30) + 1j * rng.normal(size=30)])
    for a in ("w128", "w64", "zeros128"):
        for n in (-99, -8, -3, -2, -1, 0, 1, 2, 3, 4, 31, 99):
            case(f"{a} ^ {n}", f"{a} ** {n}")
            case(f"np.power({a}, {n})")
            case(f"{a}:copy():ipow({n})", f"np.power({a}, {n})")
        if a != "w64":
            case(f"{a} ^ -0.5", f"{a} ** -0.5")
            case(f"{a} ^ 2.5", f"{a} ** 2.5")
    for a, n, product in (("w128", 3, "w128 * (w128 * w128)"), ("w64", 5, "w64 * ((w64 * w64) * (w64 * w64))"),
                          ("w128", -4, "1 / ((w128 * w128) * (w128 * w128))")):
        case(f"np.equal({a} ^ {n}, {product})", f"np.equal({a} ** {n}, {product})")
        case(f"np.equal(np.power({a}, {n}, {{where = {a}:eq({a}), out = {a}:copy()}}), {product})",
             f"np.equal(np.power({a}, {n}), {product})")
    for a in ("f", "f4", "f2", "sp", "s"):
        for n in (-1, 0, 1, 2, 3):
            case(f"{a} ^ {n}", f"{a} ** {n}")
            case(f"np.power({a}, {n})", f"np.power({a}, {a}.dtype.type({n}))")
            case(f"{a}:copy():ipow({n})", f"np.power({a}, {a}.dtype.type({n}))")
    case("np.equal(np.power(sp, 2), sp * sp)", "np.equal(np.power(sp, 2), sp * sp)")
    # integers that vectors divide, some of them too large for that
    whole = rng.integers(-2000, 2000, 300)
    inputs["d_small"], inputs["d_by"] = whole, np.where(whole == 7, 1, 7 - whole)
    inputs["d_large"] = np.where(rng.random(300) < 0.1, rng.integers(-2**63, 2**63 - 1, 300), whole)
    for a in ("d_small", "d_large", "d_small:astype('i4')", "d_small:astype('u2')", "d_small:astype('i1')", "d_large:astype('u8')"):
        py = a.replace(":", ".")
        for b in ("3", "7", "10") + (("-3",) if "u" not in a else ()) + (("d_by",) if ":" not in a else ()):
            for name in ("mod", "fmod", "floor_divide"):
                case(f"np.{name}({a}, {b})", f"np.{name}({py}, {b if b == 'd_by' else f'{py}.dtype.type({b})'})")
    # ---- out, where, dtype
    BINARY = "add subtract multiply divide maximum minimum power arctan2 hypot fmod logaddexp less equal logical_and".split()
    for name in BINARY:
        a, b = ("g", "f") if name == "power" else ("f", "g")
        out, npout = ("np.zeros(4, 5)", "np.zeros((4, 5))") if name not in ("less", "equal", "logical_and") else (
            "np.zeros(4, 5, {dtype = 'bool'})", "np.zeros((4, 5), bool)")
        case(f"np.{name}({a}, {b}, {{out = {out}}})", f"np.{name}({a}, {b})")
        case(f"np.{name}({a}, {b}, {{where = mk}})", f"np.{name}({a}, {b}, where=mk, out={npout})")
        case(f"np.{name}({a}, 2, {{where = mk['1, :'], out = {out}}})", f"np.{name}({a}, 2, where=mk[0], out={npout})")
    for name in "sqrt exp negative abs floor square".split():
        case(f"np.{name}(g, {{where = mk, out = np.ones(4, 5)}})", f"np.{name}(g, where=mk, out=np.ones((4, 5)))")
        case(f"np.{name}(i, {{dtype = 'float32'}})", f"np.{name}(i, dtype='float32')")
    case("np.add(i1, i1, {dtype = 'int32'})", "np.add(i1, i1, dtype='int32')")
    case("np.multiply(f4, f4, {dtype = 'float64'})", "np.multiply(f4, f4, dtype='float64')")
    case("np.add(f4, i1, {dtype = 'float64', out = np.zeros(4, 5)})", "np.add(f4, i1, dtype='float64')")
    change("local a, b2 = np.zeros(4, 5), np.zeros(4, 5) np.modf(f, {out = {b2, a}})", "a = np.modf(f)[1]")
    change("local a = f:copy() np.add(a, 1, {out = a})", "a = f + 1")
    change("local a = f:copy() np.add(a['2:, :'], a[':-2, :'], {out = a['2:, :']})", "a = f.copy(); a[1:] = f[1:] + f[:-1]")
    for bad in ("np.add(f, g, {out = np.zeros(3)})", "np.add(f, g, {where = f})", "np.modf(f, {out = f:copy()})",
                "np.add(f, g, {out = 3})", "np.add(f, g, {dtype = 'float'  .. 'y'})"):
        case(bad, "error")
    for bad in ("np.frexp(f, {out = {np.empty(4, 5), np.empty({4, 5}, 'bool')}})", "np.frexp(f, {out = {np.empty({4, 5}, 'i8'), np.empty({4, 5}, 'i4')}})",
                "np.ldexp(f, i, {out = np.empty({4, 5}, 'i8')})", "np.ldexp(f, i, {out = np.empty({4, 5}, 'i8'), where = mk})",
                "np.nextafter(f, g, {out = np.empty({4, 5}, 'i4')})", "np.modf(f, {out = {np.empty({4, 5}, 'i8'), np.empty(4, 5)}})",
                "np.gcd(i, j, {out = np.empty({4, 5}, 'bool')})"):
        case(bad, "error")
    case("np.gcd(i, j, {out = np.empty(4, 5)})", "np.gcd(i, j).astype(float)")
    change("local a, b2 = np.empty({4, 5}, 'f4'), np.empty({4, 5}, 'i8') np.frexp(f, {out = {a, b2}})", "a = np.frexp(f)[0].astype('f4')")
    # ---- signs of zero, infinite numbers
    for a in ("x", "x:astype('f2')", "x:astype('f4')", "i", "i1", "b"):
        py = a.replace(":", ".")
        for k in (1, 2):
            case(f"(select({k}, np.modf({a})))", f"np.modf({py})[{k - 1}]")
            case(f"np.signbit((select({k}, np.modf({a}))))", f"np.signbit(np.modf({py})[{k - 1}])")
    for dtype in ("f2", "f4", "f8"):
        z1, z2 = f"np.array({{-0.0, 0, 0, -0.0}}, '{dtype}')", f"np.array({{0, -0.0, 0, -0.0}}, '{dtype}')"
        case(f"np.signbit(np.nextafter({z1}, {z2}))",
             f"np.signbit(np.nextafter(np.array([-0.0, 0, 0, -0.0], '{dtype}'), np.array([0, -0.0, 0, -0.0], '{dtype}')))")
    # ---- booleans by a mask
    change("local a = b:copy() a[c] = 1", "a = b.copy(); a[c] = 1")
    change("local a = b:copy() a[c] = 0", "a = b.copy(); a[c] = 0")
    change("local a = b:copy() a[c] = 300", "a = b.copy(); a[c] = 300")
    change("local a = b:copy() a[c] = true", "a = b.copy(); a[c] = True")
    change("local a = b:copy() a[c] = np.array(2)", "a = b.copy(); a[c] = 2")
    change("local a = b:copy() a[c] = 2LL", "a = b.copy(); a[c] = 2")
    case("(function() local a = b:copy() a[c] = 0.5 end)()", "error")
    # ---- reduce, outer
    for name in "add multiply maximum minimum fmax fmin subtract divide logical_and logical_or logical_xor hypot power arctan2 logaddexp".split():
        a = "g" if name in ("power", "arctan2") else "f"
        for ax, py in (("", ""), (", 1", ", 0"), (", 2", ", 1"), (", -1", ", -1")):
            if name in ("power", "arctan2"):  # NumPy's own reduce is wrong where it has vector instructions
                where = py[2:] or "0"
                case(f"np.{name}.reduce({a}{ax})", f"np.take(np.{name}.accumulate({a}, axis={where}), -1, axis={where})")
                continue
            case(f"np.{name}.reduce({a}{ax})", f"np.{name}.reduce({a}{py})")
        if name not in ("power", "arctan2"):
            case(f"np.{name}.reduce({a}, {{axis = 2, keepdims = true}})", f"np.{name}.reduce({a}, axis=1, keepdims=True)")
    for name in "bitwise_and bitwise_or bitwise_xor add multiply maximum subtract".split():
        for a in ("i", "u1", "i4"):
            case(f"np.{name}.reduce({a}, 2)", f"np.{name}.reduce({a}, axis=1)")
    for name in "bitwise_and bitwise_or bitwise_xor logical_xor add".split():
        case(f"np.{name}.reduce(b, 2)", f"np.{name}.reduce(b, axis=1)")
    case("np.hypot.reduce(np.ones(5000))")
    case("np.add.reduce(t, {1, 3})", "np.add.reduce(t, axis=(0, 2))")
    case("np.add.reduce(i1, {dtype = 'int8'})", "np.add.reduce(i1, dtype='int8')")
    case("np.maximum.reduce(e, {axis = 1, initial = 3})", "np.maximum.reduce(e, axis=0, initial=3)")
    case("np.subtract.reduce(f, {initial = 10})", "10 - f[0] - f[1] - f[2] - f[3]")
    for name in "add subtract multiply maximum less power hypot".split():
        for a, b in (("h", "v"), ("g", "h"), ("h", "j"), ("s", "h")):
            case(f"np.{name}.outer(np.abs({a}), {b})", f"np.{name}.outer(np.abs({a}), {b})")
    # ---- reductions with where, initial, out
    for name in "sum prod max min any all mean var std".split():
        for ax in ("", "axis = 1, ", "axis = 2, keepdims = true, "):
            py = ax.replace("axis = 1", "axis=0").replace("axis = 2", "axis=1").replace("true", "True")
            if name in ("any", "all") and not ax:
                continue
            init, pyinit = (", initial = -3", ", initial=-3") if name in ("max", "min") else ("", "")
            case(f"np.{name}(f, {{{ax}where = mk{init}}})", f"np.{name}(f, {py}where=mk{pyinit})")
    for name in "sum prod max min".split():
        case(f"np.{name}(i, {{axis = 1, initial = 2}})", f"np.{name}(i, axis=0, initial=2)")
        case(f"np.{name}(f, {{axis = 1, out = np.zeros(5)}})", f"np.{name}(f, axis=0)")
    case("np.max(np.zeros(0), {initial = 4})", "np.max(np.zeros(0), initial=4)")
    case("np.mean(f, {axis = 2, out = np.zeros(4)})", "np.mean(f, axis=1)")
    case("np.std(f, {axis = 2, out = np.zeros(4)})", "np.std(f, axis=1)")
    # ---- elements that lie two apart, and parts of complex numbers: as many as vectors have, some more, some fewer
    inputs["two"] = rng.normal(size=140) * 9
    inputs["twice"] = rng.normal(size=(5, 70)) + 1j * rng.normal(size=(5, 70))
    for dtype in "float64 float32 float16 int64 int32 int16 int8 bool".split():
        inputs["two_" + dtype] = inputs["two"].astype(dtype)
        for n in (1, 2, 7, 8, 9, 15, 16, 17, 33, 64, 65, 70):
            a = f"two_{dtype}"
            case(f"np.equal({a}['::2']['1:{n}'], {a}['2::2']['1:{n}'])", f"np.equal({a}[::2][:{n}], {a}[1::2][:{n}])")
            change(f"local a = {a}:copy() a['1:{2 * n}:2'] = {a}['1:{n}'] a['2:{2 * n}:2'] = a['1:{2 * n}:2']",
                   f"a = {a}.copy(); a[:{2 * n}:2] = {a}[:{n}]; a[1:{2 * n}:2] = a[:{2 * n}:2]")
            change(f"local a = {a}:copy() a['2:{2 * n}:2'] = {a}['::-1']['1:{n}']", f"a = {a}.copy(); a[1:{2 * n}:2] = {a}[::-1][:{n}]")
    for n in (1, 2, 7, 8, 9, 16, 17, 33, 70):
        for z, twin in ((f"twice[':, 1:{n}']", f"twice[:, :{n}]"), (f"twice['2, 1:{n}']", f"twice[1, :{n}]"),
                        (f"twice:astype('complex64')['::-1, 1:{n}']", f"twice.astype('c8')[::-1, :{n}]")):
            case(f"np.conj({z}) * {z} + 2", f"np.conj({twin}) * {twin} + 2")
            case(f"np.sum({z}, -1)", f"np.sum({twin}, -1)")
            case(f"np.sum({z}, 1)", f"np.sum({twin}, 0)")
            case(f"np.flip({z}):copy()", f"np.flip({twin})")
            case(f"({z}).imag:copy()", f"{twin}.imag")
            case(f"({z}):astype('complex64')", f"{twin}.astype('c8')")
        change(f"local a = twice:copy() a[':, 1:{n}'] = a[':, 1:{n}'] * 1i", f"a = twice.copy(); a[:, :{n}] *= 1j")
    for bad in ("np.max(f, {where = mk})", "np.sum(f, {where = i})", "np.sum(f, {axis = 1, out = np.zeros(4)})", "np.exp.reduce(f)",
                "np.divmod.reduce(f)", "np.add.reduce(s)", "np.subtract.reduce(e)",
                "np.subtract.reduce(f, {1, 2})", "np.hypot.reduce(f, {where = mk})", "np.mean(f, {initial = 1})", "np.exp.outer(f, f)"):
        case(bad, "error")
