/* record.h - what the exchange of a group did, so that the next one like it need not find out.
 *
 * What moves for a group, and what becomes of the histories and key partitions of the stores that it touches,
 * follows from the group and from these histories and keys as they were before.  All of them are interned: two
 * stores have the same past exactly when the pointers are equal.  So a group keeps a few *records*, each of the
 * pointers that an exchange found, of the moves that it listed, small messages among them ready to go (small.h), and of
 * the pointers that it left behind.  An exchange that finds its stores as a record has them takes over what came of it:
 * it *replays* the record.
 *
 * The result is the same with and without a record, so it is each rank's own affair whether there is one.  There
 * is none where the moves follow from more: where data selects them, where the group works on several parts of a
 * root, where a long history has its elements brought together (one whose reads alone make it long just forgets them).
 * A sweep (sweep.h) may free what a record names, and ends all records.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_RECORD_H
#define LGT_RECORD_H

#include "move/exchange.h"
#include "move/template.h"

/* Are all stores of the group as one of its records has them: their histories and keys, nothing of them elided or failed, and in
 * each domain one instance with room for all that is needed?  So a program's loop finds them, mostly.  Then the exchange is
 * `ready`: what remains of lgt_exchange_begin is lgt_exchange_go_on, and lgt_exchange_acquire finds all there.  False: nothing
 * has happened.  The group's touches have been made; the arena must not be reset. */
bool lgt_record_again(lgt_exchange *exchange, lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root);
/* A record of the group that begins like this exchange, which has saved the histories of its stores; NULL: there is
 * none.  Counts what becomes of the exchange (LGT_EXCHANGES_LIST). */
lgt_record *lgt_record_find(const lgt_exchange *exchange);
/* Take the record's moves and histories over. */
bool lgt_record_replay(lgt_exchange *exchange, const lgt_record *record);
/* Submit a move of an exchange that replays a record, if it is a small message whose pieces are in the only instances that
 * domains have of them, as mostly: then the record has it ready.  False: nothing has happened. */
bool lgt_record_carry(const lgt_exchange *exchange, const lgt_record *record, const lgt_move *move, uint64_t tag,
                      lgt_status *status);
/* Room for what of the task of each local domain runs before what comes (bind/ahead.h), which follows from the group and the
 * moves alone.  *known: it has been asked for before, and is there. */
lgt_portion *lgt_record_ahead(lgt_record *record, bool *known);
/* The exchange has begun without a record: record what it has done so far.  NULL: it is not worth it, or there is
 * no memory. */
lgt_record *lgt_record_begin(const lgt_exchange *exchange);
/* The exchange has ended, before which there were so many versions: its record is complete, and the first one to
 * be looked at next time.  (With the option `check` replays are carried out, too, and compared with the record.) */
void lgt_record_end(const lgt_exchange *exchange, lgt_record *record, int64_t versions);
/* Take the record's histories, keys and versions over. */
void lgt_record_finish(const lgt_exchange *exchange, const lgt_record *record);
/* With the option `check`: did the exchange come to what the record says (`ended`: also in the end)?  False with a
 * message. */
bool lgt_record_verify(const lgt_exchange *exchange, const lgt_record *record, bool ended);

#endif
