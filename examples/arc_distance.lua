-- Distances between points on a sphere.
--
--   lgt examples/arc_distance.lua [n]
local np = require "array"

local n = tonumber(arg[1]) or 1000000

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end
local theta1, phi1, theta2, phi2 = spread(n), 2 * spread(n), np.flip(spread(n)), np.sin(spread(n))
local a = np.sin((theta2 - theta1) / 2) ^ 2 + np.cos(theta1) * np.cos(theta2) * np.sin((phi2 - phi1) / 2) ^ 2
local distance = 2 * np.arctan2(np.sqrt(a), np.sqrt(1 - a))

print(("sum       %.12g"):format(distance:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(distance)()))
