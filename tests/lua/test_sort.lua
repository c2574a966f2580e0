-- Sorts of long vectors, which are cut into parts, against what a sorted order is.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"

local all = np.all

-- Vectors with many equal elements, NaN and both zeros.
local function sample(n, dtype)
  if not dtype:find("float") then return np.astype(np.random.randint(dtype:find("u") and 0 or -90, 90, n), dtype) end
  local x = np.astype((np.random.rand(n) - 0.5) * 100, dtype)
  x["::97"], x["100:700"], x["105:300"] = np.nan, 0, -0.0
  return x
end

local function check_order(x)
  local n = #x
  local sorted, order = np.sort(x), np.argsort(x)
  local seen = np.zeros(n, { dtype = "int8" })
  seen[order] = 1
  assert(all(seen:eq(1)), "not a permutation")
  local taken = np.take(x, order)
  local nan = np.isnan(taken)
  assert(all(np.logical_or(sorted:eq(taken), np.logical_and(np.isnan(sorted), nan))), "sort and argsort differ")
  local a, b = taken["1:-2"], taken["2:-1"]
  assert(all(np.logical_or(a:le(b), nan["2:-1"])), "does not ascend")
  local equal = np.logical_or(a:eq(b), nan["1:-2"])
  assert(all(np.logical_or(np.logical_not(equal), order["1:-2"]:lt(order["2:-1"]))), "is not stable")
end

for _, dtype in ipairs { "float64", "float32", "float16", "int64", "int8", "uint16" } do
  check.case("vectors of " .. dtype, function()
    for _, n in ipairs { 131072, 200003 } do check_order(sample(n, dtype)) end
  end)
end

check.case("views and matrices of one line", function()
  local x = sample(400000, "float64")
  check_order(x["::-2"])
  local line = np.reshape(sample(200000, "int64"), { 1, 200000, 1 })
  check.equal(np.sort(line, 2):dims(), 1, 200000, 1)
  assert(np.array_equal(np.sort(line, 2):ravel(), np.sort(line:ravel())))
end)

check.case("in order, in reverse, and all alike", function()
  local n = 150000
  local up = np.arange(n)
  for _, x in ipairs { up, np.flip(up), np.zeros(n), np.full(n, np.nan) } do check_order(x * 1.0) end
end)

check.case("positions of what is true", function()
  local n = 140000
  local x = np.random.rand(n)
  local last = np.zeros(n)
  last[n] = 1
  for _, mask in ipairs { x:gt(0.5), x:gt(2), x:ge(0), last:gt(0), x["::-1"]:lt(0.001) } do
    local p = np.flatnonzero(mask)
    local found = #p
    assert(found == np.sum(mask):item(), "not all are found")
    assert(all(mask[p]) and (found < 2 or all(p[":-2"]:lt(p["2:"]))), "other positions")
    assert(#x[mask] == found)
  end
end)

check.case("what occurs", function()
  local n = 150000
  local k = np.random.randint(0, 1000, n)
  local wanted = { return_index = true, return_inverse = true, return_counts = true }
  local values, first, inverse, counts = np.unique(k, wanted)
  check.equal(values:totable(), np.arange(1000):totable())
  assert(all(k[first]:eq(values)) and all(values[inverse]:eq(k)) and np.sum(counts):item() == n)
  local x = np.where(np.random.rand(n):lt(0.5), np.nan, 1.5)
  check.equal(#np.unique(x), 2)
end)

check.done()
