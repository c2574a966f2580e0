"""mandelbrot1 for Numba: rows in parallel, each point for as long as it stays."""
import numba
import numpy as np


@numba.njit(parallel=True, fastmath=True, error_model="numpy")
def work(columns, rows, most):
    X, Y = np.linspace(-1.75, 0.25, columns), np.linspace(-1, 1, rows)
    N = np.zeros((rows, columns), np.int64)
    for i in numba.prange(rows):
        for j in range(columns):
            re = im = 0.0
            for n in range(most):
                if re * re + im * im >= 4.0:
                    break
                N[i, j] = n
                re, im = re * re - im * im + X[j], 2 * re * im + Y[i]
            if N[i, j] == most - 1:
                N[i, j] = 0
    return N.sum(), N.max(), np.count_nonzero(N)
