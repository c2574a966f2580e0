/* sparse.c - arithmetic with sparse matrices by rows (sparse.h).  w: written, m: read and written, r: read.
 *
 *   csr_dot        w y [n] or [n,k]  r lo hi crd vals  r x [c] or [c,k]        y = A x
 *                  ... of a vector, also  r run [n]                            as csr_runs tells
 *   csr_runs       w run [n] (uint16)  r lo hi crd   of how many rows behind each one it is known that they follow,
 *                                                    as LGT_SPARSE_RUN and its kin say
 *   csr_scale      r lo hi left [n]  w out  r vals crd right [c]               out = left[row] * vals * right[column]
 *   csr_times      r lo hi x [n,c]  w out  r vals crd                          out = vals * x at the entries
 *   csr_sddmm      r lo hi x [n,k]  w out  r vals crd y [c,k]                  out = vals * (x y^T) at the entries
 *   csr_diagonal   w d [m]  r lo hi crd vals    parameters: how far the diagonal is above the main one, m's first row
 *   csr_todense    m y [n,c]  r lo hi crd vals                                 y += A
 *   csr_unique     w count [n]  r lo hi crd          how many different columns each row has; rows are sorted
 *   csr_sum_duplicates   r lo' hi' lo hi  w crd' vals'  r crd vals             equal columns become one entry
 *   csr_column_sums      w y [1,c]  r crd [1,nnz] vals [1,nnz]
 *
 * A row *follows* the one before if it has that one's columns, each moved on by one step, as inner rows of a grid do: of
 * one column, or two in restrictions to coarser grids.  In interpolations rows follow in *pairs*: each has the columns of
 * the one before the last, moved on by the step.  A product then needs no columns but the first row's, or pair's, nor
 * where the rows begin: a third less to read, of rows of a few doubles.  It stays right however the rows are cut.
 *
 * csr_dot is called by rows (lgt.h) where y is a vector, so that what is done with y joins its pass.
 *
 * An element's terms are added in the order of its row's entries, rows of LONG_ROW entries and more in four
 * interleaved sums: a result depends neither on chunks nor on domains.
 */
#include "ops/sparse/sparse.h"
#include "ops/sparse/sparse_lanes.h"

enum { LONG_ROW = 32, GROUP = 16, SHORT_RUN = 8, SOON = 4 };
#define ANY_STEP INT64_MIN
enum { RUN_STEP = 8, RUN_AHEAD = 4096, RUN_AHEAD_X = 256 }; /* rows; bytes */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

#define LGT_SPARSE_TEMPLATE "sparse_values.h"
#include "ops/sparse/sparse_each.h"

LGT_SPARSE_VARIANT(csr_dot, dot, 1, 4)
LGT_SPARSE_VARIANT(csr_scale, scale, 0, 3)
LGT_SPARSE_VARIANT(csr_times, times, 0, 3)
LGT_SPARSE_VARIANT(csr_sddmm, sddmm, 0, 3)
LGT_SPARSE_VARIANT(csr_diagonal, diagonal, 1, 4)
LGT_SPARSE_VARIANT(csr_todense, todense, 1, 4)
LGT_SPARSE_VARIANT(csr_sum_duplicates, sum_duplicates, 0, 5)
LGT_SPARSE_VARIANT(csr_column_sums, column_sums, 1, 2)

static lgt_status csr_unique(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                             int64_t hi) {
  (void)nargs, (void)params;
  return lgt_sparse_index(&tiles[1]) ? unique_i8_f8(tiles, nargs, params, lo, hi)
                                     : unique_i4_f8(tiles, nargs, params, lo, hi);
}

static lgt_status csr_runs(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                           int64_t hi) {
  return lgt_sparse_index(&tiles[1]) ? runs_i8_f8(tiles, nargs, params, lo, hi)
                                     : runs_i4_f8(tiles, nargs, params, lo, hi);
}

const lgt_builtin lgt_sparse_builtins[] = {{"csr_dot", csr_dot},
                                           {"csr_scale", csr_scale},
                                           {"csr_times", csr_times},
                                           {"csr_sddmm", csr_sddmm},
                                           {"csr_diagonal", csr_diagonal},
                                           {"csr_todense", csr_todense},
                                           {"csr_unique", csr_unique},
                                           {"csr_runs", csr_runs},
                                           {"csr_sum_duplicates", csr_sum_duplicates},
                                           {"csr_column_sums", csr_column_sums},
                                           {0}};
