/* evict.c - see evict.h. */
#include "move/evict.h"

#include <stdlib.h>

#include "memory/replica.h"
#include "move/acquire.h"
#include "move/job.h"

enum { OVERDUE = 2 }; /* distances after which a use is expected no more */
enum { THERE_AND_BACK = 2, BUS_BYTES_PER_NS = 12 };

/* The instances that a domain has of a store in a device's memory. */
typedef struct candidate {
  lgt_store *store;
  int domain;
  bool copied; /* the host has the same elements */
  enum { AHEAD, EXPECTED, COLD } need;
  int64_t when;  /* the greater the later it is needed, among those with the same need */
  int64_t bytes; /* that become free */
} candidate;

/* The number of the group that is being bound, from 1. */
static int64_t now_of(const lgt_binder *binder) { return binder->agreed.position + 1; }

static void note(const lgt_binder *binder, uint32_t id, int64_t now) {
  lgt_store *store = lgt_store_at(binder->stores, id);
  if (store->used == now) return;
  store->used_before = store->used;
  store->used = now;
}

void lgt_evict_note_use(const lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root) {
  int64_t now = now_of(binder);
  for (int s = 0; s < group->nslot; s++)
    if (group->slot[s].initial) note(binder, root[group->slot[s].root], now);
  for (int f = 0; f < group->nfinal; f++) note(binder, root[group->slot_of_final[2 * f]], now);
}

/* ---- what may leave ---------------------------------------------------------------------------------- */

static bool may_leave(const lgt_instance *inst, const lgt_memory *memory) {
  return inst && inst->memory == memory && inst->owners < 2 && !inst->pins && !inst->failure;
}

/* Does an instance, with what of it is old, have all of another one on the host? */
static bool has_all(const lgt_instance *host, const lgt_region *old, const lgt_instance *inst) {
  return lgt_instance_on_host(host) && lgt_rect_contains(&host->rect, &inst->rect) &&
         !lgt_region_meets(old, &inst->rect);
}

/* Bytes of a replica that may leave a memory; *copied: and the host has the same elements. */
static int64_t bytes_in(const lgt_replica *replica, const lgt_memory *memory, bool *copied) {
  const lgt_instance *main = replica->inst;
  int64_t bytes = 0;
  *copied = true;
  if (may_leave(main, memory)) {
    bytes = main->bytes;
    *copied = false;
    for (int k = 0; k < replica->naside; k++)
      *copied |= has_all(replica->aside[k].inst, &replica->aside[k].old, main);
  }
  for (int k = 0; k < replica->naside && main; k++) {
    const lgt_instance *aside = replica->aside[k].inst;
    if (may_leave(aside, memory) && has_all(main, &replica->old, aside)) bytes += aside->bytes;
  }
  return bytes;
}

/* `ahead`: the number of the first call of the window that touches it, from 1; 0: none does. */
static void foresee(const lgt_binder *binder, candidate *c, int ahead) {
  const lgt_store *store = c->store;
  int64_t now = now_of(binder), distance = store->used - store->used_before;
  if (ahead) {
    c->need = AHEAD;
    c->when = ahead;
  } else if (store->used_before && now - store->used <= OVERDUE * distance) {
    c->need = EXPECTED;
    c->when = store->used + distance;
  } else {
    c->need = COLD;
    c->when = now - store->used;
  }
}

static int compare(const void *left, const void *right) {
  const candidate *a = left, *b = right;
  if (a->need != b->need) return a->need > b->need ? -1 : 1;
  if (a->need == COLD && a->copied != b->copied) return a->copied ? -1 : 1;
  if (a->when != b->when) return a->when > b->when ? -1 : 1;
  if (a->store->id != b->store->id) return a->store->id < b->store->id ? -1 : 1;
  return a->domain - b->domain;
}

/* By store: the first of the calls that touches it. */
static int *look_ahead(const lgt_binder *binder) {
  int *ahead = lgt_mem_zalloc((size_t)binder->stores->nstore * sizeof *ahead);
  for (int i = binder->nahead - 1; i >= 0 && ahead; i--)
    for (int a = 0; a < binder->ahead[i].nargs; a++) ahead[binder->ahead[i].store[a]] = i + 1;
  return ahead;
}

/* What may leave a memory, but for the stores of the group that is being bound, the best first; NULL when out of memory. */
static candidate *list(const lgt_binder *binder, const lgt_memory *memory, int *count) {
  const lgt_map *map = binder->map;
  int *ahead = look_ahead(binder), room = 0;
  candidate *found = NULL;
  *count = 0;
  for (uint32_t id = 1; id < binder->stores->nstore && ahead; id++) {
    lgt_store *store = lgt_store_at(binder->stores, id);
    if (!store->layout || !store->replica || (ahead[id] && ahead[id] <= binder->nbound)) continue;
    for (int d = 0; d < map->local; d++) {
      candidate c = {.store = store, .domain = d};
      c.bytes = bytes_in(&store->replica[d], memory, &c.copied);
      if (!c.bytes) continue;
      foresee(binder, &c, ahead[id]);
      if (!lgt_mem_grow((void **)&found, &room, *count + 1, sizeof *found)) break;
      found[(*count)++] = c;
    }
  }
  lgt_mem_free(ahead);
  if (found) qsort(found, (size_t)*count, sizeof *found, compare);
  return found;
}

/* ---- leaving ------------------------------------------------------------------------------------------- */

/* The main instance of a replica is the host's from now on, with all elements of the former one. */
static lgt_status move_main(lgt_binder *binder, lgt_store *store, int domain) {
  const lgt_instance *main = store->replica[domain].inst;
  if (!main || lgt_instance_on_host(main) || main->owners > 1 || main->pins) return LGT_OK;
  lgt_rect rect = main->rect;
  return lgt_acquire(binder, store, domain, binder->map->memory, &rect, LGT_USE_READ, NULL, NULL);
}

/* Devices keep nothing that the main instance has on the host. */
static void drop_copies(lgt_map *map, lgt_replica *replica) {
  for (int k = replica->naside - 1; k >= 0; k--) {
    const lgt_instance *main = replica->inst, *aside = replica->aside[k].inst;
    if (main && !lgt_instance_on_host(aside) && has_all(main, &replica->old, aside))
      lgt_replica_drop(map, replica, k);
  }
}

static bool make_room(lgt_binder *binder, const lgt_memory *memory, int64_t bytes) {
  static const char *const needs[] = {"which a later launch needs", "which is expected later",
                                      "which nobody is known to need"};
  int count, n = 0;
  candidate *c = list(binder, memory, &count);
  for (; n < count && bytes > 0; n++) {
    lgt_log(MAP, 3, "%lld bytes are lacking on a device: store %u leaves it, with %lld bytes%s, %s",
            (long long)bytes, (unsigned)c[n].store->id, (long long)c[n].bytes,
            c[n].copied ? " that the host has, too" : "", needs[c[n].need]);
    if (move_main(binder, c[n].store, c[n].domain)) break; /* the host has no room */
    bytes -= c[n].bytes;
  }
  if (n) lgt_job_retire(binder, true);
  for (int i = 0; i < n; i++) drop_copies(binder->map, &c[i].store->replica[c[i].domain]);
  lgt_mem_free(c);
  return n > 0;
}

bool lgt_evict_garbage(const lgt_binder *binder) {
  const lgt_map *map = binder->map;
  int64_t lacks = 0;
  for (int m = 1; m < map->nmemory; m++) lacks += map->memory[m].pool->lacked;
  return binder->may_collect && lacks && map->since_collection >= lacks &&
         (double)lacks * THERE_AND_BACK / BUS_BYTES_PER_NS > binder->fuser->collection_ns;
}

bool lgt_evict(lgt_binder *binder) {
  bool some = false;
  for (int m = 1; m < binder->map->nmemory; m++) {
    const lgt_memory *memory = &binder->map->memory[m];
    int64_t lacks = memory->pool->lacked;
    memory->pool->lacked = 0;
    if (lacks) some |= make_room(binder, memory, lacks);
  }
  return some;
}

lgt_status lgt_evict_all(lgt_binder *binder) {
  const lgt_map *map = binder->map;
  lgt_status status = LGT_OK;
  for (uint32_t id = 1; id < binder->stores->nstore && !status; id++) {
    lgt_store *store = lgt_store_at(binder->stores, id);
    for (int d = 0; store->layout && store->replica && d < map->local && !status; d++)
      status = move_main(binder, store, d);
  }
  lgt_job_retire(binder, true);
  for (uint32_t id = 1; id < binder->stores->nstore; id++) {
    const lgt_store *store = lgt_store_at(binder->stores, id);
    for (int d = 0; store->layout && store->replica && d < map->local; d++)
      drop_copies(binder->map, &store->replica[d]);
  }
  return status;
}
