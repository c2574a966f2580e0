-- An integral along a contour in the complex plane, each point of which solves a system of equations.
--
--   lgt examples/contour_integral.lua [nr] [nm] [points]
local np = require "array"

local nr, nm, points = tonumber(arg[1]) or 50, tonumber(arg[2]) or 30, tonumber(arg[3]) or 32
local slabs = 2

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end
local i = np.array(require("ffi").new("complex", 0, 1))
local function spread_complex(...) return spread(...) + spread(...) * (2 * i) end

local Ham, Y = spread_complex(slabs + 1, nr, nr), spread_complex(nr, nm)
local angle = np.arange(points) * (2 * math.pi / points) + 0.3
local Z = np.exp(angle * i) * np.where(np.arange(points):lt(points / 2), 3, 0.5)
local P0, P1 = np.zeros(nr, nm, { dtype = "complex128" }), np.zeros(nr, nm, { dtype = "complex128" })
for k = 1, points do
  local z = Z[k]
  local Tz = 4 * np.eye(nr, { dtype = "complex128" })
  for n = 0, slabs do Tz = Tz + z ^ (slabs / 2 - n) * Ham[n + 1] end
  local X = (k > points / 2 and -1 or 1) * np.linalg.solve(Tz, Y)
  P0 = P0 + X
  P1 = P1 + z * X
end

print(("P0        %.12g"):format(np.linalg.norm(P0)()))
print(("P1        %.12g"):format(np.linalg.norm(P1)()))
