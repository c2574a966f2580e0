/* disk_cache.h - what costs time to make, kept on disk: machine code, the libraries' bytecode.
 *
 * A file's name is a hash of everything that its contents depend on, so a file is never out of date.  The number of files in
 * a directory is bounded: a file that is read is marked with the date, and trimming removes the oldest quarter when there
 * are too many.
 *
 * What is read from here is executed, so the directory must belong to this user and be writable by nobody else, and so must
 * the file; else it is not used.
 *
 * Threads: reading and writing need no lock; the structure does not change between open and close.
 */
#ifndef LGT_DISK_CACHE_H
#define LGT_DISK_CACHE_H

#include "base/err.h"

typedef struct lgt_disk_cache {
  char *path;         /* owned; of the directory */
  const char *suffix; /* of its files' names */
  int fd;             /* the directory's; -1: no cache */
} lgt_disk_cache;

/* `dir` empty: $XDG_CACHE_HOME/lgt or ~/.cache/lgt.  A directory that cannot be used leaves the cache off, which is logged.
 * Fails only without memory. */
lgt_status lgt_disk_cache_open(lgt_disk_cache *cache, const char *dir, const char *suffix);
void lgt_disk_cache_close(lgt_disk_cache *cache);

void lgt_disk_cache_hash(uint64_t out[2], const void *bytes, size_t size);

/* What is kept under this key: lgt_mem_free.  NULL when there is nothing, or nothing that can be trusted. */
void *lgt_disk_cache_read(const lgt_disk_cache *cache, const uint64_t key[2], size_t *size);
/* Keep bytes; a failure is logged and has no other consequence.  Any thread. */
void lgt_disk_cache_write(const lgt_disk_cache *cache, const uint64_t key[2], const void *bytes, size_t size);
/* Remove what was not used for longest when there are too many files, of whatever suffix. */
void lgt_disk_cache_trim(const lgt_disk_cache *cache);

#endif
