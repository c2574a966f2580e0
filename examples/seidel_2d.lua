-- Gauss and Seidel: each element becomes the mean of its neighbours, of which some are new already.
--
--   lgt examples/seidel_2d.lua [n] [steps]
local np = require "array"

local n, steps = tonumber(arg[1]) or 200, tonumber(arg[2]) or 20

local A = (np.arange(n)[":, *"] * (np.arange(n) + 2) + 2) / n
A:host("rw", function(p) -- elements depend on those before: a loop over memory
  for _ = 1, steps - 1 do
    for i = 1, n - 2 do
      local up, here, down = p + (i - 1) * n, p + i * n, p + (i + 1) * n
      for j = 1, n - 2 do
        here[j] = (up[j - 1] + up[j] + up[j + 1] + here[j - 1] + here[j] + here[j + 1] + down[j - 1] + down[j] +
          down[j + 1]) / 9
      end
    end
  end
end)

print(("sum       %.12g"):format(A:sum()()))
print(("norm      %.12g"):format(np.linalg.norm(A)()))
