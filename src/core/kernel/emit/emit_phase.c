/* emit_phase.c - bodies that call functions on arrays: elementary functions, division and remainders.
 *
 * These functions are long, and compiled ahead of time (elementary_lanes.c, helper.c).  To inline them would take the
 * compiler longer than all else, so a body that has some falls into *phases*, and columns are taken in blocks that stay in
 * the L1 cache.  For each block a phase computes what the next functions need, one vector after another as in any body;
 * then these functions are called, once for the block.  y = exp(2 x) + z has two phases:
 *
 *   0   a = 2 x            then  b = exp(a)
 *   1   y = b + z
 *
 * What passes from a phase to a later one lies in *rooms*, buffers on the stack of a block's elements.  Elements that are
 * read are read again in each phase that needs them, and functions are given their address if they take them as they lie in
 * memory.  (One that is all there is to a body may also write there.)  All writes belong to the last phase, so that a loop may work in place.
 *
 * A body without such functions is one phase.
 */
#include "kernel/emit/emit.h"

#include "base/mem.h"

enum { ROOM_BYTES = 8, MOST_BYTES = 40 << 10, BLOCK_MAX = 256, BLOCK_MIN = 64 };

static int from_of(const emitter *e, int i) { return e->loop->inst[e->loop->inst[i].a].dtype; }

static bool is_body(const emitter *e, int i) { return e->level[i] == LEVEL_BODY; }

static bool function_of(const emitter *e, int i, called_function *out) {
  return find_function(e->loop->inst[i].op, from_of(e, i), out);
}

static bool is_called(const emitter *e, int i) {
  uint16_t operand[3];
  called_function function;
  const lgt_inst *in = &e->loop->inst[i];
  return is_body(e, i) && !lgt_op_effect(in->op) && lgt_inst_operands(in, operand) > 0 &&
         function_of(e, i, &function);
}

/* Is it read from memory again, rather than kept? */
static bool is_reread(const emitter *e, int i) {
  const lgt_inst *in = &e->loop->inst[i];
  return in->op == LGT_OP_INDEX || (in->op == LGT_OP_LOAD && e->loop->access[in->a].inner == LGT_STRIDE_UNIT);
}

/* Does the function take this value of dtype `from` in the form that registers have it in? */
static bool takes(const called_function *function, int from) {
  return lgt_dtype_is_float(from) || from == function->dtype;
}

/* ... or in the form that it has in memory, where it is read from? */
static bool takes_memory(const emitter *e, const called_function *function, int i) {
  const lgt_inst *in = &e->loop->inst[i];
  return in->op == LGT_OP_LOAD && e->loop->access[in->a].inner == LGT_STRIDE_UNIT &&
         in->dtype == function->dtype && in->dtype != LGT_FLOAT16;
}

/* Is the value of a called instruction what its function gives? */
static bool is_plain(const emitter *e, int i) {
  called_function function;
  return function_of(e, i, &function) && from_of(e, i) == function.dtype && function.dtype != LGT_FLOAT16;
}

/* ---- analysis --------------------------------------------------------------------------------------- */

static void find_order(emitter *e) {
  uint16_t operand[3];
  e->nphase = 1;
  for (int i = 0; i < e->loop->ninst; i++) {
    staged *s = &e->stage[i];
    *s = (staged){.called = is_called(e, i), .result = -1, .value = -1, .operand = {-1, -1}};
    if (!is_body(e, i)) continue;
    for (int n = lgt_inst_operands(&e->loop->inst[i], operand), k = 0; k < n; k++) {
      const staged *from = &e->stage[operand[k]];
      int phase = is_body(e, operand[k]) ? from->phase + from->called : 0;
      if (phase > s->phase) s->phase = phase;
    }
    if (s->phase >= e->nphase) e->nphase = s->phase + 1;
  }
  for (int i = 0; i < e->loop->ninst; i++)
    if (lgt_op_effect(e->loop->inst[i].op)) e->stage[i].phase = e->nphase - 1;
}

static void keep_until(int *room, int phase, staged *s) {
  *room = 0; /* numbered later */
  if (phase > s->last) s->last = phase;
}

/* What instruction i asks of its operands. */
static void find_uses(emitter *e, int i) {
  uint16_t operand[3];
  called_function function;
  staged *s = &e->stage[i];
  if (s->called) function_of(e, i, &function);
  for (int n = lgt_inst_operands(&e->loop->inst[i], operand), k = 0; k < n; k++) {
    int o = operand[k];
    staged *from = &e->stage[o];
    bool as_it_is = s->called && takes(&function, e->loop->inst[o].dtype);
    if (!is_body(e, o)) {
      if (s->called) s->operand[k] = 0;
    } else if (s->called && takes_memory(e, &function, o)) {
      continue;
    } else if (from->called) {
      keep_until(&from->result, s->phase, from);
      if (s->called && !(as_it_is && is_plain(e, o))) s->operand[k] = 0;
    } else if (as_it_is) {
      keep_until(&from->value, s->phase, from);
    } else {
      if (s->called) s->operand[k] = 0;
      if (from->phase < s->phase && !is_reread(e, o)) keep_until(&from->value, s->phase, from);
    }
  }
}

static int take_room(emitter *e, int *until, int from, int last) {
  int room = 0;
  while (room < e->nroom && until[room] >= from) room++;
  if (room == e->nroom) e->nroom++;
  until[room] = last;
  return room;
}

/* A room is free again after the last phase that looks into it. */
static void number_rooms(emitter *e, int *until) {
  uint16_t operand[3];
  for (int i = 0; i < e->loop->ninst; i++) /* filled before all blocks */
    for (int n = lgt_inst_operands(&e->loop->inst[i], operand), k = 0; k < n && k < 2; k++)
      if (e->stage[i].operand[k] >= 0 && !is_body(e, operand[k]))
        e->stage[i].operand[k] = take_room(e, until, 0, INT32_MAX);
  for (int phase = 0; phase < e->nphase; phase++)
    for (int i = 0; i < e->loop->ninst; i++) {
      staged *s = &e->stage[i];
      if (s->phase != phase || !is_body(e, i)) continue;
      for (int n = lgt_inst_operands(&e->loop->inst[i], operand), k = 0; k < n && k < 2; k++)
        if (s->operand[k] >= 0 && is_body(e, operand[k])) s->operand[k] = take_room(e, until, phase, phase);
      if (s->value >= 0) s->value = take_room(e, until, phase, s->last);
      if (s->result >= 0) s->result = take_room(e, until, phase, s->last);
    }
}

/* y = f(x), and nothing else: the instruction of the function. */
static int find_direct(const emitter *e) {
  int found = -1, target = -1;
  for (int i = 0; i < e->loop->ninst; i++) {
    if (e->stage[i].called && found >= 0) return -1;
    if (e->stage[i].called) found = i;
    if (!lgt_op_effect(e->loop->inst[i].op)) continue;
    if (target >= 0 || e->loop->inst[i].op != LGT_OP_STORE) return -1;
    target = i;
  }
  if (found < 0 || target < 0 || e->loop->inst[target].a != found || !is_plain(e, found)) return -1;
  return e->loop->access[e->loop->inst[target].b].inner == LGT_STRIDE_UNIT ? found : -1;
}

void find_phases(emitter *e) {
  int *until = lgt_mem_alloc((size_t)(4 * e->loop->ninst + 1) * sizeof *until);
  e->nroom = 0;
  find_order(e);
  e->body.failed |= !until;
  if (until && e->nphase > 1) {
    for (int i = 0; i < e->loop->ninst; i++)
      if (is_body(e, i)) find_uses(e, i);
    number_rooms(e, until);
  }
  lgt_mem_free(until);
  e->direct = find_direct(e);
  for (e->block = BLOCK_MAX; e->block > BLOCK_MIN && e->nroom * e->block * ROOM_BYTES > MOST_BYTES;)
    e->block /= 2;
}

/* ---- what a phase needs ------------------------------------------------------------------------------ */

/* In this phase, does the instruction's value come from a room? */
static bool is_kept(const emitter *e, int i) {
  const staged *s = &e->stage[i];
  return s->called || (s->value >= 0 && s->phase < e->now && !is_reread(e, i));
}

/* What a position is made of, which is computed where it is found, is needed as it would be itself. */
static void need(emitter *e, int i) {
  uint16_t operand[3];
  if (is_body(e, i)) e->stage[i].needed = true;
  if (e->level[i] != LEVEL_FOUND) return;
  for (int n = lgt_inst_operands(&e->loop->inst[i], operand), k = 0; k < n; k++) need(e, operand[k]);
}

static void find_needed(emitter *e) {
  uint16_t operand[3];
  for (int i = e->loop->ninst - 1; i >= 0; i--) {
    const lgt_inst *in = &e->loop->inst[i];
    staged *s = &e->stage[i];
    int n = lgt_inst_operands(in, operand);
    bool begins = lgt_op_effect(in->op) && e->now == e->nphase - 1;
    if (!is_body(e, i) || lgt_op_effect(in->op) != begins) continue;
    if (!s->called && s->value >= 0 && s->phase == e->now) s->needed = true;
    if (s->called && s->phase == e->now)
      for (int k = 0; k < n; k++)
        if (s->operand[k] >= 0) need(e, operand[k]);
    if (!begins && (!s->needed || is_kept(e, i))) continue;
    for (int k = 0; k < n; k++) need(e, operand[k]);
  }
}

bool begin_phase(emitter *e, int phase) {
  bool any = false;
  e->now = phase;
  for (int i = 0; i < e->loop->ninst; i++) e->stage[i].needed = false;
  for (int k = 0; k < e->loop->naccess; k++)
    e->access[k].here = phase == e->nphase - 1 && e->loop->access[k].mode == LGT_ACCESS_REDUCE;
  find_needed(e);
  for (int i = 0; i < e->loop->ninst; i++) {
    if (!e->stage[i].needed) continue;
    if (e->loop->inst[i].op == LGT_OP_LOAD && !is_kept(e, i)) e->access[e->loop->inst[i].a].here = true;
    any = true;
  }
  return any || phase == e->nphase - 1;
}

/* ---- rooms ------------------------------------------------------------------------------------------ */

static elem value_elem(const emitter *e, int i) {
  elem el = reg_elem(e->loop->inst[i].dtype);
  return el == I1 ? I8 : el;
}

/* Address of the room's first element. */
static val room_begin(emitter *e, int room) {
  if (e->room < 0) {
    text *out = e->out;
    e->out = &e->entry;
    val bytes = int_constant(e, (int64_t)e->nroom * e->block * ROOM_BYTES);
    e->room = def(e, "llvm.alloca % x i8 {alignment = 64 : i64} : (i64) -> !llvm.ptr", bytes);
    e->out = out;
  }
  return advance(e, e->room, int_constant(e, (int64_t)room * e->block * ROOM_BYTES));
}

/* Address of its element `at`. */
static val room_at(emitter *e, int room, elem el, val at) {
  return def(e, "llvm.getelementptr %[%] : (!llvm.ptr, i64) -> !llvm.ptr, $", room_begin(e, room), at,
             scalar_type(el));
}

static val get(emitter *e, int room, elem el) {
  val at = room_at(e, room, el, int_op(e, "subi", e->column, e->first));
  return def(e, "llvm.load % {alignment = # : i64} : !llvm.ptr -> $", at, (int64_t)elem_size(el),
             lanes_type(e, el));
}

static void keep(emitter *e, int room, elem el, val vector) {
  val at = room_at(e, room, el, int_op(e, "subi", e->column, e->first));
  write_vector(e, at, vector, el, elem_size(el), "");
}

static val get_value(emitter *e, int i) {
  called_function function;
  const staged *s = &e->stage[i];
  if (s->called) {
    function_of(e, i, &function);
    return from_function(e, &function, from_of(e, i), get(e, s->result, reg_elem(function.dtype)));
  }
  val vector = get(e, s->value, value_elem(e, i));
  return e->loop->inst[i].dtype == LGT_BOOL ? from_memory(e, LGT_BOOL, vector) : vector;
}

static val operand_value(emitter *e, const called_function *function, int o) {
  return to_function(e, function, e->loop->inst[o].dtype, e->value[o]);
}

void emit_phase(emitter *e) {
  uint16_t operand[3];
  called_function function;
  for (int i = 0; i < e->loop->ninst; i++) {
    if (!e->stage[i].needed) continue;
    if (is_kept(e, i)) e->value[i] = get_value(e, i);
    else emit_inst(e, i);
  }
  for (int i = 0; i < e->loop->ninst; i++) {
    const staged *s = &e->stage[i];
    if (s->phase != e->now || !is_body(e, i)) continue;
    if (s->value >= 0) {
      bool truth = e->loop->inst[i].dtype == LGT_BOOL;
      keep(e, s->value, value_elem(e, i), truth ? to_memory(e, LGT_BOOL, e->value[i]) : e->value[i]);
    }
    if (!s->called) continue;
    function_of(e, i, &function);
    for (int n = lgt_inst_operands(&e->loop->inst[i], operand), k = 0; k < n; k++)
      if (s->operand[k] >= 0 && is_body(e, operand[k]))
        keep(e, s->operand[k], reg_elem(function.dtype), operand_value(e, &function, operand[k]));
  }
}

/* ---- functions --------------------------------------------------------------------------------------- */

/* Where the function finds the operand's elements of this block. */
static val operand_address(emitter *e, int i, int k, int o) {
  const staged *s = &e->stage[i], *from = &e->stage[o];
  if (s->operand[k] >= 0) return room_begin(e, s->operand[k]);
  if (from->called) return room_begin(e, from->result);
  called_function function;
  function_of(e, i, &function);
  if (!takes_memory(e, &function, o)) return room_begin(e, from->value);
  int access = e->loop->inst[o].a;
  return def(e, "llvm.getelementptr %[%] : (!llvm.ptr, i64) -> !llvm.ptr, $", e->access[access].base,
             e->first, scalar_type(access_elem(e, access)));
}

static int direct_target(const emitter *e) {
  int i = 0;
  while (e->loop->inst[i].op != LGT_OP_STORE) i++;
  return e->loop->inst[i].b;
}

val direct_stream(emitter *e) { return e->access[direct_target(e)].nt; }

static val result_address(emitter *e, int i) {
  val room = -1, stream = e->direct == i ? direct_stream(e) : -1;
  if (e->direct != i || stream >= 0) room = room_begin(e, e->stage[i].result);
  if (e->direct != i) return room;
  int access = direct_target(e);
  val target = def(e, "llvm.getelementptr %[%] : (!llvm.ptr, i64) -> !llvm.ptr, $", e->access[access].base,
                   e->first, scalar_type(access_elem(e, access)));
  return stream < 0 ? target : def(e, "arith.select %, %, % : !llvm.ptr", stream, room, target);
}

/* Of a sine the cosine of the same operand, and the other way round; -1: nobody wants it. */
static int other_of(const emitter *e, int i) {
  const lgt_inst *in = &e->loop->inst[i];
  int op = in->op == LGT_OP_SIN ? LGT_OP_COS : in->op == LGT_OP_COS ? LGT_OP_SIN : -1;
  for (int k = 0; op >= 0 && k < e->loop->ninst; k++)
    if (e->stage[k].called && e->loop->inst[k].op == op && e->loop->inst[k].a == in->a) return k;
  return -1;
}

/* Both by one function, when the turn of the later one comes; true where that is so. */
static bool call_pair(emitter *e, int i, called_function *function) {
  static const char *const form[LGT_NFORM] = {"f64", "f32", "f16"};
  int other = other_of(e, i);
  if (other < 0 || other_of(e, other) != i) return false;
  if (other > i) return true;
  int sine = e->loop->inst[i].op == LGT_OP_SIN ? i : other, cosine = sine == i ? other : i;
  snprintf(function->name, sizeof function->name, "lgt_math_sincos_%s", form[lgt_form_of(function->dtype)]);
  declare_function(e, KEY_SINCOS, function);
  put(e, "func.call @$(%, %, %, %) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()\n", function->name,
      room_begin(e, e->stage[sine].result), operand_address(e, i, 0, e->loop->inst[i].a),
      room_begin(e, e->stage[cosine].result), e->extent);
  return true;
}

void call_functions(emitter *e) {
  uint16_t operand[3];
  called_function function;
  for (int i = 0; i < e->loop->ninst; i++) {
    const staged *s = &e->stage[i];
    if (!s->called || s->phase != e->now || s->result < 0) continue;
    const lgt_inst *in = &e->loop->inst[i];
    function_of(e, i, &function);
    if (call_pair(e, i, &function)) continue;
    declare_function(e, in->op, &function);
    int n = lgt_inst_operands(in, operand);
    val a = operand_address(e, i, 0, operand[0]), b = n > 1 ? operand_address(e, i, 1, operand[1]) : a;
    put(e, "func.call @$(%, %, %, %) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()\n", function.name,
        result_address(e, i), a, b, e->extent);
  }
}

static void fill(emitter *e, int room, elem el, val vector) {
  int loop = e->next_block++, done = e->next_block++;
  val zero = int_constant(e, 0), at;
  val count = int_op(e, "minsi", e->cols, int_constant(e, e->block));
  branch(e, loop, &zero, 1, 0);
  begin_block(e, loop, &at, 1, 0);
  write_vector(e, room_at(e, room, el, at), vector, el, elem_size(el), "");
  val next = int_op(e, "addi", at, int_constant(e, e->lanes));
  branch_if(e, int_less(e, next, count), loop, &next, 1, done, 0);
  begin_block(e, done, NULL, 0, 0);
}

void fill_rooms(emitter *e, int level) {
  uint16_t operand[3];
  called_function function;
  for (int i = 0; i < e->loop->ninst; i++) {
    const staged *s = &e->stage[i];
    if (!s->called) continue;
    function_of(e, i, &function);
    for (int n = lgt_inst_operands(&e->loop->inst[i], operand), k = 0; k < n; k++)
      if (s->operand[k] >= 0 && e->level[operand[k]] == level)
        fill(e, s->operand[k], reg_elem(function.dtype), operand_value(e, &function, operand[k]));
  }
}
