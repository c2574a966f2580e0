-- solvers/precondition.lua - approximate inverses to speed up Krylov methods, and smoothers for multigrid.
--
-- Preconditioners are linear operators, for the option M of a solver.  Those that solve triangular systems take
-- `blocks`: the matrix's diagonal is cut into so many blocks, which ranks and workers solve side by side, and entries
-- outside of them are left out; one block is solved by everybody.  (Saad, "Iterative Methods for Sparse Linear
-- Systems", 4 and 10.)

local np = require "array"
local core = require "array.core"
local sparse = require "sparse.core"
local direct = require "solvers.direct"
local system = require "solvers.system"

local raise, dtypes = core.raise, core.dtypes

local precondition = {}

local function take(a, who)
  sparse.take_matrix(a, who)
  if a.m ~= a.n then raise("%s: the matrix must be square, not of shape (%d, %d)", who, a.m, a.n) end
  if dtypes.category[a.kind] < 2 then a = a:astype("float64") end
  return sparse.canonical(a:tocsr())
end

local function take_blocks(options, n, who)
  options = core.check_options(options, { blocks = "positive", omega = "number" }, who)
  return math.max(1, math.ceil(n / (options.blocks or 1))), options
end

-- Of vectors that a smoother is given: as long as the matrix has rows.
local function check_length(a, x, who, what)
  core.layout_of(x, who)
  if core.shape_of(x)[1] ~= a.m then
    raise("%s: the matrix has %d rows, %s is of shape %s", who, a.m, what, core.shape_text(core.shape_of(x)))
  end
end

local function operator(a, apply, adjoint)
  return system.LinearOperator({ a.n, a.n }, { matvec = apply, rmatvec = adjoint, dtype = a.dtype })
end

local function diagonal_of(a, who)
  local d = a:diagonal()
  if a.n > 0 and np.any(np.equal(d, 0)) then raise("%s: an element of the diagonal is 0", who) end
  return d
end

-- The inverse of the diagonal.
---@param a table matrix
---@return table operator
function precondition.jacobi_preconditioner(a, surplus)
  core.check_surplus(surplus, "jacobi_preconditioner")
  a = take(a, "jacobi_preconditioner")
  local d = diagonal_of(a, "jacobi_preconditioner")
  return operator(a, function(x) return x / d end, function(x) return x / np.conj(d) end)
end

-- Symmetric successive over-relaxation:  omega (2 - omega) (D + omega U)^-1 D (D + omega L)^-1.
---@param a table matrix
---@param omega number? 1
---@param options {blocks: integer?, omega: number?}?
---@return table operator
function precondition.ssor_preconditioner(a, omega, options)
  if type(omega) == "table" then omega, options = omega.omega, omega end
  omega = core.plain(omega or 1)
  a = take(a, "ssor_preconditioner")
  local rows = take_blocks(options, a.n, "ssor_preconditioner")
  if type(omega) ~= "number" or omega <= 0 or omega >= 2 then
    raise("ssor_preconditioner: omega is a number between 0 and 2, not %s", core.describe(omega))
  end
  local d = diagonal_of(a, "ssor_preconditioner")
  -- Off the diagonal times omega.
  local scaled = sparse.canonical(omega * a + (1 - omega) * sparse.sp.diags({ d }, { 0 }, { format = "csr" }))
  local function apply(matrix, diagonal, x)
    local y = direct.triangular(matrix, x, true, false, rows)
    return (omega * (2 - omega)) * direct.triangular(matrix, diagonal * y, false, false, rows)
  end
  local adjoint -- that of A^H
  return operator(a, function(x) return apply(scaled, d, x) end, function(x)
    adjoint = adjoint or sparse.canonical(scaled.H:tocsr())
    return apply(adjoint, np.conj(d), x)
  end)
end

-- Incomplete factors L U = A without entries beyond those of A (Saad, 10.3.2).  An element of the diagonal that is 0,
-- or becomes it, is an error where the result is first looked at.
---@param a table matrix
---@param options {blocks: integer?}?
---@return table operator
function precondition.ilu0(a, options)
  a = take(a, "ilu0")
  local rows = take_blocks(options, a.n, "ilu0")
  local vals = sparse.vector(a.kind, a.nnz)
  sparse.launch_blocks("csr_ilu0", "rwrrr", { 0, 2 }, "image_ranges(0,2:1.0,3.0,4.0)",
    { a.lo, vals, a.hi, a.crd, a.vals }, { rows })
  local factors = sparse.with_values(a, vals)
  local adjoint -- U^H L^H, the first of which has the diagonal
  return operator(a, function(x)
    return direct.triangular(factors, direct.triangular(factors, x, true, true, rows), false, false, rows)
  end, function(x)
    adjoint = adjoint or sparse.canonical(factors.H:tocsr())
    return direct.triangular(adjoint, direct.triangular(adjoint, x, true, false, rows), false, true, rows)
  end)
end

-- ---- smoothers -----------------------------------------------------------------------------------------------

-- Sweeps of the weighted Jacobi method:  x + omega D^-1 (b - A x).
---@param a table matrix
---@param b lgt_array
---@param x lgt_array? zeros
---@param options {iterations: integer?, omega: number?}? 1; 2/3
---@return lgt_array
function precondition.jacobi(a, b, x, options)
  options = core.check_options(options, { iterations = "count", omega = "number" }, "jacobi")
  sparse.take_matrix(a, "jacobi")
  check_length(a, b, "jacobi", "b")
  local step = (options.omega or 2 / 3) / diagonal_of(a, "jacobi")
  local first = 1
  if not x then x, first = step * b, 2 end
  for _ = first, options.iterations or 1 do x = x + step * (b - a:dot(x)) end
  return x
end

-- A bound of the largest eigenvalue of a Hermitian matrix: the largest sum of absolute values in a row (Gershgorin).
local function eigenvalue_bound(a) return core.read_item(sparse.sp.norm(a, math.huge)) end

-- Chebyshev iterations, for the part of a Hermitian positive definite matrix's spectrum from `lower` to `upper` (Saad,
-- algorithm 12.1).
---@param a table matrix
---@param b lgt_array
---@param x lgt_array? zeros
---@param options {iterations: integer?, lower: number?, upper: number?}? 3; upper / 30; a bound
---@return lgt_array
function precondition.chebyshev(a, b, x, options)
  options = core.check_options(options, { iterations = "count", lower = "number", upper = "number" }, "chebyshev")
  sparse.take_matrix(a, "chebyshev")
  check_length(a, b, "chebyshev", "b")
  local upper = options.upper or eigenvalue_bound(a)
  local lower = options.lower or upper / 30
  if lower <= 0 or lower >= upper then
    raise("chebyshev: the bounds of the spectrum must be 0 < lower < upper, not %g and %g", lower, upper)
  end
  local theta, delta = (upper + lower) / 2, (upper - lower) / 2
  local sigma = theta / delta
  local rho = 1 / sigma
  local r = x and b - a:dot(x) or b
  x = x or np.zeros_like(b)
  local d = r / theta
  for _ = 1, options.iterations or 3 do
    x = x + d
    r = r - a:dot(d)
    local rho_before = rho
    rho = 1 / (2 * sigma - rho)
    d = rho * rho_before * d + (2 * rho / delta) * r
  end
  return x
end

return precondition
