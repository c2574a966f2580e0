-- Poisson's equation on a square by conjugate gradients, preconditioned with a multigrid V-cycle.
--
--   lgt examples/multigrid.lua [points along a side, 2^k - 1] [levels]
--
-- Restriction averages neighbours (full weighting), interpolation is its transposed, coarse matrices are Galerkin
-- products, smoothing is weighted Jacobi (Briggs, Henson, McCormick, "A Multigrid Tutorial", SIAM 2000).
local np, sp, solvers = require "array", require "sparse", require "solvers"

local n = tonumber(arg[1]) or 255
local levels = tonumber(arg[2]) or 4
local omega = 2 / 3

local function laplacian(m)
  local line = sp.diags({2, -1, -1}, {0, 1, -1}, {shape = {m, m}})
  return sp.kronsum(line, line, "csr")
end

-- From m points of a line to (m - 1) / 2: each is a quarter, a half and a quarter of three.
local function weighting(m)
  local half = (m - 1) / 2
  local coarse = np.span(1, half)
  local weights = np.concatenate {np.full(half, 0.25), np.full(half, 0.5), np.full(half, 0.25)}
  local rows = np.concatenate {coarse, coarse, coarse}
  local columns = np.concatenate {2 * coarse - 1, 2 * coarse, 2 * coarse + 1}
  return sp.csr_matrix({weights, {rows, columns}}, {shape = {half, m}})
end

local grid, size = {}, n
for level = 1, levels do
  local A = level == 1 and laplacian(n) or grid[level - 1].coarser
  grid[level] = {A = A, step = omega / A:diagonal()}
  if level < levels then
    local R = weighting(size)
    grid[level].R = sp.kron(R, R, "csr")
    grid[level].P = (4 * grid[level].R).T:tocsr()
    grid[level].coarser = grid[level].R:dot(A):dot(grid[level].P)
    size = (size - 1) / 2
  end
end

local function cycle(b, level)
  local g = grid[level]
  local x = g.step * b
  if level == levels then
    for _ = 1, 20 do x = x + g.step * (b - g.A:dot(x)) end
    return x
  end
  x = x + g.P:dot(cycle(g.R:dot(b - g.A:dot(x)), level + 1))
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
