-- solvers/eigen.lua - a few eigenvalues of large Hermitian matrices, a few singular values of any, exp(A) B.
--
-- Lanczos with thick restarts: Wu and Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems"
-- (SIAM J. Matrix Anal. Appl. 22, 2000), with full reorthogonalisation.  The rows of V are the basis; T, small and
-- dense, is V A V^H.

local np = require "array"
local core = require "array.core"
local sparse = require "sparse.core"
local system = require "solvers.system"

local raise, dtypes, norm = core.raise, core.dtypes, np.norm

local eigen = {}

local EPS = { float32 = 2 ^ -23, complex64 = 2 ^ -23, float64 = 2 ^ -52, complex128 = 2 ^ -52 }

-- Which k of the ascending numbers are wanted, as a list of their positions, best first.
local function wanted(values, k, which)
  local order = {}
  for i = 1, #values do order[i] = i end
  local score = {
    LM = function(i) return -math.abs(values[i]) end, SM = function(i) return math.abs(values[i]) end,
    LA = function(i) return -values[i] end, SA = function(i) return values[i] end,
    BE = function(i) return math.min(i - 0.5, #values - i) end, -- from both ends, the upper one first
  }
  table.sort(order, function(i, j)
    local a, b = score[which](i), score[which](j)
    if a ~= b then return a < b end
    return i < j
  end)
  local best = {}
  for i = 1, k do best[i] = order[i] end
  return best
end

-- w without its components along the first k rows of V, twice, which is enough.
local function orthogonalise(V, k, w)
  local basis = V[{ { 1, k }, {} }]
  for _ = 1, 2 do w = w - system.rows_dot(basis, w):dot(basis) end
  return w
end

local function random_like(n, dtype)
  local v = np.random.rand(n) - 0.5
  if dtypes.category[dtypes.number[dtype]] == 3 then v = v + np.array { 1i } * (np.random.rand(n) - 0.5) end
  return np.astype(v, dtype)
end

-- Extends the basis from row j to row m: fills T, returns the next vector and its length.
local function extend(apply, V, T, first, m)
  local w, beta
  for j = first, m do
    w = apply(V[j])
    local alpha = system.inner(V[j], w)
    w = orthogonalise(V, j, w)
    T[{ j, j }] = np.real(alpha)
    beta = norm(w)()
    if j < m then
      local largest = norm(T)()
      if beta <= 1e-14 * largest then -- an invariant subspace: go on in another direction
        w, beta = orthogonalise(V, j, random_like(core.size_of(w), w.dtype)), 0
        V[j + 1] = w / norm(w)
      else
        V[j + 1] = w / beta
      end
      T[{ j, j + 1 }], T[{ j + 1, j }] = beta, beta
    end
  end
  return w, beta
end

-- k eigenvalues of `apply` on vectors of n elements, and their vectors as rows.
local function lanczos(apply, n, dtype, k, o)
  system.check_maxiter(o.maxiter, o.who)
  local m = math.min(n, o.ncv or math.max(2 * k + 1, 20))
  local part = dtypes.name[dtypes.part_of(dtypes.number[dtype])]
  local tol = math.max(o.tol or 0, EPS[dtype])
  local V, T = np.zeros(m, n, { dtype = dtype }), np.zeros(m, m, { dtype = part })
  local v = o.v0 and np.astype(o.v0, dtype) or random_like(n, dtype)
  V[1] = v / norm(v)
  local first = 1
  for _ = 1, o.maxiter or 10 * n do
    local w, beta = extend(apply, V, T, first, m)
    local theta, S = np.linalg.eigh(T)
    local values = {}
    for i, x in ipairs(theta:totable()) do values[i] = x end
    if beta ~= beta then raise("%s: the matrix has elements that are no numbers", o.who) end
    -- The residual of each Ritz pair is beta times the last element of its vector.
    local last, best, converged = S[m]:totable(), wanted(values, k, o.which), 0
    for _, i in ipairs(best) do
      local enough = tol * math.max(EPS[dtype] ^ (2 / 3), math.abs(values[i]))
      if m == n or beta * math.abs(last[i]) <= enough then converged = converged + 1 end
    end
    if converged == k then
      table.sort(best)
      local at = np.array(best, { dtype = "int64" })
      return theta[at], S[{ {}, at }].T:astype(dtype):dot(V)
    end
    -- Keep the best Ritz vectors and go on from them.
    local keep = wanted(values, math.min(k + math.floor((m - k) / 2), m - 1), o.which)
    local at = np.array(keep, { dtype = "int64" })
    local kept, l = S[{ {}, at }].T:astype(dtype):dot(V), #keep
    V[{ { 1, l }, {} }] = kept
    V[l + 1] = orthogonalise(V, l, w) / norm(w)
    T = np.zeros(m, m, { dtype = part })
    local coupling = S[{ m, at }] * beta
    for i = 1, l do T[{ i, i }] = theta[keep[i]] end
    T[{ l + 1, { 1, l } }], T[{ { 1, l }, l + 1 }] = coupling, coupling
    first = l + 1
  end
  raise("%s: only some of the %d eigenvalues converged; raise maxiter or ncv", o.who, k)
end

local known = { which = true, sigma = true, v0 = true, ncv = true, maxiter = true, tol = true,
                return_eigenvectors = true, k = true }

-- k eigenvalues and eigenvectors of a Hermitian matrix.
---@param A any matrix or operator
---@param k integer? 6
---@param options {which: string?, sigma: number?, v0: lgt_array?, ncv: integer?, maxiter: integer?, tol: number?,
---  return_eigenvectors: boolean?}? which: "LM" (default), "SM", "LA", "SA", "BE", the largest or smallest by size,
---  algebraically, or from both ends; of 1 / (w - sigma) where a sigma is given: those near it
---@return lgt_array w ascending, lgt_array v columns
function eigen.eigsh(A, k, options)
  if type(k) == "table" then k, options = nil, k end
  options = core.check_options(options, known, "eigsh")
  k = k or options.k or 6
  local operator = system.aslinearoperator(A)
  local n, which = operator.shape[1], options.which or "LM"
  if operator.shape[2] ~= n then raise("eigsh: the matrix must be square") end
  if not core.is_integer(k) or k < 1 or k >= n then
    raise("eigsh: k must be from 1 to %d, not %s", n - 1, tostring(k))
  end
  if not ({ LM = 1, SM = 1, LA = 1, SA = 1, BE = 1 })[which] then
    raise("eigsh: which is \"LM\", \"SM\", \"LA\", \"SA\" or \"BE\", not %s", core.describe(which))
  end
  local dtype = operator.dtype
  if dtypes.category[dtypes.number[dtype]] < 2 then dtype = "float64" end
  local apply = operator.apply
  if options.sigma then
    if not sparse.is_matrix(A) then
      raise("eigsh: sigma needs a sparse matrix, of which A - sigma I can be factorised")
    end
    local direct = require "solvers.direct"
    apply = direct.factorized(A - options.sigma * sparse.sp.identity(n))
  end
  local w, v = lanczos(apply, n, dtype, k, { which = which, v0 = options.v0, ncv = options.ncv, tol = options.tol,
                                             maxiter = options.maxiter, who = "eigsh" })
  if options.sigma then
    w = options.sigma + 1 / w
    local order = np.argsort(w)
    w, v = w[order]:copy(), v[order]:copy()
  end
  if options.return_eigenvectors == false then return w end
  return w, v.T
end

-- k singular values of a matrix, the largest, and their vectors.
---@param A any matrix or operator
---@param k integer? 6
---@param options {ncv: integer?, tol: number?, maxiter: integer?, v0: lgt_array?, return_singular_vectors: boolean?}?
---@return lgt_array u [m, k], lgt_array s ascending, lgt_array vh [k, n]
function eigen.svds(A, k, options)
  if type(k) == "table" then k, options = nil, k end
  options = core.check_options(options, { ncv = true, tol = true, maxiter = true, v0 = true,
                                          return_singular_vectors = true, k = true }, "svds")
  k = k or options.k or 6
  A = system.aslinearoperator(A)
  local m, n = A.shape[1], A.shape[2]
  if not core.is_integer(k) or k < 1 or k >= math.min(m, n) then
    raise("svds: k must be from 1 to %d, not %s", math.min(m, n) - 1, tostring(k))
  end
  local dtype = A.dtype
  if dtypes.category[dtypes.number[dtype]] < 2 then dtype = "float64" end
  local function product(x) return A:rmatvec(A:matvec(x)) end
  local w, v = lanczos(product, n, dtype, k, { which = "LA", ncv = options.ncv, tol = options.tol, v0 = options.v0,
                                               maxiter = options.maxiter, who = "svds" })
  local s = np.sqrt(np.maximum(w, 0))
  if options.return_singular_vectors == false then return s end
  local u = {}
  for i = 1, k do u[i] = A:matvec(v[i]) / s[i] end
  return np.stack(u, 2), s, np.conj(v)
end

-- exp(A) B, without exp(A): the Taylor series of exp(A / s), applied s times, after Al-Mohy and Higham, "Computing the
-- action of the matrix exponential" (SIAM J. Sci. Comput. 33, 2011), with s bounded by the 1-norm of A.
---@param A table sparse or dense matrix
---@param B lgt_array vector or matrix
---@return lgt_array
function eigen.expm_multiply(A, B)
  local is_sparse = sparse.is_matrix(A)
  if not is_sparse and not core.is_array(A) then
    raise("expm_multiply: a matrix was expected, not %s", sparse.describe(A))
  end
  local n = A.shape[1]
  if A.shape[2] ~= n then raise("expm_multiply: the matrix must be square") end
  local mu = (is_sparse and A:trace() or np.trace(A)) / math.max(n, 1)
  local shift = core.read_item(mu)
  A = is_sparse and A - shift * sparse.sp.identity(n) or A - shift * np.identity(n)
  local size = n == 0 and 0 or core.read_item(is_sparse and sparse.sp.norm(A, 1) or np.linalg.norm(A, 1))
  local TERMS, THETA = 55, 9.9 -- of the series, with which the error is below 2^-53 for norms up to THETA
  local steps = math.max(1, math.ceil(size / THETA))
  local factor = np.exp(mu / steps)
  local F = B
  for _ = 1, steps do
    local term, before = F, core.read_item(np.max(np.abs(F)))
    for j = 1, TERMS do
      term = A:dot(term) / (steps * j)
      F = F + term
      local now = core.read_item(np.max(np.abs(term)))
      if before + now <= 2 ^ -53 * core.read_item(np.max(np.abs(F))) then break end
      before = now
    end
    F = F * factor
  end
  return F
end

return eigen
