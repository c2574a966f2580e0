-- array/math/distributions.lua - np.random's distributions.
--
-- Parameters are numbers or arrays, which broadcast against each other and against the shape.  Most
-- distributions are a formula on uniform, exponential or normal numbers, and fuse; those that reject have a variant in
-- C (ops/random.c).

local core = require "array.core"
local native = require "array.core.native"

local dtypes, raise = core.dtypes, core.raise
local np = core.np
local random = np.random

-- ---- arguments --------------------------------------------------------------------------------------------

-- Numbers within bounds, or arrays, whose elements are not looked at.
local function check(value, low, high, name, who)
  value = core.plain(value)
  if core.is_array(value) then return value end
  if type(value) == "table" then return np.array(value) end
  if type(value) ~= "number" then
    raise("random.%s: %s is a number or an array, not %s", who, name, (core.describe(value)))
  end
  if not (value >= low and value <= high) then
    raise("random.%s: %s = %g is outside %g to %g", who, name, value, low, high)
  end
  return value
end

-- The shape of a result: given, or that of the parameters.
local function shape_for(who, parameters, ...)
  local shape, options = core.take_named_shape("random." .. who, "size", ...)
  options = core.check_options(options, { dtype = true }, "random." .. who)
  local count, first = select("#", ...), (...)
  if count == 0 or count == 1 and core.is_options(first) and first.size == nil then
    local shapes = {}
    for i, p in ipairs(parameters) do shapes[i] = core.is_array(p) and core.shape_of(p) or {} end
    shape = core.broadcast_shapes(shapes, "random." .. who)
  end
  return shape, options.dtype
end

local huge = math.huge
local tiny = 5e-324

-- A distribution by formula.  `parameters` lists {name, default, low, high}; f(shape, values...) makes it.  Options
-- at the end may have parameters by their names.
local function define(name, parameters, f)
  random[name] = function(...)
    local arguments, count, values, rest = { ... }, select("#", ...), {}, {}
    if core.is_options(arguments[count]) then
      for key, value in pairs(arguments[count]) do rest[key] = value end
      arguments[count], count = nil, count - 1
    end
    for i, p in ipairs(parameters) do
      local given = arguments[i]
      if given == nil then given, rest[p[1]] = rest[p[1]], nil end
      if given == nil then given = p[2] end
      if given == nil then raise("random.%s: %s is missing", name, p[1]) end
      values[i] = check(given, p[3], p[4], p[1], name)
    end
    if next(rest) then
      count = math.max(count, #parameters) + 1
      arguments[count] = rest
    end
    local shape, dtype = shape_for(name, values, unpack(arguments, #parameters + 1, count))
    local result = f(shape, unpack(values))
    if not core.same_shape(core.shape_of(result), shape) then
      raise("random.%s: parameters of shape %s do not fit into %s", name, core.shape_text(core.shape_of(result)),
        core.shape_text(shape))
    end
    return dtype and np.astype(result, dtype) or result
  end
end

local any, positive, probability = { -huge, huge }, { 0, huge }, { 0, 1 }
local function p(name, default, range) return { name, default, range[1], range[2] } end

local function uniform(shape) return random.rand(shape) end
-- In (0, 1], of which logarithms are finite.
local function open(shape) return 1 - random.rand(shape) end
local function exponential(shape) return -np.log(open(shape)) end
local function normal(shape) return random.randn(shape) end

-- ---- by formula ---------------------------------------------------------------------------------------------

define("normal", { p("loc", 0, any), p("scale", 1, positive) }, function(shape, mean, deviation)
  return mean + deviation * normal(shape)
end)
define("uniform", { p("low", 0, any), p("high", 1, any) }, function(shape, low, high)
  return low + (high - low) * uniform(shape)
end)
define("exponential", { p("scale", 1, positive) }, function(shape, scale) return scale * exponential(shape) end)
define("standard_exponential", {}, exponential)
define("lognormal", { p("mean", 0, any), p("sigma", 1, positive) }, function(shape, mean, deviation)
  return np.exp(mean + deviation * normal(shape))
end)
define("laplace", { p("loc", 0, any), p("scale", 1, positive) }, function(shape, mean, scale)
  local u = open(shape) - 0.5
  return mean - scale * (np.sign(u) * np.log(1 - 2 * np.minimum(np.abs(u), 0.49999999999999994)))
end)
define("logistic", { p("loc", 0, any), p("scale", 1, positive) }, function(shape, mean, scale)
  local u = np.minimum(open(shape), 0.9999999999999999)
  return mean + scale * np.log(u / (1 - u))
end)
define("gumbel", { p("loc", 0, any), p("scale", 1, positive) }, function(shape, mode, scale)
  return mode - scale * np.log(np.maximum(exponential(shape), tiny))
end)
define("rayleigh", { p("scale", 1, positive) }, function(shape, scale)
  return scale * np.sqrt(2 * exponential(shape))
end)
define("weibull", { p("a", nil, positive) }, function(shape, a) return np.power(exponential(shape), 1 / a) end)
define("pareto", { p("a", nil, positive) }, function(shape, a) return np.expm1(exponential(shape) / a) end)
define("power", { p("a", nil, positive) }, function(shape, a) return np.power(open(shape), 1 / a) end)
define("standard_cauchy", {}, function(shape) return np.tan((uniform(shape) - 0.5) * math.pi) end)

define("triangular", { p("left", nil, any), p("mode", nil, any), p("right", nil, any) },
  function(shape, left, mode, right)
    if type(left) == "number" and type(mode) == "number" and type(right) == "number" and
      not (left <= mode and mode <= right and left < right) then
      raise("random.triangular: left <= mode <= right was expected, not %g, %g, %g", left, mode, right)
    end
    local u, base = uniform(shape), right - left
    local below = (mode - left) / base
    return np.where(np.less(u, below), left + np.sqrt(u * ((mode - left) * base)),
      right - np.sqrt((1 - u) * ((right - mode) * base)))
  end)

-- Michael, Schucany and Haas, The American Statistician 30 (1976).
define("wald", { p("mean", nil, positive), p("scale", nil, positive) }, function(shape, mean, scale)
  local y = np.square(normal(shape)) * mean
  local x = mean + mean / (2 * scale) * (y - np.sqrt(4 * scale * y + y * y))
  return np.where(np.less_equal(uniform(shape), mean / (mean + x)), x, mean * mean / x)
end)

-- How many trials until the first success; rarer ones need more than int64 holds.
define("geometric", { p("p", nil, { 1e-18, 1 }) }, function(shape, chance)
  local count = np.ceil(np.log(open(shape)) / (type(chance) == "number" and np.log1p(np.array(-chance)) or
    np.log1p(-chance)))
  return np.astype(np.maximum(count, 1), "int64")
end)

-- ---- with variants in C ----------------------------------------------------------------------------------------

-- A vector of float64 as long as the result, without a copy for numbers.
local function stretched(value, shape, count)
  if type(value) == "number" then value = np.array(value) end
  value = np.asarray(value, { dtype = "float64" })
  if core.ndim_of(value) == 0 then return np.broadcast_to(value, { count }) end
  return np.reshape(np.copy(np.broadcast_to(value, shape)), { count })
end

local function drawn(variant, dtype, shape, ...)
  local count, values = core.product(shape), { ... }
  local first, key = core.random_block(count)
  local result = native.new(dtype, { count })
  for i = 1, #values do values[i] = stretched(values[i], shape, count) end
  native.launch("random." .. variant, "w" .. ("r"):rep(#values), native.leading(1, #values + 1),
    { result, unpack(values) }, { first, key })
  return np.reshape(result, shape)
end

local FLOAT, INTEGER = dtypes.FLOAT64, dtypes.INT64
local function gamma(shape, a) return drawn("gamma", FLOAT, shape, a) end

define("standard_gamma", { p("shape", nil, positive) }, gamma)
define("gamma", { p("shape", nil, positive), p("scale", 1, positive) }, function(shape, a, scale)
  return scale * gamma(shape, a)
end)
define("beta", { p("a", nil, positive), p("b", nil, positive) }, function(shape, a, b)
  local x = gamma(shape, a)
  return x / (x + gamma(shape, b))
end)
define("chisquare", { p("df", nil, positive) }, function(shape, df) return 2 * gamma(shape, df / 2) end)
-- Of more than one degree of freedom, one is a square of its own; else there are as many more as a Poisson number says.
local function noncentral(shape, df, nonc)
  if type(df) == "number" and df > 1 then
    return 2 * gamma(shape, (df - 1) / 2) + np.square(normal(shape) + np.sqrt(nonc))
  end
  local steps = drawn("poisson", INTEGER, shape, nonc / 2)
  return 2 * gamma(shape, df / 2 + np.astype(steps, "float64"))
end
define("noncentral_chisquare", { p("df", nil, positive), p("nonc", nil, positive) }, noncentral)
define("f", { p("dfnum", nil, positive), p("dfden", nil, positive) }, function(shape, num, den)
  return (gamma(shape, num / 2) / num) / (gamma(shape, den / 2) / den)
end)
define("noncentral_f", { p("dfnum", nil, positive), p("dfden", nil, positive), p("nonc", nil, positive) },
  function(shape, num, den, nonc)
    return (noncentral(shape, num, nonc) / num) / (2 * gamma(shape, den / 2) / den)
  end)
define("standard_t", { p("df", nil, positive) }, function(shape, df)
  return normal(shape) / np.sqrt(2 * gamma(shape, df / 2) / df)
end)
define("vonmises", { p("mu", nil, any), p("kappa", nil, positive) }, function(shape, mu, kappa)
  return drawn("vonmises", FLOAT, shape, mu, kappa)
end)
define("poisson", { p("lam", 1, { 0, 9.2e18 }) }, function(shape, mean)
  return drawn("poisson", INTEGER, shape, mean)
end)
define("binomial", { p("n", nil, { 0, 2 ^ 53 }), p("p", nil, probability) }, function(shape, n, chance)
  return drawn("binomial", INTEGER, shape, n, chance)
end)
define("negative_binomial", { p("n", nil, positive), p("p", nil, probability) }, function(shape, n, chance)
  return drawn("poisson", INTEGER, shape, gamma(shape, n) * ((1 - chance) / chance))
end)
define("hypergeometric", { p("ngood", nil, positive), p("nbad", nil, positive), p("nsample", nil, positive) },
  function(shape, good, bad, count)
    if type(good) == "number" and type(bad) == "number" and type(count) == "number" and count > good + bad then
      raise("random.hypergeometric: %g cannot be drawn out of %g", count, good + bad)
    end
    return drawn("hypergeometric", INTEGER, shape, good, bad, count)
  end)
define("zipf", { p("a", nil, { 1, huge }) }, function(shape, a) return drawn("zipf", INTEGER, shape, a) end)
define("logseries", { p("p", nil, probability) }, function(shape, chance)
  return drawn("logseries", INTEGER, shape, chance)
end)

-- ---- vectors ------------------------------------------------------------------------------------------------------

local function take_size(who, ...)
  local shape, options = core.take_named_shape(who, "size", ...)
  core.check_options(options, {}, who)
  return shape
end

-- How often each of several outcomes occurs in n trials: along a new last axis.
---@param n integer
---@param chances number[]|lgt_array
---@param ... integer shape
---@return lgt_array int64
function random.multinomial(n, chances, ...)
  local list = core.as_list(chances)
  if not list then raise("random.multinomial: a list of chances was expected, not %s", (core.describe(chances))) end
  chances = list
  local shape = take_size("random.multinomial", ...)
  local sum = 0
  for i, chance in ipairs(chances) do
    if type(chance) ~= "number" or not (chance >= 0 and chance <= 1) then
      raise("random.multinomial: a chance of %s; a number from 0 to 1 was expected", core.word(chance))
    end
    sum = sum + (i < #chances and chance or 0) -- the last one gets what is left
  end
  if sum > 1 + 1e-12 then raise("random.multinomial: the chances before the last sum to %.9g, more than 1", sum) end
  local rest, left, parts = 1, np.full(shape, n), {}
  for i = 1, #chances do
    if i == #chances then
      parts[i] = np.astype(left, "int64")
    else
      parts[i] = drawn("binomial", INTEGER, shape, left, rest > 0 and math.min(1, chances[i] / rest) or 0)
      left, rest = left - parts[i], rest - chances[i]
    end
  end
  if #chances == 0 then raise("random.multinomial: at least one chance was expected") end
  return np.stack(parts, -1)
end

-- Shares that sum to 1: along a new last axis.
---@param alpha number[]|lgt_array
---@param ... integer shape
---@return lgt_array
function random.dirichlet(alpha, ...)
  alpha = np.asarray(alpha)
  if core.ndim_of(alpha) ~= 1 then raise("random.dirichlet: a vector was expected, not %s", (core.describe(alpha))) end
  local shape = take_size("random.dirichlet", ...)
  shape[#shape + 1] = core.size_of(alpha)
  local x = gamma(shape, alpha)
  return x / np.sum(x, -1, { keepdims = true })
end

local methods_of_normal = { svd = true, eigh = true, cholesky = true }

-- By which decomposition is not to be seen, and a covariance is not looked at before the numbers are.
local function check_normal(options)
  if options.method ~= nil and not methods_of_normal[options.method] then
    raise("random.multivariate_normal: method is \"svd\", \"eigh\" or \"cholesky\", not %s",
      (core.describe(options.method)))
  end
  if options.check_valid ~= nil and options.check_valid ~= "ignore" then
    raise("random.multivariate_normal: check_valid is \"ignore\": whether a covariance is positive is not looked at")
  end
end

-- Normal vectors with given means and covariances: along a new last axis.
---@param mean lgt_array|number[]
---@param covariance lgt_array matrix, symmetric and not negative
---@param ... integer shape
---@return lgt_array
function random.multivariate_normal(mean, covariance, ...)
  mean, covariance = np.asarray(mean), np.asarray(covariance)
  local n = core.size_of(mean)
  if core.ndim_of(mean) ~= 1 or not core.same_shape(core.shape_of(covariance), { n, n }) then
    raise("random.multivariate_normal: a vector of n means and a matrix of n x n covariances were expected")
  end
  local shape, options = core.take_named_shape("random.multivariate_normal", "size", ...)
  options = core.check_options(options, { check_valid = true, tol = true, method = true }, "random.multivariate_normal")
  check_normal(options)
  shape[#shape + 1] = n
  local values, vectors = np.linalg.eigh(covariance)
  local root = vectors * np.sqrt(np.maximum(values, 0))
  return mean + np.dot(random.randn(shape), root.T)
end

-- n random numbers from 0 to 255.
---@param n integer
---@return lgt_array uint8
function random.bytes(n, surplus)
  core.check_surplus(surplus, "random.bytes")
  local shape = core.take_only_shape("random.bytes", n)
  local first, key = core.random_block(math.ceil(core.product(shape) / 16))
  local result = native.new(dtypes.UINT8, shape)
  if core.product(shape) > 0 then
    native.launch("random.bytes", "w", native.leading(1, 1), { result }, { first, key })
  end
  return result
end

return true
