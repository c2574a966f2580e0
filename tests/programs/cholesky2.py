"""A Cholesky decomposition by LAPACK, the upper triangle left as it was."""
import sys

import numpy as np

N = int(sys.argv[1])

A = np.empty((N, N))
for i in range(N):
    A[i, :i + 1] = np.fromfunction(lambda j: (-j % N) / N + 1, (i + 1, ))
    A[i, i + 1:] = 0.0
    A[i, i] = 1.0
A[:] = A @ np.transpose(A)

A[:] = np.linalg.cholesky(A) + np.triu(A, k=1)

print("sum       %.12g" % A.sum())
print("norm      %.12g" % np.linalg.norm(A))
