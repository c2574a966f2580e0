-- Numbers changed in place and reduced in one loop: threads without an element do not load what others store.
local check = dofile(arg[0]:match("^(.*/)") .. "../lua/check.lua")
local np = require "array"

check.case("a number changed in place, and its greatest element", function()
  local a = np.sum(np.arange(9) * 0.5)
  local y = np.arange(9) * 1.0
  for turn = 1, 3 do
    a:isub(y[3])
    local most, more = np.max(a), 0.5 * a + a
    check.equal(most:item(), 18 - 2 * turn)
    check.equal(more:item(), 1.5 * (18 - 2 * turn))
  end
end)

return check.done()
