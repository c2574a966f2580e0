"""Columns made orthogonal, one after the other."""
import sys

import numpy as np

m, n = map(int, sys.argv[1:3])


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


A = spread(m, n) + 2 * np.eye(m, n)
Q, R = np.zeros_like(A), np.zeros((n, n))
for k in range(n):
    nrm = np.dot(A[:, k], A[:, k])
    R[k, k] = np.sqrt(nrm)
    Q[:, k] = A[:, k] / R[k, k]
    for j in range(k + 1, n):
        R[k, j] = np.dot(Q[:, k], A[:, j])
        A[:, j] -= Q[:, k] * R[k, j]

print("sum       %.12g" % Q.sum())
print("norm      %.12g" % np.linalg.norm(Q))
print("sum       %.12g" % R.sum())
print("norm      %.12g" % np.linalg.norm(R))
