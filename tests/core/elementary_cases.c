/* elementary_cases.c - what is known of a function without computing it.
 *
 * Special values are those of C23's Annex F.  The sign and the payload of a NaN are nobody's business. */
#include "elementary_judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/half.h"
#include "lgt.h"

static const int dtypes[] = {LGT_FLOAT64, LGT_FLOAT32, LGT_FLOAT16};
static const char *const dtype_names[] = {"float64", "float32", "float16"};
#define DTYPES 3

/* Whether the dtype has the value. */
static bool fits(int dtype, double x) {
  if (dtype == LGT_FLOAT64 || isnan(x)) return true;
  return (dtype == LGT_FLOAT32 ? (double)(float)x : (double)lgt_half_to_float(lgt_half_from_double(x))) == x;
}

/* In a vector with others, where nothing but the place could go wrong. */
static double compute(const elementary *f, int dtype, double a, double b) {
  if (dtype == LGT_FLOAT64) {
    double x[5] = {a, 1, a, 0.5, a}, y[5] = {b, 1, b, 2, b}, z[5];
    rival_list[0].compute(f, dtype, z, x, f->arity == 2 ? y : NULL, 5);
    return judge_same(z[0], z[4]) ? z[4] : 12345.678;
  }
  float x[9] = {(float)a, 1, 0.5f, 1, 1, 1, 1, 1, (float)a}, y[9] = {(float)b, 1, 2, 1, 1, 1, 1, 1, (float)b},
        z[9];
  rival_list[0].compute(f, dtype, z, x, f->arity == 2 ? y : NULL, 9);
  if (!judge_same(z[0], z[8])) return 12345.678;
  return dtype == LGT_FLOAT16 ? (double)lgt_half_round(z[8]) : (double)z[8];
}

/* ok or FAIL, once for all checks of a case. */
typedef struct tally {
  const elementary *f;
  const char *what;
  int checks, failures;
  char first[200];
} tally;

static void expect(tally *t, int dtype, double a, double b, double expected) {
  double got = compute(t->f, dtype, a, b);
  t->checks++;
  if (judge_same(got, expected) || t->failures++) return;
  int length = snprintf(t->first, sizeof t->first, "%s: %s(%.17g",
                        dtype_names[dtype == LGT_FLOAT64   ? 0
                                    : dtype == LGT_FLOAT32 ? 1
                                                           : 2],
                        t->f->name, a);
  if (t->f->arity == 2) length += snprintf(t->first + length, sizeof t->first - (size_t)length, ", %.17g", b);
  snprintf(t->first + length, sizeof t->first - (size_t)length, ") is %.17g, not %.17g", got, expected);
}

/* For every dtype that has the operands and the result. */
static void expect_all(tally *t, double a, double b, double expected) {
  for (int d = 0; d < DTYPES; d++)
    if (fits(dtypes[d], a) && fits(dtypes[d], b) && fits(dtypes[d], expected))
      expect(t, dtypes[d], a, b, expected);
}

static bool done(const tally *t) {
  if (t->failures)
    printf("FAIL %s_%s: %d of %d: %s\n", t->f->name, t->what, t->failures, t->checks, t->first);
  else if (t->checks) printf("ok %s_%s\n", t->f->name, t->what);
  return !t->failures;
}

/* ---- special values ---------------------------------------------------------------------------- */

#define INF INFINITY
/* A result that is not exact: left to the judge. */
typedef struct special1 {
  const char *name;
  double x, y;
} special1;

static const special1 specials[] = {
    {"acos", 1, 0},
    {"acos", 2, NAN},
    {"acos", -1.5, NAN},
    {"acos", INF, NAN},
    {"acos", -INF, NAN},
    {"acosh", 1, 0},
    {"acosh", 0.5, NAN},
    {"acosh", 0, NAN},
    {"acosh", -1, NAN},
    {"acosh", INF, INF},
    {"acosh", -INF, NAN},
    {"asin", 0, 0},
    {"asin", -0.0, -0.0},
    {"asin", 2, NAN},
    {"asin", -2, NAN},
    {"asin", INF, NAN},
    {"asinh", 0, 0},
    {"asinh", -0.0, -0.0},
    {"asinh", INF, INF},
    {"asinh", -INF, -INF},
    {"atan", 0, 0},
    {"atan", -0.0, -0.0},
    {"atanh", 0, 0},
    {"atanh", -0.0, -0.0},
    {"atanh", 1, INF},
    {"atanh", -1, -INF},
    {"atanh", 2, NAN},
    {"atanh", -2, NAN},
    {"atanh", INF, NAN},
    {"atanh", -INF, NAN},
    {"cbrt", 0, 0},
    {"cbrt", -0.0, -0.0},
    {"cbrt", INF, INF},
    {"cbrt", -INF, -INF},
    {"cos", 0, 1},
    {"cos", -0.0, 1},
    {"cos", INF, NAN},
    {"cos", -INF, NAN},
    {"cosh", 0, 1},
    {"cosh", -0.0, 1},
    {"cosh", INF, INF},
    {"cosh", -INF, INF},
    {"cosh", 1000, INF},
    {"cosh", -1000, INF},
    {"erf", 0, 0},
    {"erf", -0.0, -0.0},
    {"erf", INF, 1},
    {"erf", -INF, -1},
    {"erf", 100, 1},
    {"erf", -100, -1},
    {"erfc", 0, 1},
    {"erfc", -0.0, 1},
    {"erfc", INF, 0},
    {"erfc", -INF, 2},
    {"erfc", 100, 0},
    {"erfc", -100, 2},
    {"exp", 0, 1},
    {"exp", -0.0, 1},
    {"exp", INF, INF},
    {"exp", -INF, 0},
    {"exp", 1000, INF},
    {"exp", -1000, 0},
    {"exp10", 0, 1},
    {"exp10", -0.0, 1},
    {"exp10", INF, INF},
    {"exp10", -INF, 0},
    {"exp10", 1000, INF},
    {"exp10", -1000, 0},
    {"exp2", 0, 1},
    {"exp2", -0.0, 1},
    {"exp2", INF, INF},
    {"exp2", -INF, 0},
    {"exp2", 1024, INF},
    {"exp2", -1100, 0},
    {"expm1", 0, 0},
    {"expm1", -0.0, -0.0},
    {"expm1", INF, INF},
    {"expm1", -INF, -1},
    {"expm1", 1000, INF},
    {"expm1", -1000, -1},
    {"lgamma", 1, 0},
    {"lgamma", 2, 0},
    {"lgamma", 0, INF},
    {"lgamma", -0.0, INF},
    {"lgamma", -1, INF},
    {"lgamma", -2, INF},
    {"lgamma", -1024, INF},
    {"lgamma", -0x1p53, INF},
    {"lgamma", -1e300, INF},
    {"lgamma", INF, INF},
    {"lgamma", -INF, INF},
    {"log", 1, 0},
    {"log", 0, -INF},
    {"log", -0.0, -INF},
    {"log", -1, NAN},
    {"log", INF, INF},
    {"log", -INF, NAN},
    {"log", -0x1p-24, NAN},
    {"log", -0x1p-149, NAN},
    {"log", -0x1p-1074, NAN},
    {"log10", 1, 0},
    {"log10", 0, -INF},
    {"log10", -0.0, -INF},
    {"log10", -1, NAN},
    {"log10", INF, INF},
    {"log10", -INF, NAN},
    {"log10", -0x1p-24, NAN},
    {"log10", -0x1p-149, NAN},
    {"log10", -0x1p-1074, NAN},
    {"log1p", 0, 0},
    {"log1p", -0.0, -0.0},
    {"log1p", -1, -INF},
    {"log1p", -2, NAN},
    {"log1p", INF, INF},
    {"log1p", -INF, NAN},
    {"log2", 1, 0},
    {"log2", 0, -INF},
    {"log2", -0.0, -INF},
    {"log2", -1, NAN},
    {"log2", INF, INF},
    {"log2", -INF, NAN},
    {"log2", -0x1p-24, NAN},
    {"log2", -0x1p-149, NAN},
    {"log2", -0x1p-1074, NAN},
    {"sin", 0, 0},
    {"sin", -0.0, -0.0},
    {"sin", INF, NAN},
    {"sin", -INF, NAN},
    {"sinh", 0, 0},
    {"sinh", -0.0, -0.0},
    {"sinh", INF, INF},
    {"sinh", -INF, -INF},
    {"sinh", 1000, INF},
    {"sinh", -1000, -INF},
    {"sqrt", 0, 0},
    {"sqrt", -0.0, -0.0},
    {"sqrt", -1, NAN},
    {"sqrt", INF, INF},
    {"sqrt", -INF, NAN},
    {"tan", 0, 0},
    {"tan", -0.0, -0.0},
    {"tan", INF, NAN},
    {"tan", -INF, NAN},
    {"tanh", 0, 0},
    {"tanh", -0.0, -0.0},
    {"tanh", INF, 1},
    {"tanh", -INF, -1},
    {"tanh", 100, 1},
    {"tanh", -100, -1},
    {"tgamma", 0, INF},
    {"tgamma", -0.0, -INF},
    {"tgamma", -1, NAN},
    {"tgamma", -2, NAN},
    {"tgamma", -1024, NAN},
    {"tgamma", -0x1p53, NAN},
    {"tgamma", -1e300, NAN},
    {"tgamma", INF, INF},
    {"tgamma", -INF, NAN},
    {"tgamma", 1000, INF},
    {"tgamma", -1000.5, -0.0},
    {"tgamma", -1001.5, 0},
    {"tgamma", 0x1p-1074, INF},
    {"tgamma", -0x1p-1074, -INF},
};

typedef struct special2 {
  const char *name;
  double x, y, z;
} special2;

#define PI     0x1.921fb54442d18p+1
#define PI_2   0x1.921fb54442d18p+0
#define PI_4   0x1.921fb54442d18p-1
#define PI_3_4 0x1.2d97c7f3321d2p+1
#define TINY   0x1p-1074
static const special2 special_pairs[] = {
    {"hypot", 0, 0, 0},
    {"hypot", -0.0, -0.0, 0},
    {"hypot", 0, -3, 3},
    {"hypot", -3, 0, 3},
    {"hypot", INF, NAN, INF},
    {"hypot", NAN, INF, INF},
    {"hypot", -INF, NAN, INF},
    {"hypot", NAN, -INF, INF},
    {"hypot", INF, 1, INF},
    {"hypot", 1, -INF, INF},
    {"hypot", NAN, 0, NAN},
    {"hypot", 0, NAN, NAN},
    {"hypot", INF, INF, INF},
    {"hypot", TINY, 0, TINY},
    {"hypot", 0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023, INF},
    {"hypot", 3 * TINY, 4 * TINY, 5 * TINY},
    {"hypot", 0x3p-149, 0x4p-149, 0x5p-149},
    {"hypot", 0x3p-24, 0x4p-24, 0x5p-24},
    {"hypot", 0x3p1000, 0x4p1000, 0x5p1000},
    /* pow: of one, and to the power of zero, even with NaN */
    {"pow", 1, NAN, 1},
    {"pow", 1, INF, 1},
    {"pow", 1, -INF, 1},
    {"pow", 1, 123.5, 1},
    {"pow", NAN, 0, 1},
    {"pow", NAN, -0.0, 1},
    {"pow", 0, 0, 1},
    {"pow", -0.0, -0.0, 1},
    {"pow", INF, 0, 1},
    {"pow", -INF, -0.0, 1},
    {"pow", -7, 0, 1},
    {"pow", NAN, 1, NAN},
    {"pow", 2, NAN, NAN},
    {"pow", NAN, NAN, NAN},
    {"pow", -1, NAN, NAN},
    {"pow", 0, NAN, NAN},
    {"pow", NAN, INF, NAN},
    /* of zero */
    {"pow", 0, -3, INF},
    {"pow", -0.0, -3, -INF},
    {"pow", -0.0, -1, -INF},
    {"pow", 0, -2, INF},
    {"pow", -0.0, -2, INF},
    {"pow", 0, -2.5, INF},
    {"pow", -0.0, -2.5, INF},
    {"pow", -0.0, -0.5, INF},
    {"pow", 0, -INF, INF},
    {"pow", -0.0, -INF, INF},
    {"pow", 0, 3, 0},
    {"pow", -0.0, 3, -0.0},
    {"pow", -0.0, 1, -0.0},
    {"pow", 0, 2, 0},
    {"pow", -0.0, 2, 0},
    {"pow", -0.0, 2.5, 0},
    {"pow", -0.0, 0.5, 0},
    {"pow", 0, INF, 0},
    {"pow", -0.0, INF, 0},
    {"pow", -0.0, 0x1p53, 0},
    {"pow", -0.0, 0x1.fffffffffffffp+52, -0.0},
    {"pow", -0.0, 0x1p24, 0},
    {"pow", -0.0, 0x1.fffffep+23, -0.0},
    {"pow", -0.0, 2047, -0.0},
    {"pow", -0.0, 2048, 0},
    /* to the power of infinity */
    {"pow", -1, INF, 1},
    {"pow", -1, -INF, 1},
    {"pow", 0.5, -INF, INF},
    {"pow", -0.5, -INF, INF},
    {"pow", 2, -INF, 0},
    {"pow", -2, -INF, 0},
    {"pow", 0.5, INF, 0},
    {"pow", -0.5, INF, 0},
    {"pow", 2, INF, INF},
    {"pow", -2, INF, INF},
    {"pow", INF, INF, INF},
    {"pow", INF, -INF, 0},
    {"pow", -INF, INF, INF},
    {"pow", -INF, -INF, 0},
    /* of infinity */
    {"pow", -INF, -3, -0.0},
    {"pow", -INF, -2, 0},
    {"pow", -INF, -2.5, 0},
    {"pow", -INF, 3, -INF},
    {"pow", -INF, 2, INF},
    {"pow", -INF, 2.5, INF},
    {"pow", INF, -1, 0},
    {"pow", INF, 0.5, INF},
    {"pow", INF, 3, INF},
    {"pow", -INF, 0x1p53, INF},
    /* of something negative */
    {"pow", -2, 0.5, NAN},
    {"pow", -2, -1.5, NAN},
    {"pow", -1, 0.5, NAN},
    {"pow", -0.5, 1e-3, NAN},
    {"pow", -2, 3, -8},
    {"pow", -2, 2, 4},
    {"pow", -2, -3, -0.125},
    {"pow", -1, 3, -1},
    {"pow", -1, 4, 1},
    {"pow", -1, 0x1p60, 1},
    {"pow", -1, 0x1.fffffffffffffp+52, -1},
    {"pow", -2, 2001, -INF},
    {"pow", -2, 2000, INF},
    {"pow", -2, -2001, -0.0},
    {"pow", -2, -2000, 0},
    {"pow", -TINY, 3, -0.0},
    {"pow", TINY, -3, INF},
    {"pow", 2, 2000, INF},
    {"pow", 2, -2000, 0},
    {"pow", 1e300, 1e300, INF},
    {"pow", 1e300, -1e300, 0},
    {"pow", 1e-300, 1e300, 0},
    {"pow", 0.5, 1e300, 0},
    {"pow", 2, -1074, TINY},
    {"pow", 2, -149, 0x1p-149},
    {"pow", 2, -24, 0x1p-24},
    {"pow", 2, 1023, 0x1p1023},
    {"pow", 2, 127, 0x1p127},
};

/* The results are not exact in narrower dtypes, but their nearest is what they must be. */
static const special2 angles[] = {
    {"atan2", 0, 0, 0},
    {"atan2", -0.0, 0, -0.0},
    {"atan2", 0, -0.0, PI},
    {"atan2", -0.0, -0.0, -PI},
    {"atan2", 0, -1, PI},
    {"atan2", -0.0, -1, -PI},
    {"atan2", 0, 1, 0},
    {"atan2", -0.0, 1, -0.0},
    {"atan2", -1, 0, -PI_2},
    {"atan2", -1, -0.0, -PI_2},
    {"atan2", 1, 0, PI_2},
    {"atan2", 1, -0.0, PI_2},
    {"atan2", 1, -INF, PI},
    {"atan2", -1, -INF, -PI},
    {"atan2", 1, INF, 0},
    {"atan2", -1, INF, -0.0},
    {"atan2", INF, 1, PI_2},
    {"atan2", -INF, -1, -PI_2},
    {"atan2", INF, -INF, PI_3_4},
    {"atan2", -INF, -INF, -PI_3_4},
    {"atan2", INF, INF, PI_4},
    {"atan2", -INF, INF, -PI_4},
    {"atan2", NAN, 1, NAN},
    {"atan2", 1, NAN, NAN},
    {"atan2", NAN, INF, NAN},
    {"atan2", INF, NAN, NAN},
    {"atan2", 0, NAN, NAN},
    {"atan2", NAN, 0, NAN},
    {"atan2", 0, -INF, PI},
    {"atan2", -0.0, -INF, -PI},
    {"atan2", 0, INF, 0},
    {"atan2", -0.0, INF, -0.0},
    {"atan2", INF, 0, PI_2},
    {"atan2", -INF, -0.0, -PI_2},
    {"atan2", TINY, -0x1p1000, PI},
    {"atan2", -TINY, -0x1p1000, -PI},
    {"atan2", TINY, 0x1p1000, 0},
    {"atan2", -TINY, 0x1p1000, -0.0},
    {"atan2", 0x1p1000, TINY, PI_2},
    {"atan2", 1, 1, PI_4},
    {"atan2", -1, -1, -PI_3_4},
    {"atan2", TINY, TINY, PI_4},
    {"atan2", TINY, 1, TINY},
    {"atan2", 0x1.fffffffffffffp+1023, 0x1.fffffffffffffp+1023, PI_4},
    {"atan", INF, PI_2, 0},
    {"atan", -INF, -PI_2, 0},
    {"acos", 0, PI_2, 0},
    {"acos", -0.0, PI_2, 0},
    {"acos", -1, PI, 0},
    {"asin", 1, PI_2, 0},
    {"asin", -1, -PI_2, 0},
    {"atan", 1, PI_4, 0},
    {"atan", -1, -PI_4, 0},
};

static double nearest(int dtype, double x) {
  return dtype == LGT_FLOAT64   ? x
         : dtype == LGT_FLOAT32 ? (double)(float)x
                                : (double)lgt_half_to_float(lgt_half_from_double(x));
}

bool cases_special(const elementary *f) {
  tally t = {.f = f, .what = "special"};
#define EACH(list, at)                                         \
  for (unsigned at = 0; at < sizeof list / sizeof *list; at++) \
    if (!strcmp(list[at].name, f->name))
  EACH(specials, i) expect_all(&t, specials[i].x, 0, specials[i].y);
  EACH(special_pairs, i) expect_all(&t, special_pairs[i].x, special_pairs[i].y, special_pairs[i].z);
  for (int d = 0; d < DTYPES; d++) {
    int dtype = dtypes[d];
    EACH(angles, i) {
      double x = angles[i].x, y = f->arity == 2 ? angles[i].y : 0,
             z = f->arity == 2 ? angles[i].z : angles[i].y;
      if (fits(dtype, x) && fits(dtype, y)) expect(&t, dtype, x, y, nearest(dtype, z));
    }
    double greatest = dtype == LGT_FLOAT64   ? 0x1.fffffffffffffp+1023
                      : dtype == LGT_FLOAT32 ? 0x1.fffffep+127
                                             : 65504;
    if (f->arity == 1) expect(&t, dtype, NAN, 0, NAN);
    if (!strcmp(f->name, "hypot"))
      expect(&t, dtype, greatest, -greatest, INF), expect(&t, dtype, greatest, 0, greatest);
    if (!strcmp(f->name, "pow"))
      expect(&t, dtype, greatest, 2, INF), expect(&t, dtype, -greatest, 1, -greatest);
  }
  return done(&t);
}

/* ---- results that a dtype has exactly ----------------------------------------------------------- */

/* 10^k, where a double has it: k <= 22. */
static double power_of_ten(int k) {
  double y = 1;
  while (k-- > 0) y *= 10;
  return y;
}

static void exact_unary(tally *t, const char *name) {
  if (!strcmp(name, "cbrt"))
    for (int64_t i = 1; i < 208064; i += i < 3000 ? 1 : 61)
      for (int e = -300; e <= 300; e += 50) { /* i^3 < 2^53 */
        expect_all(t, ldexp((double)(i * i * i), 3 * e), 0, ldexp((double)i, e));
        expect_all(t, -ldexp((double)(i * i * i), 3 * e), 0, -ldexp((double)i, e));
      }
  if (!strcmp(name, "exp10"))
    for (int k = 0; k <= 22; k++) expect_all(t, k, 0, power_of_ten(k));
  if (!strcmp(name, "log10"))
    for (int k = 0; k <= 22; k++) expect_all(t, power_of_ten(k), 0, k);
  if (!strcmp(name, "exp2"))
    for (int k = -1074; k < 1024; k++) expect_all(t, k, 0, ldexp(1, k));
  if (!strcmp(name, "log2"))
    for (int k = -1074; k < 1024; k++) expect_all(t, ldexp(1, k), 0, k);
  if (!strcmp(name, "sqrt"))
    for (int64_t i = 1; i < 94906265; i += i < 3000 ? 1 : 9973) expect_all(t, (double)(i * i), 0, (double)i);
  if (!strcmp(name, "tgamma"))
    for (double k = 1, factorial = 1; k <= 23; factorial *= k++) expect_all(t, k, 0, factorial);
}

static void exact_hypot(tally *t) {
  for (int m = 2; m < 60; m++)
    for (int n = 1; n < m; n++)
      for (int e = -1000; e <= 1000; e += 100) {
        double a = ldexp(m * m - n * n, e), b = ldexp(2 * m * n, e), c = ldexp(m * m + n * n, e);
        if (e % 200) expect_all(t, a, -b, c);
        else expect_all(t, b, a, c);
      }
  for (int e = -1074; e < 1024; e++)
    expect_all(t, ldexp(1, e), 0, ldexp(1, e)), expect_all(t, 0, -ldexp(1, e), ldexp(1, e));
}

static void exact_pow(tally *t) {
  for (int base = -60; base <= 60; base++) {
    double y = 1;
    for (int k = 0; fabs(y) <= 0x1p53 && k < 60; k++, y *= base) {
      expect_all(t, base, k, y);
      for (int e = -8; e <= 8; e++) expect_all(t, ldexp(base, e), k, ldexp(y, e * k));
    }
  }
  for (int64_t i = 1; i < 94906265; i += i < 3000 ? 1 : 9973) {
    double square = (double)(i * i);
    expect_all(t, square, 0.5, (double)i);
    expect_all(t, ldexp(square, -40), 0.5, ldexp((double)i, -20));
    if (i < 208063) expect_all(t, square, 1.5, (double)(i * i * i));
    if (i < 9741)
      expect_all(t, square * square, 0.25, (double)i),
          expect_all(t, square * square, 0.75, (double)(i * i * i));
  }
  for (int k = -1074; k < 1024; k++)
    expect_all(t, 2, k, ldexp(1, k)), expect_all(t, ldexp(1, k), 1, ldexp(1, k));
  for (int k = -250; k < 250; k++)
    expect_all(t, 16, k, ldexp(1, 4 * k)), expect_all(t, 16, k * 0.25, ldexp(1, k)),
        expect_all(t, 0.5, k, ldexp(1, -k));
  for (int k = 0; k <= 22; k++) expect_all(t, 10, k, power_of_ten(k));
}

bool cases_exact(const elementary *f) {
  tally t = {.f = f, .what = "exact"};
  exact_unary(&t, f->name);
  if (!strcmp(f->name, "hypot")) exact_hypot(&t);
  if (!strcmp(f->name, "pow")) exact_pow(&t);
  return done(&t);
}

/* ---- order ------------------------------------------------------------------------------------- */

/* Where the function rises or falls. */
static const struct slope {
  const char *name;
  double low, high;
  int direction;
} slopes[] = {
    {"acos", -1, 1, -1},
    {"acosh", 1, 1e308, 1},
    {"asin", -1, 1, 1},
    {"asinh", -1e308, 1e308, 1},
    {"atan", -1e308, 1e308, 1},
    {"atanh", -1, 1, 1},
    {"cbrt", -1e308, 1e308, 1},
    {"cos", 0, 3.14159265, -1},
    {"cos", 3.1415927, 6.2831853, 1},
    {"cosh", 0, 711, 1},
    {"cosh", -711, 0, -1},
    {"erf", -7, 7, 1},
    {"erfc", -7, 28, -1},
    {"exp", -746, 710, 1},
    {"exp10", -324, 309, 1},
    {"exp2", -1076, 1024, 1},
    {"expm1", -50, 710, 1},
    {"lgamma", 0, 1.4616, -1},
    {"lgamma", 1.4617, 2e305, 1},
    {"log", 0, 1e308, 1},
    {"log10", 0, 1e308, 1},
    {"log1p", -1, 1e308, 1},
    {"log2", 0, 1e308, 1},
    {"sin", -1.57079632, 1.57079632, 1},
    {"sin", 1.57079633, 4.71238898, -1},
    {"sinh", -711, 711, 1},
    {"sqrt", 0, 1e308, 1},
    {"tan", -1.57079632, 1.57079632, 1},
    {"tan", 1.57079633, 4.71238898, 1},
    {"tanh", -25, 25, 1},
    {"tgamma", 0, 1.4616, -1},
    {"tgamma", 1.4617, 171.7, 1},
};

#define RUN 1024

/* Successive doubles around x. */
static void order_at(tally *t, const struct slope *s, double x) {
  static double a[RUN], y[RUN];
  x = nextafter(x, -INFINITY);
  for (int i = 0; i < RUN / 2; i++) x = nextafter(x, -INFINITY);
  int n = 0;
  for (int i = 0; i < RUN; i++, x = nextafter(x, INFINITY))
    if (x >= s->low && x <= s->high) a[n++] = x + 0.0; /* no -0, where gamma has the other pole */
  rival_list[0].compute(t->f, LGT_FLOAT64, y, a, NULL, n);
  t->checks++;
  for (int i = 1; i < n; i++)
    if (s->direction > 0 ? y[i] < y[i - 1] : y[i] > y[i - 1]) {
      if (!t->failures++)
        snprintf(t->first, sizeof t->first, "%s(%a) is %a, and %a at the double before", t->f->name, a[i],
                 y[i], y[i - 1]);
      return;
    }
}

/* A long run in leaps, all of which are in order unless something is badly wrong at a border. */
static void order_across(tally *t, const struct slope *s) {
  static double a[RUN], y[RUN];
  for (int i = 0; i < RUN; i++) a[i] = s->low * (1 - i / (RUN - 1.0)) + s->high * (i / (RUN - 1.0));
  a[RUN - 1] = s->high;
  rival_list[0].compute(t->f, LGT_FLOAT64, y, a, NULL, RUN);
  t->checks++;
  for (int i = 1; i < RUN; i++)
    if (s->direction > 0 ? y[i] < y[i - 1] : y[i] > y[i - 1]) {
      if (!t->failures++)
        snprintf(t->first, sizeof t->first, "%s(%a) is %a, but %s(%a) %a", t->f->name, a[i], y[i], t->f->name,
                 a[i - 1], y[i - 1]);
      return;
    }
}

static void order_on(tally *t, const struct slope *s) {
  order_across(t, s);
  for (int i = 0; i < 16 && t->f->special[i] != 0; i++) {
    order_at(t, s, t->f->special[i]);
    order_at(t, s, -t->f->special[i]);
  }
  /* Borders of reductions: multiples of pi/2 and of ln 2 / 2, eighths and 128ths, powers of two and between. */
  for (int k = -40; k <= 40; k++) {
    order_at(t, s, k * 0x1.921fb54442d18p-1);
    order_at(t, s, k * 0x1.62e42fefa39efp-2);
    order_at(t, s, k * 0.125);
    order_at(t, s, 1 + k * 0x1p-7);
    order_at(t, s, k * 0x1.62e42fefa39efp-8);
    order_at(t, s, ldexp(1, k)), order_at(t, s, -ldexp(1, k));
    order_at(t, s, ldexp(1.5, k));
    order_at(t, s, ldexp(1.4142135623730951, k));
    order_at(t, s, ldexp(1, 25 * k));
    order_at(t, s, k * 17.75);
  }
  double points[512], unused[512];
  points_fill(t->f, LGT_FLOAT64, 7777777, 512, points, unused);
  for (int i = 0; i < 512; i++)
    if (points[i] >= s->low && points[i] <= s->high) order_at(t, s, points[i]);
}

bool cases_order(const elementary *f) {
  tally t = {.f = f, .what = "order"};
  EACH(slopes, i) order_on(&t, &slopes[i]);
  return done(&t);
}

/* ---- where an earlier version was too far off ----------------------------------------------------- */

static const struct hard {
  const char *name;
  double x;
} hard[] = {{"tan", 0x1.9099b39e076dfp-1}, {"tan", -0x1.9099b39e076dfp-1}};

bool cases_hard(const elementary *f) {
  tally t = {.f = f, .what = "hard"};
  EACH(hard, i) {
    double got = compute(f, LGT_FLOAT64, hard[i].x, 0), error = judge_error(f, hard[i].x, 0, got);
    t.checks++;
    if (error > f->bound && !t.failures++)
      snprintf(t.first, sizeof t.first, "%s(%a) is %a, off by %.4f ulp", f->name, hard[i].x, got, error);
  }
  return done(&t);
}
