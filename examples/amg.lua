-- Diffusion through a plate with a better conductor in it, by conjugate gradients with algebraic multigrid.
--
--   lgt examples/amg.lua [points along a side] [conductivity of the disc]
--
-- -div(k grad u) = 1, zero at the edges.  The coarser levels are found in the matrix alone, by smoothed aggregation.
local np, sp, solvers = require "array", require "sparse", require "solvers"

local n = tonumber(arg[1]) or 300
local conductivity = tonumber(arg[2]) or 1000

local s = np.span(0, n + 1) / (n + 1) - 0.4
local k = np.where((s[":, *"] ^ 2 + s["*, :"] ^ 2):lt(0.04), conductivity, 1)

-- What flows between two neighbours: the harmonic mean of what each conducts.
local function between(a, b) return 2 * a * b / (a + b) end
local down, right = between(k[":-2, 2:-2"], k["2:, 2:-2"]), between(k["2:-2, :-2"], k["2:-2, 2:"])
local centre = down[":-2, :"] + down["2:, :"] + right[":, :-2"] + right[":, 2:"]
local beside = right[":, 2:"]:copy()
beside[":, -1"] = 0                        -- the ends of rows of points are not neighbours
beside = beside:ravel()[":-2"]
local below = down["2:-2, :"]:ravel()
local A = sp.diags({centre:ravel(), -beside, -beside, -below, -below}, {0, 1, -1, n, -n}, {format = "csr"})
local b = np.full(n * n, 1 / (n + 1) ^ 2)

local M = solvers.smoothed_aggregation(A, {coarsest = 100})
local iterations = 0
local u, info = solvers.cg(A, b, nil, {tol = 1e-10, M = M, callback = function() iterations = iterations + 1 end})

for level, g in ipairs(M.levels) do
  print(("level %d     %d unknowns, %d entries"):format(level, g.A.shape[1], g.A.nnz))
end
print(("iterations  %d"):format(iterations))
print(("converged   %s"):format(info == 0 and "yes" or "no"))
print(("mean        %.10g"):format(np.mean(u):item()))
print(("largest     %.10g"):format(np.max(u):item()))
