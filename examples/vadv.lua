-- Vertical advection in a model of the weather: a tridiagonal system in each column of air.
--
--   lgt examples/vadv.lua [ni] [nj] [nk]
local np = require "array"

local I, J, K = tonumber(arg[1]) or 60, tonumber(arg[2]) or 60, tonumber(arg[3]) or 40
local BET_M, BET_P = 0.5, 0.5 -- how much of a step counts at its begin, and at its end

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(seed, ...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return ((np.arange(size) + seed) * 0.8191725133961645 % 1):reshape(...)
end
local dtr_stage = 3 / 20
local utens_stage, u_stage, wcon = spread(1, I, J, K), spread(2, I, J, K), spread(3, I + 1, J, K)
local u_pos, utens = spread(4, I, J, K), spread(5, I, J, K)

local function level(a, k) return a[{ {}, {}, k }] end
-- The wind through the faces between levels, where u is.
local function wind(k) return wcon[{ { 2, -1 }, {}, k }] + wcon[{ { 1, -2 }, {}, k }] end

local ccol, dcol = np.empty(I, J, K), np.empty(I, J, K)
for k = 1, K do
  local acol, correction, bcol = 0, 0, dtr_stage
  if k > 1 then
    local gav = -0.25 * wind(k)
    acol = gav * BET_P
    bcol = bcol - acol
    correction = -(gav * BET_M) * (level(u_stage, k - 1) - level(u_stage, k))
  end
  if k < K then
    local gcv = 0.25 * wind(k + 1)
    ccol[{ {}, {}, k }] = gcv * BET_P
    bcol = bcol - level(ccol, k)
    correction = correction - gcv * BET_M * (level(u_stage, k + 1) - level(u_stage, k))
  end
  dcol[{ {}, {}, k }] = dtr_stage * level(u_pos, k) + level(utens, k) + level(utens_stage, k) + correction
  -- Thomas forward
  if k > 1 then
    bcol = bcol - level(ccol, k - 1) * acol
    dcol[{ {}, {}, k }] = level(dcol, k) - level(dcol, k - 1) * acol
  end
  local divided = 1 / bcol
  if k < K then level(ccol, k):imul(divided) end
  level(dcol, k):imul(divided)
end

local data_col = level(dcol, K)
utens_stage[{ {}, {}, K }] = dtr_stage * (data_col - level(u_pos, K))
for k = K - 1, 1, -1 do
  data_col = level(dcol, k) - level(ccol, k) * data_col
  utens_stage[{ {}, {}, k }] = dtr_stage * (data_col - level(u_pos, k))
end

print(("sum       %.12g"):format(utens_stage:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(utens_stage:ravel())()))
