"""The spectral norm of a sparse matrix, its largest singular value, by power iteration with A^T A."""
import sys

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import norm as sparse_norm
from scipy.sparse.linalg import svds

n = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
each = int(sys.argv[2]) if len(sys.argv) > 2 else 10
m = n - n // 4

i = np.arange(n * each)
rows = i // each
columns = (i % each * 7919 + rows * 104729 + rows * rows % 10007 * 31) % m
A = sp.csr_matrix((1 / (1 + i % each), (rows, columns)), shape=(n, m))
T = A.T.tocsr()

x = np.ones(m)
norm, iterations = 0.0, 0
while True:
    x = x / np.linalg.norm(x)
    Ax = A @ x
    before, norm = norm, np.linalg.norm(Ax)
    x = T @ Ax
    iterations += 1
    if abs(norm - before) <= 1e-14 * norm or iterations == 1000:
        break

largest = svds(A, 1)[1][0]
print("entries     %d" % A.nnz)
print("norm        %.10g" % norm)
print("bound       %.10g" % np.sqrt(sparse_norm(A, 1) * sparse_norm(A, np.inf)))
print("Frobenius   %.10g" % sparse_norm(A))
print("svds        %s" % ("agrees" if abs(norm - largest) <= 1e-6 * norm else largest))
