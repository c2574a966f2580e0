-- array/core/special.lua - ufuncs that no generator can say (they loop, or look at bits), and rounding to decimals.
--
-- gcd, lcm, nextafter, spacing, ldexp and frexp are tasks with variants in C (ops/special.c): they take
-- out= and where=, reduce and accumulate like other ufuncs, but do not fuse.

local core = require "array.core"
local native = require "array.core.native"
local reduce = require "array.core.reduce"
local ufunc = require "array.core.ufunc"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np, methods = core.np, core.methods

-- ---- variants in C as ufuncs --------------------------------------------------------------------------

-- The arrays as views of one shape with at least two dimensions.
local function stretched(arrays, shape)
  local views = {}
  for i, a in ipairs(arrays) do
    local layout = lgt.broadcast(core.layout_of(a), shape)
    for _ = #shape + 1, 2 do layout = lgt.promote(layout, 1, 1) end
    views[i] = lgt.alias(a, layout)
  end
  return views
end

local function real_of(who, dtype)
  dtype = dtypes.float_of(dtype)
  if dtypes.category[dtype] == 3 then raise("%s is not defined for complex numbers", who) end
  return dtype
end

local call_options = { out = true, where = true }

local function finish(u, result, options, shape, out)
  if options.where == nil and out == nil then return result end
  out = out or np.zeros(shape, { dtype = dtypes.name[core.dtype_of(result)] })
  core.layout_of(out, u.name)
  if not core.same_shape(core.shape_of(out), shape) then
    raise("%s: out= has shape %s, the result has %s", u.name, core.shape_text(core.shape_of(out)),
      core.shape_text(shape))
  end
  ufunc.check_cast(core.dtype_of(result), core.dtype_of(out), u.name)
  np.copyto(out, result, { where = options.where })
  return out
end

local function call(u, ...)
  local arguments, count = { ... }, select("#", ...)
  local options = {}
  if count == u.nin + 1 then options = core.check_options(arguments[count], call_options, u.name) end
  if count ~= u.nin and count ~= u.nin + 1 then raise("%s takes %d operands, not %d", u.name, u.nin, count) end
  local result = u.simple and count == u.nin and u.simple(...)
  if result then return result end
  local inputs, shapes = {}, {}
  for i = 1, u.nin do
    local x = arguments[i]
    if not core.is_array(x) then x = core.plain(x) end
    if type(x) == "number" and core.is_integer(x) and not u.floats then x = np.array(x, { dtype = "int64" }) end
    if type(x) ~= "number" and not core.is_array(x) then
      raise("%s: arrays and numbers were expected, not %s", u.name, (core.describe(x)))
    end
    inputs[i] = np.asarray(x)
    shapes[i] = core.shape_of(inputs[i])
  end
  local shape = core.broadcast_shapes(shapes, u.name)
  local kinds = { u.dtypes(u.name, unpack(inputs)) } -- of the results, then of the inputs
  local arrays, results = {}, {}
  for i = 1, u.nout do
    results[i] = native.new(kinds[i], shape)
    arrays[i] = results[i]
  end
  for i = 1, u.nin do
    local dtype = kinds[u.nout + i]
    arrays[u.nout + i] = core.dtype_of(inputs[i]) == dtype and inputs[i] or np.astype(inputs[i], dtypes.name[dtype])
  end
  local views = stretched(arrays, shape)
  native.launch(u.name, ("w"):rep(u.nout) .. ("r"):rep(u.nin), native.leading(math.max(2, #shape), #views), views)
  if u.narrow and real_of(u.name, core.dtype_of(inputs[1])) == dtypes.FLOAT16 then
    results[1] = np.astype(results[1], "float16")
  end
  if u.nout == 1 then return finish(u, results[1], options, shape, options.out) end
  local out = options.out or {}
  if type(out) ~= "table" or options.out and #out ~= u.nout then
    raise("%s has %d results: out= is a table of as many arrays", u.name, u.nout)
  end
  for i = 1, u.nout do results[i] = finish(u, results[i], options, shape, out[i]) end
  return unpack(results)
end

local meta = {
  __call = call,
  __index = function(u, key)
    local f = ufunc.members[key]
    return f and function(...) return f(u, ...) end
  end,
  __tostring = function(u) return ("ufunc %s"):format(u.name) end,
}

local function define(name, nin, nout, floats, rule, narrow)
  np[name] = setmetatable({ name = name, nin = nin, nout = nout, floats = floats, dtypes = rule,
                            narrow = narrow }, meta)
  ufunc.all[name] = np[name]
end

local function weakness(a) return core.ndim_of(a) == 0 and 1 or 0 end

local function integers(who, a, b)
  local dtype = dtypes.promote(core.dtype_of(a), core.dtype_of(b), weakness(a), weakness(b))
  if dtypes.category[dtype] ~= 1 then raise("%s is defined for integers, not for %s", who, dtypes.name[dtype]) end
  return dtype, dtype, dtype
end

-- The variants of ldexp and frexp know no float16: it is computed in float32, which rounds nothing, and made float16
-- again.
local function wider(dtype) return dtype == dtypes.FLOAT16 and dtypes.FLOAT32 or dtype end

define("gcd", 2, 1, false, integers)
define("lcm", 2, 1, false, integers)
define("nextafter", 2, 1, true, function(who, a, b)
  local one, two = real_of(who, core.dtype_of(a)), real_of(who, core.dtype_of(b))
  local dtype = dtypes.promote(one, two, weakness(a), weakness(b))
  return dtype, dtype, dtype
end)
define("spacing", 1, 1, true, function(who, a)
  local dtype = real_of(who, core.dtype_of(a))
  return dtype, dtype
end)
define("ldexp", 2, 1, false, function(who, a, b)
  local dtype = wider(real_of(who, core.dtype_of(a)))
  if dtypes.category[core.dtype_of(b)] > 1 then raise("ldexp: exponents are integers") end
  local exponents = dtypes.promote(core.dtype_of(b), dtypes.INT32, 0, 0)
  return dtype, dtype, exponents == dtypes.INT32 and exponents or dtypes.INT64
end, true)

-- By a number that is a power of 2 in any of the floats: a product, which is rounded once, too.
function ufunc.all.ldexp.simple(a, b)
  if type(b) ~= "number" or b ~= math.floor(b) or b < -126 or b > 127 then return nil end
  local dtype = core.is_array(a) and core.dtype_of(a)
  return (dtype == dtypes.FLOAT32 or dtype == dtypes.FLOAT64) and a * 2 ^ b or nil
end

define("frexp", 1, 2, true, function(who, a)
  local dtype = wider(real_of(who, core.dtype_of(a)))
  return dtype, dtypes.INT32, dtype
end, true)

-- ---- rounding, angles, questions ------------------------------------------------------------------------

local function rounded(a, decimals)
  local dtype = core.dtype_of(a)
  if dtypes.category[dtype] < 2 then
    if decimals >= 0 then return dtype == dtypes.BOOL and np.astype(a, "float16") or np.copy(a) end
    local unit = 10 ^ -decimals
    return np.astype(np.rint(a / unit) * unit, dtypes.name[dtype])
  end
  if decimals == 0 then return np.rint(a) end
  local unit = 10 ^ math.abs(decimals)
  if decimals < 0 then return np.rint(a / unit) * unit end
  return np.rint(a * unit) / unit
end

-- To a number of decimals, halves to even; negative: to tens, hundreds, ....
---@param a lgt_array|number
---@param decimals integer? 0
---@param options {out: lgt_array?, decimals: integer?}?
---@return lgt_array
function np.round(a, decimals, options)
  if core.is_options(decimals) then
    core.check_surplus(options, "round")
    decimals, options = nil, decimals
  end
  options = core.check_options(options, { out = true, decimals = true }, "round")
  decimals = core.plain(core.given(decimals) or options.decimals or 0)
  if not core.is_integer(decimals) then raise("round: an integer was expected, not %s", (core.describe(decimals))) end
  return reduce.give(rounded(np.asarray(a), decimals), options.out, "round")
end
np.around, np.round_ = np.round, np.round
methods.round = np.round

-- Angles with jumps of more than half a period taken out, along an axis (the last).
---@param p lgt_array
---@param options {discont: number?, axis: integer?, period: number?}? period: 2 pi
---@return lgt_array
function np.unwrap(p, options)
  options = core.check_options(options, { discont = "number", axis = true, period = "number" }, "unwrap")
  p = np.asarray(p)
  if dtypes.category[core.dtype_of(p)] < 2 then p = np.astype(p, "float64") end
  local period = options.period or 2 * math.pi
  local half, jump = period / 2, math.max(options.discont or period / 2, period / 2)
  local axis = core.check_axis(options.axis or -1, core.ndim_of(p), "unwrap")
  if core.shape_of(p)[axis] == 0 then return np.copy(p) end
  local d = np.diff(p, 1, axis)
  local wrapped = (d + half) % period - half
  wrapped = np.where(np.logical_and(np.equal(wrapped, -half), np.greater(d, 0)), half, wrapped)
  local change = np.where(np.less(np.abs(d), jump), 0, wrapped - d)
  local first = lgt.alias(p, lgt.slice(core.layout_of(p), axis, 0, 1, 1))
  return p + np.cumsum(np.concatenate({ np.zeros_like(first), change }, axis), axis)
end

function np.iscomplexobj(x) return core.is_array(x) and dtypes.category[core.dtype_of(x)] == 3 end
function np.isrealobj(x) return not np.iscomplexobj(x) end
-- Is it a number, a boolean or a boxed number, rather than an array or a table?
function np.isscalar(x) return type(x) == "number" or type(x) == "boolean" or not core.is_array(x) and
    dtypes.of_scalar(x) ~= nil end

return true
