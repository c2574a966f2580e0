"""The best approximation of a matrix by one of low rank."""
import sys

import numpy as np

m, n, rank = map(int, sys.argv[1:4])


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


A = spread(m, n) + np.outer(np.arange(m), np.arange(n)) / (m * n)
U, s, Vh = np.linalg.svd(A, full_matrices=False)
near = (U[:, :rank] * s[:rank]).dot(Vh[:rank])

print("greatest  %.12g" % s[0])
print("sum       %.12g" % s.sum())
print("distance  %.12g" % np.linalg.norm(A - near))
print("correct   %s" % str(np.allclose((U * s).dot(Vh), A)).lower())
