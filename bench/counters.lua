-- Runs one of the examples and prints its output, its seconds and the runtime's counters as one line of
-- JSON:  lgt counters.lua FILE ARGUMENTS...
require "array"
local lgt = require "lgt"

local file = table.remove(arg, 1)
arg[0] = file
local script = assert(loadfile(file))
lgt.fence()
lgt.stats_reset()
local begin = lgt.time()
script()
lgt.fence()

local fields = {('"seconds": %.6f'):format(lgt.time() - begin)}
for name, value in pairs(lgt.stats()) do
  if type(value) == "number" then fields[#fields + 1] = ('"%s": %.17g'):format(name, value) end
end
table.sort(fields)
print("{" .. table.concat(fields, ", ") .. "}")
