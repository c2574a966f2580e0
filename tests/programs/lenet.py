"""LeNet-5: two convolutions with pooling, then three layers of products."""
import sys

import numpy as np

n, height, width = map(int, sys.argv[1:4])


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


def maxpool2d(x):
    output = np.empty([x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3]])
    for i in range(x.shape[1] // 2):
        for j in range(x.shape[2] // 2):
            output[:, i, j, :] = np.max(x[:, 2 * i:2 * i + 2, 2 * j:2 * j + 2, :], axis=(1, 2))
    return output


x = spread(n, height, width, 1)
x = maxpool2d(relu(conv2d(x, spread(5, 5, 1, 6)) + spread(6)))
x = maxpool2d(relu(conv2d(x, spread(5, 5, 6, 16)) + spread(16)))
x = x.reshape(n, -1)
x = relu(x @ spread(x.shape[1], 120) + spread(120))
x = relu(x @ spread(120, 84) + spread(84))
x = x @ spread(84, 10) + spread(10)

print("sum       %.12g" % x.sum())
print("norm      %.12g" % np.linalg.norm(x))
