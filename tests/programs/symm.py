"""The product of a symmetric matrix, of which one triangle is there, with another."""
import sys

import numpy as np

M, N = map(int, sys.argv[1:3])

alpha, beta = 1.5, 1.2
C = np.fromfunction(lambda i, j: ((i + j) % 100) / M, (M, N))
B = np.fromfunction(lambda i, j: ((N + i - j) % 100) / M, (M, N))
A = np.empty((M, M))
for i in range(M):
    A[i, :i + 1] = np.fromfunction(lambda j: ((i + j) % 100) / M, (i + 1, ))
    A[i, i + 1:] = -999

temp2 = np.empty((C.shape[1], ), dtype=C.dtype)
C *= beta
for i in range(C.shape[0]):
    for j in range(C.shape[1]):
        C[:i, j] += alpha * B[i, j] * A[i, :i]
        temp2[j] = B[:i, j] @ A[i, :i]
    C[i, :] += alpha * B[i, :] * A[i, i] + alpha * temp2

print("sum       %.12g" % C.sum())
print("norm      %.12g" % np.linalg.norm(C))
