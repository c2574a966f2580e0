/* job.h - jobs: tasks in flight with everything they own, and waiting for them.  Between point.c, message.c and exec.c. */
#ifndef LGT_JOB_H
#define LGT_JOB_H

#include "move/binder.h"

/* A job is one block of memory: the task, what its steps work on, the steps, and the instances it holds. */
/* What of an instance a job writes. */
typedef enum lgt_written {
  LGT_WRITTEN_IN_PART,
  LGT_RENEWED,    /* what becomes of all of it: a former failure lasts only if the job takes it over */
  LGT_OVERWRITTEN /* all of it, whatever was there before */
} lgt_written;

struct lgt_job {
  lgt_task task;
  lgt_job *next;
  lgt_instance **touched; /* refs (given back by lgt_depend_retire); read ones first */
  int ntouched, nread;
  lgt_nest_shape *shape;  /* owned strides, when several domains make shapes of their own */
  int nshape;
  bool native;            /* it has calls of C, which may fail */
  bool here;              /* runs at once, on this thread: waits for nothing and lives in the arena */
  uint8_t *extent;        /* of each instance: lgt_written; or NULL: LGT_WRITTEN_IN_PART */
  struct lgt_job_taint *taint; /* which of its results depend on what (point.c); NULL: all on all */
  int64_t position;       /* of its group in the stream */
  int64_t number;         /* of all jobs in order of submission, from 1 */
  lgt_plan *plan;         /* ref; whose shapes its nests have, or NULL */
  struct lgt_job_message *message; /* of an outside task (message.c) */
  lgt_memory *place;      /* borrowed: whose device does it; NULL: none */
  lgt_status (*post)(lgt_job *job, const lgt_device *device, lgt_queue *queue); /* ... by putting this into a queue */
  lgt_event *event;       /* owned: recorded behind that */
  lgt_job *behind;        /* among those that devices do */
  lgt_copy *copy;         /* of copies, which hold refs to runs */
  int ncopy;
  void *owned;            /* what it works on, freed with it; or NULL */
  lgt_failure **poison;   /* refs, owned with the job: of stores, by slot of its group (bind.c); NULL: none */
  int npoison;
  lgt_runs *rows[LGT_MAX_IMAGES]; /* refs: what its tiles point to */
  int nrows;
};

/* At most so many of each; bytes: for what the steps work on. */
typedef struct lgt_job_size {
  int steps, shapes, instances;
  size_t bytes;
} lgt_job_size;

/* NULL, and the error is noted, when out of memory. */
lgt_job *lgt_job_new(lgt_binder *binder, lgt_job_size size, bool here, void **memory);
/* Of one that was not submitted. */
void lgt_job_free(lgt_job *job);
void lgt_job_step(lgt_job *job, int chunks, lgt_status (*run)(lgt_step *, int), void *data);
/* List an instance, unless it is NULL; those only read come first, `nread` of them. */
void lgt_job_touch(lgt_job *job, lgt_instance *inst);
/* Submit a job whose touched instances are listed.  It belongs to the binder then, also after an error; a job
 * that is to run here has run, and is gone. */
lgt_status lgt_job_submit(lgt_binder *binder, lgt_job *job);

/* Wait until tasks in flight no longer write (for_write: or read) the instance. */
void lgt_job_wait(lgt_binder *binder, lgt_instance *inst, bool for_write);
/* Waits, which the user may interrupt: until the instance may be read; until all jobs are done, and retires them. */
lgt_status lgt_job_look(lgt_binder *binder, lgt_instance *inst);
/* With several domains: until all calls of C are done, for they may fail and results elsewhere may depend on them. */
lgt_status lgt_job_look_native(lgt_binder *binder);
lgt_status lgt_job_look_all(lgt_binder *binder);

/* Work until the first job in flight is done, and forget it; false: the user interrupts. */
bool lgt_job_await_first(lgt_binder *binder);
/* Work until at most so many groups are in flight behind the one that was bound last, or the user interrupts. */
void lgt_job_keep_up(lgt_binder *binder, int groups);
/* Forget jobs that are done; `all`: wait for them first. */
void lgt_job_retire(lgt_binder *binder, bool all);

#endif
