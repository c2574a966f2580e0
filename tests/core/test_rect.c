/* test_rect.c - boxes and regions against bitmaps: every answer is counted point by point. */
#include "check.h"
#include "loops.h"
#include "base/mem.h"
#include "base/rect.h"

enum { SIDE = 5, MOST = SIDE * SIDE * SIDE };

/* A set of points of [0, SIDE)^ndim, ndim <= 3. */
typedef struct bitmap {
  int ndim;
  bool has[MOST];
} bitmap;

static int points_of(int ndim) { return ndim == 0 ? 1 : ndim == 1 ? SIDE : ndim == 2 ? SIDE * SIDE : MOST; }

static void point_at(int ndim, int number, int64_t *x) {
  for (int d = ndim - 1; d >= 0; d--, number /= SIDE) x[d] = number % SIDE;
}

static bool holds(const lgt_rect *r, const int64_t *x) {
  for (int d = 0; d < r->ndim; d++)
    if (x[d] < r->lo[d] || x[d] >= r->hi[d]) return false;
  return true;
}

static bitmap map_of(const lgt_rect *r) {
  bitmap m = {.ndim = r->ndim};
  for (int p = 0; p < points_of(r->ndim); p++) {
    int64_t x[3];
    point_at(r->ndim, p, x);
    m.has[p] = holds(r, x);
  }
  return m;
}

static int count(const bitmap *m) {
  int n = 0;
  for (int p = 0; p < points_of(m->ndim); p++) n += m->has[p];
  return n;
}

/* Any box within the grid, sometimes empty. */
static lgt_rect random_rect(int ndim) {
  lgt_rect r = {.ndim = ndim};
  for (int d = 0; d < ndim; d++) {
    r.lo[d] = random_below(SIDE + 1);
    r.hi[d] = r.lo[d] + random_below(SIDE + 1 - (int)r.lo[d]);
  }
  return r;
}

TEST(boxes_are_sets_of_points) {
  for (int round = 0; round < 5000; round++) {
    int ndim = round % 4, inside = 0;
    lgt_rect a = random_rect(ndim), b = random_rect(ndim), both;
    bitmap ma = map_of(&a), mb = map_of(&b);
    CHECK_EQ(lgt_rect_size(&a), count(&ma));
    CHECK_EQ(lgt_rect_empty(&a), count(&ma) == 0);
    bool subset = true;
    for (int p = 0; p < points_of(ndim); p++) {
      inside += ma.has[p] && mb.has[p];
      subset &= ma.has[p] || !mb.has[p];
    }
    CHECK_EQ(lgt_rect_contains(&a, &b), subset);
    CHECK_EQ(lgt_rect_intersect(&a, &b, &both), inside > 0);
    if (!inside) continue;
    bitmap mc = map_of(&both);
    CHECK_EQ(count(&mc), inside);
    for (int p = 0; p < points_of(ndim); p++) CHECK_EQ(mc.has[p], ma.has[p] && mb.has[p]);
  }
}

TEST(a_difference_is_disjoint_boxes) {
  for (int round = 0; round < 5000; round++) {
    int ndim = round % 4, seen[MOST] = {0};
    lgt_rect a = random_rect(ndim), b = random_rect(ndim), piece[2 * LGT_MAX_DIM];
    int n = lgt_rect_subtract(&a, &b, piece);
    CHECK(n <= 2 * ndim || n <= 1);
    for (int i = 0; i < n; i++) {
      CHECK(!lgt_rect_empty(&piece[i]));
      bitmap m = map_of(&piece[i]);
      for (int p = 0; p < points_of(ndim); p++) seen[p] += m.has[p];
    }
    bitmap ma = map_of(&a), mb = map_of(&b);
    for (int p = 0; p < points_of(ndim); p++) CHECK_EQ(seen[p], ma.has[p] && !mb.has[p]);
  }
}

TEST(a_bound_is_the_smallest_box_around_two) {
  for (int round = 0; round < 2000; round++) {
    int ndim = 1 + round % 3;
    lgt_rect a = random_rect(ndim), b = random_rect(ndim), bound = lgt_rect_bound(&a, &b);
    bitmap ma = map_of(&a), mb = map_of(&b), mc = map_of(&bound);
    if (count(&ma) + count(&mb) == 0) continue;
    int64_t lo[3] = {SIDE, SIDE, SIDE}, hi[3] = {-1, -1, -1};
    for (int p = 0; p < points_of(ndim); p++) {
      int64_t x[3];
      if (!ma.has[p] && !mb.has[p]) continue;
      CHECK(mc.has[p]);
      point_at(ndim, p, x);
      for (int d = 0; d < ndim; d++) {
        if (x[d] < lo[d]) lo[d] = x[d];
        if (x[d] > hi[d]) hi[d] = x[d];
      }
    }
    for (int d = 0; d < ndim; d++) CHECK(bound.lo[d] == lo[d] && bound.hi[d] == hi[d] + 1);
  }
}

/* The region's members are disjoint, not empty, and together the set. */
static bool same_set(const lgt_region *region, const bitmap *m) {
  int seen[MOST] = {0};
  for (int i = 0; i < region->count; i++) {
    bitmap member = map_of(&region->rect[i]);
    if (region->rect[i].ndim != m->ndim || count(&member) == 0) return false;
    for (int p = 0; p < points_of(m->ndim); p++) seen[p] += member.has[p];
  }
  for (int p = 0; p < points_of(m->ndim); p++)
    if (seen[p] != m->has[p]) return false;
  return true;
}

TEST(margins_may_be_longer_than_two_to_the_31) {
  int64_t big = INT64_C(1) << 32, shape = 4 * big, below = big, above = big + 5, too_much = 3 * big;
  lgt_rect r = {.ndim = 1, .lo = {2 * big}, .hi = {2 * big + 1}};
  lgt_rect some = lgt_rect_grown(&r, &below, &above, &shape),
           all = lgt_rect_grown(&r, &too_much, &too_much, &shape);
  CHECK(some.lo[0] == big && some.hi[0] == 3 * big + 6);
  CHECK(all.lo[0] == 0 && all.hi[0] == shape);
}

TEST(regions_add_and_remove) {
  for (int round = 0; round < 400; round++) {
    int ndim = round % 4;
    lgt_region region = {0};
    bitmap m = {.ndim = ndim};
    for (int step = 0; step < 30; step++) {
      lgt_rect r = random_rect(ndim);
      bitmap mr = map_of(&r);
      bool add = random_below(5) < 3, all = true;
      CHECK(add ? lgt_region_add(&region, &r) : lgt_region_remove(&region, &r));
      for (int p = 0; p < points_of(ndim); p++) m.has[p] = mr.has[p] ? add : m.has[p];
      CHECK(same_set(&region, &m));
      lgt_rect other = random_rect(ndim);
      bitmap mo = map_of(&other);
      for (int p = 0; p < points_of(ndim); p++) all &= m.has[p] || !mo.has[p];
      CHECK_EQ(lgt_region_contains(&region, &other), all);
    }
    lgt_region_clear(&region);
    memset(m.has, 0, sizeof m.has);
    CHECK(same_set(&region, &m));
    lgt_region_fini(&region);
  }
}

/* A tile that is refreshed strip by strip is one box again. */
TEST(strips_become_one_box) {
  lgt_region region = {0};
  for (int i = 0; i < 10; i++) {
    lgt_rect strip = {.ndim = 2, .lo = {i, 0}, .hi = {i + 1, 7}};
    CHECK(lgt_region_add(&region, &strip));
    CHECK_EQ(region.count, 1);
  }
  lgt_rect all = {.ndim = 2, .hi = {10, 7}};
  CHECK(lgt_rect_equal(&region.rect[0], &all));
  lgt_rect point = {.ndim = 0};
  CHECK(!lgt_rect_equal(&region.rect[0], &point));
  lgt_region_fini(&region);
}

TEST(a_region_is_unchanged_when_memory_runs_out) {
  int failures = 0;
  for (int round = 0; round < 300; round++) {
    lgt_region region = {0};
    bitmap m = {.ndim = 2};
    for (int step = 0; step < 12; step++) {
      lgt_rect r = random_rect(2);
      bitmap mr = map_of(&r);
      bool add = random_below(2);
      lgt_mem_fail_at(1);
      bool good = add ? lgt_region_add(&region, &r) : lgt_region_remove(&region, &r);
      lgt_mem_fail_at(0);
      failures += !good;
      for (int p = 0; good && p < points_of(2); p++) m.has[p] = mr.has[p] ? add : m.has[p];
      CHECK(same_set(&region, &m));
      /* Fill it without failures now and then, so that it grows. */
      if (!good && add) {
        CHECK(lgt_region_add(&region, &r));
        for (int p = 0; p < points_of(2); p++) m.has[p] |= mr.has[p];
      }
    }
    lgt_region_fini(&region);
  }
  CHECK(failures > 100);
}

/* Extents of arrays are not bounded by 2^31. */
TEST(a_rect_grows_by_much) {
  const int64_t shape[] = {9000000000}, below[] = {2500000000}, above[] = {4000000000};
  lgt_rect r = {.ndim = 1, .lo = {3000000000}, .hi = {4000000000}};
  lgt_rect grown = lgt_rect_grown(&r, below, above, shape);
  CHECK(grown.lo[0] == 500000000 && grown.hi[0] == 8000000000);
  r.hi[0] = 6000000000;
  grown = lgt_rect_grown(&r, above, above, shape);
  CHECK(grown.lo[0] == 0 && grown.hi[0] == 9000000000);
}

int main(void) {
  RUN(boxes_are_sets_of_points);
  RUN(a_difference_is_disjoint_boxes);
  RUN(a_bound_is_the_smallest_box_around_two);
  RUN(margins_may_be_longer_than_two_to_the_31);
  RUN(regions_add_and_remove);
  RUN(strips_become_one_box);
  RUN(a_region_is_unchanged_when_memory_runs_out);
  RUN(a_rect_grows_by_much);
  return check_done();
}
