-- A smooth wave steepens into a shock: Burgers' equation by WENO of fifth order and Runge-Kutta of third.
--
--   lgt examples/burgers.lua [cells] [steps]
--
-- Fluxes come from five views of one padded vector. G.-S. Jiang, C.-W. Shu, Efficient implementation of weighted ENO
-- schemes, J. Comput. Phys. 126 (1996); time steps as in S. Gottlieb, C.-W. Shu, Math. Comp. 67 (1998).
local np = require "array"

local n = tonumber(arg[1]) or 20000
local steps = tonumber(arg[2]) or 200
local fastest, courant = 1.5, 0.4
local dx = 2 / n
local dt = courant * dx / fastest

-- The value at the right edge of the cells of c, from these and two neighbours on each side.
local function reconstruct(a, b, c, d, e)
  local smooth1 = 13 / 12 * (a - 2 * b + c) ^ 2 + 0.25 * (a - 4 * b + 3 * c) ^ 2
  local smooth2 = 13 / 12 * (b - 2 * c + d) ^ 2 + 0.25 * (b - d) ^ 2
  local smooth3 = 13 / 12 * (c - 2 * d + e) ^ 2 + 0.25 * (3 * c - 4 * d + e) ^ 2
  local w1, w2, w3 = 0.1 / (1e-6 + smooth1) ^ 2, 0.6 / (1e-6 + smooth2) ^ 2, 0.3 / (1e-6 + smooth3) ^ 2
  local sum = w1 * (2 * a - 7 * b + 11 * c) + w2 * (-b + 5 * c + 2 * d) + w3 * (2 * c + 5 * d - e)
  return sum / (6 * (w1 + w2 + w3))
end

-- The five views of a padded vector that begin at cell k and the four after it, or before it.
local function five(padded, k, towards)
  local views = {}
  for j = 0, 4 do views[j + 1] = padded[{{k + j * towards, k + j * towards + n}}] end
  return unpack(views)
end

local function change(u)
  local flux = 0.5 * u * u
  local right = np.pad(0.5 * (flux + fastest * u), 3, "wrap")
  local left = np.pad(0.5 * (flux - fastest * u), 3, "wrap")
  local edges = reconstruct(five(right, 1, 1)) + reconstruct(five(left, 6, -1))
  return (edges[":-2"] - edges["2:"]) / dx
end

local u = 0.5 + np.sin(math.pi * dx * np.arange(n))
for _ = 1, steps do
  local u1 = u + dt * change(u)
  local u2 = 0.75 * u + 0.25 * (u1 + dt * change(u1))
  u = u / 3 + 2 / 3 * (u2 + dt * change(u2))
end

print(("cells      %d"):format(n))
print(("mean       %.12g"):format(np.mean(u):item()))
print(("extremes   %.12g %.12g"):format(np.min(u):item(), np.max(u):item()))
print(("variation  %.12g"):format(np.sum(np.abs(np.diff(u))):item()))
