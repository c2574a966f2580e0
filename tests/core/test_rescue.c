/* test_rescue.c - recipes as groups leave them: what they hold on to, how they are run, and how they end. */
#include "bind/rescue.h"

#include "bind/attempt.h"
#include "fusion.h"

static lgt_id x, t, y;
static int twice, more;

static lgt_instance *memory_of(lgt_id array) { return store_of(array)->replica[0].inst; }

static void make_both(void) {
  t = vector(N), y = vector(N);
  launch(rt, twice, 2, t, x);
  launch(rt, more, 2, y, t);
}

/* t = 2 x, which is elided and held; y = t + 3. */
static bool leave_recipe(const char *domains) {
  if (open_with(&rt, "cpus", "1", "check", "1", "domains", domains, "min_tile", "1", NULL)) return false;
  x = apply("a1 c1 add =0", filled(N, 1, 0), 0);
  if (lgt_fence(rt)) return false;
  twice = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  more = kind_of(rt, LGT_FLOAT64, "a1 c3 add =0");
  for (int i = 0; i < 2; i++) { /* a plan that elides is made while nobody holds t */
    make_both();
    if (i == 0) lgt_array_free(rt, t);
    if (lgt_fence(rt)) return false;
  }
  return store_of(t)->recipe != NULL;
}

TEST(a_recipe_holds_on_to_what_it_reads) {
  CHECK(leave_recipe("1"));
  lgt_recipe *recipe = store_of(t)->recipe;
  CHECK(recipe->refs == 1 && memory_of(x)->pins == 1 && memory_of(y)->pins == 0);
  CHECK(!store_of(t)->replica || !memory_of(t));
  lgt_rescue_drop(&rt->binder, store_of(t));
  CHECK(!store_of(t)->recipe && memory_of(x)->pins == 0);
  lgt_rescue_drop(&rt->binder, store_of(t)); /* there is none */
  lgt_close(rt);
}

TEST(a_rescue_computes_what_was_not_stored) {
  for (int which = 0; which < 2; which++) {
    CHECK(leave_recipe(which ? "2" : "1"));
    CHECK_EQ(lgt_rescue_store(&rt->binder, store_of(t)), LGT_OK);
    CHECK(!store_of(t)->recipe && memory_of(t) && memory_of(x)->pins == 0);
    CHECK_EQ(stat_of(rt, "recipes_computed"), 1);
    CHECK_EQ(lgt_rescue_store(&rt->binder, store_of(t)), LGT_OK); /* now it is there */
    CHECK_EQ(stat_of(rt, "recipes_computed"), 1);
    CHECK(value_at(t, 7) == 16 && value_at(y, 7) == 19);
    lgt_close(rt);
  }
}

/* What has been asked for is stored the next time. */
TEST(a_plan_learns_from_a_rescue) {
  CHECK(leave_recipe("1"));
  CHECK(!lgt_rescue_store(&rt->binder, store_of(t)));
  make_both();
  CHECK(!lgt_fence(rt) && !store_of(t)->recipe && memory_of(t));
  lgt_close(rt);
}

/* Of a recipe whose result nobody can ask for any more nothing is kept. */
TEST(only_what_is_held_is_kept) {
  CHECK(leave_recipe("1"));
  const lgt_plan_group *group = store_of(t)->recipe->group;
  const lgt_plan *plan = group->plan;
  uint32_t root[8] = {0};
  bool any;
  CHECK(plan->ncall == 2 && plan->nroot <= 8);
  root[plan->call[0].root[1]] = store_of(x)->id;
  root[plan->call[0].root[0]] = store_of(t)->id;
  root[plan->call[1].root[0]] = store_of(y)->id;
  const uint64_t *kept = lgt_rescue_kept(&rt->binder, group, root, &any);
  CHECK(kept && *kept == group->elided[0].reads[0] && *kept && any);
  lgt_id none = vector(N); /* a store that nobody holds */
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "c1 =0"), 1, none) && !lgt_fence(rt));
  uint32_t id = store_of(none)->id;
  lgt_array_free(rt, none);
  root[plan->call[0].root[0]] = id;
  kept = lgt_rescue_kept(&rt->binder, group, root, &any);
  CHECK(kept && !*kept && !any);
  lgt_close(rt);
}

/* x is overwritten while a recipe reads it: that takes as much memory again, or a rescue. */
TEST(what_recipes_cost_is_told) {
  CHECK(leave_recipe("1"));
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c5 add =0"), 2, x, x));
  lgt_instance *before = memory_of(x);
  CHECK(!lgt_fence(rt) && memory_of(x) != before); /* it went elsewhere */
  const lgt_plan_group *group = store_of(x)->maker;
  uint32_t root[2] = {store_of(x)->id, store_of(x)->id};
  CHECK(group && group->plan->nroot == 1);
  CHECK_EQ(lgt_rescue_bytes(&rt->binder, group, root), 0);
  lgt_instance *now = memory_of(x);
  lgt_instance_pin(&rt->map, now, &now->rect);
  CHECK_EQ(lgt_rescue_bytes(&rt->binder, group, root), now->bytes);
  lgt_instance_unpin(&rt->map, now);
  CHECK(value_at(t, 7) == 16 && value_at(x, 7) == 13); /* t as x was */
  lgt_close(rt);
}

/* What a recipe reads has failed since: so has its result. */
TEST(a_recipe_fails_with_what_it_reads) {
  CHECK(leave_recipe("1"));
  lgt_failure *failure = lgt_failure_new(LGT_TASK_FAILED, "x has failed", NULL);
  CHECK(failure);
  memory_of(x)->failure = lgt_failure_retain(failure);
  CHECK_EQ(lgt_rescue_store(&rt->binder, store_of(t)), LGT_OK);
  CHECK(store_of(t)->failure == failure && !store_of(t)->recipe);
  CHECK_EQ(stat_of(rt, "recipes_computed"), 0);
  lgt_failure_release(failure);
  lgt_close(rt);
}

/* No memory for a rescue is a failure of its result, and no other. */
TEST(a_rescue_without_memory_poisons_its_result) {
  CHECK(leave_recipe("1"));
  int64_t limit = rt->map.pool->limit;
  rt->map.pool->limit = 0;
  CHECK_EQ(lgt_rescue_store(&rt->binder, store_of(t)), LGT_OK);
  rt->map.pool->limit = limit;
  CHECK(store_of(t)->failure && store_of(t)->failure->status == LGT_NO_MEMORY);
  CHECK_HAS(store_of(t)->failure->message, "to compute a result that was not stored");
  CHECK(value_at(y, 7) == 19);
  lgt_close(rt);
}

int main(void) {
  RUN(a_recipe_holds_on_to_what_it_reads);
  RUN(a_rescue_computes_what_was_not_stored);
  RUN(a_plan_learns_from_a_rescue);
  RUN(only_what_is_held_is_kept);
  RUN(what_recipes_cost_is_told);
  RUN(a_recipe_fails_with_what_it_reads);
  RUN(a_rescue_without_memory_poisons_its_result);
  return check_done();
}
