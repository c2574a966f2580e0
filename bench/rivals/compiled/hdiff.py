"""hdiff for Numba: one pass for the Laplacian, one for the fluxes and the result, planes in parallel."""
import numba
import numpy as np


@numba.njit(parallel=True, fastmath=True, error_model="numpy")
def spread(I, J, K):
    out = np.empty((I, J, K))
    for i in numba.prange(I):
        for j in range(J):
            for k in range(K):
                out[i, j, k] = ((i * J + j) * K + k) * 0.8191725133961645 % 1 - 0.5
    return out


@numba.njit(fastmath=True, error_model="numpy")
def flux(difference, slope):
    return 0.0 if difference * slope > 0 else difference


@numba.njit(parallel=True, fastmath=True, error_model="numpy")
def work(I, J, K):
    x, coeff = spread(I + 4, J + 4, K), spread(I, J, K)
    lap, out = np.empty((I + 2, J + 2, K)), np.empty((I, J, K))
    for i in numba.prange(I + 2):
        for j in range(J + 2):
            for k in range(K):
                lap[i, j, k] = 4.0 * x[i + 1, j + 1, k] - (x[i + 2, j + 1, k] + x[i, j + 1, k] +
                                                           x[i + 1, j + 2, k] + x[i + 1, j, k])
    for i in numba.prange(I):
        for j in range(J):
            for k in range(K):
                l, c = lap[i + 1, j + 1, k], x[i + 2, j + 2, k]
                south = flux(lap[i + 2, j + 1, k] - l, x[i + 3, j + 2, k] - c)
                north = flux(l - lap[i, j + 1, k], c - x[i + 1, j + 2, k])
                east = flux(lap[i + 1, j + 2, k] - l, x[i + 2, j + 3, k] - c)
                west = flux(l - lap[i + 1, j, k], c - x[i + 2, j + 1, k])
                out[i, j, k] = c - coeff[i, j, k] * (south - north + east - west)
    return out.sum(), np.linalg.norm(out.reshape(-1))
