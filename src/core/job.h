/* job.h - jobs: tasks in flight with everything they own.  Between bind.c and exec.c. */
#ifndef LGT_JOB_H
#define LGT_JOB_H

#include "bind.h"

/* A group with instances for its slots: domains * nslot of them. */
typedef struct lgt_job_source {
  const lgt_plan_group *group;
  lgt_instance **inst;
  const lgt_scalar *param; /* LGT_MAX_PARAMS for each of the group's calls */
  const bool *fold;        /* by slot: several colours reduce into it */
  const char *where;       /* source line of the first launch, or NULL; lives as long as the runtime */
} lgt_job_source;

/* Build and submit the tasks of a group: one for each colour, and one that folds what several
 * colours reduced. */
lgt_status lgt_job_group(lgt_binder *binder, const lgt_job_source *source);
/* Submit copies between instances of one store as one task. */
lgt_status lgt_job_copy(lgt_binder *binder, const lgt_copy *copies, int count);

/* The part of a view that one tile of the space needs, within an instance; space_stride (may be NULL)
 * gets the strides along the space's dimensions, in bytes. */
void lgt_job_tile(const lgt_layout *layout, const lgt_alignment *align, const lgt_rect *tile, const lgt_instance *inst,
                  lgt_tile *out, int64_t *space_stride);

/* Of bind.c. */
int lgt_bind_domain_of(const lgt_binder *binder, const lgt_partition *launch, int colour);
lgt_alignment lgt_bind_align(const lgt_plan_group *group, const lgt_plan_access *access);
lgt_rect lgt_bind_tile(const lgt_plan_group *group, const lgt_plan_loop *loop, int colour);

#endif
