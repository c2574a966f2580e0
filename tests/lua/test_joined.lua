-- Loops read what an array was joined of: values are those of plain Lua, and what nobody holds is not stored.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np, lgt = require "array", require "lgt"

local one_memory = lgt.C.lgt_domains(lgt.rt) == 1
lgt.options { between = 0 } -- arrays are small here

-- The sum of the four neighbours, around the edges, less four times the middle.
local function spread(a)
  local rows, columns, out = #a, #a[1], {}
  for i = 1, rows do
    out[i] = {}
    for j = 1, columns do
      out[i][j] = a[(i - 2) % rows + 1][j] + a[i % rows + 1][j] + a[i][(j - 2) % columns + 1] + a[i][j % columns + 1]
        - 4 * a[i][j]
    end
  end
  return out
end

local function spread_array(a)
  return np.roll(a, 1, 1) + np.roll(a, -1, 1) + np.roll(a, 1, 2) + np.roll(a, -1, 2) - 4 * a
end

check.case("rolled along both axes, turn after turn", function()
  for _, shape in ipairs { { 9, 7 }, { 2, 5 }, { 3, 1 }, { 1, 4 } } do
    local a = check.grid(shape[1], shape[2])
    local x = np.array(a)
    for _ = 1, 5 do
      a, x = spread(a), spread_array(x)
      collectgarbage()
      lgt.flush()
    end
    check.equal(x:totable(), a)
  end
end)

check.case("a rolled array that is held has its values", function()
  local a = check.grid(6, 5)
  local x = np.array(a)
  local rolled = np.roll(x, 2, 1)
  local y = rolled + 1
  collectgarbage()
  lgt.flush()
  x["..."] = 0
  for i = 1, 6 do
    for j = 1, 5 do
      check.equal(rolled(i, j), a[(i - 3) % 6 + 1][j])
      check.equal(y(i, j), a[(i - 3) % 6 + 1][j] + 1)
    end
  end
end)

check.case("what was joined is overwritten afterwards", function()
  local x, y = np.arange(1, 6), np.arange(11, 14)
  local z = np.concatenate { x, y }
  local before = z["2:"] - z[":-2"]
  z["2:3"] = x["4:5"]
  local after = z["2:"] - z[":-2"]
  check.equal(before:totable(), { 1, 1, 1, 1, 6, 1, 1 })
  check.equal(after:totable(), { 3, 1, -1, 1, 6, 1, 1 })
end)

check.case("pieces that leave a gap are no whole array", function()
  local z = np.zeros(6)
  z["1:2"] = np.arange(1, 3)
  z["5:6"] = np.arange(1, 3)
  check.equal((z["2:"] + z[":-2"]):totable(), { 3, 2, 0, 1, 3 })
end)

check.case("pieces that are written and read backwards", function()
  local x = np.arange(1, 9, { dtype = "float64" })
  local function differences(first, second)
    local z = np.empty(16)
    z["8:1:-1"] = x
    z[second] = x
    return z[first] - z["7:1:-1"]
  end
  lgt.fence()
  for _, second in ipairs { "9:", "16:9:-1" } do
    local inner = differences("8:2:-1", second)
    collectgarbage()
    check.equal(inner:totable(), { -1, -1, -1, -1, -1, -1, -1 })
  end
end)

check.case("a piece that fails fails what was joined, and no more", function()
  local x, at = np.arange(1, 9), np.full({ 8 }, 1000, { dtype = "int64" })
  lgt.fence()
  local joined = np.concatenate { x, np.take(x, at) }
  local shifted, apart = joined["2:"] - joined[":-2"], x["2:"] - x[":-2"]
  collectgarbage()
  check.equal(apart:totable(), { 1, 1, 1, 1, 1, 1, 1 })
  check.that(not pcall(function() return shifted(1) end))
  pcall(lgt.fence)
end)

if one_memory then
  check.case("what was rolled is not stored", function()
    local n = 1200 -- what is smaller is rather stored than collected
    local x = np.arange(n * n):reshape(n, n) % 32 * 0.5
    local function turn()
      x = 0.25 * spread_array(x)
      collectgarbage()
      lgt.flush()
    end
    for _ = 1, 6 do turn() end
    lgt.fence()
    local moved = lgt.stats().bytes_moved
    for _ = 1, 10 do turn() end
    lgt.fence()
    local bytes = (lgt.stats().bytes_moved - moved) / 10 / (n * n * 8)
    check.that(bytes < 4, ("%.1f arrays are moved in a turn; if four rolled ones were stored, 10"):format(bytes))
  end)
end

check.done()
