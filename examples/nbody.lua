-- Bodies that attract each other, step by step, and their energy.
--
--   lgt examples/nbody.lua [n] [steps]
local np = require "array"

local n, steps = tonumber(arg[1]) or 100, tonumber(arg[2]) or 50

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end
local position, velocity = 4 * spread(n, 3), spread(n, 3)
local mass = np.full({ n, 1 }, 20 / n)
local dt, soft, G = 0.01, 0.1, 1
velocity = velocity - np.mean(mass * velocity, 1) / np.mean(mass)

local function differences()
  local x, y, z = position[":, 1:1"], position[":, 2:2"], position[":, 3:3"]
  return x.T - x, y.T - y, z.T - z
end
local function acceleration()
  local dx, dy, dz = differences()
  local inverse = (dx * dx + dy * dy + dz * dz + soft * soft) ^ -1.5
  return np.hstack { G * (dx * inverse):dot(mass), G * (dy * inverse):dot(mass), G * (dz * inverse):dot(mass) }
end
local function energy()
  local dx, dy, dz = differences()
  local distance = np.sqrt(dx * dx + dy * dy + dz * dz)
  local inverse = np.where(distance:gt(0), 1 / distance, distance)
  return (np.sum(mass * velocity * velocity) / 2)(), (G * np.sum(np.triu(-(mass * mass.T) * inverse, 1)))()
end

local force = acceleration()
local kinetic, potential = energy()
print(("before    %.12g %.12g"):format(kinetic, potential))
for _ = 1, steps do
  velocity:iadd(force * dt / 2)
  position:iadd(velocity * dt)
  force = acceleration()
  velocity:iadd(force * dt / 2)
end
kinetic, potential = energy()
print(("after     %.12g %.12g"):format(kinetic, potential))
