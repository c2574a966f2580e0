"""Two substances that diffuse and react form spots and stripes: the Gray-Scott model."""
import math
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 500
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 500
spread_u, spread_v, feed, kill = 0.16, 0.08, 0.035, 0.065

U, V = np.ones((n + 2, n + 2)), np.zeros((n + 2, n + 2))
lo, hi = math.floor(0.45 * n), math.floor(0.55 * n)
U[lo - 1:hi, lo - 1:hi] = 0.5
V[lo - 1:hi, lo - 1:hi] = 0.25

u, v = U[1:-1, 1:-1], V[1:-1, 1:-1]


def laplacian(A):
    return A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] - 4 * A[1:-1, 1:-1]


for _ in range(steps):
    du, dv = laplacian(U), laplacian(V)
    reaction = u * v * v
    u[:] = u + (spread_u * du - reaction + feed * (1 - u))
    v[:] = v + (spread_v * dv + reaction - (feed + kill) * v)

print("points    %d x %d" % (n, n))
print("mean u    %.12g" % np.mean(u))
print("mean v    %.12g" % np.mean(v))
print("most v    %.12g" % np.max(v))
