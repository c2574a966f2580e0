-- Edges in an image by recursive filters, along rows and along columns, there and back.
--
--   lgt examples/deriche.lua [w] [h]
local np = require "array"

local w, h = tonumber(arg[1]) or 400, tonumber(arg[2]) or 200

local image = (313 * np.arange(w)[":, *"] + 991 * np.arange(h)) % 65536 / 65535
local alpha = 0.25
local decay = math.exp(-alpha)
local k = (1 - decay) ^ 2 / (1 + alpha * math.exp(2 * alpha) - math.exp(2 * alpha))
local a1, a2, a3, a4 = k, k * decay * (alpha - 1), k * decay * (alpha + 1), -k * math.exp(-2 * alpha)
local b1, b2 = 2 ^ -alpha, -math.exp(-2 * alpha)

-- Along the second axis, all rows at once.
local function smooth(x)
  local n = x.shape[2]
  local there, back = np.zeros_like(x), np.zeros_like(x)
  local function column(a, j) return a[{ {}, j }] end
  for j = 1, n do
    local y = a1 * column(x, j)
    if j > 1 then y = y + a2 * column(x, j - 1) + b1 * column(there, j - 1) end
    if j > 2 then y = y + b2 * column(there, j - 2) end
    there[{ {}, j }] = y
  end
  for j = n - 1, 1, -1 do
    local y = a3 * column(x, j + 1) + b1 * column(back, j + 1)
    if j < n - 1 then y = y + a4 * column(x, j + 2) + b2 * column(back, j + 2) end
    back[{ {}, j }] = y
  end
  return there + back
end
local result = smooth(smooth(image).T).T

print(("sum       %.12g"):format(result:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(result)()))
