-- Sorts: of a vector, of the rows and of the columns of a matrix; the order, and what is unique.
--
--   lgt examples/sort.lua [n] [side]
local np = require "array"

local n, side = tonumber(arg[1]) or 1000000, tonumber(arg[2]) or 1000

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end
local x, m = spread(n), spread(side, side)
local sorted, order = np.sort(x), np.argsort(x)
local weights = np.arange(n)
local rows, columns = np.sort(m, 2), np.sort(m, 1)
local whole = np.floor(x * 100)

print(("order     %s"):format(tostring(np.array_equal(x[order], sorted))))
print(("weighted  %.12g"):format((sorted * weights):mean()()))
print(("rows      %.12g"):format((rows * np.arange(side)):mean()()))
print(("columns   %.12g"):format((columns * np.arange(side)):mean()()))
print(("unique    %d"):format(np.unique(whole).size))
