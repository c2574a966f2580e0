/* elementary.h - exp, sin, pow and their kin: lgt's own, the same bits everywhere.
 *
 * A function is written once, in the headers elementary_*.h, in a small vocabulary of operations on float64 and int64:
 * sums, products, fused multiply-adds, comparisons, selections, bits.  Each of these is one IEEE or integer operation
 * with one possible result, so every implementation gets the same bits.  Three files do so, each by giving the
 * vocabulary a meaning and then including the functions:
 *
 *   elementary_lanes.c   computes, on vectors; compiled for each instruction set.  The interpreter calls it, and so do
 *                        kernels
 *   device_functions.c   computes, on one element; for devices
 *   emit_math.c          writes MLIR, of constant powers alone: kernels have these inlined into their loops
 *
 * The contract, which tests/core/elementary.c judges against MPFR:
 *
 *   float64            at most 1 ulp (pow and lgamma 2); what is representable is exact: cbrt(27) = 3, log2(8) = 3
 *   float32, float16   correctly rounded: computed in float64, rounded once
 *   all                monotonic where the function is; zeros, infinities and NaN as Annex F of C23 has them
 *
 * What hardly any argument needs (the reduction of 1e22 modulo pi, results that overflow) is kept off the main path:
 * `rare` tests whether any lane needs it, and only then calls a function out of line.
 *
 * Any thread.
 */
#ifndef LGT_ELEMENTARY_H
#define LGT_ELEMENTARY_H

#include "kernel/elementary/elementary_list.h"
#include "model/body.h"

/* What a function is computed for: float64; or float64 that is then rounded once, to float32 or to float16. */
typedef enum lgt_form { LGT_FORM_F64, LGT_FORM_F32, LGT_FORM_F16, LGT_NFORM } lgt_form;

static inline lgt_form lgt_form_of(int dtype) {
  return dtype == LGT_FLOAT64 ? LGT_FORM_F64 : dtype == LGT_FLOAT32 ? LGT_FORM_F32 : LGT_FORM_F16;
}

/* n elements, of any alignment; b is read if the function has two operands; out may be a or b.  FORM_F16 takes float16
 * as float32 and gives float32 rounded to odd, which one more rounding turns into the right float16. */
typedef void lgt_math_fn(void *out, const void *a, const void *b, int64_t n);

/* The sine and the cosine of each, which share most of the work; neither result may be a. */
typedef void lgt_math_pair_fn(void *sine, const void *a, void *cosine, int64_t n);

/* One for each instruction set. */
typedef struct lgt_math_table {
  /* NULL unless the opcode is in LGT_MATH_LIST, or POWER: there b is one element, the exponent. */
  lgt_math_fn *math[LGT_NOP][LGT_NFORM];
  lgt_math_pair_fn *sincos[LGT_NFORM];
} lgt_math_table;
extern const lgt_math_table lgt_math_table_generic, lgt_math_table_avx2, lgt_math_table_avx512;

#endif
