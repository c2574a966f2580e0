"""A stack of matrices times one matrix."""
import sys

import numpy as np

NR, NQ, NP = map(int, sys.argv[1:4])

r, q, p = np.arange(NR)[:, None, None], np.arange(NQ)[:, None], np.arange(NP)
A = ((r * q + p) % NP) / NP
C4 = (np.arange(NP)[:, None] * p) % NP / NP
A[:] = np.reshape(np.reshape(A, (NR, NQ, NP)) @ C4, (NR, NQ, NP))

print("sum       %.12g" % A.ravel().sum())
print("norm      %.12g" % np.linalg.norm(A.ravel()))
