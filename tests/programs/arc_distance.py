"""Distances between points on a sphere."""
import sys

import numpy as np

n = int(sys.argv[1])


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


theta_1, phi_1, theta_2, phi_2 = spread(n), 2 * spread(n), np.flip(spread(n)), np.sin(spread(n))
temp = np.sin((theta_2 - theta_1) / 2)**2 + np.cos(theta_1) * np.cos(theta_2) * np.sin((phi_2 - phi_1) / 2)**2
distance = 2 * (np.arctan2(np.sqrt(temp), np.sqrt(1 - temp)))

print("sum       %.12g" % distance.sum())
print("norm      %.12g" % np.linalg.norm(distance))
