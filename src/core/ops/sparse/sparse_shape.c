/* sparse_shape.c - building, converting and cutting sparse matrices (sparse.h): values are moved, not calculated with.
 *
 *   csr_positions  w pos [1,n+1]  r count [1,n] (int64)              running sums
 *   coo_count      r part [64 r p]  w sum [r,p n]  r key [nnz]       how often each key occurs in each part of the entries
 *   coo_offsets    w pos [r,n+1]  m sum [r,p n]                      where each key's entries of each part will begin
 *   coo_bounds     w pos [n+1]  r key [nnz]                          where each key's entries begin if keys ascend
 *   coo_place      r part [64 r p]  m sum [r,p n]  w crd vals  r key other data [nnz]
 *                  triplets ordered by their keys, those of one key as they were: rows from columns, columns from rows
 *   coo_split      r part [64 r p]  m sum [r,p n]  w key' other' data' [nnz]  r key other data [nnz]
 *                  the same where a key stands for several ones: triplets into buckets
 *   coo_spread     r part [64 r p]  m sum [r,p n]  w records  r key other data [nnz]
 *                  the same, each triplet becoming one record; other may be [m+1], where the entries of rows begin (parameter 4)
 *   coo_gather     r part [64 n]  w pos [m+1]  w crd vals  r first [n+1]  r records     ... and each bucket by its keys
 *   csr_sort       r lo hi  w crd' vals'  r crd vals                 each row by columns; equal ones keep their order
 *   csr_order      w order [n] (int64)  r lo hi crd                  0 unsorted, 1 sorted, 2 without equal columns too
 *   csr_rows       r lo hi  w row [nnz]                              the row of each entry
 *   csr_take       r lo' hi' lo hi  w crd' vals'  r crd vals         row i of the result is the one lo[i], hi[i] bound
 *   csr_count      w count [n] (int64)  r lo hi keep [nnz] (bool)    how many entries of each row to keep
 *   csr_keep       r lo' hi' lo hi  w crd' vals'  r crd vals keep
 *   csr_toell      r lo hi  w crd' vals' [n,room]  r crd vals        parameter: the last column, which what is beyond names
 *   ell_tocsr      r lo' hi'  r crd vals [n,room]  w crd' vals'
 *   csr_offsets    w found [r,most]  w count [r]  r lo hi [n]  r crd     which diagonals have entries (int64, ascending, the
 *                  first ones), and how many have, for rows in r runs; parameters: rows, columns, rows of a run
 *   csr_todia      r lo hi  w data [d,n]  r crd vals  r offsets [d] (int64, ascending)    of a matrix by columns
 *   bsr_count      w count [n] (int64)  r lo hi [n h]  r crd         how many blocks of h x w a row of blocks has; parameters h, w
 *   csr_tobsr      r lo' hi' [n]  r lo hi [n h]  w crd' [b] vals' [b,h,w]  r crd vals    rows are sorted
 *   bsr_tocsr      r lo hi [n]  r lo' hi' [n h]  w crd' vals'  r crd [b] vals [b,h,w]
 *   dense_tocsr    r lo' hi'  r keep [n,c] (bool)  r dense [n,c]  w crd' vals'
 *   dia_count      w count [n] (int64)  r keep [d,c] (bool)  r offsets [d] (int64)
 *   dia_tocsr      r lo' hi'  r keep [d,c]  r data [d,c]  w crd' vals'  r offsets [d]    offsets ascend
 *                  parameter of both: whether element i of a diagonal belongs to row i, not to column i
 *
 * Triplets are in r runs, each of which is ordered by itself, in p parts.  Parameters of those on runs: 0 p, 1 how many
 * triplets a run has; of coo_split, coo_spread and their coo_count also 2 k, 3 w: a bucket is w keys, which then become their places in
 * it, or (0) 2^k.  Parameter of coo_gather: k.  Two more arguments at the end of coo_place and its coo_count, from and past
 * [r]: run i has past[i] - from[i] triplets, which go behind from[i].
 */
#include <emmintrin.h>

#include "ops/sparse/sparse.h"

/* Each part has so many elements of the argument `part`, which has no other use: then it is a chunk of its own. */
enum { PART = 64 };

#define ALWAYS_INLINE static inline __attribute__((always_inline))
enum { GROUP_BYTES = 256, IN_CACHE = 1 << 16 }; /* IN_CACHE: triplets of a bucket */

/* Whole cache lines to memory, past the caches; others must not look at them before an _mm_sfence. */
ALWAYS_INLINE void stream(void *to, const void *from, size_t bytes) {
  for (size_t i = 0; i < bytes / sizeof(__m128i); i++)
    _mm_stream_si128((__m128i *)to + i, _mm_loadu_si128((const __m128i *)from + i));
}

/* The same, of any bytes: those of cache lines that are not filled go as usual. */
static void stream_out(void *to, const void *from, size_t bytes) {
  size_t head = -(uintptr_t)to % 64;
  if (head > bytes) head = bytes;
  size_t lines = (bytes - head) / 64 * 64;
  memcpy(to, from, head);
  stream((char *)to + head, (const char *)from + head, lines);
  memcpy((char *)to + head + lines, (const char *)from + head + lines, bytes - head - lines);
}

typedef struct wide {
  uint64_t part[2];
} wide;

#define I       int32_t
#define W       uint8_t
#define NAME(f) f##_i4_1
#include "ops/sparse/sparse_moves.h"
#define W       uint16_t
#define NAME(f) f##_i4_2
#include "ops/sparse/sparse_moves.h"
#define W       uint32_t
#define NAME(f) f##_i4_4
#include "ops/sparse/sparse_moves.h"
#define W       uint64_t
#define NAME(f) f##_i4_8
#include "ops/sparse/sparse_moves.h"
#define W       wide
#define NAME(f) f##_i4_16
#include "ops/sparse/sparse_moves.h"
#undef I
#define I       int64_t
#define W       uint8_t
#define NAME(f) f##_i8_1
#include "ops/sparse/sparse_moves.h"
#define W       uint16_t
#define NAME(f) f##_i8_2
#include "ops/sparse/sparse_moves.h"
#define W       uint32_t
#define NAME(f) f##_i8_4
#include "ops/sparse/sparse_moves.h"
#define W       uint64_t
#define NAME(f) f##_i8_8
#include "ops/sparse/sparse_moves.h"
#define W       wide
#define NAME(f) f##_i8_16
#include "ops/sparse/sparse_moves.h"

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
VARIANT(coo_spread, coo_spread, 3, 5)
VARIANT(coo_gather, coo_gather, 2, 3)
VARIANT(csr_sort, sort, 0, 3)
VARIANT(csr_take, take, 0, 5)
VARIANT(csr_keep, keep, 0, 5)
VARIANT(csr_toell, to_ell, 0, 3)
VARIANT(csr_todia, to_dia, 0, 2)
VARIANT(ell_tocsr, from_ell, 0, 5)
VARIANT(csr_tobsr, to_bsr, 0, 5)
VARIANT(bsr_tocsr, from_bsr, 0, 5)
VARIANT(dense_tocsr, from_dense, 0, 5)
VARIANT(dia_tocsr, from_dia, 0, 5)

/* Those without values: any size will do. */
#define PLAIN_VARIANT(name, f, positions)                                                             \
  static lgt_status name(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,      \
                         int64_t hi) {                                                                \
    return (lgt_sparse_index(&tiles[positions]) ? f##_i8_8 : f##_i4_8)(tiles, nargs, params, lo, hi); \
  }

PLAIN_VARIANT(csr_positions, positions, 0)
PLAIN_VARIANT(coo_count, coo_count, 1)
PLAIN_VARIANT(coo_offsets, coo_offsets, 0)
PLAIN_VARIANT(coo_bounds, coo_bounds, 0)
PLAIN_VARIANT(csr_order, order, 1)
PLAIN_VARIANT(csr_rows, rows, 0)
PLAIN_VARIANT(csr_count, count, 1)
PLAIN_VARIANT(bsr_count, bsr_count, 1)
PLAIN_VARIANT(csr_offsets, offsets, 2)

/* How many diagonals keep an element in a row. */
static lgt_status dia_count(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_tile *keep = &t[1];
  (void)nargs;
  for (int64_t i = lo; i < hi; i++) LGT_AT(int64_t, &t[0], i) = 0;
  for (int64_t d = 0; d < keep->extent[0]; d++) {
    int64_t shift = params[0].f != 0 ? 0 : LGT_AT(const int64_t, &t[2], d) + t[0].origin[0];
    const char *row = (const char *)keep->data + d * keep->stride[0];
    int64_t first = shift + lo < 0 ? -shift : lo,
            past = shift + hi > keep->extent[1] ? keep->extent[1] - shift : hi;
    for (int64_t i = first; i < past; i++)
      LGT_AT(int64_t, &t[0], i) += *(const uint8_t *)(row + (i + shift) * keep->stride[1]);
  }
  return LGT_OK;
}

const lgt_builtin lgt_sparse_shape_builtins[] = {{"csr_positions", csr_positions},
                                                 {"coo_count", coo_count},
                                                 {"coo_offsets", coo_offsets},
                                                 {"coo_bounds", coo_bounds},
                                                 {"coo_place", coo_place},
                                                 {"coo_split", coo_split},
                                                 {"coo_spread", coo_spread},
                                                 {"coo_gather", coo_gather},
                                                 {"csr_sort", csr_sort},
                                                 {"csr_order", csr_order},
                                                 {"csr_rows", csr_rows},
                                                 {"csr_take", csr_take},
                                                 {"csr_count", csr_count},
                                                 {"csr_keep", csr_keep},
                                                 {"ell_tocsr", ell_tocsr},
                                                 {"csr_toell", csr_toell},
                                                 {"csr_offsets", csr_offsets},
                                                 {"csr_todia", csr_todia},
                                                 {"bsr_count", bsr_count},
                                                 {"csr_tobsr", csr_tobsr},
                                                 {"bsr_tocsr", bsr_tocsr},
                                                 {"dense_tocsr", dense_tocsr},
                                                 {"dia_count", dia_count},
                                                 {"dia_tocsr", dia_tocsr},
                                                 {0}};
