-- Poisson's equation -u'' = f on a square or a cube, zero at its faces, by conjugate gradients or BiCGSTAB.
--
--   lgt examples/poisson.lua [points along a side] [tolerance] [dimensions, 2 or 3] [cg|bicgstab]
--
-- The matrix of 5 or 7 points is the Kronecker sum of those of lines; the solver is the library's.
local np, sp, solvers = require "array", require "sparse", require "solvers"

local n = tonumber(arg[1]) or 300
local tolerance = tonumber(arg[2]) or 1e-8
local dimensions = tonumber(arg[3]) or 2
local method = arg[4] or "cg"
local h = 1 / (n + 1)

local line = sp.diags({2, -1, -1}, {0, 1, -1}, {shape = {n, n}})
local s = np.span(1, n) * h
local A, f = line, np.sin(np.pi * s)
for d = 2, dimensions do
  A = sp.kronsum(A, line, "csr")
  f = (np.sin(d * np.pi * s)[":, *"] * f["*, :"]):ravel()
end
local b = h * h * (f + 1)

local iterations = 0
local u, info = solvers[method](A, b, nil, {tol = tolerance, callback = function() iterations = iterations + 1 end})
local residual = b - A:dot(u)

print(("unknowns    %d"):format(b.size))
print(("entries     %d"):format(A.nnz))
print(("converged   %s"):format(info == 0 and "yes" or "no"))
print(("iterations  %s"):format(iterations > n / 2 and iterations < 10 * n and "reasonable" or iterations))
print(("mean        %.12g"):format(np.mean(u):item()))
print(("largest     %.12g"):format(np.max(u):item()))
print(("residual    %s"):format(np.norm(residual) <= 2 * tolerance * np.norm(b)() and "small" or "large"))
