/* engine.h - for C tests that drive a whole runtime: generators from text, launches in one line.
 *
 * A generator is written as a list of words, each of which pushes or pops values:
 *
 *   a1  a1:bool     the element of argument 1, of the kind's dtype or the one named
 *   p0              by-value parameter 0
 *   c2.5            a constant
 *   i0  i-1         the coordinate along dimension 0, the position in C order (int64)
 *   add exp ...     an operation of the kind's dtype; lt:bool, cast:int64 of another one
 *   =0              store the last value into argument 0
 *   sum>0           reduce it into argument 0, whose former contents are dropped; sum+>0 keeps them
 *   argmax>0        the last value is the position, the one before it the value; into arguments 0 and 1
 */
#ifndef LGT_TEST_ENGINE_H
#define LGT_TEST_ENGINE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/body.h"
#include "core.h"
#include "made.h"

__attribute__((unused)) static int dtype_named(const char *name) {
  for (int d = 0; d < LGT_NDTYPE; d++)
    if (!strcmp(lgt_dtype_name(d), name)) return d;
  return -1;
}

/* One word of a generator; values on the stack.  -1 with a message. */
__attribute__((unused)) static int body_word(lgt_body *body, int dtype, const char *word, int *stack, int depth) {
  char name[32];
  const char *colon = strchr(word, ':'), *arrow = strchr(word, '>');
  int type = colon ? dtype_named(colon + 1) : dtype, value, n = atoi(word + 1);
  snprintf(name, sizeof name, "%.*s", (int)(colon ? colon - word : (long)strlen(word)), word);
  if (arrow) {
    bool keep = arrow[-1] == '+';
    int target = atoi(arrow + 1);
    snprintf(name, sizeof name, "%.*s", (int)(arrow - word - keep), word);
    if (!strncmp(name, "arg", 3))
      return lgt_build_reduce_arg(body, target, lgt_redop(name), stack[depth - 2], stack[depth - 1]) < 0 ? -1 : depth - 2;
    return lgt_build_reduce(body, target, lgt_redop(name), stack[depth - 1], !keep) < 0 ? -1 : depth - 1;
  }
  if (*word == '=') return lgt_build_store(body, n, stack[depth - 1]) < 0 ? -1 : depth - 1;
  if (*word == 'c' && strchr("0123456789.-", word[1])) {
    double number = atof(word + 1);
    lgt_scalar constant = {.range = {0, 0}};
    if (lgt_dtype_is_float(type) || lgt_dtype_is_complex(type)) constant.f = number;
    else constant.i = (int64_t)number;
    value = lgt_build_const(body, type, constant);
  } else if (*word == 'a' && strchr("0123456789", word[1])) {
    value = lgt_build_load(body, type, n);
  } else if (*word == 'p' && strchr("0123456789", word[1])) {
    value = lgt_build_param(body, type, n);
  } else if (*word == 'i' && strchr("-0123456789", word[1])) {
    value = lgt_build_index(body, n);
  } else {
    int op = lgt_opcode(name);
    if (op < 0) return lgt_err(LGT_BAD_ARGUMENT, "no opcode %s", name), -1;
    int arity = lgt_op_arity(op), operand[3] = {-1, -1, -1};
    depth -= arity;
    for (int i = 0; i < arity; i++) operand[i] = stack[depth + i];
    value = lgt_build_op(body, op, type, operand[0], operand[1], operand[2]);
  }
  if (value < 0) return -1;
  stack[depth] = value;
  return depth + 1;
}

__attribute__((unused)) static lgt_body *body_of(int dtype, const char *text) {
  char copy[400], *rest = copy;
  int stack[64], depth = 0;
  lgt_body *body = lgt_build_new();
  snprintf(copy, sizeof copy, "%s", text);
  for (char *word; body && (word = strtok_r(rest, " ", &rest));)
    if ((depth = body_word(body, dtype, word, stack, depth)) < 0) {
      lgt_body_free(body);
      return NULL;
    }
  return body;
}

/* 0 with a message. */
__attribute__((unused)) static int kind_of(lgt_runtime *rt, int dtype, const char *text) {
  lgt_body *body = body_of(dtype, text);
  return body ? lgt_kind_generator(rt, text, body) : 0;
}

/* A runtime of pairs name, value that ends with NULL; interpreted unless told otherwise. */
__attribute__((unused)) static lgt_status open_with(lgt_runtime **rt, ...) {
  lgt_config *config = config_new();
  lgt_status status = config ? lgt_config_set(config, "compile", "0") : LGT_NO_MEMORY;
  va_list args;
  va_start(args, rt);
  for (const char *name; !status && (name = va_arg(args, const char *));)
    status = lgt_config_set(config, name, va_arg(args, const char *));
  va_end(args);
  if (!status) status = lgt_open(config, rt);
  lgt_config_free(config);
  return status;
}

__attribute__((unused)) static lgt_id array_of(lgt_runtime *rt, int dtype, int ndim, const int64_t *shape) {
  uint32_t layout = lgt_layout_dense(rt, dtype, ndim, shape);
  return layout ? lgt_layout_array(rt, layout) : 0;
}

/* Handles on `array` through a further slice of its layout. */
__attribute__((unused)) static lgt_id slice_of(lgt_runtime *rt, lgt_id array, int dim, int64_t first, int64_t count,
                                               int64_t step) {
  uint32_t layout = array ? lgt_layout_slice(rt, lgt_front_of(rt)->handles[array].layout, dim, first, count, step) : 0;
  return layout ? lgt_layout_view(rt, array, layout) : 0;
}

#define LAYOUT(rt, array) (lgt_front_of(rt)->handles[array].layout)

/* launch(rt, kind, nargs, a, b, ...): without parameters. */
__attribute__((unused)) static lgt_status launch(lgt_runtime *rt, int kind, int nargs, ...) {
  lgt_launch l = {.kind = (uint16_t)kind, .nargs = (uint8_t)nargs};
  va_list args;
  va_start(args, nargs);
  for (int a = 0; a < nargs; a++) l.arg[a] = va_arg(args, lgt_id);
  va_end(args);
  return lgt_submit(rt, &l);
}

/* ... with one parameter. */
__attribute__((unused)) static lgt_status launch_with(lgt_runtime *rt, int kind, double param, int nargs, ...) {
  lgt_launch l = {.kind = (uint16_t)kind, .nargs = (uint8_t)nargs, .nparams = 1, .param = {{.f = param}}};
  va_list args;
  va_start(args, nargs);
  for (int a = 0; a < nargs; a++) l.arg[a] = va_arg(args, lgt_id);
  va_end(args);
  return lgt_submit(rt, &l);
}

/* A counter by name; -1: there is none. */
__attribute__((unused)) static int64_t stat_of(lgt_runtime *rt, const char *wanted) {
  const char *name;
  for (int n = 0;; n++) {
    int64_t value = lgt_stat(rt, n, &name);
    if (!name) return -1;
    if (!strcmp(name, wanted)) return value;
  }
}

#endif
