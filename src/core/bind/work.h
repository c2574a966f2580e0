/* work.h - what the steps of a group's job do: loops over nests, and calls of C.  Between point.c and exec.c. */
#ifndef LGT_WORK_H
#define LGT_WORK_H

#include "move/job.h"
#include "plan/taint.h"

typedef struct lgt_call_work {
  const lgt_kind *kind;
  lgt_tile *tile; /* one for each argument */
  const lgt_scalar *param;
  const char *where; /* source line, or NULL */
  int count;         /* calls that are a step together: this is the first of so many; with a kernel: 0 */
  int64_t bytes;     /* that these read and write; 0: unknown */
  lgt_pool *pool;    /* borrowed: scratch memory comes from there */
  uint16_t item;     /* of the group */
  bool skip;         /* what it reads has failed */
} lgt_call_work;

/* What a step's `data` points to: a loop with the calls that go before its blocks, or the first of several loops or of calls
 * alone. */
typedef struct lgt_loop_work {
  lgt_nest nest;
  lgt_kernel *kernel;
  const lgt_plan_loop *plan;
  lgt_call_work *call;
  int64_t bytes;                 /* that all its chunks read and write */
  int count;                     /* loops that are a step together: this is the first of so many; 0: another one is */
  int chunk;                     /* the number of its first chunk among the step's */
  const struct lgt_sweep *sweep; /* borrowed: this loop and some behind it follow one another (follow.h); or NULL */
} lgt_loop_work;

/* What finding the taint of a job of several calls takes. */
struct lgt_job_taint {
  const lgt_plan_group *group;
  lgt_instance **inst; /* borrowed; by slot */
  lgt_call_work *call; /* all calls of C */
  int ncall;
};

/* A step for a loop, whose nest is ready; and for calls without a kernel, in so many chunks. */
void lgt_work_add_loop(lgt_job *job, lgt_loop_work *work);
void lgt_work_add_calls(lgt_job *job, lgt_call_work *call, int chunks);
/* The newest step, which is of loops, does this one, too, whose work lies behind theirs; it has chunks, as they have. */
void lgt_work_join(lgt_job *job, lgt_loop_work *work);
/* The loops that a step does, the first of `count`; NULL: it does something else. */
const lgt_loop_work *lgt_work_loops(const lgt_step *step);
/* For lgt_task.poison_results of a job with `taint`. */
void lgt_work_poison_results(lgt_task *task);
/* What of a job of several calls depends on what has failed before, as far as that is known; the caller must free it.  False:
 * nothing, or out of memory. */
bool lgt_work_taint(const lgt_job *job, lgt_taint *out);
/* Does a loop compute nothing but what has failed anyway? */
bool lgt_work_in_vain(const lgt_taint *taint, const lgt_loop_work *work);

#endif
