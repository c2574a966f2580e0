/* stack.c - products of stacks of matrices.
 *
 *   matmul       the matrices of argument 0 = those of argument 1 x those of argument 2, for the dtypes of BLAS
 *   matmul_parts argument 0 [r] = run r of the columns of argument 1 x run r of the rows of argument 2, matrices, in runs
 *                of parameter 0
 *   matmul_columns  as a product of matrices by rows, but BLAS gets the transposed: argument 0' = argument 2' x argument 1'
 */
#include "ops/blas.h"
#include "ops/builtin.h"

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

/* Products of so few terms cost less than a call of BLAS does: 3 x 3 matrices a third. */
enum { SMALL = 256 };

#define SMALL_PRODUCT(T)                                                                         \
  static void small_product_##T(const lgt_walk *walk) {                                          \
    const lgt_tile *c = &walk->tile[0], *a = &walk->tile[1], *b = &walk->tile[2];                \
    int row = c->ndim - 2, col = row + 1;                                                        \
    for (int64_t i = 0; i < c->extent[row]; i++)                                                 \
      for (int64_t j = 0; j < c->extent[col]; j++) {                                             \
        const char *x = walk->at[1] + i * a->stride[row], *y = walk->at[2] + j * b->stride[col]; \
        T sum = 0;                                                                               \
        for (int64_t k = 0; k < a->extent[col]; k++, x += a->stride[col], y += b->stride[row])   \
          sum += *(const T *)x * *(const T *)y;                                                  \
        *(T *)(walk->at[0] + i * c->stride[row] + j * c->stride[col]) = sum;                     \
      }                                                                                          \
  }
SMALL_PRODUCT(float)
SMALL_PRODUCT(double)

/* By the extents alone, since other orders of the terms have other bits. */
static bool is_small(const lgt_tile *tiles) {
  int row = tiles[0].ndim - 2, col = row + 1, dtype = tiles[0].dtype;
  int64_t terms = 1, extent[3] = {tiles[0].extent[row], tiles[0].extent[col], tiles[1].extent[col]};
  for (int d = 0; d < 3; d++) terms = extent[d] > SMALL ? SMALL + 1 : terms * extent[d];
  return terms <= SMALL && (dtype == LGT_FLOAT32 || dtype == LGT_FLOAT64);
}

static lgt_status matmul(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  lgt_walk walk;
  bool small = is_small(tiles);
  (void)nargs, (void)params;
  if (!lgt_walk_begin(&walk, tiles, 3, tiles[0].ndim - 2, lo, hi)) return LGT_OK;
  do {
    if (small) {
      if (tiles[0].dtype == LGT_FLOAT32) small_product_float(&walk);
      else small_product_double(&walk);
      continue;
    }
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

static lgt_tile transposed(const lgt_tile *tile) {
  return (lgt_tile){.data = tile->data,
                    .ndim = 2,
                    .dtype = tile->dtype,
                    .extent = {tile->extent[1], tile->extent[0]},
                    .stride = {tile->stride[1], tile->stride[0]}};
}

static lgt_status matmul_columns(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                 int64_t hi) {
  lgt_tile part[3] = {transposed(&tiles[0]), transposed(&tiles[2]), transposed(&tiles[1])};
  (void)nargs, (void)params;
  for (int a = 0; a < 3; a += 2) {
    part[a].data = (char *)part[a].data + lo * part[a].stride[1];
    part[a].extent[1] = hi - lo;
  }
  return hi > lo ? lgt_blas_product(part, 0, part[0].extent[0]) : LGT_OK;
}

const lgt_builtin lgt_stack_builtins[] = {
    {"matmul", matmul}, {"matmul_parts", matmul_parts}, {"matmul_columns", matmul_columns}, {0}};
