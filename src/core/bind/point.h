/* point.h - point tasks: a bound group becomes one task for each of this rank's colours.  Between bind.c and
 * job.c. */
#ifndef LGT_POINT_H
#define LGT_POINT_H

#include "move/template.h"

/* A colour of this rank, and the local domain that works on the colour. */
typedef struct lgt_point {
  int colour, domain;
} lgt_point;

/* The colours of this rank, and what their tasks work on besides the domains' instances: nslot for each, a ref each or
 * NULL.  The latter are in the binder's arena. */
typedef struct lgt_points {
  const lgt_point *point; /* borrowed from the group */
  int count;
  int lacks;                /* a slot for which there is no memory; -1: none */
  lgt_instance **private;   /* what the colour reduces into, which is folded afterwards (fold.h); NULL: nothing is */
  lgt_instance **away;      /* of devices' tasks, else NULL: copies of numbers, where the task works; of `private`, where that is
                             folded */
  const lgt_portion *ahead; /* by local domain, borrowed: what of its task is submitted ahead (ahead.h); NULL: nothing is */
} lgt_points;

/* A group with instances for its slots: nslot for each local domain. */
typedef struct lgt_bound {
  const lgt_plan_group *group;
  lgt_instance **inst;
  const lgt_scalar *param;    /* LGT_MAX_PARAMS for each of the group's calls */
  const bool *fold;           /* by slot: several colours reduce into it */
  const char *where;          /* source line of the first launch, or NULL; lives as long as the runtime */
  const char *last;           /* source line of the last launch; the same */
  lgt_failure *const *poison; /* by slot: the failure of its contents, or NULL; NULL altogether: nothing has failed */
  const bool *lacks;          /* by slot: there is no memory for it, as its `poison` says; NULL: there is for all */
  bool fallible;              /* its tasks are fallible (exec.h) */
  bool away;                  /* they work in the memories of devices */
  const lgt_points *points;   /* NULL: the launch domain is one point, or a variant's own (shuffle.h) */
} lgt_bound;

/* A slot without memory that the loop touches, so that the loop cannot run; -1: there is none. */
int lgt_bound_lacks(const lgt_bound *bound, const lgt_plan_loop *loop);

/* Acquire the memory of all points, before any task is launched: an attempt that lacks it can still wait, or go elsewhere.
 * The caller must release what there is after an error, too. */
lgt_status lgt_points_acquire(lgt_binder *binder, const lgt_bound *bound, lgt_points *out);
void lgt_points_release(lgt_map *map, const lgt_plan_group *group, const lgt_points *points);
/* Does the group need points? */
bool lgt_points_needed(const lgt_plan_group *group);

/* Build and submit the group's tasks, and those that fold what several colours reduced, here and on other ranks. */
lgt_status lgt_bound_run(lgt_binder *binder, const lgt_bound *bound);

/* Submit what of the group's tasks is submitted ahead; lgt_bound_run leaves that out. */
lgt_status lgt_bound_run_ahead(lgt_binder *binder, const lgt_bound *bound);

/* What the profile says of a task of the group. */
void lgt_point_label(const lgt_binder *binder, lgt_job *job, const lgt_bound *bound, const char *category);

#endif
