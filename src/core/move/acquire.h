/* acquire.h - gets a local domain an instance that covers some elements of a store and may be used as the caller asks.
 *
 * A domain's instance of a store grows when more elements are needed, or gets another one beside it when these are far away
 * (replica.h).  An instance that other stores share, or to which a recipe refers, is not written: the store gets one of
 * its own.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_ACQUIRE_H
#define LGT_ACQUIRE_H

#include "move/binder.h"

/* What happens to the elements of an instance that is acquired. */
typedef enum lgt_use {
  LGT_USE_READ,
  LGT_USE_RECEIVE, /* they come from another domain, where this store may have been written */
  LGT_USE_WRITE
} lgt_use;
/* Which elements of a rect are needed: those that data names, and some others.  What is known is local to a rank, and only says
 * for how many there must be memory. */
enum { LGT_PICKS = 4 };
typedef struct lgt_picks {
  const lgt_runs *runs[LGT_PICKS]; /* borrowed: along the first dimension */
  int count;                       /* 0: all of the rect may be needed */
  lgt_rect rest;                   /* all of these are needed, too; ndim -1: none */
} lgt_picks;

/* Copy the elements of `rect` for which another instance of the domain has newer ones, except those of `spare` (NULL:
 * none). */
lgt_status lgt_acquire_refresh(lgt_binder *binder, lgt_replica *replica, lgt_instance *inst, const lgt_rect *rect,
                               const lgt_rect *spare);
/* Would a use of the store's memory change elements of somebody else?  What comes to a store that is as it was when it
 * began to share is what the others had then; where they have been written since, elsewhere, this memory counts as old. */
static inline bool lgt_acquire_must_part(const lgt_store *store, const lgt_instance *inst, lgt_use use) {
  if (use == LGT_USE_READ) return false;
  bool comes = use == LGT_USE_RECEIVE && !store->failure;
  return (inst->pins > 0 && !(comes && store->version <= inst->pinned_alike)) ||
         (inst->owners > 1 && !(comes && store->version <= inst->alike));
}
/* With several domains: is the only instance that a local domain has of a store (which has replicas) such as lgt_acquire would
 * leave it?  Mostly it is. */
static inline bool lgt_acquire_suits(const lgt_store *store, int domain, const lgt_memory *memory, const lgt_rect *rect,
                                     lgt_use use) {
  const lgt_replica *replica = &store->replica[domain];
  const lgt_instance *inst = replica->inst;
  if (!inst || replica->naside || replica->old.count || inst->memory != memory || inst->thin) return false;
  return lgt_rect_contains(&inst->rect, rect) && !lgt_acquire_must_part(store, inst, use);
}
/* ... or would it be, did not recipes refer to it, which read none of what is written now?  `changed`: a bound of that; ndim -1:
 * nothing is. */
static inline bool lgt_acquire_beside(const lgt_store *store, int domain, const lgt_memory *memory, const lgt_rect *rect,
                                      const lgt_rect *changed) {
  const lgt_instance *inst = store->replica[domain].inst;
  lgt_rect common;
  if (changed->ndim < 0 || !inst || !inst->pins || inst->owners > 1) return false;
  return !lgt_rect_intersect(&inst->pinned, changed, &common) && lgt_acquire_suits(store, domain, memory, rect, LGT_USE_READ);
}
/* Afterwards the local domain's main instance is in `memory`, covers `rect`, and may be used as `use` says.  `spare`:
 * elements that need not be kept, for they are about to be overwritten; NULL: none.  `picks`: which elements of `rect` are
 * needed; NULL: all. */
lgt_status lgt_acquire(lgt_binder *binder, lgt_store *store, int domain, lgt_memory *memory, const lgt_rect *rect, lgt_use use,
                       const lgt_rect *spare, const lgt_picks *picks);
/* A piece comes to an instance that covers it, although not all that was needed could be acquired: it counts, beyond the limit
 * if it must be. */
void lgt_acquire_arrival(lgt_map *map, lgt_instance *inst, const lgt_piece *piece);

/* The group, one that lasts, has made memory of the store as one of its slots. */
void lgt_acquire_housed(lgt_store *store, const lgt_plan_group *lasting, int slot);
/* A tile of a group's slot with the halo that later groups wanted of it: of a shifted plan, those of its origin if they are
 * thin here, too. */
lgt_rect lgt_acquire_margin(const lgt_plan_group *group, int slot, const lgt_rect *rect, const lgt_layout *root);
/* The group, which houses the store, has made the domain's main instance of it for `rect`: a tile with that halo, if nothing was
 * there before. */
void lgt_acquire_made(const lgt_binder *binder, const lgt_plan_group *group, const lgt_store *store, int domain,
                      const lgt_rect *rect);
/* New memory for a large tile has room to spare where the array goes on, as far as its block has (pool.h): then the tile need not
 * be copied for the first halo or margin. */
lgt_rect lgt_acquire_spacious(lgt_binder *binder, const lgt_rect *rect, const lgt_layout *root);

#endif
