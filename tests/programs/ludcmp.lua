-- A system of equations by triangular factors, element by element.
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
  for i = 1, n do
    for j = 1, i - 1 do
      A[{ i, j }] = A[{ i, j }] - A[{ i, { 1, j - 1 } }]:dot(A[{ { 1, j - 1 }, j }])
      A[{ i, j }] = A[{ i, j }] / A[{ j, j }]
    end
    for j = i, n do
      A[{ i, j }] = A[{ i, j }] - A[{ i, { 1, i - 1 } }]:dot(A[{ { 1, i - 1 }, j }])
    end
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
