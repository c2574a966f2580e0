"""The covariances of the columns of a matrix."""
import sys

import numpy as np

m, n = map(int, sys.argv[1:3])

data = np.arange(n)[:, None] * np.arange(m) / m
data -= np.mean(data, axis=0)
cov = np.zeros((m, m))
for i in range(m):
    cov[i:m, i] = cov[i, i:m] = data[:, i] @ data[:, i:m] / (n - 1.0)

print("sum       %.12g" % cov.sum())
print("norm      %.12g" % np.linalg.norm(cov))
