-- What C launches in one call (runtime/launch.c) is what the array library launches step by step, to the bit and at its
-- line; and it launches nothing where something is to be done first.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"
local core, ufunc, reduce = require "array.core", require "array.core.ufunc", require "array.core.reduce"

local C, rt, front = lgt.C, lgt.rt, lgt.front

local by_steps, same = check.by_steps, check.same

local function line() return debug.getinfo(2, "l").currentline end

-- The same of C alone; nil: nothing was launched.
local function wrapped(id)
  check.that(id ~= 0, "C has launched nothing")
  return lgt.wrap_launched(id)
end
local function pair(u, a, b) return wrapped(C.lgt_launch_pair(rt, u.fast, a.id, b.id)) end
local function single(u, a) return wrapped(C.lgt_launch_single(rt, u.fast, a.id)) end
local function before(u, a, x) return wrapped(C.lgt_launch_before(rt, u.fast, a.id, x)) end
local function after(u, x, a) return wrapped(C.lgt_launch_after(rt, u.fast, x, a.id)) end
local function product(a, b) return wrapped(C.lgt_launch_product(rt, reduce.DOT.fast, a.id, b.id)) end

-- Twice: the first call learns, and the second is C's where it has learnt.
local function check_twice(what, f, ...)
  local wanted = by_steps(f, ...)
  same(f(...), wanted, what)
  same(f(...), wanted, what .. ", again")
  return wanted
end

local DTYPES = { "bool", "int64", "uint8", "float16", "float32", "float64", "complex64" }

-- A vector and a number without dimensions of each.
local function operands(dtype)
  local x = (np.arange(6) % 3 + 1):astype(dtype)
  return { x, x[2] }
end

local UNARY = { "negative", "sqrt", "abs", "logical_not", "isnan", "invert" }
local BINARY = { "subtract", "divide", "power", "less", "bitwise_xor" }

-- Some operations do not take some types, or shapes: then both ways say so.
local function alike(what, f, ...)
  local ok, why = pcall(by_steps, f, ...)
  if ok then return check_twice(what, f, ...) end
  for _ = 1, 2 do
    local went, message = pcall(f, ...)
    check.that(not went, what .. " should raise")
    check.equal((message:gsub("^[^:]*:%d+: ", "")), (why:gsub("^[^:]*:%d+: ", "")))
  end
end

check.case("every type, with and without dimensions", function()
  local launched = 0
  for _, first in ipairs(DTYPES) do
    for _, a in ipairs(operands(first)) do
      for _, name in ipairs(UNARY) do
        local u = ufunc.all[name]
        local wanted = alike(name .. " " .. first, u, a)
        if wanted then
          same(single(u, a), wanted, name .. " " .. first .. " in C")
          launched = launched + 1
        end
      end
      for _, second in ipairs(DTYPES) do
        for _, b in ipairs(operands(second)) do
          for _, name in ipairs(BINARY) do
            local u, what = ufunc.all[name], ("%s %s %s"):format(name, first, second)
            local wanted = alike(what, u, a, b)
            if wanted then
              same(pair(u, a, b), wanted, what .. " in C")
              launched = launched + 1
            end
          end
        end
      end
    end
  end
  check.that(launched > 800, launched)
end)

check.case("numbers of every kind, before and after", function()
  for _, dtype in ipairs(DTYPES) do
    for _, a in ipairs(operands(dtype)) do
      for _, x in ipairs { 2, 0.5, -1, 300, 0 / 0, -0.0 } do
        for _, name in ipairs { "subtract", "less", "power" } do
          local u, what = ufunc.all[name], ("%s %s %g"):format(name, dtype, x)
          local wanted = alike(what, u, a, x)
          local by_c = C.lgt_launch_before(rt, u.fast, a.id, x)
          -- What a number of this kind gives may depend on the number.
          local floats = core.dtypes.category[core.dtype_of(a)] >= 2
          check.equal(by_c ~= 0, floats and name ~= "power")
          if by_c ~= 0 then same(lgt.wrap_launched(by_c), wanted, what .. " in C") end
          wanted = alike(what .. ", reversed", u, x, a)
          by_c = C.lgt_launch_after(rt, u.fast, x, a.id)
          check.equal(by_c ~= 0, floats)
          if by_c ~= 0 then same(lgt.wrap_launched(by_c), wanted, what .. " in C, reversed") end
        end
      end
    end
  end
end)

local function in_one_call(u, a, b, c)
  local rule, ids, numbers = u.tree, { 0, 0, 0 }, { 0, 0, 0 }
  for i, x in ipairs { a, b, c } do
    if type(x) == "number" then
      rule, numbers[i] = rule[x == math.floor(x) and -1 or -2], x
    else
      rule, ids[i] = rule[lgt.layouts[lgt.handles[x.id].layout].type], x.id
    end
  end
  return C.lgt_launch_few(rt, rule.kind, rule.dtype, u.nin, ids[1], ids[2], ids[3], unpack(numbers))
end

local function views()
  local x, y = np.arange(24) * 0.5, np.arange(4) + 0.5
  local m = x:reshape(4, 6)
  return { x["1:4"], x["::-6"], y["*, :"], y[":, *"], m[{ {}, { 2, 5 } }], m["::-1, 3:6"], m.T["2:5, :"], m[{ 2, 3 }],
           np.broadcast_to(y, 3, 4), np.zeros(0), np.zeros(0, 4), np.zeros(4, 0), np.ones(1), np.ones(1, 1, 4),
           np.ones(2, 1, 1, 1, 4, 1), np.diagonal(m), x:reshape(2, 3, 4), y }
end

check.case("views of every shape, whether they fit or not", function()
  local fit, misfit = 0, 0
  local list = views()
  for i, a in ipairs(list) do
    check_twice("single " .. i, ufunc.all.sqrt, a)
    check_twice("before " .. i, ufunc.all.subtract, a, 3)
    check_twice("after " .. i, ufunc.all.subtract, 3, a)
    same(single(ufunc.all.sqrt, a), np.sqrt(a), "sqrt in C of view " .. i)
    same(before(ufunc.all.subtract, a, 3), a - 3, "view - 3 in C " .. i)
    same(after(ufunc.all.subtract, 3, a), 3 - a, "3 - view in C " .. i)
    for j, b in ipairs(list) do
      local wanted = alike(("views %d and %d"):format(i, j), function(p, q) return p - q end, a, b)
      if wanted then
        same(pair(ufunc.all.subtract, a, b), wanted, "in C")
        fit = fit + 1
      else
        check.equal(C.lgt_launch_pair(rt, ufunc.all.subtract.fast, a.id, b.id), 0)
        misfit = misfit + 1
      end
    end
  end
  check.that(fit > 100 and misfit > 50, fit .. " " .. misfit)
end)

check.case("products with vectors, of every type and shape", function()
  local launched = 0
  for _, first in ipairs(DTYPES) do
    for _, second in ipairs(DTYPES) do
      local a, b = operands(first)[1], operands(second)[1]
      local what = first .. " " .. second
      local wanted = alike(what, np.dot, a, b)
      -- Booleans multiply and add as logic does, and float16 is rounded at the end: by the library.
      local apart = first == second and (first == "bool" or first == "float16")
      check.equal(C.lgt_launch_product(rt, reduce.DOT.fast, a.id, b.id) == 0, apart)
      if not apart then same(product(a, b), wanted, what .. " in C") end
    end
  end
  local list = views()
  for i, a in ipairs(list) do
    for j, b in ipairs(list) do
      local what = ("views %d and %d"):format(i, j)
      local wanted = alike(what, np.dot, a, b)
      local id = C.lgt_launch_product(rt, reduce.DOT.fast, a.id, b.id)
      check.equal(id ~= 0, b.ndim == 1 and a.ndim > 0 and a.shape[a.ndim] == b.shape[1])
      if id ~= 0 then
        same(lgt.wrap_launched(id), wanted, what .. " in C")
        launched = launched + 1
      end
    end
  end
  check.that(launched > 20, launched)
  check.equal(np.ones(2, 3):dot(np.ones(3)):totable(), { 3, 3 })
  check.equal(np.ones(2, 0):dot(np.zeros(0)):totable(), { 0, 0 })
end)

local function reduced(r, a, axes, keepdims)
  return C.lgt_launch_reduced(rt, r.fast, a.id, axes, keepdims and 1 or 0)
end

check.case("reductions, of every type and shape, over all axes and over each", function()
  local REDUCTIONS = { "sum", "prod", "max", "min", "mean", "count_nonzero", "any", "all", "std" }
  for _, dtype in ipairs(DTYPES) do
    local x = operands(dtype)[1]
    for _, a in ipairs { x, x:reshape(2, 3), x:reshape(3, 2).T, x[2] } do
      for _, name in ipairs(REDUCTIONS) do
        local what = ("%s of %s %s"):format(name, dtype, tostring(a.shape))
        alike(what, function() return np.asarray(np[name](a)) end)
        for axis = 1, a.ndim do
          alike(what .. " along " .. axis, np[name], a, axis)
          alike(what .. " along the last but " .. axis, np[name], a, -axis)
          alike(what .. " that keeps " .. axis, np[name], a, axis, { keepdims = true })
        end
      end
    end
  end
  local launched = 0
  for i, a in ipairs(views()) do
    for axes = 1, 2 ^ a.ndim - 1 do
      local set = {}
      for d = 1, a.ndim do
        if math.floor(axes / 2 ^ (d - 1)) % 2 == 1 then set[#set + 1] = d end
      end
      for _, keep in ipairs { false, true } do
        local what = ("view %d over {%s}, %s"):format(i, table.concat(set, ","), tostring(keep))
        local wanted = alike(what, np.sum, a, set, { keepdims = keep })
        local id = reduced(reduce.SUM, a, axes, keep)
        check.equal(id ~= 0, a.size > 0) -- what has no elements may have to be refused
        if id ~= 0 then
          same(lgt.wrap_launched(id), wanted, what .. " in C")
          launched = launched + 1
        end
      end
    end
  end
  check.that(launched > 100, launched)
end)

check.case("reductions that C leaves to the library", function()
  for _ = 1, 2 do
    check.equal(np.sum(np.zeros(0, 3), 1):totable(), { 0, 0, 0 })
    check.refuses("has no elements", function() np.max(np.zeros(0, 3), 1) end)
    check.equal(np.max(np.zeros(3, 0), 1):totable(), {})
    check.equal(tostring(np.mean(np.zeros(0, 3), 1)), "[nan nan nan]")
    check.equal(np.mean(np.zeros(0, 3), 2):totable(), {})
    check.refuses("sum: axis 3", function() np.sum(np.ones(2, 3), 3) end)
    check.refuses("sum: axis = 0: axes count from 1", function() np.sum(np.ones(2, 3), 0) end)
    check.equal(np.sum(np.full({ 3 }, 2000, { dtype = "float16" })):item(), 6000)
    local gone = np.ones(3)
    gone:free()
    check.refuses("sum: the array was released", function() np.sum(gone) end)
    check.refuses("mean: the array was released", function() np.mean(gone, 1) end)
  end
  check.equal(reduced(reduce.SUM, np.ones(3, { dtype = "float16" }), 63), 0) -- rounded at the end
  check.equal(np.prod(np.full({ 5 }, 3)):item(), 243)
  lgt.options { reproducible = true }
  check.equal(np.prod(np.full({ 5 }, 3)):item(), 243)
  check.equal(np.sum(np.full({ 5 }, 0.1)):item(), 0.5)
  lgt.options { reproducible = false }
end)

-- f launches in C, and does not once something is in its way.
local function refused(f, in_the_way)
  lgt.fence()
  local id = f()
  check.that(id ~= 0, "it should have been launched")
  lgt.wrap_launched(id)
  lgt.fence()
  local launches = front.count
  in_the_way(function()
    check.equal(f(), 0)
    check.equal(front.count, launches)
  end)
end

check.case("nothing is launched where something is to be done first", function()
  local x, y = np.arange(5) * 0.5, np.arange(5) + 0.5
  local rows = np.ones(3, 5)
  check_twice("learnt", function() return np.sqrt(x + y) + (2 + (x + 2)) + x:dot(y) + rows:dot(x)[1] + rows:sum()
    + np.clip(x, 1, y) end)
  local ways = {
    function() return C.lgt_launch_pair(rt, ufunc.all.add.fast, x.id, y.id) end,
    function() return C.lgt_launch_single(rt, ufunc.all.sqrt.fast, x.id) end,
    function() return C.lgt_launch_before(rt, ufunc.all.add.fast, x.id, 2) end,
    function() return C.lgt_launch_after(rt, ufunc.all.add.fast, 2, x.id) end,
    function() return C.lgt_launch_product(rt, reduce.DOT.fast, rows.id, x.id) end,
    function() return C.lgt_launch_product(rt, reduce.DOT.fast, x.id, y.id) end,
    function() return in_one_call(ufunc.all.clip, x, 1, y) end,
    function() return reduced(reduce.SUM, x, 63) end,
    function() return reduced(reduce.SUM, rows, 1, true) end,
  }
  for _, way in ipairs(ways) do
    refused(way, function(again) -- lines are asked for
      front.all_lines = 1
      again()
      front.all_lines = 0
    end)
    refused(way, function(again) -- the ring is full
      local limit = front.limit
      front.limit = front.count
      again()
      front.limit = limit
    end)
    refused(way, function(again) -- few handles are free
      local free = front.nfree
      front.nfree = 17
      again()
      front.nfree = free
    end)
  end
  local large, big = np.ones(1000000), np.ones(2, 600000)
  same((large + large)["1:3"], np.full({ 3 }, 2), "large")
  big:dot(np.ones(600000)):totable()
  check.equal(C.lgt_launch_pair(rt, ufunc.all.add.fast, large.id, large.id), 0)
  check.equal(C.lgt_launch_pair(rt, ufunc.all.add.fast, np.ones(1000, 1).id, np.ones(1000).id), 0) -- 1000 x 1000
  check.equal(C.lgt_launch_single(rt, ufunc.all.sqrt.fast, large.id), 0)
  check.equal(C.lgt_launch_before(rt, ufunc.all.add.fast, large.id, 1), 0)
  check.equal(C.lgt_launch_after(rt, ufunc.all.add.fast, 1, large.id), 0)
  check.equal(C.lgt_launch_product(rt, reduce.DOT.fast, large.id, large.id), 0)
  check.equal(reduced(reduce.SUM, large, 63), 0)
  check.equal(in_one_call(ufunc.all.clip, large, 1, large), 0)
  check.equal(C.lgt_launch_product(rt, reduce.DOT.fast, big.id, np.ones(600000).id), 0)
end)

check.case("a result needs handles that are there: thousands of them, alive and dead", function()
  local kept, x = {}, np.arange(3) * 1.0
  for k = 1, 5000 do
    kept[k] = x + k
    local _ = rawequal(x * k, x)
  end
  for k = 1, 5000, 499 do check.equal(kept[k]:totable(), { k, k + 1, k + 2 }) end
end)

check.case("an operation that is unknown, one with out=, and several results", function()
  local x, u = np.arange(4) + 0.25, ufunc.define("test_launch_halves", function(p) return p / 2 end)
  check.equal(C.lgt_launch_single(rt, u.fast, x.id), 0)
  check.equal(u(x):totable(), { 0.125, 0.625, 1.125, 1.625 })
  same(single(u, x), x / 2, "once it is known")
  check.equal(C.lgt_launch_pair(rt, u.fast, x.id, x.id), 0)
  local other = ufunc.define("test_launch_thirds", function(p) return p / 3 end)
  check.equal(C.lgt_launch_single(rt, other.fast, x.id), 0) -- what one has learnt is not another's
  local out = np.zeros(4, { dtype = "float32" })
  check.that(rawequal(np.add(x, x, { out = out }), out))
  check.equal(out:totable(), { 0.5, 2.5, 4.5, 6.5 })
  local part, whole = np.modf(x)
  check.equal({ part(1), whole(2) }, { 0.25, 1 })
  for _ = 1, 3 do -- in place is not what C launches
    local y, z = x:copy(), x
    y:iadd(y)
    y:isub(1)
    check.equal(y:totable(), { -0.5, 1.5, 3.5, 5.5 })
    z = z + z - z
    check.equal(z:totable(), x:totable())
  end
end)

check.case("arrays that are gone, and what is no array, at the line that uses them", function()
  local x, gone = np.ones(3), np.ones(3)
  local gone_view = np.ones(4)["2:"]
  check_twice("learnt", function() return x + x end)
  np.dot(x, x)
  gone:free()
  gone_view:free()
  for _ = 1, 2 do
    check.refuses("was released with free()", function() return x + gone end)
    check.refuses("was released with free()", function() return gone * x end)
    check.refuses("was released with free()", function() return 2 * gone end)
    check.refuses("was released with free()", function() return gone - 2 end)
    check.refuses("was released with free()", function() return -gone_view end)
    check.refuses("was released with free()", function() return (x:dot(gone)) end)
    check.refuses("add: arrays and numbers were expected", function() return x + {} end)
    check.refuses("do not fit", function() return x + np.ones(4) end)
    check.refuses("the last extent of the first", function() return (x:dot(np.ones(4))) end)
  end
end)

check.case("what is computed from what has failed fails at its line", function()
  local x = np.arange(3) * 1.0
  for _ = 1, 3 do
    local bad, at = np.linalg.solve(np.zeros(3, 3), x), line()
    local results = { bad + x, bad * 2, 2 - bad, -bad, x:dot(bad), np.outer(x, bad):dot(x), bad:sum(),
                      np.outer(x, bad):max(1) }
    local fine = x + 1
    for k, result in ipairs(results) do
      local ok, why = pcall(function() return result:totable() end)
      check.that(not ok, k)
      check.that(why:find(":" .. at .. "%)$"), ("line %d is not that of: %s"):format(at, why))
    end
    check.equal(fine:totable(), { 1, 2, 3 })
    pcall(lgt.fence)
  end
end)

-- How many launches f takes where the script has just looked at elements, and what it gives.
local function counted(f, ...)
  lgt.fence() -- what is still running would have to be waited for
  np.ones(1)(1)
  local launches = lgt.stats().launches
  local result = f(...)
  lgt.flush()
  return lgt.stats().launches - launches, result
end

local AT_ONCE = C.lgt_domains(rt) == 1 and #lgt.devices() == 0 and front.all_lines == 0

check.case("few elements are picked and placed at once where nothing is to be waited for", function()
  local x, rows, few = np.arange(100) * 0.5, np.arange(24):reshape(4, 6), np.array({ 7, -1, 7 }, "int64")
  local pairs_of = { np.array({ 1, 4 }, "int64"), np.array({ 2, -6 }, "int64") }
  local ways = {
    function() return x[few] end,
    function() return rows[{ few[{ { 2, 2 } }], {} }] end,
    function() return rows[pairs_of] end,
    function() return rows.T[{ {}, pairs_of[1] }] end,
    function() return np.take(x, pairs_of[1], { base = 0 }) end,
    function() return (np.arange(9) * 1.0)["::-2"][pairs_of[1]] end,
    function()
      local y = x:copy()
      lgt.fence()
      y[few] = 3
      y[few] = np.arange(3)
      rows.copy(rows)[pairs_of] = -1
      np.add.at(y, few, 0.25)
      return y
    end,
  }
  for i, way in ipairs(ways) do
    local wanted = by_steps(way)
    for _ = 1, 3 do
      lgt.fence()
      same(way(), wanted, "way " .. i)
      local sum = way() + 1
      same(sum, wanted + 1, "way " .. i .. ", among others")
    end
  end
  local y = x:copy()
  y[few] = 2 -- from here on it has memory of its own
  lgt.fence()
  for _ = 1, 2 do
    check.equal((counted(function() return x[few] end)), AT_ONCE and 0 or 1)
    check.equal((counted(function() y[few] = 1 end)), AT_ONCE and 0 or 1)
    check.equal((counted(function() return x[few] + 1 end)), AT_ONCE and 1 or 2)
    check.equal((counted(function() return (x + 1)[few] end)), 2) -- what is to be launched first
  end
end)

check.case("what is picked and placed at once is explained", function()
  local x, few, mask = np.arange(20) * 0.5, np.array({ 2, 5 }, "int64"), np.arange(20):ne(3):copy()
  local function explained(array, kind, at_once)
    local text = lgt.explain(array)
    check.equal(text:match("last written at once, [^:\n]*: ([^\n]*)") or "a task", at_once and kind or "a task")
  end
  local y = x:copy()
  y[few] = 2 -- from here on it has memory of its own
  lgt.fence()
  for _ = 1, 2 do
    explained(y, "a task")
    explained(x[few], "gather", AT_ONCE)
    explained(x[mask], "mask_pick", C.lgt_domains(rt) == 1)
    explained(np.nonzero(mask)[1], "mask_list", C.lgt_domains(rt) == 1)
    lgt.fence()
    y[few] = 3
    explained(y, "scatter_number", AT_ONCE)
    check.that(lgt.explain(y):find("made by a task of", 1, true))
    y["..."] = x
  end
end)

check.case("what is placed at once is seen by nobody who should not", function()
  local few = np.array({ 2 }, "int64")
  for _ = 1, 3 do
    local x = np.arange(4) * 1.0
    local y, z, view = x + 1, x:copy(), x["2:3"]
    local sum = np.sum(y):item() -- y itself may not be stored
    x[few] = 50
    check.equal({ sum, y(2), z(2), view(1), x(2) }, { 10, 2, 1, 50, 50 })
    z[few] = 7
    check.equal({ z(2), x(2) }, { 7, 50 })
    local mine = x[few]
    x[few] = 8
    check.equal({ mine(1), x[few](1) }, { 50, 8 })
  end
end)

check.case("positions that are wrong, and what has failed, at their lines", function()
  local x, few, wrong = np.arange(4) * 1.0, np.array({ 2 }, "int64"), np.array({ 2, 9 }, "int64")
  for _ = 1, 3 do
    lgt.fence()
    local _, at = x(1), line() + 1
    local picked = x[wrong]
    local ok, why = pcall(function() return picked:totable() end)
    check.that(not ok and why:find("position 9 of axis 1", 1, true) and why:find(":" .. at .. "%)$"), tostring(why))
    local y = x:copy()
    lgt.fence()
    at = y(1) + line() + 1
    y[wrong] = 5
    ok, why = pcall(function() return y:totable() end)
    check.that(not ok and why:find(":" .. at .. "%)$"), tostring(why))
    local bad = np.linalg.solve(np.zeros(3, 3), np.ones(3))
    pcall(lgt.fence)
    check.equal(x(1), 0)
    check.that(not pcall(function() return bad[few]:totable() end))
    check.equal(x[few]:totable(), { 1 })
  end
end)

check.case("a loop that picks and waits keeps no more memory", function()
  local x, few = np.arange(100) * 1.0, np.array({ 3, 4 }, "int64")
  -- The collector comes when its heap has doubled: with what is in it here, after some 60,000 turns.
  local most, begin, turns = 0, lgt.stats().live_stores, AT_ONCE and 300000 or 2000
  for k = 1, turns do
    if x[few](2) ~= 3 then error("a wrong element") end
    if k % 1000 == 0 then most = math.max(most, lgt.stats().live_stores - begin) end
  end
  check.that(most < (AT_ONCE and turns / 2 or 45000), most)
end)

check.case("three operands, of every type, arrays and numbers", function()
  local launched, left = 0, 0
  for _, first in ipairs(DTYPES) do
    for _, second in ipairs(DTYPES) do
      local x, y = operands(first), operands(second)
      for _, third in ipairs { x[1], y[1], y[2], 2, 0.5, -1, 300, 0 / 0 } do
        for _, name in ipairs { "where", "clip" } do
          for _, order in ipairs { { x[1], y[1], third }, { x[2], third, y[1] }, { x[2], third, 3 } } do
            local what = ("%s %s %s %s"):format(name, first, second, tostring(third))
            local u = ufunc.all[name]
            local wanted = alike(what, u, unpack(order))
            local id = wanted and in_one_call(u, unpack(order)) or 0
            if id ~= 0 then
              same(lgt.wrap_launched(id), wanted, what .. " in C")
              launched = launched + 1
            elseif wanted then
              left = left + 1
            end
          end
        end
      end
    end
  end
  check.that(launched > 1000 and left > 0, launched .. " " .. left)
end)

check.case("functions of the script, of one operand to four", function()
  local x, y = np.arange(4) * 0.5, np.arange(4)
  local fused = {
    np.fuse(function(a) return a + 1 end), np.fuse(function(a, b) return a * b - a end),
    np.fuse(function(a, b, c) return a + 2 * b - c end), np.fuse(function(a, b, c, d) return a + b * c - d end),
  }
  for _ = 1, 3 do
    same(fused[1](x), x + 1, "one")
    same(fused[2](x, y), x * y - x, "two")
    same(fused[2](x, 3), x * 3 - x, "one and a number")
    same(fused[3](x, y, 2.5), x + 2 * y - 2.5, "two and a number")
    same(fused[4](x, y, 2.5, x), x + y * 2.5 - x, "three and a number")
    check.equal(fused[1](2), 3)
    check.equal(fused[3](1, 2, 3), 2)
    local into = np.zeros(4)
    fused[2](x, y, { out = into })
    same(into, x * y - x, "out=")
    fused[1](x, { out = into })
    same(into, x + 1, "out= of one")
    check.refuses("options", function() fused[1](x, false) end)
    check.refuses("takes 1 operand, not 2", function() fused[1](x, y) end)
    check.refuses("takes 3 operands, not 2", function() fused[3](x, y) end)
    check.refuses("arrays and numbers were expected, not nil", function() fused[3](x, y, nil) end)
    check.refuses("do not fit together", function() np.where(x:gt(1), x, np.ones(3)) end)
    check.refuses("300 does not fit into uint8", function() np.clip(y:astype("uint8"), 0, 300) end)
    local gone = np.ones(4)
    gone:free()
    check.refuses("where: the array was released", function() np.where(gone, x, 1) end)
    check.refuses("where: the array was released", function() np.where(x, 1, gone) end)
  end
  check.that(ufunc.all.clip(x, 0, 3) and in_one_call(ufunc.all.clip, x, 1, 300) ~= 0)
  check.that(ufunc.all.clip(y, 0, 3) and in_one_call(ufunc.all.clip, y, 0, 127) ~= 0)
  check.equal(in_one_call(ufunc.all.clip, y, 0, 300), 0)
  check.equal(in_one_call(ufunc.all.clip, y, -1, 3), 0)
end)

check.case("new arrays, by extents of every kind", function()
  local x = np.arange(6):reshape(2, 3)
  local lists = { { 5 }, { 0 }, { 2, 3 }, { 0, 2 }, { 1, 1 }, { 2, 1, 3 }, {}, { { 2, 2 } }, { 4, "int8" },
                  { 3, { dtype = "float32" } }, { -1 }, { 2, -1 }, { 1.5 }, { 2, 0.5 }, { 0 / 0 }, { 1 / 0 },
                  { 2 ^ 61 }, { 2 ^ 61, 2 },
                  { "5" }, { true }, { x }, { np.array(3) }, { 3LL } }
  for i, list in ipairs(lists) do
    for _, name in ipairs { "zeros", "ones" } do alike(name .. " " .. i, np[name], unpack(list)) end
    check.equal(pcall(np.empty, unpack(list)), (pcall(np.zeros, unpack(list))))
    for _, value in ipairs { 2, -0.0, 0 / 0, 0.5, true, np.array(3), 3LL, "x" } do
      alike("full " .. i, np.full, list[1], value)
    end
  end
  for _, list in ipairs { { 4, nil }, { nil }, { nil, 4 } } do
    check.equal(pcall(np.zeros, unpack(list, 1, 2)), (pcall(by_steps, np.zeros, unpack(list, 1, 2))))
  end
  local ranges = { { 5 }, { 0 }, { -3 }, { 2, 7 }, { 7, 2 }, { 7, 2, -2 }, { 1, 9, 3 }, { 1, 9, 0 }, { 2.5 },
                   { 0.5, 4 }, { 1, 4, 0.5 }, { 5, "float32" }, { 1, 5, { dtype = "int8" } }, { np.array(4) }, { 4LL },
                   { "4" }, {},
                   { 0 / 0 }, { 1 / 0 }, { 2 ^ 62 }, { 1, 2, 3, 4 } }
  for i, list in ipairs(ranges) do alike("arange " .. i, np.arange, unpack(list)) end
  check.refuses("a number was expected, not nil", function() np.arange(1, nil) end)
  for _, dtype in ipairs(DTYPES) do
    for _, a in ipairs(operands(dtype)) do
      for _, name in ipairs { "zeros_like", "ones_like" } do alike(name .. dtype, np[name], a) end
      check.equal({ np.empty_like(a).dtype, tostring(np.empty_like(a).shape) }, { dtype, tostring(a.shape) })
    end
  end
  for i, a in ipairs(views()) do alike("zeros_like " .. i, np.zeros_like, a) end
  local gone = np.ones(3)
  gone:free()
  check.refuses("released", function() np.zeros_like(gone) end)
  check.equal(C.lgt_launch_new(rt, 0, lgt.dense_of(core.dtypes.FLOAT64, 1, 5, 0), 0, 0, 0), 0)
end)

check.case("a loop that is recorded, by the runtime and by name", function()
  local A = np.array { { 0.5, 0.25, 0 }, { 0.25, 0.5, 0.25 }, { 0, 0.25, 0.5 } }
  local function turn(x) return A:dot(x) * 0.5 + x / (1 + x:dot(x)) - 2 ^ -x end
  local function run(wrap)
    local x = np.ones(3)
    for _ = 1, 60 do x = wrap(x) end
    return x
  end
  local wanted = by_steps(run, turn)
  same(run(turn), wanted, "as it comes")
  same(run(function(x)
    local result
    lgt.trace("test_launch", function() result = turn(x) end)
    return result
  end), wanted, "named")
  same(run(function(x)
    lgt.flush()
    return turn(x)
  end), wanted, "flushed")
end)

check.done()
