-- A column of water collapses in a square basin: the shallow water equations in 2-D.
--
--   lgt examples/shallow_water.lua [cells per side] [steps] [picture.png]
--
-- Second order finite volumes: piecewise linear in each cell with minmod limited slopes (MUSCL),
-- fluxes by Harten, Lax and van Leer, two Runge-Kutta stages.  Some 470 array operations a step.
local np = require "array"

local n = tonumber(arg[1]) or 400
local steps = tonumber(arg[2]) or 200
local picture = arg[3]

local g = 9.81
local dx = 1 / n

-- Cells lo..hi of q along an axis, negative ones counted from the end.
local function cells(q, axis, lo, hi)
  if axis == 1 then return q[{{lo, hi}, {}}] end
  return q[{{}, {lo, hi}}]
end

-- Two layers of cells beyond the walls mirror those inside; sx, sy: what a wall across x or y does.
local function reflect(q, sx, sy)
  q[":, 1:2"] = sx * q[":, 4:3:-1"]
  q[":, -2:-1"] = sx * q[":, -3:-4:-1"]
  q["1:2, :"] = sy * q["4:3:-1, :"]
  q["-2:-1, :"] = sy * q["-3:-4:-1, :"]
end

local function minmod(a, b)
  return 0.5 * (np.sign(a) + np.sign(b)) * np.minimum(np.abs(a), np.abs(b))
end

-- q on both sides of the faces between cells.
local function reconstruct(q, axis)
  local q0 = cells(q, axis, 2, -2)
  local half = 0.5 * minmod(q0 - cells(q, axis, 1, -3), cells(q, axis, 3, -1) - q0)
  return cells(q0 + half, axis, 1, -2), cells(q0 - half, axis, 2, -1)
end

-- How fast h, m and t change by what crosses the faces along an axis.
-- h: depth; m, t: momentum along and across the axis.
local function divergence(h, m, t, axis)
  local hl, hr = reconstruct(h, axis)
  local ml, mr = reconstruct(m, axis)
  local tl, tr = reconstruct(t, axis)
  local ul, ur = ml / hl, mr / hr
  local cl, cr = np.sqrt(g * hl), np.sqrt(g * hr)
  local sl = np.minimum(np.minimum(ul - cl, ur - cr), 0)
  local sr = np.maximum(np.maximum(ul + cl, ur + cr), 0)
  local function change(fl, fr, ql, qr)
    local flux = (sr * fl - sl * fr + sl * sr * (qr - ql)) / (sr - sl)
    return (cells(flux, axis, 2, -1) - cells(flux, axis, 1, -2)) / dx
  end
  return change(ml, mr, hl, hr),
    change(ml * ul + 0.5 * g * hl * hl, mr * ur + 0.5 * g * hr * hr, ml, mr),
    change(tl * ul, tr * ur, tl, tr)
end

-- The state after dt, to first order in time.
local function euler(h, hu, hv, dt)
  reflect(h, 1, 1)
  reflect(hu, -1, 1)
  reflect(hv, 1, -1)
  local hx, hux, hvx = divergence(cells(h, 1, 3, -3), cells(hu, 1, 3, -3), cells(hv, 1, 3, -3), 2)
  local hy, hvy, huy = divergence(cells(h, 2, 3, -3), cells(hv, 2, 3, -3), cells(hu, 2, 3, -3), 1)
  local h1, hu1, hv1 = h:copy(), hu:copy(), hv:copy()
  h1["3:-3, 3:-3"]:isub(dt * (hx + hy))
  hu1["3:-3, 3:-3"]:isub(dt * (hux + huy))
  hv1["3:-3, 3:-3"]:isub(dt * (hvx + hvy))
  return h1, hu1, hv1
end

local x = (np.arange(n + 4) - 1.5) * dx
local distance2 = np.square(x["*, :"] - 0.35) + np.square(x[":, *"] - 0.4)
local h = np.where(distance2:lt(0.2 ^ 2), 2, 1):astype("float64")
local hu, hv = np.zeros(n + 4, n + 4), np.zeros(n + 4, n + 4)
local time = np.zeros()
for _ = 1, steps do
  local fastest = np.max((np.maximum(np.abs(hu), np.abs(hv)) / h + np.sqrt(g * h))["3:-3, 3:-3"])
  local dt = 0.4 * dx / fastest
  local h1, hu1, hv1 = euler(h, hu, hv, dt)
  local h2, hu2, hv2 = euler(h1, hu1, hv1, dt)
  h, hu, hv = 0.5 * (h + h2), 0.5 * (hu + hu2), 0.5 * (hv + hv2)
  time = time + dt
end

local inside = h["3:-3, 3:-3"]
print(("cells   %d x %d"):format(n, n))
print(("time    %.12g"):format(time:item()))
print(("volume  %.12g"):format((np.sum(inside) * dx * dx):item()))
print(("depth   %.12g to %.12g"):format(np.min(inside):item(), np.max(inside):item()))
print(("motion  %.12g"):format((np.sum(hu * hu + hv * hv) * dx * dx):item()))
if picture then np.plot.image(inside, { file = picture }) end
