-- The covariances of the columns of a matrix.
--
--   lgt examples/covariance.lua [m] [n]
local np = require "array"

local m, n = tonumber(arg[1]) or 500, tonumber(arg[2]) or 600

local data = np.arange(n)[":, *"] * np.arange(m) / m
data:isub(data:mean(1))
local cov = data.T:dot(data) / (n - 1)

print(("sum       %.12g"):format(cov:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(cov)()))
