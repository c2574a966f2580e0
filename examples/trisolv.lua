-- A triangular system, solved from the first unknown to the last.
--
--   lgt examples/trisolv.lua [n]
local np = require "array"

local n = tonumber(arg[1]) or 2000

local i, j = np.arange(n)[":, *"], np.arange(n)
local L = np.tril((i + n - j + 1) * 2 / n)
local b = j - 999
local x = np.full({ n }, -999)

for k = 1, n do x[k] = (b[k] - L[{ k, { 1, k - 1 } }]:dot(x[{ { 1, k - 1 } }])) / L[{ k, k }] end

print(("sum       %.12g"):format(x:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(x)()))
