-- lgt/body.lua - generators in Lua: run a function once on symbolic values, get a scalar program.
--
-- A generator is an ordinary Lua function over *values*.  A value stands for one element (of an
-- argument, a parameter, a constant, or of what was computed from them); arithmetic on values appends
-- instructions to a body (lgt.h).  Here, and only here, is stated which dtype an operation computes in
-- and gives back; ufuncs of the array library, np.fuse and lgt.task all go through it.
--
-- A value is {body, id, dtype, weak}: its instruction, and how much its dtype counts in promotion
-- (dtype.lua).  Constants and by-value numbers have no instruction until an operation asks for them in
-- some dtype: x * 2 multiplies in x's own dtype.  By-value numbers travel as float64.
--
-- The comparison operators of Lua give Lua booleans, so on values it is x:lt(y); `if` on a value
-- cannot work, it is select(condition, a, b).

local ffi = require "ffi"
local dtypes = require "lgt.dtype"

local category, promote = dtypes.category, dtypes.promote
local BOOL, INT8, INT64, UINT64, FLOAT64 = dtypes.BOOL, dtypes.INT8, dtypes.INT64, dtypes.UINT64, dtypes.FLOAT64
local INTEGER, FLOAT, COMPLEX = 1, 2, 3
local NAME = dtypes.name

local C, fail, raise -- of the runtime; see M.bind

local M = {}

local Value = {} -- methods of values
local meta = { __index = Value }
M.Value = Value

local Body = {}
Body.__index = Body

local function is_value(x) return getmetatable(x) == meta end
M.is_value = is_value

local function value(body, id, dtype, weak)
  return setmetatable({ body = body, id = id, dtype = dtype, weak = weak or 0 }, meta)
end

-- ---- appending ------------------------------------------------------------------------------

local function append(body, name, dtype, a, b, c)
  local id = C.lgt_body_op(body.body, name, dtype, a, b or 0, c or 0)
  if id == 0 then fail() end
  return id
end

local scratch -- an lgt_scalar

-- A Lua scalar as an element of the given type.
local function to_scalar(dtype, x)
  local kind = category[dtype]
  ffi.fill(scratch, ffi.sizeof(scratch))
  if kind == COMPLEX then
    if type(x) == "cdata" and dtypes.of_scalar(x) == dtypes.COMPLEX128 then
      scratch.c[0], scratch.c[1] = x.re, x.im
    else
      scratch.c[0] = tonumber(x)
    end
  elseif kind == FLOAT then
    scratch.f = type(x) == "boolean" and (x and 1 or 0) or tonumber(x)
  elseif kind == 0 then
    scratch.i = (x == true or (x ~= false and x ~= 0)) and 1 or 0
  elseif dtype == UINT64 and not (type(x) == "number" and x < 0) then
    scratch.u = type(x) == "boolean" and (x and 1 or 0) or x
  else
    scratch.i = type(x) == "boolean" and (x and 1 or 0) or x
  end
  return scratch
end
M.to_scalar = to_scalar

local at -- forward: the instruction of a value in a wanted dtype

local function constant(body, dtype, x)
  local key = tostring(x) .. NAME[dtype]
  local id = body.constants[key]
  if not id then
    id = C.lgt_body_const(body.body, dtype, to_scalar(dtype, x))
    if id == 0 then fail() end
    body.constants[key] = id
  end
  return id
end

local function parameter(body, dtype, index)
  local key = index * 32 + dtype
  local id = body.parameters[key]
  if not id then
    if category[dtype] >= FLOAT and category[dtype] < COMPLEX then
      id = C.lgt_body_param(body.body, dtype, index)
      if id == 0 then fail() end
    else
      id = append(body, "cast", dtype, parameter(body, FLOAT64, index))
    end
    body.parameters[key] = id
  end
  return id
end

local function cast(body, id, from, to)
  if from == to then return id end
  if category[from] == COMPLEX and category[to] == 0 then
    local zero = constant(body, from, 0)
    return append(body, "ne", BOOL, id, zero)
  end
  return append(body, "cast", to, id)
end

function at(x, dtype)
  if x.constant ~= nil then return constant(x.body, dtype, x.constant) end
  if x.parameter then return parameter(x.body, dtype, x.parameter) end
  return cast(x.body, x.id, x.dtype, dtype)
end

local function lift(body, x)
  if is_value(x) then
    if x.body ~= body then raise("a value of another generator is used here") end
    return x
  end
  local dtype = dtypes.of_scalar(x)
  if not dtype then
    raise("a generator calculates with values and numbers, not with %s", type(x) == "cdata" and "an array" or type(x))
  end
  return setmetatable({ body = body, constant = x, dtype = dtype, weak = 2 }, meta)
end

local function body_of(...)
  for i = 1, select("#", ...) do
    local x = select(i, ...)
    if is_value(x) then return x.body end
  end
  raise("at least one operand must be a value")
end

-- ---- what operations compute in ----------------------------------------------------------------
--
-- A rule takes the common dtype of the operands and returns the dtype to compute in; on_bool names the
-- operation that takes its place for booleans (a string), or the dtype that they are cast to, or is false if there
-- is none.

local function same(dtype) return dtype end
local function fractional(dtype) return category[dtype] < FLOAT and FLOAT64 or dtype end
local function floating(dtype) return dtypes.float_of(dtype) end

local function refuse(name, dtype)
  raise("%s is not defined for %s; cast with astype first", name, NAME[dtype])
end

local function binary(name, rule, on_bool)
  return function(x, y)
    local body = body_of(x, y)
    x, y = lift(body, x), lift(body, y)
    local a, b = x.dtype, y.dtype
    if rule == floating and category[a] < FLOAT and category[b] < FLOAT then
      a, b = floating(a), floating(b) -- int8 and uint8 both fit into float16
    end
    local dtype, weak = promote(a, b, x.weak, y.weak)
    local op = name
    if dtype ~= BOOL or on_bool == nil then
      dtype = rule(dtype)
    elseif type(on_bool) == "string" then
      op = on_bool
    else
      dtype = on_bool or refuse(name, dtype)
    end
    return value(body, append(body, op, dtype, at(x, dtype), at(y, dtype)), dtype, weak)
  end
end

local function unary(name, rule, on_bool)
  return function(x)
    if x.dtype == BOOL and on_bool == false then refuse(name, BOOL) end
    local dtype = rule(x.dtype)
    return value(x.body, append(x.body, name, dtype, at(x, dtype)), dtype, x.weak)
  end
end

local function comparison(name)
  return function(x, y)
    local body = body_of(x, y)
    x, y = lift(body, x), lift(body, y)
    local dtype, weak = promote(x.dtype, y.dtype, x.weak, y.weak)
    return value(body, append(body, name, BOOL, at(x, dtype), at(y, dtype)), BOOL, weak)
  end
end

local function test(name, of_integers)
  return function(x)
    if category[x.dtype] < FLOAT then
      return value(x.body, constant(x.body, BOOL, of_integers), BOOL, x.weak)
    end
    return value(x.body, append(x.body, name, BOOL, at(x, x.dtype)), BOOL, x.weak)
  end
end

local function logical(name)
  return function(x, y)
    local body = body_of(x, y)
    x, y = lift(body, x), lift(body, y)
    return value(body, append(body, name, BOOL, at(x, BOOL), at(y, BOOL)), BOOL, math.min(x.weak, y.weak))
  end
end

Value.add, Value.sub = binary("add", same, "or"), binary("sub", same, false)
Value.mul, Value.div = binary("mul", same, "and"), binary("div", fractional)
Value.floordiv, Value.mod = binary("floordiv", same, INT8), binary("mod", same, INT8)
Value.fmod, Value.pow = binary("fmod", same, INT8), binary("pow", same, INT8)
Value.max, Value.min = binary("max", same), binary("min", same)
Value.fmax, Value.fmin = binary("fmax", same), binary("fmin", same)
Value.atan2, Value.hypot = binary("atan2", floating), binary("hypot", floating)
Value.copysign = binary("copysign", floating)
Value.neg, Value.sign = unary("neg", same, false), unary("sign", same, false)
Value.bitand, Value.bitor, Value.bitxor = binary("and", same), binary("or", same), binary("xor", same)
Value.bitnot = unary("not", same)
Value.shl, Value.shr = binary("shl", same, INT8), binary("shr", same, INT8)
for _, name in ipairs { "eq", "ne", "lt", "le", "gt", "ge" } do Value[name] = comparison(name) end
Value.isnan, Value.isinf, Value.isfinite = test("isnan", false), test("isinf", false), test("isfinite", true)
for _, name in ipairs { "floor", "ceil", "trunc", "rint", "sqrt", "cbrt", "exp", "exp2", "exp10", "expm1", "log",
                        "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
                        "asinh", "acosh", "atanh", "erf", "erfc", "lgamma", "tgamma" } do
  Value[name] = unary(name, floating)
end
Value.logical_and, Value.logical_or, Value.logical_xor = logical("and"), logical("or"), logical("xor")

function Value.logical_not(x)
  return value(x.body, append(x.body, "not", BOOL, at(x, BOOL)), BOOL, x.weak)
end

-- Floats and complex numbers as they are, others as the float that holds them.
function Value.floating(x)
  local dtype = floating(x.dtype)
  return dtype == x.dtype and x or value(x.body, at(x, dtype), dtype, x.weak)
end

function Value.abs(x)
  if x.dtype == BOOL or category[x.dtype] == INTEGER and not dtypes.signed[x.dtype] then return x end
  local dtype = dtypes.part_of(x.dtype)
  return value(x.body, append(x.body, "abs", dtype, at(x, x.dtype)), dtype, x.weak)
end

function Value.signbit(x)
  if category[x.dtype] < FLOAT then return x:lt(0) end
  return value(x.body, append(x.body, "signbit", BOOL, at(x, x.dtype)), BOOL, x.weak)
end

-- The real and imaginary parts; the complex conjugate; a complex value from two parts.
function Value.real(x)
  if category[x.dtype] < COMPLEX then return x end
  local dtype = dtypes.part_of(x.dtype)
  return value(x.body, append(x.body, "real", dtype, at(x, x.dtype)), dtype, x.weak)
end

function Value.imag(x)
  if category[x.dtype] < COMPLEX then return x * 0 end
  local dtype = dtypes.part_of(x.dtype)
  return value(x.body, append(x.body, "imag", dtype, at(x, x.dtype)), dtype, x.weak)
end

function Value.complex(re, im)
  local body = body_of(re, im)
  re, im = lift(body, re), lift(body, im)
  local part, weak = promote(re.dtype, im.dtype, re.weak, im.weak)
  local dtype = dtypes.complex_of(part)
  part = dtypes.part_of(dtype)
  return value(body, append(body, "complex", dtype, at(re, part), at(im, part)), dtype, weak)
end

function Value.conj(x)
  if category[x.dtype] < COMPLEX then return x end
  return x:real():complex(-x:imag())
end

-- `condition` ? a : b, where all three are computed.
function Value.select(condition, a, b)
  local body = body_of(condition, a, b)
  condition, a, b = lift(body, condition), lift(body, a), lift(body, b)
  local dtype, weak = promote(a.dtype, b.dtype, a.weak, b.weak)
  return value(body, append(body, "select", dtype, at(condition, BOOL), at(a, dtype), at(b, dtype)), dtype, weak)
end

-- The value in another dtype, by name or number; its dtype then counts fully.
function Value.cast(x, dtype)
  if type(dtype) == "string" then
    local number, message = dtypes.parse(dtype)
    if not number then raise("%s", message) end
    dtype = number
  end
  return value(x.body, at(x, dtype), dtype, 0)
end

-- Counter-based random bits: a uint64 that depends on (counter, key) alone.
function Value.philox(counter, key)
  local body = body_of(counter, key)
  counter, key = lift(body, counter), lift(body, key)
  return value(body, append(body, "philox", UINT64, at(counter, UINT64), at(key, UINT64)), UINT64, 0)
end

meta.__add, meta.__sub, meta.__mul, meta.__div = Value.add, Value.sub, Value.mul, Value.div
meta.__mod, meta.__unm = Value.mod, Value.neg
meta.__pow = function(x, y)
  if y == 2 then return x * x end
  if y == 0.5 then return x:sqrt() end
  return Value.pow(x, y)
end
meta.__lt = function() raise("< on values gives no value: write a:lt(b), and select(condition, a, b) for if") end
meta.__le = function() raise("<= on values gives no value: write a:le(b), and select(condition, a, b) for if") end
meta.__tostring = function(x) return ("value of dtype %s"):format(NAME[x.dtype]) end

-- ---- bodies ------------------------------------------------------------------------------------

-- Run build(body) on a new body; it is freed if that fails.
local function record(build)
  local made = ffi.new("lgt_body *[1]")
  if C.lgt_body_new(made) < 0 then fail() end
  local body = made[0]
  local ok, result = pcall(build, setmetatable({ body = body, constants = {}, parameters = {} }, Body))
  if not ok then
    C.lgt_body_free(body)
    error(result, 0)
  end
  return body, result
end

-- Register a task kind under `name`: `build` fills an empty body by the methods below.
---@return integer kind
function M.kind(rt, name, build)
  local kind = C.lgt_kind_generator(rt, name, (record(build))) -- takes over the body
  if kind == 0 then fail() end
  return kind
end

-- What `build` returns for a body that is thrown away.
function M.try(build)
  local body, result = record(build)
  C.lgt_body_free(body)
  return result
end

-- The element of argument `arg` (from 0); weak is 1 for an array of no dimensions.
function Body:load(dtype, arg, weak)
  local id = C.lgt_body_load(self.body, dtype, arg)
  if id == 0 then fail() end
  return value(self, id, dtype, weak or 0)
end

-- By-value parameter `index` (from 0).  `fraction` says whether it counts as float64 or as int64.
function Body:number(index, fraction)
  return setmetatable({ body = self, parameter = index, dtype = fraction and FLOAT64 or INT64, weak = 2 }, meta)
end

-- A by-value parameter of a stated dtype, read from the launch's scalar as it is.
function Body:param(dtype, index)
  local id = C.lgt_body_param(self.body, dtype, index)
  if id == 0 then fail() end
  return value(self, id, dtype, 0)
end

-- A Lua number as a value.
function Body:constant(x) return lift(self, x) end

-- The coordinate along dimension `dim` (from 1) of the iteration space, counted from 0, an int64;
-- without `dim` the position in C order.
function Body:coordinate(dim)
  if dim ~= nil and not (type(dim) == "number" and dim >= 1 and dim <= 6) then
    raise("a coordinate along dimension %s: 1 to 6 was expected, or none for the position in C order", tostring(dim))
  end
  local id = C.lgt_body_index(self.body, dim and dim - 1 or -1)
  if id == 0 then fail() end
  return value(self, id, INT64, 0)
end

-- The same as Lua counts: from 1.
function Body:position(dim) return self:coordinate(dim) + 1 end

function Body:store(dtype, arg, x)
  if C.lgt_body_store(self.body, arg, at(lift(self, x), dtype)) < 0 then fail() end
end

-- Reduce into argument `arg` over the dimensions it lacks.
function Body:reduce(dtype, arg, operator, x, fresh)
  if C.lgt_body_reduce(self.body, arg, operator, at(lift(self, x), dtype), fresh and 1 or 0) < 0 then fail() end
end

-- argmin or argmax: arguments `arg` and `arg + 1` get the value and the position.
function Body:reduce_arg(arg, operator, x, position)
  if C.lgt_body_reduce_arg(self.body, arg, operator, at(x, x.dtype), at(position, INT64)) < 0 then fail() end
end

-- The library, and what to do about an error: fail() raises lgt_message(), raise(...) its own text.
function M.bind(library, on_failure, on_mistake)
  C, fail, raise = library, on_failure, on_mistake
  scratch = ffi.new("lgt_scalar")
end

return M
