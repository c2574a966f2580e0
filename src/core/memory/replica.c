/* replica.c - see replica.h. */
#include "memory/replica.h"

#include <string.h>

enum { MOST = 16 }; /* instances of a replica: beyond that they grow together */
enum { LITTLE = 4 };

/* Is a rect too little, and what lies between too much, to copy all of an instance into one that has both? */
static bool is_not_worth(const lgt_instance *inst, const lgt_rect *rect, int64_t growth) {
  int64_t size = lgt_rect_size(rect);
  return size * LITTLE < lgt_rect_size(&inst->rect) && growth > size * LITTLE;
}

int lgt_replica_choose(const lgt_replica *replica, const lgt_memory *memory, const lgt_rect *rect,
                       int64_t *waste) {
  int best = LGT_REPLICA_NEW;
  int64_t best_growth = INT64_MAX;
  bool full = replica->naside + 1 >= MOST;
  *waste = 0;
  if (replica->inst && replica->inst->memory == memory &&
      (lgt_rect_empty(rect) || lgt_rect_contains(&replica->inst->rect, rect)))
    return *waste = replica->inst->waste, LGT_REPLICA_MAIN;
  for (int k = LGT_REPLICA_MAIN; k < replica->naside; k++) {
    const lgt_instance *inst = k < 0 ? replica->inst : replica->aside[k].inst;
    if (!inst || inst->memory != memory) continue;
    lgt_rect both = lgt_rect_bound(&inst->rect, rect);
    int64_t growth = lgt_rect_size(&both) - lgt_rect_size(&inst->rect), wasted = inst->waste;
    bool near = !growth || (!is_not_worth(inst, rect, growth) && lgt_rect_near(&inst->rect, rect, &wasted));
    if (growth < best_growth && (near || full)) best = k, best_growth = growth, *waste = wasted;
  }
  return best;
}

void lgt_replica_turn(lgt_replica *replica, int k) {
  lgt_aside main = {replica->inst, replica->old};
  replica->inst = replica->aside[k].inst;
  replica->old = replica->aside[k].old;
  replica->aside[k] = main;
}

bool lgt_replica_add(lgt_map *map, lgt_replica *replica, lgt_instance *inst) {
  if (replica->inst) {
    if (!lgt_mem_grow((void **)&replica->aside, &replica->aside_room, replica->naside + 1,
                      sizeof *replica->aside))
      return false;
    replica->aside[replica->naside++] = (lgt_aside){replica->inst, replica->old};
    replica->inst = NULL;
    memset(&replica->old, 0, sizeof replica->old);
  }
  lgt_replica_set(map, replica, inst);
  return true;
}

/* Add the part of a rect that lies in another one. */
static bool add_common(lgt_region *region, const lgt_rect *a, const lgt_rect *b) {
  lgt_rect common;
  return !lgt_rect_intersect(a, b, &common) || lgt_region_add(region, &common);
}

bool lgt_replica_changed(lgt_replica *replica, const lgt_rect *had) {
  bool good = true;
  lgt_region kept = {0}, more = {0};
  if (!had) lgt_region_clear(&replica->old);
  for (int k = 0; k < replica->naside && good; k++) {
    const lgt_aside *aside = &replica->aside[k];
    good = add_common(&more, &aside->inst->rect, &replica->inst->rect);
    for (int i = 0; i < aside->old.count && good; i++) good = lgt_region_remove(&more, &aside->old.rect[i]);
    for (int i = 0; i < more.count && good; i++) good = lgt_region_add(&kept, &more.rect[i]);
    lgt_region_clear(&more);
  }
  if (good && had) good = lgt_region_remove(&kept, had);
  for (int i = 0; i < kept.count && good; i++) good = lgt_region_add(&replica->old, &kept.rect[i]);
  lgt_region_fini(&kept);
  lgt_region_fini(&more);
  return good;
}

bool lgt_replica_meets(const lgt_replica *replica, const lgt_rect *rect) {
  lgt_rect common;
  bool meets = replica->inst && lgt_rect_intersect(&replica->inst->rect, rect, &common);
  for (int k = 0; k < replica->naside && !meets; k++)
    meets = lgt_rect_intersect(&replica->aside[k].inst->rect, rect, &common);
  return meets;
}

lgt_instance *lgt_replica_holder(const lgt_replica *replica, const lgt_rect *rect) {
  if (replica->inst && lgt_rect_contains(&replica->inst->rect, rect) &&
      !lgt_region_meets(&replica->old, rect))
    return replica->inst;
  for (int k = 0; k < replica->naside; k++)
    if (lgt_rect_contains(&replica->aside[k].inst->rect, rect) &&
        !lgt_region_meets(&replica->aside[k].old, rect))
      return replica->aside[k].inst;
  return NULL;
}

bool lgt_replica_find(const lgt_replica *replica, lgt_region *want, lgt_pieces *found) {
  bool good = true;
  for (int k = LGT_REPLICA_MAIN; k < replica->naside && want->count && good; k++) {
    lgt_instance *inst = k < 0 ? replica->inst : replica->aside[k].inst;
    const lgt_region *old = k < 0 ? &replica->old : &replica->aside[k].old;
    lgt_region here = {0};
    for (int i = 0; i < want->count && inst && good; i++)
      good = add_common(&here, &want->rect[i], &inst->rect);
    for (int i = 0; i < old->count && good; i++) good = lgt_region_remove(&here, &old->rect[i]);
    for (int i = 0; i < here.count && good; i++) {
      good = lgt_mem_grow((void **)&found->piece, &found->room, found->count + 1, sizeof *found->piece);
      if (good) found->piece[found->count++] = (lgt_piece){.rect = here.rect[i], .inst = inst};
      if (good) good = lgt_region_remove(want, &here.rect[i]);
    }
    lgt_region_fini(&here);
  }
  return good;
}

void lgt_replica_drop(lgt_map *map, lgt_replica *replica, int k) {
  lgt_aside *aside = &replica->aside[k];
  lgt_instance_disown(map, aside->inst);
  lgt_instance_release(map, aside->inst);
  lgt_region_fini(&aside->old);
  *aside = replica->aside[--replica->naside];
}

void lgt_replica_drop_asides(lgt_map *map, lgt_replica *replica) {
  while (replica->naside) lgt_replica_drop(map, replica, replica->naside - 1);
  lgt_region_clear(&replica->old);
}

void lgt_replica_tidy(lgt_map *map, lgt_replica *replica) {
  const lgt_instance *main = replica->inst;
  for (int k = replica->naside - 1; k >= 0; k--) {
    const lgt_rect *rect = &replica->aside[k].inst->rect;
    if (lgt_region_contains(&replica->aside[k].old, rect) ||
        (main && main->memory == replica->aside[k].inst->memory && lgt_rect_contains(&main->rect, rect) &&
         !lgt_region_meets(&replica->old, rect)))
      lgt_replica_drop(map, replica, k);
  }
}

bool lgt_replica_written(lgt_replica *replica, const lgt_instance *inst, const lgt_rect *rect) {
  if (!replica->naside && !replica->old.count) return true;
  bool good = true;
  for (int k = LGT_REPLICA_MAIN; k < replica->naside && good; k++) {
    const lgt_instance *one = k < 0 ? replica->inst : replica->aside[k].inst;
    lgt_region *old = k < 0 ? &replica->old : &replica->aside[k].old;
    if (one && one == inst) good = lgt_region_remove(old, rect);
    else if (one && replica->naside) good = add_common(old, rect, &one->rect);
  }
  return good;
}

lgt_region *lgt_replica_old(lgt_replica *replica, const lgt_instance *inst) {
  if (inst == replica->inst) return &replica->old;
  for (int k = 0; k < replica->naside; k++)
    if (inst == replica->aside[k].inst) return &replica->aside[k].old;
  return NULL;
}
