"""Jacobi's method for a dense system of linear equations A x = b."""
import math
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
iterations = int(sys.argv[2]) if len(sys.argv) > 2 else 50

i = np.arange(n)
A = 1 / (1 + np.abs(i[:, None] - i[None, :])) + (10 + 2 * math.log(n)) * np.eye(n)
b = np.cos(i)

x = np.zeros(n)
d = np.diag(A)
R = A - np.diag(d)
for _ in range(iterations):
    x = (b - R.dot(x)) / d

residual = b - A.dot(x)
print("unknowns  %d" % n)
print("sum       %.12g" % np.sum(x))
print("norm      %.12g" % np.sqrt(x.dot(x)))
print("residual  %.12g" % np.sqrt(residual.dot(residual)))
