-- The preconditioned conjugate gradient method for a dense, symmetric positive definite system.
--
--   lgt examples/pcg.lua [unknowns] [tolerance]
--
-- Legate's example; the preconditioner is the diagonal of A, which varies by four orders of magnitude.
local np = require "array"

local n = tonumber(arg[1]) or 1000
local tolerance = tonumber(arg[2]) or 1e-10

local i = np.arange(n)
local A = 1 / (1 + np.abs(i[":, *"] - i["*, :"])) + np.diag(10 ^ (i % 5))
local b = np.cos(i)

local M = 1 / np.diag(A)
local x = np.zeros(n)
local r = b - A:dot(x)
local z = M * r
local p = z
local rz = r:dot(z)
local iterations = 0
while np.sqrt(r:dot(r)) > tolerance and iterations < n do
  local Ap = A:dot(p)
  local alpha = rz / p:dot(Ap)
  x = x + alpha * p
  r = r - alpha * Ap
  z = M * r
  local rz_new = r:dot(z)
  p = z + (rz_new / rz) * p
  rz = rz_new
  iterations = iterations + 1
end

local residual = b - A:dot(x)
print(("unknowns    %d"):format(n))
print(("iterations  %d"):format(iterations))
print(("sum         %.12g"):format(np.sum(x):item()))
print(("norm        %.12g"):format(np.sqrt(x:dot(x)):item()))
print(("residual    %s"):format(np.sqrt(residual:dot(residual)) < 10 * tolerance and "small" or "large"))
