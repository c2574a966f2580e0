-- solvers/krylov.lua - Krylov subspace methods for A x = b.
--
-- After Barrett et al., "Templates for the Solution of Linear Systems" (SIAM 1994), which SciPy's are made of too, and
-- Saad, "Iterative Methods for Sparse Linear Systems" (SIAM 2003).  All of them return x and 0, or x and the number of
-- iterations if these were not enough, or x and a negative number if the method broke down.

local np = require "array"
local system = require "solvers.system"

local take, inner, norm = system.take, system.inner, np.norm

local krylov = {}

-- Conjugate gradients, for Hermitian positive definite matrices (Templates, 2.3.1).
---@param A table|lgt_array|table a matrix, sparse or dense, or a LinearOperator
---@param b lgt_array
---@param x0 lgt_array? zeros
---@param options {tol: number?, atol: number?, maxiter: integer?, M: any, callback: fun(x: lgt_array)?}?
---  until |b - A x| <= max(tol |b|, atol) (1e-5, 0), at most maxiter (10 n) times; M approximates the inverse of A
---@return lgt_array x, integer info
function krylov.cg(A, b, x0, options)
  local s = take("cg", {}, A, b, x0, options)
  local x, r = s.x, system.first_residual(s)
  local p, rho_before
  for _ = 1, s.maxiter do
    if norm(r) <= s.tol then return x, 0 end
    local z = s.M(r)
    local rho = inner(r, z)
    p = p and z + (rho / rho_before) * p or z
    local q = s.A(p)
    local alpha = rho / inner(p, q)
    x = x + alpha * p
    r = r - alpha * q
    rho_before = rho
    s.callback(x)
  end
  return x, norm(r) <= s.tol and 0 or s.maxiter
end

return krylov
