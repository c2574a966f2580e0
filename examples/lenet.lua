-- LeNet-5: two convolutions with pooling, then three layers of products.
--
--   lgt examples/lenet.lua [n] [height] [width]
local np = require "array"

local n, height, width = tonumber(arg[1]) or 16, tonumber(arg[2]) or 128, tonumber(arg[3]) or 128

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
local function pool(x) -- the greatest of two by two
  local rows, columns = x.shape[2] - x.shape[2] % 2, x.shape[3] - x.shape[3] % 2
  local function corner(i, j) return x[{ {}, { i, rows, step = 2 }, { j, columns, step = 2 }, {} }] end
  return np.maximum(np.maximum(corner(1, 1), corner(1, 2)), np.maximum(corner(2, 1), corner(2, 2)))
end

local x = spread(n, height, width, 1)
x = pool(relu(conv2d(x, spread(5, 5, 1, 6)) + spread(6)))
x = pool(relu(conv2d(x, spread(5, 5, 6, 16)) + spread(16)))
x = x:reshape(n, -1)
x = relu(x:dot(spread(x.shape[2], 120)) + spread(120))
x = relu(x:dot(spread(120, 84)) + spread(84))
x = x:dot(spread(84, 10)) + spread(10)

print(("sum       %.12g"):format(x:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(x)()))
