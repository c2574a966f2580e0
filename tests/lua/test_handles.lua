-- Handles and the collector: what is dead goes away, what is alive stays, whenever collections happen.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"

local function live()
  collectgarbage()
  collectgarbage()
  lgt.fence()
  return lgt.stats().live_stores
end

-- First of all: once there have been many ids, a sweep goes through all of them anyway.
check.case("what dies while memory is given back is found by the next sweep", function()
  local ffi = require "ffi"
  collectgarbage()
  lgt.fence()
  local memory, released = ffi.new("double[2]"), 0
  local late
  local layout = lgt.dense(lgt.layouts[lgt.layout(np.zeros(1))].dtype, { 1 })
  local count = ffi.cast("void (*)(void *)", function() released = released + 1 end)
  local collect = ffi.cast("void (*)(void *)", function()
    late = nil
    collectgarbage()
  end)
  local function make()
    local others = { lgt.wrap(lgt.attach(layout, memory, collect, nil)) }
    for i = 2, 400 do others[i] = np.zeros(1) end
    late = lgt.wrap(lgt.attach(layout, memory + 1, count, nil))
    check.that(late.id > others[1].id and late.id > 256, ("ids %d and %d"):format(others[1].id, late.id))
  end
  make()
  for _ = 1, 3 do
    collectgarbage()
    lgt.fence()
  end
  check.equal(released, 1)
  collect:free()
  count:free()
end)

-- Ids are used again, the last one first: the greatest says how many arrays were there at once.  Early, too, for a heap
-- in which there have been many takes longer to collect.
check.case("dead results are found while their records are in the caches", function()
  local a, b, most = np.eye(4), np.ones(4, 4), 0
  for _ = 1, 20000 do
    b = a:dot(b)
    most = math.max(most, b.id)
  end
  check.equal(b(1, 1), 1)
  check.that(most < 5000, most .. " arrays were there at once")
end)

check.case("what a function has used goes when it has returned", function()
  local before = live()
  local function solve(n) -- traces of inner functions hold small objects of FFI that these use
    local u = np.zeros(n)
    local function step() for _ = 1, 300 do u:iadd(1) end end
    for _ = 1, 3 do step() end
    check.equal(u(1), 900)
  end
  -- A trace that calls `step` keeps it, and so `u`.  Whether there is one depends on which exits of others are taken
  -- how often, so on how long flushes take.
  jit.off(solve)
  for k = 1, 3 do
    solve(100 + k)
    check.equal(live(), before)
  end
end)

check.case("dead arrays are released", function()
  local before = live()
  do
    local x = np.ones(100)
    for _ = 1, 20000 do x = x * 0.5 + 1 end
    check.close(x(1), 2, 1e-12)
  end
  check.that(live() <= before + 4, "stores were left over")
end)

check.case("rules for numbers do not hold the array that they were made for", function()
  local function use()
    local first, second = np.full({ 3, 7 }, 5, { dtype = "int16" }), np.full({ 3, 7 }, 6, { dtype = "int16" })
    check.equal((first + 1)(1, 1), 6)
    check.equal((1 - first)(1, 1), -4)
    first:iadd(1)
    first:free()
    check.equal((second + 0.5)(1, 1), 6.5)
    check.equal((0.5 - second)(1, 1), -5.5)
    local third = np.full({ 4, 7 }, 5, { dtype = "uint16" })
    return third * 2
  end
  local before = live()
  use()
  check.equal(live(), before)
end)

-- A trace keeps the functions that it calls, and so what they know.  What gets compiled depends on addresses: here the
-- functions that write kinds are kept in any case.
check.case("kinds do not hold the arrays that they were made for", function()
  local kept, kind = {}, lgt.kind
  function lgt.kind(name, build)
    kept[#kept + 1] = build
    return kind(name, build)
  end
  local twice = lgt.task { name = "twice", args = { "in", "out" }, generator = function(_, x) return x * 2 end }
  local uses = {
    function(x) return x + x, x * 3, -x, np.where(x:gt(1), x, x + x) end,
    function(x) return np.max(x * x, 2), np.sum(x * x), np.prod(x, 1), np.argmax(x * x, 1), np.var(x * x, 1) end,
    function(x) return np.vdot(x * x, x + x), np.matmul(x, x * x), np.tril(x * x), np.norm(x * x), np.all(x * x) end,
    function(x) twice(x * x, np.empty_like(x)) end,
    function(x) np.empty_like(x)["..."] = x * x end,
    function(x) return np.cumsum(x * x, 1), np.sort(x * x), np.any(x * x, 1), np.astype(x * x, "int8") end,
  }
  local names = {}
  for i, use in ipairs(uses) do
    for _, dtype in ipairs { "int16", "float32" } do
      local before = live()
      use(np.full({ 7, 7 }, 2, { dtype = dtype }))
      if live() ~= before then names[#names + 1] = ("%d of %s"):format(i, dtype) end
    end
  end
  lgt.kind = kind
  check.that(#kept > 2 * #uses, "kinds are made elsewhere now")
  check.equal(table.concat(names, ", "), "")
end)

check.case("views keep their root", function()
  local view = (np.arange(1000) + 1)["10:20"]
  for _ = 1, 3 do collectgarbage() end
  lgt.fence()
  local other = np.zeros(1000) -- would take the memory
  lgt.fence()
  check.equal(view(1), 10)
  check.equal(other(1), 0)
end)

check.case("temporaries that are read late", function()
  local kept = {}
  local x = np.ones(50)
  for i = 1, 200 do
    local t = x * i
    kept[i] = t
    x = t / i
    if i % 17 == 0 then collectgarbage() end
  end
  for i = 1, 200 do check.equal(kept[i](7), i) end
end)

check.case("an in-place update after its old value was used", function()
  local x = np.zeros(50)
  local sums = {}
  for i = 1, 100 do
    sums[i] = x + 0.5
    x:iadd(1)
  end
  for i = 1, 100 do check.equal(sums[i](3), i - 0.5) end
end)

check.case("collections at any moment", function()
  local state = 1
  local function random(n)
    state = state * 16807 % 2147483647
    return state % n + 1
  end
  local arrays, wanted = {}, {}
  for i = 1, 8 do
    arrays[i] = np.full(10, i)
    wanted[i] = i
  end
  for _ = 1, 3000 do
    local i, j, k = random(8), random(8), random(8)
    local what = random(5)
    if what == 1 then
      arrays[k], wanted[k] = arrays[i] - arrays[j], wanted[i] - wanted[j]
    elseif what == 2 then
      arrays[k], wanted[k] = arrays[i] * 0.5 + 1, wanted[i] * 0.5 + 1
    elseif what == 3 then
      if rawequal(arrays[i], arrays[j]) then arrays[i] = arrays[i]:copy() end
      local fresh = arrays[i] + 0
      fresh:iadd(arrays[j])
      arrays[k], wanted[k] = fresh, wanted[i] + wanted[j]
      if math.abs(wanted[k]) > 1e6 then arrays[k], wanted[k] = np.full(10, 1), 1 end
    elseif what == 4 then
      if random(10) == 1 then collectgarbage() end
      if random(10) == 1 then lgt.flush() end
    else
      collectgarbage("step", random(20))
    end
  end
  for i = 1, 8 do check.equal(arrays[i](5), wanted[i]) end
end)

check.case("explicit release", function()
  local before = live()
  local x = np.ones(1000)
  for _ = 1, 1000 do
    local y = x + 1
    y:free()
  end
  lgt.fence()
  check.that(lgt.stats().live_stores <= before + 8, "free() left stores over")
end)

check.case("a refused assignment through a view keeps nothing", function()
  local before = live()
  for _ = 1, 100 do
    local x = np.ones(1000)
    check.that(not pcall(function() x["1:3"] = np.ones(7) end), "7 elements were put into 3")
  end
  check.that(live() <= before + 4, "stores were left over")
end)

check.case("a released array is refused in compiled loops too", function()
  local x, accepted = np.ones(100), 0
  for _ = 1, 2000 do
    local y = x + 1
    y:free()
    if pcall(np.negative, y) then accepted = accepted + 1 end
  end
  check.equal(accepted, 0)
end)

check.case("many arrays at once", function()
  local arrays = {}
  for i = 1, 20000 do arrays[i] = np.full(2, i) end
  for i = 1, 20000, 997 do check.equal(arrays[i](2), i) end
end)

-- Views of ever new sizes: numbers of layouts come back, and what remembers layouts by number forgets them in time.
check.case("layouts that nobody has are given back", function()
  local x, M = np.arange(1000):astype("float64"), np.arange(12):reshape(3, 4)
  local twice = lgt.task { name = "twice", args = { "in", "out" }, generator = function(_, v) return 2 * v end }
  local result = np.zeros(3)
  local held, texts, sum, expected = {}, 0, 0, 0
  for i = 1, 900 do
    for j = i, math.min(i + 99, 1000) do
      local view = x[{ { i, j } }]
      if (i * j) % 997 == 0 then held[#held + 1] = { view, j - i + 1, i - 1 } end
      if (i + j) % 64 == 0 then sum, expected = sum + view:sum()(), expected + (i + j - 2) * (j - i + 1) / 2 end
    end
    if x["::2"].size ~= 500 or M.T(4, 3) ~= 11 or x[{ { 9, 1, step = -2 }, "*" }](1, 1) ~= 8 then texts = texts + 1 end
    twice(x[{ { i, i + 2 } }], result)
    if result(3) ~= 2 * (i + 1) then texts = texts + 1 end
  end
  check.equal(sum, expected)
  check.equal(texts, 0)
  for _, h in ipairs(held) do
    check.equal(h[1].size, h[2])
    check.equal(h[1](1), h[3])
  end
  local divided = lgt.C.lgt_domains(lgt.rt) > 1 -- then histories speak of layouts
  check.that(divided or lgt.stats().layouts < 70000, lgt.stats().layouts .. " layouts")
end)

-- Nothing is left out where launches are not fused, or where temporaries are stored: who is dead does not matter.
check.case("a plan that stores all needs no collection", function()
  for _, off in ipairs { "fusion", "temporaries" } do
    lgt.options { [off] = 0 }
    lgt.stats_reset()
    check.equal((np.ones(11) * 2 + 1):sum():item(), 33)
    local s = lgt.stats()
    lgt.options { [off] = 1 }
    check.that(s.plans > 0 and s.collections == 0, ("%s: %d plans, %d collections"):format(off, s.plans, s.collections))
  end
end)

check.case("a large heap is not collected for what is launched once", function()
  local heap = {}
  for i = 1, 3e5 do heap[i] = { i } end
  local function once(n) -- each n another form
    local x = np.ones(20)
    for _ = 1, n do x = x + n end
    check.equal(x:sum()(), 20 * (1 + n * n))
  end
  lgt.stats_reset()
  for n = 1, 40 do once(n) end
  local s = lgt.stats()
  check.that(s.collections <= s.windows / 2, ("%d windows and %d collections"):format(s.windows, s.collections))
  -- What comes again is planned anew once there is time to collect, and then no more.  Where all is stored nobody
  -- collects, and ranks may not ask what time it is.
  local begin, renewed = os.clock(), s.collections == 0 or lgt.size() > 1
  while not renewed and os.clock() - begin < 60 do
    lgt.stats_reset()
    once(41)
    renewed = lgt.stats().collections > 0
  end
  check.that(renewed, "the plan was not made again")
  for _ = 1, 2 do once(41) end
  lgt.stats_reset()
  for _ = 1, 10 do once(41) end
  check.that(lgt.size() > 1 or lgt.stats().plans_made == 0, "plans were made again and again")
  check.equal(#heap, 3e5)
end)

-- A collection is asked for once a window, and windows grow also where tiles, not the program, end what is fused.  The
-- last case, as it lets them grow.
check.case("a stencil in place collects once a window", function()
  lgt.options { window = 256 }
  local grid = np.ones(1024, 1024)
  local center, north, south = grid["2:-2, 2:-2"], grid[":-3, 2:-2"], grid["3:, 2:-2"]
  local function turn(n)
    for _ = 1, n do center["..."] = 0.25 * (center + center + north + south) end
    lgt.fence()
  end
  turn(100)
  turn(100)
  lgt.stats_reset()
  turn(100)
  local s = lgt.stats()
  local most = s.tasks < s.launches and 5 or 10 -- without fusion windows stay as they are
  check.that(s.windows <= most and s.collections <= s.windows + 1,
    ("%d launches took %d windows and %d collections"):format(s.launches, s.windows, s.collections))
end)

-- The table of handles has an end.  Views launch nothing, so nobody flushes, and sweeps, meanwhile.
local MOST = 2 ^ 22

check.case("more views than there can be handles, which nobody holds", function()
  local x, seen = np.arange(10), 0
  for i = 1, MOST + 10000 do
    local view = x[i % 10 + 1]
    if view.ndim == 0 then seen = seen + 1 end
  end
  check.equal(seen, MOST + 10000)
end)

check.case("at the limit of handles an error says so, and a session works on", function()
  local x, views, n = np.arange(10), {}, 0
  check.refuses(MOST .. " arrays and views are alive", function()
    for i = 1, MOST + 1 do views[i], n = x[3], i end
  end)
  check.that(n > MOST - 2000, ("only %d of %d were possible"):format(n, MOST))
  check.equal(views[n](), 2)
  check.refuses("as many as there can be", function() return x + 1 end)
  x:iadd(1) -- needs none
  check.equal(views[7](), 3)
  for i = 1, 500 do views[i] = nil end
  check.equal((x + 1)(3), 4)
  for i = 1, n do views[i] = nil end
  check.equal(np.sum(x * 2)(), 110)
end)

-- What is small is cheaper to store than to collect for, however many rounds of planning it takes to find out.
-- The last case, for it chooses options under which much is fused, whatever the others ran with.
check.case("small results need no collection", function()
  lgt.options { fusion = true, min_tile = 65536 }
  local y, h = np.array { 1, 1, 1.5 }, 0.01
  local function slope(v)
    local a, b, c = v[1], v[2], v[3]
    return np.stack { 10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c }
  end
  local function turn(n)
    for _ = 1, n do
      local k1 = slope(y)
      local k2 = slope(y + h / 2 * k1)
      local k3 = slope(y + h / 2 * k2)
      local k4 = slope(y + h * k3)
      y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    end
    lgt.fence()
  end
  for _ = 1, 4 do turn(50) end
  lgt.stats_reset()
  turn(50)
  local s = lgt.stats()
  check.that(s.tasks < s.launches / 20, ("%d launches are %d tasks: too little is fused"):format(s.launches, s.tasks))
  check.that(s.collections <= s.windows / 2, ("%d windows and %d collections"):format(s.windows, s.collections))
end)

check.done()
