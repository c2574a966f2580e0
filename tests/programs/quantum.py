"""Rydberg atoms find a maximum independent set: a quantum annealer, of which every allowed state is followed."""
import math
import sys

import numpy as np
import scipy.sparse as sp
from scipy.integrate import solve_ivp

height = int(sys.argv[1]) if len(sys.argv) > 1 else 4
width = int(sys.argv[2]) if len(sys.argv) > 2 else 5
duration = float(sys.argv[3]) if len(sys.argv) > 3 else 6.0

atoms = [(x, y) for x in range(width) for y in range(height) if (2 * x + 3 * y) % 7 != 6]
states = [0]
for k, (x, y) in enumerate(atoms):
    blocked = sum(1 << i for i, (u, v) in enumerate(atoms[:k]) if abs(u - x) <= 1 and abs(v - y) <= 1)
    states += [s | 1 << k for s in states if not s & blocked]
number = {s: i for i, s in enumerate(states)}
n = len(states)
pairs = [(i, number[s ^ 1 << atom]) for i, s in enumerate(states) for atom in range(len(atoms)) if s ^ 1 << atom in number]
rows, columns = np.array(pairs).T
flips = sp.csr_matrix((np.ones(len(pairs), complex), (rows, columns)), shape=(n, n))
excited = np.array([bin(s).count("1") for s in states], float)


def derivative(t, y):
    s = t / duration
    omega, delta = math.sin(math.pi * s) ** 2, 3 * (2 * s - 1)
    return -1j * (omega * (flips @ y) - delta * (excited * y))


start = np.zeros(n, complex)
start[0] = 1
y = solve_ivp(derivative, (0, duration), start, method="DOP853", rtol=1e-8, atol=1e-10).y[:, -1]
probability = np.abs(y) ** 2
largest = excited == excited.max()

print("atoms       %d" % len(atoms))
print("states      %d" % n)
print("entries     %d" % flips.nnz)
print("largest     %d" % excited.max())
print("of them     %d" % np.count_nonzero(largest))
print("norm        %.6f" % probability.sum())
print("excited     %.6f" % (probability * excited).sum())
print("found       %.6f" % probability[largest].sum())
