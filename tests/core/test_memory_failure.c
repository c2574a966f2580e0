/* test_memory_failure.c - every allocation of a small program fails, each in a run of its own: alone, or
 * with all that follow.
 *
 * A run under failure must end with an error or with the right values, and the runtime must then run
 * the program as if nothing had happened.  At the end nothing is left allocated.
 *
 * Two walks: one over the whole life of a runtime, one over the runs of a runtime that stays open (its
 * extents change from run to run, so that it always has something to plan).
 */
#include <math.h>

#include "check.h"
#include "engine.h"
#include "base/mem.h"

enum { MAX_IDS = 64, COLS = 6 };

typedef struct session {
  lgt_runtime *rt;
  lgt_id id[MAX_IDS];
  int nid;
  lgt_status status; /* the first error */
  char wrong[200];   /* what was wrong although no error was reported */
} session;

static int released;
static void count_release(void *context) {
  (void)context;
  released++;
}

/* Element i of argument 0 is the sum of elements i - 1 to i + 1 of argument 1. */
static lgt_status window_sum(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                             int64_t hi) {
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t at = tiles[0].origin[0] + i - tiles[1].origin[0]; /* the same place in the input's tile */
    const char *in = tiles[1].data;
    double sum = 0;
    for (int64_t k = at - 1; k <= at + 1; k++)
      if (k >= 0 && k < tiles[1].extent[0]) sum += *(const double *)(in + k * tiles[1].stride[0]);
    *(double *)((char *)tiles[0].data + i * tiles[0].stride[0]) = sum;
  }
  return LGT_OK;
}

/* Element i of argument 0 is that one of argument 2 at whose place argument 1 is for i. */
static lgt_status take(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) {
    int64_t at = *(int64_t *)((char *)tiles[1].data + i * tiles[1].stride[0]) - tiles[2].origin[0];
    *(double *)((char *)tiles[0].data + i * tiles[0].stride[0]) =
        *(double *)((char *)tiles[2].data + at * tiles[2].stride[0]);
  }
  return LGT_OK;
}

/* ---- one step each, a no-op after the first error ---------------------------------------------- */

static void failed(session *s, lgt_status status) {
  if (!s->status) s->status = status;
}

static lgt_id keep(session *s, lgt_id id) {
  if (s->status) return 0;
  if (!id) failed(s, LGT_NO_MEMORY);
  else s->id[s->nid++] = id;
  return id;
}

static void drop(session *s, lgt_id id) {
  for (int i = 0; i < s->nid; i++)
    if (s->id[i] == id) s->id[i] = s->id[--s->nid];
  lgt_array_free(s->rt, id);
}

/* Kinds of the runtime that is open, by text. */
static struct {
  const char *text;
  int kind;
} known[16];
static int nknown;

static int kind(session *s, const char *text) {
  if (s->status) return -1;
  for (int i = 0; i < nknown; i++)
    if (!strcmp(known[i].text, text)) return known[i].kind;
  int k = *text == 'w'   ? native_kind(s->rt, text, "wr", "align(0.0,1.0) bloat(1.0,1,1)", window_sum)
          : *text == 't' ? native_kind(s->rt, text, "wrr", "align(0.0,1.0) image_points(1:2.0)", take)
                         : kind_of(s->rt, LGT_FLOAT64, text);
  if (!k) failed(s, LGT_NO_MEMORY);
  else known[nknown].text = text, known[nknown++].kind = k;
  return k;
}

static lgt_id array(session *s, int64_t rows, int64_t cols) {
  return s->status ? 0 : keep(s, array_of(s->rt, LGT_FLOAT64, cols ? 2 : 1, (int64_t[]){rows, cols}));
}

static lgt_id rows_of(session *s, lgt_id a, int64_t first, int64_t count) {
  return s->status ? 0 : keep(s, slice_of(s->rt, a, 0, first, count, 1));
}

#define DO(call)                                         \
  do {                                                   \
    lgt_status status_ = s->status ? s->status : (call); \
    if (status_) failed(s, status_);                     \
  } while (0)

/* The array's elements are f(i), in C order. */
static void expect(session *s, const char *what, lgt_id a, int64_t n, double (*f)(int64_t i, int64_t n)) {
  double *got = malloc((size_t)n * sizeof *got);
  DO(lgt_array_copy_out(s->rt, a, got));
  for (int64_t i = 0; !s->status && !*s->wrong && i < n; i++)
    if (got[i] != f(i, n))
      snprintf(s->wrong, sizeof s->wrong, "%s: element %lld is %g, not %g", what, (long long)i, got[i],
               f(i, n));
  free(got);
}

static void expect_item(session *s, const char *what, lgt_id a, double value) {
  lgt_scalar got = {.f = 0};
  DO(lgt_array_item(s->rt, a, &got));
  if (!s->status && !*s->wrong && got.f != value)
    snprintf(s->wrong, sizeof s->wrong, "%s is %g, not %g", what, got.f, value);
}

/* ---- the program: x is 0, 1, 2, ... ----------------------------------------------------------------- */

static double sum_of_two(int64_t i, int64_t n) { return (void)n, 2 * (double)i + 1; }
static double x_plus_double(int64_t i, int64_t n) { return (void)n, 3 * (double)i + 1; }
static double doubled(int64_t i, int64_t n) { return (void)n, 2 * (double)i + 1; }
static double smoothed(int64_t i, int64_t n) {
  bool edge = i < COLS || i >= n - COLS;
  return edge ? (double)i : (double)(i - COLS) + (double)(i + COLS);
}
static double shifted(int64_t i, int64_t n) { return (void)n, (double)i + 5; }
static double column_sum(int64_t j, int64_t cols) {
  (void)cols, (void)j;
  return 0;
}

static double summed3(int64_t i, int64_t n) {
  return (double)i + (i > 0 ? (double)i - 1 : 0) + (i + 1 < n ? (double)i + 1 : 0);
}

/* t = 2 x + 1; y = x + t.  With `late` t is asked for when it was elided and x has been overwritten. */
static void chain(session *s, int64_t rows, const double *data, bool late) {
  lgt_id x = array(s, rows, COLS), t = array(s, rows, COLS), y = array(s, rows, COLS);
  int twice = kind(s, "a1 c2 mul c1 add =0"), add = kind(s, "a1 a2 add =0"), zero = kind(s, "c0 =0");
  DO(lgt_array_copy_in(s->rt, x, data));
  DO(launch(s->rt, twice, 2, t, x));
  DO(launch(s->rt, add, 3, y, x, t));
  if (!late) drop(s, t);
  DO(lgt_fence(s->rt));
  if (late) {
    DO(launch(s->rt, zero, 1, x));
    expect(s, "a result that is read late", t, rows * COLS, doubled);
  }
  expect(s, "a chain", y, rows * COLS, x_plus_double);
}

/* Inner rows become the sum of their neighbours; views, an alias in place, a copy kept from before. */
static void stencil(session *s, int64_t rows, const double *data) {
  lgt_id x = array(s, rows, COLS), before = array(s, rows, COLS), sum = array(s, rows - 2, COLS);
  lgt_id up = rows_of(s, x, 0, rows - 2), down = rows_of(s, x, 2, rows - 2),
         inner = rows_of(s, x, 1, rows - 2);
  int copy = kind(s, "a1 =0"), add = kind(s, "a1 a2 add =0"), five = kind(s, "a1 c5 add =0");
  DO(lgt_array_copy_in(s->rt, x, data));
  DO(launch(s->rt, copy, 2, before, x));
  DO(launch(s->rt, add, 3, sum, up, down));
  DO(launch(s->rt, copy, 2, inner, sum));
  DO(launch(s->rt, five, 2, before, before));
  expect(s, "a stencil in place", x, rows * COLS, smoothed);
  expect(s, "a copy from before", before, rows * COLS, shifted);
}

/* Sums of all, of columns, an argmax, a reduction into a view. */
static void reductions(session *s, int64_t rows, const double *data) {
  lgt_id x = array(s, rows, COLS), total = keep(s, s->status ? 0 : array_of(s->rt, LGT_FLOAT64, 0, NULL));
  lgt_id best = keep(s, s->status ? 0 : array_of(s->rt, LGT_FLOAT64, 0, NULL));
  lgt_id where = keep(s, s->status ? 0 : array_of(s->rt, LGT_INT64, 0, NULL));
  lgt_id columns = array(s, COLS, 0), zero = array(s, COLS, 0);
  int sum = kind(s, "a1 sum>0"), sub = kind(s, "a1 a2 sub =0"), most = kind(s, "a2 i-1 argmax>0");
  double n = (double)(rows * COLS);
  DO(lgt_array_copy_in(s->rt, x, data));
  DO(launch(s->rt, sum, 2, total, x));
  DO(launch(s->rt, most, 3, best, where, x));
  DO(launch(s->rt, sum, 2, columns, x));
  DO(launch(s->rt, sub, 3, zero, columns, columns));
  expect_item(s, "a sum", total, n * (n - 1) / 2);
  expect_item(s, "a maximum", best, n - 1);
  expect(s, "columns", zero, COLS, column_sum);
  lgt_scalar at = {.i = 0};
  DO(lgt_array_item(s->rt, where, &at));
  if (!s->status && !*s->wrong && at.i != rows * COLS - 1)
    snprintf(s->wrong, sizeof s->wrong, "an argmax is %lld", (long long)at.i);
}

static double backwards(int64_t i, int64_t n) { return (double)(n - 1 - i); }

/* Positions name elements that were made in tiles: some of them come from other domains. */
static void gather(session *s, int64_t rows, const double *data) {
  int64_t n = rows * COLS, *place = malloc((size_t)n * sizeof *place);
  lgt_id x = array(s, n, 0), made = array(s, n, 0), y = array(s, n, 0);
  lgt_id at = keep(s, s->status ? 0 : array_of(s->rt, LGT_INT64, 1, &n));
  int copy = kind(s, "a1 =0"), taking = kind(s, "take");
  for (int64_t i = 0; i < n; i++) place[i] = n - 1 - i;
  DO(lgt_array_copy_in(s->rt, x, data));
  DO(lgt_array_copy_in(s->rt, at, place));
  DO(launch(s->rt, copy, 2, made, x));
  DO(launch(s->rt, taking, 3, y, at, made));
  expect(s, "a gather", y, n, backwards);
  free(place);
}

static double third_turn(int64_t i, int64_t n) { return (void)n, 8 * (double)i + 7; }

/* x = 2 x + 1 in each turn, which has a name; in the last one there is another launch. */
static void traced(session *s, int64_t rows, const double *data) {
  lgt_id x = array(s, rows, COLS), y = array(s, rows, COLS);
  int twice = kind(s, "a1 c2 mul c1 add =0"), copy = kind(s, "a1 =0");
  const char *why;
  DO(lgt_array_copy_in(s->rt, x, data));
  for (int turn = 1; turn <= 3; turn++) {
    DO(lgt_trace_begin(s->rt, "turn"));
    bool begun = !s->status;
    DO(launch(s->rt, twice, 2, y, x));
    DO(launch(s->rt, copy, 2, x, y));
    if (turn == 3) DO(launch(s->rt, copy, 2, y, x));
    if (begun) failed(s, lgt_trace_end(s->rt, s->status ? NULL : &why));
  }
  expect(s, "what a trace leaves", x, rows * COLS, third_turn);
}

/* Memory of the host, a task in C with a halo, a transposed and a reshaped view. */
static void host_memory(session *s, int64_t rows, const double *data) {
  double *memory = malloc((size_t)(rows * COLS) * sizeof *memory);
  uint32_t layout = s->status ? 0 : lgt_layout_dense(s->rt, LGT_FLOAT64, 1, (int64_t[]){rows * COLS});
  memcpy(memory, data, (size_t)(rows * COLS) * sizeof *memory);
  int before = released;
  lgt_id x = layout ? keep(s, attach_as(s->rt, layout, memory, count_release, NULL)) : keep(s, 0);
  bool attached = x != 0;
  lgt_id y = array(s, rows * COLS, 0), z = array(s, COLS, rows);
  int cpu = kind(s, "window_sum"), add = kind(s, "a1 c5 add =0");
  DO(launch(s->rt, cpu, 2, y, x));
  expect(s, "a task in C", y, rows * COLS, summed3);
  uint32_t square = s->status ? 0 : lgt_layout_reshape(s->rt, layout, 2, (int64_t[]){rows, COLS});
  uint32_t turned = square ? lgt_layout_transpose(s->rt, square, (int[]){1, 0}) : 0;
  lgt_id view = keep(s, turned ? lgt_layout_view(s->rt, x, turned) : 0);
  DO(launch(s->rt, add, 2, view, view));
  DO(launch(s->rt, add, 2, z, view));
  DO(lgt_array_detach(s->rt, x));
  for (int64_t i = 0; !s->status && !*s->wrong && i < rows * COLS; i++)
    if (memory[i] != (double)i + 5)
      snprintf(s->wrong, sizeof s->wrong, "detached element %lld is %g", (long long)i, memory[i]);
  /* Whatever happened, the memory comes back once, at the latest with the last handle. */
  while (s->nid) drop(s, s->id[0]);
  lgt_fence(s->rt);
  if (!*s->wrong && released - before != attached)
    snprintf(s->wrong, sizeof s->wrong, "memory was released %d times, not %d", released - before, attached);
  free(memory);
}

static int adopted, given_back;
static void give_back(void *data) {
  given_back++;
  free(data);
}

/* Memory that an array adopts, and may leave when it is written, goes once: at the latest when the runtime closes. */
static void adopted_memory(session *s, int64_t rows, const double *data) {
  uint32_t layout = s->status ? 0 : lgt_layout_dense(s->rt, LGT_FLOAT64, 1, (int64_t[]){rows * COLS});
  if (!layout) failed(s, LGT_NO_MEMORY);
  for (int turn = 0; turn < 2 && !s->status; turn++) {
    double *memory = malloc((size_t)(rows * COLS) * sizeof *memory);
    memcpy(memory, data, (size_t)(rows * COLS) * sizeof *memory);
    adopted++;
    lgt_id x = keep(s, lgt_array_adopt(s->rt, layout, memory, give_back)), sum = array(s, rows * COLS - 2, 0);
    if (!x) break;
    lgt_id left = rows_of(s, x, 0, rows * COLS - 2), inner = rows_of(s, x, 1, rows * COLS - 2);
    DO(launch(s->rt, kind(s, "a1 a2 add =0"), 3, sum, left, inner));
    DO(launch(s->rt, kind(s, "a1 =0"), 2, inner, sum));
    if (turn) expect(s, "a stencil in adopted memory", sum, rows * COLS - 2, sum_of_two);
  }
}

static lgt_status run_program(lgt_runtime *rt, int64_t rows, char *wrong) {
  session s = {.rt = rt};
  double *data = malloc((size_t)(rows * COLS) * sizeof *data);
  for (int64_t i = 0; i < rows * COLS; i++) data[i] = (double)i;
  for (int part = 0; part < 8; part++) {
    if (part < 3) chain(&s, rows, data, part == 2); /* planned with a dead result, run with a live one */
    if (part == 3) stencil(&s, rows, data), reductions(&s, rows, data);
    if (part == 4) gather(&s, rows, data);
    if (part == 5) traced(&s, rows, data);
    if (part == 6) host_memory(&s, rows, data);
    if (part == 7) adopted_memory(&s, rows, data);
    if (!s.status && !explain(rt, s.nid ? s.id[0] : 0)) failed(&s, LGT_NO_MEMORY);
    while (s.nid) drop(&s, s.id[0]);
    lgt_status status = lgt_fence(rt);
    if (status) failed(&s, status);
    if (s.status) break;
  }
  free(data);
  snprintf(wrong, 200, "%s", s.wrong);
  return s.status;
}

/* ---- the walks ---------------------------------------------------------------------------------------- */

static const char *reproducible = "0";

static lgt_status open_small(lgt_runtime **rt, const char *domains, const char *cpus) {
  return open_with(rt, "domains", domains, "max_tiles", *domains == '1' ? "1" : "3", "min_tile", "1", "cpus",
                   cpus, "check", "1", "reproducible", reproducible, NULL);
}

/* A run without failures has to succeed. */
static bool runs_well(lgt_runtime *rt, int64_t rows, int64_t n) {
  char wrong[200];
  lgt_status status = run_program(rt, rows, wrong);
  if (status) check_fail(__FILE__, __LINE__, "after failure %lld: %s", (long long)n, lgt_message());
  if (*wrong) check_fail(__FILE__, __LINE__, "after failure %lld: %s", (long long)n, wrong);
  return !status && !*wrong;
}

/* True while there are allocations left to fail. */
static bool whole_life(int64_t n, const char *domains, void (*fail)(int64_t)) {
  lgt_runtime *rt = NULL;
  char wrong[200] = "";
  int64_t live = lgt_mem_live(), count = lgt_mem_count();
  fail(n);
  lgt_status status = open_small(&rt, domains, "1");
  bool opened = !status;
  if (opened) status = run_program(rt, 20, wrong);
  bool more = lgt_mem_count() - count >= n;
  lgt_mem_fail_at(0);
  if (*wrong) check_fail(__FILE__, __LINE__, "failure %lld: %s", (long long)n, wrong);
  if (status && !*lgt_message()) check_fail(__FILE__, __LINE__, "failure %lld has no message", (long long)n);
  if (status && !more) check_fail(__FILE__, __LINE__, "failed by itself: %s", lgt_message());
  if (opened) runs_well(rt, 20, n);
  if (opened) lgt_close(rt);
  nknown = 0;
  if (given_back != adopted)
    check_fail(__FILE__, __LINE__, "failure %lld: adopted memory was freed %d times, not %d", (long long)n,
               given_back, adopted);
  if (lgt_mem_live() != live)
    check_fail(__FILE__, __LINE__, "failure %lld: %lld blocks leak", (long long)n,
               (long long)(lgt_mem_live() - live));
  return more && !check_failed;
}

static void walk_life(const char *domains, void (*fail)(int64_t)) {
  for (int64_t n = 1; whole_life(n, domains, fail); n++) {}
}

static void walk_runs(const char *domains, const char *cpus, void (*fail)(int64_t)) {
  lgt_runtime *rt;
  int64_t live = lgt_mem_live();
  CHECK(!open_small(&rt, domains, cpus));
  bool more = true;
  for (int64_t n = 1; more && !check_failed; n++) {
    char wrong[200];
    int64_t count = lgt_mem_count();
    fail(n);
    lgt_status status = run_program(rt, 10 + n % 50, wrong);
    more = lgt_mem_count() - count >= n;
    lgt_mem_fail_at(0);
    if (*wrong) check_fail(__FILE__, __LINE__, "failure %lld: %s", (long long)n, wrong);
    if (status && !more) check_fail(__FILE__, __LINE__, "failed by itself: %s", lgt_message());
    runs_well(rt, 10 + n % 50, n);
    if (n % 50 == 0) lgt_option(rt, "fusion", "1"); /* forgets the plans */
  }
  CHECK_EQ(stat_of(rt, "live_stores"), 0);
  CHECK_EQ(given_back, adopted);
  lgt_close(rt);
  nknown = 0;
  CHECK_EQ(lgt_mem_live(), live);
}

TEST(a_life_in_one_domain) { walk_life("1", lgt_mem_fail_at); }
TEST(a_life_in_two_domains) { walk_life("2", lgt_mem_fail_at); }
TEST(runs_in_one_domain) { walk_runs("1", "1", lgt_mem_fail_at); }
TEST(runs_in_two_domains) { walk_runs("2", "1", lgt_mem_fail_at); }
TEST(runs_with_workers) { walk_runs("2", "3", lgt_mem_fail_at); }
TEST(a_life_that_ends_in_one_domain) { walk_life("1", lgt_mem_fail_from); }
TEST(a_life_that_ends_in_two_domains) { walk_life("2", lgt_mem_fail_from); }
TEST(runs_that_end_in_one_domain) { walk_runs("1", "1", lgt_mem_fail_from); }
TEST(runs_that_end_with_workers) { walk_runs("2", "3", lgt_mem_fail_from); }
TEST(reproducible_mode) {
  reproducible = "1";
  walk_life("1", lgt_mem_fail_at);
  walk_runs("2", "1", lgt_mem_fail_at);
  walk_life("2", lgt_mem_fail_from);
}

int main(void) {
  RUN(a_life_in_one_domain);
  RUN(a_life_in_two_domains);
  RUN(runs_in_one_domain);
  RUN(runs_in_two_domains);
  RUN(runs_with_workers);
  RUN(a_life_that_ends_in_one_domain);
  RUN(a_life_that_ends_in_two_domains);
  RUN(runs_that_end_in_one_domain);
  RUN(runs_that_end_with_workers);
  RUN(reproducible_mode);
  return check_done();
}
