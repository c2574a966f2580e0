"""Two matrix-vector products with a matrix that two outer products change."""
import sys

import numpy as np

n = int(sys.argv[1])

i = np.arange(n)
u1, u2 = i, (i + 1) / n / 2
v1, v2 = (i + 1) / n / 4, (i + 1) / n / 6
y, z = (i + 1) / n / 8, (i + 1) / n / 9
A = i[:, None] * i % n / n

A += np.outer(u1, v1) + np.outer(u2, v2)
x = 1.2 * y @ A + z
w = 1.5 * A @ x

print("sum       %.12g" % w.sum())
print("norm      %.12g" % np.linalg.norm(w))
