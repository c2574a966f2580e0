-- Columns made orthogonal, one after the other.
--
--   lgt examples/gramschmidt.lua [m] [n]
local np = require "array"

local m, n = tonumber(arg[1]) or 240, tonumber(arg[2]) or 200

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end
local A = spread(m, n) + 2 * np.eye(m, n)
local Q, R = np.zeros(m, n), np.zeros(n, n)
for k = 1, n do
  local rest = { k + 1, n }
  R[{ k, k }] = np.sqrt(A[{ {}, k }]:dot(A[{ {}, k }]))
  Q[{ {}, k }] = A[{ {}, k }] / R[{ k, k }]
  R[{ k, rest }] = Q[{ {}, k }]:dot(A[{ {}, rest }])
  A[{ {}, rest }]:isub(np.outer(Q[{ {}, k }], R[{ k, rest }]))
end

print(("sum       %.12g"):format(Q:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(Q)()))
print(("sum       %.12g"):format(R:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(R)()))
