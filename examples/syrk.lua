-- The lower triangle of C = alpha A A transposed + beta C.
--
--   lgt examples/syrk.lua [m] [n]
local np = require "array"

local m, n = tonumber(arg[1]) or 1000, tonumber(arg[2]) or 1200

local A = (np.arange(n)[":, *"] * np.arange(m) + 1) % n / n
local C = (np.arange(n)[":, *"] * np.arange(n) + 2) % m / m
C = np.tril(1.5 * A:dot(A.T) + 1.2 * C) + np.triu(C, 1)

print(("sum       %.12g"):format(C:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(C)()))
