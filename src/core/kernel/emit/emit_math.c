/* emit_math.c - the elementary functions in kernels: the vocabulary of elementary.h in MLIR.
 *
 * Here an F, an I or a B is the number of an SSA value, a vector of e->lanes elements, and each operation writes a line.
 * What is computed twice (the reduction of x for sin x and cos x) LLVM finds and computes once.
 *
 * Without a fused multiply-add in the CPU a function is a call: its operations would be hundreds.
 */
#include "kernel/emit/emit.h"

#include <math.h>
#include <string.h>

/* The emitter at work in this thread: the vocabulary's functions have no argument to spare for it. */
static _Thread_local emitter *at;

typedef struct F {
  val v;
} F;
typedef struct I {
  val v;
} I;
typedef struct B {
  val v;
} B;

#define OF   static inline
#define RARE static __attribute__((unused))

/* ---- the vocabulary ------------------------------------------------------------------------- */

static const char *type_of(elem el) { return lanes_type(at, el); }
static val op1(const char *op, elem el, val a) { return def(at, "$ % : $", op, a, type_of(el)); }
static val op2(const char *op, elem el, val a, val b) { return def(at, "$ %, % : $", op, a, b, type_of(el)); }
static val test(const char *how, elem el, val a, val b) {
  return def(at, "arith.cmp$ $, %, % : $", el == F64 ? "f" : "i", how, a, b, type_of(el));
}

OF F number(double x) { return (F){splat_float(at, F64, x)}; }
OF I whole(int64_t n) { return (I){splat_int(at, I64, n)}; }

OF F add(F a, F b) { return (F){op2("arith.addf", F64, a.v, b.v)}; }
OF F sub(F a, F b) { return (F){op2("arith.subf", F64, a.v, b.v)}; }
OF F mul(F a, F b) { return (F){op2("arith.mulf", F64, a.v, b.v)}; }
OF F divide(F a, F b) { return (F){op2("arith.divf", F64, a.v, b.v)}; }
OF F neg(F a) { return (F){op1("arith.negf", F64, a.v)}; }
OF F magnitude(F a) { return (F){op1("math.absf", F64, a.v)}; }
OF F with_sign(F a, F sign) { return (F){op2("math.copysign", F64, a.v, sign.v)}; }
OF F square_root(F a) { return (F){op1("math.sqrt", F64, a.v)}; }
OF F nearest(F a) { return (F){op1("math.roundeven", F64, a.v)}; }
OF F fmadd(F a, F b, F c) { return (F){def(at, "math.fma %, %, % : $", a.v, b.v, c.v, type_of(F64))}; }
OF F fnmadd(F a, F b, F c) { return fmadd(neg(a), b, c); }
OF F fmsub(F a, F b, F c) { return fmadd(a, b, neg(c)); }
OF I bits(F a) { return (I){def(at, "arith.bitcast % : $ to $", a.v, type_of(F64), type_of(I64))}; }
OF F from_bits(I a) { return (F){def(at, "arith.bitcast % : $ to $", a.v, type_of(I64), type_of(F64))}; }

OF I i_add(I a, I b) { return (I){op2("arith.addi", I64, a.v, b.v)}; }
OF I i_sub(I a, I b) { return (I){op2("arith.subi", I64, a.v, b.v)}; }
OF I i_and(I a, I b) { return (I){op2("arith.andi", I64, a.v, b.v)}; }
OF I i_or(I a, I b) { return (I){op2("arith.ori", I64, a.v, b.v)}; }
OF I i_xor(I a, I b) { return (I){op2("arith.xori", I64, a.v, b.v)}; }
OF I shift_left(I a, int by) { return (I){op2("arith.shli", I64, a.v, whole(by).v)}; }
OF I shift_right(I a, int by) { return (I){op2("arith.shrui", I64, a.v, whole(by).v)}; }
OF I low_product(I a, I b) {
  I low = whole(0xffffffff);
  return (I){op2("arith.muli", I64, i_and(a, low).v, i_and(b, low).v)};
}

OF B less(F a, F b) { return (B){test("olt", F64, a.v, b.v)}; }
OF B at_most(F a, F b) { return (B){test("ole", F64, a.v, b.v)}; }
OF B equal(F a, F b) { return (B){test("oeq", F64, a.v, b.v)}; }
OF B is_nan(F a) { return (B){test("uno", F64, a.v, a.v)}; }
OF B i_less(I a, I b) { return (B){test("slt", I64, a.v, b.v)}; }
OF B i_equal(I a, I b) { return (B){test("eq", I64, a.v, b.v)}; }
OF B is_odd(I a) { return (B){test("ne", I64, i_and(a, whole(1)).v, whole(0).v)}; }
OF B both(B a, B b) { return (B){op2("arith.andi", I1, a.v, b.v)}; }
OF B either(B a, B b) { return (B){op2("arith.ori", I1, a.v, b.v)}; }
OF B opposite(B a) { return (B){op2("arith.xori", I1, a.v, splat_int(at, I1, 1))}; }
OF F choose(B when, F a, F b) { return (F){select_lanes(at, F64, when.v, a.v, b.v)}; }
OF I i_choose(B when, I a, I b) { return (I){select_lanes(at, I64, when.v, a.v, b.v)}; }

static F rare_lanes(B when, int function, const char *name, F x, F y, F otherwise) {
  int yes = at->next_block++, done = at->next_block++;
  val any = def(at, "\"llvm.intr.vector.reduce.or\"(%) : ($) -> i1", when.v, type_of(I1));
  put(at, "cf.cond_br %, ^#, ^#(% : $)\n", any, (int64_t)yes, (int64_t)done, otherwise.v, type_of(F64));
  begin_block(at, yes, NULL, 0, 0);
  F slow = {call_arrays(at, name, KEY_RARE + function, LGT_FLOAT64, x.v, y.v)};
  put(at, "cf.br ^#(% : $)\n", (int64_t)done, choose(when, slow, otherwise).v, type_of(F64));
  F result = {at->next++};
  put(at, "^#(%: $):\n", (int64_t)done, result.v, type_of(F64));
  return result;
}
#define rare(when, function, x, otherwise) \
  rare_lanes(when, LGT_RARE_##function, "lgt_rare_" #function, x, x, otherwise)
#define rare_2(when, function, x, y, otherwise) \
  rare_lanes(when, LGT_RARE_##function, "lgt_rare_" #function, x, y, otherwise)

#include "kernel/elementary/elementary_functions.h"

/* ---- functions -------------------------------------------------------------------------------- */

#define ARGUMENTS_1 a
#define ARGUMENTS_2 a, b
static F inlined(int op, bool single, F a, F b) {
  (void)b;
  switch (op) {
#define X(NAME, name, arity) \
  case LGT_OP_##NAME:        \
    return single ? name##_f32(ARGUMENTS_##arity) : name##_f64(ARGUMENTS_##arity);
    LGT_MATH_LIST(X)
#undef X
  }
  return a;
}

static val called(emitter *e, int op, int dtype, val a, val b) {
  static const char *const form[LGT_NFORM] = {"f64", "f32", "f16"};
  char name[48];
  snprintf(name, sizeof name, "lgt_math_%s_%s", lgt_op_name(op), form[lgt_form_of(dtype)]);
  return call_arrays(e, name, op, dtype, a, b);
}

/* Between registers of a dtype and float64: float32 is rounded to nearest, float16 to odd. */
static F widened(emitter *e, val a) { return (F){convert(e, LGT_FLOAT32, LGT_FLOAT64, a)}; }
static val narrowed(emitter *e, int dtype, F a) {
  return dtype == LGT_FLOAT32 ? convert(e, LGT_FLOAT64, LGT_FLOAT32, a.v) : round_odd(e, a.v);
}

val emit_power(emitter *e, int power, int dtype, val a) {
  at = e;
  if (e->isa == LGT_ISA_GENERIC)
    return called(e, LGT_OP_POWER, dtype, a, splat_float(e, reg_elem(dtype), power));
  if (dtype == LGT_FLOAT64) return power_f64((F){a}, power).v;
  return narrowed(e, dtype, power_f32(widened(e, a), power));
}

val emit_math(emitter *e, int op, int dtype, val a, val b) {
  bool two = lgt_op_arity(op) == 2;
  if (e->isa == LGT_ISA_GENERIC) return called(e, op, dtype, a, b);
  at = e;
  if (dtype == LGT_FLOAT64) return inlined(op, false, (F){a}, (F){b}).v;
  F x = widened(e, a);
  return narrowed(e, dtype, inlined(op, true, x, two ? widened(e, b) : x));
}
