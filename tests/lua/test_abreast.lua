-- Loops of a task that run at once: values are those of plain Lua, and loops that need each other wait.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np, lgt = require "array", require "lgt"

local one_memory = lgt.C.lgt_domains(lgt.rt) == 1
lgt.options { abreast = 1, between = "1G" }

-- How many loops joined another one's step while f ran; and what it returned.
local function abreast(f)
  lgt.fence()
  local before = lgt.stats().passes_abreast
  local result = f()
  lgt.fence()
  return lgt.stats().passes_abreast - before, result
end

local function ramp(n, scale)
  local numbers = {}
  for i = 1, n do numbers[i] = scale * i % 8 end
  return numbers
end

-- Arrays of different lengths, so that each has loops of its own.
local function ensemble(count)
  local numbers, arrays = {}, {}
  for k = 1, count do
    numbers[k] = ramp(9 + k, k)
    arrays[k] = np.array(numbers[k])
  end
  return numbers, arrays
end

local function equal(arrays, numbers)
  for k, x in ipairs(arrays) do check.equal(x:totable(), numbers[k]) end
end

check.case("independent arrays", function()
  local numbers, arrays = ensemble(7)
  local n = abreast(function()
    for _ = 1, 3 do
      for k, x in ipairs(arrays) do arrays[k] = x * 0.5 + k end
    end
  end)
  for _ = 1, 3 do
    for k, x in ipairs(numbers) do
      for i = 1, #x do x[i] = x[i] * 0.5 + k end
    end
  end
  if one_memory then check.equal(n, 6) end -- three turns are one loop, since each element needs but itself
  equal(arrays, numbers)
  lgt.stats_reset()
  check.equal(lgt.stats().passes_abreast, 0)
end)

check.case("a turn reads what neighbours left in the turn before", function()
  local numbers, arrays = ensemble(6)
  local n = abreast(function()
    for _ = 1, 5 do
      local sums = {}
      for k, x in ipairs(arrays) do sums[k] = x:sum() end
      for k, x in ipairs(arrays) do arrays[k] = x * 0.5 + sums[k % 6 + 1] * 0.25 end
    end
  end)
  for _ = 1, 5 do
    local sums = {}
    for k, x in ipairs(numbers) do
      sums[k] = 0
      for i = 1, #x do sums[k] = sums[k] + x[i] end
    end
    for k, x in ipairs(numbers) do
      for i = 1, #x do x[i] = x[i] * 0.5 + sums[k % 6 + 1] * 0.25 end
    end
  end
  if one_memory then check.that(n >= 25) end
  equal(arrays, numbers)
end)

check.case("a chain has nothing to run at once", function()
  local total = np.zeros {}
  local n = abreast(function()
    for k = 1, 8 do total = (np.arange(10 + k) + total):sum() end
  end)
  local wanted = 0
  for k = 1, 8 do
    local sum = 0
    for i = 0, 9 + k do sum = sum + i + wanted end
    wanted = sum
  end
  check.equal(n, 0)
  check.equal(total:item(), wanted)
end)

-- Rows of one array of which so many elements are written, from a first one on.
local function write_rows(rows)
  local a, wanted = np.zeros(5, 40), {}
  local n = abreast(function()
    for k, row in ipairs(rows) do
      a[{ row[1], { row[2], row[3] } }] = np.arange(row[3] - row[2] + 1) + 10.0 * k
    end
  end)
  for i = 1, 5 do
    wanted[i] = {}
    for j = 1, 40 do wanted[i][j] = 0 end
  end
  for k, row in ipairs(rows) do
    for j = row[2], row[3] do wanted[row[1]][j] = j - row[2] + 10 * k end
  end
  check.equal(a:totable(), wanted)
  return n
end

check.case("parts of one array", function()
  local n = write_rows { { 1, 1, 10 }, { 2, 1, 11 }, { 3, 4, 15 }, { 4, 1, 13 }, { 5, 20, 33 }, { 1, 11, 25 } }
  if one_memory then check.that(n >= 4) end
end)

check.case("parts that overlap are written one after another", function()
  for _ = 1, 20 do write_rows { { 1, 1, 20 }, { 1, 2, 20 }, { 1, 3, 20 }, { 1, 4, 20 }, { 1, 1, 5 } } end
end)

check.case("windows that differ in where they write", function() -- whose plan is shifted
  for first = 1, 12 do
    write_rows { { 1, first, first + 9 }, { 1, 12, 22 }, { 1, 23, 34 }, { 2, first, first + 12 } }
  end
end)

check.case("new arrays take the memory of those that are garbage", function()
  local numbers, arrays = ensemble(5)
  for turn = 1, 30 do
    local total = 0
    for k = 1, 5 do
      local sum = arrays[k]:sum() -- before others are written in memory of this length
      arrays[k] = arrays[k] * 0.5 + sum * 0.125
    end
    for k = 1, 5 do
      local sum = 0
      for i = 1, #numbers[k] do sum = sum + numbers[k][i] end
      for i = 1, #numbers[k] do numbers[k][i] = numbers[k][i] * 0.5 + sum * 0.125 end
      total = total + sum
    end
    collectgarbage()
    if turn % 7 == 0 then lgt.flush() end
    check.that(total > 0)
  end
  for k, x in ipairs(arrays) do check.that(np.allclose(x, np.array(numbers[k]))) end
end)

check.case("reductions in several chunks", function()
  local arrays = {}
  for k = 1, 6 do arrays[k] = np.arange(20000 + 2 * k) * 1.0 end
  local sums = {}
  local n = abreast(function()
    for k = 1, 6 do sums[k] = arrays[k]:sum() end
  end)
  for k, sum in ipairs(sums) do
    local m = 20000 + 2 * k
    check.equal(sum:item(), m * (m - 1) / 2)
  end
  if one_memory then check.that(n > 0) end
end)

-- Loops beyond the first that so many independent items over one space become.
local function dealt(count) return math.min(count, lgt.C.lgt_workers(lgt.rt)) - 1 end

check.case("reductions over one space that share nothing", function()
  local arrays, out = {}, np.zeros(8, 3000)
  for k = 1, 8 do arrays[k] = np.arange(3000) * 0.5 + k end
  local factor, sums = np.array(3) * 1.0, {}
  local n = abreast(function() -- what each stores, and sums, is its own; all read the factor
    for k, x in ipairs(arrays) do
      out[k] = x * factor
      sums[k] = out[k]:sum()
    end
  end)
  if one_memory then check.equal(n, dealt(8)) end
  for k, sum in ipairs(sums) do
    check.equal(sum:item(), 3 * (3000 * 2999 / 4 + 3000 * k))
    check.equal(out(k, 3000), 3 * (2999 / 2 + k))
  end
end)

check.case("reductions of one array are one loop", function()
  local x = np.arange(3000) * 1.0
  local sum, least, most
  local n = abreast(function() sum, least, most = x:sum(), x:min(), x:max() end)
  check.equal(n, 0)
  check.equal({ sum:item(), least:item(), most:item() }, { 3000 * 2999 / 2, 0, 2999 })
end)

check.case("reductions that share nothing, but what is computed of both", function()
  local x, y, z = np.arange(500) * 1.0, np.arange(500) * 2.0, np.arange(500) * 4.0
  local both, alone
  local n = abreast(function() both, alone = (x * 3 + y * 5):sum(), z:sum() end)
  if one_memory then check.equal(n, dealt(2)) end
  check.equal({ both:item(), alone:item() }, { 13 * 500 * 499 / 2, 4 * 500 * 499 / 2 })
end)

-- Passes of f, once there is nothing new.
local function passes(f)
  f()
  lgt.fence()
  local before = lgt.stats().passes
  f()
  lgt.fence()
  return lgt.stats().passes - before
end

check.case("reductions that cost too little for another worker are one loop", function()
  lgt.options { abreast = "16K" }
  local x, dear, y = {}, np.arange(500) * 0.5, np.arange(500) * 0.25
  for k = 1, 8 do x[k] = np.arange(300) * 0.5 + k end
  local sums, sum = {}
  local chains = passes(function() -- what is computed on the way stays in registers, and costs no bytes
    for k = 1, 8 do sums[k] = (x[k] + 0.25 + 0.5 + 0.75 + 1):sum() end
  end)
  local unequal = passes(function() sums[9], sum = np.sin(np.sin(np.sin(dear))):sum(), y:sum() end)
  if one_memory then check.equal({ chains, unequal }, { 1, 1 }) end
  check.equal({ sums[8]:item(), sum:item() }, { 300 * 299 / 4 + 300 * 10.5, 500 * 499 / 8 })
  lgt.options { abreast = 1 }
end)

check.case("arrays that share nothing and fill the nearest cache are read few at once", function()
  local counts = {}
  for _, n in ipairs { 100, 8000 } do
    lgt.options { abreast = n } -- and no plan for other lengths is at hand
    local x, y = {}, {}
    for k = 1, 16 do x[k], y[k] = np.arange(n) * 1.0 + k, np.zeros(n) end
    local own = passes(function() for k = 1, 16 do y[k]["..."] = x[k] * 2 + 1 end end)
    local shared = passes(function() for k = 1, 12 do y[k]["..."] = x[1] * k end end)
    local left = passes(function() -- another loop reads it all
      for k = 1, 6 do y[k]["..."] = x[k] * 3 end
      local sum = 0
      for k = 1, 6 do sum = sum + y[k]["1:-2"] end
      y[7]["2:"] = sum
    end)
    check.equal({ y[6](n), y[7](2), y[12](n), y[16](n) }, { 3 * (n + 5), 3 * 21, 12 * n, 2 * (n + 15) + 1 })
    counts[n] = { own, shared, left }
  end
  if one_memory then check.equal({ counts[100], counts[8000] }, { { 1, 1, 2 }, { 4, 1, 2 } }) end
  lgt.options { abreast = 1 }
end)

check.case("so are pieces of one array, but not its columns", function()
  local x, y, columns = np.arange(64000) * 1.0, np.zeros(64000), np.ones(8000, 12)
  local pieces = passes(function()
    for first = 1, 64000, 4000 do
      local piece = ("%d:%d"):format(first, first + 3999)
      y[piece] = x[piece] * 0.5
    end
  end)
  local interleaved = passes(function()
    for k = 1, 12 do
      local column = (":, %d"):format(k)
      columns[column] = columns[column] * 2 + k
    end
  end)
  if one_memory then check.equal({ pieces, interleaved }, { 4, 1 }) end
  check.equal({ columns(1, 1), columns(8000, 12) }, { 7, 40 })
  check.equal(np.max(np.abs(y - x * 0.5)):item(), 0)
end)

check.case("the option turns it off", function()
  lgt.options { abreast = 0 }
  local _, arrays = ensemble(7)
  local n = abreast(function()
    for k, x in ipairs(arrays) do arrays[k] = x * 0.5 + k end
  end)
  check.equal(n, 0)
  lgt.options { abreast = 1 }
end)
