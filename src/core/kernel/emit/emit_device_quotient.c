/* emit_device_quotient.c - on devices, quotients of float64 by what others are divided by, too.
 *
 * A quotient takes a device eight products and sums, of which five are about the divisor alone.  With the divisor's
 * reciprocal three are left:
 *
 *   y = 1 / b, rounded to the nearest          once
 *   q = a y;  r = a - b q;  q + r y            for each a, every operation rounded once
 *
 * The result is a / b rounded to the nearest, with the bits of a division.  If q is less than one unit in the last place from
 * a / b, then r is exact, and this is Markstein's theorem.  Else q is up to one and a half units away, and r may be rounded; the
 * error of q + r y before it is rounded is then a few times 2^-54 units, which matters only where a / b is that near to the
 * middle of two numbers.  Both together need mantissas a few units below 2, whatever the precision.  With up to 13 bits all
 * pairs were tried, with 53 bits all pairs of the last 6000 mantissas; tests/gpu/test_numbers.lua has some.
 *
 * All that holds while nothing over- or underflows: where b, and then the result, lie between 2^-400 and 2^400.  Elsewhere it
 * is a division, but for 0 / b.
 */
#include "kernel/emit/emit_device.h"

enum { LEAST_EXPONENT = 1023 - 400, EXPONENTS = 800 };

void find_divisors(emitter *e) {
  for (int i = 0; i < e->loop->ninst; i++) {
    const lgt_inst *in = &e->loop->inst[i];
    if (e->level[i] != LEVEL_DEAD && in->op == LGT_OP_DIV && in->dtype == LGT_FLOAT64)
      e->divisor[in->b].uses++;
  }
}

/* i1: is it neither 0, nor among the largest or smallest numbers? */
static val is_ordinary(emitter *e, val x) {
  const char *real = lanes_type(e, F64), *bits = lanes_type(e, I64);
  val word = def(e, "llvm.extractelement %[% : i64] : $", def(e, "arith.bitcast % : $ to $", x, real, bits),
                 int_constant(e, 0), bits);
  val high = def(e, "arith.trunci % : i64 to i32", int_op(e, "shrui", word, int_constant(e, 32)));
  val one = def(e, "arith.constant 1 : i32"),
      least = def(e, "arith.constant # : i32", -((int64_t)LEAST_EXPONENT << 21));
  val size = def(e, "arith.constant # : i32", (int64_t)EXPONENTS << 21);
  val exponent = def(e, "arith.shli %, % : i32", high, one); /* its sign goes */
  return def(e, "arith.cmpi ult, %, % : i32", def(e, "arith.addi %, % : i32", exponent, least), size);
}

void emit_divisor(emitter *e, int i) {
  divisor *d = &e->divisor[i];
  const char *type = lanes_type(e, F64);
  if (d->uses < 2 || e->lanes > 1) return;
  val inverse = def(e, "arith.divf %, % : $", splat_float(e, F64, 1), e->value[i], type);
  d->ordinary = is_ordinary(e, e->value[i]);
  d->inverse =
      def(e, "arith.select %, %, % : $", d->ordinary, inverse, splat_float(e, F64, __builtin_nan("")), type);
  d->negative = def(e, "arith.negf % : $", e->value[i], type);
}

bool shares_divisor(const emitter *e, const lgt_inst *in) {
  return e->device && e->lanes == 1 && in->op == LGT_OP_DIV && in->dtype == LGT_FLOAT64 &&
         e->divisor[in->b].uses > 1;
}

/* From the block that is being written: to `block` with this result if a condition (i1) holds, else to another one. */
static void leave_if(emitter *e, val condition, int block, val result, int other) {
  put(e, "cf.cond_br %, ^#(% : $), ^#\n", condition, (int64_t)block, result, lanes_type(e, F64),
      (int64_t)other);
  begin_block(e, other, NULL, 0, 0);
}

/* By an intrinsic, which LLVM does not compute where it is not needed. */
static val divide_lanes(emitter *e, val a, val b) {
  val of[2] = {a, b};
  for (int i = 0; i < 2; i++)
    of[i] = def(e, "llvm.extractelement %[% : i64] : $", of[i], int_constant(e, 0), lanes_type(e, F64));
  return splat(e, F64,
               def(e, "llvm.call_intrinsic \"llvm.nvvm.div.rn.d\"(%, %) : (f64, f64) -> f64", of[0], of[1]));
}

val emit_shared_quotient(emitter *e, const lgt_inst *in) {
  const divisor *d = &e->divisor[in->b];
  const char *type = lanes_type(e, F64), *flag = lanes_type(e, I1);
  int rare = e->next_block++, slow = e->next_block++, after = e->next_block++;
  val a = e->value[in->a], first = def(e, "arith.mulf %, % : $", a, d->inverse, type);
  val rest = def(e, "math.fma %, %, % : $", d->negative, first, a, type);
  val second = def(e, "math.fma %, %, % : $", rest, d->inverse, first, type);
  leave_if(e, is_ordinary(e, second), after, second, rare);
  val zero = def(e, "arith.cmpf oeq, %, % : $", a, splat_float(e, F64, 0), type);
  zero = def(e, "llvm.extractelement %[% : i64] : $", zero, int_constant(e, 0), flag);
  leave_if(e, bit_and(e, zero, d->ordinary), after, first, slow); /* which has the sign */
  put(e, "cf.br ^#(% : $)\n", (int64_t)after, divide_lanes(e, a, e->value[in->b]), type);
  put(e, "^#(%: $):\n", (int64_t)after, e->next, type);
  return e->next++;
}
