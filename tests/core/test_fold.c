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

int main(void) {
  RUN(colours_are_folded_in_their_order);
  RUN(former_contents_take_part_once);
  RUN(the_first_of_equal_values_is_found);
  RUN(each_element_is_folded_for_itself);
  RUN(folds_are_listed_once);
  return check_done();
}
