/* test_body_complex.c - complex operations, lowered and interpreted, against C's own complex arithmetic. */
#include <complex.h>
#include <math.h>

#include "check.h"
#include "loops.h"
#include "base/mem.h"

typedef double complex z128;
typedef float complex z64;

/* ---- running lowered bodies ------------------------------------------------------------------- */

/* Runs `body` over arrays of its slots' own types: pairs are interleaved in memory. */
static void run_lowered(const lgt_body *body, void *const *arrays, const lgt_scalar *params, int64_t n) {
  lgt_body *real;
  int *part, dtype[8] = {0};
  lgt_access access[MAX_ACCESS] = {0};
  if (lgt_body_verify(body) || lgt_body_lower_complex(body, &real, &part)) FAIL("%s", lgt_message());
  if (lgt_body_verify(real)) FAIL("%s", lgt_message());
  for (int i = 0; i < real->ninst; i++)
    if (lgt_dtype_is_pair(real->inst[i].dtype)) FAIL("a pair is left at %d", i);
  for (int i = 0; i < body->ninst; i++) {
    const lgt_inst *inst = &body->inst[i];
    if (inst->op == LGT_OP_LOAD) dtype[inst->a] = inst->dtype;
    if (inst->op == LGT_OP_STORE || inst->op == LGT_OP_REDUCE) dtype[inst->b] = inst->dtype;
  }
  slab s;
  slab_init(&s, 1, n);
  if (params) memcpy(s.param, params, (size_t)body->nparam * sizeof *params);
  for (int slot = 0; slot < body->nslot; slot++)
    for (int k = 0; k < 1 + lgt_dtype_is_pair(dtype[slot]); k++) {
      int a = part[slot] + k, t = lgt_dtype_part(dtype[slot]);
      access[a] = (lgt_access){LGT_ACCESS_LOAD, (uint8_t)t,
                               lgt_dtype_is_pair(dtype[slot]) ? LGT_STRIDE_ANY : LGT_STRIDE_UNIT, 0};
      slab_bind(&s, a, (char *)arrays[slot] + k * lgt_dtype_size(t), 0, lgt_dtype_size(dtype[slot]));
    }
  for (int i = 0; i < real->ninst; i++)
    if (real->inst[i].op == LGT_OP_REDUCE) {
      access[real->inst[i].b].inner = LGT_STRIDE_ZERO;
      access[real->inst[i].b].row = LGT_STRIDE_ANY;
    }
  lgt_loop loop = loop_of(real, access, real->nslot);
  lgt_interp_run(&loop, &s.slab);
  lgt_body_free(real);
  lgt_mem_free(part);
}

/* out = op(a, b), of complex128. */
static void apply(int op, int dtype, int result, void *out, const void *a, const void *b, int64_t n) {
  lgt_body *body = lgt_build_new();
  int x = lgt_build_load(body, dtype, 0), y = lgt_op_arity(op) > 1 ? lgt_build_load(body, dtype, 1) : -1;
  lgt_build_store(body, lgt_op_arity(op), lgt_build_op(body, op, result, x, y, -1));
  void *arrays[3] = {(void *)a, lgt_op_arity(op) > 1 ? (void *)b : out, out};
  run_lowered(body, arrays, NULL, n);
  lgt_body_free(body);
}

/* ---- functions -------------------------------------------------------------------------------- */

#define FUNCTIONS(X) \
  X(EXP, cexp)       \
  X(LOG, clog)       \
  X(SQRT, csqrt) X(SIN, csin) X(COS, ccos) X(TAN, ctan) X(SINH, csinh) X(COSH, ccosh) X(TANH, ctanh)

static z128 z(double re, double im) { return CMPLX(re, im); }

static z128 divide(z128 a, z128 b) { return a / b; }

static z128 expected(int op, z128 a, z128 b) {
  switch (op) {
    case LGT_OP_ADD:
      return a + b;
    case LGT_OP_SUB:
      return a - b;
    case LGT_OP_MUL:
      return a * b;
    case LGT_OP_DIV:
      return divide(a, b);
    case LGT_OP_NEG:
      return z(-creal(a), -cimag(a));
    case LGT_OP_POW:
      return cpow(a, b);
    case LGT_OP_LOG2:
      return clog(a) / log(2);
    case LGT_OP_LOG10:
      return clog(a) / log(10);
#define X(OP, f)    \
  case LGT_OP_##OP: \
    return f(a);
      FUNCTIONS(X)
#undef X
  }
  return z(NAN, NAN);
}

static double random_part(double size) { return size * ((double)(int64_t)random_bits() / 0x1p63); }

enum { N = 3000 };

static void check_function(int op) {
  static z128 a[N], b[N], out[N];
  static z64 small_a[N], small_b[N], small_out[N];
  for (int i = 0; i < N; i++) {
    double size = ldexp(1, random_below(12) - 8);
    a[i] = z(random_part(size), random_part(size));
    b[i] = z(random_part(3), random_part(3));
    if (i % 10 == 0) a[i] = z(creal(a[i]), 0);
    if (i % 10 == 1) a[i] = z(0, cimag(a[i]));
    small_a[i] = (z64)a[i], small_b[i] = (z64)b[i];
  }
  apply(op, LGT_COMPLEX128, LGT_COMPLEX128, out, a, b, N);
  apply(op, LGT_COMPLEX64, LGT_COMPLEX64, small_out, small_a, small_b, N);
  for (int i = 0; i < N; i++) {
    /* Errors are measured against the size of the result; a logarithm's against 1, a power's grows with its own. */
    z128 want = expected(op, a[i], b[i]), less = expected(op, small_a[i], small_b[i]);
    double unit = cabs(want), less_unit = cabs(less);
    if (op == LGT_OP_LOG || op == LGT_OP_LOG2 || op == LGT_OP_LOG10)
      unit = fmax(unit, 1), less_unit = fmax(less_unit, 1);
    if (op == LGT_OP_POW) unit *= 1 + cabs(b[i] * clog(a[i])), less_unit *= 1 + cabs(b[i] * clog(a[i]));
    double error = cabs(out[i] - want) / unit, less_error = cabs((z128)small_out[i] - less) / less_unit;
    if (!(error < 2e-15) && want != out[i])
      FAIL("%s(%g%+gi, %g%+gi) is %.17g%+.17gi, not %.17g%+.17gi (%g)", lgt_op_name(op), creal(a[i]),
           cimag(a[i]), creal(b[i]), cimag(b[i]), creal(out[i]), cimag(out[i]), creal(want), cimag(want),
           error);
    if (!(less_error < 1.2e-6) && isfinite((float)cabs(less)))
      FAIL("complex64 %s(%g%+gi) is %g%+gi, not %g%+gi", lgt_op_name(op), creal(a[i]), cimag(a[i]),
           creal(small_out[i]), cimag(small_out[i]), creal(less), cimag(less));
  }
}

TEST(functions) {
  for (int op = LGT_OP_ADD; op <= LGT_OP_TANH; op++) {
    if (!strchr(lgt_op_classes(op), 'c') || op == LGT_OP_ABS || (op >= LGT_OP_EQ && op <= LGT_OP_SIGNBIT))
      continue;
    check_function(op);
    if (check_failed) return;
  }
}

/* Where intermediate results would overflow or vanish, and what C99 says of special values. */
TEST(special_values) {
  static const struct {
    int op;
    double a[2], b[2], want[2];
  } cases[] = {
      {LGT_OP_DIV, {1e300, 1e300}, {2e300, 2e300}, {0.5, 0}},
      {LGT_OP_DIV, {1e-300, 0}, {1e-300, 1e-300}, {0.5, -0.5}},
      {LGT_OP_DIV, {1, -1}, {0, 0}, {INFINITY, -INFINITY}},
      {LGT_OP_DIV, {3, 4}, {0, 2}, {2, -1.5}},
      {LGT_OP_SQRT, {-4, 0.0}, {0}, {0, 2}},
      {LGT_OP_SQRT, {-4, -0.0}, {0}, {0, -2}},
      {LGT_OP_SQRT, {0.0, 0.0}, {0}, {0, 0}},
      {LGT_OP_SQRT, {1, INFINITY}, {0}, {INFINITY, INFINITY}},
      {LGT_OP_SQRT, {NAN, -INFINITY}, {0}, {INFINITY, -INFINITY}},
      {LGT_OP_SQRT, {-INFINITY, 1}, {0}, {0, INFINITY}},
      {LGT_OP_SQRT, {INFINITY, 1}, {0}, {INFINITY, 0}},
      {LGT_OP_SQRT, {1e300, 1e300}, {0}, {1.0986841134678100e150, 4.5508986056222736e149}},
      {LGT_OP_EXP, {1000, 0}, {0}, {INFINITY, 0}},
      {LGT_OP_EXP, {0, 0}, {0}, {1, 0}},
      {LGT_OP_LOG, {0, 0}, {0}, {-INFINITY, 0}},
      {LGT_OP_LOG, {-1, 0.0}, {0}, {0, M_PI}},
      {LGT_OP_LOG, {-1, -0.0}, {0}, {0, -M_PI}},
      {LGT_OP_LOG, {1e300, 1e300}, {0}, {691.12210148849363, M_PI / 4}},
      {LGT_OP_LOG, {1, 1e-10}, {0}, {5e-21, 1e-10}},
      {LGT_OP_SIN, {0, 1000}, {0}, {0, INFINITY}},
      {LGT_OP_COS, {0, 1000}, {0}, {INFINITY, -0.0}},
      {LGT_OP_COSH, {1000, 0}, {0}, {INFINITY, 0}},
      {LGT_OP_SINH, {1000, 0}, {0}, {INFINITY, 0}},
      {LGT_OP_TAN, {1, 800}, {0}, {0, 1}},
      {LGT_OP_TAN, {1, -800}, {0}, {0, -1}},
      {LGT_OP_TANH, {800, 1}, {0}, {1, 0}},
      {LGT_OP_TANH, {-800, 1}, {0}, {-1, 0}},
      {LGT_OP_POW, {0, 0}, {0, 0}, {1, 0}},
      {LGT_OP_POW, {0, 0}, {2, 0}, {0, 0}},
      {LGT_OP_POW, {0, 0}, {-1, 0}, {NAN, NAN}},
      {LGT_OP_POW, {5, 1}, {0, 0}, {1, 0}},
      {LGT_OP_MUL, {1, 2}, {3, 4}, {-5, 10}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double out[2];
    apply(cases[i].op, LGT_COMPLEX128, LGT_COMPLEX128, out, cases[i].a, cases[i].b, 1);
    for (int k = 0; k < 2; k++) {
      double want = cases[i].want[k];
      bool same = isnan(want) ? isnan(out[k]) : want == out[k] || fabs(out[k] - want) <= 4e-16 * fabs(want);
      if (!same)
        FAIL("%s(%g%+gi, %g%+gi) is %.17g%+.17gi, not %.17g%+.17gi", lgt_op_name(cases[i].op), cases[i].a[0],
             cases[i].a[1], cases[i].b[0], cases[i].b[1], out[0], out[1], cases[i].want[0], cases[i].want[1]);
    }
    if (cases[i].op == LGT_OP_SQRT && !isnan(cases[i].want[1]))
      CHECK(!signbit(out[1]) == !signbit(cases[i].want[1]));
  }
}

/* A whole constant as exponent is multiplied out: exact where the products are. */
TEST(whole_powers) {
  for (int n = -6; n <= 13; n++) {
    lgt_body *body = lgt_build_new();
    int x = lgt_build_load(body, LGT_COMPLEX128, 0),
        e = lgt_build_const(body, LGT_COMPLEX128, (lgt_scalar){.c = {n, 0}});
    lgt_build_store(body, 1, lgt_build_op(body, LGT_OP_POW, LGT_COMPLEX128, x, e, -1));
    z128 in = z(1, 2), out, want = 1;
    void *arrays[2] = {&in, &out};
    run_lowered(body, arrays, NULL, 1);
    lgt_body_free(body);
    for (int i = 0; i < abs(n); i++) want *= in;
    if (n < 0) want = 1 / want;
    if (!(cabs(out - want) <= (n < 0 ? 1e-16 : 0)))
      FAIL("(1+2i)^%d is %.17g%+.17gi", n, creal(out), cimag(out));
  }
}

TEST(other_constant_powers) {
  static const double exponents[][2] = {{2, 1}, {0.5, 0}, {1000, 0}, {-2, -1}};
  for (int i = 0; i < 4; i++) {
    lgt_body *body = lgt_build_new();
    lgt_scalar c = {.c = {exponents[i][0], exponents[i][1]}};
    int x = lgt_build_load(body, LGT_COMPLEX128, 0), e = lgt_build_const(body, LGT_COMPLEX128, c);
    lgt_build_store(body, 1, lgt_build_op(body, LGT_OP_POW, LGT_COMPLEX128, x, e, -1));
    z128 in = z(0.6, 0.8), out, want = cpow(in, z(c.c[0], c.c[1]));
    void *arrays[2] = {&in, &out};
    run_lowered(body, arrays, NULL, 1);
    lgt_body_free(body);
    if (!(cabs(out - want) <= 1e-12 * cabs(want)))
      FAIL("exponent %d: %.17g%+.17gi", i, creal(out), cimag(out));
  }
}

/* ---- tests and parts -------------------------------------------------------------------------- */

TEST(parts_and_tests) {
  z128 a[] = {z(3, -4), z(NAN, 1), z(1, INFINITY), z(0, -0.0)},
       b[] = {z(3, -4), z(NAN, 1), z(1, 2), z(-0.0, 0)};
  double out[4];
  unsigned char truth[4];
  apply(LGT_OP_REAL, LGT_COMPLEX128, LGT_FLOAT64, out, a, NULL, 4);
  CHECK(out[0] == 3 && isnan(out[1]));
  apply(LGT_OP_IMAG, LGT_COMPLEX128, LGT_FLOAT64, out, a, NULL, 4);
  CHECK(out[0] == -4 && out[1] == 1);
  apply(LGT_OP_ABS, LGT_COMPLEX128, LGT_FLOAT64, out, a, NULL, 4);
  CHECK(out[0] == 5 && isnan(out[1]) && out[2] == INFINITY && out[3] == 0);
  static const struct {
    int op;
    unsigned char want[4];
  } tests[] = {{LGT_OP_EQ, {1, 0, 0, 1}},
               {LGT_OP_NE, {0, 1, 1, 0}},
               {LGT_OP_ISNAN, {0, 1, 0, 0}},
               {LGT_OP_ISINF, {0, 0, 1, 0}},
               {LGT_OP_ISFINITE, {1, 0, 0, 1}}};
  for (int t = 0; t < 5; t++) {
    apply(tests[t].op, LGT_COMPLEX128, LGT_BOOL, truth, a, b, 4);
    if (memcmp(truth, tests[t].want, 4))
      FAIL("%s gives %d%d%d%d", lgt_op_name(tests[t].op), truth[0], truth[1], truth[2], truth[3]);
  }
}

TEST(casts) {
  z128 a[] = {z(1.5, 2.25), z(0, 0), z(0, 1), z(-3, NAN)};
  z64 narrow[4];
  int32_t whole[4];
  unsigned char truth[4];
  float real[4] = {1, 2, 3, 4};
  z128 back[4];
  apply(LGT_OP_CAST, LGT_COMPLEX128, LGT_COMPLEX64, narrow, a, NULL, 4);
  CHECK(crealf(narrow[0]) == 1.5f && cimagf(narrow[0]) == 2.25f);
  apply(LGT_OP_CAST, LGT_COMPLEX128, LGT_INT32, whole, a, NULL, 4);
  CHECK(whole[0] == 1 && whole[3] == -3);
  apply(LGT_OP_CAST, LGT_COMPLEX128, LGT_BOOL, truth, a, NULL, 4);
  CHECK(truth[0] && !truth[1] && truth[2] && truth[3]);
  apply(LGT_OP_CAST, LGT_FLOAT32, LGT_COMPLEX128, back, real, NULL, 4);
  CHECK(creal(back[3]) == 4 && cimag(back[3]) == 0);
  apply(LGT_OP_CAST, LGT_COMPLEX64, LGT_COMPLEX128, back, narrow, NULL, 4);
  CHECK(creal(back[0]) == 1.5 && cimag(back[0]) == 2.25);
}

/* Everything that takes slots, parameters and constants, with pairs between other arguments. */
TEST(a_mixed_body) {
  lgt_body *body = lgt_build_new();
  int n = lgt_build_load(body, LGT_INT64, 0), x = lgt_build_load(body, LGT_COMPLEX128, 1),
      m = lgt_build_load(body, LGT_BOOL, 2);
  int p = lgt_build_param(body, LGT_COMPLEX128, 0), q = lgt_build_param(body, LGT_FLOAT64, 1);
  int c = lgt_build_const(body, LGT_COMPLEX128, (lgt_scalar){.c = {0, 1}});
  int nf = lgt_build_op(body, LGT_OP_CAST, LGT_FLOAT64, n, -1, -1);
  int y = lgt_build_op(body, LGT_OP_COMPLEX, LGT_COMPLEX128, nf, q, -1); /* n + q i */
  int s = lgt_build_op(body, LGT_OP_SELECT, LGT_COMPLEX128, m, x, y);
  int t = lgt_build_op(body, LGT_OP_MUL, LGT_COMPLEX128, s, c, -1); /* times i */
  t = lgt_build_op(body, LGT_OP_ADD, LGT_COMPLEX128, t, p, -1);
  lgt_build_store(body, 3, t);
  lgt_build_reduce(body, 4, LGT_REDOP_SUM, t, 0);
  lgt_build_store(body, 5, lgt_build_op(body, LGT_OP_IMAG, LGT_FLOAT64, t, -1, -1));
  int64_t number[3] = {7, 8, 9};
  z128 in[3] = {z(1, 2), z(3, 4), z(5, 6)}, out[3], sum = z(100, 200), want_sum = sum;
  unsigned char mask[3] = {1, 0, 1};
  double imag[3];
  void *arrays[6] = {number, in, mask, out, &sum, imag};
  lgt_scalar params[2] = {{.c = {10, 20}}, {.f = 0.5}};
  run_lowered(body, arrays, params, 3);
  lgt_body_free(body);
  for (int i = 0; i < 3; i++) {
    z128 want = (mask[i] ? in[i] : z((double)number[i], 0.5)) * I + z(10, 20);
    CHECK(out[i] == want && imag[i] == cimag(want));
    want_sum += want;
  }
  CHECK(sum == want_sum);
}

TEST(ranges) {
  lgt_body *body = lgt_build_new();
  int r = lgt_build_load(body, LGT_RANGE, 0),
      c = lgt_build_const(body, LGT_RANGE, (lgt_scalar){.range = {2, 5}});
  int first = lgt_build_op(body, LGT_OP_REAL, LGT_INT64, r, -1, -1),
      end = lgt_build_op(body, LGT_OP_IMAG, LGT_INT64, r, -1, -1);
  int same = lgt_build_op(body, LGT_OP_EQ, LGT_BOOL, r, c, -1);
  int turned = lgt_build_op(body, LGT_OP_COMPLEX, LGT_RANGE, end, first, -1);
  lgt_build_store(body, 1, lgt_build_op(body, LGT_OP_SELECT, LGT_RANGE, same, r, turned));
  int64_t in[6] = {2, 5, 2, 6, -1, 1}, out[6];
  void *arrays[2] = {in, out};
  run_lowered(body, arrays, NULL, 3);
  CHECK(out[0] == 2 && out[1] == 5 && out[2] == 6 && out[3] == 2 && out[4] == 1 && out[5] == -1);
  lgt_body_free(body);
}

TEST(real_bodies_stay_as_they_are) {
  lgt_body *body = lgt_build_new(), *real;
  int *part;
  int x = lgt_build_load(body, LGT_FLOAT32, 0), p = lgt_build_param(body, LGT_INT8, 3),
      i = lgt_build_index(body, -1);
  lgt_build_store(body, 1, lgt_build_op(body, LGT_OP_SQRT, LGT_FLOAT32, x, -1, -1));
  lgt_build_store(body, 2, p);
  lgt_build_reduce_arg(body, 3, LGT_REDOP_ARGMAX, x, i);
  CHECK_EQ(lgt_body_lower_complex(body, &real, &part), LGT_OK);
  CHECK_EQ(real->ninst, body->ninst);
  CHECK(!memcmp(real->inst, body->inst, (size_t)body->ninst * sizeof *body->inst));
  CHECK_EQ(real->nslot, 5);
  CHECK_EQ(real->nparam, 4);
  for (int s = 0; s < 5; s++) CHECK_EQ(part[s], s);
  lgt_body_free(real);
  lgt_mem_free(part);
  lgt_body_free(body);
}

TEST(out_of_memory_is_an_error) {
  lgt_body *body = lgt_build_new(), *real = NULL;
  int *part = NULL, n = 0;
  int x = lgt_build_load(body, LGT_COMPLEX128, 0);
  lgt_build_store(body, 1, lgt_build_op(body, LGT_OP_LOG, LGT_COMPLEX128, x, -1, -1));
  int64_t live = lgt_mem_live();
  for (;;) {
    lgt_mem_fail_at(++n);
    lgt_status status = lgt_body_lower_complex(body, &real, &part);
    if (!status) break;
    CHECK_EQ(status, LGT_NO_MEMORY);
    CHECK_EQ(lgt_mem_live(), live);
    CHECK(!real && !part);
  }
  lgt_mem_fail_at(0);
  CHECK(n > 5);
  lgt_body_free(real);
  lgt_mem_free(part);
  lgt_body_free(body);
}

int main(void) {
  RUN(functions);
  RUN(special_values);
  RUN(whole_powers);
  RUN(other_constant_powers);
  RUN(parts_and_tests);
  RUN(casts);
  RUN(a_mixed_body);
  RUN(ranges);
  RUN(real_bodies_stay_as_they_are);
  RUN(out_of_memory_is_an_error);
  return check_done();
}
