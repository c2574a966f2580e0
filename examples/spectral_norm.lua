-- The spectral norm of a sparse matrix, its largest singular value, by power iteration with A^T A.
--
--   lgt examples/spectral_norm.lua [rows] [entries a row]
--
-- Beside it the bounds that other norms give, and what svds finds.
local np, sp, solvers = require "array", require "sparse", require "solvers"

local n, each = tonumber(arg[1]) or 20000, tonumber(arg[2]) or 10
local m = n - math.floor(n / 4)

local i = np.arange(n * each)
local rows = np.floor_divide(i, each)
local columns = (i % each * 7919 + rows * 104729 + rows * rows % 10007 * 31) % m
local A = sp.csr_matrix({1 / (1 + i % each), {rows, columns}}, {shape = {n, m}, base = 0})
local T = A.T:tocsr()

local x = np.ones(m)
local norm, iterations = 0, 0
repeat
  local before = norm
  x = x / np.norm(x)
  local Ax = A:dot(x)
  norm = np.norm(Ax):item()
  x = T:dot(Ax)
  iterations = iterations + 1
until math.abs(norm - before) <= 1e-14 * norm or iterations == 1000

local _, largest = solvers.svds(A, 1)
print(("entries     %d"):format(A.nnz))
print(("norm        %.10g"):format(norm))
print(("bound       %.10g"):format(math.sqrt(sp.norm(A, 1)() * sp.norm(A, math.huge)())))
print(("Frobenius   %.10g"):format(sp.norm(A)()))
print(("svds        %s"):format(math.abs(norm - largest(1)) <= 1e-6 * norm and "agrees" or largest(1)))
