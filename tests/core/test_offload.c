/* test_offload.c - tasks that emulated devices do are handed over before those they wait for are done. */
#include "move/offload.h"

#include <unistd.h>

#include "fusion.h"

enum { CHAIN = 12 };

/* Each launch is a task of its own. */
static void open_devices(const char *count) {
  if (open_with(&rt, "cpus", "1", "check", "1", "fusion", "0", "min_tile", "1", "emulate", count, NULL))
    check_fail(__FILE__, __LINE__, "%s", lgt_message());
}

static lgt_device *device(int n) { return rt->map.memory[1 + n].device; }
static void hold(bool on) {
  for (int m = 1; m < rt->map.nmemory; m++) lgt_device_hold(rt->map.memory[m].device, on);
}

static int in_queues(void) {
  int n = 0;
  for (const lgt_job *job = rt->binder.first; job; job = job->next) n += job->task.enqueued;
  return n;
}

static lgt_id apply_now(const char *text, lgt_id a, lgt_id b) {
  lgt_id out = apply(text, a, b);
  return lgt_flush(rt) ? 0 : out;
}

/* The script goes on while the first task has not begun. */
static void run_held(const char *devices) {
  open_devices(devices);
  hold(true);
  lgt_id x = filled(N, 1, 0);
  for (int i = 0; i < CHAIN; i++) x = apply_now("a1 c1 add =0", x, 0);
  CHECK(x && rt->binder.njob >= CHAIN);
  CHECK_EQ(in_queues(), rt->binder.njob);
  hold(false);
  CHECK(value_at(x, 0) == CHAIN && value_at(x, N - 1) == N - 1 + CHAIN);
  lgt_close(rt);
}
TEST(nothing_waits_for_a_queue_that_is_held) { run_held("1"); }
TEST(nothing_waits_for_several_devices) { run_held("3"); }

/* Nor for the memory that tasks in queues have, however large their arrays are. */
TEST(nothing_waits_for_memory_in_a_queue) {
  enum { LONG = 5 << 20, SECONDS = 60 };
  open_devices("1");
  lgt_id x = vector(LONG), last;
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "i0 cast =0"), 1, x) && !lgt_fence(rt));
  hold(true);
  alarm(SECONDS); /* else it would wait for ever */
  for (int i = 0; i < 3; i++) x = apply_now("a1 c1 add =0", x, 0);
  CHECK_EQ(in_queues(), 3);
  alarm(0);
  hold(false);
  last = slice_of(rt, x, 0, LONG - 1, 1, 1);
  CHECK(value_at(last, 0) == LONG + 2);
  lgt_close(rt);
}

/* A queue that has been told to wait for a job need not be told again, nor for one before it. */
TEST(queues_wait_once) {
  open_devices("1");
  hold(true);
  lgt_id x = filled(N, 1, 0), y = apply_now("a1 c1 add =0", x, 0), z = apply_now("a1 a2 add =0", x, y);
  CHECK_EQ(stat_of(rt, "queue_waits"), 1);
  hold(false);
  CHECK(value_at(z, 3) == 7);
  lgt_close(rt);
}

/* What fails fails what is computed from it, though that was in its queue already; what overwrites it is right. */
TEST(failures_pass_from_one_to_the_next) {
  int failed = 0;
  for (int n = 1; n <= CHAIN; n++) {
    open_devices("1");
    lgt_id x = apply_now("a1 c1 add =0", filled(N, 1, 0), 0), other = apply_now("a1 c2 mul =0", x, 0);
    CHECK(!lgt_fence(rt));
    hold(true);
    lgt_device_fail_at(device(0), n);
    lgt_id a = apply_now("a1 c1 add =0", x, 0), b = apply_now("a1 c1 add =0", a, 0),
           c = apply_now("a1 c1 add =0", b, 0);
    CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0"), 2, x, other) && !lgt_flush(rt));
    CHECK(in_queues() == rt->binder.njob);
    hold(false);
    (void)lgt_fence(rt);
    lgt_device_fail_at(device(0), 0);
    double value[] = {value_at(a, 5), value_at(b, 5), value_at(c, 5), value_at(x, 5)},
           right[] = {7, 8, 9, 24};
    for (int i = 0; i < 4; i++) {
      bool fails = n == i + 1 || (i < 3 && n <= i);
      CHECK(fails ? isnan(value[i]) : value[i] == right[i]);
      failed += fails;
    }
    (void)lgt_fence(rt);
    lgt_close(rt);
  }
  CHECK_EQ(failed, 3 + 2 + 1 + 1);
}

static lgt_status refuses(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                          int64_t hi) {
  (void)tiles, (void)nargs, (void)params, (void)lo, (void)hi;
  return lgt_err(LGT_TASK_FAILED, "refused");
}

static int told; /* ends of jobs that were asked for */
static void tell(lgt_event *event) { told += event != NULL; }

/* A task that failed before it was put into its queue is over when the one before it is: that end is told of. */
TEST(an_end_is_told_of_for_what_has_failed) {
  open_devices("1");
  lgt_id bad = filled(N, 1, 0), x = apply_now("a1 c1 add =0", filled(N, 1, 0), 0);
  CHECK(!lgt_fence(rt));
  CHECK(!launch(rt, native_kind(rt, "refuses", "w", "align(0.0)", refuses), 1, bad));
  (void)lgt_flush(rt);
  hold(true);
  device(0)->alert = tell;
  lgt_id y = apply_now("a1 c1 add =0", x, 0);
  CHECK(y && apply_now("a1 a2 add =0", y, bad));
  while (lgt_exec_help(rt->exec)) continue;
  const lgt_lane *lane = &rt->binder.lane[LGT_QUEUE_KERNELS];
  CHECK(lane->last && lane->first != lane->last && !lane->last->offload->recorded && !told);
  rt->binder.offload.alert(rt->binder.offload.context, &lane->last->task);
  CHECK_EQ(told, 1);
  hold(false);
  (void)lgt_fence(rt);
  lgt_close(rt);
}

/* A chain in a queue that is held: what each task reads dies with it, and the one after the next writes there, behind it.
 * `backwards`: each reads the last element first, or it could write over what it reads. */
static void hand_over(const char *devices, bool backwards) {
  open_devices(devices);
  lgt_id x = filled(N, 1, 0), y = apply_now("a1 c1 add =0", x, 0);
  CHECK(y && !lgt_fence(rt));
  hold(true);
  for (int i = 1; i < CHAIN; i++) {
    lgt_id read = slice_of(rt, y, 0, backwards ? N - 1 : 0, N, backwards ? -1 : 1);
    lgt_array_free(rt, y);
    y = apply_drop("a1 c1 add =0", read, 0);
    CHECK(y && !lgt_flush(rt));
  }
  CHECK(in_queues() >= CHAIN - 1);
  CHECK_EQ(in_queues(), rt->binder.njob);
  CHECK(stat_of(rt, "bytes_handed_over") >= (CHAIN - 4) * N * 8);
  CHECK(stat_of(rt, "bytes_peak") < 6 * N * 8);
  hold(false);
  int first =
      backwards && (CHAIN - 1) % 2 ? N - 1 : 0; /* where the first element of x is after so many turns */
  CHECK(value_at(y, first) == CHAIN && value_at(y, N - 1 - first) == N - 1 + CHAIN && value_at(x, 7) == 7);
  lgt_close(rt);
}
TEST(memory_is_handed_over) { hand_over("1", true); }
TEST(memory_of_several_devices_is_handed_over) { hand_over("3", false); }

/* Each device reduces, and the first one folds, while all of them are held: nothing waits for the host, and nothing is copied
 * there but the numbers that are looked at.  In any other order than that of the devices the sum is 0 or 2. */
TEST(folds_are_tasks_of_a_device) {
  open_devices("4");
  double values[4] = {1e16, 1, -1e16, 1}, former = 8;
  lgt_id x = vector(4), sum = array_of(rt, LGT_FLOAT64, 0, NULL), most = array_of(rt, LGT_FLOAT64, 0, NULL),
         place = array_of(rt, LGT_INT64, 0, NULL), kept = array_of(rt, LGT_FLOAT64, 0, NULL);
  CHECK(!lgt_array_copy_in(rt, x, values) && !lgt_array_copy_in(rt, kept, &former));
  x = apply_now("a1 c1 mul =0", x, 0);
  lgt_id old = apply_now("a1 c1 mul =0", kept, 0);
  CHECK(x && old && !lgt_fence(rt));
  int64_t up = stat_of(rt, "copies_to_devices"), down = stat_of(rt, "copies_from_devices");
  hold(true);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 sum>0"), 2, sum, x) && !lgt_flush(rt));
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a2 i0 argmax>0"), 3, most, place, x) && !lgt_flush(rt));
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 prod+>0"), 2, old, x) && !lgt_flush(rt));
  lgt_id next = apply_now("a1 c1 add =0", sum, 0);
  CHECK(next && rt->binder.njob > 12);
  CHECK_EQ(in_queues(), rt->binder.njob);
  hold(false);
  CHECK(value_at(next, 0) == 2 && value_at(sum, 0) == 1 && value_at(most, 0) == 1e16 &&
        value_at(old, 0) == -8e32);
  int64_t at = -1;
  CHECK(!lgt_array_copy_out(rt, place, &at));
  CHECK_EQ(at, 0);
  CHECK_EQ(stat_of(rt, "copies_to_devices"), up);
  CHECK_EQ(stat_of(rt, "copies_from_devices") - down, 5);
  CHECK_EQ(stat_of(rt, "groups_on_host"), 0);
  lgt_close(rt);
}

int main(void) {
  RUN(nothing_waits_for_a_queue_that_is_held);
  RUN(nothing_waits_for_several_devices);
  RUN(nothing_waits_for_memory_in_a_queue);
  RUN(queues_wait_once);
  RUN(failures_pass_from_one_to_the_next);
  RUN(an_end_is_told_of_for_what_has_failed);
  RUN(memory_is_handed_over);
  RUN(memory_of_several_devices_is_handed_over);
  RUN(folds_are_tasks_of_a_device);
  return check_done();
}
