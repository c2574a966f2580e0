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

-- Orders that sorts which divide by pivots, or take a few elements at once, might get wrong or be slow at.
local patterns = {}
function patterns.equal(i) return i * 0 + 5 end
function patterns.ascending(i) return i end
function patterns.descending(i) return -i end
function patterns.organ_pipe(i) return np.minimum(i, #i - i) end
function patterns.saw(i) return i % 97 end
function patterns.two(i) return i * 7919 % 2 end
function patterns.interleaved(i) return np.where((i % 2):eq(0), i, -i) end -- medians of few elements are bad pivots
function patterns.mostly_greatest(i) return np.where((i % 3):eq(0), i * 7919 % 1009 - 500, 2 ^ 31 - 1) end
function patterns.mostly_least(i) return np.where((i % 5):eq(0), i * 7919 % 1009 - 500, -2 ^ 31) end
function patterns.bits(i) return i * 2654435761 % 4294967291 - 2147483648 end

-- Numbers as integers in their order, in which -0 comes before 0, and every NaN is the last; fractions have 53 bits.
local function keys_of(x)
  if not np.issubdtype(x.dtype, "floating") then return x end
  x = np.astype(x, "float64")
  local minus_zero = np.logical_and(np.equal(x, 0), np.signbit(x))
  local scale = np.where(np.less(np.abs(x), 1), 2 ^ 53, 1)
  local keys = np.astype(np.where(np.isfinite(x), x, 0) * scale, "int64") * 2 - np.astype(minus_zero, "int64")
  return np.where(np.isnan(x), 2 ^ 62, np.where(np.isneginf(x), -2 ^ 62, np.astype(keys, "float64")))
end

local function check_all(x)
  local keys, sorted = keys_of(x), keys_of(np.sort(x))
  assert(all(np.less_equal(sorted["1:-2"], sorted["2:-1"])), "does not ascend")
  local function sum(k) -- wrapped, of what mixes the bits
    k = np.astype(k, "int64")
    return np.sum(k * k * 7 + k)
  end
  assert(all(np.equal(sum(keys), sum(sorted))), "other elements")
end

for _, dtype in ipairs { "float64", "float32", "int64", "int32", "uint64", "uint32" } do
  check.case("all orders of " .. dtype, function()
    for _, n in ipairs { 2, 7, 31, 40, 41, 64, 65, 127, 128, 129, 255, 257, 513, 1025, 4099, 140001 } do
      for name, pattern in pairs(patterns) do
        local x = np.astype(pattern(np.arange(n, { dtype = "int64" })), dtype)
        local ok, message = pcall(check_all, x)
        assert(ok, ("%s, %d elements: %s"):format(name, n, message))
      end
      if dtype:find("float") then
        local x = np.astype(np.random.rand(n) - 0.5, dtype)
        x["::2"], x["::3"], x["::5"], x["::7"], x["::11"] = 0, -0.0, np.nan, -np.nan, -np.inf
        check_all(x)
        check_all(x["::-2"])
        check_all(np.broadcast_to(x, { 3, n })[2])
      end
    end
  end)
end

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
