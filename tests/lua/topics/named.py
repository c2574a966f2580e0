"""Arguments that have a place in Lua and are given by their NumPy names, in the table of options at the end."""
import numpy as np


def add(case, change, inputs):
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
    ):
        case(name, numpy)
    change("local a = f:copy() np.put_along_axis(a, np.argmax(f, {axis = 2, keepdims = true}), 9, {axis = 2})",
           "a = f.copy(); np.put_along_axis(a, np.argmax(f, axis=1, keepdims=True), 9, axis=1)")
    change("local a, e2 = np.empty(4, 5), np.empty({4, 5}, 'int32') np.frexp(f, {out = {a, e2}})", "a = np.frexp(f)[0]")
    change("local e2, a = np.empty(4, 5), np.empty({4, 5}, 'int32') np.frexp(f, {out = {e2, a}})", "a = np.frexp(f)[1]")
    for bad in ("np.eye(3, 4, {M = 4})", "np.eye(2, {k = 1.5})", "np.diag(h, {n = 1})", "np.roll(f, 1, {shift = 2})", "np.zeros(3, {shape = 3})", "np.zeros({size = 3})",
                "np.ravel(t, {order = 'K'})", "np.reshape(t, 5, 12, {order = 'A'})", "np.reshape(t, 5, 12, {newshape = 3})",
                "np.frexp(f, {out = np.empty(4, 5)})", "np.frexp(f, {where = b})", "np.take_along_axis(f, np.argsort(f, 1), {axes = 1})",
                "np.clip(f, {low = 1})", "np.nan_to_num(x, {inf = 1})", "np.nan_to_num(x, {nan = 2i})"):
        case(bad, "error")
