-- array/math/linalg.lua - products of vectors and matrices.
--
-- Products with a vector are reductions (reduce.lua): they are generators and fuse with what surrounds
-- them.  Products of two matrices go to BLAS, as a task of its own, for the dtypes that BLAS has; integers and booleans
-- take a generator over the space (row, inner, column), which is slow for large matrices but exact.

local ffi = require "ffi"
local core = require "array.core"
local native = require "array.core.native"
local reduce = require "array.core.reduce"
local ufunc = require "array.core.ufunc"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np, methods = core.np, core.methods
local Array, handles, layouts, istype = lgt.Array, lgt.handles, lgt.layouts, ffi.istype
local C, rt, front = lgt.C, lgt.rt, lgt.front
local slot, fresh, commit, wrap, line_for = lgt.slot, lgt.fresh, lgt.commit, lgt.wrap, lgt.line_for
local wrap_launched = lgt.wrap_launched

-- ---- matrix times matrix ------------------------------------------------------------------------------

local blas_kinds = {} -- by dtype
local plain_kinds = {}

local function blas_kind(dtype)
  local kind = blas_kinds[dtype]
  if not kind then
    kind = C.lgt_kind_gemm(rt, dtype)
    if kind == 0 then lgt.fail() end
    blas_kinds[dtype] = kind
  end
  return kind
end

-- In reproducible mode: a product whose bits do not depend on how the matrices are cut, some times slower.
local steady_kind

local function product_kind(dtype)
  if not lgt.reproducible() then return blas_kind(dtype) end
  if not steady_kind then
    steady_kind = C.lgt_kind_builtin(rt, "product", "wrr",
      "align(0.0,1.0) broadcast(0.1) broadcast(1.1) broadcast(2.0) broadcast(2.1)")
    if steady_kind == 0 then lgt.fail() end
  end
  return steady_kind
end

-- BLAS wants one of the two dimensions contiguous.
local function in_lines(l, along, across)
  return (l.stride[along] == 1 or l.shape[along] <= 1) and
    (l.stride[across] >= l.shape[along] or l.shape[across] <= 1)
end

local function blas_ready(a)
  local l = layouts[core.layout_of(a)]
  return (in_lines(l, 1, 0) or in_lines(l, 0, 1)) and a or np.copy(a)
end

local function plain_kind(dtype)
  local kind = plain_kinds[dtype]
  if not kind then
    kind = lgt.kind("matmul:" .. dtypes.name[dtype], function(body)
      local product = body:load(dtype, 1) * body:load(dtype, 2)
      body:reduce(dtype, 0, dtype == dtypes.BOOL and "or" or "sum", product, true)
    end)
    plain_kinds[dtype] = kind
  end
  return kind
end

local function has_blas(dtype) return dtypes.category[dtype] >= 2 and dtype ~= dtypes.FLOAT16 end

-- A product of matrices that fit, by BLAS: the result is new, so there is nothing for lgt.launch to check.
local function blas_product(a, b, kind, layout)
  local line = line_for(layout, 1)
  local l = slot()
  local id = fresh(layout)
  l.kind, l.nargs, l.nparams, l.line = kind, 3, 0, line
  l.arg[0], l.arg[1], l.arg[2] = id, a.id, b.id
  commit()
  return (wrap(id))
end

-- What is launched for two matrices that BLAS takes as they are follows from their layouts, and is remembered by their
-- numbers, to which 0.5 is added as in keys.lua: [of the first][of the second] = the kind, the layout of the result.
local MOST_PRODUCTS = 1024
local products, remembered, epoch = {}, 0, front.epoch

local function remember_product(a, b, kind, layout)
  if front.epoch ~= epoch or remembered == MOST_PRODUCTS then products, remembered, epoch = {}, 0, front.epoch end
  local by = products[core.layout_of(a) + 0.5] or {}
  products[core.layout_of(a) + 0.5] = by
  by[core.layout_of(b) + 0.5] = { kind = kind, layout = layout, reproducible = front.reproducible }
  remembered = remembered + 1
end
jit.off(remember_product)

-- The product of two matrices like two that were multiplied before; nil for what needs more thought.
local function multiply_again(a, b)
  if front.epoch ~= epoch then return nil end
  local by = products[handles[a.id].layout + 0.5]
  local plan = by and by[handles[b.id].layout + 0.5]
  if not plan or plan.reproducible ~= front.reproducible then return nil end
  return (blas_product(a, b, plan.kind, plan.layout))
end

-- The rows of the result go with those of a; each domain needs all of b.
local function launch_product(result, a, b, dtype)
  if has_blas(dtype) then
    lgt.launch(product_kind(dtype), { result, blas_ready(a), blas_ready(b) })
    return
  end
  local n, k = a:dims()
  local _, m = b:dims()
  local target = lgt.alias(result, lgt.promote(core.layout_of(result), 2, k))
  local left = lgt.alias(a, lgt.promote(core.layout_of(a), 3, m))
  local right = lgt.alias(b, lgt.promote(core.layout_of(b), 1, n))
  lgt.launch(plain_kind(dtype), { target, left, right })
end

-- Where several domains have parts of b.  If a is small beside b, the columns of the result go with those of b.  If the
-- result is small beside the matrices, each multiplies those columns of a and rows of b that belong together, and these
-- products are added up.  Else all of b is brought to each rank, or, if that is too much, some columns after others.
local function multiply_divided(a, b, dtype)
  local n, k = a:dims()
  local _, m = b:dims()
  if has_blas(dtype) and not lgt.reproducible() and m > k and 4 * core.size_of(a) <= core.size_of(b) then
    local result = native.new(dtype, { n, m })
    native.launch("matmul_columns", "wrr",
      "align(0.0,1.0) broadcast(0.1) broadcast(1.1) broadcast(2.0) broadcast(2.1) varies", { result.T, b.T, a.T })
    return result
  end
  if native.reshaped(a) then a = np.copy(a) end
  if native.reshaped(b) then b = np.copy(b) end
  local domains, size = C.lgt_domains(rt), math.max(core.size_of(a), core.size_of(b))
  if has_blas(dtype) and not lgt.reproducible() and n * m * domains <= size and k >= domains * domains then
    local parts = native.new(dtype, { domains, n, m })
    native.launch("matmul_parts", "wrr", "align(0.0,1.1,2.0) scale(1.1) scale(2.0) varies", { parts, a, b },
      { math.ceil(k / domains) })
    return np.sum(parts, 1)
  end
  local result = native.new(dtype, { n, m })
  local columns = math.max(1, math.floor(tonumber(C.lgt_replicate(rt)) / (2 * k * dtypes.size[dtype])))
  if core.size_of(b) * dtypes.size[dtype] <= tonumber(C.lgt_replicate(rt)) then columns = m end
  for first = 0, m - 1, columns do
    local count = math.min(columns, m - first)
    local function part(x) return lgt.alias(x, lgt.slice(core.layout_of(x), 2, first, count, 1)) end
    local some = count < m and np.copy(part(b)) or b
    launch_product(part(result), a, some, dtype)
    if count < m then
      lgt.fence() -- these are forgotten before others come
      lgt.free(some)
    end
  end
  return result
end

-- The product of two matrices.
local function multiply_matrices(a, b)
  local la, lb = layouts[handles[a.id].layout], layouts[handles[b.id].layout]
  local n, k = tonumber(la.shape[0]), tonumber(la.shape[1])
  local k2, m = tonumber(lb.shape[0]), tonumber(lb.shape[1])
  if k ~= k2 then
    raise("matmul: shapes (%d, %d) and (%d, %d): the columns of the first must be as many as the rows of the second",
      n, k, k2, m)
  end
  local dtype = dtypes.promote(core.dtype_of(a), core.dtype_of(b))
  if core.dtype_of(a) ~= dtype then a = np.astype(a, dtypes.name[dtype]) end
  if core.dtype_of(b) ~= dtype then b = np.astype(b, dtypes.name[dtype]) end
  if k == 0 then return np.zeros(n, m, { dtype = dtypes.name[dtype] }) end
  if m == 1 and has_blas(dtype) then -- as a vector, which fuses
    local column = reduce.dot(a, lgt.alias(b, lgt.project(core.layout_of(b), 2, 0)))
    return lgt.alias(column, lgt.promote(core.layout_of(column), 2, 1))
  end
  if native.divided(core.size_of(b)) then return multiply_divided(a, b, dtype) end
  if has_blas(dtype) then
    local kind, layout, left, right = product_kind(dtype), lgt.dense(dtype, { n, m }), blas_ready(a), blas_ready(b)
    if left.id == a.id and right.id == b.id then remember_product(a, b, kind, layout) end
    return (blas_product(left, right, kind, layout))
  end
  local result = lgt.new(lgt.dense(dtype, { n, m }))
  launch_product(result, a, b, dtype)
  return result
end

-- ---- np.dot and np.matmul ---------------------------------------------------------------------------------

-- How many dimensions, or nil for what is no array.
local function dimensions(a) return istype(Array, a) and layouts[handles[a.id].layout].ndim or nil end

local into = { out = true }
local in_dtype = { out = true, dtype = true }
local none = {}

-- Operands of a dtype that holds them.
local function computed_in(dtype, a, b, who)
  local number = core.check_dtype(dtype, who)
  a, b = np.asarray(a), np.asarray(b)
  ufunc.check_cast(dtypes.promote(core.dtype_of(a), core.dtype_of(b)), number, who)
  return np.astype(a, dtype), np.astype(b, dtype)
end

-- What product(a, b) gives, as {out = x, dtype = ...} says.
local function with_options(product, a, b, options, who)
  options = core.check_options(options, who == "matmul" and in_dtype or into, who)
  local out = options.out
  if options.dtype then a, b = computed_in(options.dtype, a, b, who) end
  local result = product(a, b)
  if out == nil then return result end
  return reduce.give(type(result) == "number" and np.asarray(result) or result, out, who)
end

-- The sum over the last axis of a and the next to last of b, as NumPy's dot.
---@param a lgt_array
---@param b lgt_array|number
---@param options {out: lgt_array}?
---@return lgt_array
function np.dot(a, b, options)
  if options ~= nil then return (with_options(np.dot, a, b, options, "dot")) end
  if istype(Array, a) and istype(Array, b) then
    local id = C.lgt_launch_product(rt, reduce.DOT.fast, a.id, b.id)
    if id ~= 0 then return (wrap_launched(id)) end
    local known = multiply_again(a, b)
    if known then return known end
  end
  local m, n = dimensions(a), dimensions(b)
  if (n == 1 and m and m > 0) or (m == 1 and n == 2) then return reduce.dot(a, b) end
  if type(a) == "number" or type(b) == "number" then return np.multiply(a, b) end
  if not (m and n) then
    local own = core.foreign("dot", a, b)
    if own then return own(a, b) end
    return np.dot(np.asarray(a), np.asarray(b))
  end
  if m == 0 or n == 0 then return a * b end
  if m == 2 and n == 2 then return multiply_matrices(a, b) end
  -- Everything else by way of matrices.
  local sa, sb = core.shape_of(a), core.shape_of(b)
  if sa[m] ~= sb[n - 1] then
    raise("dot: shapes %s and %s: the last extent of the first must be the next to last of the second",
      core.shape_text(sa), core.shape_text(sb))
  end
  local order, result = { n - 1 }, {}
  for d = 1, n do
    if d ~= n - 1 then order[#order + 1] = d end
  end
  for d = 1, m - 1 do result[#result + 1] = sa[d] end
  for d = 1, n do
    if d ~= n - 1 then result[#result + 1] = sb[d] end
  end
  local k = sa[m]
  local left = np.reshape(a, { core.size_of(a) / k, k })
  local right = np.reshape(np.transpose(b, order), { k, core.size_of(b) / k })
  return np.reshape(multiply_matrices(left, right), result)
end
methods.dot = np.dot

-- As multiply_matrices where BLAS has no such dtype: a generator over (stack, row, inner, column).
local function plain_product(result, a, b, stack, dtype)
  local target = lgt.alias(result, lgt.promote(core.layout_of(result), stack + 2, core.shape_of(a)[stack + 2]))
  local left = lgt.alias(a, lgt.promote(core.layout_of(a), stack + 3, core.shape_of(b)[stack + 2]))
  local right = lgt.alias(b, lgt.promote(core.layout_of(b), stack + 1, core.shape_of(a)[stack + 1]))
  lgt.launch(plain_kind(dtype), { target, left, right })
end

-- Products of stacks of matrices: the last two axes are matrices, the others broadcast.
---@param a lgt_array
---@param b lgt_array
---@param options {out: lgt_array?, dtype: string?}? dtype: what it computes in
---@return lgt_array
function np.matmul(a, b, options)
  if options ~= nil then return (with_options(np.matmul, a, b, options, "matmul")) end
  if type(a) == "table" or type(b) == "table" then
    local own = core.foreign("dot", a, b)
    if own then return own(a, b) end
  end
  a, b = np.asarray(a), np.asarray(b)
  local m, n = core.ndim_of(a), core.ndim_of(b)
  if m == 0 or n == 0 then raise("matmul: a 0-d array was given; use *") end
  if n == 2 or m <= 2 and n <= 2 then return np.dot(a, b) end
  if m == 1 then return np.squeeze(np.matmul(np.reshape(a, { 1, core.size_of(a) }), b), n - 1) end
  if n == 1 then return reduce.dot(a, b) end
  local sa, sb = core.shape_of(a), core.shape_of(b)
  if sa[m] ~= sb[n - 1] then
    raise("matmul: shapes %s and %s: the last extent of the first must be the next to last of the second",
      core.shape_text(sa), core.shape_text(sb))
  end
  local shape = core.broadcast_shapes({ { unpack(sa, 1, m - 2) }, { unpack(sb, 1, n - 2) } }, "matmul")
  local stack = #shape
  local dtype = dtypes.promote(core.dtype_of(a), core.dtype_of(b))
  local function spread(x, rows, columns)
    local whole = { unpack(shape) }
    whole[stack + 1], whole[stack + 2] = rows, columns
    return np.broadcast_to(np.asarray(x, { dtype = dtypes.name[dtype] }), whole)
  end
  a, b = spread(a, sa[m - 1], sa[m]), spread(b, sb[n - 1], sb[n])
  shape[stack + 1], shape[stack + 2] = sa[m - 1], sb[n]
  if sa[m] == 0 then return np.zeros(shape, { dtype = dtypes.name[dtype] }) end
  local result = lgt.new(lgt.dense(dtype, shape))
  if dtypes.category[dtype] >= 2 and dtype ~= dtypes.FLOAT16 then
    native.lines("matmul", "wrr", { result, a, b }, {}, 2)
  elseif stack <= 3 then
    plain_product(result, a, b, stack, dtype)
  else
    raise("matmul: stacks of %s have at most 3 axes, not %d", dtypes.name[dtype], stack)
  end
  return result
end
methods.matmul = np.matmul

-- The products of each element of a with each of b, both flattened.
---@param a lgt_array
---@param b lgt_array
---@param options {out: lgt_array}?
---@return lgt_array a matrix
function np.outer(a, b, options)
  if options ~= nil then return (with_options(np.outer, a, b, options, "outer")) end
  a, b = np.ravel(a), np.ravel(b)
  return lgt.alias(a, lgt.promote(core.layout_of(a), 2, 1)) * b
end

-- The sum of products over the last axes.
function np.inner(a, b, options)
  core.check_options(options, none, "inner")
  a, b = np.asarray(a), np.asarray(b)
  if core.ndim_of(a) == 0 or core.ndim_of(b) <= 1 then return np.dot(a, b) end
  local order = {}
  local n = core.ndim_of(b)
  for d = 1, n do order[d] = d end
  order[n - 1], order[n] = n, n - 1
  return np.dot(a, np.transpose(b, order))
end

-- The scalar product of two flattened arrays, the first one conjugated.
function np.vdot(a, b, options)
  core.check_options(options, none, "vdot")
  a, b = np.ravel(a), np.ravel(b)
  if core.size_of(a) ~= core.size_of(b) then raise("vdot: %d and %d elements", core.size_of(a), core.size_of(b)) end
  if core.dtype_of(a) == dtypes.BOOL and core.dtype_of(b) == dtypes.BOOL then return np.dot(a, b) end
  return reduce.products(reduce.VDOT, a, b, { true })
end

local trace_options = { dtype = true, out = true }

-- The sums along the diagonals k (0) of the matrices that two axes (1 and 2) span.
---@param a lgt_array
---@param k integer?
---@param axis1 integer?
---@param axis2 integer?
---@param options {offset: integer?, axis1: integer?, axis2: integer?, dtype: string?, out: lgt_array?}?
---@return lgt_array
function np.trace(a, k, axis1, axis2, options)
  k, axis1, axis2, options = core.take_named("trace", { "offset", "axis1", "axis2" }, k, axis1, axis2, options)
  options = core.check_options(options, trace_options, "trace")
  local sum = { axis = -1, dtype = options.dtype }
  return reduce.give(np.sum(np.diagonal(np.asarray(a), k, axis1, axis2), sum), options.out, "trace")
end
methods.trace = np.trace

return true
