/* A GPU, which the emulated driver stands for, keeps the contract of device.h, and each failure of the driver is one of
 * the device: of what was asked, with a message, and nothing hangs.  Kernels are written by hand here. */
#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "core/doubling.h"
#include "kernel/grid.h"

enum { N = 1000, LIMIT = 1 << 20 };

static const char *doubling_text(const lgt_loop *loop) {
  static char text[2048];
  snprintf(
      text, sizeof text,
      ".version 7.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry lgt_kernel(.param .align 16 .b8 p[%d])\n{\n"
      " .reg .b32 %%r<8>;\n .reg .b64 %%rd<12>;\n .reg .f64 %%fd<4>;\n .reg .pred %%p<3>;\n"
      " ld.param.u64 %%rd1, [p+%zu];\n" /* columns */
      " ld.param.u64 %%rd2, [p+%zu];\n ld.param.u64 %%rd3, [p+%zu];\n"
      " mov.u32 %%r1, %%ctaid.x;\n mov.u32 %%r2, %%ntid.x;\n mov.u32 %%r3, %%tid.x;\n"
      " mov.u32 %%r4, %%nctaid.x;\n mad.lo.s32 %%r5, %%r1, %%r2, %%r3;\n mul.lo.s32 %%r6, %%r2, %%r4;\n"
      " cvt.u64.u32 %%rd4, %%r5;\n cvt.u64.u32 %%rd5, %%r6;\n"
      "$again:\n setp.ge.s64 %%p1, %%rd4, %%rd1;\n @%%p1 bra $end;\n"
      " shl.b64 %%rd6, %%rd4, 3;\n add.s64 %%rd7, %%rd2, %%rd6;\n add.s64 %%rd8, %%rd3, %%rd6;\n"
      " ld.global.f64 %%fd1, [%%rd7];\n add.rn.f64 %%fd2, %%fd1, %%fd1;\n st.global.f64 [%%rd8], %%fd2;\n"
      " add.s64 %%rd4, %%rd4, %%rd5;\n bra $again;\n$end:\n ret;\n}\n",
      lgt_grid_param_bytes(loop), offsetof(lgt_grid_head, cols), sizeof(lgt_grid_head),
      sizeof(lgt_grid_head) + 8);
  return text;
}

/* The code of the loop; an error is the status. */
static lgt_status load_doubling(lgt_device *device, const lgt_loop *loop, lgt_code *out) {
  void *image, *handle;
  size_t size;
  lgt_status status = device->target->build(device->target, doubling_text(loop), &image, &size);
  if (status) return status;
  status = device->target->load(device->target, image, &handle);
  lgt_mem_free(image);
  if (!status) *out = (lgt_code){device->class, handle};
  return status;
}

static lgt_device *open_device(int number) {
  lgt_device *device = NULL;
  lgt_status status = lgt_device_offered()->open(number, LIMIT, 1, &device);
  if (status) printf("# %s\n", lgt_message());
  return status ? NULL : device;
}

static lgt_status over(lgt_device *device, lgt_event *event) {
  lgt_status status;
  while (!device->query(event, &status)) usleep(20);
  return status;
}

static lgt_status copy_line(lgt_queue *queue, const lgt_device *there, void *to, const void *from,
                            int64_t bytes, bool up) {
  lgt_box box = {.to = to, .from = from, .bytes = bytes, .count = {1, 1}};
  if (up) box.to_device = there;
  else box.from_device = there;
  return there->copy(queue, &box);
}

/* There, doubled in another queue that waits for the event, and back: the first failure. */
static lgt_status round_trip(lgt_device *device, double *from, double *to, int n) {
  doubling d;
  lgt_code code = {0};
  size_t bytes = (size_t)n * sizeof *from;
  lgt_status status = LGT_OK, late = LGT_OK;
  lgt_queue *a = device->queue_new(device), *b = device->queue_new(device);
  lgt_event *there = device->event_new(device), *back = device->event_new(device);
  char *p = device->alloc(device, bytes);
  bool recorded = false;
  if (!a || !b || !there || !back || !p) status = LGT_TASK_FAILED;
  doubling_of(&d, p, p, n);
  if (!status) status = load_doubling(device, &d.loop, &code);
  if (!status) status = copy_line(a, device, p, from, (int64_t)bytes, true);
  if (!status) status = device->record(a, there);
  if (!status) status = device->wait(b, there);
  if (!status) status = device->launch(b, code, &d.nest);
  if (!status) status = copy_line(b, device, to, p, (int64_t)bytes, false);
  if (!status) recorded = !(status = device->record(b, back));
  if (recorded) late = over(device, back);
  if (recorded) over(device, there);
  if (b) device->queue_free(b);
  if (a) device->queue_free(a);
  if (code.handle) device->target->unload(device->target, code.handle);
  if (p) device->free(device, p, bytes);
  if (there) device->event_free(there);
  if (back) device->event_free(back);
  return status ? status : late;
}

static void fill_line(double *from, double *to) {
  for (int i = 0; i < N; i++) from[i] = i, to[i] = -1;
}

TEST(it_keeps_the_contract) {
  double from[N], to[N];
  lgt_device *device = open_device(0);
  CHECK(device && !device->on_host && device->class == LGT_CLASS_CUDA && device->traits.limit == LIMIT);
  for (int turn = 0; turn < 5; turn++) {
    fill_line(from, to);
    CHECK_EQ(round_trip(device, from, to, N), LGT_OK);
    for (int i = 0; i < N; i++) CHECK(to[i] == 2 * from[i]);
  }
  device->close(device);
}

/* A box in three dimensions, and a fill; planes that the driver cannot copy at once; a plane. */
TEST(it_copies_boxes) {
  int32_t from[4 * 5 * 6], to[4 * 5 * 6], seven = 7;
  lgt_device *device = open_device(0);
  lgt_queue *q = device->queue_new(device);
  lgt_event *e = device->event_new(device);
  char *p = device->alloc(device, sizeof from);
  for (int i = 0; i < 120; i++) from[i] = i, to[i] = -1;
  for (int way = 0; way < 3; way++) {
    lgt_box box = {p + 4 * (30 + 6 + 1), (char *)&from[37], 12, {2, 3}, {120, 24}, {120, 24}, device, NULL};
    if (way == 1) /* the same box with its dimensions exchanged */
      box = (lgt_box){box.to, box.from, 12, {3, 2}, {24, 120}, {24, 120}, device, NULL};
    if (way == 2) /* and backwards */
      box = (lgt_box){box.to + 120, box.from + 120, 12, {2, 3}, {-120, 24}, {-120, 24}, device, NULL};
    CHECK(!device->fill(q, p, &seven, 4, 120));
    CHECK(!device->copy(q, &box));
    CHECK(!copy_line(q, device, to, p, sizeof to, false));
    CHECK(!device->record(q, e) && !over(device, e));
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 5; j++)
        for (int k = 0; k < 6; k++) {
          bool inside = i >= 1 && i < 3 && j >= 1 && j < 4 && k >= 1 && k < 4;
          CHECK(to[30 * i + 6 * j + k] == (inside ? 30 * i + 6 * j + k : 7));
        }
  }
  device->queue_free(q);
  device->free(device, p, sizeof from);
  device->event_free(e);
  device->close(device);
}

/* Copies within the host's memory, behind one from the device. */
TEST(it_copies_on_the_host) {
  int32_t first[30], from[30], to[30], seven = 7;
  lgt_device *device = open_device(0);
  lgt_queue *q = device->queue_new(device);
  lgt_event *e = device->event_new(device);
  char *p = device->alloc(device, sizeof first);
  for (int i = 0; i < 30; i++) first[i] = i, from[i] = to[i] = -1;
  CHECK(!device->fill(q, p, &seven, 4, 30));
  CHECK(!copy_line(q, device, first, p, sizeof first, false));
  CHECK(!device->copy(
      q, &(lgt_box){(char *)from, (char *)first, sizeof from, {1, 1}, {0, 0}, {0, 0}, NULL, NULL}));
  CHECK(!device->copy(q, &(lgt_box){(char *)to, (char *)from, 8, {1, 5}, {0, 24}, {0, 24}, NULL, NULL}));
  CHECK(!device->record(q, e) && !over(device, e));
  for (int i = 0; i < 30; i++) CHECK(from[i] == 7 && to[i] == (i % 6 < 2 ? 7 : -1));
  device->queue_free(q);
  device->free(device, p, sizeof first);
  device->event_free(e);
  device->close(device);
}

/* Larger than the pinned memory, in rows that are apart on both sides, behind many small copies that nobody has asked for. */
TEST(it_copies_in_pieces) {
  enum { ROWS = 3000, ROW = 1500, PITCH = 1600, ALL = ROWS * PITCH, SMALL = 600 };
  lgt_device *device = open_device(0);
  lgt_queue *q = device->queue_new(device), *r = device->queue_new(device);
  lgt_event *e = device->event_new(device), *f = device->event_new(device);
  size_t bytes = ALL * sizeof(int64_t);
  int64_t *from = malloc(bytes), *to = malloc(bytes), small[SMALL], value = 0;
  char *p = device->alloc(device, bytes), *s = device->alloc(device, sizeof small);
  CHECK(p && s && device->staging > 0 && device->staging < ROWS * ROW * 8);
  for (int i = 0; i < ALL; i++) from[i] = i, to[i] = -1;
  for (int64_t i = 0; i < SMALL; i++) {
    small[i] = -1;
    CHECK(!copy_line(r, device, s + 8 * i, &i, 8, true));
  }
  for (int i = 0; i < SMALL; i++) CHECK(!copy_line(r, device, &small[i], s + 8 * i, 8, false));
  CHECK(!device->record(r, f));
  lgt_box box = {p, (char *)from, ROW * 8, {1, ROWS}, {0, PITCH * 8}, {0, PITCH * 8}, device, NULL};
  CHECK(!device->fill(q, p, &value, 4, (int64_t)bytes / 4));
  CHECK(!device->copy(q, &box) && device->staging_waits > 0 && device->staged_bytes > ROWS * ROW * 8);
  memset(from, 0, bytes); /* it was read */
  box = (lgt_box){(char *)to, p, ROW * 8, {1, ROWS}, {0, PITCH * 8}, {0, PITCH * 8}, NULL, device};
  CHECK(!device->copy(q, &box) && !device->record(q, e) && !over(device, e) && !over(device, f));
  for (int i = 0; i < ALL; i++) CHECK(to[i] == (i % PITCH < ROW ? i : -1));
  for (int i = 0; i < SMALL; i++) CHECK(small[i] == i);
  device->queue_free(q);
  device->queue_free(r);
  device->free(device, p, bytes);
  device->free(device, s, sizeof small);
  device->event_free(e);
  device->event_free(f);
  device->close(device);
  free(from);
  free(to);
}

/* Neither the caller nor the device waits for the other one. */
TEST(a_copy_does_not_wait) {
  enum { COUNT = 50000 };
  static double from[COUNT], to[COUNT];
  lgt_device *device = open_device(0);
  lgt_queue *q = device->queue_new(device);
  lgt_event *e = device->event_new(device);
  char *p = device->alloc(device, sizeof from);
  for (int turn = 0; turn < 20; turn++) { /* 8 MiB */
    for (int i = 0; i < COUNT; i++) from[i] = turn + i, to[i] = -1;
    CHECK(!copy_line(q, device, p, from, sizeof from, true));
  }
  CHECK_EQ(device->staging_waits, 0);
  memset(from, 0, sizeof from);
  CHECK(!copy_line(q, device, to, p, sizeof to, false) && !device->record(q, e));
  CHECK(to[COUNT - 1] == -1 && !over(device, e)); /* it arrives when it is asked for */
  for (int i = 0; i < COUNT; i++) CHECK(to[i] == 19 + i);
  device->queue_free(q);
  device->free(device, p, sizeof from);
  device->event_free(e);
  device->close(device);
}

/* Where nothing can be pinned, copies are done all the same. */
TEST(it_works_without_pinned_memory) {
  double from[N], to[N];
  fflush(NULL);
  pid_t child = fork();
  if (!child) {
    setenv("LGT_FAKE_CUDA_PINNED", "1M", 1);
    setenv("LGT_FAKE_CUDA_STRICT", "1", 1);
    lgt_device *device = open_device(0);
    fill_line(from, to);
    bool good = device && !round_trip(device, from, to, N) && device->staging == 0 && !device->staged_bytes;
    for (int i = 0; i < N && good; i++) good = to[i] == 2 * from[i];
    if (device) device->close(device);
    exit(!good);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK_EQ(status, 0);
}

TEST(two_of_them_copy_between) {
  int32_t from[5 * 6], to[5 * 6], zero = 0;
  lgt_device *a = open_device(0), *b = open_device(1);
  for (int i = 0; i < 30; i++) from[i] = i, to[i] = -1;
  lgt_queue *q = a->queue_new(a), *r = b->queue_new(b);
  lgt_event *e = a->event_new(a), *f = b->event_new(b), *g = a->event_new(a);
  char *p = a->alloc(a, sizeof from), *s = b->alloc(b, sizeof from);
  CHECK(!b->fill(r, s, &zero, 4, 30) && !b->record(r, f) && !over(b, f));
  CHECK(!copy_line(q, a, p, from, sizeof from, true) && !a->record(q, e) && !over(a, e));
  CHECK(!b->copy(r, &(lgt_box){s + 28, p + 28, 12, {1, 3}, {0, 24}, {0, 24}, b, a}));
  CHECK(!b->copy(r, &(lgt_box){s, p, 4, {1, 1}, {0, 0}, {0, 0}, b, a}));
  CHECK(!copy_line(r, b, to, s, sizeof to, false) && !b->record(r, f) && !over(b, f));
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 6; j++) {
      bool inside = i >= 1 && i < 4 && j >= 1 && j < 4;
      CHECK_EQ(to[6 * i + j], inside ? 6 * i + j : 0);
    }
  CHECK(!a->record(q, g) && !over(a, g));
  a->queue_free(q);
  b->queue_free(r);
  a->free(a, p, sizeof from);
  b->free(b, s, sizeof from);
  a->event_free(e);
  b->event_free(f);
  a->event_free(g);
  a->close(a);
  b->close(b);
}

TEST(a_text_that_is_wrong_is_refused) {
  lgt_device *device = open_device(0);
  void *image;
  size_t size;
  CHECK(device->target->build(device->target, "this is no text\n", &image, &size));
  CHECK(strstr(lgt_message(), "CUDA_ERROR_INVALID_PTX") || strstr(lgt_message(), "cuLink"));
  device->close(device);
}

/* ---- each call of the driver fails once --------------------------------------------------------------- */

enum { RIGHT = 10, REFUSED, WRONG, SILENT, LEAKED };

/* The n-th call of a function fails, or of any: in a process of its own, since the driver reads its environment once. */
static int outcome(const char *name, int n) {
  fflush(NULL);
  pid_t child = fork();
  if (!child) {
    char text[64];
    int64_t live = lgt_mem_live();
    double from[N], to[N];
    lgt_device *device = NULL;
    snprintf(text, sizeof text, "%s:%d", name, n);
    setenv("LGT_FAKE_CUDA_FAIL", text, 1);
    fill_line(from, to);
    int failures = 0;
    bool right = true;
    lgt_status status = lgt_device_offered()->open(0, LIMIT, 1, &device);
    failures += status != LGT_OK;
    for (int turn = 0; turn < 2 && device; turn++) {
      fill_line(from, to);
      lgt_err(LGT_OK, "%s", "");
      if ((status = round_trip(device, from, to, N))) failures++;
      for (int i = 0; i < N && !status; i++) right &= to[i] == 2 * from[i];
      if (status && !*lgt_message()) _exit(SILENT);
    }
    if (device) device->close(device);
    _exit(!right || failures > 1  ? WRONG
          : lgt_mem_live() > live ? LEAKED
          : failures              ? REFUSED
                                  : RIGHT); /* what fails once does not fail again */
  }
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void fail_each(const char *name, int calls) {
  int refused = 0, right = 0;
  for (int n = 1; n <= calls; n++) {
    int found = outcome(name, n);
    if (found != RIGHT && found != REFUSED)
      printf("# call %d of %s: outcome %d\n", n, *name ? name : "all", found);
    CHECK(found == RIGHT || found == REFUSED);
    refused += found == REFUSED;
    right += found == RIGHT;
  }
  CHECK(refused > 20 && right > 20); /* before the end, and behind it */
}

TEST(each_call_may_fail) { fail_each("", 150); }

/* Which none of those is. */
TEST(a_device_may_not_be_entered) { fail_each("cuCtxSetCurrent", 160); }

int main(void) {
  /* Before the driver is initialised here: children cannot use it afterwards. */
  RUN(each_call_may_fail);
  RUN(a_device_may_not_be_entered);
  RUN(it_works_without_pinned_memory);
  setenv("LGT_FAKE_CUDA_DEVICES", "2", 1);
  setenv("LGT_FAKE_CUDA_STRICT", "1", 1);
  RUN(it_keeps_the_contract);
  RUN(it_copies_boxes);
  RUN(it_copies_on_the_host);
  RUN(it_copies_in_pieces);
  RUN(a_copy_does_not_wait);
  RUN(two_of_them_copy_between);
  RUN(a_text_that_is_wrong_is_refused);
  return check_done();
}
