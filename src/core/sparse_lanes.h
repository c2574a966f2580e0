/* sparse_lanes.h - rows that follow one another (sparse.c) times a vector, eight at a time.
 *
 * Eight rows of `length` doubles are `length` vectors of eight lanes.  The entries k of all rows lie `length` elements
 * apart; if that is an odd number, no two of them are in the same lane.  So they are brought together by blending, which
 * is cheap, and put in the order of the rows by one permutation.  Each lane then does what a row does alone, in the same
 * order: the same bits.
 */
#ifndef LGT_SPARSE_LANES_H
#define LGT_SPARSE_LANES_H

#include <immintrin.h>

#include "helper.h"

enum { LGT_SPARSE_LANES_AHEAD = 8192, LGT_SPARSE_LANES_AHEAD_X = 512 }; /* bytes */
#define LGT_AVX512 __attribute__((target("avx512f")))

/* from[k][r]: what entry k of row r is multiplied by.  The last eight rows may have some that are done already. */
LGT_AVX512 static inline __attribute__((always_inline)) void lgt_sparse_lanes_of(const double *restrict vals,
                                                                                 const double *const *from,
                                                                                 double *restrict y, int64_t rows,
                                                                                 const int length) {
  const unsigned apart = 1u | 1u << length | 1u << 2 * length; /* lanes whose distances are multiples of `length` */
  const __m512i first =
      _mm512_setr_epi64(0, length, 2 * length, 3 * length, 4 * length, 5 * length, 6 * length, 7 * length);
  for (int64_t r = 0; r < rows; r += 8) {
    if (r + 8 > rows) r = rows - 8;
    const double *at = vals + r * length;
    __m512d sum = _mm512_setzero_pd();
    __builtin_prefetch((const char *)(from[length - 1] + r) + LGT_SPARSE_LANES_AHEAD_X);
#pragma GCC unroll 9
    for (int m = 0; m < length; m++) __builtin_prefetch((const char *)(at + 8 * m) + LGT_SPARSE_LANES_AHEAD);
#pragma GCC unroll 9
    for (int k = 0; k < length; k++) {
      __m512d entries = _mm512_loadu_pd(at);
#pragma GCC unroll 9
      for (int m = 1; m < length; m++) { /* lane l of vector m is element 8 m + l */
        int lane = (k + 8 * length - 8 * m) % length;
        entries = _mm512_mask_mov_pd(entries, (__mmask8)(apart << lane), _mm512_loadu_pd(at + 8 * m));
      }
      /* Lanes count modulo 8. */
      entries = _mm512_permutexvar_pd(_mm512_add_epi64(first, _mm512_set1_epi64(k)), entries);
      sum = _mm512_add_pd(sum, _mm512_mul_pd(entries, _mm512_loadu_pd(from[k] + r)));
    }
    _mm512_storeu_pd(y + r, sum);
  }
}

/* False: it does not do such rows. */
LGT_AVX512 static inline bool lgt_sparse_lanes(const double *restrict vals, const double *const *from,
                                               double *restrict y, int64_t rows, int64_t length) {
  if (rows < 8 || lgt_isa_current() != LGT_ISA_AVX512) return false;
  switch (length) {
    case 3: return lgt_sparse_lanes_of(vals, from, y, rows, 3), true;
    case 5: return lgt_sparse_lanes_of(vals, from, y, rows, 5), true;
    case 7: return lgt_sparse_lanes_of(vals, from, y, rows, 7), true;
    case 9: return lgt_sparse_lanes_of(vals, from, y, rows, 9), true;
    default: return false;
  }
}

#endif
