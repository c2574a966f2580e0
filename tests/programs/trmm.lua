-- The product of a triangular matrix with another, row by row.
--
--   lgt tests/programs/trmm.lua [m] [n]
local np = require "array"

local M, N = tonumber(arg[1]) or 65, tonumber(arg[2]) or 80

local alpha = 1.5
local A = np.fromfunction(function(i, j) return i * j % M / M end, { M, M })
for i = 1, M do A[{ i, i }] = 1 end
local B = np.fromfunction(function(i, j) return (N + i - j) % N / N end, { M, N })

for i = 1, M do B[i] = B[i] + A[{ { i + 1, M }, i }]:dot(B[{ { i + 1, M }, {} }]) end
B:imul(alpha)

print(("sum       %.12g"):format(B:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(B)()))
