/* sparse_join.c - what combines two sparse matrices by rows (sparse.h).  w: written, r: read.
 *
 *   csr_join   r lo'  w count [n] (int64)  w crd' vals'  r lo hi crd vals of A  r lo hi crd vals of B
 *              entry by entry, A op B; what comes out as zero is left out
 *   csr_join_count   w count [n] (int64)  r lo hi crd vals of A  r lo hi crd vals of B    entries of each row of that
 *   csr_join_fill    r lo' hi'  w crd' vals'  r lo hi crd vals of A  r lo hi crd vals of B     the same in room for just these
 *   csr_multiply_terms  w count [n] (int64)  r lo hi crd of A  r lo hi crd of B    terms of each row of A B
 *   csr_multiply_count  the same                                                entries of each row
 *              and, if rows are known to follow (sparse.c),  w run [n] (uint8)  r run of A  r run of B    how many do in A B
 *   csr_multiply  m lo'  w count [n] (int64)  w crd' vals'  r lo hi crd vals of A  r lo hi crd vals of B     the product
 *              A B; rows that a worker does one after the other are stored without gaps, and lo' is where they came to lie
 *   csr_multiply_fill  r lo' hi'  w crd' vals'  r lo hi crd vals of A  r lo hi crd vals of B     the same where rows have been
 *              counted
 *   csr_multiply_runs  r lo' run  ...                                          the same where rows are known to follow
 *
 * Row i of a result has room from lo'[i] on; for csr_join, for as many entries as A and B have there (A, if the operation is
 * MULTIPLY), of which it needs count[i].
 *
 * Parameters: of a join 0 the operation (below); of a product 0 the columns of B, of csr_multiply 1 whether B's rows are
 * sorted.  Rows of a join must be sorted and without equal columns, and those of its result are; rows of a product have no
 * equal columns but are not sorted.
 *
 * Products are Gustavson's (ACM Trans. Math. Softw. 4, 1978): a row of A B is the sum of rows of B.  It is collected in a
 * hash table by columns, or where these are close together, as in a band, in one with a place for each; terms are added in the
 * order of A's entries, so that the table does not matter.  Where rows are known to follow one another (sparse.c) one row is
 * collected, and the others do with their entries what it did: the same bits, too.
 */
#include "ops/sparse/sparse.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
enum { ADD, SUBTRACT, MULTIPLY, MAXIMUM, MINIMUM, NOT_EQUAL, LESS, GREATER };
enum { NARROW = 1 << 16 }; /* columns whose places in a table stay in a cache */
enum { MOST_TERMS = 512, ROWS_AT_ONCE = 4, WORTH_A_PROGRAM = 8 }; /* of a row; rows; of a run */

#define LGT_SPARSE_TEMPLATE "sparse_pairs.h"
#include "ops/sparse/sparse_each.h"

LGT_SPARSE_VARIANT(csr_join, join, 0, 3)
LGT_SPARSE_VARIANT(csr_join_count, join_count, 1, 4)
LGT_SPARSE_VARIANT(csr_join_fill, join_fill, 0, 3)
LGT_SPARSE_VARIANT(csr_multiply, multiply, 0, 3)
LGT_SPARSE_VARIANT(csr_multiply_fill, multiply_fill, 0, 3)
LGT_SPARSE_VARIANT(csr_multiply_runs, multiply_runs, 0, 3)

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
                                                {"csr_join_count", csr_join_count},
                                                {"csr_join_fill", csr_join_fill},
                                                {"csr_multiply_terms", csr_multiply_terms},
                                                {"csr_multiply_count", csr_multiply_count},
                                                {"csr_multiply", csr_multiply},
                                                {"csr_multiply_fill", csr_multiply_fill},
                                                {"csr_multiply_runs", csr_multiply_runs},
                                                {0}};
