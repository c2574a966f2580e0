/* follow.c - see follow.h. */
#include "bind/follow.h"

#include <stdio.h>

#include "kernel/skew.h"
#include "move/template.h"

enum { FEW = 2 }; /* caches that the arrays must have the size of */

/* Loops that follow one another: the data of two steps, one for the trapezoids and one for the wedges. */
typedef struct crew {
  lgt_skew skew;
  const lgt_loop_work *work[LGT_SKEW_MOST];
  int64_t bytes;
} crew;

static void run_rows(void *context, int n, int64_t lo, int64_t hi) {
  const lgt_loop_work *w = ((const crew *)context)->work[n];
  lgt_nest_run_rows(&w->nest, lgt_kernel_code(w->kernel), lo, hi);
}

static lgt_status run_trapezoid(lgt_step *step, int chunk) {
  crew *c = step->data;
  lgt_skew_trapezoid(&c->skew, chunk, run_rows, c);
  return LGT_OK;
}

static lgt_status run_wedge(lgt_step *step, int chunk) {
  crew *c = step->data;
  lgt_skew_wedge(&c->skew, chunk, run_rows, c);
  return LGT_OK;
}

static void describe(const lgt_step *step, int chunk, char *text, size_t room) {
  const crew *c = step->data;
  int64_t n = step->nchunk, bytes = c->bytes / n + (chunk < c->bytes % n);
  snprintf(text, room, ",\"bytes\":%lld,\"loops\":%d", (long long)bytes, c->skew.nskewed);
}

/* The loops from step `first` on that follow each other, and their number. */
static int line_up(const lgt_binder *binder, const lgt_job *job, int first, crew *c) {
  int64_t cache = binder->fuser->config->skew;
  *c = (crew){0};
  int n = 0;
  for (int s = first; s < job->task.nstep; s++, n++) {
    const lgt_loop_work *w = lgt_work_loops(&job->task.step[s]);
    if (!w || w->count > 1 || w->plan->nnative || !lgt_skew_add(&c->skew, &w->nest, cache)) break;
    c->work[n] = w;
    c->bytes += w->bytes;
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

void lgt_follow(lgt_binder *binder, lgt_job *job) {
  int64_t cache = binder->fuser->config->skew, before = binder->followed;
  lgt_task *task = &job->task;
  if (!cache || task->nstep < 2 || job->owned || (job->template && job->template->alone)) return;
  if (!any_large(task, cache)) return;
  crew *all = lgt_mem_alloc((size_t)(task->nstep / 2) * sizeof *all), *next = all;
  if (!all) return;
  int kept = 0, s = 0;
  while (s < task->nstep) {
    int n = next < all + task->nstep / 2 ? line_up(binder, job, s, next) : 0;
    if (n < 2 || !pays(binder, &next->skew)) {
      for (n += !n; n > 0; n--) task->step[kept++] = task->step[s++];
      continue;
    }
    lgt_skew_cut(&next->skew, cache, lgt_exec_cpus(binder->exec));
    int parts = next->skew.ntrapezoid;
    task->step[kept++] = (lgt_step){parts, NULL, run_trapezoid, NULL, describe, next};
    if (parts > 1) task->step[kept++] = (lgt_step){parts - 1, NULL, run_wedge, NULL, NULL, next};
    binder->followed += n;
    s += n;
    next++;
  }
  task->nstep = kept;
  job->owned = all;
  if (job->template) job->template->alone = binder->followed == before;
}
