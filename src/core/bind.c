/* bind.c - binding groups to instances and building their tasks.  See bind.h.
 *
 * The order for one group: inputs materialised; what has to move is listed; instances acquired for each
 * domain that works on the group; copies and messages (exchange.c); one job for each colour; partial
 * results of several colours folded; stores updated; recipes left behind.  Poisoned inputs leave only
 * the messages.
 *
 * Which elements a colour needs follows from the launch partition and each access's view; slots are
 * acquired for a domain at once, over all its colours, so that no instance moves under another
 * colour of the same domain.
 */
#include "bind.h"

#include <stdio.h>
#include <string.h>

#include "acquire.h"
#include "exchange.h"
#include "image.h"
#include "poison.h"
#include "replica.h"
#include "fold.h"
#include "shuffle.h"
#include "survey.h"
#include "recipes.h"
#include "taint.h"

static lgt_status no_memory(void) { return lgt_err(LGT_NO_MEMORY, "out of memory while launching a task"); }

int lgt_bind_next(const lgt_binder *binder, const lgt_partition *launch, int domain, int colour) {
  const lgt_map *map = binder->map;
  if (launch->kind == LGT_PARTITION_NONE) return domain == 0 && colour < 0 ? 0 : -1; /* every rank runs it */
  return lgt_partition_next(launch, map->domains, map->first + domain, colour);
}

/* ---- stores ------------------------------------------------------------------------------------------ */

static void drop_recipe(lgt_binder *binder, lgt_store *store) {
  lgt_recipe *recipe = store->recipe;
  store->recipe = NULL;
  if (!recipe || --recipe->refs > 0) return;
  for (int i = 0; i < recipe->binding->ninst; i++) {
    lgt_instance *inst = recipe->binding->inst[i];
    if (!inst) continue;
    inst->pins--;
    lgt_instance_release(binder->map, inst);
  }
  binder->former -= recipe->former;
  lgt_mem_free(recipe->binding->inst);
  lgt_mem_free(recipe->binding->param);
  lgt_mem_free(recipe->binding);
  lgt_plan_release(recipe->group->plan);
  lgt_mem_free(recipe);
}

void lgt_bind_drop_store(lgt_binder *binder, lgt_store *store) {
  if (store->handles > 0 || store->refs > 0) return;
  drop_recipe(binder, store);
  if (store->attached && store->replica) lgt_bind_wait(binder, store->replica[0].inst, true);
  lgt_images_drop(store);
  for (int d = 0; store->replica && d < binder->map->local; d++)
    lgt_replica_drop_asides(binder->map, &store->replica[d]);
  lgt_store_forget(binder->map, store);
  lgt_failure_release(store->failure);
  lgt_poison_end(binder, store->id);
  if (store->release) store->release(store->release_context);
  lgt_store_recycle(binder->stores, store);
}

/* The slots, as bits, that are read by recipes of results that the program may still hold; NULL when out of memory. */
static const uint64_t *find_kept(lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root) {
  int words = lgt_plan_words(group);
  uint64_t *kept = lgt_arena_alloc(&binder->arena, (size_t)words * sizeof *kept);
  for (int e = 0; kept && e < group->nelided; e++) {
    const lgt_plan_elided *elided = &group->elided[e];
    if (elided->must_die || !lgt_store_reachable(lgt_store_at(binder->stores, root[elided->root]))) continue;
    for (int k = 0; k < words; k++) kept[k] |= elided->reads[k];
  }
  return kept;
}

static bool is_kept(const uint64_t *kept, int slot) { return kept[slot / 64] >> slot % 64 & 1; }

/* With one domain: is what the group makes certain to come about, whatever else fails?  Calls of C may fail, and those who
 * need memory to reduce.  Kernels cannot: they have no status (lgt_kernel_fn), and every opcode is defined for all
 * operands (body.h). */
static bool is_sure(const lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root) {
  if (binder->map->domains > 1 || group->nnative) return false;
  for (int l = 0; l < group->nloop; l++)
    if (group->loop[l].shape.partial) return false;
  for (int s = 0; s < group->nslot; s++) {
    if (!group->slot[s].initial) continue;
    const lgt_store *store = lgt_store_at(binder->stores, root[group->slot[s].root]);
    const lgt_instance *inst = store->replica ? store->replica[0].inst : NULL;
    if (inst && inst->writer && !inst->writer->sure) return false;
  }
  return true;
}

/* Would the group, where it writes a slot in place, change what somebody else wants to find there: another store, or a
 * recipe?  Whatever may fail is taken to write everywhere. */
static bool disturbs(const lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root, int slot,
                     const lgt_instance *inst) {
  const lgt_plan_slot *s = &group->slot[slot];
  lgt_rect common;
  if (!s->written || (inst->owners < 2 && !inst->pins)) return false;
  if (inst->owners > 1 || s->changed.ndim < 0) return true;
  return lgt_rect_intersect(&inst->pinned, &s->changed, &common) || !is_sure(binder, group, root);
}

int64_t lgt_bind_kept_bytes(lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root) {
  int64_t bytes = 0;
  lgt_arena_reset(&binder->arena);
  const uint64_t *kept = find_kept(binder, group, root);
  if (!kept) return 0;
  for (int s = 0; s < group->nslot; s++) {
    const lgt_plan_slot *slot = &group->slot[s];
    uint16_t former = slot->saved != LGT_NONE ? slot->saved : slot->takes;
    if (former != LGT_NONE && is_kept(kept, former)) {
      const lgt_layout *l = lgt_layout_at(binder->stores, slot->layout);
      bytes += l->size * lgt_dtype_size(l->dtype);
      continue;
    }
    bool taken = slot->takes != LGT_NONE;
    if (taken) slot = &group->slot[slot->takes];
    else if (!slot->initial || !slot->written) continue;
    const lgt_store *store = lgt_store_at(binder->stores, root[slot->root]);
    for (int d = 0; store->replica && d < binder->map->local; d++) {
      const lgt_instance *inst = store->replica[d].inst;
      if (inst && inst->pins > 0 && (taken || disturbs(binder, group, root, s, inst))) bytes += inst->bytes;
    }
  }
  return bytes;
}

/* ---- what a group needs --------------------------------------------------------------------------------- */

typedef struct run {
  lgt_binder *binder;
  lgt_plan_group *group;
  const uint32_t *root;      /* store of each root; NULL for a rescue */
  const lgt_binding *source; /* for a rescue: the instances of the original group */
  const uint64_t *kept;      /* slots that recipes will read; NULL for a rescue */
  lgt_instance **inst;       /* nslot for each local domain, a ref each */
  lgt_surveyed touched;      /* with several domains: which of their elements the domain's colours touch */
  lgt_scalar *param;
  lgt_exchange exchange;    /* with several domains, not for a rescue */
  const char *where, *last; /* source lines of the first call and of the last one */
  lgt_failure **poison;     /* refs; by slot: of what it reads, or writes in part; NULL: nothing has failed */
  lgt_taint taint;          /* ... and what comes of that */
  bool all_poisoned;        /* all results */
} run;

static lgt_store *root_store(const run *r, uint16_t root) {
  return lgt_store_at(r->binder->stores, r->root[root]);
}

static bool is_scalar(const run *r, int slot) {
  return lgt_layout_at(r->binder->stores, r->group->slot[slot].layout)->ndim == 0;
}

lgt_alignment lgt_bind_align(const lgt_plan_group *group, const lgt_plan_access *access) {
  const lgt_weave_item *item = &group->items->item[access->item];
  static const lgt_alignment one = {{0, 1, 2, 3, 4, 5}, {0}, {0}, {0}};
  return item->call == LGT_NONE ? one : group->plan->call[item->call].space.align[access->arg];
}

/* The tile of a loop's space for a colour; copies made by renaming have spaces of their own. */
lgt_rect lgt_bind_tile(const lgt_plan_group *group, const lgt_plan_loop *loop, int colour) {
  if (group->launch->kind == LGT_PARTITION_NONE) return lgt_rect_of_shape(loop->space_ndim, loop->extent);
  return lgt_partition_rect(group->launch, colour);
}

/* ---- instances for slots ------------------------------------------------------------------------------------ */

/* Keep an instance until the group is bound: settling one store may drop what another one gets. */
static void hold(run *r, int at, lgt_instance *inst) {
  r->inst[at] = inst ? lgt_instance_retain(inst) : NULL;
}

/* What a domain's colour overwrites of a slot before anybody looks, or others do where all of it is; false: nothing for
 * certain. */
static bool overwritten(const run *r, const lgt_plan_slot *slot, int domain, lgt_rect *out) {
  const lgt_partition *launch = r->group->launch;
  int colour = lgt_bind_next(r->binder, launch, domain, -1);
  if (slot->rest_arg == 0xff || colour < 0) return false;
  const lgt_plan_call *call = &r->group->plan->call[slot->rest_call];
  const lgt_layout *layout = lgt_layout_at(r->binder->stores, call->layout[slot->rest_arg]);
  if (call->kind->privilege[slot->rest_arg] == LGT_PRIV_WRITE && lgt_layout_covers(layout, false)) {
    *out = lgt_rect_of_shape(layout->root_ndim, layout->root_shape);
    return true;
  }
  if (!lgt_partition_apart(launch, r->binder->map->domains)) return false;
  lgt_rect tile = lgt_partition_rect(launch, colour);
  lgt_rect view = lgt_space_view_rect(layout, &call->space.align[slot->rest_arg], &tile);
  const lgt_touch *touch = r->group->count == 1 && r->group->touch ? &r->group->touch[slot->rest_arg] : NULL;
  *out = lgt_layout_root_rect(layout, &view);
  if (touch && touch->image)
    *out =
        lgt_footprint_rect(&r->binder->map->footprints, touch->what, r->binder->map->first + domain, colour);
  return !lgt_rect_empty(&tile);
}

/* Instances for the slots that are there already, and for all that the group's calls read. */
static lgt_status prepare_initial(run *r) {
  const lgt_plan_group *group = r->group;
  for (int s = 0; s < group->nslot; s++) {
    const lgt_plan_slot *slot = &group->slot[s];
    if (!slot->initial) continue;
    for (int d = 0; d < r->binder->map->local; d++) {
      lgt_rect spare;
      if (slot->written && overwritten(r, slot, d, &spare)) lgt_exchange_spare(&r->exchange, d, slot, &spare);
      int at = d * group->nslot + s;
      const lgt_rect *read = &r->touched.read[at], *write = &r->touched.write[at];
      if ((is_scalar(r, s) || r->touched.fold[s]) && d > 0) break;
      if (read->ndim >= 0) lgt_exchange_need(&r->exchange, d, slot, read);
      if (write->ndim >= 0) lgt_exchange_need(&r->exchange, d, slot, write);
    }
    lgt_exchange_margin(&r->exchange, slot);
  }
  return lgt_exchange_acquire(&r->exchange);
}

static void hold_initial(run *r, int s, int domain) {
  const lgt_plan_slot *slot = &r->group->slot[s];
  int at = domain * r->group->nslot + s;
  if (r->source) /* a rescue reads what the recipe kept */
    hold(r, at, r->source->inst[domain * (r->source->ninst / r->binder->map->local) + slot->root]);
  else hold(r, at, lgt_exchange_instance(&r->exchange, domain, slot));
}

/* Where a renamed slot has the rest of its elements from; NULL: it has none. */
static lgt_instance *former(const run *r, int s, int domain) {
  uint16_t rest = r->group->slot[s].rest;
  return rest == LGT_NONE ? NULL : r->inst[domain * r->group->nslot + rest];
}

static lgt_status make_new(run *r, int s, int domain) {
  int at = domain * r->group->nslot + s;
  const lgt_layout *root = lgt_layout_at(r->binder->stores, r->group->slot[s].layout);
  lgt_rect rect = lgt_rect_of_shape(root->ndim, root->shape);
  int64_t waste = 0;
  if (r->binder->map->domains > 1) {
    const lgt_rect *read = &r->touched.read[at], *write = &r->touched.write[at];
    if (read->ndim < 0 && write->ndim < 0) return LGT_OK;
    rect = read->ndim < 0 ? *write : write->ndim < 0 ? *read : lgt_rect_bound(read, write);
    const lgt_instance *old = former(r, s, domain);
    if (old) { /* with all that is valid there */
      waste = old->waste;
      lgt_rect_near(&old->rect, &rect, &waste);
      rect = lgt_rect_bound(&rect, &old->rect);
    }
    rect = lgt_rect_grown(&rect, r->group->slot[s].below, r->group->slot[s].above, root->shape);
  }
  r->inst[at] = lgt_instance_new(r->binder->map, domain, root, &rect);
  if (r->inst[at]) r->inst[at]->waste = waste;
  return r->inst[at] ? LGT_OK : LGT_NO_MEMORY;
}

static void release_slots(run *r) {
  for (int i = 0; i < r->group->nslot * r->binder->map->local; i++)
    lgt_instance_release(r->binder->map, r->inst[i]);
}

static lgt_status acquire_slots(run *r) {
  int n = r->group->nslot;
  lgt_status status = r->source ? LGT_OK : prepare_initial(r);
  for (int d = 0; d < r->binder->map->local && !status; d++)
    for (int s = 0; s < n && !status; s++) {
      if (is_scalar(r, s) && d > 0) hold(r, d * n + s, r->inst[s]);
      else if (r->touched.fold[s] && d > 0) continue; /* the colours' results meet in the first domain */
      else if (r->group->slot[s].initial) hold_initial(r, s, d);
      else status = make_new(r, s, d);
    }
  return status;
}

/* Nobody else wants what is in an instance that the group finds there: then it may be overwritten. */
static bool may_take(const run *r, int slot) {
  const lgt_instance *inst = r->inst[slot];
  return !r->source && inst->owners == 1 && inst->pins == 0 && !is_kept(r->kept, slot);
}

/* A root's memory with what is in it. */
static lgt_status acquire_there(run *r, int s) {
  const lgt_plan_slot *slot = &r->group->slot[s];
  lgt_store *store = root_store(r, slot->root);
  lgt_instance *inst = store->replica ? store->replica[0].inst : NULL;
  bool keep = slot->saved != LGT_NONE && is_kept(r->kept, slot->saved);
  if (inst && !keep && !disturbs(r->binder, r->group, r->root, s, inst)) {
    hold(r, s, inst);
    return LGT_OK;
  }
  const lgt_layout *root = lgt_layout_at(r->binder->stores, slot->layout);
  lgt_rect all = lgt_rect_of_shape(root->ndim, root->shape);
  if (keep && !inst) { /* nothing was written yet: even that stays as it is */
    lgt_status status = lgt_acquire(r->binder, store, 0, &all, LGT_USE_READ, NULL);
    if (status) return status;
    inst = store->replica[0].inst;
  }
  if (keep) {
    hold(r, slot->saved, inst);
    inst->pins++; /* the group goes on in a copy */
  }
  lgt_status status = lgt_acquire(r->binder, store, 0, &all, slot->written ? LGT_USE_WRITE : LGT_USE_READ,
                                  slot->defined ? &all : NULL);
  if (keep) inst->pins--;
  if (!status) hold(r, s, store->replica[0].inst);
  return status;
}

/* With one domain all of the above comes down to this. */
static lgt_status acquire_whole(run *r) {
  lgt_status status = LGT_OK;
  for (int s = 0; s < r->group->nslot && !status; s++) {
    const lgt_plan_slot *slot = &r->group->slot[s];
    if (slot->former) continue; /* held with what goes on from there, if at all */
    if (!slot->initial && slot->takes != LGT_NONE && may_take(r, slot->takes)) {
      hold(r, s, r->inst[slot->takes]);
    } else if (!slot->initial) {
      status = make_new(r, s, 0);
    } else if (r->source) {
      hold(r, s, r->source->inst[slot->root]);
    } else {
      status = acquire_there(r, s);
    }
  }
  return status;
}

/* ---- afterwards ------------------------------------------------------------------------------------------------ */

/* A root's newest contents are in slot s from now on.  (With several domains, who has which elements is for
 * the exchange to say.) */
static lgt_status settle(run *r, lgt_store *store, int s) {
  lgt_map *map = r->binder->map;
  int n = r->group->nslot;
  if (!lgt_store_replicas(map, store)) return no_memory();
  for (int d = 0; d < map->local; d++) {
    lgt_instance *inst = is_scalar(r, s) && d > 0 ? NULL : r->inst[d * n + s];
    lgt_replica *replica = &store->replica[d];
    if (!inst || inst == replica->inst) continue;
    const lgt_instance *rest = r->group->slot[s].rest == LGT_NONE ? NULL : former(r, s, d);
    lgt_rect had = rest ? rest->rect : inst->rect;
    /* What it takes the place of may have been put aside for another part of the root. */
    for (int k = 0; rest && rest != replica->inst && k < replica->naside; k++)
      if (replica->aside[k].inst == rest) lgt_replica_turn(replica, k);
    lgt_replica_set(map, replica, lgt_instance_retain(inst));
    /* What a recipe kept may be older than what its owner is now. */
    if (inst->owners == 2) inst->alike = r->source ? LGT_ALIKE_NEVER : LGT_ALIKE_SOON;
    if (replica->naside && !lgt_replica_changed(replica, rest ? &had : NULL)) return no_memory();
  }
  return LGT_OK;
}

/* Stores that share memory since this group are the same up to its versions, which are known now. */
static void note_alike(const run *r, lgt_status status) {
  const lgt_map *map = r->binder->map;
  for (int i = 0; r->inst && i < r->group->nslot * map->local; i++)
    if (r->inst[i] && r->inst[i]->alike == LGT_ALIKE_SOON)
      r->inst[i]->alike = status ? LGT_ALIKE_NEVER : map->versions;
}

static bool is_tainted(const run *r, uint16_t root) {
  return r->poison && lgt_taint_of_root(&r->taint, root) != LGT_NONE;
}

static lgt_status settle_all(run *r) {
  lgt_plan_group *group = r->group, *lasting = lgt_plan_group_lasting(group);
  lgt_status status = LGT_OK;
  for (int f = 0; f < group->nfinal && !status; f++) {
    lgt_store *store = root_store(r, group->slot_of_final[2 * f]);
    drop_recipe(r->binder, store);
    lgt_failure_release(store->failure); /* these are new contents */
    store->failure = NULL;
    status = settle(r, store, group->slot_of_final[2 * f + 1]);
    store->written = true;
    store->maker = lasting;
    store->maker_slot = group->slot_of_final[2 * f + 1];
    if (group->slot[store->maker_slot].rest == LGT_NONE && lgt_poison_of(r->binder, store))
      lgt_poison_heal(r->binder, store); /* what domains have that take no part */
  }
  for (int s = 0; s < group->nslot; s++)
    if (group->slot[s].initial && group->slot[s].written) {
      root_store(r, group->slot[s].root)->written = true;
      root_store(r, group->slot[s].root)->maker = lasting;
      root_store(r, group->slot[s].root)->maker_slot = LGT_NONE;
    }
  return status;
}

/* Leave a recipe for the elided results that the program may still hold. */
static lgt_status leave_recipe(run *r) {
  lgt_plan_group *group = r->group;
  int n = group->nslot * r->binder->map->local;
  lgt_recipe *recipe = NULL;
  for (int e = 0; e < group->nelided; e++) {
    lgt_store *store = root_store(r, group->elided[e].root);
    r->binder->elided++;
    if (group->elided[e].must_die || !lgt_store_reachable(store) || is_tainted(r, group->elided[e].root))
      continue;
    if (!recipe) {
      recipe = lgt_mem_zalloc(sizeof *recipe);
      lgt_binding *binding = lgt_mem_zalloc(sizeof *binding);
      lgt_instance **inst = lgt_mem_zalloc(((size_t)n + 1) * sizeof *inst);
      lgt_scalar *param = lgt_mem_alloc(((size_t)group->count * LGT_MAX_PARAMS + 1) * sizeof *param);
      if (!recipe || !binding || !inst || !param) {
        lgt_mem_free(recipe);
        lgt_mem_free(binding);
        lgt_mem_free(inst);
        lgt_mem_free(param);
        return no_memory();
      }
      *binding = (lgt_binding){inst, n, param};
      *recipe = (lgt_recipe){.group = group, .binding = binding};
      lgt_plan_retain(group->plan);
      for (int i = 0; i < n; i++) {
        if (!r->inst[i] || !is_kept(r->kept, i % group->nslot)) continue;
        const lgt_plan_slot *slot = &group->slot[i % group->nslot];
        bool part = r->binder->map->domains == 1 && slot->kept.ndim >= 0;
        inst[i] = lgt_instance_retain(r->inst[i]);
        if (slot->former) recipe->former += inst[i]->bytes;
        lgt_instance_pin(inst[i], part ? &slot->kept : &inst[i]->rect);
      }
      memcpy(param, r->param, (size_t)group->count * LGT_MAX_PARAMS * sizeof *param);
      r->binder->former += recipe->former;
    }
    drop_recipe(r->binder, store);
    store->recipe = recipe;
    store->maker = lgt_plan_group_lasting(group);
    store->maker_slot = LGT_NONE;
    store->recipe_root = (uint16_t)e;
    store->written = true;
    recipe->refs++;
  }
  return LGT_OK;
}

/* ---- running a group --------------------------------------------------------------------------------------------- */

static lgt_status try_acquire(run *r) {
  lgt_plan_group *group = r->group;
  bool many = r->binder->map->domains > 1;
  size_t n = (size_t)group->nslot * (size_t)r->binder->map->local + 1;
  r->inst = lgt_arena_alloc(&r->binder->arena, n * sizeof *r->inst);
  if (!r->inst || (many && !lgt_survey(r->binder, group, &r->touched))) return no_memory();
  return many ? acquire_slots(r) : acquire_whole(r);
}

/* What a renamed slot of a domain has from the former memory of its root. */
static lgt_status carry_rest(run *r, int s, int domain) {
  const lgt_plan_slot *slot = &r->group->slot[s];
  lgt_instance *from = former(r, s, domain), *to = r->inst[domain * r->group->nslot + s];
  lgt_rect piece[2 * LGT_MAX_DIM], written;
  lgt_copy copies[2 * LGT_MAX_DIM];
  if (!from || !to) return LGT_OK;
  int n = 1;
  piece[0] = from->rect;
  if (overwritten(r, slot, domain, &written)) n = lgt_rect_subtract(&from->rect, &written, piece);
  for (int i = 0; i < n; i++) copies[i] = (lgt_copy){from, to, piece[i], -1, -1, NULL, 0};
  return n ? lgt_transfer_copy(r->binder, copies, n) : LGT_OK;
}

static lgt_status run_group(run *r) {
  lgt_status status = LGT_OK;
  for (int s = 0; s < r->group->nslot && !status; s++)
    for (int d = 0; d < r->binder->map->local && !status; d++) status = carry_rest(r, s, d);
  if (status && r->binder->peers) r->binder->peers->abort(r->binder->peers, lgt_message());
  if (status) return status;
  bool sure = !r->source && !r->poison && is_sure(r->binder, r->group, r->root);
  lgt_failure **poison =
      r->group->count > 1 ? r->poison : NULL; /* one call runs if it overwrites all that has failed */
  lgt_bound bound = {r->group, r->inst, r->param, r->touched.fold, r->where, r->last, poison, sure};
  return lgt_bound_run(r->binder, &bound);
}

static void forget_poison(run *r) {
  for (int s = 0; r->poison && s < r->group->nslot; s++) lgt_failure_release(r->poison[s]);
  lgt_taint_fini(&r->taint);
  r->poison = NULL;
}

/* Does the group read poisoned stores, or write a part of one?  Then why, slot by slot, and which results depend on
 * them. */
static lgt_status find_poison(run *r) {
  const lgt_plan_group *group = r->group;
  size_t n = (size_t)group->nslot + 1;
  int64_t *position = NULL;
  forget_poison(r);
  r->all_poisoned = false;
  for (int s = 0; s < group->nslot; s++) {
    if (!group->slot[s].initial) continue;
    lgt_failure *failure = lgt_poison_of(r->binder, root_store(r, group->slot[s].root));
    if (!failure) continue;
    if (!r->poison) {
      r->poison = lgt_arena_alloc(&r->binder->arena, n * sizeof *r->poison);
      position = lgt_arena_alloc(&r->binder->arena, n * sizeof *position);
      if (!r->poison || !position) return r->poison = NULL, no_memory();
      memset(r->poison, 0, n * sizeof *r->poison);
      for (size_t i = 0; i < n; i++) position[i] = LGT_TAINT_NONE;
    }
    r->poison[s] = lgt_failure_retain(failure);
    position[s] = failure->position;
  }
  if (!r->poison) return LGT_OK;
  if (!lgt_taint_find(&r->taint, group, position)) return no_memory();
  r->all_poisoned = true;
  for (int i = group->first; i < group->first + group->count; i++)
    for (int a = 0; a < group->plan->call[i].nargs; a++)
      if (lgt_kind_writes(group->plan->call[i].kind, a))
        r->all_poisoned &= is_tainted(r, group->plan->call[i].root[a]);
  return LGT_OK;
}

/* Find memory for the group's slots: what is in flight may have to end before there is enough, and may fail, which no task
 * that is launched now inherits.  Not what comes of a second attempt, which may be copies again. */
static lgt_status acquire(run *r) {
  lgt_status status = try_acquire(r);
  if (!status || !r->binder->njob) return status;
  if (r->inst) release_slots(r);
  r->inst = NULL;
  lgt_bind_retire(r->binder, true);
  status = r->source ? LGT_OK : find_poison(r);
  return status ? status : try_acquire(r);
}

static lgt_failure *first_poison(const run *r) {
  lgt_failure *first = NULL;
  for (int s = 0; r->poison && s < r->group->nslot; s++)
    if (r->poison[s] && (!first || r->poison[s]->position < first->position)) first = r->poison[s];
  return first;
}

/* Stores of which the group overwrites all are poisoned no more: before it runs those whose contents it does not read,
 * afterwards the others. */
static void heal(const run *r, bool before) {
  for (int s = 0; r->poison && s < r->group->nslot; s++) {
    const lgt_plan_slot *slot = &r->group->slot[s];
    if (r->poison[s] && slot->defined == before && lgt_taint_overwrites(&r->taint, slot->root))
      lgt_poison_heal(r->binder, root_store(r, slot->root));
  }
}

/* What the group writes fails: all of it; what comes from what had failed. */
static void poison_results(run *r, lgt_failure *failure) {
  const lgt_plan *plan = r->group->plan;
  for (int i = r->group->first; i < r->group->first + r->group->count; i++)
    for (int a = 0; a < plan->call[i].nargs; a++)
      if (lgt_kind_writes(plan->call[i].kind, a))
        lgt_poison_store(root_store(r, plan->call[i].root[a]), failure);
}

static void poison_tainted(run *r) {
  const lgt_plan *plan = r->group->plan;
  for (int i = r->group->first; r->poison && i < r->group->first + r->group->count; i++)
    for (int a = 0; a < plan->call[i].nargs; a++) {
      if (!lgt_kind_writes(plan->call[i].kind, a)) continue;
      uint16_t why = lgt_taint_of_root(&r->taint, plan->call[i].root[a]);
      if (why != LGT_NONE) lgt_poison_store(root_store(r, plan->call[i].root[a]), r->poison[why]);
    }
}

static lgt_failure *fail_group(run *r, lgt_status status, uint32_t line) {
  char message[512];
  lgt_pool *pool = r->binder->map->pool;
  int64_t bytes = 0;
  for (int s = 0; s < r->group->nslot; s++) {
    const lgt_layout *l = lgt_layout_at(r->binder->stores, r->group->slot[s].layout);
    if (!r->group->slot[s].initial) bytes += l->size * lgt_dtype_size(l->dtype);
  }
  if (status == LGT_NO_MEMORY)
    lgt_err(
        status,
        "out of memory: a task needs %lld more bytes, %lld of %lld are taken; use smaller arrays, drop some, "
        "or raise --mem",
        (long long)(bytes ? bytes : pool->asked), (long long)(pool->limit - lgt_pool_left(pool)),
        (long long)pool->limit);
  snprintf(message, sizeof message, "%s", lgt_message());
  lgt_failure *failure = lgt_poison_new(r->binder, status, message, line);
  poison_results(r, failure);
  return failure;
}

void lgt_binder_fini(lgt_binder *binder) {
  if (binder->peers) lgt_transfer_end(binder);
  lgt_failure_release(binder->failure);
  lgt_failure_release(binder->seen);
  lgt_failure_release(binder->reserve);
  lgt_mem_free(binder->trail);
  lgt_arena_fini(&binder->arena);
  lgt_moves_fini(binder);
}

/* What the group reads must be stored; with several domains also where another one may ask for it. */
static lgt_status materialise_inputs(const run *r) {
  lgt_status status = LGT_OK;
  for (int s = 0; s < r->group->nslot && !status; s++)
    if (r->group->slot[s].initial)
      status = lgt_bind_materialise(r->binder, root_store(r, r->group->slot[s].root));
  if (r->binder->map->domains == 1) return status;
  if (!status) status = lgt_exchange_prepare(r->binder, r->group);
  for (int i = 0; i < r->group->ntouch && !status; i++)
    if (r->group->touch[i].reads)
      status =
          lgt_bind_materialise(r->binder, root_store(r, r->group->touched[r->group->touch[i].root].root));
  return status;
}

static lgt_status collect_params(run *r, const lgt_call *calls) {
  int n = r->group->count;
  r->param = lgt_arena_alloc(&r->binder->arena, ((size_t)n * LGT_MAX_PARAMS + 1) * sizeof *r->param);
  if (!r->param) return no_memory();
  for (int i = 0; i < n; i++)
    memcpy(r->param + (size_t)i * LGT_MAX_PARAMS, calls[i].param, calls[i].nparams * sizeof *r->param);
  return LGT_OK;
}

/* The group's tasks, and what follows from them here. */
static lgt_status run_and_settle(run *r) {
  heal(r, true);
  lgt_status status = run_group(r);
  if (!status) status = settle_all(r);
  if (!status) status = leave_recipe(r);
  heal(r, false);
  if (!status) poison_tainted(r);
  return status;
}

/* With one domain nothing moves: poison and memory decide alone. */
static lgt_status bind_alone(run *r, const lgt_call *calls, bool last) {
  lgt_status status = find_poison(r);
  if (!status && r->poison && r->binder->njob) { /* what is not done yet may have failed before that did */
    lgt_bind_retire(r->binder, true);
    status = find_poison(r);
  }
  if (!status && !r->all_poisoned) status = collect_params(r, calls);
  if (!status && !r->all_poisoned) status = acquire(r);
  if (r->all_poisoned) return poison_tainted(r), LGT_OK;
  if (status == LGT_NO_MEMORY && !last) return status;
  if (!status) status = run_and_settle(r);
  if (status) lgt_failure_release(fail_group(r, status, calls[0].line));
  return LGT_OK;
}

/* There is no memory even to find out what moves: the other ranks cannot be kept in step. */
static lgt_status give_up(run *r, lgt_status status, const lgt_call *calls) {
  if (r->binder->peers) r->binder->peers->abort(r->binder->peers, lgt_message());
  if (r->exchange.nsaved) lgt_exchange_undo(&r->exchange);
  lgt_failure_release(fail_group(r, status, calls[0].line));
  return LGT_OK;
}

/* Would all ranks need all of an array that is too large for that?  Then the call fails on each of them, and nothing
 * moves. */
static lgt_status refuse_gathering(run *r, const lgt_call *calls) {
  lgt_binder *binder = r->binder;
  int touch = binder->peers ? lgt_exchange_too_large(binder, r->group, r->root, binder->replicate) : -1;
  if (touch < 0) return LGT_OK;
  const lgt_touch *t = &r->group->touch[touch];
  const lgt_call *call = &calls[t->call - r->group->first];
  const lgt_layout *root =
      lgt_layout_at(binder->stores, root_store(r, r->group->touched[t->root].root)->layout);
  lgt_err(LGT_UNSUPPORTED,
          "'%s' needs all of an array of %lld bytes on every rank, where at most %lld may be brought: use a "
          "smaller array, "
          "or raise the option replicate",
          call->kind->name, (long long)(root->size * lgt_dtype_size(root->dtype)),
          (long long)binder->replicate);
  return LGT_UNSUPPORTED;
}

/* All ranks refuse the group, of one call: it fails, unless what it reads has failed before. */
static void refuse(run *r, lgt_status status, const lgt_call *calls) {
  if (r->poison) poison_results(r, first_poison(r));
  else lgt_failure_release(fail_group(r, status, calls[0].line));
}

/* Nobody can say which elements the group needs on some rank: it fails on all. */
static lgt_status fail_without_image(run *r, const lgt_call *calls) {
  lgt_failure *poison = first_poison(r);
  bool here = false;
  for (int i = 0; i < r->group->ntouch; i++)
    here |= r->group->touch[i].image && r->group->touch[i].image->bad_here;
  if (poison) {
    lgt_failure_retain(poison);
  } else if (here) {
    lgt_err(LGT_NO_MEMORY, "out of memory to find out which elements '%s' needs", calls[0].kind->name);
    poison = lgt_poison_new(r->binder, LGT_NO_MEMORY, lgt_message(), calls[0].line);
  } else {
    poison = lgt_failure_new(LGT_TASK_FAILED, "a task on another rank failed", NULL);
    if (poison) poison->position = LGT_POSITION_UNKNOWN;
    else poison = lgt_failure_retain(r->binder->reserve);
  }
  poison_results(r, poison);
  lgt_failure_release(poison);
  return LGT_OK;
}

/* With several, what moves follows from the calls, whether the group can run here or not. */
static lgt_status bind_among_domains(run *r, const lgt_call *calls, bool last) {
  lgt_binder *binder = r->binder;
  bool bad;
  lgt_status status = lgt_images_prepare(binder, r->group, r->root, &bad);
  if (status && status != LGT_BAD_ARGUMENT) return give_up(r, status, calls);
  if (!status && !bad) status = refuse_gathering(r, calls);
  if ((status || bad) && r->group->count > 1) return bad ? LGT_TASK_FAILED : status;
  lgt_status poisoned = find_poison(r);
  if (poisoned) return give_up(r, poisoned, calls);
  if (bad) return fail_without_image(r, calls);
  if (status) return refuse(r, status, calls), LGT_OK;
  status = collect_params(r, calls);
  if (!status) status = lgt_exchange_begin(&r->exchange, binder, r->group, r->root);
  if (status) return give_up(r, status, calls);
  status = acquire(r);
  if (status == LGT_NO_MEMORY && !last && !r->all_poisoned) {
    lgt_exchange_undo(&r->exchange);
    return status;
  }
  if (!r->touched.fold && binder->peers) /* not even what has to be skipped is known */
    return give_up(r, status, calls);
  if (!status || binder->peers) {
    lgt_status moved = lgt_exchange_move(&r->exchange);
    if (!status) status = moved;
  }
  if (status && !binder->peers) lgt_exchange_undo(&r->exchange); /* nobody counts on it */
  if (!status && !r->all_poisoned && lgt_exchange_lacks_memory(&r->exchange))
    status = lgt_err(LGT_NO_MEMORY, "out of memory: there was no room for elements of other ranks");
  bool runs = !status && !r->all_poisoned;
  lgt_failure *failure = r->all_poisoned ? lgt_failure_retain(first_poison(r)) : NULL;
  if (runs) status = run_and_settle(r);
  if (r->all_poisoned) poison_tainted(r);
  else if (status) failure = fail_group(r, status, calls[0].line);
  if (!runs && r->touched.fold) lgt_fold_skip(binder, r->group, r->touched.fold, failure);
  if (!runs && binder->peers && lgt_shuffle_is(r->group) && lgt_shuffle_skip(binder, r->group))
    binder->peers->abort(binder->peers, lgt_message());
  lgt_failure_release(failure);
  status = lgt_exchange_end(&r->exchange);
  note_alike(r, status);
  return status ? give_up(r, status, calls) : LGT_OK;
}

lgt_status lgt_bind_group(lgt_binder *binder, lgt_plan_group *group, const lgt_call *calls,
                          const uint32_t *root, bool last) {
  run r = {.binder = binder, .group = group, .root = root};
  r.where = calls[0].line ? binder->line_text(binder->line_context, calls[0].line) : NULL;
  binder->where = r.where;
  if (binder->profile) r.last = binder->line_text(binder->line_context, calls[group->count - 1].line);
  lgt_status status = materialise_inputs(&r);
  lgt_arena_reset(&binder->arena);
  if (!status && !(r.kept = find_kept(binder, group, root))) status = no_memory();
  if (status) return give_up(&r, status, calls);
  status = binder->map->domains == 1 ? bind_alone(&r, calls, last) : bind_among_domains(&r, calls, last);
  if (r.inst) release_slots(&r);
  forget_poison(&r);
  if (!status) lgt_poison_follow(binder, group, root);
  binder->groups += status == LGT_OK;
  binder->position += status == LGT_OK;
  return status;
}

/* The failure of what a recipe reads, or NULL.  Other recipes of its group may read what has failed. */
static lgt_failure *spoiled(const lgt_binder *binder, const lgt_plan_elided *elided,
                            const lgt_binding *source) {
  int domains = binder->map->local, n = source->ninst / domains;
  for (int s = 0; s < n; s++)
    for (int d = 0; d < domains && is_kept(elided->reads, s); d++) {
      const lgt_instance *inst = source->inst[d * n + s];
      if (inst && inst->failure) return inst->failure;
    }
  return NULL;
}

lgt_status lgt_bind_materialise(lgt_binder *binder, lgt_store *store) {
  lgt_recipe *recipe = store->recipe;
  if (!recipe) return LGT_OK;
  lgt_plan_group *group = recipe->group;
  lgt_plan_elided *elided = &group->elided[store->recipe_root];
  lgt_status status = elided->rescue ? LGT_OK : lgt_recipes_rescue(binder->fuser, group, store->recipe_root);
  if (status) return status;
  lgt_plan *plan = lgt_plan_group_lasting(group)->plan;
  plan->root[elided->root].wanted = true; /* next time it is stored at once */
  plan->stale = true;
  lgt_arena_reset(&binder->arena);
  run r = {
      .binder = binder, .group = elided->rescue, .source = recipe->binding, .param = recipe->binding->param};
  if (store->line) r.where = binder->line_text(binder->line_context, store->line);
  lgt_failure *failure = spoiled(binder, elided, recipe->binding);
  if (!failure) {
    /* Had results been stored, there would be no former contents, nor copies of these now: they need not fit. */
    int64_t more = recipe->former ? binder->former + recipe->former : 0;
    binder->rescued++;
    lgt_pool_widen(binder->map->pool, more);
    status = acquire(&r);
    lgt_pool_widen(binder->map->pool, -more);
    failure = spoiled(binder, elided, recipe->binding); /* by what was in flight, and had to end */
  }
  if (!status && !failure) status = run_group(&r);
  if (!status && !failure) status = settle(&r, store, elided->rescue->slot_of_final[1]);
  if (r.inst) release_slots(&r);
  if (status == LGT_NO_MEMORY && !failure)
    lgt_err(status, "out of memory: to compute a result that was not stored; %lld of %lld bytes are taken",
            (long long)(binder->map->pool->limit - lgt_pool_left(binder->map->pool)),
            (long long)binder->map->pool->limit);
  if (failure) failure = lgt_failure_retain(failure);
  else if (status) failure = lgt_poison_new(binder, status, lgt_message(), store->line);
  if (failure) lgt_poison_store(store, failure);
  lgt_failure_release(failure);
  drop_recipe(binder, store);
  return LGT_OK;
}

void lgt_bind_let_go(lgt_binder *binder) {
  lgt_stores *stores = binder->stores;
  for (uint32_t id = 1; id < stores->nstore && binder->former > 0; id++) {
    lgt_store *store = lgt_store_at(stores, id);
    if (store->layout && store->recipe && store->recipe->former) (void)lgt_bind_materialise(binder, store);
  }
}
