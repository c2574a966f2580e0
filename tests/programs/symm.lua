-- The product of a symmetric matrix, of which one triangle is there, with another, row by row.
--
--   lgt tests/programs/symm.lua [m] [n]
local np = require "array"

local M, N = tonumber(arg[1]) or 40, tonumber(arg[2]) or 50

local alpha, beta = 1.5, 1.2
local C = np.fromfunction(function(i, j) return (i + j) % 100 / M end, { M, N })
local B = np.fromfunction(function(i, j) return (N + i - j) % 100 / M end, { M, N })
local A = np.empty(M, M)
for i = 1, M do
  A[{ i, { 1, i } }] = np.fromfunction(function(j) return (i - 1 + j) % 100 / M end, { i })
  A[{ i, { i + 1, M } }] = -999
end

C:imul(beta)
for i = 1, M do
  local before = { 1, i - 1 }
  C[{ before, {} }]:iadd(np.outer(A[{ i, before }], alpha * B[i]))
  C[i]:iadd(alpha * B[i] * A[{ i, i }] + alpha * A[{ i, before }]:dot(B[{ before, {} }]))
end

print(("sum       %.12g"):format(C:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(C)()))
