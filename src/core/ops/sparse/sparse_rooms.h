/* sparse_rooms.h - the kernels of sparse_shape.c between rows and what has room for zeros: rows of equal room, diagonals,
 * blocks, dense matrices.  A part of the template sparse_moves.h.
 */

/* What a row has no entries for names its own column, or the last one: nothing that other rows would not. */
static lgt_status NAME(to_ell)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                               int64_t hi) {
  const I *crd = t[4].data;
  const W *vals = t[5].data;
  const int64_t last = (int64_t)params[0].f;
  (void)nargs;
  for (int64_t i = lo; i < hi; i++) {
    char *c = (char *)t[2].data + i * t[2].stride[0], *v = (char *)t[3].data + i * t[3].stride[0];
    int64_t first = LGT_AT(const I, &t[0], i), n = LGT_AT(const I, &t[1], i) - first;
    int64_t own = t[0].origin[0] + i;
    for (int64_t k = 0; k < t[2].extent[1]; k++) {
      I *to = (I *)(c + k * t[2].stride[1]);
      W *value = (W *)(v + k * t[3].stride[1]);
      if (k < n) *to = crd[first + k], *value = vals[first + k];
      else *to = (I)(own < last ? own : last), memset(value, 0, sizeof *value);
    }
  }
  return LGT_OK;
}

static lgt_status NAME(from_ell)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                 int64_t hi) {
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    const char *crd = (const char *)t[2].data + i * t[2].stride[0],
               *vals = (const char *)t[3].data + i * t[3].stride[0];
    int64_t first = LGT_AT(const I, &t[0], i), n = LGT_AT(const I, &t[1], i) - first;
    for (int64_t k = 0; k < n; k++) {
      ((I *)t[4].data)[first + k] = *(const I *)(crd + k * t[2].stride[1]);
      ((W *)t[5].data)[first + k] = *(const W *)(vals + k * t[3].stride[1]);
    }
  }
  return LGT_OK;
}

static inline lgt_status NAME(offsets)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                       int64_t hi) {
  const lgt_tile *found = &t[0];
  const I *crd = t[4].data;
  int64_t m = (int64_t)params[0].f, all = m + (int64_t)params[1].f, height = (int64_t)params[2].f;
  (void)nargs;
  uint8_t *has = lgt_scratch_alloc((size_t)all + 1);
  if (!has) return LGT_NO_MEMORY;
  for (int64_t r = lo; r < hi; r++) {
    int64_t n = 0, past = (r + 1) * height < t[2].extent[0] ? (r + 1) * height : t[2].extent[0];
    memset(has, 0, (size_t)all);
    for (int64_t i = r * height; i < past; i++)
      for (int64_t k = LGT_AT(const I, &t[2], i), end = LGT_AT(const I, &t[3], i); k < end; k++)
        has[crd[k] - (t[2].origin[0] + i) + m] = 1;
    for (int64_t d = 0; d < all; d++) {
      if (!has[d]) continue;
      if (n < found->extent[1])
        *(int64_t *)((char *)found->data + r * found->stride[0] + n * found->stride[1]) = d - m;
      n++;
    }
    LGT_AT(int64_t, &t[1], r) = n;
  }
  lgt_scratch_free(has);
  return LGT_OK;
}

/* Rows are the columns of a matrix; entries, the rows there. */
static lgt_status NAME(to_dia)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                               int64_t hi) {
  const lgt_tile *data = &t[2], *offsets = &t[5];
  const I *row = t[3].data;
  const W *vals = t[4].data;
  (void)nargs, (void)params;
  for (int64_t d = 0; d < data->extent[0]; d++)
    for (int64_t j = lo; j < hi; j++)
      memset((char *)data->data + d * data->stride[0] + j * data->stride[1], 0, sizeof(W));
  for (int64_t j = lo; j < hi; j++)
    for (int64_t k = LGT_AT(const I, &t[0], j), past = LGT_AT(const I, &t[1], j); k < past; k++) {
      int64_t offset = t[0].origin[0] + j - row[k], d = 0;
      for (int64_t n = offsets->extent[0]; n > 1;) { /* the last one that is not greater */
        int64_t half = n / 2;
        if (LGT_AT(const int64_t, offsets, d + half) <= offset) d += half;
        n -= half;
      }
      *(W *)((char *)data->data + d * data->stride[0] + j * data->stride[1]) = vals[k];
    }
  return LGT_OK;
}

static lgt_status NAME(from_dense)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                   int64_t hi) {
  I *crd = t[4].data;
  W *vals = t[5].data;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    const char *keep = (const char *)t[2].data + i * t[2].stride[0],
               *from = (const char *)t[3].data + i * t[3].stride[0];
    int64_t to = LGT_AT(const I, &t[0], i);
    for (int64_t c = 0; c < t[2].extent[1]; c++)
      if (keep[c * t[2].stride[1]]) crd[to] = (I)c, vals[to++] = *(const W *)(from + c * t[3].stride[1]);
  }
  return LGT_OK;
}

static lgt_status NAME(from_dia)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                 int64_t hi) {
  const lgt_tile *keep = &t[2], *data = &t[3], *offsets = &t[6];
  I *crd = t[4].data;
  W *vals = t[5].data;
  bool by_rows = params[0].f != 0;
  (void)nargs;
  for (int64_t i = lo; i < hi; i++) {
    int64_t to = LGT_AT(const I, &t[0], i);
    for (int64_t d = 0; d < keep->extent[0]; d++) {
      int64_t c = t[0].origin[0] + i + LGT_AT(const int64_t, offsets, d), at = by_rows ? i : c;
      if (at < 0 || at >= keep->extent[1]) continue;
      if (!*((const char *)keep->data + d * keep->stride[0] + at * keep->stride[1])) continue;
      crd[to] = (I)c;
      vals[to++] = *(const W *)((const char *)data->data + d * data->stride[0] + at * data->stride[1]);
    }
  }
  return LGT_OK;
}

/* ---- blocks ------------------------------------------------------------------------------------------------ */

/* The next column of blocks in which one of `height` sorted rows has an entry, from at[a] to past[a] of each; -1: none. */
static inline int64_t NAME(next_block)(const I *crd, const I *at, const I *past, int64_t height,
                                       int64_t width) {
  int64_t best = -1;
  for (int64_t a = 0; a < height; a++) {
    if (at[a] >= past[a]) continue;
    int64_t column = crd[at[a]] / width;
    if (best < 0 || column < best) best = column;
  }
  return best;
}

/* Row i of blocks: where each of its rows begins and ends. */
static inline void NAME(rows_of_block)(const lgt_tile *lo, const lgt_tile *hi, int64_t i, int64_t height,
                                       I *at) {
  for (int64_t a = 0; a < height; a++) {
    at[a] = LGT_AT(const I, lo, i *height + a);
    at[height + a] = LGT_AT(const I, hi, i *height + a);
  }
}

static inline lgt_status NAME(bsr_count)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                         int64_t hi) {
  const I *crd = t[3].data;
  int64_t height = (int64_t)params[0].f, width = (int64_t)params[1].f;
  (void)nargs;
  I *at = lgt_scratch_alloc((size_t)height * 2 * sizeof *at);
  if (!at) return LGT_NO_MEMORY;
  for (int64_t i = lo; i < hi; i++) {
    int64_t count = 0, column;
    NAME(rows_of_block)(&t[1], &t[2], i, height, at);
    for (; (column = NAME(next_block)(crd, at, at + height, height, width)) >= 0; count++)
      for (int64_t a = 0; a < height; a++)
        while (at[a] < at[height + a] && crd[at[a]] < (column + 1) * width) at[a]++;
    LGT_AT(int64_t, &t[0], i) = count;
  }
  lgt_scratch_free(at);
  return LGT_OK;
}

static lgt_status NAME(to_bsr)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                               int64_t hi) {
  I *new_crd = t[4].data;
  const I *crd = t[6].data;
  const W *vals = t[7].data;
  int64_t height = t[5].extent[1], width = t[5].extent[2];
  (void)nargs, (void)params;
  I *at = lgt_scratch_alloc((size_t)height * 2 * sizeof *at);
  if (!at) return LGT_NO_MEMORY;
  for (int64_t i = lo; i < hi; i++) {
    int64_t to = LGT_AT(const I, &t[0], i), column;
    NAME(rows_of_block)(&t[2], &t[3], i, height, at);
    for (; (column = NAME(next_block)(crd, at, at + height, height, width)) >= 0; to++) {
      W *block = (W *)t[5].data + to * height * width;
      memset(block, 0, (size_t)(height * width) * sizeof *block);
      new_crd[to] = (I)column;
      for (int64_t a = 0; a < height; a++)
        for (; at[a] < at[height + a] && crd[at[a]] < (column + 1) * width; at[a]++)
          block[a * width + crd[at[a]] - column * width] = vals[at[a]];
    }
  }
  lgt_scratch_free(at);
  return LGT_OK;
}

static lgt_status NAME(from_bsr)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                 int64_t hi) {
  const I *crd = t[6].data;
  const W *vals = t[7].data;
  int64_t height = t[7].extent[1], width = t[7].extent[2];
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++)
    for (int64_t a = 0; a < height; a++) {
      int64_t to = LGT_AT(const I, &t[2], i *height + a);
      I *new_crd = (I *)t[4].data + to;
      W *new_vals = (W *)t[5].data + to;
      for (int64_t k = LGT_AT(const I, &t[0], i), past = LGT_AT(const I, &t[1], i); k < past; k++)
        for (int64_t b = 0; b < width; b++) {
          *new_crd++ = (I)(crd[k] * width + b);
          *new_vals++ = vals[(k * height + a) * width + b];
        }
    }
  return LGT_OK;
}
