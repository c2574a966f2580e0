-- A fast Fourier transform that needs no reversal of bits, by reshapes and products.
--
--   lgt examples/stockham_fft.lua [radix] [levels]
local np = require "array"

local radix, levels = tonumber(arg[1]) or 4, tonumber(arg[2]) or 9
local n = radix ^ levels

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end
local i = np.array(require("ffi").new("complex", 0, 1))
local x = spread(n) + np.cos(np.arange(n)) * i
local corner = np.arange(radix)
local small = np.exp(corner[":, *"] * corner * (-2 * math.pi / radix) * i)
local y = x
for level = 0, levels - 1 do
  local before, after = radix ^ level, radix ^ (levels - level - 1)
  local turn = corner[":, *"] * np.arange(before) * (-2 * math.pi / (before * radix))
  y = y:reshape(before, radix, after):transpose(2, 1, 3) * np.exp(turn * i)[":, :, *"]
  y = small:dot(y:reshape(radix, before * after)):reshape(n)
end

print(("norm      %.12g"):format(np.linalg.norm(y)()))
print(("correct   %s"):format(tostring(np.allclose(y, np.fft.fft(x)))))
