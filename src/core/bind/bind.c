/* bind.c - binding groups to instances and building their tasks.  See bind.h.
 *
 * The order for one group: inputs materialised; what has to move is listed; instances acquired for each
 * domain that works on the group (attempt.c); copies and messages (exchange.c); one job for each colour; partial
 * results of several colours folded; stores updated; recipes left behind (rescue.c).  Poisoned inputs leave only
 * the messages.
 */
#include "bind/bind.h"

#include <stdio.h>
#include <string.h>

#include "bind/ahead.h"
#include "bind/attempt.h"
#include "move/evict.h"
#include "move/exchange.h"
#include "bind/fold.h"
#include "move/image.h"
#include "bind/point.h"
#include "move/poison.h"
#include "move/record.h"
#include "memory/replica.h"
#include "bind/shuffle.h"

/* ---- stores ------------------------------------------------------------------------------------------ */

void lgt_bind_drop_store(lgt_binder *binder, lgt_store *store) {
  if (store->handles > 0 || store->refs > 0) return;
  lgt_rescue_drop(binder, store);
  for (int k = LGT_REPLICA_MAIN; store->attached && store->replica && k < store->replica[0].naside; k++)
    lgt_job_wait(binder, k < 0 ? store->replica[0].inst : store->replica[0].aside[k].inst, true);
  if (store->home) {
    lgt_job_wait(binder, store->home, true);
    lgt_instance_release(binder->map, store->home);
  }
  lgt_images_drop(store);
  for (int d = 0; store->replica && d < binder->map->local; d++)
    lgt_replica_drop_asides(binder->map, &store->replica[d]);
  lgt_store_forget(binder->map, store);
  lgt_failure_release(store->failure);
  lgt_poison_end(binder, store->id);
  if (store->release) store->release(store->release_context);
  lgt_store_recycle(binder->stores, store);
}

/* Stores that share memory since this group are the same up to its versions, which are known now.  Not those of a renamed
 * slot and of its rest, which share the memory of a domain where the group does not write the slot: others do write it. */
static void note_alike(const lgt_attempt *try, lgt_status status) {
  const lgt_map *map = try->binder->map;
  int n = try->group->nslot;
  for (int s = 0; try->inst && s < n; s++) {
    uint16_t rest = try->group->slot[s].rest;
    for (int first = 0; first < n * map->local && rest != LGT_NONE; first += n)
      if (try->inst[first + s] && try->inst[first + s] == try->inst[first + rest])
        try->inst[first + s]->alike = try->inst[first + s]->pinned_alike = LGT_ALIKE_NEVER;
  }
  for (int i = 0; try->inst && i < n * map->local; i++) {
    lgt_instance *inst = try->inst[i];
    int64_t version = status ? LGT_ALIKE_NEVER : try->binder->agreed.versions;
    if (inst && inst->owners < 2 && !inst->pins) inst->alike = 0; /* as if there never had been others */
    if (inst && inst->alike == LGT_ALIKE_SOON) inst->alike = version;
    if (inst && inst->pinned_alike == LGT_ALIKE_SOON) inst->pinned_alike = version;
  }
}

static lgt_status settle_all(lgt_attempt *try) {
  const lgt_plan_group *group = try->group, *lasting = lgt_plan_group_lasting(group);
  lgt_status status = LGT_OK;
  for (int f = 0; f < group->nfinal && !status; f++) {
    lgt_store *store = lgt_attempt_store(try, group->slot_of_final[2 * f]);
    if (store->recipe) lgt_rescue_drop(try->binder, store);
    lgt_failure_release(store->failure); /* these are new contents */
    store->failure = NULL;
    status = lgt_attempt_settle(try, store, group->slot_of_final[2 * f + 1]);
    store->written = true;
    int slot = group->slot_of_final[2 * f + 1];
    lgt_store_made(store, lasting);
    lgt_acquire_housed(store, lasting, slot);
    if (group->slot[slot].rest != LGT_NONE) continue;
    /* what domains have that take no part */
    if (lgt_poison_of(try->binder, store)) lgt_poison_overwrite(try->binder, store);
    else lgt_poison_outdate(try->binder, store);
  }
  for (int s = 0; s < group->nslot; s++)
    if (group->slot[s].initial && group->slot[s].written) {
      lgt_store *store = lgt_attempt_store(try, group->slot[s].root);
      if (!store->written) lgt_acquire_housed(store, lasting, s);
      lgt_store_made(store, lasting);
      store->written = true;
      if (group->slot[s].defined && !group->split) lgt_poison_outdate(try->binder, store);
    }
  return status;
}

/* ---- running a group --------------------------------------------------------------------------------------------- */

static void forget_poison(lgt_attempt *try) {
  for (int s = 0; try->poison && s < try->group->nslot; s++) lgt_failure_release(try->poison[s]);
  lgt_taint_fini(&try->taint);
  try->poison = NULL;
}

static bool poison_slot(lgt_attempt *try, int slot, lgt_failure *failure) {
  size_t n = (size_t)try->group->nslot + 1;
  if (!try->poison) try->poison = lgt_arena_alloc(&try->binder->arena, n * sizeof *try->poison);
  if (try->poison) try->poison[slot] = lgt_failure_retain(failure);
  return try->poison;
}

/* Which results depend on poisoned slots? */
static lgt_status find_taint(lgt_attempt *try) {
  const lgt_plan_group *group = try->group;
  int64_t *position = lgt_arena_alloc(&try->binder->arena, ((size_t)group->nslot + 1) * sizeof *position);
  for (int s = 0; position && s < group->nslot; s++)
    position[s] = try->poison[s] ? try->poison[s]->position : LGT_TAINT_NONE;
  lgt_taint_fini(&try->taint);
  if (!position || !lgt_taint_find(&try->taint, group, position)) return lgt_no_memory_to_launch();
  try->all_poisoned = true;
  for (int i = group->first; i < group->first + group->count; i++)
    for (int a = 0; a < group->plan->call[i].nargs; a++)
      if (lgt_kind_writes(group->plan->call[i].kind, a))
        try->all_poisoned &= lgt_attempt_taints(try, group->plan->call[i].root[a]);
  return LGT_OK;
}

/* Does the group read poisoned stores, or write a part of one?  Then why, slot by slot, and which results depend on
 * them. */
static lgt_status find_poison(lgt_attempt *try) {
  const lgt_plan_group *group = try->group;
  forget_poison(try);
  try->all_poisoned = false;
  for (int s = 0; s < group->nslot; s++) {
    if (!group->slot[s].initial) continue;
    lgt_failure *failure = lgt_poison_of(try->binder, lgt_attempt_store(try, group->slot[s].root));
    if (failure && !poison_slot(try, s, failure)) return lgt_no_memory_to_launch();
  }
  return try->poison ? find_taint(try) : LGT_OK;
}

/* Memory for the group's slots.  What is in flight may have to end before there is enough, and may fail, which no task that
 * is launched now inherits. */
static lgt_status acquire(lgt_attempt *try, bool last) {
  lgt_status status = lgt_attempt_acquire(try);
  while (status == LGT_NO_MEMORY && lgt_attempt_make_room(try, last)) {
    status = find_poison(try);
    if (!status) status = lgt_attempt_acquire(try);
  }
  return status;
}

static lgt_failure *first_poison(const lgt_attempt *try) {
  lgt_failure *first = NULL;
  for (int s = 0; try->poison && s < try->group->nslot; s++)
    if (try->poison[s] && (!first || try->poison[s]->position < first->position)) first = try->poison[s];
  return first;
}

/* Stores of which the group overwrites all are poisoned no more: before it runs those whose contents it does not read,
 * afterwards the others. */
static void overwrite(const lgt_attempt *try, bool before) {
  for (int s = 0; try->poison && s < try->group->nslot; s++) {
    const lgt_plan_slot *slot = &try->group->slot[s];
    if (try->poison[s] && slot->defined == before && lgt_taint_overwrites(&try->taint, slot->root))
      lgt_poison_overwrite(try->binder, lgt_attempt_store(try, slot->root));
  }
}

/* What the group writes fails: all of it; what comes from what had failed. */
static void poison_results(lgt_attempt *try, lgt_failure *failure) {
  const lgt_plan *plan = try->group->plan;
  for (int i = try->group->first; i < try->group->first + try->group->count; i++)
    for (int a = 0; a < plan->call[i].nargs; a++)
      if (lgt_kind_writes(plan->call[i].kind, a))
        lgt_poison_store(lgt_attempt_store(try, plan->call[i].root[a]), failure);
}

static void poison_tainted(lgt_attempt *try) {
  const lgt_plan *plan = try->group->plan;
  for (int i = try->group->first; try->poison && i < try->group->first + try->group->count; i++)
    for (int a = 0; a < plan->call[i].nargs; a++) {
      if (!lgt_kind_writes(plan->call[i].kind, a)) continue;
      uint16_t why = lgt_taint_of_root(&try->taint, plan->call[i].root[a]);
      if (why != LGT_NONE) lgt_poison_store(lgt_attempt_store(try, plan->call[i].root[a]), try->poison[why]);
    }
}

/* The memory that lacks room: of several devices, the one that has least for what it was asked for. */
static const lgt_memory *memory_that_lacks(const lgt_attempt *try) {
  const lgt_map *map = try->binder->map;
  if (try->host || map->nmemory == 1) return map->memory; /* it may not have come to choose */
  const lgt_memory *least = NULL;
  int64_t room = 0;
  for (int m = 1; m < map->nmemory; m++) {
    const lgt_memory *memory = &map->memory[m];
    int64_t left = lgt_pool_left(memory->pool) - memory->pool->asked;
    if (*memory->device->failure) return memory;
    if (!least || left < room) least = memory, room = left;
  }
  return least;
}

/* Of new slots: of all, or of those that have no memory. */
static lgt_status say_what_lacks(const lgt_attempt *try) {
  const lgt_memory *memory = memory_that_lacks(try);
  bool host = memory->on_host;
  lgt_pool *pool = memory->pool;
  int64_t bytes = try->wanted;
  if (!host && *memory->device->failure)
    return lgt_err(memory->device->lost ? LGT_DEVICE_LOST : LGT_NO_MEMORY, "no memory of %s: %s",
                   memory->device->name, memory->device->failure);
  for (int s = 0; s < try->group->nslot && !try->wanted; s++) {
    const lgt_layout *l = lgt_layout_at(try->binder->stores, try->group->slot[s].layout);
    if (!try->group->slot[s].initial && (!try->lacks || try->lacks[s])) bytes += lgt_layout_bytes(l);
  }
  return lgt_err(LGT_NO_MEMORY,
                 "out of memory%s%s: a task needs %lld more bytes, %lld of %lld are taken; use smaller "
                 "arrays, drop some, "
                 "or raise %s",
                 host ? "" : " of ", host ? "" : memory->device->name,
                 (long long)(bytes ? bytes : pool->asked), (long long)(pool->limit - lgt_pool_left(pool)),
                 (long long)pool->limit, host ? "--mem" : "--gpu-mem");
}

/* The source line of the first call that works in a slot. */
static uint32_t line_of_slot(const lgt_attempt *try, int slot, const lgt_call *calls) {
  const lgt_weave_items *items = try->group->items;
  for (int i = 0; i < items->nitem; i++)
    for (int a = 0; a < items->item[i].nargs && items->item[i].call != LGT_NONE; a++) {
      uint16_t out = items->item[i].out[a];
      if (out != LGT_NONE && items->buffer[out].slot == slot)
        return calls[items->item[i].call - try->group->first].line;
    }
  return calls[0].line;
}

/* Memory for a part of the slots: whatever depends on the others fails, and nothing else does. */
static lgt_status acquire_part(lgt_attempt *try, const lgt_call *calls) {
  lgt_attempt_release(try);
  lgt_status status = lgt_attempt_acquire_part(try);
  for (int s = 0; s < try->group->nslot && !status; s++) {
    if (!try->lacks[s]) continue;
    char message[512];
    lgt_status why = say_what_lacks(try);
    snprintf(message, sizeof message, "%s", lgt_message());
    lgt_failure *failure = lgt_poison_new(try->binder, why, message, line_of_slot(try, s, calls));
    if (!poison_slot(try, s, failure)) status = lgt_no_memory_to_launch();
    lgt_failure_release(failure);
  }
  return status ? status : try->poison ? find_taint(try) : LGT_OK;
}

/* What the group writes fails, as the message says. */
static lgt_failure *fail_as_told(lgt_attempt *try, lgt_status status, uint32_t line) {
  char message[512];
  snprintf(message, sizeof message, "%s", lgt_message());
  lgt_failure *failure = lgt_poison_new(try->binder, status, message, line);
  poison_results(try, failure);
  return failure;
}

static lgt_failure *fail_group(lgt_attempt *try, lgt_status status, uint32_t line) {
  return fail_as_told(try, status == LGT_NO_MEMORY ? say_what_lacks(try) : status, line);
}

void lgt_binder_fini(lgt_binder *binder) {
  if (binder->peers) lgt_message_end(binder);
  lgt_failure_release(binder->unreported);
  lgt_failure_release(binder->reported);
  lgt_failure_release(binder->no_memory);
  lgt_mem_free(binder->recent);
  lgt_mem_free(binder->recent_store);
  lgt_mem_free(binder->selected);
  lgt_arena_fini(&binder->arena);
  lgt_blocks_fini(&binder->blocks);
  lgt_moves_fini(binder);
}

/* What slots hold from before the group must be stored. */
static lgt_status materialise_slots(const lgt_attempt *try) {
  lgt_status status = LGT_OK;
  for (int s = 0; s < try->group->nslot && !status; s++)
    if (try->group->slot[s].initial)
      status = lgt_rescue_store(try->binder, lgt_attempt_store(try, try->group->slot[s].root));
  return status;
}

/* With several domains also what another one may ask for. */
static lgt_status materialise_touches(const lgt_attempt *try) {
  const lgt_plan_notes *notes = try->group->notes;
  lgt_status status = LGT_OK;
  for (int i = 0; i < notes->ntouch && !status; i++)
    if (notes->touch[i].reads)
      status =
          lgt_rescue_store(try->binder, lgt_attempt_store(try, notes->touched[notes->touch[i].root].root));
  return status;
}

/* What the group reads must be stored.  With several domains nothing need be looked for if all is as it was before. */
static lgt_status materialise_inputs(lgt_attempt *try) {
  lgt_binder *binder = try->binder;
  bool whole = lgt_map_whole(binder->map);
  lgt_status status = whole ? LGT_OK : lgt_touches_make(binder, try->group);
  lgt_arena_reset(&binder->arena);
  if (status || (!whole && lgt_record_again(&try->exchange, binder, try->group, try->root))) return status;
  status = materialise_slots(try);
  if (!status && !whole) status = materialise_touches(try);
  lgt_arena_reset(&binder->arena);
  return status;
}

static lgt_status collect_params(lgt_attempt *try, const lgt_call *calls) {
  int n = lgt_plan_group_params(try->group);
  try->param = lgt_arena_alloc(&try->binder->arena, ((size_t)n + 1) * sizeof *try->param);
  if (!try->param) return lgt_no_memory_to_launch();
  for (int i = 0; i * LGT_MAX_PARAMS < n; i++)
    if (calls[i].nparams)
      memcpy(try->param + (size_t)i * LGT_MAX_PARAMS, calls[i].param, calls[i].nparams * sizeof *try->param);
  return LGT_OK;
}

/* The group's tasks, and what follows from them here. */
static lgt_status run_and_settle(lgt_attempt *try) {
  overwrite(try, true);
  lgt_status status = lgt_attempt_run(try);
  if (!status) status = settle_all(try);
  if (!status) status = lgt_rescue_leave(try);
  overwrite(try, false);
  if (!status) poison_tainted(try);
  return status;
}

/* With one domain nothing moves: poison and memory decide alone. */
static lgt_status bind_alone(lgt_attempt *try, const lgt_call *calls, bool last) {
  lgt_status status = find_poison(try);
  if (!status && try->poison &&
      try->binder->njob) { /* what is not done yet may have failed before that did */
    lgt_job_retire(try->binder, true);
    status = find_poison(try);
  }
  if (!status && !try->all_poisoned) status = collect_params(try, calls);
  if (!status && !try->all_poisoned) status = acquire(try, last);
  if (try->all_poisoned) return poison_tainted(try), LGT_OK;
  if (status == LGT_NO_MEMORY && !last) return status;
  if (!status) status = run_and_settle(try);
  if (status) lgt_failure_release(fail_group(try, status, calls[0].line));
  return LGT_OK;
}

/* There is no memory even to find out what moves: the other ranks cannot be kept in step. */
static lgt_status give_up(lgt_attempt *try, lgt_status status, const lgt_call *calls) {
  if (try->binder->peers) try->binder->peers->abort(try->binder->peers, lgt_message());
  lgt_exchange_undo(&try->exchange);
  lgt_failure_release(fail_group(try, status, calls[0].line));
  return LGT_OK;
}

/* Would all ranks need all of an array that is too large for that?  Then the call fails on each of them, and nothing
 * moves. */
static lgt_status refuse_gathering(lgt_attempt *try, const lgt_call *calls) {
  lgt_binder *binder = try->binder;
  int touch = -1;
  if (binder->peers && try->group->notes->brought > binder->replicate)
    touch = lgt_exchange_too_large(binder, try->group, try->root, binder->replicate);
  if (touch < 0) return LGT_OK;
  const lgt_touch *t = &try->group->notes->touch[touch];
  const lgt_call *call = &calls[t->call - try->group->first];
  const lgt_layout *root =
      lgt_layout_at(binder->stores, lgt_attempt_store(try, try->group->notes->touched[t->root].root)->layout);
  lgt_err(LGT_UNSUPPORTED,
          "'%s' needs all of an array of %lld bytes on every rank, where at most %lld may be brought: use a "
          "smaller array, "
          "or raise the option replicate",
          call->kind->name, (long long)lgt_layout_bytes(root), (long long)binder->replicate);
  return LGT_UNSUPPORTED;
}

/* All ranks refuse the group, of one call: it fails, unless what it reads has failed before. */
static void refuse(lgt_attempt *try, lgt_status status, const lgt_call *calls) {
  if (try->poison) poison_results(try, first_poison(try));
  else lgt_failure_release(fail_group(try, status, calls[0].line));
}

/* Nobody can say which elements the group needs on some rank: it fails on all. */
static lgt_status fail_without_image(lgt_attempt *try, const lgt_call *calls) {
  lgt_failure *poison = first_poison(try);
  bool here = false;
  for (int i = 0; i < try->group->notes->ntouch; i++) {
    const lgt_image *image = lgt_touch_selected(try->binder, try->group, &try->group->notes->touch[i]).image;
    here |= image && image->bad_here;
  }
  if (poison) {
    lgt_failure_retain(poison);
  } else if (here) {
    lgt_err(LGT_NO_MEMORY, "out of memory to find out which elements '%s' needs", calls[0].kind->name);
    poison = lgt_poison_new(try->binder, LGT_NO_MEMORY, lgt_message(), calls[0].line);
  } else {
    poison = lgt_failure_new(LGT_TASK_FAILED, "a task on another rank failed", NULL);
    if (poison) poison->position = LGT_POSITION_UNKNOWN;
    else poison = lgt_failure_retain(try->binder->no_memory);
  }
  poison_results(try, poison);
  lgt_failure_release(poison);
  return LGT_OK;
}

/* What the group needs from elsewhere; tasks that run do meanwhile what they can. */
static lgt_status move(lgt_attempt *try, bool runs) {
  lgt_binder *binder = try->binder;
  lgt_status status = lgt_exchange_send(&try->exchange);
  lgt_status ran = runs && !status ? lgt_ahead_run(try) : LGT_OK;
  binder->overlaps = try->points.ahead != NULL;
  if (!status) status = lgt_exchange_receive(&try->exchange);
  binder->overlaps = false;
  return status ? status : ran;
}

/* With several, what moves follows from the calls, whether the group can run here or not. */
static lgt_status bind_among_domains(lgt_attempt *try, const lgt_call *calls, bool last) {
  lgt_binder *binder = try->binder;
  bool bad;
  lgt_status status = lgt_images_prepare(binder, try->group, try->root, &bad);
  if (status && status != LGT_BAD_ARGUMENT) return give_up(try, status, calls);
  if (!status && !bad) status = refuse_gathering(try, calls);
  if ((status || bad) && try->group->count > 1) return bad ? LGT_TASK_FAILED : status;
  lgt_status poisoned = try->exchange.ready ? LGT_OK : find_poison(try);
  if (poisoned) return give_up(try, poisoned, calls);
  /* For want of memory, perhaps: a collection may give some. */
  if (bad && !last && !try->poison && !binder->peers) return LGT_NO_MEMORY;
  if (bad) return fail_without_image(try, calls);
  if (status) return refuse(try, status, calls), LGT_OK;
  status = collect_params(try, calls);
  if (!status)
    status = try->exchange.ready ? lgt_exchange_go_on(&try->exchange)
                                 : lgt_exchange_begin(&try->exchange, binder, try->group, try->root);
  if (status) return give_up(try, status, calls);
  status = acquire(try, last);
  if (status == LGT_NO_MEMORY && !last && !try->all_poisoned) {
    lgt_exchange_undo(&try->exchange);
    return status;
  }
  if (status == LGT_NO_MEMORY && try->group->count > 1 && !try->all_poisoned)
    status = acquire_part(try, calls);
  if (!try->touched.fold && binder->peers) /* not even what has to be skipped is known */
    return give_up(try, status, calls);
  if (!status || binder->peers) {
    lgt_status moved = move(try, !status && !try->all_poisoned);
    if (!status) status = moved;
  }
  if (status && !binder->peers) lgt_exchange_undo(&try->exchange); /* nobody counts on it */
  bool absent = !status && !try->all_poisoned && lgt_exchange_lacks_memory(&try->exchange);
  if (absent) status = lgt_err(LGT_NO_MEMORY, "out of memory: there was no room for elements of other ranks");
  bool runs = !status && !try->all_poisoned;
  lgt_failure *failure = try->all_poisoned ? lgt_failure_retain(first_poison(try)) : NULL;
  if (runs) status = run_and_settle(try);
  if (try->all_poisoned) poison_tainted(try);
  else if (status) failure = (absent ? fail_as_told : fail_group)(try, status, calls[0].line);
  if (!runs && try->touched.fold) lgt_fold_skip(binder, try->group, try->touched.fold, failure);
  if (!runs && binder->peers && lgt_shuffle_is(try->group) && lgt_shuffle_skip(binder, try->group))
    binder->peers->abort(binder->peers, lgt_message());
  lgt_failure_release(failure);
  status = lgt_exchange_end(&try->exchange);
  note_alike(try, status);
  return status ? give_up(try, status, calls) : LGT_OK;
}

lgt_status lgt_bind_group(lgt_binder *binder, const lgt_plan_group *group, const lgt_call *calls,
                          const uint32_t *root, bool last) {
  lgt_attempt try = {.binder = binder, .group = group, .root = root};
  try.where = calls[0].line ? binder->line_text(binder->line_context, calls[0].line) : NULL;
  binder->where = try.where;
  if (binder->map->nmemory > 1) lgt_evict_note_use(binder, group, root);
  if (binder->profile) try.last = binder->line_text(binder->line_context, calls[group->count - 1].line);
  lgt_status status = materialise_inputs(&try);
  if (!status && !(try.kept = lgt_rescue_kept(binder, group, root, &try.keeps)))
    status = lgt_no_memory_to_launch();
  if (status) return give_up(&try, status, calls);
  status = lgt_map_whole(binder->map) ? bind_alone(&try, calls, last) : bind_among_domains(&try, calls, last);
  lgt_attempt_release(&try);
  forget_poison(&try);
  if (!status) lgt_poison_bound(binder, group, root);
  binder->groups += status == LGT_OK;
  binder->agreed.position += status == LGT_OK;
  return status;
}
