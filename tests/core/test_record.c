/* test_record.c - exchanges that are replayed, and those that must not be. */
#include "move/record.h"

#include "fusion.h"
#include "memory/coherence.h"

/* x and y are cut in four; a turn adds neighbours of x into y, and makes x anew of y. */
static lgt_id x, y, inner, below, above, backwards;
static int add, scale, copy;
enum { WARM = 4 };
static double wanted_x[N], wanted_y[N];

static bool begin(const char *check) {
  if (open_with(&rt, "cpus", "1", "min_tile", "1", "domains", "4", "check", check, NULL)) return false;
  x = filled(N, 1, 0);
  y = filled(N, 0, 0);
  inner = slice_of(rt, y, 0, 1, N - 2, 1);
  below = slice_of(rt, x, 0, 0, N - 2, 1);
  above = slice_of(rt, x, 0, 2, N - 2, 1);
  backwards = slice_of(rt, x, 0, N - 1, N, -1);
  add = kind_of(rt, LGT_FLOAT64, "a1 a2 add =0");
  scale = kind_of(rt, LGT_FLOAT64, "a1 c0.75 mul =0");
  copy = kind_of(rt, LGT_FLOAT64, "a1 =0");
  for (int i = 0; i < N; i++) wanted_x[i] = i, wanted_y[i] = 0;
  return x && y && inner && below && above && backwards;
}

static bool add_neighbours(void) {
  for (int i = 1; i < N - 1; i++) wanted_y[i] = wanted_x[i - 1] + wanted_x[i + 1];
  return !launch(rt, add, 3, inner, below, above) && !lgt_fence(rt);
}

static bool turn(void) {
  if (!add_neighbours()) return false;
  for (int i = 0; i < N; i++) wanted_x[i] = 0.75 * wanted_y[i];
  return !launch(rt, scale, 2, x, y) && !lgt_fence(rt);
}

/* ... under plans of their own from the beginning: a shifted one (shift.h) is not recorded.  From here on exchanges count. */
static bool turns(int n) {
  bool good = true;
  for (int i = 0; i < n && good; i++) {
    memset(rt->fuser.by_form, 0, LGT_FORMS * sizeof *rt->fuser.by_form);
    good = turn();
  }
  memset(rt->binder.exchanged, 0, sizeof rt->binder.exchanged);
  return good;
}

static bool as_wanted(void) {
  static double got[N];
  if (lgt_array_copy_out(rt, y, got) || memcmp(got, wanted_y, sizeof got)) return false;
  return !lgt_array_copy_out(rt, x, got) && !memcmp(got, wanted_x, sizeof got);
}

static int64_t replayed(void) { return rt->binder.exchanged[LGT_EXCHANGES_REPLAYED]; }

/* With the option `check` replays are carried out, too, and compared. */
TEST(what_repeats_is_replayed) {
  for (int check = 0; check < 2; check++) {
    CHECK(begin(check ? "1" : "0"));
    CHECK(turns(WARM));
    int64_t versions = rt->binder.agreed.versions;
    for (int i = 0; i < 20; i++) CHECK(turn());
    CHECK_EQ(replayed(), 40);
    CHECK_EQ(rt->binder.agreed.versions, versions + 40);
    CHECK(store_of(x)->version == versions + 40 && store_of(y)->version == versions + 39);
    CHECK(as_wanted());
    lgt_close(rt);
  }
}

/* What was written backwards lies elsewhere: other elements move, though the launch is the same. */
TEST(another_past_of_an_array_is_not) {
  CHECK(begin("0"));
  for (int i = 0; i < 3; i++) {
    CHECK(turns(WARM));
    for (int k = 0; k < N; k++) wanted_x[N - 1 - k] = wanted_y[k];
    CHECK(!launch(rt, copy, 2, backwards, y) && !lgt_fence(rt));
    CHECK(add_neighbours());
    CHECK(replayed() <= 2 * i);
    CHECK(as_wanted());
  }
  lgt_close(rt);
}

/* A group keeps several records: pasts that take turns are replayed, too.  The second sum finds all neighbours there. */
TEST(two_pasts_take_turns) {
  CHECK(begin("0"));
  CHECK(turns(WARM));
  for (int i = 0; i < WARM; i++) CHECK(add_neighbours() && turns(1));
  for (int i = 0; i < 5; i++) CHECK(add_neighbours() && turn());
  CHECK_EQ(replayed(), 15);
  CHECK(as_wanted());
  lgt_close(rt);
}

/* Each of these alone makes a record no use. */
TEST(histories_keys_and_what_selects_must_be_the_same) {
  CHECK(begin("0"));
  CHECK(turns(WARM));
  const lgt_plan_group *group = store_of(y)->maker;
  lgt_store *store[2] = {0};
  const lgt_history *saved[2];
  lgt_exchange e = {.binder = &rt->binder,
                    .group = group,
                    .store = store,
                    .saved = saved,
                    .nstore = group->notes->ntouched};
  CHECK_EQ(e.nstore, 2);
  for (int i = 0; i < 2; i++) {
    store[i] = group->notes->touched[i].root ? store_of(x) : store_of(y);
    saved[i] = store[i]->history;
  }
  CHECK(lgt_record_find(&e) != NULL);
  for (int i = 0; i < 2; i++) {
    saved[i] = &rt->map.histories.none;
    CHECK(!lgt_record_find(&e));
    saved[i] = store[i]->history;
    const struct lgt_partition *key = store[i]->key;
    store[i]->key = NULL;
    CHECK(!lgt_record_find(&e));
    store[i]->key = key;
  }
  CHECK_EQ(rt->binder.exchanged[LGT_EXCHANGES_CHANGED], 4);
  rt->binder.selecting = group;
  CHECK(!lgt_record_find(&e));
  rt->binder.selecting = NULL;
  e.split = true;
  CHECK(!lgt_record_find(&e));
  e.split = false;
  CHECK_EQ(rt->binder.exchanged[LGT_EXCHANGES_BY_DATA], 2);
  CHECK(lgt_record_find(&e) != NULL);
  lgt_close(rt);
}

/* Nor is an exchange ready then, or where something failed, is elided, lies elsewhere in a domain, or is what a copy or a recipe
 * has, too. */
TEST(what_is_ready_is_all_there) {
  CHECK(begin("0"));
  CHECK(turns(WARM));
  const lgt_plan_group *group = store_of(y)->maker;
  uint32_t root[2] = {store_of(y)->id, store_of(y)->id};
  for (int i = 0; i < 2; i++)
    if (group->notes->touched[i].root) root[group->notes->touched[i].root] = store_of(x)->id;
  lgt_exchange e;
  int64_t exchanges = rt->binder.agreed.exchanges;
  lgt_failure *failure = lgt_failure_new(LGT_TASK_FAILED, "it failed", NULL);
#define READY lgt_record_again(&e, &rt->binder, group, root)
#define NOT_WITH(field, other)             \
  do {                                     \
    __typeof__(field) had = (field);       \
    (field) = (other);                     \
    CHECK(!READY && !e.ready && !e.store); \
    (field) = had;                         \
    CHECK(READY);                          \
  } while (0)
  CHECK(failure && READY && e.plain && e.replays && e.record && !e.saved);
  for (int i = 0; i < 2; i++) {
    lgt_store *store = i ? store_of(x) : store_of(y);
    NOT_WITH(store->history, &rt->map.histories.none);
    NOT_WITH(store->key, NULL);
    NOT_WITH(store->recipe, (lgt_recipe *)store);
    NOT_WITH(store->failure, failure);
    for (int d = 0; d < 4; d++) {
      lgt_replica *replica = &store->replica[d];
      NOT_WITH(replica->inst->failure, failure);
      NOT_WITH(replica->naside, 1);
      NOT_WITH(replica->old.count, 1);
      NOT_WITH(replica->absent.count, 1);
      NOT_WITH(replica->inst->rect.hi[0], replica->inst->rect.lo[0] + 1);
      NOT_WITH(replica->inst, NULL);
      if (i) continue; /* x is only read */
      NOT_WITH(replica->inst->owners, 2);
      NOT_WITH(replica->inst->pins, 1);
    }
  }
  NOT_WITH(rt->binder.check, true);
  NOT_WITH(rt->binder.forgets, rt->binder.forgets + 1);
  CHECK(rt->binder.agreed.exchanges == exchanges && replayed() == 0);
  lgt_failure_release(failure);
  CHECK(turn() && replayed() == 2);
  CHECK(as_wanted());
  lgt_close(rt);
}

/* The middle of x is written, and x is read through more views than a history may have events.  Each of them sees the
 * edges, too, so that the reads stay until there are too many; then they are forgotten. */
TEST(what_is_read_in_many_ways_is_replayed) {
  enum { VIEWS = LGT_HISTORY_LONG + 5, EDGE = VIEWS + 10, LENGTH = N - VIEWS };
  for (int check = 0; check < 2; check++) {
    CHECK(begin(check ? "1" : "0"));
    lgt_id part = slice_of(rt, y, 0, 0, LENGTH, 1), view[VIEWS];
    lgt_id middle = slice_of(rt, x, 0, EDGE, N - 2 * EDGE, 1),
           from = slice_of(rt, y, 0, EDGE, N - 2 * EDGE, 1);
    for (int k = 0; k < VIEWS; k++) CHECK((view[k] = slice_of(rt, x, 0, k, LENGTH, 1)));
    for (int turn = 0; turn < 2 * WARM; turn++) {
      memset(rt->binder.exchanged, 0, sizeof rt->binder.exchanged);
      if (turn < WARM) memset(rt->fuser.by_form, 0, LGT_FORMS * sizeof *rt->fuser.by_form);
      for (int k = 0; k < VIEWS; k++) CHECK(!launch(rt, copy, 2, part, view[k]));
      CHECK(!lgt_fence(rt));
      for (int i = 0; i < LENGTH; i++) wanted_y[i] = wanted_x[i + VIEWS - 1];
      CHECK(!launch(rt, scale, 2, middle, from) && !lgt_fence(rt));
      for (int i = EDGE; i < N - EDGE; i++) wanted_x[i] = 0.75 * wanted_y[i];
      CHECK_EQ(rt->binder.exchanged[LGT_EXCHANGES_GATHERED], 0);
    }
    CHECK(replayed() >= 2);
    CHECK_EQ(rt->binder.exchanged[LGT_EXCHANGES_NEW] + rt->binder.exchanged[LGT_EXCHANGES_CHANGED], 0);
    CHECK(as_wanted());
    lgt_close(rt);
  }
}

/* A sweep may free what records name. */
TEST(a_sweep_ends_records) {
  CHECK(begin("0"));
  CHECK(turns(WARM));
  lgt_moves_forget(&rt->binder);
  CHECK(turn());
  CHECK_EQ(replayed(), 0);
  CHECK_EQ(rt->binder.exchanged[LGT_EXCHANGES_NEW], 2);
  CHECK(turn()); /* recorded again */
  CHECK_EQ(replayed(), 2);
  CHECK(as_wanted());
  lgt_close(rt);
}

/* What begins anew each time is recorded a few times, and then seldom. */
TEST(what_never_repeats_is_hardly_recorded) {
  CHECK(begin("0"));
  CHECK(turns(WARM));
  const void *record = NULL;
  int records = 0;
  for (int i = 0; i < 40; i++) {
    lgt_id one = slice_of(rt, x, 0, 10 * i, 1, 1);
    wanted_x[10 * i] = wanted_y[10 * i];
    CHECK(!launch(rt, copy, 2, one, slice_of(rt, y, 0, 10 * i, 1, 1)) && !lgt_fence(rt));
    CHECK(add_neighbours());
    const lgt_plan_group *maker = store_of(y)->maker;
    records += maker->notes->recorded[0] != record;
    record = maker->notes->recorded[0];
  }
  CHECK(records < 10);
  CHECK(as_wanted());
  lgt_close(rt);
}

int main(void) {
  RUN(what_repeats_is_replayed);
  RUN(another_past_of_an_array_is_not);
  RUN(two_pasts_take_turns);
  RUN(histories_keys_and_what_selects_must_be_the_same);
  RUN(what_is_ready_is_all_there);
  RUN(what_is_read_in_many_ways_is_replayed);
  RUN(a_sweep_ends_records);
  RUN(what_never_repeats_is_hardly_recorded);
  return check_done();
}
