/* patch.c - see patch.h. */
#include "plan/patch.h"

#include <string.h>

#include "kernel/grid.h"
#include "plan/inline.h"

/* Of a patch; more values at a time than that do not fit into registers. */
enum { MOST_INST = 2000, MOST_LIVE = 84 };
static const int64_t FEWEST_THREADS = 132 * 256;
static const double WORTH = 0.9; /* of the arithmetic for an element must be left at most */

/* A part of a loop's space, and how many elements it takes at a time. */
typedef struct part {
  int64_t lo[LGT_MAX_DIM], hi[LGT_MAX_DIM];
  int step[LGT_MAX_DIM];
} part;

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

/* Only loads and stores, and of no slot both. */
static bool is_plain(const lgt_plan_loop *loop) {
  const lgt_loop *code = code_of(loop);
  for (int a = 0; a < code->naccess; a++) {
    if (code->access[a].mode == LGT_ACCESS_REDUCE) return false;
    for (int b = 0; b < code->naccess; b++)
      if (code->access[a].mode == LGT_ACCESS_STORE && code->access[b].mode == LGT_ACCESS_LOAD &&
          loop->access[a].slot == loop->access[b].slot)
        return false;
  }
  return true;
}

/* ---- the new loops ----------------------------------------------------------------------------------- */

/* Where an access of the loop is in the element of a patch that is `at` from its first one. */
static lgt_plan_access place_in(const lgt_plan_loop *loop, int a, const part *p, const int *at) {
  lgt_plan_access place = loop->access[a];
  for (int d = 0; d < loop->space_ndim; d++) {
    place.offset += (p->lo[d] + at[d]) * place.stride[d];
    place.stride[d] *= p->step[d];
  }
  return place;
}

/* The code of one element of a patch. */
static bool copy_element(lgt_assembler *as, const lgt_plan_loop *loop, const part *p, const int *at,
                         uint16_t *value) {
  const lgt_loop *code = code_of(loop);
  for (int i = 0; i < code->ninst; i++) {
    const lgt_inst *in = &code->inst[i];
    int a = in->op == LGT_OP_LOAD || in->op == LGT_OP_INDEX ? in->a : in->op == LGT_OP_STORE ? in->b : -1;
    lgt_plan_access place = {0};
    if (a >= 0) place = place_in(loop, a, p, at);
    int result = lgt_assembler_copy(as, loop, i, &place, value);
    if (result < 0) return false;
    value[i] = (uint16_t)result;
  }
  return true;
}

/* The next element of a patch, along the last dimension first. */
static bool next_element(const part *p, int ndim, int *at) {
  for (int d = ndim - 1; d >= 0; d--) {
    if (++at[d] < p->step[d]) return true;
    at[d] = 0;
  }
  return false;
}

static lgt_status build(lgt_weaver *w, const lgt_plan_loop *loop, const part *p, lgt_plan_loop *out) {
  lgt_weave_loop shape = {.ndim = loop->space_ndim, .launch = loop->launch, .inner = loop->inner};
  lgt_assembler as = {.w = w, .shape = &shape};
  uint16_t *value = lgt_mem_alloc(((size_t)code_of(loop)->ninst + 1) * sizeof *value);
  bool good = value != NULL;
  int at[LGT_MAX_DIM] = {0};
  double share = 1;
  for (int d = 0; d < shape.ndim; d++) {
    shape.extent[d] = (p->hi[d] - p->lo[d]) / p->step[d];
    share *= (double)(p->hi[d] - p->lo[d]) / (double)loop->extent[d];
  }
  out->launch = loop->launch;
  out->woven = loop->woven;
  do good = good && copy_element(&as, loop, p, at, value);
  while (good && next_element(p, shape.ndim, at));
  lgt_status status = good ? lgt_assembler_finish(&as, out) : lgt_no_memory_to_fuse();
  if (!status) out->bytes = (int64_t)((double)out->bytes * share);
  lgt_assembler_fini(&as);
  lgt_mem_free(value);
  return status;
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

static bool pays(const lgt_plan_loop *loop, const lgt_plan_loop *patch, int size) {
  const lgt_loop *code = code_of(patch);
  return code->ninst <= MOST_INST && work_of(code) <= WORTH * work_of(code_of(loop)) * size &&
         most_live(code) <= MOST_LIVE && !lgt_grid_check(code, &patch->shape);
}

/* Would its time be that of arithmetic, and are there threads enough? */
static bool may_gain(const lgt_plan_loop *loop, int size) {
  double elements = 1;
  if (!loop->kernel || loop->nnative || !loop->ndim || !is_plain(loop)) return false;
  for (int d = 0; d < loop->space_ndim; d++) elements *= (double)loop->extent[d];
  return elements >= (double)FEWEST_THREADS * size && code_of(loop)->ninst <= MOST_INST &&
         work_of(code_of(loop)) > LGT_BYTE_WORK * bytes_of(loop);
}

/* ---- entry ------------------------------------------------------------------------------------------- */

/* The patches, the rows that are left, and the columns. */
static int list_parts(const lgt_plan_loop *loop, int rows, int cols, part p[3]) {
  int row = loop->ndim > 1 ? loop->dim[loop->ndim - 2] : -1, col = loop->dim[loop->ndim - 1], n = 1;
  memset(p, 0, 3 * sizeof *p);
  for (int d = 0; d < loop->space_ndim; d++) {
    p[0].hi[d] = loop->extent[d];
    p[0].step[d] = 1;
  }
  p[1] = p[2] = p[0];
  if (row >= 0) {
    p[0].step[row] = rows;
    p[0].hi[row] -= loop->extent[row] % rows;
    p[n].lo[row] = p[0].hi[row];
    if (p[n].lo[row] < p[n].hi[row]) n++;
    p[n].lo[row] = 0;
    p[n].hi[row] = p[0].hi[row];
  }
  p[0].step[col] = cols;
  p[0].hi[col] -= loop->extent[col] % cols;
  p[n].lo[col] = p[0].hi[col];
  return p[n].lo[col] < p[n].hi[col] ? n + 1 : n;
}

/* New loops take the place of one. */
static lgt_status replace(lgt_plan_group *group, int number, const lgt_plan_loop *fresh, int n) {
  lgt_plan_loop *all = lgt_mem_zalloc(((size_t)group->nloop + (size_t)n) * sizeof *all);
  if (!all) return lgt_no_memory_to_fuse();
  lgt_assembler_drop(group, &group->loop[number]);
  memcpy(all, group->loop, (size_t)number * sizeof *all);
  memcpy(all + number, fresh, (size_t)n * sizeof *all);
  memcpy(all + number + n, group->loop + number + 1, (size_t)(group->nloop - number - 1) * sizeof *all);
  lgt_mem_free(group->loop);
  group->loop = all;
  group->nloop += n - 1;
  group->patched = true;
  return LGT_OK;
}

/* Patches of so many rows and columns, if that pays. */
static lgt_status try_patch(lgt_weaver *w, int number, int rows, int cols, bool *done) {
  const lgt_plan_loop *loop = &w->group->loop[number];
  lgt_plan_loop fresh[3] = {{0}};
  part p[3];
  if (!may_gain(loop, rows * cols)) return LGT_OK;
  int n = list_parts(loop, rows, cols, p);
  lgt_status status = build(w, loop, &p[0], &fresh[0]);
  bool good = !status && pays(loop, &fresh[0], rows * cols);
  for (int i = 1; i < n && good && !status; i++) status = build(w, loop, &p[i], &fresh[i]);
  if (good && !status) status = replace(w->group, number, fresh, n);
  *done = good && !status;
  for (int i = 0; i < n && !*done; i++)
    if (fresh[i].kernel) lgt_assembler_drop(w->group, &fresh[i]);
  return status;
}

lgt_status lgt_patch_loops(lgt_weaver *w) {
  static const int shape[][2] = {{2, 2}, {1, 2}};
  lgt_status status = LGT_OK;
  if (!lgt_inline_applies(w->fuser)) return LGT_OK;
  for (int l = w->group->nloop - 1; l >= 0 && !status; l--) {
    bool done = false;
    for (int i = w->group->loop[l].ndim > 1 ? 0 : 1; i < 2 && !done && !status; i++)
      status = try_patch(w, l, shape[i][0], shape[i][1], &done);
  }
  return status;
}
