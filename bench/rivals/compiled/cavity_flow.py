"""cavity_flow for Numba: loops over points, rows in parallel."""
import numba
import numpy as np

rho, nu = 1, 0.1


@numba.njit(parallel=True, fastmath=True, error_model="numpy")
def build_up_b(b, u, v, dx, dy, dt):
    for i in numba.prange(1, b.shape[0] - 1):
        for j in range(1, b.shape[1] - 1):
            ux, uy = (u[i, j + 1] - u[i, j - 1]) / (2 * dx), (u[i + 1, j] - u[i - 1, j]) / (2 * dy)
            vx, vy = (v[i, j + 1] - v[i, j - 1]) / (2 * dx), (v[i + 1, j] - v[i - 1, j]) / (2 * dy)
            b[i, j] = rho * (1 / dt * (ux + vy) - ux**2 - 2 * (uy * vx) - vy**2)


@numba.njit(parallel=True, fastmath=True, error_model="numpy")
def pressure_step(p, pn, b, dx, dy):
    for i in numba.prange(1, p.shape[0] - 1):
        for j in range(1, p.shape[1] - 1):
            p[i, j] = (((pn[i, j + 1] + pn[i, j - 1]) * dy**2 + (pn[i + 1, j] + pn[i - 1, j]) * dx**2) /
                       (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[i, j])
    p[:, -1] = p[:, -2]
    p[0, :] = p[1, :]
    p[:, 0] = p[:, 1]
    p[-1, :] = 0


@numba.njit(fastmath=True, error_model="numpy")
def transported(q, u, v, i, j, dx, dy, dt):
    return (q[i, j] - u[i, j] * dt / dx * (q[i, j] - q[i, j - 1]) - v[i, j] * dt / dy * (q[i, j] - q[i - 1, j]) +
            nu * (dt / dx**2 * (q[i, j + 1] - 2 * q[i, j] + q[i, j - 1]) +
                  dt / dy**2 * (q[i + 1, j] - 2 * q[i, j] + q[i - 1, j])))


@numba.njit(parallel=True, fastmath=True, error_model="numpy")
def velocity_step(u, v, un, vn, p, dx, dy, dt):
    for i in numba.prange(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            u[i, j] = transported(un, un, vn, i, j, dx, dy, dt) - dt / (2 * rho * dx) * (p[i, j + 1] - p[i, j - 1])
            v[i, j] = transported(vn, un, vn, i, j, dx, dy, dt) - dt / (2 * rho * dy) * (p[i + 1, j] - p[i - 1, j])
    u[0, :] = 0
    u[:, 0] = 0
    u[:, -1] = 0
    u[-1, :] = 1
    v[0, :] = 0
    v[-1, :] = 0
    v[:, 0] = 0
    v[:, -1] = 0


@numba.njit(fastmath=True, error_model="numpy")
def work(n, steps, pressure_iterations):
    dx = 2 / (n - 1)
    dy = dx
    dt = min(0.001, 0.1 * dx * dx / nu)
    u, v, p, b = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for _ in range(steps):
        un, vn = u.copy(), v.copy()
        build_up_b(b, u, v, dx, dy, dt)
        for _ in range(pressure_iterations):
            pressure_step(p, p.copy(), b, dx, dy)
        velocity_step(u, v, un, vn, p, dx, dy, dt)
    return n, n, np.sqrt(u * u + v * v).mean(), u[n // 2, n // 2], p.max() - p.min()
