/* test_scale.c - tasks in C by rows that read a block of elements for each row, with what is written before and after them. */
#include "check.h"
#include "engine.h"

enum { BLOCK = 4, MANY = 200000 };
static double in[BLOCK * MANY], got[BLOCK * MANY];

/* y[i] = the sum of block i of x. */
static lgt_status add_blocks(void *context, const lgt_work *work) {
  const lgt_tile *y = &work->tiles[0], *x = &work->tiles[1];
  (void)context;
  for (int64_t i = work->lo; i < work->hi; i++) {
    double sum = 0;
    for (int64_t k = 0; k < BLOCK; k++) {
      int64_t at = BLOCK * (y->origin[0] + i) + k - x->origin[0];
      sum += *(double *)((char *)x->data + at * x->stride[0]);
    }
    *(double *)((char *)y->data + i * y->stride[0]) = sum;
  }
  return LGT_OK;
}

/* In one window the first n elements of x are squared, blocks are added, and these elements are squared again. */
static void check_order(int64_t n, const char *domains, const char *cpus) {
  lgt_runtime *rt;
  int64_t all = BLOCK * n;
  CHECK(!open_with(&rt, "domains", domains, "min_tile", "1", "cpus", cpus, NULL));
  lgt_kind_id square = (lgt_kind_id)kind_of(rt, LGT_FLOAT64, "a1 a1 mul =0"),
              add = lgt_kind_new(rt, "add_blocks", "wr", "align(0.0,1.0) scale(1.0,4) by_rows");
  CHECK(square && add && !lgt_kind_variant(rt, add, LGT_VARIANT_CPU, add_blocks, NULL));
  lgt_id x = lgt_array_new(rt, LGT_FLOAT64, 1, &all), y = lgt_array_new(rt, LGT_FLOAT64, 1, &n);
  lgt_id front = lgt_array_slice(rt, x, 0, 0, n, 1);
  CHECK(x && y && front);
  for (int i = 0; i < all; i++) in[i] = i % 100 + 2;
  CHECK(!lgt_array_copy_in(rt, x, in));
  CHECK(!launch(rt, square, 2, front, front));
  CHECK(!launch(rt, add, 2, y, x) && !launch(rt, square, 2, front, front));
  CHECK(!lgt_array_copy_out(rt, y, got));
  for (int i = 0; i < n; i++) in[i] *= in[i];
  for (int i = 0; i < n; i++) {
    double want = in[4 * i] + in[4 * i + 1] + in[4 * i + 2] + in[4 * i + 3];
    if (got[i] != want) FAIL("%s domains: element %d is %g, not %g", domains, i, got[i], want);
  }
  CHECK(!lgt_array_copy_out(rt, x, got));
  for (int i = 0; i < all; i++) {
    double want = i < n ? in[i] * in[i] : in[i];
    if (got[i] != want) FAIL("%s domains: element %d of x is %g, not %g", domains, i, got[i], want);
  }
  lgt_close(rt);
}

TEST(blocks_are_read_before_they_are_overwritten) {
  check_order(12, "1", "1");
  for (int turn = 0; turn < 5; turn++) check_order(MANY, "1", "2");
}
TEST(blocks_that_other_tiles_make_are_waited_for) {
  check_order(12, "2", "1");
  check_order(12, "3", "1");
  check_order(MANY, "2", "1");
}

int main(void) {
  RUN(blocks_are_read_before_they_are_overwritten);
  RUN(blocks_that_other_tiles_make_are_waited_for);
  return check_done();
}
