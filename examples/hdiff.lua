-- Horizontal diffusion in a model of the weather, with a limiter.
--
--   lgt examples/hdiff.lua [ni] [nj] [nk]
local np = require "array"

local ni, nj, nk = tonumber(arg[1]) or 128, tonumber(arg[2]) or 128, tonumber(arg[3]) or 80

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end
local x, coefficient = spread(ni + 4, nj + 4, nk), spread(ni, nj, nk)
local laplace = 4 * x[{ { 2, ni + 3 }, { 2, nj + 3 }, {} }] - (x[{ { 3, ni + 4 }, { 2, nj + 3 }, {} }] +
  x[{ { 1, ni + 2 }, { 2, nj + 3 }, {} }] + x[{ { 2, ni + 3 }, { 3, nj + 4 }, {} }] +
  x[{ { 2, ni + 3 }, { 1, nj + 2 }, {} }])
local step = laplace["2:, 2:-2, :"] - laplace[":-2, 2:-2, :"]
local along = np.where((step * (x[{ { 3, ni + 3 }, { 3, nj + 2 }, {} }] -
  x[{ { 2, ni + 2 }, { 3, nj + 2 }, {} }])):gt(0), 0, step)
step = laplace["2:-2, 2:, :"] - laplace["2:-2, :-2, :"]
local across = np.where((step * (x[{ { 3, ni + 2 }, { 3, nj + 3 }, {} }] -
  x[{ { 3, ni + 2 }, { 2, nj + 2 }, {} }])):gt(0), 0, step)
local out = x[{ { 3, ni + 2 }, { 3, nj + 2 }, {} }] - coefficient * (along["2:, :, :"] - along[":-2, :, :"] +
  across[":, 2:, :"] - across[":, :-2, :"])

print(("sum       %.12g"):format(out:ravel():sum()()))
print(("norm      %.12g"):format(np.linalg.norm(out:ravel())()))
