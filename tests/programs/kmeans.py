"""k-means clustering (Lloyd's algorithm)."""
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
k = int(sys.argv[2]) if len(sys.argv) > 2 else 8
iterations = int(sys.argv[3]) if len(sys.argv) > 3 else 20
dims = 4

i, j = np.arange(n)[:, None], np.arange(dims)[None, :]
places = 1.5 * np.sin(2.3 * (i % k) + 1.1 * j)
data = places + np.sin((i + 1) * (j + 1) * 1.7)
data_dots = np.sum(data * data, axis=1)


def squared_distances(centres):
    centre_dots = np.sum(centres * centres, axis=1)
    return data_dots[:, None] - 2 * data.dot(centres.T) + centre_dots[None, :]


centres = data[:k]
for _ in range(iterations):
    labels = np.argmin(squared_distances(centres), axis=1)
    member = (labels[:, None] == np.arange(k)[None, :]).astype("float64")
    counts = np.sum(member, axis=0)
    centres = member.T.dot(data) / counts[:, None]

inertia = np.sum(np.min(squared_distances(centres), axis=1))
print("points   %d" % n)
print("inertia  %.12g" % inertia)
print("centres  %.12g" % np.sum(np.abs(centres)))
print("labels   %d" % np.sum(labels + 1))  # Lua counts positions from 1
