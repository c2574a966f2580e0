/* emit_rows.c - reductions along the columns, several rows at a time.
 *
 * A CPU fetches what follows in a few streams at once, and waits less the more of them there are: four rows side by side
 * come from the L3 cache or the memory a quarter faster than one after another.  Each row has accumulators of its own, so
 * the order in which its values are combined is that of loop.h, and the bits are the same.
 *
 * Rows that lie one behind the other are a stream that goes on from row to row, where those of a group break off and begin
 * elsewhere: short ones (measured: of less than one and a half pages) come slower in groups, up to 1.7 times.  Small elements
 * whose accumulator is a single register wait for that rather than for the memory, and gain by four of them in any case.
 *
 * Before the first row of a group, the full vectors of all its rows are taken into accumulators, which are left on the
 * stack.  Then each row is worked on as ever (emit_loop.c), but goes on from there, at its last columns.
 */
#include "kernel/emit/emit.h"

#include <string.h>

#include "base/mem.h"

enum { ROWS = 4, LEAST_COLUMNS = 128, LONG_ROW = 6144 /* bytes */ };

static val full_columns(emitter *e) { return int_op(e, "andi", e->cols, int_constant(e, -e->lanes)); }

/* What the emitter knows of each row of a group. */
typedef struct row_group {
  emit_access *access; /* owned, ROWS * naccess */
  val *value;          /* owned, ROWS * ninst */
  int ncarry;          /* of one row */
} row_group;

bool may_group_rows(const emitter *e) {
  int loads = 0;
  if (e->ncarry != 1 || e->nphase != 1 || e->compact || !e->short_body) return false;
  for (int i = 0; i < e->loop->ninst; i++)
    if (lgt_op_effect(e->loop->inst[i].op) && e->loop->inst[i].op != LGT_OP_REDUCE) return false;
  for (int k = 0; k < e->loop->naccess; k++) {
    const lgt_access *access = &e->loop->access[k];
    if (access->mode == LGT_ACCESS_REDUCE && (!along_columns(access) || access->row == LGT_STRIDE_ZERO))
      return false;
    if (access->mode == LGT_ACCESS_LOAD && access->inner == LGT_STRIDE_UNIT) loads++;
  }
  return loads > 0 && reg_elem(e->loop->access[e->carry[0].access].dtype) != I1;
}

static int widest_load(const emitter *e) {
  int widest = 1;
  for (int k = 0; k < e->loop->naccess; k++) {
    const lgt_access *access = &e->loop->access[k];
    int size = elem_size(access_elem(e, k));
    if (access->mode == LGT_ACCESS_LOAD && access->inner == LGT_STRIDE_UNIT && size > widest) widest = size;
  }
  return widest;
}

val are_rows_for_groups(emitter *e) {
  val strides = field(e, e->slab, offsetof(lgt_slab, row_stride), "!llvm.ptr");
  val least = int_constant(e, LEAST_COLUMNS - 1), most = int_constant(e, LONG_ROW / widest_load(e) - 1);
  for (int k = 0; k < e->loop->naccess; k++) {
    const lgt_access *access = &e->loop->access[k];
    if (access->mode != LGT_ACCESS_LOAD || access->inner != LGT_STRIDE_UNIT || e->native >= e->lanes)
      continue;
    val row = int_op(e, "muli", e->cols, int_constant(e, elem_size(access_elem(e, k))));
    val behind = def(e, "arith.cmpi eq, %, % : i64", field(e, strides, k * 8, "i64"), row);
    least = def(e, "arith.select %, %, % : i64", behind, most, least);
  }
  return int_less(e, least, e->cols);
}

static void keep_row(emitter *e, row_group *g, int row) {
  size_t naccess = e->loop->naccess, ninst = e->loop->ninst;
  memcpy(g->access + (size_t)row * naccess, e->access, naccess * sizeof *g->access);
  memcpy(g->value + (size_t)row * ninst, e->value, ninst * sizeof *g->value);
}

static void turn_to_row(emitter *e, const row_group *g, int row) {
  size_t naccess = e->loop->naccess, ninst = e->loop->ninst;
  memcpy(e->access, g->access + (size_t)row * naccess, naccess * sizeof *g->access);
  memcpy(e->value, g->value + (size_t)row * ninst, ninst * sizeof *g->value);
}

static void begin_group(emitter *e, row_group *g, val first) {
  for (int row = 0; row < ROWS; row++) {
    e->row = int_op(e, "addi", first, int_constant(e, row));
    begin_row_accesses(e, true);
    begin_row_accesses(e, false);
    emit_level(e, LEVEL_ROW);
    keep_row(e, g, row);
    for (int k = 0; k < g->ncarry; k++) e->carry[row * g->ncarry + k] = e->carry[k];
  }
  e->ncarry = ROWS * g->ncarry;
  begin_accumulators(e, 0, e->ncarry);
}

/* The full vectors of a group's columns, into its accumulators. */
static void take_columns(emitter *e, const row_group *g) {
  int loop = e->next_block++, after = e->next_block++;
  val zero = int_constant(e, 0), end = full_columns(e);
  branch(e, loop, &zero, 1, e->ncarry);
  begin_block(e, loop, &e->column, 1, e->ncarry);
  for (int row = 0; row < ROWS; row++) {
    turn_to_row(e, g, row);
    read_all(e, false);
    emit_phase(e);
    accumulate_some(e, row * g->ncarry, (row + 1) * g->ncarry, false);
  }
  val next = int_op(e, "addi", e->column, int_constant(e, e->lanes));
  branch_if(e, int_less(e, next, end), loop, &next, 1, after, e->ncarry);
  begin_block(e, after, NULL, 0, e->ncarry);
}

static elem kept_elem(const emitter *e) { return reg_elem(e->loop->access[e->carry[0].access].dtype); }

/* Where a row's accumulator is left. */
static val kept_at(emitter *e, val row) {
  val at = int_op(e, "andi", row, int_constant(e, ROWS - 1));
  return advance(e, scratch(e, SCRATCH_ROWS),
                 int_op(e, "muli", at, int_constant(e, LGT_LANES * elem_size(kept_elem(e)))));
}

void emit_row_group(emitter *e) {
  row_group g = {lgt_mem_alloc(ROWS * (size_t)e->loop->naccess * sizeof *g.access),
                 lgt_mem_alloc(ROWS * (size_t)e->loop->ninst * sizeof *g.value), e->ncarry};
  int group = e->next_block++, after = e->next_block++;
  val first = e->row, last = int_op(e, "ori", first, int_constant(e, ROWS - 1));
  e->grouped = bit_and(e, int_less(e, last, e->rows), e->groups);
  val begins = int_op(e, "andi", first, int_constant(e, ROWS - 1));
  begins = def(e, "arith.cmpi eq, %, % : i64", begins, int_constant(e, 0));
  branch_if(e, bit_and(e, e->grouped, begins), group, NULL, 0, after, 0);
  begin_block(e, group, NULL, 0, 0);
  if (g.access && g.value) {
    begin_group(e, &g, first);
    take_columns(e, &g);
    for (int row = 0; row < ROWS; row++) {
      val at = kept_at(e, int_constant(e, row));
      write_vector(e, at, e->carry[row * g.ncarry].value, kept_elem(e), elem_size(kept_elem(e)), "");
    }
  } else {
    e->body.failed = true;
  }
  branch(e, after, NULL, 0, 0);
  begin_block(e, after, NULL, 0, 0);
  e->ncarry = g.ncarry;
  e->row = first;
  lgt_mem_free(g.access);
  lgt_mem_free(g.value);
}

void leave_group(emitter *e, int single) {
  int go_on = e->next_block++, begin = e->next_block++;
  val fresh = e->carry[0].value, end = full_columns(e);
  branch_if(e, e->grouped, go_on, NULL, 0, begin, 0);
  begin_block(e, go_on, NULL, 0, 0);
  e->carry[0].value = def(e, "llvm.load % {alignment = # : i64} : !llvm.ptr -> $", kept_at(e, e->row),
                          (int64_t)elem_size(kept_elem(e)), lanes_type(e, kept_elem(e)));
  branch(e, single, &end, 1, e->ncarry);
  begin_block(e, begin, NULL, 0, 0);
  e->carry[0].value = fresh;
}
