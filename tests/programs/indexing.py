"""What arrays of positions, masks, choices and repetitions do, read and written: after cuPyNumeric's examples and
microbenchmarks of indexing."""
import itertools
import sys

import numpy as np

N = int(sys.argv[1])

A1 = np.ones((N,), dtype=int)
for _ in range(3):
    A2 = np.diag(A1)
    A1 = np.diag(A2)
print("diagonal  %d" % A1.sum())

A = tuple(np.full((N,), k) for k in range(10))
C1 = np.arange(N, dtype=int) % 10
for _ in range(3):
    C1 = np.choose(C1, A, mode="wrap")
print("choose    %d" % C1.sum())

A2 = np.ones((N, N), dtype=int)
R = np.repeat(int(1), N)
A2 = np.repeat(A2, R, axis=1)
print("repeat    %d" % A2.sum())

A1 = np.ones((N,), dtype=int)
B = np.arange(N, dtype=int)
indx = B % 10
indx_bool = (B % 2).astype(bool)
A1[indx] = 10
A1[indx_bool] = 12
print("1d        %d" % A1.sum())

indx2d_bool = (A2 % 2).astype(bool)
A2[indx_bool, indx_bool] = 11
A2[:, indx] = 12
print("2d        %d" % A2.sum())
A2[indx2d_bool] = 13
print("2d mask   %d" % A2.sum())

A3 = np.ones((N, int(N / 10), 10), dtype=int)
indx3d_bool = (A3 % 2).astype(bool)
A3[indx, :, indx] = 15
print("3d        %d" % A3.sum())
A3[indx3d_bool] = 16
print("3d mask   %d" % A3.sum())

a = np.sin(np.arange(N * N)).reshape(N, N)
mask = a[:, 0] > 0
rows, columns = np.arange(N) * 7 % N, np.arange(N) * 11 % N
print("rows      %.9g" % a[mask, :].sum())
print("columns   %.9g" % a[:, mask].sum())
print("pairs     %.9g" % a[np.arange(N), columns].sum())
print("open mesh %.9g" % a[np.ix_(rows, columns)].sum())
a[:, rows] = a[:, columns]
a[2, [0, 3, 4]] = 999.0
a[mask] = -1
print("written   %.9g" % a.sum())
print("along     %.9g" % np.take_along_axis(a, np.argsort(a, axis=1), axis=1)[0, :].sum())
np.put(a, [0, 7, N * N - 1], [1, 2, 3])
np.put_along_axis(a, np.argmax(a, axis=1)[:, np.newaxis], 0.5, axis=1)
print("put       %.9g" % a.sum())
cube = np.cos(np.arange(4 * N * 5)).reshape(4, N, 5)
print("apart     %.9g" % cube[[0, 2], :, [1, 4]][0, :].sum())
print("shape     {%s}" % ", ".join(map(str, cube[[0, 2], :, [1, 4]].shape)))

indices = np.array(list(a for a in itertools.combinations(range(8), 2)))
taken = a.take(indices, axis=1)
print("pairs     {%s} %.9g" % (", ".join(map(str, taken.shape)), taken.sum()))
