/* ptx_compare.c - setp, set, selp, slct, testp, copysign. */
#include <math.h>
#include "../../src/core/base/half.h"
#include "ptx_inner.h"

/* The lanes in which the comparison holds, one function for each type. */
typedef uint32_t (*comparer)(const uint64_t *x, const uint64_t *y, ptx_compare c, bool flush);

#define MASK(condition)                                              \
  do {                                                               \
    for (int l = 0; l < LANES; l++) m |= (uint32_t)(condition) << l; \
  } while (0)

#define COMPARE_INTEGERS(name, T)                                                         \
  static uint32_t name(const uint64_t *x, const uint64_t *y, ptx_compare c, bool flush) { \
    uint32_t m = 0;                                                                       \
    (void)flush;                                                                          \
    switch (c) {                                                                          \
      case CMP_EQ:                                                                        \
        MASK((T)x[l] == (T)y[l]);                                                         \
        break;                                                                            \
      case CMP_NE:                                                                        \
        MASK((T)x[l] != (T)y[l]);                                                         \
        break;                                                                            \
      case CMP_LT:                                                                        \
        MASK((T)x[l] < (T)y[l]);                                                          \
        break;                                                                            \
      case CMP_LE:                                                                        \
        MASK((T)x[l] <= (T)y[l]);                                                         \
        break;                                                                            \
      case CMP_GT:                                                                        \
        MASK((T)x[l] > (T)y[l]);                                                          \
        break;                                                                            \
      default:                                                                            \
        MASK((T)x[l] >= (T)y[l]);                                                         \
        break;                                                                            \
    }                                                                                     \
    return m;                                                                             \
  }
COMPARE_INTEGERS(compare_u16, uint16_t)
COMPARE_INTEGERS(compare_u32, uint32_t)
COMPARE_INTEGERS(compare_u64, uint64_t)
COMPARE_INTEGERS(compare_s16, int16_t)
COMPARE_INTEGERS(compare_s32, int32_t)
COMPARE_INTEGERS(compare_s64, int64_t)

static float flushed(float x, bool flush) { return flush && fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
static float half_of(uint64_t bits, bool flush) {
  (void)flush;
  return lgt_half_to_float((uint16_t)bits);
}
static float single_of(uint64_t bits, bool flush) { return flushed(float_of(bits), flush); }
static double exact_of(uint64_t bits, bool flush) {
  (void)flush;
  return double_of(bits);
}

#define COMPARE_FLOATS(name, get)                                                         \
  static uint32_t name(const uint64_t *x, const uint64_t *y, ptx_compare c, bool flush) { \
    uint32_t equal = 0, less = 0, greater = 0;                                            \
    for (int l = 0; l < LANES; l++) {                                                     \
      equal |= (uint32_t)(get(x[l], flush) == get(y[l], flush)) << l;                     \
      less |= (uint32_t)(get(x[l], flush) < get(y[l], flush)) << l;                       \
      greater |= (uint32_t)(get(x[l], flush) > get(y[l], flush)) << l;                    \
    }                                                                                     \
    return by_outcome(c, equal, less, greater);                                           \
  }

static uint32_t by_outcome(ptx_compare c, uint32_t equal, uint32_t less, uint32_t greater) {
  uint32_t nan = ~(equal | less | greater);
  switch (c) {
    case CMP_EQ:
      return equal;
    case CMP_NE:
      return less | greater;
    case CMP_LT:
      return less;
    case CMP_LE:
      return less | equal;
    case CMP_GT:
      return greater;
    case CMP_GE:
      return greater | equal;
    case CMP_EQU:
      return equal | nan;
    case CMP_NEU:
      return less | greater | nan;
    case CMP_LTU:
      return less | nan;
    case CMP_LEU:
      return less | equal | nan;
    case CMP_GTU:
      return greater | nan;
    case CMP_GEU:
      return greater | equal | nan;
    case CMP_NUM:
      return ~nan;
    case CMP_NAN:
      return nan;
  }
  return 0;
}
COMPARE_FLOATS(compare_f16, half_of)
COMPARE_FLOATS(compare_f32, single_of)
COMPARE_FLOATS(compare_f64, exact_of)

static uint32_t outcome(ptx_warp *w, const ptx_inst *i) {
  static const comparer all[T_COUNT] = {
      [T_U16] = compare_u16, [T_U32] = compare_u32, [T_U64] = compare_u64, [T_S16] = compare_s16,
      [T_S32] = compare_s32, [T_S64] = compare_s64, [T_B16] = compare_u16, [T_B32] = compare_u32,
      [T_B64] = compare_u64, [T_F16] = compare_f16, [T_F32] = compare_f32, [T_F64] = compare_f64};
  return all[i->from](in(w, i->s[0]), in(w, i->s[1]), (ptx_compare)i->compare, i->flush);
}

enum { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR };

static uint32_t combined(ptx_warp *w, const ptx_inst *i, uint32_t result) {
  uint32_t c = i->combine ? pred_of(w, i->sp) : 0;
  return i->combine == COMBINE_AND ? result & c : i->combine == COMBINE_OR ? result | c : result ^ c;
}

static void setp(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  uint32_t result = outcome(w, i);
  uint32_t second = i->dq >= 0 ? combined(w, i, ~result) : 0;
  set_pred(w, i->dp, lanes, combined(w, i, result));
  set_pred(w, i->dq, lanes, second);
}

static void set(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  uint32_t result = combined(w, i, outcome(w, i));
  uint64_t *d = out(w, i->d[0]), yes = i->type == T_F32           ? 0x3f800000
                                       : i->type == T_F16         ? 0x3c00
                                       : type_bytes(i->type) == 2 ? 0xffff
                                                                  : 0xffffffffu;
  EACH_LANE({ d[l] = result >> l & 1 ? yes : 0; });
}

static void selp(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  uint32_t first = pred_of(w, i->sp);
  const uint64_t *x = in(w, i->s[0]), *y = in(w, i->s[1]);
  uint64_t *d = out(w, i->d[0]);
  EACH_LANE({
    uint64_t a = x[l], b = y[l]; /* both: a compiler makes a choice without branches of it */
    d[l] = first >> l & 1 ? a : b;
  });
}

static void slct(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]), *y = in(w, i->s[1]), *c = in(w, i->s[2]);
  uint64_t *d = out(w, i->d[0]);
  EACH_LANE(
      { d[l] = (i->from == T_F32 ? single_of(c[l], i->flush) >= 0 : (int32_t)c[l] >= 0) ? x[l] : y[l]; });
}

enum { TEST_FINITE, TEST_INFINITE, TEST_NUMBER, TEST_NOTANUMBER, TEST_NORMAL, TEST_SUBNORMAL };

static void testp(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]);
  uint32_t result = 0;
  for (int l = 0; l < LANES; l++) {
    int kind = i->type == T_F32 ? fpclassify(float_of(x[l])) : fpclassify(double_of(x[l]));
    bool yes = false;
    switch (i->op) {
      case TEST_FINITE:
        yes = kind != FP_NAN && kind != FP_INFINITE;
        break;
      case TEST_INFINITE:
        yes = kind == FP_INFINITE;
        break;
      case TEST_NUMBER:
        yes = kind != FP_NAN;
        break;
      case TEST_NOTANUMBER:
        yes = kind == FP_NAN;
        break;
      case TEST_NORMAL:
        yes = kind == FP_NORMAL || kind == FP_ZERO;
        break;
      case TEST_SUBNORMAL:
        yes = kind == FP_SUBNORMAL;
        break;
    }
    result |= (uint32_t)yes << l;
  }
  set_pred(w, i->dp, lanes, result);
}

static void copy_sign(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]), *y = in(w, i->s[1]);
  uint64_t *d = out(w, i->d[0]), sign = (uint64_t)1 << (8 * i->width - 1);
  EACH_LANE({ d[l] = (x[l] & sign) | (y[l] & ~sign); });
}

/* ---- Decoding ---- */

static void take_comparison(ptx_parser *p) {
  static const char *names[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  static const struct {
    const char *name;
    ptx_compare c;
  } unsigned_names[] = {{"lo", CMP_LT}, {"ls", CMP_LE}, {"hi", CMP_GT}, {"hs", CMP_GE}};
  for (int k = 0; k <= CMP_NAN; k++)
    if (take(p, names[k])) {
      p->i->compare = (uint8_t)k;
      return;
    }
  for (int k = 0; k < 4; k++)
    if (take(p, unsigned_names[k].name)) {
      p->i->compare = unsigned_names[k].c;
      return;
    }
  parse_fail(p, "%s: a comparison was expected", p->opcode);
}

static void take_combination(ptx_parser *p) {
  p->i->combine = take(p, "and")   ? COMBINE_AND
                  : take(p, "or")  ? COMBINE_OR
                  : take(p, "xor") ? COMBINE_XOR
                                   : COMBINE_NONE;
}

/* Which comparisons a type has. */
static void check_comparison(ptx_parser *p, ptx_type t) {
  bool equality = p->i->compare == CMP_EQ || p->i->compare == CMP_NE;
  bool good = type_float(t)
                  ? t != T_F16X2
                  : type_bytes(t) >= 2 && (ptx_types[t].family == 'b' ? equality : p->i->compare <= CMP_GE);
  if (!good) parse_fail(p, "%s: .%s has no such comparison", p->opcode, ptx_types[t].name);
  p->i->from = t;
}

static bool decode_setp(ptx_parser *p) {
  take_comparison(p);
  take_combination(p);
  p->i->flush = take(p, "ftz");
  ptx_type t = take_type(p);
  check_comparison(p, t);
  p->i->run = setp;
  want_dst_pred(p);
  want_src(p, t);
  want_src(p, t);
  if (p->i->combine) want_src_pred(p);
  return true;
}

static bool decode_set(ptx_parser *p) {
  take_comparison(p);
  take_combination(p);
  p->i->flush = take(p, "ftz");
  ptx_type d = take_type(p), t = take_type(p);
  check_comparison(p, t);
  bool half = d == T_F16 || d == T_U16 || d == T_S16;
  if (d != T_U32 && d != T_S32 && d != T_F32 && !half) parse_fail(p, "set.%s", ptx_types[d].name);
  p->i->type = d;
  p->i->run = set;
  want_dst(p, d);
  want_src(p, t);
  want_src(p, t);
  if (p->i->combine) want_src_pred(p);
  return true;
}

static bool decode_selp(ptx_parser *p) {
  ptx_type t = take_type(p);
  if (type_bytes(t) < 2 || t == T_F16 || t == T_F16X2) parse_fail(p, "selp.%s", ptx_types[t].name);
  p->i->run = selp;
  p->i->copies = 2;
  want_dst(p, t);
  want_src(p, t);
  want_src(p, t);
  want_src_pred(p);
  return true;
}

static bool decode_slct(ptx_parser *p) {
  p->i->flush = take(p, "ftz");
  ptx_type t = take_type(p), c = take_type(p);
  if (c != T_S32 && c != T_F32) parse_fail(p, "slct by .%s", ptx_types[c].name);
  p->i->from = c;
  p->i->run = slct;
  want_dst(p, t);
  want_src(p, t);
  want_src(p, t);
  want_src(p, c);
  return true;
}

static bool decode_testp(ptx_parser *p) {
  static const char *names[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  uint8_t k = 0;
  while (k < 6 && !take(p, names[k])) k++;
  if (k == 6) parse_fail(p, "testp: what to test was expected");
  p->i->op = k;
  ptx_type t = take_type(p);
  if (t != T_F32 && t != T_F64) parse_fail(p, "testp of .%s", ptx_types[t].name);
  p->i->type = t;
  p->i->run = testp;
  want_dst_pred(p);
  want_src(p, t);
  return true;
}

static bool decode_copysign(ptx_parser *p) {
  ptx_type t = take_type(p);
  if (t != T_F32 && t != T_F64) parse_fail(p, "copysign of .%s", ptx_types[t].name);
  p->i->run = copy_sign;
  want_dst(p, t);
  want_src(p, t);
  want_src(p, t);
  return true;
}

bool decode_compare(ptx_parser *p) {
  const char *op = p->opcode;
  if (!strcmp(op, "setp")) return decode_setp(p);
  if (!strcmp(op, "set")) return decode_set(p);
  if (!strcmp(op, "selp")) return decode_selp(p);
  if (!strcmp(op, "slct")) return decode_slct(p);
  if (!strcmp(op, "testp")) return decode_testp(p);
  if (!strcmp(op, "copysign")) return decode_copysign(p);
  return false;
}
