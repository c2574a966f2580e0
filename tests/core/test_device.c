/* Devices: the host and an emulated one keep the same contract, and whoever breaks it is found out. */
#include "device/device.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "doubling.h"

enum { N = 1000, LIMIT = 1 << 20 };

static lgt_status over(lgt_device *device, lgt_event *event) {
  lgt_status status;
  while (!device->query(event, &status)) usleep(20);
  return status;
}

static void copy_line(lgt_device *device, lgt_queue *queue, void *to, const void *from, int64_t bytes) {
  CHECK(!device->copy(queue, &(lgt_box){.to = to, .from = from, .bytes = bytes, .count = {1, 1}}));
}

/* There, doubled in another queue that waits for the event, and back. */
static void run_round(lgt_device *device) {
  double from[N], to[N];
  for (int i = 0; i < N; i++) from[i] = i, to[i] = -1;
  lgt_queue *a = device->queue_new(device), *b = device->queue_new(device);
  lgt_event *there = device->event_new(device), *back = device->event_new(device);
  char *p = device->alloc(device, sizeof from);
  CHECK(a && b && there && back && p && (uintptr_t)p % 64 == 0);
  doubling d;
  doubling_of(&d, p, p, N);
  copy_line(device, a, p, from, sizeof from);
  CHECK(!device->record(a, there));
  CHECK(!device->wait(b, there));
  CHECK(!device->launch(b, (lgt_code){LGT_CLASS_HOST, NULL}, &d.nest));
  copy_line(device, b, to, p, sizeof to);
  CHECK(!device->record(b, back));
  CHECK(!over(device, back) && !over(device, there));
  for (int i = 0; i < N; i++) CHECK(to[i] == 2 * from[i]);
  device->free(device, p, sizeof from);
  device->event_free(there);
  device->event_free(back);
  device->queue_free(a);
  device->queue_free(b);
}

/* A box in three dimensions, and a fill. */
static void run_boxes(lgt_device *device) {
  int32_t from[4 * 5 * 6], to[4 * 5 * 6], seven = 7;
  for (int i = 0; i < 120; i++) from[i] = i, to[i] = -1;
  lgt_queue *q = device->queue_new(device);
  lgt_event *e = device->event_new(device);
  char *p = device->alloc(device, sizeof from);
  CHECK(!device->fill(q, p, &seven, 4, 120));
  CHECK(!device->copy(
      q, &(lgt_box){p + 4 * (30 + 6 + 1), (char *)&from[37], 12, {2, 3}, {120, 24}, {120, 24}, NULL, NULL}));
  copy_line(device, q, to, p, sizeof to);
  CHECK(!device->record(q, e) && !over(device, e));
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++)
      for (int k = 0; k < 6; k++) {
        bool inside = i >= 1 && i < 3 && j >= 1 && j < 4 && k >= 1 && k < 4;
        CHECK(to[30 * i + 6 * j + k] == (inside ? 30 * i + 6 * j + k : 7));
      }
  device->free(device, p, sizeof from);
  device->event_free(e);
  device->queue_free(q);
}

TEST(the_host_keeps_the_contract) { run_round(lgt_device_host()); }
TEST(the_host_copies_boxes) { run_boxes(lgt_device_host()); }

TEST(an_emulated_device_keeps_the_contract) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    lgt_device *device = lgt_device_emulate(LIMIT, seed);
    run_round(device);
    device->close(device);
  }
}

TEST(an_emulated_device_copies_boxes) {
  lgt_device *device = lgt_device_emulate(LIMIT, 1);
  run_boxes(device);
  device->close(device);
}

TEST(memory_ends_at_the_limit) {
  lgt_device *device = lgt_device_emulate(LIMIT, 1);
  void *a = device->alloc(device, LIMIT / 2), *b = device->alloc(device, LIMIT / 2);
  CHECK(a && b && !device->alloc(device, 1));
  device->free(device, a, LIMIT / 2);
  CHECK(!device->alloc(device, LIMIT / 2 + 1) && device->alloc(device, LIMIT / 2) == a);
  device->close(device);
}

/* What fails fails what is behind it, up to the event; then all is well again. */
TEST(a_failure_ends_with_the_event) {
  lgt_device *device = lgt_device_emulate(LIMIT, 1);
  lgt_queue *q = device->queue_new(device);
  lgt_event *e = device->event_new(device);
  int64_t one = 1, two = 2, seen = 0;
  char *p = device->alloc(device, 8);
  copy_line(device, q, p, &one, 8);
  CHECK(!device->record(q, e) && !over(device, e));
  lgt_device_fail_at(device, 1);
  copy_line(device, q, &seen, p, 8);
  copy_line(device, q, p, &two, 8);
  CHECK(!device->record(q, e) && over(device, e) == LGT_TASK_FAILED && seen == 0);
  copy_line(device, q, &seen, p, 8);
  CHECK(!device->record(q, e) && !over(device, e) && seen == 1);
  device->event_free(e);
  device->queue_free(q);
  device->close(device);
}

/* Between two devices. */
TEST(devices_copy_from_each_other) {
  lgt_device *a = lgt_device_emulate(LIMIT, 1), *b = lgt_device_emulate(LIMIT, 2);
  lgt_queue *q = b->queue_new(b);
  lgt_event *e = b->event_new(b);
  int64_t one = 1, seen = 0;
  char *p = a->alloc(a, 8), *r = b->alloc(b, 8);
  copy_line(b, q, p, &one, 8);
  copy_line(b, q, r, p, 8);
  copy_line(b, q, &seen, r, 8);
  CHECK(!b->record(q, e) && !over(b, e) && seen == 1);
  b->event_free(e);
  b->queue_free(q);
  a->close(a);
  b->close(b);
}

/* ---- planted mistakes ------------------------------------------------------------------------------- */

/* Does a child that does this die of a signal for bad addresses? */
static bool dies(void (*mistake)(void)) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    mistake();
    _exit(0);
  }
  int status;
  return waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

static void read_on_host(void) {
  lgt_device *device = lgt_device_emulate(LIMIT, 1);
  volatile char *p = device->alloc(device, 64);
  (void)*p;
}

static void copy_to_wrong_memory(void) {
  lgt_device *device = lgt_device_emulate(LIMIT, 1);
  char one[8] = "1234567";
  lgt_box_copy(&(lgt_box){device->alloc(device, 64), one, 8, {1, 1}, {0, 0}, {0, 0}, NULL, NULL});
}

/* A kernel on one device works on the memory of another. */
static void launch_on_wrong_device(void) {
  lgt_device *a = lgt_device_emulate(LIMIT, 1), *b = lgt_device_emulate(LIMIT, 2);
  lgt_queue *q = b->queue_new(b);
  lgt_event *e = b->event_new(b);
  char *p = a->alloc(a, 64);
  doubling d;
  doubling_of(&d, p, p, 8);
  (void)b->launch(q, (lgt_code){LGT_CLASS_HOST, NULL}, &d.nest);
  (void)b->record(q, e);
  over(b, e);
}

TEST(wrong_addresses_are_found) {
  CHECK(dies(read_on_host));
  CHECK(dies(copy_to_wrong_memory));
  CHECK(dies(launch_on_wrong_device));
}

/* Without the event, what another queue does may be seen too early: within a few tries it is. */
static bool seen_too_early(bool told) {
  lgt_device *device = lgt_device_emulate(LIMIT, 7);
  lgt_queue *a = device->queue_new(device), *b = device->queue_new(device);
  lgt_event *there = device->event_new(device), *back = device->event_new(device);
  char *p = device->alloc(device, 8);
  bool early = false;
  for (int64_t i = 1; i <= 500 && !early; i++) {
    int64_t seen = 0;
    copy_line(device, a, p, &i, 8);
    bool good = !device->record(a, there) && !(told && device->wait(b, there));
    copy_line(device, b, &seen, p, 8);
    good = good && !device->record(b, back) && !over(device, back) && !over(device, there);
    early = !good || seen != i;
  }
  device->event_free(there);
  device->event_free(back);
  device->queue_free(a);
  device->queue_free(b);
  device->close(device);
  return early;
}

TEST(a_missing_event_is_found) {
  CHECK(seen_too_early(false));
  CHECK(!seen_too_early(true));
}

int main(void) {
  RUN(the_host_keeps_the_contract);
  RUN(the_host_copies_boxes);
  RUN(an_emulated_device_keeps_the_contract);
  RUN(an_emulated_device_copies_boxes);
  RUN(memory_ends_at_the_limit);
  RUN(a_failure_ends_with_the_event);
  RUN(devices_copy_from_each_other);
  RUN(wrong_addresses_are_found);
  RUN(a_missing_event_is_found);
  return check_done();
}
