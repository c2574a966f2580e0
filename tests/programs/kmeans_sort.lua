-- k-means clustering: the new centres from the points in the order of their clusters, split where the next begins.
--
--   lgt tests/programs/kmeans_sort.lua [points] [clusters] [iterations]
local np = require "array"

local N, C, iterations = tonumber(arg[1]) or 10000, tonumber(arg[2]) or 10, tonumber(arg[3]) or 30
local D, S = 2, 5

local function spread(shape, seed)
  return ((np.arange(shape[1] * shape[2]) + seed) * 0.8191725133961645 % 1):reshape(shape)
end

local function calculate_distances(data, centroids, data_dots)
  local centroid_dots = np.square(np.linalg.norm(centroids, { ord = 2, axis = 2 }))
  local pairwise_distances = data_dots[{ {}, np.newaxis }] + centroid_dots[{ np.newaxis, {} }]
  pairwise_distances:isub(2.0 * np.dot(data, centroids.T))
  return pairwise_distances
end

local function relabel(pairwise_distances, data_index)
  local new_labels = np.argmin(pairwise_distances, { axis = 2 })
  local distances = pairwise_distances[{ data_index, new_labels }]
  return new_labels, distances
end

local function find_centroids(data, labels)
  -- Sort the points by their labels
  local indices = np.argsort(labels)
  local sorted_points = data[indices]
  -- Where the points of the next centroid begin
  local counts = np.bincount(labels, { minlength = C })
  local indexes = np.cumsum(counts) + 1
  local centroids = np.empty({ C, D }, { dtype = data.dtype })
  local ragged_arrays = np.split(sorted_points, indexes)
  for idx = 1, C do centroids[{ idx, {} }] = np.sum(ragged_arrays[idx], { axis = 1 }) end
  -- A centre without points keeps coordinates that are defined
  counts = np.maximum(counts, 1)
  return centroids / counts[{ {}, np.newaxis }]
end

local data, centroids = spread({ N, D }, 1), spread({ C, D }, 7)
local data_dots = np.square(np.linalg.norm(data, { ord = 2, axis = 2 }))
local data_index = np.linspace(1, N, N, { dtype = np.int_ })
local labels, prior_distance_sum
local iteration = 0
while iteration < iterations do
  local pairwise_distances = calculate_distances(data, centroids, data_dots)
  local new_labels, distances = relabel(pairwise_distances, data_index)
  local distance_sum = np.sum(distances)
  centroids = find_centroids(data, new_labels)
  if iteration > 0 and iteration % S == 0 then
    local total_changes = np.sum(np.not_equal(labels, new_labels))
    local delta = distance_sum / prior_distance_sum
    print(("Iteration %d produced %d changes, and total distance is %.12g"):format(iteration, total_changes:item(),
      distance_sum:item()))
    if delta > 1 - 0.000001 then
      print("Threshold triggered, terminating iterations early")
      break
    end
  end
  prior_distance_sum, labels = distance_sum, new_labels
  iteration = iteration + 1
end
print(("Final distance sum at iteration %d: %.12g"):format(iteration, prior_distance_sum:item()))
