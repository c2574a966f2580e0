"""Heat in a plane by alternating directions: each half step solves tridiagonal systems of all rows at once."""
import sys

import numpy as np

N, TSTEPS = int(sys.argv[1]), int(sys.argv[2])

u = (np.arange(N)[:, None] + N - np.arange(N)) / N
v, p, q = np.zeros((N, N)), np.zeros((N, N)), np.zeros((N, N))
mul1, mul2 = 2.0 * N * N / TSTEPS, 1.0 * N * N / TSTEPS
a = -mul1 / 2.0
b, c, d, e = 1.0 + mul1, a, -mul2 / 2.0, 1.0 + mul2
f = d

for t in range(1, TSTEPS + 1):
    v[0, 1:N - 1] = 1.0
    p[1:N - 1, 0] = 0.0
    q[1:N - 1, 0] = v[0, 1:N - 1]
    for j in range(1, N - 1):
        p[1:N - 1, j] = -c / (a * p[1:N - 1, j - 1] + b)
        q[1:N - 1, j] = (-d * u[j, 0:N - 2] + (1.0 + 2.0 * d) * u[j, 1:N - 1] - f * u[j, 2:N] -
                         a * q[1:N - 1, j - 1]) / (a * p[1:N - 1, j - 1] + b)
    v[N - 1, 1:N - 1] = 1.0
    for j in range(N - 2, 0, -1):
        v[j, 1:N - 1] = p[1:N - 1, j] * v[j + 1, 1:N - 1] + q[1:N - 1, j]
    u[1:N - 1, 0] = 1.0
    p[1:N - 1, 0] = 0.0
    q[1:N - 1, 0] = u[1:N - 1, 0]
    for j in range(1, N - 1):
        p[1:N - 1, j] = -f / (d * p[1:N - 1, j - 1] + e)
        q[1:N - 1, j] = (-a * v[0:N - 2, j] + (1.0 + 2.0 * a) * v[1:N - 1, j] - c * v[2:N, j] -
                         d * q[1:N - 1, j - 1]) / (d * p[1:N - 1, j - 1] + e)
    u[1:N - 1, N - 1] = 1.0
    for j in range(N - 2, 0, -1):
        u[1:N - 1, j] = p[1:N - 1, j] * u[1:N - 1, j + 1] + q[1:N - 1, j]

print("sum       %.12g" % u.sum())
print("norm      %.12g" % np.linalg.norm(u))
