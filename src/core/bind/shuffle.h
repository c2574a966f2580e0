/* shuffle.h - a task whose points send each other parts of what they have, as many as data says.  Between point.c and
 * message.c.
 *
 * "shuffle" makes a vector, argument 0, of another one, argument 1.  Both consist of runs: the result's have parameter 0
 * elements, the source's parameter 1.  The result has a run for each element of argument 2 (marks, whose contents are not
 * read).  Run j of the result gets, of each run r of the source in turn, the elements cuts[j, r] to cuts[j + 1, r] - 1,
 * counted from the beginning of run r.  The cuts are argument 3 (int64), which every point has whole; they must fill each
 * run of the result.
 *
 * In the histories of its arguments each point reads and writes its own runs only: no history records the elements that
 * cross.  Two ranks exchange a message for each pair of their runs, also an empty one, since a rank that has failed does not
 * know the sizes.  The cuts are there when the task begins, so each rank knows the sizes of all messages that it sends and
 * receives.  Nothing waits for the script.
 */
#ifndef LGT_SHUFFLE_H
#define LGT_SHUFFLE_H

#include "bind/point.h"

/* The variant, for a launch of one point, which has everything. */
lgt_status lgt_shuffle(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi);

/* Does the group shuffle among several points? */
bool lgt_shuffle_is(const lgt_plan_group *group);
lgt_status lgt_shuffle_begin(lgt_binder *binder, const lgt_bound *bound);
/* The group cannot run on this rank: tell the other ranks. */
lgt_status lgt_shuffle_skip(lgt_binder *binder, const lgt_plan_group *group);

#endif
