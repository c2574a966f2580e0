-- A drop falls onto water: the wave equation on a square whose edges let waves out.
--
--   lgt examples/wave.lua [points per side] [steps]
--
-- Each step makes a new grid: its interior, and then four edges, each a strip that is copied from beside it.
local np = require "array"

local n = tonumber(arg[1]) or 500
local steps = tonumber(arg[2]) or 300
local courant2 = 0.25 -- square of the Courant number

local x = np.arange(n) / n - 0.5
local y = x:reshape(n, 1)
local before = np.exp(-400 * (x * x + y * y))
local now = before:copy()

for _ = 1, steps do
  local inside = now["2:-2, 2:-2"]
  local laplacian = now["3:, 2:-2"] + now[":-3, 2:-2"] + now["2:-2, 3:"] + now["2:-2, :-3"] - 4 * inside
  local after = np.zeros(n, n)
  after["2:-2, 2:-2"] = 2 * inside - before["2:-2, 2:-2"] + courant2 * laplacian
  after["1, :"] = now["2, :"]
  after["-1, :"] = now["-2, :"]
  after[":, 1"] = now[":, 2"]
  after[":, -1"] = now[":, -2"]
  before, now = now, after
end

print(("points   %d x %d"):format(n, n))
print(("mean     %.12g"):format(np.mean(now):item()))
print(("highest  %.12g"):format(np.max(now):item()))
print(("energy   %.12g"):format(np.sum((now - before) ^ 2):item()))
