-- Krylov methods on the 5-point Laplacian of an N x N grid:  lgt krylov.lua METHOD N ITERATIONS
-- METHOD is cg, bicgstab, gmres, or dot: products with a vector.  A turn is that many iterations from zeros.
local contest = require "contest"
local lgt, np, sp, solvers = require "lgt", require "array", require "sparse", require "solvers"

local method, n, iterations = arg[1], tonumber(arg[2]), tonumber(arg[3])
local beside = np.full(n * n - 1, -1)
beside[("%d::%d"):format(n, n)] = 0
local A = sp.diags({-1, beside, 4, beside, -1}, {-n, -1, 0, 1, n}, {shape = {n * n, n * n}, format = "csr"})
local b = contest.fraction(n * n, 0.6180339887498949, 0, 1, "float64")
local x

local function turn()
  if method == "dot" then
    for _ = 1, iterations do
      x = A:dot(b)
      lgt.flush() -- or else only the last one would be computed
    end
  elseif method == "gmres" then
    x = solvers.gmres(A, b, nil, {tol = 1e-300, restart = 30, maxiter = iterations / 30})
  else
    x = solvers[method](A, b, nil, {tol = 1e-300, maxiter = iterations})
  end
end

contest.serve(turn, function() return np.norm(x):item() end)
