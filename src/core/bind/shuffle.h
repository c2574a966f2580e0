/* shuffle.h - a task whose points send each other parts of what they have, as many as data says.  Between point.c and
 * message.c.
 *
 * "shuffle": a vector in runs of parameter 0 elements, one for each element of argument 2 (marks, whose contents nobody
 * looks at), has of each run of another one, argument 1, whose runs have parameter 1 elements, those from cuts[j, r] to cuts[j + 1, r] - 1 of that run r,
 * counted from its beginning: they go to run j of argument 0, behind those of earlier runs.  Cuts are argument 3 (int64),
 * which every point has whole.  Each run of the result is filled.
 *
 * For the histories of its arguments each point reads and writes its own runs only: what crosses is the task's own
 * business.  Any two ranks exchange a message for each two of their runs, empty ones too, since a rank that has failed
 * does not know how long they are; when the task begins, cuts are there, and so each rank knows the sizes of all that
 * it sends and receives.  Nothing waits for the script.
 */
#ifndef LGT_SHUFFLE_H
#define LGT_SHUFFLE_H

#include "bind/point.h"

/* The variant: where one point has everything. */
lgt_status lgt_shuffle(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi);

/* Does the group shuffle among several points? */
bool lgt_shuffle_is(const lgt_plan_group *group);
lgt_status lgt_shuffle_begin(lgt_binder *binder, const lgt_bound *bound);
/* It cannot run here: the other ranks hear of it. */
lgt_status lgt_shuffle_skip(lgt_binder *binder, const lgt_plan_group *group);

#endif
