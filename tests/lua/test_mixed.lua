-- With several domains or ranks: launches that are cut in different ways, as one task.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"

-- A copy shares the memory of what it was made from, in domains that do not write either; others do.
check.case("a copy of an array of which others then write a part", function()
  local reads, x = np.zeros(3), np.arange(3) + 5.0
  lgt.fence()
  reads["..."] = x[3]
  local copy = x:copy()
  x["3:"] = 1
  local before = copy["2:"] + reads[":-2"]
  local both = x["2:"] + before
  check.equal(both:totable(), { 6 + 6 + 7, 1 + 7 + 7 })
  check.equal(copy:totable(), { 5, 6, 7 })
  check.equal(x:totable(), { 5, 6, 1 })
end)

check.case("what fails for want of memory fails alone", function()
  local x, y, huge = np.arange(7) * 1.0, np.ones(5), np.empty(2 ^ 43)
  lgt.fence()
  local before = x + 1
  huge:fill(1)
  local after, sum = y * 2, np.sum(x)
  local bad = huge[7] + 1
  check.equal(before:totable(), { 1, 2, 3, 4, 5, 6, 7 })
  check.equal(after:totable(), { 2, 2, 2, 2, 2 })
  check.equal(sum(), 21)
  check.refuses("out of memory", function() bad:totable() end)
  bad["..."] = 3
  check.equal(bad(), 3)
end)

-- The memory of an array that is filled part by part has room for all of it, once that was seen to be needed.
check.case("an array that is filled part by part is not copied", function()
  local n, x = 12000, np.arange(12000) * 1.0
  local function turn()
    local y = np.pad(x, 4, "wrap")
    x = x + 0.25 * (y["1:-9"] + y["9:"] - 2 * y["5:-5"])
    lgt.fence()
  end
  for _ = 1, 5 do turn() end
  local before = lgt.stats()
  for _ = 1, 20 do turn() end
  local after = lgt.stats()
  check.that(after.bytes_copied - before.bytes_copied < 20 * n, after.bytes_copied - before.bytes_copied)
  check.that(after.plans_made == before.plans_made)
  check.close(np.sum(x):item(), n * (n - 1) / 2, 1e-3)
end)

-- How many groups a turn takes.
local function groups_of(turns, turn)
  turn()
  lgt.fence()
  local before = lgt.stats().fused_groups
  for _ = 1, turns do turn() end
  lgt.fence()
  return (lgt.stats().fused_groups - before) / turns
end

local mixed = arg[1] ~= "apart" -- with --mix=0 each launch that is cut in another way is a task
local fused = groups_of(10, function() return np.ones(30) + 1 + 1 end) < 2

-- What recipes read of an array's tile stays where it is while other elements there are written.
local function by_columns(rows, n)
  local x, y = np.ones(rows, n), np.zeros(rows, n)
  local held = {}
  local function column(a, j) return a[{ {}, j }] end
  local function turn(keep)
    for j = 2, n do
      local half = 0.5 * column(y, j - 1)
      if keep and j % 7 == 0 then held[j] = half + 2 end
      y[{ {}, j }] = column(x, j) + half
      if j % 8 == 0 then lgt.flush() end
    end
    lgt.fence()
  end
  return y, held, turn
end

check.case("columns that are written one by one need no collections", function()
  local _, _, turn = by_columns(4000, 300)
  turn()
  lgt.stats_reset()
  turn()
  local s = lgt.stats()
  check.that(not mixed or not fused or s.collections <= s.windows / 4,
    ("%d windows and %d collections"):format(s.windows, s.collections))
  check.that(not mixed or not fused or s.bytes_copied == 0, s.bytes_copied)
end)

check.case("results that read columns beside which others are written", function()
  local y, held, turn = by_columns(40, 90)
  turn(true)
  y[{ {}, { 80, 90 } }] = -1
  lgt.fence()
  local value = 0
  for j = 2, 79 do
    if held[j] then check.equal(held[j]:totable(), (np.zeros(40) + (0.5 * value + 2)):totable()) end
    value = 1 + 0.5 * value
    check.equal(y(40, j), value)
  end
  check.equal(y(1, 90), -1)
end)

check.case("what fails beside a column does not fail what has read the column", function()
  for _, late in ipairs { false, true } do
    local x, at = np.arange(40 * 6):reshape(40, 6):astype("float64"), np.full({ 40 }, 1000, { dtype = "int64" })
    lgt.fence()
    local held = x[{ {}, 1 }] * 2
    lgt.flush()
    if not late then lgt.fence() end
    x[{ {}, 3 }] = np.take(np.arange(40) + np.sum(np.arange(late and 5000000 or 10)) * 0, at) -- fails
    lgt.flush()
    x[{ {}, 4 }] = x[{ {}, 3 }] + x[{ {}, 1 }]
    lgt.flush()
    check.that(not pcall(function() return x(1, 4) end))
    for i = 1, 40, 13 do check.equal(held(i), 12 * (i - 1)) end
    pcall(lgt.fence)
  end
end)

check.case("what comes from a neighbour beside a column that was read", function()
  local x = np.arange(40 * 6):reshape(40, 6):astype("float64")
  lgt.fence()
  local held = x[{ {}, 1 }] * 2
  lgt.flush()
  x[{ { 2, 40 }, 3 }] = x[{ { 1, 39 }, 2 }]
  lgt.flush()
  local more = x[{ { 1, 39 }, 3 }] + x[{ { 2, 40 }, 1 }]
  x["..."] = 0
  for i = 1, 40, 13 do check.equal(held(i), 12 * (i - 1)) end
  for i = 2, 39, 9 do check.equal(more(i), 6 * (i - 2) + 1 + 6 * i) end
  check.equal(np.sum(x):item(), 0)
end)

-- Iterations that read their neighbours' results: domains compute these, too, instead of asking for them.
local programs = {
  ["a grid in place"] = function(turns)
    local grid = (np.linspace(0, 599, 600) % 13):reshape(30, 20) * 1
    local center = grid["2:-2, 2:-2"]
    for _ = 1, turns do
      local sum = grid[":-3, 2:-2"] + grid["3:, 2:-2"] + 2 * grid["2:-2, 3:"] - grid["2:-2, :-3"]
      center["..."] = 0.25 * sum
    end
    return grid
  end,
  ["two grids in turn"] = function(turns)
    local a, b = (np.linspace(0, 399, 400) % 7):reshape(40, 10) * 1, np.ones(40, 10)
    for _ = 1, turns do
      b["3:-3, :"] = 0.5 * (a[":-5, :"] + a["5:, :"]) - a["3:-3, :"]
      a["3:-3, :"] = 0.5 * (b["2:-4, :"] + b["4:-2, :"])
    end
    return a
  end,
  ["what a call reads and writes"] = function(turns)
    local a, b = np.linspace(0, 39, 40) % 7 * 1, np.linspace(0, 39, 40) % 5 * 1
    local inner = b["3:-3"]
    lgt.flush() -- the first such call begins a group
    for _ = 1, turns do
      np.subtract(inner, a["4:-2"], { out = inner })
      np.multiply(b["4:-2"], 0.4, { out = a["3:-3"] })
    end
    return b
  end,
  ["a staggered grid"] = function(turns)
    local faces = np.linspace(0, 619, 620):reshape(31, 20) % 5
    local cells = faces["2:, :"] % 3
    for _ = 1, turns do
      faces["2:-2, :"] = faces["2:-2, :"] + 0.25 * (cells["2:, :"] - cells[":-2, :"])
      faces["1, :"], faces["-1, :"] = 0, 1
      cells = cells - 0.25 * (faces["2:, :"] - faces[":-2, :"])
    end
    return cells
  end,
  ["red and black points"] = function(turns)
    local u = (np.linspace(0, 839, 840) % 11):reshape(42, 20) * 1
    local function relax(i, j)
      local rows, columns = i .. ":-2:2", j .. ":-2:2"
      local above, below = (i - 1) .. ":-3:2", (i + 1) .. "::2"
      local left, right = (j - 1) .. ":-3:2", (j + 1) .. "::2"
      u[rows .. "," .. columns] = 0.25 * (u[above .. "," .. columns] + u[below .. "," .. columns] +
        u[rows .. "," .. left] + u[rows .. "," .. right])
    end
    for _ = 1, turns do
      relax(2, 2)
      relax(3, 3)
      relax(2, 3)
      relax(3, 2)
    end
    return u
  end,
  -- What lies between the points that a neighbour writes is as it was before the group.
  ["every third point, read between them"] = function(turns)
    local a, b = np.linspace(0, 38, 39) % 5 * 1, np.linspace(0, 38, 39) % 7 * 1
    lgt.fence()
    for _ = 1, turns do
      a["6:36:3"] = 0.1 + 0.25 * b["7:37:3"] + 0.5 * a["4:34:3"]
      b["3:36:3"] = 0.1 + 0.25 * a["4:37:3"] + 0.5 * a["2:35:3"]
    end
    return b
  end,
  ["upwind, by whole points"] = function(turns)
    local x = np.linspace(0, 119, 120)
    for _ = 1, turns do
      local y = np.zeros(120)
      y["4::3"] = x["4::3"] + 0.5 * x["1:-6:3"]
      x = y
    end
    return x
  end,
}

for name, program in pairs(programs) do
  check.case("in margins: " .. name, function()
    local found, groups = {}, {}
    for i, widen in ipairs { 0, 20, 10 ^ 6 } do
      lgt.options { widen = widen }
      program(12)
      lgt.fence()
      local before = lgt.stats().fused_groups
      found[i] = program(12):totable()
      groups[i] = lgt.stats().fused_groups - before
      check.equal(found[i], found[1])
    end
    lgt.options { widen = 20 }
    check.that(not (fused and mixed) or groups[2] < groups[1] - 5, table.concat(groups, ", "))
  end)
end

-- Who writes every second column has the one between them, too: from another call of the group, cut elsewhere.
check.case("a column between those that a later call writes", function()
  local between, columns = (np.arange(20) * 0.25):reshape(20, 1), np.ones(20, 3)
  lgt.options { widen = 10 ^ 6 }
  lgt.fence()
  local grid, x = np.empty(60, 9), np.linspace(0, 19, 20)
  lgt.fence()
  grid["10:29, 5:5"] = between + 0.5
  x["2:"] = grid["10:28, 5"] + x[":-2"]
  grid["4:23, 2:6:2"] = columns + 0.5
  x["2:"] = x[":-2"] + 0.25
  check.equal(x["2:4"]:totable(), { 0.25, 0.75, 2 })
  check.equal(grid["10:29, 5"]:totable(), (between:ravel() + 0.5):totable())
  lgt.options { widen = 20 }
end)

-- ... and who reads them does not get what lies between from the domain that will write it.
check.case("a column between those that are read", function()
  local found = {}
  for i, widen in ipairs { 0, 10 ^ 6 } do
    local a, b = np.zeros(55, 9), np.array((np.arange(495) % 7 * 0.5):reshape(55, 9):totable())
    lgt.options { widen = widen }
    lgt.fence()
    for _ = 1, 3 do
      for _ = 1, 2 do a["4:52, 2:8:2"] = 0.25 * b["7:55, 2:8:2"] + 0.5 * a["5:53, 2:8:2"] end
      b["4:52, 7:7"] = 0.125 + 0.25 * b["6:54, 7:7"]
    end
    a["4:52, 2:8:2"] = 0.25 * b["7:55, 2:8:2"] + 0.5 * a["5:53, 2:8:2"]
    found[i] = np.concatenate({ a, b }):totable()
  end
  check.equal(found[2], found[1])
  lgt.options { widen = 20 }
end)

-- What mirrors the cells at an edge is worked on where the edge is, in one task with what surrounds it.
check.case("edges that mirror what is beside them", function()
  local n = 120
  local function turn(q)
    q["1:2"] = -1 * q["4:3:-1"]
    q["-2:-1"] = -1 * q["-3:-4:-1"]
    return q:copy()
  end
  local x = np.arange(n) * 1.0
  local groups = groups_of(10, function() x = turn(x) end)
  check.that(not (fused and mixed) or groups <= 2, groups)
  local wanted = {}
  for i = 1, n do wanted[i] = i - 1.0 end
  wanted[1], wanted[2], wanted[n - 1], wanted[n] = -3, -2, -(n - 3), -(n - 4)
  check.equal(x:totable(), wanted)
  local grid = np.arange(n * 7):reshape(n, 7) * 1.0
  groups = groups_of(10, function() grid = turn(grid) end)
  check.that(not (fused and mixed) or groups <= 2, groups)
  check.equal(grid["4:3:-1, 5"]:totable(), (-grid["1:2, 5"]):totable())
  check.equal(grid["-3:-4:-1, 5"]:totable(), (-grid["-2:-1, 5"]):totable())
end)

-- All that lies between them is the tile of a domain, which has it in any case.
check.case("edges on both sides of each tile", function()
  local n, m = 40, 30
  local grid = np.arange(n * m):reshape(n, m) * 1.0
  local groups = groups_of(10, function()
    grid[":, 1:2"] = 2 * grid[":, 4:3:-1"]
    grid[":, -2:-1"] = 3 * grid[":, -3:-4:-1"]
    lgt.fence()
  end)
  check.that(not (fused and mixed) or groups <= 1, groups)
  check.equal(grid["5, 1:2"]:totable(), { 246, 244 })
  check.equal(grid["5, -2:-1"]:totable(), { 441, 438 })
end)

-- Products of the edges of x, which are from before the turns, and of what a turn writes between them: not stored, for
-- nobody has the first ones any more when their turns are planned.
local function products(kept)
  local x, y = np.linspace(0, 39, 40), np.linspace(0, 78, 40)
  lgt.flush()
  for turn = 1, 6 do
    x["2:-2"] = (y[":-3"] + y["3:"]) / 2
    local product = x[":-3"] * x["3:"]
    y["2:-2"] = product / 100
    if kept then kept[turn] = product end
  end
  collectgarbage()
  collectgarbage()
  lgt.flush()
end

check.case("what was made in margins can be asked for", function()
  local a, b, kept = {}, {}, {}
  lgt.options { widen = 10 ^ 6 }
  products()
  products(kept)
  for i = 1, 40 do a[i], b[i] = i - 1, 2 * (i - 1) end
  for turn = 1, 6 do
    local product = {}
    for i = 2, 39 do a[i] = (b[i - 1] + b[i + 1]) / 2 end
    for i = 2, 39 do product[i - 1] = a[i - 1] * a[i + 1] end
    for i = 2, 39 do b[i] = product[i - 1] / 100 end
    check.equal(kept[turn]:totable(), product)
  end
  lgt.options { widen = 20 }
  check.that(not fused or lgt.stats().recipes_computed > 0, "nothing was computed again")
end)

-- The last version of an array is written over the one from before its group, unless somebody can still ask for what
-- came of that.
check.case("turns in margins take little memory beside their arrays", function()
  local n = 1200
  local function average(a) return (a["2:-2, :-3"] + a["2:-2, 3:"] + a[":-3, 2:-2"] + a["3:, 2:-2"]) / 4 end
  local function program(widen)
    lgt.options { widen = widen }
    local a = np.arange(n * n):reshape(n, n) % 32 + 0.5
    local b, live = a + 0, nil
    for turn = 1, 2 do -- first tiles get their halos, wide enough for more turns
      lgt.fence()
      collectgarbage()
      collectgarbage()
      lgt.fence()
      lgt.stats_reset()
      live = lgt.stats().bytes_live
      for _ = 1, 3 + turn do
        b["2:-2, 2:-2"] = average(a)
        a["2:-2, 2:-2"] = average(b)
      end
    end
    lgt.fence()
    return a, lgt.stats().bytes_peak / live
  end
  local wanted = program(0)
  local got, most = program(20)
  lgt.options { widen = 20 }
  check.that(np.all(wanted:eq(got)))
  check.that(not fused or most < 1.3, most)
end)

check.case("what is cut along rows shares no memory with what is cut along columns", function()
  local n = 240
  local x, w = (np.arange(n * n) % 97):reshape(n, n) / 97, np.cos(np.arange(n))
  lgt.fence()
  collectgarbage()
  collectgarbage()
  lgt.fence()
  lgt.stats_reset()
  local live = lgt.stats().bytes_live
  local function spread(a, axis) return np.exp(a - a:max { axis = axis, keepdims = true }):sum(axis) end
  local b = spread(x.T + spread(x + w, 2), 1)
  lgt.fence()
  local most = (lgt.stats().bytes_peak - live) / (8 * n * n)
  check.that(lgt.size() > 1 or most < 3, most)
  check.that(b(1) > 0)
end)

-- What is read comes to the tiles of what is written, instead of being worked on by one owner, and then by all.
check.case("rows become columns", function()
  local n = 60
  local x, y = (np.arange(n * n) * 1.0):reshape(n, n) + 0, np.zeros(n, n)
  lgt.options { min_tile = 100 }
  local j = 0
  local count = groups_of(40, function()
    j = j + 1
    y[{ {}, j }] = 2 * x[j] + x[j + 1]
  end)
  lgt.options { min_tile = 1 }
  check.that(not fused or count < 0.5, count)
  check.equal(y(3, 2), 2 * (n + 2) + 2 * n + 2)
  check.equal(np.sum(y):item(), np.sum(2 * x["1:41"] + x["2:42"]):item())
end)

-- Numbers that follow from a sum are computed by each task that needs them; what is left of a sum on the
-- way is added later.
check.case("numbers between sums", function()
  local x, s = np.arange(90) * 1.0, nil
  local matrix = np.ones(90, 90)
  local count = groups_of(20, function()
    local ratio = np.sum(x) / 4005
    local half = ratio * 0.5 + 0.5
    local y = matrix:dot(x * half)
    x, s = x + y - y, np.sum(y * x)
  end)
  check.that(not (fused and mixed) or count < 3.5, count)
  local sum = np.sum(x)
  sum["..."] = 0.25
  local number = np.sqrt(s) * 0
  number["..."] = 3
  number:iadd(sum)
  check.equal({ sum(), number() }, { 0.25, 3.25 })
  check.close(s(), 4005 ^ 2, 1)
  check.close(x(90), 89, 1e-9)
end)

-- Small arrays that all domains need, and that follow from what all have reduced: each makes them for itself, also in
-- place.
check.case("small arrays between sums", function()
  local n, m = 400, 8
  local features = (np.arange(n * m):reshape(n, m) * 7 % 11 - 5) / 8
  local target = np.arange(n) % 3 * 1.0
  local function program(widen)
    lgt.options { widen = widen, min_tile = 50 }
    local weights, steps, last = np.zeros(m), np.ones(m), nil
    local count = groups_of(20, function()
      local gradient = features.T:dot(target - features:dot(weights))
      last = gradient / 256
      weights:iadd(last * steps)
      steps["3:6"] = steps["1:4"] * 0.5 + 0.5
      weights[2] = weights[1] * 0.25
    end)
    local some = features:dot(weights)["100:103"] + weights["3:6"]
    lgt.options { widen = 20, min_tile = 1 }
    return count, { weights:totable(), steps:totable(), last:totable(), some:totable() }
  end
  local apart, wanted = program(0)
  local count, got = program(20)
  check.equal(got, wanted)
  check.that(not (fused and mixed) or (count < 1.5 and apart > 1.9), { count, apart })
end)

-- ... of which others then write a part, or read what was there before.
check.case("small arrays that tiles write, too", function()
  lgt.options { min_tile = 50 }
  local n = 300
  local x, small = np.arange(n):astype("float64"), np.arange(9):astype("float64")
  for turn = 1, 5 do
    local double = small * 2
    local y = x + double[turn]
    small["2:-2"] = double["1:-3"] * 0.25 + small["3:-1"]
    x["1:9"] = small + x["1:9"]
    x = y["1:-1"] + small[3] + x
    small = np.where(small:lt(5), small, x["3:11"]["1:9"] * 0 + 1)
  end
  local got = { x:totable(), small:totable() }
  lgt.options { min_tile = 1, widen = 20 }
  x, small = {}, {}
  for i = 1, n do x[i] = i - 1 end
  for i = 1, 9 do small[i] = i - 1 end
  for turn = 1, 5 do
    local double, old, y = {}, {}, {}
    for i = 1, 9 do double[i], old[i] = small[i] * 2, small[i] end
    for i = 1, n do y[i] = x[i] + double[turn] end
    for i = 2, 8 do small[i] = double[i - 1] * 0.25 + old[i + 1] end
    for i = 1, 9 do x[i] = small[i] + x[i] end
    for i = 1, n do x[i] = y[i] + small[3] + x[i] end
    for i = 1, 9 do small[i] = small[i] < 5 and small[i] or 1 end
  end
  check.equal(got, { x, small })
end)

-- ... of a few elements that others' tiles lie far from: they were looked at first as members of the group before.
check.case("small calls that begin a group among tiles", function()
  local rows, wanted = {}, {}
  for i = 1, 97 do
    rows[i] = {}
    for j = 1, 97 do rows[i][j] = (i * 97 + j) % 89 + 0.5 end
    local best = 1
    for j = 2, 97 do best = rows[i][j] > rows[i][best] and j or best end
    wanted[i] = best / rows[1][1]
  end
  local x = np.array(rows)
  local y = np.argmax(x, { axis = 2 }) / np.abs(x["1, :"]["1:1"])
  check.equal(y:totable(), wanted)

  local a = np.array { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 }
  local before = (a - 0.75)["3:-3"] * 1
  a:isub(a["1::-1"])
  collectgarbage()
  lgt.fence()
  check.equal(before:totable(), { 2.25, 3.25, 4.25, 5.25, 6.25, 7.25, 8.25 })
  check.equal(a:totable(), { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 })

  lgt.options { min_tile = 7 }
  local stacked, row = np.empty(3, 10), np.arange(1, 11, { dtype = "float64" })
  stacked["1, :"], stacked["2, :"] = row, row + 10
  lgt.fence()
  stacked["3, :"] = row
  local turned = np.reshape(np.transpose(stacked), 30)
  lgt.flush()
  lgt.options { min_tile = 1 }
  for i = 1, 10 do check.equal({ turned(3 * i - 2), turned(3 * i - 1), turned(3 * i) }, { i, i + 10, i }) end
end)

-- A row from the other end of an array has memory of its own in the task that reads the tiles, whichever comes first.
check.case("what lies at the other end", function()
  local n, m = 240, 90
  local c = (np.arange(n * m) % 13 / 8):reshape(n, m)
  local wanted = c:totable()
  local function turn()
    c = 0.25 * (np.roll(c, 1, 1) + np.roll(c, -1, 1) - 2 * c) + c
  end
  local count = groups_of(8, turn)
  for _ = 1, 9 do
    local old = wanted
    wanted = {}
    for i = 1, n do
      local row, below, above = {}, old[(i - 2) % n + 1], old[i % n + 1]
      for j = 1, m do row[j] = 0.25 * (below[j] + above[j] - 2 * old[i][j]) + old[i][j] end
      wanted[i] = row
    end
  end
  check.equal(c:totable(), wanted)
  check.that(not (fused and mixed) or lgt.size() > 1 or count < 2.5, count)
end)

local function copied(turns, turn)
  lgt.fence()
  local before = lgt.stats().bytes_copied
  for k = 1, turns do turn(k) end
  lgt.fence()
  return lgt.stats().bytes_copied - before
end

-- A row that a domain reads beside its tile has memory of its own, instead of all between in larger memory.
check.case("rows that lie apart", function()
  local n = 60
  local x = np.arange(n * n):reshape(n, n) % 17 + 1.0
  local wanted = x:copy():totable()
  local count = copied(n, function(k) x = np.minimum(x, x[{ {}, { k, k } }] + x[k]) end)
  for k = 1, n do
    for i = 1, n do
      for j = 1, n do wanted[i][j] = math.min(wanted[i][j], wanted[i][k] + wanted[k][j]) end
    end
  end
  check.that(count < 13 * n * n * 8, count)
  for i = 1, n, 7 do check.equal(x[i]:totable(), wanted[i]) end
end)

-- Arrays, of which the k-th has k times what counts elements.
local function multiples(n, m)
  local x = {}
  for k = 1, 4 do x[k] = np.arange(n * m):reshape(n, m) * k end
  lgt.flush()
  return x
end

-- A row beside a tile comes into its memory although recipes refer to that: they read what is there.
check.case("rows come to what recipes read", function()
  local n, m = 400, 30
  local function turn()
    local x = multiples(n, m)
    for k = 1, 4 do check.equal((x[k]["2:, :"] - x[k][":-2, :"]):sum():item(), k * m * m * (n - 1)) end
    for k = 1, 4 do check.equal((x[k]["3:, :"] - x[k][":-3, :"]):sum():item(), 2 * k * m * m * (n - 2)) end
    collectgarbage()
    collectgarbage()
  end
  copied(4, turn)
  local count = copied(8, turn)
  check.that(lgt.size() > 1 or count < 4 * n * m * 8, count)
end)

-- Two arrays share memory until others write a part of the one.  What comes to that later is not what the other had,
-- which a recipe still reads when its array is no more.
check.case("rows come to a copy, but not to what recipes read of the other array", function()
  local n, m = 400, 30
  for _, gone in ipairs { function(x) x:free() end, function(x) x["..."] = 0 end } do
    for k = 1, 4 do
      local x = np.arange(n * m):reshape(n, m) * k
      lgt.flush()
      local y = x:copy()
      lgt.flush()
      y[{ { n / 2 - 3, n / 2 }, {} }] = -1
      lgt.flush()
      local held = { x["3:, :"] * x[":-3, :"] }
      local sum = held[1]:sum()
      if k < 4 then held[1] = nil end -- it is learned that this need not be stored
      collectgarbage()
      collectgarbage()
      sum = sum:item()
      gone(x)
      lgt.flush()
      local minus = y["3:, :"] - y[":-3, :"]
      check.equal(minus:sum():item(), 2 * k * m * m * (n - 2))
      if held[1] then check.equal(held[1]:sum():item(), sum) end
    end
  end
end)

-- One run tells what room tiles need, on all their sides, of all arrays.
check.case("rows on both sides of tiles, of several arrays", function()
  local n, m = 400, 30
  local function turn()
    local x = multiples(n, m)
    for reach = 1, 3 do
      for k = 1, 4 do
        local apart = x[k][{ { 1 + reach, -1 }, {} }] - x[k][{ { 1, -1 - reach }, {} }]
        check.equal(apart:sum():item(), k * reach * m * m * (n - reach))
      end
      lgt.flush()
    end
    collectgarbage()
    collectgarbage()
  end
  copied(1, turn)
  local count = copied(3, turn)
  local most = mixed and 1 or 2 -- `apart` runs with --jitter, which draws room at random
  check.that(lgt.size() > 1 or count < most * n * m * 8, count)
end)

-- A large tile has room for its first halos at once.
check.case("rows beside large tiles", function()
  local n, m = 2100, 211
  local x, y = np.arange(n * m):reshape(n, m) + 1, np.zeros(n, m)
  y[":, :"] = x * 2
  local count = copied(3, function(k)
    local apart = y[{ { 1 + k, -1 }, {} }] - x[{ { 1, -1 - k }, {} }]
    check.equal(apart:sum():item(), (n - k) * m * ((n - k) * m + 1) / 2 + 2 * k * m * (n - k) * m)
  end)
  check.that(lgt.size() > 1 or not mixed or count < n * m, count)
end)

-- What data names of a large tile's neighbours is learned from one run, although the tile has room.
check.case("values beside large tiles that data names", function()
  local n = 75000
  np.random.seed(11)
  local from = np.concatenate { np.arange(n - 1), np.arange(1, n), np.random.randint(0, n, { size = 2 * n }) }
  local to = np.concatenate { np.arange(1, n), np.arange(n - 1), np.random.randint(0, n, { size = 2 * n }) }
  local lengths, x = np.random.rand(4 * n - 2), np.full({ n }, n * 1.0)
  x[1] = 0
  local function turn()
    local through, least = x[from + 1] + lengths, x:copy()
    np.minimum.at(least, to + 1, through)
    x = least
  end
  local count = copied(15, turn)
  check.that(lgt.size() > 1 or not mixed or count < 150 * n * 8, count)
  check.that(x(1) == 0 and x(2) < 1)
end)

-- Elements that lie apart are read together, each in memory of its own.
check.case("the elements of a diagonal, one by one", function()
  local n = 48
  local x = np.arange(n * n):reshape(n, n) % 13 + 1.0
  local y, trace, wanted = np.ones(n, n), 0, 0
  lgt.fence()
  local before = lgt.stats().fused_groups
  for k = 1, n do trace = trace + np.sqrt(x[{ k, k }]) end
  lgt.fence()
  local one = lgt.stats().fused_groups
  for k = n, 1, -1 do y = y * x[{ k, n + 1 - k }] % 7 end
  lgt.fence()
  local two = lgt.stats().fused_groups
  check.that(not fused or (one - before < n / 8 and two - one < n / 8), (one - before) .. ", " .. (two - one))
  local last = 1
  for k = 1, n do wanted = wanted + math.sqrt(((k - 1) * n + k - 1) % 13 + 1) end
  for k = n, 1, -1 do last = last * (((k - 1) * n + n - k) % 13 + 1) % 7 end
  check.equal(trace(), wanted)
  check.that(np.array_equal(y, np.full({ n, n }, last)))
  x[{ 3, 3 }] = 100
  local both = x[{ 1, n }] + x[{ n, 1 }] * x[{ 3, 3 }]
  x[{ n, 1 }] = both
  check.equal(x(n, 1), both())
end)

-- Memory that grows again and again grows ahead.
check.case("an array that is filled column by column", function()
  local n = 120
  local x, y = np.empty(n, n), np.ones(n)
  local count = copied(n, function(k)
    x[{ {}, k }] = k * y
    lgt.fence()
  end)
  check.that(count < 4 * n * n * 8, count)
  check.equal(np.sum(x):item(), n * n * (n + 1) / 2)
end)

-- The domain that does not write the copy computes the number, in one task with it, and is told of the failure.
check.case("a part of a copy fails, and what it is a copy of does not", function()
  local n = 14
  local x, scalar = np.ones(n, n), np.full({}, 1.0)
  x[{ np.array({ 1000003 }, "int64"), {} }] = 0
  local y = np.full({ n, n }, 7.0)
  lgt.flush()
  local number = 1 + scalar
  local copy = y:copy()
  copy[{ { 11, 12 }, {} }] = x[{ { 5, 6 }, {} }]
  lgt.flush()
  check.equal(y(1, 1) + y(n, n), 14)
  check.equal(number(), 2)
  check.refuses("outside its extent", function() return (copy(11, 1)) end)
end)

-- What a neighbour gets of the former version is copied before the last one is written over that, also where the
-- writer itself gets nothing.
check.case("a version over one that only the neighbour reads", function()
  local n = 252
  local function program(widen)
    lgt.options { widen = widen }
    local a, c, d = np.arange(n) * 1.0, np.arange(n) * 1.0, np.arange(n) * 1.0
    for turn = 1, 6 do
      d, a = a, d
      a["2:-2"]:fill(turn)
      c["2:-2"] = (d[":-3"] * 3 - d["2:-2"] + c[":-3"] * 3) % 256
    end
    lgt.fence()
    return c
  end
  local wanted = program(0)
  for _ = 1, 8 do check.that(np.all(wanted:eq(program(20)))) end
  lgt.options { widen = 20 }
end)

check.done()
