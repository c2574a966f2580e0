/* triad.c - STREAM's triad, a = b + s*c, in plain C and OpenMP.
 *
 *   triad N     with plain stores, or with non-temporal ones if built with -DSTREAM
 *
 * EXPR is the expression, for its mutants: in the elements b and c and the numbers s and t.
 */
#include "rival.h"

#ifdef STREAM
#include <immintrin.h>
#endif
#ifndef EXPR
#define EXPR b + s * c
#endif

static int64_t n;
static REAL *A, *B, *C;
static volatile double S = 3, T = 0.5; /* not known to the compiler */

#ifndef STREAM
static void work(void) {
  const REAL s = (REAL)S, t = (REAL)T;
  (void)t;
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; i++) {
    const REAL b = B[i], c = C[i];
    A[i] = EXPR;
  }
}
#else
#ifdef __AVX512F__
#define BYTES 64
#else
#define BYTES 32
#endif
typedef REAL vector __attribute__((vector_size(BYTES), may_alias));

/* A block through the cache's store buffers only. */
static void put(REAL *to, vector v) {
#ifdef __AVX512F__
  _mm512_stream_si512((void *)to, (__m512i)v);
#else
  _mm256_stream_si256((void *)to, (__m256i)v);
#endif
}

static void work(void) {
  const REAL s = (REAL)S, t = (REAL)T;
  (void)t;
  enum { W = BYTES / sizeof(REAL) };
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int64_t k = 0; k < n / W; k++) {
      const vector b = *(const vector *)(B + k * W), c = *(const vector *)(C + k * W);
      put(A + k * W, EXPR);
    }
    _mm_sfence();
  }
  for (int64_t i = n / W * W; i < n; i++) {
    const REAL b = B[i], c = C[i];
    A[i] = EXPR;
  }
}
#endif

int main(int argc, char **argv) {
  n = argc > 1 ? atoll(argv[1]) : 1 << 20;
  A = array_new(n), B = array_new(n), C = array_new(n);
  array_fill(A, n, 0, 0, 0);
  array_fill(B, n, 0.6180339887498949, 0, 1);
  array_fill(C, n, 0.4142135623730951, 0, 1);
  work();
  printf("ready %.17g\n", array_mean(A, n));
  fflush(stdout);
  serve(work);
  return 0;
}
