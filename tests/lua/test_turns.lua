-- What a turn of a program's loop works on is planned once, however many different things that are.  Run with the usual
-- room for plans.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np, lgt = require "array", require "lgt"

-- The bits of i say which operations there are, so that no plan can be made from another one's by a shift.
check.case("plans that each turn needs stay", function()
  local x, made = np.arange(4000):astype("float64"), {}
  for turn = 1, 5 do
    local before, sum, wanted = lgt.stats().plans_made, 0, 0
    for i = 1, 1500 do
      local total, bits = np.zeros(50), i
      for j = 1, 11 do
        local add, part = bits % 2 == 1, x[{ { i + j, i + j + 49 } }]
        bits = math.floor(bits / 2)
        if add then total:iadd(part) else total:isub(part) end
        if i == 1500 then wanted = wanted + (add and 1 or -1) * (i + j - 1) end
      end
      if i == 1500 then sum = total:item(1) end
      lgt.flush()
    end
    check.equal(sum, wanted)
    made[turn] = lgt.stats().plans_made - before
  end
  check.that(made[1] >= 1500 and made[4] < 100 and made[5] == 0, ("plans made: %s"):format(table.concat(made, ", ")))
end)

-- Room is for what comes back: slices that are always new are forgotten as before.
check.case("plans that nobody needs again go", function()
  local x = np.arange(60000):astype("float64")
  for i = 1, 6000 do
    local total = np.zeros(50)
    for j = 1, 8 do total:iadd(x[{ { 9 * i + j, 9 * i + j + 49 } }]) end
    lgt.flush()
  end
  check.that(lgt.stats().plans < 5000, ("%d plans are kept"):format(lgt.stats().plans))
end)

check.done()
