"""Arguments that have a place in Lua and are given by their NumPy names, in the table of options at the end."""
import numpy as np


def add(case, change, inputs):
    z4 = inputs["t"][:2, :, :4] + 1j * inputs["t"][:2, :, 1:]
    inputs["z4"] = z4 + z4.conj().swapaxes(1, 2)
    inputs["y"] = np.where(inputs["f"] > 2, np.nan, inputs["f"])
    inputs["nz"] = np.array([complex(1, np.nan), complex(np.inf, 2), complex(np.nan, -np.inf)])
    for name, numpy in (
        ("np.eye(3, {M = 4, k = 1})", "np.eye(3, M=4, k=1)"), ("np.eye(3, 4, {k = -1, dtype = 'int64'})", "np.eye(3, 4, -1, int)"),
        ("np.diag(h, {k = 1})", "np.diag(h, k=1)"), ("np.diagflat(h, {k = -1})", "np.diagflat(h, k=-1)"),
        ("np.diagonal(t, {offset = 1, axis1 = 2, axis2 = 3})", "np.diagonal(t, offset=1, axis1=1, axis2=2)"),
        ("f:diagonal({offset = -1})", "f.diagonal(offset=-1)"), ("np.trace(t, {axis1 = 2, axis2 = 3})", "np.trace(t, axis1=1, axis2=2)"),
        ("t:trace({offset = 1})", "t.trace(offset=1)"), ("np.tri(3, {k = 1})", "np.tri(3, k=1)"), ("np.tri(3, {M = 5})", "np.tri(3, M=5)"),
        ("np.linspace(0, 1, {num = 5})", "np.linspace(0, 1, num=5)"),
        ("np.linspace(0, 1, {num = 5, endpoint = false})", "np.linspace(0, 1, num=5, endpoint=False)"),
        ("np.logspace(0, 1, {num = 5, base = 2})", "np.logspace(0, 1, num=5, base=2)"),
        ("np.geomspace(1, 8, {num = 4})", "np.geomspace(1, 8, num=4)"),
        ("np.zeros({shape = {2, 3}, dtype = 'f4'})", "np.zeros(shape=(2, 3), dtype='f4')"), ("np.ones({shape = 3})", "np.ones(shape=3)"),
        ("np.full({2, 2}, {fill_value = 3.5})", "np.full((2, 2), fill_value=3.5)"),
        ("np.reshape(t, {5, 12}, {order = 'F'})", "np.reshape(t, (5, 12), order='F')"),
        ("t:reshape(5, -1, {order = 'F'})", "t.reshape(5, -1, order='F')"), ("t:reshape({5, 12}, {order = 'C'})", "t.reshape(5, 12)"),
        ("np.reshape(f, -1, 2, 'F')", "np.reshape(f, (-1, 2), 'F')"), ("np.ravel(t, {order = 'F'})", "np.ravel(t, order='F')"),
        ("t:ravel('F')", "t.ravel('F')"), ("f:flatten({order = 'F'})", "f.flatten(order='F')"), ("f.T:flatten('C')", "f.T.flatten('C')"),
        ("np.swapaxes(t, {axis1 = 1, axis2 = 3})", "np.swapaxes(t, axis1=0, axis2=2)"),
        ("np.broadcast_to(h, {shape = {2, 5}})", "np.broadcast_to(h, shape=(2, 5))"), ("np.tile(h, {reps = {2, 1}})", "np.tile(h, reps=(2, 1))"),
        ("np.roll(f, {shift = 2})", "np.roll(f, shift=2)"), ("np.roll(f, {shift = 2, axis = 2})", "np.roll(f, shift=2, axis=1)"),
        ("np.roll(f, 1, {axis = 1})", "np.roll(f, 1, axis=0)"), ("np.rot90(f, {k = 2})", "np.rot90(f, k=2)"),
        ("np.rot90(t, {axes = {2, 3}})", "np.rot90(t, axes=(1, 2))"), ("np.rollaxis(t, 3, {start = 2})", "np.rollaxis(t, 2, start=1)"),
        ("np.pad(h, 2, {mode = 'edge'})", "np.pad(h, 2, mode='edge')"),
        ("np.pad(h, {pad_width = 2, mode = 'constant', constant_values = 3})", "np.pad(h, pad_width=2, mode='constant', constant_values=3)"),
        ("np.resize(h, {new_shape = {3, 3}})", "np.resize(h, new_shape=(3, 3))"),
        ("np.trim_zeros(np.array{0, 1, 0}, {trim = 'f'})", "np.trim_zeros(np.array([0., 1, 0]), trim='f')"),
        ("np.take_along_axis(f, np.argsort(f, 1), {axis = 1})", "np.take_along_axis(f, np.argsort(f, 0), axis=0)"),
        ("np.clip(f, {a_min = 0, a_max = 1})", "np.clip(f, a_min=0, a_max=1)"), ("f:clip({min = 0})", "f.clip(min=0)"),
        ("f:clip(0, {max = 1})", "f.clip(0, max=1)"), ("np.select({b}, {f}, {default = 7})", "np.select([b], [f], default=7)"),
        ("np.tril_indices(3, {k = 1})[2]", "np.tril_indices(3, k=1)[1] + 1"),
        ("np.triu_indices(3, {m = 4})[2]", "np.triu_indices(3, m=4)[1] + 1"),
        ("np.triu_indices_from(f, {k = 1})[1]", "np.triu_indices_from(f, k=1)[0] + 1"),
        ("np.diag_indices(2, {ndim = 3})[3]", "np.diag_indices(2, ndim=3)[2] + 1"),
        ("np.fft.fftfreq(6, {d = 0.5})", "np.fft.fftfreq(6, d=0.5)"), ("np.fft.rfftfreq(6, {d = 0.5})", "np.fft.rfftfreq(6, d=0.5)"),
        ("np.fft.fftshift(f, {axes = 1})", "np.fft.fftshift(f, axes=0)"),
        ("np.convolve(v, h, {mode = 'same'})", "np.convolve(v, h, mode='same')"), ("np.correlate(v, h, {mode = 'full'})", "np.correlate(v, h, mode='full')"),
        ("np.trapz(v, {x = v * v})", "np.trapz(v, x=v * v)"), ("np.linalg.qr(n, {mode = 'r'})", "np.linalg.qr(n, mode='r')"),
        ("np.linalg.eigvalsh(n, {UPLO = 'U'})", "np.linalg.eigvalsh(n, UPLO='U')"), ("np.linalg.cond(n, {p = 1})", "np.linalg.cond(n, p=1)"),
        ("np.linalg.matrix_power(n, {n = 3})", "np.linalg.matrix_power(n, n=3)"),
        ("np.nan_to_num(x, {nan = 7})", "np.nan_to_num(x, nan=7)"), ("np.nan_to_num(x)", "np.nan_to_num(x)"),
        ("np.nan_to_num(x, {posinf = 1, neginf = -1})", "np.nan_to_num(x, posinf=1, neginf=-1)"),
        ("np.nan_to_num(x:astype('f4'), {nan = 0.5})", "np.nan_to_num(x.astype('f4'), nan=0.5)"),
        ("np.nan_to_num(nz, {nan = 2, posinf = 3})", "np.nan_to_num(nz, nan=2, posinf=3)"),
        ("np.nan_to_num(i, {nan = 7})", "np.nan_to_num(i, nan=7)"), ("np.nan_to_num(i4, {nan = 0.5})", "np.nan_to_num(i4, nan=0.5)"),
        ("np.nan_to_num(x, {posinf = 1/0, neginf = -1/0})", "np.nan_to_num(x, posinf=np.inf, neginf=-np.inf)"),
        ("np.nan_to_num(x, {nan = 1/0})", "np.nan_to_num(x, nan=np.inf)"),
        ("np.nan_to_num(x, {nan = 1/0, posinf = -1/0, neginf = 3})", "np.nan_to_num(x, nan=np.inf, posinf=-np.inf, neginf=3)"),
        ("np.nan_to_num(x, {nan = 0/0, posinf = 1})", "np.nan_to_num(x, nan=np.nan, posinf=1)"),
        ("np.nan_to_num(x:astype('f2'), {neginf = 0/0})", "np.nan_to_num(x.astype('f2'), neginf=np.nan)"),
        ("np.nan_to_num(nz:astype('c8'), {nan = 1/0})", "np.nan_to_num(nz.astype('c8'), nan=np.inf)"),
        ("np.nan_to_num(x, {nan = 2, out = np.ones(10)})", "np.nan_to_num(x, nan=2)"),
        ("np.arange(7, {step = 2})", "np.arange(7, step=2)"), ("np.arange({start = 1, stop = 7, step = 2})", "np.arange(start=1, stop=7, step=2)"),
        ("np.arange(1, {stop = 5})", "np.arange(1, stop=5)"), ("np.arange({stop = 4, dtype = 'f4'})", "np.arange(stop=4, dtype='f4')"),
        ("np.linspace({start = 1, stop = 2, num = 4})", "np.linspace(start=1, stop=2, num=4)"), ("select(2, np.linspace(0, 1, {num = 5, retstep = true}))", "np.linspace(0, 1, 5, retstep=True)[1]"),
        ("np.linspace(h, 7, 4)", "np.linspace(h, 7, 4)"), ("np.linspace(f4, f4 * 2, {num = 3, axis = -1})", "np.linspace(f4, f4 * 2, 3, axis=-1)"),
        ("np.linspace(i, f, {num = 3, endpoint = false, dtype = 'int64'})", "np.linspace(i, f, 3, endpoint=False, dtype=int)"),
        ("np.linspace(0, z, 4)", "np.linspace(0, z, 4)"), ("np.linspace(1i, 2, 3)", "np.linspace(1j, 2, 3)"), ("np.linspace(h, 7, 1)", "np.linspace(h, 7, 1)"),
        ("select(2, np.linspace(h, 7, {num = 4, retstep = true}))", "np.linspace(h, 7, 4, retstep=True)[1]"),
        ("np.full({shape = {2, 3}, fill_value = 3})", "np.full(shape=(2, 3), fill_value=3.)"), ("np.eye({N = 3, k = 1})", "np.eye(N=3, k=1)"),
        ("np.full_like(f, {fill_value = 2, dtype = 'f4'})", "np.full_like(f, fill_value=2, dtype='f4')"),
        ("np.zeros_like(f, {shape = {2, 2}})", "np.zeros_like(f, shape=(2, 2))"), ("np.full_like(i, 7, {shape = 3})", "np.full_like(i, 7, shape=3)"),
        ("np.array(h, {ndmin = 3})", "np.array(h, ndmin=3)"), ("np.array({1, 2}, {ndmin = 2, dtype = 'f4', copy = false})", "np.array([1, 2], ndmin=2, dtype='f4', copy=False)"),
        ("np.array(f, {order = 'C', subok = true})", "np.array(f)"), ("np.asarray(f, {order = 'C'})", "f"), ("np.copy(f, {order = 'K'})", "f"), ("f:copy('C')", "f"),
        ("f:astype('f4', {copy = false})", "f.astype('f4', copy=False)"), ("f:astype({dtype = 'f4', casting = 'same_kind'})", "f.astype('f4')"),
        ("f:astype('int64', {casting = 'unsafe'})", "f.astype(int)"), ("np.add(f, g, {casting = 'same_kind', order = 'K', subok = false})", "f + g"),
        ("select(2, np.indices({2, 3}, {sparse = true}))", "np.indices((2, 3), sparse=True)[1]"), ("np.indices({dimensions = {2, 3}})", "np.indices(dimensions=(2, 3))"),
        ("np.reshape(t, {newshape = {12, 5}})", "np.reshape(t, newshape=(12, 5))"), ("t:reshape({shape = {12, -1}, order = 'F'})", "t.reshape((12, -1), order='F')"),
        ("np.delete(h, {obj = 2})", "np.delete(h, obj=1)"), ("np.delete(f, {obj = {1, 3}, axis = 2})", "np.delete(f, obj=[0, 2], axis=1)"),
        ("np.insert(f, {obj = 2, values = 9, axis = 1})", "np.insert(f, obj=1, values=9, axis=0)"), ("np.append(f, {values = g, axis = 1})", "np.append(f, values=g, axis=0)"),
        ("np.rep(f, {repeats = 2, axis = 1})", "np.repeat(f, repeats=2, axis=0)"), ("np.split(f, {indices_or_sections = 2})[2]", "np.split(f, indices_or_sections=2)[1]"),
        ("np.array_split(f, {indices_or_sections = 3, axis = 2})[2]", "np.array_split(f, indices_or_sections=3, axis=1)[1]"),
        ("np.moveaxis(t, {source = 1, destination = 3})", "np.moveaxis(t, source=0, destination=2)"), ("np.rollaxis(t, {axis = 3})", "np.rollaxis(t, axis=2)"),
        ("np.quantile(f, {q = 0.4, axis = 1})", "np.quantile(f, q=0.4, axis=0)"), ("np.percentile(f, 40, {axis = 1, overwrite_input = true})", "np.percentile(f, 40, axis=0)"),
        ("np.median(f:copy(), {axis = 1, overwrite_input = true})", "np.median(f, axis=0)"), ("np.quantile(f, 0.4, {interpolation = 'lower'})", "np.quantile(f, 0.4, method='lower')"),
        ("np.cov(h, {y = h * h})", "np.cov(h, y=h * h)"), ("np.corrcoef(f, {rowvar = false, ddof = 0})", "np.corrcoef(f, rowvar=False)"), ("np.corrcoef(h, {y = h * h})", "np.corrcoef(h, y=h * h)"),
        ("np.concatenate({f, i}, {axis = 2, dtype = 'f4'})", "np.concatenate([f, i], axis=1, dtype='f4')"), ("np.concatenate({f, i}, {dtype = 'i4', casting = 'unsafe'})", "np.concatenate([f, i], dtype='i4', casting='unsafe')"),
        ("np.stack({i, i}, {axis = 3, dtype = 'f4'})", "np.stack([i, i], axis=2, dtype='f4')"), ("np.vstack({f, g}, {dtype = 'f4'})", "np.vstack([f, g], dtype='f4')"),
        ("np.hstack({f, g}, {dtype = 'i4', casting = 'unsafe'})", "np.hstack([f, g], dtype='i4', casting='unsafe')"),
        ("np.trace(i1, {dtype = 'float32'})", "np.trace(i1, dtype='float32')"), ("np.einsum('ij,ij->i', f4, f4, {dtype = 'float64'})", "np.einsum('ij,ij->i', f4, f4, dtype='float64')"),
        ("np.matmul(i1, i1.T, {dtype = 'float64'})", "np.matmul(i1, i1.T, dtype='float64')"), ("np.unique(x, {equal_nan = false})", "np.unique(x, equal_nan=False)"),
        ("select(2, np.unique(np.array{2, 0/0, 2, 0/0}, {equal_nan = false, return_counts = true}))", "np.unique([2, np.nan, 2, np.nan], equal_nan=False, return_counts=True)[1]"),
        ("np.setdiff1d(np.array{3, 1, 2}, np.array{1}, {assume_unique = true})", "np.setdiff1d([3., 1, 2], [1.], assume_unique=True)"),
        ("np.setxor1d(h, v, {assume_unique = true})", "np.setxor1d(h, v, assume_unique=True)"), ("np.isin(i, j, {kind = 'sort'})", "np.isin(i, j, kind='sort')"),
        ("np.append(i, 7)", "np.append(i, 7)"), ("np.append(i1, {7, 8})", "np.append(i1, [7, 8])"), ("np.append(i, 7.5)", "np.append(i, 7.5)"), ("np.append(b, 1)", "np.append(b, 1)"),
        ("np.append(f4, 7)", "np.append(f4, 7)"), ("np.append(u8, 7)", "np.append(u8, 7)"), ("np.concatenate({{0}, p})", "np.concatenate(([0], p))"), ("np.hstack({0, p})", "np.hstack((0, p))"),
        ("np.diff(p, {prepend = 0})", "np.diff(p, prepend=0)"), ("np.diff(i1, {append = 0.5})", "np.diff(i1, append=0.5)"), ("np.block{{p, 1}, {2, p}}", "np.block([[p, 1], [2, p]])"),
        ("np.searchsorted(np.sort(h), {v = f, side = 'right'})", "np.searchsorted(np.sort(h), v=f, side='right') + 1"), ("np.digitize(f, {bins = np.array{-1, 0, 1}})", "np.digitize(f, bins=[-1, 0, 1]) + 1"),
        ("np.interp(f, {xp = np.sort(h), fp = h, left = 0})", "np.interp(f, xp=np.sort(h), fp=h, left=0)"), ("np.array(np.size(f, {axis = 2}))", "np.array(np.size(f, axis=1)) * 1.0"),
        ("np.partition(v, {kth = 3, kind = 'introselect'})[3]", "np.partition(v, kth=2)[2]"), ("np.asfarray(i, {dtype = 'f4'})", "np.asfarray(i, dtype='f4')"),
        ("np.asarray_chkfinite(i, {dtype = 'f4'})", "np.asarray_chkfinite(i, dtype='f4')"), ("np.ascontiguousarray(f.T, {dtype = 'f4'})", "np.ascontiguousarray(f.T, dtype='f4')"),
        ("np.histogram_bin_edges(f, {bins = 4, range = {-1, 1}})", "np.histogram_bin_edges(f, bins=4, range=(-1, 1))"), ("np.angle(z, {deg = true})", "np.angle(z, deg=True)"), ("np.angle(w, true)", "np.angle(w, True)"),
        ("np.linalg.svd((n + n.T), {hermitian = true, compute_uv = false})", "np.linalg.svd(n + n.T, hermitian=True, compute_uv=False)"),
        ("select(2, np.linalg.svd(z4, {hermitian = true}))", "np.linalg.svd(z4, hermitian=True)[1]"), ("np.linalg.pinv(z4, {hermitian = true})", "np.linalg.pinv(z4, hermitian=True)"),
        ("(function() local u, s, v = np.linalg.svd(z4, {hermitian = true}) return np.matmul(u * np.expand_dims(s, -2), v) end)()", "z4"),
        ("np.linalg.pinv(n + n.T, 1e-10, true)", "np.linalg.pinv(n + n.T, 1e-10, True)"), ("np.linalg.matrix_rank(n + n.T, {hermitian = true})", "np.linalg.matrix_rank(n + n.T, hermitian=True)"),
        ("np.linalg.matrix_rank(z4, {tol = np.array{0.1, 1.5}})", "np.linalg.matrix_rank(z4, tol=np.array([0.1, 1.5]))"),
        ("np.less(f, g, {dtype = 'bool'})", "np.less(f, g, dtype=bool)"), ("np.add(i, j, {dtype = 'f4'})", "np.add(i, j, dtype='f4', casting='same_kind')"),
        ("np.add(h, 1, {out = np.zeros(4, 5)})", "np.add(h, 1, out=np.zeros((4, 5)))"), ("np.add(f, 1, {out = {np.zeros(4, 5)}})", "np.add(f, 1, out=(np.zeros((4, 5)),))"),
        ("np.multiply(f, g, {out = np.zeros({4, 5}, 'int64'), casting = 'unsafe'})", "np.multiply(f, g, out=np.zeros((4, 5), int), casting='unsafe')"),
        ("np.multiply(f, g, {out = np.zeros({4, 5}, 'int64'), casting = 'unsafe', where = b})", "np.multiply(f, g, out=np.zeros((4, 5), int), casting='unsafe', where=b)"),
        ("select(2, np.divmod(f, g, {where = b, out = {np.ones(4, 5), np.ones(4, 5)}}))", "np.divmod(f, g, out=(np.ones((4, 5)), np.ones((4, 5))), where=b)[1]"),
        ("(np.modf(f, {where = b, out = {np.ones(4, 5), np.ones(4, 5)}}))", "np.modf(f, out=(np.ones((4, 5)), np.ones((4, 5))), where=b)[0]"),
        ("(np.modf(f, {where = b}))", "np.where(b, np.modf(f)[0], 0)"), ("select(2, np.frexp(f, {where = b}))", "np.where(b, np.frexp(f)[1], np.int32(0))"),
        ("(np.frexp(f, {where = b, out = {np.ones(4, 5), np.ones({4, 5}, 'int32')}}))", "np.where(b, np.frexp(f)[0], 1)"),
        ("np.array(np.unravel_index(7, {shape = {3, 4}}))", "np.array(np.unravel_index(6, (3, 4))) + 1.0"),
        ("np.choose(q['1, :'], {h['1:2'], 2}, {mode = 'clip'})", "np.choose(q[0] - 1, [h[:2], 2], mode='clip')"),
    ):
        case(name, numpy)
    for q in (0, 0.3, 0.5, 0.77, 1):
        for method in ("linear lower higher midpoint nearest hazen weibull median_unbiased normal_unbiased interpolated_inverted_cdf inverted_cdf").split():
            if q in (0, 1) and method in ("weibull", "interpolated_inverted_cdf"):  # outside of the line to NumPy 1.24
                continue
            case(f"np.nanquantile(y, {q}, {{axis = 2, method = '{method}'}})", f"np.nanquantile(y, {q}, axis=1, method='{method}')")
    for k, extra in ((1, "full = true"), (2, "full = true"), (4, "full = true"), (2, "cov = true"), (2, "cov = 'unscaled'"), (1, "w = h * h"), (2, "w = h * h, cov = true")):
        python = "np.polyfit(h, %s, 2, " + extra.replace("true", "True").replace(" = ", "=") + ")" + ("[%d]" % (k - 1) if "full" in extra or "cov" in extra else "")
        case(f"select({k}, np.polyfit(h, v['1:5'], 2, {{{extra}}}))" if k > 1 else f"(np.polyfit(h, v['1:5'], 2, {{{extra}}}))", python % "v[:5]")
        if "full" not in extra or k in (1, 4):
            case(f"select({k}, np.polyfit(h, m, 2, {{{extra}}}))" if k > 1 else f"(np.polyfit(h, m, 2, {{{extra}}}))", python % "m")
    for bins in "auto sturges rice scott sqrt fd doane".split():
        for a in ("f", "i", "v", "t"):
            case(f"np.histogram_bin_edges({a}, '{bins}')")
            case(f"(np.histogram({a}, {{bins = '{bins}', range = {{-2, 3}}}}))", f"np.histogram({a}, bins='{bins}', range=(-2, 3))[0]")
    for one in "bool int8 uint8 int32 int64 uint64 float16 float32 float64 complex64 complex128".split():
        for two in "bool int8 uint8 int32 int64 uint64 float16 float32 float64 complex64 complex128".split():
            case(f"np.array(np.can_cast('{one}', '{two}'))", f"np.array(np.can_cast('{one}', '{two}'))")
            if one != "bool" and "uint" not in one + two:
                case(f"np.array(np.can_cast('{one}', '{two}', {{casting = 'same_kind'}}))", f"np.array(np.can_cast('{one}', '{two}', casting='same_kind'))")
    for number in (5, 300, -1, 0.5, 2**40):
        for two in "int8 uint8 int64 float32 float64".split():
            case(f"np.array(np.can_cast({number}, '{two}'))", f"np.array(np.can_cast({number}, '{two}'))")
    for mode in ("'clip'", "'wrap'", "{'clip', 'wrap'}"):
        python = mode.replace("{", "(").replace("}", ")")
        case(f"np.ravel_multi_index({{i, j}}, {{4, 5}}, {{mode = {mode}}})", f"np.ravel_multi_index((i - 1, j - 1), (4, 5), mode={python}) + 1")
    for rows, columns in ((7, 3), (8, 3), (3, 7), (9, 2), (4, 4), (5, 4), (6, 1)):
        change(f"local a = np.zeros({rows}, {columns}) np.fill_diagonal(a, 5, {{wrap = true}})", f"a = np.zeros(({rows}, {columns})); np.fill_diagonal(a, 5, wrap=True)")
        change(f"local a = np.zeros({rows}, {columns}) np.fill_diagonal(a, {{1, 2, 3}}, {{wrap = true}})", f"a = np.zeros(({rows}, {columns})); np.fill_diagonal(a, [1, 2, 3], wrap=True)")
    change("local a = np.zeros({4, 5}, 'int64') np.copyto(a, f, {casting = 'unsafe'})", "a = np.zeros((4, 5), int); np.copyto(a, f, casting='unsafe')")
    for name in ("rand", "random", "randn", "standard_normal"):
        change(f"local a = np.zeros(3, 4) np.random.{name}({{out = a['::2, :']}}) a = np.not_equal(a, 0)", "a = np.zeros((3, 4), bool); a[::2] = True")
    change("np.random.seed(3) local a = np.random.rand(400000, {dtype = 'float16'}) a = a:max() < 1 and a:min() >= 0 a = np.array(a)", "a = np.array(True)")
    change("local a = np.sort(np.random.permutation(f, {axis = 2}), 2)", "a = np.sort(f, 1)")
    change("local a = f:copy() np.random.shuffle(a, {axis = 2}) a = np.sort(a, 2)", "a = np.sort(f, 1)")
    change("local a = np.zeros_like(f) np.random.permuted(f, {axis = 2, out = a}) a = np.sort(a, 2)", "a = np.sort(f, 1)")
    change("local a = np.sort(np.random.choice(f, 5, {axis = 2, replace = false}), 2)", "a = np.sort(f, 1)")
    for name in "nansum nanprod nanmean nanvar nanstd".split():
        case(f"np.{name}(y, {{axis = 1, where = b}})", f"np.{name}(y, axis=0, where=b)")
        case(f"np.{name}(y, {{where = b, keepdims = true}})", f"np.{name}(y, where=b, keepdims=True)")
    for name in "nanmax nanmin".split():
        case(f"np.{name}(y, {{axis = 1, where = b, initial = 0.5}})", f"np.{name}(y, axis=0, where=b, initial=0.5)")
        case(f"np.{name}(y, {{axis = 2, initial = -1, keepdims = true}})", f"np.{name}(y, axis=1, initial=-1, keepdims=True)")
    for name in "nansum nanprod".split():
        case(f"np.{name}(y, {{axis = 2, initial = 2}})", f"np.{name}(y, axis=1, initial=2)")
    change("local a = x:copy() np.nan_to_num(a, {copy = false})", "a = np.nan_to_num(x)")
    change("local a = x:copy() np.nan_to_num(a, {copy = true, nan = 3})", "a = x")
    change("local a = np.meshgrid(h, v, {copy = true}) a[1] = 0", "a = np.meshgrid(h, v)[0]; a[0] = 0")
    change("local a = f:copy() local c = a:astype('float64', {copy = false}) c[1] = 0", "a = f.copy(); a[0] = 0")
    change("local a = f:copy() np.put(a, {1, 9, 99}, 3, {mode = 'clip'})", "a = f.copy(); np.put(a, [0, 8, 98], 3, mode='clip')")
    change("local a = f:copy() np.put(a, {1, 9, 28}, 3, 'wrap')", "a = f.copy(); np.put(a, [0, 8, 27], 3, mode='wrap')")
    change("local a = f:copy() np.put_along_axis(a, np.argmax(f, {axis = 2, keepdims = true}), 9, {axis = 2})",
           "a = f.copy(); np.put_along_axis(a, np.argmax(f, axis=1, keepdims=True), 9, axis=1)")
    change("local a, e2 = np.empty(4, 5), np.empty({4, 5}, 'int32') np.frexp(f, {out = {a, e2}})", "a = np.frexp(f)[0]")
    change("local e2, a = np.empty(4, 5), np.empty({4, 5}, 'int32') np.frexp(f, {out = {e2, a}})", "a = np.frexp(f)[1]")
    for bad in ("np.eye(3, 4, {M = 4})", "np.eye(2, {k = 1.5})", "np.diag(h, {n = 1})", "np.roll(f, 1, {shift = 2})", "np.zeros(3, {shape = 3})", "np.zeros({size = 3})",
                "np.ravel(t, {order = 'K'})", "np.reshape(t, 5, 12, {order = 'A'})", "np.reshape(t, 5, 12, {newshape = 3})",
                "np.frexp(f, {out = np.empty(4, 5)})", "np.take_along_axis(f, np.argsort(f, 1), {axes = 1})",
                "np.delete(f, 1, {obj = 1})", "np.sum(f, 1, nil, h)", "np.mean(f, 1, {keepdims = true}, h)", "np.argmax(f, 1, {}, h)",
                "np.zeros(3, {order = 'F'})", "np.array({1}, {order = 'F'})", "np.add(f, g, {casting = 'no'})", "np.sum(f, {order = 'C'})", "np.zeros(3, {like = f})",
                "f:astype('int64', {casting = 'same_kind'})", "np.concatenate({f, g}, {dtype = 'int64'})", "np.concatenate({f, f}, {dtype = 'f4', out = f})",
                "np.arange(1, 2, {start = 3})", "np.arange({step = 2})", "np.quantile(f, 0.5, {q = 0.5})", "np.quantile(f, 0.5, {method = 'best'})", "np.nanmax(y, {where = b})",
                "np.array(h, {ndmin = 7})", "np.reshape(t, {order = 'F'})", "np.einsum('ij->i', f, {dtype = 'int64'})", "np.unique(f, true)", "np.choose(q, {h, h}, {mode = 'best'})",
                "np.add(f, g, {dtype = 'int64'})", "np.multiply(f, g, {out = np.zeros({4, 5}, 'int64')})", "np.add(f, 1, {out = np.zeros(5)})", "np.divmod(f, g, {out = np.zeros(4, 5)})",
                "np.histogram(f, 'best')", "np.histogram(f, {bins = 'auto', weights = f})", "np.histogramdd(f, 2, {range = 3})", "np.histogram(f, 3, {range = 7})", "np.fft.fft2(f, {axes = 1})",
                "np.linalg.svd(f, {hermitian = true})", "np.polyfit(h, f, 2)", "np.random.rand(3, {out = np.zeros(4)})", "np.random.rand({dtype = 'int64'})", "np.partition(v, 1, 1, 'quick')",
                "np.trim_zeros(h, 3)", "np.random.shuffle(f:copy(), {axis = 3})", "np.random.multivariate_normal({0, 0}, np.eye(2), {check_valid = 'raise'})", "np.copyto(i, f, {casting = 'no'})",
                "np.can_cast('f4', 'f8', 'best')", "np.ravel_multi_index({1, 1}, {4, 5}, 'best')", "np.load('x.npy', {mmap_mode = 'r'})", "np.save('x', f, {allow_pickle = true})",
                "np.array_str(f, {sep = ','})", "np.clip(f, {low = 1})", "np.angle(z, true, {out = f})", "np.angle(z, true, f)", "np.nan_to_num(x, {inf = 1})", "np.nan_to_num(x, {nan = 2i})"):
        case(bad, "error")
