"""k-means clustering in single precision: the new centres by a mask for each cluster."""
import sys

import numpy as np

N, C, iterations = map(int, sys.argv[1:4])
T = sys.argv[4] if len(sys.argv) > 4 else "float32"
D, S = 2, 5


def spread(shape, seed):
    return ((np.arange(shape[0] * shape[1]) + seed) * 0.8191725133961645 % 1).reshape(shape)


def initialize():
    data = spread((N, D), 1).astype(T)
    centroids = spread((C, D), 7).astype(T)
    return data, centroids


def calculate_distances(data, centroids, data_dots):
    centroid_dots = np.square(np.linalg.norm(centroids, ord=2, axis=1))
    pairwise_distances = data_dots[:, np.newaxis] + centroid_dots[np.newaxis, :]
    pairwise_distances -= 2.0 * np.dot(data, centroids.T)
    return pairwise_distances


def relabel(pairwise_distances):
    return np.argmin(pairwise_distances, axis=1)


def find_centroids(centroids, data, labels, pairwise_distances, zero_point):
    counts = np.bincount(labels, minlength=C)
    distance_sum = 0.0
    for idx in range(C):
        centroid_mask = labels == idx
        centroids[idx, :] = np.sum(np.where(centroid_mask[..., np.newaxis], data, zero_point), axis=0)
        distance_sum += np.sum(np.where(centroid_mask, pairwise_distances[:, idx], 0.0))
    counts = np.maximum(counts, np.ones((1,), dtype=np.uint64))
    centroids /= counts[:, np.newaxis]
    return distance_sum


data, centroids = initialize()
data_dots = np.square(np.linalg.norm(data, ord=2, axis=1))
zero_point = np.zeros((1, data.shape[1]), dtype=data.dtype)
labels = prior_distance_sum = None
iteration = 0
while iteration < iterations:
    pairwise_distances = calculate_distances(data, centroids, data_dots)
    new_labels = relabel(pairwise_distances)
    distance_sum = find_centroids(centroids, data, new_labels, pairwise_distances, zero_point)
    if iteration > 0 and iteration % S == 0:
        total_changes = np.sum(np.not_equal(labels, new_labels))
        delta = distance_sum / prior_distance_sum
        print("Iteration %d produced %d changes, and total distance is %.6g" % (iteration, total_changes, distance_sum))
        if delta > 1 - 0.000001:
            print("Threshold triggered, terminating iterations early")
            break
    prior_distance_sum, labels = distance_sum, new_labels
    iteration += 1
print("Final distance sum at iteration %d: %.6g" % (iteration, prior_distance_sum))
