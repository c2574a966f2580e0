"""The triangular factors of a matrix in its place, each step an outer product."""
import sys

import numpy as np

n = int(sys.argv[1])

i = np.arange(n)
M = np.tril(-(i % n) / n + 1 + 0 * i[:, None]) + np.eye(n)
A = M @ M.T

for i in range(n):
    for j in range(i):
        A[i, j] -= A[i, :j] @ A[:j, j]
        A[i, j] /= A[j, j]
    for j in range(i, n):
        A[i, j] -= A[i, :i] @ A[:i, j]

print("sum       %.12g" % A.sum())
print("norm      %.12g" % np.linalg.norm(A))
