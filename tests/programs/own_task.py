"""How far points lie from the line x + y = 1, and how many lie close."""
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000

i = np.arange(n)
x, y = i * 0.8191725133961645 % 1, i * 0.6710436067037893 % 1
d = np.abs(x + y - 1) / np.sqrt(2.0)

print("points    %d" % n)
print("close     %d" % np.count_nonzero(d < 0.1))
print("mean      %.12g" % np.mean(d))
print("farthest  %.12g" % np.max(d))
