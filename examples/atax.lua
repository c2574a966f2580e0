-- A transposed times A times a vector.
--
--   lgt examples/atax.lua [m] [n]
local np = require "array"

local m, n = tonumber(arg[1]) or 1800, tonumber(arg[2]) or 2200

local x = 1 + np.arange(n) / n
local A = (np.arange(m)[":, *"] + np.arange(n)) % n / (5 * m)
local y = A:dot(x):dot(A)

print(("sum       %.12g"):format(y:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(y)()))
