"""A system of equations by triangular factors, element by element."""
import sys

import numpy as np

N = int(sys.argv[1])

A = np.empty((N, N))
for i in range(N):
    A[i, :i + 1] = np.fromfunction(lambda j: (-j % N) / N + 1, (i + 1, ))
    A[i, i + 1:] = 0.0
    A[i, i] = 1.0
A[:] = A @ np.transpose(A)
b = np.fromfunction(lambda i: (i + 1) / N / 2.0 + 4.0, (N, ))


def kernel(A, b):
    x = np.zeros_like(b)
    y = np.zeros_like(b)
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]
    for i in range(A.shape[0]):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(A.shape[0] - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1:] @ x[i + 1:]) / A[i, i]
    return x, y


x, y = kernel(A, b)

print("sum       %.12g" % x.sum())
print("norm      %.12g" % np.linalg.norm(x))
print("norm      %.12g" % np.linalg.norm(y))
