-- Numbers and arrays as text; what is wanted was printed by NumPy 1.24.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"

local function prints(a, wanted) check.equal(tostring(a), (wanted:gsub("^\n", ""))) end

check.case("vectors", function()
  prints(np.array { 1, 2.5, -3 }, "[ 1.   2.5 -3. ]")
  prints(np.array { 1 / 3, 2 / 3 }, "[0.33333333 0.66666667]")
  prints(np.array { 1e-5, 1 }, "[1.e-05 1.e+00]")
  prints(np.array { 123456789, 0.5 }, "[1.23456789e+08 5.00000000e-01]")
  prints(np.array { 1, 0 / 0, math.huge, -math.huge }, "[  1.  nan  inf -inf]")
  prints(np.arange(5), "[0 1 2 3 4]")
  prints(np.array { true, false }, "[ true false]")
  prints(np.array({ 0.1, 0.2 }, { dtype = "float32" }), "[0.1 0.2]")
  prints(np.array({ 1 / 3 }, { dtype = "float32" }), "[0.33333334]")
  prints(np.array({ 0.1 }, { dtype = "float16" }), "[0.1]")
  prints(np.zeros(0), "[]")
  prints(np.array { 1e100, 1 }, "[1.e+100 1.e+000]")
end)

check.case("matrices", function()
  prints(np.arange(6):reshape(2, 3), "\n[[0 1 2]\n [3 4 5]]")
  prints(np.arange(8):reshape(2, 2, 2), "\n[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]")
end)

check.case("long lines break", function()
  prints(np.arange(30),
    "\n[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n 24 25 26 27 28 29]")
end)

check.case("elision", function()
  prints(np.arange(2000), "[   0    1    2 ... 1997 1998 1999]")
  prints(np.arange(1e6):reshape(1000, 1000), [=[

[[     0      1      2 ...    997    998    999]
 [  1000   1001   1002 ...   1997   1998   1999]
 [  2000   2001   2002 ...   2997   2998   2999]
 ...
 [997000 997001 997002 ... 997997 997998 997999]
 [998000 998001 998002 ... 998997 998998 998999]
 [999000 999001 999002 ... 999997 999998 999999]]]=])
end)

check.case("single numbers", function()
  prints(np.array(1.5), "1.5")
  prints(np.array(2), "2.0")
  prints(np.full({}, 3, { dtype = "int64" }), "3")
  check.equal("norm " .. np.array(0.5), "norm 0.5")
  check.equal(np.array(0.5) .. "!", "0.5!")
  prints(np.array(1e20), "1e+20")
  prints(np.array(0.1) + np.array(0.2), "0.30000000000000004")
end)

check.case("integers have all their digits", function()
  local most = 2 ^ 53
  for _, dtype in ipairs { "int64", "uint64" } do
    prints(np.array({ 1, 355687428096000 }, dtype), "[              1 355687428096000]")
    prints(np.array({ most - 1, most }, dtype), "[9007199254740991 9007199254740992]")
    prints(np.array({ 1e14 }, dtype)[1], "100000000000000")
    check.equal("of " .. np.array(most - 1, dtype), "of 9007199254740991")
    check.equal(np.array_str(np.full({}, 1e15, dtype)), "1000000000000000")
  end
  prints(np.array({ -123456789012345, 0 }, "int64"), "[-123456789012345                0]")
  check.equal(("%d"):format(np.array({ most - 1 }, "int64"):item()), "9007199254740991")
end)

check.case("what array_repr writes reads back", function()
  local lists = {
    int64 = { 1, -1e14, 355687428096000, 2 ^ 53 - 1, 2 ^ 53, 9007199254740993LL, -9223372036854775807LL - 1 },
    uint64 = { 0, 355687428096000, 2 ^ 53, 9007199254740993ULL, 18446744073709551615ULL },
    bool = { true, false }, float64 = { 1, 0.5 }, complex128 = { 1 + 2i, -0.5i },
  }
  for dtype, list in pairs(lists) do
    local a = np.array(list, dtype)
    for _, x in ipairs { a, a[-1], a:reshape(1, -1) } do
      local text = np.array_repr(x)
      local read = assert(loadstring("local array = ... return " .. text))(np.array)
      check.equal(read.dtype, dtype)
      check.equal(np.array_equal(read, x), true, text)
    end
  end
  for _, x in ipairs { np.array(1 / 3 + 1e20i), np.array(0.1i, "complex64"), np.array(-1e15, "int64") } do
    check.equal(np.array_equal(loadstring("local array = ... return " .. np.array_repr(x))(np.array), x), true)
  end
end)

check.case("complex", function()
  prints(np.array { 1 + 2i, -0.5i }, "[1.+2.i  0.-0.5i]")
  prints(np.array(1 / 3 - 2i), "0.3333333333333333-2i")
end)

check.case("options", function()
  np.set_printoptions { precision = 3 }
  prints(np.array { 1 / 3 }, "[0.333]")
  np.set_printoptions { precision = 8, threshold = 4, edgeitems = 1 }
  prints(np.arange(6), "[0 ... 5]")
  np.set_printoptions { threshold = 1000, edgeitems = 3 }
  check.refuses("unknown option", function() np.set_printoptions { digits = 3 } end)
end)

check.done()
