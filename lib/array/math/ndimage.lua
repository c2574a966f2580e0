-- array/math/ndimage.lua - np.ndimage: filters of arrays of any number of dimensions, as those of scipy.ndimage.
--
-- A filter is a sum of shifted views of the array with a border around it, each times a weight: the sum fuses.
-- Filters along single axes take as many terms as the axes' weights together, others as many as there are weights.

local core = require "array.core"

local lgt, dtypes, raise, np = core.lgt, core.dtypes, core.raise, core.np

local ndimage = {}
np.ndimage = ndimage

local MOST = 1024 -- weights: each is a term
local FUSED = 16 -- terms of one expression

-- What stands outside, by scipy's names and by np.pad's.
local borders = { reflect = "symmetric", constant = "constant", nearest = "edge", mirror = "reflect", wrap = "wrap" }
local border_options = { mode = true, cval = true, origin = true }

local function take(a, options, who)
  a = np.asarray(a)
  options = core.check_options(options, border_options, who)
  local mode = borders[options.mode or "reflect"]
  if not mode then
    raise("%s: mode is \"reflect\", \"constant\", \"nearest\", \"mirror\" or \"wrap\", not %s", who,
      (core.describe(options.mode)))
  end
  local origin = core.plain(options.origin or 0)
  if not core.is_integer(origin) then raise("%s: origin is an integer, not %s", who, (core.describe(origin))) end
  return a, mode, options.cval or 0, origin
end

-- The array with a border of `before` and `after` elements along each axis.
local function with_border(a, before, after, mode, value)
  local widths = {}
  for d = 1, core.ndim_of(a) do widths[d] = { before[d], after[d] } end
  if mode == "constant" then return np.pad(a, widths, mode, { constant_values = value }) end
  return np.pad(a, widths, mode)
end

-- The sum over the weights (a list with offsets from 0 for each axis) of shifted views.
local function weighted_sum(padded, shape, terms)
  local total, part
  for k, term in ipairs(terms) do
    local layout = core.layout_of(padded)
    for d = 1, #shape do layout = lgt.slice(layout, d, term.at[d], shape[d], 1) end
    local one = lgt.alias(padded, layout) * term.weight
    part = part and part + one or one
    if k % FUSED == 0 or k == #terms then
      total, part = total and total + part or part, nil
    end
  end
  return total
end

-- `weights` is a list in C order, of these extents.
local function filtered(a, list, extents, mode, value, origin, reversed, who)
  local shape = core.shape_of(a)
  if #extents ~= #shape then raise("%s: weights of %d dimensions for an array of %d", who, #extents, #shape) end
  local count = core.product(extents)
  if count == 0 then raise("%s: there are no weights", who) end
  if count > MOST then raise("%s: %d weights; at most %d are taken", who, count, MOST) end
  local before, after = {}, {}
  for d = 1, #extents do
    -- The middle; of an even number the one that scipy takes.
    local middle = math.floor(extents[d] / 2) - (reversed and extents[d] % 2 == 0 and 1 or 0)
    before[d] = middle + (reversed and -origin or origin)
    after[d] = extents[d] - 1 - before[d]
    if before[d] < 0 or after[d] < 0 then raise("%s: origin = %d is outside of the weights", who, origin) end
  end
  local wide = dtypes.category[core.dtype_of(a)] < 2 and "float64" or dtypes.name[core.dtype_of(a)]
  local padded = with_border(np.asarray(a, { dtype = wide }), before, after, mode, value)
  local terms = {}
  for i = 0, count - 1 do
    local at, rest = {}, i
    for d = #extents, 1, -1 do
      local offset = rest % extents[d]
      rest = (rest - offset) / extents[d]
      at[d] = reversed and extents[d] - 1 - offset or offset
    end
    if list[i + 1] ~= 0 then terms[#terms + 1] = { at = at, weight = list[i + 1] } end
  end
  local result = #terms > 0 and weighted_sum(padded, shape, terms) or np.zeros_like(a)
  return np.astype(result, dtypes.name[core.dtype_of(a)])
end

local function filtered_by(a, weights, ...)
  weights = np.asarray(weights)
  return filtered(a, np.astype(np.ravel(weights), "float64"):totable(), core.shape_of(weights), ...)
end

-- The sum of products with weights that lie mirrored over each element.  Options: mode, what stands outside ("reflect",
-- "constant" with cval, "nearest", "mirror", "wrap"); origin, by how much the weights are shifted (0).
---@param a lgt_array
---@param weights lgt_array|table of as many dimensions, at most 1024; it is read, which waits
---@param options {mode: string?, cval: number?, origin: integer?}?
---@return lgt_array of a's dtype
function ndimage.convolve(a, weights, options)
  local x, mode, value, origin = take(a, options, "ndimage.convolve")
  return filtered_by(x, weights, mode, value, origin, true, "ndimage.convolve")
end

-- The same with weights that are not mirrored.
---@param a lgt_array
---@param weights lgt_array|table
---@param options {mode: string?, cval: number?, origin: integer?}?
---@return lgt_array of a's dtype
function ndimage.correlate(a, weights, options)
  local x, mode, value, origin = take(a, options, "ndimage.correlate")
  return filtered_by(x, weights, mode, value, origin, false, "ndimage.correlate")
end

-- The extents of `count` weights along one of ndim axes.
local function along(count, axis, ndim)
  local shape = {}
  for d = 1, ndim do shape[d] = d == axis and count or 1 end
  return shape
end

-- One number for each axis.
local function for_axes(x, ndim, name, who)
  local list, single = core.as_list(x) or {}, core.plain(x)
  for d = 1, ndim do
    if type(single) == "number" then list[d] = single end
    if type(list[d]) ~= "number" or list[d] < 0 then
      raise("%s: %s is a number from 0 up, or one for each axis", who, name)
    end
  end
  return list
end

-- Means over boxes of `size` elements (a number, or one for each axis).
---@param a lgt_array
---@param size integer|integer[]
---@param options {mode: string?, cval: number?, origin: integer?}?
---@return lgt_array
function ndimage.uniform_filter(a, size, options)
  local x, mode, value, origin = take(a, options, "ndimage.uniform_filter")
  local ndim = core.ndim_of(x)
  for d, n in ipairs(for_axes(size or 3, ndim, "size", "ndimage.uniform_filter")) do
    local list = {}
    for k = 1, n do list[k] = 1 / n end
    if n > 1 then x = filtered(x, list, along(#list, d, ndim), mode, value, origin, false, "ndimage.uniform_filter") end
  end
  return x
end

-- Blurred by normal distributions of deviation sigma (a number, or one for each axis), cut off at 4 sigma.
---@param a lgt_array
---@param sigma number|number[]
---@param options {mode: string?, cval: number?}?
---@return lgt_array
function ndimage.gaussian_filter(a, sigma, options)
  local x, mode, value = take(a, options, "ndimage.gaussian_filter")
  local ndim = core.ndim_of(x)
  for d, s in ipairs(for_axes(sigma, ndim, "sigma", "ndimage.gaussian_filter")) do
    local list, total, radius = {}, 0, math.floor(4 * s + 0.5)
    for k = -radius, radius do
      list[#list + 1] = math.exp(-0.5 * k * k / (s * s))
      total = total + list[#list]
    end
    for k = 1, #list do list[k] = list[k] / total end
    if s > 1e-15 then x = filtered(x, list, along(#list, d, ndim), mode, value, 0, false, "ndimage.gaussian_filter") end
  end
  return x
end

return ndimage
