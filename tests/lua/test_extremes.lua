-- min, max and their positions beside plain loops in Lua: where equal elements, NaN, both zeros and infinities lie, and
-- lengths around those at which kernels take another path.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np, lgt = require "array", require "lgt"

local inf, nan = 1 / 0, 0 / 0

-- What NumPy says: the first NaN wins, then the first of the best.  Equal zeros may have either sign as a value.
local function expected(values, better)
  local at = 1
  for i, v in ipairs(values) do
    local best = values[at]
    if best ~= best then break end
    if v ~= v or better(v, best) then at = i end
  end
  return values[at], at
end

local function same(a, b) return a == b or (a ~= a and b ~= b) end

local kinds = {
  ascending = function(i) return i end,
  descending = function(i, n) return n - i end,
  equal = function() return 7 end,
  ties = function(i) return i * 7919 % 5 end,
  zeros = function(i) return i % 3 == 0 and -0.0 or 0.0 end,
  scattered = function(i) return i * 104729 % 1009 end,
}
local floats = {
  first_nan = function(i) return i == 1 and nan or i * 7919 % 101 end,
  last_nan = function(i, n) return i == n and nan or i * 7919 % 101 end,
  some_nan = function(i) return i % 97 == 90 and nan or i * 7919 % 101 end,
  infinite = function() return inf end,
  lowest = function() return -inf end,
}

local function compare(values, dtype, kind)
  local x = np.array(values, { dtype = dtype })
  local backwards = {}
  for i = #values, 1, -1 do backwards[#backwards + 1] = values[i] end
  for _, side in ipairs { { x, values }, { x["::-1"], backwards } } do
    local view, plain = side[1], side[2]
    local greatest, last = expected(plain, function(a, b) return a > b end)
    local least, first = expected(plain, function(a, b) return a < b end)
    for name, wanted in pairs { max = greatest, argmax = last, min = least, argmin = first } do
      local value = tonumber(np[name](view):item()) -- one at a time: together they are another kernel
      if not same(value, wanted) then
        error(("%s of %d %s, %s: %s, not %s"):format(name, #plain, dtype, kind, value, wanted))
      end
    end
  end
end

check.case("extremes", function()
  for _, dtype in ipairs { "float64", "float32", "int32", "int64" } do
    for _, n in ipairs { 1, 15, 16, 17, 63, 64, 65, 200, 4096, 9000 } do
      for _, set in ipairs { kinds, dtype:find "float" and floats or nil } do
        for kind, value in pairs(set) do
          local values = {}
          for i = 1, n do values[i] = value(i, n) end
          compare(values, dtype, kind)
        end
      end
    end
  end
end)

-- Each column and each row on its own, with chunks of columns of any width.
check.case("axes", function()
  for _, shape in ipairs { { 50, 700 }, { 700, 50 }, { 3, 1025 } } do
    local rows, cols = shape[1], shape[2]
    local x = np.arange(rows * cols):astype("float64") * 7919 % 1009
    x = x:reshape(rows, cols)
    x[{ 2, 3 }] = nan
    local sums, best, at = np.sum(x, 1), np.max(x, 1), np.argmax(x, 2)
    for j = 1, cols, 13 do
      local column, sum = {}, 0
      for i = 1, rows do
        column[i] = x[{ i, j }]:item()
        sum = sum + column[i]
      end
      assert(same(sums[j]:item(), sum))
      assert(same(best[j]:item(), (expected(column, function(a, b) return a > b end))))
    end
    for i = 1, rows, 11 do
      local row = {}
      for j = 1, cols do row[j] = x[{ i, j }]:item() end
      local _, wanted = expected(row, function(a, b) return a > b end)
      assert(tonumber(at[i]:item()) == wanted)
    end
  end
end)

-- A function that is called for many elements at a time makes phases; what makes the index is needed in two of them.
check.case("the place of the least beside functions of places", function()
  local failed = lgt.stats().kernels_failed
  local x, place = np.round(np.sin(np.arange(5000)) * 50), np.arange(5000) * 3 + 1
  local size, mixed = np.abs(x), (place * 5 + 7) % (place + 2)
  local at = np.argmin(size)
  assert(size[1]:item() == 0 and tonumber(at:item()) == 1)
  assert(tonumber(mixed[2]:item()) == 3 and tonumber(mixed[5000]:item()) == 14997)
  assert(lgt.stats().kernels_failed == failed)
end)

check.done()
