"""Cases of ndimage.lua, beside scipy.ndimage."""
import numpy as np
from scipy import ndimage  # noqa: F401, in the expressions

TOLERANCE = {"float16": 4e-3, "float32": 2e-5, "float64": 1e-12}


def add(case, change, inputs):
    rng = np.random.default_rng(41)
    inputs["im"] = rng.normal(size=(9, 11))
    inputs["im4"] = rng.normal(size=(9, 11)).astype("f4")
    inputs["vol"] = rng.normal(size=(5, 6, 7))
    inputs["w33"], inputs["w25"] = rng.normal(size=(3, 3)), rng.normal(size=(2, 5))
    inputs["w44"], inputs["w3"] = rng.normal(size=(4, 4)), rng.normal(size=3)
    inputs["w222"] = rng.normal(size=(2, 3, 2))
    inputs["w77"] = rng.normal(size=(7, 7))
    for name in ("convolve", "correlate"):
        for mode in ("reflect", "constant", "nearest", "mirror", "wrap"):
            for a, w in (("im", "w33"), ("im", "w25"), ("im", "w44"), ("im4", "w33"), ("v", "w3"), ("vol", "w222"),
                         ("im.T", "w33"), ("im", "w77")):
                case(f"np.ndimage.{name}({a}, {w}, {{mode = '{mode}'}})", f"ndimage.{name}({a}, {w}, mode='{mode}')")
        case(f"np.ndimage.{name}(im, w33)", f"ndimage.{name}(im, w33)")
        case(f"np.ndimage.{name}(im, w33, {{mode = 'constant', cval = 2.5}})", f"ndimage.{name}(im, w33, mode='constant', cval=2.5)")
        case(f"np.ndimage.{name}(im, w33, {{origin = 1}})", f"ndimage.{name}(im, w33, origin=1)")
        case(f"np.ndimage.{name}(im, w77, {{origin = -2}})", f"ndimage.{name}(im, w77, origin=-2)")
        case(f"np.ndimage.{name}(im, {{{{0, 1, 0}}, {{1, -4, 1}}, {{0, 1, 0}}}})",
             f"ndimage.{name}(im, np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]]))")
        case(f"np.ndimage.{name}(im, w3)", "error")
        case(f"np.ndimage.{name}(im, w33, {{mode = 'none'}})", "error")
        case(f"np.ndimage.{name}(im, w33, {{origin = 5}})", "error")
        case(f"np.ndimage.{name}(im, np.ones(40, 40))", "error")
        case(f"np.ndimage.{name}(im, np.ones(0, 3))", "error")
    for size in ("3", "4", "{2, 5}"):
        case(f"np.ndimage.uniform_filter(im, {size})", f"ndimage.uniform_filter(im, {size.replace('{', '(').replace('}', ')')})")
    for sigma in ("1", "0.5", "{1, 0.25}", "0"):
        for mode in ("reflect", "nearest", "constant"):
            case(f"np.ndimage.gaussian_filter(im, {sigma}, {{mode = '{mode}'}})",
                 f"ndimage.gaussian_filter(im, {sigma.replace('{', '(').replace('}', ')')}, mode='{mode}')")
    case("np.ndimage.gaussian_filter(im4, 1.5)", "ndimage.gaussian_filter(im4, 1.5)")
    case("np.ndimage.gaussian_filter(im, -1)", "error")
    case("np.ndimage.gaussian_filter(im)", "error")
