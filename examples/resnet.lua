-- A bottleneck of a residual network: three convolutions, each normalised over the batch.
--
--   lgt examples/resnet.lua [n] [height] [width] [...] [...]
local np = require "array"

local n, height, width = tonumber(arg[1]) or 8, tonumber(arg[2]) or 56, tonumber(arg[3]) or 56
local outer, inner = tonumber(arg[4]) or 256, tonumber(arg[5]) or 64

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...)
end
-- A product with the weights of each place of the window.
local function conv2d(x, weights)
  local k, rows, columns = weights.shape[1], x.shape[2], x.shape[3]
  local result
  for i = 1, k do
    for j = 1, k do
      local part = np.matmul(x[{ {}, { i, rows - k + i }, { j, columns - k + j }, {} }], weights[{ i, j, {}, {} }])
      result = result and result + part or part
    end
  end
  return result
end
local function relu(x) return np.maximum(x, 0) end
local function normalised(x)
  return (x - x:mean(1, { keepdims = true })) / np.sqrt(x:std(1, { keepdims = true }) + 1e-5)
end

local x = spread(n, height, width, outer)
local padded = np.zeros(n, height + 2, width + 2, inner)
padded[":, 2:-2, 2:-2, :"] = conv2d(x, spread(1, 1, outer, inner))
local y = relu(normalised(padded))
y = relu(normalised(conv2d(y, spread(3, 3, inner, inner))))
y = normalised(conv2d(y, spread(1, 1, inner, outer)))
y = relu(y + x)

print(("sum       %.12g"):format(y:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(y)()))
