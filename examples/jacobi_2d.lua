-- Averages of five neighbours in a plane, again and again.
--
--   lgt examples/jacobi_2d.lua [n] [steps]
local np = require "array"

local n, steps = tonumber(arg[1]) or 700, tonumber(arg[2]) or 100

local i, j = np.arange(n)[":, *"], np.arange(n)
local A, B = i * (j + 2) / n, i * (j + 3) / n
local function average(a)
  return 0.2 * (a["2:-2, 2:-2"] + a["2:-2, :-3"] + a["2:-2, 3:"] + a["3:, 2:-2"] + a[":-3, 2:-2"])
end
for _ = 1, steps - 1 do
  B["2:-2, 2:-2"] = average(A)
  A["2:-2, 2:-2"] = average(B)
end

print(("sum       %.12g"):format(A:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(B)()))
