-- Two substances that diffuse and react form spots and stripes: the Gray-Scott model.
--
--   lgt examples/gray_scott.lua [points per side] [steps]
--
-- Two grids, each updated in place from its own neighbours and from the other one.
local np = require "array"

local n = tonumber(arg[1]) or 500
local steps = tonumber(arg[2]) or 500
local spread_u, spread_v, feed, kill = 0.16, 0.08, 0.035, 0.065

local U, V = np.ones(n + 2, n + 2), np.zeros(n + 2, n + 2)
local lo, hi = math.floor(0.45 * n), math.floor(0.55 * n)
U[{{lo, hi}, {lo, hi}}] = 0.5
V[{{lo, hi}, {lo, hi}}] = 0.25

local u, v = U["2:-2, 2:-2"], V["2:-2, 2:-2"]

local function laplacian(A)
  return A[":-3, 2:-2"] + A["3:, 2:-2"] + A["2:-2, :-3"] + A["2:-2, 3:"] - 4 * A["2:-2, 2:-2"]
end

for _ = 1, steps do
  local du, dv = laplacian(U), laplacian(V)
  local reaction = u * v * v
  u["..."] = u + (spread_u * du - reaction + feed * (1 - u))
  v["..."] = v + (spread_v * dv + reaction - (feed + kill) * v)
end

print(("points    %d x %d"):format(n, n))
print(("mean u    %.12g"):format(np.mean(u):item()))
print(("mean v    %.12g"):format(np.mean(v):item()))
print(("most v    %.12g"):format(np.max(v):item()))
