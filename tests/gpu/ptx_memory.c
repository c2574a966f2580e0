/* ptx_memory.c - loads and stores, and where addresses lie.
 *
 * Each lane's access is checked by itself: space, bounds, alignment, whether the bytes were written, and (ptx_order.c)
 * whether other threads' accesses to them are in order with it.
 */
#include "ptx_inner.h"

typedef unsigned long long ull;

/* ---- Where an address lies ---- */

static bool find_global(ptx_warp *w, int lane, uint64_t address, int bytes, ptx_place_at *out) {
  const ptx_memory *m = NULL;
  for (int k = 0; k < 4 && !m; k++) {
    const ptx_memory *c = &w->cache[k];
    if (address - c->base < c->bytes) m = c;
  }
  if (!m) {
    ptx_memory found = {0};
    const ptx_launch *launch = w->run->launch;
    if (!launch->find || !launch->find(launch->context, address, &found) ||
        address - found.base >= found.bytes) {
      ptx_fault(w, lane, "global address 0x%llx is in no allocation (%d bytes)", (ull)address, bytes);
      return false;
    }
    w->cache[w->cached = (w->cached + 1) & 3] = found;
    m = &w->cache[w->cached];
  }
  uint64_t offset = address - m->base;
  if (m->bytes - offset < (uint64_t)bytes) {
    ptx_fault(w, lane,
              "out of bounds: %d bytes at 0x%llx, the allocation of %llu bytes ends after %llu of them",
              bytes, (ull)address, (ull)m->bytes, (ull)(m->bytes - offset));
    return false;
  }
  out->host = m->host + offset;
  out->written = m->written ? m->written + offset : NULL;
  out->touched = m->touched ? m->touched + offset : NULL;
  return true;
}

bool ptx_locate(ptx_warp *w, int lane, ptx_space space, uint64_t address, int bytes, int align,
                ptx_place_at *out) {
  if (space == SPACE_GENERIC) {
    uint64_t window = address & WINDOW_MASK;
    space = window == SHARED_WINDOW ? SPACE_SHARED : window == LOCAL_WINDOW ? SPACE_LOCAL : SPACE_GLOBAL;
    if (space != SPACE_GLOBAL) address &= ~WINDOW_MASK;
  }
  if (space == SPACE_CONST) space = SPACE_GLOBAL;
  out->space = space;
  out->address = address;
  out->touched = NULL;
  if (address & (uint64_t)(align - 1)) {
    ptx_fault(w, lane, "misaligned: %d bytes at 0x%llx", align, (ull)address);
    return false;
  }
  if (space == SPACE_GLOBAL) return find_global(w, lane, address, bytes, out);
  uint64_t size = space == SPACE_SHARED ? w->run->shared_bytes : w->run->local_bytes;
  if (address > size || size - address < (uint64_t)bytes) {
    ptx_fault(w, lane, "out of bounds: %d bytes at %s address 0x%llx of %llu", bytes,
              space == SPACE_SHARED ? "shared" : "local", (ull)address, (ull)size);
    return false;
  }
  if (space == SPACE_SHARED) {
    out->host = w->block->shared + address;
    out->written = (uint8_t *)w->block->shared_written + address;
  } else {
    size_t at = (size_t)lane * w->run->local_bytes + address;
    out->host = w->local + at;
    out->written = (uint8_t *)w->local_written + at;
  }
  return true;
}

/* ---- Loads ---- */

static inline uint64_t extended(const ptx_inst *i, uint64_t x) {
  if (!type_signed(i->type)) return x;
  int shift = 64 - 8 * type_bytes(i->type);
  return (uint64_t)((int64_t)(x << shift) >> shift) & (~(uint64_t)0 >> (64 - 8 * i->width));
}

static void unwritten(ptx_warp *w, int lane, const ptx_place_at *at, int bytes) {
  static const char *names[] = {
      [SPACE_GLOBAL] = "global", [SPACE_SHARED] = "shared", [SPACE_LOCAL] = "local"};
  if (w->run->launch->unchecked & PTX_NO_UNWRITTEN) return;
  for (int k = 0; k < bytes; k++)
    if (!at->written[k]) {
      ptx_fault(w, lane, "%s memory at 0x%llx is read and was never written", names[at->space],
                (ull)at->address + (ull)k);
      return;
    }
}

static inline uint64_t fetch(const char *from, int bytes) {
  uint64_t x = 0;
  switch (bytes) { /* sizes that a compiler knows */
    case 1:
      memcpy(&x, from, 1);
      break;
    case 2:
      memcpy(&x, from, 2);
      break;
    case 4:
      memcpy(&x, from, 4);
      break;
    default:
      memcpy(&x, from, 8);
      break;
  }
  return x;
}

static inline void put_values(ptx_warp *w, const ptx_inst *i, int lane, const char *from) {
  int bytes = type_bytes(i->type);
  for (int k = 0; k < i->nd; k++) out(w, i->d[k])[lane] = extended(i, fetch(from + k * bytes, bytes));
}

/* Reads are 1, writes 2. */
void ptx_touch(const ptx_place_at *at, int bytes, uint8_t how) {
  for (int k = 0; at->touched && k < bytes; k++) at->touched[k] |= how;
}

/* The pieces of memory that a warp's access comes to, each once. */
typedef struct sectors {
  uint64_t found[32];
  int count;
} sectors;

static void note_sector(sectors *s, uint64_t address) {
  int k = s->count - 1;
  while (k >= 0 && s->found[k] != address / 32) k--;
  if (k < 0) s->found[s->count++] = address / 32;
}

static void load(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *base = in(w, i->s[0]);
  sectors s = {.count = 0};
  int bytes = type_bytes(i->type) * i->nd;
  for (uint32_t left = lanes; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    ptx_place_at at;
    if (!ptx_locate(w, l, i->space, base[l] + (uint64_t)i->offset, bytes, bytes, &at)) return;
    if (at.written) unwritten(w, l, &at, bytes);
    if (at.space != SPACE_LOCAL) ptx_order_access(w, l, &at, bytes, ACCESS_READ, i);
    put_values(w, i, l, at.host);
    ptx_touch(&at, bytes, 1);
    if (at.space != SPACE_GLOBAL) continue;
    w->run->counts.loads++;
    w->run->counts.load_bytes += (uint64_t)bytes;
    note_sector(&s, base[l] + (uint64_t)i->offset);
    w->far |= 1u << l;
  }
  w->run->counts.sectors += (uint64_t)s.count;
}

/* A parameter of a kernel is the same for all. */
static void load_uniform(ptx_warp *w, const ptx_inst *i, uint32_t lanes, const char *from) {
  int bytes = type_bytes(i->type);
  for (int k = 0; k < i->nd; k++) {
    uint64_t x = extended(i, fetch(from + k * bytes, bytes)), *d = out(w, i->d[k]);
    EACH_LANE({ d[l] = x; });
  }
}

/* Those of a function are each lane's. */
static void load_param(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *base = in(w, i->s[0]);
  bool entry = i->space == SPACE_ENTRY;
  size_t size = entry ? w->run->f->param_bytes : w->frame->param_stride;
  int bytes = type_bytes(i->type) * i->nd;
  for (uint32_t left = lanes; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    uint64_t at = base[l] + (uint64_t)i->offset;
    if (at & (uint64_t)(bytes - 1)) {
      ptx_fault(w, l, "misaligned: %d bytes at parameter address %llu", bytes, (ull)at);
      return;
    }
    if (at > size || size - at < (uint64_t)bytes) {
      ptx_fault(w, l, "out of bounds: %d bytes at parameter address %llu of %zu", bytes, (ull)at, size);
      return;
    }
    bool all = entry;
    for (uint32_t rest = all ? left : 0; rest; rest &= rest - 1) all &= base[__builtin_ctz(rest)] == base[l];
    if (all) {
      load_uniform(w, i, left, w->run->params + at);
      return;
    }
    put_values(w, i, l, entry ? w->run->params + at : w->frame->param + (size_t)l * size + at);
  }
}

/* ---- Stores ---- */

static void get_values(ptx_warp *w, const ptx_inst *i, int lane, char *to) {
  int bytes = type_bytes(i->type);
  for (int k = 0; k < i->count; k++) memcpy(to + k * bytes, &in(w, i->s[1 + k])[lane], (size_t)bytes);
}

static void store(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *base = in(w, i->s[0]);
  sectors s = {.count = 0};
  int bytes = type_bytes(i->type) * i->count;
  for (uint32_t left = lanes; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    ptx_place_at at;
    if (!ptx_locate(w, l, i->space, base[l] + (uint64_t)i->offset, bytes, bytes, &at)) return;
    if (at.space != SPACE_LOCAL) ptx_order_access(w, l, &at, bytes, ACCESS_WRITE, i);
    if (at.written) memset(at.written, 1, (size_t)bytes);
    ptx_touch(&at, bytes, 2);
    get_values(w, i, l, at.host);
    if (at.space != SPACE_GLOBAL) continue;
    w->run->counts.stores++;
    w->run->counts.store_bytes += (uint64_t)bytes;
    note_sector(&s, base[l] + (uint64_t)i->offset);
  }
  w->run->counts.sectors += (uint64_t)s.count;
}

static void store_param(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  size_t bytes = (size_t)(type_bytes(i->type) * i->count), size = w->frame->param_stride;
  const uint64_t *base = in(w, i->s[0]);
  for (uint32_t left = lanes; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    uint64_t at = base[l] + (uint64_t)i->offset;
    if (at > size || size - at < bytes) {
      ptx_fault(w, l, "out of bounds: %zu bytes at parameter address %llu of %zu", bytes, (ull)at, size);
      return;
    }
    get_values(w, i, l, w->frame->param + (size_t)l * size + at);
  }
}

/* ---- isspacep ---- */

static void is_space(ptx_warp *w, const ptx_inst *i, uint32_t lanes) {
  const uint64_t *x = in(w, i->s[0]);
  uint32_t m = 0;
  for (int l = 0; l < LANES; l++) {
    uint64_t window = x[l] & WINDOW_MASK;
    ptx_space space = window == SHARED_WINDOW  ? SPACE_SHARED
                      : window == LOCAL_WINDOW ? SPACE_LOCAL
                                               : SPACE_GLOBAL;
    m |= (uint32_t)(space == i->space) << l;
  }
  set_pred(w, i->dp, lanes, m);
}

/* ---- Decoding ---- */

static void take_order(ptx_parser *p, bool is_load) {
  ptx_inst *i = p->i;
  if (take(p, "weak")) return;
  if (take(p, "volatile")) i->order = ORDER_STRONG;
  else if (take(p, "relaxed")) i->order = ORDER_STRONG;
  else if (is_load && take(p, "acquire")) i->order = ORDER_STRONG | ORDER_ACQUIRE;
  else if (!is_load && take(p, "release")) i->order = ORDER_STRONG | ORDER_RELEASE;
  else return;
  bool scope = take_scope(p);
  if (!scope && strcmp(p->mod[p->mod_at - 1], "volatile"))
    parse_fail(p, "%s: a scope was expected", p->opcode);
}

/* Hints for the caches, which change nothing. */
static void take_hint(ptx_parser *p) {
  static const char *names[] = {"ca", "cg", "cs", "lu", "cv", "wb", "wt"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    if (take(p, names[k])) return;
}

static int take_vector(ptx_parser *p) { return take(p, "v2") ? 2 : take(p, "v4") ? 4 : 1; }

/* The name in the address must belong to the space that the instruction says. */
static void settle_space(ptx_parser *p, ptx_space space) {
  ptx_inst *i = p->i;
  ptx_space named = i->to_space;
  if (space == SPACE_PARAM) {
    i->space = named == SPACE_GENERIC ? (p->f->entry ? SPACE_ENTRY : SPACE_PARAM) : named;
    if (i->space != SPACE_ENTRY && i->space != SPACE_PARAM) parse_fail(p, "the name is no parameter");
    return;
  }
  i->space = space;
  bool global = named == SPACE_GLOBAL || named == SPACE_CONST;
  if (named != SPACE_GENERIC && named != space && !(space == SPACE_GENERIC && global))
    parse_fail(p, "the name belongs to another state space");
}

static bool decode_load(ptx_parser *p) {
  ptx_inst *i = p->i;
  take_order(p, true);
  ptx_space space = take_space(p);
  take_hint(p);
  i->cached = space == SPACE_GLOBAL && take(p, "nc");
  if (i->cached && i->order) parse_fail(p, "ld.nc with an order");
  i->count = (uint8_t)take_vector(p);
  ptx_type t = take_type(p);
  if (t == T_PRED || t == T_F16 || t == T_F16X2 || type_bytes(t) * i->count > 16)
    parse_fail(p, "ld of .%s", ptx_types[t].name);
  i->type = t;
  if (i->count > 1) want_dst_vector(p, t, i->count, true);
  else want_dst_wide(p, t);
  want_address(p);
  settle_space(p, space);
  i->run = space == SPACE_PARAM ? load_param : load;
  return true;
}

static bool decode_store(ptx_parser *p) {
  ptx_inst *i = p->i;
  take_order(p, false);
  ptx_space space = take_space(p);
  take_hint(p);
  i->count = (uint8_t)take_vector(p);
  ptx_type t = take_type(p);
  if (t == T_PRED || t == T_F16 || t == T_F16X2 || type_bytes(t) * i->count > 16)
    parse_fail(p, "st of .%s", ptx_types[t].name);
  if (space == SPACE_CONST) parse_fail(p, "st to constants");
  i->type = t;
  want_address(p);
  settle_space(p, space);
  if (i->space == SPACE_ENTRY) parse_fail(p, "st to a kernel's parameter");
  if (i->count > 1) want_src_vector(p, t, i->count);
  else want_src_wide(p, t);
  i->run = space == SPACE_PARAM ? store_param : store;
  return true;
}

static bool decode_isspacep(ptx_parser *p) {
  p->i->space = take_space(p);
  if (p->i->space != SPACE_GLOBAL && p->i->space != SPACE_SHARED && p->i->space != SPACE_LOCAL)
    parse_fail(p, "isspacep: .global, .shared or .local was expected");
  p->i->run = is_space;
  want_dst_pred(p);
  want_src(p, T_B64);
  return true;
}

bool decode_memory(ptx_parser *p) {
  if (!strcmp(p->opcode, "ld") || !strcmp(p->opcode, "ldu")) return decode_load(p);
  if (!strcmp(p->opcode, "st")) return decode_store(p);
  return !strcmp(p->opcode, "isspacep") && decode_isspacep(p);
}
