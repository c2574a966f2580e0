-- Parts of an array that ranks hold apart where memory is short: adopted arrays take more than there may be.
local here = arg[0]:match("^(.*/)")
local check = dofile(here .. "../lua/check.lua")
local np, lgt = require "array", require "lgt"
local prelude = dofile(here .. "../random/prelude.lua")

local function loop(input)
  local x = input("float64", { 393 }, 1, 0, 1009, 1)
  local _ = input("float64", { 130, 393 }, 1, 0, 1009, 1)
  for _ = 1, 10 do
    x["198:169:-1"] = 0.5 * np.maximum(x["364:"], x["1:30"])
    x["..."] = (0.5 * x) + (0.25 * x)
  end
  return x
end

check.case("computed where there is room, or refused", function()
  local wanted = {}
  for i = 1, 393 do wanted[i] = i - 1 - 504 end
  for _ = 1, 10 do
    for i = 1, 30 do wanted[199 - i] = 0.5 * math.max(wanted[363 + i], wanted[i]) end
    for i = 1, 393 do wanted[i] = 0.75 * wanted[i] end
  end
  for _ = 1, 2 do -- nobody has the results when they are computed
    pcall(function() loop(prelude.input) lgt.fence() end)
    pcall(lgt.fence)
  end
  local ok, got = pcall(function() return loop(prelude.input):totable() end)
  pcall(lgt.fence)
  if ok then check.equal(got, wanted)
  else check.that(tostring(got):find("out of memory", 1, true), tostring(got)) end
end)
check.done()
