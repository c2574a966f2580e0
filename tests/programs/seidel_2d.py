"""Gauss and Seidel: each element becomes the mean of its neighbours, of which some are new already."""
import sys

import numpy as np

n, steps = map(int, sys.argv[1:3])

A = (np.arange(n)[:, None] * (np.arange(n) + 2) + 2) / n
for t in range(steps - 1):
    for i in range(1, n - 1):
        A[i, 1:-1] += A[i - 1, :-2] + A[i - 1, 1:-1] + A[i - 1, 2:] + A[i, 2:] + A[i + 1, :-2] + A[i + 1, 1:-1] + A[i + 1, 2:]
        for j in range(1, n - 1):
            A[i, j] += A[i, j - 1]
            A[i, j] /= 9.0

print("sum       %.12g" % A.sum())
print("norm      %.12g" % np.linalg.norm(A))
