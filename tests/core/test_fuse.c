/* test_fuse.c - plans: what makes two windows have the same one, and which calls it leaves out. */
#include "fusion.h"

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

TEST(every_refusal_has_words) {
  for (int r = 0; r < LGT_NREFUSAL; r++) CHECK(*lgt_refusal_text(r));
}

int main(void) {
  RUN(isomorphic_windows_share_a_plan);
  RUN(what_nobody_needs_is_not_computed);
  RUN(options_turn_passes_off);
  RUN(kinds_with_many_arguments_fuse);
  RUN(a_long_window_is_several_tasks);
  RUN(every_refusal_has_words);
  return check_done();
}
