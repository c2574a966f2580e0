"""Prices of options and how they change with what they depend on, over a grid of volatilities, times and strikes."""
import sys

import numpy as np

from scipy.special import erf

nv, nt, ns = map(int, sys.argv[1:4])

v = np.linspace(0.1, 0.5, nv)[:, None, None]
t = np.linspace(0.5, 2, nt)[:, None]
k = np.linspace(80, 120, ns)
s, r = 100, 0.02


def density(x):
    return np.exp(-x * x / 2) / np.sqrt(2 * np.pi)


def below(x):
    return (1 + erf(x / np.sqrt(2))) / 2


root = np.sqrt(t)
d1 = (np.log(s / k) + (r + v * v / 2) * t) / (v * root)
d2 = d1 - v * root
discount = np.exp(-r * t)
greeks = {
    "price": s * below(d1) - k * discount * below(d2),
    "delta": below(d1),
    "gamma": density(d1) / (s * v * root),
    "vega": s * density(d1) * root,
    "theta": -s * density(d1) * v / (2 * root) - r * k * discount * below(d2),
    "rho": k * t * discount * below(d2),
}
for name, greek in greeks.items():
    print("%-9s %.12g" % (name, greek.mean()))
