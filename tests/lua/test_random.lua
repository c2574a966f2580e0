-- Random numbers: what they depend on, and how they are distributed.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"
local random = np.random

check.case("the seed decides", function()
  random.seed(42)
  local a, b = random.rand(5), random.rand(5)
  random.seed(42)
  check.that(np.array_equal(a, random.rand(5)) and np.array_equal(b, random.rand(5)))
  check.that(not np.array_equal(a, b))
  random.seed(43)
  check.that(not np.array_equal(a, random.rand(5)))
end)

-- Philox 4x32-10 with counter (n, 0, 0, 0) and key (7, 0): first two words, from the reference implementation.
check.case("known bits", function()
  random.seed(0)
  local x = random.rand(1)(1)
  -- word0 = 0x6627e8d5, word1 = 0xe169c58d for counter 0 and key 0
  check.equal(x, math.floor((0xe169c58d * 2 ^ 32 + 0x6627e8d5) / 2 ^ 11) * 2 ^ -53)
end)

check.case("the shape of the work does not matter", function()
  random.seed(1)
  local whole = random.rand(60, 70)
  random.seed(1)
  local flat = random.rand(4200)
  check.that(np.array_equal(whole:ravel(), flat))
  lgt.options { fusion = false }
  random.seed(1)
  local unfused = random.rand(60, 70) * 2 + 1
  lgt.options { fusion = true }
  check.that(np.array_equal(unfused, whole * 2 + 1))
end)

local n = 200000

check.case("uniform", function()
  random.seed(5)
  local x = random.rand(n)
  check.that(x:min() >= 0 and x:max() < 1)
  check.close(x:mean()(), 0.5, 0.004)
  check.close(x:var()(), 1 / 12, 0.001)
  local y = random.uniform(-3, 5, n)
  check.that(y:min() >= -3 and y:max() < 5)
  check.close(y:mean()(), 1, 0.03)
  -- neighbours do not depend on each other
  local d = (x[":-2"] - 0.5) * (x["2:"] - 0.5)
  check.close(d:mean()(), 0, 0.001)
end)

check.case("normal", function()
  random.seed(6)
  local x = random.randn(n)
  check.close(x:mean()(), 0, 0.01)
  check.close(x:std()(), 1, 0.01)
  check.close((x ^ 4):mean()(), 3, 0.1)
  check.close(random.normal(10, 2, n):mean()(), 10, 0.03)
  check.that(np.all(np.isfinite(x)))
end)

check.case("integers", function()
  random.seed(7)
  local x = random.randint(3, 9, n)
  check.equal(x.dtype, "int64")
  check.equal(x:min()(), 3)
  check.equal(x:max()(), 8)
  for k = 3, 8 do check.close(np.count_nonzero(x:eq(k)) / n, 1 / 6, 0.005) end
  check.equal(random.randint(10, { 4, 5 }).ndim, 2)
  check.refuses("low < high", function() random.randint(5, 5, 3) end)
end)

check.case("permutations", function()
  random.seed(8)
  local p = random.permutation(1000)
  local seen = np.zeros(1000)
  seen[p] = 1
  check.equal(seen:sum()(), 1000)
  check.that(not np.array_equal(p, np.span(1, 1000)))
  local rows = random.permutation(np.arange(20):reshape(10, 2))
  check.equal(rows:sum()(), 190)
  check.equal(random.permutation(0).size, 0)
end)

check.case("other types and shapes", function()
  local x = random.rand(3, 4, { dtype = "float32" })
  check.equal(x.dtype, "float32")
  check.equal(tostring(random.rand().shape), "{}")
  check.equal(tostring(random.randn({ 2, 3 }).shape), "{2, 3}")
  check.refuses("an integer was expected", function() random.seed(1.5) end)
end)

check.done()
