-- Element types: promotion against NumPy's table, float16, scalars.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local dtypes = require "lgt.dtype"

-- NumPy's promotion of each pair, in the order of lgt_dtype (b: bool, i1 ... u8, f2 ... f8, c8 c16).
local short = { "b", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16" }
local promotions = [[
b i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16
i1 i1 i2 i4 i8 i2 i4 i8 f8 f2 f4 f8 c8 c16
i2 i2 i2 i4 i8 i2 i4 i8 f8 f4 f4 f8 c8 c16
i4 i4 i4 i4 i8 i4 i4 i8 f8 f8 f8 f8 c16 c16
i8 i8 i8 i8 i8 i8 i8 i8 f8 f8 f8 f8 c16 c16
u1 i2 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16
u2 i4 i4 i4 i8 u2 u2 u4 u8 f4 f4 f8 c8 c16
u4 i8 i8 i8 i8 u4 u4 u4 u8 f8 f8 f8 c16 c16
u8 f8 f8 f8 f8 u8 u8 u8 u8 f8 f8 f8 c16 c16
f2 f2 f4 f8 f8 f2 f4 f8 f8 f2 f4 f8 c8 c16
f4 f4 f4 f8 f8 f4 f4 f8 f8 f4 f4 f8 c8 c16
f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 f8 c16 c16
c8 c8 c8 c16 c16 c8 c8 c16 c16 c8 c8 c16 c8 c16
c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16 c16]]

check.case("promotion of arrays", function()
  local a = 0
  for line in promotions:gmatch("[^\n]+") do
    local b = 0
    for word in line:gmatch("%S+") do
      check.equal(short[dtypes.promote(a, b) + 1], word)
      b = b + 1
    end
    check.equal(b, 14)
    a = a + 1
  end
  check.equal(a, 14)
end)

check.case("sums", function()
  local words = {}
  for d = 0, 13 do words[#words + 1] = short[dtypes.of_sum(d) + 1] end
  check.equal(table.concat(words, " "), "i8 i8 i8 i8 i8 u8 u8 u8 u8 f2 f4 f8 c8 c16")
end)

check.case("weak operands", function()
  local n = dtypes.number
  local function of(a, b, wa, wb) return dtypes.name[(dtypes.promote(n[a], n[b], wa, wb))] end
  check.equal(of("float32", "float64", 0, 2), "float32")
  check.equal(of("float64", "float32", 2, 0), "float32")
  check.equal(of("int8", "int64", 0, 2), "int8")
  check.equal(of("int8", "float64", 0, 2), "float64")
  check.equal(of("bool", "int64", 0, 2), "int64")
  check.equal(of("float32", "float64", 0, 1), "float32")
  check.equal(of("float32", "complex128", 0, 1), "complex64")
  check.equal(of("float32", "float64", 1, 1), "float64")
  check.equal(of("float32", "float64", 1, 2), "float32")
  check.equal((select(2, dtypes.promote(n.float32, n.float64, 1, 2))), 1)
end)

check.case("float16", function()
  for h = 0, 65535 do
    local x = dtypes.half_to_number(h)
    if x == x then check.equal(dtypes.number_to_half(x), h) end
  end
  check.equal(dtypes.half_to_number(0x3c00), 1)
  check.equal(dtypes.half_to_number(0xc000), -2)
  check.equal(dtypes.half_to_number(0x7bff), 65504)
  check.equal(dtypes.half_to_number(1), 2 ^ -24)
  check.equal(dtypes.number_to_half(65519), 0x7bff)
  check.equal(dtypes.number_to_half(65520), 0x7c00)
  check.equal(dtypes.number_to_half(1 + 2 ^ -11), 0x3c00) -- a tie goes to the even one
  check.equal(dtypes.number_to_half(1 + 3 * 2 ^ -11), 0x3c02)
  check.equal(dtypes.number_to_half(2 ^ -25), 0)
  check.equal(dtypes.number_to_half(2 ^ -25 * 1.01), 1)
end)

check.case("casts that need no word", function()
  local n = dtypes.number
  check.that(dtypes.can_cast(n.float64, n.float32))
  check.that(dtypes.can_cast(n.int64, n.float32))
  check.that(dtypes.can_cast(n.int64, n.int8))
  check.that(not dtypes.can_cast(n.float32, n.int64))
  check.that(not dtypes.can_cast(n.complex64, n.float64))
  check.that(not dtypes.can_cast(n.int8, n.uint8))
  check.that(not dtypes.can_cast(n.uint8, n.bool))
end)

check.case("Lua scalars", function()
  check.equal(dtypes.of_scalar(3), dtypes.INT64)
  check.equal(dtypes.of_scalar(3.5), dtypes.FLOAT64)
  check.equal(dtypes.of_scalar(math.huge), dtypes.FLOAT64)
  check.equal(dtypes.of_scalar(true), dtypes.BOOL)
  check.equal(dtypes.of_scalar(3LL), dtypes.INT64)
  check.equal(dtypes.of_scalar(3ULL), dtypes.UINT64)
  check.equal(dtypes.of_scalar(2i), dtypes.COMPLEX128)
  check.equal(dtypes.of_scalar("3"), nil)
end)

check.done()
