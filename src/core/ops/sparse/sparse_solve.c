/* sparse_solve.c - triangular systems and incomplete factors of sparse matrices by rows (sparse.h).
 *
 *   csr_triangular  r lo  w x [n,k]  r hi crd vals b [n,k] blocks   the triangle's part of each row
 *   csr_ilu0        r lo  w factors  r hi crd vals blocks           L and U without new entries; L's diagonal is ones
 *
 * Parameters: 0 rows of a block: the diagonal blocks of so many rows are systems of their own, which domains and workers
 * share, and entries outside of them are skipped (factors has them as vals); of csr_triangular 1 whether the lower
 * triangle, 2 whether its diagonal is ones.  `blocks` has an element for each block: what is cut are these.  Rows must be
 * sorted and without equal columns.
 */
#include "ops/sparse/sparse.h"

static lgt_status singular(int64_t row) {
  return lgt_err(LGT_BAD_ARGUMENT, "the matrix is singular: element %lld of its diagonal is 0 or missing",
                 (long long)row + 1);
}

#define LGT_SPARSE_NO_INTEGERS
#define LGT_SPARSE_TEMPLATE "sparse_factors.h"
#include "ops/sparse/sparse_each.h"

/* Blocks that begin among the rows [lo, hi), one after the other.  A tile begins where a block does. */
#define VARIANT(kernel, values)                                                                          \
  static lgt_status csr_##kernel(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, \
                                 int64_t hi) {                                                           \
    static const lgt_sparse_fn table[LGT_SPARSE_INDICES][LGT_SPARSE_VALUES] = {                          \
        {kernel##_i4_f4, kernel##_i4_f8, kernel##_i4_c8, kernel##_i4_c16},                               \
        {kernel##_i8_f4, kernel##_i8_f8, kernel##_i8_c8, kernel##_i8_c16}};                              \
    int value = lgt_sparse_value(&tiles[values]);                                                        \
    if (value < 0 || value == LGT_SPARSE_I8) return lgt_sparse_bad_value(&tiles[values]);                \
    lgt_sparse_fn solve = table[lgt_sparse_index(&tiles[0])][value];                                     \
    int64_t n = tiles[0].extent[0], rows = (int64_t)params[0].f;                                         \
    lgt_status status = LGT_OK;                                                                          \
    for (int64_t at = (lo + rows - 1) / rows * rows; at < hi && !status; at += rows)                     \
      status = solve(tiles, nargs, params, at, at + rows < n ? at + rows : n);                           \
    return status;                                                                                       \
  }

VARIANT(triangular, 4)
VARIANT(ilu0, 1)

const lgt_builtin lgt_sparse_solve_builtins[] = {
    {"csr_triangular", csr_triangular}, {"csr_ilu0", csr_ilu0}, {0}};
