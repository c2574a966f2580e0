/* mem.h - every allocation of the core passes through here.
 *
 * Two kinds of memory:
 *   - Bookkeeping (lgt_mem_*): small, through malloc.  May return NULL; callers turn that into
 *     LGT_NO_MEMORY.  A test can make the n-th allocation fail (lgt_mem_fail_at) and check at exit
 *     that nothing leaked (lgt_mem_live).
 *   - Array elements (lgt_mem_pages_*): aligned to 64 bytes and not zeroed; from 2 MiB on aligned to
 *     that, with huge pages, freshly mapped and so zero on first touch.  The caller keeps the budget.
 *
 * Thread-safe.  An arena is not: it belongs to one thread.
 */
#ifndef LGT_MEM_H
#define LGT_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *lgt_mem_alloc(size_t size); /* not zeroed */
void *lgt_mem_zalloc(size_t size);
void *lgt_mem_realloc(void *block, size_t size);
void lgt_mem_free(void *block); /* NULL is fine */
char *lgt_mem_strdup(const char *text);

/* Grow an array to hold at least `need` elements of `size`: doubles.  False when out of memory,
 * the array is then unchanged. */
bool lgt_mem_enlarge(void **array, int *room, int need, size_t size); /* there is less room than needed */
static inline bool lgt_mem_grow(void **array, int *room, int need, size_t size) {
  return need <= *room || lgt_mem_enlarge(array, room, need, size);
}

/* Elements. */
void *lgt_mem_pages_alloc(size_t size);
void lgt_mem_pages_free(void *block, size_t size);
/* Huge pages that were touched, without a block: a new block may have them instead of pages that must be zeroed first. */
typedef struct lgt_pages {
  char *start;
  size_t bytes;
} lgt_pages;
/* Free a block but for its whole huge pages, if it has some. */
lgt_pages lgt_mem_pages_keep(void *block, size_t size);
/* Pages go into a block that nobody has touched behind its first `filled` bytes, as far as there is room; how much is filled
 * then. */
size_t lgt_mem_pages_move(lgt_pages *pages, void *block, size_t size, size_t filled);
/* So many bytes of them, or a little more, go back to the system. */
void lgt_mem_pages_drop(lgt_pages *pages, size_t bytes);
/* What freed blocks took goes back to the system. */
void lgt_mem_trim(void);

/* A range of address space whose pages appear, zeroed, when touched: tables that never move. */
void *lgt_mem_reserve(size_t size);
void lgt_mem_release(void *block, size_t size);
/* Pages of it, whole ones, become as they were before they were touched. */
void lgt_mem_forget(void *pages, size_t size);

/* How many bytes this process may use at most: what the machine has left, or the least limit of the cgroups
 * that the process is in.  `root` stands before the paths of /proc and /sys: "" but for tests.  0: unknown. */
int64_t lgt_mem_available(const char *root);

/* Prefetch a block that will be read and written soon. */
static inline void lgt_mem_expect(const void *block, size_t size) {
  for (size_t at = 0; at < size; at += 64) __builtin_prefetch((const char *)block + at, 1);
}

/* Things to use again, last in, first out.  A script's dead arrays become known in batches of thousands, so a thing may have
 * left the caches long ago: lgt_spares_take prefetches a thing that later calls will return. */
typedef struct lgt_spares {
  void **item; /* owned: the array; the owner of the spares must free the things in it */
  int count, room;
} lgt_spares;
enum { LGT_SPARES_AHEAD = 6 };
static inline void *lgt_spares_take(lgt_spares *spares, size_t size) {
  if (!spares->count) return NULL;
  void *item = spares->item[--spares->count];
  if (spares->count >= LGT_SPARES_AHEAD) lgt_mem_expect(spares->item[spares->count - LGT_SPARES_AHEAD], size);
  return item;
}
/* False when out of memory: the thing is not kept, and still the caller's. */
static inline bool lgt_spares_give(lgt_spares *spares, void *item) {
  if (!lgt_mem_grow((void **)&spares->item, &spares->room, spares->count + 1, sizeof item)) return false;
  spares->item[spares->count++] = item;
  return true;
}

/* Blocks of bookkeeping that come and go with every launch, by powers of two: some of those that are given back are
 * kept.  Of one thread. */
enum { LGT_BLOCK_CLASSES = 8, LGT_BLOCK_LEAST = 512, LGT_BLOCKS_KEPT = 32 };
typedef struct lgt_blocks {
  lgt_spares spare[LGT_BLOCK_CLASSES]; /* owned, like what is in them */
} lgt_blocks;
void *lgt_blocks_take(lgt_blocks *blocks, size_t size);             /* not zeroed; NULL when out of memory */
void lgt_blocks_give(lgt_blocks *blocks, void *block, size_t size); /* the size that it was taken for */
void lgt_blocks_fini(lgt_blocks *blocks);

/* A bump allocator for what lives as long as one window's analysis. */
typedef struct lgt_arena {
  struct lgt_arena_block *first, *current; /* owned */
  size_t used;                             /* of the current block */
} lgt_arena;
void *lgt_arena_alloc(lgt_arena *arena, size_t size); /* 16-byte aligned, zeroed; NULL when out of memory */
void lgt_arena_reset(lgt_arena *arena);               /* keeps the blocks */
void lgt_arena_fini(lgt_arena *arena);

/* For tests: let the n-th allocation from now fail (1: the next); 0 turns it off. */
void lgt_mem_fail_at(int64_t n);
void lgt_mem_fail_from(int64_t n); /* ... and all that follow it, until one of these two is called again */
int64_t lgt_mem_count(void);       /* allocations so far */
int64_t lgt_mem_live(void);        /* bookkeeping blocks not freed yet */

#endif
