/* patch.c - see patch.h. */
#include "plan/patch.h"

#include <string.h>

#include "base/random.h"
#include "kernel/grid.h"
#include "plan/cut.h"
#include "plan/inline.h"

/* Of a patch; more values at a time than that do not fit into registers. */
enum { MOST_INST = 2000, MOST_LIVE = 84 };
static const int64_t FEWEST_THREADS = 132 * 256;
static const double WORTH = 0.9; /* of the arithmetic for an element must be left at most */

static const lgt_loop *code_of(const lgt_plan_loop *loop) { return loop->kernel->loop; }

static double work_of(const lgt_loop *code) {
  double work = 0;
  for (int i = 0; i < code->ninst; i++) work += lgt_inline_work(&code->inst[i]);
  return work;
}

/* Bytes of memory for an element: each slot once for what is loaded there, and once for what is stored. */
static double bytes_of(const lgt_plan_loop *loop) {
  const lgt_loop *code = code_of(loop);
  double bytes = 0;
  for (int a = 0; a < code->naccess; a++) {
    bool counted = loop->access[a].slot == LGT_NONE;
    for (int b = 0; b < a && !counted; b++)
      counted = loop->access[b].slot == loop->access[a].slot && code->access[b].mode == code->access[a].mode;
    if (!counted) bytes += lgt_dtype_size(code->access[a].dtype);
  }
  return bytes;
}

/* ---- is it worth while? ------------------------------------------------------------------------------- */

/* Values that are alive at a time, if instructions run in order. */
static int most_live(const lgt_loop *code) {
  int *last = lgt_mem_zalloc(((size_t)code->ninst + 1) * sizeof *last);
  int live = 0, most = last ? 0 : MOST_LIVE + 1;
  uint16_t operand[3];
  for (int i = 0; last && i < code->ninst; i++)
    for (int n = lgt_inst_operands(&code->inst[i], operand), k = 0; k < n; k++) last[operand[k]] = i;
  for (int i = 0; last && i < code->ninst; i++) {
    const lgt_inst *in = &code->inst[i];
    int n = lgt_inst_operands(in, operand);
    for (int k = 0; k < n; k++) {
      bool constant = code->inst[operand[k]].op == LGT_OP_CONST || code->inst[operand[k]].op == LGT_OP_PARAM;
      bool again = false;
      for (int j = 0; j < k; j++) again |= operand[j] == operand[k];
      live -= last[operand[k]] == i && !constant && !again;
    }
    live += !lgt_op_effect(in->op) && in->op != LGT_OP_CONST && in->op != LGT_OP_PARAM;
    if (live > most) most = live;
  }
  lgt_mem_free(last);
  return most;
}

static bool fits(const lgt_plan_loop *patch) {
  const lgt_loop *code = code_of(patch);
  return code->ninst <= MOST_INST && most_live(code) <= MOST_LIVE && !lgt_grid_check(code, &patch->shape);
}

static bool pays(const lgt_plan_loop *loop, const lgt_plan_loop *patch, int size) {
  return work_of(code_of(patch)) <= WORTH * work_of(code_of(loop)) * size;
}

static bool can_be_patched(const lgt_plan_loop *loop) {
  return lgt_cut_possible(loop) && code_of(loop)->ninst <= MOST_INST;
}

/* Would its time be that of arithmetic, and are there threads enough? */
static bool may_gain(const lgt_plan_loop *loop, int size) {
  double elements = 1;
  for (int d = 0; d < loop->space_ndim; d++) elements *= (double)loop->extent[d];
  return elements >= (double)FEWEST_THREADS * size && work_of(code_of(loop)) > LGT_BYTE_WORK * bytes_of(loop);
}

/* ---- entry ------------------------------------------------------------------------------------------- */

/* The patches, the rows that are left, and the columns. */
static int list_boxes(const lgt_plan_loop *loop, int rows, int cols, lgt_cut_box box[3]) {
  int row = loop->ndim > 1 ? loop->dim[loop->ndim - 2] : -1, col = loop->dim[loop->ndim - 1], n = 1;
  for (int i = 0; i < 3; i++) box[i] = lgt_cut_whole(loop);
  if (row >= 0) {
    box[0].step[row] = rows;
    box[0].hi[row] -= loop->extent[row] % rows;
    box[n].lo[row] = box[0].hi[row];
    if (box[n].lo[row] < box[n].hi[row]) n++;
    box[n].lo[row] = 0;
    box[n].hi[row] = box[0].hi[row];
  }
  box[0].step[col] = cols;
  box[0].hi[col] -= loop->extent[col] % cols;
  box[n].lo[col] = box[0].hi[col];
  return box[n].lo[col] < box[n].hi[col] ? n + 1 : n;
}

/* Patches of so many rows and columns, if that pays, or `anyway`. */
static lgt_status try_patch(lgt_weaver *w, int number, int rows, int cols, bool anyway, bool *done) {
  lgt_plan_group *group = w->group;
  lgt_plan_loop fresh[3] = {{0}}, old = group->loop[number];
  const lgt_plan_loop *loop = &old;
  lgt_cut_box box[3];
  if (!can_be_patched(loop) || !(anyway || may_gain(loop, rows * cols))) return LGT_OK;
  int n = list_boxes(loop, rows, cols, box);
  lgt_status status = lgt_cut_build(w, loop, &box[0], 1, &fresh[0]);
  bool good = !status && fits(&fresh[0]) && (anyway || pays(loop, &fresh[0], rows * cols));
  for (int i = 1; i < n && good && !status; i++) status = lgt_cut_build(w, loop, &box[i], 1, &fresh[i]);
  if (good && !status) status = lgt_cut_exchange(group, number, 1, fresh, n);
  *done = good && !status;
  if (*done) lgt_cut_part_memory(group, &old);
  if (*done) lgt_assembler_drop(group, &old);
  group->patched |= *done;
  for (int i = 0; i < n && !*done; i++)
    if (fresh[i].kernel) lgt_assembler_drop(group, &fresh[i]);
  return status;
}

lgt_status lgt_patch_loops(lgt_weaver *w) {
  static const int shape[][2] = {{2, 2}, {1, 2}};
  lgt_status status = LGT_OK;
  if (!lgt_inline_applies(w->fuser)) return LGT_OK;
  for (int l = w->group->nloop - 1; l >= 0 && !status; l--) {
    bool done = false, anyway = lgt_random_choice(&w->fuser->jitter); /* so that tests need no large arrays */
    for (int i = w->group->loop[l].ndim > 1 ? 0 : 1; i < 2 && !done && !status; i++)
      status = try_patch(w, l, shape[i][0], shape[i][1], anyway, &done);
  }
  return status;
}
