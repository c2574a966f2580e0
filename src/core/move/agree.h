/* agree.h - what all ranks decide together where the script looks at a value: did it come about?
 *
 * A failure sticks to the values of the rank it happened on, and the others learn of it from messages without
 * contents.  A script must not see that: where it looks, on every rank, the ranks agree on the earliest failure in
 * the stream, and each raises that one, so that `pcall` catches the same error at the same line everywhere.  An
 * interrupted wait is such a failure, too, and comes before all others.
 *
 * On the way the ranks compare what they have launched so far.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_AGREE_H
#define LGT_AGREE_H

#include "move/message.h"

/* This rank has `status`; if that is an error its text is lgt_message() and it happened at `position` of the stream.
 * Returns what all ranks have.  Without other ranks that is `status`. */
lgt_status lgt_agree(lgt_binder *binder, lgt_status status, int64_t position);
/* An operation of the stream. */
void lgt_agree_note(lgt_binder *binder, const lgt_operation *operation);

#endif
