/* helper.h - what the interpreter and compiled kernels share, so that they agree bit for bit.
 *
 *   isa      which vector instructions are in use, for the whole process: both back ends ask here.  Speed depends on it,
 *            results do not
 *   math     the elementary functions, by opcode
 *   divide   operations too long to be worth emitting inline: remainders, integer division and power
 *   half     float16 <-> float32 where the CPU has no instruction for it
 *
 * Every function here takes arrays, out first, and works on n elements; out may be a or b.
 * Kernels call them through the symbols that lgt_helper_symbol knows.  Thread-safe.
 */
#ifndef LGT_HELPER_H
#define LGT_HELPER_H

#include "model/body.h"

/* generic is x86-64-v2 (SSE4.2), avx2 is x86-64-v3, avx512 is x86-64-v4. */
#define LGT_ISA_LIST(X) X(GENERIC, generic) X(AVX2, avx2) X(AVX512, avx512)

/* clang-format off */
typedef enum lgt_isa {
#define X(NAME, name) LGT_ISA_##NAME,
  LGT_ISA_LIST(X)
#undef X
  LGT_NISA
} lgt_isa;
/* clang-format on */

const char *lgt_isa_name(int isa);
/* The widest of this host. */
lgt_isa lgt_isa_host(void);
/* The one in use: the host's, unless lgt_isa_limit lowered it. */
lgt_isa lgt_isa_current(void);
/* Set the one in use for the whole process: "" is the host's; wider than the host's is an error. */
lgt_status lgt_isa_limit(const char *name);

/* Is this opcode an elementary function (LGT_MATH_LIST of elementary.h)? */
bool lgt_math_has(int op);
/* Such an op, or POWER, of float64, float32 or float16 (as float32, to be rounded once more) on n elements; b is read if
 * op has two operands.  POWER's b is one element, the exponent. */
void lgt_helper_math(int op, int dtype, void *out, const void *a, const void *b, int64_t n);

/* Integer division: by zero it gives 0, and MIN / -1 gives MIN.  DIV truncates, and FMOD is its
 * remainder; FLOORDIV and MOD follow Python; a remainder of division by zero is 0.  Narrower integers
 * widen to 64 bits and are cut afterwards.
 * Integer POW wraps; a negative exponent gives what truncating the true value gives: 1 for base 1,
 * 1 or -1 for base -1, else 0.
 * Float FMOD is C's.  MOD and FLOORDIV are NumPy's: MOD has the divisor's sign even where it is 0,
 * x MOD 0 is NaN, x FLOORDIV 0 is x / 0.  float16 goes through float32. */
/* clang-format off */
#define LGT_DIVIDE_INT_LIST(X)                                                                     \
  X(DIV, div, INT64, i64, int64_t) X(DIV, div, UINT64, u64, uint64_t)                              \
  X(FLOORDIV, floordiv, INT64, i64, int64_t) X(FLOORDIV, floordiv, UINT64, u64, uint64_t)          \
  X(MOD, mod, INT64, i64, int64_t) X(MOD, mod, UINT64, u64, uint64_t)                              \
  X(FMOD, fmod, INT64, i64, int64_t) X(FMOD, fmod, UINT64, u64, uint64_t)                          \
  X(POW, pow, INT64, i64, int64_t) X(POW, pow, UINT64, u64, uint64_t)
/* clang-format on */
/* clang-format off */
#define LGT_DIVIDE_FLOAT_LIST(X)                                                                   \
  X(FLOORDIV, floordiv, FLOAT32, f32, float) X(FLOORDIV, floordiv, FLOAT64, f64, double)           \
  X(MOD, mod, FLOAT32, f32, float) X(MOD, mod, FLOAT64, f64, double)                               \
  X(FMOD, fmod, FLOAT32, f32, float) X(FMOD, fmod, FLOAT64, f64, double)
/* clang-format on */
#define LGT_DIVIDE_LIST(X) LGT_DIVIDE_INT_LIST(X) LGT_DIVIDE_FLOAT_LIST(X)

#define X(OP, op, DTYPE, d, T) void lgt_helper_##op##_##d(T *out, const T *a, const T *b, int64_t n);
LGT_DIVIDE_LIST(X)
#undef X

/* Rounding to nearest even. */
void lgt_helper_f16_to_f32(float *out, const uint16_t *a, int64_t n);
void lgt_helper_f32_to_f16(uint16_t *out, const float *a, int64_t n);

/* The address of a function that kernels may call, or NULL: nothing else is ever linked to them. */
void *lgt_helper_symbol(const char *name);

#endif
