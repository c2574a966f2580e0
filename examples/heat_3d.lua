-- Heat conduction in a cube, two half steps a turn.
--
--   lgt examples/heat_3d.lua [points per side] [steps]
--
-- PolyBench's heat-3d in NPBench's NumPy form: A and B take turns, each written through its interior.
local np = require "array"

local n = tonumber(arg[1]) or 100
local steps = tonumber(arg[2]) or 50

local k = np.arange(n)
local A = (k[":, *, *"] * k["*, :, *"] + (n - k)["*, *, :"]) % n * (10 / n)
local B = A:copy()

-- The interior of U after half a step.
local function advance(U)
  local C = U["2:-2, 2:-2, 2:-2"]
  return 0.125 * (U["3:, 2:-2, 2:-2"] - 2 * C + U[":-3, 2:-2, 2:-2"]) +
    0.125 * (U["2:-2, 3:, 2:-2"] - 2 * C + U["2:-2, :-3, 2:-2"]) +
    0.125 * (U["2:-2, 2:-2, 3:"] - 2 * C + U["2:-2, 2:-2, :-3"]) + C
end

for _ = 1, steps do
  B["2:-2, 2:-2, 2:-2"] = advance(A)
  A["2:-2, 2:-2, 2:-2"] = advance(B)
end

local middle = math.floor(n / 2)
print(("points  %d^3"):format(n))
print(("sum     %.12g"):format(np.sum(A):item()))
print(("centre  %.12g"):format(A(middle, middle, middle)))
