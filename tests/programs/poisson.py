"""Poisson's equation -u'' = f on a square, zero at its edges, by conjugate gradients."""
import sys

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import cg

n = int(sys.argv[1]) if len(sys.argv) > 1 else 300
tolerance = float(sys.argv[2]) if len(sys.argv) > 2 else 1e-8
h = 1 / (n + 1)

beside = np.full(n * n - 1, -1.0)
beside[n - 1 :: n] = 0
A = sp.diags([4, beside, beside, -1, -1], [0, 1, -1, n, -n], shape=(n * n, n * n), format="csr")

s = np.arange(1, n + 1) * h
x, y = np.meshgrid(s, s)
f = np.sin(np.pi * x) * np.sin(2 * np.pi * y) + 1
b = h * h * f.ravel()

iterations = 0


def count(_):
    global iterations
    iterations += 1


u, info = cg(A, b, tol=tolerance, callback=count)
residual = b - A.dot(u)

print("unknowns    %d" % (n * n))
print("entries     %d" % A.nnz)
print("converged   %s" % ("yes" if info == 0 else "no"))
print("iterations  %s" % ("reasonable" if n < iterations < 10 * n else iterations))
print("mean        %.12g" % np.mean(u))
print("largest     %.12g" % np.max(u))
print("residual    %s" % ("small" if np.linalg.norm(residual) <= 2 * tolerance * np.linalg.norm(b) else "large"))
