/* binder.c - which colours a domain works on, and where.  See binder.h. */
#include "move/binder.h"

#include "plan/cells.h"
#include "plan/weave.h"

int lgt_binder_next(const lgt_binder *binder, const lgt_partition *launch, int domain, int colour) {
  const lgt_map *map = binder->map;
  if (launch->kind == LGT_PARTITION_NONE) return domain == 0 && colour < 0 ? 0 : -1; /* every rank runs it */
  return lgt_partition_next(launch, map->domains, map->first + domain, colour);
}

lgt_alignment lgt_group_align(const lgt_plan_group *group, const lgt_plan_access *access) {
  const lgt_weave_item *item = &group->items->item[access->item];
  static const lgt_alignment one = {.to = {0, 1, 2, 3, 4, 5}};
  return item->call == LGT_NONE ? one : group->plan->call[item->call].space.align[access->arg];
}

lgt_rect lgt_group_tile(const lgt_plan_group *group, const lgt_plan_loop *loop, int colour) {
  if (group->launch->kind == LGT_PARTITION_NONE) return lgt_rect_of_shape(loop->space_ndim, loop->extent);
  return lgt_cells_tile(group, loop->launch, colour);
}
