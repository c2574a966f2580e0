-- array/random.lua - random numbers that depend on the seed and on how many were drawn, on nothing else.
--
-- Each array takes a block of counters; element i of it is the Philox hash of (block + i, key), where the
-- key comes from the seed.  So the numbers are the same however the work is cut, fused or replayed, and
-- each element costs one generator, which fuses with what uses it.

local core = require "array.core"
local dtypes = core.dtypes
local np, raise = core.np, core.raise

local random = {}
np.random = random

local state = { key = 0, counter = 0 }

-- Start the sequence that belongs to `number`.
---@param number integer
function random.seed(number)
  if not core.is_integer(number) then raise("random.seed: an integer was expected, not %s", (core.describe(number))) end
  state.key, state.counter = number % 2 ^ 53, 0
end

-- An unpredictable start, until the script says otherwise: reproducible scripts call seed.
random.seed(math.floor((os.time() * 1000003 + os.clock() * 1e6) % 2 ^ 53))

-- Launch a generator of (body, counter of the first number of this element, key), which uses `draws`
-- numbers for each element.
local function draw(name, dtype, shape, draws, build, numbers)
  local counter = state.counter
  state.counter = counter + draws * core.product(shape)
  local arguments = { counter, state.key, unpack(numbers or {}) }
  return core.generate("random." .. name, dtype, shape, function(body)
    local i = body:coordinate()
    if draws > 1 then i = i * draws end
    return build(body, i + body:number(0, false), body:number(1, false):cast("int64"))
  end, arguments)
end

-- A float64 in [0, 1) with 53 random bits.
local function uniform(counter, key) return counter:philox(key):shr(11):cast("float64") * 2 ^ -53 end

local function take(who, default, ...)
  local shape, options = core.take_shape(who, ...)
  options = core.check_options(options, { dtype = true }, who)
  return shape, options.dtype and core.check_dtype(options.dtype, who) or default
end

-- Uniform in [0, 1).  The shape comes as arguments or as one table; options {dtype}.
---@return lgt_array
function random.rand(...)
  local shape, dtype = take("random.rand", dtypes.FLOAT64, ...)
  return draw("rand", dtype, shape, 1, function(_, counter, key) return uniform(counter, key) end)
end
random.random, random.random_sample = random.rand, random.rand

-- Uniform in [low, high).
---@param low number
---@param high number
---@param ... integer shape
function random.uniform(low, high, ...)
  local shape, dtype = take("random.uniform", dtypes.FLOAT64, ...)
  return draw("uniform", dtype, shape, 1, function(body, counter, key)
    return body:number(2, true) + (body:number(3, true) - body:number(2, true)) * uniform(counter, key)
  end, { core.to_number(low, "random.uniform"), core.to_number(high, "random.uniform") })
end

-- Box and Muller: two uniform numbers give one normal one.
local function gaussian(counter, key)
  local radius = (-2 * (1 - uniform(counter, key)):log()):sqrt()
  return radius * (uniform(counter + 1, key) * (2 * math.pi)):cos()
end

-- Normal with mean 0 and standard deviation 1.
---@param ... integer shape
function random.randn(...)
  local shape, dtype = take("random.randn", dtypes.FLOAT64, ...)
  return draw("randn", dtype, shape, 2, function(_, counter, key) return gaussian(counter, key) end)
end
random.standard_normal = random.randn

-- Normal with the given mean and standard deviation.
---@param mean number
---@param deviation number
---@param ... integer shape
function random.normal(mean, deviation, ...)
  local shape, dtype = take("random.normal", dtypes.FLOAT64, ...)
  return draw("normal", dtype, shape, 2, function(body, counter, key)
    return body:number(2, true) + body:number(3, true) * gaussian(counter, key)
  end, { core.to_number(mean, "random.normal"), core.to_number(deviation, "random.normal") })
end

-- Exponential with mean 1, or `scale`.
function random.exponential(scale, ...)
  local shape, dtype = take("random.exponential", dtypes.FLOAT64, ...)
  return draw("exponential", dtype, shape, 1, function(body, counter, key)
    return -(1 - uniform(counter, key)):log() * body:number(2, true)
  end, { core.to_number(scale or 1, "random.exponential") })
end

-- Integers from low to high - 1, as NumPy's bounds; randint(high, shape) begins at 0.
---@return lgt_array int64
function random.randint(low, high, ...)
  local rest, count = { ... }, select("#", ...)
  if high == nil or type(high) == "table" then
    table.insert(rest, 1, high)
    count = count + 1
    low, high = 0, low
  end
  local shape, dtype = take("random.randint", dtypes.INT64, unpack(rest, 1, count))
  if not core.is_integer(low) or not core.is_integer(high) or high <= low then
    raise("random.randint: integers low < high were expected, not %s and %s",
      (core.describe(low)), (core.describe(high)))
  end
  return draw("randint", dtype, shape, 1, function(body, counter, key)
    local span = (body:number(3, false):cast("int64") - body:number(2, false)):cast("uint64")
    return (counter:philox(key) % span):cast("int64") + body:number(2, false)
  end, { low, high })
end

-- The positions 1 to n in random order, or a copy of an array with its first axis in random order.
---@param n integer|lgt_array
---@return lgt_array
function random.permutation(n)
  if core.is_array(n) then return np.take(n, random.permutation(core.shape_of(n)[1]), 1) end
  if not core.is_integer(n) or n < 0 then
    raise("random.permutation: a count or an array was expected, not %s", (core.describe(n)))
  end
  local keys = core.copy_out(random.rand(math.max(n, 1)))
  local p = core.host_memory(dtypes.INT64, n)
  for i = 0, n - 1 do p[i] = i + 1 end
  for i = n - 1, 1, -1 do -- Fisher and Yates
    local j = math.floor(keys[i] * (i + 1))
    p[i], p[j] = p[j], p[i]
  end
  return core.adopt(dtypes.INT64, { n }, p)
end

-- `count` positions out of 1 to n, with replacement.
function random.choice(n, ...)
  if core.is_array(n) then return np.take(n, random.choice(core.shape_of(n)[1], ...), 1) end
  return random.randint(1, n + 1, ...)
end

return random
