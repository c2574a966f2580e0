/* sparse_join.c - what combines two sparse matrices by rows (sparse.h).  w: written, r: read.
 *
 *   csr_join   r lo'  w count [n] (int64)  w crd' vals'  r lo hi crd vals of A  r lo hi crd vals of B
 *              entry by entry, A op B; what comes out as zero is left out
 *   csr_multiply_terms  w count [n] (int64)  r lo hi crd of A  r lo hi crd of B    terms of each row of A B
 *   csr_multiply_count  the same                                                entries of each row
 *   csr_multiply  m lo'  w count [n] (int64)  w crd' vals'  r lo hi crd vals of A  r lo hi crd vals of B     the product
 *              A B; rows that a worker does one after the other are stored without gaps, and lo' is where they came to lie
 *
 * Row i of a result has room from lo'[i] on; for as many entries as A and B have there (A, if the operation is
 * MULTIPLY), of which a join needs count[i].
 *
 * Parameters: of a join 0 the operation (below); of a product 0 the columns of B.  Rows of a join must be sorted
 * and without equal columns, and those of its result are; rows of a product have no equal columns but are not sorted.
 *
 * Products are Gustavson's (ACM Trans. Math. Softw. 4, 1978): a row of A B is the sum of rows of B.  It is collected in a
 * hash table by columns; terms are added in the order of A's entries, so that the table's size does not matter.
 */
#include "sparse.h"

#include <complex.h>
#undef I /* that of complex.h */

#define ALWAYS_INLINE static inline __attribute__((always_inline))
enum { ADD, SUBTRACT, MULTIPLY, MAXIMUM, MINIMUM };

#define I       int32_t
#define V       float
#define NAME(f) f##_i4_f4
#include "sparse_pairs.h"
#define V       double
#define NAME(f) f##_i4_f8
#include "sparse_pairs.h"
#define V       int64_t
#define NAME(f) f##_i4_i8
#include "sparse_pairs.h"
#define UNORDERED
#define V       float complex
#define NAME(f) f##_i4_c8
#include "sparse_pairs.h"
#define V       double complex
#define NAME(f) f##_i4_c16
#include "sparse_pairs.h"
#undef UNORDERED
#undef I
#define I       int64_t
#define V       float
#define NAME(f) f##_i8_f4
#include "sparse_pairs.h"
#define V       double
#define NAME(f) f##_i8_f8
#include "sparse_pairs.h"
#define V       int64_t
#define NAME(f) f##_i8_i8
#include "sparse_pairs.h"
#define UNORDERED
#define V       float complex
#define NAME(f) f##_i8_c8
#include "sparse_pairs.h"
#define V       double complex
#define NAME(f) f##_i8_c16
#include "sparse_pairs.h"
#undef UNORDERED

/* The variant `csr_f`, which looks at the types of its arguments number `positions` and `values`. */
#define VARIANT(f, positions, values)                                                               \
  static lgt_status csr_##f(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, \
                            int64_t hi) {                                                           \
    static const lgt_sparse_fn table[LGT_SPARSE_INDICES][LGT_SPARSE_VALUES] = {                     \
        {f##_i4_f4, f##_i4_f8, f##_i4_c8, f##_i4_c16, f##_i4_i8},                                   \
        {f##_i8_f4, f##_i8_f8, f##_i8_c8, f##_i8_c16, f##_i8_i8}};                                  \
    int value = lgt_sparse_value(&tiles[values]);                                                   \
    if (value < 0) return lgt_sparse_bad_value(&tiles[values]);                                     \
    return table[lgt_sparse_index(&tiles[positions])][value](tiles, nargs, params, lo, hi);         \
  }

VARIANT(join, 0, 3)
VARIANT(multiply, 0, 3)

static lgt_status csr_multiply_count(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                     int64_t hi) {
  return (lgt_sparse_index(&tiles[1]) ? multiply_count_i8_f8 : multiply_count_i4_f8)(tiles, nargs, params, lo,
                                                                                     hi);
}

static lgt_status csr_multiply_terms(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                     int64_t hi) {
  return (lgt_sparse_index(&tiles[1]) ? multiply_terms_i8_f8 : multiply_terms_i4_f8)(tiles, nargs, params, lo,
                                                                                     hi);
}

const lgt_builtin lgt_sparse_join_builtins[] = {{"csr_join", csr_join},
                                                {"csr_multiply_terms", csr_multiply_terms},
                                                {"csr_multiply_count", csr_multiply_count},
                                                {"csr_multiply", csr_multiply},
                                                {0}};
