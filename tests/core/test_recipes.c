/* test_recipes.c - results that are not stored: when they are computed, and from what. */
#include "fusion.h"

TEST(a_result_that_is_read_late_is_computed_then_and_stored_the_next_time) {
  open_plain();
  lgt_id x = filled(N, 1, 0), sum;
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  for (int turn = 0; turn < 4; turn++) {
    lgt_id y = vector(N);
    sum = vector(N);
    CHECK(!launch(rt, add, 2, sum, x) && !launch(rt, mul, 2, y, sum));
    if (turn == 0) lgt_array_free(rt, sum); /* dead when the plan is made */
    CHECK(!lgt_fence(rt));
    CHECK_EQ(stat_of(rt, "plans_made"), turn < 2 ? 1 : 2);
    if (turn == 0) continue;
    CHECK(value_at(sum, 7) == 8 && value_at(y, 7) == 16);
    CHECK_EQ(stat_of(rt, "recipes_computed"), 1);
  }
  lgt_close(rt);
}

TEST(a_recipe_keeps_its_inputs) {
  open_plain();
  lgt_id x = filled(N, 1, 0);
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0"),
      fill = kind_of(rt, LGT_FLOAT64, "c-1 =0");
  for (int turn = 0; turn < 2; turn++) {
    lgt_id y = vector(N), sum = vector(N);
    CHECK(!launch(rt, add, 2, sum, x) && !launch(rt, mul, 2, y, sum));
    if (turn == 0) lgt_array_free(rt, sum);
    CHECK(!lgt_fence(rt));
    if (turn == 0) continue;
    /* The input is overwritten, dropped, its memory could be used again; the recipe does not care. */
    CHECK(!launch(rt, fill, 1, x) && !lgt_fence(rt));
    CHECK(value_at(x, 7) == -1);
    lgt_array_free(rt, x);
    lgt_array_free(rt, y);
    for (int i = 0; i < 4; i++) CHECK(!launch(rt, fill, 1, vector(N)));
    CHECK(!lgt_fence(rt));
    CHECK(value_at(sum, 7) == 8);
  }
  CHECK_EQ(stat_of(rt, "recipes_computed"), 1);
  lgt_close(rt);
}

TEST(a_chain_of_results_is_computed_late) {
  open_plain();
  lgt_id x = filled(N, 1, 0), t[4];
  int kind[4] = {kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0"),
                 kind_of(rt, LGT_FLOAT64, "a1 p0 sub =0"), kind_of(rt, LGT_FLOAT64, "a1 sqrt =0")};
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < 4; i++) {
      t[i] = vector(N);
      CHECK(!launch_with(rt, kind[i], 3, 2, t[i], i ? t[i - 1] : x));
    }
    for (int i = 0; i < 3 && turn == 0; i++) lgt_array_free(rt, t[i]);
    CHECK(!lgt_fence(rt));
  }
  CHECK_EQ(stat_of(rt, "plans_made"), 1);
  CHECK(value_at(t[2], 10) == 19); /* its recipe does not need the others' results */
  CHECK(value_at(t[0], 10) == 11);
  CHECK(value_at(t[3], 10) == sqrt(19));
  CHECK_EQ(stat_of(rt, "recipes_computed"), 2);
  lgt_close(rt);
}

/* t = x + 1; x = t * 2 in place: if x is a part of an array, no recipe for t survives, so nobody may hold it when the
 * task runs. */
static lgt_id overwrite(lgt_id x, int n, int add, int mul) {
  lgt_id t = vector(n);
  launch(rt, add, 2, t, x);
  launch(rt, mul, 2, x, t);
  return t;
}

TEST(what_no_recipe_can_make_must_be_dead_or_is_stored) {
  open_plain();
  rt->fuser.collection_ns = 0; /* collecting is cheaper than storing */
  lgt_id all = filled(4 * N, 1, 0), x = slice_of(rt, all, 0, 0, 2 * N, 1);
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  lgt_array_free(rt, overwrite(x, 2 * N, add, mul));
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(2);
  CHECK(plan);
  CHECK_EQ(plan->group[0].nelided, 1);
  CHECK_EQ(plan->group[0].nmust_die, 1);
  CHECK_EQ(plan->group[0].nloop, 1);

  /* A dead handle that the runtime has not heard of: it asks for the end of the collector's cycle. */
  lgt_id t = overwrite(x, 2 * N, add, mul);
  CHECK_EQ(flush_step(rt), 2);
  lgt_array_free(rt, t);
  CHECK_EQ(flush_step(rt), 0);
  CHECK_EQ(stat_of(rt, "plans_made"), 1);

  /* One that is alive: it asks, then for all garbage, and stores. */
  t = overwrite(x, 2 * N, add, mul);
  CHECK_EQ(flush_step(rt), 2);
  CHECK_EQ(flush_step(rt), 1);
  while (flush_step(rt)) {}
  CHECK_EQ(stat_of(rt, "plans_made"), 2);
  CHECK(value_at(x, 0) == 14 && value_at(t, 0) == 7);
  lgt_close(rt);
}

/* A small one costs less to store than to collect for, or to save all of what it was made of. */
TEST(storing_may_be_cheaper_than_collecting) {
  open_plain();
  rt->fuser.collection_ns = 1e9;
  lgt_id all = filled(4 * N, 1, 0), x = slice_of(rt, all, 0, 0, N / 16, 1);
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  lgt_array_free(rt, overwrite(x, N / 16, add, mul));
  CHECK(!lgt_fence(rt));
  CHECK_EQ(plan_of(2)->group[0].nelided, 0);
  lgt_id t = overwrite(x, N / 16, add, mul);
  CHECK_EQ(flush_step(rt), 0);
  CHECK(value_at(t, 0) == 3 && value_at(x, 0) == 6);
  lgt_close(rt);
}

/* Random programs have small arrays only, and shall meet both. */
TEST(with_jitter_small_results_are_stored_or_not) {
  static const char *const jitter[] = {"0", "1", "2", "3", "4", "5", "6", "7"};
  int kept = 0;
  for (int i = 0; i < 8; i++) {
    CHECK(!open_with(&rt, "cpus", "1", "check", "1", "jitter", jitter[i], NULL));
    rt->fuser.collection_ns = 1e9;
    lgt_id all = filled(4 * N, 1, 0), x = slice_of(rt, all, 0, 0, N / 16, 1);
    int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
    lgt_array_free(rt, overwrite(x, N / 16, add, mul));
    CHECK(!lgt_fence(rt));
    int must_die = plan_of(2)->group[0].nmust_die;
    if (i == 0) CHECK_EQ(must_die, 0);
    kept += !must_die;
    CHECK(value_at(x, 1) == 4);
    lgt_close(rt);
  }
  CHECK(1 < kept && kept < 8);
}

static const char *memory_of(lgt_id x) {
  return lgt_store_at(&rt->stores, rt->front.handles[x].store)->replica[0].inst->data;
}

/* All of an array is overwritten: where somebody may still ask for what was computed from it, elsewhere. */
TEST(what_recipes_read_is_left_alone) {
  open_plain();
  rt->fuser.collection_ns = 1e9;
  lgt_id x = filled(4 * N, 1, 0);
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  CHECK(!lgt_fence(rt));
  const char *memory = memory_of(x);
  lgt_array_free(rt, overwrite(x, 4 * N, add, mul));
  CHECK(!lgt_fence(rt));
  CHECK_EQ(plan_of(2)->group[0].nelided, 1);
  CHECK_EQ(plan_of(2)->group[0].nmust_die, 0);
  CHECK_EQ(plan_of(2)->group[0].nloop, 1);
  CHECK(memory_of(x) == memory); /* nobody may ask */
  lgt_id t = overwrite(x, 4 * N, add, mul);
  CHECK(!lgt_fence(rt));
  CHECK(memory_of(x) != memory);
  CHECK(value_at(x, 0) == 6 && value_at(t, 0) == 3);
  CHECK_EQ(stat_of(rt, "recipes_computed"), 1);
  memory = memory_of(x);
  t = overwrite(x, 4 * N, add, mul); /* it is stored from now on */
  CHECK(!lgt_fence(rt));
  CHECK(memory_of(x) == memory && value_at(x, 0) == 14 && value_at(t, 0) == 7);
  CHECK_EQ(stat_of(rt, "bytes_copied"), 0);
  lgt_close(rt);
}

/* Parts of an array change one after the other, each by way of a result that nobody stores: who asks for one gets it from
 * what was in the array before the group. */
TEST(versions_are_computed_again_from_former_contents) {
  open_plain();
  rt->fuser.collection_ns = 1e9;
  lgt_id all = filled(4 * N, 1, 0), t[6];
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  CHECK(!lgt_fence(rt));
  const char *memory = memory_of(all);
  for (int round = 0; round < 2; round++) {
    for (int k = 0; k < 6; k++) {
      lgt_id x = slice_of(rt, all, 0, k * N / 4, 2 * N, 1);
      t[k] = overwrite(x, 2 * N, add, mul);
      if (round == 0) lgt_array_free(rt, t[k]);
      lgt_array_free(rt, x);
    }
    CHECK(!lgt_fence(rt));
    if (round == 0) CHECK(memory_of(all) == memory); /* nobody may ask */
  }
  CHECK_EQ(plan_of(12)->group[0].nelided, 6);
  CHECK_EQ(plan_of(12)->group[0].nmust_die, 0);
  CHECK_EQ(stat_of(rt, "plans_made"), 1);
  CHECK(memory_of(all) != memory);
  double x[4 * N];
  for (int i = 0; i < 4 * N; i++) x[i] = i;
  for (int round = 0; round < 2; round++)
    for (int k = 0; k < 6; k++)
      for (int i = 0; i < 2 * N; i++) {
        double *at = &x[k * N / 4 + i];
        *at = 2 * (*at + 1);
        if (round == 1 && i % 83 == 0) CHECK(value_at(t[k], i) == *at / 2);
      }
  for (int i = 0; i < 4 * N; i += 83) CHECK(value_at(all, i) == x[i]);
  CHECK_EQ(stat_of(rt, "recipes_computed"), 6);
  lgt_close(rt);
}

/* Small parts of an array change one after the other, by way of results that are held; what they are is in `value`. */
enum { PARTS = 12, PART = N / 16 };
static void change_parts(lgt_id all, int add, int mul, double *x, lgt_id *t, double *value) {
  for (int k = 0; k < PARTS; k++) {
    lgt_id part = slice_of(rt, all, 0, k * PART / 2, PART, 1);
    t[k] = overwrite(part, PART, add, mul);
    lgt_array_free(rt, part);
    for (int i = 0; i < PART; i++) x[k * PART / 2 + i] += 1;
    value[k] = x[k * PART / 2 + 1];
    for (int i = 0; i < PART; i++) x[k * PART / 2 + i] *= 2;
  }
}

/* The same several times; from the second time on (`held`) the results are held. */
enum { ROUNDS = 40 };
static lgt_id held[ROUNDS][PARTS];
static double value[ROUNDS][PARTS];
static lgt_id hold_parts(int rounds) {
  double x[2 * N];
  lgt_id all = filled(2 * N, 1, 0);
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  rt->fuser.collection_ns = 1e9;
  for (int i = 0; i < 2 * N; i++) x[i] = i;
  for (int r = 0; r < rounds; r++) {
    change_parts(all, add, mul, x, held[r], value[r]);
    for (int k = 0; k < PARTS && r == 0; k++) lgt_array_free(rt, held[r][k]);
    if (lgt_fence(rt)) return 0;
  }
  return all;
}
static bool parts_are_right(int rounds) {
  for (int r = 1; r < rounds; r++)
    for (int k = 0; k < PARTS; k++)
      if (value_at(held[r][k], 1) != value[r][k]) return false;
  return true;
}

/* What is held for long and is small must not keep much more memory than if it were stored. */
TEST(recipes_keep_former_contents_up_to_a_limit) {
  CHECK(!open_with(&rt, "cpus", "1", "check", "1", "mem", "4M", NULL));
  lgt_id all = hold_parts(ROUNDS);
  CHECK(all);
  CHECK(rt->binder.former > 200 << 10 && rt->binder.former < 300 << 10);
  CHECK(stat_of(rt, "bytes_live") < 500 << 10); /* all of it: 624 KiB and more */
  CHECK(parts_are_right(ROUNDS));
  CHECK(stat_of(rt, "recipes_computed") > 0);
  CHECK_EQ(rt->binder.former, 0);
  lgt_close(rt);
}

/* ... and must be computed before there is no memory for it, or for others. */
TEST(former_contents_make_room) {
  CHECK(!open_with(&rt, "cpus", "1", "check", "1", "mem", "3744K", NULL));
  CHECK(hold_parts(12));
  CHECK(rt->binder.former > 160 << 10);
  CHECK_EQ(stat_of(rt, "recipes_computed"), 0);
  lgt_id large = vector(7 << 16);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "c3 =0"), 1, large));
  CHECK(!lgt_fence(rt));
  CHECK_EQ(stat_of(rt, "recipes_computed"), 11 * PARTS);
  CHECK_EQ(rt->binder.former, 0);
  CHECK(parts_are_right(12));
  lgt_close(rt);
}

/* A result that is asked for needs no memory that it would not have needed had it been stored. */
TEST(what_comes_from_former_contents_fits) {
  CHECK(!open_with(&rt, "cpus", "1", "check", "1", "mem", "3744K", NULL));
  CHECK(hold_parts(12));
  int64_t room = rt->map.pool->limit - stat_of(rt, "bytes_live");
  lgt_id large = vector(3 << 17);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "c3 =0"), 1, large));
  CHECK(!lgt_fence(rt));
  CHECK_EQ(stat_of(rt, "recipes_computed"), 0);
  rt->map.pool->limit -= room - (3 << 20); /* all is used up */
  CHECK(parts_are_right(12));
  CHECK_EQ(stat_of(rt, "recipes_computed"), 11 * PARTS);
  lgt_close(rt);
}

/* to = 2 (from + 1), and the sum in between. */
static lgt_id recur(lgt_id from, lgt_id to, int add, int mul) {
  lgt_id t = vector(N);
  launch(rt, add, 2, t, from);
  launch(rt, mul, 2, to, t);
  return t;
}

/* A recurrence over the parts of an array: what recipes read of it is not where it is written next. */
TEST(what_recipes_do_not_read_may_be_written_in_place) {
  open_plain();
  rt->fuser.collection_ns = 1e9;
  lgt_id x = filled(4 * N, 1, 0), part[4], t[4];
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  for (int k = 0; k < 4; k++) part[k] = slice_of(rt, x, 0, k * N, N, 1);
  CHECK(!lgt_fence(rt));
  const char *memory = memory_of(x);
  lgt_array_free(rt, recur(part[0], part[1], add, mul));
  CHECK(!lgt_fence(rt));
  CHECK_EQ(plan_of(2)->group[0].nelided, 1);
  CHECK_EQ(plan_of(2)->group[0].nmust_die, 0);
  for (int k = 0; k < 3; k++) {
    t[k] = recur(part[k], part[k + 1], add, mul); /* the next plans are this one's, shifted */
    CHECK(!lgt_fence(rt));
    CHECK(memory_of(x) == memory);
  }
  t[3] = recur(part[3], part[2], add, mul); /* t[2] is made of what this overwrites */
  CHECK(!lgt_fence(rt));
  CHECK(memory_of(x) != memory);
  CHECK(value_at(t[0], 1) == 2 && value_at(t[1], 1) == 5 && value_at(t[2], 1) == 11 &&
        value_at(t[3], 1) == 23);
  CHECK(value_at(x, N + 1) == 4 && value_at(x, 2 * N + 1) == 46 && value_at(x, 3 * N + 1) == 22);
  CHECK_EQ(stat_of(rt, "recipes_computed"), 4);
  lgt_close(rt);
}

static lgt_status fail(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  (void)tiles, (void)nargs, (void)params, (void)lo, (void)hi;
  return lgt_err(LGT_TASK_FAILED, "it fails");
}

/* ... unless the task that writes it there may fail: that is no failure of what was computed before. */
TEST(what_fails_later_is_no_failure_of_a_recipe) {
  open_plain();
  rt->fuser.collection_ns = 1e9;
  lgt_id x = filled(4 * N, 1, 0), bad = vector(N), part[3];
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0"),
      failing = native_kind(rt, "failing", "w", "", fail);
  for (int k = 0; k < 3; k++) part[k] = slice_of(rt, x, 0, k * N, N, 1);
  lgt_array_free(rt, recur(part[0], part[1], add, mul));
  CHECK(!lgt_fence(rt));
  lgt_id t = recur(part[0], part[1], add, mul);
  CHECK(!flush_step(rt));
  launch(rt, failing, 1, bad);
  launch(rt, mul, 2, part[2], bad);
  CHECK(lgt_fence(rt) == LGT_TASK_FAILED);
  CHECK(value_at(t, 1) == 2);
  CHECK(isnan(value_at(x, 0)));
  lgt_close(rt);
}

/* What lay in memory of the group's own, since a later loop reads it, is given back: recipes begin with x. */
TEST(recipes_keep_nothing_that_can_be_computed_again) {
  open_plain();
  rt->fuser.collection_ns = 1e9;
  lgt_id x = filled(N, 1, 0), t = 0, u = 0;
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  CHECK(!lgt_fence(rt));
  int64_t live[3] = {stat_of(rt, "bytes_live")};
  for (int turn = 0; turn < 2; turn++) {
    t = vector(N), u = vector(N);
    lgt_id back = slice_of(rt, t, 0, N - 1, N, -1);
    CHECK(!launch(rt, add, 2, t, x) && !launch(rt, add, 2, u, back) && !launch(rt, mul, 2, vector(N), u));
    lgt_array_free(rt, back);
    if (turn == 0) lgt_array_free(rt, t), lgt_array_free(rt, u);
    CHECK(!lgt_fence(rt));
    live[turn + 1] = stat_of(rt, "bytes_live");
  }
  CHECK_EQ(stat_of(rt, "plans_made"), 1);
  CHECK_EQ(live[2] - live[1], live[1] - live[0]);
  launch(rt, add, 2, x, x);
  CHECK(value_at(u, 3) == N - 4 + 2 && value_at(t, 3) == 4 && value_at(x, 3) == 4);
  CHECK_EQ(stat_of(rt, "recipes_computed"), 2);
  lgt_close(rt);
}

/* A chain of LINKS arrays: each is x times the sums of the former one's rows, whose memory the next sums take. */
enum { ROWS = 40, COLUMNS = 100, LINKS = 4 };
static void weigh_rows(lgt_id x, lgt_id *link, int sum, int mul) {
  for (int i = 0; i < LINKS; i++) {
    lgt_id sums = vector(ROWS),
           wide = lgt_layout_view(rt, sums, lgt_layout_promote(rt, LAYOUT(rt, sums), 1, COLUMNS));
    link[i] = array_of(rt, LGT_FLOAT64, 2, (int64_t[]){ROWS, COLUMNS});
    CHECK(!launch(rt, sum, 2, wide, i ? link[i - 1] : x) && !launch(rt, mul, 3, link[i], x, wide));
    lgt_array_free(rt, sums);
    lgt_array_free(rt, wide);
  }
}

/* No recipe goes through a reduction, but one may begin with what a reduction made, which is small.  To store what must die
 * costs 11,000 ns, the sums among it 928, which is little beside a collection of so many ns, or not; x is a part of a matrix of so
 * many rows, which recipes would keep. */
static void store_reductions(double collection_ns, int64_t rows, bool stores) {
  open_plain();
  rt->fuser.collection_ns = collection_ns;
  lgt_id all = array_of(rt, LGT_FLOAT64, 2, (int64_t[]){rows, COLUMNS}), x = slice_of(rt, all, 0, 0, ROWS, 1);
  lgt_id link[LINKS];
  int sum = kind_of(rt, LGT_FLOAT64, "a1 sum>0"), mul = kind_of(rt, LGT_FLOAT64, "a1 a2 mul =0"),
      column = kind_of(rt, LGT_FLOAT64, "i1 cast:float64 =0");
  CHECK(!launch(rt, column, 1, all) && !lgt_fence(rt));
  int64_t plans = stat_of(rt, "plans_made");
  weigh_rows(x, link, sum, mul);
  for (int i = 0; i < LINKS - 1; i++) lgt_array_free(rt, link[i]); /* dead when the plan is made */
  CHECK(!lgt_fence(rt));
  CHECK_EQ(plan_of(2 * LINKS)->group[0].nmust_die > 0, !stores);
  weigh_rows(x, link, sum, mul);
  CHECK(!lgt_fence(rt));
  CHECK_EQ(stat_of(rt, "plans_made") - plans, stores ? 1 : 2); /* what must die and does not is stored then */
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "c-1 =0"), 1, x) && !lgt_fence(rt));
  double total = COLUMNS * (COLUMNS - 1) / 2.;
  for (int i = 0; i < LINKS; i++) CHECK(value_at(link[i], 3) == 3 * pow(total, i + 1));
  CHECK_EQ(stat_of(rt, "recipes_computed"), stores ? LINKS - 1 : 0);
  lgt_close(rt);
}
TEST(reductions_are_stored_where_that_saves_a_collection) {
  store_reductions(6000, ROWS, true);
  store_reductions(1000, ROWS, false);
  store_reductions(6000, 4 * ROWS, false); /* to copy the matrix costs 6400 ns */
}

int main(void) {
  RUN(a_result_that_is_read_late_is_computed_then_and_stored_the_next_time);
  RUN(a_recipe_keeps_its_inputs);
  RUN(a_chain_of_results_is_computed_late);
  RUN(what_no_recipe_can_make_must_be_dead_or_is_stored);
  RUN(storing_may_be_cheaper_than_collecting);
  RUN(with_jitter_small_results_are_stored_or_not);
  RUN(what_recipes_read_is_left_alone);
  RUN(versions_are_computed_again_from_former_contents);
  RUN(recipes_keep_former_contents_up_to_a_limit);
  RUN(former_contents_make_room);
  RUN(what_comes_from_former_contents_fits);
  RUN(what_recipes_do_not_read_may_be_written_in_place);
  RUN(what_fails_later_is_no_failure_of_a_recipe);
  RUN(recipes_keep_nothing_that_can_be_computed_again);
  RUN(reductions_are_stored_where_that_saves_a_collection);
  return check_done();
}
