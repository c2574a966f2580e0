/* A product of a matrix and a vector has the same bits whatever instructions compute it; a product of two matrices, whether
 * it is known which rows follow one another or not; triplets are in the same order however they are brought there. */
#include <stdlib.h>

#include "check.h"
#include "kernel/helper.h"
#include "ops/sparse/sparse.h"

enum { ROWS = 700, MOST = 31, COLUMNS = 4 * ROWS + 3 * MOST };

/* A matrix whose rows have `even` and `odd` entries by turns, and follow one another by `step` (in pairs, where these
 * differ) but where a multiple of `broken` begins. */
typedef struct matrix {
  int32_t pos[ROWS + 1], crd[ROWS * MOST];
  double vals[ROWS * MOST], x[COLUMNS];
  uint16_t run[ROWS], apart[2 * ROWS]; /* apart: every other element is one of `run`, if `is_apart` */
  bool is_apart;
} matrix;

static double number(unsigned *state) {
  *state = *state * 1664525 + 1013904223;
  return *state % 7 == 0 ? -0.0 : ((double)*state - 2e9) * 1e-9;
}

static void call_on(matrix *a, const char *name, double *y, int64_t lo, int64_t hi) {
  const lgt_builtin *variant = lgt_sparse_builtins;
  bool product = !strcmp(name, "csr_dot");
  lgt_tile tile[7] = {{.data = product ? (void *)y : a->run, .dtype = product ? LGT_FLOAT64 : LGT_UINT16},
                      {.data = a->pos, .dtype = LGT_INT32},
                      {.data = a->pos + 1, .dtype = LGT_INT32},
                      {.data = a->crd, .dtype = LGT_INT32},
                      {.data = a->vals, .dtype = LGT_FLOAT64},
                      {.data = a->x, .dtype = LGT_FLOAT64},
                      {.data = a->run, .dtype = LGT_UINT16}};
  const int64_t extent[7] = {ROWS, ROWS, ROWS, a->pos[ROWS], a->pos[ROWS], COLUMNS, ROWS};
  for (int t = 0; t < 7; t++) {
    tile[t].ndim = 1;
    tile[t].extent[0] = extent[t];
    tile[t].stride[0] = lgt_dtype_size(tile[t].dtype);
  }
  if (product && a->is_apart) tile[6].data = a->apart, tile[6].stride[0] *= 2;
  while (strcmp(variant->name, name)) variant++;
  CHECK_EQ(variant->variant(tile, product ? 7 : 4, NULL, lo, hi), LGT_OK);
}

static matrix *make(int even, int odd, int step, int broken) {
  matrix *a = calloc(1, sizeof *a);
  unsigned state = (unsigned)(even * 1000 + odd * 100 + broken);
  for (int i = 0; i < COLUMNS; i++) a->x[i] = number(&state);
  for (int i = 0; i < ROWS; i++) {
    int length = i % 2 ? odd : even, first = even == odd ? i * step : i / 2 * step + i % 2;
    a->pos[i + 1] = a->pos[i] + length;
    for (int k = 0; k < length; k++) {
      int at = a->pos[i] + k;
      a->crd[at] = first + 2 * k + (i / broken) % 2;
      a->vals[at] = number(&state);
    }
  }
  call_on(a, "csr_runs", NULL, 0, ROWS);
  return a;
}

static void multiply(matrix *a, const char *isa, double *y, int64_t lo, int64_t hi) {
  CHECK_EQ(lgt_isa_limit(isa), LGT_OK);
  call_on(a, "csr_dot", y, lo, hi);
  CHECK_EQ(lgt_isa_limit(""), LGT_OK);
}

static void compare(matrix *a) {
  double y[2][ROWS] = {{0}}, sum[ROWS];
  for (int i = 0; i < ROWS; i++) {
    sum[i] = 0;
    for (int k = a->pos[i]; k < a->pos[i + 1]; k++) sum[i] += a->vals[k] * a->x[a->crd[k]];
  }
  multiply(a, "generic", y[0], 0, ROWS);
  multiply(a, "", y[1], 0, ROWS / 3);
  multiply(a, "", y[1], ROWS / 3, ROWS);
  CHECK_EQ(memcmp(y[0], sum, sizeof sum), 0);
  CHECK_EQ(memcmp(y[1], sum, sizeof sum), 0);
}

TEST(instructions_do_not_matter) {
  for (int length = 0; length <= MOST; length++)
    for (int step = 0; step <= 3; step++)
      for (int broken = 5; broken < 3 * ROWS; broken = broken * 7 / 2) {
        matrix *a = make(length, length, step, broken);
        if (broken >= ROWS) CHECK_EQ(a->run[0], (ROWS - 1) | (length && step != 1 ? LGT_SPARSE_STEPS : 0));
        compare(a);
        free(a);
      }
}

TEST(instructions_do_not_matter_to_pairs) {
  for (int even = 0; even <= 8; even++)
    for (int odd = 0; odd <= 6; odd++)
      for (int step = 0; step <= 2; step++)
        for (int broken = 5; broken < 3 * ROWS; broken = broken * 7 / 2) {
          matrix *a = make(even, odd, step, broken);
          if (broken >= ROWS && even != odd) CHECK_EQ(a->run[0], (ROWS - 1) | LGT_SPARSE_PAIRS);
          compare(a);
          free(a);
        }
}

/* Between them are others, of which none holds. */
TEST(runs_may_lie_apart) {
  matrix *a = make(3, 3, 1, 5);
  for (int i = 0; i < ROWS; i++) a->apart[2 * i] = a->run[i], a->apart[2 * i + 1] = LGT_SPARSE_RUN;
  a->is_apart = true;
  compare(a);
  free(a);
}

/* What is one run in all may be cut anywhere, and each part finds out for itself; rows that change their step part it. */
TEST(runs_are_cut) {
  matrix *a = make(3, 3, 1, ROWS);
  for (int64_t lo = 0; lo < ROWS; lo += 130)
    call_on(a, "csr_runs", NULL, lo, lo + 130 < ROWS ? lo + 130 : ROWS);
  CHECK_EQ(a->run[0], 129);
  CHECK_EQ(a->run[129], 0);
  CHECK_EQ(a->run[650], 49);
  for (int k = a->pos[100]; k < a->pos[ROWS]; k++) a->crd[k] += k / 3 - 100;
  call_on(a, "csr_runs", NULL, 0, ROWS);
  CHECK_EQ(a->run[0], 100);
  CHECK_EQ(a->run[100], (ROWS - 101) | LGT_SPARSE_STEPS);
  compare(a);
  free(a);
}

/* ---- products of matrices -------------------------------------------------------------------------------------- */

enum { SIDE = 300, ROOM = 16 * SIDE, TERMS = 512 * SIDE };

/* A square matrix, with positions of either type. */
typedef struct square {
  int32_t pos[SIDE + 1], crd[ROOM];
  int64_t wide_pos[SIDE + 1], wide_crd[ROOM];
  double vals[ROOM];
  uint16_t run[SIDE];
} square;

/* What a product is: where rows begin, their entries. */
typedef struct product {
  int64_t count[SIDE], pos[SIDE + 1], crd[TERMS];
  int32_t narrow_pos[SIDE + 1], narrow_crd[TERMS];
  double vals[TERMS];
  uint16_t run[SIDE];
} product;

static lgt_tile vector(void *data, int dtype, int64_t extent) {
  return (lgt_tile){
      .data = data, .dtype = dtype, .ndim = 1, .extent = {extent}, .stride = {lgt_dtype_size(dtype)}};
}

/* lo hi crd vals at `t` */
static void tiles_of(lgt_tile *t, square *a, bool wide) {
  int dtype = wide ? LGT_INT64 : LGT_INT32;
  char *pos = wide ? (char *)a->wide_pos : (char *)a->pos;
  t[0] = vector(pos, dtype, SIDE);
  t[1] = vector(pos + lgt_dtype_size(dtype), dtype, SIDE);
  t[2] = vector(wide ? (void *)a->wide_crd : (void *)a->crd, dtype, ROOM);
  t[3] = vector(a->vals, LGT_FLOAT64, ROOM);
}

static void call(const lgt_builtin *list, const char *name, const lgt_tile *t, int nargs, int64_t cut) {
  const lgt_scalar columns = {.f = 2 * SIDE};
  while (strcmp(list->name, name)) list++;
  for (int64_t lo = 0; lo < SIDE; lo += cut)
    CHECK_EQ(list->variant(t, nargs, &columns, lo, lo + cut < SIDE ? lo + cut : SIDE), LGT_OK);
}

/* Rows that follow one another, but where a multiple of `broken` begins: there is another kind of row.  Some are empty, name a
 * column twice, or are not sorted, and there are entries that are zero. */
static square *make_square(int broken, unsigned seed, int64_t cut) {
  square *a = calloc(1, sizeof *a);
  unsigned state = seed;
  int n = 0, length = 5, step = 3;
  for (int i = 0; i < SIDE; i++) {
    if (i % broken == 0) {
      number(&state);
      length = (int)(state >> 20) % 8;
      step = (int)(state >> 10) % 4;
    }
    for (int k = 0; k < length; k++, n++) {
      int column = i + (k * step + (length > 5 ? -3 * k * k : 0));
      a->crd[n] = (column % SIDE + SIDE) % SIDE;
      a->vals[n] = number(&state);
    }
    a->pos[i + 1] = n;
  }
  for (int i = 0; i <= SIDE; i++) a->wide_pos[i] = a->pos[i];
  for (int k = 0; k < ROOM; k++) a->wide_crd[k] = a->crd[k];
  lgt_tile t[5] = {vector(a->run, LGT_UINT16, SIDE)};
  tiles_of(t + 1, a, false);
  call(lgt_sparse_builtins, "csr_runs", t, 4, cut);
  return a;
}

static product *multiply_squares(square *a, square *b, bool wide, bool runs, int64_t cut) {
  product *p = calloc(1, sizeof *p);
  int dtype = wide ? LGT_INT64 : LGT_INT32;
  lgt_tile c[10] = {vector(p->count, LGT_INT64, SIDE)}, t[12], ta[4], tb[4];
  tiles_of(ta, a, wide);
  tiles_of(tb, b, wide);
  memcpy(c + 1, ta, 3 * sizeof *c);
  memcpy(c + 4, tb, 3 * sizeof *c);
  c[7] = vector(p->run, LGT_UINT16, SIDE);
  c[8] = vector(a->run, LGT_UINT16, SIDE);
  c[9] = vector(b->run, LGT_UINT16, SIDE);
  call(lgt_sparse_join_builtins, "csr_multiply_count", c, runs ? 10 : 7, cut);
  for (int i = 0; i < SIDE; i++) p->narrow_pos[i + 1] = (int32_t)(p->pos[i + 1] = p->pos[i] + p->count[i]);
  char *pos = wide ? (char *)p->pos : (char *)p->narrow_pos;
  t[0] = vector(pos, dtype, SIDE);
  t[1] = runs ? vector(p->run, LGT_UINT16, SIDE) : vector(pos + lgt_dtype_size(dtype), dtype, SIDE);
  t[2] = vector(wide ? (void *)p->crd : (void *)p->narrow_crd, dtype, TERMS);
  t[3] = vector(p->vals, LGT_FLOAT64, TERMS);
  memcpy(t + 4, ta, sizeof ta);
  memcpy(t + 8, tb, sizeof tb);
  /* Other chunks than those that counted. */
  call(lgt_sparse_join_builtins, runs ? "csr_multiply_runs" : "csr_multiply_fill", t, 12,
       runs ? cut + 7 : cut);
  if (!wide)
    for (int k = 0; k < TERMS; k++) p->crd[k] = p->narrow_crd[k];
  memset(p->narrow_crd, 0, sizeof p->narrow_crd);
  return p;
}

TEST(runs_do_not_matter) {
  for (int wide = 0; wide < 2; wide++)
    for (int broken = 1; broken < 2 * SIDE; broken = broken * 3 / 2 + 1)
      for (int64_t cut = SIDE; cut > 5; cut = cut * 2 / 5) {
        square *a = make_square(broken, 7, cut), *b = make_square(2 * broken + 3, 8, SIDE);
        product *p = multiply_squares(a, b, wide, false, SIDE), *q = multiply_squares(a, b, wide, true, cut);
        int followers = 0;
        for (int i = 0; i < SIDE; i++) followers += q->run[i] != 0;
        CHECK(broken < SIDE || cut < SIDE || followers > SIDE / 2);
        CHECK_EQ(memcmp(p->pos, q->pos, sizeof p->pos), 0);
        CHECK_EQ(memcmp(p->crd, q->crd, sizeof p->crd), 0);
        CHECK_EQ(memcmp(p->vals, q->vals, sizeof p->vals), 0);
        free(a), free(b), free(p), free(q);
      }
}

/* ---- triplets in order ----------------------------------------------------------------------------------------- */

enum { TRIPLETS = 3000, KEYS = 300, MOST_BUCKETS = KEYS + 1, MOST_PIECES = 5, MOST_BYTES = 32 };

/* Triplets by columns, from rows that begin at `pos`; as they should be by keys, and as they come. */
typedef struct triplets {
  int64_t key[TRIPLETS], row[TRIPLETS], pos[TRIPLETS + 1], count, rows;
  char data[TRIPLETS * 16];
  int64_t begins[KEYS + 1], crd[TRIPLETS];
  char vals[TRIPLETS * 16];
} triplets;

/* `skewed`: half of them have one key. */
static triplets *make_triplets(int64_t count, int size, bool skewed) {
  triplets *a = calloc(1, sizeof *a);
  unsigned state = 11;
  a->count = count;
  for (int64_t k = 0, row = 0; k < count; k++) {
    number(&state);
    a->key[k] = skewed && state >> 31 ? 17 : (state >> 12) % KEYS;
    for (int64_t empty = (state >> 5) % 4; empty > 1; empty--) a->pos[++row] = k;
    a->row[k] = row;
    a->rows = row + 1;
    for (int b = 0; b < size; b++) a->data[k * size + b] = (char)(state >> b % 20);
  }
  a->pos[a->rows] = count;
  for (int64_t key = 0, to = 0; key <= KEYS; key++) {
    a->begins[key] = to;
    for (int64_t k = 0; k < count; k++)
      if (a->key[k] == key) {
        a->crd[to] = a->row[k];
        memcpy(a->vals + to++ * size, a->data + k * size, (size_t)size);
      }
  }
  return a;
}

static void *positions(const int64_t *from, int64_t n, bool wide) {
  int64_t *to = aligned_alloc(64, ((size_t)n * 8 + 64) / 64 * 64);
  for (int64_t i = 0; i < n; i++)
    if (wide) to[i] = from[i];
    else ((int32_t *)to)[i] = (int32_t)from[i];
  return to;
}

static lgt_tile matrix_of(void *data, int dtype, int64_t rows, int64_t columns) {
  int64_t size = lgt_dtype_size(dtype);
  return (lgt_tile){
      .data = data, .dtype = dtype, .ndim = 2, .extent = {rows, columns}, .stride = {columns * size, size}};
}

static void run(const char *name, const lgt_tile *t, int nargs, const lgt_scalar *params, int64_t lo,
                int64_t hi) {
  const lgt_builtin *list = lgt_sparse_shape_builtins;
  while (strcmp(list->name, name)) list++;
  CHECK_EQ(list->variant(t, nargs, params, lo, hi), LGT_OK);
}

/* By buckets of 2^shift keys, in so many pieces. */
static void check_order(const triplets *a, int dtype, bool wide, bool by_rows, int shift, int pieces) {
  static int64_t sum[MOST_PIECES * MOST_BUCKETS], first[MOST_BUCKETS + 1], pos[KEYS + 1], crd[TRIPLETS];
  static _Alignas(64) char records[TRIPLETS * MOST_BYTES], vals[TRIPLETS * 16];
  int index = wide ? LGT_INT64 : LGT_INT32, size = lgt_dtype_size(dtype), buckets = (KEYS >> shift) + 1;
  lgt_scalar params[5] = {{.f = pieces}, {.f = (double)a->count}, {.f = shift}, {.f = 0}, {.f = by_rows}};
  void *key = positions(a->key, a->count, wide), *row = positions(a->row, a->count, wide),
       *begins = positions(a->pos, a->rows + 1, wide), *expected = positions(a->begins, KEYS + 1, wide),
       *columns = positions(a->crd, a->count, wide);
  lgt_tile part = vector(NULL, LGT_BOOL, 64 * MOST_BUCKETS),
           sums = matrix_of(sum, index, 1, pieces * buckets), keys = vector(key, index, a->count),
           data = vector((char *)a->data, dtype, a->count),
           other = by_rows ? vector(begins, index, a->rows + 1) : vector(row, index, a->count);
  run("coo_count", (lgt_tile[]){part, sums, keys}, 3, params, 0, 64 * pieces);
  run("coo_offsets", (lgt_tile[]){matrix_of(first, index, 1, buckets + 1), sums}, 2, params, 0, 1);
  const lgt_tile spread[] = {part, sums, vector(records, index, 0), keys, other, data};
  run("coo_spread", spread, 6, params, 65, 64 * pieces); /* any order, any cut */
  run("coo_spread", spread, 6, params, 0, 65);
  const lgt_tile gather[] = {part,
                             vector(pos, index, KEYS + 1),
                             vector(crd, index, a->count),
                             vector(vals, dtype, a->count),
                             vector(first, index, buckets + 1),
                             vector(records, index, 0)};
  for (int64_t lo = 0; lo < 64 * buckets; lo += 200)
    run("coo_gather", gather, 6, &params[2], lo, lo + 200 < 64 * buckets ? lo + 200 : 64 * buckets);
  CHECK_EQ(memcmp(pos, expected, (KEYS + 1) * (size_t)lgt_dtype_size(index)), 0);
  CHECK_EQ(memcmp(crd, columns, (size_t)a->count * (size_t)lgt_dtype_size(index)), 0);
  CHECK_EQ(memcmp(vals, a->vals, (size_t)a->count * (size_t)size), 0);
  free(key), free(row), free(begins), free(expected), free(columns);
}

TEST(buckets_do_not_matter) {
  const int dtypes[] = {LGT_INT8, LGT_INT16, LGT_FLOAT32, LGT_FLOAT64, LGT_COMPLEX128};
  const int64_t counts[] = {0, 1, 70, TRIPLETS};
  for (int d = 0; d < 5; d++)
    for (int c = 0; c < 8; c++) {
      triplets *a = make_triplets(counts[c / 2], lgt_dtype_size(dtypes[d]), c % 2);
      for (int shift = 0; shift < 10; shift += 3)
        for (int pieces = 1; pieces <= MOST_PIECES; pieces++)
          for (int kind = 0; kind < 4; kind++) check_order(a, dtypes[d], kind & 1, kind & 2, shift, pieces);
      free(a);
    }
}

int main(void) {
  RUN(instructions_do_not_matter);
  RUN(instructions_do_not_matter_to_pairs);
  RUN(runs_may_lie_apart);
  RUN(runs_are_cut);
  RUN(runs_do_not_matter);
  RUN(buckets_do_not_matter);
  return check_done();
}
