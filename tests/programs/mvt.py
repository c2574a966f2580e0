"""x1 += A y1 and x2 += A transposed y2."""
import sys

import numpy as np

n = int(sys.argv[1])

i = np.arange(n)
x1, x2 = i % n / n, (i + 1) % n / n
y1, y2 = (i + 3) % n / n, (i + 4) % n / n
A = i[:, None] * i % n / n
x1 += A @ y1
x2 += y2 @ A

print("sum       %.12g" % x1.sum())
print("norm      %.12g" % np.linalg.norm(x1))
print("sum       %.12g" % x2.sum())
print("norm      %.12g" % np.linalg.norm(x2))
