/* excerpt.c - see excerpt.h. */
#include "plan/excerpt.h"

#include "core.h"

void lgt_excerpt_end(lgt_excerpt *c) {
  lgt_mem_free(c->value);
  lgt_mem_free(c->need);
}

bool lgt_excerpt_begin(lgt_excerpt *c, const lgt_body *from) {
  *c = (lgt_excerpt){.from = from, .to = lgt_build_new()};
  c->value = lgt_mem_alloc((size_t)from->ninst * sizeof *c->value);
  c->need = lgt_mem_zalloc((size_t)from->ninst * sizeof *c->need);
  for (int a = 0; a < LGT_MAX_ARGS; a++) c->slot[a] = -1;
  if (c->to && c->value && c->need) return true;
  lgt_body_free(c->to);
  lgt_excerpt_end(c);
  *c = (lgt_excerpt){0};
  lgt_err(LGT_NO_MEMORY, "out of memory for a generator");
  return false;
}

int lgt_excerpt_args(lgt_excerpt *c, int first, uint8_t args[LGT_MAX_ARGS]) {
  bool used[LGT_MAX_ARGS + 1] = {false};
  for (int i = c->from->ninst - 1; i >= 0; i--) {
    const lgt_inst *in = &c->from->inst[i];
    if (!c->need[i]) continue;
    if (in->op == LGT_OP_LOAD) used[in->a] = true;
    if (lgt_op_effect(in->op))
      used[in->b] = used[in->b + (in->op == LGT_OP_REDUCE_ARG)] = c->need[in->a] = true;
    if (in->op == LGT_OP_REDUCE_ARG) c->need[in->c] = true;
    if (lgt_op_effect(in->op)) continue;
    const uint16_t operand[3] = {in->a, in->b, in->c};
    for (int k = 0; k < lgt_op_arity(in->op); k++) c->need[operand[k]] = true;
  }
  int n = 0;
  for (int a = 0; a < LGT_MAX_ARGS; a++) {
    if (!used[a]) continue;
    c->slot[a] = first + n;
    args[n++] = (uint8_t)a;
  }
  return n;
}

static int copy_reduction(const lgt_excerpt *c, const lgt_inst *in) {
  int value = c->value[in->a], redop = lgt_inst_redop(in);
  bool extreme = redop == LGT_REDOP_MIN || redop == LGT_REDOP_MAX;
  bool floats = lgt_dtype_is_float(in->dtype) || lgt_dtype_is_complex(in->dtype);
  if (c->plus_zero && extreme && floats) /* x + 0 is never -0 */
    value = lgt_build_op(c->to, LGT_OP_ADD, in->dtype, value,
                         lgt_build_const(c->to, in->dtype, (lgt_scalar){.c = {0, 0}}), -1);
  return lgt_build_reduce(c->to, c->slot[in->b], redop, value, in->aux & LGT_REDUCE_FRESH);
}

static int copy_inst(const lgt_excerpt *c, const lgt_inst *in) {
  int arity = lgt_op_arity(in->op);
  switch (in->op) {
    case LGT_OP_LOAD:
      return lgt_build_load(c->to, in->dtype, c->slot[in->a]);
    case LGT_OP_CONST:
      return lgt_build_const(c->to, in->dtype, c->from->constant[in->a]);
    case LGT_OP_PARAM:
      return lgt_build_param(c->to, in->dtype, in->a);
    case LGT_OP_INDEX:
      return lgt_build_index(c->to, in->a == LGT_NO_VALUE ? -1 : in->a);
    case LGT_OP_STORE:
      return lgt_build_store(c->to, c->slot[in->b], c->value[in->a]);
    case LGT_OP_REDUCE:
      return copy_reduction(c, in);
    case LGT_OP_REDUCE_ARG:
      return lgt_build_reduce_arg(c->to, c->slot[in->b], lgt_inst_redop(in), c->value[in->a],
                                  c->value[in->c]);
    default:
      return lgt_body_copy(c->to, in, c->value[in->a], arity > 1 ? c->value[in->b] : -1,
                           arity > 2 ? c->value[in->c] : -1);
  }
}

bool lgt_excerpt_copy(lgt_excerpt *c) {
  for (int i = 0; i < c->from->ninst; i++)
    if (c->need[i] && (c->value[i] = copy_inst(c, &c->from->inst[i])) < 0) return false;
  return true;
}
