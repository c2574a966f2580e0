/* attempt.h - an attempt to run a group: memory for its slots, its tasks, and where its results are then.
 *
 * bind.c makes one for a group of a window, rescue.c one for the calls that a result comes from which was not stored.  If
 * memory lacks, an attempt leaves nothing behind, and there may be another one.
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
  lgt_plan_group *group;
  const uint32_t *root;      /* store of each root; NULL for a rescue */
  const lgt_binding *source; /* for a rescue: what the original group ran with */
  const uint64_t *kept;      /* slots that recipes will read; NULL for a rescue */
  lgt_instance **inst;       /* nslot for each local domain, a ref each */
  lgt_surveyed touched;      /* with several domains: which of their elements the domain's colours touch */
  lgt_scalar *param;
  bool host;                /* all of it happens in the host's memory, not in the domains' homes */
  lgt_exchange exchange;    /* with several domains, not for a rescue */
  const char *where, *last; /* source lines of the first call and of the last one */
  lgt_failure **poison;     /* refs; by slot: of what it reads, or writes in part; NULL: nothing has failed */
  lgt_taint taint;          /* ... and what comes of that */
  bool all_poisoned;        /* all results */
};

/* A set of slots, as bits. */
static inline bool lgt_slots_have(const uint64_t *slots, int slot) { return slots[slot / 64] >> slot % 64 & 1; }

lgt_store *lgt_attempt_store(const lgt_attempt *attempt, uint16_t root);
/* Does what the group makes of the root depend on what has failed before? */
bool lgt_attempt_taints(const lgt_attempt *attempt, uint16_t root);
/* Would a group, where it writes a slot in place, change what somebody else wants to find there: another store, or a
 * recipe?  Whatever may fail is taken to write everywhere. */
bool lgt_attempt_disturbs(const lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root, int slot,
                          const lgt_instance *inst);

/* Instances for all slots.  LGT_NO_MEMORY: what is in flight may have to end before there is enough. */
lgt_status lgt_attempt_acquire(lgt_attempt *attempt);
/* ... waiting for that; the caller sees to what has failed meanwhile.  False: nothing is in flight. */
bool lgt_attempt_wait(lgt_attempt *attempt);
void lgt_attempt_release(lgt_attempt *attempt);
/* Launch the group's tasks. */
lgt_status lgt_attempt_run(lgt_attempt *attempt);
/* A root's newest contents are in slot s from now on.  (With several domains, who has which elements is for the exchange
 * to say.) */
lgt_status lgt_attempt_settle(lgt_attempt *attempt, lgt_store *store, int s);

#endif
