/* sparse_each.h - a template of sparse kernels for each type of positions and of values.
 *
 * Includes LGT_SPARSE_TEMPLATE, the name of a header, with
 *   I        the type of positions
 *   V        the type of values; COMPLEX is defined where these have no order, LANES where they are doubles
 *   NAME(f)  the name of a function: f_i4_f8, say
 * of which the template undefines V, NAME and LANES.  LGT_SPARSE_NO_INTEGERS: not for values that are integers.
 */
#include <complex.h>
#undef I /* that of complex.h */

#define I int32_t
#define V       float
#define NAME(f) f##_i4_f4
#include LGT_SPARSE_TEMPLATE
#define V       double
#define LANES
#define NAME(f) f##_i4_f8
#include LGT_SPARSE_TEMPLATE
#define COMPLEX
#define V       float complex
#define NAME(f) f##_i4_c8
#include LGT_SPARSE_TEMPLATE
#define V       double complex
#define NAME(f) f##_i4_c16
#include LGT_SPARSE_TEMPLATE
#undef COMPLEX
#ifndef LGT_SPARSE_NO_INTEGERS
#define V       int64_t
#define NAME(f) f##_i4_i8
#include LGT_SPARSE_TEMPLATE
#endif
#undef I
#define I int64_t
#define V       float
#define NAME(f) f##_i8_f4
#include LGT_SPARSE_TEMPLATE
#define V       double
#define LANES
#define NAME(f) f##_i8_f8
#include LGT_SPARSE_TEMPLATE
#define COMPLEX
#define V       float complex
#define NAME(f) f##_i8_c8
#include LGT_SPARSE_TEMPLATE
#define V       double complex
#define NAME(f) f##_i8_c16
#include LGT_SPARSE_TEMPLATE
#undef COMPLEX
#ifndef LGT_SPARSE_NO_INTEGERS
#define V       int64_t
#define NAME(f) f##_i8_i8
#include LGT_SPARSE_TEMPLATE
#endif
#undef I

/* The variant `name`: the function `kernel` for the types of its arguments number `positions` and `values`. */
#define LGT_SPARSE_VARIANT(name, kernel, positions, values)                                                    \
  static lgt_status name(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) { \
    static const lgt_sparse_fn table[LGT_SPARSE_INDICES][LGT_SPARSE_VALUES] = {                                \
        {kernel##_i4_f4, kernel##_i4_f8, kernel##_i4_c8, kernel##_i4_c16, kernel##_i4_i8},                     \
        {kernel##_i8_f4, kernel##_i8_f8, kernel##_i8_c8, kernel##_i8_c16, kernel##_i8_i8}};                    \
    int value = lgt_sparse_value(&tiles[values]);                                                              \
    if (value < 0) return lgt_sparse_bad_value(&tiles[values]);                                                \
    return table[lgt_sparse_index(&tiles[positions])][value](tiles, nargs, params, lo, hi);                    \
  }
