-- A system of equations by triangular factors, each step an outer product.
--
--   lgt tests/programs/ludcmp.lua [n]
local np = require "array"

local n = tonumber(arg[1]) or 60

local A = np.empty(n, n)
for i = 1, n do
  A[{ i, { 1, i } }] = np.fromfunction(function(j) return (-j % n) / n + 1 end, { i })
  A[{ i, { i + 1, n } }] = 0
  A[{ i, i }] = 1
end
A["..."] = A:dot(np.transpose(A))
local b = np.fromfunction(function(i) return (i + 1) / n / 2 + 4 end, { n })

local function kernel()
  local x = np.zeros_like(b)
  local y = np.zeros_like(b)
  for k = 1, n - 1 do
    local rest = { k + 1, n }
    A[{ rest, k }] = A[{ rest, k }] / A[{ k, k }]
    A[{ rest, rest }]:isub(np.outer(A[{ rest, k }], A[{ k, rest }]))
  end
  for i = 1, n do
    y[i] = b[i] - A[{ i, { 1, i - 1 } }]:dot(y[{ { 1, i - 1 } }])
  end
  for i = n, 1, -1 do
    x[i] = (y[i] - A[{ i, { i + 1, n } }]:dot(x[{ { i + 1, n } }])) / A[{ i, i }]
  end
  return x, y
end
local x, y = kernel()

print(("sum       %.12g"):format(x:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(x)()))
print(("norm      %.12g"):format(np.linalg.norm(y)()))
