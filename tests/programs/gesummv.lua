-- The sum of two products of a matrix with a vector.
--
--   lgt tests/programs/gesummv.lua [n]
local np = require "array"

local n = tonumber(arg[1]) or 2000

local alpha, beta = 1.5, 1.2
local A = np.fromfunction(function(i, j) return (i * j + 1) % n / n end, { n, n })
local B = np.fromfunction(function(i, j) return (i * j + 2) % n / n end, { n, n })
local x = np.fromfunction(function(i) return i % n / n end, { n })

local y = (alpha * A):dot(x) + (beta * B):dot(x)

print(("sum       %.12g"):format(y:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(y)()))
