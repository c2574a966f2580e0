/* emit_loop.c - the function around a body: rows, columns, accesses, reductions.
 *
 *   entry       slab's fields; what is the same everywhere; accumulators of the lanes form
 *   row         addresses of this row; what is the same in all columns; accumulators of the row form
 *   iteration   `lanes` columns: all reads, then the body, then all writes
 *   row's end   the tree of the row form
 *   exit        accumulators of the lanes form back to memory
 *
 * An iteration works on full vectors (FULL) or on the first `count` lanes (PART).  Lanes out of use
 * are computed like the others, on ones instead of elements, and dropped when written.  A short body
 * is written twice, for the columns that fill vectors and for the remainder.  A long one is written
 * once, with branches around its reads and writes that tell at run time which it is (EITHER): half
 * the code, half the time to compile it.  The streaming kernel always has the second form: there an
 * iteration may be partial at the beginning too, so that the stores that follow are aligned.
 *
 * Where the CPU has no masked access for an element, lanes in use are read and written one by one.
 *
 * Values that are the same for all columns are computed outside of the columns' loop, those that are
 * the same for all rows outside of the rows' loop, by their level; no pass of LLVM has to find out.
 */
#include "emit.h"

/* ---- analysis --------------------------------------------------------------------------------- */

static bool is_effect(int op) { return op == LGT_OP_STORE || op == LGT_OP_REDUCE || op == LGT_OP_REDUCE_ARG; }

static bool is_leaf(int op) {
  return op == LGT_OP_LOAD || op == LGT_OP_CONST || op == LGT_OP_PARAM || op == LGT_OP_INDEX;
}

/* The operands that are values; their number is returned. */
static int operands_of(const lgt_inst *in, uint16_t operand[3]) {
  if (is_leaf(in->op)) return 0;
  operand[0] = in->a;
  if (in->op == LGT_OP_STORE || in->op == LGT_OP_REDUCE) return 1;
  operand[1] = in->op == LGT_OP_REDUCE_ARG ? in->c : in->b;
  operand[2] = in->c;
  return lgt_op_arity(in->op);
}

static bool along_columns(const lgt_access *access) { return access->inner == LGT_STRIDE_ZERO; }

static int level_of(const emitter *e, const lgt_inst *in) {
  uint16_t operand[3];
  int level = LEVEL_ONCE;
  if (is_effect(in->op)) return LEVEL_BODY;
  if (in->op == LGT_OP_LOAD || in->op == LGT_OP_INDEX)
    return along_columns(&e->loop->access[in->a]) ? LEVEL_ROW : LEVEL_BODY;
  for (int n = operands_of(in, operand), i = 0; i < n; i++)
    if (e->level[operand[i]] > level) level = e->level[operand[i]];
  return level;
}

static void use_access(emitter *e, int access) { e->access[access].used = true; }

static void analyse(emitter *e) {
  const lgt_loop *loop = e->loop;
  uint16_t operand[3];
  for (int i = loop->ninst - 1; i >= 0; i--) {
    const lgt_inst *in = &loop->inst[i];
    if (is_effect(in->op)) e->level[i] = LEVEL_BODY;
    if (e->level[i] == LEVEL_DEAD) continue;
    for (int n = operands_of(in, operand), k = 0; k < n; k++) e->level[operand[k]] = LEVEL_BODY;
    if (in->op == LGT_OP_LOAD || in->op == LGT_OP_INDEX) use_access(e, in->a);
    if (is_effect(in->op)) use_access(e, in->b);
    if (in->op == LGT_OP_REDUCE_ARG) use_access(e, in->b + 1);
  }
  for (int i = 0; i < loop->ninst; i++)
    if (e->level[i] != LEVEL_DEAD) e->level[i] = (uint8_t)level_of(e, &loop->inst[i]);
}

/* ---- small pieces ------------------------------------------------------------------------------- */

static val int_constant(emitter *e, int64_t value) { return def(e, "arith.constant # : i64", value); }
static val int_op(emitter *e, const char *op, val a, val b) { return def(e, "arith.$ %, % : i64", op, a, b); }
static val int_less(emitter *e, val a, val b) { return def(e, "arith.cmpi slt, %, % : i64", a, b); }
static val bit_and(emitter *e, val a, val b) { return def(e, "arith.andi %, % : i1", a, b); }

static val advance(emitter *e, val address, val bytes) {
  return def(e, "llvm.getelementptr %[%] : (!llvm.ptr, i64) -> !llvm.ptr, i8", address, bytes);
}
static val field(emitter *e, val address, int64_t offset, const char *type) {
  val at = def(e, "llvm.getelementptr %[#] : (!llvm.ptr) -> !llvm.ptr, i8", address, offset);
  return def(e, "llvm.load % : !llvm.ptr -> $", at, type);
}
static const char *scalar_type(elem el) {
  static const char *const names[] = {"i1", "i8", "i16", "i32", "i64", "f16", "f32", "f64"};
  return names[el];
}

static val iota(emitter *e, elem el) {
  char lanes[64 * 4 + 8];
  size_t n = 0;
  for (int k = 0; k < e->lanes; k++) n += (size_t)snprintf(lanes + n, sizeof lanes - n, k ? ", %d" : "%d", k);
  return def(e, "arith.constant dense<[$]> : $", lanes, lanes_type(e, el));
}

/* Blocks.  A block has up to two i64 of its own and the first `ncarry` carried values as arguments. */
static const char *carried_type(emitter *e, int k) {
  return lanes_type(e, reg_elem(e->loop->access[e->carry[k].access].dtype));
}

static void put_arguments(emitter *e, const val *own, int nown, int ncarry) {
  if (nown + ncarry == 0) return;
  put(e, "(");
  for (int k = 0; k < nown; k++) put(e, k ? ", %" : "%", own[k]);
  for (int k = 0; k < ncarry; k++) put(e, nown + k ? ", %" : "%", e->carry[k].value);
  put(e, " : ");
  for (int k = 0; k < nown; k++) put(e, k ? ", i64" : "i64");
  for (int k = 0; k < ncarry; k++) put(e, nown + k ? ", $" : "$", carried_type(e, k));
  put(e, ")");
}

static void branch(emitter *e, int block, const val *own, int nown, int ncarry) {
  put(e, "cf.br ^#", (int64_t)block);
  put_arguments(e, own, nown, ncarry);
  put(e, "\n");
}

/* To `yes` with arguments of its own, or to `no` with the carried values alone. */
static void branch_if(emitter *e, val condition, int yes, const val *own, int nown, int no, int ncarry) {
  put(e, "cf.cond_br %, ^#", condition, (int64_t)yes);
  put_arguments(e, own, nown, ncarry);
  put(e, ", ^#", (int64_t)no);
  put_arguments(e, NULL, 0, ncarry);
  put(e, "\n");
}

static void begin_block(emitter *e, int block, val *own, int nown, int ncarry) {
  put(e, "^#", (int64_t)block);
  if (nown + ncarry) put(e, "(");
  for (int k = 0; k < nown; k++) {
    own[k] = e->next++;
    put(e, k ? ", %: i64" : "%: i64", own[k]);
  }
  for (int k = 0; k < ncarry; k++) {
    e->carry[k].value = e->next++;
    put(e, nown + k ? ", %: $" : "%: $", e->carry[k].value, carried_type(e, k));
  }
  put(e, nown + ncarry ? "):\n" : ":\n");
}

/* ---- reading and writing accesses ---------------------------------------------------------------- */

static bool can_mask(const emitter *e, elem el) {
  return e->isa == LGT_ISA_AVX512 || (e->isa == LGT_ISA_AVX2 && elem_size(el) >= 4);
}

static elem access_elem(const emitter *e, int k) { return mem_elem(e->loop->access[k].dtype); }

/* Where this iteration's first element is. */
static val address_of(emitter *e, int k) {
  const emit_access *access = &e->access[k];
  switch (e->loop->access[k].inner) {
    case LGT_STRIDE_ZERO:
      return access->base;
    case LGT_STRIDE_UNIT:
      return def(e, "llvm.getelementptr %[%] : (!llvm.ptr, i64) -> !llvm.ptr, $", access->base, e->column,
                 scalar_type(access_elem(e, k)));
    default:
      return advance(e, access->base, int_op(e, "muli", e->column, access->stride));
  }
}

static val stride_of(emitter *e, int k) {
  if (e->loop->access[k].inner == LGT_STRIDE_ANY) return e->access[k].stride;
  return int_constant(e, elem_size(access_elem(e, k)));
}

/* Lane by lane; lanes out of use repeat the last one in use. */
static val read_lanes(emitter *e, int k, bool part) {
  elem el = access_elem(e, k);
  const char *type = lanes_type(e, el);
  val at = address_of(e, k), stride = stride_of(e, k);
  val vector = def(e, "llvm.mlir.undef : $", type);
  for (int lane = 0; lane < e->lanes; lane++) {
    val element = def(e, "llvm.load % {alignment = # : i64} : !llvm.ptr -> $", at, (int64_t)elem_size(el),
                      scalar_type(el));
    val index = int_constant(e, lane);
    vector = def(e, "llvm.insertelement %, %[% : i64] : $", element, vector, index, type);
    if (lane + 1 == e->lanes) break;
    val after = advance(e, at, stride);
    if (part) {
      val used = int_less(e, int_constant(e, lane + 1), e->count);
      after = def(e, "arith.select %, %, % : !llvm.ptr", used, after, at);
    }
    at = after;
  }
  return vector;
}

static val read_access(emitter *e, int k, bool part) {
  elem el = access_elem(e, k);
  const char *type = lanes_type(e, el);
  if (e->loop->access[k].inner == LGT_STRIDE_ANY || (part && !can_mask(e, el))) return read_lanes(e, k, part);
  int64_t align = elem_size(el);
  val at = address_of(e, k);
  if (!part) return def(e, "llvm.load % {alignment = # : i64} : !llvm.ptr -> $", at, align, type);
  val ones = el >= F16 ? splat_float(e, el, 1) : splat_int(e, el, 1);
  return def(e, "llvm.intr.masked.load %, %, % {alignment = # : i32} : (!llvm.ptr, $, $) -> $", at, e->mask,
             ones, align, lanes_type(e, I1), type, type);
}

/* A loop over the lanes in use, through a buffer. */
static void write_lanes(emitter *e, int k, val vector, val count) {
  elem el = access_elem(e, k);
  const char *type = scalar_type(el);
  int64_t align = elem_size(el);
  val at = address_of(e, k), stride = stride_of(e, k), zero = int_constant(e, 0), lane;
  int loop = e->next_block++, done = e->next_block++;
  put(e, "llvm.store %, % {alignment = 64 : i64} : $, !llvm.ptr\n", vector, scratch(e, 0), lanes_type(e, el));
  branch(e, loop, &zero, 1, 0);
  begin_block(e, loop, &lane, 1, 0);
  val from = def(e, "llvm.getelementptr %[%] : (!llvm.ptr, i64) -> !llvm.ptr, $", scratch(e, 0), lane, type);
  val element = def(e, "llvm.load % {alignment = # : i64} : !llvm.ptr -> $", from, align, type);
  put(e, "llvm.store %, % {alignment = # : i64} : $, !llvm.ptr\n", element,
      advance(e, at, int_op(e, "muli", lane, stride)), align, type);
  val after = int_op(e, "addi", lane, int_constant(e, 1));
  branch_if(e, int_less(e, after, count), loop, &after, 1, done, 0);
  begin_block(e, done, NULL, 0, 0);
}

static void write_vector(emitter *e, val at, val vector, elem el, int64_t align, const char *attribute) {
  put(e, "llvm.store %, % {alignment = # : i64$} : $, !llvm.ptr\n", vector, at, align, attribute,
      lanes_type(e, el));
}

/* Bytes to which a non-temporal store of this element must be aligned: whole vectors, or cache lines. */
static int stream_align(const emitter *e, elem el) {
  int bytes = e->lanes * elem_size(el);
  return bytes > 64 ? 64 : bytes;
}

static void write_full(emitter *e, int k, val vector) {
  elem el = access_elem(e, k);
  val at = address_of(e, k);
  int64_t size = elem_size(el);
  if (e->access[k].nt < 0) {
    write_vector(e, at, vector, el, size, "");
    return;
  }
  int streamed = e->next_block++, ordinary = e->next_block++, done = e->next_block++;
  branch_if(e, e->access[k].nt, streamed, NULL, 0, ordinary, 0);
  begin_block(e, streamed, NULL, 0, 0);
  write_vector(e, at, vector, el, stream_align(e, el), ", nontemporal");
  branch(e, done, NULL, 0, 0);
  begin_block(e, ordinary, NULL, 0, 0);
  write_vector(e, at, vector, el, size, "");
  branch(e, done, NULL, 0, 0);
  begin_block(e, done, NULL, 0, 0);
}

static void write_access(emitter *e, int k, val vector, bool part) {
  elem el = access_elem(e, k);
  val count = part ? e->count : int_constant(e, e->lanes);
  switch (e->loop->access[k].inner) {
    case LGT_STRIDE_ZERO: { /* what comes last stays */
      val last = int_op(e, "subi", count, int_constant(e, 1));
      val element = def(e, "llvm.extractelement %[% : i64] : $", vector, last, lanes_type(e, el));
      put(e, "llvm.store %, % {alignment = # : i64} : $, !llvm.ptr\n", element, address_of(e, k),
          (int64_t)elem_size(el), scalar_type(el));
      return;
    }
    case LGT_STRIDE_ANY:
      write_lanes(e, k, vector, count);
      return;
    default:
      break;
  }
  if (!part) write_full(e, k, vector);
  else if (!can_mask(e, el)) write_lanes(e, k, vector, count);
  else
    put(e, "llvm.intr.masked.store %, %, % {alignment = # : i32} : $, $ into !llvm.ptr\n", vector,
        address_of(e, k), e->mask, (int64_t)elem_size(el), lanes_type(e, el), lanes_type(e, I1));
}

/* ---- instructions ------------------------------------------------------------------------------------ */

static int dtype_of(const emitter *e, int inst) { return e->loop->inst[inst].dtype; }

static val emit_param(emitter *e, const lgt_inst *in) {
  val params = field(e, e->slab, offsetof(lgt_slab, param), "!llvm.ptr");
  bool real = lgt_dtype_is_float(in->dtype);
  elem el = real ? F64 : I64;
  val scalar = field(e, params, (int64_t)(in->a * sizeof(lgt_scalar) + in->aux * 8), scalar_type(el));
  return convert(e, real ? LGT_FLOAT64 : LGT_INT64, in->dtype, splat(e, el, scalar));
}

/* One element, in all lanes. */
static val read_scalar(emitter *e, int dtype, val at) {
  elem el = mem_elem(dtype);
  val element = def(e, "llvm.load % {alignment = # : i64} : !llvm.ptr -> $", at, (int64_t)elem_size(el),
                    scalar_type(el));
  return from_memory(e, dtype, splat(e, el, element));
}

static val emit_load(emitter *e, const lgt_inst *in) {
  const emit_access *access = &e->access[in->a];
  if (along_columns(&e->loop->access[in->a])) return read_scalar(e, in->dtype, access->base);
  return from_memory(e, in->dtype, access->loaded);
}

static val emit_index(emitter *e, const lgt_inst *in) {
  const emit_access *access = &e->access[in->a];
  int inner = e->loop->access[in->a].inner;
  if (inner == LGT_STRIDE_ZERO) return splat(e, I64, access->base);
  val moved = inner == LGT_STRIDE_UNIT ? e->column : int_op(e, "muli", e->column, access->stride);
  return def(e, "arith.addi %, % : $", access->start, splat(e, I64, moved), lanes_type(e, I64));
}

static void emit_inst(emitter *e, int i) {
  const lgt_inst *in = &e->loop->inst[i];
  val *v = e->value;
  switch (in->op) {
    case LGT_OP_CONST:
      v[i] = splat_constant(e, in->dtype, e->loop->constant[in->a]);
      break;
    case LGT_OP_PARAM:
      v[i] = emit_param(e, in);
      break;
    case LGT_OP_LOAD:
      v[i] = emit_load(e, in);
      break;
    case LGT_OP_INDEX:
      v[i] = emit_index(e, in);
      break;
    case LGT_OP_CAST:
      v[i] = convert(e, dtype_of(e, in->a), in->dtype, v[in->a]);
      break;
    case LGT_OP_SELECT:
      v[i] = select_lanes(e, reg_elem(in->dtype), v[in->a], v[in->b], v[in->c]);
      break;
    default:
      v[i] = lgt_op_arity(in->op) == 2 ? emit_binary(e, in->op, dtype_of(e, in->a), v[in->a], v[in->b])
                                       : emit_unary(e, in->op, dtype_of(e, in->a), v[in->a]);
  }
}

static void emit_level(emitter *e, int level) {
  for (int i = 0; i < e->loop->ninst; i++)
    if (e->level[i] == level && !is_effect(e->loop->inst[i].op)) emit_inst(e, i);
}

/* ---- reductions ---------------------------------------------------------------------------------------- */

static int op_of_redop(int redop) {
  static const unsigned char op[] = {
      [LGT_REDOP_SUM] = LGT_OP_ADD, [LGT_REDOP_PROD] = LGT_OP_MUL, [LGT_REDOP_MIN] = LGT_OP_MIN,
      [LGT_REDOP_MAX] = LGT_OP_MAX, [LGT_REDOP_AND] = LGT_OP_AND,  [LGT_REDOP_OR] = LGT_OP_OR,
      [LGT_REDOP_XOR] = LGT_OP_XOR};
  return op[redop];
}

/* An accumulator: a value, and for argmin and argmax its position. */
typedef struct accumulator {
  val value, at;
} accumulator;

static accumulator combine(emitter *e, int redop, int dtype, accumulator a, accumulator b) {
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
static int collect_carried(emitter *e) {
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

static void load_lanes(emitter *e, int nlanes) {
  for (int k = 0; k < nlanes; k++) {
    int access = e->carry[k].access, dtype = e->loop->access[access].dtype;
    elem el = mem_elem(dtype);
    val lanes = def(e, "llvm.load % {alignment = # : i64} : !llvm.ptr -> $", lanes_address(e, access),
                    (int64_t)elem_size(el), lanes_type(e, el));
    e->carry[k].value = from_memory(e, dtype, lanes);
  }
}

static void store_lanes(emitter *e, int nlanes) {
  for (int k = 0; k < nlanes; k++) {
    int access = e->carry[k].access, dtype = e->loop->access[access].dtype;
    elem el = mem_elem(dtype);
    write_vector(e, lanes_address(e, access), to_memory(e, dtype, e->carry[k].value), el, elem_size(el), "");
  }
}

static void begin_row_form(emitter *e, int nlanes) {
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
static void end_row_form(emitter *e, int nlanes) {
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
static void accumulate(emitter *e, bool masked) {
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

/* ---- one iteration -------------------------------------------------------------------------------------- */

static bool is_read(const emitter *e, int k) {
  const lgt_access *access = &e->loop->access[k];
  if (!e->access[k].used || access->inner == LGT_STRIDE_ZERO) return false;
  return access->mode == LGT_ACCESS_LOAD || access->mode == LGT_ACCESS_REDUCE;
}

static void read_all(emitter *e, bool part) {
  for (int k = 0; k < e->loop->naccess; k++)
    if (is_read(e, k)) e->access[k].loaded = read_access(e, k, part);
}

/* The values of read_all from both sides of a branch. */
static void put_loaded(emitter *e, bool define) {
  int n = 0;
  for (int k = 0; k < e->loop->naccess; k++) {
    if (!is_read(e, k)) continue;
    if (define) e->access[k].loaded = e->next++;
    put(e, n++ ? ", %" : "(%", e->access[k].loaded);
    if (define) put(e, ": $", lanes_type(e, access_elem(e, k)));
  }
  if (n && !define) {
    put(e, " : ");
    n = 0;
    for (int k = 0; k < e->loop->naccess; k++)
      if (is_read(e, k)) put(e, n++ ? ", $" : "$", lanes_type(e, access_elem(e, k)));
  }
  if (n) put(e, ")");
}

static void read_either(emitter *e, val full) {
  int yes = e->next_block++, no = e->next_block++, done = e->next_block++;
  branch_if(e, full, yes, NULL, 0, no, 0);
  for (int part = 0; part < 2; part++) {
    begin_block(e, part ? no : yes, NULL, 0, 0);
    read_all(e, part);
    put(e, "cf.br ^#", (int64_t)done);
    put_loaded(e, false);
    put(e, "\n");
  }
  put(e, "^#", (int64_t)done);
  put_loaded(e, true);
  put(e, ":\n");
}

/* What will be written, in the form it has in memory. */
static void prepare_writes(emitter *e) {
  for (int i = 0; i < e->loop->ninst; i++) {
    const lgt_inst *in = &e->loop->inst[i];
    if (!is_effect(in->op)) continue;
    emit_access *access = &e->access[in->b];
    if (in->op == LGT_OP_STORE) {
      access->result = to_memory(e, in->dtype, e->value[in->a]);
    } else if (!along_columns(&e->loop->access[in->b])) {
      bool pair = in->op == LGT_OP_REDUCE_ARG;
      accumulator target = {from_memory(e, in->dtype, access->loaded), pair ? access[1].loaded : -1};
      accumulator value = {e->value[in->a], pair ? e->value[in->c] : -1};
      target = combine(e, lgt_inst_redop(in), in->dtype, target, value);
      access->result = to_memory(e, in->dtype, target.value);
      if (pair) access[1].result = target.at;
    }
  }
}

static void write_all(emitter *e, bool part) {
  for (int i = 0; i < e->loop->ninst; i++) {
    const lgt_inst *in = &e->loop->inst[i];
    if (!is_effect(in->op) || (in->op != LGT_OP_STORE && along_columns(&e->loop->access[in->b]))) continue;
    write_access(e, in->b, e->access[in->b].result, part);
    if (in->op == LGT_OP_REDUCE_ARG) write_access(e, in->b + 1, e->access[in->b + 1].result, part);
  }
}

static void write_either(emitter *e, val full) {
  int yes = e->next_block++, no = e->next_block++, done = e->next_block++;
  branch_if(e, full, yes, NULL, 0, no, 0);
  for (int part = 0; part < 2; part++) {
    begin_block(e, part ? no : yes, NULL, 0, 0);
    write_all(e, part);
    branch(e, done, NULL, 0, 0);
  }
  begin_block(e, done, NULL, 0, 0);
}

static val lanes_in_use(emitter *e, val count) {
  elem el = e->lanes > 16 ? I8 : I32;
  val small = def(e, "arith.trunci % : i64 to $", count, scalar_type(el));
  return def(e, "arith.cmpi ult, %, % : $", iota(e, el), splat(e, el, small), lanes_type(e, el));
}

/* The columns from `column` on, `count` of them unless FULL. */
static void iteration(emitter *e, fill how, val column, val count) {
  val full = -1;
  e->column = column;
  e->count = count;
  if (how != FULL) e->mask = lanes_in_use(e, count);
  if (how == EITHER) {
    full = def(e, "arith.cmpi eq, %, % : i64", count, int_constant(e, e->lanes));
    read_either(e, full);
  } else {
    read_all(e, how == PART);
  }
  emit_level(e, LEVEL_BODY);
  accumulate(e, how != FULL);
  prepare_writes(e);
  if (how == EITHER) write_either(e, full);
  else write_all(e, how == PART);
}

/* ---- rows ------------------------------------------------------------------------------------------------- */

static void begin_access(emitter *e, int k, val bases, val row_strides, val col_strides) {
  const lgt_access *access = &e->loop->access[k];
  emit_access *now = &e->access[k];
  bool index = access->mode == LGT_ACCESS_INDEX;
  val base = field(e, bases, k * 8, index ? "i64" : "!llvm.ptr");
  val moved = int_op(e, "muli", e->row, field(e, row_strides, k * 8, "i64"));
  now->base = index ? int_op(e, "addi", base, moved) : advance(e, base, moved);
  now->nt = -1;
  if (access->inner == LGT_STRIDE_ANY) now->stride = field(e, col_strides, k * 8, "i64");
  if (!index || access->inner == LGT_STRIDE_ZERO) return;
  val steps = iota(e, I64);
  if (access->inner == LGT_STRIDE_ANY)
    steps = def(e, "arith.muli %, % : $", steps, splat(e, I64, now->stride), lanes_type(e, I64));
  now->start = def(e, "arith.addi %, % : $", splat(e, I64, now->base), steps, lanes_type(e, I64));
}

static void begin_row(emitter *e, int nlanes) {
  val bases = field(e, e->slab, offsetof(lgt_slab, base), "!llvm.ptr");
  val row_strides = field(e, e->slab, offsetof(lgt_slab, row_stride), "!llvm.ptr");
  val col_strides = field(e, e->slab, offsetof(lgt_slab, col_stride), "!llvm.ptr");
  for (int k = 0; k < e->loop->naccess; k++) {
    const lgt_access *access = &e->loop->access[k];
    bool lanes_form =
        access->mode == LGT_ACCESS_REDUCE && along_columns(access) && access->row == LGT_STRIDE_ZERO;
    if (e->access[k].used && !lanes_form) begin_access(e, k, bases, row_strides, col_strides);
  }
  emit_level(e, LEVEL_ROW);
  begin_row_form(e, nlanes);
}

static bool is_streamed(const emitter *e, int k) {
  return e->access[k].used && e->loop->access[k].mode == LGT_ACCESS_STORE &&
         e->loop->access[k].inner == LGT_STRIDE_UNIT;
}

/* Elements by which the largest of the streamed accesses is off alignment, and which accesses are aligned
 * once these are done: the others are written as usual. */
static val begin_streams(emitter *e) {
  int largest = -1;
  for (int k = 0; k < e->loop->naccess; k++)
    if (is_streamed(e, k) &&
        (largest < 0 || elem_size(access_elem(e, k)) > elem_size(access_elem(e, largest))))
      largest = k;
  elem el = access_elem(e, largest);
  val zero = int_constant(e, 0);
  val address = def(e, "llvm.ptrtoint % : !llvm.ptr to i64", e->access[largest].base);
  val missing = int_op(e, "andi", int_op(e, "subi", zero, address), int_constant(e, stream_align(e, el) - 1));
  val peel = int_op(e, "divui", missing, int_constant(e, elem_size(el)));
  peel = def(e, "arith.select %, %, % : i64", e->stream, peel, zero);
  for (int k = 0; k < e->loop->naccess; k++) {
    if (!is_streamed(e, k)) continue;
    elem own = access_elem(e, k);
    val at = def(e, "llvm.ptrtoint % : !llvm.ptr to i64", e->access[k].base);
    at = int_op(e, "addi", at, int_op(e, "muli", peel, int_constant(e, elem_size(own))));
    val off = int_op(e, "andi", at, int_constant(e, stream_align(e, own) - 1));
    e->access[k].nt = bit_and(e, e->stream, def(e, "arith.cmpi eq, %, % : i64", off, zero));
  }
  return peel;
}

/* All columns of a row, the body written twice; ends in the block `done`. */
static void columns_twice(emitter *e, int done) {
  int loop = e->next_block++, after = e->next_block++, rest = e->next_block++;
  val zero = int_constant(e, 0), column;
  val end = int_op(e, "andi", e->cols, int_constant(e, -e->lanes));
  branch_if(e, int_less(e, zero, end), loop, &zero, 1, after, e->ncarry);
  begin_block(e, loop, &column, 1, e->ncarry);
  iteration(e, FULL, column, -1);
  val next = int_op(e, "addi", column, int_constant(e, e->lanes));
  branch_if(e, int_less(e, next, end), loop, &next, 1, after, e->ncarry);
  begin_block(e, after, NULL, 0, e->ncarry);
  val left = int_op(e, "subi", e->cols, end);
  put(e, "cf.cond_br %, ^#, ^#", int_less(e, zero, left), (int64_t)rest, (int64_t)done);
  put_arguments(e, NULL, 0, e->ncarry);
  put(e, "\n");
  begin_block(e, rest, NULL, 0, 0);
  iteration(e, PART, end, left);
  branch(e, done, NULL, 0, e->ncarry);
}

/* The same with the body written once. */
static void columns_once(emitter *e, int done) {
  int loop = e->next_block++;
  val lanes = int_constant(e, e->lanes), own[2] = {int_constant(e, 0), -1};
  val first = lanes;
  if (e->stream >= 0) {
    val peel = begin_streams(e);
    first = def(e, "arith.select %, %, % : i64", int_less(e, own[0], peel), peel, lanes);
  }
  own[1] = int_op(e, "minsi", first, e->cols);
  branch(e, loop, own, 2, e->ncarry);
  begin_block(e, loop, own, 2, e->ncarry);
  iteration(e, EITHER, own[0], own[1]);
  val next[2] = {int_op(e, "addi", own[0], own[1]), -1};
  next[1] = int_op(e, "minsi", int_op(e, "subi", e->cols, next[0]), int_constant(e, e->lanes));
  branch_if(e, int_less(e, next[0], e->cols), loop, next, 2, done, e->ncarry);
}

/* ---- functions ---------------------------------------------------------------------------------------------- */

/* A function's text, apart from its first lines; `twice` as described at the top. */
static void emit_function_body(emitter *e, bool twice) {
  int row = e->next_block++, row_end = e->next_block++, exit = e->next_block++, end = e->next_block++;
  e->rows = field(e, e->slab, offsetof(lgt_slab, rows), "i64");
  e->cols = field(e, e->slab, offsetof(lgt_slab, cols), "i64");
  val zero = int_constant(e, 0), next;
  int start = e->next_block++, nlanes = collect_carried(e);
  val any = bit_and(e, int_less(e, zero, e->rows), int_less(e, zero, e->cols));
  branch_if(e, any, start, NULL, 0, end, 0);
  begin_block(e, start, NULL, 0, 0);
  emit_level(e, LEVEL_ONCE);
  load_lanes(e, nlanes);
  branch(e, row, &zero, 1, nlanes);
  begin_block(e, row, &e->row, 1, nlanes);
  begin_row(e, nlanes);
  if (twice) columns_twice(e, row_end);
  else columns_once(e, row_end);
  begin_block(e, row_end, NULL, 0, e->ncarry);
  end_row_form(e, nlanes);
  next = int_op(e, "addi", e->row, int_constant(e, 1));
  branch_if(e, int_less(e, next, e->rows), row, &next, 1, exit, nlanes);
  begin_block(e, exit, NULL, 0, nlanes);
  store_lanes(e, nlanes);
  if (e->stream >= 0) put(e, "llvm.call_intrinsic \"llvm.x86.sse.sfence\"() : () -> ()\n");
  branch(e, end, NULL, 0, 0);
  begin_block(e, end, NULL, 0, 0);
  put(e, "func.return\n}\n");
}

val scratch(emitter *e, int slot) {
  if (e->scratch[slot] >= 0) return e->scratch[slot];
  text *out = e->out;
  e->out = &e->entry;
  val bytes = def(e, "arith.constant 512 : i64");
  e->scratch[slot] = def(e, "llvm.alloca % x i8 {alignment = 64 : i64} : (i64) -> !llvm.ptr", bytes);
  e->out = out;
  return e->scratch[slot];
}

static void append(text *to, text *from) {
  emitter copy = {.out = to};
  put(&copy, "$", from->data ? from->data : "");
  from->size = 0;
  if (from->data) from->data[0] = 0;
}

/* stream: NULL for ordinary stores only, "true", or "" for an argument that decides. */
static void emit_function(emitter *e, const char *name, bool twice, const char *stream) {
  e->out = &e->entry;
  e->next = 0;
  e->next_block = 0;
  e->scratch[0] = e->scratch[1] = -1;
  e->slab = e->next++;
  e->stream = -1;
  put(e, "func.func @$(%: !llvm.ptr", name, e->slab);
  if (stream && !*stream) put(e, ", %: i1", e->stream = e->next++);
  put(e, ") {\n");
  if (stream && *stream) e->stream = def(e, "arith.constant $", stream);
  e->out = &e->body;
  emit_function_body(e, twice);
  append(&e->done, &e->entry);
  append(&e->done, &e->body);
  e->out = &e->done;
}

/* lgt_body with its second argument decided. */
static void emit_wrapper(emitter *e, const char *name, const char *stream) {
  e->next = 0;
  e->slab = e->next++;
  put(e, "func.func @$(%: !llvm.ptr) {\n", name, e->slab);
  val decided = def(e, "arith.constant $", stream);
  put(e, "func.call @lgt_body(%, %) : (!llvm.ptr, i1) -> ()\nfunc.return\n}\n", e->slab, decided);
}

/* ---- the shape of the kernel --------------------------------------------------------------------------------- */

/* What a body costs to compile, in units of a simple instruction. */
enum { COST_CALL = 4, COST_LANES = 8, COST_PHILOX = 60, COST_COMPACT = 24 };

static int inst_cost(const emitter *e, const lgt_inst *in) {
  if (in->op == LGT_OP_PHILOX) return COST_PHILOX;
  if (lgt_math_has(in->op) || (in->op >= LGT_OP_FLOORDIV && in->op <= LGT_OP_POW)) return COST_CALL;
  if (in->op == LGT_OP_LOAD && e->loop->access[in->a].inner == LGT_STRIDE_ANY) return COST_LANES;
  return 1;
}

/* Lanes, and whether the body is long. */
static void choose_shape(emitter *e) {
  int cost = 0, widest = 1, calls = 0;
  bool reduces = false, strided = false;
  for (int i = 0; i < e->loop->ninst; i++) {
    const lgt_inst *in = &e->loop->inst[i];
    if (e->level[i] != LEVEL_BODY) continue;
    int own = inst_cost(e, in), size = elem_size(reg_elem(in->dtype));
    cost += own;
    calls += own > 1;
    if (size > widest) widest = size;
  }
  for (int k = 0; k < e->loop->naccess; k++) {
    const lgt_access *access = &e->loop->access[k];
    if (access->mode == LGT_ACCESS_REDUCE && access->inner == LGT_STRIDE_ZERO) reduces = true;
    if (access->inner == LGT_STRIDE_ANY && access->mode != LGT_ACCESS_INDEX) strided = true;
  }
  e->compact = cost > COST_COMPACT;
  int native = (16 << (int)e->isa) / widest;
  e->lanes = reduces ? LGT_LANES : e->compact || calls || strided || native == 64 ? native : 2 * native;
}

void emit_module(emitter *e) {
  bool streams = false, reduces = false;
  analyse(e);
  choose_shape(e);
  for (int k = 0; k < e->loop->naccess; k++) {
    if (is_streamed(e, k)) streams = true;
    if (e->loop->access[k].mode == LGT_ACCESS_REDUCE) reduces = true;
  }
  streams = streams && !reduces; /* a reduction's lanes begin at column 0 */
  if (!e->compact) {
    emit_function(e, "lgt_kernel", true, NULL);
    if (streams) emit_function(e, "lgt_kernel_stream", false, "true");
  } else if (!streams) {
    emit_function(e, "lgt_kernel", false, NULL);
  } else {
    emit_function(e, "lgt_body", false, "");
    emit_wrapper(e, "lgt_kernel", "false");
    emit_wrapper(e, "lgt_kernel_stream", "true");
  }
}
