/* job.c - from a bound group to tasks in flight.  See job.h and bind.h.
 *
 * A job is one block of memory: the task, its steps, their nests with base addresses, and the list of
 * instances it holds.  Jobs that are small and wait for nothing run at once, here, and never enter
 * the list of those in flight.
 *
 * Several colours that reduce into the same elements each get a private instance; a last task folds
 * these in the order of the colours.  With several ranks it folds them into a buffer, whose contents all ranks then
 * combine, so that each has the result.
 */
#include "transfer.h"

#include <stdio.h>
#include <string.h>

#include "weave.h"

enum { CPU_ROWS = 64, CPU_MAX_CHUNKS = 64 };

typedef struct cpu_call {
  const lgt_kind *kind;
  lgt_tile *tile; /* one for each argument */
  const lgt_scalar *param;
  const char *where; /* source line, or NULL */
} cpu_call;

enum { TO, FROM, TO_AT, FROM_AT };

typedef struct fold_call {
  int redop, dtype, parts; /* parts: of an element, 2 for complex numbers, which fold part by part */
  bool fill;               /* the target becomes the identity; nothing is folded */
  bool pair;               /* with positions: TO_AT and FROM_AT count */
  lgt_tile *tile;          /* four */
} fold_call;

/* What a step's `data` points to. */
typedef union work {
  struct {
    lgt_nest nest;
    lgt_kernel *kernel;
    bool stream;
    int64_t bytes; /* that all its chunks read and write */
  } loop;
  cpu_call cpu;
  fold_call fold;
} work;

static lgt_status no_memory(void) { return lgt_err(LGT_NO_MEMORY, "out of memory while launching a task"); }

/* ---- steps ------------------------------------------------------------------------------------------ */

static lgt_status loop_begin(lgt_step *step) { return lgt_nest_begin(&((work *)step->data)->loop.nest); }
static void loop_end(lgt_step *step) { lgt_nest_end(&((work *)step->data)->loop.nest); }

static lgt_status loop_run(lgt_step *step, int chunk) {
  work *w = step->data;
  lgt_kernel_fn code =
      w->loop.stream ? atomic_load_explicit(&w->loop.kernel->stream, memory_order_acquire) : NULL;
  if (!code) code = lgt_kernel_code(w->loop.kernel);
  lgt_nest_run(&w->loop.nest, code, chunk);
  return LGT_OK;
}

/* The chunks' bytes add up to the loop's. */
static void loop_describe(const lgt_step *step, int chunk, char *text, size_t room) {
  int64_t bytes = ((work *)step->data)->loop.bytes, n = step->nchunk;
  bytes = bytes / n + (chunk < bytes % n);
  snprintf(text, room, ",\"bytes\":%lld", (long long)bytes);
}

static lgt_status cpu_run(lgt_step *step, int chunk) {
  cpu_call *call = &((work *)step->data)->cpu;
  int64_t rows = call->tile[0].ndim ? call->tile[0].extent[0] : 1;
  int64_t lo = rows * chunk / step->nchunk, hi = rows * (chunk + 1) / step->nchunk;
  lgt_status status = call->kind->cpu(call->tile, call->kind->nargs, call->param, lo, hi);
  if (!status) return LGT_OK;
  lgt_err_within(status, "task '%s'", call->kind->name);
  return call->where ? lgt_err(status, "%s (in a task launched at %s)", lgt_message(), call->where) : status;
}

/* Element by element of the target's view; run by run where all are contiguous along the last dimension. */
static lgt_status fold_run(lgt_step *step, int chunk) {
  fold_call *f = &((work *)step->data)->fold;
  const lgt_tile *to = &f->tile[TO];
  int64_t size = (int64_t)lgt_dtype_size(f->dtype) * f->parts, index[LGT_MAX_DIM] = {0};
  int n = 0, dim[LGT_MAX_DIM], ntile = f->pair ? 4 : 2;
  char *p[4] = {to->data, f->tile[FROM].data, f->tile[TO_AT].data, f->tile[FROM_AT].data};
  (void)chunk;
  for (int d = 0; d < to->ndim; d++) {
    if (to->stride[d] == 0) continue; /* the reduction's own dimensions */
    if (to->extent[d] <= 0) return LGT_OK;
    dim[n++] = d;
  }
  bool dense = n > 0;
  for (int t = 0; t < ntile && dense; t++)
    dense =
        (f->fill && t % 2) || f->tile[t].stride[dim[n - 1]] == (t < TO_AT ? size : (int64_t)sizeof(int64_t));
  int64_t run = dense ? to->extent[dim[--n]] : 1;
  for (;;) {
    if (f->fill) lgt_redop_fill(f->redop, f->dtype, p[TO], run * f->parts);
    else
      lgt_redop_fold(f->redop, f->dtype, p[TO], f->pair ? p[TO_AT] : NULL, p[FROM],
                     f->pair ? p[FROM_AT] : NULL, run * f->parts);
    for (int64_t i = 0; f->fill && f->pair && i < run; i++) ((int64_t *)p[TO_AT])[i] = INT64_MAX;
    int d = n - 1;
    for (; d >= 0; d--) {
      bool more = ++index[d] < to->extent[dim[d]];
      for (int t = 0; t < ntile; t++) p[t] += f->tile[t].stride[dim[d]] * (more ? 1 : 1 - to->extent[dim[d]]);
      if (more) break;
      index[d] = 0;
    }
    if (d < 0) return LGT_OK;
  }
}

/* ---- building ----------------------------------------------------------------------------------------- */

/* What a job is made of. */
typedef struct job_size {
  int steps, shapes, accesses, params, tiles, instances;
} job_size;

/* One block for all of it, from the arena when the job will run at once. */
typedef struct job_memory {
  lgt_job *job;
  work *work;
  lgt_base *base;
  lgt_scalar *param;
  lgt_tile *tile;
} job_memory;

static bool make_job(lgt_binder *binder, bool here, const job_size *n, job_memory *out) {
  size_t size = sizeof(lgt_job) + (size_t)n->steps * (sizeof(lgt_step) + sizeof(work)) +
                (size_t)n->shapes * sizeof(lgt_nest_shape) + (size_t)n->accesses * sizeof(lgt_base) +
                (size_t)n->params * sizeof(lgt_scalar) + (size_t)n->tiles * sizeof(lgt_tile) +
                (size_t)n->instances * sizeof(lgt_instance *) + 64;
  char *p = here ? lgt_arena_alloc(&binder->arena, size) : lgt_mem_alloc(size);
  if (!p) return false;
  lgt_job *job = (lgt_job *)p;
  memset(job, 0, sizeof *job);
  p += (sizeof *job + 15) / 16 * 16;
  out->job = job;
  out->param = (lgt_scalar *)p;
  p += (size_t)n->params * sizeof *out->param;
  out->work = (work *)p;
  p += (size_t)n->steps * sizeof *out->work;
  job->task.step = (lgt_step *)p;
  p += (size_t)n->steps * sizeof *job->task.step;
  job->shape = (lgt_nest_shape *)p;
  p += (size_t)n->shapes * sizeof *job->shape;
  out->base = (lgt_base *)p;
  p += (size_t)n->accesses * sizeof *out->base;
  out->tile = (lgt_tile *)p;
  p += (size_t)n->tiles * sizeof *out->tile;
  job->touched = (lgt_instance **)p;
  lgt_task_init(&job->task);
  return true;
}

static void free_job(lgt_job *job, bool here) {
  for (int i = 0; i < job->nshape; i++) lgt_mem_free(job->shape[i].stride);
  lgt_exec_forget(&job->task);
  if (!here) lgt_mem_free(job);
}

static void add_step(lgt_job *job, work *w, int nchunk, lgt_status (*run)(lgt_step *, int)) {
  job->task.step[job->task.nstep++] = (lgt_step){nchunk, NULL, run, NULL, NULL, w};
}

/* What the profile calls a group: its first operations, without their element types.  Made once, since many of its chunks will want it. */
static const char *group_name(lgt_plan_group *group) {
  enum { SHOWN = 5, ROOM = 200 };
  if (group->name || !(group->name = lgt_mem_zalloc(ROOM))) return group->name;
  int at = 0;
  for (int i = 0; i < group->count && i < SHOWN && at < ROOM - 1; i++) {
    const char *name = group->plan->call[group->first + i].kind->name;
    at += snprintf(group->name + at, (size_t)(ROOM - at), "%s%.*s", i ? ", " : "", (int)strcspn(name, ":>"),
                   name);
  }
  if (group->count > SHOWN && at < ROOM - 1)
    snprintf(group->name + at, (size_t)(ROOM - at), " ... (%d)", group->count);
  return group->name;
}

static void label(const lgt_binder *binder, lgt_job *job, const lgt_job_source *source,
                  const char *category) {
  if (!binder->profile) return;
  job->task.label = (lgt_label){.category = category,
                                .name = group_name(source->group),
                                .line = source->where,
                                .last = source->last,
                                .operations = source->group->count,
                                .verb = *category == 'f' ? "fold " : NULL};
}

/* Submit a job whose touched instances are listed, `nread` of them only read. */
static lgt_status submit(lgt_binder *binder, lgt_job *job, bool here) {
  lgt_log(EXEC, 3, "a task of %d steps, %lld bytes%s", job->task.nstep, (long long)job->task.cost,
          here ? ", runs at once" : "");
  if (here) {
    lgt_exec_submit(binder->exec, &job->task);
    lgt_status status = job->task.status;
    if (status) lgt_err(status, "%s", job->task.message ? job->task.message : lgt_status_name(status));
    free_job(job, true);
    return status;
  }
  bool good = true;
  int i = 0;
  if (binder->dry) job->task.nstep = 0;
  for (; i < job->ntouched && good; i++)
    good = i < job->nread ? lgt_depend_read(binder->exec, &job->task, job->touched[i])
                          : lgt_depend_write(binder->exec, &job->task, job->touched[i]);
  if (!good) { /* it cannot be taken out of the graph any more: run it without work */
    job->ntouched = i - 1;
    job->task.nstep = 0;
  }
  if (binder->last) binder->last->next = job;
  else binder->first = job;
  binder->last = job;
  job->position = job->task.position = binder->position;
  binder->njob++;
  lgt_exec_submit(binder->exec, &job->task);
  return good ? LGT_OK : no_memory();
}

static bool quiet(const lgt_instance *inst, bool write) { return !inst->writer && !(write && inst->nreader); }

lgt_job *lgt_job_new(int steps, int instances, size_t bytes, void **memory) {
  size_t size = sizeof(lgt_job) + (size_t)steps * sizeof(lgt_step) +
                (size_t)instances * sizeof(lgt_instance *) + bytes + 64;
  char *p = lgt_mem_alloc(size);
  if (!p) {
    no_memory();
    return NULL;
  }
  lgt_job *job = (lgt_job *)p;
  memset(job, 0, sizeof *job);
  p += (sizeof *job + 15) / 16 * 16;
  *memory = p;
  p += (bytes + 15) / 16 * 16;
  job->task.step = (lgt_step *)p;
  p += (size_t)steps * sizeof *job->task.step;
  job->touched = (lgt_instance **)p;
  lgt_task_init(&job->task);
  return job;
}

void lgt_job_step(lgt_job *job, void *data, lgt_status (*run)(lgt_step *, int)) {
  job->task.step[job->task.nstep++] = (lgt_step){1, NULL, run, NULL, NULL, data};
}

lgt_status lgt_job_submit(lgt_binder *binder, lgt_job *job) { return submit(binder, job, false); }

/* ---- groups --------------------------------------------------------------------------------------------- */

/* The nest of one loop for one colour when instances are tiles. */
static lgt_status tile_nest(lgt_binder *binder, const lgt_job_source *source, const lgt_plan_loop *loop,
                            int colour, lgt_instance **inst, lgt_nest_shape *shape, lgt_base *base) {
  const lgt_loop *code = loop->kernel->loop;
  lgt_rect tile = lgt_bind_tile(source->group, loop, colour);
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
    lgt_tile t;
    lgt_alignment align = lgt_bind_align(source->group, access);
    lgt_job_tile(lgt_layout_at(binder->stores, access->layout), &align, &tile, inst[access->slot], &t,
                 space_stride);
    base[a].address = (char *)t.data + access->byte;
    for (int d = 0; d < loop->ndim; d++) stride[d] = space_stride[loop->dim[d]];
  }
  lgt_nest_shape_finish(code, shape, lgt_exec_cpus(binder->exec));
  return LGT_OK;
}

void lgt_job_tile(const lgt_layout *layout, const lgt_alignment *align, const lgt_rect *tile,
                  const lgt_instance *inst, lgt_tile *out, int64_t *space_stride) {
  lgt_rect view = lgt_space_view_rect(layout, align, tile);
  *out = (lgt_tile){.ndim = layout->ndim, .dtype = layout->dtype};
  for (int d = 0; d < layout->ndim; d++) {
    out->extent[d] = view.hi[d] - view.lo[d];
    out->origin[d] = view.lo[d];
  }
  if (layout->flags & LGT_LAYOUT_RESHAPED) { /* the instance is whole rows of the root */
    int64_t at = layout->offset, row;
    int first = lgt_layout_row(layout, &row);
    if (layout->root_ndim) at -= inst->rect.lo[first] * row;
    for (int d = 0; d < layout->ndim; d++) {
      out->stride[d] = layout->stride[d] * inst->elem;
      at += layout->stride[d] * view.lo[d];
    }
    out->data = inst->data + at * inst->elem;
  } else {
    int64_t begin[LGT_MAX_DIM], step[LGT_MAX_DIM];
    lgt_layout_walk(layout, begin, step);
    for (int d = 0; d < layout->ndim; d++) {
      if (!step[d]) continue;
      out->stride[d] = step[d] * inst->stride[layout->dim[d]];
      begin[layout->dim[d]] += step[d] * view.lo[d];
    }
    out->data = lgt_instance_at(inst, begin);
  }
  for (int d = 0; d < layout->ndim && space_stride; d++)
    if (align->to[d] >= 0 && layout->shape[d] != 1) space_stride[align->to[d]] = out->stride[d];
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

static void collect_params(const lgt_job_source *source, const lgt_plan_loop *loop, lgt_scalar *out) {
  for (int p = 0; p < loop->kernel->loop->nparam; p++)
    out[p] =
        source->param[(loop->param_call[p] - source->group->first) * LGT_MAX_PARAMS + loop->param_index[p]];
}

static lgt_status add_loop(lgt_binder *binder, const lgt_job_source *source, int l, int colour,
                           lgt_instance **inst, job_memory *m, work *w, lgt_base *base, lgt_scalar *param) {
  const lgt_plan_loop *loop = &source->group->loop[l];
  const lgt_loop *code = loop->kernel->loop;
  const lgt_nest_shape *shape = &loop->shape;
  if (binder->map->domains > 1) {
    lgt_status status = tile_nest(binder, source, loop, colour, inst, &m->job->shape[m->job->nshape], base);
    if (status) return status;
    shape = &m->job->shape[m->job->nshape++];
  } else {
    for (int a = 0; a < code->naccess; a++) {
      base[a] = loop->base[a];
      if (loop->access[a].slot != LGT_NONE)
        base[a].address = inst[loop->access[a].slot]->data + loop->base[a].index;
    }
  }
  collect_params(source, loop, param);
  w->loop.nest = (lgt_nest){code, shape, base, param, NULL};
  w->loop.kernel = loop->kernel;
  w->loop.stream = loop->stream;
  if (binder->check) check_nest(&w->loop.nest, loop, inst);
  m->job->task.step[m->job->task.nstep++] = (lgt_step){shape->nchunk, shape->partial ? loop_begin : NULL,
                                                       loop_run,      shape->partial ? loop_end : NULL,
                                                       loop_describe, w};
  int64_t bytes = binder->map->domains > 1 ? loop->bytes / source->group->launch->ncolour : loop->bytes;
  w->loop.bytes = bytes;
  m->job->task.cost += bytes;
  binder->moved += bytes;
  return LGT_OK;
}

static void add_cpu(lgt_binder *binder, const lgt_job_source *source, int l, int colour, lgt_instance **inst,
                    job_memory *m, work *w) {
  const lgt_plan_loop *loop = &source->group->loop[l];
  lgt_rect tile = lgt_bind_tile(source->group, loop, colour);
  w->cpu.kind = loop->cpu;
  w->cpu.param = m->param;
  w->cpu.where = source->where;
  w->cpu.tile = m->tile;
  m->tile += loop->cpu->nargs;
  memcpy(m->param, source->param + (loop->call - source->group->first) * LGT_MAX_PARAMS,
         LGT_MAX_PARAMS * sizeof *m->param);
  for (int a = 0; a < loop->cpu->nargs; a++) {
    lgt_alignment align = lgt_bind_align(source->group, &loop->access[a]);
    lgt_job_tile(lgt_layout_at(binder->stores, loop->access[a].layout), &align, &tile,
                 inst[loop->access[a].slot], &w->cpu.tile[a], NULL);
  }
  int64_t rows = w->cpu.tile[0].ndim ? w->cpu.tile[0].extent[0] : 1;
  m->job->task.cost = 1 << 30; /* unknown: never in line */
  /* Cut by size alone: a BLAS rounds differently for other numbers of rows. */
  int64_t chunks = rows / CPU_ROWS;
  add_step(m->job, w, chunks < 1 ? 1 : chunks > CPU_MAX_CHUNKS ? CPU_MAX_CHUNKS : (int)chunks, cpu_run);
}

/* The instances of one colour's job, read ones first, each once. */
static void list_touched(lgt_binder *binder, const lgt_plan_group *group, lgt_instance **inst, lgt_job *job) {
  uint32_t stamp = ++binder->stamp;
  for (int pass = 0; pass < 2; pass++) {
    for (int s = 0; s < group->nslot; s++) {
      bool write = group->slot[s].written || !group->slot[s].initial;
      if (!inst[s] || write != (pass == 1)) continue;
      if (inst[s]->stamp == stamp) continue;
      inst[s]->stamp = stamp;
      job->touched[job->ntouched++] = inst[s];
    }
    if (pass == 0) job->nread = job->ntouched;
  }
}

/* May this job run at once, on this thread? */
static bool runs_here(const lgt_binder *binder, const lgt_plan_group *group, lgt_instance **inst) {
  int64_t cost = 0;
  if (binder->map->domains > 1 || group->nloop == 0) return false;
  for (int l = 0; l < group->nloop; l++) {
    if (group->loop[l].cpu) return false;
    cost += group->loop[l].bytes;
  }
  if (cost >= LGT_INLINE_COST) return false;
  for (int s = 0; s < group->nslot; s++)
    if (inst[s] && !quiet(inst[s], group->slot[s].written || !group->slot[s].initial)) return false;
  return true;
}

static lgt_status colour_job(lgt_binder *binder, const lgt_job_source *source, int colour,
                             lgt_instance **inst) {
  const lgt_plan_group *group = source->group;
  bool here = runs_here(binder, group, inst);
  job_memory m;
  job_size size = {.steps = group->nloop,
                   .shapes = binder->map->domains > 1 ? group->nloop : 0,
                   .accesses = group->naccess,
                   .params = group->nparam > LGT_MAX_PARAMS ? group->nparam : LGT_MAX_PARAMS,
                   .instances = group->nslot};
  for (int l = 0; l < group->nloop; l++)
    if (group->loop[l].cpu) size.tiles += group->loop[l].cpu->nargs;
  if (!make_job(binder, here, &size, &m)) return no_memory();
  lgt_status status = LGT_OK;
  lgt_base *base = m.base;
  lgt_scalar *param = m.param;
  for (int l = 0; l < group->nloop && !status; l++) {
    const lgt_plan_loop *loop = &group->loop[l];
    if (loop->cpu) {
      add_cpu(binder, source, l, colour, inst, &m, &m.work[l]);
      continue;
    }
    status = add_loop(binder, source, l, colour, inst, &m, &m.work[l], base, param);
    base += loop->kernel->loop->naccess;
    param += loop->kernel->loop->nparam;
  }
  if (status) {
    free_job(m.job, here);
    return status;
  }
  if (!here) list_touched(binder, group, inst, m.job);
  binder->tasks++;
  binder->passes += group->nloop;
  label(binder, m.job, source, "kernel");
  return submit(binder, m.job, here);
}

/* ---- reductions across colours ------------------------------------------------------------------------------ */

/* A colour of this rank, and the domain that works on it. */
typedef struct job_colour {
  int colour, domain;
} job_colour;

/* A reduction of the group into which several colours reduce. */
typedef struct job_fold {
  const lgt_plan_loop *loop;
  const lgt_inst *in;
  int slot, at_slot;        /* at_slot: of the positions, or -1 */
  lgt_instance *value, *at; /* ref: this rank's result, on its way to all ranks */
  int64_t n;                /* elements of the operator's type */
  int redop;
  int dtype;
} job_fold;

/* All of them; NULL when out of memory. */
static job_fold *list_folds(lgt_binder *binder, const lgt_plan_group *group, const bool *fold, int *count) {
  int room = 0;
  for (int l = 0; l < group->nloop; l++) room += group->loop[l].cpu ? 0 : group->loop[l].kernel->loop->ninst;
  job_fold *out = lgt_arena_alloc(&binder->arena, ((size_t)room + 1) * sizeof *out);
  *count = 0;
  for (int l = 0; out && l < group->nloop; l++) {
    const lgt_plan_loop *loop = &group->loop[l];
    const lgt_loop *code = loop->cpu ? NULL : loop->kernel->loop;
    for (int i = 0; code && i < code->ninst; i++) {
      const lgt_inst *in = &code->inst[i];
      bool pair = in->op == LGT_OP_REDUCE_ARG;
      if (in->op != LGT_OP_REDUCE && !pair) continue;
      const lgt_plan_access *access = &loop->access[in->b];
      if (!fold[access->slot] || access->byte) continue; /* an imaginary part goes with the real one */
      out[(*count)++] = (job_fold){.loop = loop,
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
  lgt_alignment align = lgt_bind_align(group, access);
  lgt_rect view = lgt_space_view_rect(layout, &align, tile);
  return lgt_layout_target_rect(layout, view);
}

static const lgt_layout *root_of(const lgt_binder *binder, const lgt_plan_group *group, int slot) {
  return lgt_layout_at(binder->stores, group->slot[slot].layout);
}

/* A private instance for each folded slot of a colour, filled with the identity. */
static lgt_status make_private(lgt_binder *binder, const lgt_job_source *source, const job_colour *c,
                               lgt_instance **inst) {
  const lgt_plan_group *group = source->group;
  for (int l = 0; l < group->nloop; l++) {
    const lgt_plan_loop *loop = &group->loop[l];
    const lgt_loop *code = loop->cpu ? NULL : loop->kernel->loop;
    lgt_rect tile = lgt_bind_tile(group, loop, c->colour);
    for (int i = 0; code && i < code->ninst; i++) {
      if (code->inst[i].op != LGT_OP_REDUCE && code->inst[i].op != LGT_OP_REDUCE_ARG) continue;
      for (int k = 0; k <= (code->inst[i].op == LGT_OP_REDUCE_ARG); k++) {
        const lgt_plan_access *access = &loop->access[code->inst[i].b + k];
        if (!source->fold[access->slot] || inst[access->slot]) continue;
        const lgt_layout *root = root_of(binder, group, access->slot);
        lgt_rect rect = target_rect(binder, group, access, &tile);
        lgt_instance *made = lgt_instance_new(binder->map, c->domain, root, &rect);
        if (!made) return LGT_NO_MEMORY;
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

/* A step: the results of one tile of the space are folded into `to`; without `from`, they become the identity.
 * Both are instances by slot. */
static void add_fold(lgt_binder *binder, const lgt_plan_group *group, const job_fold *f, const lgt_rect *tile,
                     lgt_instance *const to[2], lgt_instance *const from[2], job_memory *m) {
  work *w = &m->work[m->job->task.nstep];
  w->fold = (fold_call){.redop = f->redop,
                        .dtype = f->dtype,
                        .parts = 1,
                        .fill = !from,
                        .pair = f->at_slot >= 0,
                        .tile = m->tile};
  m->tile += 4;
  for (int k = 0; k <= (f->at_slot >= 0); k++) {
    const lgt_plan_access *access = &f->loop->access[f->in->b + k];
    const lgt_layout *layout = lgt_layout_at(binder->stores, access->layout);
    lgt_alignment align = lgt_bind_align(group, access);
    if (lgt_dtype_is_pair(layout->dtype)) w->fold.parts = 2;
    lgt_job_tile(layout, &align, tile, to[k], &w->fold.tile[2 * k + TO], NULL);
    if (!from) continue;
    lgt_job_tile(layout, &align, tile, from[k], &w->fold.tile[2 * k + FROM], NULL);
    m->job->task.cost += from[k]->bytes;
  }
  add_step(m->job, w, 1, fold_run);
}

static void touch(lgt_job *job, lgt_instance *inst) {
  if (inst) job->touched[job->ntouched++] = inst;
}

/* One task: for each reduction, the private results of this rank's colours into `to`, which begins as the identity
 * if it is a buffer or fresh. */
static lgt_status fold_colours(lgt_binder *binder, const lgt_job_source *source, const job_fold *fold,
                               int nfold, const job_colour *colour, int ncolour, lgt_instance **private,
                               bool buffers) {
  const lgt_plan_group *group = source->group;
  int nstep = nfold * (ncolour + 1), nslot = group->nslot;
  job_memory m;
  job_size size = {.steps = nstep, .tiles = 4 * nstep, .instances = ncolour * nslot + 2 * nfold};
  if (!make_job(binder, false, &size, &m)) return no_memory();
  for (int i = 0; i < ncolour * nslot; i++) touch(m.job, private[i]);
  m.job->nread = m.job->ntouched;
  for (int k = 0; k < nfold; k++) {
    const job_fold *f = &fold[k];
    lgt_instance *to[2] = {f->value, f->at};
    lgt_rect whole = lgt_rect_of_shape(f->loop->space_ndim, f->loop->extent);
    if (!buffers) to[0] = source->inst[f->slot], to[1] = f->at_slot < 0 ? NULL : source->inst[f->at_slot];
    touch(m.job, to[0]);
    touch(m.job, to[1]);
    if (buffers || f->at_slot >= 0 || f->in->aux & LGT_REDUCE_FRESH)
      add_fold(binder, group, f, &whole, to, NULL, &m);
    for (int c = 0; c < ncolour; c++) {
      lgt_instance **p = private + c * nslot;
      lgt_rect tile = lgt_bind_tile(group, f->loop, colour[c].colour);
      if (p[f->slot])
        add_fold(binder, group, f, &tile, to,
                 (lgt_instance *[2]){p[f->slot], f->at_slot < 0 ? NULL : p[f->at_slot]}, &m);
    }
  }
  label(binder, m.job, source, "fold");
  return submit(binder, m.job, false);
}

/* One task: what all ranks together have reduced, into the slots. */
static lgt_status fold_buffers(lgt_binder *binder, const lgt_job_source *source, const job_fold *fold,
                               int nfold) {
  job_memory m;
  job_size size = {.steps = 2 * nfold, .tiles = 8 * nfold, .instances = 4 * nfold};
  if (!make_job(binder, false, &size, &m)) return no_memory();
  for (int k = 0; k < nfold; k++) touch(m.job, fold[k].value), touch(m.job, fold[k].at);
  m.job->nread = m.job->ntouched;
  for (int k = 0; k < nfold; k++) {
    const job_fold *f = &fold[k];
    lgt_instance *to[2] = {source->inst[f->slot], f->at_slot < 0 ? NULL : source->inst[f->at_slot]};
    lgt_rect whole = lgt_rect_of_shape(f->loop->space_ndim, f->loop->extent);
    touch(m.job, to[0]);
    touch(m.job, to[1]);
    if (f->at_slot >= 0 || f->in->aux & LGT_REDUCE_FRESH)
      add_fold(binder, source->group, f, &whole, to, NULL, &m);
    add_fold(binder, source->group, f, &whole, to, (lgt_instance *[2]){f->value, f->at}, &m);
  }
  label(binder, m.job, source, "fold");
  return submit(binder, m.job, false);
}

/* Buffers for this rank's results.  Without them the other ranks cannot go on. */
static void make_buffers(lgt_binder *binder, const lgt_plan_group *group, job_fold *fold, int nfold) {
  for (int k = 0; k < nfold; k++) {
    job_fold *f = &fold[k];
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

static void drop_buffers(lgt_binder *binder, job_fold *fold, int nfold) {
  for (int k = 0; k < nfold; k++) {
    lgt_instance_release(binder->map, fold[k].value);
    lgt_instance_release(binder->map, fold[k].at);
  }
}

/* Where in the stream the reduction is: the number of its argument among the group's. */
static int place_of(const lgt_plan_group *group, const job_fold *f) {
  const lgt_plan_access *access = &f->loop->access[f->in->b];
  int call = group->items->item[access->item].call, place = 0;
  for (int i = group->first; i < call; i++) place += group->plan->call[i].nargs;
  return place + access->arg;
}

static lgt_status fold_among_ranks(lgt_binder *binder, const lgt_plan_group *group, const job_fold *fold,
                                   int nfold) {
  lgt_status status = LGT_OK;
  for (int k = 0; k < nfold && !status; k++)
    status =
        lgt_transfer_fold(binder, lgt_transfer_tag(binder, place_of(group, &fold[k]), LGT_TRANSFER_FOLDS),
                          fold[k].redop, fold[k].dtype, fold[k].value, fold[k].at, fold[k].n);
  return status;
}

lgt_status lgt_job_skip(lgt_binder *binder, const lgt_plan_group *group, const bool *folds,
                        lgt_failure *failure) {
  int nfold;
  job_fold *fold = binder->peers ? list_folds(binder, group, folds, &nfold) : NULL;
  if (!fold) return binder->peers ? no_memory() : LGT_OK;
  make_buffers(binder, group, fold, nfold);
  for (int k = 0; k < nfold; k++) fold[k].value->failure = lgt_failure_retain(failure);
  lgt_status status = fold_among_ranks(binder, group, fold, nfold);
  drop_buffers(binder, fold, nfold);
  return status;
}

/* This rank's colours, with the domains that work on them. */
static job_colour *list_colours(lgt_binder *binder, const lgt_partition *launch, int *count) {
  int n = 0;
  for (int d = 0; d < binder->map->local; d++)
    for (int c = -1; (c = lgt_bind_next(binder, launch, d, c)) >= 0;) n++;
  job_colour *out = lgt_arena_alloc(&binder->arena, ((size_t)n + 1) * sizeof *out);
  *count = 0;
  for (int d = 0; out && d < binder->map->local; d++)
    for (int c = -1; (c = lgt_bind_next(binder, launch, d, c)) >= 0;) {
      lgt_rect tile = lgt_partition_rect(launch, c);
      if (!lgt_rect_empty(&tile)) out[(*count)++] = (job_colour){c, d};
    }
  return out;
}

static lgt_status colour_jobs(lgt_binder *binder, const lgt_job_source *source, const job_colour *colour,
                              int ncolour, lgt_instance **private) {
  int n = source->group->nslot;
  lgt_status status = LGT_OK;
  lgt_instance **inst = lgt_arena_alloc(&binder->arena, ((size_t)n + 1) * sizeof *inst);
  if (!inst) return no_memory();
  for (int c = 0; c < ncolour && !status; c++) {
    status = make_private(binder, source, &colour[c], private + c * n);
    for (int s = 0; s < n; s++)
      inst[s] = source->fold[s] ? private[c * n + s] : source->inst[colour[c].domain * n + s];
    if (!status) status = colour_job(binder, source, colour[c].colour, inst);
  }
  return status;
}

lgt_status lgt_job_group(lgt_binder *binder, const lgt_job_source *source) {
  const lgt_plan_group *group = source->group;
  int n = group->nslot, ncolour, nfold;
  if (group->launch->kind == LGT_PARTITION_NONE) return colour_job(binder, source, 0, source->inst);
  job_colour *colour = list_colours(binder, group->launch, &ncolour);
  job_fold *fold = list_folds(binder, group, source->fold, &nfold);
  lgt_instance **private =
      colour ? lgt_arena_alloc(&binder->arena, ((size_t)ncolour * (size_t)n + 1) * sizeof *private) : NULL;
  if (!fold || !private) return no_memory();
  memset(private, 0, ((size_t)ncolour * (size_t)n + 1) * sizeof *private);
  bool ranks = binder->peers && nfold;
  if (ranks) make_buffers(binder, group, fold, nfold);
  lgt_status status = colour_jobs(binder, source, colour, ncolour, private);
  if (!status && nfold) status = fold_colours(binder, source, fold, nfold, colour, ncolour, private, ranks);
  if (ranks) {
    lgt_failure *failure = status ? lgt_failure_new(status, lgt_message(), NULL) : NULL;
    for (int k = 0; failure && k < nfold; k++) fold[k].value->failure = lgt_failure_retain(failure);
    lgt_failure_release(failure);
    lgt_status shared = fold_among_ranks(binder, group, fold, nfold);
    if (!status) status = shared ? shared : fold_buffers(binder, source, fold, nfold);
    drop_buffers(binder, fold, nfold);
  }
  for (int i = 0; i < ncolour * n; i++) lgt_instance_release(binder->map, private[i]);
  return status;
}

/* ---- waiting and retiring -------------------------------------------------------------------------------------- */

void lgt_bind_wait(lgt_binder *binder, lgt_instance *inst, bool for_write) {
  if (!inst) return;
  if (inst->writer) lgt_exec_wait(binder->exec, inst->writer);
  for (int i = 0; for_write && i < inst->nreader; i++) lgt_exec_wait(binder->exec, inst->reader[i]);
}

static lgt_status look(lgt_binder *binder, lgt_task *task) {
  if (lgt_exec_look(binder->exec, task)) return LGT_OK;
  return lgt_err(LGT_INTERRUPTED, "interrupted while waiting for results, which are still being computed");
}

lgt_status lgt_bind_look(lgt_binder *binder, lgt_instance *inst) {
  return inst && inst->writer ? look(binder, inst->writer) : LGT_OK;
}

void lgt_bind_keep_up(lgt_binder *binder, int groups) {
  while (binder->first && binder->first->position < binder->position - groups) {
    lgt_exec_wait(binder->exec, &binder->first->task);
    lgt_bind_retire(binder, false);
  }
}

static void retire(lgt_binder *binder, lgt_job *job) {
  lgt_failure *failure = NULL;
  if (job->task.status) {
    const char *message = job->task.message ? job->task.message : lgt_status_name(job->task.status);
    failure = job->task.inherited ? lgt_failure_new(job->task.status, message, NULL)
                                  : lgt_bind_fail(binder, job->task.status, message, 0);
    if (failure) failure->position = job->task.position;
    else failure = lgt_failure_retain(binder->reserve);
  }
  for (int i = 0; i < job->ntouched; i++) {
    lgt_instance *inst = job->touched[i];
    if (failure && i >= job->nread && !inst->failure) inst->failure = lgt_failure_retain(failure);
    lgt_depend_retire(binder->map, &job->task, inst);
  }
  lgt_failure_release(failure);
  free_job(job, false);
}

lgt_status lgt_bind_look_all(lgt_binder *binder) {
  lgt_status status = LGT_OK;
  for (lgt_job *job = binder->first; job && !status; job = job->next) status = look(binder, &job->task);
  lgt_bind_retire(binder, false);
  return status;
}

void lgt_bind_retire(lgt_binder *binder, bool all) {
  lgt_job **link = &binder->first;
  if (binder->peers && *link) lgt_transfer_move(binder);
  binder->last = NULL;
  while (*link) {
    lgt_job *job = *link;
    if (all) lgt_exec_wait(binder->exec, &job->task);
    if (!lgt_task_done(&job->task)) {
      binder->last = job;
      link = &job->next;
      continue;
    }
    *link = job->next;
    binder->njob--;
    retire(binder, job);
  }
}
