"""The conjugate gradient method for a dense, symmetric positive definite system A x = b."""
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
tolerance = float(sys.argv[2]) if len(sys.argv) > 2 else 1e-10

i = np.arange(n)
A = 1 / (1 + np.abs(i[:, None] - i[None, :]))
b = np.cos(i)

x = np.zeros(n)
r = b - A.dot(x)
p = r
rr = r.dot(r)
iterations = 0
while np.sqrt(rr) > tolerance and iterations < n:
    Ap = A.dot(p)
    alpha = rr / p.dot(Ap)
    x = x + alpha * p
    r = r - alpha * Ap
    rr_new = r.dot(r)
    p = r + (rr_new / rr) * p
    rr = rr_new
    iterations += 1

residual = b - A.dot(x)
print("unknowns    %d" % n)
print("iterations  %d" % iterations)
print("sum         %.12g" % np.sum(x))
print("norm        %.12g" % np.sqrt(x.dot(x)))
print("residual    %s" % ("small" if np.sqrt(residual.dot(residual)) < 10 * tolerance else "large"))
