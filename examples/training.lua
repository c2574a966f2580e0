-- A network of one hidden layer learns to tell spirals apart: stochastic gradient descent with momentum.
--
--   lgt examples/training.lua [points] [hidden] [epochs] [batch]
--
-- Softmax and cross entropy, the gradient written out by the chain rule.  Batches are rows at shuffled positions.
local np = require "array"

local n, hidden = tonumber(arg[1]) or 3000, tonumber(arg[2]) or 64
local epochs, batch = tonumber(arg[3]) or 50, tonumber(arg[4]) or 100
local classes, rate, momentum = 3, 0.3, 0.9

-- Points on three arms, in turn.
local i = np.arange(n)
local class = i % classes + 1
local radius = (i + 1) / n
local angle = 4 * radius + 2 * np.pi * (class - 1) / classes + 0.1 * np.sin(i * 12.9898)
local points = np.stack({radius * np.cos(angle), radius * np.sin(angle)}, 2)
local wanted = np.eye(classes)[class]

-- Weights and biases, and how fast each moves.
local W1, b1 = 2 * np.cos(np.arange(2 * hidden) ^ 2):reshape(2, hidden), np.sin(np.arange(hidden))
local W2, b2 = 0.3 * np.sin(np.arange(hidden * classes) ^ 2):reshape(hidden, classes), np.zeros(classes)
local parameters, speeds = {W1, b1, W2, b2}, {}
for k, p in ipairs(parameters) do speeds[k] = np.zeros_like(p) end

local function forward(x)
  local h = np.maximum(x:dot(W1) + b1, 0)
  local z = h:dot(W2) + b2
  local e = np.exp(z - z:max {axis = 2, keepdims = true})
  return h, e / e:sum {axis = 2, keepdims = true}
end

local function loss_and_hits()
  local _, p = forward(points)
  local likelihood = p[{np.span(1, n), class}]
  return -np.mean(np.log(likelihood)), np.mean(np.argmax(p, 2):eq(class))
end

print(("at first  %.10f"):format(loss_and_hits()()))
for epoch = 1, epochs do
  local order = (i * 7919 + epoch * 104729) % n + 1
  for first = 1, n - batch + 1, batch do
    local rows = order[{{first, first + batch - 1}}]
    local x, y = points[rows], wanted[rows]
    local h, p = forward(x)
    local dz = (p - y) / batch
    local dh = dz:dot(W2.T) * (h:gt(0))
    for k, gradient in ipairs {x.T:dot(dh), dh:sum(1), h.T:dot(dz), dz:sum(1)} do
      speeds[k]:imul(momentum)
      speeds[k]:isub(rate / epoch ^ 0.5 * gradient)
      parameters[k]:iadd(speeds[k])
    end
  end
end

local loss, hits = loss_and_hits()
print(("loss      %.10f"):format(loss()))
print(("right     %.4f"):format(hits()))
print(("weights   %.10f"):format(np.linalg.norm(W1)()))
