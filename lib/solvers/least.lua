-- solvers/least.lua - least squares: x that minimises |b - A x|^2 + damp^2 |x|^2, for A of any shape.
--
-- Both methods bidiagonalise A after Golub and Kahan: beta u and alpha v are what is left of A v and A^H u beside the
-- vectors before.  lsqr is CG on the normal equations, in exact arithmetic (Paige and Saunders, ACM TOMS 8, 1982), lsmr
-- is MINRES on them (Fong and Saunders, SIAM J. Sci. Comput. 33, 2011).  Names of scalars are those of the papers.

local np = require "array"
local core = require "array.core"
local system = require "solvers.system"

local norm, sqrt, raise = np.norm, math.sqrt, core.raise

local least = {}

local EPS = 2 ^ -52

local function take(who, known, A, b, options)
  options = core.check_options(options, known, who)
  A = system.aslinearoperator(A)
  local m, n = A.shape[1], A.shape[2]
  if type(b) == "table" then b = np.array(b) end
  core.layout_of(b, who)
  if core.size_of(b) ~= m then raise("%s: the matrix has %d rows, b %d elements", who, m, core.size_of(b)) end
  b = np.ravel(b)
  local dtype = core.dtypes.promote(core.dtypes.number[A.dtype], core.dtype_of(b))
  if core.dtypes.category[dtype] < 2 then dtype = core.dtypes.FLOAT64 end
  local name = core.dtypes.name[dtype]
  local x0 = options.x0
  if x0 and core.size_of(x0) ~= n then
    raise("%s: the matrix has %d columns, x0 %d elements", who, n, core.size_of(x0))
  end
  return A, np.asarray(b, { dtype = name }), x0 and np.astype(x0, name) or np.zeros(n, { dtype = name }), n, options
end

-- A residual that is no number: of infinite or undefined elements of A or b.
local function broke_down(x) return x ~= x or x == math.huge end

-- The bidiagonalisation: step() gives the next alpha, beta and v.
local function bidiagonalise(A, b, x, started)
  local u = started and b - A:matvec(x) or b
  local v, alpha, beta = nil, 0, norm(u)()
  if beta > 0 then
    u = u / beta
    v = A:rmatvec(u)
    alpha = norm(v)()
    if alpha > 0 then v = v / alpha end
  end
  return alpha, beta, v, function()
    u = A:matvec(v) - alpha * u
    beta = norm(u)()
    if beta > 0 then
      u = u / beta
      v = A:rmatvec(u) - beta * v
      alpha = norm(v)()
      if alpha > 0 then v = v / alpha end
    end
    return alpha, beta, v
  end
end

-- c, s, r with  [c s; s -c] [a; b] = [r; 0].
local function rotation(a, b)
  if b == 0 then return a < 0 and -1 or 1, 0, math.abs(a) end
  local r = sqrt(a * a + b * b)
  return a / r, b / r, r
end

-- Which of the reasons to stop holds, 0 for none: 1 A x = b within atol, btol; 2 a least-squares solution within atol;
-- 3 the condition exceeds conlim; 4 to 6 the same at the limit of precision; 7 no more iterations; -1 no numbers.
local function reason(itn, limit, o, rnorm, arnorm, anorm, acond, xnorm, bnorm)
  if broke_down(rnorm) then return system.BREAKDOWN end
  local test1, test2, test3 = rnorm / bnorm, arnorm / (anorm * rnorm + EPS), 1 / (acond + EPS)
  if test1 <= o.btol + o.atol * anorm * xnorm / bnorm then return 1 end
  if test2 <= o.atol then return 2 end
  if o.conlim > 0 and test3 <= 1 / o.conlim then return 3 end
  if 1 + test1 / (1 + anorm * xnorm / bnorm) <= 1 then return 4 end
  if 1 + test2 <= 1 then return 5 end
  if 1 + test3 <= 1 then return 6 end
  return itn >= limit and 7 or 0
end

local function tolerances(options)
  return { atol = options.atol or 1e-6, btol = options.btol or 1e-6, conlim = options.conlim or 1e8 }
end

-- Least squares by bidiagonalisation: x that minimises |b - A x|^2 + damp^2 |x|^2 (Paige and Saunders, "LSQR", ACM TOMS
-- 8, 1982).  istop says why it ended: 0 x = 0 (or x0) is the solution; 1 A x = b, as exactly as atol and btol ask; 2 a
-- least-squares solution, by atol; 3 the estimate of A's condition exceeds conlim; 4, 5, 6 as 1, 2, 3 at the limit of
-- the machine's precision; 7 iter_lim steps were not enough; -1 a residual was no number.
---@param A any matrix or operator [m, n]
---@param b lgt_array [m]
---@param options {damp: number?, atol: number?, btol: number?, conlim: number?, iter_lim: integer?, x0: lgt_array?,
---  calc_var: boolean?}? damp 0, atol and btol 1e-6, conlim 1e8, iter_lim 2 n; calc_var asks for var, the diagonal of
---  (A^H A)^-1
---@return lgt_array x, integer istop, integer itn, number r1norm, number r2norm, number anorm, number acond,
---  number arnorm, number xnorm, lgt_array var
function least.lsqr(A, b, options)
  local x, n
  A, b, x, n, options = take("lsqr", { damp = "amount", atol = "amount", btol = "amount", conlim = "amount",
                                       iter_lim = "count", x0 = true, calc_var = true }, A, b, options)
  local o, damp, limit = tolerances(options), options.damp or 0, options.iter_lim or 2 * n
  local var = np.zeros(n)
  local bnorm = norm(b)()
  local alpha, beta, v, step = bidiagonalise(A, b, x, options.x0 ~= nil)
  local arnorm = alpha * beta
  if arnorm == 0 then return x, 0, 0, beta, beta, 0, 0, arnorm, 0, var end
  if broke_down(arnorm) or limit == 0 then
    return x, limit == 0 and 7 or system.BREAKDOWN, 0, beta, beta, 0, 0, arnorm, 0, var
  end
  local w, rhobar, phibar = v, alpha, beta
  local anorm, ddnorm, res2, xxnorm, z, cs2, sn2 = 0, 0, 0, 0, 0, -1, 0
  for itn = 1, limit do
    local alpha_before = alpha
    alpha, beta, v = step()
    if beta > 0 then anorm = sqrt(anorm ^ 2 + alpha_before ^ 2 + beta ^ 2 + damp ^ 2) end
    -- Two rotations make the bidiagonal matrix, with damp below it, upper bidiagonal.
    local cs1, sn1, rhobar1 = rotation(rhobar, damp)
    local psi = sn1 * phibar
    phibar = cs1 * phibar
    local cs, sn, rho = rotation(rhobar1, beta)
    local theta, phi = sn * alpha, cs * phibar
    rhobar, phibar = -cs * alpha, sn * phibar
    local tau = sn * phi
    local d = w / rho
    x = x + phi * d
    w = v - (theta / rho) * w
    local dd = norm(d)
    if options.calc_var then var = var + np.square(np.abs(d)) end
    ddnorm = ddnorm + dd() ^ 2
    -- A rotation from the right, to estimate |x|.
    local delta, gambar = sn2 * rho, -cs2 * rho
    local rhs = phi - delta * z
    local xnorm = sqrt(xxnorm + (rhs / gambar) ^ 2)
    local gamma = sqrt(gambar ^ 2 + theta ^ 2)
    cs2, sn2, z = gambar / gamma, theta / gamma, rhs / gamma
    xxnorm = xxnorm + z ^ 2
    local acond = anorm * sqrt(ddnorm)
    res2 = res2 + psi ^ 2
    local rnorm = sqrt(phibar ^ 2 + res2)
    arnorm = alpha * math.abs(tau)
    local istop = reason(itn, limit, o, rnorm, arnorm, anorm, acond, xnorm, bnorm)
    if istop ~= 0 then
      local square = rnorm ^ 2 - damp ^ 2 * xxnorm
      local r1norm = square < 0 and -sqrt(-square) or sqrt(square)
      return x, istop, itn, r1norm, rnorm, anorm, acond, arnorm, xnorm, var
    end
  end
end

-- Least squares as lsqr's; the norm of A^H r, too, falls with each step, so that it may be ended early (Fong and
-- Saunders, "LSMR", SIAM J. Sci. Comput. 33, 2011).  istop as lsqr's; normar is |A^H r|.
---@param A any matrix or operator [m, n]
---@param b lgt_array [m]
---@param options {damp: number?, atol: number?, btol: number?, conlim: number?, maxiter: integer?, x0: lgt_array?}?
---  damp 0, atol and btol 1e-6, conlim 1e8, maxiter min(m, n)
---@return lgt_array x, integer istop, integer itn, number normr, number normar, number norma, number conda,
---  number normx
function least.lsmr(A, b, options)
  local x, n
  A, b, x, n, options = take("lsmr", { damp = "amount", atol = "amount", btol = "amount", conlim = "amount",
                                       maxiter = "count", x0 = true }, A, b, options)
  local o, damp, limit = tolerances(options), options.damp or 0, options.maxiter or math.min(A.shape[1], n)
  local bnorm = norm(b)()
  local alpha, beta, v, step = bidiagonalise(A, b, x, options.x0 ~= nil)
  local normar = alpha * beta
  if normar == 0 then return x, 0, 0, beta, normar, alpha, 1, 0 end
  if broke_down(normar) or limit == 0 then
    return x, limit == 0 and 7 or system.BREAKDOWN, 0, beta, normar, alpha, 1, 0
  end
  local zetabar, alphabar, rho, rhobar, cbar, sbar = alpha * beta, alpha, 1, 1, 1, 0
  local h, hbar = v, np.zeros_like(v)
  local betadd, betad, rhod, tautilde, thetatilde, zeta, d = beta, 0, 1, 0, 0, 0, 0
  local anorm2, maxrbar, minrbar = alpha ^ 2, 0, 1e100
  for itn = 1, limit do
    alpha, beta, v = step()
    local chat, shat, alphahat = rotation(alphabar, damp)
    local rho_before = rho
    local c, s, r = rotation(alphahat, beta)
    rho = r
    local theta = s * alpha
    alphabar = c * alpha
    local rhobar_before, zeta_before, thetabar, rhotemp = rhobar, zeta, sbar * rho, cbar * rho
    cbar, sbar, rhobar = rotation(cbar * rho, theta)
    zeta, zetabar = cbar * zetabar, -sbar * zetabar
    hbar = h - (thetabar * rho / (rho_before * rhobar_before)) * hbar
    x = x + (zeta / (rho * rhobar)) * hbar
    h = v - (theta / rho) * h
    local xnorm = norm(x)
    -- |r|, |A|, the condition.
    local betaacute, betacheck = chat * betadd, -shat * betadd
    local betahat = c * betaacute
    betadd = -s * betaacute
    local thetatilde_before = thetatilde
    local ctilde, stilde, rhotilde = rotation(rhod, thetabar)
    thetatilde, rhod, betad = stilde * rhobar, ctilde * rhobar, -stilde * betad + ctilde * betahat
    tautilde = (zeta_before - thetatilde_before * tautilde) / rhotilde
    local taud = (zeta - thetatilde * tautilde) / rhod
    d = d + betacheck ^ 2
    local normr = sqrt(d + (betad - taud) ^ 2 + betadd ^ 2)
    anorm2 = anorm2 + beta ^ 2
    local anorm = sqrt(anorm2)
    anorm2 = anorm2 + alpha ^ 2
    maxrbar = math.max(maxrbar, rhobar_before)
    if itn > 1 then minrbar = math.min(minrbar, rhobar_before) end
    local acond = math.max(maxrbar, rhotemp) / math.min(minrbar, rhotemp)
    normar = math.abs(zetabar)
    local istop = reason(itn, limit, o, normr, normar, anorm, acond, xnorm(), bnorm)
    if istop ~= 0 then return x, istop, itn, normr, normar, anorm, acond, xnorm() end
  end
end

return least
