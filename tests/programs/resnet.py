"""A bottleneck of a residual network: three convolutions, each normalised over the batch."""
import sys

import numpy as np

n, height, width, outer, inner = map(int, sys.argv[1:6])


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


def relu(x):
    return np.maximum(x, 0)


def conv2d(input, weights):
    K = weights.shape[0]
    N, H_out, W_out = input.shape[0], input.shape[1] - K + 1, input.shape[2] - K + 1
    output = np.empty((N, H_out, W_out, weights.shape[3]))
    for i in range(H_out):
        for j in range(W_out):
            output[:, i, j, :] = np.sum(input[:, i:i + K, j:j + K, :, np.newaxis] * weights[np.newaxis, :, :, :],
                                        axis=(1, 2, 3))
    return output


def batchnorm2d(x, eps=1e-5):
    mean = np.mean(x, axis=0, keepdims=True)
    std = np.std(x, axis=0, keepdims=True)
    return (x - mean) / np.sqrt(std + eps)


x = spread(n, height, width, outer)
padded = np.zeros((n, height + 2, width + 2, inner))
padded[:, 1:-1, 1:-1, :] = conv2d(x, spread(1, 1, outer, inner))
y = relu(batchnorm2d(padded))
y = relu(batchnorm2d(conv2d(y, spread(3, 3, inner, inner))))
y = batchnorm2d(conv2d(y, spread(1, 1, inner, outer)))
y = relu(y + x)

print("sum       %.12g" % y.sum())
print("norm      %.12g" % np.linalg.norm(y))
