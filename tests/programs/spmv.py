"""The product of a sparse matrix with a vector, written with slices and gathers, row by row."""
import sys

import numpy as np

M, N, nnz = map(int, sys.argv[1:4])

x = np.arange(N) * 0.8191725133961645 % 1
rows = np.sort(np.arange(nnz) * 7919 % M)
A_row = np.uint32(np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=M)))))
A_col = np.uint32(np.arange(nnz) * 104729 % N)
A_val = np.arange(nnz) * 0.6710436067037893 % 1


# Matrix-Vector Multiplication with the matrix given in Compressed Sparse Row
# (CSR) format
def spmv(A_row, A_col, A_val, x):
    y = np.empty(A_row.size - 1, A_val.dtype)
    for i in range(A_row.size - 1):
        cols = A_col[A_row[i]:A_row[i + 1]]
        vals = A_val[A_row[i]:A_row[i + 1]]
        y[i] = vals @ x[cols]
    return y


y = spmv(A_row, A_col, A_val, x)

print("sum       %.12g" % y.sum())
print("norm      %.12g" % np.linalg.norm(y))
