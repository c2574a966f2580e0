/* fold_nest.c - see fold_nest.h. */
#include "kernel/fold_nest.h"

#include <string.h>

/* The accesses.  A target that is read and written has two. */
enum { TO, FROM, RESULT, TO_AT, FROM_AT, RESULT_AT };

static bool keeps_positions(int redop) { return redop == LGT_REDOP_ARGMIN || redop == LGT_REDOP_ARGMAX; }

/* ---- loops -------------------------------------------------------------------------------------------- */

static uint16_t put(lgt_fold_nest *f, int op, int dtype, uint16_t a, uint16_t b, uint16_t c) {
  lgt_assert(f->loop.ninst < LGT_FOLD_INSTS);
  f->inst[f->loop.ninst] = (lgt_inst){(uint8_t)op, (uint8_t)dtype, 0, 0, a, b, c};
  return f->loop.ninst++;
}

static uint16_t put_op(lgt_fold_nest *f, int op, int dtype, uint16_t a, uint16_t b) {
  return put(f, op, dtype, a, b, LGT_NO_VALUE);
}

static uint16_t put_load(lgt_fold_nest *f, int access, int dtype) {
  f->access[access] = (lgt_access){LGT_ACCESS_LOAD, (uint8_t)dtype, LGT_STRIDE_ANY, 0};
  return put_op(f, LGT_OP_LOAD, dtype, (uint16_t)access, LGT_NO_VALUE);
}

static void put_store(lgt_fold_nest *f, int access, int dtype, uint16_t value) {
  f->access[access] = (lgt_access){LGT_ACCESS_STORE, (uint8_t)dtype, LGT_STRIDE_ANY, 0};
  put_op(f, LGT_OP_STORE, dtype, value, (uint16_t)access);
}

static uint16_t put_const(lgt_fold_nest *f, int dtype, lgt_scalar value) {
  f->constant[f->loop.nconst] = value;
  return put_op(f, LGT_OP_CONST, dtype, f->loop.nconst++, LGT_NO_VALUE);
}

/* With one access for each array that is written. */
static void write_identity(lgt_fold_nest *f, int redop, int dtype) {
  f->loop.naccess = keeps_positions(redop) ? 2 : 1;
  put_store(f, 0, dtype, put_const(f, dtype, lgt_redop_identity(redop, dtype)));
  if (keeps_positions(redop))
    put_store(f, 1, LGT_INT64, put_const(f, LGT_INT64, (lgt_scalar){.i = INT64_MAX}));
}

/* Is the value that comes in better than the target?  A NaN is better than any number. */
static void write_choice(lgt_fold_nest *f, int redop, int dtype) {
  uint16_t t = put_load(f, TO, dtype), v = put_load(f, FROM, dtype);
  uint16_t t_at = put_load(f, TO_AT, LGT_INT64), v_at = put_load(f, FROM_AT, LGT_INT64);
  uint16_t better = put_op(f, redop == LGT_REDOP_ARGMIN ? LGT_OP_LT : LGT_OP_GT, LGT_BOOL, v, t);
  uint16_t equal = put_op(f, LGT_OP_EQ, LGT_BOOL, v, t);
  if (lgt_dtype_is_float(dtype)) {
    uint16_t t_nan = put_op(f, LGT_OP_ISNAN, LGT_BOOL, t, LGT_NO_VALUE),
             v_nan = put_op(f, LGT_OP_ISNAN, LGT_BOOL, v, LGT_NO_VALUE);
    uint16_t number = put_op(f, LGT_OP_NOT, LGT_BOOL, t_nan, LGT_NO_VALUE);
    better = put_op(f, LGT_OP_OR, LGT_BOOL, better, put_op(f, LGT_OP_AND, LGT_BOOL, v_nan, number));
    equal = put_op(f, LGT_OP_OR, LGT_BOOL, equal, put_op(f, LGT_OP_AND, LGT_BOOL, t_nan, v_nan));
  }
  uint16_t earlier = put_op(f, LGT_OP_LT, LGT_BOOL, v_at, t_at);
  uint16_t take = put_op(f, LGT_OP_OR, LGT_BOOL, better, put_op(f, LGT_OP_AND, LGT_BOOL, equal, earlier));
  put_store(f, RESULT, dtype, put(f, LGT_OP_SELECT, dtype, take, v, t));
  put_store(f, RESULT_AT, LGT_INT64, put(f, LGT_OP_SELECT, LGT_INT64, take, v_at, t_at));
}

void lgt_fold_loop(lgt_fold_nest *f, int redop, int dtype, bool identity) {
  f->loop = (lgt_loop){.access = f->access, .inst = f->inst, .constant = f->constant};
  if (identity) return write_identity(f, redop, dtype);
  f->loop.naccess = keeps_positions(redop) ? RESULT_AT + 1 : RESULT + 1;
  if (keeps_positions(redop)) return write_choice(f, redop, dtype);
  uint16_t t = put_load(f, TO, dtype), v = put_load(f, FROM, dtype);
  put_store(f, RESULT, dtype, put_op(f, lgt_redop_op(redop), dtype, t, v));
}

/* ---- nests -------------------------------------------------------------------------------------------- */

static void put_dim(lgt_fold_nest *f, const lgt_tile *const *tile, int d) {
  int n = f->shape.ndim++;
  lgt_assert(n < LGT_MAX_DIM);
  f->shape.extent[n] = tile[0]->extent[d];
  for (int a = 0; a < f->loop.naccess; a++) f->stride[a * LGT_MAX_DIM + n] = tile[a]->stride[d];
}

/* The innermost dimension where the tiles leave none, or of pairs: their parts. */
static void put_parts(lgt_fold_nest *f, int parts) {
  int n = f->shape.ndim++;
  lgt_assert(n < LGT_MAX_DIM);
  f->shape.extent[n] = parts;
  for (int a = 0; a < f->loop.naccess; a++)
    f->stride[a * LGT_MAX_DIM + n] = lgt_dtype_size(f->access[a].dtype);
}

void lgt_fold_nest_make(lgt_fold_nest *f, int redop, int dtype, const lgt_fold_tiles *tiles, int workers) {
  const lgt_tile *const fold[] = {tiles->to,    tiles->from,    tiles->to,
                                  tiles->to_at, tiles->from_at, tiles->to_at};
  const lgt_tile *const identity[] = {tiles->to, tiles->to_at};
  const lgt_tile *const *tile = tiles->from ? fold : identity;
  int parts = lgt_dtype_is_pair(tiles->to->dtype) ? 2 : 1;
  lgt_fold_loop(f, redop, dtype, !tiles->from);
  f->shape = (lgt_nest_shape){.stride = f->stride};
  for (int a = 0; a < f->loop.naccess; a++) f->base[a].address = tile[a]->data;
  for (int d = 0; d < tiles->to->ndim; d++)
    if (tiles->to->stride[d] != 0 && tiles->to->extent[d] != 1) put_dim(f, tile, d);
  if (parts > 1 || f->shape.ndim == 0) put_parts(f, parts);
  lgt_nest_shape_finish(&f->loop, &f->shape, workers, false, 0);
  f->nest = (lgt_nest){.loop = &f->loop, .shape = &f->shape, .base = f->base};
}
