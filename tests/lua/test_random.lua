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

-- The same numbers, asked for by places and by names.
check.case("names", function()
  local function same(first, second)
    random.seed(11)
    local a = first()
    random.seed(11)
    check.that(np.array_equal(a, second()))
  end
  same(function() return random.rand(2, 3) end, function() return random.random({ size = { 2, 3 } }) end)
  same(function() return random.rand({ 2, 3 }, "f4") end,
    function() return random.rand({ size = { 2, 3 }, dtype = "f4" }) end)
  same(function() return random.normal(3, 2, 5) end,
    function() return random.normal({ loc = 3, scale = 2, size = 5 }) end)
  same(function() return random.normal(3, 2, 5) end,
    function() return random.normal(3, { scale = 2, size = { 5 } }) end)
  same(function() return random.uniform(0, 1, 2, 2) end, function() return random.uniform({ size = { 2, 2 } }) end)
  same(function() return random.poisson(3, 5) end, function() return random.poisson({ lam = 3, size = 5 }) end)
  same(function() return random.gamma(2, 1, 5) end, function() return random.gamma({ shape = 2, size = 5 }) end)
  same(function() return random.randint(2, 9, 5) end, function() return random.randint(2, 9, { size = 5 }) end)
  same(function() return random.randint(9, { 5 }) end, function() return random.randint(9, { size = 5 }) end)
  same(function() return random.randint(2, 9, 5) end,
    function() return random.randint({ low = 2, high = 9, size = 5 }) end)
  same(function() return random.integers(1, 7, 5) end,
    function() return random.integers(1, 6, { size = 5, endpoint = true }) end)
  same(function() return random.choice(9, 5) end, function() return random.choice(9, { size = 5 }) end)
  same(function() return random.multinomial(5, { 0.5, 0.5 }, 3) end,
    function() return random.multinomial(5, { 0.5, 0.5 }, { size = 3 }) end)
  check.equal(random.uniform(np.zeros(4), 1, { dtype = "f4" }).shape[1], 4)
  check.equal(random.randint(3, { dtype = "int8" }).ndim, 0)
  local one, other = random.default_rng(5), random.Generator(random.Philox({ seed = 5 }))
  check.that(np.array_equal(one:normal({ size = 3 }), other:normal(0, 1, 3)))
  check.refuses("given twice", function() random.rand(3, { size = 3 }) end)
  check.refuses("unknown option loc; it takes", function() random.normal(1, { loc = 2 }) end)
  check.refuses("unknown option mean; it takes", function() random.normal({ mean = 2 }) end)
  check.refuses("low < high", function() random.randint({ size = 3 }) end)
  check.refuses("neither is given", function() random.randint() end)
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
  check.equal(random.permutation(1):totable(), { 1 })
end)

-- How many ascents, fixed points and cycles permutations have, and how many are even: as all n! orders have them.  From
-- 1025 on (4096 is 64 * 64) they are not put in order by exchanges.
check.case("all orders are equally likely", function()
  random.seed(11)
  local draws = 300
  for _, size in ipairs { 5, 1000, 1025, 3001, 4096 } do
    local ascents, fixed, cycles, even, first = 0, 0, 0, 0, 0
    for _ = 1, draws do
      local p, seen, found = random.permutation(size):totable(), {}, 0
      for i = 1, size do
        if p[i] < (p[i + 1] or 0) then ascents = ascents + 1 end
        if p[i] == i then fixed = fixed + 1 end
        if not seen[i] then
          found = found + 1
          while not seen[i] do seen[i], i = true, p[i] end
        end
      end
      cycles, even, first = cycles + found, even + (size - found + 1) % 2, first + p[1]
    end
    local harmonic, squares = 0, 0
    for i = 1, size do harmonic, squares = harmonic + 1 / i, squares + 1 / i ^ 2 end
    local function close(what, sum, mean, variance)
      local z = (sum - draws * mean) / math.sqrt(draws * variance)
      check.that(math.abs(z) < 4, ("%s of %d: %g deviations"):format(what, size, z))
    end
    close("ascents", ascents, (size - 1) / 2, (size + 1) / 12)
    close("fixed points", fixed, 1, 1)
    close("cycles", cycles, harmonic, harmonic - squares)
    close("even ones", even, 0.5, 0.25)
    close("the first", first, (size + 1) / 2, (size * size - 1) / 12)
  end
end)

check.case("other types and shapes", function()
  local x = random.rand(3, 4, { dtype = "float32" })
  check.equal(x.dtype, "float32")
  check.equal(tostring(random.rand().shape), "{}")
  check.equal(tostring(random.randn({ 2, 3 }).shape), "{2, 3}")
  check.refuses("an integer was expected", function() random.seed(1.5) end)
end)

check.case("state", function()
  random.seed(3)
  random.rand(7)
  local saved = random.get_state()
  local a = random.rand(5)
  random.set_state(saved)
  check.that(np.array_equal(a, random.rand(5)))
  local rng = random.default_rng(9)
  local before = random.get_state()
  local x = rng:normal(0, 1, 4)
  check.equal(random.get_state().counter, before.counter)
  check.that(np.array_equal(x, random.default_rng(9):normal(0, 1, 4)))
  check.that(not np.array_equal(x, rng:normal(0, 1, 4)))
  check.refuses("get_state", function() random.set_state(5) end)
end)

check.case("choices", function()
  random.seed(4)
  local x = random.choice(10, 10, { replace = false })
  check.equal(np.sort(x):totable(), { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 })
  check.equal(random.choice(np.array { 5, 5, 5 }, 4):totable(), { 5, 5, 5, 5 })
  check.that(np.all(random.choice(3, 100, { p = { 0, 1, 0 } }):eq(2)))
  local y = random.choice(4, 2, { replace = false, p = { 0.5, 0, 0.5, 0 } })
  check.equal(np.sort(y):totable(), { 1, 3 })
  check.equal(tostring(random.choice(9, { 2, 3 }).shape), "{2, 3}")
  check.refuses("without replacement", function() random.choice(3, 4, { replace = false }) end)
  check.refuses("1 probability for 3 choices", function() random.choice(3, 4, { p = { 1 } }) end)
  for _, replace in ipairs { true, false } do
    local function choose(p) return random.choice(3, 2, { p = p, replace = replace })(1) end
    check.refuses("sum to 0.8, not to 1", function() return choose { 0.5, 0.2, 0.1 }, 1 end)
    check.refuses("a probability of -0.2", function() return choose { 0.5, 0.7, -0.2 }, 1 end)
    check.refuses("a probability of nan", function() return choose { 0.5, 0 / 0, 0.5 }, 1 end)
    check.that(choose { 0.5, 0.5, 1e-10 } > 0)
    check.that(choose(np.array({ 0.1, 0.2, 0.7 }, "float32")) > 0)
  end
  check.refuses("sum to 1.1, more than 1", function() random.multinomial(3, { 0.5, 0.6, 0 }) end)
  check.refuses("a chance of -1", function() random.multinomial(3, { -1, 1, 1 }) end)
  local a = np.arange(20)
  random.shuffle(a)
  check.equal(np.sort(a):totable(), np.arange(20):totable())
  local m = random.permuted(np.arange(12):reshape(3, 4), 2)
  check.equal(np.sort(m, 2):totable(), np.arange(12):reshape(3, 4):totable())
  m = random.permuted(np.arange(12):reshape(3, 4), { axis = 1 })
  check.equal(np.sort(m, 1):totable(), np.arange(12):reshape(3, 4):totable())
  check.refuses("unknown option axes; it takes axis", function() random.permuted(a, { axes = 1 }) end)
end)

check.case("parameters", function()
  random.seed(5)
  check.equal(tostring(random.normal(np.zeros(3, 1), np.ones(4)).shape), "{3, 4}")
  check.equal(random.poisson(np.array { 0, 1e3 }):dims(), 2)
  check.equal(random.gamma(2, 1, { dtype = "float32" }).dtype, "float32")
  check.equal(random.binomial(0, 0.5, 3):totable(), { 0, 0, 0 })
  check.equal(random.multinomial(7, { 0.5, 0.5 }, 9):sum(2):totable(), { 7, 7, 7, 7, 7, 7, 7, 7, 7 })
  check.close(random.dirichlet({ 1, 2 }, 3):sum()(), 3, 1e-12)
  check.that(np.all(np.isfinite(random.laplace(0, 1, 10000))))
  check.refuses("outside", function() random.poisson(-1, 3) end)
  check.refuses("missing", function() random.gamma() end)
  check.refuses("outside", function() random.binomial(3, 1.5, 2) end)
  check.refuses("left <= mode", function() random.triangular(3, 2, 1, 4) end)
  check.refuses("do not fit", function() random.normal(np.zeros(3), 1, 4, 5) end)
  check.refuses("a number or an array", function() random.gamma("a", 1, 3) end)
end)

check.case("zipf of any exponent ends", function()
  check.equal(np.random.zipf(2000, 3):totable(), { 1, 1, 1 })
  check.equal(np.random.zipf(math.huge, 3):totable(), { 1, 1, 1 })
  check.that(np.all(np.random.zipf(1 + 2 ^ -52, 3):ge(1)), "they are positive")
end)

check.done()
