"""Flow around a cylinder by the lattice Boltzmann method."""
import sys

import numpy as np

ny = int(sys.argv[1]) if len(sys.argv) > 1 else 100
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
nx, tau, inflow = 3 * ny, 0.56, 0.1

c = np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]])
opposite = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
weights = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)

x, y = np.meshgrid(np.arange(nx), np.arange(ny), indexing="ij")
cylinder = (x - nx / 4) ** 2 + (y - ny / 2 + 1) ** 2 < (ny / 8) ** 2


def equilibrium(density, velocity):
    along = np.tensordot(c, velocity, axes=(1, 0))
    speed2 = (velocity ** 2).sum(axis=0)
    return weights[:, None, None] * density * (1 + 3 * along + 4.5 * along ** 2 - 1.5 * speed2)


start = np.zeros((2, nx, ny))
start[0] = inflow
f = equilibrium(np.ones((nx, ny)), start)
left = f[1:, 0].copy()

for _ in range(steps):
    for k in range(9):
        f[k] = np.roll(f[k], c[k], axis=(0, 1))
    f[1:, 0] = left
    f[1:, -1] = f[1:, -2]
    bounced = f[:, cylinder][opposite]
    density = f.sum(axis=0)
    velocity = np.einsum("ka,kxy->axy", c, f) / density
    f += (equilibrium(density, velocity) - f) / tau
    f[:, cylinder] = bounced
velocity[:, cylinder] = 0

vorticity = np.gradient(velocity[1], axis=0) - np.gradient(velocity[0], axis=1)
print("solid     %d" % np.count_nonzero(cylinder))
print("mass      %.12g" % density.sum())
print("fastest   %.12g" % velocity[0].max())
print("vorticity %.12g" % (vorticity ** 2).sum())
