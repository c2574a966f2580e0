/* interp_ops.c - one inner loop for each opcode and dtype.
 *
 * This file states the meaning of every opcode, in plain C; body.h tells it in words.  It is compiled once
 * for each instruction set (LGT_INTERP_OPS is the name of the table), without contraction, so that the sets
 * differ in speed only.  Flags that the build must give: -fwrapv, because integers wrap, and
 * -fno-trapping-math, without which gcc would not vectorise comparisons.
 *
 * Functions are named <operation>_<type>, type one of b i8 i16 i32 i64 u8 u16 u32 u64 f32 f64; the tables at
 * the end put float16 on the functions of f32.
 */
#include "kernel/interp_ops.h"

#include <math.h>
#include <string.h>

#include "base/half.h"
#include "kernel/helper.h"

/* n up to whole vectors. */
static inline int64_t padded(int64_t n) { return (n + LGT_LANES - 1) & -(int64_t)LGT_LANES; }

#define BLOCK(p) __builtin_assume_aligned(p, 64)

#define SIGNED(X)   X(i8, int8_t) X(i16, int16_t) X(i32, int32_t) X(i64, int64_t)
#define UNSIGNED(X) X(u8, uint8_t) X(u16, uint16_t) X(u32, uint32_t) X(u64, uint64_t)
#define INTEGERS(X) SIGNED(X) UNSIGNED(X)
#define FLOATS(X)   X(f32, float) X(f64, double)
#define NUMBERS(X)  INTEGERS(X) FLOATS(X)

/* ---- templates -------------------------------------------------------------------------------- */

/* out[i] = f(a[i]) and so on; T of the operands, R of the result. */
#define LOOP1(name, T, R, f)                                                                              \
  static void name(void *restrict out, const void *restrict a, const void *b, const void *c, int64_t n) { \
    (void)b, (void)c;                                                                                     \
    R *restrict r = BLOCK(out);                                                                           \
    const T *restrict x = BLOCK(a);                                                                       \
    for (int64_t i = 0, m = padded(n); i < m; i++) r[i] = (R)f(x[i]);                                     \
  }
#define LOOP2(name, T, R, f)                                                                     \
  static void name(void *restrict out, const void *a, const void *b, const void *c, int64_t n) { \
    (void)c;                                                                                     \
    R *restrict r = BLOCK(out);                                                                  \
    const T *x = BLOCK(a), *y = BLOCK(b);                                                        \
    for (int64_t i = 0, m = padded(n); i < m; i++) r[i] = (R)f(x[i], y[i]);                      \
  }

/* clang-format takes a list of macros for one long statement. */
/* clang-format off */

/* ---- arithmetic ------------------------------------------------------------------------------- */

#define ADD(x, y) ((x) + (y))
#define SUB(x, y) ((x) - (y))
#define MUL(x, y) ((x) * (y))
#define DIV(x, y) ((x) / (y))
#define NEG(x)    (-(x))
#define X(t, T)                                       \
  LOOP2(add_##t, T, T, ADD) LOOP2(sub_##t, T, T, SUB) \
  LOOP2(mul_##t, T, T, MUL) LOOP1(neg_##t, T, T, NEG)
UNSIGNED(X)
FLOATS(X)
#undef X

#define MIN(x, y)  ((x) < (y) || (x) != (x) ? (x) : (y))
#define MAX(x, y)  ((x) > (y) || (x) != (x) ? (x) : (y))
#define FMIN(x, y) ((x) < (y) || (y) != (y) ? (x) : (y))
#define FMAX(x, y) ((x) > (y) || (y) != (y) ? (x) : (y))
#define X(t, T)    LOOP2(min_##t, T, T, MIN) LOOP2(max_##t, T, T, MAX)
NUMBERS(X)
#undef X
#define X(t, T) LOOP2(fmin_##t, T, T, FMIN) LOOP2(fmax_##t, T, T, FMAX)
FLOATS(X)
#undef X

#define ABS(x)           ((x) < 0 ? -(x) : (x))
#define SAME(x)          (x)
#define SIGN(x)          ((x) > 0 ? 1 : (x) < 0 ? -1 : 0)
#define SIGN_UNSIGNED(x) ((x) != 0)
#define SIGN_FLOAT(x)    ((x) > 0 ? 1 : (x) < 0 ? -1 : (x) == 0 ? 0 : (x))
#define X(t, T)          LOOP1(abs_##t, T, T, ABS) LOOP1(sign_##t, T, T, SIGN)
SIGNED(X)
#undef X
#define X(t, T) LOOP1(abs_##t, T, T, SAME) LOOP1(sign_##t, T, T, SIGN_UNSIGNED)
UNSIGNED(X)
#undef X
LOOP1(abs_f32, float, float, __builtin_fabsf)
LOOP1(abs_f64, double, double, __builtin_fabs)
#define X(t, T) LOOP1(sign_##t, T, T, SIGN_FLOAT)
FLOATS(X)
#undef X

/* Integer division and power are helper.c's, in 64 bits; narrower integers are widened and cut. */
#define WIDE2(name, T, W, helper)                                                                   \
  static void name(void *restrict out, const void *a, const void *b, const void *c, int64_t n) {    \
    (void)c;                                                                                        \
    T *r = out;                                                                                     \
    const T *x = a, *y = b;                                                                         \
    W wide_x[64], wide_y[64];                                                                       \
    for (int64_t from = 0; from < n; from += 64) {                                                  \
      int64_t count = n - from < 64 ? n - from : 64;                                                \
      for (int64_t i = 0; i < count; i++) wide_x[i] = (W)x[from + i], wide_y[i] = (W)y[from + i];   \
      helper(wide_x, wide_x, wide_y, count);                                                        \
      for (int64_t i = 0; i < count; i++) r[from + i] = (T)wide_x[i];                               \
    }                                                                                               \
    for (int64_t i = n, m = padded(n); i < m; i++) r[i] = r[n - 1]; /* computed with, so defined */ \
  }
#define X(t, T)                                                                                           \
  WIDE2(div_##t, T, int64_t, lgt_helper_div_i64) WIDE2(floordiv_##t, T, int64_t, lgt_helper_floordiv_i64) \
  WIDE2(mod_##t, T, int64_t, lgt_helper_mod_i64) WIDE2(pow_##t, T, int64_t, lgt_helper_pow_i64)           \
  WIDE2(fmod_##t, T, int64_t, lgt_helper_fmod_i64)
SIGNED(X)
#undef X
#define X(t, T)                                                                                             \
  WIDE2(div_##t, T, uint64_t, lgt_helper_div_u64) WIDE2(floordiv_##t, T, uint64_t, lgt_helper_floordiv_u64) \
  WIDE2(mod_##t, T, uint64_t, lgt_helper_mod_u64) WIDE2(pow_##t, T, uint64_t, lgt_helper_pow_u64)           \
  WIDE2(fmod_##t, T, uint64_t, lgt_helper_fmod_u64)
UNSIGNED(X)
#undef X
#define X(t, T)                                                                       \
  LOOP2(div_##t, T, T, DIV) WIDE2(floordiv_##t, T, T, lgt_helper_floordiv_##t)        \
  WIDE2(mod_##t, T, T, lgt_helper_mod_##t) WIDE2(fmod_##t, T, T, lgt_helper_fmod_##t)
FLOATS(X)
#undef X

#define COPYSIGN_F32(x, y) __builtin_copysignf(x, y)
#define COPYSIGN_F64(x, y) __builtin_copysign(x, y)
LOOP2(copysign_f32, float, float, COPYSIGN_F32)
LOOP2(copysign_f64, double, double, COPYSIGN_F64)
LOOP1(floor_f32, float, float, __builtin_floorf)
LOOP1(floor_f64, double, double, __builtin_floor)
LOOP1(ceil_f32, float, float, __builtin_ceilf)
LOOP1(ceil_f64, double, double, __builtin_ceil)
LOOP1(trunc_f32, float, float, __builtin_truncf)
LOOP1(trunc_f64, double, double, __builtin_trunc)
LOOP1(rint_f32, float, float, __builtin_rintf)
LOOP1(rint_f64, double, double, __builtin_rint)
LOOP1(sqrt_f32, float, float, __builtin_sqrtf)
LOOP1(sqrt_f64, double, double, __builtin_sqrt)

/* ---- bits ------------------------------------------------------------------------------------- */

#define AND(x, y)        ((x) & (y))
#define OR(x, y)         ((x) | (y))
#define XOR(x, y)        ((x) ^ (y))
#define NOT(x)           (~(x))
#define NOT_BOOL(x)      ((x) ^ 1)
#define SHL(x, y)        ((uint64_t)(y) < 8 * sizeof(x) ? (uint64_t)(x) << ((y) & 63) : 0)
#define SHR(x, y)        ((uint64_t)(y) < 8 * sizeof(x) ? (x) >> ((y) & 63) : 0)
#define SHR_SIGNED(x, y) ((int64_t)(x) >> ((uint64_t)(y) < 63 ? (y) : 63))
#define X(t, T)                                       \
  LOOP2(and_##t, T, T, AND) LOOP2(or_##t, T, T, OR)   \
  LOOP2(xor_##t, T, T, XOR) LOOP1(not_##t, T, T, NOT) \
  LOOP2(shl_##t, T, T, SHL)
UNSIGNED(X)
#undef X
#define X(t, T) LOOP2(shr_##t, T, T, SHR_SIGNED)
SIGNED(X)
#undef X
#define X(t, T) LOOP2(shr_##t, T, T, SHR)
UNSIGNED(X)
#undef X
LOOP1(not_b, uint8_t, uint8_t, NOT_BOOL)

/* ---- comparisons, tests, choice --------------------------------------------------------------- */

#define EQ(x, y) ((x) == (y))
#define NE(x, y) ((x) != (y))
#define LT(x, y) ((x) < (y))
#define LE(x, y) ((x) <= (y))
#define GT(x, y) ((x) > (y))
#define GE(x, y) ((x) >= (y))
#define X(t, T)  LOOP2(eq_##t, T, uint8_t, EQ) LOOP2(ne_##t, T, uint8_t, NE)
UNSIGNED(X) FLOATS(X)
#undef X
#define X(t, T)                                               \
  LOOP2(lt_##t, T, uint8_t, LT) LOOP2(le_##t, T, uint8_t, LE) \
  LOOP2(gt_##t, T, uint8_t, GT) LOOP2(ge_##t, T, uint8_t, GE)
NUMBERS(X)
#undef X

#define ISNAN(x)    ((x) != (x))
#define ISINF(x)    (((x) < 0 ? -(x) : (x)) == INFINITY)
#define ISFINITE(x) (((x) < 0 ? -(x) : (x)) < INFINITY)
#define X(t, T)                                                           \
  LOOP1(isnan_##t, T, uint8_t, ISNAN) LOOP1(isinf_##t, T, uint8_t, ISINF) \
  LOOP1(isfinite_##t, T, uint8_t, ISFINITE)
FLOATS(X)
#undef X
#define TOP_BIT(x) ((x) >> (8 * sizeof(x) - 1))
LOOP1(signbit_f32, uint32_t, uint8_t, TOP_BIT)
LOOP1(signbit_f64, uint64_t, uint8_t, TOP_BIT)

#define X(t, T)                                                                                        \
  static void select_##t(void *restrict out, const void *a, const void *b, const void *c, int64_t n) { \
    T *restrict r = BLOCK(out);                                                                        \
    const uint8_t *when = BLOCK(a);                                                                    \
    const T *x = BLOCK(b), *y = BLOCK(c);                                                              \
    for (int64_t i = 0, m = padded(n); i < m; i++) r[i] = when[i] ? x[i] : y[i];                       \
  }
UNSIGNED(X)
#undef X

/* ---- random numbers --------------------------------------------------------------------------- */

static inline uint64_t philox(uint64_t counter, uint64_t key) {
  uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32), c2 = 0, c3 = 0;
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
#pragma GCC unroll 10 /* or the loop over elements is not vectorised */
  for (int round = 0; round < 10; round++, k0 += 0x9e3779b9, k1 += 0xbb67ae85) {
    uint64_t p = (uint64_t)0xd2511f53 * c0, q = (uint64_t)0xcd9e8d57 * c2;
    uint32_t next0 = (uint32_t)(q >> 32) ^ c1 ^ k0, next2 = (uint32_t)(p >> 32) ^ c3 ^ k1;
    c0 = next0, c1 = (uint32_t)q, c2 = next2, c3 = (uint32_t)p;
  }
  return c0 | (uint64_t)c1 << 32;
}
LOOP2(philox_u64, uint64_t, uint64_t, philox)

/* ---- casts ------------------------------------------------------------------------------------ */

static inline int32_t to_i32(double x) { return x > -0x1p31 - 1 && x < 0x1p31 ? (int32_t)x : INT32_MIN; }
static inline int64_t to_i64(double x) { return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN; }
static inline uint64_t to_u64(double x) {
  return x >= 0x1p63 && x < 0x1p64 ? (uint64_t)to_i64(x - 0x1p63) ^ (uint64_t)1 << 63 : (uint64_t)to_i64(x);
}

#define TO_BOOL(x) ((x) != 0)
#define CUT(x)     (x)
#define TO_HALF(x) lgt_half_round((float)(x)) /* of integers: those that float32 rounds are too great anyway */
#define DOUBLE_TO_HALF(x) lgt_half_round(lgt_float_round_odd(x))
#define FROM_INTEGER(t, T)                                                         \
  LOOP1(cast_##t##_b, T, uint8_t, TO_BOOL) LOOP1(cast_##t##_i8, T, int8_t, CUT)    \
  LOOP1(cast_##t##_i16, T, int16_t, CUT) LOOP1(cast_##t##_i32, T, int32_t, CUT)    \
  LOOP1(cast_##t##_i64, T, int64_t, CUT) LOOP1(cast_##t##_u8, T, uint8_t, CUT)     \
  LOOP1(cast_##t##_u16, T, uint16_t, CUT) LOOP1(cast_##t##_u32, T, uint32_t, CUT)  \
  LOOP1(cast_##t##_u64, T, uint64_t, CUT) LOOP1(cast_##t##_f16, T, float, TO_HALF) \
  LOOP1(cast_##t##_f32, T, float, CUT) LOOP1(cast_##t##_f64, T, double, CUT)
INTEGERS(FROM_INTEGER)
#define FROM_FLOAT(t, T)                                                                \
  LOOP1(cast_##t##_b, T, uint8_t, TO_BOOL) LOOP1(cast_##t##_i8, T, int8_t, to_i32)      \
  LOOP1(cast_##t##_i16, T, int16_t, to_i32) LOOP1(cast_##t##_i32, T, int32_t, to_i32)   \
  LOOP1(cast_##t##_i64, T, int64_t, to_i64) LOOP1(cast_##t##_u8, T, uint8_t, to_i32)    \
  LOOP1(cast_##t##_u16, T, uint16_t, to_i32) LOOP1(cast_##t##_u32, T, uint32_t, to_i64) \
  LOOP1(cast_##t##_u64, T, uint64_t, to_u64) LOOP1(cast_##t##_f32, T, float, CUT)       \
  LOOP1(cast_##t##_f64, T, double, CUT)
FLOATS(FROM_FLOAT)
LOOP1(cast_f32_f16, float, float, lgt_half_round)
LOOP1(cast_f64_f16, double, float, DOUBLE_TO_HALF)

/* ---- memory ----------------------------------------------------------------------------------- */

/* M is the type in memory, T that in scratch. */
#define LOAD(t, M, T, f)                                                                  \
  static void load_##t(void *restrict out, const char *from, int64_t stride, int64_t n) { \
    typedef M __attribute__((aligned(1), may_alias)) memory;                              \
    T *restrict r = out;                                                                  \
    if (stride == sizeof(M)) {                                                            \
      const memory *x = (const memory *)from;                                             \
      for (int64_t i = 0; i < n; i++) r[i] = (T)f(x[i]);                                  \
    } else if (stride == 0) {                                                             \
      T x = (T)f(*(const memory *)from);                                                  \
      for (int64_t i = 0; i < n; i++) r[i] = x;                                           \
    } else {                                                                              \
      for (int64_t i = 0; i < n; i++) r[i] = (T)f(*(const memory *)(from + i * stride));  \
    }                                                                                     \
  }
#define STORE(t, M, T, f)                                                                   \
  static void store_##t(char *to, int64_t stride, const void *restrict values, int64_t n) { \
    typedef M __attribute__((aligned(1), may_alias)) memory;                                \
    const T *restrict x = values;                                                           \
    if (stride == sizeof(M)) {                                                              \
      memory *r = (memory *)to;                                                             \
      for (int64_t i = 0; i < n; i++) r[i] = f(x[i]);                                       \
    } else {                                                                                \
      for (int64_t i = 0; i < n; i++) *(memory *)(to + i * stride) = f(x[i]);               \
    }                                                                                       \
  }
#define X(t, T) LOAD(t, T, T, CUT) STORE(t, T, T, CUT)
UNSIGNED(X)
#undef X
LOAD(bool, uint8_t, uint8_t, TO_BOOL)
LOAD(f16, uint16_t, float, lgt_half_to_float)
STORE(f16, uint16_t, float, lgt_half_from_float)

static void half_round(float *values, int64_t n) {
  float *x = BLOCK(values);
  for (int64_t i = 0, m = padded(n); i < m; i++) x[i] = lgt_half_round(x[i]);
}

/* ---- reductions ------------------------------------------------------------------------------- */

/* name, type in memory and in scratch, conversions between them, and the operator. */
#define REDUCE(name, M, T, in, out, op)                                                       \
  static void lanes_##name(void *acc, const void *values, int64_t n) {                        \
    T lane[LGT_LANES];                                                                        \
    const T *x = values;                                                                      \
    memcpy(lane, acc, sizeof lane);                                                           \
    int64_t i = 0;                                                                            \
    for (; i + LGT_LANES <= n; i += LGT_LANES)                                                \
      for (int k = 0; k < LGT_LANES; k++) lane[k] = (T)op(lane[k], x[i + k]);                 \
    for (int k = 0; i + k < n; k++) lane[k] = (T)op(lane[k], x[i + k]);                       \
    memcpy(acc, lane, sizeof lane);                                                           \
  }                                                                                           \
  static void fold_##name(void *acc) {                                                        \
    T *lane = acc;                                                                            \
    for (int width = LGT_LANES / 2; width; width /= 2)                                        \
      for (int k = 0; k < width; k++) lane[k] = (T)op(lane[k], lane[k + width]);              \
  }                                                                                           \
  static void each_##name(char *to, int64_t stride, const void *restrict values, int64_t n) { \
    typedef M __attribute__((aligned(1), may_alias)) memory;                                  \
    const T *restrict x = values;                                                             \
    if (stride == sizeof(M)) {                                                                \
      memory *r = (memory *)to;                                                               \
      for (int64_t i = 0; i < n; i++) r[i] = (M)out((T)op(in(r[i]), x[i]));                   \
      return;                                                                                 \
    }                                                                                         \
    for (int64_t i = 0; i < n; i++) {                                                         \
      memory *r = (memory *)(to + i * stride);                                                \
      *r = (M)out((T)op(in(*r), x[i]));                                                       \
    }                                                                                         \
  }
#define HALF(op, x, y) lgt_half_round(op(x, y))
#define HALF_ADD(x, y) HALF(ADD, x, y)
#define HALF_MUL(x, y) HALF(MUL, x, y)
#define X(t, T)        REDUCE(sum_##t, T, T, CUT, CUT, ADD) REDUCE(prod_##t, T, T, CUT, CUT, MUL)
UNSIGNED(X)
FLOATS(X)
#undef X
#define X(t, T) REDUCE(min_##t, T, T, CUT, CUT, MIN) REDUCE(max_##t, T, T, CUT, CUT, MAX)
NUMBERS(X)
#undef X
#define REDUCE_HALF(name, op) REDUCE(name##_f16, uint16_t, float, lgt_half_to_float, lgt_half_from_float, op)
REDUCE_HALF(sum, HALF_ADD)
REDUCE_HALF(prod, HALF_MUL)
REDUCE_HALF(min, MIN)
REDUCE_HALF(max, MAX)
#define X(t, T)                                                           \
  REDUCE(and_##t, T, T, CUT, CUT, AND) REDUCE(or_##t, T, T, CUT, CUT, OR) \
  REDUCE(xor_##t, T, T, CUT, CUT, XOR)
UNSIGNED(X)
#undef X

/* Is (y, j) better than (x, i)?  A NaN beats numbers; equals go by position. */
#define BETTER(beats, x, i, y, j) \
  ((y) beats (x) || ((y) != (y) && (x) == (x)) || (((y) == (x) || ((y) != (y) && (x) != (x))) && (j) < (i)))
#define REDUCE_ARG(name, M, T, in, out, beats)                                                               \
  static inline void take_##name(T *value, int64_t *at, T y, int64_t j) {                                    \
    T x = *value;                                                                                            \
    bool better = BETTER(beats, x, *at, y, j);                                                               \
    *value = better ? y : x;                                                                                 \
    *at = better ? j : *at;                                                                                  \
  }                                                                                                          \
  static void lanes_##name(void *acc, int64_t *acc_at, const void *values, const int64_t *at, int64_t n) {   \
    T *lane = acc;                                                                                           \
    const T *x = values;                                                                                     \
    for (int64_t i = 0; i < n; i++) take_##name(&lane[i % LGT_LANES], &acc_at[i % LGT_LANES], x[i], at[i]);  \
  }                                                                                                          \
  static void fold_##name(void *acc, int64_t *acc_at) {                                                      \
    T *lane = acc;                                                                                           \
    for (int width = LGT_LANES / 2; width; width /= 2)                                                       \
      for (int k = 0; k < width; k++) take_##name(&lane[k], &acc_at[k], lane[k + width], acc_at[k + width]); \
  }                                                                                                          \
  static void each_##name(char *to, int64_t stride, char *to_at, int64_t stride_at, const void *values,      \
                          const int64_t *at, int64_t n) {                                                    \
    typedef M __attribute__((aligned(1), may_alias)) memory;                                                 \
    const T *x = values;                                                                                     \
    for (int64_t i = 0; i < n; i++) {                                                                        \
      memory *r = (memory *)(to + i * stride);                                                               \
      T value = (T)in(*r);                                                                                   \
      int64_t position;                                                                                      \
      memcpy(&position, to_at + i * stride_at, sizeof position);                                             \
      take_##name(&value, &position, x[i], at[i]);                                                           \
      *r = (M)out(value);                                                                                    \
      memcpy(to_at + i * stride_at, &position, sizeof position);                                             \
    }                                                                                                        \
  }
#define X(t, T) REDUCE_ARG(argmin_##t, T, T, CUT, CUT, <) REDUCE_ARG(argmax_##t, T, T, CUT, CUT, >)
NUMBERS(X)
#undef X
REDUCE_ARG(argmin_f16, uint16_t, float, lgt_half_to_float, lgt_half_from_float, <)
REDUCE_ARG(argmax_f16, uint16_t, float, lgt_half_to_float, lgt_half_from_float, >)

/* ---- the table -------------------------------------------------------------------------------- */

/* A row gives each dtype its function.  ROW_BITS is for what does the same to signed and unsigned. */
#define ROW_SIGNED(f) [LGT_INT8] = f##_i8, [LGT_INT16] = f##_i16, [LGT_INT32] = f##_i32, [LGT_INT64] = f##_i64
#define ROW_UNSIGNED(f) \
  [LGT_UINT8] = f##_u8, [LGT_UINT16] = f##_u16, [LGT_UINT32] = f##_u32, [LGT_UINT64] = f##_u64
#define ROW_INTEGERS(f) ROW_SIGNED(f), ROW_UNSIGNED(f)
#define ROW_BITS(f) \
  [LGT_INT8] = f##_u8, [LGT_INT16] = f##_u16, [LGT_INT32] = f##_u32, [LGT_INT64] = f##_u64, ROW_UNSIGNED(f)
#define ROW_FLOATS(f)   [LGT_FLOAT16] = f##_f32, [LGT_FLOAT32] = f##_f32, [LGT_FLOAT64] = f##_f64
#define ROW_NUMBERS(f)  ROW_INTEGERS(f), ROW_FLOATS(f)
#define BOOL_ROW(f)     [LGT_BOOL] = f##_u8
#define WIDTH_FLOATS(f) [LGT_FLOAT32] = f##_u32, [LGT_FLOAT64] = f##_u64

#define CASTS(t)                                                                                   \
  {                                                                                                \
    [LGT_BOOL] = cast_##t##_b, [LGT_INT8] = cast_##t##_i8, [LGT_INT16] = cast_##t##_i16,           \
    [LGT_INT32] = cast_##t##_i32, [LGT_INT64] = cast_##t##_i64, [LGT_UINT8] = cast_##t##_u8,       \
    [LGT_UINT16] = cast_##t##_u16, [LGT_UINT32] = cast_##t##_u32, [LGT_UINT64] = cast_##t##_u64,   \
    [LGT_FLOAT16] = cast_##t##_f16, [LGT_FLOAT32] = cast_##t##_f32, [LGT_FLOAT64] = cast_##t##_f64 \
  }

#define FNS(f) \
  { lanes_##f, fold_##f, each_##f }
#define BOOL_FNS(f) [LGT_BOOL] = FNS(f##_u8)
#define SIGNED_FNS(f) \
  [LGT_INT8] = FNS(f##_i8), [LGT_INT16] = FNS(f##_i16), [LGT_INT32] = FNS(f##_i32), [LGT_INT64] = FNS(f##_i64)
#define UNSIGNED_FNS(f)                                                                \
  [LGT_UINT8] = FNS(f##_u8), [LGT_UINT16] = FNS(f##_u16), [LGT_UINT32] = FNS(f##_u32), \
  [LGT_UINT64] = FNS(f##_u64)
#define BITS_FNS(f)                                                                 \
  [LGT_INT8] = FNS(f##_u8), [LGT_INT16] = FNS(f##_u16), [LGT_INT32] = FNS(f##_u32), \
  [LGT_INT64] = FNS(f##_u64), UNSIGNED_FNS(f)
#define FLOATS_FNS(f) [LGT_FLOAT16] = FNS(f##_f16), [LGT_FLOAT32] = FNS(f##_f32), [LGT_FLOAT64] = FNS(f##_f64)
#define ORDER_FNS(f)  BOOL_FNS(f), SIGNED_FNS(f), UNSIGNED_FNS(f), FLOATS_FNS(f)

const lgt_interp_ops LGT_INTERP_OPS = {
    .op =
        {
            [LGT_OP_SELECT] = {BOOL_ROW(select), ROW_BITS(select),
                               WIDTH_FLOATS(select), [LGT_FLOAT16] = select_u32},
            [LGT_OP_ADD] = {ROW_BITS(add), ROW_FLOATS(add)},
            [LGT_OP_SUB] = {ROW_BITS(sub), ROW_FLOATS(sub)},
            [LGT_OP_MUL] = {ROW_BITS(mul), ROW_FLOATS(mul)},
            [LGT_OP_DIV] = {ROW_NUMBERS(div)},
            [LGT_OP_FLOORDIV] = {ROW_NUMBERS(floordiv)},
            [LGT_OP_MOD] = {ROW_NUMBERS(mod)},
            [LGT_OP_FMOD] = {ROW_NUMBERS(fmod)},
            [LGT_OP_POW] = {ROW_INTEGERS(pow)},
            [LGT_OP_MIN] = {BOOL_ROW(min), ROW_NUMBERS(min)},
            [LGT_OP_MAX] = {BOOL_ROW(max), ROW_NUMBERS(max)},
            [LGT_OP_FMIN] = {BOOL_ROW(min), ROW_INTEGERS(min), ROW_FLOATS(fmin)},
            [LGT_OP_FMAX] = {BOOL_ROW(max), ROW_INTEGERS(max), ROW_FLOATS(fmax)},
            [LGT_OP_COPYSIGN] = {ROW_FLOATS(copysign)},
            [LGT_OP_NEG] = {ROW_BITS(neg), ROW_FLOATS(neg)},
            [LGT_OP_ABS] = {ROW_NUMBERS(abs)},
            [LGT_OP_SIGN] = {ROW_NUMBERS(sign)},
            [LGT_OP_AND] = {BOOL_ROW(and), ROW_BITS(and)},
            [LGT_OP_OR] = {BOOL_ROW(or), ROW_BITS(or)},
            [LGT_OP_XOR] = {BOOL_ROW(xor), ROW_BITS(xor)},
            [LGT_OP_NOT] = {[LGT_BOOL] = not_b, ROW_BITS(not)},
            [LGT_OP_SHL] = {ROW_BITS(shl)},
            [LGT_OP_SHR] = {ROW_INTEGERS(shr)},
            [LGT_OP_EQ] = {BOOL_ROW(eq), ROW_BITS(eq), ROW_FLOATS(eq)},
            [LGT_OP_NE] = {BOOL_ROW(ne), ROW_BITS(ne), ROW_FLOATS(ne)},
            [LGT_OP_LT] = {BOOL_ROW(lt), ROW_NUMBERS(lt)},
            [LGT_OP_LE] = {BOOL_ROW(le), ROW_NUMBERS(le)},
            [LGT_OP_GT] = {BOOL_ROW(gt), ROW_NUMBERS(gt)},
            [LGT_OP_GE] = {BOOL_ROW(ge), ROW_NUMBERS(ge)},
            [LGT_OP_ISNAN] = {ROW_FLOATS(isnan)},
            [LGT_OP_ISINF] = {ROW_FLOATS(isinf)},
            [LGT_OP_ISFINITE] = {ROW_FLOATS(isfinite)},
            [LGT_OP_SIGNBIT] = {ROW_FLOATS(signbit)},
            [LGT_OP_FLOOR] = {ROW_FLOATS(floor)},
            [LGT_OP_CEIL] = {ROW_FLOATS(ceil)},
            [LGT_OP_TRUNC] = {ROW_FLOATS(trunc)},
            [LGT_OP_RINT] = {ROW_FLOATS(rint)},
            [LGT_OP_SQRT] = {ROW_FLOATS(sqrt)},
            [LGT_OP_PHILOX] = {[LGT_UINT64] = philox_u64},
        },
    .cast =
        {
            [LGT_BOOL] = CASTS(u8),
            [LGT_INT8] = CASTS(i8),
            [LGT_INT16] = CASTS(i16),
            [LGT_INT32] = CASTS(i32),
            [LGT_INT64] = CASTS(i64),
            [LGT_UINT8] = CASTS(u8),
            [LGT_UINT16] = CASTS(u16),
            [LGT_UINT32] = CASTS(u32),
            [LGT_UINT64] = CASTS(u64),
            [LGT_FLOAT16] = CASTS(f32),
            [LGT_FLOAT32] = CASTS(f32),
            [LGT_FLOAT64] = CASTS(f64),
        },
    .half_round = half_round,
    .load = {[LGT_BOOL] = load_bool, ROW_BITS(load), WIDTH_FLOATS(load), [LGT_FLOAT16] = load_f16},
    .store = {BOOL_ROW(store), ROW_BITS(store), WIDTH_FLOATS(store), [LGT_FLOAT16] = store_f16},
    .reduce =
        {
            [LGT_REDOP_SUM] = {BITS_FNS(sum), FLOATS_FNS(sum)},
            [LGT_REDOP_PROD] = {BITS_FNS(prod), FLOATS_FNS(prod)},
            [LGT_REDOP_MIN] = {ORDER_FNS(min)},
            [LGT_REDOP_MAX] = {ORDER_FNS(max)},
            [LGT_REDOP_AND] = {BOOL_FNS(and), BITS_FNS(and)},
            [LGT_REDOP_OR] = {BOOL_FNS(or), BITS_FNS(or)},
            [LGT_REDOP_XOR] = {BOOL_FNS(xor), BITS_FNS(xor)},
        },
    .reduce_arg = {{ORDER_FNS(argmin)}, {ORDER_FNS(argmax)}},
};
