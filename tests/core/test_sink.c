/* test_sink.c - items in the loop of their first reader: what is stored, and that values are those of the program. */
#include "fusion.h"
#include "plan/weave.h"

enum { INNER = N - 2 };

static lgt_id inner_of(lgt_id x) { return slice_of(rt, x, 0, 1, INNER, 1); }

/* The sum of the neighbours of each inner element of x. */
static lgt_id around(lgt_id x) {
  return apply_drop("a1 a2 add =0", slice_of(rt, x, 0, 0, INNER, 1), slice_of(rt, x, 0, 2, INNER, 1));
}

/* A turn of a stencil in place: the inner part of x becomes x + (around - term) / 4. */
static void turn(lgt_id x, lgt_id term) {
  lgt_id middle = inner_of(x), change = apply_drop("a1 a2 sub =0", around(x), term);
  launch(rt, kind_of(rt, LGT_FLOAT64, "a0 a1 c0.25 mul add =0"), 2, middle, change);
  lgt_array_free(rt, middle);
  lgt_array_free(rt, change);
}

static void turn_in_c(double *x, double (*term)(double)) {
  double new[N];
  for (int i = 1; i < N - 1; i++) new[i] = x[i] + (x[i - 1] + x[i + 1] - term(x[i])) * 0.25;
  memcpy(x + 1, new + 1, INNER * sizeof *x);
}

static double twice(double x) { return 2 * x; }
static double squared(double x) { return x * 3 * 3; }

/* Accesses of the loops over the inner part; -1: they differ. */
static int accesses_of(const lgt_plan *plan) {
  int found = 0;
  for (int g = 0; g < plan->ngroup; g++)
    for (int l = 0; l < plan->group[g].nloop; l++) {
      const lgt_plan_loop *loop = &plan->group[g].loop[l];
      if (loop->extent[0] != INNER) continue;
      int n = loop->kernel->loop->naccess;
      found = found && found != n ? -1 : n;
    }
  return found;
}

static const lgt_weave_item *item_of_call(const lgt_plan *plan, int call) {
  const lgt_weave_items *items = plan->group[0].items;
  for (int i = 0; i < items->nitem; i++)
    if (items->item[i].call == call) return &items->item[i];
  return NULL;
}

static bool same(lgt_id x, const double *wanted, int64_t n) {
  return !lgt_array_copy_out(rt, x, buffer) && !memcmp(buffer, wanted, (size_t)n * sizeof *wanted);
}

static void begin(void) {
  open_plain();
  rt->fuser.collection_ns = 0; /* nothing is stored to save a collection */
}

/* 2 * x of the second turn could be computed in the loop of the first, which has x in a register; but who needs it is the loop of
 * the second, which loads x, too. */
TEST(nothing_is_left_for_the_next_turn) {
  begin();
  lgt_id x = filled(N, 0.5, 1);
  double wanted[N];
  memcpy(wanted, buffer, sizeof wanted);
  for (int t = 0; t < 3; t++) {
    turn(x, apply_drop("a1 c2 mul =0", inner_of(x), 0));
    turn_in_c(wanted, twice);
  }
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(12);
  CHECK(plan && plan->ngroup == 1);
  CHECK_EQ(accesses_of(plan), 4); /* three neighbours, and what becomes of the middle one */
  CHECK_EQ(new_slots(plan), 2);   /* versions of x take turns in these */
  CHECK(same(x, wanted, N));
  lgt_close(rt);
}

TEST(what_only_it_needs_comes_along) {
  begin();
  lgt_id y = filled(INNER, 0, 3), x = filled(N, 0.5, 1);
  double wanted[N];
  memcpy(wanted, buffer, sizeof wanted);
  for (int t = 0; t < 3; t++) {
    turn(x, apply_drop("a1 a2 mul =0", apply_drop("a1 a2 mul =0", inner_of(x), lgt_array_alias(rt, y)),
                       lgt_array_alias(rt, y)));
    turn_in_c(wanted, squared);
  }
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(15);
  CHECK(plan && plan->ngroup == 1);
  CHECK_EQ(accesses_of(plan), 5);
  CHECK_EQ(new_slots(plan), 2);
  CHECK(same(x, wanted, N));
  lgt_close(rt);
}

/* y changes in the loop before the one of its reader: what is made of y is made before. */
TEST(what_changes_in_between_is_read_before) {
  for (int whole = 0; whole < 2; whole++) {
    begin();
    lgt_id x = filled(N, 0.5, 1), y = filled(INNER, 1, 0);
    double wanted[INNER];
    for (int i = 0; i < INNER; i++) wanted[i] = i + 1; /* of twice y, less y + 1 below */
    lgt_id part = slice_of(rt, y, 0, 0, whole ? INNER : INNER / 2, 1);
    lgt_id made = apply("a1 c2 mul =0", y, 0);
    turn(x, inner_of(x));
    CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a0 c1 add =0"), 1, part));
    lgt_id after = apply_drop("a1 a2 add =0", around(x), made);
    lgt_id left = apply_drop("a1 a2 sub =0", after, around(x));
    lgt_id result = apply_drop("a1 c1 add =0", left, 0);
    CHECK(!lgt_fence(rt));
    CHECK(!lgt_array_copy_out(rt, result, buffer));
    for (int i = 0; i < INNER; i++) CHECK(fabs(buffer[i] - (2 * i + 1)) < 1e-9);
    CHECK(value_at(y, 3) == 4 && value_at(y, INNER - 1) == wanted[INNER - 1] - !whole);
    lgt_close(rt);
  }
}

/* The product is one array to store and to load; to make it later would take three more to load. */
TEST(what_would_cost_more_stays) {
  begin();
  lgt_id a = filled(INNER, 1, 1), b = filled(INNER, 1, 2), x = filled(N, 0.5, 1);
  lgt_id kept = apply("a1 a2 add =0", a, b), made = vector(INNER);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 a2 mul a3 add =0"), 4, made, a, b, kept));
  turn(x, inner_of(x));
  lgt_id result = apply_drop("a1 a2 add =0", around(x), made);
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(7);
  CHECK(plan && plan->ngroup == 1 && item_of_call(plan, 1) && item_of_call(plan, 6));
  CHECK_EQ(item_of_call(plan, 0)->loop, 0);
  CHECK_EQ(item_of_call(plan, 1)->loop, 0);
  CHECK(item_of_call(plan, 6)->loop > 0);
  CHECK(value_at(kept, 4) == 11 && value_at(result, 0) != 0);
  lgt_close(rt);
}

/* The sum must be there before anybody divides by it, but nothing else. */
TEST(behind_a_reduction) {
  begin();
  lgt_id a = filled(N, 1, 1), b = filled(N, 0, 1), total = array_of(rt, LGT_FLOAT64, 0, NULL);
  lgt_id made = apply("a1 c2 mul =0", a, 0);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 sum>0"), 2, total, b));
  lgt_id result = apply_drop("a1 a2 div =0", made, lgt_array_alias(rt, total));
  CHECK(!lgt_fence(rt));
  const lgt_plan *plan = plan_of(3);
  CHECK(plan && plan->ngroup == 1);
  CHECK_EQ(plan->group[0].nloop, 2);
  CHECK_EQ(plan->group[0].loop[0].kernel->loop->naccess, 2);
  CHECK_EQ(plan->group[0].loop[1].kernel->loop->naccess, 3);
  CHECK_EQ(new_slots(plan), 2);
  CHECK(value_at(result, 9) == 20.0 / N && value_at(total, 0) == N);
  lgt_close(rt);
}

int main(void) {
  RUN(nothing_is_left_for_the_next_turn);
  RUN(what_only_it_needs_comes_along);
  RUN(what_changes_in_between_is_read_before);
  RUN(what_would_cost_more_stays);
  RUN(behind_a_reduction);
  return check_done();
}
