/* test_survey.c - the elements of a group's slots that domains touch. */
#include "bind/survey.h"

#include "fusion.h"
#include "plan/weave.h"

/* The plan of the only window, and what the survey of its group says. */
static const lgt_plan_group *surveyed(int ncall, lgt_surveyed *out) {
  const lgt_plan *plan = lgt_fence(rt) ? NULL : plan_of(ncall);
  if (!plan || plan->ngroup != 1) return NULL;
  return lgt_survey(&rt->binder, &plan->group[0], out) ? &plan->group[0] : NULL;
}

/* The slot of a root that was there before, or that the group makes. */
static int slot_of(const lgt_plan_group *group, bool initial) {
  for (int s = 0; s < group->nslot; s++)
    if (group->slot[s].initial == initial) return s;
  return -1;
}

static bool is(const lgt_rect *r, int64_t lo, int64_t hi) {
  return r->ndim == 1 && r->lo[0] == lo && r->hi[0] == hi;
}

TEST(a_tile_reads_beyond_what_it_writes) {
  open_domains();
  lgt_surveyed touched;
  lgt_id x = filled(N, 1, 0), y = vector(N - 4);
  CHECK(!lgt_fence(rt));
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 a2 add =0"), 3, y, slice_of(rt, x, 0, 0, N - 4, 1),
                slice_of(rt, x, 0, 4, N - 4, 1)));
  const lgt_plan_group *group = surveyed(1, &touched);
  CHECK(group && group->launch->ncolour == 2);
  int from = slot_of(group, true), to = slot_of(group, false);
  CHECK(from >= 0 && to >= 0);
  for (int d = 0; d < 2; d++) {
    lgt_rect tile = lgt_partition_rect(group->launch, d);
    CHECK(is(&touched.write[d * group->nslot + to], tile.lo[0], tile.hi[0]));
    CHECK(is(&touched.read[d * group->nslot + from], tile.lo[0], tile.hi[0] + 4));
    CHECK(touched.write[d * group->nslot + from].ndim < 0 && touched.read[d * group->nslot + to].ndim < 0);
  }
  CHECK(!touched.fold[from] && !touched.fold[to]);
  lgt_close(rt);
}

TEST(what_several_colours_reduce_into_is_folded) {
  open_domains();
  lgt_surveyed touched;
  lgt_id x = filled(N, 1, 0), total = array_of(rt, LGT_FLOAT64, 0, NULL), y = vector(N);
  CHECK(!lgt_fence(rt));
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 sum>0 a1 =2"), 3, total, x, y));
  const lgt_plan_group *group = surveyed(1, &touched);
  CHECK(group && group->launch->ncolour == 2);
  int folds = 0;
  for (int s = 0; s < group->nslot; s++) {
    bool scalar = lgt_layout_at(&rt->stores, group->slot[s].layout)->ndim == 0;
    CHECK_EQ(touched.fold[s], scalar);
    folds += touched.fold[s];
    if (scalar) CHECK(touched.write[s].ndim == 0);
  }
  CHECK_EQ(folds, 1);
  lgt_close(rt);
}

TEST(columns_that_are_kept_are_not_folded) {
  CHECK(!open_with(&rt, "cpus", "1", "domains", "2", "min_tile", "1", NULL));
  lgt_surveyed touched;
  int64_t shape[2] = {2, 400};
  lgt_id x = array_of(rt, LGT_FLOAT64, 2, shape), sums = vector(400);
  lgt_id wide = lgt_layout_view(rt, sums, lgt_layout_promote(rt, LAYOUT(rt, sums), 0, 2));
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "c1 =0"), 1, x) && !lgt_fence(rt));
  CHECK(wide && !launch(rt, kind_of(rt, LGT_FLOAT64, "a1 sum>0"), 2, wide, x));
  CHECK(!lgt_fence(rt));
  for (uint32_t i = 0; i <= rt->fuser.mask; i++) {
    const lgt_plan *plan = rt->fuser.table[i];
    if (!plan || plan->call[0].nargs != 2) continue;
    const lgt_plan_group *group = &plan->group[0];
    CHECK(lgt_survey(&rt->binder, group, &touched));
    int s = slot_of(group, false);
    bool rows = group->launch->grid[0] > 1; /* are what a sum goes over; columns are not */
    CHECK(s >= 0 && group->launch->ncolour == 2 && touched.fold[s] == rows);
  }
  CHECK(value_at(sums, 7) == 2);
  lgt_close(rt);
}

TEST(a_group_is_surveyed_once) {
  open_domains();
  lgt_surveyed first, second;
  apply("a1 c1 add =0", filled(N, 1, 0), 0);
  const lgt_plan_group *group = surveyed(1, &first);
  CHECK(group);
  lgt_mem_fail_at(1);
  CHECK(lgt_survey(&rt->binder, group, &second));
  lgt_mem_fail_at(0);
  CHECK(first.read == second.read && first.write == second.write && first.fold == second.fold);
  lgt_close(rt);
}

/* What is written in place is no copy's business; what is written everywhere, nobody's at all. */
TEST(what_is_overwritten_is_spare) {
  open_domains();
  lgt_surveyed touched;
  lgt_id x = filled(N, 1, 0), y = filled(N, 2, 0);
  CHECK(!lgt_fence(rt));
  CHECK(!launch(rt, kind_of(rt, LGT_FLOAT64, "a1 =0"), 2, slice_of(rt, y, 0, 2, N - 4, 1),
                slice_of(rt, x, 0, 2, N - 4, 1)));
  const lgt_plan_group *group = surveyed(1, &touched);
  CHECK(group && group->launch->ncolour == 2 && touched.spare);
  int found = 0;
  for (int s = 0; s < group->nslot; s++)
    for (int d = 0; d < 2; d++) {
      lgt_rect tile = lgt_partition_rect(group->launch, d), at;
      const lgt_rect *spare = &touched.spare[d * group->nslot + s];
      CHECK_EQ(spare->ndim >= 0, lgt_survey_spare(&rt->binder, group, s, d, &at));
      if (spare->ndim < 0) continue;
      CHECK(is(spare, tile.lo[0] + 2, tile.hi[0] + 2) && is(&at, spare->lo[0], spare->hi[0]));
      found++;
    }
  CHECK_EQ(found, 2);
  lgt_close(rt);
}

int main(void) {
  RUN(a_tile_reads_beyond_what_it_writes);
  RUN(what_several_colours_reduce_into_is_folded);
  RUN(columns_that_are_kept_are_not_folded);
  RUN(a_group_is_surveyed_once);
  RUN(what_is_overwritten_is_spare);
  return check_done();
}
