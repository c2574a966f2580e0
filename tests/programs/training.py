"""A network of one hidden layer learns to tell spirals apart: stochastic gradient descent with momentum."""
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
hidden = int(sys.argv[2]) if len(sys.argv) > 2 else 64
epochs = int(sys.argv[3]) if len(sys.argv) > 3 else 50
batch = int(sys.argv[4]) if len(sys.argv) > 4 else 100
classes, rate, momentum = 3, 0.3, 0.9

i = np.arange(n)
label = i % classes
radius = (i + 1) / n
angle = 4 * radius + 2 * np.pi * label / classes + 0.1 * np.sin(i * 12.9898)
points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
wanted = np.eye(classes)[label]

W1, b1 = 2 * np.cos(np.arange(2 * hidden) ** 2).reshape(2, hidden), np.sin(np.arange(hidden))
W2, b2 = 0.3 * np.sin(np.arange(hidden * classes) ** 2).reshape(hidden, classes), np.zeros(classes)
parameters = [W1, b1, W2, b2]
speeds = [np.zeros_like(p) for p in parameters]


def forward(x):
    h = np.maximum(x @ W1 + b1, 0)
    z = h @ W2 + b2
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return h, e / e.sum(axis=1, keepdims=True)


def loss_and_hits():
    p = forward(points)[1]
    return -np.mean(np.log(p[np.arange(n), label])), np.mean(np.argmax(p, axis=1) == label)


print("at first  %.10f" % loss_and_hits()[0])
for epoch in range(1, epochs + 1):
    order = (i * 7919 + epoch * 104729) % n
    for first in range(0, n - batch + 1, batch):
        rows = order[first:first + batch]
        x, y = points[rows], wanted[rows]
        h, p = forward(x)
        dz = (p - y) / batch
        dh = dz @ W2.T * (h > 0)
        for q, v, gradient in zip(parameters, speeds, (x.T @ dh, dh.sum(axis=0), h.T @ dz, dz.sum(axis=0))):
            v *= momentum
            v -= rate / epoch ** 0.5 * gradient
            q += v

loss, hits = loss_and_hits()
print("loss      %.10f" % loss)
print("right     %.4f" % hits)
print("weights   %.10f" % np.linalg.norm(W1))
