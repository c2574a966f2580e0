/* cells.c - see cells.h. */
#include "plan/cells.h"

#include "model/cell.h"

bool lgt_cells_may_mix(const lgt_fuser *fuser, const lgt_plan_call *call) {
  int64_t owners = 1;
  if (lgt_kind_native(call->kind) || !lgt_partition_apart(call->launch, fuser->solver.domains)) return false;
  for (int j = 0; j < call->launch->home.ndim; j++) owners *= call->launch->home.grid[j];
  if (call->kind->reduces) return call->launch->ncolour == owners; /* all take part in its result */
  for (int a = 0; a < call->nargs; a++) /* a rank has those once, for all its domains */
    if (lgt_kind_writes(call->kind, a) && lgt_layout_at(fuser->stores, call->layout[a])->root_ndim == 0)
      return false;
  return true;
}

/* Does a call write what it uses through another view, too?  It works in new memory then. */
static bool reuses(const lgt_plan_call *call) {
  for (int a = 0; a < call->nargs; a++)
    for (int b = 0; b < call->nargs; b++)
      if (lgt_kind_writes(call->kind, a) && call->root[a] == call->root[b] &&
          call->layout[a] != call->layout[b])
        return true;
  return false;
}

/* An argument that is no number: is it such that each domain can have a copy of all that the call touches? */
static bool may_have_copies(const lgt_plan_root *root, const lgt_layout *view, bool writes) {
  return !(writes && root->attached) && !(view->flags & LGT_LAYOUT_RESHAPED);
}

int64_t lgt_cells_points(const lgt_fuser *fuser, const lgt_plan_call *call) {
  int64_t points = 0;
  for (int a = 0; a < call->nargs; a++) {
    const lgt_layout *l = lgt_layout_at(fuser->stores, call->layout[a]);
    lgt_rect all = lgt_rect_of_shape(l->ndim, l->shape), box = lgt_layout_root_rect(l, &all);
    int64_t size = l->root_ndim ? lgt_rect_size(&box) : 0;
    if (size > points) points = size;
  }
  lgt_rect space = lgt_rect_of_shape(call->space.ndim, call->space.extent);
  return points && lgt_rect_size(&space) > points ? lgt_rect_size(&space) : points;
}

bool lgt_cells_may_repeat(const lgt_fuser *fuser, const lgt_plan *plan, const lgt_plan_call *call,
                          int64_t points) {
  lgt_rect space = lgt_rect_of_shape(call->space.ndim, call->space.extent);
  if (call->launch->kind != LGT_PARTITION_NONE || lgt_kind_native(call->kind) || call->kind->reduces ||
      lgt_rect_empty(&space) || reuses(call))
    return false;
  for (int a = 0; a < call->nargs; a++) {
    const lgt_plan_root *root = &plan->root[call->root[a]];
    const lgt_layout *view = lgt_layout_at(fuser->stores, call->layout[a]);
    bool writes = lgt_kind_writes(call->kind, a);
    if (view->root_ndim > 0 ? !may_have_copies(root, view, writes)
                            : writes && (!root->fresh || root->first_group != LGT_NONE))
      return false;
  }
  int64_t more = lgt_cells_points(fuser, call);
  return !more || (double)(points + more) * LGT_POINT_US <= (double)fuser->config->widen;
}

bool lgt_cells_everywhere(const lgt_fuser *fuser, const lgt_partition *launch) {
  int64_t owners = 1;
  for (int j = 0; j < launch->home.ndim; j++) owners *= launch->home.grid[j];
  return owners == fuser->solver.domains && lgt_partition_apart(launch, fuser->solver.domains);
}

static bool cell_of(const lgt_fuser *fuser, const lgt_plan_call *call, int arg, int j, lgt_cell *out) {
  return lgt_cell_of(lgt_layout_at(fuser->stores, call->layout[arg]), &call->space.align[arg], call->launch,
                     j, out);
}

/* Is all that a call touches through an argument in one owner's cell? */
static bool lies_in(const lgt_fuser *fuser, const lgt_plan_call *call, int arg, int32_t owner,
                    const lgt_cell *c, int32_t owners) {
  const lgt_layout *l = lgt_layout_at(fuser->stores, call->layout[arg]);
  lgt_rect space = lgt_rect_of_shape(call->space.ndim, call->space.extent);
  lgt_rect view = lgt_space_view_rect(l, &call->space.align[arg], &space);
  lgt_rect rect = lgt_layout_root_rect(l, &view);
  return lgt_cell_holds(c, &rect, owner, owners);
}

bool lgt_cells_agree(const lgt_fuser *fuser, const lgt_plan_call *a, int arg, const lgt_plan_call *b,
                     int other) {
  const lgt_home *home = &a->launch->home;
  for (int j = 0; j < home->ndim; j++) {
    lgt_cell x, y;
    if (!cell_of(fuser, a, arg, j, &x) || !cell_of(fuser, b, other, j, &y)) return false;
    bool same = x.dim < 0 && y.dim < 0 ? x.first == y.first
                : x.dim < 0            ? lies_in(fuser, a, arg, x.first, &y, home->grid[j])
                : y.dim < 0            ? lies_in(fuser, b, other, y.first, &x, home->grid[j])
                                       : x.dim == y.dim && x.tile == y.tile && x.origin == y.origin;
    if (!same) return false;
  }
  return true;
}

lgt_rect lgt_cells_tile(const lgt_plan_group *group, const lgt_partition *launch, int colour) {
  if (!group->mixed) return lgt_partition_rect(launch, colour);
  colour = lgt_partition_colour_of(launch, colour);
  lgt_rect none = {.ndim = launch->ndim ? launch->ndim : -1};
  return colour < 0 ? none : lgt_partition_rect(launch, colour);
}
