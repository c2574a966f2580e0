/* sparse_products.h - the products of sparse_join.c.  A part of the template sparse_pairs.h. */

/* A row being collected.  `at` is a table of its entries by columns.  Entries are numbered on from row to row, so what
 * is less than the row's first number is of an earlier row, and the table need not be cleared. */
typedef struct NAME(table) {
  I *at; /* owned */
  uint64_t mask;
  int bits;
  bool direct; /* it has a place for each column, from `least` on */
  int64_t least;
} NAME(table);

/* Columns from `least` on that the rows [lo, hi) of a product may have; the rows of B between those that they name are sorted. */
static int64_t NAME(width_of)(const lgt_tile *a, const lgt_tile *b, int64_t lo, int64_t hi, int64_t *least) {
  const I *ca = a[2].data, *cb = b[2].data;
  I top = -1, bottom = sizeof(I) == 4 ? INT32_MAX : INT64_MAX, left = bottom, right = -1;
  for (int64_t i = lo; i < hi; i++)
    for (int64_t k = LGT_AT(const I, &a[0], i), past = LGT_AT(const I, &a[1], i); k < past; k++) {
      bottom = ca[k] < bottom ? ca[k] : bottom;
      top = ca[k] > top ? ca[k] : top;
    }
  for (int64_t r = bottom; r <= top && top - bottom <= NARROW; r++) {
    int64_t first = LGT_AT(const I, &b[0], r), past = LGT_AT(const I, &b[1], r);
    if (first >= past) continue;
    left = cb[first] < left ? cb[first] : left;
    right = cb[past - 1] > right ? cb[past - 1] : right;
  }
  *least = left;
  return left <= right ? right - left + 1 : INT64_MAX;
}

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

/* For rows of up to `longest` entries: sparsely filled while that is small.  A direct one for `width` columns
 * (0: it is none). */
static lgt_status NAME(table_new)(NAME(table) * table, int64_t longest, int64_t width) {
  uint64_t size = 1024, enough = (uint64_t)longest;
  while (size < 2 * enough || (size < 8 * enough && size < 8192)) size *= 2;
  while (size < (uint64_t)width) size *= 2;
  table->direct = width > 0;
  table->at = lgt_scratch_alloc(size * sizeof *table->at);
  if (!table->at) return LGT_NO_MEMORY;
  table->mask = size - 1;
  table->bits = __builtin_ctzll(size);
  NAME(table_clear)(table);
  return LGT_OK;
}

/* Where a column is or belongs; `crd` are those of the row, whose entries are numbered from `first` on.  Columns that lie
 * side by side do so in the table, too; those a power of two apart do not meet. */
ALWAYS_INLINE I *NAME(place)(const NAME(table) * table, bool direct, const I *crd, I first, I column) {
  if (direct) return &table->at[column - table->least];
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

/* How many rows of a product behind row i surely follow it, each with its columns moved on by one: those of A do, and so do
 * all rows of B that they name.  run_a and run_b are what csr_runs tells. */
ALWAYS_INLINE int64_t NAME(followers)(const lgt_tile *a, const lgt_tile *run_a, const lgt_tile *run_b, int64_t i,
                                      int64_t hi) {
  const I *ca = a[2].data;
  int64_t n = lgt_sparse_followers(run_a, i);
  if (n > hi - 1 - i) n = hi - 1 - i;
  for (int64_t k = LGT_AT(const I, &a[0], i), past = LGT_AT(const I, &a[1], i); k < past && n; k++) {
    int64_t other = lgt_sparse_followers(run_b, ca[k]);
    if (other < n) n = other;
  }
  return n;
}

/* Entries of row i, numbered from `first` on; their columns go to crd. */
ALWAYS_INLINE int64_t NAME(count_row)(const lgt_tile *a, const lgt_tile *b, const NAME(table) * table, int64_t i,
                                      I first, I *crd) {
  const I *ca = a[2].data, *cb = b[2].data;
  I next = first;
  for (int64_t k = LGT_AT(const I, &a[0], i), past = LGT_AT(const I, &a[1], i); k < past; k++)
    for (int64_t l = LGT_AT(const I, &b[0], (int64_t)ca[k]), end = LGT_AT(const I, &b[1], (int64_t)ca[k]);
         l < end; l++) {
      I *at = NAME(place)(table, false, crd, first, cb[l]);
      if (*at >= first) continue;
      crd[next - first] = cb[l];
      *at = next++;
    }
  return next - first;
}

/* Rows that follow are not looked at, if t[7 ...] tell which do. */
static inline lgt_status NAME(multiply_count)(const lgt_tile *t, int nargs, const lgt_scalar *params,
                                              int64_t lo, int64_t hi) {
  const lgt_tile *a = &t[1], *b = &t[4];
  const int64_t most = sizeof(I) == 4 ? INT32_MAX : INT64_MAX;
  int64_t longest = 0, columns = (int64_t)params[0].f;
  bool runs = nargs > 7;
  for (int64_t i = lo; i < hi; i++) {
    int64_t n = NAME(terms)(a, b, i), rows = runs ? NAME(followers)(a, &t[8], &t[9], i, hi) : 0;
    if (n > longest) longest = n;
    if (runs)
      for (int64_t r = 0; r <= rows; r++) LGT_AT(uint16_t, &t[7], i + r) = (uint16_t)(rows - r);
    i += rows;
  }
  if (longest > columns) longest = columns;
  NAME(table) table = {0};
  I *crd = lgt_scratch_alloc((size_t)longest * sizeof *crd + 1);
  lgt_status status =
      crd ? NAME(table_new)(&table, longest, 0) : LGT_NO_MEMORY;
  if (status) goto out;
  for (int64_t i = lo, first = 0; i < hi; i++) {
    int64_t n = NAME(count_row)(a, b, &table, i, (I)first, crd), rows = runs ? LGT_AT(uint16_t, &t[7], i) : 0;
    for (int64_t r = 0; r <= rows; r++) LGT_AT(int64_t, &t[0], i + r) = n;
    i += rows;
    first += n;
    if (first > most - longest) {
      NAME(table_clear)(&table);
      first = 0;
    }
  }
out:
  lgt_scratch_free(table.at);
  lgt_scratch_free(crd);
  return status;
}

/* ---- products: rows that follow one another ------------------------------------------------------------------ */

/* What each row of a run does: product j is that of entry a[j] of a row of A and of what lies at b[j] for the first row, and
 * step[j] further on for the next.  Products are in the order of the entries that they are terms of; past[e] is where
 * those of entry e end. */
typedef struct NAME(program) {
  int64_t terms, entries, length; /* length: entries of a row of A */
  int32_t a[MOST_TERMS], past[MOST_TERMS];
  int64_t step[MOST_TERMS];
  const V *b[MOST_TERMS];
} NAME(program);

/* The program of row i, which has not more than MOST_TERMS; its columns go to crd, and its entries are numbered from `first`
 * on. */
static void NAME(program_of)(NAME(program) * p, const lgt_tile *t, const NAME(table) * table, int64_t i, I first,
                             I *crd) {
  const lgt_tile *a = &t[4], *b = &t[8];
  const I *ca = a[2].data, *cb = b[2].data;
  const V *vb = b[3].data;
  int64_t k = LGT_AT(const I, &a[0], i), next = 0, place[MOST_TERMS], terms = 0;
  int32_t entry[MOST_TERMS], count[MOST_TERMS];
  p->length = LGT_AT(const I, &a[1], i) - k;
  for (int64_t n = 0; n < p->length; n++)
    for (int64_t l = LGT_AT(const I, &b[0], (int64_t)ca[k + n]), end = LGT_AT(const I, &b[1], (int64_t)ca[k + n]);
         l < end; l++) {
      I *at = NAME(place)(table, false, crd, first, cb[l]);
      if (*at < first) {
        *at = (I)(first + next);
        count[next] = 0;
        crd[next++] = cb[l];
      }
      entry[terms] = (int32_t)(*at - first);
      count[entry[terms++]]++;
    }
  p->terms = terms;
  p->entries = next;
  for (int64_t e = 0, at = 0; e < next; e++) {
    place[e] = at;
    p->past[e] = (int32_t)(at += count[e]);
  }
  for (int64_t n = 0, j = 0; n < p->length; n++) {
    int64_t l = LGT_AT(const I, &b[0], (int64_t)ca[k + n]), end = LGT_AT(const I, &b[1], (int64_t)ca[k + n]), step = end - l;
    for (; l < end; l++) {
      int64_t at = place[entry[j++]]++;
      p->a[at] = (int32_t)n;
      p->b[at] = vb + l;
      p->step[at] = step;
    }
  }
}

/* The values of `rows` rows of a run, from number `row` of it on; A's entries of these are at va, those of the product go to
 * vals.  `rows` is known when this is compiled. */
ALWAYS_INLINE void NAME(run_rows)(const NAME(program) * p, const V *va, V *vals, int64_t row, const int rows) {
  int64_t j = 0, length = p->length, entries = p->entries;
  for (int64_t e = 0; e < entries; e++) {
    V sum[ROWS_AT_ONCE];
    const V *a = va + p->a[j], *b = p->b[j] + row * p->step[j];
    for (int r = 0; r < rows; r++) sum[r] = a[r * length] * b[r * p->step[j]];
    while (++j < p->past[e]) {
      a = va + p->a[j], b = p->b[j] + row * p->step[j];
      for (int r = 0; r < rows; r++) sum[r] += a[r * length] * b[r * p->step[j]];
    }
    for (int r = 0; r < rows; r++) vals[r * entries + e] = sum[r];
  }
}

/* Rows i to i + rows - 1, a run; the first entry is number `first`.  How many entries each has. */
static int64_t NAME(multiply_run)(const lgt_tile *t, NAME(program) * p, const NAME(table) * table, int64_t i,
                                  int64_t rows, I first) {
  I *crd = (I *)t[2].data + first;
  V *vals = (V *)t[3].data + first;
  const V *va = (const V *)t[7].data + LGT_AT(const I, &t[4], i);
  NAME(program_of)(p, t, table, i, first, crd);
  int64_t row = 0, n = p->entries;
  for (; row + ROWS_AT_ONCE <= rows; row += ROWS_AT_ONCE)
    NAME(run_rows)(p, va + row * p->length, vals + row * n, row, ROWS_AT_ONCE);
  for (; row < rows; row++) NAME(run_rows)(p, va + row * p->length, vals + row * n, row, 1);
  for (row = 1; row < rows; row++)
    for (int64_t e = 0; e < n; e++) crd[row * n + e] = (I)(crd[e] + row);
  return n;
}

/* Row i of the product; its entries are numbered from `first` on.  What the next row's are numbered from. */
ALWAYS_INLINE I NAME(multiply_row)(const lgt_tile *t, bool direct, const NAME(table) * table, int64_t i, I first) {
  const lgt_tile *a = &t[4], *b = &t[8];
  const I *ca = a[2].data, *cb = b[2].data;
  const V *va = a[3].data, *vb = b[3].data;
  I next = first, *crd = (I *)t[2].data + first;
  V *vals = (V *)t[3].data + first;
  for (int64_t k = LGT_AT(const I, &a[0], i), past = LGT_AT(const I, &a[1], i); k < past; k++) {
    V factor = va[k];
    for (int64_t l = LGT_AT(const I, &b[0], (int64_t)ca[k]), end = LGT_AT(const I, &b[1], (int64_t)ca[k]);
         l < end; l++) {
      I *at = NAME(place)(table, direct, crd, first, cb[l]);
      if (*at >= first) {
        vals[*at - first] += factor * vb[l];
      } else {
        crd[next - first] = cb[l];
        vals[next - first] = factor * vb[l];
        *at = next++;
      }
    }
  }
  return next;
}

/* `packs`: rows move together, so that they begin elsewhere, and are counted. */
ALWAYS_INLINE void NAME(multiply_rows)(const lgt_tile *t, bool packs, bool direct, const NAME(table) * table,
                                       int64_t lo, int64_t hi) {
  I next = LGT_AT(const I, &t[0], lo);
  for (int64_t i = lo; i < hi; i++) {
    I first = next;
    next = NAME(multiply_row)(t, direct, table, i, first);
    if (packs) LGT_AT(I, &t[0], i) = first;
    if (packs) LGT_AT(int64_t, &t[1], i) = next - first;
  }
}

ALWAYS_INLINE lgt_status NAME(multiply_with)(const lgt_tile *t, bool packs, const lgt_scalar *params,
                                             int64_t lo, int64_t hi) {
  const lgt_tile *a = &t[4], *b = &t[8];
  int64_t longest = 0, columns = (int64_t)params[0].f;
  if (lo >= hi) return LGT_OK;
  if (packs) longest = NAME(terms)(a, b, hi - 1); /* element hi of argument 0 is another worker's */
  for (int64_t i = lo; i + packs < hi; i++) {
    int64_t past = packs ? LGT_AT(const I, &t[0], i + 1) : LGT_AT(const I, &t[1], i);
    int64_t room = past - LGT_AT(const I, &t[0], i);
    if (room > longest) longest = room;
  }
  if (longest > columns) longest = columns;
  NAME(table) table = {0};
  int64_t terms = LGT_AT(const I, &t[0], hi - 1) - LGT_AT(const I, &t[0], lo), width = 0;
  if (packs && params[1].f != 0) width = NAME(width_of)(a, b, lo, hi, &table.least);
  if (width > NARROW || width > terms) width = 0; /* it would not stay in a cache, or take long to clear */
  lgt_status status = NAME(table_new)(&table, longest, width);
  if (status) return status;
  if (table.direct) NAME(multiply_rows)(t, packs, true, &table, lo, hi);
  else NAME(multiply_rows)(t, packs, false, &table, lo, hi);
  lgt_scratch_free(table.at);
  return LGT_OK;
}

static lgt_status NAME(multiply)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                 int64_t hi) {
  (void)nargs;
  return NAME(multiply_with)(t, true, params, lo, hi);
}

static lgt_status NAME(multiply_fill)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                      int64_t hi) {
  (void)nargs;
  return NAME(multiply_with)(t, false, params, lo, hi);
}

/* Argument 1 tells how many rows of the product follow each. */
static lgt_status NAME(multiply_runs)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                      int64_t hi) {
  const lgt_tile *a = &t[4], *b = &t[8], *run = &t[1];
  int64_t longest = 0, columns = (int64_t)params[0].f;
  (void)nargs;
  for (int64_t i = lo; i < hi; i += 1 + LGT_AT(const uint16_t, run, i)) {
    int64_t n = NAME(terms)(a, b, i);
    if (n > longest) longest = n;
  }
  NAME(table) table = {0};
  NAME(program) *program = lgt_scratch_alloc(sizeof *program);
  lgt_status status = program ? NAME(table_new)(&table, longest < columns ? longest : columns, 0)
                              : LGT_NO_MEMORY;
  if (status) goto out;
  for (int64_t i = lo; i < hi;) {
    int64_t rows = 1 + LGT_AT(const uint16_t, run, i);
    I first = LGT_AT(const I, &t[0], i);
    if (rows > hi - i) rows = hi - i;
    if (rows >= WORTH_A_PROGRAM && NAME(terms)(a, b, i) <= MOST_TERMS) {
      NAME(multiply_run)(t, program, &table, i, rows, first);
    } else {
      for (int64_t r = 0; r < rows; r++) first = NAME(multiply_row)(t, false, &table, i + r, first);
    }
    i += rows;
  }
out:
  lgt_scratch_free(table.at);
  lgt_scratch_free(program);
  return status;
}
