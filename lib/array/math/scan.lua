-- array/math/scan.lua - running sums, differences, and what is made of them.
--
-- A scan is one task on lines, or three on blocks of them (ops/scan.c) that come to the same bits; differences
-- are generators on views and fuse.

local core = require "array.core"
local native = require "array.core.native"
local reduce = require "array.core.reduce"
local routine = require "array.core.routine"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np, methods = core.np, core.methods

-- ---- scans ------------------------------------------------------------------------------------------------

local BLOCK = 1024 -- elements that are scanned in one piece, as scan.h has it
local WORTH = 131072 -- elements, from which on blocks are scanned by several workers

local ordered = { [native.operation.subtract] = true, [native.operation.divide] = true }

-- A view with a short first axis and a long scanned one, the other way round: workers share the first axis.
local function long_axis_first(a, axis)
  local shape = core.shape_of(a)
  if axis == 1 or shape[1] >= 64 then return a, axis, function(x) return x end end
  return np.moveaxis(a, axis, 1), 1, function(x) return np.moveaxis(x, 1, axis) end
end

-- Blocks of lines, wherever they are: of other blocks each needs but the combination of all before it.
local function scan_in_blocks(a, axis, operation)
  local source, along, back = long_axis_first(a, axis)
  local shape, dtype, ndim = core.shape_of(source), core.dtype_of(a), core.ndim_of(a)
  local totals_shape = { unpack(shape) }
  totals_shape[along] = math.ceil(shape[along] / BLOCK)
  local totals, carry = native.new(dtype, totals_shape), native.new(dtype, totals_shape)
  local result = native.new(dtype, shape)
  local words = {}
  for d = 0, ndim - 1 do words[d + 1] = ("align(0.%d,1.%d)"):format(d, d) end
  local alike = table.concat(words, " ")
  native.launch("scan_totals", "wr", ("%s scale(1.%d,%d)"):format(alike, along - 1, BLOCK), { totals, source },
    { operation, along - 1 })
  native.lines("scan_carry", "wr", { (native.axis_last(carry, along)), (native.axis_last(totals, along)) },
    { operation })
  for d = 0, ndim - 1 do words[d + 1] = ("align(0.%d,1.%d,2.%d)"):format(d, d, d) end
  native.launch("scan_blocks", "wrr", ("%s scale(0.%d,%d) scale(1.%d,%d)"):format(table.concat(words, " "), along - 1,
    BLOCK, along - 1, BLOCK), { result, source, carry }, { operation, along - 1 })
  return back(result)
end

-- Several domains: nothing moves but what blocks come to.  Several workers: they share lines, if there are enough.
local function worth_blocks(a, axis, operation)
  local shape, size = core.shape_of(a), core.size_of(a)
  if shape[axis] <= BLOCK or size == 0 or ordered[operation] then return false end
  if not native.whole then return true end
  return lgt.C.lgt_workers(lgt.rt) > 1 and size >= WORTH and size / shape[axis] < 128
end

---@return lgt_array of a's dtype
function core.scan(a, axis, operation)
  if worth_blocks(a, axis, operation) then return scan_in_blocks(a, axis, operation) end
  local source, back = native.axis_last(a, axis)
  local result = native.new(core.dtype_of(a), core.shape_of(source))
  native.lines("scan", "wr", { result, source }, { operation })
  return back(result)
end

local scan_options = { axis = true, dtype = true, out = true }

local function cumulative(name, operation, map)
  local function scan(a, axis, options, surplus)
    core.check_behind(surplus, name)
    a = np.asarray(a)
    axis, options = core.split_options(axis, options, name)
    options = core.check_options(options, scan_options, name)
    if axis == nil then axis = options.axis end
    if map then a = map(a) end
    if axis == nil then a, axis = np.ravel(a), 1 end
    axis = core.check_axis(axis, core.ndim_of(a), name)
    local dtype = options.dtype and core.check_dtype(options.dtype, name) or dtypes.of_sum(core.dtype_of(a))
    local result = core.scan(core.dtype_of(a) == dtype and a or np.astype(a, dtypes.name[dtype]), axis, operation)
    return reduce.give(result, options.out, name)
  end
  local known = routine.new(scan)
  np[name] = function(a, axis, options, surplus)
    if options == nil and surplus == nil then return (routine.of_array(known, a, axis)) end
    return (scan(a, axis, options, surplus))
  end
end

local function without_nan(neutral)
  return function(a)
    return dtypes.category[core.dtype_of(a)] < 2 and a or np.where(np.isnan(a), neutral, a)
  end
end

-- Running sums and products along an axis (of the flattened array without one); options {axis, dtype, out}.
-- The nan-variants count NaN as nothing.
cumulative("cumsum", native.operation.add)
cumulative("cumprod", native.operation.multiply)
cumulative("nancumsum", native.operation.add, without_nan(0))
cumulative("nancumprod", native.operation.multiply, without_nan(1))
np.cumproduct = np.cumprod
methods.cumsum, methods.cumprod = np.cumsum, np.cumprod

-- ---- differences ----------------------------------------------------------------------------------------------

local function between(a, axis, first, past)
  return lgt.alias(a, lgt.slice(core.layout_of(a), axis, past <= first and 0 or first, math.max(0, past - first), 1))
end

local diff_options = { n = true, axis = true, prepend = true, append = true }

-- Differences of neighbours along an axis (the last), n times over; of booleans: whether they differ.
---@param a lgt_array
---@param n integer? 1
---@param axis integer?
---@param options {n: integer?, axis: integer?, prepend: any, append: any}?
---@return lgt_array
function np.diff(a, n, axis, options, surplus)
  core.check_behind(surplus, "diff")
  a = np.asarray(a)
  if core.is_options(n) then
    core.check_behind(options, "diff")
    n, axis, options = nil, core.split_options(n, axis, "diff")
  else
    axis, options = core.split_options(axis, options, "diff")
  end
  options = core.check_options(options, diff_options, "diff")
  n, axis = core.plain(core.given(n) or options.n or 1), axis or options.axis or -1
  if not core.is_integer(n) or n < 0 then raise("diff: the order is an integer from 0 up, not %s", core.word(n)) end
  if core.ndim_of(a) == 0 then raise("diff: a 0-d array has no neighbours") end
  axis = core.check_axis(axis, core.ndim_of(a), "diff")
  local function one_more(x)
    x = core.beside(x, core.dtype_of(a))
    if core.ndim_of(x) > 0 then return x end
    local shape = core.shape_of(a)
    shape[axis] = 1
    return np.broadcast_to(x, shape)
  end
  if options.prepend ~= nil then a = np.concatenate({ one_more(options.prepend), a }, axis) end
  if options.append ~= nil then a = np.concatenate({ a, one_more(options.append) }, axis) end
  for _ = 1, math.min(n, core.shape_of(a)[axis]) do
    local extent = core.shape_of(a)[axis]
    local later, earlier = between(a, axis, 1, extent), between(a, axis, 0, extent - 1)
    a = core.dtype_of(a) == dtypes.BOOL and np.not_equal(later, earlier) or later - earlier
  end
  return a
end

-- Differences of neighbours of the flattened array; options {to_begin, to_end}: what comes before and after.
---@return lgt_array
function np.ediff1d(a, options)
  options = core.check_options(options, { to_begin = true, to_end = true }, "ediff1d")
  local result = np.diff(np.ravel(a))
  local dtype = dtypes.name[core.dtype_of(result)]
  local parts = { result }
  if options.to_begin ~= nil then table.insert(parts, 1, np.astype(np.ravel(options.to_begin), dtype)) end
  if options.to_end ~= nil then parts[#parts + 1] = np.astype(np.ravel(options.to_end), dtype) end
  return #parts > 1 and np.concatenate(parts) or result
end

-- A vector along one axis of an array of ndim dimensions.
local function along(v, axis, ndim)
  local shape = {}
  for d = 1, ndim do shape[d] = d == axis and core.size_of(v) or 1 end
  return np.reshape(v, shape)
end

-- The derivative along one axis: second order inside, first or second order at the ends.
local function derivative(f, axis, spacing, edge_order)
  local n, ndim = core.shape_of(f)[axis], core.ndim_of(f)
  if n < edge_order + 1 then
    raise("gradient: %d elements along axis %d; at least %d are needed", n, axis, edge_order + 1)
  end
  local function at(first, past) return between(f, axis, first, past) end
  local parts
  if type(spacing) == "number" then
    local h = spacing
    parts = { (at(1, 2) - at(0, 1)) / h, (at(2, n) - at(0, n - 2)) / (2 * h), (at(n - 1, n) - at(n - 2, n - 1)) / h }
    if edge_order == 2 then
      parts[1] = -1.5 / h * at(0, 1) + 2 / h * at(1, 2) + -0.5 / h * at(2, 3)
      parts[3] = 0.5 / h * at(n - 3, n - 2) + -2 / h * at(n - 2, n - 1) + 1.5 / h * at(n - 1, n)
    end
  else
    local x = along(spacing, axis, ndim)
    local dx = np.diff(x, 1, axis)
    local function step(first, past) return between(dx, axis, first, past) end
    parts = { (at(1, 2) - at(0, 1)) / step(0, 1), false, (at(n - 1, n) - at(n - 2, n - 1)) / step(n - 2, n - 1) }
    local d1, d2 = step(0, n - 2), step(1, n - 1)
    parts[2] = -d2 / (d1 * (d1 + d2)) * at(0, n - 2) + (d2 - d1) / (d1 * d2) * at(1, n - 1) +
      d1 / (d2 * (d1 + d2)) * at(2, n)
    if edge_order == 2 then
      local a, b = step(0, 1), step(1, 2)
      parts[1] = -(2 * a + b) / (a * (a + b)) * at(0, 1) + (a + b) / (a * b) * at(1, 2) - a / (b * (a + b)) * at(2, 3)
      a, b = step(n - 3, n - 2), step(n - 2, n - 1)
      parts[3] = b / (a * (a + b)) * at(n - 3, n - 2) - (b + a) / (a * b) * at(n - 2, n - 1) +
        (2 * b + a) / (b * (a + b)) * at(n - 1, n)
    end
  end
  if n == 2 then table.remove(parts, 2) end
  return np.concatenate(parts, axis)
end

-- The gradient of values on a grid: one result for each axis.
---@param f lgt_array
---@param ... number|lgt_array spacing: one number, or for each axis a number or the coordinates; then options
---  {axis = integer|integer[], edge_order = 1 or 2}
---@return lgt_array ...
function np.gradient(f, ...)
  f = np.asarray(f)
  local spacings, options = { ... }, nil
  local last = spacings[#spacings]
  if core.is_options(last) or last ~= nil and core.given(last) == nil then options = table.remove(spacings) end
  options = core.check_options(options, { axis = true, edge_order = true }, "gradient")
  local edge_order = options.edge_order or 1
  if edge_order ~= 1 and edge_order ~= 2 then raise("gradient: edge_order is 1 or 2, not %s", core.word(edge_order)) end
  if dtypes.category[core.dtype_of(f)] < 2 then f = np.astype(f, "float64") end
  local ndim = core.ndim_of(f)
  local axes = type(options.axis) == "table" and options.axis or options.axis and { options.axis } or {}
  if #axes == 0 then
    for d = 1, ndim do axes[d] = d end
  end
  if #spacings ~= 0 and #spacings ~= 1 and #spacings ~= #axes then
    raise("gradient: %d spacings for %d axes", #spacings, #axes)
  end
  local results = {}
  for i, axis in ipairs(axes) do
    axis = core.check_axis(axis, ndim, "gradient")
    local spacing = spacings[#spacings == 1 and 1 or i] or 1
    spacing = core.plain(spacing)
    if type(spacing) ~= "number" then
      spacing = np.asarray(spacing)
      if core.ndim_of(spacing) ~= 1 or core.size_of(spacing) ~= core.shape_of(f)[axis] then
        raise("gradient: the coordinates along axis %d must be a vector of %d elements", axis, core.shape_of(f)[axis])
      end
    end
    results[i] = derivative(f, axis, spacing, edge_order)
  end
  return unpack(results)
end

-- The integral along an axis (the last) by the trapezoidal rule.
---@param y lgt_array
---@param x lgt_array? coordinates: a vector, or y's shape
---@param options {dx: number?, axis: integer?}? dx: their distance if x is nil, 1
---@return lgt_array
function np.trapz(y, x, options)
  x, options = core.take_named("trapz", { "x" }, x, options)
  options = core.check_options(options, { dx = true, axis = true }, "trapz")
  y = np.asarray(y)
  local ndim = core.ndim_of(y)
  if ndim == 0 then raise("trapz: a 0-d array was given") end
  local axis = core.check_axis(options.axis or -1, ndim, "trapz")
  local n, dx = core.shape_of(y)[axis], options.dx or 1
  if x ~= nil then
    x = np.asarray(x)
    dx = core.ndim_of(x) == 1 and along(np.diff(x), axis, ndim) or np.diff(x, 1, axis)
  end
  if dtypes.category[core.dtype_of(y)] < 2 then y = np.astype(y, "float64") end
  return np.sum(dx * (between(y, axis, 1, n) + between(y, axis, 0, n - 1)) / 2, axis)
end

return true
