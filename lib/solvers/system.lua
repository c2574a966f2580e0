-- solvers/system.lua - what every iterative method is given: a linear system, when to stop, whom to tell.

local ffi = require "ffi"
local np = require "array"
local core = require "array.core"
local sparse = require "sparse.core"
local operator = require "solvers.operator"

local dtypes, raise = core.dtypes, core.raise

local system = { LinearOperator = operator.LinearOperator, aslinearoperator = operator.aslinearoperator,
                 is_operator = operator.is_operator }
local complex = ffi.typeof("complex double")

-- ---- systems --------------------------------------------------------------------------------------------

local function identity(x) return x end

-- x:dot(y) with the first conjugated.
function system.inner(x, y)
  if dtypes.category[core.dtype_of(x)] == 3 or dtypes.category[core.dtype_of(y)] == 3 then return np.vdot(x, y) end
  return x:dot(y)
end

-- Each row of a matrix, conjugated, times x.
function system.rows_dot(rows, x)
  if dtypes.category[core.dtype_of(rows)] == 3 then return np.conj(rows):dot(x) end
  return rows:dot(x)
end

-- Of numbers of the script, real or complex.
function system.conj(z) return type(z) == "number" and z or complex(z.re, -z.im) end
function system.abs2(z) return type(z) == "number" and z * z or z.re * z.re + z.im * z.im end

local function as_vector(x, n, who, what)
  if type(x) == "table" then x = np.array(x) end
  core.layout_of(x, who)
  local shape = core.shape_of(x)
  if core.size_of(x) ~= n or not (#shape == 1 or #shape == 2 and shape[2] == 1) then
    raise("%s: A is of shape (%d, %d), so %s must have %d elements, not the shape %s", who, n, n, what, n,
      core.shape_text(shape))
  end
  return #shape == 1 and x or np.ravel(x)
end

-- What an operator gives must be as long as what it is added to: else the error would speak of a sum within the solver.
local function checked(f, n, who, what)
  return function(x)
    local y = f(x)
    if core.is_array(y) and core.size_of(y) == n then return core.ndim_of(y) == 1 and y or np.ravel(y) end
    raise("%s: %s should give a vector of %d elements, not %s", who, what, n, sparse.describe(y))
  end
end

-- The arguments of a solver, checked: the functions A, M (the preconditioner) and their adjoints, b, the first x, tol
-- (the norm of the residual to reach), maxiter, callback, and stop, which has an answer, the info to return, for a
-- residual with which a method ends.
---@param who string
---@param known table what options there are beside the usual ones
---@return table
function system.take(who, known, A, b, x0, options)
  if core.is_options(x0) and not sparse.is_matrix(x0) then x0, options = nil, x0 end
  local names = { tol = "amount", rtol = "amount", atol = "amount", maxiter = "count", M = true, callback = "call",
                  x0 = true }
  for name, kind in pairs(known) do names[name] = kind end
  options = core.check_options(options, names, who)
  local rtol, atol, callback = options.rtol or options.tol or 1e-5, options.atol or 0, options.callback or identity
  A = system.aslinearoperator(A)
  local m, n = A.shape[1], A.shape[2]
  if m ~= n then raise("%s: the matrix must be square, not of shape (%d, %d)", who, m, n) end
  b = as_vector(b, n, who, "b")
  x0 = x0 or options.x0
  if x0 then x0 = as_vector(x0, n, who, "x0") end
  local dtype = dtypes.promote(dtypes.number[A.dtype] or dtypes.FLOAT64, core.dtype_of(b))
  if x0 then dtype = dtypes.promote(dtype, core.dtype_of(x0)) end
  if dtypes.category[dtype] < 2 then dtype = dtypes.FLOAT64 end
  local name = dtypes.name[dtype]
  b = np.asarray(b, { dtype = name })
  local M = options.M and system.aslinearoperator(options.M)
  if M and not (M.shape[1] == n and M.shape[2] == n) then
    raise("%s: the preconditioner is of shape (%d, %d), the matrix of (%d, %d)", who, M.shape[1], M.shape[2], n, n)
  end
  local bnorm = np.norm(b)()
  local tol = math.max(rtol * bnorm, atol)
  if bnorm == 0 then x0 = nil end -- of zeros zeros are the solution, which the relative tolerance asks for exactly
  return {
    A = checked(A.apply, n, who, "the operator A"), adjoint = function(x) return A:rmatvec(x) end, n = n, dtype = name,
    M = M and checked(M.apply, n, who, "the preconditioner M") or identity,
    M_adjoint = M and function(x) return M:rmatvec(x) end or identity, options = options,
    b = b, x = x0 and np.astype(x0:copy(), name) or np.zeros(n, { dtype = name }), started = x0 ~= nil,
    bnorm = bnorm, rtol = rtol, tol = tol, maxiter = options.maxiter or 10 * n, callback = callback,
    stop = function(r)
      local size = core.read_item(np.norm(r))
      if size ~= size or size == math.huge then return system.BREAKDOWN end
      if size <= tol then return 0 end
    end,
  }
end

-- What methods return where they cannot go on: the residual is no number any more, or a divisor is 0.
system.BREAKDOWN = -1

-- b - A x for the first x: an array of its own, that a method may change.
function system.first_residual(s) return s.started and s.b - s.A(s.x) or s.b:copy() end

return system
