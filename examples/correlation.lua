-- How the columns of a matrix vary together: correlations.
--
--   lgt examples/correlation.lua [m] [n]
local np = require "array"

local m, n = tonumber(arg[1]) or 500, tonumber(arg[2]) or 600

local data = np.arange(n)[":, *"] * np.arange(m) / m + np.arange(n)[":, *"]
local mean, deviation = data:mean(1), data:std(1)
deviation[deviation:le(0.1)] = 1
data = (data - mean) / (math.sqrt(n) * deviation)
local corr = data.T:dot(data)
np.fill_diagonal(corr, 1)

print(("sum       %.12g"):format(corr:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(corr)()))
