/* kernel_cache.h - inside the kernels: objects on disk. */
#ifndef LGT_KERNEL_CACHE_H
#define LGT_KERNEL_CACHE_H

#include "base/disk_cache.h"
#include "kernel/helper.h"
#include "kernel/loop.h"

typedef struct lgt_kernel_cache {
  lgt_disk_cache disk;
  uint64_t host[2]; /* hash of all that an object depends on besides its loop */
} lgt_kernel_cache;

/* `dir` empty: $XDG_CACHE_HOME/lgt or ~/.cache/lgt.  `emitter` is the path of the emitter module.  A
 * directory that cannot be used leaves the cache off, which is logged.  Fails only without memory. */
lgt_status lgt_kernel_cache_open(lgt_kernel_cache *cache, const char *dir, const char *emitter, lgt_isa isa);
void lgt_kernel_cache_close(lgt_kernel_cache *cache);

/* The object of this loop, or what else is kept for it, by `kind` (NULL: the object): lgt_mem_free.  NULL when there is
 * none, or none that can be trusted. */
void *lgt_kernel_cache_read(const lgt_kernel_cache *cache, const char *kind, const lgt_loop *loop, size_t *size);
/* Keep an object; a failure is logged and has no other consequence.  Any thread. */
void lgt_kernel_cache_write(const lgt_kernel_cache *cache, const char *kind, const lgt_loop *loop, const void *object,
                            size_t size);
/* Remove what was not used for longest when there are too many files. */
void lgt_kernel_cache_trim(const lgt_kernel_cache *cache);

#endif
