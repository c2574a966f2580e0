"""correlation for Numba: BLAS has the columns one behind the other."""
import numba
import numpy as np


@numba.njit(parallel=True, fastmath=True, error_model="numpy")
def work(m, n):
    columns = np.empty((m, n))
    for j in numba.prange(m):
        for i in range(n):
            columns[j, i] = i * j / m + i
        deviation = columns[j].std()
        if deviation <= 0.1:
            deviation = 1.0
        columns[j] = (columns[j] - columns[j].mean()) / (np.sqrt(n) * deviation)
    corr = np.eye(m)
    for i in numba.prange(m - 1):
        corr[i, i + 1:m] = columns[i + 1:m] @ columns[i]
        for j in range(i + 1, m):
            corr[j, i] = corr[i, j]
    return corr.sum(), np.linalg.norm(corr)
