-- array/make/grid.lua - more ways to make arrays: spaced numbers, special matrices, grids and index tables.
--
-- As in create.lua: generators that know their place.  What names positions counts from 1 (tril_indices,
-- ix_, ravel_multi_index, unravel_index); what is a value (coordinates given to fromfunction) is NumPy's.

local core = require "array.core"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np = core.np

-- ---- spaced numbers -----------------------------------------------------------------------------------

local spaced = { dtype = true, endpoint = true, base = true }

local function finish(x, options)
  return options.dtype and np.astype(x, options.dtype) or x
end

-- `count` (50) numbers from base^first to base^last, spaced evenly in their logarithms.
---@param first number
---@param last number
---@param count integer?
---@param options {base: number?, endpoint: boolean?, dtype: string?}? base: 10
---@return lgt_array
function np.logspace(first, last, count, options)
  count, options = core.take_named("logspace", { "num" }, count, options)
  options = core.check_options(options, spaced, "logspace")
  local exponents = np.linspace(first, last, count, { endpoint = options.endpoint })
  return finish((options.base or 10) ^ exponents, options)
end

-- `count` (50) numbers from first to last, each a constant multiple of the one before.  Both ends are exact.
---@param first number not 0
---@param last number of the same sign
---@param count integer?
---@param options {endpoint: boolean?, dtype: string?}?
---@return lgt_array float64
function np.geomspace(first, last, count, options)
  count, options = core.take_named("geomspace", { "num" }, count, options)
  options = core.check_options(options, { dtype = true, endpoint = true }, "geomspace")
  first, last = core.to_number(first, "geomspace"), core.to_number(last, "geomspace")
  if first == 0 or last == 0 or (first < 0) ~= (last < 0) then
    raise("geomspace: %g to %g: two numbers of one sign, other than 0, were expected", first, last)
  end
  local sign = first < 0 and -1 or 1
  local exponents = np.linspace(math.log10(sign * first), math.log10(sign * last), count,
    { endpoint = options.endpoint })
  local n = core.size_of(exponents)
  local result = sign * 10 ^ exponents
  if n > 0 then result[1] = first end
  if n > 1 and options.endpoint ~= false then result[n] = last end
  return finish(result, options)
end

-- ---- matrices -------------------------------------------------------------------------------------------

-- The matrix whose columns are powers of a vector, the highest first, or last if `increasing`.
---@param x lgt_array vector
---@param n integer? columns, as many as x has elements if nil
---@param increasing boolean?
---@return lgt_array
function np.vander(x, n, increasing, surplus)
  core.check_surplus(surplus, "vander")
  x = np.asarray(x)
  if core.ndim_of(x) ~= 1 then raise("vander: a vector was expected, not %d dimensions", core.ndim_of(x)) end
  if core.is_options(n) then
    core.check_behind(increasing, "vander")
    local options = core.check_options(n, { n = "count", N = "count", increasing = true }, "vander")
    increasing, n = options.increasing, options.n or options.N
  end
  increasing = core.named_option(increasing, "increasing", "vander")
  local powers = np.arange(core.check_value(n, "count", "n", "vander") or core.size_of(x))
  local dtype = dtypes.name[dtypes.promote(core.dtype_of(x), dtypes.INT64)]
  x, powers = np.astype(x, dtype), np.astype(powers, dtype)
  return np.power(np.expand_dims(x, 2), increasing and powers or np.flip(powers))
end

-- Ones on and below diagonal k (0), zeros above.
---@param n integer rows
---@param m integer? columns: n
---@param k integer?
---@param options {dtype: string}|string|nil float64; also in the place of what is left out before it
---@return lgt_array
function np.tri(n, m, k, options)
  m, k, options = core.take_early_options(core.take_named("tri", { "M", "k" }, m, k, options))
  options = core.check_options(options, { dtype = true }, "tri")
  local dtype = options.dtype and core.check_dtype(options.dtype, "tri") or dtypes.FLOAT64
  return core.generate("tri", dtype, core.take_only_shape("tri", n, m or n), function(body)
    return body:coordinate(2):le(body:coordinate(1) + body:number(0, false))
  end, { core.to_number(k or 0, "tri") })
end

-- A matrix with the elements of an array, flattened, on diagonal k (0).
function np.diagflat(a, k, surplus)
  core.check_surplus(surplus, "diagflat")
  return np.diag(np.ravel(a), k)
end

-- ---- grids ----------------------------------------------------------------------------------------------

-- f(i, j, ...) of arrays of coordinates (from 0, as values are), for an array of the given shape.
---@param f fun(...: lgt_array): lgt_array
---@param shape integer|integer[]
---@param options {dtype: string}? of the coordinates: float64
function np.fromfunction(f, shape, options)
  shape, options = core.take_named("fromfunction", { "shape" }, shape, options)
  if not core.is_callable(f) then raise("fromfunction: a function was expected, not %s", (core.describe(f))) end
  options = core.check_options(options, { dtype = true }, "fromfunction")
  shape = core.take_only_shape("fromfunction", shape)
  local layout, grids = lgt.dense(core.check_dtype(options.dtype or "float64", "fromfunction"), shape), {}
  for d = 1, #shape do
    grids[d] = lgt.new(layout) -- arrays of their own: where f only computes with them they are never stored
    core.fill_with_coordinates(grids[d], d)
  end
  return f(unpack(grids))
end

-- A vector of what an iterator gives.
---@param iterator fun(): number?
---@param options {dtype: string?, count: integer?}? count: the first so many, an error if there are fewer; all if it is
---  negative
---@return lgt_array
function np.fromiter(iterator, options)
  options = core.check_options(options, { dtype = true, count = true }, "fromiter")
  if not core.is_callable(iterator) then
    raise("fromiter: an iterator was expected, not %s", (core.describe(iterator)))
  end
  local values, wanted = {}, core.plain(options.count or -1)
  if not core.is_integer(wanted) then raise("fromiter: count is an integer, not %s", (core.describe(wanted))) end
  while wanted < 0 or #values < wanted do
    local x = iterator()
    if x == nil then break end
    values[#values + 1] = x
  end
  if #values < wanted then raise("fromiter: the iterator gave %d elements, not %d", #values, wanted) end
  return np.array(values, { dtype = options.dtype or "float64" })
end

-- ---- tables of positions ----------------------------------------------------------------------------------

-- The row and the column, from 0, of place p (float64) of a lower triangle: its first `growing` rows, which have
-- `grown` elements together, are each longer by one than the one before, from `first` on; those behind all have m.
local function place_in_triangle(p, first, growing, grown, m)
  local b = 2 * first - 1
  local function begin(row) return row * (b + row) * 0.5 end
  local row = (((b * b + 8 * p):sqrt() - b) * 0.5):floor()
  row = begin(row):gt(p):select(row - 1, begin(row + 1):le(p):select(row + 1, row)) -- rounding
  local rest = p - grown
  local full = (rest / m):floor()
  local before = p:lt(grown)
  return before:select(row, growing + full), before:select(p - begin(row), rest - full * m)
end

-- The positions of a triangle of an n x m matrix, in C order.  An upper one is a lower one that lies upside down.
local function triangle(who, n, k, m, lower)
  n, m, k = core.plain(n), core.plain(m or n), core.plain(k or 0)
  for i = 1, 3 do
    local x = select(i, n, k, m)
    if not core.is_integer(x) then raise("%s: extents and a diagonal are integers, not %s", who, (core.describe(x))) end
  end
  if n < 0 or m < 0 then raise("%s: extents are not negative; %d x %d was given", who, n, m) end
  if not lower then k = m - n - k end
  local skipped = math.max(0, -k)
  local first = skipped + 1 + k
  local growing = math.max(0, math.min(m - first + 1, n - skipped))
  local grown = growing * first + growing * (growing - 1) / 2
  local total = m > 0 and grown + math.max(0, n - skipped - growing) * m or 0
  local numbers = { first, growing, grown, m, lower and skipped or n - skipped, total - 1 }
  local function positions(axis)
    return core.generate(who .. axis, dtypes.INT64, { total }, function(body)
      local function number(i) return body:number(i, false):cast("float64") end
      local p = body:coordinate():cast("float64")
      if not lower then p = number(5) - p end
      local row, column = place_in_triangle(p, number(0), number(1), number(2), number(3))
      if axis == 1 then return (lower and number(4) + 1 + row or number(4) - row):cast("int64") end
      return (lower and column + 1 or number(3) - column):cast("int64")
    end, numbers)
  end
  return { positions(1), positions(2) }
end

-- The positions where a triangle of an n x m matrix is, as np.nonzero gives them.
---@param n integer
---@param k integer? diagonal, 0
---@param m integer? n
---@return lgt_array[] rows and columns, usable as an index
function np.tril_indices(n, k, m, surplus)
  core.check_surplus(surplus, "tril_indices")
  k, m = core.take_only_named("tril_indices", { "k", "m" }, k, m)
  return triangle("tril_indices", n, k, m, true)
end
---@return lgt_array[]
function np.triu_indices(n, k, m, surplus)
  core.check_surplus(surplus, "triu_indices")
  k, m = core.take_only_named("triu_indices", { "k", "m" }, k, m)
  return triangle("triu_indices", n, k, m, false)
end

local function of_matrix(name)
  np[name .. "_from"] = function(a, k, surplus)
    core.check_surplus(surplus, name .. "_from")
    a, k = np.asarray(a), core.named_option(k, "k", name .. "_from")
    if core.ndim_of(a) ~= 2 then raise("%s_from: a matrix was expected, not %s", name, (core.describe(a))) end
    local n, m = a:dims()
    return np[name](n, k, m)
  end
end
of_matrix "tril_indices"
of_matrix "triu_indices"

-- The positions of the main diagonal of an array of extents n.
---@param n integer
---@param ndim integer? 2
---@return lgt_array[]
function np.diag_indices(n, ndim, surplus)
  core.check_surplus(surplus, "diag_indices")
  ndim = core.plain(core.named_option(ndim, "ndim", "diag_indices")) or 2
  if not core.is_integer(ndim) or ndim < 1 or ndim > 6 then
    raise("diag_indices: ndim is an integer from 1 to 6, not %s", core.word(ndim))
  end
  local result, positions = {}, np.span(1, n)
  for d = 1, ndim do result[d] = positions end
  return result
end

-- Vectors of positions (or booleans) as an open grid: a[np.ix_(rows, columns)] picks a rectangle.
---@param ... lgt_array|integer[]
---@return lgt_array[]
function np.ix_(...)
  local vectors, result = { ... }, {}
  for i = 1, #vectors do
    local v = np.asarray(vectors[i], { dtype = type(vectors[i]) == "table" and "int64" or nil })
    if core.dtype_of(v) == dtypes.BOOL then v = np.flatnonzero(v) end
    if core.ndim_of(v) ~= 1 then
      raise("ix_: argument %d has %d dimensions; vectors were expected", i, core.ndim_of(v))
    end
    local shape = {}
    for d = 1, #vectors do shape[d] = d == i and core.size_of(v) or 1 end
    result[i] = np.reshape(v, shape)
  end
  return result
end

-- An integer, or integers as an array of int64.
local function as_positions(x, who)
  if type(x) == "table" then x = np.array(x, { dtype = "int64" }) end
  if not core.is_array(x) then
    x = core.plain(x)
    if not core.is_integer(x) then raise("%s: positions are integers, not %s", who, (core.describe(x))) end
    return x
  end
  if dtypes.category[core.dtype_of(x)] > 1 then
    raise("%s: positions are integers, not %s; use astype", who, dtypes.name[core.dtype_of(x)])
  end
  return np.astype(x, "int64", { copy = false })
end

-- Positions along each axis as one position in C order.
---@param positions (lgt_array|integer[]|integer)[] one entry for each axis, from 1
---@param shape integer[]
---@param mode string|string[]|nil "raise" (default: positions outside are not looked for), "clip" or "wrap"; one for
---  each axis, or one for all
---@return lgt_array|integer
function np.ravel_multi_index(positions, shape, mode, surplus)
  local names = { "dims", "mode" }
  shape, mode = core.take_only_named("ravel_multi_index", names, shape, mode, surplus)
  if type(positions) ~= "table" or type(shape) ~= "table" or #positions ~= #shape then
    raise("ravel_multi_index: a table of positions for each axis and as many extents were expected")
  end
  shape = core.take_only_shape("ravel_multi_index", shape)
  local result = 0
  for d = 1, #shape do
    local how, along = type(mode) == "table" and mode[d] or mode, as_positions(positions[d], "ravel_multi_index")
    result = result * shape[d] + (core.inside(along, shape[d], how, 1, "ravel_multi_index") - 1)
  end
  return result + 1
end

-- A position in C order as positions along each axis.
---@param position lgt_array|integer from 1
---@param shape integer[]
---@return (lgt_array|integer)[]
function np.unravel_index(position, shape, surplus)
  shape = core.take_only_named("unravel_index", { "shape" }, shape, surplus)
  if shape == nil or core.is_options(shape) then raise("unravel_index: a shape was expected") end
  if type(shape) ~= "table" then shape = { shape } end
  position = as_positions(position, "unravel_index")
  shape = core.take_only_shape("unravel_index", shape)
  local count = core.product(shape)
  if not core.is_array(position) then
    if position < 1 or position > count then
      raise("unravel_index: position %s is not one of 1 to %d, of an array of shape %s", core.word(position), count,
        core.shape_text(shape))
    end
  end
  local rest, result = position - 1, {}
  for d = #shape, 2, -1 do
    result[d] = rest % shape[d] + 1
    rest = np.floor_divide(rest, shape[d])
  end
  if shape[1] then result[1] = rest + 1 end
  return result
end

-- ---- copying ------------------------------------------------------------------------------------------------

-- Write `source` into the elements of `target`, all or those where options.where holds.
---@param target lgt_array
---@param source lgt_array|number
---@param options {where: lgt_array?, casting: string?}? casting: "unsafe" converts to any dtype
function np.copyto(target, source, options)
  core.layout_of(target, "copyto")
  core.check_writable(target, "copyto")
  options = core.check_options(options, { where = true, casting = true }, "copyto")
  local casting = options.casting
  if casting ~= nil and casting ~= "same_kind" and casting ~= "unsafe" then
    raise("copyto: casting is \"same_kind\" or \"unsafe\", not %s", (core.describe(casting)))
  end
  if casting == "unsafe" then source = np.astype(np.asarray(source), dtypes.name[core.dtype_of(target)]) end
  core.check_assigned(target, source)
  if options.where then source = np.where(options.where, source, target) end
  core.assign(target.id, core.layout_of(target), source)
end

-- The array itself if its elements lie in C order without gaps, else a copy; of at least one dimension.
---@return lgt_array
---@param options {dtype: string?}?
function np.ascontiguousarray(a, options)
  options = core.check_options(options, { dtype = true }, "ascontiguousarray")
  a = np.atleast_1d(np.asarray(a, options.dtype and { dtype = options.dtype }))
  local layout = core.layout_of(a)
  return lgt.like(layout) == layout and a or np.copy(a)
end

return true
