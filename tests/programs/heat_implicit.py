"""The heat equation u' = u'' on a square by the method of Crank and Nicolson."""
import math
import sys

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import bicgstab

n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 10
h, dt = 1 / (n + 1), 1e-3

line = sp.diags([-2, 1, 1], [0, 1, -1], shape=(n, n))
L = sp.kronsum(line, line, "csr") * (1 / h**2)
I = sp.identity(n * n, format="csr")
implicit, explicit = I - (dt / 2) * L, I + (dt / 2) * L

s = np.arange(1, n + 1) * h
x, y = np.meshgrid(s, s)
u = (np.sin(np.pi * x) * np.sin(np.pi * y)).ravel()
failed = 0
for _ in range(steps):
    u, info = bicgstab(implicit, explicit @ u, u, tol=1e-12)
    failed += abs(info)
exact = math.exp(-2 * math.pi**2 * dt * steps)

print("unknowns    %d" % (n * n))
print("failed      %d" % failed)
print("mean        %.10g" % np.mean(u))
print("middle      %.10g" % u.max())
print("error       %s" % ("small" if abs(u.max() - exact) < 1e-3 else "large"))
