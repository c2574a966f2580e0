/* emit_op.c - what each opcode becomes on a vector.
 *
 * The meaning of the opcodes is in body.h, and the interpreter has the same: an opcode that is
 * changed here is changed in interp.c too.  Where an instruction of the CPU does something else for
 * special values (NaN in a maximum, a shift by the width, a cast that does not fit), the special
 * values are selected explicitly; LLVM finds the instruction again where it happens to agree.
 * The unselected side of such a select may be poison, which is harmless.
 *
 * Helpers work on arrays: operands go through buffers on the stack.
 */
#include "kernel/emit/emit.h"

#include <string.h>

/* ---- calls ---------------------------------------------------------------------------------- */

/* True the first time. */
static bool undeclared(emitter *e, int op, int dtype) {
  if (e->declared[op] >> dtype & 1) return false;
  e->declared[op] |= 1u << dtype;
  return true;
}

static void declare(emitter *e, const char *name, const char *arguments, const char *results) {
  text *out = e->out;
  e->out = &e->decl;
  put(e, "func.func private @$($) -> $\n", name, arguments, results);
  e->out = out;
}

static void spill(emitter *e, int slot, elem el, val a) {
  put(e, "llvm.store %, % {alignment = 64 : i64} : $, !llvm.ptr\n", a, scratch(e, slot), lanes_type(e, el));
}

static val reload(emitter *e, int slot, elem el) {
  return def(e, "llvm.load % {alignment = 64 : i64} : !llvm.ptr -> $", scratch(e, slot), lanes_type(e, el));
}

bool find_function(int op, int from, called_function *out) {
  static const char *const form[LGT_NFORM] = {"f64", "f32", "f16"};
  bool real = lgt_dtype_is_float(from), divides = op >= LGT_OP_FLOORDIV && op <= LGT_OP_FMOD;
  if (real && lgt_math_has(op)) {
    out->dtype = from;
    snprintf(out->name, sizeof out->name, "lgt_math_%s_%s", lgt_op_name(op), form[lgt_form_of(from)]);
    return true;
  }
  if (!divides && (real || (op != LGT_OP_DIV && op != LGT_OP_POW))) return false;
  const char *suffix = "f64";
  if (real) {
    out->dtype = from == LGT_FLOAT64 ? LGT_FLOAT64 : LGT_FLOAT32;
    if (from != LGT_FLOAT64) suffix = "f32";
  } else {
    out->dtype = lgt_dtype_class(from) == 'i' ? LGT_INT64 : LGT_UINT64;
    suffix = out->dtype == LGT_INT64 ? "i64" : "u64";
  }
  snprintf(out->name, sizeof out->name, "lgt_helper_%s_%s", lgt_op_name(op), suffix);
  return true;
}

void declare_function(emitter *e, int op, const called_function *function) {
  if (undeclared(e, op, function->dtype))
    declare(e, function->name, "!llvm.ptr, !llvm.ptr, !llvm.ptr, i64", "()");
}

val to_function(emitter *e, const called_function *function, int from, val a) {
  return lgt_dtype_is_float(from) ? a : convert(e, from, function->dtype, a);
}

val from_function(emitter *e, const called_function *function, int from, val a) {
  if (from == LGT_FLOAT16) return round_half(e, a);
  return lgt_dtype_is_float(from) ? a : convert(e, function->dtype, from, a);
}

static val lane_of(emitter *e, elem el, val vector, int lane) {
  return def(e, "llvm.extractelement %[% : i64] : $", vector, int_constant(e, lane), lanes_type(e, el));
}

/* A function of one or two elements, for each lane. */
static val call_each(emitter *e, const char *name, elem el, val a, val b) {
  const char *type = scalar_type(el), *vector = lanes_type(e, el);
  val result = def(e, "llvm.mlir.undef : $", vector);
  for (int lane = 0; lane < e->lanes; lane++) {
    val x = lane_of(e, el, a, lane), y = b < 0 ? -1 : lane_of(e, el, b, lane);
    val one = y < 0 ? def(e, "func.call @$(%) : ($) -> $", name, x, type, type)
                    : def(e, "func.call @$(%, %) : ($, $) -> $", name, x, y, type, type, type);
    result = def(e, "llvm.insertelement %, %[% : i64] : $", one, result, int_constant(e, lane), vector);
  }
  return result;
}

/* Devices have functions of elements (device_functions.c), those of float32 and float16 from float64 to float64. */
static val call_on_device(emitter *e, int op, const called_function *function, val a, val b) {
  bool math = lgt_math_has(op) && lgt_dtype_is_float(function->dtype), two = lgt_op_arity(op) == 2;
  elem el = math ? F64 : reg_elem(function->dtype);
  char name[sizeof function->name], arguments[16];
  snprintf(name, sizeof name, "%s", function->name);
  if (math && function->dtype != LGT_FLOAT64) {
    snprintf(name, sizeof name, "lgt_math_%s_f32", lgt_op_name(op));
    a = convert(e, LGT_FLOAT32, LGT_FLOAT64, a);
    if (two) b = convert(e, LGT_FLOAT32, LGT_FLOAT64, b);
  }
  snprintf(arguments, sizeof arguments, two ? "%s, %s" : "%s", scalar_type(el), scalar_type(el));
  if (undeclared(e, op, math && function->dtype == LGT_FLOAT16 ? LGT_FLOAT32 : function->dtype))
    declare(e, name, arguments, scalar_type(el));
  val result = call_each(e, name, el, a, two ? b : -1);
  if (!math || function->dtype == LGT_FLOAT64) return result;
  return function->dtype == LGT_FLOAT16 ? round_odd(e, result) : convert(e, LGT_FLOAT64, LGT_FLOAT32, result);
}

val call_lanes(emitter *e, int op, const called_function *function, val a, val b) {
  elem el = reg_elem(function->dtype);
  if (e->device) return call_on_device(e, op, function, a, b);
  declare_function(e, op, function);
  spill(e, 0, el, a);
  if (b != a) spill(e, 1, el, b);
  val n = def(e, "arith.constant # : i64", (int64_t)e->lanes);
  put(e, "func.call @$(%, %, %, %) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()\n", function->name,
      scratch(e, 0), scratch(e, 0), scratch(e, b != a), n);
  return reload(e, 0, el);
}

/* The opcode by its function, a vector at a time: where that is seldom. */
static val emit_called(emitter *e, int op, int from, val a, val b) {
  called_function function;
  if (!find_function(op, from, &function)) return a;
  val x = to_function(e, &function, from, a), y = b == a ? x : to_function(e, &function, from, b);
  return from_function(e, &function, from, call_lanes(e, op, &function, x, y));
}

static val call_helper1(emitter *e, const char *name, int key, elem from, elem to, val a) {
  if (undeclared(e, key, 0)) declare(e, name, "!llvm.ptr, !llvm.ptr, i64", "()");
  spill(e, 0, from, a);
  val n = def(e, "arith.constant # : i64", (int64_t)e->lanes);
  put(e, "func.call @$(%, %, %) : (!llvm.ptr, !llvm.ptr, i64) -> ()\n", name, scratch(e, 1), scratch(e, 0),
      n);
  return reload(e, 1, to);
}

/* ---- small pieces ----------------------------------------------------------------------------- */

static val unary(emitter *e, const char *op, elem el, val a) {
  return def(e, "$ % : $", op, a, lanes_type(e, el));
}

static val binary(emitter *e, const char *op, elem el, val a, val b) {
  return def(e, "$ %, % : $", op, a, b, lanes_type(e, el));
}

/* arith.cmpf or arith.cmpi, by the type. */
static val compare(emitter *e, const char *how, elem el, val a, val b) {
  return def(e, "$ $, %, % : $", el >= F16 ? "arith.cmpf" : "arith.cmpi", how, a, b, lanes_type(e, el));
}

val select_lanes(emitter *e, elem el, val condition, val yes, val no) {
  return def(e, "arith.select %, %, % : $, $", condition, yes, no, lanes_type(e, I1), lanes_type(e, el));
}

static val change(emitter *e, const char *op, elem from, elem to, val a) {
  return def(e, "$ % : $ to $", op, a, lanes_type(e, from), lanes_type(e, to));
}

static val isnan_lanes(emitter *e, elem el, val a) { return compare(e, "uno", el, a, a); }

static val zero(emitter *e, elem el) { return el >= F16 ? splat_float(e, el, 0) : splat_int(e, el, 0); }

/* ---- float16, casts --------------------------------------------------------------------------- */

static val from_half(emitter *e, val a) {
  if (e->isa == LGT_ISA_GENERIC) return call_helper1(e, "lgt_helper_f16_to_f32", KEY_FROM_HALF, I16, F32, a);
  return change(e, "arith.extf", F16, F32, change(e, "arith.bitcast", I16, F16, a));
}

static val to_half(emitter *e, val a) {
  if (e->isa == LGT_ISA_GENERIC) return call_helper1(e, "lgt_helper_f32_to_f16", KEY_TO_HALF, F32, I16, a);
  return change(e, "arith.bitcast", F16, I16, change(e, "arith.truncf", F32, F16, a));
}

val round_half(emitter *e, val a) { return from_half(e, to_half(e, a)); }

/* A device gives NaN no sign when it converts it. */
static val from_half_signed(emitter *e, val a) {
  val wide = change(e, "arith.extui", I16, I32, a);
  val sign = binary(e, "arith.shli", I32, binary(e, "arith.andi", I32, wide, splat_int(e, I32, 0x8000)),
                    splat_int(e, I32, 16));
  val size = change(e, "arith.bitcast", F32, I32, unary(e, "math.absf", F32, from_half(e, a)));
  return change(e, "arith.bitcast", I32, F32, binary(e, "arith.ori", I32, size, sign));
}

val from_memory(emitter *e, int dtype, val vector) {
  if (dtype == LGT_BOOL) return compare(e, "ne", I8, vector, zero(e, I8));
  if (dtype == LGT_FLOAT16 && e->device) return from_half_signed(e, vector);
  if (dtype == LGT_FLOAT16) return from_half(e, vector);
  return vector;
}

val to_memory(emitter *e, int dtype, val vector) {
  if (dtype == LGT_BOOL) return change(e, "arith.extui", I1, I8, vector);
  if (dtype == LGT_FLOAT16) return to_half(e, vector);
  return vector;
}

/* float64 to float32, rounding to odd, so that a second rounding to float16 is the only one that
 * counts: half.h's lgt_float_round_odd, but for stepping towards zero first. */
val round_odd(emitter *e, val a) {
  val nearest = change(e, "arith.truncf", F64, F32, a);
  val back = change(e, "arith.extf", F32, F64, nearest);
  val inexact = compare(e, "one", F64, back, a);
  val beyond = compare(e, "ogt", F64, unary(e, "math.absf", F64, back), unary(e, "math.absf", F64, a));
  val bits = change(e, "arith.bitcast", F32, I32, nearest);
  val inward = binary(e, "arith.subi", I32, bits, change(e, "arith.extui", I1, I32, beyond));
  val odd = binary(e, "arith.ori", I32, inward, change(e, "arith.extui", I1, I32, inexact));
  return change(e, "arith.bitcast", I32, F32, odd);
}

/* Truncation of a float to a signed integer of 32 or 64 bits; what does not fit gives the smallest. */
static val truncate_float(emitter *e, elem from, elem to, val a) {
  double limit = to == I64 ? 0x1p63 : 0x1p31;
  val low = compare(e, "oge", from, a, splat_float(e, from, -limit));
  val high = compare(e, "olt", from, a, splat_float(e, from, limit));
  val fits = binary(e, "arith.andi", I1, low, high);
  val least = splat_int(e, to, to == I64 ? INT64_MIN : INT32_MIN);
  return select_lanes(e, to, fits, change(e, "arith.fptosi", from, to, a), least);
}

/* uint64 keeps what lies from 2^63 up to 2^64 too. */
static val truncate_to_uint64(emitter *e, elem from, val a) {
  val low = compare(e, "oge", from, a, splat_float(e, from, 0x1p63));
  val high = compare(e, "olt", from, a, splat_float(e, from, 0x1p64));
  val upper = binary(e, "arith.subf", from, a, splat_float(e, from, 0x1p63));
  val bits =
      binary(e, "arith.xori", I64, change(e, "arith.fptosi", from, I64, upper), splat_int(e, I64, INT64_MIN));
  return select_lanes(e, I64, binary(e, "arith.andi", I1, low, high), bits, truncate_float(e, from, I64, a));
}

static val convert_int(emitter *e, int from, elem to, val a) {
  elem el = reg_elem(from);
  if (el == to) return a;
  if (elem_size(to) < elem_size(el)) return change(e, "arith.trunci", el, to, a);
  return change(e, lgt_dtype_class(from) == 'i' ? "arith.extsi" : "arith.extui", el, to, a);
}

static val convert_from_float(emitter *e, elem from, int to, val a) {
  if (to == LGT_UINT64) return truncate_to_uint64(e, from, a);
  if (to == LGT_INT64 || to == LGT_UINT32)
    return convert_int(e, LGT_INT64, reg_elem(to), truncate_float(e, from, I64, a));
  return convert_int(e, LGT_INT32, reg_elem(to), truncate_float(e, from, I32, a));
}

val convert(emitter *e, int from, int to, val a) {
  elem source = reg_elem(from), target = reg_elem(to);
  if (from == to) return a;
  if (to == LGT_BOOL) return compare(e, source >= F16 ? "une" : "ne", source, a, zero(e, source));
  if (source >= F16 && target < F16) return convert_from_float(e, source, to, a);
  if (source < F16 && target < F16)
    return from == LGT_BOOL ? change(e, "arith.extui", I1, target, a) : convert_int(e, from, target, a);
  if (source < F16) {
    val real = change(e, lgt_dtype_class(from) == 'i' ? "arith.sitofp" : "arith.uitofp", source, target, a);
    /* From 2^24 on, where float32 rounds, everything is infinite in float16. */
    return to == LGT_FLOAT16 ? round_half(e, real) : real;
  }
  if (source == F64)
    return to == LGT_FLOAT16 ? round_half(e, round_odd(e, a)) : change(e, "arith.truncf", F64, F32, a);
  if (target == F64) return change(e, "arith.extf", F32, F64, a);
  return to == LGT_FLOAT16 ? round_half(e, a) : a;
}

/* ---- operations of one operand ------------------------------------------------------------------ */

static val emit_sign(emitter *e, int dtype, val a) {
  elem el = reg_elem(dtype);
  if (lgt_dtype_class(dtype) == 'u')
    return change(e, "arith.extui", I1, el, compare(e, "ne", el, a, zero(e, el)));
  if (lgt_dtype_class(dtype) == 'i') {
    val down = select_lanes(e, el, compare(e, "slt", el, a, zero(e, el)), splat_int(e, el, -1), zero(e, el));
    return select_lanes(e, el, compare(e, "sgt", el, a, zero(e, el)), splat_int(e, el, 1), down);
  }
  val nan = select_lanes(e, el, isnan_lanes(e, el, a), a, zero(e, el));
  val down = select_lanes(e, el, compare(e, "olt", el, a, zero(e, el)), splat_float(e, el, -1), nan);
  return select_lanes(e, el, compare(e, "ogt", el, a, zero(e, el)), splat_float(e, el, 1), down);
}

static val emit_abs(emitter *e, int dtype, val a) {
  elem el = reg_elem(dtype);
  switch (lgt_dtype_class(dtype)) {
    case 'f':
      return unary(e, "math.absf", el, a);
    case 'i':
      return select_lanes(e, el, compare(e, "slt", el, a, zero(e, el)),
                          binary(e, "arith.subi", el, zero(e, el), a), a);
    default:
      return a;
  }
}

static val emit_signbit(emitter *e, elem el, val a) {
  elem bits = el == F64 ? I64 : I32;
  return compare(e, "slt", bits, change(e, "arith.bitcast", el, bits, a), zero(e, bits));
}

val emit_unary(emitter *e, int op, int from, val a) {
  elem el = reg_elem(from);
  switch (op) {
    case LGT_OP_NEG:
      return el >= F16 ? unary(e, "arith.negf", el, a) : binary(e, "arith.subi", el, zero(e, el), a);
    case LGT_OP_ABS:
      return emit_abs(e, from, a);
    case LGT_OP_SIGN:
      return emit_sign(e, from, a);
    case LGT_OP_NOT:
      return binary(e, "arith.xori", el, a, splat_int(e, el, -1));
    case LGT_OP_ISNAN:
      return isnan_lanes(e, el, a);
    case LGT_OP_ISINF:
      return compare(e, "oeq", el, unary(e, "math.absf", el, a), splat_float(e, el, __builtin_inf()));
    case LGT_OP_ISFINITE:
      return compare(e, "olt", el, unary(e, "math.absf", el, a), splat_float(e, el, __builtin_inf()));
    case LGT_OP_SIGNBIT:
      return emit_signbit(e, el, a);
    case LGT_OP_FLOOR:
      return unary(e, "math.floor", el, a);
    case LGT_OP_CEIL:
      return unary(e, "math.ceil", el, a);
    case LGT_OP_TRUNC:
      return unary(e, "math.trunc", el, a);
    case LGT_OP_RINT:
      return unary(e, "math.roundeven", el, a);
    default:
      break;
  }
  if (op != LGT_OP_SQRT) return emit_called(e, op, from, a, a);
  val result = unary(e, "math.sqrt", el, a);
  return from == LGT_FLOAT16 ? round_half(e, result) : result;
}

/* ---- operations of two operands ----------------------------------------------------------------- */

/* greater ? maximum : minimum; `skip` drops NaN. */
static val emit_extreme(emitter *e, int dtype, bool greater, bool skip, val a, val b) {
  elem el = reg_elem(dtype);
  char class = lgt_dtype_class(dtype);
  if (class == 'b') return binary(e, greater ? "arith.ori" : "arith.andi", el, a, b);
  if (class == 'i') return binary(e, greater ? "arith.maxsi" : "arith.minsi", el, a, b);
  if (class == 'u') return binary(e, greater ? "arith.maxui" : "arith.minui", el, a, b);
  val better = select_lanes(e, el, compare(e, greater ? "ogt" : "olt", el, a, b), a, b);
  return select_lanes(e, el, isnan_lanes(e, el, skip ? b : a), a, better);
}

static val emit_shift(emitter *e, int op, int dtype, val a, val b) {
  elem el = reg_elem(dtype);
  int width = 8 * elem_size(el);
  if (op == LGT_OP_SHR && lgt_dtype_class(dtype) == 'i')
    return binary(e, "arith.shrsi", el, a, binary(e, "arith.minui", el, b, splat_int(e, el, width - 1)));
  val within = compare(e, "ult", el, b, splat_int(e, el, width));
  return select_lanes(e, el, within, binary(e, op == LGT_OP_SHL ? "arith.shli" : "arith.shrui", el, a, b),
                      zero(e, el));
}

static val emit_comparison(emitter *e, int op, int dtype, val a, val b) {
  static const char *const how[3][6] = {{"oeq", "une", "olt", "ole", "ogt", "oge"},
                                        {"eq", "ne", "slt", "sle", "sgt", "sge"},
                                        {"eq", "ne", "ult", "ule", "ugt", "uge"}};
  char class = lgt_dtype_class(dtype);
  return compare(e, how[class == 'f' ? 0 : class == 'i' ? 1 : 2][op - LGT_OP_EQ], reg_elem(dtype), a, b);
}

/* Philox4x32-10.  A word lives in the low half of 64 bits; what is in the high half is dropped when it
 * is multiplied, so rounds need not clear it. */
static val emit_philox(emitter *e, val a, val b) {
  val low = splat_int(e, I64, 0xffffffff), half = splat_int(e, I64, 32);
  val c[4] = {a, binary(e, "arith.shrui", I64, a, half), zero(e, I64), zero(e, I64)};
  val k[2] = {b, binary(e, "arith.shrui", I64, b, half)};
  val multiplier[2] = {splat_int(e, I64, 0xD2511F53), splat_int(e, I64, 0xCD9E8D57)};
  val weyl[2] = {splat_int(e, I64, 0x9E3779B9), splat_int(e, I64, 0xBB67AE85)};
  for (int round = 0; round < 10; round++) {
    val product[2], high[2];
    for (int i = 0; i < 2; i++) {
      product[i] = binary(e, "arith.muli", I64, binary(e, "arith.andi", I64, c[2 * i], low), multiplier[i]);
      high[i] = binary(e, "arith.shrui", I64, product[i], half);
    }
    c[0] = binary(e, "arith.xori", I64, binary(e, "arith.xori", I64, high[1], c[1]), k[0]);
    c[2] = binary(e, "arith.xori", I64, binary(e, "arith.xori", I64, high[0], c[3]), k[1]);
    c[1] = product[1];
    c[3] = product[0];
    for (int i = 0; i < 2 && round < 9; i++) k[i] = binary(e, "arith.addi", I64, k[i], weyl[i]);
  }
  return binary(e, "arith.ori", I64, binary(e, "arith.andi", I64, c[0], low),
                binary(e, "arith.shli", I64, c[1], half));
}

/* -1: by a function. */
static val emit_arithmetic(emitter *e, int op, int dtype, val a, val b) {
  elem el = reg_elem(dtype);
  bool real = el >= F16;
  switch (op) {
    case LGT_OP_ADD:
      return binary(e, real ? "arith.addf" : "arith.addi", el, a, b);
    case LGT_OP_SUB:
      return binary(e, real ? "arith.subf" : "arith.subi", el, a, b);
    case LGT_OP_MUL:
      return binary(e, real ? "arith.mulf" : "arith.muli", el, a, b);
    case LGT_OP_DIV:
      if (real) return binary(e, "arith.divf", el, a, b); /* fall through */
    default:
      return -1;
  }
}

val emit_binary(emitter *e, int op, int from, val a, val b) {
  elem el = reg_elem(from);
  switch (op) {
    case LGT_OP_MIN:
      return emit_extreme(e, from, false, false, a, b);
    case LGT_OP_MAX:
      return emit_extreme(e, from, true, false, a, b);
    case LGT_OP_FMIN:
      return emit_extreme(e, from, false, true, a, b);
    case LGT_OP_FMAX:
      return emit_extreme(e, from, true, true, a, b);
    case LGT_OP_COPYSIGN:
      return binary(e, "math.copysign", el, a, b);
    case LGT_OP_AND:
      return binary(e, "arith.andi", el, a, b);
    case LGT_OP_OR:
      return binary(e, "arith.ori", el, a, b);
    case LGT_OP_XOR:
      return binary(e, "arith.xori", el, a, b);
    case LGT_OP_SHL:
    case LGT_OP_SHR:
      return emit_shift(e, op, from, a, b);
    case LGT_OP_EQ:
    case LGT_OP_NE:
    case LGT_OP_LT:
    case LGT_OP_LE:
    case LGT_OP_GT:
    case LGT_OP_GE:
      return emit_comparison(e, op, from, a, b);
    case LGT_OP_PHILOX:
      return emit_philox(e, a, b);
    default:
      break;
  }
  val result = emit_arithmetic(e, op, from, a, b);
  if (result < 0) return emit_called(e, op, from, a, b);
  return from == LGT_FLOAT16 ? round_half(e, result) : result;
}

/* ---- argmin, argmax ---------------------------------------------------------------------------- */

val emit_may_be_better(emitter *e, int redop, int dtype, bool equal, val w, val v) {
  static const char *const how[2][2] = {{"gt", "ge"}, {"lt", "le"}};
  char text[4] = {lgt_dtype_class(dtype) == 'i' ? 's' : 'u'};
  memcpy(text + 1, how[redop == LGT_REDOP_ARGMIN][equal], 2);
  return compare(e, text, reg_elem(dtype), w, v);
}

val emit_unordered(emitter *e, int dtype, val a, val b) { return compare(e, "uno", reg_elem(dtype), a, b); }

val emit_extreme_of_numbers(emitter *e, int op, int dtype, val a, val b) {
  elem el = reg_elem(dtype);
  return select_lanes(e, el, compare(e, op == LGT_OP_MAX ? "ogt" : "olt", el, a, b), a, b);
}

void emit_better(emitter *e, int redop, int dtype, val *v, val *at, val w, val w_at) {
  elem el = reg_elem(dtype);
  val better = emit_comparison(e, redop == LGT_REDOP_ARGMIN ? LGT_OP_LT : LGT_OP_GT, dtype, w, *v);
  val equal = compare(e, el >= F16 ? "oeq" : "eq", el, w, *v);
  if (el >= F16) {
    val v_nan = isnan_lanes(e, el, *v), w_nan = isnan_lanes(e, el, w);
    val w_only = binary(e, "arith.andi", I1, w_nan, binary(e, "arith.xori", I1, v_nan, splat_int(e, I1, 1)));
    better = binary(e, "arith.ori", I1, better, w_only);
    equal = binary(e, "arith.ori", I1, equal, binary(e, "arith.andi", I1, v_nan, w_nan));
  }
  val earlier = binary(e, "arith.andi", I1, equal, compare(e, "slt", I64, w_at, *at));
  val take = binary(e, "arith.ori", I1, better, earlier);
  *v = select_lanes(e, el, take, w, *v);
  *at = select_lanes(e, I64, take, w_at, *at);
}
