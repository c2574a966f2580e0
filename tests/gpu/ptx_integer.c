/* ptx_integer.c - arithmetic on integers.
 *
 * What PTX leaves open has a value here that is good for nothing, so that a kernel that depends on it is noticed: a
 * division by zero gives GARBAGE.  Everything else wraps around.
 */
#include "ptx_inner.h"

#define GARBAGE 0xa5c35a3ca5c35a3cu
typedef unsigned __int128 wide_unsigned;
typedef __int128 wide_signed;

/* One handler: the result of a, b, c of type T, stored as U. */
#define UNARY(name, U, T, ...)                                       \
  static void name(ptx_warp *w, const ptx_inst *i, uint32_t lanes) { \
    const uint64_t *x = in(w, i->s[0]);                              \
    uint64_t *d = out(w, i->d[0]);                                   \
    EACH_LANE({                                                      \
      T a = (T)x[l];                                                 \
      d[l] = (U)(__VA_ARGS__);                                       \
    });                                                              \
  }
#define BINARY(name, U, T, ...)                                      \
  static void name(ptx_warp *w, const ptx_inst *i, uint32_t lanes) { \
    const uint64_t *x = in(w, i->s[0]), *y = in(w, i->s[1]);         \
    uint64_t *d = out(w, i->d[0]);                                   \
    EACH_LANE({                                                      \
      T a = (T)x[l], b = (T)y[l];                                    \
      d[l] = (U)(__VA_ARGS__);                                       \
    });                                                              \
  }
#define TERNARY(name, U, T, ...)                                                  \
  static void name(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {              \
    const uint64_t *x = in(w, i->s[0]), *y = in(w, i->s[1]), *z = in(w, i->s[2]); \
    uint64_t *d = out(w, i->d[0]);                                                \
    EACH_LANE({                                                                   \
      T a = (T)x[l], b = (T)y[l];                                                 \
      uint64_t c = z[l];                                                          \
      d[l] = (U)(__VA_ARGS__);                                                    \
    });                                                                           \
  }
/* The same for the six types; of a table of them `by_type` picks one. */
#define TABLE(name)                                                            \
  static const ptx_handler name##_all[] = {name##_u16, name##_u32, name##_u64, \
                                           name##_s16, name##_s32, name##_s64};
#define BINARIES(name, ...)                           \
  BINARY(name##_u16, uint16_t, uint16_t, __VA_ARGS__) \
  BINARY(name##_u32, uint32_t, uint32_t, __VA_ARGS__) \
  BINARY(name##_u64, uint64_t, uint64_t, __VA_ARGS__) \
  BINARY(name##_s16, uint16_t, int16_t, __VA_ARGS__)  \
  BINARY(name##_s32, uint32_t, int32_t, __VA_ARGS__)  \
  BINARY(name##_s64, uint64_t, int64_t, __VA_ARGS__)  \
  TABLE(name)
#define WRAPPING(name, ...)                                                    \
  BINARY(name##_u16, uint16_t, uint64_t, __VA_ARGS__)                          \
  BINARY(name##_u32, uint32_t, uint64_t, __VA_ARGS__)                          \
  BINARY(name##_u64, uint64_t, uint64_t, __VA_ARGS__)                          \
  static const ptx_handler name##_all[] = {name##_u16, name##_u32, name##_u64, \
                                           name##_u16, name##_u32, name##_u64};

static ptx_handler by_type(const ptx_handler *all, ptx_type t) {
  int bytes = type_bytes(t), at = bytes == 2 ? 0 : bytes == 4 ? 1 : 2;
  return bytes == 1 ? NULL : all[at + (type_signed(t) ? 3 : 0)];
}

WRAPPING(add, a + b)
WRAPPING(sub, a - b)
WRAPPING(mul_lo, a *b)
BINARIES(min, a < b ? a : b)
BINARIES(max, a > b ? a : b)
#define DIVISIONS(U, bits)                                                                               \
  BINARY(divide_u##bits, U, uint##bits##_t, b ? a / b : (U)GARBAGE)                                      \
  BINARY(rest_u##bits, U, uint##bits##_t, b ? a % b : (U)GARBAGE)                                        \
  BINARY(divide_s##bits, U, int##bits##_t, b == 0 ? (U)GARBAGE : b == -1 ? 0 - (uint64_t)a : (U)(a / b)) \
  BINARY(rest_s##bits, U, int##bits##_t, b == 0 ? (U)GARBAGE : b == -1 ? 0 : (U)(a % b))
DIVISIONS(uint16_t, 16)
DIVISIONS(uint32_t, 32)
DIVISIONS(uint64_t, 64)
TABLE(divide)
TABLE(rest)

BINARY(mul_hi_u16, uint16_t, uint16_t, (uint32_t)a *b >> 16)
BINARY(mul_hi_u32, uint32_t, uint32_t, (uint64_t)a *b >> 32)
BINARY(mul_hi_u64, uint64_t, uint64_t, (wide_unsigned)a *b >> 64)
BINARY(mul_hi_s16, uint16_t, int16_t, (int32_t)a *b >> 16)
BINARY(mul_hi_s32, uint32_t, int32_t, (int64_t)a *b >> 32)
BINARY(mul_hi_s64, uint64_t, int64_t, (wide_signed)a *b >> 64)
TABLE(mul_hi)
BINARY(mul_wide_u16, uint32_t, uint16_t, (uint32_t)a *b)
BINARY(mul_wide_u32, uint64_t, uint32_t, (uint64_t)a *b)
BINARY(mul_wide_s16, uint32_t, int16_t, (int32_t)a *b)
BINARY(mul_wide_s32, uint64_t, int32_t, (int64_t)a *b)
static const ptx_handler mul_wide_all[] = {mul_wide_u16, mul_wide_u32, NULL,
                                           mul_wide_s16, mul_wide_s32, NULL};

TERNARY(mad_lo_u16, uint16_t, uint64_t, a *b + c)
TERNARY(mad_lo_u32, uint32_t, uint64_t, a *b + c)
TERNARY(mad_lo_u64, uint64_t, uint64_t, a *b + c)
static const ptx_handler mad_lo_all[] = {mad_lo_u16, mad_lo_u32, mad_lo_u64,
                                         mad_lo_u16, mad_lo_u32, mad_lo_u64};
TERNARY(mad_hi_u16, uint16_t, uint16_t, ((uint32_t)a * b >> 16) + c)
TERNARY(mad_hi_u32, uint32_t, uint32_t, ((uint64_t)a * b >> 32) + c)
TERNARY(mad_hi_u64, uint64_t, uint64_t, (uint64_t)((wide_unsigned)a *b >> 64) + c)
TERNARY(mad_hi_s16, uint16_t, int16_t, (uint64_t)((int32_t)a *b >> 16) + c)
TERNARY(mad_hi_s32, uint32_t, int32_t, (uint64_t)((int64_t)a *b >> 32) + c)
TERNARY(mad_hi_s64, uint64_t, int64_t, (uint64_t)((wide_signed)a *b >> 64) + c)
TABLE(mad_hi)
TERNARY(mad_wide_u16, uint32_t, uint16_t, (uint32_t)a *b + c)
TERNARY(mad_wide_u32, uint64_t, uint32_t, (uint64_t)a *b + c)
TERNARY(mad_wide_s16, uint32_t, int16_t, (uint64_t)((int32_t)a *b) + c)
TERNARY(mad_wide_s32, uint64_t, int32_t, (uint64_t)((int64_t)a *b) + c)
static const ptx_handler mad_wide_all[] = {mad_wide_u16, mad_wide_u32, NULL,
                                           mad_wide_s16, mad_wide_s32, NULL};

TERNARY(sad_u16, uint16_t, uint16_t, c + (uint64_t)(a < b ? b - a : a - b))
TERNARY(sad_u32, uint32_t, uint32_t, c + (uint64_t)(a < b ? b - a : a - b))
TERNARY(sad_u64, uint64_t, uint64_t, c + (uint64_t)(a < b ? b - a : a - b))
TERNARY(sad_s16, uint16_t, int16_t, c + (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b))
TERNARY(sad_s32, uint32_t, int32_t, c + (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b))
TERNARY(sad_s64, uint64_t, int64_t, c + (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b))
TABLE(sad)

static int64_t clamp32(int64_t x) { return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x; }
BINARY(add_sat, uint32_t, int32_t, clamp32((int64_t)a + b))
BINARY(sub_sat, uint32_t, int32_t, clamp32((int64_t)a - b))
TERNARY(mad_hi_sat, uint32_t, int32_t, clamp32(((int64_t)a * b >> 32) + (int32_t)c))

UNARY(negate16, uint16_t, uint64_t, 0 - a)
UNARY(negate32, uint32_t, uint64_t, 0 - a)
UNARY(negate64, uint64_t, uint64_t, 0 - a)
UNARY(abs16, uint16_t, int16_t, a < 0 ? (uint64_t)0 - (uint64_t)a : (uint64_t)a)
UNARY(abs32, uint32_t, int32_t, a < 0 ? (uint64_t)0 - (uint64_t)a : (uint64_t)a)
UNARY(abs64, uint64_t, int64_t, a < 0 ? (uint64_t)0 - (uint64_t)a : (uint64_t)a)
static const ptx_handler negate_all[] = {NULL, NULL, NULL, negate16, negate32, negate64};
static const ptx_handler abs_all[] = {NULL, NULL, NULL, abs16, abs32, abs64};

/* mul24, mad24: of the lower 24 bits. */
static int32_t low24(uint64_t x) { return (int32_t)((uint32_t)x << 8) >> 8; }
BINARY(mul24_lo_u, uint32_t, uint64_t, (a & 0xffffff) * (b & 0xffffff))
BINARY(mul24_lo_s, uint32_t, uint64_t, (int64_t)low24(a) * low24(b))
BINARY(mul24_hi_u, uint32_t, uint64_t, (a & 0xffffff) * (b & 0xffffff) >> 16)
BINARY(mul24_hi_s, uint32_t, uint64_t, (int64_t)low24(a) * low24(b) >> 16)
TERNARY(mad24_lo_u, uint32_t, uint64_t, (a & 0xffffff) * (b & 0xffffff) + c)
TERNARY(mad24_lo_s, uint32_t, uint64_t, (uint64_t)((int64_t)low24(a) * low24(b)) + c)

/* ---- With carry ---- */

enum { CARRY_ADD, CARRY_SUB, CARRY_MAD_LO, CARRY_MAD_HI, CARRY_IN = 8, CARRY_OUT = 16 };

/* `a` and `b` have `bits` bits; the result has one more, the carry. */
static wide_unsigned product(const ptx_inst *i, uint64_t a, uint64_t b, bool high) {
  int bits = 8 * type_bytes((ptx_type)i->type);
  if (!type_signed((ptx_type)i->type)) {
    wide_unsigned all = (wide_unsigned)a * b;
    return high ? all >> bits : all;
  }
  wide_signed all = bits == 32 ? (wide_signed)(int32_t)a * (int32_t)b : (wide_signed)(int64_t)a * (int64_t)b;
  return high ? (wide_unsigned)(all >> bits) : (wide_unsigned)all;
}

static void carrying(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]), *y = in(w, i->s[1]), *z = i->ns > 2 ? in(w, i->s[2]) : NULL;
  uint64_t *d = out(w, i->d[0]);
  int bits = 8 * type_bytes((ptx_type)i->type);
  uint64_t mask = bits == 32 ? 0xffffffffu : ~(uint64_t)0;
  EACH_LANE({
    uint64_t carry = i->op & CARRY_IN ? w->carry >> l & 1 : 0;
    wide_unsigned sum;
    if ((i->op & 7) == CARRY_ADD) sum = (wide_unsigned)x[l] + y[l] + carry;
    else if ((i->op & 7) == CARRY_SUB) sum = (wide_unsigned)x[l] - y[l] - carry;
    else sum = (product(i, x[l], y[l], (i->op & 7) == CARRY_MAD_HI) & mask) + z[l] + carry;
    d[l] = (uint64_t)sum & mask;
    if (i->op & CARRY_OUT) w->carry = (w->carry & ~(1u << l)) | (uint32_t)(sum >> bits & 1) << l;
  });
}

static bool decode_carry(ptx_parser *p, uint8_t op, int sources) {
  p->i->op |= op;
  ptx_type t = take_type(p);
  if (!type_integer(t) || type_bytes(t) < 4) parse_fail(p, "carry with .%s", ptx_types[t].name);
  p->i->type = t;
  p->i->run = carrying;
  want_dst(p, t);
  for (int k = 0; k < sources; k++) want_src(p, t);
  return true;
}

/* ---- Decoding ---- */

static void plain(ptx_parser *p, const ptx_handler *all, int sources) {
  ptx_type t = take_type(p);
  p->i->type = t;
  p->i->run = type_integer(t) ? by_type(all, t) : NULL;
  want_dst(p, t);
  for (int k = 0; k < sources; k++) want_src(p, t);
}

static ptx_type twice(ptx_type t) {
  return t == T_U16 ? T_U32 : t == T_S16 ? T_S32 : t == T_U32 ? T_U64 : t == T_S32 ? T_S64 : T_NONE;
}

/* mul and mad: .lo, .hi, .wide. */
static bool decode_product(ptx_parser *p, bool mad, bool carry_in) {
  const ptx_handler *lo = mad ? mad_lo_all : mul_lo_all, *hi = mad ? mad_hi_all : mul_hi_all;
  bool low = take(p, "lo"), high = !low && take(p, "hi");
  if (!low && !high) {
    if (carry_in || !take(p, "wide")) parse_fail(p, "%s: .lo, .hi or .wide was expected", p->opcode);
    ptx_type t = take_type(p), d = twice(t);
    if (d == T_NONE) parse_fail(p, "a wide product of .%s", ptx_types[t].name);
    p->i->run = by_type(mad ? mad_wide_all : mul_wide_all, t);
    want_dst(p, d);
    want_src(p, t);
    want_src(p, t);
    if (mad) want_src(p, d);
    return true;
  }
  bool carry_out = mad && take(p, "cc");
  if (carry_in || carry_out) {
    p->i->op = (uint8_t)((carry_in ? CARRY_IN : 0) | (carry_out ? CARRY_OUT : 0));
    return decode_carry(p, low ? CARRY_MAD_LO : CARRY_MAD_HI, 3);
  }
  bool sat = mad && high && take(p, "sat");
  plain(p, low ? lo : hi, mad ? 3 : 2);
  if (sat) p->i->run = p->i->type == T_S32 ? mad_hi_sat : NULL;
  return true;
}

static bool decode_24(ptx_parser *p, bool mad) {
  bool low = take(p, "lo");
  if (!low && !take(p, "hi")) parse_fail(p, "%s: .lo or .hi was expected", p->opcode);
  ptx_type t = take_type(p);
  if (t != T_U32 && t != T_S32) parse_fail(p, "%s of .%s", p->opcode, ptx_types[t].name);
  bool s = t == T_S32;
  if (mad && low) p->i->run = s ? mad24_lo_s : mad24_lo_u;
  if (!mad) p->i->run = low ? (s ? mul24_lo_s : mul24_lo_u) : (s ? mul24_hi_s : mul24_hi_u);
  want_dst(p, t);
  for (int k = 0; k < (mad ? 3 : 2); k++) want_src(p, t);
  return true;
}

static bool decode_sum(ptx_parser *p, bool subtract) {
  if (take(p, "cc")) {
    p->i->op = CARRY_OUT;
    return decode_carry(p, subtract ? CARRY_SUB : CARRY_ADD, 2);
  }
  bool sat = take(p, "sat");
  plain(p, subtract ? sub_all : add_all, 2);
  if (sat) p->i->run = p->i->type != T_S32 ? NULL : subtract ? sub_sat : add_sat;
  return true;
}

bool decode_integer(ptx_parser *p) {
  static const struct {
    const char *name;
    const ptx_handler *all;
    int sources;
  } simple[] = {{"div", divide_all, 2}, {"rem", rest_all, 2},   {"min", min_all, 2}, {"max", max_all, 2},
                {"abs", abs_all, 1},    {"neg", negate_all, 1}, {"sad", sad_all, 3}};
  if (!type_integer(last_type(p))) return false;
  const char *op = p->opcode;
  if (!strcmp(op, "add")) return decode_sum(p, false);
  if (!strcmp(op, "sub")) return decode_sum(p, true);
  if (!strcmp(op, "mul")) return decode_product(p, false, false);
  if (!strcmp(op, "mad")) return decode_product(p, true, false);
  if (!strcmp(op, "madc")) return decode_product(p, true, true);
  if (!strcmp(op, "mul24")) return decode_24(p, false);
  if (!strcmp(op, "mad24")) return decode_24(p, true);
  if (!strcmp(op, "addc") || !strcmp(op, "subc")) {
    p->i->op = (uint8_t)(CARRY_IN | (take(p, "cc") ? CARRY_OUT : 0));
    return decode_carry(p, op[0] == 's' ? CARRY_SUB : CARRY_ADD, 2);
  }
  for (size_t k = 0; k < sizeof simple / sizeof *simple; k++)
    if (!strcmp(op, simple[k].name)) {
      plain(p, simple[k].all, simple[k].sources);
      return true;
    }
  return false;
}
