-- How a strand of RNA may fold: the most pairs that bases can form, by dynamic programming.
--
--   lgt examples/nussinov.lua [n]
local np = require "array"

local n = tonumber(arg[1]) or 300

local strand = (np.span(1, n) % 4):astype("int32")
local most = np.zeros(n, n, { dtype = "int32" })
local bases = strand:totable()
most:host("rw", function(p) -- each element depends on those below and before it
  local max = math.max
  for i = n - 2, 0, -1 do
    for j = i + 1, n - 1 do
      local best = max(p[i * n + j - 1], p[(i + 1) * n + j])
      local pair = i < j - 1 and bases[i + 1] + bases[j + 1] == 3 and 1 or 0
      best = max(best, p[(i + 1) * n + j - 1] + pair)
      for k = i + 1, j - 1 do best = max(best, p[i * n + k] + p[(k + 1) * n + j]) end
      p[i * n + j] = best
    end
  end
end)

print(("pairs     %d"):format(most(1, n)))
print(("sum       %d"):format(most:sum()()))
