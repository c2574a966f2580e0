-- Two matrix-vector products with a matrix that two outer products change.
--
--   lgt examples/gemver.lua [n]
local np = require "array"

local n = tonumber(arg[1]) or 2000

local i = np.arange(n)
local u1, u2 = i, (i + 1) / n / 2
local v1, v2 = (i + 1) / n / 4, (i + 1) / n / 6
local y, z = (i + 1) / n / 8, (i + 1) / n / 9
local A = i[":, *"] * i % n / n

A:iadd(np.outer(u1, v1) + np.outer(u2, v2))
local x = 1.2 * y:dot(A) + z
local w = 1.5 * A:dot(x)

print(("sum       %.12g"):format(w:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(w)()))
