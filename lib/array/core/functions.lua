-- array/core/functions.lua - the elementwise functions, operators and methods.  A new ufunc is one line.
--
-- Each entry is a function over values (lgt/body.lua says which dtype an operation computes in), or
-- {function, options} with the options of ufunc.define.

local ffi = require "ffi"
local core = require "array.core"
local ufunc = require "array.core.ufunc"

local lgt, np, methods, raise = core.lgt, core.np, core.methods, core.raise
local V = core.lgt.bodies.Value
local of_complex = require "array.core.complex"
local dtypes = core.dtypes
local define = ufunc.define

local function compares(f, on_numbers) return { f, { compares = true, scalar = on_numbers } } end
local function on_numbers(f, scalar) return { f, { scalar = scalar } } end

-- A function of real numbers that complex.lua extends to complex ones.
local function extended(name, f, options)
  local of = of_complex[name]
  return { function(x)
    if dtypes.category[x.dtype] == 3 then return of(x) end
    return f(x)
  end, options }
end

-- The imaginary part; of real numbers 0, and of infinite ones too.
local function imaginary(x)
  if dtypes.category[x.dtype] == 3 then return x:imag() end
  return x:ne(x):select(0, 0):cast(x.dtype)
end

-- Of booleans int8, as where NumPy has no function of booleans but one of small integers.
local function countable(x) return x.dtype == dtypes.BOOL and x:cast("int8") or x end

-- An operand of a function of real numbers that computes in floats.
local function floating(name, x)
  if not lgt.is_value(x) then return x end
  if dtypes.category[x.dtype] == 3 then raise("%s is not defined for complex numbers; take their parts", name) end
  return x:floating()
end

-- Two of them: beside a float an integer or boolean counts as what it is, for the dtype they have in common.
local function floatings(name, x, y)
  local p, q = floating(name, x), floating(name, y)
  if lgt.is_value(x) and lgt.is_value(y) and (dtypes.category[x.dtype] == 2 or dtypes.category[y.dtype] == 2) then
    return x, y
  end
  return p, q
end

-- Complex numbers are in the order of their real parts, then of their imaginary ones.
local function order(compare, parts)
  return compares(function(x, y)
    if not of_complex.any(x, y) then return compare(x, y) end
    return of_complex.ordered(x, y, parts)
  end)
end

-- The greater of two values, say: `f` of real numbers; of complex ones it is x too where what `first` gives is NaN.
local function extremum(f, parts, first, scalar)
  return on_numbers(function(x, y)
    if not of_complex.any(x, y) then return f(x, y) end
    return of_complex.ordered(x, y, parts):logical_or(first(x, y):isnan()):select(x, y)
  end, scalar)
end
local function this(x) return x end
local function other(_, y) return y end

-- The greatest number of a dtype, or of its parts.
local FINITE = { [dtypes.FLOAT16] = 65504, [dtypes.FLOAT32] = 3.4028234663852886e38,
                 [dtypes.COMPLEX64] = 3.4028234663852886e38 }
local function greatest(dtype) return FINITE[dtype] or 1.7976931348623157e308 end

local function finite(x)
  local most = greatest(x.dtype)
  return x:isnan():select(0, x:max(-most):min(most)):cast(x.dtype)
end

-- The same with other numbers.  Each question is about x: what is put in may be NaN or infinite, too.
local function replaced(x, nan, high, low)
  local inf = math.huge
  local result = x:isnan():select(nan, x:eq(inf):select(high, x:eq(-inf):select(low, x)))
  ufunc.check_cast(result.dtype, x.dtype, "nan_to_num")
  return result:cast(x.dtype)
end

-- Without a place in the table of ufuncs, where nan_to_num has one operand.
local nan_to_numbers = define("nan_to_num", function(x, nan, high, low)
  if dtypes.category[x.dtype] < 3 then return replaced(x, nan, high, low) end
  return replaced(x:real(), nan, high, low):complex(replaced(x:imag(), nan, high, low))
end)

-- Exponents that ask for products, a quotient or a root only (elementary_powers.h): they are constants of kernels.
-- Whole powers of complex numbers are multiplied out in NumPy's order (body_complex.c).
local function is_simple(dtype, exponent)
  local category = dtypes.category[dtype]
  if exponent ~= math.floor(exponent) then return category == 2 and (exponent == 0.5 or exponent == -0.5) end
  return category == 2 and exponent >= -64 and exponent <= 64 or category == 3 and exponent > -100 and exponent < 100
end

local pi = math.pi

-- name = function, or {function, options}; public as np.name
local table_of_ufuncs = {
  -- arithmetic
  add = on_numbers(V.add, function(x, y) return x + y end),
  subtract = on_numbers(V.sub, function(x, y) return x - y end),
  multiply = on_numbers(V.mul, function(x, y) return x * y end),
  divide = on_numbers(V.div, function(x, y) return x / y end),
  floor_divide = on_numbers(V.floordiv, function(x, y) return math.floor(x / y) end),
  mod = on_numbers(V.mod, function(x, y) return x % y end),
  fmod = on_numbers(V.fmod, math.fmod),
  power = { V.pow, { scalar = function(x, y) return x ^ y end, known = is_simple } },
  negative = on_numbers(V.neg, function(x) return -x end),
  positive = on_numbers(function(x) return x end, function(x) return x end),
  reciprocal = function(x) return 1 / x end,
  square = on_numbers(function(x) x = countable(x) return x * x end, function(x) return x * x end),
  abs = on_numbers(V.abs, math.abs),
  fabs = function(x) return V.abs(floating("fabs", x)) end,
  sign = extended("sign", V.sign),
  divmod = { function(x, y) return x:floordiv(y), x % y end, { nout = 2 } },
  modf = { function(x)
    x = floating("modf", x)
    local whole = x:trunc()
    return x:isinf():select(0, x - whole):copysign(x), whole
  end, { nout = 2 } },
  -- roots, exponentials, logarithms
  sqrt = on_numbers(V.sqrt, math.sqrt),
  cbrt = V.cbrt,
  exp = on_numbers(V.exp, math.exp), exp2 = extended("exp2", V.exp2), expm1 = extended("expm1", V.expm1),
  log = on_numbers(V.log, math.log), log2 = V.log2, log10 = on_numbers(V.log10, math.log10),
  log1p = extended("log1p", V.log1p),
  logaddexp = function(x, y)
    x, y = floatings("logaddexp", x, y)
    local high, low = x:max(y), x:min(y)
    return high:eq(low):select(high + math.log(2), high + (low - high):exp():log1p())
  end,
  logaddexp2 = function(x, y)
    x, y = floatings("logaddexp2", x, y)
    local high, low = x:max(y), x:min(y)
    return high:eq(low):select(high + 1, high + (low - high):exp2():log1p() * (1 / math.log(2)))
  end,
  float_power = function(x, y)
    if dtypes.category[x.dtype] < 3 and dtypes.category[y.dtype] < 3 then
      return V.pow(x:cast("float64"), y:cast("float64"))
    end
    return V.pow(x:cast("complex128"), y:cast("complex128"))
  end,
  -- trigonometry
  sin = on_numbers(V.sin, math.sin), cos = on_numbers(V.cos, math.cos), tan = on_numbers(V.tan, math.tan),
  arcsin = extended("arcsin", V.asin), arccos = extended("arccos", V.acos),
  arctan = extended("arctan", V.atan, { scalar = math.atan }),
  arctan2 = on_numbers(V.atan2, math.atan2), hypot = V.hypot,
  sinh = V.sinh, cosh = V.cosh, tanh = on_numbers(V.tanh, math.tanh),
  arcsinh = extended("arcsinh", V.asinh), arccosh = extended("arccosh", V.acosh),
  arctanh = extended("arctanh", V.atanh),
  deg2rad = function(x) return floating("deg2rad", x) * (pi / 180) end,
  rad2deg = function(x) return floating("rad2deg", x) * (180 / pi) end,
  sinc = function(x) local y = x * pi; return x:eq(0):select(1, y:sin() / y) end,
  -- special functions
  exp10 = V.exp10, erf = V.erf, erfc = V.erfc, gamma = V.tgamma, gammaln = V.lgamma,
  -- rounding
  floor = on_numbers(V.floor, math.floor), ceil = on_numbers(V.ceil, math.ceil), trunc = V.trunc,
  rint = extended("rint", V.rint),
  -- extrema
  maximum = extremum(V.max, { "gt", "ge" }, this, function(x, y) return (x > y or x ~= x) and x or y end),
  minimum = extremum(V.min, { "lt", "le" }, this, function(x, y) return (x < y or x ~= x) and x or y end),
  fmax = extremum(V.fmax, { "gt", "ge" }, other), fmin = extremum(V.fmin, { "lt", "le" }, other),
  clip = function(x, low, high) return x:max(low):min(high) end,
  -- floating-point tests
  isnan = V.isnan, isinf = V.isinf, isfinite = V.isfinite, signbit = V.signbit, copysign = V.copysign,
  isposinf = function(x) return x:isinf():logical_and(x:gt(0)) end,
  isneginf = function(x) return x:isinf():logical_and(x:lt(0)) end,
  isreal = function(x) return imaginary(x):eq(0) end,
  iscomplex = function(x) return imaginary(x):ne(0) end,
  heaviside = function(x, y)
    x, y = floatings("heaviside", x, y)
    return x:lt(0):select(0, x:gt(0):select(1, x:isnan():select(x, y)))
  end,
  nan_to_num = function(x)
    if dtypes.category[x.dtype] == 3 then return finite(x:real()):complex(finite(x:imag())) end
    return dtypes.category[x.dtype] == 2 and finite(x) or x
  end,
  -- comparison
  equal = compares(V.eq), not_equal = compares(V.ne), less = order(V.lt, { "lt", "lt" }),
  less_equal = order(V.le, { "lt", "le" }), greater = order(V.gt, { "gt", "gt" }),
  greater_equal = order(V.ge, { "gt", "ge" }),
  isclose = { function(a, b, rtol, atol)
    local equal = V.eq(a, b)
    if not lgt.is_value(b) then -- a number within np.fuse
      return b - b == 0 and equal:logical_or((a - b):abs():le(atol + rtol * math.abs(b))) or equal
    end
    b = b:floating()
    return equal:logical_or((a - b):abs():le(atol + rtol * b:abs()):logical_and(b:isfinite()))
  end, { compares = true } },
  -- logic
  logical_and = V.logical_and, logical_or = V.logical_or, logical_xor = V.logical_xor, logical_not = V.logical_not,
  bitwise_and = V.bitand, bitwise_or = V.bitor, bitwise_xor = V.bitxor, invert = V.bitnot,
  left_shift = V.shl, right_shift = V.shr,
  where = on_numbers(V.select, function(condition, x, y)
    if condition and condition ~= 0 then return x end
    return y
  end),
  -- complex numbers
  real = V.real, imag = imaginary, conj = function(x) return V.conj(countable(x)) end,
  complex = on_numbers(function(re, im)
    if dtypes.category[re.dtype] == 3 or dtypes.category[im.dtype] == 3 then
      raise("complex: real and imaginary parts are real numbers; z is complex already, z.real and z.imag are its parts")
    end
    return V.complex(re, im)
  end, ffi.typeof("complex double")),
  angle = function(x) return imaginary(x):atan2(x:real()) end,
}

for name, entry in pairs(table_of_ufuncs) do
  local f, options = entry, nil
  if type(entry) == "table" then f, options = entry[1], entry[2] end
  np[name] = define(name, f, options)
end

local synonyms = {
  true_divide = "divide", remainder = "mod", absolute = "abs", degrees = "rad2deg", radians = "deg2rad",
  conjugate = "conj", bitwise_not = "invert", asin = "arcsin", acos = "arccos", atan = "arctan", atan2 = "arctan2",
  asinh = "arcsinh", acosh = "arccosh", atanh = "arctanh", pow = "power", fix = "trunc",
}
for name, meaning in pairs(synonyms) do np[name] = np[meaning] end

local angle = ufunc.all.angle

-- The angle of complex numbers in the plane: from -pi to pi, or in degrees.
---@param z lgt_array|number
---@param options {deg: boolean?, out: lgt_array?, where: lgt_array?, dtype: string?}|boolean|nil deg: in degrees
---@return lgt_array
function np.angle(z, options, surplus)
  core.check_surplus(surplus, "angle")
  local deg, rest
  if options == nil or type(options) == "table" then
    deg, rest = core.take_named("angle", { "deg" }, nil, options)
  else
    deg = options
  end
  if not core.check_value(deg, "flag", "deg", "angle") then return angle(z, rest) end
  return np.multiply(angle(z), 180 / pi, rest)
end

local clip = ufunc.all.clip

local bounds, other_bounds = { "a_min", "a_max" }, { "min", "max" }

-- Between two bounds, either of which may be nil.
function np.clip(x, low, high, options)
  low, high, options = core.take_named("clip", bounds, low, high, options)
  low, high, options = core.take_named("clip", other_bounds, low, high, options)
  if low == nil and high == nil then raise("clip: both bounds are nil") end
  if low == nil then return np.minimum(x, high, options) end
  if high == nil then return np.maximum(x, low, options) end
  return clip(x, low, high, options)
end

local nan_to_num = ufunc.all.nan_to_num
local finite_names = { "nan", "posinf", "neginf", "copy" }

-- NaN becomes 0 and infinities the largest numbers of the dtype, or what options {nan, posinf, neginf} say; with
-- copy = false in the array itself.
function np.nan_to_num(x, options, surplus)
  core.check_behind(surplus, "nan_to_num")
  local nan, high, low, copy, rest = core.take_named("nan_to_num", finite_names, nil, nil, nil, nil, options)
  if copy == false and core.is_array(x) then
    rest = rest or {}
    rest.out = rest.out or x
  end
  if copy ~= nil then options = rest end
  if nan == nil and high == nil and low == nil then return nan_to_num(x, options) end
  nan, high, low = core.plain(nan), core.plain(high), core.plain(low)
  local dtype = lgt.is_value(x) and x.dtype or core.is_array(x) and core.dtype_of(x) or dtypes.FLOAT64
  if dtypes.category[dtype] < 2 then return nan_to_num(x, rest) end
  local most = greatest(dtype)
  return nan_to_numbers(x, nan or 0, high or most, low or -most, rest)
end

-- For each element the choice that belongs to the first condition that holds there, else the default.
---@param conditions lgt_array[]
---@param choices (lgt_array|number)[]
---@param default lgt_array|number|nil 0 if nil
function np.select(conditions, choices, default, surplus)
  core.check_surplus(surplus, "select")
  if type(conditions) ~= "table" or type(choices) ~= "table" or #conditions ~= #choices or #choices == 0 then
    raise("select: a table of conditions and one of as many choices were expected")
  end
  local result = core.named_option(default, "default", "select") or 0
  for i = #choices, 1, -1 do result = np.where(conditions[i], choices[i], result) end
  return result
end

-- ---- methods ------------------------------------------------------------------------------------------

for _, name in ipairs { "abs", "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos",
                        "tan", "sinh", "cosh", "tanh", "floor", "ceil", "trunc", "rint", "sign", "square",
                        "reciprocal", "clip",
                        "isnan", "isinf", "isfinite", "conj", "conjugate", "maximum", "minimum", "power" } do
  methods[name] = np[name]
end
methods.lt, methods.le, methods.gt, methods.ge = np.less, np.less_equal, np.greater, np.greater_equal
methods.eq, methods.ne = np.equal, np.not_equal
methods.both, methods.either = np.logical_and, np.logical_or

-- NumPy's parts are views; of complex numbers these are copies, so they are not to be written but replaced.
local function is_complex(a, who) return dtypes.category[lgt.layouts[core.layout_of(a, who)].dtype] == 3 end

function core.getters.real(a)
  if not is_complex(a, "real") then return lgt.alias(a, core.layout_of(a)) end
  return core.mark_part(np.real(a))
end
function core.getters.imag(a) return core.mark_part(np.imag(a)) end

local close_defaults = { rtol = true, atol = true, equal_nan = true }
local isclose = ufunc.all.isclose
function np.isclose(a, b, options)
  options = core.check_options(options, close_defaults, "isclose")
  local close = isclose(a, b, options.rtol or 1e-5, options.atol or 1e-8)
  if not options.equal_nan then return close end
  return np.logical_or(close, np.logical_and(np.not_equal(a, a), np.not_equal(b, b)))
end

-- A condition without choices.
ufunc.all.where.alone = function(condition) return np.nonzero(condition) end

-- ---- operators ------------------------------------------------------------------------------------------

local all, binary, unary, inplace = ufunc.all, ufunc.binary, ufunc.unary, ufunc.inplace
local ADD, SUB, MUL, DIV, MOD = all.add, all.subtract, all.multiply, all.divide, all.mod
local POW, NEG, SQUARE = all.power, all.negative, all.square
-- 0.5 is a float64 beside integers of any width, where np.sqrt takes the smallest float that holds them.
local ROOT = ufunc.new_rules("root", function(x) return (x / 1):sqrt() end, 1, 1)

ufunc.operators = {
  __add = function(a, b) return binary(ADD, a, b) end,
  __sub = function(a, b) return binary(SUB, a, b) end,
  __mul = function(a, b) return binary(MUL, a, b) end,
  __div = function(a, b) return binary(DIV, a, b) end,
  __mod = function(a, b) return binary(MOD, a, b) end,
  __unm = function(a) return unary(NEG, a) end,
  -- x^2 and x^0.5 are products and roots, as in NumPy.
  __pow = function(a, b)
    if type(b) == "number" then
      if b == 2 then return unary(SQUARE, a) end
      if b == 0.5 then return unary(ROOT, a) end
    end
    return binary(POW, a, b)
  end,
}

ufunc.inplace_names = {
  iadd = "add", isub = "subtract", imul = "multiply", idiv = "divide", ipow = "power", imod = "mod",
  imaximum = "maximum", iminimum = "minimum",
}
for name, of in pairs(ufunc.inplace_names) do
  local u = ufunc.define_inplace(name, of)
  methods[name] = function(a, b) return inplace(u, a, b) end
end

-- ---- casts and copies -------------------------------------------------------------------------------------

-- A cast is a unary ufunc of its own for each target dtype.
local casts = {}
for d = 0, dtypes.COMPLEX128 do
  casts[d] = ufunc.new_rules("astype_" .. dtypes.name[d], function(x) return x:cast(d) end, 1, 1)
end

local astype_options = { dtype = true, copy = true, casting = true }

-- np.astype with options.
local function astype_with(a, dtype, options)
  dtype, options = core.split_options(dtype, options, "astype")
  options = core.check_options(options, astype_options, "astype")
  local number = core.check_dtype(dtype or options.dtype, "astype")
  local casting, own = options.casting or "unsafe", lgt.layouts[core.layout_of(a, "astype")].dtype
  if casting ~= "unsafe" and casting ~= "same_kind" then
    raise("astype: casting is \"unsafe\" or \"same_kind\", not %s", (core.describe(casting)))
  end
  if casting == "same_kind" and not dtypes.can_cast(own, number) then
    raise("astype: %s into %s is no cast of the same kind", dtypes.name[own], dtypes.name[number])
  end
  if options.copy == false and own == number then return a end
  return np.astype(a, dtypes.name[number])
end

-- A copy with another dtype; real parts only when complex numbers become real.
---@param a lgt_array
---@param dtype string
---@param options {copy: boolean?, casting: string?}? copy = false: the array itself if it has the dtype already
---@return lgt_array
function np.astype(a, dtype, options, surplus)
  core.check_surplus(surplus, "astype")
  if options ~= nil or type(dtype) == "table" then return astype_with(a, dtype, options) end
  core.layout_of(a, "astype")
  return unary(casts[core.check_dtype(dtype, "astype")], a)
end
methods.astype = np.astype

local COPY = all.positive

---@param a lgt_array
---@return lgt_array a new array with the same elements
function np.copy(a, surplus)
  core.layout_of(a, "copy")
  if type(surplus) == "string" then surplus = { order = surplus } end
  if surplus ~= nil then core.check_options(surplus, {}, "copy") end
  return unary(COPY, a)
end
methods.copy = np.copy

-- ---- assignment -------------------------------------------------------------------------------------------

-- Kinds by the target's dtype and the source's type, as in ufunc.lua; what is launched loads, casts and stores.
local assigns = {} -- by the target's dtype
local new_table = require "table.new"
for d = 0, dtypes.COMPLEX128 do assigns[d] = { from = new_table(31, 0), fill = false } end
local Array, handles, layouts = lgt.Array, lgt.handles, lgt.layouts
local C, rt = lgt.C, lgt.rt
local slot, commit, line_for = lgt.slot, lgt.commit, lgt.line_for
local istype, floor, band = ffi.istype, math.floor, require("bit").band
local STRETCHED = C.LGT_LAYOUT_STRETCHED

-- NumPy drops imaginary parts with a warning.  There are none here, and results that are wrong without a word.
local function refuse_complex(dtype)
  raise("assignment: complex numbers into an array of %s would lose their imaginary parts; write np.real(x), or make a "
    .. "complex array first: a = a:astype('complex128')", dtypes.name[dtype])
end

local function learn(dtype, value)
  local layout = core.layout_of(value, "assignment")
  if dtypes.category[layouts[layout].dtype] == 3 and dtypes.category[dtype] < 3 then refuse_complex(dtype) end
  local source, weak = layouts[layout].dtype, layouts[layout].ndim == 0 and 1 or 0
  local name = "assign:" .. dtypes.name[source] .. (weak == 1 and "." or "") .. ">" .. dtypes.name[dtype]
  local kind = lgt.kind(name, function(body) body:store(dtype, 0, body:load(source, 1, weak)) end)
  assigns[dtype].from[layouts[layout].type] = kind
  return kind
end
jit.off(learn)

local function learn_fill(dtype)
  local kind = lgt.kind("fill:" .. dtypes.name[dtype], function(body) body:store(dtype, 0, body:number(0, true)) end)
  assigns[dtype].fill = kind
  return kind
end
jit.off(learn_fill)

local function check_number(dtype, x)
  local category = dtypes.category[dtype]
  if category >= 2 then return end
  if x - x ~= 0 then
    raise("assignment: %.14g into an array of %s, which has no such number; make one of floats first: "
      .. "x = x:astype('float64')", x, dtypes.name[dtype])
  elseif x ~= floor(x) then
    raise("assignment: %.14g into an array of %s would lose its fraction; use astype on the array, or math.floor",
      x, dtypes.name[dtype])
  end
  if category == 1 and not dtypes.holds(dtype, x) then
    raise("assignment: %.17g does not fit into %s", x, dtypes.name[dtype])
  end
end

-- The same of numbers that LuaJIT boxes: 300LL, 2i.  What is to be written.
local function check_boxed(dtype, value)
  local category, source = dtypes.category[dtype], dtypes.of_scalar(value)
  if source == dtypes.COMPLEX128 and category < 3 then
    if value.im ~= 0 then refuse_complex(dtype) end
    value = tonumber(value.re)
    check_number(dtype, value)
  elseif category == 1 and source then
    if not dtypes.holds(dtype, value) then
      raise("assignment: %s does not fit into %s", (tostring(value):gsub("U?LL$", "")), dtypes.name[dtype])
    end
  end
  return value
end

-- Raise if a value to be written is nothing that the elements of an array can be.  Whatever writes elsewhere than
-- `assign` asks this first: a cast would change it without a word.
function core.check_assigned(a, value)
  local dtype = core.dtype_of(a)
  if type(value) == "number" then
    check_number(dtype, value)
  elseif istype(Array, value) then
    if dtypes.category[core.dtype_of(value)] == 3 and dtypes.category[dtype] < 3 then refuse_complex(dtype) end
  elseif type(value) == "cdata" then
    check_boxed(dtype, value)
  end
end

local function raise_fit(layout, source)
  raise("assignment: an array of shape %s does not fit into shape %s", core.shape_text(lgt.shape(source)),
    core.shape_text(lgt.shape(layout)))
end

local function assign_array(id, layout, value)
  local dtype, source = layouts[layout].dtype, handles[value.id]
  local kind = assigns[dtype].from[layouts[source.layout].type] or learn(dtype, value)
  if C.lgt_layout_fills(rt, layout, source.layout) == 0 then raise_fit(layout, source.layout) end
  if source.store == handles[id].store and source.store ~= 0 then
    if source.layout == layout then return end
    value = np.copy(value)
  end
  local line = line_for(layout, 2)
  local l = slot()
  l.kind, l.nargs, l.nparams, l.line = kind, 2, 0, line
  l.arg[0], l.arg[1] = id, value.id
  commit()
end

local function assign_number(id, layout, value)
  local dtype = layouts[layout].dtype
  check_number(dtype, value)
  local kind = assigns[dtype].fill or learn_fill(dtype)
  local line = line_for(layout, 2)
  local l = slot()
  l.kind, l.nargs, l.nparams, l.line = kind, 1, 1, line
  l.arg[0] = id
  l.param[0].f = value
  commit()
end

-- Write a number or an array into the elements that `target` (an id and its layout) shows.
local function assign(id, layout, value)
  if band(layouts[layout].flags, STRETCHED) ~= 0 then
    raise("assignment: several positions of this view are one element, as broadcasting makes them: " ..
      "assign to a copy")
  end
  if type(value) == "number" then
    assign_number(id, layout, value)
  elseif istype(Array, value) then
    assign_array(id, layout, value)
  elseif value == nil then
    raise("assignment: nil was given")
  else
    if type(value) == "cdata" then value = check_boxed(layouts[layout].dtype, value) end
    assign(id, layout, np.array(value))
  end
end
core.assign = assign

-- What complex numbers become with another part.
local PARTS = {
  real = ufunc.new_rules("z.real", function(z, x) return V.complex(x, z:imag()) end, 2, 1),
  imag = ufunc.new_rules("z.imag", function(z, x) return V.complex(z:real(), x) end, 2, 1),
}
PARTS.real.inplace, PARTS.imag.inplace = true, true

-- What a part of a complex array shall become: a number, or an array of real numbers that fits.
local function part_value(a, value, name)
  if type(value) == "number" then return value end
  if value == nil then raise("assignment: nil was given") end
  value = np.asarray(value)
  if is_complex(value, "assignment") then
    raise("assignment: z.%s is real, the value is complex: write np.real(x) or np.imag(x)", name)
  end
  local layout, source = core.layout_of(a), core.layout_of(value)
  if C.lgt_layout_fills(rt, layout, source) == 0 then raise_fit(layout, source) end
  return value
end

function core.setters.real(a, value)
  if is_complex(a, "assignment") then
    inplace(PARTS.real, a, part_value(a, value, "real"))
  else
    a["..."] = value
  end
end
function core.setters.imag(a, value)
  if not is_complex(a, "assignment") then
    raise("assignment: arrays of %s have no imaginary part; a = a:astype(\"complex128\") has one",
      dtypes.name[core.dtype_of(a)])
  end
  inplace(PARTS.imag, a, part_value(a, value, "imag"))
end

-- Set every element.
---@param a lgt_array
---@param value number|lgt_array
function methods.fill(a, value)
  local layout = core.layout_of(a, "fill")
  core.check_writable(a, "fill")
  assign(a.id, layout, value)
  return a
end

return true
