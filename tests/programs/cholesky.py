"""The triangular L with L L transposed = A, column by column."""
import sys

import numpy as np

n = int(sys.argv[1])

i = np.arange(n)
M = np.tril(-(i % n) / n + 1 + 0 * i[:, None]) + np.eye(n)
A = M @ M.T

A[0, 0] = np.sqrt(A[0, 0])
for i in range(1, n):
    for j in range(i):
        A[i, j] -= np.dot(A[i, :j], A[j, :j])
        A[i, j] /= A[j, j]
    A[i, i] -= np.dot(A[i, :i], A[i, :i])
    A[i, i] = np.sqrt(A[i, i])
L = np.tril(A)

print("sum       %.12g" % L.sum())
print("norm      %.12g" % np.linalg.norm(L))
