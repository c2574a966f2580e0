-- A matrix times a vector, from either side: a step of the biconjugate gradients.
--
--   lgt examples/bicg.lua [n] [m]
local np = require "array"

local n, m = tonumber(arg[1]) or 2200, tonumber(arg[2]) or 1800

local A = np.arange(n)[":, *"] * (np.arange(m) + 1) % n / n
local p, r = np.arange(m) % m / m, np.arange(n) % n / n
local s, q = r:dot(A), A:dot(p)

print(("sum       %.12g"):format(s:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(s)()))
print(("sum       %.12g"):format(q:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(q)()))
