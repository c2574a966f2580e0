-- solvers/multigrid.lua - V-cycles as preconditioners: on levels that are given, or found by smoothed aggregation.
--
-- A level has a matrix A and the interpolation P from the next one, whose matrix is the Galerkin product P^H A P.
-- Everything is products of sparse matrices, with each other when levels are made and with vectors in a cycle.

local np = require "array"
local core = require "array.core"
local sparse = require "sparse.core"
local direct = require "solvers.direct"
local system = require "solvers.system"

local raise, dtypes, sp = core.raise, core.dtypes, sparse.sp

local multigrid = {}

local options_of_cycles = { sweeps = "positive" }

local function take(a, who)
  sparse.take_matrix(a, who)
  if a.m ~= a.n then raise("%s: the matrix must be square, not of shape (%d, %d)", who, a.m, a.n) end
  if dtypes.category[a.kind] < 2 then a = a:astype("float64") end
  return a:tocsr()
end

local function adjoint(p)
  local t = p.T:tocsr()
  return dtypes.category[p.kind] == 3 and t:conj() or t
end

-- A level, with the step of weighted Jacobi:  omega D^-1, omega = 4/3 / |D^-1 A|, the largest sum of a row.
local function level_of(a, who)
  local d = a:diagonal()
  if np.any(np.equal(d, 0)) then raise("%s: an element of the diagonal is 0", who) end
  local bound = np.max(a:abs():sum(2) / np.abs(d))
  return { A = a, step = 4 / 3 / bound / d }
end

local function coarser(level, p)
  level.P, level.R = p, adjoint(p)
  return level.R:dot(level.A):dot(p)
end

local function smooth(level, x, b, sweeps)
  for _ = 1, sweeps do x = x + level.step * (b - level.A:dot(x)) end
  return x
end

local function cycle(levels, k, b, sweeps)
  local level = levels[k]
  if level.solve then return level.solve(b) end
  local x = smooth(level, level.step * b, b, sweeps - 1)
  x = x + level.P:dot(cycle(levels, k + 1, level.R:dot(b - level.A:dot(x)), sweeps))
  return smooth(level, x, b, sweeps)
end

-- One V-cycle from zeros on these levels, of which the coarsest, {A = matrix}, is solved directly.
local function operator(levels, options)
  local sweeps, last = options.sweeps or 1, levels[#levels]
  last.solve = direct.factorized(last.A)
  local function apply(b) return cycle(levels, 1, b, sweeps) end
  local a = levels[1].A
  local result = system.LinearOperator(a.shape, { matvec = apply, rmatvec = apply, dtype = a.dtype })
  result.levels = levels
  return result
end

-- A V-cycle of multigrid as a preconditioner, for Hermitian positive definite matrices, from interpolations that are
-- given: the first from the second level to a's, and so on.  Coarse matrices are Galerkin products P^H A P, the
-- smoother is weighted Jacobi, as many sweeps before as after; the coarsest system is solved directly.  (Briggs, Henson
-- and McCormick, "A Multigrid Tutorial", SIAM 2000.)
---@param a table matrix [n, n]
---@param interpolations table[] matrices [n, n2], [n2, n3], ...
---@param options {sweeps: integer?}? 1
---@return table operator whose `levels` are tables with A, and P and R but for the coarsest
function multigrid.multigrid(a, interpolations, options)
  local who = "multigrid"
  options = core.check_options(options, options_of_cycles, who)
  a = take(a, who)
  if type(interpolations) ~= "table" or sparse.is_matrix(interpolations) then
    raise("%s: a table of interpolations was expected, not %s", who, sparse.describe(interpolations))
  end
  core.length_of_list(interpolations, who)
  local levels = {}
  for k, p in ipairs(interpolations) do
    p = sparse.take_matrix(p, who):tocsr()
    if p.m ~= a.n then
      raise("%s: interpolation %d has %d rows, the matrix of its level %d", who, k, p.m, a.n)
    end
    levels[k] = level_of(a, who)
    a = coarser(levels[k], p)
  end
  levels[#levels + 1] = { A = a }
  return operator(levels, options)
end

-- ---- smoothed aggregation ----------------------------------------------------------------------------------

-- Which nodes are strongly connected:  |a_ij|^2 > theta^2 |a_ii a_jj|, and each with itself; values are ones.
local function strength(a, theta)
  local c = a:tocoo()
  local size, d = np.abs(c.data), np.abs(a:diagonal())
  local keep = np.logical_or(np.equal(c.row, c.col), np.greater(size * size, theta ^ 2 * d[c.row] * d[c.col]))
  return sparse.keep_entries(a, keep):map(function(vals) return np.ones(core.size_of(vals), { dtype = "int64" }) end)
end

-- The aggregate, from 1, of each node of a graph, and how many there are: a maximal set of nodes no two of which have a
-- common neighbour, by numbers drawn for each; around each of them its neighbours, and then theirs.  (Bell, Dalton and
-- Olson, "Exposing fine-grained parallelism in algebraic multigrid methods", SIAM J. Sci. Comput. 34, 2012.)
local function aggregates(graph)
  local OUT, ROOT, n = 0, 2 ^ 31, graph.m
  local function best(x) return graph:multiply(x):max(2) end -- of each node's neighbours and its own
  local x = np.arange(n) * 1103515245 % (2 ^ 31 - 1) + 1 -- different ones
  repeat
    local near = best(best(x))
    local open = np.logical_and(np.greater(x, OUT), np.less(x, ROOT))
    local chosen, lost = np.logical_and(open, np.equal(near, x)), np.logical_and(open, np.equal(near, ROOT))
    x = np.where(chosen, ROOT, np.where(lost, OUT, x)):astype("int64")
  until not np.any(np.logical_and(np.greater(x, OUT), np.less(x, ROOT)))
  local root = np.equal(x, ROOT)
  local number = np.where(root, np.cumsum(root), 0):astype("int64")
  for _ = 1, 2 do number = np.where(np.greater(number, 0), number, best(number)):astype("int64") end
  return number, tonumber(core.read_item(np.max(number)))
end

-- A V-cycle of algebraic multigrid as a preconditioner, for Hermitian positive definite matrices: each coarse unknown
-- stands for an aggregate of strongly connected ones, and interpolation is constant there, smoothed by a step of
-- weighted Jacobi.  (Vanek, Mandel and Brezina, "Algebraic multigrid by smoothed aggregation", Computing 56, 1996.)
---@param a table matrix [n, n]
---@param options {theta: number?, coarsest: integer?, levels: integer?, sweeps: integer?}? what counts as a strong
---connection (0.08); no coarser level below so many unknowns (500); at most so many levels (10); sweeps of Jacobi (1)
---@return table operator whose `levels` are tables with A, and P and R but for the coarsest
function multigrid.smoothed_aggregation(a, options)
  local who = "smoothed_aggregation"
  options = core.check_options(options, { theta = "number", coarsest = "limit", levels = "limit", sweeps = "positive" },
    who)
  local theta, most, least = options.theta or 0.08, options.levels or 10, options.coarsest or 500
  a = sparse.canonical(take(a, who))
  local levels = {}
  while a.n > least and #levels + 1 < most do
    local level = level_of(a, who)
    local number, count = aggregates(strength(a, theta))
    if count == a.n then break end
    local constant = sp.csr_matrix({ np.ones(a.n, { dtype = a.dtype }), { np.span(1, a.n), number } },
      { shape = { a.n, count } })
    constant = constant:multiply(1 / np.sqrt(constant:sum(1)))
    levels[#levels + 1] = level
    a = sparse.canonical(coarser(level, constant - a:multiply(level.step:reshape(a.n, 1)):dot(constant)))
  end
  levels[#levels + 1] = { A = a }
  return operator(levels, options)
end

return multigrid
