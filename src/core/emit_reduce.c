/* emit_reduce.c - reductions: 16 accumulators, the tree that folds them, and targets that are open.
 *
 * The order in which values are combined is loop.h's, whatever the width of vectors: an accumulator is
 * a vector of 16 lanes, which LLVM splits into as many registers as it takes, and the columns' loop
 * takes 16 columns at a time.  The accumulators are the values that blocks carry.
 */
#include "emit.h"

static int op_of_redop(int redop) {
  static const unsigned char op[] = {
      [LGT_REDOP_SUM] = LGT_OP_ADD, [LGT_REDOP_PROD] = LGT_OP_MUL, [LGT_REDOP_MIN] = LGT_OP_MIN,
      [LGT_REDOP_MAX] = LGT_OP_MAX, [LGT_REDOP_AND] = LGT_OP_AND,  [LGT_REDOP_OR] = LGT_OP_OR,
      [LGT_REDOP_XOR] = LGT_OP_XOR};
  return op[redop];
}

accumulator combine(emitter *e, int redop, int dtype, accumulator a, accumulator b) {
  if (redop >= LGT_REDOP_ARGMIN) emit_better(e, redop, dtype, &a.value, &a.at, b.value, b.at);
  else a.value = emit_binary(e, op_of_redop(redop), dtype, a.value, b.value);
  return a;
}

static accumulator accumulator_of(const emitter *e, int k) {
  bool pair = e->carry[k].redop >= LGT_REDOP_ARGMIN;
  return (accumulator){e->carry[k].value, pair ? e->carry[k + 1].value : -1};
}

static void set_accumulator(emitter *e, int k, accumulator a) {
  e->carry[k].value = a.value;
  if (e->carry[k].redop >= LGT_REDOP_ARGMIN) e->carry[k + 1].value = a.at;
}

/* The carried values: those of the lanes form first, since they alone go around the rows.  Returns how
 * many these are. */
int collect_carried(emitter *e) {
  int nlanes = 0;
  e->ncarry = 0;
  for (int form = 0; form < 2; form++) {
    for (int i = 0, number = 0; i < e->loop->ninst; i++) {
      const lgt_inst *in = &e->loop->inst[i];
      if (in->op != LGT_OP_REDUCE && in->op != LGT_OP_REDUCE_ARG) continue;
      const lgt_access *access = &e->loop->access[in->b];
      e->access[in->b].reduction = number++;
      if (!along_columns(access) || (access->row == LGT_STRIDE_ZERO) != (form == 0)) continue;
      for (int part = 0; part < (in->op == LGT_OP_REDUCE_ARG ? 2 : 1); part++)
        e->carry[e->ncarry++] =
            (carried){-1, part == 0 ? i : -1, in->b + part, part == 0 ? lgt_inst_redop(in) : -1};
    }
    if (form == 0) nlanes = e->ncarry;
  }
  return nlanes;
}

void collect_targets(emitter *e) {
  e->ncarry = 0;
  for (int i = 0, number = 0; i < e->loop->ninst; i++) {
    const lgt_inst *in = &e->loop->inst[i];
    if (in->op != LGT_OP_REDUCE && in->op != LGT_OP_REDUCE_ARG) continue;
    e->access[in->b].reduction = number++;
    e->carry[e->ncarry++] = (carried){-1, i, in->b, lgt_inst_redop(in)};
    if (in->op == LGT_OP_REDUCE_ARG) e->carry[e->ncarry++] = (carried){-1, -1, in->b + 1, -1};
  }
}

void begin_accumulators(emitter *e, int from, int to) {
  for (int k = from; k < to; k++) {
    int dtype = e->loop->access[e->carry[k].access].dtype;
    lgt_scalar identity = {.i = INT64_MAX}; /* of a position */
    if (e->carry[k].redop >= 0) identity = lgt_redop_identity(e->carry[k].redop, dtype);
    e->carry[k].value = splat_constant(e, dtype, identity);
  }
}

val is_open(emitter *e, int access) {
  val bit = int_op(e, "andi", e->open, int_constant(e, INT64_C(1) << e->access[access].reduction));
  return def(e, "arith.cmpi ne, %, % : i64", bit, int_constant(e, 0));
}

static val select_vector(emitter *e, elem el, val condition, val yes, val no) {
  return def(e, "arith.select %, %, % : $", condition, yes, no, lanes_type(e, el));
}

accumulator contents(emitter *e, int redop, int dtype, val open, accumulator target) {
  val identity = splat_constant(e, dtype, lgt_redop_identity(redop, dtype));
  target.value = select_vector(e, reg_elem(dtype), open, identity, target.value);
  if (redop >= LGT_REDOP_ARGMIN)
    target.at = select_vector(e, I64, open, splat_int(e, I64, INT64_MAX), target.at);
  return target;
}

static void write_first(emitter *e, int access, val vector) {
  int dtype = e->loop->access[access].dtype;
  elem el = mem_elem(dtype);
  val zero = int_constant(e, 0);
  val element =
      def(e, "llvm.extractelement %[% : i64] : $", to_memory(e, dtype, vector), zero, lanes_type(e, el));
  put(e, "llvm.store %, % {alignment = # : i64} : $, !llvm.ptr\n", element, e->access[access].base,
      (int64_t)elem_size(el), scalar_type(el));
}

/* The tree: lane i takes in what lane i + 8 has, then 4, 2, 1 lanes on.  Counted around, so that where order does not
 * matter all lanes end up with the same. */
static accumulator fold_lanes(emitter *e, int redop, int dtype, accumulator a) {
  for (int half = LGT_LANES / 2; half > 0; half /= 2) {
    accumulator other = {shuffle_lanes(e, reg_elem(dtype), a.value, half, LGT_LANES), -1};
    if (redop >= LGT_REDOP_ARGMIN) other.at = shuffle_lanes(e, I64, a.at, half, LGT_LANES);
    a = combine(e, redop, dtype, a, other);
  }
  return a;
}

static accumulator read_target(emitter *e, int redop, int dtype, int access) {
  accumulator target = {read_scalar(e, dtype, e->access[access].base), -1};
  if (redop >= LGT_REDOP_ARGMIN) target.at = read_scalar(e, LGT_INT64, e->access[access + 1].base);
  return contents(e, redop, dtype, is_open(e, access), target);
}

/* Positions of the best: all lanes begin with what the target has, so that hardly any finds something better. */
void begin_with_targets(emitter *e, int to) {
  for (int k = 0; k < to; k++) {
    int redop = e->carry[k].redop, access = e->carry[k].access;
    if (redop < LGT_REDOP_ARGMIN) continue;
    set_accumulator(e, k, read_target(e, redop, e->loop->access[access].dtype, access));
  }
}

void end_accumulators(emitter *e, int from, int to) {
  for (int k = from; k < to; k++) {
    int redop = e->carry[k].redop, access = e->carry[k].access, dtype = e->loop->access[access].dtype;
    if (redop < 0) continue; /* a position, done with its value */
    bool pair = redop >= LGT_REDOP_ARGMIN;
    accumulator a = fold_lanes(e, redop, dtype, accumulator_of(e, k));
    accumulator target = read_target(e, redop, dtype, access);
    target = combine(e, redop, dtype, target, a);
    write_first(e, access, target.value);
    if (pair) write_first(e, access + 1, target.at);
  }
}

static val any_lane(emitter *e, val lanes) {
  return def(e, "\"llvm.intr.vector.reduce.or\"(%) : ($) -> i1", lanes, lanes_type(e, I1));
}

/* On to a block if a condition holds, else to another one with the carried values. */
static void begin_block_if(emitter *e, val condition, int after) {
  int yes = e->next_block++;
  put(e, "cf.cond_br %, ^#, ^#", condition, (int64_t)yes, (int64_t)after);
  put_arguments(e, NULL, 0, e->ncarry);
  put(e, "\n");
  begin_block(e, yes, NULL, 0, 0);
}

/* The lanes that may be better than what is known.  That none is soon is the rule: then it goes on in block `after`. */
static val skip_worse(emitter *e, int k, const lgt_inst *in, bool masked, int after) {
  val good = emit_as_good(e, e->carry[k].redop, in->dtype, e->value[in->a], e->carry[k].value);
  if (masked) good = def(e, "arith.andi %, % : $", good, e->mask, lanes_type(e, I1));
  begin_block_if(e, any_lane(e, good), after);
  return good;
}

/* What a lane has found all should know, lest each finds something better by itself; `old` is what they had.  (Where all
 * lanes found something, as in an ascending row, that would be of no use.) */
static void spread_best(emitter *e, int k, const lgt_inst *in, val good, val old, int after) {
  int op = e->carry[k].redop == LGT_REDOP_ARGMIN ? LGT_OP_LT : LGT_OP_GT;
  val better = any_lane(e, emit_binary(e, op, in->dtype, e->value[in->a], old));
  val bad = def(e, "arith.xori %, % : $", good, splat_int(e, I1, 1), lanes_type(e, I1));
  begin_block_if(e, bit_and(e, better, any_lane(e, bad)), after);
  set_accumulator(e, k, fold_lanes(e, e->carry[k].redop, in->dtype, accumulator_of(e, k)));
}

/* One iteration's values into the accumulators; lanes out of use keep what they have. */
void accumulate(emitter *e, bool masked) {
  for (int k = 0; k < e->ncarry; k++) {
    if (e->carry[k].redop < 0) continue;
    const lgt_inst *in = &e->loop->inst[e->carry[k].inst];
    bool pair = in->op == LGT_OP_REDUCE_ARG;
    int after = pair ? e->next_block++ : -1;
    val good = pair ? skip_worse(e, k, in, masked, after) : -1;
    accumulator old = accumulator_of(e, k), value = {e->value[in->a], pair ? e->value[in->c] : -1};
    accumulator sum = combine(e, e->carry[k].redop, in->dtype, old, value);
    if (masked) {
      sum.value = select_lanes(e, reg_elem(in->dtype), e->mask, sum.value, old.value);
      if (pair) sum.at = select_lanes(e, I64, e->mask, sum.at, old.at);
    }
    set_accumulator(e, k, sum);
    if (!pair) continue;
    if (!e->narrow) spread_best(e, k, in, good, old.value, after);
    branch(e, after, NULL, 0, e->ncarry);
    begin_block(e, after, NULL, 0, e->ncarry);
  }
}

/* ---- several iterations at once ------------------------------------------------------------------------ */

bool may_join(const emitter *e) {
  bool any = false;
  for (int i = 0; i < e->loop->ninst; i++) {
    const lgt_inst *in = &e->loop->inst[i];
    if (in->op == LGT_OP_STORE || in->op == LGT_OP_REDUCE_ARG) return false;
    if (in->op != LGT_OP_REDUCE) continue;
    int redop = lgt_inst_redop(in);
    if (redop == LGT_REDOP_SUM || redop == LGT_REDOP_PROD || !along_columns(&e->loop->access[in->b]))
      return false;
    any = true;
  }
  return any;
}

void keep_values(emitter *e, int i) {
  for (int k = 0; k < e->ncarry; k++) e->kept[i][k] = e->value[e->loop->inst[e->carry[k].inst].a];
}

void accumulate_kept(emitter *e) {
  for (int k = 0; k < e->ncarry; k++) {
    int redop = e->carry[k].redop, dtype = e->loop->inst[e->carry[k].inst].dtype;
    for (int step = 1; step < JOINED; step *= 2)
      for (int i = 0; i < JOINED; i += 2 * step) {
        accumulator a = {e->kept[i][k], -1}, b = {e->kept[i + step][k], -1};
        e->kept[i][k] = combine(e, redop, dtype, a, b).value;
      }
    set_accumulator(e, k, combine(e, redop, dtype, accumulator_of(e, k), (accumulator){e->kept[0][k], -1}));
  }
}
