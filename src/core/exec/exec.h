/* exec.h - tasks that are ready to run, and the worker threads that run them.
 *
 * A task is a list of steps with a barrier after each; a step is a number of chunks that may run on
 * any threads at once.  A task becomes ready when all tasks that it waits for are done.  The submitting
 * thread is a worker, too, while it waits or when enough tasks are in flight: with one CPU there are no
 * other workers, and the submitting thread runs all tasks.
 *
 * A task that fails hands its failure to the successors that use what it should have made: these do not
 * run.  Successors that only had to wait until the task had read something do run.  A task that makes several things
 * may say which of its results depend on which of the things that it reads (`poison_results`).  Such a task runs after
 * a failure, too, and poisons only the results that depend on what has failed; each thing has a *poison* of its own.
 *
 * The work of some tasks is done elsewhere: by messages to and from other ranks, by queues of devices.  Such an *outside*
 * task, once ready, waits in a list for the submitting thread, which begins the task (even after a failure of a task that
 * it waited for: the other side must hear of that) and says when the task is done.  While the submitting thread waits, it
 * looks after outside tasks through lgt_outside.
 *
 * An outside task is *enqueued* when all of its work is in a queue of a device, which has not done it yet.  A successor whose work
 * goes to such a queue, too, need not wait for the end: it begins when its predecessors are enqueued, and has its queue
 * wait (`follow`).  All others wait until the task is done.  Either way a task is done after all that it waits for, and
 * only then is it known what has failed.
 *
 * Locking: `lock` protects everything in lgt_exec and the scheduling fields of tasks (marked L).
 * Everything else in a task is sealed at submission.  `done` is written with release under the lock,
 * so that the submitting thread may poll it without.  From chunk to chunk and from step to step of a task threads go without
 * the lock: exec.c says how.
 */
#ifndef LGT_EXEC_H
#define LGT_EXEC_H

#include <pthread.h>
#include <stdatomic.h>

#include "core.h"
#include "base/profile.h"
#include "model/call.h"
#include "model/failure.h"

/* Bytes; a task of less runs at once, where it is submitted: waking a worker costs as much. */
enum { LGT_INLINE_COST = 96 * 1024 };
/* May work of so much run at once, on the thread that submits it? */
static inline bool lgt_exec_here(int64_t cost) { return cost < LGT_INLINE_COST; }

typedef struct lgt_step lgt_step;
struct lgt_step {
  int nchunk;
  lgt_status (*begin)(lgt_step *step); /* may be NULL; one thread, before the chunks */
  lgt_status (*run)(lgt_step *step, int chunk);
  void (*end)(lgt_step *step); /* may be NULL; one thread, after them; also after a failed begin */
  /* May be NULL: for the profile, members of a JSON object about a chunk, each after a comma. */
  void (*describe)(const lgt_step *step, int chunk, char *text, size_t room);
  void *data;
};

typedef struct lgt_edge {
  struct lgt_task *to;
  const void *thing; /* the predecessor's result that `to` needs; NULL: none, `to` only waits */
  bool follows;      /* `to` needs the predecessor to be enqueued, to begin, and done, to be done itself */
} lgt_edge;
enum { LGT_FEW_EDGES = 3 }; /* for these a task has room in itself */

/* What a thing has instead of contents: a failure. */
typedef struct lgt_poison {
  lgt_status status; /* LGT_OK: the thing is not poisoned */
  int64_t position;  /* of the failed task in the stream: of several failures, the first counts */
  char *message;     /* owned */
} lgt_poison;

typedef struct lgt_outside lgt_outside;
typedef struct lgt_task {
  lgt_step *step; /* owned by the task's maker, like all that it points to */
  int nstep;
  const lgt_outside *outside; /* what does its work elsewhere; NULL: its steps are run here */
  bool fallible;              /* it, or a task that it waits for, may fail; the submitting thread's */
  const void *const *thing;   /* the things it works on, as edges name them; needed for poison_results, like nthing */
  int nthing;
  /* Sets the poison of the things it writes from that of the things it reads; NULL: the task fails as a whole.  Called
   * once, before the steps; of an outside task at its end. */
  void (*poison_results)(struct lgt_task *task);
  int64_t cost;    /* bytes or so; see LGT_INLINE_COST */
  lgt_label label; /* for the profile, if there is one */

  struct lgt_task *next; /* L: in the list of tasks that run, or of outside tasks that are ready */
  bool listed;           /* L: in the former */
  int ordered;           /* edges that lead here; the submitting thread's */
  int pending;           /* L: tasks to wait for, and 1 until submission */
  int followed;          /* L: tasks that are enqueued and not done, behind which this one's work is */
  bool enqueued;         /* L: see above */
  bool watched;          /* L: a task waits for its end that does not follow it */
  atomic_ullong place;   /* the current step, times 2^32, and the first of its chunks that nobody has taken */
  atomic_int left;       /* chunks of that step which are not finished */
  lgt_edge *successor;   /* L; owned, unless they are the `few` below */
  int nsuccessor, successor_room;
  lgt_edge few[LGT_FEW_EDGES];
  lgt_poison *poison; /* L, owned: of each thing, those read and then those written; NULL: nothing is poisoned */
  lgt_status status;  /* L while chunks run: the failure of the first one that failed */
  int failed;         /* L: the number of that chunk */
  char *message;      /* L, owned */
  bool poisoned;      /* L: the failure is a predecessor's, or another rank's */
  int64_t position;   /* L: in the stream: of the task, or of the failed task that poisoned it */
  atomic_bool done;
} lgt_task;

typedef struct lgt_exec lgt_exec;

/* How outside tasks of one kind are looked after: messages, or queues of devices. */
struct lgt_outside {
  /* Begin the tasks that are ready, finish those that are done.  True if there were any. */
  bool (*progress)(void *context);
  /* Sleep until ready() is true, or something outside happens, or wake is called. */
  void (*sleep)(void *context, bool (*ready)(void *exec), void *exec); /* NULL: lgt_exec_stir ends a sleep of the executor */
  void (*wake)(void *context);                                         /* any thread; NULL with `sleep` */
  /* `before` is enqueued: may `after`, another task of this kind, begin?  Then its queue will be told to wait.  NULL: never.
   * The submitting thread, with the executor's lock. */
  bool (*follow)(lgt_task *before, lgt_task *after);
  /* The submitting thread is about to sleep until this task is done: the end of it, or of a watched one, is to wake it.  NULL:
   * it will. */
  void (*alert)(void *context, lgt_task *task);
  void *context;
};
enum { LGT_MOST_OUTSIDE = 4 };

/* `cpus`: threads that work, the submitting one included. */
lgt_status lgt_exec_new(int cpus, lgt_exec **out);
void lgt_exec_free(lgt_exec *exec); /* everything submitted must be done */
int lgt_exec_cpus(const lgt_exec *exec);

/* Report chunks and waits to the profile.  Must be called before the first task is submitted. */
void lgt_exec_watch(lgt_exec *exec, lgt_profile *profile);

/* Makes a zeroed task ready to be ordered and submitted. */
void lgt_task_init(lgt_task *task);
/* All that is ordered from here on is one task, which is submitted next: the lock is taken once for all of this.  Until then
 * the caller must do nothing else with the executor. */
void lgt_exec_together(lgt_exec *exec);
/* `after` has to wait for `before`.  `thing`: a result of `before` that `after` needs, so that it fails if that result
 * fails; NULL: none.  Must be called before `after` is submitted.  False when out of memory. */
bool lgt_exec_order(lgt_exec *exec, lgt_task *before, lgt_task *after, const void *thing);
/* Let poison_results be called whatever happens, for the caller knows that a thing the task reads is poisoned by no task in
 * flight.  Must be called before the task is ordered.  False when out of memory. */
bool lgt_task_expect_poison(lgt_task *task);
/* The poison of a thing of a task that is done; NULL: the thing is not poisoned. */
const lgt_poison *lgt_task_poison(const lgt_task *task, const void *thing);
/* For poison_results: the n-th thing gets a copy of `poison` (NULL: it is not poisoned). */
void lgt_task_set_poison(lgt_task *task, int n, const lgt_poison *poison);
void lgt_exec_submit(lgt_exec *exec, lgt_task *task);
/* From now on the executor looks after outside tasks of this kind, too.  Must be called before the first one is submitted.
 * `outside` is borrowed.  At most one kind may have a `sleep`. */
void lgt_exec_look_after(lgt_exec *exec, const lgt_outside *outside);
/* An outside task of this kind that is ready, or NULL.  Its status says whether the tasks that it waited for failed, except
 * those that it follows. */
lgt_task *lgt_exec_take(lgt_exec *exec, const lgt_outside *outside);
/* An outside task is done; with a message if it failed because of another rank. */
void lgt_exec_finish(lgt_exec *exec, lgt_task *task, const char *message);
/* All work of an outside task is in a queue of a device. */
void lgt_exec_enqueued(lgt_exec *exec, lgt_task *task);
/* An outside task, which follows nobody any more, is done, or has failed by itself. */
void lgt_exec_end(lgt_exec *exec, lgt_task *task, lgt_status status, const char *message);
/* Something outside happened: the submitting thread, if it sleeps, is to look.  Any thread. */
void lgt_exec_stir(lgt_exec *exec);
/* Work on a chunk, if there is one, and look after outside tasks.  For loops that wait for something other than tasks.
 * True if there was work. */
bool lgt_exec_help(lgt_exec *exec);
/* Work until the task is done. */
void lgt_exec_wait(lgt_exec *exec, lgt_task *task);
/* Work until the task is done, or the executor is interrupted: false. */
bool lgt_exec_look(lgt_exec *exec, lgt_task *task);
/* From now on, or no longer, lgt_exec_look returns at once.  May be called by a signal handler. */
void lgt_exec_interrupt(lgt_exec *exec, bool on);
bool lgt_exec_interrupted(lgt_exec *exec);
static inline bool lgt_task_done(lgt_task *task) { return atomic_load_explicit(&task->done, memory_order_acquire); }
/* Free what the scheduler added to a task that is done. */
void lgt_exec_forget(lgt_task *task);

#endif
