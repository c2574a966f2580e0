/* cells.c - see cells.h. */
#include "plan/cells.h"

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

bool lgt_cells_may_repeat(const lgt_fuser *fuser, const lgt_plan *plan, const lgt_plan_call *call) {
  if (call->launch->kind != LGT_PARTITION_NONE || lgt_kind_native(call->kind) || call->kind->reduces)
    return false;
  for (int a = 0; a < call->nargs; a++) {
    const lgt_plan_root *root = &plan->root[call->root[a]];
    if (lgt_layout_at(fuser->stores, root->layout)->ndim > 0) return false;
    if (lgt_kind_writes(call->kind, a) && (!root->fresh || root->first_group != LGT_NONE)) return false;
  }
  return true;
}

bool lgt_cells_everywhere(const lgt_fuser *fuser, const lgt_partition *launch) {
  int64_t owners = 1;
  for (int j = 0; j < launch->home.ndim; j++) owners *= launch->home.grid[j];
  return owners == fuser->solver.domains && lgt_partition_apart(launch, fuser->solver.domains);
}

/* What the owners along one dimension of their grid touch of a root. */
typedef struct cell {
  int dim;              /* of the root, along which the cells lie; -1: all elements are the owner `first`'s */
  int64_t tile, origin; /* of the first owner's cell */
  int32_t first;
} cell;

/* Through a reshaped view cells are rows of the root. */
static bool cell_of_rows(const lgt_layout *l, const lgt_alignment *align, const lgt_partition *p, int j,
                         cell *out) {
  lgt_outer o;
  int k = p->home.dim[j], r = 0;
  while (r < l->root_ndim && !(lgt_layout_outer(l, r, &o) && align->to[o.dim] == k)) r++;
  if (r == l->root_ndim || l->shape[o.dim] != p->extent[k]) return false;
  if (align->below[o.dim] || align->above[o.dim] || lgt_alignment_block(align, o.dim) != 1) return false;
  int64_t first = o.at + (p->offset[k] - p->home.first[j] * p->tile[k]) * o.block,
          tile = p->tile[k] * o.block;
  if (first % o.unit || tile % o.unit) return false;
  out->dim = o.row;
  out->tile = tile / o.unit;
  out->origin = first / o.unit;
  return true;
}

static bool cell_of(const lgt_fuser *fuser, const lgt_plan_call *call, int arg, int j, cell *out) {
  const lgt_partition *p = call->launch;
  const lgt_layout *l = lgt_layout_at(fuser->stores, call->layout[arg]);
  const lgt_alignment *align = &call->space.align[arg];
  int k = p->home.dim[j];
  *out = (cell){.dim = -1, .first = p->home.first[j]};
  if (k < 0 || p->grid[k] == 1) return true;
  int64_t begin[LGT_MAX_DIM], step[LGT_MAX_DIM];
  if (l->flags & LGT_LAYOUT_RESHAPED) return cell_of_rows(l, align, p, j, out);
  lgt_layout_walk(l, begin, step);
  for (int d = 0; d < l->ndim; d++) {
    if (align->to[d] != k || step[d] < 1 || l->shape[d] != p->extent[k]) continue;
    if (align->below[d] || align->above[d] || lgt_alignment_block(align, d) != 1) return false;
    out->dim = l->dim[d];
    out->tile = step[d] * p->tile[k];
    out->origin = begin[out->dim] + step[d] * (p->offset[k] - p->home.first[j] * p->tile[k]);
    return true;
  }
  return false; /* several owners touch the same elements */
}

/* Is all that a call touches through an argument in one owner's cell?  The outermost cells reach to the edges. */
static bool lies_in(const lgt_fuser *fuser, const lgt_plan_call *call, int arg, int32_t owner, const cell *c,
                    int32_t owners) {
  const lgt_layout *l = lgt_layout_at(fuser->stores, call->layout[arg]);
  lgt_rect space = lgt_rect_of_shape(call->space.ndim, call->space.extent);
  lgt_rect view = lgt_space_view_rect(l, &call->space.align[arg], &space);
  lgt_rect rect = lgt_layout_root_rect(l, &view);
  int64_t begin = c->origin + owner * c->tile;
  return (owner == 0 || rect.lo[c->dim] >= begin) &&
         (owner == owners - 1 || rect.hi[c->dim] <= begin + c->tile);
}

bool lgt_cells_agree(const lgt_fuser *fuser, const lgt_plan_call *a, int arg, const lgt_plan_call *b,
                     int other) {
  const lgt_home *home = &a->launch->home;
  for (int j = 0; j < home->ndim; j++) {
    cell x, y;
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
