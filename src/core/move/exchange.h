/* exchange.h - what a group needs from other memory domains and ranks, and what it makes newest in its own.
 *
 * Both follow from the group's calls and its launch partition alone: never from what was elided, renamed
 * or kept in registers, nor from where instances happen to be, nor from whether something failed.  A result that
 * is only a recipe counts as written by the domain whose colours would have written it, and the inputs of a call
 * that is not run now are fetched all the same, so that its recipe can.  Whoever sees the same calls comes to the
 * same copies and messages (moves.h), in the same order, and to the same histories.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_EXCHANGE_H
#define LGT_EXCHANGE_H

#include "move/moves.h"
#include "move/message.h"

typedef struct lgt_image_moves lgt_image_moves; /* image.h */

/* How one argument of a call takes part in the group. */
struct lgt_touch {
  uint16_t call;   /* of the plan */
  uint16_t root;   /* among the group's `touched`, which are parts of roots */
  uint8_t arg;
  bool fresh;      /* the group makes the root: there is nothing from before */
  bool reads;      /* contents from before the group */
  bool writes;
  const lgt_footprint *whole; /* several colours reduce into the same elements: these are everywhere */
  /* Of this run of the group: */
  const lgt_footprint *what;  /* what is touched: `whole`, unless data says otherwise: */
  lgt_image *image;     /* borrowed; NULL: none (image.h) */
  const lgt_image_moves *moves;     /* borrowed; how the image's elements come; NULL: they are there */
};

/* The touch of a native call's access; NULL: none were made. */
const lgt_touch *lgt_touch_of(const lgt_plan_group *group, const lgt_plan_access *access);
/* Make the group's touches, unless it has them. */
lgt_status lgt_exchange_prepare(lgt_binder *binder, lgt_plan_group *group);

/* One run of a group, or the fetching of one store. */
typedef struct lgt_exchange {
  lgt_binder *binder;
  lgt_plan_group *group; /* NULL: one store that is looked at */
  lgt_store **store;     /* by number among the touched roots; from the arena, like the rest */
  int nstore;
  bool split;            /* a store may be there several times, in parts */
  /* [local domain * nstore + store]: */
  lgt_rect *cover;       /* what an instance must have room for; ndim -1: nothing */
  lgt_instance **inst;   /* borrowed; if split: what was acquired; NULL: nothing yet */
  bool host;             /* in the host's memory, not in the domains' homes */
  bool *gets;            /* something will be copied into it */
  lgt_rect *spare;       /* what of it is about to be overwritten; ndim -1: nothing */
  bool *written;         /* [store]: it will be written in place */
  bool *together;        /* [store]: its elements are brought together, into tiles */
  const lgt_history **saved; /* [store]: its history as it was; NULL: it is not saved yet */
} lgt_exchange;

/* An argument of the group through which every rank would get all of an array that is larger than that; -1: none.
 * Which are not everywhere yet, that is. */
int lgt_exchange_too_large(const lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root, int64_t bytes);
/* Survey the group: what has to move is listed, and histories say that it did.  `root`: stores by number in the plan. */
lgt_status lgt_exchange_begin(lgt_exchange *exchange, lgt_binder *binder, lgt_plan_group *group, const uint32_t *root);
/* Or survey one store, of which every domain wants to read what it touches. */
lgt_status lgt_exchange_fetch(lgt_exchange *exchange, lgt_binder *binder, lgt_store *store, const lgt_touch *touch);
/* Or survey one store, of which the first domain of every rank wants to read a rect. */
lgt_status lgt_exchange_look(lgt_exchange *exchange, lgt_binder *binder, lgt_store *store, const lgt_rect *rect, bool read, bool write);
/* A copy of a rect on every rank, for the script to look at, when not all of it is everywhere; it is not kept, so that
 * no rank holds more than its share.  *out: a ref; NULL with LGT_NO_MEMORY when there is no room for it here. */
lgt_status lgt_exchange_peek(lgt_binder *binder, lgt_store *store, const lgt_rect *rect, lgt_instance **out);
/* The local domain's instance of an initial slot must have room for this too. */
void lgt_exchange_need(lgt_exchange *exchange, int domain, const lgt_plan_slot *slot, const lgt_rect *rect);
/* All local domains that have to do with it shall have room for a halo, too. */
void lgt_exchange_margin(lgt_exchange *exchange, const lgt_plan_slot *slot);
/* What of it the group overwrites, so that it need not be kept. */
void lgt_exchange_spare(lgt_exchange *exchange, int domain, const lgt_plan_slot *slot, const lgt_rect *rect);
/* Instances for all roots that are there already. */
lgt_status lgt_exchange_acquire(lgt_exchange *exchange);
/* It will not happen, for want of memory: as before. */
void lgt_exchange_undo(lgt_exchange *exchange);
/* Copies and messages.  Those for which there is no instance go without contents. */
lgt_status lgt_exchange_move(lgt_exchange *exchange);
/* Does a local domain lack memory for what the group reads there? */
bool lgt_exchange_lacks_memory(const lgt_exchange *exchange);
/* The local domain's instance of an initial slot; NULL if the group has nothing to do with it there. */
lgt_instance *lgt_exchange_instance(const lgt_exchange *exchange, int domain, const lgt_plan_slot *slot);
/* Tell the stores who has their newest elements, and by which partition they were written. */
lgt_status lgt_exchange_end(lgt_exchange *exchange);

#endif
