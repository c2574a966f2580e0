/* sparse.h - what the variants on compressed sparse matrices share.
 *
 * A matrix is four arrays: `lo` and `hi`, which say for each row where its entries begin and end; `crd`, the
 * column of each entry; `vals`, its value.  Positions and columns count from 0 and have one type, int32 or
 * int64.  lo and hi are two views of one array of n + 1 positions, so that a row costs one position of memory
 * traffic; variants rely on it only as far as both have one stride.  A matrix by columns is the transposed one by rows.
 *
 * crd and vals are dense, and a variant sees them whole: positions are those of the matrix, wherever it runs.  What its
 * rows do not name need not be there (image.h).  A variant that writes them has `lo` as its argument 0, although it is only
 * read: domains and workers share rows, and rows own their entries, those from lo to hi.
 */
#ifndef LGT_SPARSE_H
#define LGT_SPARSE_H

#include "ops/builtin.h"

typedef lgt_status (*lgt_sparse_fn)(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                    int64_t hi);

/* Functions made of a template for each index type and each type of values: [index][value]. */
enum { LGT_SPARSE_INDICES = 2, LGT_SPARSE_VALUES = 5, LGT_SPARSE_SIZES = 5 };
enum { LGT_SPARSE_F4, LGT_SPARSE_F8, LGT_SPARSE_C8, LGT_SPARSE_C16, LGT_SPARSE_I8 };

static inline int lgt_sparse_index(const lgt_tile *positions) { return positions->dtype == LGT_INT64; }

/* -1: there are no kernels for values of this type. */
static inline int lgt_sparse_value(const lgt_tile *values) {
  switch (values->dtype) {
    case LGT_FLOAT32: return LGT_SPARSE_F4;
    case LGT_FLOAT64: return LGT_SPARSE_F8;
    case LGT_COMPLEX64: return LGT_SPARSE_C8;
    case LGT_COMPLEX128: return LGT_SPARSE_C16;
    case LGT_INT64: return LGT_SPARSE_I8;
    default: return -1;
  }
}

/* Which of the sizes 1, 2, 4, 8, 16 an element has. */
static inline int lgt_sparse_size(const lgt_tile *values) {
  return __builtin_ctz((unsigned)lgt_dtype_size(values->dtype));
}

static inline lgt_status lgt_sparse_bad_value(const lgt_tile *values) {
  return lgt_err(LGT_BAD_DTYPE, "sparse matrices calculate with float32, float64, complex64, complex128 and int64, not %s",
                 lgt_dtype_name(values->dtype));
}

/* Entries are read once, from the first to the last, which some processors do not foresee far enough: products ask for
 * those so many entries later, each cache line once.  (They may be none of the matrix: that does no harm.)  Of a matrix of
 * fewer bytes than CACHED they come from a cache, soon enough. */
enum { LGT_SPARSE_AHEAD = 256, LGT_SPARSE_CACHED = 8 << 20 };
static inline __attribute__((always_inline)) void lgt_sparse_foresee(const void *entries, int64_t bytes) {
  const uintptr_t line = 64, from = (uintptr_t)entries;
  for (uintptr_t at = from & -line; at < from + (uintptr_t)bytes; at += line) __builtin_prefetch((const void *)at);
}

/* What csr_runs tells of a row (sparse.c): how many rows behind it follow it, by one column each; or by other steps, or in
 * pairs. */
enum { LGT_SPARSE_RUN = 0x3fff, LGT_SPARSE_STEPS = 0x4000, LGT_SPARSE_PAIRS = 0x8000 };

/* Element i of a vector of T. */
#define LGT_AT(T, tile, i) (*(T *)((char *)(tile)->data + (i) * (tile)->stride[0]))

/* How many rows behind row i follow it, by one column each. */
static inline int64_t lgt_sparse_followers(const lgt_tile *run, int64_t i) {
  uint16_t rows = LGT_AT(const uint16_t, run, i);
  return rows > LGT_SPARSE_RUN ? 0 : rows;
}

#endif
