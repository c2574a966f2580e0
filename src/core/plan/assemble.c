/* assemble.c - the code of a group's loops: bodies concatenated, values in registers.  See weave.h.
 *
 * Within a loop each (buffer, signature, part) has at most one current value.  Loading it again
 * gives that value; storing it replaces the value; what is still current at the end is stored, if
 * the buffer has memory at all.  All loads therefore come before all stores, which is right because
 * weaving lets only agreeing accesses of a written buffer into one loop.
 *
 * The same walk serves twice: a scan that finds out which buffers are loaded from memory (they need
 * slots), and, when memory is chosen, the real thing.
 */
#include <string.h>

#include "plan/assemble.h"

void lgt_assembler_fini(lgt_assembler *as) {
  for (int i = 0; i < as->nnative; i++) lgt_mem_free(as->native[i].access);
  lgt_mem_free(as->native);
  lgt_mem_free(as->inst);
  lgt_mem_free(as->constant);
  lgt_mem_free(as->access);
  lgt_mem_free(as->place);
  lgt_mem_free(as->param_call);
  lgt_mem_free(as->param_index);
  lgt_mem_free(as->cell);
  lgt_mem_free(as->effect);
}

/* ---- pieces --------------------------------------------------------------------------------------- */

/* Append an instruction, or find the same one; -1 when out of memory. */
int lgt_assembler_emit(lgt_assembler *as, lgt_inst in) {
  for (int i = 0; i < as->ninst; i++)
    if (!memcmp(&as->inst[i], &in, sizeof in)) return i;
  if (as->ninst >= LGT_NO_VALUE - 1) return -1;
  if (!lgt_mem_grow((void **)&as->inst, &as->inst_room, as->ninst + 1, sizeof in)) return -1;
  as->inst[as->ninst] = in;
  return as->ninst++;
}

int lgt_assembler_constant(lgt_assembler *as, lgt_scalar value) {
  for (int i = 0; i < as->nconst; i++)
    if (!memcmp(&as->constant[i], &value, sizeof value)) return i; /* NOLINT: as bits */
  if (!lgt_mem_grow((void **)&as->constant, &as->const_room, as->nconst + 1, sizeof value)) return -1;
  as->constant[as->nconst] = value;
  return as->nconst++;
}

int lgt_assembler_param(lgt_assembler *as, uint16_t call, int index) {
  for (int i = 0; i < as->nparam; i++)
    if (as->param_call[i] == call && as->param_index[i] == index) return i;
  if (!lgt_mem_grow((void **)&as->param_call, &as->param_call_room, as->nparam + 1, sizeof *as->param_call) ||
      !lgt_mem_grow((void **)&as->param_index, &as->param_index_room, as->nparam + 1,
                    sizeof *as->param_index))
    return -1;
  as->param_call[as->nparam] = call;
  as->param_index[as->nparam] = (uint8_t)index;
  return as->nparam++;
}

int lgt_assembler_access(lgt_assembler *as, int mode, int dtype, lgt_plan_access place) {
  if (!lgt_mem_grow((void **)&as->access, &as->access_room, as->naccess + 1, sizeof *as->access) ||
      !lgt_mem_grow((void **)&as->place, &as->place_room, as->naccess + 1, sizeof *as->place))
    return -1;
  as->access[as->naccess] = (lgt_access){(uint8_t)mode, (uint8_t)dtype, 0, 0};
  as->place[as->naccess] = place;
  return as->naccess++;
}

static bool same_place(const lgt_plan_access *a, const lgt_plan_access *b) {
  return a->slot == b->slot && a->byte == b->byte && a->offset == b->offset && a->index_dim == b->index_dim &&
         memcmp(a->stride, b->stride, sizeof a->stride) == 0;
}

/* The same access, or a new one. */
static int find_access(lgt_assembler *as, int mode, int dtype, const lgt_plan_access *place) {
  for (int a = 0; a < as->naccess && mode != LGT_ACCESS_REDUCE; a++)
    if (as->access[a].mode == mode && as->access[a].dtype == dtype && same_place(&as->place[a], place))
      return a;
  return lgt_assembler_access(as, mode, dtype, *place);
}

int lgt_assembler_copy(lgt_assembler *as, const lgt_plan_loop *loop, int i, const lgt_plan_access *place,
                       const uint16_t *value) {
  const lgt_loop *code = loop->kernel->loop;
  lgt_inst in = code->inst[i];
  uint16_t operand[3];
  int n = lgt_inst_operands(&in, operand), k = 0;
  for (int j = 0; j < n; j++) operand[j] = value[operand[j]];
  lgt_inst_set_operands(&in, operand);
  if (in.op == LGT_OP_CONST) k = in.a = (uint16_t)lgt_assembler_constant(as, code->constant[in.a]);
  if (in.op == LGT_OP_PARAM) k = lgt_assembler_param(as, loop->param_call[in.a], loop->param_index[in.a]);
  if (in.op == LGT_OP_PARAM) in.a = (uint16_t)k;
  uint16_t *slot = in.op == LGT_OP_LOAD || in.op == LGT_OP_INDEX ? &in.a
                   : lgt_op_effect(in.op)                        ? &in.b
                                                                 : NULL;
  if (slot) {
    int a = *slot;
    k = find_access(as, code->access[a].mode, code->access[a].dtype, place);
    *slot = (uint16_t)k;
    if (in.op == LGT_OP_REDUCE_ARG &&
        lgt_assembler_access(as, LGT_ACCESS_REDUCE, code->access[a + 1].dtype, loop->access[a + 1]) < 0)
      return -1;
  }
  return k < 0 || k == LGT_NO_VALUE ? -1 : lgt_assembler_emit(as, in);
}

static lgt_plan_access place_of(const lgt_assembler *as, const lgt_assembler_cell *c) {
  lgt_plan_access p = {.slot = as->w->items->buffer[c->buffer].slot,
                       .byte = c->byte,
                       .layout = c->layout,
                       .offset = c->sig.offset,
                       .item = c->item,
                       .arg = c->arg};
  memcpy(p.stride, c->sig.stride, sizeof p.stride);
  return p;
}

static lgt_assembler_cell *find_cell(lgt_assembler *as, uint16_t buffer, int byte, const lgt_signature *sig) {
  for (int i = 0; i < as->ncell; i++) {
    lgt_assembler_cell *c = &as->cell[i];
    if (c->buffer == buffer && c->byte == byte && lgt_signature_equal(&c->sig, sig)) return c;
  }
  return NULL;
}

static lgt_assembler_cell *add_cell(lgt_assembler *as, uint16_t buffer, int item, int arg, int byte,
                                    int dtype, const lgt_signature *sig) {
  if (!lgt_mem_grow((void **)&as->cell, &as->cell_room, as->ncell + 1, sizeof *as->cell)) return NULL;
  lgt_assembler_cell *c = &as->cell[as->ncell++];
  *c = (lgt_assembler_cell){.buffer = buffer,
                            .byte = (int16_t)byte,
                            .dtype = (uint8_t)dtype,
                            .item = (uint16_t)item,
                            .arg = (uint8_t)arg,
                            .sig = *sig};
  c->layout = as->w->items->item[item].layout[arg];
  return c;
}

/* ---- one item --------------------------------------------------------------------------------------- */

/* A body slot is an argument, or one part of a complex one. */
static void slot_argument(const lgt_kind *kind, int slot, int dtype, int *arg, int *byte) {
  int a = kind->nargs - 1;
  while (a > 0 && kind->part[a] > slot) a--;
  *arg = a;
  *byte = (slot - kind->part[a]) * lgt_dtype_size(dtype);
}

static int load(lgt_assembler *as, int number, const lgt_inst *in) {
  const lgt_weave_item *item = &as->w->items->item[number];
  int arg, byte;
  slot_argument(item->kind, in->a, in->dtype, &arg, &byte);
  lgt_alignment align = lgt_item_align(as->w, item, arg);
  lgt_signature sig = lgt_signature_of(lgt_layout_at(as->w->fuser->stores, item->layout[arg]), &align);
  uint16_t buffer = item->in[arg];
  lgt_assembler_cell *c = find_cell(as, buffer, byte, &sig);
  if (c) return c->value;
  c = add_cell(as, buffer, number, arg, byte, in->dtype, &sig);
  if (!c) return -1;
  int access = lgt_assembler_access(as, LGT_ACCESS_LOAD, in->dtype, place_of(as, c));
  if (access < 0) return -1;
  as->w->items->buffer[buffer].loaded = true;
  int value = lgt_assembler_emit(
      as, (lgt_inst){LGT_OP_LOAD, in->dtype, 0, 0, (uint16_t)access, LGT_NO_VALUE, LGT_NO_VALUE});
  c->value = (uint16_t)value;
  return value;
}

static bool store(lgt_assembler *as, int number, const lgt_inst *in, uint16_t value) {
  const lgt_weave_item *item = &as->w->items->item[number];
  int arg, byte;
  slot_argument(item->kind, in->b, in->dtype, &arg, &byte);
  if (item->out[arg] == LGT_NONE) return true;
  lgt_alignment align = lgt_item_align(as->w, item, arg);
  lgt_signature sig = lgt_signature_of(lgt_layout_at(as->w->fuser->stores, item->layout[arg]), &align);
  lgt_assembler_cell *c = find_cell(as, item->out[arg], byte, &sig);
  if (!c) c = add_cell(as, item->out[arg], number, arg, byte, in->dtype, &sig);
  if (!c) return false;
  c->value = value;
  c->dirty = true;
  return true;
}

static int reduce_access(lgt_assembler *as, int number, int arg, int byte, int dtype) {
  const lgt_weave_item *item = &as->w->items->item[number];
  lgt_alignment align = lgt_item_align(as->w, item, arg);
  lgt_signature sig = lgt_signature_of(lgt_layout_at(as->w->fuser->stores, item->layout[arg]), &align);
  lgt_assembler_cell c = {.buffer = item->out[arg],
                          .byte = (int16_t)byte,
                          .layout = item->layout[arg],
                          .item = (uint16_t)number,
                          .arg = (uint8_t)arg,
                          .sig = sig};
  return lgt_assembler_access(as, LGT_ACCESS_REDUCE, dtype, place_of(as, &c));
}

static bool reduce(lgt_assembler *as, int number, const lgt_inst *in, uint16_t value, uint16_t position) {
  const lgt_weave_item *item = &as->w->items->item[number];
  int arg, byte;
  slot_argument(item->kind, in->b, in->dtype, &arg, &byte);
  int access = reduce_access(as, number, arg, byte, in->dtype);
  if (in->op == LGT_OP_REDUCE_ARG && reduce_access(as, number, arg + 1, 0, LGT_INT64) < 0) return false;
  if (access < 0 ||
      !lgt_mem_grow((void **)&as->effect, &as->effect_room, as->neffect + 1, sizeof *as->effect))
    return false;
  as->effect[as->neffect++] = (lgt_inst){in->op, in->dtype, in->aux, 0, value, (uint16_t)access, position};
  return true;
}

static int coordinate(lgt_assembler *as, int number, const lgt_inst *in) {
  int dim = in->a == LGT_NO_VALUE ? -1 : in->a;
  for (int a = 0; a < as->naccess; a++)
    if (as->access[a].mode == LGT_ACCESS_INDEX && as->place[a].index_dim == dim)
      return lgt_assembler_emit(
          as, (lgt_inst){LGT_OP_INDEX, LGT_INT64, 0, 0, (uint16_t)a, LGT_NO_VALUE, LGT_NO_VALUE});
  lgt_plan_access p = {.slot = LGT_NONE, .index_dim = (int8_t)dim, .item = (uint16_t)number};
  int64_t position[LGT_MAX_DIM];
  lgt_shape_strides(as->shape->ndim, as->shape->extent, position);
  for (int d = 0; d < as->shape->ndim; d++) p.stride[d] = dim < 0 ? position[d] : d == dim;
  int access = lgt_assembler_access(as, LGT_ACCESS_INDEX, LGT_INT64, p);
  return access < 0 ? -1
                    : lgt_assembler_emit(as, (lgt_inst){LGT_OP_INDEX, LGT_INT64, 0, 0, (uint16_t)access,
                                                        LGT_NO_VALUE, LGT_NO_VALUE});
}

static uint16_t renamed(const uint16_t *value, uint16_t operand) {
  return operand == LGT_NO_VALUE ? operand : value[operand];
}

static bool append_item(lgt_assembler *as, int number) {
  const lgt_weave_item *item = &as->w->items->item[number];
  const lgt_body *body = item->kind->body;
  uint16_t *value = lgt_mem_alloc(((size_t)body->ninst + 1) * sizeof *value);
  bool good = value != NULL;
  for (int i = 0; i < body->ninst && good; i++) {
    lgt_inst in = body->inst[i];
    int v = LGT_NO_VALUE;
    switch (in.op) {
      case LGT_OP_LOAD:
        v = load(as, number, &in);
        break;
      case LGT_OP_STORE: /* below: another argument may be the same element, and is read before */
        break;
      case LGT_OP_REDUCE:
        good = reduce(as, number, &in, value[in.a], LGT_NO_VALUE);
        break;
      case LGT_OP_REDUCE_ARG:
        good = reduce(as, number, &in, value[in.a], value[in.c]);
        break;
      case LGT_OP_INDEX:
        v = coordinate(as, number, &in);
        break;
      case LGT_OP_CONST:
      case LGT_OP_PARAM: {
        int k = in.op == LGT_OP_CONST ? lgt_assembler_constant(as, body->constant[in.a])
                                      : lgt_assembler_param(as, item->call, in.a);
        if (k < 0) v = -1;
        else in.a = (uint16_t)k, v = lgt_assembler_emit(as, in);
        break;
      }
      default:
        in.a = renamed(value, in.a);
        in.b = renamed(value, in.b);
        in.c = renamed(value, in.c);
        v = lgt_assembler_emit(as, in);
    }
    if (v < 0) good = false;
    value[i] = (uint16_t)v;
  }
  for (int i = 0; i < body->ninst && good; i++)
    if (body->inst[i].op == LGT_OP_STORE) good = store(as, number, &body->inst[i], value[body->inst[i].a]);
  lgt_mem_free(value);
  return good;
}

/* ---- calls of C ---------------------------------------------------------------------------------------- */

/* Add the call of an item, which reads memory. */
static lgt_plan_native *add_native(lgt_assembler *as, int number) {
  const lgt_weave_items *items = as->w->items;
  const lgt_weave_item *item = &items->item[number];
  if (!lgt_mem_grow((void **)&as->native, &as->native_room, as->nnative + 1, sizeof *as->native)) return NULL;
  lgt_plan_native *native = &as->native[as->nnative];
  *native = (lgt_plan_native){.kind = item->kind, .call = item->call};
  native->access = lgt_mem_zalloc(item->nargs * sizeof *native->access);
  if (!native->access) return NULL;
  as->nnative++;
  for (int a = 0; a < item->nargs; a++) {
    uint16_t buffer = item->out[a] != LGT_NONE ? item->out[a] : item->in[a];
    native->access[a] = (lgt_plan_access){.slot = items->buffer[buffer].slot,
                                          .layout = item->layout[a],
                                          .item = (uint16_t)number,
                                          .arg = (uint8_t)a};
    if (item->in[a] != LGT_NONE) items->buffer[item->in[a]].loaded = true;
  }
  return native;
}

/* By rows: what the call computes is written where it belongs, if that is memory, or else left in the loop's block of
 * memory.  Either way the kernel loads it from there; from then on it is a value like any other. */
static bool append_native(lgt_assembler *as, int number) {
  const lgt_weave_item *item = &as->w->items->item[number];
  const lgt_layout *layout = lgt_layout_at(as->w->fuser->stores, item->layout[0]);
  lgt_alignment align = lgt_item_align(as->w, item, 0);
  lgt_signature sig = lgt_signature_of(layout, &align);
  lgt_plan_native *native = add_native(as, number);
  int size = lgt_dtype_size(layout->dtype), part = lgt_dtype_part(layout->dtype), step = lgt_dtype_size(part);
  if (!native) return false;
  bool block = native->access[0].slot == LGT_NONE;
  if (block) {
    native->block = (int32_t)as->block_bytes;
    as->block_bytes += ((int64_t)LGT_BLOCK * size + 63) / 64 * 64;
  }
  for (int byte = 0; byte < size; byte += step) {
    lgt_assembler_cell *c = add_cell(as, item->out[0], number, 0, byte, part, &sig);
    if (!c) return false;
    lgt_plan_access place = place_of(as, c);
    if (block) {
      place = native->access[0];
      place.byte = native->block + byte;
      place.stride[0] = 1;
    }
    int access = lgt_assembler_access(as, LGT_ACCESS_LOAD, part, place);
    int value = access < 0 ? -1
                           : lgt_assembler_emit(as, (lgt_inst){LGT_OP_LOAD, (uint8_t)part, 0, 0,
                                                               (uint16_t)access, LGT_NO_VALUE, LGT_NO_VALUE});
    if (value < 0) return false;
    c->value = (uint16_t)value;
  }
  return true;
}

/* What a call reads and writes, each element once, of a store that it sees through several views that of the largest. */
static int64_t native_bytes(const lgt_assembler *as, const lgt_plan_native *native) {
  int64_t total = 0;
  for (int a = 0; a < native->kind->nargs; a++) {
    int64_t largest = 0;
    bool counted = native->access[a].slot == LGT_NONE;
    for (int b = 0; b < native->kind->nargs; b++) {
      if (native->access[b].slot != native->access[a].slot) continue;
      const lgt_layout *l = lgt_layout_at(as->w->fuser->stores, native->access[b].layout);
      int64_t bytes = lgt_layout_distinct(l) * lgt_dtype_size(l->dtype);
      if (bytes > largest) largest = bytes;
      if (b < a) counted = true;
    }
    if (!counted) total += largest;
  }
  return total;
}

/* Does a call touch the slot?  Then the kernel finds it in the cache. */
static bool is_native_slot(const lgt_assembler *as, uint16_t slot) {
  for (int i = 0; i < as->nnative; i++)
    for (int a = 0; a < as->native[i].kind->nargs; a++)
      if (as->native[i].access[a].slot == slot) return true;
  return false;
}

/* Calls whose results nobody asks for, neither the kernel nor anybody later. */
static void drop_natives(lgt_assembler *as) {
  int kept = 0;
  for (int i = 0; i < as->nnative; i++)
    if (as->native[i].access[0].slot != LGT_NONE) as->native[kept++] = as->native[i];
    else lgt_mem_free(as->native[i].access);
  as->nnative = kept;
}

/* The calls leave the assembler. */
static void take_natives(lgt_assembler *as, lgt_plan_loop *loop) {
  lgt_plan_group *group = as->w->group;
  group->nnative += as->nnative;
  for (int i = 0; i < as->nnative; i++) group->nnative_arg += as->native[i].kind->nargs;
  loop->native = as->native;
  loop->nnative = as->nnative;
  loop->block_bytes = as->block_bytes;
  as->native = NULL;
  as->nnative = 0;
}

/* ---- finishing a loop --------------------------------------------------------------------------------- */

/* Append what has to reach memory. */
static bool append_effects(lgt_assembler *as) {
  for (int i = 0; i < as->ncell; i++) {
    lgt_assembler_cell *c = &as->cell[i];
    if (!c->dirty || as->w->items->buffer[c->buffer].slot == LGT_NONE) continue;
    int access = lgt_assembler_access(as, LGT_ACCESS_STORE, c->dtype, place_of(as, c));
    if (access < 0 || lgt_assembler_emit(as, (lgt_inst){LGT_OP_STORE, c->dtype, 0, 0, c->value,
                                                        (uint16_t)access, LGT_NO_VALUE}) < 0)
      return false;
  }
  for (int i = 0; i < as->neffect; i++)
    if (lgt_assembler_emit(as, as->effect[i]) < 0) return false;
  return true;
}

/* Drop instructions whose values reach no effect, and the accesses and parameters only they used. */
static bool compact(lgt_assembler *as) {
  uint16_t *number =
      lgt_mem_zalloc(((size_t)as->ninst + (size_t)as->naccess + (size_t)as->nparam + (size_t)as->nconst + 1) *
                     sizeof *number);
  if (!number) return false;
  uint16_t *access = number + as->ninst, *param = access + as->naccess, *constant = param + as->nparam;
  for (int i = as->ninst - 1; i >= 0; i--) { /* mark, from the end */
    lgt_inst *in = &as->inst[i];
    uint16_t operand[3];
    if (lgt_op_effect(in->op)) number[i] = 1;
    if (!number[i]) continue;
    int n = lgt_inst_operands(in, operand);
    for (int k = 0; k < n; k++) number[operand[k]] = 1;
    if (in->op == LGT_OP_LOAD || in->op == LGT_OP_INDEX) access[in->a] = 1;
    if (lgt_op_effect(in->op)) access[in->b] = 1;
    if (in->op == LGT_OP_REDUCE_ARG) access[in->b + 1] = 1;
    if (in->op == LGT_OP_PARAM) param[in->a] = 1;
    if (in->op == LGT_OP_CONST) constant[in->a] = 1;
  }
  int kept = 0;
  for (int a = 0; a < as->naccess; a++)
    if (access[a])
      as->access[kept] = as->access[a], as->place[kept] = as->place[a], access[a] = (uint16_t)kept++;
  as->naccess = kept;
  kept = 0;
  for (int p = 0; p < as->nparam; p++)
    if (param[p])
      as->param_call[kept] = as->param_call[p], as->param_index[kept] = as->param_index[p],
      param[p] = (uint16_t)kept++;
  as->nparam = kept;
  kept = 0;
  for (int c = 0; c < as->nconst; c++)
    if (constant[c]) as->constant[kept] = as->constant[c], constant[c] = (uint16_t)kept++;
  as->nconst = kept;
  kept = 0;
  for (int i = 0; i < as->ninst; i++) {
    if (!number[i]) continue;
    lgt_inst in = as->inst[i];
    uint16_t operand[3];
    int n = lgt_inst_operands(&in, operand);
    for (int k = 0; k < n; k++) operand[k] = number[operand[k]];
    lgt_inst_set_operands(&in, operand);
    if (in.op == LGT_OP_LOAD || in.op == LGT_OP_INDEX) in.a = access[in.a];
    if (in.op == LGT_OP_PARAM) in.a = param[in.a];
    if (in.op == LGT_OP_CONST) in.a = constant[in.a];
    if (lgt_op_effect(in.op)) in.b = access[in.b];
    as->inst[kept] = in;
    number[i] = (uint16_t)kept++;
  }
  as->ninst = kept;
  lgt_mem_free(number);
  return true;
}

/* Which space dimension each loop dimension walks: without those of one element.  Loops without reductions
 * write the first result contiguously; those with reductions know their innermost dimension. */
static void choose_dims(const lgt_assembler *as, lgt_plan_loop *loop) {
  if (as->shape->reduces) {
    loop->ndim = 0;
    for (int d = 0; d < as->shape->ndim; d++)
      if (as->shape->extent[d] != 1 && d != as->shape->inner) loop->dim[loop->ndim++] = (int8_t)d;
    if (as->shape->inner >= 0) loop->dim[loop->ndim++] = (int8_t)as->shape->inner;
    return;
  }
  const lgt_plan_access *guide = NULL;
  for (int a = 0; a < as->naccess; a++)
    if (as->access[a].mode == LGT_ACCESS_STORE && !guide) guide = &as->place[a];
  loop->ndim = 0;
  for (int d = 0; d < as->shape->ndim; d++) {
    if (as->shape->extent[d] == 1) continue;
    int k = loop->ndim++;
    loop->dim[k] = (int8_t)d;
    if (!guide) continue;
    int64_t mine = guide->stride[d] < 0 ? -guide->stride[d] : guide->stride[d];
    for (; k > 0; k--) {
      int64_t other = guide->stride[loop->dim[k - 1]];
      if (other < 0) other = -other;
      if (other >= mine || other == 0 || mine == 0) break;
      int8_t t = loop->dim[k];
      loop->dim[k] = loop->dim[k - 1];
      loop->dim[k - 1] = t;
    }
  }
}

/* Of the elements of the array (INDEX: 1). */
static int64_t element_bytes(const lgt_assembler *as, int a) {
  if (as->access[a].mode == LGT_ACCESS_INDEX) return 1;
  return lgt_dtype_size(lgt_layout_at(as->w->fuser->stores, as->place[a].layout)->dtype);
}

static int64_t stride_bytes(const lgt_assembler *as, int a, int space_dim) {
  return as->place[a].stride[space_dim] * element_bytes(as, a);
}

/* The first access that moves as this one does, as lgt_access.row names it. */
static uint8_t same_strides(const lgt_assembler *as, const lgt_plan_loop *loop, int a) {
  for (int b = 0; b < a && b < UINT8_MAX; b++) {
    bool same = as->access[a].mode != LGT_ACCESS_INDEX && as->access[b].mode != LGT_ACCESS_INDEX;
    for (int d = 0; d < loop->ndim && same; d++)
      same = stride_bytes(as, a, loop->dim[d]) == stride_bytes(as, b, loop->dim[d]);
    if (same) return (uint8_t)(b + 1);
  }
  return 0;
}

static void classify(lgt_assembler *as, const lgt_plan_loop *loop) {
  bool reduces = false;
  for (int a = 0; a < as->naccess; a++) reduces |= as->access[a].mode == LGT_ACCESS_REDUCE;
  for (int a = 0; a < as->naccess; a++) {
    lgt_access *access = &as->access[a];
    int64_t unit = access->mode == LGT_ACCESS_INDEX ? 1 : lgt_dtype_size(access->dtype);
    int64_t inner = loop->ndim ? stride_bytes(as, a, loop->dim[loop->ndim - 1]) : 0;
    int64_t row = loop->ndim > 1 ? stride_bytes(as, a, loop->dim[loop->ndim - 2]) : 0;
    access->inner = lgt_access_class(access, inner, unit, element_bytes(as, a));
    access->row = access->mode == LGT_ACCESS_REDUCE && row != 0 ? LGT_STRIDE_ANY : LGT_STRIDE_ZERO;
    if (as->fixed && !reduces) access->row = same_strides(as, loop, a);
  }
}

static bool same_stream(const lgt_assembler *as, int a, int b) {
  return as->access[a].mode != LGT_ACCESS_INDEX && as->access[b].mode != LGT_ACCESS_INDEX &&
         as->place[a].slot == as->place[b].slot &&
         (as->access[a].mode == LGT_ACCESS_LOAD) == (as->access[b].mode == LGT_ACCESS_LOAD);
}

/* How many elements an access of a loop whose strides are fixed comes to, and the first and the last of them in the root. */
static int64_t reach(const lgt_assembler *as, int a, int64_t *first, int64_t *last) {
  const lgt_plan_access *place = &as->place[a];
  int64_t elements = 1;
  *first = *last = place->offset;
  for (int d = 0; d < as->shape->ndim; d++) {
    if (place->stride[d] == 0) continue;
    elements *= as->shape->extent[d];
    *(place->stride[d] < 0 ? first : last) += (as->shape->extent[d] - 1) * place->stride[d];
  }
  return elements;
}

/* How many elements the accesses of a stream come to, each once: `a` is the first of them. */
static int64_t stream_elements(const lgt_assembler *as, int a) {
  lgt_rect bound = {0};
  int64_t elements = 0, within = 0, least = INT64_MAX, most = INT64_MIN;
  for (int b = a; b < as->naccess; b++) {
    if (!same_stream(as, a, b)) continue;
    if (as->fixed) { /* of a part of the calls' spaces */
      int64_t first, last;
      elements += reach(as, b, &first, &last);
      if (first < least) least = first;
      if (last > most) most = last;
      within = most - least + 1;
      continue;
    }
    const lgt_layout *layout = lgt_layout_at(as->w->fuser->stores, as->place[b].layout);
    lgt_rect view = lgt_rect_of_shape(layout->ndim, layout->shape),
             rect = lgt_layout_root_rect(layout, &view);
    bound = b == a ? rect : lgt_rect_bound(&bound, &rect);
    elements += lgt_layout_distinct(layout);
    within = lgt_rect_size(&bound);
  }
  return elements < within ? elements : within;
}

/* The bytes that a pass reads and those that it writes: an element of a slot counts once for each, though
 * several accesses reach it, as the neighbours in a stencil do. */
static int64_t traffic(const lgt_assembler *as) {
  int64_t total = 0;
  for (int a = 0; a < as->naccess; a++) {
    bool counted = as->place[a].slot == LGT_NONE || is_native_slot(as, as->place[a].slot);
    for (int b = 0; b < a && !counted; b++) counted = same_stream(as, a, b);
    if (!counted)
      total += stream_elements(as, a) *
               lgt_dtype_size(lgt_layout_at(as->w->fuser->stores, as->place[a].layout)->dtype);
  }
  return total;
}

/* The nest for whole-root instances, ready to run. */
static lgt_status prepare_nest(lgt_assembler *as, lgt_plan_loop *loop, const lgt_loop *code) {
  size_t n = (size_t)as->naccess + 1;
  loop->shape = (lgt_nest_shape){.ndim = loop->ndim};
  loop->shape.stride = lgt_mem_zalloc(n * LGT_MAX_DIM * sizeof *loop->shape.stride);
  loop->base = lgt_mem_zalloc(n * sizeof *loop->base);
  if (!loop->shape.stride || !loop->base) return lgt_no_memory_to_fuse();
  for (int d = 0; d < loop->ndim; d++) loop->shape.extent[d] = loop->extent[loop->dim[d]];
  for (int a = 0; a < as->naccess; a++) {
    for (int d = 0; d < loop->ndim; d++)
      loop->shape.stride[a * LGT_MAX_DIM + d] = stride_bytes(as, a, loop->dim[d]);
    if (as->access[a].mode == LGT_ACCESS_INDEX) loop->base[a].index = as->place[a].offset;
    if (as->place[a].slot == LGT_NONE) continue;
    const lgt_layout *layout = lgt_layout_at(as->w->fuser->stores, as->place[a].layout);
    loop->base[a].index = as->place[a].offset * lgt_dtype_size(layout->dtype) + as->place[a].byte;
  }
  loop->bytes = traffic(as);
  for (int i = 0; i < as->nnative; i++) loop->bytes += native_bytes(as, &as->native[i]);
  lgt_nest_shape_finish(code, &loop->shape, as->w->fuser->workers, as->nnative > 0,
                        lgt_plan_native_bytes(as->native, as->nnative, loop->bytes));
  loop->stream = loop->bytes > as->w->fuser->cache_bytes;
  return LGT_OK;
}

/* The loop's code leaves the assembler; what is left there describes its accesses. */
static lgt_loop *take_code(lgt_assembler *as) {
  lgt_loop *code = lgt_mem_zalloc(sizeof *code);
  lgt_access *access = lgt_mem_alloc(((size_t)as->naccess + 1) * sizeof *access);
  if (!code || !access) {
    lgt_mem_free(code);
    lgt_mem_free(access);
    return NULL;
  }
  memcpy(access, as->access, (size_t)as->naccess * sizeof *access);
  *code = (lgt_loop){.naccess = (uint16_t)as->naccess,
                     .ninst = (uint16_t)as->ninst,
                     .nconst = (uint16_t)as->nconst,
                     .nparam = (uint16_t)as->nparam,
                     .access = access,
                     .inst = as->inst,
                     .constant = as->constant};
  as->inst = NULL;
  as->constant = NULL;
  lgt_loop_seal(code);
  return code;
}

lgt_status lgt_assembler_finish(lgt_assembler *as, lgt_plan_loop *loop) {
  if (!append_effects(as) || !compact(as)) return lgt_no_memory_to_fuse();
  loop->space_ndim = as->shape->ndim;
  memcpy(loop->extent, as->shape->extent, sizeof loop->extent);
  if (as->ninst == 0) { /* calls that write memory, or nothing of it is needed */
    drop_natives(as);
    for (int i = 0; i < as->nnative; i++) loop->bytes += native_bytes(as, &as->native[i]);
    if (as->nnative) take_natives(as, loop);
    return LGT_OK;
  }
  if (as->naccess > LGT_MAX_ACCESS)
    return lgt_err(LGT_UNSUPPORTED, "a fused loop of %d accesses", as->naccess);
  loop->inner = (int8_t)as->shape->inner;
  choose_dims(as, loop);
  classify(as, loop);
  lgt_loop *code = take_code(as);
  loop->kernel = code ? lgt_kernel_get(as->w->fuser->kernels, code) : NULL;
  if (!loop->kernel) return lgt_no_memory_to_fuse();
  lgt_status status = prepare_nest(as, loop, loop->kernel->loop);
  take_natives(as, loop);
  loop->access = as->place;
  loop->param_call = as->param_call;
  loop->param_index = as->param_index;
  as->place = NULL;
  as->param_call = NULL;
  as->param_index = NULL;
  as->w->group->nparam += as->nparam;
  as->w->group->naccess += as->naccess;
  return status;
}

void lgt_assembler_drop(lgt_plan_group *group, lgt_plan_loop *loop) {
  const lgt_loop *code = loop->kernel->loop;
  group->nparam -= code->nparam;
  group->naccess -= code->naccess;
  lgt_mem_free(loop->access);
  lgt_mem_free(loop->param_call);
  lgt_mem_free(loop->param_index);
  lgt_mem_free(loop->shape.stride);
  lgt_mem_free(loop->base);
}

/* A CPU variant alone, on memory. */
static lgt_status finish_alone(lgt_assembler *as, int number, lgt_plan_loop *loop) {
  const lgt_weave_item *item = &as->w->items->item[number];
  const lgt_space *space = &as->w->plan->call[item->call].space;
  if (!add_native(as, number)) return lgt_no_memory_to_fuse();
  loop->space_ndim = space->ndim;
  memcpy(loop->extent, space->extent, sizeof loop->extent);
  take_natives(as, loop);
  return LGT_OK;
}

/* ---- entry ---------------------------------------------------------------------------------------------- */

static lgt_status walk_loop(lgt_weaver *w, int number, lgt_plan_loop *out) {
  lgt_assembler as = {.w = w, .shape = &w->loop[number]};
  lgt_status status = LGT_OK;
  for (int i = 0; i < w->items->nitem && !status; i++) {
    const lgt_weave_item *item = &w->items->item[i];
    if (item->loop != number || item->there) continue;
    if (as.shape->alone) {
      for (int a = 0; a < item->nargs; a++) { /* it works on memory */
        if (item->in[a] != LGT_NONE) w->items->buffer[item->in[a]].loaded = true;
        if (item->out[a] != LGT_NONE) w->items->buffer[item->out[a]].loaded = true;
      }
      status = out ? finish_alone(&as, i, out) : LGT_OK;
      lgt_assembler_fini(&as);
      return status;
    }
    if (!(lgt_kind_native(item->kind) ? append_native(&as, i) : append_item(&as, i)))
      status = lgt_no_memory_to_fuse();
  }
  for (int i = 0; i < w->items->nitem; i++) { /* reductions work on memory too */
    const lgt_weave_item *item = &w->items->item[i];
    for (int a = 0; a < item->nargs && item->loop == number; a++)
      if (item->kind->privilege[a] & LGT_PRIV_REDUCE && item->out[a] != LGT_NONE)
        w->items->buffer[item->out[a]].loaded = true;
  }
  if (!status && out) status = lgt_assembler_finish(&as, out);
  lgt_assembler_fini(&as);
  return status;
}

lgt_status lgt_assemble_scan(lgt_weaver *w) {
  lgt_status status = LGT_OK;
  for (int i = 0; i < w->nloop && !status; i++) status = walk_loop(w, i, NULL);
  return status;
}

lgt_status lgt_assemble_build(lgt_weaver *w) {
  lgt_plan_group *group = w->group;
  lgt_status status = LGT_OK;
  group->loop = lgt_mem_zalloc(((size_t)w->nloop + 1) * sizeof *group->loop);
  if (!group->loop) return lgt_no_memory_to_fuse();
  for (int i = 0; i < w->nloop && !status; i++) {
    group->loop[group->nloop].launch = w->loop[i].launch;
    group->loop[group->nloop].woven = (uint16_t)i;
    status = walk_loop(w, i, &group->loop[group->nloop++]);
    const lgt_plan_loop *loop = &group->loop[group->nloop - 1];
    if (!status && !loop->nnative && !loop->kernel) group->nloop--;
  }
  return status;
}
