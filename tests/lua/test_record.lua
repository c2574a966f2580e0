-- What moves between domains and ranks is found out once for a loop: lgt.stats() counts how often it was taken from a
-- record.  Run with --domains=3, with -n 2.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"

local n = 300

check.case("a loop's exchanges are replayed", function()
  local x, wanted = np.arange(n):astype("float64"), {}
  for i = 1, n do wanted[i] = i - 1 end
  local function turn()
    x["2:-2"] = 0.25 * (x[":-3"] + 2 * x["2:-2"] + x["3:"])
    lgt.fence()
    local was = {unpack(wanted)}
    for i = 2, n - 1 do wanted[i] = 0.25 * (was[i - 1] + 2 * was[i] + was[i + 1]) end
  end
  x[1], wanted[1] = 1000, 1000
  for _ = 1, 20 do turn() end
  lgt.stats_reset()
  for _ = 1, 30 do turn() end
  local stats = lgt.stats()
  check.that(stats.exchanges_replayed >= 0.9 * stats.fused_groups,
    ("%d of %d"):format(stats.exchanges_replayed, stats.fused_groups))
  local got = x:totable()
  for i = 1, n do check.equal(got[i], wanted[i]) end
end)

check.case("a loop's exchanges are replayed that end in a sum", function()
  local x = np.ones(n)
  for i = 1, 50 do
    if i == 21 then lgt.stats_reset() end
    local norm = x:dot(x)
    x = x * (n / norm)
    lgt.fence()
  end
  local stats = lgt.stats()
  check.that(stats.exchanges_replayed >= 0.9 * stats.fused_groups,
    ("%d of %d"):format(stats.exchanges_replayed, stats.fused_groups))
  check.equal(x(1), 1)
end)

check.case("not where data says what moves", function()
  local x, at = np.arange(n):astype("float64"), np.array({5, 250, 17, 130, 299}, {dtype = "int64"})
  for _ = 1, 10 do
    x = x + 1
    lgt.fence()
    lgt.stats_reset()
    local picked = x[at]
    check.equal(picked(2), x(250))
    check.that(lgt.stats().exchanges_by_data > 0)
  end
end)

-- What data names of a vector that is made anew each turn comes to where the tile is, which has room for it: but for
-- the first turns no tile is copied.
check.case("tiles have room for what data names", function()
  local sparse = require "sparse"
  local size, turns = 6000, 20
  local i = np.arange(size)
  local at = { np.concatenate{i, i}, np.concatenate{i, (i + size / 2) % size} }
  local A = sparse.csr_matrix({ np.ones(2 * size) * 0.5, at }, { shape = { size, size }, base = 0 })
  local function bytes(fence)
    local x = (i % 7):astype("float64")
    lgt.fence()
    local before = lgt.stats().bytes_copied
    for _ = 1, turns do
      x = A:dot(x) * 1.0
      if fence then lgt.fence() end
    end
    lgt.fence()
    check.equal(x(1), (0 + (size / 2) % 7) / 2)
    return (lgt.stats().bytes_copied - before) / turns
  end
  for _, fence in ipairs{ false, true } do
    bytes(fence)
    local count = bytes(fence) -- 8 of an element, to whom it is named; of a tile that is copied, as many again
    check.that(count < 12 * size, count)
  end
end)

-- A vector that was written in many ways is brought together first; what a domain gets by that it sends on.
-- How many ways are many is not for scripts to know.
check.case("what has just come is sent on", function()
  for ways = 38, 44 do
    local x, wanted = np.zeros(n), {}
    for i = 1, n do wanted[i] = 0 end
    for k = 1, ways do
      local first = 1 + (k * 97) % (n - 20)
      x[("%d:%d"):format(first, first + 19)] = np.arange(20) + 100.0 * k
      for i = 0, 19 do wanted[first + i] = i + 100 * k end
      lgt.flush()
    end
    lgt.fence() -- all that could be waited for has come about
    local sum = x[":-101"] + 2 * x["101:"]
    local got = sum:totable()
    for i = 1, n - 100 do check.equal(got[i], wanted[i] + 2 * wanted[i + 100]) end
  end
end)

check.done()
