/* stack.c - products of stacks of matrices.
 *
 *   matmul       the matrices of argument 0 = those of argument 1 x those of argument 2, for the dtypes of BLAS
 *   matmul_parts argument 0 [r] = run r of the columns of argument 1 x run r of the rows of argument 2, matrices, in runs
 *                of parameter 0
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

static lgt_status matmul_parts(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                               int64_t hi) {
  const lgt_tile *to = &tiles[0], *a = &tiles[1], *b = &tiles[2];
  int64_t run = (int64_t)params[0].f;
  (void)nargs;
  for (int64_t r = lo; r < hi; r++) {
    int64_t n = a->extent[1] - r * run;
    n = n < 0 ? 0 : n < run ? n : run;
    lgt_tile part[3] = {{.data = (char *)to->data + r * to->stride[0],
                         .ndim = 2,
                         .dtype = to->dtype,
                         .extent = {to->extent[1], to->extent[2]},
                         .stride = {to->stride[1], to->stride[2]}},
                        *a,
                        *b};
    part[1].data = (char *)a->data + (n ? r * run * a->stride[1] : 0);
    part[2].data = (char *)b->data + (n ? r * run * b->stride[0] : 0);
    part[1].extent[1] = part[2].extent[0] = n; /* of nothing: zeros */
    lgt_status status = lgt_blas_product(part, 0, to->extent[1]);
    if (status) return status;
  }
  return LGT_OK;
}

const lgt_builtin lgt_stack_builtins[] = {{"matmul", matmul}, {"matmul_parts", matmul_parts}, {0}};
