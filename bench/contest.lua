-- What the contestants written for lgt share: the protocol (rivals/rival.h explains it), the data, and
-- expressions given as text.
local np = require "array"
local lgt = require "lgt"

local contest = {}

-- n elements lo + (hi - lo) * fraction(i * k).
function contest.fraction(n, k, lo, hi, dtype)
  local x = np.arange(n, {dtype = "float64"}) * k
  x = (x - np.floor(x)) * (hi - lo) + lo
  return dtype == "float64" and x or x:astype(dtype)
end

-- contest.compile("a, b", "a + 2*b") is function(a, b) return a + 2*b end.
function contest.compile(names, expression)
  local source = ("local %s = ... return %s"):format(names, expression)
  return assert(loadstring(source, "=" .. expression))
end

-- Serve requests: turn() does the work once; check() gives the numbers that tell what was computed.
-- Each turn ends with a fence, so that nothing can be left undone, or done once for several turns.
-- `clock`: what tells the seconds, if not lgt.time.
function contest.serve(turn, check, clock)
  clock = clock or lgt.time
  turn()
  local values = {}
  for _, value in ipairs {check()} do values[#values + 1] = ("%.17g"):format(value) end
  io.write("ready ", table.concat(values, " "), "\n")
  io.flush()
  for line in io.lines() do
    local turns, begin = tonumber(line), clock()
    for _ = 1, turns do
      turn()
      lgt.fence()
    end
    io.write(("%.9f\n"):format(clock() - begin))
    io.flush()
  end
end

return contest
