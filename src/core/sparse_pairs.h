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
    case LESS:
      return a < b;
    case GREATER:
      return a > b;
#endif
    case NOT_EQUAL:
      return a != b;
    default:
      return 0;
  }
}

/* A value, or zero, without a branch: its bits, masked. */
ALWAYS_INLINE V NAME(only_if)(bool keep, V value) {
  union {
    V value;
    uint32_t word[sizeof(V) / sizeof(uint32_t)];
  } u = {value};
  for (size_t i = 0; i < sizeof(V) / sizeof(uint32_t); i++) u.word[i] &= -(uint32_t)keep;
  return u.value;
}

/* The entry of two that are next, of columns p and q; false: it is none of the result. */
ALWAYS_INLINE bool NAME(join_entry)(int op, I p, I q, bool has_a, bool has_b, V x, V y, I *crd, V *vals) {
  V v = NAME(combine)(op, NAME(only_if)(has_a, x), NAME(only_if)(has_b, y));
  *crd = has_a ? p : q;
  *vals = v;
  return v != 0 && (op != MULTIPLY || (has_a && has_b));
}

/* Row i of A and of B, whose tiles are at a and b, in room for the entries of both (MULTIPLY: of A): how many it has.  Which of
 * two columns comes first cannot be foreseen, so nothing branches on it; and while it is not yet known which are next at the
 * beginning, there is work to do at the end: the last entries are collected at the end of the room. */
ALWAYS_INLINE int64_t NAME(join_row)(int op, const lgt_tile *a, const lgt_tile *b, int64_t i, I *crd,
                                     V *vals) {
  const I *ca = a[2].data, *cb = b[2].data;
  const V *va = a[3].data, *vb = b[3].data;
  int64_t j = LGT_AT(const I, &a[0], i), k = LGT_AT(const I, &b[0], i), n = 0;
  int64_t jend = LGT_AT(const I, &a[1], i), kend = LGT_AT(const I, &b[1], i);
  int64_t room = jend - j + kend - k, last = room;
#define FIRST()                                                                     \
  do {                                                                              \
    I p = ca[j], q = cb[k];                                                         \
    bool has_a = p <= q, has_b = q <= p;                                            \
    n += NAME(join_entry)(op, p, q, has_a, has_b, va[j], vb[k], &crd[n], &vals[n]); \
    j += has_a, k += has_b;                                                         \
  } while (0)
  while (op != MULTIPLY && jend - j > 1 && kend - k > 1) {
    FIRST();
    I p = ca[jend - 1], q = cb[kend - 1];
    bool has_a = p >= q, has_b = q >= p;
    last -=
        NAME(join_entry)(op, p, q, has_a, has_b, va[jend - 1], vb[kend - 1], &crd[last - 1], &vals[last - 1]);
    jend -= has_a, kend -= has_b;
  }
  while (j < jend && k < kend) FIRST();
#undef FIRST
  if (op == MULTIPLY) return n;
  for (; j < jend; j++) n += NAME(join_entry)(op, ca[j], 0, true, false, va[j], 0, &crd[n], &vals[n]);
  for (; k < kend; k++) n += NAME(join_entry)(op, 0, cb[k], false, true, 0, vb[k], &crd[n], &vals[n]);
  if (n < last) {
    memmove(&crd[n], &crd[last], (size_t)(room - last) * sizeof *crd);
    memmove(&vals[n], &vals[last], (size_t)(room - last) * sizeof *vals);
  }
  return n + room - last;
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
    case MINIMUM:
      NAME(join_rows)(MINIMUM, t, lo, hi);
      break;
    default: /* comparisons */
      NAME(join_rows)((int)params[0].f, t, lo, hi);
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
      crd ? NAME(table_new)(&table, longest, 0) : lgt_err(LGT_NO_MEMORY, "out of memory to multiply");
  if (status) goto out;
  for (int64_t i = lo, first = 0; i < hi; i++) {
    int64_t next = first;
    for (int64_t k = LGT_AT(const I, &a[0], i), past = LGT_AT(const I, &a[1], i); k < past; k++)
      for (int64_t l = LGT_AT(const I, &b[0], (int64_t)ca[k]), end = LGT_AT(const I, &b[1], (int64_t)ca[k]);
           l < end; l++) {
        I *at = NAME(place)(&table, false, crd, (I)first, cb[l]);
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
ALWAYS_INLINE void NAME(multiply_rows)(const lgt_tile *t, bool packs, bool direct, const NAME(table) * table,
                                       int64_t lo, int64_t hi) {
  const lgt_tile *a = &t[4], *b = &t[8];
  const I *ca = a[2].data, *cb = b[2].data;
  const V *va = a[3].data, *vb = b[3].data;
  I next = LGT_AT(const I, &t[0], lo);
  for (int64_t i = lo; i < hi; i++) {
    I first = next, *crd = (I *)t[2].data + first;
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
  lgt_mem_free(table.at);
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

#undef V
#undef NAME
