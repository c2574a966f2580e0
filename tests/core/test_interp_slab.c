/* test_interp_slab.c - blocks, strides and reductions: what an element gets depends on nothing but itself,
 * reductions keep the order that loop.h promises, and no byte outside of an access is touched.
 *
 * Single operations are test_interp's matter; here the interpreter on slabs of one element is the reference
 * for the interpreter on large ones.
 */
#include <math.h>
#include <sys/mman.h>

#include "check.h"
#include "kernel/helper.h"
#include "loops.h"

/* ---- memory between guard pages --------------------------------------------------------------- */

enum { PAGE = 4096, AREA = 64 * PAGE };

/* Memory whose next byte, or whose former byte, cannot be touched. */
typedef struct guarded {
  char *map, *data;
  int64_t size;
} guarded;

static guarded guarded_new(int64_t size, bool at_end) {
  int64_t room = (size + PAGE - 1) / PAGE * PAGE;
  guarded g = {.size = size};
  g.map = mmap(NULL, (size_t)(room + 2 * PAGE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room) mprotect(g.map + PAGE, (size_t)room, PROT_READ | PROT_WRITE);
  g.data = g.map + PAGE + (at_end ? room - size : 0);
  return g;
}

static void guarded_free(guarded *g) {
  if (g->map) munmap(g->map, (size_t)((g->size + PAGE - 1) / PAGE * PAGE + 2 * PAGE));
}

/* ---- random loops ----------------------------------------------------------------------------- */

/* A loop bound to memory twice: `data` for the run, `copy` for the reference. */
typedef struct trial {
  lgt_body *body;
  lgt_access access[MAX_ACCESS];
  int naccess;
  int nvalue; /* instructions that make values; effects come behind them */
  int64_t rows, cols;
  slab run, reference;
  guarded area[MAX_ACCESS];
  char *copy[MAX_ACCESS];
  int same_as[MAX_ACCESS]; /* an earlier access at the same memory, or -1 */
} trial;

static const int64_t shapes[][2] = {{1, 1},  {1, 7},   {1, 16},  {1, 511}, {1, 512}, {1, 513}, {1, 2000},
                                    {3, 1},  {5, 3},   {700, 1}, {40, 17}, {2, 600}, {9, 64},  {300, 4},
                                    {1, 33}, {33, 33}, {2, 31},  {1, 32},  {4, 128}, {0, 5},   {5, 0}};

/* Random places for the elements of access a, within memory of its own. */
static void place(trial *t, int a, int dtype, int inner) {
  int64_t size = lgt_dtype_size(dtype), col = inner == LGT_STRIDE_UNIT ? size : 0;
  if (inner == LGT_STRIDE_ANY) col = size * (random_below(2) ? 2 + random_below(2) : -1 - random_below(2));
  int64_t length = t->cols * (col < 0 ? -col : col), row;
  switch (random_below(4)) {
    case 0:
      row = 0;
      break;
    case 1:
      row = col * t->cols;
      break;
    case 2:
      row = -(length + size * random_below(3));
      break;
    default:
      row = length + size * (1 + random_below(3));
  }
  if (t->access[a].mode == LGT_ACCESS_STORE && row == 0) row = length + size; /* elements are distinct */
  int64_t last_row = row * (t->rows - 1), last_col = col * (t->cols - 1), low = 0, high = size;
  if (t->rows < 1 || t->cols < 1) last_row = last_col = high = 0;
  low += (last_row < 0 ? last_row : 0) + (last_col < 0 ? last_col : 0);
  high += (last_row > 0 ? last_row : 0) + (last_col > 0 ? last_col : 0);
  t->area[a] = guarded_new(high - low, random_below(2));
  t->copy[a] = malloc((size_t)(high - low) + 1);
  for (int64_t i = 0; i + size <= high - low; i += size) {
    lgt_scalar values[64];
    lgt_dtype_store(dtype, t->area[a].data + i, values[random_below(interesting(dtype, values))]);
  }
  memcpy(t->copy[a], t->area[a].data, (size_t)(high - low));
  slab_bind(&t->run, a, t->area[a].data - low, row, col);
  slab_bind(&t->reference, a, t->copy[a] - low, row, col);
}

static int random_class() {
  static const int classes[] = {LGT_STRIDE_ZERO, LGT_STRIDE_UNIT, LGT_STRIDE_UNIT, LGT_STRIDE_ANY};
  return classes[random_below(4)];
}

static int add_access(trial *t, int mode, int dtype, int inner) {
  int a = t->naccess++;
  t->access[a] = (lgt_access){(uint8_t)mode, (uint8_t)dtype, (uint8_t)inner, 0};
  t->same_as[a] = -1;
  return a;
}

/* A random earlier value of the dtype, cast if need be. */
static int operand(trial *t, int dtype) {
  int n = t->nvalue ? t->nvalue : t->body->ninst, v = random_below(n);
  for (int i = 0; i < n; i++, v = (v + 1) % n)
    if (t->body->inst[v].dtype == dtype) return v;
  return lgt_build_op(t->body, LGT_OP_CAST, dtype, random_below(n), -1, -1);
}

static void random_op(trial *t) {
  int op, dtype;
  do {
    op = LGT_OP_CAST + random_below(LGT_NOP - LGT_OP_CAST);
    dtype = random_below(LGT_COMPLEX64);
  } while (!strchr(lgt_op_classes(op), lgt_dtype_class(dtype)) || op == LGT_OP_COMPLEX || op == LGT_OP_REAL ||
           op == LGT_OP_IMAG);
  if (op == LGT_OP_PHILOX) dtype = LGT_UINT64;
  int result = op >= LGT_OP_EQ && op <= LGT_OP_SIGNBIT ? LGT_BOOL
               : op == LGT_OP_CAST                     ? random_below(LGT_COMPLEX64)
                                                       : dtype;
  int a = operand(t, op == LGT_OP_SELECT ? LGT_BOOL : dtype), b = -1, c = -1;
  if (lgt_op_arity(op) > 1) b = operand(t, dtype);
  if (lgt_op_arity(op) > 2) c = operand(t, dtype);
  lgt_inst power = {.op = LGT_OP_POWER, .dtype = (uint8_t)dtype, .aux = (uint8_t)(3 + random_below(62))};
  int made = op == LGT_OP_POWER ? lgt_body_copy(t->body, &power, a, -1, -1)
                                : lgt_build_op(t->body, op, result, a, b, c);
  if (made < 0) check_fail(__FILE__, __LINE__, "%s", lgt_message());
}

static void trial_leaves(trial *t) {
  for (int i = 1 + random_below(4); i-- > 0;) {
    int dtype = random_below(LGT_COMPLEX64), inner = random_class();
    int a = add_access(t, LGT_ACCESS_LOAD, dtype, inner);
    place(t, a, dtype, inner);
    lgt_build_load(t->body, dtype, a);
  }
  lgt_scalar values[64];
  int dtype = random_below(LGT_COMPLEX64);
  lgt_build_const(t->body, dtype, values[random_below(interesting(dtype, values))]);
  dtype = random_below(LGT_COMPLEX64);
  t->run.param[0] = t->reference.param[0] = values[random_below(interesting(dtype, values))];
  lgt_build_param(t->body, dtype, 0);
  int a = add_access(t, LGT_ACCESS_INDEX, LGT_INT64, LGT_STRIDE_ANY), index = lgt_build_index(t->body, 0);
  t->body->inst[index].a = (uint16_t)a;
  t->run.base[a].index = t->reference.base[a].index = 1000;
  t->run.row_stride[a] = t->reference.row_stride[a] = 17;
  t->run.col_stride[a] = t->reference.col_stride[a] = -3;
}

/* A store, perhaps in place of a load with distinct elements. */
static void trial_store(trial *t) {
  int dtype = random_below(LGT_COMPLEX64), inner = 1 + random_below(2),
      a = add_access(t, LGT_ACCESS_STORE, dtype, inner);
  for (int l = 0; l < a; l++) {
    bool taken = t->access[l].mode != LGT_ACCESS_LOAD || t->access[l].inner == LGT_STRIDE_ZERO ||
                 (t->run.row_stride[l] == 0 && t->rows > 1);
    for (int s = 0; s < a; s++) taken |= t->same_as[s] == l;
    if (taken) continue;
    dtype = t->access[l].dtype;
    t->access[a] = t->access[l];
    t->access[a].mode = LGT_ACCESS_STORE;
    t->same_as[a] = l;
    slab_bind(&t->run, a, t->run.base[l].address, t->run.row_stride[l], t->run.col_stride[l]);
    slab_bind(&t->reference, a, t->reference.base[l].address, t->run.row_stride[l], t->run.col_stride[l]);
    break;
  }
  if (t->same_as[a] < 0) place(t, a, dtype, inner);
  int value = operand(t, dtype);
  lgt_build_store(t->body, a, value);
}

static void trial_init(trial *t, int nops) {
  memset(t, 0, sizeof *t);
  t->body = lgt_build_new();
  int shape = random_below(sizeof shapes / sizeof *shapes);
  t->rows = shapes[shape][0];
  t->cols = shapes[shape][1];
  slab_init(&t->run, t->rows, t->cols);
  slab_init(&t->reference, 1, 1);
  trial_leaves(t);
  for (int i = 0; i < nops; i++) random_op(t);
  t->nvalue = t->body->ninst;
  for (int i = 1 + random_below(3); i-- > 0;) trial_store(t);
}

static void trial_fini(trial *t) {
  for (int a = 0; a < t->naccess; a++) {
    guarded_free(&t->area[a]);
    free(t->copy[a]);
  }
  lgt_body_free(t->body);
}

static void run_reference(trial *t, const lgt_loop *loop) {
  slab one = t->reference;
  one.slab = (lgt_slab){1, 1, one.base, one.row_stride, one.col_stride, one.param, 0};
  for (int64_t row = 0; row < t->rows; row++)
    for (int64_t col = 0; col < t->cols; col++) {
      for (int a = 0; a < t->naccess; a++) {
        int64_t offset = row * one.row_stride[a] + col * one.col_stride[a];
        if (t->access[a].mode == LGT_ACCESS_INDEX) one.base[a].index = t->reference.base[a].index + offset;
        else one.base[a].address = t->reference.base[a].address + offset;
      }
      lgt_interp_run(loop, &one.slab);
    }
}

static void check_trial(trial *t, int seed) {
  lgt_loop loop = loop_of(t->body, t->access, t->naccess);
  t->run.slab =
      (lgt_slab){t->rows, t->cols, t->run.base, t->run.row_stride, t->run.col_stride, t->run.param, 0};
  lgt_interp_run(&loop, &t->run.slab);
  run_reference(t, &loop);
  for (int a = 0; a < t->naccess; a++) {
    if (!t->area[a].map) continue;
    int dtype = t->access[a].dtype, size = lgt_dtype_size(dtype);
    for (int64_t i = 0; i + size <= t->area[a].size; i += size) {
      lgt_scalar got = lgt_dtype_load(dtype, t->area[a].data + i),
                 expected = lgt_dtype_load(dtype, t->copy[a] + i);
      if (same_value(dtype, got, expected)) continue;
      char text[8000];
      lgt_body_print(t->body, text, sizeof text);
      FAIL("trial %d, %d x %d, access %d, byte %d: %s, not %s\n%s", seed, (int)t->rows, (int)t->cols, a,
           (int)i, show(dtype, got), show(dtype, expected), text);
    }
  }
}

static void check_trials(int trials, int nops) {
  for (int i = 0; i < trials && !check_failed; i++) {
    trial t;
    trial_init(&t, nops ? nops : random_below(30));
    check_trial(&t, i);
    trial_fini(&t);
  }
}

TEST(random_loops_agree_with_single_elements) { check_trials(600, 0); }
TEST(long_bodies_share_scratch_memory) { check_trials(6, 900); }

/* More values alive at once than the usual scratch memory has blocks for. */
TEST(many_live_values) {
  lgt_body *body = lgt_build_new();
  double x[100], out[100];
  lgt_access access[2] = {{LGT_ACCESS_LOAD, LGT_FLOAT64, LGT_STRIDE_UNIT, 0},
                          {LGT_ACCESS_STORE, LGT_FLOAT64, LGT_STRIDE_UNIT, 0}};
  int first = lgt_build_load(body, LGT_FLOAT64, 0), n = 1500;
  for (int i = 0; i < n; i++) lgt_build_op(body, LGT_OP_ADD, LGT_FLOAT64, first + i, first, -1);
  int sum = first;
  for (int i = 0; i < n; i++) sum = lgt_build_op(body, LGT_OP_ADD, LGT_FLOAT64, sum, first + 1 + i, -1);
  lgt_build_store(body, 1, sum);
  slab s;
  slab_init(&s, 1, 100);
  for (int i = 0; i < 100; i++) x[i] = i;
  slab_bind(&s, 0, x, 0, 8);
  slab_bind(&s, 1, out, 0, 8);
  lgt_loop loop = loop_of(body, access, 2);
  lgt_interp_run(&loop, &s.slab);
  for (int i = 0; i < 100; i++) CHECK(out[i] == i * (1.0 + (double)n * (n + 3) / 2));
  lgt_body_free(body);
}

/* ---- reductions ------------------------------------------------------------------------------- */

typedef struct best {
  lgt_scalar value;
  int64_t at;
} best;

static const int redop_ops[] = {LGT_OP_ADD, LGT_OP_MUL, LGT_OP_MIN, LGT_OP_MAX,
                                LGT_OP_AND, LGT_OP_OR,  LGT_OP_XOR};

/* One operation, through the interpreter. */
static lgt_scalar operate(int op, int dtype, lgt_scalar a, lgt_scalar b) {
  lgt_body *body = lgt_build_new();
  lgt_access access[1] = {{LGT_ACCESS_STORE, (uint8_t)dtype, LGT_STRIDE_UNIT, 0}};
  char out[8];
  int x = lgt_build_param(body, dtype, 0), y = lgt_build_param(body, dtype, 1);
  lgt_build_store(body, 0, lgt_build_op(body, op, dtype, x, y, -1));
  slab s;
  slab_init(&s, 1, 1);
  slab_bind(&s, 0, out, 0, 0);
  s.param[0] = a, s.param[1] = b;
  lgt_loop loop = loop_of(body, access, 1);
  lgt_interp_run(&loop, &s.slab);
  lgt_body_free(body);
  return lgt_dtype_load(dtype, out);
}

static best combine(int redop, int dtype, best a, best b) {
  if (redop < LGT_REDOP_ARGMIN) return (best){operate(redop_ops[redop], dtype, a.value, b.value), 0};
  bool nan_a = lgt_dtype_is_float(dtype) && isnan(a.value.f),
       nan_b = lgt_dtype_is_float(dtype) && isnan(b.value.f);
  int order = 0; /* of a against b */
  if (nan_a || nan_b) order = nan_b - nan_a;
  else if (lgt_dtype_is_float(dtype)) order = (a.value.f > b.value.f) - (a.value.f < b.value.f);
  else if (lgt_dtype_class(dtype) == 'u') order = (a.value.u > b.value.u) - (a.value.u < b.value.u);
  else order = (a.value.i > b.value.i) - (a.value.i < b.value.i);
  if (redop == LGT_REDOP_ARGMAX && !nan_a && !nan_b) order = -order;
  if (order == 0) order = a.at < b.at ? -1 : 1;
  return order < 0 ? a : b;
}

typedef enum form { LANES, ROWS, VECTOR } form;

typedef struct reduction {
  int redop, dtype;
  form form;
  int64_t rows, cols;
  best *value; /* rows x cols */
  bool open;
  best target[800]; /* one, rows or columns */
} reduction;

static int targets(const reduction *r) {
  return r->form == LANES ? 1 : (int)(r->form == ROWS ? r->rows : r->cols);
}

/* The order of loop.h, word for word. */
static void expect_reduction(reduction *r) {
  best identity = {lgt_redop_identity(r->redop, r->dtype), INT64_MAX}, lane[LGT_LANES];
  if (r->rows == 0 || r->cols == 0) return;
  for (int i = 0; r->open && i < targets(r); i++) r->target[i] = identity;
  for (int64_t row = 0; row < r->rows; row++) {
    if (r->form == ROWS || row == 0)
      for (int k = 0; k < LGT_LANES; k++) lane[k] = identity;
    for (int64_t col = 0; col < r->cols; col++) {
      best *to = r->form == VECTOR ? &r->target[col] : &lane[col % LGT_LANES];
      *to = combine(r->redop, r->dtype, *to, r->value[row * r->cols + col]);
    }
    if (r->form == VECTOR || (r->form == LANES && row + 1 < r->rows)) continue;
    for (int width = 8; width; width /= 2)
      for (int k = 0; k < width; k++) lane[k] = combine(r->redop, r->dtype, lane[k], lane[k + width]);
    best *to = &r->target[r->form == ROWS ? row : 0];
    *to = combine(r->redop, r->dtype, *to, lane[0]);
  }
}

/* The loop: load values, take the index as position, reduce. */
static void run_reduction(const reduction *r, char *values, char *target, int64_t *target_at,
                          int64_t stride) {
  bool with_position = r->redop >= LGT_REDOP_ARGMIN;
  int size = lgt_dtype_size(r->dtype);
  lgt_body *body = lgt_build_new();
  lgt_access access[4] = {{LGT_ACCESS_LOAD, (uint8_t)r->dtype, LGT_STRIDE_UNIT, 0},
                          {LGT_ACCESS_REDUCE, (uint8_t)r->dtype, 0, 0},
                          {LGT_ACCESS_REDUCE, LGT_INT64, 0, 0},
                          {LGT_ACCESS_INDEX, LGT_INT64, LGT_STRIDE_UNIT, 0}};
  slab s;
  slab_init(&s, r->rows, r->cols);
  slab_bind(&s, 0, values, size * r->cols, size);
  int64_t row = r->form == ROWS ? stride : 0, col = r->form == VECTOR ? stride : 0;
  slab_bind(&s, 1, target, row * size, col * size);
  slab_bind(&s, 2, target_at, row * 8, col * 8);
  s.base[3].index = 0;
  s.row_stride[3] = r->cols, s.col_stride[3] = 1;
  for (int a = 1; a < 3; a++) {
    access[a].inner = r->form == VECTOR ? (stride == 1 ? LGT_STRIDE_UNIT : LGT_STRIDE_ANY) : LGT_STRIDE_ZERO;
    access[a].row = r->form == ROWS ? LGT_STRIDE_ANY : LGT_STRIDE_ZERO;
  }
  int value = lgt_build_load(body, r->dtype, 0);
  if (with_position) {
    int index = lgt_build_index(body, 0);
    body->inst[index].a = 3;
    lgt_build_reduce_arg(body, 1, r->redop, value, index);
  } else {
    lgt_build_reduce(body, 1, r->redop, value, 0);
  }
  lgt_loop loop = loop_of(body, access, 4);
  s.slab.open = r->open;
  lgt_interp_run(&loop, &s.slab);
  lgt_body_free(body);
}

static void check_reduction(reduction *r) {
  int size = lgt_dtype_size(r->dtype), n = targets(r), stride = r->form == LANES ? 1 : 1 + random_below(3);
  int64_t count = r->rows * r->cols;
  static char target[800 * 3 * 8];
  static int64_t target_at[800 * 3];
  guarded memory = guarded_new(count * size, true);
  lgt_scalar values[64];
  int kinds = interesting(r->dtype, values);
  bool tame = random_below(2); /* without NaN and infinities, to see the order of sums */
  r->value = malloc((size_t)(count + 1) * sizeof *r->value);
  for (int64_t i = 0; i < count; i++) {
    if (tame && lgt_dtype_is_float(r->dtype))
      lgt_dtype_store(r->dtype, memory.data + i * size,
                      (lgt_scalar){.f = ldexp((double)random_below(1000), -random_below(9))});
    else lgt_dtype_store(r->dtype, memory.data + i * size, values[random_below(kinds)]);
    r->value[i] = (best){lgt_dtype_load(r->dtype, memory.data + i * size), i};
  }
  for (int i = 0; i < n; i++) {
    r->target[i] = (best){lgt_redop_identity(r->redop, r->dtype), INT64_MAX};
    if (random_below(2)) r->target[i] = (best){values[random_below(kinds)], -5};
    lgt_dtype_store(r->dtype, target + i * stride * size, r->target[i].value);
    target_at[i * stride] = r->target[i].at;
  }
  run_reduction(r, memory.data, target, target_at, stride);
  expect_reduction(r);
  for (int i = 0; i < n; i++) {
    lgt_scalar got = lgt_dtype_load(r->dtype, target + i * stride * size);
    if (!same_value(r->dtype, got, r->target[i].value))
      check_fail(__FILE__, __LINE__, "%s of %s, form %d, %d x %d, target %d: %s, not %s",
                 lgt_redop_name(r->redop), lgt_dtype_name(r->dtype), r->form, (int)r->rows, (int)r->cols, i,
                 show(r->dtype, got), show(r->dtype, r->target[i].value));
    else if (r->redop >= LGT_REDOP_ARGMIN && target_at[i * stride] != r->target[i].at)
      check_fail(__FILE__, __LINE__, "%s of %s, form %d, %d x %d, target %d: position %lld, not %lld",
                 lgt_redop_name(r->redop), lgt_dtype_name(r->dtype), r->form, (int)r->rows, (int)r->cols, i,
                 (long long)target_at[i * stride], (long long)r->target[i].at);
  }
  free(r->value);
  guarded_free(&memory);
}

TEST(reductions_keep_their_order) {
  static const char *const classes[] = {
#define X(NAME, name, classes) classes,
      LGT_REDOP_LIST(X)
#undef X
  };
  static const int64_t sizes[][2] = {{1, 1}, {1, 40},  {1, 1200}, {60, 3}, {3, 200},
                                     {4, 5}, {700, 1}, {2, 513},  {0, 3},  {3, 0}};
  static reduction r;
  for (int i = 0; i < 6 * LGT_NREDOP; i++)
    for (int dtype = 0, redop = i % LGT_NREDOP; dtype < LGT_COMPLEX64; dtype++)
      for (int form = LANES; form <= VECTOR && strchr(classes[redop], lgt_dtype_class(dtype)); form++) {
        int k = random_below(sizeof sizes / sizeof *sizes);
        if (form == VECTOR && sizes[k][1] > 800) k = 0;
        r = (reduction){.redop = redop,
                        .dtype = dtype,
                        .form = (enum form)form,
                        .open = random_below(2),
                        .rows = sizes[k][0],
                        .cols = sizes[k][1]};
        check_reduction(&r);
        if (check_failed) return;
      }
}

TEST(first_nan_wins) {
  double x[] = {1, NAN, 5, NAN, -3};
  for (int redop = LGT_REDOP_ARGMIN; redop <= LGT_REDOP_ARGMAX; redop++) {
    reduction r = {.redop = redop, .dtype = LGT_FLOAT64, .form = ROWS, .rows = 1, .cols = 5};
    double target = lgt_redop_identity(redop, LGT_FLOAT64).f;
    int64_t at = INT64_MAX;
    run_reduction(&r, (char *)x, (char *)&target, &at, 1);
    CHECK(isnan(target));
    CHECK_EQ(at, 1);
  }
  double same[] = {2, 7, 7, 2}, target = -INFINITY;
  int64_t at = INT64_MAX;
  reduction r = {.redop = LGT_REDOP_ARGMAX, .dtype = LGT_FLOAT64, .form = ROWS, .rows = 1, .cols = 4};
  run_reduction(&r, (char *)same, (char *)&target, &at, 1);
  CHECK(target == 7);
  CHECK_EQ(at, 1);
}

/* The accumulators of a row outlive blocks, and do not disturb the values of other instructions. */
static void check_row_reductions(int junk) {
  enum { ROWS_ = 3, COLS = 1500 };
  static double x[ROWS_ * COLS], y[ROWS_ * COLS];
  double low[ROWS_], high[ROWS_], sum[ROWS_];
  int64_t low_at[ROWS_], high_at[ROWS_];
  lgt_access access[8] = {{LGT_ACCESS_LOAD, LGT_FLOAT64, LGT_STRIDE_UNIT, 0},
                          {LGT_ACCESS_INDEX, LGT_INT64, LGT_STRIDE_UNIT, 0},
                          {LGT_ACCESS_STORE, LGT_FLOAT64, LGT_STRIDE_UNIT, 0}};
  lgt_body *body = lgt_build_new();
  slab s;
  slab_init(&s, ROWS_, COLS);
  slab_bind(&s, 0, x, COLS * 8, 8);
  s.row_stride[1] = COLS, s.col_stride[1] = 1;
  slab_bind(&s, 2, y, COLS * 8, 8);
  void *targets[5] = {low, low_at, high, high_at, sum};
  for (int a = 0; a < 5; a++) {
    access[3 + a] = (lgt_access){LGT_ACCESS_REDUCE, a == 1 || a == 3 ? LGT_INT64 : LGT_FLOAT64,
                                 LGT_STRIDE_ZERO, LGT_STRIDE_ANY};
    slab_bind(&s, 3 + a, targets[a], 8, 0);
  }
  for (int i = 0; i < ROWS_ * COLS; i++) x[i] = (double)(int64_t)(random_bits() >> 30);
  for (int i = 0; i < ROWS_; i++)
    low[i] = INFINITY, high[i] = -INFINITY, sum[i] = 0, low_at[i] = high_at[i] = INT64_MAX;
  int value = lgt_build_load(body, LGT_FLOAT64, 0), index = lgt_build_index(body, 0), last = value;
  body->inst[index].a = 1;
  /* Multiples of the value, all alive until they are taken apart again behind the reductions. */
  for (int i = 0; i < junk; i++) last = lgt_build_op(body, LGT_OP_ADD, LGT_FLOAT64, last, value, -1);
  int first = last - junk;
  lgt_build_reduce_arg(body, 3, LGT_REDOP_ARGMIN, value, index);
  lgt_build_reduce_arg(body, 5, LGT_REDOP_ARGMAX, value, index);
  lgt_build_reduce(body, 7, LGT_REDOP_SUM, value, 0);
  last = value;
  for (int i = 0; i < junk; i++) {
    int multiple = i ? first + i : value;
    int difference = lgt_build_op(body, LGT_OP_SUB, LGT_FLOAT64, first + i + 1, multiple, -1);
    last = lgt_build_op(body, LGT_OP_ADD, LGT_FLOAT64, last, difference, -1);
  }
  lgt_build_store(body, 2, last);
  lgt_loop loop = loop_of(body, access, 8);
  lgt_interp_run(&loop, &s.slab);
  lgt_body_free(body);
  for (int row = 0; row < ROWS_; row++) {
    int64_t l = row * COLS, h = l, end = l + COLS;
    double total = 0; /* exact: the values are integers far below 2^53 */
    for (int64_t i = l; i < end; i++) {
      if (x[i] < x[l]) l = i;
      if (x[i] > x[h]) h = i;
      total += x[i];
      CHECK(y[i] == (junk + 1) * x[i]);
    }
    CHECK_EQ(low_at[row], l);
    CHECK_EQ(high_at[row], h);
    CHECK(low[row] == x[l] && high[row] == x[h] && sum[row] == total);
  }
}

TEST(accumulators_are_kept) {
  check_row_reductions(1);
  check_row_reductions(100);
  check_row_reductions(1200);
}

int main(void) {
  static const char *const isas[] = {"generic", "avx2", "avx512"};
  for (int i = 0; i < 3; i++) {
    if (lgt_isa_limit(isas[i])) continue;
    printf("with %s\n", isas[i]);
    RUN(random_loops_agree_with_single_elements);
    RUN(long_bodies_share_scratch_memory);
    RUN(many_live_values);
    RUN(reductions_keep_their_order);
    RUN(first_nan_wins);
    RUN(accumulators_are_kept);
  }
  return check_done();
}
