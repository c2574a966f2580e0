/* pool.h - what arrays and those who work on them take of the machine's memory, and how much that may be.
 *
 * Whatever grows with arrays is had here: their elements (map.h), *scratch* memory of running tasks, and *host* memory,
 * which holds elements on their way between arrays and the host program.  All of it together stays below `limit`.  What
 * is less than LGT_SCRATCH_COUNTED bytes of scratch memory is bookkeeping and does not count.
 *
 * Blocks that are given back are kept, because their pages are warm, and count until they are trimmed; a caller that
 * finds no room trims them first.  Blocks that nobody has taken while the pool served twice what is in use are given back
 * to the system, and before new ones are had from there: programs whose arrays have other sizes in each turn would keep
 * all of these.
 *
 * Scratch memory.  Who runs a task's variant says whose pool serves it (lgt_scratch_serve).  A thread that finds no room
 * for the first block it asks for waits while other threads have some, which they give back before their chunks end.  One
 * that has some never waits, so nobody waits for ever: it gets more beyond the limit if it could have had it alone.
 *
 * Any thread.  A pool is freed by the last who has a reference or host memory of it.
 */
#ifndef LGT_POOL_H
#define LGT_POOL_H

#include <stdatomic.h>

#include "core.h"
#include "device/device.h"

enum { LGT_POOL_CLASSES = 256, LGT_SCRATCH_COUNTED = 128 << 10 };

typedef struct lgt_pool {
  lgt_device *device; /* borrowed: whose memory it is; NULL: the host's */
  int64_t limit;    /* bytes; written by the submitting thread, with the lock */
  atomic_bool lock; /* held for moments; protects all that follows */
  int refs;
  int64_t used;    /* bytes that count; those of free blocks among them */
  int64_t idle;    /* bytes of free blocks */
  int64_t scratch; /* bytes of scratch memory */
  int64_t asked;   /* bytes of the last block that there was no room for */
  lgt_spares spare[LGT_POOL_CLASSES]; /* owned: free blocks, by size ... */
  int unused[LGT_POOL_CLASSES];       /* ... and how many of them nobody has taken since the last look */
  int64_t served, look;               /* bytes of blocks taken so far; when to look again */
} lgt_pool;

/* With one reference; NULL when out of memory. */
lgt_pool *lgt_pool_new(int64_t limit);
/* The same of a device's memory, which is for blocks only. */
lgt_pool *lgt_pool_on(lgt_device *device, int64_t limit);
/* Free blocks are given back to the system. */
void lgt_pool_release(lgt_pool *pool);

/* A block of at least `bytes`, whose size is *rounded then; NULL: there is no memory, or not below the limit.
 * `needed`: beyond it, if it must be. */
char *lgt_pool_take(lgt_pool *pool, int64_t bytes, bool needed, int64_t *rounded);
void lgt_pool_give(lgt_pool *pool, char *block, int64_t rounded);
/* Give free blocks back to the system. */
void lgt_pool_trim(lgt_pool *pool);
/* There may be so many bytes more. */
void lgt_pool_widen(lgt_pool *pool, int64_t bytes);
/* Bytes of free blocks; how many more there may be of others. */
int64_t lgt_pool_idle(lgt_pool *pool);
int64_t lgt_pool_left(lgt_pool *pool);

/* From now on this pool serves the variants that the thread runs; NULL: none, they get what they ask for. */
void lgt_scratch_serve(lgt_pool *pool);
/* Aligned to 64 bytes, not zeroed, until the thread gives it back.  NULL with a message. */
void *lgt_scratch_alloc(size_t size);
void *lgt_scratch_zalloc(size_t size);
void lgt_scratch_free(void *block);

/* Host memory: zeroed; NULL with a message.  `needed`: beyond the limit, if it must be.  `resize` keeps what fits (and
 * zeroes nothing); without success the old block stays. */
void *lgt_host_alloc(lgt_pool *pool, int64_t bytes, bool needed);
void *lgt_host_resize(lgt_pool *pool, void *block, int64_t bytes, bool needed);
void lgt_host_free(void *block);

#endif
