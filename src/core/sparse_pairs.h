/* sparse_pairs.h - the kernels of sparse_join.c for one type of positions, I, and one of values, V.
 *
 * A template: included once for each pair of types, with NAME(f) for the functions' names; UNORDERED says that values
 * have no order.
 */

/* ---- entry by entry ------------------------------------------------------------------------------------ */

static inline V NAME(combine)(int op, V a, V b) {
  switch (op) {
    case ADD: return a + b;
    case SUBTRACT: return a - b;
    case MULTIPLY: return a * b;
#ifndef UNORDERED
    case MAXIMUM: return a >= b ? a : a < b ? b : a + b; /* NaN wins */
    case MINIMUM: return a <= b ? a : a > b ? b : a + b;
#endif
    default: return 0;
  }
}

/* Row i of A and of B, whose tiles are at a and b: how many entries it has. */
static inline int64_t NAME(join_row)(int op, const lgt_tile *a, const lgt_tile *b, int64_t i, I *crd, V *vals) {
  const I *ca = a[2].data, *cb = b[2].data;
  const V *va = a[3].data, *vb = b[3].data;
  int64_t j = LGT_AT(const I, &a[0], i), k = LGT_AT(const I, &b[0], i), n = 0;
  int64_t jend = LGT_AT(const I, &a[1], i), kend = LGT_AT(const I, &b[1], i);
  while (j < jend || k < kend) {
    bool has_a = k >= kend || (j < jend && ca[j] <= cb[k]), has_b = j >= jend || (k < kend && cb[k] <= ca[j]);
    I column = has_a ? ca[j] : cb[k];
    V v = NAME(combine)(op, has_a ? va[j] : 0, has_b ? vb[k] : 0);
    j += has_a;
    k += has_b;
    if ((op == MULTIPLY && !(has_a && has_b)) || v == 0) continue;
    crd[n] = column;
    vals[n++] = v;
  }
  return n;
}

static lgt_status NAME(join)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  int op = (int)params[0].f;
  (void)nargs;
  for (int64_t i = lo; i < hi; i++) {
    int64_t to = LGT_AT(const I, &t[0], i);
    LGT_AT(int64_t, &t[1], i) =
        NAME(join_row)(op, &t[4], &t[8], i, (I *)t[2].data + to, (V *)t[3].data + to);
  }
  return LGT_OK;
}

/* ---- products -------------------------------------------------------------------------------------------- */

/* A row being collected: `key` is a table of columns, -1 where it is free; `entry` which of the row's entries has the
 * column; `found` are the places taken. */
typedef struct NAME(table) {
  char *memory; /* owned */
  int64_t *found;
  I *key, *entry;
  uint64_t mask;
} NAME(table);

static int64_t NAME(terms)(const lgt_tile *a, const lgt_tile *b, int64_t i) {
  const I *crd = a[2].data;
  int64_t sum = 0;
  for (int64_t k = LGT_AT(const I, &a[0], i), past = LGT_AT(const I, &a[1], i); k < past; k++)
    sum += LGT_AT(const I, &b[1], (int64_t)crd[k]) - LGT_AT(const I, &b[0], (int64_t)crd[k]);
  return sum;
}

/* A table for the longest of the rows [lo, hi). */
static lgt_status NAME(table_new)(NAME(table) *table, const lgt_tile *a, const lgt_tile *b, int64_t columns,
                                  int64_t lo, int64_t hi) {
  int64_t longest = 0;
  for (int64_t i = lo; i < hi; i++) {
    int64_t n = NAME(terms)(a, b, i);
    if (n > longest) longest = n;
  }
  if (longest > columns) longest = columns;
  uint64_t size = 16;
  while (size < 2 * (uint64_t)longest) size *= 2;
  table->memory = lgt_mem_alloc(size / 2 * sizeof(int64_t) + 2 * size * sizeof(I));
  if (!table->memory)
    return lgt_err(LGT_NO_MEMORY, "out of memory to multiply a row of %lld terms", (long long)longest);
  table->found = (int64_t *)table->memory;
  table->key = (I *)(table->found + size / 2);
  table->entry = table->key + size;
  table->mask = size - 1;
  for (uint64_t i = 0; i < size; i++) table->key[i] = -1;
  return LGT_OK;
}

static inline uint64_t NAME(place)(const NAME(table) *table, I column) {
  uint64_t at = ((uint64_t)column * 0x9e3779b97f4a7c15u >> 32) & table->mask;
  while (table->key[at] != column && table->key[at] != -1) at = (at + 1) & table->mask;
  return at;
}

static inline lgt_status NAME(multiply_terms)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                                              int64_t hi) {
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) LGT_AT(int64_t, &t[0], i) = NAME(terms)(&t[1], &t[4], i);
  return LGT_OK;
}

static inline lgt_status NAME(multiply_count)(const lgt_tile *t, int nargs, const lgt_scalar *params,
                                              int64_t lo, int64_t hi) {
  const lgt_tile *a = &t[1], *b = &t[4];
  const I *ca = a[2].data, *cb = b[2].data;
  NAME(table) table = {0};
  (void)nargs;
  lgt_status status = NAME(table_new)(&table, a, b, (int64_t)params[0].f, lo, hi);
  if (status) return status;
  for (int64_t i = lo; i < hi; i++) {
    int64_t count = 0;
    for (int64_t k = LGT_AT(const I, &a[0], i), past = LGT_AT(const I, &a[1], i); k < past; k++)
      for (int64_t l = LGT_AT(const I, &b[0], (int64_t)ca[k]), end = LGT_AT(const I, &b[1], (int64_t)ca[k]);
           l < end; l++) {
        uint64_t at = NAME(place)(&table, cb[l]);
        if (table.key[at] == cb[l]) continue;
        table.key[at] = cb[l];
        table.found[count++] = (int64_t)at;
      }
    for (int64_t k = 0; k < count; k++) table.key[table.found[k]] = -1;
    LGT_AT(int64_t, &t[0], i) = count;
  }
  lgt_mem_free(table.memory);
  return LGT_OK;
}

static lgt_status NAME(multiply)(const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_tile *a = &t[4], *b = &t[8];
  const I *ca = a[2].data, *cb = b[2].data;
  const V *va = a[3].data, *vb = b[3].data;
  NAME(table) table = {0};
  (void)nargs;
  lgt_status status = NAME(table_new)(&table, a, b, (int64_t)params[0].f, lo, hi);
  if (status) return status;
  for (int64_t i = lo; i < hi; i++) {
    I *crd = (I *)t[2].data + LGT_AT(const I, &t[0], i), count = 0;
    V *vals = (V *)t[3].data + LGT_AT(const I, &t[0], i);
    for (int64_t k = LGT_AT(const I, &a[0], i), past = LGT_AT(const I, &a[1], i); k < past; k++)
      for (int64_t l = LGT_AT(const I, &b[0], (int64_t)ca[k]), end = LGT_AT(const I, &b[1], (int64_t)ca[k]);
           l < end; l++) {
        uint64_t at = NAME(place)(&table, cb[l]);
        if (table.key[at] == cb[l]) {
          vals[table.entry[at]] += va[k] * vb[l];
          continue;
        }
        table.key[at] = crd[count] = cb[l];
        vals[count] = va[k] * vb[l];
        table.found[count] = (int64_t)at;
        table.entry[at] = count++;
      }
    for (int64_t k = 0; k < count; k++) table.key[table.found[k]] = -1;
    LGT_AT(int64_t, &t[1], i) = count;
  }
  lgt_mem_free(table.memory);
  return LGT_OK;
}

#undef V
#undef NAME
