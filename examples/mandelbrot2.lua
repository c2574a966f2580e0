-- Mandelbrot's set once more: points that have gone are taken out of the arrays.
--
--   lgt examples/mandelbrot2.lua [columns] [rows] [most]
local np = require "array"

local xn, yn, itermax = tonumber(arg[1]) or 200, tonumber(arg[2]) or 200, tonumber(arg[3]) or 60
local horizon = 2

local Xi, Yi
do
  local grid = np.indices { xn, yn } + 1 -- positions
  Xi, Yi = grid[1], grid[2]
end
local X = np.linspace(-1.75, 0.25, xn)[Xi]
local Y = np.linspace(-1, 1, yn)[Yi]
local C = X + Y * 1i
local N_ = np.zeros(C.shape, { dtype = "int64" })
local Z_ = np.zeros(C.shape, { dtype = "complex128" })
Xi, Yi, C = Xi:ravel(), Yi:ravel(), C:ravel()

local Z = np.zeros(C.shape, { dtype = "complex128" })
for i = 0, itermax - 1 do
  if #Z == 0 then break end

  -- Compute for relevant points only
  np.multiply(Z, Z, { out = Z })
  np.add(Z, C, { out = Z })

  -- Failed convergence
  local I = np.abs(Z):gt(horizon)
  N_[{ Xi[I], Yi[I] }] = i + 1
  Z_[{ Xi[I], Yi[I] }] = Z[I]

  -- Keep going with those who have not diverged yet
  np.logical_not(I, { out = I })
  Z = Z[I]:copy()
  Xi, Yi = Xi[I], Yi[I]
  C = C[I]
end
Z_, N_ = Z_.T, N_.T

print("shape     " .. N_.shape)
print(("steps     %d"):format(N_:sum()()))
print(("left      %d"):format(#Z))
print(("sum       %.12g"):format(np.abs(Z_):sum()()))
