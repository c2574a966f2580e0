-- array/reduce.lua - reductions: sums, extrema, statistics, over all elements or along axes.
--
-- A reduction is one launch: the arrays are read, a function over values maps their elements, and the
-- results are collected into an array of the reduced shape.  That array takes part as a view with the
-- reduced axes promoted (stride 0), so that all arguments have the same iteration space.  Since mapping
-- and collecting are one generator, dot products and norms need no temporaries and fuse like the rest.
--
-- As in ufunc.lua, rules by (classes of the operands, axes) make the second call cheap.

local ffi = require "ffi"
local core = require "array.core"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np, methods = core.np, core.methods
local Array, handles, layouts, class_of = lgt.Array, lgt.handles, lgt.layouts, lgt.class_of
local slot, fresh, commit, wrap, source_line = lgt.slot, lgt.fresh, lgt.commit, lgt.wrap, lgt.line
local C, rt = lgt.C, lgt.rt
local istype, type = ffi.istype, type

local reduce = {}

-- ---- what is launched -------------------------------------------------------------------------------

-- The layout of the result, and that of the view through which it takes part.
local function result_layouts(dtype, shape, set, keepdims)
  local result_shape = {}
  for d = 1, #shape do
    if not set[d] then
      result_shape[#result_shape + 1] = shape[d]
    elseif keepdims then
      result_shape[#result_shape + 1] = 1
    end
  end
  local layout = lgt.dense(dtype, result_shape)
  local view = layout
  if keepdims then
    view = lgt.broadcast(layout, shape)
  elseif #result_shape > 0 then
    for d = 1, #shape do
      if set[d] then view = lgt.promote(view, d, shape[d]) end
    end
  end
  return layout, view
end

-- Reduce f(elements) of one or two arrays over the axes in `set`.
local function make_rule(r, arrays, set, keepdims)
  local shapes, names = {}, {}
  for i, a in ipairs(arrays) do
    shapes[i] = core.shape_of(a)
    names[i] = dtypes.name[core.dtype_of(a)] .. (core.ndim_of(a) == 0 and "." or "")
  end
  local shape = core.broadcast_shapes(shapes, r.name)
  local name = r.name .. ":" .. table.concat(names, ",")
  local known = r.kinds[name]
  if not known then
    known = { half = r.half }
    for _, a in ipairs(arrays) do known.half = known.half and core.dtype_of(a) == dtypes.FLOAT16 end
    known.kind = lgt.kind(name, function(body)
      local values = {}
      for i, a in ipairs(arrays) do
        values[i] = body:load(core.dtype_of(a), i)
        if known.half then values[i] = values[i]:cast(dtypes.FLOAT32) end
      end
      local x = r.map(unpack(values))
      known.dtype = r.accumulate and r.accumulate(x.dtype) or x.dtype
      body:reduce(known.dtype, 0, r.operator, x, true)
    end)
    r.kinds[name] = known
  end
  if not r.has_identity and core.product(shape) == 0 then
    local layout = result_layouts(known.dtype, shape, set, keepdims)
    if tonumber(layouts[layout].size) > 0 then
      raise("%s: an array of shape %s has no elements", r.name, core.shape_text(shape))
    end
  end
  local layout, view = result_layouts(known.dtype, shape, set, keepdims)
  local large = false
  for _, a in ipairs(arrays) do large = large or lgt.is_large(lgt.classify(core.layout_of(a))) end
  return { kind = known.kind, layout = layout, view = view, large = large, half = known.half }
end

-- A second view of an array for the time of a launch, which keeps what it needs.
local function view_of(id, layout)
  local view = C.lgt_array_alias(rt, id, layout)
  if view == 0 then lgt.fail() end
  return view
end

local function launch(rule, a, b)
  local line = rule.large and source_line() or 0
  local l = slot()
  local id = fresh(rule.layout)
  local target = id
  if rule.view ~= rule.layout then target = view_of(id, rule.view) end
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

local function learn(r, a, axis, keepdims)
  local set = core.check_axes(axis, core.ndim_of(a), r.name)
  local rule = make_rule(r, { a }, set, keepdims)
  local class = lgt.classify(core.layout_of(a))
  if axis == nil and not keepdims then
    r[class] = rule
  elseif type(axis) == "number" then
    local key = axis + (keepdims and 0.5 or 0)
    r.axes[key] = r.axes[key] or {}
    r.axes[key][class] = rule
  end
  return rule
end
jit.off(learn)

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
  for _, d in ipairs(list) do order[#order + 1] = d end
  rest[#rest + 1] = n
  if n == 0 then return np.ones(final, { dtype = dtypes.name[core.dtype_of(a)] }) end
  local x = np.reshape(#shape > 0 and np.transpose(a, order) or a, rest)
  if n == 1 then x = x:copy() end -- the result is an array of its own
  local function part(first, count) return lgt.alias(x, lgt.slice(core.layout_of(x), #rest, first, count, 1)) end
  while n > 1 do
    local half = math.floor(n / 2)
    local product = part(0, half) * part(half, half)
    x = n % 2 == 0 and product or np.concatenate({ product, part(n - 1, 1) }, #rest)
    n = n - half
  end
  return np.reshape(x, final)
end

local function needs_halves(a)
  local category = dtypes.category[layouts[handles[a.id].layout].dtype]
  return category == 3 or category == 2 and lgt.reproducible()
end

-- Reduce over an axis, several (a table), or all (nil).
local function along(r, a, axis, keepdims)
  if r.operator == "prod" and needs_halves(a) then return product_by_halves(a, axis, keepdims) end
  local class = class_of[handles[a.id].layout]
  local rule
  if axis == nil and not keepdims then
    rule = r[class]
  elseif type(axis) == "number" then
    local by_class = r.axes[axis + (keepdims and 0.5 or 0)]
    rule = by_class and by_class[class]
  end
  return launch(rule or learn(r, a, axis, keepdims), a)
end

-- The result itself, or written into the array given as out=.
local function give(result, out, who)
  if out == nil then return result end
  core.layout_of(out, who)
  if not core.same_shape(core.shape_of(out), core.shape_of(result)) then
    raise("%s: out= has shape %s, the result has %s", who, core.shape_text(core.shape_of(out)),
      core.shape_text(core.shape_of(result)))
  end
  core.assign(out.id, core.layout_of(out), result)
  return out
end

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

local function call(r, a, axis, options)
  if axis == nil and options == nil and istype(Array, a) then return along(r, a) end
  local keepdims = false
  if core.is_options(axis) then options, axis = axis, nil end
  if options ~= nil then
    core.check_options(options, all_options, r.name)
    if axis == nil then axis = options.axis end
    keepdims = options.keepdims or false
  end
  if not istype(Array, a) then a = np.asarray(a) end
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
  return { name = name, operator = operator, map = map, kinds = {}, axes = {}, accumulate = options.accumulate or false,
           has_identity = options.has_identity ~= false, neutral = options.neutral, combine = options.combine,
           half = options.half or false }
end

-- Sums and products of integers and booleans are at least 64 bits wide.
local function wide(dtype)
  if dtypes.category[dtype] > 1 then return dtype end
  return (dtype == dtypes.BOOL or dtypes.signed[dtype]) and dtypes.INT64 or dtypes.UINT64
end

local function widen(x) return x:cast(wide(x.dtype)) end
local function identity(x) return x end

local SUM = new("sum", "sum", widen, { neutral = 0, combine = "add", half = true })
local PROD = new("prod", "prod", widen, { neutral = 1, combine = "multiply", half = true })
local MAX = new("max", "max", identity, { has_identity = false, combine = "maximum" })
local MIN = new("min", "min", identity, { has_identity = false, combine = "minimum" })
local BITS = {}
for name, operator in pairs { bitwise_and = "and", bitwise_or = "or", bitwise_xor = "xor" } do
  BITS[name] = new(name, operator, identity, { combine = name })
end
local XOR = new("logical_xor", "xor", function(x) return x:ne(0) end, { combine = "logical_xor" })
local ANY = new("any", "or", function(x) return x:ne(0) end)
local ALL = new("all", "and", function(x) return x:ne(0) end)
local COUNT = new("count_nonzero", "sum", function(x) return x:ne(0):cast("int64") end)
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
local SQUARED_DEVIATION = new("squared_deviation", "sum", function(x, m)
  local d = calculable(x) - m
  if dtypes.category[d.dtype] < 3 then return d * d end
  return d:real() * d:real() + d:imag() * d:imag()
end)

---@param a lgt_array
---@param axis integer|integer[]|nil all axes if nil
---@param options {axis: integer?, keepdims: boolean?, dtype: string?}?
---@return lgt_array
function np.sum(a, axis, options)
  local result = call(SUM, a, axis, options)
  return result
end

function np.prod(a, axis, options) return call(PROD, a, axis, options) end
function np.max(a, axis, options) return call(MAX, a, axis, options) end
function np.min(a, axis, options) return call(MIN, a, axis, options) end
np.amax, np.amin, np.product = np.max, np.min, np.prod
function np.ptp(a, axis, options) return np.max(a, axis, options) - np.min(a, axis, options) end

-- Without an axis these answer with a Lua boolean or number, and wait.
local function answer(r, a, axis, options)
  local result = call(r, a, axis, options)
  if axis == nil and options == nil then return core.read_item(result) end
  return result
end
function np.any(a, axis, options) return answer(ANY, a, axis, options) end
function np.all(a, axis, options) return answer(ALL, a, axis, options) end
function np.count_nonzero(a, axis, options) return answer(COUNT, a, axis, options) end

-- How many elements one result stands for.
local function count_along(a, axis)
  local shape, n = core.shape_of(a), 1
  local set = core.check_axes(axis, #shape, "mean")
  for d = 1, #shape do
    if set[d] then n = n * shape[d] end
  end
  return n
end

local function split_options(axis, options, known, who)
  if core.is_options(axis) then options, axis = axis, nil end
  options = core.check_options(options, known, who)
  if axis == nil then axis = options.axis end
  return axis, options
end

local function restore_half(result, a)
  return core.dtype_of(a) == dtypes.FLOAT16 and np.astype(result, "float16") or result
end

function np.mean(a, axis, options)
  a = np.asarray(a)
  axis, options = split_options(axis, options, all_options, "mean")
  if options.initial ~= nil then raise("mean takes no initial value") end
  if options.dtype then a = np.astype(a, options.dtype) end
  core.layout_of(a, "mean")
  local result
  if options.where ~= nil then
    local count = along(COUNT, np.broadcast_to(options.where, core.shape_of(a)), axis, options.keepdims)
    result = along(SUM_FOR_MEAN, np.where(options.where, a, 0), axis, options.keepdims) / count
  else
    result = along(SUM_FOR_MEAN, a, axis, options.keepdims) / count_along(a, axis)
  end
  return give(restore_half(result, a), options.out, "mean")
end

local variance_options = { axis = true, keepdims = true, dtype = true, ddof = true, where = true, out = true }

-- The variance of what a mask leaves.
local function masked_variance(a, axis, options)
  local mask = np.broadcast_to(options.where, core.shape_of(a))
  local mean = np.mean(a, axis, { where = options.where, keepdims = true })
  if axis == nil then mean = np.reshape(mean, {}) end
  local squares = np.square(np.abs(a - mean))
  local count = along(COUNT, mask, axis, options.keepdims) - (options.ddof or 0)
  return along(SUM, np.where(mask, squares, 0), axis, options.keepdims) / count
end

function np.var(a, axis, options)
  a = np.asarray(a)
  axis, options = split_options(axis, options, variance_options, "var")
  if options.dtype then a = np.astype(a, options.dtype) end
  if options.where ~= nil then return give(restore_half(masked_variance(a, axis, options), a), options.out, "var") end
  local n = count_along(a, axis)
  local mean = along(SUM_FOR_MEAN, a, axis, true) / n
  local set = core.check_axes(axis, core.ndim_of(a), "var")
  local rule = make_rule(SQUARED_DEVIATION, { a, mean }, set, options.keepdims)
  return give(restore_half(launch(rule, a, mean) / (n - (options.ddof or 0)), a), options.out, "var")
end

function np.std(a, axis, options)
  axis, options = split_options(axis, options, variance_options, "std")
  local without = { keepdims = options.keepdims, dtype = options.dtype, ddof = options.ddof, where = options.where }
  return give(np.sqrt(np.var(a, axis, without)), options.out, "std")
end

-- ---- positions of extrema -------------------------------------------------------------------------------

local arg_kinds = {}

local function arg_reduce(who, a, axis, options)
  a = np.asarray(a)
  axis, options = split_options(axis, options, { axis = true, keepdims = true }, who)
  local shape, dtype = core.shape_of(a), core.dtype_of(a)
  if axis ~= nil then axis = core.check_axis(axis, #shape, who) end
  if (axis and shape[axis] or core.product(shape)) == 0 then
    raise("%s: along nothing there is no best element: the shape is %s", who, core.shape_text(shape))
  end
  local set = core.check_axes(axis, #shape, who)
  local name = ("%s%s:%s"):format(who, axis or "", dtypes.name[dtype])
  local kind = arg_kinds[name]
  if not kind then
    kind = lgt.kind(name, function(body) body:reduce_arg(0, who, body:load(dtype, 2), body:position(axis)) end)
    arg_kinds[name] = kind
  end
  local value_layout, value_view = result_layouts(dtype, shape, set, options.keepdims)
  local layout, view = result_layouts(dtypes.INT64, shape, set, options.keepdims)
  local value, position = lgt.new(value_layout), lgt.new(layout)
  lgt.launch(kind, { lgt.alias(value, value_view), lgt.alias(position, view), a })
  return position
end

-- Positions count from 1; without an axis, in C order.
---@return lgt_array int64
function np.argmin(a, axis, options) return arg_reduce("argmin", a, axis, options) end
---@return lgt_array int64
function np.argmax(a, axis, options) return arg_reduce("argmax", a, axis, options) end

-- ---- norms, products of vectors ---------------------------------------------------------------------------

local DOT = new("dot", "sum", function(x, y) return x * y end, { half = true })
local VDOT = new("vdot", "sum", function(x, y) return x:conj() * y end, { half = true })
reduce.DOT, reduce.VDOT = DOT, VDOT

-- Booleans multiply and add as logic does.
local DOT_BOOL = new("dot_bool", "or", function(x, y) return x * y end)

local function product_rule(r, a, b, set)
  if r == DOT and core.dtype_of(a) == dtypes.BOOL and core.dtype_of(b) == dtypes.BOOL then r = DOT_BOOL end
  return make_rule(r, { a, b }, set)
end

-- The sum of products over the axes in `set` of the common shape of two arrays.
function reduce.products(r, a, b, set) return launch(product_rule(r, a, b, set), a, b) end

-- Rules of dot products with a vector, by the classes of both operands.
local SECOND = 2 ^ 21
local dot_rules = {}

-- The vector a as a column, for a times a matrix.
local function as_column(a) return lgt.alias(a, lgt.promote(core.layout_of(a), 2, 1)) end

local function learn_dot(a, b)
  local sa, sb = core.shape_of(a), core.shape_of(b)
  local column = #sb > 1
  if sa[#sa] ~= sb[1] then
    raise("dot: shapes %s and %s: the last extent of the first, %d, must be the first extent of the second, %d",
      core.shape_text(sa), core.shape_text(sb), sa[#sa], sb[1])
  end
  local rule = product_rule(DOT, column and as_column(a) or a, b, { [column and 1 or #sa] = true })
  rule.column = column
  dot_rules[lgt.classify(core.layout_of(a)) * SECOND + lgt.classify(core.layout_of(b))] = rule
  return rule
end
jit.off(learn_dot)

-- An array of any number of dimensions times a vector: the sum over its last axis.  A vector times a matrix:
-- the sum over the first.
function reduce.dot(a, b)
  local rule = dot_rules[class_of[handles[a.id].layout] * SECOND + class_of[handles[b.id].layout]] or learn_dot(a, b)
  return launch(rule, rule.column and as_column(a) or a, b)
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
  options = core.check_options(options, { axis = true, keepdims = true, ord = true }, "norm")
  order, axis = order or options.ord, axis or options.axis
  local keepdims = options.keepdims
  if type(axis) == "table" and #axis == 1 then axis = axis[1] end
  if order ~= nil and (type(axis) == "table" or axis == nil and core.ndim_of(a) == 2) then
    require "array.decompose"
    return core.matrix_norm(a, order, axis or { 1, 2 }, keepdims)
  end
  if type(order) == "string" then raise("norm: %q is a norm of matrices", order) end
  if order ~= nil and axis == nil and core.ndim_of(a) > 2 then
    raise("norm: of an array of %d dimensions: give one axis, or two", core.ndim_of(a))
  end
  order = order or 2
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

function np.array_equal(a, b)
  a, b = np.asarray(a), np.asarray(b)
  if not core.same_shape(core.shape_of(a), core.shape_of(b)) then return false end
  return np.all(np.equal(a, b))
end

return reduce
