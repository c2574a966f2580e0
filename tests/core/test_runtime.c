/* test_runtime.c - random programs against a model that runs them one operation after another.
 *
 * A program has variables: two matrices, a row, a column, a number, of int64, whose sums do not depend on
 * the order.  Its body, a list of random operations on views of them, runs several times, as a loop does,
 * with the same views and other parameters.  Assigning to a variable makes a new array; the handle of the
 * old one dies at once, when the runtime asks for a collection, or at the end.  What is read in between,
 * and everything at the end, must be what the model holds.
 *
 * Each program runs under a configuration of its own: domains, tiles, workers, window, fusion, jitter.
 * test_runtime SEED runs one program and prints its operations; test_runtime -SEED compares after each.
 */
#include "check.h"
#include "engine.h"
#include "loops.h"
#include "base/mem.h"

enum { NVAR = 6, MAX_OPS = 24, MAX_GARBAGE = 4000, MAX_SIZE = 24 * 24 };

/* ---- two sources of chance: the program's text, and what happens while it runs --------------------- */

static uint64_t text_state, run_state;

static int below(uint64_t *state, int n) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return (int)((z ^ z >> 31) % (uint64_t)n);
}
static int text(int n) { return below(&text_state, n); }
static int chance(int n) { return below(&run_state, n); }

/* ---- the model ------------------------------------------------------------------------------------------ */

typedef struct variable {
  lgt_id id;
  int ndim;
  int64_t shape[2];
  int64_t value[MAX_SIZE];
} variable;

/* A block of a variable, as an operand of an operation over (h, w): `at` is the first element, the
 * steps are those of the model's value. */
typedef struct view {
  int var;
  int64_t at, step[2];
  lgt_id id;
} view;

static struct program {
  lgt_runtime *rt;
  variable var[NVAR];
  int64_t rows, cols;
  lgt_id garbage[MAX_GARBAGE];
  int ngarbage;
  bool talk;
  int kind[16];
} pr;

static void collect(void) {
  lgt_array_free_many(pr.rt, pr.garbage, pr.ngarbage);
  pr.ngarbage = 0;
}

static void throw_away(lgt_id id) {
  if (!id) check_fail(__FILE__, __LINE__, "no handle: %s", lgt_message());
  if (chance(3) == 0) lgt_array_free(pr.rt, id);
  else pr.garbage[pr.ngarbage++] = id;
  if (pr.ngarbage == MAX_GARBAGE) collect();
}

/* ---- views -------------------------------------------------------------------------------------------------- */

static void tell(const char *what, const view *v) {
  if (pr.talk)
    printf("    %s: variable %d from %lld by %lld, %lld\n", what, v->var, (long long)v->at,
           (long long)v->step[0], (long long)v->step[1]);
}

static lgt_id alias(int var, uint32_t layout) {
  lgt_id id = layout ? lgt_layout_view(pr.rt, pr.var[var].id, layout) : 0;
  if (!id) check_fail(__FILE__, __LINE__, "no view: %s", lgt_message());
  return id;
}

/* A range of `count` elements in an extent, with any step that fits. */
static void random_range(int64_t extent, int64_t count, int64_t *first, int64_t *step) {
  int64_t most = count > 1 ? (extent - 1) / (count - 1) : 1;
  *step = most > 1 && text(3) == 0 ? 1 + text((int)(most < 3 ? most : 3)) : 1;
  *first = text((int)(extent - (count - 1) * *step));
  if (text(6) == 0) {
    *first += (count - 1) * *step;
    *step = -*step;
  }
}

/* A view of shape (h, w) of any variable: a block, a row or column stretched, the number. */
static view random_operand(int64_t h, int64_t w) {
  view v = {.var = text(NVAR)};
  variable *x = &pr.var[v.var];
  uint32_t layout = LAYOUT(pr.rt, x->id);
  int64_t first, step;
  if (x->ndim == 2) {
    bool turned = pr.rows == pr.cols && text(5) == 0;
    if (turned) layout = lgt_layout_transpose(pr.rt, layout, (int[]){1, 0});
    for (int d = 0; d < 2; d++) {
      int64_t unit = (d == 0) != turned ? x->shape[1] : 1;
      random_range(x->shape[turned ? 1 - d : d], d ? w : h, &first, &step);
      layout = lgt_layout_slice(pr.rt, layout, d, first, d ? w : h, step);
      v.at += first * unit;
      v.step[d] = step * unit;
    }
  } else if (x->ndim == 1) {
    bool row = x->shape[0] == pr.cols && (x->shape[0] != pr.rows || text(2));
    random_range(x->shape[0], row ? w : h, &first, &step);
    layout = lgt_layout_slice(pr.rt, layout, 0, first, row ? w : h, step);
    if (!row || text(2)) layout = lgt_layout_promote(pr.rt, layout, row ? 0 : 1, row ? h : 1);
    v.at = first;
    v.step[row ? 1 : 0] = step;
  }
  v.id = alias(v.var, layout);
  return v;
}

/* A block of a matrix. */
static view random_block(int64_t h, int64_t w) {
  for (;;) {
    view v = random_operand(h, w);
    if (pr.var[v.var].ndim == 2) return v;
    throw_away(v.id);
  }
}

static int64_t *element(const view *v, int64_t i, int64_t j) {
  return &pr.var[v->var].value[v->at + i * v->step[0] + j * v->step[1]];
}

static bool share(const view *a, const view *b, int64_t h, int64_t w) {
  for (int64_t i = 0; a->var == b->var && i < h * w; i++)
    for (int64_t k = 0; k < h * w; k++)
      if (element(a, i / w, i % w) == element(b, k / w, k % w)) return true;
  return false;
}

/* ---- operations ------------------------------------------------------------------------------------------------ */

enum {
  COPY,
  ADD,
  MIX,
  SELECT,
  PLACE,
  FILL,
  UPDATE,
  TWO,
  NELEMENTWISE,
  SUM = NELEMENTWISE,
  TOTAL,
  MOST,
  ARGMAX,
  HALO,
  ROWS
};

static const char *const generators[] = {
    [COPY] = "a1 =0",
    [ADD] = "a1 a2 add =0",
    [MIX] = "a1 c3 mul a2 add p0 sub =0",
    [SELECT] = "a1 a2 lt:bool a1 p0 select =0",
    [PLACE] = "i0 c100 mul i1 add a1 add i-1 sub =0",
    [FILL] = "p0 =0",
    [UPDATE] = "a0 a1 add c2 mul =0",
    [TWO] = "a2 c1 add =0 a2 a3 mul =1",
    [SUM] = "a1 sum>0",
    [TOTAL] = "a1 sum+>0",
    [MOST] = "a1 max>0",
    [ARGMAX] = "a2 i-1 argmax>0",
};
static const int inputs[] = {
    [COPY] = 1, [ADD] = 2, [MIX] = 2, [SELECT] = 2, [PLACE] = 1, [FILL] = 0, [UPDATE] = 1, [TWO] = 2};

static int64_t compute(int op, int64_t i, int64_t j, int64_t w, int64_t a, int64_t b, int64_t old,
                       int64_t p) {
  switch (op) {
    case COPY:
      return a;
    case ADD:
      return (int64_t)((uint64_t)a + (uint64_t)b);
    case MIX:
      return (int64_t)((uint64_t)a * 3 + (uint64_t)b - (uint64_t)p);
    case SELECT:
      return a < b ? a : p;
    case PLACE:
      return (int64_t)((uint64_t)(i * 100 + j - (i * w + j)) + (uint64_t)a);
    case FILL:
      return p;
    case UPDATE:
      return (int64_t)(((uint64_t)old + (uint64_t)a) * 2);
    default:
      return (int64_t)((uint64_t)a + 1);
  }
}

static void submit(int op, int64_t param, int n, const lgt_id *ids) {
  lgt_launch l = {.kind = (uint16_t)pr.kind[op], .nargs = (uint8_t)n, .nparams = 1, .param = {{.i = param}}};
  memcpy(l.arg, ids, (size_t)n * sizeof *ids);
  if (lgt_submit(pr.rt, &l)) check_fail(__FILE__, __LINE__, "%s", lgt_message());
}

/* A new array for a variable; the old handle dies some time. */
static void rebind(int var) {
  variable *x = &pr.var[var];
  if (x->id) throw_away(x->id);
  x->id = array_of(pr.rt, LGT_INT64, x->ndim, x->shape);
}

static void elementwise(int op) {
  static int64_t result[2][MAX_SIZE];
  int64_t h = 1 + text((int)pr.rows), w = 1 + text((int)pr.cols), param = chance(1000);
  bool fresh = text(2) && op != UPDATE && op != TWO;
  int nout = op == TWO ? 2 : 1;
  view out[2] = {0}, in[2] = {0};
  lgt_id ids[4];
  if (text(3) == 0 || fresh) h = pr.rows, w = pr.cols;
  for (int i = 0; i < inputs[op]; i++) in[i] = random_operand(h, w);
  if (fresh) out[0] = (view){.var = text(2), .step = {pr.cols, 1}};
  else
    for (int i = 0; i < nout; i++) out[i] = random_block(h, w);
  bool good = nout == 1 || !share(&out[0], &out[1], h, w); /* which of them would win? */
  if (pr.talk)
    printf("  %s over (%lld, %lld)%s\n", generators[op], (long long)h, (long long)w,
           good ? "" : ": not possible");
  for (int o = 0; o < nout; o++) tell("out", &out[o]);
  for (int i = 0; i < inputs[op]; i++) tell("in", &in[i]);
  for (int64_t e = 0; e < h * w && good; e++) {
    int64_t i = e / w, j = e % w, a = inputs[op] > 0 ? *element(&in[0], i, j) : 0,
            b = inputs[op] > 1 ? *element(&in[1], i, j) : 0;
    result[0][e] = compute(op, i, j, w, a, b, *element(&out[0], i, j), param);
    result[1][e] = (int64_t)((uint64_t)a * (uint64_t)b);
  }
  for (int o = 0; o < nout && good; o++)
    for (int64_t e = 0; e < h * w; e++) *element(&out[o], e / w, e % w) = result[o][e];
  if (fresh) { /* the operands are views of old arrays that live on */
    rebind(out[0].var);
    out[0].id = pr.var[out[0].var].id;
  }
  for (int o = 0; o < nout; o++) ids[o] = out[o].id;
  for (int i = 0; i < inputs[op]; i++) ids[nout + i] = in[i].id;
  if (good) submit(op, param, nout + inputs[op], ids);
  for (int i = fresh; i < nout + inputs[op]; i++) throw_away(ids[i]);
}

/* The sum or maximum of a block over rows, columns, or both, into (part of) any variable. */
static void reduction(int op) {
  int64_t h = 1 + text((int)pr.rows), w = 1 + text((int)pr.cols), result[MAX_SIZE];
  int over = 1 + text(3); /* 1: rows, 2: columns, 3: both */
  bool fresh = op != TOTAL && text(3) == 0;
  if (fresh || text(3) == 0) h = pr.rows, w = pr.cols;
  int64_t th = over & 1 ? 1 : h, tw = over & 2 ? 1 : w;
  view in = random_operand(h, w), to = {.var = 1 + over, .step = {over == 2, over == 1}};
  while (!fresh) {
    to = random_operand(th, tw);
    const variable *x = &pr.var[to.var];
    if (th * tw == 1 || x->ndim == 2 || (x->ndim == 1 && (th == 1 || to.step[0]) && (tw == 1 || to.step[1])))
      break;
    throw_away(to.id);
  }
  if (pr.talk)
    printf("  %s over (%lld, %lld), dimensions %d, into%s variable %d\n", generators[op], (long long)h,
           (long long)w, over, fresh ? " a new" : "", to.var);
  tell("out", &to);
  tell("in", &in);
  for (int64_t t = 0; t < th * tw; t++)
    result[t] = op == TOTAL ? *element(&to, t / tw, t % tw) : op == MOST ? INT64_MIN : 0;
  for (int64_t e = 0; e < h * w; e++) {
    int64_t t = (over & 1 ? 0 : e / w) * tw + (over & 2 ? 0 : e % w), v = *element(&in, e / w, e % w);
    result[t] = op == MOST ? (v > result[t] ? v : result[t]) : (int64_t)((uint64_t)result[t] + (uint64_t)v);
  }
  for (int64_t t = 0; t < th * tw; t++) *element(&to, t / tw, t % tw) = result[t];
  /* The target as the launch sees it stands still along the others. */
  if (fresh) rebind(to.var), to.id = pr.var[to.var].id;
  uint32_t layout = LAYOUT(pr.rt, to.id);
  int ndim = (int)lgt_front_of(pr.rt)->layouts[layout].ndim;
  for (; ndim < 2; ndim++) layout = lgt_layout_promote(pr.rt, layout, fresh && over == 2 ? 1 : 0, 1);
  layout = lgt_layout_broadcast(pr.rt, layout, 2, (int64_t[]){h, w});
  lgt_id target = alias(to.var, layout);
  submit(op, 0, 2, (lgt_id[]){target, in.id});
  throw_away(in.id), throw_away(target);
  if (!fresh) throw_away(to.id);
}

/* variable 5 = the position of the greatest element of a matrix, variable 4 its value. */
static void argmax(void) {
  variable *x = &pr.var[text(2)];
  int64_t best = 0;
  for (int64_t e = 1; e < pr.rows * pr.cols; e++)
    if (x->value[e] > x->value[best]) best = e;
  lgt_id from = lgt_layout_view(pr.rt, x->id, LAYOUT(pr.rt, x->id));
  if (pr.talk) printf("  argmax\n");
  int64_t value = x->value[best];
  rebind(4);
  rebind(5);
  pr.var[4].value[0] = value;
  pr.var[5].value[0] = best;
  submit(ARGMAX, 0, 3, (lgt_id[]){pr.var[4].id, pr.var[5].id, from});
  throw_away(from);
}

/* A task in C: each row becomes the sum of itself and its neighbours above and below. */
static lgt_status add_neighbours(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                                 int64_t hi) {
  const lgt_tile *out = &tiles[0], *in = &tiles[1];
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++)
    for (int64_t j = 0; j < out->extent[1]; j++) {
      uint64_t sum = 0;
      int64_t at = out->origin[0] + i - in->origin[0], column = out->origin[1] + j - in->origin[1];
      for (int64_t k = at - 1; k <= at + 1; k++)
        if (k >= 0 && k < in->extent[0])
          sum += *(const uint64_t *)((const char *)in->data + k * in->stride[0] + column * in->stride[1]);
      *(uint64_t *)((char *)out->data + i * out->stride[0] + j * out->stride[1]) = sum;
    }
  return LGT_OK;
}

static void halo(void) {
  int64_t h = 1 + text((int)pr.rows), w = 1 + text((int)pr.cols), result[MAX_SIZE];
  view in = random_block(h, w), out = random_block(h, w);
  if (pr.talk) printf("  a task in C over (%lld, %lld)\n", (long long)h, (long long)w);
  tell("out", &out);
  tell("in", &in);
  if (in.var != out.var) {
    for (int64_t e = 0; e < h * w; e++) {
      uint64_t sum = 0;
      for (int64_t k = e / w - 1; k <= e / w + 1; k++)
        if (k >= 0 && k < h) sum += (uint64_t)*element(&in, k, e % w);
      result[e] = (int64_t)sum;
    }
    for (int64_t e = 0; e < h * w; e++) *element(&out, e / w, e % w) = result[e];
    submit(HALO, 0, 2, (lgt_id[]){out.id, in.id});
  }
  throw_away(in.id), throw_away(out.id);
}

/* A task in C by rows: each element becomes a sum over a row of a matrix. */
static lgt_status add_rows(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                           int64_t hi) {
  const lgt_tile *out = &tiles[0], *in = &tiles[1];
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    uint64_t sum = 0;
    const char *row = (const char *)in->data + (out->origin[0] + i - in->origin[0]) * in->stride[0];
    for (int64_t j = 0; j < in->extent[1]; j++)
      sum += (uint64_t)(j + 1) * *(const uint64_t *)(row + j * in->stride[1]);
    *(uint64_t *)((char *)out->data + i * out->stride[0]) = sum;
  }
  return LGT_OK;
}

/* h rows of w elements: a block of a matrix, or windows of a vector. */
static view random_rows(int64_t *h, int64_t *w) {
  if (text(2)) return random_block(*h, *w);
  view v = {.var = 2 + text(2), .step = {1, 1}};
  int64_t n = pr.var[v.var].shape[0], most;
  *w = 1 + text((int)n);
  most = n - *w + 1 < pr.rows ? n - *w + 1 : pr.rows;
  *h = 1 + text((int)most);
  v.at = text((int)(n - *w - *h + 2));
  uint32_t layout = lgt_layout_slice(pr.rt, LAYOUT(pr.rt, pr.var[v.var].id), 0, v.at, *h + *w - 1, 1);
  v.id = alias(v.var, lgt_layout_windows(pr.rt, layout, 0, *w));
  return v;
}

/* A part of a vector, or of a column. */
static view random_vector(int64_t h) {
  view block = random_block(h, 1), v = block;
  v.id = alias(v.var, lgt_layout_project(pr.rt, LAYOUT(pr.rt, block.id), 1, 0));
  throw_away(block.id);
  if (text(2)) return v;
  variable *x = &pr.var[v.var = 3];
  throw_away(v.id);
  random_range(x->shape[0], h, &v.at, &v.step[0]);
  v.id = alias(v.var, lgt_layout_slice(pr.rt, LAYOUT(pr.rt, x->id), 0, v.at, h, v.step[0]));
  return v;
}

/* The first elements of rows of windows, of a vector, change: v = (v + v) * 2. */
static void update_front(const view *v, int64_t h) {
  if (pr.var[v->var].ndim != 1 || text(2)) return;
  lgt_id id = alias(v->var, lgt_layout_slice(pr.rt, LAYOUT(pr.rt, pr.var[v->var].id), 0, v->at, h, 1));
  if (pr.talk) printf("  %s of variable %d from %lld\n", generators[UPDATE], v->var, (long long)v->at);
  for (int64_t i = 0; i < h; i++) *element(v, i, 0) = (int64_t)((uint64_t)*element(v, i, 0) * 4);
  submit(UPDATE, 0, 2, (lgt_id[]){id, id});
  throw_away(id);
}

static void rows(void) {
  int64_t h = 1 + text((int)pr.rows), w = 1 + text((int)pr.cols), result[MAX_SIZE];
  view in = random_rows(&h, &w), out = random_vector(h);
  if (pr.talk) printf("  a task in C by rows over (%lld, %lld)\n", (long long)h, (long long)w);
  tell("out", &out);
  tell("in", &in);
  update_front(&in, h);
  if (in.var != out.var) {
    for (int64_t i = 0; i < h; i++) {
      uint64_t sum = 0;
      for (int64_t j = 0; j < w; j++) sum += (uint64_t)(j + 1) * (uint64_t)*element(&in, i, j);
      result[i] = (int64_t)sum;
    }
    for (int64_t i = 0; i < h; i++) *element(&out, i, 0) = result[i];
    submit(ROWS, 0, 2, (lgt_id[]){out.id, in.id});
  }
  update_front(&in, h);
  throw_away(in.id), throw_away(out.id);
}

/* ---- looking ----------------------------------------------------------------------------------------------------- */

static void compare(int var, const char *when) {
  static int64_t got[MAX_SIZE];
  variable *x = &pr.var[var];
  int64_t n = x->ndim == 0 ? 1 : x->ndim == 1 ? x->shape[0] : x->shape[0] * x->shape[1];
  if (lgt_array_copy_out(pr.rt, x->id, got)) check_fail(__FILE__, __LINE__, "%s: %s", when, lgt_message());
  for (int64_t i = 0; i < n; i++)
    if (got[i] != x->value[i]) {
      check_fail(__FILE__, __LINE__, "%s: element %lld of variable %d is %lld, not %lld", when, (long long)i,
                 var, (long long)got[i], (long long)x->value[i]);
      return;
    }
}

/* Some view of some variable is read or written by the host. */
static void look(void) {
  static int64_t buffer[MAX_SIZE];
  int64_t h = 1 + text((int)pr.rows), w = 1 + text((int)pr.cols);
  view v = random_block(h, w);
  bool write = text(3) == 0;
  if (pr.talk) printf("  the host %s\n", write ? "writes" : "reads");
  tell("view", &v);
  for (int64_t e = 0; e < h * w; e++) buffer[e] = chance(1000);
  if (write) {
    if (lgt_array_copy_in(pr.rt, v.id, buffer)) check_fail(__FILE__, __LINE__, "%s", lgt_message());
    for (int64_t e = 0; e < h * w; e++) *element(&v, e / w, e % w) = buffer[e];
  } else if (chance(2)) {
    if (lgt_array_copy_out(pr.rt, v.id, buffer)) check_fail(__FILE__, __LINE__, "%s", lgt_message());
    for (int64_t e = 0; e < h * w; e++)
      if (buffer[e] != *element(&v, e / w, e % w))
        check_fail(__FILE__, __LINE__, "a view: element %lld", (long long)e);
  }
  throw_away(v.id);
}

static void flush(void) {
  if (pr.talk) printf("  flush\n");
  int result = chance(4) ? flush_step(pr.rt) : lgt_fence(pr.rt);
  for (; result > 0; result = flush_step(pr.rt))
    if (chance(2)) collect();
  if (result < 0) check_fail(__FILE__, __LINE__, "%s", lgt_message());
}

static void operation(void) {
  int what = text(22);
  if (what < 11) elementwise(text(NELEMENTWISE));
  else if (what < 15) reduction(SUM + text(3));
  else if (what == 15) argmax();
  else if (what == 16) halo();
  else if (what < 19) rows();
  else if (what < 21) look();
  else flush();
}

/* ---- programs ------------------------------------------------------------------------------------------------------- */

static void configure(lgt_config *config) {
  static const char *const numbers[] = {"1", "2", "3", "4", "5", "6", "7", "8", "9", "64"};
  struct {
    const char *name, *value;
  } option[] = {{"compile", "0"},
                {"check", "1"},
                {"min_tile", "1"},
                {"domains", numbers[chance(2) * chance(4)]},
                {"max_tiles", numbers[chance(9)]},
                {"cpus", numbers[chance(3)]},
                {"window", chance(2) ? "64" : numbers[chance(10)]},
                {"fusion", chance(8) ? "1" : "0"},
                {"kernel_fusion", chance(6) ? "1" : "0"},
                {"temporaries", chance(6) ? "1" : "0"},
                {"jitter", chance(3) ? "0" : numbers[chance(9)]}};
  for (size_t i = 0; i < sizeof option / sizeof *option; i++) {
    if (pr.talk && i > 2) printf("%s %s%s", option[i].name, option[i].value, i == 10 ? "\n" : ", ");
    if (lgt_config_set(config, option[i].name, option[i].value))
      check_fail(__FILE__, __LINE__, "%s", lgt_message());
  }
}

static void begin(void) {
  pr.rows = 1 + chance(12);
  pr.cols = chance(2) ? pr.rows : 1 + chance(12);
  for (int v = 0; v < NVAR; v++) {
    variable *x = &pr.var[v];
    *x = (variable){.ndim = v < 2 ? 2 : v < 4 ? 1 : 0, .shape = {v == 2 ? pr.cols : pr.rows, pr.cols}};
    rebind(v);
    for (int i = 0; i < MAX_SIZE; i++) x->value[i] = chance(100) - 50;
    if (lgt_array_copy_in(pr.rt, x->id, x->value)) check_fail(__FILE__, __LINE__, "%s", lgt_message());
  }
}

static bool careful; /* compare after every operation */

static void run_program(uint64_t seed, bool talk) {
  int64_t live = lgt_mem_live();
  run_state = seed * 77;
  memset(&pr, 0, sizeof pr);
  pr.talk = talk;
  lgt_config *config = config_new();
  configure(config);
  if (lgt_open(config, &pr.rt)) check_fail(__FILE__, __LINE__, "%s", lgt_message());
  lgt_config_free(config);
  if (check_failed) return;
  for (int k = 0; k < HALO; k++) pr.kind[k] = kind_of(pr.rt, LGT_INT64, generators[k]);
  pr.kind[HALO] = native_kind(pr.rt, "add_neighbours", "wr", "align(0.0,1.0) align(0.1,1.1) bloat(1.0,1,1)",
                              add_neighbours);
  pr.kind[ROWS] = native_kind(pr.rt, "add_rows", "wr", "align(0.0,1.0) by_rows", add_rows);
  begin();
  int turns = 1 + chance(5), nops = 1 + chance(MAX_OPS);
  for (int turn = 0; turn < turns && !check_failed; turn++) {
    text_state = seed * 1234567;
    if (talk) printf("turn %d\n", turn);
    for (int i = 0; i < nops && !check_failed; i++) {
      operation();
      for (int v = 0; v < NVAR && careful; v++) compare(v, "after this operation");
    }
    if (chance(3) == 0) compare(chance(NVAR), "between turns");
  }
  for (int v = 0; v < NVAR && !check_failed; v++) compare(v, "at the end");
  collect();
  for (int v = 0; v < NVAR; v++) lgt_array_free(pr.rt, pr.var[v].id);
  if (lgt_fence(pr.rt)) check_fail(__FILE__, __LINE__, "%s", lgt_message());
  if (stat_of(pr.rt, "live_stores"))
    check_fail(__FILE__, __LINE__, "%lld stores live", (long long)stat_of(pr.rt, "live_stores"));
  lgt_close(pr.rt);
  if (lgt_mem_live() != live)
    check_fail(__FILE__, __LINE__, "%lld blocks leak", (long long)(lgt_mem_live() - live));
}

static uint64_t first_seed = 1;
static int nseeds = 1500;

TEST(random_programs) {
  for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)nseeds && !check_failed; seed++) {
    run_program(seed, nseeds == 1);
    if (check_failed) printf("seed %llu\n", (unsigned long long)seed);
  }
}

int main(int argc, char **argv) {
  if (argc > 1) {
    careful = *argv[1] == '-';
    first_seed = strtoull(argv[1] + careful, NULL, 0);
    nseeds = argc > 2 ? atoi(argv[2]) : 1;
  }
  RUN(random_programs);
  return check_done();
}
