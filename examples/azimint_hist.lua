-- The mean of what a detector has measured, for each distance from its middle: two histograms.
--
--   lgt examples/azimint_hist.lua [n] [bins]
local np = require "array"

local n, bins = tonumber(arg[1]) or 1000000, tonumber(arg[2]) or 1000

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local data, radius = np.arange(n) * 0.8191725133961645 % 1, np.arange(n) * 0.6710436067037893 % 1
local count = np.histogram(radius, bins)
local total = np.histogram(radius, bins, { weights = data })
local mean = total / count

print(("sum       %.12g"):format(mean:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(mean)()))
