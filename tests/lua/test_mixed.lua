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

check.done()
