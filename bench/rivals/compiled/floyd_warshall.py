"""floyd_warshall for Numba: rows in parallel."""
import numba
import numpy as np


@numba.njit(parallel=True, fastmath=True, error_model="numpy")
def through(path, k):
    for i in numba.prange(path.shape[0]):
        for j in range(path.shape[1]):
            path[i, j] = min(path[i, j], path[i, k] + path[k, j])


@numba.njit(fastmath=True, error_model="numpy")
def work(n):
    path = np.empty((n, n), np.int64)
    for i in range(n):
        for j in range(n):
            far = (i + j) % 13 == 0 or (i + j) % 7 == 0 or (i + j) % 11 == 0
            path[i, j] = 999 if far else i * j % 7 + 1
    for k in range(n):
        through(path, k)
    return path.sum(), path.max()
