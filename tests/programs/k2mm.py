"""D = alpha A B C + beta D."""
import sys

import numpy as np

ni, nj, nk, nl = map(int, sys.argv[1:5])

def grid(rows, columns, f):
    return f(np.arange(rows)[:, None], np.arange(columns))


A = grid(ni, nk, lambda i, j: (i * j + 1) % ni / ni)
B = grid(nk, nj, lambda i, j: i * (j + 1) % nj / nj)
C = grid(nj, nl, lambda i, j: (i * (j + 3) + 1) % nl / nl)
D = grid(ni, nl, lambda i, j: i * (j + 2) % nk / nk)

D = 1.5 * A @ B @ C + 1.2 * D

print("sum       %.12g" % D.sum())
print("norm      %.12g" % np.linalg.norm(D))
