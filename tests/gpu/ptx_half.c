/* ptx_half.c - arithmetic on f16 and pairs of them.
 *
 * A sum or product of two f16 is computed in f32 and rounded once more, which is right since f32 has more than twice
 * the bits; a fused one is computed in f64.
 */
#include <math.h>
#include "../../src/core/base/half.h"
#include "ptx_inner.h"

enum {
  HALF_ADD,
  HALF_SUB,
  HALF_MUL,
  HALF_FMA,
  HALF_MIN,
  HALF_MAX,
  HALF_NEG,
  HALF_ABS,
  HALF_MIN_NAN,
  HALF_MAX_NAN
};

static uint16_t to_half(float r) { return isnan(r) ? NAN_F16 : lgt_half_from_float(r); }

/* In f64 a * b is exact, and so is the sum wherever its rounding is in doubt: that takes 40 bits. */
static uint16_t fused(float a, float b, float c) {
  double r = (double)a * (double)b + (double)c;
  return isnan(r) ? NAN_F16 : lgt_half_from_double(r);
}

static uint16_t flushed(uint16_t x) { return (x & 0x7c00) ? x : x & 0x8000; }

static uint16_t half_extreme(uint16_t x, uint16_t y, bool greatest, bool nan) {
  float a = lgt_half_to_float(x), b = lgt_half_to_float(y);
  if (isnan(a) || isnan(b)) {
    if ((isnan(a) && isnan(b)) || nan) return NAN_F16;
    return isnan(a) ? y : x;
  }
  if (a == b) return ((x & 0x8000) != 0) != greatest ? x : y;
  return (a < b) != greatest ? x : y;
}

static uint16_t compute(const ptx_inst *i, uint16_t x, uint16_t y, uint16_t z) {
  if (i->flush) x = flushed(x), y = flushed(y), z = flushed(z);
  float a = lgt_half_to_float(x), b = lgt_half_to_float(y), c = lgt_half_to_float(z);
  uint16_t r = 0;
  switch (i->op) {
    case HALF_ADD:
      r = to_half(a + b);
      break;
    case HALF_SUB:
      r = to_half(a - b);
      break;
    case HALF_MUL:
      r = to_half(a * b);
      break;
    case HALF_FMA:
      r = fused(a, b, c);
      break;
    case HALF_MIN:
      return half_extreme(x, y, false, false);
    case HALF_MAX:
      return half_extreme(x, y, true, false);
    case HALF_MIN_NAN:
      return half_extreme(x, y, false, true);
    case HALF_MAX_NAN:
      return half_extreme(x, y, true, true);
    case HALF_NEG:
      return x ^ 0x8000;
    case HALF_ABS:
      return x & 0x7fff;
  }
  if (i->flush) r = flushed(r);
  if (i->saturate) r = isnan(lgt_half_to_float(r)) || r & 0x8000 ? 0 : r > 0x3c00 ? 0x3c00 : r;
  return r;
}

static void half(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]), *y = i->ns > 1 ? in(w, i->s[1]) : x,
                 *z = i->ns > 2 ? in(w, i->s[2]) : x;
  uint64_t *d = out(w, i->d[0]);
  if (i->compare && !(w->run->launch->unchecked & PTX_NO_CONTRACTION)) {
    ptx_fault(w, __builtin_ctz(lanes),
              "no rounding mode: the assembler may contract this to a fused operation");
    return;
  }
  EACH_LANE({
    uint64_t r = 0;
    for (int part = 0; part < i->count; part++) {
      int at = 16 * part;
      r |= (uint64_t)compute(i, (uint16_t)(x[l] >> at), (uint16_t)(y[l] >> at), (uint16_t)(z[l] >> at)) << at;
    }
    d[l] = r;
  });
}

bool decode_half(ptx_parser *p) {
  static const struct {
    const char *name;
    uint8_t op;
    int sources;
  } all[] = {{"add", HALF_ADD, 2}, {"sub", HALF_SUB, 2}, {"mul", HALF_MUL, 2}, {"fma", HALF_FMA, 3},
             {"min", HALF_MIN, 2}, {"max", HALF_MAX, 2}, {"neg", HALF_NEG, 1}, {"abs", HALF_ABS, 1}};
  ptx_type t = last_type(p);
  if (t != T_F16 && t != T_F16X2) return false;
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    if (strcmp(p->opcode, all[k].name)) continue;
    ptx_inst *i = p->i;
    i->op = all[k].op;
    bool arithmetic = i->op <= HALF_FMA;
    bool round = arithmetic && take(p, "rn");
    if (i->op == HALF_FMA && !round) parse_fail(p, "fma without rounding mode");
    i->compare = arithmetic && !round;
    i->flush = take(p, "ftz");
    i->saturate = arithmetic && take(p, "sat");
    if ((i->op == HALF_MIN || i->op == HALF_MAX) && take(p, "NaN"))
      i->op = i->op == HALF_MIN ? HALF_MIN_NAN : HALF_MAX_NAN;
    i->count = take_type(p) == T_F16X2 ? 2 : 1;
    i->run = half;
    want_dst(p, t);
    for (int s = 0; s < all[k].sources; s++) want_src(p, t);
    return true;
  }
  return false;
}
