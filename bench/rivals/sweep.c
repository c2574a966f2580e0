/* sweep.c - one sweep of a 5-point stencil over the interior of a rows x cols grid, in C and OpenMP.
 *
 *   sweep ROWS COLS
 *
 * EXPR is the expression, for its mutants: in the elements c (centre), n, s, w, e and the number k.
 */
#include "rival.h"

#ifndef EXPR
#define EXPR k *(c + n + s + w + e)
#endif

static int64_t rows, cols;
static REAL *A, *B;
static volatile double K = 0.2; /* not known to the compiler */

static void work(void) {
  const REAL k = (REAL)K;
#pragma omp parallel for schedule(static)
  for (int64_t i = 1; i < rows - 1; i++) {
    const REAL *restrict up = A + (i - 1) * cols, *restrict row = up + cols, *restrict down = row + cols;
    REAL *restrict out = B + i * cols;
#pragma omp simd
    for (int64_t j = 1; j < cols - 1; j++) {
      const REAL c = row[j], n = up[j], s = down[j], w = row[j - 1], e = row[j + 1];
      out[j] = EXPR;
    }
  }
  REAL *swap = A;
  A = B;
  B = swap;
}

int main(int argc, char **argv) {
  rows = argc > 1 ? atoll(argv[1]) : 512;
  cols = argc > 2 ? atoll(argv[2]) : rows;
  A = array_new(rows * cols), B = array_new(rows * cols);
  array_fill(A, rows * cols, 0.6180339887498949, 0, 1);
  array_fill(B, rows * cols, 0.6180339887498949, 0, 1);
  work();
  work();
  printf("ready %.17g\n", array_mean(A, rows * cols));
  fflush(stdout);
  serve(work);
  return 0;
}
