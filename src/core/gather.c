/* gather.c - reading and writing elements at positions that arrays hold.
 *
 *   gather      argument 0 [b, i, f] = argument 1 [b, p1(i), ..., pk(i), f], where b, i and f stand for any
 *               number of dimensions and arguments 2, ... (int64) are p1, ..., pk, stretched to one shape
 *   scatter     argument 0 [b, p1(i), ..., pk(i), f] is combined with argument 1 [b, i, f], in the order of i:
 *               the last of several values for one place wins, or all count, depending on the operation
 *   take_along  argument 0 [b, i] = argument 1 [b, p(b, i)], lines
 *   put_along   argument 0 [b, p(b, i)] is combined with argument 1 [b, i], lines
 *   choose      argument 0 [i] = argument 2 + k [i] where argument 1 (int64) is k + parameter 1; all are cut alike
 *   merge_positions  argument 0 (int64) [i] = the position, from 1, in C order of what is at arguments 1 and 2 (int64)
 *               [i] of two axes; parameters: of each what its first position is called, its extent, its number (for
 *               messages); all are cut alike
 *
 * Parameters of the others: 0 the number of dimensions b stands for; 1 what the first position is called (0 or 1);
 * 2 the operation (scan.h); 3 the axes that the positions are of, as the digits of a number (for messages);
 * 4 of a scatter with one array of positions: the extent of their axis, of which argument 0 may be a tile.
 * Negative positions count from the end.  A position outside is an error that says which, and nothing
 * is written before all positions of a call have been looked at.
 */
#include "scan.h"

enum { DEPTH, BASE, OPERATION, AXES, EXTENT };

static lgt_status outside(int64_t at, int64_t extent, int64_t base, int64_t axes, int npick, int pick) {
  if (at == 0 && base == 1) return lgt_err(LGT_OUT_OF_BOUNDS, "index: positions count from 1, 0 was found");
  for (int k = pick; k < npick - 1; k++) axes /= 10;
  return lgt_err(LGT_OUT_OF_BOUNDS, "index: position %lld of axis %lld is outside its extent of %lld",
                 (long long)at, (long long)(axes % 10), (long long)extent);
}

static inline int64_t offset_of(int64_t at, int64_t extent, int64_t base) {
  return at < 0 ? extent + at : at - base;
}

/* The whole of what is looked up: dimensions b, i (of the result or the values) and f, and k positions. */
typedef struct lookup {
  const lgt_tile *result, *source; /* [b, i, f] and [b, p..., f] */
  const lgt_tile *position;        /* npick of them */
  int nb, ni, nf, npick;
  int64_t base, axes;
} lookup;

static lookup lookup_of(const lgt_tile *result, const lgt_tile *source, const lgt_tile *position, int npick,
                        const lgt_scalar *params) {
  lookup l = {result, source, position, .nb = (int)params[DEPTH].f, .npick = npick};
  l.nf = source->ndim - l.nb - npick;
  l.ni = result->ndim - l.nb - l.nf;
  l.base = (int64_t)params[BASE].f;
  l.axes = (int64_t)params[AXES].f;
  return l;
}

enum { RUN = 256 };

/* Where n positions along the last dimension of i, the first of them at index[], lead within the source, in bytes. */
static lgt_status places(const lookup *l, const int64_t *index, int64_t n, int64_t *out) {
  int bad = -1;
  int64_t found = 0;
  for (int k = 0; k < l->npick; k++) {
    const lgt_tile *p = &l->position[k];
    const char *at = p->data;
    int64_t extent = l->source->extent[l->nb + k], stride = l->source->stride[l->nb + k];
    int64_t step = l->ni ? p->stride[l->ni - 1] : 0;
    for (int d = 0; d < l->ni; d++) at += index[d] * p->stride[d];
    for (int64_t i = 0; i < n; i++, at += step) {
      int64_t offset = offset_of(*(const int64_t *)at, extent, l->base);
      if (offset < 0 || offset >= extent)
        bad = k, found = *(const int64_t *)at, n = i; /* the first one counts */
      else out[i] = (k ? out[i] : 0) + offset * stride;
    }
  }
  if (bad < 0) return LGT_OK;
  return outside(found, l->source->extent[l->nb + bad], l->base, l->axes, l->npick, bad);
}

/* How many positions from index[] on can be looked up at once, and that they were. */
static inline int64_t run_at(const lookup *l, const int64_t *index, const int64_t *past) {
  if (l->ni == 0) return 1;
  int64_t left = past[l->nb + l->ni - 1] - index[l->nb + l->ni - 1];
  return left < RUN ? left : RUN;
}
static inline void run_past(const lookup *l, int64_t *index, int64_t run) {
  if (l->ni) index[l->nb + l->ni - 1] += run - 1;
}

static bool advance(int64_t *index, const int64_t *first, const int64_t *past, int n) {
  for (int d = n - 1; d >= 0; d--) {
    if (++index[d] < past[d]) return true;
    index[d] = first[d];
  }
  return false;
}

/* The dimensions f of a place: copy, or combine one by one. */
static inline void inner(const lookup *l, char *to, const lgt_tile *to_tile, const char *from,
                         const lgt_tile *from_tile, lgt_scan_step step, int64_t size) {
  int64_t index[6] = {0}, zero[6] = {0};
  int nf = l->nf, tf = to_tile->ndim - nf, ff = from_tile->ndim - nf;
  if (nf == 0) {
    if (step) step(to, from);
    else if (size == 8) memcpy(to, from, 8);
    else memcpy(to, from, (size_t)size);
    return;
  }
  const int64_t *extent = to_tile->extent + tf;
  int64_t n = extent[nf - 1], to_stride = to_tile->stride[to_tile->ndim - 1],
          from_stride = from_tile->stride[from_tile->ndim - 1];
  do {
    char *t = to;
    const char *f = from;
    for (int d = 0; d < nf - 1; d++)
      t += index[d] * to_tile->stride[tf + d], f += index[d] * from_tile->stride[ff + d];
    if (!step) lgt_copy_line(t, to_stride, f, from_stride, n, size);
    for (int64_t i = 0; step && i < n; i++, t += to_stride, f += from_stride) step(t, f);
  } while (advance(index, zero, extent, nf - 1));
}

static bool empty(const int64_t *extent, int n) {
  for (int d = 0; d < n; d++)
    if (extent[d] <= 0) return true;
  return false;
}

/* One element from each place. */
static void gather_elements(char *to, int64_t stride, const char *from, const int64_t *offset, int64_t n,
                            int64_t size) {
  if (size == 8)
    for (int64_t i = 0; i < n; i++) memcpy(to + i * stride, from + offset[i], 8);
  else if (size == 4)
    for (int64_t i = 0; i < n; i++) memcpy(to + i * stride, from + offset[i], 4);
  else
    for (int64_t i = 0; i < n; i++) memcpy(to + i * stride, from + offset[i], (size_t)size);
}

/* One vector of positions into one axis, elements one by one: the common case. */
static lgt_status gather_vector(const lookup *l, int64_t lo, int64_t hi, int64_t size) {
  const lgt_tile *to = l->result, *p = &l->position[0];
  int64_t extent = l->source->extent[0], stride = l->source->stride[0];
  const char *from = l->source->data, *at = (const char *)p->data + lo * p->stride[0];
  char *t = (char *)to->data + lo * to->stride[0];
  for (int64_t i = lo; i < hi; i++, t += to->stride[0], at += p->stride[0]) {
    int64_t offset = offset_of(*(const int64_t *)at, extent, l->base);
    if (offset < 0 || offset >= extent) return outside(*(const int64_t *)at, extent, l->base, l->axes, 1, 0);
    if (size == 8) memcpy(t, from + offset * stride, 8);
    else if (size == 4) memcpy(t, from + offset * stride, 4);
    else memcpy(t, from + offset * stride, (size_t)size);
  }
  return LGT_OK;
}

/* Rows [lo, hi) of the result: of the first dimension of b, or of i. */
static lgt_status gather(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  lookup l = lookup_of(&tiles[0], &tiles[1], &tiles[2], nargs - 2, params);
  int64_t size = lgt_dtype_size(l.source->dtype), index[6] = {lo}, first[6] = {lo}, past[6];
  int n = l.nb + l.ni;
  memcpy(past, l.result->extent, sizeof past);
  past[0] = hi;
  if (l.result->ndim == 0) hi = lo + 1;
  if (n > 0 && (lo >= hi || empty(past, l.result->ndim))) return LGT_OK;
  if (l.nb == 0 && l.ni == 1 && l.npick == 1 && l.nf == 0) return gather_vector(&l, lo, hi, size);
  int64_t offset[RUN], stride = l.ni ? l.result->stride[n - 1] : 0;
  do {
    char *to = l.result->data;
    const char *from = l.source->data;
    int64_t run = run_at(&l, index, past);
    lgt_status status = places(&l, index + l.nb, run, offset);
    if (status) return status;
    for (int d = 0; d < n; d++) to += index[d] * l.result->stride[d];
    for (int d = 0; d < l.nb; d++) from += index[d] * l.source->stride[d];
    if (l.nf == 0) gather_elements(to, stride, from, offset, run, size);
    for (int64_t i = 0; i < run && l.nf; i++)
      inner(&l, to + i * stride, l.result, from + offset[i], l.source, NULL, size);
    run_past(&l, index, run);
  } while (advance(index, first, past, n));
  return LGT_OK;
}

/* One array of positions, of which those count that lead to the tile at hand, in the order of its rows; but all must be
 * positions of the whole axis. */
typedef struct spread {
  lookup l;
  int64_t extent, first, past; /* of the axis, of which this is the part from first to past - 1 */
  const int64_t (*rows)[2];
  int64_t nrows;
  lgt_scan_step step; /* NULL: set */
  int64_t size;
  bool counts; /* adds integers, as histograms do */
} spread;

static spread spread_of(const lookup *l, int64_t extent, int op, lgt_scan_step step, int64_t (*all)[2]) {
  const lgt_tile *p = &l->position[0], *to = l->source;
  spread s = {.l = *l, .extent = extent, .rows = p->rows, .nrows = p->nrows, .step = step};
  s.first = to->origin[l->nb];
  s.past = s.first + to->extent[l->nb];
  s.size = lgt_dtype_size(to->dtype);
  s.counts = op == LGT_SCAN_ADD && to->dtype == LGT_INT64;
  (*all)[0] = 0, (*all)[1] = p->ndim ? p->extent[0] : 1;
  if (!s.rows) s.rows = (const int64_t(*)[2])all, s.nrows = 1;
  return s;
}

/* A vector into a vector. */
static lgt_status spread_vector(const spread *s, bool check) {
  const lgt_tile *from = s->l.result, *p = &s->l.position[0];
  int64_t stride = s->l.source->stride[1];
  for (int64_t r = 0; r < s->nrows; r++) {
    const char *at = (const char *)p->data + s->rows[r][0] * p->stride[0];
    const char *f = (const char *)from->data + s->rows[r][0] * from->stride[1];
    for (int64_t i = s->rows[r][0]; i < s->rows[r][1]; i++, at += p->stride[0], f += from->stride[1]) {
      int64_t offset = offset_of(*(const int64_t *)at, s->extent, s->l.base);
      if (check) {
        if (offset < 0 || offset >= s->extent)
          return outside(*(const int64_t *)at, s->extent, s->l.base, s->l.axes, 1, 0);
        continue;
      }
      if (offset < s->first || offset >= s->past) continue;
      char *to = (char *)s->l.source->data + (offset - s->first) * stride;
      if (s->counts) *(int64_t *)to += *(const int64_t *)f;
      else if (s->step) s->step(to, f);
      else if (s->size == 8) memcpy(to, f, 8);
      else if (s->size == 4) memcpy(to, f, 4);
      else memcpy(to, f, (size_t)s->size);
    }
  }
  return LGT_OK;
}

/* Any shape, rows lo to hi - 1. */
static lgt_status spread_rows(const spread *s, int64_t lo, int64_t hi, bool check) {
  const lookup *l = &s->l;
  const lgt_tile *p = &l->position[0];
  int64_t index[6] = {0}, first[6] = {0}, past[6];
  int n = l->nb + l->ni;
  memcpy(past, l->result->extent, sizeof past);
  if (l->ni) index[l->nb] = first[l->nb] = lo, past[l->nb] = hi;
  do {
    const char *at = p->data, *from = l->result->data;
    char *to = l->source->data;
    for (int d = 0; d < l->ni; d++) at += index[l->nb + d] * p->stride[d];
    int64_t offset = offset_of(*(const int64_t *)at, s->extent, l->base);
    if (check && (offset < 0 || offset >= s->extent))
      return outside(*(const int64_t *)at, s->extent, l->base, l->axes, 1, 0);
    if (check || offset < s->first || offset >= s->past) continue;
    for (int d = 0; d < n; d++) from += index[d] * l->result->stride[d];
    for (int d = 0; d < l->nb; d++) to += index[d] * l->source->stride[d];
    inner(l, to + (offset - s->first) * l->source->stride[l->nb], l->source, from, l->result, s->step,
          s->size);
  } while (advance(index, first, past, n));
  return LGT_OK;
}

static lgt_status scatter_one(const lookup *l, int64_t extent, int op, lgt_scan_step step) {
  int64_t all[1][2];
  spread s = spread_of(l, extent, op, step, all);
  bool vector = l->nb == 1 && l->ni == 1 && l->nf == 0;
  lgt_status status = LGT_OK;
  for (int check = 1; check >= 0 && !status; check--) {
    if (vector) status = spread_vector(&s, check);
    for (int64_t r = 0; r < s.nrows && !status && !vector; r++)
      status = spread_rows(&s, s.rows[r][0], s.rows[r][1], check);
  }
  return status;
}

/* The target has one more dimension in front, of extent 1, so that this is one call: places may coincide. */
static lgt_status scatter(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                          int64_t hi) {
  lookup l = lookup_of(&tiles[1], &tiles[0], &tiles[2], nargs - 2, params);
  int64_t size = lgt_dtype_size(l.source->dtype), index[6] = {0}, zero[6] = {0};
  int op = (int)params[OPERATION].f, n = l.nb + l.ni;
  lgt_scan_step step = op == LGT_SCAN_SET ? NULL : lgt_scan_step_of(op, l.source->dtype);
  if (!step && op != LGT_SCAN_SET) return LGT_BAD_DTYPE;
  if (lo >= hi || empty(l.result->extent, l.result->ndim)) return LGT_OK;
  if (l.npick == 1) return scatter_one(&l, (int64_t)params[EXTENT].f, op, step);
  int64_t offset[RUN], stride = l.ni ? l.result->stride[n - 1] : 0;
  for (int pass = 0; pass < 2; pass++) {
    do {
      char *to = l.source->data;
      const char *from = l.result->data;
      int64_t run = run_at(&l, index, l.result->extent);
      lgt_status status = places(&l, index + l.nb, run, offset);
      if (status) return status;
      for (int d = 0; d < n; d++) from += index[d] * l.result->stride[d];
      for (int d = 0; d < l.nb; d++) to += index[d] * l.source->stride[d];
      for (int64_t i = 0; i < run && pass; i++)
        inner(&l, to + offset[i], l.source, from + i * stride, l.result, step, size);
      run_past(&l, index, run);
    } while (advance(index, zero, l.result->extent, n));
  }
  return LGT_OK;
}

/* ---- along lines -------------------------------------------------------------------------------------- */

static lgt_status check_line(const lgt_tile *position, const char *at, int64_t extent,
                             const lgt_scalar *params) {
  int64_t n = position->extent[position->ndim - 1], stride = position->stride[position->ndim - 1];
  int64_t base = (int64_t)params[BASE].f;
  for (int64_t i = 0; i < n; i++, at += stride) {
    int64_t offset = offset_of(*(const int64_t *)at, extent, base);
    if (offset < 0 || offset >= extent)
      return outside(*(const int64_t *)at, extent, base, (int64_t)params[AXES].f, 1, 0);
  }
  return LGT_OK;
}

static lgt_status take_along(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                             int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1], *position = &tiles[2];
  int lead = to->ndim - 1;
  int64_t n = position->extent[lead], extent = from->extent[lead], size = lgt_dtype_size(to->dtype);
  int64_t base = (int64_t)params[BASE].f;
  lgt_walk walk;
  (void)nargs;
  if (!lgt_walk_begin(&walk, tiles, 3, lead, lo, hi)) return LGT_OK;
  do {
    lgt_status status = check_line(position, walk.at[2], extent, params);
    if (status) return status;
    const char *at = walk.at[2];
    char *t = walk.at[0];
    for (int64_t i = 0; i < n; i++, at += position->stride[lead], t += to->stride[lead]) {
      const char *f = walk.at[1] + offset_of(*(const int64_t *)at, extent, base) * from->stride[lead];
      if (size == 8) memcpy(t, f, 8);
      else if (size == 4) memcpy(t, f, 4);
      else memcpy(t, f, (size_t)size);
    }
  } while (lgt_walk_next(&walk, lo, hi));
  return LGT_OK;
}

static lgt_status put_along(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                            int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1], *position = &tiles[2];
  int lead = to->ndim - 1;
  int64_t n = position->extent[lead], extent = to->extent[lead];
  int64_t base = (int64_t)params[BASE].f;
  lgt_scan_step step = lgt_scan_step_of((int)params[OPERATION].f, to->dtype);
  lgt_walk walk;
  (void)nargs;
  if (!step) return LGT_BAD_DTYPE;
  if (!lgt_walk_begin(&walk, tiles, 3, lead, lo, hi)) return LGT_OK;
  do {
    lgt_status status = check_line(position, walk.at[2], extent, params);
    if (status) return status;
    bool plain = (int)params[OPERATION].f == LGT_SCAN_SET && lgt_dtype_size(to->dtype) == 8;
    for (int64_t i = 0; i < n; i++) {
      int64_t at = *(const int64_t *)(walk.at[2] + i * position->stride[lead]);
      if (plain)
        memcpy(walk.at[0] + offset_of(at, extent, base) * to->stride[lead],
               walk.at[1] + i * from->stride[lead], 8);
      else
        step(walk.at[0] + offset_of(at, extent, base) * to->stride[lead],
             walk.at[1] + i * from->stride[lead]);
    }
  } while (lgt_walk_next(&walk, lo, hi));
  return LGT_OK;
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

static lgt_status merge_positions(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                  int64_t hi) {
  int last = tiles->ndim - 1;
  int64_t n, offset[2];
  lgt_walk walk;
  if (!lgt_walk_elements(&walk, tiles, nargs, lo, hi, &n)) return LGT_OK;
  do {
    for (int64_t i = 0; i < n; i++) {
      for (int k = 0; k < 2; k++) {
        int64_t at = *(const int64_t *)(walk.at[1 + k] + i * tiles[1 + k].stride[last]),
                base = (int64_t)params[3 * k].f, extent = (int64_t)params[3 * k + 1].f;
        offset[k] = offset_of(at, extent, base);
        if (offset[k] < 0 || offset[k] >= extent)
          return outside(at, extent, base, (int64_t)params[3 * k + 2].f, 1, 0);
      }
      *(int64_t *)(walk.at[0] + i * tiles[0].stride[last]) = offset[0] * (int64_t)params[4].f + offset[1] + 1;
    }
  } while (lgt_walk_next(&walk, lo, hi));
  return LGT_OK;
}

const lgt_builtin lgt_gather_builtins[] = {{"gather", gather},
                                           {"scatter", scatter},
                                           {"take_along", take_along},
                                           {"put_along", put_along},
                                           {"choose", choose},
                                           {"merge_positions", merge_positions},
                                           {0}};
