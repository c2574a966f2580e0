-- Heat in a plane by alternating directions: each half step solves tridiagonal systems of all rows at once.
--
--   lgt examples/adi.lua [n] [steps]
local np = require "array"

local n, steps = tonumber(arg[1]) or 200, tonumber(arg[2]) or 50

local i, j = np.arange(n)[":, *"], np.arange(n)
local u = (i + n - j) / n
local v, p, q = np.zeros(n, n), np.zeros(n, n), np.zeros(n, n)
local a, d = -n * n / steps, -n * n / steps / 2
local b, c, e, f = 1 - 2 * a, a, 1 - 2 * d, d
local inner = { 2, n - 1 }

for _ = 1, steps do
  v[{ 1, inner }] = 1
  p[{ inner, 1 }] = 0
  q[{ inner, 1 }] = v[{ 1, inner }]
  for k = 2, n - 1 do -- columns
    local below = a * p[{ inner, k - 1 }] + b
    p[{ inner, k }] = -c / below
    q[{ inner, k }] = (-d * u[{ k, { 1, n - 2 } }] + (1 + 2 * d) * u[{ k, inner }] - f * u[{ k, { 3, n } }] -
      a * q[{ inner, k - 1 }]) / below
  end
  v[{ n, inner }] = 1
  for k = n - 1, 2, -1 do v[{ k, inner }] = p[{ inner, k }] * v[{ k + 1, inner }] + q[{ inner, k }] end
  u[{ inner, 1 }] = 1
  p[{ inner, 1 }] = 0
  q[{ inner, 1 }] = u[{ inner, 1 }]
  for k = 2, n - 1 do -- rows
    local below = d * p[{ inner, k - 1 }] + e
    p[{ inner, k }] = -f / below
    q[{ inner, k }] = (-a * v[{ { 1, n - 2 }, k }] + (1 + 2 * a) * v[{ inner, k }] - c * v[{ { 3, n }, k }] -
      d * q[{ inner, k - 1 }]) / below
  end
  u[{ inner, n }] = 1
  for k = n - 1, 2, -1 do u[{ inner, k }] = p[{ inner, k }] * u[{ inner, k + 1 }] + q[{ inner, k }] end
end

print(("sum       %.12g"):format(u:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(u)()))
