/* evict.h - arrays leave a device whose memory is short, for the host's.
 *
 * What is needed last goes first, as far as anybody knows:
 *
 *   1. what no later call of the window touches, and no group touches at regular distances: what the host has, too, for that
 *      costs no copy; then what was used longest ago
 *   2. what no later call of the window touches, but groups do at regular distances: it is expected after as many groups as lay
 *      between its last two uses; the furthest first.  (In a loop over more arrays than fit, the array that was used longest ago
 *      is the one that is needed next.)
 *   3. what later calls of the window touch: the furthest first
 *
 * Dead handles may hold what is in the way: where as much as is lacking may be theirs, and moving that takes longer than a
 * collection of garbage, the caller is asked for one first.
 *
 * Which instances a rank has in which memory is its own affair: no history records a copy between the two (map.h).
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_EVICT_H
#define LGT_EVICT_H

#include "move/binder.h"

/* A group is being bound that works on these stores: `root`, by root of its plan.  With devices only. */
void lgt_evict_note_use(const lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root);
/* Is a collection of garbage to be asked for, rather than to make room for what devices refused last? */
bool lgt_evict_garbage(const lgt_binder *binder);
/* Make room for what devices refused last, but keep what the group that is being bound works on.  Waits.  False: there was
 * nothing to do, or nothing that could be done. */
bool lgt_evict(lgt_binder *binder);
/* Move all elements that devices hold, but not of instances that several stores own or recipes read.  Waits. */
lgt_status lgt_evict_all(lgt_binder *binder);

#endif
