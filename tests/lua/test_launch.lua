-- What C launches in one call (runtime/launch.c) is what the array library launches step by step, to the bit and at its
-- line; and it launches nothing where something is to be done first.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local ffi = require "ffi"
local np = require "array"
local lgt = require "lgt"
local core, ufunc, reduce = require "array.core", require "array.core.ufunc", require "array.core.reduce"

local C, rt, front = lgt.C, lgt.rt, lgt.front

local function line() return debug.getinfo(2, "l").currentline end

-- What f gives where each launch says its line, which C leaves to the library.
local function by_steps(f, ...)
  local before = front.all_lines
  front.all_lines = 1
  local ok, result = pcall(f, ...)
  front.all_lines = before
  if not ok then error(result, 0) end
  return result
end

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

-- Type, shape, and each bit of the elements.
local function image(x)
  local bits
  np.ascontiguousarray(x):host("r", function(p) bits = ffi.string(p, x.itemsize * x.size) end)
  return ("%s %s %s"):format(x.dtype, tostring(x.shape), bits)
end

local function same(got, wanted, what)
  check.that(image(got) == image(wanted), ("%s: %s, not %s"):format(what, tostring(got), tostring(wanted)))
end

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
  check_twice("learnt", function() return np.sqrt(x + y) + (2 + (x + 2)) + x:dot(y) + rows:dot(x)[1] end)
  local ways = {
    function() return C.lgt_launch_pair(rt, ufunc.all.add.fast, x.id, y.id) end,
    function() return C.lgt_launch_single(rt, ufunc.all.sqrt.fast, x.id) end,
    function() return C.lgt_launch_before(rt, ufunc.all.add.fast, x.id, 2) end,
    function() return C.lgt_launch_after(rt, ufunc.all.add.fast, 2, x.id) end,
    function() return C.lgt_launch_product(rt, reduce.DOT.fast, rows.id, x.id) end,
    function() return C.lgt_launch_product(rt, reduce.DOT.fast, x.id, y.id) end,
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
    local results = { bad + x, bad * 2, 2 - bad, -bad, x:dot(bad), np.outer(x, bad):dot(x) }
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
