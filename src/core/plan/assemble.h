/* assemble.h - between assemble.c, inline.c and patch.c: code in the making.  See weave.h. */
#ifndef LGT_ASSEMBLE_H
#define LGT_ASSEMBLE_H

#include "plan/weave.h"

/* A value that stands for an element of a buffer. */
typedef struct lgt_assembler_cell {
  uint16_t buffer;
  int16_t byte;
  uint16_t value;
  uint8_t dtype;
  bool dirty; /* newer than memory */
  uint32_t layout;
  uint16_t item;
  uint8_t arg;
  lgt_signature sig;
} lgt_assembler_cell;

typedef struct lgt_assembler {
  lgt_weaver *w;
  const lgt_weave_loop *shape;
  lgt_inst *inst; /* owned */
  int ninst, inst_room;
  lgt_scalar *constant; /* owned */
  int nconst, const_room;
  lgt_access *access;     /* owned */
  lgt_plan_access *place; /* owned */
  int naccess, access_room, place_room;
  uint16_t *param_call; /* owned */
  uint8_t *param_index; /* owned */
  int nparam, param_call_room, param_index_room;
  lgt_assembler_cell *cell; /* owned */
  int ncell, cell_room;
  lgt_inst *effect; /* owned; reductions, appended at the end */
  int neffect, effect_room;
  lgt_plan_native *native; /* owned */
  int nnative, native_room;
  int64_t block_bytes;
  bool fixed; /* strides are the same whenever the loop runs: it is not shifted (shift.h), and instances are whole */
} lgt_assembler;

/* Append an instruction, a constant, a parameter, or find the same one; -1 when out of memory. */
int lgt_assembler_emit(lgt_assembler *as, lgt_inst in);
int lgt_assembler_constant(lgt_assembler *as, lgt_scalar value);
int lgt_assembler_param(lgt_assembler *as, uint16_t call, int index);
/* Append an access. */
int lgt_assembler_access(lgt_assembler *as, int mode, int dtype, lgt_plan_access place);
/* Append an instruction of a loop once more, whose operands have these values now and whose access, if it names one, is here. */
int lgt_assembler_copy(lgt_assembler *as, const lgt_plan_loop *loop, int i, const lgt_plan_access *place, const uint16_t *value);
/* The code becomes a loop of the group, without what reaches no effect; nothing at all: the loop has no kernel. */
lgt_status lgt_assembler_finish(lgt_assembler *as, lgt_plan_loop *loop);
/* The loop is none of the group's any more. */
void lgt_assembler_drop(lgt_plan_group *group, lgt_plan_loop *loop);
void lgt_assembler_fini(lgt_assembler *as);

#endif
