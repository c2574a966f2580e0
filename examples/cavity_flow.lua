-- Flow in a square cavity whose lid moves: the incompressible Navier-Stokes equations in 2-D.
--
--   lgt examples/cavity_flow.lua [points per side] [steps] [pressure iterations] [picture.png]
--
-- Step 11 of Lorena Barba's "12 steps to Navier-Stokes" in NPBench's form: in each step the pressure
-- is relaxed by Jacobi sweeps, then the velocities advance by upwind differences.  The time step
-- shrinks with the grid, so that any size is stable.
local np = require "array"

local n = tonumber(arg[1]) or 101
local steps = tonumber(arg[2]) or 200
local pressure_iterations = tonumber(arg[3]) or 50
local picture = arg[4]

local rho, nu = 1, 0.1
local dx = 2 / (n - 1)
local dy = dx
local dt = math.min(0.001, 0.1 * dx * dx / nu)

-- The interior, and its neighbours one column to the west or east, one row to the south or north.
local C, W, E, S, N = "2:-2, 2:-2", "2:-2, :-3", "2:-2, 3:", ":-3, 2:-2", "3:, 2:-2"

local function build_up_b(b, u, v)
  local ux, uy = (u[E] - u[W]) / (2 * dx), (u[N] - u[S]) / (2 * dy)
  local vx, vy = (v[E] - v[W]) / (2 * dx), (v[N] - v[S]) / (2 * dy)
  b[C] = rho * (1 / dt * (ux + vy) - ux ^ 2 - 2 * (uy * vx) - vy ^ 2)
end

local function pressure_poisson(p, b)
  for _ = 1, pressure_iterations do
    local pn = p:copy()
    p[C] = ((pn[E] + pn[W]) * dy ^ 2 + (pn[N] + pn[S]) * dx ^ 2) / (2 * (dx ^ 2 + dy ^ 2)) -
      dx ^ 2 * dy ^ 2 / (2 * (dx ^ 2 + dy ^ 2)) * b[C]
    p[":, -1"] = p[":, -2"]  -- dp/dx = 0 at x = 2
    p["1, :"] = p["2, :"]    -- dp/dy = 0 at y = 0
    p[":, 1"] = p[":, 2"]    -- dp/dx = 0 at x = 0
    p["-1, :"] = 0           -- p = 0 at y = 2
  end
end

-- Advection by (u, v) and diffusion of one component q of the velocity.
local function transported(q, u, v)
  return q[C] - u[C] * dt / dx * (q[C] - q[W]) - v[C] * dt / dy * (q[C] - q[S]) +
    nu * (dt / dx ^ 2 * (q[E] - 2 * q[C] + q[W]) + dt / dy ^ 2 * (q[N] - 2 * q[C] + q[S]))
end

local u, v, p, b = np.zeros(n, n), np.zeros(n, n), np.zeros(n, n), np.zeros(n, n)
for _ = 1, steps do
  local un, vn = u:copy(), v:copy()
  build_up_b(b, u, v)
  pressure_poisson(p, b)
  u[C] = transported(un, un, vn) - dt / (2 * rho * dx) * (p[E] - p[W])
  v[C] = transported(vn, un, vn) - dt / (2 * rho * dy) * (p[N] - p[S])
  u["1, :"], u[":, 1"], u[":, -1"] = 0, 0, 0
  u["-1, :"] = 1  -- the lid
  v["1, :"], v["-1, :"], v[":, 1"], v[":, -1"] = 0, 0, 0, 0
end

local speed = np.sqrt(u * u + v * v)
local middle = math.floor(n / 2) + 1
print(("points    %d x %d"):format(n, n))
print(("speed     %.12g"):format(np.mean(speed):item()))
print(("u middle  %.12g"):format(u(middle, middle)))
print(("p range   %.12g"):format((np.max(p) - np.min(p)):item()))
if picture then np.plot.image(speed["::-1, :"], { file = picture }) end
