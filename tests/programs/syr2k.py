"""The lower triangle of A B' + B A', row by row."""
import sys

import numpy as np

M, N = map(int, sys.argv[1:3])

alpha, beta = 1.5, 1.2
C = np.fromfunction(lambda i, j: ((i * j + 3) % N) / M, (N, N))
A = np.fromfunction(lambda i, j: ((i * j + 1) % N) / N, (N, M))
B = np.fromfunction(lambda i, j: ((i * j + 2) % M) / M, (N, M))

for i in range(A.shape[0]):
    C[i, :i + 1] *= beta
    for k in range(A.shape[1]):
        C[i, :i + 1] += (A[:i + 1, k] * alpha * B[i, k] +
                         B[:i + 1, k] * alpha * A[i, k])

print("sum       %.12g" % C.sum())
print("norm      %.12g" % np.linalg.norm(C))
