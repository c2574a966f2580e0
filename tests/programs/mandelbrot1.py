"""Mandelbrot's set: after how many steps each point of the plane has gone."""
import sys

import numpy as np

columns, rows, most = map(int, sys.argv[1:4])

X, Y = np.linspace(-1.75, 0.25, columns), np.linspace(-1, 1, rows)
C = X + Y[:, None] * 1j
N, Z = np.zeros(C.shape, dtype=np.int64), np.zeros(C.shape, dtype=np.complex128)
for n in range(most):
    inside = np.less(abs(Z), 2.0)
    N[inside] = n
    Z[inside] = Z[inside] ** 2 + C[inside]
N[N == most - 1] = 0

print("sum       %d" % N.sum())
print("greatest  %d" % N.max())
print("gone      %d" % np.count_nonzero(N))
