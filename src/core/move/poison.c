/* poison.c - failures as contents of stores.  See poison.h. */
#include "move/poison.h"

#include "move/job.h"

#include <string.h>

#include "memory/replica.h"
#include "plan/taint.h"

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
    if (replica->inst->owners == 1 && !replica->inst->pins) replica->inst->anew = binder->jobs + 1;
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

/* ---- the trail --------------------------------------------------------------------------------------- */

static bool touches(const lgt_plan_group *group, int root, bool writing) {
  for (int i = group->first; i < group->first + group->count; i++) {
    const lgt_plan_call *call = &group->plan->call[i];
    for (int a = 0; a < call->nargs; a++)
      if (call->root[a] == root && (!writing || lgt_kind_writes(call->kind, a))) return true;
  }
  return false;
}

/* False: everything was waited for instead, and there is nothing to follow. */
static bool follow(lgt_binder *binder, lgt_trail trail) {
  if (lgt_mem_grow((void **)&binder->trail, &binder->trail_room, binder->ntrail + 1, sizeof *binder->trail)) {
    binder->trail[binder->ntrail++] = trail;
    return true;
  }
  lgt_job_retire(binder, true);
  return false;
}

void lgt_poison_follow(lgt_binder *binder, lgt_plan_group *group, const uint32_t *root) {
  int n = group->plan->nroot;
  if (binder->map->domains == 1 || !binder->njob) return;
  uint32_t *store = lgt_mem_zalloc(((size_t)n + 1) * sizeof *store);
  if (!store) {
    lgt_job_retire(binder, true);
    return;
  }
  for (int r = 0; r < n; r++)
    if (touches(group, r, false)) store[r] = root[r];
  if (follow(binder, (lgt_trail){binder->position, group, store, 0})) lgt_plan_retain(group->plan);
  else lgt_mem_free(store);
}

void lgt_poison_end(lgt_binder *binder, uint32_t store) {
  if (binder->ntrail) follow(binder, (lgt_trail){binder->position, NULL, NULL, store});
}

void lgt_poison_forget(lgt_binder *binder, int64_t position) {
  int n = 0;
  while (n < binder->ntrail && binder->trail[n].position < position) n++;
  for (int i = 0; i < n; i++) {
    if (binder->trail[i].group) lgt_plan_release(binder->trail[i].group->plan);
    lgt_mem_free(binder->trail[i].store);
  }
  binder->ntrail -= n;
  if (n) memmove(binder->trail, binder->trail + n, (size_t)binder->ntrail * sizeof *binder->trail);
}

/* What one group makes of `bad` stores (by number): its results, too, but for those that it overwrites. */
static bool spread_through(const lgt_trail *t, bool *bad, int64_t *position) {
  const lgt_plan_group *group = t->group;
  lgt_taint taint;
  bool any = false;
  if (!group) return bad[t->gone] = false, true;
  for (int s = 0; s < group->nslot; s++) {
    position[s] = group->slot[s].initial && bad[t->store[group->slot[s].root]] ? 0 : LGT_TAINT_NONE;
    any |= position[s] == 0;
  }
  for (int r = 0; r < group->plan->nroot; r++) any |= bad[t->store[r]]; /* one that it makes anew, perhaps */
  if (!any) return true;
  if (!lgt_taint_find(&taint, group, position)) return false;
  for (int r = 0; r < group->plan->nroot; r++)
    if (t->store[r] && touches(group, r, true))
      bad[t->store[r]] = lgt_taint_of_root(&taint, (uint16_t)r) != LGT_NONE;
  lgt_taint_fini(&taint);
  return true;
}

void lgt_poison_spread(lgt_binder *binder, int64_t position, lgt_failure *failure) {
  size_t n = binder->stores->nstore, slots = 1;
  if (!binder->ntrail) return;
  for (int i = 0; i < binder->ntrail; i++)
    if (binder->trail[i].group && (size_t)binder->trail[i].group->nslot > slots)
      slots = (size_t)binder->trail[i].group->nslot;
  bool *bad = lgt_mem_zalloc(n + 1), good = bad != NULL;
  int64_t *positions = lgt_mem_alloc(slots * sizeof *positions);
  good &= positions != NULL;
  for (int i = 0; i < binder->ntrail && good; i++) {
    const lgt_trail *t = &binder->trail[i];
    if (t->position > position || !t->group) good = spread_through(t, bad, positions);
    for (int r = 0; t->group && t->position == position && r < t->group->plan->nroot; r++)
      if (t->store[r]) bad[t->store[r]] = touches(t->group, r, true);
  }
  for (uint32_t i = 1; i < n && good; i++) {
    lgt_store *store = bad[i] ? lgt_store_at(binder->stores, i) : NULL;
    if (store && (!store->failure || failure->position < store->failure->position))
      lgt_poison_store(store, failure);
  }
  lgt_mem_free(positions);
  lgt_mem_free(bad);
}
