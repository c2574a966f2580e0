"""gramschmidt for Numba: columns one behind the other, the rest of them in parallel."""
import numba
import numpy as np


@numba.njit(parallel=True, fastmath=True, error_model="numpy")
def remove(columns, q, R, k):
    for j in numba.prange(k + 1, columns.shape[0]):
        R[k, j] = np.dot(q, columns[j])
        columns[j] -= q * R[k, j]


@numba.njit(fastmath=True, error_model="numpy")
def work(m, n):
    columns = np.empty((n, m))
    for j in range(n):
        for i in range(m):
            columns[j, i] = (i * n + j) * 0.8191725133961645 % 1 - 0.5 + (2.0 if i == j else 0.0)
    Q, R = np.zeros((n, m)), np.zeros((n, n))
    for k in range(n):
        R[k, k] = np.sqrt(np.dot(columns[k], columns[k]))
        Q[k] = columns[k] / R[k, k]
        remove(columns, Q[k], R, k)
    return Q.sum(), np.linalg.norm(Q), R.sum(), np.linalg.norm(R)
