"""k-means clustering in single precision: new centres by counting with weights, and again by masks."""
import sys

import numpy as np

N, C, iterations = map(int, sys.argv[1:4])
D, S = 3, 5

i, j = np.arange(N)[:, None], np.arange(D)[None, :]
data = 1.5 * np.sin(2.3 * (i % C) + 1.1 * j) + 0.4 * np.sin((i + 1) * (j + 1) * 1.7)


def calculate_distances(data, centroids, data_dots):
    centroid_dots = np.square(np.linalg.norm(centroids, ord=2, axis=1))
    pairwise_distances = data_dots[:, np.newaxis] + centroid_dots[np.newaxis, :]
    pairwise_distances -= 2.0 * np.dot(data, centroids.T)
    return pairwise_distances


def find_centroids(centroids, data, labels, pairwise_distances, zero_point):
    counts = np.bincount(labels, minlength=C)
    for idx in range(data.shape[1]):
        centroids[:, idx] = np.bincount(labels, weights=data[:, idx], minlength=C)
    distance_sum = np.sum(np.amin(pairwise_distances, axis=1))
    counts = np.maximum(counts, np.ones((1,), dtype=np.uint64))
    centroids /= counts[:, np.newaxis]
    return distance_sum


def find_centroids_slowly(centroids, data, labels, pairwise_distances, zero_point):
    counts = np.bincount(labels, minlength=C)
    distance_sum = 0.0
    for idx in range(C):
        centroid_mask = labels == idx
        centroids[idx, :] = np.sum(np.where(centroid_mask[..., np.newaxis], data, zero_point), axis=0)
        distance_sum += np.sum(np.where(centroid_mask, pairwise_distances[:, idx], 0.0))
    counts = np.maximum(counts, np.ones((1,), dtype=np.uint64))
    centroids /= counts[:, np.newaxis]
    return distance_sum


for find in (find_centroids, find_centroids_slowly):
    centroids = data[:C].copy() + 0.01
    data_dots = np.square(np.linalg.norm(data, ord=2, axis=1))
    zero_point = np.zeros((1, data.shape[1]), dtype=data.dtype)
    labels = prior = None
    for iteration in range(iterations):
        pairwise_distances = calculate_distances(data, centroids, data_dots)
        new_labels = np.argmin(pairwise_distances, axis=1)
        distance_sum = find(centroids, data, new_labels, pairwise_distances, zero_point)
        if iteration > 0 and iteration % S == 0:
            changes = np.not_equal(labels, new_labels)
            print("Iteration %d produced %d changes, and total distance is %.9g" % (iteration, np.sum(changes),
                                                                                distance_sum))
            if distance_sum / prior > 1 - 0.000001:
                break
        prior, labels = distance_sum, new_labels
    print("centres   %.9g" % np.sum(np.abs(centroids)))
