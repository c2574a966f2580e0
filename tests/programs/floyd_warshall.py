"""The shortest paths between all pairs of nodes."""
import sys

import numpy as np

n = int(sys.argv[1])

i, j = np.arange(n)[:, None], np.arange(n)
path = i * j % 7 + 1
path[((i + j) % 13 == 0) | ((i + j) % 7 == 0) | ((i + j) % 11 == 0)] = 999

for k in range(n):
    path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))

print("sum       %d" % path.sum())
print("longest   %d" % path.max())
