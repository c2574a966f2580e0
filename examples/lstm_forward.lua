-- A recurrent network with long short-term memory, step by step through a sequence.
--
--   lgt examples/lstm_forward.lua [batch] [inputs] [...] [...]
local np = require "array"

local batch, inputs = tonumber(arg[1]) or 32, tonumber(arg[2]) or 128
local hidden, steps = tonumber(arg[3]) or 128, tonumber(arg[4]) or 64

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end
local function sigmoid(x) return 1 / (1 + np.exp(-x)) end

local X = spread(steps, batch, inputs)
local W = spread(inputs + hidden + 1, 4 * hidden)
local h, c = np.zeros(batch, hidden), np.zeros(batch, hidden)
local ones, out = np.ones(batch, 1), np.zeros(steps, batch, hidden)
for t = 1, steps do
  local gates = np.concatenate({ ones, X[t], h }, 2):dot(W)
  local open = sigmoid(gates[{ {}, { 1, 3 * hidden } }]) -- in, forget, out
  local new = np.tanh(gates[{ {}, { 3 * hidden + 1, 4 * hidden } }])
  c = open[{ {}, { 1, hidden } }] * new + open[{ {}, { hidden + 1, 2 * hidden } }] * c
  h = open[{ {}, { 2 * hidden + 1, 3 * hidden } }] * np.tanh(c)
  out[t] = h
end

print(("sum       %.12g"):format(out:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(out)()))
print(("sum       %.12g"):format(c:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(c)()))
