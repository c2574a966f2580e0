/* partition.c - interned partitions and the natural cut.  See partition.h. */
#include "model/partition.h"

#include <string.h>

void lgt_partitions_init(lgt_partitions *partitions) { *partitions = (lgt_partitions){0}; }

static void discard(void *thing) {
  lgt_partition *partition = thing;
  if (partition) lgt_mem_free(partition->rect);
  lgt_mem_free(partition);
}

void lgt_partitions_fini(lgt_partitions *partitions) { lgt_intern_fini(&partitions->table, discard); }

static uint64_t partition_hash(const lgt_partition *p) {
  uint64_t h = lgt_hash_mix((uint64_t)p->kind, (uint64_t)p->ndim);
  for (int d = 0; d < p->ndim; d++) {
    h = lgt_hash_mix(h, (uint64_t)p->extent[d]);
    h = lgt_hash_mix(h, (uint64_t)p->tile[d]);
    h = lgt_hash_mix(h, (uint64_t)p->offset[d]);
  }
  for (int j = 0; j < p->home.ndim; j++)
    h = lgt_hash_mix(
        h, (uint64_t)p->home.grid[j] << 40 ^ (uint64_t)p->home.first[j] << 8 ^ (uint8_t)p->home.dim[j]);
  for (int d = 0; p->widened && d < p->ndim; d++)
    h = lgt_hash_mix(lgt_hash_mix(h, (uint64_t)p->below[d]), (uint64_t)p->above[d]);
  for (int c = 0; p->rect && c < p->ncolour; c++)
    for (int d = 0; d < p->ndim; d++)
      h = lgt_hash_mix(lgt_hash_mix(h, (uint64_t)p->rect[c].lo[d]), (uint64_t)p->rect[c].hi[d]);
  return h;
}

static bool equal(const lgt_partition *a, const lgt_partition *b) {
  if (a->kind != b->kind || a->ndim != b->ndim || a->ncolour != b->ncolour || a->widened != b->widened)
    return false;
  for (int d = 0; d < a->ndim; d++)
    if (a->extent[d] != b->extent[d] || a->tile[d] != b->tile[d] || a->offset[d] != b->offset[d] ||
        a->below[d] != b->below[d] || a->above[d] != b->above[d])
      return false;
  if (a->home.ndim != b->home.ndim) return false;
  for (int j = 0; j < a->home.ndim; j++)
    if (a->home.grid[j] != b->home.grid[j] || a->home.first[j] != b->home.first[j] ||
        a->home.dim[j] != b->home.dim[j])
      return false;
  for (int c = 0; a->rect && c < a->ncolour; c++)
    if (!lgt_rect_equal(&a->rect[c], &b->rect[c])) return false;
  return true;
}

static bool keep(void *thing) {
  lgt_partition *partition = thing;
  bool marked = partition->marked;
  partition->marked = false;
  if (!marked) discard(partition);
  return marked;
}

void lgt_partitions_sweep(lgt_partitions *partitions) { lgt_intern_sweep(&partitions->table, keep); }

/* An own copy; NULL when out of memory. */
static lgt_partition *copy_of(const lgt_partition *p) {
  size_t rects = p->rect ? (size_t)p->ncolour * sizeof *p->rect : 0;
  lgt_partition *copy = lgt_mem_alloc(sizeof *copy);
  if (!copy) return NULL;
  *copy = *p;
  if (rects && !(copy->rect = lgt_mem_alloc(rects))) {
    lgt_mem_free(copy);
    return NULL;
  }
  if (rects) memcpy(copy->rect, p->rect, rects);
  return copy;
}

/* `p->rect` is borrowed; it is copied when the partition is new. */
static const lgt_partition *intern(lgt_partitions *partitions, const lgt_partition *p) {
  uint64_t hash = partition_hash(p);
  uint32_t at = 0;
  for (lgt_partition *known; (known = lgt_intern_next(&partitions->table, hash, &at));)
    if (equal(known, p)) return known;
  lgt_partition *copy = copy_of(p);
  if (copy && lgt_intern_add(&partitions->table, hash, copy)) return copy;
  discard(copy);
  lgt_err(LGT_NO_MEMORY, "out of memory for a partition");
  return NULL;
}

const lgt_partition *lgt_partition_none(lgt_partitions *partitions, int ndim, const int64_t *extent) {
  lgt_partition p = {.kind = LGT_PARTITION_NONE, .ndim = ndim, .ncolour = 1};
  for (int d = 0; d < ndim; d++) p.extent[d] = extent[d], p.grid[d] = 1;
  return intern(partitions, &p);
}

/* What lies a little outside of the owners' grid goes with the outermost tiles, instead of having tiles of its own that would
 * belong to the same owners. */
static void absorb(lgt_partition *p, int j) {
  enum { LITTLE = 4 };
  int d = p->home.dim[j];
  for (int i = 0; i < p->home.ndim && d >= 0; i++)
    if (i != j && p->home.dim[i] == d) return; /* a diagonal */
  if (d >= 0 && p->home.first[j] < 0 && p->grid[d] > 1) {
    int64_t begin = p->offset[d] - p->home.first[j] * p->tile[d]; /* of the first owner's tile */
    if (begin < p->extent[d] && begin * LITTLE <= p->tile[d]) {
      p->offset[d] = begin;
      p->grid[d] += p->home.first[j];
      p->home.first[j] = 0;
    }
  }
  int32_t most = p->home.grid[j] - p->home.first[j]; /* tiles, up to the last owner's */
  if (d >= 0 && most > 0 && p->grid[d] > most &&
      (p->extent[d] - p->offset[d] - most * p->tile[d]) * LITTLE <= p->tile[d])
    p->grid[d] = most;
  if (d >= 0 && p->grid[d] > 1) return;
  if (p->home.first[j] < 0) p->home.first[j] = 0;
  if (p->home.first[j] >= p->home.grid[j]) p->home.first[j] = p->home.grid[j] - 1;
}

const lgt_partition *lgt_partition_tiling_at(lgt_partitions *partitions, int ndim, const int64_t *extent,
                                             const int64_t *tile, const int64_t *offset,
                                             const lgt_home *home) {
  lgt_partition p = {.kind = LGT_PARTITION_TILING, .ndim = ndim, .ncolour = 1};
  int64_t skipped[LGT_MAX_DIM]; /* tiles between the one that begins at offset and the first that counts */
  for (int d = 0; d < ndim; d++) {
    p.extent[d] = extent[d];
    p.tile[d] = tile[d] < 1 ? 1 : tile[d];
    p.offset[d] = offset[d] % p.tile[d];
    if (p.offset[d] > 0) p.offset[d] -= p.tile[d];
    skipped[d] = (p.offset[d] - offset[d]) / p.tile[d];
    int64_t grid = extent[d] > 0 ? (extent[d] - p.offset[d] + p.tile[d] - 1) / p.tile[d] : 1;
    p.grid[d] = (int32_t)grid;
  }
  for (int j = 0; home && j < home->ndim; j++) {
    if (home->grid[j] == 1) continue; /* a row of one says nothing */
    int i = p.home.ndim++, d = home->dim[j];
    p.home.grid[i] = home->grid[j];
    p.home.dim[i] = home->dim[j];
    p.home.first[i] = home->first[j] + (d < 0 ? 0 : (int32_t)skipped[d]);
  }
  for (int j = 0; j < p.home.ndim; j++) absorb(&p, j);
  for (int d = 0; d < ndim; d++) {
    p.ncolour *= p.grid[d];
    if (home || p.grid[d] == 1) continue;
    p.home.grid[p.home.ndim] = p.grid[d];
    p.home.dim[p.home.ndim++] = (int8_t)d;
  }
  return p.ncolour == 1 && !p.home.ndim ? lgt_partition_none(partitions, ndim, extent)
                                        : intern(partitions, &p);
}

const lgt_partition *lgt_partition_tiling(lgt_partitions *partitions, int ndim, const int64_t *extent,
                                          const int64_t *tile, const int64_t *offset) {
  return lgt_partition_tiling_at(partitions, ndim, extent, tile, offset, NULL);
}

const lgt_partition *lgt_partition_rects(lgt_partitions *partitions, int ndim, const int64_t *extent,
                                         const lgt_rect *rect, int n) {
  lgt_partition p = {.kind = LGT_PARTITION_RECTS, .ndim = ndim, .ncolour = n, .rect = (lgt_rect *)rect};
  for (int d = 0; d < ndim; d++) p.extent[d] = extent[d];
  return intern(partitions, &p);
}

const lgt_partition *lgt_partition_widened(lgt_partitions *partitions, const lgt_partition *tiling,
                                           const int64_t *below, const int64_t *above) {
  lgt_partition p = *tiling;
  lgt_assert(tiling->kind == LGT_PARTITION_TILING && !tiling->widened);
  p.marked = false;
  for (int d = 0; d < p.ndim; d++) {
    p.below[d] = p.grid[d] > 1 ? below[d] : 0;
    p.above[d] = p.grid[d] > 1 ? above[d] : 0;
    p.widened |= p.below[d] || p.above[d];
  }
  return p.widened ? intern(partitions, &p) : tiling;
}

/* As far as there is a tile at all. */
static void add_margin(const lgt_partition *p, lgt_rect *r) {
  for (int d = 0; d < p->ndim && !lgt_rect_empty(r); d++) {
    r->lo[d] = r->lo[d] > p->below[d] ? r->lo[d] - p->below[d] : 0;
    r->hi[d] = p->extent[d] - r->hi[d] > p->above[d] ? r->hi[d] + p->above[d] : p->extent[d];
  }
}

lgt_rect lgt_partition_rect(const lgt_partition *p, int colour) {
  lgt_rect r = lgt_rect_of_shape(p->ndim, p->extent);
  if (p->kind == LGT_PARTITION_NONE) return r;
  if (p->kind == LGT_PARTITION_RECTS) return p->rect[colour];
  for (int d = p->ndim - 1; d >= 0; d--) {
    int64_t c = colour % p->grid[d], lo = p->offset[d] + c * p->tile[d];
    if (c > 0) r.lo[d] = lo;
    if (c < p->grid[d] - 1) r.hi[d] = lo + p->tile[d];
    colour /= p->grid[d];
  }
  if (p->widened) add_margin(p, &r);
  return r;
}

/* ---- owners ------------------------------------------------------------------------------------------ */

/* Tiles beyond the grid of owners belong to the last one there. */
static int64_t owner_along(const lgt_home *home, int j, int64_t tile) {
  int64_t at = home->first[j] + tile;
  return at < 0 ? 0 : at >= home->grid[j] ? home->grid[j] - 1 : at;
}

static int64_t owner_count(const lgt_partition *p) {
  int64_t n = 1;
  for (int j = 0; j < p->home.ndim; j++) n *= p->home.grid[j];
  return p->kind == LGT_PARTITION_TILING ? n : p->ncolour;
}

int64_t lgt_partition_tile_at(const lgt_partition *p, int dim, int64_t at) {
  int64_t tile = at < p->offset[dim] ? 0 : (at - p->offset[dim]) / p->tile[dim];
  return tile < p->grid[dim] ? tile : p->grid[dim] - 1;
}

int lgt_partition_owner(const lgt_partition *p, int colour) {
  int64_t tile[LGT_MAX_DIM], owner = colour;
  if (p->kind == LGT_PARTITION_TILING) {
    for (int d = p->ndim - 1; d >= 0; d--) tile[d] = colour % p->grid[d], colour /= p->grid[d];
    owner = 0;
    for (int j = 0; j < p->home.ndim; j++)
      owner =
          owner * p->home.grid[j] + owner_along(&p->home, j, p->home.dim[j] < 0 ? 0 : tile[p->home.dim[j]]);
  }
  return (int)owner;
}

int lgt_partition_domain(const lgt_partition *p, int domains, int colour) {
  return (int)((int64_t)lgt_partition_owner(p, colour) * domains / owner_count(p));
}

const lgt_partition *lgt_partition_owners(lgt_partitions *partitions, const lgt_partition *p) {
  int64_t extent[LGT_MAX_DIM], tile[LGT_MAX_DIM], offset[LGT_MAX_DIM] = {0};
  for (int j = 0; j < p->home.ndim; j++) extent[j] = p->home.grid[j], tile[j] = 1;
  return lgt_partition_tiling(partitions, p->home.ndim, extent, tile, offset);
}

bool lgt_partition_same_owners(const lgt_partition *a, const lgt_partition *b) {
  return a->kind == LGT_PARTITION_TILING && b->kind == LGT_PARTITION_TILING && a->home.ndim == b->home.ndim &&
         !memcmp(a->home.grid, b->home.grid, (size_t)a->home.ndim * sizeof *a->home.grid);
}

bool lgt_partition_apart(const lgt_partition *p, int domains) {
  bool owned[LGT_MAX_DIM] = {false};
  if (p->kind != LGT_PARTITION_TILING || owner_count(p) > domains) return false;
  for (int j = 0; j < p->home.ndim; j++) {
    int d = p->home.dim[j];
    if (d < 0) continue;
    owned[d] = true;
    if (owner_along(&p->home, j, p->grid[d] - 1) - owner_along(&p->home, j, 0) != p->grid[d] - 1)
      return false;
  }
  for (int d = 0; d < p->ndim; d++)
    if (p->grid[d] > 1 && !owned[d]) return false;
  return true;
}

bool lgt_partition_lopsided(const lgt_partition *p) {
  enum { MOST = 5, SHARES = 4 };
  for (int j = 0; p->kind == LGT_PARTITION_TILING && j < p->home.ndim; j++) {
    int d = p->home.dim[j];
    int64_t owners = p->home.grid[j];
    if (d < 0 || owners == 1) continue;
    int64_t first = p->offset[d] + (1 - p->home.first[j]) * p->tile[d],
            last = p->extent[d] - first - (owners - 2) * p->tile[d];
    if (SHARES * owners * (first > last ? first : last) > MOST * p->extent[d]) return true;
  }
  return false;
}

/* The box of tiles of one owner; false if it has none. */
static bool tiles_of(const lgt_partition *p, int64_t owner, int64_t *lo, int64_t *hi) {
  const lgt_home *home = &p->home;
  for (int d = 0; d < p->ndim; d++) lo[d] = 0, hi[d] = p->grid[d];
  for (int j = home->ndim - 1; j >= 0; j--) {
    int64_t at = owner % home->grid[j];
    int d = home->dim[j];
    owner /= home->grid[j];
    if (d < 0) {
      if (owner_along(home, j, 0) != at) return false;
      continue;
    }
    if (at > 0 && lo[d] < at - home->first[j]) lo[d] = at - home->first[j];
    if (at < home->grid[j] - 1 && hi[d] > at - home->first[j] + 1) hi[d] = at - home->first[j] + 1;
    if (lo[d] >= hi[d]) return false;
  }
  return true;
}

int lgt_partition_colour_of(const lgt_partition *p, int owner) {
  int64_t lo[LGT_MAX_DIM], hi[LGT_MAX_DIM], colour = 0;
  if (!tiles_of(p, owner, lo, hi)) return -1;
  for (int d = 0; d < p->ndim; d++) colour = colour * p->grid[d] + lo[d];
  return (int)colour;
}

/* The first colour after `colour` in a box of tiles; -1: none. */
static int next_in_box(const lgt_partition *p, const int64_t *lo, const int64_t *hi, int colour) {
  int64_t tile[LGT_MAX_DIM], at = 0;
  int d = 0;
  for (int k = p->ndim - 1, c = colour + 1; k >= 0; k--) tile[k] = c % p->grid[k], c /= p->grid[k];
  if (colour + 1 >= p->ncolour) return -1;
  while (d < p->ndim && tile[d] >= lo[d] && tile[d] < hi[d]) d++;
  if (d < p->ndim && tile[d] >= hi[d]) { /* carry */
    do {
      if (--d < 0) return -1;
    } while (++tile[d] >= hi[d]);
    d++;
  }
  for (; d < p->ndim; d++) tile[d] = lo[d];
  for (int k = 0; k < p->ndim; k++) at = at * p->grid[k] + tile[k];
  return (int)at;
}

int lgt_partition_next(const lgt_partition *p, int domains, int domain, int colour) {
  int64_t owners = owner_count(p), first = (domain * owners + domains - 1) / domains,
          end = ((domain + 1) * owners + domains - 1) / domains;
  int best = -1;
  if (p->kind != LGT_PARTITION_TILING)
    return colour < first ? (int)(first < end ? first : -1) : colour + 1 < end ? colour + 1 : -1;
  for (int64_t owner = first; owner < end; owner++) {
    int64_t lo[LGT_MAX_DIM], hi[LGT_MAX_DIM];
    int c = tiles_of(p, owner, lo, hi) ? next_in_box(p, lo, hi, colour) : -1;
    if (c >= 0 && (best < 0 || c < best)) best = c;
  }
  return best;
}

bool lgt_partition_disjoint(const lgt_partition *p) {
  if (p->kind != LGT_PARTITION_RECTS) return true;
  lgt_rect common;
  for (int a = 0; a < p->ncolour; a++)
    for (int b = a + 1; b < p->ncolour; b++)
      if (lgt_rect_intersect(&p->rect[a], &p->rect[b], &common)) return false;
  return true;
}

/* Surface of all cuts of the grid: what halos of one element would move, but for a factor. */
static double surface(int ndim, const int64_t *extent, const int *grid) {
  double total = 0;
  for (int d = 0; d < ndim; d++) {
    double cuts = grid[d] - 1;
    for (int e = 0; e < ndim; e++)
      if (e != d) cuts *= (double)extent[e];
    total += cuts;
  }
  return total;
}

/* Try every factorisation of n over the dimensions that may be cut, until one has no more surface than `enough`. */
static void search(int ndim, const int64_t *extent, unsigned whole, int d, int n, double enough, int *grid,
                   int *best, double *least) {
  if (d == ndim) {
    double s = surface(ndim, extent, grid);
    bool better = *least < 0 || (*least > enough && s < *least);
    if (n == 1 && better) {
      *least = s;
      memcpy(best, grid, (size_t)ndim * sizeof *best);
    }
    return;
  }
  for (int f = n; f >= 1; f--) { /* outer dimensions first: they win ties */
    if (n % f || f > extent[d] || (f > 1 && (whole & (1u << d)))) continue;
    grid[d] = f;
    search(ndim, extent, whole, d + 1, n / f, enough, grid, best, least);
  }
}

/* Arrays of nearly one shape, as the fields of a staggered grid, n by n - 1 and n - 1 by n, are to be cut along the same
 * dimensions: the outer ones, unless the others have less surface by more than this. */
static const double NEARLY = 1.125;

const lgt_partition *lgt_partition_natural(lgt_partitions *partitions, int ndim, const int64_t *extent,
                                           unsigned whole, int most, int64_t min_tile) {
  int64_t size = 1, tile[LGT_MAX_DIM], offset[LGT_MAX_DIM] = {0};
  for (int d = 0; d < ndim; d++) size *= extent[d];
  int64_t n = min_tile > 0 ? size / min_tile : size;
  if (n > most) n = most;
  for (; n > 1; n--) {
    int grid[LGT_MAX_DIM], best[LGT_MAX_DIM];
    double least = -1, near = -1;
    search(ndim, extent, whole, 0, (int)n, 0, grid, best, &least);
    if (least < 0) continue; /* no grid of so many tiles */
    search(ndim, extent, whole, 0, (int)n, least * NEARLY, grid, best, &near);
    for (int d = 0; d < ndim; d++) tile[d] = (extent[d] + best[d] - 1) / best[d];
    return lgt_partition_tiling(partitions, ndim, extent, tile, offset);
  }
  return lgt_partition_none(partitions, ndim, extent);
}
