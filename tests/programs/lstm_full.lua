-- Training of a recurrent network with long short-term memory to predict a text's next character, with AdaGrad.
--
--   lgt tests/programs/lstm_full.lua [hidden] [steps] [loops]
local np = require "array"

local H_size, T_steps = tonumber(arg[1]) or 100, tonumber(arg[2]) or 25
local max_iters = tonumber(arg[3]) or 100
local learning_rate, weight_sd, dump = 1e-1, 0.1, 2

local data = ("the quick brown fox jumps over the lazy dog while the sphinx of black quartz judges its vow. "):rep(3)
local chars, char_to_idx = {}, {}
for ch in data:gmatch "." do
  if not char_to_idx[ch] then
    chars[#chars + 1] = ch
    char_to_idx[ch] = #chars
  end
end
local X_size = #chars
local z_size = H_size + X_size
print(("data has %d characters, %d unique"):format(#data, X_size))

local seed = 0
local function spread(rows, columns)
  seed = seed + 1
  return ((np.arange(rows * columns) + seed) * 0.8191725133961645 % 1 - 0.5):reshape(rows, columns)
end

local function Param(value)
  return { v = value, d = np.zeros_like(value), m = np.zeros_like(value) } -- value, derivative, momentum for AdaGrad
end
local p = {
  W_f = Param(spread(H_size, z_size) * weight_sd + 0.5), b_f = Param(np.zeros({ H_size, 1 })),
  W_i = Param(spread(H_size, z_size) * weight_sd + 0.5), b_i = Param(np.zeros({ H_size, 1 })),
  W_C = Param(spread(H_size, z_size) * weight_sd), b_C = Param(np.zeros({ H_size, 1 })),
  W_o = Param(spread(H_size, z_size) * weight_sd + 0.5), b_o = Param(np.zeros({ H_size, 1 })),
  -- For final layer to predict the next character
  W_v = Param(spread(X_size, H_size) * weight_sd), b_v = Param(np.zeros({ X_size, 1 })),
}
local all = { p.W_f, p.W_i, p.W_C, p.W_o, p.W_v, p.b_f, p.b_i, p.b_C, p.b_o, p.b_v }

local function sigmoid(x) return 1 / (1 + np.exp(-x)) end
local function dsigmoid(y) return y * (1 - y) end
local tanh = np.tanh
local function dtanh(y) return 1 - y * y end

local function forward(x, h_prev, C_prev)
  local s = { C_prev = C_prev }
  s.z = np.row_stack({ h_prev, x })
  s.f = sigmoid(np.dot(p.W_f.v, s.z) + p.b_f.v)
  s.i = sigmoid(np.dot(p.W_i.v, s.z) + p.b_i.v)
  s.C_bar = tanh(np.dot(p.W_C.v, s.z) + p.b_C.v)
  s.C = s.f * C_prev + s.i * s.C_bar
  s.o = sigmoid(np.dot(p.W_o.v, s.z) + p.b_o.v)
  s.h = s.o * tanh(s.C)
  s.v = np.dot(p.W_v.v, s.h) + p.b_v.v
  s.y = np.exp(s.v) / np.sum(np.exp(s.v)) -- softmax
  return s
end

local function backward(target, dh_next, dC_next, s)
  local dv = np.copy(s.y)
  dv:at(target):isub(1)

  p.W_v.d:iadd(np.dot(dv, s.h.T))
  p.b_v.d:iadd(dv)

  local dh = np.dot(p.W_v.v.T, dv)
  dh:iadd(dh_next)
  local d_o = dh * tanh(s.C)
  d_o = dsigmoid(s.o) * d_o
  p.W_o.d:iadd(np.dot(d_o, s.z.T))
  p.b_o.d:iadd(d_o)

  local dC = np.copy(dC_next)
  dC:iadd(dh * s.o * dtanh(tanh(s.C)))
  local dC_bar = dC * s.i
  dC_bar = dtanh(s.C_bar) * dC_bar
  p.W_C.d:iadd(np.dot(dC_bar, s.z.T))
  p.b_C.d:iadd(dC_bar)

  local di = dC * s.C_bar
  di = dsigmoid(s.i) * di
  p.W_i.d:iadd(np.dot(di, s.z.T))
  p.b_i.d:iadd(di)

  local df = dC * s.C_prev
  df = dsigmoid(s.f) * df
  p.W_f.d:iadd(np.dot(df, s.z.T))
  p.b_f.d:iadd(df)

  local dz = np.dot(p.W_f.v.T, df) + np.dot(p.W_i.v.T, di) + np.dot(p.W_C.v.T, dC_bar) + np.dot(p.W_o.v.T, d_o)
  return dz[{ { 1, H_size }, {} }], s.f * dC
end

local function forward_backward(inputs, targets, h_prev, C_prev)
  local steps = { [0] = { h = np.copy(h_prev), C = np.copy(C_prev) } }
  local loss = 0
  for t = 1, T_steps do
    local x = np.zeros({ X_size, 1 })
    x[inputs[t]] = 1 -- Input character
    steps[t] = forward(x, steps[t - 1].h, steps[t - 1].C)
    loss = loss + -np.log(steps[t].y[{ targets[t], 1 }]) -- Loss for at t
  end
  for _, param in ipairs(all) do param.d:fill(0) end
  local dh_next, dC_next = np.zeros_like(steps[0].h), np.zeros_like(steps[0].C)
  for t = T_steps, 1, -1 do dh_next, dC_next = backward(targets[t], dh_next, dC_next, steps[t]) end
  for _, param in ipairs(all) do np.clip(param.d, -1, 1, { out = param.d }) end
  return loss, steps[T_steps].h, steps[T_steps].C
end

local function update_parameters()
  for _, q in ipairs(all) do
    q.m:iadd(q.d * q.d) -- Calculate sum of gradients
    q.v:iadd(-(learning_rate * q.d / np.sqrt(q.m + 1e-8)))
  end
end

local smooth_loss = -math.log(1.0 / X_size) * T_steps -- of a random model
local pointer = 0
local h_prev, C_prev, loss
local function update_status(iteration) print(("iter %d, loss %.9f"):format(iteration, smooth_loss:item())) end
for iteration = 0, max_iters - 1 do
  if pointer + T_steps >= #data or iteration == 0 then
    h_prev, C_prev = np.zeros({ H_size, 1 }), np.zeros({ H_size, 1 })
    pointer = 0
  end
  local inputs, targets = {}, {}
  for t = 1, T_steps do
    inputs[t] = char_to_idx[data:sub(pointer + t, pointer + t)]
    targets[t] = char_to_idx[data:sub(pointer + t + 1, pointer + t + 1)]
  end
  loss, h_prev, C_prev = forward_backward(inputs, targets, h_prev, C_prev)
  smooth_loss = smooth_loss * 0.999 + loss * 0.001
  if iteration % dump == 0 then update_status(iteration) end
  update_parameters()
  pointer = pointer + T_steps
end
update_status(max_iters)
