-- The convolution of a network's layer: for each place a sum over its neighbours and all channels.
--
--   lgt tests/programs/conv2d_bias.lua [images] [height] [width] [channels in] [out] [kernel]
local np = require "array"

local N, H, W = tonumber(arg[1]) or 8, tonumber(arg[2]) or 32, tonumber(arg[3]) or 32
local C_in, C_out, K = tonumber(arg[4]) or 3, tonumber(arg[5]) or 16, tonumber(arg[6]) or 5

-- Well-spread numbers: the fractional parts of the multiples of an irrational one.
local function spread(...)
  local size = 1
  for _, extent in ipairs { ... } do size = size * extent end
  return (np.arange(size) * 0.8191725133961645 % 1 - 0.5):reshape(...):astype("float32")
end

-- Deep learning convolutional operator (stride = 1)
local function conv2d(input, weights)
  local k = weights.shape[1] -- Assuming square kernel
  local n = input.shape[1]
  local H_out = input.shape[2] - k + 1
  local W_out = input.shape[3] - k + 1
  local output = np.empty({ n, H_out, W_out, weights.shape[4] }, { dtype = "float32" })
  for i = 1, H_out do
    for j = 1, W_out do
      output[{ {}, i, j, {} }] = np.sum(
        input[{ {}, { i, i + k - 1 }, { j, j + k - 1 }, {}, np.newaxis }] *
        weights[{ np.newaxis, {}, {}, {}, {} }],
        { axis = { 2, 3, 4 } })
    end
  end
  return output
end

local function conv2d_bias(input, weights, bias)
  return conv2d(input, weights) + bias
end

local output = conv2d_bias(spread(N, H, W, C_in), spread(K, K, C_in, C_out), spread(C_out))

print("shape     " .. output.shape)
print(("sum       %.6g"):format(output:sum { dtype = "float64" }()))
print(("norm      %.6g"):format(np.linalg.norm(output:ravel():astype("float64"))()))
