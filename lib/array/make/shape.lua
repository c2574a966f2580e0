-- array/make/shape.lua - arrays in other shapes: views where strides allow it, copies where not.
--
-- reshape, ravel and squeeze give a view if there is one, else a copy, as NumPy does.  transpose,
-- expand_dims, broadcast_to, flip and the like are always views.  Joining (concatenate, stack, tile, ...)
-- writes each part through a view of the new array.

local core = require "array.core"
local reduce = require "array.core.reduce"
local routine = require "array.core.routine"
local ufunc = require "array.core.ufunc"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np, methods, getters = core.np, core.methods, core.getters
local layouts = lgt.layouts
local is_options = core.is_options

local function alias(a, layout)
  local view = lgt.alias(a, layout)
  core.mark_view(a, view)
  return view
end

-- ---- the same elements in another shape ----------------------------------------------------------------

-- One extent may be -1: what is left over.
local function take_reshape(who, size, ...)
  local shape = { ... }
  if type(shape[1]) == "table" then
    if #shape > 1 then raise("%s: a shape comes as arguments or as one table, not both", who) end
    shape = { unpack(shape[1]) }
  end
  local known, open = 1, nil
  for d = 1, #shape do
    shape[d] = core.plain(shape[d])
    if type(shape[d]) == "number" and shape[d] == -1 then
      if open then raise("%s: only one extent can be -1", who) end
      open = d
    elseif not core.is_integer(shape[d]) or shape[d] < 0 then
      raise("%s: extents are integers from 0 up, or -1 for what is left, not %s", who, (core.describe(shape[d])))
    else
      known = known * shape[d]
    end
  end
  if open then
    if known == 0 or size % known ~= 0 then raise("%s: %d elements cannot be divided by %d", who, size, known) end
    shape[open] = size / known
  elseif known ~= size then
    raise("%s: an array of %d elements cannot have the shape %s", who, size, core.shape_text(shape))
  end
  return shape
end

local order_option = { order = true }

-- Is the order of elements "F", in which the first axis runs fastest, rather than "C"?
local function is_fortran(options, who)
  if type(options) ~= "string" then options = core.check_options(options, order_option, who) end
  local order = type(options) == "string" and options or options.order or "C"
  if order ~= "C" and order ~= "F" then raise("%s: order is \"C\" or \"F\", not %s", who, (core.describe(order))) end
  return order == "F"
end

-- The shape that stands among options as NumPy's `newshape`, or as the `shape` of its method; the other options.
local function take_shape_option(options)
  local rest = {}
  for key, value in pairs(options) do
    if key ~= "newshape" and key ~= "shape" then rest[key] = value end
  end
  local shape = options.newshape or options.shape
  if shape == nil then raise("reshape: the new shape is missing") end
  return { shape }, rest
end

local function reshape_fortran(a, shape)
  local reversed = {}
  for d = 1, #shape do reversed[d] = shape[#shape + 1 - d] end
  return np.transpose(np.reshape(np.transpose(a), reversed))
end

---@param a lgt_array
---@param ... integer the new shape; -1 for what is left over; then options {order: "C"|"F"}
---@return lgt_array a view if strides allow it, else a copy
function np.reshape(a, ...)
  local layout, count = core.layout_of(a, "reshape"), select("#", ...)
  local options = (select(math.max(count, 1), ...))
  if core.is_options(options) or type(options) == "string" then
    local given, named = { unpack({ ... }, 1, count - 1) }, nil
    if type(options) == "table" and count == 1 then named, options = take_shape_option(options) end
    local shape = take_reshape("reshape", core.size_of(a), unpack(named or given))
    if is_fortran(options, "reshape") then return reshape_fortran(a, shape) end
    return np.reshape(a, shape)
  end
  local shape = take_reshape("reshape", core.size_of(a), ...)
  local view = lgt.reshape(layout, shape)
  if view then return alias(a, view) end
  local copy = np.copy(a)
  return alias(copy, lgt.reshape(core.layout_of(copy), shape))
end

-- All elements in one line.
---@param a lgt_array
---@param options {order: "C"|"F"}?
---@return lgt_array a view if strides allow it, else a copy
function np.ravel(a, options)
  a = np.asarray(a)
  if options ~= nil and is_fortran(options, "ravel") then a = np.transpose(a) end
  if core.ndim_of(a) == 1 then return a end
  return np.reshape(a, { core.size_of(a) })
end

-- Always a copy.
function methods.flatten(a, options)
  if options ~= nil then return np.ravel(np.copy(np.ravel(a, options))) end
  return np.ravel(np.copy(a))
end

local reversed, epoch = {}, lgt.front.epoch -- [layout + 0.5] = layout; see keys.lua for the 0.5

local function learn_reversed(layout)
  if lgt.front.epoch ~= epoch then reversed, epoch = {}, lgt.front.epoch end
  local ndim, order = layouts[layout].ndim, {}
  for d = 1, ndim do order[d] = ndim + 1 - d end
  reversed[layout + 0.5] = lgt.transpose(layout, order)
  return reversed[layout + 0.5]
end
jit.off(learn_reversed)

local function reverse(a)
  local layout = core.layout_of(a, "transpose")
  local known = lgt.front.epoch == epoch and reversed[layout + 0.5]
  return alias(a, known or learn_reversed(layout))
end
getters.T = reverse

-- Reverse the axes, or put them into the given order.
---@param a lgt_array
---@param ... integer axes
function np.transpose(a, ...)
  local own = type(a) == "table" and core.foreign("transpose", a)
  if own then return own(a, ...) end
  local order = { ... }
  order[1] = core.named_option(order[1], "axes", "transpose")
  if type(order[1]) == "table" then order = { unpack(order[1]) } end
  if #order == 0 then return reverse(a) end
  local layout = core.layout_of(a, "transpose")
  local ndim = layouts[layout].ndim
  if #order ~= ndim then raise("transpose: %d axes for an array of %d dimensions", #order, ndim) end
  for d = 1, ndim do order[d] = core.check_axis(order[d], ndim, "transpose") end
  return alias(a, lgt.transpose(layout, order))
end

function np.swapaxes(a, first, second, surplus)
  core.check_surplus(surplus, "swapaxes")
  first, second = core.take_only_named("swapaxes", { "axis1", "axis2" }, first, second)
  local ndim = core.ndim_of(a)
  local order = {}
  for d = 1, ndim do order[d] = d end
  first, second = core.check_axis(first, ndim, "swapaxes"), core.check_axis(second, ndim, "swapaxes")
  order[first], order[second] = second, first
  return np.transpose(a, order)
end

-- Move axes to new places; the others keep their order.
---@param a lgt_array
---@param from integer|integer[]
---@param to integer|integer[]
---@return lgt_array view
function np.moveaxis(a, from, to, surplus)
  from, to = core.take_only_named("moveaxis", { "source", "destination" }, from, to, surplus)
  a = np.asarray(a)
  local ndim = core.ndim_of(a)
  if type(from) ~= "table" then from = { from } end
  if type(to) ~= "table" then to = { to } end
  core.length_of_list(from, "moveaxis")
  core.length_of_list(to, "moveaxis")
  if #from ~= #to then raise("moveaxis: %d axes to %d places", #from, #to) end
  local order, taken = {}, {}
  for i = 1, #from do
    local d, place = core.check_axis(from[i], ndim, "moveaxis"), core.check_axis(to[i], ndim, "moveaxis")
    if taken[d] or order[place] then raise("moveaxis: an axis or a place is given twice") end
    taken[d], order[place] = true, d
  end
  local place = 1
  for d = 1, ndim do
    if not taken[d] then
      while order[place] do place = place + 1 end
      order[place] = d
    end
  end
  if ndim == 0 then return a end
  return np.transpose(a, order)
end

-- Drop the axes of extent 1, or the given ones of them.
function np.squeeze(a, axis, surplus)
  core.check_surplus(surplus, "squeeze")
  local layout = core.layout_of(a, "squeeze")
  local shape = lgt.shape(layout)
  axis = core.given(core.axis_option(axis, "squeeze"))
  local set = axis ~= nil and core.check_axes(axis, #shape, "squeeze") or nil
  for d = #shape, 1, -1 do
    if set and set[d] and shape[d] ~= 1 then raise("squeeze: axis %d has extent %d, not 1", d, shape[d]) end
    if shape[d] == 1 and (not set or set[d]) then layout = lgt.project(layout, d, 0) end
  end
  return alias(a, layout)
end

-- New axes of extent 1, at the given places of the result.
---@param a lgt_array
---@param axis integer|integer[]
---@return lgt_array view
function np.expand_dims(a, axis, surplus)
  core.check_surplus(surplus, "expand_dims")
  a = np.asarray(a)
  local layout = core.layout_of(a, "expand_dims")
  axis = core.axis_option(axis, "expand_dims")
  if axis == nil then raise("expand_dims: an axis was expected, or a table of axes") end
  local count = type(axis) == "table" and #axis or 1
  local _, places = core.check_axes(axis, layouts[layout].ndim + count, "expand_dims")
  for _, d in ipairs(places) do layout = lgt.promote(layout, d, 1) end
  return alias(a, layout)
end

---@param a lgt_array|number
---@param ... integer shape
---@return lgt_array a view; writing into it is refused where one element appears in several places
function np.broadcast_to(a, ...)
  a = np.asarray(a)
  local shape, options = core.take_named_shape("broadcast_to", "shape", ...)
  core.check_options(options, {}, "broadcast_to")
  local own = core.shape_of(a)
  local common = core.broadcast_pair(own, shape)
  if not common or not core.same_shape(common, shape) then
    raise("broadcast_to: shape %s does not stretch to %s", core.shape_text(own), core.shape_text(shape))
  end
  return alias(a, lgt.broadcast(core.layout_of(a), shape))
end

local function backwards(layout, d)
  local n = tonumber(layouts[layout].shape[d - 1])
  return n > 0 and lgt.slice(layout, d, n - 1, n, -1) or layout
end

-- Turn the order of elements around along one axis, several, or all.
function np.flip(a, axis, surplus)
  core.check_surplus(surplus, "flip")
  axis = core.given(axis)
  local layout = core.layout_of(a, "flip")
  local ndim = layouts[layout].ndim
  if ndim == 1 and (axis == nil or axis == 1) then return (alias(a, backwards(layout, 1))) end
  for _, d in ipairs((select(2, core.check_axes(axis, ndim, "flip")))) do layout = backwards(layout, d) end
  return (alias(a, layout))
end
function np.flipud(a, surplus)
  core.check_surplus(surplus, "flipud")
  return np.flip(a, 1)
end
function np.fliplr(a, surplus)
  core.check_surplus(surplus, "fliplr")
  return np.flip(a, 2)
end

-- The elements (i, i + k) of the matrices that two axes (1 and 2) span, along a new last axis: a view.
---@param a lgt_array of at least two dimensions
---@param k integer? 0
---@param axis1 integer?
---@param axis2 integer?
---@return lgt_array
function np.diagonal(a, k, axis1, axis2, surplus)
  k, axis1, axis2 = core.take_only_named("diagonal", { "offset", "axis1", "axis2" }, k, axis1, axis2, surplus)
  local ndim = core.layout_of(a, "diagonal") and core.ndim_of(a)
  if ndim < 2 then raise("diagonal: a matrix was expected, not %s", (core.describe(a))) end
  axis1, axis2 = core.check_axis(axis1 or 1, ndim, "diagonal"), core.check_axis(axis2 or 2, ndim, "diagonal")
  if axis1 == axis2 then raise("diagonal: the axes must differ, both are %d", axis1) end
  k = core.plain(k) or 0
  if not core.is_integer(k) then
    raise("diagonal: the number of a diagonal is an integer, not %s", (core.describe(k)))
  end
  return alias(a, lgt.diagonal(core.layout_of(a), axis1, axis2, k))
end

-- ---- joining ------------------------------------------------------------------------------------------------

local function take_arrays(arrays, who)
  if type(arrays) ~= "table" or next(arrays) == nil then
    raise("%s: a table of arrays was expected, not %s", who,
      type(arrays) == "table" and "an empty one" or (core.describe(arrays)))
  end
  local list, plain, dtype = {}, {}, nil
  for i = 1, core.length_of_list(arrays, who) do
    local a = arrays[i]
    if core.is_array(a) then
      list[i] = a
      local own = core.dtype_of(a)
      if dtype ~= own then dtype = dtype and dtypes.promote(dtype, own) or own end
    else
      plain[#plain + 1] = i
    end
  end
  for _, i in ipairs(plain) do list[i] = core.beside(arrays[i], dtype or dtypes.FLOAT64) end
  return list
end

-- Write an array into the part of a new one that a layout shows.
function core.put_part(result, layout, a)
  local part = alias(result, layout)
  core.assign(part.id, layout, a)
  lgt.free(part)
end
local put_part = core.put_part

-- Do two layouts have the same extents, but for those of one axis?
local function extents_agree(a, b, axis)
  local l, k = layouts[a], layouts[b]
  if l.ndim ~= k.ndim then return false end
  for d = 0, l.ndim - 1 do
    if l.shape[d] ~= k.shape[d] and d ~= axis - 1 then return false end
  end
  return true
end

local function check_extents(arrays, axis, who, where)
  local first = core.layout_of(arrays[1])
  for i, a in ipairs(arrays) do
    if not extents_agree(core.layout_of(a), first, axis) then
      raise("%s: array %d has shape %s, the first %s%s", who, i, core.shape_text(core.shape_of(a)),
        core.shape_text(core.shape_of(arrays[1])), where or "")
    end
  end
end

local function common_dtype(arrays)
  local dtype = core.dtype_of(arrays[1])
  for _, a in ipairs(arrays) do
    if core.dtype_of(a) ~= dtype then dtype = dtypes.promote(dtype, core.dtype_of(a)) end
  end
  return dtype
end

local join_options = { axis = true, out = true, dtype = true, casting = true }
local stack_options = { dtype = true, casting = true }

-- What has been joined, as options.dtype says.
local function joined_as(who, result, options)
  local casting = options.casting
  if casting ~= nil and casting ~= "unsafe" and casting ~= "same_kind" then
    raise("%s: casting is \"same_kind\" or \"unsafe\", not %s", who, (core.describe(casting)))
  end
  if options.dtype == nil then return result end
  local dtype = core.check_dtype(options.dtype, who)
  if casting ~= "unsafe" then ufunc.check_cast(core.dtype_of(result), dtype, who) end
  return np.astype(result, dtypes.name[dtype])
end

-- np.concatenate and np.stack with options.
local function join_with(who, arrays, axis, options)
  axis, options = core.split_options(axis, options, who)
  options = core.check_options(options, join_options, who)
  if axis == nil then axis = options.axis end
  if options.out ~= nil and options.dtype ~= nil then raise("%s: out= has a dtype; dtype= is one too many", who) end
  local result = joined_as(who, np[who](arrays, axis), options)
  if options.casting == "unsafe" and core.is_array(options.out) then result = np.astype(result, options.out.dtype) end
  return reduce.give(result, options.out, who)
end

local function concatenate(arrays, axis)
  arrays = take_arrays(arrays, "concatenate")
  local shape, total = core.shape_of(arrays[1]), 0
  if #shape == 0 then raise("concatenate: 0-d arrays have no axis to join along; np.stack makes one") end
  axis = core.check_axis(axis or 1, #shape, "concatenate")
  check_extents(arrays, axis, "concatenate", (": they may differ along axis %d only"):format(axis))
  local function extent_of(a) return tonumber(layouts[core.layout_of(a)].shape[axis - 1]) end
  for _, a in ipairs(arrays) do total = total + extent_of(a) end
  shape[axis] = total
  local result = lgt.new(lgt.dense(common_dtype(arrays), shape))
  local whole, at = core.layout_of(result), 0
  for _, a in ipairs(arrays) do
    local extent = extent_of(a)
    put_part(result, lgt.slice(whole, axis, at, extent, 1), a)
    at = at + extent
  end
  return result
end
local CONCATENATE = routine.new(concatenate)

-- Join arrays along an existing axis (1 by default).
---@param arrays lgt_array[]
---@param axis integer?
---@param options {axis: integer?, dtype: string?, out: lgt_array?, casting: string?}? casting: "unsafe" converts to any
---  dtype
---@return lgt_array
function np.concatenate(arrays, axis, options, surplus)
  core.check_behind(surplus, "concatenate")
  if options ~= nil or is_options(axis) then return join_with("concatenate", arrays, axis, options) end
  return (routine.of_list(CONCATENATE, arrays, axis))
end

local function stack(arrays, axis)
  arrays = take_arrays(arrays, "stack")
  local shape = core.shape_of(arrays[1])
  axis = core.check_axis(axis or 1, #shape + 1, "stack")
  check_extents(arrays, 0, "stack")
  table.insert(shape, axis, #arrays)
  local result = lgt.new(lgt.dense(common_dtype(arrays), shape))
  local whole = core.layout_of(result)
  for i, a in ipairs(arrays) do put_part(result, lgt.project(whole, axis, i - 1), a) end
  return result
end
local STACK = routine.new(stack)

-- Join arrays of one shape along a new axis (the first by default).
---@param arrays lgt_array[]
---@param axis integer?
---@param options {axis: integer?, dtype: string?, out: lgt_array?, casting: string?}?
---@return lgt_array
function np.stack(arrays, axis, options, surplus)
  core.check_behind(surplus, "stack")
  if options ~= nil or is_options(axis) then return join_with("stack", arrays, axis, options) end
  return (routine.of_list(STACK, arrays, axis))
end

local function at_least(arrays, ndim, who)
  arrays = take_arrays(arrays, who)
  for i, a in ipairs(arrays) do
    while core.ndim_of(a) < ndim do a = np.expand_dims(a, 1) end
    arrays[i] = a
  end
  return arrays
end

---@param options {dtype: string?, casting: string?}?
function np.vstack(arrays, options)
  options = core.check_options(options, stack_options, "vstack")
  return joined_as("vstack", np.concatenate(at_least(arrays, 2, "vstack"), 1), options)
end
---@param options {dtype: string?, casting: string?}?
function np.hstack(arrays, options)
  options = core.check_options(options, stack_options, "hstack")
  arrays = at_least(arrays, 1, "hstack")
  return joined_as("hstack", np.concatenate(arrays, core.ndim_of(arrays[1]) == 1 and 1 or 2), options)
end
function np.column_stack(arrays, surplus)
  core.check_surplus(surplus, "column_stack")
  arrays = take_arrays(arrays, "column_stack")
  for i, a in ipairs(arrays) do
    if core.ndim_of(a) < 2 then arrays[i] = np.expand_dims(np.atleast_1d(a), 2) end
  end
  return np.concatenate(arrays, 2)
end

local function roll(a, shift, axis, surplus)
  core.check_surplus(surplus, "roll")
  a = np.asarray(a)
  shift, axis = core.take_only_named("roll", { "shift", "axis" }, shift, axis)
  if axis == nil then return np.reshape(np.roll(np.ravel(a), shift, 1), core.shape_of(a)) end
  if type(axis) == "table" then
    for i = 1, #axis do a = np.roll(a, type(shift) == "table" and shift[i] or shift, axis[i]) end
    return a
  end
  shift = core.plain(shift)
  if not core.is_integer(shift) then raise("roll: a number of places was expected, not %s", (core.describe(shift))) end
  axis = core.check_axis(axis, core.ndim_of(a), "roll")
  local extent = core.shape_of(a)[axis]
  if extent == 0 then return np.copy(a) end
  shift = shift % extent
  if shift == 0 then return np.copy(a) end
  local layout = core.layout_of(a)
  return np.concatenate({ alias(a, lgt.slice(layout, axis, extent - shift, shift, 1)),
                          alias(a, lgt.slice(layout, axis, 0, extent - shift, 1)) }, axis)
end
local ROLL = routine.new(roll)

-- Move elements along an axis (of the flattened array without one); what falls off comes in again.
---@param a lgt_array
---@param shift integer|integer[] one for each of several axes
---@param axis integer|integer[]|nil
function np.roll(a, shift, axis, surplus)
  if surplus == nil then return (routine.of_array(ROLL, a, shift, axis)) end
  return (roll(a, shift, axis, surplus))
end

-- Repeat the whole array along each axis.
---@param a lgt_array
---@param ... integer how often along each axis, the last ones if there are fewer
---@return lgt_array a copy
function np.tile(a, ...)
  a = np.asarray(a)
  local counts, options = core.take_named_shape("tile", "reps", ...)
  core.check_options(options, {}, "tile")
  while core.ndim_of(a) < #counts do a = np.expand_dims(a, 1) end
  while #counts < core.ndim_of(a) do table.insert(counts, 1, 1) end
  local shape = core.shape_of(a)
  for d = 1, #counts do shape[d] = shape[d] * counts[d] end
  local whole = lgt.dense(core.dtype_of(a), shape) -- raises if that is too large
  if core.product(shape) == 0 then return lgt.new(whole) end
  for d = 1, #counts do
    local before = core.shape_of(a)
    if counts[d] > 1 then -- matrices, one for each element of the axes before, one below the other
      local rows = core.product({ unpack(before, 1, d - 1) })
      local lines = np.reshape(a, rows, 1, core.size_of(a) / rows)
      a = np.copy(np.broadcast_to(lines, rows, counts[d], core.size_of(a) / rows))
      before[d] = before[d] * counts[d]
      a = np.reshape(a, before)
    end
  end
  return core.product(counts) == 1 and np.copy(a) or a
end

-- The positions 1, ..., extent, each as often as `counts` says.  Waits.
local function repeated_positions(counts, extent)
  counts = np.ravel(np.asarray(counts)):totable()
  if #counts ~= extent then raise("rep: %d counts for an extent of %d", #counts, extent) end
  local total = 0
  for i = 1, extent do
    if not core.is_integer(counts[i]) or counts[i] < 0 then
      raise("rep: a count is an integer from 0 up, not %s", core.word(counts[i]))
    end
    total = total + counts[i]
  end
  lgt.dense(dtypes.INT64, { total }) -- raises if that is too large
  local positions, at = core.host_memory(dtypes.INT64, total), 0
  for i = 1, extent do
    for k = at, at + counts[i] - 1 do positions[k] = i end
    at = at + counts[i]
  end
  return core.adopt(dtypes.INT64, { total }, positions)
end

-- Repeat each element, along an axis (of the flattened array without one).
---@param a lgt_array
---@param count integer|integer[]|lgt_array how often; one number for each element is read, which waits
---@param axis integer?
---@return lgt_array
function np.rep(a, count, axis, surplus)
  count, axis = core.take_only_named("rep", { "repeats", "axis" }, count, axis, surplus)
  a = np.asarray(a)
  if axis == nil then a, axis = np.ravel(a), 1 end
  axis = core.check_axis(axis, core.ndim_of(a), "rep")
  local shape = core.shape_of(a)
  if core.is_array(count) and core.size_of(count) == 1 then count = core.read_item(count) end
  count = core.plain(count)
  if type(count) ~= "number" then return np.take(a, repeated_positions(count, shape[axis]), axis) end
  if not core.is_integer(count) or count < 0 then raise("rep: a count is an integer from 0 up, not %g", count) end
  local wide = { unpack(shape) }
  table.insert(wide, axis + 1, count)
  shape[axis] = shape[axis] * count
  return np.reshape(np.copy(np.broadcast_to(np.expand_dims(a, axis + 1), wide)), shape)
end

np["repeat"] = np.rep -- a keyword of Lua: np.rep is easier to write
for _, name in ipairs { "reshape", "ravel", "transpose", "swapaxes", "moveaxis", "squeeze", "rep", "diagonal" } do
  methods[name] = np[name]
end

return true
