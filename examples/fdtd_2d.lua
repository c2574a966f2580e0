-- Maxwell's equations in a plane: electric and magnetic fields, turn by turn.
--
--   lgt examples/fdtd_2d.lua [nx] [ny] [steps]
local np = require "array"

local nx, ny, steps = tonumber(arg[1]) or 600, tonumber(arg[2]) or 700, tonumber(arg[3]) or 100

local i, j = np.arange(nx)[":, *"], np.arange(ny)
local ex, ey, hz = i * (j + 1) / nx, i * (j + 2) / ny, i * (j + 3) / nx
for t = 0, steps - 1 do
  ey[1] = t
  ey["2:, :"]:isub(0.5 * (hz["2:, :"] - hz[":-2, :"]))
  ex[":, 2:"]:isub(0.5 * (hz[":, 2:"] - hz[":, :-2"]))
  hz[":-2, :-2"]:isub(0.7 * (ex[":-2, 2:"] - ex[":-2, :-2"] + ey["2:, :-2"] - ey[":-2, :-2"]))
end

print(("sum       %.12g"):format(hz:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(hz)()))
print(("sum       %.12g"):format(ex:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(ex)()))
