/* footprints.h - for C tests: random views and tilings, and which elements of a root their tiles touch, by counting.
 */
#ifndef LGT_TEST_FOOTPRINTS_H
#define LGT_TEST_FOOTPRINTS_H

#include "memory/footprint.h"
#include "loops.h"

enum { MOST = 512, DOMAINS = 24 };

static lgt_stores stores;
static lgt_partitions partitions;

static const lgt_layout *layout_at(uint32_t layout) { return lgt_layout_at(&stores, layout); }

static int64_t count_of(int ndim, const int64_t *shape) {
  int64_t size = 1;
  for (int d = 0; d < ndim; d++) size *= shape[d];
  return size;
}

static void coordinates(int ndim, const int64_t *shape, int64_t position, int64_t *x) {
  for (int d = ndim - 1; d >= 0; d--) x[d] = position % shape[d], position /= shape[d];
}

static bool holds(const lgt_rect *r, const int64_t *x) {
  for (int d = 0; d < r->ndim; d++)
    if (x[d] < r->lo[d] || x[d] >= r->hi[d]) return false;
  return true;
}

static bool holds_element(const lgt_layout *root, const lgt_rect *r, int64_t element) {
  int64_t x[LGT_MAX_DIM] = {0};
  coordinates(root->ndim, root->shape, element, x);
  return holds(r, x);
}

/* ---- random things ---------------------------------------------------------------------------------- */

static uint32_t random_root(void) {
  int64_t shape[3];
  int ndim = 1 + random_below(3), most = ndim == 1 ? 40 : ndim == 2 ? 14 : 7;
  for (int d = 0; d < ndim; d++) shape[d] = 1 + random_below(most);
  return lgt_stores_dense(&stores, LGT_FLOAT64, ndim, shape);
}

/* Slices with steps of either sign, transposed, projected; and, where nobody writes, promoted and stretched. */
static uint32_t random_view(uint32_t root, bool written) {
  uint32_t v = root;
  for (int n = random_below(5); n > 0; n--) {
    const lgt_layout *l = layout_at(v);
    int what = random_below(written ? 7 : 9), d = l->ndim ? random_below(l->ndim) : 0;
    if (l->ndim == 0 && what < 7) continue;
    if (what < 4) {
      int64_t extent = l->shape[d], step = random_below(3) ? 1 : 1 + random_below(3);
      if (!extent) continue;
      int64_t first = random_below((int)(random_below(2) ? extent : (extent + 3) / 4));
      if (random_below(4) == 0) step = -step, first = extent - 1 - first;
      int64_t room = step > 0 ? (extent - 1 - first) / step + 1 : first / -step + 1;
      v = lgt_stores_slice(&stores, v, d, first, random_below(3) ? room : 1 + random_below((int)room), step);
    } else if (what < 6) {
      int axes[LGT_MAX_DIM];
      for (int k = 0; k < l->ndim; k++) axes[k] = (k + d) % l->ndim;
      v = lgt_stores_transpose(&stores, v, axes);
    } else if (what == 6) {
      if (l->shape[d]) v = lgt_stores_project(&stores, v, d, random_below((int)l->shape[d]));
    } else if (l->ndim < 4) {
      v = lgt_stores_promote(&stores, v, random_below(l->ndim + 1), random_below(9) ? 1 + random_below(3) : 0);
    }
  }
  return v;
}

static void random_home(lgt_home *home, int ndim) {
  int dims[LGT_MAX_DIM], n = 0;
  *home = (lgt_home){.ndim = 1 + random_below(3)};
  for (int d = 0; d < ndim; d++) dims[n++] = d;
  for (int j = 0; j < home->ndim; j++) {
    home->grid[j] = 1 + random_below(5);
    home->first[j] = random_below(8) - 3;
    home->dim[j] = -1;
    if (!n || random_below(4) == 0) continue;
    int k = random_below(n);
    home->dim[j] = (int8_t)dims[k];
    dims[k] = dims[--n];
  }
}

/* Natural, or shifted, with owners of its own or with some of elsewhere. */
static const lgt_partition *random_tiling(int ndim, const int64_t *extent) {
  int64_t tile[LGT_MAX_DIM], offset[LGT_MAX_DIM];
  lgt_home home;
  if (random_below(3) == 0) return lgt_partition_natural(&partitions, ndim, extent, 0, 1 + random_below(8), 1);
  for (int d = 0; d < ndim; d++) {
    tile[d] = random_below(3) ? 1 + random_below(6) : extent[d] + 1;
    offset[d] = random_below(20) - 10;
  }
  random_home(&home, ndim);
  return lgt_partition_tiling_at(&partitions, ndim, extent, tile, offset, random_below(2) ? &home : NULL);
}

/* How a view lies in a space, and a tiling of that.  What is written has every dimension of the space. */
typedef struct scene {
  uint32_t root, layout;
  lgt_alignment align;
  const lgt_partition *launch;
  bool target;
} scene;

static void random_scene(scene *s, uint32_t root, bool written) {
  int64_t extent[LGT_MAX_DIM];
  memset(s, 0, sizeof *s);
  memset(s->align.to, -1, sizeof s->align.to);
  s->root = root;
  s->layout = random_view(root, written);
  s->target = random_below(5) == 0;
  const lgt_layout *l = layout_at(s->layout);
  int more = written || l->ndim > 2 ? 0 : random_below(2), ndim = l->ndim + more;
  for (int d = 0; d < ndim; d++) extent[d] = 1 + random_below(6);
  for (int d = 0; d < l->ndim; d++) {
    if (l->shape[d] != 1 || written) extent[d + more] = l->shape[d];
    if (!written && random_below(8) == 0) continue; /* whole */
    s->align.to[d] = (int8_t)(d + more);
    if (!s->target && (l->shape[d] != 1 || written) && random_below(4) == 0) {
      int64_t block = s->align.block[d] = 1 + random_below(4);
      extent[d + more] = (l->shape[d] + block - 1) / block;
    }
    if (written || s->target || random_below(3)) continue;
    s->align.below[d] = random_below(3), s->align.above[d] = random_below(3);
  }
  s->launch = random_tiling(ndim, extent);
  if (written || s->launch->kind != LGT_PARTITION_TILING || random_below(4)) return;
  int64_t below[LGT_MAX_DIM], above[LGT_MAX_DIM];
  for (int d = 0; d < ndim; d++) below[d] = random_below(4), above[d] = random_below(4);
  s->launch = lgt_partition_widened(&partitions, s->launch, below, above);
}

/* ---- counting --------------------------------------------------------------------------------------- */

/* Does a point of the tile need this place of the view? */
static bool tile_needs(const scene *s, const lgt_rect *tile, const int64_t *v) {
  const lgt_layout *l = layout_at(s->layout);
  for (int d = 0; d < l->ndim; d++) {
    int k = s->align.to[d];
    bool needed = k < 0 || l->shape[d] == 1;
    for (int64_t x = k < 0 ? 0 : tile->lo[k]; k >= 0 && x < tile->hi[k] && !needed; x++)
      needed = v[d] >= x * lgt_alignment_block(&s->align, d) - s->align.below[d] &&
               v[d] < (x + 1) * lgt_alignment_block(&s->align, d) + s->align.above[d];
    if (!needed) return false;
  }
  return true;
}

/* The box around what a colour touches.  Empty: hi <= lo. */
static lgt_rect counted_rect(const scene *s, int colour) {
  const lgt_layout *l = layout_at(s->layout), *root = layout_at(s->root);
  lgt_rect tile = lgt_partition_rect(s->launch, colour), box = {.ndim = root->ndim};
  int64_t shape[LGT_MAX_DIM];
  bool any = false;
  for (int d = 0; d < l->ndim; d++) shape[d] = s->target && l->dim[d] < 0 ? 1 : l->shape[d];
  int64_t size = lgt_rect_empty(&tile) ? 0 : count_of(l->ndim, shape);
  for (int64_t p = 0; p < size; p++) {
    int64_t v[LGT_MAX_DIM], x[LGT_MAX_DIM], element = l->offset;
    coordinates(l->ndim, shape, p, v);
    if (!s->target && !tile_needs(s, &tile, v)) continue;
    if (s->target) {
      bool needed = true;
      for (int d = 0; d < l->ndim; d++) {
        int k = s->align.to[d];
        if (k >= 0 && l->dim[d] >= 0 && l->shape[d] != 1 && (v[d] < tile.lo[k] || v[d] >= tile.hi[k])) needed = false;
      }
      if (!needed) continue;
    }
    for (int d = 0; d < l->ndim; d++) element += l->stride[d] * v[d];
    coordinates(root->ndim, root->shape, element, x);
    for (int d = 0; d < root->ndim; d++) {
      if (!any || x[d] < box.lo[d]) box.lo[d] = x[d];
      if (!any || x[d] >= box.hi[d]) box.hi[d] = x[d] + 1;
    }
    any = true;
  }
  return box;
}

#endif
