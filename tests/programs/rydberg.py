"""Rydberg atoms on a ring: a quantum annealer that prepares an antiferromagnet."""
import math
import sys

import numpy as np
import scipy.sparse as sp
from scipy.integrate import solve_ivp

atoms = int(sys.argv[1]) if len(sys.argv) > 1 else 12
duration = float(sys.argv[2]) if len(sys.argv) > 2 else 6.0

states = [s for s in range(2**atoms) if not s & ((s << 1) % 2**atoms | s >> (atoms - 1))]
number = {s: i for i, s in enumerate(states)}
n = len(states)
pairs = [(i, number[s ^ 1 << atom]) for i, s in enumerate(states) for atom in range(atoms) if s ^ 1 << atom in number]
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

print("states      %d" % n)
print("entries     %d" % flips.nnz)
print("norm        %.6f" % probability.sum())
print("excited     %.6f" % (probability * excited).sum())
print("maximum     %.6f" % probability[largest].sum())
