/* test_store.c - layouts against enumerated elements.
 *
 * The model of a view is the list of its elements, as numbers of root elements in C order, with its shape.
 * The maps are applied to the list by what NumPy says they do; whatever lgt tells about the layout is then
 * counted element by element.
 */
#include "check.h"
#include "loops.h"
#include "base/mem.h"
#include "model/store.h"

enum { MOST = 4096 };

typedef struct view {
  uint32_t layout;
  int ndim;
  int64_t shape[LGT_MAX_DIM];
  int64_t size;
  int64_t element[MOST]; /* by position */
} view;

static lgt_stores stores;

static const lgt_layout *at(const view *v) { return lgt_layout_at(&stores, v->layout); }

static int64_t size_of(int ndim, const int64_t *shape) {
  int64_t size = 1;
  for (int d = 0; d < ndim; d++) size *= shape[d];
  return size;
}

static void coordinates(int ndim, const int64_t *shape, int64_t position, int64_t *x) {
  for (int d = ndim - 1; d >= 0; d--) {
    x[d] = position % shape[d];
    position /= shape[d];
  }
}

static int64_t position_of(int ndim, const int64_t *shape, const int64_t *x) {
  int64_t p = 0;
  for (int d = 0; d < ndim; d++) p = p * shape[d] + x[d];
  return p;
}

static bool dense(view *v, int dtype, int ndim, const int64_t *shape) {
  v->layout = lgt_stores_dense(&stores, dtype, ndim, shape);
  v->ndim = ndim;
  memcpy(v->shape, shape, (size_t)ndim * sizeof *shape);
  v->size = size_of(ndim, shape);
  for (int64_t p = 0; p < v->size; p++) v->element[p] = p;
  return v->layout != 0;
}

/* ---- the maps on lists --------------------------------------------------------------------------- */

/* to has its shape: position by position, `source` says which coordinates of `from` an element has. */
typedef void source_fn(const int64_t *x, const int64_t *argument, int64_t *source, const view *from);

static void pick(view *to, const view *from, source_fn *source, const int64_t *argument) {
  to->size = size_of(to->ndim, to->shape);
  for (int64_t p = 0; p < to->size; p++) {
    int64_t x[LGT_MAX_DIM], y[LGT_MAX_DIM];
    coordinates(to->ndim, to->shape, p, x);
    source(x, argument, y, from);
    to->element[p] = from->element[position_of(from->ndim, from->shape, y)];
  }
}

static void of_slice(const int64_t *x, const int64_t *a, int64_t *y, const view *from) {
  for (int d = 0; d < from->ndim; d++) y[d] = d == a[0] ? a[1] + a[2] * x[d] : x[d];
}
static void of_project(const int64_t *x, const int64_t *a, int64_t *y, const view *from) {
  for (int d = 0; d < from->ndim; d++) y[d] = d < a[0] ? x[d] : d == a[0] ? a[1] : x[d - 1];
}
static void of_promote(const int64_t *x, const int64_t *a, int64_t *y, const view *from) {
  for (int d = 0; d < from->ndim; d++) y[d] = x[d < a[0] ? d : d + 1];
}
static void of_transpose(const int64_t *x, const int64_t *a, int64_t *y, const view *from) {
  for (int d = 0; d < from->ndim; d++) y[a[d]] = x[d];
}
static void of_broadcast(const int64_t *x, const int64_t *a, int64_t *y, const view *from) {
  for (int d = 0; d < from->ndim; d++) y[d] = from->shape[d] == 1 ? 0 : x[a[0] - from->ndim + d];
}

static void of_diagonal(const int64_t *x, const int64_t *a, int64_t *y, const view *from) {
  for (int d = 0, k = 0; d < from->ndim; d++)
    if (d != a[0] && d != a[1]) y[d] = x[k++];
  y[a[0]] = x[from->ndim - 2] + (a[2] < 0 ? -a[2] : 0);
  y[a[1]] = x[from->ndim - 2] + (a[2] > 0 ? a[2] : 0);
}

static void of_windows(const int64_t *x, const int64_t *a, int64_t *y, const view *from) {
  for (int d = 0; d < from->ndim; d++) y[d] = d == a[0] ? x[d] + x[from->ndim] : x[d];
}

static bool do_slice(view *to, const view *from) {
  int d = random_below(from->ndim);
  int64_t extent = from->shape[d], step = random_below(3) + 1, count;
  int64_t first = extent ? random_below((int)extent) : 0;
  if (random_below(3) == 0) step = -step;
  int64_t room = extent == 0 ? 0 : step > 0 ? (extent - 1 - first) / step + 1 : first / -step + 1;
  count = random_below(8) == 0 ? 0 : random_below(3) ? room : random_below((int)room + 1);
  *to = *from;
  to->shape[d] = count;
  to->layout = lgt_stores_slice(&stores, from->layout, d, first, count, step);
  pick(to, from, of_slice, (int64_t[]){d, first, step});
  return to->layout;
}

static bool do_project(view *to, const view *from) {
  int dim = random_below(from->ndim);
  if (from->shape[dim] == 0) return false;
  int64_t index = random_below((int)from->shape[dim]);
  *to = *from;
  to->ndim--;
  for (int d = dim; d < to->ndim; d++) to->shape[d] = from->shape[d + 1];
  to->layout = lgt_stores_project(&stores, from->layout, dim, index);
  pick(to, from, of_project, (int64_t[]){dim, index});
  return to->layout;
}

static bool do_promote(view *to, const view *from) {
  int dim = random_below(from->ndim + 1);
  int64_t extent = random_below(10) ? random_below(3) + 1 : 0;
  if (from->ndim == LGT_MAX_DIM || from->size * extent > MOST) return false;
  *to = *from;
  to->ndim++;
  for (int d = to->ndim - 1; d > dim; d--) to->shape[d] = from->shape[d - 1];
  to->shape[dim] = extent;
  to->layout = lgt_stores_promote(&stores, from->layout, dim, extent);
  pick(to, from, of_promote, (int64_t[]){dim});
  return to->layout;
}

static bool do_transpose(view *to, const view *from) {
  int axes[LGT_MAX_DIM];
  int64_t wide[LGT_MAX_DIM];
  for (int d = 0; d < from->ndim; d++) axes[d] = d;
  for (int d = from->ndim - 1; d > 0; d--) {
    int k = random_below(d + 1), t = axes[d];
    axes[d] = axes[k];
    axes[k] = t;
  }
  *to = *from;
  for (int d = 0; d < from->ndim; d++) to->shape[d] = from->shape[axes[d]], wide[d] = axes[d];
  to->layout = lgt_stores_transpose(&stores, from->layout, axes);
  pick(to, from, of_transpose, wide);
  return to->layout;
}

static bool do_diagonal(view *to, const view *from) {
  int row = random_below(from->ndim), column = random_below(from->ndim);
  if (row == column) return false;
  int64_t above = random_below(5) - 2;
  int64_t rows = from->shape[row] + (above < 0 ? above : 0),
          columns = from->shape[column] - (above > 0 ? above : 0), n = rows < columns ? rows : columns;
  *to = *from;
  to->ndim = 0;
  for (int d = 0; d < from->ndim; d++)
    if (d != row && d != column) to->shape[to->ndim++] = from->shape[d];
  to->shape[to->ndim++] = n > 0 ? n : 0;
  to->layout = lgt_stores_diagonal(&stores, from->layout, row, column, above);
  pick(to, from, of_diagonal, (int64_t[]){row, column, above});
  return to->layout;
}

static bool do_windows(view *to, const view *from) {
  int dim = random_below(from->ndim);
  if (from->ndim == LGT_MAX_DIM || from->shape[dim] == 0) return false;
  int64_t width = random_below((int)from->shape[dim]) + 1;
  *to = *from;
  to->shape[dim] -= width - 1;
  to->shape[to->ndim++] = width;
  if (size_of(to->ndim, to->shape) > MOST) return false;
  to->layout = lgt_stores_windows(&stores, from->layout, dim, width);
  pick(to, from, of_windows, (int64_t[]){dim});
  return to->layout;
}

static bool do_broadcast(view *to, const view *from) {
  int ndim = from->ndim + random_below(2);
  if (ndim > LGT_MAX_DIM) return false;
  *to = *from;
  to->ndim = ndim;
  for (int d = 0; d < ndim; d++) {
    int k = d - (ndim - from->ndim);
    to->shape[d] = k < 0 ? random_below(3) : from->shape[k] == 1 ? random_below(3) + 1 : from->shape[k];
  }
  if (size_of(ndim, to->shape) > MOST) return false;
  to->layout = lgt_stores_broadcast(&stores, from->layout, ndim, to->shape);
  pick(to, from, of_broadcast, (int64_t[]){ndim});
  return to->layout;
}

/* Can strides and an offset describe this list? */
static bool is_affine(const view *v) {
  int64_t stride[LGT_MAX_DIM] = {0};
  for (int d = 0; d < v->ndim && v->size; d++) {
    int64_t x[LGT_MAX_DIM] = {0};
    x[d] = 1;
    if (v->shape[d] > 1) stride[d] = v->element[position_of(v->ndim, v->shape, x)] - v->element[0];
  }
  for (int64_t p = 0; p < v->size; p++) {
    int64_t x[LGT_MAX_DIM], e = v->element[0];
    coordinates(v->ndim, v->shape, p, x);
    for (int d = 0; d < v->ndim; d++) e += stride[d] * x[d];
    if (e != v->element[p]) return false;
  }
  return true;
}

/* Any shape of the same size. */
static bool do_reshape(view *to, const view *from) {
  int64_t rest = from->size, factor;
  *to = *from;
  to->ndim = 0;
  while (to->ndim < LGT_MAX_DIM && (rest > 1 || random_below(2))) {
    factor = rest;
    if (to->ndim < LGT_MAX_DIM - 1)
      for (factor = random_below(6) + 1; rest % factor;) factor--;
    if (from->size == 0) factor = random_below(3);
    to->shape[to->ndim++] = factor;
    rest = from->size ? rest / factor : rest;
  }
  if (size_of(to->ndim, to->shape) != from->size) return false;
  lgt_err(LGT_OK, "%s", "");
  to->layout = lgt_stores_reshape(&stores, from->layout, to->ndim, to->shape);
  /* A view exactly where strides allow it; otherwise there is no message. */
  if ((to->layout != 0) != is_affine(to)) check_fail(__FILE__, __LINE__, "reshape: %u", to->layout);
  if (!to->layout && *lgt_message()) check_fail(__FILE__, __LINE__, "reshape: %s", lgt_message());
  return to->layout;
}

static bool with_windows; /* among the maps */

static bool random_map(view *to, const view *from) {
  if (with_windows && from->ndim && random_below(3) == 0) return do_windows(to, from);
  switch (random_below(from->ndim ? 9 : 3)) {
    case 0:
      return do_promote(to, from);
    case 1:
      return do_broadcast(to, from);
    case 2:
      return do_reshape(to, from);
    case 3:
      return do_project(to, from);
    case 4:
      return do_transpose(to, from);
    case 5:
      return do_diagonal(to, from);
    default:
      return do_slice(to, from);
  }
}

static void random_root(view *v) {
  int64_t shape[LGT_MAX_DIM] = {0};
  int ndim = random_below(4);
  for (int d = 0; d < ndim; d++) shape[d] = random_below(12) ? random_below(6) + 1 : 0;
  dense(v, LGT_FLOAT64, ndim, shape);
}

static void random_view(view *v, const view *root) {
  view next;
  *v = *root;
  for (int i = random_below(6); i > 0; i--)
    if (random_map(&next, v)) *v = next;
}

/* ---- what layouts say ------------------------------------------------------------------------------- */

/* Root coordinates of an element, as lgt_layout_walk tells; false if it points outside of the root. */
static bool walk_to(const lgt_layout *l, const int64_t *x, int64_t *root) {
  int64_t begin[LGT_MAX_DIM], step[LGT_MAX_DIM];
  lgt_layout_walk(l, begin, step);
  memcpy(root, begin, sizeof begin);
  for (int d = 0; d < l->ndim; d++)
    if (step[d]) root[l->dim[d]] += step[d] * x[d];
  for (int d = 0; d < l->root_ndim; d++)
    if (root[d] < 0 || root[d] >= l->root_shape[d]) return false;
  return true;
}

TEST(maps_are_numpys) {
  static view root, v;
  for (int round = 0; round < 8000; round++) {
    random_root(&root);
    with_windows = round % 3 == 0;
    random_view(&v, &root);
    const lgt_layout *l = at(&v);
    CHECK_EQ(l->ndim, v.ndim);
    CHECK_EQ(l->size, v.size);
    CHECK_EQ(l->root_ndim, root.ndim);
    for (int d = 0; d < v.ndim; d++) CHECK_EQ(l->shape[d], v.shape[d]);
    for (int64_t p = 0; p < v.size; p++) {
      int64_t x[LGT_MAX_DIM], r[LGT_MAX_DIM], e = l->offset;
      coordinates(v.ndim, v.shape, p, x);
      for (int d = 0; d < v.ndim; d++) e += l->stride[d] * x[d];
      CHECK_EQ(e, v.element[p]);
      if (l->flags & LGT_LAYOUT_RESHAPED) continue;
      CHECK(walk_to(l, x, r));
      CHECK_EQ(position_of(root.ndim, root.shape, r), v.element[p]);
    }
    bool identity = v.ndim == root.ndim;
    for (int d = 0; identity && d < v.ndim; d++) identity = v.shape[d] == root.shape[d];
    for (int64_t p = 0; p < v.size && identity; p++) identity = v.element[p] == p;
    if (l->flags & LGT_LAYOUT_WHOLE) CHECK(identity);
    CHECK_EQ(lgt_stores_dense(&stores, l->dtype, l->root_ndim, l->root_shape), root.layout);
  }
  with_windows = false;
}

static bool has(const view *v, int64_t element) {
  for (int64_t p = 0; p < v->size; p++)
    if (v->element[p] == element) return true;
  return false;
}

TEST(distinct_elements_are_counted) {
  static view root, v;
  for (int round = 0; round < 5000; round++) {
    random_root(&root);
    random_view(&v, &root);
    int64_t n = 0;
    for (int64_t e = 0; e < root.size; e++) n += has(&v, e);
    CHECK_EQ(lgt_layout_distinct(at(&v)), n);
    CHECK_EQ((at(&v)->flags & LGT_LAYOUT_STRETCHED) != 0, n < v.size);
  }
}

TEST(windows_are_stretched) {
  static view root, v;
  int overlapping = 0;
  with_windows = true;
  for (int round = 0; round < 5000; round++) {
    random_root(&root);
    random_view(&v, &root);
    int64_t n = 0;
    for (int64_t e = 0; e < root.size; e++) n += has(&v, e);
    CHECK(lgt_layout_distinct(at(&v)) >= n && lgt_layout_distinct(at(&v)) <= v.size);
    CHECK(at(&v)->flags & LGT_LAYOUT_STRETCHED || n == v.size);
    if (n < v.size) CHECK(!lgt_layout_covers(at(&v), false) || !(at(&v)->flags & LGT_LAYOUT_RESHAPED));
    overlapping += n < v.size && at(&v)->flags & LGT_LAYOUT_RESHAPED;
  }
  with_windows = false;
  CHECK(overlapping > 200);
  dense(&root, LGT_FLOAT64, 1, (int64_t[]){9});
  uint32_t all = lgt_stores_windows(&stores, root.layout, 0, 9),
           each = lgt_stores_windows(&stores, root.layout, 0, 1);
  CHECK_EQ(all, lgt_stores_promote(&stores, root.layout, 0, 1));
  CHECK_EQ(each, lgt_stores_promote(&stores, root.layout, 1, 1));
  CHECK_EQ(lgt_layout_distinct(lgt_layout_at(&stores, lgt_stores_windows(&stores, root.layout, 0, 4))), 9);
}

/* Over an empty dimension nothing is added to a reduction's target, but it is there. */
TEST(a_target_is_there_without_anything_to_reduce) {
  static view root;
  dense(&root, LGT_FLOAT64, 1, (int64_t[]){7});
  uint32_t part = lgt_stores_slice(&stores, root.layout, 0, 2, 3, 1);
  const lgt_layout *target = lgt_layout_at(&stores, lgt_stores_promote(&stores, part, 1, 0));
  const lgt_layout *none = lgt_layout_at(&stores, lgt_stores_slice(&stores, root.layout, 0, 3, 0, 1));
  lgt_rect view = lgt_rect_of_shape(2, target->shape), bound = lgt_layout_target_rect(target, view);
  lgt_rect expected = {.ndim = 1, .lo = {2}, .hi = {5}};
  CHECK_EQ(lgt_layout_distinct(target), 0);
  CHECK(lgt_rect_equal(&bound, &expected));
  bound = lgt_layout_root_rect(target, &view);
  CHECK(lgt_rect_empty(&bound));
  bound = lgt_layout_target_rect(none, lgt_rect_of_shape(1, none->shape));
  CHECK(lgt_rect_empty(&bound));
}

TEST(root_rects_are_tight) {
  static view root, v;
  int64_t begin[LGT_MAX_DIM], step[LGT_MAX_DIM][LGT_MAX_DIM];
  for (int round = 0; round < 5000; round++) {
    random_root(&root);
    with_windows = round % 3 == 0;
    random_view(&v, &root);
    lgt_rect part = lgt_rect_of_shape(v.ndim, v.shape), bound = {.ndim = root.ndim};
    for (int d = 0; d < v.ndim && round % 2; d++)
      if (v.shape[d]) {
        part.lo[d] = random_below((int)v.shape[d]);
        part.hi[d] = part.lo[d] + 1 + random_below((int)(v.shape[d] - part.lo[d]));
      }
    lgt_rect got = lgt_layout_root_rect(at(&v), &part);
    CHECK_EQ(got.ndim, root.ndim);
    bool any = false;
    for (int64_t p = 0; p < v.size; p++) {
      int64_t x[LGT_MAX_DIM], r[LGT_MAX_DIM];
      coordinates(v.ndim, v.shape, p, x);
      bool in = true;
      for (int d = 0; d < v.ndim; d++) in &= x[d] >= part.lo[d] && x[d] < part.hi[d];
      if (!in) continue;
      coordinates(root.ndim, root.shape, v.element[p], r);
      for (int d = 0; d < root.ndim; d++) {
        CHECK(r[d] >= got.lo[d] && r[d] < got.hi[d]);
        if (!any || r[d] < bound.lo[d]) bound.lo[d] = r[d];
        if (!any || r[d] >= bound.hi[d]) bound.hi[d] = r[d] + 1;
      }
      any = true;
    }
    if (!any) CHECK(root.ndim == 0 || lgt_rect_empty(&got));
    else if (!(at(&v)->flags & LGT_LAYOUT_RESHAPED) || lgt_layout_steps(at(&v), begin, step))
      CHECK(lgt_rect_equal(&got, &bound));
  }
  with_windows = false;
}

TEST(exact_views_fill_their_bound) {
  static view root, v;
  int exact = 0;
  for (int round = 0; round < 5000; round++) {
    random_root(&root);
    with_windows = round % 3 == 0;
    random_view(&v, &root);
    lgt_rect all = lgt_rect_of_shape(v.ndim, v.shape), bound = lgt_layout_root_rect(at(&v), &all);
    bool fills = true;
    for (int64_t e = 0; e < root.size; e++) {
      int64_t r[LGT_MAX_DIM];
      lgt_rect point = {.ndim = root.ndim};
      coordinates(root.ndim, root.shape, e, r);
      for (int d = 0; d < root.ndim; d++) point.lo[d] = r[d], point.hi[d] = r[d] + 1;
      if (lgt_rect_contains(&bound, &point) && !has(&v, e)) fills = false;
    }
    exact += lgt_layout_exact(at(&v));
    if (lgt_layout_exact(at(&v))) CHECK(fills || v.size == 0);
    else if (v.size && !(at(&v)->flags & LGT_LAYOUT_RESHAPED)) CHECK(!fills);
  }
  CHECK(exact > 1000);
  with_windows = false;
}

TEST(views_without_a_common_element_may_not_overlap) {
  static view root, a, b;
  int apart = 0, told = 0;
  for (int round = 0; round < 8000; round++) {
    random_root(&root);
    random_view(&a, &root);
    random_view(&b, &root);
    bool common = false;
    for (int64_t p = 0; p < a.size && !common; p++) common = has(&b, a.element[p]);
    bool may = lgt_layout_may_overlap(at(&a), at(&b));
    CHECK_EQ(may, lgt_layout_may_overlap(at(&b), at(&a)));
    if (common) CHECK(may);
    if (!common && a.size && b.size) apart++, told += !may;
  }
  CHECK(told * 10 > apart * 9); /* it need not be told, but nearly always is */
}

/* The cases that fusion lives on. */
TEST(boxes_and_interleaved_views_are_told_apart) {
  int64_t shape[] = {10, 12};
  uint32_t x = lgt_stores_dense(&stores, LGT_FLOAT32, 2, shape);
  uint32_t left = lgt_stores_slice(&stores, x, 1, 0, 6, 1), right = lgt_stores_slice(&stores, x, 1, 6, 6, 1);
  uint32_t even = lgt_stores_slice(&stores, x, 0, 0, 5, 2), odd = lgt_stores_slice(&stores, x, 0, 9, 5, -2);
  CHECK(!lgt_layout_may_overlap(lgt_layout_at(&stores, left), lgt_layout_at(&stores, right)));
  CHECK(!lgt_layout_may_overlap(lgt_layout_at(&stores, even), lgt_layout_at(&stores, odd)));
  CHECK(lgt_layout_may_overlap(lgt_layout_at(&stores, left), lgt_layout_at(&stores, odd)));
}

/* A reduction over nothing sets its target to the operator's identity: that is a write to wait for. */
TEST(a_target_with_nothing_to_reduce_still_overlaps_its_readers) {
  int64_t shape[] = {3};
  uint32_t x = lgt_stores_dense(&stores, LGT_FLOAT32, 1, shape);
  uint32_t target = lgt_stores_promote(&stores, x, 1, 0);
  CHECK(lgt_layout_may_overlap(lgt_layout_at(&stores, target), lgt_layout_at(&stores, x)));
  CHECK(lgt_layout_may_overlap(lgt_layout_at(&stores, x), lgt_layout_at(&stores, target)));
  uint32_t none = lgt_stores_slice(&stores, target, 0, 0, 0, 1);
  CHECK(!lgt_layout_may_overlap(lgt_layout_at(&stores, none), lgt_layout_at(&stores, x)));
}

/* ---- interning ------------------------------------------------------------------------------------------ */

TEST(equal_views_have_equal_numbers) {
  static view root, v[2];
  int equal = 0;
  for (int round = 0; round < 8000; round++) {
    int64_t shape[] = {3, 4};
    dense(&root, LGT_INT32, 2, shape);
    random_view(&v[0], &root);
    random_view(&v[1], &root);
    bool same = v[0].ndim == v[1].ndim && v[0].size == v[1].size && v[0].size > 0;
    for (int d = 0; same && d < v[0].ndim; d++) same = v[0].shape[d] == v[1].shape[d] && v[0].shape[d] > 1;
    same = same && !memcmp(v[0].element, v[1].element, (size_t)v[0].size * sizeof *v[0].element);
    if ((at(&v[0])->flags ^ at(&v[1])->flags) & LGT_LAYOUT_RESHAPED) continue;
    if (same) CHECK_EQ(v[0].layout, v[1].layout);
    if (v[0].layout == v[1].layout && v[0].size)
      CHECK(v[0].size == v[1].size &&
            !memcmp(v[0].element, v[1].element, (size_t)v[0].size * sizeof *v[0].element));
    equal += same;
  }
  CHECK(equal > 100);
}

TEST(numbers_stay_valid_while_the_table_grows) {
  static uint32_t number[5000];
  for (int i = 0; i < 5000; i++) number[i] = lgt_stores_dense(&stores, LGT_INT8, 2, (int64_t[]){i, 7});
  for (int i = 0; i < 5000; i++) {
    CHECK_EQ(lgt_stores_dense(&stores, LGT_INT8, 2, (int64_t[]){i, 7}), number[i]);
    CHECK_EQ(lgt_layout_at(&stores, number[i])->shape[0], i);
  }
  CHECK(lgt_stores_dense(&stores, LGT_UINT8, 2, (int64_t[]){3, 7}) != number[3]);
}

TEST(large_roots_are_marked) {
  uint32_t small = lgt_stores_dense(&stores, LGT_FLOAT64, 1, (int64_t[]){1000});
  uint32_t large = lgt_stores_dense(&stores, LGT_FLOAT64, 1, (int64_t[]){1000000});
  uint32_t part = lgt_stores_slice(&stores, large, 0, 0, 10, 1);
  CHECK(!(lgt_layout_at(&stores, small)->flags & LGT_LAYOUT_LARGE));
  CHECK(lgt_layout_at(&stores, large)->flags & LGT_LAYOUT_LARGE);
  CHECK(lgt_layout_at(&stores, part)->flags & LGT_LAYOUT_LARGE);
}

/* ---- what is refused -------------------------------------------------------------------------------------- */

/* 0 and a message with these words. */
#define REFUSED(call, words)         \
  do {                               \
    lgt_err(LGT_OK, "%s", "");       \
    CHECK_EQ((call), 0);             \
    CHECK_HAS(lgt_message(), words); \
  } while (0)

TEST(impossible_layouts_are_refused) {
  int64_t shape[7] = {4, 5, 1, 1, 1, 1, 1}, huge = INT64_MAX;
  uint32_t x = lgt_stores_dense(&stores, LGT_FLOAT64, 2, shape),
           six = lgt_stores_dense(&stores, LGT_FLOAT64, 6, shape);
  uint32_t none = lgt_stores_dense(&stores, LGT_FLOAT64, 1, (int64_t[]){0});
  REFUSED(lgt_stores_dense(&stores, 99, 1, shape), "99");
  REFUSED(lgt_stores_dense(&stores, -1, 1, shape), "-1");
  REFUSED(lgt_stores_dense(&stores, LGT_INT8, 7, shape), "7 dimensions");
  REFUSED(lgt_stores_dense(&stores, LGT_INT8, -1, shape), "-1");
  REFUSED(lgt_stores_dense(&stores, LGT_INT8, 1, (int64_t[]){-4}), "-4");
  REFUSED(lgt_stores_dense(&stores, LGT_INT8, 2, (int64_t[]){huge, huge}), "2^61");
  REFUSED(lgt_stores_dense(&stores, LGT_COMPLEX128, 1, (int64_t[]){(int64_t)1 << 58}), "2^61");

  REFUSED(lgt_stores_slice(&stores, x, 2, 0, 1, 1), "dimension 3");
  REFUSED(lgt_stores_slice(&stores, x, -1, 0, 1, 1), "dimension 0");
  REFUSED(lgt_stores_slice(&stores, x, 0, 0, 1, 0), "step is 0");
  REFUSED(lgt_stores_slice(&stores, x, 0, 0, -1, 1), "-1 elements");
  REFUSED(lgt_stores_slice(&stores, x, 0, 2, 3, 1), "2 to 4");
  REFUSED(lgt_stores_slice(&stores, x, 0, -1, 2, 1), "extent of 4");
  REFUSED(lgt_stores_slice(&stores, x, 0, 2, 4, -1), "2 to -1");
  REFUSED(lgt_stores_slice(&stores, x, 0, 1, huge, huge), "extent of 4");
  REFUSED(lgt_stores_slice(&stores, x, 0, 1, 3, INT64_MIN), "extent of 4");
  REFUSED(lgt_stores_slice(&stores, none, 0, 0, 1, 1), "extent of 0");

  REFUSED(lgt_stores_project(&stores, x, 2, 0), "dimension 3");
  REFUSED(lgt_stores_project(&stores, x, 0, 4), "element 4");
  REFUSED(lgt_stores_project(&stores, x, 0, -1), "element -1");
  REFUSED(lgt_stores_promote(&stores, x, 3, 2), "dimension 4 of an array of 2 dimensions");
  REFUSED(lgt_stores_promote(&stores, x, 0, -2), "-2");
  REFUSED(lgt_stores_promote(&stores, six, 0, 2), "6 dimensions");
  REFUSED(lgt_stores_promote(&stores, x, 0, huge), "elements");
  REFUSED(lgt_stores_diagonal(&stores, x, 0, 2, 0), "dimension 3");
  REFUSED(lgt_stores_diagonal(&stores, x, 1, 1, 0), "one dimension, 2");
  REFUSED(lgt_stores_windows(&stores, x, 2, 1), "dimension 3");
  REFUSED(lgt_stores_windows(&stores, x, 0, 0), "windows of 0");
  REFUSED(lgt_stores_windows(&stores, x, 0, 5), "windows of 5 in an extent of 4");
  REFUSED(lgt_stores_windows(&stores, six, 0, 1), "6 dimensions");
  REFUSED(lgt_stores_transpose(&stores, x, (int[]){0, 0}), "repeated");
  REFUSED(lgt_stores_transpose(&stores, x, (int[]){0, 2}), "dimension 3");
  REFUSED(lgt_stores_broadcast(&stores, x, 2, (int64_t[]){4, 6}), "extent 5");
  REFUSED(lgt_stores_broadcast(&stores, x, 1, (int64_t[]){5}), "2 dimensions");
  REFUSED(lgt_stores_broadcast(&stores, none, 0, NULL), "1 dimension cannot");
  REFUSED(lgt_stores_broadcast(&stores, x, 7, shape), "7");
  REFUSED(lgt_stores_broadcast(&stores, x, 3, (int64_t[]){-3, 4, 5}), "-3");
  REFUSED(lgt_stores_broadcast(&stores, x, 4, (int64_t[]){huge, huge, 4, 5}), "elements");
  REFUSED(lgt_stores_reshape(&stores, x, 1, (int64_t[]){21}), "20 elements");
  REFUSED(lgt_stores_reshape(&stores, x, 2, (int64_t[]){-4, -5}), "negative");
  REFUSED(lgt_stores_reshape(&stores, x, 7, shape), "7");
  REFUSED(lgt_stores_reshape(&stores, x, -1, shape), "-1");
  REFUSED(lgt_stores_reshape(&stores, x, 4, (int64_t[]){4, 5, huge, huge}), "20 elements");
}

/* ---- stores and handles -------------------------------------------------------------------------------- */

TEST(stores_are_recycled) {
  uint32_t layout = lgt_stores_dense(&stores, LGT_FLOAT64, 1, (int64_t[]){3});
  int64_t alive = stores.live_stores;
  lgt_store *a = lgt_store_new(&stores, layout), *b = lgt_store_new(&stores, layout);
  CHECK(a && b && a->id != b->id && a->id && b->id);
  CHECK(lgt_store_at(&stores, a->id) == a && a->layout == layout);
  a->written = true;
  CHECK_EQ(stores.live_stores, alive + 2);
  uint32_t id = a->id;
  lgt_store_recycle(&stores, a);
  CHECK_EQ(stores.live_stores, alive + 1);
  lgt_store *c = lgt_store_new(&stores, layout);
  CHECK_EQ(c->id, id);
  CHECK(!c->written);
  lgt_store_recycle(&stores, b);
  lgt_store_recycle(&stores, c);
}

static uint32_t vector_of(int64_t n) { return lgt_stores_dense(&stores, LGT_FLOAT64, 1, &n); }

TEST(layouts_that_nobody_asks_for_are_free_two_sweeps_later) {
  enum { FIRST = 100000, COUNT = 5000 };
  static uint32_t number[COUNT];
  for (int64_t i = 0; i < COUNT; i++) number[i] = vector_of(FIRST + i);
  uint32_t free_before = stores.nfree_layout;
  lgt_layouts_sweep(&stores);
  CHECK(stores.nfree_layout == free_before); /* all are of this epoch */
  lgt_layouts_sweep(&stores);
  CHECK(stores.nfree_layout == free_before); /* or of the one before */
  for (int i = 0; i < COUNT; i += 2) lgt_layout_mark(&stores, number[i]);
  CHECK(vector_of(FIRST + 1) == number[1]); /* asked for */
  lgt_layouts_sweep(&stores);
  CHECK(stores.nfree_layout >= free_before + COUNT / 2 - 1);
  for (int i = 0; i < COUNT; i++) {
    bool held = i % 2 == 0 || i == 1;
    CHECK((stores.note[number[i]].epoch == LGT_NOWHERE) == !held);
    if (held) CHECK(vector_of(FIRST + i) == number[i]);
  }
  uint32_t most = stores.nlayout;
  for (int64_t i = 0; i < COUNT / 2 - 1; i++)
    CHECK(lgt_layout_at(&stores, vector_of(2 * FIRST + i))->shape[0] == 2 * FIRST + i);
  CHECK(stores.nlayout == most);
  for (int i = 0; i < COUNT; i += 2) CHECK(vector_of(FIRST + i) == number[i]);
}

TEST(handles_are_handed_out_until_there_are_no_more) {
  static uint8_t seen[(1 << 22) + 1]; /* from 1 */
  uint32_t n = 0;
  int64_t total = 0;
  while (lgt_handles_refill(&stores, &n)) {
    while (n > 0) {
      uint32_t id = stores.free_handle[--n];
      CHECK(id > 0 && id < sizeof seen && !seen[id]);
      seen[id] = 1;
      total++;
    }
  }
  CHECK(total > 4000000);
  CHECK_HAS(lgt_message(), "as many as there can be");
}

int main(void) {
  if (lgt_stores_init(&stores)) return 1;
  RUN(maps_are_numpys);
  RUN(distinct_elements_are_counted);
  RUN(windows_are_stretched);
  RUN(a_target_is_there_without_anything_to_reduce);
  RUN(root_rects_are_tight);
  RUN(exact_views_fill_their_bound);
  RUN(views_without_a_common_element_may_not_overlap);
  RUN(boxes_and_interleaved_views_are_told_apart);
  RUN(a_target_with_nothing_to_reduce_still_overlaps_its_readers);
  RUN(equal_views_have_equal_numbers);
  RUN(numbers_stay_valid_while_the_table_grows);
  RUN(large_roots_are_marked);
  RUN(impossible_layouts_are_refused);
  RUN(stores_are_recycled);
  RUN(layouts_that_nobody_asks_for_are_free_two_sweeps_later);
  RUN(handles_are_handed_out_until_there_are_no_more);
  lgt_stores_fini(&stores);
  return check_done() || lgt_mem_live() != 0;
}
