"""Diffusion through a plate with a better conductor in it, by conjugate gradients with algebraic multigrid."""
import sys

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg, splu

n = int(sys.argv[1]) if len(sys.argv) > 1 else 300
conductivity = float(sys.argv[2]) if len(sys.argv) > 2 else 1000.0

s = np.arange(n + 2) / (n + 1) - 0.4
k = np.where(s[:, None] ** 2 + s**2 < 0.04, conductivity, 1.0)


def between(a, b):
    return 2 * a * b / (a + b)


down, right = between(k[:-1, 1:-1], k[1:, 1:-1]), between(k[1:-1, :-1], k[1:-1, 1:])
centre = down[:-1] + down[1:] + right[:, :-1] + right[:, 1:]
beside = right[:, 1:].copy()
beside[:, -1] = 0
beside, below = beside.ravel()[:-1], down[1:-1].ravel()
A = sp.diags([centre.ravel(), -beside, -beside, -below, -below], [0, 1, -1, n, -n], format="csr")
b = np.full(n * n, 1 / (n + 1) ** 2)


def strength(a, theta=0.08):
    c, d = a.tocoo(), np.abs(a.diagonal())
    keep = (c.row == c.col) | (c.data**2 > theta**2 * d[c.row] * d[c.col])
    return sp.csr_matrix((np.ones(keep.sum(), "int64"), (c.row[keep], c.col[keep])), shape=a.shape)


def aggregates(graph):
    root, m = 2**31, graph.shape[0]
    rows = np.repeat(np.arange(m), np.diff(graph.indptr))

    def best(x):
        result = np.zeros(m, "int64")
        np.maximum.at(result, rows, x[graph.indices])
        return result

    x = np.arange(m) * 1103515245 % (2**31 - 1) + 1
    while True:
        near, undecided = best(best(x)), (x > 0) & (x < root)
        x = np.where(undecided & (near == x), root, np.where(undecided & (near == root), 0, x))
        if not ((x > 0) & (x < root)).any():
            break
    number = np.where(x == root, np.cumsum(x == root), 0)
    for _ in range(2):
        number = np.where(number > 0, number, best(number))
    return number - 1, number.max()


levels = []
a = A
while a.shape[0] > 100:
    d = a.diagonal()
    step = 4 / 3 / np.max(np.asarray(abs(a).sum(axis=1)).ravel() / np.abs(d)) / d
    number, count = aggregates(strength(a))
    m = a.shape[0]
    T = sp.csr_matrix((np.ones(m), (np.arange(m), number)), shape=(m, count))
    T = T @ sp.diags(1 / np.sqrt(np.asarray(T.sum(axis=0)).ravel()))
    P = T - sp.diags(step) @ a @ T
    levels.append((a, step, P, P.T.tocsr()))
    a = (P.T @ a @ P).tocsr()
coarsest = splu(a.tocsc())


def cycle(level, r):
    if level == len(levels):
        return coarsest.solve(r)
    A, step, P, R = levels[level]
    x = step * r
    x = x + P @ cycle(level + 1, R @ (r - A @ x))
    return x + step * (r - A @ x)


iterations = 0


def count_one(_):
    global iterations
    iterations += 1


u, info = cg(A, b, tol=1e-10, M=LinearOperator(A.shape, lambda r: cycle(0, r)), callback=count_one)

for i, matrix in enumerate([level[0] for level in levels] + [a]):
    print("level %d     %d unknowns, %d entries" % (i + 1, matrix.shape[0], matrix.nnz))
print("iterations  %d" % iterations)
print("converged   %s" % ("yes" if info == 0 else "no"))
print("mean        %.10g" % np.mean(u))
print("largest     %.10g" % np.max(u))
