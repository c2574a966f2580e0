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

-- A vector in which no direction is preferred: of the same sequence always, and the script's np.random stays as it is.
local generator
local function random_like(n, dtype)
  generator = generator or np.random.default_rng(1)
  local v = generator:random(n) - 0.5
  if dtypes.category[dtypes.number[dtype]] == 3 then v = v + np.array { 1i } * (generator:random(n) - 0.5) end
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
  if o.ncv ~= nil and (o.ncv <= k or o.ncv > n) then
    raise("%s: ncv, the size of the basis, is an integer above k and up to %d, not %s", o.who, n, core.describe(o.ncv))
  end
  generator = nil
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

local known = { which = true, sigma = "number", v0 = true, ncv = "count", maxiter = "count", tol = "amount",
                return_eigenvectors = true, k = "count" }

-- k eigenvalues and eigenvectors of a Hermitian matrix.  Raises if they do not converge in maxiter restarts.
---@param A any matrix or operator [n, n]; with a sigma a matrix
---@param k integer? 6, below n
---@param options {which: string?, sigma: number?, v0: lgt_array?, ncv: integer?, maxiter: integer?, tol: number?,
---  return_eigenvectors: boolean?}? which: "LM" (default), "SM", "LA", "SA", "BE", the largest or smallest by size,
---  algebraically, or from both ends; of 1 / (w - sigma) where a sigma is given: those near it; ncv: vectors of the
---  basis, max(2 k + 1, 20); maxiter 10 n; tol 0: the machine's precision
---@return lgt_array w [k] ascending, lgt_array v [n, k], whose columns are the vectors; w alone without eigenvectors
function eigen.eigsh(A, k, options)
  if type(k) == "table" then k, options = nil, k end
  options = core.check_options(options, known, "eigsh")
  k = core.plain(k or options.k or 6)
  local operator = system.aslinearoperator(A)
  local n, which = operator.shape[1], options.which or "LM"
  if operator.shape[2] ~= n then raise("eigsh: the matrix must be square") end
  if not core.is_integer(k) or k < 1 or k >= n then
    raise("eigsh: k must be from 1 to %d, not %s", n - 1, core.word(k))
  end
  if not ({ LM = 1, SM = 1, LA = 1, SA = 1, BE = 1 })[which] then
    raise("eigsh: which is \"LM\", \"SM\", \"LA\", \"SA\" or \"BE\", not %s", core.describe(which))
  end
  local dtype = operator.dtype
  if dtypes.category[dtypes.number[dtype]] < 2 then dtype = "float64" end
  local apply = operator.apply
  if options.sigma then
    if core.is_array(A) then A = sparse.sp.csc_matrix(A) end
    if not sparse.is_matrix(A) then raise("eigsh: sigma needs a matrix: A - sigma I is factorised") end
    apply = require("solvers.direct").factorized(A - options.sigma * sparse.sp.identity(n), "eigsh: A - sigma I")
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

-- The left singular vectors to the rows of v, the last of which belongs to the largest value, and these values: A v of
-- each, orthogonal to those before.  Where A v is nothing but roundings, any direction does.
local function left_vectors(A, v, k)
  local m = A.shape[1]
  local U, s, largest = np.zeros(k, m, { dtype = v.dtype }), {}, nil
  for j = 1, k do
    local i = k + 1 - j
    local w = A:matvec(v[i])
    s[i] = norm(w)()
    largest = largest or s[i]
    if s[i] <= m * EPS[v.dtype] * largest then w = random_like(m, v.dtype) end
    if j > 1 then w = orthogonalise(U, j - 1, w) end
    U[j] = w / norm(w)
  end
  return U["::-1, :"].T, np.array(s):astype(dtypes.name[dtypes.part_of(dtypes.number[v.dtype])])
end

-- k singular values of a matrix and their vectors, the largest or the smallest: from eigenvectors of A^H A, so that of
-- values below 1e-8 times the largest (1e-4 of float32) only the size is right.
---@param A any matrix or operator [m, n], which needs rmatvec
---@param k integer? 6, below m and n
---@param options {which: string?, ncv: integer?, tol: number?, maxiter: integer?, v0: lgt_array?,
---  return_singular_vectors: boolean|"u"|"vh"|nil}? which "LM" (default) or "SM"; v0 [n]; the others as eigsh's
---@return lgt_array? u [m, k], lgt_array s [k] ascending, lgt_array? vh [k, n]; s alone without vectors, and nil for
---  those of the side that was not asked for
function eigen.svds(A, k, options)
  if type(k) == "table" then k, options = nil, k end
  options = core.check_options(options, { ncv = "count", tol = "amount", maxiter = "count", v0 = true, which = true,
                                          return_singular_vectors = true, k = "count" }, "svds")
  k = core.plain(k or options.k or 6)
  local side = options.return_singular_vectors
  if type(side) == "string" and side ~= "u" and side ~= "vh" then
    raise("svds: return_singular_vectors is true, false, \"u\" or \"vh\", not %q", side)
  end
  if type(side) ~= "string" then side = core.check_value(side, "flag", "return_singular_vectors", "svds") end
  A = system.aslinearoperator(A)
  local m, n, which = A.shape[1], A.shape[2], options.which or "LM"
  if not core.is_integer(k) or k < 1 or k >= math.min(m, n) then
    raise("svds: k must be from 1 to %d, not %s", math.min(m, n) - 1, core.word(k))
  end
  if which ~= "LM" and which ~= "SM" then raise("svds: which is \"LM\" or \"SM\", not %s", core.describe(which)) end
  local dtype = A.dtype
  if dtypes.category[dtypes.number[dtype]] < 2 then dtype = "float64" end
  -- Of a wide matrix A^H A has eigenvalues 0 beside the squares of singular values: the smallest are those of A^H's.
  local wide = which == "SM" and m < n
  if wide then A, n = A:adjoint(), m end
  local function product(x) return A:rmatvec(A:matvec(x)) end
  local _, v = lanczos(product, n, dtype, k, { which = which == "LM" and "LA" or "SA", ncv = options.ncv,
    tol = options.tol, v0 = options.v0, maxiter = options.maxiter, who = "svds" })
  if which == "SM" then v = v["::-1, :"]:copy()["::-1, :"] end
  local u, s = left_vectors(A, v, k)
  if side == false then return s end
  local vh = np.conj(v)
  if wide then u, vh = v.T, np.conj(u.T) end
  return side ~= "vh" and u or nil, s, side ~= "u" and vh or nil
end

-- ---- the exponential ------------------------------------------------------------------------------------------

-- exp(t (A + mu I)) F, of A with the 1-norm `size`.
local function propagate(A, mu, size, t, F)
  local TERMS, THETA = 55, 9.9 -- of the series, with which the error is below 2^-53 for norms up to THETA
  local steps = math.max(1, math.ceil(size * math.abs(t) / THETA))
  local factor = np.exp(mu * (t / steps))
  for _ = 1, steps do
    local term, before = F, core.read_item(np.max(np.abs(F)))
    for j = 1, TERMS do
      term = A:dot(term) * (t / (steps * j))
      F = F + term
      local now = core.read_item(np.max(np.abs(term)))
      if before + now <= 2 ^ -53 * core.read_item(np.max(np.abs(F))) then break end
      before = now
    end
    F = F * factor
  end
  return F
end

local function take_vectors(B, n)
  if type(B) == "table" and not sparse.is_matrix(B) then B = np.array(B) end
  core.layout_of(B, "expm_multiply")
  local shape = core.shape_of(B)
  if #shape < 1 or #shape > 2 or shape[1] ~= n then
    raise("expm_multiply: the matrix has %d columns, B is of shape %s", n, core.shape_text(shape))
  end
  return B
end

-- The times of the options, as np.linspace's; nil without.
local function take_times(o)
  if next(o) == nil then return nil end
  if type(o.start) ~= "number" or type(o.stop) ~= "number" then
    raise("expm_multiply: times from start to stop need both, two numbers")
  end
  local num = o.num or 50
  local parts = o.endpoint == false and num or math.max(num - 1, 1)
  return o.start, (o.stop - o.start) / parts, num
end

-- exp(A) B, without exp(A): the Taylor series of exp(A / s), applied s times, after Al-Mohy and Higham, "Computing the
-- action of the matrix exponential" (SIAM J. Sci. Comput. 33, 2011), with s bounded by the 1-norm of A.  With start and
-- stop exp(t A) B for num times t, equally far from one another.
---@param A table|lgt_array sparse or dense matrix [n, n]
---@param B lgt_array vector [n] or matrix [n, k]
---@param options {start: number?, stop: number?, num: integer?, endpoint: boolean?}? num 50; endpoint true: stop is the
---  last time
---@return lgt_array of B's shape; with times [num, n] or [num, n, k]
function eigen.expm_multiply(A, B, options)
  options = core.check_options(options, { start = "number", stop = "number", num = "positive", endpoint = true },
    "expm_multiply")
  local is_sparse = sparse.is_matrix(A)
  if not is_sparse and not core.is_array(A) then
    raise("expm_multiply: a matrix was expected, not %s", sparse.describe(A))
  end
  local n = A.shape[1]
  if #A.shape ~= 2 or A.shape[2] ~= n then raise("expm_multiply: the matrix must be square") end
  B = take_vectors(B, n)
  local start, step, num = take_times(options)
  local mu = (is_sparse and A:trace() or np.trace(A)) / math.max(n, 1)
  local shift = core.read_item(mu)
  A = is_sparse and A - shift * sparse.sp.identity(n) or A - shift * np.identity(n)
  local size = n == 0 and 0 or core.read_item(is_sparse and sparse.sp.norm(A, 1) or np.linalg.norm(A, 1))
  if size ~= size or size == math.huge then
    raise("expm_multiply: the matrix has an element that is infinite, or no number")
  end
  if not start then return propagate(A, mu, size, 1, B) end
  local results = { propagate(A, mu, size, start, B) }
  for i = 2, num do results[i] = propagate(A, mu, size, step, results[i - 1]) end
  return np.stack(results, 1)
end

return eigen
