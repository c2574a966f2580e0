-- solvers.lua - `require "solvers"`: scipy.sparse.linalg and scipy.integrate for Lua, on the lgt runtime.
--
-- Names, argument orders and results are SciPy's; what Python gives by name is in an options table here.  The parts,
-- of which those behind the first three are loaded when first used:
--
--   operator  linear operators
--   system    what iterative methods are given
--   krylov    cg, bicg, cgs, bicgstab, gmres, minres
--   least     lsqr, lsmr
--   eigen     eigsh, svds, expm_multiply
--   integrate solve_ivp
--   direct    spsolve, splu, factorized, spsolve_triangular, by UMFPACK
--   multigrid multigrid, smoothed_aggregation: preconditioners
--   precondition  jacobi_preconditioner, ssor_preconditioner, ilu0; the smoothers jacobi, chebyshev
local operator = require "solvers.operator"

local solvers = { LinearOperator = operator.LinearOperator, aslinearoperator = operator.aslinearoperator }
for name, f in pairs(require "solvers.krylov") do solvers[name] = f end

local homes = {} -- file of lib/solvers by public name
local function at_home(file, names)
  for name in names:gmatch("%S+") do homes[name] = file end
end
solvers.norm = require("sparse").norm
at_home("least", "lsqr lsmr")
at_home("eigen", "eigsh svds expm_multiply")
at_home("integrate", "solve_ivp")
at_home("direct", "spsolve splu factorized spsolve_triangular inv")
at_home("multigrid", "multigrid smoothed_aggregation")
at_home("precondition", "jacobi_preconditioner ssor_preconditioner ilu0 jacobi chebyshev")

return setmetatable(solvers, {
  __index = function(_, name)
    local home = homes[name]
    if not home then return nil end
    for f_name, f in pairs(require("solvers." .. home)) do solvers[f_name] = f end
    return rawget(solvers, name)
  end,
})
