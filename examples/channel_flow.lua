-- Water between two walls, pushed by a force, until its speed no longer changes.
--
--   lgt examples/channel_flow.lua [nx] [ny] [...] [...]
local np = require "array"

local nx, ny = tonumber(arg[1]) or 61, tonumber(arg[2]) or 61
local most, nit = tonumber(arg[3]) or 200, tonumber(arg[4]) or 50

local dx, dy, dt = 2 / (nx - 1), 2 / (ny - 1), 0.1 / ((nx - 1) * (ny - 1))
local rho, nu, force = 1, 0.1, 1
local u, v, p = np.zeros(ny, nx), np.zeros(ny, nx), np.ones(ny, nx)
-- The plane closes in x: what lies to the west and to the east of each point, without the walls.
local function east(a) return np.roll(a, -1, 2)["2:-2, :"] end
local function west(a) return np.roll(a, 1, 2)["2:-2, :"] end
local function north(a) return a["3:, :"] end
local function south(a) return a[":-3, :"] end
local function here(a) return a["2:-2, :"] end

local change, step = 1, 0
while change > 0.001 and step < most do
  local un, vn = u:copy(), v:copy()
  local ux, vy = (east(u) - west(u)) / (2 * dx), (north(v) - south(v)) / (2 * dy)
  local b = rho * ((ux + vy) / dt - ux ^ 2 - 2 * ((north(u) - south(u)) / (2 * dy) * (east(v) - west(v)) / (2 * dx)) -
    vy ^ 2)
  for _ = 1, nit do
    local pn = p:copy()
    p["2:-2, :"] = ((east(pn) + west(pn)) * dy ^ 2 + (north(pn) + south(pn)) * dx ^ 2) / (2 * (dx ^ 2 + dy ^ 2)) -
      dx ^ 2 * dy ^ 2 / (2 * (dx ^ 2 + dy ^ 2)) * b
    p[-1] = p[-2]
    p[1] = p[2]
  end
  local function moved(a, n)
    return here(n) - here(un) * dt / dx * (here(n) - west(n)) - here(vn) * dt / dy * (here(n) - south(n)) - a +
      nu * (dt / dx ^ 2 * (east(n) - 2 * here(n) + west(n)) + dt / dy ^ 2 * (north(n) - 2 * here(n) + south(n)))
  end
  u["2:-2, :"] = moved(dt / (2 * rho * dx) * (east(p) - west(p)), un) + force * dt
  v["2:-2, :"] = moved(dt / (2 * rho * dy) * (north(p) - south(p)), vn)
  u[1], u[-1], v[1], v[-1] = 0, 0, 0, 0
  change = ((np.sum(u) - np.sum(un)) / np.sum(u))()
  step = step + 1
end

print(("steps     %d"):format(step))
print(("sum       %.12g"):format(u:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(u)()))
print(("sum       %.12g"):format(p:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(p)()))
