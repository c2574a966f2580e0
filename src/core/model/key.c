/* key.c - the key partition that a launch gives a root.  See constraint.h. */
#include "model/constraint.h"

/* Of a reshaped view: NULL, too, where tiles do not end with rows. */
static const lgt_partition *key_of_reshaped(const lgt_solver *solver, const lgt_layout *l,
                                            const lgt_alignment *align, const lgt_partition *launch) {
  int64_t offset[LGT_MAX_DIM] = {0}, tile[LGT_MAX_DIM];
  unsigned cut = 0;
  lgt_home home = launch->home;
  for (int j = 0; j < home.ndim; j++) home.dim[j] = -1;
  for (int r = 0; r < l->root_ndim; r++) {
    lgt_outer o;
    tile[r] = l->root_shape[r] < 1 ? 1 : l->root_shape[r];
    int k = lgt_layout_outer(l, r, &o) ? align->to[o.dim] : -1;
    if (k < 0 || launch->grid[k] == 1) continue;
    int64_t first = o.at + launch->offset[k] * o.block;
    if (first % o.unit || launch->tile[k] * o.block % o.unit || align->block[o.dim] > 1) return NULL;
    tile[r] = launch->tile[k] * o.block / o.unit;
    offset[r] = first / o.unit;
    cut |= 1u << k;
    for (int j = 0; j < home.ndim; j++)
      if (launch->home.dim[j] == k) home.dim[j] = (int8_t)r;
  }
  for (int k = 0; k < launch->ndim; k++)
    if (launch->grid[k] > 1 && !(cut & 1u << k)) return NULL;
  return lgt_partition_tiling_at(solver->partitions, l->root_ndim, l->root_shape, tile, offset, &home);
}

const lgt_partition *lgt_solver_key(const lgt_solver *solver, const lgt_layout *l, const lgt_alignment *align,
                                    const lgt_partition *launch) {
  int64_t offset[LGT_MAX_DIM], step[LGT_MAX_DIM], tile[LGT_MAX_DIM];
  if (launch->kind != LGT_PARTITION_TILING) return NULL;
  if (l->flags & LGT_LAYOUT_RESHAPED) return key_of_reshaped(solver, l, align, launch);
  lgt_layout_walk(l, offset, step);
  for (int d = 0; d < l->root_ndim; d++) tile[d] = l->root_shape[d] < 1 ? 1 : l->root_shape[d];
  unsigned cut = 0;
  lgt_home home = launch->home;
  for (int j = 0; j < home.ndim; j++) home.dim[j] = -1;
  for (int d = 0; d < l->ndim; d++) {
    int r = l->dim[d], k = align->to[d];
    if (r < 0 || k < 0 || launch->grid[k] == 1) continue;
    if (step[d] != 1) return NULL;
    tile[r] = launch->tile[k] * lgt_alignment_block(align, d);
    offset[r] += launch->offset[k] * lgt_alignment_block(align, d);
    for (int j = 0; j < home.ndim; j++)
      if (launch->home.dim[j] == k) home.dim[j] = (int8_t)r;
    cut |= 1u << r;
  }
  if (!cut && launch->ncolour > 1) return NULL; /* of a placed launch: it is with that one's owner */
  for (int d = 0; d < l->root_ndim; d++)
    if (!(cut & (1u << d))) offset[d] = 0;
  return lgt_partition_tiling_at(solver->partitions, l->root_ndim, l->root_shape, tile, offset, &home);
}

const lgt_partition *lgt_solver_key_after(const lgt_solver *solver, const lgt_layout *layout,
                                          const lgt_alignment *align, const lgt_partition *launch,
                                          bool target, const lgt_partition *key) {
  bool part = !lgt_layout_covers(layout, target);
  if (part && key) return key;
  const lgt_partition *new = lgt_solver_key(solver, layout, align, launch);
  /* Tiles of a small part tell only if all of the root would be in so many: those of a column do, a few rows' do not. */
  bool small = part && lgt_layout_distinct(layout) * 2 < lgt_layout_root_size(layout);
  /* What cuts a part evenly, as one of those of which an array is joined, may not cut all of the root so. */
  if (part && (!new || lgt_partition_lopsided(new))) return NULL;
  return small && new && (launch->ncolour == 1 || new->ncolour > launch->ncolour) ? NULL : new;
}
