/* layout.c - which elements of the root a view shows: rects, reach, overlap.  See layout.h.
 *
 * A view keeps two descriptions of one map.  `stride` and `offset` walk the root's C order and serve
 * address computation; `dim` says which root dimension each view dimension walks along and serves
 * partitioning.  A reshape that splits or merges dimensions, a diagonal, which walks along two at once, and windows, two
 * dimensions that walk along one, leave only the first (RESHAPED).  Where such a view still is affine in the root's
 * coordinates, these are found again (slanted).
 */
#include "model/layout.h"

#include <stdlib.h>
#include <string.h>

void lgt_shape_strides(int ndim, const int64_t *shape, int64_t *stride) {
  int64_t s = 1;
  for (int d = ndim - 1; d >= 0; d--) {
    stride[d] = s;
    s *= shape[d] > 0 ? shape[d] : 1;
  }
}

/* The root's coordinates of a position in its C order. */
static void locate(const lgt_layout *l, int64_t position, int64_t at[LGT_MAX_DIM]) {
  int64_t stride[LGT_MAX_DIM];
  lgt_shape_strides(l->root_ndim, l->root_shape, stride);
  for (int k = 0; k < l->root_ndim; k++) {
    at[k] = position / stride[k];
    position -= at[k] * stride[k];
  }
}

void lgt_layout_walk(const lgt_layout *l, int64_t begin[LGT_MAX_DIM], int64_t step[LGT_MAX_DIM]) {
  int64_t root_stride[LGT_MAX_DIM];
  lgt_shape_strides(l->root_ndim, l->root_shape, root_stride);
  locate(l, l->offset, begin);
  for (int d = 0; d < l->ndim; d++)
    step[d] = l->dim[d] < 0 || l->shape[d] == 1 ? 0 : l->stride[d] / root_stride[l->dim[d]];
}

/* If there are steps along the root's dimensions, the second element of each of the view's tells them; they are, if the last
 * ones lie within the root. */
bool lgt_layout_steps(const lgt_layout *l, int64_t begin[LGT_MAX_DIM],
                      int64_t step[LGT_MAX_DIM][LGT_MAX_DIM]) {
  int64_t lo[LGT_MAX_DIM], hi[LGT_MAX_DIM];
  locate(l, l->offset, begin);
  memcpy(lo, begin, sizeof lo);
  memcpy(hi, begin, sizeof hi);
  for (int d = 0; d < l->ndim; d++) {
    locate(l, l->shape[d] > 1 ? l->offset + l->stride[d] : l->offset, step[d]);
    for (int k = 0; k < l->root_ndim; k++) {
      int64_t s = step[d][k] -= begin[k];
      if (s < 0) lo[k] += s * (l->shape[d] - 1);
      if (s > 0) hi[k] += s * (l->shape[d] - 1);
    }
  }
  for (int k = 0; k < l->root_ndim; k++)
    if (lo[k] < 0 || hi[k] >= l->root_shape[k]) return false;
  return true;
}

static lgt_rect slanted_rect(const lgt_layout *l, const int64_t begin[LGT_MAX_DIM],
                             const int64_t step[LGT_MAX_DIM][LGT_MAX_DIM], const lgt_rect *view) {
  lgt_rect r = {.ndim = l->root_ndim};
  for (int k = 0; k < l->root_ndim; k++) {
    r.lo[k] = begin[k], r.hi[k] = begin[k] + 1;
    for (int d = 0; d < l->ndim; d++) {
      int64_t a = step[d][k] * view->lo[d], b = step[d][k] * (view->hi[d] - 1);
      r.lo[k] += a < b ? a : b;
      r.hi[k] += a < b ? b : a;
    }
  }
  return r;
}

int lgt_layout_row(const lgt_layout *l, int64_t *size) {
  int d = 0;
  while (d < l->root_ndim - 1 && l->root_shape[d] == 1) d++;
  *size = 1;
  for (int k = d + 1; k < l->root_ndim; k++) *size *= l->root_shape[k];
  return d;
}

void lgt_layout_reach(const lgt_layout *l, const lgt_rect *view, int64_t *least, int64_t *most) {
  *least = *most = l->offset;
  for (int d = 0; d < l->ndim; d++) {
    int64_t a = l->stride[d] * view->lo[d], b = l->stride[d] * (view->hi[d] - 1);
    *least += a < b ? a : b;
    *most += a < b ? b : a;
  }
}

/* May the root's dimensions from r on be told from those before?  Each step of the view is along the ones or the others. */
static bool splits(const lgt_layout *l, int r) {
  int64_t size = 1;
  for (int k = r; k < l->root_ndim; k++) size *= l->root_shape[k] > 0 ? l->root_shape[k] : 1;
  int64_t least = l->offset % size, most = least;
  for (int d = 0; d < l->ndim; d++) {
    if (l->shape[d] == 1 || l->stride[d] % size == 0) continue;
    int64_t reach = (l->shape[d] - 1) * l->stride[d];
    if (reach < 0) least += reach;
    else most += reach;
  }
  return least >= 0 && most < size;
}

int lgt_layout_segment(const lgt_layout *l, int first, lgt_layout *part) {
  int end = first + 1;
  while (end < l->root_ndim && !splits(l, end)) end++;
  int64_t unit = 1, size = 1;
  for (int k = l->root_ndim - 1; k >= first; k--) {
    int64_t extent = l->root_shape[k] > 0 ? l->root_shape[k] : 1;
    if (k >= end) unit *= extent;
    size *= extent;
  }
  *part = *l;
  part->root_ndim = (uint8_t)(end - first);
  memmove(part->root_shape, l->root_shape + first, (size_t)(end - first) * sizeof *l->root_shape);
  part->offset = l->offset % size / unit;
  for (int d = 0; d < l->ndim; d++) {
    bool here = l->shape[d] > 1 && l->stride[d] % unit == 0 && (first == 0 || l->stride[d] % size != 0);
    part->stride[d] = here ? l->stride[d] / unit : 0;
  }
  return end;
}

/* Of a part of a layout, a segment: its first dimension steps past all others. */
static bool outer_of(const lgt_layout *l, lgt_outer *out) {
  int64_t row, reach = 0;
  int big = -1, first = lgt_layout_row(l, &row);
  for (int d = 0; d < l->ndim; d++) {
    if (l->stride[d] < 0) return false;
    if (big < 0 || l->stride[d] > l->stride[big]) big = d;
    reach += (l->shape[d] - 1) * l->stride[d];
  }
  if (big < 0 || l->stride[big] == 0) return false;
  reach -= (l->shape[big] - 1) * l->stride[big];
  int64_t step = l->stride[big], before = l->offset % step;
  /* Tiles may begin before their first element, where the tiles of views beside this one do. */
  if (before + reach >= step) before = l->offset % row;
  if (before + reach >= step) return false;
  int64_t begin = l->offset - before, least = step < row ? step : row;
  if (step % least || row % least || begin % least) return false;
  *out = (lgt_outer){big, first, begin / least, step / least, row / least};
  return true;
}

bool lgt_layout_outer(const lgt_layout *l, int r, lgt_outer *out) {
  lgt_layout part;
  if (!(l->flags & LGT_LAYOUT_RESHAPED) || l->size == 0) return false;
  for (int first = 0, end; first <= r; first = end) {
    end = lgt_layout_segment(l, first, &part);
    if (end <= r) continue;
    bool found = outer_of(&part, out) && first + out->row == r;
    out->row = r;
    return found;
  }
  return false;
}

/* In each segment whole rows, unless it is slanted there, so that a tile of the root holds them as the root does. */
static lgt_rect reshaped_rect(const lgt_layout *l, const lgt_rect *view) {
  lgt_rect r = lgt_rect_of_shape(l->root_ndim, l->root_shape);
  int64_t row, least, most, begin[LGT_MAX_DIM], step[LGT_MAX_DIM][LGT_MAX_DIM];
  lgt_layout part;
  for (int first = 0, end; first < l->root_ndim; first = end) {
    end = lgt_layout_segment(l, first, &part);
    if (lgt_layout_steps(&part, begin, step)) {
      lgt_rect slanted = slanted_rect(&part, begin, (const int64_t(*)[LGT_MAX_DIM])step, view);
      memcpy(r.lo + first, slanted.lo, (size_t)(end - first) * sizeof *r.lo);
      memcpy(r.hi + first, slanted.hi, (size_t)(end - first) * sizeof *r.hi);
      continue;
    }
    int d = first + lgt_layout_row(&part, &row);
    lgt_layout_reach(&part, view, &least, &most);
    if (row > 0) r.lo[d] = least / row, r.hi[d] = most / row + 1;
  }
  return r;
}

lgt_rect lgt_layout_root_rect(const lgt_layout *l, const lgt_rect *view) {
  bool empty = view->ndim > 0 && lgt_rect_empty(view);
  if (l->flags & LGT_LAYOUT_WHOLE && !empty) return *view;
  lgt_rect r = {.ndim = l->root_ndim};
  int64_t begin[LGT_MAX_DIM], step[LGT_MAX_DIM];
  if (empty) return r;
  if (l->flags & LGT_LAYOUT_RESHAPED) return reshaped_rect(l, view);
  lgt_layout_walk(l, begin, step);
  for (int d = 0; d < l->root_ndim; d++) r.lo[d] = begin[d], r.hi[d] = begin[d] + 1;
  for (int d = 0; d < l->ndim; d++) {
    int k = l->dim[d];
    if (step[d] == 0) continue;
    int64_t a = begin[k] + step[d] * view->lo[d], b = begin[k] + step[d] * (view->hi[d] - 1);
    r.lo[k] = a < b ? a : b;
    r.hi[k] = (a < b ? b : a) + 1;
  }
  return r;
}

lgt_rect lgt_layout_target_rect(const lgt_layout *l, lgt_rect view) {
  for (int d = 0; d < l->ndim; d++)
    if (l->flags & LGT_LAYOUT_RESHAPED ? l->stride[d] == 0 : l->dim[d] < 0) view.lo[d] = 0, view.hi[d] = 1;
  return lgt_layout_root_rect(l, &view);
}

int64_t lgt_layout_root_size(const lgt_layout *l) {
  int64_t size = 1;
  for (int d = 0; d < l->root_ndim; d++) size *= l->root_shape[d];
  return size;
}

bool lgt_layout_alike(const lgt_layout *a, const lgt_layout *b) {
  bool same = a->ndim == b->ndim && lgt_dtype_size(a->dtype) == lgt_dtype_size(b->dtype);
  for (int d = 0; d < a->ndim && same; d++) same = a->shape[d] == b->shape[d];
  return same;
}

/* Does a reshaped view show each element of its root once? */
static bool has_all(const lgt_layout *l) {
  return l->size == lgt_layout_root_size(l) && !(l->flags & LGT_LAYOUT_STRETCHED);
}

void lgt_layout_find_bounds(lgt_layout *l) {
  int64_t begin[LGT_MAX_DIM], step[LGT_MAX_DIM];
  bool exact = true;
  l->flags &= (uint8_t)~LGT_LAYOUT_EXACT;
  memset(l->first, 0, sizeof l->first);
  memset(l->last, 0, sizeof l->last);
  if (l->flags & LGT_LAYOUT_RESHAPED) {
    if (has_all(l)) l->flags |= LGT_LAYOUT_EXACT;
    return;
  }
  lgt_layout_walk(l, begin, step);
  for (int r = 0; r < l->root_ndim; r++) l->first[r] = l->last[r] = begin[r];
  for (int d = 0; d < l->ndim; d++) {
    int64_t reach = step[d] * (l->shape[d] - 1);
    if (step[d] > 1 || step[d] < -1) exact = false;
    if (reach < 0) l->first[l->dim[d]] += reach;
    else if (reach > 0) l->last[l->dim[d]] += reach;
  }
  if (exact) l->flags |= LGT_LAYOUT_EXACT;
}

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t t = a % b;
    a = b;
    b = t;
  }
  return a < 0 ? -a : a;
}

int64_t lgt_layout_distinct(const lgt_layout *l) {
  int64_t n = 1, step = 0, reach = 0;
  for (int d = 0; d < l->ndim; d++)
    if (l->stride[d] != 0 || l->shape[d] == 0) n *= l->shape[d];
  if (!(l->flags & LGT_LAYOUT_RESHAPED) || !(l->flags & LGT_LAYOUT_STRETCHED)) return n;
  for (int d = 0; d < l->ndim; d++) { /* windows meet */
    step = gcd(step, l->stride[d]);
    reach += (l->shape[d] - 1) * llabs(l->stride[d]);
  }
  return step && reach / step + 1 < n ? reach / step + 1 : n;
}

bool lgt_layout_covers(const lgt_layout *l, bool target) {
  int64_t n = 1;
  for (int d = 0; d < l->ndim; d++)
    if (!target || l->dim[d] >= 0) n *= l->stride[d] != 0 || l->shape[d] == 0 ? l->shape[d] : 1;
  return n == lgt_layout_root_size(l) && lgt_layout_exact(l);
}

/* First and last element that a view touches, in the root's C order. */
static void linear_bounds(const lgt_layout *l, int64_t *lo, int64_t *hi) {
  *lo = *hi = l->offset;
  for (int d = 0; d < l->ndim; d++) {
    if (l->shape[d] == 0) continue;
    int64_t reach = (l->shape[d] - 1) * l->stride[d];
    if (reach < 0) *lo += reach;
    else *hi += reach;
  }
}

/* A reduction over no elements still sets its target, so a promoted dimension does not empty it. */
static bool is_empty(const lgt_layout *l) {
  for (int d = 0; d < l->ndim; d++)
    if (l->shape[d] == 0 && (l->flags & LGT_LAYOUT_RESHAPED ? l->stride[d] != 0 : l->dim[d] >= 0))
      return true;
  return false;
}

/* Do all steps of both views leave the distance of their first elements as it is, but for multiples of a number that does
 * not divide it? */
static bool is_interleaved(const lgt_layout *a, const lgt_layout *b) {
  int64_t g = 0;
  for (int d = 0; d < a->ndim; d++) g = a->shape[d] > 1 ? gcd(g, a->stride[d]) : g;
  for (int d = 0; d < b->ndim; d++) g = b->shape[d] > 1 ? gcd(g, b->stride[d]) : g;
  return g > 1 && (a->offset - b->offset) % g != 0;
}

/* Of views whose bounds meet: do their steps along one of the root's dimensions leave them apart (every second element, say)? */
static bool is_apart(const lgt_layout *a, const lgt_layout *b) {
  int64_t abegin[LGT_MAX_DIM], bbegin[LGT_MAX_DIM], astep[LGT_MAX_DIM], bstep[LGT_MAX_DIM];
  lgt_layout_walk(a, abegin, astep);
  lgt_layout_walk(b, bbegin, bstep);
  for (int r = 0; r < a->root_ndim; r++) {
    int64_t g = 0;
    if (abegin[r] == bbegin[r]) continue;
    for (int d = 0; d < a->ndim; d++)
      if (a->dim[d] == r) g = gcd(g, astep[d]);
    for (int d = 0; d < b->ndim; d++)
      if (b->dim[d] == r) g = gcd(g, bstep[d]);
    if (g > 1 && (abegin[r] - bbegin[r]) % g) return true;
  }
  return false;
}

/* Planning asks this for each pair of views of a root: most of them are told apart by their bounds. */
bool lgt_layout_may_overlap(const lgt_layout *a, const lgt_layout *b) {
  bool reshaped = (a->flags | b->flags) & LGT_LAYOUT_RESHAPED;
  for (int r = 0; r < a->root_ndim && !reshaped; r++)
    if (a->last[r] < b->first[r] || b->last[r] < a->first[r]) return false;
  if (is_empty(a) || is_empty(b)) return false;
  if (a == b) return true;
  if (!reshaped) return !is_apart(a, b);
  int64_t alo, ahi, blo, bhi;
  linear_bounds(a, &alo, &ahi);
  linear_bounds(b, &blo, &bhi);
  return ahi >= blo && bhi >= alo && !is_interleaved(a, b);
}
