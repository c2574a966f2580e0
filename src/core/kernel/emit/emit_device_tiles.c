/* emit_device_tiles.c - loops that read along one dimension and write along the other, as transposes do.
 *
 * Neighbouring threads are to come to neighbouring elements, both where they read and where they write.  A block of 32 x 8
 * threads has a square of 32 rows and 32 columns:
 *
 *   fill   thread x takes row x, four columns of it: what lies side by side along the rows goes into shared memory
 *   wait   for all threads of the block
 *   work   thread x takes column x, four rows of it: it finds these elements in shared memory, the others where they are
 *
 * A line of the square has an element more than columns, so that both walks meet all banks of shared memory.  Elements that the
 * loop writes, too, are read by fill before anybody writes: views of what a loop writes agree (plan/weave.h), so no other block
 * comes to them.
 */
#include "kernel/emit/emit_device.h"

enum { LINE = LGT_GRID_TILE + 1 };

static bool is_staged(const emitter *e, int k) {
  return e->access[k].used && lgt_grid_staged(&e->loop->access[k]);
}

/* Where the square of an access begins. */
static val square_of(emitter *e, int k) {
  int64_t before = 0;
  for (int i = 0; i < k; i++)
    if (lgt_grid_staged(&e->loop->access[i])) before += elem_size(access_elem(e, i));
  val all = def(e, "llvm.mlir.addressof @lgt_tile : !llvm.ptr<3>");
  val at = def(e, "llvm.addrspacecast % : !llvm.ptr<3> to !llvm.ptr", all);
  return advance(e, at, int_constant(e, before * LGT_GRID_TILE * LINE));
}

static val is_inside(emitter *e, val row, val column) {
  return bit_and(e, int_less(e, row, LONG(rows)), int_less(e, column, LONG(cols)));
}

/* The element of this row and column goes to its place among the square's. */
static void fill_square(emitter *e, int k, val row, val column, val across, val down, const val *offset) {
  elem el = access_elem(e, k);
  e->row = row;
  locate(e, k, offset);
  e->column = column;
  val element = read_access(e, k, false);
  val place = add(e, scaled(e, across, LINE), down);
  write_vector(e, advance(e, square_of(e, k), scaled(e, place, elem_size(el))), element, el, elem_size(el),
               "");
}

/* From now on the access is to the square, in which the row is this one and the first column is `first`. */
static void read_square(emitter *e, int k, val down, val first) {
  int64_t size = elem_size(access_elem(e, k));
  val back = scaled(e, first, -LINE * size);
  e->access[k].base = advance(e, square_of(e, k), add(e, scaled(e, down, size), back));
  e->access[k].stride = int_constant(e, LINE * size);
}

void emit_tiles(emitter *e) {
  val offset[LGT_MAX_ACCESS], x = special(e, "tid.x"), y = special(e, "tid.y");
  val side = int_constant(e, LGT_GRID_TILE), step = int_constant(e, LGT_GRID_THREADS / LGT_GRID_TILE);
  tile t = begin_tile(e);
  val top = scaled(e, int_op(e, "subi", t.row, y), LGT_GRID_TILE * LGT_GRID_TILE / LGT_GRID_THREADS);
  no_offsets(e, offset);
  walk_dims(e, false, -1, t.unit, offset);
  turn line = begin_turns(e, y, side, step, 0);
  val row = add(e, top, x), column = add(e, t.x, line.at);
  int after = begin_if(e, is_inside(e, row, column));
  for (int k = 0; k < e->loop->naccess; k++)
    if (is_staged(e, k)) fill_square(e, k, row, column, line.at, x, offset);
  end_if(e, after);
  end_turns(e, &line);
  wait_for_all(e);
  line = begin_turns(e, y, side, step, 0);
  row = add(e, top, line.at);
  column = add(e, t.x, x);
  after = begin_if(e, is_inside(e, row, column));
  begin_row(e, row, offset);
  for (int k = 0; k < e->loop->naccess; k++)
    if (is_staged(e, k)) read_square(e, k, line.at, t.x);
  emit_level(e, LEVEL_ONCE);
  emit_level(e, LEVEL_ROW);
  emit_column(e, column, LONG(cols));
  end_if(e, after);
  end_turns(e, &line);
}
