"""A smooth wave steepens into a shock: Burgers' equation by WENO of fifth order and Runge-Kutta of third."""
import math
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 200
fastest, courant = 1.5, 0.4
dx = 2 / n
dt = courant * dx / fastest


def reconstruct(a, b, c, d, e):
    smooth1 = 13 / 12 * (a - 2 * b + c) ** 2 + 0.25 * (a - 4 * b + 3 * c) ** 2
    smooth2 = 13 / 12 * (b - 2 * c + d) ** 2 + 0.25 * (b - d) ** 2
    smooth3 = 13 / 12 * (c - 2 * d + e) ** 2 + 0.25 * (3 * c - 4 * d + e) ** 2
    w1, w2, w3 = 0.1 / (1e-6 + smooth1) ** 2, 0.6 / (1e-6 + smooth2) ** 2, 0.3 / (1e-6 + smooth3) ** 2
    total = w1 * (2 * a - 7 * b + 11 * c) + w2 * (-b + 5 * c + 2 * d) + w3 * (2 * c + 5 * d - e)
    return total / (6 * (w1 + w2 + w3))


def five(padded, k, towards):
    return [padded[k + j * towards:k + j * towards + n + 1] for j in range(5)]


def change(u):
    flux = 0.5 * u * u
    right = np.pad(0.5 * (flux + fastest * u), 3, "wrap")
    left = np.pad(0.5 * (flux - fastest * u), 3, "wrap")
    edges = reconstruct(*five(right, 0, 1)) + reconstruct(*five(left, 5, -1))
    return (edges[:-1] - edges[1:]) / dx


u = 0.5 + np.sin(math.pi * dx * np.arange(n))
for _ in range(steps):
    u1 = u + dt * change(u)
    u2 = 0.75 * u + 0.25 * (u1 + dt * change(u1))
    u = u / 3 + 2 / 3 * (u2 + dt * change(u2))

print("cells      %d" % n)
print("mean       %.12g" % np.mean(u))
print("extremes   %.12g %.12g" % (np.min(u), np.max(u)))
print("variation  %.12g" % np.sum(np.abs(np.diff(u))))
