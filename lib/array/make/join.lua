-- array/make/join.lua - taking arrays apart, putting them together, making room in them.
--
-- Splitting and turning give views.  Padding, inserting and deleting write a new array through views of it;
-- what is inserted or left out at several positions is one gather.  (concatenate and stack are in shape.lua.)
--
-- Positions count from 1: np.split(v, {4, 6}) gives parts that begin at elements 1, 4 and 6, and
-- np.insert(v, 1, x) makes x the first element.

local ffi = require "ffi"
local core = require "array.core"
local native = require "array.core.native"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np, methods = core.np, core.methods

local MOST_PARTS = 2 ^ 20 -- each is a view of its own, of which there are some millions at most

-- The elements first, first + 1, ... (from 0) along an axis, as a view.
local function part_of(a, axis, first, count, step)
  return lgt.alias(a, lgt.slice(core.layout_of(a), axis, count == 0 and 0 or first, count, step or 1))
end

local function assign(target, value) core.assign(target.id, core.layout_of(target), value) end

-- Integers of a script as a list: a number, a table, or an array (which waits).
local function integers(value, who)
  local list = core.as_list(core.is_array(value) and np.ravel(value) or value)
  if not list then raise("%s: positions were expected, not %s", who, (core.describe(value))) end
  for i = 1, table.maxn(list) do
    if not core.is_integer(list[i]) then
      raise("%s: a position is an integer, not %s", who, (core.describe(list[i])))
    end
  end
  return list
end

-- ---- views: parts and turns ---------------------------------------------------------------------------

local function split_at(a, bounds, axis)
  local extent = core.shape_of(a)[axis]
  local parts = {}
  for i = 1, #bounds + 1 do
    local first, past = i > 1 and bounds[i - 1] or 0, bounds[i] or extent
    if past > extent then past = extent end
    parts[i] = part_of(a, axis, first, math.max(0, past - first))
  end
  return parts
end

local SPLIT = { "indices_or_sections", "axis" }

-- Cut an array into `parts` nearly equal pieces along an axis (1), the first ones longer by one; or at
-- positions: each begins a piece.
---@param a lgt_array
---@param parts integer|integer[]|lgt_array a number of pieces, or the positions where pieces begin
---@param axis integer?
---@return lgt_array[] views
function np.array_split(a, parts, axis, surplus)
  parts, axis = core.take_only_named("array_split", SPLIT, parts, axis, surplus)
  a = np.asarray(a)
  axis = core.check_axis(axis or 1, core.ndim_of(a), "array_split")
  local extent, bounds = core.shape_of(a)[axis], {}
  parts = core.plain(parts)
  if type(parts) == "number" then
    if not core.is_integer(parts) or parts < 1 then raise("array_split: %g parts; at least one was expected", parts) end
    if parts > MOST_PARTS then raise("array_split: %.14g parts; at most %d are possible", parts, MOST_PARTS) end
    local short, longer = math.floor(extent / parts), extent % parts
    for i = 1, parts - 1 do bounds[i] = i * short + math.min(i, longer) end
  else
    for i, at in ipairs(integers(parts, "array_split")) do
      if at == 0 then raise("array_split: positions count from 1, 0 was given") end
      bounds[i] = math.max(0, at < 0 and extent + at or at - 1)
    end
  end
  return split_at(a, bounds, axis)
end

-- As np.array_split, but a number of parts must divide the extent.
---@return lgt_array[]
function np.split(a, parts, axis, surplus)
  parts, axis = core.take_only_named("split", SPLIT, parts, axis, surplus)
  a = np.asarray(a)
  axis = core.check_axis(axis or 1, core.ndim_of(a), "split")
  if type(parts) == "number" and core.shape_of(a)[axis] % parts ~= 0 then
    raise("split: an extent of %d does not divide into %g equal parts; np.array_split makes unequal ones",
      core.shape_of(a)[axis], parts)
  end
  return np.array_split(a, parts, axis)
end

local function splitter(name, least, axis_of)
  np[name] = function(a, parts, surplus)
    core.check_surplus(surplus, name)
    a = np.asarray(a)
    if core.ndim_of(a) < least then
      raise("%s: an array of at least %d dimensions was expected, not %d", name, least, core.ndim_of(a))
    end
    return np.split(a, parts, axis_of(core.ndim_of(a)))
  end
end
splitter("vsplit", 2, function() return 1 end)
splitter("hsplit", 1, function(ndim) return ndim == 1 and 1 or 2 end)
splitter("dsplit", 3, function() return 3 end)

-- Turn by 90 degrees k times in the plane of two axes (1 and 2), from the first towards the second.
---@param a lgt_array
---@param k integer? 1
---@param axes integer[]?
---@return lgt_array view
function np.rot90(a, k, axes, surplus)
  core.check_surplus(surplus, "rot90")
  k, axes = core.take_only_named("rot90", { "k", "axes" }, k, axes)
  k = core.plain(k)
  if k ~= nil and not core.is_integer(k) then
    raise("rot90: the number of turns is an integer, not %s", (core.describe(k)))
  end
  a, k, axes = np.asarray(a), (k or 1) % 4, axes or { 1, 2 }
  local ndim = core.ndim_of(a)
  if type(axes) ~= "table" or #axes ~= 2 then raise("rot90: two axes were expected") end
  local first, second = core.check_axis(axes[1], ndim, "rot90"), core.check_axis(axes[2], ndim, "rot90")
  if first == second then raise("rot90: the axes must differ, both are %d", first) end
  if k == 0 then return lgt.alias(a, core.layout_of(a)) end
  if k == 2 then return np.flip(a, { first, second }) end
  if k == 1 then return np.swapaxes(np.flip(a, second), first, second) end
  return np.flip(np.swapaxes(a, first, second), second)
end

-- Move axis `axis` so that it stands before axis `start` (1).
function np.rollaxis(a, axis, start, surplus)
  axis, start = core.take_only_named("rollaxis", { "axis", "start" }, axis, start, surplus)
  local ndim = core.ndim_of(a)
  axis, start = core.check_axis(axis, ndim, "rollaxis"), core.check_axis(start or 1, ndim + 1, "rollaxis")
  return np.moveaxis(a, axis, axis < start and start - 1 or start)
end

local function at_least(name, ndim, widen)
  np[name] = function(...)
    local results, count = { ... }, select("#", ...)
    for i = 1, count do
      local a = np.asarray(results[i])
      results[i] = core.ndim_of(a) < ndim and widen(a, core.ndim_of(a)) or a
    end
    return unpack(results, 1, count)
  end
end
-- Each argument with at least so many dimensions, as views; several results for several arguments.
at_least("atleast_1d", 1, function(a) return np.reshape(a, { 1 }) end)
at_least("atleast_2d", 2, function(a) return np.reshape(a, { 1, core.size_of(a) }) end)
at_least("atleast_3d", 3, function(a, ndim)
  local shape = core.shape_of(a)
  return np.reshape(a, ndim == 2 and { shape[1], shape[2], 1 } or { 1, core.size_of(a), 1 })
end)

-- All arguments as views of their common shape.
---@return lgt_array ...
function np.broadcast_arrays(...)
  local arrays, shapes = { ... }, {}
  for i = 1, #arrays do
    arrays[i] = np.asarray(arrays[i])
    shapes[i] = core.shape_of(arrays[i])
  end
  local shape = core.broadcast_shapes(shapes, "broadcast_arrays")
  for i = 1, #arrays do arrays[i] = np.broadcast_to(arrays[i], shape) end
  return unpack(arrays)
end

-- The shape that shapes have in common.
---@param ... integer[]
---@return integer[]
function np.broadcast_shapes(...)
  local last = select(select("#", ...), ...)
  if core.is_options(last) then core.check_surplus(last, "broadcast_shapes") end
  local shapes = {}
  for i = 1, select("#", ...) do
    local shape = select(i, ...)
    shapes[i] = core.take_shape("broadcast_shapes", type(shape) == "table" and shape or { shape })
  end
  return setmetatable(core.broadcast_shapes(shapes, "broadcast_shapes"), core.shape_meta)
end

-- ---- joining --------------------------------------------------------------------------------------------

-- Join along the third axis, after giving each array one.
---@param arrays lgt_array[]
function np.dstack(arrays, surplus)
  core.check_surplus(surplus, "dstack")
  if type(arrays) ~= "table" then raise("dstack: a table of arrays was expected, not %s", (core.describe(arrays))) end
  local list = {}
  for i = 1, #arrays do list[i] = np.atleast_3d(arrays[i]) end
  return np.concatenate(list, 3)
end
np.row_stack = np.vstack

-- Blocks joined along an axis, not written yet: {shape, dtype, axis, parts}.
local function joined(parts, axis)
  local first = parts[1]
  local shape, dtype = { unpack(first.shape) }, first.dtype
  for i = 2, #parts do
    local part = parts[i]
    for d = 1, #shape do
      if d ~= axis and part.shape[d] ~= shape[d] then
        raise("block: part %d has shape %s, the first %s: they may differ along axis %d only", i,
          core.shape_text(part.shape), core.shape_text(first.shape), axis)
      end
    end
    shape[axis], dtype = shape[axis] + part.shape[axis], dtypes.promote(dtype, part.dtype)
  end
  return { shape = shape, dtype = dtype, axis = axis, parts = parts }
end

-- Write blocks into the part of a new array that a layout shows, each once.
local function write_blocks(result, layout, block)
  if block.array then return core.put_part(result, layout, block.array) end
  local at = 0
  for _, part in ipairs(block.parts) do
    local extent = part.shape[block.axis]
    write_blocks(result, lgt.slice(layout, block.axis, extent == 0 and 0 or at, extent, 1), part)
    at = at + extent
  end
end

-- What the arrays in nested tables have in common; a float dtype if there are none.
local function dtype_among(blocks)
  local dtype
  local function look(b)
    if core.is_array(b) then dtype = dtype and dtypes.promote(dtype, core.dtype_of(b)) or core.dtype_of(b) end
    if type(b) == "table" then
      for i = 1, #b do look(b[i]) end
    end
  end
  look(blocks)
  return dtype or dtypes.FLOAT64
end

-- An array of nested tables of blocks: the innermost tables are joined along the last axis.
---@param blocks table|lgt_array|number
---@return lgt_array
function np.block(blocks, surplus)
  core.check_surplus(surplus, "block")
  local function depth_of(b) return type(b) == "table" and 1 + depth_of(b[1]) or 0 end
  local function widest(b)
    if type(b) ~= "table" then return core.is_array(b) and core.ndim_of(b) or 0 end
    local most = 0
    for i = 1, #b do most = math.max(most, widest(b[i])) end
    return most
  end
  if type(blocks) == "table" and #blocks == 0 then raise("block: an empty table was given") end
  local depth = depth_of(blocks)
  local ndim = math.max(depth, widest(blocks))
  local dtype = dtype_among(blocks)
  local function join(b, level)
    if level > depth then
      local a = core.beside(b, dtype)
      while core.ndim_of(a) < ndim do a = np.expand_dims(a, 1) end
      return { array = a, shape = core.shape_of(a), dtype = core.dtype_of(a) }
    end
    if type(b) ~= "table" or #b == 0 then raise("block: tables must be nested equally deep, and none be empty") end
    local list = {}
    for i = 1, #b do list[i] = join(b[i], level + 1) end
    return joined(list, ndim - depth + level)
  end
  local whole = join(blocks, 1)
  local result = lgt.new(lgt.dense(whole.dtype, whole.shape))
  write_blocks(result, core.layout_of(result), whole)
  return result
end

-- `a` with `values` behind it, along an axis (without one both are flattened).
---@param a lgt_array
---@param values lgt_array|number|table
---@param axis integer?
---@return lgt_array
function np.append(a, values, axis, surplus)
  values, axis = core.take_only_named("append", { "values", "axis" }, values, axis, surplus)
  a = np.asarray(a)
  values = core.beside(values, core.dtype_of(a))
  if axis == nil then return np.concatenate({ np.ravel(a), np.ravel(values) }, 1) end
  return np.concatenate({ a, values }, axis)
end

-- The elements of `a` repeated, or cut off, to fill a shape in C order.
---@param a lgt_array
---@param ... integer shape
---@return lgt_array
function np.resize(a, ...)
  a = np.ravel(a)
  local shape, options = core.take_named_shape("resize", "new_shape", ...)
  core.check_options(options, {}, "resize")
  local wanted, size = core.product(shape), core.size_of(a)
  if size == 0 then return np.zeros(shape, { dtype = dtypes.name[core.dtype_of(a)] }) end
  if wanted <= size then return np.reshape(np.copy(part_of(a, 1, 0, wanted)), shape) end
  return np.reshape(part_of(np.tile(a, math.ceil(wanted / size)), 1, 0, wanted), shape)
end

-- ---- inserting and deleting -------------------------------------------------------------------------------

local FEW = 200 -- which a launch each writes; where there are more, one gather does

-- Elements along an axis of `a` in the order of `count` positions, from 1, which fill(p) writes into memory.
local function in_order(a, axis, count, fill)
  local order = core.host_memory(dtypes.INT64, count)
  fill(order)
  return np.take(a, core.adopt(dtypes.INT64, { count }, order), axis)
end

-- The numbers from 1 to #offsets in the order of these offsets, those of equal ones in their own: a C array.  By their
-- digits: table.sort is interpreted, and would take longer than all that is done with a hundred times as many elements.
local function ranked(offsets)
  local n, digits, greatest = #offsets, 2048, 0
  local from, to = ffi.new("int32_t[?]", n), ffi.new("int32_t[?]", n)
  for k = 1, n do from[k - 1], greatest = k, math.max(greatest, offsets[k]) end
  local place = 1
  while place <= greatest do
    local start = ffi.new("int32_t[?]", digits + 1) -- where those with a digit go
    for k = 0, n - 1 do
      local digit = math.floor(offsets[from[k]] / place) % digits
      start[digit + 1] = start[digit + 1] + 1
    end
    for digit = 1, digits do start[digit] = start[digit] + start[digit - 1] end
    for k = 0, n - 1 do
      local digit = math.floor(offsets[from[k]] / place) % digits
      to[start[digit]], start[digit] = from[k], start[digit] + 1
    end
    from, to, place = to, from, place * digits
  end
  return from
end

-- Where a list of booleans, or an array of them, is true: as many as an axis has elements.
local function marked(mask, extent, who)
  if core.size_of(mask) ~= extent or core.ndim_of(mask) ~= 1 then
    raise("%s: booleans of shape %s, where the axis has %d elements", who, core.shape_text(core.shape_of(mask)), extent)
  end
  return np.flatnonzero(mask)
end

-- `a` without the elements at some positions along an axis (of the flattened array without one), or without those
-- where a mask is true.  Positions given as an array are read, which waits.
---@param a lgt_array
---@param positions integer|integer[]|boolean[]|lgt_array
---@param axis integer?
---@return lgt_array
function np.delete(a, positions, axis, surplus)
  positions, axis = core.take_only_named("delete", { "obj", "axis" }, positions, axis, surplus)
  a = np.asarray(a)
  if axis == nil then a, axis = np.ravel(a), 1 end
  axis = core.check_axis(axis, core.ndim_of(a), "delete")
  local extent, some, seen = core.shape_of(a)[axis], {}, {}
  if type(positions) == "table" and type(positions[1]) == "boolean" then positions = np.array(positions) end
  if core.is_array(positions) and core.dtype_of(positions) == dtypes.BOOL then
    positions = marked(positions, extent, "delete")
  end
  for _, at in ipairs(integers(positions, "delete")) do
    if at == 0 then raise("delete: positions count from 1, 0 was given") end
    local offset = at < 0 and extent + at or at - 1
    if offset < 0 or offset >= extent then
      raise("delete: position %d of axis %d is outside its extent of %d", at, axis, extent)
    end
    if not seen[offset] then some[#some + 1] = offset end
    seen[offset] = true
  end
  local count, sorted, gone, parts, first = #some, ranked(some), {}, {}, 0
  for k = 1, count do gone[k] = some[sorted[k - 1]] end
  gone[count + 1] = extent
  if count > FEW then
    return in_order(a, axis, extent - count, function(order)
      for k = 1, count + 1 do
        for offset = first, gone[k] - 1 do order[offset - k + 1] = offset + 1 end
        first = gone[k] + 1
      end
    end)
  end
  for _, offset in ipairs(gone) do
    if offset > first then parts[#parts + 1] = part_of(a, axis, first, offset - first) end
    first = offset + 1
  end
  if #parts == 0 then return np.copy(part_of(a, axis, 0, 0)) end
  return np.concatenate(parts, axis)
end

-- Value i of #offsets stands before the element at offset i (from 0), those for one place in their order.
local function merge(a, values, axis, offsets)
  local extent, count, sorted = core.shape_of(a)[axis], #offsets, ranked(offsets)
  local parts, first = {}, 0
  if count > FEW / 2 then
    return in_order(np.concatenate({ a, values }, axis), axis, extent + count, function(order)
      for k = 0, count - 1 do
        local next_one = offsets[sorted[k]]
        for offset = first, next_one - 1 do order[offset + k] = offset + 1 end
        first = next_one
        order[first + k] = extent + sorted[k]
      end
      for offset = first, extent - 1 do order[offset + count] = offset + 1 end
    end)
  end
  for k = 0, count - 1 do
    local i = sorted[k]
    if offsets[i] > first then parts[#parts + 1] = part_of(a, axis, first, offsets[i] - first) end
    parts[#parts + 1] = part_of(values, axis, i - 1, 1)
    first = offsets[i]
  end
  parts[#parts + 1] = part_of(a, axis, first, extent - first)
  return np.concatenate(parts, axis)
end

-- `a` with values before the elements at some positions (extent + 1: behind the last) along an axis (of the
-- flattened array without one).  At one position the values are as many as they are; at several, one for each.
---@param a lgt_array
---@param positions integer|integer[]|lgt_array an array is read, which waits
---@param values lgt_array|number|table converted to a's dtype
---@param axis integer?
---@return lgt_array
function np.insert(a, positions, values, axis, surplus)
  local names = { "obj", "values", "axis" }
  positions, values, axis = core.take_only_named("insert", names, positions, values, axis, surplus)
  a = np.asarray(a)
  if axis == nil then a, axis = np.ravel(a), 1 end
  axis = core.check_axis(axis, core.ndim_of(a), "insert")
  local shape = core.shape_of(a)
  local extent = shape[axis]
  local single = type(positions) == "number" or core.is_array(positions) and core.ndim_of(positions) == 0
  local offsets = {}
  for i, at in ipairs(integers(positions, "insert")) do
    offsets[i] = at < 0 and extent + at or at - 1
    if at == 0 or offsets[i] < 0 or offsets[i] > extent then
      raise("insert: position %d of axis %d: 1 to %d was expected", at, axis, extent + 1)
    end
  end
  values = np.astype(np.asarray(values), dtypes.name[core.dtype_of(a)])
  local count = #offsets
  if single or count == 1 then
    while core.ndim_of(values) < #shape do values = np.expand_dims(values, 1) end
    if single then values = np.moveaxis(values, 1, axis) end
    count = core.shape_of(values)[axis]
  end
  shape[axis] = count
  values = np.broadcast_to(values, shape)
  if single or #offsets == 1 then
    local at = offsets[1]
    return np.concatenate({ part_of(a, axis, 0, at), values, part_of(a, axis, at, extent - at) }, axis)
  end
  return merge(a, values, axis, offsets)
end

-- A vector without the zeros at its ends; trim is "f" (front), "b" (back) or "fb".  Waits.
---@param v lgt_array
---@param trim string?
function np.trim_zeros(v, trim, surplus)
  core.check_surplus(surplus, "trim_zeros")
  v, trim = np.asarray(v), core.named_option(trim, "trim", "trim_zeros") or "fb"
  if type(trim) ~= "string" then raise("trim_zeros: trim is \"f\", \"b\" or \"fb\", not %s", (core.describe(trim))) end
  if core.ndim_of(v) ~= 1 then raise("trim_zeros: a vector was expected, not %d dimensions", core.ndim_of(v)) end
  local at = np.flatnonzero(v)
  local n, size = core.size_of(at), core.size_of(v)
  if n == 0 then return part_of(v, 1, 0, 0) end
  local first = trim:find("f", 1, true) and at(1) - 1 or 0
  local past = trim:find("b", 1, true) and at(n) or size
  return part_of(v, 1, first, past - first)
end

-- ---- padding ------------------------------------------------------------------------------------------------

-- {before, after} for each axis from n, {n, m}, or {{n, m}, ...}.
local function pairs_for(value, ndim, who)
  local result = {}
  for d = 1, ndim do
    local pair = value
    if type(pair) == "table" and type(pair[1]) == "table" then pair = #pair == 1 and pair[1] or pair[d] end
    pair = core.as_list(pair) or { pair }
    if #pair == 1 then pair[2] = pair[1] end
    if #pair ~= 2 then raise("%s: n, {before, after}, or one such pair for each of %d axes was expected", who, ndim) end
    result[d] = pair
  end
  return result
end

local function slab(result, box, axis, first, count)
  local layout = core.layout_of(result)
  for d = 1, #box do
    if d == axis then
      layout = lgt.slice(layout, d, count == 0 and 0 or first, count, 1)
    else
      layout = lgt.slice(layout, d, box[d][2] == 0 and 0 or box[d][1], box[d][2], 1)
    end
  end
  return lgt.alias(result, layout)
end

-- How each mode fills the slabs before and after `first ... first + count - 1` along an axis.  `at(f, n)` is
-- the view of n elements from f on, with the other axes as far as they are filled.
local fillers = {}

function fillers.constant(at, first, count, before, after, _, values)
  assign(at(first - before, before), values[1])
  assign(at(first + count, after), values[2])
end

function fillers.edge(at, first, count, before, after)
  assign(at(first - before, before), at(first, 1))
  assign(at(first + count, after), at(first + count - 1, 1))
end

function fillers.empty() end

-- Copies of what is there, piece by piece; there is twice as much after each turn, or nearly.  Both pieces of a turn
-- are read before either is written: on several domains that is one exchange instead of two.
local function periodic(mirrored, whole)
  return function(at, first, count, before, after, axis)
    local lo, n = first, count -- what is filled so far
    while before > 0 or after > 0 do
      local reach = mirrored and (whole and n or n - 1) or n - n % count -- how far on the same comes again
      if reach == 0 then -- one element is its own mirror image
        fillers.edge(at, lo, n, before, after)
        return
      end
      local b, f = math.min(before, reach), math.min(after, reach)
      local skip = mirrored and not whole and 1 or 0
      local function piece(from, length)
        local view = at(from, length)
        return np.copy(mirrored and np.flip(view, axis) or view)
      end
      local head = b > 0 and piece(mirrored and lo + skip or lo + reach - b, b)
      local tail = f > 0 and piece(mirrored and lo + n - skip - f or lo + n - reach, f)
      if head then assign(at(lo - b, b), head) end
      if tail then assign(at(lo + n, f), tail) end
      lo, n, before, after = lo - b, n + b + f, before - b, after - f
    end
  end
end
fillers.reflect, fillers.symmetric, fillers.wrap = periodic(true, false), periodic(true, true), periodic(false)

local function statistic(f)
  return function(at, first, count, before, after, axis, _, lengths)
    local function value(from, n)
      local x = f(at(from, n), axis, { keepdims = true })
      if dtypes.category[core.dtype_of(at(first, 1))] == 1 then x = np.rint(x) end
      return x
    end
    local head, tail = math.min(lengths[1] or count, count), math.min(lengths[2] or count, count)
    if before > 0 then assign(at(first - before, before), value(first, head)) end
    if after > 0 then assign(at(first + count, after), value(first + count - tail, tail)) end
  end
end
fillers.maximum, fillers.minimum = statistic(np.max), statistic(np.min)
fillers.mean = statistic(np.mean)
fillers.median = statistic(function(a, axis, options) return np.median(a, axis, options) end)

function fillers.linear_ramp(at, first, count, before, after, axis, values)
  local function ramp(n, edge, target, backwards)
    local shape = {}
    for d = 1, core.ndim_of(edge) do shape[d] = d == axis and n or 1 end
    local steps = np.reshape(np.arange(n), shape)
    if backwards then steps = (n - 1) - steps end
    local x = target + (edge - target) * (steps / n)
    return dtypes.category[core.dtype_of(edge)] == 1 and np.floor(x) or x
  end
  if before > 0 then assign(at(first - before, before), ramp(before, at(first, 1), values[1])) end
  if after > 0 then assign(at(first + count, after), ramp(after, at(first + count - 1, 1), values[2], true)) end
end

local pad_options = { constant_values = true, end_values = true, stat_length = true }

-- An array with a margin.  Axes are padded one after the other, corners by both.
---@param a lgt_array
---@param width integer|integer[]|integer[][] n, {before, after}, or one such pair for each axis
---@param mode string? "constant" (default), "edge", "reflect", "symmetric", "wrap", "linear_ramp", "maximum",
---  "mean", "median", "minimum", "empty"
---@param options {constant_values: any, end_values: any, stat_length: any}? numbers or pairs as `width`
---@return lgt_array of a's dtype
function np.pad(a, width, mode, options)
  a = np.asarray(a)
  width, mode, options = core.take_named("pad", { "pad_width", "mode" }, width, mode, options)
  options = core.check_options(options, pad_options, "pad")
  local fill = fillers[mode or "constant"]
  if not fill then
    raise("pad: unknown mode %s: constant, edge, reflect, symmetric, wrap, linear_ramp, maximum, mean, median, " ..
      "minimum or empty was expected", core.word(mode))
  end
  local shape, box, whole = core.shape_of(a), {}, {}
  local widths = pairs_for(width, #shape, "pad")
  local values = pairs_for(options.constant_values or options.end_values or 0, #shape, "pad")
  local lengths = options.stat_length and pairs_for(options.stat_length, #shape, "pad")
  for d = 1, #shape do
    local before, after = widths[d][1], widths[d][2]
    if not core.is_integer(before) or not core.is_integer(after) or before < 0 or after < 0 then
      raise("pad: widths are integers from 0 up, not %s and %s", core.word(before), core.word(after))
    end
    whole[d] = before + shape[d] + after
    box[d] = { before, shape[d] }
    if shape[d] == 0 and before + after > 0 and fill ~= fillers.constant and fill ~= fillers.empty then
      raise("pad: axis %d has no elements to extend by mode %q", d, mode)
    end
  end
  local result = lgt.new(lgt.dense(core.dtype_of(a), whole))
  local centre = #shape > 0 and slab(result, box, 1, box[1][1], box[1][2]) or result
  assign(centre, a)
  for d = 1, #shape do
    local before, after = widths[d][1], widths[d][2]
    if before + after > 0 then
      fill(function(first, n) return slab(result, box, d, first, n) end, before, shape[d], before, after, d,
        values[d], lengths and lengths[d] or {})
    end
    box[d] = { 0, whole[d] }
  end
  return result
end

-- ---- diagonals in place ----------------------------------------------------------------------------------------

-- Write a value, or several, onto the diagonal of a matrix.
---@param a lgt_array of two dimensions
---@param value number|lgt_array|number[] several are cut off, or repeated, to as many as the diagonal has
---@param options {wrap: boolean?}? wrap: it begins anew below a square, after a row without it
function np.fill_diagonal(a, value, options)
  local wrap = core.named_option(options, "wrap", "fill_diagonal")
  core.layout_of(a, "fill_diagonal")
  if core.ndim_of(a) ~= 2 then raise("fill_diagonal: a matrix was expected, not %s", (core.describe(a))) end
  core.check_writable(a, "fill_diagonal")
  core.check_assigned(a, value)
  local rows, columns = a:dims()
  local n = math.min(rows, columns)
  local squares = wrap and rows > columns + 1 and columns > 0
  if squares then n = math.ceil(rows * columns / (columns + 1)) end
  if type(value) ~= "number" then
    value = np.asarray(value)
    if core.size_of(value) == 0 then raise("fill_diagonal: no values were given") end
    if core.ndim_of(value) > 0 then value = np.resize(value, n) end
  end
  if squares then
    local at = np.arange(n) * (columns + 1)
    a[{ np.floor_divide(at, columns) + 1, at % columns + 1 }] = value
  elseif native.divided(rows * columns) then -- what is written through a diagonal is not
    local at = np.arange(1, n + 1)
    a[{ at, at }] = value
  else
    assign(lgt.alias(a, lgt.diagonal(core.layout_of(a), 1, 2, 0)), value)
  end
end

methods.fill_diagonal = np.fill_diagonal

return true
