/* test_ahead.c - tasks that begin before all has come that they read.
 *
 * This is rank 0 of two; the other one is played by two functions, which hold each message back until the elements that do
 * not need it have been computed.
 */
#include "bind/ahead.h"

#include "fusion.h"

enum { LENGTH = 400000, SHORT = 20000, POLLS = 100000 };

static lgt_id x, y, result;
static int neighbours;
static int64_t length;

/* A message that has not come yet; its first element counts. */
static struct incoming {
  double *data;
  int polls;
} incoming[64];
static int nincoming, patience;
static int late;        /* how many came although nothing was computed in all that time */
static int broken;      /* so many of the first come without contents */
static double computed; /* element 1000 of the result, when it has been */
static bool too_late;   /* a message was not even expected before that */

static lgt_instance *instance_of(lgt_id array) {
  const lgt_store *store = store_of(array);
  return store->replica ? store->replica[0].inst : NULL;
}

__attribute__((no_sanitize_thread)) static bool was_computed(void) {
  const lgt_instance *inst = instance_of(result);
  return inst && ((volatile double *)inst->data)[1000] == computed;
}

static lgt_pending *expect(lgt_peers *p, int peer, uint64_t tag, void *data, size_t bytes) {
  (void)p, (void)peer, (void)tag, (void)bytes;
  struct incoming *m = &incoming[nincoming++ % 64];
  *m = (struct incoming){data, 0};
  too_late |= was_computed();
  return (lgt_pending *)m;
}

static bool has_come(lgt_peers *p, lgt_pending *pending, bool *intact) {
  (void)p;
  struct incoming *m = (struct incoming *)pending;
  *intact = true;
  if (m < incoming || m >= incoming + 64) return true;
  bool ran = was_computed();
  if (!ran && ++m->polls < patience) return false;
  late += !ran;
  *m->data = 7;
  *intact = m - incoming >= broken;
  return true;
}

/* x has the numbers from 0 on, y zeros; both are cut in two. */
static bool begin_with(const char *cpus, int64_t n, const char *overlap) {
  if (open_with(&rt, "cpus", cpus, "pretend_ranks", "2", "check", "1", "min_tile", "1", "skew", "0", "widen",
                "0", "overlap", overlap, NULL))
    return false;
  length = n;
  rt->binder.dry = false;
  rt->pretended->recv = expect;
  rt->pretended->done = has_come;
  nincoming = late = 0;
  patience = POLLS;
  too_late = false;
  broken = 0;
  x = vector(length);
  y = vector(length);
  neighbours = kind_of(rt, LGT_FLOAT64, "a1 a2 add =0");
  int count = kind_of(rt, LGT_FLOAT64, "i0 cast:float64 =0"), zero = kind_of(rt, LGT_FLOAT64, "c0 =0");
  return !launch(rt, count, 1, x) && !launch(rt, zero, 1, y) && !lgt_fence(rt);
}

static bool begin(const char *cpus) { return begin_with(cpus, LENGTH, "20"); }

/* Each inner element of `to` becomes the sum of the two beside it in `from`. */
static bool add_neighbours(lgt_id to, lgt_id from, double at_1000) {
  lgt_id inner = slice_of(rt, to, 0, 1, length - 2, 1), below = slice_of(rt, from, 0, 0, length - 2, 1),
         above = slice_of(rt, from, 0, 2, length - 2, 1);
  result = to;
  computed = at_1000;
  bool good = !launch(rt, neighbours, 3, inner, below, above) && !lgt_fence(rt);
  lgt_array_free(rt, inner);
  lgt_array_free(rt, below);
  lgt_array_free(rt, above);
  return good;
}

static bool is_right(int64_t first, int64_t last) {
  const lgt_instance *inst = instance_of(y);
  bool right = inst && inst->rect.lo[0] == 0 && inst->rect.hi[0] > last;
  for (int64_t i = first; i < last && right; i++) right = ((double *)inst->data)[i] == (double)(2 * i);
  return right && ((double *)inst->data)[last] == (double)(last - 1 + 7); /* what came, instead of last + 1 */
}

static void runs_ahead(const char *cpus) {
  CHECK(begin(cpus));
  CHECK(add_neighbours(y, x, 2000));
  CHECK_EQ(nincoming, 1);
  CHECK_EQ(late, 0);
  CHECK_EQ(rt->binder.ahead_tasks, 1);
  CHECK(is_right(1, LENGTH / 2 - 1));
  CHECK(add_neighbours(y, x, 2000)); /* again, when nothing is missing any more */
  CHECK_EQ(nincoming, 1);
  CHECK_EQ(rt->binder.ahead_tasks, 1);
  CHECK(is_right(1, LENGTH / 2 - 1));
  lgt_close(rt);
}
TEST(what_needs_no_message_is_computed_before_it_comes) { runs_ahead("1"); }
TEST(and_by_several_threads) { runs_ahead("3"); }

/* The elements that were computed first fail with the others. */
TEST(a_message_without_contents_fails_all_of_the_task) {
  CHECK(begin("1"));
  broken = 1;
  CHECK(add_neighbours(y, x, 2000)); /* the other rank does not say that anything has failed */
  CHECK_EQ(late, 0);
  CHECK(instance_of(y)->failure != NULL);
  lgt_close(rt);
}

/* Nor do elements fail that are overwritten when the message was to have come. */
TEST(a_message_without_contents_fails_nothing_else) {
  CHECK(begin("1"));
  broken = 1;
  int zero = kind_of(rt, LGT_FLOAT64, "c0 =0"), copy = kind_of(rt, LGT_FLOAT64, "a1 =0");
  lgt_id zeros = vector(LENGTH), inner = slice_of(rt, y, 0, 1, LENGTH - 2, 1),
         below = slice_of(rt, x, 0, 0, LENGTH - 2, 1), above = slice_of(rt, x, 0, 2, LENGTH - 2, 1);
  result = y;
  computed = 2000;
  CHECK(!launch(rt, neighbours, 3, inner, below, above) && !launch(rt, zero, 1, zeros));
  CHECK(!launch(rt, copy, 2, x, zeros) && !lgt_fence(rt)); /* in place */
  CHECK_EQ(late, 0);
  CHECK_EQ(rt->binder.ahead_tasks, 1);
  CHECK(instance_of(y)->failure && !instance_of(x)->failure);
  lgt_close(rt);
}

/* What has failed before fails all of what is computed from it, although it is overwritten then; nobody knows yet when the tasks
 * are submitted. */
TEST(what_had_failed_fails_both_jobs) {
  CHECK(begin("1"));
  broken = 1;
  int zero = kind_of(rt, LGT_FLOAT64, "c0 =0"), copy = kind_of(rt, LGT_FLOAT64, "a1 =0");
  lgt_id zeros = vector(LENGTH), z = vector(LENGTH - 2);
  lgt_id inner = slice_of(rt, y, 0, 1, LENGTH - 2, 1), below = slice_of(rt, x, 0, 0, LENGTH - 2, 1),
         above = slice_of(rt, x, 0, 2, LENGTH - 2, 1), left = slice_of(rt, y, 0, 0, LENGTH - 2, 1),
         right = slice_of(rt, y, 0, 2, LENGTH - 2, 1);
  CHECK(!launch(rt, zero, 1, z) && !lgt_fence(rt));
  result = y;
  computed = 2000;
  CHECK(!launch(rt, neighbours, 3, inner, below, above) && !launch(rt, neighbours, 3, z, left, right));
  CHECK(!launch(rt, zero, 1, zeros) && !launch(rt, copy, 2, y, zeros) && !lgt_fence(rt)); /* in place */
  CHECK_EQ(nincoming, 2);
  CHECK_EQ(rt->binder.ahead_tasks, 2);
  CHECK(instance_of(z)->failure && !instance_of(y)->failure);
  lgt_close(rt);
}

/* The order in which values are combined is that of the loop's chunks, so a loop that reduces waits. */
TEST(reductions_are_not_cut) {
  CHECK(begin("1"));
  int sum = kind_of(rt, LGT_FLOAT64, "a1 a2 add sum>0");
  lgt_id total = array_of(rt, LGT_FLOAT64, 0, NULL), below = slice_of(rt, x, 0, 0, length - 2, 1),
         above = slice_of(rt, x, 0, 2, length - 2, 1);
  result = y;
  computed = 0; /* whatever the loop does */
  CHECK(!launch(rt, sum, 3, total, below, above) && !lgt_fence(rt));
  CHECK_EQ(nincoming, 1);
  CHECK_EQ(rt->binder.ahead_tasks, 0);
  lgt_close(rt);
}

/* A second job must be worth it: what can be done meanwhile, and the message, both take longer. */
static void expect_ahead(int64_t n, const char *overlap, int64_t expected) {
  CHECK(begin_with("1", n, overlap));
  patience = 1;
  CHECK(add_neighbours(y, x, -1));
  CHECK_EQ(nincoming, 1);
  CHECK_EQ(rt->binder.ahead_tasks, expected);
  lgt_close(rt);
}
TEST(where_that_is_worth_it) {
  expect_ahead(LENGTH, "20", 1);
  expect_ahead(LENGTH, "5", 0);
  expect_ahead(LENGTH, "0", 0);
  expect_ahead(SHORT, "20", 1);
  expect_ahead(SHORT / 10, "20", 0);
}

/* A large message, which else goes to its place at once. */
TEST(messages_are_expected_before) {
  const int64_t n = 1 << 21, far = (1 << 20) / sizeof(double);
  CHECK(begin_with("1", n, "20"));
  lgt_id to = slice_of(rt, y, 0, 0, n - far, 1), near = slice_of(rt, x, 0, 0, n - far, 1),
         behind = slice_of(rt, x, 0, far, n - far, 1);
  result = y;
  computed = (double)(1000 + 1000 + far);
  CHECK(!launch(rt, neighbours, 3, to, near, behind) && !lgt_fence(rt));
  CHECK_EQ(nincoming, 1);
  CHECK_EQ(rt->binder.ahead_tasks, 1);
  CHECK(!late && !too_late);
  lgt_close(rt);
}

/* Two domains of one rank, where nothing comes from elsewhere, as if it did. */
static bool begin_siblings(const char *skew) {
  if (open_with(&rt, "cpus", "1", "domains", "2", "check", "1", "skew", skew, NULL)) return false;
  rt->binder.message_us = 20;
  x = vector(LENGTH);
  y = vector(LENGTH);
  int count = kind_of(rt, LGT_FLOAT64, "i0 cast:float64 =0"), zero = kind_of(rt, LGT_FLOAT64, "c0 =0");
  return !launch(rt, count, 1, x) && !launch(rt, zero, 1, y) && !lgt_fence(rt);
}

static double element(lgt_id array, int64_t i) {
  const lgt_instance *inst = store_of(array)->replica[i >= LENGTH / 2].inst;
  return ((double *)inst->data)[i - inst->rect.lo[0]];
}

/* What the second one doubles, the first one needs as it was. */
TEST(what_siblings_have_yet_to_copy_stays) {
  CHECK(begin_siblings("0"));
  int copy = kind_of(rt, LGT_FLOAT64, "a1 =0"), twice = kind_of(rt, LGT_FLOAT64, "a1 a1 add =0");
  lgt_id from = slice_of(rt, x, 0, 1, LENGTH - 2, 1), to = slice_of(rt, y, 0, 0, LENGTH - 2, 1);
  lgt_id sum = vector(LENGTH);
  int64_t groups = rt->binder.groups;
  CHECK(!launch(rt, copy, 2, to, from) && !launch(rt, twice, 2, sum, x) && !launch(rt, copy, 2, x, sum) &&
        !lgt_fence(rt));
  CHECK_EQ(rt->binder.groups - groups, 1);
  CHECK_EQ(rt->binder.ahead_tasks, 2);
  for (int64_t i = 0; i < LENGTH - 2; i++) CHECK_EQ(element(y, i), i + 1);
  for (int64_t i = 0; i < LENGTH; i++) CHECK_EQ(element(x, i), 2 * i);
  lgt_close(rt);
}

/* Loops of large tiles may follow one another: then they stay together. */
TEST(what_follows_is_not_cut) {
  CHECK(begin_siblings("1M"));
  int copy = kind_of(rt, LGT_FLOAT64, "a1 =0"), twice = kind_of(rt, LGT_FLOAT64, "a1 a1 add =0");
  lgt_id from = slice_of(rt, x, 0, 1, LENGTH - 2, 1), to = slice_of(rt, y, 0, 0, LENGTH - 2, 1);
  CHECK(!launch(rt, copy, 2, to, from) && !launch(rt, twice, 2, x, x) && !lgt_fence(rt));
  CHECK_EQ(rt->binder.ahead_tasks, 0);
  lgt_close(rt);
}

/* The first one reads an element of the new x that it has from the old one. */
TEST(what_is_copied_afterwards_is_not_read_before) {
  CHECK(begin_siblings("0"));
  int copy = kind_of(rt, LGT_FLOAT64, "a1 =0"), twice = kind_of(rt, LGT_FLOAT64, "a1 a1 add =0");
  lgt_id from = slice_of(rt, x, 0, 0, LENGTH - 2, 1), to = slice_of(rt, x, 0, 1, LENGTH - 2, 1);
  int64_t groups = rt->binder.groups;
  CHECK(!launch(rt, copy, 2, to, from) && !launch(rt, twice, 2, y, x) && !lgt_fence(rt));
  CHECK_EQ(rt->binder.groups - groups, 1);
  CHECK_EQ(rt->binder.ahead_tasks, 2);
  for (int64_t i = 1; i < LENGTH - 1; i++) CHECK_EQ(element(y, i), 2 * (i - 1));
  CHECK_EQ(element(y, 0), 0);
  lgt_close(rt);
}

/* A new matrix has the last `kept` rows (dimension 0) or columns of `to`: a copy that comes after what has run ahead. */
static void leave_last(int dim, int kept) {
  enum { ROWS = 2000, COLUMNS = 100 };
  static double got[ROWS * COLUMNS];
  const int64_t shape[] = {ROWS, COLUMNS};
  CHECK(begin_siblings("0"));
  int copy = kind_of(rt, LGT_FLOAT64, "a1 =0"), fill = kind_of(rt, LGT_FLOAT64, "c-1 =0"),
      row = kind_of(rt, LGT_FLOAT64, "i0 cast:float64 =0");
  lgt_id from = array_of(rt, LGT_FLOAT64, 2, shape), to = array_of(rt, LGT_FLOAT64, 2, shape);
  CHECK(!launch(rt, row, 1, from) && !launch(rt, row, 1, to) && !lgt_fence(rt));
  lgt_id made = array_of(rt, LGT_FLOAT64, 2, shape), part = slice_of(rt, made, dim, 0, shape[dim] - kept, 1);
  lgt_id upper = slice_of(rt, to, 0, 0, ROWS - 1, 1), lower = slice_of(rt, from, 0, 1, ROWS - 1, 1);
  int64_t groups = rt->binder.groups;
  CHECK(!launch(rt, copy, 2, made, to) && !launch(rt, fill, 1, part) && !launch(rt, copy, 2, upper, lower) &&
        !lgt_fence(rt));
  CHECK_EQ(rt->binder.groups - groups, 1);
  CHECK_EQ(rt->binder.ahead_tasks, 2);
  CHECK(!lgt_array_copy_out(rt, made, got));
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    int at = dim ? i % COLUMNS : i / COLUMNS;
    CHECK_EQ(got[i], at < shape[dim] - kept ? -1 : i / COLUMNS);
  }
  CHECK(!lgt_array_copy_out(rt, to, got));
  for (int i = 0; i < (ROWS - 1) * COLUMNS; i++) CHECK_EQ(got[i], i / COLUMNS + 1);
  lgt_close(rt);
}
TEST(what_is_copied_afterwards_is_not_overwritten_before) {
  leave_last(0, 10); /* all but for these rows, `to` is overwritten before */
  leave_last(1, 50);
}

/* Turns of a loop, which find plans, exchanges and tasks that an earlier one has made.  In place: a turn reads a version of x,
 * with a halo that is arriving, and writes another one. */
static double have[LENGTH / 2 + 1], next[LENGTH / 2];

static void turns(bool in_place) {
  CHECK(begin("2"));
  for (int i = 0; i < LENGTH / 2; i++) have[i] = i, next[i] = 0;
  for (int t = 0; t < 8; t++) {
    lgt_id from = in_place || t % 2 == 0 ? x : y, to = in_place || t % 2 ? x : y;
    have[LENGTH / 2] = 7;
    if (in_place) next[0] = have[0];
    for (int i = 1; i < LENGTH / 2; i++) next[i] = have[i - 1] + have[i + 1];
    for (int i = 0; i < LENGTH / 2; i++) {
      double former = have[i];
      have[i] = next[i];
      if (!in_place) next[i] = former; /* what the other one holds */
    }
    CHECK(add_neighbours(to, from, have[1000]));
    CHECK_EQ(late, 0);
    const double *got = (const double *)instance_of(to)->data;
    for (int i = 0; i < LENGTH / 2; i++)
      if (got[i] != have[i]) FAIL("turn %d: element %d is %g instead of %g", t, i, got[i], have[i]);
  }
  CHECK_EQ(rt->binder.ahead_tasks, 8);
  CHECK(rt->binder.copied > 0); /* tasks were made from those of earlier turns */
  lgt_close(rt);
}
TEST(so_it_is_turn_after_turn) { turns(false); }
TEST(and_in_place) { turns(true); }

int main(void) {
  RUN(what_needs_no_message_is_computed_before_it_comes);
  RUN(and_by_several_threads);
  RUN(a_message_without_contents_fails_all_of_the_task);
  RUN(a_message_without_contents_fails_nothing_else);
  RUN(what_had_failed_fails_both_jobs);
  RUN(reductions_are_not_cut);
  RUN(where_that_is_worth_it);
  RUN(messages_are_expected_before);
  RUN(what_siblings_have_yet_to_copy_stays);
  RUN(what_follows_is_not_cut);
  RUN(what_is_copied_afterwards_is_not_read_before);
  RUN(what_is_copied_afterwards_is_not_overwritten_before);
  RUN(so_it_is_turn_after_turn);
  RUN(and_in_place);
  return check_done();
}
