/* device_functions.c - elementary functions, remainders, integer division and powers, on one element, for devices.
 *
 * Compiled to LLVM's bitcode for NVPTX, without contraction, and kept in the emitter, which links what a loop calls
 * (emit_ptx.c).  Each operation is the one that the CPU's vectors do (elementary_lanes.c, helper.c), so the bits are the same.
 *
 * Nothing of the host's headers can be used here.
 */
#include <stdbool.h>
#include <stdint.h>

#include "kernel/elementary/elementary_list.h"

typedef double F;
typedef int64_t I;
typedef bool B;

#define OF   static inline __attribute__((always_inline))
#define RARE static __attribute__((noinline))

/* ---- the vocabulary of elementary.h ---------------------------------------------------------------- */

OF F number(double x) { return x; }
OF I whole(int64_t n) { return n; }

OF F add(F a, F b) { return a + b; }
OF F sub(F a, F b) { return a - b; }
OF F mul(F a, F b) { return a * b; }
OF F divide(F a, F b) { return a / b; }
OF F neg(F a) { return -a; }
OF F magnitude(F a) { return __builtin_fabs(a); }
OF F with_sign(F a, F b) { return __builtin_copysign(a, b); }
OF F square_root(F a) { return __builtin_sqrt(a); }
OF F nearest(F a) { return __builtin_rint(a); }
OF F fmadd(F a, F b, F c) { return __builtin_fma(a, b, c); }
OF F fnmadd(F a, F b, F c) { return __builtin_fma(-a, b, c); }
OF F fmsub(F a, F b, F c) { return __builtin_fma(a, b, -c); }
OF I bits(F a) { return __builtin_bit_cast(int64_t, a); }
OF F from_bits(I a) { return __builtin_bit_cast(double, a); }

OF I i_add(I a, I b) { return (I)((uint64_t)a + (uint64_t)b); }
OF I i_sub(I a, I b) { return (I)((uint64_t)a - (uint64_t)b); }
OF I i_and(I a, I b) { return a & b; }
OF I i_or(I a, I b) { return a | b; }
OF I i_xor(I a, I b) { return a ^ b; }
OF I shift_left(I a, int by) { return (I)((uint64_t)a << by); }
OF I shift_right(I a, int by) { return (I)((uint64_t)a >> by); }
OF I low_product(I a, I b) { return (I)((uint64_t)(uint32_t)a * (uint32_t)b); }

OF B less(F a, F b) { return a < b; }
OF B at_most(F a, F b) { return a <= b; }
OF B equal(F a, F b) { return a == b; }
OF B is_nan(F a) { return a != a; }
OF B i_less(I a, I b) { return a < b; }
OF B i_equal(I a, I b) { return a == b; }
OF B is_odd(I a) { return a & 1; }
OF B both(B a, B b) { return a & b; }
OF B either(B a, B b) { return a | b; }
OF B opposite(B a) { return !a; }
OF F choose(B when, F a, F b) { return when ? a : b; }
OF F smaller_of(F a, F b) { return a < b ? a : b; }
OF F larger_of(F a, F b) { return a < b ? b : a; }
OF I i_choose(B when, I a, I b) { return when ? a : b; }

#define rare(when, function, x, otherwise)      ((when) ? function(x) : (otherwise))
#define rare_2(when, function, x, y, otherwise) ((when) ? function(x, y) : (otherwise))

#define INFINITY __builtin_inf()
#define NAN      __builtin_nan("")
enum { LGT_POWER_ROOT = 100 }; /* of body.h; constant powers are the emitter's */

#include "kernel/elementary/elementary_functions.h"

/* _f64; and _f32, of float64 to float64, for the emitter to round once. */
#define GIVEN __attribute__((always_inline))
#define EACH_1(name)                                                     \
  GIVEN double lgt_math_##name##_f64(double x);                          \
  GIVEN double lgt_math_##name##_f64(double x) { return name##_f64(x); } \
  GIVEN double lgt_math_##name##_f32(double x);                          \
  GIVEN double lgt_math_##name##_f32(double x) { return name##_f32(x); }
#define EACH_2(name)                                                                  \
  GIVEN double lgt_math_##name##_f64(double x, double y);                             \
  GIVEN double lgt_math_##name##_f64(double x, double y) { return name##_f64(x, y); } \
  GIVEN double lgt_math_##name##_f32(double x, double y);                             \
  GIVEN double lgt_math_##name##_f32(double x, double y) { return name##_f32(x, y); }
#define X(NAME, name, arity) EACH_##arity(name)
LGT_MATH_LIST(X)
#undef X

/* ---- division ------------------------------------------------------------------------------------------ */

/* C's fmod, which is exact: x - n y for the whole n that is nearest to x / y towards 0.  Numbers are mantissa times
 * 2^exponent; the rest takes in `step` more bits of the quotient at a time, as many as have room above the mantissa. */
#define EXACT_FMOD(name, T, U, mantissa, step)                                                               \
  static __attribute__((noinline)) T name(T x, T y) {                                                        \
    const U hidden = (U)1 << mantissa, infinity = ((U) ~(U)0 >> (mantissa + 1)) << mantissa;                 \
    U a = __builtin_bit_cast(U, x), b = __builtin_bit_cast(U, y);                                            \
    const U sign = a & ~((U) ~(U)0 >> 1);                                                                    \
    a ^= sign;                                                                                               \
    b &= (U) ~(U)0 >> 1;                                                                                     \
    if (a >= infinity || b > infinity || b == 0) return __builtin_bit_cast(T, infinity | hidden >> 1);       \
    if (a < b) return x;                                                                                     \
    int from = (int)(a >> mantissa), to = (int)(b >> mantissa);                                              \
    uint64_t rest = (a & (hidden - 1)) | (from ? hidden : 0), most = (b & (hidden - 1)) | (to ? hidden : 0); \
    if (!from) from = 1;                                                                                     \
    if (!to) to = 1;                                                                                         \
    rest %= most;                                                                                            \
    for (int left = from - to; left > 0 && rest; left -= step)                                               \
      rest = (rest << (left < step ? left : step)) % most;                                                   \
    if (rest == 0) return __builtin_bit_cast(T, sign);                                                       \
    int shift = __builtin_clzll(rest) - (63 - mantissa);                                                     \
    if (shift >= to) return __builtin_bit_cast(T, sign | (U)(rest << (to - 1)));                             \
    rest = (rest << shift) & (hidden - 1);                                                                   \
    return __builtin_bit_cast(T, sign | (U)(to - shift) << mantissa | (U)rest);                              \
  }
EXACT_FMOD(exact_fmod, double, uint64_t, 52, 11)
EXACT_FMOD(exact_fmodf, float, uint32_t, 23, 40)

#define fmod      exact_fmod
#define fmodf     exact_fmodf
#define floor     __builtin_floor
#define floorf    __builtin_floorf
#define copysign  __builtin_copysign
#define copysignf __builtin_copysignf
#include "kernel/helper_scalar.h"

#define EACH(name, d, T)                     \
  GIVEN T lgt_helper_##name##_##d(T a, T b); \
  GIVEN T lgt_helper_##name##_##d(T a, T b) { return name##_##d(a, b); }
#define INTEGERS(d, T) EACH(div, d, T) EACH(floordiv, d, T) EACH(mod, d, T) EACH(fmod, d, T) EACH(pow, d, T)
#undef fmod
INTEGERS(i64, int64_t)
INTEGERS(u64, uint64_t)
EACH(floordiv, f32, float)
EACH(mod, f32, float)
EACH(fmod, f32, float)
EACH(floordiv, f64, double)
EACH(mod, f64, double)
EACH(fmod, f64, double)
