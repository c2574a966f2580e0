"""Where somebody is who walks and is heard: particles, weighed by how likely they are and drawn again by their weights."""
import sys

import numpy as np

n, turns = (int(a) for a in sys.argv[1:3]) if len(sys.argv) > 2 else (50000, 8)
i = np.arange(n)


def spread(t):
    return (i * 7919 + t * 104729) % 10007 / 10007 - 0.5


p, w, drawn = 10 * (spread(0) + 0.5), np.ones(n) / n, 0
for t in range(1, turns + 1):
    p = p + 1 + 0.2 * spread(t)
    w *= np.exp(-0.5 * ((p - (3 + t)) / 0.5) ** 2)
    w /= w.sum()
    if 1 / np.sum(w**2) < n / 2:
        sums = np.cumsum(w)
        sums[-1] = 1
        p, w, drawn = p[np.searchsorted(sums, (i + 0.5) / n)], np.full(n, 1 / n), drawn + 1
mean = np.average(p, weights=w)
print("drawn %d" % drawn)
print("mean  %.12g" % mean)
print("width %.12g" % np.sqrt(np.average((p - mean) ** 2, weights=w)))
