/* rescue.c - see rescue.h. */
#include "bind/rescue.h"

#include <string.h>

#include "bind/attempt.h"
#include "move/poison.h"
#include "plan/recipes.h"

/* A recipe is one block: itself, its binding, the instances and parameters. */
typedef struct block {
  lgt_recipe recipe;
  lgt_binding binding;
  _Alignas(lgt_scalar) char rest[];
} block;

static size_t block_bytes(int ninst, int nparam) {
  return sizeof(block) + (size_t)nparam * sizeof(lgt_scalar) + (size_t)ninst * sizeof(lgt_instance *);
}

/* What one recipe more or less takes, itself and by its plan, is held by handles as elements are: a plan that is shifted
 * (shift.h) is nobody else's. */
static void hold_itself(lgt_binder *binder, const lgt_recipe *recipe, int more) {
  const lgt_plan_group *group = recipe->group;
  lgt_plan *plan = group->plan;
  int64_t bytes = (int64_t)block_bytes(recipe->binding->ninst, recipe->binding->nparam);
  plan->recipes += more;
  if (plan->recipes == (more > 0)) bytes += plan->bytes;
  if (more > 0) lgt_map_hold(binder->map, bytes);
  else lgt_map_let_go(binder->map, bytes);
  binder->recipes += more;
}

static int64_t bytes_of(const lgt_binder *binder, const lgt_store *store) {
  return lgt_layout_bytes(lgt_layout_at(binder->stores, store->layout));
}

/* One result more or less that a recipe stands for. */
static void count_result(lgt_binder *binder, lgt_recipe *recipe, const lgt_store *store, int more) {
  int64_t bytes = more * bytes_of(binder, store);
  recipe->refs += more;
  recipe->results += bytes;
  binder->deferred += bytes;
}

void lgt_rescue_drop(lgt_binder *binder, lgt_store *store) {
  lgt_recipe *recipe = store->recipe;
  store->recipe = NULL;
  if (!recipe) return;
  count_result(binder, recipe, store, -1);
  if (recipe->refs > 0) return;
  for (int i = 0; i < recipe->binding->ninst; i++) {
    lgt_instance *inst = recipe->binding->inst[i];
    if (!inst) continue;
    lgt_instance_unpin(binder->map, inst);
    lgt_instance_release(binder->map, inst);
  }
  binder->former -= recipe->former;
  hold_itself(binder, recipe, -1);
  lgt_plan_release(recipe->group->plan);
  lgt_mem_free(recipe);
}

const uint64_t *lgt_rescue_kept(lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root,
                                bool *any) {
  int words = lgt_plan_words(group);
  uint64_t *kept = lgt_arena_alloc(&binder->arena, (size_t)words * sizeof *kept);
  *any = false;
  for (int e = 0; kept && e < group->nelided; e++) {
    const lgt_plan_elided *elided = &group->elided[e];
    if (elided->must_die || !lgt_store_reachable(lgt_store_at(binder->stores, root[elided->root]))) continue;
    for (int k = 0; k < words; k++) kept[k] |= elided->reads[k];
    *any = true;
  }
  return kept;
}

int64_t lgt_rescue_bytes(lgt_binder *binder, const lgt_plan_group *group, const uint32_t *root) {
  int64_t bytes = 0;
  bool any;
  const uint64_t *kept = NULL;
  lgt_arena_reset(&binder->arena);
  for (int s = 0; s < group->nslot; s++) {
    const lgt_plan_slot *slot = &group->slot[s];
    bool goes_on = slot->takes != LGT_NONE && group->slot[slot->takes].root == slot->root;
    uint16_t former = slot->saved != LGT_NONE ? slot->saved : goes_on ? slot->takes : LGT_NONE;
    if (former != LGT_NONE && !kept && !(kept = lgt_rescue_kept(binder, group, root, &any))) return 0;
    if (former != LGT_NONE && lgt_slots_have(kept, former)) {
      const lgt_layout *l = lgt_layout_at(binder->stores, slot->layout);
      bytes += lgt_layout_bytes(l);
      continue;
    }
    if (!binder->recipes) continue; /* nobody has pinned an instance */
    if (goes_on) slot = &group->slot[slot->takes];
    else if (!slot->initial || !slot->written) continue;
    const lgt_store *store = lgt_store_at(binder->stores, root[slot->root]);
    for (int d = 0; store->replica && d < binder->map->local; d++) {
      const lgt_instance *inst = store->replica[d].inst;
      if (inst && inst->pins > 0 && (goes_on || lgt_attempt_disturbs(binder, group, root, s, inst)))
        bytes += inst->bytes;
    }
  }
  return bytes;
}

/* One for all results of the group that need it; it pins what it keeps. */
static lgt_recipe *new_recipe(const lgt_attempt *try) {
  const lgt_plan_group *group = try->group;
  int n = group->nslot * try->binder->map->local, nparam = lgt_plan_group_params(group);
  block *b = lgt_mem_alloc(block_bytes(n, nparam));
  if (!b) return NULL;
  lgt_scalar *param = (lgt_scalar *)b->rest;
  lgt_instance **inst = (lgt_instance **)(param + nparam);
  lgt_recipe *recipe = &b->recipe;
  b->binding = (lgt_binding){inst, n, nparam, param};
  *recipe = (lgt_recipe){.group = group, .binding = &b->binding};
  lgt_plan_retain(group->plan);
  for (int i = 0; i < n; i++) {
    inst[i] = NULL;
    if (!try->inst[i] || !lgt_slots_have(try->kept, i % group->nslot)) continue;
    const lgt_plan_slot *slot = &group->slot[i % group->nslot];
    inst[i] = lgt_instance_retain(try->inst[i]);
    if (slot->former) recipe->former += inst[i]->bytes;
    lgt_instance_pin(try->binder->map, inst[i], slot->kept.ndim < 0 ? &inst[i]->rect : &slot->kept);
  }
  if (nparam) memcpy(param, try->param, (size_t)nparam * sizeof *param);
  hold_itself(try->binder, recipe, 1);
  try->binder->former += recipe->former;
  return recipe;
}

lgt_status lgt_rescue_leave(lgt_attempt *try) {
  const lgt_plan_group *group = try->group;
  lgt_recipe *recipe = NULL;
  try->binder->elided += group->nelided;
  for (int e = 0; e < group->nelided && try->keeps; e++) {
    const lgt_plan_elided *elided = &group->elided[e];
    lgt_store *store = lgt_attempt_store(try, elided->root);
    if (elided->must_die || !lgt_store_reachable(store) || lgt_attempt_taints(try, elided->root)) continue;
    if (!recipe && !(recipe = new_recipe(try))) return lgt_no_memory_to_launch();
    lgt_rescue_drop(try->binder, store);
    store->recipe = recipe;
    lgt_store_made(store, lgt_plan_group_lasting(group));
    store->housed = NULL;
    store->recipe_root = (uint16_t)e;
    store->written = true;
    count_result(try->binder, recipe, store, 1);
  }
  return LGT_OK;
}

/* The first failure of what a recipe reads, or NULL.  Other recipes of its group may read what has failed. */
static lgt_failure *failure_of_inputs(const lgt_binder *binder, const lgt_plan_elided *elided,
                                      const lgt_binding *source) {
  int domains = binder->map->local, n = source->ninst / domains;
  lgt_failure *first = NULL;
  for (int s = 0; s < n; s++)
    for (int d = 0; d < domains && lgt_slots_have(elided->reads, s); d++) {
      lgt_failure *failure = source->inst[d * n + s] ? source->inst[d * n + s]->failure : NULL;
      if (failure && (!first || failure->position < first->position)) first = failure;
    }
  return first;
}

lgt_status lgt_rescue_store(lgt_binder *binder, lgt_store *store) {
  lgt_recipe *recipe = store->recipe;
  if (!recipe) return LGT_OK;
  const lgt_plan_elided *elided = &recipe->group->elided[store->recipe_root];
  const lgt_plan_group *rescue = lgt_recipes_rescue(binder->fuser, recipe->group, store->recipe_root);
  if (!rescue) return LGT_NO_MEMORY;
  lgt_status status = LGT_OK;
  lgt_plan_want(recipe->group->plan, elided->root); /* next time it is stored at once */
  lgt_arena_reset(&binder->arena);
  lgt_attempt try = {
      .binder = binder, .group = rescue, .source = recipe->binding, .param = recipe->binding->param};
  if (store->line) try.where = binder->line_text(binder->line_context, store->line);
  lgt_failure *failure = failure_of_inputs(binder, elided, recipe->binding);
  if (failure && lgt_map_whole(binder->map) && binder->njob) {
    /* What is not done yet may have failed before that did; with several domains whoever looks is told that. */
    lgt_job_retire(binder, true);
    failure = failure_of_inputs(binder, elided, recipe->binding);
  }
  if (!failure) {
    /* Had results been stored, there would be nothing that only recipes keep, nor copies of former contents now: they need
     * not fit. */
    int64_t more = binder->map->kept_alone + recipe->former;
    binder->rescued++;
    lgt_pool_widen(binder->map->pool, more);
    status = lgt_attempt_acquire(&try);
    while (status == LGT_NO_MEMORY && !failure && lgt_attempt_make_room(&try, true)) {
      failure = failure_of_inputs(binder, elided, recipe->binding); /* by what was in flight, perhaps */
      if (!failure) status = lgt_attempt_acquire(&try);
    }
    lgt_pool_widen(binder->map->pool, -more);
  }
  if (!status && !failure) status = lgt_attempt_run(&try);
  if (!status && !failure) status = lgt_attempt_settle(&try, store, rescue->slot_of_final[1]);
  lgt_attempt_release(&try);
  if (status == LGT_NO_MEMORY && !failure)
    lgt_err(status, "out of memory: to compute a result that was not stored; %lld of %lld bytes are taken",
            (long long)(binder->map->pool->limit - lgt_pool_left(binder->map->pool)),
            (long long)binder->map->pool->limit);
  if (failure) failure = lgt_failure_retain(failure);
  else if (status) failure = lgt_poison_new(binder, status, lgt_message(), store->line);
  if (failure) lgt_poison_store(store, failure);
  lgt_failure_release(failure);
  lgt_rescue_drop(binder, store);
  return LGT_OK;
}

/* Bytes that recipes keep, and one at least, that would be free without this one or others. */
static int64_t kept_alone(const lgt_recipe *recipe) {
  int64_t bytes = 0;
  for (int i = 0; i < recipe->binding->ninst; i++) {
    const lgt_instance *inst = recipe->binding->inst[i];
    if (inst && !inst->owners) bytes += inst->bytes;
  }
  return bytes;
}

void lgt_rescue_kept_alone(lgt_binder *binder) {
  lgt_stores *stores = binder->stores;
  for (uint32_t id = 1; id < stores->nstore && binder->map->kept_alone > 0; id++) {
    lgt_store *store = lgt_store_at(stores, id);
    const lgt_recipe *recipe = store->layout ? store->recipe : NULL;
    int64_t kept = recipe ? kept_alone(recipe) : 0;
    if (kept && kept >= recipe->results) (void)lgt_rescue_store(binder, store);
  }
}
