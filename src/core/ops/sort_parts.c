/* split.c - where the tiles of a sorted vector begin in sorted runs of it, found by all domains together.
 *
 * A vector is in runs of so many elements, each of which is sorted.  Run j of the whole's order shall begin at offset
 * j times that; the key of the element there is found digit by digit, the highest first: each domain counts how many
 * elements of its runs are below each of the next digits, and all domains add that up.  Only counts travel.
 *
 *   sort_digits  argument 0 (int64) [r, j, v] = how many elements of run r of argument 1 have keys below that of
 *                argument 2 (int64) [j] + v << parameter 1, where parameter 0 is the length of a run; parameter 2: -0 is 0
 *   sort_narrow  argument 0 (int64) [j] = argument 1 [j] + v << parameter 1 for the greatest v of which no more than
 *                (j + 1) * parameter 0 elements are below, according to argument 2 [r, j, v]
 *   sort_cuts    argument 0 (int64) [j, r] = how many elements of run r come before run j of the whole's order, according
 *                to argument 1 [r, j - 1, 0 or 1], how many of it are below the key at its beginning, or not above it;
 *                parameters 0 the length of a run, 1 of all.  Of equal elements those of earlier runs come first.
 */
#include "ops/keys.h"

static int64_t number_at(const lgt_tile *t, int64_t i, int64_t j, int64_t k) {
  const char *p = (const char *)t->data + i * t->stride[0];
  if (t->ndim > 1) p += j * t->stride[1];
  if (t->ndim > 2) p += k * t->stride[2];
  return *(const int64_t *)p;
}

/* The first of n sorted elements from `lo` on that is not below a key. */
static int64_t search(int dtype, bool zeros, const char *p, int64_t stride, int64_t lo, int64_t n,
                      uint64_t limit) {
  int64_t hi = n;
  while (lo < hi) {
    int64_t middle = lo + (hi - lo) / 2;
    uint64_t key = key_of(dtype, p + middle * stride);
    if (zeros) key = without_sign_of_zero(dtype, key);
    if (key < limit) lo = middle + 1;
    else hi = middle;
  }
  return lo;
}

static lgt_status count_digits(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                               int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1], *prefix = &tiles[2];
  int64_t run = (int64_t)params[0].f, stride = from->stride[0];
  int shift = (int)params[1].f;
  bool zeros = params[2].f != 0;
  (void)nargs;
  for (int64_t r = lo; r < hi; r++) {
    int64_t n = from->extent[0] - r * run;
    const char *p = (const char *)from->data + r * run * stride;
    n = n < 0 ? 0 : n < run ? n : run;
    for (int64_t j = 0; j < to->extent[1]; j++) {
      uint64_t first = (uint64_t)number_at(prefix, j, 0, 0);
      int64_t at = 0;
      for (int64_t v = 0; v < to->extent[2]; v++) {
        uint64_t limit = first + ((uint64_t)v << shift);
        at = limit < first ? n : search(from->dtype, zeros, p, stride, at, n, limit);
        *(int64_t *)((char *)to->data + r * to->stride[0] + j * to->stride[1] + v * to->stride[2]) = at;
      }
    }
  }
  return LGT_OK;
}

static lgt_status narrow(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_tile *to = &tiles[0], *prefix = &tiles[1], *counts = &tiles[2];
  int shift = (int)params[1].f;
  (void)nargs;
  for (int64_t j = lo; j < hi; j++) {
    int64_t found = 0;
    for (int64_t v = 1; v < counts->extent[2]; v++) {
      int64_t sum = 0;
      for (int64_t r = 0; r < counts->extent[0]; r++) sum += number_at(counts, r, j, v);
      if (sum > (j + 1) * (int64_t)params[0].f) break;
      found = v;
    }
    uint64_t key = (uint64_t)number_at(prefix, j, 0, 0) + ((uint64_t)found << shift);
    *(uint64_t *)((char *)to->data + j * to->stride[0]) = key;
  }
  return LGT_OK;
}

static lgt_status find_cuts(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                            int64_t hi) {
  const lgt_tile *to = &tiles[0], *bounds = &tiles[1];
  int64_t run = (int64_t)params[0].f, n = (int64_t)params[1].f, runs = to->extent[1];
  (void)nargs;
  for (int64_t j = lo; j < hi; j++) {
    int64_t rest = j * run < n ? j * run : n;
    for (int64_t r = 0; r < runs && j > 0 && j < runs; r++) rest -= number_at(bounds, r, j - 1, 0);
    for (int64_t r = 0; r < runs; r++) {
      int64_t length = n - r * run, cut = 0;
      length = length < 0 ? 0 : length < run ? length : run;
      if (j == runs) cut = length;
      else if (j > 0) {
        int64_t below = number_at(bounds, r, j - 1, 0), equal = number_at(bounds, r, j - 1, 1) - below;
        int64_t take = rest < equal ? rest : equal;
        rest -= take;
        cut = below + take;
      }
      *(int64_t *)((char *)to->data + j * to->stride[0] + r * to->stride[1]) = cut;
    }
  }
  return LGT_OK;
}

const lgt_builtin lgt_split_builtins[] = {
    {"sort_digits", count_digits}, {"sort_narrow", narrow}, {"sort_cuts", find_cuts}, {0}};
