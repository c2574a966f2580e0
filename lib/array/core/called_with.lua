-- array/core/called_with.lua - calls of ufuncs with options: out=, where=, dtype=, casting=.

local ffi = require "ffi"
local core = require "array.core"
local ufunc = require "array.core.ufunc"

local dtypes, raise, np, Array = core.dtypes, core.raise, core.np, core.Array
local operand_of, operands_of, shapes_of = ufunc.operand_of, ufunc.operands_of, ufunc.shapes_of
local kind_of, launch, overlaps, count_results = ufunc.kind_of, ufunc.launch, ufunc.overlaps, ufunc.count_results
local istype = ffi.istype

-- The arrays among the operands in the dtype that a function shall compute in, whatever they are if `unsafe`.
local function computed_in(u, arguments, dtype, unsafe)
  local number, operands = core.check_dtype(dtype, u.name), operands_of(u, arguments)
  if number == dtypes.BOOL and kind_of(u, operands).dtypes[1] == number then return end -- comparisons give nothing else
  for i, x in ipairs(arguments) do
    if istype(Array, x) then
      local own = core.dtype_of(x)
      if not unsafe and not dtypes.can_cast(own, number) then
        raise("%s: dtype= is what it computes in: %s into %s is no cast of the same kind; use astype", u.name,
          dtypes.name[own], dtypes.name[number])
      end
      arguments[i] = np.astype(x, dtypes.name[number])
    end
  end
end

-- Write one of several results into an array that options.out has for it, where a mask says so.
local function put_result(u, array, result, mask)
  local layout = core.layout_of(array, u.name)
  core.check_writable(array, u.name)
  ufunc.check_cast(core.dtype_of(result), core.dtype_of(array), u.name)
  if not core.same_shape(core.shape_of(array), core.shape_of(result)) then
    raise("%s: out= has shape %s, the result has %s", u.name, core.shape_text(core.shape_of(array)),
      core.shape_text(core.shape_of(result)))
  end
  if mask ~= nil then
    np.copyto(array, result, { where = mask })
  else
    core.assign(array.id, layout, result)
  end
  return array
end

-- A call of a function of several results.
local function call_several(u, out, mask, arguments)
  if out ~= nil and (type(out) ~= "table" or #out ~= u.nout) then
    raise("%s has %d results: out= is a table of as many arrays", u.name, u.nout)
  end
  local results = { ufunc.call(u, unpack(arguments)) }
  for i = 1, u.nout do
    if out or mask ~= nil then
      results[i] = put_result(u, out and out[i] or np.zeros_like(results[i]), results[i], mask)
    end
  end
  return unpack(results, 1, u.nout)
end

-- A call whose results are converted to whatever they are written into.
local function call_unsafe(u, options, arguments)
  local results = { u(unpack(arguments, 1, u.nin)) }
  local out = core.is_array(options.out) and { options.out } or options.out
  if type(out) ~= "table" or #out ~= #results then
    raise("%s: out= is an array for each result, of which there are %d", u.name, #results)
  end
  for i, target in ipairs(out) do
    core.layout_of(target, u.name)
    local converted = np.astype(np.asarray(results[i]), dtypes.name[core.dtype_of(target)])
    results[i] = put_result(u, target, converted, options.where)
  end
  return unpack(results)
end

-- A call with options, which have been checked.
return function(u, options, ...)
  local out, mask = options.out, options.where
  local arguments = { ... }
  for i = 1, u.nin do
    if arguments[i] == nil then operand_of(nil, u.name) end
  end
  if options.casting ~= nil and options.casting ~= "same_kind" then
    if options.casting ~= "unsafe" then
      raise("%s: casting is \"same_kind\" or \"unsafe\", not %s", u.name, (core.describe(options.casting)))
    end
    if options.dtype then computed_in(u, arguments, options.dtype, true) end
    if out ~= nil then return call_unsafe(u, options, arguments) end
  end
  if options.dtype then
    computed_in(u, arguments, options.dtype)
    if out == nil and mask == nil then return ufunc.call(u, unpack(arguments)) end
  end
  if type(out) == "table" and #out == 1 and u.nout == 1 then out = out[1] end
  if not u.nout then u.nout = count_results(u, arguments) end
  if u.nout ~= 1 then return call_several(u, out, mask, arguments) end
  local operands = operands_of(u, arguments)
  local shapes = shapes_of(arguments)
  if mask ~= nil then
    mask = np.asarray(mask)
    if core.dtype_of(mask) ~= dtypes.BOOL then
      raise("%s: where= must be a boolean array, not %s", u.name, (core.describe(options.where)))
    end
    shapes[#shapes + 1] = core.shape_of(mask)
  end
  local shape = core.broadcast_shapes(shapes, u.name)
  if out == nil then out = np.zeros(shape, { dtype = dtypes.name[kind_of(u, operands).dtypes[1]] }) end
  core.layout_of(out, u.name)
  core.check_writable(out, u.name)
  local stretched = core.broadcast_pair(shape, core.shape_of(out))
  if not stretched or not core.same_shape(stretched, core.shape_of(out)) then
    raise("%s: out= has shape %s, the result has %s", u.name, core.shape_text(core.shape_of(out)),
      core.shape_text(shape))
  end
  for i, x in ipairs(arguments) do
    if istype(Array, x) and overlaps(out, x) then arguments[i] = np.copy(x) end
  end
  if mask then arguments[#arguments + 1] = overlaps(out, mask) and np.copy(mask) or mask end
  local k = kind_of(u, operands, core.dtype_of(out), mask and true)
  launch(k.kind, { out }, arguments)
  return out
end
