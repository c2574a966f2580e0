"""azimint_hist for Numba, which lacks histograms with weights: each thread counts in bins of its own."""
import numba
import numpy as np


@numba.njit(parallel=True, fastmath=True, error_model="numpy")
def work(n, bins):
    data, radius = np.arange(n) * 0.8191725133961645 % 1, np.arange(n) * 0.6710436067037893 % 1
    low, high, threads = radius.min(), radius.max(), numba.get_num_threads()
    count, total = np.zeros((threads, bins), np.int64), np.zeros((threads, bins))
    for t in numba.prange(threads):
        for i in range(n * t // threads, n * (t + 1) // threads):
            bin = min(int((radius[i] - low) / (high - low) * bins), bins - 1)
            count[t, bin] += 1
            total[t, bin] += data[i]
    mean = total.sum(0) / count.sum(0)
    return mean.sum(), np.linalg.norm(mean)
