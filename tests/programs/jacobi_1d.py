"""Averages of three neighbours on a line, again and again."""
import sys

import numpy as np

n, steps = int(sys.argv[1]), int(sys.argv[2])

A, B = (np.arange(n) + 2) / n, (np.arange(n) + 3) / n
for _ in range(1, steps):
    B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
    A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])

print("sum       %.12g" % A.sum())
print("norm      %.12g" % np.linalg.norm(B))
