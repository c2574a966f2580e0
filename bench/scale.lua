-- What one rank of many issues:  lgt --pretend-ranks N --as-rank R scale.lua stencil|cg
-- Arrays grow with the ranks, so that each has the same share.
local np = require "array"
local lgt = require "lgt"

local iterate = {}

function iterate.stencil(ranks)
  local grid = np.zeros(512 * ranks + 2, 2050)
  local center, north, south = grid["2:-2, 2:-2"], grid[":-3, 2:-2"], grid["3:, 2:-2"]
  local west, east = grid["2:-2, :-3"], grid["2:-2, 3:"]
  return function() center["..."] = 0.2 * (center + north + east + west + south) end
end

-- Conjugate gradients for the matrix [-1, 2, -1].
function iterate.cg(ranks)
  local n = 200000 * ranks
  local r = np.ones(n)
  local x, p, Ap = np.zeros(n), r:copy(), np.zeros(n)
  local rr = r:dot(r)
  return function()
    Ap["2:-2"] = 2 * p["2:-2"] - p[":-3"] - p["3:"]
    local alpha = rr / p:dot(Ap)
    x = x + alpha * p
    r = r - alpha * Ap
    local new = r:dot(r)
    p = r + (new / rr) * p
    rr = new
  end
end

local turn = iterate[arg[1]](lgt.size())

-- The last window before a fence is shorter than the others, and has a plan of its own; and the next one finds what
-- that left, other memory and other histories, for which there are records and templates of their own.
local function turns()
  for _ = 1, 300 do turn() end
  lgt.fence()
end

for _ = 1, 6 do turns() end
lgt.stats_reset()
turns()
