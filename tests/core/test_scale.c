/* test_scale.c - tasks in C by rows that read several elements for each row, with what is written before and after them. */
#include "check.h"
#include "engine.h"

enum { WIDTH = 4, MANY = 200000 };
static double in[WIDTH * MANY], got[WIDTH * MANY];

/* y[i] = the sum of block i of x, a vector. */
static lgt_status add_blocks(void *context, const lgt_work *work) {
  const lgt_tile *y = &work->tiles[0], *x = &work->tiles[1];
  (void)context;
  for (int64_t i = work->lo; i < work->hi; i++) {
    double sum = 0;
    for (int64_t k = 0; k < WIDTH; k++) {
      int64_t at = WIDTH * (y->origin[0] + i) + k - x->origin[0];
      sum += *(double *)((char *)x->data + at * x->stride[0]);
    }
    *(double *)((char *)y->data + i * y->stride[0]) = sum;
  }
  return LGT_OK;
}

/* y[i] = the sum of row i of x, a matrix. */
static lgt_status add_rows(void *context, const lgt_work *work) {
  const lgt_tile *y = &work->tiles[0], *x = &work->tiles[1];
  (void)context;
  for (int64_t i = work->lo; i < work->hi; i++) {
    double sum = 0;
    for (int64_t k = 0; k < WIDTH; k++) {
      int64_t at = y->origin[0] + i - x->origin[0];
      sum += *(double *)((char *)x->data + at * x->stride[0] + k * x->stride[1]);
    }
    *(double *)((char *)y->data + i * y->stride[0]) = sum;
  }
  return LGT_OK;
}

/* In one window the first n elements of x are squared, then y is made of blocks, or of overlapping windows, of x; then these
 * elements are squared again. */
static void check_order(int64_t n, bool windows, const char *domains, const char *cpus) {
  lgt_runtime *rt;
  int64_t all = windows ? n + WIDTH - 1 : WIDTH * n, step = windows ? 1 : WIDTH;
  CHECK(!open_with(&rt, "domains", domains, "min_tile", "1", "cpus", cpus, NULL));
  lgt_kind_id square = (lgt_kind_id)kind_of(rt, LGT_FLOAT64, "a1 a1 mul =0"),
              add = lgt_kind_new(rt, "add", "wr",
                                 windows ? "align(0.0,1.0) by_rows" : "align(0.0,1.0) scale(1.0,4) by_rows");
  CHECK(square && add && !lgt_kind_variant(rt, add, LGT_VARIANT_CPU, windows ? add_rows : add_blocks, NULL));
  lgt_id x = lgt_array_new(rt, LGT_FLOAT64, 1, &all), y = lgt_array_new(rt, LGT_FLOAT64, 1, &n);
  lgt_id front = lgt_array_slice(rt, x, 0, 0, n, 1), read = windows ? lgt_array_windows(rt, x, 0, WIDTH) : x;
  CHECK(x && y && front && read);
  for (int i = 0; i < all; i++) in[i] = i % 100 + 2;
  CHECK(!lgt_array_copy_in(rt, x, in));
  CHECK(!launch(rt, square, 2, front, front));
  CHECK(!launch(rt, add, 2, y, read) && !launch(rt, square, 2, front, front));
  CHECK(!lgt_array_copy_out(rt, y, got));
  for (int i = 0; i < n; i++) in[i] *= in[i];
  for (int i = 0; i < n; i++) {
    const double *row = &in[step * i];
    double want = row[0] + row[1] + row[2] + row[3];
    if (got[i] != want) FAIL("%s domains: element %d is %g, not %g", domains, i, got[i], want);
  }
  CHECK(!lgt_array_copy_out(rt, x, got));
  for (int i = 0; i < all; i++) {
    double want = i < n ? in[i] * in[i] : in[i];
    if (got[i] != want) FAIL("%s domains: element %d of x is %g, not %g", domains, i, got[i], want);
  }
  lgt_close(rt);
}

static void check_one_tile(bool windows) {
  check_order(12, windows, "1", "1");
  for (int turn = 0; turn < 5; turn++) check_order(MANY, windows, "1", "2");
}
static void check_tiles(bool windows) {
  check_order(12, windows, "2", "1");
  check_order(12, windows, "3", "1");
  check_order(MANY, windows, "2", "1");
}

TEST(blocks_are_read_before_they_are_overwritten) { check_one_tile(false); }
TEST(blocks_that_other_tiles_make_are_waited_for) { check_tiles(false); }
TEST(windows_are_read_before_they_are_overwritten) { check_one_tile(true); }
TEST(windows_that_other_tiles_make_are_waited_for) { check_tiles(true); }

int main(void) {
  RUN(blocks_are_read_before_they_are_overwritten);
  RUN(blocks_that_other_tiles_make_are_waited_for);
  RUN(windows_are_read_before_they_are_overwritten);
  RUN(windows_that_other_tiles_make_are_waited_for);
  return check_done();
}
