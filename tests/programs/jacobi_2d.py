"""Averages of five neighbours in a plane, again and again."""
import sys

import numpy as np

n, steps = int(sys.argv[1]), int(sys.argv[2])

i, j = np.arange(n)[:, None], np.arange(n)
A, B = i * (j + 2) / n, i * (j + 3) / n
for _ in range(1, steps):
    B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
    A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])

print("sum       %.12g" % A.sum())
print("norm      %.12g" % np.linalg.norm(B))
