"""The lower triangle of C = alpha A A transposed + beta C."""
import sys

import numpy as np

m, n = map(int, sys.argv[1:3])

A = (np.arange(n)[:, None] * np.arange(m) + 1) % n / n
C = (np.arange(n)[:, None] * np.arange(n) + 2) % m / m
for i in range(n):
    C[i, :i + 1] *= 1.2
    for k in range(m):
        C[i, :i + 1] += 1.5 * A[i, k] * A[:i + 1, k]

print("sum       %.12g" % C.sum())
print("norm      %.12g" % np.linalg.norm(C))
