-- Running sums, products and maxima of a vector and along the axes of a matrix.
--
--   lgt examples/scan.lua [n] [side]
local np = require "array"

local n, side = tonumber(arg[1]) or 1000000, tonumber(arg[2]) or 1000

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end
local x, m = spread(n), spread(side, side)
local results = {
  { "sums", np.cumsum(x) },
  { "products", np.cumprod(1 + x / n) },
  { "maxima", np.maximum.accumulate(x) },
  { "rows", np.cumsum(m, 2) },
  { "columns", np.cumsum(m, 1) },
  { "whole", np.cumsum(np.arange(n)) / n },
  { "no nan", np.nancumsum(np.where(x:gt(0), x, np.nan)) },
}
for _, result in ipairs(results) do
  print(("%-9s %.12g %.12g"):format(result[1], result[2]:mean()(), result[2]:max()()))
end
