-- Loops whose turns work on other slices: plans are shifted where they may be, and made anew where they may not.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np, lgt = require "array", require "lgt"

local random = math.random

-- A vector of lgt and the same as a table.
local function vector(n, seed)
  local numbers = {}
  for i = 1, n do numbers[i] = (i * 37 + seed * 11) % 64 / 8 end
  return { array = np.array(numbers), numbers = numbers }
end

-- A place for m elements of n, walked forwards or backwards: as an index, and as first and step.
local function place(n, m, step)
  local first = random(n - m + 1)
  if step < 0 then first = first + m - 1 end
  return { { first, first + (m - 1) * step, step = step } }, first, step
end

-- What a turn may do to vectors x and y through views of m elements; each with its own steps.
local actions = {
  -- x[a] = x[b] + x[c] / 2
  function(x, _, n, m, steps)
    local a, ka, sa = place(n, m, steps[1])
    local b, kb, sb = place(n, m, steps[2])
    local c, kc, sc = place(n, m, steps[3])
    x.array[a] = x.array[b] + x.array[c] / 2
    local new = {}
    for i = 0, m - 1 do new[i] = x.numbers[kb + i * sb] + x.numbers[kc + i * sc] / 2 end
    for i = 0, m - 1 do x.numbers[ka + i * sa] = new[i] % 64 end
    x.array[a] = x.array[a] % 64
  end,
  -- t = x[a] * y[b]; y[c] = t - x[a]
  function(x, y, n, m, steps)
    local a, ka, sa = place(n, m, steps[1])
    local b, kb, sb = place(n, m, steps[2])
    local c, kc, sc = place(n, m, steps[3])
    local t = x.array[a] * y.array[b]
    y.array[c] = (t - x.array[a]) % 32
    local new = {}
    for i = 0, m - 1 do
      local v = x.numbers[ka + i * sa]
      new[i] = (v * y.numbers[kb + i * sb] - v) % 32
    end
    for i = 0, m - 1 do y.numbers[kc + i * sc] = new[i] end
  end,
  -- x[a] += y[b]; y[a] = x[c]
  function(x, y, n, m, steps)
    local a, ka, sa = place(n, m, steps[1])
    local b, kb, sb = place(n, m, steps[2])
    local c, kc, sc = place(n, m, steps[3])
    x.array[a] = x.array[a] + y.array[b]
    y.array[a] = x.array[c]
    for i = 0, m - 1 do
      x.numbers[ka + i * sa] = x.numbers[ka + i * sa] + y.numbers[kb + i * sb]
    end
    local new = {}
    for i = 0, m - 1 do new[i] = x.numbers[kc + i * sc] end
    for i = 0, m - 1 do y.numbers[ka + i * sa] = new[i] end
    x.array[a] = np.minimum(x.array[a], 64)
    for i = 0, m - 1 do x.numbers[ka + i * sa] = math.min(x.numbers[ka + i * sa], 64) end
  end,
  -- x[one] = sum of y[a] (exact: multiples of 2^-k of few bits)
  function(x, y, n, m, steps)
    local a, ka, sa = place(n, m, steps[1])
    local one = random(n)
    x.array[one] = np.floor(y.array[a]):sum() % 16
    local sum = 0
    for i = 0, m - 1 do sum = sum + math.floor(y.numbers[ka + i * sa]) end
    x.numbers[one] = sum % 16
  end,
  -- x = a copy of it with y[b] at a
  function(x, y, n, m, steps)
    local a, ka, sa = place(n, m, steps[1])
    local b, kb, sb = place(n, m, steps[2])
    x.array = x.array:copy()
    x.array[a] = y.array[b]
    for i = 0, m - 1 do x.numbers[ka + i * sa] = y.numbers[kb + i * sb] end
  end,
}

local function run(seed)
  math.randomseed(seed)
  local n, count = random(6, 40), random(1, 4)
  local x, y, chosen, steps = vector(n, seed), vector(n, seed + 1), {}, {}
  for k = 1, count do
    chosen[k] = actions[random(#actions)]
    steps[k] = {}
    for j = 1, 3 do steps[k][j] = random() < 0.8 and 1 or -1 end
  end
  local flushes = random() < 0.7
  for _ = 1, random(10, 40) do
    local m = random(2, math.max(2, n - 3))
    for k = 1, count do chosen[k](x, y, n, m, steps[k]) end
    if flushes then lgt.flush() end
  end
  check.equal(x.array:totable(), x.numbers)
  check.equal(y.array:totable(), y.numbers)
end

check.case("random_slices", function()
  for seed = 1, 150 do
    local ok, why = pcall(run, seed)
    if not ok then error(("seed %d: %s"):format(seed, tostring(why)), 0) end
  end
  local stats = lgt.stats()
  check.that(stats.plans_shifted > 500, ("%d plans were shifted"):format(stats.plans_shifted))
end)

check.case("plans_are_shifted", function()
  local n = 60
  local a = np.zeros(n, n)
  lgt.flush()
  lgt.stats_reset()
  for j = 2, n do
    a[{ {}, j }] = a[{ {}, j - 1 }] * 0.5 + 1
    lgt.flush()
  end
  check.equal(a(n, n), 2 - 2 ^ -(n - 2))
  local stats = lgt.stats()
  check.that(stats.plans_shifted > n - 10 and stats.plans_made < 8,
    ("%d plans made, %d shifted"):format(stats.plans_made, stats.plans_shifted))
end)

-- Each turn is a window of its own; the first is planned with everything that was dropped known to be.
local function turns(sequence, turn)
  lgt.flush()
  for t, values in ipairs(sequence) do
    collectgarbage()
    turn(t, unpack(values))
    collectgarbage()
    lgt.flush()
  end
end

check.case("views_that_were_the_same_row_are_not_any_more", function()
  local m, seen = np.arange(40):reshape(8, 5), {}
  turns({ { 3, 3 }, { 3, 5 }, { 2, 2 }, { 7, 1 }, { 1, 7 } }, function(t, i, j)
    seen[t] = { m[i] + m[{ { j, j }, {} }], 5 * (i + j - 2) }
  end)
  for t = 1, #seen do check.equal(seen[t][1](1, 1), seen[t][2]) end
end)

check.case("results_that_had_one_size_do_not_any_more", function()
  local n = 9000
  local x, a, b = np.arange(n), np.zeros(n), np.zeros(n)
  turns({ { 800, 800 }, { 800, 800 }, { 600, 2900 }, { 2000, 400 }, { 300, 8000 } }, function(_, m, k)
    local u = x[{ { 1, m } }] * 2
    a[{ { 1, m } }] = np.flip(u) + u
    local v = a[{ { 1, k } }] * 3 -- after u, in whose memory it may be if it fits
    b[{ { 1, k } }] = np.flip(v) + v
  end)
  local v = a[{ { 1, 8000 } }]:totable()
  local got = b[{ { 1, 8000 } }]:totable()
  for i = 1, 8000 do check.equal(got[i], 3 * (v[i] + v[8001 - i])) end
end)

check.case("a_result_that_was_not_stored_is_computed_from_a_shifted_plan", function()
  local n = 40
  local v, kept = np.arange(n), {}
  for k = 3, n do
    local head = v[{ { 1, k - 1 } }]
    kept[k] = head * 2 + 1
    v[k] = kept[k]:sum() / (k * k)
    lgt.flush()
  end
  for k = 3, n do
    local now = kept[k]:totable()
    check.equal(#now, k - 1)
    check.equal(now[1], 1)
    check.equal(now[2], 3)
  end
end)

-- w is written over u's place only if each element of u is written where it was read.
check.case("what_may_be_written_over_lies_elsewhere_now", function()
  local n = 100000
  local views = { "3:-3", "2:-4", "4:-2", "1:-5", "5:", "3:-3" }
  local first = { 3, 2, 4, 1, 5, 3 }
  local w = np.ones({ 1, n - 4 }) * 2
  lgt.fence()
  local function turn(k)
    local x = (np.arange(n) + k):astype("float64")
    lgt.fence()
    local t = np.arange(n):astype("float64")
    local q = np.expand_dims(t["1:-5"], 1) * 5
    local u = x[views[k]] * w
    np.multiply(w, 3, { out = np.expand_dims(t["3:-3"], 1) })
    return t, q, u
  end
  for k = 1, #views do
    local t, q, u = turn(k)
    collectgarbage()
    collectgarbage()
    lgt.fence()
    check.equal(np.sum(u[1]:ne((np.arange(n - 4) + (first[k] - 1 + k)) * 2)):item(), 0)
    check.equal(np.sum(t["3:-3"]:ne(6)):item(), 0)
    check.equal(np.sum(q[1]:ne(np.arange(n - 4) * 5)):item(), 0)
  end
end)

check.case("new_shapes_leave_nothing_behind_in_lua", function()
  local n = 3000
  local v, m = np.arange(n), np.ones(4, n)
  local function turn(k)
    local x = v[{ { 1, k } }]
    local y = np.exp(x * 0) + x / 2 - x
    y:isub(m[{ 2, { 1, k } }])
    v[{ { 1, k } }] = np.flip(y):gt(0) * x
    v[k] = y:dot(x) * 0 + m[{ {}, { 1, k } }]:sum(2):max()
    np.where(y:lt(1), x, 0)
  end
  check.forgets(turn, n, 200)
end)

check.done()
