-- What arrays are to Lua: operators, truth, comparison, items, attributes, errors.
-- (What the functions of NumPy compute is compared by oracle.py.)
-- luacheck: ignore 581 (== and < of arrays are not those of numbers)
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"

local a = np.array { { 1, 2, 3 }, { 4, 5, 6 } }
local s = np.array(2.5)

check.case("attributes", function()
  check.equal(a.ndim, 2)
  check.equal(a.dtype, "float64")
  check.equal(tostring(a.shape), "{2, 3}")
  check.that(a.shape == np.zeros(2, 3).shape)
  check.that(a.shape ~= a.T.shape)
  check.equal({ a:dims() }, { 2, 3 })
  check.equal(#a, 2)
  check.equal(a.size, 6)
  check.equal(a.nbytes, 48)
  check.that(np.isarray(a) and not np.isarray(3) and not np.isarray(nil) and not np.isarray({}))
  a.shape[1] = 99 -- a fresh table each time
  check.equal(a.shape[1], 2)
end)

check.case("one value compares by value", function()
  check.that(s < 3 and s <= 2.5 and s > 2 and 2 < s and not (s < 2.5))
  check.that(s == 2.5 and s ~= 2 and 2.5 == s)
  check.that(s == np.array(2.5) and s < np.array(3))
  check.that(a[{ 1, 1 }] < a[{ 2, 2 }])
  check.that(np.array { 7 } == 7)
end)

check.case("arrays and nil", function()
  check.that(not (a == nil) and a ~= nil and not (nil == a))
  check.that(not (s == "2.5") and s ~= {})
  check.that(a and true)
end)

check.case("larger arrays do not compare by value", function()
  check.refuses("a:lt(b)", function() return a < 3, 1 end)
  check.refuses("a:lt(b)", function() return 3 > a, 1 end)
  check.refuses("a:le(b)", function() return a <= a, 1 end)
  check.refuses("a:eq(b)", function() return a == a.T, 1 end)
end)

check.case("items", function()
  check.equal(s:item(), 2.5)
  check.equal(s(), 2.5)
  check.equal(a(2, 3), 6)
  check.equal(a(-1, -3), 4)
  check.equal(a.T(3, 1), 3)
  check.equal(a["::-1, ::-1"](1, 1), 6)
  check.equal(a:eq(2):item(1, 2), true)
  check.equal(np.arange(3)(2), 1)
  check.equal(np.array({ 0.1 }, { dtype = "float16" })(1), 0.0999755859375)
  check.equal(np.full({}, 2 ^ 53, { dtype = "int64" })(), 2 ^ 53)
  local boxed = np.array(2LL ^ 60 + 1)()
  check.that(type(boxed) == "cdata" and boxed == 2LL ^ 60 + 1)
  local z = np.array { 1 + 2i }[1]()
  check.that(z == 1 + 2i and z * z == -3 + 4i and z + 1 == 2 + 2i and 2 / z == 0.4 - 0.8i)
  check.refuses("a(i, j) reads one", function() a:item() end)
  check.refuses("1 positions for an array of 2 dimensions", function() a(1) end)
  check.refuses("outside its extent of 2", function() a(3, 1) end)
  check.refuses("more than one element", function() a() end)
end)

check.case("tables and pointers", function()
  check.equal(a:totable(), { { 1, 2, 3 }, { 4, 5, 6 } })
  check.equal(a.T:totable(), { { 1, 4 }, { 2, 5 }, { 3, 6 } })
  check.equal(a:gt(3):totable(), { { false, false, false }, { true, true, true } })
  check.equal(s:totable(), 2.5)
  local sum = a:host("r", function(p, n, m)
    local total = 0
    for i = 0, n * m - 1 do total = total + p[i] end
    return total
  end)
  check.equal(sum, 21)
  check.equal(a["2, ::-1"]:host("r", function(p, n) return p[0] + 10 * n end), 36)
  check.refuses("the mode must be", function() a:host("x", print) end)
end)

check.case("text", function()
  check.equal("sum " .. a:sum(), "sum 21.0")
  check.equal(a.dtype .. " " .. a.shape, "float64 {2, 3}")
end)

check.case("numbers stay numbers", function()
  check.equal(np.sqrt(9), 3)
  check.equal(np.maximum(2, 7), 7)
  check.equal(np.cbrt(27), 3)
  check.equal(np.where(true, 2, 3), 2)
  check.equal(np.add(1, 2), 3)
end)

check.case("truth of reductions", function()
  check.equal(np.any(a:gt(5)), true)
  check.equal(np.all(a:gt(5)), false)
  check.equal(a:lt(9):all(), true)
  check.equal(np.allclose(a, a + 1e-12), true)
  check.equal(np.allclose(a, a + 1), false)
  check.equal(np.array_equal(a, a:copy()), true)
  check.equal(np.array_equal(a, a.T), false)
end)

check.case("a key that is known does not hide mistakes in one like it", function()
  local x = np.arange(5 * 6 * 4 * 3, { dtype = "float64" }):reshape(5, 6, 4, 3)
  for _ = 1, 300 do -- until it is compiled
    check.equal(x[{ 2, { 2, 4 }, { 1, 4, step = 2 }, {} }](1, 1, 1), 84)
    check.equal(x[{ 2, 3, 4, 1 }]:item(), 72 + 24 + 9)
    check.equal(x[{ { 2, 3 }, "..." }](1, 1, 1, 1), 72)
    check.equal(x[2](1, 1, 1), 72)
  end
  for _ = 1, 100 do
    check.refuses("unknown field", function() return x[{ 2, 3, 4, 1, axis = 1 }] end)
    check.refuses("a table inside an index", function() return x[{ 2, { 2, 4, stop = 1 }, { 1, 4, step = 2 }, {} }] end)
    check.refuses("a range is {lo, hi}", function() return x[{ 2, { 2, 4 }, { 1, 4, step = "2" }, {} }] end)
    check.refuses("a table inside an index", function() return x[{ 2, { [0] = 1, 2, 4 }, { 1, 4, step = 2 }, {} }] end)
    check.refuses("1.5 is no position", function() return x[{ 1.5, 3, 4, 1 }] end)
    check.refuses("2.5 is no position", function() return x[{ 2, { 2.5, 4 }, { 1, 4, step = 2 }, {} }] end)
    check.refuses("1.5 is no position", function() return x[1.5] end)
    check.refuses("outside its extent", function() return x[6] end)
    check.refuses("entries for an array", function() return x[{ 2, 3, 4 }] end)
  end
end)

check.case("views share, copies do not", function()
  local b = a:copy()
  local row, copy = b[1], b[1]:copy()
  b[1] = 0
  check.equal(row:totable(), { 0, 0, 0 })
  check.equal(copy:totable(), { 1, 2, 3 })
  check.equal(a(1, 1), 1)
end)

check.case("methods of one's own", function()
  np.extend("twice", function(x) return x + x end)
  check.equal(a:twice()(1, 2), 4)
  check.refuses("already have", function() np.extend("sum", print) end)
end)

check.case("unknown names", function()
  check.refuses('did you mean "shape"', function() return a.shap, 1 end)
  check.refuses('no attribute "colour"', function() return a.colour, 1 end)
  check.refuses("to assign to", function() a.shape = 3 end)
  check.refuses('did you mean "reshape"', function() a:reshap(6) end)
end)

check.case("errors name the operation and what to do", function()
  check.refuses("add: the shapes (2, 3) and (3, 2) do not fit together", function() return a + a.T, 1 end)
  check.refuses("np.array", function() return a + { 1, 2, 3 }, 1 end)
  check.refuses("not nil", function() return a * nil, 1 end)
  check.refuses("axes count from 1", function() a:sum(0) end)
  check.refuses("unknown option dtyp", function() np.zeros(3, { dtyp = "int8" }) end)
  check.refuses("unknown dtype", function() a:astype("float65") end)
  check.refuses("would lose its fraction", function() np.arange(3)[1] = 0.5 end)
  check.refuses("a 0-d array has no length", function() return #s, 1 end)
end)

check.case("a released array is refused", function()
  local b = a + 1
  b:free()
  check.refuses("released", function() return b + 1, 1 end)
  check.refuses("released", function() return b:sum(), 1 end)
  check.refuses("released", function() return b[1], 1 end)
  check.equal(tostring(b), "array (released)")
  b:free() -- twice does no harm
end)

check.case("changing a copy by mistake", function()
  local b, idx = np.zeros(5), np.array({ 1, 3 }, { dtype = "int64" })
  check.refuses("a:at(positions):iadd", function() b[idx]:iadd(1) end)
  local kept = b[idx]:copy()
  kept:iadd(1)
  check.equal(kept:totable(), { 1, 1 })
  b:at(idx):iadd(2)
  check.equal(b:totable(), { 2, 0, 2, 0, 0 })
  np.take(b, idx):iadd(1)
end)

check.case("fused functions", function()
  local smooth = np.fuse(function(x, y) return np.where(x:gt(y), x, (x + y) / 2) end)
  check.equal(smooth(a, 4):totable(), { { 2.5, 3, 3.5 }, { 4, 5, 6 } })
  check.refuses("1 to 8 named parameters", function() np.fuse(print) end)
  check.refuses("a:lt(b)", function() np.fuse(function(x) return x < x and x or 1 end)(a) end)
  check.refuses("not with an array", function() np.fuse(function(x) return x + a end)(a) end)
end)

check.case("what is loaded when it is first used", function()
  check.equal(np.arange(3):cumsum():totable(), { 0, 1, 3 })
  local _, homes = debug.getupvalue(getmetatable(np).__index, 1) -- file by public name
  for name, home in pairs(homes) do
    require("array." .. home)
    check.that(rawget(np, name) ~= nil, ("array.%s does not define np.%s"):format(home, name))
  end
  -- A stand-in that its file did not replace would call itself for ever.
  for name, method in pairs(require("array.core").methods) do
    local source = type(method) == "function" and debug.getinfo(method, "S").source or "" -- or a ufunc
    check.that(not source:find("lib/array%.lua$"), ("a:%s(...) is defined nowhere"):format(name))
  end
end)

check.done()
