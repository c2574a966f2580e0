"""Cases of statistics.lua, histogram.lua, sets.lua and reduce.lua."""
import numpy as np


def many(case, inputs):
    """Lines long enough for buckets, tables and bitmaps (sort.c, count.c)."""
    rng = np.random.default_rng(5)
    lines = {
        "ln": rng.normal(size=6000), "lu": rng.random(6000), "li": rng.integers(-50, 50, 6000), "lc": np.full(6000, 2.5),
        "lf": rng.normal(size=6000).astype("f4"), "lh": rng.normal(size=6000).astype("f2"), "lb": rng.random(6000) < 0.3,
        "lx": np.where(rng.random(6000) < 0.1, np.inf, rng.normal(size=6000)), "l8": rng.integers(0, 255, 6000).astype("u1"),
        "lN": np.where(rng.random(6000) < 0.4, np.nan, rng.normal(size=6000)), "lw": rng.integers(-2**62, 2**62, 6000),
        "ls": 10.0**rng.integers(-300, 300, 6000), "lz": np.where(rng.random(6000) < 0.5, 0.0, -0.0),
    }
    inputs.update(lines)
    inputs["lm"] = rng.normal(size=(7, 900))
    inputs["la"] = np.arange(30000.0)
    for name in (*lines, "la"):
        for f in ("argmax", "argmin"):
            case(f"np.{f}({name})", f"np.{f}({name}) + 1")
    for name in lines:
        if name not in ("lb",):
            case(f"np.median({name})")
            case(f"np.percentile({name}, {{0, 3, 50, 99.9}})", f"np.percentile({name}, [0, 3, 50, 99.9])")
            case(f"np.quantile({name}, 0.77, {{method = 'lower'}})", f"np.quantile({name}, 0.77, method='lower')")
        for k in (1, 17, 3000, 6000, -1):
            at = k - 1 if k > 0 else k
            case(f"np.partition({name}, {k})[{k}]", f"np.partition({name}, {at})[{at}]")
            case(f"np.sort(np.partition({name}, {k}))", f"np.sort({name})")
            if k > 1 and name not in ("lN",):
                case(f"np.max(np.partition({name}, {k})['1:{k - 1}'])", f"np.sort({name})[{k - 2}]")
            case(f"{name}[np.argpartition({name}, {k})][{k}]", f"np.sort({name})[{at}]")
            case(f"np.sort(np.argpartition({name}, {k}))", "np.arange(6000) + 1")
        for k in (0, 1, 50, 6000):
            last = f"np.argsort({name}, kind='stable')[::-1][:{k}]"
            case(f"select(2, np.topk({name}, {k}))", f"{last} + 1")
            case(f"(np.topk({name}, {k}))", f"{name}[{last}]")
        if name != "lN":
            case(f"np.isin({name}, {name}['1:300'])", f"np.isin({name}, {name}[:300])")
            case(f"np.isin({name}, {name}['1:3'])", f"np.isin({name}, {name}[:3])")
    case("np.isin(lN, lN['1:30'])", "np.isin(lN, lN[:30])")
    case("np.median(lm, 1)", "np.median(lm, 0)")
    case("select(2, np.topk(lm, 3, 1))", "np.argsort(lm, 0)[::-1][:3] + 1")
    case("(np.topk(lm, 9, 2))", "np.sort(lm, 1)[:, ::-1][:, :9]")
    case("np.median(lm, 2)", "np.median(lm, 1)")
    case("np.quantile(lm, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, 2)", "np.quantile(lm, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 1)")
    case("np.sort(np.partition(lm, 5, 1), 1)", "np.sort(lm, 0)")
    for name in ("ln", "lu", "li", "lf", "lc", "l8", "lb"):
        for bins in (1, 10, 64, 999):
            case(f"(np.histogram({name}, {bins}))", f"np.histogram({name}, {bins})[0]")
        case(f"(np.histogram({name}, 13, {{range = {{-0.5, 1.25}}}}))", f"np.histogram({name}, 13, range=(-0.5, 1.25))[0]")
        case(f"(np.histogram({name}, np.array{{-3, -1, 0.25, 0.5, 2.5}}))",
             f"np.histogram({name}, np.array([-3, -1, 0.25, 0.5, 2.5]))[0]")
        for weights in ("lu", "li", "lf", "lu + li * COMPLEX_I"):
            python = weights.replace("COMPLEX_I", "1j")
            lua = weights.replace("lu + li * COMPLEX_I", "lu + li * np.array(require('ffi').new('complex', 0, 1))")
            case(f"(np.histogram({name}, 7, {{weights = {lua}}}))", f"np.histogram({name}, 7, weights={python})[0]")
    # edges at uneven distances, some of them twice, and values on them, between them, outside, and none
    uneven = np.random.default_rng(5)
    for bins in (1, 2, 3, 7, 8, 100):
        inputs[f"edges_{bins}"] = np.sort(uneven.integers(-20, 20, size=bins + 1) / 4)
        for n in (1, 7, 8, 9, 1003):
            inputs[f"between_{n}"] = np.where(uneven.random(n) < 0.1, np.nan, uneven.integers(-60, 60, size=n) / 8)
            case(f"(np.histogram(between_{n}, edges_{bins}))", f"np.histogram(between_{n}, edges_{bins})[0]")
            case(f"(np.histogram(between_{n}, edges_{bins}, {{weights = between_{n}:isfinite()}}))",
                 f"np.histogram(between_{n}, edges_{bins}, weights=np.isfinite(between_{n}).astype(int))[0]")
    case("(np.histogram(np.arange(1001) / 1000, 10))", "np.histogram(np.arange(1001) / 1000, 10)[0]")
    case("(np.histogram(np.arange(3001) / 1000, 30))", "np.histogram(np.arange(3001) / 1000, 30)[0]")
    for expression in ("l8", "np.abs(li)", "np.abs(li) % 3"):
        case(f"np.bincount({expression}, {{base = 0}})", f"np.bincount({expression})")
        case(f"np.bincount({expression}, {{base = 0, weights = ln}})", f"np.bincount({expression}, ln)")
        case(f"np.bincount({expression}, {{base = 0, minlength = 5000}})", f"np.bincount({expression}, minlength=5000)")
    case("np.bincount(li, {base = 0})", "error")
    case("np.bincount(li, {base = 0, size = 100}) + 0", "error")
    case("np.bincount(l8, {base = 0, size = 100}) + 0", "error")


def add(case, change, inputs):
    many(case, inputs)
    rng = np.random.default_rng(12)
    inputs["y"] = rng.normal(size=(4, 5))
    inputs["y"][1, 2] = inputs["y"][3, :] = np.nan
    inputs["y4"] = inputs["y"].astype("float32")
    inputs["u"] = rng.integers(0, 6, size=40)
    inputs["u2"] = rng.integers(0, 9, size=25)
    inputs["wt"] = rng.uniform(0, 2, size=40)
    inputs["pts"] = rng.normal(size=(60, 3))
    inputs["rows_"] = rng.integers(0, 2, size=(9, 3))
    axes = ((None, None), ("1", "0"), ("-1", "-1"))
    ARRAYS = ("f", "i", "t", "f4", "h", "u1", "b", "f.T", "s")
    for ax, py in axes + (("{1, 2}", "(0, 1)"),):
        case(f"np.prod(z, {ax or 'nil'})", f"np.prod(z, axis={py})")
        case(f"np.prod(z['1:3, :'], {ax or 'nil'}, {{keepdims = true}})", f"np.prod(z[:3], axis={py}, keepdims=True)")
    for ax, py in (("nil", "None"), ("1", "0"), ("2", "1"), ("3", "2"), ("{1, 2}", "(0, 1)"), ("{1, 3}", "(0, 2)"), ("{3, 2}", "(1, 2)")):
        case(f"np.prod(t * 1i + 1, {ax})", f"np.prod(t * 1j + 1, axis={py})")
        case(f"np.prod((t * 1i + 1).T, {ax}, {{keepdims = true}})", f"np.prod((t * 1j + 1).T, axis={py}, keepdims=True)")
        case(f"np.prod((t * 1i + 1)['1:1, :, 2:2'], {ax})", f"np.prod((t * 1j + 1)[:1, :, 1:2], axis={py})")
    case("np.prod(e * 1i, 1)", "np.prod(e * 1j, axis=0)")
    case("np.prod(e * 1i, 2)", "np.prod(e * 1j, axis=1)")
    for a in ARRAYS + ("z",):
        for ax, py in axes if a != "s" else axes[:1]:
            for name in ("ptp",) if a not in "bz" else ():
                case(f"np.{name}({a}, {ax or 'nil'})", f"np.{name}({a}, axis={py})")
            if a != "z":
                case(f"np.median({a}, {ax or 'nil'})", f"np.median({a}, axis={py})")
                case(f"np.median({a}, {ax or 'nil'}, {{keepdims = true}})", f"np.median({a}, axis={py}, keepdims=True)")
            case(f"np.average({a}, {ax or 'nil'})", f"np.average({a}, axis={py})")
            for name in ("mean", "sum", "prod", "var", "std"):
                case(f"np.nan{name}({a}, {ax or 'nil'})", f"np.nan{name}({a}, axis={py})")
    case("np.median(t, {1, 3})", "np.median(t, axis=(0, 2))")
    case("np.median(y, 2)", "np.median(y, axis=1)")
    case("np.median(z)", "np.median(z)")
    for method in ("linear lower higher midpoint nearest hazen weibull median_unbiased normal_unbiased "
                   "interpolated_inverted_cdf inverted_cdf").split():
        for a in ("f", "i", "v", "y"):
            if method == "inverted_cdf" and a == "i":
                continue
            case(f"np.quantile({a}, 0.3, nil, {{method = '{method}'}})", f"np.quantile({a}, 0.3, method='{method}')")
            case(f"np.quantile({a}, {{0, 0.25, 0.5, 0.9, 1}}, 1, {{method = '{method}'}})",
                 f"np.quantile({a}, [0, 0.25, 0.5, 0.9, 1], axis=0, method='{method}')")
    for a in ("f", "f4", "u1", "t", "h"):
        case(f"np.percentile({a}, 37)", f"np.percentile({a}, 37)")
        case(f"np.percentile({a}, {{5, 50, 95}}, -1, {{keepdims = true}})", f"np.percentile({a}, [5, 50, 95], axis=-1, keepdims=True)")
    case("np.quantile(t, 0.4, {1, 2})", "np.quantile(t, 0.4, axis=(0, 1))")
    case("np.quantile(v, g['1, :'])", "np.quantile(v, g[0])")
    for bad in ("np.quantile(f, 1.5)", "np.percentile(f, -1)", "np.quantile(f, 0.5, 3)", "np.quantile(f, 0.5, nil, {method = 'x'})",
                "np.quantile(f, 'a')", "np.quantile(e, 0.5)"):
        case(bad, "error")
    case("np.median(e, 2)", "np.zeros(0)")
    # ---- averages
    case("np.average(f, 2, {weights = h:abs()})", "np.average(f, axis=1, weights=np.abs(h))")
    case("np.average(f, {weights = g})", "np.average(f, weights=g)")
    case("np.average(i, 1, {weights = j})", "np.average(i, axis=0, weights=j)")
    case("select(2, np.average(f, 1, {weights = g, returned = true}))", "np.average(f, axis=0, weights=g, returned=True)[1]")
    case("select(2, np.average(f, 1, {returned = true}))", "np.average(f, axis=0, returned=True)[1]")
    for bad in ("np.average(f, {weights = h})", "np.average(f, 1, {weights = h})", "np.average(f, {wts = h})"):
        case(bad, "error")
    # ---- without NaN
    for a in ("y", "y4", "f", "i", "x", "t"):
        for ax, py in axes:
            if a == "x" and ax:
                continue
            for name in ("sum", "prod", "max", "min", "mean", "var", "std", "median"):
                if a == "x" and name in ("mean", "var", "std", "prod", "sum", "median"):
                    continue
                case(f"np.nan{name}({a}, {ax or 'nil'})", f"np.nan{name}({a}, axis={py})")
                case(f"np.nan{name}({a}, {ax or 'nil'}, {{keepdims = true}})", f"np.nan{name}({a}, axis={py}, keepdims=True)")
            case(f"np.nanquantile({a}, 0.3, {ax or 'nil'})" if a != "x" else "np.nanmax(x)",
                 f"np.nanquantile({a}, 0.3, axis={py})" if a != "x" else "np.nanmax(x)")
            if a != "x":
                case(f"np.nanpercentile({a}, {{10, 80}}, {ax or 'nil'})", f"np.nanpercentile({a}, [10, 80], axis={py})")
    case("np.nanvar(y, 1, {ddof = 1})", "np.nanvar(y, axis=0, ddof=1)")
    for dtype in "float64", "float16":
        case(f"np.nanstd(np.array({{1, -1/0, 3}}, '{dtype}'))", f"np.nanstd(np.array([1, -np.inf, 3], '{dtype}'))")
    for name in ("argmax", "argmin"):
        case(f"np.nan{name}(y)", f"np.nan{name}(y) + 1")
        case(f"np.nan{name}(y, 1)", f"np.nan{name}(y, axis=0) + 1")
    # ---- extrema of many elements: ties, what cannot be compared, infinities
    rng = np.random.default_rng(31)
    inputs["ties"] = rng.integers(0, 5, size=(40, 70))
    inputs["late"] = np.where(rng.random((40, 70)) < 0.002, np.nan, rng.random((40, 70)))
    inputs["lows"] = np.where(rng.random((3, 70)) < 0.5, -np.inf, np.inf)
    for a in ("ties", "late", "lows"):
        for name in ("argmax", "argmin"):
            case(f"np.{name}({a})", f"np.{name}({a}) + 1")
            case(f"np.{name}({a}.T)", f"np.{name}({a}.T) + 1")
            for axis in (1, 2):
                case(f"np.{name}({a}, {axis})", f"np.{name}({a}, axis={axis - 1}) + 1")
    # ---- covariances
    for a in ("f", "i", "h", "z", "f4"):
        case(f"np.cov({a})", f"np.cov({a})")
        if a != "f4":
            case(f"np.cov({a}, {{rowvar = false}})", f"np.cov({a}, rowvar=False)")
            case(f"np.corrcoef({a})", f"np.corrcoef({a})")
    case("np.cov(f, g)")
    case("np.cov(f, {bias = true})", "np.cov(f, bias=True)")
    case("np.cov(f, {ddof = 0})", "np.cov(f, ddof=0)")
    case("np.cov(f, {fweights = j['1, :']})", "np.cov(f, fweights=j[0])")
    case("np.cov(f, {aweights = h:abs()})", "np.cov(f, aweights=np.abs(h))")
    case("np.cov(f, {aweights = h:abs(), fweights = j['1, :']})", "np.cov(f, aweights=np.abs(h), fweights=j[0])")
    case("np.corrcoef(f, g, {rowvar = false})", "np.corrcoef(f, g, rowvar=False)")
    for bad in ("np.cov(t)", "np.cov(f, h['1:3'])", "np.cov(f, {foo = 1})"):
        case(bad, "error")
    # ---- histograms
    for a in ("f", "v", "i", "u1", "f4", "t", "np.zeros(5)"):
        for bins in ("", ", 4", ", np.array{-3, 0, 0.5, 2}"):
            py = bins.replace("{", "([").replace("}", "])")
            case(f"(np.histogram({a}{bins}))", f"np.histogram({a}{py})[0]")
            case(f"select(2, np.histogram({a}{bins}))", f"np.histogram({a}{py})[1]" if a != "f4" else f"np.histogram(f4.astype('f8'){py})[1]")
    case("(np.histogram(f, 7, {range = {-1, 2}}))", "np.histogram(f, 7, range=(-1, 2))[0]")
    case("(np.histogram(f, 5, {density = true}))", "np.histogram(f, 5, density=True)[0]")
    case("(np.histogram(u, 5, {weights = wt}))", "np.histogram(u, 5, weights=wt)[0]")
    case("(np.histogram(np.zeros(0), 3))", "np.histogram(np.zeros(0), 3)[0]")
    case("np.histogram_bin_edges(f, 6)", "np.histogram_bin_edges(f, 6)")
    case("(np.histogram2d(pts[{{}, 1}], pts[{{}, 2}], {4, 3}))", "np.histogram2d(pts[:, 0], pts[:, 1], [4, 3])[0]")
    case("select(3, np.histogram2d(pts[{{}, 1}], pts[{{}, 2}], 5))", "np.histogram2d(pts[:, 0], pts[:, 1], 5)[2]")
    case("(np.histogramdd(pts, 3))", "np.histogramdd(pts, 3)[0]")
    case("(np.histogramdd(pts, {2, 3, np.array{-1, 0, 2}}, {density = true}))", "np.histogramdd(pts, [2, 3, np.array([-1, 0, 2.])], density=True)[0]")
    case("(np.histogramdd(pts, 3, {range = {{-1, 1}, {0, 1}, {-2, 2}}}))", "np.histogramdd(pts, 3, range=((-1, 1), (0, 1), (-2, 2)))[0]")
    case("np.bincount(u + 1)", "np.bincount(u)")
    case("np.bincount(u, {base = 0})", "np.bincount(u)")
    case("np.bincount(u, wt, {base = 0})", "np.bincount(u, wt)")
    case("np.bincount(u, {base = 0, minlength = 12})", "np.bincount(u, minlength=12)")
    case("np.bincount(u, {base = 0, size = 12})", "np.bincount(u, minlength=12)")
    case("np.bincount(u1:ravel(), {base = 0})", "np.bincount(u1.ravel())")
    case("np.bincount(np.zeros(0, {dtype = 'int64'}))", "np.bincount(np.zeros(0, 'int64'))")
    for bad in ("np.histogram(f, 0)", "np.histogram(f, 3, {range = {2, 1}})", "np.histogram(f, 3, {weights = h})", "np.bincount(f)",
                "np.bincount(h)", "np.bincount(u)", "np.bincount(u, {base = 0, size = 3})", "np.bincount(u, wt['1:3'], {base = 0})",
                "np.histogramdd(t)", "np.histogram(f, f)"):
        case(bad, "error")
    # ---- sets
    for a in ("u", "i", "f", "b", "u1", "z", "x", "e", "rows_", "f2"):
        case(f"np.unique({a})")
        for k, name in ((1, "index"), (2, "inverse"), (3, "counts")):
            shift = "+ 1" if k < 3 else ""
            case(f"select({k + 1}, np.unique({a}, {{return_index = true, return_inverse = true, return_counts = true}}))",
                 f"np.unique({a}, return_index=True, return_inverse=True, return_counts=True)[{k}] {shift}")
    case("select(2, np.unique(u, {return_counts = true}))", "np.unique(u, return_counts=True)[1]")
    for ax, py in (("1", "0"), ("2", "1")):
        case(f"(np.unique(rows_, {{axis = {ax}}}))", f"np.unique(rows_, axis={py})")
        case(f"select(2, np.unique(rows_, {{axis = {ax}, return_counts = true}}))", f"np.unique(rows_, axis={py}, return_counts=True)[1]")
        case(f"select(2, np.unique(rows_, {{axis = {ax}, return_index = true}}))", f"np.unique(rows_, axis={py}, return_index=True)[1] + 1")
    for a, b in (("u", "u2"), ("i", "u1"), ("f", "f['1:2, :']"), ("h", "v"), ("e", "u"), ("u", "e")):
        py = b.replace("['1:2, :']", "[:2]")
        for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
            case(f"np.{name}({a}, {b})", f"np.{name}({a}, {py})")
        case(f"np.isin({a}, {b})", f"np.isin({a}, {py})")
        case(f"np.in1d({a}, {b}, {{invert = true}})", f"np.in1d({a}, {py}, invert=True)")
    case("select(2, np.intersect1d(u, u2, {return_indices = true}))", "np.intersect1d(u, u2, return_indices=True)[1] + 1")
    case("select(3, np.intersect1d(u, u2, {return_indices = true}))", "np.intersect1d(u, u2, return_indices=True)[2] + 1")
    # ---- the median pad, which needs this file
    for lua, py in (("f", "f"), ("i", "i"), ("h", "h"), ("t", "t"), ("f4", "f4"), ("f.T", "f.T")):
        case(f"np.pad({lua}, {{1, 3}}, 'median')", f"np.pad({py}, (1, 3), 'median')")
