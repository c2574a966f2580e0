-- Flow around a cylinder by the lattice Boltzmann method: nine directions a cell, one time of relaxation (BGK).
--
--   lgt examples/lattice_boltzmann.lua [height] [steps] [image.png]
--
-- Particles stream to the neighbours (rolls), bounce back from the cylinder (a mask), and relax towards equilibrium.
local np = require "array"

local ny, steps, image = tonumber(arg[1]) or 100, tonumber(arg[2]) or 2000, arg[3]
local nx, tau, inflow = 3 * ny, 0.56, 0.1

local c = np.array { {0, 0}, {1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 1}, {-1, 1}, {-1, -1}, {1, -1} }
local shifts = c:totable()
local opposite = np.array({1, 4, 5, 2, 3, 8, 9, 6, 7}, {dtype = "int64"})
local weights = np.array {4 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 9, 1 / 36, 1 / 36, 1 / 36, 1 / 36}

local x, y = np.meshgrid(np.arange(nx), np.arange(ny), {indexing = "ij"})
local cylinder = ((x - nx / 4) ^ 2 + (y - ny / 2 + 1) ^ 2):lt((ny / 8) ^ 2)

-- What the nine directions would hold, had they met often.
local function equilibrium(density, velocity)
  local along = np.tensordot(c, velocity, {2, 1})
  local speed2 = (velocity ^ 2):sum(1)
  return weights[":, *, *"] * density * (1 + 3 * along + 4.5 * along ^ 2 - 1.5 * speed2)
end

local start = np.zeros(2, nx, ny)
start[1] = inflow
local f = equilibrium(np.ones(nx, ny), start)
local left = f["2:, 1, :"]:copy()

local density, velocity
for _ = 1, steps do
  for k, shift in ipairs(shifts) do f[k] = np.roll(f[k], shift, {1, 2}) end
  f["2:, 1, :"] = left -- flows in
  f["2:, -1, :"] = f["2:, -2, :"] -- and out
  local bounced = f[{{}, cylinder}][opposite]
  density = f:sum(1)
  velocity = np.einsum("ka,kxy->axy", c, f) / density
  f:iadd((equilibrium(density, velocity) - f) / tau)
  f[{{}, cylinder}] = bounced
end
velocity[{{}, cylinder}] = 0

local vorticity = np.gradient(velocity[2], {axis = 1}) - np.gradient(velocity[1], {axis = 2})
if image then np.plot.image(vorticity.T, {file = image, low = -0.02, high = 0.02}) end

print(("solid     %d"):format(np.count_nonzero(cylinder)))
print(("mass      %.12g"):format(density:sum()()))
print(("fastest   %.12g"):format(velocity[1]:max()()))
print(("vorticity %.12g"):format((vorticity ^ 2):sum()()))
