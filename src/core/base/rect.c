/* rect.c - box algebra for data movement.  See rect.h.
 *
 * Regions stay small (a tile plus the halos that were fetched), so lists with linear scans beat
 * anything cleverer.  Adding first removes the new rect from the old ones, which keeps the members
 * disjoint; then neighbours that share a full face are joined, so that a tile which is refreshed
 * strip by strip comes back as one rect.
 */
#include "base/rect.h"

#include <string.h>

lgt_rect lgt_rect_of_shape(int ndim, const int64_t *shape) {
  lgt_rect r = {.ndim = ndim};
  for (int d = 0; d < ndim; d++) r.hi[d] = shape[d];
  return r;
}

bool lgt_rect_empty(const lgt_rect *r) {
  if (r->ndim < 0) return true;
  for (int d = 0; d < r->ndim; d++)
    if (r->lo[d] >= r->hi[d]) return true;
  return false;
}

int64_t lgt_rect_size(const lgt_rect *r) {
  int64_t size = r->ndim >= 0;
  for (int d = 0; d < r->ndim; d++) {
    if (r->lo[d] >= r->hi[d]) return 0;
    size *= r->hi[d] - r->lo[d];
  }
  return size;
}

bool lgt_rect_equal(const lgt_rect *a, const lgt_rect *b) {
  if (a->ndim != b->ndim) return false;
  for (int d = 0; d < a->ndim; d++)
    if (a->lo[d] != b->lo[d] || a->hi[d] != b->hi[d]) return false;
  return true;
}

bool lgt_rect_contains(const lgt_rect *outer, const lgt_rect *inner) {
  if (lgt_rect_empty(inner)) return true;
  for (int d = 0; d < outer->ndim; d++)
    if (inner->lo[d] < outer->lo[d] || inner->hi[d] > outer->hi[d]) return false;
  return true;
}

bool lgt_rect_intersect(const lgt_rect *a, const lgt_rect *b, lgt_rect *out) {
  lgt_rect r = {.ndim = a->ndim};
  for (int d = 0; d < a->ndim; d++) {
    r.lo[d] = a->lo[d] > b->lo[d] ? a->lo[d] : b->lo[d];
    r.hi[d] = a->hi[d] < b->hi[d] ? a->hi[d] : b->hi[d];
    if (r.lo[d] >= r.hi[d]) return false;
  }
  *out = r;
  return true;
}

lgt_rect lgt_rect_bound(const lgt_rect *a, const lgt_rect *b) {
  if (lgt_rect_empty(a)) return *b;
  if (lgt_rect_empty(b)) return *a;
  lgt_rect r = *a;
  for (int d = 0; d < a->ndim; d++) {
    if (b->lo[d] < r.lo[d]) r.lo[d] = b->lo[d];
    if (b->hi[d] > r.hi[d]) r.hi[d] = b->hi[d];
  }
  return r;
}

lgt_rect lgt_rect_grown(const lgt_rect *r, const int64_t *below, const int64_t *above, const int64_t *shape) {
  lgt_rect out = *r;
  for (int d = 0; d < r->ndim; d++) {
    out.lo[d] = r->lo[d] < below[d] ? 0 : r->lo[d] - below[d];
    out.hi[d] = shape[d] - r->hi[d] < above[d] ? shape[d] : r->hi[d] + above[d];
  }
  return out;
}

bool lgt_rect_near(const lgt_rect *a, const lgt_rect *b, int64_t *waste) {
  lgt_rect both = lgt_rect_bound(a, b), common;
  int64_t size = lgt_rect_size(&both), useful = lgt_rect_size(a) + lgt_rect_size(b);
  if (lgt_rect_intersect(a, b, &common)) useful -= lgt_rect_size(&common);
  *waste += size - useful;
  return 3 * *waste <= size;
}

int lgt_rect_subtract(const lgt_rect *a, const lgt_rect *b, lgt_rect out[2 * LGT_MAX_DIM]) {
  lgt_rect common, rest = *a;
  int n = 0;
  if (lgt_rect_empty(a)) return 0;
  if (!lgt_rect_intersect(a, b, &common)) {
    out[0] = *a;
    return 1;
  }
  for (int d = 0; d < a->ndim; d++) { /* cut off what lies below and above, then go on inside */
    if (rest.lo[d] < common.lo[d]) {
      out[n] = rest;
      out[n++].hi[d] = common.lo[d];
    }
    if (rest.hi[d] > common.hi[d]) {
      out[n] = rest;
      out[n++].lo[d] = common.hi[d];
    }
    rest.lo[d] = common.lo[d];
    rest.hi[d] = common.hi[d];
  }
  return n;
}

void lgt_region_fini(lgt_region *region) {
  lgt_mem_free(region->rect);
  *region = (lgt_region){0};
}

void lgt_region_clear(lgt_region *region) { region->count = 0; }

bool lgt_region_contains(const lgt_region *region, const lgt_rect *r) {
  if (lgt_rect_empty(r)) return true;
  for (int i = 0; i < region->count; i++)
    if (lgt_rect_contains(&region->rect[i], r)) return true;
  /* Not in one member: count the points that members cover; they are disjoint. */
  int64_t covered = 0;
  lgt_rect common;
  for (int i = 0; i < region->count; i++)
    if (lgt_rect_intersect(&region->rect[i], r, &common)) covered += lgt_rect_size(&common);
  return covered == lgt_rect_size(r);
}

bool lgt_region_meets(const lgt_region *region, const lgt_rect *r) {
  lgt_rect common;
  for (int i = 0; i < region->count; i++)
    if (lgt_rect_intersect(&region->rect[i], r, &common)) return true;
  return false;
}

/* Most regions are one rect: they begin with room for just that. */
static bool make_room(lgt_region *region, int need) {
  if (region->room == 0 && need == 1) {
    region->rect = lgt_mem_alloc(sizeof *region->rect);
    region->room = region->rect != NULL;
    return region->rect != NULL;
  }
  return lgt_mem_grow((void **)&region->rect, &region->room, need, sizeof *region->rect);
}

static bool push(lgt_region *region, const lgt_rect *r) {
  if (!make_room(region, region->count + 1)) return false;
  region->rect[region->count++] = *r;
  return true;
}

bool lgt_region_reserve(lgt_region *region, const lgt_rect *r) {
  int need = region->count + 1;
  lgt_rect common;
  for (int i = 0; i < region->count; i++)
    if (lgt_rect_intersect(&region->rect[i], r, &common)) need += 2 * r->ndim;
  return make_room(region, need);
}

bool lgt_region_remove(lgt_region *region, const lgt_rect *r) {
  if (lgt_rect_empty(r) && r->ndim) return true;
  if (!lgt_region_reserve(region, r)) return false;
  for (int i = 0; i < region->count;) {
    lgt_rect common, piece[2 * LGT_MAX_DIM];
    if (!lgt_rect_intersect(&region->rect[i], r, &common)) {
      i++;
      continue;
    }
    int n = lgt_rect_subtract(&region->rect[i], r, piece);
    region->rect[i] = region->rect[--region->count];
    for (int k = 0; k < n; k++) push(region, &piece[k]);
    i = 0; /* pieces do not meet r any more, so this ends */
  }
  return true;
}

/* Do a and b share a full face?  Then a becomes both. */
static bool join(lgt_rect *a, const lgt_rect *b) {
  int differ = -1;
  for (int d = 0; d < a->ndim; d++) {
    if (a->lo[d] == b->lo[d] && a->hi[d] == b->hi[d]) continue;
    if (differ >= 0) return false;
    differ = d;
  }
  if (differ < 0) return true;
  if (a->hi[differ] == b->lo[differ]) a->hi[differ] = b->hi[differ];
  else if (b->hi[differ] == a->lo[differ]) a->lo[differ] = b->lo[differ];
  else return false;
  return true;
}

static void coalesce(lgt_region *region) {
  for (bool again = true; again;) {
    again = false;
    for (int i = 0; i < region->count && !again; i++)
      for (int k = i + 1; k < region->count && !again; k++)
        if (join(&region->rect[i], &region->rect[k])) {
          region->rect[k] = region->rect[--region->count];
          again = true;
        }
  }
}

bool lgt_region_add(lgt_region *region, const lgt_rect *r) {
  if (lgt_rect_empty(r)) return true;
  for (int i = 0; i < region->count; i++)
    if (lgt_rect_contains(&region->rect[i], r)) return true;
  if (!lgt_region_remove(region, r)) return false;
  if (!push(region, r)) return false;
  coalesce(region);
  return true;
}
