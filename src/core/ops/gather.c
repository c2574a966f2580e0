/* gather.c - reading and writing elements at positions that arrays hold.
 *
 *   gather      argument 0 [b, i, f] = argument 1 [b, p1(i), ..., pk(i), f], where b, i and f stand for any
 *               number of dimensions and arguments 2, ... (int64) are p1, ..., pk, stretched to one shape
 *   scatter     argument 0 [b, p1(i), ..., pk(i), f] is combined with argument 1 [b, i, f], in the order of i:
 *               the last of several values for one place wins, or all count, depending on the operation
 *   take_along  argument 0 [b, i] = argument 1 [b, p(b, i)], lines
 *   put_along   argument 0 [b, p(b, i)] = argument 1 [b, i], lines; the last of several values for one place wins
 *   scatter_number  argument 0 as by scatter, with arguments 1, ... (int64) for p1, ..., pk: all values are parameter 4
 *   choose      argument 0 [i] = argument 2 + k [i] where argument 1 (int64) is k + parameter 1; all are cut alike
 *   merge_positions  argument 0 (int64) [i] = the position, from 1, in C order of what is at arguments 1 and 2 (int64)
 *               [i] of two axes; parameters: of each what its first position is called, its extent, its number (for
 *               messages); all are cut alike
 *   check_positions  argument 0 (int64) = argument 1, if that and argument 2 (int64) are such positions; else it fails
 *
 * Parameters of the others: 0 the number of dimensions b stands for; 1 what the first position is called (0 or 1);
 * 2 the operation (scan.h); 3 the axes that the positions are of, as the digits of a number (for messages);
 * 4 of a scatter: the extent of the axis of p1, of which argument 0 may be a tile, or 0: it has all.
 * Negative positions count from the end.  A position outside is an error that says which, and nothing
 * is written before all positions of a call have been looked at.
 */
#include "base/half.h"
#include "base/rect.h"
#include "ops/scan.h"

enum { DEPTH, BASE, OPERATION, AXES, EXTENT, NUMBER = EXTENT };
enum { MOST = 6 }; /* dimensions */

static lgt_status outside(int64_t at, int64_t extent, int64_t base, int64_t axes, int npick, int pick) {
  if (at == 0 && base == 1) return lgt_err(LGT_OUT_OF_BOUNDS, "index: positions count from 1, 0 was found");
  for (int k = pick; k < npick - 1; k++) axes /= 10;
  return lgt_err(LGT_OUT_OF_BOUNDS, "index: position %lld of axis %lld is outside its extent of %lld",
                 (long long)at, (long long)(axes % 10), (long long)extent);
}

static inline int64_t offset_of(int64_t at, int64_t extent, int64_t base) {
  return at < 0 ? extent + at : at - base;
}

/* ---- what lies where ----------------------------------------------------------------------------------- */

/* Dimensions that both arrays have, those that go on one after the other being one. */
typedef struct dims {
  int n;
  int64_t extent[MOST], list[MOST], place[MOST]; /* steps in bytes */
} dims;

static void add_dim(dims *d, int64_t extent, int64_t list, int64_t place) {
  int last = d->n - 1;
  if (extent == 1) return;
  if (d->n && d->list[last] == list * extent && d->place[last] == place * extent) {
    d->extent[last] *= extent;
    d->list[last] = list;
    d->place[last] = place;
    return;
  }
  d->extent[d->n] = extent;
  d->list[d->n] = list;
  d->place[d->n++] = place;
}

/* The whole of what is looked up: the *list* [b, i, f] (the result of a gather, the values of a scatter) and the
 * *places* [b, p..., f], of which only those count whose last position but `first` is below `many`. */
typedef struct lookup {
  char *list, *place;
  int64_t size,
      block;      /* bytes of an element, of elements side by side in both: the innermost dimensions of f */
  int64_t repeat; /* a block is one element of the list, written so often */
  dims before, after; /* b, and what else there is of f */
  int ni, npick;
  int64_t count[MOST], step[MOST]; /* i, in the list */
  const char *at[MOST];            /* positions, ... */
  int64_t at_step[MOST][MOST];     /* ... by array and dimension of i */
  int64_t extent[MOST], axis_step[MOST], first, many;
  int64_t base, axes;
  lgt_scan_step combine; /* NULL: set */
  int add;               /* the dtype whose elements are added, or -1 */
} lookup;

/* Dimensions of i that go on one after the other become one. */
static void merge_positions_dims(lookup *l) {
  for (int d = l->ni - 2; d >= 0; d--) {
    bool even = l->step[d] == l->step[d + 1] * l->count[d + 1];
    for (int k = 0; k < l->npick; k++) even &= l->at_step[k][d] == l->at_step[k][d + 1] * l->count[d + 1];
    if (!even) continue;
    l->count[d] *= l->count[d + 1];
    l->step[d] = l->step[d + 1];
    for (int k = 0; k < l->npick; k++) l->at_step[k][d] = l->at_step[k][d + 1];
    l->ni--;
    for (int from = d + 1; from < l->ni; from++) {
      l->count[from] = l->count[from + 1];
      l->step[from] = l->step[from + 1];
      for (int k = 0; k < l->npick; k++) l->at_step[k][from] = l->at_step[k][from + 1];
    }
  }
}

/* The blocks of f. */
static void find_block(lookup *l) {
  dims *f = &l->after;
  int last = f->n - 1;
  l->block = l->size;
  l->repeat = 1;
  if (!f->n || f->place[last] != l->size || l->combine) return;
  if (f->list[last] == 0) l->repeat = f->extent[last];
  else if (f->list[last] != l->size) return;
  l->block = l->size * f->extent[last];
  f->n--;
}

/* Rows [lo, hi) of `cut`: 0 the first dimension of all, 1 that of i.  False: there is nothing to do. */
static bool look(lookup *l, const lgt_tile *list, const lgt_tile *place, const lgt_tile *position, int npick,
                 const lgt_scalar *params, lgt_scan_step combine, bool of_i, int64_t lo, int64_t hi) {
  int nb = (int)params[DEPTH].f, nf = place->ndim - nb - npick, ni = list->ndim - nb - nf;
  *l = (lookup){
      list->data,         place->data,       lgt_dtype_size(place->dtype),    .ni = ni,
      .npick = npick,     .many = INT64_MAX, .base = (int64_t)params[BASE].f, .axes = (int64_t)params[AXES].f,
      .combine = combine, .add = -1};
  int cut = of_i ? nb : 0;
  bool any = list->ndim == cut || lo < hi;
  int64_t extent[MOST];
  for (int d = 0; d < list->ndim; d++) {
    extent[d] = d == cut ? hi - lo : list->extent[d];
    any &= extent[d] > 0;
  }
  if (!any) return false;
  if (list->ndim > cut) l->list += lo * list->stride[cut];
  if (list->ndim > cut && cut < nb) l->place += lo * place->stride[cut];
  if (list->ndim > cut && cut >= nb + ni) l->place += lo * place->stride[cut - ni + npick];
  for (int d = 0; d < nb; d++) add_dim(&l->before, extent[d], list->stride[d], place->stride[d]);
  for (int d = 0; d < ni; d++) l->count[d] = extent[nb + d], l->step[d] = list->stride[nb + d];
  for (int d = 0; d < nf; d++)
    add_dim(&l->after, extent[nb + ni + d], list->stride[nb + ni + d], place->stride[nb + npick + d]);
  for (int k = 0; k < npick; k++) {
    l->at[k] = position[k].data;
    if (ni > 0 && cut == nb && list->ndim > cut) l->at[k] += lo * position[k].stride[0];
    for (int d = 0; d < ni; d++) l->at_step[k][d] = position[k].stride[d];
    l->extent[k] = place->extent[nb + k];
    l->axis_step[k] = place->stride[nb + k];
  }
  merge_positions_dims(l);
  find_block(l);
  return true;
}

/* ---- runs of positions ------------------------------------------------------------------------------------ */

enum { RUN = 1024 };

/* So many positions at once: from where in the list, and from where in the places, in bytes. */
typedef struct run {
  int64_t n, list[RUN], place[RUN];
  bool dense;     /* blocks of the list lie side by side: where they are is not in `list` */
  bool near[RUN]; /* of the tile at hand; unless that is all */
} run;

/* The first of n positions from index[] on that is outside. */
static lgt_status complain(const lookup *l, const int64_t *index, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    for (int k = 0; k < l->npick; k++) {
      const char *at = l->at[k];
      for (int d = 0; d < l->ni; d++) at += (index[d] + (d == l->ni - 1 ? i : 0)) * l->at_step[k][d];
      int64_t found = *(const int64_t *)at, offset = offset_of(found, l->extent[k], l->base);
      if (offset < 0 || offset >= l->extent[k])
        return outside(found, l->extent[k], l->base, l->axes, l->npick, k);
    }
  return LGT_OK;
}

/* Offsets of n positions, added to what is in `out` or (`first`) written there.  False: some are outside. */
__attribute__((always_inline)) static inline bool add_offsets(const char *at, int64_t step, int64_t n,
                                                              int64_t extent, int64_t base, int64_t unit,
                                                              int64_t *out, bool first) {
  uint64_t bad = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t offset = offset_of(*(const int64_t *)(at + i * step), extent, base);
    bad |= (uint64_t)offset >= (uint64_t)extent;
    out[i] = (first ? 0 : out[i]) + offset * unit;
  }
  return !bad;
}

/* By vectors, of positions side by side. */
#define LGT_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
LGT_CLONES static bool put_offsets(const char *at, int64_t n, int64_t extent, int64_t base, int64_t unit,
                                   int64_t *out) {
  return add_offsets(at, 8, n, extent, base, unit, out, true);
}

/* Which offsets along the first axis that is picked from are of the tile at hand. */
static void find_near(const lookup *l, run *r, int64_t n) {
  int64_t unit = l->axis_step[0], *place = r->place + r->n;
  bool back = unit < 0;
  int64_t past = l->many * (back ? -unit : unit);
  for (int64_t i = 0; i < n; i++) {
    int64_t offset = place[i] -= l->first * unit;
    r->near[r->n + i] = (uint64_t)(back ? -offset : offset) < (uint64_t)past;
  }
}

/* Of the places from number `had` on. */
static void keep_near(run *r, int64_t had) {
  int64_t kept = had;
  for (int64_t i = had; i < r->n; i++) {
    r->list[kept] = r->list[i];
    r->place[kept] = r->place[i];
    kept += r->near[i];
  }
  r->n = kept;
}

/* Add n positions along the last dimension of i, the first of them at index[].  `more`: others may follow, so the list counts
 * from where that dimension begins; else from there. */
static lgt_status places(const lookup *l, const int64_t *index, int64_t n, bool more, run *r) {
  int last = l->ni - 1;
  int64_t *place = r->place + r->n, *list = r->list + r->n;
  bool good = true;
  for (int k = 0; k < l->npick; k++) {
    const char *at = l->at[k];
    int64_t step = l->ni ? l->at_step[k][last] : 0, unit = l->axis_step[k];
    for (int d = 0; d < l->ni; d++) at += index[d] * l->at_step[k][d];
    if (step == 8 && k == 0) good &= put_offsets(at, n, l->extent[k], l->base, unit, place);
    else good &= add_offsets(at, step, n, l->extent[k], l->base, unit, place, k == 0);
    if (k == 0 && l->many != INT64_MAX) find_near(l, r, n);
  }
  if (!good) return complain(l, index, n);
  int64_t step = l->ni ? l->step[last] : 0, from = more ? index[last] : 0;
  r->n += n;
  r->dense = !more && step == l->block && !l->combine && l->repeat == 1 && l->many == INT64_MAX;
  for (int64_t i = 0; i < n && !r->dense; i++) list[i] = (from + i) * step;
  return LGT_OK;
}

/* ---- moving elements --------------------------------------------------------------------------------------- */

/* Blocks from some offsets to others; NULL: they lie side by side. */
__attribute__((always_inline)) static inline void copy_blocks(char *to, const int64_t *to_at,
                                                              const char *from, const int64_t *from_at,
                                                              int64_t n, int64_t block) {
  if (!to_at)
    for (int64_t i = 0; i < n; i++) memcpy(to + i * block, from + from_at[i], (size_t)block);
  else if (!from_at)
    for (int64_t i = 0; i < n; i++) memcpy(to + to_at[i], from + i * block, (size_t)block);
  else
    for (int64_t i = 0; i < n; i++) memcpy(to + to_at[i], from + from_at[i], (size_t)block);
}

/* Blocks of a few words. */
static void copy_words(char *to, const int64_t *to_at, const char *from, const int64_t *from_at, int64_t n,
                       int64_t block) {
  for (int64_t i = 0; i < n; i++) {
    char *t = to + (to_at ? to_at[i] : i * block);
    const char *f = from + (from_at ? from_at[i] : i * block);
    for (int64_t b = 0; b < block; b += 8) memcpy(t + b, f + b, 8);
  }
}

static void copy_run(char *to, const int64_t *to_at, const char *from, const int64_t *from_at, int64_t n,
                     int64_t block) {
  enum { FEW = 128 };
  if (block == 8) copy_blocks(to, to_at, from, from_at, n, 8);
  else if (block == 4) copy_blocks(to, to_at, from, from_at, n, 4);
  else if (block == 1) copy_blocks(to, to_at, from, from_at, n, 1);
  else if (block == 16) copy_blocks(to, to_at, from, from_at, n, 16);
  else if (block <= FEW && block % 8 == 0) copy_words(to, to_at, from, from_at, n, block);
  else copy_blocks(to, to_at, from, from_at, n, block);
}

/* One element all along a block. */
static void fill_run(char *to, const int64_t *to_at, const char *from, const int64_t *from_at, int64_t n,
                     int64_t count, int64_t size) {
  for (int64_t i = 0; i < n; i++) {
    char *t = to + to_at[i];
    const char *f = from + from_at[i];
    if (size == 1) memset(t, *f, (size_t)count);
    else lgt_copy_line(t, size, f, 0, count, size);
  }
}

#define ADD_RUN(T)                                                                                           \
  static void add_##T(char *to, const int64_t *to_at, const char *from, const int64_t *from_at, int64_t n) { \
    for (int64_t i = 0; i < n; i++) *(T *)(to + to_at[i]) += *(const T *)(from + from_at[i]);                \
  }
ADD_RUN(int64_t)
ADD_RUN(double)
ADD_RUN(float)

static void combine_run(const lookup *l, char *to, const int64_t *to_at, const char *from,
                        const int64_t *from_at, int64_t n) {
  if (l->add == LGT_INT64) add_int64_t(to, to_at, from, from_at, n);
  else if (l->add == LGT_FLOAT64) add_double(to, to_at, from, from_at, n);
  else if (l->add == LGT_FLOAT32) add_float(to, to_at, from, from_at, n);
  else
    for (int64_t i = 0; i < n; i++) l->combine(to + to_at[i], from + from_at[i]);
}

/* A run of positions, once for each index of b and of what else there is of f. */
static void move_run(const lookup *l, const run *r, int64_t list_at, bool write) {
  int64_t index[2 * MOST] = {0}, extent[2 * MOST];
  const int64_t *steps = r->dense ? NULL : r->list;
  int nb = l->before.n, n = nb + l->after.n;
  for (int d = 0; d < n; d++) extent[d] = d < nb ? l->before.extent[d] : l->after.extent[d - nb];
  do {
    char *list = l->list + list_at, *place = l->place;
    for (int d = 0; d < nb; d++) list += index[d] * l->before.list[d], place += index[d] * l->before.place[d];
    for (int d = nb; d < n; d++)
      list += index[d] * l->after.list[d - nb], place += index[d] * l->after.place[d - nb];
    if (!write) copy_run(list, steps, place, r->place, r->n, l->block);
    else if (l->combine) combine_run(l, place, r->place, list, r->list, r->n);
    else if (l->repeat > 1) fill_run(place, r->place, list, r->list, r->n, l->repeat, l->size);
    else copy_run(place, r->place, list, steps, r->n, l->block);
  } while (lgt_index_next(n, extent, index, 0, NULL, NULL));
}

enum { CHECK, READ, WRITE };

/* All runs in the order of i. */
static lgt_status each_run(const lookup *l, int what) {
  int64_t index[MOST] = {0}, count = l->ni ? l->count[l->ni - 1] : 1;
  run r;
  do {
    for (int64_t i = 0; i < count; i += RUN) {
      int64_t list_at = 0;
      if (l->ni) index[l->ni - 1] = i;
      r.n = 0;
      lgt_status status = places(l, index, count - i < RUN ? count - i : RUN, false, &r);
      if (status) return status;
      if (what == CHECK) continue;
      if (l->many != INT64_MAX) keep_near(&r, 0);
      for (int d = 0; d < l->ni; d++) list_at += index[d] * l->step[d];
      move_run(l, &r, list_at, what == WRITE);
    }
  } while (l->ni > 1 && lgt_index_next(l->ni - 1, l->count, index, 0, NULL, NULL));
  return LGT_OK;
}

/* Rows of the only dimension of i, which has `wide` positions for each; often there are many, each of few positions. */
static lgt_status each_row(const lookup *l, const int64_t (*rows)[2], int64_t nrows, int64_t wide, int what) {
  run r;
  r.n = 0;
  for (int64_t k = 0; k < nrows; k++)
    for (int64_t i = (rows[k][0] - rows[0][0]) * wide, past = (rows[k][1] - rows[0][0]) * wide; i < past;) {
      int64_t had = r.n, n = past - i < RUN - had ? past - i : RUN - had;
      lgt_status status = places(l, &i, n, true, &r);
      if (status) return status;
      i += n;
      if (what == CHECK) r.n = 0;
      else if (l->many != INT64_MAX) keep_near(&r, had);
      if (r.n < RUN) continue;
      move_run(l, &r, 0, what == WRITE);
      r.n = 0;
    }
  if (r.n) move_run(l, &r, 0, what == WRITE);
  return LGT_OK;
}

static lgt_status gather(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  lookup l;
  if (!look(&l, &tiles[0], &tiles[1], &tiles[2], nargs - 2, params, NULL, false, lo, hi)) return LGT_OK;
  return each_run(&l, READ);
}

/* ---- sums at the elements of a vector ---------------------------------------------------------------------- */

/* Values that lie side by side, or one for all, are added to their places in one pass.  False: a position is outside, and
 * those before it have been added already. */
#define ADD_ALL(T)                                                                        \
  static bool add_all_##T(const lookup *l) {                                              \
    const int64_t *at = (const int64_t *)l->at[0], extent = l->extent[0], base = l->base; \
    const T *from = (const T *)l->list, number = *from;                                   \
    T *to = (T *)l->place;                                                                \
    for (int64_t i = 0, n = l->count[0]; i < n; i++) {                                    \
      uint64_t k = (uint64_t)offset_of(at[i], extent, base);                              \
      if (k >= (uint64_t)extent) return false;                                            \
      to[k] += l->step[0] ? from[i] : number;                                             \
    }                                                                                     \
    return true;                                                                          \
  }
ADD_ALL(int64_t)
ADD_ALL(double)
ADD_ALL(float)

static bool add_all(const lookup *l) {
  if (l->add == LGT_INT64) return add_all_int64_t(l);
  return l->add == LGT_FLOAT64 ? add_all_double(l) : add_all_float(l);
}

/* Many sums at few places: these are kept aside, so that looking at all positions first is not needed.  False: nothing was
 * done. */
static bool add_to_few(const lookup *l) {
  if (l->add != LGT_INT64 && l->add != LGT_FLOAT64 && l->add != LGT_FLOAT32) return false;
  if (l->npick != 1 || l->ni != 1 || l->before.n || l->after.n || l->many != INT64_MAX) return false;
  if (l->at_step[0][0] != sizeof(int64_t) || l->axis_step[0] != l->size) return false;
  if ((l->step[0] && l->step[0] != l->size) || l->extent[0] > l->count[0] / 8) return false;
  size_t bytes = (size_t)(l->extent[0] * l->size);
  void *before = lgt_scratch_alloc(bytes);
  if (!before) return false;
  memcpy(before, l->place, bytes);
  bool done = add_all(l);
  if (!done) memcpy(l->place, before, bytes);
  lgt_scratch_free(before);
  return done;
}

/* Dimension 0, of b, is cut; where there is none the target has one more in front, of extent 1: places may coincide.  Those
 * rows of the positions count that lead to the tile at hand; but all must be positions of the whole axis. */
static lgt_status scatter_tiles(const lgt_tile *to, const lgt_tile *from, const lgt_tile *positions,
                                int npick, const lgt_scalar *params, int64_t whole) {
  int op = (int)params[OPERATION].f, nb = (int)params[DEPTH].f;
  lgt_scan_step step = op == LGT_SCAN_SET ? NULL : lgt_scan_step_of(op, to->dtype);
  if (!step && op != LGT_SCAN_SET) return LGT_BAD_DTYPE;
  bool some = positions->rows != NULL;
  int64_t n = some ? positions->nrows : 1, all[2] = {0, from->ndim > nb ? from->extent[nb] : 1};
  const int64_t(*rows)[2] = some ? positions->rows : &all;
  lookup l;
  bool once = n > 1 && look(&l, from, to, positions, npick, params, step, true, rows[0][0], rows[n - 1][1]) &&
              l.ni == 1;
  for (int what = CHECK; what <= WRITE; what += WRITE - CHECK)
    for (int64_t k = 0; k < (once ? 1 : n); k++) {
      int64_t first = rows[k][0], past = rows[once ? n - 1 : k][1];
      if (!look(&l, from, to, positions, npick, params, step, true, first, past)) continue;
      if (op == LGT_SCAN_ADD) l.add = to->dtype;
      if (whole && whole != l.extent[0]) {
        l.first = to->origin[nb];
        l.many = l.extent[0];
        l.extent[0] = whole;
      }
      if (!some && what == CHECK && add_to_few(&l)) return LGT_OK;
      lgt_status status =
          once ? each_row(&l, rows, n, l.count[0] / (past - first), what) : each_run(&l, what);
      if (status) return status;
    }
  return LGT_OK;
}

static void cut(lgt_tile *tile, int64_t lo, int64_t hi) {
  tile->data = (char *)tile->data + lo * tile->stride[0];
  tile->origin[0] += lo;
  tile->extent[0] = hi - lo;
}

static lgt_status scatter(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                          int64_t hi) {
  lgt_tile to = tiles[0], from = tiles[1];
  cut(&to, lo, hi);
  cut(&from, lo, hi);
  return scatter_tiles(&to, &from, &tiles[2], nargs - 2, params, (int64_t)params[EXTENT].f);
}

/* A number as an element. */
static void element_of(int dtype, double x, void *out) {
  switch (dtype) {
#define CASE(DTYPE, T) \
  case LGT_##DTYPE:    \
    *(T *)out = (T)x;  \
    break
    CASE(INT8, int8_t);
    CASE(INT16, int16_t);
    CASE(INT32, int32_t);
    CASE(INT64, int64_t);
    CASE(UINT8, uint8_t);
    CASE(UINT16, uint16_t);
    CASE(UINT32, uint32_t);
    CASE(UINT64, uint64_t);
    CASE(FLOAT32, float);
    CASE(FLOAT64, double);
    CASE(COMPLEX64, float);
    CASE(COMPLEX128, double);
#undef CASE
    case LGT_FLOAT16:
      *(uint16_t *)out = lgt_half_from_double(x);
      break;
    default:
      *(uint8_t *)out = x != 0;
  }
}

static lgt_status scatter_number(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                 int64_t hi) {
  double element[2] = {0}; /* room for any, the imaginary part 0 */
  int npick = nargs - 1, nb = (int)params[DEPTH].f, ni = tiles[1].ndim;
  lgt_tile to = tiles[0], from = {.data = element, .dtype = to.dtype, .ndim = to.ndim - npick + ni};
  cut(&to, lo, hi);
  element_of(to.dtype, params[NUMBER].f, element);
  for (int d = 0; d < from.ndim; d++)
    from.extent[d] = d < nb        ? to.extent[d]
                     : d < nb + ni ? tiles[1].extent[d - nb]
                                   : to.extent[d - ni + npick];
  return scatter_tiles(&to, &from, &tiles[1], npick, params, 0);
}

/* ---- along lines -------------------------------------------------------------------------------------- */

/* Lines side by side are looked at together: the dimension of the positions in which they lie closer than along a line is
 * walked within. */
typedef struct plane {
  int64_t n, m; /* along the lines, across them */
  int64_t position, position_across, to, to_across, from, from_across;
  bool across; /* that is done first */
} plane;

static plane plane_of(const lgt_tile *to, const lgt_tile *from, const lgt_tile *position, int64_t lo,
                      int64_t hi) {
  int lead = to->ndim - 1;
  plane p = {position->extent[lead], 1, .position = position->stride[lead], .to = to->stride[lead],
             .from = from->stride[lead]};
  if (lead == 0 || position->stride[lead - 1] >= p.position || position->stride[lead - 1] <= 0) return p;
  if (to->extent[lead - 1] != position->extent[lead - 1]) return p;
  p.across = true;
  p.m = lead == 1 ? hi - lo : to->extent[lead - 1];
  p.position_across = position->stride[lead - 1];
  p.to_across = to->extent[lead - 1] > 1 ? to->stride[lead - 1] : 0;
  p.from_across = from->extent[lead - 1] > 1 ? from->stride[lead - 1] : 0;
  return p;
}

/* Positions of one line, or of all lines of a plane. */
static lgt_status check_line(const char *at, int64_t step, int64_t n, int64_t extent,
                             const lgt_scalar *params) {
  int64_t base = (int64_t)params[BASE].f;
  uint64_t bad = 0;
  for (int64_t i = 0; i < n; i++)
    bad |= (uint64_t)offset_of(*(const int64_t *)(at + i * step), extent, base) >= (uint64_t)extent;
  for (int64_t i = 0; i < n && bad; i++, at += step) {
    int64_t offset = offset_of(*(const int64_t *)at, extent, base);
    if (offset < 0 || offset >= extent)
      return outside(*(const int64_t *)at, extent, base, (int64_t)params[AXES].f, 1, 0);
  }
  return LGT_OK;
}

static lgt_status check_plane(const plane *p, const char *at, int64_t extent, const lgt_scalar *params) {
  lgt_status status = LGT_OK;
  if (!p->across) return check_line(at, p->position, p->n, extent, params);
  for (int64_t i = 0; i < p->n && !status; i++)
    status = check_line(at + i * p->position, p->position_across, p->m, extent, params);
  return status;
}

/* `count` elements from places that positions name, or to them; both move on by a step. */
__attribute__((always_inline)) static inline void move_line(char *to, int64_t to_step, const char *from,
                                                            int64_t from_step, const char *at,
                                                            int64_t at_step, int64_t axis_step,
                                                            int64_t extent, int64_t base, int64_t count,
                                                            int64_t size, bool put) {
  for (int64_t i = 0; i < count; i++) {
    int64_t place = offset_of(*(const int64_t *)(at + i * at_step), extent, base) * axis_step;
    memcpy(to + i * to_step + (put ? place : 0), from + i * from_step + (put ? 0 : place), (size_t)size);
  }
}

static void move_line_of(char *to, int64_t to_step, const char *from, int64_t from_step, const char *at,
                         int64_t at_step, int64_t axis_step, int64_t extent, int64_t base, int64_t count,
                         int64_t size, bool put) {
#define MOVE(SIZE, PUT) \
  move_line(to, to_step, from, from_step, at, at_step, axis_step, extent, base, count, SIZE, PUT)
  if (size == 8 && put) MOVE(8, true);
  else if (size == 8) MOVE(8, false);
  else if (size == 4 && put) MOVE(4, true);
  else if (size == 4) MOVE(4, false);
  else if (size == 1) MOVE(1, put);
  else MOVE(size, put);
#undef MOVE
}

/* A plane of lines: what moves along them, and what across. */
static void move_plane(const plane *p, char *to, const char *from, const char *at, int64_t extent,
                       int64_t base, int64_t size, bool put) {
  int64_t axis_step = put ? p->to : p->from, to_step = put ? 0 : p->to, from_step = put ? p->from : 0;
  if (!p->across)
    move_line_of(to, to_step, from, from_step, at, p->position, axis_step, extent, base, p->n, size, put);
  for (int64_t i = 0; p->across && i < p->n; i++)
    move_line_of(to + i * to_step, p->to_across, from + i * from_step, p->from_across, at + i * p->position,
                 p->position_across, axis_step, extent, base, p->m, size, put);
}

/* The lines of tiles to, from and positions: a walk over them, or over planes of them. */
static bool begin_planes(lgt_walk *walk, plane *p, const lgt_tile *tiles, int64_t lo, int64_t hi) {
  int lead = tiles[0].ndim - 1;
  *p = plane_of(&tiles[0], &tiles[1], &tiles[2], lo, hi);
  if (!lgt_walk_begin(walk, tiles, 3, lead, lo, hi)) return false;
  if (p->across) walk->lead--; /* with one dimension of lines there is one plane, from `lo` on */
  return true;
}

/* Elements of the second array to places of the first, line by line: what positions name lies in the first (`put`), else in
 * the second. */
static lgt_status move_along(const lgt_tile *tiles, const lgt_scalar *params, int64_t lo, int64_t hi,
                             bool put) {
  const lgt_tile *array = &tiles[put ? 0 : 1];
  int64_t extent = array->extent[tiles[0].ndim - 1], size = lgt_dtype_size(tiles[0].dtype);
  lgt_walk walk;
  plane p;
  if (!begin_planes(&walk, &p, tiles, lo, hi)) return LGT_OK;
  do {
    lgt_status status = check_plane(&p, walk.at[2], extent, params);
    if (status) return status;
    move_plane(&p, walk.at[0], walk.at[1], walk.at[2], extent, (int64_t)params[BASE].f, size, put);
  } while (lgt_walk_next(&walk, lo, hi));
  return LGT_OK;
}

static lgt_status take_along(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                             int64_t hi) {
  (void)nargs;
  return move_along(tiles, params, lo, hi, false);
}

static lgt_status put_along(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                            int64_t hi) {
  (void)nargs;
  return move_along(tiles, params, lo, hi, true);
}

/* ---- element by element -------------------------------------------------------------------------------- */

static lgt_status choose(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_tile *to = &tiles[0];
  int last = to->ndim - 1, nchoices = nargs - 2;
  int64_t n, size = lgt_dtype_size(to->dtype), base = (int64_t)params[BASE].f;
  lgt_walk walk;
  if (!lgt_walk_elements(&walk, tiles, nargs, lo, hi, &n)) return LGT_OK;
  do {
    for (int64_t i = 0; i < n; i++) {
      int64_t number = *(const int64_t *)(walk.at[1] + i * tiles[1].stride[last]), k = number - base;
      if (k < 0 || k >= nchoices)
        return lgt_err(LGT_OUT_OF_BOUNDS, "choose: number %lld is outside %lld to %lld", (long long)number,
                       (long long)base, (long long)(base + nchoices - 1));
      const char *from = walk.at[2 + k] + i * tiles[2 + k].stride[last];
      if (size == 8) memcpy(walk.at[0] + i * to->stride[last], from, 8);
      else memcpy(walk.at[0] + i * to->stride[last], from, (size_t)size);
    }
  } while (lgt_walk_next(&walk, lo, hi));
  return LGT_OK;
}

/* Where an element of each of two arrays leads to, from 0 along its axis; an error if it is outside. */
static lgt_status pair_of_offsets(const lgt_tile *tiles, const lgt_walk *walk, int64_t i,
                                  const lgt_scalar *params, int64_t *offset) {
  int last = tiles->ndim - 1;
  for (int k = 0; k < 2; k++) {
    int64_t at = *(const int64_t *)(walk->at[1 + k] + i * tiles[1 + k].stride[last]),
            base = (int64_t)params[3 * k].f, extent = (int64_t)params[3 * k + 1].f;
    offset[k] = offset_of(at, extent, base);
    if (offset[k] < 0 || offset[k] >= extent)
      return outside(at, extent, base, (int64_t)params[3 * k + 2].f, 1, 0);
  }
  return LGT_OK;
}

static lgt_status merge(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi,
                        bool check) {
  int last = tiles->ndim - 1;
  int64_t n, offset[2] = {0};
  lgt_walk walk;
  if (!lgt_walk_elements(&walk, tiles, nargs, lo, hi, &n)) return LGT_OK;
  do {
    for (int64_t i = 0; i < n; i++) {
      lgt_status status = pair_of_offsets(tiles, &walk, i, params, offset);
      if (status) return status;
      *(int64_t *)(walk.at[0] + i * tiles[0].stride[last]) =
          check ? *(const int64_t *)(walk.at[1] + i * tiles[1].stride[last])
                : offset[0] * (int64_t)params[4].f + offset[1] + 1;
    }
  } while (lgt_walk_next(&walk, lo, hi));
  return LGT_OK;
}

static lgt_status merge_positions(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                  int64_t hi) {
  return merge(tiles, nargs, params, lo, hi, false);
}

static lgt_status check_positions(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                  int64_t hi) {
  return merge(tiles, nargs, params, lo, hi, true);
}

const lgt_builtin lgt_gather_builtins[] = {{"gather", gather},
                                           {"scatter", scatter},
                                           {"scatter_number", scatter_number},
                                           {"take_along", take_along},
                                           {"put_along", put_along},
                                           {"choose", choose},
                                           {"merge_positions", merge_positions},
                                           {"check_positions", check_positions},
                                           {0}};
