-- The heat equation u' = u'' on a square by the method of Crank and Nicolson: a sparse system in each step.
--
--   lgt examples/heat_implicit.lua [points along a side] [steps]
local np, sp, solvers = require "array", require "sparse", require "solvers"

local n, steps = tonumber(arg[1]) or 200, tonumber(arg[2]) or 10
local h, dt = 1 / (n + 1), 1e-3

local line = sp.diags({-2, 1, 1}, {0, 1, -1}, {shape = {n, n}})
local L = sp.kronsum(line, line, "csr") * (1 / h ^ 2)
local I = sp.identity(n * n, {format = "csr"})
local implicit, explicit = I - (dt / 2) * L, I + (dt / 2) * L
local M = solvers.ilu0(implicit, {blocks = 8})

local s = np.span(1, n) * h
local x, y = np.meshgrid(s, s)
local u = (np.sin(np.pi * x) * np.sin(np.pi * y)):ravel()
local failed = 0
for _ = 1, steps do
  local info
  u, info = solvers.bicgstab(implicit, explicit:dot(u), u, {tol = 1e-12, M = M})
  failed = failed + math.abs(info)
end
local exact = math.exp(-2 * math.pi ^ 2 * dt * steps)

print(("unknowns    %d"):format(n * n))
print(("failed      %d"):format(failed))
print(("mean        %.10g"):format(np.mean(u):item()))
print(("middle      %.10g"):format(u:max():item()))
print(("error       %s"):format(math.abs(u:max():item() - exact) < 1e-3 and "small" or "large"))
