"""Cases of sort.lua, choose.lua, scan.lua and keys.lua: orders, scans, elements at positions."""
import numpy as np

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()


def add(case, change, inputs):
    rng = np.random.default_rng(11)
    names = []
    for d in DTYPES:  # many equal elements, so that stability shows
        values = rng.integers(-4 if d[0] not in "ub" else 0, 5, size=(3, 7, 4))
        if d.startswith("complex"):
            values = values + 1j * rng.integers(-1, 2, size=(3, 7, 4))
        inputs["d_" + d] = values.astype(d)
        names.append("d_" + d)
    inputs["long_"] = rng.normal(size=1000)
    inputs["long_"][::97] = np.nan
    inputs["long_"][5:20] = 0.0
    inputs["long_"][7] = -0.0
    inputs["long_i"] = rng.integers(-2**62, 2**62, size=777)
    inputs["long_f4"] = rng.normal(size=(2, 300)).astype("float32")
    inputs["long_f2"] = rng.normal(size=(2, 300)).astype("float16")
    inputs["long_z"] = rng.integers(-3, 4, size=300) + 1j * rng.integers(-3, 4, size=300)
    inputs["one"] = np.array([3.0])
    inputs["k1"], inputs["k2"] = rng.integers(0, 3, size=(4, 6)), rng.integers(0, 3, size=(4, 6))
    inputs["edges"] = np.array([-2.0, -1, 0, 0.5, 3])
    # ---- sorts
    for a in names + ["long_", "long_i", "long_f4", "long_f2", "long_z", "one", "x", "t.T"]:
        ndim = eval(a, {"np": np, **inputs}).ndim
        for axis in [*range(ndim), -1]:
            ax = axis + 1 if axis >= 0 else axis
            case(f"np.sort({a}, {ax})", f"np.sort({a}, axis={axis})")
            case(f"np.argsort({a}, {ax})", f"np.argsort({a}, axis={axis}, kind='stable') + 1")
        case(f"np.sort({a})")
        case(f"np.sort(np.ravel({a}))", f"np.sort({a}, axis=None)")
    # short lines, which are sorted side by side; some lanes stay empty
    special = [np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1e-40]
    for d in ("int32", "uint32", "int64", "uint64", "float32", "float64"):
        for n in (1, 2, 3, 5, 12, 33, 64, 100, 1000, 1001):
            bits = rng.integers(0, 2**63, size=(21, n)).astype("uint64") * 2 + rng.integers(0, 2, size=(21, n)).astype("uint64")
            lines = (bits if d[-2:] == "64" else bits >> 32).astype("u" + d[-2:].replace("64", "8").replace("32", "4")).view(d)
            if d[0] == "f":
                lines = np.where(rng.random((21, n)) < 0.2, rng.choice(special, (21, n)), lines).astype(d)
            inputs[f"sl_{d}_{n}"] = lines
            case(f"np.sort(sl_{d}_{n}, 2)", f"np.sort(sl_{d}_{n}, axis=1)")
        case(f"np.sort(sl_{d}_1000['1'])", f"np.sort(sl_{d}_1000[0])")  # a line alone
        case(f"np.sort(np.ravel(sl_{d}_1001)['1:5000'])", f"np.sort(np.ravel(sl_{d}_1001)[:5000])")
    case("np.sort(sl_float64_33.T, 1)", "np.sort(sl_float64_33.T, axis=0)")
    case("np.sort(sl_float32_12['1:3'], 2)", "np.sort(sl_float32_12[:3], axis=1)")
    case("np.sort(sl_int32_64:reshape(3, 7, 64)[':, ::-2, ::3'], 3)", "np.sort(sl_int32_64.reshape(3, 7, 64)[:, ::-2, ::3], axis=2)")
    # NaN in either part: behind all numbers, those in the imaginary part only by the real one, then by the imaginary one
    parts = [np.nan, 0.0, -1.0, 1.0, 5.0, np.inf, -np.inf]
    inputs["nans_z"] = np.array([complex(x, y) for x in parts for y in parts])[rng.permutation(49)]
    inputs["long_nans_z"] = np.tile(inputs["nans_z"], 15)[rng.permutation(735)]
    inputs["nans_w"] = inputs["nans_z"].astype("complex64").reshape(7, 7)
    for a in ("nans_z", "long_nans_z", "nans_w"):
        for part in ("real", "imag"):
            case(f"np.{part}(np.sort({a}))")
            case(f"np.{part}(np.unique({a}))")
            case(f"np.{part}(np.partition(np.ravel({a}), 9)[9])", f"np.{part}(np.sort(np.ravel({a}))[8])")
        case(f"np.argsort({a})", f"np.argsort({a}, kind='stable') + 1")
        case(f"np.isin({a}, nans_z)")
        for k, name in enumerate(("index", "inverse", "counts"), 2):
            case(f"select({k}, np.unique({a}, {{return_index = true, return_inverse = true, return_counts = true}}))",
                 f"np.unique({a}, return_index=True, return_inverse=True, return_counts=True)[{k - 1}]" + (" + 1" if k < 4 else ""))
        for side in ("left", "right"):
            case(f"np.searchsorted(np.sort(np.ravel({a})), nans_z, '{side}')",
                 f"np.searchsorted(np.sort({a}.ravel()), nans_z, '{side}') + 1")
            case(f"np.searchsorted(np.sort(nans_z), {a}, '{side}')", f"np.searchsorted(np.sort(nans_z), {a}, '{side}') + 1")
            case(f"np.searchsorted(np.sort(np.ravel({a})), np.sort(nans_z), '{side}')",  # those that ascend
                 f"np.searchsorted(np.sort({a}.ravel()), np.sort(nans_z), '{side}') + 1")
            case(f"np.searchsorted(np.sort(nans_z), np.sort(np.ravel({a})), '{side}')",
                 f"np.searchsorted(np.sort(nans_z), np.sort({a}.ravel()), '{side}') + 1")
    case("np.lexsort{nans_z, np.ones(49)}", "np.lexsort((nans_z, np.ones(49))) + 1")
    case("np.sort(d_int32['::2, ::-1, 2:3'], 2)", "np.sort(d_int32[::2, ::-1, 1:3], axis=1)")
    case("np.sort(e, 1)", "np.sort(e, axis=0)")
    case("np.argsort(e, 2)", "np.argsort(e, axis=1)")
    case("np.partition(v, 4)[4]", "np.partition(v, 3)[3]")
    case("np.sort(np.partition(f, 2, 1)[':2, :'], 1)", "np.sort(np.partition(f, 1, axis=0)[:2], axis=0)")
    case("np.take(v, np.argpartition(v, 4))[4]", "v[np.argpartition(v, 3)][3]")
    case("(np.topk(v, 3))", "np.sort(v)[::-1][:3]")
    case("select(2, np.topk(f, 2, 1))", "np.argsort(f, axis=0)[::-1][:2] + 1")
    case("np.topk(f, 0)", "np.zeros((4, 0))")
    case("np.lexsort{k1, k2}", "np.lexsort((k1, k2)) + 1")
    case("np.lexsort(k1)", "np.lexsort(k1) + 1")
    case("np.lexsort({k1, k2}, 1)", "np.lexsort((k1, k2), axis=0) + 1")
    case("np.sort_complex(v)")
    change("local a = f:copy() a:sort(1)", "a = f.copy(); a.sort(axis=0)")
    change("local a = f:copy() a[2]:sort()", "a = f.copy(); a[1].sort()")
    for bad in ("np.sort(s)", "np.sort(f, 3)", "np.sort(f, 0)", "np.partition(v, 13)", "np.partition(v, 0)", "np.topk(v, 99)",
                "np.lexsort({})", "np.lexsort({h, v})", "np.argsort(f, {axes = 1})", "np.sort('a')"):
        case(bad, "error")
    # ---- searches
    for side in ("left", "right"):
        for a in ("edges", "np.sort(v)", "np.sort(i4:ravel())", "np.sort(f4:ravel())", "np.zeros(0)"):
            py = a.replace(":ravel", ".ravel")
            for x in ("f", "i", "x", "t.T", "0.5", "one"):
                case(f"np.searchsorted({a}, {x}, '{side}')", f"np.array(np.searchsorted({py}, {x}, '{side}') + 1)")
    case("np.searchsorted(v, f, {sorter = np.argsort(v)})", "np.searchsorted(v, f, sorter=np.argsort(v)) + 1")
    for right in ("false", "true"):
        case(f"np.digitize(f, edges, {right})", f"np.digitize(f, edges, {right.capitalize()}) + 1")
        case(f"np.digitize(f, edges['::-1'], {right})", f"np.digitize(f, edges[::-1], {right.capitalize()}) + 1")
        for e in ("edges", "edges['::-1']", "np.rep(edges['::-1'], 2)"):  # values that are edges
            py = e.replace("'", "").replace("np.rep(", "np.repeat(")
            case(f"np.digitize(edges, {e}, {right})", f"np.digitize(edges, {py}, {right.capitalize()}) + 1")
            case(f"np.digitize(edges, {e} + 0i, {right})", f"np.digitize(edges, {py}, {right.capitalize()}) + 1")
    for bad in ("np.searchsorted(f, 1)", "np.searchsorted(h, 1, 'middle')", "np.digitize(f, f)", "np.digitize(f, np.array{1, 0, 2})"):
        case(bad, "error")
    # ---- scans
    for a in names + ["t", "f4", "f2", "i1", "b", "x", "e", "s", "f.T"]:
        for name in ("cumsum", "cumprod"):
            if a in ("f2", "d_float16") and name == "cumprod":
                continue
            ndim = eval(a, {"np": np, **inputs}).ndim
            case(f"np.{name}({a})")
            for axis in [*range(ndim), -1] if ndim else []:
                case(f"np.{name}({a}, {axis + 1 if axis >= 0 else axis})", f"np.{name}({a}, axis={axis})")
            if not a.startswith("d_c"):
                case(f"np.nan{name}({a})")
    case("np.cumsum(i1, {dtype = 'int8'})", "np.cumsum(i1, dtype='int8')")
    case("np.cumsum(f4, {axis = 2, dtype = 'float64'})", "np.cumsum(f4, axis=1, dtype='float64')")
    case("f:cumsum(2)", "f.cumsum(1)")
    for u in "add multiply maximum minimum subtract divide fmax fmin".split():
        for a in ("f", "i", "f4", "i1", "x"):
            case(f"np.{u}.accumulate({a})", f"np.{u}.accumulate({a})")
        case(f"np.{u}.accumulate(f, 2)", f"np.{u}.accumulate(f, axis=1)")
    inputs["sum_f2"] = np.array([60000, 40000, 40000, 1] + 70 * [0], "float16")  # whose sums are out of range, unlike differences
    inputs["sum_f8"] = np.array([1.5e308, 1e308, 1e308, -1e308] + 70 * [0])
    inputs["many_u1"] = rng.integers(0, 256, size=3000).astype("uint8")
    inputs["zeros_"] = np.array([-0.0, 0.0, 0.0, -0.0] + 70 * [0])
    for a in ("sum_f2", "sum_f8", "many_u1", "long_i"):
        case(f"np.subtract.accumulate({a})")
    case("np.signbit(np.subtract.accumulate(zeros_))")
    for u in "bitwise_and bitwise_or bitwise_xor".split():
        for a in ("i", "u1", "b"):
            case(f"np.{u}.accumulate({a})", f"np.{u}.accumulate({a})")
    for u in "logical_and logical_or logical_xor".split():
        case(f"np.{u}.accumulate(i, 2)", f"np.{u}.accumulate(i, axis=1)")
    case("np.hypot.accumulate(f)", "np.hypot.accumulate(f)")
    for n in (1, 2, 3, 11, 5003):
        for f in ("reduce", "accumulate"):
            case(f"np.gcd.{f}(np.arange({n}) * 7919 % 360 * 6 + 6)")
            case(f"np.hypot.{f}(np.sin(np.arange({n})))")
            case(f"np.logaddexp.{f}(np.sin(np.arange({2 * n})):reshape({n}, 2))", f"np.logaddexp.{f}(np.sin(np.arange({2 * n})).reshape({n}, 2))")
    change("local a = np.ones({1}, {dtype = 'int64'}) local g = np.gcd.reduce(a) a:iadd(5) a = a + g", "a = np.array([7])")
    case("np.power.accumulate(g, 2)", "np.power.accumulate(g, axis=1)")
    case("np.add.accumulate(b)", "np.add.accumulate(b)")
    case("np.add.accumulate(e)", "np.add.accumulate(e)")
    for bad in ("np.cumsum(f, 3)", "np.exp.accumulate(f)", "np.add.accumulate(s)", "np.arctan2.accumulate(np.ones(5000))",
                "np.cumsum(f, {keepdims = true})"):
        case(bad, "error")
    for a in ("f", "i", "b", "t", "z", "u1"):
        for n in (0, 1, 2, 5):
            case(f"np.diff({a}, {n})", f"np.diff({a}, {n})")
            case(f"np.diff({a}, {n}, 1)", f"np.diff({a}, {n}, axis=0)")
        case(f"np.ediff1d({a})", f"np.ediff1d({a})" if a != "b" else "np.diff(b.ravel())")
    case("np.diff(f, {prepend = 0, append = 1})", "np.diff(f, prepend=0, append=1)")
    case("np.diff(f, 1, 1, {prepend = f['1:1, :']})", "np.diff(f, axis=0, prepend=f[:1])")
    case("np.ediff1d(v, {to_begin = -1, to_end = {8, 9}})", "np.ediff1d(v, to_begin=-1, to_end=[8, 9])")
    for e in (1, 2):
        case(f"np.gradient(v, {{edge_order = {e}}})", f"np.gradient(v, edge_order={e})")
        case(f"np.gradient(h, np.array{{0, 1, 3, 4, 9}}, {{edge_order = {e}}})", f"np.gradient(h, np.array([0, 1, 3, 4, 9.]), edge_order={e})")
        for k in (0, 1, 2):
            case(f"select({k + 1}, np.gradient(t, {{edge_order = {e}}}))", f"np.gradient(t, edge_order={e})[{k}]")
        case(f"select(2, np.gradient(f, 2, 0.5, {{edge_order = {e}}}))", f"np.gradient(f, 2, 0.5, edge_order={e})[1]")
    case("np.gradient(i, {axis = 2})", "np.gradient(i, axis=1)")
    case("np.gradient(f4, {axis = -1})", "np.gradient(f4, axis=-1)")
    for y in ("f", "t", "i", "z"):
        case(f"np.trapz({y})")
        case(f"np.trapz({y}, {{dx = 0.5, axis = 1}})", f"np.trapz({y}, dx=0.5, axis=0)")
    case("np.trapz(f, h)", "np.trapz(f, h)")
    case("np.trapz(f, g)", "np.trapz(f, g)")
    for bad in ("np.diff(s)", "np.diff(f, -1)", "np.gradient(one)", "np.gradient(f, 1, 2, 3)", "np.gradient(h, v)", "np.trapz(s)"):
        case(bad, "error")
    # ---- positions
    for a in names:
        case(f"{a}[{{{{}}, p, {{}}}}]", f"{a}[:, p - 1]")
        case(f"np.take({a}, p, 2)", f"np.take({a}, p - 1, axis=1)")
        case(f"np.take({a}, np.argsort({a}, 3), 3)", f"np.take({a}, np.argsort({a}, axis=2, kind='stable'), axis=2)")
        case(f"np.take_along_axis({a}, np.argsort({a}, 2), 2)", f"np.sort({a}, axis=1)")
        change(f"local a = {a}:copy() a[{{{{}}, p, {{}}}}] = {a}[{{{{}}, -p, {{}}}}]",
               f"a = {a}.copy()\nfor k in range(5): a[:, p[k] - 1] = {a}[:, -p[k]]")
        if a != "d_bool":
            change(f"local a = {a}:copy() np.add.at(a, {{1, p, 2}}, {a}['2, 1:5, 1'])",
                   f"a = {a}.copy(); np.add.at(a, (0, p - 1, 1), {a}[1, 0:5, 0])")
    case("np.take_along_axis(f, np.argmax(f, {axis = 2, keepdims = true}), 2)",
         "np.take_along_axis(f, np.argmax(f, axis=1, keepdims=True), 1)")
    case("np.take_along_axis(f, np.argsort(f:ravel()))", "np.sort(f.ravel())")
    case("np.take_along_axis(t, np.array({{{1, 2}}}, {dtype = 'int64'}), 3)", "np.take_along_axis(t, np.array([[[0, 1]]]), 2)")
    change("local a = f:copy() np.put_along_axis(a, np.argmax(f, {axis = 2, keepdims = true}), 99, 2)",
           "a = f.copy(); np.put_along_axis(a, np.argmax(f, axis=1, keepdims=True), 99, 1)")
    change("local a = f:copy() np.put_along_axis(a, np.argsort(f, 1), np.sort(g, 1), 1)",
           "a = f.copy(); np.put_along_axis(a, np.argsort(f, axis=0), np.sort(g, axis=0), 0)")
    # ... of which a result may be written, unlike that of a[positions]
    change("local a = np.take_along_axis(long_, np.argsort(long_)) a:iadd(1)", "a = np.sort(long_) + 1")
    change("local a = np.random.permuted(long_i, 1) a:isub(7) a:sort()", "a = np.sort(long_i) - 7")
    change("local _, a = np.unique(i, {return_index = true}) a:iadd(1)", "a = np.unique(i, return_index=True)[1] + 2")
    case("np.compress(h:gt(0), f, 2)", "np.compress(h > 0, f, axis=1)")
    case("f:compress(np.array{true, false, true}, 1)", "f.compress([True, False, True], axis=0)")
    case("np.extract(f:gt(0), f)", "np.extract(f > 0, f)")
    case("np.choose(j % 3 + 1, {f, g, -1})", "np.choose(j % 3, [f, g, -1])")
    case("np.choose(j, {f, g}, {mode = 'clip'})", "np.choose(j - 1, [f, g], mode='clip')")
    case("np.choose(j, {f, g}, {mode = 'wrap'})", "np.choose(j - 1, [f, g], mode='wrap')")
    case("np.argwhere(i)", "np.argwhere(i) + 1")
    case("np.argwhere(si)", "np.argwhere(si)")
    case("np.flatnonzero(i)", "np.flatnonzero(i) + 1")
    change("local a = f:copy() np.put(a, {1, 5, -1}, {10, 20})", "a = f.copy(); np.put(a, [0, 4, -1], [10, 20])")
    for view, py in (("a.T", "a.T"), ("a['::2, 4:1:-1']", "a[::2, 3::-1]"), ("a[{{}, '*', {}}].T", "a[:, None].T")):
        change(f"local a = f:copy() np.put({view}, {{2, -3, 2}}, {{10, 20, 30}})",
               f"a = f.copy(); np.put({py}, [1, -3, 1], [10, 20, 30])" if view == "a.T" else
               f"a = f.copy(); y = {py}; k = np.arange(y.size).reshape(y.shape); y[k == 1] = 30; y[k == y.size - 3] = 20")
    change("local a = f:copy() np.put(a.T, {21}, 1)", "error")
    change("local a = f:copy() np.put(a.T, {0}, 1)", "error")
    change("local a = f:copy() np.put(f[p], {1}, 1)", "error")
    change("local a = f:copy() np.place(a, b:ravel(), {1, 2, 3})", "a = f.copy(); np.place(a, b, [1, 2, 3])")
    change("local a = f:copy() np.place(a.T, b.T, {1, 2, 3})", "a = f.copy(); np.place(a.T, b.T, [1, 2, 3])")
    change("local a = f:copy() np.place(a, np.zeros_like(b), {})", "a = f.copy()")
    change("local a = f:copy() np.place(a, b[1], 3)", "error")
    # what is picked is a copy, which nothing changes in silence
    for put in ("fill(1)", "sort()", "partition(1)", "put({1}, 1)", "imaximum(1)", "at(1):iadd(1)", "host('rw', print)", "host('w', print)"):
        change(f"local a = h:copy() a[p]:{put}", "error")
        change(f"local a = h:copy() a[h:gt(-9)]:{put}", "error")
    for put in ("np.copyto(a[p], 1)", "np.place(a[p], a[p]:gt(-9), 1)", "np.putmask(a[p], a[p]:gt(-9), 1)", "np.sum(a, nil, {out = a[p]})",
                "np.add.at(a[p], 1, 2)", "np.exp(a[p], {out = a[p]})", "np.divmod(a[p], 2, {out = {a[p], a[p]}})", "np.add.reduce(a, 1, {out = a[p]})",
                "np.subtract.reduce(a, 1, {out = a[p]})", "np.put_along_axis(a[p], p, 1, 1)", "np.put(a[p], 1, 1)", "np.random.shuffle(a[p])"):
        change(f"local a = h:copy() {put}", "error")
    change("local a = h:copy() a[p]:host('r', function() end)", "a = h.copy()")
    change("local a = h[p]:copy() a:fill(1)", "a = np.ones_like(h[p - 1])")
    # parts of complex numbers are copies, and can be replaced
    change("local a = z:copy() a.real = 3", "a = z.copy(); a.real = 3")
    change("local a = z:copy() a.imag = a.real * 2", "a = z.copy(); a.imag = a.real * 2")
    change("local a = z:astype('complex64') a.imag = 0", "a = z.astype('complex64'); a.imag = 0")
    change("local a = z:copy() a['::2'].real = 3", "a = z.copy(); a[::2].real = 3")
    change("local a = f:copy() a.real = 3", "a = f.copy(); a.real = 3")
    change("local a = f:copy() a.real:iadd(1)", "a = f.copy(); a.real += 1")
    for put in ("a.real:iadd(1)", "a.imag:fill(1)", "a.real['...'] = 1", "a.imag = a", "a.real = 'x'", "a[p].real = 1", "a.T = a"):
        change(f"local a = z:copy() {put}", "error")
    change("local a = f:copy() a.imag = 0", "error")
    change("local a = f:copy() np.place(a, b, {1, 2, 3})", "a = f.copy(); np.place(a, b, [1, 2, 3])")
    change("local a = f:copy() np.putmask(a, b, {1, 2, 3})", "a = f.copy(); np.putmask(a, b, [1, 2, 3])")
    change("local a = h:copy() a[p] = a", "a = h.copy()\nfor k in range(5): a[p[k] - 1] = h[k]")
    change("local a = p:copy() a[a] = 0", "a = p.copy(); a[p - 1] = 0")
    for u in ("subtract", "multiply", "maximum", "minimum", "divide", "fmax"):
        change(f"local a = f:copy() np.{u}.at(a, {{q, q}}, f['1:2, 1:2'])", f"a = f.copy(); np.{u}.at(a, (q - 1, q - 1), f[:2, :2])")
    change("local a = b:copy() np.logical_xor.at(a, {{}, p}, c)", "a = b.copy(); np.logical_xor.at(a, (slice(None), p - 1), c)")
    change("local a = i:copy() np.bitwise_or.at(a, q, 8)", "a = i.copy(); np.bitwise_or.at(a, q - 1, 8)")
    change("local a = np.zeros(4) np.add.at(a, np.ones(1000, {dtype = 'int64'}), 0.5)", "a = np.zeros(4); a[0] = 500")
    # many sums at few places, in the order of the positions, which count from either end
    inputs["sum_at"] = rng.integers(-9, 9, size=3000)
    inputs["sum_of"] = rng.normal(size=3000) * 10.0 ** rng.integers(-9, 9, size=3000)
    for d in ("float64", "float32", "float16", "int64", "int32", "uint8", "complex128"):
        inputs["sum_" + d] = (inputs["sum_of"] if d[0] in "fc" else rng.integers(0, 100, size=3000)).astype(d)
        for n, skip in ((9, ""), (90, ""), (2900, ""), (9, "::3"), (9, "::-2")):
            start = f"np.zeros({n}, {{dtype = '{d}'}})"
            key, value = ("p", "v") if not skip else (f"p['{skip}']", f"v['{skip}']")
            pykey, pyvalue = ("p", "v") if not skip else (f"p[{skip}]", f"v[{skip}]")
            change(f"local a, p, v = {start}, np.where(sum_at:lt(0), sum_at, sum_at + 1), sum_{d} np.add.at(a, {key}, {value})",
                   f"p, v, a = sum_at, sum_{d}, np.zeros({n}, '{d}'); np.add.at(a, {pykey}, {pyvalue})")
            change(f"local a, p = {start}, np.where(sum_at:lt(0), sum_at, sum_at + 1) np.add.at(a, {key}, 3)",
                   f"p, a = sum_at, np.zeros({n}, '{d}'); np.add.at(a, {pykey}, 3)")
            change(f"local a, p, v = np.zeros({2 * n}, {{dtype = '{d}'}}), np.where(sum_at:lt(0), sum_at, sum_at + 1), sum_{d} "
                   f"np.add.at(a['::2'], {key}, {value})",
                   f"p, v, a = sum_at, sum_{d}, np.zeros({2 * n}, '{d}'); np.add.at(a[::2], {pykey}, {pyvalue})")
    for position in (0, 10, -10):
        change(f"local a, p = np.zeros(9), np.ones(3000, {{dtype = 'int64'}}) p[2900] = {position} np.add.at(a, p, 1)", "error")
    for bad in ("np.take(h, {0})", "np.take(h, {6})", "np.take(h, {-6})", "np.take(h, {5}, {base = 0})", "f[{p, np.array({9}, {dtype = 'int32'})}]",
                "np.take_along_axis(f, p, 1)", "np.take_along_axis(f, f, 1)", "np.compress(f, f)", "np.choose(j, {})",
                "np.choose(j, {f, g})", "np.place(f, b, {})", "np.add.at(b:copy(), p, f)"):
        case(bad, "error")
    change("local a = h:copy() a[np.array({1, 9}, {dtype = 'int64'})] = 1", "error")
    change("local a = f:copy() np.put(a, {99}, 1)", "error")
    change("local a = h:copy() np.hypot.at(a, p, 1)", "error")
    # ... numbers that integers cannot be are refused wherever they are written
    for put in ("a[p] = 0.5", "a[{q, q}] = 0.5", "a[b] = 0.5", "a[b] = 1/0", "np.put(a, {1}, 0.5)", "np.place(a, b, 0.5)",
                "np.putmask(a, b, 0.5)", "np.copyto(a, 0.5, {where = b})", "np.put_along_axis(a, q['1:1, 1:1'], 0.5, 1)",
                "np.add.at(a, p, 0.5)", "np.fill_diagonal(a, 0.5)"):
        change(f"local a = i:copy() {put}", "error")
    change("local a = u1:copy() a[p] = 256", "error")
    change("local a = u1:copy() np.fill_diagonal(a, -1)", "error")
    change("local a = i:copy() a[p] = np.array{0.5, 1.5, 2.5, 3.5, 4.5}:reshape(5, 1)",
           "a = i.copy()\nfor k in range(5): a[p[k] - 1] = k + 0.5")
    # ---- 0-based positions
    case("np.take(h, p - 1, {base = 0})", "h[p - 1]")
    case("np.take(h, {-1, 0}, {base = 0})", "h[[-1, 0]]")
    case("np.take(h, 2)", "h[1]")
