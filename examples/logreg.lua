-- Logistic regression by gradient ascent on the log-likelihood.
--
--   lgt examples/logreg.lua [samples] [features] [iterations]
--
-- Legate's example.  The labels follow from known weights, so that the accuracy can be judged.
local np = require "array"

local n = tonumber(arg[1]) or 20000
local m = tonumber(arg[2]) or 32
local iterations = tonumber(arg[3]) or 100
local rate = 2 / n

local function sigmoid(x) return 1 / (1 + np.exp(-x)) end

local function log_likelihood(scores, target)
  return np.sum(target * scores - np.log(1 + np.exp(scores)))
end

local i, j = np.arange(n), np.arange(m)
local features = np.sin(0.7 + i[":, *"] * np.sqrt(j + 2)["*, :"])
local truth = np.cos(3 * j)
local target = features:dot(truth):gt(0):astype("float64")

local weights = np.zeros(m)
for _ = 1, iterations do
  local predictions = sigmoid(features:dot(weights))
  local gradient = features.T:dot(target - predictions)
  weights:iadd(rate * gradient)
end

local scores = features:dot(weights)
local right = scores:gt(0):eq(target:gt(0))
print(("samples         %d"):format(n))
print(("log-likelihood  %.12g"):format(log_likelihood(scores, target):item()))
print(("weights norm    %.12g"):format(np.sqrt(weights:dot(weights)):item()))
print(("accuracy        %.3f"):format(np.mean(right):item()))
