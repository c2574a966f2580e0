-- solvers/operator.lua - linear operators: what can be applied to vectors, of which no matrix need be known.
--
-- An operator has functions of vectors, `apply` and `adjoint_apply`, and of matrices, `of_matrix` and
-- `adjoint_of_matrix`; those but the first may be nil.  Sums, products, powers and adjoints of operators are operators
-- whose functions call those of others; nothing is computed before one is applied.

local np = require "array"
local core = require "array.core"
local sparse = require "sparse.core"

local dtypes, raise = core.dtypes, core.raise

local operator = {}

local Operator = {}

local function is_operator(x) return type(x) == "table" and getmetatable(x) == Operator end
operator.is_operator = is_operator

Operator.__tostring = function(a) return ("<%d x %d linear operator>"):format(a.shape[1], a.shape[2]) end

function Operator.in_words(a)
  return ("a linear operator of shape (%d, %d)"):format(a.shape[1], a.shape[2]),
    (": L:matmat(np.eye(%d)) is its matrix"):format(a.shape[2])
end

local operator_fields = { matvec = "call", rmatvec = "call", matmat = "call", rmatmat = "call", dtype = true }

-- From functions that may be nil but the first: apply, adjoint, and both of matrices; these are given what fits.
local function new_operator(m, n, dtype, apply, adjoint, of_matrix, adjoint_of_matrix)
  return setmetatable({ shape = setmetatable({ m, n }, core.shape_meta), dtype = dtype, apply = apply,
                        adjoint_apply = adjoint, of_matrix = of_matrix, adjoint_of_matrix = adjoint_of_matrix },
                      Operator)
end

-- A linear operator from functions: {matvec = A x, rmatvec = A^H x, matmat = A X, rmatmat = A^H X, dtype = "float64"},
-- of vectors x and matrices X, of which matvec is needed, and those of matrices go by their columns without.  What a
-- function gives must have as many elements as the operator's result.
--
-- Operators are added, subtracted, multiplied (A * B, A:dot(B): one after the other; A * x, A:dot(x): applied), scaled
-- by numbers and raised to integer powers, and have A.T, A.H, A:transpose(), A:adjoint().
---@param shape integer[] {m, n}: from vectors of n elements to those of m
---@param functions table|fun(x: lgt_array): lgt_array a function alone is matvec
---@return table operator
function operator.LinearOperator(shape, functions, surplus)
  core.check_surplus(surplus, "LinearOperator")
  if type(functions) == "function" then functions = { matvec = functions } end
  local m, n = sparse.take_extents(shape, "LinearOperator")
  if sparse.is_matrix(functions) then
    raise("LinearOperator: functions were expected; solvers.aslinearoperator(A) makes an operator of a matrix")
  end
  functions = core.check_options(functions, operator_fields, "LinearOperator")
  if not functions.matvec then raise("LinearOperator: the function matvec is missing") end
  local dtype = dtypes.name[core.check_dtype(functions.dtype or "float64", "LinearOperator")]
  return new_operator(m, n, dtype, functions.matvec, functions.rmatvec, functions.matmat, functions.rmatmat)
end

-- f(x) for a vector of `from` elements, or a matrix of one column, in its shape; it must have `to` elements.
local function apply_to_vector(f, x, from, to, who)
  if type(x) == "table" then x = np.array(x) end
  core.layout_of(x, who)
  local shape = core.shape_of(x)
  if core.size_of(x) ~= from or not (#shape == 1 or #shape == 2 and shape[2] == 1) then
    raise("%s: a vector of %d elements was expected, not %s", who, from, sparse.describe(x))
  end
  local y = f(#shape == 1 and x or np.ravel(x))
  if not core.is_array(y) or core.size_of(y) ~= to then
    raise("%s: the operator's function should give a vector of %d elements, not %s", who, to, sparse.describe(y))
  end
  return #shape == core.ndim_of(y) and y or np.reshape(y, #shape == 1 and { to } or { to, 1 })
end

-- Of a matrix, by `whole` if that is not nil, else by f for each column.
local function apply_to_matrix(whole, f, x, from, to, who)
  if type(x) == "table" then x = np.array(x) end
  core.layout_of(x, who)
  local shape = core.shape_of(x)
  if #shape ~= 2 or shape[1] ~= from then
    raise("%s: a matrix of %d rows was expected, not %s", who, from, sparse.describe(x))
  end
  if whole then
    local y = whole(x)
    local found = core.is_array(y) and core.shape_of(y)
    if not found or #found ~= 2 or found[1] ~= to or found[2] ~= shape[2] then
      raise("%s: the operator's function should give a matrix of shape (%d, %d), not %s", who, to, shape[2],
        sparse.describe(y))
    end
    return y
  end
  if shape[2] == 0 then return np.zeros(to, 0, { dtype = x.dtype }) end
  local columns = {}
  for j = 1, shape[2] do columns[j] = apply_to_vector(f, x[{ {}, j }], from, to, who) end
  return np.stack(columns, 2)
end

local function need_adjoint(a, who)
  if not a.adjoint_apply then
    raise("%s: the linear operator has no function rmatvec", who)
  end
  return a.adjoint_apply
end

-- A x, of a vector, or a matrix of one column.
---@param x lgt_array [n] or [n, 1]
---@return lgt_array [m] or [m, 1]
function Operator.matvec(a, x) return apply_to_vector(a.apply, x, a.shape[2], a.shape[1], "matvec") end

-- A^H x.  Raises if the operator has no such function.
---@param x lgt_array [m] or [m, 1]
---@return lgt_array [n] or [n, 1]
function Operator.rmatvec(a, x)
  return apply_to_vector(need_adjoint(a, "rmatvec"), x, a.shape[1], a.shape[2], "rmatvec")
end

-- A X.
---@param x lgt_array [n, k]
---@return lgt_array [m, k]
function Operator.matmat(a, x) return apply_to_matrix(a.of_matrix, a.apply, x, a.shape[2], a.shape[1], "matmat") end

-- A^H X.
---@param x lgt_array [m, k]
---@return lgt_array [n, k]
function Operator.rmatmat(a, x)
  local whole = a.adjoint_of_matrix
  return apply_to_matrix(whole, not whole and need_adjoint(a, "rmatmat"), x, a.shape[1], a.shape[2], "rmatmat")
end

-- ---- operators from operators ---------------------------------------------------------------------------

local function common_dtype(a, b) return dtypes.name[dtypes.promote(dtypes.number[a.dtype], dtypes.number[b.dtype])] end

-- f, if the operators of which it is the adjoint have one.
local function adjoint_if(has, f) return has and f or nil end

local function product(a, b)
  if a.shape[2] ~= b.shape[1] then
    raise("dot: operators of shapes (%d, %d) and (%d, %d): the first takes %d elements, the second gives %d",
      a.shape[1], a.shape[2], b.shape[1], b.shape[2], a.shape[2], b.shape[1])
  end
  return new_operator(a.shape[1], b.shape[2], common_dtype(a, b), function(x) return a:matvec(b:matvec(x)) end,
    adjoint_if(a.adjoint_apply and b.adjoint_apply, function(x) return b:rmatvec(a:rmatvec(x)) end),
    function(x) return a:matmat(b:matmat(x)) end,
    adjoint_if(a.adjoint_apply and b.adjoint_apply, function(x) return b:rmatmat(a:rmatmat(x)) end))
end

local function sum(a, b, sign)
  if a.shape[1] ~= b.shape[1] or a.shape[2] ~= b.shape[2] then
    raise("operators of shapes (%d, %d) and (%d, %d) have no sum: they must be the same", a.shape[1], a.shape[2],
      b.shape[1], b.shape[2])
  end
  return new_operator(a.shape[1], a.shape[2], common_dtype(a, b),
    function(x) return a:matvec(x) + sign * b:matvec(x) end,
    adjoint_if(a.adjoint_apply and b.adjoint_apply, function(x) return a:rmatvec(x) + sign * b:rmatvec(x) end),
    function(x) return a:matmat(x) + sign * b:matmat(x) end,
    adjoint_if(a.adjoint_apply and b.adjoint_apply, function(x) return a:rmatmat(x) + sign * b:rmatmat(x) end))
end

local function scaled(a, z)
  local factor = np.asarray(z)
  local conjugate = core.read_item(np.conj(factor))
  local dtype = type(z) == "number" and a.dtype or common_dtype(a, { dtype = factor.dtype })
  return new_operator(a.shape[1], a.shape[2], dtype, function(x) return z * a:matvec(x) end,
    adjoint_if(a.adjoint_apply, function(x) return conjugate * a:rmatvec(x) end),
    function(x) return z * a:matmat(x) end,
    adjoint_if(a.adjoint_apply, function(x) return conjugate * a:rmatmat(x) end))
end

-- A^H.
---@return table operator
function Operator.adjoint(a)
  return new_operator(a.shape[2], a.shape[1], a.dtype, function(x) return a:rmatvec(x) end, a.apply,
    function(x) return a:rmatmat(x) end, function(x) return a:matmat(x) end)
end

-- f between conjugations.
local function conjugated(f)
  return function(x) return np.conj(f(np.conj(x))) end
end

-- A^T.
---@return table operator
function Operator.transpose(a)
  local t = a:adjoint()
  if dtypes.category[dtypes.number[a.dtype]] < 3 then return t end
  return new_operator(t.shape[1], t.shape[2], a.dtype, conjugated(t.apply), conjugated(t.adjoint_apply),
    conjugated(t.of_matrix), conjugated(t.adjoint_of_matrix))
end

function Operator.__index(a, name)
  if name == "T" then return a:transpose() end
  if name == "H" then return a:adjoint() end
  if name == "ndim" then return 2 end
  return Operator[name]
end

-- A times x: a vector, a matrix, a number, another operator.
---@param x any
---@return lgt_array|table
function Operator.dot(a, x)
  if is_operator(x) then return product(a, x) end
  if sparse.is_scalar(x) and not (core.is_array(x) and core.ndim_of(x) > 0) then return scaled(a, x) end
  if sparse.is_matrix(x) then return product(a, operator.aslinearoperator(x)) end
  if type(x) == "table" then x = np.array(x) end
  core.layout_of(x, "dot")
  if core.ndim_of(x) == 1 then return a:matvec(x) end
  return a:matmat(x)
end

function Operator.__mul(a, b)
  if is_operator(a) then return a:dot(b) end
  return scaled(b, a)
end

local function check_operators(a, b, what)
  for _, x in ipairs { a, b } do
    if not is_operator(x) then
      raise("%s: an operator beside another was expected, not %s; solvers.aslinearoperator makes one of a matrix", what,
        sparse.describe(x))
    end
  end
end

function Operator.__add(a, b)
  check_operators(a, b, "+")
  return sum(a, b, 1)
end

function Operator.__sub(a, b)
  check_operators(a, b, "-")
  return sum(a, b, -1)
end

function Operator.__unm(a) return scaled(a, -1) end

function Operator.__div(a, z)
  if not is_operator(a) or not sparse.is_scalar(z) then raise("/: an operator is divided by a number alone") end
  return scaled(a, 1 / z)
end

function Operator.__pow(a, n)
  if not core.is_integer(n) or n < 0 or a.shape[1] ~= a.shape[2] then
    raise("^: a square operator and an integer from 0 up were expected, not %s and %s", tostring(a), sparse.describe(n))
  end
  local function power(f)
    return function(x)
      for _ = 1, n do x = f(a, x) end
      return x
    end
  end
  local has = a.adjoint_apply
  return new_operator(a.shape[1], a.shape[2], a.dtype, power(Operator.matvec), adjoint_if(has, power(Operator.rmatvec)),
    power(Operator.matmat), adjoint_if(has, power(Operator.rmatmat)))
end

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
---@param a table|lgt_array [m, n]
---@return table operator [m, n]
function operator.aslinearoperator(a, surplus)
  core.check_surplus(surplus, "aslinearoperator")
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
  local function times(x) return matrix:dot(x) end
  local function times_adjoint(x)
    adjoint = adjoint or adjoint_times(a)
    return adjoint(x)
  end
  return new_operator(a.shape[1], a.shape[2], a.dtype, times, times_adjoint, times, times_adjoint)
end

return operator
