-- Mandelbrot's set: after how many steps each point of the plane has gone.
--
--   lgt examples/mandelbrot1.lua [columns] [rows] [most]
local np = require "array"

local columns, rows, most = tonumber(arg[1]) or 1000, tonumber(arg[2]) or 1000, tonumber(arg[3]) or 100

local X, Y = np.linspace(-1.75, 0.25, columns), np.linspace(-1, 1, rows)
local C = X + Y[":, *"] * np.array(require("ffi").new("complex", 0, 1))
local N, Z = np.zeros(rows, columns, { dtype = "int64" }), np.zeros(rows, columns, { dtype = "complex128" })
for n = 0, most - 1 do
  local inside = np.abs(Z):lt(2)
  N = np.where(inside, n, N)
  Z = np.where(inside, Z * Z + C, Z)
end
N = np.where(N:eq(most - 1), 0, N)

print(("sum       %d"):format(N:sum()()))
print(("greatest  %d"):format(N:max()()))
print(("gone      %d"):format(np.count_nonzero(N)))
