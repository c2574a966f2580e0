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

check.case("elementwise functions and reductions leave nothing to the host, but those that the manual names", function()
  local f, i = np.arange(9) * 0.3 + 0.1, np.arange(9) + 1
  local given = {
    [{ f }] = "abs arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh deg2rad erf erfc exp exp10 " ..
      "exp2 expm1 fix floor frexp gamma gammaln isfinite isinf isnan log log10 log1p log2 modf nan_to_num " ..
      "negative reciprocal rint sign signbit sin sinc sinh spacing sqrt square tan tanh trunc all any " ..
      "argmax argmin max mean min prod ptp std sum var count_nonzero nansum nanmax nanmean diff gradient " ..
      "trapz",
    [{ f, f * 2 }] = "add arctan2 copysign divide equal float_power floor_divide fmax fmin fmod heaviside hypot " ..
      "less logaddexp logaddexp2 maximum minimum mod multiply nextafter power subtract outer inner",
    [{ f, i }] = "ldexp",
    [{ i, i * 2 }] = "bitwise_and bitwise_or bitwise_xor gcd lcm left_shift right_shift",
    [{ i }] = "invert"
  }
  local left = {}
  for operands, names in pairs(given) do
    for name in names:gmatch("%S+") do
      lgt.fence()
      local before = lgt.stats().groups_on_host
      local _ = np[name](unpack(operands))
      lgt.fence()
      if lgt.stats().groups_on_host > before then left[#left + 1] = name end
    end
  end
  table.sort(left)
  check.equal(table.concat(left, " "), "frexp gcd lcm ldexp nextafter spacing")
end)

return check.done()
