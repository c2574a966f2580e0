/* emit_reduce.c - reductions: 16 accumulators, and the tree that folds them.
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
    for (int i = 0; i < e->loop->ninst; i++) {
      const lgt_inst *in = &e->loop->inst[i];
      if (in->op != LGT_OP_REDUCE && in->op != LGT_OP_REDUCE_ARG) continue;
      const lgt_access *access = &e->loop->access[in->b];
      if (!along_columns(access) || (access->row == LGT_STRIDE_ZERO) != (form == 0)) continue;
      for (int part = 0; part < (in->op == LGT_OP_REDUCE_ARG ? 2 : 1); part++)
        e->carry[e->ncarry++] =
            (carried){-1, part == 0 ? i : -1, in->b + part, part == 0 ? lgt_inst_redop(in) : -1};
    }
    if (form == 0) nlanes = e->ncarry;
  }
  return nlanes;
}

static val lanes_address(emitter *e, int access) {
  val bases = field(e, e->slab, offsetof(lgt_slab, base), "!llvm.ptr");
  return field(e, bases, (int64_t)(access * sizeof(lgt_base)), "!llvm.ptr");
}

void load_lanes(emitter *e, int nlanes) {
  for (int k = 0; k < nlanes; k++) {
    int access = e->carry[k].access, dtype = e->loop->access[access].dtype;
    elem el = mem_elem(dtype);
    val lanes = def(e, "llvm.load % {alignment = # : i64} : !llvm.ptr -> $", lanes_address(e, access),
                    (int64_t)elem_size(el), lanes_type(e, el));
    e->carry[k].value = from_memory(e, dtype, lanes);
  }
}

void store_lanes(emitter *e, int nlanes) {
  for (int k = 0; k < nlanes; k++) {
    int access = e->carry[k].access, dtype = e->loop->access[access].dtype;
    elem el = mem_elem(dtype);
    write_vector(e, lanes_address(e, access), to_memory(e, dtype, e->carry[k].value), el, elem_size(el), "");
  }
}

void begin_row_form(emitter *e, int nlanes) {
  for (int k = nlanes; k < e->ncarry; k++) {
    int dtype = e->loop->access[e->carry[k].access].dtype;
    lgt_scalar identity = {.i = INT64_MAX}; /* of a position */
    if (e->carry[k].redop >= 0) identity = lgt_redop_identity(e->carry[k].redop, dtype);
    e->carry[k].value = splat_constant(e, dtype, identity);
  }
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

/* Fold 16 accumulators to one and that one into the target. */
void end_row_form(emitter *e, int nlanes) {
  for (int k = nlanes; k < e->ncarry; k++) {
    int redop = e->carry[k].redop, access = e->carry[k].access, dtype = e->loop->access[access].dtype;
    if (redop < 0) continue; /* a position, done with its value */
    bool pair = redop >= LGT_REDOP_ARGMIN;
    accumulator a = accumulator_of(e, k), other = {-1, -1}, target = {-1, -1};
    for (int half = LGT_LANES / 2; half > 0; half /= 2) {
      other.value = shuffle_lanes(e, reg_elem(dtype), a.value, half, half);
      if (pair) other.at = shuffle_lanes(e, I64, a.at, half, half);
      a = combine(e, redop, dtype, a, other);
    }
    target.value = read_scalar(e, dtype, e->access[access].base);
    if (pair) target.at = read_scalar(e, LGT_INT64, e->access[access + 1].base);
    target = combine(e, redop, dtype, target, a);
    write_first(e, access, target.value);
    if (pair) write_first(e, access + 1, target.at);
  }
}

/* One iteration's values into the accumulators; lanes out of use keep what they have. */
void accumulate(emitter *e, bool masked) {
  for (int k = 0; k < e->ncarry; k++) {
    if (e->carry[k].redop < 0) continue;
    const lgt_inst *in = &e->loop->inst[e->carry[k].inst];
    accumulator old = accumulator_of(e, k), value = {e->value[in->a], -1};
    if (in->op == LGT_OP_REDUCE_ARG) value.at = e->value[in->c];
    accumulator sum = combine(e, e->carry[k].redop, in->dtype, old, value);
    if (masked) {
      sum.value = select_lanes(e, reg_elem(in->dtype), e->mask, sum.value, old.value);
      if (in->op == LGT_OP_REDUCE_ARG) sum.at = select_lanes(e, I64, e->mask, sum.at, old.at);
    }
    set_accumulator(e, k, sum);
  }
}
