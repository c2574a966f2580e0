/* follow.c - see follow.h. */
#include "bind/follow.h"

#include <stdio.h>

#include "kernel/skew.h"
#include "move/template.h"

enum { FEW = 2 };   /* caches that the arrays must have the size of */
enum { SMALL = 4 }; /* steps that touch so many times fewer bytes than a sweep need not be part of it */
enum { MOST_STEPS = 64 };

/* Loops that follow one another: one step for the trapezoids, and one for the wedges, whose data are the first loop's
 * work.  Of the steps among theirs that stay by themselves each runs before them all, and touches nothing that any of them
 * changes, such as the copy of what the first loop did not write:
 *
 *   new = f(old)   edges of new = edges of old   old = f(new)   ...
 */
typedef struct lgt_sweep {
  lgt_skew skew;
  int first, nstep;             /* of the steps that the loops had, with those by themselves */
  uint64_t alone;               /* by step, as bits: it stays by itself */
  uint16_t work[LGT_SKEW_MOST]; /* by nest: how far its work lies behind the first loop's */
  int64_t bytes;
} lgt_sweep;

/* All that do in a job, in one block of memory. */
struct lgt_sweeps {
  int count;
  lgt_sweep sweep[];
};

static void run_rows(void *context, int n, int64_t lo, int64_t hi) {
  const lgt_loop_work *first = context, *w = first + first->sweep->work[n];
  lgt_kernel_fn code = lgt_kernel_code(w->kernel, LGT_KERNEL_PLAIN);
  const lgt_nest_shape *shape = w->nest.shape;
  if (!code && lo < hi)
    code = lgt_kernel_missing(w->kernel, LGT_KERNEL_PLAIN, shape->size / shape->extent[0] * (hi - lo),
                              shape->size);
  lgt_nest_run_rows(&w->nest, code, lo, hi);
}

static lgt_status run_trapezoid(lgt_step *step, int chunk) {
  const lgt_loop_work *first = step->data;
  lgt_skew_trapezoid(&first->sweep->skew, chunk, run_rows, step->data);
  return LGT_OK;
}

static lgt_status run_wedge(lgt_step *step, int chunk) {
  const lgt_loop_work *first = step->data;
  lgt_skew_wedge(&first->sweep->skew, chunk, run_rows, step->data);
  return LGT_OK;
}

static void describe(const lgt_step *step, int chunk, char *text, size_t room) {
  const lgt_sweep *sweep = ((const lgt_loop_work *)step->data)->sweep;
  int64_t n = step->nchunk, bytes = sweep->bytes / n + (chunk < sweep->bytes % n);
  snprintf(text, room, ",\"bytes\":%lld,\"loops\":%d", (long long)bytes, sweep->skew.nskewed);
}

/* ---- finding them ----------------------------------------------------------------------------------------- */

static bool any_calls(const lgt_loop_work *w) {
  bool any = false;
  for (int i = 0; i < w->count; i++) any |= w[i].plan->nnative > 0;
  return any;
}

static int64_t bytes_of(const lgt_loop_work *w) {
  int64_t bytes = 0;
  for (int i = 0; i < w->count; i++) bytes += w[i].bytes;
  return bytes;
}

/* Let all loops of a step follow those of the sweep, or none. */
static bool join(lgt_sweep *sweep, const lgt_loop_work *first, const lgt_loop_work *w, int64_t cache) {
  const lgt_skew before = sweep->skew;
  for (int i = 0; i < w->count; i++) {
    if (!lgt_skew_add(&sweep->skew, &w[i].nest, cache)) return sweep->skew = before, false;
    sweep->work[sweep->skew.nskewed - 1] = (uint16_t)(w + i - first);
  }
  sweep->bytes += bytes_of(w);
  return true;
}

/* May a step run before those of the sweep, and is it so small that it might as well? */
static bool stays_alone(const lgt_sweep *sweep, const lgt_loop_work *w) {
  bool good = bytes_of(w) <= sweep->bytes / SMALL;
  for (int i = 0; i < w->count && good; i++) good = lgt_skew_apart(&sweep->skew, &w[i].nest);
  return good;
}

/* The steps from `first` on whose loops follow each other, and how many of them do. */
static int line_up(const lgt_binder *binder, const lgt_job *job, int first, lgt_sweep *sweep) {
  int64_t cache = binder->fuser->config->skew;
  const lgt_loop_work *begin = NULL;
  *sweep = (lgt_sweep){.first = first};
  int n = 0;
  for (int s = first; s < job->task.nstep && sweep->nstep < MOST_STEPS; s++, sweep->nstep++) {
    const lgt_loop_work *w = lgt_work_loops(&job->task.step[s]);
    if (!w || any_calls(w)) break;
    if (!begin) begin = w;
    if (n && stays_alone(sweep, w)) sweep->alone |= (uint64_t)1 << sweep->nstep;
    else if (w - begin <= UINT16_MAX - w->count && join(sweep, begin, w, cache)) n++;
    else break;
  }
  return n;
}

/* Is it worth it?  One after another the loops would fetch from memory what each touches, together what all of them touch. */
static bool pays(const lgt_binder *binder, const lgt_skew *skew) {
  int64_t cache = binder->fuser->config->skew, together = skew->row * (skew->last - skew->first);
  return together > FEW * cache && skew->alone > together + together / 4;
}

/* Is there a loop whose arrays alone would fill the cache?  (Or else finding out more takes too long.) */
static bool any_large(const lgt_task *task, int64_t cache) {
  for (int s = 0; s < task->nstep; s++) {
    const lgt_loop_work *w = lgt_work_loops(&task->step[s]);
    if (w && w->bytes > cache) return true;
  }
  return false;
}

/* What follows another loop leaves its results in the cache. */
static void want_plain(const lgt_binder *binder, const lgt_job *job, const lgt_sweep *sweep) {
  for (int s = sweep->first; s < sweep->first + sweep->nstep; s++) {
    const lgt_loop_work *w = lgt_work_loops(&job->task.step[s]);
    for (int i = 0; w && i < w->count && !(sweep->alone >> (s - sweep->first) & 1); i++)
      lgt_kernel_want_other(binder->fuser->kernels, w[i].kernel, LGT_KERNEL_PLAIN);
  }
}

/* NULL: out of memory. */
static lgt_sweeps *find(const lgt_binder *binder, const lgt_job *job) {
  int64_t cache = binder->fuser->config->skew;
  int most = any_large(&job->task, cache) ? job->task.nstep / 2 : 0;
  lgt_sweeps *all = lgt_mem_alloc(sizeof *all + (size_t)most * sizeof *all->sweep);
  if (!all) return NULL;
  all->count = 0;
  for (int s = 0; s < job->task.nstep && all->count < most;) {
    lgt_sweep *next = &all->sweep[all->count];
    int n = line_up(binder, job, s, next);
    s += n < 2 ? 1 : next->nstep; /* those that stay by themselves beside one loop may follow each other */
    if (n < 2 || !pays(binder, &next->skew)) continue;
    want_plain(binder, job, next);
    lgt_skew_cut(&next->skew, cache, lgt_exec_cpus(binder->exec));
    all->count++;
  }
  return all;
}

/* With the option `check`: would the same be found? */
static bool verify(const lgt_binder *binder, const lgt_job *job, const lgt_sweeps *known) {
  lgt_sweeps *again = find(binder, job);
  bool same = !again || again->count == known->count;
  for (int i = 0; again && i < again->count && same; i++)
    same = again->sweep[i].first == known->sweep[i].first && again->sweep[i].nstep == known->sweep[i].nstep &&
           again->sweep[i].alone == known->sweep[i].alone && again->sweep[i].bytes == known->sweep[i].bytes &&
           lgt_skew_equal(&again->sweep[i].skew, &known->sweep[i].skew);
  lgt_mem_free(again);
  return same || (lgt_err(LGT_SYSTEM, "template: other loops follow one another"), false);
}

/* ---- what a job does then ----------------------------------------------------------------------------------- */

static void arrange(lgt_binder *binder, lgt_job *job, const lgt_sweeps *sweeps) {
  lgt_task *task = &job->task;
  int kept = 0, s = 0;
  for (int i = 0; i < sweeps->count; i++) {
    const lgt_sweep *sweep = &sweeps->sweep[i];
    while (s < sweep->first) task->step[kept++] = task->step[s++];
    lgt_loop_work *first = task->step[s].data;
    int parts = sweep->skew.ntrapezoid;
    for (int k = 0; k < sweep->nstep; k++)
      if (sweep->alone >> k & 1) task->step[kept++] = task->step[s + k];
    first->sweep = sweep;
    task->step[kept++] = (lgt_step){parts, NULL, run_trapezoid, NULL, describe, first};
    if (parts > 1) task->step[kept++] = (lgt_step){parts - 1, NULL, run_wedge, NULL, NULL, first};
    binder->followed += sweep->skew.nskewed;
    s += sweep->nstep;
  }
  while (s < task->nstep) task->step[kept++] = task->step[s++];
  task->nstep = kept;
}

void lgt_follow(lgt_binder *binder, lgt_job *job, lgt_instance *const *inst) {
  lgt_template *template = job->template;
  if (!binder->fuser->config->skew || job->task.nstep < 2 || job->owned) return;
  if (template && template->alone) return;
  if (template && template->sweeps) {
    if (binder->check) lgt_verified(verify(binder, job, template->sweeps));
    return arrange(binder, job, template->sweeps);
  }
  lgt_sweeps *found = find(binder, job);
  if (!found) return;
  if (found->count) arrange(binder, job, found);
  else if (template) template->alone = true;
  if (!found->count) lgt_mem_free(found);
  else if (!template || !lgt_template_follow(template, inst, found)) job->owned = found;
}
