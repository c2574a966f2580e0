-- Poisson's equation on a square by conjugate gradients, preconditioned with a geometric multigrid cycle.
--
--   lgt examples/gmg.lua [points along a side, 2^k - 1] [levels] [weighting|injection]
--
-- Two levels, or a V-cycle through more.  Restriction averages neighbours (full weighting), interpolation is its
-- transposed, coarse matrices are Galerkin products (Briggs, Henson, McCormick, "A Multigrid Tutorial", SIAM 2000).  Or
-- restriction is injection, which takes every other point, and coarse matrices are those of coarser grids: cheaper
-- cycles, but more of them.  Smoothing is weighted Jacobi.
local np, sp, solvers = require "array", require "sparse", require "solvers"

local n = tonumber(arg[1]) or 255
local levels = tonumber(arg[2]) or 4
local injects = arg[3] == "injection"
local omega = 2 / 3

local function laplacian(m)
  local line = sp.diags({2, -1, -1}, {0, 1, -1}, {shape = {m, m}})
  return sp.kronsum(line, line, "csr")
end

-- From m points of a line to (m - 1) / 2: every other one, or a quarter, a half and a quarter of three.
local function restriction(m)
  local half = (m - 1) / 2
  local coarse = np.span(1, half)
  if injects then return sp.csr_matrix({np.ones(half), {coarse, 2 * coarse}}, {shape = {half, m}}) end
  local weights = np.concatenate {np.full(half, 0.25), np.full(half, 0.5), np.full(half, 0.25)}
  local rows = np.concatenate {coarse, coarse, coarse}
  local columns = np.concatenate {2 * coarse - 1, 2 * coarse, 2 * coarse + 1}
  return sp.csr_matrix({weights, {rows, columns}}, {shape = {half, m}})
end

local grid, size = {}, n
for level = 1, levels do
  local A = level == 1 and laplacian(n) or grid[level - 1].coarser
  local g = {A = A, step = omega / A:diagonal()}
  grid[level] = g
  if level < levels then
    local R = restriction(size)
    size = (size - 1) / 2
    R = sp.kron(R, R, "csr")
    local RA = R:dot(A)
    g.down = R - RA:multiply(g.step) -- what a sweep from zeros leaves of b, restricted:  R (b - A step b)
    g.P = (injects and R or 4 * R).T:tocsr()
    g.coarser = injects and laplacian(size) * 0.25 ^ level or RA:dot(g.P)
  end
end

local function cycle(b, level)
  local g = grid[level]
  local x = g.step * b
  if level == levels then
    for _ = 1, levels > 2 and 20 or 1 do x = x + g.step * (b - g.A:dot(x)) end
    return x
  end
  x = x + g.P:dot(cycle(g.down:dot(b), level + 1))
  return x + g.step * (b - g.A:dot(x))
end

local A, b = grid[1].A, np.ones(n * n) / (n + 1) ^ 2
local iterations = 0
local M = solvers.LinearOperator({n * n, n * n}, function(r) return cycle(r, 1) end)
local x, info = solvers.cg(A, b, nil, {tol = 1e-10, M = M, callback = function() iterations = iterations + 1 end})

print(("unknowns    %d"):format(n * n))
print(("coarsest    %d"):format(size * size))
print(("iterations  %d"):format(iterations))
print(("converged   %s"):format(info == 0 and "yes" or "no"))
print(("largest     %.10g"):format(np.max(x):item()))
