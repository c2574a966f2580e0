/* poison.c - failures as contents of stores.  See poison.h. */
#include "poison.h"

#include <string.h>

#include "replica.h"

lgt_failure *lgt_poison_new(lgt_binder *binder, lgt_status status, const char *message, uint32_t line) {
  lgt_failure *failure =
      lgt_failure_new(status, message, line ? binder->line_text(binder->line_context, line) : NULL);
  if (failure) failure->position = binder->position;
  else failure = lgt_failure_retain(binder->reserve);
  if (!binder->failure) binder->failure = lgt_failure_retain(failure);
  return failure;
}

void lgt_poison_seen(lgt_binder *binder) {
  lgt_failure_release(binder->seen);
  binder->seen = binder->failure;
  binder->failure = NULL;
}

/* Several domains may fail in one group, each in its own way: who sees one of these has seen them all. */
static bool of_one_group(const lgt_failure *a, const lgt_failure *b) {
  return a->status == b->status && a->position == b->position && a->position != LGT_POSITION_UNKNOWN;
}

void lgt_poison_note(lgt_binder *binder) {
  if (binder->failure && binder->seen && of_one_group(binder->failure, binder->seen)) lgt_poison_seen(binder);
}

lgt_status lgt_poison_report(lgt_binder *binder, const lgt_failure *failure) {
  if (!failure) return LGT_OK;
  lgt_status status = lgt_err(failure->status, "%s", failure->message);
  const lgt_failure *unseen = binder->failure;
  if (unseen && unseen->status == failure->status &&
      (of_one_group(unseen, failure) || !strcmp(unseen->message, failure->message)))
    lgt_poison_seen(binder);
  return status;
}

void lgt_poison_store(lgt_store *store, lgt_failure *failure) {
  lgt_failure_release(store->failure);
  store->failure = failure ? lgt_failure_retain(failure) : NULL;
  store->written = true;
}

void lgt_poison_heal(lgt_binder *binder, lgt_store *store) {
  lgt_failure_release(store->failure);
  store->failure = NULL;
  for (int d = 0; store->replica && d < binder->map->local; d++) {
    lgt_replica *replica = &store->replica[d];
    lgt_replica_drop_asides(binder->map, replica);
    if (!replica->inst) continue;
    if (replica->inst->owners == 1 && !replica->inst->pins) replica->inst->anew = binder->position;
    if (!replica->inst->failure) continue;
    if (replica->inst->owners > 1 || replica->inst->pins > 0) { /* still what failed, for somebody else */
      lgt_replica_set(binder->map, replica, NULL);
    } else {
      lgt_failure_release(replica->inst->failure);
      replica->inst->failure = NULL;
    }
  }
}

lgt_failure *lgt_poison_of(const lgt_binder *binder, const lgt_store *store) {
  if (store->failure) return store->failure;
  for (int d = 0; store->replica && d < binder->map->local; d++) {
    const lgt_replica *replica = &store->replica[d];
    if (replica->inst && replica->inst->failure) return replica->inst->failure;
    for (int k = 0; k < replica->naside; k++)
      if (replica->aside[k].inst->failure) return replica->aside[k].inst->failure;
  }
  return NULL;
}
