"""Bodies that attract each other, step by step, and their energy."""
import sys

import numpy as np

N, steps = map(int, sys.argv[1:3])


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


pos, vel = 4 * spread(N, 3), spread(N, 3)
mass = 20.0 * np.ones((N, 1)) / N
dt, softening, G = 0.01, 0.1, 1.0
vel -= np.mean(mass * vel, axis=0) / np.mean(mass)


def getAcc():
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
    inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0]**(-1.5)
    return np.hstack((G * (dx * inv_r3) @ mass, G * (dy * inv_r3) @ mass, G * (dz * inv_r3) @ mass))


def getEnergy():
    KE = 0.5 * np.sum(mass * vel**2)
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inv_r = np.sqrt(dx**2 + dy**2 + dz**2)
    inv_r[inv_r > 0] = 1.0 / inv_r[inv_r > 0]
    return KE, G * np.sum(np.triu(-(mass * mass.T) * inv_r, 1))


acc = getAcc()
print("before    %.12g %.12g" % getEnergy())
for i in range(steps):
    vel += acc * dt / 2.0
    pos += vel * dt
    acc = getAcc()
    vel += acc * dt / 2.0
print("after     %.12g %.12g" % getEnergy())
