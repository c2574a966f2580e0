-- Least squares by an orthogonal decomposition.
--
--   lgt examples/qr.lua [m] [n]
local np = require "array"

local m, n = tonumber(arg[1]) or 1000, tonumber(arg[2]) or 500

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end
local A = spread(m, n) + 2 * np.eye(m, n)
local Q, R = np.linalg.qr(A)
local b = np.cos(np.arange(m))
local x = np.linalg.solve(R, Q.T:dot(b))

print(("diagonal  %.12g"):format(np.abs(np.diag(R)):sum()()))
print(("residual  %.12g"):format(np.linalg.norm(b - A:dot(x))()))
print(("correct   %s"):format(tostring(np.allclose(Q:dot(R), A))))
