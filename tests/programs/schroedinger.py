"""A wave packet meets a barrier that it has too little energy to pass: two fifths tunnel."""
import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1500
L, dt, momentum = 80, 0.01, 2.5

dx = L / n
x = np.arange(n) * dx - L / 2
k = 2 * np.pi * np.fft.fftfreq(n, dx)
V = 4 * np.exp(-x ** 2 / 0.25)

psi = np.exp(-(x + 15) ** 2 / 16 + momentum * 1j * x)
psi /= np.sqrt(np.sum(np.abs(psi) ** 2) * dx)
half, free = np.exp(-0.5j * dt * V), np.exp(-0.5j * dt * k ** 2)


def expected(f):
    return (psi.conj() * f).sum().real * dx


def energy():
    return expected(np.fft.ifft(0.5 * k ** 2 * np.fft.fft(psi)) + V * psi)


before = energy()
for _ in range(steps):
    psi *= half
    psi = np.fft.ifft(free * np.fft.fft(psi))
    psi *= half

density = np.abs(psi) ** 2
print("norm      %.12f" % (density.sum() * dx))
print("energy    %.9f" % before)
print("drift     %.6f" % (energy() - before))
print("tunnelled %.9f" % (density[x > 0.4].sum() * dx))
print("position  %.9f" % expected(x * psi))
