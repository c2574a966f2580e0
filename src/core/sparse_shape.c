/* sparse_shape.c - building, converting and cutting sparse matrices (sparse.h): values are moved, not calculated with.
 *
 *   csr_positions  w pos [1,n+1]  r count [1,n] (int64)              running sums
 *   coo_count      r part [64 p]  w sum [p,n]  r key [nnz]          how often each key occurs in each part of the entries
 *   coo_offsets    w pos [1,n+1]  m sum [1,p n]                      where each key's entries of each part will begin
 *   coo_place      r part [64 p]  m sum [p,n]  w crd vals  r key other data [nnz]
 *                  triplets ordered by their keys, those of one key as they were: rows from columns, columns from rows
 *   coo_split      r part [64 p]  m sum [p,n]  w key' other' data' [nnz]  r key other data [nnz]
 *                  the same where a key stands for `width` ones: triplets into buckets
 *   coo_fill       r lo [n]  w pos [m+1]  w crd vals  r hi [n]  r key' other' data'      ... and each bucket by its keys
 *   csr_sort       r lo  r hi  m crd vals                            each row by columns; equal ones keep their order
 *   csr_order      w order [n] (int64)  r lo hi crd                  0 unsorted, 1 sorted, 2 without equal columns too
 *   csr_rows       r lo  r hi  w row [nnz]                           the row of each entry
 *   csr_take       r lo'  w crd' vals'  r lo hi crd vals             row i of the result is the one lo[i], hi[i] bound
 *   csr_count      w count [n] (int64)  r lo hi keep [nnz] (bool)    how many entries of each row to keep
 *   csr_keep       r lo'  w crd' vals'  r lo hi crd vals keep
 *   dense_tocsr    r lo'  w crd' vals'  r keep [n,c] (bool)  r dense [n,c]
 *   dia_count      w count [n] (int64)  r keep [d,c] (bool)  r offsets [d] (int64)
 *   dia_tocsr      r lo'  w crd' vals'  r keep [d,c]  r data [d,c]  r offsets [d]    offsets ascend
 *
 * Parameter of coo_count, coo_split, coo_fill: k, where a bucket is 2^k keys.
 */
#include "sparse.h"

/* Each part has so many elements of the argument `part`, which has no other use: then it is a chunk of its own. */
enum { PART = 64 };

typedef struct wide {
  uint64_t part[2];
} wide;

#define I       int32_t
#define W       uint8_t
#define NAME(f) f##_i4_1
#include "sparse_moves.h"
#define W       uint16_t
#define NAME(f) f##_i4_2
#include "sparse_moves.h"
#define W       uint32_t
#define NAME(f) f##_i4_4
#include "sparse_moves.h"
#define W       uint64_t
#define NAME(f) f##_i4_8
#include "sparse_moves.h"
#define W       wide
#define NAME(f) f##_i4_16
#include "sparse_moves.h"
#undef I
#define I       int64_t
#define W       uint8_t
#define NAME(f) f##_i8_1
#include "sparse_moves.h"
#define W       uint16_t
#define NAME(f) f##_i8_2
#include "sparse_moves.h"
#define W       uint32_t
#define NAME(f) f##_i8_4
#include "sparse_moves.h"
#define W       uint64_t
#define NAME(f) f##_i8_8
#include "sparse_moves.h"
#define W       wide
#define NAME(f) f##_i8_16
#include "sparse_moves.h"

/* The variant `name`, which looks at the types of its arguments number `positions` and `values`. */
#define VARIANT(name, f, positions, values)                                                                  \
  static lgt_status name(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,             \
                         int64_t hi) {                                                                       \
    static const lgt_sparse_fn table[LGT_SPARSE_INDICES][LGT_SPARSE_SIZES] = {                               \
        {f##_i4_1, f##_i4_2, f##_i4_4, f##_i4_8, f##_i4_16},                                                 \
        {f##_i8_1, f##_i8_2, f##_i8_4, f##_i8_8, f##_i8_16}};                                                \
    return table[lgt_sparse_index(&tiles[positions])][lgt_sparse_size(&tiles[values])](tiles, nargs, params, \
                                                                                       lo, hi);              \
  }

VARIANT(coo_place, coo_place, 2, 3)
VARIANT(coo_split, coo_split, 2, 4)
VARIANT(coo_fill, coo_fill, 2, 3)
VARIANT(csr_sort, sort, 0, 3)
VARIANT(csr_take, take, 0, 2)
VARIANT(csr_keep, keep, 0, 2)
VARIANT(dense_tocsr, from_dense, 0, 2)
VARIANT(dia_tocsr, from_dia, 0, 2)

/* Those without values: any size will do. */
#define PLAIN_VARIANT(name, f, positions)                                                             \
  static lgt_status name(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,      \
                         int64_t hi) {                                                                \
    return (lgt_sparse_index(&tiles[positions]) ? f##_i8_8 : f##_i4_8)(tiles, nargs, params, lo, hi); \
  }

PLAIN_VARIANT(csr_positions, positions, 0)
PLAIN_VARIANT(coo_count, coo_count, 1)
PLAIN_VARIANT(coo_offsets, coo_offsets, 0)
PLAIN_VARIANT(csr_order, order, 1)
PLAIN_VARIANT(csr_rows, rows, 0)
PLAIN_VARIANT(csr_count, count, 1)

/* How many diagonals keep an element in a row. */
static lgt_status dia_count(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_tile *keep = &t[1];
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) LGT_AT(int64_t, &t[0], i) = 0;
  for (int64_t d = 0; d < keep->extent[0]; d++) {
    int64_t shift = LGT_AT(const int64_t, &t[2], d) + t[0].origin[0];
    const char *row = (const char *)keep->data + d * keep->stride[0];
    int64_t first = shift + lo < 0 ? -shift : lo,
            past = shift + hi > keep->extent[1] ? keep->extent[1] - shift : hi;
    for (int64_t i = first; i < past; i++)
      LGT_AT(int64_t, &t[0], i) += *(const uint8_t *)(row + (i + shift) * keep->stride[1]);
  }
  return LGT_OK;
}

const lgt_builtin lgt_sparse_shape_builtins[] = {{"csr_positions", csr_positions}, {"coo_count", coo_count},
                                                 {"coo_offsets", coo_offsets},     {"coo_place", coo_place},
                                                 {"coo_split", coo_split},         {"coo_fill", coo_fill},
                                                 {"csr_sort", csr_sort},           {"csr_order", csr_order},
                                                 {"csr_rows", csr_rows},           {"csr_take", csr_take},
                                                 {"csr_count", csr_count},         {"csr_keep", csr_keep},
                                                 {"dense_tocsr", dense_tocsr},     {"dia_count", dia_count},
                                                 {"dia_tocsr", dia_tocsr},         {0}};
