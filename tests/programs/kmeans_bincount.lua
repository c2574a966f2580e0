-- k-means clustering in single precision: new centres by counting with weights, and again by masks.
--
--   lgt tests/programs/kmeans_bincount.lua [points] [clusters] [iterations]
local np = require "array"

local N, C, iterations = tonumber(arg[1]) or 10000, tonumber(arg[2]) or 10, tonumber(arg[3]) or 30
local D, S = 3, 5

local i, j = np.arange(N)[":, *"], np.arange(D)["*, :"]
local data = 1.5 * np.sin(2.3 * (i % C) + 1.1 * j) + 0.4 * np.sin((i + 1) * (j + 1) * 1.7)

local function calculate_distances(centroids, data_dots)
  local centroid_dots = np.square(np.linalg.norm(centroids, 2, 2))
  local pairwise_distances = data_dots[{ {}, np.newaxis }] + centroid_dots[{ np.newaxis, {} }]
  pairwise_distances:isub(2.0 * np.dot(data, centroids.T))
  return pairwise_distances
end

local function find_centroids(centroids, labels, pairwise_distances)
  -- Get the number of points associated with each centroid
  local counts = np.bincount(labels, { minlength = C })
  for idx = 1, D do
    centroids[{ {}, idx }] = np.bincount(labels, { weights = data[{ {}, idx }], minlength = C })
  end
  local distance_sum = np.sum(np.amin(pairwise_distances, 2))
  counts = np.maximum(counts, np.ones({ 1 }, { dtype = "uint64" }))
  centroids:idiv(counts[{ {}, np.newaxis }])
  return distance_sum
end

local zero_point = np.zeros({ 1, D }, { dtype = data.dtype })
local function find_centroids_slowly(centroids, labels, pairwise_distances)
  local counts = np.bincount(labels, { minlength = C })
  local distance_sum = 0.0
  for idx = 1, C do
    -- Boolean mask indicating where the points are for this center
    local centroid_mask = labels:eq(idx)
    centroids[idx] = np.sum(np.where(centroid_mask[{ "...", np.newaxis }], data, zero_point), 1)
    distance_sum = distance_sum + np.sum(np.where(centroid_mask, pairwise_distances[{ {}, idx }], 0.0))
  end
  counts = np.maximum(counts, np.ones({ 1 }, { dtype = "uint64" }))
  centroids:idiv(counts[{ {}, np.newaxis }])
  return distance_sum
end

for _, find in ipairs { find_centroids, find_centroids_slowly } do
  local centroids = data[{ { 1, C }, {} }]:copy() + 0.01
  local data_dots = np.square(np.linalg.norm(data, { ord = 2, axis = 2 }))
  local labels, prior
  for iteration = 0, iterations - 1 do
    local pairwise_distances = calculate_distances(centroids, data_dots)
    local new_labels = np.argmin(pairwise_distances, 2)
    local distance_sum = find(centroids, new_labels, pairwise_distances)
    if iteration > 0 and iteration % S == 0 then
      local changes = np.not_equal(labels, new_labels)
      local total_changes = np.sum(changes)
      print(("Iteration %d produced %d changes, and total distance is %.9g"):format(iteration,
        total_changes:item(), distance_sum:item()))
      if distance_sum / prior > 1 - 0.000001 then break end
    end
    prior, labels = distance_sum, new_labels
  end
  print(("centres   %.9g"):format(np.sum(np.abs(centroids)):item()))
end
