-- Tasks written in Lua: privileges, parameters, reductions, dtypes, fusion with the array library.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"

local lerp = lgt.task {
  name = "lerp",
  args = { "in", "in", "out" },
  params = 1,
  generator = function(_, x, y, t) return x + t * (y - x) end,
}

check.case("a task", function()
  local x, y = np.arange(4), np.full(4, 10)
  local z = np.empty(4)
  lerp(x, y, z, 0.5)
  check.equal(z:totable(), { 5, 5.5, 6, 6.5 })
  lerp(x, y, z, 0)
  check.equal(z:totable(), { 0, 1, 2, 3 })
end)

check.case("dtypes and broadcasting", function()
  local z = np.empty(2, 3, { dtype = "float32" })
  lerp(np.zeros(3, { dtype = "float32" }), np.ones(2, 1, { dtype = "float32" }), z, 0.25)
  check.equal(z:totable(), { { 0.25, 0.25, 0.25 }, { 0.25, 0.25, 0.25 } })
  check.refuses("cannot be written into argument 3", function()
    lerp(np.zeros(3), np.ones(3), np.empty(3, { dtype = "int32" }), 0.5)
  end)
end)

check.case("in place, several results, positions", function()
  local swap = lgt.task { name = "swap", args = { "inout", "inout" }, generator = function(_, x, y) return y, x end }
  local x, y = np.zeros(3), np.ones(3)
  swap(x, y)
  check.equal(x:totable(), { 1, 1, 1 })
  check.equal(y:totable(), { 0, 0, 0 })
  local ramp = lgt.task {
    name = "ramp", args = { "out" }, generator = function(b) return b:position(1) * 10 + b:position(2) end,
  }
  local z = np.empty(2, 2)
  ramp(z)
  check.equal(z:totable(), { { 11, 12 }, { 21, 22 } })
end)

check.case("reductions into what is there", function()
  local moments = lgt.task { name = "moments", args = { "in", "sum", "sum", "max" },
                             generator = function(_, x) return x, x * x, x:abs() end }
  local s, q, m = np.zeros(), np.zeros(), np.zeros()
  moments(np.array { 1, -5, 2 }, s, q, m)
  check.equal({ s(), q(), m() }, { -2, 30, 5 })
  moments(np.array { 4, 0 }, s, q, m)
  moments(np.zeros(0), s, q, m)
  check.equal({ s(), q(), m() }, { 2, 46, 5 })
  local many = np.ones(100000) -- in parts, where there are several workers, domains or ranks
  for _ = 1, 3 do moments(many, s, q, m) end
  check.equal({ s(), q(), m() }, { 300002, 300046, 5 })
  local rows = np.array { 10, 20 } -- a value for each row
  moments(np.arange(6):reshape(2, 3) * 1.0, np.broadcast_to(rows:reshape(2, 1), { 2, 3 }), q, m)
  check.equal(rows:totable(), { 13, 32 })
end)

check.case("reductions that begin anew", function()
  local moments = lgt.task { name = "moments", args = { "in", "fresh sum", "fresh prod", "fresh max" },
                             generator = function(_, x) return x, x, x end }
  local s, p, m = np.full({}, 7), np.full({}, 7), np.full({}, 7)
  for _ = 1, 2 do moments(np.array { 1, -5, 2 }, s, p, m) end
  check.equal({ s(), p(), m() }, { -2, -10, 2 })
  moments(np.zeros(0), s, p, m)
  check.equal({ s(), p(), m() }, { 0, 1, -math.huge })
  for _, privilege in ipairs { "fresh", "fresh in", "freshsum", "sum fresh", "fresh  sum" } do
    check.refuses('or "fresh sum"', function()
      lgt.task { name = "x", args = { privilege }, generator = print }
    end)
  end
end)

check.case("reductions along different dimensions", function()
  local args = { "in", "fresh sum", "fresh sum" }
  local both = lgt.task { name = "both", args = args, generator = function(_, x) return x, x end }
  local rows, columns = np.empty(300, 1), np.empty(1, 200)
  both(np.ones(300, 200), np.broadcast_to(rows, { 300, 200 }), np.broadcast_to(columns, { 300, 200 }))
  check.equal({ rows(1, 1), rows(300, 1), np.sum(rows)() }, { 200, 200, 60000 })
  check.equal({ columns(1, 1), columns(1, 200), np.sum(columns)() }, { 300, 300, 60000 })
end)

check.case("it fuses with the array library", function()
  lgt.options { fusion = true }
  local function round()
    local x = np.ones(1000) * 3
    local z = np.empty(1000)
    lerp(x, x + 1, z, 0.5)
    return (z * 2):sum()
  end
  check.equal(round()(), 7000)
  collectgarbage()
  lgt.fence()
  lgt.stats_reset()
  local total = round()
  lgt.fence()
  local stats = lgt.stats()
  check.equal(total(), 7000)
  check.that(stats.launches >= 6, "launches")
  check.that(stats.fused_groups <= 2, ("%d launches became %d groups"):format(stats.launches, stats.fused_groups))
end)

check.case("as many arrays and numbers as there may be", function()
  local args, given = { "out" }, { np.empty(3) }
  for i = 2, 12 do args[i], given[i] = "in", np.full({ 3 }, 2 ^ i) end
  for i = 1, 6 do given[12 + i] = i end
  local function sum(_, ...)
    local total = 0
    for i, x in ipairs { ... } do total = total + i * x end
    return total
  end
  local most = lgt.task { name = "most", args = args, params = 6, generator = sum }
  local expected = 0
  for i = 2, 12 do expected = expected + (i - 1) * 2 ^ i end
  for i = 1, 6 do expected = expected + (11 + i) * i end
  for _ = 1, 100 do most(unpack(given)) end -- compiled, too
  check.equal(given[1]:totable(), { expected, expected, expected })
  given[18] = "x"
  check.refuses("parameter 6 must be a number", function() most(unpack(given)) end)
  given[12] = 1
  check.refuses("argument 12 must be an array", function() most(unpack(given)) end)
  check.refuses("takes 12 arrays and 6 numbers, not 19 arguments", function() most(unpack(given, 1, 19)) end)
end)

check.case("other parts of an array are nothing new", function()
  local double = lgt.task { name = "double", args = { "in", "out" }, generator = function(_, x) return 2 * x end }
  local x, y = np.arange(3000, { dtype = "float64" }), np.zeros(3000)
  double(x[{ { 1, 2 } }], y[{ { 1, 2 } }])
  local asked, shape = 0, lgt.shape
  function lgt.shape(layout)
    asked = asked + 1
    return shape(layout)
  end
  for i = 3, 2999, 2 do double(x[{ { i, i + 1 } }], y[{ { i, i + 1 } }]) end
  lgt.shape = shape
  check.equal(asked, 0)
  check.that(np.array_equal(y, 2 * x), "all is doubled")
  check.refuses("has extent", function() double(x[{ { 1, 3 } }], y[{ { 1, 2 } }]) end)
end)

check.case("mistakes", function()
  check.refuses("unknown field", function() lgt.task { nam = "x" } end)
  check.refuses("generator must be a function", function() lgt.task { name = "x", args = { "out" } } end)
  check.refuses("argument 1 is \"read\"", function() lgt.task { name = "x", args = { "read" }, generator = print } end)
  check.refuses("takes 3 arrays and 1 number, not 1 argument", function() lerp(np.ones(2)) end)
  check.refuses("argument 2 must be an array", function() lerp(np.ones(2), 3, np.ones(2), 1) end)
  check.refuses("has extent", function() lerp(np.ones(2), np.ones(3), np.ones(3), 1) end)
  check.refuses("must have the whole shape", function() lerp(np.ones(3), np.ones(3), np.ones(1), 1) end)
  check.refuses("a table such as", function() lgt.task() end)
  check.refuses("argument 2 is nil", function()
    lgt.task { name = "x", args = { "in", nil, "out" }, generator = print }
  end)
  check.refuses("no argument is written", function() lgt.task { name = "x", args = { "in" }, generator = print } end)
  for _, params in ipairs { -1, 1.5, 7, "2" } do
    check.refuses("an integer from 0 to 6", function()
      lgt.task { name = "x", args = { "out" }, params = params, generator = print }
    end)
  end
  local gone = np.ones(3)
  gone:free()
  check.refuses("argument 2 was released", function() lerp(np.ones(3), gone, np.ones(3), 1) end)
  for _, dim in ipairs { 0, 7, "x" } do
    local far = lgt.task { name = "far", args = { "out" }, generator = function(b) return b:position(dim) end }
    check.refuses("1 to 6 was expected", function() far(np.ones(2)) end)
  end
  local bad = lgt.task { name = "bad", args = { "in", "out" }, generator = function(_, x) return x, x end }
  check.refuses("returned 2 values, not 1: one for each", function() bad(np.ones(2), np.ones(2)) end)
end)

check.case("arrays that overlap", function()
  local shift = lgt.task { name = "shift", args = { "in", "out" }, generator = function(_, x) return x + 1 end }
  local x = np.arange(5):astype("float64")
  shift(x["1:-2"], x["2:"]) -- reads what was there before
  check.equal(x:totable(), { 0, 1, 2, 3, 4 })
  local both = lgt.task { name = "both", args = { "in", "out", "out" }, generator = function(_, y) return y, y end }
  check.refuses("writes argument 2, which overlaps argument 3", function() both(np.ones(4), x["1:-2"], x["2:"]) end)
  check.refuses("overlaps", function() both(np.ones(5), x, x) end)
  local new = np.empty(5)
  check.refuses("writes argument 2, which overlaps argument 3", function() both(np.ones(5), new, new) end)
  check.refuses("a stretched view", function()
    shift(np.ones(5), np.broadcast_to(np.ones(1), { 5 }))
  end)
  check.equal(x:totable(), { 0, 1, 2, 3, 4 })
end)

-- With several domains each part of an array may have memory of its own, or two of them the same.
check.case("far parts of an array that is written", function()
  local add = lgt.task { name = "add_row", args = { "in", "inout" }, generator = function(_, x, y) return x + y end }
  local sum = lgt.task {
    name = "sum_of_two", args = { "in", "in", "out" }, generator = function(_, x, y) return x + y end,
  }
  local rows = np.ones(10, 20000)
  lgt.fence()
  for _ = 1, 40 do add(rows[10], rows[1]) end
  check.equal(rows(1, 20000), 41)
  check.equal(np.min(rows[1]):item(), 41)
  local a = np.arange(40000) * 1.0
  lgt.fence()
  sum(np.flip(a["1:10000"]), a["30001:40000"], a["1:10000"])
  lgt.fence()
  for i = 1, 20 do
    local _ = np.full(40000, -7.0 * i)
    lgt.fence()
  end
  check.equal(np.max(np.abs(a["30001:40000"] - (np.arange(10000) + 30000.0))):item(), 0)
  check.equal(a(35000), 34999)
  check.equal(a(1), 9999 + 30000)
end)

check.case("new shapes leave nothing behind", function()
  local add = lgt.task { name = "add_two", args = { "in", "in", "out" },
                         generator = function(_, x, y) return x + y end }
  local n = 2500
  local v, m = np.arange(n), np.ones(2, n)
  local function turn(k)
    add(v[{ { 1, k } }], m[{ 1, { 1, k } }], m[{ 2, { 1, k } }])
  end
  check.forgets(turn, n, 300)
  check.equal({ m(2, 1), m(2, n) }, { 1, n })
end)

check.case("what a fused function cannot do", function()
  local x = np.ones(3)
  local function refuse(part, f)
    local fused = np.fuse(f)
    check.refuses(part, function() fused(x) end)
    check.refuses(part, function() fused(x, { out = np.zeros(3) }) end)
  end
  refuse("np.where(c, a, b) stands for `if`", function(e) return e > 0 and e or -e end)
  refuse("np.sin(x)", function(e) return (math.sin(e)) end)
  refuse("np.sin(x)", function(e) return math.sin(e) end)
  refuse("single elements", function(e) return e:sum() end)
  refuse("not an element, as a fused function gets it", function(e) return np.sum(e) end)
  refuse("must not depend on elements", function(e)
    for _ = 1, e do e = e + 1 end
    return e
  end)
  refuse("the function returned nil", function(e) return e.x end)
  local ok, why = pcall(np.fuse(function(e) return error({ e }) end), x)
  check.that(not ok and type(why) == "table")
  check.equal(np.fuse(function(e) return math.sin(e) end)(0), 0)
end)

check.done()
