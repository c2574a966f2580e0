-- What repeats is replayed, and nobody can tell: each program runs without traces and with them, with the same bits.
-- Run with --trace-sample=20 and --window=32, so that traces are found soon.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np, lgt = require "array", require "lgt"

-- The bits of what f computes, as a list of numbers, and how many launches were replayed.
local function run(f, trace)
  lgt.options { trace = trace }
  lgt.stats_reset()
  local seen = {}
  f(function(value) seen[#seen + 1] = type(value) == "number" and value or value:item() end)
  lgt.fence()
  return seen, lgt.stats()
end

-- `least`: the share of launches that must be replayed.
local function alike(name, least, f)
  check.case(name, function()
    local wanted = run(f, false)
    local seen, stats = run(f, true)
    check.equal(#seen, #wanted)
    for i, value in ipairs(wanted) do
      check.that(seen[i] == value, ("value %d: %.17g, not %.17g"):format(i, seen[i], value))
    end
    local share = stats.launches_replayed / stats.launches
    check.that(share >= least, ("replayed: %.2f of %d launches"):format(share, stats.launches))
    check.equal(select(2, run(f, false)).launches_replayed, 0)
  end)
end

alike("a loop that rebinds its array", 0.5, function(see)
  local x, b = np.ones(50), np.arange(50) / 50
  for _ = 1, 300 do x = (b - 0.25 * x) / 3 + b end
  see(np.sum(x))
end)

alike("a loop that looks in each turn", 0.5, function(see)
  local x, b = np.ones(50), np.arange(50) / 50
  for _ = 1, 100 do
    x = (b - 0.25 * x) / 3 + b
    see(np.sum(x))
  end
end)

alike("nested loops", 0.4, function(see)
  local x, y = np.ones(40), np.arange(40) / 40
  for _ = 1, 40 do
    for _ = 1, 7 do x = 0.5 * x + y end
    y = y - 0.01 * x
    for _ = 1, 3 do y = np.maximum(y, 0.1) * 0.99 end
  end
  see(np.sum(x))
  see(np.sum(y))
end)

alike("a check of convergence every few turns", 0.4, function(see)
  local x, b = np.ones(50), np.arange(50) / 50
  for i = 1, 200 do
    local old = x
    x = (b - 0.25 * x) / 3 + b
    if i % 7 == 0 then
      local error = np.max(np.abs(x - old)):item()
      see(error)
      if error == 0 then break end
    end
  end
end)

alike("branches on data", 0.2, function(see)
  local x = np.arange(50) / 50
  for i = 1, 150 do
    x = x * 1.1
    if np.sum(x):item() > 40 then
      x = x * 0.3
      x = np.sqrt(x)
    else
      x = x + 0.01
    end
    if i % 10 == 0 then see(np.max(x)) end
  end
end)

alike("arrays that change places", 0.4, function(see)
  local x, y, z = np.ones(30), np.arange(30) / 30, np.full({ 30 }, 0.5)
  for i = 1, 200 do
    z["..."] = 0.5 * x + y
    y["..."] = z * 0.9
    x, y = y, x
    if i % 3 == 0 then x, z = z, x end
  end
  see(np.sum(x) + 2 * np.sum(y) + 3 * np.sum(z))
end)

alike("results that are kept, and read later", 0.1, function(see)
  local x, kept = np.ones(30), {}
  for i = 1, 200 do
    local t = x * 1.01
    local u = t + 0.5
    x = u / 1.3
    if i % 5 == 0 then kept[#kept + 1] = t end
    if i % 40 == 0 then see(np.sum(kept[#kept - 2])) end
  end
  for i = 1, #kept, 7 do see(np.sum(kept[i])) end
end)

alike("an array updated in place through views", 0.5, function(see)
  local g = np.zeros(20, 20)
  g["1, :"] = 40
  g[":, -1"] = -7
  local center, north, south = g["2:-2, 2:-2"], g[":-3, 2:-2"], g["3:, 2:-2"]
  for _ = 1, 150 do center["..."] = 0.25 * (center + north) + 0.4 * south end
  see(np.sum(g))
end)

alike("coroutines whose loops take turns", 0.3, function(see)
  local function loop(seed, n)
    return coroutine.wrap(function()
      local x = np.arange(40) / seed
      for i = 1, n do
        x = 0.5 * x + 1 / seed
        x = np.maximum(x, 0.2)
        if i % 4 == 0 then coroutine.yield(false) end
      end
      coroutine.yield(np.sum(x))
    end)
  end
  local a, b = loop(3, 400), loop(7, 360)
  local ra, rb
  while not (ra and rb) do
    ra = ra or a()
    rb = rb or b()
  end
  see(ra)
  see(rb)
end)

alike("loops whose launches never repeat", 0, function(see)
  local x = np.zeros(400)
  for i = 1, 150 do x[{ { i, 2 * i } }] = x[{ { i, 2 * i } }] + i end
  see(np.sum(x))
end)

check.case("explain names the trace", function()
  lgt.options { trace = true }
  local x = np.ones(50)
  for _ = 1, 100 do
    x = x * 0.5 + 1
    lgt.flush()
  end
  check.that(lgt.explain(x):find("trace %d+"), lgt.explain(x))
end)

check.done()
