/* sparse_pairs.h - the kernels of sparse_join.c for one type of positions, I, and one of values, V.
 *
 * A template: included once for each pair of types, with NAME(f) for the functions' names; COMPLEX says that values
 * have no order.
 */

/* ---- entry by entry ------------------------------------------------------------------------------------ */

ALWAYS_INLINE V NAME(combine)(int op, V a, V b) {
  switch (op) {
    case ADD:
      return a + b;
    case SUBTRACT:
      return a - b;
    case MULTIPLY:
      return a * b;
#ifndef COMPLEX
    case MAXIMUM:
      return a >= b ? a : a < b ? b : a + b; /* NaN wins */
    case MINIMUM:
      return a <= b ? a : a > b ? b : a + b;
#endif
    default:
      return 0;
  }
}

/* Row i of A and of B, whose tiles are at a and b: how many entries it has.  Which of two columns comes first cannot be
 * foreseen, so nothing branches on it, and the columns to look at next are loaded before it is known. */
ALWAYS_INLINE int64_t NAME(join_row)(int op, const lgt_tile *a, const lgt_tile *b, int64_t i, I *crd,
                                     V *vals) {
  const I *ca = a[2].data, *cb = b[2].data;
  const V *va = a[3].data, *vb = b[3].data;
  int64_t j = LGT_AT(const I, &a[0], i), k = LGT_AT(const I, &b[0], i), n = 0;
  int64_t jend = LGT_AT(const I, &a[1], i), kend = LGT_AT(const I, &b[1], i);
#define STEP(p, q)                                                 \
  bool has_a = p <= q, has_b = q <= p;                             \
  if (op != MULTIPLY || (has_a && has_b)) {                        \
    V v = NAME(combine)(op, has_a ? va[j] : 0, has_b ? vb[k] : 0); \
    crd[n] = has_a ? p : q;                                        \
    vals[n] = v;                                                   \
    n += v != 0;                                                   \
  }                                                                \
  j += has_a;                                                      \
  k += has_b
  if (j < jend && k < kend) {
    I p = ca[j], q = cb[k];
    while (j + 1 < jend && k + 1 < kend) {
      I after_p = ca[j + 1], after_q = cb[k + 1];
      STEP(p, q);
      p = has_a ? after_p : p;
      q = has_b ? after_q : q;
    }
  }
  while (j < jend && k < kend) {
    I p = ca[j], q = cb[k];
    STEP(p, q);
  }
#undef STEP
  if (op == MULTIPLY) return n;
  for (; j < jend; j++) {
    crd[n] = ca[j];
    vals[n] = NAME(combine)(op, va[j], 0);
    n += vals[n] != 0;
  }
  for (; k < kend; k++) {
    crd[n] = cb[k];
    vals[n] = NAME(combine)(op, 0, vb[k]);
    n += vals[n] != 0;
  }
  return n;
}

ALWAYS_INLINE void NAME(join_rows)(int op, const lgt_tile *t, int64_t lo, int64_t hi) {
  for (int64_t i = lo; i < hi; i++) {
    int64_t to = LGT_AT(const I, &t[0], i);
    LGT_AT(int64_t, &t[1], i) = NAME(join_row)(op, &t[4], &t[8], i, (I *)t[2].data + to, (V *)t[3].data + to);
  }
}

static lgt_status NAME(join)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  (void)nargs;
  switch ((int)params[0].f) { /* a loop for each */
    case ADD:
      NAME(join_rows)(ADD, t, lo, hi);
      break;
    case SUBTRACT:
      NAME(join_rows)(SUBTRACT, t, lo, hi);
      break;
    case MULTIPLY:
      NAME(join_rows)(MULTIPLY, t, lo, hi);
      break;
    case MAXIMUM:
      NAME(join_rows)(MAXIMUM, t, lo, hi);
      break;
    default:
      NAME(join_rows)(MINIMUM, t, lo, hi);
      break;
  }
  return LGT_OK;
}

/* Rows go by way of room for all entries of A and B there: t[0 ...], a and b, are counts, or where rows begin. */
static lgt_status NAME(join_apart)(const lgt_tile *t, const lgt_tile *a, const lgt_tile *b, bool fill, int op,
                                   int64_t lo, int64_t hi) {
  int64_t longest = 0;
  for (int64_t i = lo; i < hi; i++) {
    int64_t n = LGT_AT(const I, &a[1], i) - LGT_AT(const I, &a[0], i) + LGT_AT(const I, &b[1], i) -
                LGT_AT(const I, &b[0], i);
    if (n > longest) longest = n;
  }
  size_t room = ((size_t)longest * sizeof(V) + 7) / 8 * 8; /* columns are aligned */
  V *vals = lgt_mem_alloc(room + (size_t)longest * sizeof(I) + 1);
  if (!vals) return lgt_err(LGT_NO_MEMORY, "out of memory for a row of %lld entries", (long long)longest);
  I *crd = (I *)((char *)vals + room);
  for (int64_t i = lo; i < hi; i++) {
    int64_t n = NAME(join_row)(op, a, b, i, crd, vals);
    if (fill) {
      int64_t to = LGT_AT(const I, &t[0], i);
      memcpy((I *)t[2].data + to, crd, (size_t)n * sizeof *crd);
      memcpy((V *)t[3].data + to, vals, (size_t)n * sizeof *vals);
    } else {
      LGT_AT(int64_t, &t[0], i) = n;
    }
  }
  lgt_mem_free(vals);
  return LGT_OK;
}

static lgt_status NAME(join_count)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                   int64_t hi) {
  (void)nargs;
  return NAME(join_apart)(t, &t[1], &t[5], false, (int)params[0].f, lo, hi);
}

static lgt_status NAME(join_fill)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                  int64_t hi) {
  (void)nargs;
  return NAME(join_apart)(t, &t[4], &t[8], true, (int)params[0].f, lo, hi);
}

/* ---- products -------------------------------------------------------------------------------------------- */

/* A row being collected.  `at` is a table of its entries by columns.  Entries are numbered on from row to row, so what
 * is less than the row's first number is of an earlier row, and the table need not be cleared. */
typedef struct NAME(table) {
  I *at; /* owned */
  uint64_t mask;
  int bits;
} NAME(table);

static int64_t NAME(terms)(const lgt_tile *a, const lgt_tile *b, int64_t i) {
  const I *crd = a[2].data;
  int64_t sum = 0;
  for (int64_t k = LGT_AT(const I, &a[0], i), past = LGT_AT(const I, &a[1], i); k < past; k++)
    sum += LGT_AT(const I, &b[1], (int64_t)crd[k]) - LGT_AT(const I, &b[0], (int64_t)crd[k]);
  return sum;
}

static void NAME(table_clear)(NAME(table) * table) {
  memset(table->at, 0xff, (table->mask + 1) * sizeof *table->at);
}

/* For rows of up to `longest` entries: sparsely filled while that is small. */
static lgt_status NAME(table_new)(NAME(table) * table, int64_t longest) {
  uint64_t size = 1024, enough = (uint64_t)longest;
  while (size < 2 * enough || (size < 8 * enough && size < 8192)) size *= 2;
  table->at = lgt_mem_alloc(size * sizeof *table->at);
  if (!table->at)
    return lgt_err(LGT_NO_MEMORY, "out of memory to multiply a row of %lld entries", (long long)longest);
  table->mask = size - 1;
  table->bits = __builtin_ctzll(size);
  NAME(table_clear)(table);
  return LGT_OK;
}

/* Where a column is or belongs; `crd` are those of the row, whose entries are numbered from `first` on.  Columns that lie
 * side by side do so in the table, too; those a power of two apart do not meet. */
ALWAYS_INLINE I *NAME(place)(const NAME(table) * table, const I *crd, I first, I column) {
  uint64_t c = (uint64_t)column, slot = c + (c >> table->bits) * 0x9e3779b97f4a7c15u;
  I *at;
  while (at = &table->at[slot & table->mask], *at >= first && crd[*at - first] != column) slot++;
  return at;
}

static inline lgt_status NAME(multiply_terms)(const lgt_tile *t, int nargs, const lgt_scalar *params,
                                              int64_t lo, int64_t hi) {
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) LGT_AT(int64_t, &t[0], i) = NAME(terms)(&t[1], &t[4], i);
  return LGT_OK;
}

static inline lgt_status NAME(multiply_count)(const lgt_tile *t, int nargs, const lgt_scalar *params,
                                              int64_t lo, int64_t hi) {
  const lgt_tile *a = &t[1], *b = &t[4];
  const I *ca = a[2].data, *cb = b[2].data;
  const int64_t most = sizeof(I) == 4 ? INT32_MAX : INT64_MAX;
  int64_t longest = 0, columns = (int64_t)params[0].f;
  (void)nargs;
  for (int64_t i = lo; i < hi; i++) {
    int64_t n = NAME(terms)(a, b, i);
    if (n > longest) longest = n;
  }
  if (longest > columns) longest = columns;
  NAME(table) table = {0};
  I *crd = lgt_mem_alloc((size_t)longest * sizeof *crd + 1);
  lgt_status status =
      crd ? NAME(table_new)(&table, longest) : lgt_err(LGT_NO_MEMORY, "out of memory to multiply");
  if (status) goto out;
  for (int64_t i = lo, first = 0; i < hi; i++) {
    int64_t next = first;
    for (int64_t k = LGT_AT(const I, &a[0], i), past = LGT_AT(const I, &a[1], i); k < past; k++)
      for (int64_t l = LGT_AT(const I, &b[0], (int64_t)ca[k]), end = LGT_AT(const I, &b[1], (int64_t)ca[k]);
           l < end; l++) {
        I *at = NAME(place)(&table, crd, (I)first, cb[l]);
        if (*at >= first) continue;
        crd[next - first] = cb[l];
        *at = (I)next++;
      }
    LGT_AT(int64_t, &t[0], i) = next - first;
    first = next;
    if (first > most - longest) {
      NAME(table_clear)(&table);
      first = 0;
    }
  }
out:
  lgt_mem_free(table.at);
  lgt_mem_free(crd);
  return status;
}

/* `packs`: rows move together, so that they begin elsewhere, and are counted. */
ALWAYS_INLINE lgt_status NAME(multiply_rows)(const lgt_tile *t, bool packs, int64_t columns, int64_t lo,
                                             int64_t hi) {
  const lgt_tile *a = &t[4], *b = &t[8];
  const I *ca = a[2].data, *cb = b[2].data;
  const V *va = a[3].data, *vb = b[3].data;
  int64_t longest = 0;
  if (lo >= hi) return LGT_OK;
  if (packs) longest = NAME(terms)(a, b, hi - 1); /* element hi of argument 0 is another worker's */
  for (int64_t i = lo; i + packs < hi; i++) {
    int64_t past = packs ? LGT_AT(const I, &t[0], i + 1) : LGT_AT(const I, &t[1], i);
    int64_t room = past - LGT_AT(const I, &t[0], i);
    if (room > longest) longest = room;
  }
  if (longest > columns) longest = columns;
  NAME(table) table = {0};
  lgt_status status = NAME(table_new)(&table, longest);
  if (status) return status;
  I next = LGT_AT(const I, &t[0], lo);
  for (int64_t i = lo; i < hi; i++) {
    I first = next, *crd = (I *)t[2].data + first;
    V *vals = (V *)t[3].data + first;
    for (int64_t k = LGT_AT(const I, &a[0], i), past = LGT_AT(const I, &a[1], i); k < past; k++) {
      V factor = va[k];
      for (int64_t l = LGT_AT(const I, &b[0], (int64_t)ca[k]), end = LGT_AT(const I, &b[1], (int64_t)ca[k]);
           l < end; l++) {
        I *at = NAME(place)(&table, crd, first, cb[l]);
        if (*at >= first) {
          vals[*at - first] += factor * vb[l];
        } else {
          crd[next - first] = cb[l];
          vals[next - first] = factor * vb[l];
          *at = next++;
        }
      }
    }
    if (packs) LGT_AT(I, &t[0], i) = first;
    if (packs) LGT_AT(int64_t, &t[1], i) = next - first;
  }
  lgt_mem_free(table.at);
  return LGT_OK;
}

static lgt_status NAME(multiply)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                 int64_t hi) {
  (void)nargs;
  return NAME(multiply_rows)(t, true, (int64_t)params[0].f, lo, hi);
}

static lgt_status NAME(multiply_fill)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                      int64_t hi) {
  (void)nargs;
  return NAME(multiply_rows)(t, false, (int64_t)params[0].f, lo, hi);
}

#undef V
#undef NAME
