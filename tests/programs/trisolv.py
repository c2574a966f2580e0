"""A triangular system, solved from the first unknown to the last."""
import sys

import numpy as np

n = int(sys.argv[1])

i, j = np.arange(n)[:, None], np.arange(n)
L = np.tril((i + n - j + 1) * 2 / n)
b = j - 999.0
x = np.full(n, -999.0)

for k in range(n):
    x[k] = (b[k] - L[k, :k] @ x[:k]) / L[k, k]

print("sum       %.12g" % x.sum())
print("norm      %.12g" % np.linalg.norm(x))
