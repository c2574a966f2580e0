-- Scans: in the order that is promised, whoever computes which block.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"

local BLOCK = 1024

-- The running sums of a table of numbers, as src/core/ops/scan.c has them.
local function expected(x)
  local y, carry = {}, nil
  for first = 1, #x, BLOCK do
    local past, last = math.min(first + BLOCK - 1, #x), nil
    for group = first, past, 4 do
      local a, b, c, d = x[group], x[group + 1], x[group + 2], x[group + 3]
      local g = { a, b and a + b, c and (a + b) + c, d and (a + b) + (c + d) }
      if group + 3 > past then
        for k = past - group + 2, 4 do g[k] = nil end
      end
      for k = 1, #g do
        if last then g[k] = last + g[k] end
        y[group + k - 1] = carry and carry + g[k] or g[k]
      end
      last = g[#g]
    end
    carry = y[past]
  end
  return y
end

local function same(got, want, what)
  for i = 1, #want do
    if got[i] ~= want[i] then error(("%s: element %d is %.17g, not %.17g"):format(what, i, got[i], want[i]), 2) end
  end
end

check.case("sums have the order that is promised", function()
  for _, n in ipairs { 1, 2, 3, 4, 5, 7, 1023, 1024, 1025, 1030, 2048, 5003 } do
    local x = np.random.rand(n) - 0.5
    same(np.cumsum(x):totable(), expected(x:totable()), "cumsum of " .. n)
  end
end)

check.case("many workers give the same bits as one", function()
  local n = 200003
  local x = np.random.rand(n) - 0.5
  same(np.cumsum(x):totable(), expected(x:totable()), "cumsum of " .. n)
end)

check.case("any axis of any view", function()
  local t = np.random.rand(3, 2500, 2)
  local along = np.cumsum(t, 2)
  local turned = np.cumsum(np.transpose(t, { 3, 2, 1 }), 2)
  local back = np.cumsum(t[":, ::-1, :"], 2)
  local odd = np.cumsum(t[":, 2::2, 2"], 2)
  for i = 1, 3 do
    for k = 1, 2 do
      local line = np.copy(t[{ i, {}, k }])
      same(np.copy(along[{ i, {}, k }]):totable(), expected(line:totable()), "a middle axis")
      same(np.copy(turned[{ k, {}, i }]):totable(), expected(line:totable()), "transposed")
      same(np.copy(back[{ i, {}, k }]):totable(), expected(np.copy(np.flip(line)):totable()), "reversed")
    end
    same(np.copy(odd[i]):totable(), expected(np.copy(t[{ i, { 2, -1, step = 2 }, 2 }]):totable()), "every second")
  end
end)

check.case("operations that have no rounding", function()
  local n = 5000
  local x = np.random.randint(-9, 9, n)
  local sum, most = np.cumsum(x):totable(), np.maximum.accumulate(x):totable()
  local one, all = np.logical_or.accumulate(x:eq(8)):totable(), np.logical_and.accumulate(x:lt(8)):totable()
  local less = np.subtract.accumulate(x):totable()
  local s, m, o, a, l = 0, -100, false, true, nil
  for i, v in ipairs(x:totable()) do
    s, m, o, a, l = s + v, math.max(m, v), o or v == 8, a and v < 8, l and l - v or v
    if sum[i] ~= s or most[i] ~= m or one[i] ~= o or all[i] ~= a or less[i] ~= l then
      error(("element %d: %s %s %s %s %s"):format(i, tostring(sum[i]), tostring(most[i]), tostring(one[i]),
        tostring(all[i]), tostring(less[i])))
    end
  end
end)

check.case("what is not a number stays, and what is complex adds up", function()
  local n = 3000
  local x = np.ones(n)
  x[1500] = np.nan
  local y = np.cumsum(x)
  assert(y(1499) == 1499 and y(1500) ~= y(1500) and y(3000) ~= y(3000))
  y = np.maximum.accumulate(x)
  assert(y(1499) == 1 and y(3000) ~= y(3000))
  y = np.nancumsum(x)
  assert(y(3000) == 2999)
  local z = np.cumsum(np.ones(n) * (1 + 2i))
  assert(np.real(z[n])() == n and np.imag(z[n])() == 2 * n)
  local h = np.cumsum(np.ones(1500, { dtype = "float16" }))
  assert(h(1500) == 1500)
end)

check.case("a scan leaves a copy of nothing larger than it", function()
  local n = 100000
  local x = np.random.rand(n)
  np.cumsum(x):item(n)
  lgt.fence()
  local before = lgt.stats()
  local y = np.cumsum(x)
  lgt.fence()
  local after = lgt.stats()
  assert(after.bytes_copied - before.bytes_copied <= 8 * (2 * n / BLOCK + 4 * BLOCK), "copied too much")
  y:free()
end)

check.done()
