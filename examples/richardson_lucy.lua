-- A blurred signal made sharp again: Richardson and Lucy's iteration.
--
--   lgt examples/richardson_lucy.lua [n] [steps]
local np = require "array"

local n, steps = tonumber(arg[1]) or 100000, tonumber(arg[2]) or 20

local x = np.linspace(-2, 2, 17)
local blur = np.exp(-x * x)
blur = blur / blur:sum()
local signal = 0.1 + (np.arange(n) % 37):eq(0) * 1.0 + (np.arange(n) % 101):lt(5) * 0.5
local seen = np.convolve(signal, blur, "same")
local guess = np.full({ n }, 0.5)
local mirrored = np.flip(blur)
for _ = 1, steps do
  local ratio = seen / np.convolve(guess, blur, "same")
  guess = guess * np.convolve(ratio, mirrored, "same")
end

print(("blurred   %.12g"):format(np.abs(seen - signal):mean()()))
print(("restored  %.12g"):format(np.abs(guess - signal):mean()()))
print(("sum       %.12g"):format(guess:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(guess)()))
