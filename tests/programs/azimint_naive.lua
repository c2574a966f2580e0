-- The mean of what a detector has measured, for each distance from its middle: a mask for each.
--
--   lgt tests/programs/azimint_naive.lua [n] [bins]
local np = require "array"

local n, npt = tonumber(arg[1]) or 400000, tonumber(arg[2]) or 1000

local data, radius = np.arange(n) * 0.8191725133961645 % 1, np.arange(n) * 0.6710436067037893 % 1

local rmax = radius:max()
local res = np.zeros(npt)
for i = 0, npt - 1 do
  local r1 = rmax * i / npt
  local r2 = rmax * (i + 1) / npt
  local mask_r12 = np.logical_and(np.less_equal(r1, radius), radius:lt(r2))
  local values_r12 = data[mask_r12]
  res[i + 1] = values_r12:mean()
end

print(("sum       %.12g"):format(res:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(res)()))
