"""The mean of 27 neighbours in a cube, over and over: views of one grid, written in place."""
import sys

import numpy as np

N, iterations = map(int, sys.argv[1:3])


def initialize(N):
    grid = np.zeros((N + 2, N + 2, N + 2))
    grid[:, :, 0] = -273.15
    grid[:, 0, :] = -273.15
    grid[0, :, :] = -273.15
    grid[:, :, -1] = 273.15
    grid[:, -1, :] = 273.15
    grid[-1, :, :] = 273.15
    return grid


def run(grid, iterations, N):
    low, middle, high = slice(0, -2), slice(1, -1), slice(2, None)
    g = {(i, j, k): grid[a, b, c] for i, a in enumerate((low, middle, high)) for j, b in enumerate((low, middle, high))
         for k, c in enumerate((low, middle, high))}
    for _ in range(iterations):
        planes = []
        for i in range(3):
            rows = [g[i, j, 0] + g[i, j, 1] + g[i, j, 2] for j in range(3)]
            planes.append(rows[0] + rows[1] + rows[2])
        res = planes[0] + planes[1] + planes[2]
        work = 0.037 * res
        g[1, 1, 1][:] = work
    total = np.sum(g[1, 1, 1])
    return total / N**2


grid = initialize(N)
print("Average energy is %.12g" % run(grid, iterations, N))
print("Norm %.12g" % np.linalg.norm(grid.ravel()))
