/* pool.c - see pool.h.
 *
 * Sizes are rounded up to a quarter of a power of two, four classes for each octave, so a fresh block wastes at most a
 * quarter and programs that allocate the same shapes again and again hit the same list.  A large request may get a free
 * block of the next two classes.  Lists are last in, first out: the warmest block is reused first.
 */
#include "memory/pool.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

enum { WAIT_US = 200 }; /* between looks whether others have given scratch memory back */
enum { IDLE_SHARE = 2, IDLE_LEAST = 16 << 20 }; /* where fresh memory is needed: of what is in use; bytes */
/* Blocks of so many bytes may be larger than asked for, by so many classes. */
enum { LARGE = 1 << 20, NEAR = 2 };

/* Before a block of scratch or host memory. */
typedef union head {
  struct {
    lgt_pool *pool; /* whose it is; NULL: it does not count */
    int64_t bytes;  /* of all, the head included */
    bool outside;   /* the bytes are memory of a library, the head is all there is here */
  };
  char aligned[64];
} head;

static _Thread_local lgt_pool *serving; /* borrowed */
static _Thread_local int64_t held;      /* bytes of scratch memory that count */

static void acquire(lgt_pool *pool) {
  while (atomic_exchange_explicit(&pool->lock, true, memory_order_acquire)) sched_yield();
}
static void release(lgt_pool *pool) { atomic_store_explicit(&pool->lock, false, memory_order_release); }

/* ---- blocks ------------------------------------------------------------------------------------------- */

static int class_of(int64_t bytes, int64_t *rounded) {
  if (bytes <= 64) {
    *rounded = 64;
    return 0;
  }
  int octave = 63 - __builtin_clzll((unsigned long long)(bytes - 1)); /* 2^octave < bytes <= 2^(octave + 1) */
  int64_t step = octave >= 8 ? (int64_t)1 << (octave - 2) : 64;
  *rounded = (bytes + step - 1) / step * step;
  int quarter = (int)((*rounded - ((int64_t)1 << octave) - 1) / ((int64_t)1 << (octave - 2)));
  return 1 + octave * 4 + quarter;
}

/* The size of the blocks of a class: the inverse of class_of. */
static int64_t class_size(int c) {
  if (c == 0) return 64;
  int octave = (c - 1) / 4, quarter = (c - 1) % 4;
  return ((int64_t)1 << octave) + ((int64_t)1 << (octave - 2)) * (quarter + 1);
}

/* There is room for a head, where a block may become scratch memory. */
static size_t bytes_of(int64_t rounded) {
  return (size_t)rounded + (rounded < LGT_SCRATCH_COUNTED ? 0 : sizeof(head));
}

static void *pages_alloc(const lgt_pool *pool, int64_t rounded) {
  return pool->device ? pool->device->alloc(pool->device, (size_t)rounded)
                      : lgt_mem_pages_alloc(bytes_of(rounded));
}
static void pages_free(const lgt_pool *pool, void *block, int64_t rounded) {
  if (pool->device) pool->device->free(pool->device, block, (size_t)rounded);
  else lgt_mem_pages_free(block, bytes_of(rounded));
}

/* ---- pages without a block ------------------------------------------------------------------------------- */

/* They go into the block that is being made, as far as it has none. */
static void fill(lgt_pool *pool, lgt_pages *pages) {
  if (pool->fresh) pool->filled = lgt_mem_pages_move(pages, pool->fresh, pool->fresh_bytes, pool->filled);
}

/* So many bytes are in the stock no more. */
static void unstock(lgt_pool *pool, int64_t bytes) {
  pool->stocked -= bytes, pool->idle -= bytes, pool->used -= bytes;
  if (pool->stocked < pool->stock_unused) pool->stock_unused = pool->stocked;
}

static void fill_from_stock(lgt_pool *pool) {
  for (int i = 0; i < LGT_POOL_STOCK; i++) {
    int64_t before = (int64_t)pool->stock[i].bytes;
    fill(pool, &pool->stock[i]);
    unstock(pool, before - (int64_t)pool->stock[i].bytes);
  }
}

/* So many bytes of the stock go back to the system, or all there are. */
static void drop_stock(lgt_pool *pool, int64_t bytes) {
  for (int i = 0; i < LGT_POOL_STOCK && bytes > 0; i++) {
    int64_t before = (int64_t)pool->stock[i].bytes;
    lgt_mem_pages_drop(&pool->stock[i], (size_t)bytes);
    int64_t gone = before - (int64_t)pool->stock[i].bytes;
    bytes -= gone;
    unstock(pool, gone);
  }
}

/* A free block goes: its pages into the block that is being made, the rest of them into the stock. */
static void break_up(lgt_pool *pool, void *block, int64_t rounded) {
  pool->idle -= rounded;
  pool->used -= rounded;
  if (!pool->fresh) {
    pages_free(pool, block, rounded);
    return;
  }
  lgt_pages pages = lgt_mem_pages_keep(block, bytes_of(rounded));
  fill(pool, &pages);
  for (int i = 0; i < LGT_POOL_STOCK && pages.bytes; i++) {
    if (pool->stock[i].bytes) continue;
    pool->stock[i] = pages;
    int64_t bytes = (int64_t)pages.bytes;
    pool->stocked += bytes, pool->idle += bytes, pool->used += bytes;
    return;
  }
  lgt_mem_pages_drop(&pages, pages.bytes);
}

/* The class after c (-1: the first) that ever had a free block; -1: there is none.  A program has few of them. */
static int next_kept(const lgt_pool *pool, int c) {
  for (c++; c < LGT_POOL_CLASSES; c = (c / 64 + 1) * 64) {
    uint64_t rest = pool->kept[c / 64] >> c % 64;
    if (rest) return c + __builtin_ctzll(rest);
  }
  return -1;
}

/* A free thin block is free no more: those behind it move up. */
static lgt_thin *unlist_thin(lgt_pool *pool, int i) {
  lgt_thin *thin = pool->thin[i];
  pool->idle -= lgt_thin_bytes(thin);
  memmove(pool->thin + i, pool->thin + i + 1, (size_t)(LGT_POOL_THIN - 1 - i) * sizeof *pool->thin);
  pool->thin[LGT_POOL_THIN - 1] = NULL;
  return thin;
}

/* Give back free thin blocks: all, or (`unused`) those that nobody has taken since the last look. */
static void give_thin(lgt_pool *pool, bool unused) {
  for (int i = LGT_POOL_THIN - 1; i >= 0; i--) {
    if (!pool->thin[i] || (unused && !pool->thin[i]->looked)) continue;
    lgt_thin *thin = unlist_thin(pool, i);
    pool->used -= lgt_thin_bytes(thin);
    lgt_thin_free(thin);
  }
}

static void trim(lgt_pool *pool) {
  give_thin(pool, false);
  if (!pool->idle) return;
  for (int c = -1; pool->idle && (c = next_kept(pool, c)) >= 0;)
    for (void *block; (block = lgt_spares_take(&pool->spare[c], 0));) {
      break_up(pool, block, class_size(c));
      pool->unused[c] = 0;
    }
  drop_stock(pool, INT64_MAX);
  lgt_mem_trim();
}

/* Give back the n blocks of a class that nobody has taken for longest. */
static int64_t give_oldest(lgt_pool *pool, int c, int n) {
  lgt_spares *spare = &pool->spare[c];
  int64_t bytes = n * class_size(c);
  for (int i = 0; i < n; i++) break_up(pool, spare->item[i], class_size(c));
  memmove(spare->item, spare->item + n, (size_t)(spare->count - n) * sizeof *spare->item);
  spare->count -= n;
  pool->unused[c] = pool->unused[c] > n ? pool->unused[c] - n : 0;
  return bytes;
}

/* Give back blocks, until there are so many bytes of them: `unused`: only what nobody has taken since the last look. */
static void shrink(lgt_pool *pool, int64_t bytes, bool unused) {
  for (int c = -1; pool->idle && bytes > 0 && (c = next_kept(pool, c)) >= 0;) {
    int n = unused ? pool->unused[c] : pool->spare[c].count;
    if (!n || class_size(c) < LGT_SCRATCH_COUNTED) continue;
    int64_t most = bytes / class_size(c) + 1;
    n = n < most ? n : (int)most;
    bytes -= give_oldest(pool, c, n);
    if (!unused) pool->missed[c] += n;
  }
}

/* Before a fresh block: those that nobody has taken lately go, and others until all blocks are hardly more than what was ever
 * in use.  If as much as that had to be had again, more may stay, up to a share of what is in use now. */
static void make_way(lgt_pool *pool, int c, int64_t bytes) {
  shrink(pool, bytes, true);
  int64_t in_use = pool->used - pool->idle;
  if (in_use + bytes > pool->most) pool->most = in_use + bytes;
  if (pool->missed[c]) pool->missed[c]--, pool->again += bytes;
  int64_t idle = pool->most - in_use - bytes, share = in_use / IDLE_SHARE, more = pool->again - pool->most;
  if (more > 0 && idle < share) idle = more < share - idle ? idle + more : share;
  idle += IDLE_LEAST;
  shrink(pool, pool->idle - idle - pool->stocked, false);
  drop_stock(pool, pool->idle - idle);
}

static void look(lgt_pool *pool) {
  drop_stock(pool, pool->stock_unused);
  pool->stock_unused = pool->stocked;
  shrink(pool, INT64_MAX, true);
  give_thin(pool, true);
  for (int i = 0; i < LGT_POOL_THIN && pool->thin[i]; i++) pool->thin[i]->looked = true;
  for (int c = -1; (c = next_kept(pool, c)) >= 0;) pool->unused[c] = pool->spare[c].count;
  pool->look = pool->served + pool->used;
}

/* So many bytes more count, if they may; fewer always may. */
static bool charge(lgt_pool *pool, int64_t bytes, int64_t limit) {
  if (bytes > limit - pool->used) trim(pool);
  if (bytes > 0 && bytes > limit - pool->used) return false;
  pool->used += bytes;
  return true;
}

/* A free block of the class, or one that is little larger: arrays that a program makes smaller from turn to turn would leave
 * one of each size behind. */
static void *take_spare(lgt_pool *pool, int c, int64_t *rounded) {
  int last = *rounded < LARGE || c + NEAR >= LGT_POOL_CLASSES ? c : c + NEAR;
  /* Not where memory is short: what the larger block has too much of may be what another one lacks. */
  if (last > c && pool->used - pool->idle + class_size(last) > pool->limit / 4) last = c;
  for (; c <= last; c++) {
    void *block = lgt_spares_take(&pool->spare[c], 64);
    if (!block) continue;
    if (pool->spare[c].count < pool->unused[c]) pool->unused[c] = pool->spare[c].count;
    *rounded = class_size(c);
    pool->idle -= *rounded;
    return block;
  }
  return NULL;
}

/* A new block, with pages of those that go to make way for it. */
static void *take_fresh(lgt_pool *pool, int c, int64_t rounded, int64_t limit) {
  int64_t idle = pool->idle;
  void *block = pool->device ? NULL : pages_alloc(pool, rounded); /* addresses: it has no pages yet */
  pool->fresh = block, pool->fresh_bytes = bytes_of(rounded), pool->filled = 0;
  fill_from_stock(pool);
  make_way(pool, c, rounded);
  bool may = charge(pool, rounded, limit);
  pool->fresh = NULL;
  if (!may) {
    if (block) pages_free(pool, block, rounded);
    return NULL;
  }
  if (pool->device) block = pages_alloc(pool, rounded);
  if (!block && idle) { /* what made way may have left addresses, too */
    trim(pool);
    block = pages_alloc(pool, rounded);
  }
  if (!block) pool->used -= rounded;
  return block;
}

static char *take(lgt_pool *pool, int64_t bytes, int64_t limit, int64_t *rounded) {
  int c = class_of(bytes, rounded);
  pool->served += *rounded;
  if (pool->served > pool->look) look(pool);
  void *block = take_spare(pool, c, rounded);
  if (block) return block;
  return take_fresh(pool, c, *rounded, limit);
}

static void give(lgt_pool *pool, char *block, int64_t rounded) {
  int64_t same;
  int c = class_of(rounded, &same);
  lgt_assert(same == rounded);
  if (lgt_spares_give(&pool->spare[c], block)) {
    pool->kept[c / 64] |= (uint64_t)1 << c % 64;
    pool->idle += rounded;
    return;
  }
  pages_free(pool, block, rounded);
  pool->used -= rounded;
}

char *lgt_pool_take(lgt_pool *pool, int64_t bytes, bool needed, int64_t *rounded) {
  acquire(pool);
  char *block = take(pool, bytes, needed ? INT64_MAX : pool->limit, rounded);
  if (!block) {
    int64_t left = pool->limit - pool->used + pool->idle;
    pool->asked = *rounded;
    pool->lacked = left < *rounded ? *rounded - left : *rounded;
  }
  release(pool);
  return block;
}

void lgt_pool_give(lgt_pool *pool, char *block, int64_t rounded) {
  acquire(pool);
  give(pool, block, rounded);
  release(pool);
}

/* The pages of a free thin block. */
static bool succeed(lgt_pool *pool, lgt_thin *thin) {
  for (int i = 0; i < LGT_POOL_THIN && pool->thin[i]; i++) {
    int64_t bytes = lgt_thin_bytes(pool->thin[i]);
    if (!lgt_thin_fits(thin, pool->thin[i])) continue;
    lgt_thin_succeed(thin, unlist_thin(pool, i));
    pool->used += lgt_thin_bytes(thin) - bytes;
    return true;
  }
  return false;
}

bool lgt_pool_take_thin(lgt_pool *pool, lgt_thin *thin) {
  acquire(pool);
  bool good = succeed(pool, thin);
  if (!good && charge(pool, lgt_thin_bytes(thin), pool->limit)) {
    good = lgt_thin_map(thin);
    if (!good) pool->used -= lgt_thin_bytes(thin);
  }
  if (!good) pool->asked = lgt_thin_bytes(thin);
  pool->served += lgt_thin_bytes(thin);
  if (pool->served > pool->look) look(pool);
  release(pool);
  return good;
}

void lgt_pool_give_thin(lgt_pool *pool, lgt_thin *thin) {
  acquire(pool);
  if (pool->thin[LGT_POOL_THIN - 1]) {
    lgt_thin *oldest = unlist_thin(pool, LGT_POOL_THIN - 1);
    pool->used -= lgt_thin_bytes(oldest);
    lgt_thin_free(oldest);
  }
  memmove(pool->thin + 1, pool->thin, (LGT_POOL_THIN - 1) * sizeof *pool->thin);
  pool->thin[0] = thin;
  thin->looked = false;
  pool->idle += lgt_thin_bytes(thin);
  release(pool);
}

bool lgt_pool_thicken(lgt_pool *pool, int64_t bytes, bool needed) {
  acquire(pool);
  bool good = charge(pool, bytes, needed ? INT64_MAX : pool->limit);
  if (!good) pool->asked = bytes;
  release(pool);
  return good;
}

bool lgt_pool_has(lgt_pool *pool, int64_t bytes, int64_t *rounded) {
  int c = class_of(bytes, rounded);
  acquire(pool);
  bool has = pool->spare[c].count > 0;
  release(pool);
  return has;
}

void lgt_pool_trim(lgt_pool *pool) {
  acquire(pool);
  trim(pool);
  release(pool);
}

void lgt_pool_widen(lgt_pool *pool, int64_t bytes) {
  acquire(pool);
  pool->limit += bytes;
  release(pool);
}

int64_t lgt_pool_idle(lgt_pool *pool) {
  acquire(pool);
  int64_t idle = pool->idle;
  release(pool);
  return idle;
}

int64_t lgt_pool_left(lgt_pool *pool) {
  acquire(pool);
  int64_t left = pool->limit - pool->used + pool->idle;
  release(pool);
  return left;
}

lgt_pool *lgt_pool_new(int64_t limit) {
  lgt_pool *pool = lgt_mem_zalloc(sizeof *pool);
  if (!pool) return NULL;
  pool->limit = limit;
  pool->refs = 1;
  return pool;
}

lgt_pool *lgt_pool_on(lgt_device *device, int64_t limit) {
  lgt_pool *pool = lgt_pool_new(limit);
  if (pool) pool->device = device;
  return pool;
}

/* A reference goes, with so many bytes. */
static void leave(lgt_pool *pool, int64_t bytes) {
  acquire(pool);
  pool->used -= bytes;
  bool last = --pool->refs == 0;
  release(pool);
  if (last) lgt_mem_free(pool);
}

void lgt_pool_release(lgt_pool *pool) {
  if (!pool) return;
  lgt_pool_trim(pool);
  for (int c = 0; c < LGT_POOL_CLASSES; c++) {
    lgt_mem_free(pool->spare[c].item);
    pool->spare[c] = (lgt_spares){0};
  }
  leave(pool, 0);
}

static void *refused(const lgt_pool *pool, const char *what, int64_t bytes, int64_t used) {
  lgt_err(
      LGT_NO_MEMORY,
      "out of memory: %lld more bytes are needed %s, where %lld of %lld are taken; use smaller arrays, drop "
      "some, or raise --mem",
      (long long)bytes, what, (long long)used, (long long)pool->limit);
  return NULL;
}

/* ---- scratch memory ------------------------------------------------------------------------------------ */

void lgt_scratch_serve(lgt_pool *pool) { serving = pool; }

static void *take_scratch(lgt_pool *pool, int64_t bytes) {
  int64_t rounded, used;
  for (;; usleep(WAIT_US)) {
    acquire(pool);
    int64_t others = pool->scratch - held;
    head *h = (head *)take(pool, bytes, held ? pool->limit + others : pool->limit, &rounded);
    if (h) pool->scratch += rounded;
    used = pool->used - pool->idle;
    release(pool);
    if (h) {
      held += rounded;
      h->pool = pool;
      h->bytes = rounded;
      return h + 1;
    }
    if (held || !others) return refused(pool, "to work with", bytes, used);
  }
}

void *lgt_scratch_alloc(size_t size) {
  if (serving && size >= LGT_SCRATCH_COUNTED) return take_scratch(serving, (int64_t)size);
  head *h = lgt_mem_pages_alloc(sizeof *h + size);
  if (!h) return lgt_err(LGT_NO_MEMORY, "out of memory: %zu bytes are needed to work with", size), NULL;
  h->pool = NULL;
  h->bytes = (int64_t)(sizeof *h + size);
  return h + 1;
}

void *lgt_scratch_zalloc(size_t size) {
  void *block = lgt_scratch_alloc(size);
  return block ? memset(block, 0, size) : NULL;
}

void lgt_scratch_free(void *block) {
  if (!block) return;
  head *h = (head *)block - 1;
  lgt_pool *pool = h->pool;
  int64_t bytes = h->bytes;
  if (!pool) {
    lgt_mem_pages_free(h, (size_t)bytes);
    return;
  }
  held -= bytes;
  acquire(pool);
  pool->scratch -= bytes;
  give(pool, (char *)h, bytes);
  release(pool);
}

/* ---- host memory --------------------------------------------------------------------------------------- */

/* So many bytes more count, for as many more blocks. */
static bool charge_host(lgt_pool *pool, int64_t bytes, int blocks, bool needed) {
  acquire(pool);
  bool good = charge(pool, bytes, needed ? INT64_MAX : pool->limit);
  int64_t used = pool->used - pool->idle;
  if (good) pool->refs += blocks;
  release(pool);
  if (!good) refused(pool, "beside arrays", bytes, used);
  return good;
}

void *lgt_host_alloc(lgt_pool *pool, int64_t bytes, bool needed) {
  bytes += (int64_t)sizeof(head);
  if (!charge_host(pool, bytes, 1, needed)) return NULL;
  head *h = lgt_mem_zalloc((size_t)bytes);
  if (!h) {
    leave(pool, bytes);
    return refused(pool, "beside arrays", bytes, pool->limit - lgt_pool_left(pool));
  }
  h->pool = pool;
  h->bytes = bytes;
  return h + 1;
}

void *lgt_host_resize(lgt_pool *pool, void *block, int64_t bytes, bool needed) {
  if (!block) return lgt_host_alloc(pool, bytes, needed);
  head *h = (head *)block - 1, *moved;
  int64_t more = bytes + (int64_t)sizeof *h - h->bytes;
  if (!charge_host(pool, more, 0, needed)) return NULL;
  if (!(moved = lgt_mem_realloc(h, (size_t)bytes + sizeof *h))) {
    charge_host(pool, -more, 0, true);
    return refused(pool, "beside arrays", more, pool->limit - lgt_pool_left(pool));
  }
  moved->bytes += more;
  return moved + 1;
}

void *lgt_host_outside(lgt_pool *pool, int64_t bytes) {
  head *h = lgt_mem_zalloc(sizeof *h);
  if (!h) return lgt_err(LGT_NO_MEMORY, "out of memory"), NULL;
  *h = (head){.pool = pool, .bytes = bytes, .outside = true};
  charge_host(pool, bytes, 1, true);
  pool->outside += bytes;
  return h + 1;
}

void lgt_host_free(void *block) {
  if (!block) return;
  head *h = (head *)block - 1;
  lgt_pool *pool = h->pool;
  int64_t bytes = h->bytes;
  if (h->outside) pool->outside -= bytes;
  lgt_mem_free(h);
  leave(pool, bytes);
}
