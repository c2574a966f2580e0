/* body.c - building, checking and printing generators.
 *
 * A body is checked twice: instruction by instruction as it is built, so that a library author's mistake
 * raises at the call that made it, and as a whole by lgt_body_verify, which sees what is wrong with slots.
 * Both use `check_inst`, which is all there is to say about an instruction's types.
 *
 * Any thread, but one body belongs to one thread while it is built.
 */
#include "model/body.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* ---- tables ----------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  int arity;
  const char *classes;
} ops[] = {
#define X(NAME, name, arity, classes) {#name, arity, classes},
    LGT_OP_LIST(X)
#undef X
};

static const struct {
  const char *name, *classes;
} redops[] = {
#define X(NAME, name, classes) {#name, classes},
    LGT_REDOP_LIST(X)
#undef X
};

const char *lgt_op_name(int op) { return op >= 0 && op < LGT_NOP ? ops[op].name : "?"; }
int lgt_op_arity(int op) { return ops[op].arity; }

int lgt_inst_operands(const lgt_inst *inst, uint16_t operand[3]) {
  operand[0] = inst->a;
  operand[1] = inst->op == LGT_OP_REDUCE_ARG ? inst->c : inst->b;
  operand[2] = inst->c;
  return lgt_op_arity(inst->op);
}

void lgt_inst_set_operands(lgt_inst *inst, const uint16_t operand[3]) {
  int n = lgt_op_arity(inst->op);
  if (n > 0) inst->a = operand[0];
  if (n > 1) *(inst->op == LGT_OP_REDUCE_ARG ? &inst->c : &inst->b) = operand[1];
  if (n > 2) inst->c = operand[2];
}

const char *lgt_op_classes(int op) { return ops[op].classes; }
const char *lgt_redop_name(int redop) { return redop >= 0 && redop < LGT_NREDOP ? redops[redop].name : "?"; }

int lgt_redop_op(int redop) {
  static const unsigned char op[] = {
      [LGT_REDOP_SUM] = LGT_OP_ADD, [LGT_REDOP_PROD] = LGT_OP_MUL, [LGT_REDOP_MIN] = LGT_OP_MIN,
      [LGT_REDOP_MAX] = LGT_OP_MAX, [LGT_REDOP_AND] = LGT_OP_AND,  [LGT_REDOP_OR] = LGT_OP_OR,
      [LGT_REDOP_XOR] = LGT_OP_XOR};
  return op[redop];
}

int lgt_opcode(const char *name) {
  for (int op = 0; op < LGT_NOP; op++)
    if (!strcmp(name, ops[op].name)) return op;
  return -1;
}

int lgt_redop(const char *name) {
  for (int redop = 0; redop < LGT_NREDOP; redop++)
    if (!strcmp(name, redops[redop].name)) return redop;
  return -1;
}

/* The least and the greatest value of a real dtype. */
static lgt_scalar extreme(int dtype, bool greatest) {
  int bits = 8 * lgt_dtype_size(dtype);
  lgt_scalar value = {.range = {0, 0}};
  switch (lgt_dtype_class(dtype)) {
    case 'b':
      value.i = greatest;
      break;
    case 'i':
      value.i = greatest ? INT64_MAX >> (64 - bits) : INT64_MIN >> (64 - bits);
      break;
    case 'u':
      value.u = greatest ? UINT64_MAX >> (64 - bits) : 0;
      break;
    case 'f':
      value.f = greatest ? INFINITY : -INFINITY;
      break;
  }
  return value;
}

lgt_scalar lgt_redop_identity(int redop, int dtype) {
  lgt_scalar value = {.range = {0, 0}};
  switch (redop) {
    case LGT_REDOP_PROD:
      if (lgt_dtype_is_float(dtype)) value.f = 1;
      else value.i = 1;
      break;
    case LGT_REDOP_MIN:
    case LGT_REDOP_ARGMIN:
      value = extreme(dtype, true);
      break;
    case LGT_REDOP_MAX:
    case LGT_REDOP_ARGMAX:
      value = extreme(dtype, false);
      break;
    case LGT_REDOP_AND:
      if (lgt_dtype_class(dtype) == 'i') value.i = -1;
      else value = extreme(dtype, true);
      break;
  }
  return value;
}

/* ---- one instruction -------------------------------------------------------------------------- */

static bool is_test(int op) { return op >= LGT_OP_EQ && op <= LGT_OP_SIGNBIT; }

static lgt_status check_operand(const lgt_inst *before, int ninst, const lgt_inst *inst, int operand) {
  if (operand < ninst && !lgt_op_effect(before[operand].op)) return LGT_OK;
  if (operand < ninst)
    return lgt_err(LGT_BAD_ARGUMENT, "%s: operand %%%d is a %s, which has no value", lgt_op_name(inst->op),
                   operand, lgt_op_name(before[operand].op));
  if (operand == LGT_NO_VALUE)
    return lgt_err(LGT_BAD_ARGUMENT, "%s: an operand is missing or is no value; it takes %d",
                   lgt_op_name(inst->op), lgt_op_arity(inst->op));
  return lgt_err(LGT_BAD_ARGUMENT, "%s: operand %%%d does not exist; there are %d values so far",
                 lgt_op_name(inst->op), operand, ninst);
}

static lgt_status check_class(const lgt_inst *inst, int dtype, const char *classes) {
  static const char letters[] = "biufcr";
  static const char *const words[] = {"bool",   "signed integers", "unsigned integers",
                                      "floats", "complex",         "range"};
  if (strchr(classes, lgt_dtype_class(dtype))) return LGT_OK;
  char expected[128] = "";
  for (int i = 0; i < 6; i++) {
    if (!strchr(classes, letters[i])) continue;
    if (*expected) strcat(expected, ", ");
    strcat(expected, words[i]);
  }
  const char *redop = inst->op == LGT_OP_REDUCE || inst->op == LGT_OP_REDUCE_ARG
                          ? lgt_redop_name(lgt_inst_redop(inst))
                          : NULL;
  return lgt_err(LGT_BAD_DTYPE, "%s%s%s is not defined for %s, only for: %s; cast first",
                 lgt_op_name(inst->op), redop ? " " : "", redop ? redop : "", lgt_dtype_name(dtype),
                 expected);
}

/* The instruction's dtype must be what follows from its operands. */
static lgt_status expect_dtype(const lgt_inst *inst, int dtype) {
  if (inst->dtype == dtype) return LGT_OK;
  return lgt_err(LGT_BAD_DTYPE, "%s has dtype %s here, not %s", lgt_op_name(inst->op), lgt_dtype_name(dtype),
                 lgt_dtype_name(inst->dtype));
}

static lgt_status check_reduce(const lgt_inst *inst, int operand_dtype, const lgt_inst *position) {
  int redop = lgt_inst_redop(inst);
  bool with_position = inst->op == LGT_OP_REDUCE_ARG;
  if (redop >= LGT_NREDOP) return lgt_err(LGT_BAD_ARGUMENT, "%d is not a reduction operator", redop);
  if (with_position != (redop == LGT_REDOP_ARGMIN || redop == LGT_REDOP_ARGMAX))
    return lgt_err(LGT_BAD_ARGUMENT, "%s is not an operator for %s", lgt_redop_name(redop),
                   lgt_op_name(inst->op));
  if (position && position->dtype != LGT_INT64)
    return lgt_err(LGT_BAD_DTYPE, "the position of %s is %s; int64 was expected", lgt_redop_name(redop),
                   lgt_dtype_name(position->dtype));
  lgt_status status = check_class(inst, operand_dtype, redops[redop].classes);
  return status ? status : expect_dtype(inst, operand_dtype);
}

/* What the dtype of the value must be, given that of the (last) operand; -1: nothing follows. */
static int dtype_of_value(const lgt_inst *inst, int operand) {
  if (is_test(inst->op)) return LGT_BOOL;
  switch (inst->op) {
    case LGT_OP_CAST:
      return lgt_dtype_class(inst->dtype) == 'r' ? operand : inst->dtype;
    case LGT_OP_ABS:
    case LGT_OP_REAL:
    case LGT_OP_IMAG:
      return lgt_dtype_part(operand);
    case LGT_OP_COMPLEX:
      return lgt_dtype_is_pair(inst->dtype) && lgt_dtype_part(inst->dtype) == operand ? inst->dtype : -1;
    case LGT_OP_PHILOX:
      return LGT_UINT64;
    default:
      return operand;
  }
}

static lgt_status check_leaf(const lgt_body *body, const lgt_inst *inst) {
  switch (inst->op) {
    case LGT_OP_CONST:
      if (inst->a < body->nconst) return LGT_OK;
      return lgt_err(LGT_BAD_ARGUMENT, "const %d does not exist; the body has %d", inst->a, body->nconst);
    case LGT_OP_PARAM:
      if (inst->a < body->nparam && inst->aux <= 1) return LGT_OK;
      return lgt_err(LGT_BAD_ARGUMENT, "param %d does not exist; the body has %d", inst->a, body->nparam);
    case LGT_OP_INDEX:
      if (inst->a != LGT_NO_VALUE && inst->a > 5)
        return lgt_err(LGT_BAD_ARGUMENT, "index along dimension %d: 1 to 6 was expected", inst->a + 1);
      return expect_dtype(inst, LGT_INT64);
  }
  return LGT_OK;
}

/* Is `inst` right as number `ninst` of the body? */
static lgt_status check_inst(const lgt_body *body, int ninst, const lgt_inst *inst) {
  const lgt_inst *before = body->inst;
  if (inst->op >= LGT_NOP) return lgt_err(LGT_BAD_ARGUMENT, "%d is not an opcode", inst->op);
  if (!lgt_dtype_valid(inst->dtype)) return lgt_err(LGT_BAD_DTYPE, "%d is not an element type", inst->dtype);
  int arity = ops[inst->op].arity;
  if (arity == 0) return check_leaf(body, inst);

  /* Where the operands are: an effect keeps its slot in b. */
  bool effect = lgt_op_effect(inst->op);
  int operand[3] = {inst->a, effect ? inst->c : inst->b, inst->c};
  lgt_status status;
  for (int i = 0; i < arity; i++)
    if ((status = check_operand(before, ninst, inst, operand[i]))) return status;

  int first = inst->op == LGT_OP_SELECT, last = inst->op == LGT_OP_REDUCE_ARG ? 0 : arity - 1;
  int dtype = before[operand[first]].dtype;
  if (first && before[inst->a].dtype != LGT_BOOL)
    return lgt_err(LGT_BAD_DTYPE, "select: the condition %%%d is %s; bool was expected", inst->a,
                   lgt_dtype_name(before[inst->a].dtype));
  if (before[operand[last]].dtype != dtype)
    return lgt_err(LGT_BAD_DTYPE, "%s: the operands %%%d and %%%d are %s and %s; cast one of them first",
                   lgt_op_name(inst->op), operand[first], operand[last], lgt_dtype_name(dtype),
                   lgt_dtype_name(before[operand[last]].dtype));
  if (inst->op == LGT_OP_REDUCE || inst->op == LGT_OP_REDUCE_ARG)
    return check_reduce(inst, dtype, arity == 2 ? &before[inst->c] : NULL);
  if ((status = check_class(inst, dtype, ops[inst->op].classes))) return status;
  int value = dtype_of_value(inst, dtype);
  if (value < 0)
    return lgt_err(LGT_BAD_DTYPE, "complex: no %s has parts of type %s", lgt_dtype_name(inst->dtype),
                   lgt_dtype_name(dtype));
  if (inst->op == LGT_OP_PHILOX && (status = expect_dtype(inst, dtype))) return status;
  return expect_dtype(inst, value);
}

/* ---- building --------------------------------------------------------------------------------- */

lgt_body *lgt_build_new(void) {
  lgt_body *body = lgt_mem_zalloc(sizeof *body);
  if (!body) lgt_err(LGT_NO_MEMORY, "out of memory for a generator");
  return body;
}

void lgt_body_free(lgt_body *body) {
  if (!body) return;
  lgt_mem_free(body->inst);
  lgt_mem_free(body->constant);
  lgt_mem_free(body->why);
  lgt_mem_free(body);
}

static int append(lgt_body *body, lgt_inst inst) {
  if (check_inst(body, body->ninst, &inst)) return -1;
  if (body->ninst == LGT_MAX_INST)
    return lgt_err(LGT_UNSUPPORTED, "a generator has at most %d instructions", LGT_MAX_INST), -1;
  if (!lgt_mem_grow((void **)&body->inst, &body->inst_room, body->ninst + 1, sizeof inst))
    return lgt_err(LGT_NO_MEMORY, "out of memory for a generator"), -1;
  body->inst[body->ninst] = inst;
  return body->ninst++;
}

/* Numbers from outside; what does not fit names nothing. */
static uint16_t value_number(int n) { return n >= 0 && n < LGT_NO_VALUE ? (uint16_t)n : LGT_NO_VALUE; }
static uint8_t byte_number(int n) { return n >= 0 && n < 0xff ? (uint8_t)n : 0xff; }

static lgt_inst leaf(int op, int dtype, int a) {
  return (lgt_inst){.op = (uint8_t)op,
                    .dtype = byte_number(dtype),
                    .a = value_number(a),
                    .b = LGT_NO_VALUE,
                    .c = LGT_NO_VALUE};
}

/* x^y of floats where y is a constant that POWER has room for: *power is it. */
static bool is_power(const lgt_body *body, int op, int dtype, int y, int *power) {
  if (op != LGT_OP_POW || !lgt_dtype_valid(dtype) || lgt_dtype_class(dtype) != 'f') return false;
  if (y < 0 || y >= body->ninst || body->inst[y].op != LGT_OP_CONST || body->inst[y].dtype != dtype)
    return false;
  double exponent = body->constant[body->inst[y].a].f;
  *power = exponent == 0.5 ? LGT_POWER_ROOT : exponent == -0.5 ? -LGT_POWER_ROOT : 0;
  if (*power) return true;
  if (!(fabs(exponent) <= LGT_POWER_MOST) || exponent != rint(exponent)) return false;
  *power = (int)exponent;
  return true;
}

static lgt_inst power_of(int dtype, int x, int power) {
  lgt_inst inst = leaf(LGT_OP_POWER, dtype, x);
  inst.aux = (uint8_t)power;
  return inst;
}

/* x^power, by one operation if that is all it takes. */
static int raise_to(lgt_body *body, int dtype, int x, int power) {
  lgt_inst inst = power_of(dtype, x, power);
  if (power < -1 || power > 2) return append(body, inst);
  if (check_inst(body, body->ninst, &inst)) return -1;
  if (power == 1) return x;
  if (power == 2) return lgt_build_op(body, LGT_OP_MUL, dtype, x, x, -1);
  int one = lgt_build_const(body, dtype, (lgt_scalar){.f = 1});
  return power == 0 || one < 0 ? one : lgt_build_op(body, LGT_OP_DIV, dtype, one, x, -1);
}

int lgt_body_copy(lgt_body *body, const lgt_inst *inst, int a, int b, int c) {
  if (inst->op == LGT_OP_POWER) return append(body, power_of(inst->dtype, a, lgt_inst_power(inst)));
  return lgt_build_op(body, inst->op, inst->dtype, a, b, c);
}

int lgt_build_op(lgt_body *body, int opcode, int dtype, int a, int b, int c) {
  uint8_t op = byte_number(opcode);
  int power;
  if (is_power(body, op, dtype, b, &power)) return raise_to(body, dtype, a, power);
  if (op < LGT_NOP && (op < LGT_OP_CAST || op == LGT_OP_POWER))
    return lgt_err(LGT_BAD_ARGUMENT, "%s is not an operation on values; it has a function of its own",
                   ops[op].name),
           -1;
  int arity = op < LGT_NOP ? ops[op].arity : 0;
  return append(body, (lgt_inst){.op = op,
                                 .dtype = byte_number(dtype),
                                 .a = value_number(a),
                                 .b = arity > 1 ? value_number(b) : LGT_NO_VALUE,
                                 .c = arity > 2 ? value_number(c) : LGT_NO_VALUE});
}

int lgt_build_const(lgt_body *body, int dtype, lgt_scalar value) {
  if (!lgt_mem_grow((void **)&body->constant, &body->const_room, body->nconst + 1, sizeof value))
    return lgt_err(LGT_NO_MEMORY, "out of memory for a generator"), -1;
  /* Constants are compared as bytes: what the dtype does not use is 0. */
  if (lgt_dtype_valid(dtype) && !lgt_dtype_is_pair(dtype)) value.range[1] = 0;
  body->constant[body->nconst++] = value;
  int number = append(body, leaf(LGT_OP_CONST, dtype, body->nconst - 1));
  if (number < 0) body->nconst--;
  return number;
}

int lgt_build_param(lgt_body *body, int dtype, int index) {
  if (index < 0 || index > 0xff)
    return lgt_err(LGT_BAD_ARGUMENT, "param %d: 0 to 255 was expected", index), -1;
  int former = body->nparam;
  if (body->nparam <= index) body->nparam = index + 1;
  int number = append(body, leaf(LGT_OP_PARAM, dtype, index));
  if (number < 0) body->nparam = former;
  return number;
}

/* Append an instruction that touches slots up to `slot`. */
static int append_slot(lgt_body *body, lgt_inst inst, int slot) {
  if (slot < 0 || slot > 0xff)
    return lgt_err(LGT_BAD_ARGUMENT, "%s: argument %d: 1 to 256 was expected", lgt_op_name(inst.op),
                   slot + 1),
           -1;
  int number = append(body, inst);
  if (number >= 0 && body->nslot <= slot) body->nslot = slot + 1;
  return number;
}

int lgt_build_load(lgt_body *body, int dtype, int arg) {
  return append_slot(body, leaf(LGT_OP_LOAD, dtype, arg), arg);
}

int lgt_build_index(lgt_body *body, int dim) {
  if (dim < -1 || dim > 5)
    return lgt_err(LGT_BAD_ARGUMENT, "index along dimension %d: 1 to 6 was expected, or 0 for the position",
                   dim + 1),
           -1;
  return append(body, leaf(LGT_OP_INDEX, LGT_INT64, dim));
}

/* An effect's dtype is that of its value. */
static uint8_t dtype_of(const lgt_body *body, int value) {
  return value >= 0 && value < body->ninst ? body->inst[value].dtype : 0;
}

int lgt_build_store(lgt_body *body, int arg, int value) {
  lgt_inst inst = leaf(LGT_OP_STORE, dtype_of(body, value), value);
  inst.b = value_number(arg);
  return append_slot(body, inst, arg);
}

int lgt_build_reduce(lgt_body *body, int arg, int redop, int value, int fresh) {
  lgt_inst inst = leaf(LGT_OP_REDUCE, dtype_of(body, value), value);
  inst.b = value_number(arg);
  inst.aux =
      (uint8_t)((redop >= 0 && redop < LGT_NREDOP ? redop : LGT_NREDOP) | (fresh ? LGT_REDUCE_FRESH : 0));
  return append_slot(body, inst, arg);
}

int lgt_build_reduce_arg(lgt_body *body, int arg, int redop, int value, int index) {
  lgt_inst inst = leaf(LGT_OP_REDUCE_ARG, dtype_of(body, value), value);
  inst.b = value_number(arg);
  inst.c = value_number(index);
  inst.aux = (uint8_t)((redop >= 0 && redop < LGT_NREDOP ? redop : LGT_NREDOP) | LGT_REDUCE_FRESH);
  return append_slot(body, inst, arg + 1);
}

/* ---- checking --------------------------------------------------------------------------------- */

/* What is known of a slot. */
typedef struct slot {
  uint8_t dtype;
  bool used, stored, reduced;
} slot;

static lgt_status use_slot(slot *slots, const lgt_body *body, const lgt_inst *inst, int number, int dtype) {
  const char *name = lgt_op_name(inst->op);
  bool stores = inst->op == LGT_OP_STORE, reduces = lgt_op_effect(inst->op) && !stores;
  if (number >= body->nslot)
    return lgt_err(LGT_BAD_ARGUMENT, "%s: argument %d does not exist; the body has %d", name, number + 1,
                   body->nslot);
  slot *s = &slots[number];
  if (s->used && s->dtype != dtype)
    return lgt_err(LGT_BAD_DTYPE, "argument %d is used as %s and as %s", number + 1, lgt_dtype_name(s->dtype),
                   lgt_dtype_name(dtype));
  if (stores && s->stored) return lgt_err(LGT_BAD_ARGUMENT, "argument %d is stored twice", number + 1);
  if (s->used && (reduces || s->reduced))
    return lgt_err(LGT_BAD_ARGUMENT, "argument %d is reduced; nothing else can be done with it", number + 1);
  *s = (slot){(uint8_t)dtype, true, s->stored || stores, reduces};
  return LGT_OK;
}

static lgt_status check_slots(const lgt_body *body, slot *slots) {
  for (int i = 0; i < body->ninst; i++) {
    const lgt_inst *inst = &body->inst[i];
    if (inst->op != LGT_OP_LOAD && !lgt_op_effect(inst->op)) continue;
    int number = inst->op == LGT_OP_LOAD ? inst->a : inst->b;
    lgt_status status = use_slot(slots, body, inst, number, inst->dtype);
    if (!status && inst->op == LGT_OP_REDUCE_ARG) status = use_slot(slots, body, inst, number + 1, LGT_INT64);
    if (status) return lgt_err_within(status, "instruction %%%d", i);
  }
  for (int i = 0; i < body->nslot; i++)
    if (!slots[i].used)
      return lgt_err(LGT_BAD_ARGUMENT, "argument %d is neither loaded nor stored; leave it out or load it",
                     i + 1);
  return LGT_OK;
}

lgt_status lgt_body_verify(const lgt_body *body) {
  for (int i = 0; i < body->ninst; i++) {
    lgt_status status = check_inst(body, i, &body->inst[i]);
    if (status) return lgt_err_within(status, "instruction %%%d", i);
  }
  slot *slots = lgt_mem_zalloc((size_t)body->nslot * sizeof *slots);
  if (!slots) return lgt_err(LGT_NO_MEMORY, "out of memory while checking a generator");
  lgt_status status = check_slots(body, slots);
  lgt_mem_free(slots);
  return status;
}

/* ---- printing --------------------------------------------------------------------------------- */

static int print_scalar(char *text, size_t room, int dtype, lgt_scalar value) {
  switch (lgt_dtype_class(dtype)) {
    case 'f':
      return snprintf(text, room, "%.17g", value.f);
    case 'u':
      return snprintf(text, room, "%llu", (unsigned long long)value.u);
    case 'c':
      return snprintf(text, room, "%.17g%+.17gi", value.c[0], value.c[1]);
    case 'r':
      return snprintf(text, room, "%lld..%lld", (long long)value.range[0], (long long)value.range[1]);
    default:
      return snprintf(text, room, "%lld", (long long)value.i);
  }
}

/* The line of instruction i. */
static void print_inst(const lgt_body *body, int i, char *text, size_t room) {
  const lgt_inst *inst = &body->inst[i];
  const char *name = lgt_op_name(inst->op), *dtype = lgt_dtype_name(inst->dtype);
  const char *redop = lgt_redop_name(lgt_inst_redop(inst)),
             *fresh = inst->aux & LGT_REDUCE_FRESH ? " fresh" : "";
  char constant[96];
  switch (inst->op) {
    case LGT_OP_LOAD:
      snprintf(text, room, "%%%d = load %s $%d\n", i, dtype, inst->a);
      break;
    case LGT_OP_CONST:
      print_scalar(constant, sizeof constant, inst->dtype, body->constant[inst->a]);
      snprintf(text, room, "%%%d = const %s %s\n", i, dtype, constant);
      break;
    case LGT_OP_PARAM:
      snprintf(text, room, "%%%d = param %s %d%s\n", i, dtype, inst->a, inst->aux ? " second" : "");
      break;
    case LGT_OP_INDEX:
      snprintf(text, room, "%%%d = index %d\n", i, inst->a == LGT_NO_VALUE ? -1 : inst->a);
      break;
    case LGT_OP_STORE:
      snprintf(text, room, "store %s $%d, %%%d\n", dtype, inst->b, inst->a);
      break;
    case LGT_OP_REDUCE:
      snprintf(text, room, "reduce %s %s%s $%d, %%%d\n", dtype, redop, fresh, inst->b, inst->a);
      break;
    case LGT_OP_REDUCE_ARG:
      snprintf(text, room, "reduce_arg %s %s%s $%d, $%d, %%%d, %%%d\n", dtype, redop, fresh, inst->b,
               inst->b + 1, inst->a, inst->c);
      break;
    default: {
      int used = snprintf(text, room, "%%%d = %s %s", i, name, dtype);
      const uint16_t operand[3] = {inst->a, inst->b, inst->c};
      for (int k = 0; k < lgt_op_arity(inst->op); k++)
        used += snprintf(text + used, room - (size_t)used, "%s%%%d", k ? ", " : " ", operand[k]);
      if (inst->op == LGT_OP_POWER)
        used += snprintf(text + used, room - (size_t)used, " ^%d", lgt_inst_power(inst));
      snprintf(text + used, room - (size_t)used, "\n");
    }
  }
}

void lgt_body_print(const lgt_body *body, char *text, size_t room) {
  size_t used = 0;
  if (room) *text = 0;
  for (int i = 0; i < body->ninst; i++) {
    char line[192];
    print_inst(body, i, line, sizeof line);
    size_t length = strlen(line);
    if (length >= room - used) return;
    memcpy(text + used, line, length + 1);
    used += length;
  }
}
