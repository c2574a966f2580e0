-- What C launches again (runtime/routine.c) is what the function of the array library launches, to the bit and at its
-- line; and where it must not, the function is called.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"
local native = require "array.core.native"
local routine = require "array.core.routine"

local front = lgt.front
local KEPT = front.all_lines == 0 and not lgt.reproducible()

local by_steps, same = check.by_steps, check.same

local function line() return debug.getinfo(2, "l").currentline end

local function values(...) return (np.sin(np.arange(np.zeros(...).size) * 1.7) * 8):reshape(...) end

-- How often a function is called, the results of a routine of which are looked at.
local function counting(f)
  local count = 0
  local r = routine.new(function(...)
    count = count + 1
    return f(...)
  end)
  return r, function() return count end
end

local function arrays()
  local m, c = values(6, 5), values(3, 4, 5)
  return {
    values(7), values(1), values(12)["::3"], values(9)["::-2"], m, m.T, m["2:5,::2"], m["3"], m[{ {}, 2 }], c,
    c:transpose({ 3, 1, 2 }), np.broadcast_to(values(4), 3, 4), values(23)["2:"]:reshape(2, 11), np.zeros(0),
    np.zeros(3, 0), values(2, 3, 2, 2),
  }
end

local DTYPES = { "float64", "float32", "int32", "uint8", "bool", "complex64" }

-- f, time and again, gives what it does step by step, or the same error.
local function alike(what, f, ...)
  local fine, wanted = pcall(by_steps, f, ...)
  for i = 1, 4 do
    local good, got = pcall(f, ...)
    check.that(good == fine, ("%s, call %d: %s, not %s"):format(what, i, tostring(got), tostring(wanted)))
    if good then
      same(got, wanted, ("%s, call %d"):format(what, i))
    else
      check.equal(got:gsub("^.-:%d+: ", ""), wanted:gsub("^.-:%d+: ", ""))
    end
  end
end

check.case("lines of an axis: sorts, scans, extrema", function()
  local axes = { {}, { 1 }, { -1 }, { 2 } }
  for i, x in ipairs(arrays()) do
    for k, name in ipairs { "sort", "argsort", "cumsum", "cumprod", "nancumsum", "argmax", "argmin" } do
      local dtype = DTYPES[(i + k) % #DTYPES + 1]
      alike(name .. i, np[name], x, unpack(axes[(i + k) % 4 + 1]))
      alike(name .. i .. dtype, np[name], x:astype(dtype), unpack(axes[(i + 2 * k) % 4 + 1]))
    end
  end
end)

check.case("joined and turned", function()
  for i, x in ipairs(arrays()) do
    local axis = ({ 1, -1, 2, 0.5 })[i % 4 + 1]
    alike("concatenate " .. i, np.concatenate, { x, x * 2 }, axis)
    alike("concatenate itself " .. i, np.concatenate, { x, x })
    alike("stack " .. i, np.stack, { x, x * 2, x:astype("float32") }, axis)
    alike("vstack " .. i, np.vstack, { x, x + 1 })
    alike("roll " .. i, np.roll, x, 2)
    alike("roll " .. i, np.roll, x, -1, axis)
    alike("roll " .. i, np.roll, x, i % 2, 1)
  end
  alike("roll", np.roll, values(4, 5), { 1, 2 }, { 1, -1 })
  local many = {}
  for i = 1, 12 do
    many[i] = values(3) + i
    if i > 6 then alike("of many " .. i, np.concatenate, many) end
  end
  alike("ranges of one array", function(x) return np.concatenate { x["4:6"], x["1:2"], x["::3"] } end, values(7))
end)

check.case("products and systems of equations", function()
  local a, b, v = values(4, 3), values(3, 5), values(3)
  local square = values(3, 3) + 9 * np.eye(3)
  for _, text in ipairs { "ij,jk->ik", "ij,jk->ki", "ij,jk->i", "ij,kj", "ij->j", "iz,jk" } do
    alike(text, np.einsum, text, a, b)
  end
  for _, text in ipairs { "ij->ji", "ij->i", "ii", "..." } do alike(text, np.einsum, text, a) end
  for _, text in ipairs { "ii", "ii->i", "ij,ij", "ij,kj->ik", "ij,ji", "ij,jk,kl->il" } do
    alike(text, np.einsum, text, square, square)
    alike(text, np.einsum, text, square, square * 2)
    alike(text, np.einsum, text, square)
  end
  alike("three", np.einsum, "ij,jk,j->k", a, b, v)
  alike("dtypes", np.einsum, "ij,jk", a, b:astype("int32"))
  alike("options", np.einsum, "ij,jk", a, b, { dtype = "complex128" })
  alike("numbers", np.einsum, "i,->i", v, 2)
  alike("no text", np.einsum, a, b)
  for _, right in ipairs { v, values(3, 2), values(4), values(2, 3, 1), v:astype("float32") } do
    alike("solve", np.linalg.solve, square, right)
    alike("solve", np.linalg.solve, square.T, right)
    alike("solve", np.linalg.solve, a, right)
    alike("solve", np.linalg.solve, square:astype("int64"), right)
  end
end)

check.case("the function is called no more, and again where it must be", function()
  local f, count = counting(function(a, x) return np.sort(a * 2, x) + 1 end)
  local x = values(4, 5)
  for i = 1, 9 do
    local y = values(4, 5) * i
    same(routine.of_array(f, y, 1), np.sort(y * 2, 1) + 1, i)
  end
  check.equal(count(), KEPT and 2 or 9)
  local before = count()
  routine.of_array(f, x, 2)
  routine.of_array(f, x.T, 1)
  check.equal(count(), before + 2)

  local pair, pairs_of = counting(function(a, b) return a:dot(b) end)
  for _ = 1, 9 do same(routine.of_pair(pair, x, x.T), x:dot(x.T), "one array") end
  check.equal(pairs_of(), KEPT and 2 or 9)
  local y, z = values(4, 5), values(4, 5).T
  for _ = 1, 3 do same(routine.of_pair(pair, y, z), y:dot(z), "two arrays") end
  check.equal(pairs_of(), KEPT and 3 or 12) -- these are watched now
end)

check.case("what waits, what is there before, and views are not kept", function()
  local constant = np.arange(5) * 0.5
  local ways = {
    function(a) return a:sum():item() > 0 and a + 1 or a - 1 end,
    function(a) return a + constant end,
    function(a) return a["::2"] end,
    function(a) return a + np.array { 1, 2, 3, 4, 5 } end,
    function(a)
      for i = 1, 12 do a = a * i end
      return a
    end,
    function() return 3 end,
  }
  for k, f in ipairs(ways) do
    local r, count = counting(f)
    for i = 1, 8 do
      constant[1] = i
      local x = values(5) * (i % 2 == 0 and 1 or -1)
      local got, wanted = routine.of_array(r, x), f(x)
      if rawequal(wanted, 3) then check.equal(got, 3) else same(got, wanted, k) end
    end
    check.equal(count(), 8)
  end
end)

check.case("what fails does so at the line that called", function()
  for i = 1, 6 do
    local fine = np.linalg.solve(np.eye(3) * i, values(3))
    local bad, at = np.linalg.solve(np.zeros(3, 3), values(3)), line()
    same(fine, values(3) / i, i)
    local ok, why = pcall(function() return (bad + 1):totable() end)
    check.that(not ok and why:find(":" .. at .. "%)$"), ("line %d is not that of: %s"):format(at, tostring(why)))
    pcall(lgt.fence)
  end
  local gone = values(3)
  for _ = 1, 5 do np.sort(gone) end
  gone:free()
  check.refuses("sort: the array was released", function() np.sort(gone) end)
  check.refuses("released", function() np.concatenate { values(3), gone } end)
end)

check.case("results that are changed change nothing else", function()
  local x = values(6)
  for i = 1, 8 do
    local joined, sorted = np.concatenate { x, x }, np.sort(x)
    joined[1], sorted[2] = i + 50, i + 60
    check.equal({ joined(1), sorted(2) }, { i + 50, i + 60 })
    same(x, values(6), i)
  end
end)

check.case("between flushes, and with few launches left", function()
  local x = values(5)
  local wanted = by_steps(function() return np.sort(np.concatenate { x, np.cumsum(x) }) end)
  for i = 1, 1500 do
    local got = np.sort(np.concatenate { x, np.cumsum(x) })
    if i % 100 == 0 then same(got, wanted, i) end
  end
end)

check.case("in a trace that the script names", function()
  local x = values(5)
  local wanted = by_steps(np.sort, x)
  local function turn() return np.sort(np.concatenate { x["1:2"], x["3:5"] }) end
  for i = 1, 20 do same(lgt.trace("sorts", turn), wanted, i) end
end)

check.case("layouts that come and go", function()
  check.forgets(function(i)
    local x = np.zeros(10 + i)["1:5"]
    for _ = 1, 3 do np.sort(x) end
  end, 8000, 2000)
  local launches = 0
  local lines = native.lines
  native.lines = function(...)
    launches = launches + 1
    return lines(...)
  end
  local x = values(5)
  for _ = 1, 10 do np.sort(x) end
  native.lines = lines
  check.equal(launches, KEPT and 2 or 10)
end)

check.case("options, numbers and lines that a routine must not forget", function()
  local x, m, v = np.arange(5), np.ones(60, 77), np.ones(77, 50)
  for _ = 1, 5 do
    np.sort(x)
    np.roll(x, 0)
    np.einsum("ij,jk", m, v)
  end
  check.refuses("axis -0.75", function() np.sort(x, -0.75) end)
  check.refuses("number of places", function() np.roll(x, 1e-20) end)
  for _ = 1, 5 do np.roll(x, 2 ^ 52 + 1) end
  check.equal(np.roll(x, 2 ^ 52 + 2):totable(), np.roll(x, (2 ^ 52 + 2) % 5):totable())
  lgt.options { reproducible = true }
  check.equal(np.einsum("ij,jk", m, v):sum():item(), 60 * 77 * 50)
  lgt.options { reproducible = false }
end)

check.case("where the first calls know no line, later ones do", function()
  for i = 1, 4 do coroutine.wrap(np.linalg.solve)(np.eye(3) * i, np.ones(3)) end
  local ok, message = pcall(function() np.linalg.solve(np.zeros(3, 3), np.ones(3)):totable() end)
  check.that(not ok and message:find("launched at .*test_routine.lua:%d+"), tostring(message))
end)

check.done()
