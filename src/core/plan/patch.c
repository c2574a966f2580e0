/* patch.c - see patch.h. */
#include "plan/patch.h"

#include <string.h>

#include "base/random.h"
#include "kernel/grid.h"
#include "plan/cut.h"
#include "plan/inline.h"

/* Of a patch; more values at a time than that do not fit into registers. */
enum { MOST_INST = 3000, MOST_LIVE = 84 };
static const int64_t FEWEST_THREADS = 132 * 256;
/* Of the arithmetic for an element so much must be left at most; and of that in a smaller patch, for a larger one. */
static const double WORTH = 0.9, WORTH_MORE = 0.95;

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

static bool can_be_patched(const lgt_plan_loop *loop) {
  return lgt_cut_possible(loop) && code_of(loop)->ninst <= MOST_INST;
}

static bool has_patches(const lgt_plan_loop *loop, int rows, int cols) {
  return loop->extent[loop->dim[loop->ndim - 1]] >= cols &&
         (rows == 1 || (loop->ndim > 1 && loop->extent[loop->dim[loop->ndim - 2]] >= rows));
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

/* The loop that is patched becomes one over patches, which is there already, and others over the rest. */
static lgt_status patch(lgt_weaver *w, int number, const lgt_cut_box *box, int n,
                        const lgt_plan_loop *patches) {
  lgt_plan_group *group = w->group;
  lgt_plan_loop fresh[3] = {*patches}, old = group->loop[number];
  lgt_status status = LGT_OK;
  int built = 1;
  for (; built < n && !status; built++) status = lgt_cut_build(w, &old, &box[built], 1, &fresh[built]);
  if (!status) status = lgt_cut_exchange(group, number, 1, fresh, n);
  if (!status) {
    lgt_cut_part_memory(group, &old);
    lgt_assembler_drop(group, &old);
    group->patched = true;
  }
  for (int i = 0; i < built && status; i++)
    if (fresh[i].kernel) lgt_assembler_drop(group, &fresh[i]);
  return status;
}

/* Of all shapes that one which leaves least to do.  With --jitter some that leave more, so that tests need no large arrays. */
static lgt_status patch_loop(lgt_weaver *w, int number) {
  static const int shape[][2] = {{1, 2}, {2, 2}, {4, 2}};
  const lgt_plan_loop *loop = &w->group->loop[number];
  if (!can_be_patched(loop)) return LGT_OK;
  lgt_plan_loop best = {0};
  lgt_cut_box box[3];
  double least = WORTH * work_of(code_of(loop));
  lgt_status status = LGT_OK;
  int n = 0;
  for (int i = 0; i < 3 && !status; i++) {
    int size = shape[i][0] * shape[i][1];
    bool anyway = lgt_random_choice(&w->fuser->jitter);
    lgt_plan_loop patches = {0};
    if (!has_patches(loop, shape[i][0], shape[i][1]) || (!anyway && !may_gain(loop, size))) continue;
    list_boxes(loop, shape[i][0], shape[i][1], box);
    status = lgt_cut_build(w, loop, &box[0], 1, &patches);
    bool good = !status && fits(&patches);
    double work = good ? work_of(code_of(&patches)) / size : 0;
    good = good && (anyway || work <= least);
    lgt_plan_loop loser = good ? best : patches;
    if (good) best = patches, n = i + 1, least = WORTH_MORE * work;
    if (loser.kernel) lgt_assembler_drop(w->group, &loser);
  }
  if (!n) return status;
  int rows = shape[n - 1][0], cols = shape[n - 1][1];
  if (!status) return patch(w, number, box, list_boxes(loop, rows, cols, box), &best);
  lgt_assembler_drop(w->group, &best);
  return status;
}

lgt_status lgt_patch_loops(lgt_weaver *w) {
  lgt_status status = LGT_OK;
  if (!lgt_inline_applies(w->fuser, w->plan)) return LGT_OK;
  for (int l = w->group->nloop - 1; l >= 0 && !status; l--) status = patch_loop(w, l);
  return status;
}
