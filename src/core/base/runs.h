/* runs.h - sets of positions along one dimension, as runs: which elements an array of positions names.
 *
 * A set is made once and never changed; a caller that keeps it must hold a ref.  Any thread may read a set; all else belongs
 * to the submitting thread.
 */
#ifndef LGT_RUNS_H
#define LGT_RUNS_H

#include "core.h"

typedef struct lgt_runs {
  int refs;
  int64_t count;    /* of runs */
  int64_t total;    /* of positions */
  int64_t run[][2]; /* first and past-the-end; ascending, not empty, apart */
} lgt_runs;

/* With one reference and room for `count` runs; NULL when out of memory. */
lgt_runs *lgt_runs_new(int64_t count);
static inline lgt_runs *lgt_runs_retain(lgt_runs *runs) {
  if (runs) runs->refs++;
  return runs;
}
void lgt_runs_release(lgt_runs *runs);
/* The bits that are set among n, which stand for the positions from `first` on; NULL when out of memory. */
lgt_runs *lgt_runs_of_bits(const uint64_t *bits, int64_t first, int64_t n);
/* Those from lo to hi - 1.  NULL when out of memory. */
lgt_runs *lgt_runs_within(const lgt_runs *runs, int64_t lo, int64_t hi);
/* Runs that are fewer than `gap` positions apart are one.  NULL when out of memory. */
lgt_runs *lgt_runs_merged(const lgt_runs *runs, int64_t gap);
/* Position p becomes begin + p * step.  NULL when out of memory. */
lgt_runs *lgt_runs_along(const lgt_runs *runs, int64_t begin, int64_t step);

#endif
