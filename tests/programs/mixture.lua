-- A mixture of normal distributions, fitted by expectation and maximisation.
local np = require "array"

local n, k, turns, d = tonumber(arg[1]) or 20000, tonumber(arg[2]) or 3, tonumber(arg[3]) or 5, 2
local i = np.arange(n)
local places = np.column_stack{1.5 * np.cos(2 * np.arange(k)), 1.5 * np.sin(2 * np.arange(k))}
local X = np.column_stack{np.sin(i * 1.7), np.cos(i * i % 101)} + places[i % k + 1]

local mu, pi, cov = X[{{1, k}, {}}]:copy(), np.ones(k) / k, np.rep(np.eye(d)["*"], k, 1)
local likelihood
for _ = 1, turns do
  local R = np.empty{n, k}
  for j = 1, k do
    local diff = X - mu[j]
    local distances = np.einsum("ni,ij,nj->n", diff, np.linalg.inv(cov[j]), diff)
    R[{{}, j}] = pi[j] * np.exp(-0.5 * distances) / np.sqrt((2 * np.pi) ^ d * np.linalg.det(cov[j]))
  end
  likelihood = np.log(R:sum(2)):sum()
  R:idiv(R:sum(2, {keepdims = true}))
  local counts = R:sum(1)
  pi, mu = counts / n, R.T:dot(X) / counts[":, *"]
  for j = 1, k do
    local diff = X - mu[j]
    cov[j] = (R[{{}, {j, j}}] * diff).T:dot(diff) / counts[j] + 1e-6 * np.eye(d)
  end
end
print(("likelihood %.12g"):format(likelihood:item()))
print(("shares     %.12g"):format(pi:max():item()))
print(("places     %.12g"):format(np.abs(mu):sum():item()))
print(("widths     %.12g"):format(np.linalg.det(cov):sum():item()))
