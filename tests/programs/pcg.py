"""The preconditioned conjugate gradient method for a dense, symmetric positive definite system."""
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
tolerance = float(sys.argv[2]) if len(sys.argv) > 2 else 1e-10

i = np.arange(n)
A = 1 / (1 + np.abs(i[:, None] - i[None, :])) + np.diag(10.0 ** (i % 5))
b = np.cos(i)

M = 1 / np.diag(A)
x = np.zeros(n)
r = b - A.dot(x)
z = M * r
p = z
rz = r.dot(z)
iterations = 0
while np.sqrt(r.dot(r)) > tolerance and iterations < n:
    Ap = A.dot(p)
    alpha = rz / p.dot(Ap)
    x = x + alpha * p
    r = r - alpha * Ap
    z = M * r
    rz_new = r.dot(z)
    p = z + (rz_new / rz) * p
    rz = rz_new
    iterations += 1

residual = b - A.dot(x)
print("unknowns    %d" % n)
print("iterations  %d" % iterations)
print("sum         %.12g" % np.sum(x))
print("norm        %.12g" % np.sqrt(x.dot(x)))
print("residual    %s" % ("small" if np.sqrt(residual.dot(residual)) < 10 * tolerance else "large"))
