-- array/index/choose.lua - choosing elements: along an axis, by conditions, by lists of positions.
--
-- take_along_axis and put_along_axis are tasks on lines (ops/gather.c).  What selects by conditions waits
-- for them, because how many elements come out depends on data.

local core = require "array.core"
local native = require "array.core.native"
local reduce = require "array.core.reduce"
require "array.math.sort" -- for core.is_long_line

local dtypes, raise = core.dtypes, core.raise
local np, methods = core.np, core.methods

-- ---- along an axis ----------------------------------------------------------------------------------------

-- The source and the positions with the axis last, stretched to fit in all other axes.
local function lines_of(a, positions, axis, who)
  core.layout_of(positions, who)
  if dtypes.category[core.dtype_of(positions)] ~= 1 then
    raise("%s: positions are integers, not %s", who, dtypes.name[core.dtype_of(positions)])
  end
  positions = np.astype(positions, "int64")
  if core.ndim_of(positions) ~= core.ndim_of(a) then
    raise("%s: positions of %d dimensions for an array of %d", who, core.ndim_of(positions), core.ndim_of(a))
  end
  local source, back = native.axis_last(a, axis)
  local index = native.axis_last(positions, axis)
  local n = core.ndim_of(a)
  local sa, sp = core.shape_of(source), core.shape_of(index)
  local lead = core.broadcast_shapes({ { unpack(sa, 1, n - 1) }, { unpack(sp, 1, n - 1) } }, who)
  local function spread(x, last)
    local shape = { unpack(lead) }
    shape[n] = last
    return np.broadcast_to(x, shape)
  end
  return spread(source, sa[n]), spread(index, sp[n]), back, sa[n]
end

-- The same as a key, where several domains have parts of a line: positions along every axis.
local function key_along(a, positions, axis)
  local key, n = {}, core.ndim_of(a)
  for d, extent in ipairs(core.shape_of(a)) do
    local shape = {}
    for i = 1, n do shape[i] = i == d and extent or 1 end
    key[d] = d == axis and np.astype(positions, "int64") or np.reshape(np.arange(1, extent + 1), shape)
  end
  return key
end

-- a[i, ..., positions[i, ..., k], ...]: the elements at positions that differ from line to line.
---@param a lgt_array
---@param positions lgt_array integers from 1, as many dimensions as a
---@param axis integer? without one of a flattened
---@return lgt_array
function np.take_along_axis(a, positions, axis, surplus)
  core.check_surplus(surplus, "take_along_axis")
  a, positions = np.asarray(a), np.asarray(positions)
  axis = core.axis_option(axis, "take_along_axis")
  if axis == nil then a, axis = np.ravel(a), 1 end
  axis = core.check_axis(axis, core.ndim_of(a), "take_along_axis")
  local source, index, back = lines_of(a, positions, axis, "take_along_axis")
  if core.is_long_line(a, axis) then return core.pick(a, key_along(a, positions, axis)) end
  local result = native.new(core.dtype_of(a), core.shape_of(index))
  native.lines("take_along", "wrr", { result, source, index }, { 0, 1, 0, axis })
  return back(result)
end

-- Write values at positions that differ from line to line; the last of several for one place wins.
---@param a lgt_array
---@param positions lgt_array
---@param values lgt_array|number
---@param axis integer
function np.put_along_axis(a, positions, values, axis, surplus)
  core.check_surplus(surplus, "put_along_axis")
  core.layout_of(a, "put_along_axis")
  core.check_writable(a, "put_along_axis")
  core.check_assigned(a, values)
  positions, values = np.asarray(positions), np.astype(np.asarray(values), dtypes.name[core.dtype_of(a)])
  axis = core.check_axis(core.axis_option(axis, "put_along_axis"), core.ndim_of(a), "put_along_axis")
  local target, index = lines_of(a, positions, axis, "put_along_axis")
  if not core.same_shape({ unpack(core.shape_of(target), 1, core.ndim_of(a) - 1) },
    { unpack(core.shape_of((native.axis_last(a, axis))), 1, core.ndim_of(a) - 1) }) then
    raise("put_along_axis: positions of shape %s for an array of shape %s", core.shape_text(core.shape_of(positions)),
      core.shape_text(core.shape_of(a)))
  end
  if core.is_long_line(a, axis) then
    a[key_along(a, positions, axis)] = values
    return
  end
  target = native.axis_last(a, axis)
  local source = np.broadcast_to(values, core.shape_of(np.moveaxis(index, -1, axis)))
  native.lines("put_along", "mrr", { target, (native.axis_last(np.copy(source), axis)), index },
    { 0, 1, native.operation.set, axis })
end

-- ---- by conditions ------------------------------------------------------------------------------------------

-- The slices along an axis (of the flattened array without one) where a vector of booleans holds.  Waits.
---@param condition lgt_array
---@param a lgt_array
---@param axis integer?
---@param options {axis: integer?, out: lgt_array?}?
---@return lgt_array
function np.compress(condition, a, axis, options)
  axis, options = core.split_options(axis, options, "compress")
  options = core.check_options(options, { axis = true, out = true }, "compress")
  if axis == nil then axis = options.axis end
  condition, a = np.asarray(condition), np.asarray(a)
  if core.ndim_of(condition) ~= 1 then raise("compress: a vector of booleans was expected") end
  if axis == nil then a, axis = np.ravel(a), 1 end
  axis = core.check_axis(axis, core.ndim_of(a), "compress")
  local positions = np.flatnonzero(condition)
  return reduce.give(np.take(a, positions, axis), options.out, "compress")
end

-- The elements where a condition holds, in C order.  Waits.
---@return lgt_array
function np.extract(condition, a, surplus)
  core.check_surplus(surplus, "extract")
  return np.compress(np.ravel(condition), np.ravel(a))
end

local MOST_CHOICES = 10 -- arguments of a task, less the result and the numbers

local function choose_among(list, numbers, shape, dtype)
  local result = native.new(dtype, shape)
  local arrays = { result, numbers }
  for i = 1, #list do arrays[i + 2] = np.asarray(list[i], { dtype = dtypes.name[dtype] }) end
  native.elements("choose", "wr" .. ("r"):rep(#list), arrays, { 0, 1 })
  return result
end

-- For each element the choice of that number, from 1.
---@param numbers lgt_array integers
---@param choices (lgt_array|number)[]
---@param options {mode: string?, out: lgt_array?}? mode: "raise" (default: a number outside is an error where the
---  result is looked at), "clip" or "wrap"
---@return lgt_array
function np.choose(numbers, choices, options)
  options = core.check_options(options, { mode = true, out = true }, "choose")
  if type(choices) ~= "table" or #choices == 0 then raise("choose: a table of choices was expected") end
  local shapes, list, dtype, weak = {}, {}, nil, nil
  if not core.is_array(numbers) then numbers = np.array(numbers, { dtype = "int64" }) end
  if dtypes.category[core.dtype_of(numbers)] > 1 then
    raise("choose: integers were expected, not %s; use astype", dtypes.name[core.dtype_of(numbers)])
  end
  for i, choice in ipairs(choices) do
    list[i] = np.asarray(choice)
    shapes[i] = core.shape_of(list[i])
    local own = type(choice) == "number" and core.is_integer(choice) and dtypes.INT64 or core.dtype_of(list[i])
    local loose = core.is_array(choice) and 0 or 2 -- a number counts as beside an array in arithmetic
    if i == 1 then dtype, weak = own, loose else dtype, weak = dtypes.promote(dtype, own, weak, loose) end
  end
  for i = 1, #list do list[i] = np.asarray(list[i], { dtype = dtypes.name[dtype] }) end
  shapes[#shapes + 1] = core.shape_of(numbers)
  local shape = core.broadcast_shapes(shapes, "choose")
  for i = 1, #list do list[i] = np.broadcast_to(list[i], shape) end
  numbers = core.inside(np.astype(numbers, "int64"), #list, options.mode, 1, "choose")
  numbers = np.broadcast_to(numbers, shape)
  if #list <= MOST_CHOICES then
    return reduce.give(choose_among(list, numbers, shape, dtype), options.out, "choose")
  end
  local all = np.stack(list, -1)
  local result = np.squeeze(np.take_along_axis(all, np.expand_dims(numbers, -1), -1), -1)
  return reduce.give(result, options.out, "choose")
end

-- The positions where an array is not 0, one row for each.  Waits.
---@return lgt_array int64 of shape (found, ndim)
function np.argwhere(a, surplus)
  core.check_surplus(surplus, "argwhere")
  a = np.asarray(a)
  if core.ndim_of(a) == 0 then
    return np.zeros(core.read_item(np.not_equal(a, 0)) and 1 or 0, 0, { dtype = "int64" })
  end
  return np.stack(np.nonzero(a), -1)
end

-- Write into elements of the flattened array, values being repeated as often as needed.
---@param a lgt_array
---@param positions lgt_array|integer|integer[]
---@param values lgt_array|number|number[]
---@param options {mode: string?}|string|nil "raise" (default), "clip" or "wrap": what becomes of positions outside
function np.put(a, positions, values, options)
  if type(options) == "string" then options = { mode = options } end
  local mode = core.check_options(options, { mode = true }, "put").mode
  core.layout_of(a, "put")
  core.check_writable(a, "put")
  core.check_assigned(a, values)
  if not core.is_array(positions) then positions = np.array(positions, { dtype = "int64" }) end
  positions, values = np.ravel(positions), np.ravel(np.asarray(values))
  local n, size, shape = core.size_of(positions), core.size_of(a), core.shape_of(a)
  positions = core.inside(positions, size, mode, 1, "put")
  if core.size_of(values) ~= 1 and core.size_of(values) ~= n and n > 0 then values = np.resize(values, n) end
  local flat, divided = core.lgt.reshape(core.layout_of(a), { size }), native.divided(size)
  if flat and (#shape == 1 or not divided) then
    core.lgt.alias(a, flat)[positions] = values
  elseif divided then -- what is written through a reshaped view is not
    local copy = np.copy(np.ravel(a))
    copy[positions] = values
    core.assign(a.id, core.layout_of(a), np.reshape(copy, shape))
  else -- there is no such view: positions along each axis, if they are positions at all, of which a gather makes sure
    local zeros = np.broadcast_to(np.zeros({}, { dtype = "int64" }), { size })
    positions = np.where(np.less(positions, 0), positions + (size + 1), positions) + np.take(zeros, positions)
    a[np.unravel_index(positions, shape)] = values
  end
end

-- Write values (repeated as often as needed) where a condition holds: in the order of those places.
---@param a lgt_array
---@param mask lgt_array bool, as many elements as a
---@param values lgt_array|number|number[]
function np.place(a, mask, values, surplus)
  core.check_surplus(surplus, "place")
  core.layout_of(a, "place")
  core.check_writable(a, "place")
  core.check_assigned(a, values)
  mask, values = np.asarray(mask, { dtype = "bool" }), np.ravel(np.asarray(values))
  local n = core.size_of(values)
  if core.size_of(mask) ~= core.size_of(a) then
    raise("place: a condition of %d elements for an array of %d", core.size_of(mask), core.size_of(a))
  end
  if n == 0 then
    if np.any(mask) then raise("place: no values were given") end
    return
  end
  if n > 1 then -- the first place takes the first value, ...
    local number = np.astype(np.cumsum(np.ravel(mask)), "float64") - 1
    values = np.take(values, np.astype(number - np.floor(number / n) * n, "int64") + 1)
    values = np.reshape(values, core.shape_of(a))
  end
  np.copyto(a, values, { where = np.reshape(mask, core.shape_of(a)) })
end

-- Write values (repeated over the flattened array) where a condition holds.
---@param a lgt_array
---@param mask lgt_array bool, a's shape
---@param values lgt_array|number|number[]
function np.putmask(a, mask, values, surplus)
  core.check_surplus(surplus, "putmask")
  core.layout_of(a, "putmask")
  core.check_writable(a, "putmask")
  core.check_assigned(a, values)
  values = np.asarray(values)
  if core.size_of(values) ~= 1 and not core.same_shape(core.shape_of(values), core.shape_of(a)) then
    values = np.resize(values, core.shape_of(a))
  end
  np.copyto(a, values, { where = mask })
end

for _, name in ipairs { "choose", "put" } do methods[name] = np[name] end
function methods.compress(a, condition, axis, options) return np.compress(condition, a, axis, options) end

return true
