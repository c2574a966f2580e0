"""The gradient of a convolution's weights: images correlated with shifted views of padded ones, channel by channel."""
import sys

import numpy as np

H, W, B, C, K, R = map(int, sys.argv[1:7])
S = R


def spread(seed, *shape):
    return ((np.arange(np.prod(shape)) + seed) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


def cross_correlate(x, y):
    dw = np.zeros(shape=(R, S, C, K))
    # cross-correlate images to compute weight gradients
    y_pad = np.zeros(shape=(K, B, H + R - 1, W + S - 1))
    y_pad[:, :, R // 2:-(R // 2), S // 2:-(S // 2)] = y
    for r in range(R):
        for s in range(S):
            y_shift = y_pad[:, :, r:r + H, s:s + W]
            for c in range(C):
                for k in range(K):
                    dw[r, s, c, k] = np.sum(x[c, :, :, :] * y_shift[k, :, :, :])
    return dw


x, y = spread(1, C, B, H, W), spread(2, K, B, H, W)
dw = cross_correlate(x, y)
print("total %.12g" % np.sum(dw))
print("norm  %.12g" % np.linalg.norm(dw.ravel()))
