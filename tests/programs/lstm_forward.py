"""A recurrent network with long short-term memory, step by step through a sequence."""
import sys

import numpy as np

b, inputs, d, n = map(int, sys.argv[1:5])


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


X = spread(n, b, inputs)
WLSTM = spread(inputs + d + 1, 4 * d)
h0, c0 = np.zeros((b, d)), np.zeros((b, d))
Hin, Hout = np.zeros((n, b, WLSTM.shape[0])), np.zeros((n, b, d))
IFOG, IFOGf = np.zeros((n, b, d * 4)), np.zeros((n, b, d * 4))
C, Ct = np.zeros((n, b, d)), np.zeros((n, b, d))
for t in range(n):
    prevh = Hout[t - 1] if t > 0 else h0
    Hin[t, :, 0] = 1
    Hin[t, :, 1:inputs + 1] = X[t]
    Hin[t, :, inputs + 1:] = prevh
    IFOG[t] = Hin[t].dot(WLSTM)
    IFOGf[t, :, :3 * d] = 1.0 / (1.0 + np.exp(-IFOG[t, :, :3 * d]))
    IFOGf[t, :, 3 * d:] = np.tanh(IFOG[t, :, 3 * d:])
    prevc = C[t - 1] if t > 0 else c0
    C[t] = IFOGf[t, :, :d] * IFOGf[t, :, 3 * d:] + IFOGf[t, :, d:2 * d] * prevc
    Ct[t] = np.tanh(C[t])
    Hout[t] = IFOGf[t, :, 2 * d:3 * d] * Ct[t]

print("sum       %.12g" % Hout.sum())
print("norm      %.12g" % np.linalg.norm(Hout))
print("sum       %.12g" % C[-1].sum())
print("norm      %.12g" % np.linalg.norm(C[-1]))
