-- array/core/extras.lua - smaller things that NumPy has: bits, facts about dtypes, text of numbers, loops over indices.

local core = require "array.core"
local native = require "array.core.native"
local text = require "array.text.format"

local dtypes, raise, np, methods = core.dtypes, core.raise, core.np, core.methods

-- ---- bits ------------------------------------------------------------------------------------------------

local bit_options = { axis = true, count = true, bitorder = true }

local function take_bits(a, axis, options, who)
  axis, options = core.split_options(axis, options, who)
  options = core.check_options(options, bit_options, who)
  if axis == nil then axis = options.axis end
  local order = options.bitorder or "big"
  if order ~= "big" and order ~= "little" then
    raise("%s: bitorder is \"big\" or \"little\", not %s", who, core.describe(order))
  end
  a = np.asarray(a)
  if axis == nil then a, axis = np.ravel(a), 1 end
  axis = core.check_axis(axis, core.ndim_of(a), who)
  return np.moveaxis(a, axis, -1), axis, order, options.count
end

-- Bytes and bits lie alike, eight of the ones with one of the others.
local function launch_bits(variant, arrays, order)
  if core.ndim_of(arrays[1]) == 1 then
    for i = 1, 2 do arrays[i] = np.expand_dims(arrays[i], 1) end
  end
  local ndim = core.ndim_of(arrays[1])
  native.launch(variant, "wr", ("%s scale(%d.%d,8)"):format(native.leading(ndim, 2), variant == "packbits" and 1 or 0,
    ndim - 1), arrays, { order == "little" and 1 or 0 })
end

-- Eight elements of an axis (of the flattened array without one) as the bits of a byte each; zeros fill the last one.
---@param a lgt_array booleans or integers
---@param axis integer?
---@param options {bitorder: string?}? "big" (the first element is the highest bit) or "little"
---@return lgt_array uint8
function np.packbits(a, axis, options)
  local lines, at, order = take_bits(a, axis, options, "packbits")
  if dtypes.category[core.dtype_of(lines)] > 1 then
    raise("packbits: booleans or integers were expected, not %s", dtypes.name[core.dtype_of(lines)])
  end
  local shape = core.shape_of(lines)
  shape[#shape] = math.ceil(shape[#shape] / 8)
  local bytes = native.new(dtypes.UINT8, shape)
  if core.dtype_of(lines) ~= dtypes.BOOL then lines = np.not_equal(lines, 0) end
  launch_bits("packbits", { bytes, lines }, order)
  return np.moveaxis(bytes, -1, at)
end

-- The bits of bytes as elements 0 and 1 of eight times the extent.
---@param a lgt_array uint8
---@param axis integer?
---@param options {count: integer?, bitorder: string?}? count: how many elements to keep; if negative, to leave out
---@return lgt_array uint8
function np.unpackbits(a, axis, options)
  local lines, at, order, count = take_bits(a, axis, options, "unpackbits")
  if core.dtype_of(lines) ~= dtypes.UINT8 then
    raise("unpackbits: an array of uint8 was expected, not of %s", dtypes.name[core.dtype_of(lines)])
  end
  local shape = core.shape_of(lines)
  local extent = 8 * shape[#shape]
  shape[#shape] = extent
  local bits = native.new(dtypes.UINT8, shape)
  launch_bits("unpackbits", { bits, lines }, order)
  count = core.plain(count)
  if count ~= nil then
    if not core.is_integer(count) or count < -extent then
      raise("unpackbits: count is an integer from %d, to leave out all, up, not %s", -extent, core.describe(count))
    end
    local wanted = count < 0 and extent + count or count
    if wanted > extent then
      shape[#shape] = wanted - extent
      bits = np.concatenate({ bits, np.zeros(shape, { dtype = "uint8" }) }, -1)
    else
      bits = core.lgt.alias(bits, core.lgt.slice(core.layout_of(bits), #shape, 0, wanted, 1))
    end
  end
  return np.moveaxis(bits, -1, at)
end

-- ---- facts about dtypes ----------------------------------------------------------------------------------

local floats = { -- bits, mantissa's bits, greatest exponent
  float16 = { 16, 10, 15 }, float32 = { 32, 23, 127 }, float64 = { 64, 52, 1023 },
}

local function dtype_named(x, who)
  if core.is_array(x) then return dtypes.name[core.dtype_of(x)] end
  return dtypes.name[core.check_dtype(x, who)]
end

-- What a floating-point dtype can hold: eps, max, min, tiny (the least normal number), smallest_subnormal, bits, nmant,
-- precision (decimal digits), resolution.  Of a complex dtype: what its parts can.
---@param x string|lgt_array
---@return table
function np.finfo(x, surplus)
  core.check_surplus(surplus, "finfo")
  local name = dtype_named(x, "finfo")
  name = name == "complex64" and "float32" or name == "complex128" and "float64" or name
  local f = floats[name]
  if not f then raise("finfo: a floating-point dtype was expected, not %s; np.iinfo is about integers", name) end
  local bits, mantissa, exponent = unpack(f)
  local greatest = (2 - 2 ^ -mantissa) * 2 ^ exponent
  local precision = math.floor(mantissa * math.log10(2))
  return {
    dtype = name, bits = bits, nmant = mantissa, nexp = bits - 1 - mantissa, eps = 2 ^ -mantissa,
    epsneg = 2 ^ (-mantissa - 1), max = greatest, min = -greatest, tiny = 2 ^ (1 - exponent),
    smallest_normal = 2 ^ (1 - exponent), smallest_subnormal = 2 ^ (1 - exponent - mantissa), maxexp = exponent + 1,
    minexp = 1 - exponent, precision = precision, resolution = tonumber("1e-" .. precision),
  }
end

-- What an integer dtype can hold: min and max (boxed if they have more than 53 bits), bits.
---@param x string|lgt_array
---@return table
function np.iinfo(x, surplus)
  core.check_surplus(surplus, "iinfo")
  local name = dtype_named(x, "iinfo")
  local dtype = dtypes.number[name]
  if dtypes.category[dtype] ~= 1 then raise("iinfo: an integer dtype was expected, not %s", name) end
  local bits = dtypes.size[dtype] * 8
  if bits < 64 then
    local low, high = dtypes.range_of(dtype)
    return { dtype = name, bits = bits, min = tonumber(low), max = tonumber(high) }
  end
  if dtypes.signed[dtype] then
    return { dtype = name, bits = bits, min = -0x7fffffffffffffffLL - 1, max = 0x7fffffffffffffffLL }
  end
  return { dtype = name, bits = bits, min = 0, max = 0xffffffffffffffffULL }
end

local families = {
  generic = function() return true end,
  number = function(d) return dtypes.category[d] > 0 end,
  integer = function(d) return dtypes.category[d] == 1 end,
  signedinteger = function(d) return dtypes.category[d] == 1 and dtypes.signed[d] end,
  unsignedinteger = function(d) return dtypes.category[d] == 1 and not dtypes.signed[d] end,
  inexact = function(d) return dtypes.category[d] >= 2 end,
  floating = function(d) return dtypes.category[d] == 2 end,
  complexfloating = function(d) return dtypes.category[d] == 3 end,
}

-- Is a dtype (an array's) another one, or one of a family: "generic", "number", "integer", "signedinteger",
-- "unsignedinteger", "inexact", "floating", "complexfloating"?
---@param x string|lgt_array
---@param family string
---@return boolean
function np.issubdtype(x, family, surplus)
  core.check_surplus(surplus, "issubdtype")
  local name = dtype_named(x, "issubdtype")
  local belongs = families[family]
  if belongs then return belongs(dtypes.number[name]) end
  return name == dtype_named(family, "issubdtype")
end

-- The floating-point or complex dtype in which arrays can be calculated with.
---@param ... lgt_array
---@return string
function np.common_type(...)
  local dtype
  for i = 1, select("#", ...) do
    local a = (select(i, ...))
    local d = core.dtype_of(np.asarray(a))
    if dtypes.category[d] == 0 then raise("common_type: arrays of numbers were expected, not of booleans") end
    if dtypes.category[d] == 1 then d = dtypes.FLOAT64 end
    dtype = dtype and dtypes.promote(dtype, d) or d
  end
  if not dtype then raise("common_type: at least one array was expected") end
  return dtypes.name[dtype]
end

-- The smallest dtype that holds a number; of an array its dtype.
---@param x number|boolean|lgt_array
---@return string
function np.min_scalar_type(x, surplus)
  core.check_surplus(surplus, "min_scalar_type")
  if core.is_array(x) then return dtypes.name[core.dtype_of(x)] end
  x = core.plain(x)
  if type(x) == "boolean" then return "bool" end
  if type(x) ~= "number" then raise("min_scalar_type: a number was expected, not %s", (core.describe(x))) end
  if core.is_integer(x) then
    for _, bits in ipairs { 8, 16, 32, 64 } do
      if x < 0 and x >= -2 ^ (bits - 1) then return "int" .. bits end
      if x >= 0 and x < 2 ^ bits then return "uint" .. bits end
    end
  end
  local size = math.abs(x)
  return (x ~= x or size == math.huge or size < 65000) and "float16" or size < 3.4e38 and "float32" or "float64"
end

-- ---- numbers and arrays as text --------------------------------------------------------------------------

-- An integer in a base from 2 to 36, with so many zeros before it.
---@param n integer
---@param base integer? 2
---@param padding integer? 0
---@return string
function np.base_repr(n, base, padding, surplus)
  core.check_surplus(surplus, "base_repr")
  n, base = core.plain(n), core.plain(base or 2)
  padding = core.check_value(padding, "number", "padding", "base_repr") or 0
  if not core.is_integer(n) then raise("base_repr: an integer was expected, not %s", (core.describe(n))) end
  if not core.is_integer(base) or base < 2 or base > 36 then raise("base_repr: the base is from 2 to 36") end
  local digits, rest = {}, math.abs(n)
  while rest > 0 do
    local d = rest % base
    table.insert(digits, 1, ("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"):sub(d + 1, d + 1))
    rest = (rest - d) / base
  end
  local zeros = ("0"):rep(padding)
  local body = table.concat(digits)
  if body == "" and zeros == "" then body = "0" end
  return (n < 0 and "-" or "") .. zeros .. body
end

-- An integer in base 2, in at least `width` digits; a negative one as its two's complement of that width.
---@param n integer
---@param width integer?
---@return string
function np.binary_repr(n, width, surplus)
  core.check_surplus(surplus, "binary_repr")
  n, width = core.plain(n), core.plain(core.named_option(width, "width", "binary_repr"))
  if not core.is_integer(n) then raise("binary_repr: an integer was expected, not %s", (core.describe(n))) end
  if width ~= nil and not core.is_integer(width) then
    raise("binary_repr: width is a number of digits, not %s", (core.describe(width)))
  end
  if n < 0 and width then
    if n < -2 ^ (width - 1) then raise("binary_repr: %d does not fit into %d digits", n, width) end
    n = n + 2 ^ width
  end
  local body = np.base_repr(n)
  return width and ("0"):rep(width - #body) .. body or body
end

-- How arrays are printed, as np.set_printoptions takes it.
---@return table
function np.get_printoptions()
  local copy = {}
  for name, value in pairs(text.options) do copy[name] = value end
  return copy
end

local function restored(old, ok, ...)
  for name, value in pairs(old) do text.options[name] = value end
  if not ok then error((...), 0) end
  return ...
end

-- f(...) while arrays are printed with other options; returns what f returns.
---@param options table
---@param f function
function np.printoptions(options, f, ...)
  if not core.is_callable(f) then raise("printoptions: options and a function were expected") end
  local old = np.get_printoptions()
  np.set_printoptions(options)
  return restored(old, pcall(f, ...))
end

local renamed = { max_line_width = "linewidth", suppress_small = "suppress" }
local printing = { max_line_width = "limit", suppress_small = true }
for name, kind in pairs(text.known) do printing[name] = kind end

-- Options of printing, two of which have other names where NumPy's functions give text.
local function take_printing(options, who)
  local taken = {}
  for name, value in pairs(core.check_options(options, printing, who)) do taken[renamed[name] or name] = value end
  return taken
end

-- An array as print shows it, with other options than np.set_printoptions has set.
---@param a lgt_array
---@param options table?
---@return string
function np.array2string(a, options)
  return np.printoptions(take_printing(options, "array2string"), tostring, np.asarray(a))
end
---@param options table?
---@return string
function np.array_str(a, options)
  return np.printoptions(take_printing(options, "array_str"), tostring, np.asarray(a))
end

-- As Lua would write it: array({{1, 2}, {3, 4}}, dtype).  Integers that no number of Lua holds are boxed ones:
-- 9007199254740993LL.
---@param options table?
---@return string
function np.array_repr(a, options)
  a = np.asarray(a)
  local body = np.array_str(a, take_printing(options, "array_repr"))
  if core.ndim_of(a) > 0 then body = body:gsub("%[", "{"):gsub("%]", "}"):gsub("([^%s{,])(%s)", "%1,%2") end
  local dtype = core.dtype_of(a)
  if dtype == dtypes.INT64 or dtype == dtypes.UINT64 then
    body = body:gsub("%d+", function(digits)
      return tonumber(digits) >= 2 ^ 53 and digits .. (dtype == dtypes.INT64 and "LL" or "ULL") or digits
    end)
  end
  return ("array(%s, %q)"):format(body, dtypes.name[dtype])
end

-- The elements' bytes in C order.  Waits.
---@return string
function methods.tobytes(a)
  core.layout_of(a, "tobytes")
  local bytes = a.nbytes
  local data, _, contiguous = core.host(a, "r")
  if not contiguous then data = core.copy_out(a) end
  return require("ffi").string(data, bytes)
end

-- ---- loops -----------------------------------------------------------------------------------------------

-- All indices of a shape, the last one changing fastest: for i, j in np.ndindex(2, 3) do.
---@param ... integer
---@return fun(): integer ...
function np.ndindex(...)
  local shape = core.take_only_shape("ndindex", ...)
  local index, ndim, left = {}, #shape, core.product(shape)
  for d = 1, ndim do index[d] = 1 end
  if ndim > 0 then index[ndim] = 0 end
  return function()
    if left == 0 or ndim == 0 then return nil end
    left = left - 1
    local d = ndim
    while index[d] == shape[d] do
      index[d] = 1
      d = d - 1
    end
    index[d] = index[d] + 1
    return unpack(index)
  end
end

-- All elements with their indices: for i, j, x in np.ndenumerate(a) do.  Waits.
---@param a lgt_array
---@return fun(): ...
function np.ndenumerate(a, surplus)
  core.check_surplus(surplus, "ndenumerate")
  a = np.asarray(a)
  local shape, dtype, data = core.shape_of(a), core.dtype_of(a), core.copy_out_numbers(a)
  local following, at = np.ndindex(shape), -1
  local function with_element(first, ...)
    if first == nil then return nil end
    at = at + 1
    local results, count = { first, ... }, 1 + select("#", ...)
    results[count + 1] = dtypes.to_lua(dtype, data[at])
    return unpack(results, 1, count + 1)
  end
  return function() return with_element(following()) end
end

-- ---- the rest --------------------------------------------------------------------------------------------

-- Quotient and remainder of polynomials.  Waits: how long the remainder is depends on data.
---@param u lgt_array|number[] coefficients, the highest power first
---@param v lgt_array|number[]
---@return lgt_array quotient, lgt_array remainder
function np.polydiv(u, v, surplus)
  core.check_surplus(surplus, "polydiv")
  local function coefficients(p) return np.astype(np.ravel(np.asarray(p)), "float64"):totable() end
  u, v = coefficients(u), coefficients(v)
  if #u == 0 or #v == 0 or v[1] == 0 then raise("polydiv: the first coefficients must not be 0") end
  local quotient = {}
  for k = 1, math.max(#u - #v + 1, 1) do
    local d = #u >= #v and u[k] / v[1] or 0
    quotient[k] = d
    for j = 1, #u >= #v and #v or 0 do u[k + j - 1] = u[k + j - 1] - d * v[j] end
  end
  local first = 1
  while first < #u and math.abs(u[first]) <= 1e-8 do first = first + 1 end
  local remainder = {}
  for k = first, #u do remainder[k - first + 1] = u[k] end
  return np.array(quotient), np.array(remainder)
end

-- f(a, axis) for one axis after the other; what f reduces keeps its dimension.
---@param f fun(a: lgt_array, axis: integer): lgt_array
---@param a lgt_array
---@param axes integer|integer[]
---@return lgt_array
function np.apply_over_axes(f, a, axes, surplus)
  core.check_surplus(surplus, "apply_over_axes")
  core.check_value(f, "call", "f", "apply_over_axes")
  axes = core.named_option(axes, "axes", "apply_over_axes")
  a = np.asarray(a)
  local ndim = core.ndim_of(a)
  for _, axis in ipairs(type(axes) == "table" and axes or { axes }) do
    axis = core.check_axis(axis, ndim, "apply_over_axes")
    local result = f(a, axis)
    if core.ndim_of(result) == ndim - 1 then result = np.expand_dims(result, axis) end
    if core.ndim_of(result) ~= ndim then raise("apply_over_axes: the function changes the number of dimensions") end
    a = result
  end
  return a
end

-- Where f(ones(n, n), k) is not 0: np.mask_indices(3, np.triu) are the positions of an upper triangle.  Waits.
---@return table
function np.mask_indices(n, f, k, surplus)
  core.check_surplus(surplus, "mask_indices")
  k = core.named_option(k, "k", "mask_indices")
  if not core.is_callable(f) then
    raise("mask_indices: a function such as np.triu was expected, not %s", (core.describe(f)))
  end
  return np.nonzero(np.not_equal(f(np.ones(n, n), k or 0), 0))
end

-- Without the imaginary parts, if all are at most tol (100) times the rounding error.  Waits.
---@return lgt_array
function np.real_if_close(a, tol, surplus)
  core.check_surplus(surplus, "real_if_close")
  a, tol = np.asarray(a), core.named_option(tol, "tol", "real_if_close")
  local dtype = core.dtype_of(a)
  if dtypes.category[dtype] ~= 3 then return a end
  tol = tol or 100
  if tol > 1 then tol = tol * np.finfo(dtypes.name[dtype]).eps end
  return np.all(np.less(np.abs(np.imag(a)), tol)) and np.real(a) or a
end

-- As np.asarray, in floating-point numbers (float64).
---@param dtype string?
function np.asfarray(a, dtype, surplus)
  dtype = core.take_only_named("asfarray", { "dtype" }, dtype, surplus)
  return np.asarray(a, { dtype = dtype or "float64" })
end

-- As np.asarray; raises if there are infinities or NaN.  Waits.
---@param options {dtype: string?}?
function np.asarray_chkfinite(a, options)
  options = core.check_options(options, { dtype = true }, "asarray_chkfinite")
  a = np.asarray(a, options.dtype and { dtype = options.dtype })
  if dtypes.category[core.dtype_of(a)] >= 2 and not np.all(np.isfinite(a)) then
    raise("asarray_chkfinite: there are infinities or NaN")
  end
  return a
end

np.asanyarray = np.asarray
np.alltrue, np.sometrue = np.all, np.any

-- Can one loop over its elements?
function np.iterable(x) return type(x) == "table" or core.is_array(x) and core.ndim_of(x) > 0 end

return true
