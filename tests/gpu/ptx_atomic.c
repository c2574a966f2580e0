/* ptx_atomic.c - atom, red, fence and membar.
 *
 * The lanes of a warp take their turns from a random one on: their order is not defined.
 */
#include <math.h>
#include "../../src/core/base/half.h"
#include "ptx_inner.h"

enum { ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_EXCH, ATOM_ADD, ATOM_INC, ATOM_DEC, ATOM_MIN, ATOM_MAX, ATOM_CAS };

static float flushed(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }

static uint64_t half_sum(uint64_t x, uint64_t y) {
  float r = lgt_half_to_float((uint16_t)x) + lgt_half_to_float((uint16_t)y);
  return isnan(r) ? NAN_F16 : lgt_half_from_float(r);
}

static uint64_t sum(const ptx_inst *i, uint64_t old, uint64_t b, bool global) {
  if (i->type == T_F64) {
    double r = double_of(old) + double_of(b);
    return isnan(r) ? NAN_F64 : bits_of_double(r);
  }
  if (i->type == T_F32) { /* global memory's adder knows no subnormal numbers */
    float x = float_of(old), y = float_of(b);
    float r = global ? flushed(flushed(x) + flushed(y)) : x + y;
    return isnan(r) ? NAN_F32 : bits_of_float(r);
  }
  if (i->type == T_F16) return half_sum(old, b);
  if (i->type == T_F16X2) return half_sum(old >> 16, b >> 16) << 16 | half_sum(old, b);
  return old + b;
}

static bool less(const ptx_inst *i, uint64_t a, uint64_t b) {
  if (i->type == T_S32) return (int32_t)a < (int32_t)b;
  return i->type == T_S64 ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t updated(const ptx_inst *i, uint64_t old, uint64_t b, uint64_t c, bool global) {
  switch (i->op) {
    case ATOM_AND:
      return old & b;
    case ATOM_OR:
      return old | b;
    case ATOM_XOR:
      return old ^ b;
    case ATOM_EXCH:
      return b;
    case ATOM_ADD:
      return sum(i, old, b, global);
    case ATOM_INC:
      return old >= b ? 0 : old + 1;
    case ATOM_DEC:
      return old == 0 || old > b ? b : old - 1;
    case ATOM_MIN:
      return less(i, b, old) ? b : old;
    case ATOM_MAX:
      return less(i, old, b) ? b : old;
    default:
      return old == b ? c : old;
  }
}

static bool update(ptx_warp *w, const ptx_inst *i, int l) {
  int bytes = type_bytes(i->type);
  ptx_place_at at;
  if (!ptx_locate(w, l, i->space, in(w, i->s[0])[l] + (uint64_t)i->offset, bytes, bytes, &at)) return false;
  if (at.space == SPACE_LOCAL) {
    ptx_fault(w, l, "an atomic operation on local memory");
    return false;
  }
  for (int k = 0; k < bytes && at.written && !(w->run->launch->unchecked & PTX_NO_UNWRITTEN); k++)
    if (!at.written[k] && i->op != ATOM_EXCH) {
      ptx_fault(w, l, "memory at 0x%llx is updated and was never written", (unsigned long long)at.address);
      return false;
    }
  ptx_order_access(w, l, &at, bytes, ACCESS_UPDATE, i);
  uint64_t old = 0, b = in(w, i->s[1])[l], c = i->op == ATOM_CAS ? in(w, i->s[2])[l] : 0;
  memcpy(&old, at.host, (size_t)bytes);
  uint64_t new = updated(i, old, b, c, at.space == SPACE_GLOBAL);
  memcpy(at.host, &new, (size_t)bytes);
  if (at.written) memset(at.written, 1, (size_t)bytes);
  ptx_touch(&at, bytes, 3);
  if (i->nd) out(w, i->d[0])[l] = old;
  if (at.space == SPACE_GLOBAL) w->run->counts.atomics++;
  return !w->run->failed;
}

static void atomic(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  int first = (int)(ptx_random(&w->run->random) & 31);
  for (int k = 0; k < LANES; k++) {
    int l = (first + k) & 31;
    if (lanes >> l & 1 && !update(w, i, l)) return;
  }
}

static void fence(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  (void)i;
  ptx_order_fence(w, lanes);
}

/* ---- Decoding ---- */

static bool has_form(const ptx_inst *i, ptx_type t, bool reduction) {
  switch (i->op) {
    case ATOM_AND:
    case ATOM_OR:
    case ATOM_XOR:
      return t == T_B32 || t == T_B64;
    case ATOM_EXCH:
      return !reduction && (t == T_B32 || t == T_B64);
    case ATOM_CAS:
      return !reduction && (t == T_B16 || t == T_B32 || t == T_B64);
    case ATOM_INC:
    case ATOM_DEC:
      return t == T_U32;
    case ATOM_ADD:
      return t == T_U32 || t == T_S32 || t == T_U64 || t == T_F32 || t == T_F64 || t == T_F16 || t == T_F16X2;
    default:
      return t == T_U32 || t == T_S32 || t == T_U64 || t == T_S64;
  }
}

static void take_semantics(ptx_parser *p) {
  uint8_t *order = &p->i->order;
  *order = ORDER_STRONG;
  if (take(p, "acquire")) *order |= ORDER_ACQUIRE;
  else if (take(p, "release")) *order |= ORDER_RELEASE;
  else if (take(p, "acq_rel")) *order |= ORDER_ACQUIRE | ORDER_RELEASE;
  else take(p, "relaxed");
}

static bool decode_update(ptx_parser *p, bool reduction) {
  static const char *names[] = {"and", "or", "xor", "exch", "add", "inc", "dec", "min", "max", "cas"};
  ptx_inst *i = p->i;
  take_semantics(p);
  take_scope(p);
  ptx_space space = take_space(p);
  if (space != SPACE_GENERIC && space != SPACE_GLOBAL && space != SPACE_SHARED)
    parse_fail(p, "%s in that space", p->opcode);
  if (i->order == ORDER_STRONG) take_scope(p);
  uint8_t op = 0;
  while (op <= ATOM_CAS && !take(p, names[op])) op++;
  if (op > ATOM_CAS) parse_fail(p, "%s: an operation was expected", p->opcode);
  i->op = op;
  bool noftz = take(p, "noftz");
  ptx_type t = take_type(p);
  if (!has_form(i, t, reduction) || noftz != (t == T_F16 || t == T_F16X2))
    parse_fail(p, "%s.%s of .%s", p->opcode, names[op], ptx_types[t].name);
  i->type = t;
  if (!reduction) want_dst(p, t);
  want_address(p);
  bool named = i->to_space == SPACE_GLOBAL || i->to_space == SPACE_SHARED;
  if (named && i->to_space != space) parse_fail(p, "the name belongs to another state space");
  i->space = space;
  want_src(p, t);
  if (op == ATOM_CAS) want_src(p, t);
  i->run = atomic;
  return true;
}

bool decode_atomic(ptx_parser *p) {
  const char *op = p->opcode;
  if (!strcmp(op, "atom")) return decode_update(p, false);
  if (!strcmp(op, "red") && strcmp(p->mods ? p->mod[0] : "", "async")) return decode_update(p, true);
  if (!strcmp(op, "membar")) {
    if (!take(p, "gl") && !take(p, "cta") && !take(p, "sys")) parse_fail(p, "membar: a level was expected");
  } else if (!strcmp(op, "fence")) {
    if (!take(p, "sc")) take(p, "acq_rel");
    if (!take_scope(p)) parse_fail(p, "fence: a scope was expected");
  } else return false;
  p->i->run = fence;
  return true;
}
