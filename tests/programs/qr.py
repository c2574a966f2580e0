"""Least squares by an orthogonal decomposition."""
import sys

import numpy as np

m, n = map(int, sys.argv[1:3])


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


A = spread(m, n) + 2 * np.eye(m, n)
Q, R = np.linalg.qr(A)
b = np.cos(np.arange(m))
x = np.linalg.solve(R, Q.T.dot(b))

print("diagonal  %.12g" % np.abs(np.diag(R)).sum())
print("residual  %.12g" % np.linalg.norm(b - A.dot(x)))
print("correct   %s" % str(np.allclose(Q.dot(R), A)).lower())
