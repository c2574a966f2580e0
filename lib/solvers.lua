-- solvers.lua - `require "solvers"`: scipy.sparse.linalg and scipy.integrate for Lua, on the lgt runtime.
--
-- Names, argument orders and results are SciPy's; what Python gives by name is in an options table here.  The parts:
--
--   system   linear operators, and what iterative methods are given
--   krylov   cg, ...
local system = require "solvers.system"

local solvers = { LinearOperator = system.LinearOperator, aslinearoperator = system.aslinearoperator }
for name, f in pairs(require "solvers.krylov") do solvers[name] = f end

return solvers
