/* test_result.c - layouts of results, against shapes worked out dimension by dimension. */
#include "check.h"
#include "loops.h"
#include "model/result.h"

static lgt_stores stores;

typedef struct shape {
  int ndim;
  int64_t extent[LGT_MAX_DIM];
} shape;

static int64_t at(const shape *s, int dim, int ndim) {
  int d = dim - (ndim - s->ndim);
  return d < 0 ? 1 : s->extent[d];
}

static shape random_shape(int most) {
  shape s = {.ndim = random_below(most + 1)};
  for (int d = 0; d < s.ndim; d++) s.extent[d] = (int64_t[]){0, 1, 1, 2, 3}[random_below(5)];
  return s;
}

/* A view of this shape: now and then of something larger. */
static uint32_t view_of(shape s, int dtype) {
  shape root = s;
  int d = s.ndim ? random_below(s.ndim) : 0;
  bool part = s.ndim > 0 && random_below(2) && s.extent[d] > 0;
  if (part) root.extent[d] += 2;
  uint32_t layout = lgt_stores_dense(&stores, dtype, root.ndim, root.extent);
  return part ? lgt_stores_slice(&stores, layout, d, 1, s.extent[d], 1) : layout;
}

static bool common(const shape *a, const shape *b, shape *out) {
  out->ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
  for (int d = 0; d < out->ndim; d++) {
    int64_t m = at(a, d, out->ndim), n = at(b, d, out->ndim);
    if (m != n && m != 1 && n != 1) return false;
    out->extent[d] = m == 1 ? n : m;
  }
  return true;
}

static bool has_shape(uint32_t layout, const shape *s) {
  const lgt_layout *l = lgt_layout_at(&stores, layout);
  if (l->ndim != s->ndim) return false;
  for (int d = 0; d < s->ndim; d++)
    if (l->shape[d] != s->extent[d]) return false;
  return true;
}

TEST(joins_are_new_arrays_of_the_common_shape) {
  int none = 0;
  for (int turn = 0; turn < 20000; turn++) {
    shape a = random_shape(4), b = random_shape(4), c;
    int dtype = turn % 2 ? LGT_FLOAT64 : LGT_INT32;
    uint32_t la = view_of(a, LGT_FLOAT64), lb = view_of(b, LGT_INT32);
    bool fits = common(&a, &b, &c);
    uint32_t layout = lgt_result_join(&stores, dtype, la, lb);
    CHECK((layout != 0) == fits);
    CHECK_EQ(lgt_result_join(&stores, dtype, la, lb), layout); /* from the table, if it is there */
    none += !fits;
    if (!fits) continue;
    CHECK(has_shape(layout, &c));
    CHECK(lgt_layout_at(&stores, layout)->flags & LGT_LAYOUT_WHOLE);
    CHECK_EQ(lgt_layout_at(&stores, layout)->dtype, dtype);
    bool fills = c.ndim == a.ndim;
    for (int d = 0; d < a.ndim && fills; d++) fills = c.extent[d] == a.extent[d];
    CHECK_EQ(lgt_result_fills(&stores, la, lb), fills);
  }
  CHECK(none > 1000);
}

TEST(reductions_leave_the_other_dimensions) {
  for (int turn = 0; turn < 20000; turn++) {
    shape a = random_shape(4), b = turn % 3 ? a : random_shape(4), c, left = {0};
    unsigned axes = (unsigned)random_below(1 << LGT_MAX_DIM);
    bool keep = random_below(2);
    uint32_t la = view_of(a, LGT_FLOAT64), lb = view_of(b, LGT_FLOAT64), view, again;
    if (!common(&a, &b, &c)) {
      CHECK(!lgt_result_reduced(&stores, LGT_INT64, la, lb, axes, keep, &view));
      continue;
    }
    for (int d = 0; d < c.ndim; d++)
      if (keep || !(axes >> d & 1)) left.extent[left.ndim++] = axes >> d & 1 ? 1 : c.extent[d];
    uint32_t layout = lgt_result_reduced(&stores, LGT_INT64, la, lb, axes, keep, &view);
    CHECK(layout && has_shape(layout, &left));
    CHECK_EQ(lgt_layout_at(&stores, layout)->dtype, LGT_INT64);
    CHECK_EQ(lgt_result_reduced(&stores, LGT_INT64, la, lb, axes, keep, &again), layout);
    CHECK_EQ(again, view);
    if (left.ndim == 0) continue; /* takes part as it is */
    CHECK(has_shape(view, &c));
    for (int d = 0; d < c.ndim; d++)
      if (axes >> d & 1 && c.extent[d] > 1) CHECK_EQ(lgt_layout_at(&stores, view)->stride[d], 0);
  }
}

TEST(what_was_asked_before_is_forgotten_not_confused) {
  uint32_t first = 0;
  for (int64_t n = 1; n < 3 * LGT_RESULTS; n++) {
    uint32_t vector = lgt_stores_dense(&stores, LGT_FLOAT64, 1, &n);
    uint32_t layout = lgt_result_join(&stores, LGT_BOOL, vector, vector);
    CHECK(has_shape(layout, &(shape){1, {n}}));
    if (n == 1) first = layout;
  }
  int64_t one = 1;
  uint32_t vector = lgt_stores_dense(&stores, LGT_FLOAT64, 1, &one);
  CHECK_EQ(lgt_result_join(&stores, LGT_BOOL, vector, vector), first);
}

/* Parts that are asked for again, some of which fall into one place, or do not exist. */
TEST(parts_are_those_of_the_view_itself) {
  const int64_t extent[2] = {3000, 7};
  uint32_t whole = lgt_stores_dense(&stores, LGT_FLOAT64, 2, extent);
  for (int turn = 0; turn < 60000; turn++) {
    int dim = random_below(2), step = random_below(3) + 1, way = turn % 3;
    int64_t first = random_below(turn % 2 ? 8 : 3100), count = random_below(turn % 2 ? 4 : 1600);
    uint32_t got, want;
    if (way == 0) {
      got = lgt_result_slice(&stores, whole, dim, first, count, step);
      want = lgt_stores_slice(&stores, whole, dim, first, count, step);
    } else if (way == 1) {
      got = lgt_result_project(&stores, whole, dim, first);
      want = lgt_stores_project(&stores, whole, dim, first);
    } else {
      got = lgt_result_promote(&stores, whole, dim, count);
      want = lgt_stores_promote(&stores, whole, dim, count);
    }
    CHECK_EQ(got, want);
  }
}

int main(void) {
  if (lgt_stores_init(&stores)) return 1;
  RUN(joins_are_new_arrays_of_the_common_shape);
  RUN(reductions_leave_the_other_dimensions);
  RUN(what_was_asked_before_is_forgotten_not_confused);
  RUN(parts_are_those_of_the_view_itself);
  lgt_stores_fini(&stores);
  return check_done();
}
