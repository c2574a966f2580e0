"""How electrons are scattered by phonons: products of small complex matrices over neighbours, momenta and energies."""
import sys

import numpy as np

nk, ne, nq, nw, na, nb, n3, norb = map(int, sys.argv[1:9])


def spread(*shape):
    return (np.arange(np.prod(shape)) * 0.8191725133961645 % 1 - 0.5).reshape(shape)


def spread_complex(*shape):
    return spread(*shape) + spread(*shape) * 2j


neigh_idx = np.arange(na)[:, None] * np.arange(nb) % na
dH, G = spread_complex(na, nb, n3, norb, norb), spread_complex(nk, ne, na, norb, norb)
D, Sigma = spread_complex(nq, nw, na, nb, n3, n3), np.zeros_like(G)
for k in range(G.shape[0]):
    for E in range(G.shape[1]):
        for q in range(D.shape[0]):
            for w in range(D.shape[1]):
                for i in range(D.shape[-2]):
                    for j in range(D.shape[-1]):
                        for a in range(neigh_idx.shape[0]):
                            for b in range(neigh_idx.shape[1]):
                                if E - w >= 0:
                                    dHG = G[k, E - w, neigh_idx[a, b]] @ dH[a, b, i]
                                    dHD = dH[a, b, j] * D[q, w, a, b, i, j]
                                    Sigma[k, E, a] += dHG @ dHD

print("real      %.12g" % Sigma.real.sum())
print("imaginary %.12g" % Sigma.imag.sum())
print("norm      %.12g" % np.linalg.norm(Sigma.ravel()))
