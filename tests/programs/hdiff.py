"""Horizontal diffusion in a model of the weather, with a limiter."""
import sys

import numpy as np

I, J, K = map(int, sys.argv[1:4])


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


in_field, coeff = spread(I + 4, J + 4, K), spread(I, J, K)
lap_field = 4.0 * in_field[1:I + 3, 1:J + 3, :] - (in_field[2:I + 4, 1:J + 3, :] + in_field[0:I + 2, 1:J + 3, :] +
                                                   in_field[1:I + 3, 2:J + 4, :] + in_field[1:I + 3, 0:J + 2, :])
res = lap_field[1:, 1:J + 1, :] - lap_field[:-1, 1:J + 1, :]
flx_field = np.where((res * (in_field[2:I + 3, 2:J + 2, :] - in_field[1:I + 2, 2:J + 2, :])) > 0, 0, res)
res = lap_field[1:I + 1, 1:, :] - lap_field[1:I + 1, :-1, :]
fly_field = np.where((res * (in_field[2:I + 2, 2:J + 3, :] - in_field[2:I + 2, 1:J + 2, :])) > 0, 0, res)
out = in_field[2:I + 2, 2:J + 2, :] - coeff * (flx_field[1:, :, :] - flx_field[:-1, :, :] + fly_field[:, 1:, :] -
                                               fly_field[:, :-1, :])

print("sum       %.12g" % out.ravel().sum())
print("norm      %.12g" % np.linalg.norm(out.ravel()))
