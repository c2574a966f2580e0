/* ptx_order.c - shadow memory: who touched a byte last, and is that in order with who touches it now?
 *
 * Each granule of memory has four records: the last weak write, the last read, an older read by another thread, and the
 * last strong write.  A record is a thread, the tick of its block's clock at that time, and whether the access was
 * strong (atomic, relaxed, volatile).  Two accesses to the same bytes, one of them a write, not both strong, must be in order:
 *
 *   - of one thread;
 *   - of one block, with a barrier of the block between them (tick < barrier_tick);
 *   - of one warp, with a bar.warp.sync of all its lanes between them (tick < synced);
 *   - by messages: a fence and a strong write of one thread, and a strong read of that location and a fence of the
 *     other.  A fence takes down what its thread knows to be done (`fenced`); the strong write puts that down beside
 *     the location; a strong read takes it along (`seen`), and the next fence makes it knowledge of the thread
 *     (`pending`), the next barrier knowledge of the block (`known`).  Release and acquire do both at once.
 *
 * Such knowledge is a clock: for each block, up to which tick all of it is done, and one of its threads that was
 * further.  A granule is as large as the smallest access to its page so far.
 */
#include "ptx_inner.h"

typedef unsigned long long ull;

enum { PAGE_SHIFT = 12, MOST_BLOCKS = 8192 };
enum { WRITTEN, READ, READ_BEFORE, WRITTEN_STRONGLY, RECORDS };
enum { TICK_BITS = 30 };
#define RECORD(thread, tick, strong, cached)                                        \
  ((uint64_t)(thread) << 32 | (uint64_t)(cached) << 31 | (uint64_t)(strong) << 30 | \
   ((tick) & ((1u << TICK_BITS) - 1)))
static inline uint32_t thread_of(uint64_t record) {
  return (uint32_t)(record >> 32);
} /* from 1; 0: no record */
static inline uint32_t tick_of(uint64_t record) { return (uint32_t)record & ((1u << TICK_BITS) - 1); }
static inline bool strong_of(uint64_t record) { return record >> 30 & 1; }
static inline bool cached_of(uint64_t record) { return record >> 31 & 1; }

typedef struct {
  uint64_t number;
  int shift;                /* of a granule */
  uint64_t *plane[RECORDS]; /* a record for each granule; NULL: none so far */
} page;

struct ptx_shadow {
  page **slot;
  size_t slots, count;
  page *last;
};

typedef struct {
  uint32_t block_tick, thread, thread_tick, warp_tick;
} known_block;
struct ptx_clock {
  known_block of[1];
};

typedef struct {
  uint64_t key;
  ptx_clock *clock;
} location;
struct ptx_orders {
  location *slot;
  size_t slots, count;
};

/* ---- Pages ---- */

static size_t plane_bytes(int shift) { return ((size_t)1 << (PAGE_SHIFT - shift)) * sizeof(uint64_t); }

static void page_free(page *p) {
  for (int k = 0; p && k < RECORDS; k++) ptx_pool_give(p->plane[k], plane_bytes(p->shift));
  free(p);
}

static inline uint64_t get(const page *p, int k, size_t at) { return p->plane[k] ? p->plane[k][at] : 0; }

static void put(ptx_warp *w, page *p, int k, size_t at, uint64_t record) {
  if (!p->plane[k]) {
    if (!record) return;
    if (!(p->plane[k] = ptx_pool_take(plane_bytes(p->shift)))) {
      ptx_fault(w, 0, "out of memory");
      return;
    }
    memset(p->plane[k], 0, plane_bytes(p->shift));
  }
  p->plane[k][at] = record;
}

ptx_shadow *ptx_shadow_new(void) { return calloc(1, sizeof(ptx_shadow)); }

void ptx_shadow_clear(ptx_shadow *s) {
  for (size_t k = 0; k < s->slots; k++) page_free(s->slot[k]);
  free(s->slot);
  *s = (ptx_shadow){0};
}

void ptx_shadow_free(ptx_shadow *s) {
  if (s) ptx_shadow_clear(s);
  free(s);
}

static size_t spread(uint64_t x) { return (size_t)((x * 0x9e3779b97f4a7c15u) >> 20); }

static bool grow_pages(ptx_shadow *s) {
  size_t slots = s->slots ? 2 * s->slots : 64;
  page **slot = calloc(slots, sizeof *slot);
  if (!slot) return false;
  for (size_t k = 0; k < s->slots; k++) {
    if (!s->slot[k]) continue;
    size_t at = spread(s->slot[k]->number) & (slots - 1);
    while (slot[at]) at = (at + 1) & (slots - 1);
    slot[at] = s->slot[k];
  }
  free(s->slot);
  s->slot = slot;
  s->slots = slots;
  return true;
}

static page *find_page(ptx_shadow *s, uint64_t address, int shift) {
  uint64_t number = address >> PAGE_SHIFT;
  if (s->last && s->last->number == number) return s->last;
  if (2 * s->count >= s->slots && !grow_pages(s)) return NULL;
  size_t at = spread(number) & (s->slots - 1);
  while (s->slot[at] && s->slot[at]->number != number) at = (at + 1) & (s->slots - 1);
  if (!s->slot[at]) {
    page *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->number = number;
    p->shift = shift;
    s->slot[at] = p;
    s->count++;
  }
  return s->last = s->slot[at];
}

static bool refine(page *p, int shift) {
  size_t granules = (size_t)1 << (PAGE_SHIFT - shift);
  int parts = p->shift - shift;
  for (int k = 0; k < RECORDS; k++) {
    if (!p->plane[k]) continue;
    uint64_t *finer = ptx_pool_take(plane_bytes(shift));
    if (!finer) return false;
    for (size_t n = 0; n < granules; n++) finer[n] = p->plane[k][n >> parts];
    ptx_pool_give(p->plane[k], plane_bytes(p->shift));
    p->plane[k] = finer;
  }
  p->shift = shift;
  return true;
}

/* ---- Clocks ---- */

static ptx_clock *new_clock(ptx_warp *w) {
  if (w->run->blocks > MOST_BLOCKS) {
    ptx_fault(w, 0, "fences in more than %d blocks: races cannot be looked for", MOST_BLOCKS);
    return NULL;
  }
  ptx_clock *c = calloc(w->run->blocks, sizeof(known_block));
  if (!c) ptx_fault(w, 0, "out of memory");
  return c;
}

static void join_block(known_block *a, const known_block *b) {
  if (b->block_tick > a->block_tick) a->block_tick = b->block_tick;
  if (b->thread && (!a->thread || b->thread_tick > a->thread_tick)) {
    a->thread = b->thread;
    a->thread_tick = b->thread_tick;
    a->warp_tick = b->warp_tick;
  }
}

/* *a learns b, which may be NULL. */
static void join(ptx_warp *w, ptx_clock **a, const ptx_clock *b) {
  if (!b || (!*a && !(*a = new_clock(w)))) return;
  for (uint32_t k = 0; k < w->run->blocks; k++) join_block(&(*a)->of[k], &b->of[k]);
}

static void drop(ptx_clock **c) {
  free(*c);
  *c = NULL;
}

/* All that the thread knows to be done, with what it did itself. */
static void take_down(ptx_warp *w, int lane, ptx_clock **c) {
  ptx_block *b = w->block;
  join(w, c, b->known);
  join(w, c, w->pending[lane]);
  if (!*c && !(*c = new_clock(w))) return;
  join_block(&(*c)->of[b->number],
             &(known_block){b->barrier_tick, w->first + (uint32_t)lane + 1, b->tick, w->synced});
}

static bool done_by(const ptx_warp *w, const known_block *k, uint64_t record) {
  uint32_t tick = tick_of(record), thread = thread_of(record);
  if (tick < k->block_tick) return true;
  if (!k->thread) return false;
  if (thread == k->thread) return tick <= k->thread_tick;
  uint32_t threads = w->run->threads;
  uint32_t warp = (thread - 1) % threads / LANES, known_warp = (k->thread - 1) % threads / LANES;
  return warp == known_warp && tick < k->warp_tick;
}

static bool in_order(const ptx_warp *w, int lane, uint64_t record) {
  uint32_t thread = thread_of(record), me = w->first + (uint32_t)lane + 1, tick = tick_of(record);
  if (thread == me) return true;
  const ptx_block *b = w->block;
  uint32_t block = (thread - 1) / w->run->threads;
  if (block == b->number) {
    if (tick < b->barrier_tick) return true;
    bool same_warp = thread > w->first && thread <= w->first + LANES;
    if (same_warp && tick < w->synced) return true;
  }
  if (b->known && done_by(w, &b->known->of[block], record)) return true;
  return w->pending[lane] && done_by(w, &w->pending[lane]->of[block], record);
}

/* ---- Locations of strong accesses ---- */

static location *find_location(struct ptx_orders *o, uint64_t key, bool create) {
  if (create && 2 * o->count >= o->slots) {
    struct ptx_orders larger = {calloc(o->slots ? 2 * o->slots : 64, sizeof *o->slot),
                                o->slots ? 2 * o->slots : 64, 0};
    if (!larger.slot) return NULL;
    for (size_t k = 0; k < o->slots; k++)
      if (o->slot[k].clock) find_location(&larger, o->slot[k].key, true)->clock = o->slot[k].clock;
    free(o->slot);
    *o = larger;
  }
  if (!o->slots) return NULL;
  size_t at = spread(key) & (o->slots - 1);
  while (o->slot[at].key && o->slot[at].key != key) at = (at + 1) & (o->slots - 1);
  if (!o->slot[at].key) {
    if (!create) return NULL;
    o->slot[at].key = key;
    o->count++;
  }
  return &o->slot[at];
}

static void exchange_knowledge(ptx_warp *w, int lane, const ptx_place_at *at, ptx_access access,
                               const ptx_inst *i) {
  uint64_t key =
      at->address | (at->space == SPACE_SHARED ? SHARED_WINDOW | (uint64_t)w->block->number << 32 : 0);
  location *found = find_location(w->run->orders, key, false);
  if (access != ACCESS_WRITE && found)
    join(w, i->order & ORDER_ACQUIRE ? &w->pending[lane] : &w->seen[lane], found->clock);
  if (access == ACCESS_READ) return;
  if (access == ACCESS_WRITE && found) drop(&found->clock);
  bool release = i->order & ORDER_RELEASE;
  if (!release && !w->fenced[lane]) return;
  if (!found && !(found = find_location(w->run->orders, key, true))) {
    ptx_fault(w, lane, "out of memory");
    return;
  }
  if (release) {
    take_down(w, lane, &found->clock);
    w->block->tick++;
  } else join(w, &found->clock, w->fenced[lane]);
}

/* ---- Accesses ---- */

static void race(ptx_warp *w, int lane, const ptx_place_at *at, ptx_access access, uint64_t record,
                 bool wrote) {
  const ptx_launch *launch = w->run->launch;
  uint32_t thread = thread_of(record) - 1, block = thread / w->run->threads, t = thread % w->run->threads;
  const unsigned *g = launch->grid, *n = launch->block;
  ptx_fault(w, lane,
            "race: this thread %s %s memory at 0x%llx, block (%u,%u,%u) thread (%u,%u,%u) %s it, and nothing "
            "puts them in order",
            access == ACCESS_READ ? "reads" : "writes", at->space == SPACE_SHARED ? "shared" : "global",
            (ull)at->address, block % g[0], block / g[0] % g[1], block / g[0] / g[1], t % n[0],
            t / n[0] % n[1], t / n[0] / n[1], wrote ? "wrote" : "read");
}

static bool conflicts(ptx_warp *w, int lane, uint64_t record, bool strong) {
  return record && !(strong && strong_of(record)) && !in_order(w, lane, record);
}

static void take_read(ptx_warp *w, int lane, page *p, size_t g, uint64_t me, bool cached) {
  uint64_t last = get(p, READ, g), before = get(p, READ_BEFORE, g);
  bool same = thread_of(last) == thread_of(me);
  cached |= cached_of(last);
  if (last && !same && (!before || in_order(w, lane, before))) put(w, p, READ_BEFORE, g, last);
  put(w, p, READ, g, (!same || !strong_of(me) ? me : last) | (uint64_t)cached << 31);
}

static void take_write(ptx_warp *w, page *p, size_t g, uint64_t me) {
  if (strong_of(me)) { /* the others are not over for the next strong access */
    put(w, p, WRITTEN_STRONGLY, g, me);
    return;
  }
  put(w, p, WRITTEN, g, me);
  put(w, p, READ, g, 0);
  put(w, p, READ_BEFORE, g, 0);
  put(w, p, WRITTEN_STRONGLY, g, 0);
}

/* One granule. */
static bool check(ptx_warp *w, int lane, page *p, size_t g, const ptx_place_at *at, ptx_access access,
                  const ptx_inst *i) {
  bool strong = i->order & ORDER_STRONG;
  uint64_t me = RECORD(w->first + (uint32_t)lane + 1, w->block->tick, strong, 0);
  if (i->cached && (get(p, WRITTEN, g) || get(p, WRITTEN_STRONGLY, g))) {
    ptx_fault(w, lane, "ld.global.nc of 0x%llx, which this launch writes", (ull)at->address);
    return false;
  }
  if (access != ACCESS_READ && cached_of(get(p, READ, g))) {
    ptx_fault(w, lane, "writes 0x%llx, which this launch reads by ld.global.nc", (ull)at->address);
    return false;
  }
  for (int k = 0; k < RECORDS; k++) {
    bool wrote = k == WRITTEN || k == WRITTEN_STRONGLY;
    if (!p->plane[k] || (!wrote && access == ACCESS_READ) || !conflicts(w, lane, p->plane[k][g], strong))
      continue;
    race(w, lane, at, access, p->plane[k][g], wrote);
    return false;
  }
  if (access == ACCESS_READ) take_read(w, lane, p, g, me, i->cached);
  else take_write(w, p, g, me);
  return true;
}

void ptx_order_access(ptx_warp *w, int lane, const ptx_place_at *at, int bytes, ptx_access access,
                      const ptx_inst *i) {
  if (w->run->launch->unchecked & PTX_NO_RACES) return;
  ptx_shadow *s = at->space == SPACE_SHARED ? w->block->shadow : w->run->shadow;
  int shift = __builtin_ctz((unsigned)bytes);
  page *p = find_page(s, at->address, shift);
  if (!p || (p->shift > shift && !refine(p, shift))) {
    ptx_fault(w, lane, "out of memory");
    return;
  }
  if (i->order) exchange_knowledge(w, lane, at, access, i);
  size_t from = (at->address & ((1u << PAGE_SHIFT) - 1)) >> p->shift, granules = (size_t)bytes >> p->shift;
  for (size_t k = 0; k < granules; k++)
    if (!check(w, lane, p, from + k, at, access, i)) return;
}

/* ---- Fences and barriers ---- */

void ptx_order_fence(ptx_warp *w, uint32_t lanes) {
  if (w->run->launch->unchecked & PTX_NO_RACES) return;
  for (uint32_t left = lanes; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    join(w, &w->pending[l], w->seen[l]);
    drop(&w->seen[l]);
    drop(&w->fenced[l]);
    take_down(w, l, &w->fenced[l]);
  }
  w->block->tick++;
}

void ptx_order_barrier(ptx_block *b) {
  for (int k = 0; k < b->warps; k++)
    for (int l = 0; l < LANES; l++) {
      join(&b->warp[k], &b->known, b->warp[k].pending[l]);
      drop(&b->warp[k].pending[l]);
    }
}

void ptx_order_warp(ptx_warp *w, uint32_t lanes) {
  if (lanes != w->live) return; /* of some lanes: in order, but not taken down */
  w->synced = ++w->block->tick;
  ptx_clock *all = NULL;
  for (int l = 0; l < LANES; l++) join(w, &all, w->pending[l]);
  for (int l = 0; all && l < LANES; l++)
    if (lanes >> l & 1) join(w, &w->pending[l], all);
  drop(&all);
}

/* ---- Beginning and end ---- */

bool ptx_order_init(ptx_run_state *r) {
  r->shadow = ptx_shadow_new();
  r->orders = calloc(1, sizeof *r->orders);
  return r->shadow && r->orders;
}

void ptx_order_block_end(ptx_block *b) {
  for (int k = 0; k < b->warps; k++)
    for (int l = 0; l < LANES; l++) {
      drop(&b->warp[k].seen[l]);
      drop(&b->warp[k].fenced[l]);
      drop(&b->warp[k].pending[l]);
    }
  drop(&b->known);
  if (b->shadow) ptx_shadow_clear(b->shadow);
}

void ptx_order_fini(ptx_run_state *r) {
  ptx_shadow_free(r->shadow);
  for (size_t k = 0; r->orders && k < r->orders->slots; k++) free(r->orders->slot[k].clock);
  if (r->orders) free(r->orders->slot);
  free(r->orders);
}
