/* operands.c - reads and writes what a product of a matrix of 5 points and a vector cannot do without: the values, five a
 * row, the vector, the result: 56 bytes a row.
 *
 *   operands N [csr]     rows; with plain stores, or with non-temporal ones if built with -DSTREAM
 *
 * csr: also as many bytes as the format has of columns, of 4 bytes for each value, and of where rows begin, of 4: 80 a row.
 * Each element of the result is a sum of as many numbers as a row has, only not of its own.
 */
#include "rival.h"

#include <immintrin.h>

#ifdef __AVX512F__
typedef __m512d vector;
#define STORE_PAST_CACHES _mm512_stream_pd
#else
typedef __m256d vector;
#define STORE_PAST_CACHES _mm256_stream_pd
#endif
enum { WIDTH = sizeof(vector) / sizeof(double) };

static int64_t n;
static double *values, *indices, *x, *y;

static void work(void) {
  const vector *v = (const vector *)values, *from = (const vector *)x, *at = (const vector *)indices;
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int64_t i = 0; i < n / WIDTH; i++) {
      vector sum = from[i] + v[5 * i] + v[5 * i + 1] + v[5 * i + 2] + v[5 * i + 3] + v[5 * i + 4];
      if (at) sum += at[3 * i] + at[3 * i + 1] + at[3 * i + 2];
#ifdef STREAM
      STORE_PAST_CACHES(y + i * WIDTH, sum);
#else
      *(vector *)(y + i * WIDTH) = sum;
#endif
    }
#ifdef STREAM
    _mm_sfence();
#endif
  }
}

int main(int argc, char **argv) {
  n = (argc > 1 ? atoll(argv[1]) : 1 << 20) / WIDTH * WIDTH;
  values = array_new(5 * n), x = array_new(n), y = array_new(n);
  array_fill(values, 5 * n, 0.6180339887498949, 0, 1);
  array_fill(x, n, 0.4142135623730951, 0, 1);
  array_fill(y, n, 0, 0, 0);
  if (argc > 2) {
    indices = array_new(3 * n);
    array_fill(indices, 3 * n, 0.7320508075688772, 0, 1);
  }
  work();
  printf("ready %.17g\n", array_mean(y, n));
  fflush(stdout);
  serve(work);
  return 0;
}
