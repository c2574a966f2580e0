/* cells.h - may launches that are cut in different ways be one group?
 *
 * A group of several colours is one task for each of them.  Its calls need not have the same launch partition: it is
 * enough that each domain has at most one tile of each, and that tiles are dealt out to the same grid of *owners*.  Then
 * the group's colours are the owners, and an owner's task runs its tile of every call, or nothing of a call of which the
 * owner has no tile (a call on an edge of a grid has tiles only for the owners of that edge).
 *
 * Through an access, owner o touches the elements between two cuts of the root, a *cell*; or, of a view that lies within
 * one owner's cell, all elements are that owner's.  Two accesses to common elements depend on each other pointwise
 * exactly if their cells are the same:
 *
 *   P[4:n+3] = f      f has n elements, cut at n/2: P is cut at n/2 + 3
 *   P[1:3] = 0        the first owner's: it has all of P below n/2 + 3
 *   Q = P + 1         n + 6 elements, cut at n/2 + 3: one group with the others
 *
 * A call on single numbers is computed by each task of the group, as it would be on each rank, if that spares a task of its
 * own: beta = s / r, p = z + beta * p.  For this the group must have a task in each domain, and the group must create the
 * number: each task has memory of its own for it, and the rank keeps one of these.  A call on arrays that are too small to be
 * cut is computed so, too, where an estimate says that this is cheaper than a task of its own and what comes of it to the
 * domains: w += rate * gradient, with 20 weights that all samples need.  Each domain has memory of its own for those, which may
 * be written in place.
 *
 * The cost of these questions does not depend on the number of owners.  Belongs to the submitting thread.
 */
#ifndef LGT_CELLS_H
#define LGT_CELLS_H

#include "plan/fuse.h"

/* Microseconds that an operation on one element takes, in a cache: an estimate. */
#define LGT_POINT_US 0.2e-3

/* May the call be in a group with calls of other launch partitions? */
bool lgt_cells_may_mix(const lgt_fuser *fuser, const lgt_plan_call *call);
/* Can each task of a group compute the call for itself, if the group has launches like `launch`, and shall it, if it does so
 * with calls of so many points already? */
bool lgt_cells_may_repeat(const lgt_fuser *fuser, const lgt_plan *plan, const lgt_plan_call *call, int64_t points);
/* Elements that a call works on, or that a domain needs memory for, whichever is more; of single numbers 0. */
int64_t lgt_cells_points(const lgt_fuser *fuser, const lgt_plan_call *call);
bool lgt_cells_everywhere(const lgt_fuser *fuser, const lgt_partition *launch);
/* Do two calls of such a group touch the same elements, through these arguments, in one domain only? */
bool lgt_cells_agree(const lgt_fuser *fuser, const lgt_plan_call *a, int arg, const lgt_plan_call *b, int other);

/* The tile of a launch partition that a colour of the group has: empty where it has none. */
lgt_rect lgt_cells_tile(const lgt_plan_group *group, const lgt_partition *launch, int colour);

#endif
