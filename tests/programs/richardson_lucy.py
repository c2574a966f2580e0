"""A blurred signal made sharp again: Richardson and Lucy's iteration."""
import sys

import numpy as np

n, steps = map(int, sys.argv[1:3])

x = np.linspace(-2, 2, 17)
blur = np.exp(-x * x)
blur = blur / blur.sum()
signal = 0.1 + (np.arange(n) % 37 == 0) * 1.0 + (np.arange(n) % 101 < 5) * 0.5
seen = np.convolve(signal, blur, "same")
guess = np.full(n, 0.5)
mirrored = np.flip(blur)
for _ in range(steps):
    ratio = seen / np.convolve(guess, blur, "same")
    guess = guess * np.convolve(ratio, mirrored, "same")

print("blurred   %.12g" % np.abs(seen - signal).mean())
print("restored  %.12g" % np.abs(guess - signal).mean())
print("sum       %.12g" % guess.sum())
print("norm      %.12g" % np.linalg.norm(guess))
