"""Black-Scholes: the prices of European call and put options."""
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 1

RISK_FREE, VOLATILITY = 0.02, 0.30


def cnd(d):
    k = 1 / (1 + 0.2316419 * np.abs(d))
    tail = 0.3989422804014327 * np.exp(-0.5 * d * d) * (
        k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))))
    return np.where(d > 0, 1 - tail, tail)


def black_scholes(S, X, T, r, v):
    sqrt_t = np.sqrt(T)
    d1 = (np.log(S / X) + (r + 0.5 * v * v) * T) / (v * sqrt_t)
    d2 = d1 - v * sqrt_t
    cnd1, cnd2 = cnd(d1), cnd(d2)
    discounted = X * np.exp(-r * T)
    call = S * cnd1 - discounted * cnd2
    put = discounted * (1 - cnd2) - S * (1 - cnd1)
    return call, put


i = np.arange(n)
S = 5 + 25 * (i * 0.8191725133961645 % 1)
X = 1 + 99 * (i * 0.6710436067037893 % 1)
T = 0.25 + 9.75 * (i * 0.5497004779019703 % 1)

for _ in range(repetitions):
    call, put = black_scholes(S, X, T, RISK_FREE, VOLATILITY)

parity = np.max(np.abs(call - put - (S - X * np.exp(-RISK_FREE * T))))
print("options    %d" % n)
print("call mean  %.12g" % np.mean(call))
print("put mean   %.12g" % np.mean(put))
print("call max   %.12g" % np.max(call))
print("parity     %s" % ("holds" if parity < 1e-10 else "violated"))
