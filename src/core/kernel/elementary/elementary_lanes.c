/* elementary_lanes.c - the elementary functions on vectors: the vocabulary of elementary.h in C.
 *
 * Compiled once for each instruction set (LGT_MATH_TABLE is the name of the table), without contraction, so that the
 * sets differ in speed only.
 *
 * SSE4.2 has no fused multiply-add.  There it is computed from what there is, with the same bits, at some 40 operations:
 * the product and the sums are split into a rounded value and its exact error, and the last addition is made right by
 * rounding the errors' sum to odd (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Trans.
 * Computers 57, 2008).  Operands so large or small that an error could not be represented go to the C library, one by one.
 */
#include "kernel/elementary/elementary.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "base/half.h"

#if defined __AVX512F__
#define CALL(function) _mm512_##function##_pd
enum { LANES = 8 };
#elif defined __AVX2__
#define CALL(function) _mm256_##function##_pd
enum { LANES = 4 };
#else
#define CALL(function) _mm_##function##_pd
enum { LANES = 2 };
#endif

typedef double F __attribute__((vector_size(8 * LANES)));
typedef int64_t I __attribute__((vector_size(8 * LANES)));
typedef uint64_t U __attribute__((vector_size(8 * LANES)));
typedef float S __attribute__((vector_size(4 * LANES)));
typedef struct B {
  I mask; /* negative or not */
} B;

#define OF   static inline __attribute__((always_inline))
#define RARE static __attribute__((noinline))

/* ---- the vocabulary ------------------------------------------------------------------------- */

OF F number(double x) { return x - (F){0}; }
OF I whole(int64_t n) { return n + (I){0}; }

OF F add(F a, F b) { return a + b; }
OF F sub(F a, F b) { return a - b; }
OF F mul(F a, F b) { return a * b; }
OF F divide(F a, F b) { return a / b; }
OF I bits(F a) { return (I)a; }
OF F from_bits(I a) { return (F)a; }
OF F neg(F a) { return (F)((I)a ^ INT64_MIN); }
OF F magnitude(F a) { return (F)((I)a & INT64_MAX); }
OF F with_sign(F a, F sign) { return (F)(((I)a & INT64_MAX) | ((I)sign & INT64_MIN)); }
OF F square_root(F a) { return (F)CALL(sqrt)(a); }
#if defined __AVX512F__
OF F nearest(F a) { return (F)_mm512_roundscale_pd(a, 8); }
OF F choose(B when, F a, F b) {
  return (F)_mm512_mask_blend_pd(_mm512_movepi64_mask((__m512i)when.mask), b, a);
}
OF bool any(B when) { return _mm512_movepi64_mask((__m512i)when.mask) != 0; }
#elif defined __AVX2__
OF F nearest(F a) { return (F)_mm256_round_pd(a, 8); }
OF F choose(B when, F a, F b) { return (F)_mm256_blendv_pd(b, a, (F)when.mask); }
OF bool any(B when) { return _mm256_movemask_pd((F)when.mask) != 0; }
#else
OF F nearest(F a) { return (F)_mm_round_pd(a, 8); }
OF F choose(B when, F a, F b) { return (F)_mm_blendv_pd(b, a, (F)when.mask); }
OF bool any(B when) { return _mm_movemask_pd((F)when.mask) != 0; }
#endif

OF I i_add(I a, I b) { return (I)((U)a + (U)b); }
OF I i_sub(I a, I b) { return (I)((U)a - (U)b); }
OF I i_and(I a, I b) { return a & b; }
OF I i_or(I a, I b) { return a | b; }
OF I i_xor(I a, I b) { return a ^ b; }
OF I shift_left(I a, int by) { return (I)((U)a << by); }
OF I shift_right(I a, int by) { return (I)((U)a >> by); }
/* Of the low halves, unsigned. */
OF I low_product(I a, I b) { return (I)(((U)a & 0xffffffff) * ((U)b & 0xffffffff)); }
OF I i_choose(B when, I a, I b) { return (I)choose(when, (F)a, (F)b); }

OF B less(F a, F b) { return (B){a < b}; }
OF B at_most(F a, F b) { return (B){a <= b}; }
OF B equal(F a, F b) { return (B){a == b}; }
OF B is_nan(F a) { return (B){a != a}; }
OF B i_less(I a, I b) { return (B){a < b}; }
OF B i_equal(I a, I b) { return (B){a == b}; }
OF B is_odd(I a) { return (B){shift_left(a, 63)}; }
OF B both(B a, B b) { return (B){a.mask & b.mask}; }
OF B either(B a, B b) { return (B){a.mask | b.mask}; }
OF B opposite(B a) { return (B){~a.mask}; }

#define rare(when, function, x, otherwise) (any(when) ? choose(when, function(x), otherwise) : (otherwise))
#define rare_2(when, function, x, y, otherwise) \
  (any(when) ? choose(when, function(x, y), otherwise) : (otherwise))

#ifdef __FMA__
OF F fmadd(F a, F b, F c) { return (F)CALL(fmadd)(a, b, c); }
OF F fnmadd(F a, F b, F c) { return (F)CALL(fnmadd)(a, b, c); }
OF F fmsub(F a, F b, F c) { return (F)CALL(fmsub)(a, b, c); }
#else

/* sum + *error = a + b, exactly (Knuth). */
OF F sum_exactly(F a, F b, F *error) {
  F sum = a + b, part = sum - a;
  *error = (a - (sum - part)) + (b - part);
  return sum;
}

/* The upper 26 bits of a (Veltkamp). */
OF F upper_half(F a) {
  F c = a * 0x1.0000002p27;
  return c - (c - a);
}

static __attribute__((noinline)) F fmadd_singly(F a, F b, F c) {
  F result;
  for (int i = 0; i < LANES; i++) result[i] = __builtin_fma(a[i], b[i], c[i]);
  return result;
}

static __attribute__((noinline)) F fmadd(F a, F b, F c) {
  F product = a * b, a1 = upper_half(a), a2 = a - a1, b1 = upper_half(b), b2 = b - b1;
  F rest = ((a1 * b1 - product + a1 * b2) + a2 * b1) + a2 * b2;
  F size = magnitude(product), largest = number(0x1p990);
  B safe = {(I)(magnitude(a) < largest) & (I)(magnitude(b) < largest) & (I)(magnitude(c) < largest) &
            (size < largest)};
  safe.mask &= (size > 0x1p-900) | (a == 0) | (b == 0);
  if (any(opposite(safe))) return fmadd_singly(a, b, c);
  F error, low, sum = sum_exactly(product, sum_exactly(c, rest, &low), &error);
  F inexact, odd = sum_exactly(low, error, &inexact);
  I towards = ((I)odd ^ (I)inexact) < 0; /* -1: the exact sum is nearer to 0 */
  I step = (towards | 1) & (I)(inexact != 0) & -(((I)odd & 1) ^ 1);
  odd = (F)((I)odd + step);
  /* -0 + 0 would lose a sign, twice: in the last sum, and in c + rest where the result is 0 */
  return choose((B){odd == 0}, choose((B){sum == 0}, product + c, sum), sum + odd);
}
OF F fnmadd(F a, F b, F c) { return fmadd(neg(a), b, c); }
OF F fmsub(F a, F b, F c) { return fmadd(a, b, neg(c)); }
#endif

#include "kernel/elementary/elementary_functions.h"

/* ---- arrays ----------------------------------------------------------------------------------- */

/* The last elements, and more copies of the first of them: idle lanes must not take a rare path of their own. */
#define LOADS(T, V)                                            \
  OF V load_##T(const T *x, int64_t n) {                       \
    V v;                                                       \
    if (n >= LANES) {                                          \
      memcpy(&v, x, sizeof v);                                 \
    } else {                                                   \
      for (int i = 0; i < LANES; i++) v[i] = x[i < n ? i : 0]; \
    }                                                          \
    return v;                                                  \
  }                                                            \
  OF void store_##T(T *x, V v, int64_t n) {                    \
    if (n >= LANES) memcpy(x, &v, sizeof v);                   \
    else                                                       \
      for (int i = 0; i < n; i++) x[i] = v[i];                 \
  }
LOADS(double, F)
LOADS(float, S)

OF F wide(S x) { return __builtin_convertvector(x, F); }
OF S nearest_float(F x) { return __builtin_convertvector(x, S); }
OF S odd_float(F x) {
  S result;
  for (int i = 0; i < LANES; i++) result[i] = lgt_float_round_odd(x[i]);
  return result;
}

#define EACH(name, T, ...)                                                              \
  static void name(void *out, const void *a, const void *b, int64_t n) {                \
    (void)b;                                                                            \
    for (int64_t i = 0; i < n; i += LANES) store_##T((T *)out + i, __VA_ARGS__, n - i); \
  }
#define A(T)               load_##T((const T *)a + i, n - i)
#define B_(T)              load_##T((const T *)b + i, n - i)
#define ARGUMENTS_1(T, to) to(A(T))
#define ARGUMENTS_2(T, to) to(A(T)), to(B_(T))
#define AS_IT_IS(x)        x
#define X(NAME, name, arity)                                                             \
  EACH(name##_all_f64, double, name##_f64(ARGUMENTS_##arity(double, AS_IT_IS)))          \
  EACH(name##_all_f32, float, nearest_float(name##_f32(ARGUMENTS_##arity(float, wide)))) \
  EACH(name##_all_f16, float, odd_float(name##_f32(ARGUMENTS_##arity(float, wide))))
LGT_MATH_LIST(X)
#undef X
#define X(name) EACH(name##_all, double, name(A(double)))
LGT_RARE_LIST(X)
#undef X
#define X(name) EACH(name##_all, double, name(A(double), B_(double)))
LGT_RARE_2_LIST(X)
#undef X

EACH(power_all_f64, double, power_f64(A(double), (int)*(const double *)b))
EACH(power_all_f32, float, nearest_float(power_f32(wide(A(float)), (int)*(const float *)b)))
EACH(power_all_f16, float, odd_float(power_f32(wide(A(float)), (int)*(const float *)b)))

const lgt_math_table LGT_MATH_TABLE = {
    .math =
        {
#define X(NAME, name, arity) [LGT_OP_##NAME] = {name##_all_f64, name##_all_f32, name##_all_f16},
            LGT_MATH_LIST(X)
#undef X
                [LGT_OP_POWER] = {power_all_f64, power_all_f32, power_all_f16},
        },
    .rare =
        {
#define X(name) name##_all,
            LGT_RARE_LIST(X) LGT_RARE_2_LIST(X)
#undef X
        },
};
