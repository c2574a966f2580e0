/* peak.c - what this machine can do at most, with all cores and without touching memory.
 *
 *   peak        prints one JSON object: fma_gflops, and nanoseconds of one element of the vector functions
 *
 * Each figure is the best of several runs over 4096 elements that stay in each core's first-level cache.
 */
#include <tgmath.h>

#include "rival.h"

#include <omp.h>

enum { N = 4096, TRIES = 20 };

/* Independent chains of fma, enough to cover its latency. */
static double fma_gflops(void) {
  enum { CHAINS = 128, STEPS = 200000 };
  double best = 0;
  for (int try = 0; try < TRIES; try++) {
    int threads = 1;
    double sink = 0, begin = seconds();
#pragma omp parallel reduction(+ : sink)
    {
      threads = omp_get_num_threads();
      REAL x[CHAINS];
      for (int k = 0; k < CHAINS; k++) x[k] = k;
      for (int i = 0; i < STEPS; i++)
#pragma omp simd
        for (int k = 0; k < CHAINS; k++) x[k] = x[k] * (REAL)0.999 + (REAL)0.001;
      for (int k = 0; k < CHAINS; k++) sink += x[k];
    }
    double rate = 2.0 * CHAINS * STEPS * threads / (seconds() - begin) / 1e9;
    if (rate > best && sink != 0.5) best = rate;
  }
  return best;
}

#define MEASURE(name, expression)                                                    \
  static double ns_##name(void) {                                                    \
    enum { REPEAT = 100 };                                                           \
    double best = 1e9;                                                               \
    for (int try = 0; try < TRIES; try++) {                                          \
      int threads = 1;                                                               \
      double begin = seconds();                                                      \
      _Pragma("omp parallel") {                                                      \
        static _Thread_local REAL from[N], to[N];                                    \
        threads = omp_get_num_threads();                                             \
        for (int i = 0; i < N; i++) from[i] = 1 + (REAL)i / N;                       \
        for (int k = 0; k < REPEAT; k++) {                                           \
          _Pragma("omp simd") for (int i = 0; i < N; i++) {                          \
            const REAL x = from[i];                                                  \
            to[i] = (expression);                                                    \
          }                                                                          \
          from[k % N] = to[k % N] > 0 ? from[k % N] : 1; /* each pass counts */      \
          __asm__ volatile("" ::: "memory");                                         \
        }                                                                            \
      }                                                                              \
      best = fmin(best, (seconds() - begin) / ((double)N * REPEAT * threads) * 1e9); \
    }                                                                                \
    return best;                                                                     \
  }
MEASURE(exp, exp(x))
MEASURE(log, log(x))
MEASURE(erf, erf(x))
MEASURE(sqrt, sqrt(x))
MEASURE(div, 1 / x)

int main(void) {
  printf("{\"fma_gflops\": %.1f, \"exp\": %.4f, \"log\": %.4f, \"erf\": %.4f, \"sqrt\": %.4f, \"div\": %.4f}\n",
         fma_gflops(), ns_exp(), ns_log(), ns_erf(), ns_sqrt(), ns_div());
  return 0;
}
