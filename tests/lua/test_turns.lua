-- What a turn of a program's loop works on is planned once, however many different slices that are.  Run with several
-- domains, where each slice has a plan of its own, and with the usual room for plans.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np, lgt = require "array", require "lgt"

check.case("plans that each turn needs stay", function()
  local x, made = np.arange(4000):astype("float64"), {}
  for turn = 1, 5 do
    local before, sum = lgt.stats().plans_made, 0
    for i = 1, 1500 do
      local total = np.zeros(50)
      for j = 1, 15 do total:iadd(x[{ { i + j, i + j + 49 } }]) end
      if i == 1500 then sum = total:item(1) end
      lgt.flush()
    end
    check.equal(sum, 15 * 1500 + 15 * 16 / 2 - 15)
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
