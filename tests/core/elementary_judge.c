/* elementary_judge.c - how far a result is from the true one. */
#include "elementary_judge.h"

#include <math.h>
#include <mpfr.h>
#include <string.h>

#include "model/body.h"
#include "base/half.h"
#include "kernel/helper.h"

/* ---- the functions, and glibc's and MPFR's of the same names ---------------------------------- */

static int mpfr_tgamma(mpfr_t y, const mpfr_t x, mpfr_rnd_t mode) { return mpfr_gamma(y, x, mode); }
static int mpfr_loggamma(mpfr_t y, const mpfr_t x, mpfr_rnd_t mode) {
  int sign;
  return mpfr_lgamma(y, &sign, x, mode);
}
/* glibc's lgamma writes a global variable: not for threads. */
static double loggamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}
static float loggammaf(float x) {
  int sign;
  return lgammaf_r(x, &sign);
}
static long double loggammal(long double x) {
  int sign;
  return lgammal_r(x, &sign);
}

#define WRAP1(name)                                                                            \
  static long double wide_##name(long double a, long double b) { return (void)b, name##l(a); } \
  static double middle_##name(double a, double b) { return (void)b, name(a); }                 \
  static float narrow_##name(float a, float b) { return (void)b, name##f(a); }                 \
  static int exact_##name(void *y, const void *a, const void *b) {                             \
    return (void)b, mpfr_##name(*(mpfr_t *)y, *(const mpfr_t *)a, MPFR_RNDZ);                  \
  }
#define WRAP2(name)                                                                      \
  static long double wide_##name(long double a, long double b) { return name##l(a, b); } \
  static double middle_##name(double a, double b) { return name(a, b); }                 \
  static float narrow_##name(float a, float b) { return name##f(a, b); }                 \
  static int exact_##name(void *y, const void *a, const void *b) {                       \
    return mpfr_##name(*(mpfr_t *)y, *(const mpfr_t *)a, *(const mpfr_t *)b, MPFR_RNDZ); \
  }
WRAP1(acos)
WRAP1(acosh)
WRAP1(asin)
WRAP1(asinh)
WRAP1(atan)
WRAP1(atanh)
WRAP1(cbrt)
WRAP1(cos)
WRAP1(cosh)
WRAP1(erf)
WRAP1(erfc)
WRAP1(exp)
WRAP1(exp10)
WRAP1(exp2)
WRAP1(expm1)
WRAP1(loggamma)
WRAP1(log)
WRAP1(log10)
WRAP1(log1p)
WRAP1(log2)
WRAP1(sin)
WRAP1(sinh)
WRAP1(sqrt)
WRAP1(tan)
WRAP1(tanh)
WRAP1(tgamma)
WRAP2(atan2)
WRAP2(hypot)
WRAP2(pow)

#define GLIBC_MPFR(name) wide_##name, middle_##name, narrow_##name, exact_##name
#define HUGE_X           0x1.fffffffffffffp+1023
#define PI_2             0x1.921fb54442d18p+0
/* The double that is nearest to a multiple of pi/2, for its size. */
#define NEAR_MULTIPLE 0x1.6ac5b262ca1ffp+849
#define LN2           0x1.62e42fefa39efp-1

/* clang-format off */
const elementary elementary_list[] = {
  {"acos", 1, 1, -1, 1, {-1, -0.5}, {1, 0.5}, GLIBC_MPFR(acos),
   {1, -1, 0.5, -0.5, 0.25, 0.75, 0x1p-26, 0.70710678}},
  {"acosh", 1, 1, 1, HUGE_X, {1, 1}, {3, 100}, GLIBC_MPFR(acosh),
   {1, 1.25, 1.5, 2, 4, 0x1p26, 0x1p27, 0x1p28, 0x1p53, HUGE_X}},
  {"asin", 1, 1, -1, 1, {-1, -0.5}, {1, 0.5}, GLIBC_MPFR(asin),
   {1, -1, 0.5, -0.5, 0.25, 0.75, 0x1p-26, 0.70710678}},
  {"asinh", 1, 1, -HUGE_X, HUGE_X, {-2, -100}, {2, 100}, GLIBC_MPFR(asinh),
   {1, 0.5, 0.125, 2, 0x1p-26, 0x1p-28, 0x1p26, 0x1p28, 0x1p53, HUGE_X}},
  {"atan", 1, 1, -HUGE_X, HUGE_X, {-1, -10}, {1, 10}, GLIBC_MPFR(atan),
   {1, -1, 0.5, 0.4375, 0.6875, 1.1875, 2.4375, 0.41421356, 2.41421356, 0x1p-27, 0x1p53, 0x1p60, HUGE_X}},
  {"atanh", 1, 1, -1, 1, {-1, -0.5}, {1, 0.5}, GLIBC_MPFR(atanh),
   {1, -1, 0.5, -0.5, 0.25, 0x1p-28, 0.75, 0x1p-14}},
  {"cbrt", 1, 1, -HUGE_X, HUGE_X, {-8, 1}, {8, 1000}, GLIBC_MPFR(cbrt),
   {1, 8, 27, 0.125, 64, 2, 4, 0x1p-1022, 0x1p-1074, HUGE_X}},
  {"cos", 1, 1, -HUGE_X, HUGE_X, {-0.79, -10}, {0.79, 10}, GLIBC_MPFR(cos),
   {PI_2, 2 * PI_2, 3 * PI_2, PI_2 / 2, 105414357.85, 0x1p20, 0x1p27, 0x1p30, NEAR_MULTIPLE, HUGE_X}},
  {"cosh", 1, 1, -710.5, 710.5, {-1, -30}, {1, 30}, GLIBC_MPFR(cosh),
   {710.4758600739439, 709.782712893384, -710.4758600739439, 22, 19, 20, LN2, LN2 / 2, 0x1p-27}},
  {"erf", 1, 1, -6, 6, {-1, -6}, {1, 6}, GLIBC_MPFR(erf),
   {0.84375, 1.25, 2.857142857, 6, 5.92, 0x1p-28, 1, 2, 3, 4, 0.5}},
  {"erfc", 1, 1, -6, 27.3, {-1, 0}, {1, 27}, GLIBC_MPFR(erfc),
   {0.84375, 1.25, 2.857142857, 26.543258, 27.226, 0x1p-56, 1, 0.25, 6, -6, 0.5, 2, 4, 8}},
  {"exp", 1, 1, -745.2, 709.79, {-1, -20}, {1, 20}, GLIBC_MPFR(exp),
   {709.782712893384, -708.3964185322641, -745.1332191019412, -744.4400719213812, LN2, LN2 / 2, -LN2 / 2, 0x1p-54, 0x1p-53, -0x1p-54}},
  {"exp10", 1, 1, -323.7, 308.26, {-1, -10}, {1, 10}, GLIBC_MPFR(exp10),
   {308.2547155599167, -307.6526555685888, -323.6066, -323.3, 0.30102999566398120, 22, 1, 2, -1, 0x1p-54}},
  {"exp2", 1, 1, -1075.1, 1024, {-1, -20}, {1, 20}, GLIBC_MPFR(exp2),
   {1024, -1022, -1074, -1075, 0.5, -0.5, 1, -1, 0x1p-54}},
  {"expm1", 1, 1, -40, 709.79, {-1, -20}, {1, 20}, GLIBC_MPFR(expm1),
   {709.782712893384, -36.7368, -37.43, LN2 / 2, LN2, 1.0397, -LN2, 56 * LN2, 0x1p-54, 0x1p-53, -0.25, 0.25}},
  {"lgamma", 1, 2, -1e15, 2.55e305, {0, -10}, {10, 10}, GLIBC_MPFR(loggamma),
   {1, 2, 1.4616321449683622, -2.4570247382208006, -2.7476826467274127, -3.1435808883499798, -3.9552942848585979, -0.5, 8, 7, 0x1p-70, 0x1p58, 2.5563481638716906e305, 3, -1, 0.5}},
  {"log", 1, 1, 0, HUGE_X, {0, 0.5}, {100, 2}, GLIBC_MPFR(log),
   {1, 0.9375, 1.0625, 0.70710678, 1.41421356, 2, 0.5, 0x1p-1022, 0x1p-1074, HUGE_X, 0.99, 1.01}},
  {"log10", 1, 1, 0, HUGE_X, {0, 0.5}, {100, 2}, GLIBC_MPFR(log10),
   {1, 10, 100, 1000, 0.1, 0.70710678, 1.41421356, 0x1p-1022, 0x1p-1074, HUGE_X, 1e22}},
  {"log1p", 1, 1, -1, HUGE_X, {-1, -0.3}, {10, 0.42}, GLIBC_MPFR(log1p),
   {-1, 0.41421356, -0.29289, 0x1p-29, 0x1p-54, 0x1p53, -0.5, 1, HUGE_X, -0x1p-54, 0x1p-20}},
  {"log2", 1, 1, 0, HUGE_X, {0, 0.5}, {100, 2}, GLIBC_MPFR(log2),
   {1, 2, 0.5, 4, 0.9375, 1.0625, 0.70710678, 1.41421356, 0x1p-1022, 0x1p-1074, HUGE_X}},
  {"sin", 1, 1, -HUGE_X, HUGE_X, {-0.79, -10}, {0.79, 10}, GLIBC_MPFR(sin),
   {PI_2, 2 * PI_2, 3 * PI_2, PI_2 / 2, 105414357.85, 0x1p20, 0x1p27, 0x1p30, NEAR_MULTIPLE, HUGE_X, 0x1p-26}},
  {"sinh", 1, 1, -710.5, 710.5, {-1, -30}, {1, 30}, GLIBC_MPFR(sinh),
   {710.4758600739439, 709.782712893384, -710.4758600739439, 22, 19, 1, LN2, 0x1p-28, 0.5}},
  {"sqrt", 1, 0.5, 0, HUGE_X, {0, 0}, {1, 100}, GLIBC_MPFR(sqrt),
   {1, 2, 4, 0x1p-1022, 0x1p-1074, HUGE_X}},
  {"tan", 1, 1, -HUGE_X, HUGE_X, {-0.79, -10}, {0.79, 10}, GLIBC_MPFR(tan),
   {PI_2, 2 * PI_2, 3 * PI_2, PI_2 / 2, 0.6743, 0x1p20, 0x1p27, 0x1p30, NEAR_MULTIPLE, HUGE_X, 0x1p-27}},
  {"tanh", 1, 1, -22, 22, {-1, -20}, {1, 20}, GLIBC_MPFR(tanh),
   {22, 19.06, 1, 0.5, 0.625, 0.55, LN2, 0x1p-28, -1, 20}},
  {"tgamma", 1, 1, -184.1, 171.7, {0, -10}, {10, 10}, GLIBC_MPFR(tgamma),
   {171.6243769563027, 1, 2, 1.4616321449683622, 0x1.0000000000001p-1024, 0.5, -1, -2, -177.5, -183.5, -170.5, 3, 23, 0x1p-54, 12}},
  {"atan2", 2, 1, -HUGE_X, HUGE_X, {0}, {0}, GLIBC_MPFR(atan2), {0}},
  {"hypot", 2, 1, -HUGE_X, HUGE_X, {0}, {0}, GLIBC_MPFR(hypot), {0}},
  {"pow", 2, 2, -HUGE_X, HUGE_X, {0}, {0}, GLIBC_MPFR(pow), {0}},
};
/* clang-format on */
const int elementary_count = sizeof elementary_list / sizeof *elementary_list;

const elementary *elementary_find(const char *name) {
  for (int i = 0; i < elementary_count; i++)
    if (!strcmp(elementary_list[i].name, name)) return &elementary_list[i];
  return NULL;
}

int elementary_op(const elementary *f) {
  for (int op = 0; op < LGT_NOP; op++)
    if (lgt_math_has(op) && !strcmp(lgt_op_name(op), f->name)) return op;
  return -1;
}

/* ---- MPFR ------------------------------------------------------------------------------------ */

typedef struct format {
  int digits, least,
      greatest; /* least: the exponent of the smallest subnormal; results are below 2^greatest */
} format;

static format format_of(int dtype) {
  if (dtype == LGT_FLOAT64) return (format){53, -1074, 1024};
  if (dtype == LGT_FLOAT32) return (format){24, -149, 128};
  return (format){11, -24, 16};
}

static _Thread_local mpfr_t true_value, operand_a, operand_b, difference;
static _Thread_local bool ready;

/* The true value, rounded to odd at 122 bits: whatever is rounded once more comes out as if rounded once,
 * and no value that lies beside a midpoint is taken for the midpoint. */
static mpfr_t *true_of(const elementary *f, double a, double b) {
  if (!ready) {
    mpfr_inits2(53, operand_a, operand_b, NULL);
    mpfr_init2(true_value, 120);
    mpfr_init2(difference, 200);
    mpfr_set_emin(mpfr_get_emin_min());
    mpfr_set_emax(mpfr_get_emax_max());
    ready = true;
  }
  mpfr_set_d(operand_a, a, MPFR_RNDN);
  mpfr_set_d(operand_b, b, MPFR_RNDN);
  mpfr_set_prec(true_value, 120);
  int inexact = f->exact(&true_value, &operand_a, &operand_b);
  mpfr_prec_round(true_value, 122, MPFR_RNDZ);
  if (inexact && !mpfr_inf_p(true_value) && !mpfr_nan_p(true_value)) {
    if (mpfr_signbit(true_value)) mpfr_nextbelow(true_value);
    else mpfr_nextabove(true_value);
  }
  return &true_value;
}

void judge_done(void) {
  if (ready) mpfr_clears(true_value, operand_a, operand_b, difference, NULL);
  ready = false;
  mpfr_free_cache();
}

double judge_round(const elementary *f, int dtype, double a, double b) {
  mpfr_t *v = true_of(f, a, b);
  format to = format_of(dtype);
  if (!mpfr_regular_p(*v)) return mpfr_get_d(*v, MPFR_RNDN);
  double sign = mpfr_signbit(*v) ? -1 : 1;
  mpfr_exp_t exponent = mpfr_get_exp(*v); /* of a fraction in [0.5, 1) */
  if (exponent > to.greatest) return sign * INFINITY;
  if (exponent < to.least) return sign * 0.0;
  if (exponent == to.least) { /* between half of the smallest subnormal and it */
    return sign * (mpfr_cmpabs(*v, (mpfr_set_ui_2exp(difference, 1, to.least - 1, MPFR_RNDN), difference)) > 0
                       ? ldexp(1, to.least)
                       : 0.0);
  }
  int digits = exponent - to.least < to.digits ? (int)(exponent - to.least) : to.digits;
  mpfr_prec_round(*v, digits, MPFR_RNDN);
  return mpfr_get_exp(*v) > to.greatest ? sign * INFINITY : mpfr_get_d(*v, MPFR_RNDN);
}

bool judge_same(double a, double b) { return a == b ? signbit(a) == signbit(b) : a != a && b != b; }

double judge_error(const elementary *f, double a, double b, double got) {
  mpfr_t *v = true_of(f, a, b);
  if (!mpfr_regular_p(*v)) return judge_same(got, mpfr_get_d(*v, MPFR_RNDN)) ? 0 : INFINITY;
  if (isnan(got) || (got == 0 && !signbit(got) != !mpfr_signbit(*v))) return INFINITY;
  mpfr_exp_t exponent = mpfr_get_exp(*v) > 1024 ? 1024 : mpfr_get_exp(*v);
  if (isinf(got)) { /* as 2^1024, from which on it is right */
    mpfr_set_si_2exp(difference, got > 0 ? 1 : -1, 1024, MPFR_RNDN);
    if (!signbit(got) == !mpfr_signbit(*v) && mpfr_cmpabs(*v, difference) >= 0) return 0;
  } else {
    mpfr_set_d(difference, got, MPFR_RNDN);
  }
  mpfr_sub(difference, difference, *v, MPFR_RNDN);
  mpfr_mul_2si(difference, difference, exponent - 53 > -1074 ? 53 - exponent : 1074, MPFR_RNDN);
  return fabs(mpfr_get_d(difference, MPFR_RNDN));
}

/* ---- judging --------------------------------------------------------------------------------- */

/* How far glibc's functions of long double may be off, in ulp of double: 16 ulp of their own.  Their greatest errors
 * among 10^6 points, beside MPFR, are 2^-8.7 for tgamma and 2^-8.9 for lgamma, and less for all others. */
#define WIDE_ERROR 0x1p-7

static double wide_error(long double y, double got) {
  if (y != y || got != got) return (y != y) == (got != got) ? 0 : INFINITY;
  if (y == 0) return judge_same(got, (double)y) ? 0 : INFINITY;
  if (!signbit(y) != !signbit(got)) return INFINITY;
  long double x = got;
  if (isinf(got)) {
    if (fabsl(y) >= 0x1p1024L) return 0;
    x = copysignl(0x1p1024L, got);
  }
  if (isinf(y)) return INFINITY;
  int exponent = ilogbl(y) < -1022 ? -1022 : ilogbl(y) > 1023 ? 1023 : ilogbl(y);
  return (double)fabsl(scalbnl(x - y, 52 - exponent));
}

static void keep(verdict *v, double a, double b, double got, double expected) {
  v->wrong++;
  if (v->kept == VERDICT_KEPT) return;
  v->kept_at[v->kept][0] = a;
  v->kept_at[v->kept][1] = b;
  v->kept_got[v->kept] = got;
  v->kept_expected[v->kept++] = expected;
}

static void judge_f64(const elementary *f, double a, double b, double got, verdict *v) {
  double about = wide_error(f->wide(a, b), got);
  if (about <= f->bound - WIDE_ERROR && about <= v->worst - WIDE_ERROR) return;
  double error = judge_error(f, a, b, got);
  bool worse = error > v->worst, wrong = error > f->bound;
  if (!worse && !wrong) return;
  double expected = wrong && v->kept == VERDICT_KEPT && !worse ? 0 : judge_round(f, LGT_FLOAT64, a, b);
  if (wrong) keep(v, a, b, got, expected);
  if (!worse) return;
  v->worst = error;
  v->at[0] = a;
  v->at[1] = b;
  v->got = got;
  v->expected = expected;
}

#define BELOW (1 - 0x1p-42)
#define ABOVE (1 + 0x1p-42)

static void judge_f32(const elementary *f, float a, float b, float got, verdict *v) {
  double y = f->middle(a, b);
  float expected = (float)y;
  if (y == y && (float)(y * BELOW) != (float)(y * ABOVE)) expected = (float)judge_round(f, LGT_FLOAT32, a, b);
  if (judge_same(got, expected)) return;
  keep(v, a, b, got, expected);
}

static void judge_f16(const elementary *f, float a, float b, float got, verdict *v) {
  double y = f->middle(a, b), expected = lgt_half_to_float(lgt_half_from_double(y));
  if (y == y && lgt_half_from_double(y * BELOW) != lgt_half_from_double(y * ABOVE))
    expected = judge_round(f, LGT_FLOAT16, a, b);
  if (judge_same(lgt_half_round(got), expected)) return;
  keep(v, a, b, lgt_half_round(got), expected);
}

void judge(const elementary *f, int dtype, const void *a, const void *b, const void *got, int64_t n,
           verdict *v) {
  v->points += n;
  if (dtype == LGT_FLOAT64) {
    const double *x = a, *y = b, *z = got;
    for (int64_t i = 0; i < n; i++) judge_f64(f, x[i], f->arity == 2 ? y[i] : 0, z[i], v);
    return;
  }
  const float *x = a, *y = b, *z = got;
  for (int64_t i = 0; i < n; i++) {
    if (dtype == LGT_FLOAT32) judge_f32(f, x[i], f->arity == 2 ? y[i] : 0, z[i], v);
    else judge_f16(f, x[i], f->arity == 2 ? y[i] : 0, z[i], v);
  }
}

void judge_merge(verdict *v, const verdict *other) {
  v->points += other->points;
  v->wrong += other->wrong;
  for (int i = 0; i < other->kept && v->kept < VERDICT_KEPT; i++, v->kept++) {
    memcpy(v->kept_at[v->kept], other->kept_at[i], sizeof *v->kept_at);
    v->kept_got[v->kept] = other->kept_got[i];
    v->kept_expected[v->kept] = other->kept_expected[i];
  }
  if (other->worst <= v->worst) return;
  v->worst = other->worst;
  memcpy(v->at, other->at, sizeof v->at);
  v->got = other->got;
  v->expected = other->expected;
}
