-- array/core/members.lua - np.add.reduce, accumulate, reduceat, outer: what binary ufuncs can do besides.
-- (np.add.at is in index/keys.lua.)
--
-- Reductions and scans that the runtime knows are one task each.  Of other functions the runtime only knows
-- how to take one step: then each step is a launch, and long axes are refused; or, if it does not matter what is
-- combined first, all pairs are one launch.

local core = require "array.core"
local native = require "array.core.native"
local reduce = require "array.core.reduce"
local ufunc = require "array.core.ufunc"
require "array.math.scan" -- for core.scan
require "array.math.sort" -- for core.is_long_line and core.for_each_line

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np = core.np
local layouts = lgt.layouts

local LONGEST = 4096 -- steps that are launches of their own

local known = { axis = true, dtype = true, keepdims = true, where = true, initial = true, out = true }

local function take(u, what, a, axis, options)
  local who = u.name .. "." .. what
  if u.nin ~= 2 or u.nout ~= 1 then raise("%s: only functions of two operands can do that", who) end
  a = np.asarray(a)
  axis, options = core.split_options(axis, options, who)
  options = core.check_options(options, known, who)
  if axis == nil then axis = options.axis or 1 end
  if core.ndim_of(a) == 0 then raise("%s: a 0-d array has no axis", who) end
  return who, a, axis, options
end

-- Functions f with f(f(a, b), c) = f(a, f(b, c)), but for rounding: halves are combined, in few launches.
local associative = { gcd = true, lcm = true, hypot = true, logaddexp = true, logaddexp2 = true, copysign = true }

-- Elements first, first + step, ... along an axis; first counts from 0.
local function every(a, axis, first, count, step)
  return lgt.alias(a, lgt.slice(core.layout_of(a), axis, first, count, step))
end

-- Neighbours are combined until one is left; the last of an odd number waits.
local function combine(u, a, axis)
  local left, extent = {}, core.shape_of(a)[axis]
  while extent > 1 do
    local half = math.floor(extent / 2)
    if extent % 2 == 1 then left[#left + 1] = every(a, axis, extent - 1, 1, 1) end
    a, extent = u(every(a, axis, 0, half, 2), every(a, axis, 1, half, 2)), half
  end
  for i = #left, 1, -1 do a = u(a, left[i]) end
  return a
end

-- Running results: those of pairs are every second one of them.
local function combine_all(u, a, axis)
  local extent = core.shape_of(a)[axis]
  if extent < 2 then return a end
  local half = math.floor(extent / 2)
  local pairs = combine_all(u, u(every(a, axis, 0, half, 2), every(a, axis, 1, half, 2)), axis)
  local result = np.empty(core.shape_of(a), { dtype = dtypes.name[core.dtype_of(pairs)] })
  local function put(first, count, step, value)
    local view = every(result, axis, first, count, step)
    core.assign(view.id, core.layout_of(view), value)
  end
  put(0, 1, 1, every(a, axis, 0, 1, 1))
  put(1, half, 2, pairs)
  local rest = extent - half - 1
  if rest > 0 then put(2, rest, 2, u(every(pairs, axis, 0, rest, 1), every(a, axis, 2, rest, 2))) end
  return result
end

-- Running results along an axis, each step a launch.
local function steps(u, who, a, axis)
  local extent = core.shape_of(a)[axis]
  if extent > LONGEST then
    raise("%s: %d steps one after another; this function takes at most %d", who, extent, LONGEST)
  end
  local parts = {}
  for i = 0, extent - 1 do
    local part = every(a, axis, i, 1, 1)
    parts[i + 1] = i == 0 and part or u(parts[i], part)
  end
  return parts
end

-- The dtype that a scan computes in.
local function cast_for_scan(u, a, options)
  if options.dtype then return np.astype(a, options.dtype) end
  if u.name:find("^logical") then return np.astype(a, "bool") end
  local dtype = core.dtype_of(a)
  if u.name == "add" or u.name == "multiply" then dtype = dtypes.of_sum(dtype) end
  if u.name == "divide" and dtypes.category[dtype] < 2 then dtype = dtypes.FLOAT64 end
  return core.dtype_of(a) == dtype and a or np.astype(a, dtypes.name[dtype])
end

-- In reproducible mode floats are combined in one order, however lines are cut.
local function keeps_order(a) return dtypes.category[core.dtype_of(a)] >= 2 and lgt.reproducible() end

-- Running differences of lines that several domains have parts of: the running sums of the first element and of the
-- others' negatives.  (Quotients are not made so: reciprocals are rounded.)  As in all running sums, what a block of a
-- line comes to by itself must be in range, even if the whole up to there would be without it.
local function subtract_divided(a, axis)
  local layout, extent = core.layout_of(a), core.shape_of(a)[axis]
  local first = lgt.alias(a, lgt.slice(layout, axis, 0, 1, 1))
  local rest = lgt.alias(a, lgt.slice(layout, axis, 1, extent - 1, 1))
  local dtype = core.dtype_of(a)
  if dtypes.category[dtype] >= 2 then
    rest = np.negative(rest)
  else -- of unsigned ones, too
    rest = np.zeros({}, { dtype = dtypes.name[dtype] }) - rest
  end
  return core.scan(np.concatenate({ first, rest }, axis), axis, native.operation.add)
end

-- np.add.accumulate(a, axis): running results, along the first axis if none is given.
---@param a lgt_array
---@param axis integer?
---@param options {axis: integer?, dtype: string?, out: lgt_array?}?
---@return lgt_array
function ufunc.members.accumulate(u, a, axis, options)
  local who
  who, a, axis, options = take(u, "accumulate", a, axis, options)
  for _, name in ipairs { "keepdims", "where", "initial" } do
    if options[name] ~= nil then raise("%s takes no %s=", who, name) end
  end
  local function give(result) return reduce.give(result, options.out, who) end
  axis = core.check_axis(axis, core.ndim_of(a), who)
  a = cast_for_scan(u, a, options)
  local operation = native.operation_of(u.name, core.dtype_of(a))
  if operation and u.name == "subtract" and native.divided(core.shape_of(a)[axis]) and not keeps_order(a) then
    return give(subtract_divided(a, axis))
  end
  if operation then return give(core.scan(a, axis, operation)) end
  if associative[u.name] then return give(np.copy(combine_all(u, a, axis))) end
  local parts = steps(u, who, a, axis)
  return give(#parts == 0 and np.copy(a) or np.concatenate(parts, axis))
end

-- The last element of a running result is the reduction.
local function reduce_by_steps(u, who, a, axis, options)
  axis = core.check_axis(axis, core.ndim_of(a), who)
  local extent = core.shape_of(a)[axis]
  if options.where ~= nil then raise("%s takes no where=: what would count as nothing?", who) end
  if options.initial ~= nil then -- takes the first step
    local first = core.shape_of(a)
    first[axis], extent = 1, extent + 1
    a = np.concatenate({ np.full(first, options.initial, { dtype = dtypes.name[core.dtype_of(a)] }), a }, axis)
  end
  if extent == 0 then raise("%s: along nothing there is no result", who) end
  a = cast_for_scan(u, a, options)
  local operation = native.operation_of(u.name, core.dtype_of(a))
  local last
  if operation then
    local all = ufunc.members.accumulate(u, a, axis, { dtype = dtypes.name[core.dtype_of(a)] })
    last = every(all, axis, extent - 1, 1, 1)
  elseif associative[u.name] then
    last = combine(u, a, axis)
  else
    local parts = steps(u, who, a, axis)
    last = parts[#parts]
  end
  if extent == 1 then last = np.copy(last) end -- else it would be a view of `a`
  local result = options.keepdims and last or np.squeeze(last, axis)
  return reduce.give(result, options.out, who)
end

-- np.add.reduce(a, axis): as np.sum, but over the first axis if none is given.
---@param a lgt_array
---@param axis integer|integer[]|nil several only of functions whose order does not matter
---@param options {axis: any, dtype: string?, keepdims: boolean?, where: lgt_array?, initial: any, out: lgt_array?}?
---@return lgt_array
function ufunc.members.reduce(u, a, axis, options)
  local who
  who, a, axis, options = take(u, "reduce", a, axis, options)
  local f = reduce.by_ufunc[u.name]
  if f then
    return f(a, axis, { keepdims = options.keepdims, dtype = options.dtype, where = options.where,
                        initial = options.initial, out = options.out })
  end
  if type(axis) == "table" then raise("%s: over one axis at a time", who) end
  return reduce_by_steps(u, who, a, axis, options)
end

-- Of a vector that several domains have parts of: each combines what it has, then it is put together.
local function reduce_line_at(line, positions, operation)
  local domains, n, m = lgt.C.lgt_domains(lgt.rt), core.size_of(line), core.size_of(positions)
  local parts, result = native.new(core.dtype_of(line), { domains, m }), native.new(core.dtype_of(line), { m })
  local numbers = { operation, math.ceil(n / domains), n }
  native.launch("reduceat_runs", "wrr", "align(0.0,1.0) scale(1.0)", { parts, line, positions }, numbers)
  native.launch("reduceat_fold", "wrr", "align(0.0,1.1)", { result, parts, positions }, numbers)
  return result
end

-- np.add.reduceat(a, positions, axis): for each position the reduction of the elements from there to before the
-- next position (the last one: to the end); the element alone, if the next position is not greater.
---@param a lgt_array
---@param positions lgt_array|integer[] from 1
---@param axis integer? 1
---@param options {axis: integer?, dtype: string?, out: lgt_array?}?
---@return lgt_array
function ufunc.members.reduceat(u, a, positions, axis, options)
  local who
  who, a, axis, options = take(u, "reduceat", a, axis, options)
  axis = core.check_axis(axis, core.ndim_of(a), who)
  positions = np.asarray(positions, { dtype = "int64" })
  if core.ndim_of(positions) ~= 1 then raise("%s: a vector of positions was expected", who) end
  a = cast_for_scan(u, a, options)
  local operation = native.operation_of(u.name, core.dtype_of(a))
  if not operation then raise("%s: this function cannot reduce arrays of %s", who, dtypes.name[core.dtype_of(a)]) end
  if core.is_long_line(a, axis) and not keeps_order(a) then
    local result = core.for_each_line(a, axis, function(line) return reduce_line_at(line, positions, operation) end)
    return reduce.give(result, options.out, who)
  end
  local source, back = native.axis_last(a, axis)
  local shape = core.shape_of(source)
  shape[#shape] = core.size_of(positions)
  local result = native.new(core.dtype_of(a), shape)
  local function view(x) return #shape == 1 and lgt.alias(x, lgt.promote(core.layout_of(x), 1, 1)) or x end
  native.launch("reduceat", "wrr", native.leading(math.max(1, #shape - 1), 2),
    { view(result), view(source), positions }, { operation, axis })
  return reduce.give(back(result), options.out, who)
end

-- np.subtract.outer(a, b): for each pair of elements.
---@param a lgt_array|number
---@param b lgt_array|number
---@return lgt_array of a's shape followed by b's
function ufunc.members.outer(u, a, b, options)
  if u.nin ~= 2 then raise("%s.outer: only functions of two operands can do that", u.name) end
  a, b = np.asarray(a), np.asarray(b)
  local layout = core.layout_of(a)
  for _ = 1, core.ndim_of(b) do layout = lgt.promote(layout, layouts[layout].ndim + 1, 1) end
  return u(lgt.alias(a, layout), b, options)
end

return true
