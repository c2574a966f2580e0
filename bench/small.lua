-- What an operation on a small array costs:  lgt small.lua N OPERATIONS FORM
--
-- A turn is a loop body of so many operations, a chain of additions and multiplications.  FORM is
--   end       seconds until everything is computed
--   issue     seconds that the operations take the Lua thread, without the work of the runtime: each
--             turn begins with an empty window, flushed outside of the clock
-- A request for n turns is one loop of n turns, as a script would have it.
local lgt = require "lgt"
local contest = require "contest"

local n, operations, form = tonumber(arg[1]), tonumber(arg[2]), arg[3]
local chain = ("x = x * h + y\n"):rep(math.floor(operations / 2))
local source = {}
source["end"] = ([[
local x, y, h, turns, lgt = ...
local begin = lgt.time()
for _ = 1, turns do
  %s
end
lgt.fence()
return x, lgt.time() - begin
]]):format(chain)
source.issue = ([[
local x, y, h, turns, lgt = ...
local total = 0
for _ = 1, turns do
  lgt.flush()
  local begin = lgt.time()
  %s
  total = total + (lgt.time() - begin)
end
lgt.fence()
return x, total
]]):format(chain)
local loop = assert(loadstring(source[form], "=chain"))

local y = contest.fraction(n, 0.6180339887498949, 0, 1, "float64")
local x = loop(y, y, 0.5, 1, lgt)
io.write(("ready %.17g\n"):format(y:mean():item()))
io.flush()
for line in io.lines() do
  local elapsed
  x, elapsed = loop(x, y, 0.5, tonumber(line), lgt)
  io.write(("%.9f\n"):format(elapsed))
  io.flush()
end
