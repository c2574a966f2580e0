"""Heat conduction in a cube, two half steps a turn."""
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 100
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 50

k = np.arange(n)
A = (k[:, None, None] * k[None, :, None] + (n - k)[None, None, :]) % n * (10 / n)
B = A.copy()


def advance(U):
    C = U[1:-1, 1:-1, 1:-1]
    return (0.125 * (U[2:, 1:-1, 1:-1] - 2 * C + U[:-2, 1:-1, 1:-1]) +
            0.125 * (U[1:-1, 2:, 1:-1] - 2 * C + U[1:-1, :-2, 1:-1]) +
            0.125 * (U[1:-1, 1:-1, 2:] - 2 * C + U[1:-1, 1:-1, :-2]) + C)


for _ in range(steps):
    B[1:-1, 1:-1, 1:-1] = advance(A)
    A[1:-1, 1:-1, 1:-1] = advance(B)

middle = n // 2 - 1
print("points  %d^3" % n)
print("sum     %.12g" % np.sum(A))
print("centre  %.12g" % A[middle, middle, middle])
