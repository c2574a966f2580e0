-- What fails when it runs: all that is computed from it fails at the line of the cause, and nothing else does, whatever
-- is fused with what.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"

-- Small ones fail at once, large ones while what comes next is being launched.
local SIZES = { 12, 60000 }

-- Elements at positions of which one, the n-th, is outside.
local function gathered(x)
  local where = np.arange(x.size) + 1
  where[-1] = x.size + 1
  return np.take(x, where)
end

local function line() return debug.getinfo(2, "l").currentline end

-- Looking at each of these raises, and names the line that failed.
local function fails(at, ...)
  for n = 1, select("#", ...) do
    local x = select(n, ...)
    local ok, why = pcall(function() return x:totable() end)
    check.that(not ok, ("result %d should have failed"):format(n))
    check.that(why:find(":" .. at .. "%)$"), ("line %d is not that of: %s"):format(at, why))
  end
end

local function sized(name, turn)
  for _, n in ipairs(SIZES) do
    check.case(("%s, of %d"):format(name, n), function()
      local x = np.arange(n) * 0.5
      lgt.fence()
      turn(x, n)
      pcall(lgt.fence) -- what nobody has looked at
    end)
  end
end

-- With several ranks one of them writes the number, and what the others have of it has nothing to do with that.
for _, flushed in ipairs { false, true } do
  check.case("a number that is overwritten, " .. (flushed and "later" or "at once"), function()
    local x, y = np.arange(4) + 1.0, np.arange(5) * 1.0
    lgt.fence()
    local least = np.min(x * np.linalg.solve(np.zeros { 2, 2 }, np.ones { 2, 2 })[1][1])
    if flushed then lgt.flush() end
    least["..."] = np.minimum(1, y)[4]
    x["..."] = least
    check.equal(least(), 1)
    check.equal(x:totable(), { 1, 1, 1, 1 })
    pcall(lgt.fence)
  end)
end

-- What comes from two failures has the first one, even if nothing was stored of it until somebody looks.
sized("a result of two failures that is computed late", function(x, n)
  local y = x:copy()
  local pairs_of_y, where = y["2:"] + y[":-2"], np.arange(n) + 1
  where[-1] = 2 * n
  local sum = pairs_of_y + x[{ { 2, -1 } }]
  y[where] = 0
  local at = line() - 1
  x[{ { 2, -2 } }] = (np.take(pairs_of_y, where[{ { 2, -1 } }], 1) + x[{ { 1, n - 1 } }])[("%d::-1"):format(n - 2)]
  local part = np.fmax(x - 3, y)[9]
  local copy = part:copy()
  sum:totable()
  fails(at, part, copy)
end)

sized("beside what does not depend on it", function(x, n)
  local g, at = gathered(x), line()
  local bad = g + 1
  local c = x + 1
  check.equal(c(n), (n - 1) * 0.5 + 1)
  fails(at, bad, g)
  check.equal(c(1), 1)
end)

sized("of which only a part is read, far from where it failed", function(x)
  local g, at = gathered(x), line()
  local part = g["1:2"] + 1
  local other = x["1:2"] + 1
  check.equal(other(2), 1.5)
  fails(at, part)
end)

-- What x is scattered into, once much else is done; one of the positions is outside.
local function scattered_late(x)
  local y = x + np.sum(np.sin(np.arange(400000))) * 0
  local where = np.arange(x.size) + 1
  where[-1] = x.size + 1
  y[where] = 0
  return y
end

sized("twice: the first failure counts, whichever is known first", function(x)
  local y, g = scattered_late(x), gathered(x)
  local bad, most = np.where(g:lt(x), y, 1), np.where(g:lt(x), np.max(y), 1)
  for _, array in ipairs { bad, most } do
    local why = select(2, pcall(array.totable, array))
    check.that(why:find("scatter", 1, true), why)
  end
end)

sized("beside what is overwritten as a whole after it was read", function(x)
  local y, z = x + 0, x + 0
  lgt.fence()
  local function turn()
    z["1:8"] = (y["1:8"] + z["1:8"]) * 0.5
    z["1:"] = y * 0.5
  end
  turn()
  lgt.fence()
  z["1:"] = scattered_late(x)
  lgt.flush()
  turn()
  lgt.flush()
  check.equal(z(3), 0.5)
end)

sized("in arrays that are written in part from their former contents", function(x)
  local y, z = x + 0, x + 0
  lgt.flush()
  y["1:9"] = gathered(x)["1:9"]
  local at = line() - 1
  z["1:9"] = (y["1:9"] + z["1:9"]) * 0.5
  fails(at, y, z)
end)

sized("in sums", function(x, n)
  local g, at = gathered(x), line()
  local y = g * 2
  local bad, good = np.sum(y), np.sum(x * 2)
  local most = np.max(x)
  check.equal(good:item(), n * (n - 1) / 2)
  check.equal(most:item(), (n - 1) * 0.5)
  fails(at, bad, y)
end)

sized("and is overwritten", function(x, n)
  local y, z = np.zeros(n), np.zeros(n)
  y["..."] = gathered(x)
  y:fill(2)
  z["..."] = gathered(x)
  z["..."] = x
  check.equal(y(n), 2)
  check.equal(np.sum(y):item(), 2 * n)
  check.equal(z(3), 1)
end)

sized("and is overwritten through another shape", function(x, n)
  local g = gathered(x)
  local y = g + 1
  local z = y:copy()
  z:reshape(2, n / 2)["..."] = 1
  check.equal(z(n), 1)
end)

sized("is overwritten after a look, and then by what fails, too", function(x, n)
  local y = np.zeros(n)
  local g, at = gathered(x), line()
  y["..."] = g
  fails(at, y)
  y:fill(2)
  check.equal(y(n), 2)
  local h, again = gathered(x), line()
  y["..."] = h
  fails(again, y, y * 2)
end)

sized("and is overwritten in part", function(x, n)
  local y = np.zeros(n)
  local g, at = gathered(x), line()
  y["..."] = g
  y["1:2"] = 2
  local c = x * 3
  fails(at, y)
  check.equal(c(2), 1.5)
end)

sized("into a part", function(x, n)
  local y, z = np.zeros(n), np.zeros(n)
  local g, at = gathered(x), line()
  y["2:3"] = g["2:3"]
  z["2:3"] = x["2:3"]
  check.equal(z(3), 1)
  fails(at, y)
end)

sized("twice", function(x)
  local g, at = gathered(x), line()
  local h, again = gathered(x * 2), line()
  local both, second, neither = h + g, h * 2, x + 2
  check.equal(neither(2), 2.5)
  fails(at, both)
  fails(again, second)
end)

sized("then what was not stored", function(x)
  local g, at = gathered(x), line()
  local kept
  for turn = 1, 3 do
    local y = g + turn
    local z = x + turn
    local bad, good = y * 2, z * 2
    check.equal(good(2), (0.5 + turn) * 2)
    fails(at, bad)
    kept = { y, z }
  end
  check.equal(kept[2](2), 3.5)
  fails(at, kept[1])
end)

sized("in sparse products", function(x, n)
  local sp = require "sparse"
  local A = sp.eye(n) * 2
  lgt.fence()
  local g, at = gathered(x), line()
  local y, z = A:dot(g) + 1, A:dot(x) + 1
  check.equal(z(2), 2)
  fails(at, y)
end)

sized("of what is written into a copy, and not of what that shares memory with", function(x, n)
  local where, at = gathered((x * 2):astype("int64")) + 1, line()
  local y = x + 1
  pcall(where.totable, where)
  local c, d = y:copy(), y:copy()
  c[where] = 3
  d["..."] = where
  lgt.fence() -- nothing else has failed
  local good, worse, worst = y["1:9"] + 1, c["1:9"] + 1, d["1:9"] + 1
  local bad = c:copy()
  check.equal(good(9), 6)
  check.equal(y(n), (n - 1) * 0.5 + 1)
  fails(at, bad, worse, worst)
end)

sized("and is overwritten as a whole in a copy, also where it has elements of others", function(x, n)
  local where = np.arange(n) + 1
  where[-1] = n + 1
  for _, known in ipairs { true, false } do
    local y = x + 1
    local sides = { y["2:"] + y[":-2"] }
    lgt.fence()
    y[where] = 0
    local at = line() - 1
    lgt.flush()
    sides[2] = y["2:"] + y[":-2"]
    if known then pcall(lgt.fence) else lgt.flush() end
    local z = y:copy()
    z["..."] = 1.5
    check.equal(z(1), 1.5)
    check.equal(z(n), 1.5)
    fails(at, y, sides[2])
    check.equal(sides[1](1), 2.5)
  end
end)

sized("and is written through a pointer to all of it", function(x, n)
  local where = np.arange(n) + 1
  where[-1] = n + 1
  for turn = 1, 2 do -- the second time it is known which positions are where
    local y = x + turn
    pcall(lgt.fence)
    y[where] = 0
    lgt.flush()
    y:host("w", function(p)
      for i = 0, n - 1 do p[i] = i end
    end)
    local z = y + 1
    check.equal(z(n), n)
    check.equal(y(1), 0)
  end
end)

-- The first turns leave results to the collector, so that the last one, which holds them, finds none stored.
sized("and is read by one of several results that are held without being stored", function(x, n)
  local z, failing, at = x + 0, nil, nil
  local function turn(last)
    local y = x + 1
    local where = np.array { 1, last and n + 1 or n }:astype("int64")
    lgt.fence()
    y[where] = 0
    at = line() - 1
    lgt.flush()
    local beside = z * 2 + 1
    z["..."] = beside % 100
    local sum = y[{ 2 }] + y[{ 3 }]
    failing = sum * 2
    y[2] = sum % 50
    return beside
  end
  for _ = 1, 2 do
    turn()
    failing = nil
    collectgarbage()
    collectgarbage()
    lgt.flush()
  end
  local beside = turn(true)
  lgt.flush()
  pcall(lgt.fence)
  check.equal(beside(2), 11)
  check.equal(z(2), 11)
  fails(at, failing)
end)

-- The group reads what a failed task before it has made, then overwrites all of that.
check.case("an overwrite ends a failure that comes late", function()
  for _ = 1, 2 do
    local x, other = np.ones(4), np.ones(4)
    lgt.fence()
    local late = np.sum(np.sin(np.arange(20000000))) * 0
    local g = np.take(x + late, np.full({ 4 }, 1000, { dtype = "int64" }))
    other:imul(g)
    g["..."] = -0.75
    check.equal(g:totable(), { -0.75, -0.75, -0.75, -0.75 })
    check.that(not pcall(function() return other(1) end))
    pcall(lgt.fence)
  end
end)

-- A domain holds more of the copy than it overwrites.
check.case("an overwrite in parts ends a failure on all domains", function()
  local failed = np.copy(np.arange(12) * 1.0)
  failed[np.array { 1, 40 }:astype("int64")] = 3
  local whole = np.cumsum(failed)
  local x = np.copy(failed)
  x[np.greater(failed, 3)] = 2
  x[{ { 1, 12 } }] = 1
  check.that(not pcall(function() return whole(3) end))
  check.equal(x:totable(), { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 })
  pcall(lgt.fence)
end)

-- Nobody asks for what has failed any more: its memory is no place for what is right.
for _, n in ipairs { 8, 300 } do
  for _, late in ipairs { false, true } do
    local when = late and ", and fails late" or ""
    check.case(("what failed makes no room for others, of %d%s"):format(n, when), function()
      local v = np.arange(n * n):reshape(n, n):astype("float64")
      lgt.fence()
      for _ = 1, 3 do
        local at
        local function turn()
          local x = np.linalg.inv(np.zeros({ n, n }))
          at = line() - 1
          if not late then pcall(lgt.fence) end
          local half = (x * 2):astype("float32")
          return half, v + 1
        end
        local half, more = turn()
        collectgarbage()
        collectgarbage()
        pcall(lgt.fence)
        local other = np.ones({ n, n }) * 7 -- in memory that is free by now
        lgt.fence()
        check.equal(np.sum(more):item(), n * n * (n * n + 1) / 2)
        check.equal(other(n, n), 7)
        fails(at, half)
      end
    end)
  end
end

check.case("what a mask picks of it does not hide a failure", function()
  local mask = np.eye(4):gt(0)
  lgt.fence()
  local x, at = np.linalg.inv(np.zeros({ 4, 4 })), line()
  local y = x[mask]
  check.equal(y.size, 4)
  local ok, why = pcall(lgt.fence)
  check.that(not ok and why:find(":" .. at .. "%)$"), "nobody was told: " .. tostring(why))
  fails(at, y)
end)

check.done()
