"""The mean of what a detector has measured, for each distance from its middle: two histograms."""
import sys

import numpy as np

n, bins = map(int, sys.argv[1:3])

data, radius = np.arange(n) * 0.8191725133961645 % 1, np.arange(n) * 0.6710436067037893 % 1
count = np.histogram(radius, bins)[0]
total = np.histogram(radius, bins, weights=data)[0]
mean = total / count

print("sum       %.12g" % mean.sum())
print("norm      %.12g" % np.linalg.norm(mean))
