/* result.c - see result.h. */
#include "model/result.h"

enum { JOIN = 1 << 16 }; /* marks the question; others have their axes there */

static lgt_result *place_of(lgt_stores *stores, uint32_t question, uint32_t a, uint32_t b) {
  uint32_t h = (a * 0x9e3779b1u) ^ (b * 0x85ebca6bu) ^ (question * 0xc2b2ae35u);
  return &stores->result[(h >> 16 ^ h) % LGT_RESULTS];
}

static bool answers(lgt_stores *stores, const lgt_result *place, uint32_t question, uint32_t a, uint32_t b) {
  if (!place->layout || place->question != question || place->a != a || place->b != b) return false;
  lgt_layout_mark(stores, place->layout);
  lgt_layout_mark(stores, place->view);
  return true;
}

/* Extents of the common shape; -1: there is none. */
static int common_shape(const lgt_layout *a, const lgt_layout *b, int64_t shape[LGT_MAX_DIM]) {
  int ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
  for (int d = 0; d < ndim; d++) {
    int da = d - (ndim - a->ndim), db = d - (ndim - b->ndim);
    int64_t m = da < 0 ? 1 : a->shape[da], n = db < 0 ? 1 : b->shape[db];
    if (m != n && m != 1 && n != 1) {
      lgt_err(LGT_BAD_SHAPE,
              "extents %lld and %lld do not fit together: they must be equal, or one of them 1", (long long)m,
              (long long)n);
      return -1;
    }
    shape[d] = m == 1 ? n : m;
  }
  return ndim;
}

uint32_t lgt_result_join(lgt_stores *stores, int dtype, uint32_t a, uint32_t b) {
  const lgt_layout *la = lgt_layout_at(stores, a);
  uint32_t question = (uint32_t)dtype | JOIN;
  int64_t shape[LGT_MAX_DIM];
  if (a == b && la->flags & LGT_LAYOUT_WHOLE && la->dtype == dtype) return a;
  lgt_result *place = place_of(stores, question, a, b);
  if (answers(stores, place, question, a, b)) return place->layout;
  int ndim = common_shape(la, lgt_layout_at(stores, b), shape);
  uint32_t layout = ndim < 0 ? 0 : lgt_stores_dense(stores, dtype, ndim, shape);
  if (layout) *place = (lgt_result){question, a, b, layout, 0};
  return layout;
}

bool lgt_result_fills(const lgt_stores *stores, uint32_t target, uint32_t from) {
  const lgt_layout *t = lgt_layout_at(stores, target), *f = lgt_layout_at(stores, from);
  int more = t->ndim - f->ndim;
  if (more < 0) return false;
  for (int d = 0; d < f->ndim; d++)
    if (f->shape[d] != t->shape[d + more] && f->shape[d] != 1) return false;
  return true;
}

/* The view of `layout`, which has no reduced dimension, or has them with extent 1, in the space of `shape`. */
static uint32_t widened(lgt_stores *stores, uint32_t layout, int ndim, const int64_t *shape, unsigned axes,
                        bool keepdims) {
  if (keepdims) return lgt_stores_broadcast(stores, layout, ndim, shape);
  if (lgt_layout_at(stores, layout)->ndim == 0) return layout; /* takes part in any space */
  for (int d = 0; d < ndim && layout; d++)
    if (axes >> d & 1) layout = lgt_stores_promote(stores, layout, d, shape[d]);
  return layout;
}

uint32_t lgt_result_reduced(lgt_stores *stores, int dtype, uint32_t a, uint32_t b, unsigned axes,
                            bool keepdims, uint32_t *view) {
  uint32_t question = (uint32_t)dtype | axes << 8 | (uint32_t)keepdims << 15;
  int64_t shape[LGT_MAX_DIM], left[LGT_MAX_DIM];
  int n = 0;
  lgt_result *place = place_of(stores, question, a, b);
  if (!answers(stores, place, question, a, b)) {
    int ndim = common_shape(lgt_layout_at(stores, a), lgt_layout_at(stores, b), shape);
    if (ndim < 0) return 0;
    for (int d = 0; d < ndim; d++)
      if (keepdims || !(axes >> d & 1)) left[n++] = axes >> d & 1 ? 1 : shape[d];
    uint32_t layout = lgt_stores_dense(stores, dtype, n, left);
    uint32_t wide = layout ? widened(stores, layout, ndim, shape, axes, keepdims) : 0;
    if (!wide) return 0;
    *place = (lgt_result){question, a, b, layout, wide};
  }
  *view = place->view;
  return place->layout;
}

/* ---- parts -------------------------------------------------------------------------------------------- */

enum { SLICE, PROJECT, PROMOTE, WAYS };

static bool same_part(const lgt_viewed *a, const lgt_viewed *b) {
  return a->view && a->of == b->of && a->how == b->how && a->first == b->first && a->count == b->count &&
         a->step == b->step;
}

static uint32_t part(lgt_stores *stores, int way, int dim, lgt_viewed asked) {
  asked.how = (uint32_t)(dim * WAYS + way);
  /* Parts of which the next one is asked for later are neighbours here, too. */
  uint64_t at = 5 * (uint64_t)asked.of + (uint64_t)asked.first + 3 * (uint64_t)asked.count +
                1021 * (uint64_t)asked.how + 97 * (uint64_t)asked.step;
  lgt_viewed *place = &stores->viewed[at % LGT_VIEWS];
  if (same_part(place, &asked)) {
    lgt_layout_mark(stores, place->view);
    return place->view;
  }
  asked.view = way == SLICE ? lgt_stores_slice(stores, asked.of, dim, asked.first, asked.count, asked.step)
               : way == PROJECT ? lgt_stores_project(stores, asked.of, dim, asked.first)
                                : lgt_stores_promote(stores, asked.of, dim, asked.count);
  if (asked.view) *place = asked;
  return asked.view;
}

uint32_t lgt_result_slice(lgt_stores *stores, uint32_t of, int dim, int64_t first, int64_t count,
                          int64_t step) {
  return part(stores, SLICE, dim, (lgt_viewed){.of = of, .first = first, .count = count, .step = step});
}

uint32_t lgt_result_project(lgt_stores *stores, uint32_t of, int dim, int64_t index) {
  return part(stores, PROJECT, dim, (lgt_viewed){.of = of, .first = index});
}

uint32_t lgt_result_promote(lgt_stores *stores, uint32_t of, int dim, int64_t extent) {
  return part(stores, PROMOTE, dim, (lgt_viewed){.of = of, .count = extent});
}
