/* fold.c - what several colours reduced becomes one result.  See fold.h. */
#include "bind/fold.h"

#include <string.h>

#include "kernel/fold_nest.h"
#include "move/exchange.h"
#include "move/offload.h"
#include "plan/weave.h"

/* ---- steps ------------------------------------------------------------------------------------------ */

typedef struct fold_work {
  lgt_fold_nest fold;
  lgt_kernel *kernel; /* borrowed: for a device with code of its own */
} fold_work;

/* On the host folds are interpreted: for most of them, of single numbers, code is not worth its compilation. */
static lgt_status fold_run(lgt_step *step, int chunk) {
  return lgt_nest_run(&((fold_work *)step->data)->fold.nest, NULL, chunk, NULL);
}

static lgt_status enqueue_folds(lgt_job *job, const lgt_device *device, lgt_queue *queue) {
  lgt_status status = LGT_OK;
  for (int s = 0; s < job->task.nstep && !status; s++) {
    fold_work *w = job->task.step[s].data;
    lgt_code code = {LGT_CLASS_HOST, NULL};
    if (device->target) code = (lgt_code){device->class, lgt_kernel_code_on(w->kernel, device->target)};
    status = device->launch(queue, code, &w->fold.nest);
  }
  return status;
}

/* The kernel of a loop that lgt_fold_loop made; NULL with an error when out of memory. */
static lgt_kernel *kernel_of(const lgt_binder *binder, const lgt_loop *loop) {
  lgt_loop *copy = lgt_loop_copy(loop);
  return copy ? lgt_kernel_get(binder->fuser->kernels, copy) : (lgt_no_memory_to_launch(), NULL);
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

/* The folds of a group are always the same. */
typedef struct folds {
  int count;
  lgt_fold of[];
} folds;

lgt_fold *lgt_fold_all(lgt_binder *binder, const lgt_bound *bound, int *count) {
  lgt_plan_notes *notes = bound->group->notes;
  folds *known = notes->folds;
  if (!known) {
    const lgt_fold *fold = lgt_fold_list(binder, bound->group, bound->fold, count);
    size_t bytes = fold ? (size_t)*count * sizeof *fold : 0;
    known = notes->folds = fold ? lgt_mem_alloc(sizeof *known + bytes) : NULL;
    if (!known) return NULL;
    known->count = *count;
    memcpy(known->of, fold, bytes);
  }
  size_t bytes = (size_t)known->count * sizeof *known->of;
  lgt_fold *out = lgt_arena_alloc(&binder->arena, bytes + 1);
  *count = known->count;
  return out ? memcpy(out, known->of, bytes) : NULL;
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

bool lgt_fold_loaded(lgt_binder *binder, const lgt_plan_group *group, const bool *folds) {
  lgt_kernels *kernels = binder->fuser->kernels;
  int nfold;
  const lgt_fold *fold = lgt_fold_list(binder, group, folds, &nfold);
  if (!fold) return lgt_no_memory_to_launch(), false;
  for (int k = 0; k < nfold; k++)
    for (int identity = binder->peers != NULL; identity <= 1; identity++) { /* among ranks the host folds */
      lgt_fold_nest made;
      lgt_fold_loop(&made, fold[k].redop, fold[k].dtype, identity);
      lgt_kernel *kernel = kernel_of(binder, &made.loop);
      if (kernel) lgt_kernel_prepare(kernels, kernel);
      if (!kernel || !lgt_kernel_loaded(kernels, kernel)) return false;
    }
  return true;
}

lgt_memory *lgt_fold_memory(const lgt_binder *binder, const lgt_bound *bound, int slot) {
  return binder->peers || !bound->inst[slot] ? binder->map->memory : bound->inst[slot]->memory;
}

/* At once, since nobody else has it.  `at`: it has positions. */
static void clear_private(lgt_instance *inst, const lgt_inst *in, bool at) {
  int dtype = at ? LGT_INT64 : in->dtype, redop = at ? LGT_REDOP_MIN : lgt_inst_redop(in);
  lgt_redop_fill(redop, dtype, inst->data, inst->elem * lgt_rect_size(&inst->rect) / lgt_dtype_size(dtype));
}

/* Of ranks: may the only point of this one reduce into the result's own instance, which then goes to all ranks, and
 * becomes the result there?  Folding it once more, into nothing but the identity, would not change a bit: sums are
 * never -0. */
static bool is_in_place(const lgt_binder *binder, const lgt_bound *bound, const lgt_plan_loop *loop,
                        const lgt_inst *in, const lgt_rect *rect) {
  const lgt_plan_access *access = &loop->access[in->b];
  const lgt_plan_slot *slot = &bound->group->slot[access->slot];
  const lgt_instance *result = bound->inst[access->slot];
  if (!binder->peers || bound->away || bound->lacks || in->op != LGT_OP_REDUCE) return false;
  if (!(in->aux & LGT_REDUCE_FRESH) || slot->initial || slot->rest != LGT_NONE) return false;
  return result && result->refs == 1 && lgt_rect_equal(&result->rect, rect);
}

/* What the private instances of a group's points are, so many for each point: always the same. */
typedef struct private_room {
  const lgt_plan_loop *loop;
  const lgt_inst *in;
  int slot;
  bool at; /* it has positions */
  lgt_rect rect;
} private_room;

typedef struct privates {
  int each;
  private_room of[];
} privates;

/* Those of one point; without `out` they are only counted. */
static int list_private(lgt_binder *binder, const lgt_bound *bound, int colour, private_room *out) {
  const lgt_plan_group *group = bound->group;
  int n = 0;
  for (int l = 0; l < group->nloop; l++) {
    const lgt_plan_loop *loop = &group->loop[l];
    const lgt_loop *code = loop->kernel ? loop->kernel->loop : NULL;
    lgt_rect tile = lgt_group_tile(group, loop, colour);
    for (int i = 0; code && i < code->ninst; i++) {
      const lgt_inst *in = &code->inst[i];
      if (in->op != LGT_OP_REDUCE && in->op != LGT_OP_REDUCE_ARG) continue;
      for (int k = 0; k <= (in->op == LGT_OP_REDUCE_ARG); k++) {
        const lgt_plan_access *access = &loop->access[in->b + k];
        if (!bound->fold[access->slot]) continue;
        if (out)
          out[n] = (private_room){loop, in, access->slot, k, target_rect(binder, group, access, &tile)};
        n++;
      }
    }
  }
  return n;
}

static const privates *find_privates(lgt_binder *binder, const lgt_bound *bound, const lgt_points *points) {
  lgt_plan_notes *notes = bound->group->notes;
  privates *p = notes->privates;
  if (p) return p;
  int each = points->count ? list_private(binder, bound, points->point[0].colour, NULL) : 0;
  p = notes->privates = lgt_mem_alloc(sizeof *p + (size_t)(each * points->count) * sizeof *p->of);
  for (int i = 0; p && i < points->count && each; i++)
    list_private(binder, bound, points->point[i].colour, p->of + i * each);
  if (p) p->each = each;
  return p;
}

lgt_status lgt_fold_private(lgt_binder *binder, const lgt_bound *bound, const lgt_points *points, int point,
                            lgt_instance **inst, int *lacks) {
  const privates *known = find_privates(binder, bound, points);
  if (!known) return lgt_no_memory_to_launch();
  int domain = points->point[point].domain;
  lgt_memory *memory = bound->away ? lgt_map_home(binder->map, domain) : binder->map->memory;
  for (int k = 0; k < known->each; k++) {
    const private_room *p = &known->of[point * known->each + k];
    if (inst[p->slot] || lgt_bound_lacks(bound, p->loop) >= 0) continue;
    inst[p->slot] =
        points->count == 1 && is_in_place(binder, bound, p->loop, p->in, &p->rect)
            ? lgt_instance_retain(bound->inst[p->slot])
            : lgt_instance_in(binder->map, memory, domain, root_of(binder, bound->group, p->slot), &p->rect);
    if (!inst[p->slot]) return *lacks = p->slot, LGT_NO_MEMORY;
    if (memory->on_host) clear_private(inst[p->slot], p->in, p->at);
  }
  return LGT_OK;
}

/* ---- here ------------------------------------------------------------------------------------------- */

/* A job of several steps; on a device, if the targets are there. */
typedef struct folding {
  lgt_job *job;
  fold_work *work; /* of the next step */
  lgt_memory *place;
} folding;

static bool begin_job(lgt_binder *binder, int steps, int instances, lgt_memory *place, folding *out) {
  void *memory = NULL;
  lgt_job_size size = {.steps = steps, .instances = instances, .bytes = (size_t)steps * sizeof *out->work};
  *out = (folding){.job = lgt_job_new(binder, size, false, &memory), .place = place};
  out->work = memory;
  return out->job;
}

/* The instances of a reduction among those of the group's slots: of the values, of the positions. */
static void of_slots(lgt_instance *const *inst, const lgt_fold *f, lgt_instance *out[2]) {
  out[0] = inst[f->slot];
  out[1] = f->at_slot < 0 ? NULL : inst[f->at_slot];
}

static void touch(folding *in, lgt_instance *const inst[2]) {
  lgt_job_touch(in->job, inst[0]);
  lgt_job_touch(in->job, inst[1]);
}

/* A step: the results of one tile of the space are folded into `to`; without `from`, they become the identity.
 * Both are instances: of the values, of the positions. */
static lgt_status add_fold(lgt_binder *binder, const lgt_plan_group *group, const lgt_fold *f,
                           const lgt_rect *tile, lgt_instance *const to[2], lgt_instance *const from[2],
                           folding *in) {
  fold_work *w = in->work++;
  lgt_tile into[2], out[2];
  bool pair = f->at_slot >= 0;
  for (int k = 0; k <= pair; k++) {
    const lgt_plan_access *access = &f->loop->access[f->in->b + k];
    const lgt_layout *layout = lgt_layout_at(binder->stores, access->layout);
    lgt_alignment align = lgt_group_align(group, access);
    lgt_instance_tile(layout, &align, tile, to[k], &into[k], NULL);
    if (!from) continue;
    lgt_instance_tile(layout, &align, tile, from[k], &out[k], NULL);
    in->job->task.cost += from[k]->bytes;
  }
  lgt_fold_tiles tiles = {.to = &into[0], .to_at = pair ? &into[1] : NULL};
  if (from) tiles.from = &out[0], tiles.from_at = pair ? &out[1] : NULL;
  lgt_fold_nest_make(&w->fold, f->redop, f->dtype, &tiles, lgt_exec_cpus(binder->exec));
  bool coded = !in->place->on_host && in->place->device->target;
  w->kernel = coded ? kernel_of(binder, &w->fold.loop) : NULL;
  if (coded && !w->kernel) return LGT_NO_MEMORY;
  if (w->fold.shape.nchunk) lgt_job_step(in->job, w->fold.shape.nchunk, fold_run, w);
  return LGT_OK;
}

static lgt_status end_job(lgt_binder *binder, const lgt_bound *bound, folding *in, lgt_status status) {
  if (!status && !in->place->on_host) status = lgt_offload_job(binder, in->job, in->place, enqueue_folds);
  if (status) return lgt_job_free(binder, in->job), status;
  lgt_point_label(binder, in->job, bound, "fold");
  return lgt_job_submit(binder, in->job);
}

lgt_status lgt_fold_clear(lgt_binder *binder, const lgt_bound *bound, const lgt_fold *fold, int nfold,
                          const lgt_point *point, lgt_instance *const *private) {
  folding in;
  lgt_memory *place = lgt_map_home(binder->map, point->domain);
  lgt_status status = LGT_OK;
  if (!nfold || !bound->away || place->on_host) return LGT_OK;
  if (!begin_job(binder, nfold, 2 * nfold, place, &in)) return LGT_NO_MEMORY;
  for (int k = 0; k < nfold && !status; k++) {
    const lgt_fold *f = &fold[k];
    lgt_instance *to[2];
    if (lgt_bound_lacks(bound, f->loop) >= 0) continue;
    of_slots(private, f, to);
    touch(&in, to);
    lgt_rect tile = lgt_group_tile(bound->group, f->loop, point->colour);
    status = add_fold(binder, bound->group, f, &tile, to, NULL, &in);
  }
  return end_job(binder, bound, &in, status);
}

/* The instances of a reduction: its buffers, or those of the slots. */
static void targets(const lgt_bound *bound, const lgt_fold *f, bool buffers, lgt_instance *to[2]) {
  if (!buffers) return of_slots(bound->inst, f, to);
  to[0] = f->value;
  to[1] = f->at;
}

/* The private results of one point, where they are folded: copies, if the point worked elsewhere. */
static void results(const lgt_bound *bound, const lgt_fold *f, int point, lgt_instance *from[2]) {
  int first = point * bound->group->nslot;
  lgt_instance *away[2];
  of_slots(bound->points->private + first, f, from);
  if (!bound->points->away) return;
  of_slots(bound->points->away + first, f, away);
  for (int k = 0; k < 2; k++)
    if (away[k]) from[k] = away[k];
}

/* All that is read is listed: next come the targets, which begin as the identity if they are `fresh`. */
static lgt_status begin_targets(lgt_binder *binder, const lgt_bound *bound, const lgt_fold *f,
                                lgt_instance *const to[2], bool fresh, folding *in) {
  in->job->nread = in->job->ntouched;
  touch(in, to);
  if (!fresh && !to[1] && !(f->in->aux & LGT_REDUCE_FRESH)) return LGT_OK;
  lgt_rect whole = lgt_rect_of_shape(f->loop->space_ndim, f->loop->extent);
  return add_fold(binder, bound->group, f, &whole, to, NULL, in);
}

/* One task: the private results of this rank's points into buffers, which begin as the identity, or into the slots.
 * Each reduction has a task of its own, because it fails for itself. */
static lgt_status fold_points(lgt_binder *binder, const lgt_bound *bound, const lgt_fold *f, bool buffers) {
  const lgt_points *points = bound->points;
  folding in;
  lgt_instance *to[2], *from[2];
  targets(bound, f, buffers, to);
  if (!begin_job(binder, points->count + 1, 2 * points->count + 2, to[0]->memory, &in)) return LGT_NO_MEMORY;
  for (int c = 0; c < points->count; c++) {
    results(bound, f, c, from);
    touch(&in, from);
  }
  lgt_status status = begin_targets(binder, bound, f, to, buffers, &in);
  for (int c = 0; c < points->count && !status; c++) {
    lgt_rect tile = lgt_group_tile(bound->group, f->loop, points->point[c].colour);
    results(bound, f, c, from);
    if (from[0]) status = add_fold(binder, bound->group, f, &tile, to, from, &in);
  }
  return end_job(binder, bound, &in, status);
}

/* One task: what all ranks together have reduced, into the slots. */
static lgt_status fold_buffer(lgt_binder *binder, const lgt_bound *bound, const lgt_fold *f) {
  folding in;
  lgt_instance *to[2], *from[2];
  targets(bound, f, false, to);
  targets(bound, f, true, from);
  if (!begin_job(binder, 2, 4, to[0]->memory, &in)) return LGT_NO_MEMORY;
  touch(&in, from);
  lgt_status status = begin_targets(binder, bound, f, to, false, &in);
  lgt_rect whole = lgt_rect_of_shape(f->loop->space_ndim, f->loop->extent);
  if (!status) status = add_fold(binder, bound->group, f, &whole, to, from, &in);
  return end_job(binder, bound, &in, status);
}

/* ---- among ranks ------------------------------------------------------------------------------------ */

void lgt_fold_begin(lgt_binder *binder, const lgt_plan_group *group, const lgt_bound *bound, lgt_fold *fold,
                    int nfold) {
  if (!binder->peers) return;
  for (int k = 0; k < nfold; k++) {
    lgt_fold *f = &fold[k];
    f->in_place = bound && bound->points->count && bound->points->private[f->slot] &&
                  bound->points->private[f->slot] == bound->inst[f->slot];
    const lgt_layout *root = root_of(binder, group, f->slot);
    int parts = lgt_dtype_is_pair(root->dtype) ? 2 : 1;
    if (f->in_place) {
      f->value = lgt_instance_retain(bound->inst[f->slot]);
      f->n = lgt_rect_size(&f->value->rect) * parts;
      continue;
    }
    lgt_rect whole = lgt_rect_of_shape(f->loop->space_ndim, f->loop->extent);
    const lgt_plan_access *access = &f->loop->access[f->in->b];
    lgt_rect rect = target_rect(binder, group, access, &whole);
    f->n = lgt_rect_size(&rect) * parts;
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
                        lgt_status status) {
  bool ranks = binder->peers != NULL;
  if (!nfold) return status;
  for (int k = 0; k < nfold && !status; k++) {
    int lacks = lgt_bound_lacks(bound, fold[k].loop);
    if (lacks >= 0) fail(&fold[k], 1, bound->poison[lacks]);
    else if (!fold[k].in_place) status = fold_points(binder, bound, &fold[k], ranks);
  }
  if (!ranks) return status;
  lgt_failure *failure = status ? lgt_failure_new(status, lgt_message(), NULL) : NULL;
  if (failure) fail(fold, nfold, failure);
  lgt_failure_release(failure);
  lgt_status shared = fold_among_ranks(binder, bound->group, fold, nfold);
  if (!status) status = shared;
  for (int k = 0; k < nfold && !status; k++)
    if (!fold[k].in_place && lgt_bound_lacks(bound, fold[k].loop) < 0)
      status = fold_buffer(binder, bound, &fold[k]);
  drop_buffers(binder, fold, nfold);
  return status;
}

lgt_status lgt_fold_skip(lgt_binder *binder, const lgt_plan_group *group, const bool *folds,
                         lgt_failure *failure) {
  if (!binder->peers) return LGT_OK;
  int nfold;
  lgt_fold *fold = lgt_fold_list(binder, group, folds, &nfold);
  if (!fold) return lgt_no_memory_to_launch();
  lgt_fold_begin(binder, group, NULL, fold, nfold);
  fail(fold, nfold, failure);
  lgt_status status = fold_among_ranks(binder, group, fold, nfold);
  drop_buffers(binder, fold, nfold);
  return status;
}
