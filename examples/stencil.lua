-- Heat spreading over a plate with fixed temperatures at its edges: a 5-point stencil.
--
--   lgt examples/stencil.lua [points per side] [iterations]
--
-- Legate's stencil example: five views of one grid, which is updated in place through one of them.
local np = require "array"

local n = tonumber(arg[1]) or 1000
local iterations = tonumber(arg[2]) or 100

local grid = np.zeros(n + 2, n + 2)
grid[":, 1"] = -273.15
grid[":, -1"] = -273.15
grid["-1, :"] = -273.15
grid["1, :"] = 40

local center = grid["2:-2, 2:-2"]
local north = grid[":-3, 2:-2"]
local east = grid["2:-2, 3:"]
local west = grid["2:-2, :-3"]
local south = grid["3:, 2:-2"]

for _ = 1, iterations do
  local average = center + north + east + west + south
  local work = 0.2 * average
  center["..."] = work
end

print(("points   %d x %d"):format(n, n))
print(("mean     %.12g"):format(np.mean(center):item()))
print(("hottest  %.12g"):format(np.max(center):item()))
