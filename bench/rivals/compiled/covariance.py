"""covariance for Numba: BLAS has the columns one behind the other."""
import numba
import numpy as np


@numba.njit(parallel=True, fastmath=True, error_model="numpy")
def work(m, n):
    columns = np.empty((m, n))
    for j in numba.prange(m):
        for i in range(n):
            columns[j, i] = i * j / m
        columns[j] -= columns[j].mean()
    cov = np.zeros((m, m))
    for i in numba.prange(m):
        cov[i, i:m] = columns[i:m] @ columns[i] / (n - 1.0)
        for j in range(i, m):
            cov[j, i] = cov[i, j]
    return cov.sum(), np.linalg.norm(cov)
