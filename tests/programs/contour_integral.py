"""An integral along a contour in the complex plane, each point of which solves a system of equations."""
import sys

import numpy as np

NR, NM, points = map(int, sys.argv[1:4])
slab_per_bc = 2


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


def spread_complex(*shape):
    return spread(*shape) + spread(*shape) * 2j


Ham, Y = spread_complex(slab_per_bc + 1, NR, NR), spread_complex(NR, NM)
angle = np.arange(points) * (2 * np.pi / points) + 0.3
int_pts = np.exp(angle * 1j) * np.where(np.arange(points) < points / 2, 3, 0.5)
P0, P1 = np.zeros((NR, NM), dtype=np.complex128), np.zeros((NR, NM), dtype=np.complex128)
for k, z in enumerate(int_pts):
    Tz = 4 * np.eye(NR, dtype=np.complex128)
    for n in range(slab_per_bc + 1):
        zz = np.power(z, slab_per_bc / 2 - n)
        Tz += zz * Ham[n]
    X = np.linalg.solve(Tz, Y)
    if k + 1 > points / 2:
        X = -X
    P0 += X
    P1 += z * X

print("P0        %.12g" % np.linalg.norm(P0))
print("P1        %.12g" % np.linalg.norm(P1))
