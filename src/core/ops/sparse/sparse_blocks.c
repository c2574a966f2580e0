/* sparse_blocks.c - products with sparse matrices of dense blocks, and of rows of equal room (sparse.h).
 *
 *   bsr_dot   w y [n,h] or [n,h,k]  r lo hi [n]  r crd [b]  r vals [b,h,w]  r x [c,w] or [c,w,k]
 *             row i has the blocks from lo[i] to hi[i]; crd is a block's column of blocks
 *   ell_dot   w y [n] or [n,k]  r count [n]  r crd vals [n,room]  r x [c] or [c,k]
 *             row i has count[i] entries; the rest of its room is not looked at
 *
 * vals of blocks are whole and in C order; rows of ell's crd and vals are in C order, too.  An element's terms are added
 * in the order of its row's entries.
 */
#include "ops/sparse/sparse.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#define LGT_SPARSE_TEMPLATE "sparse_blocks.h"
#include "ops/sparse/sparse_each.h"

LGT_SPARSE_VARIANT(bsr_dot, bsr_dot, 1, 4)
LGT_SPARSE_VARIANT(ell_dot, ell_dot, 1, 3)

const lgt_builtin lgt_sparse_blocks_builtins[] = {{"bsr_dot", bsr_dot}, {"ell_dot", ell_dot}, {0}};
