"""Maxwell's equations in a plane: electric and magnetic fields, turn by turn."""
import sys

import numpy as np

nx, ny, steps = map(int, sys.argv[1:4])

i, j = np.arange(nx)[:, None], np.arange(ny)
ex, ey, hz = i * (j + 1) / nx, i * (j + 2) / ny, i * (j + 3) / nx
for t in range(steps):
    ey[0, :] = t
    ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
    ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
    hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])

print("sum       %.12g" % hz.sum())
print("norm      %.12g" % np.linalg.norm(hz))
print("sum       %.12g" % ex.sum())
print("norm      %.12g" % np.linalg.norm(ex))
