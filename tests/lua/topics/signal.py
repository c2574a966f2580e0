"""Cases of signal.lua and about.lua: convolutions, interpolation, polynomials, windows, questions."""
import numpy as np
from scipy import signal  # noqa: F401, in the expressions

TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-11}


def add(case, change, inputs):
    rng = np.random.default_rng(16)
    inputs["la"], inputs["lb"] = rng.normal(size=200), rng.normal(size=90)
    inputs["ia"], inputs["ib"] = rng.integers(-5, 5, size=30), rng.integers(-5, 5, size=7)
    inputs["za"] = rng.normal(size=9) + 1j * rng.normal(size=9)
    inputs["xs"] = np.sort(rng.uniform(0, 10, size=8))
    inputs["ys"] = rng.normal(size=8)
    inputs["xq"] = rng.uniform(-2, 12, size=(3, 20))
    for a, b in (("v", "h"), ("h", "v"), ("la", "lb"), ("ia", "ib"), ("v", "ia"), ("za", "h"), ("za", "za"), ("h", "h"),
                 ("f4[1]", "f4[2]")):
        py = [x.replace("[1]", "[0]").replace("[2]", "[1]") for x in (a, b)]
        for mode in ("full", "same", "valid"):
            case(f"np.convolve({a}, {b}, '{mode}')", f"np.convolve({py[0]}, {py[1]}, '{mode}')")
            case(f"np.correlate({a}, {b}, '{mode}')", f"np.correlate({py[0]}, {py[1]}, '{mode}')")
    inputs["long_a"], inputs["long_b"] = rng.normal(size=3000), rng.normal(size=700)
    inputs["whole_a"], inputs["whole_b"] = rng.integers(-9, 9, 2500), rng.integers(-9, 9, 13).astype("i1")
    for a, b in (("long_a", "long_b"), ("long_a", "la"), ("long_a", "lb"), ("long_a", "long_a"), ("whole_a", "whole_b"),
                 ("whole_b", "whole_b"), ("long_a", "whole_b"), ("long_a", "za"), ("long_a * 1", "whole_a")):
        case(f"np.convolve({a}, {b})")
        case(f"np.convolve({b}, {a}, 'same')")
        case(f"np.correlate({a}, {b}, 'full')")
    case("np.convolve(long_a['::2'], lb['::-1'])", "np.convolve(long_a[::2], lb[::-1])")
    # NumPy has no arrays of several dimensions here, cuPyNumeric and SciPy have.
    inputs["im"], inputs["w34"], inputs["w22"] = rng.normal(size=(9, 11)), rng.normal(size=(3, 4)), rng.integers(-5, 5, (2, 2))
    inputs["vol"], inputs["w232"] = rng.normal(size=(5, 6, 7)), rng.normal(size=(2, 3, 2))
    inputs["picture"], inputs["patch"] = rng.integers(0, 255, (12, 10)), rng.normal(size=(40, 40))
    inputs["w1717"] = rng.normal(size=(17, 17))
    for a, b in (("im", "w34"), ("w34", "im"), ("im", "w22"), ("im.T", "w34"), ("vol", "w232"), ("picture", "w22"), ("im", "im"),
                 ("patch", "w1717"), ("patch", "w1717 * 1i"), ("im", "w22[[2], :]")):
        py = b.replace("1i", "1j").replace("[[2], :]", "[[1], :]")
        for mode in ("full", "same", "valid"):
            if mode == "valid" or (a, b) != ("w34", "im"):
                case(f"np.convolve({a}, {b.replace('[[2], :]', '[{{2, 2}, {}}]')}, '{mode}')", f"signal.convolve({a}, {py}, '{mode}')")
    for bad in ("np.convolve(im, h)", "np.convolve(vol, w34)", "np.convolve(im, np.ones(0, 3))", "np.convolve(im, np.ones(3, 30), 'valid')",
                "np.convolve(im, w34, 'half')", "np.convolve(picture, picture * np.ones({40, 1, 1}, 'int64'))",
                "np.convolve(np.ones({40, 40}, 'int64'), np.ones({40, 40}, 'int64'))", "np.convolve(im, 2)"):
        case(bad, "error")
    case("np.interp(xq, xs, ys)")
    case("np.interp(xs, xs, ys)")
    case("np.interp(xq, xs, ys, {left = -7, right = 8})", "np.interp(xq, xs, ys, left=-7, right=8)")
    case("np.interp(xq, xs, ys, {period = 11})", "np.interp(xq, xs, ys, period=11)")
    case("np.interp(3, xs, ys)", "np.array(np.interp(3, xs, ys))")
    case("np.interp(xq, np.ones(1), np.ones(1) * 4)", "np.interp(xq, np.ones(1), np.ones(1) * 4)")
    case("np.piecewise(f, {f:lt(0), f:gt(1)}, {-1, function(x) return x * x end})",
         "np.piecewise(f, [f < 0, f > 1], [-1, lambda x: x * x])")
    case("np.piecewise(f, {f:lt(0)}, {-1, function(x) return x * x end})", "np.piecewise(f, [f < 0], [-1, lambda x: x * x])")
    for p in ("h", "ib", "za"):
        case(f"np.polyval({p}, f)")
        case(f"np.polyder({p}, 2)")
        case(f"np.polymul({p}, h)")
        case(f"np.polyadd({p}, v)")
        case(f"np.polysub({p}, h)")
        if p != "za":
            case(f"np.polyint({p})")
            case(f"np.polyint({p}, 2, {{1, 2}})", f"np.polyint({p}, 2, [1, 2])")
    case("np.poly(h)")
    case("np.sort_complex(np.roots(h))", "np.sort_complex(np.roots(h))")
    case("np.sort_complex(np.roots{1, -3, 2, 0, 0})", "np.sort_complex(np.roots([1, -3, 2, 0, 0]).astype(complex))")
    for d in (0, 1, 3):
        case(f"np.polyfit(xs, ys, {d})")
        case(f"np.polyfit(xs, ys, {d}, {{w = xs}})", f"np.polyfit(xs, ys, {d}, w=xs)")
    case("np.polyfit(np.arange(20000) / 1e4, np.cos(np.arange(20000) / 1e4), 3)",
         "np.polyfit(np.arange(20000) / 1e4, np.cos(np.arange(20000) / 1e4), 3)")
    for name in ("bartlett", "blackman", "hamming", "hanning"):
        for n in (0, 1, 2, 7, 12):
            case(f"np.{name}({n})")
    for n in (1, 6, 11):
        case(f"np.kaiser({n}, 14)")
    case("np.i0(f * 8)")
    case("np.i0(np.linspace(0, 40, 50))")
    case("np.apply_along_axis(np.sum, 1, t)", "np.apply_along_axis(np.sum, 0, t)")
    case("np.apply_along_axis(np.cumsum, 2, t)", "np.apply_along_axis(np.cumsum, 1, t)")
    case("np.apply_along_axis(function(x) return np.outer(x, x) end, 2, t)", "np.apply_along_axis(lambda x: np.outer(x, x), 1, t)")
    case("np['repeat'](h, 2)", "np.repeat(h, 2)")
    case("np.msort(f)", "np.sort(f, axis=0)")
    case("np.array(np.array_equiv(h, np.stack{h, h}))", "np.array(np.array_equiv(h, np.stack([h, h])))")
    case("np.array({np.ndim(t), np.size(t), np.size(t, 2), np.shape(t)[3]}, {dtype = 'int64'})", "np.array([3, 60, 4, 5])")
    case("np.array(np.can_cast('int32', 'float64'))", "np.array(True)")
    case("np.zeros(1, {dtype = np.result_type(f4, i1)})", "np.zeros(1, np.result_type(f4, i1))")
    case("np.zeros(1, {dtype = np.promote_types('uint8', 'int8')})", "np.zeros(1, np.promote_types('u1', 'i1'))")
    case("np.array(np.may_share_memory(f, f[1]))", "np.array(True)")
    case("n[np.diag_indices_from(n)]", "np.diag(n)")
    for bad in ("np.convolve(f, h)", "np.convolve(h, np.zeros(0))", "np.convolve(h, h, 'some')", "np.interp(1, h, v)", "np.polyfit(h, v, 1)",
                "np.polyfit(h, h, -1)", "np.hanning(-1)", "np.kaiser(5)", "np.piecewise(f, {b}, {1, 2, 3})", "np.apply_along_axis(3, 1, f)",
                "np.promote_types('a', 'b')", "np.diag_indices_from(f)"):
        case(bad, "error")
