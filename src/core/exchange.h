/* exchange.h - what a group needs from other memory domains, and what it makes newest in its own.
 *
 * Both follow from the group's calls and its launch partition alone: never from what was elided, renamed
 * or kept in registers, nor from where instances happen to be.  A result that is only a recipe counts as
 * written by the domain whose colours would have written it, and the inputs of a call that is not run now
 * are fetched all the same, so that its recipe can.  Whoever sees the same calls comes to the same
 * copies, in the same order, and to the same regions of newest elements.
 *
 * Belongs to the submitting thread.
 */
#ifndef LGT_EXCHANGE_H
#define LGT_EXCHANGE_H

#include "bind.h"

/* How one argument of a call takes part in the group. */
struct lgt_touch {
  uint16_t call;   /* of the plan */
  uint16_t root;   /* among the group's `touched` */
  uint8_t arg;
  bool fresh;      /* the group makes the root: there is nothing from before */
  bool reads;      /* contents from before the group */
  bool writes;
  bool folds;      /* several colours reduce into the same elements: these are in domain 0 */
  const lgt_partition *key; /* the root's key partition after a write */
};

/* Make the group's touches, unless it has them. */
lgt_status lgt_exchange_prepare(const lgt_fuser *fuser, lgt_plan_group *group);

/* One run of a group. */
typedef struct lgt_exchange {
  lgt_binder *binder;
  lgt_plan_group *group;
  const uint32_t *root; /* the stores of the plan's roots */
  /* From the binder's arena, [domain * ntouched + root]: */
  lgt_rect *cover;      /* what an instance must have room for; ndim -1: nothing */
  lgt_region *lacks;    /* what has to be fetched; owned until it is */
  bool *written;        /* [root]: it will be written in place */
} lgt_exchange;

/* Survey the group. */
lgt_status lgt_exchange_begin(lgt_exchange *exchange);
/* The domain's instance of a root of the plan must have room for this too; `written`: in place. */
void lgt_exchange_need(lgt_exchange *exchange, int domain, uint16_t root, const lgt_rect *rect, bool written);
/* Instances for all roots that are there already, and copies of what they lack. */
lgt_status lgt_exchange_fetch(lgt_exchange *exchange);
/* The domain's instance of a root of the plan; NULL if the group has nothing to do with it there. */
lgt_instance *lgt_exchange_instance(const lgt_exchange *exchange, int domain, uint16_t root);
/* Tell the stores where their newest elements are, and by which partition they were written. */
lgt_status lgt_exchange_end(lgt_exchange *exchange);

#endif
