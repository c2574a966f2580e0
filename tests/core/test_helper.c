/* What the two back ends share: elementary functions by opcode, division, the instruction set. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "check.h"
#include "base/half.h"
#include "kernel/helper.h"
#include "random_loop.h"

static bool same(int dtype, const void *a, const void *b) { return same_element(dtype, a, b); }

/* Every function: an element's bits depend neither on its neighbours nor on its place nor on how many
 * there are.  The neighbours are of the kind that takes slow paths. */
static void lanes_do_not_matter(lgt_isa isa) {
  if (isa > lgt_isa_host()) {
    printf("skip %s: not on this CPU\n", lgt_isa_name(isa));
    return;
  }
  lgt_isa_limit(lgt_isa_name(isa));
  static const int dtypes[] = {LGT_FLOAT32, LGT_FLOAT64};
  for (int op = 0; op < LGT_NOP; op++)
    for (int d = 0; lgt_math_has(op) && d < 2; d++) {
      int dtype = dtypes[d], size = lgt_dtype_size(dtype);
      char a[64 * 8], b[64 * 8], all[64 * 8], one[8], alone[37 * 8];
      for (int round = 0; round < 60; round++) {
        fill_random(a, (size_t)(64 * size), dtype);
        fill_random(b, (size_t)(64 * size), dtype);
        lgt_helper_math(op, dtype, all, a, b, 64);
        for (int i = 0; i < 64; i++) {
          lgt_helper_math(op, dtype, one, a + i * size, b + i * size, 1);
          if (!same(dtype, one, all + i * size))
            FAIL("%s of %s on %s: alone and in a vector differ", lgt_op_name(op), lgt_dtype_name(dtype),
                 lgt_isa_name(isa));
        }
        lgt_helper_math(op, dtype, alone, a + 5 * size, b + 5 * size, 37);
        for (int i = 0; i < 37; i++)
          if (!same(dtype, alone + i * size, all + (5 + i) * size))
            FAIL("%s of %s on %s: the place matters", lgt_op_name(op), lgt_dtype_name(dtype),
                 lgt_isa_name(isa));
      }
    }
  lgt_isa_limit("");
}

TEST(lanes_generic) { lanes_do_not_matter(LGT_ISA_GENERIC); }
TEST(lanes_avx2) { lanes_do_not_matter(LGT_ISA_AVX2); }
TEST(lanes_avx512) { lanes_do_not_matter(LGT_ISA_AVX512); }

/* They are the functions of their names: close to libm's. */
TEST(accuracy) {
  static double (*const f1[])(double) = {acos,  acosh, asin, asinh, atan,  atanh, cbrt,  cos,
                                         cosh,  erf,   erfc, exp,   exp10, exp2,  expm1, log,
                                         log10, log1p, log2, sin,   sinh,  tan,   tanh};
  static const int op1[] = {LGT_OP_ACOS,  LGT_OP_ACOSH, LGT_OP_ASIN,  LGT_OP_ASINH, LGT_OP_ATAN,
                            LGT_OP_ATANH, LGT_OP_CBRT,  LGT_OP_COS,   LGT_OP_COSH,  LGT_OP_ERF,
                            LGT_OP_ERFC,  LGT_OP_EXP,   LGT_OP_EXP10, LGT_OP_EXP2,  LGT_OP_EXPM1,
                            LGT_OP_LOG,   LGT_OP_LOG10, LGT_OP_LOG1P, LGT_OP_LOG2,  LGT_OP_SIN,
                            LGT_OP_SINH,  LGT_OP_TAN,   LGT_OP_TANH};
  static double (*const f2[])(double, double) = {atan2, hypot, pow};
  static const int op2[] = {LGT_OP_ATAN2, LGT_OP_HYPOT, LGT_OP_POW};
  for (int k = 0; k < 26; k++)
    for (int i = 0; i < 200; i++) {
      double x = (i + 1) * 0.0049, y = 1.7 - x, got, expected;
      int op = k < 23 ? op1[k] : op2[k - 23];
      if (op == LGT_OP_ACOSH) x += 1;
      expected = k < 23 ? f1[k](x) : f2[k - 23](x, y);
      lgt_helper_math(op, LGT_FLOAT64, &got, &x, &y, 1);
      if (!(fabs(got - expected) <= 8 * DBL_EPSILON * (fabs(expected) + 1e-3)))
        FAIL("%s(%g) is %.17g, not %.17g", lgt_op_name(op), x, got, expected);
      float xf = (float)x, yf = (float)y, gotf;
      expected = k < 23 ? f1[k](xf) : f2[k - 23](xf, yf);
      lgt_helper_math(op, LGT_FLOAT32, &gotf, &xf, &yf, 1);
      if (!(fabs(gotf - expected) <= 8 * FLT_EPSILON * (fabs(expected) + 1e-3)))
        FAIL("%sf(%g) is %.9g, not %.9g", lgt_op_name(op), xf, gotf, expected);
    }
}

TEST(symbols) {
  CHECK(lgt_helper_symbol("lgt_math_exp_f64") != NULL);
  CHECK(lgt_helper_symbol("lgt_math_pow_f16") != NULL);
  CHECK(lgt_helper_symbol("lgt_math_power_f32") != NULL);
  CHECK(lgt_helper_symbol("lgt_helper_mod_f64") == (void *)lgt_helper_mod_f64);
  CHECK(lgt_helper_symbol("system") == NULL);
  CHECK(lgt_helper_symbol("") == NULL);
}

#define CHECK_I64(op, a, b, expected)          \
  do {                                         \
    int64_t a_ = (a), b_ = (b), out_;          \
    lgt_helper_##op##_i64(&out_, &a_, &b_, 1); \
    CHECK_EQ(out_, expected);                  \
  } while (0)
#define CHECK_U64(op, a, b, expected)          \
  do {                                         \
    uint64_t a_ = (a), b_ = (b), out_;         \
    lgt_helper_##op##_u64(&out_, &a_, &b_, 1); \
    CHECK_EQ(out_, expected);                  \
  } while (0)
/* Also the sign of 0; NaN equals NaN. */
#define CHECK_F64(op, a, b, expected)                                                             \
  do {                                                                                            \
    double a_ = (a), b_ = (b), e_ = (expected), out_;                                             \
    float af_ = (float)a_, bf_ = (float)b_, ef_ = (float)e_, outf_;                               \
    lgt_helper_##op##_f64(&out_, &a_, &b_, 1);                                                    \
    if (!same(LGT_FLOAT64, &out_, &e_)) FAIL(#op "(%g, %g) is %g, not %g", a_, b_, out_, e_);     \
    lgt_helper_##op##_f32(&outf_, &af_, &bf_, 1);                                                 \
    if (!same(LGT_FLOAT32, &outf_, &ef_)) FAIL(#op "f(%g, %g) is %g, not %g", a_, b_, outf_, e_); \
  } while (0)

TEST(integers) {
  CHECK_I64(div, -7, 2, -3);
  CHECK_I64(fmod, -7, 2, -1);
  CHECK_I64(floordiv, -7, 2, -4);
  CHECK_I64(floordiv, 7, -2, -4);
  CHECK_I64(floordiv, -8, 2, -4);
  CHECK_I64(mod, -7, 2, 1);
  CHECK_I64(mod, 7, -2, -1);
  CHECK_I64(mod, 8, -2, 0);
  CHECK_I64(div, 5, 0, 0);
  CHECK_I64(floordiv, 5, 0, 0);
  CHECK_I64(mod, 5, 0, 0);
  CHECK_I64(fmod, 5, 0, 0);
  CHECK_I64(div, INT64_MIN, -1, INT64_MIN);
  CHECK_I64(floordiv, INT64_MIN, -1, INT64_MIN);
  CHECK_I64(mod, INT64_MIN, -1, 0);
  CHECK_I64(fmod, INT64_MIN, -1, 0);
  CHECK_U64(floordiv, UINT64_MAX, 2, INT64_MAX);
  CHECK_U64(mod, UINT64_MAX, 10, 5);
  CHECK_U64(fmod, 5, 0, 0);
  CHECK_U64(div, 5, 0, 0);
  CHECK_I64(pow, -3, 3, -27);
  CHECK_I64(pow, 10, 20, 7766279631452241920); /* 10^20 mod 2^64 */
  CHECK_I64(pow, 0, 0, 1);
  CHECK_I64(pow, 0, -1, 0);
  CHECK_I64(pow, 1, -5, 1);
  CHECK_I64(pow, -1, -5, -1);
  CHECK_I64(pow, -1, -4, 1);
  CHECK_I64(pow, 7, -1, 0);
  CHECK_U64(pow, 2, 63, INT64_MIN);
  CHECK_U64(pow, 2, UINT64_MAX, 0);
}

TEST(floats) {
  CHECK_F64(fmod, -7, 2, -1);
  CHECK_F64(mod, -7, 2, 1);
  CHECK_F64(mod, 7, -2, -1);
  CHECK_F64(mod, -4, 2, 0.0);
  CHECK_F64(mod, 4, -2, -0.0);
  CHECK_F64(mod, 5, 0, NAN);
  CHECK_F64(mod, 5, INFINITY, 5);
  CHECK_F64(mod, -5, INFINITY, INFINITY);
  CHECK_F64(mod, INFINITY, 5, NAN);
  CHECK_F64(floordiv, 7, 2, 3);
  CHECK_F64(floordiv, -7, 2, -4);
  CHECK_F64(floordiv, 7, -2, -4);
  CHECK_F64(floordiv, 5, 0, INFINITY);
  CHECK_F64(floordiv, -5, 0, -INFINITY);
  CHECK_F64(floordiv, 0, 0, NAN);
  CHECK_F64(floordiv, -0.0, 3, -0.0);
  CHECK_F64(floordiv, 1, INFINITY, 0);
  CHECK_F64(floordiv, -1, INFINITY, -1);
  double a = 1, b = 0.1, out; /* 0.1 is a little more than a tenth */
  lgt_helper_floordiv_f64(&out, &a, &b, 1);
  CHECK(out == 9);
}

/* Vectors of any bits, of multiples and their neighbours, of quotients of any size: as element by element. */
static uint64_t any_bits(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state * 0x2545F4914F6CDD1Du;
}
static double any_float(int kind) {
  static const double special[] = {0,       -0.0,   1,       -1,       INFINITY, -INFINITY, NAN,
                                   DBL_MIN, 5e-324, -5e-324, -DBL_MAX, 0.1,      0.3,       -2.5};
  uint64_t bits = any_bits();
  double value;
  memcpy(&value, &bits, sizeof value);
  if (kind == 0) return value;
  if (kind == 1) return special[bits % 14];
  if (kind == 2) return (double)(int64_t)(bits % 2001) - 1000;
  return ldexp((double)(int64_t)bits, kind == 3 ? -1110 : -40);
}
TEST(float_vectors) {
  static const char *const isa[] = {"generic", "avx2", "avx512"};
  for (int turn = 0; turn < 3 * 4000; turn++) {
    if (turn % 3 > (int)lgt_isa_host()) continue;
    CHECK_EQ(lgt_isa_limit(isa[turn % 3]), LGT_OK);
    double a[37], b[37], out[37];
    int shift = (int)(any_bits() % 8) + (any_bits() % 2 ? 7 : 36);
    float af[37], bf[37], outf[37];
    for (int i = 0; i < 37; i++) {
      a[i] = any_float((int)(turn / 3 % 2 ? 4 : any_bits() % 5));
      b[i] = any_float((int)(turn / 3 % 2 ? 4 : any_bits() % 5));
      if (turn / 3 % 8 == 3)
        a[i] = nextafter(b[i] * (double)(any_bits() % 2000), a[i]);       /* just beside a multiple */
      if (turn / 3 % 8 == 7) a[i] = b[i] * (double)(any_bits() >> shift); /* about the bounds */
      af[i] = (float)a[i], bf[i] = (float)b[i];
      if (turn / 3 % 8 == 3) af[i] = nextafterf(bf[i] * (float)(any_bits() % 2000), af[i]);
    }
#define X(OP, op, T, d, a, b, out)                                                                       \
  lgt_helper_##op##_##d(out, a, b, 37);                                                                  \
  for (int i = 0; i < 37; i++) {                                                                         \
    T one;                                                                                               \
    lgt_helper_##op##_##d(&one, a + i, b + i, 1);                                                        \
    if (!same(sizeof(T) == 8 ? LGT_FLOAT64 : LGT_FLOAT32, &out[i], &one))                                \
      FAIL("%s " #op "_" #d "(%.17g, %.17g) is %.17g in a vector, not %.17g", isa[turn % 3], a[i], b[i], \
           out[i], one);                                                                                 \
  }
    X(MOD, mod, double, f64, a, b, out)
    X(FMOD, fmod, double, f64, a, b, out)
    X(FLOORDIV, floordiv, double, f64, a, b, out)
    X(MOD, mod, float, f32, af, bf, outf)
    X(FMOD, fmod, float, f32, af, bf, outf)
    X(FLOORDIV, floordiv, float, f32, af, bf, outf)
#undef X
  }
  CHECK_EQ(lgt_isa_limit(""), LGT_OK);
}

/* The same of integers: of any size, beside multiples, about the bounds of what vectors take. */
static int64_t any_integer(void) {
  uint64_t value = any_bits() >> any_bits() % 64;
  if (any_bits() % 8 == 0) value = (UINT64_C(1) << any_bits() % 64) - 1 + any_bits() % 3;
  return (int64_t)(any_bits() % 2 ? value : 0 - value);
}
TEST(integer_vectors) {
  static const char *const isa[] = {"generic", "avx2", "avx512"};
  for (int turn = 0; turn < 3 * 4000; turn++) {
    if (turn % 3 > (int)lgt_isa_host()) continue;
    CHECK_EQ(lgt_isa_limit(isa[turn % 3]), LGT_OK);
    int64_t a[37], b[37], out[37];
    uint64_t out_u[37];
    int smaller = (int)(any_bits() % 40);
    for (int i = 0; i < 37; i++) {
      a[i] = any_integer() >> smaller;
      b[i] = any_integer() >> smaller;
      if (turn / 3 % 4 == 1) a[i] = (int64_t)((uint64_t)b[i] * (any_bits() % 2000) + any_bits() % 3 - 1);
      if (turn / 3 % 4 == 2) b[i] = b[0];
    }
#define X(op, T, d, a, b, out)                                                                            \
  lgt_helper_##op##_##d(out, a, b, 37);                                                                   \
  for (int i = 0; i < 37; i++) {                                                                          \
    T one;                                                                                                \
    lgt_helper_##op##_##d(&one, a + i, b + i, 1);                                                         \
    if (out[i] != one)                                                                                    \
      FAIL("%s " #op "_" #d "(%lld, %lld) is %lld in a vector, not %lld", isa[turn % 3], (long long)a[i], \
           (long long)b[i], (long long)out[i], (long long)one);                                           \
  }
    X(div, int64_t, i64, a, b, out)
    X(fmod, int64_t, i64, a, b, out)
    X(mod, int64_t, i64, a, b, out)
    X(floordiv, int64_t, i64, a, b, out)
    const uint64_t *ua = (const uint64_t *)a, *ub = (const uint64_t *)b;
    X(div, uint64_t, u64, ua, ub, out_u)
    X(mod, uint64_t, u64, ua, ub, out_u)
#undef X
  }
  CHECK_EQ(lgt_isa_limit(""), LGT_OK);
}

/* There and back for every float16, and the ties between them. */
TEST(halves) {
  for (int bits = 0; bits < 0x10000; bits++) {
    uint16_t half = (uint16_t)bits, back;
    float value;
    lgt_helper_f16_to_f32(&value, &half, 1);
    lgt_helper_f32_to_f16(&back, &value, 1);
    CHECK(isnan(value) ? (back & 0x7fff) > 0x7c00 : back == half);
    if ((bits & 0x7fff) >= 0x7bff) continue;
    uint16_t after = (uint16_t)(bits + 1);
    float next;
    lgt_helper_f16_to_f32(&next, &after, 1);
    float middle = value + (next - value) / 2;
    lgt_helper_f32_to_f16(&back, &middle, 1);
    CHECK_EQ(back, bits & 1 ? after : half); /* to even */
  }
}

TEST(isa) {
  lgt_isa host = lgt_isa_host();
  CHECK_EQ(lgt_isa_current(), host);
  CHECK_EQ(lgt_isa_limit("generic"), LGT_OK);
  CHECK_EQ(lgt_isa_current(), LGT_ISA_GENERIC);
  CHECK_EQ(lgt_isa_limit("sse9"), LGT_BAD_ARGUMENT);
  CHECK_HAS(lgt_message(), "sse9");
  CHECK_EQ(lgt_isa_current(), LGT_ISA_GENERIC);
  CHECK_EQ(lgt_isa_limit(""), LGT_OK);
  CHECK_EQ(lgt_isa_current(), host);
}

int main(void) {
  RUN(lanes_generic);
  RUN(lanes_avx2);
  RUN(lanes_avx512);
  RUN(accuracy);
  RUN(symbols);
  RUN(integers);
  RUN(floats);
  RUN(float_vectors);
  RUN(integer_vectors);
  RUN(halves);
  RUN(isa);
  return check_done();
}
