/* work.c - see work.h. */
#include "bind/work.h"

#include <stdio.h>
#include <string.h>

enum { BLAS_UNIT = 8 };

/* ---- steps ------------------------------------------------------------------------------------------ */

static lgt_status loops_begin(lgt_step *step) {
  lgt_loop_work *w = step->data;
  lgt_status status = LGT_OK;
  for (int i = 0; i < w->count && !status; i++) status = lgt_nest_begin(&w[i].nest);
  return status;
}
static void loops_end(lgt_step *step) {
  lgt_loop_work *w = step->data;
  for (int i = 0; i < w->count; i++) lgt_nest_end(&w[i].nest);
}

/* The loop that has a chunk of a step, of which each has one at least. */
static lgt_loop_work *loop_of(const lgt_step *step, int chunk) {
  lgt_loop_work *w = step->data;
  int i = chunk < w->count ? chunk : w->count - 1;
  while (w[i].chunk > chunk) i--;
  return &w[i];
}

/* Calls go first, block by block of a chunk. */
typedef struct block_prelude {
  lgt_prelude prelude;
  const lgt_loop_work *work;
  char *memory; /* for their results */
} block_prelude;

static lgt_status run_variant(const lgt_call_work *call, const lgt_tile *tile, int64_t lo, int64_t hi) {
  const lgt_kind *kind = call->kind;
  if (kind->own) return kind->own(tile, kind->nargs, call->param, lo, hi);
  lgt_work work = {
      .size = sizeof work, .tiles = tile, .params = call->param, .nargs = kind->nargs, .lo = lo, .hi = hi};
  return kind->variant[LGT_VARIANT_CPU](kind->context[LGT_VARIANT_CPU], &work);
}

static lgt_status run_call(const lgt_call_work *call, const lgt_tile *tile, int64_t lo, int64_t hi) {
  if (call->skip) return LGT_OK;
  lgt_scratch_serve(call->pool);
  lgt_status status = run_variant(call, tile, lo, hi);
  if (!status) return LGT_OK;
  if (status != LGT_NO_MEMORY) lgt_err_within(status, "task '%s'", call->kind->name);
  return call->where ? lgt_err(status, "%s (in a task launched at %s)", lgt_message(), call->where) : status;
}

static lgt_status run_block(lgt_prelude *prelude, lgt_base *base, int64_t lo, int64_t hi) {
  const block_prelude *p = (block_prelude *)prelude;
  const lgt_loop_work *w = p->work;
  lgt_status status = LGT_OK;
  for (int i = 0; i < w->plan->nnative && !status; i++) {
    const lgt_call_work *call = &w->call[i];
    lgt_tile tile[LGT_MAX_ARGS];
    memcpy(tile, call->tile, (size_t)call->kind->nargs * sizeof *tile);
    if (w->plan->native[i].access[0].slot == LGT_NONE) /* where row 0 would be */
      tile[0].data =
          (void *)((uintptr_t)(p->memory + w->plan->native[i].block) - (uintptr_t)(lo * tile[0].stride[0]));
    status = run_call(call, tile, lo, hi);
  }
  for (int a = 0; a < w->nest.loop->naccess; a++)
    if (lgt_access_is_block(w->plan, a)) base[a].address = p->memory + w->plan->access[a].byte;
  return status;
}

/* What runs a chunk. */
static lgt_kernel_fn code_of(const lgt_loop_work *w) {
  lgt_kernel_form form = w->plan->stream ? LGT_KERNEL_STREAM : LGT_KERNEL_PLAIN;
  lgt_kernel_fn code = lgt_kernel_code(w->kernel, form);
  const lgt_nest_shape *shape = w->nest.shape;
  if (code || shape->nchunk == 0) return code;
  return lgt_kernel_missing(w->kernel, form, shape->size / shape->nchunk, shape->size);
}

static lgt_status loop_run(lgt_step *step, int chunk) {
  lgt_loop_work *w = loop_of(step, chunk);
  chunk -= w->chunk;
  lgt_kernel_fn code = code_of(w);
  if (!w->plan->nnative) return lgt_nest_run(&w->nest, code, chunk, NULL);
  block_prelude p = {{run_block}, w, lgt_mem_alloc((size_t)w->plan->block_bytes)};
  if (!p.memory)
    return lgt_err(LGT_NO_MEMORY, "out of memory for a block of %lld bytes", (long long)w->plan->block_bytes);
  lgt_status status = lgt_nest_run(&w->nest, code, chunk, &p.prelude);
  lgt_mem_free(p.memory);
  return status;
}

/* The chunks' bytes add up to the step's. */
static void describe(int64_t bytes, int chunk, int64_t n, char *text, size_t room) {
  bytes = bytes / n + (chunk < bytes % n);
  snprintf(text, room, ",\"bytes\":%lld", (long long)bytes);
}
static void loop_describe(const lgt_step *step, int chunk, char *text, size_t room) {
  const lgt_loop_work *w = loop_of(step, chunk);
  describe(w->bytes, chunk - w->chunk, w->nest.shape->nchunk, text, room);
}

/* Where the n-th chunk begins: the kernels of a BLAS take so many rows at once, and others one by one. */
static int64_t chunk_begin(int64_t rows, int n, int nchunk) {
  if (n == nchunk) return rows;
  return (rows * n / nchunk + BLAS_UNIT / 2) / BLAS_UNIT * BLAS_UNIT;
}

static lgt_status call_run(lgt_step *step, int chunk) {
  const lgt_call_work *call = step->data;
  int64_t rows = call->tile[0].ndim ? call->tile[0].extent[0] : 1;
  int64_t lo = chunk_begin(rows, chunk, step->nchunk), hi = chunk_begin(rows, chunk + 1, step->nchunk);
  lgt_status status = LGT_OK;
  for (int i = 0; i < call->count && !status; i++) status = run_call(&call[i], call[i].tile, lo, hi);
  return status;
}
static void call_describe(const lgt_step *step, int chunk, char *text, size_t room) {
  const lgt_call_work *call = step->data;
  if (call->bytes) describe(call->bytes, chunk, step->nchunk, text, room);
}

void lgt_work_add_loop(lgt_job *job, lgt_loop_work *work) {
  const lgt_nest_shape *shape = work->nest.shape;
  work->count = 1;
  job->task.step[job->task.nstep++] = (lgt_step){shape->nchunk, shape->partial ? loops_begin : NULL,
                                                 loop_run,      shape->partial ? loops_end : NULL,
                                                 loop_describe, work};
}

void lgt_work_join(lgt_job *job, lgt_loop_work *work) {
  lgt_step *step = &job->task.step[job->task.nstep - 1];
  ((lgt_loop_work *)step->data)->count++;
  work->count = 0;
  work->chunk = step->nchunk;
  step->nchunk += work->nest.shape->nchunk;
  if (!work->nest.shape->partial) return;
  step->begin = loops_begin;
  step->end = loops_end;
}

const lgt_loop_work *lgt_work_loops(const lgt_step *step) {
  return step->run == loop_run ? step->data : NULL;
}

void lgt_work_add_calls(lgt_job *job, lgt_call_work *call, int chunks) {
  lgt_job_step(job, chunks, call_run, call);
  job->task.step[job->task.nstep - 1].describe = call_describe;
}

/* ---- what has failed before ------------------------------------------------------------------------- */

/* What the group does to the n-th of the job's instances, which it writes: the slot from which that is poisoned. */
static uint16_t cause_of(const struct lgt_job_taint *p, const lgt_taint *taint, const void *inst) {
  uint16_t why = LGT_NONE;
  for (int pass = 0; pass < 2; pass++) /* a new slot may have the memory of a former one */
    for (int s = 0; s < p->group->nslot; s++)
      if (p->inst[s] == inst && p->group->slot[s].initial == (pass == 0)) why = lgt_taint_of_slot(taint, s);
  return why;
}

/* Why what is in a slot before the job has failed: the store's contents were known to, or those of its memory, which others
 * may share, have since; or a new one has no memory.  Nothing: it has not. */
static lgt_poison poison_of_slot(const lgt_job *job, int slot) {
  const lgt_failure *known = job->npoison ? job->poison[slot] : NULL;
  const lgt_instance *inst = job->taint->inst[slot];
  const lgt_poison *found = inst ? lgt_task_poison(&job->task, inst) : NULL;
  if (!job->taint->group->slot[slot].initial && !known) return (lgt_poison){0};
  if (known && (!found || known->position <= found->position))
    return (lgt_poison){known->status, known->position, known->message};
  return found ? *found : (lgt_poison){0};
}

/* Nobody knows: all of it. */
static void poison_all(lgt_task *task, const struct lgt_job_taint *p) {
  lgt_poison first = {0};
  for (int s = 0; s < p->group->nslot; s++) {
    lgt_poison poison = poison_of_slot((lgt_job *)task, s);
    if (poison.status && (!first.status || poison.position < first.position)) first = poison;
  }
  if (first.message) first.message = lgt_mem_strdup(first.message); /* it may be that of one of these */
  for (int i = 0; i < task->nthing; i++) lgt_task_set_poison(task, i, &first);
  lgt_mem_free(first.message);
  for (int i = 0; i < p->ncall; i++) p->call[i].skip = true;
}

/* What has failed before the job, by slot, and what depends on that; false when out of memory. */
static bool find_taint(const lgt_job *job, lgt_poison *before, lgt_taint *taint) {
  const lgt_plan_group *group = job->taint->group;
  int64_t *position = lgt_mem_alloc(((size_t)group->nslot + 1) * sizeof *position);
  for (int s = 0; position && s < group->nslot; s++) {
    before[s] = poison_of_slot(job, s);
    position[s] = before[s].status ? before[s].position : LGT_TAINT_NONE;
  }
  bool good = position && lgt_taint_find(taint, group, position);
  lgt_mem_free(position);
  return good;
}

bool lgt_work_taint(const lgt_job *job, lgt_taint *out) {
  if (!job->task.poison || !job->taint) return false;
  lgt_poison *before = lgt_mem_alloc(((size_t)job->taint->group->nslot + 1) * sizeof *before);
  bool good = before && find_taint(job, before, out);
  lgt_mem_free(before);
  return good;
}

bool lgt_work_in_vain(const lgt_taint *taint, const lgt_loop_work *work) {
  const lgt_weave_items *items = taint->group->items;
  bool any = false;
  for (int i = 0; i < items->nitem; i++) {
    if (items->item[i].loop != work->plan->woven) continue;
    if (taint->item[i] == LGT_NONE) return false;
    any = true;
  }
  return any;
}

void lgt_work_poison_results(lgt_task *task) {
  const lgt_job *job = (lgt_job *)task;
  const struct lgt_job_taint *p = job->taint;
  lgt_taint taint = {0};
  lgt_poison *before = lgt_mem_alloc(((size_t)p->group->nslot + 1) * sizeof *before);
  uint16_t *cause = lgt_mem_alloc(((size_t)task->nthing + 1) * sizeof *cause);
  bool good = before && cause && find_taint(job, before, &taint);
  for (int i = 0; good && i < p->ncall; i++) p->call[i].skip = taint.item[p->call[i].item] != LGT_NONE;
  for (int i = job->nread; good && i < task->nthing; i++) cause[i] = cause_of(p, &taint, task->thing[i]);
  /* What is written loses its own former poison at last: others may have it from there. */
  lgt_poison *former = good ? lgt_mem_alloc((size_t)task->nthing * sizeof *former) : NULL;
  if (former) memcpy(former, task->poison, (size_t)task->nthing * sizeof *former);
  for (int i = job->nread; former && i < task->nthing; i++) {
    task->poison[i] = (lgt_poison){0};
    if (cause[i] != LGT_NONE) lgt_task_set_poison(task, i, &before[cause[i]]);
  }
  for (int i = job->nread; former && i < task->nthing; i++) lgt_mem_free(former[i].message);
  if (!former) poison_all(task, p);
  lgt_mem_free(former);
  lgt_mem_free(cause);
  lgt_mem_free(before);
  lgt_taint_fini(&taint);
}
