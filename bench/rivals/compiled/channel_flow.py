"""channel_flow for Numba: loops over points, rows in parallel, whose ends are neighbours."""
import numba
import numpy as np

rho, nu, F = 1, 0.1, 1


@numba.njit(parallel=True, fastmath=True, error_model="numpy")
def build_up_b(b, u, v, dx, dy, dt):
    nx = b.shape[1]
    for i in numba.prange(1, b.shape[0] - 1):
        for j in range(nx):
            w, e = j - 1 if j > 0 else nx - 1, j + 1 if j < nx - 1 else 0
            ux, vy = (u[i, e] - u[i, w]) / (2 * dx), (v[i + 1, j] - v[i - 1, j]) / (2 * dy)
            b[i, j] = rho * (1 / dt * (ux + vy) - ux**2 - 2 * ((u[i + 1, j] - u[i - 1, j]) / (2 * dy) *
                                                               (v[i, e] - v[i, w]) / (2 * dx)) - vy**2)


@numba.njit(parallel=True, fastmath=True, error_model="numpy")
def pressure_step(p, pn, b, dx, dy):
    nx = p.shape[1]
    for i in numba.prange(1, p.shape[0] - 1):
        for j in range(nx):
            w, e = j - 1 if j > 0 else nx - 1, j + 1 if j < nx - 1 else 0
            p[i, j] = (((pn[i, e] + pn[i, w]) * dy**2 + (pn[i + 1, j] + pn[i - 1, j]) * dx**2) /
                       (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[i, j])
    p[-1, :] = p[-2, :]
    p[0, :] = p[1, :]


@numba.njit(fastmath=True, error_model="numpy")
def moved(q, u, v, i, w, j, e, dx, dy, dt):
    return (q[i, j] - u[i, j] * dt / dx * (q[i, j] - q[i, w]) - v[i, j] * dt / dy * (q[i, j] - q[i - 1, j]) +
            nu * (dt / dx**2 * (q[i, e] - 2 * q[i, j] + q[i, w]) +
                  dt / dy**2 * (q[i + 1, j] - 2 * q[i, j] + q[i - 1, j])))


@numba.njit(parallel=True, fastmath=True, error_model="numpy")
def velocity_step(u, v, un, vn, p, dx, dy, dt):
    nx = u.shape[1]
    for i in numba.prange(1, u.shape[0] - 1):
        for j in range(nx):
            w, e = j - 1 if j > 0 else nx - 1, j + 1 if j < nx - 1 else 0
            u[i, j] = moved(un, un, vn, i, w, j, e, dx, dy, dt) - dt / (2 * rho * dx) * (p[i, e] - p[i, w]) + F * dt
            v[i, j] = moved(vn, un, vn, i, w, j, e, dx, dy, dt) - dt / (2 * rho * dy) * (p[i + 1, j] - p[i - 1, j])
    u[0, :] = 0
    u[-1, :] = 0
    v[0, :] = 0
    v[-1, :] = 0


@numba.njit(fastmath=True, error_model="numpy")
def work(nx, ny, most, nit):
    dx, dy, dt = 2 / (nx - 1), 2 / (ny - 1), 0.1 / ((nx - 1) * (ny - 1))
    u, v, p, b = np.zeros((ny, nx)), np.zeros((ny, nx)), np.ones((ny, nx)), np.zeros((ny, nx))
    udiff, stepcount = 1.0, 0
    while udiff > 0.001 and stepcount < most:
        un, vn = u.copy(), v.copy()
        build_up_b(b, u, v, dx, dy, dt)
        for _ in range(nit):
            pressure_step(p, p.copy(), b, dx, dy)
        velocity_step(u, v, un, vn, p, dx, dy, dt)
        udiff = (np.sum(u) - np.sum(un)) / np.sum(u)
        stepcount += 1
    return stepcount, u.sum(), np.linalg.norm(u), p.sum(), np.linalg.norm(p)
