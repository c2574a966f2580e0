"""C = alpha A B + beta C."""
import sys

import numpy as np

ni, nj, nk = map(int, sys.argv[1:4])

def grid(rows, columns, f):
    return f(np.arange(rows)[:, None], np.arange(columns))


A = grid(ni, nk, lambda i, k: i * (k + 1) % nk / nk)
B = grid(nk, nj, lambda k, j: k * (j + 2) % nj / nj)
C = grid(ni, nj, lambda i, j: (i * j + 1) % ni / ni)

C = 1.5 * A @ B + 1.2 * C

print("sum       %.12g" % C.sum())
print("norm      %.12g" % np.linalg.norm(C))
