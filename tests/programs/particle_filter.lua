-- Where somebody is who walks and is heard: particles, weighed by how likely they are and drawn again by their weights.
local np = require "array"

local n, turns = tonumber(arg[1]) or 50000, tonumber(arg[2]) or 8
local i = np.arange(n)
local function spread(t) return (i * 7919 + t * 104729) % 10007 / 10007 - 0.5 end

local p, w, drawn = 10 * (spread(0) + 0.5), np.ones(n) / n, 0
for t = 1, turns do
  p = p + 1 + 0.2 * spread(t)
  w:imul(np.exp(-0.5 * ((p - (3 + t)) / 0.5) ^ 2))
  w:idiv(w:sum())
  if 1 / np.sum(w ^ 2) < n / 2 then
    local sums = np.cumsum(w)
    sums[-1] = 1
    p, w, drawn = p[np.searchsorted(sums, (i + 0.5) / n)], np.full(n, 1 / n), drawn + 1
  end
end
local mean = np.average(p, {weights = w})
print("drawn " .. drawn)
print(("mean  %.12g"):format(mean:item()))
print(("width %.12g"):format(np.sqrt(np.average((p - mean) ^ 2, {weights = w})):item()))
