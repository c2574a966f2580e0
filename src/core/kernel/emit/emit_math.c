/* emit_math.c - constant powers in kernels: what they need of elementary.h's vocabulary, in MLIR.
 *
 * They are short enough to be inlined.  (The other elementary functions are called: emit_phase.c.)  Here an F, an I or a B
 * is the number of an SSA value, a vector of e->lanes elements, and each operation writes a line.
 *
 * Without a fused multiply-add in the CPU a power is a call: its operations would be hundreds.
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

#define OF static inline

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
OF F square_root(F a) { return (F){op1("math.sqrt", F64, a.v)}; }
OF F fmadd(F a, F b, F c) { return (F){def(at, "math.fma %, %, % : $", a.v, b.v, c.v, type_of(F64))}; }
OF F fnmadd(F a, F b, F c) { return fmadd(neg(a), b, c); }
OF F fmsub(F a, F b, F c) { return fmadd(a, b, neg(c)); }
OF I bits(F a) { return (I){def(at, "arith.bitcast % : $ to $", a.v, type_of(F64), type_of(I64))}; }
OF F from_bits(I a) { return (F){def(at, "arith.bitcast % : $ to $", a.v, type_of(I64), type_of(F64))}; }

OF I i_sub(I a, I b) { return (I){op2("arith.subi", I64, a.v, b.v)}; }
OF I i_or(I a, I b) { return (I){op2("arith.ori", I64, a.v, b.v)}; }
OF I i_xor(I a, I b) { return (I){op2("arith.xori", I64, a.v, b.v)}; }
OF I shift_right(I a, int by) { return (I){op2("arith.shrui", I64, a.v, whole(by).v)}; }

OF B less(F a, F b) { return (B){test("olt", F64, a.v, b.v)}; }
OF B equal(F a, F b) { return (B){test("oeq", F64, a.v, b.v)}; }
OF B is_nan(F a) { return (B){test("uno", F64, a.v, a.v)}; }
OF F choose(B when, F a, F b) { return (F){select_lanes(at, F64, when.v, a.v, b.v)}; }

#include "kernel/elementary/elementary_words.h"
#include "kernel/elementary/elementary_powers.h"

/* ---- powers ------------------------------------------------------------------------------------- */

static val called(emitter *e, int power, int dtype, val a) {
  static const char *const form[LGT_NFORM] = {"f64", "f32", "f16"};
  called_function function = {.dtype = dtype};
  snprintf(function.name, sizeof function.name, "lgt_math_power_%s", form[lgt_form_of(dtype)]);
  return call_lanes(e, LGT_OP_POWER, &function, a, splat_float(e, reg_elem(dtype), power));
}

/* Between registers of a dtype and float64: float32 is rounded to nearest, float16 to odd. */
static F widened(emitter *e, val a) { return (F){convert(e, LGT_FLOAT32, LGT_FLOAT64, a)}; }
static val narrowed(emitter *e, int dtype, F a) {
  return dtype == LGT_FLOAT32 ? convert(e, LGT_FLOAT64, LGT_FLOAT32, a.v) : round_odd(e, a.v);
}

val emit_power(emitter *e, int power, int dtype, val a) {
  at = e;
  if (e->isa == LGT_ISA_GENERIC) return called(e, power, dtype, a);
  if (dtype == LGT_FLOAT64) return power_f64((F){a}, power).v;
  return narrowed(e, dtype, power_f32(widened(e, a), power));
}
