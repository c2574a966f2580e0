/* test_fold.c - reductions into which several colours reduce: each value takes part once, in the order of the colours. */
#include "bind/fold.h"

#include "fusion.h"
#include "plan/weave.h"

static bool begin(const char *domains) {
  return !open_with(&rt, "cpus", "1", "check", "1", "domains", domains, "min_tile", "1", NULL);
}

static lgt_id vector_of(const double *values, int64_t n) {
  lgt_id id = vector(n);
  return lgt_array_copy_in(rt, id, values) ? 0 : id;
}

static double number_in(lgt_id scalar) {
  double got;
  return lgt_array_copy_out(rt, scalar, &got) ? NAN : got;
}

/* ((1e16 + 1) - 1e16) + 1: in any other order it is 0 or 2. */
TEST(colours_are_folded_in_their_order) {
  CHECK(begin("4"));
  double values[4] = {1e16, 1, -1e16, 1};
  lgt_id x = vector_of(values, 4), total = array_of(rt, LGT_FLOAT64, 0, NULL);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 sum>0"), 2, total, x));
  CHECK(number_in(total) == 1);
  CHECK_EQ(plan_of(1)->group[0].launch->ncolour, 4);
  lgt_close(rt);
}

/* What the target held counts once, however many colours there are; in front of them. */
TEST(former_contents_take_part_once) {
  CHECK(begin("4"));
  double values[4] = {1, 2, 4, 8}, former = 100;
  lgt_id x = vector_of(values, 4), total = array_of(rt, LGT_FLOAT64, 0, NULL);
  CHECK(!lgt_array_copy_in(rt, total, &former));
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 sum+>0"), 2, total, x));
  CHECK(number_in(total) == 115);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 prod>0"), 2, total, x)); /* these are dropped */
  CHECK(number_in(total) == 64);
  lgt_close(rt);
}

/* Of equal values in two tiles the first one's position counts; what no colour reduced into has none. */
TEST(the_first_of_equal_values_is_found) {
  CHECK(begin("4"));
  double values[8] = {3, 1, 9, 2, 9, 4, 9, 0};
  int64_t at = -1;
  lgt_id x = vector_of(values, 8), most = array_of(rt, LGT_FLOAT64, 0, NULL),
         place = array_of(rt, LGT_INT64, 0, NULL);
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a2 i0 argmax>0"), 3, most, place, x));
  CHECK(number_in(most) == 9 && !lgt_array_copy_out(rt, place, &at));
  CHECK_EQ(at, 2);
  lgt_close(rt);
}

/* Sums over the dimension that is cut, of each column; the targets go forwards and backwards. */
TEST(each_element_is_folded_for_itself) {
  CHECK(begin("3"));
  enum { ROWS = 60, COLUMNS = 7 };
  static double values[ROWS * COLUMNS];
  int64_t shape[2] = {ROWS, COLUMNS};
  for (int i = 0; i < ROWS * COLUMNS; i++) values[i] = i % COLUMNS + 1;
  lgt_id x = array_of(rt, LGT_FLOAT64, 2, shape);
  CHECK(!lgt_array_copy_in(rt, x, values));
  for (int step = 1; step >= -1; step -= 2) {
    lgt_id sums = vector(COLUMNS), walked = slice_of(rt, sums, 0, step > 0 ? 0 : COLUMNS - 1, COLUMNS, step);
    lgt_id wide = lgt_layout_view(rt, walked, lgt_layout_promote(rt, LAYOUT(rt, walked), 0, ROWS));
    CHECK(wide && !launch(rt, kind_of(rt, LGT_FLOAT64, "a1 sum>0"), 2, wide, x));
    for (int c = 0; c < COLUMNS; c++)
      CHECK(value_at(sums, c) == ROWS * ((step > 0 ? c : COLUMNS - 1 - c) + 1));
  }
  lgt_close(rt);
}

/* A complex sum is one fold of two numbers, argmax one with a slot for positions. */
TEST(folds_are_listed_once) {
  CHECK(begin("2"));
  int64_t n = N;
  lgt_id z = array_of(rt, LGT_COMPLEX128, 1, &n), sum = array_of(rt, LGT_COMPLEX128, 0, NULL);
  CHECK(!launch(rt, kind_of(rt, LGT_COMPLEX128, "c1 =0"), 1, z) && !lgt_fence(rt));
  CHECK(!launch(rt, kind_of(rt, LGT_COMPLEX128, "a1 sum>0"), 2, sum, z) && !lgt_fence(rt));
  lgt_id x = filled(N, 1, 0), most = array_of(rt, LGT_FLOAT64, 0, NULL),
         place = array_of(rt, LGT_INT64, 0, NULL);
  CHECK(!lgt_fence(rt) && !launch(rt, kind_of(rt, LGT_FLOAT64, "a2 i0 argmax>0"), 3, most, place, x) &&
        !lgt_fence(rt));
  int seen = 0;
  for (uint32_t i = 0; i <= rt->fuser.mask; i++) {
    const lgt_plan *plan = rt->fuser.table[i];
    if (!plan || plan->call[0].nargs < 2) continue;
    bool folds[8] = {0}, pair = plan->call[0].nargs == 3;
    const lgt_plan_group *group = &plan->group[0];
    int count;
    for (int s = 0; s < group->nslot; s++)
      folds[s] = lgt_layout_at(&rt->stores, group->slot[s].layout)->ndim == 0;
    const lgt_fold *fold = lgt_fold_list(&rt->binder, group, folds, &count);
    CHECK(fold && count == 1 && folds[fold->slot] && pair == (fold->at_slot >= 0));
    CHECK_EQ(fold->redop, pair ? LGT_REDOP_ARGMAX : LGT_REDOP_SUM);
    memset(folds, 0, sizeof folds);
    CHECK(lgt_fold_list(&rt->binder, group, folds, &count) && count == 0);
    seen++;
  }
  CHECK_EQ(seen, 2);
  lgt_close(rt);
}

/* Tasks of one rank of four that reduces a vector into a number, messages among them. */
static int64_t tasks_of_sum(const char *domains, const char *body, bool has_contents) {
  if (open_with(&rt, "cpus", "1", "check", "1", "domains", domains, "min_tile", "1", "pretend_ranks", "4",
                "as_rank", "1", NULL))
    return -1;
  double former = 100;
  lgt_id x = filled(N, 1, 0), total = array_of(rt, LGT_FLOAT64, 0, NULL);
  if ((has_contents && lgt_array_copy_in(rt, total, &former)) || lgt_fence(rt)) return -1;
  int64_t before = rt->binder.jobs;
  bool good = !launch(rt, kind_of(rt, LGT_FLOAT64, body), 2, total, x) && !lgt_flush(rt);
  int64_t tasks = rt->binder.jobs - before;
  lgt_close(rt);
  return good ? tasks : -1;
}

/* What the only colour of a rank reduces is this rank's result, and what all ranks together have is the result: nothing is
 * folded there.  Several colours are folded, and so is what the result holds already. */
TEST(a_rank_with_one_colour_folds_nothing) {
  CHECK_EQ(tasks_of_sum("1", "a1 sum>0", false), 2);
  CHECK_EQ(tasks_of_sum("2", "a1 sum>0", false), 1 + 2 + 3); /* a copy for the other domain */
  CHECK_EQ(tasks_of_sum("1", "a1 sum+>0", true), 1 + 3);
  CHECK_EQ(tasks_of_sum("1", "a1 sum>0", true), 1 + 3);
}

int main(void) {
  RUN(a_rank_with_one_colour_folds_nothing);
  RUN(colours_are_folded_in_their_order);
  RUN(former_contents_take_part_once);
  RUN(the_first_of_equal_values_is_found);
  RUN(each_element_is_folded_for_itself);
  RUN(folds_are_listed_once);
  return check_done();
}
