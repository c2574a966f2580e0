/* sparse_moves.h - the kernels of sparse_shape.c for one type of positions, I, and one size of values, W.
 *
 * A template: included once for each pair of types, with NAME(f) for the functions' names.
 */

static inline lgt_status NAME(positions)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                         int64_t hi) {
  I *pos = t[0].data;
  const int64_t *count = t[1].data;
  int64_t n = t[1].extent[1], sum = 0;
  (void)nargs, (void)params;
  if (lo >= hi) return LGT_OK;
  for (int64_t i = 0; i < n; i++) {
    pos[i] = (I)sum;
    sum += count[i];
  }
  pos[n] = (I)sum;
  return LGT_OK;
}

/* Entries that part `part` of the `parts` has. */
static inline int64_t NAME(share)(int64_t count, int64_t part, int64_t parts) {
  return (int64_t)((__int128)count * part / parts);
}

/* A part of a run, and its triplets, those from `first` to `past` of the tile. */
typedef struct NAME(piece) {
  int64_t run, part, first, past;
  I base; /* where the run's triplets begin in the result */
} NAME(piece);

/* The piece number q of a tile; `ends`: how many each run has, NULL: as many as fit. */
static inline NAME(piece)
    NAME(piece_at)(int64_t q, const lgt_scalar *params, int64_t count, const lgt_tile *ends) {
  int64_t parts = (int64_t)params[0].f, length = (int64_t)params[1].f, r = q / parts, begin = r * length,
          n = count - begin;
  NAME(piece) x = {.run = r, .part = q % parts};
  n = n < 0 ? 0 : n < length ? n : length;
  if (ends) {
    x.base = LGT_AT(const I, &ends[0], r);
    n = (int64_t)LGT_AT(const I, &ends[1], r) - x.base;
  }
  x.first = begin + NAME(share)(n, x.part, parts);
  x.past = begin + NAME(share)(n, x.part + 1, parts);
  return x;
}

/* The sums of a piece: as many as there are buckets. */
static inline I *NAME(sums_of)(const lgt_tile *sum, const NAME(piece) * x, const lgt_scalar *params,
                               int64_t *n) {
  *n = sum->extent[1] / (int64_t)params[0].f;
  return (I *)((char *)sum->data + x->run * sum->stride[0]) + x->part * *n;
}

static inline lgt_status NAME(coo_count)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                         int64_t hi) {
  int64_t n, count = t[2].extent[0];
  const I *key = t[2].data;
  int shift = (int)params[2].f;
  I width = (I)params[3].f;
  for (int64_t q = (lo + PART - 1) / PART; q * PART < hi; q++) {
    NAME(piece) x = NAME(piece_at)(q, params, count, nargs > 3 ? &t[3] : NULL);
    I *sum = NAME(sums_of)(&t[1], &x, params, &n);
    memset(sum, 0, (size_t)n * sizeof *sum);
    if (width)
      for (int64_t k = x.first; k < x.past; k++) sum[key[k] / width]++;
    else
      for (int64_t k = x.first; k < x.past; k++) sum[key[k] >> shift]++;
  }
  return LGT_OK;
}

static inline lgt_status NAME(coo_offsets)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                           int64_t hi) {
  int64_t n = t[0].extent[1] - 1, parts = n ? t[1].extent[1] / n : 0;
  (void)nargs, (void)params;
  for (int64_t r = lo; r < hi; r++) {
    I *pos = (I *)((char *)t[0].data + r * t[0].stride[0]), at = 0;
    I *sum = (I *)((char *)t[1].data + r * t[1].stride[0]);
    for (int64_t i = 0; i < n; i++) {
      pos[i] = at;
      for (int64_t p = 0; p < parts; p++) {
        I here = sum[p * n + i];
        sum[p * n + i] = at;
        at = (I)(at + here);
      }
    }
    pos[n] = at;
  }
  return LGT_OK;
}

static inline lgt_status NAME(coo_bounds)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                          int64_t hi) {
  const I *key = t[1].data;
  int64_t k = 0, n = t[1].extent[0];
  (void)nargs, (void)params;
  for (int64_t past = n; k < past;) { /* the first key that is not below lo */
    int64_t middle = k + (past - k) / 2;
    if (key[middle] < lo) k = middle + 1;
    else past = middle;
  }
  for (int64_t i = lo; i < hi; i++) {
    while (k < n && key[k] < i) k++;
    LGT_AT(I, &t[0], i) = (I)k;
  }
  return LGT_OK;
}

static lgt_status NAME(coo_place)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                  int64_t hi) {
  int64_t n, count = t[4].extent[0];
  const I *key = t[4].data, *other = t[5].data;
  const W *data = t[6].data;
  for (int64_t q = (lo + PART - 1) / PART; q * PART < hi; q++) {
    NAME(piece) x = NAME(piece_at)(q, params, count, nargs > 7 ? &t[7] : NULL);
    I *next = NAME(sums_of)(&t[1], &x, params, &n), *crd = (I *)t[2].data + x.base;
    W *vals = (W *)t[3].data + x.base;
    for (int64_t k = x.first; k < x.past; k++) {
      I at = next[key[k]]++;
      crd[at] = other[k];
      vals[at] = data[k];
    }
  }
  return LGT_OK;
}

static lgt_status NAME(coo_split)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                  int64_t hi) {
  int64_t n, count = t[5].extent[0], length = (int64_t)params[1].f;
  const I *key = t[5].data, *other = t[6].data;
  const W *data = t[7].data;
  int shift = (int)params[2].f;
  I width = (I)params[3].f;
  (void)nargs;
  for (int64_t q = (lo + PART - 1) / PART; q * PART < hi; q++) {
    NAME(piece) x = NAME(piece_at)(q, params, count, NULL);
    I *next = NAME(sums_of)(&t[1], &x, params, &n);
    I *new_key = (I *)t[2].data + x.run * length, *new_other = (I *)t[3].data + x.run * length;
    W *new_data = (W *)t[4].data + x.run * length;
    for (int64_t k = x.first; k < x.past; k++) {
      I bucket = width ? key[k] / width : key[k] >> shift, at = next[bucket]++;
      new_key[at] = width ? key[k] - bucket * width : key[k];
      new_other[at] = other[k];
      new_data[at] = data[k];
    }
  }
  return LGT_OK;
}

/* Merges the two sorted halves of n entries, by way of room for n. */
static void NAME(merge)(I *crd, W *vals, int64_t half, int64_t n, I *c, W *v) {
  memcpy(c, crd, (size_t)half * sizeof *c);
  memcpy(v, vals, (size_t)half * sizeof *v);
  int64_t a = 0, b = half, to = 0;
  while (a < half) {
    bool second = b < n && crd[b] < c[a];
    crd[to] = second ? crd[b] : c[a];
    vals[to++] = second ? vals[b++] : v[a++];
  }
}

static void NAME(sort_entries)(I *crd, W *vals, int64_t n, I *c, W *v) {
  if (n > 24) {
    int64_t half = n / 2;
    NAME(sort_entries)(crd, vals, half, c, v);
    NAME(sort_entries)(crd + half, vals + half, n - half, c, v);
    if (crd[half] < crd[half - 1]) NAME(merge)(crd, vals, half, n, c, v);
    return;
  }
  for (int64_t i = 1; i < n; i++) {
    I x = crd[i];
    W y = vals[i];
    int64_t j = i;
    for (; j > 0 && crd[j - 1] > x; j--) crd[j] = crd[j - 1], vals[j] = vals[j - 1];
    crd[j] = x;
    vals[j] = y;
  }
}

static lgt_status NAME(sort)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  I *crd = t[2].data;
  W *vals = t[3].data;
  const I *old_crd = t[4].data;
  const W *old_vals = t[5].data;
  int64_t longest = 0;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t n = LGT_AT(const I, &t[1], i) - LGT_AT(const I, &t[0], i);
    if (n > longest) longest = n;
  }
  size_t columns = ((size_t)longest * sizeof(W) + 7) / 8 * 8; /* where they begin, aligned */
  char *room = lgt_scratch_alloc(columns + (size_t)longest * sizeof(I) + 1);
  if (!room) return LGT_NO_MEMORY;
  for (int64_t i = lo; i < hi; i++) {
    int64_t first = LGT_AT(const I, &t[0], i), n = LGT_AT(const I, &t[1], i) - first;
    memcpy(crd + first, old_crd + first, (size_t)n * sizeof *crd);
    memcpy(vals + first, old_vals + first, (size_t)n * sizeof *vals);
    NAME(sort_entries)(crd + first, vals + first, n, (I *)(room + columns), (W *)room);
  }
  lgt_scratch_free(room);
  return LGT_OK;
}

static inline lgt_status NAME(order)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                     int64_t hi) {
  const I *crd = t[3].data;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t order = 2, past = LGT_AT(const I, &t[2], i);
    for (int64_t k = LGT_AT(const I, &t[1], i) + 1; k < past && order; k++)
      order = crd[k] < crd[k - 1] ? 0 : crd[k] == crd[k - 1] ? 1 : order;
    LGT_AT(int64_t, &t[0], i) = order;
  }
  return LGT_OK;
}

static inline lgt_status NAME(rows)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                    int64_t hi) {
  I *row = t[2].data;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++)
    for (int64_t k = LGT_AT(const I, &t[0], i), past = LGT_AT(const I, &t[1], i); k < past; k++)
      row[k] = (I)(t[0].origin[0] + i);
  return LGT_OK;
}

/* Rows that lie one after the other, here and there, are moved together. */
static lgt_status NAME(take)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  I *crd = t[4].data;
  W *vals = t[5].data;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi;) {
    int64_t to = LGT_AT(const I, &t[0], i), first = LGT_AT(const I, &t[2], i), past;
    do past = LGT_AT(const I, &t[3], i++);
    while (i < hi && LGT_AT(const I, &t[2], i) == past && LGT_AT(const I, &t[0], i) == to + past - first);
    memcpy(crd + to, (const I *)t[6].data + first, (size_t)(past - first) * sizeof *crd);
    memcpy(vals + to, (const W *)t[7].data + first, (size_t)(past - first) * sizeof *vals);
  }
  return LGT_OK;
}

static inline lgt_status NAME(count)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                     int64_t hi) {
  const uint8_t *keep = t[3].data;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t count = 0;
    for (int64_t k = LGT_AT(const I, &t[1], i), past = LGT_AT(const I, &t[2], i); k < past; k++)
      count += keep[k];
    LGT_AT(int64_t, &t[0], i) = count;
  }
  return LGT_OK;
}

static lgt_status NAME(keep)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  I *crd = t[4].data;
  W *vals = t[5].data;
  const I *old_crd = t[6].data;
  const W *old_vals = t[7].data;
  const uint8_t *keep = t[8].data;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t to = LGT_AT(const I, &t[0], i), past = LGT_AT(const I, &t[3], i);
    for (int64_t k = LGT_AT(const I, &t[2], i); k < past; k++)
      if (keep[k]) crd[to] = old_crd[k], vals[to++] = old_vals[k];
  }
  return LGT_OK;
}

#include "ops/sparse/sparse_buckets.h"
#include "ops/sparse/sparse_rooms.h"

#undef W
#undef NAME
