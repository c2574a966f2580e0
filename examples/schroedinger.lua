-- A wave packet meets a barrier that it has too little energy to pass: two fifths tunnel.
--
--   lgt examples/schroedinger.lua [points] [steps]
--
-- i dpsi/dt = (-1/2 d^2/dx^2 + V) psi by Strang splitting: half a step of the potential, a step of free motion, which
-- is a product between Fourier transforms, and half a step of the potential.
local np = require "array"

local n, steps = tonumber(arg[1]) or 1024, tonumber(arg[2]) or 1500
local L, dt, momentum = 80, 0.01, 2.5

local dx = L / n
local x = np.arange(n) * dx - L / 2
local k = 2 * np.pi * np.fft.fftfreq(n, dx)
local V = 4 * np.exp(-x ^ 2 / 0.25)

local psi = np.exp(-(x + 15) ^ 2 / 16 + momentum * 1i * x)
psi:idiv(np.sqrt(np.sum(np.abs(psi) ^ 2) * dx))
local half, free = np.exp(-0.5i * dt * V), np.exp(-0.5i * dt * k ^ 2)

local function expected(f) return (psi:conj() * f):sum().real * dx end
local function energy() return expected(np.fft.ifft(0.5 * k ^ 2 * np.fft.fft(psi)) + V * psi) end

local before = energy()
for _ = 1, steps do
  psi:imul(half)
  psi = np.fft.ifft(free * np.fft.fft(psi))
  psi:imul(half)
end

local density = np.abs(psi) ^ 2
print(("norm      %.12f"):format((density:sum() * dx)()))
print(("energy    %.9f"):format(before()))
print(("drift     %.6f"):format((energy() - before)()))
print(("tunnelled %.9f"):format((density[x:gt(0.4)]:sum() * dx)()))
print(("position  %.9f"):format(expected(x * psi)()))
