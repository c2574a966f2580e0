/* thin.h - blocks of which only some pages take memory.
 *
 * What data names of an array (image.h) is worked with where it lies in the array, so that a task finds element i at
 * address + i.  What lies between takes addresses only: such a block is *thin*.  A page takes memory once something is
 * written there.  Whoever is going to write must note where, for the bytes to be counted; nothing else depends on that.
 *
 * A thin block is made in two steps: what is going to be written is noted, and then, if it is worth it, there are addresses.
 *
 * Belongs to its owner's thread.
 */
#ifndef LGT_THIN_H
#define LGT_THIN_H

#include "core.h"

enum { LGT_THIN_PAGE = 4096 };

typedef struct lgt_thin {
  char *data;     /* owned; NULL: no addresses yet */
  int64_t span;   /* bytes of addresses */
  int64_t count;  /* pages that have been noted */
  uint64_t *page; /* owned: a bit for each */
  int64_t wanted; /* bytes that it took when others were last given back (stale.h) */
  bool looked;    /* of a free one: the pool has looked since it was given back (pool.h) */
} lgt_thin;

/* Nothing is noted, and there are no addresses.  NULL when out of memory. */
lgt_thin *lgt_thin_new(int64_t span);
void lgt_thin_free(lgt_thin *thin);
/* The bytes from lo to hi - 1 are going to be written.  How many bytes more this takes. */
int64_t lgt_thin_note(lgt_thin *thin, int64_t lo, int64_t hi);
/* How many bytes more it would take if all that is noted in another block of that span were noted here. */
int64_t lgt_thin_lacks(const lgt_thin *thin, const lgt_thin *other);
/* All of that is noted. */
void lgt_thin_join(lgt_thin *thin, const lgt_thin *other);
/* The pages that are not noted in another block give their memory back, and read as zeros. */
void lgt_thin_drop(lgt_thin *thin, const lgt_thin *other);
/* Bytes that it takes. */
static inline int64_t lgt_thin_bytes(const lgt_thin *thin) { return thin->count * LGT_THIN_PAGE; }
/* Fresh addresses.  False when out of memory. */
bool lgt_thin_map(lgt_thin *thin);
/* Are most pages of a block that nobody uses any more noted here?  Then this one can take its place, which frees the other. */
bool lgt_thin_fits(const lgt_thin *thin, const lgt_thin *former);
void lgt_thin_succeed(lgt_thin *thin, lgt_thin *former);
/* Every page that has been noted is filled with a byte. */
void lgt_thin_fill(lgt_thin *thin, int byte);

#endif
