/* job.c - from a bound group to tasks in flight.  See job.h and bind.h.
 *
 * A job is one block of memory: the task, its steps, their nests with base addresses, and the list of
 * instances it holds.  Jobs that are small and wait for nothing run at once, here, and never enter
 * the list of those in flight.
 *
 * Several colours that reduce into the same elements each get a private instance; a last task folds
 * these in the order of the colours.
 */
#include "job.h"

#include <stdio.h>
#include <string.h>

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
  } loop;
  cpu_call cpu;
  lgt_copy copy;
  fold_call fold;
} work;

struct lgt_job {
  lgt_task task;
  lgt_job *next;
  lgt_instance **touched; /* refs (given back by lgt_depend_retire); read ones first */
  int ntouched, nread;
  lgt_nest_shape *shape; /* owned strides, when several domains make shapes of their own */
  int nshape;
};

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

static lgt_status cpu_run(lgt_step *step, int chunk) {
  cpu_call *call = &((work *)step->data)->cpu;
  int64_t rows = call->tile[0].ndim ? call->tile[0].extent[0] : 1;
  int64_t lo = rows * chunk / step->nchunk, hi = rows * (chunk + 1) / step->nchunk;
  lgt_status status = call->kind->cpu(call->tile, call->kind->nargs, call->param, lo, hi);
  if (!status) return LGT_OK;
  lgt_err_within(status, "task '%s'", call->kind->name);
  return call->where ? lgt_err(status, "%s (in a task launched at %s)", lgt_message(), call->where) : status;
}

static lgt_status copy_run(lgt_step *step, int chunk) {
  (void)chunk;
  lgt_copy_run(&((work *)step->data)->copy);
  return LGT_OK;
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
  job->task.step[job->task.nstep++] = (lgt_step){nchunk, NULL, run, NULL, w};
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
  binder->njob++;
  lgt_exec_submit(binder->exec, &job->task);
  return good ? LGT_OK : no_memory();
}

static bool quiet(const lgt_instance *inst, bool write) { return !inst->writer && !(write && inst->nreader); }

lgt_status lgt_job_copy(lgt_binder *binder, const lgt_copy *copies, int count) {
  job_memory m;
  if (!make_job(binder, false, &(job_size){.steps = count, .instances = 2 * count}, &m)) return no_memory();
  for (int i = 0; i < count; i++) {
    m.work[i].copy = copies[i];
    add_step(m.job, &m.work[i], 1, copy_run);
    m.job->task.cost += lgt_rect_size(&copies[i].rect) * copies[i].from->elem * 2;
    lgt_log(MAP, 3, "copy %lld bytes from domain %d to domain %d",
            (long long)(lgt_rect_size(&copies[i].rect) * copies[i].from->elem), copies[i].from->domain + 1,
            copies[i].to->domain + 1);
    bool known = false;
    /* What is known to be spoiled spoils the copy; what is still in flight does when it fails. */
    if (copies[i].from->failure && !copies[i].to->failure)
      copies[i].to->failure = lgt_failure_retain(copies[i].from->failure);
    for (int k = 0; k < m.job->nread; k++) known |= m.job->touched[k] == copies[i].from;
    if (!known) m.job->touched[m.job->nread++] = copies[i].from;
  }
  m.job->ntouched = m.job->nread;
  m.job->touched[m.job->ntouched++] = copies[0].to; /* all copies of one call go to one instance */
  return submit(binder, m.job, false);
}

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
  if (layout->flags & LGT_LAYOUT_RESHAPED) { /* the instance is the whole root */
    int64_t at = layout->offset;
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
                                                       loop_run, shape->partial ? loop_end : NULL, w};
  int64_t bytes = binder->map->domains > 1 ? loop->bytes / source->group->launch->ncolour : loop->bytes;
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
  return submit(binder, m.job, here);
}

/* ---- reductions across colours ------------------------------------------------------------------------------ */

/* A private instance for each folded slot of a colour, filled with the identity. */
static lgt_status make_private(lgt_binder *binder, const lgt_job_source *source, int colour,
                               lgt_instance **inst) {
  const lgt_plan_group *group = source->group;
  int domain = lgt_bind_domain_of(binder, group->launch, colour);
  for (int l = 0; l < group->nloop; l++) {
    const lgt_plan_loop *loop = &group->loop[l];
    const lgt_loop *code = loop->cpu ? NULL : loop->kernel->loop;
    lgt_rect tile = lgt_bind_tile(group, loop, colour);
    for (int i = 0; code && i < code->ninst; i++) {
      if (code->inst[i].op != LGT_OP_REDUCE && code->inst[i].op != LGT_OP_REDUCE_ARG) continue;
      for (int k = 0; k <= (code->inst[i].op == LGT_OP_REDUCE_ARG); k++) {
        const lgt_plan_access *access = &loop->access[code->inst[i].b + k];
        if (!source->fold[access->slot] || inst[access->slot]) continue;
        const lgt_layout *layout = lgt_layout_at(binder->stores, access->layout);
        const lgt_layout *root = lgt_layout_at(binder->stores, group->slot[access->slot].layout);
        lgt_alignment align = lgt_bind_align(group, access);
        lgt_rect view = lgt_space_view_rect(layout, &align, &tile),
                 rect = lgt_layout_target_rect(layout, view);
        lgt_instance *made = lgt_instance_new(binder->map, domain, root, &rect);
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

/* A step of the fold: for one colour its private results into the slot's instances, for colour -1 the
 * identity. */
static void add_fold(lgt_binder *binder, const lgt_job_source *source, const lgt_plan_loop *loop,
                     const lgt_inst *in, int colour, lgt_instance **from, job_memory *m) {
  const lgt_plan_group *group = source->group;
  bool pair = in->op == LGT_OP_REDUCE_ARG;
  work *w = &m->work[m->job->task.nstep];
  lgt_rect whole = lgt_rect_of_shape(loop->space_ndim, loop->extent);
  lgt_rect tile = colour < 0 ? whole : lgt_bind_tile(group, loop, colour);
  w->fold = (fold_call){.redop = lgt_inst_redop(in),
                        .dtype = loop->kernel->loop->access[in->b].dtype,
                        .parts = 1,
                        .fill = colour < 0,
                        .pair = pair,
                        .tile = m->tile};
  m->tile += 4;
  for (int k = 0; k <= pair; k++) {
    const lgt_plan_access *access = &loop->access[in->b + k];
    const lgt_layout *layout = lgt_layout_at(binder->stores, access->layout);
    lgt_alignment align = lgt_bind_align(group, access);
    if (lgt_dtype_is_pair(layout->dtype)) w->fold.parts = 2;
    lgt_job_tile(layout, &align, &tile, source->inst[access->slot], &w->fold.tile[2 * k + TO], NULL);
    if (colour < 0) continue;
    lgt_job_tile(layout, &align, &tile, from[access->slot], &w->fold.tile[2 * k + FROM], NULL);
    m->job->task.cost += from[access->slot]->bytes;
  }
  add_step(m->job, w, 1, fold_run);
}

/* One task: for each reduction, the private results of all colours into the slot's instance. */
static lgt_status fold_job(lgt_binder *binder, const lgt_job_source *source, lgt_instance **private) {
  const lgt_plan_group *group = source->group;
  int ncolour = group->launch->ncolour, nstep = 0;
  for (int l = 0; l < group->nloop; l++)
    for (int i = 0; !group->loop[l].cpu && i < group->loop[l].kernel->loop->ninst; i++) nstep += ncolour + 1;
  job_memory m;
  job_size size = {.steps = nstep, .tiles = 4 * nstep, .instances = (ncolour + 1) * group->nslot};
  if (!make_job(binder, false, &size, &m)) return no_memory();
  for (int c = 0; c < ncolour; c++)
    for (int s = 0; s < group->nslot; s++)
      if (private[c * group->nslot + s]) m.job->touched[m.job->nread++] = private[c * group->nslot + s];
  m.job->ntouched = m.job->nread;
  for (int l = 0; l < group->nloop; l++) {
    const lgt_plan_loop *loop = &group->loop[l];
    const lgt_loop *code = loop->cpu ? NULL : loop->kernel->loop;
    for (int i = 0; code && i < code->ninst; i++) {
      const lgt_inst *in = &code->inst[i];
      bool pair = in->op == LGT_OP_REDUCE_ARG;
      if (in->op != LGT_OP_REDUCE && !pair) continue;
      int slot = loop->access[in->b].slot;
      if (!source->fold[slot] || loop->access[in->b].byte)
        continue; /* an imaginary part goes with the real one */
      m.job->touched[m.job->ntouched++] = source->inst[slot];
      if (pair) m.job->touched[m.job->ntouched++] = source->inst[loop->access[in->b + 1].slot];
      if (pair || in->aux & LGT_REDUCE_FRESH) add_fold(binder, source, loop, in, -1, NULL, &m);
      for (int c = 0; c < ncolour; c++)
        if (private[c * group->nslot + slot])
          add_fold(binder, source, loop, in, c, private + c * group->nslot, &m);
    }
  }
  return submit(binder, m.job, false);
}

lgt_status lgt_job_group(lgt_binder *binder, const lgt_job_source *source) {
  const lgt_plan_group *group = source->group;
  int n = group->nslot, ncolour = group->launch->ncolour;
  lgt_status status = LGT_OK;
  bool folds = false;
  for (int s = 0; s < n; s++) folds |= source->fold[s];
  if (ncolour == 1) return colour_job(binder, source, 0, source->inst);
  lgt_instance **private = lgt_mem_zalloc(((size_t)ncolour * (size_t)n + 1) * sizeof *private);
  lgt_instance **inst = lgt_mem_alloc(((size_t)n + 1) * sizeof *inst);
  if (!private || !inst) status = no_memory();
  for (int c = 0; c < ncolour && !status; c++) {
    lgt_rect tile = lgt_partition_rect(group->launch, c);
    if (lgt_rect_empty(&tile)) continue;
    status = folds ? make_private(binder, source, c, private + c * n) : LGT_OK;
    for (int s = 0; s < n; s++)
      inst[s] = source->fold[s] ? private[c * n + s]
                                : source->inst[lgt_bind_domain_of(binder, group->launch, c) * n + s];
    if (!status) status = colour_job(binder, source, c, inst);
  }
  if (!status && folds) status = fold_job(binder, source, private);
  for (int i = 0; private && i < ncolour * n; i++) lgt_instance_release(binder->map, private[i]);
  lgt_mem_free(private);
  lgt_mem_free(inst);
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

void lgt_bind_wait_first(lgt_binder *binder) {
  if (binder->first) lgt_exec_wait(binder->exec, &binder->first->task);
}

static void retire(lgt_binder *binder, lgt_job *job) {
  lgt_failure *failure = NULL;
  if (job->task.status) {
    const char *message = job->task.message ? job->task.message : lgt_status_name(job->task.status);
    failure = job->task.inherited ? lgt_failure_new(job->task.status, message, NULL)
                                  : lgt_bind_fail(binder, job->task.status, message, 0);
    if (!failure) failure = lgt_failure_retain(binder->reserve);
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
