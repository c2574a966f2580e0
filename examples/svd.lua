-- The best approximation of a matrix by one of low rank.
--
--   lgt examples/svd.lua [m] [n] [rank]
local np = require "array"

local m, n, rank = tonumber(arg[1]) or 600, tonumber(arg[2]) or 400, tonumber(arg[3]) or 20

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end
local A = spread(m, n) + np.outer(np.arange(m), np.arange(n)) / (m * n)
local U, s, Vh = np.linalg.svd(A, { full_matrices = false })
local kept = { 1, rank }
local near = (U[{ {}, kept }] * s[{ kept }]):dot(Vh[{ kept, {} }])

print(("greatest  %.12g"):format(s(1)))
print(("sum       %.12g"):format(s:sum()()))
print(("distance  %.12g"):format(np.linalg.norm(A - near)()))
print(("correct   %s"):format(tostring(np.allclose((U * s):dot(Vh), A))))
