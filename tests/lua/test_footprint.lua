-- How much memory programs take beside their arrays: a few arrays more, however many turns their loops have.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np, lgt = require "array", require "lgt"

local N = 1000 -- arrays of 8 MB: what is smaller than a few MB may take more turns at once
local GRID = 8 * N * N

-- The most that arrays took while f ran, in grids of N x N.
local function grids(f)
  lgt.fence()
  collectgarbage()
  collectgarbage()
  lgt.fence()
  lgt.stats_reset()
  f()
  lgt.fence()
  return lgt.stats().bytes_peak / GRID
end

local function neighbours(a)
  return a["2:-2, :-3"] + a["2:-2, 3:"] + a[":-3, 2:-2"] + a["3:, 2:-2"]
end

check.case("two grids that are updated in place take two more at a time", function()
  local u, v = np.ones(N, N), np.zeros(N, N)
  v["400:600, 400:600"] = 0.25
  local inner, other = u["2:-2, 2:-2"], v["2:-2, 2:-2"]
  local most = grids(function()
    for _ = 1, 30 do
      local du, dv = neighbours(u) - 4 * inner, neighbours(v) - 4 * other
      local reaction = inner * other * other
      inner["..."] = inner + (0.16 * du - reaction + 0.035 * (1 - inner))
      other["..."] = other + (0.08 * dv + reaction - 0.1 * other)
    end
  end)
  check.that(most <= 8, "it took " .. most)
end)

check.case("a loop that makes an array anew takes no more than in its first turns", function()
  local p, q = np.zeros(N, N), np.zeros(N, N)
  q[{500, 500}] = 1
  local most = grids(function()
    for _ = 1, 40 do
      local r = np.zeros(N, N)
      r["2:-2, 2:-2"] = 2 * q["2:-2, 2:-2"] - p["2:-2, 2:-2"] + 0.25 * (neighbours(q) - 4 * q["2:-2, 2:-2"])
      r["1, :"] = q["2, :"]
      r[":, -1"] = q[":, -2"]
      p, q = q, r
    end
  end)
  check.that(most <= 10.5, "it took " .. most)
end)

check.case("grids that are read twice, and no longer, take turns in memory", function()
  local weight, x = np.sin(np.arange(N)), np.cos(np.arange(N))
  local most = grids(function()
    for _ = 1, 12 do
      local sum = x:reshape(N, 1) + weight
      local largest = sum:max { axis = 2, keepdims = true }
      x = np.log(np.exp(sum - largest):sum(2)) + largest:reshape(N)
    end
    lgt.fence()
  end)
  check.that(most * lgt.size() <= 8, "it took " .. most)
end)

-- The variables that the last of some turns of a loop leaves behind.  `each`: after each statement.
local function relax(grid, in_place, each)
  local a, b, c, d, e
  for turn = 1, 9 do
    local inner, north, south = grid, grid, grid
    if in_place then inner, north, south = grid["2:-2, :"], grid[":-3, :"], grid["3:, :"] end
    a = each(0.25 * north + inner)
    b = each(0.25 * south - inner)
    c = each(np.abs(a - b))
    d = each(a * b + 1)
    e = each(np.sqrt(c) / d)
    if in_place then inner["..."] = 0.5 * inner + 0.1 * e
    else grid = 0.5 * inner + 0.1 * e end
    each(grid)
    if turn % 3 == 0 then lgt.flush() end -- the variables of this turn are held
  end
  return { a, b, c, d, e }
end

for name, in_place in pairs { ["in place"] = true, anew = false } do
  check.case("variables that each turn sets anew take no memory of their own: grids " .. name, function()
    local function grid() return (np.arange(N * N, { dtype = "float64" }) % 97):reshape(N, N) / 97 end
    local mine, held = { grid() }
    local most = grids(function()
      held = relax(table.remove(mine), in_place, function(x) return x end)
      lgt.fence()
    end)
    check.that(most <= 9.5, "it took " .. most)
    local stored = relax(grid(), in_place, function(x) lgt.fence() return x end)
    for k, x in ipairs(held) do check.that(np.array_equal(x, stored[k]), "variable " .. k .. " differs") end
  end)
end

check.case("one variable of each turn is held: what it was made of is not, but for a few", function()
  local TURNS, held = 12, {}
  local function turn(k)
    local p, q = np.full({ N, N }, k + 0.5), np.full({ N, N }, k + 0.25)
    lgt.fence()
    local a, b = 2 * p + q, p - q
    local c = a * b
    local d = a + c
    return { a, b, c, d, b / d, np.sqrt(b + c + d) }
  end
  collectgarbage()
  collectgarbage()
  lgt.fence()
  local before = lgt.stats().bytes_live
  for k = 1, TURNS do
    local all = turn(k)
    lgt.fence()
    held[k] = table.remove(all, 1)
    for v = 1, #all do all[v] = nil end
    collectgarbage()
    collectgarbage()
    lgt.fence()
  end
  local more = (lgt.stats().bytes_live - before) / GRID
  check.that(more <= TURNS + 7, "grids: " .. more)
  for k = 1, TURNS do check.equal(np.max(held[k]):item(), 3 * k + 1.25) end
end)

check.case("variables of a few rows keep no grids, though those of many rows may", function()
  local rows, held = 400, {}
  local grid = np.ones(rows, N)
  local function turn(k, first, last)
    local part, other = grid[{ { first, last }, {} }], np.full({ rows, N }, k)[{ { first, last }, {} }]
    lgt.fence()
    local a, b = 2 * part + other, part - other
    local c = a * b
    local d = a + c
    local e = np.sqrt(np.abs(b + c + d))
    part["..."] = 0.5 * part + 1 / (1 + e)
    return { a, b, c, d, e }
  end
  local before
  for k = 1, 12 do
    held[k] = k <= 2 and turn(k, 3, rows - 3) or turn(k, k, k + 10)
    lgt.fence()
    if k <= 2 then held[k] = nil end
    collectgarbage()
    collectgarbage()
    lgt.fence()
    before = before or lgt.stats().bytes_live
  end
  local more = (lgt.stats().bytes_live - before) / (8 * rows * N)
  check.that(more <= 3, "grids: " .. more)
  for k = 3, 12 do check.that(np.array_equal(held[k][3], held[k][1] * held[k][2]), "turn " .. k) end
end)

check.case("what is held of a loop is right, and is all that is held", function()
  local x, held = np.arange(N * N):reshape(N, N):astype("float64"), {}
  local most = grids(function()
    for turn = 1, 24 do
      x = 0.25 * (np.roll(x, 1, 1) + np.roll(x, -1, 1)) + 0.5 * x
      if turn % 8 == 0 then held[#held + 1] = x end
    end
  end)
  check.that(most <= 14, "it took " .. most)
  for k, y in ipairs(held) do
    local z = np.arange(N * N):reshape(N, N):astype("float64")
    for _ = 1, 8 * k do z = 0.25 * (np.roll(z, 1, 1) + np.roll(z, -1, 1)) + 0.5 * z end
    check.that(np.array_equal(y, z), "result " .. k .. " differs")
  end
end)

-- Both ways: the collector runs, or whoever runs the script has stopped it.
local function with_and_without_collector(f)
  f()
  collectgarbage("stop")
  local good, message = pcall(f)
  collectgarbage("restart")
  check.that(good, message)
end

check.case("a loop that adds to what it has takes a few arrays", function()
  with_and_without_collector(function()
    local x = np.zeros(N, N)
    local anew = grids(function() for _ = 1, 100 do x = x + 1 end end)
    local placed = grids(function() for _ = 1, 100 do x:iadd(1) end end)
    check.that(anew <= 5 and placed <= 4, ("it took %g, and %g in place"):format(anew, placed))
    check.that(np.min(x):item() == 200 and np.max(x):item() == 200)
  end)
end)

check.case("what closures hold is right, and is all that is held", function()
  with_and_without_collector(function()
    local x, last = np.ones(N, N), {}
    local most = grids(function()
      for turn = 1, 60 do
        local double = x * 2
        local shifted = double + turn
        last[turn % 3 + 1] = function() return shifted - double, double end
        x = x + 1
      end
    end)
    check.that(most <= 20, "it took " .. most)
    for turn = 58, 60 do
      local difference, double = last[turn % 3 + 1]()
      check.that(np.min(difference):item() == turn and np.max(difference):item() == turn)
      check.that(np.min(double):item() == 2 * turn and np.max(double):item() == 2 * turn)
    end
  end)
end)

check.done()
