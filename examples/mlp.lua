-- A network of three layers: products, rectifiers, and shares at the end.
--
--   lgt examples/mlp.lua [batch] [inputs] [...] [...] [...]
local np = require "array"

local batch, inputs = tonumber(arg[1]) or 64, tonumber(arg[2]) or 1000
local widths = { inputs, tonumber(arg[3]) or 3000, tonumber(arg[4]) or 1000, tonumber(arg[5]) or 500 }

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end

local x = spread(batch, inputs)
for layer = 1, 3 do
  x = x:dot(spread(widths[layer], widths[layer + 1])) + spread(widths[layer + 1])
  if layer < 3 then x = np.maximum(x, 0) end
end
local e = np.exp(x - np.max(x, -1, { keepdims = true }))
local shares = e / np.sum(e, -1, { keepdims = true })

print(("sum       %.12g"):format(shares:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(shares)()))
print(("first     %.12g"):format(shares(1, 1)))
