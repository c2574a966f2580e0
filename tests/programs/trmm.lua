-- The product of a triangular matrix with another, element by element.
--
--   lgt tests/programs/trmm.lua [m] [n]
local np = require "array"

local M, N = tonumber(arg[1]) or 65, tonumber(arg[2]) or 80

local alpha = 1.5
local A = np.fromfunction(function(i, j) return i * j % M / M end, { M, M })
for i = 1, M do A[{ i, i }] = 1 end
local B = np.fromfunction(function(i, j) return (N + i - j) % N / N end, { M, N })

for i = 1, B.shape[1] do
  for j = 1, B.shape[2] do
    B[{ i, j }] = B[{ i, j }] + np.dot(A[{ { i + 1, M }, i }], B[{ { i + 1, M }, j }])
  end
end
B:imul(alpha)

print(("sum       %.12g"):format(B:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(B)()))
