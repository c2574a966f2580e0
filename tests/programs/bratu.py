"""Where a reaction that heats itself stays calm: the Bratu problem on a square."""
import sys

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as solvers

m = int(sys.argv[1]) if len(sys.argv) > 1 else 63
parts = int(sys.argv[2]) if len(sys.argv) > 2 else 8
n, h = m * m, 1 / (m + 1)

line = sp.diags([2, -1, -1], [0, 1, -1], shape=(m, m)) / h ** 2
laplacian = sp.kronsum(line, line).tocsc()
inverse = solvers.LinearOperator((n, n), matvec=solvers.splu(laplacian).solve)


def newton(u, lam):
    for step in range(21):
        heat = lam * np.exp(u)
        residual = laplacian @ u - heat
        if np.linalg.norm(residual) * h < 1e-10:
            return u, step
        jacobian = solvers.LinearOperator((n, n), matvec=lambda v: laplacian @ v - heat * v)
        change, info = solvers.gmres(jacobian, -residual, M=inverse, tol=1e-6, atol=0)
        assert info == 0
        u = u + change


u = np.zeros(n)
for part in range(1, parts + 1):
    lam = 6.8 * part / parts
    u, steps = newton(u, lam)
    print("lambda %.3f  steps %d  hottest %.8f" % (lam, steps, u.max()))
print("middle    %.8f" % u.reshape(m, m)[(m - 1) // 2, (m - 1) // 2])
print("mean      %.8f" % (u.sum() * h ** 2))
