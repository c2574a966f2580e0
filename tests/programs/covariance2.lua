-- Covariances of the columns of a table, by the library.
--
--   lgt tests/programs/covariance2.lua [variables] [observations]
local np = require "array"

local M, N = tonumber(arg[1]) or 500, tonumber(arg[2]) or 600

local data = np.fromfunction(function(i, j) return i * j / M end, { N, M })
local cov = np.cov(np.transpose(data))

print(("sum       %.12g"):format(cov:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(cov)()))
