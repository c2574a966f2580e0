-- array/math/decompose.lua - np.linalg: systems of equations, decompositions, and what is made of them.
--
-- LAPACK does the work, as tasks (ops/lapack.c): the last two axes are matrices, those before a stack of
-- which each matrix is one call.  A matrix is never cut, so that one of more than LIMIT elements is
-- refused; stacks are spread over domains and workers.  A matrix that is singular, or not positive definite, is an
-- error where the result is looked at, naming the line that asked.
--
-- Integers count as float64; float16 is refused, as by NumPy.

local core = require "array.core"
local native = require "array.core.native"
local reduce = require "array.core.reduce"
local routine = require "array.core.routine"

local lgt, dtypes, raise = core.lgt, core.dtypes, core.raise
local np = core.np

local linalg = np.linalg

local LIMIT = 2 ^ 28 -- elements: 2 GiB of float64
local TALL = 16384 -- rows from which on least squares are condensed

-- ---- arguments --------------------------------------------------------------------------------------------

local function inexact(a, who)
  a = np.asarray(a)
  local dtype = core.dtype_of(a)
  if dtype == dtypes.FLOAT16 then raise("%s: float16 is too narrow; use astype", who) end
  return dtypes.category[dtype] < 2 and np.astype(a, "float64") or a
end

local function check_size(who, rows, columns, what)
  if rows * columns > LIMIT then
    raise("%s: %s of %d x %d; each is made in one piece, of at most %d elements", who,
      what or "a matrix", rows, columns, LIMIT)
  end
end

-- A stack of matrices in a dtype that LAPACK has; its shape before the matrices, their rows and columns.
local function matrices(a, who, square)
  a = inexact(a, who)
  local shape = core.shape_of(a)
  local ndim = #shape
  if ndim < 2 then raise("%s: a matrix was expected, not %d dimensions", who, ndim) end
  local rows, columns = shape[ndim - 1], shape[ndim]
  if square and rows ~= columns then raise("%s: a square matrix was expected, not %d x %d", who, rows, columns) end
  check_size(who, rows, columns)
  return a, { unpack(shape, 1, ndim - 2) }, rows, columns
end

local function with(stack, ...)
  local shape = { unpack(stack) }
  for i = 1, select("#", ...) do shape[#shape + 1] = (select(i, ...)) end
  return shape
end

local function real_of(a) return dtypes.part_of(core.dtype_of(a)) end
local function epsilon(a) return real_of(a) == dtypes.FLOAT32 and 2 ^ -23 or 2 ^ -52 end

-- ---- systems of equations -----------------------------------------------------------------------------------

-- From so many right-hand sides of one matrix on, workers share them once it is factored; not in reproducible mode:
-- what a BLAS rounds depends on how many there are.
local MANY = 192

local function shares(stack, count) return #stack == 0 and count >= MANY and not lgt.reproducible() end

-- From so many rows on workers share the factorisation of one matrix, so many columns after others.  The columns depend
-- on the size alone, and no domain has a part of them, so that the bits do not depend on who works.
local SHARED = 512
local function width_of(n) return n < 4096 and 128 or 256 end

local function in_front(y) return lgt.alias(y, lgt.promote(core.layout_of(y), 1, 1)) end
local function turned(y) return lgt.alias(y, lgt.transpose(core.layout_of(y), { 2, 1 })) end

-- No dimension of arguments with so many dimensions is cut.
local function uncut(...)
  local words = {}
  for a = 1, select("#", ...) do
    for d = 0, select(a, ...) - 1 do words[#words + 1] = ("broadcast(%d.%d)"):format(a - 1, d) end
  end
  return table.concat(words, " ")
end

local PANEL, UPDATE, FINISH, SLOGDET = uncut(3, 2), uncut(2, 2, 1), uncut(2, 1), uncut(1, 1, 3, 2)

local function factored_together(a, strict)
  local n, offset = core.shape_of(a)[1], 0
  local width = width_of(n)
  local lu, pivots = np.copy(turned(a)), native.new(dtypes.INT32, { n })
  local function part(y, first, count, from)
    local layout = lgt.slice(core.layout_of(y), 1, first, count, 1)
    return lgt.alias(y, from and lgt.slice(layout, 2, from, n - from, 1) or layout)
  end
  while offset < n do
    local count = math.min(width, n - offset)
    local rest = n - offset - count
    local panel, exchanged = part(lu, offset, count, offset), part(pivots, offset, count)
    native.launch("lu_panel", "mw", PANEL, { in_front(panel), in_front(exchanged) }, { strict and 1 or 0, offset })
    if rest > 0 then
      local right = part(lu, offset + count, rest, offset)
      native.launch("lu_update", "mrr", UPDATE, { right, panel, exchanged }, { offset })
    end
    offset = offset + count
  end
  native.launch("lu_finish", "mr", FINISH, { lu, pivots }, { width })
  return lu, pivots
end

-- The factors of one matrix (strict: that is not singular), by columns, and which rows were exchanged.
local function factored(a, strict)
  local n = core.shape_of(a)[1]
  if n >= SHARED then return factored_together(a, strict) end
  local lu, pivots = native.new(core.dtype_of(a), { n, n }), native.new(dtypes.INT32, { n })
  native.launch("lu", "wwr", "align(0.0,1.0,2.0)", { in_front(lu), in_front(pivots), in_front(a) })
  return lu, pivots
end

-- x with a x = b, of b's dtype, or without b the inverse of a.
local function solve_factored(a, b)
  local dtype, n = core.dtype_of(a), core.shape_of(a)[1]
  local x = native.new(dtype, b and core.shape_of(b) or { n, n })
  local lu, pivots = factored(a, true)
  local whole = "broadcast(0.1) broadcast(1.0) broadcast(1.1) broadcast(2.0) "
  if not b then
    native.launch("solve_lu", "wrr", whole .. "varies", { turned(x), lu, pivots })
  elseif shares({}, core.shape_of(b)[2]) then
    native.launch("solve_lu", "wrrr", whole .. "align(0.0,3.0) broadcast(3.1) varies",
      { turned(x), lu, pivots, turned(b) })
  else
    native.launch("solve_lu", "wrrr", uncut(2, 2, 1, 2), { turned(x), lu, pivots, turned(b) })
  end
  lgt.free(lu)
  lgt.free(pivots)
  return x
end

local function solve(a, b, surplus)
  core.check_surplus(surplus, "solve")
  local stack, n
  a, stack, n = matrices(a, "solve", true)
  b = inexact(b, "solve")
  local single = core.ndim_of(b) == core.ndim_of(a) - 1
  if single then b = np.expand_dims(b, -1) end
  local shape = core.shape_of(b)
  if #shape < 2 or shape[#shape - 1] ~= n then
    raise("solve: a matrix of %d rows and right-hand sides of shape %s", n, core.shape_text(core.shape_of(b)))
  end
  local k = shape[#shape]
  stack = core.broadcast_shapes({ stack, { unpack(shape, 1, #shape - 2) } }, "solve")
  local dtype = dtypes.promote(core.dtype_of(a), core.dtype_of(b))
  a = np.broadcast_to(np.asarray(a, { dtype = dtypes.name[dtype] }), with(stack, n, n))
  b = np.broadcast_to(np.asarray(b, { dtype = dtypes.name[dtype] }), with(stack, n, k))
  if shares(stack, k) or #stack == 0 and n >= SHARED and k > 0 then
    local x = solve_factored(a, b)
    return single and np.squeeze(x, -1) or x
  end
  local x = native.new(dtype, with(stack, n, k))
  native.lines("solve", "wrr", { x, a, b }, nil, 2)
  return single and np.squeeze(x, -1) or x
end
local SOLVE = routine.new(solve)

-- x with a x = b.
---@param a lgt_array (..., n, n)
---@param b lgt_array (..., n) if it has one dimension less than a, else (..., n, k)
---@return lgt_array of b's shape
function linalg.solve(a, b, surplus)
  if surplus == nil then return (routine.of_pair(SOLVE, a, b)) end
  return (solve(a, b, surplus))
end

---@param a lgt_array (..., n, n)
---@return lgt_array
function linalg.inv(a, surplus)
  core.check_surplus(surplus, "inv")
  local stack, n
  a, stack, n = matrices(a, "inv", true)
  if shares(stack, n) then return solve_factored(a) end
  local x = native.new(core.dtype_of(a), core.shape_of(a))
  native.lines("inv", "wr", { x, a }, nil, 2)
  return x
end

-- The determinant as a sign (a number of absolute value 1 for complex matrices) and the logarithm of its
-- absolute value.
---@param a lgt_array (..., n, n)
---@return lgt_array sign, lgt_array logarithm
function linalg.slogdet(a, surplus)
  core.check_surplus(surplus, "slogdet")
  local stack, n
  a, stack, n = matrices(a, "slogdet", true)
  local sign, logarithm = native.new(core.dtype_of(a), stack), native.new(real_of(a), stack)
  if #stack == 0 and n >= SHARED then
    local lu, pivots = factored(a, false)
    native.launch("lu_slogdet", "wwrr", SLOGDET,
      { in_front(sign), in_front(logarithm), in_front(lu), in_front(pivots) })
    lgt.free(lu)
    lgt.free(pivots)
    return sign, logarithm
  end
  native.lines("slogdet", "wwr", { sign, logarithm, a }, nil, 0)
  return sign, logarithm
end

---@param a lgt_array (..., n, n)
---@return lgt_array (...)
function linalg.det(a, surplus)
  core.check_surplus(surplus, "det")
  local sign, logarithm = linalg.slogdet((matrices(a, "det", true)))
  return sign * np.exp(logarithm)
end

-- ---- decompositions -------------------------------------------------------------------------------------------

-- The lower triangular L with a = L L^H, of a Hermitian positive definite matrix, of which only the lower
-- triangle is looked at.
---@param a lgt_array (..., n, n)
---@return lgt_array
function linalg.cholesky(a, surplus)
  core.check_options(surplus, {}, "cholesky")
  a = matrices(a, "cholesky", true)
  local l = native.new(core.dtype_of(a), core.shape_of(a))
  native.lines("cholesky", "wr", { l, a }, nil, 2)
  return l
end

-- a = Q R with orthonormal columns in Q and an upper triangle R.
---@param a lgt_array (..., m, n)
---@param mode string? "reduced" (default), "complete", or "r" for R alone
---@return lgt_array q, lgt_array r
function linalg.qr(a, mode, surplus)
  core.check_surplus(surplus, "qr")
  local stack, m, n
  a, stack, m, n = matrices(a, "qr")
  mode = core.named_option(mode, "mode", "qr") or "reduced"
  if mode ~= "reduced" and mode ~= "complete" and mode ~= "r" then
    raise("qr: mode is \"reduced\", \"complete\" or \"r\", not %q", core.word(mode))
  end
  local k = mode == "complete" and m or math.min(m, n)
  check_size("qr", m, k, "a Q")
  local dtype = core.dtype_of(a)
  if m == 0 or n == 0 then
    local eye = np.broadcast_to(np.eye(m, k, { dtype = dtypes.name[dtype] }), with(stack, m, k))
    local r = np.zeros(with(stack, k, n), { dtype = dtypes.name[dtype] })
    if mode == "r" then return r end
    return eye, r
  end
  local r = native.new(dtype, with(stack, k, n))
  if mode == "r" then
    native.lines("qrr", "wr", { r, a }, nil, 2)
    return r
  end
  local q = native.new(dtype, with(stack, m, k))
  native.lines("qr", "wwr", { q, r, a }, nil, 2)
  return q, r
end

local SVD = { "full_matrices", "compute_uv", "hermitian" }

-- U, S and V^H of a Hermitian matrix, from its eigenvalues: S are their absolute values.
local function hermitian_svd(a)
  local w, v = linalg.eigh(a)
  local sizes = np.abs(w)
  local order = np.argsort(-sizes, -1)
  local sign = np.where(np.less(np.take_along_axis(w, order, -1), 0), -1, 1)
  local u = np.take_along_axis(v, np.expand_dims(order, -2), -1)
  local vh = np.conj(np.swapaxes(u * np.astype(np.expand_dims(sign, -2), dtypes.name[real_of(v)]), -1, -2))
  return u, np.take_along_axis(sizes, order, -1), vh
end

local function hermitian_values(a) return np.flip(np.sort(np.abs(linalg.eigvalsh(a)), -1), -1) end

-- a = U S V^H: singular values in descending order, orthonormal columns in U, orthonormal rows in V^H.
---@param a lgt_array (..., m, n)
---@param full_matrices boolean? true
---@param compute_uv boolean? true
---@param hermitian boolean? a is known to be so, which is faster
---@return lgt_array u (..., m, m), lgt_array s (..., k), lgt_array vh (..., n, n); reduced to k = min(m, n)
---  columns and rows if full_matrices is false; s alone if compute_uv is false
function linalg.svd(a, full_matrices, compute_uv, hermitian, surplus)
  full_matrices, compute_uv, hermitian = core.take_only_named("svd", SVD, full_matrices, compute_uv, hermitian, surplus)
  local stack, m, n
  a, stack, m, n = matrices(a, "svd", hermitian)
  if hermitian and n > 0 then return (compute_uv == false and hermitian_values or hermitian_svd)(a) end
  local k = math.min(m, n)
  local s = native.new(real_of(a), with(stack, k))
  if compute_uv == false then
    native.lines("svdvals", "wr", { s, a }, nil, 1)
    return s
  end
  local full = full_matrices ~= false
  if full then check_size("svd", math.max(m, n), math.max(m, n), "without full_matrices = false a factor") end
  local dtype = core.dtype_of(a)
  if k == 0 then
    local function eye(r, c)
      return np.broadcast_to(np.eye(r, c, { dtype = dtypes.name[dtype] }), with(stack, r, c))
    end
    return eye(m, full and m or 0), s, eye(full and n or 0, n)
  end
  local u, v = native.new(dtype, with(stack, m, full and m or k)), native.new(dtype, with(stack, full and n or k, n))
  native.lines("svd", "wwwr", { s, u, v, a }, nil, 1)
  return u, s, v
end

local function check_triangle(uplo, who)
  uplo = core.named_option(uplo, "UPLO", who) or "L"
  if uplo ~= "L" and uplo ~= "U" then raise("%s: \"L\" or \"U\" was expected, not %q", who, core.word(uplo)) end
  return uplo == "U" and 1 or 0
end

-- Eigenvalues, ascending, and eigenvectors (columns) of a symmetric or Hermitian matrix, of which only one
-- triangle is looked at.
---@param a lgt_array (..., n, n)
---@param uplo string? "L" (default) or "U"
---@return lgt_array values (..., n), lgt_array vectors (..., n, n)
function linalg.eigh(a, uplo, surplus)
  core.check_surplus(surplus, "eigh")
  local stack, n
  a, stack, n = matrices(a, "eigh", true)
  local w, v = native.new(real_of(a), with(stack, n)), native.new(core.dtype_of(a), with(stack, n, n))
  native.lines("eigh", "wwr", { w, v, a }, { check_triangle(uplo, "eigh") }, 1)
  return w, v
end

---@return lgt_array values, ascending
function linalg.eigvalsh(a, uplo, surplus)
  core.check_surplus(surplus, "eigvalsh")
  local stack, n
  a, stack, n = matrices(a, "eigvalsh", true)
  local w = native.new(real_of(a), with(stack, n))
  native.lines("eigvalsh", "wr", { w, a }, { check_triangle(uplo, "eigvalsh") }, 1)
  return w
end

-- Eigenvalues and eigenvectors (columns), always complex: whether all of them are real depends on data.
---@param a lgt_array (..., n, n)
---@return lgt_array values (..., n), lgt_array vectors (..., n, n)
function linalg.eig(a, surplus)
  core.check_surplus(surplus, "eig")
  local stack, n
  a, stack, n = matrices(a, "eig", true)
  local dtype = dtypes.complex_of(core.dtype_of(a))
  local w, v = native.new(dtype, with(stack, n)), native.new(dtype, with(stack, n, n))
  native.lines("eig", "wwr", { w, v, a }, nil, 1)
  return w, v
end

---@return lgt_array values, complex
function linalg.eigvals(a, surplus)
  core.check_surplus(surplus, "eigvals")
  local stack, n
  a, stack, n = matrices(a, "eigvals", true)
  local w = native.new(dtypes.complex_of(core.dtype_of(a)), with(stack, n))
  native.lines("eigvals", "wr", { w, a }, nil, 1)
  return w
end

-- A matrix of few rows R with R^H R = a^H a: that of QR, from those of blocks of rows (Demmel et al., SIAM J. Sci.
-- Comput. 34, 2012).
local function condensed(a)
  local rows, columns = a:dims()
  while rows > TALL do
    local count = math.ceil(rows / math.max(1024, 4 * columns))
    local block = math.ceil(rows / count)
    local missing = np.zeros(count * block - rows, columns, { dtype = a.dtype })
    a = linalg.qr(np.reshape(np.concatenate { a, missing }, { count, block, columns }), "r")
    rows = count * columns
    a = np.reshape(a, { rows, columns })
  end
  return a
end

-- The x of least norm that makes a x closest to b.
---@param a lgt_array (m, n)
---@param b lgt_array (m) or (m, k)
---@param rcond number? singular values below this times the greatest count as 0: machine precision times
---  max(m, n)
---@return lgt_array x, lgt_array residuals (sums of squares, one for each column; none if m <= n), lgt_array rank,
---  lgt_array singular values
function linalg.lstsq(a, b, rcond, surplus)
  core.check_surplus(surplus, "lstsq")
  rcond = core.plain(core.named_option(rcond, "rcond", "lstsq"))
  if rcond ~= nil and type(rcond) ~= "number" then
    raise("lstsq: rcond is a number, not %s", (core.describe(rcond)))
  end
  a, b = inexact(a, "lstsq"), inexact(b, "lstsq")
  if core.ndim_of(a) ~= 2 or core.ndim_of(b) > 2 or core.ndim_of(b) == 0 then
    raise("lstsq: a matrix and a vector or matrix were expected")
  end
  local m, n = a:dims()
  if core.shape_of(b)[1] ~= m then raise("lstsq: %d equations and %d right-hand sides", m, core.shape_of(b)[1]) end
  local single = core.ndim_of(b) == 1
  if single then b = np.expand_dims(b, 2) end
  local k = core.shape_of(b)[2]
  local dtype = dtypes.promote(core.dtype_of(a), core.dtype_of(b))
  a, b = np.asarray(a, { dtype = dtypes.name[dtype] }), np.asarray(b, { dtype = dtypes.name[dtype] })
  if m > TALL and 4 * (n + k) <= TALL then -- equations that have the same solutions and residuals
    local both = condensed(np.concatenate({ a, b }, 2))
    a, b = both:sub(1, -1, 1, n), both:sub(1, -1, n + 1, n + k)
  end
  matrices(a, "lstsq")
  local x, s = native.new(dtype, { n, k }), native.new(dtypes.part_of(dtype), { math.min(m, n) })
  local rank = np.zeros({}, { dtype = "int64" })
  if m == 0 or n == 0 then
    x = np.zeros(n, k, { dtype = dtypes.name[dtype] })
  else
    rank = native.new(dtypes.INT64, {})
    native.lines("lstsq", "wwwrr", { x, s, rank, a, b }, { rcond or epsilon(a) * math.max(m, n) }, 2)
  end
  local residuals = m > n and np.sum(np.square(np.abs(b - np.dot(a, x))), 1) or
    np.zeros(0, { dtype = dtypes.name[dtypes.part_of(dtype)] })
  return single and np.squeeze(x, 2) or x, residuals, rank, s
end

-- ---- what is made of decompositions ---------------------------------------------------------------------------------

-- The pseudo-inverse of Moore and Penrose, from the singular values above rcond (1e-15) times the greatest.
---@param a lgt_array (..., m, n)
---@param rcond number?
---@param hermitian boolean? a is known to be so, which is faster
---@return lgt_array (..., n, m)
function linalg.pinv(a, rcond, hermitian, surplus)
  rcond, hermitian = core.take_only_named("pinv", { "rcond", "hermitian" }, rcond, hermitian, surplus)
  local stack, m, n
  a, stack, m, n = matrices(a, "pinv")
  if m == 0 or n == 0 then return np.zeros(with(stack, n, m), { dtype = dtypes.name[core.dtype_of(a)] }) end
  local u, s, v = linalg.svd(np.conj(a), { full_matrices = false, hermitian = hermitian })
  if core.is_array(rcond) and core.ndim_of(rcond) > 0 then rcond = np.expand_dims(rcond, -1) end
  local cutoff = (rcond or 1e-15) * np.max(s, -1, { keepdims = true })
  local large = np.greater(s, cutoff)
  local inverse = np.where(large, 1 / np.where(large, s, 1), 0)
  return np.matmul(np.swapaxes(v, -1, -2), np.expand_dims(inverse, -1) * np.swapaxes(u, -1, -2))
end

-- The number of singular values above tol: machine precision times max(m, n) times the greatest.
---@param a lgt_array (..., m, n)
---@param tol number?
---@param hermitian boolean? a is known to be so, which is faster
---@return lgt_array int64 (...)
function linalg.matrix_rank(a, tol, hermitian, surplus)
  tol, hermitian = core.take_only_named("matrix_rank", { "tol", "hermitian" }, tol, hermitian, surplus)
  a = np.asarray(a)
  if core.ndim_of(a) < 2 then return np.astype(np.asarray(np.any(np.reshape(a, { -1 }), 1)), "int64") end
  local _, m, n
  a, _, m, n = matrices(a, "matrix_rank")
  local s = linalg.svd(a, { compute_uv = false, hermitian = hermitian })
  if core.is_array(tol) and core.ndim_of(tol) > 0 then tol = np.expand_dims(tol, -1) end
  local bound = tol or np.max(s, -1, { keepdims = true, initial = 0 }) * (epsilon(a) * math.max(m, n))
  return np.sum(np.greater(s, bound), -1)
end

-- How much a system of equations amplifies errors: the norm of a times that of its inverse.
---@param a lgt_array (..., m, n)
---@param p number|string|nil as the order of np.linalg.norm; 2 and -2 take singular values
---@return lgt_array (...)
function linalg.cond(a, p, surplus)
  core.check_surplus(surplus, "cond")
  a, p = matrices(a, "cond"), core.named_option(p, "p", "cond")
  if p == nil or p == 2 or p == -2 then
    local s = linalg.svd(a, { compute_uv = false })
    local n = core.shape_of(s)[core.ndim_of(s)]
    if n == 0 then raise("cond: the matrix is empty") end
    local function at(i) return lgt.alias(s, lgt.project(core.layout_of(s), core.ndim_of(s), i)) end
    return p == -2 and at(n - 1) / at(0) or at(0) / at(n - 1)
  end
  return linalg.norm(a, p, { -2, -1 }) * linalg.norm(linalg.inv(a), p, { -2, -1 })
end

-- a multiplied with itself n times; n < 0: its inverse.
---@param a lgt_array (..., m, m)
---@param n integer
---@return lgt_array
function linalg.matrix_power(a, n, surplus)
  core.check_surplus(surplus, "matrix_power")
  n = core.plain(core.named_option(n, "n", "matrix_power"))
  a = np.asarray(a)
  local shape = core.shape_of(a)
  if #shape < 2 or shape[#shape] ~= shape[#shape - 1] then
    raise("matrix_power: a square matrix was expected, not shape %s", core.shape_text(shape))
  end
  if not core.is_integer(n) then raise("matrix_power: an integer was expected, not %s", (core.describe(n))) end
  if n == 0 then
    return np.copy(np.broadcast_to(np.eye(shape[#shape], { dtype = dtypes.name[core.dtype_of(a)] }), shape))
  end
  if n < 0 then a, n = linalg.inv(a), -n end
  local result
  while n > 0 do
    if n % 2 == 1 then result = result and np.matmul(result, a) or a end
    n = math.floor(n / 2)
    if n > 0 then a = np.matmul(a, a) end
  end
  return result
end

-- The product of several matrices, in the order that takes the fewest multiplications (Cormen et al.,
-- Introduction to Algorithms, 15.2); the first and the last may be vectors.
---@param arrays lgt_array[]
---@param options {out: lgt_array}?
---@return lgt_array
function linalg.multi_dot(arrays, options)
  local out = core.check_options(options, { out = true }, "multi_dot").out
  if type(arrays) ~= "table" or #arrays < 2 then raise("multi_dot: a table of at least two arrays was expected") end
  local list, count = {}, #arrays
  for i = 1, count do list[i] = np.asarray(arrays[i]) end
  local row, column = core.ndim_of(list[1]) == 1, core.ndim_of(list[count]) == 1
  if row then list[1] = np.expand_dims(list[1], 1) end
  if column then list[count] = np.expand_dims(list[count], 2) end
  local p = {}
  for i, a in ipairs(list) do
    if core.ndim_of(a) ~= 2 then raise("multi_dot: array %d has %d dimensions, not 2", i, core.ndim_of(a)) end
    p[i - 1], p[i] = core.shape_of(a)[1], core.shape_of(a)[2]
  end
  local cost, split = {}, {}
  for i = 1, count do cost[i], split[i] = { [i] = 0 }, {} end
  for length = 1, count - 1 do
    for i = 1, count - length do
      local j = i + length
      cost[i][j] = math.huge
      for k = i, j - 1 do
        local c = cost[i][k] + cost[k + 1][j] + p[i - 1] * p[k] * p[j]
        if c < cost[i][j] then cost[i][j], split[i][j] = c, k end
      end
    end
  end
  local function product(i, j)
    if i == j then return list[i] end
    return np.dot(product(i, split[i][j]), product(split[i][j] + 1, j))
  end
  local result = product(1, count)
  if row then result = np.squeeze(result, 1) end
  if column then result = np.squeeze(result, -1) end
  return out and reduce.give(result, out, "multi_dot") or result
end

local pade = { 64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000,
               10559470521600, 670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1 }

-- The exponential of a matrix, by scaling, a rational approximation of degree 13, and squaring (Higham, SIAM J.
-- Matrix Anal. Appl. 26, 2005).  Waits, for the norm of the matrix.
---@param a lgt_array (n, n)
---@return lgt_array
function linalg.expm(a, surplus)
  core.check_surplus(surplus, "expm")
  local stack, n
  a, stack, n = matrices(a, "expm", true)
  if #stack > 0 then
    raise("expm: one matrix was expected, not a stack of shape %s", core.shape_text(core.shape_of(a)))
  end
  if n == 0 then return np.copy(a) end
  local norm = core.read_item(np.max(np.sum(np.abs(a), 1)))
  if norm ~= norm or norm == math.huge then raise("expm: the matrix has elements that are not finite") end
  local squarings = math.max(0, math.ceil(math.log(norm / 5.371920351148152) / math.log(2)))
  a = a / 2 ^ squarings
  local eye = np.eye(n, { dtype = dtypes.name[core.dtype_of(a)] })
  local a2 = np.dot(a, a)
  local a4 = np.dot(a2, a2)
  local a6 = np.dot(a2, a4)
  local function sum(i) return pade[i + 6] * a6 + pade[i + 4] * a4 + pade[i + 2] * a2 + pade[i] * eye end
  local odd = np.dot(a, np.dot(a6, pade[14] * a6 + pade[12] * a4 + pade[10] * a2) + sum(2))
  local even = np.dot(a6, pade[13] * a6 + pade[11] * a4 + pade[9] * a2) + sum(1)
  local result = linalg.solve(even - odd, even + odd)
  for _ = 1, squarings do result = np.dot(result, result) end
  return result
end

-- The norm of matrices that two axes span.
---@param order number|string 1, -1, 2, -2, math.huge, -math.huge, "fro", "nuc"
function core.matrix_norm(a, order, axes, keepdims)
  local ndim = core.ndim_of(a)
  if type(axes) ~= "table" or #axes ~= 2 then raise("norm: two axes were expected") end
  local rows, columns = core.check_axis(axes[1], ndim, "norm"), core.check_axis(axes[2], ndim, "norm")
  if rows == columns then raise("norm: axis %d is given twice", rows) end
  a = np.moveaxis(inexact(a, "norm"), { rows, columns }, { -2, -1 })
  local result
  if order == "fro" then
    result = linalg.norm(a, nil, { -2, -1 })
  elseif order == 2 or order == -2 or order == "nuc" then
    local s = linalg.svd(a, { compute_uv = false })
    result = order == 2 and np.max(s, -1) or order == -2 and np.min(s, -1) or np.sum(s, -1)
  elseif order == 1 or order == -1 or order == math.huge or order == -math.huge then
    local sums = np.sum(np.abs(a), (order == 1 or order == -1) and -2 or -1)
    result = order > 0 and np.max(sums, -1) or np.min(sums, -1)
  else
    raise("norm: matrices have the norms 1, -1, 2, -2, math.huge, -math.huge, \"fro\" and \"nuc\", not %s",
      core.word(order))
  end
  if not keepdims then return result end
  return np.expand_dims(result, { math.min(rows, columns), math.max(rows, columns) })
end

-- x with tensordot(a, x, ndim of x) = b.
---@param a lgt_array
---@param b lgt_array
---@param axes integer[]? axes of a to move behind the others first
---@return lgt_array
function linalg.tensorsolve(a, b, axes, surplus)
  core.check_surplus(surplus, "tensorsolve")
  axes = core.named_option(axes, "axes", "tensorsolve")
  if axes ~= nil and type(axes) ~= "table" then
    raise("tensorsolve: a list of axes was expected, not %s", (core.describe(axes)))
  end
  a, b = np.asarray(a), np.asarray(b)
  if axes then
    local to = {}
    for i = 1, #axes do to[i] = core.ndim_of(a) - #axes + i end
    a = np.moveaxis(a, axes, to)
  end
  local shape, n = core.shape_of(a), core.size_of(b)
  local rest = { unpack(shape, core.ndim_of(b) + 1) }
  if core.product(rest) ~= n or core.size_of(a) ~= n * n then
    raise("tensorsolve: shapes %s and %s do not make a square system", core.shape_text(shape),
      core.shape_text(core.shape_of(b)))
  end
  return np.reshape(linalg.solve(np.reshape(a, { n, n }), np.ravel(b)), rest)
end

-- The inverse with respect to tensordot over `ind` (2) axes.
---@param a lgt_array
---@param ind integer?
---@return lgt_array
function linalg.tensorinv(a, ind, surplus)
  core.check_surplus(surplus, "tensorinv")
  ind = core.plain(core.named_option(ind, "ind", "tensorinv"))
  a, ind = np.asarray(a), ind or 2
  local shape = core.shape_of(a)
  if not core.is_integer(ind) or ind < 1 then
    raise("tensorinv: a number of axes was expected, not %s", core.word(ind))
  end
  ind = math.min(ind, #shape)
  local first, last = { unpack(shape, 1, ind) }, { unpack(shape, ind + 1) }
  local n = core.product(first)
  if core.product(last) ~= n then
    raise("tensorinv: the axes of shape %s do not make a square matrix", core.shape_text(shape))
  end
  local result = { unpack(last) }
  for i = 1, #first do result[#result + 1] = first[i] end
  return np.reshape(linalg.inv(np.reshape(a, { n, n })), result)
end

return true
