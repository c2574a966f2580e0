-- a[{i, j}] = number, a[i] = number, a["-1"] = number: at once where nothing waits, as a launch where something does;
-- nobody can tell which it was but by counting launches.  With an argument: on one domain, without devices, where they
-- are at once.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local ffi = require "ffi"
local np = require "array"
local lgt = require "lgt"

local AT_ONCE = arg[1] == "at once"

-- How many launches f makes.
local function launches(f)
  lgt.fence()
  local before = lgt.stats().launches
  f()
  lgt.fence()
  return lgt.stats().launches - before
end

check.case("a loop over elements launches nothing where all is there", function()
  local a = np.ones(10, 10)
  local made = launches(function()
    for i = 2, 10 do
      for j = 2, 10 do a[{ i, j }] = 0.5 * (a(i - 1, j) + a(i, j - 1)) + 1 end
    end
  end)
  check.equal(made, AT_ONCE and 0 or 81)
  local rows = {}
  for i = 1, 10 do
    rows[i] = {}
    for j = 1, 10 do rows[i][j] = (i == 1 or j == 1) and 1 or 0.5 * (rows[i - 1][j] + rows[i][j - 1]) + 1 end
  end
  check.equal(a:totable(), rows)
end)

-- Of a dtype: numbers that fit, and what the array has of them then; numbers that do not.
local NUMBERS = {
  float64 = { { 0.1, -0.0, 1e308, math.huge }, {} },
  float32 = { { 0.5, 16777217, 1e300, -1e-60 }, {}, { 0.5, 16777216, math.huge, -0.0 } },
  int64 = { { 2 ^ 53, -2 ^ 63, 2 ^ 63 - 1024, 0 }, { 2 ^ 63, -2 ^ 63 - 2048, 0.5, 0 / 0, math.huge } },
  int32 = { { 7, -2 ^ 31, 2 ^ 31 - 1, 0 }, { 2 ^ 31, 1.5 } },
  uint8 = { { 0, 255, 7, 1 }, { 256, -1 } },
  complex128 = { { 1, 2.5, -3, 0 }, {} },
}

check.case("numbers of every type, and those that do not fit", function()
  for dtype, of in pairs(NUMBERS) do
    local a = np.zeros(4, { dtype = dtype })
    lgt.fence()
    for k, x in ipairs(of[1]) do a[{ k }] = x end
    local wanted = of[3] or of[1]
    for k = 1, 4 do
      local got = tonumber(dtype == "complex128" and a(k).re or a(k))
      check.equal(got, wanted[k])
      check.equal(1 / got, 1 / wanted[k])
    end
    for _, x in ipairs(of[2]) do
      check.refuses("assignment: ", function() a[{ 2 }] = x end)
      check.equal(tonumber(a(2)), wanted[2])
    end
  end
  local a = np.zeros(2)
  lgt.fence()
  a[{ 2 }] = 0 / 0
  check.that(a(2) ~= a(2))
  check.equal(a(1), 0)
end)

check.case("through views, from the end, without dimensions", function()
  local a = np.arange(24):reshape(4, 6) * 1.0
  local s = np.zeros() * 1.0
  lgt.fence()
  a[{ -1, -1 }] = 100
  a["2:3, ::-2"][{ 1, 1 }] = 101
  a.T[{ 2, 1 }] = 102
  a:reshape(24)[{ 3 }] = 103
  s[{}] = 104
  check.equal({ a(4, 6), a(2, 6), a(1, 2), a(1, 3), a(1, 1), s() }, { 100, 101, 102, 103, 0, 104 })
  check.refuses("", function() a[{ 5, 1 }] = 1 end)
  check.refuses("", function() np.broadcast_to(np.zeros(1), { 3 })[{ 2 }] = 1 end)
  check.equal(np.sum(a)(), 276 - 23 - 11 - 1 - 2 + 100 + 101 + 102 + 103)
end)

check.case("whatever names the element", function()
  local a, m, s = np.zeros(5), np.zeros(2, 3), np.zeros() * 1.0
  local made = launches(function()
    a[1] = 1
    a[-1] = 5
    a["2"] = 2
    a["-2"] = 4
    m["2, -1"] = 6
    m[{ "1", 2 }] = 7
    m[2][1] = 8
    s["..."] = 9
    s[{}] = s() + 1
  end)
  check.equal(made, AT_ONCE and 0 or 9)
  check.equal(a:totable(), { 1, 2, 0, 4, 5 })
  check.equal(m:totable(), { { 0, 7, 0 }, { 8, 0, 6 } })
  check.equal(s(), 10)
  for _, key in ipairs { 6, 0, 1.5, "6", "0" } do check.refuses("index", function() a[key] = 1 end) end
  local whole, wide = np.zeros(3, { dtype = "int64" }), np.broadcast_to(np.zeros(1), { 3 })
  local picked = a[np.array({ 1, 2 }, { dtype = "int64" })]
  lgt.fence()
  for _, key in ipairs { 2, "2" } do
    check.refuses("fraction", function() whole[key] = 0.5 end)
    check.refuses("copy", function() picked[key] = 1 end)
    check.refuses("broadcasting", function() wide[key] = 1 end)
  end
  check.equal(whole:totable(), { 0, 0, 0 })
end)

check.case("an element that is named by itself waits for what is in flight", function()
  local a = np.arange(300000) * 1.0
  local b = a:copy()
  for turn = 1, 3 do
    a:iadd(1)
    a[2] = -turn
    a["-1"] = turn
    a:imul(2)
    check.equal(a(2), -2 * turn)
    check.equal(a(300000), 2 * turn)
  end
  check.equal(b(2), 1)
end)

check.case("a copy that still shares memory is left as it is", function()
  for n = 0, 1 do
    local a = np.arange(5) * 1.0
    lgt.fence()
    local b = a:copy()
    lgt.fence()
    local written, other = n == 0 and a or b, n == 0 and b or a
    written[{ 3 }] = 100
    check.equal(written:totable(), { 0, 1, 100, 3, 4 })
    check.equal(other:totable(), { 0, 1, 2, 3, 4 })
  end
end)

-- x + 1, not stored: its plan counts on that nobody asks for it.
local function not_stored(x)
  local function turn()
    local t = x + 1
    local sum = np.sum(t)
    return t, sum
  end
  for _ = 1, 2 do
    local sum = select(2, turn())
    collectgarbage()
    collectgarbage()
    check.that(sum() > 0)
  end
  local t = turn()
  lgt.fence()
  return t
end

check.case("what was not stored is computed from what was there", function()
  local a = np.arange(1000) * 1.0
  local t = not_stored(a)
  a[{ 3 }] = 700
  check.equal({ t(3), t(4), a(3) }, { 3, 4, 700 })
end)

check.case("what was not stored is, and then gets an element", function()
  local t = not_stored(np.arange(1000) * 1.0)
  t[{ 3 }] = 700
  check.equal({ t(2), t(3), t(4) }, { 2, 700, 4 })
end)

check.case("what is in flight, or waits, comes first", function()
  local a = np.arange(300000) * 1.0
  for turn = 1, 5 do
    a:iadd(1)
    a[{ 2 }] = -turn
    a:imul(2)
    if turn % 2 == 0 then lgt.flush() end
    a[{ 1 }] = turn
    check.equal(a(2), -2 * turn)
    check.equal(a(1), turn)
  end
end)

check.case("what has failed stays failed", function()
  local a, where = np.arange(12) * 0.5, np.arange(12) + 1
  where[-1] = 13
  local bad = np.take(a, where)
  pcall(lgt.fence)
  bad[{ 3 }] = 5
  check.that(not pcall(function() return bad(3) end))
  bad["..."] = 1
  bad[{ 3 }] = 5
  check.equal(bad:totable(), { 1, 1, 5, 1, 1, 1, 1, 1, 1, 1, 1, 1 })
end)

check.case("memory of the program, and of its host", function()
  local buffer = ffi.new("double[4]", 1, 2, 3, 4)
  local a = np.frombuffer(buffer)
  a[{ 2 }] = 20
  check.equal(np.sum(a)(), 28)
  a[{ 3 }] = 30
  lgt.fence()
  check.equal({ buffer[1], buffer[2] }, { 20, 30 })
  a:detach()
  check.refuses("released", function() a[{ 1 }] = 1 end)
  local kept = np.zeros(3)
  kept[{ 2 }] = 5 -- nobody has written it before
  kept:host("rw", function(x) x[0] = x[1] + 1 end)
  kept[{ 3 }] = 9
  check.equal(kept:totable(), { 6, 5, 9 })
end)

check.case("memory that nobody has written", function()
  for form = 1, 3 do
    local a = np.empty(5)
    check.equal(np.sum(a * 0)(), 0)
    a[{ 2 }] = 3
    if form == 2 then a["4:5"] = 7 end
    local c = form == 3 and np.empty(5) or a * 2
    if form == 3 then c["..."] = a * 2 end
    check.equal({ c(2), form == 2 and c(5) or 14 }, { 6, 14 })
  end
end)

check.case("a named trace has the same launches each time", function()
  local a, b = np.zeros(4), nil
  local function turn(k)
    a[{ 2 }] = k
    b = a + 1
    a[{ 3 }] = k + 1
    return np.sum(a + b)
  end
  lgt.stats_reset()
  for k = 1, 20 do
    local sum = lgt.trace("elements", turn, k)
    if k % 3 == 0 then lgt.fence() end
    check.equal(sum(), k + (k + 1) + 4 + k + (k == 1 and 0 or k))
  end
  check.equal(lgt.stats().traces_aborted, 0)
end)

check.case("views of elements that were written do not pile up", function()
  local a = np.zeros(300, 300)
  lgt.fence()
  local most = 0
  for i = 1, 300 do
    for j = 1, 300 do a[{ i, j }] = i * j end
    most = math.max(most, lgt.stats().layouts)
  end
  if AT_ONCE then check.that(most < 70000, most .. " layouts at once") end
  check.equal(np.sum(a)(), (300 * 301 / 2) ^ 2)
end)

check.done()
