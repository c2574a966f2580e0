/* emit.h - inside the emitter: loop -> MLIR text -> object.
 *
 *   emit.c          the entry, MLIR's and LLVM's machinery
 *   emit_loop.c     control flow: the function around a body
 *   emit_phase.c    bodies that call functions on arrays
 *   emit_access.c   reading and writing elements
 *   emit_reduce.c   accumulators
 *   emit_rest.c     ... of the columns that fill no vector
 *   emit_rows.c     reductions of several rows at a time
 *   emit_op.c       what each opcode becomes on a vector
 *   emit_math.c     constant powers
 *   emit_text.c     text, types, constants, blocks
 *   emit_device.c, emit_ptx.c    the same for devices (kernel/grid.h): other control flow, and PTX for the object
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
 *
 * The emitter is a module of its own that shows two functions to the world, so its names are short.
 */
#ifndef LGT_EMIT_H
#define LGT_EMIT_H

#include <stdio.h>

#include "kernel/elementary/elementary.h"
#include "base/half.h"
#include "kernel/helper.h"
#include "kernel/kernel.h"

typedef int val;

/* Element types of MLIR; from F16 on they are floats. */
typedef enum elem { I1, I8, I16, I32, I64, F16, F32, F64, NELEM } elem;

typedef struct text {
  char *data; /* owned */
  size_t size, room;
  bool failed; /* out of memory; checked once at the end */
} text;

/* An access within the function that is being written. */
typedef struct emit_access {
  bool used;
  bool here;     /* read in the phase that is being written */
  bool placed;   /* base is where this iteration begins */
  val base;      /* address (INDEX: i64) where this row begins */
  val stride;    /* i64, along the columns; ANY only */
  val start;     /* INDEX that moves: vector of the row's first values */
  val nt;        /* i1: its stores are non-temporal; -1 where that is not asked for */
  val joint;     /* i1: it and the next one are the parts of the same numbers; see may_be_joint */
  val loaded;    /* vector read at the start of this iteration, as in memory */
  val result;    /* vector to be written at its end, as in memory */
  val open;      /* i1: target of the vector form, and nothing has reached it in earlier rows */
  val origin;    /* if e->known_rows: base in the first row */
  val to_row;    /* ... and from a row to the next one */
  int reduction; /* number of the reduction whose (value's) target it is */
} emit_access;

/* A value that goes around the loops: an accumulator of a reduction along the columns.  That of an
 * argmin or argmax is two, the second one with `inst` and `redop` -1. */
typedef struct carried {
  val value;
  val late; /* i1: some position that is known may come later than those of this row; -1: that is always so */
  int inst;
  int access;
  int redop;
} carried;

/* Iterations whose values are joined before an accumulator takes them in. */
enum { JOINED = 4 };

/* Called functions that are no opcode's. */
enum { KEY_FROM_HALF = LGT_NOP, KEY_TO_HALF, KEY_SINCOS, NKEY };

/* An instruction in the phases of its body (emit_phase.c).  Rooms are numbers of buffers; -1: none. */
typedef struct staged {
  int phase;
  bool called;    /* by a function on arrays, after its phase's columns */
  bool needed;    /* in the phase that is being written */
  int result;     /* room of what the function gives */
  int value;      /* room of the value, for later phases and functions */
  int last;       /* the last phase that looks into either room */
  int operand[2]; /* rooms of the function's operands, where these are not elsewhere in the form that it takes */
} staged;

/* A function on arrays that computes an opcode: out, a, b, n. */
typedef struct called_function {
  char name[48];
  int dtype; /* of its arrays; FLOAT16 is the registers' form of it, float32 */
} called_function;

/* What several quotients are divided by, on a device (emit_device_quotient.c). */
typedef struct divisor {
  int uses;
  val ordinary; /* i1: not among the largest and smallest numbers */
  val inverse;  /* rounded to the nearest; of one that is not ordinary NaN */
  val negative;
} divisor;

typedef struct emitter {
  const lgt_loop *loop;
  lgt_isa isa;
  lgt_kernel_form form;
  bool device; /* for a device: no masks, functions of one element, parameters at `params` */
  val params;
  const val *late; /* of a device: the offsets of accesses, if each that moves is located where it is needed; or NULL */
  int lanes;       /* elements an iteration works on */
  int native;      /* ... as many of the widest ones as a register holds */
  bool short_body; /* of a few simple instructions */
  bool compact;    /* one body, for full and partial iterations: long bodies */
  bool known_rows; /* accesses have origin and to_row */
  bool narrow;     /* the function being written keeps targets of the vector form in registers */
  /* Pieces of the module, in their final order: declarations, finished functions; the function being
   * written: what its entry must begin with, and the rest. */
  text decl, done, entry, body;
  text *out; /* the piece that def() and put() write to */
  val next;  /* number of the next value, of the next block */
  int next_block;
  uint32_t declared[NKEY]; /* by opcode or KEY_*, a bit for each dtype: is the called function in decl? */
  emit_access *access;     /* owned, naccess */
  val *value;              /* owned, ninst: the value of an instruction, once emitted */
  divisor *divisor;        /* owned, ninst */
  uint8_t *level;          /* owned, ninst: LEVEL_* */
  staged *stage;           /* owned, ninst */
  int nphase, now;         /* phases of the body; the one that is being written */
  int nroom, block;        /* buffers on the stack; their elements */
  int direct;              /* instruction whose function may write into the loop's only target; or -1 */
  val room;                /* address of the first one; -1 until asked for */
  val first, extent;       /* i64: column where the block begins, its columns */
  carried *carry;          /* owned */
  int ncarry;
  bool joins;                           /* see may_join */
  val kept[JOINED][LGT_MAX_REDUCTIONS]; /* what these are to take in, by iteration */
  val slab, rows, cols, open;           /* the slab and what it says */
  val stream;                           /* i1, -1 in a function without non-temporal stores */
  val ahead;                            /* i64: how many rows ahead the CPU is told; or -1 */
  val row, column;                      /* i64: where the row, the iteration begins */
  val count, mask;                      /* of a partial iteration: i64, vector of i1 */
  val groups;                           /* i1: are there groups of rows; or -1 */
  val grouped;                          /* i1: is the row one of a group, see emit_rows.c; or -1 */
  val scratch[3];                       /* buffers of 512 bytes on the stack; -1 until asked for */
  char type[8][NELEM][20];              /* vector types by log2(lanes) */
} emitter;

/* Where a value is computed: not at all, once, once a row, in each iteration, where an argmin or argmax finds something. */
enum { LEVEL_DEAD, LEVEL_ONCE, LEVEL_ROW, LEVEL_BODY, LEVEL_FOUND };

/* ---- emit_text.c ---- */
void put(emitter *e, const char *format, ...); /* as it is: no line end is added */
val def(emitter *e, const char *format, ...);
/* Moves the text. */
void append(text *to, text *from);
/* A buffer of 512 aligned bytes on the stack: 0 or 1, for functions, or that of groups of rows. */
enum { SCRATCH_ROWS = 2 };
val scratch(emitter *e, int slot);

elem reg_elem(int dtype);
elem mem_elem(int dtype);
int elem_size(elem el);
const char *scalar_type(elem el);
const char *vector_type(emitter *e, int lanes, elem el);
static inline const char *lanes_type(emitter *e, elem el) { return vector_type(e, e->lanes, el); }

/* Constants in all lanes; a scalar in all lanes; 0, 1, 2, .... */
val splat_int(emitter *e, elem el, int64_t value);
val splat_float(emitter *e, elem el, double value);
val splat_constant(emitter *e, int dtype, lgt_scalar value);
val splat(emitter *e, elem el, val scalar);
val iota(emitter *e, elem el);
/* Lane k of the result is lane first + k % period of a and b, one behind the other. */
val shuffle(emitter *e, elem el, int from, int to, val a, val b, int first, int period);
val shuffle_lanes(emitter *e, elem el, val a, int first, int period);
/* The vector with n lanes of another one in place of those from `at`, a multiple of n, on. */
val insert_lanes(emitter *e, elem el, val vector, val part, int n, int at);
/* The last lane first. */
val reverse(emitter *e, elem el, val a);
/* Elements 0, 2, 4, ... of those that a and b are a part of each: b begins with the last one of a. */
val every_second(emitter *e, elem el, val a, val b);
/* Lanes first, first, first + 1, first + 1, ...; true, false, true, .... */
val each_twice(emitter *e, elem el, val a, int first);
/* Lane first of a, of b, then the next one of each. */
val one_by_one(emitter *e, elem el, val a, val b, int first);
val even_lanes(emitter *e);

/* On i64, i1, addresses. */
val int_constant(emitter *e, int64_t value);
val int_op(emitter *e, const char *op, val a, val b);
val int_less(emitter *e, val a, val b);
val bit_and(emitter *e, val a, val b);
val advance(emitter *e, val address, val bytes);
/* The value at a constant distance from the address. */
val field(emitter *e, val address, int64_t offset, const char *type);

/* Blocks.  A block has up to two i64 of its own and the first `ncarry` carried values as arguments. */
void put_arguments(emitter *e, const val *own, int nown, int ncarry);
void branch(emitter *e, int block, const val *own, int nown, int ncarry);
/* To `yes` with arguments of its own, or to `no` with the carried values alone. */
void branch_if(emitter *e, val condition, int yes, const val *own, int nown, int no, int ncarry);
void begin_block(emitter *e, int block, val *own, int nown, int ncarry);

/* ---- emit_op.c ---- */
/* Between the memory's and the registers' form of a dtype. */
val from_memory(emitter *e, int dtype, val vector);
val to_memory(emitter *e, int dtype, val vector);
val convert(emitter *e, int from, int to, val a);
/* float64 to float32, from which one more rounding gives the right float16. */
val round_odd(emitter *e, val a);
/* float32 to the nearest float16. */
val round_half(emitter *e, val a);
/* Is the opcode on operands of dtype `from` computed by a function on arrays? */
bool find_function(int op, int from, called_function *out);
void declare_function(emitter *e, int op, const called_function *function);
/* Between registers of dtype `from` and the function's. */
val to_function(emitter *e, const called_function *function, int from, val a);
val from_function(emitter *e, const called_function *function, int from, val a);
/* name(out, a, b, lanes) through buffers on the stack; on devices name(a, b) for each lane. */
val call_lanes(emitter *e, int op, const called_function *function, val a, val b);
/* The opcode on operands of dtype `from`. */
val emit_unary(emitter *e, int op, int from, val a);
val emit_binary(emitter *e, int op, int from, val a, val b);
/* emit_device_quotient.c: what the quotients by instruction i have in common; such a quotient. */
void emit_divisor(emitter *e, int i);
bool shares_divisor(const emitter *e, const lgt_inst *in);
val emit_shared_quotient(emitter *e, const lgt_inst *in);
val select_lanes(emitter *e, elem el, val condition, val yes, val no);
/* The lanes in which w may be the better of w and v, or as good if `equal`: what is not comparable may be. */
val emit_may_be_better(emitter *e, int redop, int dtype, bool equal, val w, val v);
/* The lanes in which a or b is NaN; min or max where neither is. */
val emit_unordered(emitter *e, int dtype, val a, val b);
val emit_extreme_of_numbers(emitter *e, int op, int dtype, val a, val b);
/* (*v, *at) = the better of itself and (w, w_at). */
void emit_better(emitter *e, int redop, int dtype, val *v, val *at, val w, val w_at);

/* ---- emit_math.c ---- */
/* POWER; that of float16 still has to be rounded. */
val emit_power(emitter *e, int power, int dtype, val a);

/* ---- emit_phase.c ---- */
void find_phases(emitter *e);
/* What the phase needs, before its columns are written.  False: it has nothing to compute. */
bool begin_phase(emitter *e, int phase);
/* The iteration's values of this phase. */
void emit_phase(emitter *e);
/* Where results of e->direct go: to the target's elements of the block, unless these are written by streams (i1; -1: they are
 * not). */
val direct_stream(emitter *e);
/* The functions that follow its columns. */
void call_functions(emitter *e);
/* Operands of functions that are the same in all columns, of this level. */
void fill_rooms(emitter *e, int level);

/* ---- emit_access.c ---- */
/* May this instruction and the next one write the parts of the same numbers?  Whether the access of the first one and the
 * next access are so in this row; and all lanes of both. */
bool may_be_joint(const emitter *e, int i);
void begin_joint(emitter *e, int k);
void write_joint(emitter *e, int k);
static inline bool along_columns(const lgt_access *access) { return access->inner == LGT_STRIDE_ZERO; }
/* Where an access is in this row; all but targets. */
void locate(emitter *e, int k, const val *offset);
elem access_elem(const emitter *e, int k);
/* The lanes of this iteration; of `part` of it, e->count lanes by e->mask. */
val stride_of(emitter *e, int k); /* from an element to the next one along the columns, in bytes */
val read_access(emitter *e, int k, bool part);
void write_access(emitter *e, int k, val vector, bool part);
/* A whole vector; `attribute` is "" or ", nontemporal". */
void write_vector(emitter *e, val at, val vector, elem el, int64_t align, const char *attribute);
/* Bytes to which a non-temporal store of this element must be aligned: whole vectors, or cache lines. */
int stream_align(const emitter *e, elem el);
/* One element, in all lanes. */
val read_scalar(emitter *e, int dtype, val at);

/* ---- emit_reduce.c ---- */
/* An accumulator: a value, and for argmin and argmax its position. */
typedef struct accumulator {
  val value, at;
} accumulator;

accumulator combine(emitter *e, int redop, int dtype, accumulator a, accumulator b);
/* Fills e->carry: the lanes form first, since its values alone go around the rows.  Returns their number. */
int collect_carried(emitter *e);
/* The same for the vector form, in a narrow function. */
void collect_targets(emitter *e);
/* Carried values [from, to) become the identity; fold 16 accumulators to one and that into the target. */
void begin_accumulators(emitter *e, int from, int to);
/* Those of the lanes form, [0, to), whose order does not matter begin with what their targets hold. */
void begin_with_targets(emitter *e, int to);
void end_accumulators(emitter *e, int from, int to);
/* i1: does the slab say that the reduction with this target is open? */
val is_open(emitter *e, int access);
/* What a target holds: the identity if it is open. */
accumulator contents(emitter *e, int redop, int dtype, val open, accumulator target);
/* Of a value (in registers), the first lane to where an access is. */
void write_first(emitter *e, int access, val vector);
/* One iteration's values into the accumulators; lanes out of use keep what they have. */
void accumulate(emitter *e, bool masked);
void accumulate_some(emitter *e, int from, int to, bool masked); /* into these */
/* Of argmin and argmax: are all positions that are known before those of the row that begins? */
void compare_positions(emitter *e);

/* Do all that is done reductions along the columns by which, however values are joined in their order, the bits are the
 * same?  So it is with all but sums and products: of what is equal the last one stays, of NaN the first; and with
 * counts. */
bool may_join(const emitter *e);
/* Joined min and max of floats do not look for NaN, which they would lose: that is found out afterwards, from what is carried
 * behind the other values, where that begins. */
void begin_nan(emitter *e);
val any_nan(emitter *e, int from); /* i1; -1: none can be */
/* What the accumulators are to take in from the i-th of JOINED iterations; all of them, joined. */
void keep_values(emitter *e, int i);
void accumulate_kept(emitter *e);

/* ---- emit_rows.c ---- */
/* Is there one reduction along the columns and nothing else, of a short body? */
bool may_group_rows(const emitter *e);
/* i1: do the rows of this slab gain by that? */
val are_rows_for_groups(emitter *e);
/* Where a group of rows begins, the full vectors of all of them. */
void emit_row_group(emitter *e);
/* To the block `single` with what the group has of this row, and the column where that ends; goes on where there is none. */
void leave_group(emitter *e, int single);

/* ---- emit_rest.c ---- */
/* Are there reductions along the columns and nothing else, of a short body, and lanes of several registers? */
bool may_take_registers(const emitter *e);
/* The last `left` columns, fewer than lanes, from the column `first` on; ends in the block `done`. */
void emit_rest(emitter *e, val first, val left, int done);

/* ---- emit_shape.c ---- */
/* Lanes, and whether the body is long: after find_phases. */
void choose_shape(emitter *e);

/* ---- emit_loop.c ---- */
/* What is used, and where it is computed: e->level. */
void analyse(emitter *e);
/* Do all reductions have targets that stand still along the rows and move along the columns? */
bool is_narrow(const emitter *e);
/* All values of a level. */
void emit_level(emitter *e, int level);
/* What the iteration reads, in full; what it will write, in memory's form. */
void read_all(emitter *e, bool part);
void prepare_writes(emitter *e);
void emit_inst(emitter *e, int i);
/* What is computed only where it is needed: the position that a REDUCE_ARG takes. */
void emit_position(emitter *e, const lgt_inst *in);
/* Addresses in this row: of the targets of reductions, or of everything else. */
void begin_row_accesses(emitter *e, bool targets);
/* Which lanes of a partial iteration are in use. */
val lanes_in_use(emitter *e, val count);
/* The whole module into e->decl and e->done. */
void emit_module(emitter *e);

/* ---- emit_device.c ---- */
/* The whole module for a device. */
void emit_device_module(emitter *e);

#endif
