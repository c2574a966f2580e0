"""The product of four matrices."""
import sys

import numpy as np

NI, NJ, NK, NL, NM = map(int, sys.argv[1:6])

A = np.fromfunction(lambda i, j: ((i * j + 1) % NI) / (5 * NI), (NI, NK))
B = np.fromfunction(lambda i, j: ((i * (j + 1) + 2) % NJ) / (5 * NJ), (NK, NJ))
C = np.fromfunction(lambda i, j: (i * (j + 3) % NL) / (5 * NL), (NJ, NM))
D = np.fromfunction(lambda i, j: ((i * (j + 2) + 2) % NK) / (5 * NK), (NM, NL))

E = A @ B @ C @ D

print("sum       %.12g" % E.sum())
print("norm      %.12g" % np.linalg.norm(E))
