/* test_fold_nest.c - what is folded by a nest has the bits that lgt_redop_fold gives it, on the host and on a device. */
#include "kernel/fold_nest.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "device/device.h"

enum { N = 40, ROOM = 3 * N * 16 };

static bool keeps_positions(int redop) { return redop == LGT_REDOP_ARGMIN || redop == LGT_REDOP_ARGMAX; }

static bool takes(int redop, int dtype) {
#define X(NAME, name, classes) classes,
  static const char *const of[] = {LGT_REDOP_LIST(X)};
#undef X
  return strchr(of[redop], lgt_dtype_class(dtype)) && !lgt_dtype_is_pair(dtype);
}

/* Small numbers, so that many are equal; of floats also NaN, infinities, and both zeros. */
static void draw(int dtype, char *data, int n, unsigned *seed) {
  static const double strange[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0};
  for (int i = 0; i < n; i++) {
    *seed = *seed * 1664525 + 1013904223;
    int x = (int)(*seed >> 24) % 7 - 3;
    lgt_scalar value = {.range = {0, 0}};
    if (lgt_dtype_is_float(dtype)) value.f = *seed >> 12 & 1 ? strange[(*seed >> 16) % 5] : x * 1.1;
    else value.i = dtype == LGT_BOOL ? x > 0 : x;
    lgt_dtype_store(dtype, data + i * lgt_dtype_size(dtype), value);
  }
}

/* Elements of which every `step`-th counts. */
static lgt_tile spread(void *data, int dtype, int step) {
  lgt_tile t = {.data = data, .ndim = 1, .dtype = dtype, .extent = {N}};
  t.stride[0] = (int64_t)step * lgt_dtype_size(dtype);
  return t;
}

static lgt_status over(lgt_device *device, lgt_event *event) {
  lgt_status status;
  while (!device->query(event, &status)) usleep(20);
  return status;
}

typedef struct arrays {
  char to[ROOM], from[ROOM];
  int64_t to_at[3 * N], from_at[3 * N];
} arrays;

/* The device has a copy of the arrays, folds there, and gives them back. */
static void fold_there(lgt_device *device, int redop, int dtype, bool identity, arrays *a) {
  lgt_queue *queue = device->queue_new(device);
  lgt_event *event = device->event_new(device);
  arrays *there = device->alloc(device, sizeof *there);
  lgt_tile to = spread(there->to, dtype, 3), from = spread(there->from, dtype, 1),
           to_at = spread(there->to_at, LGT_INT64, 1), from_at = spread(there->from_at, LGT_INT64, 2);
  lgt_fold_tiles tiles = {.to = &to, .from = identity ? NULL : &from};
  if (keeps_positions(redop)) tiles.to_at = &to_at, tiles.from_at = identity ? NULL : &from_at;
  lgt_fold_nest fold;
  lgt_fold_nest_make(&fold, redop, dtype, &tiles, 2);
  lgt_box box = {.to = (char *)there, .from = (char *)a, .bytes = sizeof *a, .count = {1, 1}};
  CHECK(!device->copy(queue, &box));
  CHECK(!device->launch(queue, (lgt_code){LGT_CLASS_HOST, NULL}, &fold.nest));
  box.to = (char *)a, box.from = (char *)there;
  CHECK(!device->copy(queue, &box) && !device->record(queue, event) && !over(device, event));
  device->free(device, there, sizeof *there);
  device->event_free(event);
  device->queue_free(queue);
}

static void expect(int redop, int dtype, bool identity, arrays *a) {
  int size = lgt_dtype_size(dtype);
  bool at = keeps_positions(redop);
  for (int i = 0; i < N; i++) {
    char *to = a->to + 3 * i * size;
    if (identity) lgt_redop_fill(redop, dtype, to, 1);
    else
      lgt_redop_fold(redop, dtype, to, at ? &a->to_at[i] : NULL, a->from + i * size,
                     at ? &a->from_at[2 * i] : NULL, 1);
    if (identity && at) a->to_at[i] = INT64_MAX;
  }
}

static void run_all(lgt_device *device) {
  static arrays want, got;
  unsigned seed = 1;
  for (int redop = 0; redop < LGT_NREDOP; redop++)
    for (int dtype = 0; dtype < LGT_NDTYPE; dtype++)
      for (int identity = 0; identity <= 1 && takes(redop, dtype); identity++) {
        memset(&want, 0, sizeof want);
        draw(dtype, want.to, 3 * N, &seed);
        draw(dtype, want.from, N, &seed);
        for (int i = 0; i < 3 * N; i++) want.to_at[i] = 7 * i % 5, want.from_at[i] = 3 * i % 7;
        got = want;
        expect(redop, dtype, identity, &want);
        fold_there(device, redop, dtype, identity, &got);
        CHECK(!memcmp(want.to, got.to, sizeof got.to) && !memcmp(want.to_at, got.to_at, sizeof got.to_at));
      }
}

TEST(all_operators_fold_as_lgt_redop_fold_does) { run_all(lgt_device_host()); }

TEST(emulated_devices_fold_alike) {
  lgt_device *device = lgt_device_emulate(1 << 20, 5);
  run_all(device);
  device->close(device);
}

/* Two dimensions count, one stands still; the parts of complex numbers are folded for themselves. */
TEST(dimensions_of_the_reduction_count_once) {
  double to[2][3][2] = {{{0}}}, from[3][2][2];
  for (int i = 0; i < 12; i++) from[i / 4][i / 2 % 2][i % 2] = i;
  lgt_tile into = {.data = to,
                   .ndim = 3,
                   .dtype = LGT_COMPLEX128,
                   .extent = {2, 9, 3},
                   .stride = {48, 0, 16}},
           out = {
               .data = from, .ndim = 3, .dtype = LGT_COMPLEX128, .extent = {2, 9, 3}, .stride = {16, 0, 32}};
  lgt_fold_nest fold;
  lgt_fold_nest_make(&fold, LGT_REDOP_SUM, LGT_FLOAT64, &(lgt_fold_tiles){.to = &into, .from = &out}, 1);
  for (int turn = 1; turn <= 2; turn++) {
    for (int c = 0; c < fold.shape.nchunk; c++) CHECK(!lgt_nest_run(&fold.nest, NULL, c, NULL));
    for (int i = 0; i < 12; i++) CHECK(to[i / 6][i / 2 % 3][i % 2] == turn * from[i / 2 % 3][i / 6][i % 2]);
  }
  into.extent[2] = out.extent[2] = 0;
  lgt_fold_nest_make(&fold, LGT_REDOP_SUM, LGT_FLOAT64, &(lgt_fold_tiles){.to = &into, .from = &out}, 1);
  CHECK_EQ(fold.shape.nchunk, 0);
}

/* A number: no dimension at all. */
TEST(a_number_is_folded) {
  float to = 1, from = 2;
  lgt_tile into = {.data = &to, .dtype = LGT_FLOAT32}, out = {.data = &from, .dtype = LGT_FLOAT32};
  lgt_fold_nest fold;
  lgt_fold_nest_make(&fold, LGT_REDOP_SUM, LGT_FLOAT32, &(lgt_fold_tiles){.to = &into, .from = &out}, 1);
  CHECK(fold.shape.nchunk == 1 && !lgt_nest_run(&fold.nest, NULL, 0, NULL) && to == 3 && from == 2);
}

/* Code is made for the operator and the type, whatever the tiles are. */
TEST(loops_depend_on_operator_and_type_alone) {
  int64_t live = lgt_mem_live();
  lgt_fold_nest a, b, c;
  double x = 0, y = 0;
  lgt_tile into = {.data = &x, .dtype = LGT_FLOAT64}, out = {.data = &y, .dtype = LGT_FLOAT64};
  lgt_fold_nest_make(&a, LGT_REDOP_MAX, LGT_FLOAT64, &(lgt_fold_tiles){.to = &into, .from = &out}, 1);
  lgt_fold_loop(&b, LGT_REDOP_MAX, LGT_FLOAT64, false);
  lgt_fold_loop(&c, LGT_REDOP_MIN, LGT_FLOAT64, false);
  lgt_loop *copy[] = {lgt_loop_copy(&a.loop), lgt_loop_copy(&b.loop), lgt_loop_copy(&c.loop)};
  CHECK(lgt_loop_equal(copy[0], copy[1]) && !lgt_loop_equal(copy[0], copy[2]));
  for (int i = 0; i < 3; i++) lgt_loop_free(copy[i]);
  CHECK_EQ(lgt_mem_live(), live);
}

int main(void) {
  RUN(all_operators_fold_as_lgt_redop_fold_does);
  RUN(emulated_devices_fold_alike);
  RUN(dimensions_of_the_reduction_count_once);
  RUN(a_number_is_folded);
  RUN(loops_depend_on_operator_and_type_alone);
  return check_done();
}
