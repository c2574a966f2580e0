/* test_group.c - where groups end, on one domain and on two, and why. */
#include "fusion.h"
#include "plan/cells.h"

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

/* A square matrix times itself, and that plus 1. */
static lgt_id product_and_more(int64_t n) {
  int64_t shape[2] = {n, n};
  lgt_id a = array_of(rt, LGT_FLOAT64, 2, shape), b = array_of(rt, LGT_FLOAT64, 2, shape),
         c = array_of(rt, LGT_FLOAT64, 2, shape);
  launch(rt, kind_of(rt, LGT_FLOAT64, "c2 =0"), 1, a);
  lgt_fence(rt);
  launch(rt, (int)lgt_kind_gemm(rt, LGT_FLOAT64), 3, b, a, a);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), 2, c, b);
  return lgt_fence(rt) ? 0 : c;
}

/* Calls of C are tasks of their own, but for small ones that cannot fail. */
TEST(small_calls_of_c_that_cannot_fail_fuse) {
  open_plain();
  lgt_id c = product_and_more(4);
  const lgt_plan *plan = plan_of(2);
  CHECK(plan && plan->ngroup == 1 && loops_of(plan) == 2 && plan->fused_whole);
  CHECK(value_at(c, 0) == 17 && value_at(c, 15) == 17);
  lgt_close(rt);
  open_plain();
  c = product_and_more(20);
  CHECK((plan = plan_of(2)) && plan->ngroup == 2 && plan->group[0].refusal == LGT_REFUSAL_CPU_VARIANT);
  CHECK(value_at(c, 0) == 81);
  lgt_close(rt);
}

TEST(small_calls_of_c_that_may_fail_do_not) {
  open_plain();
  lgt_id x = filled(9, 1, 0), y = vector(1), z = vector(1);
  int64_t one = 1;
  lgt_id at = array_of(rt, LGT_INT64, 1, &one);
  launch(rt, kind_of(rt, LGT_INT64, "c4 =0"), 1, at);
  CHECK(!lgt_fence(rt));
  lgt_launch gather = {.kind = (uint16_t)lgt_kind_builtin(rt, "gather", "wrr", ""),
                       .nargs = 3,
                       .nparams = 4,
                       .arg = {y, x, at},
                       .param = {[1].f = 1, [3].f = 1}};
  CHECK(!lgt_submit(rt, &gather));
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), 2, z, y);
  CHECK(!lgt_fence(rt) && plan_of(2) && plan_of(2)->ngroup == 2);
  CHECK(value_at(z, 0) == 4);
  lgt_close(rt);
}

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

/* A single element has no dimension that could be cut: one owner's task writes it, and the other has nothing to do for it. */
TEST(a_single_element_is_the_work_of_one_owner) {
  open_domains();
  lgt_id x = filled(N, 1, 0), y = vector(N), element = lgt_array_project(rt, y, 0, 3);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), 2, y, x);
  launch(rt, kind_of(rt, LGT_FLOAT64, "c7 =0"), 1, element);
  CHECK(element && !lgt_fence(rt));
  const lgt_plan *plan = plan_of(2);
  CHECK(plan && plan->ngroup == 1 && plan->group[0].mixed);
  const lgt_plan_group *group = &plan->group[0];
  lgt_rect first = lgt_cells_tile(group, plan->call[1].launch, 0),
           second = lgt_cells_tile(group, plan->call[1].launch, 1);
  CHECK(!lgt_rect_empty(&first) && lgt_rect_size(&first) == 1);
  CHECK(lgt_rect_empty(&second) && lgt_rect_size(&second) == 0);
  CHECK(value_at(y, 2) == 3 && value_at(y, 3) == 7 && value_at(y, N - 1) == N);
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

/* Two elements of one array are far from each other if more lies between them than a tile has. */
static int groups_of_parts(int64_t at) {
  if (open_with(&rt, "cpus", "1", "check", "1", "domains", "2", "min_tile", "1000", NULL)) return 0;
  lgt_id x = vector(4 * N), first = lgt_array_project(rt, x, 0, 0), next = lgt_array_project(rt, x, 0, at);
  launch(rt, kind_of(rt, LGT_FLOAT64, "c7 =0"), 1, first);
  launch(rt, kind_of(rt, LGT_FLOAT64, "c8 =0"), 1, next);
  const lgt_plan *plan = lgt_fence(rt) ? NULL : plan_of(2);
  int n = plan ? plan->ngroup : 0;
  bool right =
      value_at(x, 0) == 7 && value_at(x, at) == 8 && (n == 1 || plan->group[0].refusal == LGT_REFUSAL_FAR);
  lgt_close(rt);
  return right ? n : 0;
}

TEST(less_than_a_tile_lies_between_parts_that_fuse) {
  CHECK_EQ(groups_of_parts(N - 1), 1);
  CHECK_EQ(groups_of_parts(N + 1), 2);
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

/* Turns over a matrix in place, each of which reads the neighbours of what the one before has written: the plan of all. */
static const lgt_plan *take_turns(int turns, int64_t rows, int64_t columns, lgt_id *out) {
  static double got[400 * 400];
  int64_t shape[2] = {rows, columns};
  lgt_id x = *out = array_of(rt, LGT_FLOAT64, 2, shape);
  for (int i = 0; i < rows * columns; i++) got[i] = (i * i + 3 * i) % 17;
  if (lgt_array_copy_in(rt, x, got)) return NULL;
  lgt_id north = slice_of(rt, x, 0, 0, rows - 3, 1), south = slice_of(rt, x, 0, 3, rows - 3, 1),
         inner = slice_of(rt, x, 0, 1, rows - 3, 1);
  for (int turn = 0; turn < turns; turn++) {
    lgt_id sum = array_of(rt, LGT_FLOAT64, 2, (int64_t[]){rows - 3, columns});
    launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c0.5 mul a2 add =0"), 3, sum, north, south);
    launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c0.25 mul =0"), 2, inner, sum);
    lgt_array_free(rt, sum);
  }
  return lgt_fence(rt) ? NULL : plan_of(2 * turns);
}

/* The same in plain C. */
static bool turned(lgt_id x, int turns, int64_t rows, int64_t columns) {
  static double want[400 * 400], next[400 * 400], got[400 * 400];
  for (int i = 0; i < rows * columns; i++) want[i] = (i * i + 3 * i) % 17;
  for (int turn = 0; turn < turns; turn++) {
    memcpy(next, want, sizeof next);
    for (int64_t i = columns; i < (rows - 2) * columns; i++)
      next[i] = (want[i - columns] * 0.5 + want[i + 2 * columns]) * 0.25;
    memcpy(want, next, sizeof next);
  }
  return !lgt_array_copy_out(rt, x, got) && !memcmp(got, want, (size_t)(rows * columns) * sizeof *got);
}

/* Each tile has one row more before and two more behind for each turn that follows. */
TEST(turns_are_one_group_with_margins) {
  lgt_id x;
  open_widening("1000");
  const lgt_plan *plan = take_turns(4, 40, 5, &x);
  CHECK(plan && plan->ngroup == 1 && plan->group[0].turns == 4 && plan->group[0].nloop == 4);
  CHECK(plan->group[0].refusal == LGT_REFUSAL_END && plan->group[0].nmust_die == 0);
  for (int i = 0; i < 8; i++) {
    int64_t later = 3 - i / 2;
    CHECK(plan->call[i].wide->below[0] == later && plan->call[i].wide->above[0] == 2 * later);
    CHECK((plan->call[i].wide == plan->call[i].launch) == !later);
  }
  CHECK(new_slots(plan) == 2); /* in turn: one of them has the last version */
  CHECK(turned(x, 4, 40, 5));
  lgt_close(rt);
  open_domains();
  plan = take_turns(4, 40, 5, &x);
  CHECK(plan && plan->ngroup == 4 && plan->group[0].turns == 0);
  CHECK(turned(x, 4, 40, 5));
  lgt_close(rt);
}

/* Turns of 397 x 300 points in two tiles: three of them compute 2 + 1 times 3 rows of two calls more, in 1.08 microseconds. */
TEST(margins_that_cost_more_than_exchanges_are_none) {
  lgt_id x;
  open_widening("2");
  const lgt_plan *plan = take_turns(9, 400, 300, &x);
  CHECK(plan && plan->ngroup == 3);
  for (int g = 0; g < 3; g++) CHECK_EQ(plan->group[g].turns, 3);
  CHECK_EQ(plan->group[0].refusal, LGT_REFUSAL_TRUE_DEPENDENCE);
  CHECK(turned(x, 9, 400, 300));
  lgt_close(rt);
}

/* Tiles of 197 x 300 points are 472,800 bytes: loops of several turns follow one another, if memory has room for versions. */
TEST(large_tiles_have_margins_where_memory_suffices) {
  static const struct {
    const char *skew, *mem;
    int ngroup;
  } cases[] = {{"100K", "0", 1}, {"100K", "16M", 1}, {"100K", "3500K", 4}, {"0", "0", 4}, {"1M", "0", 4}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    lgt_id x;
    CHECK(!open_with(&rt, "domains", "2", "min_tile", "1", "cpus", "1", "between", "0", "skew", cases[c].skew,
                     "mem", cases[c].mem, NULL));
    const lgt_plan *plan = take_turns(4, 400, 300, &x);
    CHECK(plan && plan->ngroup == cases[c].ngroup);
    CHECK(turned(x, 4, 400, 300));
    lgt_close(rt);
  }
}

/* A staggered grid: faces between cells, in turns.  What is read of the cells is shifted by half a point, as it were. */
TEST(launches_of_other_extents_have_margins_too) {
  enum { CELLS = 40, TURNS = 4 };
  double cell[CELLS], face[CELLS + 1];
  open_widening("1000");
  lgt_id cells = filled(CELLS, 3, 1), faces = filled(CELLS + 1, 2, 0),
         inner = slice_of(rt, faces, 0, 1, CELLS - 1, 1), below = slice_of(rt, cells, 0, 0, CELLS - 1, 1),
         above = slice_of(rt, cells, 0, 1, CELLS - 1, 1), left = slice_of(rt, faces, 0, 0, CELLS, 1),
         right = slice_of(rt, faces, 0, 1, CELLS, 1);
  int more = kind_of(rt, LGT_FLOAT64, "a0 a1 add a2 sub =0");
  for (int turn = 0; turn < TURNS; turn++)
    CHECK(!launch(rt, more, 3, inner, above, below) && !launch(rt, more, 3, cells, right, left));
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(2 * TURNS);
  CHECK(plan && plan->ngroup == 1 && plan->group[0].mixed && plan->group[0].turns > TURNS);
  CHECK(plan->call[0].launch != plan->call[1].launch && plan->call[0].wide != plan->call[0].launch);
  for (int i = 0; i < CELLS; i++) cell[i] = 3 * i + 1;
  for (int i = 0; i <= CELLS; i++) face[i] = 2 * i;
  for (int turn = 0; turn < TURNS; turn++) {
    for (int i = 1; i < CELLS; i++) face[i] += cell[i] - cell[i - 1];
    for (int i = 0; i < CELLS; i++) cell[i] += face[i + 1] - face[i];
  }
  for (int i = 0; i < CELLS; i++) CHECK(value_at(cells, i) == cell[i] && value_at(faces, i) == face[i]);
  lgt_close(rt);
}

/* y is made twice, all of it or with an edge left out, and read one element behind the tile at last: both have a margin. */
TEST(what_is_made_again_needs_the_margin_of_both) {
  enum { SIZE = 40 };
  for (int64_t edge = 0; edge < 2; edge++) {
    open_widening("1000");
    lgt_id x = apply("a1 c1 add =0", filled(SIZE, 1, 0), 0), y = vector(SIZE), z = vector(SIZE),
           w = vector(SIZE - 1);
    int64_t inner = SIZE - 2 * edge;
    lgt_id part = slice_of(rt, y, 0, edge, inner, 1), of = slice_of(rt, x, 0, edge, inner, 1);
    CHECK(!lgt_fence(rt));
    launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), 2, y, x);
    launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0"), 2, z, y);
    launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c3 mul =0"), 2, part, of);
    launch(rt, kind_of(rt, LGT_FLOAT64, "a1 a2 sub =0"), 3, w, slice_of(rt, y, 0, 1, SIZE - 1, 1),
           slice_of(rt, y, 0, 0, SIZE - 1, 1));
    CHECK(!lgt_fence(rt));
    const lgt_plan *plan = plan_of(4);
    CHECK(plan && plan->ngroup == 1 && plan->group[0].turns == 2);
    for (int i = 0; i < 4; i++)
      CHECK_EQ(plan->call[i].wide->above[0] + plan->call[i].wide->below[0], i % 2 == 0);
    double last = 0;
    for (int i = 0; i < SIZE; i++) {
      double now = i >= edge && i < SIZE - edge ? 3 * (i + 1) : i + 2;
      CHECK(value_at(y, i) == now && value_at(z, i) == 2 * (i + 2) &&
            (!i || value_at(w, i - 1) == now - last));
      last = now;
    }
    lgt_close(rt);
  }
}

/* One owner overwrites element `at`; then each reads one element behind its own, of 20 to either: one group, or two? */
static void read_behind(int at, int64_t turns, int ngroup) {
  enum { SIZE = 40 };
  open_widening("1000");
  lgt_id x = filled(SIZE, 1, 0), y = vector(SIZE - 1), one = slice_of(rt, x, 0, at, 1, 1);
  lgt_id low = slice_of(rt, x, 0, 0, SIZE - 1, 1), high = slice_of(rt, x, 0, 1, SIZE - 1, 1);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a0 c1 add =0"), 1, x) && !lgt_fence(rt));
  launch(rt, kind_of(rt, LGT_FLOAT64, "a0 c2 mul =0"), 1, x);
  launch(rt, kind_of(rt, LGT_FLOAT64, "c5 =0"), 1, one);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 a2 add =0"), 3, y, low, high);
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(3);
  CHECK(plan);
  CHECK_EQ(plan->ngroup, ngroup);
  CHECK_EQ(plan->group[0].turns, turns);
  for (int i = 0; i < SIZE - 1; i++)
    CHECK_EQ(value_at(y, i), (i == at ? 5 : 2 * (i + 1)) + (i + 1 == at ? 5 : 2 * (i + 2)));
  lgt_close(rt);
}
TEST(what_one_owner_alone_has_written_is_in_no_margin) {
  read_behind(20, 0, 2); /* the second owner's first element */
  read_behind(21, 2, 1);
  read_behind(3, 2, 1);
  read_behind(19, 2, 1);
}

/* A sum would count what is in a margin twice: it is of the last turn, and no turn follows that reads what it reads. */
TEST(reductions_have_no_margins) {
  open_widening("1000");
  lgt_id x = filled(N, 1, 0), y = vector(N), low = slice_of(rt, y, 0, 0, N - 2, 1), z = vector(N - 2),
         total = array_of(rt, LGT_FLOAT64, 0, NULL);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), 2, y, x);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 sum>0"), 2, total, y);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), 2, z, low);
  CHECK(!lgt_fence(rt) && value_at(z, N / 2) == N / 2 + 2);
  CHECK_EQ(value_at(total, 0), N * (N + 1) / 2);
  lgt_close(rt);
}

TEST(all_dimensions_may_be_cut) {
  enum { DIMS = 6, ALL = 2 << DIMS };
  static double got[ALL];
  CHECK(!open_with(&rt, "domains", "64", "min_tile", "1", "cpus", "1", NULL));
  lgt_id x = array_of(rt, LGT_FLOAT64, DIMS, (int64_t[DIMS]){4, 2, 2, 2, 2, 2}), low, high, y;
  y = array_of(rt, LGT_FLOAT64, DIMS, (int64_t[DIMS]){2, 2, 2, 2, 2, 2});
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "i-1 cast =0"), 1, x));
  low = slice_of(rt, x, 0, 0, 2, 1), high = slice_of(rt, x, 0, 2, 2, 1);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 a2 add =0"), 3, y, low, high));
  CHECK(!lgt_array_copy_out(rt, y, got));
  for (int i = 0; i < ALL / 2; i++) CHECK(got[i] == 2 * i + ALL / 2);
  lgt_close(rt);
}

int main(void) {
  RUN(all_dimensions_may_be_cut);
  RUN(turns_are_one_group_with_margins);
  RUN(margins_that_cost_more_than_exchanges_are_none);
  RUN(large_tiles_have_margins_where_memory_suffices);
  RUN(launches_of_other_extents_have_margins_too);
  RUN(what_is_made_again_needs_the_margin_of_both);
  RUN(what_one_owner_alone_has_written_is_in_no_margin);
  RUN(reductions_have_no_margins);
  RUN(a_group_ends_where_least_is_needed);
  RUN(equal_tiles_fuse);
  RUN(other_launch_domains_fuse_between_the_same_owners);
  RUN(a_single_element_is_the_work_of_one_owner);
  RUN(a_part_is_read_by_who_wrote_it);
  RUN(what_only_a_later_group_reads_is_left_to_it);
  RUN(other_launch_domains_do_not_fuse);
  RUN(a_neighbour_is_not_read_where_it_was_written);
  RUN(a_true_dependence_through_another_view_is_refused);
  RUN(an_anti_dependence_is_none_between_tiles_of_different_domains);
  RUN(an_anti_dependence_through_another_view_is_refused);
  RUN(a_reduction_that_is_needed_is_refused);
  RUN(less_than_a_tile_lies_between_parts_that_fuse);
  RUN(a_task_in_c_runs_alone);
  RUN(small_calls_of_c_that_cannot_fail_fuse);
  RUN(small_calls_of_c_that_may_fail_do_not);
  return check_done();
}
