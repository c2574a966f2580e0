/* sparse_values.h - the kernels of sparse.c for one type of positions, I, and one of values, V.
 *
 * A template: included once for each pair of types, with NAME(f) for the functions' names.
 */

/* The entries [lo, hi) of a row times the elements of x, which are `stride` bytes apart. */
ALWAYS_INLINE V NAME(row)(const I *crd, const V *vals, const char *x, int64_t stride, int64_t lo, int64_t hi) {
#define TERM(k) (vals[k] * *(const V *)(x + (int64_t)crd[k] * stride))
  V sum = 0;
  if (__builtin_expect(hi - lo >= LONG_ROW, 0)) {
    V a = 0, b = 0, c = 0;
    for (; lo + 4 <= hi; lo += 4) sum += TERM(lo), a += TERM(lo + 1), b += TERM(lo + 2), c += TERM(lo + 3);
    sum = (sum + a) + (b + c);
  }
  for (; lo < hi; lo++) sum += TERM(lo);
#undef TERM
  return sum;
}

ALWAYS_INLINE void NAME(foresee)(const I *crd, const V *vals, int64_t k, int64_t count) {
  lgt_sparse_foresee(crd + k + LGT_SPARSE_AHEAD, count * (int64_t)sizeof(I));
  lgt_sparse_foresee(vals + k + LGT_SPARSE_AHEAD, count * (int64_t)sizeof(V));
}

/* `rows` short rows of one length, each of which follows the one before: the first one's columns are at crd, and no others
 * are read.  What is needed some time later is asked for: processors do not foresee enough of it. */
ALWAYS_INLINE void NAME(run)(const I *crd, const V *restrict vals, const V *restrict x, V *restrict y, int64_t step,
                             int64_t rows, int64_t length) {
  const V *from[LONG_ROW];
  int64_t r = 0;
#define ROW                                                                  \
  do {                                                                       \
    V sum = 0;                                                               \
    for (int64_t k = 0; k < length; k++) sum += vals[k] * from[k][r * step]; \
    y[r++] = sum;                                                            \
    vals += length;                                                          \
  } while (0)
  for (int64_t k = 0; k < length; k++) from[k] = x + crd[k];
#ifdef LANES
  if (lgt_sparse_lanes(&(lgt_sparse_run){vals, from, step, rows, length}, y)) return;
#endif
  while (r + RUN_STEP <= rows) {
    for (int64_t byte = 0; byte < RUN_STEP * length * (int64_t)sizeof(V); byte += 64)
      __builtin_prefetch((const char *)vals + RUN_AHEAD + byte);
    for (int64_t k = 0; k < length; k++) __builtin_prefetch((const char *)(from[k] + r * step) + RUN_AHEAD_X);
    for (int i = 0; i < RUN_STEP; i++) ROW;
  }
  while (r < rows) ROW;
#undef ROW
}

static __attribute__((noinline)) void NAME(times_run)(const I *crd, const V *vals, const V *x, V *y, int64_t step,
                                                      int64_t rows, int64_t length) {
#define RUN(n) \
  case n: NAME(run)(crd, vals, x, y, step, rows, n); break;
  switch (length) {
    RUN(0) RUN(1) RUN(2) RUN(3) RUN(4) RUN(5) RUN(6) RUN(7) RUN(8) RUN(9)
    default: NAME(run)(crd, vals, x, y, step, rows, length);
  }
#undef RUN
}

/* The same for pairs of short rows, of which the first ones have `even` entries, and both `length`. */
static __attribute__((noinline)) void NAME(times_pairs)(const I *crd, const V *vals, const V *x, V *y, int64_t step,
                                                        int64_t pairs, int64_t even, int64_t length) {
  const V *from[2 * LONG_ROW];
  for (int64_t k = 0; k < length; k++) from[k] = x + crd[k];
#ifdef LANES
  if (lgt_sparse_lanes_of_pairs(&(lgt_sparse_run){vals, from, step, pairs, length}, y, even)) return;
#endif
  for (int64_t r = 0; r < pairs; r++, vals += length) {
    V first = 0, second = 0;
    for (int64_t k = 0; k < even; k++) first += vals[k] * from[k][r * step];
    for (int64_t k = even; k < length; k++) second += vals[k] * from[k][r * step];
    y[2 * r] = first;
    y[2 * r + 1] = second;
  }
}

/* GROUP rows.  Of one length, as those of grids are, they need no branches, since it is known then; of few entries, none of
 * them is a long one. */
ALWAYS_INLINE void NAME(times_group)(const I *pos, const I *crd, const V *vals, const V *x, V *y, bool far) {
#define ROW(r, begin, end) y[r] = NAME(row)(crd, vals, (const char *)x, sizeof(V), begin, end)
#define ROWS(n)                                                             \
  case n:                                                                   \
    for (int64_t r = 0; r < GROUP; r++, first += n) ROW(r, first, first + n); \
    break;
  int64_t first = pos[0];
  I total = pos[GROUP] - pos[0], length = total / GROUP, different = 0;
  for (int64_t r = 0; r < GROUP; r++) different |= (pos[r + 1] - pos[r]) ^ length;
  if (far) NAME(foresee)(crd, vals, first, total);
  switch (different ? -1 : length) {
    ROWS(0) ROWS(1) ROWS(2) ROWS(3) ROWS(4) ROWS(5) ROWS(6) ROWS(7) ROWS(8) ROWS(9)
    default:
      if (total >= LONG_ROW) {
        for (int64_t r = 0; r < GROUP; r++) ROW(r, pos[r], pos[r + 1]);
      } else {
        for (int64_t r = 0; r < GROUP; r++) {
          V sum = 0;
          for (int64_t past = pos[r + 1]; first < past; first++) sum += vals[first] * x[crd[first]];
          y[r] = sum;
        }
      }
  }
#undef ROW
#undef ROWS
}

/* `rows` rows that follow one another, or do so in pairs, as far as these are short; the number of those done. */
ALWAYS_INLINE int64_t NAME(times_following)(const I *pos, const I *crd, const V *vals, const V *x, V *y, int64_t rows,
                                            bool pairs) {
  int64_t first = pos[0], even = pos[1] - first, both = pairs ? pos[2] - first : even, step = 1;
  if (even >= LONG_ROW || both - even >= LONG_ROW) return 0;
  if (pairs) rows = rows / 2 * 2;
  __builtin_prefetch(pos + rows);
  __builtin_prefetch(crd + first + rows * both / (1 + pairs));
  if (rows > 1 + pairs && both) { /* the first entry there is */
    int64_t at = even ? first : first + even;
    step = crd[at + both] - crd[at];
  }
  if (pairs) NAME(times_pairs)(crd + first, vals + first, x, y, step, rows / 2, even, both);
  else NAME(times_run)(crd + first, vals + first, x, y, step, rows, even);
  return rows;
}

/* Rows whose positions lie one after another, and dense vectors.  run[i]: how many rows follow row i; NULL: not known.
 * `far`: entries come from memory. */
static void NAME(times_dense)(const I *pos, const uint16_t *run, const I *crd, const V *vals, const V *x, V *y, bool far,
                              int64_t lo, int64_t hi) {
  while (lo < hi) {
    int64_t left = hi - lo, behind = run ? run[lo] & LGT_SPARSE_RUN : 0, done = 0;
    bool pairs = run && run[lo] & LGT_SPARSE_PAIRS;
    if (behind + 1 >= SHORT_RUN || (run && left > SOON && (run[lo + SOON] & LGT_SPARSE_RUN) >= SHORT_RUN)) {
      __builtin_prefetch(run + lo + behind + 1); /* where the next run begins */
      if (!pairs || left > 1)
        done = NAME(times_following)(pos + lo, crd, vals, x, y + lo, behind < left ? behind + 1 : left, pairs);
    }
    if (!done && left >= GROUP) {
      done = GROUP;
      NAME(times_group)(pos + lo, crd, vals, x, y + lo, far);
    } else if (!done) {
      done = 1;
      y[lo] = NAME(row)(crd, vals, (const char *)x, sizeof(V), pos[lo], pos[lo + 1]);
    }
    lo += done;
  }
}

static void NAME(times_vector)(const lgt_tile *t, int64_t lo, int64_t hi) {
  const I *crd = t[3].data;
  const V *vals = t[4].data;
  for (; lo < hi; lo++) {
    int64_t first = LGT_AT(const I, &t[1], lo), past = LGT_AT(const I, &t[2], lo);
    NAME(foresee)(crd, vals, first, past - first);
    LGT_AT(V, &t[0], lo) = NAME(row)(crd, vals, t[5].data, t[5].stride[0], first, past);
  }
}

/* Columns that lie side by side are summed side by side. */
static void NAME(times_matrix)(const lgt_tile *t, int64_t lo, int64_t hi) {
  const lgt_tile *x = &t[5];
  const I *crd = t[3].data;
  const V *vals = t[4].data;
  int64_t columns = t[0].extent[1], size = (int64_t)sizeof(V);
  bool dense = t[0].stride[1] == size && x->stride[1] == size;
  for (int64_t i = lo; i < hi; i++) {
    char *y = (char *)t[0].data + i * t[0].stride[0];
    int64_t first = LGT_AT(const I, &t[1], i), past = LGT_AT(const I, &t[2], i);
    NAME(foresee)(crd, vals, first, past - first);
    for (int64_t j = 0; j < columns; j++) *(V *)(y + j * t[0].stride[1]) = 0;
    for (int64_t k = first; k < past; k++) {
      const char *from = (const char *)x->data + (int64_t)crd[k] * x->stride[0];
      V v = vals[k];
      if (dense) {
        V *restrict to = (V *)y;
        const V *restrict row = (const V *)from;
        for (int64_t j = 0; j < columns; j++) to[j] += v * row[j];
      } else {
        for (int64_t j = 0; j < columns; j++)
          *(V *)(y + j * t[0].stride[1]) += v * *(const V *)(from + j * x->stride[1]);
      }
    }
  }
}

static lgt_status NAME(dot)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  (void)params;
  int64_t size = (int64_t)sizeof(V), pos_size = (int64_t)sizeof(I);
  if (t[0].ndim == 2) NAME(times_matrix)(t, lo, hi);
  else if (t[5].stride[0] == size && t[0].stride[0] == size && t[1].stride[0] == pos_size &&
           t[2].stride[0] == pos_size && t[2].data == (const I *)t[1].data + 1)
    NAME(times_dense)(t[1].data, nargs > 6 && t[6].stride[0] == sizeof(uint16_t) ? t[6].data : NULL, t[3].data, t[4].data, t[5].data, t[0].data,
                      t[3].extent[0] * (size + pos_size) > LGT_SPARSE_CACHED, lo, hi);
  else NAME(times_vector)(t, lo, hi);
  return LGT_OK;
}

static lgt_status NAME(scale)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                              int64_t hi) {
  V *out = t[3].data;
  const V *vals = t[4].data;
  const I *crd = t[5].data;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t past = LGT_AT(const I, &t[1], i);
    V left = LGT_AT(const V, &t[2], i);
    for (int64_t k = LGT_AT(const I, &t[0], i); k < past; k++)
      out[k] = left * vals[k] * LGT_AT(const V, &t[6], (int64_t)crd[k]);
  }
  return LGT_OK;
}

static lgt_status NAME(times)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                              int64_t hi) {
  const lgt_tile *x = &t[2];
  V *out = t[3].data;
  const V *vals = t[4].data;
  const I *crd = t[5].data;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t past = LGT_AT(const I, &t[1], i);
    const char *row = (const char *)x->data + i * x->stride[0];
    for (int64_t k = LGT_AT(const I, &t[0], i); k < past; k++)
      out[k] = vals[k] * *(const V *)(row + (int64_t)crd[k] * x->stride[1]);
  }
  return LGT_OK;
}

/* An entry (i, j) times row i of x times row j of y: a dense product where S has entries. */
static lgt_status NAME(sddmm)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                              int64_t hi) {
  const lgt_tile *x = &t[2], *y = &t[6];
  V *out = t[3].data;
  const V *vals = t[4].data;
  const I *crd = t[5].data;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t past = LGT_AT(const I, &t[1], i);
    for (int64_t k = LGT_AT(const I, &t[0], i); k < past; k++) {
      const char *a = (const char *)x->data + i * x->stride[0],
                 *b = (const char *)y->data + (int64_t)crd[k] * y->stride[0];
      V sum = 0;
      for (int64_t j = 0; j < x->extent[1]; j++, a += x->stride[1], b += y->stride[1])
        sum += *(const V *)a * *(const V *)b;
      out[k] = vals[k] * sum;
    }
  }
  return LGT_OK;
}

/* Element i of the result is row first + i, of which `lo` is already the right one. */
static lgt_status NAME(diagonal)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const I *crd = t[3].data;
  const V *vals = t[4].data;
  int64_t shift = (int64_t)params[0].f + t[0].origin[0];
  (void)nargs;
  for (int64_t i = lo; i < hi; i++) {
    int64_t past = LGT_AT(const I, &t[2], i);
    V sum = 0;
    for (int64_t k = LGT_AT(const I, &t[1], i); k < past; k++)
      if (crd[k] == i + shift) sum += vals[k];
    LGT_AT(V, &t[0], i) = sum;
  }
  return LGT_OK;
}

static lgt_status NAME(todense)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const I *crd = t[3].data;
  const V *vals = t[4].data;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    char *y = (char *)t[0].data + i * t[0].stride[0];
    int64_t past = LGT_AT(const I, &t[2], i);
    for (int64_t k = LGT_AT(const I, &t[1], i); k < past; k++)
      *(V *)(y + (int64_t)crd[k] * t[0].stride[1]) += vals[k];
  }
  return LGT_OK;
}

static inline lgt_status NAME(unique)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                      int64_t hi) {
  const I *crd = t[3].data;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t first = LGT_AT(const I, &t[1], i), past = LGT_AT(const I, &t[2], i), count = 0;
    for (int64_t k = first; k < past; k++) count += k == first || crd[k] != crd[k - 1];
    LGT_AT(int64_t, &t[0], i) = count;
  }
  return LGT_OK;
}

/* Does row j have the columns of row i, each moved on by one and the same step?  ANY_STEP: there are no columns. */
static inline bool NAME(follows)(const lgt_tile *t, int64_t i, int64_t j, int64_t *step) {
  const I *crd = t[3].data, *a = crd + LGT_AT(const I, &t[1], i), *b = crd + LGT_AT(const I, &t[1], j);
  I length = LGT_AT(const I, &t[2], i) - LGT_AT(const I, &t[1], i);
  bool same = LGT_AT(const I, &t[2], j) - LGT_AT(const I, &t[1], j) == length;
  *step = same && length ? (int64_t)b[0] - a[0] : ANY_STEP;
  for (I k = 1; k < length && same; k++) same = (int64_t)b[k] - a[k] == *step;
  return same;
}

/* One row, or pair, more before a run; or one of its own with the next. */
static inline void NAME(prepend)(int64_t *run, int64_t *run_step, int64_t step, int64_t own) {
  bool joins = *run < own || step == ANY_STEP || *run_step == ANY_STEP || step == *run_step;
  *run = joins ? *run + 1 : own;
  if (*run > LGT_SPARSE_RUN) *run = LGT_SPARSE_RUN;
  if (!joins || *run_step == ANY_STEP) *run_step = step;
}

static inline lgt_status NAME(runs)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  int64_t run = 0, step = ANY_STEP, pairs = 0, pair_step = ANY_STEP, found;
  (void)nargs, (void)params;
  for (int64_t i = hi - 1; i >= lo; i--) { /* the last row's: 0, for others may have those behind it */
    if (i + 1 < hi && NAME(follows)(t, i, i + 1, &found)) {
      NAME(prepend)(&run, &step, found, 1);
      pairs = 1, pair_step = ANY_STEP; /* of which nobody takes notice */
    } else {
      run = 0, step = ANY_STEP;
      if (i + 2 < hi && NAME(follows)(t, i, i + 2, &found)) NAME(prepend)(&pairs, &pair_step, found, 2);
      else pairs = i + 1 < hi, pair_step = ANY_STEP;
    }
    int64_t rows = step == 1 || step == ANY_STEP ? run : run | LGT_SPARSE_STEPS;
    LGT_AT(uint16_t, &t[0], i) = (uint16_t)(pairs > 2 * run && pairs > SHORT_RUN ? pairs | LGT_SPARSE_PAIRS : rows);
  }
  return LGT_OK;
}

static lgt_status NAME(sum_duplicates)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                       int64_t hi) {
  I *crd = t[4].data;
  V *vals = t[5].data;
  const I *old_crd = t[6].data;
  const V *old_vals = t[7].data;
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t to = LGT_AT(const I, &t[0], i) - 1, first = LGT_AT(const I, &t[2], i),
            past = LGT_AT(const I, &t[3], i);
    for (int64_t k = first; k < past; k++) {
      if (k > first && old_crd[k] == old_crd[k - 1]) {
        vals[to] += old_vals[k];
      } else {
        crd[++to] = old_crd[k];
        vals[to] = old_vals[k];
      }
    }
  }
  return LGT_OK;
}

static lgt_status NAME(column_sums)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                    int64_t hi) {
  V *y = t[0].data;
  const I *crd = t[1].data;
  const V *vals = t[2].data;
  (void)nargs, (void)params;
  if (lo >= hi) return LGT_OK;
  for (int64_t c = 0; c < t[0].extent[1]; c++) y[c] = 0;
  for (int64_t k = 0; k < t[1].extent[1]; k++) y[crd[k]] += vals[k];
  return LGT_OK;
}

#undef V
#undef NAME
#undef LANES
