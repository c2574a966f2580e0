/* verify.h - is what the passes of this room made sound?  With the option `check`, and in tests.
 *
 * Each question goes through the finished thing again by another way than the pass that made it, knows none of the
 * pass's reasons, and names the first mistake in lgt_message().
 */
#ifndef LGT_VERIFY_H
#define LGT_VERIFY_H

#include "plan/fuse.h"

/* Do the words of the canonical form say what the first n calls are? */
bool lgt_window_verify(const lgt_window *window, lgt_stores *stores, int n);
/* Groups take all calls in order; slots, finals and loops name what there is; every access stays within its root; what a
 * recipe reads is made by it or kept, and nothing that is kept is changed; calls that depend on one another run in the order of
 * the program, between loops and within each; a tile reads nothing that another one has made in the group. */
bool lgt_plan_verify(const lgt_fuser *fuser, const lgt_plan *plan);

#endif
