/* rescue.h - the recipes of a program's results (recipes.h): left by groups that ran, and run if the program looks. */
#ifndef LGT_RESCUE_H
#define LGT_RESCUE_H

#include "bind/bind.h"

typedef struct lgt_attempt lgt_attempt;

/* The instances and parameters with which a group ran; kept by its recipes. */
typedef struct lgt_binding {
  lgt_instance **inst; /* nslot for each local domain; the pinned ones hold a ref */
  int ninst;
  int nparam;
  lgt_scalar *param; /* lgt_plan_group_params(group) */
} lgt_binding;

/* The slots, as bits, that recipes of results read that the program may still hold; NULL when out of memory.  *any: there are
 * such recipes. */
const uint64_t *lgt_rescue_kept(lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root, bool *any);
/* How many bytes the group would have to write elsewhere, or copy, only because of recipes. */
int64_t lgt_rescue_bytes(lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root);

/* Leave a recipe for the elided results that the program may still hold. */
lgt_status lgt_rescue_leave(lgt_attempt *attempt);
/* The store loses its recipe. */
void lgt_rescue_drop(lgt_binder *binder, lgt_store *store);

/* Run the store's recipe, if it has one: afterwards its contents are in memory, unless the store is poisoned. */
lgt_status lgt_rescue_store(lgt_binder *binder, lgt_store *store);
/* Run all recipes that keep memory which no array has any more, so that it can be freed, but for those whose results would take
 * more.  With one domain. */
void lgt_rescue_kept_alone(lgt_binder *binder);

#endif
