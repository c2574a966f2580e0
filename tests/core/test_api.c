/* test_api.c - the public interface: what it refuses and with which words, memory of the host, elements in
 * and out, failures of tasks, options, budgets, two runtimes side by side. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"
#include "engine.h"
#include "base/mem.h"

enum { N = 40 };

static lgt_runtime *rt;
static double data[N];

static void open_domains(const char *domains) {
  if (open_with(&rt, "domains", domains, "min_tile", "1", "cpus", "2", "check", "1", NULL))
    check_fail(__FILE__, __LINE__, "%s", lgt_message());
}
static void open_plain(void) { open_domains("1"); }

static lgt_id vector(int64_t n) { return array_of(rt, LGT_FLOAT64, 1, &n); }

static lgt_id counting(int64_t n) {
  lgt_id id = vector(n);
  for (int64_t i = 0; i < n; i++) data[i] = (double)i;
  return lgt_array_copy_in(rt, id, data) ? 0 : id;
}

/* The status, and a message with these words. */
#define REFUSED(call, expected, words) \
  do {                                 \
    lgt_err(LGT_OK, "%s", "");         \
    lgt_status status_ = (call);       \
    CHECK_EQ(status_, expected);       \
    CHECK_HAS(lgt_message(), words);   \
  } while (0)
/* 0 or -1, and a message with these words. */
#define NOTHING(call, nothing, words) \
  do {                                \
    lgt_err(LGT_OK, "%s", "");        \
    CHECK_EQ((call), nothing);        \
    CHECK_HAS(lgt_message(), words);  \
  } while (0)

/* ---- opening -------------------------------------------------------------------------------------------- */

TEST(a_runtime_opens_with_defaults) {
  int64_t live = lgt_mem_live();
  CHECK(!lgt_open(NULL, &rt));
  CHECK_EQ(lgt_rank(rt), 0);
  CHECK_EQ(lgt_size(rt), 1);
  CHECK(*lgt_version());
  double now = lgt_time();
  CHECK(lgt_time() >= now);
  lgt_close(rt);
  lgt_close(NULL);
  CHECK_EQ(lgt_mem_live(), live);
}

TEST(bad_configurations_are_refused) {
  lgt_runtime *none = NULL;
  int64_t live = lgt_mem_live();
  setenv("LGT_CPUS", "many", 1);
  REFUSED(lgt_open(NULL, &none), LGT_BAD_ARGUMENT, "LGT_CPUS");
  unsetenv("LGT_CPUS");
  REFUSED(open_with(&none, "debug", "nonsense:9", NULL), LGT_BAD_ARGUMENT, "nonsense");
  REFUSED(open_with(&none, "isa", "vax", NULL), LGT_BAD_ARGUMENT, "vax");
  REFUSED(open_with(&none, "cpus", "1000000", NULL), LGT_BAD_ARGUMENT, "at most 4096");
  REFUSED(open_with(&none, "domains", "2147483647", NULL), LGT_BAD_ARGUMENT, "at most 1024");
  CHECK(!none);
  CHECK_EQ(lgt_mem_live(), live);
}

TEST(two_runtimes_do_not_meet) {
  lgt_runtime *two[2];
  lgt_id x[2];
  int kind[2];
  for (int i = 0; i < 2; i++) {
    CHECK(!open_with(&two[i], "domains", i ? "2" : "1", "min_tile", "1", "cpus", "2", NULL));
    rt = two[i];
    kind[i] = kind_of(rt, LGT_FLOAT64, i ? "a0 c2 mul =0" : "a0 c1 add =0");
    x[i] = counting(N);
  }
  for (int turn = 0; turn < 5; turn++)
    for (int i = 0; i < 2; i++) CHECK(!launch(two[i], kind[i], 1, x[i]));
  CHECK(!lgt_array_copy_out(two[0], x[0], data) && data[3] == 8);
  lgt_close(two[0]);
  CHECK(!lgt_array_copy_out(two[1], x[1], data) && data[3] == 96);
  lgt_close(two[1]);
}

/* ---- handles and layouts ---------------------------------------------------------------------------------- */

TEST(layouts_that_do_not_exist_are_refused) {
  open_plain();
  int64_t shape[] = {2, 3};
  uint32_t good = lgt_layout_dense(rt, LGT_FLOAT64, 2, shape);
  CHECK(good && lgt_front_of(rt)->nlayouts > good);
  for (int i = 0; i < 2; i++) {
    uint32_t bad = i ? 123456789 : 0;
    NOTHING(lgt_layout_slice(rt, bad, 0, 0, 1, 1), 0, "does not exist");
    NOTHING(lgt_layout_project(rt, bad, 0, 0), 0, "does not exist");
    NOTHING(lgt_layout_promote(rt, bad, 0, 1), 0, "does not exist");
    NOTHING(lgt_layout_transpose(rt, bad, (int[]){1, 0}), 0, "does not exist");
    NOTHING(lgt_layout_broadcast(rt, bad, 2, shape), 0, "does not exist");
    NOTHING(lgt_layout_reshape(rt, bad, 2, shape), 0, "does not exist");
    NOTHING(lgt_layout_array(rt, bad), 0, "does not exist");
    NOTHING(lgt_array_attach(rt, LGT_NDTYPE, 0, NULL, LGT_MEMORY_HOST, data, NULL, NULL), 0, "element type");
    NOTHING(lgt_array_attach(rt, LGT_FLOAT64, 0, NULL, (lgt_memory_kind)0, data, NULL, NULL), 0,
            "kind of memory");
    NOTHING(lgt_layout_view(rt, vector(2), bad), 0, "does not exist");
  }
  NOTHING(lgt_layout_dense(rt, 77, 2, shape), 0, "77");
  uint32_t view = lgt_layout_transpose(rt, good, (int[]){1, 0});
  NOTHING(lgt_layout_array(rt, view), 0, "dense");
  lgt_close(rt);
}

TEST(handles_that_are_not_in_use_are_refused) {
  open_plain();
  lgt_id x = vector(N), dead = vector(N);
  lgt_scalar item;
  void *pointer;
  int64_t stride[6];
  lgt_array_free(rt, dead);
  lgt_id bad[] = {0, dead, 100000000};
  int copy = kind_of(rt, LGT_FLOAT64, "a1 =0");
  for (int i = 0; i < 3; i++) {
    REFUSED(lgt_array_item(rt, bad[i], &item), LGT_BAD_ARGUMENT, "not in use");
    REFUSED(lgt_array_copy_out(rt, bad[i], data), LGT_BAD_ARGUMENT, "not in use");
    REFUSED(lgt_array_copy_in(rt, bad[i], data), LGT_BAD_ARGUMENT, "not in use");
    REFUSED(host_of(rt, bad[i], "r", &pointer, stride), LGT_BAD_ARGUMENT, "not in use");
    REFUSED(lgt_array_detach(rt, bad[i]), LGT_BAD_ARGUMENT, "not in use");
    REFUSED(launch(rt, copy, 2, x, bad[i]), LGT_BAD_ARGUMENT, "argument 2");
    NOTHING(lgt_layout_view(rt, bad[i], LAYOUT(rt, x)), 0, "not in use");
    CHECK_HAS(explain(rt, bad[i]), "not in use");
    lgt_array_free(rt, bad[i]); /* nothing happens, however often */
    lgt_array_free(rt, bad[i]);
  }
  CHECK_EQ(stat_of(rt, "live_stores"), 0);
  lgt_close(rt);
}

TEST(an_alias_is_a_view_of_its_array) {
  open_plain();
  lgt_id x = counting(N), other = array_of(rt, LGT_FLOAT32, 1, (int64_t[]){N});
  NOTHING(lgt_layout_view(rt, x, LAYOUT(rt, other)), 0, "not a view of this array");
  NOTHING(lgt_layout_view(rt, x, LAYOUT(rt, vector(N + 1))), 0, "not a view of this array");
  lgt_id even = slice_of(rt, x, 0, 0, N / 2, 2), backwards = slice_of(rt, even, 0, N / 2 - 1, N / 2, -1);
  lgt_array_free(rt, x);
  CHECK(!lgt_array_copy_out(rt, backwards, data));
  CHECK(data[0] == N - 2 && data[N / 2 - 1] == 0);
  CHECK_EQ(stat_of(rt, "live_stores"), 1);
  lgt_array_free_many(rt, (lgt_id[]){even, backwards}, 2);
  CHECK_EQ(stat_of(rt, "live_stores"), 0);
  lgt_close(rt);
}

/* The copy shares the array's memory until one of the two is written. */
TEST(an_array_written_in_parts_survives_a_copy) {
  for (int fusion = 0; fusion < 2; fusion++)
    for (int domains = 1; domains < 3; domains++) {
      CHECK(!open_with(&rt, "domains", domains == 1 ? "1" : "2", "min_tile", "1", "cpus", "1", "fusion",
                       fusion ? "1" : "0", NULL));
      int fill = kind_of(rt, LGT_FLOAT64, "c3 =0"), copy = kind_of(rt, LGT_FLOAT64, "a1 =0"),
          add = kind_of(rt, LGT_FLOAT64, "a0 c1 add =0");
      lgt_id x = vector(N), y = vector(N), left = slice_of(rt, x, 0, 0, N / 2, 1),
             right = slice_of(rt, x, 0, N / 2, N / 2, 1);
      CHECK(!launch(rt, fill, 1, left) && !lgt_fence(rt));
      CHECK(!launch(rt, fill, 1, right) && !lgt_fence(rt));
      CHECK(!launch(rt, copy, 2, y, x) && !lgt_fence(rt));
      CHECK(!launch(rt, add, 1, left) && !lgt_fence(rt));
      CHECK(!lgt_array_copy_out(rt, x, data) && data[0] == 4 && data[N / 2] == 3 && data[N - 1] == 3);
      CHECK(!lgt_array_copy_out(rt, y, data) && data[0] == 3 && data[N / 2] == 3 && data[N - 1] == 3);
      lgt_close(rt);
    }
}

TEST(many_handles_come_and_go) {
  open_plain();
  static lgt_id id[9000];
  for (int turn = 0; turn < 3; turn++) {
    for (int i = 0; i < 9000; i++) CHECK((id[i] = vector(3)) != 0);
    CHECK(lgt_front_of(rt)->max_id >= 9000);
    lgt_array_free_many(rt, id, 9000);
  }
  CHECK(lgt_front_of(rt)->max_id < 20000);
  lgt_close(rt);
}

/* ---- elements ------------------------------------------------------------------------------------------------ */

TEST(there_is_a_limit_to_handles) {
  enum { MOST = 1 << 22 };
  open_plain();
  int64_t shape[] = {3};
  uint32_t layout = lgt_layout_dense(rt, LGT_INT8, 1, shape);
  CHECK_EQ(lgt_array_reserve(rt, MOST), LGT_OK);
  REFUSED(lgt_array_reserve(rt, MOST + 1), LGT_NO_MEMORY, "4194304 arrays and views");
  for (int i = 0; i < MOST; i++) CHECK(lgt_layout_array(rt, layout));
  NOTHING(lgt_layout_array(rt, layout), 0, "as many as there can be");
  lgt_array_free(rt, 77);
  CHECK_EQ(lgt_layout_array(rt, layout), 77);
  lgt_close(rt);
}

TEST(one_element_of_every_type) {
  open_plain();
  for (int dtype = 0; dtype < LGT_NDTYPE; dtype++) {
    lgt_scalar in = {.range = {0, 0}}, out = {.range = {-1, -1}};
    char bytes[16] = {0};
    char cls = lgt_dtype_class(dtype);
    if (cls == 'f') in.f = -2.5;
    else if (cls == 'c') in.c[0] = 1.5, in.c[1] = -3;
    else if (cls == 'r') in.range[0] = 7, in.range[1] = 9;
    else in.i = dtype == LGT_BOOL ? 1 : 100;
    lgt_dtype_store(dtype, bytes, in);
    lgt_id x = array_of(rt, dtype, 0, NULL), y = array_of(rt, dtype, 2, (int64_t[]){1, 1});
    CHECK(!lgt_array_copy_in(rt, x, bytes) && !lgt_array_copy_in(rt, y, bytes));
    for (int k = 0; k < 2; k++) {
      out.range[0] = out.range[1] = -1;
      CHECK(!lgt_array_item(rt, k ? y : x, &out));
      CHECK(cls == 'f' ? out.f == in.f : out.range[0] == in.range[0]);
      if (lgt_dtype_is_pair(dtype)) CHECK(out.range[1] == in.range[1]);
    }
  }
  lgt_scalar item;
  REFUSED(lgt_array_item(rt, vector(3), &item), LGT_BAD_SHAPE, "3 elements");
  REFUSED(lgt_array_item(rt, vector(0), &item), LGT_BAD_SHAPE, "0 elements");
  lgt_close(rt);
}

TEST(views_are_copied_in_c_order) {
  for (int domains = 1; domains < 3; domains++) {
    open_domains(domains == 1 ? "1" : "2");
    int64_t shape[] = {4, 5};
    lgt_id x = array_of(rt, LGT_FLOAT64, 2, shape);
    for (int i = 0; i < 20; i++) data[i] = i;
    CHECK(!lgt_array_copy_in(rt, x, data));
    if (domains == 2) CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a0 c0 add =0"), 1, x)); /* spread it */
    uint32_t turned = lgt_layout_transpose(rt, LAYOUT(rt, x), (int[]){1, 0});
    uint32_t part = lgt_layout_slice(rt, turned, 0, 4, 3, -2); /* columns 4, 2, 0 */
    lgt_id view = lgt_layout_view(rt, x, part);
    double got[12], in[12];
    CHECK(!lgt_array_copy_out(rt, view, got));
    for (int i = 0; i < 12; i++) CHECK(got[i] == (4 - 2 * (i / 4)) + 5 * (i % 4));
    for (int i = 0; i < 12; i++) in[i] = 100 + i;
    CHECK(!lgt_array_copy_in(rt, view, in));
    CHECK(!lgt_array_copy_out(rt, x, data));
    for (int i = 0; i < 20; i++) {
      int row = i / 5, column = i % 5;
      CHECK(data[i] == (column % 2 ? i : 100 + (4 - column) / 2 * 4 + row));
    }
    lgt_id wide = lgt_layout_view(rt, x, lgt_layout_promote(rt, LAYOUT(rt, x), 0, 2));
    double twice[40] = {0};
    void *host;
    int64_t stride[6];
    REFUSED(lgt_array_copy_in(rt, wide, twice), LGT_BAD_SHAPE, "stretched");
    REFUSED(host_of(rt, wide, "w", &host, stride), LGT_BAD_SHAPE, "stretched");
    CHECK(!host_of(rt, wide, "r", &host, stride) && stride[0] == 0);
    CHECK(!lgt_array_copy_out(rt, wide, twice) && !memcmp(twice, twice + 20, sizeof data[0] * 20));
    lgt_close(rt);
  }
}

/* Nothing is launched meanwhile: a look at what is there already is all there is to sweep behind. */
TEST(views_that_were_looked_through_are_swept) {
  CHECK(!open_with(&rt, "cpus", "1", "jitter", "1", NULL)); /* sweeps come soon then */
  enum { MANY = 2000 };
  lgt_id x = vector(MANY), view;
  lgt_scalar item;
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "c7 =0"), 1, x) && !lgt_fence(rt));
  for (int i = 0; i < MANY; i++) {
    CHECK(!lgt_array_item(rt, view = slice_of(rt, x, 0, i, 1, 1), &item) && item.f == 7);
    lgt_array_free(rt, view);
  }
  CHECK(stat_of(rt, "layouts") < MANY / 4);
  lgt_close(rt);
}

TEST(the_host_may_look_at_memory) {
  for (int domains = 1; domains < 3; domains++) {
    open_domains(domains == 1 ? "1" : "2");
    lgt_id x = counting(N), odd = slice_of(rt, x, 0, N - 1, N / 2, -2);
    double *p;
    int64_t stride[6];
    CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a0 c1 add =0"), 1, x));
    CHECK(!host_of(rt, odd, "r", (void **)&p, stride));
    CHECK_EQ(stride[0], -2);
    CHECK(p[0] == N && p[stride[0]] == N - 2);
    CHECK(!host_of(rt, x, "rw", (void **)&p, stride));
    CHECK(stride[0] == 1 && p[5] == 6);
    p[5] = -1;
    CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a0 c10 mul =0"), 1, x));
    CHECK(!lgt_array_copy_out(rt, x, data) && data[5] == -10 && data[6] == 70);
    CHECK(!host_of(rt, odd, "w", (void **)&p, stride));
    for (int i = 0; i < N / 2; i++) p[i * stride[0]] = i;
    CHECK(!lgt_array_copy_out(rt, x, data) && data[N - 1] == 0 && data[N - 3] == 1 && data[6] == 70);
    REFUSED(host_of(rt, x, "", (void **)&p, stride), LGT_BAD_ARGUMENT, "none of");
    REFUSED(host_of(rt, x, "x", (void **)&p, stride), LGT_BAD_ARGUMENT, "\"x\"");
    REFUSED(host_of(rt, x, "rx", (void **)&p, stride), LGT_BAD_ARGUMENT, "\"rx\"");
    lgt_close(rt);
  }
}

/* ---- memory of the host ---------------------------------------------------------------------------------------- */

static int released;
static void *released_context;
static void count_release(void *context) {
  released++;
  released_context = context;
}

TEST(attached_memory_is_used_in_place) {
  for (int domains = 1; domains < 4; domains++) {
    open_domains(domains == 1 ? "1" : domains == 2 ? "2" : "3");
    double memory[N];
    uint32_t layout = lgt_layout_dense(rt, LGT_FLOAT64, 1, (int64_t[]){N});
    for (int i = 0; i < N; i++) memory[i] = i;
    released = 0;
    lgt_id x = attach_as(rt, layout, memory, count_release, memory);
    CHECK(x);
    CHECK_EQ(stat_of(rt, "bytes_live"), 0);
    double *p;
    int64_t stride[6];
    CHECK(!host_of(rt, x, "r", (void **)&p, stride) && p == memory);
    lgt_id inner = slice_of(rt, x, 0, 1, N - 2, 1), left = slice_of(rt, x, 0, 0, N - 2, 1),
           sum = vector(N - 2);
    CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a0 c1 add =0"), 1, x));
    CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 a2 add =0"), 3, sum, inner, left));
    CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 =0"), 2, inner, sum));
    CHECK_EQ(released, 0);
    CHECK(!lgt_array_detach(rt, x));
    CHECK(released == 1 && released_context == memory);
    CHECK(memory[0] == 1 && memory[1] == 1 + 2 && memory[N - 2] == N - 1 + N - 2 && memory[N - 1] == N);
    /* All handles are of no use any more. */
    lgt_scalar item;
    REFUSED(lgt_array_copy_out(rt, x, data), LGT_RELEASED, "detached");
    REFUSED(lgt_array_copy_in(rt, inner, data), LGT_RELEASED, "detached");
    REFUSED(lgt_array_detach(rt, x), LGT_RELEASED, "detached");
    REFUSED(host_of(rt, x, "r", (void **)&p, stride), LGT_RELEASED, "detached");
    CHECK(!lgt_array_item(rt, slice_of(rt, sum, 0, 0, 1, 1), &item));
    REFUSED(launch(rt, kind_of(rt, LGT_FLOAT64, "a1 =0"), 2, sum, left), LGT_RELEASED,
            "argument 2: the array was detached");
    NOTHING(lgt_layout_view(rt, x, layout), 0, "detached");
    memory[0] = -5;
    lgt_array_free_many(rt, (lgt_id[]){x, inner, left}, 3);
    lgt_close(rt);
    CHECK(released == 1 && memory[0] == -5);
  }
}

TEST(attached_memory_is_released_with_its_last_handle) {
  open_plain();
  double memory[2][N] = {{0}};
  uint32_t layout = lgt_layout_dense(rt, LGT_FLOAT64, 1, (int64_t[]){N});
  released = 0;
  lgt_id x = attach_as(rt, layout, memory[0], count_release, NULL), view = slice_of(rt, x, 0, 0, 5, 1);
  lgt_id y = vector(N);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), 2, y, x));
  lgt_array_free(rt, x);
  CHECK_EQ(released, 0);
  lgt_array_free(rt, view);
  CHECK_EQ(released, 0); /* a launch needs it */
  CHECK(!lgt_fence(rt));
  CHECK_EQ(released, 1);
  attach_as(rt, layout, memory[1], count_release, NULL);
  attach_as(rt, layout, memory[0], NULL, NULL);
  lgt_close(rt);
  CHECK_EQ(released, 2);
}

TEST(only_attached_arrays_are_detached) {
  open_plain();
  lgt_id x = counting(N);
  REFUSED(lgt_array_detach(rt, x), LGT_BAD_ARGUMENT, "only attached arrays");
  CHECK(!lgt_array_copy_out(rt, x, data) && data[7] == 7);
  int64_t live = lgt_mem_live();
  released = 0;
  static const int nth[] = {1, 2, 1}; /* an attempt uses records that an earlier one has left */
  for (int i = 0; i < 3; i++) {
    lgt_mem_fail_at(nth[i]);
    lgt_id y = attach_as(rt, LAYOUT(rt, x), data, count_release, NULL);
    lgt_mem_fail_at(0);
    CHECK(!y);
    CHECK_HAS(lgt_message(), "out of memory");
    CHECK(lgt_mem_live() <= live + 2); /* records are kept for the next one */
  }
  CHECK_EQ(released, 0); /* it was never taken */
  lgt_close(rt);
}

static void give_back(void *data) {
  released++;
  free(data);
}

static double *numbers(void) {
  double *memory = malloc(N * sizeof *memory);
  for (int i = 0; i < N; i++) memory[i] = i;
  return memory;
}

/* Once it is the array's own nobody can have it back, and it goes when nobody needs it, even if the array goes on. */
TEST(adopted_memory_is_the_arrays_own) {
  for (int domains = 1; domains < 4; domains++) {
    open_domains(domains == 1 ? "1" : domains == 2 ? "2" : "3");
    uint32_t layout = lgt_layout_dense(rt, LGT_FLOAT64, 1, (int64_t[]){N});
    released = 0;
    lgt_id x = lgt_array_adopt(rt, layout, numbers(), give_back), sum = vector(N - 2);
    CHECK(x);
    CHECK_EQ(stat_of(rt, "bytes_live"), N * 8);
    REFUSED(lgt_array_detach(rt, x), LGT_BAD_ARGUMENT, "only attached arrays");
    lgt_id inner = slice_of(rt, x, 0, 1, N - 2, 1), left = slice_of(rt, x, 0, 0, N - 2, 1);
    CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 a2 add =0"), 3, sum, inner, left));
    CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 =0"), 2, inner, sum));
    CHECK(!lgt_array_copy_out(rt, x, data));
    CHECK(data[0] == 0 && data[1] == 1 && data[N - 2] == N - 2 + N - 3 && data[N - 1] == N - 1);
    CHECK(domains > 1 || released == 1); /* with one domain the new contents are elsewhere */
    lgt_array_free_many(rt, (lgt_id[]){x, inner, left}, 3);
    CHECK(!lgt_fence(rt));
    CHECK_EQ(released, 1);
    lgt_array_adopt(rt, layout, numbers(), give_back);
    CHECK(lgt_array_adopt(rt, lgt_layout_dense(rt, LGT_FLOAT64, 1, (int64_t[]){0}), malloc(1), give_back));
    lgt_close(rt);
    CHECK_EQ(released, 3);
  }
}

TEST(adopted_memory_is_freed_where_there_is_no_array) {
  open_plain();
  uint32_t layout = lgt_layout_dense(rt, LGT_FLOAT64, 1, (int64_t[]){N}), view;
  for (int n = 1; n < 3; n++) {
    released = 0;
    double *memory = numbers();
    lgt_mem_fail_from(n);
    lgt_id x = lgt_array_adopt(rt, layout, memory, give_back);
    lgt_mem_fail_at(0);
    CHECK(!x && released == 1);
    CHECK_HAS(lgt_message(), "out of memory");
  }
  view = lgt_layout_slice(rt, layout, 0, 1, 2, 1);
  NOTHING(lgt_array_adopt(rt, view, numbers(), give_back), 0, "a dense layout");
  NOTHING(lgt_array_adopt(rt, layout, NULL, give_back), 0, "is NULL");
  CHECK_EQ(released, 2);
  lgt_close(rt);
}

/* ---- launches ------------------------------------------------------------------------------------------------------ */

static lgt_status do_nothing(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                             int64_t hi) {
  (void)tiles, (void)nargs, (void)params, (void)lo, (void)hi;
  return LGT_OK;
}

TEST(impossible_launches_are_refused) {
  open_plain();
  int add = kind_of(rt, LGT_FLOAT64, "a1 a2 add =0"), scale = kind_of(rt, LGT_FLOAT64, "a1 p1 mul =0");
  int two = kind_of(rt, LGT_FLOAT64, "a2 =0 a2 =1"), sum = kind_of(rt, LGT_FLOAT64, "a1 sum>0");
  int task = native_kind(rt, "task", "wr", "align(0.0,1.0)", do_nothing);
  lgt_id x = counting(N), y = vector(N), z = vector(N + 1), f = array_of(rt, LGT_FLOAT32, 1, (int64_t[]){N});
  lgt_id one = vector(1), matrix = array_of(rt, LGT_FLOAT64, 2, (int64_t[]){3, N});
  lgt_launch l = {.kind = 9999, .nargs = 1, .arg = {x}};
  REFUSED(lgt_submit(rt, &l), LGT_BAD_ARGUMENT, "9999 is not registered");
  REFUSED(launch(rt, add, 2, y, x), LGT_BAD_ARGUMENT, "takes 3 arguments, 2 were given");
  REFUSED(launch(rt, add, 3, y, x, z), LGT_BAD_SHAPE, "do not fit");
  REFUSED(launch(rt, add, 3, y, x, f), LGT_BAD_DTYPE, "argument 3 to be float64, it is float32");
  REFUSED(launch_with(rt, scale, 1, 2, y, x), LGT_BAD_ARGUMENT, "takes 2 parameters, 1 were given");
  l = (lgt_launch){.kind = (uint16_t)scale, .nargs = 2, .nparams = 7, .arg = {y, x}};
  REFUSED(lgt_submit(rt, &l), LGT_BAD_ARGUMENT, "7 parameters");
  /* Results are as large as the launch. */
  REFUSED(launch(rt, add, 3, one, x, x), LGT_BAD_SHAPE, "writes argument 1");
  REFUSED(launch(rt, add, 3, y, x, matrix), LGT_BAD_SHAPE, "writes argument 1");
  lgt_id stretched = lgt_layout_view(rt, y, lgt_layout_promote(rt, LAYOUT(rt, y), 0, 3));
  REFUSED(launch(rt, add, 3, stretched, x, matrix), LGT_BAD_SHAPE, "stretched");
  CHECK(!launch(rt, sum, 2, one, matrix) && !launch(rt, sum, 2, stretched, matrix));
  REFUSED(launch(rt, task, 2, stretched, matrix), LGT_BAD_SHAPE, "writes argument 1, a stretched view");
  /* Two writes of one element, or a task in C that sees what it writes. */
  lgt_id low = slice_of(rt, y, 0, 0, N / 2 + 1, 1), high = slice_of(rt, y, 0, N / 2 - 1, N / 2 + 1, 1);
  REFUSED(launch(rt, two, 3, low, high, slice_of(rt, x, 0, 0, N / 2 + 1, 1)), LGT_BAD_ARGUMENT,
          "overlaps argument 2");
  REFUSED(launch(rt, two, 3, y, y, x), LGT_BAD_ARGUMENT, "overlaps argument 2");
  REFUSED(launch(rt, task, 2, low, high), LGT_BAD_ARGUMENT, "overlaps argument 2");
  CHECK(!launch(rt, task, 2, low, low));
  CHECK(!launch(rt, two, 3, slice_of(rt, y, 0, 0, 5, 1), slice_of(rt, y, 0, 5, 5, 1),
                slice_of(rt, x, 0, 0, 5, 1)));
  CHECK(!lgt_fence(rt));
  CHECK(!lgt_array_copy_out(rt, y, data) && data[4] == 4 && data[5] == 0 && data[9] == 4);
  lgt_close(rt);
}

/* An array that nothing was launched on yet has no store by which two arguments could be told to be one. */
TEST(new_arrays_are_not_written_twice) {
  open_plain();
  int two = kind_of(rt, LGT_FLOAT64, "a2 =0 a2 =1"), sums = kind_of(rt, LGT_FLOAT64, "a2 sum>0 a2 sum>1");
  int task = native_kind(rt, "task", "ww", "align(0.0,1.0)", do_nothing);
  int apart = native_kind(rt, "apart", "wr", "align(0.0) broadcast(1.0)", do_nothing);
  lgt_id x = counting(N);
  for (int turn = 0; turn < 3;
       turn++) { /* from the second turn on, launches like these are known to be good */
    lgt_id y = vector(N), s = vector(1);
    REFUSED(launch(rt, two, 3, y, y, x), LGT_BAD_ARGUMENT, "writes argument 1, which overlaps argument 2");
    REFUSED(launch(rt, sums, 3, s, s, x), LGT_BAD_ARGUMENT, "writes argument 1, which overlaps argument 2");
    REFUSED(launch(rt, task, 2, y, y), LGT_BAD_ARGUMENT, "writes argument 1, which overlaps argument 2");
    REFUSED(launch(rt, apart, 2, y, y), LGT_BAD_ARGUMENT, "writes argument 1, which overlaps argument 2");
    CHECK(!launch(rt, two, 3, y, vector(N), x) && !launch(rt, sums, 3, s, vector(1), x));
    CHECK(!launch(rt, task, 2, vector(N), vector(N)) && !launch(rt, apart, 2, vector(N), vector(N)));
    CHECK(!lgt_fence(rt));
    CHECK(!lgt_array_copy_out(rt, y, data) && data[0] == 0 && data[N - 1] == N - 1);
  }
  lgt_close(rt);
}

/* A launch like one that was found good differs from it in its arrays, and may be bad. */
TEST(launches_alike_are_refused_too) {
  open_plain();
  int add = kind_of(rt, LGT_FLOAT64, "a1 a2 add =0"), two = kind_of(rt, LGT_FLOAT64, "a2 =0 a2 =1");
  int task = native_kind(rt, "task", "wr", "align(0.0,1.0)", do_nothing);
  lgt_id x = counting(N), y = vector(N), z = vector(N), w = vector(N);
  lgt_id low = slice_of(rt, y, 0, 0, N / 2 + 1, 1), high = slice_of(rt, y, 0, N / 2 - 1, N / 2 + 1, 1);
  for (int turn = 0; turn < 3; turn++) {
    CHECK(!launch(rt, add, 3, y, x, z) && !launch(rt, add, 3, z, y, y) && !launch(rt, add, 3, y, y, y));
    CHECK(!launch(rt, two, 3, y, z, x));
    REFUSED(launch(rt, two, 3, y, y, x), LGT_BAD_ARGUMENT, "overlaps argument 2");
    CHECK(!launch(rt, task, 2, low, slice_of(rt, x, 0, N / 2 - 1, N / 2 + 1, 1)));
    REFUSED(launch(rt, task, 2, low, high), LGT_BAD_ARGUMENT, "overlaps argument 2");
    REFUSED(launch(rt, add, 3, y, x, 0), LGT_BAD_ARGUMENT, "argument 3: array handle 0 is not in use");
    REFUSED(launch(rt, add, 3, y, x, 1 << 30), LGT_BAD_ARGUMENT, "is not in use");
    REFUSED(launch(rt, add, 2, y, x), LGT_BAD_ARGUMENT, "takes 3 arguments, 2 were given");
    REFUSED(launch(rt, add, 3, y, x, array_of(rt, LGT_FLOAT32, 1, (int64_t[]){N})), LGT_BAD_DTYPE,
            "it is float32");
  }
  lgt_id some[400];
  for (int i = 0; i < 400; i++) some[i] = vector(2 + i);
  for (int i = 0; i < 400; i++) CHECK(!launch(rt, add, 3, some[i], some[i], some[i]));
  for (int i = 0; i < 399 && !check_failed; i++)
    REFUSED(launch(rt, add, 3, some[i], some[i], some[i + 1]), LGT_BAD_SHAPE, "do not fit");
  CHECK(!launch(rt, add, 3, y, x, w));
  lgt_array_free(rt, w);
  CHECK(!lgt_fence(rt));
  REFUSED(launch(rt, add, 3, y, x, w), LGT_BAD_ARGUMENT, "is not in use");
  lgt_close(rt);
}

TEST(names_are_looked_up) {
  open_plain();
  CHECK(lgt_opcode("add") >= 0 && lgt_opcode("exp") >= 0 && lgt_opcode("add") != lgt_opcode("exp"));
  CHECK(lgt_redop("sum") >= 0 && lgt_redop("min") >= 0);
  CHECK(lgt_opcode("frobnicate") == -1 && lgt_redop("frobnicate") == -1);
  CHECK_EQ(lgt_kind_gemm(rt, LGT_INT32), 0);
  CHECK_HAS(lgt_message(), "int32");
  CHECK(lgt_kind_gemm(rt, LGT_FLOAT64));
  CHECK_EQ(lgt_kind_generator(rt, "none", NULL), 0);
  uint32_t a = lgt_line(rt, "a.lua:1"), b = lgt_line(rt, "b.lua:2");
  CHECK(a && b && a != b && lgt_line(rt, "a.lua:1") == a);
  CHECK_TEXT(lgt_status_name(LGT_BAD_SHAPE), "bad shape");
  lgt_close(rt);
}

TEST(a_wrong_launch_in_the_front_is_told_at_the_fence) {
  open_plain();
  lgt_front *front = lgt_front_of(rt);
  int add = kind_of(rt, LGT_FLOAT64, "a0 c1 add =0");
  lgt_id x = counting(N);
  CHECK(!launch(rt, add, 1, x));
  front->launches[front->count++] =
      (lgt_launch){.kind = (uint16_t)add, .nargs = 1, .line = lgt_line(rt, "a.lua:7"), .arg = {77777}};
  CHECK(!launch(rt, add, 1, x));
  REFUSED(lgt_fence(rt), LGT_BAD_ARGUMENT, "77777");
  CHECK_HAS(lgt_message(), "a.lua:7");
  CHECK(!lgt_fence(rt));
  CHECK(!lgt_array_copy_out(rt, x, data) && data[1] == 3);
  lgt_close(rt);
}

/* ---- failures ------------------------------------------------------------------------------------------------------ */

static lgt_status fail_late(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                            int64_t hi) {
  (void)nargs, (void)params;
  usleep(2000);
  for (int64_t i = lo; i < hi; i++) {
    if (tiles[0].origin[0] + i == N / 2) return lgt_fail(LGT_IO, "the disk is full");
    *(double *)((char *)tiles[0].data + i * tiles[0].stride[0]) = 1;
  }
  return LGT_OK;
}

TEST(a_failure_sticks_to_what_depends_on_it) {
  for (int domains = 1; domains < 3; domains++)
    for (int look = 0; look < 2; look++) {
      open_domains(domains == 1 ? "1" : "2");
      int task = native_kind(rt, "save", "wr", "align(0.0,1.0)", fail_late),
          add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0");
      lgt_id x = counting(N), bad = vector(N), after = vector(N), fine = vector(N),
             total = array_of(rt, LGT_FLOAT64, 0, NULL);
      lgt_launch l = {
          .kind = (uint16_t)task, .nargs = 2, .line = lgt_line(rt, "prog.lua:12"), .arg = {bad, x}};
      CHECK(!lgt_submit(rt, &l));
      CHECK(!launch(rt, add, 2, after, bad));
      CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 sum>0"), 2, total, after));
      while (flush_step(rt)) {}
      CHECK(!launch(rt, add, 2, fine, x));
      CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a0 c5 add =0"), 1, x)); /* what the task read */
      if (!look) {
        REFUSED(lgt_fence(rt), LGT_IO, "the disk is full");
        CHECK_HAS(lgt_message(), "'save'");
        CHECK_HAS(lgt_message(), "prog.lua:12");
        CHECK(!lgt_fence(rt)); /* told once */
      }
      lgt_scalar item;
      REFUSED(lgt_array_item(rt, total, &item), LGT_IO, "the disk is full");
      REFUSED(lgt_array_copy_out(rt, after, data), LGT_IO, "prog.lua:12");
      REFUSED(lgt_array_copy_out(rt, bad, data), LGT_IO, "the disk is full");
      CHECK_HAS(explain(rt, after), "the disk is full");
      CHECK(!lgt_array_copy_out(rt, fine, data) && data[9] == 10);
      CHECK(!lgt_array_copy_out(rt, x, data) && data[9] == 14);
      if (look) CHECK(!lgt_fence(rt)); /* it has been seen */
      /* And on it goes. */
      lgt_array_free_many(rt, (lgt_id[]){bad, after, total}, 3);
      lgt_id again = vector(N);
      CHECK(!launch(rt, add, 2, again, x));
      CHECK(!lgt_array_copy_out(rt, again, data) && data[9] == 15);
      lgt_close(rt);
    }
}

TEST(overwriting_all_of_an_array_ends_its_failure) {
  enum { TOO_MANY = 1 << 20 };
  for (int domains = 1; domains < 3; domains++)
    for (int late = 0; late < 2; late++) { /* a task that fails when it runs, one that is never run */
      CHECK(!open_with(&rt, "domains", domains == 1 ? "1" : "2", "min_tile", "1", "cpus", "2", "mem", "1M",
                       "check", "1", NULL));
      int save = native_kind(rt, "save", "wr", "align(0.0,1.0)", fail_late),
          add = kind_of(rt, LGT_FLOAT64, "a0 a1 add =0"), fill = kind_of(rt, LGT_FLOAT64, "c7 =0"),
          sum = kind_of(rt, LGT_FLOAT64, "a1 sum>0");
      lgt_id x = counting(N), large = vector(TOO_MANY), total = array_of(rt, LGT_FLOAT64, 0, NULL),
             half = slice_of(rt, x, 0, 0, N / 2, 1), piece = slice_of(rt, large, 0, 0, N, 1);
      lgt_scalar item;
      uint32_t square = lgt_layout_reshape(rt, LAYOUT(rt, x), 2, (int64_t[]){4, N / 4});
      lgt_id reshaped = lgt_layout_view(rt, x, square);
      for (int turn = 0; turn < 4; turn++) {
        lgt_id copied = counting(N);
        if (late) CHECK(!launch(rt, save, 2, x, copied));
        else CHECK(!launch(rt, fill, 1, large) && !launch(rt, add, 2, x, piece));
        CHECK(lgt_fence(rt));
        CHECK(lgt_array_copy_out(rt, x, data));
        CHECK(!launch(rt, fill, 1, half));
        CHECK(lgt_array_copy_out(rt, x, data)); /* the other half is still what failed */
        if (turn == 0) {
          CHECK(!launch(rt, fill, 1, x));
        } else if (turn == 3) {
          CHECK(!launch(rt, fill, 1, reshaped));
        } else if (turn == 1) {
          for (int i = 0; i < N; i++) data[i] = 7;
          CHECK(!lgt_array_copy_in(rt, x, data));
        } else { /* twice in one window */
          CHECK(!launch(rt, fill, 1, x) && !launch(rt, sum, 2, total, x) && !launch(rt, fill, 1, x));
        }
        CHECK(!lgt_array_copy_out(rt, x, data) && data[0] == 7 && data[N - 1] == 7);
        CHECK(!launch(rt, sum, 2, total, x));
        CHECK(!lgt_array_item(rt, total, &item) && item.f == 7 * N);
        CHECK(!lgt_fence(rt));
        lgt_array_free(rt, copied);
      }
      lgt_close(rt);
    }
}

/* ---- options, counters, budgets --------------------------------------------------------------------------------------- */

/* Stays in a worker until it is let go; too long, if whoever lets it go waits for it. */
static atomic_int let_go, too_long;
static pthread_t submitter;
static lgt_status hold(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  (void)tiles, (void)nargs, (void)params, (void)lo, (void)hi;
  if (pthread_equal(pthread_self(), submitter))
    return usleep(1000), LGT_OK; /* the worker takes the next one */
  for (int i = 0; i < 200 && !atomic_load(&let_go); i++) usleep(100000);
  if (!atomic_exchange(&let_go, 1)) atomic_store(&too_long, 1);
  return LGT_OK;
}

TEST(an_interrupted_flush_waits_for_nobody) {
  enum { LARGE = 1 << 18 }; /* no task that runs at once */
  open_plain();
  submitter = pthread_self();
  int task = native_kind(rt, "hold", "wr", "align(0.0,1.0)", hold);
  lgt_id x = vector(LARGE);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "c7 =0"), 1, x));
  for (int i = 0; i < 50; i++) { /* more groups than are issued ahead, each after the one before it */
    lgt_id y = vector(LARGE);
    CHECK(!launch(rt, task, 2, y, x));
    x = y;
  }
  lgt_interrupt(rt, 1);
  while (flush_step(rt) > 0) {}
  CHECK(!atomic_load(&too_long));
  atomic_store(&let_go, 1);
  lgt_interrupt(rt, 0);
  CHECK(!lgt_fence(rt));
  lgt_close(rt);
}

TEST(options_change_while_it_runs) {
  open_plain();
  lgt_id x = counting(N);
  int add = kind_of(rt, LGT_FLOAT64, "a0 c1 add =0");
  REFUSED(lgt_option(rt, "fusoin", "1"), LGT_BAD_ARGUMENT, "fusion");
  REFUSED(lgt_option(rt, "cpus", "3"), LGT_BAD_ARGUMENT, "cannot change");
  REFUSED(lgt_option(rt, "fusion", "perhaps"), LGT_BAD_ARGUMENT, "perhaps");
  for (int fusion = 1; fusion >= 0; fusion--) {
    CHECK(!lgt_option(rt, "fusion", fusion ? "1" : "0"));
    lgt_stats_reset(rt);
    for (int i = 0; i < 10; i++) CHECK(!launch(rt, add, 1, x));
    CHECK(!lgt_fence(rt));
    CHECK_EQ(stat_of(rt, "launches"), 10);
    CHECK_EQ(stat_of(rt, "fused_groups"), fusion ? 1 : 10);
  }
  CHECK(!lgt_option(rt, "window", "3"));
  lgt_stats_reset(rt);
  for (int i = 0; i < 10; i++) CHECK(!launch(rt, add, 1, x));
  CHECK(!lgt_fence(rt));
  CHECK(stat_of(rt, "windows") >= 3);
  CHECK(!lgt_array_copy_out(rt, x, data) && data[0] == 30);
  lgt_close(rt);
}

TEST(counters_have_names) {
  open_plain();
  const char *name;
  int n = 0;
  for (; lgt_stat(rt, n, &name), name; n++) CHECK(*name);
  CHECK(n > 10);
  lgt_stat(rt, -1, &name);
  CHECK(!name);
  counting(N);
  CHECK(stat_of(rt, "bytes_live") >= N * 8 && stat_of(rt, "bytes_peak") >= N * 8);
  CHECK_EQ(stat_of(rt, "live_stores"), 1);
  lgt_close(rt);
}

/* What was launched before and after, and would have been fused with it, has its values. */
TEST(only_what_lacks_memory_fails) {
  for (int domains = 1; domains < 3; domains++) {
    CHECK(!open_with(&rt, "domains", domains == 1 ? "1" : "2", "min_tile", "1", "cpus", "2", "mem", "1M",
                     "check", "1", NULL));
    lgt_id x = counting(N), y = vector(N), z = vector(N), large = vector(1 << 20), half = vector(1 << 16);
    int fill = kind_of(rt, LGT_FLOAT64, "c3 =0"), next = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"),
        grow = kind_of(rt, LGT_FLOAT64, "a0 c1 add =0");
    lgt_launch l = {.kind = (uint16_t)fill, .nargs = 1, .line = lgt_line(rt, "prog.lua:3"), .arg = {large}};
    CHECK(!launch(rt, grow, 1, x) && !launch(rt, next, 2, y, x) && !launch(rt, fill, 1, half));
    CHECK(!lgt_submit(rt, &l));
    CHECK(!launch(rt, next, 2, z, y) && !launch(rt, grow, 1, x));
    REFUSED(lgt_fence(rt), LGT_NO_MEMORY, "prog.lua:3");
    CHECK(!lgt_fence(rt));
    CHECK(!lgt_array_copy_out(rt, x, data) && data[0] == 2 && data[N - 1] == N + 1);
    CHECK(!lgt_array_copy_out(rt, y, data) && data[0] == 2 && data[N - 1] == N + 1);
    CHECK(!lgt_array_copy_out(rt, z, data) && data[0] == 3 && data[N - 1] == N + 2);
    REFUSED(lgt_array_copy_out(rt, large, NULL), LGT_NO_MEMORY, "prog.lua:3");
    lgt_close(rt);
  }
}

/* Results that the script has dropped, but not yet reported, do not count. */
TEST(lack_of_memory_asks_for_a_collection) {
  CHECK(!open_with(&rt, "mem", "1M", "cpus", "1", NULL));
  lgt_id x = vector(1 << 15), dead[20];
  int fill = kind_of(rt, LGT_FLOAT64, "c3 =0"), next = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), ndead = 0;
  CHECK(!launch(rt, fill, 1, x));
  for (int i = 0; i < 20; i++) {
    lgt_id y = vector(1 << 15);
    CHECK(!launch(rt, next, 2, y, x));
    dead[ndead++] = x;
    x = y;
    while (flush_step(rt) == 1) {
      lgt_array_free_many(rt, dead, ndead);
      ndead = 0;
    }
  }
  CHECK(!lgt_fence(rt));
  double all[1 << 15];
  CHECK(!lgt_array_copy_out(rt, x, all) && all[77] == 23);
  lgt_close(rt);
}

/* What dead arrays may hold is asked for when the work that needs more has begun, so that workers are busy meanwhile. */
TEST(memory_presses_behind_a_group) {
  CHECK(!open_with(&rt, "cpus", "1", NULL));
  int fill = kind_of(rt, LGT_FLOAT64, "c3 =0");
  lgt_id x = vector(1 << 23);
  CHECK(!launch(rt, fill, 1, x));
  CHECK_EQ(flush_step(rt), 1); /* a new plan wants to know what is dead */
  CHECK_EQ(stat_of(rt, "tasks"), 0);
  CHECK_EQ(flush_step(rt), 0);
  CHECK(!launch(rt, fill, 1, vector(1 << 23)));
  CHECK_EQ(flush_step(rt), 2);
  CHECK_EQ(stat_of(rt, "tasks"), 2);
  lgt_array_free(rt, x);
  CHECK_EQ(flush_step(rt), 0);
  CHECK(!lgt_fence(rt));
  CHECK_EQ(stat_of(rt, "tasks"), 2);
  CHECK_EQ(stat_of(rt, "bytes_live"), 1 << 26);
  lgt_close(rt);
}

/* What tasks in flight alone hold is not dead: former memory of an array that is written anew each time. */
TEST(memory_in_flight_does_not_press) {
  enum { LARGE = 1 << 21 };
  for (int domains = 1; domains < 3; domains++) {
    CHECK(!open_with(&rt, "cpus", "2", "domains", domains == 1 ? "1" : "2", NULL));
    int fill = kind_of(rt, LGT_FLOAT64, "c3 =0"), add = kind_of(rt, LGT_FLOAT64, "a1 a2 add =0"),
        half = kind_of(rt, LGT_FLOAT64, "a1 c0.5 mul =0");
    lgt_id x = vector(LARGE), left = slice_of(rt, x, 0, 0, LARGE - 2, 1),
           right = slice_of(rt, x, 0, 2, LARGE - 2, 1), inner = slice_of(rt, x, 0, 1, LARGE - 2, 1);
    CHECK(!launch(rt, fill, 1, x));
    while (flush_step(rt) > 0) {}
    for (int i = 0; i < 20; i++) {
      lgt_id t = vector(LARGE - 2);
      CHECK(!launch(rt, add, 3, t, left, right) && !launch(rt, half, 2, inner, t));
      lgt_array_free(rt, t);
      int asked = flush_step(rt);
      if (i > 3) CHECK_EQ(asked, 0); /* new plans do ask */
      while (asked > 0) asked = flush_step(rt);
    }
    CHECK(!lgt_fence(rt));
    lgt_close(rt);
  }
}

/* A collector may answer without finding all that is dead: what then lacks memory asks again. */
TEST(lack_of_memory_asks_for_all_that_is_dead) {
  CHECK(!open_with(&rt, "mem", "160M", "cpus", "1", "fusion", "0", NULL));
  int fill = kind_of(rt, LGT_FLOAT64, "c3 =0");
  lgt_id y = vector(1 << 23), x = vector((1 << 23) + 1), z;
  CHECK(!launch(rt, fill, 1, y) && !launch(rt, fill, 1, x));
  while (flush_step(rt) > 0) {} /* new plans ask as well */
  CHECK(!lgt_fence(rt));
  lgt_array_free(rt, y);
  y = vector(1 << 23), z = vector((1 << 23) + 1);
  CHECK(!launch(rt, fill, 1, y) && !launch(rt, fill, 1, z));
  CHECK_EQ(flush_step(rt), 2); /* y is there */
  CHECK_EQ(flush_step(rt), 1); /* z is not */
  lgt_array_free(rt, x);
  CHECK_EQ(flush_step(rt), 0);
  CHECK(!lgt_fence(rt));
  lgt_close(rt);
}

TEST(memory_has_a_budget) {
  CHECK(!open_with(&rt, "mem", "1M", "cpus", "1", NULL));
  lgt_id small = vector(1000), large = vector(1 << 20), sum = vector(1000);
  int fill = kind_of(rt, LGT_FLOAT64, "c3 =0"), add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0");
  CHECK(!launch(rt, fill, 1, small) && !launch(rt, fill, 1, large));
  REFUSED(lgt_fence(rt), LGT_NO_MEMORY, "of 1048576");
  REFUSED(lgt_array_copy_out(rt, large, NULL), LGT_NO_MEMORY, "--mem");
  lgt_array_free(rt, large);
  CHECK(!launch(rt, fill, 1, sum));
  CHECK(!lgt_fence(rt));
  /* Dead arrays make room. */
  for (int i = 0; i < 100; i++) {
    lgt_id t = vector(10000), u = vector(10000);
    CHECK(!launch(rt, fill, 1, t) && !launch(rt, add, 2, u, t));
    lgt_array_free(rt, t);
    lgt_array_free(rt, u);
    CHECK(!lgt_fence(rt));
  }
  CHECK(stat_of(rt, "bytes_peak") <= 1 << 20);
  REFUSED(lgt_array_copy_in(rt, vector(1 << 20), NULL), LGT_NO_MEMORY, "out of memory");
  lgt_close(rt);
}

int main(void) {
  RUN(a_runtime_opens_with_defaults);
  RUN(bad_configurations_are_refused);
  RUN(two_runtimes_do_not_meet);
  RUN(layouts_that_do_not_exist_are_refused);
  RUN(handles_that_are_not_in_use_are_refused);
  RUN(an_alias_is_a_view_of_its_array);
  RUN(an_array_written_in_parts_survives_a_copy);
  RUN(many_handles_come_and_go);
  RUN(there_is_a_limit_to_handles);
  RUN(one_element_of_every_type);
  RUN(views_are_copied_in_c_order);
  RUN(views_that_were_looked_through_are_swept);
  RUN(the_host_may_look_at_memory);
  RUN(attached_memory_is_used_in_place);
  RUN(attached_memory_is_released_with_its_last_handle);
  RUN(only_attached_arrays_are_detached);
  RUN(adopted_memory_is_the_arrays_own);
  RUN(adopted_memory_is_freed_where_there_is_no_array);
  RUN(impossible_launches_are_refused);
  RUN(new_arrays_are_not_written_twice);
  RUN(launches_alike_are_refused_too);
  RUN(names_are_looked_up);
  RUN(a_wrong_launch_in_the_front_is_told_at_the_fence);
  RUN(a_failure_sticks_to_what_depends_on_it);
  RUN(overwriting_all_of_an_array_ends_its_failure);
  RUN(an_interrupted_flush_waits_for_nobody);
  RUN(options_change_while_it_runs);
  RUN(counters_have_names);
  RUN(only_what_lacks_memory_fails);
  RUN(lack_of_memory_asks_for_a_collection);
  RUN(memory_presses_behind_a_group);
  RUN(memory_in_flight_does_not_press);
  RUN(lack_of_memory_asks_for_all_that_is_dead);
  RUN(memory_has_a_budget);
  return check_done();
}
