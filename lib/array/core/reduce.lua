-- array/core/reduce.lua - reductions: sums, extrema, statistics, over all elements or along axes.
--
-- A reduction is one launch: the arrays are read, a function over values maps their elements, and the
-- results are collected into an array of the reduced shape.  That array takes part as a view with the
-- reduced axes promoted (stride 0), so that all arguments have the same iteration space.  Since mapping
-- and collecting are one generator, dot products and norms need no temporaries and fuse like the rest.
--
-- As in ufunc.lua, rules by the types of the operands make the second call cheap; layouts of results come from C.

local ffi = require "ffi"
local core = require "array.core"
local routine = require "array.core.routine"
local ufunc = require "array.core.ufunc"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np, methods = core.np, core.methods
local Array, handles, layouts = lgt.Array, lgt.handles, lgt.layouts
local slot, fresh, commit, wrap, line_for = lgt.slot, lgt.fresh, lgt.commit, lgt.wrap, lgt.line_for
local wrap_launched = lgt.wrap_launched
local C, rt = lgt.C, lgt.rt
local istype, type, lshift = ffi.istype, type, require("bit").lshift
local new_table = require "table.new"

local reduce = {}

-- ---- what is launched -------------------------------------------------------------------------------

local needs_order = { max = true, min = true }
local needs_bits = { ["and"] = true, ["or"] = true, xor = true }

local function check_order(dtype, who)
  if dtypes.category[dtype] == 3 then raise("%s: complex numbers have no order: take z.real, or np.abs(z)", who) end
end

-- A rule {kind, dtype, half}: f(elements) of one or two arrays is reduced.
local function make_rule(r, arrays)
  local types, names = {}, {}
  for i, a in ipairs(arrays) do
    types[i] = core.dtype_of(a)
    names[i] = dtypes.name[types[i]] .. (core.ndim_of(a) == 0 and "." or "")
  end
  local name = r.name .. ":" .. table.concat(names, ",")
  local rule = r.rules[name]
  if rule then return rule end
  rule = { half = r.half }
  for i = 1, #types do rule.half = rule.half and types[i] == dtypes.FLOAT16 end
  rule.kind = lgt.kind(name, function(body) -- knows no arrays: a trace that calls it keeps it, and all that it knows
    local values = {}
    for i = 1, #types do
      values[i] = body:load(types[i], i)
      if rule.half then values[i] = values[i]:cast(dtypes.FLOAT32) end
    end
    local x = r.map(unpack(values))
    if needs_order[r.operator] then check_order(x.dtype, r.operator) end
    if needs_bits[r.operator] and dtypes.category[x.dtype] > 1 then
      raise("%s: integers or booleans were expected, not %s", r.name, dtypes.name[x.dtype])
    end
    rule.dtype = r.accumulate and r.accumulate(x.dtype) or x.dtype
    body:reduce(rule.dtype, 0, r.operator, x, true)
  end)
  r.rules[name] = rule
  return rule
end

local function type_of(a) return layouts[handles[a.id].layout].type end

local function learn(r, a)
  core.layout_of(a, r.name)
  local rule = make_rule(r, { a })
  r.single[type_of(a)] = rule
  if not rule.half then ufunc.teach(r, rule, "single", type_of(a)) end
  return rule
end
jit.off(learn)

local function learn_pair(r, a, b)
  core.layout_of(a, r.name)
  core.layout_of(b, r.name)
  local rule = make_rule(r, { a, b })
  r.pairs[type_of(a)] = r.pairs[type_of(a)] or new_table(31, 0)
  r.pairs[type_of(a)][type_of(b)] = rule
  if not rule.half then ufunc.teach(r, rule, "pair", type_of(a), type_of(b)) end
  return rule
end
jit.off(learn_pair)

-- A second view of an array for the time of a launch, which keeps what it needs.
local function view_of(id, layout)
  local view = C.lgt_layout_view(rt, id, layout)
  if view == 0 then lgt.fail() end
  return view
end

local view_out = ffi.new("uint32_t[1]")

-- Launch a rule on one or two arrays, over the axes that `axes` has bits for.
local function launch(rule, axes, keepdims, a, b)
  local first = handles[a.id].layout
  local second = b and handles[b.id].layout or first
  local layout = C.lgt_layout_reduced(rt, rule.dtype, first, second, axes, keepdims and 1 or 0, view_out)
  if layout == 0 then lgt.fail() end
  local view = view_out[0]
  local line = line_for(first, 1)
  if line == 0 then line = line_for(second, 1) end
  local l = slot()
  local id = fresh(layout)
  local target = id
  if view ~= layout then target = view_of(id, view) end
  l.kind, l.nparams, l.line = rule.kind, 0, line
  l.arg[0], l.arg[1] = target, a.id
  if b then
    l.nargs = 3
    l.arg[2] = b.id
  else
    l.nargs = 2
  end
  commit()
  if target ~= id then C.lgt_array_free(rt, target) end
  local result = wrap(id)
  if rule.half then result = np.astype(result, "float16") end
  return result
end

-- ---- rules and calls ----------------------------------------------------------------------------------

local all_options = { axis = true, keepdims = true, dtype = true, where = true, initial = true, out = true }

local EVERY = 63 -- axes

-- One axis, several (a table), or all (nil), as bits.
local function axes_of(axis, ndim, who)
  if axis == nil then return EVERY end
  if type(axis) == "number" then
    if axis >= 1 and axis <= ndim and axis % 1 == 0 then return lshift(1, axis - 1) end
    return lshift(1, core.check_axis(axis, ndim, who) - 1)
  end
  local axes, _, list = 0, core.check_axes(axis, ndim, who)
  for _, d in ipairs(list) do axes = axes + lshift(1, d - 1) end
  return axes
end

-- What has no value for no elements is refused unless the result has none either.
local function check_elements(r, a, axis)
  local set, shape, left = core.check_axes(axis, core.ndim_of(a), r.name), core.shape_of(a), 1
  for d = 1, #shape do
    if not set[d] then left = left * shape[d] end
  end
  if left > 0 then raise("%s: an array of shape %s has no elements", r.name, core.shape_text(shape)) end
end

-- A product in a fixed order: halves are multiplied, element by element, until one is left.  For complex numbers, which
-- the runtime cannot reduce, and in reproducible mode.
local function product_by_halves(a, axis, keepdims)
  if core.dtype_of(a) == dtypes.FLOAT16 then -- collected in float32 and rounded once
    return np.astype(product_by_halves(np.astype(a, "float32"), axis, keepdims), "float16")
  end
  local shape, final, order, rest, n = core.shape_of(a), {}, {}, {}, 1
  local set, list = core.check_axes(axis, #shape, "prod")
  for d = 1, #shape do
    if set[d] then
      n = n * shape[d]
    else
      order[#order + 1], rest[#rest + 1] = d, shape[d]
    end
    if keepdims or not set[d] then final[#final + 1] = set[d] and 1 or shape[d] end
  end
  local place = set[#shape] and #rest + 1 or 1 -- where what lies side by side stays there
  for k, d in ipairs(list) do table.insert(order, place + k - 1, d) end
  table.insert(rest, place, n)
  if n == 0 then return np.ones(final, { dtype = dtypes.name[core.dtype_of(a)] }) end
  local x = np.reshape(#shape > 0 and np.transpose(a, order) or a, rest)
  if n == 1 then x = x:copy() end -- the result is an array of its own
  local function part(first, count) return lgt.alias(x, lgt.slice(core.layout_of(x), place, first, count, 1)) end
  while n > 1 do
    local half = math.floor(n / 2)
    local product = part(0, half) * part(half, half)
    x = n % 2 == 0 and product or np.concatenate({ product, part(n - 1, 1) }, place)
    n = n - half
  end
  return np.reshape(x, final)
end

local function needs_halves(a)
  local category = dtypes.category[layouts[handles[a.id].layout].dtype]
  return category == 3 or category == 2 and lgt.reproducible()
end

local function launch_along(r, a, axis, axes, keepdims)
  local rule = r.single[type_of(a)] or learn(r, a)
  if not r.has_identity and layouts[handles[a.id].layout].size == 0 then check_elements(r, a, axis) end
  return (launch(rule, axes, keepdims, a))
end

-- Reduce over an axis, several (a table), or all (nil).
local function along(r, a, axis, keepdims)
  if r.operator == "prod" and needs_halves(a) then return product_by_halves(a, axis, keepdims) end
  local axes = axes_of(axis, layouts[handles[a.id].layout].ndim, r.name)
  local id = C.lgt_launch_reduced(rt, r.fast, a.id, axes, keepdims and 1 or 0)
  if id ~= 0 then return (wrap_launched(id)) end
  return (launch_along(r, a, axis, axes, keepdims))
end

-- The result itself, or written into the array given as out=.
function reduce.give(result, out, who)
  if out == nil then return result end
  core.layout_of(out, who)
  core.check_writable(out, who)
  if not core.same_shape(core.shape_of(out), core.shape_of(result)) then
    raise("%s: out= has shape %s, the result has %s", who, core.shape_text(core.shape_of(out)),
      core.shape_text(core.shape_of(result)))
  end
  ufunc.check_cast(core.dtype_of(result), core.dtype_of(out), who)
  core.assign(out.id, core.layout_of(out), result)
  return out
end
local give = reduce.give

-- What takes part, where options.where says so; the rest counts as nothing.
local function masked(r, a, options)
  local mask = options.where
  if core.dtype_of(np.asarray(mask)) ~= dtypes.BOOL then raise("%s: where= must be a boolean array", r.name) end
  if r.name == "any" then return np.logical_and(mask, a) end
  if r.name == "all" then return np.logical_or(np.logical_not(mask), a) end
  local neutral = r.neutral
  if neutral == nil then neutral = options.initial end
  if neutral == nil then raise("%s: with where= an initial value is needed: {initial = ...}", r.name) end
  return np.where(mask, a, neutral)
end

-- With where=, initial=, out=, which are rare.
local function call_with(r, a, axis, options)
  local initial = options.initial
  if options.where ~= nil then a = masked(r, a, options) end
  local result
  if initial ~= nil and not r.has_identity and core.size_of(a) == 0 then -- along nothing there is only that
    local empty = np.sum(a, axis, { keepdims = options.keepdims })
    result = np.full_like(empty, initial, { dtype = dtypes.name[core.dtype_of(a)] })
  else
    result = along(r, a, axis, options.keepdims)
    if initial ~= nil then
      if not r.combine then raise("%s takes no initial value", r.name) end
      result = np[r.combine](result, initial)
    end
  end
  return give(result, options.out, r.name)
end

-- Is there an array in use, an axis or none, and nothing else?
local function is_plain(who, a, axis, options)
  return options == nil and istype(Array, a) and (axis == nil or type(axis) == "number") and core.layout_of(a, who) ~= 0
end

local function call(r, a, axis, options)
  if is_plain(r.name, a, axis, options) then return (along(r, a, axis)) end
  local keepdims = false
  axis, options = core.split_options(axis, options, r.name)
  if options ~= nil then
    options = core.check_options(options, all_options, r.name)
    if axis == nil then axis = options.axis end
    keepdims = options.keepdims or false
  end
  if not istype(Array, a) then
    local own = core.foreign(r.name, a)
    if own then return own(a, axis, options) end
    a = np.asarray(a)
  end
  core.layout_of(a, r.name)
  if options and options.dtype then
    a = np.astype(a, options.dtype)
  end
  if options and (options.where ~= nil or options.initial ~= nil or options.out ~= nil) then
    return call_with(r, a, axis, options)
  end
  local result = along(r, a, axis, keepdims)
  if options and options.dtype and r.neutral then return np.asarray(result, { dtype = options.dtype }) end
  return result
end

-- options: neutral, what counts as nothing; combine, the ufunc that takes an initial value in; half: float16 is
-- collected in float32 and rounded once, as NumPy does.
local function new(name, operator, map, options)
  options = options or {}
  return { name = name, operator = operator, map = map, rules = {}, single = new_table(31, 0),
           pairs = new_table(31, 0), fast = ufunc.NO_FAST, accumulate = options.accumulate or false,
           has_identity = options.has_identity ~= false, neutral = options.neutral, combine = options.combine,
           half = options.half or false }
end

reduce.new, reduce.along = new, along

-- The same of an array and one that is stretched to its shape.
function reduce.along_with(r, a, b, axis, keepdims)
  return launch(learn_pair(r, a, b), axes_of(axis, core.ndim_of(a), r.name), keepdims, a, b)
end

local function widen(x) return x:cast(dtypes.of_sum(x.dtype)) end
local function identity(x) return x end

local SUM = new("sum", "sum", widen, { neutral = 0, combine = "add", half = true })
local PROD = new("prod", "prod", widen, { neutral = 1, combine = "multiply", half = true })
local MAX = new("max", "max", identity, { has_identity = false, combine = "maximum" })
local MIN = new("min", "min", identity, { has_identity = false, combine = "minimum" })
local BITS = {}
for name, operator in pairs { bitwise_and = "and", bitwise_or = "or", bitwise_xor = "xor" } do
  BITS[name] = new(name, operator, identity, { combine = name })
end
-- Comparing booleans with a number would make integers of them.
local function truth(x) return x.dtype == dtypes.BOOL and x or x:ne(0) end
reduce.SUM = SUM
local XOR = new("logical_xor", "xor", truth, { combine = "logical_xor" })
local ANY = new("any", "or", truth)
local ALL = new("all", "and", truth)
local COUNT = new("count_nonzero", "sum", function(x) return truth(x):cast("int64") end)
local SUM_OF_SQUARES = new("sum_of_squares", "sum", function(x)
  local y = x:real():cast(dtypes.float_of(dtypes.part_of(x.dtype)))
  if dtypes.category[x.dtype] < 3 then return y * y end
  return y * y + x:imag() * x:imag()
end)
local SUM_OF_ABS = new("sum_of_abs", "sum", function(x) return widen(x:abs()) end, { half = true })
local MAX_OF_ABS = new("max_of_abs", "max", function(x) return x:abs() end, { has_identity = false })
local MIN_OF_ABS = new("min_of_abs", "min", function(x) return x:abs() end, { has_identity = false })
-- Of float16: collected in float32.
local function calculable(x)
  local dtype = dtypes.category[x.dtype] < 2 and dtypes.FLOAT64 or x.dtype
  return x:cast(dtype == dtypes.FLOAT16 and dtypes.FLOAT32 or dtype)
end
local SUM_FOR_MEAN = new("sum_for_mean", "sum", calculable)
local SQUARED_DEVIATION = new("var", "sum", function(x, m)
  local d = calculable(x) - m
  if dtypes.category[d.dtype] < 3 then return d * d end
  return d:real() * d:real() + d:imag() * d:imag()
end)

---@param a lgt_array
---@param axis integer|integer[]|nil all axes if nil
---@param options {axis: integer?, keepdims: boolean?, dtype: string?}?
---@return lgt_array
function np.sum(a, axis, options, surplus)
  if surplus ~= nil then core.check_behind(surplus, "sum") end
  local result = call(SUM, a, axis, options)
  return result
end

function np.prod(a, axis, options, surplus)
  if surplus ~= nil then core.check_behind(surplus, "prod") end
  return call(PROD, a, axis, options)
end
function np.max(a, axis, options, surplus)
  if surplus ~= nil then core.check_behind(surplus, "max") end
  return call(MAX, a, axis, options)
end
function np.min(a, axis, options, surplus)
  if surplus ~= nil then core.check_behind(surplus, "min") end
  return call(MIN, a, axis, options)
end
np.amax, np.amin, np.product = np.max, np.min, np.prod

-- Without an axis these answer with a Lua boolean or number, and wait.
local function answer(r, a, axis, options, surplus)
  if surplus ~= nil then core.check_behind(surplus, r.name) end
  local result = call(r, a, axis, options)
  if axis == nil and options == nil then return core.read_item(result) end
  return result
end
function np.any(a, axis, options, surplus) return answer(ANY, a, axis, options, surplus) end
function np.all(a, axis, options, surplus) return answer(ALL, a, axis, options, surplus) end
function np.count_nonzero(a, axis, options, surplus) return answer(COUNT, a, axis, options, surplus) end

-- How many elements of an array each element of a reduction of it stands for.
local function count_each(a, reduced) return core.size_of(a) / math.max(1, core.size_of(reduced)) end

local function split_options(axis, options, known, who)
  axis, options = core.split_options(axis, options, who)
  options = core.check_options(options, known, who)
  if axis == nil then axis = options.axis end
  return axis, options
end

local ptp_options = { axis = true, keepdims = true, out = true }

-- The greatest element less the least.
---@param a lgt_array
---@param axis integer|integer[]|nil all axes if nil
---@param options {axis: any, keepdims: boolean?, out: lgt_array?}?
---@return lgt_array
function np.ptp(a, axis, options, surplus)
  core.check_behind(surplus, "ptp")
  axis, options = split_options(axis, options, ptp_options, "ptp")
  local keep = options.keepdims and { keepdims = true }
  return give(np.max(a, axis, keep or nil) - np.min(a, axis, keep or nil), options.out, "ptp")
end

local function restore_half(result, a)
  return core.dtype_of(a) == dtypes.FLOAT16 and np.astype(result, "float16") or result
end

local function mean_along(a, axis, keepdims)
  local sums = along(SUM_FOR_MEAN, a, axis, keepdims)
  return sums / count_each(a, sums)
end

---@param a lgt_array
---@param axis integer|integer[]|nil all axes if nil
---@param options {axis: any, dtype: string?, keepdims: boolean?, where: lgt_array?, out: lgt_array?}?
---@return lgt_array
function np.mean(a, axis, options, surplus)
  core.check_behind(surplus, "mean")
  if is_plain("mean", a, axis, options) then return (restore_half(mean_along(a, axis), a)) end
  axis, options = split_options(axis, options, all_options, "mean")
  local own = type(a) == "table" and core.foreign("mean", a)
  if own then return own(a, axis, options) end
  a = np.asarray(a)
  if options.initial ~= nil then raise("mean takes no initial value") end
  if options.dtype then a = np.astype(a, options.dtype) end
  core.layout_of(a, "mean")
  local result
  if options.where ~= nil then
    local count = along(COUNT, np.broadcast_to(options.where, core.shape_of(a)), axis, options.keepdims)
    result = along(SUM_FOR_MEAN, np.where(options.where, a, 0), axis, options.keepdims) / count
  else
    result = mean_along(a, axis, options.keepdims)
  end
  return give(restore_half(result, a), options.out, "mean")
end

local variance_options = { axis = true, keepdims = true, dtype = true, ddof = "number", where = true, out = true }

-- The variance of what a mask leaves.
local function masked_variance(a, axis, options)
  local mask = np.broadcast_to(options.where, core.shape_of(a))
  local mean = np.mean(a, axis, { where = options.where, keepdims = true })
  if axis == nil then mean = np.reshape(mean, {}) end
  local squares = np.square(np.abs(a - mean))
  local count = along(COUNT, mask, axis, options.keepdims) - (options.ddof or 0)
  return along(SUM, np.where(mask, squares, 0), axis, options.keepdims) / count
end

function np.var(a, axis, options, surplus)
  core.check_behind(surplus, "var")
  a = np.asarray(a)
  axis, options = split_options(axis, options, variance_options, "var")
  if options.dtype then a = np.astype(a, options.dtype) end
  if options.where ~= nil then return give(restore_half(masked_variance(a, axis, options), a), options.out, "var") end
  local mean = mean_along(a, axis, true)
  local squares = reduce.along_with(SQUARED_DEVIATION, a, mean, axis, options.keepdims)
  local n = count_each(a, squares)
  return give(restore_half(squares / (n - (options.ddof or 0)), a), options.out, "var")
end

function np.std(a, axis, options, surplus)
  core.check_behind(surplus, "std")
  axis, options = split_options(axis, options, variance_options, "std")
  local without = { keepdims = options.keepdims, dtype = options.dtype, ddof = options.ddof, where = options.where }
  return give(np.sqrt(np.var(a, axis, without)), options.out, "std")
end

-- ---- positions of extrema -------------------------------------------------------------------------------

local arg_kinds = {}

-- A new array for what is left of `a`, and the view of it that takes part.
local function new_reduced(who, dtype, a, axis, keepdims)
  local layout = handles[a.id].layout
  layout = C.lgt_layout_reduced(rt, dtype, layout, layout, axes_of(axis, core.ndim_of(a), who),
    keepdims and 1 or 0, view_out)
  if layout == 0 then lgt.fail() end
  local view = view_out[0]
  local array = lgt.new(layout)
  return array, lgt.alias(array, view)
end

local function arg_reduce(who, a, axis, options, surplus)
  core.check_behind(surplus, who)
  a = np.asarray(a)
  axis, options = split_options(axis, options, ptp_options, who)
  local shape, dtype = core.shape_of(a), core.dtype_of(a)
  check_order(dtype, who)
  if axis ~= nil then axis = core.check_axis(axis, #shape, who) end
  if (axis and shape[axis] or core.product(shape)) == 0 then
    raise("%s: along nothing there is no best element: the shape is %s", who, core.shape_text(shape))
  end
  local name = ("%s%s:%s"):format(who, axis or "", dtypes.name[dtype])
  local kind = arg_kinds[name]
  if not kind then
    kind = lgt.kind(name, function(body) body:reduce_arg(0, who, body:load(dtype, 2), body:position(axis)) end)
    arg_kinds[name] = kind
  end
  local _, value_view = new_reduced(who, dtype, a, axis, options.keepdims)
  local position, position_view = new_reduced(who, dtypes.INT64, a, axis, options.keepdims)
  lgt.launch(kind, { value_view, position_view, a })
  return give(position, options.out, who)
end

local ARGMIN = routine.new(function(a, axis) return (arg_reduce("argmin", a, axis)) end)
local ARGMAX = routine.new(function(a, axis) return (arg_reduce("argmax", a, axis)) end)

-- Positions count from 1; without an axis, in C order.
---@return lgt_array int64
function np.argmin(a, axis, options, surplus)
  if options == nil and surplus == nil then return (routine.of_array(ARGMIN, a, axis)) end
  return (arg_reduce("argmin", a, axis, options, surplus))
end
---@return lgt_array int64
function np.argmax(a, axis, options, surplus)
  if options == nil and surplus == nil then return (routine.of_array(ARGMAX, a, axis)) end
  return (arg_reduce("argmax", a, axis, options, surplus))
end

-- ---- norms, products of vectors ---------------------------------------------------------------------------

local DOT = new("dot", "sum", function(x, y) return x * y end, { half = true })
local VDOT = new("vdot", "sum", function(x, y) return x:conj() * y end, { half = true })
reduce.DOT, reduce.VDOT = DOT, VDOT

-- Booleans multiply and add as logic does.
local DOT_BOOL = new("dot_bool", "or", function(x, y) return x * y end)

local BOOL = 2 * dtypes.BOOL + 1 -- the type

local function product_rule(r, a, b)
  local ta, tb = type_of(a), type_of(b)
  if r == DOT and ta == BOOL and tb == BOOL then r = DOT_BOOL end
  local rules = r.pairs[ta]
  return rules and rules[tb] or learn_pair(r, a, b)
end

-- The sum of products over the axes in `set` of the common shape of two arrays.
function reduce.products(r, a, b, set)
  local axes = 0
  for d in lgt.unordered(set) do axes = axes + lshift(1, d - 1) end
  return launch(product_rule(r, a, b), axes, false, a, b)
end

local function raise_extents(a, b)
  local sa, sb = core.shape_of(a), core.shape_of(b)
  raise("dot: shapes %s and %s: the last extent of the first, %d, must be the first extent of the second, %d",
    core.shape_text(sa), core.shape_text(sb), sa[#sa], sb[1])
end

-- An array of any number of dimensions times a vector: the sum over its last axis.  A vector times a matrix:
-- the sum over the first; the vector takes part as a column.
function reduce.dot(a, b)
  local rule = product_rule(DOT, a, b)
  local la, lb = layouts[handles[a.id].layout], layouts[handles[b.id].layout]
  local axis = la.ndim - 1
  if la.shape[axis] ~= lb.shape[0] then raise_extents(a, b) end
  if lb.ndim > 1 then
    a = lgt.alias(a, lgt.promote(handles[a.id].layout, 2, 1))
    axis = 0
  end
  return launch(rule, lshift(1, axis), false, a, b)
end

np.linalg = np.linalg or {}

-- The norm of vectors: order 2 (default), 1, math.huge, -math.huge, 0, or any other number.  Without an order
-- the root of the sum of squares, of arrays of any shape.  Of matrices (two axes, or an array of two
-- dimensions without an axis) with an order: 1, -1, 2, -2, math.huge, -math.huge, "fro", "nuc".
---@param a lgt_array
---@param order number|string|nil
---@param axis integer|integer[]|nil
---@return lgt_array
function np.linalg.norm(a, order, axis, options)
  a = np.asarray(a)
  if core.is_options(order) then options, order = order, nil end
  order = core.named_option(order, "ord", "norm")
  options = core.check_options(options, { axis = true, keepdims = true, ord = true }, "norm")
  order, axis = core.plain(order or options.ord), axis or options.axis
  local keepdims = options.keepdims
  if order ~= nil and type(order) ~= "number" and type(order) ~= "string" then
    raise("norm: the order is a number, \"fro\" or \"nuc\", not %s", (core.describe(order)))
  end
  if type(axis) == "table" and #axis == 1 then axis = axis[1] end
  if order ~= nil and (type(axis) == "table" or axis == nil and core.ndim_of(a) == 2) then
    require "array.math.decompose"
    return core.matrix_norm(a, order, axis or { 1, 2 }, keepdims)
  end
  if type(order) == "string" then raise("norm: %q is a norm of matrices", order) end
  if order ~= nil and axis == nil and core.ndim_of(a) > 2 then
    raise("norm: of an array of %d dimensions: give one axis, or two", core.ndim_of(a))
  end
  order = order or 2
  if dtypes.category[core.dtype_of(a)] < 2 then a = np.astype(a, "float64") end
  if order == 2 then return np.sqrt(along(SUM_OF_SQUARES, a, axis, keepdims)) end
  if order == 1 then return along(SUM_OF_ABS, a, axis, keepdims) end
  if order == math.huge then return along(MAX_OF_ABS, a, axis, keepdims) end
  if order == -math.huge then return along(MIN_OF_ABS, a, axis, keepdims) end
  if order == 0 then return along(SUM_FOR_MEAN, np.not_equal(a, 0), axis, keepdims) end
  return along(SUM, np.abs(a) ^ order, axis, keepdims) ^ (1 / order)
end
np.norm = np.linalg.norm

-- ---- methods, and reductions named after ufuncs -----------------------------------------------------------

for _, name in ipairs { "sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "argmin", "argmax", "ptp",
                        "norm", "count_nonzero" } do
  methods[name] = np[name]
end

-- The reductions that stand for functions, over axes that are always given; see members.lua.
local function of(r) return function(a, axis, options) return call(r, a, axis, options) end end
reduce.by_ufunc = {
  add = of(SUM), multiply = np.prod, maximum = of(MAX), minimum = of(MIN), logical_and = of(ALL), logical_or = of(ANY),
  logical_xor = of(XOR), bitwise_and = of(BITS.bitwise_and), bitwise_or = of(BITS.bitwise_or),
  bitwise_xor = of(BITS.bitwise_xor),
}

-- Are all elements close, equal?  These answer with Lua booleans, and wait.
function np.allclose(a, b, options) return np.all(np.isclose(np.asarray(a), np.asarray(b), options)) end

local equal_options = { equal_nan = true }
function np.array_equal(a, b, options)
  a, b, options = np.asarray(a), np.asarray(b), core.check_options(options, equal_options, "array_equal")
  if not core.same_shape(core.shape_of(a), core.shape_of(b)) then return false end
  if options.equal_nan then
    return np.all(np.logical_or(np.equal(a, b), np.logical_and(np.not_equal(a, a), np.not_equal(b, b))))
  end
  return np.all(np.equal(a, b))
end

return reduce
