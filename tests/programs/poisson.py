"""Poisson's equation -u'' = f on a square or a cube, zero at its faces, by conjugate gradients or BiCGSTAB."""
import sys

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

n = int(sys.argv[1]) if len(sys.argv) > 1 else 300
tolerance = float(sys.argv[2]) if len(sys.argv) > 2 else 1e-8
dimensions = int(sys.argv[3]) if len(sys.argv) > 3 else 2
method = sys.argv[4] if len(sys.argv) > 4 else "cg"
h = 1 / (n + 1)

line = sp.diags([2, -1, -1], [0, 1, -1], shape=(n, n))
s = np.arange(1, n + 1) * h
A, f = line, np.sin(np.pi * s)
for d in range(2, dimensions + 1):
    A = sp.kronsum(A, line, "csr")
    f = np.outer(np.sin(d * np.pi * s), f).ravel()
b = h * h * (f + 1)

iterations = 0


def count(_):
    global iterations
    iterations += 1


u, info = getattr(scipy.sparse.linalg, method)(A, b, tol=tolerance, callback=count)
residual = b - A.dot(u)

print("unknowns    %d" % b.size)
print("entries     %d" % A.nnz)
print("converged   %s" % ("yes" if info == 0 else "no"))
print("iterations  %s" % ("reasonable" if n / 2 < iterations < 10 * n else iterations))
print("mean        %.12g" % np.mean(u))
print("largest     %.12g" % np.max(u))
print("residual    %s" % ("small" if np.linalg.norm(residual) <= 2 * tolerance * np.linalg.norm(b) else "large"))
