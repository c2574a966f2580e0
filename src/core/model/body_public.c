/* body_public.c - generators as lgt.h has them.
 *
 * A value's number is that of its instruction and 1, so that 0 is none; operations have names.  What fails first is
 * remembered, so that a caller need not look at each append.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "model/body.h"

lgt_status lgt_body_new(lgt_body **body) {
  lgt_body *made = lgt_build_new();
  if (!made) return LGT_NO_MEMORY;
  *body = made;
  return LGT_OK;
}

/* What a builder returned, as a value. */
static lgt_value value_of(lgt_body *body, int number) {
  if (number >= 0) return (lgt_value)number + 1;
  if (body->failed) return 0;
  body->failed = lgt_last_status();
  body->why = lgt_mem_strdup(lgt_message());
  return 0;
}

static lgt_status effect_of(lgt_body *body, int number) {
  return value_of(body, number) ? LGT_OK : lgt_last_status();
}

static int operand(lgt_value value) { return value <= INT16_MAX ? (int)value - 1 : INT16_MAX; }

static int unknown(const char *format, const char *name) {
  return lgt_err(LGT_BAD_ARGUMENT, format, name), -1;
}

lgt_value lgt_body_op(lgt_body *body, const char *operation, lgt_dtype dtype, lgt_value a, lgt_value b,
                      lgt_value c) {
  int op = lgt_opcode(operation);
  return value_of(body, op < 0 ? unknown("lgt has no operation called \"%s\"", operation)
                               : lgt_build_op(body, op, (int)dtype, operand(a), operand(b), operand(c)));
}

lgt_value lgt_body_const(lgt_body *body, lgt_dtype dtype, lgt_scalar value) {
  return value_of(body, lgt_build_const(body, (int)dtype, value));
}

lgt_value lgt_body_param(lgt_body *body, lgt_dtype dtype, int index) {
  return value_of(body, lgt_build_param(body, (int)dtype, index));
}

lgt_value lgt_body_load(lgt_body *body, lgt_dtype dtype, int arg) {
  return value_of(body, lgt_build_load(body, (int)dtype, arg));
}

lgt_value lgt_body_index(lgt_body *body, int dim) { return value_of(body, lgt_build_index(body, dim)); }

lgt_status lgt_body_store(lgt_body *body, int arg, lgt_value value) {
  return effect_of(body, lgt_build_store(body, arg, operand(value)));
}

static int find_redop(const char *name) {
  int redop = lgt_redop(name);
  return redop < 0 ? unknown(
                         "lgt has no reduction called \"%s\": expected sum, prod, min, max, and, or, xor, or "
                         "with a "
                         "position argmin, argmax",
                         name)
                   : redop;
}

lgt_status lgt_body_reduce(lgt_body *body, int arg, const char *operation, lgt_value value, int fresh) {
  int redop = find_redop(operation);
  return effect_of(body, redop < 0 ? -1 : lgt_build_reduce(body, arg, redop, operand(value), fresh));
}

lgt_status lgt_body_reduce_arg(lgt_body *body, int arg, const char *operation, lgt_value value,
                               lgt_value index) {
  int redop = find_redop(operation);
  return effect_of(body,
                   redop < 0 ? -1 : lgt_build_reduce_arg(body, arg, redop, operand(value), operand(index)));
}
