"""Sorts: of a vector, of the rows and of the columns of a matrix; the order, and what is unique."""
import sys

import numpy as np

n, side = map(int, sys.argv[1:3])


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


x, m = spread(n), spread(side, side)
sorted, order = np.sort(x), np.argsort(x)
weights = np.arange(n)
rows, columns = np.sort(m, axis=1), np.sort(m, axis=0)
whole = np.floor(x * 100)

print("order     %s" % str(np.array_equal(x[order], sorted)).lower())
print("weighted  %.12g" % (sorted * weights).mean())
print("rows      %.12g" % (rows * np.arange(side)).mean())
print("columns   %.12g" % (columns * np.arange(side)).mean())
print("unique    %d" % np.unique(whole).size)
