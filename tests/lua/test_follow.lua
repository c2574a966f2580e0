-- Loops of a task that follow one another row by row, and versions of an array that take turns in two memories: values
-- are those of plain Lua, whatever changes between the turns.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np, lgt = require "array", require "lgt"

local one_memory = lgt.C.lgt_domains(lgt.rt) == 1
lgt.options { skew = 1024, between = 0 } -- tiles of three domains are large

local grid = check.grid

-- The inner part becomes a quarter of the sum of its four neighbours; returns that.
local function spread(numbers)
  local new = {}
  for i = 2, #numbers - 1 do
    new[i - 1] = {}
    for j = 2, #numbers[1] - 1 do
      new[i - 1][j - 1] = (numbers[i - 1][j] + numbers[i][j + 1] + numbers[i][j - 1] + numbers[i + 1][j]) / 4
    end
  end
  for i, row in ipairs(new) do
    for j, x in ipairs(row) do numbers[i + 1][j + 1] = x end
  end
  return new
end

local function spread_array(x)
  local new = (x[":-3, 2:-2"] + x["2:-2, 3:"] + x["2:-2, :-3"] + x["3:, 2:-2"]) / 4
  x["2:-2, 2:-2"] = new
  return new
end

-- What else may happen in a turn.
local changes = {
  ["nothing"] = function() end,
  ["a row of the border"] = function(x, numbers, turn)
    x["1, :"] = turn
    for j = 1, #numbers[1] do numbers[1][j] = turn end
  end,
  ["a column of the border, now and then"] = function(x, numbers, turn)
    if turn % 5 ~= 3 then return end
    x[":, -1"] = turn
    for i = 1, #numbers do numbers[i][#numbers[1]] = turn end
  end,
  ["one element of the border"] = function(x, numbers, turn)
    if turn % 2 == 0 then return end
    x["-1, 4"] = -turn
    numbers[#numbers][4] = -turn
  end,
  ["the inner part, once more"] = function(x, numbers)
    x["2:-2, 2:-2"] = x["2:-2, 2:-2"] + 1
    for i = 2, #numbers - 1 do
      for j = 2, #numbers[1] - 1 do numbers[i][j] = numbers[i][j] + 1 end
    end
  end,
  ["all of it"] = function(x, numbers, turn)
    if turn % 6 ~= 0 then return end
    x["..."] = 2 * x
    for i = 1, #numbers do
      for j = 1, #numbers[1] do numbers[i][j] = 2 * numbers[i][j] end
    end
  end,
}

for name, change in pairs(changes) do
  check.case("a stencil in place, and " .. name, function()
    for _, turns in ipairs { 2, 3, 9, 16 } do
      local numbers = grid(60, 11)
      local x = np.array(numbers)
      local held = {}
      lgt.fence()
      lgt.stats_reset()
      for turn = 1, turns do
        local new, wanted = spread_array(x), spread(numbers)
        if turn % 4 == 1 then held[#held + 1] = { new, wanted } end
        change(x, numbers, turn)
      end
      check.equal(x:totable(), numbers)
      local stats = lgt.stats()
      if turns > 8 and name == "nothing" and stats.passes < stats.launches then -- fused
        check.that(stats.passes_following > 2)
      end
      for _, pair in ipairs(held) do check.equal(pair[1]:totable(), pair[2]) end
    end
  end)
end

-- Two arrays that spread and react: terms of each turn read what the turn before has just made, and would be stored if
-- they were computed there.
check.case("terms of the next turn come with it", function()
  lgt.options { skew = 2048 } -- rows of four grids at once
  local n, turns = 60, 12
  local u, v = np.array(grid(n, 11)), np.array(grid(n, 11)) / 4
  local a, b = grid(n, 11), v:totable()
  lgt.fence()
  collectgarbage()
  lgt.stats_reset()
  for _ = 1, turns do
    local inner, other = u["2:-2, 2:-2"], v["2:-2, 2:-2"]
    local du = u[":-3, 2:-2"] + u["3:, 2:-2"] - 2 * inner
    local dv = v["2:-2, :-3"] + v["2:-2, 3:"] - 2 * other
    local reaction = inner * other * other * 2 ^ -20
    u["2:-2, 2:-2"] = inner + (du * 0.125 - reaction)
    v["2:-2, 2:-2"] = other + (dv * 0.125 + reaction)
  end
  lgt.fence()
  local stats = lgt.stats()
  lgt.options { skew = 1024 }
  for _ = 1, turns do
    local na, nb = {}, {}
    for i = 2, n - 1 do
      na[i], nb[i] = {}, {}
      for j = 2, 10 do
        local x, y = a[i][j], b[i][j]
        local reaction = x * y * y * 2 ^ -20
        na[i][j] = x + ((a[i - 1][j] + a[i + 1][j] - 2 * x) * 0.125 - reaction)
        nb[i][j] = y + ((b[i][j - 1] + b[i][j + 1] - 2 * y) * 0.125 + reaction)
      end
    end
    for i = 2, n - 1 do
      for j = 2, 10 do a[i][j], b[i][j] = na[i][j], nb[i][j] end
    end
  end
  check.equal(u:totable(), a)
  check.equal(v:totable(), b)
  if not one_memory then return end
  check.that(stats.fused_groups <= turns / 4, stats.fused_groups .. " groups")
  check.that(stats.passes_following > turns / 2, stats.passes_following .. " passes follow")
end)

-- Cells topple onto their neighbours: calls have spaces of several extents, and write an array in place, view by view.
check.case("a pile of sand, of which grains fall over the edges", function()
  local n, m, turns = 150, 5, 24
  local grains, numbers = np.array(grid(n, m)), grid(n, m)
  lgt.fence()
  collectgarbage()
  lgt.stats_reset()
  for _ = 1, turns do
    local falls = np.where(grains:ge(4), 1, 0)
    grains = grains - 4 * falls
    grains["2:, :"] = grains["2:, :"] + falls[":-2, :"]
    grains[":-2, :"] = grains[":-2, :"] + falls["2:, :"]
    grains[":, 2:"] = grains[":, 2:"] + falls[":, :-2"]
    grains[":, :-2"] = grains[":, :-2"] + falls[":, 2:"]
  end
  lgt.fence()
  local stats = lgt.stats()
  for _ = 1, turns do
    local falls = {}
    for i = 0, n + 1 do
      falls[i] = {}
      for j = 0, m + 1 do falls[i][j] = numbers[i] and (numbers[i][j] or 0) >= 4 and 1 or 0 end
    end
    for i = 1, n do
      for j = 1, m do
        local come = falls[i - 1][j] + falls[i + 1][j] + falls[i][j - 1] + falls[i][j + 1]
        numbers[i][j] = numbers[i][j] - 4 * falls[i][j] + come
      end
    end
  end
  check.equal(grains:totable(), numbers)
  if stats.fused_groups >= stats.launches then return end -- without fusion
  check.that(stats.fused_groups <= turns / 4, stats.fused_groups .. " groups")
  check.that(stats.passes_following > turns, stats.passes_following .. " passes follow")
end)

-- Each call of a chain reads what the one before has made twice: to look at it once for each would take 2^40 looks.
local pair = lgt.task {
  name = "pair",
  args = { "in", "in", "out", "out" },
  generator = function(_, x, y) return (x + y) * 0.5, (x - y) * 0.5 end,
}
local chains = {
  ["squares"] = { function(a, b) return a * a - 0.75, b end, function(a, b) return a * a - 0.75, b end },
  ["pairs"] = {
    function(a, b)
      local c, d = np.empty(298), np.empty(298)
      pair(a, b, c, d)
      return c, d
    end,
    function(a, b) return (a + b) * 0.5, (a - b) * 0.5 end,
  },
}
for name, chain in pairs(chains) do
  check.case("long chains are planned: " .. name, function()
    local x, a, b = np.arange(300) * 0.5, np.arange(298) / 298, np.arange(298) / 149
    lgt.fence()
    for _ = 1, 40 do a, b = chain[1](a, b) end
    x["2:-2"] = (x[":-3"] + x["3:"]) * 0.5
    local wanted, got = {}, x[":-3"] + x["3:"] + a + b
    for i = 1, 298 do
      local c, d = (i - 1) / 298, (i - 1) / 149
      for _ = 1, 40 do c, d = chain[2](c, d) end
      wanted[i] = i + c + d
    end
    check.equal(got:totable(), wanted)
  end)
end

check.case("the border is copied for the first two versions only", function()
  if not one_memory then return end
  local x = np.array(grid(60, 11))
  local function passes(turns)
    collectgarbage()
    lgt.fence()
    lgt.stats_reset()
    for _ = 1, turns do spread_array(x) end
    lgt.fence()
    return lgt.stats().passes
  end
  check.equal(passes(12) - passes(6), 6)
end)

check.case("loops over a border keep nobody apart", function()
  if not one_memory then return end
  for _, abreast in ipairs { 0, 1 } do
    lgt.options { skew = "64K", abreast = abreast }
    local numbers = grid(600, 200)
    local x = np.array(numbers)
    collectgarbage()
    lgt.fence()
    lgt.stats_reset()
    for _ = 1, 6 do spread_array(x) end
    lgt.fence()
    local stats = lgt.stats()
    for _ = 1, 6 do spread(numbers) end
    check.equal(x:totable(), numbers)
    local fused, short = stats.passes < stats.launches, stats.passes_abreast > 2 -- for so many workers
    if fused and not short then check.equal(stats.passes_following, 6) end
  end
  lgt.options { skew = 1024, abreast = "32K" }
end)

check.case("loops of merged dimensions have the rows of any other one", function()
  local function fields(skew)
    lgt.options { skew = skew }
    local a, b, c = np.array(grid(300, 20)), np.array(grid(300, 20)), np.array(grid(300, 20))
    lgt.fence()
    lgt.stats_reset()
    for turn = 1, 9 do
      b["1, :"] = turn
      b["2:, :"] = b["2:, :"] - 0.5 * (c["2:, :"] - c[":-2, :"])
      a[":, 2:"] = a[":, 2:"] - 0.5 * (c[":, 2:"] - c[":, :-2"])
      c[":-2, :-2"] = c[":-2, :-2"] - 0.25 * (a[":-2, 2:"] - a[":-2, :-2"] + b["2:, :-2"] - b[":-2, :-2"])
    end
    lgt.fence()
    local stats = lgt.stats()
    local fused = one_memory and stats.passes < stats.launches
    return { a:totable(), b:totable(), c:totable() }, fused and stats.passes_following or false
  end
  local wanted = fields(0)
  local got, following = fields("16K")
  check.equal(got, wanted)
  if following then check.that(following >= 18, following .. " passes follow") end
  lgt.options { skew = 1024 }
end)

check.case("a copy that has the memory of a version changes its border", function()
  lgt.options { between = 2 ^ 30 } -- all in one group
  local function border(fence)
    local x = np.zeros(2000, 1500) + 1
    fence()
    local function turn()
      spread_array(x)
      fence()
    end
    turn()
    local function fork()
      local y = x:copy()
      fence()
      turn()
      y["1, :"] = -100
      fence()
      local sum = np.zeros(1999, 1500)
      sum["..."] = y[":-2, :"] + y["2:, :"]
      return sum
    end
    local sum = fork()
    collectgarbage() -- the copy: large enough not to be stored in case somebody has it
    collectgarbage()
    for _ = 1, 3 do turn() end
    return { x["1:3, :6"]:totable(), sum["1:3, :6"]:totable() }
  end
  check.equal(border(function() end), border(lgt.fence))
  lgt.options { between = 0 }
end)

check.case("a row of which two loops made parts is not copied again", function()
  local function sum(fence)
    local x = (np.arange(60 * 11) * 0.25 % 13):reshape(60, 11)
    fence()
    local part = x["3:-1, 2:-1"] * 0.25
    fence()
    x = x:copy()
    for _, step in ipairs {
      function() x["3:-1, 2:-1"] = part end,
      function() x["2:-2, 2:-2"] = x["2:-2, 2:-2"] * 0.5 + x["3:, 2:-2"] * 0.375 end,
      function() x["2:-2, :"] = x["2:-2, :"] * 0.5 + x["3:, :"] * 0.375 end,
    } do
      step()
      fence()
    end
    return x:totable()
  end
  lgt.options { between = 2 ^ 23 }
  check.equal(sum(function() end), sum(lgt.fence))
  lgt.options { between = 0 }
end)

check.case("in one dimension, and in three", function()
  local line, numbers = np.arange(4000) * 1.0, {}
  for i = 1, 4000 do numbers[i] = i - 1 end
  for _ = 1, 10 do
    line["3:-3"] = line[":-5"] + line["5:"] - line["3:-3"]
    local new = {}
    for i = 3, 3998 do new[i] = numbers[i - 2] + numbers[i + 2] - numbers[i] end
    for i = 3, 3998 do numbers[i] = new[i] end
  end
  check.equal(line:totable(), numbers)
  local cube = (np.arange(20 * 9 * 8) % 13):reshape(20, 9, 8):astype("float64")
  local n = cube:totable()
  for _ = 1, 7 do
    cube["2:-2, 2:-2, 2:-2"] = cube[":-3, 2:-2, 2:-2"] + cube["3:, 2:-2, 2:-2"] - cube["2:-2, 2:-2, 3:"]
    local new = {}
    for i = 2, 19 do
      for j = 2, 8 do
        for k = 2, 7 do new[(i * 9 + j) * 8 + k] = n[i - 1][j][k] + n[i + 1][j][k] - n[i][j][k + 1] end
      end
    end
    for i = 2, 19 do
      for j = 2, 8 do
        for k = 2, 7 do n[i][j][k] = new[(i * 9 + j) * 8 + k] end
      end
    end
  end
  check.equal(cube:totable(), n)
end)

check.done()
