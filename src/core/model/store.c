/* store.c - interning of layouts, the maps of views, and the tables of stores and handles.
 *
 * All tables are reserved address space, so pointers into them never move and the Lua side may keep them.
 * Which layouts are in use is for sweep.c to say.
 */
#include "model/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum {
  MAX_LAYOUTS = 1 << 23,
  MAX_HANDLES = 1 << 22,
  MAX_STORES = MAX_HANDLES + (1 << 16), /* launches and recipes keep some, too */
  HANDLE_BATCH = 4096,
  LARGE_BYTES = 256 * 1024,
};

lgt_status lgt_stores_init(lgt_stores *stores) {
  *stores = (lgt_stores){.nlayout = 1, .nstore = 1, .layout_mask = 1023, .epoch = 1};
  stores->layout = lgt_mem_reserve(MAX_LAYOUTS * sizeof *stores->layout);
  stores->note = lgt_mem_reserve(MAX_LAYOUTS * sizeof *stores->note);
  stores->free_layout = lgt_mem_reserve(MAX_LAYOUTS * sizeof *stores->free_layout);
  stores->store = lgt_mem_reserve(MAX_STORES * sizeof *stores->store);
  stores->free_store = lgt_mem_reserve(MAX_STORES * sizeof *stores->free_store);
  stores->handle = lgt_mem_reserve((MAX_HANDLES + 1) * sizeof *stores->handle); /* from 1 */
  stores->free_handle = lgt_mem_reserve(MAX_HANDLES * sizeof *stores->free_handle);
  stores->layout_table = lgt_mem_zalloc(((size_t)stores->layout_mask + 1) * sizeof *stores->layout_table);
  stores->result = lgt_mem_zalloc(LGT_RESULTS * sizeof *stores->result);
  stores->viewed = lgt_mem_zalloc(LGT_VIEWS * sizeof *stores->viewed);
  if (stores->layout && stores->note && stores->free_layout && stores->result && stores->viewed &&
      stores->store && stores->free_store && stores->handle && stores->free_handle && stores->layout_table) {
    stores->layout[0].type = LGT_NO_TYPE;
    return LGT_OK;
  }
  lgt_stores_fini(stores);
  return lgt_err(LGT_NO_MEMORY, "out of memory for the tables of stores");
}

void lgt_stores_fini(lgt_stores *stores) {
  if (stores->layout) lgt_mem_release(stores->layout, MAX_LAYOUTS * sizeof *stores->layout);
  if (stores->note) lgt_mem_release(stores->note, MAX_LAYOUTS * sizeof *stores->note);
  if (stores->free_layout) lgt_mem_release(stores->free_layout, MAX_LAYOUTS * sizeof *stores->free_layout);
  if (stores->store) lgt_mem_release(stores->store, MAX_STORES * sizeof *stores->store);
  if (stores->free_store) lgt_mem_release(stores->free_store, MAX_STORES * sizeof *stores->free_store);
  if (stores->handle) lgt_mem_release(stores->handle, (MAX_HANDLES + 1) * sizeof *stores->handle);
  if (stores->free_handle) lgt_mem_release(stores->free_handle, MAX_HANDLES * sizeof *stores->free_handle);
  lgt_mem_free(stores->layout_table);
  lgt_mem_free(stores->result);
  lgt_mem_free(stores->viewed);
  *stores = (lgt_stores){0};
}

/* ---- interning ----------------------------------------------------------------------------- */

enum { TILE = 4 }; /* a power of two */

/* Loops ask for views that move on or grow by one element in each turn.  So that these find one another's places of the
 * table in the cache, TILE x TILE layouts whose offsets and first extents differ least share the upper bits of the hash,
 * and bits 32 to 35 say which of them this is. */
static uint64_t layout_hash(const lgt_layout *l) {
  uint64_t h = lgt_hash_mix(
      l->dtype, ((uint64_t)l->ndim << 16) | ((uint64_t)l->root_ndim << 8) | (l->flags & LGT_LAYOUT_RESHAPED));
  uint64_t offset = (uint64_t)l->offset, extent = l->ndim ? (uint64_t)l->shape[0] : 0;
  h = lgt_hash_mix(h, offset / TILE);
  h = lgt_hash_mix(h, extent / TILE);
  for (int d = 0; d < l->ndim; d++) {
    if (d > 0) h = lgt_hash_mix(h, (uint64_t)l->shape[d]);
    h = lgt_hash_mix(h, (uint64_t)l->stride[d]);
    h = lgt_hash_mix(h, (uint64_t)(uint8_t)l->dim[d]);
  }
  if (!(l->flags & LGT_LAYOUT_WHOLE))
    for (int d = 0; d < l->root_ndim; d++) h = lgt_hash_mix(h, (uint64_t)l->root_shape[d]);
  uint64_t which = offset % TILE * TILE + extent % TILE;
  return (h & ~((uint64_t)(TILE * TILE - 1) << 32)) | which << 32;
}

static bool layout_equal(const lgt_layout *a, const lgt_layout *b) {
  return a->hash == b->hash && a->dtype == b->dtype && a->ndim == b->ndim && a->root_ndim == b->root_ndim &&
         ((a->flags ^ b->flags) & (uint8_t)~LGT_LAYOUT_EXACT) == 0 && a->offset == b->offset &&
         !memcmp(a->dim, b->dim, sizeof a->dim) && !memcmp(a->shape, b->shape, sizeof a->shape) &&
         !memcmp(a->stride, b->stride, sizeof a->stride) &&
         !memcmp(a->root_shape, b->root_shape, sizeof a->root_shape);
}

/* Where to look first for a layout, by the upper half of its hash. */
static uint32_t place_of(uint64_t part, uint32_t mask) { return (uint32_t)part & mask; }
static uint64_t entry_of(uint64_t hash, uint32_t number) { return hash >> 32 << 32 | number; }

/* The table with another mask, and without the numbers that nobody has any more.  False when out of memory. */
static bool make_table(lgt_stores *stores, uint32_t mask, bool (*stays)(const lgt_stores *, uint32_t)) {
  uint64_t *table = lgt_mem_zalloc(((size_t)mask + 1) * sizeof *table), *old = stores->layout_table;
  if (!table) return false;
  for (uint32_t k = 0; k <= stores->layout_mask; k++) {
    uint32_t n = (uint32_t)old[k];
    if (!n || (stays && !stays(stores, n))) continue;
    uint32_t i = place_of(old[k] >> 32, mask);
    while (table[i]) i = (i + 1) & mask;
    table[i] = old[k];
  }
  lgt_mem_free(old);
  stores->layout_table = table;
  stores->layout_mask = mask;
  return true;
}

static bool is_used(const lgt_stores *stores, uint32_t number) {
  return stores->note[number].epoch + 1 >= stores->epoch; /* this epoch, or the one before */
}

void lgt_layouts_sweep(lgt_stores *stores) {
  if (!make_table(stores, stores->layout_mask, is_used)) return;
  for (uint32_t n = 1; n < stores->nlayout; n++) {
    if (stores->note[n].epoch == LGT_NOWHERE || is_used(stores, n)) continue;
    stores->note[n].epoch = LGT_NOWHERE;
    stores->layout[n].type = LGT_NO_TYPE;
    stores->free_layout[stores->nfree_layout++] = n;
  }
  memset(stores->result, 0, LGT_RESULTS * sizeof *stores->result); /* they know layouts by number */
  memset(stores->viewed, 0, LGT_VIEWS * sizeof *stores->viewed);
  stores->epoch++;
}

/* Do some positions show one element?  Dimensions that walk along different ones of the root never do; others do not if
 * each stride is greater than what all smaller ones reach together, as in every reshaped view but windows. */
static bool is_stretched(const lgt_layout *l) {
  int64_t reach = 0;
  unsigned seen = 0;
  for (int d = 0; d < l->ndim; d++)
    if (l->size > 0 && l->shape[d] > 1 && l->stride[d] == 0) return true;
  for (int n = 0; n < l->ndim && l->size > 0 && l->flags & LGT_LAYOUT_RESHAPED; n++) {
    int least = -1;
    for (int d = 0; d < l->ndim; d++)
      if (!(seen & 1u << d) && (least < 0 || llabs(l->stride[d]) < llabs(l->stride[least]))) least = d;
    seen |= 1u << least;
    if (l->shape[least] > 1 && llabs(l->stride[least]) <= reach) return true;
    reach += (l->shape[least] - 1) * llabs(l->stride[least]);
  }
  return false;
}

/* Dimensions of one element walk nowhere: a canonical stride lets equal views compare equal. */
static bool normalise(lgt_layout *l) {
  int64_t root_stride[LGT_MAX_DIM], size = 1, root_size = 1;
  lgt_shape_strides(l->root_ndim, l->root_shape, root_stride);
  for (int d = 0; d < l->ndim; d++)
    if (__builtin_mul_overflow(size, l->shape[d], &size))
      return lgt_err(LGT_BAD_SHAPE, "the view would have more than 2^63 elements"), false;
  for (int d = 0; d < l->root_ndim; d++) root_size *= l->root_shape[d];
  l->size = size;
  bool whole = l->ndim == l->root_ndim && l->offset == 0 && !(l->flags & LGT_LAYOUT_RESHAPED);
  bool stretched = is_stretched(l);
  for (int d = 0; d < l->ndim; d++)
    if (whole && (l->dim[d] != d || l->shape[d] != l->root_shape[d] || l->stride[d] != root_stride[d]))
      whole = false;
  for (int d = l->ndim; d < LGT_MAX_DIM; d++) l->dim[d] = -1, l->shape[d] = l->stride[d] = 0;
  for (int d = l->root_ndim; d < LGT_MAX_DIM; d++) l->root_shape[d] = 0;
  l->flags &= LGT_LAYOUT_RESHAPED;
  if (whole) l->flags |= LGT_LAYOUT_WHOLE;
  if (stretched) l->flags |= LGT_LAYOUT_STRETCHED;
  l->type = (uint8_t)(2 * l->dtype + 1 + (l->ndim == 0));
  if (root_size * lgt_dtype_size(l->dtype) >= LARGE_BYTES) l->flags |= LGT_LAYOUT_LARGE;
  return true;
}

/* A free number; 0 with an error if there is none. */
static uint32_t new_number(lgt_stores *stores) {
  uint32_t used = stores->nlayout - 1 - stores->nfree_layout;
  if (used + 2 >= MAX_LAYOUTS) {
    lgt_err(LGT_NO_MEMORY, "more than %d different shapes and views", MAX_LAYOUTS);
    return 0;
  }
  if (used * 2 > stores->layout_mask && !make_table(stores, stores->layout_mask * 2 + 1, NULL)) {
    lgt_err(LGT_NO_MEMORY, "out of memory for the table of layouts");
    return 0;
  }
  return stores->nfree_layout ? stores->free_layout[--stores->nfree_layout] : stores->nlayout++;
}

uint32_t lgt_layout_intern(lgt_stores *stores, lgt_layout *layout) {
  if (!normalise(layout)) return 0;
  layout->hash = layout_hash(layout);
  uint64_t part = layout->hash >> 32;
  uint32_t i = place_of(part, stores->layout_mask), n;
  for (; (n = (uint32_t)stores->layout_table[i]); i = (i + 1) & stores->layout_mask)
    if (stores->layout_table[i] >> 32 == part && layout_equal(&stores->layout[n], layout)) {
      lgt_layout_mark(stores, n);
      return n;
    }
  if (!(n = new_number(stores))) return 0;
  i = place_of(part, stores->layout_mask);
  while (stores->layout_table[i]) i = (i + 1) & stores->layout_mask;
  stores->layout[n] = *layout;
  lgt_layout_find_bounds(&stores->layout[n]);
  stores->note[n] = (lgt_layout_note){.epoch = stores->epoch};
  stores->layout_table[i] = entry_of(layout->hash, n);
  return n;
}

/* ---- views ------------------------------------------------------------------------------------ */

static bool check_dim(const lgt_layout *l, int dim, int limit) {
  if (dim >= 0 && dim < limit) return true;
  lgt_err(LGT_OUT_OF_BOUNDS, "dimension %d of an array of %d dimension%s", dim + 1, l->ndim,
          lgt_plural(l->ndim));
  return false;
}

uint32_t lgt_stores_dense(lgt_stores *stores, int dtype, int ndim, const int64_t *shape) {
  lgt_layout l = {.dtype = (uint8_t)dtype, .ndim = (uint8_t)ndim, .root_ndim = (uint8_t)ndim};
  int64_t bytes = lgt_dtype_valid(dtype) ? lgt_dtype_size(dtype) : 1;
  if (!lgt_dtype_valid(dtype)) return lgt_err(LGT_BAD_DTYPE, "element type number %d", dtype), 0;
  if (ndim < 0 || ndim > LGT_MAX_DIM)
    return lgt_err(LGT_BAD_SHAPE, "%d dimensions given, 0 to %d are possible", ndim, LGT_MAX_DIM), 0;
  for (int d = 0; d < ndim; d++) {
    if (shape[d] < 0) return lgt_err(LGT_BAD_SHAPE, "extent %lld is negative", (long long)shape[d]), 0;
    if (__builtin_mul_overflow(bytes, shape[d] ? shape[d] : 1, &bytes) || bytes > INT64_MAX / 4)
      return lgt_err(LGT_BAD_SHAPE, "the array would have more than 2^61 bytes"), 0;
    l.dim[d] = (int8_t)d;
    l.shape[d] = l.root_shape[d] = shape[d];
  }
  lgt_shape_strides(ndim, shape, l.stride);
  return lgt_layout_intern(stores, &l);
}

uint32_t lgt_stores_slice(lgt_stores *stores, uint32_t layout, int dim, int64_t first, int64_t count,
                          int64_t step) {
  lgt_layout l = *lgt_layout_at(stores, layout);
  if (!check_dim(&l, dim, l.ndim)) return 0;
  if (step == 0) return lgt_err(LGT_BAD_ARGUMENT, "a slice's step is 0"), 0;
  if (count < 0) return lgt_err(LGT_BAD_ARGUMENT, "a slice of %lld elements", (long long)count), 0;
  int64_t last;
  if (__builtin_mul_overflow(count - 1, step, &last) || __builtin_add_overflow(first, last, &last))
    last = -1; /* far out of bounds */
  if (count > 0 && (first < 0 || first >= l.shape[dim] || last < 0 || last >= l.shape[dim]))
    return lgt_err(LGT_OUT_OF_BOUNDS, "elements %lld to %lld of an extent of %lld", (long long)first,
                   (long long)last, (long long)l.shape[dim]),
           0;
  if (count > 0) l.offset += first * l.stride[dim];
  l.shape[dim] = count;
  if (count > 1) l.stride[dim] *= step;
  return lgt_layout_intern(stores, &l);
}

static void drop_dim(lgt_layout *l, int dim) {
  lgt_assert(l->ndim <= LGT_MAX_DIM);
  for (int d = dim; d + 1 < l->ndim; d++) {
    l->shape[d] = l->shape[d + 1];
    l->stride[d] = l->stride[d + 1];
    l->dim[d] = l->dim[d + 1];
  }
  l->ndim--;
}

static void insert_dim(lgt_layout *l, int dim, int64_t extent) {
  for (int d = l->ndim; d > dim; d--) {
    l->shape[d] = l->shape[d - 1];
    l->stride[d] = l->stride[d - 1];
    l->dim[d] = l->dim[d - 1];
  }
  l->ndim++;
  l->shape[dim] = extent;
  l->stride[dim] = 0;
  l->dim[dim] = -1;
}

uint32_t lgt_stores_project(lgt_stores *stores, uint32_t layout, int dim, int64_t index) {
  lgt_layout l = *lgt_layout_at(stores, layout);
  if (!check_dim(&l, dim, l.ndim)) return 0;
  if (index < 0 || index >= l.shape[dim])
    return lgt_err(LGT_OUT_OF_BOUNDS, "element %lld of an extent of %lld", (long long)index,
                   (long long)l.shape[dim]),
           0;
  l.offset += index * l.stride[dim];
  drop_dim(&l, dim);
  return lgt_layout_intern(stores, &l);
}

uint32_t lgt_stores_promote(lgt_stores *stores, uint32_t layout, int dim, int64_t extent) {
  lgt_layout l = *lgt_layout_at(stores, layout);
  if (!check_dim(&l, dim, l.ndim + 1)) return 0;
  if (l.ndim == LGT_MAX_DIM)
    return lgt_err(LGT_BAD_SHAPE, "a view of more than %d dimensions", LGT_MAX_DIM), 0;
  if (extent < 0) return lgt_err(LGT_BAD_SHAPE, "extent %lld is negative", (long long)extent), 0;
  insert_dim(&l, dim, extent);
  return lgt_layout_intern(stores, &l);
}

uint32_t lgt_stores_transpose(lgt_stores *stores, uint32_t layout, const int *axes) {
  const lgt_layout *from = lgt_layout_at(stores, layout);
  lgt_layout l = *from;
  unsigned seen = 0;
  for (int d = 0; d < l.ndim; d++) {
    if (!check_dim(from, axes[d], l.ndim)) return 0;
    if (seen & (1u << axes[d]))
      return lgt_err(LGT_BAD_ARGUMENT, "dimension %d is repeated in a transposition", axes[d] + 1), 0;
    seen |= 1u << axes[d];
    l.shape[d] = from->shape[axes[d]];
    l.stride[d] = from->stride[axes[d]];
    l.dim[d] = from->dim[axes[d]];
  }
  return lgt_layout_intern(stores, &l);
}

uint32_t lgt_stores_broadcast(lgt_stores *stores, uint32_t layout, int ndim, const int64_t *shape) {
  lgt_layout l = *lgt_layout_at(stores, layout);
  if (ndim > LGT_MAX_DIM || ndim < l.ndim)
    return lgt_err(LGT_BAD_SHAPE, "an array of %d dimension%s cannot be broadcast to %d", l.ndim,
                   lgt_plural(l.ndim), ndim),
           0;
  while (l.ndim < ndim) insert_dim(&l, 0, 1);
  for (int d = 0; d < ndim; d++) {
    if (shape[d] < 0) return lgt_err(LGT_BAD_SHAPE, "extent %lld is negative", (long long)shape[d]), 0;
    if (l.shape[d] == shape[d]) continue;
    if (l.shape[d] != 1)
      return lgt_err(LGT_BAD_SHAPE, "extent %lld cannot be broadcast to %lld", (long long)l.shape[d],
                     (long long)shape[d]),
             0;
    l.shape[d] = shape[d];
    l.stride[d] = 0;
    l.dim[d] = -1;
  }
  return lgt_layout_intern(stores, &l);
}

/* Only dimensions of extent 1 come and go: the map stays affine in the root's dimensions. */
static bool reshape_ones(lgt_layout *l, int ndim, const int64_t *shape) {
  lgt_layout r = *l;
  for (int d = r.ndim - 1; d >= 0; d--)
    if (r.shape[d] == 1) drop_dim(&r, d);
  int kept = 0;
  for (int d = 0; d < ndim; d++)
    if (shape[d] != 1 && (kept >= r.ndim || r.shape[kept++] != shape[d])) return false;
  if (kept != r.ndim) return false;
  for (int d = 0; d < ndim; d++)
    if (shape[d] == 1) insert_dim(&r, d, 1);
  *l = r;
  return true;
}

/* NumPy's rule: match runs of old and new dimensions of equal product; within a run the old ones
 * must be contiguous with each other. */
static bool reshape_strides(const lgt_layout *l, int ndim, const int64_t *shape, int64_t *stride) {
  int oi = 0, ni = 0;
  while (oi < l->ndim && ni < ndim) {
    int oj = oi + 1, nj = ni + 1;
    int64_t op = l->shape[oi], np = shape[ni];
    while (op != np) {
      if (np < op) np *= shape[nj++];
      else op *= l->shape[oj++];
    }
    for (int d = oi; d + 1 < oj; d++) {
      int next = d + 1;
      if (l->shape[d] != 1 && l->shape[next] != 1 && l->stride[d] != l->shape[next] * l->stride[next])
        return false;
    }
    int64_t s = 1;
    for (int d = oj - 1; d >= oi; d--)
      if (l->shape[d] != 1) {
        s = l->stride[d];
        break;
      }
    for (int d = nj - 1; d >= ni; d--) {
      stride[d] = s;
      s *= shape[d];
    }
    oi = oj;
    ni = nj;
  }
  for (; ni < ndim; ni++) stride[ni] = 1; /* trailing ones */
  return true;
}

uint32_t lgt_stores_reshape(lgt_stores *stores, uint32_t layout, int ndim, const int64_t *shape) {
  lgt_layout l = *lgt_layout_at(stores, layout);
  int64_t size = 1, squeezed[LGT_MAX_DIM], stride[LGT_MAX_DIM] = {0};
  if (ndim < 0 || ndim > LGT_MAX_DIM)
    return lgt_err(LGT_BAD_SHAPE, "%d dimensions, 0 to %d are possible", ndim, LGT_MAX_DIM), 0;
  for (int d = 0; d < ndim; d++) {
    if (shape[d] < 0) return lgt_err(LGT_BAD_SHAPE, "extent %lld is negative", (long long)shape[d]), 0;
    if (__builtin_mul_overflow(size, shape[d], &size)) size = INT64_MAX; /* no array has so many */
  }
  if (size != l.size)
    return lgt_err(LGT_BAD_SHAPE, "an array of %lld element%s cannot be reshaped to %lld", (long long)l.size,
                   lgt_plural(l.size), (long long)size),
           0;
  if (reshape_ones(&l, ndim, shape)) return lgt_layout_intern(stores, &l);
  if (size == 0) { /* nothing to walk over: any strides do */
    l.ndim = (uint8_t)ndim;
    for (int d = 0; d < ndim; d++) l.shape[d] = shape[d], l.stride[d] = 0, l.dim[d] = -1;
    l.flags |= LGT_LAYOUT_RESHAPED;
    return lgt_layout_intern(stores, &l);
  }
  /* Ones take no part in the matching. */
  lgt_layout from = l;
  for (int d = from.ndim - 1; d >= 0; d--)
    if (from.shape[d] == 1) drop_dim(&from, d);
  int n = 0;
  for (int d = 0; d < ndim; d++)
    if (shape[d] != 1) squeezed[n++] = shape[d];
  if (!reshape_strides(&from, n, squeezed, stride)) {
    lgt_err(LGT_OK, "%s", "");
    return 0;
  }
  l.ndim = (uint8_t)ndim;
  l.flags |= LGT_LAYOUT_RESHAPED;
  for (int d = 0, k = 0; d < ndim; d++) {
    l.shape[d] = shape[d];
    l.stride[d] = shape[d] == 1 ? 0 : stride[k++];
    l.dim[d] = -1;
  }
  return lgt_layout_intern(stores, &l);
}

uint32_t lgt_stores_diagonal(lgt_stores *stores, uint32_t layout, int row, int column, int64_t above) {
  lgt_layout l = *lgt_layout_at(stores, layout);
  if (!check_dim(&l, row, l.ndim) || !check_dim(&l, column, l.ndim)) return 0;
  if (row == column) return lgt_err(LGT_BAD_ARGUMENT, "the diagonal of one dimension, %d", row + 1), 0;
  if (above < -l.shape[row]) above = -l.shape[row];
  if (above > l.shape[column]) above = l.shape[column];
  int64_t i = above < 0 ? -above : 0, j = above > 0 ? above : 0;
  int64_t rows = l.shape[row] - i, columns = l.shape[column] - j, n = rows < columns ? rows : columns;
  int64_t stride = l.stride[row] + l.stride[column];
  int dim = l.stride[column] ? l.dim[column] : l.dim[row];
  bool slanted = n > 1 && l.stride[row] && l.stride[column];
  if (n > 0) l.offset += i * l.stride[row] + j * l.stride[column];
  drop_dim(&l, row > column ? row : column);
  drop_dim(&l, row > column ? column : row);
  insert_dim(&l, l.ndim, n);
  if (stride && n > 1) l.stride[l.ndim - 1] = stride, l.dim[l.ndim - 1] = (int8_t)dim;
  if (slanted) l.flags |= LGT_LAYOUT_RESHAPED;
  for (int d = 0; d < l.ndim && slanted; d++) l.dim[d] = -1;
  return lgt_layout_intern(stores, &l);
}

uint32_t lgt_stores_windows(lgt_stores *stores, uint32_t layout, int dim, int64_t width) {
  lgt_layout l = *lgt_layout_at(stores, layout);
  if (!check_dim(&l, dim, l.ndim)) return 0;
  if (l.ndim == LGT_MAX_DIM)
    return lgt_err(LGT_BAD_SHAPE, "a view of more than %d dimensions", LGT_MAX_DIM), 0;
  if (width < 1 || width > l.shape[dim])
    return lgt_err(LGT_BAD_SHAPE, "windows of %lld in an extent of %lld", (long long)width,
                   (long long)l.shape[dim]),
           0;
  int64_t stride = l.stride[dim], count = l.shape[dim] - width + 1;
  int8_t along = l.dim[dim];
  insert_dim(&l, l.ndim, width);
  int last = l.ndim - 1;
  l.shape[dim] = count;
  if (count == 1) l.stride[dim] = 0, l.dim[dim] = -1;
  if (width > 1) l.stride[last] = stride, l.dim[last] = along;
  if (count == 1 || width == 1 || stride == 0) return lgt_layout_intern(stores, &l);
  l.flags |= LGT_LAYOUT_RESHAPED; /* two of its dimensions walk along one of the root's */
  for (int d = 0; d < l.ndim; d++) l.dim[d] = -1;
  return lgt_layout_intern(stores, &l);
}

/* ---- forms --------------------------------------------------------------------------------------- */

static uint64_t class_of(int64_t n) { return n == 0 || n == 1 ? (uint64_t)n : 2; }

uint64_t lgt_layout_form(lgt_stores *stores, uint32_t layout) {
  lgt_layout_note *note = &stores->note[layout];
  if (note->form) return note->form;
  const lgt_layout *l = lgt_layout_at(stores, layout);
  int64_t root = lgt_layout_root_size(l);
  uint64_t h = lgt_hash_mix(l->dtype, (uint64_t)l->ndim << 16 | (uint64_t)l->root_ndim << 8 |
                                          (uint64_t)(l->flags & ~(LGT_LAYOUT_LARGE | LGT_LAYOUT_EXACT)));
  h = lgt_hash_mix(h, class_of(l->size) | (uint64_t)lgt_layout_exact(l) << 2 |
                          (uint64_t)lgt_layout_covers(l, false) << 3 |
                          (uint64_t)lgt_layout_covers(l, true) << 4 |
                          (uint64_t)(lgt_layout_distinct(l) == root) << 5 | class_of(root) << 6);
  for (int d = 0; d < l->ndim; d++)
    h = lgt_hash_mix(
        h, class_of(l->shape[d]) | (uint64_t)(l->stride[d] == 0) << 2 | (uint64_t)(l->dim[d] + 1) << 3);
  return note->form = h | 1;
}

/* ---- stores and handles ------------------------------------------------------------------------ */

lgt_store *lgt_store_new(lgt_stores *stores, uint32_t root_layout) {
  uint32_t id;
  if (stores->nfree_store) id = stores->free_store[--stores->nfree_store];
  else if (stores->nstore < MAX_STORES) id = stores->nstore++;
  else return lgt_err(LGT_NO_MEMORY, "more than %d arrays are alive", MAX_STORES), NULL;
  lgt_store *store = &stores->store[id];
  if (stores->nfree_store >= LGT_SPARES_AHEAD)
    lgt_mem_expect(&stores->store[stores->free_store[stores->nfree_store - LGT_SPARES_AHEAD]], sizeof *store);
  *store = (lgt_store){.id = id, .layout = root_layout};
  stores->live_stores++;
  return store;
}

void lgt_store_recycle(lgt_stores *stores, lgt_store *store) {
  store->layout = 0;
  stores->free_store[stores->nfree_store++] = store->id;
  stores->live_stores--;
}

bool lgt_handles_refill(lgt_stores *stores, uint32_t *nfree) {
  uint32_t first = stores->max_handle + 1;
  if (stores->max_handle >= MAX_HANDLES) {
    lgt_err(LGT_NO_MEMORY,
            "%d arrays and views are alive, which is as many as there can be: let go of some, or free() them",
            MAX_HANDLES);
    return false;
  }
  for (uint32_t i = HANDLE_BATCH; i > 0; i--) stores->free_handle[(*nfree)++] = first + i - 1;
  stores->max_handle += HANDLE_BATCH;
  return true;
}
