-- lgt/dtype.lua - the element types as Lua sees them: names, numbers, promotion.
--
-- Inside the libraries a dtype is its number (lgt_dtype of lgt.h); users write and read names.
-- Everything here is plain Lua over constants, so it can be tested without a runtime.
--
-- Promotion is NumPy 1.24's, with one change: what decides between an array and a scalar is never
-- the scalar's value but its *weakness*.
--     0  an array of at least one dimension
--     1  a 0-d array
--     2  a Lua number
-- The stronger operand (smaller number) keeps its dtype unless the weaker one is of a higher
-- category (bool < integer < float < complex).

local bit = require "bit"
local ffi = require "ffi"

local M = {}

-- In the order of lgt_dtype.
local specification = {
  -- name, category, signed, bytes, C type of an element
  { "bool", 0, false, 1, "bool" },
  { "int8", 1, true, 1, "int8_t" },
  { "int16", 1, true, 2, "int16_t" },
  { "int32", 1, true, 4, "int32_t" },
  { "int64", 1, true, 8, "int64_t" },
  { "uint8", 1, false, 1, "uint8_t" },
  { "uint16", 1, false, 2, "uint16_t" },
  { "uint32", 1, false, 4, "uint32_t" },
  { "uint64", 1, false, 8, "uint64_t" },
  { "float16", 2, true, 2, "uint16_t" },
  { "float32", 2, true, 4, "float" },
  { "float64", 2, true, 8, "double" },
  { "complex64", 3, true, 8, "complex float" },
  { "complex128", 3, true, 16, "complex double" },
  { "range", 4, true, 16, "struct { int64_t lo, hi; }" },
}

M.name, M.number, M.category, M.signed, M.size, M.ctype, M.pointer = {}, {}, {}, {}, {}, {}, {}
for i, s in ipairs(specification) do
  local d = i - 1
  M.name[d], M.number[s[1]], M.category[d], M.signed[d], M.size[d] = s[1], d, s[2], s[3], s[4]
  M.ctype[d] = ffi.typeof(s[5])
  M.pointer[d] = ffi.typeof("$ *", M.ctype[d])
  M[s[1]:upper()] = d
end
-- The other names that NumPy gives them.
local synonyms = { bool_ = "bool", int = "int64", int_ = "int64", uint = "uint64", float = "float64",
                   double = "float64", single = "float32", half = "float16", complex = "complex128", byte = "int8",
                   ubyte = "uint8", short = "int16", ushort = "uint16", intc = "int32", uintc = "uint32",
                   intp = "int64", uintp = "uint64", longlong = "int64", ulonglong = "uint64", float_ = "float64",
                   complex_ = "complex128", csingle = "complex64", cdouble = "complex128", ["?"] = "bool" }
for _, letter in ipairs { "b1 bool", "i int", "u uint", "f float", "c complex" } do -- "f8" is "float64"
  local short, long = letter:match("(%S+) (%S+)")
  for bytes = 1, 16 do
    local meaning = long == "bool" and long or long .. 8 * bytes
    if M.number[meaning] then synonyms[long == "bool" and short or short .. bytes] = meaning end
  end
end
for name, meaning in pairs(synonyms) do M.number[name] = M.number[meaning] end

local number, category, signed, size = M.number, M.category, M.signed, M.size
local BOOL, INT64, UINT64 = M.BOOL, M.INT64, M.UINT64
local FLOAT16, FLOAT32, FLOAT64, COMPLEX64, COMPLEX128 = M.FLOAT16, M.FLOAT32, M.FLOAT64, M.COMPLEX64, M.COMPLEX128
M.CATEGORY = { BOOL = 0, INTEGER = 1, FLOAT = 2, COMPLEX = 3 }

local signed_of_size = { [1] = M.INT8, [2] = M.INT16, [4] = M.INT32, [8] = M.INT64 }

-- The float that holds every value of a bool or an integer type; floats and complex stay.
local function float_of(d)
  if category[d] >= 2 then return d end
  return size[d] == 1 and FLOAT16 or size[d] == 2 and FLOAT32 or FLOAT64
end
M.float_of = float_of

-- The real type of a complex type's parts; others stay.
local function part_of(d)
  return d == COMPLEX64 and FLOAT32 or d == COMPLEX128 and FLOAT64 or d
end
M.part_of = part_of

-- The complex type whose parts hold type d.
local function complex_of(d)
  if category[d] == 3 then return d end
  return size[float_of(d)] <= 4 and COMPLEX64 or COMPLEX128
end
M.complex_of = complex_of

-- The dtype of sums and products: integers and booleans are at least 64 bits wide.
function M.of_sum(d)
  if category[d] >= 2 then return d end
  return (d == BOOL or signed[d]) and INT64 or UINT64
end

local function promote_pair(a, b)
  if category[a] > category[b] then a, b = b, a end -- b has the higher category
  if category[a] == 0 then return b end
  if category[b] == 3 then
    a, b = part_of(float_of(a)), part_of(b)
    return complex_of(size[a] > size[b] and a or b)
  end
  if category[b] == 2 then
    a = float_of(a)
    return size[a] > size[b] and a or b
  end
  if signed[a] == signed[b] then return size[a] > size[b] and a or b end
  local s, u = a, b
  if signed[u] then s, u = b, a end
  if size[s] > size[u] then return s end
  return signed_of_size[size[u] * 2] or FLOAT64
end

local table_of_pairs = {}
for a = 0, COMPLEX128 do
  for b = 0, COMPLEX128 do table_of_pairs[a * 16 + b] = promote_pair(a, b) end
end

-- The common dtype of two operands with their weaknesses; weaknesses may be left out.
---@param a integer dtype
---@param b integer dtype
---@param weak_a integer? 0, 1 or 2
---@param weak_b integer?
---@return integer dtype, integer weakness
function M.promote(a, b, weak_a, weak_b)
  weak_a, weak_b = weak_a or 0, weak_b or 0
  if weak_a ~= weak_b then
    if weak_a < weak_b then a, b, weak_a, weak_b = b, a, weak_b, weak_a end -- b is the stronger
    if category[a] <= category[b] then return b, weak_b end
    if category[a] == 3 and category[b] == 2 then return complex_of(b), weak_b end
    if category[a] == 2 and weak_a == 2 then return FLOAT64, weak_b end -- an integer array and a fraction
    return table_of_pairs[a * 16 + b], weak_b
  end
  return table_of_pairs[a * 16 + b], weak_a
end

-- May a value of type `from` be written into an array of type `to` without saying astype?
-- (NumPy's "same_kind": never from complex to real, from float to integer, or from integer to bool.)
function M.can_cast(from, to)
  if category[from] > category[to] then return false end
  if category[from] == 1 and category[to] == 1 and signed[from] and not signed[to] then return false end
  return true
end

-- The least and the greatest Lua number that an integer type holds.  Of 64 bits the greatest is not the type's greatest
-- value, which as a Lua number would be rounded to one that the type does not hold.
function M.range_of(d)
  if d == BOOL then return 0, 1 end
  local bits = size[d] * 8
  local past = 2 ^ (signed[d] and bits - 1 or bits)
  return signed[d] and -past or 0, past - math.max(1, past / 2 ^ 53)
end

-- The number of a dtype given by name ("float64", "f8", "<f8"); nil and a message for anything else.
function M.parse(text)
  local d = type(text) == "string" and (number[text] or number[text:match("^[<=|](%a%d+)$")])
  if d and d <= COMPLEX128 then return d end
  local message = "unknown dtype %s: expected \"float64\", \"float32\", \"int64\", \"bool\", ... as a string"
  return nil, message:format(type(text) == "string" and ("%q"):format(text) or
    type(text) == "number" and tostring(text) or "of a " .. type(text))
end

-- ---- elements on the host ------------------------------------------------------------------

local half_bits = ffi.new("union { float f; uint32_t u; }")

local function half_to_number(h)
  local sign = h >= 0x8000 and -1 or 1
  local exponent, mantissa = bit.band(bit.rshift(h, 10), 31), bit.band(h, 1023)
  if exponent == 31 then return mantissa == 0 and sign / 0 or 0 / 0 end
  if exponent == 0 then return sign * mantissa * 2 ^ -24 end
  return sign * (1024 + mantissa) * 2 ^ (exponent - 25)
end

-- Rounds half to even from the nearest float32, as the core does.
local function number_to_half(x)
  half_bits.f = x
  local u = half_bits.u
  local sign = bit.band(bit.rshift(u, 16), 0x8000)
  local value = math.abs(tonumber(half_bits.f))
  if value ~= value then return sign + 0x7e00 end
  if value >= 65520 then return sign + 0x7c00 end
  local exponent = 0
  if value > 0 then local _, e = math.frexp(value); exponent = e - 1 end
  local step = 2 ^ (math.max(exponent, -14) - 10)
  local scaled = value / step
  local down = math.floor(scaled)
  local rest = scaled - down
  if rest > 0.5 or (rest == 0.5 and down % 2 == 1) then down = down + 1 end
  value = down * step
  if value == 0 then return sign end
  if value >= 65536 then return sign + 0x7c00 end
  if value < 2 ^ -14 then return sign + value * 2 ^ 24 end
  local m, e = math.frexp(value)
  return sign + (e + 14) * 1024 + (m * 2 - 1) * 1024
end
M.half_to_number, M.number_to_half = half_to_number, number_to_half

-- Lua's idea of one element: booleans, numbers where exact, else a boxed integer or complex.
function M.to_lua(d, value)
  if d == FLOAT16 then return half_to_number(value) end
  if d == INT64 or d == UINT64 then
    local x = tonumber(value)
    if x >= -2 ^ 53 and x <= 2 ^ 53 and value == x then return x end -- 2^53 + 1 becomes 2^53
    return value
  end
  return value
end

-- ---- what a Lua value would be as an element -----------------------------------------------

local int64_t, uint64_t = ffi.typeof("int64_t"), ffi.typeof("uint64_t")
local complex_t, complex_float_t = ffi.typeof("complex double"), ffi.typeof("complex float")

-- The dtype of a Lua scalar: "number" stands for itself (its category depends on its value).
function M.of_scalar(value)
  local kind = type(value)
  if kind == "number" then
    return (value == math.floor(value) and value - value == 0) and INT64 or FLOAT64
  elseif kind == "boolean" then
    return BOOL
  elseif kind == "cdata" then
    if ffi.istype(int64_t, value) then return INT64 end
    if ffi.istype(uint64_t, value) then return UINT64 end
    if ffi.istype(complex_t, value) or ffi.istype(complex_float_t, value) then return COMPLEX128 end
  end
  return nil
end

-- Is an integer, a Lua number or boxed, a value of integer type d?
function M.holds(d, x)
  if ffi.istype(uint64_t, x) then
    if d == UINT64 then return true elseif d == INT64 then return x <= 0x7fffffffffffffffULL end
  elseif ffi.istype(int64_t, x) then
    if d == INT64 then return true elseif d == UINT64 then return x >= 0 end
  end
  local low, high = M.range_of(d)
  x = tonumber(x)
  return x >= low and x <= high
end

-- Complex numbers that reach the script (items, `2i`) calculate.  otherwise(event, x, y) is asked where the other
-- operand is no number.
function M.install_complex(otherwise)
  local new = complex_t
  local function is_complex(x) return ffi.istype(complex_t, x) or ffi.istype(complex_float_t, x) end
  local function are_numbers(x, y)
    return type(x) ~= "boolean" and type(y) ~= "boolean" and M.of_scalar(x) and M.of_scalar(y)
  end
  local function parts(z)
    if is_complex(z) then return tonumber(z.re), tonumber(z.im) end
    return tonumber(z), 0
  end
  local function operator(event, f)
    return function(x, y)
      if not are_numbers(x, y) then return otherwise(event, x, y) end
      local a, b = parts(x)
      local c, d = parts(y)
      return f(a, b, c, d)
    end
  end
  local meta = {
    __add = operator("__add", function(a, b, c, d) return new(a + c, b + d) end),
    __sub = operator("__sub", function(a, b, c, d) return new(a - c, b - d) end),
    __mul = operator("__mul", function(a, b, c, d) return new(a * c - b * d, a * d + b * c) end),
    __div = operator("__div", function(a, b, c, d)
      if math.abs(c) >= math.abs(d) then
        local r = d / c
        local s = c + d * r
        return new((a + b * r) / s, (b - a * r) / s)
      end
      local r = c / d
      local s = c * r + d
      return new((a * r + b) / s, (b * r - a) / s)
    end),
    __pow = function(x, y) return otherwise("__pow", x, y) end,
    __eq = function(x, y)
      if not are_numbers(x, y) then return otherwise("__eq", x, y) end
      local a, b = parts(x)
      local c, d = parts(y)
      return a == c and b == d
    end,
    __unm = function(x) return new(-x.re, -x.im) end,
    __tostring = function(x) return ("%.14g%s%.14gi"):format(x.re, x.im < 0 and "-" or "+", math.abs(x.im)) end,
  }
  pcall(ffi.metatype, complex_t, meta) -- a host program may have given it one: then that one stays
end

return M
