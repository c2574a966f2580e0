"""The product of a triangular matrix with another, element by element."""
import sys

import numpy as np

M, N = map(int, sys.argv[1:3])

alpha = 1.5
A = np.fromfunction(lambda i, j: ((i * j) % M) / M, (M, M))
for i in range(M):
    A[i, i] = 1.0
B = np.fromfunction(lambda i, j: ((N + i - j) % N) / N, (M, N))

for i in range(B.shape[0]):
    for j in range(B.shape[1]):
        B[i, j] += np.dot(A[i + 1:, i], B[i + 1:, j])
B *= alpha

print("sum       %.12g" % B.sum())
print("norm      %.12g" % np.linalg.norm(B))
