/* group.h - the calls of a plan become groups: the longest fusible prefix, again and again.
 *
 * The constraints are in fuse.h.  Where arrays are cut a group may end earlier than it must, before calls at its end
 * whose results only later groups read:
 *
 *   1  B = f(A)               C and B are views of one array
 *   2  t = 2 * C              reads what 1 wrote, element by element: may be one task with it
 *   3  A = g(B shifted, t)    may not
 *
 * With 2 in the first group t is stored; with 2 in the second group t is a value in a register.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_GROUP_H
#define LGT_GROUP_H

#include "plan/fuse.h"

/* Make the plan's groups, whose calls have spaces and launches, and say of its roots in which groups they are used. */
lgt_status lgt_group_calls(lgt_fuser *fuser, lgt_plan *plan);

#endif
