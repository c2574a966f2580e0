/* bind.h - a plan's group meets the stores of one window: instances, copies, tasks.
 *
 * Binding picks or makes the instance for each slot and colour, launches the copies that bring missing
 * elements, builds one task for each colour from the group's loops, orders it behind what is in
 * flight, and afterwards tells the stores where their newest elements are.  A *job* is a task in
 * flight with everything it owns.
 *
 * With several ranks the group is bound on each of them: what moves between them follows from its calls alone
 * (exchange.h) and happens whatever fails here, so that a failure stays one of values.
 *
 * With one memory domain every instance is a whole root and the nests that fusing prepared are used
 * as they are; this path costs well below a microsecond for a group.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_BIND_H
#define LGT_BIND_H

#include "move/job.h"

/* Run a group.  `calls` are the window's calls that the plan was made of, `root` their stores by
 * number.  Failures poison the results that depend on them.  Not LGT_OK: nothing has run or moved, either because there is no
 * memory for all that the group needs at once (never in the `last` attempt), or because all ranks refuse one of several
 * calls.  A caller that then binds one call at a time computes all results that can be computed. */
lgt_status lgt_bind_group(lgt_binder *binder, const lgt_plan_group *group, const lgt_call *calls, const uint32_t *root,
                          bool last);
void lgt_binder_fini(lgt_binder *binder);
/* Free a store, if nothing refers to it any more. */
void lgt_bind_drop_store(lgt_binder *binder, lgt_store *store);

#endif
