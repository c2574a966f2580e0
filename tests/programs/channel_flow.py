"""Water between two walls, pushed by a force, until its speed no longer changes."""
import sys

import numpy as np

nx, ny, most, nit = map(int, sys.argv[1:5])

dx, dy, dt = 2 / (nx - 1), 2 / (ny - 1), 0.1 / ((nx - 1) * (ny - 1))
rho, nu, F = 1, 0.1, 1
u, v, p = np.zeros((ny, nx)), np.zeros((ny, nx)), np.ones((ny, nx))


def E(a):
    return np.roll(a, -1, axis=1)[1:-1]


def W(a):
    return np.roll(a, 1, axis=1)[1:-1]


udiff, stepcount = 1, 0
while udiff > 0.001 and stepcount < most:
    un, vn = u.copy(), v.copy()
    ux, vy = (E(u) - W(u)) / (2 * dx), (v[2:] - v[:-2]) / (2 * dy)
    b = rho * (1 / dt * (ux + vy) - ux**2 - 2 * ((u[2:] - u[:-2]) / (2 * dy) * (E(v) - W(v)) / (2 * dx)) - vy**2)
    for q in range(nit):
        pn = p.copy()
        p[1:-1] = (((E(pn) + W(pn)) * dy**2 + (pn[2:] + pn[:-2]) * dx**2) / (2 * (dx**2 + dy**2)) -
                   dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b)
        p[-1, :] = p[-2, :]
        p[0, :] = p[1, :]
    u[1:-1] = (un[1:-1] - un[1:-1] * dt / dx * (un[1:-1] - W(un)) - vn[1:-1] * dt / dy * (un[1:-1] - un[:-2]) -
               dt / (2 * rho * dx) * (E(p) - W(p)) + nu * (dt / dx**2 * (E(un) - 2 * un[1:-1] + W(un)) +
                                                           dt / dy**2 * (un[2:] - 2 * un[1:-1] + un[:-2])) + F * dt)
    v[1:-1] = (vn[1:-1] - un[1:-1] * dt / dx * (vn[1:-1] - W(vn)) - vn[1:-1] * dt / dy * (vn[1:-1] - vn[:-2]) -
               dt / (2 * rho * dy) * (p[2:] - p[:-2]) + nu * (dt / dx**2 * (E(vn) - 2 * vn[1:-1] + W(vn)) +
                                                              dt / dy**2 * (vn[2:] - 2 * vn[1:-1] + vn[:-2])))
    u[0, :], u[-1, :], v[0, :], v[-1, :] = 0, 0, 0, 0
    udiff = (np.sum(u) - np.sum(un)) / np.sum(u)
    stepcount += 1

print("steps     %d" % stepcount)
print("sum       %.12g" % u.sum())
print("norm      %.12g" % np.linalg.norm(u))
print("sum       %.12g" % p.sum())
print("norm      %.12g" % np.linalg.norm(p))
