-- Where a reaction that heats itself stays calm: the Bratu problem  -laplace(u) = lambda exp(u)  on a square.
--
--   lgt examples/bratu.lua [points a side] [steps of lambda]
--
-- Newton's method; each step's linear system by GMRES with products instead of a matrix, preconditioned by the factors
-- of the Laplacian.  lambda grows step by step, each solution being the first guess of the next; above 6.808 there is
-- none.
local np, sp, solvers = require "array", require "sparse", require "solvers"

local m, parts = tonumber(arg[1]) or 63, tonumber(arg[2]) or 8
local n, h = m * m, 1 / (m + 1)

local line = sp.diags({2, -1, -1}, {0, 1, -1}, {shape = {m, m}}) / h ^ 2
local laplacian = sp.kronsum(line, line):tocsc()
local factors = solvers.splu(laplacian)
local inverse = solvers.LinearOperator({n, n}, {matvec = function(v) return factors:solve(v) end})

-- A solution near u, and how many steps it took; nil: none was found.
local function newton(u, lambda)
  for step = 0, 20 do
    local heat = lambda * np.exp(u)
    local residual = laplacian:dot(u) - heat
    if np.linalg.norm(residual) * h < 1e-10 then return u, step end
    local jacobian = solvers.LinearOperator({n, n}, {matvec = function(v) return laplacian:dot(v) - heat * v end})
    local change, info = solvers.gmres(jacobian, -residual, nil, {M = inverse, tol = 1e-6})
    if info ~= 0 then return nil end
    u = u + change
  end
end

local u = np.zeros(n)
for part = 1, parts do
  local lambda = 6.8 * part / parts
  local hotter, steps = newton(u, lambda)
  u = hotter
  print(("lambda %.3f  steps %d  hottest %.8f"):format(lambda, steps, u:max()()))
end
print(("middle    %.8f"):format(u:reshape(m, m)((m + 1) / 2, (m + 1) / 2)))
print(("mean      %.8f"):format((u:sum() * h ^ 2)()))
