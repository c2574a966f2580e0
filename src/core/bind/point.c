/* point.c - from a bound group to its tasks.  See point.h and bind.h.
 *
 * A task's steps are the group's loops, as kernels over a nest with base addresses, and its calls of C.
 * Tasks that are small and wait for nothing run at once, here, and never enter the list of those in flight.
 */
#include "bind/point.h"

#include <stdio.h>
#include <string.h>

#include "bind/fold.h"
#include "move/image.h"
#include "bind/shuffle.h"
#include "move/offload.h"
#include "plan/taint.h"

enum { CPU_ROWS = 64, CPU_MANY_CHUNKS = 16, CPU_MAX_CHUNKS = 64, CPU_BYTES = 1 << 14 };
enum { BLAS_ROWS = 96, BLAS_FEW_CHUNKS = 8, BLAS_MANY_ROWS = 256, BLAS_UNIT = 8 };
enum { FEW_BYTES = 4096, UNKNOWN_COST = 1 << 30 };

typedef struct call_work {
  const lgt_kind *kind;
  lgt_tile *tile; /* one for each argument */
  const lgt_scalar *param;
  const char *where; /* source line, or NULL */
  int count;         /* calls that are a step together: this is the first of so many; with a kernel: 0 */
  int64_t bytes;     /* that these read and write; 0: unknown */
  lgt_pool *pool;    /* borrowed: scratch memory comes from there */
  uint16_t item;     /* of the group */
  bool skip;         /* what it reads has failed */
} call_work;

/* What a step's `data` points to: a loop with the calls that go before its blocks, or the first of calls alone. */
typedef struct loop_work {
  lgt_nest nest;
  lgt_kernel *kernel;
  const lgt_plan_loop *plan;
  call_work *call;
  int64_t bytes; /* that all its chunks read and write */
} loop_work;

/* The memory of a job that is being built: what is not used yet. */
typedef struct job_memory {
  lgt_job *job;
  loop_work *loop;
  call_work *call;
  lgt_base *base;
  lgt_scalar *param;
  lgt_tile *tile;
} job_memory;

/* What finding the taint of a job of several calls takes. */
struct lgt_job_taint {
  const lgt_plan_group *group;
  lgt_instance **inst; /* borrowed; by slot */
  call_work *call;     /* all calls of C */
  int ncall;
};

static lgt_status no_memory(void) { return lgt_err(LGT_NO_MEMORY, "out of memory while launching a task"); }

/* ---- steps ------------------------------------------------------------------------------------------ */

static lgt_status loop_begin(lgt_step *step) { return lgt_nest_begin(&((loop_work *)step->data)->nest); }
static void loop_end(lgt_step *step) { lgt_nest_end(&((loop_work *)step->data)->nest); }

/* Calls go first, block by block of a chunk. */
typedef struct block_prelude {
  lgt_prelude prelude;
  const loop_work *work;
  char *memory; /* for their results */
} block_prelude;

static lgt_status run_variant(const call_work *call, const lgt_tile *tile, int64_t lo, int64_t hi) {
  const lgt_kind *kind = call->kind;
  if (kind->own) return kind->own(tile, kind->nargs, call->param, lo, hi);
  lgt_work work = {
      .size = sizeof work, .tiles = tile, .params = call->param, .nargs = kind->nargs, .lo = lo, .hi = hi};
  return kind->variant[LGT_VARIANT_CPU](kind->context[LGT_VARIANT_CPU], &work);
}

static lgt_status run_call(const call_work *call, const lgt_tile *tile, int64_t lo, int64_t hi) {
  if (call->skip) return LGT_OK;
  lgt_scratch_serve(call->pool);
  lgt_status status = run_variant(call, tile, lo, hi);
  if (!status) return LGT_OK;
  if (status != LGT_NO_MEMORY) lgt_err_within(status, "task '%s'", call->kind->name);
  return call->where ? lgt_err(status, "%s (in a task launched at %s)", lgt_message(), call->where) : status;
}

static lgt_status run_block(lgt_prelude *prelude, lgt_base *base, int64_t lo, int64_t hi) {
  const block_prelude *p = (block_prelude *)prelude;
  const loop_work *w = p->work;
  lgt_status status = LGT_OK;
  for (int i = 0; i < w->plan->nnative && !status; i++) {
    const call_work *call = &w->call[i];
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

static lgt_status loop_run(lgt_step *step, int chunk) {
  loop_work *w = step->data;
  lgt_kernel_fn code =
      w->plan->stream ? atomic_load_explicit(&w->kernel->stream, memory_order_acquire) : NULL;
  if (!code) code = lgt_kernel_code(w->kernel);
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
  describe(((loop_work *)step->data)->bytes, chunk, step->nchunk, text, room);
}

/* Where the n-th chunk begins: the kernels of a BLAS take so many rows at once, and others one by one. */
static int64_t chunk_begin(int64_t rows, int n, int nchunk) {
  if (n == nchunk) return rows;
  return (rows * n / nchunk + BLAS_UNIT / 2) / BLAS_UNIT * BLAS_UNIT;
}

static lgt_status call_run(lgt_step *step, int chunk) {
  const call_work *call = step->data;
  int64_t rows = call->tile[0].ndim ? call->tile[0].extent[0] : 1;
  int64_t lo = chunk_begin(rows, chunk, step->nchunk), hi = chunk_begin(rows, chunk + 1, step->nchunk);
  lgt_status status = LGT_OK;
  for (int i = 0; i < call->count && !status; i++) status = run_call(&call[i], call[i].tile, lo, hi);
  return status;
}
static void call_describe(const lgt_step *step, int chunk, char *text, size_t room) {
  const call_work *call = step->data;
  if (call->bytes) describe(call->bytes, chunk, step->nchunk, text, room);
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

static void poison_results(lgt_task *task) {
  const lgt_job *job = (lgt_job *)task;
  const struct lgt_job_taint *p = job->taint;
  lgt_taint taint = {0};
  int64_t *position = lgt_mem_alloc(((size_t)p->group->nslot + 1) * sizeof *position);
  lgt_poison *before = lgt_mem_alloc(((size_t)p->group->nslot + 1) * sizeof *before);
  uint16_t *cause = lgt_mem_alloc(((size_t)task->nthing + 1) * sizeof *cause);
  for (int s = 0; position && before && s < p->group->nslot; s++) {
    before[s] = poison_of_slot(job, s);
    position[s] = before[s].status ? before[s].position : LGT_TAINT_NONE;
  }
  bool good = position && before && cause && lgt_taint_find(&taint, p->group, position);
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
  lgt_mem_free(position);
  lgt_taint_fini(&taint);
}

/* ---- the profile ------------------------------------------------------------------------------------ */

/* What the profile calls a group: its first operations, without their element types.  Made once, since many
 * of its chunks will want it. */
static const char *group_name(const lgt_plan_group *group) {
  enum { SHOWN = 5, ROOM = 200 };
  char *text = group->notes->name;
  if (text || !(text = group->notes->name = lgt_mem_zalloc(ROOM))) return text;
  int at = 0;
  for (int i = 0; i < group->count && i < SHOWN && at < ROOM - 1; i++) {
    const char *name = group->plan->call[group->first + i].kind->name;
    at += snprintf(text + at, (size_t)(ROOM - at), "%s%.*s", i ? ", " : "", (int)strcspn(name, ":>"), name);
  }
  if (group->count > SHOWN && at < ROOM - 1)
    snprintf(text + at, (size_t)(ROOM - at), " ... (%d)", group->count);
  return text;
}

void lgt_point_label(const lgt_binder *binder, lgt_job *job, const lgt_bound *bound, const char *category) {
  if (!binder->profile) return;
  job->task.label = (lgt_label){.category = category,
                                .name = group_name(lgt_plan_group_lasting(bound->group)),
                                .line = bound->where,
                                .last = bound->last,
                                .operations = bound->group->count,
                                .verb = *category == 'f' ? "fold " : NULL};
}

/* ---- nests and addresses ---------------------------------------------------------------------------- */

/* The nest of one loop for one colour when instances are tiles. */
static lgt_status tile_nest(lgt_binder *binder, const lgt_bound *bound, const lgt_plan_loop *loop, int colour,
                            lgt_instance **inst, lgt_nest_shape *shape, lgt_base *base) {
  const lgt_loop *code = loop->kernel->loop;
  lgt_rect tile = lgt_group_tile(bound->group, loop, colour);
  *shape = (lgt_nest_shape){.ndim = loop->ndim};
  shape->stride = lgt_mem_zalloc(((size_t)code->naccess + 1) * LGT_MAX_DIM * sizeof *shape->stride);
  if (!shape->stride) return no_memory();
  for (int d = 0; d < loop->ndim; d++) shape->extent[d] = tile.hi[loop->dim[d]] - tile.lo[loop->dim[d]];
  for (int a = 0; a < code->naccess; a++) {
    const lgt_plan_access *access = &loop->access[a];
    int64_t space_stride[LGT_MAX_DIM] = {0}, *stride = &shape->stride[a * LGT_MAX_DIM];
    if (code->access[a].mode == LGT_ACCESS_INDEX) {
      base[a].index = 0;
      for (int d = 0; d < loop->space_ndim; d++) base[a].index += access->stride[d] * tile.lo[d];
      for (int d = 0; d < loop->ndim; d++) stride[d] = access->stride[loop->dim[d]];
      continue;
    }
    if (access->slot == LGT_NONE) { /* of the block */
      int64_t size = lgt_dtype_size(lgt_layout_at(binder->stores, access->layout)->dtype);
      for (int d = 0; d < loop->ndim; d++) stride[d] = access->stride[loop->dim[d]] * size;
      continue;
    }
    lgt_tile t;
    lgt_alignment align = lgt_group_align(bound->group, access);
    lgt_instance_tile(lgt_layout_at(binder->stores, access->layout), &align, &tile, inst[access->slot], &t,
                      space_stride);
    base[a].address = (char *)t.data + access->byte;
    for (int d = 0; d < loop->ndim; d++) stride[d] = space_stride[loop->dim[d]];
  }
  lgt_nest_shape_finish(
      code, shape, lgt_exec_cpus(binder->exec), loop->nnative > 0,
      lgt_plan_native_bytes(loop->native, loop->nnative, loop->bytes / loop->launch->ncolour));
  return LGT_OK;
}

/* Does every address of the nest lie within its slot?  Bad bookkeeping is a bug of lgt. */
static void check_nest(const lgt_nest *nest, const lgt_plan_loop *loop, lgt_instance **inst) {
  for (int a = 0; a < nest->loop->naccess; a++) {
    if (loop->access[a].slot == LGT_NONE || nest->shape->size == 0) continue;
    const lgt_instance *i = inst[loop->access[a].slot];
    const char *lo = nest->base[a].address, *hi = lo + lgt_dtype_size(nest->loop->access[a].dtype);
    for (int d = 0; d < nest->shape->ndim; d++) {
      int64_t reach = (nest->shape->extent[d] - 1) * nest->shape->stride[a * LGT_MAX_DIM + d];
      if (reach < 0) lo += reach;
      else hi += reach;
    }
    int64_t bytes = i->elem * lgt_rect_size(&i->rect);
    lgt_assert(lo >= i->data && hi <= i->data + bytes);
  }
}

static void collect_params(const lgt_bound *bound, const lgt_plan_loop *loop, lgt_scalar *out) {
  for (int p = 0; p < loop->kernel->loop->nparam; p++)
    out[p] =
        bound->param[(loop->param_call[p] - bound->group->first) * LGT_MAX_PARAMS + loop->param_index[p]];
}

/* ---- one colour ------------------------------------------------------------------------------------- */

/* The job of one colour, with room for all its steps. */
static bool make_job(lgt_binder *binder, const lgt_plan_group *group, bool here, job_memory *out) {
  bool apart = !here && group->count > 1;
  size_t n = (size_t)group->nloop, accesses = (size_t)group->naccess, calls = (size_t)group->nnative,
         tiles = (size_t)group->nnative_arg, params = (size_t)group->nparam + calls * LGT_MAX_PARAMS,
         slots = (size_t)group->nslot;
  size_t extra = apart ? sizeof *out->job->taint + slots * sizeof(lgt_instance *) : 0;
  if (!here) extra += slots;
  void *memory;
  out->job = lgt_job_new(binder,
                         (lgt_job_size){.steps = group->nloop,
                                        .shapes = lgt_map_whole(binder->map) ? 0 : group->nloop,
                                        .instances = group->nslot,
                                        .bytes = extra + params * sizeof *out->param + n * sizeof *out->loop +
                                                 calls * sizeof *out->call + accesses * sizeof *out->base +
                                                 tiles * sizeof *out->tile},
                         here, &memory);
  if (!out->job) return false;
  out->param = memory;
  out->loop = (loop_work *)(out->param + params);
  out->call = (call_work *)(out->loop + n);
  out->base = (lgt_base *)(out->call + calls);
  out->tile = (lgt_tile *)(out->base + accesses);
  if (here) return true;
  char *rest = (char *)(out->tile + tiles);
  if (apart) {
    out->job->taint = (struct lgt_job_taint *)rest;
    *out->job->taint =
        (struct lgt_job_taint){group, (lgt_instance **)(out->job->taint + 1), out->call, group->nnative};
    out->job->task.poison_results = poison_results;
    rest += extra - slots;
  }
  out->job->extent = (uint8_t *)rest;
  return true;
}

/* Which indices of an argument count, if an inverse image says so. */
static void show_rows(const lgt_binder *binder, const lgt_plan_group *group, const lgt_plan_access *access,
                      int colour, lgt_job *job, lgt_tile *tile) {
  const lgt_touch *touch = lgt_touch_of(group, access);
  const lgt_image *image = touch ? lgt_touch_selected(binder, group, touch).image : NULL;
  if (!image || !image->rows) return;
  lgt_runs *rows =
      image->rows[lgt_partition_domain(group->launch, binder->map->domains, colour) - binder->map->first];
  tile->rows = (const int64_t(*)[2])rows->run;
  tile->nrows = rows->count;
  job->rows[job->nrows++] = lgt_runs_retain(rows);
}

/* The call of a variant; what it leaves in a block has no instance. */
static void add_call(lgt_binder *binder, const lgt_bound *bound, const lgt_plan_loop *loop,
                     const lgt_plan_native *native, int colour, lgt_instance **inst, job_memory *m) {
  lgt_rect space = lgt_group_tile(bound->group, loop, colour);
  call_work *call = m->call++;
  const char *where = m->job->here ? NULL : bound->where; /* the group fails at once, and says it */
  *call = (call_work){native->kind,           m->tile, m->param, where, 0, 0, binder->map->pool,
                      native->access[0].item, false};
  m->tile += native->kind->nargs;
  m->param += LGT_MAX_PARAMS;
  memcpy((lgt_scalar *)call->param, bound->param + (native->call - bound->group->first) * LGT_MAX_PARAMS,
         LGT_MAX_PARAMS * sizeof *call->param);
  for (int a = 0; a < native->kind->nargs; a++) {
    const lgt_plan_access *access = &native->access[a];
    const lgt_layout *layout = lgt_layout_at(binder->stores, access->layout);
    lgt_tile *tile = &call->tile[a];
    if (access->slot == LGT_NONE) {
      *tile = (lgt_tile){.ndim = 1, .dtype = layout->dtype};
      tile->extent[0] = space.hi[0] - space.lo[0];
      tile->origin[0] = space.lo[0];
      tile->stride[0] = lgt_dtype_size(layout->dtype);
      continue;
    }
    lgt_alignment align = lgt_group_align(bound->group, access);
    lgt_instance_tile(layout, &align, &space, inst[access->slot], tile, NULL);
    show_rows(binder, bound->group, access, colour, m->job, tile);
  }
}

/* What a loop costs, in bytes or so.  Nobody knows how long a call of C takes for its arguments, but for small ones lgt's
 * own take less than handing them to another thread does. */
static int64_t cost_of(const lgt_binder *binder, const lgt_plan_loop *loop) {
  if (loop->bytes || loop->kernel) return loop->bytes;
  int64_t bytes = 0;
  for (int i = 0; i < loop->nnative; i++) {
    if (!loop->native[i].kind->own) return UNKNOWN_COST;
    for (int a = 0; a < loop->native[i].kind->nargs; a++) {
      const lgt_layout *l = lgt_layout_at(binder->stores, loop->native[i].access[a].layout);
      bytes += lgt_layout_distinct(l) * lgt_dtype_size(l->dtype);
    }
  }
  return bytes <= FEW_BYTES ? bytes : UNKNOWN_COST;
}

/* A BLAS packs all of the other matrix for each chunk, which for 64 rows takes a fifth of the time.  An even number is for
 * two workers, the first eight are for more of them. */
static int64_t blas_chunks(int64_t rows) {
  int64_t chunks = rows / BLAS_ROWS, many = rows / BLAS_MANY_ROWS;
  if (chunks > BLAS_FEW_CHUNKS) chunks = many > BLAS_FEW_CHUNKS ? many : BLAS_FEW_CHUNKS;
  return chunks > 1 ? chunks & ~(int64_t)1 : chunks;
}

/* A step for calls without a kernel. */
static void add_alone(lgt_binder *binder, call_work *call, int count, int64_t bytes, job_memory *m) {
  int64_t rows = call->tile[0].ndim ? call->tile[0].extent[0] : 1;
  call->count = count;
  call->bytes = bytes;
  binder->moved += bytes;
  /* Cut by size alone: a BLAS rounds differently for other numbers of rows.  Where there are many chunks they have twice as
   * many rows. */
  int64_t chunks = rows / CPU_ROWS;
  if (chunks > CPU_MANY_CHUNKS) chunks = chunks / 2 > CPU_MANY_CHUNKS ? chunks / 2 : CPU_MANY_CHUNKS;
  if (call->kind->constraints && call->kind->constraints->varies) chunks = blas_chunks(rows);
  if (bytes && chunks > bytes / CPU_BYTES) chunks = bytes / CPU_BYTES;
  chunks = chunks < 1 ? 1 : chunks > CPU_MAX_CHUNKS ? CPU_MAX_CHUNKS : chunks;
  lgt_job_step(m->job, (int)chunks, call_run, call);
  m->job->task.step[m->job->task.nstep - 1].describe = call_describe;
}

int lgt_bound_lacks(const lgt_bound *bound, const lgt_plan_loop *loop) {
  if (!bound->lacks) return -1;
  for (int a = 0; loop->kernel && a < loop->kernel->loop->naccess; a++)
    if (loop->access[a].slot != LGT_NONE && bound->lacks[loop->access[a].slot]) return loop->access[a].slot;
  for (int i = 0; i < loop->nnative; i++)
    for (int a = 0; a < loop->native[i].kind->nargs; a++) {
      uint16_t slot = loop->native[i].access[a].slot;
      if (slot != LGT_NONE && bound->lacks[slot]) return slot;
    }
  return -1;
}

static lgt_status add_loop(lgt_binder *binder, const lgt_bound *bound, int l, int colour, lgt_instance **inst,
                           job_memory *m) {
  const lgt_plan_loop *loop = &bound->group->loop[l];
  call_work *call = m->call;
  int64_t bytes = lgt_map_whole(binder->map) ? loop->bytes : loop->bytes / loop->launch->ncolour;
  if (bound->group->mixed) {
    lgt_rect tile = lgt_group_tile(bound->group, loop, colour);
    if (lgt_rect_empty(&tile)) return LGT_OK; /* others have its work */
  }
  if (lgt_bound_lacks(bound, loop) >= 0) return LGT_OK;
  for (int i = 0; i < loop->nnative; i++) add_call(binder, bound, loop, &loop->native[i], colour, inst, m);
  if (!loop->kernel) {
    m->job->task.cost += bytes ? bytes : cost_of(binder, loop);
    add_alone(binder, call, loop->nnative, bytes, m);
    return LGT_OK;
  }
  const lgt_loop *code = loop->kernel->loop;
  const lgt_nest_shape *shape = &loop->shape;
  lgt_base *base = m->base;
  if (!lgt_map_whole(binder->map)) {
    lgt_status status = tile_nest(binder, bound, loop, colour, inst, &m->job->shape[m->job->nshape], base);
    if (status) return status;
    shape = &m->job->shape[m->job->nshape++];
  } else {
    for (int a = 0; a < code->naccess; a++) {
      base[a] = loop->base[a];
      if (loop->access[a].slot != LGT_NONE)
        base[a].address = inst[loop->access[a].slot]->data + loop->base[a].index;
    }
  }
  collect_params(bound, loop, m->param);
  loop_work *w = m->loop++;
  *w = (loop_work){{code, shape, base, m->param, NULL}, loop->kernel, loop, call, bytes};
  m->base += code->naccess;
  m->param += code->nparam;
  if (binder->check) check_nest(&w->nest, loop, inst);
  m->job->task.step[m->job->task.nstep++] = (lgt_step){shape->nchunk, shape->partial ? loop_begin : NULL,
                                                       loop_run,      shape->partial ? loop_end : NULL,
                                                       loop_describe, w};
  m->job->task.cost += bytes;
  binder->moved += bytes;
  return LGT_OK;
}

static bool is_written(const lgt_plan_group *group, int slot) {
  return group->slot[slot].written || !group->slot[slot].initial;
}

/* The instances of one colour's job, each once, those first that are read and not written: one of them may have several
 * parts of a root. */
static void list_touched(lgt_binder *binder, const lgt_plan_group *group, lgt_instance **inst, lgt_job *job) {
  uint32_t written = ++binder->stamp, listed = ++binder->stamp;
  bool together = lgt_map_whole(binder->map) &&
                  !group->split; /* with what it does not write: it passes former failures on */
  for (int s = 0; s < group->nslot; s++)
    if (inst[s] && is_written(group, s)) inst[s]->stamp = written;
  for (int pass = 0; pass < 2; pass++) {
    for (int s = 0; s < group->nslot; s++) {
      if (!inst[s] || inst[s]->stamp == listed || (inst[s]->stamp == written) != (pass == 1)) continue;
      inst[s]->stamp = listed;
      bool whole = group->slot[s].initial && group->slot[s].defined && !group->split;
      job->extent[job->ntouched] = whole ? LGT_OVERWRITTEN : together ? LGT_RENEWED : LGT_WRITTEN_IN_PART;
      job->touched[job->ntouched++] = inst[s];
    }
    if (pass == 0) job->nread = job->ntouched;
  }
}

static bool quiet(const lgt_instance *inst, bool write) { return !inst->writer && !(write && inst->nreader); }

/* May this job run at once, on this thread? */
static bool runs_here(const lgt_binder *binder, const lgt_plan_group *group, lgt_instance **inst) {
  int64_t cost = 0;
  if (!lgt_map_whole(binder->map) || group->nloop == 0) return false;
  for (int l = 0; l < group->nloop; l++) cost += cost_of(binder, &group->loop[l]);
  if (!lgt_exec_here(cost)) return false;
  for (int s = 0; s < group->nslot; s++)
    if (inst[s] && (!lgt_instance_on_host(inst[s]) || !quiet(inst[s], is_written(group, s)))) return false;
  return true;
}

/* What is known to have failed: of stores, which may share instances with others that have not. */
static lgt_status note_poison(const lgt_bound *bound, lgt_job *job) {
  int n = bound->group->nslot;
  job->task.nthing = job->ntouched;
  job->poison = lgt_mem_alloc(((size_t)n + 1) * sizeof *job->poison);
  if (!job->poison || !lgt_task_expect_poison(&job->task)) return no_memory();
  for (; job->npoison < n; job->npoison++) {
    lgt_failure *failure = bound->poison[job->npoison];
    job->poison[job->npoison] = failure ? lgt_failure_retain(failure) : NULL;
  }
  return LGT_OK;
}

/* What a device runs for a loop. */
static lgt_code code_on(const lgt_device *device, const loop_work *w) {
  if (!device->target) return (lgt_code){LGT_CLASS_HOST, (void *)lgt_kernel_code(w->kernel)};
  return (lgt_code){device->class, lgt_kernel_code_on(w->kernel, device->target)};
}

/* The loops of a task, one behind the other in a queue. */
static lgt_status post_loops(lgt_job *job, const lgt_device *device, lgt_queue *queue) {
  lgt_status status = LGT_OK;
  for (int s = 0; s < job->task.nstep && !status; s++) {
    loop_work *w = job->task.step[s].data;
    status = device->launch(queue, code_on(device, w), &w->nest);
  }
  return status;
}

/* The memory in which a task's instances are, if that is a device's; else NULL. */
static lgt_memory *place_of(const lgt_plan_group *group, lgt_instance *const *inst) {
  for (int s = 0; s < group->nslot; s++)
    if (inst[s] && !lgt_instance_on_host(inst[s])) return inst[s]->memory;
  return NULL;
}

static lgt_status point_task(lgt_binder *binder, const lgt_bound *bound, int colour, lgt_instance **inst) {
  const lgt_plan_group *group = bound->group;
  bool here = !bound->poison && runs_here(binder, group, inst);
  job_memory m;
  if (!make_job(binder, group, here, &m)) return LGT_NO_MEMORY;
  m.job->plan = lgt_plan_retain(group->plan);
  m.job->task.fallible = bound->fallible;
  m.job->native = group->nnative > 0;
  lgt_status status = LGT_OK;
  for (int l = 0; l < group->nloop && !status; l++) status = add_loop(binder, bound, l, colour, inst, &m);
  if (!status && !here) list_touched(binder, group, inst, m.job);
  if (!status && bound->poison) status = note_poison(bound, m.job);
  lgt_memory *place = binder->map->nmemory > 1 ? place_of(group, inst) : NULL;
  if (place) lgt_offload_job(binder, m.job, place, post_loops), m.job->task.fallible = true;
  if (status) {
    lgt_job_free(m.job);
    return status;
  }
  if (m.job->taint) memcpy(m.job->taint->inst, inst, (size_t)group->nslot * sizeof *inst);
  binder->tasks++;
  binder->passes += group->nloop;
  lgt_point_label(binder, m.job, bound, "kernel");
  return lgt_job_submit(binder, m.job);
}

/* ---- all colours ------------------------------------------------------------------------------------ */

/* This rank's colours, with the domains that work on them. */
static lgt_point *list_points(lgt_binder *binder, const lgt_partition *launch, int *count) {
  int n = 0;
  for (int d = 0; d < binder->map->local; d++)
    for (int c = -1; (c = lgt_binder_next(binder, launch, d, c)) >= 0;) n++;
  lgt_point *out = lgt_arena_alloc(&binder->arena, ((size_t)n + 1) * sizeof *out);
  *count = 0;
  for (int d = 0; out && d < binder->map->local; d++)
    for (int c = -1; (c = lgt_binder_next(binder, launch, d, c)) >= 0;) {
      lgt_rect tile = lgt_partition_rect(launch, c);
      if (!lgt_rect_empty(&tile)) out[(*count)++] = (lgt_point){c, d};
    }
  return out;
}

/* The task of a colour that a device works on.  What is elsewhere it has as copies: numbers, which exist once on a rank, and
 * what it reduces into, which comes back. */
static lgt_status point_away(lgt_binder *binder, const lgt_bound *bound, const lgt_point *point,
                             lgt_instance **inst) {
  int n = bound->group->nslot;
  lgt_memory *home = lgt_map_home(binder->map, point->domain);
  lgt_instance **own = lgt_arena_alloc(&binder->arena, ((size_t)n + 1) * sizeof *own);
  lgt_status status = own ? LGT_OK : no_memory();
  if (status) return status;
  memcpy(own, inst, (size_t)n * sizeof *own);
  for (int s = 0; s < n && !status; s++) {
    if (!inst[s] || inst[s]->memory == home) continue;
    const lgt_layout *root = lgt_layout_at(binder->stores, bound->group->slot[s].layout);
    own[s] = lgt_instance_in(binder->map, home, point->domain, root, &inst[s]->rect);
    if (!own[s]) {
      own[s] = inst[s];
      status = no_memory();
    } else {
      status = lgt_copy_submit(binder, &(lgt_copy){inst[s], own[s], inst[s]->rect, -1, -1, NULL, 0}, 1);
    }
  }
  if (!status) status = point_task(binder, bound, point->colour, own);
  for (int s = 0; s < n; s++) {
    if (own[s] == inst[s]) continue;
    if (!status && bound->fold[s])
      status = lgt_copy_submit(binder, &(lgt_copy){own[s], inst[s], inst[s]->rect, -1, -1, NULL, 0}, 1);
    lgt_instance_release(binder->map, own[s]);
  }
  return status;
}

static lgt_status point_tasks(lgt_binder *binder, const lgt_bound *bound, const lgt_point *point, int npoint,
                              lgt_instance **private) {
  int n = bound->group->nslot;
  lgt_status status = LGT_OK;
  lgt_instance **inst = lgt_arena_alloc(&binder->arena, ((size_t)n + 1) * sizeof *inst);
  if (!inst) return no_memory();
  for (int i = 0; i < npoint && !status; i++) {
    status = lgt_fold_private(binder, bound, &point[i], private + i * n);
    for (int s = 0; s < n; s++)
      inst[s] = bound->fold[s] ? private[i * n + s] : bound->inst[point[i].domain * n + s];
    if (!status && bound->away) status = point_away(binder, bound, &point[i], inst);
    else if (!status) status = point_task(binder, bound, point[i].colour, inst);
  }
  return status;
}

lgt_status lgt_bound_run(lgt_binder *binder, const lgt_bound *bound) {
  const lgt_plan_group *group = bound->group;
  int n = group->nslot, npoint, nfold;
  if (lgt_shuffle_is(group)) return lgt_shuffle_begin(binder, bound);
  if (group->launch->kind == LGT_PARTITION_NONE) return point_task(binder, bound, 0, bound->inst);
  lgt_point *point = list_points(binder, group->launch, &npoint);
  lgt_fold *fold = lgt_fold_list(binder, group, bound->fold, &nfold);
  lgt_instance **private =
      point ? lgt_arena_alloc(&binder->arena, ((size_t)npoint * (size_t)n + 1) * sizeof *private) : NULL;
  if (!fold || !private) { /* the other ranks do fold */
    if (binder->peers) binder->peers->abort(binder->peers, "out of memory while launching a task");
    return no_memory();
  }
  memset(private, 0, ((size_t)npoint * (size_t)n + 1) * sizeof *private);
  lgt_fold_begin(binder, group, fold, nfold);
  lgt_status status = point_tasks(binder, bound, point, npoint, private);
  status = lgt_fold_end(binder, bound, fold, nfold, point, npoint, private, status);
  for (int i = 0; i < npoint * n; i++) lgt_instance_release(binder->map, private[i]);
  return status;
}
