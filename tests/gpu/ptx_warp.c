/* ptx_warp.c - what the lanes of a warp do together: shfl, vote, match, redux, bar.warp.sync, activemask.
 *
 * The handlers are called when all lanes of the mask have come; `lanes` are those that have not exited.
 */
#include "ptx_inner.h"

enum { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BFLY, SHUFFLE_IDX };

/* The lane that `l` reads; whether it is in range. */
static int source_lane(uint8_t mode, int l, uint32_t b, uint32_t c, bool *in_range) {
  int by = (int)(b & 31), segment = (int)(c >> 8 & 31), clamp = (int)(c & 31);
  int least = l & segment, most = least | (clamp & ~segment & 31), j = 0;
  switch (mode) {
    case SHUFFLE_UP:
      j = l - by, *in_range = j >= most;
      break;
    case SHUFFLE_DOWN:
      j = l + by, *in_range = j <= most;
      break;
    case SHUFFLE_BFLY:
      j = l ^ by, *in_range = j <= most;
      break;
    default:
      j = least | (by & ~segment & 31), *in_range = j <= most;
      break;
  }
  return *in_range ? j : l;
}

static void shuffle(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *b = in(w, i->s[1]), *c = in(w, i->s[2]);
  uint64_t old[LANES];
  memcpy(old, in(w, i->s[0]), sizeof old);
  uint32_t ranges = 0;
  for (int l = 0; l < LANES; l++) {
    if (!(lanes >> l & 1)) continue;
    bool in_range;
    int from = source_lane(i->op, l, (uint32_t)b[l], (uint32_t)c[l], &in_range);
    if (!(lanes >> from & 1)) {
      ptx_fault(w, l, "a shuffle from lane %d, which takes no part", from);
      return;
    }
    out(w, i->d[0])[l] = old[from] & 0xffffffffu;
    ranges |= (uint32_t)in_range << l;
  }
  set_pred(w, i->dp, lanes, ranges);
}

enum { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };

static void vote(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  uint32_t yes = pred_of(w, i->sp) & lanes;
  if (i->op == VOTE_BALLOT) {
    uint64_t *d = out(w, i->d[0]);
    EACH_LANE({ d[l] = yes; });
    return;
  }
  bool result = i->op == VOTE_ALL ? yes == lanes : i->op == VOTE_ANY ? yes != 0 : yes == lanes || !yes;
  set_pred(w, i->dp, lanes, result ? ALL_LANES : 0);
}

static void match(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  uint64_t value[LANES], mask = i->type == T_B32 ? 0xffffffffu : ~(uint64_t)0;
  memcpy(value, in(w, i->s[0]), sizeof value);
  uint32_t all = 0;
  for (int l = 0; l < LANES; l++) {
    uint32_t same = 0;
    if (!(lanes >> l & 1)) continue;
    for (int k = 0; k < LANES; k++) same |= (uint32_t)((value[k] & mask) == (value[l] & mask)) << k;
    same &= lanes;
    if (i->op && same != lanes) same = 0;
    out(w, i->d[0])[l] = same;
    if (same == lanes) all |= 1u << l;
  }
  set_pred(w, i->dp, lanes, all);
}

enum { REDUX_ADD, REDUX_MIN, REDUX_MAX, REDUX_AND, REDUX_OR, REDUX_XOR };

static uint32_t reduced(const ptx_inst *i, uint32_t a, uint32_t b) {
  bool is_signed = i->type == T_S32;
  bool less = is_signed ? (int32_t)a < (int32_t)b : a < b;
  switch (i->op) {
    case REDUX_ADD:
      return a + b;
    case REDUX_MIN:
      return less ? a : b;
    case REDUX_MAX:
      return less ? b : a;
    case REDUX_AND:
      return a & b;
    case REDUX_OR:
      return a | b;
    default:
      return a ^ b;
  }
}

static void redux(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]);
  int first = __builtin_ctz(lanes);
  uint32_t r = (uint32_t)x[first];
  for (int l = first + 1; l < LANES; l++)
    if (lanes >> l & 1) r = reduced(i, r, (uint32_t)x[l]);
  uint64_t *d = out(w, i->d[0]);
  EACH_LANE({ d[l] = r; });
}

static void warp_barrier(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  (void)i;
  ptx_order_warp(w, lanes);
}

static void active_mask(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  uint64_t *d = out(w, i->d[0]);
  EACH_LANE({ d[l] = lanes; });
}

/* ---- Decoding ---- */

static uint8_t take_one(ptx_parser *p, const char *const *names, int count) {
  for (int k = 0; k < count; k++)
    if (take(p, names[k])) return (uint8_t)k;
  parse_fail(p, "%s: %s or another one was expected", p->opcode, names[0]);
}

static void want_sync(ptx_parser *p) {
  if (!take(p, "sync")) parse_fail(p, "%s without .sync, which later chips do not have", p->opcode);
  p->i->control = TOGETHER;
}

static void decode_shuffle(ptx_parser *p) {
  static const char *modes[] = {"up", "down", "bfly", "idx"};
  want_sync(p);
  p->i->op = take_one(p, modes, 4);
  if (!take(p, "b32")) parse_fail(p, "shfl: .b32 was expected");
  p->i->run = shuffle;
  want_dst(p, T_B32);
  want_second_pred(p);
  for (int k = 0; k < 4; k++) want_src(p, T_B32);
}

static void decode_vote(ptx_parser *p) {
  static const char *modes[] = {"all", "any", "uni", "ballot"};
  want_sync(p);
  p->i->op = take_one(p, modes, 4);
  bool ballot = p->i->op == VOTE_BALLOT;
  if (!take(p, ballot ? "b32" : "pred")) parse_fail(p, "vote: its type was expected");
  p->i->run = vote;
  if (ballot) want_dst(p, T_B32);
  else want_dst_pred(p);
  want_src_pred(p);
  want_src(p, T_B32);
}

static void decode_match(ptx_parser *p) {
  static const char *modes[] = {"any", "all"};
  p->i->op = take_one(p, modes, 2);
  want_sync(p);
  ptx_type t = take_type(p);
  if (t != T_B32 && t != T_B64) parse_fail(p, "match of .%s", ptx_types[t].name);
  p->i->type = t;
  p->i->run = match;
  want_dst(p, T_B32);
  if (p->i->op) want_second_pred(p);
  want_src(p, t);
  want_src(p, T_B32);
}

static void decode_redux(ptx_parser *p) {
  static const char *modes[] = {"add", "min", "max", "and", "or", "xor"};
  want_sync(p);
  p->i->op = take_one(p, modes, 6);
  ptx_type t = take_type(p);
  bool bits = p->i->op >= REDUX_AND;
  if (bits ? t != T_B32 : t != T_U32 && t != T_S32) parse_fail(p, "redux of .%s", ptx_types[t].name);
  p->i->type = t;
  p->i->run = redux;
  want_dst(p, t);
  want_src(p, t);
  want_src(p, T_B32);
}

bool decode_warp(ptx_parser *p) {
  const char *op = p->opcode;
  if (!strcmp(op, "shfl")) decode_shuffle(p);
  else if (!strcmp(op, "vote")) decode_vote(p);
  else if (!strcmp(op, "match")) decode_match(p);
  else if (!strcmp(op, "redux")) decode_redux(p);
  else if (!strcmp(op, "bar") && take(p, "warp")) {
    want_sync(p);
    p->i->run = warp_barrier;
    want_src(p, T_B32);
  } else if (!strcmp(op, "activemask")) {
    if (!take(p, "b32")) parse_fail(p, "activemask: .b32 was expected");
    p->i->run = active_mask;
    want_dst(p, T_B32);
  } else return false;
  return true;
}
