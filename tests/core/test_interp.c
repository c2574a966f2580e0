/* test_interp.c - the meaning of every opcode, checked against plain C written another way.
 *
 * Integers are checked in 128 bits, floats with the compiler's own float, double and _Float16.  Everything
 * runs once for each instruction set that this machine has.
 */
#include <math.h>

#include "check.h"
#include "kernel/helper.h"
#include "kernel/interp_ops.h"
#include "loops.h"

/* ---- one operation over arrays ---------------------------------------------------------------- */

/* out = op(a, b, c) over n elements, all contiguous; b and c may be NULL. */
static void apply(int op, int dtype, int operand, void *out, const void *a, const void *b, const void *c,
                  int64_t n) {
  lgt_body *body = lgt_build_new();
  const void *arrays[3] = {a, b, c};
  int types[3] = {op == LGT_OP_SELECT ? LGT_BOOL : operand, operand, operand}, value[3] = {-1, -1, -1},
      arity = lgt_op_arity(op);
  lgt_access access[4];
  slab s;
  slab_init(&s, 1, n);
  for (int i = 0; i < arity; i++) {
    value[i] = lgt_build_load(body, types[i], i);
    access[i] = (lgt_access){LGT_ACCESS_LOAD, (uint8_t)types[i], LGT_STRIDE_UNIT, 0};
    slab_bind(&s, i, (void *)arrays[i], 0, lgt_dtype_size(types[i]));
  }
  int result = lgt_build_op(body, op, dtype, value[0], value[1], value[2]);
  if (result < 0) check_fail(__FILE__, __LINE__, "%s", lgt_message());
  lgt_build_store(body, arity, result);
  access[arity] = (lgt_access){LGT_ACCESS_STORE, (uint8_t)dtype, LGT_STRIDE_UNIT, 0};
  slab_bind(&s, arity, out, 0, lgt_dtype_size(dtype));
  lgt_loop loop = loop_of(body, access, arity + 1);
  lgt_interp_run(&loop, &s.slab);
  lgt_body_free(body);
}

/* ---- oracles ---------------------------------------------------------------------------------- */

typedef __int128 wide;

static lgt_scalar cut(int dtype, wide x) {
  char memory[8];
  lgt_dtype_store(dtype, memory, (lgt_scalar){.u = (uint64_t)x});
  return lgt_dtype_load(dtype, memory);
}

static wide widen(int dtype, lgt_scalar x) { return lgt_dtype_class(dtype) == 'u' ? (wide)x.u : (wide)x.i; }

static wide floor_div(wide a, wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static wide integer_pow(wide a, wide b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  uint64_t base = (uint64_t)a, result = 1;
  if (b > 200 && base % 2 == 0) return 0;       /* a multiple of 2^64 */
  b %= b > 200 ? (wide)1 << 62 : (wide)1 << 64; /* the order of an odd number divides 2^62 */
  for (int bit = 63; bit >= 0; bit--) {
    result *= result;
    if (b >> bit & 1) result *= base;
  }
  return result;
}

static lgt_scalar expect_integer(int op, int dtype, lgt_scalar sa, lgt_scalar sb) {
  wide a = widen(dtype, sa), b = widen(dtype, sb);
  int bits = dtype == LGT_BOOL ? 1 : 8 * lgt_dtype_size(dtype);
  bool far = b < 0 || b >= bits;
  switch (op) {
    case LGT_OP_ADD:
      return cut(dtype, a + b);
    case LGT_OP_SUB:
      return cut(dtype, a - b);
    case LGT_OP_MUL:
      return cut(dtype, (wide)((uint64_t)a * (uint64_t)b));
    case LGT_OP_DIV:
      return cut(dtype, b == 0 ? 0 : a / b);
    case LGT_OP_FLOORDIV:
      return cut(dtype, b == 0 ? 0 : floor_div(a, b));
    case LGT_OP_MOD:
      return cut(dtype, b == 0 ? 0 : a - floor_div(a, b) * b);
    case LGT_OP_FMOD:
      return cut(dtype, b == 0 ? 0 : a % b);
    case LGT_OP_POW:
      return cut(dtype, integer_pow(a, b));
    case LGT_OP_MIN:
    case LGT_OP_FMIN:
      return cut(dtype, a < b ? a : b);
    case LGT_OP_MAX:
    case LGT_OP_FMAX:
      return cut(dtype, a > b ? a : b);
    case LGT_OP_NEG:
      return cut(dtype, -a);
    case LGT_OP_ABS:
      return cut(dtype, a < 0 ? -a : a);
    case LGT_OP_SIGN:
      return cut(dtype, (a > 0) - (a < 0));
    case LGT_OP_AND:
      return cut(dtype, a & b);
    case LGT_OP_OR:
      return cut(dtype, a | b);
    case LGT_OP_XOR:
      return cut(dtype, a ^ b);
    case LGT_OP_NOT:
      return dtype == LGT_BOOL ? (lgt_scalar){.i = !a} : cut(dtype, ~a);
    case LGT_OP_SHL:
      return cut(dtype, far ? 0 : a * ((wide)1 << (int)b));
    case LGT_OP_SHR:
      return cut(dtype, far ? (a < 0 ? -1 : 0) : a >> (int)b);
    case LGT_OP_EQ:
      return (lgt_scalar){.i = a == b};
    case LGT_OP_NE:
      return (lgt_scalar){.i = a != b};
    case LGT_OP_LT:
      return (lgt_scalar){.i = a < b};
    case LGT_OP_LE:
      return (lgt_scalar){.i = a <= b};
    case LGT_OP_GT:
      return (lgt_scalar){.i = a > b};
    case LGT_OP_GE:
      return (lgt_scalar){.i = a >= b};
  }
  return (lgt_scalar){.i = -12345};
}

/* NumPy's definition, from its documentation: the remainder has the divisor's sign, and the quotient is the
 * floor of the exact quotient. */
#define FLOAT_ORACLE(name, T, fmod, floor, rint, sqrt, copysign, fabs) \
  static double name(int op, T a, T b) {                               \
    T rest;                                                            \
    switch (op) {                                                      \
      case LGT_OP_ADD:                                                 \
        return (T)(a + b);                                             \
      case LGT_OP_SUB:                                                 \
        return (T)(a - b);                                             \
      case LGT_OP_MUL:                                                 \
        return (T)(a * b);                                             \
      case LGT_OP_DIV:                                                 \
        return (T)(a / b);                                             \
      case LGT_OP_FMOD:                                                \
        return fmod(a, b);                                             \
      case LGT_OP_MOD:                                                 \
        rest = fmod(a, b);                                             \
        if (b == 0 || isnan(rest)) return rest;                        \
        if (rest == 0) return copysign(0, b);                          \
        return signbit(rest) != signbit(b) ? (T)(rest + b) : rest;     \
      case LGT_OP_MIN:                                                 \
        return isnan(a) ? a : a < b ? a : b;                           \
      case LGT_OP_MAX:                                                 \
        return isnan(a) ? a : a > b ? a : b;                           \
      case LGT_OP_FMIN:                                                \
        return isnan(b) ? a : a < b ? a : b;                           \
      case LGT_OP_FMAX:                                                \
        return isnan(b) ? a : a > b ? a : b;                           \
      case LGT_OP_COPYSIGN:                                            \
        return copysign(a, b);                                         \
      case LGT_OP_NEG:                                                 \
        return copysign(a, signbit(a) ? 1 : -1);                       \
      case LGT_OP_ABS:                                                 \
        return fabs(a);                                                \
      case LGT_OP_SIGN:                                                \
        return isnan(a) ? a : a == 0 ? 0 : copysign(1, a);             \
      case LGT_OP_FLOOR:                                               \
        return floor(a);                                               \
      case LGT_OP_CEIL:                                                \
        return -floor(-a);                                             \
      case LGT_OP_TRUNC:                                               \
        return copysign(floor(fabs(a)), a);                            \
      case LGT_OP_RINT:                                                \
        return rint(a);                                                \
      case LGT_OP_SQRT:                                                \
        return sqrt(a);                                                \
      case LGT_OP_EQ:                                                  \
        return a == b;                                                 \
      case LGT_OP_NE:                                                  \
        return !(a == b);                                              \
      case LGT_OP_LT:                                                  \
        return isless(a, b);                                           \
      case LGT_OP_LE:                                                  \
        return islessequal(a, b);                                      \
      case LGT_OP_GT:                                                  \
        return isgreater(a, b);                                        \
      case LGT_OP_GE:                                                  \
        return isgreaterequal(a, b);                                   \
      case LGT_OP_ISNAN:                                               \
        return isnan(a) != 0;                                          \
      case LGT_OP_ISINF:                                               \
        return isinf(a) != 0;                                          \
      case LGT_OP_ISFINITE:                                            \
        return isfinite(a) != 0;                                       \
      case LGT_OP_SIGNBIT:                                             \
        return signbit(a) != 0;                                        \
    }                                                                  \
    return -12345;                                                     \
  }
FLOAT_ORACLE(expect_f32, float, fmodf, floorf, rintf, sqrtf, copysignf, fabsf)
FLOAT_ORACLE(expect_f64, double, fmod, floor, rint, sqrt, copysign, fabs)

static bool is_test(int op) { return op >= LGT_OP_EQ && op <= LGT_OP_SIGNBIT; }

static lgt_scalar expect_float(int op, int dtype, lgt_scalar a, lgt_scalar b) {
  double x = dtype == LGT_FLOAT64 ? expect_f64(op, a.f, b.f) : expect_f32(op, (float)a.f, (float)b.f);
  if (is_test(op)) return (lgt_scalar){.i = (int)x};
  return (lgt_scalar){.f = dtype == LGT_FLOAT16 ? (double)(_Float16)x : x};
}

/* ---- elementwise ------------------------------------------------------------------------------ */

enum { MANY = 64 * 64 };

static void check_op(int op, int dtype) {
  static lgt_scalar values[64];
  static char a[MANY * 8], b[MANY * 8], out[MANY * 8];
  int n = interesting(dtype, values), size = lgt_dtype_size(dtype), result = is_test(op) ? LGT_BOOL : dtype;
  for (int i = 0; i < n * n; i++) {
    lgt_dtype_store(dtype, a + i * size, values[i / n]);
    lgt_dtype_store(dtype, b + i * size, values[i % n]);
  }
  apply(op, result, dtype, out, a, b, NULL, n * n);
  for (int i = 0; i < n * n; i++) {
    lgt_scalar x = values[i / n], y = values[i % n];
    lgt_scalar got = lgt_dtype_load(result, out + i * lgt_dtype_size(result));
    lgt_scalar expected =
        lgt_dtype_is_float(dtype) ? expect_float(op, dtype, x, y) : expect_integer(op, dtype, x, y);
    if (!same_value(result, got, expected))
      FAIL("%s %s(%s, %s) is %s, not %s", lgt_op_name(op), lgt_dtype_name(dtype), show(dtype, x),
           show(dtype, y), show(result, got), show(result, expected));
  }
}

TEST(operations) {
  for (int op = LGT_OP_ADD; op <= LGT_OP_SQRT; op++)
    for (int dtype = 0; dtype < LGT_COMPLEX64; dtype++) {
      if (!strchr(lgt_op_classes(op), lgt_dtype_class(dtype)) || op == LGT_OP_SELECT) continue;
      if (lgt_math_has(op) && lgt_dtype_is_float(dtype)) continue;
      if (op == LGT_OP_FLOORDIV && lgt_dtype_is_float(dtype)) continue;
      check_op(op, dtype);
      if (check_failed) return;
    }
}

/* Known answers from NumPy. */
TEST(float_floor_division) {
  static const double cases[][3] = {
      {7, 2, 3},          {-7, 2, -4},      {7, -2, -4},        {-7, -2, 3},
      {1, 0.1, 9},        {0, 3, 0},        {-0.0, 3, -0.0},    {5, INFINITY, 0},
      {-5, INFINITY, -1}, {1, 0, INFINITY}, {-1, 0, -INFINITY}, {0, 0, NAN},
      {INFINITY, 2, NAN}, {3, NAN, NAN},    {6, 3, 2},          {-6, 3, -2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double out;
    apply(LGT_OP_FLOORDIV, LGT_FLOAT64, LGT_FLOAT64, &out, &cases[i][0], &cases[i][1], NULL, 1);
    if (!same_value(LGT_FLOAT64, (lgt_scalar){.f = out}, (lgt_scalar){.f = cases[i][2]}))
      FAIL("%g // %g is %g, not %g", cases[i][0], cases[i][1], out, cases[i][2]);
  }
  float a = 1, b = 0.1f, out;
  apply(LGT_OP_FLOORDIV, LGT_FLOAT32, LGT_FLOAT32, &out, &a, &b, NULL, 1);
  CHECK(out == 9);
}

TEST(select_takes_any_type) {
  for (int dtype = 0; dtype < LGT_COMPLEX64; dtype++) {
    lgt_scalar values[64];
    int n = interesting(dtype, values), size = lgt_dtype_size(dtype);
    static char when[4096], a[4096 * 8], b[4096 * 8], out[4096 * 8];
    for (int i = 0; i < n * n; i++) {
      when[i] = (char)(i % 3 ? i : 0); /* any byte but 0 is true */
      if (i % 3 && !when[i]) when[i] = 2;
      lgt_dtype_store(dtype, a + i * size, values[i / n]);
      lgt_dtype_store(dtype, b + i * size, values[i % n]);
    }
    apply(LGT_OP_SELECT, dtype, dtype, out, when, a, b, n * n);
    for (int i = 0; i < n * n; i++)
      if (!same_value(dtype, lgt_dtype_load(dtype, out + i * size), values[when[i] ? i / n : i % n]))
        FAIL("%s, element %d", lgt_dtype_name(dtype), i);
  }
}

/* ---- casts ------------------------------------------------------------------------------------ */

static lgt_scalar expect_cast(int from, int to, lgt_scalar x) {
  bool floating = lgt_dtype_is_float(from);
  long double value = floating ? x.f : lgt_dtype_class(from) == 'u' ? (long double)x.u : (long double)x.i;
  switch (to) {
    case LGT_BOOL:
      return (lgt_scalar){.i = !(value == 0)};
    case LGT_FLOAT16:
      return (lgt_scalar){.f = (double)(_Float16)(floating ? (double)value : (float)value)};
    case LGT_FLOAT32:
      return (lgt_scalar){.f = (double)(float)value};
    case LGT_FLOAT64:
      return (lgt_scalar){.f = (double)value};
  }
  if (!floating) return cut(to, widen(from, x));
  if (to == LGT_UINT64 && value >= 0x1p63L && value < 0x1p64L) return (lgt_scalar){.u = (uint64_t)value};
  bool narrow = to <= LGT_INT32 || to == LGT_UINT8 || to == LGT_UINT16;
  long double limit = narrow ? 0x1p31L : 0x1p63L;
  if (!(truncl(value) >= -limit && truncl(value) < limit)) return cut(to, narrow ? INT32_MIN : INT64_MIN);
  return cut(to, (wide)truncl(value));
}

TEST(casts) {
  for (int from = 0; from < LGT_COMPLEX64; from++)
    for (int to = 0; to < LGT_COMPLEX64; to++) {
      lgt_scalar values[64];
      char a[64 * 8], out[64 * 8];
      int n = interesting(from, values);
      for (int i = 0; i < n; i++) lgt_dtype_store(from, a + i * lgt_dtype_size(from), values[i]);
      apply(LGT_OP_CAST, to, from, out, a, NULL, NULL, n);
      for (int i = 0; i < n; i++) {
        lgt_scalar got = lgt_dtype_load(to, out + i * lgt_dtype_size(to)),
                   expected = expect_cast(from, to, values[i]);
        if (!same_value(to, got, expected))
          FAIL("%s %s to %s is %s, not %s", lgt_dtype_name(from), show(from, values[i]), lgt_dtype_name(to),
               show(to, got), show(to, expected));
      }
    }
}

TEST(float64_to_float16_rounds_once) {
  enum { N = 20000 };
  static double a[N];
  static uint16_t out[N];
  for (int i = 0; i < N; i++) {
    /* Halves and their midpoints, moved by little. */
    _Float16 half;
    uint16_t bits = (uint16_t)(random_bits() & 0x7bff), next = (uint16_t)(bits + 1);
    memcpy(&half, &bits, 2);
    double low = (double)half;
    memcpy(&half, &next, 2);
    double middle = isinf((double)half) ? 65520 : (low + (double)half) / 2;
    static const double moves[] = {0, 1e-16, -1e-16, 1e-12, -1e-12};
    a[i] = middle * (1 + moves[random_below(5)]) * (random_bits() & 1 ? 1 : -1);
  }
  apply(LGT_OP_CAST, LGT_FLOAT16, LGT_FLOAT64, out, a, NULL, NULL, N);
  for (int i = 0; i < N; i++) {
    _Float16 expected = (_Float16)a[i];
    if (memcmp(&out[i], &expected, 2)) FAIL("%.20g gives %04x", a[i], out[i]);
  }
}

/* ---- transcendental functions ----------------------------------------------------------------- */

/* clang-format off */
#define MATH1(X)                                                                      \
  X(CBRT, cbrt) X(EXP, exp) X(EXP2, exp2) X(EXP10, exp10) X(EXPM1, expm1) X(LOG, log) \
  X(LOG2, log2) X(LOG10, log10) X(LOG1P, log1p) X(SIN, sin) X(COS, cos) X(TAN, tan)   \
  X(ASIN, asin) X(ACOS, acos) X(ATAN, atan) X(SINH, sinh) X(COSH, cosh) X(TANH, tanh) \
  X(ASINH, asinh) X(ACOSH, acosh) X(ATANH, atanh) X(ERF, erf) X(ERFC, erfc) \
  X(LGAMMA, lgamma) X(TGAMMA, tgamma)
#define MATH2(X) X(POW, pow) X(ATAN2, atan2) X(HYPOT, hypot)
/* clang-format on */

static double libm(int op, double a, double b) {
  switch (op) {
#define X(OP, f)    \
  case LGT_OP_##OP: \
    return f(a);
    MATH1(X)
#undef X
#define X(OP, f)    \
  case LGT_OP_##OP: \
    return f(a, b);
    MATH2(X)
#undef X
  }
  return -12345;
}

/* In units in the last place of the expected value. */
static double error_of(int dtype, double got, double expected) {
  if (isnan(got) && isnan(expected)) return 0;
  if (got == expected) return 0;
  if (isinf(got) || isinf(expected) || isnan(got) || isnan(expected)) {
    double limit = dtype == LGT_FLOAT64 ? 1.79e308 : dtype == LGT_FLOAT32 ? 3.4e38 : 65504;
    return fabs(isinf(got) ? expected : got) >= limit && (got > 0) == (expected > 0) ? 1 : INFINITY;
  }
  int exponent, digits = dtype == LGT_FLOAT64 ? 53 : dtype == LGT_FLOAT32 ? 24 : 11;
  int least = dtype == LGT_FLOAT64 ? -1021 : dtype == LGT_FLOAT32 ? -125 : -13;
  frexp(expected, &exponent);
  return fabs(got - expected) / ldexp(1, (exponent < least ? least : exponent) - digits);
}

static void check_math(int op, int dtype) {
  enum { N = 4000 };
  static double a[N], b[N], wide_out[N];
  static char small_a[N * 4], small_b[N * 4], out[N * 8];
  lgt_scalar values[64];
  int n = interesting(dtype, values), size = lgt_dtype_size(dtype), i = 0;
  for (; i < n * n && i < N / 2; i++) a[i] = values[i / n].f, b[i] = values[i % n].f;
  for (; i < N; i++) {
    a[i] = ldexp((double)(int64_t)random_bits(), -62 + random_below(8) - 3);
    b[i] = ldexp((double)(int64_t)random_bits(), -62 + random_below(8) - 3);
    if (op == LGT_OP_POW && i % 4) a[i] = fabs(a[i]);
  }
  if (dtype == LGT_FLOAT64) {
    apply(op, dtype, dtype, out, a, b, NULL, N);
  } else {
    apply(LGT_OP_CAST, dtype, LGT_FLOAT64, small_a, a, NULL, NULL, N);
    apply(LGT_OP_CAST, dtype, LGT_FLOAT64, small_b, b, NULL, NULL, N);
    apply(op, dtype, dtype, out, small_a, small_b, NULL, N);
  }
  for (i = 0; i < N; i++) {
    if (dtype != LGT_FLOAT64) {
      a[i] = lgt_dtype_load(dtype, small_a + i * size).f;
      b[i] = lgt_dtype_load(dtype, small_b + i * size).f;
    }
    wide_out[i] = lgt_dtype_load(dtype, out + i * size).f;
    double expected = libm(op, a[i], b[i]);
    if (dtype == LGT_FLOAT32) expected = (float)expected;
    if (dtype == LGT_FLOAT16) expected = (double)(_Float16)expected;
    double error = error_of(dtype, wide_out[i], expected);
    if (!(error <= (op == LGT_OP_LGAMMA ? 64 : 8))) /* the C library's own; elementary.c judges by MPFR */
      FAIL("%s %s(%.17g, %.17g) is %.17g, not %.17g: %g ulp", lgt_op_name(op), lgt_dtype_name(dtype), a[i],
           b[i], wide_out[i], expected, error);
    /* Alone, an element has the same bits. */
    if (i % 13) continue;
    char one[8];
    apply(op, dtype, dtype, one, dtype == LGT_FLOAT64 ? (char *)&a[i] : small_a + i * size,
          dtype == LGT_FLOAT64 ? (char *)&b[i] : small_b + i * size, NULL, 1);
    if (!same_value(dtype, lgt_dtype_load(dtype, one), lgt_dtype_load(dtype, out + i * size)))
      FAIL("%s %s(%.17g) is %.17g alone and %.17g among others", lgt_op_name(op), lgt_dtype_name(dtype), a[i],
           lgt_dtype_load(dtype, one).f, wide_out[i]);
  }
}

TEST(transcendental_functions) {
  for (int op = 0; op < LGT_NOP; op++)
    for (int dtype = LGT_FLOAT16; dtype <= LGT_FLOAT64; dtype++) {
      if (lgt_math_has(op)) check_math(op, dtype);
      if (check_failed) return;
    }
}

/* Every opcode and dtype that body.h admits has a function. */
TEST(nothing_is_missing) {
  extern const lgt_interp_ops lgt_interp_ops_avx512, lgt_interp_ops_avx2, lgt_interp_ops_generic;
  const lgt_interp_ops *tables[] = {&lgt_interp_ops_avx512, &lgt_interp_ops_avx2, &lgt_interp_ops_generic};
  for (int t = 0; t < 3; t++)
    for (int dtype = 0; dtype < LGT_COMPLEX64; dtype++) {
      char cls = lgt_dtype_class(dtype);
      CHECK(tables[t]->load[dtype] && tables[t]->store[dtype]);
      for (int to = 0; to < LGT_COMPLEX64; to++) CHECK(tables[t]->cast[dtype][to]);
      for (int op = LGT_OP_SELECT; op < LGT_NOP; op++) {
        if (op == LGT_OP_COMPLEX || op == LGT_OP_REAL || op == LGT_OP_IMAG) continue;
        bool has = tables[t]->op[op][dtype] || (cls == 'f' && (lgt_math_has(op) || op == LGT_OP_POWER));
        bool should = strchr(lgt_op_classes(op), cls) && (op != LGT_OP_PHILOX || dtype == LGT_UINT64);
        if (has != should) FAIL("%s for %s", lgt_op_name(op), lgt_dtype_name(dtype));
      }
#define X(NAME, name, classes)             \
  if (LGT_REDOP_##NAME < LGT_REDOP_ARGMIN) \
    CHECK(!strchr(classes, cls) == !tables[t]->reduce[LGT_REDOP_##NAME % LGT_REDOP_ARGMIN][dtype].lanes);
      LGT_REDOP_LIST(X)
#undef X
      CHECK(tables[t]->reduce_arg[0][dtype].lanes && tables[t]->reduce_arg[1][dtype].lanes);
    }
}

/* ---- random numbers --------------------------------------------------------------------------- */

/* Random123's known answers for philox4x32-10; lgt's counter has two zero words. */
TEST(philox) {
  uint64_t counter[2] = {0, 0x3243f6a885a308d3}, key[2] = {0, 0}, out[2];
  apply(LGT_OP_PHILOX, LGT_UINT64, LGT_UINT64, out, counter, key, NULL, 2);
  CHECK_EQ(out[0], 0xe169c58d6627e8d5);
  CHECK(out[1] != out[0]);
  /* Against the textbook algorithm on four words. */
  for (int i = 0; i < 1000; i++) {
    uint64_t c = random_bits(), k = random_bits(), got;
    uint32_t w[4] = {(uint32_t)c, (uint32_t)(c >> 32), 0, 0}, k0 = (uint32_t)k, k1 = (uint32_t)(k >> 32);
    for (int round = 0; round < 10; round++) {
      uint64_t p0 = 0xD2511F53ull * w[0], p1 = 0xCD9E8D57ull * w[2];
      uint32_t x[4] = {(uint32_t)(p1 >> 32) ^ w[1] ^ k0, (uint32_t)p1, (uint32_t)(p0 >> 32) ^ w[3] ^ k1,
                       (uint32_t)p0};
      memcpy(w, x, sizeof w);
      k0 += 0x9E3779B9, k1 += 0xBB67AE85;
    }
    apply(LGT_OP_PHILOX, LGT_UINT64, LGT_UINT64, &got, &c, &k, NULL, 1);
    CHECK_EQ(got, w[0] | (uint64_t)w[1] << 32);
  }
}

int main(void) {
  static const char *const isas[] = {"generic", "avx2", "avx512"};
  RUN(nothing_is_missing);
  for (int i = 0; i < 3; i++) {
    if (lgt_isa_limit(isas[i])) continue;
    printf("with %s\n", isas[i]);
    RUN(operations);
    RUN(float_floor_division);
    RUN(select_takes_any_type);
    RUN(casts);
    RUN(float64_to_float16_rounds_once);
    RUN(transcendental_functions);
    RUN(philox);
  }
  return check_done();
}
