"""k-means clustering: the new centres from the points in the order of their clusters, split where the next begins."""
import sys

import numpy as np

N, C, iterations = map(int, sys.argv[1:4])
D, S = 2, 5


def spread(shape, seed):
    return ((np.arange(shape[0] * shape[1]) + seed) * 0.8191725133961645 % 1).reshape(shape)


def calculate_distances(data, centroids, data_dots):
    centroid_dots = np.square(np.linalg.norm(centroids, ord=2, axis=1))
    pairwise_distances = data_dots[:, np.newaxis] + centroid_dots[np.newaxis, :]
    pairwise_distances -= 2.0 * np.dot(data, centroids.T)
    return pairwise_distances


def relabel(pairwise_distances, data_index):
    new_labels = np.argmin(pairwise_distances, axis=1)
    distances = pairwise_distances[data_index, new_labels]
    return new_labels, distances


def find_centroids(data, labels):
    indices = np.argsort(labels)
    sorted_points = data[indices]
    counts = np.bincount(labels, minlength=C)
    indexes = np.cumsum(counts)
    centroids = np.empty((C, D), dtype=data.dtype)
    ragged_arrays = np.split(sorted_points, indexes)
    for idx in range(C):
        centroids[idx, :] = np.sum(ragged_arrays[idx], axis=0)
    counts = np.maximum(counts, 1)
    return centroids / counts[:, np.newaxis]


data, centroids = spread((N, D), 1), spread((C, D), 7)
data_dots = np.square(np.linalg.norm(data, ord=2, axis=1))
data_index = np.linspace(0, N - 1, N, dtype=np.int_)
labels = prior_distance_sum = None
iteration = 0
while iteration < iterations:
    pairwise_distances = calculate_distances(data, centroids, data_dots)
    new_labels, distances = relabel(pairwise_distances, data_index)
    distance_sum = np.sum(distances)
    centroids = find_centroids(data, new_labels)
    if iteration > 0 and iteration % S == 0:
        total_changes = np.sum(np.not_equal(labels, new_labels))
        delta = distance_sum / prior_distance_sum
        print("Iteration %d produced %d changes, and total distance is %.12g" % (iteration, total_changes, distance_sum))
        if delta > 1 - 0.000001:
            print("Threshold triggered, terminating iterations early")
            break
    prior_distance_sum, labels = distance_sum, new_labels
    iteration += 1
print("Final distance sum at iteration %d: %.12g" % (iteration, prior_distance_sum))
