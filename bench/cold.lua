-- What the first use of a kernel costs:  lgt cold.lua
-- Prints the seconds of two expressions, each evaluated for the first and for the second time.  bench/run
-- runs it twice with a new cache directory: in the second run the kernels come from disk.
local np = require "array"
local lgt = require "lgt"

local x = np.arange(1000) * 0.001
lgt.fence()

local function first(a, b) return np.exp(a * x + b) * (x - a) + np.sqrt(x * b + 1) end
local function second(a, b) return np.log(x * a + 1) / (x + b) - np.tanh(x * b) * a end

for _, expression in ipairs {first, second} do
  for _ = 1, 2 do
    local begin = lgt.time()
    local y = expression(2, 3)
    lgt.fence()
    io.write(("%.9f "):format(lgt.time() - begin))
    assert(y:mean():item() ~= nil)
  end
end
print()
