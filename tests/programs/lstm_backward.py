"""The gradients of a recurrent network with long short-term memory, backwards through a sequence."""
import sys

import numpy as np

b, d, n, word_size = map(int, sys.argv[1:5])


def spread(seed, *shape):
    return ((np.arange(np.prod(shape)) + seed) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


WLSTM = spread(1, word_size + d, 4 * d) / np.sqrt(word_size + d)
xphpb = WLSTM.shape[0]
dHout = spread(2, n, b, d)
IFOGf = spread(3, n, b, d * 4)
C, Ct, Hin = spread(4, n, b, d), spread(5, n, b, d), spread(6, n, b, xphpb)

dIFOG = np.zeros((n, b, d * 4))
dIFOGf = np.zeros(IFOGf.shape)
dHin = np.zeros(Hin.shape)
dC = np.zeros(C.shape)
dh0 = np.zeros((1, d))

for t in reversed(range(n)):
    tanhCt = Ct[t]
    dIFOGf[t, :, 2 * d:3 * d] = tanhCt * dHout[t]
    # backprop tanh non-linearity first then continue backprop
    dC[t] += (1 - tanhCt**2) * (IFOGf[t, :, 2 * d:3 * d] * dHout[t])

    if t > 0:
        dIFOGf[t, :, d:2 * d] = C[t - 1] * dC[t]
        dC[t - 1] += IFOGf[t, :, d:2 * d] * dC[t]

    dIFOGf[t, :, :d] = IFOGf[t, :, 3 * d:] * dC[t]
    dIFOGf[t, :, 3 * d:] = IFOGf[t, :, :d] * dC[t]

    # backprop activation functions
    dIFOG[t, :, 3 * d:] = (1 - IFOGf[t, :, 3 * d:] ** 2) * dIFOGf[t, :, 3 * d:]
    y = IFOGf[t, :, :3 * d]
    dIFOG[t, :, :3 * d] = (y * (1.0 - y)) * dIFOGf[t, :, :3 * d]

    # backprop matrix multiply
    dHin[t] = dIFOG[t].dot(WLSTM.transpose())

    # backprop the identity transforms into Hin
    if t > 0:
        dHout[t - 1, :] += dHin[t, :, word_size:]
    else:
        dh0[0] += np.sum(dHin[t, :, word_size:], 0)

print("dHin      %.12g" % np.linalg.norm(dHin.ravel()))
print("dIFOG     %.12g" % np.linalg.norm(dIFOG.ravel()))
print("dC        %.12g" % np.linalg.norm(dC.ravel()))
print("dh0       %.12g" % dh0.sum())
