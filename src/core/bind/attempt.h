/* attempt.h - an attempt to run a group: memory for its slots, its tasks, and where its results are then.
 *
 * bind.c attempts a group of a window; rescue.c attempts the calls on which an elided result depends.  An attempt that lacks
 * memory leaves nothing behind, and the caller may make another one.
 *
 * Slots are acquired for a domain at once, over all its colours, so that no instance moves under another colour of the
 * same domain.
 */
#ifndef LGT_ATTEMPT_H
#define LGT_ATTEMPT_H

#include "bind/bind.h"
#include "move/exchange.h"
#include "bind/rescue.h"
#include "bind/survey.h"
#include "plan/taint.h"

struct lgt_attempt {
  lgt_binder *binder;
  const lgt_plan_group *group;
  const uint32_t *root;      /* store of each root; NULL for a rescue */
  const lgt_binding *source; /* for a rescue: the instances and parameters with which the original group ran */
  const uint64_t *kept;      /* slots that recipes will read; NULL for a rescue */
  bool keeps;                /* there are such recipes */
  lgt_instance **inst;       /* nslot for each local domain, a ref each */
  lgt_surveyed touched;      /* with several domains: the elements of slots that the domains' colours touch */
  lgt_points points;         /* with several domains: of the tasks, if `pointed` */
  bool pointed;              /* then they have to be released */
  bool *lacks;               /* by new slot: there is no memory for it; NULL: then the attempt fails as a whole */
  lgt_scalar *param;
  int64_t wanted;           /* with one domain, if there was no memory: bytes of the new slots that take no other one's */
  int ways;                 /* how many of the ways to get memory help no more */
  bool crowded;             /* devices lack memory for it */
  bool host;                /* it works in the host's memory, not in the domains' homes */
  lgt_exchange exchange;    /* with several domains, not for a rescue */
  const char *where, *last; /* source lines of the first call and of the last one */
  lgt_failure **poison;     /* refs, by slot: the failure of contents that it reads or writes in part; NULL: nothing failed */
  lgt_taint taint;          /* the results that depend on these failures */
  bool all_poisoned;        /* all results are poisoned */
  lgt_estimate estimate;    /* side.h; of 0 where nobody chose */
};

/* A set of slots, as bits. */
static inline bool lgt_slots_have(const uint64_t *slots, int slot) { return slots[slot / 64] >> slot % 64 & 1; }

static inline lgt_store *lgt_attempt_store(const lgt_attempt *attempt, uint16_t root) {
  return lgt_store_at(attempt->binder->stores, attempt->root[root]);
}
/* Does the group's result for the root depend on an earlier failure? */
bool lgt_attempt_taints(const lgt_attempt *attempt, uint16_t root);
/* Would a group that writes a slot in place change elements of `inst` that another store or a recipe needs?  A group that
 * may fail counts as writing all of the instance. */
bool lgt_attempt_disturbs(const lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root, int slot,
                          const lgt_instance *inst);

/* Acquire instances for all slots.  LGT_NO_MEMORY: tasks in flight may have to end before there is enough. */
lgt_status lgt_attempt_acquire(lgt_attempt *attempt);
/* The same with several domains, when all else has been tried: a new slot for which there is no memory goes without (`lacks`),
 * and the loops that touch it do not run. */
lgt_status lgt_attempt_acquire_part(lgt_attempt *attempt);
/* After an attempt that lacked memory: release what it has acquired, and make the next one likelier to succeed: wait for all
 * tasks in flight, which give memory back; move what devices hold to the host; with `last`, work on the host.  The caller
 * must look for failures that tasks brought, and try again.  False: there is nothing more to do. */
bool lgt_attempt_make_room(lgt_attempt *attempt, bool last);
void lgt_attempt_release(lgt_attempt *attempt);
/* Submit what of the group's tasks runs ahead, by local domain (LGT_PORTION_ALL: nothing).  They will do the rest. */
lgt_status lgt_attempt_run_ahead(lgt_attempt *attempt, const lgt_portion *ahead);
/* Launch the group's tasks. */
lgt_status lgt_attempt_run(lgt_attempt *attempt);
/* From now on the newest contents of `store` are in slot s.  (With several domains the exchange says which domain has which
 * elements.) */
lgt_status lgt_attempt_settle(lgt_attempt *attempt, lgt_store *store, int s);

#endif
