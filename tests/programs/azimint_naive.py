"""The mean of what a detector has measured, for each distance from its middle: a mask for each."""
import sys

import numpy as np

n, npt = map(int, sys.argv[1:3])

data, radius = np.arange(n) * 0.8191725133961645 % 1, np.arange(n) * 0.6710436067037893 % 1

rmax = radius.max()
res = np.zeros(npt, dtype=np.float64)
for i in range(npt):
    r1 = rmax * i / npt
    r2 = rmax * (i + 1) / npt
    mask_r12 = np.logical_and((r1 <= radius), (radius < r2))
    values_r12 = data[mask_r12]
    res[i] = values_r12.mean()

print("sum       %.12g" % res.sum())
print("norm      %.12g" % np.linalg.norm(res))
