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
 *
 *   lgt_tiles    a block has a square of rows and columns, see emit_device_tiles.c
 *
 * How a thread loads what it takes in is in emit_device_ahead.c.  What follows such a launch, if there is more to fold,
 * is in emit_device_fold.c.
 *
 * The opcodes are the CPU's (emit_op.c), on vectors that are as long as the elements of a thread, or one.
 */
#include <stddef.h>

#include "kernel/emit/emit_device.h"

/* The extent in a slot; of the dimension that is cut, in this chunk (-1: none is). */
static val extent_at(emitter *e, val slot, val chunk) {
  val extent = wide(e, head_at(e, scaled(e, slot, 4), offsetof(lgt_grid_head, extent), "i32"));
  if (chunk < 0) return extent;
  val cut = int_op(e, "subi", extent, multiply(e, chunk, HEAD(split_step)));
  return def(e, "arith.select %, %, % : i64", equal(e, HEAD(split), slot), least(e, cut, HEAD(split_most)),
             extent);
}

/* Sequential dimensions are in the slots from the last down. */
static val slot_of(emitter *e, val dim, bool sequential) {
  return sequential ? int_op(e, "subi", int_constant(e, lgt_grid_dims(e->loop) - 1), dim) : dim;
}

/* The access whose strides stand for those of the k-th. */
static int mover_of(const emitter *e, int k) {
  const lgt_access *access = &e->loop->access[k];
  return access->mode != LGT_ACCESS_REDUCE && access->row ? access->row - 1 : k;
}

/* Adds to the accesses' offsets what `number` says about the positions along the parallel dimensions; or, in a chunk, along
 * the sequential ones. */
void walk_dims(emitter *e, bool sequential, val chunk, val number, val *offset) {
  dim_turn t = {.n = 2};
  int walking[LGT_MAX_ACCESS];
  bool walks[LGT_MAX_ACCESS] = {false};
  t.own[1] = number;
  for (int k = 0; k < e->loop->naccess; k++)
    if (e->access[k].used && !(sequential && is_target(e, k))) walks[mover_of(e, k)] = true;
  for (int k = 0; k < e->loop->naccess; k++)
    if (walks[k]) {
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

void no_offsets(emitter *e, val *offset) {
  val zero = int_constant(e, 0);
  for (int k = 0; k < e->loop->naccess; k++) offset[k] = zero;
}

void locate(emitter *e, int k, const val *offset) {
  const lgt_access *access = &e->loop->access[k];
  emit_access *now = &e->access[k];
  int mover = mover_of(e, k);
  val way =
      offset[mover]; /* from the base; made of what accesses have in common, so that it is computed once */
  if (e->row >= 0) way = add(e, way, multiply(e, e->row, entry(e, ROW, mover)));
  now->nt = -1;
  if (access->inner == LGT_STRIDE_ANY) now->stride = entry(e, COLUMN, mover);
  now->placed = e->late != NULL;
  if (now->placed) way = add(e, way, multiply(e, e->column, stride_of(e, k)));
  val at = add(e, entry(e, BASE, k), way);
  now->base = access->mode == LGT_ACCESS_INDEX ? at : pointer(e, at);
  if (access->mode != LGT_ACCESS_INDEX || access->inner == LGT_STRIDE_ZERO) return;
  val steps = iota(e, I64);
  if (access->inner == LGT_STRIDE_ANY)
    steps = def(e, "arith.muli %, % : $", steps, splat(e, I64, now->stride), lanes_type(e, I64));
  now->start = def(e, "arith.addi %, % : $", splat(e, I64, at), steps, lanes_type(e, I64));
}

static void begin_accesses(emitter *e, bool targets, const val *offset) {
  for (int k = 0; k < e->loop->naccess; k++)
    if (e->access[k].used && is_target(e, k) == targets) locate(e, k, offset);
}

void begin_row(emitter *e, val row, const val *offset) {
  e->row = row;
  begin_accesses(e, false, offset);
}

/* ---- a column ---------------------------------------------------------------------------------------- */

static void write_store(emitter *e, const lgt_inst *in, val cols) {
  bool still = along_columns(&e->loop->access[in->b]); /* what comes last stays */
  int after = still ? begin_if(e, equal(e, add(e, e->column, int_constant(e, 1)), cols)) : -1;
  if (e->late && !still) locate(e, in->b, e->late);
  write_access(e, in->b, e->access[in->b].result, false);
  if (still) end_if(e, after);
}

static void write_stores(emitter *e, val cols) {
  for (int i = 0; i < e->loop->ninst; i++)
    if (e->loop->inst[i].op == LGT_OP_STORE) write_store(e, &e->loop->inst[i], cols);
}

static accumulator accumulator_at(const emitter *e, int k) {
  return (accumulator){e->carry[k].value, e->carry[k].redop >= LGT_REDOP_ARGMIN ? e->carry[k + 1].value : -1};
}

void take_in(emitter *e, int k, accumulator value) {
  int redop = e->carry[k].redop;
  accumulator a = combine(e, redop, e->loop->access[e->carry[k].access].dtype, accumulator_at(e, k), value);
  e->carry[k].value = a.value;
  if (redop >= LGT_REDOP_ARGMIN) e->carry[k + 1].value = a.at;
}

/* Without reductions: each instruction where the loop has it, so that few values are alive at a time. */
static void emit_in_order(emitter *e, val column, val cols) {
  e->column = column;
  for (int i = 0; i < e->loop->ninst; i++) {
    const lgt_inst *in = &e->loop->inst[i];
    if (in->op == LGT_OP_STORE) {
      e->access[in->b].result = to_memory(e, in->dtype, e->value[in->a]);
      write_store(e, in, cols);
    } else if (e->level[i] == LEVEL_BODY) {
      emit_inst(e, i);
    }
  }
}

void take_column(emitter *e, val cols) {
  emit_level(e, LEVEL_BODY);
  for (int k = 0; k < e->ncarry; k++) {
    if (e->carry[k].redop < 0) continue;
    const lgt_inst *in = &e->loop->inst[e->carry[k].inst];
    take_in(e, k, (accumulator){e->value[in->a], in->op == LGT_OP_REDUCE_ARG ? e->value[in->c] : -1});
  }
  prepare_writes(e);
  write_stores(e, cols);
}

void emit_column(emitter *e, val column, val cols) {
  e->column = column;
  read_all(e, false);
  take_column(e, cols);
}

/* ---- targets ----------------------------------------------------------------------------------------- */

bool is_fresh(const emitter *e, int k) {
  const lgt_inst *in = &e->loop->inst[e->carry[k].inst];
  return in->op == LGT_OP_REDUCE_ARG || (in->aux & LGT_REDUCE_FRESH);
}

void begin_contents(emitter *e, val open) {
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

void write_targets(emitter *e) {
  for (int k = 0; k < e->ncarry; k++) write_first(e, e->carry[k].access, e->carry[k].value);
}

/* ---- lgt_kernel, without reductions ------------------------------------------------------------------ */

tile begin_tile(emitter *e) {
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

/* Of many accesses the addresses are computed where they are needed: all at once they do not fit into registers. */
enum { MANY_ACCESSES = 32 };

/* Everything that a body computes, for the columns from this one on. */
static void emit_elements(emitter *e, int lanes, val row, val column, val cols, const val *offset) {
  bool late = e->loop->naccess > MANY_ACCESSES;
  e->lanes = lanes;
  e->row = row;
  for (int k = 0; k < e->loop->naccess; k++) {
    const lgt_access *access = &e->loop->access[k];
    if (e->access[k].used && (!late || access->mode == LGT_ACCESS_INDEX || along_columns(access)))
      locate(e, k, offset);
  }
  e->late = late ? offset : NULL;
  emit_level(e, LEVEL_ONCE);
  emit_level(e, LEVEL_ROW);
  if (late) emit_in_order(e, column, cols);
  else emit_column(e, column, cols);
  e->late = NULL;
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
  take_elements(e,
                &(walk){.along = LGT_COLUMNS, .from = lane, .to = p.cols, .step = LGT_LANES, .cols = p.cols});
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

void wait_for_all(emitter *e) { put(e, "llvm.call_intrinsic \"llvm.nvvm.barrier0\"() : () -> ()\n"); }

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

/* Elements that a lane reads before it takes in the first, so that it waits for shared memory once for all of them. */
enum { TILE_AHEAD = 8 };

/* What the tile has for the k-th carried value's reduction from this thread on: `n` elements of a lane, all of which are read
 * before the first is taken in. */
static void take_from_tile(emitter *e, int k, val at, int n) {
  accumulator value[TILE_AHEAD];
  for (int i = 0; i < n; i++) {
    val there = i ? add(e, at, int_constant(e, i * LGT_LANES)) : at;
    value[i] = (accumulator){read_tile(e, k, there), -1};
    if (e->carry[k].redop >= LGT_REDOP_ARGMIN) value[i].at = read_tile(e, k + 1, there);
  }
  for (int i = 0; i < n; i++) take_in(e, k, value[i]);
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
    val after_groups = end_of_groups(e, lane, cols, LGT_LANES, TILE_AHEAD);
    turn column = begin_turns(e, lane, after_groups, scaled(e, sixteen, TILE_AHEAD), e->ncarry);
    take_from_tile(e, k, add(e, first, column.at), TILE_AHEAD);
    end_turns(e, &column);
    column = begin_turns(e, after_groups, cols, sixteen, e->ncarry);
    take_from_tile(e, k, add(e, first, column.at), 1);
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
  val none = int_constant(e, 0), steps = sequential_size(e, p->chunk);
  walk w = {.from = none, .step = 1, .row = row, .column = column, .chunk = p->chunk, .cols = p->cols};
  if (by_row) { /* the row has targets of its own */
    w.along = LGT_STEPS;
    w.to = steps;
    w.offset = offset;
    take_elements(e, &w);
  } else {
    w.along = LGT_ROWS;
    w.to = p->rows;
    w.offset = inner;
    turn step = begin_turns(e, none, steps, int_constant(e, 1), e->ncarry);
    walk_dims(e, true, p->chunk, step.at, inner);
    take_elements(e, &w);
    end_turns(e, &step);
  }
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

/* ---- the module -------------------------------------------------------------------------------------- */

static void begin_kernel(emitter *e, const char *name) {
  e->next = e->next_block = 0;
  e->row = -1;
  e->slab = e->next++;
  put(e, "func.func @$(%: !llvm.ptr) {\n", name, e->slab);
  collect_targets(e);
}

/* They come last. */
static void find_params(emitter *e) {
  int64_t bytes = e->loop->nparam * (int64_t)sizeof(lgt_scalar);
  e->params = advance(e, e->slab, int_constant(e, lgt_grid_param_bytes(e->loop) - bytes));
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
    if (in->op == LGT_OP_LOAD || in->op == LGT_OP_INDEX || lgt_op_effect(in->op)) continue;
    for (int n = lgt_inst_operands(in, operand), k = 0; k < n; k++)
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
  int64_t shared = (int64_t)lgt_grid_wide(e->loop) * LGT_GRID_WIDE_THREADS +
                   (int64_t)lgt_grid_tiles(e->loop) * LGT_GRID_TILE * (LGT_GRID_TILE + 1);
  if (shared)
    put(e,
        "llvm.mlir.global internal @lgt_tile() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<# "
        "x i8>\n",
        shared);
  e->out = &e->done;
  analyse(e);
  for (int i = 0; i < e->loop->ninst; i++)
    if (e->level[i] == LEVEL_FOUND) e->level[i] = LEVEL_BODY;
  load_late(e);
  find_divisors(e);
  for (int k = 0; k < e->loop->naccess; k++) {
    e->access[k].here = true;
    if (!is_target(e, k)) continue;
    reduces = true;
    vector = !along_columns(&e->loop->access[k]);
    by_row = e->loop->access[k].row != LGT_STRIDE_ZERO;
  }
  begin_kernel(e, "lgt_kernel");
  find_params(e);
  if (vector) emit_vector(e, by_row);
  else if (reduces) emit_lanes(e, by_row);
  else emit_plain(e);
  end_kernel(e);
  if (lgt_grid_wide(e->loop)) {
    begin_kernel(e, "lgt_wide");
    find_params(e);
    emit_wide(e, by_row);
    end_kernel(e);
  }
  if (lgt_grid_tiles(e->loop)) {
    begin_kernel(e, "lgt_tiles");
    find_params(e);
    emit_tiles(e);
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
