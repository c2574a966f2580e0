"""A column of water collapses in a square basin: the shallow water equations in 2-D."""
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 400
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 200

g = 9.81
dx = 1 / n


def cells(q, axis, lo, hi):
    return q[lo:hi, :] if axis == 0 else q[:, lo:hi]


def reflect(q, sx, sy):
    q[:, 0:2] = sx * q[:, 3:1:-1]
    q[:, -2:] = sx * q[:, -3:-5:-1]
    q[0:2, :] = sy * q[3:1:-1, :]
    q[-2:, :] = sy * q[-3:-5:-1, :]


def minmod(a, b):
    return 0.5 * (np.sign(a) + np.sign(b)) * np.minimum(np.abs(a), np.abs(b))


def reconstruct(q, axis):
    q0 = cells(q, axis, 1, -1)
    half = 0.5 * minmod(q0 - cells(q, axis, 0, -2), cells(q, axis, 2, None) - q0)
    return cells(q0 + half, axis, 0, -1), cells(q0 - half, axis, 1, None)


def divergence(h, m, t, axis):
    hl, hr = reconstruct(h, axis)
    ml, mr = reconstruct(m, axis)
    tl, tr = reconstruct(t, axis)
    ul, ur = ml / hl, mr / hr
    cl, cr = np.sqrt(g * hl), np.sqrt(g * hr)
    sl = np.minimum(np.minimum(ul - cl, ur - cr), 0)
    sr = np.maximum(np.maximum(ul + cl, ur + cr), 0)

    def change(fl, fr, ql, qr):
        flux = (sr * fl - sl * fr + sl * sr * (qr - ql)) / (sr - sl)
        return (cells(flux, axis, 1, None) - cells(flux, axis, 0, -1)) / dx

    return (change(ml, mr, hl, hr),
            change(ml * ul + 0.5 * g * hl * hl, mr * ur + 0.5 * g * hr * hr, ml, mr),
            change(tl * ul, tr * ur, tl, tr))


def euler(h, hu, hv, dt):
    reflect(h, 1, 1)
    reflect(hu, -1, 1)
    reflect(hv, 1, -1)
    hx, hux, hvx = divergence(cells(h, 0, 2, -2), cells(hu, 0, 2, -2), cells(hv, 0, 2, -2), 1)
    hy, hvy, huy = divergence(cells(h, 1, 2, -2), cells(hv, 1, 2, -2), cells(hu, 1, 2, -2), 0)
    h1, hu1, hv1 = h.copy(), hu.copy(), hv.copy()
    h1[2:-2, 2:-2] -= dt * (hx + hy)
    hu1[2:-2, 2:-2] -= dt * (hux + huy)
    hv1[2:-2, 2:-2] -= dt * (hvx + hvy)
    return h1, hu1, hv1


x = (np.arange(n + 4) - 1.5) * dx
distance2 = np.square(x[None, :] - 0.35) + np.square(x[:, None] - 0.4)
h = np.where(distance2 < 0.2**2, 2, 1).astype("float64")
hu, hv = np.zeros((n + 4, n + 4)), np.zeros((n + 4, n + 4))
time = np.zeros(())
for _ in range(steps):
    fastest = np.max((np.maximum(np.abs(hu), np.abs(hv)) / h + np.sqrt(g * h))[2:-2, 2:-2])
    dt = 0.4 * dx / fastest
    h1, hu1, hv1 = euler(h, hu, hv, dt)
    h2, hu2, hv2 = euler(h1, hu1, hv1, dt)
    h, hu, hv = 0.5 * (h + h2), 0.5 * (hu + hu2), 0.5 * (hv + hv2)
    time = time + dt

inside = h[2:-2, 2:-2]
print("cells   %d x %d" % (n, n))
print("time    %.12g" % time)
print("volume  %.12g" % (np.sum(inside) * dx * dx))
print("depth   %.12g to %.12g" % (np.min(inside), np.max(inside)))
print("motion  %.12g" % (np.sum(hu * hu + hv * hv) * dx * dx))
