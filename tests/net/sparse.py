#!/usr/bin/python3
"""Sparse matrices on ranks: no rank has more of one than its rows and what they need, whatever is done with it.

Nothing may bring an array to every rank: the option `replicate` is a small part of a matrix.  Values are compared with
SciPy's; of a matrix with a band, whose rows need few of other ranks' elements, next to nothing may move.
"""
import numpy as np
import scipy.sparse as sp

from common import case, finish
from script import measured

RANKS = 4
SMALL = ["--replicate=20K"]

# ---- values ---------------------------------------------------------------------------------------------------

M, N, NNZ = 2101, 1930, 20000
MADE = """
local sp = require "sparse"
local m, n, nnz = %d, %d, %d
local k = np.arange(nnz)
local rows, cols, vals = (k * 97 + k * k) %% m, (k * 31) %% n, (k %% 17 - 8) * 0.5
local A = sp.csr_matrix({vals, {rows + 1, cols + 1}}, {shape = {m, n}})
local x, y, z = np.arange(n) %% 7 - 2.5, np.arange(m) %% 5 - 1.5, np.arange(m) %% 11 - 4.0
local function show(label, B)
  local w = B.n == n and x or B.n == m and y or np.arange(B.n) %% 3 - 0.5
  local v = B.m == m and z or np.arange(B.m) %% 4 + 1.0
  print(label, np.sum(v * B:dot(w)):item())
end
""" % (M, N, NNZ)


def made():
    k = np.arange(NNZ)
    rows, cols, vals = (k * 97 + k * k) % M, (k * 31) % N, (k % 17 - 8) * 0.5
    return sp.csr_matrix((vals, (rows, cols)), shape=(M, N))


def seen(b):
    b = sp.csr_matrix(b)
    x, y, z = np.arange(N) % 7 - 2.5, np.arange(M) % 5 - 1.5, np.arange(M) % 11 - 4.0
    w = x if b.shape[1] == N else y if b.shape[1] == M else np.arange(b.shape[1]) % 3 - 0.5
    v = z if b.shape[0] == M else np.arange(b.shape[0]) % 4 + 1.0
    return v @ (b @ w)


def picked(a):
    return a[(np.arange(200) * 7) % M]


# What is done, in Lua and in Python; B, C are square.
OPERATIONS = {
    "made": ("A", lambda a: a),
    "transposed": ("A.T:tocsr()", lambda a: a.T),
    "columns": ("A:tocsc()", lambda a: a),
    "product": ("A:dot(A.T:tocsr())", lambda a: a @ a.T),
    "other_product": ("A.T:tocsr():dot(A)", lambda a: a.T @ a),
    "sum": ("A + A:multiply(A)", lambda a: a + a.multiply(a)),
    "difference": ("A:abs() - A", lambda a: abs(a) - a),
    "maximum": ("A:maximum(-A)", lambda a: a.maximum(-a)),
    "less": ("A:lt(-A):astype('float64')", lambda a: (a < -a).astype(float)),
    "rows_scaled": ("A:multiply(np.reshape(z, m, 1))", lambda a: a.multiply((np.arange(M) % 11 - 4.0)[:, None])),
    "columns_scaled": ("A:multiply(x)", lambda a: a.multiply(np.arange(N) % 7 - 2.5)),
    "dense_product": ("A:multiply(z[':, *'] * x)", lambda a: a.multiply(np.outer(np.arange(M) % 11 - 4.0, np.arange(N) % 7 - 2.5))),
    "sddmm": ("sp.sddmm(A, np.stack({z, z + 1}, 2), np.stack({x, x * x}, 2))",
              lambda a: a.multiply(np.outer(np.arange(M) % 11 - 4.0, np.arange(N) % 7 - 2.5) +
                                   np.outer(np.arange(M) % 11 - 3.0, (np.arange(N) % 7 - 2.5) ** 2))),
    "rows": ("A['300:1250, :']", lambda a: a[299:1250]),
    "stepped": ("A['::-3, 5::2']", lambda a: a[::-3, 4::2]),
    "picked": ("A[{(np.arange(200) * 7) % m + 1, {}}]", picked),
    "lower": ("sp.tril(A, -2)", lambda a: sp.tril(a, -2)),
    "upper": ("sp.triu(A, 3)", lambda a: sp.triu(a, 3)),
    "triplets": ("A:tocoo()", lambda a: a),
    "blocks": ("A['1:2100, :']:tobsr{3, 2}:tocsr()", lambda a: a[:2100]),
    "rooms": ("A:toell():tocsr()", lambda a: a),
    "diagonals": ("sp.tril(sp.triu(A, -4), 20):todia():tocsr()", lambda a: sp.tril(sp.triu(a, -4), 20)),
    "dense": ("sp.csr_matrix(A:todense())", lambda a: a),
    "nonzeros": ("A:eliminate_zeros()", lambda a: a),
    "stacked": ("sp.vstack({A, A:multiply(2)}):tocsr()", lambda a: sp.vstack([a, 2 * a])),
    "beside": ("sp.hstack({A, A}):tocsr()", lambda a: sp.hstack([a, a])),
    "diagonal": ("sp.block_diag({A, A}):tocsr()", lambda a: sp.block_diag([a, a])),
    "kron": ("sp.kron(sp.eye(3), A):tocsr()", lambda a: sp.kron(sp.eye(3), a)),
    "reshaped": ("A:reshape(n, m):tocsr()", lambda a: a.reshape(N, M)),
    "set": ("A['1:1930, :']:setdiag(3)", lambda a: a[:N] - sp.diags(a[:N].diagonal()) + 3 * sp.eye(N)),
}


def values():
    script = MADE + "".join(f'show("{label}", {lua})\n' for label, (lua, _) in OPERATIONS.items())
    got = measured(script, RANKS, options=SMALL)
    if isinstance(got, str):
        return got
    a = made()
    for label, (_, python) in OPERATIONS.items():
        wanted = seen(python(a))
        if not np.allclose([line[0] for line in got[label]], wanted, rtol=1e-10, atol=1e-8):
            return f"{label}: {got[label]} instead of {wanted}"
    return None


case("no operation brings a matrix to every rank", values)

# ---- what moves -----------------------------------------------------------------------------------------------

BAND = """
local sp, so = require "sparse", require "solvers"
local n = 4000
local A = sp.diags({ 4, -1, -1, -2, 1 }, { 0, 1, -1, 2, -2 }, { shape = { n, n }, format = "csr" })
local x = np.arange(n) % 7 + 1.0
A:sum_duplicates()
local y = A:dot(x)
"""
MOVES = ["A:tocoo()", "A.T:tocsr()", "A:dot(A)", "A + A", "A:multiply(x)", "A:multiply(x[':, *'])", "sp.tril(A)", "A:todia()",
         "A:tobsr{4, 4}", "A:toell()", "A:multiply(A)", "sp.sddmm(A, x[':, *'], x[':, *'])", "A['::2, :']",
         "sp.csr_matrix({A.data, {A:tocoo().row, A.indices}}, {shape = {n, n}})", "so.ilu0(A, {blocks = 40}):matvec(x)",
         "so.ssor_preconditioner(A, {blocks = 40}):matvec(x)"]


def moves():
    labels = [f"op{i}" for i in range(len(MOVES))]
    script = BAND + "".join(f'sent("{label}", 1, function() local B = {lua} end)\n' for label, lua in zip(labels, MOVES))
    got = measured(script, RANKS, options=SMALL)
    if isinstance(got, str):
        return got
    share = 5 * 4000 * 12 / RANKS
    worst = {lua: max(line[0] for line in got[label]) for label, lua in zip(labels, MOVES)}
    bad = {lua: most for lua, most in worst.items() if most > share / 5}
    return f"of {share} bytes that a rank has, these were sent: {bad}" if bad else None


case("of a band next to nothing moves", moves)

finish(1)
