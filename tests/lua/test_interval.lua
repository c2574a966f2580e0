-- A stranger's library computes the right thing, and its operations fuse with the array library's.
local here = arg[0]:match("^(.*/)")
local check = dofile(here .. "check.lua")
local interval = dofile(here .. "interval.lua")
local np = require "array"
local lgt = require "lgt"

local function around(x, e) return interval.new(x - e, x + e) end

check.case("intervals", function()
  local a, b = around(np.array { 2, -1 }, 0.5), around(np.array { 1, 3 }, 1)
  local function bounds(r) return { r.lo:totable(), r.hi:totable() } end
  check.equal(bounds(a + b), { { 1.5, 0.5 }, { 4.5, 3.5 } })
  check.equal(bounds(a - b), { { -0.5, -5.5 }, { 2.5, -2.5 } })
  check.equal(bounds(a * b), { { 0, -6 }, { 5, -1 } })
  check.equal(bounds(-a), { { -2.5, 0.5 }, { -1.5, 1.5 } })
  check.equal(bounds((a - b):square()), { { 0, 6.25 }, { 6.25, 30.25 } })
  check.equal((a + b):widest()(), 3)
end)

-- Arithmetic of both libraries: in one task, without temporaries.
local function mixed(x)
  local scaled = np.sin(x) * 2 + 1
  local a = around(scaled, 0.25)
  local b = (a * a + a):hull(a):square()
  return np.exp(-b.lo) + np.sqrt(b.hi)
end

check.case("one kernel for both", function()
  lgt.options { fusion = true }
  local x = np.arange(5000) / 1000
  local wanted = mixed(x):sum()()
  for _ = 1, 2 do
    collectgarbage()
    lgt.fence()
    lgt.stats_reset()
    local y = mixed(x)
    lgt.fence()
    local stats = lgt.stats()
    check.that(stats.launches >= 11, ("%d launches"):format(stats.launches))
    check.equal(stats.fused_groups, 1)
    check.equal(y:sum()(), wanted)
  end

end)

check.done()
