-- lgt.explain says what the host computed although there is a GPU, and why.
local check = dofile(arg[0]:match("^(.*/)") .. "../lua/check.lua")
local lgt, np = require "lgt", require "array"

local function says(x, text) return lgt.explain(x):find(text, 1, true) ~= nil end
local HOST, DEVICES = "the host computed a task", "devices computed it, and what it was made from in this window"

check.case("a GPU computes all of it", function()
  local x = np.arange(40) * 2 + 1
  check.that(says(x, DEVICES))
  check.that(not says(x, HOST))
end)

check.case("the task itself, and what it was made from", function()
  local a = np.arange(40) * -1.5
  local sorted = np.sort(a)
  local x = (sorted + 1)[":5"] * 2
  check.that(says(x, "the host computed a task of 1 operation although there are devices, for sort"))
  check.that(says(x, "it has no variant for devices"))
  check.that(says(sorted, HOST))
  check.that(not says(a * 3, HOST))
end)

check.case("memory of the host program", function()
  local x = np.arange(8) * 1.0
  x:host("rw", function(p) p[0] = 7 end)
  lgt.fence()
  x:iadd(1)
  check.equal(x[1]:item(), 8)
  check.that(#lgt.explain(x) > 0)
end)

return check.done()
