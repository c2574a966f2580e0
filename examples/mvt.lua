-- x1 += A y1 and x2 += A transposed y2.
--
--   lgt examples/mvt.lua [n]
local np = require "array"

local n = tonumber(arg[1]) or 2000

local i = np.arange(n)
local x1, x2 = i % n / n, (i + 1) % n / n
local y1, y2 = (i + 3) % n / n, (i + 4) % n / n
local A = i[":, *"] * i % n / n
x1:iadd(A:dot(y1))
x2:iadd(y2:dot(A))

print(("sum       %.12g"):format(x1:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(x1)()))
print(("sum       %.12g"):format(x2:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(x2)()))
