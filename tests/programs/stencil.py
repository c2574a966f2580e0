"""Heat spreading over a plate with fixed temperatures at its edges: a 5-point stencil."""
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
iterations = int(sys.argv[2]) if len(sys.argv) > 2 else 100

grid = np.zeros((n + 2, n + 2))
grid[:, 0] = -273.15
grid[:, -1] = -273.15
grid[-1, :] = -273.15
grid[0, :] = 40

center = grid[1:-1, 1:-1]
north = grid[:-2, 1:-1]
east = grid[1:-1, 2:]
west = grid[1:-1, :-2]
south = grid[2:, 1:-1]

for _ in range(iterations):
    average = center + north + east + west + south
    work = 0.2 * average
    center[:] = work

print("points   %d x %d" % (n, n))
print("mean     %.12g" % np.mean(center))
print("hottest  %.12g" % np.max(center))
