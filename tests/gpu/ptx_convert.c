/* ptx_convert.c - cvt and cvta.
 *
 * Floating point to integers: rounded, then put into the range; what is no number gives 0, or the least integer if
 * 64 bits take part.  A destination register that is wider than the type gets the value extended by its sign or zeros.
 */
#include <fenv.h>
#include <math.h>
#include "../../src/core/base/half.h"
#include "ptx_inner.h"

typedef __int128 wide;

static inline uint64_t mask_of(int bytes) { return ~(uint64_t)0 >> (64 - 8 * bytes); }
static inline uint64_t extend(uint64_t x, int bytes, bool is_signed) {
  int shift = 64 - 8 * bytes;
  return is_signed ? (uint64_t)((int64_t)(x << shift) >> shift) : x << shift >> shift;
}

static wide least_of(ptx_type t) { return type_signed(t) ? -((wide)1 << (8 * type_bytes(t) - 1)) : 0; }
static wide greatest_of(ptx_type t) { return ((wide)1 << (8 * type_bytes(t) - type_signed(t))) - 1; }

/* ---- Integers ---- */

static void integers(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]);
  uint64_t *d = out(w, i->d[0]), mask = mask_of(i->width);
  int from = type_bytes(i->from), to = type_bytes(i->type);
  bool from_signed = type_signed(i->from), to_signed = type_signed(i->type);
  EACH_LANE({ d[l] = extend(extend(x[l], from, from_signed), to, to_signed) & mask; });
}

static void integers_saturated(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]);
  uint64_t *d = out(w, i->d[0]), mask = mask_of(i->width);
  wide least = least_of(i->type), greatest = greatest_of(i->type);
  EACH_LANE({
    uint64_t bits = extend(x[l], type_bytes(i->from), type_signed(i->from));
    wide a = type_signed(i->from) ? (wide)(int64_t)bits : (wide)bits;
    d[l] = (uint64_t)(a < least ? least : a > greatest ? greatest : a) & mask;
  });
}

/* ---- Floating point ---- */

static float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }

static double value_of(const ptx_inst *i, uint64_t bits) {
  if (i->from == T_F64) return double_of(bits);
  if (i->from == T_F16) return (double)lgt_half_to_float((uint16_t)bits);
  return (double)(i->flush ? flushed(float_of(bits)) : float_of(bits));
}

static double to_integer(ptx_round round, double x) {
  switch (round) {
    case ROUND_NI:
      return rint(x);
    case ROUND_ZI:
      return trunc(x);
    case ROUND_MI:
      return floor(x);
    case ROUND_PI:
      return ceil(x);
    default:
      return x;
  }
}

static void float_to_integer(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]);
  uint64_t *d = out(w, i->d[0]), mask = mask_of(i->width);
  wide least = least_of(i->type), greatest = greatest_of(i->type);
  bool large = i->from == T_F64 || type_bytes(i->type) == 8;
  EACH_LANE({
    double a = to_integer((ptx_round)i->round, value_of(i, x[l]));
    wide r;
    if (isnan(a)) r = large ? (wide)1 << (8 * type_bytes(i->type) - 1) : 0;
    else if (a <= (double)least) r = least;
    else if (a >= (double)greatest) r = greatest;
    else r = (wide)a;
    d[l] = extend((uint64_t)r, type_bytes(i->type), type_signed(i->type)) & mask;
  });
}

static int host_rounding(ptx_round r) {
  return r == ROUND_Z ? FE_TOWARDZERO : r == ROUND_M ? FE_DOWNWARD : r == ROUND_P ? FE_UPWARD : FE_TONEAREST;
}

static uint64_t store_float(const ptx_inst *i, double x) {
  if (i->type == T_F64) return bits_of_double(x);
  if (i->type == T_F16) return isnan(x) ? NAN_F16 : lgt_half_from_double(x);
  volatile double a = x; /* after the rounding mode is set */
  volatile float r = (float)a;
  if (isnan(r)) return NAN_F32;
  return bits_of_float(i->flush ? flushed(r) : r);
}

/* Toward zero and so on: f16 is the nearest one, moved by one if it is on the wrong side. */
static uint64_t directed_half(const ptx_inst *i, double x) {
  uint16_t h = (uint16_t)store_float(i, x);
  double back = (double)lgt_half_to_float(h);
  if (isnan(x) || isinf(x) || back == x) return h;
  bool above = back > x, up = i->round == ROUND_P || (i->round == ROUND_Z && x < 0);
  if (above == up) return h;
  if (h == 0x8000 && up == false) return h | 1; /* below zero */
  return (uint16_t)(above ? (back > 0 ? h - 1
                             : h == 0 ? 0x8001
                                      : h + 1)
                          : (back < 0      ? h - 1
                             : h == 0x8000 ? 1
                                           : h + 1));
}

static uint64_t finish(const ptx_inst *i, double x) {
  if (i->saturate) x = !(x > 0) ? 0 : x > 1 ? 1 : x;
  if (i->type == T_F16 && i->round >= ROUND_Z && i->round <= ROUND_P) return directed_half(i, x);
  return store_float(i, x);
}

static void float_to_float(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]);
  uint64_t *d = out(w, i->d[0]);
  bool directed = i->round >= ROUND_Z && i->round <= ROUND_P && i->type != T_F16;
  if (directed) fesetround(host_rounding((ptx_round)i->round));
  EACH_LANE({
    double a = value_of(i, x[l]);
    d[l] = isnan(a) && i->type == T_F64 && i->from == T_F64 && !i->saturate
               ? x[l] | QUIET_F64
               : finish(i, to_integer((ptx_round)i->round, a));
  });
  if (directed) fesetround(FE_TONEAREST);
}

static uint64_t integer_as_float(const ptx_inst *i, uint64_t bits) {
  volatile int64_t s = (int64_t)bits;
  volatile uint64_t u = bits;
  bool is_signed = type_signed(i->from);
  if (i->type == T_F32) {
    volatile float r = is_signed ? (float)s : (float)u;
    return i->saturate ? finish(i, (double)r) : bits_of_float(r);
  }
  volatile double r = is_signed ? (double)s : (double)u; /* exact where f16 is finite */
  return finish(i, r);
}

static void integer_to_float(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]);
  uint64_t *d = out(w, i->d[0]);
  fesetround(host_rounding((ptx_round)i->round));
  EACH_LANE({ d[l] = integer_as_float(i, extend(x[l], type_bytes(i->from), type_signed(i->from))); });
  fesetround(FE_TONEAREST);
}

/* cvt.rn.f16x2.f32 d, a, b: a is the upper half. */
static void two_halves(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]), *y = in(w, i->s[1]);
  uint64_t *d = out(w, i->d[0]);
  EACH_LANE({
    float a = float_of(x[l]), b = float_of(y[l]);
    uint64_t high = isnan(a) ? NAN_F16 : lgt_half_from_float(a),
             low = isnan(b) ? NAN_F16 : lgt_half_from_float(b);
    d[l] = high << 16 | low;
  });
}

/* ---- cvta: between a space's addresses and generic ones ---- */

static void to_generic(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]);
  uint64_t *d = out(w, i->d[0]), window = i->space == SPACE_SHARED  ? SHARED_WINDOW
                                          : i->space == SPACE_LOCAL ? LOCAL_WINDOW
                                                                    : 0;
  EACH_LANE({ d[l] = x[l] + (uint64_t)i->offset + window; });
}

static void from_generic(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]);
  uint64_t *d = out(w, i->d[0]), window = i->space == SPACE_SHARED  ? SHARED_WINDOW
                                          : i->space == SPACE_LOCAL ? LOCAL_WINDOW
                                                                    : 0;
  EACH_LANE({
    uint64_t found = (x[l] & WINDOW_MASK) == SHARED_WINDOW || (x[l] & WINDOW_MASK) == LOCAL_WINDOW
                         ? x[l] & WINDOW_MASK
                         : 0;
    if (found != window) {
      ptx_fault(w, l, "cvta.to: 0x%llx is no address in that space", (unsigned long long)x[l]);
      return;
    }
    d[l] = x[l] - window;
  });
}

static bool decode_cvta(ptx_parser *p) {
  bool to = take(p, "to");
  p->i->space = take_space(p);
  if (p->i->space == SPACE_GENERIC || p->i->space == SPACE_PARAM)
    parse_fail(p, "cvta: a state space was expected");
  ptx_type t = take_type(p);
  if (t != T_U64 && t != T_B64) parse_fail(p, "cvta.%s", ptx_types[t].name);
  p->i->run = to ? from_generic : to_generic;
  want_dst(p, t);
  int64_t number;
  const ptx_operand *o = this_operand(p);
  const ptx_symbol *s = o->kind == OPERAND_NAME ? parse_symbol(p, o->name, &number) : NULL;
  if (!to && s && s->kind != SYMBOL_REGISTERS) want_symbol(p);
  else want_src(p, t);
  return true;
}

/* ---- Decoding ---- */

static void check_cvt(ptx_parser *p, ptx_type d, ptx_type s) {
  ptx_inst *i = p->i;
  bool to_float = type_float(d), from_float = type_float(s), integral = i->round >= ROUND_NI;
  bool good = i->round == ROUND_NONE;
  if (to_float && from_float) {
    if (type_bytes(d) < type_bytes(s)) good = i->round && !integral;
    else if (d == s) good = !i->round || integral;
  } else if (from_float) good = integral;
  else if (to_float) good = i->round && !integral;
  if (i->saturate && !to_float && !from_float && least_of(d) <= least_of(s) &&
      greatest_of(d) >= greatest_of(s))
    parse_fail(p, "cvt.sat.%s.%s, where every value has room", ptx_types[d].name, ptx_types[s].name);
  if (!good) parse_fail(p, "cvt.%s.%s with this rounding", ptx_types[d].name, ptx_types[s].name);
  if (i->flush && d != T_F32 && s != T_F32)
    parse_fail(p, "cvt.%s.%s with .ftz", ptx_types[d].name, ptx_types[s].name);
}

static bool convertible(ptx_type t) { return type_integer(t) || t == T_F16 || t == T_F32 || t == T_F64; }

static bool decode_cvt(ptx_parser *p) {
  ptx_inst *i = p->i;
  i->round = take_round(p);
  i->flush = take(p, "ftz");
  i->saturate = take(p, "sat");
  ptx_type d = take_type(p), s = take_type(p);
  if (d == T_F16X2 && s == T_F32 && i->round == ROUND_N && !i->flush && !i->saturate) {
    i->run = two_halves;
    want_dst(p, T_B32);
    want_src(p, s);
    want_src(p, s);
    return true;
  }
  if (!convertible(d) || !convertible(s)) parse_fail(p, "cvt.%s.%s", ptx_types[d].name, ptx_types[s].name);
  check_cvt(p, d, s);
  i->type = d;
  i->from = s;
  if (type_float(d)) i->run = type_float(s) ? float_to_float : integer_to_float;
  else i->run = type_float(s) ? float_to_integer : i->saturate ? integers_saturated : integers;
  want_dst_wide(p, d);
  want_src_wide(p, s);
  return true;
}

bool decode_convert(ptx_parser *p) {
  if (!strcmp(p->opcode, "cvta")) return decode_cvta(p);
  return !strcmp(p->opcode, "cvt") && decode_cvt(p);
}
