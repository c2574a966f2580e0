/* test_weave.c - the loops of a group: which calls share a pass, and where one array may take the memory of another.
 *
 * Covers weave.c, place.c and assemble.c.
 */
#include "fusion.h"

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

int main(void) {
  RUN(a_chain_is_one_pass);
  RUN(a_stencil_in_place_is_one_pass);
  RUN(a_small_part_in_place_is_two_passes);
  RUN(a_copy_is_forwarded);
  RUN(a_copy_shares_memory_until_it_is_written);
  RUN(who_writes_the_original_is_renamed);
  RUN(a_reduction_ends_the_pass);
  RUN(reductions_over_one_space_share_a_pass);
  RUN(a_loop_has_room_for_so_many_accesses);
  RUN(a_loop_has_room_for_so_many_reductions);
  RUN(what_is_read_elsewhere_is_not_written_over);
  RUN(what_was_copied_is_not_written_over);
  return check_done();
}
