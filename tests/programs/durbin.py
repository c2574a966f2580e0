"""Levinson and Durbin: a Toeplitz system, one unknown more in each step."""
import sys

import numpy as np

n = int(sys.argv[1])

r = n + 1.0 - np.arange(n)
y = np.empty_like(r)
alpha, beta = -r[0], 1.0
y[0] = -r[0]
for k in range(1, n):
    beta *= 1.0 - alpha * alpha
    alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
    y[:k] += alpha * np.flip(y[:k])
    y[k] = alpha

print("sum       %.12g" % y.sum())
print("norm      %.12g" % np.linalg.norm(y))
