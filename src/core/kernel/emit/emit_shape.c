/* emit_shape.c - how many elements an iteration works on, and whether its body is written once or twice.
 *
 * Both change how fast a kernel is, and how long its compilation takes, but no bit of what it computes: what reduces has
 * LGT_LANES in any case.
 */
#include "kernel/emit/emit.h"

/* What a body costs to compile, in units of a simple instruction. */
enum { COST_CALL = 4, COST_LANES = 8, COST_POWER = 12, COST_PHILOX = 60, COST_COMPACT = 24, COST_JOINED = 6 };

/* Loads of a chain of instructions, up to which registers have room for two vectors of each value, and for four; lanes of an
 * iteration at most. */
enum { LOADS_OF_TWO = 5, LOADS_OF_FOUR = 2, MOST_LANES = 64 };

static int inst_cost(const emitter *e, int i) {
  const lgt_inst *in = &e->loop->inst[i];
  if (in->op == LGT_OP_PHILOX) return COST_PHILOX;
  if (in->op == LGT_OP_POWER) return COST_POWER;
  if (e->stage[i].called) return COST_CALL;
  if (in->op == LGT_OP_LOAD && e->loop->access[in->a].inner == LGT_STRIDE_ANY) return COST_LANES;
  return 1;
}

/* How many instructions of the body wait for one another, at most: the length of the longest chain. */
static int longest_chain(const emitter *e) {
  uint16_t length[LGT_MAX_INST] = {0};
  int longest = 0;
  for (int i = 0; i < e->loop->ninst; i++) {
    uint16_t operand[3];
    if (e->level[i] != LEVEL_BODY) continue;
    for (int n = lgt_inst_operands(&e->loop->inst[i], operand), k = 0; k < n; k++)
      if (length[operand[k]] > length[i]) length[i] = length[operand[k]];
    if (++length[i] > longest) longest = length[i];
  }
  return longest;
}

/* Vectors that an iteration of a long body works on.  Where most of the body is one chain, the processor overlaps no more than
 * two iterations, and stands idle for most of each latency; so a chain works on several vectors, if registers have room for
 * what it loads. */
static int side_by_side(const emitter *e, int cost) {
  int loads = 0;
  for (int i = 0; i < e->loop->ninst; i++)
    loads += e->level[i] == LEVEL_BODY && e->loop->inst[i].op == LGT_OP_LOAD;
  if (cost >= 2 * longest_chain(e) || loads > LOADS_OF_TWO) return 1;
  return loads > LOADS_OF_FOUR ? 2 : 4;
}

/* Lanes, and whether the body is long. */
void choose_shape(emitter *e) {
  int cost = 0, widest = 1, calls = 0;
  bool reduces = false, strided = false;
  for (int i = 0; i < e->loop->ninst; i++) {
    const lgt_inst *in = &e->loop->inst[i];
    if (e->level[i] != LEVEL_BODY) continue;
    called_function function;
    int own = inst_cost(e, i), size = elem_size(reg_elem(in->dtype));
    cost += own;
    calls += own > 1;
    if (e->stage[i].called && find_function(in->op, e->loop->inst[in->a].dtype, &function))
      size = elem_size(reg_elem(function.dtype));
    if (size > widest) widest = size;
  }
  for (int k = 0; k < e->loop->naccess; k++) {
    const lgt_access *access = &e->loop->access[k];
    if (access->mode == LGT_ACCESS_REDUCE && access->inner == LGT_STRIDE_ZERO) reduces = true;
    if ((access->inner == LGT_STRIDE_ANY && access->mode != LGT_ACCESS_INDEX) ||
        access->inner == LGT_STRIDE_PAIR)
      strided = true;
  }
  e->compact = cost > COST_COMPACT;
  e->short_body = cost <= COST_JOINED;
  e->joins = e->nphase == 1 && cost <= COST_JOINED && may_join(e);
  int native = (16 << (int)e->isa) / widest, vectors = e->compact ? side_by_side(e, cost) : 2;
  if (calls || strided) vectors = 1;
  while (vectors > 1 && vectors * native > MOST_LANES) vectors /= 2;
  e->native = native;
  e->lanes = reduces || is_narrow(e) ? LGT_LANES : vectors * native;
}
