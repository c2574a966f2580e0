-- The conjugate gradient method for a dense, symmetric positive definite system A x = b.
--
--   lgt examples/cg.lua [unknowns] [tolerance]
--
-- Legate's example after Hestenes and Stiefel.  alpha and beta are arrays without dimensions: only
-- the loop's condition waits for a number.
local np = require "array"

local n = tonumber(arg[1]) or 1000
local tolerance = tonumber(arg[2]) or 1e-10

local i = np.arange(n)
local A = 1 / (1 + np.abs(i[":, *"] - i["*, :"]))
local b = np.cos(i)

local x = np.zeros(n)
local r = b - A:dot(x)
local p = r
local rr = r:dot(r)
local iterations = 0
while np.sqrt(rr) > tolerance and iterations < n do
  local Ap = A:dot(p)
  local alpha = rr / p:dot(Ap)
  x = x + alpha * p
  r = r - alpha * Ap
  local rr_new = r:dot(r)
  p = r + (rr_new / rr) * p
  rr = rr_new
  iterations = iterations + 1
end

local residual = b - A:dot(x)
print(("unknowns    %d"):format(n))
print(("iterations  %d"):format(iterations))
print(("sum         %.12g"):format(np.sum(x):item()))
print(("norm        %.12g"):format(np.sqrt(x:dot(x)):item()))
print(("residual    %s"):format(np.sqrt(residual:dot(residual)) < 10 * tolerance and "small" or "large"))
