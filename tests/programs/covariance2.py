"""Covariances of the columns of a table, by the library."""
import sys

import numpy as np

M, N = map(int, sys.argv[1:3])

data = np.fromfunction(lambda i, j: (i * j) / M, (N, M), dtype=np.float64)
cov = np.cov(np.transpose(data))

print("sum       %.12g" % cov.sum())
print("norm      %.12g" % np.linalg.norm(cov))
