/* test_poison.c - failures in place of contents: what they spread to, what ends them, and when they are reported. */
#include "move/poison.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "fusion.h"
#include "memory/replica.h"
#include "move/job.h"

static lgt_status fails(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  (void)nargs, (void)params;
  if (lo < hi && tiles[0].origin[0] + lo == 0) return lgt_err(LGT_TASK_FAILED, "there are no %d", 3);
  for (int64_t i = lo; i < hi; i++) *(double *)((char *)tiles[0].data + i * tiles[0].stride[0]) = 1;
  return LGT_OK;
}

/* A vector of which the first domain's part cannot be made. */
static lgt_id failing(void) {
  lgt_id x = vector(N);
  return launch(rt, native_kind(rt, "fails", "w", "align(0.0)", fails), 1, x) ? 0 : x;
}

/* The failure that a look at the array raises, or "". */
static const char *look(lgt_id x) {
  static double got[N];
  return lgt_array_copy_out(rt, x, got) ? lgt_message() : "";
}

static const char *const DOMAIN_COUNT[] = {"1", "2"};

static bool begin(int which) {
  return !open_with(&rt, "cpus", "1", "check", "1", "min_tile", "1", "domains", DOMAIN_COUNT[which], NULL);
}

/* What is computed of it fails, too, and with two domains also the half that does not need what failed. */
TEST(a_failure_spreads_to_what_is_computed_from_it) {
  for (int which = 0; which < 2; which++) {
    CHECK(begin(which));
    lgt_id x = failing(), y = apply("a1 c1 add =0", x, 0), z = vector(N / 4);
    CHECK(x && y);
    CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0"), 2, z,
                  slice_of(rt, y, 0, N / 2 + 10, N / 4, 1)));
    lgt_id good = apply("a1 c1 add =0", filled(N, 1, 0), 0);
    CHECK_HAS(look(z), "there are no 3");
    CHECK_HAS(look(x), "there are no 3");
    CHECK_HAS(look(y), "there are no 3");
    CHECK(value_at(good, 5) == 6);
    CHECK(!lgt_fence(rt)); /* it has been reported */
    lgt_close(rt);
  }
}

TEST(an_overwrite_ends_a_failure) {
  for (int which = 0; which < 2; which++) {
    CHECK(begin(which));
    lgt_id x = failing(), y = vector(N);
    CHECK(x && !launch(rt, kind_of(rt, LGT_FLOAT64, "a1 =0"), 2, y, x));
    CHECK_EQ(lgt_fence(rt), LGT_TASK_FAILED);
    CHECK(lgt_poison_of(&rt->binder, store_of(x)) && lgt_poison_of(&rt->binder, store_of(y)));
    /* A part of it is not enough. */
    CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "c4 =0"), 1, slice_of(rt, y, 0, 0, N / 2, 1)));
    CHECK_HAS(look(y), "there are no 3");
    CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "c4 =0"), 1, y));
    CHECK(value_at(y, 3) == 4 && !lgt_poison_of(&rt->binder, store_of(y)));
    CHECK(lgt_poison_of(&rt->binder, store_of(x)));
    lgt_close(rt);
  }
}

/* A fence reports what no look has, once. */
TEST(a_fence_reports_what_nobody_has_seen) {
  for (int which = 0; which < 2; which++) {
    CHECK(begin(which));
    lgt_id x = failing();
    CHECK_EQ(lgt_fence(rt), LGT_TASK_FAILED);
    CHECK_HAS(lgt_message(), "there are no 3");
    CHECK_EQ(lgt_fence(rt), LGT_OK);
    CHECK_HAS(look(x), "there are no 3"); /* the array is still without contents */
    CHECK_EQ(lgt_fence(rt), LGT_OK);
    lgt_close(rt);
  }
}

TEST(failures_of_one_group_count_as_one) {
  open_domains();
  lgt_binder *binder = &rt->binder;
  lgt_failure *a = lgt_poison_new(binder, LGT_NO_MEMORY, "8 bytes", 0);
  CHECK(a && binder->unreported == a);
  lgt_poison_reported(binder);
  CHECK(binder->reported == a && !binder->unreported);
  lgt_failure *b = lgt_poison_new(binder, LGT_NO_MEMORY, "16 bytes", 0); /* of the same group */
  lgt_poison_note(binder);
  CHECK(binder->reported == b && !binder->unreported);
  binder->agreed.position++;
  lgt_failure *c = lgt_poison_new(binder, LGT_NO_MEMORY, "8 bytes", 0),
              *d = lgt_poison_new(binder, LGT_NO_MEMORY, "4 bytes", 0);
  lgt_poison_note(binder);
  CHECK(binder->unreported == c); /* the first of another one waits for its report */
  CHECK_EQ(lgt_poison_report(binder, d), LGT_NO_MEMORY);
  CHECK(!strcmp(lgt_message(), "4 bytes") && !binder->unreported && binder->reported == c);
  CHECK_EQ(lgt_poison_report(binder, NULL), LGT_OK);
  lgt_failure *all[] = {a, b, c, d};
  for (int i = 0; i < 4; i++) lgt_failure_release(all[i]);
  lgt_close(rt);
}

/* A failure that is known late is passed through the groups that were bound since: y is made of x, z is not, and w was
 * overwritten by a group that read something else. */
TEST(a_late_failure_goes_through_recent_groups) {
  open_domains();
  lgt_binder *binder = &rt->binder;
  lgt_id x = filled(N, 1, 0), z = filled(N, 2, 0), y = vector(N), w = vector(N);
  int copy = kind_of(rt, LGT_FLOAT64, "a1 =0");
  CHECK(!launch(rt, copy, 2, w, x) && !lgt_fence(rt)); /* makes the plan whose groups take part below */
  const lgt_plan *plan = plan_of(1);
  CHECK(plan && plan->nroot == 2);
  uint32_t id[4] = {store_of(x)->id, store_of(y)->id, store_of(z)->id, 0};
  CHECK(!launch(rt, copy, 2, y, z) && !lgt_fence(rt));
  id[1] = store_of(y)->id, id[3] = store_of(w)->id;
  lgt_poison_forget(binder, INT64_MAX);
  int64_t first = binder->agreed.position;
  /* The groups at these places of the stream: x = z, y = x, w = x, w = z. */
  const int pair[4][2] = {{0, 2}, {1, 0}, {3, 0}, {3, 2}};
  binder->njob++; /* while nothing is in flight nothing has to be remembered */
  int to = plan->call[0].root[0], from = plan->call[0].root[1];
  for (int i = 0; i < 4; i++) {
    uint32_t root[2];
    root[to] = id[pair[i][0]], root[from] = id[pair[i][1]];
    binder->agreed.position = first + i;
    lgt_poison_bound(binder, &plan->group[0], root);
  }
  binder->njob--;
  CHECK_EQ(binder->nrecent, 4);
  lgt_failure *failure = lgt_failure_new(LGT_TASK_FAILED, "late", NULL);
  CHECK(failure);
  failure->position = first;
  lgt_poison_group(binder, first, failure);
  CHECK(store_of(x)->failure == failure && store_of(y)->failure == failure);
  CHECK(!store_of(z)->failure && !store_of(w)->failure);
  lgt_poison_forget(binder, first + 2);
  CHECK_EQ(binder->nrecent, 2);
  lgt_poison_forget(binder, INT64_MAX);
  CHECK_EQ(binder->nrecent, 0);
  lgt_failure_release(failure);
  lgt_close(rt);
}

/* ---- of two failures in flight the first one in the stream counts, whichever is known first ----------------- */

enum { LARGE = 1 << 18 }; /* no task that runs at once */

/* Do the tasks fail?  Those that do wait in a worker: how many, and may they go on? */
static atomic_int fail, held, let_go[2];

/* Where its array ends. */
static lgt_status wait_and_fail(const lgt_tile *tile, int64_t lo, int64_t hi, int which) {
  for (int64_t i = lo; i < hi; i++) *(double *)((char *)tile->data + i * tile->stride[0]) = 1;
  if (!atomic_load(&fail) || tile->origin[0] + hi != LARGE) return LGT_OK;
  atomic_fetch_add(&held, 1);
  while (!atomic_load(&let_go[which])) usleep(1000);
  return lgt_err(LGT_TASK_FAILED, which ? "the second one" : "the first one");
}

static lgt_status first(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  (void)nargs, (void)params;
  return wait_and_fail(tiles, lo, hi, 0);
}

static lgt_status second(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  (void)nargs, (void)params;
  return wait_and_fail(tiles, lo, hi, 1);
}

static int first_kind, second_kind;

static bool begin_in_flight(int which) {
  if (open_with(&rt, "cpus", "4", "check", "1", "min_tile", "1", "domains", DOMAIN_COUNT[which], NULL))
    return false;
  first_kind = native_kind(rt, "first", "w", "align(0.0)", first);
  second_kind = native_kind(rt, "second", "w", "align(0.0)", second);
  return first_kind && second_kind;
}

static bool flush(void) {
  int step;
  while ((step = flush_step(rt)) > 0) {}
  return step == 0;
}

static lgt_id in_flight(int kind) {
  lgt_id made = vector(LARGE);
  int before = atomic_load(&held);
  if (launch(rt, kind, 1, made) || !flush()) return 0;
  for (int i = 0; atomic_load(&fail) && atomic_load(&held) == before && i < 5000; i++) usleep(1000);
  return made;
}

/* Two vectors that are being made; if they fail, neither has yet. */
static bool make_both(bool they_fail, lgt_id *a, lgt_id *b) {
  atomic_store(&fail, they_fail);
  atomic_store(&held, 0);
  for (int i = 0; i < 2; i++) atomic_store(&let_go[i], 0);
  *a = in_flight(first_kind);
  *b = in_flight(second_kind);
  return *a && *b && atomic_load(&held) == 2 * they_fail;
}

/* t = a + b, which is elided and held; y = t + 3. */
static bool leave_recipe(lgt_id *a, lgt_id *b, lgt_id *t, lgt_id *y) {
  int sum = kind_of(rt, LGT_FLOAT64, "a1 a2 add =0"), more = kind_of(rt, LGT_FLOAT64, "a1 c3 add =0");
  for (int i = 0; i < 2; i++) { /* a plan that elides is made while nobody holds t */
    if (!make_both(i, a, b)) return false;
    *t = vector(LARGE), *y = vector(LARGE);
    if (launch(rt, sum, 3, *t, *a, *b) || launch(rt, more, 2, *y, *t)) return false;
    if (i == 0) lgt_array_free(rt, *t);
    if (i == 0 ? lgt_fence(rt) != LGT_OK : !flush()) return false;
  }
  return store_of(*t)->recipe;
}

/* The second one has failed, and that is known. */
static bool second_fails(lgt_id b) {
  atomic_store(&let_go[1], 1);
  for (int i = 0; !lgt_poison_of(&rt->binder, store_of(b)) && i < 5000; i++) {
    usleep(1000);
    lgt_job_retire(&rt->binder, false);
  }
  return lgt_poison_of(&rt->binder, store_of(b));
}

static void *let_first_go(void *unused) {
  usleep(100000); /* somebody waits for it */
  atomic_store(&let_go[0], 1);
  return unused;
}

/* What a look at so many elements raises while the first one is in flight. */
static const char *look_meanwhile(lgt_id x, int64_t n) {
  static double got[LARGE];
  pthread_t thread;
  lgt_id part = slice_of(rt, x, 0, 0, n, 1);
  if (pthread_create(&thread, NULL, let_first_go, NULL)) return "no thread";
  const char *text = lgt_array_copy_out(rt, part, got) ? lgt_message() : "";
  pthread_join(thread, NULL);
  return text;
}

TEST(what_is_launched_when_the_second_failure_is_known_has_the_first) {
  for (int which = 0; which < 2; which++) {
    lgt_id a, b, y = 0;
    CHECK(begin_in_flight(which) && make_both(true, &a, &b) && second_fails(b));
    y = vector(LARGE);
    CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 a2 add =0"), 3, y, a, b));
    CHECK_HAS(look_meanwhile(y, LARGE), "the first one");
    lgt_close(rt);
  }
}

TEST(what_is_not_stored_when_the_second_failure_is_known_has_the_first) {
  for (int which = 0; which < 2; which++) {
    lgt_id a, b, t, y;
    CHECK(begin_in_flight(which) && leave_recipe(&a, &b, &t, &y) && second_fails(b));
    CHECK_HAS(look_meanwhile(t, LARGE), "the first one");
    CHECK_HAS(look_meanwhile(y, LARGE), "the first one");
    lgt_close(rt);
  }
}

/* ... also where nobody needs what fails. */
TEST(what_is_not_stored_fails_as_a_whole) {
  for (int which = 0; which < 2; which++) {
    lgt_id a, b, t, y;
    CHECK(begin_in_flight(which) && leave_recipe(&a, &b, &t, &y));
    atomic_store(&let_go[1], 1);
    CHECK_HAS(look_meanwhile(t, 10), "the first one");
    CHECK_HAS(look_meanwhile(t, LARGE), "the first one");
    lgt_close(rt);
  }
}

int main(void) {
  RUN(a_failure_spreads_to_what_is_computed_from_it);
  RUN(an_overwrite_ends_a_failure);
  RUN(a_fence_reports_what_nobody_has_seen);
  RUN(failures_of_one_group_count_as_one);
  RUN(a_late_failure_goes_through_recent_groups);
  RUN(what_is_launched_when_the_second_failure_is_known_has_the_first);
  RUN(what_is_not_stored_when_the_second_failure_is_known_has_the_first);
  RUN(what_is_not_stored_fails_as_a_whole);
  return check_done();
}
