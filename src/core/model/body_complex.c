/* body_complex.c - complex numbers and ranges become their parts.
 *
 * Back ends know real numbers only.  Here every pair of a body turns into two values, and each operation
 * on pairs into operations on parts; real instructions are copied.  Since lowering happens before fusion,
 * complex programs fuse as well as real ones, and what the parts do not need (the imaginary part of a
 * magnitude squared, say) is never computed.
 *
 * The formulas keep the special values that C99 and NumPy promise where they cost a few selects, and avoid
 * overflow in between (Smith's division, hypot).  Nothing is decided by branches: both sides of a select
 * are computed.
 */
#include <math.h>

#include "model/body.h"
#include "base/mem.h"

typedef struct pair {
  int re, im; /* values of the new body; im is -1 for a real value */
} pair;

typedef struct lowering {
  const lgt_body *body;
  lgt_body *out;
  pair *value;       /* of each instruction of body */
  int *part;         /* first new slot of each slot */
  int t;             /* dtype of the parts at work */
  lgt_status status; /* of the first append that failed */
} lowering;

/* ---- appending -------------------------------------------------------------------------------- */

/* After a failure everything is value 0, and lgt_body_lower_complex gives up at the end of the step. */
static int keep(lowering *L, int number) {
  if (number >= 0) return number;
  if (!L->status) L->status = L->out->ninst >= LGT_MAX_INST ? LGT_UNSUPPORTED : LGT_NO_MEMORY;
  return 0;
}

static int put(lowering *L, int op, int dtype, int a, int b, int c) {
  return L->status ? 0 : keep(L, lgt_build_op(L->out, op, dtype, a, b, c));
}

static int op1(lowering *L, int op, int a) { return put(L, op, L->t, a, -1, -1); }
static int op2(lowering *L, int op, int a, int b) { return put(L, op, L->t, a, b, -1); }
static int test2(lowering *L, int op, int a, int b) { return put(L, op, LGT_BOOL, a, b, -1); }
static int test1(lowering *L, int op, int a) { return put(L, op, LGT_BOOL, a, -1, -1); }
static int both(lowering *L, int a, int b) { return put(L, LGT_OP_AND, LGT_BOOL, a, b, -1); }
static int either(lowering *L, int a, int b) { return put(L, LGT_OP_OR, LGT_BOOL, a, b, -1); }
static int choose(lowering *L, int when, int a, int b) { return put(L, LGT_OP_SELECT, L->t, when, a, b); }

static int add(lowering *L, int a, int b) { return op2(L, LGT_OP_ADD, a, b); }
static int sub(lowering *L, int a, int b) { return op2(L, LGT_OP_SUB, a, b); }
static int mul(lowering *L, int a, int b) { return op2(L, LGT_OP_MUL, a, b); }
static int divide(lowering *L, int a, int b) { return op2(L, LGT_OP_DIV, a, b); }
static int neg(lowering *L, int a) { return op1(L, LGT_OP_NEG, a); }
static int magnitude(lowering *L, int a) { return op1(L, LGT_OP_ABS, a); }

static int number(lowering *L, double x) {
  return L->status ? 0 : keep(L, lgt_build_const(L->out, L->t, (lgt_scalar){.f = x}));
}

static int is_zero(lowering *L, pair z) {
  int zero = number(L, 0);
  return both(L, test2(L, LGT_OP_EQ, z.re, zero), test2(L, LGT_OP_EQ, z.im, zero));
}

static pair choose_pair(lowering *L, int when, pair a, pair b) {
  return (pair){choose(L, when, a.re, b.re), choose(L, when, a.im, b.im)};
}

/* ---- arithmetic ------------------------------------------------------------------------------- */

static pair pair_mul(lowering *L, pair a, pair b) {
  return (pair){sub(L, mul(L, a.re, b.re), mul(L, a.im, b.im)),
                add(L, mul(L, a.re, b.im), mul(L, a.im, b.re))};
}

/* Smith's: divide through by the greater part of b, called p; q is the lesser.  By zero it gives what
 * dividing the parts by zero gives. */
static pair pair_div(lowering *L, pair a, pair b) {
  int swap = test2(L, LGT_OP_LT, magnitude(L, b.re), magnitude(L, b.im));
  int p = choose(L, swap, b.im, b.re), q = choose(L, swap, b.re, b.im);
  int x = choose(L, swap, a.im, a.re), y = choose(L, swap, a.re, a.im);
  int ratio = divide(L, q, p), scale = divide(L, number(L, 1), add(L, p, mul(L, q, ratio)));
  int re = mul(L, add(L, x, mul(L, y, ratio)), scale), im = mul(L, sub(L, y, mul(L, x, ratio)), scale);
  pair by_zero = {divide(L, a.re, magnitude(L, b.re)), divide(L, a.im, magnitude(L, b.re))};
  return choose_pair(L, is_zero(L, b), by_zero, (pair){re, choose(L, swap, neg(L, im), im)});
}

/* ---- functions -------------------------------------------------------------------------------- */

/* On the real axis the result is real, even where exp overflows. */
static pair pair_exp(lowering *L, pair z) {
  int size = op1(L, LGT_OP_EXP, z.re), real = test2(L, LGT_OP_EQ, z.im, number(L, 0));
  pair turned = {mul(L, size, op1(L, LGT_OP_COS, z.im)), mul(L, size, op1(L, LGT_OP_SIN, z.im))};
  return choose_pair(L, real, (pair){size, z.im}, turned);
}

/* Near |z| = 1 the logarithm of hypot would have lost its digits: there log1p(|z|^2 - 1) / 2. */
static pair pair_log(lowering *L, pair z) {
  int x = magnitude(L, z.re), y = magnitude(L, z.im), one = number(L, 1);
  int big = op2(L, LGT_OP_MAX, x, y), small = op2(L, LGT_OP_MIN, x, y), size = op2(L, LGT_OP_HYPOT, x, y);
  int excess = add(L, mul(L, sub(L, big, one), add(L, big, one)), mul(L, small, small));
  int near = mul(L, number(L, 0.5), op1(L, LGT_OP_LOG1P, excess));
  int close = both(L, test2(L, LGT_OP_GT, size, number(L, 0.5)), test2(L, LGT_OP_LT, size, number(L, 2)));
  return (pair){choose(L, close, near, op1(L, LGT_OP_LOG, size)), op2(L, LGT_OP_ATAN2, z.im, z.re)};
}

static pair scaled(lowering *L, pair z, double factor) {
  int f = number(L, factor);
  return (pair){mul(L, z.re, f), mul(L, z.im, f)};
}

/* t = sqrt((|x| + |z|) / 2) is one part, y / 2t the other. */
static pair pair_sqrt(lowering *L, pair z) {
  int half = number(L, 0.5), zero = number(L, 0);
  int size = op2(L, LGT_OP_HYPOT, z.re, z.im);
  int t = op1(L, LGT_OP_SQRT, add(L, mul(L, half, magnitude(L, z.re)), mul(L, half, size)));
  int other = divide(L, z.im, add(L, t, t));
  pair right = {t, other}, left = {magnitude(L, other), op2(L, LGT_OP_COPYSIGN, t, z.im)};
  pair root = choose_pair(L, test2(L, LGT_OP_LT, z.re, zero), left, right);
  root = choose_pair(L, test2(L, LGT_OP_EQ, t, zero), (pair){zero, z.im}, root);
  int infinite = test1(L, LGT_OP_ISINF, z.im);
  return choose_pair(L, infinite, (pair){magnitude(L, z.im), z.im}, root);
}

/* A product that is 0 if its second factor is, even if the first overflowed. */
static int mul_zero(lowering *L, int a, int b) {
  int zero = mul(L, op2(L, LGT_OP_COPYSIGN, number(L, 1), a), b);
  return choose(L, test2(L, LGT_OP_EQ, b, number(L, 0)), zero, mul(L, a, b));
}

static pair pair_sin(lowering *L, pair z) {
  return (pair){mul_zero(L, op1(L, LGT_OP_COSH, z.im), op1(L, LGT_OP_SIN, z.re)),
                mul(L, op1(L, LGT_OP_COS, z.re), op1(L, LGT_OP_SINH, z.im))};
}

static pair pair_cos(lowering *L, pair z) {
  return (pair){mul(L, op1(L, LGT_OP_COSH, z.im), op1(L, LGT_OP_COS, z.re)),
                neg(L, mul_zero(L, op1(L, LGT_OP_SINH, z.im), op1(L, LGT_OP_SIN, z.re)))};
}

static pair pair_sinh(lowering *L, pair z) {
  return (pair){mul(L, op1(L, LGT_OP_COS, z.im), op1(L, LGT_OP_SINH, z.re)),
                mul_zero(L, op1(L, LGT_OP_COSH, z.re), op1(L, LGT_OP_SIN, z.im))};
}

static pair pair_cosh(lowering *L, pair z) {
  return (pair){mul(L, op1(L, LGT_OP_COSH, z.re), op1(L, LGT_OP_COS, z.im)),
                mul_zero(L, op1(L, LGT_OP_SINH, z.re), op1(L, LGT_OP_SIN, z.im))};
}

/* With t = tan x and h = tanh y: (t sech^2 y + i h (1 + t^2)) / (1 + t^2 h^2); sech does not cancel as
 * 1 - h^2 would, nor overflow. */
static pair pair_tan(lowering *L, pair z) {
  int one = number(L, 1);
  int t = op1(L, LGT_OP_TAN, z.re), h = op1(L, LGT_OP_TANH, z.im);
  int sech = divide(L, one, op1(L, LGT_OP_COSH, z.im)), tt = mul(L, t, t);
  int below = add(L, one, mul(L, tt, mul(L, h, h)));
  return (pair){divide(L, mul(L, mul(L, t, sech), sech), below),
                divide(L, mul(L, h, add(L, one, tt)), below)};
}

/* tanh(x + iy) = -i tan(i (x + iy)). */
static pair pair_tanh(lowering *L, pair z) {
  pair turned = pair_tan(L, (pair){z.im, z.re});
  return (pair){turned.im, turned.re};
}

/* By repeated squaring, as NumPy does for whole exponents: of 0 it is 0 without signs, or NaN. */
static pair pair_power(lowering *L, pair base, int n) {
  pair result = {number(L, 1), number(L, 0)}, z = base;
  bool started = false;
  for (int rest = n < 0 ? -n : n; rest; rest >>= 1) {
    if (rest & 1) {
      result = started ? pair_mul(L, result, z) : z;
      started = true;
    }
    if (rest > 1) z = pair_mul(L, z, z);
  }
  if (n < 0) result = pair_div(L, (pair){number(L, 1), number(L, 0)}, result);
  else if (n <= 2) return result;
  int of_zero = number(L, n < 0 ? NAN : 0);
  return choose_pair(L, is_zero(L, base), (pair){of_zero, of_zero}, result);
}

static pair pair_pow(lowering *L, pair a, pair b) {
  pair log_a = pair_log(L, a), power = pair_exp(L, pair_mul(L, b, log_a));
  pair one = {number(L, 1), number(L, 0)}, zero = {number(L, 0), number(L, 0)},
       nan = {number(L, NAN), number(L, NAN)};
  pair of_zero = choose_pair(L, test2(L, LGT_OP_GT, b.re, zero.re), zero, nan);
  power = choose_pair(L, is_zero(L, a), of_zero, power);
  return choose_pair(L, is_zero(L, b), one, power);
}

/* The exponent, if it is a whole constant small enough to multiply out; else INT32_MIN. */
static int whole_exponent(const lgt_body *body, int value) {
  const lgt_inst *inst = &body->inst[value];
  if (inst->op != LGT_OP_CONST) return INT32_MIN;
  const double *c = body->constant[inst->a].c;
  return c[1] == 0 && fabs(c[0]) < 100 && c[0] == rint(c[0]) ? (int)c[0] : INT32_MIN;
}

/* ---- instructions ----------------------------------------------------------------------------- */

static pair lower_leaf(lowering *L, const lgt_inst *inst) {
  pair z = {0, 0};
  for (int k = 0; k < 2 && !L->status; k++) {
    int n = -1;
    if (inst->op == LGT_OP_LOAD) n = lgt_build_load(L->out, L->t, L->part[inst->a] + k);
    if (inst->op == LGT_OP_PARAM) {
      n = lgt_build_param(L->out, L->t, inst->a);
      if (n >= 0) L->out->inst[n].aux = (uint8_t)k;
    }
    if (inst->op == LGT_OP_CONST) {
      lgt_scalar whole = L->body->constant[inst->a];
      lgt_scalar half = {.i = whole.range[k]}; /* both members hold their halves in the same places */
      n = lgt_build_const(L->out, L->t, half);
    }
    *(k ? &z.im : &z.re) = keep(L, n);
  }
  return z;
}

static void lower_effect(lowering *L, const lgt_inst *inst) {
  pair z = L->value[inst->a];
  for (int k = 0; k < (z.im < 0 ? 1 : 2) && !L->status; k++) {
    int value = k ? z.im : z.re, slot = L->part[inst->b] + k, redop = lgt_inst_redop(inst);
    if (inst->op == LGT_OP_STORE) keep(L, lgt_build_store(L->out, slot, value));
    else if (inst->op == LGT_OP_REDUCE)
      keep(L, lgt_build_reduce(L->out, slot, redop, value, inst->aux & LGT_REDUCE_FRESH));
    else keep(L, lgt_build_reduce_arg(L->out, slot, redop, value, L->value[inst->c].re));
  }
}

/* Casts with a pair on at least one side. */
static pair lower_cast(lowering *L, const lgt_inst *inst, pair z, int from) {
  int to = lgt_dtype_part(inst->dtype), part = lgt_dtype_part(from);
  if (inst->dtype == LGT_BOOL) {
    pair zero = {number(L, 0), -1};
    return (pair){either(L, test2(L, LGT_OP_NE, z.re, zero.re), test2(L, LGT_OP_NE, z.im, zero.re)), -1};
  }
  L->t = to;
  pair result = {to == part ? z.re : op1(L, LGT_OP_CAST, z.re), -1};
  if (!lgt_dtype_is_pair(inst->dtype)) return result;
  result.im = z.im < 0 ? number(L, 0) : to == part ? z.im : op1(L, LGT_OP_CAST, z.im);
  return result;
}

/* A function of one pair.  False: it is none. */
static bool lower_function(lowering *L, int op, pair a, pair *out) {
  switch (op) {
    case LGT_OP_EXP:
      return *out = pair_exp(L, a), true;
    case LGT_OP_LOG:
      return *out = pair_log(L, a), true;
    case LGT_OP_LOG2:
      return *out = scaled(L, pair_log(L, a), 1 / log(2)), true;
    case LGT_OP_LOG10:
      return *out = scaled(L, pair_log(L, a), 1 / log(10)), true;
    case LGT_OP_SQRT:
      return *out = pair_sqrt(L, a), true;
    case LGT_OP_SIN:
      return *out = pair_sin(L, a), true;
    case LGT_OP_COS:
      return *out = pair_cos(L, a), true;
    case LGT_OP_TAN:
      return *out = pair_tan(L, a), true;
    case LGT_OP_SINH:
      return *out = pair_sinh(L, a), true;
    case LGT_OP_COSH:
      return *out = pair_cosh(L, a), true;
    case LGT_OP_TANH:
      return *out = pair_tanh(L, a), true;
  }
  return false;
}

/* An instruction with a pair among its operands, or one that makes a pair from values. */
static pair lower_pair(lowering *L, const lgt_inst *inst) {
  int last = lgt_op_arity(inst->op) == 1 ? inst->a : inst->b; /* of a select too: its values agree */
  pair a = L->value[inst->a], b = lgt_op_arity(inst->op) > 1 ? L->value[inst->b] : a;
  L->t = lgt_dtype_part(L->body->inst[last].dtype);
  switch (inst->op) {
    case LGT_OP_CAST:
      return lower_cast(L, inst, a, L->body->inst[last].dtype);
    case LGT_OP_SELECT:
      return choose_pair(L, a.re, b, L->value[inst->c]);
    case LGT_OP_COMPLEX:
      return (pair){a.re, b.re};
    case LGT_OP_REAL:
      return (pair){a.re, -1};
    case LGT_OP_IMAG:
      return (pair){a.im, -1};
    case LGT_OP_ADD:
    case LGT_OP_SUB:
      return (pair){op2(L, inst->op, a.re, b.re), op2(L, inst->op, a.im, b.im)};
    case LGT_OP_MUL:
      return pair_mul(L, a, b);
    case LGT_OP_DIV:
      return pair_div(L, a, b);
    case LGT_OP_NEG:
      return (pair){neg(L, a.re), neg(L, a.im)};
    case LGT_OP_ABS:
      return (pair){op2(L, LGT_OP_HYPOT, a.re, a.im), -1};
    case LGT_OP_EQ:
      return (pair){both(L, test2(L, LGT_OP_EQ, a.re, b.re), test2(L, LGT_OP_EQ, a.im, b.im)), -1};
    case LGT_OP_NE:
      return (pair){either(L, test2(L, LGT_OP_NE, a.re, b.re), test2(L, LGT_OP_NE, a.im, b.im)), -1};
    case LGT_OP_ISNAN:
    case LGT_OP_ISINF:
      return (pair){either(L, test1(L, inst->op, a.re), test1(L, inst->op, a.im)), -1};
    case LGT_OP_ISFINITE:
      return (pair){both(L, test1(L, inst->op, a.re), test1(L, inst->op, a.im)), -1};
    case LGT_OP_POW: {
      int n = whole_exponent(L->body, inst->b);
      return n == INT32_MIN ? pair_pow(L, a, b) : pair_power(L, a, n);
    }
  }
  pair result = {0, 0};
  if (!lower_function(L, inst->op, a, &result))
    L->status =
        lgt_err(LGT_UNSUPPORTED, "%s has no form for %s", lgt_op_name(inst->op), lgt_dtype_name(inst->dtype));
  return result;
}

/* Real instructions: the same with renamed operands. */
static pair copy_inst(lowering *L, const lgt_inst *inst) {
  int n = -1;
  switch (inst->op) {
    case LGT_OP_LOAD:
      n = lgt_build_load(L->out, inst->dtype, L->part[inst->a]);
      break;
    case LGT_OP_CONST:
      n = lgt_build_const(L->out, inst->dtype, L->body->constant[inst->a]);
      break;
    case LGT_OP_PARAM:
      n = lgt_build_param(L->out, inst->dtype, inst->a);
      break;
    case LGT_OP_INDEX:
      n = lgt_build_index(L->out, inst->a == LGT_NO_VALUE ? -1 : inst->a);
      break;
    default: {
      int arity = lgt_op_arity(inst->op);
      n = lgt_body_copy(L->out, inst, L->value[inst->a].re, arity > 1 ? L->value[inst->b].re : -1,
                        arity > 2 ? L->value[inst->c].re : -1);
    }
  }
  return (pair){keep(L, n), -1};
}

static void lower_inst(lowering *L, int i) {
  const lgt_inst *inst = &L->body->inst[i];
  int arity = lgt_op_arity(inst->op), op = inst->op;
  bool with_pair = lgt_dtype_is_pair(inst->dtype);
  if (op == LGT_OP_STORE || op == LGT_OP_REDUCE || op == LGT_OP_REDUCE_ARG) {
    lower_effect(L, inst);
    return;
  }
  if (arity > 0) with_pair |= L->value[inst->a].im >= 0;
  if (arity > 1) with_pair |= L->value[inst->b].im >= 0;
  L->t = lgt_dtype_part(inst->dtype);
  if (!with_pair) L->value[i] = copy_inst(L, inst);
  else L->value[i] = arity == 0 ? lower_leaf(L, inst) : lower_pair(L, inst);
}

/* New numbers for the slots: a pair takes two. */
static void number_slots(const lgt_body *body, int *part) {
  for (int i = 0; i < body->nslot; i++) part[i] = 1;
  for (int i = 0; i < body->ninst; i++) {
    const lgt_inst *inst = &body->inst[i];
    bool effect = inst->op == LGT_OP_STORE || inst->op == LGT_OP_REDUCE;
    if ((effect || inst->op == LGT_OP_LOAD) && lgt_dtype_is_pair(inst->dtype))
      part[effect ? inst->b : inst->a] = 2;
  }
  for (int i = 0, next = 0; i < body->nslot; i++) {
    int taken = part[i];
    part[i] = next;
    next += taken;
  }
}

lgt_status lgt_body_lower_complex(const lgt_body *body, lgt_body **out, int **part) {
  lowering L = {.body = body, .out = lgt_build_new()};
  L.value = lgt_mem_zalloc((size_t)body->ninst * sizeof *L.value);
  L.part = lgt_mem_zalloc((size_t)body->nslot * sizeof *L.part);
  if (!L.out || !L.value || !L.part) {
    L.status = lgt_err(LGT_NO_MEMORY, "out of memory for a generator");
    goto failed;
  }
  number_slots(body, L.part);
  L.out->nparam = body->nparam;
  for (int i = 0; i < body->ninst && !L.status; i++) {
    lower_inst(&L, i);
    if (L.status) goto failed;
  }
  lgt_mem_free(L.value);
  *out = L.out;
  *part = L.part;
  return LGT_OK;
failed:
  lgt_mem_free(L.part);
  lgt_mem_free(L.value);
  lgt_body_free(L.out);
  return L.status;
}
