-- A line of arithmetic on integers.
--
--   lgt tests/programs/compute.lua [m] [n]
local np = require "array"

local m, n = tonumber(arg[1]) or 2000, tonumber(arg[2]) or 2000

local array_1 = (np.arange(m * n) * 7919 % 1000):reshape(m, n)
local array_2 = (np.arange(m * n) * 104729 % 1000):reshape(m, n)
local a, b, c = 4, 3, 9

local result = np.clip(array_1, 2, 10) * a + array_2 * b + c

print(("dtype     %s"):format(result.dtype))
print(("sum       %d"):format(result:sum()()))
print(("greatest  %d"):format(result:max()()))
