/* exchange.h - which elements a group needs from other domains and ranks, and which it makes newest in its own.
 *
 * The answers follow from the group's calls and its launch partition alone.  They do not depend on which results are elided,
 * renamed or kept in registers, on where instances lie, or on whether something failed.  A result that is only a
 * recipe counts as written by the domain whose colours would have written it, and the inputs of a call that is not run
 * now are fetched nevertheless, so that a rescue can run it.  All ranks see the same calls, and so each comes to the same
 * copies and messages (moves.h), in the same order, and to the same histories.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_EXCHANGE_H
#define LGT_EXCHANGE_H

#include "move/acquire.h"
#include "move/moves.h"
#include "move/message.h"
#include "move/touch.h"

typedef struct lgt_image_moves lgt_image_moves; /* image.h */
typedef struct lgt_record lgt_record;           /* record.h */

/* What of a touch counts this time: all of it, or what data selects. */
struct lgt_selected {
  const lgt_footprint *what;    /* `whole`, or a part of it that the image names */
  lgt_image *image;             /* borrowed; NULL: none (image.h) */
  const lgt_image_moves *moves; /* borrowed: the moves of the image's elements; NULL: no element has to move */
};

/* Of a touch of the group that is being bound, or of any other. */
lgt_selected lgt_touch_selected(const lgt_binder *binder, const lgt_plan_group *group, const lgt_touch *touch);

/* One run of a group, or the moves of one store. */
typedef struct lgt_exchange {
  lgt_binder *binder;
  const lgt_plan_group *group; /* NULL: one store that is looked at */
  lgt_store **store;           /* by number among the touched roots; from the arena, like the rest */
  int nstore, nheld;           /* ... those with contents from before the group come first */
  lgt_record *record;          /* borrowed: that of this exchange; NULL: there is none */
  bool replays;                /* the record is of an earlier exchange that began like this one */
  bool known; /* what instances must have room for: it was told, or is as before (room.h); `cover`, `spare` and `written` stay */
  bool lacks; /* not all instances could be acquired */
  bool ready; /* it has not begun, but is known to be as recorded (lgt_record_again) */
  bool plain; /* all domains have one instance of each store, with the newest elements of all that they should have */
  bool split; /* a store may occur several times in `store`, once for each part */
  /* By local domain * nheld + store, of those that are held: */
  lgt_rect *cover;     /* the elements for which an instance must have room; ndim -1: none */
  lgt_instance **inst; /* borrowed; if split: the instance that was acquired; NULL: none yet */
  bool host;           /* instances are in the host's memory, not in the domains' homes */
  lgt_picks *picks;    /* which elements of the cover; NULL: data names none */
  bool *gets;          /* elements will be copied into the instance */
  lgt_rect *spare;     /* elements of the instance that are about to be overwritten; ndim -1: none */
  /* By store that is held: */
  bool *written;           /* it will be written in place */
  const lgt_rect *changed; /* all that is written of it; ndim -1: nothing.  NULL: not known */
  bool *together;          /* its elements are brought together, into tiles; NULL: no store's are */
  /* By store: */
  const lgt_history **saved; /* its history as it was; NULL: not saved yet */
  const lgt_history **found; /* ready: the same, before it begins */
} lgt_exchange;

/* A touch of the group by which every rank would get all of an array of more than `bytes` bytes that is not everywhere
 * yet; -1: there is none. */
int lgt_exchange_too_large(const lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root, int64_t bytes);
/* Survey the group: list what has to move, and record in the histories that it did.  `root`: stores by number in the plan. */
lgt_status lgt_exchange_begin(lgt_exchange *exchange, lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root);
/* The same of an exchange that is ready. */
lgt_status lgt_exchange_go_on(lgt_exchange *exchange);
/* Survey one store instead, of which every domain is to have the elements that are selected. */
lgt_status lgt_exchange_begin_store(lgt_exchange *exchange, lgt_binder *binder, lgt_store *store, const lgt_selected *selected);
/* Survey one store instead, of which the first domain of every rank is to have a rect. */
lgt_status lgt_exchange_look(lgt_exchange *exchange, lgt_binder *binder, lgt_store *store, const lgt_rect *rect, bool read,
                             bool write);
/* A copy on every rank of a rect that is not everywhere, for the script to look at.  The copy is no instance of the store,
 * so that no rank holds more than its share for long.  *out: a ref; NULL with LGT_NO_MEMORY when this rank has no room. */
lgt_status lgt_exchange_peek(lgt_binder *binder, lgt_store *store, const lgt_rect *rect, lgt_instance **out);
/* The local domain's instance of an initial slot must have room for `rect`, too. */
void lgt_exchange_need(lgt_exchange *exchange, int domain, const lgt_plan_slot *slot, const lgt_rect *rect);
/* Each local domain that needs an instance of an initial slot shall have room for the slot's halo, too. */
void lgt_exchange_margin(lgt_exchange *exchange, int slot);
/* The group overwrites `rect` of the slot, so its elements need not be kept. */
void lgt_exchange_spare(lgt_exchange *exchange, int domain, const lgt_plan_slot *slot, const lgt_rect *rect);
/* Does anything come to a local domain, for any store? */
static inline bool lgt_exchange_gets(const lgt_exchange *exchange) {
  for (int at = 0; at < exchange->binder->map->local * exchange->nheld; at++)
    if (exchange->gets[at]) return true;
  return false;
}
/* Acquire instances for all roots that have contents from before the group. */
lgt_status lgt_exchange_acquire(lgt_exchange *exchange);
/* For want of memory the group does not run, or not all has moved: all histories are as before the survey, as far as that
 * has come.  Not with other ranks, which count on it. */
void lgt_exchange_undo(lgt_exchange *exchange);
/* Submit the copies and messages.  One for which there is no instance goes without contents. */
lgt_status lgt_exchange_move(lgt_exchange *exchange);
/* The same in two steps.  A task that is submitted between them does not wait for what is received, so it may touch nothing of
 * that. */
lgt_status lgt_exchange_send(lgt_exchange *exchange);
lgt_status lgt_exchange_receive(lgt_exchange *exchange);
/* Does a local domain lack memory for elements that the group reads there? */
bool lgt_exchange_lacks_memory(const lgt_exchange *exchange);
/* What happens to the elements of its n-th store, to which some come or none do. */
static inline lgt_use lgt_exchange_use(const lgt_exchange *exchange, int n, bool comes) {
  return exchange->written[n] ? LGT_USE_WRITE : comes ? LGT_USE_RECEIVE : LGT_USE_READ;
}
/* The local domain's instance of a store that the exchange works on. */
static inline lgt_instance *lgt_exchange_destination(const lgt_exchange *exchange, int n, int domain) {
  int at = domain * exchange->nheld + n;
  return exchange->split && exchange->inst[at] ? exchange->inst[at] : exchange->store[n]->replica[domain].inst;
}
/* The local domain's instance of an initial slot; NULL: the domain does not touch the slot. */
static inline lgt_instance *lgt_exchange_instance(const lgt_exchange *exchange, int domain, int slot) {
  int n = exchange->group->notes->of_slot[slot];
  return exchange->cover[domain * exchange->nheld + n].ndim < 0 ? NULL : lgt_exchange_destination(exchange, n, domain);
}
/* Record in the stores which domains have their newest elements, and by which partition they were written. */
lgt_status lgt_exchange_end(lgt_exchange *exchange);

/* exchange_log.c: lines for LGT_DEBUG.  What each domain works on; what moves; and, afterwards, the instances that this rank's
 * domains have of an array. */
void lgt_exchange_log_calls(const lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root);
void lgt_exchange_log_moves(const lgt_exchange *exchange);
void lgt_exchange_log_instances(const lgt_exchange *exchange, const lgt_store *store);

#endif
