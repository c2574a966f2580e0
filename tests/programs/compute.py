"""A line of arithmetic on integers."""
import sys

import numpy as np

m, n = map(int, sys.argv[1:3])

array_1 = (np.arange(m * n) * 7919 % 1000).reshape(m, n)
array_2 = (np.arange(m * n) * 104729 % 1000).reshape(m, n)
a, b, c = np.int64(4), np.int64(3), np.int64(9)

result = np.clip(array_1, 2, 10) * a + array_2 * b + c

print("dtype     %s" % result.dtype)
print("sum       %d" % result.sum())
print("greatest  %d" % result.max())
