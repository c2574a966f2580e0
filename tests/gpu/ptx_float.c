/* ptx_float.c - arithmetic on f32 and f64.
 *
 * To the nearest is what the host does by itself; the directed roundings set its mode.  Results that are no number
 * get the device's bits.  An add, sub or mul without a rounding mode may be contracted by the assembler, so that its
 * result is open: it ends the run.  The .approx forms have a random error within the documented bound.
 */
#include <fenv.h>
#include <math.h>
#include "ptx_inner.h"

enum { OP_ADD, OP_SUB, OP_MUL, OP_FMA, OP_DIV, OP_RCP, OP_SQRT };

static inline uint64_t single(float r) { return r != r ? NAN_F32 : bits_of_float(r); }
static inline uint64_t no_number(uint64_t a, uint64_t b, uint64_t c) {
  if (isnan(double_of(a))) return a | QUIET_F64;
  if (isnan(double_of(b))) return b | QUIET_F64;
  if (isnan(double_of(c))) return c | QUIET_F64;
  return NAN_F64;
}
static inline float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }

/* ---- To the nearest ---- */

#define SINGLE(name, sources, expression)                                      \
  static void name(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {           \
    const uint64_t *x = in(w, i->s[0]), *y = sources > 1 ? in(w, i->s[1]) : x, \
                   *z = sources > 2 ? in(w, i->s[2]) : x;                      \
    uint64_t *d = out(w, i->d[0]);                                             \
    EACH_LANE({                                                                \
      float a = float_of(x[l]), b = float_of(y[l]), c = float_of(z[l]);        \
      (void)b, (void)c;                                                        \
      d[l] = single(expression);                                               \
    });                                                                        \
  }
#define DOUBLE(name, sources, expression)                                      \
  static void name(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {           \
    const uint64_t *x = in(w, i->s[0]), *y = sources > 1 ? in(w, i->s[1]) : x, \
                   *z = sources > 2 ? in(w, i->s[2]) : x;                      \
    uint64_t *d = out(w, i->d[0]);                                             \
    EACH_LANE({                                                                \
      double a = double_of(x[l]), b = double_of(y[l]), c = double_of(z[l]);    \
      (void)b, (void)c;                                                        \
      double r = (expression);                                                 \
      d[l] = r != r ? no_number(x[l], y[l], z[l]) : bits_of_double(r);         \
    });                                                                        \
  }
#define BOTH(name, sources, single_expression, double_expression) \
  SINGLE(name##_f32, sources, single_expression)                  \
  DOUBLE(name##_f64, sources, double_expression)

BOTH(add, 2, a + b, a + b)
BOTH(sub, 2, a - b, a - b)
BOTH(mul, 2, a *b, a *b)
BOTH(fused, 3, fmaf(a, b, c), fma(a, b, c))
BOTH(divide, 2, a / b, a / b)
BOTH(reciprocal, 1, 1 / a, 1 / a)
BOTH(root, 1, sqrtf(a), sqrt(a))

/* ---- Other roundings, .ftz, .sat ---- */

static double rounded(int op, double a, double b, double c, bool is_single) {
  volatile double x = a, y = b, z = c, r = 0;
  volatile float xf = (float)a, yf = (float)b, zf = (float)c, rf = 0;
  switch (op) {
    case OP_ADD:
      is_single ? (void)(rf = xf + yf) : (void)(r = x + y);
      break;
    case OP_SUB:
      is_single ? (void)(rf = xf - yf) : (void)(r = x - y);
      break;
    case OP_MUL:
      is_single ? (void)(rf = xf * yf) : (void)(r = x * y);
      break;
    case OP_FMA:
      is_single ? (void)(rf = fmaf(xf, yf, zf)) : (void)(r = fma(x, y, z));
      break;
    case OP_DIV:
      is_single ? (void)(rf = xf / yf) : (void)(r = x / y);
      break;
    case OP_RCP:
      is_single ? (void)(rf = 1 / xf) : (void)(r = 1 / x);
      break;
    case OP_SQRT:
      is_single ? (void)(rf = sqrtf(xf)) : (void)(r = sqrt(x));
      break;
  }
  return is_single ? (double)rf : r;
}

static int host_rounding(ptx_round r) {
  return r == ROUND_Z ? FE_TOWARDZERO : r == ROUND_M ? FE_DOWNWARD : r == ROUND_P ? FE_UPWARD : FE_TONEAREST;
}

static void careful(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]), *y = i->ns > 1 ? in(w, i->s[1]) : x,
                 *z = i->ns > 2 ? in(w, i->s[2]) : x;
  uint64_t *d = out(w, i->d[0]);
  bool is_single = i->type == T_F32;
  fesetround(host_rounding((ptx_round)i->round));
  EACH_LANE({
    if (is_single) {
      float a = float_of(x[l]);
      float b = float_of(y[l]);
      float c = float_of(z[l]);
      if (i->flush) a = flushed(a), b = flushed(b), c = flushed(c);
      float r = (float)rounded(i->op, (double)a, (double)b, (double)c, true);
      if (i->flush) r = flushed(r);
      if (i->saturate) r = !(r > 0) ? 0 : r > 1 ? 1 : r;
      d[l] = single(r);
    } else {
      double r = rounded(i->op, double_of(x[l]), double_of(y[l]), double_of(z[l]), false);
      d[l] = r != r ? no_number(x[l], y[l], z[l]) : bits_of_double(r);
    }
  });
  fesetround(FE_TONEAREST);
}

static void contractible(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  if (!(w->run->launch->unchecked & PTX_NO_CONTRACTION)) {
    ptx_fault(w, __builtin_ctz(lanes),
              "no rounding mode: the assembler may contract this to a fused operation");
    return;
  }
  careful(w, i, lanes);
}

/* ---- Signs, least and greatest ---- */

static void sign_bit(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]);
  uint64_t *d = out(w, i->d[0]), sign = i->type == T_F32 ? 1ull << 31 : 1ull << 63;
  bool negate = i->op;
  EACH_LANE({
    uint64_t a = i->flush ? bits_of_float(flushed(float_of(x[l]))) : x[l];
    d[l] = negate ? a ^ sign : a & ~sign;
  });
}

/* Of two zeros the negative one is less. */
#define EXTREME(name, T, of, bits_of, canonical)                                           \
  static uint64_t name(const ptx_inst *i, uint64_t x, uint64_t y) {                        \
    T a = of(x);                                                                           \
    T b = of(y);                                                                           \
    if (isnan(a) || isnan(b)) {                                                            \
      if ((isnan(a) && isnan(b)) || i->compare) return canonical;                          \
      return isnan(a) ? y : x;                                                             \
    }                                                                                      \
    bool first = a == b ? (i->op ? !signbit(a) : signbit(a) != 0) : i->op ? a > b : a < b; \
    return first ? x : y;                                                                  \
  }
EXTREME(extreme_f32, float, float_of, bits_of_float, NAN_F32)
EXTREME(extreme_f64, double, double_of, bits_of_double, NAN_F64)

static void extreme(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]), *y = in(w, i->s[1]);
  uint64_t *d = out(w, i->d[0]);
  if (i->type == T_F64) {
    EACH_LANE({ d[l] = extreme_f64(i, x[l], y[l]); });
    return;
  }
  EACH_LANE({
    uint64_t a = i->flush ? bits_of_float(flushed(float_of(x[l]))) : x[l];
    uint64_t b = i->flush ? bits_of_float(flushed(float_of(y[l]))) : y[l];
    d[l] = extreme_f32(i, a, b);
  });
}

/* ---- Approximations ---- */

enum {
  APPROX_RCP,
  APPROX_SQRT,
  APPROX_RSQRT,
  APPROX_SIN,
  APPROX_COS,
  APPROX_LG2,
  APPROX_EX2,
  APPROX_TANH,
  APPROX_DIV
};

static double exactly(int op, double a, double b) {
  switch (op) {
    case APPROX_RCP:
      return 1 / a;
    case APPROX_SQRT:
      return sqrt(a);
    case APPROX_RSQRT:
      return 1 / sqrt(a);
    case APPROX_SIN:
      return sin(a);
    case APPROX_COS:
      return cos(a);
    case APPROX_LG2:
      return log2(a);
    case APPROX_EX2:
      return exp2(a);
    case APPROX_TANH:
      return tanh(a);
    default:
      return a / b;
  }
}

/* The error is uniform in the bound: relative, for sin, cos and lg2 absolute. */
static double disturbed(ptx_warp *w, int op, double r) {
  static const double bounds[] = {0x1p-23, 0x1p-23, 0x1p-22, 0x1p-21, 0x1p-21,
                                  0x1p-22, 0x1p-22, 0x1p-11, 0x1p-22};
  int exponent; /* libdevice counts on exact powers of two */
  if (!isfinite(r) || r == 0 || (op == APPROX_EX2 && frexp(r, &exponent) == 0.5)) return r;
  double error = (double)(int64_t)ptx_random(&w->run->random) * 0x1p-63 * bounds[op];
  return op == APPROX_SIN || op == APPROX_COS || op == APPROX_LG2 ? r + error : r * (1 + error);
}

static void approximate(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]), *y = i->ns > 1 ? in(w, i->s[1]) : x;
  uint64_t *d = out(w, i->d[0]);
  EACH_LANE({
    if (i->type ==
        T_F64) { /* with .ftz the upper half of a double is right to 20 bits, and the lower one zero */
      double r = exactly(i->op, double_of(x[l]), 0);
      if (!i->flush) {
        d[l] =
            isnan(r) ? NAN_F64 : bits_of_double(r) + (ptx_random(&w->run->random) & (isfinite(r) && r != 0));
        continue;
      }
      d[l] = isnan(r) ? NAN_F64 : bits_of_double(disturbed(w, APPROX_DIV, r)) & 0xffffffff00000000u;
      continue;
    }
    float a = float_of(x[l]);
    float b = float_of(y[l]);
    if (i->flush) a = flushed(a), b = flushed(b);
    float r = (float)disturbed(w, i->op, exactly(i->op, (double)a, (double)b));
    d[l] = single(i->flush ? flushed(r) : r);
  });
}

/* ---- Decoding ---- */

static void operands(ptx_parser *p, ptx_type t, int sources) {
  p->i->type = t;
  want_dst(p, t);
  for (int k = 0; k < sources; k++) want_src(p, t);
}

static bool decode_arithmetic(ptx_parser *p, uint8_t op, int sources, bool needs_rounding) {
  static const ptx_handler nearest[][2] = {{add_f32, add_f64},       {sub_f32, sub_f64},
                                           {mul_f32, mul_f64},       {fused_f32, fused_f64},
                                           {divide_f32, divide_f64}, {reciprocal_f32, reciprocal_f64},
                                           {root_f32, root_f64}};
  ptx_inst *i = p->i;
  i->op = op;
  i->round = take_round(p);
  if (i->round > ROUND_P) parse_fail(p, "%s with that rounding", p->opcode);
  i->flush = take(p, "ftz");
  i->saturate = take(p, "sat");
  ptx_type t = take_type(p);
  if (t == T_F64 && (i->flush || i->saturate)) parse_fail(p, "%s.f64 with .ftz or .sat", p->opcode);
  if (t != T_F32 && t != T_F64) parse_fail(p, "%s.%s", p->opcode, ptx_types[t].name);
  if (i->saturate && op > OP_FMA) parse_fail(p, "%s with .sat", p->opcode);
  if (!i->round && needs_rounding) parse_fail(p, "%s without rounding mode", p->opcode);
  if (!i->round) i->run = contractible;
  else if (i->round != ROUND_N || i->flush || i->saturate) i->run = careful;
  else i->run = nearest[op][t == T_F64];
  operands(p, t, sources);
  return true;
}

static bool decode_approximation(ptx_parser *p, uint8_t op, int sources) {
  p->i->op = op;
  p->i->flush = take(p, "ftz");
  ptx_type t = take_type(p);
  bool has_double = (p->i->flush && op == APPROX_RCP) || op == APPROX_RSQRT;
  if (t != T_F32 && !(t == T_F64 && has_double)) parse_fail(p, "%s.approx.%s", p->opcode, ptx_types[t].name);
  p->i->run = approximate;
  operands(p, t, sources);
  return true;
}

static bool decode_extreme(ptx_parser *p, bool greatest) {
  p->i->op = greatest;
  p->i->flush = take(p, "ftz");
  p->i->compare = take(p, "NaN");
  ptx_type t = take_type(p);
  if (t == T_F64 && (p->i->flush || p->i->compare)) parse_fail(p, "%s.f64 with .ftz or .NaN", p->opcode);
  p->i->run = extreme;
  operands(p, t, 2);
  return true;
}

static bool decode_sign(ptx_parser *p, bool negate) {
  p->i->op = negate;
  p->i->flush = take(p, "ftz");
  ptx_type t = take_type(p);
  if (t == T_F64 && p->i->flush) parse_fail(p, "%s.f64 with .ftz", p->opcode);
  p->i->run = sign_bit;
  operands(p, t, 1);
  return true;
}

/* About how many products and sums a device needs for a quotient or a root, and for a reciprocal. */
enum { ROUNDS_OF_NEWTON = 9, ROUNDS_OF_RECIPROCAL = 6 };

bool decode_float(ptx_parser *p) {
  static const struct {
    const char *name;
    int op, approximation, sources;
    bool needs_rounding;
  } all[] = {{"add", OP_ADD, -1, 2, false},        {"sub", OP_SUB, -1, 2, false},
             {"mul", OP_MUL, -1, 2, false},        {"fma", OP_FMA, -1, 3, true},
             {"mad", OP_FMA, -1, 3, true},         {"div", OP_DIV, APPROX_DIV, 2, true},
             {"rcp", OP_RCP, APPROX_RCP, 1, true}, {"sqrt", OP_SQRT, APPROX_SQRT, 1, true},
             {"rsqrt", -1, APPROX_RSQRT, 1, true}, {"sin", -1, APPROX_SIN, 1, true},
             {"cos", -1, APPROX_COS, 1, true},     {"lg2", -1, APPROX_LG2, 1, true},
             {"ex2", -1, APPROX_EX2, 1, true},     {"tanh", -1, APPROX_TANH, 1, true}};
  ptx_type t = last_type(p);
  if (t != T_F32 && t != T_F64) return false;
  const char *op = p->opcode;
  if (!strcmp(op, "min") || !strcmp(op, "max")) return decode_extreme(p, op[1] == 'a');
  if (!strcmp(op, "abs") || !strcmp(op, "neg")) return decode_sign(p, op[0] == 'n');
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    if (strcmp(op, all[k].name)) continue;
    if (t == T_F64)
      p->i->doubles = op[0] == 'd' || op[1] == 'q' ? ROUNDS_OF_NEWTON
                      : op[0] == 'r'               ? ROUNDS_OF_RECIPROCAL
                                                   : 1;
    if (all[k].approximation >= 0 && (take(p, "approx") || (all[k].op == OP_DIV && take(p, "full"))))
      return decode_approximation(p, (uint8_t)all[k].approximation, all[k].sources);
    if (all[k].op < 0) parse_fail(p, "%s: .approx was expected", op);
    return decode_arithmetic(p, (uint8_t)all[k].op, all[k].sources, all[k].needs_rounding);
  }
  return false;
}
