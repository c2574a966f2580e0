/* hash.h - hashes of words, and tables of things that exist once.
 *
 * A thing is *interned* when equal ones are one: then a comparison of pointers tells whether two are equal.  The table
 * knows nothing of its things but their hashes; its user compares, allocates and frees them:
 *
 *   uint32_t at = 0;
 *   for (thing *t; (t = lgt_intern_next(&table, hash, &at));)
 *     if (equal(t, wanted)) return t;
 *   t = ...a copy of what is wanted...
 *   if (!lgt_intern_add(&table, hash, t)) ...out of memory...
 *
 * A table of zeros is an empty one.
 */
#ifndef LGT_HASH_H
#define LGT_HASH_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t lgt_hash_mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

typedef struct lgt_interned {
  uint64_t hash;
  void *thing; /* NULL: nothing is here */
} lgt_interned;

typedef struct lgt_intern {
  lgt_interned *slot; /* owned, open addressing; NULL: nothing was added yet */
  uint32_t count, mask;
} lgt_intern;

/* The things of a hash, one after the other, then NULL; *at begins with 0. */
void *lgt_intern_next(const lgt_intern *table, uint64_t hash, uint32_t *at);
/* False when out of memory; then nothing has changed. */
bool lgt_intern_add(lgt_intern *table, uint64_t hash, void *thing);
/* Remove the things for which `keep`, called once for each, returns false; `keep` must free such a thing.  False when out of
 * memory: `keep` was not called, and every thing stays. */
bool lgt_intern_sweep(lgt_intern *table, bool (*keep)(void *thing));
/* `discard` is called for each thing, to free it; NULL: the table owns none of them. */
void lgt_intern_fini(lgt_intern *table, void (*discard)(void *thing));

#endif
