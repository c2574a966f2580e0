"""Poisson's equation on a square by conjugate gradients, preconditioned with a geometric multigrid cycle."""
import sys

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg

n = int(sys.argv[1]) if len(sys.argv) > 1 else 255
levels = int(sys.argv[2]) if len(sys.argv) > 2 else 4
injects = len(sys.argv) > 3 and sys.argv[3] == "injection"
omega = 2 / 3


def laplacian(m):
    line = sp.diags([2, -1, -1], [0, 1, -1], shape=(m, m))
    return sp.kronsum(line, line, "csr")


def restriction(m):
    half = (m - 1) // 2
    coarse = np.arange(half)
    if injects:
        return sp.csr_matrix((np.ones(half), (coarse, 2 * coarse + 1)), shape=(half, m))
    weights = np.repeat([0.25, 0.5, 0.25], half)
    return sp.csr_matrix((weights, (np.tile(coarse, 3), np.concatenate([2 * coarse, 2 * coarse + 1, 2 * coarse + 2]))),
                         shape=(half, m))


grid, size = [], n
for level in range(levels):
    A = laplacian(n) if level == 0 else grid[-1]["coarser"]
    g = {"A": A, "step": omega / A.diagonal()}
    grid.append(g)
    if level < levels - 1:
        R = restriction(size)
        size = (size - 1) // 2
        R = sp.kron(R, R, "csr")
        RA = R @ A
        g["down"] = (R - RA.multiply(g["step"])).tocsr()
        g["P"] = (R if injects else 4 * R).T.tocsr()
        g["coarser"] = laplacian(size) * 0.25 ** (level + 1) if injects else RA @ g["P"]


def cycle(b, level):
    g = grid[level]
    x = g["step"] * b
    if level == levels - 1:
        for _ in range(20 if levels > 2 else 1):
            x = x + g["step"] * (b - g["A"] @ x)
        return x
    x = x + g["P"] @ cycle(g["down"] @ b, level + 1)
    return x + g["step"] * (b - g["A"] @ x)


iterations = 0


def count(_):
    global iterations
    iterations += 1


A, b = grid[0]["A"], np.ones(n * n) / (n + 1) ** 2
x, info = cg(A, b, tol=1e-10, M=LinearOperator((n * n, n * n), lambda r: cycle(r, 0)), callback=count)

print("unknowns    %d" % (n * n))
print("coarsest    %d" % (size * size))
print("iterations  %d" % iterations)
print("converged   %s" % ("yes" if info == 0 else "no"))
print("largest     %.10g" % np.max(x))
