-- The lower triangle of A B' + B A', row by row.
--
--   lgt tests/programs/syr2k.lua [m] [n]
local np = require "array"

local M, N = tonumber(arg[1]) or 35, tonumber(arg[2]) or 50

local alpha, beta = 1.5, 1.2
local C = np.fromfunction(function(i, j) return (i * j + 3) % N / M end, { N, N })
local A = np.fromfunction(function(i, j) return (i * j + 1) % N / N end, { N, M })
local B = np.fromfunction(function(i, j) return (i * j + 2) % M / M end, { N, M })

for i = 1, N do
  local upto = { 1, i }
  C[{ i, upto }] = beta * C[{ i, upto }] + alpha * (A[{ upto, {} }]:dot(B[i]) + B[{ upto, {} }]:dot(A[i]))
end

print(("sum       %.12g"):format(C:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(C)()))
