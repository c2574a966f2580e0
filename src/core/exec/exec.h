/* exec.h - tasks that are ready to run, and the worker threads that run them.
 *
 * A task is a list of steps with a barrier after each; a step is a number of chunks that may run on
 * any threads at once.  A task becomes ready when all tasks it waits for are done.  The submitting
 * thread is a worker too while it waits, or when enough is in flight: with one CPU there are no
 * other workers and everything runs there.
 *
 * A task that fails hands its failure to the successors that use what it should have made: these do not
 * run.  Successors that only had to wait until the task had read something do run.  A task that makes several things
 * may say which of them depend on which (`poison_results`): it runs all the same, and poisons only results that depend
 * on what has failed; each of its things has a *poison* of its own.
 *
 * The work of some tasks is done elsewhere: messages to and from other ranks, queues of devices.  Such an *outside* task, once
 * ready, waits in a list for the submitting thread, which begins it (even after a failure of what it waited for:
 * the other side must hear of that) and says when it is done.  While that thread waits it looks after them
 * through lgt_outside.
 *
 * Locking: `lock` protects everything in lgt_exec and the scheduling fields of tasks (marked L).
 * Everything else in a task is sealed at submission.  `done` is written with release under the lock,
 * so that the submitting thread may poll it without.
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
  lgt_status (*begin)(lgt_step *step);            /* may be NULL; one thread, before the chunks */
  lgt_status (*run)(lgt_step *step, int chunk);
  void (*end)(lgt_step *step);                    /* may be NULL; one thread, after them; also after a failed begin */
  /* May be NULL: for the profile, members of a JSON object about a chunk, each after a comma. */
  void (*describe)(const lgt_step *step, int chunk, char *text, size_t room);
  void *data;
};

typedef struct lgt_edge {
  struct lgt_task *to;
  const void *thing; /* its predecessor's result that it needs; NULL: none, it only waits */
} lgt_edge;

/* What a thing has instead of contents: why it failed. */
typedef struct lgt_poison {
  lgt_status status; /* LGT_OK: it is not */
  int64_t position;  /* in the stream of what failed: of several, the first counts */
  char *message;     /* owned */
} lgt_poison;

typedef struct lgt_outside lgt_outside;
typedef struct lgt_task {
  lgt_step *step;             /* owned by whoever made the task, like all it points to */
  int nstep;
  const lgt_outside *outside; /* who does it elsewhere; NULL: its steps are run here */
  bool fallible;              /* it, or a task that it waits for, may fail; the submitting thread's */
  const void *const *thing;   /* what it works on, as edges name it; these three are needed for poison_results */
  int nthing;
  /* From the poison of what it reads to that of what it writes; NULL: the task fails as a whole. */
  void (*poison_results)(struct lgt_task *task);
  int64_t cost;               /* bytes or so; see LGT_INLINE_COST */
  lgt_label label;            /* for the profile, if there is one */

  struct lgt_task *next;      /* L: in the ready list */
  bool listed;                /* L */
  int ordered;                /* edges that lead here; the submitting thread's */
  int pending;                /* L: tasks to wait for, and 1 until submission */
  int at, next_chunk, left;   /* L: current step, first chunk not taken, chunks not finished */
  struct lgt_edge *successor; /* L, owned */
  int nsuccessor, successor_room;
  lgt_poison *poison;         /* L, owned: of each thing, those read and then those written; NULL: nothing is poisoned */
  lgt_status status;          /* L: the failure of the first chunk that failed */
  int failed;                 /* L: ... which that is */
  char *message;              /* L, owned */
  bool poisoned;              /* L: the failure is a predecessor's, or another rank's */
  int64_t position;           /* L: in the stream: the task's, or that of what poisoned it */
  atomic_bool done;
} lgt_task;

typedef struct lgt_exec lgt_exec;

/* Who looks after outside tasks of one kind: messages, or queues of devices. */
struct lgt_outside {
  /* Begin those that are ready, finish those that are done; true if something happened. */
  bool (*progress)(void *context);
  /* Sleep until ready(), or something outside happens, or wake is called. */
  void (*sleep)(void *context, bool (*ready)(void *exec), void *exec); /* NULL: lgt_exec_stir ends a sleep of the executor */
  void (*wake)(void *context); /* any thread; NULL with `sleep` */
  void *context;
};
enum { LGT_MOST_OUTSIDE = 4 };

/* `cpus`: threads that work, the submitting one included. */
lgt_status lgt_exec_new(int cpus, lgt_exec **out);
void lgt_exec_free(lgt_exec *exec); /* everything submitted must be done */
int lgt_exec_cpus(const lgt_exec *exec);

/* Report what runs, and waits; before the first task is submitted. */
void lgt_exec_watch(lgt_exec *exec, lgt_profile *profile);

/* A zeroed task becomes one that may be ordered and submitted. */
void lgt_task_init(lgt_task *task);
/* `after` has to wait for `before`, and fails with it if it needs its results: `thing` is one, NULL: none; before
 * submission of `after`.  False when out of memory. */
bool lgt_exec_order(lgt_exec *exec, lgt_task *before, lgt_task *after, const void *thing);
/* Call poison_results whatever happens: what the task reads is known to be poisoned, other than by tasks.  Before the
 * task is ordered; false when out of memory. */
bool lgt_task_expect_poison(lgt_task *task);
/* Why a thing of a task that is done is poisoned; NULL: it is not. */
const lgt_poison *lgt_task_poison(const lgt_task *task, const void *thing);
/* For poison_results: the n-th thing becomes as poisoned as `poison` says (NULL: not at all). */
void lgt_task_set_poison(lgt_task *task, int n, const lgt_poison *poison);
void lgt_exec_submit(lgt_exec *exec, lgt_task *task);
/* From now on there are outside tasks of this kind, too; before the first one is submitted.  `outside` is borrowed, and at
 * most one of all kinds sleeps. */
void lgt_exec_look_after(lgt_exec *exec, const lgt_outside *outside);
/* An outside task of this kind that is ready, or NULL.  Its status says whether what it waited for went well. */
lgt_task *lgt_exec_take(lgt_exec *exec, const lgt_outside *outside);
/* It is done; with a message if it failed because of another rank. */
void lgt_exec_finish(lgt_exec *exec, lgt_task *task, const char *message);
/* It is done, or has failed by itself. */
void lgt_exec_end(lgt_exec *exec, lgt_task *task, lgt_status status, const char *message);
/* Something outside happened: who sleeps is to look.  Any thread. */
void lgt_exec_stir(lgt_exec *exec);
/* Work on a chunk, if one is there, and look after outside tasks: for waits that are not the executor's.  True if
 * something happened. */
bool lgt_exec_help(lgt_exec *exec);
/* Work until the task is done. */
void lgt_exec_wait(lgt_exec *exec, lgt_task *task);
/* The same for a wait that the user may end: false if the executor was interrupted before. */
bool lgt_exec_look(lgt_exec *exec, lgt_task *task);
/* From now on, or no longer, lgt_exec_look returns at once.  May be called by a signal handler. */
void lgt_exec_interrupt(lgt_exec *exec, bool on);
bool lgt_exec_interrupted(lgt_exec *exec);
static inline bool lgt_task_done(lgt_task *task) { return atomic_load_explicit(&task->done, memory_order_acquire); }
/* Free what the scheduler added to a task that is done. */
void lgt_exec_forget(lgt_task *task);

#endif
