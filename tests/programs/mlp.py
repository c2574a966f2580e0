"""A network of three layers: products, rectifiers, and shares at the end."""
import sys

import numpy as np

batch, inputs = map(int, sys.argv[1:3])
widths = [inputs, *map(int, sys.argv[3:6])]


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


def relu(x):
    return np.maximum(x, 0)


def softmax(x):
    tmp_out = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return tmp_out / np.sum(tmp_out, axis=-1, keepdims=True)


x = relu(spread(batch, inputs) @ spread(widths[0], widths[1]) + spread(widths[1]))
x = relu(x @ spread(widths[1], widths[2]) + spread(widths[2]))
shares = softmax(x @ spread(widths[2], widths[3]) + spread(widths[3]))

print("sum       %.12g" % shares.sum())
print("norm      %.12g" % np.linalg.norm(shares))
print("first     %.12g" % shares[0, 0])
