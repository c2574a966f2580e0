-- array/math/random.lua - random numbers that depend on the seed and on how many were drawn, on nothing else.
--
-- Each array takes a block of counters; element i of it is the Philox hash of (block + i, key), where the
-- key comes from the seed.  So the numbers are the same however the work is cut, fused or replayed, and
-- each element costs one generator, which fuses with what uses it.  What takes a varying number of uniform
-- numbers (distributions.lua) has a variant in C, in which each element has a sequence of its own.
--
-- Functions end with the shape, as arguments or as one table, and options {dtype, size}, of which size is the shape,
-- too; without one the result has that of the parameters.

local core = require "array.core"
local native = require "array.core.native"
local reduce = require "array.core.reduce"

local dtypes = core.dtypes
local np, raise = core.np, core.raise

local random = {}
np.random = random

local state = { key = 0, counter = 0 }

-- Start the sequence that belongs to `number`.
---@param number integer
function random.seed(number, surplus)
  core.check_surplus(surplus, "random.seed")
  number = core.plain(number)
  if not core.is_integer(number) then raise("random.seed: an integer was expected, not %s", (core.describe(number))) end
  state.key, state.counter = number % 2 ^ 53, 0
end

-- An unpredictable start, until the script says otherwise: reproducible scripts call seed.
random.seed(math.floor((os.time() * 1000003 + os.clock() * 1e6) % 2 ^ 53))

-- Take so many counters; the first one, and the key.
local function block(count)
  local counter = state.counter
  state.counter = counter + count
  return counter, state.key
end

-- What np.random remembers, as a table; and how to go on from there.
---@return {key: integer, counter: integer}
function random.get_state() return { key = state.key, counter = state.counter } end
---@param saved {key: integer, counter: integer}
function random.set_state(saved)
  if type(saved) ~= "table" or not core.is_integer(saved.key) or not core.is_integer(saved.counter) then
    raise("random.set_state: what random.get_state gave was expected, not %s", (core.describe(saved)))
  end
  state.key, state.counter = saved.key, saved.counter
end

-- Launch a generator of (body, counter of the first number of this element, key), which uses `draws`
-- numbers for each element.
local function draw(name, dtype, shape, draws, build, numbers)
  local counter = block(draws * core.product(shape))
  local arguments = { counter, state.key, unpack(numbers or {}) }
  return core.generate("random." .. name, dtype, shape, function(body)
    local i = body:coordinate()
    if draws > 1 then i = i * draws end
    return build(body, i + body:number(0, false), body:number(1, false):cast("int64"))
  end, arguments)
end

-- A float64 in [0, 1) with 53 random bits.
local function uniform(counter, key) return counter:philox(key):shr(11):cast("float64") * 2 ^ -53 end

-- The same where it becomes a narrower float, of which it has the bits: rounded up, it might be 1.
local BITS = { [dtypes.FLOAT16] = 11, [dtypes.FLOAT32] = 24 }
local function narrow_uniform(counter, key, dtype)
  local bits = BITS[dtype]
  return counter:philox(key):shr(64 - bits):cast("float64") * 2 ^ -bits
end

local function take(who, default, ...)
  local shape, options = core.take_named_shape(who, "size", ...)
  options = core.check_options(options, { dtype = true }, who)
  return shape, options.dtype and core.check_dtype(options.dtype, who) or default
end

-- The same of floats, which may go into the array options.out: that has a shape then, and a dtype.
local function take_floats(who, ...)
  local shape, options = core.take_named_shape(who, "size", ...)
  options = core.check_options(options, { dtype = true, out = true }, who)
  local out = options.out
  local dtype = options.dtype and core.check_dtype(options.dtype, who)
  if out ~= nil then
    core.layout_of(out, who)
    if #shape > 0 and not core.same_shape(shape, core.shape_of(out)) then
      raise("%s: out= has shape %s, the size is %s", who, core.shape_text(core.shape_of(out)), core.shape_text(shape))
    end
    shape, dtype = core.shape_of(out), dtype or core.dtype_of(out)
  end
  dtype = dtype or dtypes.FLOAT64
  if dtypes.category[dtype] ~= 2 then raise("%s: floats were expected, not %s", who, dtypes.name[dtype]) end
  return shape, dtype, out
end

-- Uniform in [0, 1).  The shape comes as arguments or as one table; options {dtype, size}.
---@return lgt_array
function random.rand(...)
  local shape, dtype, out = take_floats("random.rand", ...)
  local result = draw("rand", dtype, shape, 1, function(_, counter, key)
    if BITS[dtype] then return narrow_uniform(counter, key, dtype) end
    return uniform(counter, key)
  end)
  return reduce.give(result, out, "random.rand")
end
random.random, random.random_sample = random.rand, random.rand

-- Box and Muller: two uniform numbers give one normal one.
local function gaussian(counter, key)
  local radius = (-2 * (1 - uniform(counter, key)):log()):sqrt()
  return radius * (uniform(counter + 1, key) * (2 * math.pi)):cos()
end

-- Normal with mean 0 and standard deviation 1.
---@param ... integer shape
function random.randn(...)
  local shape, dtype, out = take_floats("random.randn", ...)
  local result = draw("randn", dtype, shape, 2, function(_, counter, key) return gaussian(counter, key) end)
  return reduce.give(result, out, "random.randn")
end
random.standard_normal = random.randn

local bounds = { low = true, high = true, endpoint = true, size = true, dtype = true }

-- Integers from low to high - 1, as NumPy's bounds; randint(high, shape) begins at 0.  Then options {dtype, size,
-- endpoint}: whether high is among them; low and high may be there, too.
---@return lgt_array int64
function random.randint(...)
  local given, count, options = { ... }, select("#", ...), {}
  if core.is_options(given[count]) then
    options, count = core.check_options(given[count], bounds, "random.randint"), count - 1
  end
  local low, high, behind = given[1], given[2], 3
  if count < 1 then low = options.low end
  if count < 2 or high == nil or type(high) == "table" then high, behind = options.high, math.min(2, count + 1) end
  if high == nil then
    if low == nil then raise("random.randint: integers low < high were expected, or high alone; neither is given") end
    low, high = 0, low
  end
  low, high = core.plain(low), core.plain(high)
  if options.endpoint and core.is_integer(high) then high = high + 1 end
  count = math.max(count, behind - 1)
  if options.size or options.dtype then
    count = count + 1
    given[count] = { size = options.size, dtype = options.dtype }
  end
  local shape, dtype = take("random.randint", dtypes.INT64, unpack(given, behind, count))
  if not core.is_integer(low) or not core.is_integer(high) or high <= low then
    raise("random.randint: integers low < high were expected, not %s and %s",
      (core.describe(low)), (core.describe(high)))
  end
  return draw("randint", dtype, shape, 1, function(body, counter, key)
    local span = (body:number(3, false):cast("int64") - body:number(2, false)):cast("uint64")
    return (counter:philox(key) % span):cast("int64") + body:number(2, false)
  end, { low, high })
end

-- The first `count` of the positions 1 to n in random order.
local function ordered(n, count)
  local first, key = block(n)
  local result = native.new(dtypes.INT64, { count })
  native.launch("random.permutation", "w", native.leading(1, 1), { result }, { first, key, n })
  return result
end

-- The positions 1 to n in random order, or a copy of an array with an axis (the first) in random order.
---@param n integer|lgt_array
---@param axis integer?
---@return lgt_array
function random.permutation(n, axis, surplus)
  axis = core.take_only_named("random.permutation", { "axis" }, axis, surplus)
  n = core.plain(n)
  if core.is_array(n) and core.ndim_of(n) > 0 then
    axis = core.check_axis(axis or 1, core.ndim_of(n), "random.permutation")
    return np.take(n, random.permutation(core.shape_of(n)[axis]), axis)
  end
  if not core.is_integer(n) or n < 0 then
    raise("random.permutation: a count or an array was expected, not %s", (core.describe(n)))
  end
  return ordered(n, n)
end

-- Put an axis of an array (the first) into random order, in place.
---@param a lgt_array
---@param axis integer?
function random.shuffle(a, axis, surplus)
  axis = core.take_only_named("random.shuffle", { "axis" }, axis, surplus)
  core.layout_of(a, "random.shuffle")
  core.check_writable(a, "random.shuffle")
  core.assign(a.id, core.layout_of(a), random.permutation(a, axis))
end

-- Each line along an axis in a random order of its own; without an axis all elements.
---@param a lgt_array
---@param axis integer?
---@param options {axis: integer?, out: lgt_array?}?
---@return lgt_array
function random.permuted(a, axis, options, surplus)
  local who = "random.permuted"
  core.check_behind(surplus, who)
  axis, options = core.split_options(axis, options, who)
  options = core.check_options(options, { axis = true, out = true }, who)
  local out = options.out
  if axis == nil then axis = options.axis end
  a = np.asarray(a)
  if axis == nil then
    return reduce.give(np.reshape(random.permutation(np.ravel(a)), core.shape_of(a)), out, who)
  end
  axis = core.check_axis(axis, core.ndim_of(a), who)
  return reduce.give(np.take_along_axis(a, np.argsort(random.rand(core.shape_of(a)), axis), axis), out, who)
end

-- Running sums of probabilities, and the last of them: an error, where it is looked at, unless that is 1 but for
-- rounding in the probabilities' own dtype.
local function sums_of(p)
  local rounding = { [dtypes.FLOAT16] = 2 ^ -10, [dtypes.FLOAT32] = 2 ^ -23 }
  local tolerance = math.sqrt(rounding[core.dtype_of(p)] or 2 ^ -52)
  local sums = np.cumsum(np.astype(p, "float64"))
  local last = core.lgt.alias(sums, core.lgt.project(core.layout_of(sums), 1, core.size_of(sums) - 1))
  local total = native.new(dtypes.FLOAT64, {})
  native.elements("random.choice", "wrr", { total, last, np.astype(np.min(p), "float64") }, { tolerance })
  return sums, total
end

local choice_options = { replace = true, p = true, dtype = true, axis = true, shuffle = true }

-- Positions out of 1 to n, or elements of a vector.
---@param n integer|lgt_array
---@param ... integer shape, then options {replace: boolean?, p: lgt_array?, size: integer|integer[]|nil,
---  axis: integer?, shuffle: boolean?}: with replacement (true); how probable each is (evenly), which must sum to 1;
---  the shape; of an array the axis (1) along which slices are chosen; shuffle = false: their order need not be random
---@return lgt_array
function random.choice(n, ...)
  if type(n) == "table" then n = np.asarray(n) end
  n = core.plain(n)
  if core.is_array(n) and core.ndim_of(n) > 0 then
    local last = (select(math.max(select("#", ...), 1), ...))
    local axis = core.check_axis(core.is_options(last) and last.axis or 1, core.ndim_of(n), "random.choice")
    return np.take(n, random.choice(core.shape_of(n)[axis], ...), axis)
  end
  if not core.is_integer(n) or n < 1 then
    raise("random.choice: a count or an array was expected, not %s", (core.describe(n)))
  end
  local shape, options = core.take_named_shape("random.choice", "size", ...)
  options = core.check_options(options, choice_options, "random.choice")
  local count = core.product(shape)
  if options.p ~= nil then
    local p = np.asarray(options.p)
    if core.ndim_of(p) ~= 1 or core.size_of(p) ~= n then
      raise("random.choice: %d probabilities for %d choices", core.size_of(p), n)
    end
    local sums, total = sums_of(p)
    if options.replace == false then -- the greatest of log(u) / p: Efraimidis and Spirakis, 2006
      if count > n then raise("random.choice: %d of %d without replacement", count, n) end
      local _, best = np.topk(np.log(1 - random.rand(n)) / p * total, count)
      return np.reshape(best, shape)
    end
    return np.searchsorted(sums, random.rand(shape) * total, "right")
  end
  if options.replace == false then
    if count > n then raise("random.choice: %d of %d without replacement", count, n) end
    return np.reshape(ordered(n, count), shape)
  end
  return random.randint(1, n + 1, shape, options.dtype and { dtype = options.dtype })
end

-- Integers from low to high, both included (without high: from 1 to low).
---@return lgt_array int64
function random.random_integers(low, high, ...)
  low = core.plain(low)
  if not core.is_options(high) then high = core.plain(high) end
  if type(low) ~= "number" then
    raise("random.random_integers: integers were expected, not %s", (core.describe(low)))
  end
  if core.is_options(high) then return random.randint(1, low + 1, high) end
  if high == nil then low, high = 1, low end
  if type(high) ~= "number" then
    raise("random.random_integers: integers were expected, not %s", (core.describe(high)))
  end
  return random.randint(low, high + 1, ...)
end

random.integers = random.randint
random.ranf, random.sample = random.rand, random.rand

-- A generator of its own: rng:normal(0, 1, n) and so on, with a sequence that nothing else uses.
---@param seed integer
---@return table
function random.default_rng(seed, surplus)
  core.check_surplus(surplus, "random.default_rng")
  seed = core.named_option(seed, "seed", "random.default_rng")
  local own = random.get_state()
  local function with_state(f, ...)
    local outer = random.get_state()
    random.set_state(own)
    local results = { pcall(f, ...) }
    own = random.get_state()
    random.set_state(outer)
    if not results[1] then error(results[2], 0) end
    return unpack(results, 2)
  end
  local generator
  generator = setmetatable({}, {
    __index = function(_, name)
      local f = random[name]
      if type(f) ~= "function" then return nil end
      return function(self, ...)
        if self ~= generator then raise("random: a generator's methods are called with a colon, rng:%s()", name) end
        return with_state(f, ...)
      end
    end,
  })
  generator:seed(seed == nil and math.floor((os.time() * 1000003 + os.clock() * 1e6) % 2 ^ 53) or seed)
  return generator
end

-- There is one kind of generator, Philox, by whichever of NumPy's names it is asked for.
random.RandomState, random.Philox = random.default_rng, random.default_rng
-- The generator of those bits: what is given.
function random.Generator(bits, surplus)
  core.check_surplus(surplus, "random.Generator")
  if type(bits) ~= "table" or not bits.random then
    core.raise("random.Generator: bits of np.random.Philox were expected, not %s", (core.describe(bits)))
  end
  return bits
end

core.random_block = block
require "array.math.distributions"

return random
