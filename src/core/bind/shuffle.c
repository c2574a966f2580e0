/* shuffle.c - see shuffle.h.
 *
 * Two tasks on each rank: one copies between its own runs, then one sends and receives at once.  Messages between two
 * ranks begin in the order of the runs they come from, then of those they go to, on both sides.
 */
#include "bind/shuffle.h"

#include <string.h>

#include "move/message.h"

enum { OUT, IN, MARKS, CUTS, NARG };
enum { PLACE = 8190 }; /* in an exchange, for the tag: no argument has it */

/* A run of this rank. */
typedef struct run {
  int64_t number;
  char *in, *out; /* NULL: not known */
} run;

typedef struct shuffle {
  int64_t count; /* of runs, of all ranks */
  int nrun;
  run *run;  /* of this rank, ascending */
  int *peer; /* of each run: whose it is; -1: of this rank */
  lgt_tile cuts;
  int64_t elem;
} shuffle;

static int64_t cut_at(const lgt_tile *cuts, int64_t to, int64_t from) {
  return *(const int64_t *)((const char *)cuts->data + to * cuts->stride[0] + from * cuts->stride[1]);
}

/* Where in run `to` the elements of run `from` begin. */
static int64_t place(const lgt_tile *cuts, int64_t to, int64_t from) {
  int64_t sum = 0;
  for (int64_t r = 0; r < from; r++) sum += cut_at(cuts, to + 1, r) - cut_at(cuts, to, r);
  return sum;
}

static void copy_part(const lgt_tile *cuts, const run *from, const run *to, int64_t elem) {
  int64_t first = cut_at(cuts, to->number, from->number), past = cut_at(cuts, to->number + 1, from->number);
  memcpy(to->out + place(cuts, to->number, from->number) * elem, from->in + first * elem,
         (size_t)((past - first) * elem));
}

lgt_status lgt_shuffle(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  const lgt_tile *cuts = &tiles[CUTS];
  int64_t elem = lgt_dtype_size(tiles[OUT].dtype);
  (void)nargs;
  if (lo > 0 || hi == 0) return LGT_OK; /* in one piece */
  for (int64_t r = 0; r < cuts->extent[1]; r++)
    for (int64_t j = 0; j < cuts->extent[1]; j++) {
      run from = {r, (char *)tiles[IN].data + r * (int64_t)params[1].f * elem, NULL},
          to = {j, NULL, (char *)tiles[OUT].data + j * (int64_t)params[0].f * elem};
      copy_part(cuts, &from, &to, elem);
    }
  return LGT_OK;
}

/* ---- who has what ------------------------------------------------------------------------------------ */

bool lgt_shuffle_is(const lgt_plan_group *group) {
  return group->launch->kind == LGT_PARTITION_TILING && group->count == 1 &&
         group->plan->call[group->first].kind->own == lgt_shuffle;
}

/* Its runs, and whose they are; instances are those of `bound`, if there are any.  NULL when out of memory; freed with
 * lgt_mem_free. */
static shuffle *new_shuffle(lgt_binder *binder, const lgt_plan_group *group, const lgt_bound *bound) {
  const lgt_partition *launch = group->launch;
  const lgt_plan_native *call = group->loop[0].native;
  int local = binder->map->local, here = binder->map->first / local;
  int64_t n = launch->extent[0];
  shuffle *s = lgt_mem_zalloc(sizeof *s + (size_t)n * (sizeof *s->run + sizeof *s->peer));
  if (!s) return NULL;
  s->count = n;
  s->run = (run *)(s + 1);
  s->peer = (int *)(s->run + n);
  for (int c = 0; c < launch->ncolour; c++) {
    lgt_rect tile = lgt_partition_rect(launch, c);
    int domain = lgt_partition_domain(launch, binder->map->domains, c);
    for (int64_t r = tile.lo[0]; r < tile.hi[0]; r++) {
      s->peer[r] = domain / local == here ? -1 : domain / local;
      if (s->peer[r] >= 0) continue;
      run *own = &s->run[s->nrun++];
      own->number = r;
      for (int a = 0; bound && a < NARG; a++) {
        lgt_rect one = {1, {r}, {r + 1}};
        lgt_tile t;
        lgt_alignment align = lgt_group_align(group, &call->access[a]);
        lgt_instance *inst = bound->inst[(domain - binder->map->first) * group->nslot + call->access[a].slot];
        if (a == MARKS) continue;
        lgt_instance_tile(lgt_layout_at(binder->stores, call->access[a].layout), &align, &one, inst, &t,
                          NULL);
        if (a == OUT) own->out = t.data, s->elem = inst->elem;
        if (a == IN) own->in = t.data;
        if (a == CUTS) s->cuts = t;
      }
    }
  }
  return s;
}

/* ---- between runs of this rank ----------------------------------------------------------------------- */

static lgt_status copy_own(lgt_step *step, int chunk) {
  const shuffle *s = *(shuffle **)step->data;
  for (int r = 0; r < s->nrun; r++) copy_part(&s->cuts, &s->run[r], &s->run[chunk], s->elem);
  return LGT_OK;
}

/* The instances of this rank, read ones first; returns how many are only read. */
static int list_instances(lgt_binder *binder, const lgt_bound *bound, lgt_instance **out, int *count) {
  const lgt_plan_native *call = bound->group->loop[0].native;
  int nread = 0;
  *count = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int d = 0; d < binder->map->local; d++)
      for (int a = 0; a < NARG; a++) {
        lgt_instance *inst = bound->inst[d * bound->group->nslot + call->access[a].slot];
        bool known = !inst || a == MARKS || (a == OUT) != (pass == 1);
        for (int i = 0; i < *count && !known; i++) known = out[i] == inst;
        if (!known) out[(*count)++] = inst;
      }
    if (pass == 0) nread = *count;
  }
  return nread;
}

static lgt_status submit_copies(lgt_binder *binder, const lgt_bound *bound, shuffle *s, lgt_instance **inst,
                                int ninst, int nread) {
  void *memory;
  lgt_job *job =
      lgt_job_new(binder, (lgt_job_size){.steps = 1, .instances = ninst, .bytes = sizeof s}, false, &memory);
  if (!job) {
    lgt_mem_free(s);
    return LGT_NO_MEMORY;
  }
  *(shuffle **)memory = s;
  lgt_job_step(job, s->nrun, copy_own, memory);
  for (int i = 0; i < ninst; i++) lgt_job_touch(job, inst[i]);
  job->nread = nread;
  job->task.cost = 1 << 30;
  job->owned = s;
  lgt_point_label(binder, job, bound, "copy");
  return lgt_job_submit(binder, job);
}

/* ---- between ranks ----------------------------------------------------------------------------------- */

/* What goes from run `from` to run `to`: how many elements, and whether from here.  False: no message. */
static void write_messages(void *context, bool good, lgt_peer_message *message) {
  const shuffle *s = context;
  for (int i = 0; i < s->nrun; i++)
    for (int64_t j = 0; j < s->count; j++) {
      const run *own = &s->run[i];
      if (s->peer[j] < 0) continue;
      *message = (lgt_peer_message){.peer = s->peer[j], .sends = true};
      if (good) {
        int64_t first = cut_at(&s->cuts, j, own->number), past = cut_at(&s->cuts, j + 1, own->number);
        message->data = own->in + first * s->elem;
        message->bytes = (size_t)((past - first) * s->elem);
      }
      message++;
    }
  for (int64_t r = 0; r < s->count; r++)
    for (int i = 0; i < s->nrun && s->peer[r] >= 0; i++) {
      const run *own = &s->run[i];
      *message = (lgt_peer_message){.peer = s->peer[r]};
      if (good) {
        int64_t n = cut_at(&s->cuts, own->number + 1, r) - cut_at(&s->cuts, own->number, r);
        message->data = own->out + place(&s->cuts, own->number, r) * s->elem;
        message->bytes = (size_t)(n * s->elem);
      }
      message++;
    }
}

static int message_count(const shuffle *s) { return (int)(2 * s->nrun * (s->count - s->nrun)); }

static lgt_status begin(lgt_binder *binder, const lgt_bound *bound) {
  lgt_instance **inst =
      lgt_arena_alloc(&binder->arena, (size_t)(binder->map->local * NARG + 1) * sizeof *inst);
  shuffle *own = new_shuffle(binder, bound->group, bound),
          *other = binder->peers ? new_shuffle(binder, bound->group, bound) : NULL;
  int ninst;
  if (!inst || !own || (binder->peers && !other)) {
    lgt_mem_free(own);
    lgt_mem_free(other);
    return lgt_no_memory_to_launch();
  }
  int nread = list_instances(binder, bound, inst, &ninst), count = other ? message_count(other) : 0;
  lgt_status status = LGT_OK;
  if (own->nrun) status = submit_copies(binder, bound, own, inst, ninst, nread);
  else lgt_mem_free(own);
  if (!status && count)
    return lgt_message_many(binder, lgt_message_tag(binder, PLACE, 0), inst, ninst, nread, false, count,
                            write_messages, other);
  lgt_mem_free(other);
  return status;
}

lgt_status lgt_shuffle_begin(lgt_binder *binder, const lgt_bound *bound) {
  lgt_status status = begin(binder, bound);
  if (status && binder->peers)
    binder->peers->abort(binder->peers, lgt_message()); /* they count on messages */
  return status;
}

lgt_status lgt_shuffle_skip(lgt_binder *binder, const lgt_plan_group *group) {
  shuffle *s = new_shuffle(binder, group, NULL);
  if (!s) return lgt_no_memory_to_launch();
  if (message_count(s))
    return lgt_message_many(binder, lgt_message_tag(binder, PLACE, 0), NULL, 0, 0, true, message_count(s),
                            write_messages, s);
  lgt_mem_free(s);
  return LGT_OK;
}
