"""Mandelbrot's set once more: points that have gone are taken out of the arrays."""
import sys

import numpy as np

xn, yn, itermax = map(int, sys.argv[1:4])
horizon = 2.0

Xi, Yi = np.mgrid[0:xn, 0:yn]
X = np.linspace(-1.75, 0.25, xn, dtype=np.float64)[Xi]
Y = np.linspace(-1, 1, yn, dtype=np.float64)[Yi]
C = X + Y * 1j
N_ = np.zeros(C.shape, dtype=np.int64)
Z_ = np.zeros(C.shape, dtype=np.complex128)
Xi.shape = Yi.shape = C.shape = xn * yn

Z = np.zeros(C.shape, np.complex128)
for i in range(itermax):
    if not len(Z):
        break

    # Compute for relevant points only
    np.multiply(Z, Z, Z)
    np.add(Z, C, Z)

    # Failed convergence
    I = abs(Z) > horizon
    N_[Xi[I], Yi[I]] = i + 1
    Z_[Xi[I], Yi[I]] = Z[I]

    # Keep going with those who have not diverged yet
    np.logical_not(I, I)
    Z = Z[I]
    Xi, Yi = Xi[I], Yi[I]
    C = C[I]
Z_, N_ = Z_.T, N_.T

print("shape     {%s}" % ", ".join(map(str, N_.shape)))
print("steps     %d" % N_.sum())
print("left      %d" % len(Z))
print("sum       %.12g" % np.abs(Z_).sum())
