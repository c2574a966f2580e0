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

static inline lgt_status NAME(coo_count)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                         int64_t hi) {
  int64_t parts = t[1].extent[0], n = t[1].extent[1], count = t[2].extent[0];
  const I *key = t[2].data;
  int shift = (int)params[0].f;
  (void)nargs;
  for (int64_t p = (lo + PART - 1) / PART; p * PART < hi; p++) {
    I *sum = (I *)t[1].data + p * n;
    memset(sum, 0, (size_t)n * sizeof *sum);
    int64_t past = NAME(share)(count, p + 1, parts);
    for (int64_t k = NAME(share)(count, p, parts); k < past; k++) sum[key[k] >> shift]++;
  }
  return LGT_OK;
}

static inline lgt_status NAME(coo_offsets)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                           int64_t hi) {
  I *pos = t[0].data, *sum = t[1].data, at = 0;
  int64_t n = t[0].extent[1] - 1, parts = n ? t[1].extent[1] / n : 0;
  (void)nargs, (void)params;
  if (lo >= hi) return LGT_OK;
  for (int64_t i = 0; i < n; i++) {
    pos[i] = at;
    for (int64_t p = 0; p < parts; p++) {
      I here = sum[p * n + i];
      sum[p * n + i] = at;
      at = (I)(at + here);
    }
  }
  pos[n] = at;
  return LGT_OK;
}

static lgt_status NAME(coo_place)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                  int64_t hi) {
  int64_t parts = t[1].extent[0], n = t[1].extent[1], count = t[4].extent[0];
  I *crd = t[2].data;
  W *vals = t[3].data;
  const I *key = t[4].data, *other = t[5].data;
  const W *data = t[6].data;
  (void)nargs, (void)params;
  for (int64_t p = (lo + PART - 1) / PART; p * PART < hi; p++) {
    I *next = (I *)t[1].data + p * n;
    int64_t past = NAME(share)(count, p + 1, parts);
    for (int64_t k = NAME(share)(count, p, parts); k < past; k++) {
      I at = next[key[k]]++;
      crd[at] = other[k];
      vals[at] = data[k];
    }
  }
  return LGT_OK;
}

static lgt_status NAME(coo_split)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                  int64_t hi) {
  int64_t parts = t[1].extent[0], n = t[1].extent[1], count = t[5].extent[0];
  I *new_key = t[2].data, *new_other = t[3].data;
  W *new_data = t[4].data;
  const I *key = t[5].data, *other = t[6].data;
  const W *data = t[7].data;
  int shift = (int)params[0].f;
  (void)nargs;
  for (int64_t p = (lo + PART - 1) / PART; p * PART < hi; p++) {
    I *next = (I *)t[1].data + p * n;
    int64_t past = NAME(share)(count, p + 1, parts);
    for (int64_t k = NAME(share)(count, p, parts); k < past; k++) {
      I at = next[key[k] >> shift]++;
      new_key[at] = key[k];
      new_other[at] = other[k];
      new_data[at] = data[k];
    }
  }
  return LGT_OK;
}

static lgt_status NAME(coo_fill)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                 int64_t hi) {
  I *pos = t[1].data, *crd = t[2].data;
  W *vals = t[3].data;
  const I *key = t[5].data, *other = t[6].data;
  const W *data = t[7].data;
  int64_t n = t[1].extent[0] - 1, width = (int64_t)1 << (int)params[0].f;
  (void)nargs;
  I *next = lgt_mem_alloc((size_t)width * sizeof *next);
  if (!next) return lgt_err(LGT_NO_MEMORY, "out of memory to order triplets");
  for (int64_t i = lo; i < hi; i++) {
    int64_t low = i * width, high = low + width < n ? low + width : n;
    I first = LGT_AT(const I, &t[0], i), past = LGT_AT(const I, &t[4], i), at = first;
    memset(next, 0, (size_t)width * sizeof *next);
    for (I k = first; k < past; k++) next[key[k] - low]++;
    for (int64_t j = low; j < high; j++) {
      I here = next[j - low];
      pos[j] = next[j - low] = at;
      at = (I)(at + here);
    }
    if (high == n) pos[n] = at;
    for (I k = first; k < past; k++) {
      I to = next[key[k] - low]++;
      crd[to] = other[k];
      vals[to] = data[k];
    }
  }
  lgt_mem_free(next);
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
  int64_t longest = 0;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t n = LGT_AT(const I, &t[1], i) - LGT_AT(const I, &t[0], i);
    if (n > longest) longest = n;
  }
  char *room = lgt_mem_alloc((size_t)longest * (sizeof(I) + sizeof(W)) + 1);
  if (!room) return lgt_err(LGT_NO_MEMORY, "out of memory to sort a row of %lld entries", (long long)longest);
  for (int64_t i = lo; i < hi; i++) {
    int64_t first = LGT_AT(const I, &t[0], i), n = LGT_AT(const I, &t[1], i) - first;
    NAME(sort_entries)(crd + first, vals + first, n, (I *)(room + (size_t)longest * sizeof(W)), (W *)room);
  }
  lgt_mem_free(room);
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
      row[k] = (I)i;
  return LGT_OK;
}

static lgt_status NAME(take)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  I *crd = t[1].data;
  W *vals = t[2].data;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t to = LGT_AT(const I, &t[0], i), first = LGT_AT(const I, &t[3], i),
            n = LGT_AT(const I, &t[4], i) - first;
    memcpy(crd + to, (const I *)t[5].data + first, (size_t)n * sizeof *crd);
    memcpy(vals + to, (const W *)t[6].data + first, (size_t)n * sizeof *vals);
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
  I *crd = t[1].data;
  W *vals = t[2].data;
  const I *old_crd = t[5].data;
  const W *old_vals = t[6].data;
  const uint8_t *keep = t[7].data;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t to = LGT_AT(const I, &t[0], i), past = LGT_AT(const I, &t[4], i);
    for (int64_t k = LGT_AT(const I, &t[3], i); k < past; k++)
      if (keep[k]) crd[to] = old_crd[k], vals[to++] = old_vals[k];
  }
  return LGT_OK;
}

static lgt_status NAME(from_dense)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                   int64_t hi) {
  I *crd = t[1].data;
  W *vals = t[2].data;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    const char *keep = (const char *)t[3].data + i * t[3].stride[0],
               *from = (const char *)t[4].data + i * t[4].stride[0];
    int64_t to = LGT_AT(const I, &t[0], i);
    for (int64_t c = 0; c < t[3].extent[1]; c++)
      if (keep[c * t[3].stride[1]]) crd[to] = (I)c, vals[to++] = *(const W *)(from + c * t[4].stride[1]);
  }
  return LGT_OK;
}

static lgt_status NAME(from_dia)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                 int64_t hi) {
  I *crd = t[1].data;
  W *vals = t[2].data;
  const lgt_tile *keep = &t[3], *data = &t[4];
  const int64_t *offset = t[5].data;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t to = LGT_AT(const I, &t[0], i);
    for (int64_t d = 0; d < keep->extent[0]; d++) {
      int64_t c = i + offset[d];
      if (c < 0 || c >= keep->extent[1]) continue;
      if (!*((const char *)keep->data + d * keep->stride[0] + c * keep->stride[1])) continue;
      crd[to] = (I)c;
      vals[to++] = *(const W *)((const char *)data->data + d * data->stride[0] + c * data->stride[1]);
    }
  }
  return LGT_OK;
}

#undef W
#undef NAME
