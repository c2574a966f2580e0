-- Prices of options and how they change with what they depend on, over a grid of volatilities, times and
-- strikes.
--
--   lgt examples/black_scholes_greeks.lua [nv] [nt] [ns]
local np = require "array"

local nv, nt, ns = tonumber(arg[1]) or 100, tonumber(arg[2]) or 100, tonumber(arg[3]) or 100

local v = np.linspace(0.1, 0.5, nv)[":, *, *"]
local t = np.linspace(0.5, 2, nt)[":, *"]
local k = np.linspace(80, 120, ns)
local s, r = 100, 0.02

local function density(x) return np.exp(-x * x / 2) / math.sqrt(2 * math.pi) end
local function below(x) return (1 + np.erf(x / math.sqrt(2))) / 2 end

local root = np.sqrt(t)
local d1 = (np.log(s / k) + (r + v * v / 2) * t) / (v * root)
local d2 = d1 - v * root
local discount = np.exp(-r * t)
local greeks = {
  { "price", s * below(d1) - k * discount * below(d2) },
  { "delta", below(d1) },
  { "gamma", density(d1) / (s * v * root) },
  { "vega", s * density(d1) * root },
  { "theta", -s * density(d1) * v / (2 * root) - r * k * discount * below(d2) },
  { "rho", k * t * discount * below(d2) },
}
for _, greek in ipairs(greeks) do print(("%-9s %.12g"):format(greek[1], greek[2]:mean()())) end
