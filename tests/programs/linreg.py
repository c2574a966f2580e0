"""Linear regression by descending along the gradient."""
import sys

import numpy as np

n, features, steps = map(int, sys.argv[1:4])


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


x = spread(n, features)
y = x.dot(np.arange(features) / features) + 0.1 * np.sin(np.arange(n))
w = np.zeros(features)
for _ in range(steps):
    wrong = x.dot(w) - y
    w = w - 2 / n * wrong.dot(x)
wrong = x.dot(w) - y

print("error     %.12g" % (wrong.dot(wrong) / n))
print("sum       %.12g" % w.sum())
print("norm      %.12g" % np.linalg.norm(w))
