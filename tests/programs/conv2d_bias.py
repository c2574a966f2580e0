"""The convolution of a network's layer: for each place a sum over its neighbours and all channels."""
import sys

import numpy as np

N, H, W, C_in, C_out, K = map(int, sys.argv[1:7])


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape).astype(np.float32)


# Deep learning convolutional operator (stride = 1)
def conv2d(input, weights):
    K = weights.shape[0]  # Assuming square kernel
    N = input.shape[0]
    H_out = input.shape[1] - K + 1
    W_out = input.shape[2] - K + 1
    C_out = weights.shape[3]
    output = np.empty((N, H_out, W_out, C_out), dtype=np.float32)
    for i in range(H_out):
        for j in range(W_out):
            output[:, i, j, :] = np.sum(
                input[:, i:i + K, j:j + K, :, np.newaxis] *
                weights[np.newaxis, :, :, :],
                axis=(1, 2, 3),
            )
    return output


def conv2d_bias(input, weights, bias):
    return conv2d(input, weights) + bias


output = conv2d_bias(spread(N, H, W, C_in), spread(K, K, C_in, C_out), spread(C_out))

print("shape     {%s}" % ", ".join(map(str, output.shape)))
print("sum       %.6g" % output.sum(dtype=np.float64))
print("norm      %.6g" % np.linalg.norm(output.ravel().astype(np.float64)))
