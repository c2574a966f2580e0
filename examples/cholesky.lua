-- The triangular L with L L transposed = A, column by column.
--
--   lgt examples/cholesky.lua [n]
local np = require "array"

local n = tonumber(arg[1]) or 500

local i = np.arange(n)
local M = np.tril(-(i % n) / n + 1 + 0 * i[":, *"]) + np.eye(n)
local A = M:dot(M.T)

for j = 1, n do
  local row = A[{ j, { 1, j - 1 } }]
  A[{ { j, n }, j }] = A[{ { j, n }, j }] - A[{ { j, n }, { 1, j - 1 } }]:dot(row)
  A[{ { j, n }, j }] = A[{ { j, n }, j }] / np.sqrt(A[{ j, j }])
end
local L = np.tril(A)

print(("sum       %.12g"):format(L:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(L)()))
