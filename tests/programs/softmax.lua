-- Probabilities out of scores, along the last of four axes.
--
--   lgt tests/programs/softmax.lua [batch] [heads] [size]
local np = require "array"

local N, H, SM = tonumber(arg[1]) or 16, tonumber(arg[2]) or 16, tonumber(arg[3]) or 128

local x = (np.arange(N * H * SM * SM) * 0.8191725133961645 % 1):reshape(N, H, SM, SM):astype("float32")

-- Numerically-stable version of softmax
local function softmax(scores)
  local tmp_max = np.max(scores, { axis = -1, keepdims = true })
  local tmp_out = np.exp(scores - tmp_max)
  local tmp_sum = np.sum(tmp_out, { axis = -1, keepdims = true })
  return tmp_out / tmp_sum
end
local out = softmax(x)

print("dtype     " .. out.dtype)
print(("sum       %.6g"):format(out:sum { dtype = "float64" }()))
print(("norm      %.6g"):format(np.linalg.norm(out:ravel():astype("float64"))()))
