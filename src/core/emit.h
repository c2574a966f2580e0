/* emit.h - inside the emitter: loop -> MLIR text -> object.
 *
 *   emit.c        the entry, MLIR's and LLVM's machinery
 *   emit_loop.c   control flow, accesses, reductions: the function around a body
 *   emit_op.c     what each opcode becomes on a vector
 *
 * MLIR is written as text, one line an operation, and parsed.  That costs a third of a millisecond
 * for a large kernel and makes the emitter read like its output (LGT_DEBUG=emit:4 prints it).
 *
 * Values are SSA numbers (`val`).  def() and put() expand a format in which
 *     %  a val        $  a string, a type mostly        #  an int64_t
 * and everything else stands for itself:  def(e, "arith.addf %, % : $", a, b, type).
 *
 * Everything that a body computes is a vector of e->lanes elements, also what is the same for all
 * lanes.  In registers a bool is an i1, a float16 is a float32 whose value float16 can hold.
 */
#ifndef LGT_EMIT_H
#define LGT_EMIT_H

#include <stdio.h>

#include "half.h"
#include "helper.h"
#include "kernel.h"

typedef int val;

/* Element types of MLIR; the order is that of `elem_name`. */
typedef enum elem { I1, I8, I16, I32, I64, F16, F32, F64, NELEM } elem;

/* How much is known about the lanes of an iteration: all are in use, some are, or decide at run time. */
typedef enum fill { FULL, PART, EITHER } fill;

typedef struct text {
  char *data; /* owned */
  size_t size, room;
  bool failed; /* out of memory; checked once at the end */
} text;

/* An access within the function that is being written. */
typedef struct emit_access {
  bool used;
  val base;   /* address (INDEX: i64) where this row begins */
  val stride; /* i64, along the columns; ANY only */
  val start;  /* INDEX that moves: vector of the row's first values */
  val nt;     /* i1: its stores are non-temporal; -1 where that is not asked for */
  val loaded; /* vector read at the start of this iteration, as in memory */
  val result; /* vector to be written at its end, as in memory */
} emit_access;

/* Values that go around the loops: the accumulators of reductions along the columns. */
typedef struct carried {
  val value;
  int inst;
  int access;
  int redop;
} carried;

typedef struct emitter {
  const lgt_loop *loop;
  lgt_isa isa;
  int lanes;         /* elements an iteration works on */
  bool compact;      /* one body, for full and partial iterations, ordinary and streaming: long bodies */
  /* Pieces of the module, in their final order: declarations, finished functions; the function being
   * written: what its entry must begin with, and the rest. */
  text decl, done, entry, body;
  text *out;         /* the piece that def() and put() write to */
  val next;          /* number of the next value, of the next block */
  int next_block;
  uint32_t declared[LGT_NOP + 2]; /* by opcode (the last two: float16), a bit for each dtype: is the called
                                     function in decl? */
  emit_access *access;           /* owned, naccess */
  val *value;                    /* owned, ninst: the value of an instruction, once emitted */
  uint8_t *level;                /* owned, ninst: LEVEL_* */
  carried *carry;                /* owned */
  int ncarry;
  val slab, rows, cols;
  val stream;        /* i1, -1 in a function without non-temporal stores */
  val row, column;   /* i64: where the row, the iteration begins */
  val count, mask;   /* of a partial iteration: i64, vector of i1 */
  val scratch[2];    /* buffers of 512 bytes on the stack; -1 until asked for */
  char type[8][NELEM][20];       /* vector types by log2(lanes) */
} emitter;

/* Where a value is computed: not at all, once, once a row, in each iteration. */
enum { LEVEL_DEAD, LEVEL_ONCE, LEVEL_ROW, LEVEL_BODY };

/* ---- text ---- */
void put(emitter *e, const char *format, ...); /* as it is: no line end is added */
val def(emitter *e, const char *format, ...);
/* A buffer of 512 aligned bytes on the stack: 0 or 1. */
val scratch(emitter *e, int slot);
/* The type of a vector of `lanes` elements. */
const char *vector_type(emitter *e, int lanes, elem el);
static inline const char *lanes_type(emitter *e, elem el) { return vector_type(e, e->lanes, el); }

/* ---- emit_op.c ---- */
elem reg_elem(int dtype);
elem mem_elem(int dtype);
int elem_size(elem el);
/* Constants in all lanes. */
val splat_int(emitter *e, elem el, int64_t value);
val splat_float(emitter *e, elem el, double value);
val splat_constant(emitter *e, int dtype, lgt_scalar value);
/* A scalar in all lanes. */
val splat(emitter *e, elem el, val scalar);
/* Between the memory's and the registers' form of a dtype. */
val from_memory(emitter *e, int dtype, val vector);
val to_memory(emitter *e, int dtype, val vector);
val convert(emitter *e, int from, int to, val a);
/* Lane k becomes lane first + k % period. */
val shuffle_lanes(emitter *e, elem el, val a, int first, int period);
/* The opcode on operands of dtype `from`. */
val emit_unary(emitter *e, int op, int from, val a);
val emit_binary(emitter *e, int op, int from, val a, val b);
val select_lanes(emitter *e, elem el, val condition, val yes, val no);
/* (*v, *at) = the better of itself and (w, w_at). */
void emit_better(emitter *e, int redop, int dtype, val *v, val *at, val w, val w_at);

/* ---- emit_loop.c ---- */
/* The whole module into e->decl and e->done. */
void emit_module(emitter *e);

#endif
