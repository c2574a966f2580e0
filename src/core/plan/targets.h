/* targets.h - launches that reduce along different dimensions become several.
 *
 * A loop that reduces is cut into chunks by the dimensions along which its targets move (loop.h), so that all targets of
 * one loop must move along the same ones.  A launch that sums rows into one argument and columns into another
 * is replaced by launches of which each has targets that agree:
 *
 *   each but the last   reduces into the targets of one set of dimensions, in the order of the arguments
 *   the last            reduces into those of the last set, and stores what the launch stores: it may overwrite what
 *                       all of them read
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_TARGETS_H
#define LGT_TARGETS_H

#include "model/call.h"

/* Only calls of such kinds need lgt_targets_calls. */
static inline bool lgt_targets_may_differ(const lgt_call *call) { return call->kind->several; }

/* The calls that stand for `call`, in order; none: it stays as it is.  Each holds references on its stores; the
 * references of `call` stay. */
lgt_status lgt_targets_calls(lgt_stores *stores, lgt_kinds *kinds, const lgt_call *call, lgt_call out[LGT_MAX_ARGS], int *count);

#endif
