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

check.done()
