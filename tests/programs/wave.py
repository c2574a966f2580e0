"""A drop falls onto water: the wave equation on a square whose edges let waves out."""
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 500
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 300
courant2 = 0.25

x = np.arange(n) / n - 0.5
y = x.reshape(n, 1)
before = np.exp(-400 * (x * x + y * y))
now = before.copy()

for _ in range(steps):
    inside = now[1:-1, 1:-1]
    laplacian = now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2] - 4 * inside
    after = np.zeros((n, n))
    after[1:-1, 1:-1] = 2 * inside - before[1:-1, 1:-1] + courant2 * laplacian
    after[0, :] = now[1, :]
    after[-1, :] = now[-2, :]
    after[:, 0] = now[:, 1]
    after[:, -1] = now[:, -2]
    before, now = now, after

print("points   %d x %d" % (n, n))
print("mean     %.12g" % np.mean(now))
print("highest  %.12g" % np.max(now))
print("energy   %.12g" % np.sum((now - before) ** 2))
