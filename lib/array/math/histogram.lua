-- array/math/histogram.lua - how often values occur: histograms of one and more dimensions, bincount.
--
-- Each domain counts its part of the values in a table of its own, and the tables are added up: one task on one domain.
-- Where such tables would be larger than the part, and in more dimensions, a value's bin is found by a search among the
-- edges and counted by a scatter that accumulates.  Nothing waits, except for scatters on several domains, and for a
-- bincount that does not say how many elements its result has.

local core = require "array.core"
local ffi = require "ffi"
local native = require "array.core.native"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np = core.np
require "array.math.sort" -- for core.count_before

local COMPLEX_I = ffi.typeof("complex double")(0, 1)

local histogram_options = { bins = true, range = true, weights = true, density = true }

-- The width of bins by name, of n values that span `width`, as NumPy estimates it; 0: one bin.
local estimators = {}
function estimators.sqrt(_, n, width) return width / math.sqrt(n) end
function estimators.sturges(_, n, width) return width / (math.log(n) / math.log(2) + 1) end
function estimators.rice(_, n, width) return width / (2 * n ^ (1 / 3)) end
function estimators.scott(a, n) return (24 * math.sqrt(math.pi) / n) ^ (1 / 3) * core.read_item(np.std(a)) end
function estimators.fd(a, n)
  local quartiles = np.percentile(a, { 75, 25 })
  return 2 * (quartiles(1) - quartiles(2)) / n ^ (1 / 3)
end
function estimators.doane(a, n, width)
  local sigma = n > 2 and core.read_item(np.std(a)) or 0
  if sigma == 0 then return 0 end
  local skew = core.read_item(np.mean(((a - np.mean(a)) / sigma) ^ 3))
  local error_of_skew = math.sqrt(6 * (n - 2) / ((n + 1) * (n + 3)))
  return width / (1 + math.log(n) / math.log(2) + math.log(1 + math.abs(skew) / error_of_skew) / math.log(2))
end
function estimators.auto(a, n, width)
  local fd, sturges = estimators.fd(a, n), estimators.sturges(a, n, width)
  return fd > 0 and math.min(fd, sturges) or sturges
end

-- How many bins an estimator takes.  Waits.
local function estimated_bins(a, name, range, weights, who)
  local estimator = estimators[name]
  if not estimator then
    raise("%s: bins = %q: auto, doane, fd, rice, scott, sqrt or sturges was expected", who, name)
  end
  if weights ~= nil then raise("%s: bins = %q is no estimate of weighted values; give a number", who, name) end
  a = np.astype(a, "float64")
  local low, high = range and range[1], range and range[2]
  if range then
    a = np.compress(np.logical_and(np.greater_equal(a, low), np.less_equal(a, high)), a)
  elseif core.size_of(a) > 0 then
    low, high = core.read_item(np.min(a)), core.read_item(np.max(a))
  end
  local n = core.size_of(a)
  if n == 0 then return 1 end
  local data = core.read_item(np.max(a)) - core.read_item(np.min(a))
  local width = estimator(a, n, data)
  if high == low then low, high = low - 0.5, high + 0.5 end
  return width > 0 and math.ceil((high - low) / width) or 1
end

-- The edges of bins: given, or so many equal ones over the range or over what the data span.
local function edges_of(a, bins, range, who, weights)
  if range ~= nil then
    range = core.as_list(range) or {}
    if #range ~= 2 or type(range[1]) ~= "number" or type(range[2]) ~= "number" or range[1] > range[2] then
      raise("%s: the range is {least, greatest}", who)
    end
  end
  if type(bins) == "string" then bins = estimated_bins(a, bins, range, weights, who) end
  bins = core.plain(bins)
  if bins == nil then bins = 10 end
  if type(bins) ~= "number" then
    local edges = np.asarray(bins)
    if core.ndim_of(edges) ~= 1 or core.size_of(edges) < 2 then
      raise("%s: a vector of at least two edges was expected", who)
    end
    return edges
  end
  if not core.is_integer(bins) or bins < 1 then raise("%s: %g bins; at least one was expected", who, bins) end
  local low, high
  if range ~= nil then
    low, high = np.array(range[1]), np.array(range[2])
  elseif core.size_of(a) == 0 then
    low, high = np.array(0), np.array(1)
  else
    low, high = np.astype(np.min(a), "float64"), np.astype(np.max(a), "float64")
  end
  local same = np.equal(low, high)
  low, high = np.where(same, low - 0.5, low), np.where(same, high + 0.5, high)
  local i = np.arange(bins + 1)
  local step = (high - low) / bins
  return np.where(np.equal(i, bins), high, i * step + low)
end

-- In which of the bins 1, ..., n each value lies; 0 and n + 1 (or n + 2, NaN) outside.  The last bin is closed.
local function bin_of(values, edges)
  local n = core.size_of(edges) - 1
  local at = core.count_before(edges, values, true)
  local last = lgt.alias(edges, lgt.project(core.layout_of(edges), 1, n))
  return np.where(np.equal(values, last), n, at)
end

-- How often each of the numbers 0, ..., size - 1 occurs, or the sum of the weights it occurs with.
local function tally(numbers, size, weights)
  local dtype = weights and dtypes.name[core.dtype_of(weights)] or "int64"
  local result = np.zeros(size, { dtype = dtype })
  local values = weights or np.ones({}, { dtype = dtype })
  np.add.at(result, numbers + 1, values)
  return result
end

local function take_weights(weights, a, who)
  if weights == nil then return nil end
  weights = np.ravel(np.asarray(weights))
  if core.size_of(weights) ~= core.size_of(a) then
    raise("%s: %d weights for %d values", who, core.size_of(weights), core.size_of(a))
  end
  return dtypes.category[core.dtype_of(weights)] == 0 and np.astype(weights, "int64") or weights
end

-- How often each of `size` things occurs among the values, or the sum of the weights it occurs with.  Weights of other
-- dtypes than int64 and float64 are summed up as float64, and complex ones part by part.
--   variant    of ops/histogram.c, with a parameter and what it takes besides values and weights
--   number_of  the function of the values that gives their numbers from 1 to size; others do not count
local function counted(size, values, weights, variant, number_of)
  local dtype = weights and core.dtype_of(weights) or dtypes.INT64
  if dtypes.category[dtype] == 3 then
    local re = counted(size, values, np.astype(np.real(weights), "float64"), variant, number_of)
    local im = counted(size, values, np.astype(np.imag(weights), "float64"), variant, number_of)
    return np.astype(re + im * COMPLEX_I, dtypes.name[dtype])
  end
  local inner = dtypes.category[dtype] < 2 and dtypes.INT64 or dtypes.FLOAT64
  weights = weights and np.asarray(weights, { dtype = dtypes.name[inner] })
  local n = core.size_of(values)
  local parts = native.divided(n) and lgt.C.lgt_domains(lgt.rt) or 1
  local run = math.max(1, math.ceil(n / parts))
  local result
  if parts > 1 and (size > run or inner == dtypes.FLOAT64 and lgt.reproducible()) then
    local all = tally(number_of(values), size + 2, weights)
    result = lgt.alias(all, lgt.slice(core.layout_of(all), 1, 1, size, 1))
  else
    local tables = native.new(inner, { parts, size })
    local list = { tables, values, variant.with }
    list[#list + 1] = weights
    local constraints = weights and ("align(0.0,1.0,%d.0) scale(1.0) scale(%d.0)"):format(#list - 1, #list - 1) or
      "align(0.0,1.0) scale(1.0)"
    native.launch(variant.name, "w" .. ("r"):rep(#list - 1), constraints, list, { variant.parameter, run })
    result = parts == 1 and lgt.alias(tables, lgt.project(core.layout_of(tables), 1, 0)) or np.sum(tables, 1)
  end
  return np.asarray(result, { dtype = dtypes.name[dtype] })
end

-- The edges that np.histogram would use.
---@param a lgt_array flattened
---@param bins integer|string|lgt_array|nil
---@param range number[]? {least, greatest}
---@param weights lgt_array? of no effect, but that bins are no name then
---@return lgt_array
function np.histogram_bin_edges(a, bins, range, weights, surplus)
  local who = "histogram_bin_edges"
  bins, range, weights = core.take_only_named(who, { "bins", "range", "weights" }, bins, range, weights, surplus)
  return edges_of(np.ravel(np.asarray(a)), bins, range, who, weights)
end

-- How many values lie in each bin.
---@param a lgt_array flattened
---@param bins integer|string|lgt_array|nil a number of equal bins (10); how many are estimated, which waits: "auto",
---  "doane", "fd", "rice", "scott", "sqrt", "sturges"; or the edges, ascending
---@param options {bins: any, range: number[]?, weights: lgt_array?, density: boolean?}? range: {least, greatest}
---@return lgt_array counts (int64, or of the weights' dtype; float64 for a density), lgt_array edges
function np.histogram(a, bins, options, surplus)
  core.check_behind(surplus, "histogram")
  bins, options = core.split_options(bins, options, "histogram")
  options = core.check_options(options, histogram_options, "histogram")
  a = np.ravel(np.asarray(a))
  local weights = take_weights(options.weights, a, "histogram")
  if core.dtype_of(a) == dtypes.BOOL then a = np.astype(a, "uint8") end
  if dtypes.category[core.dtype_of(a)] == 3 then raise("histogram: real numbers were expected") end
  local bins_given = bins or options.bins
  local edges = edges_of(a, bins_given, options.range, "histogram", weights)
  local equidistant = (bins_given == nil or type(bins_given) == "number" or type(bins_given) == "string") and 1 or 0
  local counts = counted(core.size_of(edges) - 1, np.astype(a, "float64"), weights,
    { name = "histogram", parameter = equidistant, with = np.astype(edges, "float64") },
    function(values) return np.minimum(bin_of(values, edges), core.size_of(edges)) end)
  if options.density then counts = counts / np.diff(edges) / np.sum(counts) end
  return counts, edges
end

-- How many points lie in each box: one column of `sample` for each dimension.
---@param sample lgt_array matrix, a row for each point
---@param bins integer|(integer|lgt_array)[]|nil for all dimensions, or one entry for each
---@param options {range: number[][]?, weights: lgt_array?, density: boolean?}?
---@return lgt_array counts float64, lgt_array[] edges
function np.histogramdd(sample, bins, options, surplus)
  core.check_behind(surplus, "histogramdd")
  bins, options = core.split_options(bins, options, "histogramdd")
  options = core.check_options(options, histogram_options, "histogramdd")
  sample = np.asarray(sample)
  if core.ndim_of(sample) == 1 then sample = np.expand_dims(sample, 2) end
  if core.ndim_of(sample) ~= 2 then raise("histogramdd: a matrix of points was expected") end
  local dims = core.shape_of(sample)[2]
  bins = bins or options.bins or 10
  if type(bins) == "table" and #bins ~= dims then raise("histogramdd: bins for %d of %d dimensions", #bins, dims) end
  if options.range ~= nil and (type(options.range) ~= "table" or #options.range > dims) then
    raise("histogramdd: the range is a table of {least, greatest} for each of %d dimensions", dims)
  end
  local weights = take_weights(options.weights, sample[{ {}, 1 }], "histogramdd")
  if weights then weights = np.astype(weights, "float64") end
  local number, shape, edges, inner = 0, {}, {}, {}
  for d = 1, dims do
    local values = lgt.alias(sample, lgt.project(core.layout_of(sample), 2, d - 1))
    edges[d] = edges_of(values, type(bins) == "table" and bins[d] or bins, options.range and options.range[d],
      "histogramdd")
    shape[d] = core.size_of(edges[d]) + 1
    inner[d] = { 2, -2 }
    number = number * shape[d] + np.minimum(bin_of(values, edges[d]), shape[d] - 1)
  end
  local counts = np.reshape(tally(number, core.product(shape), weights), shape)[inner]
  counts = np.astype(counts, "float64")
  if options.density then
    local volume = 1
    for d = 1, dims do
      local spread = {}
      for i = 1, dims do spread[i] = i == d and shape[d] - 2 or 1 end
      volume = volume * np.reshape(np.diff(edges[d]), spread)
    end
    counts = counts / volume / np.sum(counts)
  end
  return counts, edges
end

---@param x lgt_array vector
---@param y lgt_array vector
---@param bins integer|(integer|lgt_array)[]|lgt_array|nil for both dimensions, or one entry for each
---@param options {range: number[][]?, weights: lgt_array?, density: boolean?}?
---@return lgt_array counts, lgt_array edges of x, lgt_array edges of y
function np.histogram2d(x, y, bins, options)
  if type(bins) == "table" and not core.is_options(bins) and #bins ~= 2 then
    raise("histogram2d: bins for both dimensions were expected")
  end
  if core.is_array(bins) then bins = { bins, bins } end
  local counts, edges = np.histogramdd(np.stack({ np.ravel(x), np.ravel(y) }, 2), bins, options)
  return counts, edges[1], edges[2]
end

local bincount_options = { base = "base", minlength = "count", weights = true, size = "count" }

-- How often each of the positions 1, 2, ... occurs in x, or the sum of the weights it occurs with.
---@param x lgt_array|integer[] vector of integers
---@param weights lgt_array|number[]|nil
---@param minlength integer? the result has at least so many elements
---@param options {base: integer?, size: integer?, weights: lgt_array?, minlength: integer?}? base = 0: x
---  counts from 0, as in NumPy; size: exactly so many elements, and nothing waits (else the greatest of x does)
---@return lgt_array
function np.bincount(x, weights, minlength, options)
  if core.is_options(weights) then weights, options = nil, weights end
  if core.is_options(minlength) then minlength, options = nil, minlength end
  options = core.check_options(options, bincount_options, "bincount")
  x = type(x) == "table" and np.array(x, { dtype = "int64" }) or np.asarray(x)
  if core.ndim_of(x) ~= 1 then raise("bincount: a vector was expected, not %s", (core.describe(x))) end
  if dtypes.category[core.dtype_of(x)] > 1 then
    raise("bincount: integers were expected, not %s", dtypes.name[core.dtype_of(x)])
  end
  weights = take_weights(weights or options.weights, x, "bincount")
  minlength = core.check_value(minlength, "count", "minlength", "bincount") or options.minlength or 0
  if weights then weights = np.astype(weights, "float64") end
  local base = options.base or 1
  if core.dtype_of(x) == dtypes.UINT64 or core.dtype_of(x) == dtypes.BOOL then x = np.astype(x, "int64") end
  local size = options.size
  if not size then
    size = minlength
    if core.size_of(x) > 0 then
      local low, high = np.min(x), np.max(x)
      low, high = tonumber(core.read_item(low)), tonumber(core.read_item(high))
      if low < base then
        raise("bincount: %d is below %d%s", low, base,
          low == 0 and "; for positions that count from 0 give {base = 0}" or "")
      end
      size = math.max(minlength, high - base + 1)
    end
  end
  return counted(size, x, weights, { name = "count", parameter = base },
    function(values)
      local numbers = native.new(dtypes.INT64, core.shape_of(values))
      native.elements("count_places", "wr", { numbers, values }, { base, size })
      return numbers
    end)
end

return true
