/* widen.h - groups that compute around their tiles what their neighbours compute, too, instead of asking them for it.
 *
 * Among several colours a group ends where a call reads through another view what the group has written, because the
 * elements at the edges of a tile are a neighbour's:
 *
 *   1  B = f(A)               A and B cut alike
 *   2  A = g(B shifted)       reads one row that the neighbour wrote in 1
 *
 * But the neighbour's row follows from what the neighbour had of A, which can be brought beforehand, together with what
 * the own tile needs of A.  So 2 may be in the group if 1 is computed in a *margin* around each tile, too: one row here,
 * and twelve rows for the first of twelve such turns.  The group has one exchange then, of a wider halo, and no more
 * tasks than one for each domain.
 *
 * Margins are found from the last call of the group to the first: who reads through a view that is shifted by d points
 * against the writer's needs d more points of the writer's margin than its own.  Launches may be cut apart, between the same
 * owners (cells.h): views are shifted then by what lies between their cuts.  What one owner alone has written, an edge of a
 * grid, no other owner may read, not even in its margin.  A call's `wide` partition has its margin; its `launch` says as ever
 * who has the newest elements afterwards.  What domains have computed in margins is nobody's: histories do not tell of it, and
 * nobody reads it after the group.  The bits are the neighbour's, since an element is computed by the same instructions from
 * the same elements.  Calls that cannot do that (of C; reductions, where the margin would count twice) have no margins: a group
 * in which they would need one ends before.
 *
 * A call that writes every second point, say, owns the whole box around its tile afterwards.  So it counts as a reader of that
 * box, too: what earlier calls of the group have written in there must be in their margins.  What no call has written stays
 * with those who had it before the group.
 *
 * A *turn* is what would be a group without margins.  With h points a turn and side n, k turns compute (k - 1) h n points
 * more in each of two directions.  They are worth it where tiles are small, because they spare k - 1 exchanges, and where they
 * are so large that loops of one task follow one another row by row (bind/follow.h), because memory is gone through once instead
 * of k times.  Where a group ends is decided by estimate, from numbers that all ranks know.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_WIDEN_H
#define LGT_WIDEN_H

#include "plan/fuse.h"

/* May a group with this launch have margins?  What a turn leaves for the next one must be small, or large enough to be left row by
 * row. */
bool lgt_widen_may(const lgt_fuser *fuser, const lgt_partition *launch);
/* Could `call` read through an argument what the earlier one writes through `other`, if that had a margin? */
bool lgt_widen_reaches(const lgt_fuser *fuser, const lgt_plan_call *earlier, int other, const lgt_plan_call *call, int arg);

/* The margins of the calls [first, next) of a plan's newest group, whose launches have the same owners; false: some call cannot
 * have its own, or would read what another owner alone has written.  last: by root, the last call that uses it. */
bool lgt_widen_margins(const lgt_fuser *fuser, const lgt_plan *plan, int first, int next, const int *last, lgt_halo *margin);
/* Microseconds that a domain in the middle takes for them, and how many times as many messages its exchange takes as one for
 * the tiles alone: there are some across corners. */
double lgt_widen_cost(const lgt_plan *plan, int first, int next, const lgt_halo *margin);
double lgt_widen_messages(const lgt_plan *plan, int first, int next, const lgt_halo *margin);
/* Microseconds that a group of such a launch spends on bringing large tiles from memory and back, as often as its turns cannot
 * follow one another; 0: they never do. */
double lgt_widen_stream(const lgt_fuser *fuser, const lgt_partition *launch, int turns);
/* Give each of the calls its `wide` partition.  False when out of memory. */
bool lgt_widen_calls(const lgt_fuser *fuser, lgt_plan *plan, int first, int next, const lgt_halo *margin);

#endif
