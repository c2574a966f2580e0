/* job.h - jobs: tasks in flight with everything they own, and waiting for them.  Between point.c, message.c and exec.c. */
#ifndef LGT_JOB_H
#define LGT_JOB_H

#include "move/binder.h"

/* How much of an instance a job writes. */
typedef enum lgt_written {
  LGT_WRITTEN_IN_PART,
  LGT_RENEWED,    /* the job decides about all of it: a former failure lasts only if the job's results depend on it */
  LGT_OVERWRITTEN /* all of it: a former failure ends */
} lgt_written;

/* A job is one block of memory: the task, the data of its steps, the steps, and the instances that it holds. */
struct lgt_job {
  lgt_task task;
  lgt_job *next;
  size_t size;            /* bytes of the block */
  lgt_instance **touched; /* refs (given back by lgt_depend_retire); those only read come first */
  int ntouched, nread;
  lgt_nest_shape *shape; /* owned strides, when several domains make shapes of their own */
  int nshape;
  bool native;                     /* the task has calls of C, which may fail */
  bool ahead;                      /* another job does the rest of its work, and has all failures that come to this one */
  bool here;                       /* the task runs at once, on this thread: it waits for nothing */
  uint8_t *extent;                 /* of each instance: lgt_written; or NULL: LGT_WRITTEN_IN_PART */
  struct lgt_job_taint *taint;     /* which results depend on which instances (work.h); NULL: all on all */
  int64_t position;                /* of the job's group in the stream */
  int64_t number;                  /* of all jobs in order of submission, from 1 */
  lgt_plan *plan;                  /* ref: the plan whose shapes the nests use; or NULL */
  lgt_template *template;          /* ref: from which the job was made (template.h), whose shapes the nests use; or NULL */
  struct lgt_job_message *message; /* of an outside task (message.c) */
  struct lgt_job_offload *offload; /* owned: of a task that a device does (offload.h); or NULL */
  lgt_copy *copy;                  /* of copies; they hold refs to runs */
  int ncopy;
  void *owned;          /* memory of mem.h, freed with the job; or NULL */
  lgt_failure **poison; /* refs, owned with the job: of stores, by slot of its group (bind.c); NULL: none */
  int npoison;
  lgt_runs *rows[LGT_MAX_IMAGES]; /* refs: rows that the job's tiles point to */
  int nrows;
};

/* Upper bounds; `bytes` are for the data of the steps. */
typedef struct lgt_job_size {
  int steps, shapes, instances;
  size_t bytes;
} lgt_job_size;

/* A new job; *memory: its `bytes`.  When out of memory: NULL, and the error is noted. */
lgt_job *lgt_job_new(lgt_binder *binder, lgt_job_size size, bool here, void **memory);
/* Free a job that was not submitted. */
void lgt_job_free(lgt_binder *binder, lgt_job *job);
void lgt_job_step(lgt_job *job, int chunks, lgt_status (*run)(lgt_step *, int), void *data);
/* List an instance (NULL: do nothing).  The caller must list those only read first, and set `nread` to their number. */
void lgt_job_touch(lgt_job *job, lgt_instance *inst);
/* Submit a job whose touched instances are listed.  The binder owns the job from then on, also after an error; a job with
 * `here` has run and is freed. */
lgt_status lgt_job_submit(lgt_binder *binder, lgt_job *job);

/* Wait until tasks in flight no longer write (for_write: or read) the instance. */
void lgt_job_wait(lgt_binder *binder, lgt_instance *inst, bool for_write);
/* Wait until the instance may be read.  An error when the user interrupts. */
lgt_status lgt_job_look(lgt_binder *binder, lgt_instance *inst);
/* The same, with several domains: until all calls of C are done, for these may fail, and results elsewhere depend on them. */
lgt_status lgt_job_look_native(lgt_binder *binder);
/* The same: until all jobs are done, which are then retired. */
lgt_status lgt_job_look_all(lgt_binder *binder);

/* Work until the first job in flight is done, and retire it.  False: the user interrupts. */
bool lgt_job_await_first(lgt_binder *binder);
/* Work until at most `groups` groups are in flight besides the one that was bound last, or the user interrupts.  Of jobs that are
 * in queues of devices there may be those of `enqueued` groups. */
void lgt_job_keep_up(lgt_binder *binder, int groups, int enqueued);
/* Retire the jobs that are done; `all`: wait until each is. */
void lgt_job_retire(lgt_binder *binder, bool all);

#endif
