/* test_small.c - small messages of exchanges that repeat.  The other rank is played by two functions. */
#include "move/small.h"

#include "fusion.h"

enum { MANY = 1 << 18, WARM = 6 };
static const double THEIRS = 7; /* the element that the other rank sends */

static double last_sent;
static int sends, receives, turned;

static lgt_pending *catch_sent(lgt_peers *p, int peer, uint64_t tag, const void *data, size_t bytes) {
  (void)peer, (void)tag;
  if (bytes == sizeof last_sent) memcpy(&last_sent, data, sizeof last_sent), sends++;
  return (lgt_pending *)p; /* done at once, whatever it is */
}

static lgt_pending *give_theirs(lgt_peers *p, int peer, uint64_t tag, void *data, size_t bytes) {
  (void)peer, (void)tag;
  if (bytes == sizeof THEIRS) memcpy(data, &THEIRS, sizeof THEIRS), receives++;
  return (lgt_pending *)p;
}

/* x and y are cut in two; a turn adds neighbours of x into y, and makes x anew of y. */
static lgt_id x, y, inner, below, above;
static int add, scale;
static int64_t n;
static double *wanted_x, *wanted_y; /* of this rank's half, and of the element behind it */

static bool begin(int64_t elements, const char *check) {
  if (open_with(&rt, "cpus", "1", "min_tile", "1", "pretend_ranks", "2", "overlap", "0", "check", check,
                NULL))
    return false;
  rt->pretended->send = catch_sent;
  rt->pretended->recv = give_theirs;
  rt->binder.dry = false;
  n = elements;
  sends = receives = turned = 0;
  x = vector(n), y = vector(n);
  double *zeros = calloc((size_t)n, sizeof *zeros);
  wanted_x = calloc((size_t)n, sizeof *zeros), wanted_y = calloc((size_t)n, sizeof *zeros);
  for (int64_t i = 0; i < n; i++) wanted_x[i] = (double)(i % 5);
  bool good = !lgt_array_copy_in(rt, y, zeros) && !lgt_array_copy_in(rt, x, wanted_x);
  free(zeros);
  inner = slice_of(rt, y, 0, 1, n - 2, 1);
  below = slice_of(rt, x, 0, 0, n - 2, 1);
  above = slice_of(rt, x, 0, 2, n - 2, 1);
  add = kind_of(rt, LGT_FLOAT64, "a1 a2 add =0");
  scale = kind_of(rt, LGT_FLOAT64, "a1 c0.75 mul =0");
  return good && inner && below && above;
}

static void end(void) {
  free(wanted_x);
  free(wanted_y);
  lgt_close(rt);
}

/* What it sends is the last element of this rank's half as it was before. */
static bool turn(bool wait, double *sent) {
  *sent = wanted_x[n / 2 - 1];
  if (turned++) wanted_x[n / 2] = THEIRS; /* the first time all have all of x */
  for (int64_t i = 1; i < n / 2; i++) wanted_y[i] = wanted_x[i - 1] + wanted_x[i + 1];
  for (int64_t i = 0; i < n / 2; i++) wanted_x[i] = 0.75 * wanted_y[i];
  memset(rt->fuser.by_form, 0, LGT_FORMS * sizeof *rt->fuser.by_form); /* shifted plans are not recorded */
  if (launch(rt, add, 3, inner, below, above) || lgt_flush(rt)) return false;
  return !launch(rt, scale, 2, x, y) && !(wait ? lgt_fence(rt) : lgt_flush(rt));
}

/* Turns that replay, each of which ends before the next one; `jobs`: how many in each there are besides the tasks and what is
 * received. */
static bool turns(int count, int64_t *jobs) {
  lgt_binder *b = &rt->binder;
  double sent;
  for (int i = 0; i < count; i++) {
    int64_t before = b->jobs - b->tasks, replayed = b->exchanged[LGT_EXCHANGES_REPLAYED];
    sends = receives = 0;
    if (!turn(true, &sent)) return false;
    if (sends != 1 || receives != 1 || last_sent != sent) return false;
    if (b->exchanged[LGT_EXCHANGES_REPLAYED] < replayed + 2) return false;
    *jobs = b->jobs - b->tasks - before - receives;
  }
  return true;
}

static bool warm(void) {
  double sent;
  bool good = true;
  for (int i = 0; i < WARM && good; i++) good = turn(true, &sent) && last_sent == (sends ? sent : last_sent);
  return good && sends > 1;
}

TEST(what_has_come_about_is_sent_without_a_task) {
  for (int check = 0; check < 2; check++) {
    int64_t jobs = -1;
    CHECK(begin(N, check ? "1" : "0") && warm());
    CHECK(turns(5, &jobs));
    CHECK_EQ(jobs, 1); /* for what the ranks agree on at a fence */
    end();
  }
}

TEST(what_is_still_computed_is_sent_by_a_task) {
  int64_t jobs = -1;
  CHECK(begin(MANY, "0") && warm());
  double sent;
  for (int i = 0; i < 5; i++) {
    sends = 0;
    CHECK(turn(false, &sent)); /* x is in flight */
    int64_t before = rt->binder.jobs - rt->binder.tasks;
    CHECK(turn(false, &sent));
    jobs = rt->binder.jobs - rt->binder.tasks - before;
    CHECK(!lgt_fence(rt));
    CHECK_EQ(sends, 2);
    CHECK(last_sent == sent);
    CHECK_EQ(jobs, 2); /* what is sent, and what is received */
  }
  end();
}

int main(void) {
  RUN(what_has_come_about_is_sent_without_a_task);
  RUN(what_is_still_computed_is_sent_by_a_task);
  return check_done();
}
