"""Cases of fft.lua."""
import numpy as np

TOLERANCE = {"float64": 1e-12}


def add(case, change, inputs):
    rng = np.random.default_rng(15)
    inputs["r3"] = rng.normal(size=(3, 8, 5))
    inputs["c3"] = rng.normal(size=(3, 8, 5)) + 1j * rng.normal(size=(3, 8, 5))
    inputs["prime"] = rng.normal(size=101)
    F = "np.fft."
    for a in ("f", "f4", "i", "v", "z", "w", "r3", "c3", "prime", "f.T", "h"):
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
            if name in ("rfft", "ihfft") and a in ("z", "w", "c3"):
                continue
            case(f"{F}{name}({a})")
            for n in (3, 4, 16):
                case(f"{F}{name}({a}, {n})")
            if a not in ("v", "prime", "h"):
                case(f"{F}{name}({a}, nil, 1)", f"{F}{name}({a}, axis=0)")
                case(f"{F}{name}({a}, {{n = 6, axis = 1, norm = 'ortho'}})", f"{F}{name}({a}, n=6, axis=0, norm='ortho')")
            case(f"{F}{name}({a}, {{norm = 'forward'}})", f"{F}{name}({a}, norm='forward')")
    # more lines than are read at a time, and long ones, of which fewer are
    inputs["many_r"], inputs["many_c"] = rng.normal(size=(5, 9, 11)), rng.normal(size=(5, 9, 11)) + 1j * rng.normal(size=(5, 9, 11))
    inputs["long_c"] = rng.normal(size=(20000, 7)) + 1j
    for axis in (1, 2, 3):
        case(f"{F}fft(many_c, {{axis = {axis}}})", f"{F}fft(many_c, axis={axis - 1})")
        case(f"{F}rfft(many_r, {{axis = {axis}, norm = 'ortho'}})", f"{F}rfft(many_r, axis={axis - 1}, norm='ortho')")
        case(f"{F}irfft(many_c, {{axis = {axis}}})", f"{F}irfft(many_c, axis={axis - 1})")
        case(f"{F}fft(many_c, 3, {{axis = {axis}}})", f"{F}fft(many_c, 3, axis={axis - 1})")
    case(f"{F}fft(many_c[':, ::-2, ::3'], {{axis = 2}})", f"{F}fft(many_c[:, ::-2, ::3], axis=1)")
    case(f"{F}fft(long_c, {{axis = 1}})", f"{F}fft(long_c, axis=0)")
    for a in ("f", "z", "r3", "c3"):
        for name in ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn", "irfft2", "irfftn"):
            if name.startswith("rfft") and a in ("z", "c3"):
                continue
            case(f"{F}{name}({a})")
            case(f"{F}{name}({a}, {{4, 6}}, {{1, 2}})", f"{F}{name}({a}, (4, 6), (0, 1))")
            case(f"{F}{name}({a}, {{norm = 'ortho'}})", f"{F}{name}({a}, norm='ortho')")
            case(f"{F}{name}({a}, {{axes = {{-1, 1}}}})", f"{F}{name}({a}, axes=(-1, 0))")
        case(f"{F}fftshift({a})")
        case(f"{F}ifftshift({a}, 2)", f"{F}ifftshift({a}, 1)")
        case(f"{F}fftshift({a}, {{1, 2}})", f"{F}fftshift({a}, (0, 1))")
    for n in (1, 2, 7, 8):
        case(f"{F}fftfreq({n})")
        case(f"{F}fftfreq({n}, 0.1)")
        case(f"{F}rfftfreq({n}, 0.1)")
    case(f"{F}ifft({F}fft(v)):real()" if False else f"np.real({F}ifft({F}fft(v)))", "v")
    case(f"{F}irfft({F}rfft(prime), 101)", "prime")
    for bad in ("fft(s)", "fft(v, 0)", "fft(f, nil, 3)", "rfft(z)", "fft(v, {norm = 'x'})", "fft(np.zeros(0))", "fftn(f, {4})", "fftfreq(0)",
                "fft2(v)", "fft(v, {m = 3})", "irfft(np.zeros(1))"):
        if bad == "fftn(f, {4})":
            continue
        case(F + bad, "error")
