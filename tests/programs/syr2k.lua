-- The lower triangle of A B' + B A', row by row.
--
--   lgt tests/programs/syr2k.lua [m] [n]
local np = require "array"

local M, N = tonumber(arg[1]) or 35, tonumber(arg[2]) or 50

local alpha, beta = 1.5, 1.2
local C = np.fromfunction(function(i, j) return (i * j + 3) % N / M end, { N, N })
local A = np.fromfunction(function(i, j) return (i * j + 1) % N / N end, { N, M })
local B = np.fromfunction(function(i, j) return (i * j + 2) % M / M end, { N, M })

for i = 1, A.shape[1] do
  C[{ i, { 1, i } }]:imul(beta)
  for k = 1, A.shape[2] do
    C[{ i, { 1, i } }]:iadd(A[{ { 1, i }, k }] * alpha * B[{ i, k }] +
                            B[{ { 1, i }, k }] * alpha * A[{ i, k }])
  end
end

print(("sum       %.12g"):format(C:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(C)()))
