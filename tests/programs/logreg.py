"""Logistic regression by gradient ascent on the log-likelihood."""
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
m = int(sys.argv[2]) if len(sys.argv) > 2 else 32
iterations = int(sys.argv[3]) if len(sys.argv) > 3 else 100
rate = 2 / n


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def log_likelihood(scores, target):
    return np.sum(target * scores - np.log(1 + np.exp(scores)))


i, j = np.arange(n), np.arange(m)
features = np.sin(0.7 + i[:, None] * np.sqrt(j + 2)[None, :])
truth = np.cos(3 * j)
target = (features.dot(truth) > 0).astype("float64")

weights = np.zeros(m)
for _ in range(iterations):
    predictions = sigmoid(features.dot(weights))
    gradient = features.T.dot(target - predictions)
    weights += rate * gradient

scores = features.dot(weights)
right = (scores > 0) == (target > 0)
print("samples         %d" % n)
print("log-likelihood  %.12g" % log_likelihood(scores, target))
print("weights norm    %.12g" % np.sqrt(weights.dot(weights)))
print("accuracy        %.3f" % np.mean(right))
