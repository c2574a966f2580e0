"""How the columns of a matrix vary together: correlations."""
import sys

import numpy as np

m, n = map(int, sys.argv[1:3])

data = np.arange(n)[:, None] * np.arange(m) / m + np.arange(n)[:, None]
mean = np.mean(data, axis=0)
stddev = np.std(data, axis=0)
stddev[stddev <= 0.1] = 1.0
data -= mean
data /= np.sqrt(n) * stddev
corr = np.eye(m)
for i in range(m - 1):
    corr[i + 1:m, i] = corr[i, i + 1:m] = data[:, i] @ data[:, i + 1:m]

print("sum       %.12g" % corr.sum())
print("norm      %.12g" % np.linalg.norm(corr))
