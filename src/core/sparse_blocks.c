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
#include "sparse.h"

#include <complex.h>
#undef I /* that of complex.h */

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#define I       int32_t
#define V       float
#define NAME(f) f##_i4_f4
#include "sparse_blocks.h"
#define V       double
#define NAME(f) f##_i4_f8
#include "sparse_blocks.h"
#define V       float complex
#define NAME(f) f##_i4_c8
#include "sparse_blocks.h"
#define V       double complex
#define NAME(f) f##_i4_c16
#include "sparse_blocks.h"
#define V       int64_t
#define NAME(f) f##_i4_i8
#include "sparse_blocks.h"
#undef I
#define I       int64_t
#define V       float
#define NAME(f) f##_i8_f4
#include "sparse_blocks.h"
#define V       double
#define NAME(f) f##_i8_f8
#include "sparse_blocks.h"
#define V       float complex
#define NAME(f) f##_i8_c8
#include "sparse_blocks.h"
#define V       double complex
#define NAME(f) f##_i8_c16
#include "sparse_blocks.h"
#define V       int64_t
#define NAME(f) f##_i8_i8
#include "sparse_blocks.h"

/* The variant `f`, which looks at the types of its arguments number `positions` and `values`. */
#define VARIANT(f, positions, values)                                                                       \
  static lgt_status f(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) { \
    static const lgt_sparse_fn table[LGT_SPARSE_INDICES][LGT_SPARSE_VALUES] = {                             \
        {f##_i4_f4, f##_i4_f8, f##_i4_c8, f##_i4_c16, f##_i4_i8},                                           \
        {f##_i8_f4, f##_i8_f8, f##_i8_c8, f##_i8_c16, f##_i8_i8}};                                          \
    int value = lgt_sparse_value(&tiles[values]);                                                           \
    if (value < 0) return lgt_sparse_bad_value(&tiles[values]);                                             \
    return table[lgt_sparse_index(&tiles[positions])][value](tiles, nargs, params, lo, hi);                 \
  }

VARIANT(bsr_dot, 1, 4)
VARIANT(ell_dot, 1, 3)

const lgt_builtin lgt_sparse_blocks_builtins[] = {{"bsr_dot", bsr_dot}, {"ell_dot", ell_dot}, {0}};
