/* emit_text.c - the words of which a module is written.
 *
 * Text, types, constants, arithmetic on single integers and addresses, blocks: everything that knows how
 * MLIR is spelled and nothing about loops.  Running out of memory is noted in the text and found at the
 * end, so that nobody who writes has to look.
 */
#include "kernel/emit/emit.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"

enum { MOST_LANES = 128 };

/* ---- text --------------------------------------------------------------------------------------- */

static void add_bytes(text *t, const char *bytes, size_t n) {
  if (t->size + n + 1 > t->room) {
    size_t room = t->room * 2 > t->size + n + 1 ? t->room * 2 : t->size + n + 4096;
    char *data = lgt_mem_realloc(t->data, room);
    if (!data) {
      t->failed = true;
      return;
    }
    t->data = data;
    t->room = room;
  }
  memcpy(t->data + t->size, bytes, n);
  t->size += n;
  t->data[t->size] = 0;
}

static void put_list(text *t, const char *format, va_list list) {
  char number[32];
  while (*format) {
    size_t plain = strcspn(format, "%$#");
    if (plain) add_bytes(t, format, plain);
    format += plain;
    if (!*format) break;
    switch (*format++) {
      case '%':
        add_bytes(t, number, (size_t)snprintf(number, sizeof number, "%%%d", va_arg(list, val)));
        break;
      case '#':
        add_bytes(t, number,
                  (size_t)snprintf(number, sizeof number, "%lld", (long long)va_arg(list, int64_t)));
        break;
      default: {
        const char *string = va_arg(list, const char *);
        add_bytes(t, string, strlen(string));
      }
    }
  }
}

void put(emitter *e, const char *format, ...) {
  va_list list;
  va_start(list, format);
  put_list(e->out, format, list);
  va_end(list);
}

val def(emitter *e, const char *format, ...) {
  va_list list;
  val result = e->next++;
  char head[32];
  add_bytes(e->out, head, (size_t)snprintf(head, sizeof head, "  %%%d = ", result));
  va_start(list, format);
  put_list(e->out, format, list);
  va_end(list);
  add_bytes(e->out, "\n", 1);
  return result;
}

val scratch(emitter *e, int slot) {
  if (e->scratch[slot] >= 0) return e->scratch[slot];
  text *out = e->out;
  e->out = &e->entry;
  val bytes = def(e, "arith.constant 512 : i64");
  e->scratch[slot] = def(e, "llvm.alloca % x i8 {alignment = 64 : i64} : (i64) -> !llvm.ptr", bytes);
  e->out = out;
  return e->scratch[slot];
}

void append(text *to, text *from) {
  if (from->size) add_bytes(to, from->data, from->size);
  to->failed |= from->failed;
  from->size = 0;
}

/* ---- types ------------------------------------------------------------------------------------- */

const char *scalar_type(elem el) {
  static const char *const names[] = {"i1", "i8", "i16", "i32", "i64", "f16", "f32", "f64"};
  return names[el];
}

const char *vector_type(emitter *e, int lanes, elem el) {
  char *type = e->type[__builtin_ctz((unsigned)lanes)][el];
  if (!*type) snprintf(type, sizeof e->type[0][0], "vector<%dx%s>", lanes, scalar_type(el));
  return type;
}

elem reg_elem(int dtype) {
  static const unsigned char elems[] = {
      [LGT_BOOL] = I1,    [LGT_INT8] = I8,     [LGT_INT16] = I16,   [LGT_INT32] = I32,
      [LGT_INT64] = I64,  [LGT_UINT8] = I8,    [LGT_UINT16] = I16,  [LGT_UINT32] = I32,
      [LGT_UINT64] = I64, [LGT_FLOAT16] = F32, [LGT_FLOAT32] = F32, [LGT_FLOAT64] = F64};
  return (elem)elems[dtype];
}

elem mem_elem(int dtype) { return dtype == LGT_BOOL ? I8 : dtype == LGT_FLOAT16 ? I16 : reg_elem(dtype); }

int elem_size(elem el) {
  static const unsigned char sizes[] = {
      [I1] = 1, [I8] = 1, [I16] = 2, [I32] = 4, [I64] = 8, [F16] = 2, [F32] = 4, [F64] = 8};
  return sizes[el];
}

/* ---- constants, lanes -------------------------------------------------------------------------- */

val splat_int(emitter *e, elem el, int64_t value) {
  if (el == I1) return def(e, "arith.constant dense<$> : $", value ? "true" : "false", lanes_type(e, I1));
  return def(e, "arith.constant dense<#> : $", value, lanes_type(e, el));
}

val splat_float(emitter *e, elem el, double value) {
  char bits[24];
  if (el == F64) {
    uint64_t u;
    memcpy(&u, &value, 8);
    snprintf(bits, sizeof bits, "0x%016llX", (unsigned long long)u);
  } else {
    float single = (float)value;
    uint32_t u;
    memcpy(&u, &single, 4);
    snprintf(bits, sizeof bits, "0x%08X", u);
  }
  return def(e, "arith.constant dense<$> : $", bits, lanes_type(e, el));
}

val splat_constant(emitter *e, int dtype, lgt_scalar value) {
  elem el = reg_elem(dtype);
  switch (lgt_dtype_class(dtype)) {
    case 'f':
      return splat_float(e, el,
                         dtype == LGT_FLOAT16 ? lgt_half_to_float(lgt_half_from_double(value.f)) : value.f);
    case 'b':
      return splat_int(e, el, value.i != 0);
    default: {
      int shift = 64 - 8 * elem_size(el); /* MLIR wants the value to fit the type */
      return splat_int(e, el, (int64_t)(value.u << shift) >> shift);
    }
  }
}

/* Lane k of the result is lane `lane[k]` of a and b, one behind the other. */
static val pick_lanes(emitter *e, elem el, int from, int to, val a, val b, const int *lane) {
  char text[8 * MOST_LANES];
  size_t n = 0;
  for (int k = 0; k < to; k++) n += (size_t)snprintf(text + n, sizeof text - n, k ? ", %d" : "%d", lane[k]);
  return def(e, "llvm.shufflevector %, % [$] : $", a, b, text, vector_type(e, from, el));
}

val shuffle(emitter *e, elem el, int from, int to, val a, val b, int first, int period) {
  int lane[MOST_LANES];
  for (int k = 0; k < to; k++) lane[k] = first + k % period;
  return pick_lanes(e, el, from, to, a, b, lane);
}

val shuffle_lanes(emitter *e, elem el, val a, int first, int period) {
  return shuffle(e, el, e->lanes, e->lanes, a, a, first, period);
}

val insert_lanes(emitter *e, elem el, val vector, val part, int n, int at) {
  int lane[MOST_LANES];
  for (int k = 0; k < e->lanes; k++) lane[k] = k >= at && k < at + n ? e->lanes + k : k;
  part = shuffle(e, el, n, e->lanes, part, part, 0, n);
  return pick_lanes(e, el, e->lanes, e->lanes, vector, part, lane);
}

val reverse(emitter *e, elem el, val a) {
  int lane[MOST_LANES];
  for (int k = 0; k < e->lanes; k++) lane[k] = e->lanes - 1 - k;
  return pick_lanes(e, el, e->lanes, e->lanes, a, a, lane);
}

val every_second(emitter *e, elem el, val a, val b) {
  int lane[MOST_LANES];
  for (int k = 0; k < e->lanes; k++) lane[k] = 2 * k < e->lanes ? 2 * k : 2 * k + 1;
  return pick_lanes(e, el, e->lanes, e->lanes, a, b, lane);
}

val each_twice(emitter *e, elem el, val a, int first) {
  int lane[MOST_LANES];
  for (int k = 0; k < e->lanes; k++) lane[k] = first + k / 2;
  return pick_lanes(e, el, e->lanes, e->lanes, a, a, lane);
}

val one_by_one(emitter *e, elem el, val a, val b, int first) {
  int lane[MOST_LANES];
  for (int k = 0; k < e->lanes; k++) lane[k] = first + k / 2 + k % 2 * e->lanes;
  return pick_lanes(e, el, e->lanes, e->lanes, a, b, lane);
}

val even_lanes(emitter *e) {
  char text[8 * MOST_LANES];
  size_t n = 0;
  for (int k = 0; k < e->lanes; k++)
    n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", k ? ", " : "", k % 2 ? "false" : "true");
  return def(e, "arith.constant dense<[$]> : $", text, lanes_type(e, I1));
}

val splat(emitter *e, elem el, val scalar) {
  const char *type = lanes_type(e, el);
  val none = def(e, "llvm.mlir.undef : $", type);
  val zero = def(e, "arith.constant 0 : i32");
  val first = def(e, "llvm.insertelement %, %[% : i32] : $", scalar, none, zero, type);
  return shuffle_lanes(e, el, first, 0, 1);
}

/* ---- integers and addresses --------------------------------------------------------------------- */

val int_constant(emitter *e, int64_t value) { return def(e, "arith.constant # : i64", value); }
val int_op(emitter *e, const char *op, val a, val b) { return def(e, "arith.$ %, % : i64", op, a, b); }
val int_less(emitter *e, val a, val b) { return def(e, "arith.cmpi slt, %, % : i64", a, b); }
val bit_and(emitter *e, val a, val b) { return def(e, "arith.andi %, % : i1", a, b); }

val advance(emitter *e, val address, val bytes) {
  return def(e, "llvm.getelementptr %[%] : (!llvm.ptr, i64) -> !llvm.ptr, i8", address, bytes);
}
val field(emitter *e, val address, int64_t offset, const char *type) {
  val at = def(e, "llvm.getelementptr %[#] : (!llvm.ptr) -> !llvm.ptr, i8", address, offset);
  return def(e, "llvm.load % : !llvm.ptr -> $", at, type);
}
val iota(emitter *e, elem el) {
  char lanes[64 * 4 + 8];
  size_t n = 0;
  for (int k = 0; k < e->lanes; k++) n += (size_t)snprintf(lanes + n, sizeof lanes - n, k ? ", %d" : "%d", k);
  return def(e, "arith.constant dense<[$]> : $", lanes, lanes_type(e, el));
}

/* ---- blocks ------------------------------------------------------------------------------------- */

static const char *carried_type(emitter *e, int k) {
  return lanes_type(e, reg_elem(e->loop->access[e->carry[k].access].dtype));
}

void put_arguments(emitter *e, const val *own, int nown, int ncarry) {
  if (nown + ncarry == 0) return;
  put(e, "(");
  for (int k = 0; k < nown; k++) put(e, k ? ", %" : "%", own[k]);
  for (int k = 0; k < ncarry; k++) put(e, nown + k ? ", %" : "%", e->carry[k].value);
  put(e, " : ");
  for (int k = 0; k < nown; k++) put(e, k ? ", i64" : "i64");
  for (int k = 0; k < ncarry; k++) put(e, nown + k ? ", $" : "$", carried_type(e, k));
  put(e, ")");
}

void branch(emitter *e, int block, const val *own, int nown, int ncarry) {
  put(e, "cf.br ^#", (int64_t)block);
  put_arguments(e, own, nown, ncarry);
  put(e, "\n");
}

/* To `yes` with arguments of its own, or to `no` with the carried values alone. */
void branch_if(emitter *e, val condition, int yes, const val *own, int nown, int no, int ncarry) {
  put(e, "cf.cond_br %, ^#", condition, (int64_t)yes);
  put_arguments(e, own, nown, ncarry);
  put(e, ", ^#", (int64_t)no);
  put_arguments(e, NULL, 0, ncarry);
  put(e, "\n");
}

void begin_block(emitter *e, int block, val *own, int nown, int ncarry) {
  put(e, "^#", (int64_t)block);
  if (nown + ncarry) put(e, "(");
  for (int k = 0; k < nown; k++) {
    own[k] = e->next++;
    put(e, k ? ", %: i64" : "%: i64", own[k]);
  }
  for (int k = 0; k < ncarry; k++) {
    e->carry[k].value = e->next++;
    put(e, nown + k ? ", %: $" : "%: $", e->carry[k].value, carried_type(e, k));
  }
  put(e, nown + ncarry ? "):\n" : ":\n");
}
