/* cell.c - see cell.h. */
#include "model/cell.h"

/* Through a reshaped view cells are rows of the root. */
static bool cell_of_rows(const lgt_layout *l, const lgt_alignment *align, const lgt_partition *p, int j,
                         lgt_cell *out) {
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

bool lgt_cell_of(const lgt_layout *l, const lgt_alignment *align, const lgt_partition *p, int j,
                 lgt_cell *out) {
  int k = p->home.dim[j];
  *out = (lgt_cell){.dim = -1, .first = p->home.first[j]};
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

bool lgt_cell_holds(const lgt_cell *c, const lgt_rect *rect, int32_t owner, int32_t owners) {
  int64_t begin = c->origin + owner * c->tile;
  return (owner == 0 || rect->lo[c->dim] >= begin) &&
         (owner == owners - 1 || rect->hi[c->dim] <= begin + c->tile);
}
