-- The gradient of a convolution's weights: images correlated with shifted views of padded ones, channel by channel.
--
--   lgt tests/programs/wgrad.lua [height] [width] [batch] [input channels] [output channels] [radix]
local np = require "array"

local H, W, B = tonumber(arg[1]) or 32, tonumber(arg[2]) or 32, tonumber(arg[3]) or 4
local C, K, R = tonumber(arg[4]) or 8, tonumber(arg[5]) or 4, tonumber(arg[6]) or 3
local S = R

local function spread(seed, ...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return ((np.arange(size) + seed) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end

local function cross_correlate(x, y)
  local dw = np.zeros({ R, S, C, K })
  -- cross-correlate images to compute weight gradients
  local y_pad = np.zeros({ K, B, H + R - 1, W + S - 1 })
  local r2, s2 = math.floor(R / 2), math.floor(S / 2)
  y_pad[{ {}, {}, { r2 + 1, -r2 - 1 }, { s2 + 1, -s2 - 1 } }] = y
  for r = 1, R do
    for s = 1, S do
      local y_shift = y_pad[{ {}, {}, { r, r + H - 1 }, { s, s + W - 1 } }]
      for c = 1, C do
        for k = 1, K do dw[{ r, s, c, k }] = np.sum(x[{ c, {}, {}, {} }] * y_shift[{ k, {}, {}, {} }]) end
      end
    end
  end
  return dw
end

local x, y = spread(1, C, B, H, W), spread(2, K, B, H, W)
local dw = cross_correlate(x, y)
print(("total %.12g"):format(np.sum(dw):item()))
print(("norm  %.12g"):format(np.linalg.norm(dw:ravel()):item()))
