-- A little of everything, short enough for valgrind: fused operations, views, in-place writes, reductions,
-- results that are kept, dropped, and read late, a product by BLAS, an error that is caught.
local np = require "array"

local x = np.arange(2000) * 0.5
local y = np.sqrt(x) + np.exp(-x)
local kept = y * 2 + 1
for _ = 1, 5 do
  local dropped = kept - y
  y = dropped / 3
end
collectgarbage()
assert(kept:sum():item() > 0)

local grid = np.zeros(40, 50)
grid["1, :"] = 1
for _ = 1, 3 do
  grid["2:-2, 2:-2"] = 0.25 * (grid[":-3, 2:-2"] + grid["3:, 2:-2"] + grid["2:-2, :-3"] + grid["2:-2, 3:"])
end
assert(np.max(grid):item() == 1)

local a = np.ones(20, 20)
assert(a:dot(a)(1, 1) == 20)
assert(not pcall(function() return x + grid end))
print("ok small")
