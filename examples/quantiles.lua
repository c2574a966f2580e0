-- Medians and other quantiles of a vector and of the axes of a matrix.
--
--   lgt examples/quantiles.lua [n] [side]
local np = require "array"

local n, side = tonumber(arg[1]) or 1000000, tonumber(arg[2]) or 1000

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end
local x, m = spread(n), spread(side, side)

print(("median    %.12g"):format(np.median(x)()))
for _, method in ipairs { "linear", "lower", "nearest", "hazen", "weibull" } do
  local q = np.quantile(x, { 0.01, 0.25, 0.9 }, nil, { method = method })
  print(("%-9s %.12g %.12g %.12g"):format(method, q(1), q(2), q(3)))
end
print(("rows      %.12g"):format(np.percentile(m, 30, 2):sum()()))
print(("columns   %.12g"):format(np.percentile(m, 30, 1):sum()()))
