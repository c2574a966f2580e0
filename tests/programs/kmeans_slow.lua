-- k-means clustering in single precision: the new centres by a mask for each cluster.
--
--   lgt tests/programs/kmeans_slow.lua [points] [clusters] [iterations] [dtype]
local np = require "array"

local N, C, iterations = tonumber(arg[1]) or 10000, tonumber(arg[2]) or 10, tonumber(arg[3]) or 30
local T = arg[4] or "float32"
local D, S = 2, 5

local function spread(shape, seed)
  return ((np.arange(shape[1] * shape[2]) + seed) * 0.8191725133961645 % 1):reshape(shape)
end

local function initialize()
  local data = spread({ N, D }, 1):astype(T)
  local centroids = spread({ C, D }, 7):astype(T)
  return data, centroids
end

local function calculate_distances(data, centroids, data_dots)
  local centroid_dots = np.square(np.linalg.norm(centroids, { ord = 2, axis = 2 }))
  local pairwise_distances = data_dots[{ {}, np.newaxis }] + centroid_dots[{ np.newaxis, {} }]
  pairwise_distances:isub(2.0 * np.dot(data, centroids.T))
  return pairwise_distances
end

local function relabel(pairwise_distances) return np.argmin(pairwise_distances, { axis = 2 }) end

local function find_centroids(centroids, data, labels, pairwise_distances, zero_point)
  -- Get the number of points associated with each centroid
  local counts = np.bincount(labels, { minlength = C })
  local distance_sum = 0.0
  for idx = 1, C do
    -- Boolean mask indicating where the points are for this center
    local centroid_mask = labels:eq(idx)
    centroids[{ idx, {} }] = np.sum(np.where(centroid_mask["..., *"], data, zero_point), { axis = 1 })
    distance_sum = distance_sum + np.sum(np.where(centroid_mask, pairwise_distances[{ {}, idx }], 0.0))
  end
  -- A centre without points keeps coordinates that are defined
  counts = np.maximum(counts, np.ones({ 1 }, { dtype = np.uint64 }))
  centroids:idiv(counts[{ {}, np.newaxis }])
  return distance_sum
end

local data, centroids = initialize()
local data_dots = np.square(np.linalg.norm(data, { ord = 2, axis = 2 }))
local zero_point = np.zeros({ 1, data.shape[2] }, { dtype = data.dtype })
local labels, prior_distance_sum
local iteration = 0
while iteration < iterations do
  local pairwise_distances = calculate_distances(data, centroids, data_dots)
  local new_labels = relabel(pairwise_distances)
  local distance_sum = find_centroids(centroids, data, new_labels, pairwise_distances, zero_point)
  if iteration > 0 and iteration % S == 0 then
    local total_changes = np.sum(np.not_equal(labels, new_labels))
    local delta = distance_sum / prior_distance_sum
    print(("Iteration %d produced %d changes, and total distance is %.6g"):format(iteration, total_changes:item(),
      distance_sum:item()))
    if delta > 1 - 0.000001 then
      print("Threshold triggered, terminating iterations early")
      break
    end
  end
  prior_distance_sum, labels = distance_sum, new_labels
  iteration = iteration + 1
end
print(("Final distance sum at iteration %d: %.6g"):format(iteration, prior_distance_sum:item()))
