"""A mixture of normal distributions, fitted by expectation and maximisation."""
import sys

import numpy as np

n, k, turns = (int(a) for a in sys.argv[1:4]) if len(sys.argv) > 3 else (20000, 3, 5)
d = 2
i = np.arange(n)
places = np.column_stack([1.5 * np.cos(2 * np.arange(k)), 1.5 * np.sin(2 * np.arange(k))])
X = np.column_stack([np.sin(i * 1.7), np.cos(i * i % 101)]) + places[i % k]

mu, pi, cov = X[:k].copy(), np.ones(k) / k, np.repeat(np.eye(d)[None], k, axis=0)
for _ in range(turns):
    R = np.empty((n, k))
    for j in range(k):
        diff = X - mu[j]
        distances = np.einsum("ni,ij,nj->n", diff, np.linalg.inv(cov[j]), diff)
        R[:, j] = pi[j] * np.exp(-0.5 * distances) / np.sqrt((2 * np.pi) ** d * np.linalg.det(cov[j]))
    likelihood = np.log(R.sum(axis=1)).sum()
    R /= R.sum(axis=1, keepdims=True)
    counts = R.sum(axis=0)
    pi, mu = counts / n, R.T.dot(X) / counts[:, None]
    for j in range(k):
        diff = X - mu[j]
        cov[j] = (R[:, j, None] * diff).T.dot(diff) / counts[j] + 1e-6 * np.eye(d)
print("likelihood %.12g" % likelihood)
print("shares     %.12g" % pi.max())
print("places     %.12g" % np.abs(mu).sum())
print("widths     %.12g" % np.linalg.det(cov).sum())
