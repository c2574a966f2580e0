-- Results that were not stored, because in the turns before nobody held them, and are asked for after all.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"

local N = 1000

-- Runs turn() twice with its first result dropped, so that its plan counts on that; then the result is kept.
local function kept(turn)
  for _ = 1, 2 do
    local others = select(2, turn())
    check.that(others)
    collectgarbage()
    collectgarbage()
    lgt.fence()
  end
  local result, other = turn()
  lgt.fence()
  return result, other
end

check.case("memory that a later loop reuses, for a result from earlier in the program", function()
  local a = np.arange(N):astype("float64")
  lgt.fence()
  local result = kept(function()
    local doubled = a * 2
    local sum = np.sum(a)
    local scaled = a * sum
    local second = np.sum(scaled)
    local shifted = a + second
    local back = shifted["::-1"] + 1
    local result = doubled["::-1"] * 3
    local one_more = result + 1
    return result, { back, one_more }
  end)
  check.equal(result(10), (N - 10) * 2 * 3)
end)

local both = lgt.task { name = "both", args = { "out", "inout" }, generator = function(_, x) return x + 1, x * 2 end }

check.case("a task that overwrites what its other result is computed from", function()
  for _, part in ipairs { "1:1000", "..." } do
    local all = np.arange(2 * N):astype("float64")
    local x = all[part]
    local result = kept(function()
      local result = np.empty(x.shape)
      both(result, x)
      return result, x
    end)
    check.equal(result(8), 7 * 4 + 1)
    check.equal(x(8), 7 * 8)
  end
end)

local two = lgt.task { name = "two", args = { "out", "out", "in" }, generator = function(_, z) return z + 1, z * 2 end }

check.case("one of two results is a part of an array, of which the other part is read", function()
  local all, z = np.arange(2 * N):astype("float64") + 5000, np.arange(N):astype("float64")
  local product = kept(function()
    local result = np.empty(N)
    two(result, all["1:1000"], z)
    local product = all["1001:2000"] * result
    return product, { product + 1 }
  end)
  check.equal(product(600), (5000 + 1599) * 600)
end)

local increment = lgt.task { name = "increment", args = { "inout" }, generator = function(_, x) return x + 1 end }

check.case("one of two results is changed before the other meets it", function()
  local z = np.arange(N):astype("float64")
  local product = kept(function()
    local result, x = np.empty(N), np.empty(N)
    two(result, x, z)
    increment(x)
    local product = x * result
    return product, { product + 1, x }
  end)
  check.equal(product(10), (9 * 2 + 1) * 10)
end)

check.done()
