-- Linear regression by descending along the gradient.
--
--   lgt examples/linreg.lua [n] [features] [steps]
local np = require "array"

local n, features, steps = tonumber(arg[1]) or 100000, tonumber(arg[2]) or 32, tonumber(arg[3]) or 100

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end
local x = spread(n, features)
local y = x:dot(np.arange(features) / features) + 0.1 * np.sin(np.arange(n))
local w = np.zeros(features)
for _ = 1, steps do
  local wrong = x:dot(w) - y
  w = w - 2 / n * wrong:dot(x)
end
local wrong = x:dot(w) - y

print(("error     %.12g"):format(wrong:dot(wrong)() / n))
print(("sum       %.12g"):format(w:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(w)()))
