/* test_partition.c - partitions against counting: who covers which point. */
#include "check.h"
#include "loops.h"
#include "base/mem.h"
#include "model/partition.h"

enum { MOST = 1000 };

static lgt_partitions partitions;

static void coordinates(int ndim, const int64_t *extent, int64_t position, int64_t *x) {
  for (int d = ndim - 1; d >= 0; d--) {
    x[d] = position % extent[d];
    position /= extent[d];
  }
}

static bool holds(const lgt_rect *r, const int64_t *x) {
  for (int d = 0; d < r->ndim; d++)
    if (x[d] < r->lo[d] || x[d] >= r->hi[d]) return false;
  return true;
}

static int64_t random_extents(int *ndim, int64_t *extent) {
  int64_t size = 1;
  *ndim = random_below(4);
  for (int d = 0; d < *ndim; d++) size *= extent[d] = random_below(20) ? 1 + random_below(9) : 0;
  return size;
}

/* Every point has one colour. */
static bool covers_once(const lgt_partition *p, int64_t size) {
  for (int64_t i = 0; i < size; i++) {
    int64_t x[LGT_MAX_DIM];
    int n = 0;
    coordinates(p->ndim, p->extent, i, x);
    for (int c = 0; c < p->ncolour; c++) {
      lgt_rect r = lgt_partition_rect(p, c);
      n += holds(&r, x);
    }
    if (n != 1) return false;
  }
  return true;
}

static bool within(const lgt_partition *p) {
  lgt_rect all = lgt_rect_of_shape(p->ndim, p->extent);
  for (int c = 0; c < p->ncolour; c++) {
    lgt_rect r = lgt_partition_rect(p, c);
    if (!lgt_rect_contains(&all, &r)) return false;
  }
  return true;
}

TEST(tiles_cover_every_point_once) {
  for (int round = 0; round < 5000; round++) {
    int ndim;
    int64_t extent[LGT_MAX_DIM], tile[LGT_MAX_DIM], offset[LGT_MAX_DIM];
    int64_t size = random_extents(&ndim, extent);
    for (int d = 0; d < ndim; d++) tile[d] = 1 + random_below(6), offset[d] = random_below(30) - 15;
    const lgt_partition *p = lgt_partition_tiling(&partitions, ndim, extent, tile, offset);
    CHECK(p && p->ndim == ndim);
    CHECK(covers_once(p, size));
    CHECK(within(p));
    CHECK(lgt_partition_disjoint(p));
    /* Two points share a colour exactly if they lie between the same cuts, which are at offset + k tile. */
    for (int c = 0; c < p->ncolour; c++) {
      lgt_rect r = lgt_partition_rect(p, c);
      CHECK(size == 0 || !lgt_rect_empty(&r));
      for (int d = 0; d < ndim && size; d++) {
        bool begins = r.lo[d] == 0 || (r.lo[d] - offset[d]) % tile[d] == 0;
        bool ends = r.hi[d] == extent[d] || (r.hi[d] - offset[d]) % tile[d] == 0;
        CHECK(begins && ends && r.hi[d] - r.lo[d] <= tile[d]);
      }
    }
  }
}

TEST(equal_partitions_are_one) {
  int64_t extent[] = {20, 30}, tile[] = {5, 7}, offset[] = {0, -3}, later[] = {5, 4}, other[] = {1, -3};
  const lgt_partition *p = lgt_partition_tiling(&partitions, 2, extent, tile, offset);
  CHECK(lgt_partition_tiling(&partitions, 2, extent, tile, offset) == p);
  CHECK(lgt_partition_tiling(&partitions, 2, extent, tile, later) == p);
  CHECK(lgt_partition_tiling(&partitions, 2, extent, tile, other) != p);
  extent[0] = 19;
  CHECK(lgt_partition_tiling(&partitions, 2, extent, tile, offset) != p);
  extent[0] = 20;
  CHECK(lgt_partition_tiling(&partitions, 2, extent, extent, (int64_t[]){0, 0}) ==
        lgt_partition_none(&partitions, 2, extent));
  CHECK(lgt_partition_none(&partitions, 1, extent) != lgt_partition_none(&partitions, 2, extent));
  lgt_rect rect[2] = {{2, {0, 0}, {5, 5}}, {2, {5, 0}, {9, 9}}};
  const lgt_partition *q = lgt_partition_rects(&partitions, 2, extent, rect, 2);
  CHECK(lgt_partition_rects(&partitions, 2, extent, rect, 2) == q);
  rect[1].hi[0] = 10;
  CHECK(lgt_partition_rects(&partitions, 2, extent, rect, 2) != q);
  CHECK_EQ(lgt_partition_rect(q, 1).hi[0], 9);
}

TEST(pointers_stay_valid_while_the_table_grows) {
  const lgt_partition *p[2000];
  for (int i = 0; i < 2000; i++) p[i] = lgt_partition_none(&partitions, 1, (int64_t[]){i});
  for (int i = 0; i < 2000; i++) {
    CHECK(lgt_partition_none(&partitions, 1, (int64_t[]){i}) == p[i]);
    CHECK_EQ(p[i]->extent[0], i);
  }
}

TEST(lists_of_boxes_may_overlap) {
  int64_t extent[] = {10, 10};
  for (int round = 0; round < 500; round++) {
    lgt_rect rect[4];
    int n = 1 + random_below(4), most = 0;
    for (int i = 0; i < n; i++) {
      rect[i].ndim = 2;
      for (int d = 0; d < 2; d++) {
        rect[i].lo[d] = random_below(10);
        rect[i].hi[d] = rect[i].lo[d] + random_below(11 - (int)rect[i].lo[d]);
      }
    }
    const lgt_partition *p = lgt_partition_rects(&partitions, 2, extent, rect, n);
    for (int64_t i = 0; i < 100; i++) {
      int64_t x[2];
      int seen = 0;
      coordinates(2, extent, i, x);
      for (int c = 0; c < n; c++) seen += holds(&rect[c], x);
      if (seen > most) most = seen;
    }
    CHECK_EQ(lgt_partition_disjoint(p), most < 2);
  }
}

/* The colours of a domain, in order, are those that the domain works on. */
static bool lists_all(const lgt_partition *p, int domains) {
  int seen = 0;
  for (int domain = 0; domain < domains; domain++)
    for (int c = lgt_partition_next(p, domains, domain, -1), last = -1; c >= 0;
         last = c, c = lgt_partition_next(p, domains, domain, c)) {
      if (c <= last || c >= p->ncolour || lgt_partition_domain(p, domains, c) != domain) return false;
      seen++;
    }
  return seen == p->ncolour;
}

static void random_home(lgt_home *home, int ndim) {
  unsigned used = 0;
  *home = (lgt_home){.ndim = 1 + random_below(3)};
  for (int j = 0; j < home->ndim; j++) {
    int d = ndim ? random_below(ndim) : 0;
    home->grid[j] = 1 + random_below(6);
    home->first[j] = random_below(12) - 5;
    home->dim[j] = -1;
    if (!ndim || used & (1u << d)) continue;
    used |= 1u << d;
    home->dim[j] = (int8_t)d;
  }
}

static int64_t floor_div(int64_t a, int64_t b) { return a < 0 ? -((b - 1 - a) / b) : a / b; }

/* Owner of a point, from the grid as it was given, before partitions are put into their normal form. */
static int64_t counted_owner(const lgt_home *home, const int64_t *tile, const int64_t *offset,
                             const int64_t *x) {
  int64_t owner = 0;
  for (int j = 0; j < home->ndim; j++) {
    int d = home->dim[j];
    int64_t at = home->first[j] + (d < 0 ? 0 : floor_div(x[d] - offset[d], tile[d]));
    if (at < 0) at = 0;
    if (at > home->grid[j] - 1) at = home->grid[j] - 1;
    owner = owner * home->grid[j] + at;
  }
  return owner;
}

TEST(every_colour_has_one_domain) {
  for (int round = 0; round < 5000; round++) {
    int ndim;
    int64_t extent[LGT_MAX_DIM], tile[LGT_MAX_DIM], offset[LGT_MAX_DIM], owners = 1;
    int64_t size = random_extents(&ndim, extent);
    int domains = 1 + random_below(14);
    lgt_home home;
    for (int d = 0; d < ndim; d++) tile[d] = 1 + random_below(6), offset[d] = random_below(30) - 15;
    const lgt_partition *p = lgt_partition_tiling(&partitions, ndim, extent, tile, offset);
    CHECK(p && lists_all(p, domains));
    for (int c = 0, last = 0; c < p->ncolour; c++) { /* in their order, and evenly */
      int domain = lgt_partition_domain(p, domains, c);
      CHECK(domain >= last && domain < domains);
      CHECK(p->ncolour > domains || domain > last || c == 0);
      last = domain;
    }
    random_home(&home, ndim);
    for (int j = 0; j < home.ndim; j++) owners *= home.grid[j];
    p = lgt_partition_tiling_at(&partitions, ndim, extent, tile, offset, &home);
    CHECK(p && lists_all(p, domains));
    CHECK(lgt_partition_tiling_at(&partitions, ndim, extent, tile, offset, &home) == p);
    for (int c = 0; c < p->ncolour && p->ncolour > 1 && size; c++) {
      lgt_rect r = lgt_partition_rect(p, c);
      CHECK_EQ(lgt_partition_domain(p, domains, c),
               counted_owner(&home, tile, offset, r.lo) * domains / owners);
    }
  }
  lgt_rect rect[5] = {{.ndim = 1}};
  for (int n = 1; n <= 5; n++)
    for (int domains = 1; domains < 9; domains++)
      CHECK(lists_all(lgt_partition_rects(&partitions, 1, (int64_t[]){9}, rect, n), domains));
}

/* The next colour of a domain is found at once, among a million of either. */
TEST(owners_are_found_at_once) {
  int64_t extent[] = {1 << 20, 8}, tile[] = {1, 8}, offset[] = {0, 0};
  const lgt_partition *p = lgt_partition_tiling(&partitions, 2, extent, tile, offset);
  for (int domain = 0; domain < 1 << 20; domain += 311) {
    CHECK_EQ(lgt_partition_next(p, 1 << 20, domain, -1), domain);
    CHECK_EQ(lgt_partition_next(p, 1 << 20, domain, domain), -1);
  }
}

/* Pairs of neighbours that a grid separates. */
static int64_t surface(int ndim, const int64_t *extent, const int *grid) {
  int64_t total = 0;
  for (int d = 0; d < ndim; d++) {
    int64_t pairs = grid[d] - 1;
    for (int e = 0; e < ndim; e++) pairs *= e == d ? 1 : extent[e];
    total += pairs;
  }
  return total;
}

/* A margin is within the space, and around nothing there is none. */
TEST(margins_reach_into_other_tiles) {
  for (int round = 0; round < 3000; round++) {
    int ndim;
    int64_t extent[LGT_MAX_DIM] = {1, 1, 1, 1, 1, 1}, below[LGT_MAX_DIM] = {0}, above[LGT_MAX_DIM] = {0};
    random_extents(&ndim, extent);
    const lgt_partition *p = lgt_partition_natural(&partitions, ndim, extent, 0, 1 + random_below(8), 1);
    if (p->kind != LGT_PARTITION_TILING) continue;
    bool any = false;
    for (int d = 0; d < ndim; d++) {
      below[d] = random_below(4) * random_below(3);
      above[d] = random_below(4) * random_below(3);
      any |= p->grid[d] > 1 && (below[d] || above[d]);
    }
    const lgt_partition *wide = lgt_partition_widened(&partitions, p, below, above);
    CHECK(wide && (wide == p) == !any && wide->widened == any);
    CHECK(wide == lgt_partition_widened(&partitions, p, below, above));
    CHECK(lgt_partition_same_owners(wide, p) && wide->ncolour == p->ncolour);
    for (int c = 0; c < p->ncolour; c++) {
      lgt_rect tile = lgt_partition_rect(p, c), r = lgt_partition_rect(wide, c);
      for (int d = 0; d < ndim; d++) {
        int64_t lo = tile.lo[d] - below[d], hi = tile.hi[d] + above[d];
        if (p->grid[d] == 1) lo = 0, hi = extent[d];
        CHECK(r.lo[d] == (lo < 0 ? 0 : lo) && r.hi[d] == (hi > extent[d] ? extent[d] : hi));
      }
    }
  }
}

TEST(natural_partitions_are_few_large_and_compact) {
  for (int round = 0; round < 3000; round++) {
    int ndim;
    int64_t extent[LGT_MAX_DIM] = {1, 1, 1, 1, 1, 1}, size = random_extents(&ndim, extent);
    int64_t min_tile = 1 + random_below(20);
    unsigned whole = random_below(3) ? 0 : (unsigned)random_below(8);
    int most = 1 + random_below(8);
    const lgt_partition *p = lgt_partition_natural(&partitions, ndim, extent, whole, most, min_tile);
    CHECK(p && covers_once(p, size) && within(p));
    CHECK(p->ncolour <= most);
    for (int d = 0; d < ndim; d++)
      if (whole & (1u << d)) CHECK(p->kind == LGT_PARTITION_NONE || p->grid[d] == 1);
    /* Of all grids of so many tiles as fit, one with hardly more than the least surface; and there is no larger
     * number of tiles that fits. */
    int64_t least = -1;
    int best = 1;
    for (int a = 1; a <= most; a++)
      for (int b = 1; b <= most; b++)
        for (int c = 1; c <= most; c++) {
          int g[6] = {a, b, c, 1, 1, 1};
          bool fits = a * b * c <= most && size / min_tile >= a * b * c;
          for (int d = 0; d < 3; d++)
            if (g[d] > 1 && (d >= ndim || g[d] > extent[d] || whole & (1u << d))) fits = false;
          if (!fits || a * b * c < best) continue;
          if (a * b * c > best) least = -1;
          best = a * b * c;
          int64_t s = surface(ndim, extent, g);
          if (least < 0 || s < least) least = s;
        }
    if (best == 1) {
      CHECK_EQ(p->ncolour, 1);
      continue;
    }
    /* Tiles are whole numbers: a grid of 3 over 4 elements is one of 2.  The grid that was meant: */
    bool meant = false;
    for (int a = 1; a <= most; a++)
      for (int b = 1; b <= most; b++)
        for (int c = 1; c <= most; c++) {
          int g[6] = {a, b, c, 1, 1, 1};
          bool same = a * b * c == best && surface(ndim, extent, g) * 8 <= least * 9;
          for (int d = 0; d < ndim && same; d++) {
            int64_t tile = (extent[d] + g[d] - 1) / g[d], tiles = (extent[d] + tile - 1) / tile;
            same = p->grid[d] == tiles;
          }
          for (int d = ndim; d < 3; d++) same &= g[d] == 1;
          meant |= same;
        }
    CHECK(meant);
  }
}

TEST(outer_dimensions_are_cut_first) {
  const lgt_partition *p = lgt_partition_natural(&partitions, 2, (int64_t[]){100, 100}, 0, 2, 1);
  CHECK(p->grid[0] == 2 && p->grid[1] == 1);
  p = lgt_partition_natural(&partitions, 2, (int64_t[]){10, 1000}, 0, 2, 1);
  CHECK(p->grid[0] == 1 && p->grid[1] == 2);
  p = lgt_partition_natural(&partitions, 2, (int64_t[]){100, 100}, 0, 4, 1);
  CHECK(p->grid[0] == 2 && p->grid[1] == 2);
}

TEST(arrays_of_nearly_one_shape_are_cut_along_the_same_dimensions) {
  for (int round = 0; round < 3000; round++) {
    int ndim = 2 + (int)random_below(2), most = 2 + (int)random_below(7);
    int64_t n = 100 + random_below(100), one[3], other[3];
    for (int d = 0; d < ndim; d++) one[d] = n - random_below(2), other[d] = n - random_below(2);
    const lgt_partition *p = lgt_partition_natural(&partitions, ndim, one, 0, most, 1),
                        *q = lgt_partition_natural(&partitions, ndim, other, 0, most, 1);
    for (int d = 0; d < ndim; d++) CHECK_EQ(p->grid[d], q->grid[d]);
    for (int d = 1; d < ndim; d++) CHECK(p->grid[d - 1] >= p->grid[d]);
  }
}

TEST(memory_may_run_out) {
  int64_t live = lgt_mem_live();
  lgt_mem_fail_at(1);
  CHECK(!lgt_partition_none(&partitions, 1, (int64_t[]){777777}));
  CHECK_HAS(lgt_message(), "out of memory");
  lgt_rect rect = {1, {0}, {5}};
  lgt_mem_fail_at(2);
  CHECK(!lgt_partition_rects(&partitions, 1, (int64_t[]){777777}, &rect, 1));
  lgt_mem_fail_at(0);
  CHECK_EQ(lgt_mem_live(), live);
  CHECK(lgt_partition_none(&partitions, 1, (int64_t[]){777777}));
  lgt_partitions other;
  lgt_partitions_init(&other);
  live = lgt_mem_live();
  lgt_mem_fail_at(3); /* the table */
  CHECK(!lgt_partition_rects(&other, 1, (int64_t[]){777777}, &rect, 1));
  lgt_mem_fail_at(0);
  CHECK_EQ(lgt_mem_live(), live);
}

int main(void) {
  lgt_partitions_init(&partitions);
  RUN(tiles_cover_every_point_once);
  RUN(equal_partitions_are_one);
  RUN(pointers_stay_valid_while_the_table_grows);
  RUN(lists_of_boxes_may_overlap);
  RUN(every_colour_has_one_domain);
  RUN(owners_are_found_at_once);
  RUN(margins_reach_into_other_tiles);
  RUN(natural_partitions_are_few_large_and_compact);
  RUN(outer_dimensions_are_cut_first);
  RUN(arrays_of_nearly_one_shape_are_cut_along_the_same_dimensions);
  RUN(memory_may_run_out);
  lgt_partitions_fini(&partitions);
  return check_done() || lgt_mem_live() != 0;
}
