"""Every pair of columns of a matrix, taken by an array of positions with two dimensions."""
import itertools
import sys

import numpy as np

M, N = map(int, sys.argv[1:3])

data_array = np.arange(M * N, dtype=np.int32).reshape((M, N))
indices = np.array(list(a for a in itertools.combinations(range(N), 2)))
result = data_array.take(indices, axis=1)
print("shape", *result.shape)
print("result sum: %d" % result.sum())
print("by pairs: %d" % (result[..., 0] * result[..., 1] % 1009).sum())
