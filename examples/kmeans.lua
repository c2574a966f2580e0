-- k-means clustering (Lloyd's algorithm).
--
--   lgt examples/kmeans.lua [points] [clusters] [iterations]
--
-- Squared distances are |x|^2 - 2 x.c + |c|^2, so that a matrix product does most of the work; a
-- matrix with one 1 in each row turns the new centres into another product.  After Legate's example.
local np = require "array"

local n = tonumber(arg[1]) or 20000
local k = tonumber(arg[2]) or 8
local iterations = tonumber(arg[3]) or 20
local dims = 4

-- Points scattered around k places, in turn.
local i, j = np.arange(n)[":, *"], np.arange(dims)["*, :"]
local places = 1.5 * np.sin(2.3 * (i % k) + 1.1 * j)
local data = places + np.sin((i + 1) * (j + 1) * 1.7)
local data_dots = np.sum(data * data, {axis = 2})

-- From each point to each centre.
local function squared_distances(centres)
  local centre_dots = np.sum(centres * centres, {axis = 2})
  return data_dots[":, *"] - 2 * data:dot(centres.T) + centre_dots["*, :"]
end

local centres = data[{{1, k}, {}}]
local labels
for _ = 1, iterations do
  labels = np.argmin(squared_distances(centres), {axis = 2})
  local member = labels[":, *"]:eq(np.span(1, k)["*, :"]):astype("float64")
  local counts = np.sum(member, {axis = 1})
  centres = member.T:dot(data) / counts[":, *"]
end

local inertia = np.sum(np.min(squared_distances(centres), {axis = 2}))
print(("points   %d"):format(n))
print(("inertia  %.12g"):format(inertia:item()))
print(("centres  %.12g"):format(np.sum(np.abs(centres)):item()))
print(("labels   %d"):format(np.sum(labels):item()))
