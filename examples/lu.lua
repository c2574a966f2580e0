-- The triangular factors of a matrix in its place, each step an outer product.
--
--   lgt examples/lu.lua [n]
local np = require "array"

local n = tonumber(arg[1]) or 500

local i = np.arange(n)
local M = np.tril(-(i % n) / n + 1 + 0 * i[":, *"]) + np.eye(n)
local A = M:dot(M.T)

for k = 1, n - 1 do
  local rest = { k + 1, n }
  A[{ rest, k }] = A[{ rest, k }] / A[{ k, k }]
  A[{ rest, rest }]:isub(np.outer(A[{ rest, k }], A[{ k, rest }]))
end

print(("sum       %.12g"):format(A:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(A)()))
