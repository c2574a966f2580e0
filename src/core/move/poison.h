/* poison.h - failures as contents of stores.
 *
 * What a failed task would have written is *poisoned*: it has a failure instead of contents, and so has whatever is
 * computed from it, until it is overwritten.  The script goes on; who looks gets the failure as an error.  A failure
 * that nobody has looked at is remembered, to be told at the next fence or at the end.
 *
 * What fails is a whole array.  With one domain tasks see to that: what is computed from one has its failure.  With several a
 * domain may have what it needs of an array that fails in another one, where that may not be known yet: so a failure follows
 * the *trail* of the groups that were bound since, and reaches what it would have reached if it had been known at once.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_POISON_H
#define LGT_POISON_H

#include "move/binder.h"

void lgt_poison_store(lgt_store *store, lgt_failure *failure);
/* All of the store is about to be overwritten: earlier failures are over. */
void lgt_poison_heal(lgt_binder *binder, lgt_store *store);
/* A failure with the source line of a call; remembered as the first unseen one. */
lgt_failure *lgt_poison_new(lgt_binder *binder, lgt_status status, const char *message, uint32_t line);
/* Why elements of a store are not to be had here; NULL: nothing has failed. */
lgt_failure *lgt_poison_of(const lgt_binder *binder, const lgt_store *store);
/* Is the first unseen one of the group whose failure was seen last?  Then it is seen, too. */
void lgt_poison_note(lgt_binder *binder);
/* A group has been bound; it may depend on what is in flight.  `root`: its stores. */
void lgt_poison_follow(lgt_binder *binder, lgt_plan_group *group, const uint32_t *root);
/* A store ends, or what it had: all of it is written by no group. */
void lgt_poison_end(lgt_binder *binder, uint32_t store);
/* What the group at a position has made fails, and what depends on it. */
void lgt_poison_spread(lgt_binder *binder, int64_t position, lgt_failure *failure);
/* Forget groups before a position. */
void lgt_poison_forget(lgt_binder *binder, int64_t position);
/* Somebody sees the first unseen one. */
void lgt_poison_seen(lgt_binder *binder);
/* A failure, if any, as an error; it counts as seen.  A copy between domains that failed with what it copies has a failure
 * of its own that says the same. */
lgt_status lgt_poison_report(lgt_binder *binder, const lgt_failure *failure);

#endif
