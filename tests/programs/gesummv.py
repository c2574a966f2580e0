"""The sum of two products of a matrix with a vector."""
import sys

import numpy as np

N = int(sys.argv[1])

alpha, beta = 1.5, 1.2
A = np.fromfunction(lambda i, j: ((i * j + 1) % N) / N, (N, N))
B = np.fromfunction(lambda i, j: ((i * j + 2) % N) / N, (N, N))
x = np.fromfunction(lambda i: (i % N) / N, (N, ))

y = alpha * A @ x + beta * B @ x

print("sum       %.12g" % y.sum())
print("norm      %.12g" % np.linalg.norm(y))
