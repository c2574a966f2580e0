"""gemm for Numba: the matrices in parallel, the product by BLAS."""
import numba
import numpy as np


@numba.njit(parallel=True, fastmath=True, error_model="numpy")
def work(ni, nj, nk):
    A, B, C = np.empty((ni, nk)), np.empty((nk, nj)), np.empty((ni, nj))
    for i in numba.prange(ni):
        for k in range(nk):
            A[i, k] = i * (k + 1) % nk / nk
        for j in range(nj):
            C[i, j] = (i * j + 1) % ni / ni
    for k in numba.prange(nk):
        for j in range(nj):
            B[k, j] = k * (j + 2) % nj / nj
    C = 1.5 * (A @ B) + 1.2 * C
    return C.sum(), np.linalg.norm(C)
