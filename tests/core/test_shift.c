/* test_shift.c - plans that are made from a plan of the same form, and the numbers that forbid it. */
#include "plan/shift.h"

#include "fusion.h"

static int64_t made, shifted;
static int add, mul;

/* So many plans were made anew, and so many by shifting, since the last call. */
static bool planned(int64_t anew, int64_t by_shifting) {
  int64_t m = made, s = shifted;
  if (lgt_fence(rt)) return false;
  made = stat_of(rt, "plans_made"), shifted = stat_of(rt, "plans_shifted");
  return made - m == anew && shifted - s == by_shifting;
}

static void begin(void) {
  open_plain();
  made = shifted = 0;
  add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
}

/* to[at] = from[at] + 1, then out[at] = 2 to[at], over n elements. */
static lgt_status turn(lgt_id to, lgt_id from, lgt_id out, int64_t first, int64_t n, int64_t step) {
  lgt_id t = slice_of(rt, to, 0, first, n, step), f = slice_of(rt, from, 0, first, n, step),
         o = slice_of(rt, out, 0, first, n, step);
  lgt_status status = launch(rt, add, 2, t, f);
  if (!status) status = launch(rt, mul, 2, o, t);
  lgt_array_free(rt, t), lgt_array_free(rt, f), lgt_array_free(rt, o);
  return status;
}

TEST(other_slices_of_the_same_arrays_shift_a_plan) {
  begin();
  lgt_id x = filled(4 * N, 1, 0), y = filled(4 * N, 0, 0), z = filled(4 * N, 0, 0);
  CHECK(planned(0, 0));
  CHECK(!turn(y, x, z, 0, 100, 1) && planned(1, 0));
  for (int k = 1; k < 5; k++) CHECK(!turn(y, x, z, k * 200, 100 + k, 1) && planned(0, 1));
  for (int i = 0; i < 1000; i++) {
    bool in = i % 200 < 100 + i / 200;
    CHECK(value_at(y, i) == (in ? i + 1 : 0) && value_at(z, i) == (in ? 2 * i + 2 : 0));
  }
  lgt_close(rt);
}

/* A window that was planned is found.  One whose plan was shifted four times is planned for itself if it comes again, and found
 * from then on. */
TEST(what_comes_again_is_found) {
  begin();
  lgt_id x = filled(4 * N, 1, 0), y = filled(4 * N, 0, 0), z = filled(4 * N, 0, 0);
  CHECK(planned(0, 0) && !turn(y, x, z, 0, 100, 1) && planned(1, 0));
  CHECK(!turn(y, x, z, 0, 100, 1) && planned(0, 0));
  for (int k = 0; k < 4; k++) CHECK(!turn(y, x, z, 200, 100, 1) && planned(0, 1));
  CHECK(!turn(y, x, z, 200, 100, 1) && planned(1, 0));
  CHECK(!turn(y, x, z, 200, 100, 1) && planned(0, 0));
  lgt_close(rt);
}

/* Another class of stride along the innermost dimension is other code. */
TEST(another_step_is_planned_anew) {
  begin();
  lgt_id x = filled(4 * N, 1, 0), y = filled(4 * N, 0, 0), z = filled(4 * N, 0, 0);
  CHECK(planned(0, 0) && !turn(y, x, z, 0, 100, 1) && planned(1, 0));
  CHECK(!turn(y, x, z, 500, 100, -1) && planned(1, 0));
  CHECK(!turn(y, x, z, 0, 100, 3) && planned(1, 0));
  CHECK(value_at(z, 450) == 902 && value_at(z, 150) == 302 && value_at(z, 151) == 0);
  lgt_close(rt);
}

/* x[b] = x[a] + 1, then y = 2 x[c]: in one pass only if c is b, or does not meet it. */
static lgt_status through(lgt_id x, lgt_id y, int64_t a, int64_t b, int64_t c) {
  enum { LENGTH = 50 };
  lgt_id from = slice_of(rt, x, 0, a, LENGTH, 1), to = slice_of(rt, x, 0, b, LENGTH, 1),
         again = slice_of(rt, x, 0, c, LENGTH, 1);
  lgt_status status = launch(rt, add, 2, to, from);
  if (!status) status = launch(rt, mul, 2, y, again);
  lgt_array_free(rt, from), lgt_array_free(rt, to), lgt_array_free(rt, again);
  return status;
}

TEST(views_that_no_longer_lie_apart_are_planned_anew) {
  begin();
  lgt_id x = filled(4 * N, 1, 0), y = filled(50, 0, 0);
  CHECK(planned(0, 0) && !through(x, y, 0, 100, 200) && planned(1, 0)); /* all apart */
  CHECK(!through(x, y, 300, 450, 600) && planned(0, 1));
  CHECK(!through(x, y, 700, 800, 820) && planned(1, 0)); /* the second one reads what the first one writes */
  CHECK(value_at(y, 0) == 2 * 721 && value_at(y, 29) == 2 * 750 && value_at(y, 30) == 2 * 850);
  lgt_close(rt);
}

/* Extents of a loop must still agree, and an extent of one is no loop: its stride is not looked at. */
TEST(an_extent_of_one_is_planned_anew) {
  begin();
  lgt_id x = filled(4 * N, 1, 0), y = filled(4 * N, 0, 0), z = filled(4 * N, 0, 0);
  CHECK(planned(0, 0) && !turn(y, x, z, 0, 100, 1) && planned(1, 0));
  CHECK(!turn(y, x, z, 300, 1, 1) && planned(1, 0));
  CHECK(value_at(z, 300) == 602 && value_at(z, 301) == 0);
  lgt_close(rt);
}

static void begin_domains(void) {
  open_domains();
  made = shifted = 0;
  add = kind_of(rt, LGT_FLOAT64, "a1 c1 add =0"), mul = kind_of(rt, LGT_FLOAT64, "a1 c2 mul =0");
}

/* Tiles move with the numbers. */
TEST(plans_of_tiles_are_shifted) {
  begin_domains();
  lgt_id x = filled(4 * N, 1, 0), y = filled(4 * N, 0, 0), z = filled(4 * N, 0, 0);
  CHECK(planned(0, 0) && !turn(y, x, z, 2 * N - 90, 100, 1) && planned(1, 0));
  for (int k = 1; k < 5; k++) CHECK(!turn(y, x, z, 2 * N - 90 + 10 * k, 100 + k, 1) && planned(0, 1));
  for (int i = 2 * N - 200; i < 2 * N + 200; i++) {
    bool in = i >= 2 * N - 90 && i < 2 * N - 50 + 104;
    CHECK(value_at(y, i) == (in ? i + 1 : 0) && value_at(z, i) == (in ? 2 * i + 2 : 0));
  }
  lgt_close(rt);
}

/* x[b] = x[a] + 1, then y[c] = 2 x[b]. */
static lgt_status handed_on(lgt_id x, lgt_id y, int64_t a, int64_t b, int64_t c) {
  lgt_id out = slice_of(rt, y, 0, c, 50, 1);
  lgt_status status = through(x, out, a, b, b);
  lgt_array_free(rt, out);
  return status;
}

/* Two launches in one domain are one task; what is made in one domain and read in the other is not. */
TEST(launches_that_no_longer_fuse_are_planned_anew) {
  begin_domains();
  lgt_id from = filled(4 * N, 1, 0), x = filled(4 * N, 0, 0), y = filled(4 * N, 0, 0);
  CHECK(!launch(rt, add, 2, x, from) && !launch(rt, add, 2, y, from) &&
        planned(1, 0)); /* cut in the middle */
  CHECK(!handed_on(x, y, 0, 100, 200) && planned(1, 0));
  CHECK(!handed_on(x, y, 10, 110, 215) && planned(0, 1));
  CHECK(!handed_on(x, y, 20, 120, 3 * N) && planned(1, 0));
  CHECK(value_at(x, 120) == 22 && value_at(y, 220) == 34 && value_at(y, 3 * N + 49) == 142);
  lgt_close(rt);
}

enum { ROWS = 40, COLUMNS = 25 };

/* A matrix of zeros with 1 at its first place. */
static lgt_id matrix(void) {
  lgt_id id = array_of(rt, LGT_FLOAT64, 2, (int64_t[]){ROWS, COLUMNS});
  for (int i = 0; i < ROWS * COLUMNS; i++) buffer[i] = i == 0;
  return lgt_array_copy_in(rt, id, buffer) ? 0 : id;
}

/* y[at + 1] = y[at] + 1, z[at] = 2 y[at + 1] along a dimension, from `at` on in steps of `step`. */
static bool recur(lgt_id y, lgt_id z, int dim, int64_t at, int64_t step) {
  lgt_id from = slice_of(rt, y, dim, at, 1, 1), to = slice_of(rt, y, dim, at + step, 1, 1),
         out = slice_of(rt, z, dim, at, 1, 1);
  lgt_status status = launch(rt, add, 2, to, from);
  if (!status) status = launch(rt, mul, 2, out, to);
  lgt_array_free(rt, from), lgt_array_free(rt, to), lgt_array_free(rt, out);
  return !status;
}

/* Rows and columns after one another: nothing is decided again (but for the sake of this test, which checks) while views move
 * along what is not cut, or within a tile. */
TEST(translated_windows_are_cut_as_before) {
  for (int dim = 0; dim < 2; dim++)
    for (int step = 1; step < 4; step++) {
      begin_domains();
      lgt_id x = matrix(), y = matrix(), z = matrix();
      CHECK(!launch(rt, add, 2, y, x) && planned(1, 0)); /* cut into halves */
      int n = dim ? COLUMNS : ROWS;
      for (int at = 0; at + step < n; at++) CHECK(recur(y, z, dim, at, step) && !lgt_fence(rt));
      CHECK(stat_of(rt, "plans_shifted") > n / 2);
      for (int i = 0; i < ROWS * COLUMNS; i++) {
        int at = dim ? i % COLUMNS : i / COLUMNS,
            first = dim ? i - at + at % step : i - (at - at % step) * COLUMNS;
        double value = (first == 0) + at / step + 1;
        CHECK_EQ(value_at(y, i), value);
        CHECK_EQ(value_at(z, i), at + step < n ? 2 * value + 2 : i == 0);
      }
      lgt_close(rt);
    }
}

/* The sum of neighbours in a new vector of n elements; so many bytes were copied. */
static int64_t neighbours(int plus, lgt_id x, int64_t n) {
  lgt_id from = slice_of(rt, x, 0, 0, n, 1), y = vector(n), sum = vector(n - 1);
  lgt_id low = slice_of(rt, y, 0, 0, n - 1, 1), high = slice_of(rt, y, 0, 1, n - 1, 1);
  lgt_status status = launch(rt, add, 2, y, from);
  if (!status) status = lgt_fence(rt);
  int64_t before = stat_of(rt, "bytes_copied");
  if (!status) status = launch(rt, plus, 3, sum, low, high);
  if (!status) status = lgt_fence(rt);
  int64_t copied = stat_of(rt, "bytes_copied") - before;
  bool right = !status && value_at(sum, 0) == 3 && value_at(sum, n / 2) == 2.0 * (double)(n / 2) + 3;
  lgt_array_free(rt, from), lgt_array_free(rt, y), lgt_array_free(rt, sum);
  lgt_array_free(rt, low), lgt_array_free(rt, high);
  return right ? copied : INT64_MAX;
}

/* Tiles that had to grow by what lies around them have room for it under all plans that are shifted from theirs. */
TEST(shifted_plans_make_room_for_halos) {
  begin_domains();
  lgt_id x = filled(4 * N, 1, 0);
  CHECK(planned(0, 0));
  int plus = kind_of(rt, LGT_FLOAT64, "a1 a2 add =0");
  int64_t first = neighbours(plus, x, N), second = neighbours(plus, x, N + 10),
          third = neighbours(plus, x, N + 20);
  CHECK(planned(2, 4) && first > 4 * N); /* a tile was copied into a larger one */
  CHECK(second < N && third < N);
  lgt_close(rt);
}

/* What a later group of the same plan reads around a tile has room from the first time on. */
TEST(groups_make_room_for_halos_of_later_ones) {
  begin_domains();
  lgt_id x = filled(4 * N, 1, 0), y = vector(4 * N), sum = vector(4 * N - 1);
  lgt_id low = slice_of(rt, y, 0, 0, 4 * N - 1, 1), high = slice_of(rt, y, 0, 1, 4 * N - 1, 1);
  int plus = kind_of(rt, LGT_FLOAT64, "a1 a2 add =0");
  CHECK(planned(0, 0));
  int64_t before = stat_of(rt, "bytes_copied");
  CHECK(!launch(rt, add, 2, y, x) && !launch(rt, plus, 3, sum, low, high) && planned(1, 0));
  CHECK(stat_of(rt, "bytes_copied") - before < 17 * N); /* half of x, and an element */
  CHECK(value_at(sum, 2 * N) == 4.0 * N + 3 && value_at(sum, 2 * N - 1) == 4.0 * N + 1);
  lgt_close(rt);
}

int main(void) {
  RUN(other_slices_of_the_same_arrays_shift_a_plan);
  RUN(what_comes_again_is_found);
  RUN(another_step_is_planned_anew);
  RUN(views_that_no_longer_lie_apart_are_planned_anew);
  RUN(an_extent_of_one_is_planned_anew);
  RUN(plans_of_tiles_are_shifted);
  RUN(launches_that_no_longer_fuse_are_planned_anew);
  RUN(translated_windows_are_cut_as_before);
  RUN(shifted_plans_make_room_for_halos);
  RUN(groups_make_room_for_halos_of_later_ones);
  return check_done();
}
