/* emit_device.c - the functions around a body on a device of many threads.  See kernel/grid.h.
 *
 *   lgt_kernel   unit        positions along the outer dimensions; what is the same everywhere
 *                row         addresses of this row; what is the same in all columns
 *                column      all reads, then the body, then all writes
 *
 *   Without reductions a thread takes a column, or as many as 16 bytes have elements.  In the lanes and the row
 *   form a unit is the work of 16 threads, whose accumulators are loop.h's lanes, and the tree goes by shuffles.  In the
 *   vector form a thread has the targets of a column in registers and walks all that is added to them.
 *
 *   lgt_wide     a unit is the work of a block of threads
 *   lgt_steps    a thread adds to a target, or a partial result, what the slabs left for it
 *   lgt_chunks   a thread folds the partial results of a target
 *
 * The opcodes are the CPU's (emit_op.c), on vectors that are as long as the elements of a thread, or one.
 */
#include <stddef.h>

#include "kernel/emit/emit.h"
#include "kernel/grid.h"

/* ---- parameters, threads ----------------------------------------------------------------------------- */

enum { BASE, ROW, COLUMN, OUTER };

static val head(emitter *e, size_t offset, const char *type) {
  return field(e, e->slab, (int64_t)offset, type);
}
static val wide(emitter *e, val word) { return def(e, "arith.extui % : i32 to i64", word); }
/* A field of 32 bits, as i64. */
static val count(emitter *e, size_t offset) { return wide(e, head(e, offset, "i32")); }
#define HEAD(member) count(e, offsetof(lgt_grid_head, member))
#define LONG(member) head(e, offsetof(lgt_grid_head, member), "i64")
#define FOLD(member) count(e, offsetof(lgt_grid_fold, member))

static size_t entry_at(const emitter *e, int array, int access) {
  return sizeof(lgt_grid_head) + 8 * (size_t)(array * e->loop->naccess + access);
}
static val entry(emitter *e, int array, int access) { return head(e, entry_at(e, array, access), "i64"); }
static int chunk_array(const emitter *e) { return OUTER + lgt_grid_dims(e->loop); }

static val special(emitter *e, const char *name) {
  return wide(e, def(e, "llvm.call_intrinsic \"llvm.nvvm.read.ptx.sreg.$\"() : () -> i32", name));
}

static val pointer(emitter *e, val address) {
  val global = def(e, "llvm.inttoptr % : i64 to !llvm.ptr<1>", address);
  return def(e, "llvm.addrspacecast % : !llvm.ptr<1> to !llvm.ptr", global);
}

static val add(emitter *e, val a, val b) { return int_op(e, "addi", a, b); }
static val multiply(emitter *e, val a, val b) { return int_op(e, "muli", a, b); }
static val least(emitter *e, val a, val b) { return int_op(e, "minsi", a, b); }
static val equal(emitter *e, val a, val b) { return def(e, "arith.cmpi eq, %, % : i64", a, b); }

/* Of numbers below 2^32. */
static val quotient(emitter *e, const char *op, val a, val b) {
  val x = def(e, "arith.trunci % : i64 to i32", a), y = def(e, "arith.trunci % : i64 to i32", b);
  return wide(e, def(e, "arith.$ %, % : i32", op, x, y));
}
static val divide(emitter *e, val a, val b) { return quotient(e, "divui", a, b); }
static val rest(emitter *e, val a, val b) { return quotient(e, "remui", a, b); }

/* ---- blocks ------------------------------------------------------------------------------------------ */

/* A loop, around which the first `ncarry` carried values go. */
typedef struct turn {
  val at, end, step;
  int block, after, ncarry;
} turn;

static turn begin_turns(emitter *e, val from, val end, val step, int ncarry) {
  turn t = {.end = end, .step = step, .block = e->next_block++, .after = e->next_block++, .ncarry = ncarry};
  branch_if(e, int_less(e, from, end), t.block, &from, 1, t.after, ncarry);
  begin_block(e, t.block, &t.at, 1, ncarry);
  return t;
}

static void end_turns(emitter *e, const turn *t) {
  val next = add(e, t->at, t->step);
  branch_if(e, int_less(e, next, t->end), t->block, &next, 1, t->after, t->ncarry);
  begin_block(e, t->after, NULL, 0, t->ncarry);
}

/* What follows is for those for whom the condition holds; returns the block where all go on, for end_if. */
static int begin_if(emitter *e, val condition) {
  int yes = e->next_block++, after = e->next_block++;
  branch_if(e, condition, yes, NULL, 0, after, 0);
  begin_block(e, yes, NULL, 0, 0);
  return after;
}

static void end_if(emitter *e, int after) {
  branch(e, after, NULL, 0, 0);
  begin_block(e, after, NULL, 0, 0);
}

/* ---- positions --------------------------------------------------------------------------------------- */

static bool is_target(const emitter *e, int k) { return e->loop->access[k].mode == LGT_ACCESS_REDUCE; }

/* A field at a distance that is known only when the kernel runs. */
static val head_at(emitter *e, val distance, size_t offset, const char *type) {
  return field(e, advance(e, e->slab, distance), (int64_t)offset, type);
}
static val scaled(emitter *e, val number, int64_t by) { return multiply(e, number, int_constant(e, by)); }

/* The extent in a slot; of the dimension that is cut, in this chunk (-1: none is). */
static val extent_at(emitter *e, val slot, val chunk) {
  val extent = wide(e, head_at(e, scaled(e, slot, 4), offsetof(lgt_grid_head, extent), "i32"));
  if (chunk < 0) return extent;
  val cut = int_op(e, "subi", extent, multiply(e, chunk, HEAD(split_step)));
  return def(e, "arith.select %, %, % : i64", equal(e, HEAD(split), slot), least(e, cut, HEAD(split_most)),
             extent);
}

/* A loop over dimensions: the values of `own`, of which the first is the dimension's number, go around it. */
typedef struct dim_turn {
  val own[LGT_MAX_ACCESS + 2];
  val end;
  int n, block, after;
} dim_turn;

static void turn_or_end(emitter *e, dim_turn *t) {
  put(e, "cf.cond_br %, ^#", int_less(e, t->own[0], t->end), (int64_t)t->block);
  put_arguments(e, t->own, t->n, 0);
  put(e, ", ^#", (int64_t)t->after);
  put_arguments(e, t->own, t->n, 0);
  put(e, "\n");
}

static void begin_dims(emitter *e, dim_turn *t, val end) {
  t->end = end;
  t->block = e->next_block++;
  t->after = e->next_block++;
  t->own[0] = int_constant(e, 0);
  turn_or_end(e, t);
  begin_block(e, t->block, t->own, t->n, 0);
}

static void end_dims(emitter *e, dim_turn *t) {
  t->own[0] = add(e, t->own[0], int_constant(e, 1));
  turn_or_end(e, t);
  begin_block(e, t->after, t->own, t->n, 0);
}

/* Sequential dimensions are in the slots from the last down. */
static val slot_of(emitter *e, val dim, bool sequential) {
  return sequential ? int_op(e, "subi", int_constant(e, lgt_grid_dims(e->loop) - 1), dim) : dim;
}

/* Adds to the accesses' offsets what `number` says about the positions along the parallel dimensions; or, in a chunk, along
 * the sequential ones. */
static void walk_dims(emitter *e, bool sequential, val chunk, val number, val *offset) {
  dim_turn t = {.n = 2};
  int walking[LGT_MAX_ACCESS];
  t.own[1] = number;
  for (int k = 0; k < e->loop->naccess; k++)
    if (e->access[k].used && !(sequential && is_target(e, k))) {
      walking[t.n - 2] = k;
      t.own[t.n++] = offset[k];
    }
  begin_dims(e, &t, sequential ? HEAD(sequential) : HEAD(parallel));
  val slot = slot_of(e, t.own[0], sequential), extent = extent_at(e, slot, sequential ? chunk : -1);
  val at = rest(e, t.own[1], extent), strides = scaled(e, slot, 8 * e->loop->naccess);
  t.own[1] = divide(e, t.own[1], extent);
  for (int k = 2; k < t.n; k++) {
    val stride = head_at(e, strides, entry_at(e, OUTER, walking[k - 2]), "i64");
    t.own[k] = add(e, t.own[k], multiply(e, at, stride));
  }
  end_dims(e, &t);
  for (int k = 2; k < t.n; k++) offset[walking[k - 2]] = t.own[k];
}

static void walk_one(emitter *e, int array, val number, val *offset) {
  for (int k = 0; k < e->loop->naccess; k++)
    if (e->access[k].used) offset[k] = add(e, offset[k], multiply(e, number, entry(e, array, k)));
}

static void no_offsets(emitter *e, val *offset) {
  val zero = int_constant(e, 0);
  for (int k = 0; k < e->loop->naccess; k++) offset[k] = zero;
}

/* Where an access is in this row. */
static void begin_access(emitter *e, int k, val offset) {
  const lgt_access *access = &e->loop->access[k];
  emit_access *now = &e->access[k];
  val at = add(e, entry(e, BASE, k), offset);
  if (e->row >= 0) at = add(e, at, multiply(e, e->row, entry(e, ROW, k)));
  now->nt = -1;
  if (access->inner == LGT_STRIDE_ANY) now->stride = entry(e, COLUMN, k);
  now->base = access->mode == LGT_ACCESS_INDEX ? at : pointer(e, at);
  if (access->mode != LGT_ACCESS_INDEX || access->inner == LGT_STRIDE_ZERO) return;
  val steps = iota(e, I64);
  if (access->inner == LGT_STRIDE_ANY)
    steps = def(e, "arith.muli %, % : $", steps, splat(e, I64, now->stride), lanes_type(e, I64));
  now->start = def(e, "arith.addi %, % : $", splat(e, I64, at), steps, lanes_type(e, I64));
}

static void begin_accesses(emitter *e, bool targets, const val *offset) {
  for (int k = 0; k < e->loop->naccess; k++)
    if (e->access[k].used && is_target(e, k) == targets) begin_access(e, k, offset[k]);
}

static void begin_row(emitter *e, val row, const val *offset) {
  e->row = row;
  begin_accesses(e, false, offset);
}

/* ---- a column ---------------------------------------------------------------------------------------- */

static void write_stores(emitter *e, val cols) {
  for (int i = 0; i < e->loop->ninst; i++) {
    const lgt_inst *in = &e->loop->inst[i];
    if (in->op != LGT_OP_STORE) continue;
    bool still = e->loop->access[in->b].inner == LGT_STRIDE_ZERO; /* what comes last stays */
    int after = still ? begin_if(e, equal(e, add(e, e->column, int_constant(e, 1)), cols)) : -1;
    write_access(e, in->b, e->access[in->b].result, false);
    if (still) end_if(e, after);
  }
}

static accumulator accumulator_at(const emitter *e, int k) {
  return (accumulator){e->carry[k].value, e->carry[k].redop >= LGT_REDOP_ARGMIN ? e->carry[k + 1].value : -1};
}

/* carry[k] = carry[k] op value */
static void take_in(emitter *e, int k, accumulator value) {
  int redop = e->carry[k].redop;
  accumulator a = combine(e, redop, e->loop->access[e->carry[k].access].dtype, accumulator_at(e, k), value);
  e->carry[k].value = a.value;
  if (redop >= LGT_REDOP_ARGMIN) e->carry[k + 1].value = a.at;
}

static void emit_column(emitter *e, val column, val cols) {
  e->column = column;
  read_all(e, false);
  emit_level(e, LEVEL_BODY);
  for (int k = 0; k < e->ncarry; k++) {
    if (e->carry[k].redop < 0) continue;
    const lgt_inst *in = &e->loop->inst[e->carry[k].inst];
    take_in(e, k, (accumulator){e->value[in->a], in->op == LGT_OP_REDUCE_ARG ? e->value[in->c] : -1});
  }
  prepare_writes(e);
  write_stores(e, cols);
}

/* ---- targets ----------------------------------------------------------------------------------------- */

static bool is_fresh(const emitter *e, int k) {
  const lgt_inst *in = &e->loop->inst[e->carry[k].inst];
  return in->op == LGT_OP_REDUCE_ARG || (in->aux & LGT_REDUCE_FRESH);
}

/* The carried values become what the targets hold: the identity if they are open (i1), or fresh. */
static void begin_contents(emitter *e, val open) {
  bool any = false;
  begin_accumulators(e, 0, e->ncarry);
  for (int k = 0; k < e->ncarry; k++) any |= e->carry[k].redop >= 0 && !is_fresh(e, k);
  if (!any) return;
  int old = e->next_block++, after = e->next_block++;
  put(e, "cf.cond_br %, ^#", open, (int64_t)after);
  put_arguments(e, NULL, 0, e->ncarry);
  put(e, ", ^#\n", (int64_t)old);
  begin_block(e, old, NULL, 0, 0);
  for (int k = 0; k < e->ncarry; k++) {
    int access = e->carry[k].access;
    if (e->carry[k].redop >= 0 && !is_fresh(e, k))
      e->carry[k].value = read_scalar(e, e->loop->access[access].dtype, e->access[access].base);
  }
  branch(e, after, NULL, 0, e->ncarry);
  begin_block(e, after, NULL, 0, e->ncarry);
}

static void write_targets(emitter *e) {
  for (int k = 0; k < e->ncarry; k++) write_first(e, e->carry[k].access, e->carry[k].value);
}

static val is_set(emitter *e, val flag) { return int_less(e, int_constant(e, 0), flag); }

/* ---- lgt_kernel, without reductions ------------------------------------------------------------------ */

/* Where a thread works. */
typedef struct tile {
  val x, unit;         /* the tile's first thread along the columns; the unit */
  val row, width, own; /* the row; threads of the block along the columns, and which of them this is */
} tile;

static tile begin_tile(emitter *e) {
  int many = e->next_block++, place = e->next_block++;
  val at[3] = {special(e, "ctaid.x"), int_constant(e, 0), int_constant(e, 0)};
  val tiles_x = HEAD(tiles_x), tiles_y = HEAD(tiles_y), all = special(e, "nctaid.x");
  put(e, "cf.cond_br %, ^#, ^#", int_less(e, tiles_x, all), (int64_t)many, (int64_t)place);
  put_arguments(e, at, 3, 0);
  put(e, "\n");
  begin_block(e, many, NULL, 0, 0);
  val rows = divide(e, at[0], tiles_x);
  val found[3] = {rest(e, at[0], tiles_x), rest(e, rows, tiles_y), divide(e, rows, tiles_y)};
  branch(e, place, found, 3, 0);
  begin_block(e, place, at, 3, 0);
  tile t = {.unit = at[2], .width = special(e, "ntid.x"), .own = special(e, "tid.x")};
  t.x = multiply(e, at[0], t.width);
  t.row = add(e, multiply(e, at[1], special(e, "ntid.y")), special(e, "tid.y"));
  return t;
}

/* Everything that a body computes, for the columns from this one on. */
static void emit_elements(emitter *e, int lanes, val row, val column, val cols, const val *offset) {
  e->lanes = lanes;
  begin_row(e, row, offset);
  emit_level(e, LEVEL_ONCE);
  emit_level(e, LEVEL_ROW);
  emit_column(e, column, cols);
  e->lanes = 1;
}

/* The thread's columns are side by side where vectors can be read and written, else as far apart as there are threads. */
static void emit_plain(emitter *e) {
  val offset[LGT_MAX_ACCESS];
  int lanes = lgt_grid_lanes(e->loop);
  tile t = begin_tile(e);
  val cols = LONG(cols), many = int_constant(e, lanes), one = int_constant(e, 1);
  int after = begin_if(e, int_less(e, t.row, LONG(rows)));
  no_offsets(e, offset);
  walk_dims(e, false, -1, t.unit, offset);
  if (lanes == 1) {
    val column = add(e, t.x, t.own);
    int inside = begin_if(e, int_less(e, column, cols));
    emit_elements(e, 1, t.row, column, cols, offset);
    end_if(e, inside);
    end_if(e, after);
    return;
  }
  val begin = multiply(e, t.x, many), own = add(e, begin, multiply(e, t.own, many)), end = add(e, own, many);
  val aligned = is_set(e, HEAD(aligned));
  int vectors = e->next_block++, single = e->next_block++, done = e->next_block++;
  branch_if(e, bit_and(e, aligned, int_less(e, own, int_op(e, "subi", cols, int_constant(e, lanes - 1)))),
            vectors, NULL, 0, single, 0);
  begin_block(e, vectors, NULL, 0, 0);
  emit_elements(e, lanes, t.row, own, cols, offset);
  branch(e, done, NULL, 0, 0);
  begin_block(e, single, NULL, 0, 0);
  val from = def(e, "arith.select %, %, % : i64", aligned, own, add(e, begin, t.own));
  val step = def(e, "arith.select %, %, % : i64", aligned, one, t.width);
  end = def(e, "arith.select %, %, % : i64", aligned, end, add(e, begin, multiply(e, t.width, many)));
  turn column = begin_turns(e, from, least(e, end, cols), step, 0);
  emit_elements(e, 1, t.row, column.at, cols, offset);
  end_turns(e, &column);
  branch(e, done, NULL, 0, 0);
  begin_block(e, done, NULL, 0, 0);
  end_if(e, after);
}

/* ---- lgt_kernel, lanes and row form ------------------------------------------------------------------ */

/* What a unit is: its chunk, rows and columns. */
typedef struct piece {
  val chunk, row, rows, cols; /* from row on */
} piece;

/* Takes from `number` what it says about the piece, and adds it to the offsets; the rest is about dimensions. */
static piece begin_piece(emitter *e, bool by_row, val *number, val *offset) {
  piece p;
  val blocks = HEAD(blocks), chunks = HEAD(chunks), block = rest(e, *number, blocks);
  *number = divide(e, *number, blocks);
  p.chunk = rest(e, *number, chunks);
  *number = divide(e, *number, chunks);
  p.row = int_constant(e, 0);
  if (by_row) {
    val rows = HEAD(row_units);
    p.row = rest(e, *number, rows);
    *number = divide(e, *number, rows);
  }
  walk_one(e, chunk_array(e), p.chunk, offset);
  walk_one(e, chunk_array(e) + 1, block, offset);
  val rows = int_op(e, "subi", LONG(rows), multiply(e, p.chunk, LONG(row_step)));
  val cols = int_op(e, "subi", LONG(cols), multiply(e, p.chunk, LONG(col_step))), width = LONG(block);
  p.rows = by_row ? add(e, p.row, int_constant(e, 1)) : least(e, rows, LONG(row_most));
  cols = int_op(e, "subi", least(e, cols, LONG(col_most)), multiply(e, block, width));
  p.cols = least(e, cols, width);
  return p;
}

static val shuffle_word(emitter *e, val word, int distance) {
  val all = def(e, "arith.constant -1 : i32"), by = def(e, "arith.constant # : i32", (int64_t)distance);
  val clamp = def(e, "arith.constant 31 : i32");
  return def(e,
             "llvm.call_intrinsic \"llvm.nvvm.shfl.sync.bfly.i32\"(%, %, %, %) : (i32, i32, i32, i32) -> i32",
             all, word, by, clamp);
}

/* What the thread has that is so far away. */
static val exchange(emitter *e, elem el, val vector, int distance) {
  static const elem bits_of[NELEM] = {I1, I8, I16, I32, I64, I16, I32, I64};
  elem bits = bits_of[el];
  const char *type = scalar_type(bits);
  val x = def(e, "llvm.extractelement %[% : i64] : $", vector, int_constant(e, 0), lanes_type(e, el));
  if (bits != el) x = def(e, "arith.bitcast % : $ to $", x, scalar_type(el), type);
  if (bits == I64) {
    val by = int_constant(e, 32), high = int_op(e, "shrui", x, by);
    val low = wide(e, shuffle_word(e, def(e, "arith.trunci % : i64 to i32", x), distance));
    high = wide(e, shuffle_word(e, def(e, "arith.trunci % : i64 to i32", high), distance));
    x = int_op(e, "ori", int_op(e, "shli", high, by), low);
  } else if (bits == I32) {
    x = shuffle_word(e, x, distance);
  } else {
    x = shuffle_word(e, def(e, "arith.extui % : $ to i32", x, type), distance);
    x = def(e, "arith.trunci % : i32 to $", x, type);
  }
  if (bits != el) x = def(e, "arith.bitcast % : $ to $", x, type, scalar_type(el));
  return splat(e, el, x);
}

/* The tree of loop.h, whose result the first of 16 threads has. */
static void fold_threads(emitter *e) {
  for (int half = LGT_LANES / 2; half > 0; half /= 2)
    for (int k = 0; k < e->ncarry; k++) {
      if (e->carry[k].redop < 0) continue;
      accumulator other = {
          exchange(e, reg_elem(e->loop->access[e->carry[k].access].dtype), e->carry[k].value, half), -1};
      if (e->carry[k].redop >= LGT_REDOP_ARGMIN) other.at = exchange(e, I64, e->carry[k + 1].value, half);
      take_in(e, k, other);
    }
}

static void write_target(emitter *e, int k) {
  write_first(e, e->carry[k].access, e->carry[k].value);
  if (e->carry[k].redop >= LGT_REDOP_ARGMIN) write_first(e, e->carry[k + 1].access, e->carry[k + 1].value);
}

/* What the slab gives to the k-th carried value's target: as it is, or added to it. */
static void write_slab(emitter *e, int k) {
  int raw = e->next_block++, whole = e->next_block++, after = e->next_block++;
  accumulator own = accumulator_at(e, k);
  branch_if(e, is_set(e, HEAD(raw)), raw, NULL, 0, whole, 0);
  begin_block(e, raw, NULL, 0, 0);
  write_target(e, k);
  branch(e, after, NULL, 0, 0);
  begin_block(e, whole, NULL, 0, 0);
  begin_contents(e, is_set(e, HEAD(open)));
  take_in(e, k, own);
  write_target(e, k);
  branch(e, after, NULL, 0, 0);
  begin_block(e, after, NULL, 0, 0);
}

/* The sum of a slab, in the first of the threads that have it, goes to where it belongs. */
static void write_slabs(emitter *e, val slab, val lane, bool wide, const piece *p, const val *offset) {
  val own[2 * LGT_MAX_REDUCTIONS], zero = int_constant(e, 0);
  int n = e->ncarry;
  for (int k = 0; k < n; k++) own[k] = e->carry[k].value;
  e->row = p->row;
  begin_accesses(e, true, offset);
  for (int k = 0, number = 0; k < n; k++) {
    if (e->carry[k].redop < 0) continue;
    for (int i = 0; i < n; i++) e->carry[i].value = own[i];
    int after = begin_if(e, bit_and(e, slab, equal(e, lane, wide ? int_constant(e, 32 * number++) : zero)));
    write_slab(e, k);
    end_if(e, after);
  }
}

static void emit_lanes(emitter *e, bool by_row) {
  val offset[LGT_MAX_ACCESS], thread = special(e, "tid.x"), sixteen = int_constant(e, LGT_LANES);
  val lane = rest(e, thread, sixteen), groups = divide(e, special(e, "ntid.x"), sixteen);
  val first = add(e, multiply(e, special(e, "ctaid.x"), groups), divide(e, thread, sixteen));
  val step = multiply(e, special(e, "nctaid.x"), groups), units = HEAD(units), zero = int_constant(e, 0);
  val one = int_constant(e, 1);
  emit_level(e, LEVEL_ONCE);
  /* Warps go through the shuffles as a whole: a unit may be missing, in which there is nothing to add. */
  val even = int_op(e, "andi", add(e, units, one), int_constant(e, -2));
  turn unit = begin_turns(e, first, even, step, 0);
  val some = int_less(e, unit.at, units);
  val number = def(e, "arith.select %, %, % : i64", some, unit.at, zero);
  no_offsets(e, offset);
  piece p = begin_piece(e, by_row, &number, offset);
  walk_dims(e, false, -1, number, offset);
  val rows = def(e, "arith.select %, %, % : i64", some, p.rows, zero);
  begin_accumulators(e, 0, e->ncarry);
  turn row = begin_turns(e, p.row, rows, one, e->ncarry);
  begin_row(e, row.at, offset);
  emit_level(e, LEVEL_ROW);
  turn column = begin_turns(e, lane, p.cols, sixteen, e->ncarry);
  emit_column(e, column.at, p.cols);
  end_turns(e, &column);
  end_turns(e, &row);
  fold_threads(e);
  val any = bit_and(e, int_less(e, p.row, rows), int_less(e, zero, p.cols));
  write_slabs(e, any, lane, false, &p, offset);
  end_turns(e, &unit);
}

/* ---- lgt_wide ---------------------------------------------------------------------------------------- */

/* A block of threads computes the values of as many elements side by side.  Through shared memory they come to 16 threads, in
 * a warp of its own for each reduction, which add them to the lanes' accumulators in the order of loop.h. */

static int tile_size(const emitter *e, int k) {
  return elem_size(reg_elem(e->loop->access[e->carry[k].access].dtype));
}

/* Where the k-th carried value's reduction finds the value of the thread of this number. */
static val tile_at(emitter *e, int k, val thread) {
  int64_t before = 0;
  for (int i = 0; i < k; i++) before += tile_size(e, i);
  val tile = def(e, "llvm.mlir.addressof @lgt_tile : !llvm.ptr<3>");
  val at = def(e, "llvm.addrspacecast % : !llvm.ptr<3> to !llvm.ptr", tile);
  val first = int_constant(e, before * LGT_GRID_WIDE_THREADS);
  return advance(e, at, add(e, first, multiply(e, thread, int_constant(e, tile_size(e, k)))));
}

static void write_tile(emitter *e, int k, val thread, val value) {
  elem el = reg_elem(e->loop->access[e->carry[k].access].dtype);
  if (el == I1) value = def(e, "arith.extui % : $ to $", value, lanes_type(e, I1), lanes_type(e, I8));
  write_vector(e, tile_at(e, k, thread), value, el == I1 ? I8 : el, elem_size(el), "");
}

static val read_tile(emitter *e, int k, val thread) {
  elem el = reg_elem(e->loop->access[e->carry[k].access].dtype), kept = el == I1 ? I8 : el;
  val value = def(e, "llvm.load % {alignment = # : i64} : !llvm.ptr -> $", tile_at(e, k, thread),
                  (int64_t)elem_size(kept), lanes_type(e, kept));
  return el == I1 ? def(e, "arith.trunci % : $ to $", value, lanes_type(e, I8), lanes_type(e, I1)) : value;
}

static void wait_for_all(emitter *e) { put(e, "llvm.call_intrinsic \"llvm.nvvm.barrier0\"() : () -> ()\n"); }

/* The values of an element, and its stores. */
static void fill_tile(emitter *e, val row, val column, val thread, const piece *p, const val *offset) {
  int n = e->ncarry;
  begin_row(e, row, offset);
  emit_level(e, LEVEL_ROW);
  e->ncarry = 0;
  emit_column(e, column, p->cols);
  e->ncarry = n;
  for (int k = 0; k < n; k++) {
    if (e->carry[k].redop < 0) continue;
    const lgt_inst *in = &e->loop->inst[e->carry[k].inst];
    write_tile(e, k, thread, e->value[in->a]);
    if (in->op == LGT_OP_REDUCE_ARG) write_tile(e, k + 1, thread, e->value[in->c]);
  }
}

/* For each reduction the lanes take in what the tile has of them: rows and columns of it that are in use. */
static void take_tile(emitter *e, val rows, val cols, val width, val thread) {
  val zero = int_constant(e, 0), one = int_constant(e, 1), sixteen = int_constant(e, LGT_LANES);
  val group = divide(e, thread, sixteen), lane = rest(e, thread, sixteen);
  for (int k = 0, number = 0; k < e->ncarry; k++) {
    if (e->carry[k].redop < 0) continue;
    int ours = e->next_block++, after = e->next_block++;
    branch_if(e, equal(e, group, int_constant(e, 2 * number++)), ours, NULL, 0, after, e->ncarry);
    begin_block(e, ours, NULL, 0, e->ncarry);
    turn row = begin_turns(e, zero, rows, one, e->ncarry);
    val first = multiply(e, row.at, width);
    turn column = begin_turns(e, lane, cols, sixteen, e->ncarry);
    val at = add(e, first, column.at);
    accumulator value = {read_tile(e, k, at), -1};
    if (e->carry[k].redop >= LGT_REDOP_ARGMIN) value.at = read_tile(e, k + 1, at);
    take_in(e, k, value);
    end_turns(e, &column);
    end_turns(e, &row);
    branch(e, after, NULL, 0, e->ncarry);
    begin_block(e, after, NULL, 0, e->ncarry);
  }
}

static void emit_wide(emitter *e, bool by_row) {
  val offset[LGT_MAX_ACCESS], x = special(e, "tid.x"), y = special(e, "tid.y"), zero = int_constant(e, 0);
  val width = special(e, "ntid.x"), height = special(e, "ntid.y"), thread = add(e, multiply(e, y, width), x);
  emit_level(e, LEVEL_ONCE);
  turn unit = begin_turns(e, special(e, "ctaid.x"), HEAD(units), special(e, "nctaid.x"), 0);
  val number = unit.at;
  no_offsets(e, offset);
  piece p = begin_piece(e, by_row, &number, offset);
  walk_dims(e, false, -1, number, offset);
  begin_accumulators(e, 0, e->ncarry);
  turn row = begin_turns(e, p.row, p.rows, height, e->ncarry);
  turn column = begin_turns(e, zero, p.cols, width, e->ncarry);
  val own_row = add(e, row.at, y), own_column = add(e, column.at, x);
  int after = begin_if(e, bit_and(e, int_less(e, own_row, p.rows), int_less(e, own_column, p.cols)));
  fill_tile(e, own_row, own_column, thread, &p, offset);
  end_if(e, after);
  wait_for_all(e);
  val rows = least(e, height, int_op(e, "subi", p.rows, row.at));
  val cols = least(e, width, int_op(e, "subi", p.cols, column.at));
  take_tile(e, rows, cols, width, thread);
  wait_for_all(e);
  end_turns(e, &column);
  end_turns(e, &row);
  fold_threads(e);
  val any = bit_and(e, int_less(e, p.row, p.rows), int_less(e, zero, p.cols));
  write_slabs(e, any, thread, true, &p, offset);
  end_turns(e, &unit);
}

/* ---- lgt_kernel, vector form ------------------------------------------------------------------------- */

/* Positions along the sequential dimensions, of which one may be cut. */
static val sequential_size(emitter *e, val chunk) {
  dim_turn t = {.n = 2};
  t.own[1] = int_constant(e, 1);
  begin_dims(e, &t, HEAD(sequential));
  t.own[1] = multiply(e, t.own[1], extent_at(e, slot_of(e, t.own[0], true), chunk));
  end_dims(e, &t);
  return t.own[1];
}

/* The rows, if they have a target in common, that it takes in. */
static void add_rows(emitter *e, const piece *p, bool by_row, val this_row, val column, const val *offset) {
  turn row = {.at = this_row};
  if (!by_row) row = begin_turns(e, int_constant(e, 0), p->rows, int_constant(e, 1), e->ncarry);
  begin_row(e, row.at, offset);
  emit_level(e, LEVEL_ROW);
  emit_column(e, column, p->cols);
  if (!by_row) end_turns(e, &row);
}

static void emit_target_column(emitter *e, const piece *p, bool by_row, val row, val column,
                               const val *offset) {
  val inner[LGT_MAX_ACCESS];
  e->row = row;
  begin_accesses(e, true, offset);
  for (int k = 0; k < e->loop->naccess; k++) {
    inner[k] = offset[k];
    if (is_target(e, k) && e->access[k].used)
      e->access[k].base = advance(e, e->access[k].base, multiply(e, column, entry(e, COLUMN, k)));
  }
  begin_contents(e, is_set(e, HEAD(open)));
  val steps = sequential_size(e, p->chunk);
  turn step = begin_turns(e, int_constant(e, 0), steps, int_constant(e, 1), e->ncarry);
  walk_dims(e, true, p->chunk, step.at, inner);
  add_rows(e, p, by_row, row, column, inner);
  end_turns(e, &step);
  write_targets(e);
}

static void emit_vector(emitter *e, bool by_row) {
  val offset[LGT_MAX_ACCESS], none = int_constant(e, 0);
  tile t = begin_tile(e);
  val number = t.unit, column = add(e, t.x, t.own);
  emit_level(e, LEVEL_ONCE);
  int after = begin_if(e, bit_and(e, int_less(e, t.row, HEAD(row_units)), int_less(e, column, LONG(cols))));
  no_offsets(e, offset);
  piece p = begin_piece(e, false, &number, offset);
  walk_dims(e, false, -1, number, offset);
  emit_target_column(e, &p, by_row, by_row ? t.row : none, column, offset);
  end_if(e, after);
}

/* ---- lgt_steps, lgt_chunks --------------------------------------------------------------------------- */

/* A target's field, by its number among the targets. */
static size_t target_at(int number, size_t offset) {
  return sizeof(lgt_grid_fold) + (size_t)number * sizeof(lgt_grid_target) + offset;
}
#define TARGET(number, member) head(e, target_at(number, offsetof(lgt_grid_target, member)), "i64")

static int number_of(const emitter *e, int access) {
  int n = 0;
  for (int k = 0; k < access; k++) n += is_target(e, k);
  return n;
}

static int64_t size_at(const emitter *e, int access) { return elem_size(access_elem(e, access)); }

/* The address of element `number` of each target (of each carried value). */
static void find_targets(emitter *e, val number, val *address) {
  dim_turn t = {.n = e->ncarry + 2};
  t.own[1] = number;
  for (int k = 0; k < e->ncarry; k++) t.own[k + 2] = TARGET(number_of(e, e->carry[k].access), target);
  begin_dims(e, &t, FOLD(ndim));
  val extent = wide(e, head_at(e, scaled(e, t.own[0], 4), offsetof(lgt_grid_fold, extent), "i32"));
  val at = rest(e, t.own[1], extent), distance = scaled(e, t.own[0], 8);
  t.own[1] = divide(e, t.own[1], extent);
  for (int k = 0; k < e->ncarry; k++) {
    size_t strides = target_at(number_of(e, e->carry[k].access), offsetof(lgt_grid_target, stride));
    t.own[k + 2] = add(e, t.own[k + 2], multiply(e, at, head_at(e, distance, strides, "i64")));
  }
  end_dims(e, &t);
  for (int k = 0; k < e->ncarry; k++) address[k] = t.own[k + 2];
}

/* What lies at the k-th address, and for a pair at the next one. */
static accumulator read_pair(emitter *e, int k, const val *address) {
  accumulator a = {read_scalar(e, e->loop->access[e->carry[k].access].dtype, pointer(e, address[k])), -1};
  if (e->carry[k].redop >= LGT_REDOP_ARGMIN) a.at = read_scalar(e, LGT_INT64, pointer(e, address[k + 1]));
  return a;
}

static void read_all_pairs(emitter *e, const val *address) {
  for (int k = 0; k < e->ncarry; k++) {
    if (e->carry[k].redop < 0) continue;
    accumulator a = read_pair(e, k, address);
    e->carry[k].value = a.value;
    if (a.at >= 0) e->carry[k + 1].value = a.at;
  }
}

static void take_all_pairs(emitter *e, const val *address) {
  for (int k = 0; k < e->ncarry; k++)
    if (e->carry[k].redop >= 0) take_in(e, k, read_pair(e, k, address));
}

static void write_pairs(emitter *e, const val *address) {
  for (int k = 0; k < e->ncarry; k++) e->access[e->carry[k].access].base = pointer(e, address[k]);
  write_targets(e);
}

/* The addresses of an element of each target's partial results, or of what steps left for it. */
static void find_elements(emitter *e, bool steps, val number, val chunk, val *address) {
  for (int k = 0; k < e->ncarry; k++) {
    int target = number_of(e, e->carry[k].access);
    val from = steps ? TARGET(target, steps) : TARGET(target, partial);
    address[k] = add(e, from, multiply(e, number, int_constant(e, size_at(e, e->carry[k].access))));
    if (!steps) address[k] = add(e, address[k], multiply(e, chunk, TARGET(target, chunk)));
  }
}

static turn begin_elements(emitter *e, val size) {
  val width = special(e, "ntid.x"),
      first = add(e, multiply(e, special(e, "ctaid.x"), width), special(e, "tid.x"));
  return begin_turns(e, first, size, multiply(e, special(e, "nctaid.x"), width), 0);
}

static void emit_steps(emitter *e) {
  val own[2 * LGT_MAX_REDUCTIONS], part[2 * LGT_MAX_REDUCTIONS], kept = FOLD(kept), one = int_constant(e, 1);
  val outer = FOLD(outer), middle = FOLD(middle), inner = FOLD(inner), grain = FOLD(grain);
  val partial = is_set(e, FOLD(partial)), zero = int_constant(e, 0);
  turn element = begin_elements(e, multiply(e, kept, FOLD(chunks)));
  val chunk = divide(e, element.at, kept), number = rest(e, element.at, kept);
  find_targets(e, number, own);
  find_elements(e, false, number, chunk, part);
  for (int k = 0; k < e->ncarry; k++) {
    own[k] = def(e, "arith.select %, %, % : i64", partial, part[k], own[k]);
    e->access[e->carry[k].access].base = pointer(e, own[k]);
  }
  begin_contents(e, partial);
  val from = multiply(e, chunk, grain), to = least(e, add(e, from, grain), middle);
  turn a = begin_turns(e, zero, outer, one, e->ncarry);
  turn i = begin_turns(e, from, to, one, e->ncarry);
  turn b = begin_turns(e, zero, inner, one, e->ncarry);
  val at = add(e, multiply(e, add(e, multiply(e, number, outer), a.at), middle), i.at);
  find_elements(e, true, add(e, multiply(e, at, inner), b.at), -1, part);
  take_all_pairs(e, part);
  end_turns(e, &b);
  end_turns(e, &i);
  end_turns(e, &a);
  write_pairs(e, own);
  end_turns(e, &element);
}

static void emit_chunks(emitter *e) {
  val own[2 * LGT_MAX_REDUCTIONS], part[2 * LGT_MAX_REDUCTIONS], zero = int_constant(e, 0);
  val chunks = FOLD(chunks);
  turn element = begin_elements(e, FOLD(kept));
  /* Neighbours at distance 1, 2, 4, ... */
  turn distance = begin_turns(e, int_constant(e, 1), chunks, -1, 0);
  distance.step = distance.at;
  turn i = begin_turns(e, zero, int_op(e, "subi", chunks, distance.at), add(e, distance.at, distance.at), 0);
  find_elements(e, false, element.at, i.at, own);
  find_elements(e, false, element.at, add(e, i.at, distance.at), part);
  read_all_pairs(e, own);
  take_all_pairs(e, part);
  write_pairs(e, own);
  end_turns(e, &i);
  end_turns(e, &distance);
  find_elements(e, false, element.at, zero, part);
  find_targets(e, element.at, own);
  for (int k = 0; k < e->ncarry; k++) {
    if (e->carry[k].redop < 0) continue;
    accumulator a = read_pair(e, k, part), old = is_fresh(e, k) ? a : read_pair(e, k, own);
    e->carry[k].value = old.value;
    if (a.at >= 0) e->carry[k + 1].value = old.at;
    if (!is_fresh(e, k)) take_in(e, k, a);
  }
  write_pairs(e, own);
  end_turns(e, &element);
}

/* ---- the module -------------------------------------------------------------------------------------- */

static void begin_kernel(emitter *e, const char *name) {
  e->next = e->next_block = 0;
  e->row = -1;
  e->slab = e->next++;
  put(e, "func.func @$(%: !llvm.ptr) {\n", name, e->slab);
  collect_targets(e);
}

/* Where a number is stored, which stands still along the columns, no thread without an element may load it before: loads of
 * numbers move to the columns, and with them what is made of these. */
static void load_late(emitter *e) {
  const lgt_loop *loop = e->loop;
  bool stores = false;
  for (int k = 0; k < loop->naccess; k++)
    stores |= loop->access[k].mode == LGT_ACCESS_STORE && along_columns(&loop->access[k]);
  for (int i = 0; i < loop->ninst && stores; i++) {
    uint16_t operand[3];
    const lgt_inst *in = &loop->inst[i];
    if (e->level[i] == LEVEL_DEAD) continue;
    if (in->op == LGT_OP_LOAD) e->level[i] = LEVEL_BODY;
    if (in->op == LGT_OP_LOAD || in->op == LGT_OP_INDEX || is_effect(in->op)) continue;
    for (int n = operands_of(in, operand), k = 0; k < n; k++)
      if (e->level[operand[k]] > e->level[i]) e->level[i] = e->level[operand[k]];
  }
}

static void end_kernel(emitter *e) { put(e, "func.return\n}\n"); }

void emit_device_module(emitter *e) {
  bool vector = false, by_row = false, reduces = false;
  e->device = e->narrow = true;
  e->isa = LGT_ISA_AVX2; /* as to float16 and fused multiply-adds */
  e->lanes = 1;
  e->out = &e->decl;
  put(e, "module attributes {llvm.data_layout = \"e-i64:64-i128:128-v16:16-v32:32-n16:32:64\"} {\n");
  if (lgt_grid_wide(e->loop))
    put(e,
        "llvm.mlir.global internal @lgt_tile() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<# "
        "x i8>\n",
        (int64_t)lgt_grid_wide(e->loop) * LGT_GRID_WIDE_THREADS);
  e->out = &e->done;
  analyse(e);
  for (int i = 0; i < e->loop->ninst; i++)
    if (e->level[i] == LEVEL_FOUND) e->level[i] = LEVEL_BODY;
  load_late(e);
  for (int k = 0; k < e->loop->naccess; k++) {
    e->access[k].here = true;
    if (!is_target(e, k)) continue;
    reduces = true;
    vector = !along_columns(&e->loop->access[k]);
    by_row = e->loop->access[k].row != LGT_STRIDE_ZERO;
  }
  begin_kernel(e, "lgt_kernel");
  e->params = advance(e, e->slab, int_constant(e, (int64_t)entry_at(e, chunk_array(e) + 2, 0)));
  if (vector) emit_vector(e, by_row);
  else if (reduces) emit_lanes(e, by_row);
  else emit_plain(e);
  end_kernel(e);
  if (lgt_grid_wide(e->loop)) {
    begin_kernel(e, "lgt_wide");
    e->params = advance(e, e->slab, int_constant(e, (int64_t)entry_at(e, chunk_array(e) + 2, 0)));
    emit_wide(e, by_row);
    end_kernel(e);
  }
  if (reduces) {
    begin_kernel(e, "lgt_steps");
    emit_steps(e);
    end_kernel(e);
    begin_kernel(e, "lgt_chunks");
    emit_chunks(e);
    end_kernel(e);
  }
  put(e, "}\n");
}
