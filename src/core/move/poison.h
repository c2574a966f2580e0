/* poison.h - failures in place of contents of stores.
 *
 * A store that a failed task should have written is *poisoned*: it has a failure instead of contents, and so has each
 * store that is computed from it, until it is overwritten.  The script goes on; a script that looks at a poisoned array
 * gets the failure as an error.  A failure that no look has reported is kept, and reported at the next fence or at the
 * end.  A device that is lost fails every task that uses it, sooner or later, each with words of its own: these are one
 * failure, and a script that was told of one of them is not told again unless it looks.
 *
 * An array fails as a whole.  With one domain tasks see to that: a result computed from a poisoned array has its failure.
 * With several domains, one domain may have all that it needs of an array that fails in another domain, before the failure
 * is known there.  So the binder keeps its *recent* groups, those bound while something was in flight; a failure is passed
 * through them, and poisons all stores that it would have poisoned had it been known at once.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_POISON_H
#define LGT_POISON_H

#include "move/binder.h"

void lgt_poison_store(lgt_store *store, lgt_failure *failure);
/* All of the store is about to be overwritten: its earlier failure ends. */
void lgt_poison_overwrite(lgt_binder *binder, lgt_store *store);
/* All of the store has been overwritten by the group that is being bound: what earlier tasks still write, in domains that take
 * no part in it, may fail, and that is no failure of the store. */
void lgt_poison_outdate(const lgt_binder *binder, lgt_store *store);
/* A failure with the source line of a call.  It becomes the one to be reported, unless an earlier one is. */
lgt_failure *lgt_poison_new(lgt_binder *binder, lgt_status status, const char *message, uint32_t line);
/* The failure because of which elements of a store are missing on this rank; NULL: there is none. */
lgt_failure *lgt_poison_of(const lgt_binder *binder, const lgt_store *store);
/* If the failure that is to be reported belongs to the same group as the last reported one, it counts as reported. */
void lgt_poison_note(lgt_binder *binder);
/* A group has been bound while tasks are in flight: keep it among the recent groups.  `root`: its stores. */
void lgt_poison_bound(lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root);
/* A store ends, or loses its contents otherwise than by a group: counts as an overwrite. */
void lgt_poison_end(lgt_binder *binder, uint32_t store);
/* Poison the stores that the group at a position has written, and all stores that depend on these. */
void lgt_poison_group(lgt_binder *binder, int64_t position, lgt_failure *failure);
/* Forget recent groups before a position. */
void lgt_poison_forget(lgt_binder *binder, int64_t position);
/* The failure that was to be reported has been reported. */
void lgt_poison_reported(lgt_binder *binder);
/* Raise a failure (NULL: none, LGT_OK) as an error.  The failure counts as reported, and so does the one to be reported if
 * it says the same: a copy between domains that failed with its source has a failure of its own. */
lgt_status lgt_poison_report(lgt_binder *binder, const lgt_failure *failure);

#endif
