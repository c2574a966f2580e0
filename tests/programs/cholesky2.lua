-- A Cholesky decomposition by LAPACK, the upper triangle left as it was.
--
--   lgt tests/programs/cholesky2.lua [n]
local np = require "array"

local n = tonumber(arg[1]) or 500

local A = np.empty(n, n)
for i = 1, n do
  A[{ i, { 1, i } }] = np.fromfunction(function(j) return (-j % n) / n + 1 end, { i })
  A[{ i, { i + 1, n } }] = 0
  A[{ i, i }] = 1
end
A["..."] = A:dot(np.transpose(A))

A["..."] = np.linalg.cholesky(A) + np.triu(A, 1)

print(("sum       %.12g"):format(A:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(A)()))
