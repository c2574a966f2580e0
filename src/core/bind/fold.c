/* fold.c - what several colours reduced becomes one result.  See fold.h. */
#include "bind/fold.h"

#include <string.h>

#include "move/exchange.h"
#include "plan/weave.h"

enum { TO, FROM, TO_AT, FROM_AT };

typedef struct fold_work {
  int redop, dtype, parts; /* parts: of an element, 2 for complex numbers, which fold part by part */
  bool fill;               /* the target becomes the identity; nothing is folded */
  bool pair;               /* with positions: TO_AT and FROM_AT count */
  lgt_tile tile[4];
} fold_work;

/* Element by element of the target's view; run by run where all are contiguous along the last dimension. */
static lgt_status fold_run(lgt_step *step, int chunk) {
  fold_work *f = step->data;
  const lgt_tile *to = &f->tile[TO];
  int64_t size = (int64_t)lgt_dtype_size(f->dtype) * f->parts, index[LGT_MAX_DIM] = {0}, at[4] = {0};
  int64_t extent[LGT_MAX_DIM], steps[4][LGT_MAX_DIM];
  const int64_t *stride[4] = {steps[TO], steps[FROM], steps[TO_AT], steps[FROM_AT]};
  int n = 0, ntile = f->pair ? 4 : 2;
  (void)chunk;
  for (int d = 0; d < to->ndim; d++) {
    if (to->stride[d] == 0) continue; /* the reduction's own dimensions */
    if (to->extent[d] <= 0) return LGT_OK;
    for (int t = 0; t < ntile; t++) steps[t][n] = f->tile[t].stride[d];
    extent[n++] = to->extent[d];
  }
  bool dense = n > 0;
  for (int t = 0; t < ntile && dense; t++)
    dense = (f->fill && t % 2) || steps[t][n - 1] == (t < TO_AT ? size : (int64_t)sizeof(int64_t));
  int64_t run = dense ? extent[--n] : 1;
  do {
    char *p[4];
    for (int t = 0; t < ntile; t++) p[t] = f->fill && t % 2 ? NULL : (char *)f->tile[t].data + at[t];
    if (f->fill) lgt_redop_fill(f->redop, f->dtype, p[TO], run * f->parts);
    else
      lgt_redop_fold(f->redop, f->dtype, p[TO], f->pair ? p[TO_AT] : NULL, p[FROM],
                     f->pair ? p[FROM_AT] : NULL, run * f->parts);
    for (int64_t i = 0; f->fill && f->pair && i < run; i++) ((int64_t *)p[TO_AT])[i] = INT64_MAX;
  } while (lgt_index_next(n, extent, index, ntile, at, stride));
  return LGT_OK;
}

/* ---- which, and where ------------------------------------------------------------------------------- */

lgt_fold *lgt_fold_list(lgt_binder *binder, const lgt_plan_group *group, const bool *folds, int *count) {
  int room = 0;
  for (int l = 0; l < group->nloop; l++)
    room += group->loop[l].kernel ? group->loop[l].kernel->loop->ninst : 0;
  lgt_fold *out = lgt_arena_alloc(&binder->arena, ((size_t)room + 1) * sizeof *out);
  *count = 0;
  for (int l = 0; out && l < group->nloop; l++) {
    const lgt_plan_loop *loop = &group->loop[l];
    const lgt_loop *code = loop->kernel ? loop->kernel->loop : NULL;
    for (int i = 0; code && i < code->ninst; i++) {
      const lgt_inst *in = &code->inst[i];
      bool pair = in->op == LGT_OP_REDUCE_ARG;
      if (in->op != LGT_OP_REDUCE && !pair) continue;
      const lgt_plan_access *access = &loop->access[in->b];
      if (!folds[access->slot] || access->byte) continue; /* an imaginary part goes with the real one */
      out[(*count)++] = (lgt_fold){.loop = loop,
                                   .in = in,
                                   .slot = access->slot,
                                   .at_slot = pair ? loop->access[in->b + 1].slot : -1,
                                   .redop = lgt_inst_redop(in),
                                   .dtype = code->access[in->b].dtype};
    }
  }
  return out;
}

/* The target's rect in its root, for one tile. */
static lgt_rect target_rect(lgt_binder *binder, const lgt_plan_group *group, const lgt_plan_access *access,
                            const lgt_rect *tile) {
  const lgt_layout *layout = lgt_layout_at(binder->stores, access->layout);
  lgt_alignment align = lgt_group_align(group, access);
  lgt_rect view = lgt_space_view_rect(layout, &align, tile);
  return lgt_layout_target_rect(layout, view);
}

static const lgt_layout *root_of(const lgt_binder *binder, const lgt_plan_group *group, int slot) {
  return lgt_layout_at(binder->stores, group->slot[slot].layout);
}

lgt_status lgt_fold_private(lgt_binder *binder, const lgt_bound *bound, const lgt_point *point,
                            lgt_instance **inst, int *lacks) {
  const lgt_plan_group *group = bound->group;
  for (int l = 0; l < group->nloop; l++) {
    const lgt_plan_loop *loop = &group->loop[l];
    const lgt_loop *code = loop->kernel ? loop->kernel->loop : NULL;
    lgt_rect tile = lgt_group_tile(group, loop, point->colour);
    if (lgt_bound_lacks(bound, loop) >= 0) continue;
    for (int i = 0; code && i < code->ninst; i++) {
      if (code->inst[i].op != LGT_OP_REDUCE && code->inst[i].op != LGT_OP_REDUCE_ARG) continue;
      for (int k = 0; k <= (code->inst[i].op == LGT_OP_REDUCE_ARG); k++) {
        const lgt_plan_access *access = &loop->access[code->inst[i].b + k];
        if (!bound->fold[access->slot] || inst[access->slot]) continue;
        const lgt_layout *root = root_of(binder, group, access->slot);
        lgt_rect rect = target_rect(binder, group, access, &tile);
        lgt_instance *made = lgt_instance_new(binder->map, point->domain, root, &rect);
        if (!made) return *lacks = access->slot, LGT_NO_MEMORY;
        inst[access->slot] = made;
        int64_t n = lgt_rect_size(&rect) * (lgt_dtype_is_pair(root->dtype) ? 2 : 1);
        if (k)
          for (int64_t j = 0; j < n; j++) ((int64_t *)made->data)[j] = INT64_MAX;
        else
          lgt_redop_fill(code->inst[i].aux & ~LGT_REDUCE_FRESH, code->access[code->inst[i].b].dtype,
                         made->data, n);
      }
    }
  }
  return LGT_OK;
}

/* ---- here ------------------------------------------------------------------------------------------- */

/* A step: the results of one tile of the space are folded into `to`; without `from`, they become the identity.
 * Both are instances: of the values, of the positions. */
static void add_fold(lgt_binder *binder, const lgt_plan_group *group, const lgt_fold *f, const lgt_rect *tile,
                     lgt_instance *const to[2], lgt_instance *const from[2], lgt_job *job, fold_work *works) {
  fold_work *w = &works[job->task.nstep];
  *w = (fold_work){.redop = f->redop, .dtype = f->dtype, .parts = 1, .fill = !from, .pair = f->at_slot >= 0};
  for (int k = 0; k <= w->pair; k++) {
    const lgt_plan_access *access = &f->loop->access[f->in->b + k];
    const lgt_layout *layout = lgt_layout_at(binder->stores, access->layout);
    lgt_alignment align = lgt_group_align(group, access);
    if (lgt_dtype_is_pair(layout->dtype)) w->parts = 2;
    lgt_instance_tile(layout, &align, tile, to[k], &w->tile[2 * k + TO], NULL);
    if (!from) continue;
    lgt_instance_tile(layout, &align, tile, from[k], &w->tile[2 * k + FROM], NULL);
    job->task.cost += from[k]->bytes;
  }
  lgt_job_step(job, 1, fold_run, w);
}

/* The instances of a reduction: its buffers, or those of the slots. */
static void targets(const lgt_bound *bound, const lgt_fold *f, bool buffers, lgt_instance *to[2]) {
  to[0] = buffers ? f->value : bound->inst[f->slot];
  to[1] = buffers ? f->at : f->at_slot < 0 ? NULL : bound->inst[f->at_slot];
}

static lgt_job *make_job(lgt_binder *binder, int steps, int instances, fold_work **works) {
  void *memory = NULL;
  lgt_job_size size = {.steps = steps, .instances = instances, .bytes = (size_t)steps * sizeof **works};
  lgt_job *job = lgt_job_new(binder, size, false, &memory);
  *works = memory;
  return job;
}

/* One task: the private results of this rank's points into buffers or the slots, which begin as the identity if they are
 * buffers or fresh.  Each reduction has a task of its own, because it fails for itself. */
static lgt_status fold_points(lgt_binder *binder, const lgt_bound *bound, const lgt_fold *f,
                              const lgt_point *point, int npoint, lgt_instance **private, bool buffers) {
  const lgt_plan_group *group = bound->group;
  int nslot = group->nslot;
  fold_work *works;
  lgt_job *job = make_job(binder, npoint + 1, 2 * npoint + 2, &works);
  if (!job) return LGT_NO_MEMORY;
  for (int c = 0; c < npoint; c++) {
    lgt_job_touch(job, private[c * nslot + f->slot]);
    if (f->at_slot >= 0) lgt_job_touch(job, private[c * nslot + f->at_slot]);
  }
  job->nread = job->ntouched;
  lgt_instance *to[2];
  lgt_rect whole = lgt_rect_of_shape(f->loop->space_ndim, f->loop->extent);
  targets(bound, f, buffers, to);
  lgt_job_touch(job, to[0]);
  lgt_job_touch(job, to[1]);
  if (buffers || to[1] || f->in->aux & LGT_REDUCE_FRESH)
    add_fold(binder, group, f, &whole, to, NULL, job, works);
  for (int c = 0; c < npoint; c++) {
    lgt_instance **p = private + c * nslot, *from[2] = {p[f->slot], f->at_slot < 0 ? NULL : p[f->at_slot]};
    lgt_rect tile = lgt_group_tile(group, f->loop, point[c].colour);
    if (from[0]) add_fold(binder, group, f, &tile, to, from, job, works);
  }
  lgt_point_label(binder, job, bound, "fold");
  return lgt_job_submit(binder, job);
}

/* One task: what all ranks together have reduced, into the slots. */
static lgt_status fold_buffer(lgt_binder *binder, const lgt_bound *bound, const lgt_fold *f) {
  fold_work *works;
  lgt_job *job = make_job(binder, 2, 4, &works);
  if (!job) return LGT_NO_MEMORY;
  lgt_job_touch(job, f->value);
  lgt_job_touch(job, f->at);
  job->nread = job->ntouched;
  lgt_instance *to[2], *from[2];
  lgt_rect whole = lgt_rect_of_shape(f->loop->space_ndim, f->loop->extent);
  targets(bound, f, false, to);
  targets(bound, f, true, from);
  lgt_job_touch(job, to[0]);
  lgt_job_touch(job, to[1]);
  if (to[1] || f->in->aux & LGT_REDUCE_FRESH) add_fold(binder, bound->group, f, &whole, to, NULL, job, works);
  add_fold(binder, bound->group, f, &whole, to, from, job, works);
  lgt_point_label(binder, job, bound, "fold");
  return lgt_job_submit(binder, job);
}

/* ---- among ranks ------------------------------------------------------------------------------------ */

void lgt_fold_begin(lgt_binder *binder, const lgt_plan_group *group, lgt_fold *fold, int nfold) {
  if (!binder->peers) return;
  for (int k = 0; k < nfold; k++) {
    lgt_fold *f = &fold[k];
    lgt_rect whole = lgt_rect_of_shape(f->loop->space_ndim, f->loop->extent);
    const lgt_plan_access *access = &f->loop->access[f->in->b];
    const lgt_layout *root = root_of(binder, group, f->slot);
    lgt_rect rect = target_rect(binder, group, access, &whole);
    f->n = lgt_rect_size(&rect) * (lgt_dtype_is_pair(root->dtype) ? 2 : 1);
    f->value = lgt_instance_shared(binder->map, lgt_dtype_size(root->dtype), &rect);
    if (f->at_slot >= 0) {
      rect = target_rect(binder, group, access + 1, &whole);
      f->at =
          lgt_instance_shared(binder->map, lgt_dtype_size(root_of(binder, group, f->at_slot)->dtype), &rect);
    }
    if (!f->value || (f->at_slot >= 0 && !f->at))
      binder->peers->abort(binder->peers, "out of memory for the result of a reduction");
  }
}

static void drop_buffers(lgt_binder *binder, lgt_fold *fold, int nfold) {
  for (int k = 0; k < nfold; k++) {
    lgt_instance_release(binder->map, fold[k].value);
    lgt_instance_release(binder->map, fold[k].at);
  }
}

/* Where in the stream the reduction is: the number of its argument among the group's. */
static int place_of(const lgt_plan_group *group, const lgt_fold *f) {
  const lgt_plan_access *access = &f->loop->access[f->in->b];
  return group->plan->call[group->items->item[access->item].call].touch + access->arg;
}

static lgt_status fold_among_ranks(lgt_binder *binder, const lgt_plan_group *group, const lgt_fold *fold,
                                   int nfold) {
  lgt_status status = LGT_OK;
  for (int k = 0; k < nfold && !status; k++)
    status = lgt_message_fold(binder, lgt_message_tag(binder, place_of(group, &fold[k]), LGT_MESSAGE_FOLDS),
                              fold[k].redop, fold[k].dtype, fold[k].value, fold[k].at, fold[k].n);
  return status;
}

static void fail(lgt_fold *fold, int nfold, lgt_failure *failure) {
  for (int k = 0; k < nfold; k++) {
    lgt_failure_release(fold[k].value->failure);
    fold[k].value->failure = lgt_failure_retain(failure);
  }
}

lgt_status lgt_fold_end(lgt_binder *binder, const lgt_bound *bound, lgt_fold *fold, int nfold,
                        const lgt_point *point, int npoint, lgt_instance **private, lgt_status status) {
  bool ranks = binder->peers != NULL;
  if (!nfold) return status;
  for (int k = 0; k < nfold && !status; k++) {
    int lacks = lgt_bound_lacks(bound, fold[k].loop);
    if (lacks >= 0) fail(&fold[k], 1, bound->poison[lacks]);
    else status = fold_points(binder, bound, &fold[k], point, npoint, private, ranks);
  }
  if (!ranks) return status;
  lgt_failure *failure = status ? lgt_failure_new(status, lgt_message(), NULL) : NULL;
  if (failure) fail(fold, nfold, failure);
  lgt_failure_release(failure);
  lgt_status shared = fold_among_ranks(binder, bound->group, fold, nfold);
  if (!status) status = shared;
  for (int k = 0; k < nfold && !status; k++)
    if (lgt_bound_lacks(bound, fold[k].loop) < 0) status = fold_buffer(binder, bound, &fold[k]);
  drop_buffers(binder, fold, nfold);
  return status;
}

lgt_status lgt_fold_skip(lgt_binder *binder, const lgt_plan_group *group, const bool *folds,
                         lgt_failure *failure) {
  if (!binder->peers) return LGT_OK;
  int nfold;
  lgt_fold *fold = lgt_fold_list(binder, group, folds, &nfold);
  if (!fold) return lgt_no_memory_to_launch();
  lgt_fold_begin(binder, group, fold, nfold);
  fail(fold, nfold, failure);
  lgt_status status = fold_among_ranks(binder, group, fold, nfold);
  drop_buffers(binder, fold, nfold);
  return status;
}
