/* emit_loop.c - the function around a body: rows and columns.
 *
 *   entry       slab's fields; what is the same everywhere; accumulators and targets of the lanes form
 *   row         addresses of this row; what is the same in all columns; accumulators of the row form
 *   iteration   `lanes` columns: all reads, then the body, then all writes
 *   row's end   the tree of the row form
 *   exit        the tree of the lanes form
 *
 * An iteration works on full vectors (FULL) or on the first `count` lanes (PART): lanes out of use are
 * computed like the others and dropped when written.  A short body is written twice, for the columns
 * that fill vectors and for the remainder.  A long one is written once, with branches around its reads
 * and writes that tell at run time which it is (EITHER): half the code, half the time to compile it.
 * The streaming kernel always has the second form: there an iteration may be partial at the beginning
 * too, so that the stores that follow are aligned.
 *
 * A body that calls functions on arrays is written in phases (emit_phase.c), each for a block of columns.
 *
 * Where all targets of reductions stand still along the rows and the columns are few enough for one vector,
 * another function keeps these targets in registers from the first row to the last.
 *
 * Values that are the same for all columns are computed outside of the columns' loop, those that are
 * the same for all rows outside of the rows' loop, by their level; no pass of LLVM has to find out.
 */
#include "kernel/emit/emit.h"

/* ---- analysis --------------------------------------------------------------------------------- */

static int level_of(const emitter *e, const lgt_inst *in) {
  uint16_t operand[3];
  int level = LEVEL_ONCE;
  if (lgt_op_effect(in->op)) return LEVEL_BODY;
  if (in->op == LGT_OP_LOAD || in->op == LGT_OP_INDEX)
    return along_columns(&e->loop->access[in->a]) ? LEVEL_ROW : LEVEL_BODY;
  for (int n = lgt_inst_operands(in, operand), i = 0; i < n; i++)
    if (e->level[operand[i]] > level) level = e->level[operand[i]];
  return level;
}

static int uses_of(const emitter *e, int i) {
  uint16_t operand[3];
  int uses = 0;
  for (int j = i + 1; j < e->loop->ninst; j++) {
    if (e->level[j] == LEVEL_DEAD) continue;
    for (int n = lgt_inst_operands(&e->loop->inst[j], operand), k = 0; k < n; k++) uses += operand[k] == i;
  }
  return uses;
}

/* Positions of argmin and argmax along the columns, and the index that these are made of, where nobody else wants them. */
static void find_positions(emitter *e) {
  const lgt_loop *loop = e->loop;
  for (int i = 0; i < loop->ninst; i++) {
    const lgt_inst *in = &loop->inst[i];
    if (in->op != LGT_OP_REDUCE_ARG || !along_columns(&loop->access[in->b])) continue;
    int at = in->c;
    if (loop->inst[at].op == LGT_OP_ADD && e->level[at] == LEVEL_BODY && uses_of(e, at) == 1) {
      e->level[at] = LEVEL_FOUND;
      at = loop->inst[at].a;
    }
    if (loop->inst[at].op == LGT_OP_INDEX && e->level[at] == LEVEL_BODY && uses_of(e, at) == 1)
      e->level[at] = LEVEL_FOUND;
  }
}

void analyse(emitter *e) {
  const lgt_loop *loop = e->loop;
  uint16_t operand[3];
  for (int i = loop->ninst - 1; i >= 0; i--) {
    const lgt_inst *in = &loop->inst[i];
    if (lgt_op_effect(in->op)) e->level[i] = LEVEL_BODY;
    if (e->level[i] == LEVEL_DEAD) continue;
    for (int n = lgt_inst_operands(in, operand), k = 0; k < n; k++) e->level[operand[k]] = LEVEL_BODY;
    if (in->op == LGT_OP_LOAD || in->op == LGT_OP_INDEX) e->access[in->a].used = true;
    if (lgt_op_effect(in->op)) e->access[in->b].used = true;
    if (in->op == LGT_OP_REDUCE_ARG) e->access[in->b + 1].used = true;
  }
  for (int i = 0; i < loop->ninst; i++)
    if (e->level[i] != LEVEL_DEAD) e->level[i] = (uint8_t)level_of(e, &loop->inst[i]);
  find_positions(e);
}

bool is_narrow(const emitter *e) {
  bool reduces = false;
  for (int k = 0; k < e->loop->naccess; k++) {
    const lgt_access *access = &e->loop->access[k];
    if (access->mode != LGT_ACCESS_REDUCE) continue;
    if (along_columns(access) || access->row != LGT_STRIDE_ZERO) return false;
    reduces = true;
  }
  return reduces && !e->compact && e->nphase == 1;
}

/* ---- instructions ------------------------------------------------------------------------------------ */

static int dtype_of(const emitter *e, int inst) { return e->loop->inst[inst].dtype; }

static val emit_param(emitter *e, const lgt_inst *in) {
  val params = e->device ? e->params : field(e, e->slab, offsetof(lgt_slab, param), "!llvm.ptr");
  bool real = lgt_dtype_is_float(in->dtype);
  elem el = real ? F64 : I64;
  val scalar = field(e, params, (int64_t)(in->a * sizeof(lgt_scalar) + in->aux * 8), scalar_type(el));
  return convert(e, real ? LGT_FLOAT64 : LGT_INT64, in->dtype, splat(e, el, scalar));
}

static val emit_load(emitter *e, const lgt_inst *in) {
  const emit_access *access = &e->access[in->a];
  if (along_columns(&e->loop->access[in->a])) return read_scalar(e, in->dtype, access->base);
  if (!e->late) return from_memory(e, in->dtype, access->loaded);
  locate(e, in->a, e->late);
  return from_memory(e, in->dtype, read_access(e, in->a, false));
}

static val emit_index(emitter *e, const lgt_inst *in) {
  const emit_access *access = &e->access[in->a];
  int inner = e->loop->access[in->a].inner;
  if (inner == LGT_STRIDE_ZERO) return splat(e, I64, access->base);
  val moved = inner == LGT_STRIDE_UNIT ? e->column : int_op(e, "muli", e->column, access->stride);
  return def(e, "arith.addi %, % : $", access->start, splat(e, I64, moved), lanes_type(e, I64));
}

void emit_inst(emitter *e, int i) {
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
    case LGT_OP_POWER:
      v[i] = emit_power(e, lgt_inst_power(in), in->dtype, v[in->a]);
      if (in->dtype == LGT_FLOAT16) v[i] = round_half(e, v[i]);
      break;
    case LGT_OP_SELECT:
      v[i] = select_lanes(e, reg_elem(in->dtype), v[in->a], v[in->b], v[in->c]);
      break;
    case LGT_OP_DIV:
      v[i] = shares_divisor(e, in) ? emit_shared_quotient(e, in)
                                   : emit_binary(e, in->op, dtype_of(e, in->a), v[in->a], v[in->b]);
      break;
    default:
      v[i] = lgt_op_arity(in->op) == 2 ? emit_binary(e, in->op, dtype_of(e, in->a), v[in->a], v[in->b])
                                       : emit_unary(e, in->op, dtype_of(e, in->a), v[in->a]);
  }
  if (e->divisor[i].uses) emit_divisor(e, i);
}

void emit_level(emitter *e, int level) {
  for (int i = 0; i < e->loop->ninst; i++)
    if (e->level[i] == level && !lgt_op_effect(e->loop->inst[i].op)) emit_inst(e, i);
}

void emit_position(emitter *e, const lgt_inst *in) {
  const lgt_inst *at = &e->loop->inst[in->c];
  if (at->op == LGT_OP_ADD && e->level[at->a] == LEVEL_FOUND) emit_inst(e, at->a);
  if (e->level[in->c] == LEVEL_FOUND) emit_inst(e, in->c);
}

/* ---- one iteration -------------------------------------------------------------------------------------- */

static bool is_read(const emitter *e, int k) {
  const lgt_access *access = &e->loop->access[k];
  if (!e->access[k].used || !e->access[k].here || access->inner == LGT_STRIDE_ZERO) return false;
  if (e->narrow && access->mode == LGT_ACCESS_REDUCE) return false;
  return access->mode == LGT_ACCESS_LOAD || access->mode == LGT_ACCESS_REDUCE;
}

void read_all(emitter *e, bool part) {
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
void prepare_writes(emitter *e) {
  for (int i = 0; i < e->loop->ninst; i++) {
    const lgt_inst *in = &e->loop->inst[i];
    if (!lgt_op_effect(in->op)) continue;
    emit_access *access = &e->access[in->b];
    if (in->op == LGT_OP_STORE) {
      access->result = to_memory(e, in->dtype, e->value[in->a]);
    } else if (!along_columns(&e->loop->access[in->b]) && !e->narrow) {
      bool pair = in->op == LGT_OP_REDUCE_ARG;
      accumulator target = {from_memory(e, in->dtype, access->loaded), pair ? access[1].loaded : -1};
      accumulator value = {e->value[in->a], pair ? e->value[in->c] : -1};
      target = contents(e, lgt_inst_redop(in), in->dtype, access->open, target);
      target = combine(e, lgt_inst_redop(in), in->dtype, target, value);
      access->result = to_memory(e, in->dtype, target.value);
      if (pair) access[1].result = target.at;
    }
  }
}

static void write_all(emitter *e, bool part) {
  for (int i = 0; i < e->loop->ninst; i++) {
    const lgt_inst *in = &e->loop->inst[i];
    if (!lgt_op_effect(in->op)) continue;
    if (in->op != LGT_OP_STORE && (e->narrow || along_columns(&e->loop->access[in->b]))) continue;
    if (!part && i + 1 < e->loop->ninst && may_be_joint(e, i)) {
      write_joint(e, in->b);
      i++;
      continue;
    }
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

/* How much is known about the lanes of an iteration: all are in use, some are, or decide at run time. */
typedef enum fill { FULL, PART, EITHER } fill;

val lanes_in_use(emitter *e, val count) {
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
  emit_phase(e);
  if (e->now < e->nphase - 1) return;
  accumulate(e, how != FULL);
  prepare_writes(e);
  if (how == EITHER) write_either(e, full);
  else write_all(e, how == PART);
}

enum { ROWS_AHEAD = 16, AHEAD_ELEMENTS = 512 };

/* ---- rows ------------------------------------------------------------------------------------------------- */

static void begin_access(emitter *e, int k, val bases, val row_strides, val col_strides) {
  const lgt_access *access = &e->loop->access[k];
  emit_access *now = &e->access[k];
  bool index = access->mode == LGT_ACCESS_INDEX;
  val base = e->known_rows ? now->origin : field(e, bases, k * 8, index ? "i64" : "!llvm.ptr");
  val moved = int_op(e, "muli", e->row, e->known_rows ? now->to_row : field(e, row_strides, k * 8, "i64"));
  now->base = index ? int_op(e, "addi", base, moved) : advance(e, base, moved);
  now->nt = -1;
  if (access->inner == LGT_STRIDE_ANY) now->stride = field(e, col_strides, k * 8, "i64");
  if (!index || access->inner == LGT_STRIDE_ZERO) return;
  val steps = iota(e, I64);
  if (access->inner == LGT_STRIDE_ANY)
    steps = def(e, "arith.muli %, % : $", steps, splat(e, I64, now->stride), lanes_type(e, I64));
  now->start = def(e, "arith.addi %, % : $", splat(e, I64, now->base), steps, lanes_type(e, I64));
}

/* Once for all rows: what a row writes might be the slab, for all that LLVM knows, which would read it again in each one.
 * Where there are few accesses, registers hold it. */
static void know_rows(emitter *e) {
  enum { MOST = 4 };
  if (!may_take_registers(e) || e->loop->naccess > MOST) return;
  val bases = field(e, e->slab, offsetof(lgt_slab, base), "!llvm.ptr");
  val strides = field(e, e->slab, offsetof(lgt_slab, row_stride), "!llvm.ptr");
  for (int k = 0; k < e->loop->naccess; k++) {
    bool index = e->loop->access[k].mode == LGT_ACCESS_INDEX;
    e->access[k].origin = field(e, bases, k * 8, index ? "i64" : "!llvm.ptr");
    e->access[k].to_row = field(e, strides, k * 8, "i64");
  }
  e->known_rows = true;
}

static bool is_lanes_form(const lgt_access *access) {
  return access->mode == LGT_ACCESS_REDUCE && along_columns(access) && access->row == LGT_STRIDE_ZERO;
}

static void begin_lanes_form(emitter *e, int nlanes) {
  val bases = field(e, e->slab, offsetof(lgt_slab, base), "!llvm.ptr");
  begin_accumulators(e, 0, nlanes);
  for (int k = 0; k < nlanes; k++)
    e->access[e->carry[k].access].base = field(e, bases, e->carry[k].access * 8, "!llvm.ptr");
  begin_with_targets(e, nlanes);
}

/* Targets of the vector form that stand still along the rows are open in the first row only. */
static void begin_vector_form(emitter *e) {
  for (int i = 0; i < e->loop->ninst; i++) {
    const lgt_inst *in = &e->loop->inst[i];
    if (in->op != LGT_OP_REDUCE && in->op != LGT_OP_REDUCE_ARG) continue;
    const lgt_access *access = &e->loop->access[in->b];
    if (along_columns(access)) continue;
    val open = is_open(e, in->b);
    if (access->row == LGT_STRIDE_ZERO)
      open = bit_and(e, open, def(e, "arith.cmpi eq, %, % : i64", e->row, int_constant(e, 0)));
    e->access[in->b].open = open;
  }
}

void begin_row_accesses(emitter *e, bool targets) {
  val bases = field(e, e->slab, offsetof(lgt_slab, base), "!llvm.ptr");
  val row_strides = field(e, e->slab, offsetof(lgt_slab, row_stride), "!llvm.ptr");
  val col_strides = field(e, e->slab, offsetof(lgt_slab, col_stride), "!llvm.ptr");
  for (int k = 0; k < e->loop->naccess; k++) {
    const lgt_access *access = &e->loop->access[k];
    if (!e->access[k].used || is_lanes_form(access) || (access->mode == LGT_ACCESS_REDUCE) != targets)
      continue;
    begin_access(e, k, bases, row_strides, col_strides);
  }
}

static void begin_row(emitter *e, int nlanes) {
  begin_row_accesses(e, true);
  begin_row_accesses(e, false);
  emit_level(e, LEVEL_ROW);
  fill_rooms(e, LEVEL_ROW);
  for (int i = 0; i < e->loop->ninst; i++)
    if (may_be_joint(e, i)) begin_joint(e, e->loop->inst[i].b);
  begin_vector_form(e);
  begin_accumulators(e, nlanes, e->ncarry);
  compare_positions(e);
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

/* Several iterations at once while the columns last: what a lane takes in is joined first, so that an accumulator waits for
 * its former value once for all of them.  Ends in the block `done`, which takes the next column: where a min or max has met
 * NaN that is the first one again. */
static void columns_joined(emitter *e, int done) {
  int loop = e->next_block++, none = e->next_block++, all = e->next_block++, n = e->ncarry;
  val zero = int_constant(e, 0), column, before[2 * LGT_MAX_REDUCTIONS];
  val end = int_op(e, "andi", e->cols, int_constant(e, -JOINED * e->lanes));
  for (int k = 0; k < n; k++) before[k] = e->carry[k].value;
  begin_nan(e);
  branch_if(e, int_less(e, zero, end), loop, &zero, 1, none, e->ncarry);
  begin_block(e, loop, &column, 1, e->ncarry);
  e->column = column;
  for (int i = 0; i < JOINED; i++) {
    if (i) e->column = int_op(e, "addi", column, int_constant(e, i * e->lanes));
    read_all(e, false);
    emit_phase(e);
    keep_values(e, i);
  }
  accumulate_kept(e);
  val next = int_op(e, "addi", column, int_constant(e, JOINED * e->lanes));
  branch_if(e, int_less(e, next, end), loop, &next, 1, all, e->ncarry);
  begin_block(e, none, NULL, 0, e->ncarry);
  branch(e, done, &zero, 1, n);
  begin_block(e, all, NULL, 0, e->ncarry);
  val nan = any_nan(e, n);
  e->ncarry = n;
  if (nan >= 0) {
    int again = e->next_block++, good = e->next_block++;
    branch_if(e, nan, again, NULL, 0, good, 0);
    begin_block(e, good, NULL, 0, 0);
    branch(e, done, &end, 1, n);
    begin_block(e, again, NULL, 0, 0);
    for (int k = 0; k < n; k++) e->carry[k].value = before[k];
    branch(e, done, &zero, 1, n);
  } else {
    branch(e, done, &end, 1, n);
  }
}

/* Rows that are added one after another lie apart, and the columns of a chunk are too few for the CPU to foresee what will be
 * read next: it is told, some rows ahead.  Only in the same columns: what lies beyond them is another chunk's. */
static void expect_rows(emitter *e) {
  val strides = field(e, e->slab, offsetof(lgt_slab, row_stride), "!llvm.ptr");
  for (int k = 0; k < e->loop->naccess; k++) {
    int64_t bytes = e->lanes * elem_size(access_elem(e, k));
    if (!is_read(e, k) || e->loop->access[k].mode != LGT_ACCESS_LOAD ||
        e->loop->access[k].inner != LGT_STRIDE_UNIT || (e->narrow && bytes < 128))
      continue;
    val ahead = int_op(e, "muli", field(e, strides, k * 8, "i64"),
                       e->narrow ? int_constant(e, ROWS_AHEAD) : e->ahead);
    val from = advance(e, e->access[k].base, ahead);
    if (!e->narrow)
      from = advance(e, from, int_op(e, "muli", e->column, int_constant(e, elem_size(access_elem(e, k)))));
    for (int64_t byte = 0; byte < bytes; byte += 64)
      put(e,
          "\"llvm.intr.prefetch\"(%) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()\n",
          advance(e, from, int_constant(e, byte)));
  }
}

/* All columns of a row, the body written twice; ends in the block `done`. */
static void columns_twice(emitter *e, int done) {
  int loop = e->next_block++, after = e->next_block++, rest = e->next_block++;
  val zero = int_constant(e, 0), column = zero;
  val end = int_op(e, "andi", e->cols, int_constant(e, -e->lanes));
  int single = e->next_block++;
  if (e->grouped >= 0) leave_group(e, single);
  if (e->joins) columns_joined(e, single);
  else branch(e, single, &zero, 1, e->ncarry);
  begin_block(e, single, &column, 1, e->ncarry);
  branch_if(e, int_less(e, column, end), loop, &column, 1, after, e->ncarry);
  begin_block(e, loop, &column, 1, e->ncarry);
  e->column = column;
  if (e->ahead >= 0) expect_rows(e);
  iteration(e, FULL, column, -1);
  val next = int_op(e, "addi", column, int_constant(e, e->lanes));
  branch_if(e, int_less(e, next, end), loop, &next, 1, after, e->ncarry);
  begin_block(e, after, NULL, 0, e->ncarry);
  val left = int_op(e, "subi", e->cols, end);
  put(e, "cf.cond_br %, ^#, ^#", int_less(e, zero, left), (int64_t)rest, (int64_t)done);
  put_arguments(e, NULL, 0, e->ncarry);
  put(e, "\n");
  begin_block(e, rest, NULL, 0, 0);
  if (may_take_registers(e)) {
    emit_rest(e, end, left, done);
  } else {
    iteration(e, PART, end, left);
    branch(e, done, NULL, 0, e->ncarry);
  }
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

/* ---- blocks of columns ---------------------------------------------------------------------------------- */

/* The columns of a block in one phase; ends in the block `done`. */
static void block_columns(emitter *e, int done) {
  int loop = e->next_block++;
  val column, lanes = int_constant(e, e->lanes), end = int_op(e, "addi", e->first, e->extent);
  if (e->compact) {
    branch(e, loop, &e->first, 1, e->ncarry);
    begin_block(e, loop, &column, 1, e->ncarry);
    iteration(e, EITHER, column, int_op(e, "minsi", int_op(e, "subi", end, column), lanes));
    val next = int_op(e, "addi", column, lanes);
    branch_if(e, int_less(e, next, end), loop, &next, 1, done, e->ncarry);
    return;
  }
  int after = e->next_block++, rest = e->next_block++;
  val zero = int_constant(e, 0), left = int_op(e, "andi", e->extent, int_constant(e, e->lanes - 1));
  val full = int_op(e, "subi", end, left);
  branch_if(e, int_less(e, e->first, full), loop, &e->first, 1, after, e->ncarry);
  begin_block(e, loop, &column, 1, e->ncarry);
  iteration(e, FULL, column, -1);
  val next = int_op(e, "addi", column, lanes);
  branch_if(e, int_less(e, next, full), loop, &next, 1, after, e->ncarry);
  begin_block(e, after, NULL, 0, e->ncarry);
  put(e, "cf.cond_br %, ^#, ^#", int_less(e, zero, left), (int64_t)rest, (int64_t)done);
  put_arguments(e, NULL, 0, e->ncarry);
  put(e, "\n");
  begin_block(e, rest, NULL, 0, 0);
  iteration(e, PART, full, left);
  branch(e, done, NULL, 0, e->ncarry);
}

/* Columns of the block that begins: fewer before streams are aligned. */
static val block_extent(emitter *e, val peel) {
  val most = int_constant(e, e->block);
  if (peel >= 0) most = def(e, "arith.select %, %, % : i64", int_less(e, e->first, peel), peel, most);
  return int_op(e, "minsi", int_op(e, "subi", e->cols, e->first), most);
}

/* Where the function has written into the target there is no last phase. */
static void skip_direct(emitter *e, int after) {
  int stored = e->next_block++;
  if (e->direct < 0 || direct_stream(e) < 0) return;
  branch_if(e, direct_stream(e), stored, NULL, 0, after, 0);
  begin_block(e, stored, NULL, 0, 0);
}

/* All columns of a row, block after block, and in each one phase after another. */
static void columns_in_blocks(emitter *e, int done) {
  int block = e->next_block++, ncarry = e->ncarry;
  val zero = int_constant(e, 0), peel = e->stream >= 0 ? begin_streams(e) : -1;
  branch(e, block, &zero, 1, ncarry);
  begin_block(e, block, &e->first, 1, ncarry);
  e->extent = block_extent(e, peel);
  for (int phase = 0; phase < e->nphase; phase++) {
    int after = e->next_block++;
    bool last = phase == e->nphase - 1;
    bool written = last && e->direct >= 0 && direct_stream(e) < 0;
    e->ncarry = last ? ncarry : 0;
    if (last) skip_direct(e, after);
    if (!written && begin_phase(e, phase)) block_columns(e, after);
    else branch(e, after, NULL, 0, 0);
    begin_block(e, after, NULL, 0, e->ncarry);
    if (!last) call_functions(e);
  }
  val next = int_op(e, "addi", e->first, e->extent);
  branch_if(e, int_less(e, next, e->cols), block, &next, 1, done, ncarry);
}

/* ---- functions ---------------------------------------------------------------------------------------------- */

/* How many rows ahead is far enough: the fewer, the longer these are. */
static val rows_ahead(emitter *e) {
  val rows = int_op(e, "divsi", int_constant(e, AHEAD_ELEMENTS), e->cols);
  return int_op(e, "maxsi", int_op(e, "minsi", rows, int_constant(e, ROWS_AHEAD)), int_constant(e, 1));
}

/* A function's text, apart from its first lines; `twice` as described at the top. */
static void emit_function_body(emitter *e, bool twice) {
  int row = e->next_block++, row_end = e->next_block++, exit = e->next_block++, end = e->next_block++;
  e->rows = field(e, e->slab, offsetof(lgt_slab, rows), "i64");
  e->cols = field(e, e->slab, offsetof(lgt_slab, cols), "i64");
  e->open = field(e, e->slab, offsetof(lgt_slab, open), "i64");
  val zero = int_constant(e, 0), next;
  int start = e->next_block++, nlanes = collect_carried(e);
  val any = bit_and(e, int_less(e, zero, e->rows), int_less(e, zero, e->cols));
  branch_if(e, any, start, NULL, 0, end, 0);
  begin_block(e, start, NULL, 0, 0);
  emit_level(e, LEVEL_ONCE);
  fill_rooms(e, LEVEL_ONCE);
  e->ahead = is_narrow(e) ? rows_ahead(e) : -1;
  e->groups = twice && may_group_rows(e) ? are_rows_for_groups(e) : -1;
  know_rows(e);
  begin_lanes_form(e, nlanes);
  branch(e, row, &zero, 1, nlanes);
  begin_block(e, row, &e->row, 1, nlanes);
  e->grouped = -1;
  if (e->groups >= 0) emit_row_group(e);
  begin_row(e, nlanes);
  if (e->nphase > 1) columns_in_blocks(e, row_end);
  else if (twice) columns_twice(e, row_end);
  else columns_once(e, row_end);
  begin_block(e, row_end, NULL, 0, e->ncarry);
  end_accumulators(e, nlanes, e->ncarry);
  next = int_op(e, "addi", e->row, int_constant(e, 1));
  branch_if(e, int_less(e, next, e->rows), row, &next, 1, exit, nlanes);
  begin_block(e, exit, NULL, 0, nlanes);
  end_accumulators(e, 0, nlanes);
  if (e->stream >= 0) put(e, "llvm.call_intrinsic \"llvm.x86.sse.sfence\"() : () -> ()\n");
  branch(e, end, NULL, 0, 0);
  begin_block(e, end, NULL, 0, 0);
  put(e, "func.return\n}\n");
}

/* Rows of few columns whose targets all stand still: these stay in registers from the first row to the last. */
static void emit_narrow_body(emitter *e) {
  int row = e->next_block++, exit = e->next_block++, end = e->next_block++, start = e->next_block++;
  e->rows = field(e, e->slab, offsetof(lgt_slab, rows), "i64");
  e->cols = field(e, e->slab, offsetof(lgt_slab, cols), "i64");
  e->open = field(e, e->slab, offsetof(lgt_slab, open), "i64");
  val zero = int_constant(e, 0);
  val any = bit_and(e, int_less(e, zero, e->rows), int_less(e, zero, e->cols));
  branch_if(e, any, start, NULL, 0, end, 0);
  begin_block(e, start, NULL, 0, 0);
  emit_level(e, LEVEL_ONCE);
  e->row = e->column = zero;
  e->count = e->cols;
  e->mask = lanes_in_use(e, e->count);
  collect_targets(e);
  begin_row_accesses(e, true);
  for (int k = 0; k < e->ncarry; k++) {
    int access = e->carry[k].access, dtype = e->loop->access[access].dtype, redop = e->carry[k].redop;
    if (redop < 0) continue; /* a position, done with its value */
    bool pair = redop >= LGT_REDOP_ARGMIN;
    accumulator target = {from_memory(e, dtype, read_access(e, access, true)),
                          pair ? read_access(e, access + 1, true) : -1};
    target = contents(e, redop, dtype, is_open(e, access), target);
    e->carry[k].value = target.value;
    if (pair) e->carry[k + 1].value = target.at;
  }
  branch(e, row, &zero, 1, e->ncarry);
  begin_block(e, row, &e->row, 1, e->ncarry);
  begin_row_accesses(e, false);
  expect_rows(e);
  emit_level(e, LEVEL_ROW);
  read_all(e, true);
  emit_phase(e);
  accumulate(e, false);
  prepare_writes(e);
  write_all(e, true);
  val next = int_op(e, "addi", e->row, int_constant(e, 1));
  branch_if(e, int_less(e, next, e->rows), row, &next, 1, exit, e->ncarry);
  begin_block(e, exit, NULL, 0, e->ncarry);
  e->row = zero;
  for (int k = 0; k < e->ncarry; k++) {
    int access = e->carry[k].access;
    write_access(e, access, to_memory(e, e->loop->access[access].dtype, e->carry[k].value), true);
  }
  branch(e, end, NULL, 0, 0);
  begin_block(e, end, NULL, 0, 0);
  put(e, "func.return\n}\n");
}

static void emit_function(emitter *e, const char *name, bool twice, bool streams) {
  e->out = &e->entry;
  e->next = 0;
  e->next_block = 0;
  e->scratch[0] = e->scratch[1] = e->scratch[SCRATCH_ROWS] = e->room = -1;
  begin_phase(e, 0);
  e->slab = e->next++;
  e->stream = -1;
  e->known_rows = false;
  put(e, "func.func @$(%: !llvm.ptr) {\n", name, e->slab);
  if (streams) e->stream = def(e, "arith.constant true");
  e->out = &e->body;
  if (e->narrow) emit_narrow_body(e);
  else emit_function_body(e, twice);
  append(&e->done, &e->entry);
  append(&e->done, &e->body);
  e->out = &e->done;
}

/* Few columns or many. */
static void emit_choice(emitter *e, const char *name) {
  e->next = e->next_block = 0;
  e->slab = e->next++;
  put(e, "func.func @$(%: !llvm.ptr) {\n", name, e->slab);
  int few = e->next_block++, many = e->next_block++;
  val most = int_constant(e, e->lanes + 1), cols = field(e, e->slab, offsetof(lgt_slab, cols), "i64");
  branch_if(e, int_less(e, cols, most), few, NULL, 0, many, 0);
  begin_block(e, few, NULL, 0, 0);
  put(e, "func.call @lgt_narrow(%) : (!llvm.ptr) -> ()\nfunc.return\n", e->slab);
  begin_block(e, many, NULL, 0, 0);
  put(e, "func.call @lgt_wide(%) : (!llvm.ptr) -> ()\nfunc.return\n}\n", e->slab);
}

/* ---- the module --------------------------------------------------------------------------------------------- */

void emit_module(emitter *e) {
  bool streams = false;
  analyse(e);
  find_phases(e);
  choose_shape(e);
  for (int k = 0; k < e->loop->naccess && e->form == LGT_KERNEL_STREAM; k++) streams |= is_streamed(e, k);
  const char *name = e->form == LGT_KERNEL_STREAM ? "lgt_kernel_stream" : "lgt_kernel";
  if (is_narrow(e)) {
    emit_function(e, "lgt_wide", true, false);
    e->narrow = true;
    emit_function(e, "lgt_narrow", false, false);
    emit_choice(e, name);
  } else {
    emit_function(e, name, !streams && !e->compact && e->nphase == 1, streams && lgt_loop_streams(e->loop));
  }
}
