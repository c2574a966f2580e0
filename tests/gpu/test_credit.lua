-- With nothing in hand but what opening a GPU costs (--gpu-credit=300), a program leaves nothing on the GPU that it
-- could not afford to bring back: it runs on the host until a tenth of its time pays for that.
local check = dofile(arg[0]:match("^(.*/)") .. "../lua/check.lua")
local lgt, np = require "lgt", require "array"

np.arange(10):sum():item()
np.arange(10):sum():item()

check.case("large arrays are made on the GPU once the program has run for a while", function()
  check.equal(#lgt.devices(), 1)
  local x, turns = nil, 0
  local function make()
    x = np.arange(1e6) * 2.5 + 1
    lgt.fence()
    turns = turns + 1
    return lgt.stats().device_tasks > 0
  end
  check.that(not make())
  check.that(lgt.explain(x):find("the program has not run long enough to pay for the copies", 1, true))
  repeat check.that(turns < 500, "it never went there") until make()
  check.that(turns > 3, turns .. " turns")
  check.that(lgt.explain(x):find("devices computed it", 1, true))
  check.equal(x[1000000]:item(), 2.5 * 999999 + 1)
end)

return check.done()
