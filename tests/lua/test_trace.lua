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

check.case("a loop that looks in each turn needs no search", function()
  lgt.options { trace = true }
  local x, b = np.ones(50), np.arange(50) / 50
  lgt.fence()
  lgt.stats_reset()
  for _ = 1, 12 do
    x = (b - 0.25 * x) / 3 + b
    check.that(np.max(x):item() < 10)
  end
  check.equal(lgt.stats().launches, 12 * 5)
  check.that(lgt.stats().launches_replayed >= 10 * 5, lgt.stats().launches_replayed)
end)

check.case("windows of a loop that never looks are replayed from the second on", function()
  lgt.options { trace = true }
  local x, b = np.ones(50), np.arange(50) / 50
  for _ = 1, 100 do x = (b - 0.25 * x) / 3 + b end
  lgt.stats_reset()
  for _ = 1, 100 do x = (b - 0.25 * x) / 3 + b end
  check.that(lgt.stats().launches_replayed >= 80 * 4, lgt.stats().launches_replayed)
end)

-- ---- traces with names --------------------------------------------------------------------------------

-- What f(turn) computes in each of 6 turns under one name, beside what it computes without; the counters, and what was
-- written to standard error.
local function named(name, f)
  local function turns(g)
    local x, seen = np.arange(40) / 40, {}
    for turn = 1, 6 do
      x = g(turn, x)
      seen[turn] = np.sum(x):item()
    end
    return seen
  end
  lgt.options { trace = false }
  local wanted, stderr, said = turns(f), io.stderr, {}
  rawset(io, "stderr", { write = function(_, ...) said[#said + 1] = table.concat({ ... }) end })
  lgt.stats_reset()
  local ok, seen = pcall(turns, function(turn, x) return lgt.trace(name, f, turn, x) end)
  rawset(io, "stderr", stderr)
  if not ok then error(seen, 0) end
  check.equal(seen, wanted)
  return lgt.stats(), table.concat(said)
end

local function step(x)
  local y = x * 0.5 + 1
  return np.sqrt(y) - x
end

check.case("a named trace is replayed from its second turn on", function()
  local stats, said = named("steps", function(_, x)
    for _ = 1, 20 do x = step(x) end
    return x
  end)
  check.equal(said, "")
  check.that(stats.launches_replayed >= 4 * 20 * 4, stats.launches_replayed) -- windows grow in the first one
end)

check.case("... though it looks at values, at the same places", function()
  local stats, said = named("looks", function(_, x)
    local y = step(x)
    return y * (np.max(y):item() + 1)
  end)
  check.equal(said, "")
  check.equal(stats.launches_replayed, 5 * 6)
end)

-- A trace whose third turn is another one: what is said once, with a line of f, and how many launches of it go along
-- the others.
local function ill_formed(name, pattern, f, replayed)
  check.case("a named trace with " .. name, function()
    local stats, said = named(name, f)
    check.that(lgt.rank() > 0 or said:gsub(" at %S-:%d+", ""):find(pattern), said)
    check.that(not said:find("\n."), said)
    local where, at = debug.getinfo(f, "S"), tonumber(said:match(" at %S*test_trace%.lua:(%d+)"))
    check.that(lgt.rank() > 0 or at and at >= where.linedefined and at <= where.lastlinedefined, said)
    check.that(stats.traces_aborted >= 1)
    check.equal(stats.launches_replayed, replayed)
  end)
end

ill_formed("another operation", "launch 2 was add before, and is subtract now: it runs untraced", function(turn, x)
  return turn == 3 and x * 0.5 - 1 or x * 0.5 + 1
end, 2 + 2 + 2)
local others = "launch 1 was multiply before, and is multiply, on arrays of other shapes or types, now"
ill_formed("other shapes", others, function(turn, x)
  return turn == 3 and x["1:20"] * 0.5 or x * 0.5
end, 1) -- the plan of another shape is one of the first, moved, and is not kept
local ended = "it ended, or looked at values, after 2 launches, where launch 3 was sqrt before"
ill_formed("fewer launches", ended, function(turn, x)
  local y = x * 0.5 + 1
  return turn == 3 and y or np.sqrt(y)
end, 3 + 3 + 3)
local more = "it had 2 launches before, the last of them add, and now goes on with sqrt"
ill_formed("more launches", more, function(turn, x)
  local y = x * 0.5 + 1
  return turn == 3 and np.sqrt(y) or y
end, 2 + 2 + 2 + 2)
ill_formed("no launches", "after 0 launches, where launch 1 was multiply", function(turn, x)
  return turn == 3 and x or x * 0.5
end, 1 + 1 + 1)
ill_formed("a look", "looked at values, after 1 launches, where launch 2 was add", function(turn, x)
  local y = x * 0.5
  if turn == 3 then check.that(y(1) == 0.5 * x(1)) end
  return y + 1
end, 2 + 2 + 2)

check.case("a named trace within another one is a part of it, and errors go through", function()
  local stats, said = named("outer", function(_, x)
    local y = lgt.trace("inner", step, x)
    return y + 1
  end)
  check.equal(said, "")
  check.equal(stats.launches_replayed, 5 * 5)
  for turn = 1, 3 do
    local ok, message = pcall(lgt.trace, "outer", function()
      local _ = np.ones(3) * turn
      error("stop", 0)
    end)
    check.equal(ok, false)
    check.equal(message, "stop")
  end
  check.equal(lgt.trace("outer", function(a, b) return b, a end, 1, 2), 2)
end)

check.case("named traces do not pile up", function()
  local x = np.ones(10)
  for i = 1, 600 do x = lgt.trace(i, step, x) end
  local stats = lgt.stats()
  for i = 1, 600 do x = lgt.trace(i, step, x) end
  check.that(lgt.stats().launches_replayed == stats.launches_replayed, "600 traces are kept")
  check.that(np.all(np.isfinite(x)))
end)

-- What a trace keeps of each launch must not fill the memory of a program that is one trace from beginning to end.
check.case("a named trace without end is not kept", function()
  local function long(x)
    for _ = 1, 9000 do x = step(x) end
    return x
  end
  lgt.trace("long", long, np.ones(3))
  local stats = lgt.stats()
  local x = lgt.trace("long", long, np.ones(3))
  check.equal(lgt.stats().launches_replayed, stats.launches_replayed)
  check.that(np.all(np.isfinite(x)))
end)

check.done()
