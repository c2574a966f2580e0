/* cut.c - see cut.h. */
#include "plan/cut.h"

#include <string.h>

static const lgt_loop *code_of(const lgt_plan_loop *loop) { return loop->kernel->loop; }

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

bool lgt_cut_possible(const lgt_plan_loop *loop) {
  return loop->kernel && !loop->nnative && loop->ndim && is_plain(loop);
}

lgt_cut_box lgt_cut_whole(const lgt_plan_loop *loop) {
  lgt_cut_box box = {{0}, {0}, {0}};
  for (int d = 0; d < loop->space_ndim; d++) {
    box.hi[d] = loop->extent[d];
    box.step[d] = 1;
  }
  return box;
}

/* Where an access of the loop is in the element that is `at` from the first one of a box. */
static lgt_plan_access place_in(const lgt_plan_loop *loop, int a, const lgt_cut_box *box, const int *at) {
  lgt_plan_access place = loop->access[a];
  for (int d = 0; d < loop->space_ndim; d++) {
    place.offset += (box->lo[d] + at[d]) * place.stride[d];
    place.stride[d] *= box->step[d];
  }
  return place;
}

/* The code of one element. */
static bool copy_element(lgt_assembler *as, const lgt_plan_loop *loop, const lgt_cut_box *box, const int *at,
                         uint16_t *value) {
  const lgt_loop *code = code_of(loop);
  for (int i = 0; i < code->ninst; i++) {
    const lgt_inst *in = &code->inst[i];
    int a = in->op == LGT_OP_LOAD || in->op == LGT_OP_INDEX ? in->a : in->op == LGT_OP_STORE ? in->b : -1;
    lgt_plan_access place = {0};
    if (a >= 0) place = place_in(loop, a, box, at);
    int result = lgt_assembler_copy(as, loop, i, &place, value);
    if (result < 0) return false;
    value[i] = (uint16_t)result;
  }
  return true;
}

/* The next element of a point, along the last dimension first. */
static bool next_element(const lgt_cut_box *box, int ndim, int *at) {
  for (int d = ndim - 1; d >= 0; d--) {
    if (++at[d] < box->step[d]) return true;
    at[d] = 0;
  }
  return false;
}

/* The code of what a point takes of all boxes. */
static bool copy_point(lgt_assembler *as, const lgt_plan_loop *loop, const lgt_cut_box *box, int n) {
  uint16_t *value = lgt_mem_alloc(((size_t)code_of(loop)->ninst + 1) * sizeof *value);
  bool good = value != NULL;
  for (int b = 0; b < n; b++) {
    int at[LGT_MAX_DIM] = {0};
    do good = good && copy_element(as, loop, &box[b], at, value);
    while (good && next_element(&box[b], loop->space_ndim, at));
  }
  lgt_mem_free(value);
  return good;
}

lgt_status lgt_cut_build(lgt_weaver *w, const lgt_plan_loop *loop, const lgt_cut_box *box, int n,
                         lgt_plan_loop *out) {
  lgt_weave_loop shape = {.ndim = loop->space_ndim, .launch = loop->launch, .inner = loop->inner};
  lgt_assembler as = {.w = w, .shape = &shape, .fixed = true};
  for (int d = 0; d < shape.ndim; d++) shape.extent[d] = (box->hi[d] - box->lo[d]) / box->step[d];
  out->launch = loop->launch;
  out->woven = loop->woven;
  lgt_status status =
      copy_point(&as, loop, box, n) ? lgt_assembler_finish(&as, out) : lgt_no_memory_to_fuse();
  lgt_assembler_fini(&as);
  return status;
}

/* Around the coordinates in its root of all that an access comes to; false: it does not move along these. */
static bool find_bounds(const lgt_layout *layout, const lgt_plan_loop *loop, int a, int64_t *lo,
                        int64_t *hi) {
  const lgt_plan_access *access = &loop->access[a];
  int64_t root[LGT_MAX_DIM], rest = access->offset;
  lgt_shape_strides(layout->root_ndim, layout->root_shape, root);
  for (int r = 0; r < layout->root_ndim; rest %= root[r], r++)
    if (root[r] <= 0) return false;
    else lo[r] = hi[r] = rest / root[r];
  for (int d = 0; d < loop->space_ndim; d++) {
    int64_t stride = access->stride[d], steps = loop->extent[d] - 1;
    int r = 0;
    if (steps <= 0 || stride == 0) continue;
    while (r < layout->root_ndim && (layout->root_shape[r] == 1 || stride % root[r] != 0)) r++;
    if (r == layout->root_ndim) return false;
    *(stride < 0 ? &lo[r] : &hi[r]) += steps * (stride / root[r]);
  }
  for (int r = 0; r < layout->root_ndim; r++)
    if (lo[r] < 0 || hi[r] >= layout->root_shape[r]) return false;
  return true;
}

bool lgt_cut_apart(const lgt_stores *stores, const lgt_plan_loop *loop, int a, const lgt_plan_loop *other,
                   int b) {
  int64_t lo[2][LGT_MAX_DIM], hi[2][LGT_MAX_DIM];
  const lgt_layout *p = lgt_layout_at(stores, loop->access[a].layout),
                   *q = lgt_layout_at(stores, other->access[b].layout);
  bool apart = false;
  if (p->root_ndim != q->root_ndim || memcmp(p->root_shape, q->root_shape, sizeof p->root_shape))
    return false;
  if (!find_bounds(p, loop, a, lo[0], hi[0]) || !find_bounds(q, other, b, lo[1], hi[1])) return false;
  for (int r = 0; r < p->root_ndim; r++) apart |= hi[0][r] < lo[1][r] || hi[1][r] < lo[0][r];
  return apart;
}

void lgt_cut_part_memory(lgt_plan_group *group, const lgt_plan_loop *loop) {
  const lgt_loop *code = code_of(loop);
  for (int a = 0; a < code->naccess; a++)
    for (int b = 0; b < code->naccess; b++)
      if (code->access[a].mode == LGT_ACCESS_STORE && code->access[b].mode == LGT_ACCESS_LOAD &&
          group->slot[loop->access[a].slot].takes == loop->access[b].slot)
        group->slot[loop->access[a].slot].takes = LGT_NONE;
}

lgt_status lgt_cut_exchange(lgt_plan_group *group, int number, int count, const lgt_plan_loop *fresh, int n) {
  lgt_plan_loop *all = group->loop;
  int rest = group->nloop - number - count;
  if (n > count) all = lgt_mem_realloc(all, (size_t)(group->nloop + n - count) * sizeof *all);
  if (!all) return lgt_no_memory_to_fuse();
  memmove(all + number + n, all + number + count, (size_t)rest * sizeof *all);
  memcpy(all + number, fresh, (size_t)n * sizeof *all);
  group->loop = all;
  group->nloop += n - count;
  return LGT_OK;
}
