"""A fast Fourier transform that needs no reversal of bits, by reshapes and products."""
import sys

import numpy as np

R, K = map(int, sys.argv[1:3])
N = R**K


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


x = spread(N) + 1j * np.cos(np.arange(N))
i_coord, j_coord = np.mgrid[0:R, 0:R]
dft_mat = np.exp(-2.0j * np.pi * i_coord * j_coord / R)
y = x.copy()
for i in range(K):
    before, after = R**i, R**(K - i - 1)
    yv = np.reshape(y, (before, R, after))
    D = np.exp(-2.0j * np.pi * np.arange(R)[:, None] * np.arange(before) / (before * R))
    tmp = np.transpose(yv, (1, 0, 2)) * D[:, :, None]
    y = np.reshape(dft_mat @ np.reshape(tmp, (R, before * after)), N)

print("norm      %.12g" % np.linalg.norm(y))
print("correct   %s" % str(np.allclose(y, np.fft.fft(x))).lower())
