/* rect.h - boxes of integer coordinates, and regions made of disjoint boxes.
 *
 * A rect is half open: lo <= x < hi in each of its ndim dimensions; a 0-d rect holds one point.
 * A region is a set of points kept as disjoint rects of equal ndim.
 */
#ifndef LGT_RECT_H
#define LGT_RECT_H

#include "core.h"

typedef struct lgt_rect {
  int ndim; /* negative: empty, which a rect without dimensions cannot be otherwise */
  int64_t lo[LGT_MAX_DIM], hi[LGT_MAX_DIM];
} lgt_rect;

typedef struct lgt_region {
  lgt_rect *rect; /* owned, disjoint, none empty */
  int count, room;
} lgt_region;

lgt_rect lgt_rect_of_shape(int ndim, const int64_t *shape);
bool lgt_rect_empty(const lgt_rect *r);
int64_t lgt_rect_size(const lgt_rect *r);
bool lgt_rect_equal(const lgt_rect *a, const lgt_rect *b);
bool lgt_rect_contains(const lgt_rect *outer, const lgt_rect *inner);
bool lgt_rect_intersect(const lgt_rect *a, const lgt_rect *b, lgt_rect *out); /* false: empty */
lgt_rect lgt_rect_bound(const lgt_rect *a, const lgt_rect *b); /* smallest rect that holds both; empty ones do not count */
/* The rect that bounds both has elements that lie in neither.  On entry, `waste` elements of a and b together are of no use;
 * on return *waste counts the elements between them, too.  True if it is at most half of the elements that are of use. */
bool lgt_rect_near(const lgt_rect *a, const lgt_rect *b, int64_t *waste);
/* With so many elements more below and above, within [0, shape). */
lgt_rect lgt_rect_grown(const lgt_rect *r, const int64_t *below, const int64_t *above, const int64_t *shape);
/* Go through the indices of a box from 0 on, in C order; at[i] is the place of the index by stride[i], for n of them.  False:
 * that was the last index; everything is as at the beginning. */
static inline bool lgt_index_next(int ndim, const int64_t *extent, int64_t *index, int n, int64_t *at,
                                  const int64_t *const *stride) {
  for (int d = ndim - 1; d >= 0; d--) {
    bool more = ++index[d] < extent[d];
    for (int i = 0; i < n; i++) at[i] += stride[i][d] * (more ? 1 : 1 - extent[d]);
    if (more) return true;
    index[d] = 0;
  }
  return false;
}
/* a without b, as at most 2 * ndim disjoint rects; returns their number. */
int lgt_rect_subtract(const lgt_rect *a, const lgt_rect *b, lgt_rect out[2 * LGT_MAX_DIM]);

void lgt_region_fini(lgt_region *region);
void lgt_region_clear(lgt_region *region);
/* Have they a point in common? */
bool lgt_region_meets(const lgt_region *region, const lgt_rect *r);
bool lgt_region_contains(const lgt_region *region, const lgt_rect *r);
/* False when out of memory; the region is then unchanged. */
bool lgt_region_add(lgt_region *region, const lgt_rect *r);
bool lgt_region_remove(lgt_region *region, const lgt_rect *r);
/* Makes room, so that adding or removing r cannot fail. */
bool lgt_region_reserve(lgt_region *region, const lgt_rect *r);

#endif
