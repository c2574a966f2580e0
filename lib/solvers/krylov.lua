-- solvers/krylov.lua - Krylov subspace methods for A x = b.
--
-- After Barrett et al., "Templates for the Solution of Linear Systems" (SIAM 1994), which SciPy's are made of too, and
-- Saad, "Iterative Methods for Sparse Linear Systems" (SIAM 2003).
--
-- They are called as f(A, b, x0, options): A is a matrix, sparse or dense, or a LinearOperator; x0 (zeros) is where to
-- begin.  A method ends when |b - A x| <= max(tol |b|, atol) (1e-5, 0; rtol is another name of tol, that of newer
-- SciPys), or after maxiter steps (10 n).  M approximates
-- the inverse of A.  callback(x) is called after each step; the next one changes that x.  They return x and 0, or x
-- and the number of steps if these were not enough, or x and a negative number if the method broke down.
--
-- alpha, beta and their like are arrays without dimensions: only the test of the residual waits.

local np = require "array"
local core = require "array.core"
local system = require "solvers.system"

local take, inner, norm, first_residual = system.take, system.inner, np.norm, system.first_residual

local krylov = {}

---@alias SolverOptions {tol: number?, rtol: number?, atol: number?, maxiter: integer?, M: any, x0: lgt_array?,
---  callback: fun(x: lgt_array)?}

-- After the last step.
local function ended(s, x, r) return x, s.stop(r) or s.maxiter end

-- Conjugate gradients, for Hermitian positive definite matrices (Templates, 2.3.1).
---@param A table|lgt_array [n, n]
---@param b lgt_array [n]
---@param x0 lgt_array? [n]
---@param options SolverOptions?
---@return lgt_array x, integer info
function krylov.cg(A, b, x0, options)
  local s = take("cg", {}, A, b, x0, options)
  local x, r = s.x, first_residual(s)
  local p, alpha, rho_before
  for step = 0, s.maxiter do
    local z = step < s.maxiter and s.M(r) or r -- behind the last step only x is wanted
    local rho = inner(r, z) -- before it is waited for the norm: so that r is read once for both
    local beta = p and rho / rho_before
    local info = s.stop(r)
    if p then
      x:iadd(alpha * p) -- not before the next p is made of this one: so that it is read once for both
      s.callback(x)
    end
    if info or step == s.maxiter then return x, info or step end
    if p then p["..."] = z + beta * p else p = z:copy() end
    local q = s.A(p)
    alpha = rho / inner(p, q)
    r:isub(alpha * q)
    rho_before = rho
  end
end

-- Biconjugate gradients (Templates, 2.3.5).  Needs products with the adjoint of A, and of M.
---@param A table|lgt_array [n, n]
---@param b lgt_array [n]
---@param x0 lgt_array? [n]
---@param options SolverOptions?
---@return lgt_array x, integer info
function krylov.bicg(A, b, x0, options)
  local s = take("bicg", {}, A, b, x0, options)
  local x, r = s.x, first_residual(s)
  local rt, p, pt, rho_before = r, nil, nil, nil
  for _ = 1, s.maxiter do
    local info = s.stop(r)
    if info then return x, info end
    local z, zt = s.M(r), s.M_adjoint(rt)
    local rho = inner(rt, z)
    if rho == 0 then return x, system.BREAKDOWN end
    local beta = rho_before and rho / rho_before
    p = p and z + beta * p or z
    pt = pt and zt + np.conj(beta) * pt or zt
    local q, qt = s.A(p), s.adjoint(pt)
    local alpha = rho / inner(pt, q)
    x:iadd(alpha * p)
    r = r - alpha * q
    rt = rt - np.conj(alpha) * qt
    rho_before = rho
    s.callback(x)
  end
  return ended(s, x, r)
end

-- Conjugate gradients squared (Templates, 2.3.7).
---@param A table|lgt_array [n, n]
---@param b lgt_array [n]
---@param x0 lgt_array? [n]
---@param options SolverOptions?
---@return lgt_array x, integer info
function krylov.cgs(A, b, x0, options)
  local s = take("cgs", {}, A, b, x0, options)
  local x, r = s.x, first_residual(s)
  local rt, p, q, rho_before = r, nil, nil, nil
  for _ = 1, s.maxiter do
    local info = s.stop(r)
    if info then return x, info end
    local rho = inner(rt, r)
    if rho == 0 then return x, system.BREAKDOWN end
    local u = r
    if p then
      local beta = rho / rho_before
      u = r + beta * q
      p = u + beta * (q + beta * p)
    else
      p = r
    end
    local v = s.A(s.M(p))
    local alpha = rho / inner(rt, v)
    q = u - alpha * v
    local uq = s.M(u + q)
    x:iadd(alpha * uq)
    r = r - alpha * s.A(uq)
    rho_before = rho
    s.callback(x)
  end
  return ended(s, x, r)
end

-- Biconjugate gradients stabilised (Templates, 2.3.8).
---@param A table|lgt_array [n, n]
---@param b lgt_array [n]
---@param x0 lgt_array? [n]
---@param options SolverOptions?
---@return lgt_array x, integer info
function krylov.bicgstab(A, b, x0, options)
  local s = take("bicgstab", {}, A, b, x0, options)
  local x, r = s.x, first_residual(s)
  local rt, p, v, rho_before, alpha, omega = r:copy(), nil, nil, nil, nil, nil
  for _ = 1, s.maxiter do
    local rho = inner(rt, r)
    local info = s.stop(r)
    if info then return x, info end
    if rho == 0 then return x, system.BREAKDOWN end
    if p then p["..."] = r + (rho / rho_before) * (alpha / omega) * (p - omega * v) else p = r:copy() end
    local ph = s.M(p)
    v = s.A(ph)
    alpha = rho / inner(rt, v)
    r:isub(alpha * v) -- halfway
    local sh = s.M(r)
    local t = s.A(sh)
    local tt = inner(t, t)
    omega = inner(t, r) / np.where(tt:eq(0), 1, tt) -- r = 0: x + alpha ph is the solution
    x:iadd(alpha * (ph + (omega / alpha) * sh)) -- alpha ph is nothing to compute, and to store, before omega is known
    r:isub(omega * t)
    rho_before = rho
    s.callback(x)
  end
  return ended(s, x, r)
end

-- ---- GMRES -------------------------------------------------------------------------------------------------

-- The numbers c, s, r with  [c s; -conj(s) c] [a; b] = [r; 0], b real and not negative.
local function rotation(a, b)
  local size = math.sqrt(system.abs2(a) + b * b)
  if size == 0 then return 1, 0, 0 end
  local length = math.sqrt(system.abs2(a))
  if length == 0 then return 0, 1, b end
  local c, direction = length / size, a / length
  return c, direction * (b / size), direction * size
end

-- One column of the Hessenberg matrix through the rotations before, and a new one; g is the right-hand side.
local function rotate(h, k, rotations, g)
  for i = 1, k - 1 do
    local c, s = rotations[i].c, rotations[i].s
    h[i], h[i + 1] = c * h[i] + s * h[i + 1], c * h[i + 1] - system.conj(s) * h[i]
  end
  local c, s, r = rotation(h[k], h[k + 1])
  rotations[k] = { c = c, s = s }
  h[k], h[k + 1] = r, 0
  g[k], g[k + 1] = c * g[k], -system.conj(s) * g[k]
end

-- y with R y = g, for the upper triangle of which R[j] is column j.
local function back_substitute(R, g, k)
  local y = {}
  for i = k, 1, -1 do
    local sum = g[i]
    for j = i + 1, k do sum = sum - R[j][i] * y[j] end
    y[i] = sum / R[i][i]
  end
  return y
end

local SMALLER = 0.1 -- a vector that orthogonalisation made so much smaller is orthogonalised again

-- w orthogonal to the k vectors V (Gram and Schmidt's classical way, twice where it matters): w, its components as
-- numbers, its norm.
local function orthogonalise(V, k, w)
  local function once()
    local h = {}
    for i = 1, k do h[i] = inner(V[i], w) end
    for i = 1, k do w = w - h[i] * V[i] end
    return h
  end
  local before, h, size = norm(w), once(), norm(w)
  local again = size() < SMALLER * before() and once()
  if again then size = norm(w) end
  for i = 1, k do h[i] = h[i]() + (again and again[i]() or 0) end
  return w, h, size()
end

-- x + y[1] V[1] + y[2] V[2] ...
local function plus_combination(x, y, V)
  for i = 1, #y do x = x + V[i] * y[i] end
  return x
end

-- The generalised minimal residual method with restarts (Saad, 6.11 and 9.3.2, preconditioned from the right).
-- maxiter counts restarts.  callback(norm) gets the relative norm of the residual after each inner step; with
-- callback_type = "x" callback(x) is called after each restart.
---@param A table|lgt_array [n, n]
---@param b lgt_array [n]
---@param x0 lgt_array? [n]
---@param options {restart: integer?, callback_type: string?, tol: number?, rtol: number?, atol: number?,
---  maxiter: integer?, M: any, callback: function?}? restart 20, callback_type "pr_norm" or "x"
---@return lgt_array x, integer info
function krylov.gmres(A, b, x0, options)
  local s = take("gmres", { restart = "positive", callback_type = true }, A, b, x0, options)
  local restart, callback_type = s.options.restart or 20, s.options.callback_type or "pr_norm"
  if callback_type ~= "pr_norm" and callback_type ~= "x" then
    core.raise("gmres: callback_type is \"pr_norm\" or \"x\", not %s", core.describe(callback_type))
  end
  local m, by_x = math.min(restart, s.n), callback_type == "x"
  local x, r = s.x, first_residual(s)
  for _ = 1, s.maxiter do
    local info = s.stop(r)
    if info then return x, info end
    local beta = norm(r)()
    local V, R, rotations, g, k = { r / beta }, {}, {}, { beta }, 0
    local residual
    repeat
      k = k + 1
      local w, h, size = orthogonalise(V, k, s.A(s.M(V[k])))
      h[k + 1] = size
      rotate(h, k, rotations, g)
      R[k] = h
      residual = math.sqrt(system.abs2(g[k + 1]))
      if not by_x then s.callback(residual / s.bnorm) end
      if size > 0 then V[k + 1] = w / size end
    until k == m or size == 0 or size ~= size or residual <= s.tol
    if R[k][k] == 0 or residual ~= residual then return x, system.BREAKDOWN end -- A is singular, or has no numbers
    x = x + s.M(plus_combination(np.zeros_like(x), back_substitute(R, g, k), V))
    r = s.b - s.A(x)
    if by_x then s.callback(x) end
  end
  return ended(s, x, r)
end

-- ---- MINRES ------------------------------------------------------------------------------------------------

-- The minimal residual method, for Hermitian matrices, definite or not: Paige and Saunders, "Solution of sparse
-- indefinite systems of linear equations" (SIAM J. Numer. Anal. 12, 1975).  M must be positive definite.  shift solves
-- (A - shift I) x = b.  maxiter 5 n.  Ends by estimates of norms, as SciPy's does: |r| <= tol |A| |x| and others.
---@param A table|lgt_array [n, n]
---@param b lgt_array [n]
---@param x0 lgt_array? [n]
---@param options {shift: number?, tol: number?, rtol: number?, maxiter: integer?, M: any, callback: function?}?
---@return lgt_array x, integer info
function krylov.minres(A, b, x0, options)
  local s = take("minres", { shift = "number" }, A, b, x0, options)
  local shift, tol, maxiter = s.options.shift or 0, s.rtol, s.options.maxiter or 5 * s.n
  local eps = (s.dtype == "float32" or s.dtype == "complex64") and 2 ^ -23 or 2 ^ -52
  local is_complex = s.dtype:find("complex")
  local function real_inner(u, v) return is_complex and np.real(inner(u, v)) or inner(u, v) end -- but for roundings
  local x, r1 = s.x, first_residual(s)
  local y = s.M(r1)
  local beta1 = real_inner(r1, y)()
  if beta1 < 0 then core.raise("minres: the preconditioner is not positive definite") end
  if beta1 == 0 or s.bnorm == 0 then return beta1 == 0 and x or s.b, 0 end
  beta1 = math.sqrt(beta1)
  local r2, beta, beta_before = r1, beta1, 0
  local dbar, epsilon, phibar, anorm2, c, sn = 0, 0, beta1, 0, -1, 0
  local gmax, gmin = 0, math.huge
  local w, w2 = np.zeros(s.n, { dtype = s.dtype }), np.zeros(s.n, { dtype = s.dtype })
  for k = 1, maxiter do
    -- Lanczos: the next vector, orthogonal to the last two.
    local v = y / beta
    y = s.A(v) - shift * v
    if k > 1 then y = y - (beta / beta_before) * r1 end
    local alpha = real_inner(v, y)
    y = y - (alpha / beta) * r2
    r1, r2 = r2, y
    y = s.M(r2)
    beta_before, beta = beta, real_inner(r2, y)()
    if beta < 0 then core.raise("minres: the preconditioner is not positive definite") end
    if beta ~= beta then return x, system.BREAKDOWN end
    beta, alpha = math.sqrt(beta), alpha()
    anorm2 = anorm2 + alpha * alpha + beta_before * beta_before + beta * beta
    -- The rotation before, and the next one.
    local epsilon_before, delta, gbar = epsilon, c * dbar + sn * alpha, sn * dbar - c * alpha
    epsilon, dbar = sn * beta, -c * beta
    local root = math.sqrt(gbar * gbar + dbar * dbar)
    local gamma = math.max(math.sqrt(gbar * gbar + beta * beta), eps)
    c, sn = gbar / gamma, beta / gamma
    local phi = c * phibar
    phibar = sn * phibar
    w, w2 = (v - epsilon_before * w2 - delta * w) / gamma, w
    x = x + phi * w
    s.callback(x)
    -- Is it good enough, or as good as it can get?
    gmax, gmin = math.max(gmax, gamma), math.min(gmin, gamma)
    local anorm, xnorm = math.sqrt(anorm2), norm(x)()
    local of_residual = phibar / (anorm * xnorm)
    local of_least_squares = root / anorm
    if of_residual <= math.max(tol, eps) or of_least_squares <= math.max(tol, eps) or anorm * xnorm * eps >= beta1
      or gmax / gmin >= 0.1 / eps or k == 1 and beta / beta1 <= 10 * eps then
      return x, 0
    end
  end
  return x, maxiter
end

return krylov
