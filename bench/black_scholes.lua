-- European options:  lgt black_scholes.lua N DTYPE RATE VOLATILITY CALL PUT [POLYNOMIAL]
-- The mathematics of examples/black_scholes.lua.  CALL and PUT are expressions in the arrays S (price), D
-- (discounted strike), n1 and n2 (values of the distribution), POLYNOMIAL is one in k.
local contest = require "contest"
local np = require "array"

local n, dtype, r, v = tonumber(arg[1]), arg[2], tonumber(arg[3]), tonumber(arg[4])
local S = contest.fraction(n, 0.8191725133961645, 5, 30, dtype)
local X = contest.fraction(n, 0.6710436067037893, 1, 100, dtype)
local T = contest.fraction(n, 0.5497004779019703, 0.25, 10, dtype)
local call_of = contest.compile("S, D, n1, n2", arg[5])
local put_of = contest.compile("S, D, n1, n2", arg[6])
local polynomial = contest.compile("k", arg[7] or
  "k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))")
local call, put

local function cnd(d)
  local k = 1 / (1 + 0.2316419 * np.abs(d))
  local tail = 0.3989422804014327 * np.exp(-0.5 * d * d) * polynomial(k)
  return np.where(d:gt(0), 1 - tail, tail)
end

local function turn()
  local vt = v * np.sqrt(T)
  local d1 = (np.log(S / X) + (r + 0.5 * v * v) * T) / vt
  local n1, n2 = cnd(d1), cnd(d1 - vt)
  local D = X * np.exp(-r * T)
  call, put = call_of(S, D, n1, n2), put_of(S, D, n1, n2)
end

contest.serve(turn, function()
  return call:astype("float64"):mean():item(), put:astype("float64"):mean():item()
end)
