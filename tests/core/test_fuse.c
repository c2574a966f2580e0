/* test_fuse.c - the shapes of plans: groups, loops, memory, what is elided and why a group ends.
 *
 * Covers fuse.c, weave.c and assemble.c.  Whether fused programs compute the right values is
 * test_runtime's question; here the values are looked at too, but the point is what it cost.
 */
#include <math.h>

#include "check.h"
#include "engine.h"
#include "base/mem.h"
#include "runtime/runtime.h"

enum { N = 1000 };

static lgt_runtime *rt;
static double buffer[4 * N];

static lgt_id vector(int64_t n) { return array_of(rt, LGT_FLOAT64, 1, &n); }

/* A vector that holds f(i). */
static lgt_id filled(int64_t n, double scale, double shift) {
  lgt_id id = vector(n);
  for (int64_t i = 0; i < n; i++) buffer[i] = scale * (double)i + shift;
  return lgt_array_copy_in(rt, id, buffer) ? 0 : id;
}

static double value_at(lgt_id array, int64_t i) {
  static double got[4 * N];
  return lgt_array_copy_out(rt, array, got) ? NAN : got[i];
}

static lgt_id apply(const char *text, lgt_id a, lgt_id b) {
  int64_t n = lgt_front_of(rt)->layouts[LAYOUT(rt, a)].size;
  lgt_id out = vector(n);
  int kind = kind_of(rt, LGT_FLOAT64, text);
  lgt_status status = b ? launch(rt, kind, 3, out, a, b) : launch(rt, kind, 2, out, a);
  return status ? 0 : out;
}

/* The same, and the operands that are not kept die as Python's temporaries do. */
static lgt_id apply_drop(const char *text, lgt_id a, lgt_id b) {
  lgt_id out = apply(text, a, b);
  lgt_array_free(rt, a);
  if (b && b != a) lgt_array_free(rt, b);
  return out;
}

/* The plan of so many calls; NULL unless there is exactly one. */
static const lgt_plan *plan_of(int ncall) {
  const lgt_plan *found = NULL;
  for (uint32_t i = 0; i <= rt->fuser.mask; i++) {
    const lgt_plan *p = rt->fuser.table[i];
    if (!p || p->ncall != ncall) continue;
    if (found) return NULL;
    found = p;
  }
  return found;
}

static int loops_of(const lgt_plan *plan) {
  int n = 0;
  for (int g = 0; g < plan->ngroup; g++) n += plan->group[g].nloop;
  return n;
}

/* Memory that the groups need beyond what was there before. */
static int new_slots(const lgt_plan *plan) {
  int n = 0;
  for (int g = 0; g < plan->ngroup; g++)
    for (int s = 0; s < plan->group[g].nslot; s++) n += !plan->group[g].slot[s].initial;
  return n;
}

static void open_plain(void) {
  if (open_with(&rt, "cpus", "1", "check", "1", NULL)) check_fail(__FILE__, __LINE__, "%s", lgt_message());
}
static void open_domains(void) {
  if (open_with(&rt, "cpus", "1", "check", "1", "domains", "2", "min_tile", "1", NULL))
    check_fail(__FILE__, __LINE__, "%s", lgt_message());
}

/* ---- one domain ------------------------------------------------------------------------------------- */

/* As in Black-Scholes: a page of formulas over three inputs, two results. */
TEST(a_chain_is_one_pass) {
  open_plain();
  lgt_id s = filled(N, 0.01, 1), x = filled(N, 0.02, 2), t = filled(N, 0.001, 0.1);
  lgt_id root = apply("a1 sqrt =0", t, 0);
  lgt_id d1 = apply_drop("a1 a2 div =0", apply_drop("a1 log =0", apply("a1 a2 div =0", s, x), 0), root);
  lgt_id d2 = apply("a1 c0.3 sub =0", d1, 0);
  lgt_id n1 = apply_drop("a1 erf c1 add c0.5 mul =0", d1, 0),
         n2 = apply_drop("a1 erf c1 add c0.5 mul =0", d2, 0);
  lgt_id left = apply("a1 a2 mul =0", s, n1), right = apply("a1 a2 mul =0", x, n2);
  lgt_id call = apply("a1 a2 sub =0", left, right);
  lgt_id put = apply_drop("a1 a2 add =0", apply_drop("a1 c1 sub a2 mul =0", n1, n2),
                          apply_drop("a1 a2 sub =0", right, left));
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(13);
  CHECK(plan);
  CHECK_EQ(plan->ngroup, 1);
  CHECK_EQ(loops_of(plan), 1);
  CHECK_EQ(new_slots(plan), 2);
  CHECK_EQ(plan->group[0].nelided, 11);
  CHECK_EQ(plan->group[0].nmust_die, 0);
  CHECK_EQ(plan->group[0].refusal, LGT_REFUSAL_END);
  CHECK_EQ(plan->group[0].loop[0].kernel->loop->naccess, 5);
  double S = 3.01, X = 6.02, T = 0.301, a = log(S / X) / sqrt(T), b = a - 0.3;
  double c = S * ((erf(a) + 1) * 0.5) - X * ((erf(b) + 1) * 0.5);
  CHECK(fabs(value_at(call, 201) - c) < 1e-12);
  CHECK(fabs(value_at(put, 201)) < 100);
  lgt_close(rt);
}

TEST(isomorphic_windows_share_a_plan) {
  open_plain();
  lgt_id x = filled(N, 1, 0);
  int twice = kind_of(rt, LGT_FLOAT64, "a1 p0 mul =0"), add = kind_of(rt, LGT_FLOAT64, "a1 a2 add =0");
  for (int turn = 0; turn < 5; turn++) { /* new arrays each time, another parameter */
    lgt_id t = vector(N), y = vector(N);
    CHECK(!launch_with(rt, twice, turn, 2, t, x));
    CHECK(!launch(rt, add, 3, y, t, x));
    lgt_array_free(rt, t);
    lgt_array_free(rt, x);
    x = y;
    CHECK(!lgt_fence(rt));
  }
  CHECK_EQ(stat_of(rt, "plans_made"), 1);
  CHECK_EQ(stat_of(rt, "windows"), 5);
  CHECK(value_at(x, 7) == 7 * 1 * 2 * 3 * 4 * 5);
  lgt_close(rt);
}

/* The inner part of x becomes the sum of its neighbours: x = x[..] + x[..] in place. */
static void stencil(lgt_id x, int64_t n, int64_t inner) {
  lgt_id left = slice_of(rt, x, 0, 0, inner, 1), right = slice_of(rt, x, 0, n - inner, inner, 1);
  lgt_id middle = slice_of(rt, x, 0, (n - inner) / 2, inner, 1);
  lgt_id sum = apply_drop("a1 a2 add =0", left, right);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 =0"), 2, middle, sum);
  lgt_array_free(rt, sum);
  lgt_array_free(rt, middle);
}

TEST(a_stencil_in_place_is_one_pass) {
  open_plain();
  lgt_id x = filled(N, 1, 0);
  stencil(x, N, N - 2);
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(2);
  CHECK(plan);
  CHECK_EQ(plan->ngroup, 1);
  int passes = 0;
  for (int l = 0; l < plan->group[0].nloop; l++) {
    if (plan->group[0].loop[l].extent[0] == N - 2) passes++;
    else CHECK_EQ(plan->group[0].loop[l].extent[0], 1);
  }
  CHECK_EQ(passes, 1);
  CHECK_EQ(new_slots(plan), 1); /* the array's new memory */
  CHECK(value_at(x, 0) == 0 && value_at(x, 1) == 2 && value_at(x, 500) == 1000 &&
        value_at(x, N - 1) == N - 1);
  lgt_close(rt);
}

/* Renaming would copy more than it saves. */
TEST(a_small_part_in_place_is_two_passes) {
  open_plain();
  rt->fuser.collection_ns = 0; /* nothing is stored to save a collection */
  lgt_id x = filled(N, 1, 0);
  stencil(x, N, N / 2);
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(2);
  CHECK(plan);
  CHECK_EQ(plan->ngroup, 1);
  CHECK_EQ(plan->group[0].nloop, 2);
  for (int l = 0; l < 2; l++) CHECK_EQ(plan->group[0].loop[l].extent[0], N / 2);
  CHECK_EQ(new_slots(plan), 1); /* the sums, for the second pass */
  for (int s = 0; s < plan->group[0].nslot; s++)
    CHECK(plan->group[0].slot[s].initial == (plan->group[0].slot[s].root != LGT_NONE));
  CHECK(value_at(x, 0) == 0 && value_at(x, 249) == 249 && value_at(x, 250) == 500 &&
        value_at(x, 749) == 499 + 999 && value_at(x, 750) == 750);
  lgt_close(rt);
}

TEST(a_copy_is_forwarded) {
  open_plain();
  lgt_id a = filled(N, 1, 0), b = apply("a1 =0", a, 0), c = apply("a1 c1 add =0", b, 0);
  lgt_array_free(rt, b);
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(2);
  CHECK(plan && plan->ngroup == 1);
  CHECK_EQ(plan->group[0].nloop, 1);
  CHECK_EQ(plan->group[0].loop[0].kernel->loop->naccess, 2);
  CHECK(value_at(c, 5) == 6);
  lgt_close(rt);
}

/* A copy that lives shares the original's memory until one of them is written. */
TEST(a_copy_shares_memory_until_it_is_written) {
  open_plain();
  lgt_id a = filled(N, 1, 0), b = apply("a1 =0", a, 0);
  CHECK(!lgt_fence(rt));
  int64_t live = stat_of(rt, "bytes_live");
  CHECK(value_at(b, 9) == 9);
  CHECK_EQ(stat_of(rt, "bytes_live"), live);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a0 c10 add =0"), 1, a);
  CHECK(!lgt_fence(rt));
  CHECK(stat_of(rt, "bytes_live") > live);
  CHECK(value_at(a, 9) == 19 && value_at(b, 9) == 9);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a0 c10 add =0"), 1, b);
  CHECK(value_at(a, 9) == 19 && value_at(b, 9) == 19);
  lgt_close(rt);
}

/* x, y = y, x through a copy: renamed, no element moves twice. */
TEST(who_writes_the_original_is_renamed) {
  open_plain();
  lgt_id x = filled(N, 1, 0), y = filled(N, -1, 0);
  lgt_id old = apply("a1 =0", x, 0);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), 2, x, y);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c2 add =0"), 2, y, old);
  lgt_array_free(rt, old);
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(3);
  CHECK(plan && plan->ngroup == 1);
  CHECK_EQ(plan->group[0].nloop, 1);
  CHECK(value_at(x, 7) == -6 && value_at(y, 7) == 9);
  lgt_close(rt);
}

TEST(a_reduction_ends_the_pass) {
  open_plain();
  lgt_id a = filled(N, 1, 0), b = filled(N, 2, 0), total = array_of(rt, LGT_FLOAT64, 0, NULL);
  lgt_id product = apply("a1 a2 mul =0", a, b);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 sum>0"), 2, total, product);
  lgt_id scaled = apply("a1 a2 div =0", a, total);
  lgt_array_free(rt, product);
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(3);
  CHECK(plan);
  CHECK_EQ(plan->ngroup, 1);
  CHECK_EQ(plan->group[0].nloop, 2); /* multiply and add up; divide */
  CHECK_EQ(plan->group[0].nelided, 1);
  double sum = 2 * (N - 1.0) * N * (2 * N - 1) / 6;
  CHECK(value_at(total, 0) == sum);
  CHECK(value_at(scaled, 10) == 10 / sum);
  lgt_close(rt);
}

/* Several reductions of one pass, as norms and dot products come. */
TEST(reductions_over_one_space_share_a_pass) {
  open_plain();
  lgt_id a = filled(N, 1, 0), sum = array_of(rt, LGT_FLOAT64, 0, NULL),
         most = array_of(rt, LGT_FLOAT64, 0, NULL);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 sum>0"), 2, sum, a);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 max>0"), 2, most, a);
  CHECK(!lgt_fence(rt));
  CHECK_EQ(loops_of(plan_of(2)), 1);
  CHECK(value_at(sum, 0) == N * (N - 1) / 2 && value_at(most, 0) == N - 1);
  lgt_close(rt);
}

TEST(what_nobody_needs_is_not_computed) {
  open_plain();
  lgt_id x = filled(N, 1, 0);
  lgt_array_free(rt, apply_drop("a1 exp =0", apply("a1 c1 add =0", x, 0), 0));
  lgt_id y = apply("a1 c2 add =0", x, 0);
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(3);
  CHECK(plan);
  CHECK_EQ(loops_of(plan), 1);
  CHECK_EQ(plan->group[0].loop[0].kernel->loop->naccess, 2);
  CHECK(value_at(y, 3) == 5);
  lgt_close(rt);
}

TEST(options_turn_passes_off) {
  static const struct {
    const char *name;
    int groups, loops, elided;
  } wanted[] = {{"fusion", 3, 3, 0}, {"kernel_fusion", 1, 3, 2}, {"temporaries", 1, 1, 0}};
  for (int i = 0; i < 3; i++) {
    CHECK(!open_with(&rt, "cpus", "1", "check", "1", wanted[i].name, "0", NULL));
    lgt_id x = filled(N, 1, 0), t = apply("a1 c1 add =0", x, 0), u = apply_drop("a1 c2 mul =0", t, 0),
           y = apply_drop("a1 c3 sub =0", u, 0);
    CHECK(!lgt_fence(rt));
    const lgt_plan *plan = plan_of(3);
    CHECK(plan);
    CHECK_EQ(plan->ngroup, wanted[i].groups);
    CHECK_EQ(loops_of(plan), wanted[i].loops);
    int elided = 0;
    for (int g = 0; g < plan->ngroup; g++) elided += plan->group[g].nelided;
    CHECK_EQ(elided, wanted[i].elided);
    if (i == 0) CHECK_EQ(plan->group[0].refusal, LGT_REFUSAL_OFF);
    CHECK(value_at(y, 4) == 7);
    lgt_close(rt);
  }
}

/* ---- limits ------------------------------------------------------------------------------------------ */

/* More operands than one loop may have: several loops, not an error. */
TEST(a_loop_has_room_for_so_many_accesses) {
  enum { CALLS = 40 };
  for (int complex = 0; complex < 2; complex++) {
    open_plain();
    int dtype = complex ? LGT_COMPLEX128 : LGT_FLOAT64, kind = kind_of(rt, dtype, "a1 a2 add =0");
    int select = kind_of(rt, dtype, "a1:bool a2 a3 select =0");
    int64_t n = 50;
    lgt_id out[CALLS];
    for (int i = 0; i < CALLS; i++) {
      lgt_id a = array_of(rt, dtype, 1, &n), b = array_of(rt, dtype, 1, &n),
             mask = array_of(rt, LGT_BOOL, 1, &n);
      out[i] = array_of(rt, dtype, 1, &n);
      for (int64_t k = 0; k < 2 * n; k++) buffer[k] = (double)(i + k);
      CHECK(!lgt_array_copy_in(rt, a, buffer) && !lgt_array_copy_in(rt, b, buffer));
      memset(buffer, 1, (size_t)n);
      CHECK(!lgt_array_copy_in(rt, mask, buffer));
      if (i % 2) launch(rt, kind, 3, out[i], a, b);
      else launch(rt, select, 4, out[i], mask, a, b);
    }
    CHECK(!lgt_fence(rt));
    for (int i = 0; i < CALLS; i++) {
      CHECK(!lgt_array_copy_out(rt, out[i], buffer));
      CHECK(buffer[49] == (i % 2 ? 2 : 1) * (i + 49));
    }
    lgt_close(rt);
  }
}

TEST(a_loop_has_room_for_so_many_reductions) {
  enum { CALLS = 40 };
  for (int complex = 0; complex < 2; complex++) {
    open_plain();
    int dtype = complex ? LGT_COMPLEX128 : LGT_FLOAT64, kind = kind_of(rt, dtype, "a1 sum>0");
    int64_t n = 50;
    lgt_id a = array_of(rt, dtype, 1, &n), out[CALLS];
    for (int64_t k = 0; k < 2 * n; k++) buffer[k] = (double)(k % 2 + 1);
    CHECK(!lgt_array_copy_in(rt, a, buffer));
    for (int i = 0; i < CALLS; i++) {
      out[i] = array_of(rt, dtype, 0, NULL);
      CHECK(!launch(rt, kind, 2, out[i], a));
    }
    CHECK(!lgt_fence(rt));
    for (int i = 0; i < CALLS; i++) {
      double got[2] = {0, 0};
      CHECK(!lgt_array_copy_out(rt, out[i], got));
      CHECK(complex ? got[0] == n && got[1] == 2 * n : got[0] == 1.5 * (double)n);
    }
    lgt_close(rt);
  }
}

/* Kinds with as many arguments as there may be. */
TEST(kinds_with_many_arguments_fuse) {
  enum { CALLS = 12 };
  open_plain();
  int kind = kind_of(rt, LGT_COMPLEX128,
                     "a6 c1 add =0 a7 c1 add =1 a8 c1 add =2 a9 c1 add =3 a10 c1 add =4 a11 c1 add =5");
  CHECK(kind >= 0);
  int64_t n = 20;
  lgt_id id[CALLS][12];
  for (int i = 0; i < CALLS; i++) {
    lgt_launch l = {.kind = (uint16_t)kind, .nargs = 12};
    for (int a = 0; a < 12; a++) {
      l.arg[a] = id[i][a] = array_of(rt, LGT_COMPLEX128, 1, &n);
      for (int64_t k = 0; k < 2 * n; k++) buffer[k] = (double)(100 * i + a);
      if (a >= 6) CHECK(!lgt_array_copy_in(rt, id[i][a], buffer));
    }
    CHECK(!lgt_submit(rt, &l));
  }
  CHECK(!lgt_fence(rt));
  for (int i = 0; i < CALLS; i++)
    for (int a = 0; a < 6; a++) {
      CHECK(!lgt_array_copy_out(rt, id[i][a], buffer));
      CHECK(buffer[2] == 100 * i + a + 7 && buffer[3] == 100 * i + a + 6);
    }
  lgt_close(rt);
}

TEST(a_long_window_is_several_tasks) {
  CHECK(!open_with(&rt, "cpus", "1", "window", "1024", NULL));
  rt->target = 1024; /* what the window grows to */
  rt->front.limit = 1024;
  lgt_id x = filled(N, 1, 0);
  int kind = kind_of(rt, LGT_FLOAT64, "a0 c1 add =0");
  for (int i = 0; i < 700; i++) CHECK(!launch(rt, kind, 1, x));
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(700);
  CHECK(plan);
  CHECK_EQ(plan->ngroup, 2);
  CHECK_EQ(plan->group[0].refusal, LGT_REFUSAL_SIZE);
  CHECK_EQ(plan->group[1].refusal, LGT_REFUSAL_END);
  CHECK(value_at(x, 3) == 703);
  lgt_close(rt);
}

/* ---- results that are asked for late --------------------------------------------------------------------- */

TEST(a_result_that_is_read_late_is_computed_then_and_stored_the_next_time) {
  open_plain();
  lgt_id x = filled(N, 1, 0), sum;
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  for (int turn = 0; turn < 4; turn++) {
    lgt_id y = vector(N);
    sum = vector(N);
    CHECK(!launch(rt, add, 2, sum, x) && !launch(rt, mul, 2, y, sum));
    if (turn == 0) lgt_array_free(rt, sum); /* dead when the plan is made */
    CHECK(!lgt_fence(rt));
    CHECK_EQ(stat_of(rt, "plans_made"), turn < 2 ? 1 : 2);
    if (turn == 0) continue;
    CHECK(value_at(sum, 7) == 8 && value_at(y, 7) == 16);
    CHECK_EQ(stat_of(rt, "recipes_computed"), 1);
  }
  lgt_close(rt);
}

TEST(a_recipe_keeps_its_inputs) {
  open_plain();
  lgt_id x = filled(N, 1, 0);
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0"),
      fill = kind_of(rt, LGT_FLOAT64, "c-1 =0");
  for (int turn = 0; turn < 2; turn++) {
    lgt_id y = vector(N), sum = vector(N);
    CHECK(!launch(rt, add, 2, sum, x) && !launch(rt, mul, 2, y, sum));
    if (turn == 0) lgt_array_free(rt, sum);
    CHECK(!lgt_fence(rt));
    if (turn == 0) continue;
    /* The input is overwritten, dropped, its memory could be used again; the recipe does not care. */
    CHECK(!launch(rt, fill, 1, x) && !lgt_fence(rt));
    CHECK(value_at(x, 7) == -1);
    lgt_array_free(rt, x);
    lgt_array_free(rt, y);
    for (int i = 0; i < 4; i++) CHECK(!launch(rt, fill, 1, vector(N)));
    CHECK(!lgt_fence(rt));
    CHECK(value_at(sum, 7) == 8);
  }
  CHECK_EQ(stat_of(rt, "recipes_computed"), 1);
  lgt_close(rt);
}

TEST(a_chain_of_results_is_computed_late) {
  open_plain();
  lgt_id x = filled(N, 1, 0), t[4];
  int kind[4] = {kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0"),
                 kind_of(rt, LGT_FLOAT64, "a1 p0 sub =0"), kind_of(rt, LGT_FLOAT64, "a1 sqrt =0")};
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < 4; i++) {
      t[i] = vector(N);
      CHECK(!launch_with(rt, kind[i], 3, 2, t[i], i ? t[i - 1] : x));
    }
    for (int i = 0; i < 3 && turn == 0; i++) lgt_array_free(rt, t[i]);
    CHECK(!lgt_fence(rt));
  }
  CHECK_EQ(stat_of(rt, "plans_made"), 1);
  CHECK(value_at(t[2], 10) == 19); /* its recipe does not need the others' results */
  CHECK(value_at(t[0], 10) == 11);
  CHECK(value_at(t[3], 10) == sqrt(19));
  CHECK_EQ(stat_of(rt, "recipes_computed"), 2);
  lgt_close(rt);
}

/* t = x + 1; x = t * 2 in place: if x is a part of an array, no recipe for t survives, so nobody may hold it when the
 * task runs. */
static lgt_id overwrite(lgt_id x, int n, int add, int mul) {
  lgt_id t = vector(n);
  launch(rt, add, 2, t, x);
  launch(rt, mul, 2, x, t);
  return t;
}

TEST(what_no_recipe_can_make_must_be_dead_or_is_stored) {
  open_plain();
  rt->fuser.collection_ns = 0; /* collecting is cheaper than storing */
  lgt_id all = filled(4 * N, 1, 0), x = slice_of(rt, all, 0, 0, 2 * N, 1);
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  lgt_array_free(rt, overwrite(x, 2 * N, add, mul));
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(2);
  CHECK(plan);
  CHECK_EQ(plan->group[0].nelided, 1);
  CHECK_EQ(plan->group[0].nmust_die, 1);
  CHECK_EQ(plan->group[0].nloop, 1);

  /* A dead handle that the runtime has not heard of: it asks for the end of the collector's cycle. */
  lgt_id t = overwrite(x, 2 * N, add, mul);
  CHECK_EQ(flush_step(rt), 2);
  lgt_array_free(rt, t);
  CHECK_EQ(flush_step(rt), 0);
  CHECK_EQ(stat_of(rt, "plans_made"), 1);

  /* One that is alive: it asks, then for all garbage, and stores. */
  t = overwrite(x, 2 * N, add, mul);
  CHECK_EQ(flush_step(rt), 2);
  CHECK_EQ(flush_step(rt), 1);
  while (flush_step(rt)) {}
  CHECK_EQ(stat_of(rt, "plans_made"), 2);
  CHECK(value_at(x, 0) == 14 && value_at(t, 0) == 7);
  lgt_close(rt);
}

/* A small one costs less to store than to collect for, or to save all of what it was made of. */
TEST(storing_may_be_cheaper_than_collecting) {
  open_plain();
  rt->fuser.collection_ns = 1e9;
  lgt_id all = filled(4 * N, 1, 0), x = slice_of(rt, all, 0, 0, N / 16, 1);
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  lgt_array_free(rt, overwrite(x, N / 16, add, mul));
  CHECK(!lgt_fence(rt));
  CHECK_EQ(plan_of(2)->group[0].nelided, 0);
  lgt_id t = overwrite(x, N / 16, add, mul);
  CHECK_EQ(flush_step(rt), 0);
  CHECK(value_at(t, 0) == 3 && value_at(x, 0) == 6);
  lgt_close(rt);
}

static const char *memory_of(lgt_id x) {
  return lgt_store_at(&rt->stores, rt->front.handles[x].store)->replica[0].inst->data;
}

/* All of an array is overwritten: where somebody may still ask for what was computed from it, elsewhere. */
TEST(what_recipes_read_is_left_alone) {
  open_plain();
  rt->fuser.collection_ns = 1e9;
  lgt_id x = filled(4 * N, 1, 0);
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  CHECK(!lgt_fence(rt));
  const char *memory = memory_of(x);
  lgt_array_free(rt, overwrite(x, 4 * N, add, mul));
  CHECK(!lgt_fence(rt));
  CHECK_EQ(plan_of(2)->group[0].nelided, 1);
  CHECK_EQ(plan_of(2)->group[0].nmust_die, 0);
  CHECK_EQ(plan_of(2)->group[0].nloop, 1);
  CHECK(memory_of(x) == memory); /* nobody may ask */
  lgt_id t = overwrite(x, 4 * N, add, mul);
  CHECK(!lgt_fence(rt));
  CHECK(memory_of(x) != memory);
  CHECK(value_at(x, 0) == 6 && value_at(t, 0) == 3);
  CHECK_EQ(stat_of(rt, "recipes_computed"), 1);
  memory = memory_of(x);
  t = overwrite(x, 4 * N, add, mul); /* it is stored from now on */
  CHECK(!lgt_fence(rt));
  CHECK(memory_of(x) == memory && value_at(x, 0) == 14 && value_at(t, 0) == 7);
  CHECK_EQ(stat_of(rt, "bytes_copied"), 0);
  lgt_close(rt);
}

/* Parts of an array change one after the other, each by way of a result that nobody stores: who asks for one gets it from
 * what was in the array before the group. */
TEST(versions_are_computed_again_from_former_contents) {
  open_plain();
  rt->fuser.collection_ns = 1e9;
  lgt_id all = filled(4 * N, 1, 0), t[6];
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  CHECK(!lgt_fence(rt));
  const char *memory = memory_of(all);
  for (int round = 0; round < 2; round++) {
    for (int k = 0; k < 6; k++) {
      lgt_id x = slice_of(rt, all, 0, k * N / 4, 2 * N, 1);
      t[k] = overwrite(x, 2 * N, add, mul);
      if (round == 0) lgt_array_free(rt, t[k]);
      lgt_array_free(rt, x);
    }
    CHECK(!lgt_fence(rt));
    if (round == 0) CHECK(memory_of(all) == memory); /* nobody may ask */
  }
  CHECK_EQ(plan_of(12)->group[0].nelided, 6);
  CHECK_EQ(plan_of(12)->group[0].nmust_die, 0);
  CHECK_EQ(stat_of(rt, "plans_made"), 1);
  CHECK(memory_of(all) != memory);
  double x[4 * N];
  for (int i = 0; i < 4 * N; i++) x[i] = i;
  for (int round = 0; round < 2; round++)
    for (int k = 0; k < 6; k++)
      for (int i = 0; i < 2 * N; i++) {
        double *at = &x[k * N / 4 + i];
        *at = 2 * (*at + 1);
        if (round == 1 && i % 83 == 0) CHECK(value_at(t[k], i) == *at / 2);
      }
  for (int i = 0; i < 4 * N; i += 83) CHECK(value_at(all, i) == x[i]);
  CHECK_EQ(stat_of(rt, "recipes_computed"), 6);
  lgt_close(rt);
}

/* Small parts of an array change one after the other, by way of results that are held; what they are is in `value`. */
enum { PARTS = 12, PART = N / 16 };
static void change_parts(lgt_id all, int add, int mul, double *x, lgt_id *t, double *value) {
  for (int k = 0; k < PARTS; k++) {
    lgt_id part = slice_of(rt, all, 0, k * PART / 2, PART, 1);
    t[k] = overwrite(part, PART, add, mul);
    lgt_array_free(rt, part);
    for (int i = 0; i < PART; i++) x[k * PART / 2 + i] += 1;
    value[k] = x[k * PART / 2 + 1];
    for (int i = 0; i < PART; i++) x[k * PART / 2 + i] *= 2;
  }
}

/* The same several times; from the second time on (`held`) the results are held. */
enum { ROUNDS = 40 };
static lgt_id held[ROUNDS][PARTS];
static double value[ROUNDS][PARTS];
static lgt_id hold_parts(int rounds) {
  double x[2 * N];
  lgt_id all = filled(2 * N, 1, 0);
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  rt->fuser.collection_ns = 1e9;
  for (int i = 0; i < 2 * N; i++) x[i] = i;
  for (int r = 0; r < rounds; r++) {
    change_parts(all, add, mul, x, held[r], value[r]);
    for (int k = 0; k < PARTS && r == 0; k++) lgt_array_free(rt, held[r][k]);
    if (lgt_fence(rt)) return 0;
  }
  return all;
}
static bool parts_are_right(int rounds) {
  for (int r = 1; r < rounds; r++)
    for (int k = 0; k < PARTS; k++)
      if (value_at(held[r][k], 1) != value[r][k]) return false;
  return true;
}

/* What is held for long and is small must not keep much more memory than if it were stored. */
TEST(recipes_keep_former_contents_up_to_a_limit) {
  CHECK(!open_with(&rt, "cpus", "1", "check", "1", "mem", "4M", NULL));
  lgt_id all = hold_parts(ROUNDS);
  CHECK(all);
  CHECK(rt->binder.former > 200 << 10 && rt->binder.former < 300 << 10);
  CHECK(stat_of(rt, "bytes_live") < 500 << 10); /* all of it: 624 KiB and more */
  CHECK(parts_are_right(ROUNDS));
  CHECK(stat_of(rt, "recipes_computed") > 0);
  CHECK_EQ(rt->binder.former, 0);
  lgt_close(rt);
}

/* ... and must be computed before there is no memory for it, or for others. */
TEST(former_contents_make_room) {
  CHECK(!open_with(&rt, "cpus", "1", "check", "1", "mem", "3744K", NULL));
  CHECK(hold_parts(12));
  CHECK(rt->binder.former > 160 << 10);
  CHECK_EQ(stat_of(rt, "recipes_computed"), 0);
  lgt_id large = vector(7 << 16);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "c3 =0"), 1, large));
  CHECK(!lgt_fence(rt));
  CHECK_EQ(stat_of(rt, "recipes_computed"), 11 * PARTS);
  CHECK_EQ(rt->binder.former, 0);
  CHECK(parts_are_right(12));
  lgt_close(rt);
}

/* A result that is asked for needs no memory that it would not have needed had it been stored. */
TEST(what_comes_from_former_contents_fits) {
  CHECK(!open_with(&rt, "cpus", "1", "check", "1", "mem", "3744K", NULL));
  CHECK(hold_parts(12));
  int64_t room = rt->map.pool->limit - stat_of(rt, "bytes_live");
  lgt_id large = vector(3 << 17);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "c3 =0"), 1, large));
  CHECK(!lgt_fence(rt));
  CHECK_EQ(stat_of(rt, "recipes_computed"), 0);
  rt->map.pool->limit -= room - (3 << 20); /* all is used up */
  CHECK(parts_are_right(12));
  CHECK_EQ(stat_of(rt, "recipes_computed"), 11 * PARTS);
  lgt_close(rt);
}

/* to = 2 (from + 1), and the sum in between. */
static lgt_id recur(lgt_id from, lgt_id to, int add, int mul) {
  lgt_id t = vector(N);
  launch(rt, add, 2, t, from);
  launch(rt, mul, 2, to, t);
  return t;
}

/* A recurrence over the parts of an array: what recipes read of it is not where it is written next. */
TEST(what_recipes_do_not_read_may_be_written_in_place) {
  open_plain();
  rt->fuser.collection_ns = 1e9;
  lgt_id x = filled(4 * N, 1, 0), part[4], t[4];
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  for (int k = 0; k < 4; k++) part[k] = slice_of(rt, x, 0, k * N, N, 1);
  CHECK(!lgt_fence(rt));
  const char *memory = memory_of(x);
  lgt_array_free(rt, recur(part[0], part[1], add, mul));
  CHECK(!lgt_fence(rt));
  CHECK_EQ(plan_of(2)->group[0].nelided, 1);
  CHECK_EQ(plan_of(2)->group[0].nmust_die, 0);
  for (int k = 0; k < 3; k++) {
    t[k] = recur(part[k], part[k + 1], add, mul); /* the next plans are this one's, shifted */
    CHECK(!lgt_fence(rt));
    CHECK(memory_of(x) == memory);
  }
  t[3] = recur(part[3], part[2], add, mul); /* t[2] is made of what this overwrites */
  CHECK(!lgt_fence(rt));
  CHECK(memory_of(x) != memory);
  CHECK(value_at(t[0], 1) == 2 && value_at(t[1], 1) == 5 && value_at(t[2], 1) == 11 &&
        value_at(t[3], 1) == 23);
  CHECK(value_at(x, N + 1) == 4 && value_at(x, 2 * N + 1) == 46 && value_at(x, 3 * N + 1) == 22);
  CHECK_EQ(stat_of(rt, "recipes_computed"), 4);
  lgt_close(rt);
}

static lgt_status fail(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  (void)tiles, (void)nargs, (void)params, (void)lo, (void)hi;
  return lgt_err(LGT_TASK_FAILED, "it fails");
}

/* ... unless the task that writes it there may fail: that is no failure of what was computed before. */
TEST(what_fails_later_is_no_failure_of_a_recipe) {
  open_plain();
  rt->fuser.collection_ns = 1e9;
  lgt_id x = filled(4 * N, 1, 0), bad = vector(N), part[3];
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0"),
      failing = native_kind(rt, "failing", "w", "", fail);
  for (int k = 0; k < 3; k++) part[k] = slice_of(rt, x, 0, k * N, N, 1);
  lgt_array_free(rt, recur(part[0], part[1], add, mul));
  CHECK(!lgt_fence(rt));
  lgt_id t = recur(part[0], part[1], add, mul);
  CHECK(!flush_step(rt));
  launch(rt, failing, 1, bad);
  launch(rt, mul, 2, part[2], bad);
  CHECK(lgt_fence(rt) == LGT_TASK_FAILED);
  CHECK(value_at(t, 1) == 2);
  CHECK(isnan(value_at(x, 0)));
  lgt_close(rt);
}

/* What lay in memory of the group's own, since a later loop reads it, is given back: recipes begin with x. */
TEST(recipes_keep_nothing_that_can_be_computed_again) {
  open_plain();
  rt->fuser.collection_ns = 1e9;
  lgt_id x = filled(N, 1, 0), t = 0, u = 0;
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
  CHECK(!lgt_fence(rt));
  int64_t live[3] = {stat_of(rt, "bytes_live")};
  for (int turn = 0; turn < 2; turn++) {
    t = vector(N), u = vector(N);
    lgt_id back = slice_of(rt, t, 0, N - 1, N, -1);
    CHECK(!launch(rt, add, 2, t, x) && !launch(rt, add, 2, u, back) && !launch(rt, mul, 2, vector(N), u));
    lgt_array_free(rt, back);
    if (turn == 0) lgt_array_free(rt, t), lgt_array_free(rt, u);
    CHECK(!lgt_fence(rt));
    live[turn + 1] = stat_of(rt, "bytes_live");
  }
  CHECK_EQ(stat_of(rt, "plans_made"), 1);
  CHECK_EQ(live[2] - live[1], live[1] - live[0]);
  launch(rt, add, 2, x, x);
  CHECK(value_at(u, 3) == N - 4 + 2 && value_at(t, 3) == 4 && value_at(x, 3) == 4);
  CHECK_EQ(stat_of(rt, "recipes_computed"), 2);
  lgt_close(rt);
}

/* x = x backwards: no element may be overwritten before it is read. */
TEST(what_is_read_elsewhere_is_not_written_over) {
  open_plain();
  lgt_id x = filled(N, 1, 0), back = slice_of(rt, x, 0, N - 1, N, -1);
  int copy = kind_of(rt, LGT_FLOAT64, "a1 =0"), twice = kind_of(rt, LGT_FLOAT64, "a1 a1 add =0");
  CHECK(!lgt_fence(rt));
  launch(rt, twice, 2, x, back);
  CHECK(!lgt_fence(rt));
  launch(rt, copy, 2, x, back);
  CHECK(!lgt_fence(rt));
  for (int i = 0; i < N; i++) CHECK(value_at(x, i) == 2 * i);
  lgt_close(rt);
}

/* One array has what another one had before that was overwritten. */
TEST(what_was_copied_is_not_written_over) {
  open_plain();
  int copy = kind_of(rt, LGT_FLOAT64, "a1 =0"), add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0");
  lgt_id x = filled(N, 1, 0);
  CHECK(!lgt_fence(rt));
  lgt_id old = vector(N), more = vector(N);
  launch(rt, copy, 2, old, x);
  launch(rt, add, 2, more, x);
  launch(rt, add, 2, x, x);
  CHECK(!lgt_fence(rt));
  CHECK(value_at(old, 3) == 3 && value_at(more, 3) == 4 && value_at(x, 3) == 4);
  launch(rt, add, 2, x, x); /* what both had is only the copy's now */
  CHECK(!lgt_fence(rt));
  CHECK(value_at(old, 3) == 3 && value_at(x, 3) == 5);
  lgt_close(rt);
}

/* Each turn reads the neighbours of what the one before has written: with nothing allowed to lie between loops, a turn
 * is a group, and what is only of the turn does not cross the cut. */
TEST(a_group_ends_where_least_is_needed) {
  open_plain();
  CHECK(!lgt_option(rt, "between", "0"));
  lgt_id x = filled(N, 1, 0);
  for (int turn = 0; turn < 2; turn++) {
    lgt_id low = slice_of(rt, x, 0, 0, N - 2, 1), high = slice_of(rt, x, 0, 2, N - 2, 1),
           mid = slice_of(rt, x, 0, 1, N - 2, 1);
    lgt_id half = apply_drop("a1 c0.5 mul =0", low, 0);
    launch(rt, kind_of(rt, LGT_FLOAT64, "a1 a2 add =0"), 3, mid, half, high);
    lgt_array_free(rt, half);
  }
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(4);
  CHECK(plan && plan->ngroup == 2 && plan->group[0].count == 2 && plan->group[1].count == 2);
  CHECK_EQ(plan->group[0].refusal, LGT_REFUSAL_MEMORY);
  CHECK(value_at(x, 0) == 0 && value_at(x, 1) == 3.5 && value_at(x, 2) == 6);
  lgt_close(rt);
}

/* ---- two domains: when groups end ------------------------------------------------------------------------- */

static lgt_refusal first_refusal(int ncall) {
  const lgt_plan *plan = lgt_fence(rt) ? NULL : plan_of(ncall);
  return plan ? plan->group[0].refusal : LGT_NREFUSAL;
}

TEST(equal_tiles_fuse) {
  open_domains();
  lgt_id x = filled(N, 1, 0), y = apply_drop("a1 c2 mul =0", apply("a1 c1 add =0", x, 0), 0);
  CHECK_EQ(first_refusal(2), LGT_REFUSAL_END);
  CHECK_EQ(plan_of(2)->ngroup, 1);
  CHECK_EQ(plan_of(2)->group[0].launch->ncolour, 2);
  CHECK_EQ(plan_of(2)->group[0].nelided, 1);
  CHECK(value_at(y, 900) == 1802);
  lgt_close(rt);
}

/* Vectors of two lengths are independent of each other, and both are cut between the same two owners: one task each. */
TEST(other_launch_domains_fuse_between_the_same_owners) {
  open_domains();
  lgt_id x = filled(N, 1, 0), y = filled(N / 2, 1, 0);
  lgt_id a = apply("a1 c1 add =0", x, 0), b = apply("a1 c1 add =0", y, 0);
  CHECK_EQ(first_refusal(2), LGT_REFUSAL_END);
  const lgt_plan_group *group = &plan_of(2)->group[0];
  CHECK(group->count == 2 && group->mixed && group->launch->ncolour == 2);
  CHECK(value_at(a, 9) == 10 && value_at(b, 9) == 10 && value_at(a, N - 1) == N);
  lgt_close(rt);
}

/* What was written is read where its tiles lie; through a view that is shifted against them it is not. */
TEST(a_part_is_read_by_who_wrote_it) {
  open_domains();
  lgt_id x = filled(N, 1, 0), y = vector(N), edge = slice_of(rt, y, 0, 0, 3, 1), z = filled(3, 5, 0);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), 2, y, x);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0"), 2, edge, z); /* the first owner's */
  lgt_id sum = apply("a1 c1 add =0", y, 0), low = slice_of(rt, y, 0, 0, N - 1, 1),
         next = apply("a1 =0", low, 0), high = slice_of(rt, y, 0, 1, N - 1, 1),
         last = apply("a1 =0", high, 0);
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(5);
  CHECK(plan && plan->ngroup == 2);
  CHECK_EQ(plan->group[0].count, 4);
  CHECK_EQ(plan->group[0].refusal, LGT_REFUSAL_TRUE_DEPENDENCE);
  CHECK(value_at(sum, 2) == 21 && value_at(sum, 3) == 5 && value_at(next, 500) == 501 &&
        value_at(last, 1) == 20);
  for (int i = N / 2 - 3; i < N / 2 + 3; i++) CHECK(value_at(last, i) == i + 2);
  lgt_close(rt);
}

/* Twice what was written could be computed where it is written, but then it would have to be stored. */
TEST(what_only_a_later_group_reads_is_left_to_it) {
  open_domains();
  lgt_id x = filled(N, 1, 0), y = filled(N, 0, 0), from = slice_of(rt, x, 0, 1, N - 2, 1),
         inner = slice_of(rt, y, 0, 1, N - 2, 1), low = slice_of(rt, y, 0, 0, N - 2, 1);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), 2, inner, from);
  lgt_id z = apply_drop("a1 a2 add =0", apply("a1 c2 mul =0", inner, 0), low);
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(3);
  CHECK(plan && plan->ngroup == 2);
  CHECK_EQ(plan->group[0].count, 1);
  CHECK_EQ(plan->group[1].nelided, 1);
  CHECK(value_at(z, 0) == 4 && value_at(z, 5) == 20 && value_at(z, N / 2) == 3 * (N / 2) + 5);
  lgt_close(rt);
}

TEST(other_launch_domains_do_not_fuse) {
  open_domains();
  CHECK(!lgt_option(rt, "max_tiles", "4")); /* a domain has several tiles */
  lgt_id x = filled(N, 1, 0), y = filled(N / 2, 1, 0);
  lgt_id a = apply("a1 c1 add =0", x, 0), b = apply("a1 c1 add =0", y, 0);
  CHECK_EQ(first_refusal(2), LGT_REFUSAL_LAUNCH_DOMAIN);
  CHECK(value_at(a, 9) == 10 && value_at(b, 9) == 10);
  lgt_close(rt);
}

TEST(a_neighbour_is_not_read_where_it_was_written) {
  open_domains();
  lgt_id x = filled(N, 1, 0), y = vector(N);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), 2, y, x);
  /* out and x[0 : N] of the same tiles, y shifted by one */
  lgt_id tail = slice_of(rt, y, 0, 1, N - 1, 1), out = vector(N), head = slice_of(rt, out, 0, 0, N - 1, 1);
  lgt_id other = slice_of(rt, y, 0, 0, N - 1, 1), other_out = vector(N),
         other_head = slice_of(rt, other_out, 0, 0, N - 1, 1);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0"), 2, other_head, other);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0"), 2, head, tail);
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(3);
  CHECK(plan && plan->ngroup > 1);
  CHECK(value_at(out, 499) == 1002 && value_at(other_out, 499) == 1000);
  lgt_close(rt);
}

/* The same tiles, but y from its end: colour 0 would read what colour 1 writes, or the other way round.  With tiles
 * `apart` each domain reads a copy of its own, made before. */
static void read_backwards(bool write_first, bool apart) {
  open_domains();
  if (!apart) CHECK(!lgt_option(rt, "max_tiles", "4"));
  lgt_id x = filled(N, 1, 0), y = filled(N, 2, 0), z = vector(N), back = slice_of(rt, y, 0, N - 1, N, -1);
  int add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), sum = kind_of(rt, LGT_FLOAT64, "a1 a2 add =0");
  if (write_first) launch(rt, add, 2, y, x);
  launch(rt, sum, 3, z, x, back);
  if (!write_first) launch(rt, add, 2, y, x);
  CHECK_EQ(first_refusal(2), write_first ? LGT_REFUSAL_TRUE_DEPENDENCE
                             : apart     ? LGT_REFUSAL_END
                                         : LGT_REFUSAL_ANTI_DEPENDENCE);
  CHECK(value_at(z, 7) == (write_first ? N : 7 + 2 * (N - 8)) && value_at(y, 7) == 8);
  lgt_close(rt);
}

TEST(a_true_dependence_through_another_view_is_refused) {
  read_backwards(true, true);
  read_backwards(true, false);
}
TEST(an_anti_dependence_is_none_between_tiles_of_different_domains) { read_backwards(false, true); }
TEST(an_anti_dependence_through_another_view_is_refused) { read_backwards(false, false); }

TEST(a_reduction_that_is_needed_is_refused) {
  open_domains();
  lgt_id x = filled(N, 1, 0), total = array_of(rt, LGT_FLOAT64, 0, NULL), y = vector(N);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 sum>0"), 2, total, x);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 a2 div =0"), 3, y, x, total);
  CHECK_EQ(first_refusal(2), LGT_REFUSAL_REDUCTION);
  CHECK(value_at(y, 10) == 10 / (N * (N - 1) / 2.0));
  lgt_close(rt);
}

static lgt_status nothing(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                          int64_t hi) {
  (void)nargs, (void)params;
  for (int64_t i = lo; i < hi; i++) *(double *)((char *)tiles[0].data + i * tiles[0].stride[0]) = 5;
  return LGT_OK;
}

TEST(a_task_in_c_runs_alone) {
  open_plain();
  lgt_id x = filled(N, 1, 0), y = apply("a1 c1 add =0", x, 0), z = vector(N);
  launch(rt, native_kind(rt, "five", "w", "", nothing), 1, z);
  lgt_id w = apply("a1 a2 add =0", y, z);
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(3);
  CHECK(plan);
  CHECK_EQ(plan->ngroup, 3);
  CHECK_EQ(plan->group[0].refusal, LGT_REFUSAL_CPU_VARIANT);
  CHECK_EQ(plan->group[1].refusal, LGT_REFUSAL_CPU_VARIANT);
  CHECK(value_at(w, 7) == 13);
  lgt_close(rt);
}

TEST(every_refusal_has_words) {
  for (int r = 0; r < LGT_NREFUSAL; r++) CHECK(*lgt_refusal_text(r));
}

int main(void) {
  RUN(a_chain_is_one_pass);
  RUN(isomorphic_windows_share_a_plan);
  RUN(a_stencil_in_place_is_one_pass);
  RUN(a_small_part_in_place_is_two_passes);
  RUN(a_copy_is_forwarded);
  RUN(a_copy_shares_memory_until_it_is_written);
  RUN(who_writes_the_original_is_renamed);
  RUN(a_reduction_ends_the_pass);
  RUN(reductions_over_one_space_share_a_pass);
  RUN(what_nobody_needs_is_not_computed);
  RUN(options_turn_passes_off);
  RUN(a_loop_has_room_for_so_many_accesses);
  RUN(a_loop_has_room_for_so_many_reductions);
  RUN(kinds_with_many_arguments_fuse);
  RUN(a_long_window_is_several_tasks);
  RUN(a_result_that_is_read_late_is_computed_then_and_stored_the_next_time);
  RUN(a_recipe_keeps_its_inputs);
  RUN(a_chain_of_results_is_computed_late);
  RUN(what_no_recipe_can_make_must_be_dead_or_is_stored);
  RUN(storing_may_be_cheaper_than_collecting);
  RUN(what_recipes_read_is_left_alone);
  RUN(versions_are_computed_again_from_former_contents);
  RUN(recipes_keep_former_contents_up_to_a_limit);
  RUN(former_contents_make_room);
  RUN(what_comes_from_former_contents_fits);
  RUN(what_recipes_do_not_read_may_be_written_in_place);
  RUN(what_fails_later_is_no_failure_of_a_recipe);
  RUN(recipes_keep_nothing_that_can_be_computed_again);
  RUN(what_is_read_elsewhere_is_not_written_over);
  RUN(what_was_copied_is_not_written_over);
  RUN(a_group_ends_where_least_is_needed);
  RUN(equal_tiles_fuse);
  RUN(what_only_a_later_group_reads_is_left_to_it);
  RUN(other_launch_domains_do_not_fuse);
  RUN(other_launch_domains_fuse_between_the_same_owners);
  RUN(a_part_is_read_by_who_wrote_it);
  RUN(a_neighbour_is_not_read_where_it_was_written);
  RUN(a_true_dependence_through_another_view_is_refused);
  RUN(an_anti_dependence_through_another_view_is_refused);
  RUN(an_anti_dependence_is_none_between_tiles_of_different_domains);
  RUN(a_reduction_that_is_needed_is_refused);
  RUN(a_task_in_c_runs_alone);
  RUN(every_refusal_has_words);
  return check_done();
}
