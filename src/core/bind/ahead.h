/* ahead.h - what of a task runs before what comes from elsewhere is there.
 *
 * A task waits for all that it receives, and of a large tile that is only the halo.  So its work is cut: one job, *ahead*, does
 * what touches nothing that comes, and another one the rest.
 *
 *     +-----------------+      ahead: `inner`, a part of the space of one loop, and the loops before that one, if these touch
 *     |   +---------+   |             nothing that comes either
 *     |   |  inner  |   |      rest:  the strips around it, and the loops behind
 *     |   +---------+   |
 *     +-----------------+
 *
 * The order of submission makes it so: what is sent, the job ahead, what is received, the rest.  Each of them waits for earlier
 * ones that touch the same instances (depend.h), as ever: elements that came are put into their place when the job ahead has
 * read its own, and the rest waits for both.  Copies between the domains of a rank are submitted with what is received: so the
 * job ahead may not write what one of them is yet to read, former contents that new ones take the place of among them.  So are
 * the rests of renamed slots (weave.h), copied within a domain: the job ahead leaves these elements alone, here and there.
 *
 * Each element is computed as it would be without that, and which messages there are does not change, so ranks need not agree:
 * it is done where a message is expected to take longer than two jobs instead of one.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_AHEAD_H
#define LGT_AHEAD_H

#include "bind/attempt.h"

/* The group's exchange has sent and not received yet: submit what runs ahead of that.  The attempt's other jobs are the rest
 * then. */
lgt_status lgt_ahead_run(lgt_attempt *attempt);

#endif
