-- array/math/statistics.lua - averages, quantiles, covariances; each also without the NaN.
--
-- Quantiles sort (sort.lua) and then look at fixed places, which are views; where NaN are left out, how many
-- elements a line has depends on data, and the places are looked up by a gather.  Nothing here waits, except
-- for quantiles that are given as an array.

local core = require "array.core"
local native = require "array.core.native"
local reduce = require "array.core.reduce"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np = core.np
require "array.math.sort" -- for core.is_long_line

local give = reduce.give

-- ---- arguments --------------------------------------------------------------------------------------------

local function split(axis, options, known, who, surplus)
  core.check_behind(surplus, who)
  axis, options = core.split_options(axis, options, who)
  options = core.check_options(options, known, who)
  if axis == nil then axis = options.axis end
  return axis, options
end

local reduction_options = { axis = true, keepdims = true, dtype = true, where = true, initial = true, out = true }
local extremum_options = { axis = true, keepdims = true, where = true, initial = true, out = true }
local mean_options = { axis = true, keepdims = true, dtype = true, where = true, out = true }

-- With the axes to reduce merged into one, the last; and what gives a result its shape back.
---@return lgt_array, fun(x: lgt_array): lgt_array
local function lines_of(a, axis, keepdims, who)
  local shape = core.shape_of(a)
  local set, list = core.check_axes(axis, #shape, who)
  local order, rest, kept, extent = {}, {}, {}, 1
  for d = 1, #shape do
    if set[d] then
      extent = extent * shape[d]
      kept[d] = 1
    else
      order[#order + 1], rest[#rest + 1] = d, shape[d]
      kept[d] = shape[d]
    end
  end
  for _, d in ipairs(list) do order[#order + 1] = d end
  if #shape > 0 then a = np.transpose(a, order) end
  local final = keepdims and kept or rest
  local lines = { unpack(rest) }
  lines[#lines + 1] = extent
  return np.reshape(a, lines), function(x) return keepdims and np.reshape(x, final) or x end
end

-- The shape of a result for each line.
local function nothing(shape) return { unpack(shape, 1, #shape - 1) } end

local MOST_SELECTED = 8

local function is_inexact(a) return dtypes.category[core.dtype_of(a)] >= 2 end
local function to_float(a) return is_inexact(a) and a or np.astype(a, "float64") end

-- Element i (from 0) of every line.
local function column(lines, i) return lgt.alias(lines, lgt.project(core.layout_of(lines), core.ndim_of(lines), i)) end

-- A function that gives for a place (from 0) the element there of every line, were it sorted.  A few places are
-- selected; for more of them, and for complex numbers, the lines are sorted.
local function ordered(lines, places)
  local known, list = {}, {}
  for _, place in ipairs(places) do
    if not known[place] then
      known[place] = true
      list[#list + 1] = place
    end
  end
  if #list > MOST_SELECTED or dtypes.category[core.dtype_of(lines)] == 3 or
      core.is_long_line(lines, core.ndim_of(lines)) then
    local sorted = np.sort(lines)
    return function(place) return column(sorted, place) end
  end
  table.sort(list)
  local shape, number = core.shape_of(lines), {}
  for i, place in ipairs(list) do number[place] = i - 1 end
  shape[#shape] = #list
  local result = native.new(core.dtype_of(lines), shape)
  local function view(a) return #shape == 1 and lgt.alias(a, lgt.promote(core.layout_of(a), 1, 1)) or a end
  native.launch("select", "wrr", native.leading(math.max(1, #shape - 1), 2),
    { view(result), view(lines), np.array(list, { dtype = "int64" }) })
  return function(place) return column(result, number[place]) end
end

-- ---- averages -----------------------------------------------------------------------------------------------

local average_options = { axis = true, weights = true, returned = true, keepdims = true }

-- The average, each element counting as much as its weight.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options {weights: lgt_array?, returned: boolean?, keepdims: boolean?}? weights: a's shape, or a
---  vector along the axis; returned: give the sum of the weights too
---@return lgt_array, lgt_array?
function np.average(a, axis, options, surplus)
  a = np.asarray(a)
  axis, options = split(axis, options, average_options, "average", surplus)
  core.check_axes(axis, core.ndim_of(a), "average")
  local keep = { keepdims = options.keepdims }
  local w = options.weights
  if w == nil then
    local mean = np.mean(a, axis, keep)
    if not options.returned then return mean end
    return mean, np.zeros_like(mean) + core.size_of(a) / core.size_of(mean)
  end
  w = np.asarray(w)
  local shape = core.shape_of(a)
  if not core.same_shape(core.shape_of(w), shape) then
    if type(axis) ~= "number" or core.ndim_of(w) ~= 1 then
      raise("average: weights of shape %s for an array of shape %s: a vector and one axis, or the same shape, were " ..
        "expected", core.shape_text(core.shape_of(w)), core.shape_text(shape))
    end
    local d = core.check_axis(axis, #shape, "average")
    if core.size_of(w) ~= shape[d] then
      raise("average: %d weights for an axis of extent %d", core.size_of(w), shape[d])
    end
    local spread = {}
    for i = 1, #shape do spread[i] = i == d and shape[d] or 1 end
    w = np.broadcast_to(np.reshape(w, spread), shape)
  end
  w = dtypes.category[core.dtype_of(w)] < 2 and np.astype(w, "float64") or w
  local total = np.sum(w, axis, keep)
  local result = np.sum(a * w, axis, keep) / total
  if options.returned then return result, total end
  return result
end

-- ---- quantiles ------------------------------------------------------------------------------------------------

-- Hyndman and Fan, Sample Quantiles in Statistical Packages, Am. Stat. 50 (1996): {alpha, beta} of the
-- continuous ones, and functions of (q, n) that give a place from 0.
local methods_of_quantile = {
  linear = { 1, 1 }, interpolated_inverted_cdf = { 0, 1 }, hazen = { 0.5, 0.5 }, weibull = { 0, 0 },
  median_unbiased = { 1 / 3, 1 / 3 }, normal_unbiased = { 3 / 8, 3 / 8 },
  lower = function(q, n) return math.floor((n - 1) * q) end,
  higher = function(q, n) return math.ceil((n - 1) * q) end,
  midpoint = function(q, n)
    local at = (n - 1) * q
    return at == math.floor(at) and at or math.floor(at) + 0.5
  end,
  nearest = function(q, n)
    local at = (n - 1) * q
    local down = math.floor(at)
    if at - down == 0.5 then return down % 2 == 0 and down or down + 1 end
    return math.floor(at + 0.5)
  end,
  inverted_cdf = function(q, n)
    local at = n * q
    return at == math.floor(at) and at - 1 or math.floor(at)
  end,
}

-- The place of quantile q among n elements, from 0, perhaps between two.
local function place_of(method, q, n)
  local at
  if type(method) == "table" then
    local alpha, beta = method[1], method[2]
    at = method == methods_of_quantile.linear and (n - 1) * q or n * q + (alpha + q * (1 - alpha - beta)) - 1
  else
    at = method(q, n)
  end
  return math.max(0, math.min(n - 1, at))
end

-- Between two values, as NumPy does it: from the nearer one, in double precision.
local function interpolate(low, high, t)
  local step = high - low
  local dtype = dtypes.category[core.dtype_of(low)] == 3 and "complex128" or "float64"
  low, high, step = np.astype(low, dtype), np.astype(high, dtype), np.astype(step, dtype)
  if t == 0 then return low end
  if t >= 0.5 then return high - step * (1 - t) end
  return low + step * t
end

local function check_quantiles(q, scale, who)
  local list, single = core.as_list(q), type(core.plain(q)) == "number"
  if not list then raise("%s: a number or several were expected, not %s", who, (core.describe(q))) end
  local result = {}
  for i = 1, #list do
    if type(list[i]) ~= "number" or not (list[i] >= 0 and list[i] <= scale) then
      raise("%s: %s is not within 0 to %d", who, core.word(list[i]), scale)
    end
    result[i] = list[i] / scale
  end
  return result, single
end

local quantile_options = { axis = true, keepdims = true, method = true, interpolation = true, out = true }

-- The method that options name; `interpolation` is what NumPy called it once.
local function take_method(options, who)
  local name = options.method or options.interpolation or "linear"
  local method = methods_of_quantile[name]
  if not method then
    local names = {}
    for known in pairs(methods_of_quantile) do names[#names + 1] = known end
    table.sort(names)
    raise("%s: unknown method %s: %s were expected", who, (core.describe(name)), table.concat(names, ", "))
  end
  return method
end

-- Results for several q are stacked along a new first axis.
local function for_each(list, single, f)
  if single then return f(list[1]) end
  local results = {}
  for i = 1, #list do results[i] = f(list[i]) end
  if #results == 0 then raise("quantile: no quantiles were given") end
  return np.stack(results)
end

-- Where a line has a NaN, it is last after sorting, and all of the line's quantiles are NaN.
local function quantiles(who, a, q, scale, axis, options)
  a = np.asarray(a)
  local method = take_method(options, who)
  local list, single = check_quantiles(q, scale, who)
  local lines, back = lines_of(a, axis, options.keepdims, who)
  local shape = core.shape_of(lines)
  local n = shape[#shape]
  if n == 0 then
    raise("%s: along nothing there is no quantile: the shape is %s", who, core.shape_text(core.shape_of(a)))
  end
  local exact = type(method) == "function" and method ~= methods_of_quantile.midpoint
  if not exact then lines = to_float(lines) end
  local places = { n - 1 }
  for _, x in ipairs(list) do
    local low = math.floor(place_of(method, x, n))
    places[#places + 1], places[#places + 2] = low, math.min(low + 1, n - 1)
  end
  local element = ordered(lines, places)
  local result = for_each(list, single, function(x)
    local at = place_of(method, x, n)
    local low = math.floor(at)
    local value = element(low)
    if not exact then value = interpolate(value, element(math.min(low + 1, n - 1)), at - low) end
    if is_inexact(lines) then
      local last = element(n - 1)
      value = np.where(np.isnan(last), last, value)
    end
    return back(core.ndim_of(value) == 0 and np.copy(value) or value)
  end)
  return give(result, options.out, who)
end

local QUANTILE = { "q", "axis" }

-- What a call of a quantile means: the array, quantiles, an axis, the other options.
local function take_quantiles(who, a, q, axis, options, surplus)
  core.check_behind(surplus, who)
  q, axis, options = core.take_named(who, QUANTILE, q, axis, options)
  return np.asarray(a), q, axis, core.check_options(options, quantile_options, who)
end

-- The value below which a fraction q of the elements lies.
---@param a lgt_array
---@param q number|number[]|lgt_array 0 to 1; several give a new first axis
---@param axis integer|integer[]|nil all if nil
---@param options {q: any, axis: any, keepdims: boolean?, method: string?, out: lgt_array?}? method: "linear", "lower",
---  "higher", "midpoint", "nearest", "hazen", "weibull", "median_unbiased", "normal_unbiased",
---  "interpolated_inverted_cdf", "inverted_cdf"
---@return lgt_array
function np.quantile(a, q, axis, options, surplus)
  a, q, axis, options = take_quantiles("quantile", a, q, axis, options, surplus)
  return quantiles("quantile", a, q, 1, axis, options)
end
-- The same with q from 0 to 100.
function np.percentile(a, q, axis, options, surplus)
  a, q, axis, options = take_quantiles("percentile", a, q, axis, options, surplus)
  return quantiles("percentile", a, q, 100, axis, options)
end

local median_options = { axis = true, keepdims = true, out = true }

-- The middle element, or the mean of the two in the middle; NaN if there is one.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options {axis: any, keepdims: boolean?, out: lgt_array?}?
---@return lgt_array
function np.median(a, axis, options, surplus)
  a = np.asarray(a)
  axis, options = split(axis, options, median_options, "median", surplus)
  local lines, back = lines_of(to_float(a), axis, options.keepdims, "median")
  local shape = core.shape_of(lines)
  local n = shape[#shape]
  if n == 0 then
    local none = np.full(nothing(shape), np.nan, { dtype = dtypes.name[core.dtype_of(lines)] })
    return give(back(none), options.out, "median")
  end
  local half = math.floor(n / 2)
  local element = ordered(lines, { math.max(half - 1, 0), half, n - 1 })
  local middle = n % 2 == 1 and element(half) or (element(half - 1) + element(half)) / 2
  local last = element(n - 1)
  return give(back(np.where(np.isnan(last), last, middle)), options.out, "median")
end

-- ---- without NaN ------------------------------------------------------------------------------------------------

local function map_nan(a, neutral) return is_inexact(a) and np.where(np.isnan(a), neutral, a) or a end

-- Reductions in one launch each, for real floats and no options but keepdims.
local function without_nan(name, operator, neutral)
  return reduce.new("nan" .. name, operator, function(x) return x:isnan():select(neutral, x):cast(x.dtype) end,
    { half = operator == "sum" })
end
local NANSUM, NANMAX = without_nan("sum", "sum", 0), without_nan("max", "max", -math.huge)
local NANMIN = without_nan("min", "min", math.huge)
local ALL_NAN = reduce.new("all_nan", "and", function(x) return x:isnan() end)
local SQUARES = reduce.new("nanvar", "sum", function(x, mean)
  local d = x - mean
  return x:isnan():select(0, d * d):cast(x.dtype)
end)
local COUNT_NUMBERS = reduce.new("count_numbers", "sum", function(x) return x:eq(x):cast("int64") end)

local function is_plain(a, options)
  for name in pairs(options) do
    if name ~= "keepdims" and name ~= "axis" then return false end
  end
  return dtypes.category[core.dtype_of(a)] == 2 and core.size_of(a) > 0
end

-- name of the reduction, what a NaN counts as
for name, neutral in pairs { sum = 0, prod = 1 } do
  local f = np[name]
  np["nan" .. name] = function(a, axis, options, surplus)
    axis, options = split(axis, options, reduction_options, "nan" .. name, surplus)
    a = np.asarray(a)
    if name == "sum" and is_plain(a, options) then return reduce.along(NANSUM, a, axis, options.keepdims) end
    return f(map_nan(a, neutral), axis, options)
  end
end

-- The greatest and the least number; NaN where there is none.
for name, neutral in pairs { max = -math.huge, min = math.huge } do
  local f = np[name]
  np["nan" .. name] = function(a, axis, options, surplus)
    local who = "nan" .. name
    a = np.asarray(a)
    axis, options = split(axis, options, extremum_options, who, surplus)
    if options.where ~= nil and options.initial == nil then
      raise("%s: with where= an initial value is needed: {initial = ...}", who)
    end
    if is_plain(a, options) then
      local best = reduce.along(name == "max" and NANMAX or NANMIN, a, axis, options.keepdims)
      return np.where(reduce.along(ALL_NAN, a, axis, options.keepdims), np.nan, best)
    end
    local how = { keepdims = options.keepdims, where = options.where, initial = options.initial }
    local result = f(map_nan(a, neutral), axis, how)
    if not is_inexact(a) or options.initial ~= nil then return give(result, options.out, who) end
    local none = np.all(np.isnan(a), axis or { unpack(select(2, core.check_axes(nil, core.ndim_of(a), name))) },
      { keepdims = options.keepdims })
    return give(np.where(none, np.nan, result), options.out, who)
  end
end

-- Positions of extrema, NaN aside; 1 for a line of nothing but NaN.
for name, neutral in pairs { argmax = -math.huge, argmin = math.huge } do
  local f = np[name]
  np["nan" .. name] = function(a, axis, options) return f(map_nan(np.asarray(a), neutral), axis, options) end
end

local function count_numbers(a, axis, options)
  if options.where == nil and dtypes.category[core.dtype_of(a)] == 2 then
    return reduce.along(COUNT_NUMBERS, a, axis, options.keepdims)
  end
  local set = axis
  if axis == nil then set = select(2, core.check_axes(nil, core.ndim_of(a), "count")) end
  return np.sum(np.logical_not(np.isnan(a)), set, { keepdims = options.keepdims, where = options.where })
end

-- The mean of what is a number.
---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options {axis: any, keepdims: boolean?, dtype: string?, where: lgt_array?, out: lgt_array?}?
---@return lgt_array
function np.nanmean(a, axis, options, surplus)
  a = np.asarray(a)
  axis, options = split(axis, options, mean_options, "nanmean", surplus)
  if not is_inexact(a) then return np.mean(a, axis, options) end
  local how = { keepdims = options.keepdims, dtype = options.dtype, where = options.where }
  local result = np.nansum(a, axis, how) / count_numbers(a, axis, options)
  return give(np.astype(result, options.dtype or dtypes.name[core.dtype_of(a)]), options.out, "nanmean")
end

local variance_options = { axis = true, keepdims = true, dtype = true, ddof = "number", where = true, out = true }

---@param a lgt_array
---@param axis integer|integer[]|nil
---@param options {axis: any, keepdims: boolean?, dtype: string?, ddof: number?, where: lgt_array?, out: lgt_array?}?
---@return lgt_array NaN where no more than ddof numbers are
function np.nanvar(a, axis, options, surplus)
  a = np.asarray(a)
  axis, options = split(axis, options, variance_options, "nanvar", surplus)
  if not is_inexact(a) then return np.var(a, axis, options) end
  local mean = np.nanmean(a, axis, { keepdims = true, where = options.where })
  local count, dtype = count_numbers(a, axis, options) - (options.ddof or 0), core.dtype_of(a)
  local result
  if options.where == nil and (dtype == dtypes.FLOAT64 or dtype == dtypes.FLOAT32) then
    result = reduce.along_with(SQUARES, a, mean, axis, options.keepdims) / count
  else
    if axis == nil then mean = np.reshape(mean, {}) end
    local d = np.where(np.isnan(a), 0, a - mean)
    result = np.sum(np.real(d * np.conj(d)), axis, { keepdims = options.keepdims, where = options.where }) / count
  end
  return give(np.astype(np.where(np.greater(count, 0), result, np.nan),
    options.dtype or dtypes.name[dtypes.part_of(dtype)]), options.out, "nanvar")
end
function np.nanstd(a, axis, options, surplus)
  axis, options = split(axis, options, variance_options, "nanstd", surplus)
  local how = { keepdims = options.keepdims, dtype = options.dtype, ddof = options.ddof, where = options.where }
  return give(np.sqrt(np.nanvar(a, axis, how)), options.out, "nanstd")
end

-- As place_of, of as many lines as there are counts of elements.
local function places_of_lines(method, q, count)
  local m = methods_of_quantile
  if type(method) == "table" then
    if method == m.linear then return (count - 1) * q end
    local alpha, beta = method[1], method[2]
    return count * q + (alpha + q * (1 - alpha - beta)) - 1
  end
  local at = method == m.inverted_cdf and count * q or (count - 1) * q
  local down = np.floor(at)
  if method == m.lower then return down end
  if method == m.higher then return np.ceil(at) end
  if method == m.nearest then return np.rint(at) end
  if method == m.midpoint then return np.where(np.equal(at, down), at, down + 0.5) end
  return np.where(np.equal(at, down), at - 1, down)
end

-- Quantiles of what is a number: the places are looked up, since each line has its own count of numbers.
local function nan_quantiles(who, a, q, scale, axis, options)
  local method = take_method(options, who)
  if not is_inexact(a) then
    if core.size_of(a) > 0 then return quantiles(who, a, q, scale, axis, options) end
    a = to_float(a)
  end
  local list, single = check_quantiles(q, scale, who)
  local lines, back = lines_of(a, axis, options.keepdims, who)
  local shape = core.shape_of(lines)
  if shape[#shape] == 0 then
    local none = np.full(nothing(shape), np.nan, { dtype = dtypes.name[core.dtype_of(lines)] })
    return give(for_each(list, single, function() return back(none) end), options.out, who)
  end
  local selecting = #list <= MOST_SELECTED and dtypes.category[core.dtype_of(lines)] < 3 and
    not core.is_long_line(lines, core.ndim_of(lines))
  local sorted = not selecting and np.sort(lines)
  local count = np.sum(np.logical_not(np.isnan(lines)), -1, { keepdims = true })
  local last = np.maximum(count - 1, 0)
  local result = for_each(list, single, function(x)
    local at = np.astype(np.clip(places_of_lines(method, x, count), 0, last), "float64")
    local low = np.floor(at)
    local t = np.squeeze(at - low, -1)
    low = np.astype(low, "int64")
    local places = np.concatenate({ low, np.minimum(low + 1, last) }, -1)
    local both
    if selecting then
      both = native.new(core.dtype_of(lines), core.shape_of(places))
      native.lines("select", "wrr", { both, lines, places })
    else
      both = core.ndim_of(lines) == 1 and np.take(sorted, places + 1) or
        np.take_along_axis(sorted, places + 1, -1)
    end
    local below, above = column(both, 0), column(both, 1)
    local step = above - below
    local value = np.where(np.greater_equal(t, 0.5), above - step * (1 - t), below + step * t)
    if type(method) == "function" and method ~= methods_of_quantile.midpoint then value = below end
    return back(value)
  end)
  return give(result, options.out, who)
end

function np.nanquantile(a, q, axis, options, surplus)
  a, q, axis, options = take_quantiles("nanquantile", a, q, axis, options, surplus)
  return nan_quantiles("nanquantile", a, q, 1, axis, options)
end
function np.nanpercentile(a, q, axis, options, surplus)
  a, q, axis, options = take_quantiles("nanpercentile", a, q, axis, options, surplus)
  return nan_quantiles("nanpercentile", a, q, 100, axis, options)
end

---@return lgt_array
function np.nanmedian(a, axis, options, surplus)
  a = np.asarray(a)
  axis, options = split(axis, options, median_options, "nanmedian", surplus)
  if not is_inexact(a) then return np.median(a, axis, options) end
  local result = nan_quantiles("nanmedian", a, 0.5, 1, axis, { keepdims = options.keepdims })
  return give(np.astype(result, dtypes.name[core.dtype_of(a)]), options.out, "nanmedian")
end

-- ---- covariance ---------------------------------------------------------------------------------------------

local cov_options = { rowvar = true, bias = true, ddof = "number", fweights = true, aweights = true, dtype = true }

-- The observations as a matrix with a row for each variable.
local function variables(m, y, rowvar, who)
  m = np.asarray(m)
  if core.ndim_of(m) > 2 then raise("%s: at most a matrix was expected, not %s", who, (core.describe(m))) end
  local x = np.atleast_2d(to_float(m))
  if rowvar == false and core.shape_of(x)[1] ~= 1 then x = x.T end
  if y ~= nil then
    y = np.asarray(y)
    if core.ndim_of(y) > 2 then raise("%s: at most a matrix was expected, not %s", who, (core.describe(y))) end
    y = np.atleast_2d(to_float(y))
    if rowvar == false and core.shape_of(y)[1] ~= 1 then y = y.T end
    if core.shape_of(x)[2] ~= core.shape_of(y)[2] then
      raise("%s: %d and %d observations", who, core.shape_of(x)[2], core.shape_of(y)[2])
    end
    x = np.concatenate({ x, y }, 1)
  end
  return x
end

-- The covariances of variables: rows of m (columns if rowvar = false), with those of y added.
---@param m lgt_array vector or matrix of observations
---@param y lgt_array?
---@param options {rowvar: boolean?, bias: boolean?, ddof: number?, fweights: lgt_array?, aweights: lgt_array?}?
---@return lgt_array matrix; 0-d for one variable
function np.cov(m, y, options, surplus)
  core.check_behind(surplus, "cov")
  y, options = core.take_named("cov", { "y" }, y, options)
  options = core.check_options(options, cov_options, "cov")
  local x = variables(m, y, options.rowvar, "cov")
  x = np.astype(x, options.dtype or (dtypes.category[core.dtype_of(x)] == 3 and "complex128" or "float64"))
  local count = core.shape_of(x)[2]
  local ddof = options.ddof or (options.bias and 0 or 1)
  local w
  if options.fweights ~= nil then w = np.astype(np.asarray(options.fweights), "float64") end
  if options.aweights ~= nil then
    local aw = np.astype(np.asarray(options.aweights), "float64")
    w = w and w * aw or aw
  end
  local average, total
  if w then
    average, total = np.average(x, 2, { weights = w, returned = true })
    total = total[1]
  else
    average, total = np.mean(x, 2), count
  end
  local factor
  if not w then
    factor = math.max(0, count - ddof)
  elseif ddof == 0 then
    factor = total
  elseif options.aweights == nil then
    factor = total - ddof
  else
    factor = total - ddof * np.sum(w * np.astype(np.asarray(options.aweights), "float64")) / total
  end
  x = x - np.expand_dims(average, 2)
  local right = w and x * w or x
  if dtypes.category[core.dtype_of(x)] == 3 then right = np.conj(right) end
  return np.squeeze(np.dot(x, right.T) / factor)
end

-- The correlations of variables, as np.cov.
---@return lgt_array
function np.corrcoef(m, y, options, surplus)
  core.check_behind(surplus, "corrcoef")
  y, options = core.take_named("corrcoef", { "y" }, y, options)
  options = core.check_options(options, { rowvar = true, dtype = true, bias = true, ddof = "number" }, "corrcoef")
  local c = np.cov(m, y, { rowvar = options.rowvar, dtype = options.dtype }) -- bias and ddof cancel out
  if core.ndim_of(c) == 0 then return c / c end
  local deviation = np.sqrt(np.real(np.diagonal(c)))
  local result = c / np.expand_dims(deviation, 2) / np.expand_dims(deviation, 1)
  if dtypes.category[core.dtype_of(result)] == 3 then
    return np.clip(np.real(result), -1, 1) + np.clip(np.imag(result), -1, 1) * 1i
  end
  return np.clip(result, -1, 1)
end

return true
