/* histogram.c - how often values occur.
 *
 *   count        argument 0 [r, k] = how often k + parameter 0 occurs in run r of the integers of argument 1,
 *                or the sum of the weights of argument 2 that it occurs with (of argument 0's dtype: int64 or float64)
 *   count_places argument 0 (int64) = 1 + argument 1 (integers) - parameter 0, which is from 1 to parameter 1; cut alike
 *   histogram    argument 0 [r, k] = how many values in run r of argument 1 (float64) lie between
 *                elements k and k + 1 of the ascending vector argument 2 (float64), the last one included, or the
 *                sum of the weights of argument 3; parameter 0: whether the edges are equidistant, but for rounding
 *
 * count and histogram count a vector in runs of parameter 1 elements, in the order of the values.
 */
#include "ops/builtin.h"

#include <math.h>

/* Row r of a matrix, and run r of a vector, in the form of tasks in one piece. */
static lgt_tile row_of(const lgt_tile *t, int64_t r) {
  lgt_tile row = *t;
  row.data = (char *)t->data + r * t->stride[0];
  return row;
}
static lgt_tile run_of(const lgt_tile *t, int64_t r, int64_t length) {
  lgt_tile run = {.ndim = 2, .dtype = t->dtype, .extent = {1}};
  int64_t n = t->extent[0] - r * length;
  run.extent[1] = n < 0 ? 0 : n < length ? n : length;
  run.stride[1] = t->stride[0];
  run.data = (char *)t->data + (n < 0 ? 0 : r * length * t->stride[0]);
  return run;
}

static double number_at(const lgt_tile *tile, int64_t i) {
  return *(const double *)((const char *)tile->data + i * tile->stride[1]);
}

/* Zeros in all of a vector of int64 or float64: both are zero bits. */
static void clear(const lgt_tile *to) {
  for (int64_t i = 0; i < to->extent[1]; i++)
    memset((char *)to->data + i * to->stride[1], 0, (size_t)lgt_dtype_size(to->dtype));
}

static inline void add(const lgt_tile *to, int64_t k, const lgt_tile *weights, int64_t i) {
  char *at = (char *)to->data + k * to->stride[1];
  if (!weights) {
    ++*(int64_t *)at;
    return;
  }
  const char *w = (const char *)weights->data + i * weights->stride[1];
  if (to->dtype == LGT_INT64) *(uint64_t *)at += *(const uint64_t *)w;
  else *(double *)at += *(const double *)w;
}

/* ---- integers ------------------------------------------------------------------------------------------ */

static inline int64_t integer_at(int dtype, const char *p) {
  switch (dtype) {
    case LGT_INT8:
      return *(const int8_t *)p;
    case LGT_INT16:
      return *(const int16_t *)p;
    case LGT_INT32:
      return *(const int32_t *)p;
    case LGT_UINT16:
      return *(const uint16_t *)p;
    case LGT_UINT32:
      return *(const uint32_t *)p;
    case LGT_BOOL:
    case LGT_UINT8:
      return *(const uint8_t *)p;
    default:
      return *(const int64_t *)p;
  }
}

/* The same number many times in a row would wait for itself to be stored: neighbours count in tables of their own. */
enum { TABLES = 4, TABLE_SIZE = 4096 };

/* Those of n integers from p on.  False: some are outside. */
__attribute__((always_inline)) static inline bool count_neighbours(int64_t *table, int64_t size, int dtype,
                                                                   const char *p, int64_t stride, int64_t n,
                                                                   int64_t base) {
  int64_t i = 0;
  uint64_t k, most = (uint64_t)size;
  for (; i + TABLES <= n; i += TABLES)
    for (int t = 0; t < TABLES; t++, p += stride) {
      k = (uint64_t)integer_at(dtype, p) - (uint64_t)base;
      if (k >= most) return false;
      table[t * size + (int64_t)k]++;
    }
  for (; i < n; i++, p += stride) {
    k = (uint64_t)integer_at(dtype, p) - (uint64_t)base;
    if (k >= most) return false;
    table[k]++;
  }
  return true;
}

static bool count_in_tables(const lgt_tile *to, const lgt_tile *from, int64_t base) {
  int64_t n = from->extent[1], stride = from->stride[1], size = to->extent[1];
  const char *p = from->data;
  if (size > TABLE_SIZE || n < 4 * size) return false;
  int64_t *table = lgt_scratch_alloc(TABLES * (size_t)size * sizeof *table);
  if (!table) return false;
  memset(table, 0, TABLES * (size_t)size * sizeof *table);
  bool usual = from->dtype == LGT_INT64 && stride == sizeof(int64_t);
  bool inside = usual ? count_neighbours(table, size, LGT_INT64, p, sizeof(int64_t), n, base)
                      : count_neighbours(table, size, from->dtype, p, stride, n, base);
  for (int64_t k = 0; inside && k < size; k++) {
    int64_t sum = 0;
    for (int t = 0; t < TABLES; t++) sum += table[t * size + k];
    *(int64_t *)((char *)to->data + k * to->stride[1]) = sum;
  }
  lgt_scratch_free(table);
  return inside; /* if not, the other loop says what is outside */
}

/* The common case of weights, all side by side.  False: some integer is outside, or it is another case. */
static bool add_weights(const lgt_tile *to, const lgt_tile *from, const lgt_tile *weights, int64_t base) {
  if (from->dtype != LGT_INT64 || to->dtype != LGT_FLOAT64 || from->stride[1] != 8 || to->stride[1] != 8 ||
      weights->stride[1] != 8)
    return false;
  const int64_t *x = from->data;
  const double *w = weights->data;
  double *sum = to->data;
  uint64_t size = (uint64_t)to->extent[1];
  for (int64_t i = 0; i < from->extent[1]; i++) {
    uint64_t k = (uint64_t)(x[i] - base);
    if (k >= size) return false;
    sum[k] += w[i];
  }
  return true;
}

static lgt_status outside(int64_t x, int64_t base, int64_t size) {
  if (x < base)
    return lgt_err(LGT_OUT_OF_BOUNDS, "bincount: %lld is below %lld%s", (long long)x, (long long)base,
                   x == 0 ? "; for positions that count from 0 give {base = 0}" : "");
  return lgt_err(LGT_OUT_OF_BOUNDS, "bincount: %lld is above %lld, the last that is counted", (long long)x,
                 (long long)(size - 1 + base));
}

static lgt_status count_run(const lgt_tile *to, const lgt_tile *from, const lgt_tile *weights, int64_t base) {
  int64_t n = from->extent[1], size = to->extent[1];
  const char *p = from->data;
  if (!weights && count_in_tables(to, from, base)) return LGT_OK;
  clear(to);
  if (weights) {
    if (add_weights(to, from, weights, base)) return LGT_OK;
    clear(to);
  }
  for (int64_t i = 0; i < n; i++, p += from->stride[1]) {
    int64_t x = integer_at(from->dtype, p), k = x - base;
    if (k < 0 || k >= size) return outside(x, base, size);
    add(to, k, weights, i);
  }
  return LGT_OK;
}

static lgt_status count(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo, int64_t hi) {
  lgt_status status = LGT_OK;
  for (int64_t r = lo; r < hi && !status; r++) {
    int64_t length = (int64_t)params[1].f;
    lgt_tile to = row_of(&tiles[0], r), from = run_of(&tiles[1], r, length), weights;
    if (nargs > 2) weights = run_of(&tiles[2], r, length);
    status = count_run(&to, &from, nargs > 2 ? &weights : NULL, (int64_t)params[0].f);
  }
  return status;
}

static lgt_status count_places(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                               int64_t hi) {
  const lgt_tile *to = &tiles[0], *from = &tiles[1];
  int64_t base = (int64_t)params[0].f, size = (int64_t)params[1].f;
  (void)nargs;
  for (int64_t i = lo; i < hi; i++) {
    int64_t x = integer_at(from->dtype, (const char *)from->data + i * from->stride[0]), k = x - base;
    if (k < 0 || k >= size) return outside(x, base, size);
    *(int64_t *)((char *)to->data + i * to->stride[0]) = k + 1;
  }
  return LGT_OK;
}

/* ---- values between edges ------------------------------------------------------------------------------- */

/* So many values at once, as none of the steps to one waits for those to another. */
enum { ABREAST = 8 };

/* In which bins from 0 values within the edges lie, found by bisection. */
static void search(const double *edge, int64_t bins, const double *x, int64_t *low) {
  for (int j = 0; j < ABREAST; j++) low[j] = 0;
  for (int64_t n = bins; n > 1;) {
    int64_t half = n / 2;
    for (int j = 0; j < ABREAST; j++) low[j] += edge[low[j] + half] <= x[j] ? half : 0;
    n -= half;
  }
}

static void count_between_edges(const lgt_tile *to, const lgt_tile *from, const lgt_tile *weights,
                                const double *edge) {
  int64_t n = from->extent[1], bins = to->extent[1], low[ABREAST];
  double x[ABREAST];
  for (int64_t i = 0; i < n; i += ABREAST) {
    int64_t here = n - i < ABREAST ? n - i : ABREAST;
    for (int64_t j = 0; j < ABREAST; j++) x[j] = j < here ? number_at(from, i + j) : edge[0];
    search(edge, bins, x, low);
    for (int64_t j = 0; j < here; j++)
      if (x[j] >= edge[0] && x[j] <= edge[bins]) add(to, low[j], weights, i + j);
  }
}

static void histogram_run(const lgt_tile *to, const lgt_tile *from, const lgt_tile *weights,
                          const double *edge, bool equidistant) {
  int64_t n = from->extent[1], bins = to->extent[1];
  double first = edge[0], last = edge[bins], scale = (double)bins / (last - first);
  clear(to);
  if (!equidistant || !isfinite(scale) || !isfinite(first)) {
    count_between_edges(to, from, weights, edge);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    double x = number_at(from, i);
    if (!(x >= first && x <= last)) continue;
    int64_t k = (int64_t)((x - first) * scale); /* a guess, which rounding may have put one too far */
    k = k < bins ? k : bins - 1;
    k -= x < edge[k];
    k += k < bins - 1 && x >= edge[k + 1];
    add(to, k, weights, i);
  }
}

static lgt_status histogram(const lgt_tile *tiles, int nargs, const lgt_scalar *params, int64_t lo,
                            int64_t hi) {
  int64_t bins = tiles[0].extent[1], length = (int64_t)params[1].f;
  double *edge = lgt_scratch_alloc((size_t)(bins + 1) * sizeof *edge);
  if (!edge) return LGT_NO_MEMORY;
  for (int64_t k = 0; k <= bins; k++)
    edge[k] = *(const double *)((const char *)tiles[2].data + k * tiles[2].stride[0]);
  for (int64_t r = lo; r < hi; r++) {
    lgt_tile to = row_of(&tiles[0], r), from = run_of(&tiles[1], r, length), weights;
    if (nargs > 3) weights = run_of(&tiles[3], r, length);
    histogram_run(&to, &from, nargs > 3 ? &weights : NULL, edge, params[0].f != 0);
  }
  lgt_scratch_free(edge);
  return LGT_OK;
}

const lgt_builtin lgt_count_builtins[] = {
    {"count", count}, {"count_places", count_places}, {"histogram", histogram}, {0}};
