-- Averages of three neighbours on a line, again and again.
--
--   lgt examples/jacobi_1d.lua [n] [steps]
local np = require "array"

local n, steps = tonumber(arg[1]) or 4000, tonumber(arg[2]) or 100

local A, B = (np.arange(n) + 2) / n, (np.arange(n) + 3) / n
for _ = 1, steps - 1 do
  B["2:-2"] = 0.33333 * (A[":-3"] + A["2:-2"] + A["3:"])
  A["2:-2"] = 0.33333 * (B[":-3"] + B["2:-2"] + B["3:"])
end

print(("sum       %.12g"):format(A:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(B)()))
