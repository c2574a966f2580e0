"""Flow in a square cavity whose lid moves: the incompressible Navier-Stokes equations in 2-D."""
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 101
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 200
pressure_iterations = int(sys.argv[3]) if len(sys.argv) > 3 else 50

rho, nu = 1, 0.1
dx = 2 / (n - 1)
dy = dx
dt = min(0.001, 0.1 * dx * dx / nu)

mid, low, high = slice(1, -1), slice(None, -2), slice(2, None)
C, W, E, S, N = (mid, mid), (mid, low), (mid, high), (low, mid), (high, mid)


def build_up_b(b, u, v):
    ux, uy = (u[E] - u[W]) / (2 * dx), (u[N] - u[S]) / (2 * dy)
    vx, vy = (v[E] - v[W]) / (2 * dx), (v[N] - v[S]) / (2 * dy)
    b[C] = rho * (1 / dt * (ux + vy) - ux**2 - 2 * (uy * vx) - vy**2)


def pressure_poisson(p, b):
    for _ in range(pressure_iterations):
        pn = p.copy()
        p[C] = (((pn[E] + pn[W]) * dy**2 + (pn[N] + pn[S]) * dx**2) / (2 * (dx**2 + dy**2)) -
                dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[C])
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


def transported(q, u, v):
    return (q[C] - u[C] * dt / dx * (q[C] - q[W]) - v[C] * dt / dy * (q[C] - q[S]) +
            nu * (dt / dx**2 * (q[E] - 2 * q[C] + q[W]) + dt / dy**2 * (q[N] - 2 * q[C] + q[S])))


u, v, p, b = (np.zeros((n, n)) for _ in range(4))
for _ in range(steps):
    un, vn = u.copy(), v.copy()
    build_up_b(b, u, v)
    pressure_poisson(p, b)
    u[C] = transported(un, un, vn) - dt / (2 * rho * dx) * (p[E] - p[W])
    v[C] = transported(vn, un, vn) - dt / (2 * rho * dy) * (p[N] - p[S])
    u[0, :] = u[:, 0] = u[:, -1] = 0
    u[-1, :] = 1
    v[0, :] = v[-1, :] = v[:, 0] = v[:, -1] = 0

speed = np.sqrt(u * u + v * v)
middle = n // 2
print("points    %d x %d" % (n, n))
print("speed     %.12g" % np.mean(speed))
print("u middle  %.12g" % u[middle, middle])
print("p range   %.12g" % (np.max(p) - np.min(p)))
