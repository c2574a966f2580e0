/* emit_device.h - between emit_device.c and the other emit_device_*.c: parameters, threads, and loops of a device's kernels. */
#ifndef LGT_EMIT_DEVICE_H
#define LGT_EMIT_DEVICE_H

#include <stddef.h>

#include "kernel/emit/emit.h"
#include "kernel/grid.h"

/* ---- parameters, threads ----------------------------------------------------------------------------- */

enum { BASE, ROW, COLUMN, OUTER };

static inline val head(emitter *e, size_t offset, const char *type) { return field(e, e->slab, (int64_t)offset, type); }
static inline val wide(emitter *e, val word) { return def(e, "arith.extui % : i32 to i64", word); }
/* A field of 32 bits, as i64. */
static inline val count(emitter *e, size_t offset) { return wide(e, head(e, offset, "i32")); }
#define HEAD(member) count(e, offsetof(lgt_grid_head, member))
#define LONG(member) head(e, offsetof(lgt_grid_head, member), "i64")
#define FOLD(member) count(e, offsetof(lgt_grid_fold, member))

static inline size_t entry_at(const emitter *e, int array, int access) {
  return sizeof(lgt_grid_head) + 8 * (size_t)(array * e->loop->naccess + access);
}
static inline val entry(emitter *e, int array, int access) { return head(e, entry_at(e, array, access), "i64"); }
static inline int chunk_array(const emitter *e) { return OUTER + lgt_grid_dims(e->loop); }

static inline val special(emitter *e, const char *name) {
  return wide(e, def(e, "llvm.call_intrinsic \"llvm.nvvm.read.ptx.sreg.$\"() : () -> i32", name));
}

static inline val pointer(emitter *e, val address) {
  val global = def(e, "llvm.inttoptr % : i64 to !llvm.ptr<1>", address);
  return def(e, "llvm.addrspacecast % : !llvm.ptr<1> to !llvm.ptr", global);
}

static inline val add(emitter *e, val a, val b) { return int_op(e, "addi", a, b); }
static inline val multiply(emitter *e, val a, val b) { return int_op(e, "muli", a, b); }
static inline val least(emitter *e, val a, val b) { return int_op(e, "minsi", a, b); }
static inline val equal(emitter *e, val a, val b) { return def(e, "arith.cmpi eq, %, % : i64", a, b); }

/* Of numbers below 2^32. */
static inline val quotient(emitter *e, const char *op, val a, val b) {
  val x = def(e, "arith.trunci % : i64 to i32", a), y = def(e, "arith.trunci % : i64 to i32", b);
  return wide(e, def(e, "arith.$ %, % : i32", op, x, y));
}
static inline val divide(emitter *e, val a, val b) { return quotient(e, "divui", a, b); }
static inline val rest(emitter *e, val a, val b) { return quotient(e, "remui", a, b); }

/* ---- blocks ------------------------------------------------------------------------------------------ */

/* A loop, around which the first `ncarry` carried values go. */
typedef struct turn {
  val at, end, step;
  int block, after, ncarry;
} turn;

static inline turn begin_turns(emitter *e, val from, val end, val step, int ncarry) {
  turn t = {.end = end, .step = step, .block = e->next_block++, .after = e->next_block++, .ncarry = ncarry};
  branch_if(e, int_less(e, from, end), t.block, &from, 1, t.after, ncarry);
  begin_block(e, t.block, &t.at, 1, ncarry);
  return t;
}

static inline void end_turns(emitter *e, const turn *t) {
  val next = add(e, t->at, t->step);
  branch_if(e, int_less(e, next, t->end), t->block, &next, 1, t->after, t->ncarry);
  begin_block(e, t->after, NULL, 0, t->ncarry);
}

/* What follows is for those for whom the condition holds; returns the block where all go on, for end_if. */
static inline int begin_if(emitter *e, val condition) {
  int yes = e->next_block++, after = e->next_block++;
  branch_if(e, condition, yes, NULL, 0, after, 0);
  begin_block(e, yes, NULL, 0, 0);
  return after;
}

static inline void end_if(emitter *e, int after) {
  branch(e, after, NULL, 0, 0);
  begin_block(e, after, NULL, 0, 0);
}

/* ---- positions --------------------------------------------------------------------------------------- */

static inline bool is_target(const emitter *e, int k) { return e->loop->access[k].mode == LGT_ACCESS_REDUCE; }

/* A field at a distance that is known only when the kernel runs. */
static inline val head_at(emitter *e, val distance, size_t offset, const char *type) {
  return field(e, advance(e, e->slab, distance), (int64_t)offset, type);
}
static inline val scaled(emitter *e, val number, int64_t by) { return multiply(e, number, int_constant(e, by)); }

/* A loop over dimensions: the values of `own`, of which the first is the dimension's number, go around it. */
typedef struct dim_turn {
  val own[LGT_MAX_ACCESS + 2];
  val end;
  int n, block, after;
} dim_turn;

static inline void turn_or_end(emitter *e, dim_turn *t) {
  put(e, "cf.cond_br %, ^#", int_less(e, t->own[0], t->end), (int64_t)t->block);
  put_arguments(e, t->own, t->n, 0);
  put(e, ", ^#", (int64_t)t->after);
  put_arguments(e, t->own, t->n, 0);
  put(e, "\n");
}

static inline void begin_dims(emitter *e, dim_turn *t, val end) {
  t->end = end;
  t->block = e->next_block++;
  t->after = e->next_block++;
  t->own[0] = int_constant(e, 0);
  turn_or_end(e, t);
  begin_block(e, t->block, t->own, t->n, 0);
}

static inline void end_dims(emitter *e, dim_turn *t) {
  t->own[0] = add(e, t->own[0], int_constant(e, 1));
  turn_or_end(e, t);
  begin_block(e, t->after, t->own, t->n, 0);
}

/* ---- emit_device.c ---- */
/* Where a thread works. */
typedef struct tile {
  val x, unit;         /* the tile's first thread along the columns; the unit */
  val row, width, own; /* the row; threads of the block along the columns, and which of them this is */
} tile;
tile begin_tile(emitter *e);
void no_offsets(emitter *e, val *offset);
void walk_dims(emitter *e, bool sequential, val chunk, val number, val *offset);
void begin_row(emitter *e, val row, const val *offset);
void emit_column(emitter *e, val column, val cols);
/* The same of a column whose elements were read. */
void take_column(emitter *e, val cols);
void wait_for_all(emitter *e);
/* carry[k] = carry[k] op value */
void take_in(emitter *e, int k, accumulator value);
/* Are the former contents of the target dropped? */
bool is_fresh(const emitter *e, int k);
/* The carried values become what the targets hold: the identity if they are open (i1), or fresh. */
void begin_contents(emitter *e, val open);
void write_targets(emitter *e);
/* i1 */
static inline val is_set(emitter *e, val flag) { return int_less(e, int_constant(e, 0), flag); }

/* ---- emit_device_ahead.c ---- */
/* What a thread takes in one after another: columns of the row that was begun; or, in one column, rows, or positions of a row
 * along the sequential dimensions. */
typedef struct walk {
  enum { LGT_COLUMNS, LGT_ROWS, LGT_STEPS } along;
  val from, to;      /* in steps of `step` */
  int step;          /* a power of two */
  val row, column;   /* LGT_STEPS; all but LGT_COLUMNS */
  val chunk, cols;   /* LGT_STEPS; of the row */
  const val *offset; /* of the accesses, all but LGT_COLUMNS */
} walk;
void take_elements(emitter *e, const walk *walk);
/* Where groups of n elements end, from `from` on in steps of `step` (both powers of two), none of which reaches `to`. */
val end_of_groups(emitter *e, val from, val to, int step, int n);

/* ---- emit_device_fold.c ---- */
/* The bodies of lgt_steps and lgt_chunks. */
void emit_steps(emitter *e);
void emit_chunks(emitter *e);
/* ---- emit_device_quotient.c ---- */
void find_divisors(emitter *e);
/* ---- emit_device_tiles.c ---- */
void emit_tiles(emitter *e);

#endif
