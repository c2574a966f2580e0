"""Medians and other quantiles of a vector and of the axes of a matrix."""
import sys

import numpy as np

n, side = map(int, sys.argv[1:3])


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


x, m = spread(n), spread(side, side)

print("median    %.12g" % np.median(x))
for method in ("linear", "lower", "nearest", "hazen", "weibull"):
    print("%-9s %.12g %.12g %.12g" % (method, *np.quantile(x, [0.01, 0.25, 0.9], method=method)))
print("rows      %.12g" % np.percentile(m, 30, axis=1).sum())
print("columns   %.12g" % np.percentile(m, 30, axis=0).sum())
