/* test_bloat.c - tasks in C by rows that read beyond their rows, with what is written before and after them. */
#include "check.h"
#include "engine.h"

enum { MANY = 100000 };
static double in[MANY], got[MANY];

/* y[i] = x[i - 1] + x[i] + x[i + 1], zeros beyond. */
static lgt_status smooth(void *context, const lgt_work *work) {
  const lgt_tile *y = &work->tiles[0], *x = &work->tiles[1];
  (void)context;
  for (int64_t i = work->lo; i < work->hi; i++) {
    double sum = 0;
    for (int64_t k = y->origin[0] + i - 1; k <= y->origin[0] + i + 1; k++) {
      int64_t j = k - x->origin[0];
      if (j >= 0 && j < x->extent[0]) sum += *(double *)((char *)x->data + j * x->stride[0]);
    }
    *(double *)((char *)y->data + i * y->stride[0]) = sum;
  }
  return LGT_OK;
}

/* s = x^2, y = smooth(s), s = s^2 in one window: y is made from what stood in s before. */
static void check_order(int64_t n, const char *domains) {
  lgt_runtime *rt;
  CHECK(!open_with(&rt, "domains", domains, "min_tile", "1", "cpus", "1", NULL));
  lgt_kind_id square = (lgt_kind_id)kind_of(rt, LGT_FLOAT64, "a1 a1 mul =0"),
              window = lgt_kind_new(rt, "smooth", "wr", "align(0.0,1.0) bloat(1.0,1,1) by_rows");
  CHECK(square && window && !lgt_kind_variant(rt, window, LGT_VARIANT_CPU, smooth, NULL));
  lgt_id x = lgt_array_new(rt, LGT_FLOAT64, 1, &n), s = lgt_array_new(rt, LGT_FLOAT64, 1, &n),
         y = lgt_array_new(rt, LGT_FLOAT64, 1, &n);
  for (int i = 0; i < n; i++) in[i] = i % 100;
  CHECK(!lgt_array_copy_in(rt, x, in));
  CHECK(!launch(rt, square, 2, s, x) && (n < MANY || !lgt_fence(rt))); /* small ones are one group */
  CHECK(!launch(rt, window, 2, y, s) && !launch(rt, square, 2, s, s));
  CHECK(!lgt_array_copy_out(rt, y, got));
  for (int i = 1; i + 1 < n; i++) {
    double want = in[i - 1] * in[i - 1] + in[i] * in[i] + in[i + 1] * in[i + 1];
    if (got[i] != want) FAIL("%s domains: element %d is %g, not %g", domains, i, got[i], want);
  }
  CHECK(!lgt_array_copy_out(rt, s, got));
  CHECK(got[2] == 16 && got[n - 1] == in[n - 1] * in[n - 1] * in[n - 1] * in[n - 1]);
  lgt_close(rt);
}

TEST(neighbours_are_read_before_they_are_overwritten) { check_order(MANY, "1"); }
TEST(neighbours_that_other_tiles_make_are_waited_for) {
  check_order(12, "2");
  check_order(12, "3");
  check_order(12, "4");
}

int main(void) {
  RUN(neighbours_are_read_before_they_are_overwritten);
  RUN(neighbours_that_other_tiles_make_are_waited_for);
  return check_done();
}
