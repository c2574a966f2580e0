-- Once a loop has settled its launches are planned no more: no plan is made, no view, partition or footprint is new,
-- what moves is known from before, and tasks are copies of earlier ones.  So it is although its arrays are bound to
-- others in each turn.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np, lgt = require "array", require "lgt"

local programs = {}

function programs.stencil()
  local grid = np.zeros(66, 66)
  grid["1, :"] = 1
  local center, north, south = grid["2:-2, 2:-2"], grid[":-3, 2:-2"], grid["3:, 2:-2"]
  local west, east = grid["2:-2, :-3"], grid["2:-2, 3:"]
  return function() center["..."] = 0.2 * (center + north + east + west + south) end
end

function programs.cg()
  local r = np.ones(1000)
  local x, p, Ap = np.zeros(1000), r:copy(), np.zeros(1000)
  local rr = r:dot(r)
  return function()
    Ap["2:-2"] = 2 * p["2:-2"] - p[":-3"] - p["3:"]
    local alpha = rr / p:dot(Ap)
    x = x + alpha * p
    r = r - alpha * Ap
    local new = r:dot(r)
    p = r + (new / rr) * p
    rr = new
  end
end

function programs.jacobi()
  local n = 60
  local R, b = np.random.rand(n, n), np.random.rand(n)
  local d, x = R:sum(1) + 1, np.zeros(n)
  return function() x = (b - R:dot(x)) / d end
end

local TURNS, WARM = 240, 6

for name, begin in pairs(programs) do
  check.case(name .. " settles", function()
    local turn = begin()
    local function turns()
      for _ = 1, TURNS do turn() end
      lgt.fence()
    end
    for _ = 1, WARM do turns() end
    local before = lgt.stats()
    turns()
    local after = lgt.stats()
    local function more(what) return after[what] - before[what] end
    for _, what in ipairs { "plans_made", "plans_shifted", "layouts", "footprints", "partitions", "kernels_compiled",
      "exchanges_new", "exchanges_changed", "exchanges_by_data", "exchanges_gathered" } do
      check.that(more(what) == 0, ("%d more %s"):format(more(what), what))
    end
    check.that(more "tasks" > 0 and more "tasks_copied" == more "tasks",
      ("%d of %d tasks are copies"):format(more "tasks_copied", more "tasks"))
  end)
end

check.done()
