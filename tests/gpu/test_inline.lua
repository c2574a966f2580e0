-- What one loop would leave in memory for another, the other computes anew (src/core/plan/inline.h): the numbers are
-- the same.
local check = dofile(arg[0]:match("^(.*/)") .. "../lua/check.lua")
local lgt, np = require "lgt", require "array"

-- What f returns, as Lua tables, and how many loops that took.
local function loops(f)
  lgt.fence()
  local before = lgt.stats().passes
  local result = {f()}
  lgt.fence()
  local passes = lgt.stats().passes - before
  for i = 1, #result do result[i] = result[i]:totable() end
  return passes, unpack(result)
end

local function squares(n)
  local a = {}
  for i = 1, n do a[i] = i * i end
  return np.array(a) * 1.0
end

check.case("a stencil of a stencil is one loop", function()
  local a = squares(9)
  local passes, b = loops(function()
    local s = a["2:"] - a[":-2"]
    local b = s["2:"] * s[":-2"]
    s = nil -- luacheck: ignore
    return b
  end)
  check.equal(passes, 1)
  for i = 1, 7 do check.equal(b[i], (2 * i + 3) * (2 * i + 1)) end
end)

check.case("along rows and columns, of two results, and a third on top", function()
  local a = squares(30):reshape(5, 6)
  local function at(i, j) return (6 * (i - 1) + j) ^ 2 end
  local function s(i, j) return at(i + 1, j) - at(i, j) end
  local function t(i, j) return at(i, j + 1) + s(i, j) * 0.5 end
  local passes, b = loops(function()
    local down = a["2:, :"] - a[":-2, :"]
    local across = a[":-2, 2:"] + down[":, :-2"] * 0.5
    return across["2:, 2:"] - across[":-2, :-2"]
  end)
  check.equal(passes, 1)
  for i = 1, 3 do
    for j = 1, 4 do check.equal(b[i][j], t(i + 1, j + 1) - t(i, j)) end
  end
end)

check.case("the lines of a result, each for all rows", function()
  local a = squares(12):reshape(3, 4)
  local _, b = loops(function()
    local s = a * 2
    return a + s["2, :"], a - s[":, 3:3"]
  end)
  for i = 1, 3 do
    for j = 1, 4 do check.equal(b[i][j], (4 * (i - 1) + j) ^ 2 + 2 * (4 + j) ^ 2) end
  end
end)

check.case("what is read is overwritten in between, and in place", function()
  local a = squares(9)
  local _, b, c = loops(function()
    local s = a["2:"] - a[":-2"]
    a["3:5"] = 0
    local b = s["2:"] * s[":-2"]
    local u = a["2:"] + a[":-2"]
    a["2:-2"] = u["2:"] - u[":-2"]
    return b, a
  end)
  local old = {1, 4, 0, 0, 0, 36, 49, 64, 81}
  for i = 1, 7 do
    check.equal(b[i], (2 * i + 3) * (2 * i + 1))
    check.equal(c[i + 1], old[i + 2] - old[i])
  end
end)

check.case("a result that somebody looks at afterwards", function()
  local a = squares(9)
  local s = a["2:"] - a[":-2"]
  local b = s["2:"] * s[":-2"]
  check.equal(b[3]:item(), 9 * 7)
  a:iadd(1)
  check.equal(s[4]:item(), 9)
end)

check.case("backwards, every second one, and parts that two loops write", function()
  local a = squares(10)
  local _, b, c, d = loops(function()
    local s, p = a + 1, np.empty(10)
    p["1:5"] = a["6:10"] * 2
    p["6:10"] = a["1:5"] * 3
    return s["-1:2:-1"] - s[":-2"], s["1:9:2"] + s["2:10:2"], p["2:"] - p[":-2"]
  end)
  local function p(i) return i <= 5 and 2 * (i + 5) ^ 2 or 3 * (i - 5) ^ 2 end
  for i = 1, 9 do
    check.equal(b[i], (11 - i) ^ 2 - i ^ 2)
    check.equal(d[i], p(i + 1) - p(i))
  end
  for i = 1, 5 do check.equal(c[i], (2 * i - 1) ^ 2 + (2 * i) ^ 2 + 2) end
end)

check.case("complex numbers, positions, and a sum of the result", function()
  local z = np.complex(squares(6), squares(6))
  local passes, sum = loops(function()
    local s = z["2:"] * z[":-2"] + np.arange(5)
    return np.sum(np.imag(s["2:"] - s[":-2"]))
  end)
  check.equal(passes <= 2, true)
  check.equal(sum, 2 * (36 * 25 - 4 * 1))
end)

check.case("what takes long is not computed twice", function()
  local a = np.ones(40000)
  local passes, b = loops(function()
    local s = a
    for _ = 1, 20 do s = np.exp(-s) end
    return s["2:"] - s[":-2"]
  end)
  check.equal(passes, 2)
  check.equal(b[7], 0)
end)

check.case("a loop that would have too many accesses stays as it is", function()
  local a = np.arange(5000):astype("float64")
  lgt.fence()
  local function sums()
    local all = a["1:3000"] * 1.0
    for k = 1, 29 do all = all + a[("%d:%d"):format(1 + 3 * k, 3000 + 3 * k)] end
    local r = all["1:500"] * 1.0
    for k = 1, 21 do r = r + all[("%d:%d"):format(1 + 90 * k, 500 + 90 * k)] end
    return r
  end
  local r = sums()
  collectgarbage()
  check.equal(r:sum():item(), 408540000)
end)

-- What a script prints, and what it logs, in a process of its own.
local function output(environment, script)
  local program, path = 0, os.tmpname()
  while arg[program - 1] do program = program - 1 end
  local file = io.open(path, "w")
  file:write(script)
  file:close()
  local pipe = io.popen(("%s '%s' --gpus 1 --cpus 1 %s 2>&1"):format(environment, arg[program], path))
  local text = pipe:read("*a")
  pipe:close()
  os.remove(path)
  return text
end

check.case("what was woven is shown with the loops that are left", function()
  local text = output("LGT_DEBUG=weave:3", [[
    local np = require "array"
    local a = np.arange(1000):astype("float64")
    require "lgt".fence()
    local s = a * 2
    local d = s["2:"] - s[":-2"]
    local e = d["2:"] * d[":-2"]
    s, d = nil, nil
    local text = tostring(e)]])
  local function item(kind) return text:match("item %d+: ([^,]*), " .. kind) end
  check.equal(text:match("group of calls 0 to 2, over 1 colour: (%d+) loop"), "1")
  check.equal(item("multiply:float64,#i"), "inlined")
  check.equal(item("subtract"), "inlined")
  check.equal(item("multiply:float64,float64"), "loop 0")
end)

-- What f(step) returns must be the same where step() ends the task after each operation.  The loops it takes otherwise.
local function loops_alike(f)
  local passes, together = loops(function() return f(function() end) end)
  local apart = f(lgt.fence):totable()
  for i, row in ipairs(together) do
    for j, value in ipairs(row) do
      if value ~= apart[i][j] then check.equal({i, j, value}, {i, j, apart[i][j]}) end
    end
  end
  return passes
end

-- Stencils of stencils along both dimensions, or only along the rows, that take long.
local function long_stencils(a, down)
  return function(step)
    local x = a[":, 2:"] / (1 + a[":, :-2"]) step()
    x = np.sqrt(x) / (x + 2) step()
    x = 1 / (x * x + 1) step()
    x = x / (x + 3) step()
    local y = x[":, 2:"] - x[":, :-2"] step()
    if down then
      y = y["2:, :"] / (3 + y[":-2, :"]) step()
      y = y / (y + 1) step()
      y = y["2:, :"] - y[":-2, :"] step()
    end
    x = nil -- luacheck: ignore
    return y
  end
end

local function numbers(rows, cols)
  return np.arange(rows * cols):reshape(rows, cols) * 1e-3 + 1
end

check.case("neighbours share what they compute alike; odd rows and columns are loops of their own", function()
  check.equal(loops_alike(long_stencils(numbers(372, 374), true)), 1)
  check.equal(loops_alike(long_stencils(numbers(373, 375), true)), 3)
  check.equal(loops_alike(long_stencils(numbers(372, 375), true)), 2)
  check.equal(loops_alike(long_stencils(numbers(300, 375), false)), 2)
  check.equal(loops_alike(long_stencils(numbers(20, 21), true)), 1) -- too few elements
end)

check.case("patches of four rows where many elements share along these", function()
  local function differences(a)
    return function(step)
      local x = a
      for _ = 1, 6 do x = 1 / (x + 2) step() end
      return x["2:, :"] - x[":-2, :"]
    end
  end
  check.equal(loops_alike(differences(numbers(533, 512))), 1)
  check.equal(loops_alike(differences(numbers(535, 512))), 2) -- two rows are left
  loops_alike(differences(numbers(4, 120000))) -- fewer rows than that
end)

check.case("no patch stores where it loads from", function()
  local text = output("LGT_CHECK=1 LGT_DEBUG=weave:3", [[
    local np = require "array"
    local a, row = np.ones(373, 375), np.arange(375) * 1e-3
    require "lgt".fence()
    for _ = 1, 12 do row = 1 / (row + 2) end
    a = a + row -- might be in the memory of the former one
    row = nil
    local text = tostring(a)
    print("the sum", a["373, 375"])]])
  check.equal(text:match(".* over 1 colour: (%d) loops"), "3")
  check.equal(text:match("the sum%s(%S+)") or text, "1.4142135623465504")
end)

check.case("the next slice has neighbours of its own", function()
  local a = numbers(2 * 372, 375 * 3):reshape(2, 372, 375, 3)
  local function slopes(step)
    local out = np.zeros(2, 372, 374, 3)
    lgt.fence()
    for k = 1, 2 do
      local left, right = a[k .. ", :, :-2, 1"], a[k .. ", :, 2:, 1"]
      local x = np.sin(left) step()
      x = x / (left + 1) step()
      local y = np.sin(right) step()
      y = y / (right + 1) step()
      out[k .. ", :, :, 1"] = y - x
      x, y, left, right = nil, nil, nil, nil -- luacheck: ignore
      lgt.fence()
    end
    return out
  end
  local together = slopes(function() end)
  check.equal(np.sum(together:ne(slopes(lgt.fence))):item(), 0)
end)

check.case("rows are written that an inlined loop does not read of the same array", function()
  local text = output("LGT_CHECK=1", [[
    local np = require "array"
    local a = np.arange(42 * 9):reshape(42, 9) * 1.0
    require "lgt".fence()
    local s = a:ne(1.5)
    a["11:19, :"] = np.logical_or(s, s)["33, :"]:astype("float32")
    s = nil
    print("the sum", np.sum(a):item())]])
  check.equal(text:match("the sum%s(%S+)") or text, "60804")
end)

check.case("a reader of more than one loop has stored is cut", function()
  -- The mean of two states and what becomes of them within borders; `right`: how many columns are left on that side.
  local function means(rows, cols, right)
    local a, b = numbers(rows, cols), numbers(rows, cols) * 2
    local inside, here = ("2:-2, 3:-%d"):format(right + 1), ("1:-3, 3:-%d"):format(right + 1)
    local there = ("3:, 2:-%d"):format(right + 2)
    return function(step)
      a[":, 1"] = 5 step()
      local c, d = a:copy(), b:copy() step()
      c[inside]:isub(a[here] * b[there]) step()
      d[inside]:isub(b[here] / a[there]) step()
      return 0.5 * (a + c) - 0.25 * (b + d)
    end
  end
  -- The column of fives; the inside; rows at the top and below; columns on both sides, one loop if they are as many.
  check.equal(loops_alike(means(600, 610, 2)), 4)
  check.equal(loops_alike(means(600, 610, 3)), 5)
  check.equal(loops_alike(means(30, 31, 2)) > 4, true) -- too small
end)

check.case("what a large result is made of need not be read twice", function()
  local h, u, v = np.ones(800, 900) * 2, np.ones(800, 900), np.ones(800, 900)
  local passes, most = loops(function()
    return np.max((np.maximum(np.abs(u), np.abs(v)) / h + np.sqrt(h * 2))["3:-3, 3:-3"])
  end)
  check.equal(most, 2.5)
  check.equal(passes, 1)
end)

check.case("large arrays that are changed in place and read by neighbours end no task", function()
  local a = np.arange(1100 * 1000):reshape(1100, 1000) * 1.0
  lgt.fence()
  local before = lgt.stats().tasks
  a["1:1, :"] = 0
  local s = a["2:, :"] - a[":-2, :"]
  a["1:1, :"] = 1
  local t = a["2:, :"] - a[":-2, :"]
  local product = s * t
  s, t = nil, nil -- luacheck: ignore
  lgt.fence()
  check.equal(lgt.stats().tasks - before, 1)
  check.equal(product["1, 1"]:item(), 1000 * 999)
  check.equal(product["3, 5"]:item(), 1000 * 1000)
end)

check.case("what a version has of the one before the last is read from memory", function()
  lgt.options { between = 10000 } -- temporaries of the group are not kept for recipes
  local function border(settle)
    local x = (np.arange(64 * 33) % 32):reshape(64, 33):astype("float64") + 0.0
    local s = np.zeros(33)
    lgt.fence()
    for turn = 1, 7 do
      x["2:-2, 2:-2"] = x["2:-2, 2:-2"]["::-1, :"] + 1
      settle()
      if turn % 2 == 0 then
        s["..."] = s + x["1, :"] * turn
        settle()
      end
    end
    return { s:totable(), x:totable() }
  end
  check.equal(border(function() end), border(lgt.fence))
end)

return check.done()
