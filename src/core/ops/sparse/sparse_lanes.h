/* sparse_lanes.h - rows that follow one another (sparse.c) times a vector, eight at a time.
 *
 * Eight rows of `length` doubles are `length` vectors of eight lanes.  The entries k of all rows lie `length` elements
 * apart; if that is an odd number, no two of them are in the same lane.  So they are brought together by blending, which
 * is cheap, and put in the order of the rows by one permutation; if it is twice an odd number, that goes for each four of
 * them.  Longer rows are transposed, eight entries of each at a time.  Rows in pairs are rows of the length of both, which
 * have two sums.  Each lane then does what a row does alone, in the same order: the same bits.
 */
#ifndef LGT_SPARSE_LANES_H
#define LGT_SPARSE_LANES_H

#include <immintrin.h>

#include "kernel/helper.h"

enum { LGT_SPARSE_LANES_AHEAD = 8192, LGT_SPARSE_LANES_AHEAD_X = 512 }; /* bytes */
#define LGT_AVX512      __attribute__((target("avx512f")))
#define LGT_LANES_INLINE LGT_AVX512 static inline __attribute__((always_inline))

/* Rows that follow one another, or pairs of rows that do: where the values of the first one are, what entry k of it is
 * multiplied by, how far that moves from one to the next, how many entries each has. */
typedef struct lgt_sparse_run {
  const double *vals, *const *from;
  int64_t step, rows, length;
} lgt_sparse_run;

/* Lane l: element lane k + l * length of the vectors at `at`, for the lanes from `lo` to `hi`. */
LGT_LANES_INLINE __m512d lgt_sparse_blend(const double *at, const int k, const int length, const int lo,
                                          const int hi) {
  const int begin = (k + lo * length) / 8, end = (k + (hi - 1) * length) / 8;
  __m512d entries = _mm512_loadu_pd(at + 8 * begin);
#pragma GCC unroll 9
  for (int m = begin + 1; m <= end; m++) {
    unsigned mask = 0;
#pragma GCC unroll 8
    for (int l = lo; l < hi; l++) mask |= (k + l * length) / 8 == m ? 1u << (k + l * length) % 8 : 0;
    entries = _mm512_mask_mov_pd(entries, (__mmask8)mask, _mm512_loadu_pd(at + 8 * m));
  }
  return entries;
}

/* Entry k of eight rows. */
LGT_LANES_INLINE __m512d lgt_sparse_entries(const double *at, const int k, const int length) {
#define LANE(l) ((k + (l)*length) % 8 + (length % 2 == 0 && (l) > 3 ? 8 : 0))
  const __m512i order = _mm512_setr_epi64(LANE(0), LANE(1), LANE(2), LANE(3), LANE(4), LANE(5), LANE(6), LANE(7));
#undef LANE
  if (length == 1) return _mm512_loadu_pd(at);
  if (length % 2) return _mm512_permutexvar_pd(order, lgt_sparse_blend(at, k, length, 0, 8));
  return _mm512_permutex2var_pd(lgt_sparse_blend(at, k, length, 0, 4), order,
                                lgt_sparse_blend(at, k, length, 4, 8));
}

/* What eight rows multiply an entry by; `step` is 1 or 2. */
LGT_LANES_INLINE __m512d lgt_sparse_factors(const double *x, const int step) {
  if (step == 1) return _mm512_loadu_pd(x);
  const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  return _mm512_permutex2var_pd(_mm512_loadu_pd(x), even, _mm512_maskz_loadu_pd(0x7f, x + 8));
}

/* Short rows; the first `even` entries belong to the first row of a pair.  The last eight may be done already. */
LGT_LANES_INLINE void lgt_sparse_short(const lgt_sparse_run *run, double *restrict y, int64_t even, const int length,
                                       const int step, const bool pairs) {
  const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
  for (int64_t r = 0; r < run->rows; r += 8) {
    if (r + 8 > run->rows) r = run->rows - 8;
    const double *at = run->vals + r * length;
    __m512d sum[2] = {_mm512_setzero_pd(), _mm512_setzero_pd()};
    __builtin_prefetch((const char *)(run->from[length - 1] + r * step) + LGT_SPARSE_LANES_AHEAD_X);
#pragma GCC unroll 9
    for (int m = 0; m < length; m++) __builtin_prefetch((const char *)(at + 8 * m) + LGT_SPARSE_LANES_AHEAD);
#pragma GCC unroll 9
    for (int k = 0; k < length; k++) {
      __m512d term = _mm512_mul_pd(lgt_sparse_entries(at, k, length),
                                   lgt_sparse_factors(run->from[k] + r * step, step));
      if (pairs && k >= even) sum[1] = _mm512_add_pd(sum[1], term);
      else sum[0] = _mm512_add_pd(sum[0], term);
    }
    if (pairs) {
      _mm512_storeu_pd(y + 2 * r, _mm512_permutex2var_pd(sum[0], low, sum[1]));
      _mm512_storeu_pd(y + 2 * r + 8, _mm512_permutex2var_pd(sum[0], high, sum[1]));
    } else {
      _mm512_storeu_pd(y + r, sum[0]);
    }
  }
}

/* out[k]: element k of eight rows. */
LGT_LANES_INLINE void lgt_sparse_transpose(const double *at, int64_t length, __m512d *out) {
  const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
  __m512d pair[8], four[8];
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) { /* of rows: elements 0, 2, 4, 6; 1, 3, 5, 7 */
    __m512d a = _mm512_loadu_pd(at + 2 * i * length), b = _mm512_loadu_pd(at + (2 * i + 1) * length);
    pair[i] = _mm512_unpacklo_pd(a, b);
    pair[i + 4] = _mm512_unpackhi_pd(a, b);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++) { /* of rows 0 to 3, and 4 to 7: elements 0 and 4; 2 and 6; 1 and 5; 3 and 7 */
    int from = i / 2 * 4 + i % 2 * 2;
    four[2 * i] = _mm512_permutex2var_pd(pair[from], low, pair[from + 1]);
    four[2 * i + 1] = _mm512_permutex2var_pd(pair[from], high, pair[from + 1]);
  }
#pragma GCC unroll 2
  for (int odd = 0; odd < 2; odd++)
#pragma GCC unroll 2
    for (int second = 0; second < 2; second++) {
      __m512d a = four[4 * odd + second], b = four[4 * odd + 2 + second];
      out[2 * second + odd] = _mm512_shuffle_f64x2(a, b, 0x44);
      out[2 * second + odd + 4] = _mm512_shuffle_f64x2(a, b, 0xee);
    }
}

/* Rows of eight entries and more. */
LGT_LANES_INLINE void lgt_sparse_long(const lgt_sparse_run *run, double *restrict y, const int step) {
  int64_t length = run->length, whole = length / 8 * 8;
  for (int64_t r = 0; r < run->rows; r += 8) {
    if (r + 8 > run->rows) r = run->rows - 8;
    const double *at = run->vals + r * length;
    __m512d sum = _mm512_setzero_pd(), entries[8];
    __builtin_prefetch((const char *)(run->from[length - 1] + r * step) + LGT_SPARSE_LANES_AHEAD_X);
    for (int64_t m = 0; m < length; m++) __builtin_prefetch((const char *)(at + 8 * m) + LGT_SPARSE_LANES_AHEAD);
    for (int64_t k = 0; k < whole; k += 8) {
      lgt_sparse_transpose(at + k, length, entries);
#pragma GCC unroll 8
      for (int i = 0; i < 8; i++)
        sum = _mm512_add_pd(
            sum, _mm512_mul_pd(entries[i], lgt_sparse_factors(run->from[k + i] + r * step, step)));
    }
    if (whole < length) { /* with some that are done already, which no row lacks */
      lgt_sparse_transpose(at + length - 8, length, entries);
      for (int64_t k = whole; k < length; k++)
        sum = _mm512_add_pd(
            sum, _mm512_mul_pd(entries[k + 8 - length], lgt_sparse_factors(run->from[k] + r * step, step)));
    }
    _mm512_storeu_pd(y + r, sum);
  }
}

/* False: it does not do such rows. */
LGT_AVX512 static bool lgt_sparse_lanes(const lgt_sparse_run *run, double *restrict y) {
  if (run->rows < 8 || lgt_isa_current() != LGT_ISA_AVX512 || run->step < 1 || run->step > 2) return false;
#define SHORT(n)                                                            \
  case n:                                                                   \
    if (run->step == 1) lgt_sparse_short(run, y, n, n, 1, false);           \
    else lgt_sparse_short(run, y, n, n, 2, false);                          \
    return true;
  switch (run->length) {
    SHORT(1) SHORT(2) SHORT(3) SHORT(5) SHORT(6) SHORT(7) SHORT(9)
    case 0: case 4: return false;
  }
#undef SHORT
  if (run->step == 1) lgt_sparse_long(run, y, 1);
  else lgt_sparse_long(run, y, 2);
  return true;
}

/* Pairs, of which the first row has `even` entries. */
LGT_AVX512 static bool lgt_sparse_lanes_of_pairs(const lgt_sparse_run *run, double *restrict y, int64_t even) {
  if (run->rows < 8 || lgt_isa_current() != LGT_ISA_AVX512 || run->step != 1) return false;
#define SHORT(n) \
  case n: lgt_sparse_short(run, y, even, n, 1, true); return true;
  switch (run->length) {
    SHORT(1) SHORT(2) SHORT(3) SHORT(5) SHORT(6) SHORT(7) SHORT(9)
    default: return false;
  }
#undef SHORT
}

#endif
