/* barrier.h - where a group of a single colour, or of turns, ends for the sake of memory.
 *
 * With a single colour any launches may be one group: ten turns of a loop over a grid are one group of ten loops with a
 * barrier after each, and all results that one loop leaves for another are in memory at once.  That saves launches, which
 * matters while arrays are small.  Of large arrays a group should have as few *levels* as possible: a call's level is
 * the number of barriers that must come before it (a value that is read through another view than it was written, a
 * reduction that is read).  Results that are written on one level and read on a later one lie *between*.  Once they have
 * more bytes than the option `between` allows, the group is cut, before the call from which on the fewest results of the
 * group are still needed: a value that crosses the cut has to be stored, so no chain of operations should be torn.  A large
 * result of which neighbours are read, a few rows away, does not count: the loops follow one another through it, row by
 * row (bind/follow.h), and of what lies between them little is there at a time.  A call whose result could as well be made
 * where it is read first counts as being on that level, since that is where weaving puts it (sink.h).
 *
 * Example, two grids u and v, updated in place from their neighbours:
 *
 *   1  a = lap(u)     level 0
 *   2  u = u + a*v    level 0, to new memory: each read of u's neighbours comes before or is in the same loop
 *   3  v = v - a      level 0
 *   4  a = lap(u)     level 1: reads the neighbours of the u that 2 wrote.  Cut here: only u and v cross
 *
 * The same holds for the share that each of several domains has of a group, if that reaches over turns (widen.h): tiles that are
 * large are left from turn to turn row by row only.
 *
 * Where loops compute anew what others would leave for them (inline.h) a cut keeps them from it, and there is no cache whose
 * size would matter: one GPU may have a thousand times as much between, as long as that is a small part of its memory.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_BARRIER_H
#define LGT_BARRIER_H

#include "plan/weave.h"

/* May two views meet?  A view that is written and leaves elements out (a step of 2, say) counts as the whole box around
 * its elements, for a task owns that box while the group runs. */
bool lgt_views_collide(const lgt_layout *a, bool a_writes, const lgt_layout *b, bool b_writes);

/* Given that a group may take the calls [first, next) of the plan: the call before which it shall end, at most `next`.
 * The caller must have set the calls' spaces and the roots' `fresh` and `alive`.  Out of memory: `next`. */
int lgt_barrier_end(const lgt_fuser *fuser, const lgt_plan *plan, int first, int next);

#endif
