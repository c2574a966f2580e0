-- Black-Scholes: the prices of European call and put options.
--
--   lgt examples/black_scholes.lua [options] [repetitions]
--
-- The cumulative normal distribution is the polynomial 26.2.17 of Abramowitz and Stegun, as in the
-- PARSEC benchmark and in Legate's example.  Some 60 array operations, one pass over memory.
local np = require "array"

local n = tonumber(arg[1]) or 1000000
local repetitions = tonumber(arg[2]) or 1

local RISK_FREE, VOLATILITY = 0.02, 0.30

-- The cumulative normal distribution.
local function cnd(d)
  local k = 1 / (1 + 0.2316419 * np.abs(d))
  local tail = 0.3989422804014327 * np.exp(-0.5 * d * d) *
    (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))))
  return np.where(d:gt(0), 1 - tail, tail)
end

-- S: price of the share; X: strike price; T: years left; r: risk-free rate; v: volatility.
local function black_scholes(S, X, T, r, v)
  local sqrt_t = np.sqrt(T)
  local d1 = (np.log(S / X) + (r + 0.5 * v * v) * T) / (v * sqrt_t)
  local d2 = d1 - v * sqrt_t
  local cnd1, cnd2 = cnd(d1), cnd(d2)
  local discounted = X * np.exp(-r * T)
  local call = S * cnd1 - discounted * cnd2
  local put = discounted * (1 - cnd2) - S * (1 - cnd1)
  return call, put
end

-- Well-spread inputs: the fractional parts of the multiples of three irrational numbers.
local i = np.arange(n)
local S = 5 + 25 * (i * 0.8191725133961645 % 1)
local X = 1 + 99 * (i * 0.6710436067037893 % 1)
local T = 0.25 + 9.75 * (i * 0.5497004779019703 % 1)

local call, put
for _ = 1, repetitions do
  call, put = black_scholes(S, X, T, RISK_FREE, VOLATILITY)
end

-- Call and put are bound by parity: call - put = S - X exp(-rT).
local parity = np.max(np.abs(call - put - (S - X * np.exp(-RISK_FREE * T))))
print(("options    %d"):format(n))
print(("call mean  %.12g"):format(np.mean(call):item()))
print(("put mean   %.12g"):format(np.mean(put):item()))
print(("call max   %.12g"):format(np.max(call):item()))
print(("parity     %s"):format(parity < 1e-10 and "holds" or "violated"))
