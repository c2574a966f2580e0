"""Running sums, products and maxima of a vector and along the axes of a matrix."""
import sys

import numpy as np

n, side = map(int, sys.argv[1:3])


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


x, m = spread(n), spread(side, side)
results = {
    "sums": np.cumsum(x),
    "products": np.cumprod(1 + x / n),
    "maxima": np.maximum.accumulate(x),
    "rows": np.cumsum(m, axis=1),
    "columns": np.cumsum(m, axis=0),
    "whole": np.cumsum(np.arange(n)) / n,
    "no nan": np.nancumsum(np.where(x > 0, x, np.nan)),
}
for name, result in results.items():
    print("%-9s %.12g %.12g" % (name, result.mean(), result.max()))
