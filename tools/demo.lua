-- What `make demo` runs:  lgt tools/demo.lua [cells per side] [steps] [picture.png]
--
-- examples/shallow_water.lua at a real size, and afterwards what the runtime made of it.
local lgt = require "lgt"

local n, steps = tonumber(arg[1]) or 500, tonumber(arg[2]) or 600
local picture = arg[3] or "shallow_water.png"
local script = "examples/shallow_water.lua"

print(("lgt %s %d %d %s"):format(script, n, steps, picture))
arg = {[0] = script, tostring(n), tostring(steps), picture}
local begin = lgt.time()
dofile(script)
lgt.fence()
local seconds = lgt.time() - begin

local s = lgt.stats()
print()
print(("%.2f s, %.1f ms a step, %.1f million cells a second"):format(seconds, 1e3 * seconds / steps,
  n * n * steps / seconds / 1e6))
print(("%d array operations (%.0f a step) ran as %d tasks; %d temporaries were never stored"):format(s.launches,
  s.launches / steps, s.tasks, s.temporaries_elided))
print(("%d kernels were compiled, %d came from the disk cache"):format(s.kernels_compiled, s.kernels_loaded))
print(("at most %.0f MB of arrays at a time; one is %.1f MB"):format(s.bytes_peak / 1e6, n * n * 8 / 1e6))
print("the depth of the water at the end: " .. picture)
