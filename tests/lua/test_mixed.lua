-- With several domains or ranks: launches that are cut in different ways, as one task.
local check = dofile(arg[0]:match("^(.*/)") .. "check.lua")
local np = require "array"
local lgt = require "lgt"

-- A copy shares the memory of what it was made from, in domains that do not write either; others do.
check.case("a copy of an array of which others then write a part", function()
  local reads, x = np.zeros(3), np.arange(3) + 5.0
  lgt.fence()
  reads["..."] = x[3]
  local copy = x:copy()
  x["3:"] = 1
  local before = copy["2:"] + reads[":-2"]
  local both = x["2:"] + before
  check.equal(both:totable(), { 6 + 6 + 7, 1 + 7 + 7 })
  check.equal(copy:totable(), { 5, 6, 7 })
  check.equal(x:totable(), { 5, 6, 1 })
end)

check.case("what fails for want of memory fails alone", function()
  local x, y, huge = np.arange(7) * 1.0, np.ones(5), np.empty(2 ^ 43)
  lgt.fence()
  local before = x + 1
  huge:fill(1)
  local after, sum = y * 2, np.sum(x)
  local bad = huge[7] + 1
  check.equal(before:totable(), { 1, 2, 3, 4, 5, 6, 7 })
  check.equal(after:totable(), { 2, 2, 2, 2, 2 })
  check.equal(sum(), 21)
  check.refuses("out of memory", function() bad:totable() end)
  bad["..."] = 3
  check.equal(bad(), 3)
end)

-- The memory of an array that is filled part by part has room for all of it, once that was seen to be needed.
check.case("an array that is filled part by part is not copied", function()
  local n, x = 12000, np.arange(12000) * 1.0
  local function turn()
    local y = np.pad(x, 4, "wrap")
    x = x + 0.25 * (y["1:-9"] + y["9:"] - 2 * y["5:-5"])
    lgt.fence()
  end
  for _ = 1, 5 do turn() end
  local before = lgt.stats()
  for _ = 1, 20 do turn() end
  local after = lgt.stats()
  check.that(after.bytes_copied - before.bytes_copied < 20 * n, after.bytes_copied - before.bytes_copied)
  check.that(after.plans_made == before.plans_made)
  check.close(np.sum(x):item(), n * (n - 1) / 2, 1e-3)
end)

check.done()
