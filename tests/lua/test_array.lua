-- What arrays are to Lua: operators, truth, comparison, items, attributes, errors.
-- (What the functions of NumPy compute is compared by oracle.py.)
-- luacheck: ignore 581 (== and < of arrays are not those of numbers)
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local ffi = require "ffi"
local np, lgt = require "array", require "lgt"

local a = np.array { { 1, 2, 3 }, { 4, 5, 6 } }
local s = np.array(2.5)

-- The copy dies in its group, and around its interior it is what it was.  (Results may be stored instead: those that
-- are small, and those of a script that has gone on for long.  So this comes first.)
check.case("the edges of a copy that is used and dropped", function()
  local n = 600000
  local x = np.arange(n):astype("float64") + 1
  local y = np.copy(x)
  y[{ { 2, n - 1 } }] = x[{ { 1, n - 2 } }]
  local z = y * 1
  y = nil -- luacheck: ignore 311
  collectgarbage()
  collectgarbage()
  check.equal({ z(1), z(2), z(n - 1), z(n) }, { 1, 1, n - 2, n })
end)

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

check.case("an array without dimensions has a key without entries", function()
  local three = np.arange(3):sum()
  check.equal(three[{}]:item(), 3)
  three[{}] = 7
  check.equal(three:item(), 7)
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

check.case("functions that compute in floats: scalars beside booleans and integers, what fits into float16", function()
  local x, flags, bytes = np.ones(2), np.ones(2, { dtype = "bool" }), np.ones(2, { dtype = "int8" })
  for _, name in ipairs { "arctan2", "copysign", "heaviside", "hypot", "logaddexp", "logaddexp2" } do
    local f = np[name]
    check.equal(f(x[1], flags).dtype, "float64")
    check.equal(f(flags, x[1]).dtype, "float64")
    check.equal(f(bytes, 2.5).dtype, "float64")
    check.equal(f(bytes, bytes:astype("uint8")).dtype, "float16")
    check.equal(f(bytes, x:astype("float32")[1]).dtype, np.multiply(bytes, x:astype("float32")[1]).dtype)
  end
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
  check.that(np.array(2LL ^ 53 + 1)() == 2LL ^ 53 + 1 and np.array(-2LL ^ 53 - 1)() == -2LL ^ 53 - 1)
  local boxed = np.array(2LL ^ 60 + 1)()
  check.that(type(boxed) == "cdata" and boxed == 2LL ^ 60 + 1)
  local z = np.array { 1 + 2i }[1]()
  check.that(z == 1 + 2i and z * z == -3 + 4i and z + 1 == 2 + 2i and 2 / z == 0.4 - 0.8i)
  check.refuses("a(i, j) reads one", function() a:item() end)
  check.refuses("1 position for an array of 2 dimensions", function() a(1) end)
  check.refuses("outside its extent of 2", function() a(3, 1) end)
  check.refuses("more than one element", function() a() end)
end)

check.case("a dtype in NumPy's place", function()
  for _, make in ipairs {
    function() return np.identity(3, "int8") end, function() return np.eye(3, "int8") end,
    function() return np.eye(3, nil, "int8") end, function() return np.eye(3, 3, "int8") end,
    function() return np.eye(3, nil, 0, "int8") end, function() return np.eye(3, 3, 0, "int8") end,
    function() return np.eye(3, { dtype = "int8" }) end, function() return np.identity(3, { dtype = "int8" }) end,
  } do
    local x = make()
    check.equal(x.dtype, "int8")
    check.equal(x:totable(), { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } })
  end
  for _, make in ipairs {
    function() return np.tri(2, "int8") end, function() return np.tri(2, 2, "int8") end,
    function() return np.tri(2, nil, 0, "int8") end, function() return np.tri(2, nil, nil, { dtype = "int8" }) end,
  } do
    check.equal(make().dtype, "int8")
    check.equal(make():totable(), { { 1, 0 }, { 1, 1 } })
  end
  for _, name in ipairs { "zeros", "ones", "empty", "full" } do
    check.refuses(name .. ": a shape was expected", function() return np[name]("float32", 1), 1 end)
    check.equal(np[name]({}, name == "full" and 1 or "float32").ndim, 0)
  end
  check.refuses("zeros: a shape was expected, not the string \"float32\"", function() return np.zeros("float32"), 1 end)
  check.refuses("eye: ", function() return np.eye(3, 3, "no type"), 1 end)
  check.refuses("identity: ", function() return np.identity(3, "no type"), 1 end)
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

check.case("integers are not rounded on their way into a table of integers", function()
  local i = np.arange(3)
  check.that(np.array({ np.array(2LL ^ 53 + 1), 2 }, "int64")(1) == 2LL ^ 53 + 1)
  check.equal(np.array({ { i[2], 1 }, { 2, 3 } }, "int8"):totable(), { { 1, 1 }, { 2, 3 } })
  check.refuses("no integer", function() np.array({ i[2], 2.5 }, "int64") end)
end)

check.case("new axes and numbers, more than there can be dimensions", function()
  local cube = np.arange(8):reshape(2, 2, 2)
  local one = cube[{ "*", "*", "*", "*", 1, 2, 2 }]
  check.equal(one:dims(), 1)
  check.equal(one.ndim, 4)
  check.equal(one(1, 1, 1, 1), 3)
  check.equal(cube["*, *, 2, *, *, ..., 1, *"](1, 1, 1, 1, 2, 1), 6)
  cube["*, *, 2, *, *, ::-1, 1, *"] = np.array { 10, 20 }:reshape(2, 1)
  check.equal(cube(2, 1, 1), 20)
  check.equal(cube(2, 2, 1), 10)
  check.refuses("a view of 7 dimensions; arrays have at most 6", function() return cube["*, *, *, *, *, 1"] end)
end)

check.case("tables of arrays without dimensions", function()
  local y = np.arange(5):astype("float64")
  check.equal(np.array { y[2] * 3, 7, y[3] }:totable(), { 3, 7, 2 })
  check.equal(np.array({ y[2], y[3], 2 }, "int64"):totable(), { 1, 2, 2 })
  check.equal(np.array { y[2]:gt(0), y[3]:gt(2) }:totable(), { true, false })
  check.equal(np.array { np.array(1, "int32"), np.array(300, "int16") }.dtype, "int32")
  check.equal(np.array { np.array(1, "int32"), 3 }.dtype, "float64")
  check.equal(np.array { y[2], np.array(1i) }.dtype, "complex128")
  local many = {}
  for k = 1, 30 do many[k] = y[k % 5 + 1] end
  check.equal(np.sum(np.array(many))(), 60)
  check.that(not pcall(np.array, { y[2], nil, y[3] }), "a table with a hole was taken")
  local gone = np.array(2)
  gone:free()
  check.that(not pcall(np.array, { y[2], gone }), "an array that is gone was taken")
end)

check.case("what a function on the host writes", function()
  local function one(p) p[1] = 5 end
  local x = np.ones(6)
  x:host("w", one)
  check.equal(x:totable(), { 0, 5, 0, 0, 0, 0 })
  x = np.ones(6)
  x["::2"]:host("w", one)
  check.equal(x:totable(), { 0, 1, 5, 1, 0, 1 })
  for _, view in ipairs { ":", "::2" } do
    for _, mode in ipairs { "r", "w", "rw" } do
      local function counted(...) return { select("#", ...), (...), (select(3, ...)) } end
      local results = counted(np.ones(4)[view]:host(mode, function(_, n) return n, nil, 3, nil end))
      check.equal(results, { 4, view == ":" and 4 or 2, 3 })
    end
    local y = np.ones(6)
    check.refuses("given up", function()
      y[view]:host("rw", function(p)
        p[1] = 7
        error("given up")
      end)
    end)
    check.equal(y[view]:totable()[2], 7)
    check.equal((y + 1)[view]:totable()[2], 8)
  end
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

check.case("a key with another field is refused wherever the table keeps that field", function()
  local x, hashed = np.zeros(5, 6), require "table.new"
  for letter in ("abcdefghijklmnopqrstuvwxyz"):gmatch "." do
    local list, stepped = hashed(0, 4), hashed(0, 4) -- elements come where their hashes are
    for _, t in ipairs { list, stepped } do t[1], t[2], t[letter] = 2, 3, 1 end
    stepped.step = 1
    check.refuses("unknown field", function() return x[list] end)
    check.refuses("unknown field", function() x[list] = 1 end)
    for _, range in ipairs { list, stepped } do
      check.refuses("a table inside an index", function() return x[{ 2, range }] end)
      check.refuses("a table inside an index", function() x[{ 2, range }] = 1 end)
      check.refuses("a table inside an index", function() return x[{ range, np.array({ 1 }, "int64") }] end)
    end
  end
  check.equal(np.count_nonzero(x), 0)
end)

check.case("of positions outside, the first is named", function()
  local x = np.zeros(4, 3)
  local i, j = np.ones(500, { dtype = "int64" }), np.ones(500, { dtype = "int64" })
  local function refuses(what, f)
    check.refuses(what, function()
      f()
      return x:sum()(), 1
    end)
  end
  i[499], j[498] = 9, 7
  refuses("position 7 of axis 2 is outside its extent of 3", function() x["..."] = x[{ i, j }]:sum() end)
  x = np.zeros(4, 3)
  refuses("position 7 of axis 2 is outside its extent of 3", function() x[{ i, j }] = 1 end)
  i[498] = -5
  x = np.zeros(4, 3)
  refuses("position -5 of axis 1 is outside its extent of 4", function() x["..."] = x[{ i, j }]:sum() end)
  -- axes count as those of the array, whatever else is in the key
  local p = np.array({ 9 }, "int64")
  local cube = np.zeros(2, 3, 4)
  for _, key in ipairs { { 1, p, {} }, { 1, p, "..." }, { "*", {}, p, {} }, { { 1, 1 }, p, {} }, { {}, p, 1 } } do
    refuses("position 9 of axis 2 is outside its extent of 3", function() x["..."] = cube[key]:sum() end)
    x = np.zeros(2, 3, 4)
    refuses("position 9 of axis 2 is outside its extent of 3", function() x[key] = 1 end)
    x = np.zeros(2, 3, 4)
    refuses("position 9 of axis 2 is outside its extent of 3", function() x[key] = np.ones(1) end)
    x = np.zeros(2, 3, 4)
  end
  local q = np.array({ 1 }, "int64")
  check.refuses("4 entries for an array of 3 dimensions", function() return cube[{ q, {}, {}, "...", q }], 1 end)
  for _, key in ipairs { { 1, "...", p }, { 1, 2, p }, { 1, p - 7, p }, { "...", "*", 1, p } } do
    refuses("position 9 of axis 3 is outside its extent of 4", function() x["..."] = cube[key]:sum() end)
    x = np.zeros(2, 3, 4)
    refuses("position 9 of axis 3 is outside its extent of 4", function() x[key] = 1 end)
    x = np.zeros(2, 3, 4)
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
  check.refuses("write a:totable()", function() a:tolist() end)
  check.refuses('no attribute "colour"', function() return a.colour, 1 end)
  check.refuses('"2;" is no position', function() return a["2;"], 1 end)
  check.refuses('"2 3" is no position', function() return a["2 3"], 1 end)
  check.refuses('index ":, None": a new axis is written *', function() return a[":, None"], 1 end)
  check.refuses('index "2:]": "]" is no position', function() return a["2:]"], 1 end)
  check.refuses("shape[0]: axes count from 1", function() return a.shape[0], 1 end)
  check.equal(a.shape[-1], a.shape[a.ndim])
  check.refuses("to assign to", function() a.shape = 3 end)
  check.refuses('did you mean "reshape"', function() a:reshap(6) end)
end)

check.case("dtypes by name, and where NumPy has them", function()
  check.equal(np.float32, "float32")
  check.equal(np.zeros({ 3 }, { dtype = np.int8 }).dtype, "int8")
  check.equal(np.zeros({ 2, 3 }, np.float32).shape, { 2, 3 })
  check.equal(np.zeros(2, 3, np.float32).dtype, "float32")
  check.equal(np.array({ 1, 2 }, np.complex128).dtype, "complex128")
  check.equal(np.full({ 2 }, 1, "uint16").dtype, "uint16")
  check.equal(np.ones_like(a, np.bool_).dtype, "bool")
  check.equal(np.arange(3, "f4").dtype, "float32")
  check.equal(np.arange(0, 3, 1, "int16").dtype, "int16")
  check.equal(np.random.rand(3, "float32").dtype, "float32")
  check.equal(a:astype(np.intc).dtype, "int32")
  check.refuses("unknown dtype \"flaot32\"", function() np.zeros({ 3 }, "flaot32") end)
  check.refuses("options are a table", function() np.tile(a, 2, "float32") end)
  check.refuses("unknown option axis", function() np.tile(a, 2, { axis = 1 }) end)
  check.refuses("{out = x}", function() np.add(a, a, a) end)
end)

check.case("assertions", function()
  local t, x = np.testing, np.arange(6):reshape(2, 3) / 2
  t.assert_allclose(x, x * (1 + 1e-9))
  t.assert_allclose(x, x + 0.01, { atol = 0.02 })
  t.assert_allclose(np.array { np.nan, 1 }, { np.nan, 1 })
  t.assert_array_equal(x["1"], { 0, 0.5, 1 })
  t.assert_equal(x:sum(), 7.5)
  t.assert_array_almost_equal(x, x + 1e-7)
  t.assert_array_equal(np.zeros(0, 3), np.zeros(0, 3))
  check.refuses("differences in 1 of 6 elements; the first, at {2, 1}, is 9.0, where 1.5 was expected", function()
    local y = x:copy()
    y[{ 2, 1 }] = 9
    t.assert_allclose(y, x)
  end)
  check.refuses("in 6 of 6 elements", function() t.assert_allclose(x, x + 0.01, 1e-7) end)
  check.refuses("in 1 of 1 element", function() t.assert_allclose({ np.nan }, { np.nan }, { equal_nan = false }) end)
  check.refuses("of shape (2, 3), where (6) was expected", function() t.assert_array_equal(x, x:ravel()) end)
  check.refuses("the first, at {1}, is 7.5, where 7.0 was", function() t.assert_equal(x:sum(), 7) end)
  check.refuses("in 1 of 1 element;", function() t.assert_array_almost_equal(1, 1.001) end)
  t.assert_array_almost_equal({ 1.4e-6, np.inf, -np.inf, np.nan }, { 0, np.inf, -np.inf, np.nan })
  t.assert_almost_equal(1.4e-7, 0)
  t.assert_almost_equal(1.4, 0, 0)
  t.assert_almost_equal(1.4 + 1.4i, 0, 0) -- parts are compared, not absolute values
  t.assert_array_almost_equal(np.array({ 1, 200 }, "uint8"), np.array({ 2, 199 }, "uint8"), 0)
  check.refuses("assert_almost_equal: ", function() t.assert_almost_equal(1.6e-7, 0) end)
  check.refuses("assert_almost_equal: ", function() t.assert_almost_equal(1.5, 0, 0) end)
  check.refuses("assert_almost_equal: ", function() t.assert_almost_equal({ 1.5 }, { 0 }, 0) end)
  check.refuses("assert_almost_equal: ", function() t.assert_almost_equal(1.6i, 0, 0) end)
  check.refuses("assert_array_almost_equal: ", function() t.assert_array_almost_equal(1.6e-6, 0) end)
  check.refuses("assert_array_almost_equal: ", function() t.assert_array_almost_equal(1.5, 0, 0) end)
  check.refuses("assert_array_almost_equal: ", function() t.assert_array_almost_equal({ 1.4 + 1.4i }, { 0 }, 0) end)
  check.refuses("assert_array_almost_equal: ", function() t.assert_array_almost_equal(np.inf, -np.inf) end)
end)

check.case("a dot instead of a colon", function()
  check.refuses("methods are called with a colon", function() return a.sum(), 1 end)
  check.refuses("methods are called with a colon", function() return a.copy(), 1 end)
  check.refuses("sum: numbers, tables and arrays were expected, not nil; methods are", function() return a.sum(), 1 end)
  check.refuses("sum: numbers, tables and arrays were expected, not nil", function() return np.sum(nil), 1 end)
  check.refuses("linalg.inv: numbers, tables", function() return np.linalg.inv(nil), 1 end)
  check.refuses("zeros_like: numbers, tables", function() return np.zeros_like(nil), 1 end)
  check.refuses("full_like: numbers, tables", function() return np.full_like(nil, 1), 1 end)
  for _, name in ipairs { "array", "asarray", "zeros_like" } do
    local _, message = pcall(np[name], nil)
    check.that(message:find("were expected, not nil$"), message) -- no hint at colons: these are no methods
  end
  local positions = np.array({ 1, 2 }, "int64")
  check.refuses("write a:at(positions):iadd(...)", function() np.ones(3)[positions]:iadd(1) end)
  check.refuses("write it back with a[positions] = b", function() np.ones(3)[positions]["1"] = 4 end)
  check.refuses("write it back with a[positions] = b", function() np.ones(3)[positions]:sort() end)
  check.refuses("rng:normal()", function() return np.random.default_rng(1).normal(0, 1, 3), 1 end)
  check.equal(np.random.default_rng(1):normal(0, 1, 3).shape, { 3 })
end)

check.case("what would change when it is written is refused", function()
  local small, wide, large = np.zeros({ 3 }, "int8"), np.zeros({ 3 }, "int64"), np.zeros({ 3 }, "uint64")
  local real = np.zeros(3)
  check.refuses("300 does not fit into int8", function() small[1] = 300LL end)
  check.refuses("300 does not fit into int8", function() small["2:"] = 300LL end)
  check.refuses("300 does not fit into int8", function() small[np.array({ 1, 2 }, "int64")] = 300LL end)
  check.refuses("300 does not fit into int8", function() small[small:eq(0)] = 300LL end)
  check.refuses("300 does not fit into int8", function() small:fill(300ULL) end)
  check.refuses("300 does not fit into int8", function() return np.array({ 1, 300 }, "int8"), 1 end)
  check.refuses("-1 does not fit into uint64", function() large[1] = -1LL end)
  check.refuses("does not fit into int64", function() wide[1] = 0x8000000000000000ULL end)
  check.refuses("does not fit into int64", function() wide[1] = 2 ^ 63 end)
  check.refuses("does not fit into int64", function() wide:fill(2 ^ 63) end)
  check.refuses("does not fit into int64", function() return wide + 2 ^ 63, 1 end)
  check.refuses("does not fit into int64", function() return np.clip(wide, 0, 2 ^ 63), 1 end)
  check.refuses("does not fit into int64", function() return np.array({ 2 ^ 63 }, "int64"), 1 end)
  check.refuses("does not fit into int64", function() return np.array({ 0x8000000000000000ULL }, "int64"), 1 end)
  check.refuses("does not fit into uint64", function() large[1] = 2 ^ 64 end)
  check.refuses("does not fit into uint64", function() return large * 2 ^ 64, 1 end)
  check.refuses("does not fit into uint64", function() return np.array({ 2 ^ 64 }, "uint64"), 1 end)
  check.refuses("-1 does not fit into uint64", function() return np.array({ -1LL }, "uint64"), 1 end)
  local extremes = { -0x7fffffffffffffffLL - 1, 0x7fffffffffffffffLL, 0x7fffffffffffffffULL, 2 ^ 63 - 1024 }
  local taken = np.array(extremes, "int64")
  for i, x in ipairs(extremes) do
    wide[1] = x
    check.that(wide(1) == ffi.cast("int64_t", x) and taken(i) == wide(1), tostring(x))
  end
  extremes = { 0xffffffffffffffffULL, 2 ^ 64 - 2048, 2 ^ 63 }
  taken = np.array(extremes, "uint64")
  for i, x in ipairs(extremes) do
    large[1] = x
    check.that(large(1) == ffi.cast("uint64_t", x) and taken(i) == large(1), tostring(x))
  end
  small[1], small[2], wide[1], wide[2], large[1] = 127LL, -128LL, -0x8000000000000000LL, 5ULL, 0xffffffffffffffffULL
  check.equal(small(1) + small(2), -1)
  check.equal(tostring(wide[1]:item()), "-9223372036854775808LL")
  check.equal(tostring(large[1]:item()), "18446744073709551615ULL")
  local z = np.array { 1 + 2i, 3i, 4 + 0i }
  check.refuses("np.real", function() real[1] = 1 + 2i end)
  check.refuses("np.real", function() real["..."] = z end)
  check.refuses("np.real", function() real[1] = z[1] end)
  check.refuses("np.real", function() real[real:eq(0)] = z end)
  check.refuses("np.real", function() real[real:eq(0)] = 2i end)
  check.refuses("np.real", function() real:fill(z[1]) end)
  check.refuses("np.real", function() np.put(real, { 1 }, 2i) end)
  check.refuses("np.real", function() np.full({ 2 }, 1i, "float32") end)
  real[1] = 4 + 0i
  real["2:"] = np.real(z)["2:"]
  check.equal(real:totable(), { 4, 0, 4 })
  check.equal(z:astype("float64"):totable(), { 1, 0, 4 })
end)

check.case("errors name the operation and what to do", function()
  check.refuses("add: the shapes (2, 3) and (3, 2) do not fit together", function() return a + a.T, 1 end)
  check.refuses("np.array", function() return a + { 1, 2, 3 }, 1 end)
  check.refuses("not nil", function() return a * nil, 1 end)
  check.refuses("axes count from 1", function() a:sum(0) end)
  check.refuses("unknown option dtyp", function() np.zeros(3, { dtyp = "int8" }) end)
  check.refuses("unknown dtype", function() a:astype("float65") end)
  check.refuses("would lose its fraction", function() np.arange(3)[1] = 0.5 end)
  check.refuses("nan into an array of int64, which has no such number", function() np.arange(3)[1] = 0 / 0 end)
  check.refuses("an array was expected, not the number 3", function() np.swapaxes(3, 1, 2) end)
  check.refuses("an array was expected, not nil", function() np.rollaxis(nil, 1) end)
  check.refuses("a 0-d array has no length", function() return #s, 1 end)
end)

check.case("views of copies raise as the copies do", function()
  local z, x = np.array { 1i, 2 + 1i, 3 }, np.arange(6) * 1.0
  local positions = np.array({ 1, 2 }, { dtype = "int64" })
  for _ = 1, 100 do -- compiled, too
    check.refuses("z.real and z.imag are copies", function() z.real["1:2"]:iadd(1) end)
  end
  check.refuses("z.real and z.imag are copies", function() z.imag["2:"]:imul(0) end)
  check.refuses("z.real and z.imag are copies", function() z.imag[{ { 1, 2 } }]:imul(0) end)
  check.refuses("z.real and z.imag are copies", function() z.imag.T:imul(0) end)
  check.refuses("z.real and z.imag are copies", function() z.imag:reshape(3, 1)[1]:imul(0) end)
  check.refuses("a[positions] is a copy", function() x[positions]["..."]:imul(0) end)
  check.refuses("a[positions] is a copy", function() x[positions][1]:imul(0) end)
  check.refuses("a[positions] is a copy", function() x[x:gt(2)]["1:2"]:imul(0) end)
  x.real["1:2"]:iadd(1)
  local kept = x[positions]:copy()
  kept["1:1"]:iadd(1)
  check.equal({ x(1), kept(1), z(1).re }, { 1, 2, 0 })
end)

check.case("tables have the elements of all dtypes and shapes", function()
  for dtype in ("int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64"):gmatch("%S+") do
    check.equal(np.arange(12, { dtype = dtype }):reshape(2, 3, 2):totable(),
      { { { 0, 1 }, { 2, 3 }, { 4, 5 } }, { { 6, 7 }, { 8, 9 }, { 10, 11 } } })
    check.equal(np.arange(6, { dtype = dtype })["::-2"]:totable(), { 5, 3, 1 })
    check.equal(np.full({}, 7, { dtype = dtype }):totable(), 7)
  end
  check.equal({ np.zeros(0):totable(), np.zeros(2, 0):totable(), np.zeros(0, 2):totable() }, { {}, { {}, {} }, {} })
  check.equal(np.array({ 1i, 2 }):totable()[1].im, 1)
  local large = np.array({ 9007199254740993LL, 5 }, "int64"):totable()
  check.equal({ type(large[1]), large[2] }, { "cdata", 5 })
  check.equal(tostring(np.array { 0 / 0, 1 }:totable()[1]):gsub("-", ""), "nan")
end)

check.case("parts of complex numbers are assigned as arrays are", function()
  local z = np.array { 1i, 2 + 1i, 3 }
  z.real = { 5, 6, 7 }
  z.imag = np.array { 1, 2, 3 }
  check.equal({ z(1).re, z(3).re, z(1).im, z(3).im }, { 5, 7, 1, 3 })
  z.real = 2
  check.equal(z(3).re, 2)
  check.refuses("assignment: an array of shape (2) does not fit into shape (3)", function() z.real = { 1, 2 } end)
  check.refuses("assignment: z.imag is real, the value is complex", function() z.imag = { 1i, 2, 3 } end)
  check.refuses("assignment: nil was given", function() z.imag = nil end)
end)

check.case("what is no array says how one is made of it", function()
  local sp, solvers = require "sparse", require "solvers"
  local m, d = sp.csr_matrix(np.array { { 1, 0, 2 }, { 0, -3, 0 } }), np.ones(2, 3)
  local l = solvers.LinearOperator({ 2, 2 }, { matvec = function(x) return x end })
  local wanted = "not a sparse matrix of shape (2, 3): A:todense() makes an array of it"
  check.refuses(wanted, function() np.exp(m) end)
  check.refuses(wanted, function() d:iadd(m) end)
  check.refuses("array: numbers, tables and arrays were expected, " .. wanted, function() np.asarray(m) end)
  check.refuses(wanted, function() np.cumsum(m) end)
  check.refuses("not a linear operator of shape (2, 2): L:matmat(np.eye(2)) is its matrix", function()
    return m * l, 1
  end)
  check.refuses("A(...) got 1 position", function() m(1) end)
  check.refuses("rmatvec: the linear operator has no function rmatvec", function() l:rmatvec(np.ones(2)) end)
  check.refuses("rmatmat: the linear operator has no function rmatvec", function() l:rmatmat(d) end)
  local narrow = solvers.LinearOperator({ 2, 2 }, {
    matvec = function(x) return x end, matmat = function(x) return x["1:1, :"] end,
    rmatmat = function(x) return x end,
  })
  check.refuses("should give a matrix of shape (2, 3), not an array of shape (1, 3)", function() narrow:matmat(d) end)
  check.equal(narrow:rmatmat(d)(2, 3), 1)
  check.refuses("the function of t and y gave nil", function()
    solvers.solve_ivp(function() end, { 0, 1 }, { 1 })
  end)
end)

check.case("messages count as people do", function()
  local v = np.zeros(3)
  check.refuses("axis 2 of an array of 1 dimension: 1", function() v:sum(2) end)
  check.refuses("2 entries for an array of 1 dimension;", function() return v[{ 1, 1 }], 1 end)
  check.refuses("1 element cannot be divided by 2", function() np.zeros(1):reshape(2, -1) end)
  check.refuses("2 axes for an array of 1 dimension", function() v:transpose(1, 2) end)
  check.refuses("1 axis for an array of 2 dimensions", function() a:transpose(1) end)
  check.refuses("0 to 2.1 elements, -1 elements, x1 elements, 11 elements, argument 1 was", function()
    require("lgt").raise("0 to 2.1 elements, -1 elements, x1 elements, 11 elements, argument 1 was given")
  end)
end)

check.case("a released array is refused", function()
  local b = a + 1
  b:free()
  check.refuses("released", function() return b + 1, 1 end)
  check.refuses("released", function() return b:sum(), 1 end)
  check.refuses("released", function() return b[1], 1 end)
  check.refuses("released", function() return b.shape, 1 end)
  check.refuses("released", function() return b.dtype, b.size, 1 end)
  check.refuses("released", function() return #b, 1 end)
  check.refuses("released", function() return b < 1, 1 end)
  check.refuses("released", function() return b == 1, 1 end)
  check.refuses("released", function() return b(1, 1), 1 end)
  check.refuses("released", function() b:iadd(1) end)
  check.refuses("released", function() b[1] = 1 end)
  check.refuses("released", function() np.concatenate { a, b } end)
  check.refuses("released", function() np.exp(a, { out = b }) end)
  check.refuses("released", function() b:item() end)
  check.refuses("released", function() b:host("r", print) end)
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

check.case("views that show an element more than once are not written", function()
  local one = np.ones(1)
  local wide = np.broadcast_to(one, { 5000 })
  local out = np.zeros(3)
  check.refuses("one element", function() wide:iadd(1) end)
  check.refuses("one element", function() wide:imul(np.ones(5000)) end)
  check.refuses("one element", function() wide[":"] = 2 end)
  check.refuses("one element", function() wide["1:3"] = np.ones(3) end)
  check.refuses("one element", function() wide[1] = 2 end)
  check.refuses("one element", function() wide[wide:gt(0)] = 2 end)
  check.refuses("one element", function() wide[np.array({ 1, 2 }, { dtype = "int64" })] = 2 end)
  check.refuses("one element", function() wide:at(wide:gt(0)):iadd(1) end)
  check.refuses("one element", function() np.add.at(wide, np.array({ 1 }, { dtype = "int64" }), 1) end)
  check.refuses("one element", function() wide:fill(3) end)
  check.refuses("one element", function() wide:sort() end)
  check.refuses("one element", function() np.copyto(wide, 1) end)
  check.refuses("one element", function() np.exp(np.ones(5000), { out = wide }) end)
  check.refuses("one element", function() np.modf(np.ones(5000), { out = { wide, wide } }) end)
  check.refuses("one element", function() np.sum(np.ones(5000, 2), 2, { out = wide }) end)
  check.refuses("one element", function() np.gcd(np.ones(5000, { dtype = "int64" }), 2, { out = wide }) end)
  check.refuses("one element", function() np.random.shuffle(wide) end)
  check.refuses("one element", function() wide:host("w", function() end) end)
  check.refuses("one element", function() np.meshgrid(np.arange(2), np.arange(3)):iadd(1) end)
  check.refuses("one element", function() np.reshape(wide, 50, 100)["1, :"]:isub(1) end)
  check.equal({ one(), wide(7), wide:host("r", function(p) return p[4] end) }, { 1, 1, 1 })
  np.broadcast_to(out, { 1, 3 }):iadd(1) -- every element once
  np.broadcast_to(np.zeros(1, 0), { 5, 0 }):iadd(1)
  check.equal(out:totable(), { 1, 1, 1 })
end)

check.case("shapes and lists without holes", function()
  local nothing = ({}).missing
  check.refuses("extent 1 of the shape is nil", function() np.zeros(nothing) end)
  check.refuses("extent 2 of the shape is nil", function() np.ones(3, nothing) end)
  check.refuses("extent 2 of the shape is nil", function() np.zeros({ 3, nothing, 4 }) end)
  check.refuses("extent 2 of the shape is nil", function() np.zeros(3, nothing, { dtype = "int8" }) end)
  check.refuses("extent 1 of the shape is nil", function() np.full(nothing, 1) end)
  check.equal(np.zeros({ 2, 3 }, nothing).size, 6) -- options may be absent
  check.equal({ np.zeros().ndim, np.zeros({}).ndim }, { 0, 0 })
  check.refuses("element 2 of a list of 3 is nil", function() np.array { 1, nothing, 3 } end)
  check.refuses("element 1 of a list of 2 is nil", function() np.array { { 1, 2 }, { nothing, 2 } } end)
  check.refuses("element 2 of a list of 3 is nil", function() np.array { a, nothing, a } end)
  check.refuses("element 2 of a list of 3 is nil", function() np.concatenate { a, nothing, a } end)
  check.refuses("this one has number 0", function() np.array { [0] = 1, 2, 3 } end)
  check.refuses('field "x"', function() np.array { 1, x = 2 } end)
  check.refuses("arange takes", function() np.arange() end)
  check.refuses("not nil", function() np.arange(1, nothing) end)
end)

check.case("sizes are checked before anything is made", function()
  check.refuses("2^61 bytes", function() np.tile(a, 1e18) end)
  check.refuses("2^61", function() np.tile(a, 1e9, 1e9, 1e9) end)
  check.refuses("2^61", function() np.rep(a, { 1e18, 1 }, 1) end)
  check.refuses("1000000000 parts; at most", function() np.array_split(a, 1e9) end)
  check.refuses("out of memory", function() np.broadcast_to(a, { 1e14, 2, 3 }):totable() end)
  check.equal(np.tile(np.array { 7 }, 200000):sum()(), 1400000)
  check.equal(tostring(np.tile(a, 0, 2).shape), "{0, 6}")
  local wrapped = np.pad(np.array { 1, 2, 4 }, { 1e6, 2e6 }, "wrap")
  check.equal({ wrapped(1), wrapped(1e6 + 1), wrapped(3e6 + 3), wrapped:sum()() }, { 4, 1, 2, 7000007 })
end)

check.case("what has no axes", function()
  for _, f in ipairs { np.sum, np.argmax, np.flip } do
    check.refuses("an axis was given, and a 0-d array has none", function() f(np.array(3), 1) end)
  end
end)

check.case("an axis may be given by its name", function()
  local b = np.zeros(1, 3, 1)
  check.equal(tostring(np.squeeze(b, { axis = 1 }).shape), "{3, 1}")
  check.equal(tostring(np.expand_dims(a, { axis = { 1, -1 } }).shape), "{1, 2, 3, 1}")
  check.equal(np.flip(a, { axis = 1 })(1, 1), 4)
  check.equal(np.concatenate({ a, a }, { axis = 2 }):dims(), 2)
  check.refuses("unknown option axes; it takes axis", function() np.squeeze(b, { axes = 1 }) end)
  check.refuses("unknown option axes; it takes axis", function() np.concatenate({ a, a }, { axes = 2 }) end)
  check.refuses("an axis was expected", function() np.expand_dims(a) end)
end)

check.case("where= is a boolean array", function()
  check.equal(np.exp(np.zeros(2), { where = true }):totable(), { 1, 1 })
  check.equal(np.exp(np.zeros(2), { where = false }):totable(), { 0, 0 })
  check.refuses("where= must be a boolean array, not the number 1", function() np.exp(a, { where = 1 }) end)
  check.refuses("out=", function() np.modf(a, { out = 3 }) end)
  check.refuses("an array was expected, not the number 3", function() np.modf(a, { out = { 3, 4 } }) end)
  check.refuses("an array was expected, not the number 3", function() np.exp(a, { out = 3 }) end)
end)

check.case("fused functions", function()
  local smooth = np.fuse(function(x, y) return np.where(x:gt(y), x, (x + y) / 2) end)
  check.equal(smooth(a, 4):totable(), { { 2.5, 3, 3.5 }, { 4, 5, 6 } })
  local sum, plus = np.ones(3), np.fuse(function(x, k, y) return x + k * y end)
  plus(sum, 2, np.ones(3), { out = sum }) -- before it was called without
  check.equal(sum:totable(), { 3, 3, 3 })
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

check.case("a copy shares memory with the original only while both are the same everywhere", function()
  local f = np.arange(12) * 1.0
  local function neighbours(x)
    collectgarbage() -- a product that could still be asked for has what it was made of for itself
    return np.sum(x["2:"] * x[":-2"])()
  end
  local before = neighbours(f)
  for i = 1, 12 do
    local copy = f:copy()
    require("lgt").fence()
    copy[i] = 100 -- where this element is; somebody else may want it
    neighbours(copy)
    check.equal(np.sum(f)(), 66)
    check.equal(neighbours(f), before)
  end
  for i = 1, 12 do -- nor does it with a copy of before, once there is a later one
    local g = np.arange(12) * 1.0
    check.equal(neighbours(g), before) -- there is room for the neighbours of its tiles
    local earlier = g:copy()
    check.equal(neighbours(earlier), before)
    g[i] = 100
    local later = g:copy()
    check.equal(neighbours(g), neighbours(later))
    check.equal(neighbours(earlier), before)
  end
end)

check.case("a reduction of one element is an array of its own", function()
  local one, row, complex = np.array({ 3 }), np.array({ { 3, 4 } }), np.array({ 3 }, { dtype = "complex128" })
  for _, x in ipairs { np.array(3), one, row, complex } do
    for _, name in ipairs { "prod", "sum", "max", "mean" } do
      if x.dtype == "complex128" and name == "max" then break end
      local before = x:copy()
      local result = np[name](x, x.ndim > 0 and 1 or nil)
      result:imul(7)
      check.that(np.array_equal(x, before), name .. " gave the array itself")
    end
  end
end)

check.case("what is put into a transposed view does not copy it", function()
  local m = np.zeros(400, 300)
  check.refuses("position 120001 of axis 1 is outside its extent of 120000", function()
    local copy = m:copy()
    np.put(copy.T, { 120001 }, 1)
    lgt.fence()
  end)
  local inner = require("array.core").lgt
  if inner.C.lgt_domains(inner.rt) > 1 then return end -- where parts of it are copied
  lgt.fence()
  lgt.stats_reset()
  np.put(m.T, { 2, -1 }, { 7, 8 })
  lgt.fence()
  local bytes = lgt.stats().bytes_moved
  check.that(bytes < 10000, ("%d bytes are moved"):format(bytes))
  check.equal({ m(2, 1), m(400, 300), m:sum()() }, { 7, 8, 15 })
end)

check.case("an array that was written in parts is written again by later tasks", function()
  local x = np.arange(12):reshape(4, 3)
  local r = np.roll(x, 1, 1)
  local sorted = np.sort(r, 2) -- a task of its own
  r["1, :"] = 5
  local again = np.sort(r, 1)
  r["4, :2"] = 7
  check.equal(r:totable(), { { 5, 5, 5 }, { 0, 1, 2 }, { 3, 4, 5 }, { 7, 7, 8 } })
  check.equal(sorted:totable(), { { 9, 10, 11 }, { 0, 1, 2 }, { 3, 4, 5 }, { 6, 7, 8 } })
  check.equal(again:totable(), { { 0, 1, 2 }, { 3, 4, 5 }, { 5, 5, 5 }, { 6, 7, 8 } })
end)

check.case("options of bits say what they may be", function()
  local bytes = np.zeros(3, { dtype = "uint8" })
  check.refuses("bitorder is \"big\" or \"little\", not the string \"huge\"", function()
    np.packbits(bytes, { bitorder = "huge" })
  end)
  check.refuses("count is an integer from -24, to leave out all, up, not the number -25", function()
    np.unpackbits(bytes, { count = -25 })
  end)
  check.refuses("not the number 1.5", function() np.unpackbits(bytes, { count = 1.5 }) end)
end)

check.case("what is computed is a shape, a position, a time", function()
  local x, labels = np.array { 1., 2, 5, 3 }, np.array({ 1, 3, 2 }, "int64")
  check.equal(np.zeros(labels:max() + 1).shape, { 4 })
  check.equal(np.zeros({ labels[1], labels[3] }).shape, { 1, 2 })
  check.equal(np.roll(x, 1 - np.argmax(x)):totable(), { 5, 3, 1, 2 })
  check.that(x(labels[2]) == 5 and x(2LL) == 2 and x[2LL]() == 2)
  check.equal(x[{ { labels[1], labels[2] } }]:totable(), { 1, 2, 5 })
  check.equal(x[{ { 2LL, 3LL } }]:totable(), { 2, 5 })
  check.equal(x:sub(labels[3], 4):totable(), { 2, 5, 3 })
  labels[2] = 4 -- no remembered view answers for another number
  check.equal(x[{ { labels[1], labels[2] } }]:totable(), { 1, 2, 5, 3 })
  check.equal(np.fft.fftfreq(4, x[2] - x[1]):totable(), { 0, 0.25, -0.5, -0.25 })
  check.equal(np.sum(np.ones(2, 3), labels[1]):totable(), { 2, 2, 2 })
  check.equal(np.histogram(x, { bins = 2, range = { x:min(), x:max() } }):totable(), { 2, 2 })
  check.equal(np.pad(x, { labels[1], 0 }):totable(), { 0, 1, 2, 5, 3 })
  check.equal(np.delete(x, { labels[3], 1LL }):totable(), { 5, 3 })
  check.equal(np.quantile(x, { labels[1], 0 }):totable(), { 5, 1 })
  check.equal(np.nan_to_num(np.array { 0 / 0, 1 }, { nan = x[2] }):totable(), { 2, 1 })
  local A = require "sparse".csr_array(np.arange(1, 5):reshape(2, 2))
  check.equal(A:getrow(labels[3]):toarray():totable(), { { 3, 4 } })
  check.that(A(labels[3], 1LL) == 3 and A[{ labels[3], labels[1] }]() == 3)
  check.refuses("axis = 0", function() np.sum(x, labels[1] - 1) end)
  check.refuses("from 0 up, not the number -1", function() np.zeros(labels[1] - 2) end)
  check.refuses("an array of shape (3)", function() np.zeros(labels) end)
  check.refuses("position 1e+300 of axis 1 is outside its extent of 4", function() return x(1e300), 1 end)
  check.refuses("position 1e+300 of axis 1 is outside its extent of 4", function() return x[1e300], 1 end)
end)

check.case("a dtype by its place counts in reductions, too", function()
  check.equal(np.sum(np.ones(2, 2, "int8"), 1, "float32").dtype, "float32")
  check.equal(np.count_nonzero(np.ones(2, 2), { keepdims = np.array(false) }):totable(), 4)
end)

check.case("constants of integration are one, or one for each time", function()
  check.equal(np.polyint(np.array { 1, 2 }, 2, { 3, 4 }):totable(), np.polyint(np.array { 1, 2 }, 2,
    np.array { 3, 4 }):totable())
  check.equal(np.polyint(np.array { 2 }, 2, 1):totable(), { 1, 1, 1 })
  check.refuses("one for each of 3 times, not 2 of them", function() np.polyint(np.array { 1, 2 }, 3, { 1, 2 }) end)
end)

check.case("callable tables are functions, and events with the fields they have; sparse matrices are not", function()
  local solvers = require "solvers"
  local falls = setmetatable({ terminal = true }, { __call = function(_, _, y) return y[1] - 0.5 end })
  local found = solvers.solve_ivp(function(_, y) return -y end, { 0, 1LL }, 1, { events = falls, dense_output = true })
  check.that(found.status == 1)
  check.equal(found.sol(np.array(0.25)).shape, found.sol(0.25).shape)
  local A = require "sparse".identity(2)
  check.refuses("callback is a function, not", function() solvers.cg(A, np.ones(2), { callback = A }) end)
end)

check.case("parameters of distributions without dimensions are looked at as numbers are", function()
  check.refuses("scale = -1 is outside", function() np.random.exponential(np.array(-1)) end)
  check.refuses("p = 0 is outside", function() np.random.geometric(0) end)
end)

check.case("one boolean is no key", function()
  local m = np.array(true)
  check.refuses("picks no elements", function() return np.ones(3)[m], 1 end)
  check.refuses("picks no elements", function() return np.take(np.ones(3), m), 1 end)
  check.refuses("picks no elements", function() np.ones(3, 3)[{ m, m }] = 5 end)
end)

check.case("lists of numbers are refused whole", function()
  local sparse = require "sparse"
  check.refuses("offsets of diagonals are integers, not nil", function() sparse.diags({ { 1 }, { 1 } }, { nil, 0 }) end)
  check.refuses("a block size", function() sparse.identity(4):tobsr({ 2, 2, 5 }) end)
  check.refuses("has a field", function() np.loadtxt(("1 2\n"):gmatch("[^\n]+"), { usecols = { a = 1 } }) end)
  for _, options in ipairs { { usecols = { "id" } }, { usecols = "id" }, { converters = { id = tonumber } } } do
    check.refuses('"id": columns are numbered from 1', function() np.loadtxt({ "1 2" }, options) end)
    check.refuses('"id": columns are numbered from 1', function() np.genfromtxt({ "1 2" }, options) end)
  end
  check.refuses('there is no column "ID"; there are id, x', function()
    np.genfromtxt({ "id x", "1 2" }, { names = true, usecols = { "ID" } })
  end)
  check.refuses("a list of chances", function() np.random.multinomial(3, np.ones(2, 2) / 2) end)
  check.refuses("a number or several", function() np.quantile(np.ones(3), np.ones(2, 2)) end)
end)

check.case("positions of small integers are brought inside of larger arrays", function()
  local long = np.arange(300)
  for _, dtype in ipairs { "int8", "uint8", "int16", "uint16", "uint32", "int32" } do
    local outside = np.array({ 0, 1, 120, 127 }, dtype)
    check.equal(np.take(long, outside, { mode = "clip" }):totable(), { 0, 0, 119, 126 })
    check.equal(np.take(long, outside, { mode = "wrap" }):totable(), { 299, 0, 119, 126 })
    check.equal(np.take(np.arange(6), outside, { mode = "wrap" }):totable(), { 5, 0, 5, 0 })
    check.equal(np.choose(outside, { 10, 20, 30 }, { mode = "wrap" }):totable(), { 30, 10, 30, 10 })
    local b = np.zeros(300)
    np.put(b, outside, 1, "wrap")
    check.equal(np.flatnonzero(b):totable(), { 1, 120, 127, 300 })
    local one = np.ravel_multi_index({ np.array({ 1, 2, 3, 3 }, dtype), outside }, { 3, 300 }, "clip")
    check.equal(one:totable(), { 1, 301, 720, 727 })
    check.equal(np.unravel_index(outside:maximum(1), { 2, 150 })[2]:totable(), { 1, 1, 120, 127 })
  end
end)

check.case("positions in lists, and beyond int64, are brought inside", function()
  check.equal(np.choose({ 5, 0 }, { 10, 20 }, { mode = "clip" }):totable(), { 20, 10 })
  local greatest = np.array({ 18446744073709551615ULL }, "uint64")
  check.equal(np.take(np.arange(6), greatest, { mode = "clip" }):totable(), { 5 })
end)

check.case("arrays are neither axes nor orders", function()
  local m = np.ones(2, 3)
  for name, f in pairs { sum = np.sum, cumsum = np.cumsum, average = np.average, flip = np.flip } do
    check.refuses(name .. ": axis an array of shape (2, 3)", function() return f(m, m), 1 end)
  end
  check.refuses("norm: the order is a number, \"fro\" or \"nuc\", not an array", function() np.linalg.norm(m, m) end)
end)

check.case("an iterator that ends early, positions that are none", function()
  local function first(n)
    local i = 0
    return function()
      i = i + 1
      return i <= n and i or nil
    end
  end
  check.equal(np.fromiter(first(5), { count = 3 }):totable(), { 1, 2, 3 })
  check.refuses("the iterator gave 3 elements, not 10", function() np.fromiter(first(3), { count = 10 }) end)
  check.refuses("count is an integer, not a table", function() np.fromiter(first(3), { count = {} }) end)
  local places = np.unravel_index({ 5, 6 }, { 3, 4 })
  check.equal(places[1].dtype, "int64")
  check.equal({ places[1]:totable(), places[2]:totable() }, { { 2, 2 }, { 1, 2 } })
  check.equal(np.unravel_index(12, { 3, 4 }), { 3, 4 })
  check.refuses("position 13 is not one of 1 to 12", function() np.unravel_index(13, { 3, 4 }) end)
  check.refuses("integers, not float64", function() np.unravel_index(np.array { 5, 6 }, { 3, 4 }) end)
end)

check.case("casting = \"unsafe\" converts operands and results", function()
  local x, whole, other = np.array { 1.5, -2.5, 3.75 }, np.zeros(3, "int32"), np.zeros(3, "int8")
  check.equal(np.multiply(x, 2, { out = whole, casting = "unsafe" }).id, whole.id)
  check.equal(whole:totable(), { 3, -5, 7 })
  np.multiply(x, 2, { out = { whole }, where = x:gt(0), casting = "unsafe" })
  np.modf(x, { out = { other, whole }, casting = "unsafe" })
  check.equal({ other:totable(), whole:totable() }, { { 0, 0, 0 }, { 1, -2, 3 } })
  check.equal(np.add(x, 1, { dtype = "int32", casting = "unsafe" }):totable(), { 2, -1, 4 })
  check.refuses("no cast of the same kind", function() np.add(x, 1, { dtype = "int32" }) end)
  check.refuses("out= is an array for each result, of which there are 2", function()
    np.modf(x, { out = whole, casting = "unsafe" })
  end)
end)

check.case("bincount says what it does not count", function()
  check.equal(np.bincount({ 1, 1, 3 }):totable(), { 2, 0, 1 })
  check.refuses("bincount: 1.5 is no integer", function() np.bincount({ 1, 1.5 }) end)
  local function counted(x, options)
    np.bincount(x:astype("int64"), options)
    lgt.fence()
  end
  local zero = "0 is below 1; for positions that count from 0 give {base = 0}"
  check.refuses(zero, function() counted(np.arange(3)) end)
  check.refuses(zero, function() counted(np.arange(3), { size = 3 }) end)
  check.refuses(zero, function() counted(np.arange(1000), { size = 1000 }) end)
  check.refuses("-1 is below 1", function() counted(np.arange(1000) - 1, { size = 1000 }) end)
  check.refuses("999 is above 998, the last", function() counted(np.arange(1000), { size = 999, base = 0 }) end)
  check.refuses("999 is above 998, the last", function()
    counted(np.arange(1000), { size = 999, base = 0, weights = np.ones(1000) })
  end)
end)

check.case("what has no order, or no bits", function()
  local z = np.arange(3) + 1i
  local says = { max = "max", min = "min", argmax = "argmax", argmin = "argmin", ptp = "max", nanmin = "min" }
  for name, who in pairs(says) do
    check.refuses(who .. ": complex numbers have no order: take z.real, or np.abs(z)", function() np[name](z) end)
    check.refuses("no order", function() np[name](z, 1) end)
  end
  for _, name in ipairs { "bitwise_and", "bitwise_or", "bitwise_xor" } do
    check.refuses(name .. ": integers or booleans were expected, not float64", function() np[name].reduce(z.real) end)
  end
end)

check.case("options that are nil", function() -- what Python's axis=None, rcond=None become
  local x = np.arange(6):reshape(2, 3)
  local with, without = {}, {}
  for i, f in ipairs {
    function(...) return np.argmax(x, ...) end, function(...) return np.argmin(x, ...) end,
    function(...) return np.cumsum(x, ...) end, function(...) return np.cumprod(x, ...) end,
    function(...) return np.rep(x, 2, ...) end, function(...) return np.append(x, x, ...) end,
    function(...) return np.insert(x, 1, 5, ...) end, function(...) return np.delete(x, 1, ...) end,
    function(...) return np.sum(x, ...) end, function(...) return np.median(x, ...) end,
    function(...) return np.linalg.norm(x, ...) end, function(...) return np.linalg.cond(x, ...) end,
    function(...) return np.linalg.matrix_rank(x, ...) end, function(...) return np.histogram(x, ...) end,
    function(...) return np.linalg.lstsq(x, np.ones(2), ...) end, function(...) return np.transpose(x, ...) end,
    function(...) return np.flip(x, ...) end, function(...) return np.trapz(x, ...) end,
    function(...) return np.clip(x, 1, ...) end, function(...) return np.clip(x, 1, 3, ...) end,
    function(...) return np.clip(x, nil, 3, ...) end, function(...) return np.diff(x, ...) end,
    function(...) return np.diff(x, 1, ...) end, function(...) return np.gradient(x, ...) end,
    function(...) return np.gradient(x, 2, ...) end, function(...) return np.round(x, ...) end,
    function(...) return np.trace(x, ...) end, function(...) return np.diagonal(x, ...) end,
    function(...) return np.rot90(x, ...) end, function(...) return np.rot90(x, 1, ...) end,
    function(...) return np.cov(x, ...) end, function(...) return np.corrcoef(x, ...) end,
    function(...) return np.linalg.pinv(x, ...) end, function(...) return np.argwhere(x, ...) end,
    function(...) return np.zeros(3, ...) end, function(...) return np.ones(2, 3, ...) end,
    function(...) return np.eye(3, ...) end, function(...) return np.eye(3, 4, ...) end,
    function(...) return np.arange(3, ...) end, function(...) return np.arange(1, 3, ...) end,
    function(...) return np.linspace(0, 1, ...) end, function(...) return np.fft.fft(x, ...) end,
    function(...) return np.fft.irfft(x, 4, ...) end, function(...) return np.fft.hfft(x, ...) end,
    function(...) return np.fft.fftn(x, ...) end, function(...) return np.fft.ifft2(x, ...) end,
    function(...) return np.fft.rfftn(x, nil, ...) end, function(...) return np.fft.irfft2(x, ...) end,
  } do
    with[i], without[i] = tostring(f({ axis = nil })), tostring(f())
  end
  check.equal(with, without)
  for _, f in ipairs { np.sort, np.argsort, function(y, o) return np.concatenate({ y, y }, o) end } do
    check.refuses("an empty table, as {axis = nil} is, names no axis", function() f(x, { axis = nil }) end)
  end
end)

-- Where each rank brings only the element that is asked for, of a view whose rows are not those of the array.
check.case("single elements of reshaped views", function()
  local x = np.arange(7 * 8 * 3):reshape(7, 8, 3) * 1.0
  for _, shape in ipairs { { 96 }, { 2, 48 }, { 12, 8 }, { 3, 4, 8 }, { 32, 3 }, { 48, 2 }, { 6, 16 } } do
    local view = x["3:6"]:reshape(shape)
    local first, last = {}, {}
    for d = 1, #shape do
      first[d], last[d] = { -1, 1, step = -1 }, { 2, -1 }
    end
    local backwards, rest = view[first], view[last]
    local expected = 47
    for i = 1, 96, 5 do
      local at, linear, low = {}, i - 1, true
      for d = #shape, 1, -1 do
        at[d] = linear % shape[d] + 1
        linear = (linear - at[d] + 1) / shape[d]
        low = low and at[d] > 1
      end
      check.equal(view(unpack(at)), expected + i)
      check.equal(backwards(unpack(at)), 144 - i)
      if low then
        for d = 1, #shape do at[d] = at[d] - 1 end
        check.equal(rest(unpack(at)), expected + i)
      end
    end
  end
end)

-- What a domain has written may be in two pieces of memory, of which a message takes all.
check.case("a column anew, in an array of which others want all", function()
  local x = np.arange(18) + 1.0
  local y = x:reshape(3, 6):copy()
  x:imul(x)
  y[":, 5"] = x["3::-1"]
  check.equal(y:totable(), { { 1, 2, 3, 4, 9, 6 }, { 7, 8, 9, 10, 4, 12 }, { 13, 14, 15, 16, 1, 18 } })
end)

-- What is written to a part of the copy, domains write that may not have the rest; then x is written in place.
check.case("a copy of which some domains keep the former memory", function()
  local x = np.arange(600 * 500):reshape(600, 500):copy()
  local y = x:copy()
  y["400:, :"] = x["200:400, :"]
  x[":, 3"] = x[":, 3"] * 3 + 1000
  check.equal({ y(1, 3), y(200, 3), y(350, 3), y(500, 3) }, { 2, 99502, 174502, 149502 })
  check.equal({ x(1, 3), x(600, 3) }, { 1006, 299502 * 3 + 1000 })
end)

check.case("a copy beside a part of what it is a copy of", function()
  for _, n in ipairs { 12, 600000 } do
    local x = np.fmod(np.arange(n), 9)
    local wanted = np.sum(x)()
    local y = x[5] * x
    local z = np.copy(x)
    z[np.greater(x, 3)] = 2
    check.equal({ np.sum(x)(), np.sum(y)() }, { wanted, 4 * wanted })
  end
end)

-- Whatever order the table has its entries in.
check.case("a list with a field is no array", function()
  for letter = ("a"):byte(), ("z"):byte() do
    for _, value in ipairs { 2, np.array(2) } do
      local list, name = {}, string.char(letter)
      list[name] = 1
      list[1] = value
      local message = ('a list was expected, this table has a field "%s"'):format(name)
      check.refuses(message, function() np.array(list) end)
      for i = 100, 1, -1 do list[i] = i end
      check.refuses(message, function() np.array(list) end)
      list = {}
      for i = 1, 100 do list[i] = i end
      list[name] = 1
      check.refuses(message, function() np.array(list) end)
    end
  end
  check.refuses("numbered from 1", function() np.array { [0] = 1, np.array(2), 3 } end)
end)

-- A task that writes at positions has one axis more, for which six leave no room.
check.case("positions in arrays of six dimensions are written, too", function()
  local function int(...) return np.array({ ... }, { dtype = "int64" }) end
  local function agree(shape, key, small, small_key, value)
    local wide, narrow = np.zeros(shape), np.zeros(small)
    wide[key] = value
    narrow[small_key] = np.reshape(value, narrow[small_key].shape)
    check.equal(np.reshape(wide, small):totable(), narrow:totable())
    wide[key], narrow[small_key] = 7, 7
    check.equal(np.reshape(wide, small):totable(), narrow:totable())
  end
  local numbers = np.arange(48) * 1.0
  agree({ 4, 1, 2, 1, 2, 3 }, { int(3, 1, 3, -1), "..." }, { 4, 2, 2, 3 }, { int(3, 1, 3, -1), "..." },
    np.reshape(numbers, 4, 1, 2, 1, 2, 3))
  agree({ 2, 1, 4, 1, 2, 3 }, { {}, {}, int(3, 1, 3, -1), "..." }, { 2, 4, 2, 3 }, { {}, int(3, 1, 3, -1), "..." },
    np.reshape(numbers, 2, 1, 4, 1, 2, 3))
  agree({ 2, 1, 4, 3, 2, 1 }, { {}, {}, int(3, 1), int(2, 3), "..." }, { 2, 4, 3, 2 }, { {}, int(3, 1), int(2, 3), {} },
    np.reshape(numbers["1:8"], 2, 1, 2, 2, 1))
  agree({ 4, 2, 1, 1, 2 }, { np.reshape(int(3, 1), 2, 1), "..." }, { 4, 2, 2 }, { int(3, 1), "..." },
    np.reshape(numbers["1:8"], 2, 1, 2, 1, 1, 2))
  local x = np.ones(2, 1, 1, 1, 1, 2)
  np.add.at(x, { int(1, 1), "..." }, 3)
  check.equal(np.ravel(x):totable(), { 7, 7, 1, 1 })
  x["2::-1"][{ int(1), "..." }] = 5
  check.equal(np.ravel(x):totable(), { 7, 7, 5, 5 })
  check.refuses("position 3 of axis 1 is outside", function()
    x[{ int(3), "..." }] = 5
    x:totable()
  end)
end)

check.done()
