/* special.c - elementwise functions that no body can say: they loop, or look at bits.
 *
 *   gcd lcm      argument 0 = of arguments 1 and 2, integers of one dtype; never negative
 *   nextafter    argument 0 = the float next to argument 1 towards argument 2
 *   spacing      argument 0 = the distance from argument 1 to the next float, away from 0
 *   ldexp        argument 0 = argument 1 times 2 to the power of argument 2 (int32, int64)
 *   frexp        argument 0 (in +-[0.5, 1)) times 2 to the power of argument 1 (int32) = argument 2
 *   packbits     argument 0 (uint8) = the lines of argument 1 (bool), eight elements a byte, zeros behind the last one
 *   unpackbits   argument 0 (uint8) = the bits of the lines of argument 1 (uint8); parameter 0 of both: whether the
 *                first element is the lowest bit, and not the highest
 *
 * All arguments but those of the last two have one shape and at least two dimensions.
 */
#include "ops/builtin.h"
#include "base/half.h"

#include <immintrin.h>
#include <math.h>

typedef void (*line_fn)(char **at, const int64_t *stride, int64_t n);

/* Lines, all arguments moving along. */
static lgt_status each_line(const lgt_tile *tiles, int nargs, int64_t lo, int64_t hi, line_fn f) {
  int lead = tiles[0].ndim - 1;
  int64_t n = tiles[0].extent[lead], stride[LGT_WALK_ARGS];
  lgt_walk walk;
  if (!f)
    return lgt_err(LGT_BAD_DTYPE, "there is no such function of %s", lgt_dtype_name(tiles[nargs - 1].dtype));
  for (int a = 0; a < nargs; a++) stride[a] = tiles[a].stride[lead];
  if (n == 0 || !lgt_walk_begin(&walk, tiles, nargs, lead, lo, hi)) return LGT_OK;
  do {
    char *at[LGT_WALK_ARGS];
    memcpy(at, walk.at, sizeof at);
    f(at, stride, n);
  } while (lgt_walk_next(&walk, lo, hi));
  return LGT_OK;
}

/* By halving and subtracting: Stein, J. Comp. Phys. 1 (1967). */
static uint64_t gcd(uint64_t a, uint64_t b) {
  if (!a || !b) return a | b;
  int twos = __builtin_ctzll(a | b);
  a >>= __builtin_ctzll(a);
  do {
    b >>= __builtin_ctzll(b);
    uint64_t less = a < b ? a : b;
    b = (a < b ? b : a) - less;
    a = less;
  } while (b);
  return a << twos;
}

#define MAGNITUDE(x) ((x) < 0 ? 0 - (uint64_t)(x) : (uint64_t)(x))
#define INTEGER(SUFFIX, T)                                                    \
  static void gcd_##SUFFIX(char **at, const int64_t *stride, int64_t n) {     \
    for (int64_t i = 0; i < n; i++) {                                         \
      T a = *(T *)(at[1] + i * stride[1]), b = *(T *)(at[2] + i * stride[2]); \
      *(T *)(at[0] + i * stride[0]) = (T)gcd(MAGNITUDE(a), MAGNITUDE(b));     \
    }                                                                         \
  }                                                                           \
  static void lcm_##SUFFIX(char **at, const int64_t *stride, int64_t n) {     \
    for (int64_t i = 0; i < n; i++) {                                         \
      T a = *(T *)(at[1] + i * stride[1]), b = *(T *)(at[2] + i * stride[2]); \
      uint64_t x = MAGNITUDE(a), y = MAGNITUDE(b), g = gcd(x, y);             \
      *(T *)(at[0] + i * stride[0]) = (T)(g ? x / g * y : 0);                 \
    }                                                                         \
  }
INTEGER(i8, int8_t)
INTEGER(i16, int16_t)
INTEGER(i32, int32_t)
INTEGER(i64, int64_t)
#undef MAGNITUDE
#define MAGNITUDE(x) ((uint64_t)(x))
INTEGER(u8, uint8_t)
INTEGER(u16, uint16_t)
INTEGER(u32, uint32_t)
INTEGER(u64, uint64_t)

/* The float16 next to a towards b, by its bits; a itself where they are equal, also zeros of two signs. */
static uint16_t next_half(uint16_t a, uint16_t b) {
  float x = lgt_half_to_float(a), y = lgt_half_to_float(b);
  if (x != x || y != y) return 0x7e00;
  if (x == y) return a;
  if (x == 0) return y < 0 ? 0x8001 : 1;
  return (uint16_t)((x < y) == (x > 0) ? a + 1 : a - 1);
}

enum { RUN = 512 }; /* elements that are looked at before they are computed all alike, by vectors */
#define LGT_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))

/* What is common, by the bits; the library does the rest: zeros, subnormal numbers, infinities, NaN. */
#define BITS(SUFFIX, T, U, NEXT, FREXP, MANTISSA, BIAS)                                                     \
  static inline T next_##SUFFIX(T x, T y) {                                                                 \
    U bits;                                                                                                 \
    if (!(fabs(x) > 0 && fabs(x) < (T)INFINITY) || !(x < y || x > y)) return NEXT(x, y);                    \
    memcpy(&bits, &x, sizeof bits);                                                                         \
    bits += (x < y) == (x > 0) ? 1 : (U)-1;                                                                 \
    memcpy(&x, &bits, sizeof bits);                                                                         \
    return x;                                                                                               \
  }                                                                                                         \
  static inline T split_##SUFFIX(T x, int *exponent) {                                                      \
    U bits, field = (U)(2 * BIAS + 1) << MANTISSA;                                                          \
    memcpy(&bits, &x, sizeof bits);                                                                         \
    U e = bits & field;                                                                                     \
    if (e == 0 || e == field) return FREXP(x, exponent);                                                    \
    *exponent = (int)(e >> MANTISSA) - (BIAS - 1);                                                          \
    bits = (bits & ~field) | (U)(BIAS - 1) << MANTISSA;                                                     \
    memcpy(&x, &bits, sizeof bits);                                                                         \
    return x;                                                                                               \
  }                                                                                                         \
  LGT_CLONES static bool are_normal_##SUFFIX(const T *x, int64_t n) {                                       \
    int other = 0;                                                                                          \
    for (int64_t i = 0; i < n; i++) {                                                                       \
      U bits;                                                                                               \
      memcpy(&bits, x + i, sizeof bits);                                                                    \
      U e = bits >> MANTISSA & (2 * BIAS + 1);                                                              \
      other |= (e == 0) | (e == 2 * BIAS + 1);                                                              \
    }                                                                                                       \
    return !other;                                                                                          \
  }                                                                                                         \
  LGT_CLONES static void split_run_##SUFFIX(T *restrict m, int32_t *restrict exponent, const T *restrict x, \
                                            int64_t n) {                                                    \
    for (int64_t i = 0; i < n; i++) {                                                                       \
      U bits, field = (U)(2 * BIAS + 1) << MANTISSA;                                                        \
      memcpy(&bits, x + i, sizeof bits);                                                                    \
      exponent[i] = (int32_t)((bits & field) >> MANTISSA) - (BIAS - 1);                                     \
      bits = (bits & ~field) | (U)(BIAS - 1) << MANTISSA;                                                   \
      memcpy(m + i, &bits, sizeof bits);                                                                    \
    }                                                                                                       \
  }
BITS(f32, float, uint32_t, nextafterf, frexpf, 23, 127)
BITS(f64, double, uint64_t, nextafter, frexp, 52, 1023)

#define REAL(SUFFIX, T, NEXT, FREXP)                                                                       \
  static void nextafter_##SUFFIX(char **at, const int64_t *stride, int64_t n) {                            \
    for (int64_t i = 0; i < n; i++)                                                                        \
      *(T *)(at[0] + i * stride[0]) = NEXT(*(T *)(at[1] + i * stride[1]), *(T *)(at[2] + i * stride[2]));  \
  }                                                                                                        \
  static void spacing_##SUFFIX(char **at, const int64_t *stride, int64_t n) {                              \
    for (int64_t i = 0; i < n; i++) {                                                                      \
      T x = *(T *)(at[1] + i * stride[1]);                                                                 \
      *(T *)(at[0] + i * stride[0]) = isinf(x) ? (T)NAN : NEXT(x, x < 0 ? -(T)INFINITY : (T)INFINITY) - x; \
    }                                                                                                      \
  }                                                                                                        \
  static void frexp_##SUFFIX(char **at, const int64_t *stride, int64_t n) {                                \
    bool dense = stride[0] == sizeof(T) && stride[1] == sizeof(int32_t) && stride[2] == sizeof(T);         \
    for (int64_t from = 0, many; from < n; from += many) {                                                 \
      many = n - from < RUN ? n - from : RUN;                                                              \
      char *m = at[0] + from * stride[0], *e = at[1] + from * stride[1], *x = at[2] + from * stride[2];    \
      if (dense && are_normal_##SUFFIX((T *)x, many)) {                                                    \
        split_run_##SUFFIX((T *)m, (int32_t *)e, (T *)x, many);                                            \
        continue;                                                                                          \
      }                                                                                                    \
      for (int64_t i = 0; i < many; i++) {                                                                 \
        int exponent = 0;                                                                                  \
        *(T *)(m + i * stride[0]) = FREXP(*(T *)(x + i * stride[2]), &exponent);                           \
        *(int32_t *)(e + i * stride[1]) = exponent;                                                        \
      }                                                                                                    \
    }                                                                                                      \
  }
REAL(f32, float, next_f32, split_f32)
REAL(f64, double, next_f64, split_f64)

/* Where 2^e is a normal number, one multiplication rounds as the library does. */
#define SCALE(SUFFIX, T, U, E, LDEXP, MANTISSA, BIAS)                                                     \
  LGT_CLONES static void scale_run_##SUFFIX(T *restrict out, const T *restrict x, const E *restrict e,    \
                                            int64_t n) {                                                  \
    for (int64_t i = 0; i < n; i++) {                                                                     \
      U bits = (U)(e[i] + BIAS) << MANTISSA;                                                              \
      T power;                                                                                            \
      memcpy(&power, &bits, sizeof bits);                                                                 \
      out[i] = x[i] * power;                                                                              \
    }                                                                                                     \
  }                                                                                                       \
  LGT_CLONES static bool are_small_##SUFFIX(const E *e, int64_t n) {                                      \
    int outside = 0;                                                                                      \
    for (int64_t i = 0; i < n; i++) outside |= (e[i] < 1 - BIAS) | (e[i] > BIAS);                         \
    return !outside;                                                                                      \
  }                                                                                                       \
  static void ldexp_##SUFFIX(char **at, const int64_t *stride, int64_t n) {                               \
    bool dense = stride[0] == sizeof(T) && stride[1] == sizeof(T) && stride[2] == sizeof(E);              \
    for (int64_t from = 0, many; from < n; from += many) {                                                \
      many = n - from < RUN ? n - from : RUN;                                                             \
      char *to = at[0] + from * stride[0], *x = at[1] + from * stride[1], *by = at[2] + from * stride[2]; \
      if (dense && are_small_##SUFFIX((E *)by, many)) {                                                   \
        scale_run_##SUFFIX((T *)to, (T *)x, (E *)by, many);                                               \
        continue;                                                                                         \
      }                                                                                                   \
      for (int64_t i = 0; i < many; i++) {                                                                \
        E e = *(E *)(by + i * stride[2]);                                                                 \
        *(T *)(to + i * stride[0]) = LDEXP(*(T *)(x + i * stride[1]), e > 5000    ? 5000                  \
                                                                      : e < -5000 ? -5000                 \
                                                                                  : (int)e);              \
      }                                                                                                   \
    }                                                                                                     \
  }
SCALE(i32_f32, float, uint32_t, int32_t, ldexpf, 23, 127)
SCALE(i32_f64, double, uint64_t, int32_t, ldexp, 52, 1023)
SCALE(i64_f32, float, uint32_t, int64_t, ldexpf, 23, 127)
SCALE(i64_f64, double, uint64_t, int64_t, ldexp, 52, 1023)

static void nextafter_f16(char **at, const int64_t *stride, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    *(uint16_t *)(at[0] + i * stride[0]) =
        next_half(*(uint16_t *)(at[1] + i * stride[1]), *(uint16_t *)(at[2] + i * stride[2]));
}

static void spacing_f16(char **at, const int64_t *stride, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    uint16_t a = *(uint16_t *)(at[1] + i * stride[1]);
    float x = lgt_half_to_float(a), next = lgt_half_to_float(next_half(a, x < 0 ? 0xfc00 : 0x7c00));
    *(uint16_t *)(at[0] + i * stride[0]) = isinf(x) ? 0x7e00 : lgt_half_from_float(next - x);
  }
}

#define INTEGERS(NAME)                                                                                       \
  {                                                                                                          \
    [LGT_INT8] = NAME##_i8, [LGT_INT16] = NAME##_i16, [LGT_INT32] = NAME##_i32, [LGT_INT64] = NAME##_i64,    \
    [LGT_UINT8] = NAME##_u8, [LGT_UINT16] = NAME##_u16, [LGT_UINT32] = NAME##_u32, [LGT_UINT64] = NAME##_u64 \
  }
#define REALS(NAME) \
  { [LGT_FLOAT32] = NAME##_f32, [LGT_FLOAT64] = NAME##_f64 }

/* The dtype that decides is that of argument BY. */
#define VARIANT(NAME, BY, ...)                                                                           \
  static lgt_status NAME##_lines(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, \
                                 int64_t hi) {                                                           \
    static const line_fn line[LGT_NDTYPE] = __VA_ARGS__;                                                 \
    (void)params;                                                                                        \
    return each_line(tiles, nargs, lo, hi, line[tiles[BY].dtype]);                                       \
  }
VARIANT(gcd, 1, INTEGERS(gcd))
VARIANT(lcm, 1, INTEGERS(lcm))
VARIANT(nextafter, 1,
        {[LGT_FLOAT16] = nextafter_f16, [LGT_FLOAT32] = nextafter_f32, [LGT_FLOAT64] = nextafter_f64})
VARIANT(spacing, 1, {[LGT_FLOAT16] = spacing_f16, [LGT_FLOAT32] = spacing_f32, [LGT_FLOAT64] = spacing_f64})
VARIANT(ldexp_i32, 1, REALS(ldexp_i32))
VARIANT(ldexp_i64, 1, REALS(ldexp_i64))
VARIANT(frexp, 2, REALS(frexp))

static lgt_status ldexp_lines(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                              int64_t hi) {
  return (tiles[2].dtype == LGT_INT32 ? ldexp_i32_lines : ldexp_i64_lines)(tiles, nargs, params, lo, hi);
}

/* ---- bits ------------------------------------------------------------------------------------------------ */

/* Side by side, eight booleans (0 or 1) make a byte by one multiplication. */
static uint8_t pack(const uint8_t *p, bool little) {
  uint64_t eight;
  memcpy(&eight, p, 8); /* the first one in the lowest byte */
  return (uint8_t)(eight * (little ? 0x0102040810204080u : 0x8040201008040201u) >> 56);
}

/* Sixteen booleans as bits. */
static uint64_t pack_pair(const uint8_t *p, bool little) {
  __m128i x = _mm_loadu_si128((const __m128i *)p);
  if (!little) { /* turned around, the last of each eight comes first */
    x = _mm_or_si128(_mm_slli_epi16(x, 8), _mm_srli_epi16(x, 8));
    x = _mm_shufflehi_epi16(_mm_shufflelo_epi16(x, 0x1b), 0x1b);
  }
  return (uint64_t)_mm_movemask_epi8(_mm_slli_epi16(x, 7));
}

/* Eight bytes of `out` at a time; returns how many bytes these are. */
static int64_t pack_many(uint8_t *out, const uint8_t *p, int64_t n, bool little) {
  int64_t k = 0;
  for (; 8 * k + 64 <= n; k += 8, p += 64) {
    uint64_t bits = pack_pair(p, little) | pack_pair(p + 16, little) << 16 | pack_pair(p + 32, little) << 32 |
                    pack_pair(p + 48, little) << 48;
    memcpy(out + k, &bits, 8);
  }
  return k;
}

static lgt_status packbits(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                           int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1];
  int lead = to->ndim - 1;
  int64_t n = from->extent[lead], m = to->extent[lead], stride = from->stride[lead], step = to->stride[lead];
  bool little = params[0].f != 0;
  lgt_walk walk;
  (void)nargs;
  if (!lgt_walk_begin(&walk, tiles, 2, lead, lo, hi)) return LGT_OK;
  do {
    const uint8_t *p = (const uint8_t *)walk.at[1];
    uint8_t *out = (uint8_t *)walk.at[0];
    int64_t k = stride == 1 && step == 1 ? pack_many(out, p, n, little) : 0;
    for (; k < m; k++) {
      uint8_t eight[8] = {0};
      for (int64_t i = 0; i < 8 && 8 * k + i < n; i++) eight[i] = p[(8 * k + i) * stride];
      out[k * step] = pack(eight, little);
    }
  } while (lgt_walk_next(&walk, lo, hi));
  return LGT_OK;
}

static lgt_status unpackbits(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                             int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1];
  int lead = to->ndim - 1;
  int64_t m = from->extent[lead], stride = to->stride[lead], step = from->stride[lead];
  uint64_t eight[256]; /* the bits of each byte, side by side */
  lgt_walk walk;
  (void)nargs;
  for (int v = 0; v < 256; v++) {
    uint8_t bits[8];
    for (int i = 0; i < 8; i++) bits[i] = (uint8_t)(v >> (params[0].f != 0 ? i : 7 - i) & 1);
    memcpy(&eight[v], bits, 8);
  }
  if (!lgt_walk_begin(&walk, tiles, 2, lead, lo, hi)) return LGT_OK;
  do {
    const uint8_t *p = (const uint8_t *)walk.at[1];
    for (int64_t k = 0; stride == 1 && k < m; k++) memcpy(walk.at[0] + 8 * k, &eight[p[k * step]], 8);
    for (int64_t k = 0; stride != 1 && k < 8 * m; k++)
      walk.at[0][k * stride] = ((const char *)&eight[p[k / 8 * step]])[k % 8];
  } while (lgt_walk_next(&walk, lo, hi));
  return LGT_OK;
}

const lgt_builtin lgt_special_builtins[] = {
    {"gcd", gcd_lines},         {"lcm", lcm_lines},         {"nextafter", nextafter_lines},
    {"spacing", spacing_lines}, {"ldexp", ldexp_lines},     {"frexp", frexp_lines},
    {"packbits", packbits},     {"unpackbits", unpackbits}, {0}};
