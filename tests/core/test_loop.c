/* test_loop.c - loop nests against plain loops over coordinates.
 *
 * Nests have random extents and strides (negative, zero, padded, transposed); their chunks run in random
 * order.  Reductions of integers are compared with plain loops; those of floats, whose order is part of
 * the contract, with an implementation of the rules of loop.h that knows nothing but them, and with
 * themselves under other numbers of workers.
 */
#include "check.h"
#include "loops.h"
#include "base/mem.h"

enum { PAD = 64 };

typedef struct operand {
  char *memory; /* owned */
  size_t bytes;
  char *first; /* the element at the origin */
  int64_t stride[LGT_MAX_DIM];
  int elem;
} operand;

/* Memory for an array over the extents, along whose dimensions in `still` it does not move. */
static operand operand_of(int ndim, const int64_t *extent, int elem, unsigned still) {
  operand o = {.elem = elem};
  int order[LGT_MAX_DIM];
  int64_t s = elem, first = 0;
  for (int d = 0; d < ndim; d++) order[d] = d;
  for (int d = ndim - 1; d > 0 && random_below(3) == 0; d--) {
    int k = random_below(d + 1), t = order[d];
    order[d] = order[k];
    order[k] = t;
  }
  if (random_below(4) == 0) s *= 2; /* every second element */
  for (int i = ndim - 1; i >= 0; i--) {
    int d = order[i];
    if (still & (1u << d)) continue;
    int64_t n = extent[d] + (random_below(4) == 0 ? random_below(3) : 0);
    o.stride[d] = s;
    if (random_below(5) == 0 && extent[d] > 0) {
      first += (extent[d] - 1) * s;
      o.stride[d] = -s;
    }
    s *= n > 0 ? n : 1;
  }
  o.bytes = (size_t)s + 2 * PAD;
  o.memory = malloc(o.bytes);
  o.first = o.memory + PAD + first;
  return o;
}

static char *element(const operand *o, int ndim, const int64_t *x) {
  char *p = o->first;
  for (int d = 0; d < ndim; d++) p += o->stride[d] * x[d];
  return p;
}

static void randomise(operand *o) {
  for (size_t i = 0; i < o->bytes; i++) o->memory[i] = (char)random_bits();
  if (o->elem == 8) /* numbers whose sums depend on the order */
    for (size_t i = 0; i + 8 <= o->bytes; i += 8) {
      double value = ldexp((double)(int64_t)random_bits(), random_below(20) - 70);
      memcpy(o->memory + i, &value, 8);
    }
}

static operand copy_of(const operand *o) {
  operand c = *o;
  c.memory = malloc(o->bytes);
  memcpy(c.memory, o->memory, o->bytes);
  c.first = c.memory + (o->first - o->memory);
  return c;
}

static void random_extents(int *ndim, int64_t *extent, int64_t most) {
  int64_t size = 1;
  *ndim = random_below(LGT_MAX_DIM);
  for (int d = 0; d < *ndim; d++) {
    int64_t room = most / size;
    int n = random_below(4) < (most > 100000 ? 1 : 3) ? 6 : 700;
    extent[d] = random_below(40) == 0 ? 0 : 1 + random_below(room < n ? (int)room : n);
    size *= extent[d] ? extent[d] : 1;
  }
}

static bool next(int ndim, const int64_t *extent, int64_t *x) {
  for (int d = ndim - 1; d >= 0; d--) {
    if (++x[d] < extent[d]) return true;
    x[d] = 0;
  }
  return false;
}

static int64_t size_of(int ndim, const int64_t *extent) {
  int64_t size = 1;
  for (int d = 0; d < ndim; d++) size *= extent[d];
  return size;
}

/* ---- a nest of operands ---------------------------------------------------------------------------- */

typedef struct bench {
  lgt_body *body;
  lgt_access access[MAX_ACCESS];
  lgt_base base[MAX_ACCESS];
  int64_t stride[MAX_ACCESS][LGT_MAX_DIM];
  lgt_scalar param[2];
  lgt_loop loop;
  lgt_nest_shape shape;
  int ndim, naccess;
  const int64_t *extent;
} bench;

static void bind(bench *b, int mode, int dtype, const operand *o) {
  int a = b->naccess++, n = b->ndim;
  int64_t inner = n ? o->stride[n - 1] : 0, row = n > 1 ? o->stride[n - 2] : 0;
  b->access[a] = (lgt_access){(uint8_t)mode, (uint8_t)dtype,
                              (uint8_t)(inner == 0         ? LGT_STRIDE_ZERO
                                        : inner == o->elem ? LGT_STRIDE_UNIT
                                                           : LGT_STRIDE_ANY),
                              (uint8_t)(mode == LGT_ACCESS_REDUCE && row ? LGT_STRIDE_ANY : LGT_STRIDE_ZERO)};
  b->base[a].address = o->first;
  memcpy(b->stride[a], o->stride, sizeof o->stride);
}

/* The position in C order. */
static void bind_position(bench *b) {
  int a = b->naccess++;
  int64_t s = 1;
  b->access[a] = (lgt_access){LGT_ACCESS_INDEX, LGT_INT64, LGT_STRIDE_UNIT, 0};
  if (b->ndim == 0) b->access[a].inner = LGT_STRIDE_ZERO;
  b->base[a].index = 0;
  memset(b->stride[a], 0, sizeof b->stride[a]);
  for (int d = b->ndim - 1; d >= 0; d--) {
    b->stride[a][d] = s;
    s *= b->extent[d];
  }
}

static void run(bench *b, int workers) {
  lgt_nest_shape *shape = &b->shape;
  int64_t *stride = malloc(sizeof b->stride);
  memcpy(stride, b->stride, sizeof b->stride);
  *shape = (lgt_nest_shape){.ndim = b->ndim, .stride = stride};
  for (int d = 0; d < b->ndim; d++) shape->extent[d] = b->extent[d];
  b->loop = loop_of(b->body, b->access, b->naccess);
  lgt_loop_seal(&b->loop);
  lgt_nest_shape_finish(&b->loop, shape, workers, false, 0);
  lgt_nest nest = {&b->loop, shape, b->base, b->param, NULL};
  if (lgt_nest_begin(&nest)) check_fail(__FILE__, __LINE__, "%s", lgt_message());
  int *order = malloc(((size_t)shape->nchunk + 1) * sizeof *order);
  for (int c = 0; c < shape->nchunk; c++) {
    int k = random_below(c + 1);
    order[c] = order[k];
    order[k] = c;
  }
  for (int c = 0; c < shape->nchunk; c++) CHECK(!lgt_nest_run(&nest, NULL, order[c], NULL));
  lgt_nest_end(&nest);
  free(order);
  free(stride);
  shape->stride = NULL;
}

/* ---- nests that store --------------------------------------------------------------------------------- */

TEST(a_nest_is_a_plain_loop) {
  for (int round = 0; round < 600; round++) {
    int64_t extent[LGT_MAX_DIM], x[LGT_MAX_DIM] = {0};
    bench b = {.body = lgt_build_new(), .extent = extent};
    random_extents(&b.ndim, extent, round % 20 ? 3000 : 200000);
    unsigned still = (unsigned)random_below(1 << b.ndim) & (unsigned)random_below(1 << b.ndim);
    operand p = operand_of(b.ndim, extent, 8, still), q = operand_of(b.ndim, extent, 8, 0),
            out = operand_of(b.ndim, extent, 8, 0), at = operand_of(b.ndim, extent, 8, 0);
    randomise(&p), randomise(&q), randomise(&out), randomise(&at);
    operand expected = copy_of(&out), expected_at = copy_of(&at);
    /* out = p * factor + q, at = position; q may be out itself. */
    bool in_place = random_below(3) == 0;
    int v = lgt_build_op(b.body, LGT_OP_MUL, LGT_FLOAT64, lgt_build_load(b.body, LGT_FLOAT64, 0),
                         lgt_build_param(b.body, LGT_FLOAT64, 0), -1);
    v = lgt_build_op(b.body, LGT_OP_ADD, LGT_FLOAT64, v, lgt_build_load(b.body, LGT_FLOAT64, 1), -1);
    int position = lgt_build_index(b.body, 4);
    CHECK(lgt_build_store(b.body, 2, v) >= 0 && lgt_build_store(b.body, 3, position) >= 0);
    b.param[0].f = 1.5;
    bind(&b, LGT_ACCESS_LOAD, LGT_FLOAT64, &p);
    bind(&b, LGT_ACCESS_LOAD, LGT_FLOAT64, in_place ? &out : &q);
    bind(&b, LGT_ACCESS_STORE, LGT_FLOAT64, &out);
    bind(&b, LGT_ACCESS_STORE, LGT_INT64, &at);
    bind_position(&b);
    int64_t size = size_of(b.ndim, extent), n = 0;
    if (size) do {
        double from, other;
        memcpy(&from, element(&p, b.ndim, x), 8);
        memcpy(&other, element(in_place ? &expected : &q, b.ndim, x), 8);
        from = from * 1.5 + other;
        memcpy(element(&expected, b.ndim, x), &from, 8);
        memcpy(element(&expected_at, b.ndim, x), &n, 8);
        n++;
      } while (next(b.ndim, extent, x));
    run(&b, 1 + random_below(4));
    CHECK_EQ(b.shape.size, size);
    CHECK_EQ(b.shape.nchunk == 0, size == 0);
    /* All bytes: what lies between and around the elements has not changed either. */
    CHECK(!memcmp(out.memory, expected.memory, out.bytes));
    CHECK(!memcmp(at.memory, expected_at.memory, at.bytes));
    lgt_body_free(b.body);
    operand *all[] = {&p, &q, &out, &at, &expected, &expected_at};
    for (int i = 0; i < 6; i++) free(all[i]->memory);
  }
}

/* Contiguous arrays are one dimension, large ones give every worker something to do. */
TEST(a_nest_is_cut_for_its_workers) {
  int64_t extent[] = {300, 400};
  bench b = {.body = lgt_build_new(), .extent = extent, .ndim = 2};
  operand p = {.elem = 8, .stride = {3200, 8}};
  p.bytes = 300 * 400 * 8;
  p.memory = p.first = calloc(1, p.bytes);
  lgt_build_store(b.body, 1, lgt_build_load(b.body, LGT_FLOAT64, 0));
  bind(&b, LGT_ACCESS_LOAD, LGT_FLOAT64, &p);
  bind(&b, LGT_ACCESS_STORE, LGT_FLOAT64, &p);
  run(&b, 4);
  CHECK_EQ(b.shape.ndim, 1);
  CHECK_EQ(b.shape.extent[0], 120000);
  CHECK(b.shape.nchunk >= 4 && b.shape.nchunk <= 64);
  extent[0] = 3;
  run(&b, 4);
  CHECK_EQ(b.shape.nchunk, 1);
  free(p.memory);
  lgt_body_free(b.body);
}

/* ---- nests that reduce ---------------------------------------------------------------------------------- */

static int64_t fold_integer(int redop, int64_t a, int64_t v) {
  switch (redop) {
    case LGT_REDOP_SUM:
      return (int64_t)((uint64_t)a + (uint64_t)v);
    case LGT_REDOP_PROD:
      return (int64_t)((uint64_t)a * (uint64_t)v);
    case LGT_REDOP_MIN:
      return v < a ? v : a;
    case LGT_REDOP_MAX:
      return v > a ? v : a;
    case LGT_REDOP_AND:
      return a & v;
    case LGT_REDOP_OR:
      return a | v;
    default:
      return a ^ v;
  }
}

TEST(integers_reduce_as_in_a_plain_loop) {
  static const int64_t identity[] = {0, 1, INT64_MAX, INT64_MIN, -1, 0, 0};
  for (int round = 0; round < 600; round++) {
    int64_t extent[LGT_MAX_DIM], x[LGT_MAX_DIM] = {0};
    bench b = {.body = lgt_build_new(), .extent = extent};
    random_extents(&b.ndim, extent, round % 20 ? 3000 : 300000);
    unsigned kept = (unsigned)random_below(1 << b.ndim) & (unsigned)random_below(1 << b.ndim);
    unsigned still = ~kept & ((1u << b.ndim) - 1);
    int redop = random_below(LGT_REDOP_XOR + 1);
    bool fresh = random_below(2);
    operand p = operand_of(b.ndim, extent, 8, 0), to = operand_of(b.ndim, extent, 8, still);
    randomise(&p), randomise(&to);
    operand expected = copy_of(&to);
    lgt_build_reduce(b.body, 1, redop, lgt_build_load(b.body, LGT_INT64, 0), fresh);
    bind(&b, LGT_ACCESS_LOAD, LGT_INT64, &p);
    bind(&b, LGT_ACCESS_REDUCE, LGT_INT64, &to);
    int64_t targets = 1;
    for (int d = 0; d < b.ndim; d++)
      if (kept & (1u << d)) targets *= extent[d];
    if (fresh && targets) { /* visits targets several times, which does not matter here */
      int64_t one[LGT_MAX_DIM];
      for (int d = 0; d < b.ndim; d++) one[d] = kept & (1u << d) ? extent[d] : 1;
      do memcpy(element(&expected, b.ndim, x), &identity[redop], 8);
      while (next(b.ndim, one, x));
    }
    memset(x, 0, sizeof x);
    if (size_of(b.ndim, extent)) do {
        int64_t a, v;
        memcpy(&v, element(&p, b.ndim, x), 8);
        memcpy(&a, element(&expected, b.ndim, x), 8);
        a = fold_integer(redop, a, v);
        memcpy(element(&expected, b.ndim, x), &a, 8);
      } while (next(b.ndim, extent, x));
    run(&b, 1 + random_below(4));
    if (memcmp(to.memory, expected.memory, to.bytes))
      FAIL("round %d: redop %d, %d dimensions, kept %x, fresh %d", round, redop, b.ndim, kept, fresh);
    lgt_body_free(b.body);
    free(p.memory), free(to.memory), free(expected.memory);
  }
}

TEST(the_first_of_equal_places_wins) {
  for (int round = 0; round < 300; round++) {
    int64_t extent[LGT_MAX_DIM], x[LGT_MAX_DIM] = {0}, n = 0;
    bench b = {.extent = extent};
    random_extents(&b.ndim, extent, round % 10 ? 3000 : 300000);
    unsigned kept = (unsigned)random_below(1 << b.ndim) & (unsigned)random_below(1 << b.ndim);
    unsigned still = ~kept & ((1u << b.ndim) - 1);
    bool most = random_below(2);
    if (!size_of(b.ndim, extent)) continue;
    b.body = lgt_build_new();
    operand p = operand_of(b.ndim, extent, 4, 0), to = operand_of(b.ndim, extent, 4, still),
            at = operand_of(b.ndim, extent, 8, still);
    for (size_t i = 0; i + 4 <= p.bytes; i += 4) memcpy(p.memory + i, &(int32_t){random_below(7)}, 4);
    memset(to.memory, 0, to.bytes), memset(at.memory, 0, at.bytes);
    operand best = copy_of(&to), place = copy_of(&at), seen = copy_of(&to);
    int v = lgt_build_load(b.body, LGT_INT32, 0);
    lgt_build_reduce_arg(b.body, 1, most ? LGT_REDOP_ARGMAX : LGT_REDOP_ARGMIN, v,
                         lgt_build_index(b.body, 3));
    bind(&b, LGT_ACCESS_LOAD, LGT_INT32, &p);
    bind(&b, LGT_ACCESS_REDUCE, LGT_INT32, &to);
    bind(&b, LGT_ACCESS_REDUCE, LGT_INT64, &at);
    bind_position(&b);
    /* The pair has accesses of one class. */
    if (b.access[1].inner != b.access[2].inner) b.access[1].inner = b.access[2].inner = LGT_STRIDE_ANY;
    do {
      int32_t a, value;
      memcpy(&value, element(&p, b.ndim, x), 4);
      memcpy(&a, element(&best, b.ndim, x), 4);
      if (!*element(&seen, b.ndim, x) || (most ? value > a : value < a)) {
        memcpy(element(&best, b.ndim, x), &value, 4);
        memcpy(element(&place, b.ndim, x), &n, 8);
      }
      *element(&seen, b.ndim, x) = 1;
      n++;
    } while (next(b.ndim, extent, x));
    run(&b, 2);
    if (memcmp(to.memory, best.memory, to.bytes) || memcmp(at.memory, place.memory, at.bytes))
      FAIL("round %d: %d dimensions, kept %x", round, b.ndim, kept);
    lgt_body_free(b.body);
    free(p.memory), free(to.memory), free(at.memory), free(best.memory), free(place.memory),
        free(seen.memory);
  }
}

/* ---- what goes before each block --------------------------------------------------------------------------- */

typedef struct squares {
  lgt_prelude prelude;
  int64_t block[LGT_BLOCK], seen, limit;
} squares;

/* The squares of the elements' numbers; fails once `limit` of them were asked for. */
static lgt_status give_squares(lgt_prelude *prelude, lgt_base *base, int64_t lo, int64_t hi) {
  squares *s = (squares *)prelude;
  if (hi <= lo || hi - lo > LGT_BLOCK) return lgt_err(LGT_BAD_ARGUMENT, "%d elements", (int)(hi - lo));
  if ((s->seen += hi - lo) > s->limit) return lgt_err(LGT_TASK_FAILED, "too many");
  for (int64_t i = lo; i < hi; i++) s->block[i - lo] = i * i;
  base[0].address = (char *)s->block;
  return LGT_OK;
}

TEST(a_prelude_makes_what_a_block_reads) {
  static const int64_t sizes[] = {1, 5, LGT_BLOCK, LGT_BLOCK + 1, 3 * LGT_BLOCK - 7, 300000};
  for (int k = 0; k < 12; k++) {
    int64_t n = sizes[k / 2], *out = calloc((size_t)n, 8), sum = 100;
    bool one = n == 1, reduces = k % 2;
    lgt_body *body = lgt_build_new();
    int v = lgt_build_load(body, LGT_INT64, 0);
    lgt_build_store(body, 1, v);
    if (reduces) lgt_build_reduce(body, 2, LGT_REDOP_SUM, v, false);
    lgt_access access[] = {{LGT_ACCESS_LOAD, LGT_INT64, one ? LGT_STRIDE_ZERO : LGT_STRIDE_UNIT, 0},
                           {LGT_ACCESS_STORE, LGT_INT64, one ? LGT_STRIDE_ZERO : LGT_STRIDE_UNIT, 0},
                           {LGT_ACCESS_REDUCE, LGT_INT64, LGT_STRIDE_ZERO, 0}};
    lgt_base base[] = {{NULL}, {(char *)out}, {(char *)&sum}};
    int64_t stride[3 * LGT_MAX_DIM] = {[0] = 8, [LGT_MAX_DIM] = 8};
    lgt_loop loop = loop_of(body, access, reduces ? 3 : 2);
    lgt_nest_shape shape = {.ndim = !one, .extent = {n}, .stride = stride};
    lgt_nest_shape_finish(&loop, &shape, 2, true, 1 << 30);
    lgt_nest nest = {&loop, &shape, base, NULL, NULL};
    squares s = {.prelude = {give_squares}, .limit = n};
    CHECK(!lgt_nest_begin(&nest));
    for (int c = 0; c < shape.nchunk; c++) CHECK(!lgt_nest_run(&nest, NULL, c, &s.prelude));
    lgt_nest_end(&nest);
    CHECK_EQ(s.seen, n);
    for (int64_t i = 0; i < n; i++) CHECK_EQ(out[i], i * i);
    if (reduces) CHECK_EQ(sum, 100 + (n - 1) * n * (2 * n - 1) / 6);
    CHECK(lgt_nest_run(&nest, NULL, 0, &s.prelude) == LGT_TASK_FAILED);
    lgt_body_free(body);
    free(out);
  }
}

/* ---- the order of floats: the rules of loop.h, word by word --------------------------------------------- */

typedef struct order {
  const bench *b;
  const operand *p;
  unsigned kept;
} order;

/* 16 accumulators become one. */
static double tree(double *acc) {
  for (int n = 8; n >= 1; n /= 2)
    for (int i = 0; i < n; i++) acc[i] += acc[i + n];
  return acc[0];
}

/* One target's share of one chunk, added to t: rows of a slab, slab after slab. */
static double chunk_sum(const order *o, const int64_t *target, int64_t lo, int64_t hi, double t) {
  int n = o->b->ndim;
  int64_t from[LGT_MAX_DIM] = {0}, to[LGT_MAX_DIM], x[LGT_MAX_DIM];
  for (int d = 0; d < n; d++) {
    bool fixed = o->kept & (1u << d);
    from[d] = fixed ? target[d] : d == o->b->shape.split ? lo : 0;
    to[d] = fixed ? target[d] + 1 : d == o->b->shape.split ? hi : o->b->extent[d];
  }
  memcpy(x, from, sizeof x);
  bool inner_kept = n > 0 && o->kept & (1u << (n - 1)), row_kept = n > 1 && o->kept & (1u << (n - 2));
  for (;;) { /* over slabs */
    double acc[LGT_LANES] = {0};
    int64_t rows = n > 1 ? to[n - 2] - from[n - 2] : 1, cols = n > 0 ? to[n - 1] - from[n - 1] : 1;
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t c = 0; c < cols; c++) {
        double v;
        if (n > 1) x[n - 2] = from[n - 2] + r;
        if (n > 0) x[n - 1] = from[n - 1] + c;
        memcpy(&v, element(o->p, n, x), 8);
        if (inner_kept) t += v; /* rows are added one after another */
        else acc[c % LGT_LANES] += v;
        if (n == 1 && !inner_kept && c % LGT_BLOCK == LGT_BLOCK - 1) { /* so does each block of a line */
          t += tree(acc);
          memset(acc, 0, sizeof acc);
        }
      }
      if (!inner_kept && row_kept) { /* each row ends with the tree */
        t += tree(acc);
        memset(acc, 0, sizeof acc);
      }
    }
    if (!inner_kept && !row_kept) t += tree(acc);
    int d = n - 3;
    for (; d >= 0; d--) {
      if (++x[d] < to[d]) break;
      x[d] = from[d];
    }
    if (d < 0) return t;
  }
}

static double expected_sum(const order *o, const int64_t *target, double former, bool fresh) {
  const lgt_nest_shape *s = &o->b->shape;
  int64_t extent = o->b->ndim ? o->b->extent[s->split] : 1;
  double p[64];
  int n = 0;
  bool apart = s->nchunk > 1 && !(o->kept & (1u << s->split)); /* several chunks for one target */
  if (!apart) return chunk_sum(o, target, 0, extent, fresh ? 0 : former);
  for (int64_t lo = 0; lo < extent; lo += s->grain)
    p[n++] = chunk_sum(o, target, lo, lo + s->grain < extent ? lo + s->grain : extent, 0);
  while (n > 1) { /* pairwise in order of the chunks */
    int half = 0;
    for (int i = 0; i < n; i += 2) p[half++] = i + 1 < n ? p[i] + p[i + 1] : p[i];
    n = half;
  }
  return fresh ? p[0] : former + p[0];
}

TEST(floats_are_added_in_the_order_that_is_promised) {
  int cut = 0;
  for (int round = 0; round < 250; round++) {
    int64_t extent[LGT_MAX_DIM], x[LGT_MAX_DIM] = {0};
    bench b = {.extent = extent};
    random_extents(&b.ndim, extent, round % 8 ? 3000 : 300000);
    unsigned kept = (unsigned)random_below(1 << b.ndim) & (unsigned)random_below(1 << b.ndim);
    unsigned still = ~kept & ((1u << b.ndim) - 1);
    bool fresh = random_below(2);
    if (!size_of(b.ndim, extent)) continue;
    b.body = lgt_build_new();
    operand p = operand_of(b.ndim, extent, 8, 0), to = operand_of(b.ndim, extent, 8, still);
    randomise(&p), randomise(&to);
    operand former = copy_of(&to), other = copy_of(&p);
    lgt_build_reduce(b.body, 1, LGT_REDOP_SUM, lgt_build_load(b.body, LGT_FLOAT64, 0), fresh);
    bind(&b, LGT_ACCESS_LOAD, LGT_FLOAT64, &p);
    bind(&b, LGT_ACCESS_REDUCE, LGT_FLOAT64, &to);
    run(&b, 1);
    cut += b.shape.nchunk > 1;
    order o = {&b, &p, kept};
    int64_t one[LGT_MAX_DIM];
    for (int d = 0; d < b.ndim; d++) one[d] = kept & (1u << d) ? extent[d] : 1;
    do {
      double got, before, want;
      memcpy(&got, element(&to, b.ndim, x), 8);
      memcpy(&before, element(&former, b.ndim, x), 8);
      want = expected_sum(&o, x, before, fresh);
      if (memcmp(&got, &want, 8) && !(got == 0 && want == 0))
        FAIL("round %d: %.17g, not %.17g; %d dimensions, kept %x, %d chunks", round, got, want, b.ndim, kept,
             b.shape.nchunk);
    } while (next(b.ndim, one, x));
    /* Neither workers nor the order of the chunks nor what else the loop does changes a bit. */
    operand again = copy_of(&former);
    lgt_build_store(b.body, 2, 0);
    b.base[1].address = again.first;
    bind(&b, LGT_ACCESS_STORE, LGT_FLOAT64, &other);
    run(&b, 1 + random_below(16));
    CHECK(!memcmp(again.memory, to.memory, to.bytes));
    lgt_body_free(b.body);
    free(p.memory), free(to.memory), free(former.memory), free(other.memory), free(again.memory);
  }
  CHECK(cut > 5);
}

/* ---- the rest ------------------------------------------------------------------------------------------------ */

TEST(a_reduction_may_run_out_of_memory) {
  int64_t extent[] = {100000};
  bench b = {.body = lgt_build_new(), .extent = extent, .ndim = 1};
  operand p = operand_of(1, extent, 8, 0), to = operand_of(1, extent, 8, 1);
  randomise(&p), randomise(&to);
  lgt_build_reduce(b.body, 1, LGT_REDOP_SUM, lgt_build_load(b.body, LGT_FLOAT64, 0), true);
  bind(&b, LGT_ACCESS_LOAD, LGT_FLOAT64, &p);
  bind(&b, LGT_ACCESS_REDUCE, LGT_FLOAT64, &to);
  run(&b, 1);
  CHECK(b.shape.partial);
  lgt_nest nest = {&b.loop, &b.shape, b.base, b.param, NULL};
  lgt_mem_fail_at(1);
  lgt_status status = lgt_nest_begin(&nest);
  lgt_mem_fail_at(0);
  CHECK_EQ(status, LGT_NO_MEMORY);
  CHECK_HAS(lgt_message(), "partial results");
  lgt_nest_end(&nest);
  lgt_body_free(b.body);
  free(p.memory), free(to.memory);
}

static lgt_loop *small_loop(int opcode, double constant) {
  lgt_loop *loop = lgt_mem_zalloc(sizeof *loop);
  loop->naccess = 2, loop->ninst = 4, loop->nconst = 1;
  loop->access = lgt_mem_zalloc(2 * sizeof *loop->access);
  loop->access[0] = (lgt_access){LGT_ACCESS_LOAD, LGT_FLOAT64, LGT_STRIDE_UNIT, 0};
  loop->access[1] = (lgt_access){LGT_ACCESS_STORE, LGT_FLOAT64, LGT_STRIDE_UNIT, 0};
  loop->inst = lgt_mem_zalloc(4 * sizeof *loop->inst);
  loop->inst[0] = (lgt_inst){LGT_OP_LOAD, LGT_FLOAT64, 0, 0, 0, LGT_NO_VALUE, LGT_NO_VALUE};
  loop->inst[1] = (lgt_inst){LGT_OP_CONST, LGT_FLOAT64, 0, 0, 0, LGT_NO_VALUE, LGT_NO_VALUE};
  loop->inst[2] = (lgt_inst){(uint8_t)opcode, LGT_FLOAT64, 0, 0, 0, 1, LGT_NO_VALUE};
  loop->inst[3] = (lgt_inst){LGT_OP_STORE, LGT_FLOAT64, 0, 0, 2, 1, LGT_NO_VALUE};
  loop->constant = lgt_mem_zalloc(sizeof *loop->constant);
  loop->constant[0].f = constant;
  lgt_loop_seal(loop);
  return loop;
}

TEST(loops_are_equal_by_their_bytes) {
  int64_t live = lgt_mem_live();
  lgt_loop *a = small_loop(LGT_OP_ADD, 1), *b = small_loop(LGT_OP_ADD, 1), *c = small_loop(LGT_OP_MUL, 1),
           *d = small_loop(LGT_OP_ADD, 2), *e = small_loop(LGT_OP_ADD, 1);
  e->access[1].inner = LGT_STRIDE_ANY;
  lgt_loop_seal(e);
  CHECK(lgt_loop_equal(a, b));
  CHECK(!lgt_loop_equal(a, c) && !lgt_loop_equal(a, d) && !lgt_loop_equal(a, e));
  lgt_loop *all[] = {a, b, c, d, e};
  for (int i = 0; i < 5; i++) lgt_loop_free(all[i]);
  lgt_loop_free(NULL);
  CHECK_EQ(lgt_mem_live(), live);
}

TEST(an_operator_folds_and_fills_arrays) {
  float a[40], b[40];
  for (int i = 0; i < 40; i++) a[i] = (float)i, b[i] = (float)(20 - i);
  lgt_redop_fold(LGT_REDOP_MAX, LGT_FLOAT32, a, NULL, b, NULL, 39);
  for (int i = 0; i < 40; i++) CHECK(a[i] == (float)(i == 39 || i > 20 - i ? i : 20 - i));
  lgt_redop_fill(LGT_REDOP_MIN, LGT_FLOAT32, a, 39);
  CHECK(isinf(a[0]) && a[38] > 0 && a[39] == 39);
  int16_t v[3] = {5, 5, 5}, w[3] = {4, 5, 6};
  int64_t at[3] = {9, 9, 9}, from[3] = {1, 2, 3};
  lgt_redop_fold(LGT_REDOP_ARGMIN, LGT_INT16, v, at, w, from, 3);
  CHECK(v[0] == 4 && v[1] == 5 && v[2] == 5 && at[0] == 1 && at[1] == 2 && at[2] == 9);
}

int main(void) {
  RUN(a_nest_is_a_plain_loop);
  RUN(a_nest_is_cut_for_its_workers);
  RUN(a_prelude_makes_what_a_block_reads);
  RUN(integers_reduce_as_in_a_plain_loop);
  RUN(the_first_of_equal_places_wins);
  RUN(floats_are_added_in_the_order_that_is_promised);
  RUN(a_reduction_may_run_out_of_memory);
  RUN(loops_are_equal_by_their_bytes);
  RUN(an_operator_folds_and_fills_arrays);
  return check_done();
}
