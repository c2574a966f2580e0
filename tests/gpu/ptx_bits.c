/* ptx_bits.c - operations on bits, of registers and of predicates; moves, packing and unpacking. */
#include "ptx_inner.h"

#define OPERATION(name, sources, ...)                                          \
  static void name(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {           \
    const uint64_t *x = in(w, i->s[0]), *y = sources > 1 ? in(w, i->s[1]) : x, \
                   *z = sources > 2 ? in(w, i->s[2]) : x;                      \
    uint64_t *d = out(w, i->d[0]);                                             \
    EACH_LANE({                                                                \
      uint64_t a = x[l], b = y[l], c = z[l];                                   \
      (void)a, (void)b, (void)c;                                               \
      d[l] = (uint64_t)(__VA_ARGS__);                                          \
    });                                                                        \
  }

static inline uint64_t mask_of(const ptx_inst *i) { return ~(uint64_t)0 >> (64 - 8 * i->width); }
static inline int64_t sign_of(uint64_t x, int bits) { return (int64_t)(x << (64 - bits)) >> (64 - bits); }
static inline uint64_t clamp(uint64_t shift, uint64_t most) {
  return (uint32_t)shift < most ? (uint32_t)shift : most;
}

OPERATION(and_bits, 2, a &b)
OPERATION(or_bits, 2, a | b)
OPERATION(xor_bits, 2, a ^ b)
OPERATION(not_bits, 1, ~a &mask_of(i))
OPERATION(cnot_bits, 1, a == 0)
OPERATION(shl16, 2, (uint32_t)b > 15 ? 0 : (a << b) & 0xffff)
OPERATION(shl32, 2, (uint32_t)b > 31 ? 0 : (a << b) & 0xffffffffu)
OPERATION(shl64, 2, (uint32_t)b > 63 ? 0 : a << b)
OPERATION(shr_unsigned, 2, (uint32_t)b > 63 ? 0 : a >> b)
OPERATION(shr_s16, 2, (uint16_t)((int16_t)a >> clamp(b, 15)))
OPERATION(shr_s32, 2, (uint32_t)((int32_t)a >> clamp(b, 31)))
OPERATION(shr_s64, 2, (int64_t)a >> clamp(b, 63))
OPERATION(popc, 1, __builtin_popcountll(a))
OPERATION(clz32, 1, a ? __builtin_clz((uint32_t)a) : 32)
OPERATION(clz64, 1, a ? __builtin_clzll(a) : 64)

static uint64_t reverse(uint64_t x, int bits) {
  uint64_t r = 0;
  for (int k = 0; k < bits; k++) r |= (x >> k & 1) << (bits - 1 - k);
  return r;
}
OPERATION(brev32, 1, reverse(a, 32))
OPERATION(brev64, 1, reverse(a, 64))

static uint64_t extract(const ptx_inst *i, uint64_t a, uint64_t b, uint64_t c) {
  int top = 8 * type_bytes((ptx_type)i->type) - 1, at = (int)(b & 0xff), length = (int)(c & 0xff);
  uint64_t sign = 0;
  if (type_signed((ptx_type)i->type) && length)
    sign = a >> (at + length - 1 < top ? at + length - 1 : top) & 1;
  uint64_t d = 0;
  for (int k = 0; k <= top; k++) d |= (k < length && at + k <= top ? a >> (at + k) & 1 : sign) << k;
  return d;
}
OPERATION(bfe, 3, extract(i, a, b, c))

static void bfi(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]), *y = in(w, i->s[1]), *from = in(w, i->s[2]), *count = in(w, i->s[3]);
  uint64_t *d = out(w, i->d[0]);
  int bits = 8 * i->width;
  EACH_LANE({
    int at = (int)(from[l] & 0xff), length = (int)(count[l] & 0xff);
    uint64_t field = length >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << length) - 1;
    uint64_t mask = at < bits ? field << at : 0;
    d[l] = ((y[l] & ~mask) | (at < bits ? x[l] << at & mask : 0)) & mask_of(i);
  });
}

static uint64_t find_bit(const ptx_inst *i, uint64_t a) {
  int bits = 8 * type_bytes((ptx_type)i->type);
  if (type_signed((ptx_type)i->type) && sign_of(a, bits) < 0) a = ~a & (~(uint64_t)0 >> (64 - bits));
  if (!a) return 0xffffffffu;
  int at = 63 - __builtin_clzll(a);
  return (uint64_t)(i->op ? bits - 1 - at : at);
}
OPERATION(bfind, 1, find_bit(i, a))

enum { PRMT_PLAIN, PRMT_F4E, PRMT_B4E, PRMT_RC8, PRMT_ECL, PRMT_ECR, PRMT_RC16 };

static uint64_t permute(const ptx_inst *i, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t bytes = (a & 0xffffffffu) | b << 32, d = 0;
  for (unsigned k = 0; k < 4; k++) {
    unsigned n = (unsigned)c & 3, pick = 0;
    switch (i->op) {
      case PRMT_PLAIN:
        pick = (unsigned)(c >> 4 * k) & 15;
        break;
      case PRMT_F4E:
        pick = (n + k) & 7;
        break;
      case PRMT_B4E:
        pick = (n - k) & 7;
        break;
      case PRMT_RC8:
        pick = n;
        break;
      case PRMT_ECL:
        pick = k > n ? k : n;
        break;
      case PRMT_ECR:
        pick = k < n ? k : n;
        break;
      case PRMT_RC16:
        pick = 2 * (n & 1) + (k & 1);
        break;
    }
    uint64_t byte = bytes >> 8 * (pick & 7) & 0xff;
    if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
    d |= byte << 8 * k;
  }
  return d;
}
OPERATION(prmt, 3, permute(i, a, b, c))

/* The funnel of b (upper half) and a. */
static uint64_t funnel(const ptx_inst *i, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t both = b << 32 | (a & 0xffffffffu);
  unsigned n = i->op & 1 ? (unsigned)c & 31 : (unsigned)clamp(c, 32); /* wrap or clamp */
  return (i->op & 2 ? both >> n : n == 32 ? a : both >> (32 - n)) & 0xffffffffu;
}
OPERATION(shf, 3, funnel(i, a, b, c))

static void lop3(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]), *y = in(w, i->s[1]), *z = in(w, i->s[2]);
  uint64_t *d = out(w, i->d[0]);
  EACH_LANE({
    uint64_t r = 0;
    for (int k = 0; k < 8; k++)
      if (i->op >> k & 1) r |= (k & 4 ? x[l] : ~x[l]) & (k & 2 ? y[l] : ~y[l]) & (k & 1 ? z[l] : ~z[l]);
    d[l] = r & 0xffffffffu;
  });
}

/* ---- Predicates: dp = combination of the predicates in d[0], d[1], which are not registers then ---- */

enum { PRED_AND, PRED_OR, PRED_XOR, PRED_MOVE };

static void predicates(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  uint32_t a = pred_of(w, i->list[0]), b = pred_of(w, i->list[1]);
  set_pred(w, i->dp, lanes,
           i->op == PRED_AND   ? a & b
           : i->op == PRED_OR  ? a | b
           : i->op == PRED_XOR ? a ^ b
                               : a);
}

static bool decode_predicates(ptx_parser *p, uint8_t op, int sources, bool negate) {
  ptx_inst *i = p->i;
  i->op = op;
  i->run = predicates;
  want_dst_pred(p);
  if (!(i->list = calloc(2, sizeof *i->list))) parse_fail(p, "out of memory");
  for (int k = 0; k < sources; k++) {
    want_src_pred(p);
    i->list[k] = i->sp ^ (negate ? 1 : 0);
  }
  i->copies = op == PRED_MOVE;
  i->sp = NO_PRED;
  return true;
}

/* ---- Moves ---- */

static void move(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]);
  uint64_t *d = out(w, i->d[0]);
  EACH_LANE({ d[l] = x[l]; });
}
static void move_address(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]);
  uint64_t *d = out(w, i->d[0]), offset = (uint64_t)i->offset;
  EACH_LANE({ d[l] = x[l] + offset; });
}
static void move_clock(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  uint64_t *d = out(w, i->d[0]), now = w->run->count;
  EACH_LANE({ d[l] = i->width == 4 ? now & 0xffffffffu : now; });
}
static void pack(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  uint64_t *d = out(w, i->d[0]);
  int bits = 8 * i->width / i->ns;
  EACH_LANE({
    uint64_t all = 0;
    for (int k = 0; k < i->ns; k++) all |= (in(w, i->s[k])[l] & (~(uint64_t)0 >> (64 - bits))) << bits * k;
    d[l] = all;
  });
}
static void unpack(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]);
  int bits = 8 * i->op / i->nd;
  EACH_LANE({
    uint64_t all = x[l];
    for (int k = 0; k < i->nd; k++) out(w, i->d[k])[l] = all >> bits * k & (~(uint64_t)0 >> (64 - bits));
  });
}

static ptx_type bits_type(int bytes) {
  return bytes == 1 ? T_B8 : bytes == 2 ? T_B16 : bytes == 4 ? T_B32 : bytes == 8 ? T_B64 : T_NONE;
}

static bool is_register(ptx_parser *p, const char *name) {
  int64_t n;
  const ptx_symbol *s = parse_symbol(p, name, &n);
  return name[0] == '%' || !s || s->kind == SYMBOL_REGISTERS;
}

static bool decode_move(ptx_parser *p) {
  ptx_inst *i = p->i;
  ptx_type t = take_type(p);
  if (t == T_PRED) return decode_predicates(p, PRED_MOVE, 1, false);
  if (type_bytes(t) < 2) parse_fail(p, "mov of .%s", ptx_types[t].name);
  i->type = t;
  i->copies = 1;
  if (p->operands != 2) parse_fail(p, "mov takes two operands");
  const ptx_operand *d = &p->operand[0], *s = &p->operand[1];
  if (d->kind == OPERAND_VECTOR) {
    ptx_type part = bits_type(d->count ? type_bytes(t) / d->count : 0);
    if ((d->count != 2 && d->count != 4) || part < T_B16)
      parse_fail(p, "mov of .%s into parts", ptx_types[t].name);
    i->op = (uint8_t)type_bytes(t);
    i->run = unpack;
    want_dst_vector(p, part, d->count, false);
    want_src(p, t);
  } else if (s->kind == OPERAND_VECTOR) {
    ptx_type part = bits_type(s->count ? type_bytes(t) / s->count : 0);
    if ((s->count != 2 && s->count != 4) || part < T_B16)
      parse_fail(p, "mov of parts into .%s", ptx_types[t].name);
    i->run = pack;
    want_dst(p, t);
    want_src_vector(p, part, s->count);
  } else if (s->kind == OPERAND_NAME && !is_register(p, s->name)) {
    want_dst(p, t);
    if (type_bytes(t) != 8) parse_fail(p, "an address has 64 bits");
    want_symbol(p);
    i->run = move_address;
  } else {
    want_dst(p, t);
    want_src(p, t);
    bool clock = i->s[0] >= SPECIAL_BASE + SPECIAL_CLOCK && i->s[0] <= SPECIAL_BASE + SPECIAL_GLOBALTIMER;
    i->run = clock ? move_clock : move;
  }
  return true;
}

/* ---- Decoding ---- */

static ptx_type take_bits(ptx_parser *p, int least, int most) {
  ptx_type t = take_type(p);
  if (type_float(t) || t == T_PRED || type_bytes(t) < least || type_bytes(t) > most)
    parse_fail(p, "%s of .%s", p->opcode, ptx_types[t].name);
  p->i->type = t;
  return t;
}

static bool decode_logic(ptx_parser *p, ptx_handler run, uint8_t pred_op, int sources) {
  ptx_type t = take_type(p);
  if (t == T_PRED) return decode_predicates(p, pred_op, sources, pred_op == PRED_MOVE);
  if (ptx_types[t].family != 'b' || type_bytes(t) < 2)
    parse_fail(p, "%s of .%s", p->opcode, ptx_types[t].name);
  p->i->run = run;
  want_dst(p, t);
  for (int k = 0; k < sources; k++) want_src(p, t);
  return true;
}

static bool decode_shift(ptx_parser *p, bool left) {
  ptx_type t = take_bits(p, 2, 8);
  int bytes = type_bytes(t);
  if (left && ptx_types[t].family != 'b') parse_fail(p, "shl of .%s", ptx_types[t].name);
  if (left) p->i->run = bytes == 2 ? shl16 : bytes == 4 ? shl32 : shl64;
  else if (!type_signed(t)) p->i->run = shr_unsigned;
  else p->i->run = bytes == 2 ? shr_s16 : bytes == 4 ? shr_s32 : shr_s64;
  want_dst(p, t);
  want_src(p, t);
  want_src(p, T_U32);
  return true;
}

static bool decode_counts(ptx_parser *p, ptx_handler run32, ptx_handler run64, ptx_type result) {
  ptx_type t = take_bits(p, 4, 8);
  p->i->run = type_bytes(t) == 4 ? run32 : run64;
  want_dst(p, result == T_NONE ? t : result);
  want_src(p, t);
  return true;
}

static bool decode_field(ptx_parser *p, bool insert) {
  ptx_type t = take_bits(p, 4, 8);
  p->i->run = insert ? bfi : bfe;
  want_dst(p, t);
  want_src(p, t);
  if (insert) want_src(p, t);
  want_src(p, T_U32);
  want_src(p, T_U32);
  return true;
}

static bool decode_three(ptx_parser *p, ptx_handler run) {
  take_bits(p, 4, 4);
  p->i->run = run;
  want_dst(p, T_B32);
  for (int k = 0; k < 3; k++) want_src(p, T_B32);
  return true;
}

static bool decode_prmt(ptx_parser *p) {
  static const char *modes[] = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  if (!take(p, "b32")) parse_fail(p, "prmt: .b32 was expected");
  for (uint8_t k = 1; k < 7; k++)
    if (take(p, modes[k])) p->i->op = k;
  p->i->run = prmt;
  want_dst(p, T_B32);
  for (int k = 0; k < 3; k++) want_src(p, T_B32);
  return true;
}

static bool decode_shf(ptx_parser *p) {
  bool right = take(p, "r");
  if (!right && !take(p, "l")) parse_fail(p, "shf: .l or .r was expected");
  bool wrap = take(p, "wrap");
  if (!wrap && !take(p, "clamp")) parse_fail(p, "shf: .wrap or .clamp was expected");
  p->i->op = (uint8_t)(wrap + 2 * right);
  return decode_three(p, shf);
}

static bool decode_lop3(ptx_parser *p) {
  decode_three(p, lop3);
  p->i->op = (uint8_t)want_integer(p);
  return true;
}

bool decode_bits(ptx_parser *p) {
  const char *op = p->opcode;
  if (!strcmp(op, "mov")) return decode_move(p);
  if (!strcmp(op, "and")) return decode_logic(p, and_bits, PRED_AND, 2);
  if (!strcmp(op, "or")) return decode_logic(p, or_bits, PRED_OR, 2);
  if (!strcmp(op, "xor")) return decode_logic(p, xor_bits, PRED_XOR, 2);
  if (!strcmp(op, "not")) return decode_logic(p, not_bits, PRED_MOVE, 1);
  if (!strcmp(op, "cnot")) return decode_logic(p, cnot_bits, PRED_MOVE, 1);
  if (!strcmp(op, "shl")) return decode_shift(p, true);
  if (!strcmp(op, "shr")) return decode_shift(p, false);
  if (!strcmp(op, "popc")) return decode_counts(p, popc, popc, T_U32);
  if (!strcmp(op, "clz")) return decode_counts(p, clz32, clz64, T_U32);
  if (!strcmp(op, "brev")) return decode_counts(p, brev32, brev64, T_NONE);
  if (!strcmp(op, "bfe")) return decode_field(p, false);
  if (!strcmp(op, "bfi")) return decode_field(p, true);
  if (!strcmp(op, "prmt")) return decode_prmt(p);
  if (!strcmp(op, "shf")) return decode_shf(p);
  if (!strcmp(op, "lop3")) return decode_lop3(p);
  if (!strcmp(op, "bfind")) {
    p->i->op = take(p, "shiftamt");
    return decode_counts(p, bfind, bfind, T_U32);
  }
  return false;
}
