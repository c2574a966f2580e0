/* reproducible.c - launches that reduce floats, in other words.  See reproducible.h.
 *
 * A kind's form for reproducible mode is made from the generator that was registered (`source`, with complex
 * types): for each sum the program of its value is copied into the kinds that find its bound and add its parts; what
 * else the generator does goes into one more kind, the rest.  Bounds and parts only read; then comes the rest, which
 * may overwrite what they read; then the totals, whose targets the rest may have read.
 *
 * All but the totals have the launch's iteration space: their reductions' targets are views that are stretched over
 * all of it.
 */
#include "plan/reproducible.h"

#include <stdio.h>
#include <string.h>

#include "plan/excerpt.h"

enum { SIZES = 4, PIECES = 3, PARTS = 2, TEMPORARIES = 1 + PIECES };
static const int size_bits[SIZES] = {12, 20, 28,
                                     36}; /* of the number of elements; the greatest of them are few kinds */

/* float64 near the end of its range is scaled by 2^-200, so that its bound times 2^38 is finite. */
static const double HUGE_BOUND = 0x1p900, SCALE_DOWN = 0x1p-200, SCALE_UP = 0x1p200;

/* One reduction by sum. */
typedef struct sum {
  int inst;          /* in the source */
  int parts, pieces; /* real and imaginary; t1, t2, ... of each */
  int nread;
  uint8_t read[LGT_MAX_ARGS]; /* arguments that its values are computed from */
  int bound[PARTS], total;    /* kinds */
  int cut[PARTS][SIZES];      /* likewise; -1: not made yet */
} sum;

struct lgt_steady {
  int nsum, nrest;
  sum sum[LGT_MAX_ARGS];
  int rest; /* kind; -1: nothing else is done */
  uint8_t rest_arg[LGT_MAX_ARGS];
};

static bool is_inexact(const lgt_inst *in, int redop) {
  return in->op == LGT_OP_REDUCE && lgt_inst_redop(in) == redop && strchr("fc", lgt_dtype_class(in->dtype));
}

lgt_status lgt_reproducible_check(const lgt_kind *kind) {
  if (kind->constraints && kind->constraints->varies)
    return lgt_err(
        LGT_UNSUPPORTED,
        "the last bits of what task '%s' computes depend on how arrays are cut, which reproducible "
        "mode rules out",
        kind->name);
  for (int i = 0; kind->source && i < kind->source->ninst; i++)
    if (is_inexact(&kind->source->inst[i], LGT_REDOP_PROD))
      return lgt_err(LGT_UNSUPPORTED,
                     "task '%s' reduces floats by prod, whose last bits depend on how arrays are cut, which "
                     "reproducible mode rules out; np.prod multiplies in a fixed order",
                     kind->name);
  return LGT_OK;
}

/* ---- programs ------------------------------------------------------------------------------------------- */

static int constant(lgt_body *body, int dtype, double x) {
  return lgt_build_const(body, dtype, (lgt_scalar){.c = {x, 0}});
}
static int add(lgt_body *body, int dtype, int a, int b) {
  return lgt_build_op(body, LGT_OP_ADD, dtype, a, b, -1);
}
static int sub(lgt_body *body, int dtype, int a, int b) {
  return lgt_build_op(body, LGT_OP_SUB, dtype, a, b, -1);
}
static int mul(lgt_body *body, int dtype, int a, int b) {
  return lgt_build_op(body, LGT_OP_MUL, dtype, a, b, -1);
}
static int choose(lgt_body *body, int dtype, int condition, int yes, int no) {
  return lgt_build_op(body, LGT_OP_SELECT, dtype, condition, yes, no);
}

/* ---- kinds ------------------------------------------------------------------------------------------------ */

/* Takes over the body, which is NULL or incomplete after an error. */
static int add_kind(lgt_kinds *kinds, const char *what, const lgt_kind *kind, lgt_body *body, int last) {
  char name[160];
  snprintf(name, sizeof name, "%s %s", what, kind->name);
  if (last >= 0) return lgt_kinds_add_generator(kinds, name, body);
  lgt_body_free(body);
  return -1;
}

/* The value of a sum's part as float64, in a new body whose arguments begin with `first` others; -1: error. */
static int begin_value(lgt_excerpt *c, const lgt_kind *kind, sum *s, int part, int first) {
  if (!lgt_excerpt_begin(c, kind->source)) return -1;
  const lgt_inst *in = &kind->source->inst[s->inst];
  c->need[in->a] = true;
  s->nread = lgt_excerpt_args(c, first, s->read);
  if (first + s->nread > LGT_MAX_ARGS)
    return lgt_err(LGT_UNSUPPORTED,
                   "task '%s' reads %d arrays into one sum: in reproducible mode %d are possible; store the "
                   "elements first, and sum them in a task of its own",
                   kind->name, s->nread, LGT_MAX_ARGS - first),
           -1;
  if (!lgt_excerpt_copy(c)) return -1;
  int value = c->value[in->a], dtype = lgt_dtype_part(in->dtype);
  if (s->parts == 2) value = lgt_build_op(c->to, part ? LGT_OP_IMAG : LGT_OP_REAL, dtype, value, -1, -1);
  if (dtype != LGT_FLOAT64) value = lgt_build_op(c->to, LGT_OP_CAST, LGT_FLOAT64, value, -1, -1);
  return value;
}

static int bound_kind(lgt_kinds *kinds, const lgt_kind *kind, sum *s, int part) {
  lgt_excerpt c = {0};
  int value = begin_value(&c, kind, s, part, 1), last = -1;
  if (value >= 0) value = lgt_build_op(c.to, LGT_OP_ABS, LGT_FLOAT64, value, -1, -1);
  if (value >= 0) last = lgt_build_reduce(c.to, 0, LGT_REDOP_MAX, value, true);
  lgt_excerpt_end(&c);
  return add_kind(kinds, "bound of", kind, c.to, last);
}

/* Arguments 0, 1, ... = the sums of the pieces, `pieces` = the bound. */
static int cut_kind(lgt_kinds *kinds, const lgt_kind *kind, sum *s, int part, int bits) {
  enum { F = LGT_FLOAT64 };
  lgt_excerpt c = {0};
  int x = begin_value(&c, kind, s, part, s->pieces + 1), last = -1;
  lgt_body *b = c.to;
  if (x < 0) goto done;
  int bound = lgt_build_load(b, F, s->pieces), zero = constant(b, F, 0), y = x, unit = bound;
  if (s->pieces == PIECES) {
    int huge = lgt_build_op(b, LGT_OP_GT, LGT_BOOL, bound, constant(b, F, HUGE_BOUND), -1);
    int scale = choose(b, F, huge, constant(b, F, SCALE_DOWN), constant(b, F, 1));
    y = mul(b, F, x, scale);
    unit = mul(b, F, bound, scale);
  }
  int finite = lgt_build_op(b, LGT_OP_ISFINITE, LGT_BOOL, bound, -1, -1);
  int special = choose(b, F, lgt_build_op(b, LGT_OP_ISFINITE, LGT_BOOL, x, -1, -1), zero, x);
  double factor = (double)((int64_t)1 << (bits + 2));
  for (int k = 0; k < s->pieces; k++, factor = (double)((int64_t)1 << (bits + 2)) * 0x1p-52) {
    unit = mul(b, F, unit, constant(b, F, factor));
    int piece = sub(b, F, add(b, F, y, unit), unit);
    last = lgt_build_reduce(b, k, LGT_REDOP_SUM, choose(b, F, finite, piece, k ? zero : special), true);
    y = sub(b, F, y, piece);
  }
done:
  lgt_excerpt_end(&c);
  return add_kind(kinds, "parts of", kind, c.to, last);
}

/* What rounding took from x + y (Knuth's two-sum): exact.  The first pieces may cancel, and then the last one counts. */
static int error_of(lgt_body *b, int x, int y, int sum) {
  enum { F = LGT_FLOAT64 };
  int of_y = sub(b, F, sum, x), of_x = sub(b, F, sum, of_y);
  return add(b, F, sub(b, F, x, of_x), sub(b, F, y, of_y));
}

/* Argument 0 = the total of what follows: of each part its pieces, and where there are three of them its bound. */
static int total_kind(lgt_kinds *kinds, const lgt_kind *kind, const sum *s) {
  enum { F = LGT_FLOAT64 };
  const lgt_inst *in = &kind->source->inst[s->inst];
  lgt_body *b = lgt_build_new();
  int part[PARTS] = {-1, -1}, arg = 1, dtype = lgt_dtype_part(in->dtype);
  if (!b) return -1;
  for (int p = 0; p < s->parts; p++) {
    int piece[PIECES] = {-1, -1, -1};
    for (int k = 0; k < s->pieces; k++) piece[k] = lgt_build_load(b, F, arg++);
    part[p] = add(b, F, piece[0], piece[1]);
    if (s->pieces == PIECES) {
      int small = add(b, F, error_of(b, piece[0], piece[1], part[p]), piece[2]);
      int finite = lgt_build_op(b, LGT_OP_ISFINITE, LGT_BOOL, part[p], -1, -1);
      part[p] = choose(b, F, finite, add(b, F, part[p], small), part[p]);
      int huge =
          lgt_build_op(b, LGT_OP_GT, LGT_BOOL, lgt_build_load(b, F, arg++), constant(b, F, HUGE_BOUND), -1);
      part[p] = mul(b, F, part[p], choose(b, F, huge, constant(b, F, SCALE_UP), constant(b, F, 1)));
    }
    if (dtype != F) part[p] = lgt_build_op(b, LGT_OP_CAST, dtype, part[p], -1, -1);
  }
  int total = part[0];
  if (s->parts == 2) total = lgt_build_op(b, LGT_OP_COMPLEX, in->dtype, part[0], part[1], -1);
  if (!(in->aux & LGT_REDUCE_FRESH)) total = add(b, in->dtype, lgt_build_load(b, in->dtype, 0), total);
  return add_kind(kinds, "total of", kind, b, lgt_build_store(b, 0, total));
}

/* All that is no sum of floats. */
static lgt_status rest_kind(lgt_kinds *kinds, const lgt_kind *kind, lgt_steady *steady) {
  lgt_excerpt c;
  bool any = false;
  steady->rest = -1;
  for (int i = 0; i < kind->source->ninst; i++)
    any |= lgt_op_effect(kind->source->inst[i].op) && !is_inexact(&kind->source->inst[i], LGT_REDOP_SUM);
  if (!any) return LGT_OK;
  if (!lgt_excerpt_begin(&c, kind->source)) return LGT_NO_MEMORY;
  c.plus_zero = true;
  for (int i = 0; i < kind->source->ninst; i++)
    c.need[i] = lgt_op_effect(kind->source->inst[i].op) && !is_inexact(&kind->source->inst[i], LGT_REDOP_SUM);
  steady->nrest = lgt_excerpt_args(&c, 0, steady->rest_arg);
  int good = lgt_excerpt_copy(&c) ? 0 : -1;
  lgt_excerpt_end(&c);
  steady->rest = add_kind(kinds, "rest of", kind, c.to, good);
  return steady->rest < 0 ? LGT_NO_MEMORY : LGT_OK;
}

static lgt_status sum_kinds(lgt_kinds *kinds, const lgt_kind *kind, sum *s) {
  const lgt_inst *in = &kind->source->inst[s->inst];
  s->parts = lgt_dtype_is_complex(in->dtype) ? 2 : 1;
  s->pieces = lgt_dtype_part(in->dtype) == LGT_FLOAT64 ? PIECES : PIECES - 1;
  for (int p = 0; p < s->parts; p++) {
    s->bound[p] = bound_kind(kinds, kind, s, p);
    if (s->bound[p] < 0) return LGT_UNSUPPORTED;
    for (int k = 0; k < SIZES; k++) s->cut[p][k] = -1;
  }
  s->total = total_kind(kinds, kind, s);
  return s->total < 0 ? LGT_NO_MEMORY : LGT_OK;
}

static lgt_status make_steady(lgt_kinds *kinds, lgt_kind *kind) {
  lgt_steady *steady = lgt_mem_zalloc(sizeof *steady);
  if (!steady) return lgt_err(LGT_NO_MEMORY, "out of memory for task kinds");
  lgt_status status = rest_kind(kinds, kind, steady);
  for (int i = 0; i < kind->source->ninst && !status; i++) {
    if (!is_inexact(&kind->source->inst[i], LGT_REDOP_SUM)) continue;
    sum *s = &steady->sum[steady->nsum++];
    s->inst = i;
    status = sum_kinds(kinds, kind, s);
  }
  if (status) lgt_mem_free(steady);
  else kind->steady = steady;
  return status;
}

/* ---- calls -------------------------------------------------------------------------------------------------- */

typedef struct rewriting {
  lgt_stores *stores;
  lgt_kinds *kinds;
  const lgt_call *call;
  int ndim;
  int64_t shape[LGT_MAX_DIM];
  lgt_call *out;
  int count;
  uint32_t made[LGT_MAX_ARGS * PARTS * TEMPORARIES]; /* stores */
  int nmade;
} rewriting;

/* What a sum's calls work on. */
typedef struct target {
  int64_t n;            /* elements that go into one sum */
  uint32_t kept;        /* the target, without the dimensions it is reduced over */
  uint32_t dense, view; /* a temporary for each of its elements, and that one over the whole space */
  uint32_t temporary[PARTS][TEMPORARIES]; /* stores: t1, t2, t3, the bound */
} target;

static lgt_call *add_call(rewriting *r, int kind, bool params) {
  lgt_assert(r->count < LGT_REPRODUCIBLE_CALLS);
  lgt_call *call = &r->out[r->count++];
  call->kind = r->kinds->kind[kind];
  call->kind_number = (uint16_t)kind;
  call->nargs = 0;
  call->nparams = params ? r->call->nparams : 0;
  call->line = r->call->line;
  memcpy(call->param, r->call->param, call->nparams * sizeof *call->param);
  return call;
}

static void add_arg(rewriting *r, lgt_call *call, uint32_t store, uint32_t layout) {
  lgt_assert(call->nargs < LGT_MAX_ARGS);
  call->store[call->nargs] = store;
  call->layout[call->nargs++] = layout;
  lgt_store_at(r->stores, store)->refs++;
}

static void add_reads(rewriting *r, lgt_call *call, const sum *s) {
  for (int i = 0; i < s->nread; i++)
    add_arg(r, call, r->call->store[s->read[i]], r->call->layout[s->read[i]]);
}

/* The layout as it is over all of the space. */
static uint32_t over_space(rewriting *r, uint32_t layout) {
  return lgt_stores_broadcast(r->stores, layout, r->ndim, r->shape);
}

static bool reduced_over(const lgt_layout *l, int d) {
  return l->stride[d] == 0 && (l->shape[d] != 0 || l->dim[d] < 0);
}

static lgt_status find_target(rewriting *r, uint32_t layout, const sum *s, target *t) {
  uint32_t whole = over_space(r, layout);
  if (!whole) return LGT_BAD_SHAPE;
  lgt_layout all = *lgt_layout_at(r->stores, whole), kept = all;
  t->n = 1;
  kept.ndim = 0;
  for (int d = 0; d < all.ndim; d++) {
    if (reduced_over(&all, d)) {
      t->n *= all.shape[d];
      continue;
    }
    kept.shape[kept.ndim] = all.shape[d];
    kept.stride[kept.ndim] = all.stride[d];
    kept.dim[kept.ndim++] = all.dim[d];
  }
  for (int d = kept.ndim; d < LGT_MAX_DIM; d++) kept.shape[d] = kept.stride[d] = kept.dim[d] = 0;
  t->kept = lgt_layout_intern(r->stores, &kept);
  t->dense = t->view = lgt_stores_dense(r->stores, LGT_FLOAT64, kept.ndim, kept.shape);
  for (int d = 0; d < all.ndim && t->view; d++)
    if (reduced_over(&all, d)) t->view = lgt_stores_promote(r->stores, t->view, d, all.shape[d]);
  if (!t->kept || !t->view) return LGT_NO_MEMORY;
  for (int p = 0; p < s->parts; p++)
    for (int k = 0; k <= s->pieces; k++) {
      lgt_store *store = lgt_store_new(r->stores, t->dense);
      if (!store) return LGT_NO_MEMORY;
      store->line = r->call->line;
      r->made[r->nmade++] = t->temporary[p][k] = store->id;
    }
  return LGT_OK;
}

static lgt_status add_parts(rewriting *r, sum *s, const target *t) {
  const lgt_kind *kind = r->call->kind;
  int size = 0;
  while (size < SIZES && t->n > (int64_t)1 << size_bits[size]) size++;
  if (size == SIZES)
    return lgt_err(LGT_UNSUPPORTED,
                   "task '%s': in reproducible mode a sum has at most 2^%d elements, not %lld", kind->name,
                   size_bits[SIZES - 1], (long long)t->n);
  for (int p = 0; p < s->parts; p++) {
    if (s->cut[p][size] < 0) s->cut[p][size] = cut_kind(r->kinds, kind, s, p, size_bits[size]);
    if (s->cut[p][size] < 0) return LGT_UNSUPPORTED;
    lgt_call *bound = add_call(r, s->bound[p], true);
    add_arg(r, bound, t->temporary[p][s->pieces], t->view);
    add_reads(r, bound, s);
  }
  for (int p = 0; p < s->parts; p++) {
    lgt_call *parts = add_call(r, s->cut[p][size], true);
    for (int k = 0; k <= s->pieces; k++) add_arg(r, parts, t->temporary[p][k], t->view);
    add_reads(r, parts, s);
  }
  return LGT_OK;
}

static lgt_status add_rest(rewriting *r, const lgt_steady *steady) {
  if (steady->rest < 0) return LGT_OK;
  lgt_call *call = add_call(r, steady->rest, true);
  for (int i = 0; i < steady->nrest; i++) {
    int a = steady->rest_arg[i];
    bool target = r->call->kind->privilege[a] & LGT_PRIV_REDUCE;
    uint32_t layout = target ? over_space(r, r->call->layout[a]) : r->call->layout[a];
    if (!layout) return LGT_NO_MEMORY;
    add_arg(r, call, r->call->store[a], layout);
  }
  return LGT_OK;
}

static void add_total(rewriting *r, const sum *s, const target *t) {
  lgt_call *call = add_call(r, s->total, false);
  add_arg(r, call, r->call->store[r->call->kind->source->inst[s->inst].b], t->kept);
  for (int p = 0; p < s->parts; p++)
    for (int k = 0; k < s->pieces + (s->pieces == PIECES); k++)
      add_arg(r, call, t->temporary[p][k], t->dense);
}

static void undo(rewriting *r) {
  for (int i = 0; i < r->count; i++)
    for (int a = 0; a < r->out[i].nargs; a++) lgt_store_at(r->stores, r->out[i].store[a])->refs--;
  for (int i = 0; i < r->nmade; i++) lgt_store_recycle(r->stores, lgt_store_at(r->stores, r->made[i]));
}

lgt_status lgt_reproducible_calls(lgt_stores *stores, lgt_kinds *kinds, const lgt_call *call,
                                  lgt_call out[LGT_REPRODUCIBLE_CALLS], int *count) {
  lgt_kind *kind = kinds->kind[call->kind_number];
  rewriting r = {.stores = stores, .kinds = kinds, .call = call, .out = out};
  target target[LGT_MAX_ARGS];
  *count = 0;
  lgt_status status = lgt_reproducible_check(kind);
  if (status || !kind->inexact) return status;
  if (!kind->steady) status = make_steady(kinds, kind);
  if (!status) status = lgt_call_space(stores, call, &r.ndim, r.shape);
  if (status) return status;
  lgt_steady *steady = kind->steady;
  for (int i = 0; i < steady->nsum && !status; i++) {
    sum *s = &steady->sum[i];
    status = find_target(&r, call->layout[kind->source->inst[s->inst].b], s, &target[i]);
    if (!status) status = add_parts(&r, s, &target[i]);
  }
  if (!status) status = add_rest(&r, steady);
  for (int i = 0; i < steady->nsum && !status; i++) add_total(&r, &steady->sum[i], &target[i]);
  if (status) undo(&r);
  else *count = r.count;
  return status;
}
