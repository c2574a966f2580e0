/* stack.c - products of stacks of matrices.
 *
 *   matmul       the matrices of argument 0 = those of argument 1 x those of argument 2, for the dtypes of BLAS
 */
#include "blas.h"
#include "builtin.h"

/* The matrix that a walk has come to, as a tile of its own. */
static lgt_tile matrix_at(const lgt_walk *walk, int arg) {
  const lgt_tile *tile = &walk->tile[arg];
  int d = tile->ndim - 2;
  return (lgt_tile){.data = walk->at[arg],
                    .ndim = 2,
                    .dtype = tile->dtype,
                    .extent = {tile->extent[d], tile->extent[d + 1]},
                    .stride = {tile->stride[d], tile->stride[d + 1]}};
}

static lgt_status matmul(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  lgt_walk walk;
  (void)nargs, (void)params;
  if (!lgt_walk_begin(&walk, tiles, 3, tiles[0].ndim - 2, lo, hi)) return LGT_OK;
  do {
    lgt_tile matrices[3] = {matrix_at(&walk, 0), matrix_at(&walk, 1), matrix_at(&walk, 2)};
    lgt_status status = lgt_blas_product(matrices, 0, matrices[0].extent[0]);
    if (status) return status;
  } while (lgt_walk_next(&walk, lo, hi));
  return LGT_OK;
}

const lgt_builtin lgt_stack_builtins[] = {{"matmul", matmul}, {0}};
