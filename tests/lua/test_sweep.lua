-- What planning keeps is given back when nobody has it any more, however many different slices a program takes; and
-- what lasts is still right then.  Run with --jitter, which sweeps often.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"

local N, TURNS = 4000, 800
local KINDS = { "plans", "layouts", "footprints", "partitions" }

-- Runs turn(1) to turn(TURNS); what planning keeps must not grow with them.
local function bounded(turn)
  local most = {}
  for i = 1, TURNS do
    turn(i)
    if i % 50 == 0 then
      collectgarbage()
      local stats = lgt.stats()
      for _, kind in ipairs(KINDS) do most[kind] = math.max(most[kind] or 0, stats[kind]) end
    end
  end
  for _, kind in ipairs(KINDS) do
    check.that(most[kind] < TURNS / 2, ("%d turns, and there were %d %s at once"):format(TURNS, most[kind], kind))
  end
end

-- The sum of i, i + 1, ..., i + n - 1.
local function sum_from(i, n)
  return n * i + n * (n - 1) / 2
end

local function line()
  return np.arange(N):astype("float64")
end

check.case("a slice in each turn, and its sum", function()
  local x = line()
  bounded(function(i)
    check.equal(x[{ { i, i + 999 } }]:sum()(), sum_from(i - 1, 1000))
  end)
end)

check.case("many slices in a window", function()
  local x, results = line(), {}
  bounded(function(i)
    results[i] = (x[{ { i, i + 99 } }] + 1):sum()
    if i > 100 then
      check.equal(results[i - 100](), sum_from(i - 100, 100))
      results[i - 100] = nil
    end
  end)
end)

check.case("an array that grows", function()
  local x = line()
  bounded(function(i)
    check.equal((x[{ { 1, i + 5 } }] * 2):sum()(), 2 * sum_from(0, i + 5))
  end)
end)

check.case("written slices", function()
  local x, wanted = np.zeros(N), {}
  for i = 1, N do wanted[i] = 0 end
  bounded(function(i)
    local first, n = i, 1 + i * 7 % 30
    x[{ { first, first + n - 1 } }] = x[{ { first, first + n - 1 } }] + i
    for k = first, first + n - 1 do wanted[k] = wanted[k] + i end
    if i % 10 == 0 then lgt.flush() end
  end)
  check.equal(x:totable(), wanted)
end)

check.case("elements read one by one", function()
  local x = line()
  bounded(function(i)
    check.equal(x(i), i - 1)
  end)
end)

check.case("each slice twice, the second time much later", function()
  local x, at = line(), 0
  bounded(function(i)
    at = i % (TURNS / 2)
    check.equal(x[{ { at + 1, at + 50 } }]:sum()(), sum_from(at, 50))
  end)
end)

check.case("options that change all the time", function()
  local x = line()
  bounded(function(i)
    lgt.options { fusion = i % 2 }
    check.equal((x + i):sum()(), sum_from(i, N))
  end)
  lgt.options { fusion = 1 }
end)

-- Views, positions, results that are recipes, arrays that were written in tiles: made before, asked for afterwards.
check.case("what is older than the sweeps", function()
  local x, where = line(), np.arange(0, N, 3):astype("int64") + 1
  local view, back, written = x["3:-5:2"], x["::-1"], np.zeros(50, 40)
  written["2:-2, 3:-3"] = 4
  local function dropped()
    return x * 3, np.sum(x + 1)
  end
  dropped()
  collectgarbage()
  lgt.flush()
  local recipe = dropped()
  local picked = x[where]:sum()()
  check.equal(picked, x["::3"]:sum()())
  bounded(function(i)
    check.equal(x[{ { i, i + 9 } }]:sum()(), sum_from(i - 1, 10))
    if i % 100 == 0 then check.equal(x[where]:sum()(), picked) end
  end)
  check.equal(view:sum()(), np.sum(np.arange(2, N - 4, 2))())
  check.equal(back(1), N - 1)
  check.equal(recipe:sum()(), 3 * sum_from(0, N))
  written["1:-2"]:iadd(1)
  check.equal(written:sum()(), 4 * 48 * 36 + 49 * 40)
  check.that(#lgt.explain(x) > 0)
end)

check.done()
