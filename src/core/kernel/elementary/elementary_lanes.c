/* elementary_lanes.c - the elementary functions on vectors: the vocabulary of elementary.h in C.
 *
 * Compiled once for each instruction set (LGT_MATH_TABLE is the name of the table), without contraction, so that the
 * sets differ in speed only.
 *
 * The functions are long chains of operations, each of which waits for the one before.  So two registers go through them
 * side by side, and the compiler schedules their instructions before it allocates registers (-fschedule-insns): the CPU
 * does not look far enough ahead to find the next iteration's.
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
enum { WIDTH = 8 };
#elif defined __AVX2__
#define CALL(function) _mm256_##function##_pd
enum { WIDTH = 4 };
#else
#define CALL(function) _mm_##function##_pd
enum { WIDTH = 2 };
#endif
enum { LANES = 2 * WIDTH };

/* What the CPU has, and two of them. */
typedef double D __attribute__((vector_size(8 * WIDTH)));
typedef int64_t W __attribute__((vector_size(8 * WIDTH)));
typedef uint64_t U __attribute__((vector_size(8 * WIDTH)));
typedef float S __attribute__((vector_size(4 * WIDTH)));
typedef struct F {
  D a, b;
} F;
typedef struct I {
  W a, b;
} I;
typedef struct B {
  W a, b; /* negative or not */
} B;

#define OF   static inline __attribute__((always_inline))
#define RARE static __attribute__((noinline))

/* ---- one register ------------------------------------------------------------------------------- */

OF D root_1(D a) { return (D)CALL(sqrt)(a); }
OF D neg_1(D a) { return (D)((W)a ^ INT64_MIN); }
OF D magnitude_1(D a) { return (D)((W)a & INT64_MAX); }
#if defined __AVX512F__
OF D nearest_1(D a) { return (D)_mm512_roundscale_pd(a, 8); }
OF D widen_1(const float *x) { return (D)_mm512_cvtps_pd(_mm256_loadu_ps(x)); }
OF D choose_1(W when, D a, D b) { return (D)_mm512_mask_blend_pd(_mm512_movepi64_mask((__m512i)when), b, a); }
OF bool any_1(W when) { return _mm512_movepi64_mask((__m512i)when) != 0; }
#elif defined __AVX2__
OF D nearest_1(D a) { return (D)_mm256_round_pd(a, 8); }
OF D widen_1(const float *x) { return (D)_mm256_cvtps_pd(_mm_loadu_ps(x)); }
OF D choose_1(W when, D a, D b) { return (D)_mm256_blendv_pd(b, a, (D)when); }
OF bool any_1(W when) { return _mm256_movemask_pd((D)when) != 0; }
#else
OF D nearest_1(D a) { return (D)_mm_round_pd(a, 8); }
OF D widen_1(const float *x) { return (D){x[0], x[1]}; }
OF D choose_1(W when, D a, D b) { return (D)_mm_blendv_pd(b, a, (D)when); }
OF bool any_1(W when) { return _mm_movemask_pd((D)when) != 0; }
#endif

#ifdef __FMA__
OF D fmadd_1(D a, D b, D c) { return (D)CALL(fmadd)(a, b, c); }
OF D fnmadd_1(D a, D b, D c) { return (D)CALL(fnmadd)(a, b, c); }
OF D fmsub_1(D a, D b, D c) { return (D)CALL(fmsub)(a, b, c); }
#else

/* sum + *error = a + b, exactly (Knuth). */
OF D sum_exactly(D a, D b, D *error) {
  D sum = a + b, part = sum - a;
  *error = (a - (sum - part)) + (b - part);
  return sum;
}

/* The upper 26 bits of a (Veltkamp). */
OF D upper_half(D a) {
  D c = a * 0x1.0000002p27;
  return c - (c - a);
}

static __attribute__((noinline)) D fmadd_singly(D a, D b, D c) {
  D result;
  for (int i = 0; i < WIDTH; i++) result[i] = __builtin_fma(a[i], b[i], c[i]);
  return result;
}

static __attribute__((noinline)) D fmadd_1(D a, D b, D c) {
  D product = a * b, a1 = upper_half(a), a2 = a - a1, b1 = upper_half(b), b2 = b - b1;
  D rest = ((a1 * b1 - product + a1 * b2) + a2 * b1) + a2 * b2;
  D size = magnitude_1(product), largest = 0x1p990 - (D){0};
  W safe = (W)(magnitude_1(a) < largest) & (W)(magnitude_1(b) < largest) & (W)(magnitude_1(c) < largest) &
           (size < largest);
  safe &= (size > 0x1p-900) | (a == 0) | (b == 0);
  if (any_1(~safe)) return fmadd_singly(a, b, c);
  D error, low, sum = sum_exactly(product, sum_exactly(c, rest, &low), &error);
  D inexact, odd = sum_exactly(low, error, &inexact);
  W towards = ((W)odd ^ (W)inexact) < 0; /* -1: the exact sum is nearer to 0 */
  W step = (towards | 1) & (W)(inexact != 0) & -(((W)odd & 1) ^ 1);
  odd = (D)((W)odd + step);
  /* -0 + 0 would lose a sign, twice: in the last sum, and in c + rest where the result is 0 */
  return choose_1(odd == 0, choose_1(sum == 0, product + c, sum), sum + odd);
}
OF D fnmadd_1(D a, D b, D c) { return fmadd_1(neg_1(a), b, c); }
OF D fmsub_1(D a, D b, D c) { return fmadd_1(a, b, neg_1(c)); }
#endif

/* ---- the vocabulary ------------------------------------------------------------------------- */

/* Functions that do the same with both halves: x, y and z are the operands' halves. */
#define ONE(T, name, A, expression) \
  OF T name(A p) {                  \
    T result;                       \
    {                               \
      __typeof__(p.a) x = p.a;      \
      result.a = expression;        \
    }                               \
    {                               \
      __typeof__(p.b) x = p.b;      \
      result.b = expression;        \
    }                               \
    return result;                  \
  }
#define TWO(T, name, A, expression)     \
  OF T name(A p, A q) {                 \
    T result;                           \
    {                                   \
      __typeof__(p.a) x = p.a, y = q.a; \
      result.a = expression;            \
    }                                   \
    {                                   \
      __typeof__(p.b) x = p.b, y = q.b; \
      result.b = expression;            \
    }                                   \
    return result;                      \
  }
#define THREE(T, name, A, expression) \
  OF T name(A x, A y, A z) { return (T){expression(x.a, y.a, z.a), expression(x.b, y.b, z.b)}; }

OF F number(double x) { return (F){x - (D){0}, x - (D){0}}; }
OF I whole(int64_t n) { return (I){n + (W){0}, n + (W){0}}; }

TWO(F, add, F, x + y)
TWO(F, sub, F, x - y)
TWO(F, mul, F, x *y)
TWO(F, divide, F, x / y)
ONE(I, bits, F, (W)x)
ONE(F, from_bits, I, (D)x)
ONE(F, neg, F, neg_1(x))
ONE(F, magnitude, F, magnitude_1(x))
TWO(F, with_sign, F, (D)(((W)x & INT64_MAX) | ((W)y & INT64_MIN)))
ONE(F, square_root, F, root_1(x))
ONE(F, nearest, F, nearest_1(x))
TWO(F, smaller_of, F, (D)CALL(min)(x, y)) /* y, if x or y is NaN */
TWO(F, larger_of, F, (D)CALL(max)(y, x))  /* x, if x or y is NaN */
THREE(F, fmadd, F, fmadd_1)
THREE(F, fnmadd, F, fnmadd_1)
THREE(F, fmsub, F, fmsub_1)

TWO(I, i_add, I, (W)((U)x + (U)y))
TWO(I, i_sub, I, (W)((U)x - (U)y))
TWO(I, i_and, I, x &y)
TWO(I, i_or, I, x | y)
TWO(I, i_xor, I, x ^ y)
OF I shift_left(I x, int by) { return (I){(W)((U)x.a << by), (W)((U)x.b << by)}; }
OF I shift_right(I x, int by) { return (I){(W)((U)x.a >> by), (W)((U)x.b >> by)}; }
/* Of the low halves, unsigned. */
TWO(I, low_product, I, (W)(((U)x & 0xffffffff) * ((U)y & 0xffffffff)))

TWO(B, less, F, x < y)
TWO(B, at_most, F, x <= y)
TWO(B, equal, F, x == y)
ONE(B, is_nan, F, x != x)
TWO(B, i_less, I, x < y)
TWO(B, i_equal, I, x == y)
ONE(B, is_odd, I, (W)((U)x << 63))
TWO(B, both, B, x &y)
TWO(B, either, B, x | y)
ONE(B, opposite, B, ~x)
OF F choose(B when, F x, F y) { return (F){choose_1(when.a, x.a, y.a), choose_1(when.b, x.b, y.b)}; }
OF I i_choose(B when, I x, I y) { return bits(choose(when, from_bits(x), from_bits(y))); }
OF bool any(B when) { return any_1(when.a | when.b); }

#define rare(when, function, x, otherwise) (any(when) ? choose(when, function(x), otherwise) : (otherwise))
#define rare_2(when, function, x, y, otherwise) \
  (any(when) ? choose(when, function(x, y), otherwise) : (otherwise))

#undef ONE /* which is a coefficient elsewhere */

#include "kernel/elementary/elementary_functions.h"

/* ---- arrays ----------------------------------------------------------------------------------- */

OF F load_double(const double *x) {
  F v;
  memcpy(&v.a, x, sizeof v.a);
  memcpy(&v.b, x + WIDTH, sizeof v.b);
  return v;
}
OF F load_float(const float *x) { return (F){widen_1(x), widen_1(x + WIDTH)}; }

OF void store_double(double *x, F v) {
  memcpy(x, &v.a, sizeof v.a);
  memcpy(x + WIDTH, &v.b, sizeof v.b);
}
OF void store_float(float *x, F v) {
  S a = __builtin_convertvector(v.a, S), b = __builtin_convertvector(v.b, S);
  memcpy(x, &a, sizeof a);
  memcpy(x + WIDTH, &b, sizeof b);
}
OF void store_odd(float *x, F v) {
  for (int i = 0; i < WIDTH; i++) {
    x[i] = lgt_float_round_odd(v.a[i]);
    x[i + WIDTH] = lgt_float_round_odd(v.b[i]);
  }
}

/* n elements, fewer than there are lanes, and more copies of the first: idle lanes must not take a rare path of their own. */
#define FILLED(T)                                                \
  static const T *filled_##T(T *lanes, const T *x, int64_t n) {  \
    for (int i = 0; i < LANES; i++) lanes[i] = x[i < n ? i : 0]; \
    return lanes;                                                \
  }
FILLED(double)
FILLED(float)

/* The last elements go through arrays that are as long as there are lanes, so that the function is inlined once. */
#define EACH(name, T, form, operands, ...)                                   \
  static void name(void *out, const void *a, const void *b, int64_t n) {     \
    T lanes[3][LANES];                                                       \
    (void)b;                                                                 \
    for (int64_t i = 0; i < n; i += LANES) {                                 \
      const T *x = (const T *)a + i, *y = (const T *)b + i;                  \
      T *to = (T *)out + i;                                                  \
      int64_t left = n - i;                                                  \
      if (left < LANES) {                                                    \
        x = filled_##T(lanes[0], x, left);                                   \
        if (operands == 2) y = filled_##T(lanes[1], y, left);                \
        to = lanes[2];                                                       \
      }                                                                      \
      (void)y;                                                               \
      store_##form(to, __VA_ARGS__);                                         \
      if (left < LANES) memcpy((T *)out + i, to, (size_t)left * sizeof *to); \
    }                                                                        \
  }
#define ARGUMENTS_1(T) load_##T(x)
#define ARGUMENTS_2(T) load_##T(x), load_##T(y)
#define X(NAME, name, arity)                                                         \
  EACH(name##_all_f64, double, double, arity, name##_f64(ARGUMENTS_##arity(double))) \
  EACH(name##_all_f32, float, float, arity, name##_f32(ARGUMENTS_##arity(float)))    \
  EACH(name##_all_f16, float, odd, arity, name##_f32(ARGUMENTS_##arity(float)))
LGT_MATH_LIST(X)
#undef X
EACH(power_all_f64, double, double, 1, power_f64(load_double(x), (int)*(const double *)b))
EACH(power_all_f32, float, float, 1, power_f32(load_float(x), (int)*(const float *)b))
EACH(power_all_f16, float, odd, 1, power_f32(load_float(x), (int)*(const float *)b))

#define EACH_PAIR(name, T, form, first, second)                                           \
  static void name(void *out, const void *a, void *more, int64_t n) {                     \
    T lanes[3][LANES];                                                                    \
    for (int64_t i = 0; i < n; i += LANES) {                                              \
      int64_t left = n - i;                                                               \
      bool part = left < LANES;                                                           \
      T *to = part ? lanes[1] : (T *)out + i, *to_more = part ? lanes[2] : (T *)more + i; \
      const T *x = (const T *)a + i;                                                      \
      F v = load_##T(part ? filled_##T(lanes[0], x, left) : x);                           \
      store_##form(to, first(v));                                                         \
      store_##form(to_more, second(v));                                                   \
      if (!part) continue;                                                                \
      memcpy((T *)out + i, to, (size_t)left * sizeof *to);                                \
      memcpy((T *)more + i, to_more, (size_t)left * sizeof *to);                          \
    }                                                                                     \
  }
EACH_PAIR(sincos_all_f64, double, double, sin_f64, cos_f64)
EACH_PAIR(sincos_all_f32, float, float, sin_f32, cos_f32)
EACH_PAIR(sincos_all_f16, float, odd, sin_f32, cos_f32)

const lgt_math_table LGT_MATH_TABLE = {
    .math =
        {
#define X(NAME, name, arity) [LGT_OP_##NAME] = {name##_all_f64, name##_all_f32, name##_all_f16},
            LGT_MATH_LIST(X)
#undef X
                [LGT_OP_POWER] = {power_all_f64, power_all_f32, power_all_f16},
        },
    .sincos = {sincos_all_f64, sincos_all_f32, sincos_all_f16},
};
