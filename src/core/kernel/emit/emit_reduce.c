/* emit_reduce.c - reductions: 16 accumulators, the tree that folds them, and targets that are open.
 *
 * The order in which values are combined is loop.h's, whatever the width of vectors: an accumulator is
 * a vector of 16 lanes, which LLVM splits into as many registers as it takes, and the columns' loop
 * takes 16 columns at a time.  The accumulators are the values that blocks carry.
 */
#include "kernel/emit/emit.h"

#include <string.h>

enum { SMALLEST_REGISTER = 16 }; /* bytes */

accumulator combine(emitter *e, int redop, int dtype, accumulator a, accumulator b) {
  if (redop >= LGT_REDOP_ARGMIN) emit_better(e, redop, dtype, &a.value, &a.at, b.value, b.at);
  else a.value = emit_binary(e, lgt_redop_op(redop), dtype, a.value, b.value);
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
            (carried){-1, -1, part == 0 ? i : -1, in->b + part, part == 0 ? lgt_inst_redop(in) : -1};
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
    e->carry[e->ncarry++] = (carried){-1, -1, i, in->b, lgt_inst_redop(in)};
    if (in->op == LGT_OP_REDUCE_ARG) e->carry[e->ncarry++] = (carried){-1, -1, -1, in->b + 1, -1};
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

void write_first(emitter *e, int access, val vector) {
  int dtype = e->loop->access[access].dtype;
  elem el = mem_elem(dtype);
  val zero = int_constant(e, 0);
  val element =
      def(e, "llvm.extractelement %[% : i64] : $", to_memory(e, dtype, vector), zero, lanes_type(e, el));
  put(e, "llvm.store %, % {alignment = # : i64} : $, !llvm.ptr\n", element, e->access[access].base,
      (int64_t)elem_size(el), scalar_type(el));
}

/* The tree: lane i takes in what lane i + 8 has, then 4, 2, 1 lanes on.  The first lane alone counts, so each step leaves half
 * of the lanes, down to the smallest register: all that is done to a vector of 16 lanes takes LLVM as long as for each of its
 * registers.  e->lanes is what is left. */
static accumulator fold_first(emitter *e, int redop, int dtype, accumulator a) {
  elem el = reg_elem(dtype);
  bool pair = redop >= LGT_REDOP_ARGMIN;
  for (int half = e->lanes / 2; half > 0; half /= 2) {
    accumulator other = {-1, -1};
    int n = e->lanes;
    if (half * elem_size(el) < SMALLEST_REGISTER) {
      other.value = shuffle_lanes(e, el, a.value, half, n);
      if (pair) other.at = shuffle_lanes(e, I64, a.at, half, n);
    } else {
      other.value = shuffle(e, el, n, half, a.value, a.value, half, n);
      a.value = shuffle(e, el, n, half, a.value, a.value, 0, n);
      if (pair) other.at = shuffle(e, I64, n, half, a.at, a.at, half, n);
      if (pair) a.at = shuffle(e, I64, n, half, a.at, a.at, 0, n);
      e->lanes = half;
    }
    a = combine(e, redop, dtype, a, other);
  }
  return a;
}

/* The same, and its result in all lanes. */
static accumulator fold_lanes(emitter *e, int redop, int dtype, accumulator a) {
  int lanes = e->lanes;
  a = fold_first(e, redop, dtype, a);
  a.value = shuffle(e, reg_elem(dtype), e->lanes, lanes, a.value, a.value, 0, 1);
  if (redop >= LGT_REDOP_ARGMIN) a.at = shuffle(e, I64, e->lanes, lanes, a.at, a.at, 0, 1);
  e->lanes = lanes;
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
    int lanes = e->lanes;
    accumulator a = fold_first(e, redop, dtype, accumulator_of(e, k));
    accumulator target = read_target(e, redop, dtype, access);
    target = combine(e, redop, dtype, target, a);
    write_first(e, access, target.value);
    if (pair) write_first(e, access + 1, target.at);
    e->lanes = lanes;
  }
}

/* What a comparison of elements of this type is kept in: integers of their size, for i1 would have to be packed before it
 * can be joined.  AVX-512 has registers for lanes. */
static elem mask_elem(const emitter *e, elem el) {
  static const elem of_size[] = {[1] = I8, [2] = I16, [4] = I32, [8] = I64};
  return e->isa == LGT_ISA_AVX512 || el == I1 ? I1 : of_size[elem_size(el)];
}

static val mask_of(emitter *e, elem mask, val lanes) {
  if (mask == I1) return lanes;
  return def(e, "arith.extsi % : $ to $", lanes, lanes_type(e, I1), lanes_type(e, mask));
}

static val or_of(emitter *e, int lanes, elem el, val a, val b) {
  return def(e, "arith.ori %, % : $", a, b, vector_type(e, lanes, el));
}

/* Is any lane set?  Whole vectors are joined until one is left. */
static val any_of_mask(emitter *e, elem el, val mask) {
  int n = e->lanes, size = elem_size(el);
  for (; el != I1 && n > 1 && n * size > 16 << (int)e->isa; n /= 2)
    mask = or_of(e, n / 2, el, shuffle(e, el, n, n / 2, mask, mask, 0, n),
                 shuffle(e, el, n, n / 2, mask, mask, n / 2, n));
  if (el != I1) {
    val zero = def(e, "arith.constant dense<0> : $", vector_type(e, n, el));
    mask = def(e, "arith.cmpi slt, %, % : $", mask, zero, vector_type(e, n, el));
  }
  return def(e, "\"llvm.intr.vector.reduce.or\"(%) : ($) -> i1", mask, vector_type(e, n, I1));
}

static val any_lane(emitter *e, elem el, val lanes) {
  el = mask_elem(e, el);
  return any_of_mask(e, el, mask_of(e, el, lanes));
}

/* On to a block if a condition holds, else to another one with the carried values. */
static void continue_if(emitter *e, val condition, int yes, int after) {
  put(e, "cf.cond_br %, ^#, ^#", condition, (int64_t)yes, (int64_t)after);
  put_arguments(e, NULL, 0, e->ncarry);
  put(e, "\n");
}

static void begin_block_if(emitter *e, val condition, int after) {
  int yes = e->next_block++;
  continue_if(e, condition, yes, after);
  begin_block(e, yes, NULL, 0, 0);
}

/* In all lanes the first position of the row that begins, if positions ascend along it: they are an index, plus something
 * that is the same in all of them. */
static val first_position(emitter *e, const lgt_inst *at) {
  val more = -1;
  if (at->op == LGT_OP_ADD && at->dtype == LGT_INT64 && e->level[at->b] < LEVEL_BODY) {
    more = e->value[at->b];
    at = &e->loop->inst[at->a];
  }
  if (at->op != LGT_OP_INDEX || e->loop->access[at->a].inner != LGT_STRIDE_UNIT) return -1;
  val first = splat(e, I64, e->access[at->a].base);
  return more < 0 ? first : def(e, "arith.addi %, % : $", first, more, lanes_type(e, I64));
}

void compare_positions(emitter *e) {
  for (int k = 0; k < e->ncarry; k++) {
    e->carry[k].late = -1;
    if (e->carry[k].redop < LGT_REDOP_ARGMIN) continue;
    val first = first_position(e, &e->loop->inst[e->loop->inst[e->carry[k].inst].c]);
    if (first < 0) continue;
    val late = def(e, "arith.cmpi sge, %, % : $", e->carry[k + 1].value, first, lanes_type(e, I64));
    e->carry[k].late = any_lane(e, I64, late);
  }
}

static val masked_lanes(emitter *e, val lanes, bool masked) {
  return masked ? def(e, "arith.andi %, % : $", lanes, e->mask, lanes_type(e, I1)) : lanes;
}

static val good_lanes(emitter *e, int k, const lgt_inst *in, bool equal, bool masked) {
  val value = e->value[in->a], best = e->carry[k].value;
  return masked_lanes(e, emit_may_be_better(e, e->carry[k].redop, in->dtype, equal, value, best), masked);
}

/* What a lane has found all should know, lest each finds something better by itself; `old` is what they had.  (Where all
 * lanes found something, as in an ascending row, that would be of no use.) */
static void spread_best(emitter *e, int k, const lgt_inst *in, val good, val old, int after) {
  int op = e->carry[k].redop == LGT_REDOP_ARGMIN ? LGT_OP_LT : LGT_OP_GT;
  val better = any_lane(e, I1, emit_binary(e, op, in->dtype, e->value[in->a], old));
  val bad = def(e, "arith.xori %, % : $", good, splat_int(e, I1, 1), lanes_type(e, I1));
  begin_block_if(e, bit_and(e, better, any_lane(e, I1, bad)), after);
  set_accumulator(e, k, fold_lanes(e, e->carry[k].redop, in->dtype, accumulator_of(e, k)));
}

static void take(emitter *e, int k, const lgt_inst *in, val better) {
  emit_position(e, in);
  accumulator a = {e->value[in->a], e->value[in->c]}, old = accumulator_of(e, k);
  a.value = select_lanes(e, reg_elem(in->dtype), better, a.value, old.value);
  a.at = select_lanes(e, I64, better, a.at, old.at);
  set_accumulator(e, k, a);
}

/* Where all that is known comes before this row, only what is better counts: if none of it is NaN, that is quickly told and
 * taken.  Ends in the block `any`, for whatever else may be better. */
static void take_better(emitter *e, int k, const lgt_inst *in, bool masked, int any, int after) {
  elem el = reg_elem(in->dtype);
  int late = e->next_block++, early = e->next_block++, numbers = e->next_block++;
  accumulator old = accumulator_of(e, k);
  branch_if(e, e->carry[k].late, late, NULL, 0, early, 0);
  begin_block(e, late, NULL, 0, 0);
  continue_if(e, any_lane(e, el, good_lanes(e, k, in, true, masked)), any, after);
  begin_block(e, early, NULL, 0, 0);
  val better = good_lanes(e, k, in, false, masked);
  begin_block_if(e, any_lane(e, el, better), after);
  if (lgt_dtype_class(in->dtype) == 'f') {
    val nan = emit_unordered(e, in->dtype, e->value[in->a], old.value);
    branch_if(e, any_lane(e, el, nan), any, NULL, 0, numbers, 0);
    begin_block(e, numbers, NULL, 0, 0);
  }
  take(e, k, in, better);
  branch(e, after, NULL, 0, e->ncarry);
  set_accumulator(e, k, old);
  begin_block(e, any, NULL, 0, 0);
}

/* That something is better soon is the exception. */
static void accumulate_best(emitter *e, int k, const lgt_inst *in, bool masked) {
  int after = e->next_block++, any = e->next_block++, redop = e->carry[k].redop;
  if (e->narrow || e->carry[k].late < 0) {
    continue_if(e, any_lane(e, reg_elem(in->dtype), good_lanes(e, k, in, true, masked)), any, after);
    begin_block(e, any, NULL, 0, 0);
  } else {
    take_better(e, k, in, masked, any, after);
  }
  emit_position(e, in);
  val good = good_lanes(e, k, in, true, masked);
  accumulator old = accumulator_of(e, k), value = {e->value[in->a], e->value[in->c]};
  accumulator best = combine(e, redop, in->dtype, old, value);
  if (masked) {
    best.value = select_lanes(e, reg_elem(in->dtype), e->mask, best.value, old.value);
    best.at = select_lanes(e, I64, e->mask, best.at, old.at);
  }
  set_accumulator(e, k, best);
  if (!e->narrow) spread_best(e, k, in, good, old.value, after);
  branch(e, after, NULL, 0, e->ncarry);
  begin_block(e, after, NULL, 0, e->ncarry);
}

/* One iteration's values into the accumulators; lanes out of use keep what they have. */
void accumulate(emitter *e, bool masked) { accumulate_some(e, 0, e->ncarry, masked); }

void accumulate_some(emitter *e, int from, int to, bool masked) {
  for (int k = from; k < to; k++) {
    if (e->carry[k].redop < 0) continue;
    const lgt_inst *in = &e->loop->inst[e->carry[k].inst];
    if (in->op == LGT_OP_REDUCE_ARG) {
      accumulate_best(e, k, in, masked);
      continue;
    }
    val old = e->carry[k].value, value = e->value[in->a];
    value = combine(e, e->carry[k].redop, in->dtype, (accumulator){old, -1}, (accumulator){value, -1}).value;
    e->carry[k].value = masked ? select_lanes(e, reg_elem(in->dtype), e->mask, value, old) : value;
  }
}

/* ---- several iterations at once ------------------------------------------------------------------------ */

/* Does a sum count booleans that come from bytes?  Then bytes count them first. */
static bool counts(const emitter *e, const lgt_inst *in) {
  const lgt_inst *inst = e->loop->inst, *cast = &inst[in->a];
  if (lgt_inst_redop(in) != LGT_REDOP_SUM || cast->op != LGT_OP_CAST) return false;
  const lgt_inst *from = &inst[cast->a];
  if (from->dtype != LGT_BOOL) return false;
  if (!strchr("iu", lgt_dtype_class(cast->dtype)) || elem_size(reg_elem(cast->dtype)) == 1) return false;
  bool compared = from->op >= LGT_OP_EQ && from->op <= LGT_OP_GE;
  return e->level[cast->a] == LEVEL_BODY &&
         (from->op == LGT_OP_LOAD || (compared && lgt_dtype_size(inst[from->a].dtype) == 1));
}

bool may_join(const emitter *e) {
  bool any = false;
  for (int i = 0; i < e->loop->ninst; i++) {
    const lgt_inst *in = &e->loop->inst[i];
    if (in->op == LGT_OP_STORE || in->op == LGT_OP_REDUCE_ARG) return false;
    if (in->op != LGT_OP_REDUCE) continue;
    int redop = lgt_inst_redop(in);
    bool ordered = (redop == LGT_REDOP_SUM || redop == LGT_REDOP_PROD) && !counts(e, in);
    if (ordered || !along_columns(&e->loop->access[in->b])) return false;
    any = true;
  }
  return any;
}

static bool is_float_extreme(const emitter *e, int k) {
  int redop = e->carry[k].redop, dtype = e->loop->inst[e->carry[k].inst].dtype;
  return (redop == LGT_REDOP_MIN || redop == LGT_REDOP_MAX) && lgt_dtype_class(dtype) == 'f';
}

/* Lanes as a value of the accumulator's type: bits that are all set or not. */
static val nan_lanes(emitter *e, elem el, val a, val b) {
  elem bits = el == F64 ? I64 : I32;
  val lanes = def(e, "arith.cmpf uno, %, % : $", a, b, lanes_type(e, el));
  return def(e, "arith.extsi % : $ to $", lanes, lanes_type(e, I1), lanes_type(e, bits));
}

static val as_value(emitter *e, elem el, val bits) {
  elem from = el == F64 ? I64 : I32;
  return def(e, "arith.bitcast % : $ to $", bits, lanes_type(e, from), lanes_type(e, el));
}

static val as_bits(emitter *e, elem el, val value) {
  elem to = el == F64 ? I64 : I32;
  return def(e, "arith.bitcast % : $ to $", value, lanes_type(e, el), lanes_type(e, to));
}

/* Behind the carried values another one for each min and max of floats: where there was NaN so far. */
void begin_nan(emitter *e) {
  for (int n = e->ncarry, k = 0; k < n; k++) {
    if (!is_float_extreme(e, k)) continue;
    val value = e->carry[k].value;
    elem el = reg_elem(e->loop->inst[e->carry[k].inst].dtype);
    val nan = as_value(e, el, nan_lanes(e, el, value, value));
    e->carry[e->ncarry++] = (carried){nan, -1, -1, e->carry[k].access, -1};
  }
}

val any_nan(emitter *e, int from) {
  val any = -1;
  for (int k = from; k < e->ncarry; k++) {
    elem el = reg_elem(e->loop->access[e->carry[k].access].dtype), bits = el == F64 ? I64 : I32;
    val zero = splat_int(e, bits, 0), mask = as_bits(e, el, e->carry[k].value);
    val lanes = def(e, "arith.cmpi ne, %, % : $", mask, zero, lanes_type(e, bits));
    val here = any_lane(e, I1, lanes);
    any = any < 0 ? here : def(e, "arith.ori %, % : i1", any, here);
  }
  return any;
}

void keep_values(emitter *e, int i) {
  for (int k = 0; k < e->ncarry; k++) {
    if (e->carry[k].redop < 0) continue;
    const lgt_inst *in = &e->loop->inst[e->carry[k].inst];
    e->kept[i][k] = e->value[counts(e, in) ? e->loop->inst[in->a].a : in->a];
  }
}

static val join_counts(emitter *e, int k) {
  int dtype = e->loop->inst[e->carry[k].inst].dtype;
  val sum = -1;
  for (int i = 0; i < JOINED; i++) {
    val one = def(e, "arith.extui % : $ to $", e->kept[i][k], lanes_type(e, I1), lanes_type(e, I8));
    sum = i ? def(e, "arith.addi %, % : $", sum, one, lanes_type(e, I8)) : one;
  }
  sum = def(e, "arith.extui % : $ to $", sum, lanes_type(e, I8), lanes_type(e, reg_elem(dtype)));
  return emit_binary(e, LGT_OP_ADD, dtype, e->carry[k].value, sum);
}

/* All that is kept of a value and its accumulator by a tree; `numbers`: none of it is NaN, or nobody asks for the result. */
static val join(emitter *e, int k, bool numbers) {
  int redop = e->carry[k].redop, dtype = e->loop->inst[e->carry[k].inst].dtype, op = lgt_redop_op(redop);
  val kept[JOINED];
  for (int i = 0; i < JOINED; i++) kept[i] = e->kept[i][k];
  for (int step = 1; step < JOINED; step *= 2)
    for (int i = 0; i < JOINED; i += 2 * step)
      kept[i] = numbers ? emit_extreme_of_numbers(e, op, dtype, kept[i], kept[i + step])
                        : emit_binary(e, op, dtype, kept[i], kept[i + step]);
  return numbers ? emit_extreme_of_numbers(e, op, dtype, e->carry[k].value, kept[0])
                 : emit_binary(e, op, dtype, e->carry[k].value, kept[0]);
}

void accumulate_kept(emitter *e) {
  int nan = 0;
  while (nan < e->ncarry && e->carry[nan].redop >= 0) nan++;
  for (int k = 0; k < e->ncarry && e->carry[k].redop >= 0; k++) {
    bool numbers = is_float_extreme(e, k);
    elem el = reg_elem(e->loop->inst[e->carry[k].inst].dtype);
    e->carry[k].value = counts(e, &e->loop->inst[e->carry[k].inst]) ? join_counts(e, k) : join(e, k, numbers);
    if (!numbers) continue;
    val bits = as_bits(e, el, e->carry[nan].value);
    for (int i = 0; i < JOINED; i += 2) /* one comparison tells of two */
      bits = def(e, "arith.ori %, % : $", bits, nan_lanes(e, el, e->kept[i][k], e->kept[i + 1][k]),
                 lanes_type(e, el == F64 ? I64 : I32));
    e->carry[nan++].value = as_value(e, el, bits);
  }
}
