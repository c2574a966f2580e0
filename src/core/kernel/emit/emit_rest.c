/* emit_rest.c - reductions along the columns: those columns of a row that fill no vector of 16 lanes.
 *
 * Rows of a small matrix are short, and an iteration of 16 lanes of which four are in use costs as much as one of all: much of
 * the time of 100 rows of 100 columns.  So the rest of a row is taken a register at a time, each into its lanes of the
 * accumulators, whole while it is full, masked where the row ends in it.  An element goes into the same lane as ever.
 */
#include "kernel/emit/emit.h"

#include <string.h>

#include "base/mem.h"

bool may_take_registers(const emitter *e) {
  if (!e->short_body || e->nphase != 1 || e->compact || e->ncarry == 0 || e->native >= e->lanes) return false;
  for (int i = 0; i < e->loop->ninst; i++)
    if (lgt_op_effect(e->loop->inst[i].op) && e->loop->inst[i].op != LGT_OP_REDUCE) return false;
  for (int k = 0; k < e->loop->naccess; k++) {
    const lgt_access *access = &e->loop->access[k];
    if (access->mode == LGT_ACCESS_REDUCE && (!along_columns(access) || reg_elem(access->dtype) == I1))
      return false;
  }
  return true;
}

static val first_lanes(emitter *e, elem el, val vector) {
  return shuffle(e, el, e->lanes, e->native, vector, vector, 0, e->native);
}

/* What was computed before the columns, in as many lanes as a register has. */
static void narrow(emitter *e) {
  for (int i = 0; i < e->loop->ninst; i++)
    if (e->level[i] == LEVEL_ONCE || e->level[i] == LEVEL_ROW)
      e->value[i] = first_lanes(e, reg_elem(e->loop->inst[i].dtype), e->value[i]);
  for (int k = 0; k < e->loop->naccess; k++) {
    const lgt_access *access = &e->loop->access[k];
    if (access->mode == LGT_ACCESS_INDEX && e->access[k].used && !along_columns(access))
      e->access[k].start = first_lanes(e, I64, e->access[k].start);
  }
}

/* Into the accumulators' lanes from `at` on; `count`: as in an iteration, or -1 for all of a register. */
static void take_register(emitter *e, int at, val column, val count) {
  int lanes = e->lanes;
  val whole[2 * LGT_MAX_REDUCTIONS];
  for (int k = 0; k < e->ncarry; k++) {
    whole[k] = e->carry[k].value;
    e->carry[k].value = shuffle(e, reg_elem(e->loop->access[e->carry[k].access].dtype), lanes, e->native,
                                whole[k], whole[k], at, e->native);
  }
  e->lanes = e->native;
  e->column = column;
  e->count = count;
  if (count >= 0) e->mask = lanes_in_use(e, count);
  read_all(e, count >= 0);
  emit_phase(e);
  accumulate(e, count >= 0);
  e->lanes = lanes;
  for (int k = 0; k < e->ncarry; k++) {
    elem el = reg_elem(e->loop->access[e->carry[k].access].dtype);
    e->carry[k].value = insert_lanes(e, el, whole[k], e->carry[k].value, e->native, at);
  }
}

static void take_registers(emitter *e, val first, val left, int done) {
  for (int at = 0;; at += e->native) {
    val column = int_op(e, "addi", first, int_constant(e, at));
    val here = int_op(e, "subi", left, int_constant(e, at)), before[2 * LGT_MAX_REDUCTIONS];
    if (at + e->native == e->lanes) {
      take_register(e, at, column, here);
      branch(e, done, NULL, 0, e->ncarry);
      return;
    }
    int all = e->next_block++, some = e->next_block++, next = e->next_block++;
    branch_if(e, int_less(e, here, int_constant(e, e->native)), some, NULL, 0, all, 0);
    for (int k = 0; k < e->ncarry; k++) before[k] = e->carry[k].value;
    begin_block(e, some, NULL, 0, 0);
    take_register(e, at, column, here);
    branch(e, done, NULL, 0, e->ncarry);
    for (int k = 0; k < e->ncarry; k++) e->carry[k].value = before[k];
    begin_block(e, all, NULL, 0, 0);
    take_register(e, at, column, -1);
    val more = int_less(e, int_constant(e, e->native), here);
    put(e, "cf.cond_br %, ^#, ^#", more, (int64_t)next, (int64_t)done);
    put_arguments(e, NULL, 0, e->ncarry);
    put(e, "\n");
    begin_block(e, next, NULL, 0, 0);
  }
}

void emit_rest(emitter *e, val first, val left, int done) {
  size_t nvalue = (size_t)e->loop->ninst * sizeof *e->value;
  size_t naccess = (size_t)e->loop->naccess * sizeof *e->access;
  val *value = lgt_mem_alloc(nvalue);
  emit_access *access = lgt_mem_alloc(naccess);
  if (value && access) {
    memcpy(value, e->value, nvalue);
    memcpy(access, e->access, naccess);
    narrow(e);
    take_registers(e, first, left, done);
    memcpy(e->value, value, nvalue);
    memcpy(e->access, access, naccess);
  } else {
    e->body.failed = true;
  }
  lgt_mem_free(value);
  lgt_mem_free(access);
}
