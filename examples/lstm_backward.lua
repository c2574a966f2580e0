-- The gradients of a recurrent network with long short-term memory, backwards through a sequence.
--
--   lgt examples/lstm_backward.lua [batch] [hidden] [sentence] [word]
local np = require "array"

local b, d = tonumber(arg[1]) or 32, tonumber(arg[2]) or 64
local n, word_size = tonumber(arg[3]) or 32, tonumber(arg[4]) or 64

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(seed, ...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return ((np.arange(size) + seed) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end

local WLSTM = spread(1, word_size + d, 4 * d) / np.sqrt(word_size + d)
local xphpb = WLSTM.shape[1]
local dHout = spread(2, n, b, d)
local IFOGf = spread(3, n, b, d * 4)
local C, Ct, Hin = spread(4, n, b, d), spread(5, n, b, d), spread(6, n, b, xphpb)

local dIFOG = np.zeros(n, b, d * 4)
local dIFOGf = np.zeros(IFOGf.shape)
local dHin = np.zeros(Hin.shape)
local dC = np.zeros(C.shape)
local dh0 = np.zeros(1, d)

local input, forget, output = { 1, d }, { d + 1, 2 * d }, { 2 * d + 1, 3 * d } -- what columns of a step are for
local gates, new = { 1, 3 * d }, { 3 * d + 1, 4 * d }
for t = n, 1, -1 do
  local tanhCt = Ct[t]
  dIFOGf[{ t, {}, output }] = tanhCt * dHout[t]
  -- backprop tanh non-linearity first then continue backprop
  dC[t]:iadd((1 - tanhCt ^ 2) * (IFOGf[{ t, {}, output }] * dHout[t]))
  if t > 1 then
    dIFOGf[{ t, {}, forget }] = C[t - 1] * dC[t]
    dC[t - 1]:iadd(IFOGf[{ t, {}, forget }] * dC[t])
  end
  dIFOGf[{ t, {}, input }] = IFOGf[{ t, {}, new }] * dC[t]
  dIFOGf[{ t, {}, new }] = IFOGf[{ t, {}, input }] * dC[t]
  -- backprop activation functions
  dIFOG[{ t, {}, new }] = (1 - IFOGf[{ t, {}, new }] ^ 2) * dIFOGf[{ t, {}, new }]
  local y = IFOGf[{ t, {}, gates }]
  dIFOG[{ t, {}, gates }] = (y * (1.0 - y)) * dIFOGf[{ t, {}, gates }]
  -- backprop matrix multiply
  dHin[t] = dIFOG[t]:dot(WLSTM:transpose())
  -- backprop the identity transforms into Hin
  if t > 1 then
    dHout[{ t - 1, "..." }]:iadd(dHin[{ t, {}, { word_size + 1, -1 } }])
  else
    dh0[1]:iadd(np.sum(dHin[{ t, {}, { word_size + 1, -1 } }], 1))
  end
end

print(("dHin      %.12g"):format(np.linalg.norm(dHin:ravel())()))
print(("dIFOG     %.12g"):format(np.linalg.norm(dIFOG:ravel())()))
print(("dC        %.12g"):format(np.linalg.norm(dC:ravel())()))
print(("dh0       %.12g"):format(dh0:sum()()))
