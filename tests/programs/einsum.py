"""Sums of products by their indices."""
import sys

import numpy as np

n = int(sys.argv[1])


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


A, B, T, v = spread(n, n), spread(n, n), spread(n, n, n), spread(n)
for case, *operands in (
        ("ij,jk->ik", A, B), ("ij,kj->ik", A, B), ("ii", A), ("ij->ji", A), ("ij,ij->", A, B), ("i,j->ij", v, v),
        ("ijk,k->ij", T, v), ("ijk,jk->i", T, A), ("ij,jk,kl->il", A, B, A), ("ijk,ilk->jl", T, T), ("ii->i", B)):
    result = np.asarray(np.einsum(case, *operands))
    print("%-13s %.12g %.12g" % (case, result.sum(), np.linalg.norm(result.ravel())))
