/* poison.c - failures as contents of stores.  See poison.h. */
#include "move/poison.h"

#include "move/job.h"

#include <string.h>

#include "memory/replica.h"
#include "plan/taint.h"

lgt_failure *lgt_poison_new(lgt_binder *binder, lgt_status status, const char *message, uint32_t line) {
  lgt_failure *failure =
      lgt_failure_new(status, message, line ? binder->line_text(binder->line_context, line) : NULL);
  if (failure) failure->position = binder->agreed.position;
  else failure = lgt_failure_retain(binder->no_memory);
  bool news = status != LGT_DEVICE_LOST || !binder->lost_reported;
  if (news && !binder->unreported) binder->unreported = lgt_failure_retain(failure);
  return failure;
}

void lgt_poison_reported(lgt_binder *binder) {
  lgt_failure_release(binder->reported);
  binder->reported = binder->unreported;
  binder->unreported = NULL;
  if (binder->reported && binder->reported->status == LGT_DEVICE_LOST) binder->lost_reported = true;
}

/* Several domains may fail in one group, each in its own way: a script that is told of one of these needs no other. */
static bool of_one_group(const lgt_failure *a, const lgt_failure *b) {
  return a->status == b->status && a->position == b->position && a->position != LGT_POSITION_UNKNOWN;
}

void lgt_poison_note(lgt_binder *binder) {
  if (binder->unreported && binder->reported && of_one_group(binder->unreported, binder->reported))
    lgt_poison_reported(binder);
}

lgt_status lgt_poison_report(lgt_binder *binder, const lgt_failure *failure) {
  if (!failure) return LGT_OK;
  lgt_status status = lgt_err(failure->status, "%s", failure->message);
  const lgt_failure *other = binder->unreported;
  bool lost = status == LGT_DEVICE_LOST;
  binder->lost_reported |= lost;
  if (other && other->status == failure->status &&
      (lost || of_one_group(other, failure) || !strcmp(other->message, failure->message)))
    lgt_poison_reported(binder);
  return status;
}

void lgt_poison_store(lgt_store *store, lgt_failure *failure) {
  lgt_failure_release(store->failure);
  store->failure = failure ? lgt_failure_retain(failure) : NULL;
  store->written = true;
}

void lgt_poison_overwrite(lgt_binder *binder, lgt_store *store) {
  lgt_failure_release(store->failure);
  store->failure = NULL;
  for (int d = 0; store->replica && d < binder->map->local; d++) {
    lgt_replica *replica = &store->replica[d];
    lgt_replica_drop_asides(binder->map, replica);
    if (!replica->inst) continue;
    if (replica->inst->owners == 1 && !replica->inst->pins) replica->inst->overwritten_by = binder->jobs + 1;
    if (!replica->inst->failure) continue;
    if (replica->inst->owners > 1 || replica->inst->pins > 0) { /* still what failed, for somebody else */
      lgt_replica_set(binder->map, replica, NULL);
    } else {
      lgt_failure_release(replica->inst->failure);
      replica->inst->failure = NULL;
    }
  }
}

void lgt_poison_outdate(const lgt_binder *binder, lgt_store *store) {
  if (lgt_map_whole(binder->map)) return; /* the only domain takes part */
  for (int d = 0; store->replica && d < binder->map->local; d++) {
    lgt_instance *inst = store->replica[d].inst;
    const lgt_job *writer = inst ? (const lgt_job *)inst->writer : NULL;
    if (writer && writer->position < binder->agreed.position && inst->owners == 1 && !inst->pins)
      inst->overwritten_by = writer->number + 1;
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

/* ---- recent groups ------------------------------------------------------------------------------------- */

static bool writes(const lgt_plan_group *group, int root) {
  for (int i = group->first; i < group->first + group->count; i++) {
    const lgt_plan_call *call = &group->plan->call[i];
    for (int a = 0; a < call->nargs; a++)
      if (call->root[a] == root && lgt_kind_writes(call->kind, a)) return true;
  }
  return false;
}

/* A group, or the end of a store, with room for the numbers of its stores.  NULL: out of memory, so everything was waited for,
 * and nothing that may fail is in flight. */
static uint32_t *remember(lgt_binder *binder, const lgt_plan_group *group, int nstore) {
  int all = binder->nrecent_store + nstore;
  if (!lgt_mem_grow((void **)&binder->recent, &binder->recent_room, binder->nrecent + 1,
                    sizeof *binder->recent) ||
      !lgt_mem_grow((void **)&binder->recent_store, &binder->recent_store_room, all,
                    sizeof *binder->recent_store))
    return lgt_job_retire(binder, true), NULL;
  binder->recent[binder->nrecent++] = (lgt_recent){binder->agreed.position, group, nstore};
  binder->nrecent_store = all;
  return binder->recent_store + all - nstore;
}

void lgt_poison_bound(lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root) {
  const lgt_plan_notes *notes = group->notes;
  if (lgt_map_whole(binder->map) || !binder->njob) return;
  uint32_t *store = remember(binder, group, notes->ntouched);
  for (int i = 0; store && i < notes->ntouched; i++) store[i] = root[notes->touched[i].root];
  if (store) lgt_plan_retain(group->plan);
}

void lgt_poison_end(lgt_binder *binder, uint32_t store) {
  uint32_t *gone = binder->nrecent ? remember(binder, NULL, 1) : NULL;
  if (gone) *gone = store;
}

void lgt_poison_forget(lgt_binder *binder, int64_t position) {
  int n = 0, stores = 0;
  for (; n < binder->nrecent && binder->recent[n].position < position; n++) {
    stores += binder->recent[n].nstore;
    if (binder->recent[n].group) lgt_plan_release(binder->recent[n].group->plan);
  }
  if (!n) return;
  binder->nrecent -= n;
  binder->nrecent_store -= stores;
  memmove(binder->recent, binder->recent + n, (size_t)binder->nrecent * sizeof *binder->recent);
  memmove(binder->recent_store, binder->recent_store + stores,
          (size_t)binder->nrecent_store * sizeof *binder->recent_store);
}

/* The number of the store that was a root of the group's plan; 0: the group does not touch it. */
static uint32_t store_of(const lgt_recent *t, const uint32_t *store, uint16_t root) {
  const lgt_plan_notes *notes = t->group->notes;
  for (int i = 0; i < t->nstore; i++)
    if (notes->touched[i].root == root) return store[i];
  return 0;
}

/* Which stores are `bad` (by number) after a group, which has touched these, given those that are before it. */
static bool taint_through(const lgt_recent *t, const uint32_t *store, bool *bad, int64_t *position) {
  const lgt_plan_group *group = t->group;
  lgt_taint taint;
  bool any = false;
  if (!group) return bad[*store] = false, true;
  for (int s = 0; s < group->nslot; s++) {
    position[s] = group->slot[s].initial && bad[store_of(t, store, group->slot[s].root)] ? 0 : LGT_TAINT_NONE;
    any |= position[s] == 0;
  }
  const lgt_plan_notes *notes = group->notes;
  for (int i = 0; i < t->nstore; i++) any |= bad[store[i]]; /* one that it overwrites, perhaps */
  if (!any) return true;
  if (!lgt_taint_find(&taint, group, position)) return false;
  for (int i = 0; i < t->nstore; i++)
    if (writes(group, notes->touched[i].root))
      bad[store[i]] = lgt_taint_of_root(&taint, notes->touched[i].root) != LGT_NONE;
  lgt_taint_fini(&taint);
  return true;
}

void lgt_poison_group(lgt_binder *binder, int64_t position, lgt_failure *failure) {
  size_t n = binder->stores->nstore, slots = 1;
  if (!binder->nrecent) return;
  for (int i = 0; i < binder->nrecent; i++)
    if (binder->recent[i].group && (size_t)binder->recent[i].group->nslot > slots)
      slots = (size_t)binder->recent[i].group->nslot;
  bool *bad = lgt_mem_zalloc(n + 1), good = bad != NULL;
  int64_t *positions = lgt_mem_alloc(slots * sizeof *positions);
  const uint32_t *store = binder->recent_store;
  good &= positions != NULL;
  for (int i = 0; i < binder->nrecent && good; store += binder->recent[i++].nstore) {
    const lgt_recent *t = &binder->recent[i];
    if (t->position > position || !t->group) good = taint_through(t, store, bad, positions);
    for (int k = 0; t->group && t->position == position && k < t->nstore; k++)
      bad[store[k]] = writes(t->group, t->group->notes->touched[k].root);
  }
  for (uint32_t i = 1; i < n && good; i++) {
    lgt_store *failed = bad[i] ? lgt_store_at(binder->stores, i) : NULL;
    if (failed && (!failed->failure || failure->position < failed->failure->position))
      lgt_poison_store(failed, failure);
  }
  lgt_mem_free(positions);
  lgt_mem_free(bad);
}
