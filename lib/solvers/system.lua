-- solvers/system.lua - what every iterative method is given: a linear system, when to stop, whom to tell.

local ffi = require "ffi"
local np = require "array"
local core = require "array.core"
local sparse = require "sparse.core"

local dtypes, raise = core.dtypes, core.raise

local system = {}
local complex = ffi.typeof("complex double")

-- ---- linear operators -----------------------------------------------------------------------------------

local Operator = {}
Operator.__index = Operator
system.Operator = Operator

local function is_operator(x) return type(x) == "table" and getmetatable(x) == Operator end
system.is_operator = is_operator

Operator.__tostring = function(a) return ("<%d x %d linear operator>"):format(a.shape[1], a.shape[2]) end

local operator_fields = { matvec = true, rmatvec = true, matmat = true, dtype = true }

-- A linear operator from functions on vectors: {matvec = A x, rmatvec = A^H x}.
---@param shape integer[]
---@param functions table|function
---@return table operator
function system.LinearOperator(shape, functions)
  if type(functions) == "function" then functions = { matvec = functions } end
  local m, n = sparse.take_extents(shape, "LinearOperator")
  core.check_options(functions, operator_fields, "LinearOperator")
  if type(functions.matvec) ~= "function" then raise("LinearOperator: the function matvec is missing") end
  return setmetatable({ shape = setmetatable({ m, n }, core.shape_meta), dtype = functions.dtype or "float64",
                        apply = functions.matvec, adjoint = functions.rmatvec }, Operator)
end

function Operator.matvec(a, x) return a.apply(x) end

function Operator.rmatvec(a, x)
  if not a.adjoint then raise("the linear operator has no function rmatvec, which this method needs") end
  return a.adjoint(x)
end

-- Columns of a matrix one by one.
function Operator.dot(a, x)
  if is_operator(x) then
    return system.LinearOperator({ a.shape[1], x.shape[2] }, {
      matvec = function(v) return a.apply(x.apply(v)) end,
      rmatvec = a.adjoint and x.adjoint and function(v) return x.adjoint(a.adjoint(v)) end or nil,
    })
  end
  if core.ndim_of(x) == 1 then return a.apply(x) end
  local columns = {}
  for j = 1, core.shape_of(x)[2] do columns[j] = a.apply(x[{ {}, j }]) end
  return np.stack(columns, 2)
end
Operator.matmat = Operator.dot

-- The transposed conjugate of a matrix times x.
local function adjoint_times(a)
  if sparse.is_matrix(a) then
    local rows = a.T:tocsr()
    if dtypes.category[a.kind] == 3 then rows = rows:conj() end
    return function(x) return rows:dot(x) end
  end
  local h = np.isrealobj(a) and a.T or np.conj(a.T)
  return function(x) return h:dot(x) end
end

-- A matrix, dense or sparse, or an operator, as an operator.
---@return table operator
function system.aslinearoperator(a)
  if is_operator(a) then return a end
  local matrix = a
  if sparse.is_matrix(a) then
    matrix = a:tocsr()
  elseif core.is_array(a) then
    if core.ndim_of(a) ~= 2 then raise("aslinearoperator: a matrix was expected, not %s", sparse.describe(a)) end
  else
    raise("aslinearoperator: a matrix or a LinearOperator was expected, not %s", sparse.describe(a))
  end
  local adjoint
  return setmetatable({
    shape = a.shape, dtype = a.dtype,
    apply = function(x) return matrix:dot(x) end,
    adjoint = function(x)
      adjoint = adjoint or adjoint_times(a)
      return adjoint(x)
    end,
  }, Operator)
end

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

function system.check_maxiter(maxiter, who)
  if maxiter == nil or (core.is_integer(maxiter) and maxiter >= 0) then return end
  raise("%s: maxiter is an integer of 0 or more, not %s; math.floor makes one", who, (core.describe(maxiter)))
end

-- The arguments of a solver, checked: the functions A, M (the preconditioner) and their adjoints, b, the first x, tol
-- (the norm of the residual to reach), maxiter, callback, and stop, which has an answer, the info to return, for a
-- residual with which a method ends.
---@param who string
---@param known table what options there are beside the usual ones
---@return table
function system.take(who, known, A, b, x0, options)
  if core.is_options(x0) and not sparse.is_matrix(x0) then x0, options = nil, x0 end
  local names = { tol = true, atol = true, maxiter = true, M = true, callback = true, x0 = true }
  for name in pairs(known) do names[name] = true end
  options = core.check_options(options, names, who)
  system.check_maxiter(options.maxiter, who)
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
  local tol = math.max((options.tol or 1e-5) * bnorm, options.atol or 0)
  return {
    A = A.apply, adjoint = function(x) return A:rmatvec(x) end, n = n, dtype = name, options = options,
    M = M and M.apply or identity, M_adjoint = M and function(x) return M:rmatvec(x) end or identity,
    b = b, x = x0 and np.astype(x0:copy(), name) or np.zeros(n, { dtype = name }), started = x0 ~= nil,
    bnorm = bnorm, tol = tol, maxiter = options.maxiter or 10 * n, callback = options.callback or identity,
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
