"""The sum of a function of a diagonal, element by element."""
import sys

import numpy as np

n = int(sys.argv[1])
x = (np.arange(n * n) * 0.8191725133961645 % 1).reshape(n, n)


def go_fast(a):
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


out = go_fast(x)

print("sum       %.12g" % out.sum())
print("norm      %.12g" % np.linalg.norm(out))
