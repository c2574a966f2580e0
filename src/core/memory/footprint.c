/* footprint.c - see footprint.h. */
#include "memory/footprint.h"

#include <string.h>
#include <xxhash.h>

void lgt_footprints_init(lgt_footprints *footprints, const lgt_stores *stores, int domains, int local) {
  *footprints = (lgt_footprints){.stores = stores, .domains = domains, .local = local};
}

static void discard(void *footprint) { lgt_mem_free(footprint); }

void lgt_footprints_fini(lgt_footprints *footprints) {
  lgt_intern_fini(&footprints->table, discard);
  *footprints = (lgt_footprints){0};
}

/* ---- interning -------------------------------------------------------------------------------------- */

static bool equal(const lgt_footprint *a, const lgt_footprint *b) {
  return a->launch == b->launch && a->layout == b->layout && a->target == b->target &&
         !memcmp(&a->align, &b->align, sizeof a->align) && lgt_rect_equal(&a->whole, &b->whole) &&
         a->ordered == b->ordered && a->along == b->along;
}

static bool keep(void *thing) {
  lgt_footprint *footprint = thing;
  bool marked = footprint->marked;
  footprint->marked = false;
  if (!marked) discard(footprint);
  return marked;
}

bool lgt_footprints_sweep(lgt_footprints *footprints) {
  memset(footprints->recent, 0, sizeof footprints->recent);
  return lgt_intern_sweep(&footprints->table, keep);
}

/* Which cells do the domains touch, if each has one tile at most? */
static void find_cells(const lgt_footprints *footprints, lgt_footprint *fp) {
  const lgt_layout *l = lgt_layout_at(footprints->stores, fp->layout);
  fp->celled = fp->launch && !fp->target && !fp->ordered && fp->launch->home.ndim > 0 &&
               !fp->launch->widened && lgt_partition_apart(fp->launch, footprints->domains);
  for (int j = 0; fp->celled && j < fp->launch->home.ndim; j++)
    fp->celled = lgt_cell_of(l, &fp->align, fp->launch, j, &fp->cell[j]);
}

static const lgt_footprint *intern(lgt_footprints *footprints, const lgt_footprint *fp) {
  size_t reach = fp->ordered ? (size_t)footprints->domains * sizeof *fp->reach : 0;
  uint32_t at = 0;
  for (lgt_footprint *known; (known = lgt_intern_next(&footprints->table, fp->hash, &at));)
    if (equal(known, fp) && (!reach || !memcmp(known->reach, fp->reach, reach))) return known;
  lgt_footprint *copy = lgt_mem_alloc(sizeof *copy + reach);
  if (copy) {
    *copy = *fp;
    if (reach) copy->reach = memcpy(copy + 1, fp->reach, reach);
    find_cells(footprints, copy);
    if (lgt_intern_add(&footprints->table, fp->hash, copy)) return copy;
    lgt_mem_free(copy);
  }
  lgt_err(LGT_NO_MEMORY, "out of memory for a footprint");
  return NULL;
}

static lgt_rect root_rect(const lgt_layout *layout, const lgt_alignment *align, bool target,
                          const lgt_rect *tile) {
  lgt_rect view = lgt_space_view_rect(layout, align, tile);
  return target ? lgt_layout_target_rect(layout, view) : lgt_layout_root_rect(layout, &view);
}

/* Does a view of so many dimensions lie in the space alike? */
static bool lies_alike(int ndim, const lgt_alignment *a, const lgt_alignment *b) {
  for (int d = 0; d < ndim; d++)
    if (a->to[d] != b->to[d] || a->below[d] != b->below[d] || a->above[d] != b->above[d] ||
        a->block[d] != b->block[d])
      return false;
  return true;
}

/* That of the view, which is not ordered; NULL: there is none yet. */
static const lgt_footprint *find(const lgt_footprints *footprints, const lgt_footprint *like) {
  uint32_t at = 0;
  for (const lgt_footprint *known; (known = lgt_intern_next(&footprints->table, like->hash, &at));)
    if (known->launch == like->launch && known->layout == like->layout && known->target == like->target &&
        !known->ordered && !memcmp(&known->align, &like->align, sizeof like->align))
      return known;
  return NULL;
}

static const lgt_footprint *find_or_make(lgt_footprints *footprints, uint32_t layout,
                                         const lgt_alignment *align, const lgt_partition *launch,
                                         bool target) {
  const lgt_layout *l = lgt_layout_at(footprints->stores, layout);
  lgt_footprint fp = {.launch = launch, .layout = layout, .target = target};
  memset(&fp.align, 0, sizeof fp.align); /* all of its bytes */
  memset(fp.align.to, -1, sizeof fp.align.to);
  for (int d = 0; d < l->ndim; d++) { /* what lies beyond is nobody's */
    fp.align.to[d] = align->to[d];
    fp.align.below[d] = align->below[d];
    fp.align.above[d] = align->above[d];
    fp.align.block[d] = align->block[d];
  }
  uint64_t key[4] = {layout, target, (uint64_t)(uintptr_t)launch, XXH3_64bits(&fp.align, sizeof fp.align)};
  fp.hash = XXH3_64bits(key, sizeof key);
  const lgt_footprint *known = find(footprints, &fp);
  if (known) return known;
  lgt_rect space = lgt_rect_of_shape(launch->ndim, launch->extent);
  fp.whole = root_rect(l, align, target, &space);
  fp.exact = lgt_layout_exact(l);
  return intern(footprints, &fp);
}

const lgt_footprint *lgt_footprint_of(lgt_footprints *footprints, uint32_t layout, const lgt_alignment *align,
                                      const lgt_partition *launch, bool target) {
  int ndim = lgt_layout_at(footprints->stores, layout)->ndim;
  const lgt_footprint **recent = &footprints->recent[layout % LGT_RECENT_FOOTPRINTS], *known = *recent;
  if (known && known->layout == layout && known->launch == launch && known->target == target &&
      lies_alike(ndim, &known->align, align))
    return known;
  known = find_or_make(footprints, layout, align, launch, target);
  if (known) *recent = known;
  return known;
}

const lgt_footprint *lgt_footprint_everywhere(lgt_footprints *footprints, const lgt_rect *rect) {
  lgt_footprint fp;
  memset(&fp, 0, sizeof fp);
  fp.whole.ndim = rect->ndim;
  for (int d = 0; d < rect->ndim; d++) fp.whole.lo[d] = rect->lo[d], fp.whole.hi[d] = rect->hi[d];
  fp.exact = true;
  fp.hash = XXH3_64bits(&fp.whole, sizeof fp.whole);
  return intern(footprints, &fp);
}

/* ---- asking ------------------------------------------------------------------------------------------ */

bool lgt_footprint_at_home(const lgt_footprint *fp, const lgt_footprint *written) {
  if (!fp->celled || !written->celled || !written->exact || !lgt_rect_contains(&written->whole, &fp->whole) ||
      !lgt_partition_same_owners(fp->launch, written->launch))
    return false;
  for (int j = 0; j < fp->launch->home.ndim; j++) {
    const lgt_cell *x = &fp->cell[j], *y = &written->cell[j];
    bool same = x->dim >= 0   ? x->dim == y->dim && x->tile == y->tile && x->origin == y->origin
                : y->dim >= 0 ? lgt_cell_holds(y, &fp->whole, x->first, fp->launch->home.grid[j])
                              : x->first == y->first;
    if (!same) return false;
  }
  return true;
}

lgt_footprint lgt_footprint_reaching(const lgt_footprint *footprint, int along, const int64_t (*reach)[2],
                                     int domains) {
  lgt_footprint fp = *footprint;
  int64_t lo = INT64_MAX, hi = 0;
  for (int d = 0; d < domains; d++) {
    if (reach[d][0] >= reach[d][1]) continue;
    if (reach[d][0] < lo) lo = reach[d][0];
    if (reach[d][1] > hi) hi = reach[d][1];
  }
  fp.reach = reach;
  fp.celled = false;
  fp.along = along;
  fp.whole.lo[along] = lo < hi ? lo : 0;
  fp.whole.hi[along] = lo < hi ? hi : 0;
  fp.exact = false;
  return fp;
}

/* Where nobody has anything, a reach is empty behind the one before: so both ends ascend. */
const lgt_footprint *lgt_footprint_ordered(lgt_footprints *footprints, const lgt_footprint *reaching,
                                           bool *good) {
  lgt_footprint fp = *reaching;
  int n = footprints->domains;
  int64_t(*reach)[2] = lgt_mem_alloc((size_t)n * sizeof *reach), at = fp.whole.lo[fp.along], sum = 0;
  const lgt_footprint *found = NULL;
  *good = true;
  if (!reach) {
    lgt_err(LGT_NO_MEMORY, "out of memory for a footprint");
    return NULL;
  }
  for (int d = 0; d < n; d++) {
    bool some = fp.reach[d][0] < fp.reach[d][1];
    *good &= !some || fp.reach[d][0] >= at;
    reach[d][0] = some ? fp.reach[d][0] : at;
    reach[d][1] = at = some ? fp.reach[d][1] : at;
    sum += reach[d][1] - reach[d][0];
  }
  if (*good) {
    fp.reach = (const int64_t(*)[2])reach;
    fp.ordered = true;
    fp.exact = sum == fp.whole.hi[fp.along] - fp.whole.lo[fp.along];
    uint64_t key[3] = {reaching->hash, (uint64_t)fp.along, XXH3_64bits(reach, (size_t)n * sizeof *reach)};
    fp.hash = XXH3_64bits(key, sizeof key);
    found = intern(footprints, &fp);
  }
  lgt_mem_free(reach);
  return found;
}

lgt_rect lgt_footprint_rect(const lgt_footprints *footprints, const lgt_footprint *fp, int domain,
                            int colour) {
  if (!fp->launch) return fp->whole;
  lgt_rect tile = lgt_partition_rect(fp->launch, colour);
  if (lgt_rect_empty(&tile)) { /* no work: nothing is touched, not even what does not depend on the tile */
    lgt_rect none = fp->whole;
    for (int d = 0; d < none.ndim; d++) none.hi[d] = none.lo[d];
    return none;
  }
  lgt_rect rect = root_rect(lgt_layout_at(footprints->stores, fp->layout), &fp->align, fp->target, &tile);
  if (fp->reach) rect.lo[fp->along] = fp->reach[domain][0], rect.hi[fp->along] = fp->reach[domain][1];
  return rect;
}

int lgt_footprint_next(const lgt_footprints *footprints, const lgt_footprint *fp, int domain, int i,
                       lgt_rect *rect) {
  if (!fp->launch) {
    *rect = fp->whole;
    return i < 0 && domain % footprints->local == 0 ? 0 : -1;
  }
  i = lgt_partition_next(fp->launch, footprints->domains, domain, i);
  if (i >= 0) *rect = lgt_footprint_rect(footprints, fp, domain, i);
  return i;
}

/* Narrow down the tiles along one dimension of the view, from where the place lies in the root. */
static bool narrow(lgt_near *near, const lgt_layout *l, int d, int64_t begin, int64_t step) {
  const lgt_footprint *fp = near->footprint;
  int r = l->dim[d], k = fp->align.to[d];
  if (r < 0 || step == 0) return true;
  /* View coordinates v with lo <= begin + v * step < hi. */
  int64_t lo = near->place.lo[r] - begin, hi = near->place.hi[r] - 1 - begin;
  int64_t a = step > 0 ? lo : -hi, b = step > 0 ? hi : -lo, s = step > 0 ? step : -step;
  a = a > 0 ? (a + s - 1) / s : 0;
  /* What lies between two elements of a coarse view belongs to the box of a tile that has both: round up. */
  b = b < 0 ? -1 : (b + s - 1) / s;
  if (b >= l->shape[d]) b = l->shape[d] - 1;
  if (a > b) return false;
  if (k < 0 || (l->shape[d] == 1 && fp->launch->extent[k] != 1)) return true;
  int64_t first = a - fp->align.above[d], last = b + fp->align.below[d];
  const lgt_partition *p = fp->launch;
  int64_t block = lgt_alignment_block(&fp->align, d);
  first = (first < 0 ? 0 : first / block) - p->above[k];
  last = (last < 0 ? -1 : last / block) + p->below[k];
  if (first < 0) first = 0;
  if (last >= p->extent[k]) last = p->extent[k] - 1;
  if (first > last) return false;
  first = lgt_partition_tile_at(p, k, first);
  last = lgt_partition_tile_at(p, k, last);
  if (near->lo[k] < first) near->lo[k] = first;
  if (near->hi[k] > last + 1) near->hi[k] = last + 1;
  return near->lo[k] < near->hi[k];
}

/* The same for a reshaped view: along the dimension that makes the greatest steps. */
static bool narrow_reshaped(lgt_near *near, const lgt_layout *l) {
  const lgt_footprint *fp = near->footprint;
  const lgt_partition *p = fp->launch;
  int64_t row, rest = 0;
  int big = -1, first = lgt_layout_row(l, &row);
  for (int d = 0; d < l->ndim; d++) {
    if (l->stride[d] < 0) return true;
    if (big < 0 || l->stride[d] > l->stride[big]) big = d;
  }
  int k = big < 0 ? -1 : fp->align.to[big];
  if (k < 0 || l->stride[big] == 0 || l->shape[big] != p->extent[k] || fp->align.block[big] > 1) return true;
  for (int d = 0; d < l->ndim; d++)
    if (d != big) rest += (l->shape[d] - 1) * l->stride[d];
  int64_t least = near->place.lo[first] * row - l->offset - rest,
          most = near->place.hi[first] * row - 1 - l->offset;
  int64_t lo = least > 0 ? least / l->stride[big] : 0, hi = most < 0 ? -1 : most / l->stride[big];
  lo -= fp->align.above[big] + p->above[k];
  hi += fp->align.below[big] + p->below[k];
  if (lo < 0) lo = 0;
  if (hi >= p->extent[k]) hi = p->extent[k] - 1;
  if (lo > hi) return false;
  near->lo[k] = lgt_partition_tile_at(p, k, lo);
  near->hi[k] = lgt_partition_tile_at(p, k, hi) + 1;
  return true;
}

/* The domains whose reach meets the place: at and hi [0]. */
static void narrow_ordered(lgt_near *near) {
  const lgt_footprint *fp = near->footprint;
  int64_t lo = near->place.lo[fp->along], hi = near->place.hi[fp->along];
  int first = 0, past = near->footprints->domains;
  while (first < past) { /* the first one that ends behind the place's beginning */
    int middle = first + (past - first) / 2;
    if (fp->reach[middle][1] > lo) past = middle;
    else first = middle + 1;
  }
  near->at[0] = past;
  while (past < near->footprints->domains && fp->reach[past][0] < hi) past++;
  near->hi[0] = past;
}

static bool next_ordered(lgt_near *near) {
  const lgt_footprint *fp = near->footprint;
  while (near->more && near->at[0] < near->hi[0]) {
    near->domain = (int)near->at[0]++;
    near->rect = fp->whole;
    near->rect.lo[fp->along] = fp->reach[near->domain][0];
    near->rect.hi[fp->along] = fp->reach[near->domain][1];
    if (near->rect.lo[fp->along] < near->rect.hi[fp->along]) return true;
  }
  return false;
}

void lgt_near_begin(lgt_near *near, const lgt_footprints *footprints, const lgt_footprint *fp,
                    const lgt_rect *place) {
  const lgt_layout *l = lgt_layout_at(footprints->stores, fp->layout);
  int64_t begin[LGT_MAX_DIM], step[LGT_MAX_DIM];
  near->footprints = footprints;
  near->footprint = fp;
  near->more = lgt_rect_intersect(&fp->whole, place, &near->place);
  if (!near->more) return;
  if (fp->ordered) {
    narrow_ordered(near);
    return;
  }
  lgt_assert(fp->launch->kind == LGT_PARTITION_TILING);
  for (int k = 0; k < fp->launch->ndim; k++) near->lo[k] = 0, near->hi[k] = fp->launch->grid[k];
  if (l->flags & LGT_LAYOUT_RESHAPED) {
    near->more = narrow_reshaped(near, l);
    memcpy(near->at, near->lo, sizeof near->at);
    return;
  }
  lgt_layout_walk(l, begin, step);
  for (int d = 0; d < l->ndim && near->more; d++)
    near->more = narrow(near, l, d, begin[l->dim[d] < 0 ? 0 : l->dim[d]], step[d]);
  memcpy(near->at, near->lo, sizeof near->at);
}

bool lgt_near_next(lgt_near *near) {
  const lgt_partition *p = near->footprint->launch;
  if (near->footprint->ordered) return next_ordered(near);
  while (near->more) {
    int colour = 0;
    lgt_rect common;
    for (int k = 0; k < p->ndim; k++) colour = colour * p->grid[k] + (int)near->at[k];
    int k = p->ndim - 1;
    for (; k >= 0; k--) {
      if (++near->at[k] < near->hi[k]) break;
      near->at[k] = near->lo[k];
    }
    near->more = k >= 0;
    near->domain = lgt_partition_domain(p, near->footprints->domains, colour);
    near->rect = lgt_footprint_rect(near->footprints, near->footprint, near->domain, colour);
    if (lgt_rect_intersect(&near->rect, &near->place, &common)) return true;
  }
  return false;
}
