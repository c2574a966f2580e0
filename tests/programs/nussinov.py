"""How a strand of RNA may fold: the most pairs that bases can form, by dynamic programming."""
import sys

import numpy as np

N = int(sys.argv[1])

seq = ((np.arange(N) + 1) % 4).astype(np.int32)
table = np.zeros((N, N), np.int32)


def match(b1, b2):
    return 1 if b1 + b2 == 3 else 0


for i in range(N - 1, -1, -1):
    for j in range(i + 1, N):
        if j - 1 >= 0:
            table[i, j] = max(table[i, j], table[i, j - 1])
        if i + 1 < N:
            table[i, j] = max(table[i, j], table[i + 1, j])
        if j - 1 >= 0 and i + 1 < N:
            if i < j - 1:
                table[i, j] = max(table[i, j], table[i + 1, j - 1] + match(seq[i], seq[j]))
            else:
                table[i, j] = max(table[i, j], table[i + 1, j - 1])
        for k in range(i + 1, j):
            table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])

print("pairs     %d" % table[0, N - 1])
print("sum       %d" % table.sum())
