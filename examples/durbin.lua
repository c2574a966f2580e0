-- Levinson and Durbin: a Toeplitz system, one unknown more in each step.
--
--   lgt examples/durbin.lua [n]
local np = require "array"

local n = tonumber(arg[1]) or 1000

local r = n + 1 - np.arange(n)
local y = np.zeros(n)
local alpha, beta = -r[1], 1
y[1] = alpha
for k = 2, n do
  local known = { { 1, k - 1 } }
  local past = y[known]
  beta = beta * (1 - alpha * alpha)
  alpha = -(r[k] + np.flip(r[known]):dot(past)) / beta
  y[known] = past + alpha * np.flip(past)
  y[k] = alpha
end

print(("sum       %.12g"):format(y:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(y)()))
