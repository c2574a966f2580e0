/* pool.h - the memory that arrays and the tasks on them take, and its limit.
 *
 * All memory that grows with arrays comes from here: their elements (map.h), *scratch* memory of running tasks, and
 * *host* memory, which holds elements on their way between arrays and the host program.  All of it together stays below
 * `limit`.  A block of scratch memory of less than LGT_SCRATCH_COUNTED bytes is bookkeeping and does not count.
 *
 * The pool keeps blocks that are given back, because their pages are warm.  Such a block counts until it is trimmed; a
 * caller that finds no room trims first.  The pool looks at its free blocks each time it has served as many bytes as it
 * has: those that nobody has taken since the last look go back to the system.  Before a new block is allocated free ones go
 * until all blocks are hardly more than what was in use at the worst time; otherwise a program whose arrays have other sizes in
 * each turn would keep blocks of all sizes.  Their huge pages become the new block's, which would have to be zeroed first if
 * they came from the system, and what is left over of them stays in stock for the next one.  If as many bytes as that were
 * needed again more is kept, up to half of what is in use.  A large block may serve a request that is a little smaller.
 *
 * Scratch memory.  The thread that runs a variant says which pool serves it (lgt_scratch_serve).  A thread that has no
 * scratch memory and finds no room waits while other threads have some, which they give back before their chunks end.
 * A thread that has some never waits, so there is no deadlock: it exceeds the limit, provided that the request would
 * have fitted had the thread been alone.
 *
 * Any thread.  The last holder of a reference, or of host memory of the pool, frees it.
 */
#ifndef LGT_POOL_H
#define LGT_POOL_H

#include <stdatomic.h>

#include "base/mem.h"
#include "core.h"
#include "device/device.h"
#include "memory/thin.h"

enum { LGT_POOL_CLASSES = 256, LGT_SCRATCH_COUNTED = 128 << 10, LGT_POOL_THIN = 4, LGT_POOL_STOCK = 8 };

typedef struct lgt_pool {
  lgt_device *device; /* borrowed: the device whose memory this is; NULL: the host's */
  int64_t limit;      /* bytes; written by the submitting thread, with the lock */
  atomic_bool lock;   /* held for moments; protects the fields below */
  int refs;
  int64_t used;                         /* bytes that count, including those of free blocks */
  int64_t idle;                         /* bytes of free blocks */
  int64_t scratch;                      /* bytes of scratch memory */
  _Atomic int64_t outside;              /* bytes of libraries' memory; not under the lock */
  int64_t asked;                        /* bytes of the last request for which there was no room ... */
  int64_t lacked;                       /* ... and how many of them there was no room for; whoever makes room sets it to 0 */
  lgt_spares spare[LGT_POOL_CLASSES];   /* owned: free blocks, by size */
  uint64_t kept[LGT_POOL_CLASSES / 64]; /* the sizes that ever had a free block, as bits */
  int unused[LGT_POOL_CLASSES];         /* by size: free blocks that were not taken since the last look */
  int64_t served, look;                 /* bytes of blocks taken so far; when to look again */
  int64_t most;                         /* bytes that were ever in use at once, as far as fresh blocks tell */
  int missed[LGT_POOL_CLASSES];         /* by size: free blocks that went although they may be needed again */
  int64_t again;                        /* bytes of those that were */
  void *fresh;                          /* borrowed, while a block of host memory is made: it ... */
  size_t fresh_bytes, filled;           /* ... and how many of its bytes have pages of blocks that had to go */
  lgt_pages stock[LGT_POOL_STOCK];      /* owned: what such blocks had too much */
  int64_t stocked, stock_unused;        /* bytes of them; those that no block took since the last look */
  lgt_thin *thin[LGT_POOL_THIN];        /* owned: free thin blocks, the one that was given back last comes first */
} lgt_pool;

/* With one reference; NULL when out of memory. */
lgt_pool *lgt_pool_new(int64_t limit);
/* A pool of a device's memory, for blocks only: no scratch or host memory. */
lgt_pool *lgt_pool_on(lgt_device *device, int64_t limit);
/* Give up a reference, and give the free blocks back to the system. */
void lgt_pool_release(lgt_pool *pool);

/* A block of at least `bytes`; *rounded is its size.  NULL: there is no memory, or not below the limit.  `needed`: may
 * exceed the limit. */
char *lgt_pool_take(lgt_pool *pool, int64_t bytes, bool needed, int64_t *rounded);
void lgt_pool_give(lgt_pool *pool, char *block, int64_t rounded);
/* Addresses for a thin block, of whose pages those that are noted count; more do if it is a block that was free.  False:
 * there is no memory, or not below the limit. */
bool lgt_pool_take_thin(lgt_pool *pool, lgt_thin *thin);
/* The pool owns the block from now on. */
void lgt_pool_give_thin(lgt_pool *pool, lgt_thin *thin);
/* So many bytes more of a thin block count.  False: they may not, and do not.  `needed`: may exceed the limit. */
bool lgt_pool_thicken(lgt_pool *pool, int64_t bytes, bool needed);
/* Is there a free block for so many bytes?  *rounded is its size in any case. */
bool lgt_pool_has(lgt_pool *pool, int64_t bytes, int64_t *rounded);
/* Give free blocks back to the system. */
void lgt_pool_trim(lgt_pool *pool);
/* Raise the limit by so many bytes; negative: lower it. */
void lgt_pool_widen(lgt_pool *pool, int64_t bytes);
/* Bytes of free blocks. */
int64_t lgt_pool_idle(lgt_pool *pool);
/* How many more bytes may be taken, if free blocks are trimmed first. */
int64_t lgt_pool_left(lgt_pool *pool);

/* From now on this pool serves the variants that the calling thread runs; NULL: no limit applies to them. */
void lgt_scratch_serve(lgt_pool *pool);
/* Scratch memory, aligned to 64 bytes; zalloc: zeroed.  The same thread must free it.  NULL with a message. */
void *lgt_scratch_alloc(size_t size);
void *lgt_scratch_zalloc(size_t size);
void lgt_scratch_free(void *block);

/* Host memory, zeroed; NULL with a message.  `needed`: may exceed the limit.  `resize` keeps the bytes that fit and zeroes
 * none; when it fails, the old block stays. */
void *lgt_host_alloc(lgt_pool *pool, int64_t bytes, bool needed);
void *lgt_host_resize(lgt_pool *pool, void *block, int64_t bytes, bool needed);
/* A block without memory that stands for so many bytes of a library's: they count, beyond the limit if it must be. */
void *lgt_host_outside(lgt_pool *pool, int64_t bytes);
void lgt_host_free(void *block);

#endif
