/* emit_device_ahead.c - a thread of a device loads several elements before it takes in the first of them.
 *
 * What a thread takes in, it takes in one after another, as loop.h has it: an addition lasts some eight cycles.  A load lasts
 * hundreds, and where threads are few (one for each column of a matrix) nobody else works meanwhile.  So
 *
 *   sum += a[0]; sum += a[1]; ...       becomes       x0 = a[0]; x1 = a[1]; ...; sum += x0; sum += x1; ...
 *
 * in groups of as many elements as fit into registers (lgt_grid_ahead), and one by one what is left.
 */
#include "kernel/emit/emit_device.h"

#include <string.h>

/* What an element has of its own once it is loaded. */
typedef struct element {
  emit_access access[LGT_GRID_AHEAD_ACCESSES];
  val value[LGT_GRID_AHEAD_INSTS];
  val column;
} element;

static void load(emitter *e, const walk *w, val at) {
  val inner[LGT_MAX_ACCESS];
  const val *offset = w->offset;
  if (w->along == LGT_STEPS) {
    memcpy(inner, offset, (size_t)e->loop->naccess * sizeof *inner);
    walk_dims(e, true, w->chunk, at, inner);
    offset = inner;
  }
  if (w->along != LGT_COLUMNS) {
    begin_row(e, w->along == LGT_ROWS ? at : w->row, offset);
    emit_level(e, LEVEL_ROW);
  }
  e->column = w->along == LGT_COLUMNS ? at : w->column;
  read_all(e, false);
}

static void keep(const emitter *e, element *out) {
  memcpy(out->access, e->access, e->loop->naccess * sizeof *e->access);
  memcpy(out->value, e->value, e->loop->ninst * sizeof *e->value);
  out->column = e->column;
}

static void come_back(emitter *e, const element *to) {
  memcpy(e->access, to->access, e->loop->naccess * sizeof *e->access);
  memcpy(e->value, to->value, e->loop->ninst * sizeof *e->value);
  e->column = to->column;
}

val end_of_groups(emitter *e, val from, val to, int step, int n) {
  val distance = int_op(e, "maxsi", int_op(e, "subi", to, from), int_constant(e, 0));
  distance = add(e, distance, int_constant(e, step - 1)); /* a last element may have less than a step */
  return add(e, from, int_op(e, "andi", distance, int_constant(e, -(int64_t)n * step)));
}

/* Turns of `n` elements; returns where the first of the others is. */
static val take_groups(emitter *e, const walk *w, int n) {
  element all[LGT_GRID_AHEAD];
  val after = end_of_groups(e, w->from, w->to, w->step, n);
  turn group = begin_turns(e, w->from, after, int_constant(e, (int64_t)n * w->step), e->ncarry);
  for (int i = 0; i < n; i++) {
    load(e, w, i ? add(e, group.at, int_constant(e, i * w->step)) : group.at);
    keep(e, &all[i]);
  }
  for (int i = 0; i < n; i++) {
    come_back(e, &all[i]);
    take_column(e, w->cols);
  }
  end_turns(e, &group);
  return after;
}

void take_elements(emitter *e, const walk *w) {
  int n = lgt_grid_ahead(e->loop);
  val from = n > 1 ? take_groups(e, w, n) : w->from;
  turn single = begin_turns(e, from, w->to, int_constant(e, w->step), e->ncarry);
  load(e, w, single.at);
  take_column(e, w->cols);
  end_turns(e, &single);
}
