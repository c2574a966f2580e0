/* job.h - jobs: tasks in flight with everything they own.  Between bind.c and exec.c. */
#ifndef LGT_JOB_H
#define LGT_JOB_H

#include "bind.h"

struct lgt_job {
  lgt_task task;
  lgt_job *next;
  lgt_instance **touched; /* refs (given back by lgt_depend_retire); read ones first */
  int ntouched, nread;
  lgt_nest_shape *shape;  /* owned strides, when several domains make shapes of their own */
  int nshape;
  int64_t position;       /* of its group in the stream */
  struct lgt_post *post;  /* of an outside task: its message (transfer.c) */
};

/* A job of at most so many steps and instances, with `bytes` bytes for what the steps work on, in one block. */
lgt_job *lgt_job_new(int steps, int instances, size_t bytes, void **memory);
/* A step of one chunk. */
void lgt_job_step(lgt_job *job, void *data, lgt_status (*run)(lgt_step *, int));
/* Submit a job whose touched instances are listed, `nread` of them only read.  It belongs to the binder then,
 * also after an error. */
lgt_status lgt_job_submit(lgt_binder *binder, lgt_job *job);

/* A group with instances for its slots: nslot for each local domain. */
typedef struct lgt_job_source {
  lgt_plan_group *group;
  lgt_instance **inst;
  const lgt_scalar *param; /* LGT_MAX_PARAMS for each of the group's calls */
  const bool *fold;        /* by slot: several colours reduce into it */
  const char *where;       /* source line of the first launch, or NULL; lives as long as the runtime */
  const char *last;        /* ... of the last one */
} lgt_job_source;

/* Build and submit the tasks of a group: one for each colour of this rank, and those that fold what several
 * colours reduced, here and on other ranks. */
lgt_status lgt_job_group(lgt_binder *binder, const lgt_job_source *source);
/* The group cannot run here: the other ranks hear of it where they want results.  `fold` as in the source. */
lgt_status lgt_job_skip(lgt_binder *binder, const lgt_plan_group *group, const bool *fold, lgt_failure *failure);

/* The part of a view that one tile of the space needs, within an instance; space_stride (may be NULL)
 * gets the strides along the space's dimensions, in bytes. */
void lgt_job_tile(const lgt_layout *layout, const lgt_alignment *align, const lgt_rect *tile, const lgt_instance *inst,
                  lgt_tile *out, int64_t *space_stride);

/* Of bind.c. */
/* The next colour of the group after `colour` (-1: the first) that a local domain works on; -1: none. */
int lgt_bind_next(const lgt_binder *binder, const lgt_partition *launch, int domain, int colour);
lgt_alignment lgt_bind_align(const lgt_plan_group *group, const lgt_plan_access *access);
lgt_rect lgt_bind_tile(const lgt_plan_group *group, const lgt_plan_loop *loop, int colour);

#endif
