-- Poisson's equation -u'' = f on a square, zero at its edges, by conjugate gradients.
--
--   lgt examples/poisson.lua [points along a side] [tolerance]
--
-- The matrix of the 5-point stencil is assembled from its diagonals; the solver is the library's.
local np, sp, solvers = require "array", require "sparse", require "solvers"

local n = tonumber(arg[1]) or 300
local tolerance = tonumber(arg[2]) or 1e-8
local h = 1 / (n + 1)

local beside = np.full(n * n - 1, -1)
beside[("%d::%d"):format(n, n)] = 0        -- the ends of rows of points are not neighbours
local A = sp.diags({4, beside, beside, -1, -1}, {0, 1, -1, n, -n}, {shape = {n * n, n * n}, format = "csr"})

local s = np.span(1, n) * h
local x, y = np.meshgrid(s, s)
local f = np.sin(np.pi * x) * np.sin(2 * np.pi * y) + 1
local b = h * h * f:ravel()

local iterations = 0
local u, info = solvers.cg(A, b, nil, {tol = tolerance, callback = function() iterations = iterations + 1 end})
local residual = b - A:dot(u)

print(("unknowns    %d"):format(n * n))
print(("entries     %d"):format(A.nnz))
print(("converged   %s"):format(info == 0 and "yes" or "no"))
print(("iterations  %s"):format(iterations > n and iterations < 10 * n and "reasonable" or iterations))
print(("mean        %.12g"):format(np.mean(u):item()))
print(("largest     %.12g"):format(np.max(u):item()))
print(("residual    %s"):format(np.norm(residual) <= 2 * tolerance * np.norm(b)() and "small" or "large"))
