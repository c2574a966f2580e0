/* exec.c - the scheduler.  See exec.h for what it does and what the lock protects.
 *
 * One mutex, and one list of the tasks that run: those that have begun and are not done.  A thread that looks for work
 * takes the mutex and then a chunk of the first task in the list that has one to take.  From there on it goes without
 * the mutex, chunk by chunk, for chunks may take less than a microsecond:
 *
 * - To take a chunk is to add one to `place`, which has the step, too: a thread that gets a number beyond the step's
 *   chunks got none.
 * - The next chunk is taken before the last one is counted as finished in `left`.  So whoever touches a task without
 *   the mutex has a chunk that is not finished, and the task is there; with the mutex, the task is there because it is
 *   in the list.
 * - The thread that finishes the last chunk of a step goes on alone to the next step that has chunks, takes the first
 *   of these, and offers the others by `left` and then `place`.  So one thread does steps of a single chunk one behind
 *   the other, and nobody else hears of them.
 *
 * `offered` counts how often there was something to take.  Threads without work watch it.  An idle worker spins for a
 * short while before it sleeps, because waking a thread costs more than a typical gap between tasks; for longer, if
 * its last sleep was a short one: a script that issues tasks again and again takes so long for the next one.  Who is
 * about to sleep says so in `sleeping` or `waiting` and then looks at `offered` once more; who offers adds to
 * `offered` and then looks for sleepers: one of the two sees the other (all of these accesses are sequentially
 * consistent).
 */
#include "exec/exec.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { SPINS = 2000, MORE_SPINS = 8 * SPINS, SHORT_SLEEP = 300 * 1000 }; /* a sleep: nanoseconds */

struct lgt_exec {
  pthread_mutex_t lock;
  pthread_cond_t work;     /* there are chunks to take */
  pthread_cond_t finished; /* a task is done, or there is work for the thread that waits for one */
  lgt_task *head, *tail;   /* tasks that run */
  atomic_int sleeping;     /* workers in `work`; written with the lock, as the next one */
  atomic_int waiting;      /* the submitting thread, if it is in `finished`; it works, too */
  atomic_uint offered;     /* times that there were chunks to take; any thread */
  int started;             /* workers */
  bool stop;
  const lgt_outside *outside[LGT_MOST_OUTSIDE]; /* borrowed; sealed before the first task, as the next ones */
  int noutside;
  const lgt_outside *sleeper; /* the one that sleeps in its own way; NULL: none */
  lgt_profile *profile;       /* borrowed; NULL: none */
  atomic_int stirred;         /* times that something outside happened */
  lgt_task *ready;            /* outside tasks to begin */
  atomic_int nready;          /* their number; read without the lock as a hint */
  atomic_int completed;       /* tasks, ever; a hint for waiting threads */
  atomic_bool interrupted;    /* relaxed: read by the submitting thread, set by it or its signal handler */
  pthread_t *thread;          /* owned */
  int nthread, cpus;
  /* Of the submitting thread, as all below. */
  int *core;     /* owned: the number of the core on which each worker stays; -1: anywhere */
  int vacant;    /* the core that no worker has; -1: unknown */
  int here;      /* the core on which the submitting thread was last; -1: unknown */
  bool together; /* the submitting thread orders a task, and keeps the lock once it has it ... */
  bool locked;   /* ... as it has now */
};

/* ---- with the lock held ------------------------------------------------------------------------- */

/* The submitting thread may sleep for messages, which no condition ends. */
static void wake_submitter(lgt_exec *exec) {
  if (atomic_load(&exec->waiting)) pthread_cond_broadcast(&exec->finished);
  if (exec->sleeper) exec->sleeper->wake(exec->sleeper->context);
}

static void wake_all(lgt_exec *exec) {
  if (atomic_load(&exec->sleeping)) pthread_cond_broadcast(&exec->work);
  wake_submitter(exec);
}

static void list_add(lgt_exec *exec, lgt_task *task) {
  task->next = NULL;
  task->listed = true;
  if (exec->tail) exec->tail->next = task;
  else exec->head = task;
  exec->tail = task;
}

/* It is near the head: threads work on the first tasks that have chunks to take. */
static void list_remove(lgt_exec *exec, lgt_task *task) {
  lgt_task *before = NULL;
  for (lgt_task *t = exec->head; t != task; t = t->next) before = t;
  if (before) before->next = task->next;
  else exec->head = task->next;
  if (exec->tail == task) exec->tail = before;
  task->listed = false;
}

static void fail(lgt_task *task, lgt_status status, const char *message) {
  if (task->status) return;
  task->status = status;
  task->message = lgt_mem_strdup(message);
}

/* Chunks fail in any order: what is told is the same in every run. */
static void fail_chunk(lgt_task *task, int chunk, lgt_status status, const char *message) {
  if (task->status && chunk > task->failed) return;
  lgt_mem_free(task->message);
  task->status = LGT_OK;
  task->failed = chunk;
  fail(task, status, message);
}

static int number_of(const lgt_task *task, const void *thing) {
  for (int i = 0; i < task->nthing; i++)
    if (task->thing[i] == thing) return i;
  return -1;
}

void lgt_task_set_poison(lgt_task *task, int n, const lgt_poison *poison) {
  lgt_poison *own = &task->poison[n];
  if (own == poison) return;
  lgt_mem_free(own->message);
  *own = (lgt_poison){0};
  if (poison && poison->status)
    *own = (lgt_poison){poison->status, poison->position,
                        poison->message ? lgt_mem_strdup(poison->message) : NULL};
}

/* Of several failures the first in the stream counts, whichever is found first. */
static void take_poison(lgt_task *task, const void *thing, const lgt_poison *from) {
  int n = task->poison_results ? number_of(task, thing) : -1;
  if (n >= 0 && !task->poison) task->poison = lgt_mem_zalloc((size_t)task->nthing * sizeof *task->poison);
  if (n >= 0 && task->poison) {
    if (!task->poison[n].status || from->position < task->poison[n].position)
      lgt_task_set_poison(task, n, from);
    return;
  }
  if (task->status && (!task->poisoned || task->position <= from->position)) return;
  lgt_mem_free(task->message);
  task->status = LGT_OK;
  fail(task, from->status, from->message ? from->message : lgt_status_name(from->status));
  task->poisoned = true;
  task->position = from->position;
}

/* `next` gets the poison of a thing that `task` has made, if any. */
static void pass_poison(lgt_task *next, const void *thing, const lgt_task *task) {
  lgt_poison whole = {task->status, task->position, task->message};
  const lgt_poison *poison = lgt_task_poison(task, thing); /* failed before the task itself did */
  if (!poison) poison = &whole;
  if (poison->status) take_poison(next, thing, poison);
}

const lgt_poison *lgt_task_poison(const lgt_task *task, const void *thing) {
  int n = task->poison ? number_of(task, thing) : -1;
  return n >= 0 && task->poison[n].status ? &task->poison[n] : NULL;
}

static void start(lgt_exec *exec, lgt_task *task);

static void complete(lgt_exec *exec, lgt_task *task) {
  for (int i = 0; i < task->nsuccessor; i++) {
    lgt_task *next = task->successor[i].to;
    if (task->successor[i].thing) pass_poison(next, task->successor[i].thing, task);
    if (task->successor[i].follows) next->followed--;
    else if (--next->pending == 0) start(exec, next);
  }
  task->nsuccessor = 0;
  if (task->listed) list_remove(exec, task);
  atomic_store_explicit(&task->done, true, memory_order_release);
  atomic_fetch_add_explicit(&exec->completed, 1, memory_order_release);
  wake_submitter(exec);
}

/* The first step from `at` on that has chunks; -1 if there is none, or the task has failed.  Nobody else works on the
 * task.  begin() may allocate but never waits: it may be called with the lock. */
static int next_step(lgt_task *task, int at) {
  for (; at < task->nstep && !task->status; at++) {
    lgt_step *step = &task->step[at];
    lgt_status status = step->begin ? step->begin(step) : LGT_OK;
    if (status) fail(task, status, lgt_message());
    else if (step->nchunk > 0) return at;
    if (step->end) step->end(step);
  }
  return -1;
}

/* From now on others may take chunks of the step, from the first that is not `taken`, and finish the task if none is
 * taken. */
static void offer(lgt_task *task, int at, int taken) {
  atomic_store_explicit(&task->left, task->step[at].nchunk, memory_order_relaxed);
  atomic_store_explicit(&task->place, (unsigned long long)at << 32 | (unsigned)taken, memory_order_release);
}

/* Begin the task, or complete it. */
static void begin(lgt_exec *exec, lgt_task *task) {
  int at = next_step(task, 0);
  if (at < 0) {
    complete(exec, task);
    return;
  }
  offer(task, at, 0);
  list_add(exec, task);
  atomic_fetch_add(&exec->offered, 1);
  wake_all(exec);
}

static void start(lgt_exec *exec, lgt_task *task) {
  if (!task->outside) {
    if (task->poison) task->poison_results(task);
    begin(exec, task);
    return;
  }
  task->next = exec->ready;
  exec->ready = task;
  atomic_fetch_add_explicit(&exec->nready, 1, memory_order_release);
  wake_submitter(exec);
}

/* ---- without the lock ------------------------------------------------------------------------------ */

static lgt_status run_chunk(const lgt_exec *exec, const lgt_task *task, lgt_step *step, int chunk) {
  if (__builtin_expect(!exec->profile, 1)) return step->run(step, chunk);
  char more[128] = "";
  int64_t begin = lgt_profile_now();
  lgt_status status = step->run(step, chunk);
  if (step->describe) step->describe(step, chunk, more, sizeof more);
  lgt_profile_span(exec->profile, begin, &task->label,
                   "\"pass\":%d,\"passes\":%d,\"chunk\":%d,\"chunks\":%d%s", (int)(step - task->step) + 1,
                   task->nstep, chunk + 1, step->nchunk, more);
  return status;
}

/* Take a chunk of the task's current step; -1: others have all of them.  The caller must have the lock, with the task in
 * the list, or a chunk of the task that is not finished. */
static int take(lgt_task *task, int *at) {
  unsigned long long place = atomic_load_explicit(&task->place, memory_order_acquire);
  if ((int)(unsigned)place >= task->step[place >> 32].nchunk) return -1;
  place = atomic_fetch_add_explicit(&task->place, 1, memory_order_acquire);
  int chunk = (int)(unsigned)place;
  *at = (int)(place >> 32);
  return chunk < task->step[*at].nchunk ? chunk : -1;
}

/* When the submitting thread leaves a task. */
typedef struct errand {
  lgt_task *until; /* this one is done; NULL: after one chunk */
  bool may_stop;   /* when interrupted */
} errand;

static bool is_over(lgt_exec *exec, const errand *e) {
  if (!e) return false;
  return !e->until || exec->noutside || lgt_task_done(e->until) ||
         (e->may_stop && atomic_load_explicit(&exec->interrupted, memory_order_relaxed));
}

/* Run a chunk that was taken, and others of the task, as long as there are some. */
static void work_on(lgt_exec *exec, lgt_task *task, int at, int chunk, const errand *e) {
  for (;;) {
    lgt_step *step = &task->step[at];
    lgt_status status = run_chunk(exec, task, step, chunk);
    if (status) {
      pthread_mutex_lock(&exec->lock);
      fail_chunk(task, chunk, status, lgt_message());
      pthread_mutex_unlock(&exec->lock);
    }
    bool leave = is_over(exec, e);
    chunk = leave ? -1 : take(task, &at);
    if (atomic_fetch_sub_explicit(&task->left, 1, memory_order_acq_rel) > 1) {
      if (chunk < 0) return;
      continue;
    }
    if (step->end) step->end(step);
    at = next_step(task, at + 1);
    if (at < 0) break;
    chunk = 0;
    bool alone = !leave && task->step[at].nchunk == 1;
    offer(task, at, !leave);
    if (alone) continue;
    atomic_fetch_add(&exec->offered, 1);
    if (atomic_load(&exec->sleeping) || atomic_load(&exec->waiting) || exec->sleeper) {
      pthread_mutex_lock(&exec->lock);
      wake_all(exec);
      pthread_mutex_unlock(&exec->lock);
    }
    if (leave) return;
  }
  pthread_mutex_lock(&exec->lock);
  complete(exec, task);
  pthread_mutex_unlock(&exec->lock);
}

/* Work on the first task that has a chunk to take; false if there is none.  Drops and retakes the lock. */
static bool work_once(lgt_exec *exec, const errand *e) {
  for (lgt_task *task = exec->head; task; task = task->next) {
    int at, chunk = take(task, &at);
    if (chunk < 0) continue;
    pthread_mutex_unlock(&exec->lock);
    work_on(exec, task, at, chunk, e);
    pthread_mutex_lock(&exec->lock);
    return true;
  }
  return false;
}

/* ---- workers --------------------------------------------------------------------------------------- */

/* With the lock: until there may be chunks to take.  True if that was soon. */
static bool nap(lgt_exec *exec, unsigned seen) {
  int64_t begin = lgt_profile_now();
  atomic_fetch_add(&exec->sleeping, 1);
  if (atomic_load(&exec->offered) == seen) pthread_cond_wait(&exec->work, &exec->lock);
  atomic_fetch_sub(&exec->sleeping, 1);
  return lgt_profile_now() - begin < SHORT_SLEEP;
}

static void *worker(void *argument) {
  lgt_exec *exec = argument;
  int spins = SPINS;
  pthread_mutex_lock(&exec->lock);
  lgt_profile_enter(++exec->started);
  while (!exec->stop) {
    unsigned seen = atomic_load(&exec->offered);
    if (work_once(exec, NULL)) continue;
    pthread_mutex_unlock(&exec->lock);
    for (int i = 0; i < spins && atomic_load(&exec->offered) == seen; i++) {
      if (i % 64 == 63) sched_yield();
      __builtin_ia32_pause();
    }
    pthread_mutex_lock(&exec->lock);
    if (exec->stop || atomic_load(&exec->offered) != seen) continue;
    spins = nap(exec, seen) ? MORE_SPINS : SPINS;
  }
  pthread_mutex_unlock(&exec->lock);
  return NULL;
}

static bool bind_worker(lgt_exec *exec, int n, int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (pthread_setaffinity_np(exec->thread[n], sizeof set, &set)) return false;
  exec->core[n] = core;
  return true;
}

/* Each worker stays on a core of those that the process may use, and the first one is left to the script's own thread, if that
 * is there: it is bound to nothing. */
static void bind_workers(lgt_exec *exec) {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable)) return;
  for (int core = 0, n = -1; core < CPU_SETSIZE && n < exec->nthread; core++) {
    if (!CPU_ISSET(core, &usable)) continue;
    if (n < 0) exec->vacant = core;
    else if (!bind_worker(exec, n, core)) return;
    n++;
  }
}

/* The system puts the script's thread where it likes, and may leave it beside a worker for as long as a script runs, for
 * both of them sleep often: two threads would share one core while another one is idle.  Then the worker goes there. */
static void make_way(lgt_exec *exec) {
  int here = exec->vacant >= 0 ? sched_getcpu() : exec->here;
  if (here == exec->here) return;
  exec->here = here;
  for (int n = 0; n < exec->nthread; n++) {
    if (exec->core[n] != here) continue;
    if (bind_worker(exec, n, exec->vacant)) exec->vacant = here;
    return;
  }
}

/* Signals are for the program's own threads. */
static bool start_workers(lgt_exec *exec) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int i = 1;
  for (; i < exec->cpus; i++) {
    if (pthread_create(&exec->thread[exec->nthread], NULL, worker, exec)) break;
    exec->core[exec->nthread++] = -1;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  bind_workers(exec);
  return i >= exec->cpus;
}

static int usable_cpus(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

lgt_status lgt_exec_new(int cpus, lgt_exec **out) {
  lgt_exec *exec = lgt_mem_zalloc(sizeof *exec);
  if (!exec) return lgt_err(LGT_NO_MEMORY, "out of memory for the scheduler");
  exec->cpus = cpus > 0 ? cpus : usable_cpus();
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP); /* held for less than a sleep takes */
  pthread_mutex_init(&exec->lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
  pthread_cond_init(&exec->work, NULL);
  pthread_cond_init(&exec->finished, NULL);
  exec->thread = lgt_mem_zalloc((size_t)exec->cpus * sizeof *exec->thread);
  exec->core = lgt_mem_zalloc((size_t)exec->cpus * sizeof *exec->core);
  exec->vacant = exec->here = -1;
  if (!exec->thread || !exec->core) {
    lgt_err(LGT_NO_MEMORY, "out of memory for %d workers", exec->cpus);
    lgt_exec_free(exec);
    return LGT_NO_MEMORY;
  }
  if (!start_workers(exec)) {
    lgt_err(LGT_SYSTEM, "cannot start worker thread %d of %d: set `cpus` lower", exec->nthread + 1,
            exec->cpus);
    lgt_exec_free(exec);
    return LGT_SYSTEM;
  }
  *out = exec;
  return LGT_OK;
}

void lgt_exec_free(lgt_exec *exec) {
  if (!exec) return;
  pthread_mutex_lock(&exec->lock);
  exec->stop = true;
  pthread_cond_broadcast(&exec->work);
  pthread_mutex_unlock(&exec->lock);
  for (int i = 0; i < exec->nthread; i++) pthread_join(exec->thread[i], NULL);
  pthread_cond_destroy(&exec->work);
  pthread_cond_destroy(&exec->finished);
  pthread_mutex_destroy(&exec->lock);
  lgt_mem_free(exec->thread);
  lgt_mem_free(exec->core);
  lgt_mem_free(exec);
}

int lgt_exec_cpus(const lgt_exec *exec) { return exec->cpus; }

/* ---- the submitting thread ---------------------------------------------------------------------------- */

void lgt_task_init(lgt_task *task) {
  task->pending = 1;
  task->successor = task->few;
  task->successor_room = LGT_FEW_EDGES;
  task->fallible = true;
  atomic_init(&task->done, false);
}

static bool may_follow(lgt_task *before, lgt_task *after) {
  const lgt_outside *outside = before->outside;
  return before->enqueued && after->outside == outside && outside->follow && outside->follow(before, after);
}

/* The lock is left when the task that is being ordered is submitted, or at once. */
static void enter(lgt_exec *exec) {
  if (!exec->locked) pthread_mutex_lock(&exec->lock);
  exec->locked = true;
}
static void leave(lgt_exec *exec) {
  exec->locked = false;
  pthread_mutex_unlock(&exec->lock);
}

void lgt_exec_together(lgt_exec *exec) { exec->together = true; }

static bool room_for_edge(lgt_task *task) {
  if (task->nsuccessor < task->successor_room) return true;
  if (task->successor != task->few)
    return lgt_mem_grow((void **)&task->successor, &task->successor_room, task->nsuccessor + 1,
                        sizeof *task->successor);
  lgt_edge *more = NULL;
  if (!lgt_mem_grow((void **)&more, &task->successor_room, 2 * LGT_FEW_EDGES, sizeof *more)) return false;
  memcpy(more, task->few, sizeof task->few);
  task->successor = more;
  return true;
}

bool lgt_exec_order(lgt_exec *exec, lgt_task *before, lgt_task *after, const void *thing) {
  bool good = true;
  if (lgt_task_done(before) && !before->status && !before->poison)
    return true; /* it does not change any more */
  enter(exec);
  if (atomic_load_explicit(&before->done, memory_order_relaxed)) {
    if (thing) pass_poison(after, thing, before);
  } else if ((good = room_for_edge(before))) {
    bool follows = may_follow(before, after);
    before->successor[before->nsuccessor++] = (lgt_edge){after, thing, follows};
    before->watched |= before->enqueued && !follows;
    after->followed += follows;
    after->pending += !follows;
    after->ordered++;
  }
  if (!exec->together) leave(exec);
  return good;
}

bool lgt_task_expect_poison(lgt_task *task) {
  task->poison = lgt_mem_zalloc(((size_t)task->nthing + 1) * sizeof *task->poison);
  return task->poison != NULL;
}

/* Nobody waits for it yet and it waits for nobody: run it here, without the lock. */
static void run_here(const lgt_exec *exec, lgt_task *task) {
  if (task->poison) task->poison_results(task);
  for (int s = 0; s < task->nstep && !task->status; s++) {
    lgt_step *step = &task->step[s];
    lgt_status status = step->begin ? step->begin(step) : LGT_OK;
    for (int c = 0; c < step->nchunk && !status; c++) status = run_chunk(exec, task, step, c);
    if (step->end) step->end(step);
    if (status) fail(task, status, lgt_message());
  }
  atomic_store_explicit(&task->done, true, memory_order_release);
}

void lgt_exec_submit(lgt_exec *exec, lgt_task *task) {
  bool small = lgt_exec_here(task->cost) && !task->outside, here = small && task->ordered == 0;
  exec->together = false;
  if (!here) {
    make_way(exec);
    enter(exec);
    here = small && task->pending == 1; /* what it waited for is done by now */
    if (!here && --task->pending == 0) start(exec, task);
  }
  if (exec->locked) leave(exec);
  if (here) run_here(exec, task);
}

void lgt_exec_interrupt(lgt_exec *exec, bool on) {
  atomic_store_explicit(&exec->interrupted, on, memory_order_relaxed);
}

bool lgt_exec_interrupted(lgt_exec *exec) {
  return atomic_load_explicit(&exec->interrupted, memory_order_relaxed);
}

void lgt_exec_watch(lgt_exec *exec, lgt_profile *profile) { exec->profile = profile; }

void lgt_exec_look_after(lgt_exec *exec, const lgt_outside *outside) {
  lgt_assert(exec->noutside < LGT_MOST_OUTSIDE && !(exec->sleeper && outside->sleep));
  exec->outside[exec->noutside++] = outside;
  if (outside->sleep) exec->sleeper = outside;
}

lgt_task *lgt_exec_take(lgt_exec *exec, const lgt_outside *outside) {
  if (!atomic_load_explicit(&exec->nready, memory_order_acquire)) return NULL;
  pthread_mutex_lock(&exec->lock);
  lgt_task **found = NULL; /* the oldest comes last */
  for (lgt_task **link = &exec->ready; *link; link = &(*link)->next)
    if ((*link)->outside == outside) found = link;
  lgt_task *task = found ? *found : NULL;
  if (task) {
    *found = task->next;
    atomic_fetch_sub_explicit(&exec->nready, 1, memory_order_relaxed);
  }
  pthread_mutex_unlock(&exec->lock);
  return task;
}

void lgt_exec_finish(lgt_exec *exec, lgt_task *task, const char *message) {
  pthread_mutex_lock(&exec->lock);
  if (message && !task->status) {
    const lgt_poison elsewhere = {LGT_TASK_FAILED, LGT_POSITION_UNKNOWN, (char *)message};
    take_poison(task, NULL, &elsewhere);
  }
  complete(exec, task);
  pthread_mutex_unlock(&exec->lock);
}

void lgt_exec_enqueued(lgt_exec *exec, lgt_task *task) {
  pthread_mutex_lock(&exec->lock);
  task->enqueued = true;
  for (int i = 0; i < task->nsuccessor; i++) {
    lgt_edge *edge = &task->successor[i];
    edge->follows = may_follow(task, edge->to);
    task->watched |= !edge->follows;
    if (!edge->follows) continue;
    edge->to->followed++;
    if (--edge->to->pending == 0) start(exec, edge->to);
  }
  pthread_mutex_unlock(&exec->lock);
}

void lgt_exec_end(lgt_exec *exec, lgt_task *task, lgt_status status, const char *message) {
  pthread_mutex_lock(&exec->lock);
  if (status) fail(task, status, message);
  if (task->poison) task->poison_results(task);
  complete(exec, task);
  pthread_mutex_unlock(&exec->lock);
}

void lgt_exec_stir(lgt_exec *exec) {
  atomic_fetch_add_explicit(&exec->stirred, 1, memory_order_release);
  pthread_mutex_lock(&exec->lock);
  wake_submitter(exec);
  pthread_mutex_unlock(&exec->lock);
}

/* Let what is outside go on. */
static bool progress_outside(const lgt_exec *exec) {
  bool moved = false;
  for (int i = 0; i < exec->noutside; i++) moved |= exec->outside[i]->progress(exec->outside[i]->context);
  return moved;
}

static void alert_outside(const lgt_exec *exec, lgt_task *task) {
  for (int i = 0; i < exec->noutside; i++)
    if (exec->outside[i]->alert) exec->outside[i]->alert(exec->outside[i]->context, task);
}

/* Is there anything to do but sleep? */
typedef struct wait_state {
  lgt_exec *exec;
  errand errand;
  int seen;         /* tasks completed when there was nothing to do, ... */
  int stirred;      /* ... what had happened outside, ... */
  unsigned offered; /* ... and before one looked for chunks */
} wait_state;

static bool stirs(void *context) {
  const wait_state *w = context;
  return atomic_load(&w->exec->offered) != w->offered ||
         atomic_load_explicit(&w->exec->nready, memory_order_relaxed) ||
         atomic_load_explicit(&w->exec->completed, memory_order_acquire) != w->seen ||
         atomic_load_explicit(&w->exec->stirred, memory_order_acquire) != w->stirred ||
         (w->errand.may_stop && atomic_load_explicit(&w->exec->interrupted, memory_order_relaxed));
}

/* With the lock: until a task is done, there are chunks to take, or a millisecond has passed. */
static void sleep_a_little(lgt_exec *exec, wait_state *w) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 1000000;
  if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
  atomic_fetch_add(&exec->waiting, 1);
  if (!stirs(w)) pthread_cond_timedwait(&exec->finished, &exec->lock, &until);
  atomic_fetch_sub(&exec->waiting, 1);
}

/* Works until the task is done, or the executor is interrupted if `may_stop`: a handler cannot signal a
 * condition, but nothing here sleeps for longer than a millisecond. */
static void work_until(lgt_exec *exec, lgt_task *task, bool may_stop) {
  wait_state w = {.exec = exec, .errand = {task, may_stop}};
  pthread_mutex_lock(&exec->lock);
  while (!atomic_load_explicit(&task->done, memory_order_relaxed)) {
    if (may_stop && atomic_load_explicit(&exec->interrupted, memory_order_relaxed)) break;
    w.offered = atomic_load(&exec->offered);
    bool worked = work_once(exec, &w.errand);
    w.seen = atomic_load_explicit(&exec->completed, memory_order_relaxed);
    w.stirred = atomic_load_explicit(&exec->stirred, memory_order_acquire);
    if (worked && !exec->noutside) continue;
    pthread_mutex_unlock(&exec->lock);
    bool moved = progress_outside(exec);
    for (int i = 0; i < SPINS && !worked && !moved && !stirs(&w); i++) {
      if (i % 64 == 63) sched_yield();
      if (i % 64 == 63 && exec->noutside) break; /* messages are looked after by whoever sleeps for them */
      __builtin_ia32_pause();
    }
    if (!worked && !moved && !stirs(&w)) alert_outside(exec, task);
    const lgt_outside *sleeper = exec->sleeper;
    if (sleeper && !worked && !moved && !stirs(&w)) sleeper->sleep(sleeper->context, stirs, &w);
    pthread_mutex_lock(&exec->lock);
    if (!sleeper && !worked && !stirs(&w)) sleep_a_little(exec, &w);
  }
  pthread_mutex_unlock(&exec->lock);
}

static void wait_until(lgt_exec *exec, lgt_task *task, bool may_stop) {
  int64_t begin = exec->profile ? lgt_profile_now() : 0;
  int before = atomic_load_explicit(&exec->completed, memory_order_relaxed);
  make_way(exec);
  work_until(exec, task, may_stop);
  if (!exec->profile) return;
  lgt_label label = task->label;
  if (!label.name) label.name = label.category;
  label.category = "wait";
  label.verb = "wait for ";
  lgt_profile_span(exec->profile, begin, &label, "\"completed\":%d",
                   atomic_load_explicit(&exec->completed, memory_order_relaxed) - before);
}

bool lgt_exec_help(lgt_exec *exec) {
  pthread_mutex_lock(&exec->lock);
  const errand chunk = {NULL, false};
  bool worked = work_once(exec, &chunk);
  pthread_mutex_unlock(&exec->lock);
  bool moved = progress_outside(exec);
  return worked || moved;
}

void lgt_exec_wait(lgt_exec *exec, lgt_task *task) {
  if (!lgt_task_done(task)) wait_until(exec, task, false);
}

bool lgt_exec_look(lgt_exec *exec, lgt_task *task) {
  if (!lgt_task_done(task)) wait_until(exec, task, true);
  return lgt_task_done(task);
}

void lgt_exec_forget(lgt_task *task) {
  for (int i = 0; i < task->nthing && task->poison; i++) lgt_mem_free(task->poison[i].message);
  lgt_mem_free(task->poison);
  task->poison = NULL;
  if (task->successor != task->few) lgt_mem_free(task->successor);
  lgt_mem_free(task->message);
  task->successor = NULL;
  task->message = NULL;
}
