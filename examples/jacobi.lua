-- Jacobi's method for a dense system of linear equations A x = b.
--
--   lgt examples/jacobi.lua [unknowns] [iterations]
--
-- With D the diagonal of A and R the rest: x = (b - R x) / D, again and again.
local np = require "array"

local n = tonumber(arg[1]) or 1000
local iterations = tonumber(arg[2]) or 50

local i = np.arange(n)
local A = 1 / (1 + np.abs(i[":, *"] - i["*, :"])) + (10 + 2 * math.log(n)) * np.eye(n)
local b = np.cos(i)

local x = np.zeros(n)
local d = np.diag(A)
local R = A - np.diag(d)
for _ = 1, iterations do
  x = (b - R:dot(x)) / d
end

local residual = b - A:dot(x)
print(("unknowns  %d"):format(n))
print(("sum       %.12g"):format(np.sum(x):item()))
print(("norm      %.12g"):format(np.sqrt(x:dot(x)):item()))
print(("residual  %.12g"):format(np.sqrt(residual:dot(residual)):item()))
