/* point.c - from a bound group to its tasks.  See point.h and bind.h.
 *
 * A task's steps are the group's loops, as kernels over a nest with base addresses, and its calls of C.
 * Tasks that are small and wait for nothing run at once, here, and never enter the list of those in flight.
 */
#include "bind/point.h"

#include <stdio.h>
#include <string.h>

#include "bind/fold.h"
#include "bind/follow.h"
#include "move/image.h"
#include "bind/shuffle.h"
#include "move/offload.h"
#include "move/template.h"
#include "bind/work.h"

enum { CPU_ROWS = 64, CPU_MANY_CHUNKS = 16, CPU_MAX_CHUNKS = 64, CPU_BYTES = 1 << 14 };
enum { BLAS_ROWS = 96, BLAS_FEW_CHUNKS = 8, BLAS_MANY_ROWS = 256 };
enum { FEW_BYTES = 4096, UNKNOWN_COST = 1 << 30 };

/* A job that is being built: its memory, of which what follows the pointers is not used yet. */
typedef struct builder {
  lgt_binder *binder;
  const lgt_bound *bound;
  int colour;
  lgt_portion portion;
  lgt_instance **inst;
  lgt_job *job;
  char *memory; /* what templates copy begins here ... */
  size_t size;  /* ... and ends with the steps */
  lgt_scalar *param;
  lgt_loop_work *loop;
  lgt_call_work *call;
  lgt_base *base;
  lgt_tile *tile;
  lgt_template *record; /* what is built becomes a template; NULL: it does not */
  int64_t moved;        /* bytes that its steps move */
  int abreast;          /* loops that joined another one's step */
} builder;

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

/* ---- words that differ between jobs ------------------------------------------------------------------ */

static void note_inside(builder *b, const void *word, const void *address) {
  lgt_template_note(b->record, b->memory, word, LGT_RELOCATED_INSIDE, 0, (const char *)address - b->memory);
}

static void note_element(builder *b, const void *word, uint16_t slot) {
  lgt_template_note(b->record, b->memory, word, LGT_RELOCATED_ELEMENT, slot,
                    *(char *const *)word - b->inst[slot]->data);
}

/* A parameter of a call of the group, for this run. */
static void put_param(builder *b, lgt_scalar *to, int call, int index) {
  int number = (call - b->bound->group->first) * LGT_MAX_PARAMS + index;
  *to = b->bound->param[number];
  lgt_template_note(b->record, b->memory, to, LGT_RELOCATED_VALUE, number, 0);
}

/* ---- nests and addresses ---------------------------------------------------------------------------- */

/* The base of one access for a tile of the loop's space, and its strides along the loop's dimensions. */
static void put_base(builder *b, const lgt_plan_loop *loop, int a, const lgt_rect *tile, int64_t *stride) {
  const lgt_plan_access *access = &loop->access[a];
  const lgt_layout *layout = lgt_layout_at(b->binder->stores, access->layout);
  int64_t space_stride[LGT_MAX_DIM] = {0};
  lgt_base *base = &b->base[a];
  if (loop->kernel->loop->access[a].mode == LGT_ACCESS_INDEX) {
    base->index = access->offset;
    for (int d = 0; d < loop->space_ndim; d++) base->index += access->stride[d] * tile->lo[d];
    for (int d = 0; d < loop->ndim; d++) stride[d] = access->stride[loop->dim[d]];
  } else if (access->slot == LGT_NONE) { /* of the block */
    base->address = NULL;
    for (int d = 0; d < loop->ndim; d++)
      stride[d] = access->stride[loop->dim[d]] * lgt_dtype_size(layout->dtype);
  } else {
    lgt_tile t;
    lgt_alignment align = lgt_group_align(b->bound->group, access);
    lgt_instance_tile(layout, &align, tile, b->inst[access->slot], &t, space_stride);
    base->address = (char *)t.data + access->byte;
    note_element(b, base, access->slot);
    for (int d = 0; d < loop->ndim; d++) stride[d] = space_stride[loop->dim[d]];
  }
}

/* The shape of a loop's nest over a tile of its space, when instances are tiles; NULL when out of memory.  Templates have
 * theirs. */
static const lgt_nest_shape *tile_shape(builder *b, const lgt_plan_loop *loop, const lgt_rect *tile) {
  const lgt_loop *code = loop->kernel->loop;
  lgt_nest_shape *shape = b->record ? &b->record->shape[b->record->nshape] : &b->job->shape[b->job->nshape];
  *shape = (lgt_nest_shape){.ndim = loop->ndim};
  shape->stride = lgt_mem_zalloc(((size_t)code->naccess + 1) * LGT_MAX_DIM * sizeof *shape->stride);
  if (!shape->stride) return NULL;
  if (b->record) b->record->nshape++;
  else b->job->nshape++;
  for (int d = 0; d < loop->ndim; d++) shape->extent[d] = tile->hi[loop->dim[d]] - tile->lo[loop->dim[d]];
  for (int a = 0; a < code->naccess; a++) put_base(b, loop, a, tile, &shape->stride[a * LGT_MAX_DIM]);
  lgt_nest_shape_finish(
      code, shape, lgt_exec_cpus(b->binder->exec), loop->nnative > 0,
      lgt_plan_native_bytes(loop->native, loop->nnative, loop->bytes / loop->launch->ncolour));
  return shape;
}

/* The same when they are whole roots, for which the plan has a shape. */
static const lgt_nest_shape *whole_shape(builder *b, const lgt_plan_loop *loop) {
  for (int a = 0; a < loop->kernel->loop->naccess; a++) {
    uint16_t slot = loop->access[a].slot;
    b->base[a] = loop->base[a];
    if (slot == LGT_NONE) continue;
    b->base[a].address = b->inst[slot]->data + loop->base[a].index;
    note_element(b, &b->base[a], slot);
  }
  return &loop->shape;
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

/* ---- the memory of a job ------------------------------------------------------------------------------ */

/* A bound of how many nests of one loop there are instead of one. */
static int most_strips(const builder *b) {
  return b->portion.what == LGT_PORTION_REST ? 2 * b->portion.inner.ndim : 0;
}

/* How many of each thing a job of the group has.  Its memory is, one behind the other: what is filled in for each run (the
 * taint, and how much of each instance is written), then what templates copy. */
typedef struct parts {
  size_t taint, extent, param, loop, call, base, tile;
} parts;

static parts parts_of(const builder *b) {
  const lgt_plan_group *group = b->bound->group;
  size_t calls = (size_t)group->nnative, strips = (size_t)most_strips(b);
  return (parts){.taint = group->count > 1
                              ? sizeof(struct lgt_job_taint) + (size_t)group->nslot * sizeof(lgt_instance *)
                              : 0,
                 .extent = (size_t)group->nslot,
                 .param = (size_t)group->nparam + calls * LGT_MAX_PARAMS,
                 .loop = (size_t)group->nloop + strips,
                 .call = calls,
                 .base = (size_t)group->naccess +
                         (strips ? strips * (size_t)group->loop[b->portion.loop].kernel->loop->naccess : 0),
                 .tile = (size_t)group->nnative_arg};
}

/* The next `count` things of `size` bytes each; without memory only their place is counted. */
static void *carve(char *memory, size_t *used, size_t count, size_t size) {
  void *at = memory ? memory + *used : NULL;
  *used += (count * size + 15) / 16 * 16;
  return at;
}

/* Where a job's parts lie in its memory; the bytes of all together are returned. */
static size_t lay_out(const parts *n, char *memory, builder *b) {
  size_t used = 0;
  struct lgt_job_taint *taint = carve(memory, &used, n->taint, 1);
  uint8_t *extent = carve(memory, &used, n->extent, 1);
  b->memory = carve(memory, &used, 0, 1);
  b->param = carve(memory, &used, n->param, sizeof *b->param);
  b->loop = carve(memory, &used, n->loop, sizeof *b->loop);
  b->call = carve(memory, &used, n->call, sizeof *b->call);
  b->base = carve(memory, &used, n->base, sizeof *b->base);
  b->tile = carve(memory, &used, n->tile, sizeof *b->tile);
  if (memory && !b->job->here) {
    b->job->extent = extent;
    b->job->taint = n->taint ? taint : NULL;
  }
  return used;
}

/* A job of one colour, with room for all its steps. */
static bool make_job(builder *b, bool here) {
  const lgt_plan_group *group = b->bound->group;
  parts n = parts_of(b);
  void *memory;
  lgt_job_size size = {.steps = (int)n.loop,
                       .shapes = lgt_map_whole(b->binder->map) ? 0 : (int)n.loop,
                       .instances = group->nslot,
                       .bytes = lay_out(&n, NULL, b)};
  b->job = lgt_job_new(b->binder, size, here, &memory);
  if (!b->job) return false;
  lay_out(&n, memory, b);
  memset(b->call, 0, n.call * sizeof *b->call); /* of a loop that lacks memory nobody fills them in */
  b->size = (size_t)((char *)(b->job->task.step + n.loop) - b->memory);
  if (b->job->taint) {
    struct lgt_job_taint *taint = b->job->taint;
    *taint = (struct lgt_job_taint){group, (lgt_instance **)(taint + 1), b->call, group->nnative};
    memcpy(taint->inst, b->inst, (size_t)group->nslot * sizeof *b->inst);
    b->job->task.poison_results = lgt_work_poison_results;
  }
  return true;
}

/* ---- steps ---------------------------------------------------------------------------------------------- */

/* The call of a variant; what it leaves in a block has no instance. */
static void add_call(builder *b, const lgt_plan_loop *loop, const lgt_plan_native *native) {
  lgt_rect space = lgt_group_tile(b->bound->group, loop, b->colour);
  lgt_call_work *call = b->call++;
  const char *where = b->job->here ? NULL : b->bound->where; /* the group fails at once, and says it */
  *call = (lgt_call_work){.kind = native->kind,
                          .tile = b->tile,
                          .param = b->param,
                          .where = where,
                          .pool = b->binder->map->pool,
                          .item = native->access[0].item};
  note_inside(b, &call->tile, b->tile);
  note_inside(b, &call->param, b->param);
  lgt_template_note(b->record, b->memory, &call->where, LGT_RELOCATED_WHERE, 0, 0);
  for (int p = 0; p < native->kind->nparams; p++) put_param(b, &b->param[p], native->call, p);
  b->tile += native->kind->nargs;
  b->param += LGT_MAX_PARAMS;
  for (int a = 0; a < native->kind->nargs; a++) {
    const lgt_plan_access *access = &native->access[a];
    const lgt_layout *layout = lgt_layout_at(b->binder->stores, access->layout);
    lgt_tile *tile = &call->tile[a];
    if (access->slot == LGT_NONE) {
      *tile = (lgt_tile){.ndim = 1, .dtype = layout->dtype};
      tile->extent[0] = space.hi[0] - space.lo[0];
      tile->origin[0] = space.lo[0];
      tile->stride[0] = lgt_dtype_size(layout->dtype);
      continue;
    }
    lgt_alignment align = lgt_group_align(b->bound->group, access);
    lgt_instance_tile(layout, &align, &space, b->inst[access->slot], tile, NULL);
    note_element(b, &tile->data, access->slot);
  }
}

/* What a loop costs, in bytes or so.  Nobody knows how long a call of C takes for its arguments, but for small ones lgt's
 * own take less than handing them to another thread does. */
static int64_t cost_of(const lgt_binder *binder, const lgt_plan_loop *loop) {
  if (loop->bytes || loop->kernel) return loop->cost;
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

/* There is one more step, ... */
static void note_step(builder *b) {
  const lgt_step *step = &b->job->task.step[b->job->task.nstep - 1];
  note_inside(b, &step->data, step->data);
}
/* ... and more to do. */
static void add_cost(builder *b, int64_t cost, int64_t bytes) {
  b->job->task.cost += cost;
  b->moved += bytes;
}

/* A step for calls without a kernel. */
static void add_alone(builder *b, const lgt_plan_loop *loop, lgt_call_work *call, int64_t bytes) {
  int64_t rows = call->tile[0].ndim ? call->tile[0].extent[0] : 1;
  call->count = loop->nnative;
  call->bytes = bytes;
  /* Cut by size alone: a BLAS rounds differently for other numbers of rows.  Where there are many chunks they have twice as
   * many rows. */
  int64_t chunks = rows / CPU_ROWS;
  if (chunks > CPU_MANY_CHUNKS) chunks = chunks / 2 > CPU_MANY_CHUNKS ? chunks / 2 : CPU_MANY_CHUNKS;
  if (call->kind->constraints && call->kind->constraints->varies) chunks = blas_chunks(rows);
  if (bytes && chunks > bytes / CPU_BYTES) chunks = bytes / CPU_BYTES;
  chunks = chunks < 1 ? 1 : chunks > CPU_MAX_CHUNKS ? CPU_MAX_CHUNKS : chunks;
  lgt_work_add_calls(b->job, call, (int)chunks);
  note_step(b);
  add_cost(b, bytes ? bytes : cost_of(b->binder, loop), bytes);
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

/* Does a nest have chunks, but too few for all workers? */
static bool is_short(const builder *b, const lgt_nest *nest) {
  return nest->shape->nchunk > 0 && nest->shape->nchunk < lgt_exec_cpus(b->binder->exec);
}

/* May a loop run at once with those of the newest step, and shall it? */
static bool joins(const builder *b, const lgt_loop_work *w) {
  const lgt_task *task = &b->job->task;
  const lgt_loop_work *first = task->nstep ? lgt_work_loops(&task->step[task->nstep - 1]) : NULL;
  return first && first->plan->abreast == w->plan->abreast && is_short(b, &first->nest) &&
         is_short(b, &w->nest);
}

/* Of a number that stands for all of a loop, so much is the share of a colour's part. */
static int64_t part_of(const builder *b, const lgt_plan_loop *loop, int64_t all, double share) {
  int64_t own = lgt_map_whole(b->binder->map) ? all : all / loop->launch->ncolour;
  return share == 1 ? own : (int64_t)((double)own * share);
}

/* A step for a loop's nest over a tile of its space, with the calls that go before its blocks; `share`: of what the loop moves
 * and costs for the colour. */
static lgt_status add_nest(builder *b, const lgt_plan_loop *loop, const lgt_rect *tile, lgt_call_work *call,
                           double share) {
  const lgt_loop *code = loop->kernel->loop;
  bool whole = lgt_map_whole(b->binder->map);
  const lgt_nest_shape *shape = whole ? whole_shape(b, loop) : tile_shape(b, loop, tile);
  if (!shape) return lgt_no_memory_to_launch();
  int64_t bytes = part_of(b, loop, loop->bytes, share);
  lgt_loop_work *w = b->loop++;
  *w = (lgt_loop_work){{code, shape, b->base, b->param, NULL}, loop->kernel, loop, call, bytes, 0, 0, NULL};
  if (!whole && b->record)
    lgt_template_note(b->record, b->memory, &w->nest.shape, LGT_RELOCATED_SHAPE, b->record->nshape - 1, 0);
  note_inside(b, &w->nest.base, b->base);
  note_inside(b, &w->nest.param, b->param);
  note_inside(b, &w->call, call);
  b->base += code->naccess;
  if (b->binder->check) check_nest(&w->nest, loop, b->inst);
  if (joins(b, w)) {
    lgt_work_join(b->job, w);
    b->abreast += w[-1].plan != loop; /* its strips are no more passes than one */
  } else {
    lgt_work_add_loop(b->job, w);
    note_step(b);
  }
  add_cost(b, part_of(b, loop, loop->cost, share), bytes);
  return LGT_OK;
}

/* The parts of a tile of a loop that the job does, and their number. */
static int parts_of_tile(const builder *b, const lgt_plan_loop *loop, const lgt_rect *tile,
                         lgt_rect part[2 * LGT_MAX_DIM]) {
  const lgt_portion *p = &b->portion;
  bool cut = p->what != LGT_PORTION_ALL && loop == &b->bound->group->loop[p->loop];
  if (cut && p->what == LGT_PORTION_REST) return lgt_rect_subtract(tile, &p->inner, part);
  part[0] = cut ? p->inner : *tile;
  return 1;
}

static lgt_status add_nests(builder *b, const lgt_plan_loop *loop, const lgt_rect *tile,
                            lgt_call_work *call) {
  const lgt_loop *code = loop->kernel->loop;
  lgt_rect part[2 * LGT_MAX_DIM];
  int n = parts_of_tile(b, loop, tile, part);
  lgt_status status = LGT_OK;
  for (int p = 0; p < code->nparam; p++)
    put_param(b, &b->param[p], loop->param_call[p], loop->param_index[p]);
  for (int i = 0; i < n && !status; i++) {
    double share = b->portion.what == LGT_PORTION_ALL
                       ? 1
                       : (double)lgt_rect_size(&part[i]) / (double)lgt_rect_size(tile);
    status = add_nest(b, loop, &part[i], call, share);
  }
  b->param += code->nparam;
  return status;
}

/* Is the loop other jobs' work: of another domain, or of another portion of the colour's? */
static bool is_others(const builder *b, const lgt_plan_loop *loop, const lgt_rect *tile) {
  const lgt_portion *p = &b->portion;
  int64_t behind = loop - (b->bound->group->loop + p->loop);
  return (b->bound->group->mixed && lgt_rect_empty(tile)) || (p->what == LGT_PORTION_AHEAD && behind > 0) ||
         (p->what == LGT_PORTION_REST && behind < 0);
}

static lgt_status add_loop(builder *b, const lgt_plan_loop *loop) {
  lgt_call_work *call = b->call;
  bool whole = lgt_map_whole(b->binder->map);
  int64_t bytes = whole ? loop->bytes : loop->bytes / loop->launch->ncolour;
  lgt_rect tile = {.ndim = 0};
  if (!whole) tile = lgt_group_tile(b->bound->group, loop, b->colour);
  if (is_others(b, loop, &tile) || lgt_bound_lacks(b->bound, loop) >= 0) return LGT_OK;
  for (int i = 0; i < loop->nnative; i++) add_call(b, loop, &loop->native[i]);
  if (loop->kernel) return add_nests(b, loop, &tile, call);
  add_alone(b, loop, call, bytes);
  return LGT_OK;
}

/* Build the job's steps; they become a template if there is one to record. */
static lgt_status build(builder *b) {
  const lgt_plan_group *group = b->bound->group;
  lgt_status status = LGT_OK;
  if (b->record) memset(b->memory, 0, b->size);
  for (int l = 0; l < group->nloop && !status; l++) status = add_loop(b, &group->loop[l]);
  if (status || !b->record) return status;
  b->record->moved = b->moved;
  b->record->abreast = b->abreast;
  b->job->template = b->record; /* whose shapes its nests use */
  return LGT_OK;
}

/* ---- from templates --------------------------------------------------------------------------------------- */

static lgt_template *new_record(const builder *b) {
  const lgt_plan_group *group = b->bound->group;
  return lgt_template_new(b->colour, &b->portion, b->inst, group->nslot, group->nloop + most_strips(b));
}

/* With the option `check`: a job that is built anew must be what the template says. */
static void check_template(const builder *b, const lgt_template *known, bool here) {
  builder again = {
      .binder = b->binder, .bound = b->bound, .colour = b->colour, .portion = b->portion, .inst = b->inst};
  again.record = new_record(b);
  if (!again.record || !make_job(&again, here)) return lgt_template_release(again.record);
  bool good = !build(&again) && lgt_template_take(again.record, again.job, again.memory, again.size);
  if (good) lgt_verified(lgt_template_verify(known, again.record));
  if (!again.job->template) lgt_template_release(again.record);
  lgt_job_free(b->binder, again.job);
}

/* The steps of a job: by copying what a job like it was, else built, and kept for the next one.  A shifted plan runs once. */
static lgt_status make_steps(builder *b, bool here) {
  const lgt_plan_group *group = b->bound->group;
  lgt_plan_notes *notes = group->notes;
  bool may = !b->bound->lacks && !group->plan->origin;
  lgt_template *known = NULL;
  if (may) known = lgt_template_find(notes, &b->binder->stamp, b->colour, &b->portion, b->inst, group->nslot);
  if (known) {
    lgt_supply supply = {b->inst, b->bound->param, here ? NULL : b->bound->where};
    if (b->binder->check) check_template(b, known, here);
    lgt_template_apply(known, b->job, b->memory, &supply);
    b->moved = known->moved;
    b->abreast = known->abreast;
    b->binder->copied++;
    return LGT_OK;
  }
  if (may) b->record = new_record(b);
  lgt_status status = build(b);
  if (status) return lgt_template_release(b->record), status;
  if (b->record && lgt_template_take(b->record, b->job, b->memory, b->size))
    lgt_template_keep(notes, b->record);
  return LGT_OK;
}

/* Which indices of an argument count, if an inverse image says so. */
static void show_rows(const builder *b, const lgt_plan_access *access, lgt_tile *tile) {
  const lgt_plan_group *group = b->bound->group;
  const lgt_touch *touch = access->slot == LGT_NONE ? NULL : lgt_touch_of(group, access);
  const lgt_image *image = touch ? lgt_touch_selected(b->binder, group, touch).image : NULL;
  if (!image || !image->rows) return;
  int domain = lgt_partition_domain(group->launch, b->binder->map->domains, b->colour);
  lgt_runs *rows = image->rows[domain - b->binder->map->first];
  tile->rows = (const int64_t(*)[2])rows->run;
  tile->nrows = rows->count;
  b->job->rows[b->job->nrows++] = lgt_runs_retain(rows);
}

static void show_all_rows(const builder *b, lgt_call_work *call) {
  const lgt_plan_group *group = b->bound->group;
  if (b->binder->selecting != group) return;
  for (int l = 0; l < group->nloop; l++)
    for (int i = 0; i < group->loop[l].nnative; i++) {
      const lgt_plan_native *native = &group->loop[l].native[i];
      if (call->kind != native->kind || call->item != native->access[0].item) continue; /* others do it */
      for (int a = 0; a < native->kind->nargs; a++) show_rows(b, &native->access[a], &call->tile[a]);
      call++;
    }
}

static bool is_written(const lgt_plan_group *group, int slot) {
  return group->slot[slot].written || !group->slot[slot].initial;
}

/* Does the group write a slot in the domain that has these instances?  What arrays share it writes elsewhere, by other
 * colours; so it does a renamed slot that has its rest's memory here (make_new in attempt.c).  A failure of this colour must
 * not come to the other arrays that have this memory. */
static bool is_written_here(const lgt_plan_group *group, lgt_instance *const *inst, int slot) {
  uint16_t rest = group->slot[slot].rest;
  return inst[slot] && is_written(group, slot) && inst[slot]->owners <= 1 &&
         (rest == LGT_NONE || inst[rest] != inst[slot] || group->slot[slot].takes == rest);
}

/* The instances of one colour's job, each once, those first that are read and not written: one of them may have several
 * parts of a root. */
static void list_touched(lgt_binder *binder, const lgt_plan_group *group, lgt_instance **inst, lgt_job *job) {
  uint32_t written = ++binder->stamp, listed = ++binder->stamp;
  bool together = !group->split; /* with what it does not write: it passes former failures on */
  for (int s = 0; s < group->nslot; s++)
    if (is_written_here(group, inst, s)) inst[s]->stamp = written;
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
  if (!job->poison || !lgt_task_expect_poison(&job->task)) return lgt_no_memory_to_launch();
  for (; job->npoison < n; job->npoison++) {
    lgt_failure *failure = bound->poison[job->npoison];
    job->poison[job->npoison] = failure ? lgt_failure_retain(failure) : NULL;
  }
  return LGT_OK;
}

/* What a device runs for a loop. */
static lgt_code code_on(const lgt_device *device, const lgt_loop_work *w) {
  lgt_kernel_fn code = lgt_kernel_code(w->kernel, LGT_KERNEL_PLAIN);
  if (!code) code = lgt_kernel_code(w->kernel, LGT_KERNEL_STREAM);
  if (!device->target) return (lgt_code){LGT_CLASS_HOST, (void *)code};
  return (lgt_code){device->class, lgt_kernel_code_on(w->kernel, device->target)};
}

/* The loops of a task, one behind the other in a queue.  What they would read may have failed: memory that nobody wrote. */
static lgt_status enqueue_loops(lgt_job *job, const lgt_device *device, lgt_queue *queue) {
  lgt_status status = LGT_OK;
  lgt_taint taint = {0};
  bool tainted = lgt_work_taint(job, &taint);
  for (int s = 0; s < job->task.nstep; s++) {
    lgt_loop_work *w = job->task.step[s].data;
    for (int i = 0; i < w->count && !status; i++)
      if (!tainted || !lgt_work_in_vain(&taint, &w[i]))
        status = device->launch(queue, code_on(device, &w[i]), &w[i].nest);
  }
  lgt_taint_fini(&taint);
  return status;
}

/* The memory in which a task's instances are, if that is a device's; else NULL. */
static lgt_memory *place_of(const lgt_plan_group *group, lgt_instance *const *inst) {
  for (int s = 0; s < group->nslot; s++)
    if (inst[s] && !lgt_instance_on_host(inst[s])) return inst[s]->memory;
  return NULL;
}

/* What failed before a job that runs ahead stays failed for the one that does the rest, which finds out what becomes of that. */
static void pass_poison_on(lgt_task *task) { (void)task; }

static void count(lgt_binder *binder, const builder *b) {
  bool ahead = b->portion.what == LGT_PORTION_AHEAD;
  binder->ahead_tasks += ahead;
  binder->tasks += !ahead;
  binder->passes += ahead ? 0 : b->bound->group->nloop;
  binder->moved += b->moved;
  binder->abreast += b->abreast;
}

static lgt_status point_task(lgt_binder *binder, const lgt_bound *bound, int colour,
                             const lgt_portion *portion, lgt_instance **inst) {
  const lgt_plan_group *group = bound->group;
  bool here = !bound->poison && runs_here(binder, group, inst);
  builder b = {.binder = binder, .bound = bound, .colour = colour, .portion = *portion, .inst = inst};
  if (!make_job(&b, here)) return LGT_NO_MEMORY;
  lgt_job *job = b.job;
  lgt_call_work *calls = b.call;
  job->plan = lgt_plan_retain(group->plan);
  job->task.fallible = bound->fallible;
  job->ahead = portion->what == LGT_PORTION_AHEAD;
  job->native = group->nnative > 0 && !job->ahead;
  if (job->ahead && job->taint) job->task.poison_results = pass_poison_on;
  lgt_status status = make_steps(&b, here);
  if (!status) show_all_rows(&b, calls);
  if (!status && !here) list_touched(binder, group, inst, job);
  if (!status && bound->poison) status = note_poison(bound, job);
  lgt_memory *place = binder->map->nmemory > 1 ? place_of(group, inst) : NULL;
  if (!status && place) status = lgt_offload_job(binder, job, place, enqueue_loops);
  if (status) {
    lgt_job_free(binder, job);
    return status;
  }
  if (!place) lgt_follow(binder, job, inst);
  count(binder, &b);
  lgt_point_label(binder, job, bound, "kernel");
  return lgt_job_submit(binder, job);
}

/* ---- all colours ------------------------------------------------------------------------------------ */

/* This rank's colours, with the domains that work on them: always the same for a group, which keeps them. */
static bool list_points(const lgt_binder *binder, const lgt_plan_group *group, lgt_points *out) {
  struct {
    int count;
    lgt_point point[];
  } *known = group->notes->points;
  const lgt_partition *launch = group->launch;
  int n = 0;
  for (int d = 0; d < binder->map->local && !known; d++)
    for (int c = -1; (c = lgt_binder_next(binder, launch, d, c)) >= 0;) n++;
  if (!known) {
    known = lgt_mem_alloc(sizeof *known + (size_t)n * sizeof *known->point);
    if (!known) return false;
    known->count = 0;
    for (int d = 0; d < binder->map->local; d++)
      for (int c = -1; (c = lgt_binder_next(binder, launch, d, c)) >= 0;) {
        lgt_rect tile = lgt_partition_rect(launch, c);
        if (!lgt_rect_empty(&tile)) known->point[known->count++] = (lgt_point){c, d};
      }
    group->notes->points = known;
  }
  out->point = known->point;
  out->count = known->count;
  return true;
}

/* The instances that a point's task is about, wherever they are. */
static lgt_instance *instance_of(const lgt_bound *bound, const lgt_points *points, int point, int slot) {
  int n = bound->group->nslot;
  return bound->fold[slot] ? points->private[point * n + slot]
                           : bound->inst[points->point[point].domain * n + slot];
}

/* Copies of what is not in the memory where the point's domain works; of what it reduces, where that is folded. */
static lgt_status acquire_away(lgt_binder *binder, const lgt_bound *bound, lgt_points *points, int point) {
  int n = bound->group->nslot, domain = points->point[point].domain;
  for (int s = 0; s < n; s++) {
    const lgt_instance *inst = instance_of(bound, points, point, s);
    lgt_memory *memory =
        bound->fold[s] ? lgt_fold_memory(binder, bound, s) : lgt_map_home(binder->map, domain);
    if (!inst || inst->memory == memory) continue;
    const lgt_layout *root = lgt_layout_at(binder->stores, bound->group->slot[s].layout);
    lgt_instance *copy = lgt_instance_in(binder->map, memory, domain, root, &inst->rect);
    if (!copy) return points->lacks = s, LGT_NO_MEMORY;
    points->away[point * n + s] = copy;
  }
  return LGT_OK;
}

bool lgt_points_needed(const lgt_plan_group *group) {
  return group->launch->kind != LGT_PARTITION_NONE && !lgt_shuffle_is(group);
}

lgt_status lgt_points_acquire(lgt_binder *binder, const lgt_bound *bound, lgt_points *out) {
  size_t n = (size_t)bound->group->nslot;
  *out = (lgt_points){.lacks = -1};
  if (!list_points(binder, bound->group, out)) return lgt_no_memory_to_launch();
  size_t bytes = ((size_t)out->count * n + 1) * sizeof *out->private;
  bool folds = memchr(bound->fold, true, n);
  out->private = folds ? lgt_arena_alloc(&binder->arena, bytes) : NULL;
  out->away = bound->away ? lgt_arena_alloc(&binder->arena, bytes) : NULL;
  if ((folds && !out->private) || (bound->away && !out->away))
    return out->count = 0, lgt_no_memory_to_launch();
  lgt_status status = LGT_OK;
  for (int i = 0; i < out->count && !status && (folds || bound->away); i++) {
    if (folds) status = lgt_fold_private(binder, bound, out, i, out->private + (size_t)i * n, &out->lacks);
    if (!status && bound->away) status = acquire_away(binder, bound, out, i);
  }
  return status;
}

void lgt_points_release(lgt_map *map, const lgt_plan_group *group, const lgt_points *points) {
  for (int i = 0; i < points->count * group->nslot && (points->private || points->away); i++) {
    if (points->private) lgt_instance_release(map, points->private[i]);
    if (points->away) lgt_instance_release(map, points->away[i]);
  }
}

/* What of a point's work its task does, or (`ahead`) the one before that. */
static lgt_portion portion_of(const lgt_points *points, int point, bool ahead) {
  lgt_portion portion = {.what = LGT_PORTION_ALL};
  if (points->ahead) portion = points->ahead[points->point[point].domain];
  if (portion.what == LGT_PORTION_AHEAD && !ahead) portion.what = LGT_PORTION_REST;
  return portion;
}

/* The task of one point.  What its memory lacks goes there before; what it reduced goes where that is folded. */
static lgt_status run_point(lgt_binder *binder, const lgt_bound *bound, int point, const lgt_fold *fold,
                            int nfold, lgt_instance **inst) {
  int n = bound->group->nslot, colour = bound->points->point[point].colour;
  const lgt_points *points = bound->points;
  lgt_portion portion = portion_of(points, point, false);
  if (!points->private && !points->away) /* it works on the domain's instances */
    return point_task(binder, bound, colour, &portion, bound->inst + points->point[point].domain * n);
  lgt_instance **away = points->away ? points->away + point * n : NULL;
  lgt_status status =
      nfold ? lgt_fold_clear(binder, bound, fold, nfold, &points->point[point], points->private + point * n)
            : LGT_OK;
  for (int s = 0; s < n && !status; s++) {
    inst[s] = instance_of(bound, points, point, s);
    if (!away || !away[s] || bound->fold[s]) continue;
    lgt_copy there = lgt_copy_of(inst[s], away[s], &inst[s]->rect);
    status = lgt_copy_submit(binder, &there, 1);
    inst[s] = away[s];
  }
  if (!status) status = point_task(binder, bound, colour, &portion, inst);
  for (int s = 0; away && s < n && !status; s++) {
    if (!away[s] || !bound->fold[s]) continue;
    lgt_copy result = lgt_copy_of(inst[s], away[s], &inst[s]->rect);
    status = lgt_copy_submit(binder, &result, 1);
  }
  return status;
}

lgt_status lgt_bound_run_ahead(lgt_binder *binder, const lgt_bound *bound) {
  const lgt_points *points = bound->points;
  int n = bound->group->nslot;
  lgt_instance **inst = lgt_arena_alloc(&binder->arena, ((size_t)n + 1) * sizeof *inst);
  lgt_status status = inst ? LGT_OK : lgt_no_memory_to_launch();
  for (int i = 0; i < points->count && !status; i++) {
    lgt_portion portion = portion_of(points, i, true);
    for (int s = 0; s < n; s++) inst[s] = instance_of(bound, points, i, s);
    if (portion.what == LGT_PORTION_AHEAD)
      status = point_task(binder, bound, points->point[i].colour, &portion, inst);
  }
  return status;
}

lgt_status lgt_bound_run(lgt_binder *binder, const lgt_bound *bound) {
  const lgt_plan_group *group = bound->group;
  const lgt_points *points = bound->points;
  int nfold;
  if (lgt_shuffle_is(group)) return lgt_shuffle_begin(binder, bound);
  if (!points) return point_task(binder, bound, 0, &(lgt_portion){LGT_PORTION_ALL}, bound->inst);
  lgt_fold *fold = lgt_fold_all(binder, bound, &nfold);
  lgt_instance **inst = lgt_arena_alloc(&binder->arena, ((size_t)group->nslot + 1) * sizeof *inst);
  if (!fold || !inst) { /* the other ranks do fold */
    if (binder->peers) binder->peers->abort(binder->peers, "out of memory while launching a task");
    return lgt_no_memory_to_launch();
  }
  lgt_fold_begin(binder, group, bound, fold, nfold);
  lgt_status status = LGT_OK;
  for (int i = 0; i < points->count && !status; i++) status = run_point(binder, bound, i, fold, nfold, inst);
  return lgt_fold_end(binder, bound, fold, nfold, status);
}
