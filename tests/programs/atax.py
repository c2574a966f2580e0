"""A transposed times A times a vector."""
import sys

import numpy as np

m, n = map(int, sys.argv[1:3])

x = 1 + np.arange(n) / n
A = (np.arange(m)[:, None] + np.arange(n)) % n / (5 * m)
y = (A @ x) @ A

print("sum       %.12g" % y.sum())
print("norm      %.12g" % np.linalg.norm(y))
