"""A matrix times a vector, from either side: a step of the biconjugate gradients."""
import sys

import numpy as np

n, m = map(int, sys.argv[1:3])

A = np.arange(n)[:, None] * (np.arange(m) + 1) % n / n
p, r = np.arange(m) % m / m, np.arange(n) % n / n
s, q = r @ A, A @ p

print("sum       %.12g" % s.sum())
print("norm      %.12g" % np.linalg.norm(s))
print("sum       %.12g" % q.sum())
print("norm      %.12g" % np.linalg.norm(q))
