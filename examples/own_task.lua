-- A task kind of one's own, with its generator in Lua:  lgt examples/own_task.lua [elements]
--
-- The generator runs once, on symbolic values; what it records becomes part of whatever kernel its
-- launches fuse into.  Here: how far points lie from a line, and how many lie close.
local lgt = require "lgt"
local np = require "array"

local n = tonumber(arg[1]) or 1000000

local distance = lgt.task {
  name = "distance_to_line",               -- a x + b y = c
  args = { "in", "in", "out", "sum" },     -- arrays: x, y; their distances; how many are close is added
  params = 4,                              -- numbers: a, b, c, what counts as close
  generator = function(_, x, y, a, b, c, close)
    local d = (a * x + b * y - c):abs() / (a * a + b * b):sqrt()
    return d, d:lt(close):cast("float64")
  end,
}

-- Well-spread points of the unit square: the fractional parts of the multiples of two irrational numbers.
local i = np.arange(n)
local x, y = i * 0.8191725133961645 % 1, i * 0.6710436067037893 % 1
local d, count = np.empty(n), np.zeros()
distance(x, y, d, count, 1, 1, 1, 0.1)

print(("points    %d"):format(n))
print(("close     %d"):format(count()))
print(("mean      %.12g"):format(d:mean():item()))
print(("farthest  %.12g"):format(d:max():item()))
