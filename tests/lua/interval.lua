-- interval.lua - a library by a stranger: arrays of intervals, on the public interface alone.
--
-- An interval array is two arrays of float64, the lower and the upper bounds.  The library knows nothing of
-- the array library; both find each other in the runtime, where their operations fuse.
local lgt = require "lgt"

local interval = {}
local meta = { __index = interval }

-- An interval array over two arrays of one shape.
function interval.new(lo, hi) return setmetatable({ lo = lo, hi = hi }, meta) end

-- Results have the layout of the first operand.
local function result(of)
  local layout = lgt.like(lgt.layout(of.lo))
  return interval.new(lgt.new(layout), lgt.new(layout))
end

-- An operation on intervals: f(lo, hi, ...) returns the bounds of the result.
local function operation(name, operands, f)
  local args = {}
  for i = 1, 2 * operands do args[i] = "in" end
  args[#args + 1], args[#args + 2] = "out", "out"
  local task = lgt.task { name = "interval." .. name, args = args, generator = function(_, ...) return f(...) end }
  return function(a, b)
    local r = result(a)
    if operands == 1 then
      task(a.lo, a.hi, r.lo, r.hi)
    else
      task(a.lo, a.hi, b.lo, b.hi, r.lo, r.hi)
    end
    return r
  end
end

meta.__add = operation("add", 2, function(alo, ahi, blo, bhi) return alo + blo, ahi + bhi end)
meta.__sub = operation("sub", 2, function(alo, ahi, blo, bhi) return alo - bhi, ahi - blo end)
meta.__unm = operation("neg", 1, function(lo, hi) return -hi, -lo end)

meta.__mul = operation("mul", 2, function(alo, ahi, blo, bhi)
  local a, b, c, d = alo * blo, alo * bhi, ahi * blo, ahi * bhi
  return a:min(b):min(c:min(d)), a:max(b):max(c:max(d))
end)

interval.sqrt = operation("sqrt", 1, function(lo, hi) return lo:max(0):sqrt(), hi:sqrt() end)

interval.square = operation("square", 1, function(lo, hi)
  local a, b = lo * lo, hi * hi
  local straddles = lo:lt(0):logical_and(hi:gt(0))
  return straddles:select(0, a:min(b)), a:max(b)
end)

-- The smallest interval that contains both.
interval.hull = operation("hull", 2, function(alo, ahi, blo, bhi) return alo:min(blo), ahi:max(bhi) end)

-- How wide each interval is; what the widest one measures, as a 0-d array.
local measure = lgt.task {
  name = "interval.widest", args = { "in", "in", "fresh max" }, generator = function(_, lo, hi) return hi - lo end,
}

function interval.widest(a)
  local widest = lgt.new(lgt.dense(lgt.dtypes.FLOAT64, {}))
  measure(a.lo, a.hi, widest)
  return widest
end

return interval
