/* hash.c - see hash.h. */
#include "base/hash.h"

#include "base/mem.h"

enum { FIRST_SLOTS = 64 };

void *lgt_intern_next(const lgt_intern *table, uint64_t hash, uint32_t *at) {
  if (!table->slot) return NULL;
  for (;;) {
    const lgt_interned *slot = &table->slot[((uint32_t)(hash >> 32) + *at) & table->mask];
    if (!slot->thing) return NULL;
    ++*at;
    if (slot->hash == hash) return slot->thing;
  }
}

static void put(lgt_interned *slot, uint32_t mask, lgt_interned what) {
  uint32_t i = (uint32_t)(what.hash >> 32) & mask;
  while (slot[i].thing) i = (i + 1) & mask;
  slot[i] = what;
}

static bool grow(lgt_intern *table) {
  uint32_t mask = table->slot ? table->mask * 2 + 1 : FIRST_SLOTS - 1;
  lgt_interned *slot = lgt_mem_zalloc(((size_t)mask + 1) * sizeof *slot);
  if (!slot) return false;
  for (uint32_t i = 0; table->slot && i <= table->mask; i++)
    if (table->slot[i].thing) put(slot, mask, table->slot[i]);
  lgt_mem_free(table->slot);
  table->slot = slot;
  table->mask = mask;
  return true;
}

bool lgt_intern_add(lgt_intern *table, uint64_t hash, void *thing) {
  if ((!table->slot || table->count * 2 > table->mask) && !grow(table)) return false;
  put(table->slot, table->mask, (lgt_interned){hash, thing});
  table->count++;
  return true;
}

bool lgt_intern_sweep(lgt_intern *table, bool (*keep)(void *thing)) {
  if (!table->count) return true;
  lgt_interned *slot = lgt_mem_zalloc(((size_t)table->mask + 1) * sizeof *slot);
  if (!slot) return false;
  table->count = 0;
  for (uint32_t i = 0; i <= table->mask; i++) {
    if (!table->slot[i].thing || !keep(table->slot[i].thing)) continue;
    put(slot, table->mask, table->slot[i]);
    table->count++;
  }
  lgt_mem_free(table->slot);
  table->slot = slot;
  return true;
}

void lgt_intern_fini(lgt_intern *table, void (*discard)(void *thing)) {
  for (uint32_t i = 0; discard && table->slot && i <= table->mask; i++)
    if (table->slot[i].thing) discard(table->slot[i].thing);
  lgt_mem_free(table->slot);
  *table = (lgt_intern){0};
}
