/* test_footprint.c - which elements a domain touches, and who touches an element, against counting. */
#include "check.h"
#include "footprints.h"

static lgt_footprints footprints;

/* The same points. */
static bool same_rect(const lgt_rect *a, const lgt_rect *b) {
  return lgt_rect_empty(a) ? lgt_rect_empty(b) : lgt_rect_equal(a, b);
}

static void random_domains(void) {
  static const int ranks[] = {1, 2, 3, 5, 7};
  footprints.local = 1 + random_below(3);
  footprints.domains = footprints.local * ranks[random_below(5)];
}

static const lgt_footprint *footprint_of(const scene *s) {
  return lgt_footprint_of(&footprints, s->layout, &s->align, s->launch, s->target);
}

static lgt_rect random_place(const lgt_layout *root) {
  lgt_rect place = {.ndim = root->ndim};
  for (int d = 0; d < root->ndim; d++) {
    place.lo[d] = random_below((int)root->shape[d]);
    place.hi[d] = place.lo[d] + random_below((int)(root->shape[d] - place.lo[d]) + 1);
  }
  return place;
}

TEST(a_domain_touches_what_its_colours_touch) {
  int several = 0;
  for (int round = 0; round < 4000; round++) {
    scene s;
    random_scene(&s, random_root(), random_below(2));
    random_domains();
    const lgt_footprint *fp = footprint_of(&s);
    CHECK(fp && fp->launch == s.launch);
    several += s.launch->ncolour > footprints.domains;
    int seen = 0;
    for (int domain = 0; domain < footprints.domains; domain++) {
      lgt_rect rect;
      for (int i = -1, last = -1; (i = lgt_footprint_next(&footprints, fp, domain, i, &rect)) >= 0;
           last = i) {
        CHECK(i > last && i < s.launch->ncolour);
        CHECK_EQ(lgt_partition_domain(s.launch, footprints.domains, i), domain);
        lgt_rect expected = counted_rect(&s, i);
        CHECK(same_rect(&rect, &expected));
        CHECK(lgt_rect_empty(&rect) || lgt_rect_contains(&fp->whole, &rect));
        seen++;
      }
    }
    CHECK_EQ(seen, s.launch->ncolour);
  }
  CHECK(several > 500);
}

/* `exact`: every element of `whole` is touched by some colour. */
TEST(an_exact_footprint_touches_all_of_its_box) {
  int exact = 0;
  for (int round = 0; round < 3000; round++) {
    scene s;
    random_scene(&s, random_root(), true);
    const lgt_footprint *fp = footprint_of(&s);
    const lgt_layout *root = layout_at(s.root);
    CHECK(fp);
    if (!fp->exact) continue;
    exact++;
    for (int64_t e = 0; e < root->size; e++) {
      bool touched = false;
      for (int c = 0; c < s.launch->ncolour && !touched; c++) {
        lgt_rect r = counted_rect(&s, c);
        touched = holds_element(root, &r, e);
      }
      CHECK_EQ(holds_element(root, &fp->whole, e), touched);
    }
  }
  CHECK(exact > 1000);
}

TEST(near_are_the_colours_that_meet_a_place) {
  static char found[20000];
  int64_t all = 0;
  for (int round = 0; round < 8000; round++) {
    scene s;
    lgt_near near;
    random_scene(&s, random_root(), random_below(2));
    if (s.launch->kind != LGT_PARTITION_TILING) continue;
    random_domains();
    const lgt_footprint *fp = footprint_of(&s);
    lgt_rect place = random_place(layout_at(s.root)), common;
    int n = 0, expected = 0;
    CHECK(fp && s.launch->ncolour < (int)sizeof found);
    memset(found, 0, sizeof found);
    for (lgt_near_begin(&near, &footprints, fp, &place); lgt_near_next(&near); n++) {
      int colour = -1;
      for (int c = 0; c < s.launch->ncolour && colour < 0; c++) {
        lgt_rect r = counted_rect(&s, c);
        if (!found[c] && lgt_rect_equal(&r, &near.rect) &&
            lgt_partition_domain(s.launch, footprints.domains, c) == near.domain)
          colour = c;
      }
      CHECK(colour >= 0);
      found[colour] = 1;
      CHECK(lgt_rect_intersect(&near.rect, &place, &common));
    }
    for (int c = 0; c < s.launch->ncolour; c++) {
      lgt_rect r = counted_rect(&s, c);
      expected += lgt_rect_intersect(&r, &place, &common);
    }
    CHECK_EQ(n, expected);
    all += n;
  }
  CHECK(all > 5000);
}

/* What is asked costs the same however many domains there are: a row of neighbours among a million tiles. */
TEST(neighbours_are_found_at_once) {
  int64_t extent[] = {1 << 30}, tile[] = {1 << 10}, offset[] = {0};
  scene s = {.root = lgt_stores_dense(&stores, LGT_FLOAT64, 1, extent),
             .align = {.to = {0, -1, -1, -1, -1, -1}, .below = {1}, .above = {1}}};
  s.layout = s.root;
  s.launch = lgt_partition_tiling(&partitions, 1, extent, tile, offset);
  footprints.domains = 1 << 20, footprints.local = 1;
  const lgt_footprint *fp = footprint_of(&s);
  CHECK(fp);
  for (int domain = 1; domain < (1 << 20) - 1; domain += 997) {
    lgt_rect rect;
    lgt_near near;
    int n = 0;
    CHECK_EQ(lgt_footprint_next(&footprints, fp, domain, -1, &rect), domain);
    CHECK_EQ(lgt_footprint_next(&footprints, fp, domain, domain, &rect), -1);
    rect.ndim = 1, rect.lo[0] = (int64_t)domain << 10, rect.hi[0] = rect.lo[0] + 1024;
    for (lgt_near_begin(&near, &footprints, fp, &rect); lgt_near_next(&near); n++)
      CHECK(near.domain >= domain - 1 && near.domain <= domain + 1);
    CHECK_EQ(n, 3);
  }
}

/* What is written where data says: each domain's part behind those of the domains before, some of them empty. */
TEST(parts_that_ascend_are_found_by_place) {
  int refused = 0, met = 0;
  for (int round = 0; round < 4000; round++) {
    int64_t extent[] = {60, 3}, rows[] = {24}, tile[] = {1}, offset[] = {0}, reach[24][2];
    scene s = {.root = lgt_stores_dense(&stores, LGT_FLOAT64, 1 + round % 2, extent),
               .align = {.to = {-1, -1, -1, -1, -1, -1}}};
    random_domains();
    int n = footprints.domains, at = random_below(3);
    s.layout = s.root;
    rows[0] = n;
    s.launch = lgt_partition_tiling(&partitions, 1, rows, tile, offset);
    for (int d = 0; d < n; d++) {
      int begin = at + (random_below(4) ? 0 : random_below(3)), end = begin + random_below(3);
      reach[d][0] = begin == end ? 0 : begin, reach[d][1] = begin == end ? 0 : end;
      if (begin < end) at = end;
    }
    bool good, meets = false;
    if (random_below(10) == 0 && n > 1) reach[n - 1][0] = 0, reach[n - 1][1] = at + 1;
    lgt_footprint what =
        lgt_footprint_reaching(footprint_of(&s), 0, (const int64_t(*)[2])reach, footprints.domains);
    const lgt_footprint *fp = lgt_footprint_ordered(&footprints, &what, &good);
    for (int d = 0; d < n - 1; d++) meets |= reach[d][0] < reach[d][1] && reach[n - 1][0] < reach[d][1];
    meets &= reach[n - 1][0] < reach[n - 1][1];
    CHECK_EQ(good, !meets);
    refused += !good;
    if (!good) continue;
    CHECK(fp && fp == lgt_footprint_ordered(&footprints, &what, &good));
    lgt_rect place = random_place(layout_at(s.root)), common;
    lgt_near near;
    bool found[24] = {false};
    for (lgt_near_begin(&near, &footprints, fp, &place); lgt_near_next(&near); met++) {
      CHECK(!found[near.domain] && lgt_rect_intersect(&near.rect, &place, &common));
      CHECK(near.rect.lo[0] == reach[near.domain][0] && near.rect.hi[0] == reach[near.domain][1]);
      found[near.domain] = true;
    }
    int64_t sum = 0;
    for (int d = 0; d < n; d++) {
      lgt_rect rect;
      CHECK_EQ(lgt_footprint_next(&footprints, fp, d, -1, &rect), d);
      CHECK_EQ(found[d], lgt_rect_intersect(&rect, &place, &common));
      sum += rect.hi[0] - rect.lo[0];
    }
    CHECK_EQ(fp->exact, sum == fp->whole.hi[0] - fp->whole.lo[0]);
  }
  CHECK(refused > 50 && met > 1000);
}

TEST(everywhere_is_the_first_domain_of_each_rank) {
  for (int round = 0; round < 200; round++) {
    lgt_rect place = random_place(layout_at(random_root())), rect;
    random_domains();
    const lgt_footprint *fp = lgt_footprint_everywhere(&footprints, &place);
    CHECK(fp && fp->exact && !fp->launch);
    for (int domain = 0; domain < footprints.domains; domain++) {
      int i = lgt_footprint_next(&footprints, fp, domain, -1, &rect);
      CHECK_EQ(i, domain % footprints.local == 0 ? 0 : -1);
      if (i < 0) continue;
      CHECK(lgt_rect_equal(&rect, &place));
      CHECK_EQ(lgt_footprint_next(&footprints, fp, domain, i, &rect), -1);
    }
  }
}

/* Equal questions have one answer, also while the table grows; what lies beyond a view's dimensions does not count. */
TEST(footprints_are_interned) {
  for (int round = 0; round < 2000; round++) {
    scene s, other;
    random_scene(&s, random_root(), random_below(2));
    const lgt_footprint *fp = footprint_of(&s);
    other = s;
    other.align.to[5] = 3, other.align.below[5] = 1;
    CHECK(fp && footprint_of(&other) == fp);
    other.target = !s.target;
    CHECK(footprint_of(&other) != fp && footprint_of(&s) == fp);
    other.target = s.target;
    other.align.below[0]++;
    CHECK((footprint_of(&other) != fp) == (layout_at(s.layout)->ndim > 0) && footprint_of(&s) == fp);
    lgt_rect place = random_place(layout_at(s.root)), padded = place;
    for (int d = place.ndim; d < LGT_MAX_DIM; d++) padded.lo[d] = 7;
    CHECK(lgt_footprint_everywhere(&footprints, &place) == lgt_footprint_everywhere(&footprints, &padded));
    CHECK(lgt_footprint_everywhere(&footprints, &place) != fp);
  }
}

/* What a sweep has freed is not found again. */
TEST(sweeps_forget_what_was_asked_for_last) {
  scene s;
  random_scene(&s, random_root(), true);
  CHECK(footprint_of(&s));
  CHECK(lgt_footprints_sweep(&footprints));
  CHECK_EQ(footprints.table.count, 0);
  CHECK(footprint_of(&s));
  CHECK_EQ(footprints.table.count, 1);
}

TEST(memory_may_run_out) {
  scene s;
  lgt_footprints other;
  lgt_rect place = {.ndim = 1, .lo = {3}, .hi = {123457}};
  random_scene(&s, random_root(), true);
  int64_t live = lgt_mem_live();
  uint32_t count = footprints.table.count;
  lgt_mem_fail_at(1);
  CHECK(!lgt_footprint_everywhere(&footprints, &place));
  CHECK_HAS(lgt_message(), "out of memory");
  s.align.below[0] = 77;
  lgt_mem_fail_at(1);
  CHECK(!footprint_of(&s));
  lgt_mem_fail_at(0);
  CHECK_EQ(lgt_mem_live(), live);
  CHECK_EQ(footprints.table.count, count);
  CHECK(footprint_of(&s) && lgt_footprint_everywhere(&footprints, &place));
  lgt_footprints_init(&other, &stores, 2, 1);
  lgt_mem_fail_at(2); /* the table */
  CHECK(!lgt_footprint_everywhere(&other, &place));
  lgt_mem_fail_at(0);
  CHECK_EQ(other.table.count, 0);
  lgt_footprints_fini(&other);
}

int main(void) {
  if (lgt_stores_init(&stores)) return 1;
  lgt_partitions_init(&partitions);
  lgt_footprints_init(&footprints, &stores, 1, 1);
  RUN(a_domain_touches_what_its_colours_touch);
  RUN(an_exact_footprint_touches_all_of_its_box);
  RUN(near_are_the_colours_that_meet_a_place);
  RUN(parts_that_ascend_are_found_by_place);
  RUN(neighbours_are_found_at_once);
  RUN(everywhere_is_the_first_domain_of_each_rank);
  RUN(footprints_are_interned);
  RUN(sweeps_forget_what_was_asked_for_last);
  RUN(memory_may_run_out);
  lgt_footprints_fini(&footprints);
  lgt_partitions_fini(&partitions);
  lgt_stores_fini(&stores);
  return check_done() || lgt_mem_live() != 0;
}
